/*
 * Reading a log that was rewound.
 *
 * REWIND(N) takes back every record of a batch after N that stands before it; what follows is the
 * history that counts.  A reader who acts on records as it meets them has to know beforehand which
 * of them are taken back: the REWINDs are read first, and a record is asked for by its place in the
 * order of the log.
 */
#ifndef SERVER_CHECKPOINT_LOG_HISTORY_H
#define SERVER_CHECKPOINT_LOG_HISTORY_H

#include "checkpoint/batch_record.h"
#include "checkpoint/checkpoint_log.h"

struct log_rewind {
    uint64_t ordinal; /* of the REWIND: records are counted from 0 */
    int64_t to;
};

struct log_rewinds {
    struct log_rewind *items;
    size_t count;
};

/* All REWINDs of the log in `dir`, in `arena`.  Errors: those of checkpoint_log_scan. */
MUST_USE enum status log_rewinds_read(struct vfs *vfs, const char *dir, struct arena *arena,
                                      struct log_rewinds *out, struct error *err);

/* Whether record number `ordinal`, which belongs to `batch_id`, was taken back. */
bool log_rewinds_took_back(const struct log_rewinds *rewinds, uint64_t ordinal, int64_t batch_id);

/* What the log has of a batch: of several attempts, the last. */
struct logged_batch {
    bool has_intent, has_changes, committed;
    struct log_position intent;
    struct batch_changes changes;
};

/*
 * The batches [first, end), taken back or not, in `arena`.
 * Errors: those of checkpoint_log_scan.
 */
MUST_USE enum status logged_batches_read(struct vfs *vfs, const char *dir, struct arena *arena,
                                         int64_t first, int64_t end, struct logged_batch **out,
                                         struct error *err);

#endif
