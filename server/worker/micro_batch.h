/*
 * One micro-batch, start to end.
 */
#ifndef SERVER_WORKER_MICRO_BATCH_H
#define SERVER_WORKER_MICRO_BATCH_H

#include "worker/query.h"

/*
 * Runs query->intent.  After OK it is committed and query->intent is NULL.  After an error the run
 * has to end: the next one recovers.
 */
MUST_USE enum status micro_batch_run(struct query *query, struct error *err);

#endif
