/*
 * One column of one row group: levels and values become pages, encoded and compressed, and wait
 * until the row group is complete.
 *
 * A chunk begins with a dictionary, unless that is switched off or the column is BOOLEAN.  It goes
 * on PLAIN when the dictionary is larger than it may be, and is PLAIN from its start if the first
 * page with its dictionary would be as large without.  Pages end between rows, after PAGE_ROWS_MAX
 * rows or when they have as many bytes as is set.
 */
#ifndef SERVER_PARQUET_COLUMN_WRITER_H
#define SERVER_PARQUET_COLUMN_WRITER_H

#include "parquet/dictionary.h"
#include "parquet/page_codec.h"
#include "parquet/rle.h"
#include "parquet/shred.h"
#include "parquet/statistics.h"
#include "parquet/thrift.h"

#define PAGE_ROWS_MAX 20000

/* What is the same for all columns and files of a query. */
struct parquet_settings {
    struct parquet_schema schema;
    enum page_codec codec;
    bool dictionaries;
    size_t block_bytes; /* of a row group */
    size_t page_bytes;
    size_t dictionary_bytes;
    const char *created_by;
    const struct parquet_key {
        const char *key;
        const char *value;
    } * keys; /* of the footer's metadata */
    size_t key_count;
};

/* What the columns of a file use one after another. */
struct column_scratch {
    struct shred shred;
    struct values values;
    uint32_t indexes[VALUES_PIECE];
    struct rle_encoder index_encoder;
    struct buffer body;       /* of a page */
    struct buffer compressed; /* the same */
    struct page_compressor *compressor;
};

struct column_writer {
    const struct parquet_settings *settings;
    const struct parquet_leaf *leaf;
    struct column_scratch *scratch;

    /* the page at hand */
    struct rle_encoder definitions;
    struct rle_encoder repetitions;
    struct buffer data; /* PLAIN, a byte for each BOOLEAN, or uint32_t indexes */
    uint32_t page_levels;
    uint32_t page_rows;
    size_t page_plain_bytes; /* what its values take in PLAIN encoding */

    /* the chunk */
    bool in_dictionary;
    struct dictionary dictionary;
    struct statistics statistics;
    struct buffer pages; /* finished: heads and bodies */
    uint32_t dictionary_pages;
    uint32_t plain_pages;
    uint64_t levels;
    uint64_t nulls;
    uint64_t plain_bytes; /* of the pages before compression, heads included */
};

void column_writer_init(struct column_writer *column, const struct parquet_settings *settings,
                        const struct parquet_leaf *leaf, struct column_scratch *scratch);
void column_writer_fini(struct column_writer *column);

/* Errors: NULL_MAP_KEY, LIMIT_EXCEEDED (a page beyond 2 GiB). */
MUST_USE enum status column_writer_add(struct column_writer *column, const struct batch *batch,
                                       struct error *err);

/* Bytes of the chunk as it would be written now, about; and of memory that it takes. */
size_t column_writer_size(const struct column_writer *column);
size_t column_writer_memory(const struct column_writer *column);

/*
 * Ends the chunk: appends it to `out`, which is at `position` in the file, and its ColumnChunk to
 * the list that `footer` is in.  The writer is as new.
 */
MUST_USE enum status column_writer_end(struct column_writer *column, uint64_t position,
                                       struct buffer *out, struct thrift *footer,
                                       uint64_t *plain_bytes, struct error *err);

#endif
