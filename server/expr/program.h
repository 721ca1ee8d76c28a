/*
 * Expression programs: bound expressions compiled into a flat list of steps over registers.
 *
 * Equal sub-expressions are computed once; what has only constant arguments is computed for one row
 * per batch (expr_fold() removes it before).  AND, OR, IF, CASE, COALESCE and the
 * like own ranges of steps which run under a narrowed selection, so that what SQL does not
 * evaluate is not evaluated.  The body of a lambda is a program of its own, run over the elements
 * in slices of at most BATCH_ROWS_MAX.
 *
 * A call that is NULL where an argument is evaluates the next argument only where those before are
 * not NULL, so that `n + CAST(text AS INT)` does not fail on rows whose n is NULL.  To narrow the
 * selection at every call would cost more than the calls: a program computes all arguments for all
 * rows, and only after an error the batch runs once more as a second, strict program, whose word
 * counts.
 *
 * A program is immutable and shared by the tasks of a query; a state belongs to one task.
 */
#ifndef SERVER_EXPR_PROGRAM_H
#define SERVER_EXPR_PROGRAM_H

#include "expr/kernel.h"

struct expr_program;
struct expr_state;

/*
 * Compiles bound expressions (every EXPR_COLUMN has an ordinal >= 0) into `query`.
 * Errors: LIMIT_EXCEEDED (depth, size).
 */
MUST_USE enum status expr_compile(struct arena *query, struct expr *const *exprs, uint32_t count,
                                  const struct expr_program **out, struct error *err);

/* What a task keeps for a program (states of kernels); lives in `task`. */
MUST_USE enum status expr_state_new(struct arena *task, const struct expr_program *program,
                                    struct expr_state **out, struct error *err);

/*
 * Computes all expressions over the selected rows of the batch.  out[i] are vectors of batch->rows
 * rows (cells of unselected rows are unspecified), in ctx->arena or borrowed from the batch; they
 * may be constant.
 */
MUST_USE enum status expr_eval(const struct expr_program *program, struct expr_state *state,
                               const struct eval_context *ctx, const struct batch *batch,
                               struct vector **out, struct error *err);

/*
 * Filters: compiled from one boolean expression; a row stays if it is true (not NULL).  The parts
 * of an AND narrow the selection one after another; comparisons of a column with a constant have
 * their own loops.
 */
struct expr_filter;
MUST_USE enum status expr_filter_compile(struct arena *query, struct expr *predicate,
                                         const struct expr_filter **out, struct error *err);
MUST_USE enum status expr_filter_state_new(struct arena *task, const struct expr_filter *filter,
                                           struct expr_state **out, struct error *err);
/* Narrows batch->selection in place; the new selection lives in ctx->arena. */
MUST_USE enum status expr_filter_run(const struct expr_filter *filter, struct expr_state *state,
                                     const struct eval_context *ctx, struct batch *batch,
                                     struct error *err);

/*
 * The value of a foldable expression as a constant vector (length 1) in `arena`: for analysis and
 * constant folding.
 */
MUST_USE enum status expr_constant(struct arena *arena, const struct expr *expr,
                                   const char *time_zone, struct vector **out, struct error *err);

/* Replaces foldable sub-expressions by literals; those whose value is an error are left alone. */
struct expr *expr_fold(struct arena *arena, struct expr *expr, const char *time_zone);

#endif
