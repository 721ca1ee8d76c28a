/*
 * Computing a batch: the input of the intent, cut into tasks, through the pipelines into the sink.
 */
#ifndef SERVER_WORKER_BATCH_RUN_H
#define SERVER_WORKER_BATCH_RUN_H

#include "worker/query.h"

/*
 * Runs the batch of `intent`, logs what it has changed in the state, and stages its output; fills
 * query->result.
 * Errors: those of sources, expressions and sink; OPERATION_CANCELLED.
 */
MUST_USE enum status batch_run(struct query *query, const struct batch_intent *intent,
                               struct error *err);

#endif
