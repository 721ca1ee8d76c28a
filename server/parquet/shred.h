/*
 * Rows to levels: for one column of the file, where each of its values is, and for each place where
 * there might be one, how far it is defined and which list it goes on with.
 *
 * Goes step by step down the column's path, over all selected rows at once.
 */
#ifndef SERVER_PARQUET_SHRED_H
#define SERVER_PARQUET_SHRED_H

#include "columnar/batch.h"
#include "parquet/parquet_schema.h"

/* Zeroed, it is empty.  The arrays are kept for the next batch. */
struct shred {
    const struct vector *vector; /* what holds the values */
    uint32_t count;              /* places: values and what is missing */
    uint32_t value_count;
    uint8_t *definitions;
    uint8_t *repetitions;
    uint32_t *cells;  /* of the values: indexes into the vector */
    uint32_t *places; /* while it goes down: the cell of each place, or PLACE_ENDED */
    uint32_t capacity;
    struct shred_spare {
        uint8_t *definitions;
        uint8_t *repetitions;
        uint32_t *places;
    } spare; /* of the same size: lists are expanded into it */
};

void shred_fini(struct shred *shred);

/* Errors: NULL_MAP_KEY, LIMIT_EXCEEDED (more than 2^32 places). */
MUST_USE enum status shred_batch(struct shred *shred, const struct parquet_leaf *leaf,
                                 const struct batch *batch, struct error *err);

#endif
