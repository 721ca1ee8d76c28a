/*
 * The memory source: a replayable, partitioned log of rows that a test owns.
 *
 * The log outlives the query: the option `log` names it.  An offset counts the rows of every
 * partition: {"0":5,"1":3}.
 * Threads: the test appends between batches.
 */
#ifndef SERVER_SOURCE_SOURCE_MEMORY_H
#define SERVER_SOURCE_SOURCE_MEMORY_H

#include "source/source.h"

extern const struct source_ops source_memory;

#define MEMORY_PARTITIONS_MAX 64

struct memory_log;

/* Makes a log and publishes it under its name, which must be free; the schema is copied. */
struct memory_log *memory_log_new(const char *name, const struct type *schema, uint32_t partitions);
void memory_log_free(struct memory_log *log);         /* withdraws the name; NULL is fine */
struct memory_log *memory_log_find(const char *name); /* NULL: there is none */

/* Appends a copy of the rows. */
MUST_USE enum status memory_log_append(struct memory_log *log, uint32_t partition,
                                       const struct batch *batch, struct error *err);
uint64_t memory_log_rows(const struct memory_log *log, uint32_t partition);

#endif
