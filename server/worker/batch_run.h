/*
 * Computing a batch: the input of the intent, cut into tasks, through the pipelines into the sink.
 */
#ifndef SERVER_WORKER_BATCH_RUN_H
#define SERVER_WORKER_BATCH_RUN_H

#include "worker/query.h"

/*
 * Runs the batch of `intent` and stages its output; fills query->result.  The sink has begun it.
 * Errors: those of sources, expressions and sink; OPERATION_CANCELLED.
 */
MUST_USE enum status batch_run(struct query *query, const struct batch_intent *intent,
                               struct error *err);

/* Logs what the batch has changed in the state, after batch_run. */
MUST_USE enum status batch_append_state(struct query *query, struct error *err);

#endif
