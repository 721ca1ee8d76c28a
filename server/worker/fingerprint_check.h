/*
 * Whether a query may go on with a checkpoint that a former version of it made.
 */
#ifndef SERVER_WORKER_FINGERPRINT_CHECK_H
#define SERVER_WORKER_FINGERPRINT_CHECK_H

#include "worker/query.h"

/*
 * Compares the plan with what the newest run of the checkpoint was.  Before the first batch
 * everything may change.
 * Errors: CHECKPOINT.QUERY_CHANGED with what differs, and Spark's conditions for state that would
 * not fit.
 */
MUST_USE enum status fingerprint_check(const struct query *query, struct error *err);

/* The same of the text of any fingerprint; of the query, only its arena and the place of its
 * checkpoint (if it has one) are used. */
MUST_USE enum status fingerprint_check_texts(const struct query *query, struct bytes stored,
                                             const struct physical_plan *plan, struct error *err);

/*
 * Whether an aggregation whose plan keeps panes of sliding windows has the state of whole windows
 * in the checkpoint: its windows did not slide, or a function was there that panes cannot have.
 */
bool fingerprint_has_whole_windows(const struct query *query);

/* One operator with state, as the checkpoint has it and as the plan would have it. */
struct operator_verdict {
    const char *kind; /* as in EXPLAIN; of the plan, or of the checkpoint if the plan has none */
    uint32_t index;
    bool is_new; /* the checkpoint has no batch yet: nothing to compare with */
    bool fits;
    struct error why; /* what differs, if it does not fit */
};

/* The same for each operator by itself, in the order of their numbers (those of `state`); lists are
 * in `arena`. */
void fingerprint_operators(const struct query *query, struct arena *arena,
                           struct operator_verdict **out, uint32_t *count);

#endif
