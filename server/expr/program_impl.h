/*
 * Inside expr/: the form of a program.
 *
 * Steps are a flat list.  A lazy step is followed by the steps of its branches; `next` jumps over
 * them.  Registers hold vectors; a register written in a branch is read only in that branch, or,
 * for the first branch, which runs under the selection of the step itself, after it.
 */
#ifndef SERVER_EXPR_PROGRAM_IMPL_H
#define SERVER_EXPR_PROGRAM_IMPL_H

#include "expr/program.h"

enum step_kind {
    STEP_COLUMN,   /* column `ordinal` of the batch */
    STEP_CONSTANT, /* the literal of `expr` */
    STEP_CALL,
    STEP_CAST,
    STEP_STRICT_CALL, /* a call that evaluates no argument beside one that is NULL; branches: the
                         arguments.  Lazy from here */
    STEP_AND,
    STEP_OR,
    STEP_CASE,     /* branches: condition, value, condition, value, ... [, otherwise] */
    STEP_COALESCE, /* branches: the arguments */
};

struct branch {
    uint32_t first, last; /* steps */
    uint32_t result;      /* register */
};

/* A lambda argument of a call. */
struct lambda_code {
    const struct expr_program *body;
    uint32_t variable_count;
    uint32_t *captured; /* registers of the outer program: the body's columns after the variables */
    uint32_t captured_count;
};

struct step {
    enum step_kind kind;
    uint32_t out;
    uint32_t next; /* index of the step after this one and its branches */
    const struct expr *expr;
    int ordinal;
    uint32_t *args; /* registers */
    uint32_t arg_count;
    struct branch *branches;
    uint32_t branch_count;
    uint32_t state; /* STEP_CALL: index of its kernel state */
    struct lambda_code *lambdas;
    uint32_t lambda_count;
    uint32_t lambda_state; /* index of the state of its first lambda */
};

struct expr_program {
    struct step *steps;
    uint32_t step_count;
    uint32_t register_count;
    uint32_t state_count;
    uint32_t lambda_count;
    struct branch *results; /* one per expression; first == last if nothing is left to run */
    uint32_t result_count;
    const struct expr_program *strict; /* what decides after an error; NULL: the error stands */
};

struct expr_state {
    uint32_t magic;
    struct vector **registers;
    uint8_t *kernel_states; /* KERNEL_STATE_BYTES each */
    struct expr_state **lambda_states;
    struct expr_state *strict; /* of the strict program */
};

/* The rows that a step runs for. */
struct rows {
    const uint16_t *selection; /* NULL: all */
    uint32_t selected;
};

static inline uint32_t rows_at(const struct rows *rows, uint32_t i)
{
    return rows->selection == NULL ? i : rows->selection[i];
}

struct run {
    const struct expr_program *program;
    struct expr_state *state;
    const struct eval_context *ctx;
    struct vector *const *columns;
    uint32_t rows;
};

/* What a buffer of a kernel may grow to: the arena holds a text only then when the kernel has it.
 */
static inline size_t program_buffer_bytes(const struct eval_context *ctx)
{
    return ctx->bytes_max == 0 ? SIZE_MAX / 4 : 4 * ctx->bytes_max + 4096;
}

MUST_USE enum status program_run(const struct run *run, uint32_t first, uint32_t last,
                                 const struct rows *rows, struct error *err);
MUST_USE enum status program_run_lazy(const struct run *run, const struct step *step,
                                      const struct rows *rows, struct error *err);

/* Whether an error of the program does not stand, for the strict program has to be asked; the error
 * is cleared then. */
bool program_is_disputed(const struct expr_program *program, enum status status, struct error *err);

/* For filters: compiles the parts of an AND as results that see each other's values. */
MUST_USE enum status program_compile_chain(struct arena *query, struct expr *const *exprs,
                                           uint32_t count, const struct expr_program **out,
                                           struct error *err);

/* One source of a merged vector: cells of `vector` for these rows. */
struct merge_source {
    const struct vector *vector; /* NULL: NULLs */
    struct rows rows;
};
/* A flat vector of `count` rows that takes each row from the source that lists it. */
MUST_USE enum status vector_merge(struct arena *arena, const struct type *type, uint32_t count,
                                  const struct merge_source *sources, uint32_t source_count,
                                  struct vector **out, struct error *err);

#endif
