/*
 * See pane_grid.h.  Times wrap around at the ends of their range, as those of window() do.
 */
#include "exec/pane_grid.h"

#include "base/check.h"

#define PANES_MAX (INT64_MAX / 2)

struct pane_grid pane_grid_of(const struct plan_node *aggregate)
{
    CHECK(aggregate->kind == PLAN_AGGREGATE && aggregate->aggregate.pane_key >= 0);
    struct pane_grid grid = {
        .size_us = aggregate->aggregate.window_size_us,
        .slide_us = aggregate->aggregate.window_slide_us,
        .start_us = aggregate->aggregate.window_start_us,
    };
    CHECK(grid.slide_us > 0 && grid.slide_us < grid.size_us);
    grid.cut_us = grid.size_us % grid.slide_us;
    grid.per_slide = grid.cut_us == 0 ? 1 : 2;
    grid.per_window = grid.size_us / grid.slide_us * grid.per_slide + (grid.cut_us == 0 ? 0 : 1);
    return grid;
}

int64_t pane_at(const struct pane_grid *grid, int64_t time_us)
{
    int64_t since_us = (int64_t)((uint64_t)time_us - (uint64_t)grid->start_us);
    int64_t slide = floor_div(since_us, grid->slide_us);
    int64_t rest_us = (int64_t)((uint64_t)since_us - (uint64_t)slide * (uint64_t)grid->slide_us);
    bool second = grid->cut_us != 0 && rest_us >= grid->cut_us;
    if (slide > PANES_MAX / grid->per_slide) /* slides of microseconds, at the end of all times */
        return PANES_MAX;
    if (slide < -PANES_MAX / grid->per_slide)
        return -PANES_MAX;
    return slide * grid->per_slide + (second ? 1 : 0);
}

static int64_t time_of(const struct pane_grid *grid, int64_t slide, int64_t more_us)
{
    return (int64_t)((uint64_t)grid->start_us + (uint64_t)slide * (uint64_t)grid->slide_us +
                     (uint64_t)more_us);
}

int64_t pane_end_us(const struct pane_grid *grid, int64_t pane)
{
    int64_t slide = floor_div(pane, grid->per_slide);
    bool first_of_two = grid->per_slide == 2 && pane == slide * 2;
    return time_of(grid, slide, first_of_two ? grid->cut_us : grid->slide_us);
}

int64_t generation_first_window(const struct pane_grid *grid, int64_t generation)
{
    return floor_div(generation * grid->per_window - 1, grid->per_slide) + 1;
}

int64_t generation_last_window(const struct pane_grid *grid, int64_t generation)
{
    return generation_first_window(grid, generation + 1) - 1;
}

int64_t window_start_us(const struct pane_grid *grid, int64_t window)
{
    return time_of(grid, window, 0);
}

int64_t window_end_us(const struct pane_grid *grid, int64_t window)
{
    return time_of(grid, window, grid->size_us);
}

int64_t window_closed_at(const struct pane_grid *grid, int64_t watermark_us)
{
    int64_t since_us = 0;
    if (__builtin_sub_overflow(watermark_us, grid->start_us, &since_us) ||
        __builtin_sub_overflow(since_us, grid->size_us, &since_us))
        return WINDOW_NONE;
    int64_t window = floor_div(since_us, grid->slide_us);
    return window < WINDOW_NONE ? WINDOW_NONE : window;
}
