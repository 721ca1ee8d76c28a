/*
 * Casts from and to VARIANT.  Scalars are cast by kind: those of a kind are gathered into one
 * vector of that type, which is cast as any other, so that the rules of CAST hold here too.
 */
#include "base/check.h"
#include "columnar/value_text.h"
#include "expr/cell_builder.h"
#include "expr/fn_support.h"
#include "expr/fn_variant.h"

bool variant_type_is_castable(const struct type *type, bool objects)
{
    switch (type->id) {
    case TYPE_ARRAY:
        return variant_type_is_castable(type->element, objects);
    case TYPE_MAP:
        return objects && type->key->id == TYPE_STRING &&
               variant_type_is_castable(type->element, objects);
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < type->field_count; i++)
            if (!variant_type_is_castable(type->fields[i].type, objects))
                return false;
        return objects;
    case TYPE_VOID:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        return false;
    default:
        return true;
    }
}

enum status variant_too_large(struct arena *arena, const char *function, struct error *err)
{
    return error_raise(err, STATUS_VARIANT_SIZE_LIMIT, "sizeLimit",
                       arena_sprintf(arena, "%zu.0 MiB", VARIANT_BYTES_MAX >> 20), "functionName",
                       function, NULL);
}

/* ---- from a variant ---- */

static enum status invalid(const struct variant_conversion *conversion, const struct variant *value,
                           const struct type *type, struct vector *out, uint32_t row,
                           struct error *err)
{
    vector_set_null(out, row);
    if (!conversion->fail)
        return OK;
    struct buffer text = {0};
    variant_print_json(&text, value, conversion->zone);
    enum status status =
        error_raise(err, STATUS_INVALID_VARIANT_CAST, "value", buffer_text(&text), "dataType",
                    function_sql_type(conversion->ctx->arena, type), NULL);
    buffer_fini(&text);
    return status;
}

static enum status nullable_vector(struct arena *arena, const struct type *type, uint32_t count,
                                   struct vector **out, struct error *err)
{
    TRY(vector_new(arena, type, count, out, err));
    return vector_make_nullable(arena, *out, err);
}

static enum status copy_bytes(struct arena *arena, struct bytes text, struct bytes *out,
                              struct error *err)
{
    void *memory;
    TRY(arena_alloc_raw(arena, text.size_bytes + 1, 1, &memory, err));
    if (text.size_bytes > 0)
        memcpy(memory, text.data, text.size_bytes);
    *out = bytes_of(memory, text.size_bytes);
    return OK;
}

/* The cell of a value: metadata and value together. */
static enum status cell_of(struct arena *arena, const struct variant *value, struct bytes *out,
                           struct error *err)
{
    size_t head = value->metadata.size_bytes;
    if (value->metadata.data + head == value->value.data) {
        *out = bytes_of(value->metadata.data, head + value->value.size_bytes);
        return OK;
    }
    void *memory;
    TRY(arena_alloc_raw(arena, head + value->value.size_bytes + 1, 1, &memory, err));
    memcpy(memory, value->metadata.data, head);
    memcpy((uint8_t *)memory + head, value->value.data, value->value.size_bytes);
    *out = bytes_of(memory, head + value->value.size_bytes);
    return OK;
}

static enum status to_variants(const struct variant_conversion *conversion,
                               const struct variant *values, struct vector *out, struct error *err)
{
    for (uint32_t i = 0; i < out->length; i++) {
        struct bytes *cell = &VECTOR_VALUES(struct bytes, out)[i];
        if (values[i].value.size_bytes == 0)
            vector_set_null(out, i);
        else
            TRY(cell_of(conversion->ctx->arena, &values[i], cell, err));
    }
    return OK;
}

/* The values that are in arrays or objects, one behind the other. */
struct gathered {
    struct variant *values;
    struct bytes *names;
    uint32_t count;
};

static enum status gather(const struct variant_conversion *conversion, const struct variant *values,
                          struct vector *out, bool objects, struct gathered *parts,
                          struct error *err)
{
    struct variant_item item;
    struct list_entry *entries = out->values;
    uint64_t total = 0;
    void *memory;
    for (uint32_t i = 0; i < out->length; i++) {
        variant_read(&values[i], &item);
        bool fits = item.kind == (objects ? VARIANT_OBJECT : VARIANT_ARRAY);
        entries[i] = (struct list_entry){(uint32_t)total, fits ? item.count : 0};
        total += entries[i].length;
        if (fits)
            continue;
        vector_set_null(out, i);
        if (item.kind != VARIANT_NULL)
            TRY(invalid(conversion, &values[i], out->type, out, i, err));
    }
    if (total > KERNEL_ELEMENTS_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "elements of a batch", "limit",
                           "67108864", NULL);
    TRY(arena_alloc_raw(conversion->ctx->arena, total + 1, sizeof(struct variant), &memory, err));
    parts->values = memory;
    TRY(arena_alloc_raw(conversion->ctx->arena, total + 1, sizeof(struct bytes), &memory, err));
    parts->names = memory;
    parts->count = (uint32_t)total;
    for (uint32_t i = 0; i < out->length; i++) {
        variant_read(&values[i], &item);
        for (uint32_t k = 0; k < entries[i].length; k++) {
            uint32_t at = entries[i].offset + k;
            parts->names[at] = (struct bytes){0};
            if (!variant_part(&values[i], &item, k, objects ? &parts->names[at] : NULL,
                              &parts->values[at]))
                parts->values[at] = (struct variant){0};
        }
    }
    return OK;
}

static enum status to_lists(const struct variant_conversion *conversion,
                            const struct variant *values, struct vector *out, struct error *err)
{
    bool map = out->type->id == TYPE_MAP;
    struct gathered parts = {0};
    TRY(gather(conversion, values, out, map, &parts, err));
    TRY(variant_convert(conversion, parts.values, parts.count, out->type->element,
                        &out->children[map ? 1 : 0], err));
    if (!map)
        return OK;
    struct vector *keys;
    TRY(vector_new(conversion->ctx->arena, type_simple(TYPE_STRING), parts.count, &keys, err));
    memcpy(keys->values, parts.names, parts.count * sizeof(struct bytes));
    out->children[0] = keys;
    return OK;
}

static enum status to_structs(const struct variant_conversion *conversion,
                              const struct variant *values, struct vector *out, struct error *err)
{
    struct variant_item item;
    void *memory;
    TRY(arena_alloc_raw(conversion->ctx->arena, (size_t)out->length + 1, sizeof(struct variant),
                        &memory, err));
    struct variant *fields = memory;
    for (uint32_t i = 0; i < out->length; i++) {
        variant_read(&values[i], &item);
        if (item.kind == VARIANT_OBJECT)
            continue;
        vector_set_null(out, i);
        if (item.kind != VARIANT_NULL)
            TRY(invalid(conversion, &values[i], out->type, out, i, err));
    }
    for (uint32_t c = 0; c < out->child_count; c++) {
        const struct type_field *field = &out->type->fields[c];
        for (uint32_t i = 0; i < out->length; i++) {
            variant_read(&values[i], &item);
            if (!variant_field(&values[i], &item, bytes_of_text(field->name), &fields[i]))
                fields[i] = (struct variant){0};
        }
        TRY(variant_convert(conversion, fields, out->length, field->type, &out->children[c], err));
    }
    return OK;
}

/* ---- scalars ---- */

struct scalars {
    const struct variant_conversion *conversion;
    const struct variant *values;
    struct variant_item *items;
    bool *done;
    uint32_t *rows; /* of the kind at hand */
    struct vector *out;
};

static const struct type *type_of_kind(struct arena *arena, const struct variant_item *item)
{
    static const enum type_id ids[] = {
        [VARIANT_NULL] = TYPE_VOID,
        [VARIANT_BOOLEAN] = TYPE_BOOLEAN,
        [VARIANT_LONG] = TYPE_LONG,
        [VARIANT_DOUBLE] = TYPE_DOUBLE,
        [VARIANT_FLOAT] = TYPE_FLOAT,
        [VARIANT_DECIMAL] = TYPE_DECIMAL,
        [VARIANT_STRING] = TYPE_STRING,
        [VARIANT_BINARY] = TYPE_BINARY,
        [VARIANT_DATE] = TYPE_DATE,
        [VARIANT_TIMESTAMP] = TYPE_TIMESTAMP,
        [VARIANT_TIMESTAMP_NTZ] = TYPE_TIMESTAMP_NTZ,
        [VARIANT_ARRAY] = TYPE_ARRAY,
        [VARIANT_OBJECT] = TYPE_STRUCT,
    };
    if (item->kind == VARIANT_DECIMAL)
        return type_decimal(arena, DECIMAL_PRECISION_MAX, item->decimal.scale);
    return type_simple(ids[item->kind]);
}

static void store_scalar(struct vector *to, uint32_t row, const struct variant_item *item)
{
    switch (item->kind) {
    case VARIANT_BOOLEAN:
        VECTOR_VALUES(uint8_t, to)[row] = item->integer != 0;
        break;
    case VARIANT_LONG:
    case VARIANT_TIMESTAMP:
    case VARIANT_TIMESTAMP_NTZ:
        VECTOR_VALUES(int64_t, to)[row] = item->integer;
        break;
    case VARIANT_DATE:
        VECTOR_VALUES(int32_t, to)[row] = (int32_t)item->integer;
        break;
    case VARIANT_DOUBLE:
        VECTOR_VALUES(double, to)[row] = item->real;
        break;
    case VARIANT_FLOAT:
        VECTOR_VALUES(float, to)[row] = (float)item->real;
        break;
    case VARIANT_DECIMAL:
        VECTOR_VALUES(int128, to)[row] = item->decimal.unscaled;
        break;
    case VARIANT_STRING:
    case VARIANT_BINARY:
        VECTOR_VALUES(struct bytes, to)[row] = item->text;
        break;
    case VARIANT_NULL:
    case VARIANT_ARRAY:
    case VARIANT_OBJECT:
        break;
    }
}

/* Casts the values of the kind of row `first`. */
static enum status cast_kind(struct scalars *scalars, uint32_t first, struct error *err)
{
    const struct variant_conversion *conversion = scalars->conversion;
    const struct variant_item *like = &scalars->items[first];
    struct vector *out = scalars->out;
    uint32_t count = 0;
    for (uint32_t i = first; i < out->length; i++) {
        const struct variant_item *item = &scalars->items[i];
        if (scalars->done[i] || item->kind != like->kind ||
            item->decimal.scale != like->decimal.scale)
            continue;
        scalars->rows[count++] = i;
        scalars->done[i] = true;
    }
    const struct type *from = type_of_kind(conversion->ctx->arena, like);
    bool exists = cast_exists(from, out->type, CAST_ANSI);
    struct vector *in;
    struct vector *cast = NULL;
    if (exists) {
        struct expr expr = {.kind = EXPR_CAST, .type = out->type};
        expr.cast.mode = CAST_TRY;
        expr.cast.time_zone = timezone_id(conversion->zone);
        struct cast_rows rows = {.selected = count, .rows = count};
        TRY(vector_new(conversion->ctx->arena, from, count, &in, err));
        for (uint32_t i = 0; i < count; i++)
            store_scalar(in, i, &scalars->items[scalars->rows[i]]);
        TRY(cast_vector(conversion->ctx, &expr, in, &rows, &cast, err));
    }
    size_t size = type_value_bytes(out->type);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = scalars->rows[i];
        if (cast == NULL || vector_is_null(cast, i))
            TRY(invalid(conversion, &scalars->values[row], out->type, out, row, err));
        else
            memcpy((uint8_t *)out->values + row * size,
                   (const uint8_t *)cast->values + vector_index(cast, i) * size, size);
    }
    return OK;
}

/* What has no type of its own to be cast from: NULL, arrays and objects; numbers as texts. */
static enum status convert_alone(struct scalars *scalars, uint32_t row, bool *done,
                                 struct error *err)
{
    const struct variant_conversion *conversion = scalars->conversion;
    const struct variant_item *item = &scalars->items[row];
    struct vector *out = scalars->out;
    bool text = out->type->id == TYPE_STRING;
    bool nested = item->kind == VARIANT_ARRAY || item->kind == VARIANT_OBJECT;
    *done = true;
    if (item->kind == VARIANT_NULL) {
        vector_set_null(out, row);
        return OK;
    }
    if (text && (nested || item->kind == VARIANT_DECIMAL)) {
        struct buffer printed = {0};
        variant_print_json(&printed, &scalars->values[row], conversion->zone);
        enum status status = copy_bytes(conversion->ctx->arena, buffer_bytes(&printed),
                                        &VECTOR_VALUES(struct bytes, out)[row], err);
        buffer_fini(&printed);
        return status;
    }
    if (nested)
        return invalid(conversion, &scalars->values[row], out->type, out, row, err);
    *done = false;
    return OK;
}

static enum status to_scalars(const struct variant_conversion *conversion,
                              const struct variant *values, struct vector *out, struct error *err)
{
    struct arena *arena = conversion->ctx->arena;
    size_t count = (size_t)out->length + 1;
    struct scalars scalars = {.conversion = conversion, .values = values, .out = out};
    void *memory;
    TRY(arena_alloc_raw(arena, count, sizeof(struct variant_item), &memory, err));
    scalars.items = memory;
    TRY(arena_alloc_raw(arena, count, sizeof(bool), &memory, err));
    scalars.done = memory;
    TRY(arena_alloc_raw(arena, count, sizeof(uint32_t), &memory, err));
    scalars.rows = memory;
    for (uint32_t i = 0; i < out->length; i++) {
        variant_read(&values[i], &scalars.items[i]);
        TRY(convert_alone(&scalars, i, &scalars.done[i], err));
    }
    for (uint32_t i = 0; i < out->length; i++)
        if (!scalars.done[i])
            TRY(cast_kind(&scalars, i, err));
    return OK;
}

enum status variant_convert(const struct variant_conversion *conversion,
                            const struct variant *values, uint32_t count, const struct type *type,
                            struct vector **out, struct error *err)
{
    TRY(nullable_vector(conversion->ctx->arena, type, count, out, err));
    switch ((int)type->id) {
    case TYPE_VARIANT:
        return to_variants(conversion, values, *out, err);
    case TYPE_ARRAY:
    case TYPE_MAP:
        return to_lists(conversion, values, *out, err);
    case TYPE_STRUCT:
        return to_structs(conversion, values, *out, err);
    default:
        return to_scalars(conversion, values, *out, err);
    }
}

static enum status from_variant(const struct cast_job *job, struct error *err)
{
    struct variant_conversion conversion = {
        .ctx = job->ctx, .zone = job->zone, .fail = job->mode != CAST_TRY};
    void *memory;
    TRY(arena_alloc(job->ctx->arena, (size_t)job->rows->rows + 1, sizeof(struct variant), &memory,
                    err));
    struct variant *values = memory;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        values[row] = variant_of_cell(CAST_IN(struct bytes, job, row));
    struct vector *result;
    TRY(variant_convert(&conversion, values, job->rows->rows, job->out->type, &result, err));
    *job->out = *result;
    return OK;
}

/* ---- to a variant ---- */

static void add_list(struct variant_builder *builder, const struct vector *vector,
                     struct list_entry list)
{
    struct variant_mark mark = variant_begin(builder);
    bool map = vector->type->id == TYPE_MAP;
    struct bytes repeated;
    for (uint32_t i = 0; i < list.length; i++) {
        uint32_t at = list.offset + i;
        if (map)
            variant_next_field(
                builder, VECTOR_VALUES(struct bytes,
                                       vector->children[0])[vector_index(vector->children[0], at)]);
        else
            variant_next_element(builder);
        variant_add_cell(builder, vector->children[map ? 1 : 0], at);
    }
    if (map)
        (void)variant_end_object(builder, mark, &repeated);
    else
        variant_end_array(builder, mark);
}

static void add_struct(struct variant_builder *builder, const struct vector *vector, uint32_t at)
{
    struct variant_mark mark = variant_begin(builder);
    struct bytes repeated;
    for (uint32_t i = 0; i < vector->child_count; i++) {
        variant_next_field(builder, bytes_of_text(vector->type->fields[i].name));
        variant_add_cell(builder, vector->children[i], at);
    }
    (void)variant_end_object(builder, mark, &repeated);
}

static void add_number(struct variant_builder *builder, const struct vector *vector, uint32_t at)
{
    switch ((int)vector->type->id) {
    case TYPE_FLOAT:
        variant_add_float(builder, VECTOR_VALUES(float, vector)[at]);
        break;
    case TYPE_DOUBLE:
        variant_add_double(builder, VECTOR_VALUES(double, vector)[at]);
        break;
    case TYPE_DECIMAL:
        variant_add_decimal(
            builder, (struct decimal){VECTOR_VALUES(int128, vector)[at], vector->type->scale});
        break;
    default:
        variant_add_long(builder, cast_integer(vector, at));
    }
}

void variant_add_cell(struct variant_builder *builder, const struct vector *vector, uint32_t row)
{
    uint32_t at = vector_index(vector, row);
    if (vector_is_null(vector, row)) {
        variant_add_null(builder);
        return;
    }
    switch ((int)vector->type->id) {
    case TYPE_BOOLEAN:
        variant_add_boolean(builder, VECTOR_VALUES(uint8_t, vector)[at] != 0);
        break;
    case TYPE_STRING:
        variant_add_string(builder, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_BINARY:
        variant_add_binary(builder, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_VARIANT: {
        struct variant inner = variant_of_cell(VECTOR_VALUES(struct bytes, vector)[at]);
        variant_add(builder, &inner);
        break;
    }
    case TYPE_DATE:
        variant_add_date(builder, VECTOR_VALUES(int32_t, vector)[at]);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        variant_add_timestamp(builder, VECTOR_VALUES(int64_t, vector)[at],
                              vector->type->id == TYPE_TIMESTAMP_NTZ);
        break;
    case TYPE_ARRAY:
    case TYPE_MAP:
        add_list(builder, vector, VECTOR_VALUES(struct list_entry, vector)[at]);
        break;
    case TYPE_STRUCT:
        add_struct(builder, vector, at);
        break;
    default:
        add_number(builder, vector, at);
    }
}

static enum status to_variant(const struct cast_job *job, struct error *err)
{
    struct variant_builder builder = {0};
    enum status status = OK;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct bytes cell;
        variant_builder_clear(&builder);
        variant_add_cell(&builder, job->in, row);
        if (!variant_finish(&builder, &cell)) {
            status = variant_too_large(job->ctx->arena, "`cast`", err);
            break;
        }
        TRY_OUT(copy_bytes(job->ctx->arena, cell, &CAST_OUT(struct bytes, job, row), err));
    }
out:
    variant_builder_fini(&builder);
    return status;
}

cast_function *cast_to_variant(const struct type *from, const struct type *to)
{
    if (to->id == TYPE_VARIANT)
        return to_variant;
    return from->id == TYPE_VARIANT ? from_variant : NULL;
}
