/*
 * sim [SEED [RUNS]] | sim SEED --seconds N: draws scenarios, and plays them.
 *
 * From one seed: a query out of a few shapes, rows with times out of order, restarts (also with
 * another number of threads, another limit of memory, another retention, and with another query of
 * the same meaning), logs that lose their oldest batches, rewinds, batches that let all state go of
 * memory, kills, crashes at failpoints, disks that fail once or stay full for some starts, and
 * damaged snapshots; what must come out is computed by a naive model (model.c).  What is drawn is
 * the text of a scenario, so that a seed that fails is a regression test already: the text is
 * printed, to be shortened, named and kept.
 */
#include "base/check.h"
#include "base/clock.h"
#include "draw.h"
#include "play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS_MAX = 14,
    DELAY_SECONDS = 20, /* of watermarks */
    LATE_SECONDS = 15,  /* rows come at most so far behind: none is too late */
    CLOSE_SECONDS = 1000,
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

/* A condition that is true of all rows, if the query is to be the other one of the same meaning. */
static const char *all_rows(const struct draw *draw)
{
    return draw->restated ? "v >= 0" : "true";
}

static void add_join(struct draw *draw)
{
    const char *left = shape_drops_duplicates(draw->shape) ? "d" : "s";
    buffer_printf(&draw->text,
                  "  SELECT %s.k, %s.v, r.v AS other FROM %s %s r\n"
                  "  ON %s.k = r.k AND r.at BETWEEN %s.at AND %s.at + INTERVAL '%d' SECONDS\n"
                  "  WHERE %s.at < TIMESTAMP '2024-05-01 00:15:00Z'\n",
                  left, left, left, draw->shape == SHAPE_JOIN ? "JOIN" : "LEFT JOIN", left, left,
                  left, draw->size, left);
}

static void add_windows(struct draw *draw)
{
    struct buffer *text = &draw->text;
    int size = draw->size;
    if (draw->shape == SHAPE_TUMBLING)
        buffer_printf(text,
                      "  SELECT window.start AS w, count(*) AS n, sum(v) AS total\n"
                      "  FROM s WHERE %s GROUP BY window(at, '%d seconds')\n",
                      all_rows(draw), size);
    else if (draw->shape == SHAPE_CHAINED)
        buffer_printf(text,
                      "  SELECT w2.start AS w, count(*) AS windows, sum(n) AS n FROM (\n"
                      "    SELECT window(window_time(w1), '%d seconds') AS w2, n FROM (\n"
                      "      SELECT window AS w1, count(*) AS n FROM s\n"
                      "      WHERE %s GROUP BY window(at, '%d seconds')))\n"
                      "  GROUP BY w2\n",
                      2 * size, all_rows(draw), size);
    else if (draw->shape == SHAPE_JOIN_WINDOW)
        buffer_printf(text,
                      "  SELECT window.start AS w, count(*) AS n FROM (\n"
                      "    SELECT s.at AS at FROM s JOIN r\n"
                      "    ON s.k = r.k AND r.at BETWEEN s.at AND s.at + INTERVAL '%d' SECONDS)\n"
                      "  GROUP BY window(at, '%d seconds')\n",
                      size, size);
    else if (draw->shape == SHAPE_PIVOT)
        buffer_printf(text,
                      "  SELECT w.start AS w, a, b FROM (\n"
                      "    SELECT window(at, '%d seconds') AS w, k, v FROM s WHERE %s)\n"
                      "  PIVOT (sum(v) FOR k IN (0 AS a, 1 AS b))\n",
                      size, all_rows(draw));
    else
        buffer_printf(text,
                      "  SELECT window.start AS w, k, count(*) AS n, sum(v) AS total\n"
                      "  FROM s WHERE %s GROUP BY window(at, '%d seconds', '%d seconds'), k%s\n",
                      all_rows(draw), size, draw->slide,
                      draw->shape == SHAPE_HAVING ? " HAVING count(*) >= 2" : "");
}

static void add_sql(struct draw *draw)
{
    struct buffer *text = &draw->text;
    switch (draw->shape) {
    case SHAPE_FILTER:
        buffer_printf(text, "  SELECT k, %s AS twice FROM s WHERE v %% 3 <> 0\n",
                      draw->restated ? "v + v" : "v * 2");
        break;
    case SHAPE_TOTALS:
        buffer_printf(text,
                      "  SELECT k, sum(v) AS total, count(*) AS n FROM s WHERE %s GROUP BY k\n",
                      all_rows(draw));
        break;
    case SHAPE_GLOBAL:
        buffer_printf(text, "  SELECT count(*) AS n, sum(v) AS total FROM s WHERE %s\n",
                      all_rows(draw));
        break;
    case SHAPE_DEDUP:
        buffer_printf(text, "  SELECT k, v FROM d WHERE %s\n", all_rows(draw));
        break;
    case SHAPE_LIMIT:
        buffer_printf(text, "  SELECT 1 AS one FROM d LIMIT %d\n", draw->limit);
        break;
    case SHAPE_DEDUP_EVENT:
        buffer_add_text(text, "  SELECT k, v FROM d WHERE at < TIMESTAMP '2024-05-01 00:15:00Z'\n");
        break;
    case SHAPE_EXCEPT_ALL:
        buffer_printf(text,
                      "  SELECT k, v FROM (SELECT k, v, at FROM s WHERE %s\n"
                      "    EXCEPT ALL VALUES (-1, 0, TIMESTAMP '2024-05-01 00:10:00Z'))\n"
                      "  WHERE at < TIMESTAMP '2024-05-01 00:15:00Z'\n",
                      all_rows(draw));
        break;
    case SHAPE_SESSION:
    case SHAPE_DEDUP_SESSION:
        buffer_printf(
            text,
            "  SELECT k, session_window.start AS b, session_window.end AS e, count(*) AS "
            "n, sum(v) AS total\n  FROM %s GROUP BY k, session_window(at, '%d seconds')\n",
            draw->shape == SHAPE_SESSION ? "s" : "d", draw->size);
        break;
    case SHAPE_TUMBLING:
    case SHAPE_HAVING:
    case SHAPE_SLIDING:
    case SHAPE_CHAINED:
    case SHAPE_JOIN_WINDOW:
    case SHAPE_PIVOT:
        add_windows(draw);
        break;
    case SHAPE_JOIN:
    case SHAPE_OUTER:
    case SHAPE_DEDUP_OUTER:
        add_join(draw);
        break;
    case SHAPE_COUNT_:
        break;
    }
}

static bool shape_is_complete(enum query_shape shape)
{
    return shape == SHAPE_TOTALS || shape == SHAPE_GLOBAL;
}

static void add_query(struct draw *draw)
{
    buffer_printf(&draw->text, "query q mode=%s into=out\n",
                  shape_is_complete(draw->shape) ? "complete" : "append");
    add_sql(draw);
    buffer_add_byte(&draw->text, '\n');
}

static void add_source(struct draw *draw, const char *name)
{
    static const char *const options[] = {"", " maxFilesPerTrigger=1", " maxFilesPerTrigger=2"};
    buffer_printf(&draw->text, "source %s%s\n  k   BIGINT\n  v   BIGINT\n  at  TIMESTAMP\n", name,
                  options[draw_below(draw, 3)]);
    if (shape_has_watermark(draw->shape))
        buffer_printf(&draw->text, "  watermark at %d seconds\n", DELAY_SECONDS);
    buffer_add_byte(&draw->text, '\n');
}

static void add_head(struct draw *draw, uint64_t seed)
{
    static const struct {
        int size, slide;
    } sliding[] = {{10, 5}, {12, 4}, {10, 3}, {20, 5}, {7, 7}};
    size_t choice = (size_t)draw_below(draw, 5);
    draw->size = draw->shape == SHAPE_SLIDING ? sliding[choice].size : 5 + draw_below(draw, 10);
    draw->slide = draw->shape == SHAPE_SLIDING ? sliding[choice].slide : draw->size;
    buffer_printf(&draw->text, "scenario \"drawn from seed %" PRIu64 "\"\n\n", seed);
    add_source(draw, "s");
    if (shape_has_two_streams(draw->shape))
        add_source(draw, "r");
    draw->limit = 1 + draw_below(draw, 20);
    if (draw->shape == SHAPE_DEDUP || draw->shape == SHAPE_LIMIT)
        buffer_add_text(&draw->text, "view d from=s dropDuplicates=k,v\n\n");
    if (shape_drops_duplicates(draw->shape))
        buffer_add_text(&draw->text, "view d from=s dropDuplicates=k,v,at\n\n");
    if (draw_below(draw, 2) == 0)
        buffer_printf(&draw->text, "conf spark.sql.streaming.minBatchesToRetain=%d\n\n",
                      2 + draw_below(draw, 4));
    if (draw_below(draw, 2) == 0)
        buffer_printf(&draw->text,
                      "conf spark.sql.streaming.stateStore.minDeltasForSnapshot=%d\n\n",
                      1 + draw_below(draw, 3));
    draw->purges = draw_below(draw, 2) == 0;
    if (draw->purges)
        buffer_printf(&draw->text, "conf logSegmentBytes=%d\n\n", 1 << draw_below(draw, 13));
    bool file = draw_below(draw, 2) == 0 && !shape_is_complete(draw->shape); /* it only appends */
    buffer_printf(&draw->text, "sink out%s\n\n", file ? " kind=file" : "");
    add_query(draw);
}

static void add_row(struct draw *draw, struct row row)
{
    CHECK(draw->row_count < ROWS_MAX);
    draw->rows[draw->row_count++] = row;
    buffer_printf(&draw->text, "  %d  %d  +%d\n", row.key, row.value, row.at);
}

static void add_feed(struct draw *draw)
{
    bool right = shape_has_two_streams(draw->shape) && draw_below(draw, 2) == 0;
    int count = 1 + draw_below(draw, 5);
    buffer_printf(&draw->text, "feed %s\n", right ? "r" : "s");
    for (int i = 0; i < count; i++) {
        draw->time += draw_below(draw, 8);
        int late = draw_below(draw, 3) == 0 ? draw_below(draw, LATE_SECONDS) : 0;
        struct row row = {draw_below(draw, KEYS), draw_below(draw, 9),
                          draw->time > late ? draw->time - late : 0, right};
        add_row(draw, row);
    }
    buffer_add_byte(&draw->text, '\n');
}

static const char *draw_failpoint(struct draw *draw)
{
    static const char *const points[] = {
#define FAILPOINT_DEF(name, where) #name,
#include "base/failpoints.def"
#undef FAILPOINT_DEF
    };
    return points[draw_below(draw, (int)(sizeof(points) / sizeof(points[0])))];
}

/* How the worker is from its next start on, and what it keeps. */
static void add_settings(struct draw *draw)
{
    struct buffer *text = &draw->text;
    if (draw_below(draw, 4) == 0)
        buffer_printf(text, "worker spill=%s parallelism=%d\n\n",
                      draw_below(draw, 2) == 0 ? "true" : "false", 1 + draw_below(draw, 4));
    if (draw_below(draw, 6) == 0)
        buffer_printf(text, "worker memory=%d\n\nrestart\n\n", 1 << (20 + draw_below(draw, 5)));
    if (draw_below(draw, 8) == 0)
        buffer_printf(text, "conf spark.sql.streaming.minBatchesToRetain=%d\n\nrestart\n\n",
                      2 + draw_below(draw, 6));
    if (draw_below(draw, 8) == 0)
        buffer_printf(text, "conf spark.sql.streaming.stateStore.minDeltasForSnapshot=%d\n\n",
                      1 + draw_below(draw, 4));
}

static void add_damage(struct draw *draw)
{
    static const char *const how[] = {"", " cut", " gone"};
    buffer_printf(&draw->text, "damage snapshot%s file=%d at=%d\n\n", how[draw_below(draw, 3)],
                  draw_below(draw, 12), draw_below(draw, 1000));
}

/* One operation fails, or all until the worker was started some times. */
static void add_disk(struct draw *draw)
{
    int runs = draw_below(draw, 3);
    buffer_printf(&draw->text, "disk %s nth=%d", draw_below(draw, 2) == 0 ? "ENOSPC" : "EIO",
                  1 + draw_below(draw, 40));
    if (runs > 0)
        buffer_printf(&draw->text, " runs=%d", runs + draw_below(draw, 3));
    buffer_add_text(&draw->text, "\n\nrun survives\n\n");
}

/* Something happens to the worker or its disk, perhaps while rows are under way. */
static void add_trouble(struct draw *draw)
{
    add_settings(draw);
    switch (draw_below(draw, 12)) {
    case 0:
        buffer_add_text(&draw->text, "restart\n\n");
        break;
    case 8: /* perhaps with rows that come before the batches run again */
        if (draw_below(draw, 2) == 0)
            add_feed(draw);
        buffer_printf(&draw->text, "rewind try back=%d\n\n", 1 + draw_below(draw, 5));
        break;
    case 9:
        draw->restated = !draw->restated;
        add_query(draw);
        break;
    case 1:
        buffer_add_text(&draw->text, "kill\n\n");
        break;
    case 2:
    case 3:
        add_feed(draw);
        buffer_printf(&draw->text, "arm %s hit=%d %s\n\nrun survives\n\n", draw_failpoint(draw),
                      1 + draw_below(draw, 3), draw_below(draw, 4) == 0 ? "torn=5" : "crash");
        break;
    case 4:
    case 5:
        add_feed(draw);
        add_disk(draw);
        break;
    case 10: /* where the log has lost batches, a start may be refused */
        if (!draw->purges)
            add_damage(draw);
        break;
    default:
        break;
    }
}

/* The rows that close the rest come twice: the second time what a stop has left open. */
static int add_closing_rows(struct draw *draw)
{
    int close = (draw->time > CUT_SECONDS ? draw->time : CUT_SECONDS) + CLOSE_SECONDS;
    for (int i = 0; i < 2; i++) {
        for (int stream = 0; stream <= (shape_has_two_streams(draw->shape) ? 1 : 0); stream++) {
            buffer_printf(&draw->text, "feed %s\n", stream == 0 ? "s" : "r");
            add_row(draw, (struct row){KEYS - 1 + i, 0, close + i, stream == 1});
            buffer_add_byte(&draw->text, '\n');
        }
        buffer_add_text(&draw->text, "run idle\n\n");
    }
    return close - DELAY_SECONDS - 1;
}

static void draw_scenario(struct draw *draw, uint64_t seed)
{
    draw->state = seed;
    draw->shape = (enum query_shape)draw_below(draw, SHAPE_COUNT_);
    add_head(draw, seed);
    int steps = 4 + draw_below(draw, STEPS_MAX - 4);
    for (int step = 0; step < steps; step++) {
        add_trouble(draw);
        if (draw_below(draw, 4) != 0)
            add_feed(draw);
        buffer_add_text(&draw->text, "run idle\n\n");
    }
    int until = shape_has_watermark(draw->shape) ? add_closing_rows(draw) : INT32_MAX;
    buffer_add_text(&draw->text, "expect out all\n");
    if (model_expect(draw, until) == 0)
        buffer_add_text(&draw->text, "  (none)\n");
}

/* ---- playing ---- */

static bool play_seed(uint64_t seed)
{
    struct arena *arena = arena_new("scenario", 0);
    struct draw draw = {.state = 0};
    struct buffer report = {0};
    draw_scenario(&draw, seed);
    bool passed = play_file(arena, "drawn.scn", buffer_bytes(&draw.text), &report) == PLAY_PASSED;
    if (!passed) {
        printf("seed %" PRIu64 "\n%s\n%s", seed, buffer_text(&report), buffer_text(&draw.text));
        (void)fflush(stdout);
    }
    buffer_fini(&draw.text);
    buffer_fini(&report);
    arena_free(arena);
    return passed;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    bool timed = argc > 3 && strcmp(argv[2], "--seconds") == 0;
    uint64_t runs = timed ? UINT64_MAX : argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int64_t until_us =
        timed ? clock_monotonic_us(clock_real()) + strtoll(argv[3], NULL, 10) * 1000000 : INT64_MAX;
    uint64_t passed = 0, failed = 0;
    for (uint64_t i = 0; i < runs && clock_monotonic_us(clock_real()) < until_us; i++) {
        if (play_seed(seed + i))
            passed++;
        else
            failed++;
    }
    printf("seeds %" PRIu64 " to %" PRIu64 ", of which %" PRIu64
           " ended with a log that had lost its first batches\n%" PRIu64 " passed, %" PRIu64
           " failed\n",
           seed, seed + passed + failed - 1, play_purged_logs(), passed, failed);
    return failed == 0 ? 0 : 1;
}
