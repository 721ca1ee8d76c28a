/* Resolves CASE, IF, COALESCE and its relatives, IN, GREATEST, casts called as functions. */
#include "base/check.h"
#include "expr/arithmetic.h"
#include "expr/cast.h"
#include "expr/in_set.h"
#include "expr/program.h"
#include "expr/resolvers.h"

#include <stdio.h>

/* DATA_DIFF_TYPES in the form ["INT", "DATE"]. */
static enum status diff_list(const struct expr *call, const char *name, struct expr *const *args,
                             uint32_t count, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    struct buffer types = {0};
    buffer_add_byte(&types, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_text(&types, ", ");
        buffer_add_text(&types, function_sql_type(arena, args[i]->type));
    }
    buffer_add_byte(&types, ']');
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__DATA_DIFF_TYPES, call->position,
                       call->position_end, "sqlExpr", function_sql(arena, call), "functionName",
                       arena_sprintf(arena, "`%s`", name), "dataType", buffer_text(&types), NULL);
    buffer_fini(&types);
    arena_free(arena);
    return status;
}

static enum status resolve_at(struct resolve_context *ctx, const struct expr *call,
                              const char *name, struct expr **args, uint32_t count,
                              struct expr **out, struct error *err)
{
    struct function_call inner = {.name = name,
                                  .args = args,
                                  .arg_count = count,
                                  .position = call->position,
                                  .position_end = call->position_end};
    return function_resolve(ctx, &inner, out, err);
}

RESOLVER(resolve_if)
{
    *out = call;
    struct expr **args = call->args;
    if (args[0]->type->id == TYPE_VOID)
        args[0] = coercion_cast(ctx, args[0], type_simple(TYPE_BOOLEAN));
    if (args[0]->type->id != TYPE_BOOLEAN)
        return function_wrong_type(call, 0, "\"BOOLEAN\"", err);
    if (!coercion_unify(ctx, args + 1, 2, true))
        return diff_list(call, "if", args + 1, 2, err);
    function_finish(call, args[1]->type);
    call->nullable = args[1]->nullable || args[2]->nullable;
    return OK;
}

RESOLVER(resolve_case)
{
    *out = call;
    uint32_t whens = call->arg_count / 2;
    bool otherwise = call->arg_count % 2 == 1;
    uint32_t count = whens + otherwise;
    struct expr **values = arena_new_object(ctx->arena, ((size_t)count + 1) * sizeof *values);
    bool nullable = !otherwise;
    for (uint32_t i = 0; i < whens; i++)
        values[i] = call->args[2 * i + 1];
    if (otherwise)
        values[whens] = call->args[call->arg_count - 1];
    const struct type *common = coercion_common_of(ctx, values, count, true);
    if (common == NULL)
        return diff_list(call, "casewhen", values, count, err);
    for (uint32_t i = 0; i < whens; i++) {
        if (call->args[(size_t)2 * i]->type->id != TYPE_BOOLEAN)
            return function_wrong_type(call, i == 0 ? 0 : 2 * i, "\"BOOLEAN\"", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct expr **value = &call->args[i < whens ? 2 * i + 1 : call->arg_count - 1];
        *value = coercion_cast(ctx, *value, common);
        nullable |= (*value)->nullable;
    }
    function_finish(call, common);
    call->nullable = nullable;
    return OK;
}

RESOLVER(resolve_coalesce)
{
    *out = call;
    if (!coercion_unify(ctx, call->args, call->arg_count, true))
        return function_diff_types(call, err);
    function_finish(call, call->args[0]->type);
    call->nullable = true;
    for (uint32_t i = 0; i < call->arg_count; i++)
        call->nullable &= call->args[i]->nullable;
    return OK;
}

/* nvl, ifnull */
RESOLVER(resolve_nvl)
{
    struct expr *inner;
    TRY(resolve_at(ctx, call, "coalesce", call->args, call->arg_count, &inner, err));
    function_replace(ctx, call, inner);
    *out = call;
    return OK;
}

RESOLVER(resolve_nvl2)
{
    struct expr *args[3] = {NULL, call->args[1], call->args[2]};
    struct expr *inner;
    TRY(resolve_at(ctx, call, "isnotnull", call->args, 1, &args[0], err));
    TRY(resolve_at(ctx, call, "if", args, 3, &inner, err));
    function_replace(ctx, call, inner);
    *out = call;
    return OK;
}

/* nullif(a, b): NULL if a = b, else a; the type is a's. */
static enum status null_if(struct resolve_context *ctx, struct expr *call, struct expr *a,
                           struct expr *b, struct expr **out, struct error *err)
{
    struct expr *pair[2] = {a, b};
    struct expr *args[3] = {NULL, expr_null(ctx->arena, a->type), a};
    struct expr *inner;
    TRY(resolve_at(ctx, call, "=", pair, 2, &args[0], err));
    TRY(resolve_at(ctx, call, "if", args, 3, &inner, err));
    function_replace(ctx, call, inner);
    *out = call;
    return OK;
}

RESOLVER(resolve_nullif)
{
    return null_if(ctx, call, call->args[0], call->args[1], out, err);
}

RESOLVER(resolve_nullifzero)
{
    return null_if(ctx, call, call->args[0], expr_literal_int(ctx->arena, 0), out, err);
}

RESOLVER(resolve_zeroifnull)
{
    struct expr *args[2] = {call->args[0], expr_literal_int(ctx->arena, 0)};
    struct expr *inner;
    TRY(resolve_at(ctx, call, "coalesce", args, 2, &inner, err));
    function_replace(ctx, call, inner);
    *out = call;
    return OK;
}

RESOLVER(resolve_greatest)
{
    *out = call;
    if (!coercion_unify(ctx, call->args, call->arg_count, false))
        return diff_list(call, call->call.name, call->args, call->arg_count, err);
    if (!type_is_orderable(call->args[0]->type))
        return function_not_orderable(call, call->args[0]->type, err);
    function_finish(call, call->args[0]->type);
    call->nullable = true;
    for (uint32_t i = 0; i < call->arg_count; i++)
        call->nullable &= call->args[i]->nullable;
    return OK;
}

/* ---- IN ---- */

RESOLVER(resolve_in)
{
    *out = call;
    if (call->arg_count == 1)
        return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__EMPTY_IN_PREDICATE, -1, -1, NULL);
    struct expr **args = arena_new_object(ctx->arena, call->arg_count * sizeof *args);
    memcpy(args, call->args, call->arg_count * sizeof *args);
    bool same = true; /* structs may differ in names */
    for (uint32_t i = 1; i < call->arg_count; i++)
        same &= type_equal_unnamed(args[0]->type, args[i]->type);
    if (!same && !coercion_unify(ctx, args, call->arg_count, true))
        return diff_list(call, "in", call->args, call->arg_count, err);
    if (!type_is_orderable(args[0]->type))
        return function_not_orderable(call, args[0]->type, err);
    call->args = args;
    bool nullable = false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        nullable |= args[i]->nullable;
    call->call.bound = in_set_of(ctx, args + 1, call->arg_count - 1);
    function_finish(call, type_simple(TYPE_BOOLEAN));
    call->nullable = nullable;
    return OK;
}

/* ---- raise_error, assert_true ---- */

KERNEL(kernel_raise_error)
{
    if (call->selected == 0)
        return OK;
    struct bytes text = bytes_of_text("null");
    if (!kernel_arg_is_null(call, 0, kernel_row(call, 0)))
        text = KERNEL_ARG(struct bytes, call, 0, kernel_row(call, 0));
    char message[512];
    (void)snprintf(message, sizeof message, "%.*s",
                   (int)(text.size_bytes < 500 ? text.size_bytes : 500), (const char *)text.data);
    return error_raise(err, STATUS_USER_RAISED_EXCEPTION, "errorMessage", message, NULL);
}

/* NULL if the condition is true, else an error. */
RESOLVER(resolve_assert_true)
{
    if (call->arg_count == 1) {
        struct buffer text = {0};
        buffer_add_byte(&text, '\'');
        expr_print_sql(&text, call->args[0]);
        buffer_add_text(&text, "' is not true!");
        function_add_arg(ctx, call, expr_literal_string(ctx->arena, buffer_bytes(&text)));
        buffer_fini(&text);
    }
    struct expr *args[3] = {call->args[0], expr_null(ctx->arena, type_simple(TYPE_VOID)), NULL};
    struct expr *inner;
    TRY(function_resolve_1(ctx, "raise_error", call->args[1], &args[2], err));
    TRY(resolve_at(ctx, call, "if", args, 3, &inner, err));
    function_replace(ctx, call, inner);
    *out = call;
    return OK;
}

/* ---- int(x), string(x), ...: named like their operand ---- */

static const struct type *cast_target(struct resolve_context *ctx, const char *name)
{
    static const struct {
        const char *name;
        enum type_id id;
    } targets[] = {
        {"boolean", TYPE_BOOLEAN}, {"tinyint", TYPE_BYTE},  {"smallint", TYPE_SHORT},
        {"int", TYPE_INT},         {"bigint", TYPE_LONG},   {"float", TYPE_FLOAT},
        {"double", TYPE_DOUBLE},   {"string", TYPE_STRING}, {"binary", TYPE_BINARY},
        {"date", TYPE_DATE},
    };
    if (strcmp(name, "decimal") == 0)
        return type_decimal(ctx->arena, 10, 0);
    if (strcmp(name, "timestamp") == 0)
        return type_simple(ctx->timestamp_ntz ? TYPE_TIMESTAMP_NTZ : TYPE_TIMESTAMP);
    if (strcmp(name, "time") == 0)
        return type_time(ctx->arena, 6);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(name, targets[i].name) == 0)
            return type_simple(targets[i].id);
    }
    CHECK(!"a cast function without a type");
    return NULL;
}

RESOLVER(resolve_cast_function)
{
    const struct type *type = cast_target(ctx, call->call.function->name);
    TRY(cast_resolve(ctx, call->args[0], type, false, out, err));
    if (*out != call->args[0])
        (*out)->cast.implicit = true;
    return OK;
}
