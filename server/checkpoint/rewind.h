/*
 * Rewinding a checkpoint: batches after a given one are to be run again.
 *
 * What they read stays as it was: their logged intents are kept and each is run again with its own,
 * so that a sink which has a batch already has the same rows of it, and may leave it at that.  The
 * state goes back to the version of the batch: a snapshot and the log after it.
 *
 *     take the lock and a higher epoch   nobody else writes, and no older worker can commit
 *     remove the snapshots after `to`    the state can be built from older ones, before and after
 *     append REWIND(to), sync            this is the moment: before it nothing has happened
 *
 * A process that dies on the way leaves the checkpoint rewound or not, and never in between.
 *
 * Threads: any; the lock decides.
 */
#ifndef SERVER_CHECKPOINT_REWIND_H
#define SERVER_CHECKPOINT_REWIND_H

#include "base/clock.h"
#include "base/vfs.h"
#include "checkpoint/log_history.h"

struct rewind_request {
    struct vfs *vfs;
    struct clock *clock;
    const char *dir;
    const char *query_id; /* NULL: whoever's it is */
    const char *name;     /* of the query, for errors; NULL: the directory */
    int64_t to_batch;     /* NO_BATCH: before the first one */
};

struct rewind_outcome {
    int64_t to_batch;
    int64_t last_batch; /* committed before; the same as to_batch: nothing had to be done */
    int64_t replay_end; /* the batches below it run again as they were */
    int64_t oldest;     /* to which one may rewind */
    uint32_t epoch;
    struct logged_batch *batches; /* replay_end - to_batch - 1 of them, from to_batch + 1 on */
};

/*
 * Lists are in `arena`.
 * Errors: CHECKPOINT_NOT_FOUND; CHECKPOINT.LOCKED while a worker runs; BATCH_EXPIRED if the log or
 * the state do not reach back so far; FAILED_READ_FILE.FILE_NOT_EXIST if a file that would be read
 * again is gone (cleanSource); INVALID_FIELD_VALUE for a batch that is not committed;
 * CHECKPOINT.*, IO_FAILURE, DISK_FULL.
 */
MUST_USE enum status checkpoint_rewind(struct arena *arena, const struct rewind_request *request,
                                       struct rewind_outcome *out, struct error *err);

/* {"toBatchId", "nextBatchId", "previousBatchId", "epoch", "batches": [...], rows and counts}
 * without the closing brace. */
void rewind_outcome_print(const struct rewind_outcome *outcome, struct buffer *out);

#endif
