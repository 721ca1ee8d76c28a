/* Making VARIANT values: what is in arrays and objects is written first, their heads before it
 * when they end. */
#include "base/check.h"
#include "columnar/variant.h"

#include <stdlib.h>

/* A part of an array or object that is open. */
struct variant_slot {
    uint32_t name; /* id; arrays: none */
    uint32_t order;
    size_t value_at;
    struct bytes text; /* of the name, while sorting */
};

static void add_number(struct buffer *out, uint64_t value, size_t size)
{
    uint8_t *to = buffer_reserve(out, size);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    out->size_bytes += size;
}

static size_t width_of(uint64_t value)
{
    return value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : value <= 0xFFFFFF ? 3 : 4;
}

void variant_builder_fini(struct variant_builder *builder)
{
    buffer_fini(&builder->value);
    buffer_fini(&builder->names);
    buffer_fini(&builder->ends);
    buffer_fini(&builder->table);
    buffer_fini(&builder->parts);
    buffer_fini(&builder->cell);
}

void variant_builder_clear(struct variant_builder *builder)
{
    buffer_clear(&builder->value);
    buffer_clear(&builder->names);
    buffer_clear(&builder->ends);
    buffer_clear(&builder->table);
    buffer_clear(&builder->parts);
}

/* ---- values ---- */

static void add_head(struct variant_builder *builder, unsigned primitive)
{
    buffer_add_byte(&builder->value, (uint8_t)(primitive << 2));
}

void variant_add_null(struct variant_builder *builder)
{
    add_head(builder, 0);
}

void variant_add_boolean(struct variant_builder *builder, bool value)
{
    add_head(builder, value ? 1 : 2);
}

void variant_add_long(struct variant_builder *builder, int64_t value)
{
    int order = value == (int8_t)value    ? 0
                : value == (int16_t)value ? 1
                : value == (int32_t)value ? 2
                                          : 3;
    add_head(builder, 3 + (unsigned)order);
    add_number(&builder->value, (uint64_t)value, (size_t)1 << order);
}

void variant_add_double(struct variant_builder *builder, double value)
{
    add_head(builder, 7);
    buffer_add(&builder->value, &value, sizeof(value));
}

void variant_add_float(struct variant_builder *builder, float value)
{
    add_head(builder, 14);
    buffer_add(&builder->value, &value, sizeof(value));
}

void variant_add_decimal(struct variant_builder *builder, struct decimal value)
{
    int digits = decimal_digits(value.unscaled);
    digits = digits > value.scale ? digits : value.scale;
    add_head(builder, digits <= 9 ? 8 : digits <= 18 ? 9 : 10);
    buffer_add_byte(&builder->value, (uint8_t)value.scale);
    if (digits <= 18)
        add_number(&builder->value, (uint64_t)value.unscaled, digits <= 9 ? 4 : 8);
    else
        buffer_add(&builder->value, &value.unscaled, sizeof(value.unscaled));
}

static void add_text(struct variant_builder *builder, unsigned primitive, struct bytes text)
{
    add_head(builder, primitive);
    add_number(&builder->value, text.size_bytes, 4);
    buffer_add_bytes(&builder->value, text);
}

void variant_add_string(struct variant_builder *builder, struct bytes text)
{
    if (text.size_bytes >= 64) {
        add_text(builder, 16, text);
        return;
    }
    buffer_add_byte(&builder->value, (uint8_t)(text.size_bytes << 2 | 1));
    buffer_add_bytes(&builder->value, text);
}

void variant_add_binary(struct variant_builder *builder, struct bytes data)
{
    add_text(builder, 15, data);
}

void variant_add_date(struct variant_builder *builder, int32_t days)
{
    add_head(builder, 11);
    add_number(&builder->value, (uint64_t)days, 4);
}

void variant_add_timestamp(struct variant_builder *builder, int64_t us, bool ntz)
{
    add_head(builder, ntz ? 13 : 12);
    add_number(&builder->value, (uint64_t)us, 8);
}

/* ---- names ---- */

static uint32_t hash_of(struct bytes name)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < name.size_bytes; i++)
        hash = (hash ^ name.data[i]) * 16777619U;
    return hash ^ hash >> 15;
}

static uint32_t name_count(const struct variant_builder *builder)
{
    return (uint32_t)(builder->ends.size_bytes / sizeof(uint32_t));
}

static uint32_t end_of_name(const struct variant_builder *builder, uint32_t id)
{
    uint32_t end;
    memcpy(&end, builder->ends.data + id * sizeof(end), sizeof(end));
    return end;
}

static struct bytes name_text(const struct variant_builder *builder, uint32_t id)
{
    uint32_t start = id == 0 ? 0 : end_of_name(builder, id - 1);
    return bytes_of(builder->names.data + start, end_of_name(builder, id) - start);
}

/* The place in the table of the name, or of the free slot for it. */
static uint32_t *table_slot(const struct variant_builder *builder, struct bytes name)
{
    uint32_t *table = (uint32_t *)(void *)builder->table.data;
    uint32_t mask = (uint32_t)(builder->table.size_bytes / sizeof(uint32_t)) - 1;
    uint32_t at = hash_of(name) & mask;
    while (table[at] != 0 && !bytes_equal(name_text(builder, table[at] - 1), name))
        at = (at + 1) & mask;
    return &table[at];
}

static void grow_table(struct variant_builder *builder)
{
    size_t slots = builder->table.size_bytes / sizeof(uint32_t);
    uint32_t count = name_count(builder);
    if (slots > 2 * ((size_t)count + 1))
        return;
    slots = slots == 0 ? 16 : slots * 2;
    buffer_clear(&builder->table);
    memset(buffer_reserve(&builder->table, slots * sizeof(uint32_t)), 0, slots * sizeof(uint32_t));
    builder->table.size_bytes = slots * sizeof(uint32_t);
    for (uint32_t id = 0; id < count; id++)
        *table_slot(builder, name_text(builder, id)) = id + 1;
}

static uint32_t name_id(struct variant_builder *builder, struct bytes name)
{
    grow_table(builder);
    uint32_t *slot = table_slot(builder, name);
    if (*slot == 0) {
        buffer_add_bytes(&builder->names, name);
        uint32_t end = (uint32_t)builder->names.size_bytes;
        buffer_add(&builder->ends, &end, sizeof(end));
        *slot = name_count(builder);
    }
    return *slot - 1;
}

/* ---- arrays and objects ---- */

struct variant_mark variant_begin(const struct variant_builder *builder)
{
    return (struct variant_mark){builder->value.size_bytes, builder->parts.size_bytes};
}

static void next_part(struct variant_builder *builder, uint32_t name)
{
    struct variant_slot slot = {.name = name,
                                .order = (uint32_t)(builder->parts.size_bytes / sizeof(slot)),
                                .value_at = builder->value.size_bytes};
    buffer_add(&builder->parts, &slot, sizeof(slot));
}

void variant_next_element(struct variant_builder *builder)
{
    next_part(builder, 0);
}

void variant_next_field(struct variant_builder *builder, struct bytes name)
{
    next_part(builder, name_id(builder, name));
}

/* Writes the head before the parts, which are from mark.value_at on. */
static void end_parts(struct variant_builder *builder, struct variant_mark mark,
                      const struct variant_slot *slots, size_t count, bool object)
{
    size_t data_size = builder->value.size_bytes - mark.value_at;
    size_t offset_size = width_of(data_size);
    uint32_t id_max = 0;
    for (size_t i = 0; i < count; i++)
        id_max = slots[i].name > id_max ? slots[i].name : id_max;
    size_t id_size = object ? width_of(id_max) : 0;
    bool large = count > UINT8_MAX;
    size_t head = 1 + (large ? 4U : 1U) + count * id_size + (count + 1) * offset_size;
    (void)buffer_reserve(&builder->value, head);
    uint8_t *data = builder->value.data + mark.value_at;
    memmove(data + head, data, data_size);
    builder->value.size_bytes = mark.value_at;
    unsigned info = (unsigned)offset_size - 1;
    info |= object ? (unsigned)(id_size - 1) << 2 | (unsigned)large << 4 : (unsigned)large << 2;
    buffer_add_byte(&builder->value, (uint8_t)(info << 2 | (object ? 2 : 3)));
    add_number(&builder->value, count, large ? 4 : 1);
    for (size_t i = 0; object && i < count; i++)
        add_number(&builder->value, slots[i].name, id_size);
    for (size_t i = 0; i < count; i++)
        add_number(&builder->value, slots[i].value_at - mark.value_at, offset_size);
    add_number(&builder->value, data_size, offset_size);
    builder->value.size_bytes += data_size;
    builder->parts.size_bytes = mark.parts_at;
}

static struct variant_slot *open_slots(const struct variant_builder *builder,
                                       struct variant_mark mark, size_t *count)
{
    CHECK(mark.parts_at <= builder->parts.size_bytes);
    *count = (builder->parts.size_bytes - mark.parts_at) / sizeof(struct variant_slot);
    return *count == 0 ? NULL
                       : (struct variant_slot *)(void *)(builder->parts.data + mark.parts_at);
}

void variant_end_array(struct variant_builder *builder, struct variant_mark mark)
{
    size_t count;
    const struct variant_slot *slots = open_slots(builder, mark, &count);
    end_parts(builder, mark, slots, count, false);
}

static int compare_slots(const void *left, const void *right)
{
    const struct variant_slot *a = left;
    const struct variant_slot *b = right;
    size_t common =
        a->text.size_bytes < b->text.size_bytes ? a->text.size_bytes : b->text.size_bytes;
    int order = common == 0 ? 0 : memcmp(a->text.data, b->text.data, common);
    if (order == 0)
        order =
            (a->text.size_bytes > b->text.size_bytes) - (a->text.size_bytes < b->text.size_bytes);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

bool variant_end_object(struct variant_builder *builder, struct variant_mark mark,
                        struct bytes *repeated)
{
    size_t count;
    struct variant_slot *slots = open_slots(builder, mark, &count);
    for (size_t i = 0; i < count; i++)
        slots[i].text = name_text(builder, slots[i].name);
    if (count > 1)
        qsort(slots, count, sizeof(*slots), compare_slots);
    size_t kept = 0;
    bool once = true;
    for (size_t i = 0; i < count; i++) {
        bool again = kept > 0 && slots[kept - 1].name == slots[i].name;
        if (again && once)
            *repeated = slots[i].text;
        once = once && !again;
        if (again)
            kept--;
        slots[kept++] = slots[i];
    }
    end_parts(builder, mark, slots, kept, true);
    return once;
}

static void add_within(struct variant_builder *builder, const struct variant *variant, int depth);

static void add_parts(struct variant_builder *builder, const struct variant *variant,
                      const struct variant_item *item, int depth)
{
    struct variant_mark mark = variant_begin(builder);
    struct variant part;
    struct bytes name;
    bool object = item->kind == VARIANT_OBJECT;
    for (uint32_t i = 0; i < item->count; i++) {
        if (!variant_part(variant, item, i, object ? &name : NULL, &part))
            break;
        if (object)
            variant_next_field(builder, name);
        else
            variant_next_element(builder);
        add_within(builder, &part, depth + 1);
    }
    if (object)
        (void)variant_end_object(builder, mark, &name);
    else
        variant_end_array(builder, mark);
}

static void add_scalar(struct variant_builder *builder, const struct variant_item *item)
{
    switch (item->kind) {
    case VARIANT_BOOLEAN:
        variant_add_boolean(builder, item->integer != 0);
        break;
    case VARIANT_LONG:
        variant_add_long(builder, item->integer);
        break;
    case VARIANT_DOUBLE:
        variant_add_double(builder, item->real);
        break;
    case VARIANT_FLOAT:
        variant_add_float(builder, (float)item->real);
        break;
    case VARIANT_DECIMAL:
        variant_add_decimal(builder, item->decimal);
        break;
    case VARIANT_STRING:
        variant_add_string(builder, item->text);
        break;
    case VARIANT_BINARY:
        variant_add_binary(builder, item->text);
        break;
    case VARIANT_DATE:
        variant_add_date(builder, (int32_t)item->integer);
        break;
    case VARIANT_TIMESTAMP:
    case VARIANT_TIMESTAMP_NTZ:
        variant_add_timestamp(builder, item->integer, item->kind == VARIANT_TIMESTAMP_NTZ);
        break;
    case VARIANT_NULL:
    case VARIANT_ARRAY:
    case VARIANT_OBJECT:
        variant_add_null(builder);
        break;
    }
}

static void add_within(struct variant_builder *builder, const struct variant *variant, int depth)
{
    struct variant_item item;
    variant_read(variant, &item);
    bool nested = item.kind == VARIANT_ARRAY || item.kind == VARIANT_OBJECT;
    if (nested && depth <= VARIANT_DEPTH_MAX)
        add_parts(builder, variant, &item, depth);
    else
        add_scalar(builder, &item);
}

void variant_add(struct variant_builder *builder, const struct variant *variant)
{
    add_within(builder, variant, 0);
}

bool variant_finish(struct variant_builder *builder, struct bytes *out)
{
    struct buffer *cell = &builder->cell;
    uint32_t count = name_count(builder);
    CHECK(builder->parts.size_bytes == 0);
    size_t largest = builder->names.size_bytes > count ? builder->names.size_bytes : count;
    if (largest > VARIANT_BYTES_MAX || builder->value.size_bytes > VARIANT_BYTES_MAX)
        return false;
    size_t width = width_of(largest);
    buffer_clear(cell);
    buffer_add_byte(cell, (uint8_t)((width - 1) << 6 | 1));
    add_number(cell, count, width);
    add_number(cell, 0, width);
    for (uint32_t id = 0; id < count; id++)
        add_number(cell, end_of_name(builder, id), width);
    buffer_add_bytes(cell, buffer_bytes(&builder->names));
    buffer_add_bytes(cell, buffer_bytes(&builder->value));
    *out = buffer_bytes(cell);
    return true;
}
