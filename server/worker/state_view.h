/*
 * Looking at the state of a query, running or not, in a version that is still within reach: the
 * newest snapshot at or below it and the log after it are read into memory of the reader.  The
 * worker is not asked and nothing is locked or changed.
 *
 * Threads: any.
 */
#ifndef SERVER_WORKER_STATE_VIEW_H
#define SERVER_WORKER_STATE_VIEW_H

#include "worker/query.h"

#define STATE_VIEW_NEWEST (-1) /* the last committed batch */
#define STATE_VIEW_ALL    (-1) /* all operators: their counts, no rows */

struct state_view_request {
    int64_t operator_id;
    int64_t batch_id;
    uint32_t limit;  /* rows */
    const char *key; /* "name=value": only rows with this text in that column; NULL: all */
};

/*
 * Of a changed query that could not go on with its checkpoint, the state is shown by the names and
 * types of the query that ran last.
 *
 * Appends {"batchId", "operators": [...]} or {"batchId", "operatorId", "kind", "columns", "rows",
 * "truncated"}.  `config` as for start_plan_make().
 * Errors: ROUTE_NOT_FOUND with the operators there are; INVALID_PARAMETER for a key that is no
 * column; BATCH_NOT_FOUND, BATCH_EXPIRED; CHECKPOINT_NOT_FOUND, CHECKPOINT.*; those of
 * fingerprint_check(), if nobody knows the query that ran last; those of parsing,
 * analysis and planning.
 */
MUST_USE enum status state_view_make(const struct query_config *config,
                                     const struct state_view_request *request, struct buffer *out,
                                     struct error *err);

#endif
