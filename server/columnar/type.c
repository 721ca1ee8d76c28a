#include "columnar/type.h"

#include "base/check.h"

#define SIMPLE(id_) [id_] = {.id = id_}

static const struct type simple_types[TYPE_ID_COUNT] = {
    SIMPLE(TYPE_VOID),
    SIMPLE(TYPE_BOOLEAN),
    SIMPLE(TYPE_BYTE),
    SIMPLE(TYPE_SHORT),
    SIMPLE(TYPE_INT),
    SIMPLE(TYPE_LONG),
    SIMPLE(TYPE_FLOAT),
    SIMPLE(TYPE_DOUBLE),
    [TYPE_DECIMAL] = {.id = TYPE_DECIMAL, .precision = 10, .scale = 0},
    SIMPLE(TYPE_STRING),
    SIMPLE(TYPE_BINARY),
    SIMPLE(TYPE_DATE),
    SIMPLE(TYPE_TIMESTAMP),
    SIMPLE(TYPE_TIMESTAMP_NTZ),
    [TYPE_TIME] = {.id = TYPE_TIME, .precision = 6},
    [TYPE_INTERVAL_DT] = {.id = TYPE_INTERVAL_DT,
                          .interval_from = INTERVAL_DAY,
                          .interval_to = INTERVAL_SECOND},
    [TYPE_INTERVAL_YM] = {.id = TYPE_INTERVAL_YM,
                          .interval_from = INTERVAL_YEAR,
                          .interval_to = INTERVAL_MONTH},
    SIMPLE(TYPE_INTERVAL),
    SIMPLE(TYPE_VARIANT),
    [TYPE_STRUCT] = {.id = TYPE_STRUCT},
};

const struct type *type_simple(enum type_id id)
{
    CHECK(id >= TYPE_VOID && id <= TYPE_STRUCT && id != TYPE_ARRAY && id != TYPE_MAP);
    return &simple_types[id];
}

static struct type *type_new(struct arena *arena, enum type_id id)
{
    struct type *type = arena_new_object(arena, sizeof(*type));
    type->id = id;
    return type;
}

const struct type *type_decimal(struct arena *arena, int precision, int scale)
{
    CHECK(precision >= 0 && precision <= DECIMAL_PRECISION_MAX);
    CHECK(scale >= 0 && scale <= precision);
    struct type *type = type_new(arena, TYPE_DECIMAL);
    type->precision = (uint8_t)precision;
    type->scale = (uint8_t)scale;
    return type;
}

const struct type *type_interval(struct arena *arena, enum interval_field from,
                                 enum interval_field to)
{
    CHECK(from <= to);
    CHECK((from <= INTERVAL_MONTH) == (to <= INTERVAL_MONTH));
    struct type *type =
        type_new(arena, from <= INTERVAL_MONTH ? TYPE_INTERVAL_YM : TYPE_INTERVAL_DT);
    type->interval_from = (uint8_t)from;
    type->interval_to = (uint8_t)to;
    return type;
}

const struct type *type_time(struct arena *arena, int precision)
{
    CHECK(precision >= 0 && precision <= 6);
    struct type *type = type_new(arena, TYPE_TIME);
    type->precision = (uint8_t)precision;
    return type;
}

const struct type *type_array(struct arena *arena, const struct type *element, bool nullable)
{
    CHECK(element != NULL);
    struct type *type = type_new(arena, TYPE_ARRAY);
    type->element = element;
    type->element_nullable = nullable;
    return type;
}

const struct type *type_map(struct arena *arena, const struct type *key, const struct type *value,
                            bool value_nullable)
{
    CHECK(key != NULL && value != NULL);
    struct type *type = type_new(arena, TYPE_MAP);
    type->key = key;
    type->element = value;
    type->element_nullable = value_nullable;
    return type;
}

const struct type *type_struct(struct arena *arena, const struct type_field *fields,
                               uint32_t field_count)
{
    CHECK(fields != NULL || field_count == 0);
    struct type *type = type_new(arena, TYPE_STRUCT);
    type->field_count = field_count;
    if (field_count > 0) {
        struct type_field *copy = arena_new_object(arena, field_count * sizeof(*copy));
        memcpy(copy, fields, field_count * sizeof(*copy));
        type->fields = copy;
    }
    return type;
}

static const struct type *clone_struct(struct arena *arena, const struct type *type)
{
    struct type *copy = type_new(arena, TYPE_STRUCT);
    struct type_field *fields =
        arena_new_object(arena, type->field_count * sizeof(*fields) + sizeof(*fields));
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = &type->fields[i];
        fields[i] = *field;
        fields[i].name = arena_strdup(arena, field->name);
        fields[i].type = type_clone(arena, field->type);
        if (field->comment != NULL)
            fields[i].comment = arena_strdup(arena, field->comment);
    }
    copy->fields = fields;
    copy->field_count = type->field_count;
    return copy;
}

const struct type *type_clone(struct arena *arena, const struct type *type)
{
    CHECK(type != NULL);
    if (type->id == TYPE_STRUCT)
        return clone_struct(arena, type);
    struct type *copy = type_new(arena, type->id);
    *copy = *type;
    if (type->key != NULL)
        copy->key = type_clone(arena, type->key);
    if (type->element != NULL)
        copy->element = type_clone(arena, type->element);
    return copy;
}

static bool types_equal(const struct type *a, const struct type *b, bool names)
{
    CHECK(a != NULL && b != NULL);
    if (a == b)
        return true;
    if (a->id != b->id || a->precision != b->precision || a->scale != b->scale ||
        a->interval_from != b->interval_from || a->interval_to != b->interval_to ||
        a->field_count != b->field_count)
        return false;
    if (a->key != NULL && !types_equal(a->key, b->key, names))
        return false;
    if (a->element != NULL && !types_equal(a->element, b->element, names))
        return false;
    for (uint32_t i = 0; i < a->field_count; i++) {
        if (names && strcmp(a->fields[i].name, b->fields[i].name) != 0)
            return false;
        if (!types_equal(a->fields[i].type, b->fields[i].type, names))
            return false;
    }
    return true;
}

bool type_equal(const struct type *a, const struct type *b)
{
    return types_equal(a, b, true);
}

bool type_equal_unnamed(const struct type *a, const struct type *b)
{
    return types_equal(a, b, false);
}

bool type_is_numeric(const struct type *type)
{
    return type->id >= TYPE_BYTE && type->id <= TYPE_DECIMAL;
}

bool type_is_integral(const struct type *type)
{
    return type->id >= TYPE_BYTE && type->id <= TYPE_LONG;
}

bool type_is_orderable(const struct type *type)
{
    if (type->id == TYPE_MAP || type->id == TYPE_INTERVAL || type->id == TYPE_VARIANT)
        return false;
    if (type->id == TYPE_ARRAY)
        return type_is_orderable(type->element);
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!type_is_orderable(type->fields[i].type))
            return false;
    return true;
}

bool type_is_nested(const struct type *type)
{
    return type->id >= TYPE_ARRAY;
}

size_t type_value_bytes(const struct type *type)
{
    switch (type->id) {
    case TYPE_VOID:
    case TYPE_STRUCT:
        return 0;
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
        return 1;
    case TYPE_SHORT:
        return 2;
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return 4;
    case TYPE_LONG:
    case TYPE_DOUBLE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        return 8;
    case TYPE_DECIMAL:
        return sizeof(int128);
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        return sizeof(struct bytes);
    case TYPE_INTERVAL:
        return 16; /* struct calendar_interval */
    case TYPE_ARRAY:
    case TYPE_MAP:
        return 8; /* struct list_entry */
    }
    CHECK(!"a type id outside the enum");
    return 0;
}
_Static_assert(sizeof(struct calendar_interval) == 16, "two ints and a long");
