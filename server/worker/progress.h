/*
 * The progress document of a batch: Spark's StreamingQueryProgress as JSON, key for key.
 */
#ifndef SERVER_WORKER_PROGRESS_H
#define SERVER_WORKER_PROGRESS_H

#include "worker/query.h"

/* The batch `intent` has been committed; appends its document to `out`. */
void progress_of_batch(const struct query *query, const struct batch_intent *intent,
                       struct buffer *out);

/* Nothing has happened for a while. */
void progress_idle(const struct query *query, struct buffer *out);

#endif
