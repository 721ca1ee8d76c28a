/*
 * The memory sink: a table of rows that can be read while the query runs.
 *
 * The table outlives the query's sink object: a restart within the process finds what was
 * committed, a new process begins with an empty one.  Rows are kept per batch; a batch that is
 * committed again replaces its rows, and in complete mode every batch replaces all of them.
 * Threads: the batch thread.
 */
#ifndef SERVER_SINK_SINK_MEMORY_H
#define SERVER_SINK_SINK_MEMORY_H

#include "sink/sink.h"

extern const struct sink_ops sink_memory;

#define MEMORY_TABLE_BYTES_MAX ((size_t)256 << 20) /* the default of the option maxBytes */

struct memory_table;

/* By the name of the query; NULL if there is none. */
struct memory_table *memory_table_find(const char *name);
void memory_table_drop(const char *name); /* no sink may be open on it */

const struct type *memory_table_schema(const struct memory_table *table);
int64_t memory_table_last_batch(const struct memory_table *table); /* NO_BATCH: none */
uint64_t memory_table_rows(const struct memory_table *table);

/* Calls fn for the rows of every committed batch with an id above `after`, in order, dense. */
void memory_table_visit(const struct memory_table *table, int64_t after,
                        void (*fn)(void *arg, int64_t batch_id, const struct batch *batch),
                        void *arg);

#endif
