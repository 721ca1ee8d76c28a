/*
 * Looking at a checkpoint from outside, while a worker holds it or nobody does: nothing is locked
 * and nothing is changed.
 *
 * Threads: any.
 */
#ifndef SERVER_CHECKPOINT_INSPECT_H
#define SERVER_CHECKPOINT_INSPECT_H

#include "base/buffer.h"
#include "base/vfs.h"

enum checkpoint_form {
    CHECKPOINT_TEXT, /* for people */
    CHECKPOINT_JSON,
};

/*
 * Whose it is, where it stands, its segments, and what a start would do: NEW, RERUN, REPLAY, FINISH
 * or NONE as in the start plan, and RERUN_OR_FINISH where only the sink could tell.
 * Errors: CHECKPOINT_NOT_FOUND, CHECKPOINT.CORRUPT, CHECKPOINT.UNSUPPORTED_VERSION, IO_FAILURE.
 */
MUST_USE enum status checkpoint_show(struct vfs *vfs, const char *dir, enum checkpoint_form form,
                                     struct buffer *out, struct error *err);

/* Checks every record, that their order is possible, and that the sources still have what they had
 * made durable by the newest intent.  Errors: as checkpoint_show. */
MUST_USE enum status checkpoint_verify(struct vfs *vfs, const char *dir, enum checkpoint_form form,
                                       struct buffer *out, struct error *err);

/*
 * The provenance of batches as a JSON array, oldest first: attempts, source ranges, watermarks,
 * rows, whether they are committed.  `batch_id` NO_BATCH: the newest `limit` ones.
 */
MUST_USE enum status checkpoint_batches(struct vfs *vfs, const char *dir, int64_t batch_id,
                                        uint32_t limit, struct buffer *out, struct error *err);

/* The runs that the log remembers, oldest first, as a JSON array. */
MUST_USE enum status checkpoint_runs(struct vfs *vfs, const char *dir, struct buffer *out,
                                     struct error *err);

#endif
