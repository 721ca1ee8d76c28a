/*
 * A reader of Parquet files for tests, of its own and not of the server: files as Tidemill writes
 * them without compression, flat columns of numbers, booleans and strings.
 */
#ifndef TESTS_SUPPORT_PARQUET_ROWS_H
#define TESTS_SUPPORT_PARQUET_ROWS_H

#include "columnar/type.h"

/* What a column chunk is made of. */
struct parquet_facts {
    uint32_t groups;
    uint32_t dictionaries;     /* pages, of all chunks */
    uint32_t dictionary_pages; /* data pages with indexes */
    uint32_t plain_pages;
    uint64_t rows; /* as the footer says */
};

bool parquet_rows_is_file(struct bytes file);

/* The rows as JSON lines, NULLs as null.  False: something does not fit together; `facts` may be
 * NULL. */
bool parquet_rows_json(const struct type *schema, struct bytes file, struct buffer *out,
                       struct parquet_facts *facts);

#endif
