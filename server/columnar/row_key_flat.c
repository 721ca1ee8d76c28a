/*
 * See row_key_flat.h.
 */
#include "columnar/row_key_flat.h"

#include "base/check.h"

#include <math.h>

#define SIGN_64 ((uint64_t)1 << 63)
#define SIGN_32 ((uint32_t)1 << 31)
#define SIGN_16 ((uint16_t)1 << 15)
#define SIGN_8  ((uint8_t)1 << 7)

/* Bytes of a value that is not NULL; 0: text, or nothing that is flat. */
static size_t width_of(enum type_id id)
{
    switch (id) {
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
        return 1;
    case TYPE_SHORT:
        return 2;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
    case TYPE_FLOAT:
        return 4;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
    case TYPE_DOUBLE:
        return 8;
    case TYPE_DECIMAL:
        return 16;
    case TYPE_VOID:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
    case TYPE_INTERVAL:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return 0;
    }
    return 0;
}

static bool is_text(const struct vector *vector)
{
    return vector->type->id == TYPE_STRING || vector->type->id == TYPE_BINARY ||
           vector->type->id == TYPE_VARIANT;
}

bool row_key_is_flat(struct vector *const *columns, uint32_t column_count)
{
    for (uint32_t c = 0; c < column_count; c++) {
        const struct vector *vector = columns[c];
        if (width_of(vector->type->id) > 0 || is_text(vector))
            continue;
        if (vector->type->id != TYPE_STRUCT || vector->validity != NULL || vector->constant ||
            !row_key_is_flat(vector->children, vector->child_count))
            return false;
    }
    return true;
}

uint64_t row_key_double_bits(double value)
{
    uint64_t bits = 0;
    if (value == 0)
        value = 0;
    if (isnan(value))
        bits = 0x7ff8000000000000U;
    else
        memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN_64) != 0 ? ~bits : bits | SIGN_64;
}

uint32_t row_key_float_bits(float value)
{
    uint32_t bits = 0;
    if (value == 0)
        value = 0;
    if (isnan(value))
        bits = 0x7fc00000U;
    else
        memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN_32) != 0 ? ~bits : bits | SIGN_32;
}

/* ---- sizes ---- */

struct rows {
    const uint16_t *selection; /* NULL: 0..count */
    uint32_t count;
};

static uint32_t row_at(const struct rows *rows, uint32_t i)
{
    return rows->selection == NULL ? i : rows->selection[i];
}

static uint64_t load_64(const uint8_t *from)
{
    uint64_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint32_t load_32(const uint8_t *from)
{
    uint32_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Not 0: a byte of the word is 0. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - 0x0101010101010101U) & ~word & 0x8080808080808080U;
}

/* Without a call for the size of most texts that rows are grouped by. */
static inline bool has_zero(struct bytes text)
{
    const uint8_t *at = text.data;
    size_t size = text.size_bytes;
    if (size - 8 <= 8)
        return (zero_bytes(load_64(at)) | zero_bytes(load_64(at + size - 8))) != 0;
    if (size - 4 <= 4)
        return zero_bytes(load_32(at) | (uint64_t)load_32(at + size - 4) << 32) != 0;
    return size != 0 && memchr(at, 0, size) != NULL;
}

static size_t text_bytes(struct bytes text)
{
    size_t size = text.size_bytes + 2;
    if (!has_zero(text))
        return size;
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    while (at != end && (at = memchr(at, 0, (size_t)(end - at))) != NULL) {
        size++;
        at++;
    }
    return size;
}

/* What every row takes; what depends on the row is added to its key. */
static size_t add_sizes(const struct vector *vector, const struct rows *rows, struct bytes *keys)
{
    size_t all = 1;
    if (vector->type->id == TYPE_STRUCT) {
        for (uint32_t i = 0; i < vector->child_count; i++)
            all += add_sizes(vector->children[i], rows, keys);
        return all;
    }
    size_t width = width_of(vector->type->id);
    if (width > 0 && vector->validity == NULL)
        return all + width;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = row_at(rows, i);
        if (!vector_is_null(vector, row))
            keys[i].size_bytes +=
                width > 0
                    ? width
                    : text_bytes(VECTOR_VALUES(struct bytes, vector)[vector_index(vector, row)]);
    }
    return all;
}

/* ---- writing ---- */

static void put_64(uint8_t *to, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(to, &value, sizeof value);
}

static void put_32(uint8_t *to, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(to, &value, sizeof value);
}

static void put_16(uint8_t *to, uint16_t value)
{
    value = __builtin_bswap16(value);
    memcpy(to, &value, sizeof value);
}

static void put_8(uint8_t *to, uint8_t value)
{
    *to = value;
}

static inline void copy_text(uint8_t *to, struct bytes text)
{
    const uint8_t *at = text.data;
    size_t size = text.size_bytes;
    if (size - 8 <= 8) {
        uint64_t first = load_64(at);
        uint64_t last = load_64(at + size - 8);
        memcpy(to, &first, sizeof first);
        memcpy(to + size - 8, &last, sizeof last);
    } else if (size - 4 <= 4) {
        uint32_t first = load_32(at);
        uint32_t last = load_32(at + size - 4);
        memcpy(to, &first, sizeof first);
        memcpy(to + size - 4, &last, sizeof last);
    } else if (size != 0) {
        memcpy(to, at, size);
    }
}

static inline uint8_t *put_text(uint8_t *to, struct bytes text)
{
    if (!has_zero(text)) {
        copy_text(to, text);
        to += text.size_bytes;
    } else {
        for (size_t i = 0; i < text.size_bytes; i++) {
            *to++ = text.data[i];
            if (text.data[i] == 0)
                *to++ = 0xff;
        }
    }
    put_16(to, 0);
    return to + 2;
}

/* Writes the cells of a column of C type T; `PUT` stores the order-preserving `BITS` of `cell`. */
#define WRITE_CELLS(T, WIDTH, PUT, BITS)                                                           \
    do {                                                                                           \
        const T *cells = vector->values;                                                           \
        for (uint32_t i = 0; i < rows->count; i++) {                                               \
            uint32_t at = vector_index(vector, row_at(rows, i));                                   \
            uint8_t *to = cursors[i];                                                              \
            if (!validity_get(vector->validity, at)) {                                             \
                *to = CELL_NULL;                                                                   \
                cursors[i] = to + 1;                                                               \
                continue;                                                                          \
            }                                                                                      \
            T cell = cells[at];                                                                    \
            *to = CELL_VALUE;                                                                      \
            PUT(to + 1, BITS);                                                                     \
            cursors[i] = to + 1 + (WIDTH);                                                         \
        }                                                                                          \
    } while (0)

static void write_decimals(const struct vector *vector, const struct rows *rows, uint8_t **cursors)
{
    const int128 *cells = vector->values;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t at = vector_index(vector, row_at(rows, i));
        uint8_t *to = cursors[i];
        *to = validity_get(vector->validity, at) ? CELL_VALUE : CELL_NULL;
        cursors[i] = to + 1;
        if (*to == CELL_NULL)
            continue;
        put_64(to + 1, (uint64_t)(cells[at] >> 64) ^ SIGN_64);
        put_64(to + 9, (uint64_t)cells[at]);
        cursors[i] = to + 17;
    }
}

static void write_texts(const struct vector *vector, const struct rows *rows, uint8_t **cursors)
{
    const struct bytes *cells = vector->values;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t at = vector_index(vector, row_at(rows, i));
        bool there = validity_get(vector->validity, at);
        *cursors[i]++ = there ? CELL_VALUE : CELL_NULL;
        if (there)
            cursors[i] = put_text(cursors[i], cells[at]);
    }
}

/* A struct of two times without NULLs, a window, in one pass. */
static bool write_window(const struct vector *vector, const struct rows *rows, uint8_t **cursors)
{
    for (uint32_t i = 0; i < 2; i++)
        if (vector->child_count != 2 || vector->children[i]->type->id != TYPE_TIMESTAMP ||
            vector->children[i]->validity != NULL || vector->children[i]->constant)
            return false;
    const int64_t *starts = vector->children[0]->values;
    const int64_t *ends = vector->children[1]->values;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = row_at(rows, i);
        uint8_t *to = cursors[i];
        to[0] = to[1] = to[10] = CELL_VALUE;
        put_64(to + 2, (uint64_t)starts[row] ^ SIGN_64);
        put_64(to + 11, (uint64_t)ends[row] ^ SIGN_64);
        cursors[i] = to + 19;
    }
    return true;
}

static void write_column(const struct vector *vector, const struct rows *rows, uint8_t **cursors)
{
    switch (vector->type->id) {
    case TYPE_BOOLEAN:
        WRITE_CELLS(uint8_t, 1, put_8, cell);
        break;
    case TYPE_BYTE:
        WRITE_CELLS(int8_t, 1, put_8, (uint8_t)((uint8_t)cell ^ SIGN_8));
        break;
    case TYPE_SHORT:
        WRITE_CELLS(int16_t, 2, put_16, (uint16_t)((uint16_t)cell ^ SIGN_16));
        break;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        WRITE_CELLS(int32_t, 4, put_32, (uint32_t)cell ^ SIGN_32);
        break;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        WRITE_CELLS(int64_t, 8, put_64, (uint64_t)cell ^ SIGN_64);
        break;
    case TYPE_FLOAT:
        WRITE_CELLS(float, 4, put_32, row_key_float_bits(cell));
        break;
    case TYPE_DOUBLE:
        WRITE_CELLS(double, 8, put_64, row_key_double_bits(cell));
        break;
    case TYPE_DECIMAL:
        write_decimals(vector, rows, cursors);
        break;
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        write_texts(vector, rows, cursors);
        break;
    case TYPE_STRUCT:
        if (write_window(vector, rows, cursors))
            break;
        for (uint32_t i = 0; i < rows->count; i++)
            *cursors[i]++ = CELL_VALUE;
        for (uint32_t i = 0; i < vector->child_count; i++)
            write_column(vector->children[i], rows, cursors);
        break;
    case TYPE_VOID:
    case TYPE_INTERVAL:
    case TYPE_ARRAY:
    case TYPE_MAP:
        CHECK(false); /* row_key_is_flat() */
    }
}

enum status row_key_check(const struct bytes *keys, uint32_t count, size_t total, struct error *err)
{
    for (uint32_t i = 0; total > ROW_KEY_BYTES_MAX && i < count; i++)
        if (keys[i].size_bytes > ROW_KEY_BYTES_MAX)
            return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                               "the bytes of a row, or of the columns that it is grouped by",
                               "limit", "2147483647", NULL);
    return OK;
}

enum status row_key_encode_flat(struct arena *arena, struct vector *const *columns,
                                uint32_t column_count, const uint16_t *selection, uint32_t selected,
                                struct bytes *keys, struct error *err)
{
    struct rows rows = {.selection = selection, .count = selected};
    void *memory = NULL;
    size_t each = 0;
    size_t total = 0;
    for (uint32_t i = 0; i < selected; i++)
        keys[i].size_bytes = 0;
    for (uint32_t c = 0; c < column_count; c++)
        each += add_sizes(columns[c], &rows, keys);
    for (uint32_t i = 0; i < selected; i++) {
        keys[i].size_bytes += each;
        total += keys[i].size_bytes;
    }
    TRY(row_key_check(keys, selected, total, err));
    TRY(arena_alloc_raw(arena, selected + 1, sizeof(uint8_t *), &memory, err));
    uint8_t **cursors = memory;
    TRY(arena_alloc_raw(arena, 1, total + 1, &memory, err));
    uint8_t *at = memory;
    for (uint32_t i = 0; i < selected; i++) {
        keys[i].data = cursors[i] = at;
        at += keys[i].size_bytes;
    }
    for (uint32_t c = 0; c < column_count; c++)
        write_column(columns[c], &rows, cursors);
    CHECK(selected == 0 || cursors[selected - 1] == at);
    return OK;
}

/* ---- reading ---- */

static uint64_t get_64(const uint8_t *from)
{
    uint64_t value = 0;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap64(value);
}

static uint32_t get_32(const uint8_t *from)
{
    uint32_t value = 0;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap32(value);
}

static uint16_t get_16(const uint8_t *from)
{
    uint16_t value = 0;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap16(value);
}

static double double_of_bits(uint64_t bits)
{
    double value = 0;
    bits = (bits & SIGN_64) != 0 ? bits & ~SIGN_64 : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_of_bits(uint32_t bits)
{
    float value = 0;
    bits = (bits & SIGN_32) != 0 ? bits & ~SIGN_32 : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int128 decimal_of_bytes(const uint8_t *from)
{
    int64_t high = (int64_t)(get_64(from) ^ SIGN_64);
    return (int128)high * ((int128)1 << 64) + (int128)get_64(from + 8);
}

/* Bytes of the cells of a column without NULLs; 0: they differ. */
static size_t cell_bytes(const struct type *type)
{
    size_t size = 1;
    if (type->id != TYPE_STRUCT) {
        size_t width = width_of(type->id);
        return width == 0 ? 0 : size + width;
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        size_t field = cell_bytes(type->fields[i].type);
        if (field == 0)
            return 0;
        size += field;
    }
    return size;
}

/* Reads `VALUE` (of the bytes `from`) into each row; marks other than CELL_VALUE clear `good`. */
#define READ_CELLS(T, VALUE)                                                                       \
    do {                                                                                           \
        T *cells = out->values;                                                                    \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const uint8_t *from = keys[i].data + offset;                                           \
            good &= *from++ == CELL_VALUE;                                                         \
            cells[i] = (VALUE);                                                                    \
        }                                                                                          \
    } while (0)

static bool read_column(struct vector *out, const struct bytes *keys, uint32_t count, size_t offset)
{
    bool good = true;
    switch (out->type->id) {
    case TYPE_BOOLEAN:
        READ_CELLS(uint8_t, *from != 0);
        break;
    case TYPE_BYTE:
        READ_CELLS(int8_t, (int8_t)(*from ^ SIGN_8));
        break;
    case TYPE_SHORT:
        READ_CELLS(int16_t, (int16_t)(get_16(from) ^ SIGN_16));
        break;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        READ_CELLS(int32_t, (int32_t)(get_32(from) ^ SIGN_32));
        break;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        READ_CELLS(int64_t, (int64_t)(get_64(from) ^ SIGN_64));
        break;
    case TYPE_FLOAT:
        READ_CELLS(float, float_of_bits(get_32(from)));
        break;
    case TYPE_DOUBLE:
        READ_CELLS(double, double_of_bits(get_64(from)));
        break;
    case TYPE_DECIMAL:
        READ_CELLS(int128, decimal_of_bytes(from));
        break;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < count; i++)
            good &= keys[i].data[offset] == CELL_VALUE;
        offset++;
        for (uint32_t i = 0; i < out->child_count && good; i++) {
            good = read_column(out->children[i], keys, count, offset);
            offset += cell_bytes(out->children[i]->type);
        }
        break;
    case TYPE_VOID:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
    case TYPE_INTERVAL:
    case TYPE_ARRAY:
    case TYPE_MAP:
        return false;
    }
    return good;
}

bool row_key_decode_flat(struct vector **out, uint32_t column_count, const struct bytes *keys,
                         uint32_t count)
{
    size_t size = 0;
    bool good = true;
    for (uint32_t c = 0; c < column_count; c++) {
        size_t column = cell_bytes(out[c]->type);
        if (column == 0)
            return false;
        size += column;
    }
    for (uint32_t i = 0; i < count; i++)
        good &= keys[i].size_bytes == size;
    size_t offset = 0;
    for (uint32_t c = 0; c < column_count && good; c++) {
        good = read_column(out[c], keys, count, offset);
        offset += cell_bytes(out[c]->type);
    }
    return good;
}
