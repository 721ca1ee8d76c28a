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

#endif
