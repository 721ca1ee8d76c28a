/*
 * sim [SEED [RUNS]]: draws scenarios, and plays them.
 *
 * From one seed: a query out of a few shapes, rows with times out of order, restarts, kills and
 * crashes at failpoints; what must come out is computed by a naive model (a list and a loop, no
 * batches).  What is drawn is the text of a scenario, so that a seed that fails is a regression
 * test already: the text is printed, to be shortened, named and kept.
 */
#include "base/check.h"
#include "play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEYS = 4,
    ROWS_MAX = 200,
    STEPS = 12,
    WINDOW_SECONDS = 10
};

enum query_shape {
    SHAPE_FILTER,
    SHAPE_TOTALS,
    SHAPE_DEDUP,
    SHAPE_WINDOWS,
    SHAPE_COUNT_,
};

struct row {
    int key, value, at;
};

struct draw {
    uint64_t state;
    enum query_shape shape;
    struct row rows[ROWS_MAX];
    size_t row_count;
    int time; /* of the newest row */
    struct buffer text;
};

/* splitmix64: the same numbers everywhere. */
static uint64_t draw_bits(struct draw *draw)
{
    uint64_t z = (draw->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int draw_below(struct draw *draw, int bound)
{
    return (int)(draw_bits(draw) % (uint64_t)bound);
}

/* ---- the scenario ---- */

static void add_head(struct draw *draw, uint64_t seed)
{
    static const char *const queries[] = {
        [SHAPE_FILTER] = "query q mode=append into=out\n"
                         "  SELECT k, v * 2 AS twice FROM s WHERE v % 3 <> 0\n",
        [SHAPE_TOTALS] = "query q mode=complete into=out\n"
                         "  SELECT k, sum(v) AS total, count(*) AS n FROM s GROUP BY k\n",
        [SHAPE_DEDUP] = "view d from=s dropDuplicates=k,v\n\n"
                        "query q mode=append into=out\n  SELECT k, v FROM d\n",
        [SHAPE_WINDOWS] = "query q mode=append into=out\n"
                          "  SELECT window.start AS w, count(*) AS n, sum(v) AS total\n"
                          "  FROM s GROUP BY window(at, '10 seconds')\n",
    };
    buffer_printf(&draw->text, "scenario \"drawn from seed %" PRIu64 "\"\n\n", seed);
    buffer_add_text(&draw->text, "source s\n  k   BIGINT\n  v   BIGINT\n  at  TIMESTAMP\n");
    if (draw->shape == SHAPE_WINDOWS)
        buffer_add_text(&draw->text, "  watermark at 20 seconds\n");
    buffer_printf(&draw->text, "\nsink out\n\n%s\n", queries[draw->shape]);
}

/* A row that is never late: at most 15 seconds behind, with a delay of 20. */
static void add_row(struct draw *draw, struct row row)
{
    CHECK(draw->row_count < ROWS_MAX);
    draw->rows[draw->row_count++] = row;
    buffer_printf(&draw->text, "  %d  %d  +%d\n", row.key, row.value, row.at);
}

static void add_feed(struct draw *draw)
{
    int count = 1 + draw_below(draw, 5);
    buffer_add_text(&draw->text, "feed s\n");
    for (int i = 0; i < count; i++) {
        draw->time += draw_below(draw, 8);
        int late = draw_below(draw, 3) == 0 ? draw_below(draw, 15) : 0;
        struct row row = {draw_below(draw, KEYS), draw_below(draw, 9),
                          draw->time > late ? draw->time - late : 0};
        add_row(draw, row);
    }
    buffer_add_byte(&draw->text, '\n');
}

static void add_trouble(struct draw *draw)
{
    static const char *const points[] = {"pre_intent", "post_intent", "post_sync", "post_sink",
                                         "post_commit"};
    switch (draw_below(draw, 6)) {
    case 0:
        buffer_add_text(&draw->text, "restart\n\n");
        break;
    case 1:
        buffer_add_text(&draw->text, "kill\n\n");
        break;
    case 2:
    case 3:
        add_feed(draw);
        buffer_printf(&draw->text, "arm %s crash\n\nrun crashes\n\n", points[draw_below(draw, 5)]);
        break;
    default:
        break;
    }
}

/* ---- the model ---- */

static bool seen_before(const struct draw *draw, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (draw->rows[i].key == draw->rows[index].key &&
            draw->rows[i].value == draw->rows[index].value)
            return true;
    }
    return false;
}

static int expect_rows(struct draw *draw)
{
    int lines = 0;
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct row *row = &draw->rows[i];
        if (draw->shape == SHAPE_FILTER && row->value % 3 != 0) {
            buffer_printf(&draw->text, "  %d  %d\n", row->key, row->value * 2);
            lines++;
        } else if (draw->shape == SHAPE_DEDUP && !seen_before(draw, i)) {
            buffer_printf(&draw->text, "  %d  %d\n", row->key, row->value);
            lines++;
        }
    }
    return lines;
}

static int expect_totals(struct draw *draw)
{
    int lines = 0;
    for (int key = 0; key < KEYS; key++) {
        int total = 0, count = 0;
        for (size_t i = 0; i < draw->row_count; i++) {
            total += draw->rows[i].key == key ? draw->rows[i].value : 0;
            count += draw->rows[i].key == key ? 1 : 0;
        }
        if (count > 0)
            buffer_printf(&draw->text, "  %d  %d  %d\n", key, total, count);
        lines += count > 0 ? 1 : 0;
    }
    return lines;
}

/* All windows but those of the last rows, which are there to close the others. */
static int expect_windows(struct draw *draw, int last_at)
{
    int lines = 0;
    for (int start = 0; start + WINDOW_SECONDS <= last_at; start += WINDOW_SECONDS) {
        int total = 0, count = 0;
        for (size_t i = 0; i < draw->row_count; i++) {
            bool in = draw->rows[i].at >= start && draw->rows[i].at < start + WINDOW_SECONDS;
            total += in ? draw->rows[i].value : 0;
            count += in ? 1 : 0;
        }
        if (count > 0)
            buffer_printf(&draw->text, "  +%d  %d  %d\n", start, count, total);
        lines += count > 0 ? 1 : 0;
    }
    return lines;
}

static void add_expectation(struct draw *draw)
{
    int last_at = draw->time;
    if (draw->shape == SHAPE_WINDOWS) {
        for (int i = 0; i < 2; i++) { /* the second one closes what a stop has left open */
            buffer_add_text(&draw->text, "feed s\n");
            add_row(draw, (struct row){0, 0, draw->time + 1000 + i});
            buffer_add_text(&draw->text, "\nrun idle\n\n");
        }
        last_at = draw->time + 990;
    }
    buffer_add_text(&draw->text, "expect out all\n");
    int lines = draw->shape == SHAPE_TOTALS    ? expect_totals(draw)
                : draw->shape == SHAPE_WINDOWS ? expect_windows(draw, last_at)
                                               : expect_rows(draw);
    if (lines == 0)
        buffer_add_text(&draw->text, "  (none)\n");
}

static void draw_scenario(struct draw *draw, uint64_t seed)
{
    draw->state = seed;
    draw->shape = (enum query_shape)draw_below(draw, SHAPE_COUNT_);
    add_head(draw, seed);
    for (int step = 0; step < STEPS; step++) {
        add_trouble(draw);
        if (draw_below(draw, 4) != 0)
            add_feed(draw);
        buffer_add_text(&draw->text, "run idle\n\n");
    }
    add_expectation(draw);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int failed = 0;
    for (uint64_t i = 0; i < runs; i++) {
        struct arena *arena = arena_new("scenario", 0);
        struct draw draw = {.state = 0};
        struct buffer report = {0};
        draw_scenario(&draw, seed + i);
        if (play_file(arena, "drawn.scn", buffer_bytes(&draw.text), &report) != PLAY_PASSED) {
            failed++;
            printf("seed %" PRIu64 "\n%s\n%s", seed + i, buffer_text(&report),
                   buffer_text(&draw.text));
        }
        buffer_fini(&draw.text);
        buffer_fini(&report);
        arena_free(arena);
    }
    printf("%d passed, %d failed\n", (int)runs - failed, failed);
    return failed == 0 ? 0 : 1;
}
