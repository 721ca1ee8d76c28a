/*
 * Sliding windows over panes: which windows a pane is in, which panes a window is made of.
 *
 * Windows are numbered by their start, window w being [start + w * slide, + size).  A slide has one
 * pane, or two if the size is no multiple of it: the second begins where windows end.  Panes are
 * numbered in their order; window w is made of the panes [first, first + per_window) with
 * first = w * per_slide.  Numbers may be negative: the grid has no beginning.
 *
 * Panes are kept in generations of `per_window` panes each, so that the panes of one window are in
 * the generation of its first pane and in the one after it.
 *
 * Threads: any.
 */
#ifndef SERVER_EXEC_PANE_GRID_H
#define SERVER_EXEC_PANE_GRID_H

#include "plan/physical_plan.h"

/* A window before all others: none is closed. */
#define WINDOW_NONE (INT64_MIN / 4)

struct pane_grid {
    int64_t size_us;
    int64_t slide_us;
    int64_t start_us;
    int64_t cut_us; /* size mod slide */
    int64_t per_slide;
    int64_t per_window;
};

/* Of an aggregate whose pane_key is set. */
struct pane_grid pane_grid_of(const struct plan_node *aggregate);

/* The division that rounds down; the divisor is positive. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The pane that a time is in; where a pane ends. */
int64_t pane_at(const struct pane_grid *grid, int64_t time_us);
int64_t pane_end_us(const struct pane_grid *grid, int64_t pane);

static inline int64_t pane_generation(const struct pane_grid *grid, int64_t pane)
{
    return floor_div(pane, grid->per_window);
}

/* The windows that a pane is in are [first, last]. */
static inline int64_t pane_last_window(const struct pane_grid *grid, int64_t pane)
{
    return grid->per_slide == 1 ? pane : floor_div(pane, 2);
}

static inline int64_t pane_first_window(const struct pane_grid *grid, int64_t pane)
{
    return pane_last_window(grid, pane - grid->per_window) + 1;
}

/* The first pane of a window. */
static inline int64_t window_first_pane(const struct pane_grid *grid, int64_t window)
{
    return window * grid->per_slide;
}

/* The windows whose first pane is in a generation are [first, last]. */
int64_t generation_first_window(const struct pane_grid *grid, int64_t generation);
int64_t generation_last_window(const struct pane_grid *grid, int64_t generation);

int64_t window_start_us(const struct pane_grid *grid, int64_t window);
int64_t window_end_us(const struct pane_grid *grid, int64_t window);

/* The last window that has ended when the watermark is here. */
int64_t window_closed_at(const struct pane_grid *grid, int64_t watermark_us);

#endif
