/*
 * Window functions over rows that are sorted: one result per row.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_WINDOW_FUNCTION_H
#define SERVER_EXEC_WINDOW_FUNCTION_H

#include "exec/window_frame.h"
#include "expr/kernel.h"

struct window_call {
    const struct expr *function; /* args[0] of the EXPR_WINDOW */
    struct vector **args;        /* of the function, by stored row (aggregates: and order keys) */
    uint32_t arg_count;
    const struct vector *filter; /* FILTER of an aggregate, or NULL */
    const struct window_rows *rows;
    const struct window_frame_plan *frame;
    const struct eval_context *ctx;
    struct arena *arena; /* of the result */
};

/*
 * Computes the function for all rows; *out has one row per stored row.
 * Errors: NOT_SUPPORTED for an unknown function, those of aggregates, LIMIT_EXCEEDED.
 */
MUST_USE enum status window_function_run(const struct window_call *call, struct vector **out,
                                         struct error *err);

#endif
