/* Resolves higher-order functions and tells the analyser the types of lambda variables. */
#include "base/check.h"
#include "expr/kernel_nested.h"
#include "expr/lambda.h"

#include <stdio.h>
#include <strings.h>

enum lambda_source {
    OF_ELEMENT,       /* T */
    OF_ELEMENT_INDEX, /* T [, int] */
    OF_ELEMENTS,      /* T, T: a comparator */
    OF_ACCUMULATOR,   /* A, T */
    OF_RESULT,        /* A */
    OF_TWO_ARRAYS,    /* T, U, both NULL where the array is too short */
    OF_ENTRY,         /* K, V */
    OF_TWO_MAPS,      /* K, V1, V2 */
};

struct lambda_argument {
    const char *function;
    uint32_t index;
    enum lambda_source source;
};

static const struct lambda_argument lambda_arguments[] = {
    {"transform", 1, OF_ELEMENT_INDEX}, {"filter", 1, OF_ELEMENT_INDEX},
    {"exists", 1, OF_ELEMENT},          {"forall", 1, OF_ELEMENT},
    {"array_sort", 1, OF_ELEMENTS},     {"aggregate", 2, OF_ACCUMULATOR},
    {"aggregate", 3, OF_RESULT},        {"zip_with", 2, OF_TWO_ARRAYS},
    {"map_filter", 1, OF_ENTRY},        {"transform_keys", 1, OF_ENTRY},
    {"transform_values", 1, OF_ENTRY},  {"map_zip_with", 2, OF_TWO_MAPS},
};

static const struct lambda_argument *find_argument(const struct function *function, uint32_t index)
{
    for (size_t i = 0; i < sizeof lambda_arguments / sizeof lambda_arguments[0]; i++) {
        if (lambda_arguments[i].index == index &&
            strcmp(lambda_arguments[i].function, function->name) == 0)
            return &lambda_arguments[i];
    }
    return NULL;
}

bool function_takes_lambda(const struct function *function, uint32_t index)
{
    return find_argument(function, index) != NULL;
}

static void add(struct lambda_types *types, const struct type *type, bool nullable)
{
    types->types[types->count] = type;
    types->nullable[types->count++] = nullable;
}

static enum status wrong_variables(uint32_t declared, uint32_t wanted, struct error *err)
{
    char expected[16], actual[16];
    (void)snprintf(expected, sizeof expected, "%u", (unsigned)declared);
    (void)snprintf(actual, sizeof actual, "%u", (unsigned)wanted);
    return error_raise(err, STATUS_INVALID_LAMBDA_FUNCTION_CALL__NUM_ARGS_MISMATCH,
                       "expectedNumArgs", expected, "actualNumArgs", actual, NULL);
}

static enum status map_keys_differ(struct resolve_context *ctx, const struct expr *call,
                                   struct error *err)
{
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__MAP_ZIP_WITH_DIFF_TYPES, call->position,
                          call->position_end, "functionName",
                          arena_sprintf(ctx->arena, "`%s`", call->call.name), "leftType",
                          function_sql_type(ctx->arena, call->args[0]->type->key), "rightType",
                          function_sql_type(ctx->arena, call->args[1]->type->key), "sqlExpr",
                          function_sql(ctx->arena, call), NULL);
}

/* The collections before the lambda have the right kind. */
static enum status check_collections(struct resolve_context *ctx, const struct expr *call,
                                     enum lambda_source source, struct error *err)
{
    bool maps = source == OF_ENTRY || source == OF_TWO_MAPS;
    uint32_t count = source == OF_TWO_ARRAYS || source == OF_TWO_MAPS ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (call->args[i]->type->id != (maps ? TYPE_MAP : TYPE_ARRAY))
            return function_wrong_type(call, i, maps ? "\"MAP\"" : "\"ARRAY\"", err);
    }
    if (source == OF_TWO_MAPS &&
        coercion_tightest(ctx, call->args[0]->type->key, call->args[1]->type->key) == NULL)
        return map_keys_differ(ctx, call, err);
    return OK;
}

static void list_types(struct resolve_context *ctx, const struct expr *call,
                       enum lambda_source source, bool with_index, struct lambda_types *out)
{
    const struct type *first = call->args[0]->type;
    switch (source) {
    case OF_ELEMENT:
    case OF_ELEMENT_INDEX:
        add(out, first->element, first->element_nullable);
        if (with_index)
            add(out, type_simple(TYPE_INT), false);
        break;
    case OF_ELEMENTS:
        add(out, first->element, first->element_nullable);
        add(out, first->element, first->element_nullable);
        break;
    case OF_ACCUMULATOR:
        add(out, call->args[1]->type, true);
        add(out, first->element, first->element_nullable);
        break;
    case OF_RESULT:
        add(out, call->args[1]->type, true);
        break;
    case OF_TWO_ARRAYS:
        add(out, first->element, true);
        add(out, call->args[1]->type->element, true);
        break;
    case OF_ENTRY:
        add(out, first->key, false);
        add(out, first->element, first->element_nullable);
        break;
    case OF_TWO_MAPS:
        add(out, coercion_tightest(ctx, first->key, call->args[1]->type->key), false);
        add(out, first->element, true);
        add(out, call->args[1]->type->element, true);
        break;
    }
}

enum status function_lambda_types(struct resolve_context *ctx, const struct function_call *call,
                                  uint32_t index, uint32_t variable_count, struct lambda_types *out,
                                  struct error *err)
{
    const struct function *function = function_find(call->name);
    CHECK(function != NULL);
    const struct lambda_argument *argument = find_argument(function, index);
    CHECK(argument != NULL);
    struct expr *node = expr_call(ctx->arena, function, function_lower_name(ctx->arena, call->name),
                                  call->args, call->arg_count);
    node->position = call->position;
    node->position_end = call->position_end;
    TRY(check_collections(ctx, node, argument->source, err));
    out->count = 0;
    list_types(ctx, node, argument->source,
               argument->source == OF_ELEMENT_INDEX && variable_count == 2, out);
    if (out->count != variable_count)
        return wrong_variables(variable_count, out->count, err);
    return OK;
}

/* ---- resolvers ---- */

static enum status check(struct resolve_context *ctx, const struct expr *call, uint32_t index,
                         struct error *err)
{
    const struct lambda_argument *argument = find_argument(call->call.function, index);
    CHECK(argument != NULL);
    if (call->args[index]->kind != EXPR_LAMBDA)
        return error_set(err, STATUS_INTERNAL_ERROR, "argument %u of %s is no lambda",
                         (unsigned)index + 1, call->call.name);
    return check_collections(ctx, call, argument->source, err);
}

static void finish(struct expr *call, const struct type *type)
{
    function_finish(call, type);
    call->nullable = call->args[0]->nullable;
}

static enum status want_boolean(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    if (call->args[1]->type->id == TYPE_BOOLEAN)
        return OK;
    if (call->args[1]->type->id == TYPE_VOID) {
        struct expr *lambda = expr_copy(ctx->arena, call->args[1]);
        lambda->type = type_simple(TYPE_BOOLEAN);
        lambda->args[0] = coercion_cast(ctx, lambda->args[0], lambda->type);
        call->args[1] = lambda;
        return OK;
    }
    return function_wrong_type(call, 1, "\"BOOLEAN\"", err);
}

RESOLVER(resolve_transform)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    finish(call, type_array(ctx->arena, call->args[1]->type, call->args[1]->nullable));
    return OK;
}

RESOLVER(resolve_array_filter)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    TRY(want_boolean(ctx, call, err));
    finish(call, call->args[0]->type);
    return OK;
}

RESOLVER(resolve_array_predicate)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    TRY(want_boolean(ctx, call, err));
    finish(call, type_simple(TYPE_BOOLEAN));
    call->nullable |= call->args[1]->nullable;
    return OK;
}

/* acc -> acc */
static struct expr *identity(struct resolve_context *ctx, const struct type *type)
{
    struct expr *variable = arena_new_object(ctx->arena, sizeof *variable);
    variable->kind = EXPR_LAMBDA_VARIABLE;
    variable->type = type;
    variable->nullable = true;
    variable->position = variable->position_end = -1;
    variable->variable.id = UINT32_MAX;
    variable->variable.name = "id";
    struct expr *lambda = arena_new_object(ctx->arena, sizeof *lambda);
    *lambda = *variable;
    lambda->kind = EXPR_LAMBDA;
    lambda->args = arena_new_object(ctx->arena, sizeof(struct expr *));
    lambda->args[0] = variable;
    lambda->arg_count = 1;
    lambda->lambda.variable_ids = arena_new_object(ctx->arena, sizeof(uint32_t));
    lambda->lambda.variable_ids[0] = UINT32_MAX;
    lambda->lambda.variable_names = arena_new_object(ctx->arena, sizeof(char *));
    lambda->lambda.variable_names[0] = "id";
    lambda->lambda.variable_count = 1;
    return lambda;
}

RESOLVER(resolve_aggregate_fold)
{
    *out = call;
    TRY(check(ctx, call, 2, err));
    if (call->arg_count == 3)
        function_add_arg(ctx, call, identity(ctx, call->args[1]->type));
    TRY(check(ctx, call, 3, err));
    if (!type_equal_unnamed(call->args[2]->type, call->args[1]->type))
        return function_wrong_type(call, 2, function_sql_type(ctx->arena, call->args[1]->type),
                                   err);
    function_finish(call, call->args[3]->type);
    return OK;
}

RESOLVER(resolve_zip_with)
{
    *out = call;
    TRY(check(ctx, call, 2, err));
    finish(call, type_array(ctx->arena, call->args[2]->type, call->args[2]->nullable));
    call->nullable |= call->args[1]->nullable;
    return OK;
}

RESOLVER(resolve_map_filter)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    TRY(want_boolean(ctx, call, err));
    finish(call, call->args[0]->type);
    return OK;
}

RESOLVER(resolve_transform_keys)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    const struct type *map = call->args[0]->type;
    TRY(map_check_key_type(call, call->args[1]->type, err));
    call->call.bound = map_policy(ctx);
    finish(call, type_map(ctx->arena, call->args[1]->type, map->element, map->element_nullable));
    return OK;
}

RESOLVER(resolve_transform_values)
{
    *out = call;
    TRY(check(ctx, call, 1, err));
    finish(call, type_map(ctx->arena, call->args[0]->type->key, call->args[1]->type,
                          call->args[1]->nullable));
    return OK;
}

RESOLVER(resolve_map_zip_with)
{
    *out = call;
    TRY(check(ctx, call, 2, err));
    const struct type *key =
        coercion_tightest(ctx, call->args[0]->type->key, call->args[1]->type->key);
    for (uint32_t i = 0; i < 2; i++) {
        const struct type *map = call->args[i]->type;
        call->args[i] = coercion_cast(
            ctx, call->args[i], type_map(ctx->arena, key, map->element, map->element_nullable));
    }
    finish(call, type_map(ctx->arena, key, call->args[2]->type, call->args[2]->nullable));
    call->nullable |= call->args[1]->nullable;
    return OK;
}

RESOLVER(resolve_array_sort)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    if (type->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    finish(call, type);
    if (call->arg_count == 1) {
        if (!type_is_orderable(type->element))
            return function_not_orderable(call, type->element, err);
        return OK;
    }
    TRY(check(ctx, call, 1, err));
    if (call->args[1]->type->id != TYPE_INT)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_RETURN_TYPE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "functionName", "`lambdafunction`", "expectedType", "\"INT\"",
                              "actualType", function_sql_type(ctx->arena, call->args[1]->type),
                              NULL);
    return OK;
}
