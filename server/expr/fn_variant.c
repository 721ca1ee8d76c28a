/* parse_json, is_variant_null, is_valid_variant, to_variant_object, schema_of_variant,
 * variant_explode. */
#include "expr/fn_variant.h"

#include "base/check.h"
#include "expr/cell_builder.h"
#include "expr/fn_support.h"

#include <string.h>
#include <strings.h>

static struct variant variant_arg(const struct kernel_call *call, uint32_t row)
{
    return variant_of_cell(kernel_text(call, 0, row));
}

/* The first argument is a VARIANT, or NULL. */
static enum status want_variant(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    if (call->args[0]->type->id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_VARIANT));
    if (call->args[0]->type->id != TYPE_VARIANT)
        return function_wrong_type(call, 0, "\"VARIANT\"", err);
    return OK;
}

/* ---- parse_json ---- */

struct parse_json {
    struct variant_json_options options;
    bool fail;
};

static enum status refuse_json(const struct kernel_call *call, struct bytes text,
                               enum variant_json_result result, struct bytes repeated,
                               struct error *err)
{
    struct error outer = ERROR_INIT;
    (void)error_raise(&outer, STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION, "badRecord",
                      kernel_error_text(call, text), "failFastMode", "FAILFAST", NULL);
    if (result == VARIANT_JSON_REPEATED_NAME) {
        (void)error_raise(err, STATUS_VARIANT_DUPLICATE_KEY, "key",
                          kernel_error_text(call, repeated), NULL);
        outer.causes[0] = err->status;
    }
    *err = outer;
    return err->status;
}

KERNEL(kernel_parse_json)
{
    const struct parse_json *bound = call->expr->call.bound;
    struct variant_builder builder = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes text = kernel_text(call, 0, row);
        struct bytes repeated;
        struct bytes cell;
        variant_builder_clear(&builder);
        enum variant_json_result result =
            variant_add_json(&builder, text, &bound->options, &repeated);
        if (result != VARIANT_JSON_OK && bound->fail)
            TRY_OUT(refuse_json(call, text, result, repeated, err));
        if (result != VARIANT_JSON_OK) {
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        bool fits = variant_finish(&builder, &cell);
        if (!fits && bound->fail)
            TRY_OUT(variant_too_large(call->ctx->arena, "`parse_json`", err));
        if (fits)
            TRY_OUT(kernel_set_bytes(call, row, cell, err));
        else
            TRY_OUT(kernel_set_null(call, row, err));
    }
out:
    variant_builder_fini(&builder);
    return status;
}

RESOLVER(resolve_parse_json)
{
    *out = call;
    struct parse_json *bound = arena_new_object(ctx->arena, sizeof(*bound));
    const char *repeated =
        ctx->conf == NULL ? NULL : ctx->conf(ctx->conf_arg, "spark.sql.variant.allowDuplicateKeys");
    bound->options.repeated_names = repeated != NULL && strcasecmp(repeated, "true") == 0;
    bound->fail = call->call.name[0] != 't';
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_STRING && id != TYPE_VOID)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    TRY(function_apply_signature(ctx, call, err));
    call->call.bound = bound;
    call->nullable = call->nullable || !bound->fail;
    return OK;
}

/* ---- predicates ---- */

KERNEL(kernel_is_variant_null)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint8_t *to = &KERNEL_OUT(uint8_t, call)[row];
        *to = 0;
        if (kernel_arg_is_null(call, 0, row))
            continue;
        struct variant value = variant_arg(call, row);
        struct variant_item item;
        variant_read(&value, &item);
        *to = item.kind == VARIANT_NULL;
    }
    return OK;
}

RESOLVER(resolve_is_variant_null)
{
    *out = call;
    TRY(want_variant(ctx, call, err));
    return function_apply_signature(ctx, call, err);
}

KERNEL(kernel_is_valid_variant)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct variant value = variant_arg(call, row);
        KERNEL_OUT(uint8_t, call)[row] = variant_is_valid(&value);
    }
    return OK;
}

/* ---- to_variant_object ---- */

KERNEL(kernel_to_variant_object)
{
    struct variant_builder builder = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes cell;
        variant_builder_clear(&builder);
        variant_add_cell(&builder, call->args[0], row);
        if (!variant_finish(&builder, &cell))
            TRY_OUT(variant_too_large(call->ctx->arena, "`to_variant_object`", err));
        TRY_OUT(kernel_set_bytes(call, row, cell, err));
    }
out:
    variant_builder_fini(&builder);
    return status;
}

RESOLVER(resolve_to_variant_object)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    if (!type_is_nested(type) || !variant_type_is_castable(type, true))
        return error_raise_at(
            err, STATUS_DATATYPE_MISMATCH__CAST_WITHOUT_SUGGESTION, call->position,
            call->position_end, "sqlExpr", function_sql(ctx->arena, call), "srcType",
            function_sql_type(ctx->arena, type), "targetType", "\"VARIANT\"", NULL);
    return function_apply_signature(ctx, call, err);
}

/* ---- schema_of_variant ---- */

static const struct type *decimal_of_integers(struct arena *arena, const struct type *type)
{
    return type->id == TYPE_LONG ? type_decimal(arena, 20, 0) : type;
}

static const struct type *merge_numbers(struct arena *arena, const struct type *a,
                                        const struct type *b)
{
    if (a->id == TYPE_DOUBLE || b->id == TYPE_DOUBLE)
        return type_simple(TYPE_DOUBLE);
    if (a->id == TYPE_FLOAT || b->id == TYPE_FLOAT)
        return type_simple(
            a->id == b->id || a->id == TYPE_LONG || b->id == TYPE_LONG ? TYPE_FLOAT : TYPE_DOUBLE);
    a = decimal_of_integers(arena, a);
    b = decimal_of_integers(arena, b);
    int scale = a->scale > b->scale ? a->scale : b->scale;
    int whole_a = a->precision - a->scale;
    int whole_b = b->precision - b->scale;
    int whole = whole_a > whole_b ? whole_a : whole_b;
    return whole + scale > DECIMAL_PRECISION_MAX ? type_simple(TYPE_DOUBLE)
                                                 : type_decimal(arena, whole + scale, scale);
}

static const struct type *merge_schemas(struct arena *arena, const struct type *a,
                                        const struct type *b);

/* Fields of both, sorted by name. */
static const struct type *merge_objects(struct arena *arena, const struct type *a,
                                        const struct type *b)
{
    struct type_field *fields =
        arena_new_object(arena, ((size_t)a->field_count + b->field_count + 1) * sizeof(*fields));
    uint32_t count = 0;
    uint32_t i = 0;
    uint32_t j = 0;
    while (i < a->field_count || j < b->field_count) {
        int order = i == a->field_count   ? 1
                    : j == b->field_count ? -1
                                          : strcmp(a->fields[i].name, b->fields[j].name);
        fields[count] = order <= 0 ? a->fields[i] : b->fields[j];
        if (order == 0)
            fields[count].type = merge_schemas(arena, a->fields[i].type, b->fields[j].type);
        i += order <= 0;
        j += order >= 0;
        count++;
    }
    return type_struct(arena, fields, count);
}

static bool is_time(const struct type *type)
{
    return type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
}

/* The type of two values of an array; VARIANT if there is none. */
static const struct type *merge_schemas(struct arena *arena, const struct type *a,
                                        const struct type *b)
{
    if (a->id == TYPE_VOID || type_equal(a, b))
        return b;
    if (b->id == TYPE_VOID)
        return a;
    if (type_is_numeric(a) && type_is_numeric(b))
        return merge_numbers(arena, a, b);
    if (is_time(a) && is_time(b))
        return type_simple(a->id == TYPE_TIMESTAMP || b->id == TYPE_TIMESTAMP ? TYPE_TIMESTAMP
                                                                              : TYPE_TIMESTAMP_NTZ);
    if (a->id == TYPE_ARRAY && b->id == TYPE_ARRAY)
        return type_array(arena, merge_schemas(arena, a->element, b->element), true);
    if (a->id == TYPE_STRUCT && b->id == TYPE_STRUCT)
        return merge_objects(arena, a, b);
    return type_simple(TYPE_VARIANT);
}

/*
 * A name of a field as a C string: the bytes 0 and 1 become 1 1 and 1 2, which keeps the order.
 */
static const char *name_coded(struct arena *arena, struct bytes name)
{
    if (memchr(name.data, 0, name.size_bytes) == NULL &&
        memchr(name.data, 1, name.size_bytes) == NULL)
        return arena_strndup(arena, name.data, name.size_bytes);
    char *out = arena_new_object(arena, 2 * name.size_bytes + 1);
    size_t size = 0;
    for (size_t i = 0; i < name.size_bytes; i++) {
        uint8_t byte = name.data[i];
        if (byte <= 1)
            out[size++] = 1;
        out[size++] = (char)(byte <= 1 ? byte + 1 : byte);
    }
    return out;
}

static const struct type *schema_of(struct arena *arena, const struct variant *value, int depth)
{
    static const enum type_id ids[] = {
        [VARIANT_NULL] = TYPE_VOID,           [VARIANT_BOOLEAN] = TYPE_BOOLEAN,
        [VARIANT_LONG] = TYPE_LONG,           [VARIANT_DOUBLE] = TYPE_DOUBLE,
        [VARIANT_FLOAT] = TYPE_FLOAT,         [VARIANT_STRING] = TYPE_STRING,
        [VARIANT_BINARY] = TYPE_BINARY,       [VARIANT_DATE] = TYPE_DATE,
        [VARIANT_TIMESTAMP] = TYPE_TIMESTAMP, [VARIANT_TIMESTAMP_NTZ] = TYPE_TIMESTAMP_NTZ,
    };
    struct variant_item item;
    struct variant part;
    struct bytes name;
    variant_read(value, &item);
    bool object = item.kind == VARIANT_OBJECT;
    if (item.kind == VARIANT_DECIMAL) {
        int digits = decimal_digits(item.decimal.unscaled);
        return type_decimal(arena, digits > item.decimal.scale ? digits : item.decimal.scale,
                            item.decimal.scale);
    }
    if (!object && item.kind != VARIANT_ARRAY)
        return type_simple(ids[item.kind]);
    struct type_field *fields =
        arena_new_object(arena, ((size_t)(object ? item.count : 0) + 1) * sizeof(*fields));
    const struct type *element = type_simple(TYPE_VOID);
    uint32_t count = 0;
    for (uint32_t i = 0; i < item.count && depth < VARIANT_DEPTH_MAX; i++) {
        if (!variant_part(value, &item, i, object ? &name : NULL, &part))
            break;
        const struct type *type = schema_of(arena, &part, depth + 1);
        if (object)
            fields[count++] = (struct type_field){.name = name_coded(arena, name), .type = type};
        else
            element = merge_schemas(arena, element, type);
    }
    return object ? type_struct(arena, fields, count) : type_array(arena, element, true);
}

/* A name as name_coded() made it. */
static void print_name(struct buffer *out, const char *name)
{
    bool plain = *name != '\0' && (*name < '0' || *name > '9');
    for (const char *c = name; plain && *c != '\0'; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                *c == '_';
    if (!plain)
        buffer_add_byte(out, '`');
    for (const char *c = name; *c != '\0'; c++) {
        bool coded = *c == 1 && c[1] != '\0'; /* name_coded() */
        c += coded;
        buffer_add_byte(out, (uint8_t)(*c - coded));
        if (*c == '`')
            buffer_add_byte(out, '`');
    }
    if (!plain)
        buffer_add_byte(out, '`');
}

/* As SQL, but with OBJECT for STRUCT. */
static void print_schema(struct buffer *out, const struct type *type)
{
    if (type->id == TYPE_ARRAY) {
        buffer_add_text(out, "ARRAY<");
        print_schema(out, type->element);
        buffer_add_byte(out, '>');
        return;
    }
    if (type->id != TYPE_STRUCT) {
        type_print_sql(out, type);
        return;
    }
    buffer_add_text(out, "OBJECT<");
    for (uint32_t i = 0; i < type->field_count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        print_name(out, type->fields[i].name);
        buffer_add_text(out, ": ");
        print_schema(out, type->fields[i].type);
    }
    buffer_add_byte(out, '>');
}

KERNEL(kernel_schema_of_variant)
{
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct variant value = variant_arg(call, row);
        print_schema(&text, schema_of(call->ctx->arena, &value, 0));
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_schema_of_variant)
{
    *out = call;
    TRY(want_variant(ctx, call, err));
    return function_apply_signature(ctx, call, err);
}

/* ---- variant_explode ---- */

static enum status explode_value(const struct kernel_call *call, const struct variant *value,
                                 struct cell_builder *rows, struct error *err)
{
    struct variant_item item;
    struct variant part;
    struct bytes name;
    struct variant_builder builder = {0};
    enum status status = OK;
    variant_read(value, &item);
    bool object = item.kind == VARIANT_OBJECT;
    for (uint32_t i = 0; i < item.count; i++) {
        struct bytes cell;
        int32_t position = (int32_t)i;
        if (!variant_part(value, &item, i, object ? &name : NULL, &part))
            break;
        variant_builder_clear(&builder);
        variant_add(&builder, &part);
        if (!variant_finish(&builder, &cell))
            TRY_OUT(variant_too_large(call->ctx->arena, "`variant_explode`", err));
        cell = arena_copy(call->ctx->arena, cell);
        cell_builder_add(&rows->children[0], &position, sizeof(position));
        if (object)
            cell_builder_add(&rows->children[1], &name, sizeof(name));
        else
            cell_builder_add_null(&rows->children[1]);
        cell_builder_add(&rows->children[2], &cell, sizeof(cell));
        cell_builder_add(rows, NULL, 0);
    }
out:
    variant_builder_fini(&builder);
    return status;
}

KERNEL(kernel_variant_explode)
{
    struct cell_builder rows;
    struct list_entry *entries = call->out->values;
    enum status status = OK;
    cell_builder_init(&rows, call->out->type->element);
    memset(entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t first = rows.count;
        if (!kernel_arg_is_null(call, 0, row)) {
            struct variant value = variant_arg(call, row);
            TRY_OUT(explode_value(call, &value, &rows, err));
        }
        entries[row] = (struct list_entry){first, rows.count - first};
    }
    status = cell_builder_finish(&rows, call->ctx->arena, &call->out->children[0], err);
out:
    cell_builder_fini(&rows);
    return status;
}

RESOLVER(resolve_variant_explode)
{
    TRY(want_variant(ctx, call, err));
    const struct type_field fields[] = {
        {.name = "pos", .type = type_simple(TYPE_INT)},
        {.name = "key", .type = type_simple(TYPE_STRING), .nullable = true},
        {.name = "value", .type = type_simple(TYPE_VARIANT)},
    };
    generator_make(call, type_struct(ctx->arena, fields, 3));
    *out = call;
    return OK;
}
