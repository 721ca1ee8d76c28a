#include "expr/generator.h"

#include "base/check.h"
#include "expr/resolvers.h"

#include <stdio.h>

enum status generator_run(const struct expr *generator, const struct eval_context *ctx,
                          struct vector **args, const struct batch *batch, struct vector **out,
                          struct error *err)
{
    CHECK(generator->kind == EXPR_GENERATOR && generator->generator.function->kernel != NULL);
    const struct type *type = type_array(ctx->arena, generator->type, true);
    TRY(vector_new(ctx->arena, type, batch->rows, out, err));
    struct kernel_call call = {
        .ctx = ctx,
        .expr = generator,
        .args = args,
        .arg_count = generator->arg_count,
        .rows = batch->rows,
        .selection = batch->selection,
        .selected = batch->selected,
        .out = *out,
    };
    return generator->generator.function->kernel(&call, err);
}

/* ---- resolving ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

void generator_make(struct expr *call, const struct type *columns)
{
    const struct function *function = call->call.function;
    const char *name = call->call.name;
    call->kind = EXPR_GENERATOR;
    call->generator.function = function;
    call->generator.name = name;
    call->generator.outer = ends_with(name, "_outer");
    call->type = columns;
    call->nullable = false;
}

RESOLVER(resolve_explode)
{
    const struct type *arg = call->args[0]->type;
    if (arg->id != TYPE_ARRAY && arg->id != TYPE_MAP)
        return function_wrong_type(call, 0, "(\"ARRAY\" or \"MAP\")", err);
    struct type_field fields[3];
    uint32_t count = 0;
    if (strncmp(call->call.name, "pos", 3) == 0)
        fields[count++] = (struct type_field){.name = "pos", .type = type_simple(TYPE_INT)};
    if (arg->id == TYPE_MAP)
        fields[count++] = (struct type_field){.name = "key", .type = arg->key};
    fields[count++] = (struct type_field){.name = arg->id == TYPE_MAP ? "value" : "col",
                                          .type = arg->element,
                                          .nullable = arg->element_nullable};
    generator_make(call, type_struct(ctx->arena, fields, count));
    *out = call;
    return OK;
}

RESOLVER(resolve_inline)
{
    const struct type *arg = call->args[0]->type;
    if (arg->id != TYPE_ARRAY || arg->element->id != TYPE_STRUCT)
        return function_wrong_type(call, 0, "\"ARRAY<STRUCT>\"", err);
    struct type_field *fields =
        arena_new_object(ctx->arena, (arg->element->field_count + 1U) * sizeof *fields);
    for (uint32_t i = 0; i < arg->element->field_count; i++) {
        fields[i] = arg->element->fields[i];
        fields[i].nullable = fields[i].nullable || arg->element_nullable;
    }
    generator_make(call, type_struct(ctx->arena, fields, arg->element->field_count));
    *out = call;
    return OK;
}

/* The type of column `column`: all its cells must have one, NULL aside. */
static enum status stack_column(struct resolve_context *ctx, const struct expr *call,
                                uint32_t column, uint32_t width, struct type_field *field,
                                struct error *err)
{
    uint32_t typed = 0;
    *field = (struct type_field){.name = arena_sprintf(ctx->arena, "col%u", (unsigned)column),
                                 .type = type_simple(TYPE_VOID)};
    for (uint32_t i = 1 + column; i < call->arg_count; i += width) {
        const struct expr *cell = call->args[i];
        field->nullable = field->nullable || cell->nullable;
        if (cell->type->id == TYPE_VOID)
            continue;
        if (typed == 0) {
            typed = i;
            field->type = cell->type;
        } else if (!type_equal(field->type, cell->type)) {
            return error_raise_at(
                err, STATUS_DATATYPE_MISMATCH__STACK_COLUMN_DIFF_TYPES, call->position,
                call->position_end, "sqlExpr", function_sql(ctx->arena, call), "columnIndex",
                arena_sprintf(ctx->arena, "%u", (unsigned)column), "leftParamIndex",
                arena_sprintf(ctx->arena, "%u", (unsigned)typed), "leftType",
                function_sql_type(ctx->arena, field->type), "rightParamIndex",
                arena_sprintf(ctx->arena, "%u", (unsigned)i), "rightType",
                function_sql_type(ctx->arena, cell->type), NULL);
        }
    }
    return OK;
}

RESOLVER(resolve_stack)
{
    struct vector *n = NULL;
    if (call->args[0]->type->id != TYPE_INT)
        return function_wrong_type(call, 0, "\"INT\"", err);
    TRY(function_constant(ctx, call, 0, "n", &n, err));
    if (vector_is_null(n, 0))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_NULL, call->position,
                              call->position_end, "exprName", "`n`", "sqlExpr",
                              function_sql(ctx->arena, call), NULL);
    int32_t rows = VECTOR_VALUES(int32_t, n)[0];
    if (rows <= 0)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                              call->position_end, "exprName", "`n`", "valueRange",
                              "(0, 2147483647]", "currentValue",
                              arena_sprintf(ctx->arena, "%d", (int)rows), "sqlExpr",
                              function_sql(ctx->arena, call), NULL);
    uint32_t cells = call->arg_count - 1;
    uint32_t width = (uint32_t)(((uint64_t)cells + (uint64_t)rows - 1) / (uint64_t)rows);
    struct type_field *fields = arena_new_object(ctx->arena, (width + 1U) * sizeof *fields);
    for (uint32_t c = 0; c < width; c++) {
        TRY(stack_column(ctx, call, c, width, &fields[c], err));
        fields[c].nullable = fields[c].nullable || (uint64_t)width * (uint64_t)rows > cells;
        for (uint32_t i = 1 + c; i < call->arg_count; i += width) {
            if (call->args[i]->type->id == TYPE_VOID)
                call->args[i] = expr_null(ctx->arena, fields[c].type);
        }
    }
    generator_make(call, type_struct(ctx->arena, fields, width));
    *out = call;
    return OK;
}

/* ---- kernels ---- */

/* The list of row `row` of an ARRAY or MAP vector, empty if NULL. */
static struct list_entry list_at(const struct vector *lists, uint32_t row)
{
    if (vector_is_null(lists, row))
        return (struct list_entry){0};
    return VECTOR_VALUES(struct list_entry, lists)[vector_index(lists, row)];
}

static enum status struct_of(const struct kernel_call *call, uint32_t length, struct vector **out,
                             struct error *err)
{
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, 0, err));
    *out = call->out->children[0];
    (*out)->length = length;
    return OK;
}

/* The elements stay where they are; only the lists of NULL rows become empty. */
KERNEL(kernel_explode)
{
    const struct vector *arg = call->args[0];
    struct vector *row_struct = NULL;
    TRY(struct_of(call, arg->children[0]->length, &row_struct, err));
    for (uint32_t c = 0; c < arg->child_count; c++)
        row_struct->children[c] = arg->children[c];
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(struct list_entry, call)[row] = list_at(arg, row);
    }
    return OK;
}

KERNEL(kernel_inline)
{
    const struct vector *arg = call->args[0];
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, 0, err));
    call->out->children[0] = arg->children[0];
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(struct list_entry, call)[row] = list_at(arg, row);
    }
    return OK;
}

/* Positions count per list, and lists may share elements: so the elements are laid out anew. */
KERNEL(kernel_posexplode)
{
    const struct vector *arg = call->args[0];
    uint64_t total = 0;
    for (uint32_t i = 0; i < call->selected; i++)
        total += list_at(arg, kernel_row(call, i)).length;
    if (total > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "rows made by posexplode", "limit",
                           "2147483647", NULL);
    void *memory = NULL;
    TRY(arena_alloc_raw(call->ctx->arena, total + 1, sizeof(uint32_t), &memory, err));
    uint32_t *rows = memory;
    struct vector *row_struct = NULL;
    TRY(struct_of(call, (uint32_t)total, &row_struct, err));
    struct vector *position = NULL;
    TRY(vector_new(call->ctx->arena, type_simple(TYPE_INT), (uint32_t)total, &position, err));
    uint32_t next = 0;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct list_entry list = list_at(arg, row);
        KERNEL_OUT(struct list_entry, call)
        [row] = (struct list_entry){.offset = next, .length = list.length};
        for (uint32_t e = 0; e < list.length; e++, next++) {
            rows[next] = list.offset + e;
            VECTOR_VALUES(int32_t, position)[next] = (int32_t)e;
        }
    }
    row_struct->children[0] = position;
    for (uint32_t c = 0; c < arg->child_count; c++)
        TRY(vector_gather(call->ctx->arena, arg->children[c], rows, next,
                          &row_struct->children[1 + c], err));
    return OK;
}

/* One column of stack(): cell r of selected row i goes to i * rows + r. */
static enum status stack_cells(const struct kernel_call *call, uint32_t column, uint32_t width,
                               uint32_t rows, struct vector **out, struct error *err)
{
    struct arena *arena = call->ctx->arena;
    const struct type *type = call->expr->type->fields[column].type;
    void *memory = NULL;
    TRY(arena_alloc(arena, rows + 1U, sizeof(struct vector *), &memory, err));
    struct vector **cells = memory;
    TRY(arena_alloc_raw(arena, (size_t)call->selected * rows + 1, sizeof(uint32_t), &memory, err));
    uint32_t *order = memory;
    for (uint32_t i = 0; i < call->selected; i++)
        order[i] = kernel_row(call, i);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t index = 1 + r * width + column;
        if (index < call->arg_count)
            TRY(vector_gather(arena, call->args[index], order, call->selected, &cells[r], err));
        else
            TRY(vector_new_null(arena, type, call->selected, &cells[r], err));
    }
    struct vector *all = NULL;
    TRY(vector_concat(arena, cells, rows, &all, err));
    for (uint32_t i = 0; i < call->selected; i++) {
        for (uint32_t r = 0; r < rows; r++)
            order[i * rows + r] = r * call->selected + i;
    }
    return vector_gather(arena, all, order, call->selected * rows, out, err);
}

KERNEL(kernel_stack)
{
    uint32_t width = call->expr->type->field_count;
    uint32_t rows = (uint32_t)KERNEL_ARG(int32_t, call, 0, 0);
    if ((uint64_t)rows * call->selected > UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "rows made by stack", "limit",
                           "2147483647", NULL);
    struct vector *row_struct = NULL;
    TRY(struct_of(call, rows * call->selected, &row_struct, err));
    for (uint32_t c = 0; c < width; c++)
        TRY(stack_cells(call, c, width, rows, &row_struct->children[c], err));
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(struct list_entry, call)
    [kernel_row(call, i)] = (struct list_entry){.offset = i * rows, .length = rows};
    return OK;
}
