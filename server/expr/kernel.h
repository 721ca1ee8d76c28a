/*
 * Kernels: loops over vectors that compute a function.
 *
 * A kernel computes the selected rows, and only those (an error of a row that is not selected must
 * not be raised).  It finds its arguments in call->args: vectors of call->rows rows, flat or
 * constant: read cell vector_index(arg, row).  It writes into call->out, a flat vector of
 * call->rows rows whose values are not initialised:
 *
 *   NULL_INTOLERANT functions: out->validity is already the AND of the arguments' and the
 *     selection excludes NULL rows.  The kernel never sees a NULL.
 *   others: out->validity is NULL (all valid); arguments may be NULL.
 *   To make a row NULL: kernel_set_null(call, row), which makes the bitmap when needed.
 *   Functions with the flag TOTAL may also be given NULL rows (of NULL_INTOLERANT ones: where
 *     out->validity has no bit); they must do no harm there (no error, no look behind the cell of
 *     a string), but may compute nonsense.  They may write to every row, selected or not: dense
 *     loops, see kernel_is_dense().
 *   Nested results: fill out->children yourself (vector_resize_child, or assign vectors); the
 *     whole of *call->out may be overwritten, e.g. by *child, as long as type, length and validity
 *     are right.  STRING cells may point into the arguments' bytes or into call->ctx->arena.
 *
 * Constant arguments: if all arguments are constant the driver calls the kernel with rows == 1 and
 * makes the result constant.
 *
 * Loop with
 *
 *   for (uint32_t i = 0; i < call->selected; i++) {
 *       uint32_t row = kernel_row(call, i);
 *       ...
 *   }
 *
 * or with the makers below, which give dense loops that the compiler vectorises.
 *
 * Errors raised by a kernel are those of the first failing selected row.
 */
#ifndef SERVER_EXPR_KERNEL_H
#define SERVER_EXPR_KERNEL_H

#include "base/check.h"
#include "columnar/batch.h"
#include "columnar/timezone.h"
#include "expr/expr.h"

/* What evaluation needs to know besides the rows.  Plain data, per task. */
struct eval_context {
    struct arena *arena;     /* batch: where results live */
    int64_t now_us;          /* the batch's timestamp: current_timestamp() */
    const struct zone *zone; /* the session's */
    const char *time_zone;   /* its id */
    uint64_t seed;           /* of this batch: rand() without seed, uuid() */
    uint32_t partition;      /* task index: monotonically_increasing_id(), spark_partition_id() */
    const char *input_file;  /* path of the current split, "" if none */
    int64_t input_start, input_length;
    const char *user;     /* current_user() */
    const char *database; /* current_schema() */
    size_t bytes_max;     /* about how much any call may build; 0: as much as a row may have */
};

struct kernel_call {
    const struct eval_context *ctx;
    const struct expr *expr; /* the call: types, call.bound */
    struct vector **args;
    uint32_t arg_count;
    uint32_t rows;
    const uint16_t *selection; /* ascending; NULL: all rows */
    uint32_t selected;
    struct vector *out;
    const struct lambda_call *lambdas; /* of higher-order functions, in order; see lambda_eval() */
    void *state; /* per task and call site, zeroed at start: generators of random numbers, counters,
                    caches; KERNEL_STATE_BYTES large */
};

#define KERNEL_STATE_BYTES 64

/*
 * Evaluates lambda `index` of a higher-order call over `count` elements: variables[i] is a flat
 * vector of all values of its i-th variable (as many as the lambda declares, at most 4), rows[k]
 * is the row of the call that element k belongs to.  *out is a flat vector of `count` results (or
 * a constant one).  Any count; done in slices.  Errors: those of the body, LIMIT_EXCEEDED.
 */
struct lambda_call;
struct lambda_input {
    struct vector *variables[4];
    const uint32_t *rows;
    uint32_t count;
};
MUST_USE enum status lambda_eval(const struct kernel_call *call, uint32_t index,
                                 const struct lambda_input *input, struct vector **out,
                                 struct error *err);
/* How many variables lambda `index` declares. */
uint32_t lambda_variable_count(const struct kernel_call *call, uint32_t index);

/* Position i of the selection -> row. */
static inline uint32_t kernel_row(const struct kernel_call *call, uint32_t i)
{
    return call->selection == NULL ? i : call->selection[i];
}

/* Whether a loop over all rows is cheaper than one over the selection (TOTAL kernels only). */
static inline bool kernel_is_dense(const struct kernel_call *call)
{
    return call->selection == NULL || call->selected > call->rows / 4;
}

/* Arguments, for use in loops: a pointer and a step that is 0 for constants. */
static inline uint32_t kernel_step(const struct vector *vector)
{
    return vector->constant ? 0 : 1;
}

/* The cell of argument `index` at `row`. */
#define KERNEL_ARG(T, call, index, row)                                                            \
    (VECTOR_VALUES(T, (call)->args[index])[vector_index((call)->args[index], row)])
#define KERNEL_OUT(T, call) VECTOR_VALUES(T, (call)->out)

static inline bool kernel_arg_is_null(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    return vector_is_null(call->args[index], row);
}

/* Marks a row of the result NULL.  Errors: LIMIT_EXCEEDED. */
MUST_USE enum status kernel_make_nullable(const struct kernel_call *call, struct error *err);
static inline enum status kernel_set_null(const struct kernel_call *call, uint32_t row,
                                          struct error *err)
{
    if (call->out->validity == NULL) {
        enum status status = kernel_make_nullable(call, err);
        if (status != OK)
            return status;
        CHECK(call->out->validity != NULL);
    }
    validity_clear(call->out->validity, row);
    return OK;
}

/* Memory for the bytes of string results, batch lifetime.  Errors: LIMIT_EXCEEDED. */
MUST_USE enum status kernel_alloc(const struct kernel_call *call, size_t size_bytes, uint8_t **out,
                                  struct error *err);
/* Copies bytes into the batch arena and stores them as the cell of `row`. */
MUST_USE enum status kernel_set_bytes(const struct kernel_call *call, uint32_t row,
                                      struct bytes bytes, struct error *err);

/* A constant argument's only cell, NULL if the argument is not constant or is NULL. */
const struct bytes *kernel_constant_bytes(const struct kernel_call *call, uint32_t index);

/*
 * Makers of loops for TOTAL kernels (dense or selected).  `x` and `y` are the cells:
 *
 *   KERNEL_UNARY(kernel_bit_not_int, int32_t, int32_t, ~x)
 *   KERNEL_BINARY(kernel_less_long, uint8_t, int64_t, int64_t, x < y)
 */
#define KERNEL_UNARY(name, R, A, result)                                                           \
    enum status name(const struct kernel_call *call, struct error *err)                            \
    {                                                                                              \
        (void)err;                                                                                 \
        const A *restrict a = call->args[0]->values;                                               \
        R *restrict out = call->out->values;                                                       \
        size_t step = kernel_step(call->args[0]);                                                  \
        if (kernel_is_dense(call) && step == 1) {                                                  \
            for (uint32_t row = 0; row < call->rows; row++) {                                      \
                A x = a[row];                                                                      \
                out[row] = (R)(result);                                                            \
            }                                                                                      \
            return OK;                                                                             \
        }                                                                                          \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            A x = a[row * step];                                                                   \
            out[row] = (R)(result);                                                                \
        }                                                                                          \
        return OK;                                                                                 \
    }

#define KERNEL_BINARY(name, R, A, B, result)                                                       \
    enum status name(const struct kernel_call *call, struct error *err)                            \
    {                                                                                              \
        (void)err;                                                                                 \
        const A *restrict a = call->args[0]->values;                                               \
        const B *restrict b = call->args[1]->values;                                               \
        R *restrict out = call->out->values;                                                       \
        size_t step_a = kernel_step(call->args[0]);                                                \
        size_t step_b = kernel_step(call->args[1]);                                                \
        if (kernel_is_dense(call) && step_a == 1 && step_b == 1) {                                 \
            for (uint32_t row = 0; row < call->rows; row++) {                                      \
                A x = a[row];                                                                      \
                B y = b[row];                                                                      \
                out[row] = (R)(result);                                                            \
            }                                                                                      \
            return OK;                                                                             \
        }                                                                                          \
        if (kernel_is_dense(call) && step_a == 1) {                                                \
            B y = b[0];                                                                            \
            for (uint32_t row = 0; row < call->rows; row++) {                                      \
                A x = a[row];                                                                      \
                out[row] = (R)(result);                                                            \
            }                                                                                      \
            return OK;                                                                             \
        }                                                                                          \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            A x = a[row * step_a];                                                                 \
            B y = b[row * step_b];                                                                 \
            out[row] = (R)(result);                                                                \
        }                                                                                          \
        return OK;                                                                                 \
    }

#endif
