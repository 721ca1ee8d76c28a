/*
 * Keeps copies of the rows that the tasks of a batch deliver, in the order of the tasks: what the
 * memory and console sinks hold between begin and commit.
 * Threads: as in sink.h; each task has its own memory.
 */
#ifndef SERVER_SINK_ROW_COLLECTOR_H
#define SERVER_SINK_ROW_COLLECTOR_H

#include "columnar/batch.h"

struct row_collector;

/* rows_max: rows kept per task, the others are only counted; bytes_max: of all tasks together. */
struct row_collector *row_collector_new(uint64_t rows_max, size_t bytes_max);
void row_collector_free(struct row_collector *collector); /* NULL is fine */

/* Forgets what was collected and makes room for `tasks` tasks. */
void row_collector_begin(struct row_collector *collector, const struct type *schema,
                         uint32_t tasks);
struct batch_receiver *row_collector_task(struct row_collector *collector, uint32_t task);
uint64_t row_collector_rows(const struct row_collector *collector); /* delivered, kept or not */

/* The kept batches in order, dense; fn returns false to stop. */
void row_collector_visit(const struct row_collector *collector,
                         bool (*fn)(void *arg, const struct batch *batch), void *arg);

#endif
