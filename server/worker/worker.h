/*
 * The life of a query in a worker: open, recover, trigger, run, close.
 */
#ifndef SERVER_WORKER_WORKER_H
#define SERVER_WORKER_WORKER_H

#include "worker/control_thread.h"
#include "worker/query.h"

enum step_outcome {
    STEP_RAN,      /* a batch was committed */
    STEP_IDLE,     /* nothing was due */
    STEP_FINISHED, /* nothing was due, and nothing ever will be: availableNow, once */
};

/*
 * One trigger: plans and runs at most one batch, and reports it to the observer.  After an error
 * the query must be closed.
 */
MUST_USE enum status worker_step(struct query *query, enum step_outcome *outcome,
                                 struct error *err);

/*
 * Steps as the spec's trigger says until the query is finished or `control` wishes it to stop, and
 * leaves in *reason "stopped", "availableNow" or "once".
 */
MUST_USE enum status worker_loop(struct query *query, struct control *control, const char **reason,
                                 struct error *err);

#endif
