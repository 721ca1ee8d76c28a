/*
 * The memory of a query's state, and its limit: `limits.memoryBytes` of the spec, or half of the
 * machine's.
 *
 * What counts is what grows with the data: the tables of operators with state, what a batch brings
 * for them, and its changes on the way to the log.  Three eighths of the limit are for what is
 * there from one partition to the next, a quarter for the partitions at work, an eighth for the
 * snapshot in the background (state/state_store.c); the rest is what memory loses between its
 * pieces.
 *
 * A partition task that ends above that puts the state of its partition on the disk
 * (state/spill.h), and the changes of the batch, too.  What is needed again comes back in one pass
 * in the order of the disk.  So every partition gives way when its turn comes, and memory holds
 * what some batches have touched.  What a batch brings for the partitions goes to the disk as well
 * when it is more than an eighth of the limit.  If more waits
 * for a partition than its share of the memory is good for, it takes it in rounds
 * (exec/stateful.h).
 *
 * What cannot be let go is refused instead of growing beyond the limit: STATE_MEMORY_EXCEEDED for
 * operators that keep all of their state in memory, BATCH_MEMORY_EXCEEDED for a batch that brings
 * more to an operator whose input stays in memory, or a key whose state alone is more than fits.
 *
 * Threads: the batch thread, but for state_budget_note().
 */
#ifndef SERVER_WORKER_STATE_BUDGET_H
#define SERVER_WORKER_STATE_BUDGET_H

#include "exec/stage_graph.h"

#include <stdatomic.h>

struct query;

struct state_budget {
    uint64_t limit_bytes;
    _Atomic int64_t used_bytes;    /* of all, while partitions are at work */
    _Atomic int64_t peak_bytes;    /* the most of them in the batch */
    struct spill_file *state_file; /* entries */
    struct spill_file *batch_file; /* what one batch needs */
};

/* Reads the limit; the graph is made.  Nothing is on the disk yet. */
void state_budget_init(struct query *query);
/* The graph is gone. */
void state_budget_fini(struct query *query);

/* A batch begins. */
void state_budget_begin(struct query *query);
/* It is over: the disk that it took for itself is given back now, not when the next one begins. */
void state_budget_end(struct query *query);

/* Makes room for what stage `index` of the batch at hand is about to take.
 * Errors: those of the disk, STATE_MEMORY_EXCEEDED. */
MUST_USE enum status state_budget_prepare(struct query *query, uint32_t index, struct error *err);

/* How much a writer of `threads` may have in memory, and at most. */
uint64_t state_budget_writer_bytes(const struct query *query, uint32_t threads);
uint64_t state_budget_writer_limit(const struct query *query, uint32_t threads);

/* In how many rounds a partition takes what waits for it at a leaf, one of `threads` at work. */
uint32_t state_budget_rounds(const struct query *query, struct pipeline *pipeline, uint32_t leaf,
                             const struct exec_waiting *waiting, uint32_t threads);
/* How much of what ends on the disk a partition has in memory at once. */
uint64_t state_budget_part_bytes(const struct query *query, uint32_t threads);
/* A pipeline, that had *noted bytes, has others: they are counted, and *noted is made right. */
void state_budget_count(struct query *query, const struct pipeline *pipeline, uint64_t *noted);

/* The most that was counted in the present batch. */
int64_t state_budget_peak_bytes(const struct query *query);

/* Memory of a pipeline that counts. */
uint64_t state_budget_bytes(const struct pipeline *pipeline);
/* A partition has done its work, of a batch or of a start, and had `before` bytes before.  If it is
 * too much, some of it goes.  Threads: any.
 * Errors: those of the disk, STATE_MEMORY_EXCEEDED, BATCH_MEMORY_EXCEEDED. */
MUST_USE enum status state_budget_note(struct query *query, struct pipeline *pipeline,
                                       uint64_t before, struct error *err);

/* A start has restored all: partitions of which something is on the disk put there what they have
 * in memory, so that each entry is in one place.  Errors: those of the disk. */
MUST_USE enum status state_budget_loaded(struct query *query, struct error *err);

#endif
