/*
 * Cells to values of the file: a piece at a time, dense.
 */
#ifndef SERVER_PARQUET_VALUES_H
#define SERVER_PARQUET_VALUES_H

#include "columnar/vector.h"
#include "parquet/parquet_schema.h"

#define VALUES_PIECE 1024

/* Which member is filled: `views` for byte arrays, `fixed` (width bytes each, as the file has
 * them) for numbers, `fixed` with one byte each for booleans. */
struct values {
    uint32_t count;
    union {
        struct bytes views[VALUES_PIECE];
        _Alignas(16) uint8_t fixed[VALUES_PIECE * 16];
    };
};

/* The values in cells[0..count), at most VALUES_PIECE. */
void values_gather(struct values *out, const struct parquet_leaf *leaf, const struct vector *vector,
                   const uint32_t *cells, uint32_t count);

#endif
