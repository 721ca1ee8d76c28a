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
#include "exec/stateful.h"

#include <stdatomic.h>

struct pipeline;

/* What a task has to know of its batch. */
struct pipeline_task {
    int64_t batch_id;
    uint32_t run; /* rises with every batch that is run; not 0 */
    int64_t late_watermark_us;
    int64_t eviction_watermark_us;
    int64_t batch_timestamp_us;
    uint64_t random_seed;
    uint32_t task;                /* 0-based: spark_partition_id() */
    struct batch_receiver *sink;  /* NULL: a consumer takes the rows */
    const atomic_bool *cancelled; /* NULL: never; set: the next input fails */
    uint64_t memory_limit;        /* limits.memoryBytes; 0: none */
    uint64_t writer_limit;        /* of it, for what waits for the partitions */
    uint64_t put_away_from;       /* so much of it moves to the file instead */
    struct spill_file *batch_file;
    const struct clock *clock; /* measures what operators with state do; NULL: nobody asks */
};

struct pipeline_config {
    const struct plan_node *root;     /* borrowed, as all of it */
    const char *time_zone;            /* the session's */
    const struct plan_node *consumer; /* the boundary of another stage that takes the rows; NULL:
                                         the task's sink does */
    uint32_t consumer_input;
    uint32_t partition; /* of a partition stage */
    uint32_t partitions;
    enum emit_mode mode;
    bool bounded; /* nothing is kept from batch to batch: no boundaries */
};

/*
 * Builds the operators from `root` down to the scans, or to the boundaries that begin its stage.
 * Errors: NOT_SUPPORTED for a node that the engine does not run, and those of the operators.
 */
MUST_USE enum status pipeline_new(const struct pipeline_config *config, struct pipeline **out,
                                  struct error *err);
void pipeline_free(struct pipeline *pipeline); /* NULL is fine */

/* The leaves, in the order in which they have to be run. */
uint32_t pipeline_leaf_count(const struct pipeline *pipeline);
const struct plan_node *pipeline_leaf(const struct pipeline *pipeline, uint32_t leaf);
bool pipeline_leaf_is_scan(const struct pipeline *pipeline, uint32_t leaf);
bool pipeline_leaf_is_boundary(const struct pipeline *pipeline, uint32_t leaf);
/* It is of a table whose rows stand beside those of a stream: task 0 reads it for all. */
bool pipeline_leaf_is_once(const struct pipeline *pipeline, uint32_t leaf);
/* Where the batches of a PLAN_SCAN go. */
struct batch_receiver *pipeline_receiver(struct pipeline *pipeline, uint32_t leaf);
/* That of the task begun last. */
int64_t pipeline_batch_timestamp_us(const struct pipeline *pipeline);
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

/* The end of a pipeline that has a consumer. */
struct exec_node *pipeline_writer(struct pipeline *pipeline);
/* Takes over what a writer has for the boundary at this leaf and this partition. */
MUST_USE enum status pipeline_pull(struct pipeline *pipeline, uint32_t leaf, uint32_t input,
                                   struct exec_node *writer, struct error *err);
/* What waits for the boundary at this leaf and this partition is added. */
void pipeline_waiting(struct pipeline *pipeline, uint32_t leaf, const struct exec_node *writer,
                      struct exec_waiting *out);
/* It is pulled in rounds (exec/stateful.h): what the boundary has in memory goes to the disk before
 * the first, if there are several, and with its changes, which go to the file, after each but the
 * last.  pipeline_has_rounds(): it can.  Errors: those of the disk and of the operators. */
bool pipeline_has_rounds(struct pipeline *pipeline, uint32_t leaf);
MUST_USE enum status pipeline_begin_round(struct pipeline *pipeline, uint32_t leaf, uint32_t round,
                                          uint32_t rounds, struct error *err);
MUST_USE enum status pipeline_end_round(struct pipeline *pipeline, uint32_t leaf,
                                        struct error *err);
MUST_USE enum status pipeline_let_round_go(struct pipeline *pipeline, uint32_t leaf,
                                           struct error *err);
/* Behind the last round: what the watermark has ended on the disk comes out, about `room` bytes of
 * it.  *more: pipeline_let_round_go(), and again. */
MUST_USE enum status pipeline_expire(struct pipeline *pipeline, uint32_t leaf, uint64_t room,
                                     bool *more, struct error *err);
/* The changes of the task's batch to the state of its boundaries, as payloads of STATE records. */
MUST_USE enum status pipeline_changes(struct pipeline *pipeline, struct error *err);
uint32_t pipeline_change_count(const struct pipeline *pipeline);
/* The next record of a boundary, in their order; empty: there are no more.  Borrowed until the next
 * call.  Errors: those of the disk. */
MUST_USE enum status pipeline_next_change(struct pipeline *pipeline, uint32_t index,
                                          struct bytes *out, struct error *err);
MUST_USE enum status pipeline_restore(struct pipeline *pipeline, const struct plan_node *boundary,
                                      struct bytes changes, struct error *err);
/* Changes of its state, one after another.  They are copied, and some at a time go to the operator,
 * which has been told of them before and so does not wait for memory at each. */
struct pipeline_restorer;
struct pipeline_restorer *pipeline_restorer_new(struct pipeline *pipeline,
                                                const struct plan_node *boundary);
void pipeline_restorer_free(struct pipeline_restorer *restorer); /* NULL is fine */
MUST_USE enum status pipeline_restorer_add(struct pipeline_restorer *restorer,
                                           const struct change *change, struct error *err);
/* The last of them. */
MUST_USE enum status pipeline_restorer_finish(struct pipeline_restorer *restorer,
                                              struct error *err);
/* Adds what it took to write the changes of pipeline_boundary(index) to the log. */
void pipeline_add_commit_us(struct pipeline *pipeline, uint32_t index, int64_t took_us);
/* Adds the numbers of a boundary's operator. */
void pipeline_operator_stats(const struct pipeline *pipeline, const struct plan_node *boundary,
                             struct operator_stats *stats);

/* Memory that a pipeline holds from batch to batch, and for the present one. */
struct pipeline_memory {
    uint64_t state_bytes;          /* of operators that can let it go */
    uint64_t fixed_bytes;          /* of those that cannot */
    const struct plan_node *fixed; /* the one of them that has most */
    uint64_t fixed_most;
    uint64_t changes_bytes;
    uint64_t writer_bytes; /* what waits for the partitions */
};
/* BATCH_MEMORY_EXCEEDED. */
enum status pipeline_batch_too_large(uint64_t bytes, uint64_t limit, struct error *err);

/* Adds it. */
void pipeline_add_memory(const struct pipeline *pipeline, struct pipeline_memory *memory);
/* What is on the disk only of the operator of pipeline_change(index); NULL: it keeps all. */
struct spill *pipeline_spill(struct pipeline *pipeline, uint32_t index);
const struct plan_node *pipeline_boundary(const struct pipeline *pipeline, uint32_t index);
/* Moves so much memory of such operators to the disk.  Errors: those of the disk. */
MUST_USE enum status pipeline_let_go(struct pipeline *pipeline, uint64_t bytes, struct error *err);
/* What the pipeline has for the partitions of the next stage goes to the file, if its writer can do
 * that.  Errors: those of the disk. */
MUST_USE enum status pipeline_put_away_rows(struct pipeline *pipeline, struct spill_file *file,
                                            struct error *err);
/* The changes of the batch go to pages of the file until they are asked for.  Errors: those of the
 * disk. */
MUST_USE enum status pipeline_put_away(struct pipeline *pipeline, struct spill_file *file,
                                       struct error *err);
void pipeline_drop_change(struct pipeline *pipeline, uint32_t index);

/* Gives back memory that the last batches needed: the query goes idle. */
void pipeline_trim(struct pipeline *pipeline);

#endif
