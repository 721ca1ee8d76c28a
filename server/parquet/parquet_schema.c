/* Types to schema elements and leaves: see parquet_schema.h. */
#include "parquet/parquet_schema.h"

#include "base/check.h"
#include "parquet/thrift.h"

#define NOTHING         (-1)
#define VARIANT_VERSION 1 /* of its specification */

enum repetition {
    REQUIRED = 0,
    OPTIONAL = 1,
    REPEATED = 2,
};

/* Members of the unions LogicalType and TimeUnit, and the older ConvertedType. */
enum {
    LOGICAL_STRING = 1,
    LOGICAL_MAP = 2,
    LOGICAL_LIST = 3,
    LOGICAL_DECIMAL = 5,
    LOGICAL_DATE = 6,
    LOGICAL_TIME = 7,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_INTEGER = 10,
    LOGICAL_UNKNOWN = 11,
    LOGICAL_VARIANT = 16,
    UNIT_MILLIS = 1,
    UNIT_MICROS = 2,
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_LIST = 3,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_INT_8 = 15,
    CONVERTED_INT_16 = 16,
};

struct builder {
    struct arena *arena;
    enum parquet_timestamps timestamps;
    struct parquet_schema *schema;
    struct buffer elements;
    struct parquet_step steps[PARQUET_LEVEL_MAX];
    uint32_t step_count;
    const char *path[2 * PARQUET_LEVEL_MAX + 2];
    uint32_t path_count;
    struct parquet_schema_error error;
};

/* What a leaf is in the file. */
struct leaf_kind {
    enum parquet_type type;
    enum parquet_form form;
    uint32_t width;
    int converted; /* or NOTHING */
    int logical;
    int unit; /* of LOGICAL_TIMESTAMP, LOGICAL_TIME */
    bool utc;
    uint8_t bits; /* of LOGICAL_INTEGER */
};

static bool refuse(struct builder *builder, enum parquet_schema_result result, const char *name)
{
    builder->error.result = result;
    builder->error.name = name;
    return false;
}

static struct leaf_kind plain(enum parquet_type type, enum parquet_form form, uint32_t width)
{
    return (struct leaf_kind){
        .type = type, .form = form, .width = width, .converted = NOTHING, .logical = NOTHING};
}

static struct leaf_kind annotated(struct leaf_kind kind, int logical, int converted)
{
    kind.logical = logical;
    kind.converted = converted;
    return kind;
}

static struct leaf_kind of_time(enum parquet_form form, int logical, int converted, bool utc)
{
    struct leaf_kind kind = annotated(plain(PARQUET_INT64, form, 8), logical, converted);
    kind.unit = converted == CONVERTED_TIMESTAMP_MILLIS ? UNIT_MILLIS : UNIT_MICROS;
    kind.utc = utc;
    return kind;
}

static struct leaf_kind of_timestamp(enum parquet_timestamps timestamps)
{
    switch (timestamps) {
    case PARQUET_TIMESTAMPS_MICROS:
        return of_time(FORM_COPY8, LOGICAL_TIMESTAMP, CONVERTED_TIMESTAMP_MICROS, true);
    case PARQUET_TIMESTAMPS_MILLIS:
        return of_time(FORM_MILLIS, LOGICAL_TIMESTAMP, CONVERTED_TIMESTAMP_MILLIS, true);
    case PARQUET_TIMESTAMPS_INT96:
        break;
    }
    return plain(PARQUET_INT96, FORM_INT96, 12);
}

static struct leaf_kind of_decimal(const struct type *type)
{
    struct leaf_kind kind = plain(PARQUET_FIXED, FORM_DECIMAL, 9);
    if (type->precision <= 9)
        kind = plain(PARQUET_INT32, FORM_DECIMAL4, 4);
    else if (type->precision <= 18)
        kind = plain(PARQUET_INT64, FORM_DECIMAL8, 8);
    else { /* the bytes that hold 10^precision - 1 and a sign */
        int128 limit = 1, digits = 1;
        for (int i = 0; i < type->precision; i++)
            digits *= 10;
        for (kind.width = 1; limit <= (digits - 1) >> 7; kind.width++)
            limit <<= 8;
    }
    return annotated(kind, LOGICAL_DECIMAL, CONVERTED_DECIMAL);
}

static struct leaf_kind of_integer(enum parquet_form form, uint8_t bits, int converted)
{
    struct leaf_kind kind = annotated(plain(PARQUET_INT32, form, 4), LOGICAL_INTEGER, converted);
    kind.bits = bits;
    return kind;
}

/* False: the type is no leaf. */
static bool leaf_kind(const struct type *type, enum parquet_timestamps timestamps,
                      struct leaf_kind *out)
{
    switch (type->id) {
    case TYPE_VOID:
        *out = annotated(plain(PARQUET_BOOLEAN, FORM_VOID, 0), LOGICAL_UNKNOWN, NOTHING);
        return true;
    case TYPE_BOOLEAN:
        *out = plain(PARQUET_BOOLEAN, FORM_BOOLEAN, 0);
        return true;
    case TYPE_BYTE:
        *out = of_integer(FORM_INT8, 8, CONVERTED_INT_8);
        return true;
    case TYPE_SHORT:
        *out = of_integer(FORM_INT16, 16, CONVERTED_INT_16);
        return true;
    case TYPE_INT:
    case TYPE_INTERVAL_YM:
        *out = plain(PARQUET_INT32, FORM_COPY4, 4);
        return true;
    case TYPE_LONG:
    case TYPE_INTERVAL_DT:
        *out = plain(PARQUET_INT64, FORM_COPY8, 8);
        return true;
    case TYPE_FLOAT:
        *out = plain(PARQUET_FLOAT, FORM_COPY4, 4);
        return true;
    case TYPE_DOUBLE:
        *out = plain(PARQUET_DOUBLE, FORM_COPY8, 8);
        return true;
    case TYPE_DECIMAL:
        *out = of_decimal(type);
        return true;
    case TYPE_STRING:
        *out = annotated(plain(PARQUET_BYTES, FORM_BYTES, 0), LOGICAL_STRING, CONVERTED_UTF8);
        return true;
    case TYPE_BINARY:
        *out = plain(PARQUET_BYTES, FORM_BYTES, 0);
        return true;
    case TYPE_DATE:
        *out = annotated(plain(PARQUET_INT32, FORM_COPY4, 4), LOGICAL_DATE, CONVERTED_DATE);
        return true;
    case TYPE_TIMESTAMP:
        *out = of_timestamp(timestamps);
        return true;
    case TYPE_TIMESTAMP_NTZ:
        *out = of_time(FORM_COPY8, LOGICAL_TIMESTAMP, CONVERTED_TIMESTAMP_MICROS, false);
        return true;
    case TYPE_TIME:
        *out = of_time(FORM_MICROS, LOGICAL_TIME, CONVERTED_TIME_MICROS, false);
        return true;
    case TYPE_INTERVAL:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        break;
    }
    return false;
}

static void put_logical(struct thrift *thrift, const struct leaf_kind *kind,
                        const struct type *type)
{
    thrift_struct(thrift, 10);
    thrift_struct(thrift, (int16_t)kind->logical);
    if (kind->logical == LOGICAL_DECIMAL) {
        thrift_i32(thrift, 1, type->scale);
        thrift_i32(thrift, 2, type->precision);
    } else if (kind->logical == LOGICAL_INTEGER) {
        thrift_i8(thrift, 1, (int8_t)kind->bits);
        thrift_bool(thrift, 2, true);
    } else if (kind->logical == LOGICAL_VARIANT) {
        thrift_i8(thrift, 1, VARIANT_VERSION);
    } else if (kind->logical == LOGICAL_TIME || kind->logical == LOGICAL_TIMESTAMP) {
        thrift_bool(thrift, 1, kind->utc);
        thrift_struct(thrift, 2);
        thrift_struct(thrift, (int16_t)kind->unit);
        thrift_end(thrift);
        thrift_end(thrift);
    }
    thrift_end(thrift);
    thrift_end(thrift);
}

static void put_leaf_element(struct builder *builder, const struct leaf_kind *kind,
                             enum repetition repetition, const char *name, const struct type *type)
{
    struct thrift thrift = thrift_to(&builder->elements);
    thrift_i32(&thrift, 1, (int32_t)kind->type);
    if (kind->type == PARQUET_FIXED)
        thrift_i32(&thrift, 2, (int32_t)kind->width);
    thrift_i32(&thrift, 3, (int32_t)repetition);
    thrift_text(&thrift, 4, name);
    if (kind->converted != NOTHING)
        thrift_i32(&thrift, 6, kind->converted);
    if (kind->logical == LOGICAL_DECIMAL) {
        thrift_i32(&thrift, 7, type->scale);
        thrift_i32(&thrift, 8, type->precision);
    }
    if (kind->logical != NOTHING)
        put_logical(&thrift, kind, type);
    thrift_end(&thrift);
    builder->schema->element_count++;
}

static void put_group(struct builder *builder, enum repetition repetition, const char *name,
                      uint32_t children, const struct leaf_kind *kind)
{
    struct thrift thrift = thrift_to(&builder->elements);
    thrift_i32(&thrift, 3, (int32_t)repetition);
    thrift_text(&thrift, 4, name);
    thrift_i32(&thrift, 5, (int32_t)children);
    if (kind->converted != NOTHING)
        thrift_i32(&thrift, 6, kind->converted);
    if (kind->logical != NOTHING)
        put_logical(&thrift, kind, NULL);
    thrift_end(&thrift);
    builder->schema->element_count++;
}

static struct parquet_leaf *new_leaf(struct parquet_schema *schema, struct arena *arena)
{
    if (schema->leaf_count == schema->leaf_capacity) {
        uint32_t capacity = schema->leaf_capacity == 0 ? 16 : schema->leaf_capacity * 2;
        struct parquet_leaf *leaves = arena_new_object(arena, capacity * sizeof *leaves);
        if (schema->leaf_count > 0)
            memcpy(leaves, schema->leaves, schema->leaf_count * sizeof *leaves);
        schema->leaves = leaves;
        schema->leaf_capacity = capacity;
    }
    return &schema->leaves[schema->leaf_count++];
}

static bool add_leaf(struct builder *builder, const struct leaf_kind *kind)
{
    struct arena *arena = builder->arena;
    uint32_t definition = 0, repetition = 0;
    for (uint32_t i = 0; i < builder->step_count; i++) {
        repetition += builder->steps[i].repeated ? 1U : 0U;
        definition += builder->steps[i].repeated ? 1U : 0U;
        definition += builder->steps[i].optional ? 1U : 0U;
    }
    if (definition > PARQUET_LEVEL_MAX)
        return refuse(builder, PARQUET_SCHEMA_TOO_DEEP, NULL);
    size_t steps_size = builder->step_count * sizeof builder->steps[0];
    size_t path_size = builder->path_count * sizeof builder->path[0];
    struct parquet_step *steps = arena_new_object(arena, steps_size);
    const char **path = arena_new_object(arena, path_size);
    memcpy(steps, builder->steps, steps_size);
    memcpy(path, builder->path, path_size);
    *new_leaf(builder->schema, arena) = (struct parquet_leaf){
        .type = kind->type,
        .form = kind->form,
        .width = kind->width,
        .definition_max = (uint8_t)definition,
        .repetition_max = (uint8_t)repetition,
        .steps = steps,
        .step_count = builder->step_count,
        .path = path,
        .path_count = builder->path_count,
    };
    return true;
}

static bool add_node(struct builder *builder, const char *name, const struct type *type,
                     struct parquet_step step);

static bool add_variant(struct builder *builder, const char *name, enum repetition repetition)
{
    static const struct {
        const char *name;
        enum parquet_form form;
    } parts[] = {{"metadata", FORM_VARIANT_METADATA}, {"value", FORM_VARIANT_VALUE}};
    struct leaf_kind group =
        annotated(plain(PARQUET_BYTES, FORM_BYTES, 0), LOGICAL_VARIANT, NOTHING);
    put_group(builder, repetition, name, 2, &group);
    for (size_t i = 0; i < 2; i++) {
        struct leaf_kind kind = plain(PARQUET_BYTES, parts[i].form, 0);
        put_leaf_element(builder, &kind, REQUIRED, parts[i].name, NULL);
        builder->path[builder->path_count++] = parts[i].name;
        if (!add_leaf(builder, &kind))
            return false;
        builder->path_count--;
    }
    return true;
}

static bool add_list(struct builder *builder, const char *name, const struct type *type,
                     enum repetition repetition)
{
    bool map = type->id == TYPE_MAP;
    const char *middle = map ? "key_value" : "list";
    struct leaf_kind none = plain(PARQUET_BYTES, FORM_BYTES, 0);
    struct leaf_kind group = map ? annotated(none, LOGICAL_MAP, CONVERTED_MAP)
                                 : annotated(none, LOGICAL_LIST, CONVERTED_LIST);
    put_group(builder, repetition, name, 1, &group);
    put_group(builder, REPEATED, middle, map ? 2 : 1, &none);
    builder->path[builder->path_count++] = middle;
    struct parquet_step first = {.repeated = true, .optional = !map, .child = 0};
    struct parquet_step second = {.repeated = true, .optional = true, .child = 1};
    bool ok = map ? add_node(builder, "key", type->key, first) &&
                        add_node(builder, "value", type->element, second)
                  : add_node(builder, "element", type->element, first);
    builder->path_count--;
    return ok;
}

/* Column 0 of the file's root is at the top. */
static bool add_fields(struct builder *builder, const struct type *type, bool top)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const char *name = type->fields[i].name;
        if (top)
            builder->error.column = i;
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(type->fields[j].name, name) == 0)
                return refuse(builder, PARQUET_SCHEMA_REPEATED_NAME, name);
        struct parquet_step step = {.optional = true, .child = i};
        if (!add_node(builder, name, type->fields[i].type, step))
            return false;
    }
    return true;
}

/* One level of types is one step: so deep may this go. */
static bool add_node(struct builder *builder, const char *name, const struct type *type,
                     struct parquet_step step)
{
    if (builder->step_count + 1 >= PARQUET_LEVEL_MAX)
        return refuse(builder, PARQUET_SCHEMA_TOO_DEEP, NULL);
    enum repetition repetition = step.optional ? OPTIONAL : REQUIRED;
    builder->steps[builder->step_count++] = step;
    builder->path[builder->path_count++] = name;
    struct leaf_kind kind;
    struct leaf_kind none = plain(PARQUET_BYTES, FORM_BYTES, 0);
    bool ok = true;
    if (leaf_kind(type, builder->timestamps, &kind)) {
        put_leaf_element(builder, &kind, repetition, name, type);
        ok = add_leaf(builder, &kind);
    } else if (type->id == TYPE_VARIANT) {
        ok = add_variant(builder, name, repetition);
    } else if (type->id == TYPE_ARRAY || type->id == TYPE_MAP) {
        ok = add_list(builder, name, type, repetition);
    } else if (type->id == TYPE_STRUCT && type->field_count > 0) {
        put_group(builder, repetition, name, type->field_count, &none);
        ok = add_fields(builder, type, false);
    } else {
        ok = refuse(builder, PARQUET_SCHEMA_NO_SUCH_TYPE, name);
    }
    builder->path_count--;
    builder->step_count--;
    return ok;
}

struct parquet_schema_error parquet_schema_build(struct arena *arena, const struct type *type,
                                                 enum parquet_timestamps timestamps,
                                                 struct parquet_schema *out)
{
    CHECK(type->id == TYPE_STRUCT);
    struct builder builder = {.arena = arena, .timestamps = timestamps, .schema = out};
    *out = (struct parquet_schema){.type = type};
    struct thrift thrift = thrift_to(&builder.elements);
    thrift_text(&thrift, 4, "spark_schema");
    thrift_i32(&thrift, 5, (int32_t)type->field_count);
    thrift_end(&thrift);
    out->element_count = 1;
    if (add_fields(&builder, type, true))
        out->elements = arena_copy(arena, buffer_bytes(&builder.elements));
    buffer_fini(&builder.elements);
    return builder.error;
}
