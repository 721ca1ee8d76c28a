/*
 * A Parquet file: PAR1, row groups, the footer with its length, PAR1.
 *
 *     struct file_writer *writer = file_writer_new(settings, budget);
 *     file_writer_add(writer, batch, out, err);      appends what is complete to `out`
 *     file_writer_end(writer, out, err);             the rest
 *
 * Version 1, data pages V1; PLAIN and RLE_DICTIONARY.  A row group waits in memory, compressed, and
 * is cut when it has as many bytes as is set, or when all files that are open have too many
 * together.  Column chunks have statistics, and the footer says how they are ordered; there is
 * neither a page index nor a Bloom filter.
 *
 * Threads: a writer belongs to one thread; settings and budget are shared.
 */
#ifndef SERVER_PARQUET_FILE_WRITER_H
#define SERVER_PARQUET_FILE_WRITER_H

#include "parquet/column_writer.h"

#include <stdatomic.h>

/* The memory of all files that a query has open: about `bytes_max`, and a 256th of it more for each
 * of them. */
struct file_budget {
    atomic_size_t bytes;
    size_t bytes_max;
};

struct file_writer;

struct file_writer *file_writer_new(const struct parquet_settings *settings,
                                    struct file_budget *budget);
void file_writer_free(struct file_writer *writer);

/* Errors: NULL_MAP_KEY, LIMIT_EXCEEDED. */
MUST_USE enum status file_writer_add(struct file_writer *writer, const struct batch *batch,
                                     struct buffer *out, struct error *err);
MUST_USE enum status file_writer_end(struct file_writer *writer, struct buffer *out,
                                     struct error *err);

#endif
