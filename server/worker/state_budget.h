/*
 * The memory of a query's state, and its limit: `limits.memoryBytes` of the spec, or half of the
 * memory that the process may use.
 *
 * Before a partition stage begins, it is known what the batch brings to it.  If that and what lies
 * in the tables is more than the limit allows, the tables of the stage are let go, as far as it
 * takes: the store has everything up to the batch before, or is waited for, and the memory is given
 * back (state/spill.h).  What is needed again comes back in sorted passes.
 *
 * What cannot be let go is refused instead of growing beyond the limit: STATE_MEMORY_EXCEEDED for
 * operators that keep all of their state in memory, BATCH_MEMORY_EXCEEDED for a batch that changes
 * more of the state than fits.
 *
 * A state that is much larger than the limit when a run begins is not loaded at all: everything
 * stays in the store until it is needed.
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
    _Atomic int64_t used_bytes; /* of all, while a partition stage runs */
    bool spilled;               /* something is in the store only */
    uint64_t let_go;            /* how often memory was given back */
};

/* Reads the limit.  The store may be opened later. */
void state_budget_init(struct query *query);

/* Makes room for what stage `index` of the batch at hand is about to take.
 * Errors: the store's, STATE_MEMORY_EXCEEDED. */
MUST_USE enum status state_budget_prepare(struct query *query, uint32_t index, struct error *err);

/* A partition task has changed the memory of its pipeline.  Threads: any.
 * Errors: STATE_MEMORY_EXCEEDED, BATCH_MEMORY_EXCEEDED. */
uint64_t state_budget_bytes(const struct pipeline *pipeline);
MUST_USE enum status state_budget_note(struct query *query, const struct pipeline *pipeline,
                                       uint64_t before, struct error *err);

/* Batch `version` is committed: where something is spilled, the store goes on with it at once. */
void state_budget_committed(struct query *query, int64_t version);

/* Instead of loading: if the state of `version` is too much for the memory, leaves it in the store
 * and sets *left.  Operators that cannot do that are loaded.  Errors: the store's. */
MUST_USE enum status state_budget_leave(struct query *query, int64_t version, bool *left,
                                        struct error *err);

#endif
