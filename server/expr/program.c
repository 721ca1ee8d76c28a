#include "expr/program.h"

#include "base/check.h"
#include "expr/function.h"
#include "expr/program_impl.h"
#include "expr/resolvers.h"

#define DEPTH_MAX 3000

/* A value that is in a register. */
struct known {
    const struct expr *expr;
    uint32_t reg;
};

struct compiler {
    struct arena *arena;
    struct step *steps;
    uint32_t step_count, step_capacity;
    struct known *known;
    uint32_t known_count, known_capacity;
    uint32_t register_count, state_count, lambda_count;
    uint32_t depth;
    bool strict; /* makes STEP_STRICT_CALLs */
    bool guards; /* some call has arguments that a strict program would not always evaluate */
    bool random;
    /* of a lambda body */
    struct compiler *outer;
    const struct expr *lambda;
    uint32_t *captured;
    uint32_t captured_count, captured_capacity;
};

static void *grown(struct arena *arena, void *old, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return old;
    uint32_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *fresh = arena_new_object(arena, wanted * size);
    if (count > 0)
        memcpy(fresh, old, count * size);
    *capacity = wanted;
    return fresh;
}

static uint32_t add_step(struct compiler *compiler, enum step_kind kind, const struct expr *expr)
{
    compiler->steps = grown(compiler->arena, compiler->steps, compiler->step_count,
                            &compiler->step_capacity, sizeof(struct step));
    uint32_t index = compiler->step_count++;
    compiler->steps[index] = (struct step){
        .kind = kind, .expr = expr, .out = compiler->register_count++, .next = index + 1};
    return index;
}

static void remember(struct compiler *compiler, const struct expr *expr, uint32_t reg)
{
    compiler->known = grown(compiler->arena, compiler->known, compiler->known_count,
                            &compiler->known_capacity, sizeof(struct known));
    compiler->known[compiler->known_count++] = (struct known){.expr = expr, .reg = reg};
}

static bool recall(const struct compiler *compiler, const struct expr *expr, uint32_t *reg)
{
    for (uint32_t i = 0; i < compiler->known_count; i++) {
        const struct expr *other = compiler->known[i].expr;
        bool same = expr->kind == EXPR_COLUMN ? other->kind == EXPR_COLUMN &&
                                                    other->column.ordinal == expr->column.ordinal
                                              : other == expr || expr_equal(other, expr);
        if (same) {
            *reg = compiler->known[i].reg;
            return true;
        }
    }
    return false;
}

static enum status compile(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                           struct error *err);

/* ---- columns and variables ---- */

static void compile_column(struct compiler *compiler, const struct expr *expr, int ordinal,
                           uint32_t *reg)
{
    uint32_t step = add_step(compiler, STEP_COLUMN, expr);
    compiler->steps[step].ordinal = ordinal;
    *reg = compiler->steps[step].out;
}

/* A value of the program around this lambda body, as a further column of the body. */
static enum status capture(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                           struct error *err)
{
    uint32_t outer_reg;
    TRY(compile(compiler->outer, expr, &outer_reg, err));
    uint32_t index = 0;
    while (index < compiler->captured_count && compiler->captured[index] != outer_reg)
        index++;
    if (index == compiler->captured_count) {
        compiler->captured = grown(compiler->arena, compiler->captured, compiler->captured_count,
                                   &compiler->captured_capacity, sizeof(uint32_t));
        compiler->captured[compiler->captured_count++] = outer_reg;
    }
    compile_column(compiler, expr, (int)(compiler->lambda->lambda.variable_count + index), reg);
    return OK;
}

static enum status compile_variable(struct compiler *compiler, const struct expr *expr,
                                    uint32_t *reg, struct error *err)
{
    if (compiler->lambda == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "lambda variable %s outside of its lambda",
                         expr->variable.name);
    for (uint32_t i = 0; i < compiler->lambda->lambda.variable_count; i++) {
        if (compiler->lambda->lambda.variable_ids[i] == expr->variable.id) {
            compile_column(compiler, expr, (int)i, reg);
            return OK;
        }
    }
    return capture(compiler, expr, reg, err);
}

/* ---- calls ---- */

static struct expr_program *finish_program(struct compiler *compiler, struct branch *results,
                                           uint32_t result_count)
{
    struct expr_program *program = arena_new_object(compiler->arena, sizeof *program);
    *program = (struct expr_program){
        .steps = compiler->steps,
        .step_count = compiler->step_count,
        .register_count = compiler->register_count,
        .state_count = compiler->state_count,
        .lambda_count = compiler->lambda_count,
        .results = results,
        .result_count = result_count,
    };
    return program;
}

static enum status compile_lambda(struct compiler *compiler, const struct expr *lambda,
                                  struct lambda_code *code, struct error *err)
{
    struct compiler inner = {.arena = compiler->arena,
                             .outer = compiler,
                             .lambda = lambda,
                             .depth = compiler->depth,
                             .strict = compiler->strict};
    struct branch *result = arena_new_object(compiler->arena, sizeof *result);
    TRY(compile(&inner, lambda->args[0], &result->result, err));
    result->last = inner.step_count;
    compiler->guards |= inner.guards;
    compiler->random |= inner.random;
    *code = (struct lambda_code){
        .body = finish_program(&inner, result, 1),
        .variable_count = lambda->lambda.variable_count,
        .captured = inner.captured,
        .captured_count = inner.captured_count,
    };
    return OK;
}

static enum status compile_call(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                                struct error *err)
{
    if (expr->kind == EXPR_CALL && expr->call.kernel == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "%s cannot be computed here",
                         expr->call.function->name);
    struct arena *arena = compiler->arena;
    uint32_t *args = arena_new_object(arena, (expr->arg_count + 1) * sizeof *args);
    struct lambda_code *lambdas = NULL;
    uint32_t arg_count = 0;
    uint32_t lambda_count = 0;
    uint32_t needed = expr->arg_count;
    if (expr->kind == EXPR_CALL && expr->call.bound != NULL &&
        (expr->call.function->flags & FUNCTION_BOUND_TAIL) != 0)
        needed = 1;
    for (uint32_t i = 0; i < needed; i++) {
        const struct expr *arg = expr->args[i];
        if (arg->kind != EXPR_LAMBDA) {
            TRY(compile(compiler, arg, &args[arg_count++], err));
            continue;
        }
        if (lambdas == NULL)
            lambdas = arena_new_object(arena, expr->arg_count * sizeof *lambdas);
        TRY(compile_lambda(compiler, arg, &lambdas[lambda_count++], err));
    }
    uint32_t index = add_step(compiler, expr->kind == EXPR_CAST ? STEP_CAST : STEP_CALL, expr);
    struct step *step = &compiler->steps[index];
    step->args = args;
    step->arg_count = arg_count;
    step->lambdas = lambdas;
    step->lambda_count = lambda_count;
    step->lambda_state = compiler->lambda_count;
    compiler->lambda_count += lambda_count;
    step->state = compiler->state_count++;
    *reg = step->out;
    return OK;
}

/* ---- strict calls ---- */

/* Whether an argument is not to be evaluated where one before it is NULL. */
static bool has_guard(const struct expr *expr)
{
    if (!function_stops_at_null(expr))
        return false;
    if (expr->call.bound != NULL && (expr->call.function->flags & FUNCTION_BOUND_TAIL) != 0)
        return false;
    bool guard = false;
    bool nullable = expr->arg_count > 0 && expr->args[0]->nullable;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *arg = expr->args[i];
        if (arg->kind == EXPR_LAMBDA)
            return false;
        guard |= i > 0 && nullable && (arg->kind == EXPR_CALL || arg->kind == EXPR_CAST);
        nullable |= arg->nullable;
    }
    return guard;
}

static enum status compile_strict(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                                  struct error *err)
{
    if (expr->call.kernel == NULL)
        return error_set(err, STATUS_INTERNAL_ERROR, "%s cannot be computed here",
                         expr->call.function->name);
    uint32_t index = add_step(compiler, STEP_STRICT_CALL, expr);
    size_t count = (size_t)expr->arg_count + 1;
    struct branch *branches = arena_new_object(compiler->arena, count * sizeof *branches);
    uint32_t *args = arena_new_object(compiler->arena, count * sizeof *args);
    uint32_t known = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        branches[i].first = compiler->step_count;
        TRY(compile(compiler, expr->args[i], &args[i], err));
        branches[i].last = compiler->step_count;
        branches[i].result = args[i];
        if (i == 0)
            known = compiler->known_count;
    }
    compiler->known_count = known; /* what ran for some of the rows is of no use to others */
    struct step *step = &compiler->steps[index];
    step->args = args;
    step->arg_count = expr->arg_count;
    step->branches = branches;
    step->branch_count = expr->arg_count;
    step->state = compiler->state_count++;
    step->next = compiler->step_count;
    *reg = step->out;
    return OK;
}

/* ---- lazy calls ---- */

static bool is_lazy(const struct expr *expr, const char *name)
{
    return strcmp(expr->call.function->name, name) == 0;
}

static enum step_kind lazy_kind(const struct expr *expr)
{
    if (is_lazy(expr, "and"))
        return STEP_AND;
    if (is_lazy(expr, "or"))
        return STEP_OR;
    if (is_lazy(expr, "coalesce"))
        return STEP_COALESCE;
    CHECK(is_lazy(expr, "if") || is_lazy(expr, "case"));
    return STEP_CASE;
}

static enum status compile_lazy(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                                struct error *err)
{
    uint32_t index = add_step(compiler, lazy_kind(expr), expr);
    struct branch *branches =
        arena_new_object(compiler->arena, (expr->arg_count + 1) * sizeof *branches);
    uint32_t known = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        branches[i].first = compiler->step_count;
        TRY(compile(compiler, expr->args[i], &branches[i].result, err));
        branches[i].last = compiler->step_count;
        /* what the first branch computes holds for all rows of the step; of the conditions of a
         * CASE each runs for fewer rows than the one before, so that they may be used after it,
         * but not by what follows the step */
        if (i == 0)
            known = compiler->known_count;
        else
            compiler->known_count = known;
    }
    compiler->known_count = known;
    struct step *step = &compiler->steps[index];
    step->branches = branches;
    step->branch_count = expr->arg_count;
    step->next = compiler->step_count;
    *reg = step->out;
    return OK;
}

static enum status compile_new(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                               struct error *err)
{
    switch (expr->kind) {
    case EXPR_LITERAL: {
        uint32_t step = add_step(compiler, STEP_CONSTANT, expr);
        *reg = compiler->steps[step].out;
        return OK;
    }
    case EXPR_COLUMN:
        if (compiler->outer != NULL)
            return capture(compiler, expr, reg, err);
        if (expr->column.ordinal < 0)
            return error_set(err, STATUS_INTERNAL_ERROR, "column %s is not bound",
                             expr->column.name);
        compile_column(compiler, expr, expr->column.ordinal, reg);
        return OK;
    case EXPR_LAMBDA_VARIABLE:
        return compile_variable(compiler, expr, reg, err);
    case EXPR_CALL:
        if ((expr->call.function->flags & FUNCTION_REPLACED) != 0)
            return compile(compiler, expr->args[expr->arg_count - 1], reg, err);
        if ((expr->call.function->flags & FUNCTION_LAZY) != 0)
            return compile_lazy(compiler, expr, reg, err);
        if (has_guard(expr)) {
            compiler->guards = true;
            if (compiler->strict)
                return compile_strict(compiler, expr, reg, err);
        }
        return compile_call(compiler, expr, reg, err);
    case EXPR_CAST:
        return compile_call(compiler, expr, reg, err);
    case EXPR_LAMBDA:
    case EXPR_AGGREGATE:
    case EXPR_WINDOW:
    case EXPR_GENERATOR:
    case EXPR_SUBQUERY:
    case EXPR_OUTER:
        break;
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "expression of kind %d cannot be computed here",
                     (int)expr->kind);
}

static bool is_random(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && !expr_is_deterministic(expr);
}

static enum status compile(struct compiler *compiler, const struct expr *expr, uint32_t *reg,
                           struct error *err)
{
    bool shared = expr->kind != EXPR_LITERAL && !is_random(expr);
    compiler->random |= is_random(expr);
    if (shared && recall(compiler, expr, reg))
        return OK;
    if (compiler->depth >= DEPTH_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "depth of an expression", "limit",
                           "3000", NULL);
    compiler->depth++;
    TRY(compile_new(compiler, expr, reg, err));
    compiler->depth--;
    if (shared)
        remember(compiler, expr, *reg);
    return OK;
}

static enum status compile_all(struct compiler *compiler, struct expr *const *exprs, uint32_t count,
                               struct expr_program **out, struct error *err)
{
    struct branch *results =
        arena_new_object(compiler->arena, ((size_t)count + 1) * sizeof *results);
    for (uint32_t i = 0; i < count; i++) {
        results[i].first = compiler->step_count;
        TRY(compile(compiler, exprs[i], &results[i].result, err));
        results[i].last = compiler->step_count;
    }
    *out = finish_program(compiler, results, count);
    return OK;
}

enum status program_compile_chain(struct arena *query, struct expr *const *exprs, uint32_t count,
                                  const struct expr_program **out, struct error *err)
{
    struct compiler compiler = {.arena = query};
    struct expr_program *program;
    TRY(compile_all(&compiler, exprs, count, &program, err));
    if (compiler.guards && !compiler.random) { /* what is random does not run twice */
        struct compiler again = {.arena = query, .strict = true};
        struct expr_program *strict;
        TRY(compile_all(&again, exprs, count, &strict, err));
        program->strict = strict;
    }
    *out = program;
    return OK;
}

enum status expr_compile(struct arena *query, struct expr *const *exprs, uint32_t count,
                         const struct expr_program **out, struct error *err)
{
    return program_compile_chain(query, exprs, count, out, err);
}

static void new_lambda_states(struct arena *task, const struct expr_program *program,
                              struct expr_state *state);

static struct expr_state *new_state(struct arena *task, const struct expr_program *program)
{
    struct expr_state *state = arena_new_object(task, sizeof *state);
    state->registers =
        arena_new_object(task, (program->register_count + 1) * sizeof(struct vector *));
    state->kernel_states =
        arena_new_object(task, ((size_t)program->state_count + 1) * KERNEL_STATE_BYTES);
    new_lambda_states(task, program, state);
    if (program->strict != NULL)
        state->strict = new_state(task, program->strict);
    return state;
}

static void new_lambda_states(struct arena *task, const struct expr_program *program,
                              struct expr_state *state)
{
    if (program->lambda_count == 0)
        return;
    state->lambda_states =
        arena_new_object(task, program->lambda_count * sizeof(struct expr_state *));
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct step *step = &program->steps[i];
        for (uint32_t k = 0; k < step->lambda_count; k++)
            state->lambda_states[step->lambda_state + k] = new_state(task, step->lambdas[k].body);
    }
}

enum status expr_state_new(struct arena *task, const struct expr_program *program,
                           struct expr_state **out, struct error *err)
{
    (void)err;
    *out = new_state(task, program);
    return OK;
}
