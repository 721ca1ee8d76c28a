/*
 * Order, equality and hash of single cells.  The three agree: cells that are equal compare as 0 and
 * hash alike, so doubles are brought to one zero and one NaN first.  Decimals of one vector type
 * share their scale, so unscaled values decide.
 */
#include "base/check.h"
#include "columnar/vector.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int order_double(double a, double b)
{
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    if (a == b)
        return 0;
    return ORDER(a != a, b != b); /* NaN is the largest */
}

static int order_interval(struct calendar_interval a, struct calendar_interval b)
{
    if (a.months != b.months)
        return ORDER(a.months, b.months);
    if (a.days != b.days)
        return ORDER(a.days, b.days);
    return ORDER(a.micros, b.micros);
}

/* Order of two cells of which either may be NULL: NULL first. */
static int order_nullable(const struct vector *a, uint32_t row_a, const struct vector *b,
                          uint32_t row_b)
{
    bool null_a = vector_is_null(a, row_a);
    bool null_b = vector_is_null(b, row_b);
    if (null_a || null_b)
        return (int)null_b - (int)null_a;
    return vector_compare(a, row_a, b, row_b);
}

static int order_lists(const struct vector *a, uint32_t at_a, const struct vector *b, uint32_t at_b)
{
    struct list_entry list_a = VECTOR_VALUES(struct list_entry, a)[at_a];
    struct list_entry list_b = VECTOR_VALUES(struct list_entry, b)[at_b];
    uint32_t common = list_a.length < list_b.length ? list_a.length : list_b.length;
    for (uint32_t i = 0; i < common; i++) {
        for (uint32_t c = 0; c < a->child_count; c++) {
            int order = order_nullable(a->children[c], list_a.offset + i, b->children[c],
                                       list_b.offset + i);
            if (order != 0)
                return order;
        }
    }
    return ORDER(list_a.length, list_b.length);
}

static int order_structs(const struct vector *a, uint32_t at_a, const struct vector *b,
                         uint32_t at_b)
{
    for (uint32_t c = 0; c < a->child_count; c++) {
        int order = order_nullable(a->children[c], at_a, b->children[c], at_b);
        if (order != 0)
            return order;
    }
    return 0;
}

#define ORDER_CELLS(T) ORDER(VECTOR_VALUES(T, a)[at_a], VECTOR_VALUES(T, b)[at_b])

int vector_compare(const struct vector *a, uint32_t row_a, const struct vector *b, uint32_t row_b)
{
    CHECK_SLOW(a->type->id == b->type->id);
    uint32_t at_a = vector_index(a, row_a);
    uint32_t at_b = vector_index(b, row_b);
    switch (a->type->id) {
    case TYPE_VOID:
        return 0;
    case TYPE_BOOLEAN:
        return ORDER_CELLS(uint8_t);
    case TYPE_BYTE:
        return ORDER_CELLS(int8_t);
    case TYPE_SHORT:
        return ORDER_CELLS(int16_t);
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return ORDER_CELLS(int32_t);
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        return ORDER_CELLS(int64_t);
    case TYPE_DECIMAL:
        return ORDER_CELLS(int128);
    case TYPE_FLOAT:
        return order_double((double)VECTOR_VALUES(float, a)[at_a],
                            (double)VECTOR_VALUES(float, b)[at_b]);
    case TYPE_DOUBLE:
        return order_double(VECTOR_VALUES(double, a)[at_a], VECTOR_VALUES(double, b)[at_b]);
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        return bytes_compare(VECTOR_VALUES(struct bytes, a)[at_a],
                             VECTOR_VALUES(struct bytes, b)[at_b]);
    case TYPE_INTERVAL:
        return order_interval(VECTOR_VALUES(struct calendar_interval, a)[at_a],
                              VECTOR_VALUES(struct calendar_interval, b)[at_b]);
    case TYPE_ARRAY:
    case TYPE_MAP:
        return order_lists(a, at_a, b, at_b);
    case TYPE_STRUCT:
        return order_structs(a, at_a, b, at_b);
    }
    CHECK(!"a type id outside the enum");
    return 0;
}

bool vector_equal(const struct vector *a, uint32_t row_a, const struct vector *b, uint32_t row_b)
{
    bool null_a = vector_is_null(a, row_a);
    if (null_a != vector_is_null(b, row_b))
        return false;
    if (null_a)
        return true;
    if (a->type->id == TYPE_STRING)
        return bytes_equal(VECTOR_VALUES(struct bytes, a)[vector_index(a, row_a)],
                           VECTOR_VALUES(struct bytes, b)[vector_index(b, row_b)]);
    return vector_compare(a, row_a, b, row_b) == 0;
}

/* ---- hash ---- */

#define HASH_NULL UINT64_C(0x9E3779B97F4A7C15)
#define HASH_A    UINT64_C(0xA0761D6478BD642F)
#define HASH_B    UINT64_C(0xE7037ED1A0B428DB)

__extension__ typedef unsigned __int128 hash_product;

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    hash_product product = (hash_product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_word(uint64_t word, uint64_t seed)
{
    return mix(word ^ HASH_A, seed ^ HASH_B);
}

static inline uint64_t load_word(const uint8_t *data, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, data, size);
    return word;
}

static uint64_t hash_bytes(struct bytes text, uint64_t seed)
{
    const uint8_t *data = text.data;
    size_t left = text.size_bytes;
    uint64_t hash = seed ^ text.size_bytes;
    for (; left > 8; left -= 8, data += 8)
        hash = hash_word(load_word(data, 8), hash);
    if (left > 0)
        hash = hash_word(load_word(data, left), hash);
    return hash_word(text.size_bytes, hash);
}

static uint64_t hash_double(double value, uint64_t seed)
{
    uint64_t bits;
    if (value == 0.0)
        value = 0.0; /* -0.0 too */
    if (value != value)
        return hash_word(UINT64_C(0x7FF8000000000000), seed);
    memcpy(&bits, &value, sizeof(bits));
    return hash_word(bits, seed);
}

static uint64_t hash_nested(const struct vector *vector, uint32_t at, uint64_t seed)
{
    uint64_t hash = seed;
    if (vector->type->id == TYPE_STRUCT) {
        for (uint32_t c = 0; c < vector->child_count; c++)
            hash = vector_hash(vector->children[c], at, hash);
        return hash;
    }
    struct list_entry list = VECTOR_VALUES(struct list_entry, vector)[at];
    for (uint32_t i = 0; i < list.length; i++)
        for (uint32_t c = 0; c < vector->child_count; c++)
            hash = vector_hash(vector->children[c], list.offset + i, hash);
    return hash_word(list.length, hash);
}

static uint64_t hash_decimal(int128 value, uint64_t seed)
{
    return hash_word((uint64_t)(value >> 64), hash_word((uint64_t)value, seed));
}

static uint64_t hash_interval(struct calendar_interval interval, uint64_t seed)
{
    uint64_t hash = hash_word((uint64_t)interval.months, seed);
    return hash_word((uint64_t)interval.micros, hash_word((uint64_t)interval.days, hash));
}

#define HASH_CELL(T) hash_word((uint64_t)(int64_t)VECTOR_VALUES(T, vector)[at], seed)

uint64_t vector_hash(const struct vector *vector, uint32_t row, uint64_t seed)
{
    if (vector_is_null(vector, row))
        return hash_word(HASH_NULL, seed);
    uint32_t at = vector_index(vector, row);
    switch (vector->type->id) {
    case TYPE_VOID:
        return seed;
    case TYPE_BOOLEAN:
        return HASH_CELL(uint8_t);
    case TYPE_BYTE:
        return HASH_CELL(int8_t);
    case TYPE_SHORT:
        return HASH_CELL(int16_t);
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return HASH_CELL(int32_t);
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        return HASH_CELL(int64_t);
    case TYPE_DECIMAL:
        return hash_decimal(VECTOR_VALUES(int128, vector)[at], seed);
    case TYPE_FLOAT:
        return hash_double((double)VECTOR_VALUES(float, vector)[at], seed);
    case TYPE_DOUBLE:
        return hash_double(VECTOR_VALUES(double, vector)[at], seed);
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        return hash_bytes(VECTOR_VALUES(struct bytes, vector)[at], seed);
    case TYPE_INTERVAL:
        return hash_interval(VECTOR_VALUES(struct calendar_interval, vector)[at], seed);
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return hash_nested(vector, at, seed);
    }
    CHECK(!"a type id outside the enum");
    return seed;
}
