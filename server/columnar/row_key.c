#include "columnar/row_key.h"

#include "base/check.h"
#include "base/heap.h"
#include "columnar/row_key_flat.h"

#include <stdlib.h>

enum {
    LIST_END = 0x01,
    LIST_MORE = 0x02,
};

/* ---- fixed-width values as order-preserving big-endian bytes ---- */

static void put_be(struct buffer *out, uint64_t value, size_t width)
{
    uint8_t *to = buffer_reserve(out, width);
    for (size_t i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    out->size_bytes += width;
}

static void put_signed(struct buffer *out, int64_t value, size_t width)
{
    put_be(out, (uint64_t)value ^ (uint64_t)1 << (8 * width - 1), width);
}

static void put_text(struct buffer *out, struct bytes text)
{
    uint8_t *to = buffer_reserve(out, 2 * text.size_bytes + 2);
    const uint8_t *zero = text.size_bytes == 0 ? NULL : memchr(text.data, 0, text.size_bytes);
    if (zero == NULL) {
        if (text.size_bytes != 0)
            memcpy(to, text.data, text.size_bytes);
        to += text.size_bytes;
    } else {
        for (size_t i = 0; i < text.size_bytes; i++) {
            *to++ = text.data[i];
            if (text.data[i] == 0)
                *to++ = 0xff;
        }
    }
    *to++ = 0;
    *to++ = 0;
    out->size_bytes = (size_t)(to - out->data);
}

/* ---- encoding ---- */

static void put_cell(struct buffer *out, const struct vector *vector, uint32_t row);

struct map_order {
    const struct vector *keys;
    uint32_t row;
};

static int map_order_compare(const void *left, const void *right)
{
    const struct map_order *a = left;
    const struct map_order *b = right;
    return vector_compare(a->keys, a->row, b->keys, b->row);
}

static void put_map(struct buffer *out, const struct vector *vector, struct list_entry entry)
{
    const struct vector *keys = vector->children[0];
    struct map_order *order = heap_calloc(entry.length + 1U, sizeof *order);
    for (uint32_t i = 0; i < entry.length; i++)
        order[i] = (struct map_order){.keys = keys, .row = entry.offset + i};
    qsort(order, entry.length, sizeof *order, map_order_compare);
    for (uint32_t i = 0; i < entry.length; i++) {
        buffer_add_byte(out, LIST_MORE);
        put_cell(out, keys, order[i].row);
        put_cell(out, vector->children[1], order[i].row);
    }
    free(order);
    buffer_add_byte(out, LIST_END);
}

static void put_array(struct buffer *out, const struct vector *vector, struct list_entry entry)
{
    for (uint32_t i = 0; i < entry.length; i++) {
        buffer_add_byte(out, LIST_MORE);
        put_cell(out, vector->children[0], entry.offset + i);
    }
    buffer_add_byte(out, LIST_END);
}

static void put_interval(struct buffer *out, struct calendar_interval interval)
{
    put_signed(out, interval.months, 4);
    put_signed(out, interval.days, 4);
    put_signed(out, interval.micros, 8);
}

static void put_value(struct buffer *out, const struct vector *vector, uint32_t at)
{
    switch (vector->type->id) {
    case TYPE_VOID:
        break;
    case TYPE_BOOLEAN:
        put_be(out, VECTOR_VALUES(uint8_t, vector)[at], 1);
        break;
    case TYPE_BYTE:
        put_signed(out, VECTOR_VALUES(int8_t, vector)[at], 1);
        break;
    case TYPE_SHORT:
        put_signed(out, VECTOR_VALUES(int16_t, vector)[at], 2);
        break;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        put_signed(out, VECTOR_VALUES(int32_t, vector)[at], 4);
        break;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        put_signed(out, VECTOR_VALUES(int64_t, vector)[at], 8);
        break;
    case TYPE_FLOAT:
        put_be(out, row_key_float_bits(VECTOR_VALUES(float, vector)[at]), 4);
        break;
    case TYPE_DOUBLE:
        put_be(out, row_key_double_bits(VECTOR_VALUES(double, vector)[at]), 8);
        break;
    case TYPE_DECIMAL: {
        int128 value = VECTOR_VALUES(int128, vector)[at];
        put_signed(out, (int64_t)(value >> 64), 8);
        put_be(out, (uint64_t)value, 8);
        break;
    }
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        put_text(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_INTERVAL:
        put_interval(out, VECTOR_VALUES(struct calendar_interval, vector)[at]);
        break;
    case TYPE_ARRAY:
        put_array(out, vector, VECTOR_VALUES(struct list_entry, vector)[at]);
        break;
    case TYPE_MAP:
        put_map(out, vector, VECTOR_VALUES(struct list_entry, vector)[at]);
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < vector->child_count; i++)
            put_cell(out, vector->children[i], at);
        break;
    }
}

static void put_cell(struct buffer *out, const struct vector *vector, uint32_t row)
{
    if (vector_is_null(vector, row)) {
        buffer_add_byte(out, CELL_NULL);
        return;
    }
    buffer_add_byte(out, CELL_VALUE);
    put_value(out, vector, vector_index(vector, row));
}

enum status row_key_encode(struct arena *arena, struct vector *const *columns,
                           uint32_t column_count, const uint16_t *selection, uint32_t selected,
                           struct bytes *keys, struct error *err)
{
    struct buffer out = {0};
    if (row_key_is_flat(columns, column_count))
        return row_key_encode_flat(arena, columns, column_count, selection, selected, keys, err);
    for (uint32_t i = 0; i < selected; i++) {
        size_t start = out.size_bytes;
        uint32_t row = selection == NULL ? i : selection[i];
        for (uint32_t c = 0; c < column_count; c++)
            put_cell(&out, columns[c], row);
        keys[i].size_bytes = out.size_bytes - start;
    }
    void *memory = NULL;
    enum status status = row_key_check(keys, selected, out.size_bytes, err);
    if (status == OK)
        status = arena_alloc_raw(arena, 1, out.size_bytes + 1, &memory, err);
    if (status == OK) {
        uint8_t *at = memory;
        if (out.size_bytes != 0)
            memcpy(at, out.data, out.size_bytes);
        for (uint32_t i = 0; i < selected; i++) {
            keys[i].data = at;
            at += keys[i].size_bytes;
        }
    }
    buffer_fini(&out);
    return status;
}

/* ---- decoding ---- */

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static uint64_t get_be(struct reader *in, size_t width)
{
    if ((size_t)(in->end - in->at) < width) {
        in->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | *in->at++;
    return value;
}

static int64_t get_signed(struct reader *in, size_t width)
{
    uint64_t value = get_be(in, width) ^ (uint64_t)1 << (8 * width - 1);
    unsigned shift = (unsigned)(64 - 8 * width);
    return (int64_t)(value << shift) >> shift;
}

static double get_double(struct reader *in)
{
    uint64_t bits = get_be(in, 8);
    bits = (bits >> 63) != 0 ? bits & ~((uint64_t)1 << 63) : ~bits;
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float get_float(struct reader *in)
{
    uint32_t bits = (uint32_t)get_be(in, 4);
    bits = (bits >> 31) != 0 ? bits & ~((uint32_t)1 << 31) : ~bits;
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Unescapes text up to its end mark into `out`, which has room for all that is left. */
static struct bytes get_text(struct reader *in, struct arena *arena)
{
    const uint8_t *start = in->at;
    const uint8_t *zero = in->at == in->end ? NULL : memchr(start, 0, (size_t)(in->end - start));
    size_t size = 0;
    if (zero != NULL) { /* up to here nothing is escaped */
        size = (size_t)(zero - start);
        in->at = zero;
    }
    while (in->end - in->at >= 2 && !(in->at[0] == 0 && in->at[1] == 0)) {
        in->at += in->at[0] == 0 ? 2 : 1;
        size++;
    }
    if (in->end - in->at < 2) {
        in->bad = true;
        return bytes_of(NULL, 0);
    }
    uint8_t *text = (uint8_t *)arena_strndup(arena, start, size);
    const uint8_t *from = start;
    for (size_t i = 0; i < size && (size_t)(in->at - start) != size; i++) {
        text[i] = *from;
        from += *from == 0 ? 2 : 1;
    }
    in->at += 2;
    return bytes_of(text, size);
}

static enum status get_cell(struct reader *in, struct arena *arena, struct vector *out,
                            uint32_t row, struct error *err);

/* The elements of a list go to the end of the children, which are long enough: prepare(). */
static enum status get_list(struct reader *in, struct arena *arena, struct vector *out,
                            uint32_t row, struct error *err)
{
    uint32_t offset = out->children[0]->length;
    uint32_t length = 0;
    while (!in->bad && get_be(in, 1) == LIST_MORE) {
        for (uint32_t c = 0; c < out->child_count; c++) {
            TRY(get_cell(in, arena, out->children[c], offset + length, err));
            out->children[c]->length = offset + length + 1;
        }
        length++;
    }
    VECTOR_VALUES(struct list_entry, out)
    [row] = (struct list_entry){.offset = offset, .length = length};
    return OK;
}

static void get_fixed(struct reader *in, struct vector *out, uint32_t row)
{
    switch (out->type->id) {
    case TYPE_BOOLEAN:
        VECTOR_VALUES(uint8_t, out)[row] = get_be(in, 1) != 0;
        break;
    case TYPE_BYTE:
        VECTOR_VALUES(int8_t, out)[row] = (int8_t)get_signed(in, 1);
        break;
    case TYPE_SHORT:
        VECTOR_VALUES(int16_t, out)[row] = (int16_t)get_signed(in, 2);
        break;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        VECTOR_VALUES(int32_t, out)[row] = (int32_t)get_signed(in, 4);
        break;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        VECTOR_VALUES(int64_t, out)[row] = get_signed(in, 8);
        break;
    case TYPE_FLOAT:
        VECTOR_VALUES(float, out)[row] = get_float(in);
        break;
    case TYPE_DOUBLE:
        VECTOR_VALUES(double, out)[row] = get_double(in);
        break;
    case TYPE_DECIMAL: {
        int64_t high = get_signed(in, 8);
        VECTOR_VALUES(int128, out)[row] = (int128)high * ((int128)1 << 64) + (int128)get_be(in, 8);
        break;
    }
    case TYPE_INTERVAL: {
        struct calendar_interval *value = &VECTOR_VALUES(struct calendar_interval, out)[row];
        value->months = (int32_t)get_signed(in, 4);
        value->days = (int32_t)get_signed(in, 4);
        value->micros = get_signed(in, 8);
        break;
    }
    case TYPE_VOID:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        in->bad = true;
        break;
    }
}

static enum status get_cell(struct reader *in, struct arena *arena, struct vector *out,
                            uint32_t row, struct error *err)
{
    uint64_t mark = get_be(in, 1);
    if (mark == CELL_NULL || in->bad) {
        if (out->type->id != TYPE_VOID)
            vector_set_null(out, row);
        for (uint32_t i = 0; out->type->id == TYPE_STRUCT && i < out->child_count; i++) {
            if (out->children[i]->type->id != TYPE_VOID)
                vector_set_null(out->children[i], row);
        }
        return OK;
    }
    switch (out->type->id) {
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        VECTOR_VALUES(struct bytes, out)[row] = get_text(in, arena);
        return OK;
    case TYPE_ARRAY:
    case TYPE_MAP:
        return get_list(in, arena, out, row, err);
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < out->child_count; i++)
            TRY(get_cell(in, arena, out->children[i], row, err));
        return OK;
    case TYPE_VOID:
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        get_fixed(in, out, row);
        return OK;
    }
    return OK;
}

/*
 * Gives every vector of the tree a bitmap, and the children of lists room for `elements_max`
 * elements in all (an element takes two bytes of its key at least).
 */
static enum status prepare(struct arena *arena, struct vector *vector, uint32_t elements_max,
                           struct error *err)
{
    enum type_id id = vector->type->id;
    if (id == TYPE_VOID)
        return OK;
    TRY(vector_make_nullable(arena, vector, err));
    for (uint32_t i = 0; i < vector->child_count; i++) {
        if (id == TYPE_ARRAY || id == TYPE_MAP)
            TRY(vector_resize_child(arena, vector, i, elements_max, err));
        TRY(prepare(arena, vector->children[i], elements_max, err));
        if (id == TYPE_ARRAY || id == TYPE_MAP)
            vector->children[i]->length = 0;
    }
    return OK;
}

/* Whether the cells of a row are all there is of its values. */
static bool may_repeat(const struct type *const *types, uint32_t column_count)
{
    for (uint32_t c = 0; c < column_count; c++)
        if (types[c]->id == TYPE_STRUCT || types[c]->id == TYPE_VOID)
            return false;
    return true;
}

/* The row has the value of the row before. */
static void repeat_cell(struct vector *out, uint32_t row)
{
    size_t size = type_value_bytes(out->type);
    uint8_t *cell = (uint8_t *)out->values + row * size;
    memcpy(cell, cell - size, size);
    if (vector_is_null(out, row - 1))
        validity_clear(out->validity, row);
}

enum status row_key_decode(struct arena *arena, const struct type *const *types,
                           uint32_t column_count, const struct bytes *keys, uint32_t count,
                           struct vector **out, struct error *err)
{
    size_t size_bytes = 0;
    for (uint32_t c = 0; c < column_count; c++)
        TRY(vector_new(arena, types[c], count, &out[c], err));
    if (row_key_decode_flat(out, column_count, keys, count))
        return OK;
    for (uint32_t i = 0; i < count; i++)
        size_bytes += keys[i].size_bytes;
    for (uint32_t c = 0; c < column_count; c++)
        TRY(prepare(arena, out[c], (uint32_t)(size_bytes / 2 + 1), err));
    bool repeats = may_repeat(types, column_count);
    for (uint32_t i = 0; i < count; i++) {
        struct reader in = {.at = keys[i].data, .end = keys[i].data + keys[i].size_bytes};
        if (repeats && i > 0 && in.at == keys[i - 1].data &&
            in.end == in.at + keys[i - 1].size_bytes) {
            for (uint32_t c = 0; c < column_count; c++)
                repeat_cell(out[c], i);
            continue;
        }
        for (uint32_t c = 0; c < column_count; c++)
            TRY(get_cell(&in, arena, out[c], i, err));
        if (in.bad || in.at != in.end)
            return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "a row key", NULL);
    }
    return OK;
}
