/*
 * The least and the greatest value of a column chunk, as its statistics have them.
 *
 * Numbers are compared as numbers, byte arrays as unsigned bytes.  Of floating-point columns with a
 * NaN there is neither, and a least 0.0 is written as -0.0, a greatest -0.0 as 0.0, for readers
 * that tell them apart.  Nor is there one of INT96, which has no order, or of longer values than
 * STATISTICS_BYTES_MAX.
 */
#ifndef SERVER_PARQUET_STATISTICS_H
#define SERVER_PARQUET_STATISTICS_H

#include "parquet/parquet_schema.h"
#include "parquet/values.h"

#define STATISTICS_BYTES_MAX 2048

/* Zeroed, it is empty. */
struct statistics {
    bool some;    /* there are two values */
    bool unknown; /* and will be none */
    struct buffer min;
    struct buffer max;
};

void statistics_fini(struct statistics *statistics);
void statistics_clear(struct statistics *statistics);

void statistics_add(struct statistics *statistics, const struct parquet_leaf *leaf,
                    const struct values *values);
void statistics_add_one(struct statistics *statistics, const struct parquet_leaf *leaf,
                        struct bytes value);

/* False: the chunk has none.  After the last value. */
bool statistics_end(struct statistics *statistics, const struct parquet_leaf *leaf);

#endif
