/*
 * What the next batch is: which input, with which watermarks and which "now".
 */
#ifndef SERVER_WORKER_BATCH_PLAN_H
#define SERVER_WORKER_BATCH_PLAN_H

#include "worker/query.h"

/*
 * Leaves the intent of the next batch in query->intent, or NULL if there is nothing to do.  A
 * logged batch that has to run again is already there and is left as it is.
 * Errors: those of the sources.
 */
MUST_USE enum status batch_plan_next(struct query *query, struct error *err);

#endif
