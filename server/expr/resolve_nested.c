/* Resolves constructors of arrays, maps and structs, and access to what is in them. */
#include "base/check.h"
#include "expr/kernel_nested.h"
#include "expr/program.h"
#include "expr/resolvers.h"

#include <strings.h>

RESOLVER(resolve_array)
{
    *out = call;
    if (!coercion_unify(ctx, call->args, call->arg_count, true))
        return function_diff_types(call, err);
    const struct type *element =
        call->arg_count == 0 ? type_simple(TYPE_VOID) : call->args[0]->type;
    bool nullable = false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        nullable |= call->args[i]->nullable;
    function_finish(call, type_array(ctx->arena, element, nullable));
    call->nullable = false;
    return OK;
}

/* The alternate arguments from `first` on, with a common type. */
static enum status unify_every_second(struct resolve_context *ctx, struct expr *call,
                                      uint32_t first, enum status mismatch,
                                      const struct type **type, struct error *err)
{
    uint32_t count = call->arg_count / 2;
    struct expr **part = arena_new_object(ctx->arena, ((size_t)count + 1) * sizeof *part);
    for (uint32_t i = 0; i < count; i++)
        part[i] = call->args[2 * i + first];
    const struct type *common = coercion_common_of(ctx, part, count, true);
    if (common == NULL) {
        struct buffer types = {0};
        for (uint32_t i = 0; i < count; i++)
            buffer_printf(&types, "%s%s", i == 0 ? "[" : ", ",
                          function_sql_type(ctx->arena, part[i]->type));
        buffer_add_byte(&types, ']');
        enum status status =
            error_raise_at(err, mismatch, call->position, call->position_end, "sqlExpr",
                           function_sql(ctx->arena, call), "functionName", "`map`", "dataType",
                           buffer_text(&types), NULL);
        buffer_fini(&types);
        return status;
    }
    for (uint32_t i = 0; i < count; i++)
        call->args[2 * i + first] = coercion_cast(ctx, part[i], common);
    *type = common;
    return OK;
}

bool type_has_map(const struct type *type)
{
    if (type->id == TYPE_MAP)
        return true;
    if (type->id == TYPE_ARRAY)
        return type_has_map(type->element);
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++) {
        if (type_has_map(type->fields[i].type))
            return true;
    }
    return false;
}

static bool type_has_variant(const struct type *type)
{
    if (type->id == TYPE_VARIANT)
        return true;
    if (type->id == TYPE_ARRAY)
        return type_has_variant(type->element);
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++) {
        if (type_has_variant(type->fields[i].type))
            return true;
    }
    return false;
}

enum status map_check_key_type(const struct expr *call, const struct type *key, struct error *err)
{
    if (!type_has_map(key) && !type_has_variant(key))
        return OK;
    struct arena *arena = arena_new("message", 0);
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__INVALID_MAP_KEY_TYPE, call->position, call->position_end,
        "sqlExpr", function_sql(arena, call), "keyType", function_sql_type(arena, key), NULL);
    arena_free(arena);
    return status;
}

const void *map_policy(const struct resolve_context *ctx)
{
    static const char last_wins[] = "LAST_WIN";
    return ctx->map_key_last_wins ? last_wins : NULL;
}

RESOLVER(resolve_map)
{
    *out = call;
    if (call->arg_count % 2 != 0)
        return function_wrong_count(call, "2n (n > 0)", err);
    const struct type *key = type_simple(TYPE_VOID);
    const struct type *value = key;
    TRY(unify_every_second(ctx, call, 0, STATUS_DATATYPE_MISMATCH__CREATE_MAP_KEY_DIFF_TYPES, &key,
                           err));
    TRY(unify_every_second(ctx, call, 1, STATUS_DATATYPE_MISMATCH__CREATE_MAP_VALUE_DIFF_TYPES,
                           &value, err));
    TRY(map_check_key_type(call, key, err));
    bool nullable = false;
    for (uint32_t i = 1; i < call->arg_count; i += 2)
        nullable |= call->args[i]->nullable;
    call->call.bound = map_policy(ctx);
    function_finish(call, type_map(ctx->arena, key, value, nullable));
    call->nullable = false;
    return OK;
}

/* ---- structs: arguments alternate name, value ---- */

static enum status bad_names(struct resolve_context *ctx, const struct expr *call,
                             struct error *err)
{
    struct buffer list = {0};
    for (uint32_t i = 0; i < call->arg_count; i += 2)
        buffer_printf(&list, "%s%s", i == 0 ? "[" : ", ", function_sql(ctx->arena, call->args[i]));
    buffer_add_byte(&list, ']');
    enum status status =
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING,
                       call->position, call->position_end, "sqlExpr",
                       function_sql(ctx->arena, call), "inputExprs", buffer_text(&list), NULL);
    buffer_fini(&list);
    return status;
}

RESOLVER(resolve_named_struct)
{
    *out = call;
    if (call->arg_count % 2 != 0)
        return function_wrong_count(call, "2n (n > 0)", err);
    uint32_t count = call->arg_count / 2;
    struct type_field *fields = arena_new_object(ctx->arena, ((size_t)count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *name = call->args[(size_t)2 * i];
        struct vector *value;
        if (name->type->id != TYPE_STRING || !expr_is_foldable(name))
            return bad_names(ctx, call, err);
        TRY(expr_constant(ctx->arena, name, ctx->time_zone, &value, err));
        if (vector_is_null(value, 0))
            return bad_names(ctx, call, err);
        struct bytes text = *VECTOR_VALUES(struct bytes, value);
        fields[i] = (struct type_field){
            .name = arena_strndup(ctx->arena, text.data, text.size_bytes),
            .type = call->args[2 * i + 1]->type,
            .nullable = call->args[2 * i + 1]->nullable,
        };
    }
    function_finish(call, type_struct(ctx->arena, fields, count));
    call->nullable = false;
    return OK;
}

/* ---- access ---- */

static int find_field(const struct type *type, struct bytes name)
{
    int found = -1;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const char *field = type->fields[i].name;
        if (strlen(field) != name.size_bytes)
            continue;
        if (memcmp(field, name.data, name.size_bytes) == 0)
            return (int)i;
        if (found < 0 && strncasecmp(field, (const char *)name.data, name.size_bytes) == 0)
            found = (int)i;
    }
    return found;
}

static enum status no_such_field(struct resolve_context *ctx, const struct expr *call,
                                 const struct type *holder, struct bytes name, struct error *err)
{
    struct buffer fields = {0};
    for (uint32_t i = 0; i < holder->field_count; i++)
        buffer_printf(&fields, "%s`%s`", i == 0 ? "" : ", ", holder->fields[i].name);
    enum status status = error_raise_at(
        err, STATUS_FIELD_NOT_FOUND, call->position, call->position_end, "fieldName",
        arena_sprintf(ctx->arena, "`%.*s`", (int)name.size_bytes, (const char *)name.data),
        "fields", buffer_text(&fields), NULL);
    buffer_fini(&fields);
    return status;
}

/* s.x: arguments base and name. */
RESOLVER(resolve_field_access)
{
    *out = call;
    const struct type *base = call->args[0]->type;
    const struct type *holder = base->id == TYPE_ARRAY ? base->element : base;
    struct vector *constant;
    TRY(function_constant(ctx, call, 1, "field", &constant, err));
    if (holder->id != TYPE_STRUCT || call->args[1]->type->id != TYPE_STRING ||
        vector_is_null(constant, 0))
        return error_raise_at(err, STATUS_INVALID_EXTRACT_BASE_FIELD_TYPE, call->position,
                              call->position_end, "base", function_sql(ctx->arena, call->args[0]),
                              "other", function_sql_type(ctx->arena, base), NULL);
    struct bytes name = *VECTOR_VALUES(struct bytes, constant);
    int index = find_field(holder, name);
    if (index < 0)
        return no_such_field(ctx, call, holder, name, err);
    uint32_t *bound = arena_new_object(ctx->arena, sizeof *bound);
    *bound = (uint32_t)index;
    call->call.bound = bound;
    const struct type_field *field = &holder->fields[index];
    if (base->id == TYPE_ARRAY) {
        call->call.kernel = kernel_field_of_elements;
        function_finish(
            call, type_array(ctx->arena, field->type, base->element_nullable || field->nullable));
        call->nullable = call->args[0]->nullable;
        return OK;
    }
    function_finish(call, field->type);
    call->nullable = call->args[0]->nullable || field->nullable;
    return OK;
}

static const void *mode_mark(const struct resolve_context *ctx)
{
    static const char ansi[] = "ansi";
    return ctx->ansi ? ansi : NULL;
}

/* map(k1, v1, ...)[key] of columns makes no map: it means CASE WHEN key = k1 THEN v1 ... END. */
static enum status map_lookup(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    const struct expr *map = call->args[0];
    struct expr **args = arena_new_object(ctx->arena, ((size_t)map->arg_count + 1) * sizeof *args);
    for (uint32_t i = 0; i < map->arg_count; i += 2) {
        TRY(function_resolve_2(ctx, "=", call->args[1], map->args[i], &args[i], err));
        args[i + 1] = map->args[i + 1];
    }
    struct function_call choice = {.name = "case",
                                   .args = args,
                                   .arg_count = map->arg_count,
                                   .position = call->position,
                                   .position_end = call->position_end};
    struct expr *found;
    TRY(function_resolve(ctx, &choice, &found, err));
    call->call.function = function_find("map []");
    call->call.name = call->call.function->name;
    function_replace(ctx, call, found);
    return OK;
}

static bool is_made_of_columns(const struct expr *map)
{
    return map->kind == EXPR_CALL && strcmp(map->call.function->name, "map") == 0 &&
           map->arg_count > 0 && !expr_is_foldable(map) && expr_is_deterministic(map);
}

/* a[b] */
RESOLVER(resolve_subscript)
{
    *out = call;
    const struct type *base = call->args[0]->type;
    const struct expr *index = call->args[1];
    bool fields =
        base->id == TYPE_STRUCT || (base->id == TYPE_ARRAY && base->element->id == TYPE_STRUCT &&
                                    index->type->id == TYPE_STRING);
    if (fields) {
        struct function_call field = {.name = ".",
                                      .args = call->args,
                                      .arg_count = 2,
                                      .position = call->position,
                                      .position_end = call->position_end};
        return function_resolve(ctx, &field, out, err);
    }
    if (base->id == TYPE_MAP) {
        if (!coercion_can_cast_implicitly(ctx, index->type, base->key))
            return function_wrong_type(call, 1, function_sql_type(ctx->arena, base->key), err);
        call->args[1] = coercion_cast(ctx, call->args[1], base->key);
        if (!type_is_orderable(base->key))
            return function_not_orderable(call, base->key, err);
        if (is_made_of_columns(call->args[0]))
            return map_lookup(ctx, call, err);
        call->call.kernel = kernel_map_value;
        function_finish(call, base->element);
        return OK;
    }
    if (base->id == TYPE_VOID) {
        function_finish(call, base);
        call->call.kernel = kernel_array_element;
        return OK;
    }
    if (base->id != TYPE_ARRAY)
        return error_raise_at(err, STATUS_INVALID_EXTRACT_BASE_FIELD_TYPE, call->position,
                              call->position_end, "base", function_sql(ctx->arena, call->args[0]),
                              "other", function_sql_type(ctx->arena, base), NULL);
    if (!type_is_integral(index->type) && index->type->id != TYPE_VOID)
        return function_wrong_type(call, 1, "\"INTEGRAL\"", err);
    call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_LONG));
    call->call.bound = mode_mark(ctx);
    call->call.kernel = kernel_array_element;
    function_finish(call, base->element);
    return OK;
}

/* get(array, index): as a[b], NULL outside */
RESOLVER(resolve_get)
{
    *out = call;
    TRY(function_apply(ctx, call, "array,int->1", err));
    call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_LONG));
    call->type = call->args[0]->type->element;
    call->nullable = true;
    return OK;
}

static enum status element_at(struct resolve_context *ctx, struct expr *call, bool ansi,
                              struct error *err)
{
    const struct type *base = call->args[0]->type;
    if (base->id == TYPE_MAP) {
        const struct type *key = call->args[1]->type;
        const struct type *common = coercion_common(ctx, base->key, key);
        bool mixed = (base->key->id == TYPE_STRING) != (key->id == TYPE_STRING);
        if (common == NULL || key->id == TYPE_VOID || mixed) {
            struct arena *arena = ctx->arena;
            return error_raise_at(err, STATUS_DATATYPE_MISMATCH__MAP_FUNCTION_DIFF_TYPES,
                                  call->position, call->position_end, "sqlExpr",
                                  function_sql(arena, call), "functionName",
                                  arena_sprintf(arena, "`%s`", call->call.name), "dataType",
                                  "\"MAP\"", "leftType", function_sql_type(arena, base),
                                  "rightType", function_sql_type(arena, call->args[1]->type), NULL);
        }
        call->args[0] =
            coercion_cast(ctx, call->args[0],
                          type_map(ctx->arena, common, base->element, base->element_nullable));
        call->args[1] = coercion_cast(ctx, call->args[1], common);
        call->call.kernel = kernel_map_value;
        function_finish(call, base->element);
        return OK;
    }
    if (base->id != TYPE_ARRAY)
        return function_wrong_type(call, 0, "(\"ARRAY\" or \"MAP\")", err);
    const struct type *index = call->args[1]->type;
    bool fits = index->id == TYPE_INT || index->id == TYPE_SHORT || index->id == TYPE_BYTE;
    if (!fits)
        return function_wrong_type(call, 1, "\"INT\"", err);
    call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    call->call.bound = ansi ? mode_mark(ctx) : NULL;
    call->call.kernel = kernel_element_at;
    function_finish(call, base->element);
    return OK;
}

RESOLVER(resolve_element_at)
{
    *out = call;
    return element_at(ctx, call, true, err);
}

RESOLVER(resolve_try_element_at)
{
    *out = call;
    return element_at(ctx, call, false, err);
}
