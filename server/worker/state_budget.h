/*
 * The memory of a query's state, and its limit: `limits.memoryBytes` of the spec, or half of the
 * machine's.
 *
 * What counts is what grows with the data: the tables of operators with state, what a batch brings
 * for them, and its changes on the way to the log.  Half of the limit is for what is there at the
 * same time, the rest for the partitions at work.
 *
 * A partition task that ends above that puts the state of its partition on the disk
 * (state/spill.h), and the changes of the batch, too.  What is needed again comes back in one pass
 * in the order of the disk.  So every partition gives way when its turn comes, and memory holds
 * what some batches have touched.  What a batch brings for the partitions goes to the disk as well
 * when it is more than a quarter of the limit (of all writers but that of panes).
 *
 * What cannot be let go is refused instead of growing beyond the limit: STATE_MEMORY_EXCEEDED for
 * operators that keep all of their state in memory, BATCH_MEMORY_EXCEEDED for a batch that changes
 * more of the state of one partition than fits, or brings more to an operator whose input stays in
 * memory.
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
    struct spill_file *state_file; /* entries */
    struct spill_file *batch_file; /* what one batch needs */
};

/* Reads the limit; the graph is made.  Nothing is on the disk yet. */
void state_budget_init(struct query *query);
/* The graph is gone. */
void state_budget_fini(struct query *query);

/* A batch begins. */
void state_budget_begin(struct query *query);

/* Makes room for what stage `index` of the batch at hand is about to take.
 * Errors: those of the disk, STATE_MEMORY_EXCEEDED. */
MUST_USE enum status state_budget_prepare(struct query *query, uint32_t index, struct error *err);

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
