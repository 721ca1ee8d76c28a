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

#include <stdint.h>

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

/* Checks every record, that their order is possible, that the sources still have what they had
 * made durable by the newest intent, and that the sink, whose newest batch is `sink_last`
 * (SINK_CANNOT_TELL: not known), is where such a log can leave it: a log that lost its end reads as
 * a shorter one.  Errors: as checkpoint_show, CHECKPOINT.INCONSISTENT. */
MUST_USE enum status checkpoint_verify(struct vfs *vfs, const char *dir, int64_t sink_last,
                                       enum checkpoint_form form, struct buffer *out,
                                       struct error *err);

/* What the sink has of batches: the log knows nothing of it. */
struct batch_outputs {
    /* Before the first batch: of which query, and of which batches (`end` is no more). */
    void (*begin)(struct batch_outputs *self, const char *query_id, int64_t from, int64_t end);
    /* Adds the members of a batch's document, with the comma before them. */
    void (*add)(struct batch_outputs *self, int64_t batch_id, struct buffer *out);
};

struct batch_request {
    int64_t batch_id;              /* only this one; NO_BATCH: the newest `limit` ones */
    int64_t before;                /* of those before it; NO_BATCH: of all */
    uint32_t limit;                /* from 1 to BATCHES_MAX */
    uint32_t files;                /* how many files of each source are named, the first ones */
    struct batch_outputs *outputs; /* NULL: not asked for */
};

#define BATCHES_MAX 10000

/*
 * The provenance of batches as a JSON array, oldest first: attempts, source ranges with their
 * files, watermarks, rows, whether they are committed.  *first is the oldest batch that the log
 * has, NO_BATCH if there is none.
 */
MUST_USE enum status checkpoint_batches(struct vfs *vfs, const char *dir,
                                        const struct batch_request *request, int64_t *first,
                                        struct buffer *out, struct error *err);

/* The runs that the log remembers, oldest first, as a JSON array. */
MUST_USE enum status checkpoint_runs(struct vfs *vfs, const char *dir, struct buffer *out,
                                     struct error *err);

#endif
