/* Columns being filled from JSON: see json_column.h. */
#include "format/json_column.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

static uint32_t name_hash(struct bytes name)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < name.size_bytes; i++)
        hash = (hash ^ name.data[i]) * 16777619U;
    return hash;
}

void json_object_init(struct json_object *object, const struct type_field *fields, uint32_t count)
{
    uint32_t slots = 4;
    while (slots < count * 2)
        slots *= 2;
    *object = (struct json_object){
        .fields = fields,
        .field_count = count,
        .slots = heap_calloc(slots, sizeof(uint32_t)),
        .slot_mask = slots - 1,
        .literal_count = 1,
        .literals = heap_calloc(KEY_LITERALS_MAX, sizeof(struct key_literal)),
    };
    for (uint32_t i = 0; i < KEY_LITERALS_MAX; i++) {
        object->literals[i].mask_low = UINT32_MAX; /* more bytes than there are: no match */
        object->literals[i].next[0] = KEY_LITERAL_NONE;
        object->literals[i].next[1] = KEY_LITERAL_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = name_hash(bytes_of_text(fields[i].name)) & object->slot_mask;
        while (object->slots[slot] != 0)
            slot = (slot + 1) & object->slot_mask;
        object->slots[slot] = i + 1;
    }
}

void json_object_fini(struct json_object *object)
{
    free(object->slots);
    free(object->literals);
}

uint32_t json_object_find(const struct json_object *object, struct bytes name)
{
    uint32_t slot = name_hash(name) & object->slot_mask;
    for (; object->slots[slot] != 0; slot = (slot + 1) & object->slot_mask) {
        uint32_t field = object->slots[slot] - 1;
        if (bytes_equal(bytes_of_text(object->fields[field].name), name))
            return field;
    }
    return FIELD_NONE;
}

uint8_t json_object_learn(struct json_object *object, uint8_t before, struct bytes literal,
                          uint32_t field)
{
    if (literal.size_bytes > KEY_LITERAL_BYTES || object->literal_count == KEY_LITERAL_NONE)
        return KEY_LITERAL_NONE;
    uint8_t index = (uint8_t)object->literal_count++;
    struct key_literal *key = &object->literals[index];
    *key = (struct key_literal){
        .size_bytes = (uint8_t)literal.size_bytes,
        .next = {KEY_LITERAL_NONE, KEY_LITERAL_NONE},
        .field = field,
    };
    memcpy(key->text, literal.data, literal.size_bytes);
    uint64_t mask = (UINT64_C(1) << literal.size_bytes) - 1;
    key->mask_low = (uint32_t)(mask & 0xFFFF);
    key->mask_high = (uint32_t)(mask >> 16 & 0xFFFF);
    if (before != KEY_LITERAL_NONE) {
        object->literals[before].next[1] = object->literals[before].next[0];
        object->literals[before].next[0] = index;
    }
    return index;
}

static void allocate(struct json_column *column, uint32_t capacity)
{
    size_t cell = type_value_bytes(column->type);
    size_t old_words = validity_words(column->capacity);
    size_t words = validity_words(capacity);
    column->validity = heap_realloc(column->validity, words * sizeof(uint64_t));
    memset(column->validity + old_words, 0, (words - old_words) * sizeof(uint64_t));
    if (cell > 0) {
        column->values = heap_realloc(column->values, cell * capacity);
    }
    column->capacity = capacity;
    if (column->kind != TYPE_STRUCT)
        return;
    for (uint32_t i = 0; i < column->child_count; i++)
        allocate(&column->children[i], capacity);
}

#define CHILD_CAPACITY 64

void json_column_init(struct json_column *column, const struct type *type, uint32_t capacity)
{
    *column = (struct json_column){.type = type, .kind = type->id};
    if (type->id == TYPE_STRUCT) {
        column->child_count = type->field_count;
        json_object_init(&column->object, type->fields, type->field_count);
    } else if (type->id == TYPE_ARRAY || type->id == TYPE_MAP) {
        column->child_count = type->id == TYPE_MAP ? 2 : 1;
    }
    if (column->child_count > 0) {
        column->children = heap_calloc(column->child_count, sizeof *column->children);
    }
    for (uint32_t i = 0; i < column->child_count; i++) {
        const struct type *child = type->id == TYPE_STRUCT          ? type->fields[i].type
                                   : type->id == TYPE_MAP && i == 0 ? type->key
                                                                    : type->element;
        json_column_init(&column->children[i], child,
                         type->id == TYPE_STRUCT ? capacity : CHILD_CAPACITY);
    }
    allocate(column, capacity);
}

void json_column_fini(struct json_column *column)
{
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_fini(&column->children[i]);
    if (column->kind == TYPE_STRUCT)
        json_object_fini(&column->object);
    free(column->children);
    free(column->validity);
    free(column->values);
}

void json_column_reset(struct json_column *column, uint32_t rows)
{
    column->length = 0;
    memset(column->validity, 0, validity_words(rows) * sizeof(uint64_t));
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_reset(&column->children[i], column->kind == TYPE_STRUCT ? rows : 0);
}

void json_column_mark(struct json_column *column)
{
    column->mark = column->length;
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_mark(&column->children[i]);
}

void json_column_rewind(struct json_column *column)
{
    column->length = column->mark;
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_rewind(&column->children[i]);
}

void json_column_grow(struct json_column *column)
{
    if (column->length == column->capacity) {
        CHECK(column->capacity <= UINT32_MAX / 2);
        allocate(column, column->capacity * 2);
    }
    json_column_clear(column, column->length);
}

void json_column_clear_fields(struct json_column *column, uint32_t index)
{
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_clear(&column->children[i], index);
}

static bool all_valid(const uint64_t *validity, uint32_t rows)
{
    uint32_t word = 0;
    for (; (word + 1) * 64 <= rows; word++) {
        if (validity[word] != UINT64_MAX)
            return false;
    }
    uint32_t rest = rows - word * 64;
    uint64_t mask = ((uint64_t)1 << rest) - 1;
    return (validity[rest > 0 ? word : 0] & mask) == mask;
}

struct vector *json_column_vector(struct json_column *column, uint32_t rows, struct arena *batch)
{
    struct vector *vector = arena_new_object(batch, sizeof *vector);
    vector->type = column->type;
    vector->length = rows;
    vector->values = column->values;
    vector->validity = all_valid(column->validity, rows) ? NULL : column->validity;
    vector->child_count = column->child_count;
    if (column->child_count == 0)
        return vector;
    vector->children = arena_new_object(batch, column->child_count * sizeof *vector->children);
    for (uint32_t i = 0; i < column->child_count; i++) {
        struct json_column *child = &column->children[i];
        uint32_t length = column->kind == TYPE_STRUCT ? rows : child->length;
        vector->children[i] = json_column_vector(child, length, batch);
    }
    return vector;
}
