/* Filters: the parts of an AND, one after another, each for the rows that are left. */
#include "base/buffer.h"
#include "base/check.h"
#include "expr/arithmetic.h"
#include "expr/function.h"
#include "expr/program_impl.h"

enum part_kind {
    PART_PROGRAM,
    PART_COMPARE_INT, /* column op constant */
    PART_COMPARE_LONG,
    PART_EQUAL_BYTES,
    PART_TRUE, /* a boolean column, or NOT one */
    PART_FALSE,
    PART_NOT_NULL,
};

struct part {
    enum part_kind kind;
    int ordinal;
    enum comparison_operation operation;
    int64_t number;
    struct bytes text;
};

struct expr_filter {
    const struct expr_program *program; /* one result per part; unused ones are literals */
    struct part *parts;
    uint32_t part_count;
};

static bool is_call(const struct expr *expr, const char *name)
{
    return expr->kind == EXPR_CALL && strcmp(expr->call.function->name, name) == 0;
}

static const struct expr *meaning(const struct expr *expr)
{
    while (expr->kind == EXPR_CALL && (expr->call.function->flags & FUNCTION_REPLACED) != 0)
        expr = expr->args[expr->arg_count - 1];
    return expr;
}

static uint32_t count_parts(const struct expr *expr)
{
    expr = meaning(expr);
    if (!is_call(expr, "and"))
        return 1;
    return count_parts(expr->args[0]) + count_parts(expr->args[1]);
}

static void list_parts(struct expr *expr, struct expr **out, uint32_t *count)
{
    const struct expr *what = meaning(expr);
    if (is_call(what, "and")) {
        list_parts(what->args[0], out, count);
        list_parts(what->args[1], out, count);
        return;
    }
    out[(*count)++] = expr;
}

static enum comparison_operation mirrored(enum comparison_operation operation)
{
    switch (operation) {
    case COMPARE_LESS:
        return COMPARE_GREATER;
    case COMPARE_LESS_EQUAL:
        return COMPARE_GREATER_EQUAL;
    case COMPARE_GREATER:
        return COMPARE_LESS;
    case COMPARE_GREATER_EQUAL:
        return COMPARE_LESS_EQUAL;
    case COMPARE_EQUAL:
    case COMPARE_NULL_EQUAL:
        return operation;
    }
    return operation;
}

static bool compare_part(const struct expr *expr, struct part *part)
{
    if (expr->kind != EXPR_CALL || expr->arg_count != 2 ||
        !comparison_of_kernel(expr->call.kernel, &part->operation))
        return false;
    const struct expr *column = expr->args[0];
    const struct expr *literal = expr->args[1];
    if (column->kind == EXPR_LITERAL) {
        column = expr->args[1];
        literal = expr->args[0];
        part->operation = mirrored(part->operation);
    }
    if (column->kind != EXPR_COLUMN || literal->kind != EXPR_LITERAL ||
        vector_is_null(literal->literal.value, 0))
        return false;
    part->ordinal = column->column.ordinal;
    const void *cell = literal->literal.value->values;
    switch ((int)column->type->id) {
    case TYPE_INT:
    case TYPE_DATE:
        part->kind = PART_COMPARE_INT;
        part->number = *(const int32_t *)cell;
        return true;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        part->kind = PART_COMPARE_LONG;
        part->number = *(const int64_t *)cell;
        return true;
    case TYPE_STRING:
    case TYPE_BINARY:
        part->kind = PART_EQUAL_BYTES;
        part->text = *(const struct bytes *)cell;
        return part->operation == COMPARE_EQUAL;
    default:
        return false;
    }
}

static bool is_boolean_column(const struct expr *expr)
{
    return expr->kind == EXPR_COLUMN && expr->type->id == TYPE_BOOLEAN;
}

static bool recognise(const struct expr *expr, struct part *part)
{
    if (compare_part(expr, part))
        return true;
    if (is_boolean_column(expr)) {
        *part = (struct part){.kind = PART_TRUE, .ordinal = expr->column.ordinal};
        return true;
    }
    if (is_call(expr, "not") && is_boolean_column(expr->args[0])) {
        *part = (struct part){.kind = PART_FALSE, .ordinal = expr->args[0]->column.ordinal};
        return true;
    }
    if (is_call(expr, "isnotnull") && expr->args[0]->kind == EXPR_COLUMN &&
        expr->args[0]->type->id != TYPE_VOID) {
        *part = (struct part){.kind = PART_NOT_NULL, .ordinal = expr->args[0]->column.ordinal};
        return true;
    }
    return false;
}

enum status expr_filter_compile(struct arena *query, struct expr *predicate,
                                const struct expr_filter **out, struct error *err)
{
    if (predicate->type->id != TYPE_BOOLEAN && predicate->type->id != TYPE_VOID)
        return error_set(err, STATUS_INTERNAL_ERROR, "a filter that is not boolean");
    uint32_t count = count_parts(predicate);
    struct expr **exprs = arena_new_object(query, count * sizeof *exprs);
    uint32_t listed = 0;
    list_parts(predicate, exprs, &listed);
    CHECK(listed == count);
    struct expr_filter *filter = arena_new_object(query, sizeof *filter);
    filter->parts = arena_new_object(query, count * sizeof *filter->parts);
    filter->part_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct part *part = &filter->parts[i];
        if (recognise(meaning(exprs[i]), part) && part->ordinal >= 0)
            exprs[i] = expr_literal_boolean(query, true);
        else
            *part = (struct part){.kind = PART_PROGRAM};
    }
    TRY(program_compile_chain(query, exprs, count, &filter->program, err));
    *out = filter;
    return OK;
}

enum status expr_filter_state_new(struct arena *task, const struct expr_filter *filter,
                                  struct expr_state **out, struct error *err)
{
    return expr_state_new(task, filter->program, out, err);
}

/* Loops that append the rows for which `pass` holds; branch-free. */
#define NARROW(pass)                                                                               \
    do {                                                                                           \
        if (rows->selection == NULL) {                                                             \
            for (uint32_t row = 0; row < rows->selected; row++) {                                  \
                out[count] = (uint16_t)row;                                                        \
                count += (pass) ? 1u : 0u;                                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t i = 0; i < rows->selected; i++) {                                        \
                uint32_t row = rows->selection[i];                                                 \
                out[count] = (uint16_t)row;                                                        \
                count += (pass) ? 1u : 0u;                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define NARROW_VALID(pass)                                                                         \
    do {                                                                                           \
        if (validity == NULL)                                                                      \
            NARROW(pass);                                                                          \
        else                                                                                       \
            NARROW(((pass) & (validity[row >> 6] >> (row & 63) & 1)) != 0);                        \
    } while (0)

#define NARROW_NUMBER(T)                                                                           \
    static uint32_t narrow_##T(const struct part *part, const struct vector *vector,               \
                               const struct rows *rows, uint16_t *out)                             \
    {                                                                                              \
        const T *cells = vector->values;                                                           \
        const uint64_t *validity = vector->validity;                                               \
        T number = (T)part->number;                                                                \
        uint32_t count = 0;                                                                        \
        switch (part->operation) {                                                                 \
        case COMPARE_EQUAL:                                                                        \
        case COMPARE_NULL_EQUAL:                                                                   \
            NARROW_VALID(cells[row] == number);                                                    \
            break;                                                                                 \
        case COMPARE_LESS:                                                                         \
            NARROW_VALID(cells[row] < number);                                                     \
            break;                                                                                 \
        case COMPARE_LESS_EQUAL:                                                                   \
            NARROW_VALID(cells[row] <= number);                                                    \
            break;                                                                                 \
        case COMPARE_GREATER:                                                                      \
            NARROW_VALID(cells[row] > number);                                                     \
            break;                                                                                 \
        case COMPARE_GREATER_EQUAL:                                                                \
            NARROW_VALID(cells[row] >= number);                                                    \
            break;                                                                                 \
        }                                                                                          \
        return count;                                                                              \
    }

NARROW_NUMBER(int32_t)
NARROW_NUMBER(int64_t)

static uint32_t narrow_bytes(const struct part *part, const struct vector *vector,
                             const struct rows *rows, uint16_t *out)
{
    const struct bytes *cells = vector->values;
    struct bytes text = part->text;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->selected; i++) {
        uint32_t row = rows_at(rows, i);
        out[count] = (uint16_t)row;
        count += validity_get(vector->validity, row) && cells[row].size_bytes == text.size_bytes &&
                 bytes_equal(cells[row], text);
    }
    return count;
}

static uint32_t narrow_boolean(const struct vector *vector, bool wanted, const struct rows *rows,
                               uint16_t *out)
{
    const uint8_t *cells = vector->values;
    const uint64_t *validity = vector->validity;
    uint32_t count = 0;
    NARROW_VALID((cells[row] != 0) == wanted);
    return count;
}

static uint32_t narrow_constant(const struct part *part, const struct vector *vector,
                                const struct rows *rows, uint16_t *out)
{
    struct vector one = *vector;
    one.constant = false;
    struct rows first = {.selected = 1};
    uint16_t unused[1];
    uint32_t passed = 0;
    if (vector_is_null(vector, 0))
        return 0;
    switch (part->kind) {
    case PART_COMPARE_INT:
        passed = narrow_int32_t(part, &one, &first, unused);
        break;
    case PART_COMPARE_LONG:
        passed = narrow_int64_t(part, &one, &first, unused);
        break;
    case PART_EQUAL_BYTES:
        passed = narrow_bytes(part, &one, &first, unused);
        break;
    case PART_TRUE:
    case PART_PROGRAM:
        passed = narrow_boolean(&one, true, &first, unused);
        break;
    case PART_FALSE:
        passed = narrow_boolean(&one, false, &first, unused);
        break;
    case PART_NOT_NULL:
        passed = 1;
        break;
    }
    for (uint32_t i = 0; passed > 0 && i < rows->selected; i++)
        out[i] = (uint16_t)rows_at(rows, i);
    return passed > 0 ? rows->selected : 0;
}

static uint32_t narrow(const struct part *part, const struct vector *vector,
                       const struct rows *rows, uint16_t *out)
{
    if (vector->constant)
        return narrow_constant(part, vector, rows, out);
    uint32_t count = 0;
    switch (part->kind) {
    case PART_COMPARE_INT:
        return narrow_int32_t(part, vector, rows, out);
    case PART_COMPARE_LONG:
        return narrow_int64_t(part, vector, rows, out);
    case PART_EQUAL_BYTES:
        return narrow_bytes(part, vector, rows, out);
    case PART_TRUE:
    case PART_PROGRAM:
        return narrow_boolean(vector, true, rows, out);
    case PART_FALSE:
        return narrow_boolean(vector, false, rows, out);
    case PART_NOT_NULL:
        NARROW(validity_get(vector->validity, row));
        return count;
    }
    return count;
}

static enum status filter_run(const struct expr_filter *filter, const struct expr_program *program,
                              struct expr_state *state, const struct eval_context *ctx,
                              struct batch *batch, struct error *err)
{
    struct run run = {.program = program,
                      .state = state,
                      .ctx = ctx,
                      .columns = batch->columns,
                      .rows = batch->rows};
    struct rows rows = {.selection = batch->selection, .selected = batch->selected};
    uint32_t before = rows.selected;
    for (uint32_t i = 0; i < filter->part_count && rows.selected > 0; i++) {
        const struct part *part = &filter->parts[i];
        const struct branch *result = &program->results[i];
        const struct vector *vector;
        if (part->kind == PART_PROGRAM) {
            TRY(program_run(&run, result->first, result->last, &rows, err));
            vector = state->registers[result->result];
        } else {
            vector = batch->columns[part->ordinal];
        }
        void *memory;
        TRY(arena_alloc_raw(ctx->arena, (size_t)rows.selected + 1, sizeof(uint16_t), &memory, err));
        uint32_t count = narrow(part, vector, &rows, memory);
        if (count < rows.selected)
            rows = (struct rows){.selection = memory, .selected = count};
    }
    if (rows.selected < before) {
        batch->selection = rows.selection;
        batch->selected = rows.selected;
    }
    return OK;
}

enum status expr_filter_run(const struct expr_filter *filter, struct expr_state *state,
                            const struct eval_context *ctx, struct batch *batch, struct error *err)
{
    const struct expr_program *program = filter->program;
    struct buffer_limit limit = {.bytes_max = program_buffer_bytes(ctx)};
    buffer_limit_begin(&limit);
    enum status status = filter_run(filter, program, state, ctx, batch, err);
    if (program_is_disputed(program, status, err))
        status = filter_run(filter, program->strict, state->strict, ctx, batch, err);
    buffer_limit_end(&limit);
    return status;
}
