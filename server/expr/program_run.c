/* Runs programs: calls, casts, lambdas. */
#include "base/buffer.h"
#include "base/check.h"
#include "expr/cast.h"
#include "expr/function.h"
#include "expr/program_impl.h"

#define FAILED_TEXT_MAX 120 /* bytes of an expression in the text of an error */

/* ---- kernels' view ---- */

struct lambda_call {
    const struct lambda_code *code;
    struct expr_state *state;
    struct vector *const *outer_registers;
    bool *failed; /* its body, whose own expression the error names */
};

enum status kernel_make_nullable(const struct kernel_call *call, struct error *err)
{
    if (call->out->validity != NULL)
        return OK;
    return vector_make_nullable(call->ctx->arena, call->out, err);
}

enum status kernel_alloc(const struct kernel_call *call, size_t size_bytes, uint8_t **out,
                         struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(call->ctx->arena, size_bytes == 0 ? 1 : size_bytes, 1, &memory, err));
    *out = memory;
    return OK;
}

enum status kernel_set_bytes(const struct kernel_call *call, uint32_t row, struct bytes bytes,
                             struct error *err)
{
    uint8_t *copy;
    TRY(kernel_alloc(call, bytes.size_bytes, &copy, err));
    if (bytes.size_bytes > 0)
        memcpy(copy, bytes.data, bytes.size_bytes);
    KERNEL_OUT(struct bytes, call)[row] = bytes_of(copy, bytes.size_bytes);
    return OK;
}

const struct bytes *kernel_constant_bytes(const struct kernel_call *call, uint32_t index)
{
    const struct vector *arg = call->args[index];
    if (!arg->constant || vector_is_null(arg, 0))
        return NULL;
    return VECTOR_VALUES(struct bytes, arg);
}

/* ---- calls ---- */

/* Whether all that a call built is there: buffers drop what is above their limit. */
static enum status check_built(const struct step *step, struct error *err)
{
    if (!buffer_limit_refused())
        return OK;
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                       step->expr->kind == EXPR_CAST ? "the memory for what a cast makes"
                                                     : "the memory for what a function makes",
                       "limit", "what this machine has", NULL);
}

static enum status null_result(const struct run *run, const struct step *step, struct error *err)
{
    return vector_new_null(run->ctx->arena, step->expr->type, run->rows,
                           &run->state->registers[step->out], err);
}

/* ANDs the validity of flat arguments; *out NULL if there are no NULLs. */
static enum status and_validity(const struct run *run, struct vector *const *args,
                                uint32_t arg_count, uint32_t rows, uint64_t **out,
                                struct error *err)
{
    uint64_t *validity = NULL;
    bool own = false;
    size_t words = validity_words(rows);
    for (uint32_t i = 0; i < arg_count; i++) {
        if (args[i]->constant || args[i]->validity == NULL)
            continue;
        if (validity == NULL) {
            validity = args[i]->validity;
            continue;
        }
        if (!own) {
            void *fresh;
            TRY(arena_alloc_raw(run->ctx->arena, words, sizeof(uint64_t), &fresh, err));
            memcpy(fresh, validity, words * sizeof(uint64_t));
            validity = fresh;
            own = true;
        }
        for (size_t word = 0; word < words; word++)
            validity[word] &= args[i]->validity[word];
    }
    if (validity != NULL && !own) { /* the result's bitmap may be written to */
        void *fresh;
        TRY(arena_alloc_raw(run->ctx->arena, words, sizeof(uint64_t), &fresh, err));
        memcpy(fresh, validity, words * sizeof(uint64_t));
        validity = fresh;
    }
    *out = validity;
    return OK;
}

static enum status without_nulls(const struct run *run, const uint64_t *validity,
                                 const struct rows *rows, struct rows *out, struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(run->ctx->arena, rows->selected + 1, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->selected; i++) {
        uint32_t row = rows_at(rows, i);
        selection[count] = (uint16_t)row;
        count += validity_get(validity, row);
    }
    *out = (struct rows){.selection = selection, .selected = count};
    return OK;
}

static bool all_constant(struct vector *const *args, const struct step *step)
{
    if (step->expr->kind == EXPR_CALL && (step->expr->call.function->flags & FUNCTION_RANDOM) != 0)
        return false;
    for (uint32_t i = 0; i < step->arg_count; i++) {
        if (!args[i]->constant)
            return false;
    }
    return step->lambda_count == 0;
}

static bool has_null_constant(struct vector *const *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (args[i]->type->id == TYPE_VOID || (args[i]->constant && vector_is_null(args[i], 0)))
            return true;
    }
    return false;
}

static void lambda_calls(const struct run *run, const struct step *step, struct lambda_call *calls,
                         bool *failed)
{
    for (uint32_t i = 0; i < step->lambda_count; i++) {
        calls[i] = (struct lambda_call){
            .code = &step->lambdas[i],
            .state = run->state->lambda_states[step->lambda_state + i],
            .outer_registers = run->state->registers,
        };
        calls[i].failed = failed;
    }
}

/* *in_lambda: the body of a lambda has failed. */
static enum status run_call(const struct run *run, const struct step *step, const struct rows *rows,
                            bool *in_lambda, struct error *err)
{
    struct vector *few[8];
    struct vector **args = few;
    if (step->arg_count > 8)
        args = arena_new_object(run->ctx->arena, step->arg_count * sizeof *args);
    for (uint32_t i = 0; i < step->arg_count; i++)
        args[i] = run->state->registers[step->args[i]];
    uint32_t flags = step->expr->call.function->flags;
    bool intolerant = (flags & FUNCTION_NULL_INTOLERANT) != 0;
    if (intolerant && has_null_constant(args, step->arg_count))
        return null_result(run, step, err);
    bool constant = all_constant(args, step);
    struct lambda_call lambdas[4];
    CHECK(step->lambda_count <= 4);
    lambda_calls(run, step, lambdas, in_lambda);
    struct rows narrowed = constant ? (struct rows){.selected = 1} : *rows;
    struct kernel_call call = {
        .ctx = run->ctx,
        .expr = step->expr,
        .args = args,
        .arg_count = step->arg_count,
        .rows = constant ? 1 : run->rows,
        .lambdas = lambdas,
        .state = run->state->kernel_states + (size_t)step->state * KERNEL_STATE_BYTES,
    };
    TRY(vector_new(run->ctx->arena, step->expr->type, call.rows, &call.out, err));
    if (intolerant && !constant) {
        TRY(and_validity(run, args, step->arg_count, run->rows, &call.out->validity, err));
        if (call.out->validity != NULL && (flags & FUNCTION_TOTAL) == 0)
            TRY(without_nulls(run, call.out->validity, rows, &narrowed, err));
    }
    call.selection = narrowed.selection;
    call.selected = narrowed.selected;
    TRY(step->expr->call.kernel(&call, err));
    TRY(check_built(step, err));
    if (constant) {
        call.out->constant = true;
        call.out->length = run->rows;
    }
    run->state->registers[step->out] = call.out;
    return OK;
}

/* Says which expression a value was wrong for: the text of its SQL, of which there may be several
 * in a query with views.  What is computed while a query is analysed has its place. */
static enum status name_failed(const struct run *run, const struct step *step, struct error *err)
{
    struct buffer text = {0};
    enum status status = err->status;
    if (run->ctx->bytes_max != 0 || status_domain(status) != DOMAIN_USER ||
        status == STATUS_LIMIT_EXCEEDED || status == STATUS_OPERATION_CANCELLED)
        return status;
    expr_print_sql(&text, step->expr);
    size_t size = text.size_bytes < FAILED_TEXT_MAX ? text.size_bytes : FAILED_TEXT_MAX;
    (void)error_wrap(err, "%.*s%s", (int)size, buffer_text(&text),
                     size < text.size_bytes ? "..." : "");
    buffer_fini(&text);
    return status;
}

/* What fails in a lambda has been named there. */
static enum status run_named_call(const struct run *run, const struct step *step,
                                  const struct rows *rows, struct error *err)
{
    bool in_lambda = false;
    enum status status = run_call(run, step, rows, &in_lambda, err);
    return status == OK || in_lambda ? status : name_failed(run, step, err);
}

/* Each argument for the rows where those before it are not NULL. */
static enum status run_strict_call(const struct run *run, const struct step *step,
                                   const struct rows *rows, struct error *err)
{
    struct rows rest = *rows;
    for (uint32_t i = 0; i < step->branch_count; i++) {
        const struct branch *branch = &step->branches[i];
        TRY(program_run(run, branch->first, branch->last, &rest, err));
        const struct vector *arg = run->state->registers[branch->result];
        if (has_null_constant(&run->state->registers[branch->result], 1))
            return null_result(run, step, err);
        if (!arg->constant && arg->validity != NULL)
            TRY(without_nulls(run, arg->validity, &rest, &rest, err));
        if (rest.selected == 0)
            return null_result(run, step, err);
    }
    return run_named_call(run, step, rows, err);
}

static enum status run_cast(const struct run *run, const struct step *step, const struct rows *rows,
                            struct error *err)
{
    const struct vector *in = run->state->registers[step->args[0]];
    if (has_null_constant(&run->state->registers[step->args[0]], 1))
        return null_result(run, step, err);
    struct cast_rows all = {
        .selection = rows->selection, .selected = rows->selected, .rows = run->rows};
    struct vector one;
    if (in->constant) {
        one = *in;
        one.constant = false;
        one.length = 1;
        in = &one;
        all = (struct cast_rows){.selected = 1, .rows = 1};
    }
    struct vector *out;
    TRY(cast_vector(run->ctx, step->expr, in, &all, &out, err));
    TRY(check_built(step, err));
    if (in == &one) {
        struct vector *constant = arena_new_object(run->ctx->arena, sizeof *constant);
        *constant = *out;
        constant->constant = true;
        constant->length = run->rows;
        out = constant;
    }
    run->state->registers[step->out] = out;
    return OK;
}

static void run_constant(const struct run *run, const struct step *step)
{
    struct vector *constant = arena_new_object(run->ctx->arena, sizeof *constant);
    *constant = *step->expr->literal.value;
    constant->length = run->rows;
    run->state->registers[step->out] = constant;
}

enum status program_run(const struct run *run, uint32_t first, uint32_t last,
                        const struct rows *rows, struct error *err)
{
    const struct step *steps = run->program->steps;
    for (uint32_t index = first; index < last; index = steps[index].next) {
        const struct step *step = &steps[index];
        switch (step->kind) {
        case STEP_COLUMN:
            run->state->registers[step->out] = run->columns[step->ordinal];
            break;
        case STEP_CONSTANT:
            run_constant(run, step);
            break;
        case STEP_CALL:
            TRY(run_named_call(run, step, rows, err));
            break;
        case STEP_CAST:
            if (run_cast(run, step, rows, err) != OK)
                return name_failed(run, step, err);
            break;
        case STEP_STRICT_CALL:
            TRY(run_strict_call(run, step, rows, err));
            break;
        case STEP_AND:
        case STEP_OR:
        case STEP_CASE:
        case STEP_COALESCE:
            TRY(program_run_lazy(run, step, rows, err));
            break;
        }
    }
    return OK;
}

bool program_is_disputed(const struct expr_program *program, enum status status, struct error *err)
{
    if (status == OK || program->strict == NULL || status_domain(status) != DOMAIN_USER ||
        status == STATUS_LIMIT_EXCEEDED || status == STATUS_OPERATION_CANCELLED)
        return false;
    error_clear(err);
    return true;
}

static enum status eval(const struct expr_program *program, struct expr_state *state,
                        const struct eval_context *ctx, const struct batch *batch,
                        struct vector **out, struct error *err)
{
    struct run run = {.program = program,
                      .state = state,
                      .ctx = ctx,
                      .columns = batch->columns,
                      .rows = batch->rows};
    struct rows rows = {.selection = batch->selection, .selected = batch->selected};
    if (rows.selected > 0)
        TRY(program_run(&run, 0, program->step_count, &rows, err));
    for (uint32_t i = 0; i < program->result_count; i++) {
        const struct branch *result = &program->results[i];
        if (rows.selected > 0) {
            out[i] = state->registers[result->result];
            continue;
        }
        const struct type *type = NULL;
        for (uint32_t k = 0; k < program->step_count && type == NULL; k++) {
            if (program->steps[k].out == result->result)
                type = program->steps[k].expr->type;
        }
        TRY(vector_new_null(ctx->arena, type, batch->rows, &out[i], err));
    }
    return OK;
}

enum status expr_eval(const struct expr_program *program, struct expr_state *state,
                      const struct eval_context *ctx, const struct batch *batch,
                      struct vector **out, struct error *err)
{
    struct buffer_limit limit = {.bytes_max = program_buffer_bytes(ctx)};
    buffer_limit_begin(&limit);
    enum status status = eval(program, state, ctx, batch, out, err);
    if (program_is_disputed(program, status, err))
        status = eval(program->strict, state->strict, ctx, batch, out, err);
    buffer_limit_end(&limit);
    return status;
}

/* ---- lambdas ---- */

uint32_t lambda_variable_count(const struct kernel_call *call, uint32_t index)
{
    return call->lambdas[index].code->variable_count;
}

/* A view of `length` cells from `offset` (a multiple of 64 if there is a bitmap). */
static struct vector *slice(struct arena *arena, const struct vector *vector, uint32_t offset,
                            uint32_t length)
{
    struct vector *view = arena_new_object(arena, sizeof *view);
    *view = *vector;
    view->length = length;
    if (vector->constant || offset == 0)
        return view;
    if (vector->validity != NULL)
        view->validity = vector->validity + offset / 64;
    if (vector->values != NULL)
        view->values = (uint8_t *)vector->values + offset * type_value_bytes(vector->type);
    if (vector->type->id == TYPE_STRUCT) {
        view->children =
            arena_new_object(arena, ((size_t)vector->child_count + 1) * sizeof(struct vector *));
        for (uint32_t i = 0; i < vector->child_count; i++)
            view->children[i] = slice(arena, vector->children[i], offset, length);
    }
    return view;
}

static enum status lambda_slice(const struct kernel_call *call, const struct lambda_call *lambda,
                                const struct lambda_input *input, uint32_t offset, uint32_t length,
                                struct vector **out, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    const struct lambda_code *code = lambda->code;
    uint32_t count = code->variable_count + code->captured_count;
    struct vector **columns = arena_new_object(arena, (count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < code->variable_count; i++)
        columns[i] = slice(arena, input->variables[i], offset, length);
    for (uint32_t i = 0; i < code->captured_count; i++) {
        struct vector *outer = lambda->outer_registers[code->captured[i]];
        struct vector **column = &columns[code->variable_count + i];
        if (outer->constant)
            *column = slice(arena, outer, 0, length);
        else
            TRY(vector_gather(arena, outer, input->rows + offset, length, column, err));
    }
    struct batch batch = {.columns = columns, .rows = length, .selected = length};
    enum status status = expr_eval(code->body, lambda->state, call->ctx, &batch, out, err);
    *lambda->failed = *lambda->failed || status != OK;
    return status;
}

enum status lambda_eval(const struct kernel_call *call, uint32_t index,
                        const struct lambda_input *input, struct vector **out, struct error *err)
{
    const struct lambda_call *lambda = &call->lambdas[index];
    if (input->count <= BATCH_ROWS_MAX)
        return lambda_slice(call, lambda, input, 0, input->count, out, err);
    struct arena *arena = call->ctx->arena;
    uint32_t slices = (input->count + BATCH_ROWS_MAX - 1) / BATCH_ROWS_MAX;
    struct vector **parts = arena_new_object(arena, slices * sizeof *parts);
    for (uint32_t i = 0; i < slices; i++) {
        uint32_t offset = i * BATCH_ROWS_MAX;
        uint32_t length =
            input->count - offset < BATCH_ROWS_MAX ? input->count - offset : BATCH_ROWS_MAX;
        TRY(lambda_slice(call, lambda, input, offset, length, &parts[i], err));
    }
    return vector_concat(arena, parts, slices, out, err);
}
