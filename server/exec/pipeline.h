/*
 * A pipeline: the operators of one plan as a running chain, from its leaves to the sink.
 *
 * A stage of a plan that runs on several threads has one pipeline per thread; a pipeline runs one
 * task after another.  A task is
 *
 *     pipeline_begin -> for each leaf in order: its rows, pipeline_finish_leaf -> pipeline_end
 *
 * The order of the leaves is that in which operators need them: the right side of a join comes
 * before its left one.  Whoever reads a source for a scan hands the batches to its receiver.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_PIPELINE_H
#define SERVER_EXEC_PIPELINE_H

#include "exec/node.h"
#include "exec/node_watermark.h"

#include <stdatomic.h>

struct pipeline;

/* What a task has to know of its batch. */
struct pipeline_task {
    int64_t batch_id;
    int64_t late_watermark_us;
    int64_t eviction_watermark_us;
    int64_t batch_timestamp_us;
    uint64_t random_seed;
    uint32_t task; /* 0-based: spark_partition_id() */
    struct batch_receiver *sink;
    const atomic_bool *cancelled; /* NULL: never; set: the next input fails */
};

/*
 * Builds the operators of `root`.  `time_zone` is the session's; both are borrowed.
 * Errors: NOT_SUPPORTED for a node that the engine does not run, and those of the operators.
 */
MUST_USE enum status pipeline_new(const struct plan_node *root, const char *time_zone,
                                  struct pipeline **out, struct error *err);
void pipeline_free(struct pipeline *pipeline); /* NULL is fine */

/* The leaves, in the order in which they have to be run. */
uint32_t pipeline_leaf_count(const struct pipeline *pipeline);
const struct plan_node *pipeline_leaf(const struct pipeline *pipeline, uint32_t leaf);
/* Where the batches of a PLAN_SCAN go. */
struct batch_receiver *pipeline_receiver(struct pipeline *pipeline, uint32_t leaf);
/* Says which file the next batches come from, for input_file_name(); NULL: none. */
void pipeline_set_input_file(struct pipeline *pipeline, const char *path, int64_t start,
                             int64_t length);

MUST_USE enum status pipeline_begin(struct pipeline *pipeline, const struct pipeline_task *task,
                                    struct error *err);
MUST_USE enum status pipeline_finish_leaf(struct pipeline *pipeline, uint32_t leaf,
                                          struct error *err);
void pipeline_end(struct pipeline *pipeline);

/* True if further input changes nothing: the reader may stop. */
bool pipeline_has_enough(const struct pipeline *pipeline);

/* Of the present or last task. */
uint64_t pipeline_input_rows(const struct pipeline *pipeline, uint32_t leaf);
uint64_t pipeline_output_rows(const struct pipeline *pipeline);
/* Adds what the watermark operators saw; `stats` has one entry per watermark id. */
void pipeline_watermark_stats(const struct pipeline *pipeline, struct event_time_stats *stats,
                              uint32_t count);

/* Gives back memory that the last batches needed: the query goes idle. */
void pipeline_trim(struct pipeline *pipeline);

#endif
