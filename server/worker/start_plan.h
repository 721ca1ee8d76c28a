/*
 * The start plan: what a start of a query would do, found out without starting anything and
 * without changing anything, on disk or in a running worker.
 *
 * It goes the way of query_open() as far as it can be gone by looking: the checkpoint is read but
 * not locked, and sink and sources are opened through a vfs that changes nothing (base/vfs_dry.h).
 * What a start would stumble over is listed, not raised.
 *
 *     batch        NEW      a batch that was never tried
 *                  RERUN    the last logged batch, with its logged intent
 *                  FINISH   the sink has it: only its commit record is missing; then a new one
 *                  REPLAY   a batch that was taken back by a rewind, with its logged intent
 *     duplicates   NONE, SUPPRESSED (the sink gets them and drops them), POSSIBLE, CERTAIN
 *
 * Threads: any.
 */
#ifndef SERVER_WORKER_START_PLAN_H
#define SERVER_WORKER_START_PLAN_H

#include "worker/query.h"

/* Appends the plan as a JSON object (openapi.yaml, StartPlan).  `config` as for query_open();
 * observer, log and parallelism are not used, default_checkpoint_dir has to be set.  Errors:
 * LIMIT_EXCEEDED. */
MUST_USE enum status start_plan_make(const struct query_config *config, struct buffer *out,
                                     struct error *err);

#endif
