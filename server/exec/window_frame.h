/*
 * Window frames: which rows of its partition a row's window function sees.
 *
 * Positions count in the order of the window; a partition is [begin, end), peers are rows with
 * equal order keys.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_WINDOW_FRAME_H
#define SERVER_EXEC_WINDOW_FRAME_H

#include "columnar/vector.h"
#include "expr/expr.h"

/* The rows of a window in order, and where partitions and peers begin and end. */
struct window_rows {
    uint32_t count;
    const uint32_t *order;     /* position -> stored row */
    uint32_t *partition_begin; /* by position */
    uint32_t *partition_end;
    uint32_t *peers_begin;
    uint32_t *peers_end;
};

struct window_bound {
    bool unbounded;
    int64_t rows;          /* ROWS: relative to the current row */
    struct vector *offset; /* RANGE: constant, NULL for CURRENT ROW; sign included */
};

struct window_frame_plan {
    bool rows;
    struct window_bound lower, upper;
    const struct vector *key; /* RANGE with offsets: the only order key, by stored row */
    bool descending;
};

/*
 * Evaluates the constant bounds of an EXPR_WINDOW, in `query`.  Errors: those of the bounds'
 * expressions.
 */
MUST_USE enum status window_frame_open(struct arena *query, const struct expr *window,
                                       const char *time_zone, struct window_frame_plan *out,
                                       struct error *err);

/* The frame [*begin, *end) of the row at `position`; empty if begin >= end. */
void window_frame_at(const struct window_frame_plan *frame, const struct window_rows *rows,
                     uint32_t position, uint32_t *begin, uint32_t *end);

#endif
