/* Resolvers of the functions of arrays and maps: which types meet, and Spark's errors if not. */
#include "base/check.h"
#include "expr/fn_array.h"
#include "expr/fn_support.h"
#include "expr/kernel_nested.h"

/* ARRAY_FUNCTION_DIFF_TYPES, BINARY_ARRAY_DIFF_TYPES, MAP_FUNCTION_DIFF_TYPES */
static enum status diff_types(const struct expr *call, enum status status, const char *kind,
                              struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    const char *parameter =
        status == STATUS_DATATYPE_MISMATCH__BINARY_ARRAY_DIFF_TYPES ? "arrayType" : "dataType";
    uint32_t last = call->arg_count > 2 ? 2 : 1;
    enum status raised = error_raise_at(
        err, status, call->position, call->position_end, "sqlExpr", function_sql(arena, call),
        "functionName", arena_sprintf(arena, "`%s`", function_print_name(call)), parameter, kind,
        "leftType", function_sql_type(arena, call->args[0]->type), "rightType",
        function_sql_type(arena, call->args[last]->type), NULL);
    arena_free(arena);
    return raised;
}

static enum status null_type(const struct expr *call, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__NULL_TYPE, call->position, call->position_end,
                       "sqlExpr", function_sql(arena, call), "functionName",
                       arena_sprintf(arena, "`%s`", function_print_name(call)), NULL);
    arena_free(arena);
    return status;
}

static const struct type *array_of(struct resolve_context *ctx, const struct type *element)
{
    return type_array(ctx->arena, element, true);
}

/* A NULL literal where an array belongs is an array of nothing. */
static void void_to_array(struct resolve_context *ctx, struct expr **arg)
{
    if ((*arg)->type->id == TYPE_VOID)
        *arg = coercion_cast(ctx, *arg, array_of(ctx, type_simple(TYPE_VOID)));
}

/* The common type of an array's elements and a value; strings never meet anything else. */
static const struct type *element_type(struct resolve_context *ctx, const struct type *element,
                                       const struct type *value)
{
    if (value->id == TYPE_VOID)
        return element;
    if (element->id == TYPE_VOID)
        return value;
    return coercion_tightest(ctx, element, value);
}

/*
 * (array, value) in array_contains, array_position, array_remove; (array, value) that keeps the
 * array's type in array_append and array_prepend.
 */
RESOLVER(resolve_array_element_function)
{
    *out = call;
    const char *name = call->call.function->name;
    bool adds = strcmp(name, "array_append") == 0 || strcmp(name, "array_prepend") == 0;
    bool contains = strcmp(name, "array_contains") == 0;
    if (contains && (call->args[0]->type->id == TYPE_VOID || call->args[1]->type->id == TYPE_VOID))
        return null_type(call, err);
    if (!adds)
        void_to_array(ctx, &call->args[0]);
    const struct type *array = call->args[0]->type;
    if (array->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    const struct type *common = element_type(ctx, array->element, call->args[1]->type);
    if (common == NULL ||
        (adds && !type_equal(common, array->element) && array->element->id != TYPE_VOID &&
         call->args[1]->type->id == TYPE_DECIMAL))
        return diff_types(call, STATUS_DATATYPE_MISMATCH__ARRAY_FUNCTION_DIFF_TYPES, "\"ARRAY\"",
                          err);
    if (!adds && !type_is_orderable(common))
        return function_not_orderable(call, common, err);
    call->args[0] = coercion_cast(ctx, call->args[0], array_of(ctx, common));
    call->args[1] = coercion_cast(ctx, call->args[1], common);
    if (contains)
        function_finish(call, type_simple(TYPE_BOOLEAN));
    else if (strcmp(name, "array_position") == 0)
        function_finish(call, type_simple(TYPE_LONG));
    else
        function_finish(call, array_of(ctx, common));
    if (adds)
        call->nullable = call->args[0]->nullable;
    return OK;
}

RESOLVER(resolve_array_insert)
{
    *out = call;
    void_to_array(ctx, &call->args[0]);
    const struct type *array = call->args[0]->type;
    if (array->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    const struct type *index = call->args[1]->type;
    if (!type_is_integral(index) || index->id == TYPE_LONG)
        return function_wrong_type(call, 1, "\"INT\"", err);
    const struct type *common = element_type(ctx, array->element, call->args[2]->type);
    if (common == NULL)
        return diff_types(call, STATUS_DATATYPE_MISMATCH__ARRAY_FUNCTION_DIFF_TYPES, "\"ARRAY\"",
                          err);
    call->args[0] = coercion_cast(ctx, call->args[0], array_of(ctx, common));
    call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    call->args[2] = coercion_cast(ctx, call->args[2], common);
    function_finish(call, array_of(ctx, common));
    return OK;
}

/* array_min, array_max; sort_array(array [, ascending]). */
RESOLVER(resolve_array_extreme)
{
    *out = call;
    bool sort = strcmp(call->call.function->name, "sort_array") == 0;
    if (sort && call->arg_count == 1)
        function_add_arg(ctx, call, expr_literal_boolean(ctx->arena, true));
    void_to_array(ctx, &call->args[0]);
    const struct type *array = call->args[0]->type;
    if (array->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    if (!type_is_orderable(array->element))
        return function_not_orderable(call, sort ? array : array->element, err);
    if (!sort) {
        function_finish(call, array->element);
        call->nullable = true;
        return OK;
    }
    if (call->args[1]->type->id == TYPE_VOID)
        call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_BOOLEAN));
    if (call->args[1]->type->id != TYPE_BOOLEAN)
        return function_wrong_type(call, 1, "\"BOOLEAN\"", err);
    function_finish(call, array);
    return OK;
}

/* Two arrays of one type: union, intersect, except, overlap. */
RESOLVER(resolve_array_set)
{
    *out = call;
    bool overlap = strcmp(call->call.function->name, "arrays_overlap") == 0;
    void_to_array(ctx, &call->args[0]);
    void_to_array(ctx, &call->args[1]);
    const struct type *left = call->args[0]->type;
    const struct type *right = call->args[1]->type;
    const struct type *common = NULL;
    if (left->id == TYPE_ARRAY && right->id == TYPE_ARRAY)
        common = element_type(ctx, left->element, right->element);
    if (common == NULL)
        return diff_types(call, STATUS_DATATYPE_MISMATCH__BINARY_ARRAY_DIFF_TYPES, "\"ARRAY\"",
                          err);
    if (!type_is_orderable(common))
        return function_not_orderable(call, common, err);
    for (uint32_t i = 0; i < 2; i++)
        call->args[i] = coercion_cast(ctx, call->args[i], array_of(ctx, common));
    function_finish(call, overlap ? type_simple(TYPE_BOOLEAN) : array_of(ctx, common));
    return OK;
}

RESOLVER(resolve_same_array)
{
    *out = call;
    void_to_array(ctx, &call->args[0]);
    if (call->args[0]->type->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\"", err);
    TRY(function_apply_signature(ctx, call, err));
    call->type = call->args[0]->type;
    if (strcmp(call->call.function->name, "array_distinct") == 0 &&
        !type_is_orderable(call->type->element))
        return function_not_orderable(call, call->type->element, err);
    return OK;
}

RESOLVER(resolve_flatten)
{
    (void)ctx;
    *out = call;
    const struct type *array = call->args[0]->type;
    if (array->id != TYPE_ARRAY || array->element->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "\"ARRAY\" of \"ARRAY\"", err);
    function_finish(call, array->element);
    call->nullable = call->args[0]->nullable || array->element_nullable;
    return OK;
}

RESOLVER(resolve_array_repeat)
{
    *out = call;
    const struct type *count = call->args[1]->type;
    if (!coercion_can_cast_implicitly(ctx, count, type_simple(TYPE_INT)))
        return function_wrong_type(call, 1, "\"INT\"", err);
    call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    function_finish(call, array_of(ctx, call->args[0]->type));
    call->nullable = call->args[1]->nullable;
    return OK;
}

RESOLVER(resolve_array_join)
{
    *out = call;
    void_to_array(ctx, &call->args[0]);
    const struct type *strings = array_of(ctx, type_simple(TYPE_STRING));
    if (call->args[0]->type->id != TYPE_ARRAY || type_is_nested(call->args[0]->type->element))
        return function_wrong_type(call, 0, "\"ARRAY<STRING>\"", err);
    call->args[0] = coercion_cast(ctx, call->args[0], strings);
    for (uint32_t i = 1; i < call->arg_count; i++) {
        if (!coercion_can_cast_implicitly(ctx, call->args[i]->type, type_simple(TYPE_STRING)))
            return function_wrong_type(call, i, "\"STRING\"", err);
        call->args[i] = coercion_cast(ctx, call->args[i], type_simple(TYPE_STRING));
    }
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}

/* size, cardinality: of arrays and maps; array_size of arrays only. */
RESOLVER(resolve_size)
{
    *out = call;
    static const bool yes = true;
    bool only_arrays = strcmp(call->call.function->name, "array_size") == 0;
    const char *legacy =
        ctx->conf == NULL ? NULL : ctx->conf(ctx->conf_arg, "spark.sql.legacy.sizeOfNull");
    bool minus_one = !only_arrays && !ctx->ansi && (legacy == NULL || strcmp(legacy, "true") == 0);
    void_to_array(ctx, &call->args[0]);
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_ARRAY && (only_arrays || id != TYPE_MAP))
        return function_wrong_type(call, 0, only_arrays ? "\"ARRAY\"" : "(\"ARRAY\" or \"MAP\")",
                                   err);
    call->call.bound = minus_one ? &yes : NULL;
    function_finish(call, type_simple(TYPE_INT));
    call->nullable = !minus_one && call->args[0]->nullable;
    return OK;
}

/* The name of a field of arrays_zip: that of the column or field, else its number. */
static const char *zip_name(struct arena *arena, const struct expr *arg, uint32_t index)
{
    if (arg->kind == EXPR_COLUMN)
        return arg->column.name;
    if (arg->kind == EXPR_CALL && strcmp(arg->call.function->name, ".") == 0 &&
        arg->args[1]->kind == EXPR_LITERAL) {
        struct bytes name = VECTOR_VALUES(struct bytes, arg->args[1]->literal.value)[0];
        return arena_strndup(arena, name.data, name.size_bytes);
    }
    return arena_sprintf(arena, "%u", index);
}

RESOLVER(resolve_arrays_zip)
{
    *out = call;
    struct type_field *fields =
        arena_new_object(ctx->arena, ((size_t)call->arg_count + 1) * sizeof(*fields));
    for (uint32_t i = 0; i < call->arg_count; i++) {
        fields[i].name = zip_name(ctx->arena, call->args[i], i);
        void_to_array(ctx, &call->args[i]);
        if (call->args[i]->type->id != TYPE_ARRAY)
            return function_wrong_type(call, i, "\"ARRAY\"", err);
        fields[i].type = call->args[i]->type->element;
        fields[i].nullable = true;
    }
    const struct type *row = type_struct(ctx->arena, fields, call->arg_count);
    function_finish(call, type_array(ctx->arena, row, false));
    return OK;
}

/* ---- maps ---- */

RESOLVER(resolve_map_parts)
{
    *out = call;
    const char *name = call->call.function->name;
    const struct type *map = call->args[0]->type;
    if (map->id == TYPE_VOID) {
        map = type_map(ctx->arena, type_simple(TYPE_VOID), type_simple(TYPE_VOID), true);
        call->args[0] = coercion_cast(ctx, call->args[0], map);
    }
    if (map->id != TYPE_MAP)
        return function_wrong_type(call, 0, "\"MAP\"", err);
    struct type_field fields[2] = {
        {.name = "key", .type = map->key},
        {.name = "value", .type = map->element, .nullable = map->element_nullable}};
    if (strcmp(name, "map_keys") == 0)
        function_finish(call, type_array(ctx->arena, map->key, false));
    else if (strcmp(name, "map_values") == 0)
        function_finish(call, type_array(ctx->arena, map->element, map->element_nullable));
    else
        function_finish(call, type_array(ctx->arena, type_struct(ctx->arena, fields, 2), false));
    return OK;
}

RESOLVER(resolve_map_from_arrays)
{
    *out = call;
    for (uint32_t i = 0; i < 2; i++) {
        void_to_array(ctx, &call->args[i]);
        if (call->args[i]->type->id != TYPE_ARRAY)
            return function_wrong_type(call, i, "\"ARRAY\"", err);
    }
    const struct type *keys = call->args[0]->type;
    const struct type *values = call->args[1]->type;
    TRY(map_check_key_type(call, keys->element, err));
    call->call.bound = map_policy(ctx);
    function_finish(call,
                    type_map(ctx->arena, keys->element, values->element, values->element_nullable));
    return OK;
}

RESOLVER(resolve_map_from_entries)
{
    *out = call;
    const struct type *array = call->args[0]->type;
    if (array->id != TYPE_ARRAY || array->element->id != TYPE_STRUCT ||
        array->element->field_count != 2)
        return function_wrong_type(call, 0, "\"ARRAY\" of pair \"STRUCT\"", err);
    const struct type *pair = array->element;
    TRY(map_check_key_type(call, pair->fields[0].type, err));
    call->call.bound = map_policy(ctx);
    function_finish(call, type_map(ctx->arena, pair->fields[0].type, pair->fields[1].type,
                                   pair->fields[1].nullable));
    call->nullable = call->args[0]->nullable || array->element_nullable;
    return OK;
}

RESOLVER(resolve_map_concat)
{
    *out = call;
    call->call.bound = map_policy(ctx);
    if (call->arg_count == 0) {
        function_finish(
            call, type_map(ctx->arena, type_simple(TYPE_STRING), type_simple(TYPE_STRING), true));
        return OK;
    }
    bool maps = true;
    for (uint32_t i = 0; i < call->arg_count; i++)
        maps = maps && call->args[i]->type->id == TYPE_MAP;
    if (!maps || !coercion_unify(ctx, call->args, call->arg_count, true)) {
        struct arena *arena = arena_new("message", 0);
        struct buffer types = {0};
        for (uint32_t i = 0; i < call->arg_count; i++)
            buffer_printf(&types, "%s%s", i > 0 ? ", " : "[",
                          function_sql_type(arena, call->args[i]->type));
        buffer_add_byte(&types, ']');
        enum status status =
            error_raise_at(err, STATUS_DATATYPE_MISMATCH__MAP_CONCAT_DIFF_TYPES, call->position,
                           call->position_end, "sqlExpr", function_sql(arena, call), "functionName",
                           "`map_concat`", "dataType", buffer_text(&types), NULL);
        buffer_fini(&types);
        arena_free(arena);
        return status;
    }
    function_finish(call, call->args[0]->type);
    return OK;
}

RESOLVER(resolve_map_contains_key)
{
    *out = call;
    const struct type *map = call->args[0]->type;
    if (map->id != TYPE_MAP)
        return function_wrong_type(call, 0, "\"MAP\"", err);
    if (call->args[1]->type->id == TYPE_VOID)
        return null_type(call, err);
    const struct type *common = element_type(ctx, map->key, call->args[1]->type);
    if (common == NULL)
        return diff_types(call, STATUS_DATATYPE_MISMATCH__MAP_FUNCTION_DIFF_TYPES, "\"MAP\"", err);
    call->args[0] = coercion_cast(
        ctx, call->args[0], type_map(ctx->arena, common, map->element, map->element_nullable));
    call->args[1] = coercion_cast(ctx, call->args[1], common);
    function_finish(call, type_simple(TYPE_BOOLEAN));
    return OK;
}

RESOLVER(resolve_str_to_map)
{
    *out = call;
    TRY(function_apply(ctx, call, "string,string=',',string=':'->1", err));
    call->call.bound = map_policy(ctx);
    function_finish(call,
                    type_map(ctx->arena, type_simple(TYPE_STRING), type_simple(TYPE_STRING), true));
    return OK;
}
