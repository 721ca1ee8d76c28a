/*
 * Vectors: a column of one batch, in Arrow's layout with two variations that pay:
 * booleans are one byte per value (kernels vectorise), and text is kept as views (struct bytes)
 * whose bytes live elsewhere: in the input buffer, in the batch arena, in a literal.  Arrays and
 * maps are list views: {offset, length} into children.
 *
 * A CONSTANT vector has one cell that stands for every row: literals, partition values.
 *
 * Memory: vectors and what they point to live in the batch arena (or longer), and are never freed
 * one by one.  A vector is written once, by the kernel that makes it, and then only read.
 */
#ifndef SERVER_COLUMNAR_VECTOR_H
#define SERVER_COLUMNAR_VECTOR_H

#include "columnar/type.h"

struct list_entry {
    uint32_t offset; /* into the child vectors */
    uint32_t length;
};

struct vector {
    const struct type *type;
    uint32_t length;          /* rows; what is physically there is 1 row if `constant` */
    bool constant;            /* all rows are cell 0 */
    uint64_t *validity;       /* bit set = not NULL; NULL pointer = no NULLs */
    void *values;             /* cells by type_value_bytes(); cells of NULL rows are unspecified */
    struct vector **children; /* ARRAY: element; MAP: key, value; STRUCT: fields */
    uint32_t child_count;
};

/* Where row `row` is stored. */
static inline uint32_t vector_index(const struct vector *vector, uint32_t row)
{
    return vector->constant ? 0 : row;
}

static inline bool validity_get(const uint64_t *validity, uint32_t row)
{
    return validity == NULL || (validity[row >> 6] >> (row & 63) & 1) != 0;
}

static inline void validity_clear(uint64_t *validity, uint32_t row)
{
    validity[row >> 6] &= ~((uint64_t)1 << (row & 63));
}

static inline void validity_set(uint64_t *validity, uint32_t row)
{
    validity[row >> 6] |= (uint64_t)1 << (row & 63);
}

static inline size_t validity_words(uint32_t rows)
{
    return ((size_t)rows + 63) / 64;
}

static inline bool vector_is_null(const struct vector *vector, uint32_t row)
{
    return vector->type->id == TYPE_VOID ||
           !validity_get(vector->validity, vector_index(vector, row));
}

/* The cells as an array of C type T; index with vector_index() if the vector may be constant. */
#define VECTOR_VALUES(T, vector) ((T *)(vector)->values)

/*
 * A flat vector with room for `length` rows (nested children: STRUCT children get `length` too,
 * ARRAY and MAP children are empty until vector_resize_child); values not initialised, no NULLs.
 * Errors: LIMIT_EXCEEDED.
 */
MUST_USE enum status vector_new(struct arena *arena, const struct type *type, uint32_t length,
                                struct vector **out, struct error *err);

/* A constant vector of `length` rows whose only cell is NULL. */
MUST_USE enum status vector_new_null(struct arena *arena, const struct type *type, uint32_t length,
                                     struct vector **out, struct error *err);

/* Gives the vector a validity bitmap, all valid, if it has none. */
MUST_USE enum status vector_make_nullable(struct arena *arena, struct vector *vector,
                                          struct error *err);

/* Marks one row NULL; the vector must be flat and have a bitmap. */
static inline void vector_set_null(struct vector *vector, uint32_t row)
{
    validity_clear(vector->validity, row);
}

/* Replaces child `index` of an ARRAY or MAP by a fresh flat vector of `length` rows. */
MUST_USE enum status vector_resize_child(struct arena *arena, struct vector *vector, uint32_t index,
                                         uint32_t length, struct error *err);

/* A flat copy of rows `rows[0..count)` (NULL: rows 0..count), nested values included; the bytes of
 * strings are shared, not copied. */
MUST_USE enum status vector_gather(struct arena *arena, const struct vector *vector,
                                   const uint32_t *rows, uint32_t count, struct vector **out,
                                   struct error *err);

/* One flat vector of all rows of `vectors`, one after another.  All of one type. */
MUST_USE enum status vector_concat(struct arena *arena, struct vector *const *vectors,
                                   uint32_t count, struct vector **out, struct error *err);

/* Deep copy into another arena, string bytes included. */
MUST_USE enum status vector_clone(struct arena *arena, const struct vector *vector,
                                  struct vector **out, struct error *err);

/*
 * Total order of two cells of one type (Spark's: NaN is the largest and equal to itself, -0.0 =
 * 0.0, NULL inside nested values first).  Neither cell is NULL.  Result <0, 0, >0.
 */
int vector_compare(const struct vector *a, uint32_t row_a, const struct vector *b, uint32_t row_b);

/* Equality as GROUP BY sees it: NULL equals NULL, NaN equals NaN. */
bool vector_equal(const struct vector *a, uint32_t row_a, const struct vector *b, uint32_t row_b);

/* Hash consistent with vector_equal().  Stable over versions: it decides state partitions. */
uint64_t vector_hash(const struct vector *vector, uint32_t row, uint64_t seed);

#endif
