/*
 * The checkpoint log: segments of records, appended by one worker, read from front to back at a
 * start.
 *
 *     log/00000000000000000000   the segment whose first batch is 0
 *     log/00000000000000000412   ... and the one that began with batch 412
 *
 * A segment begins with a START record.  When it has grown beyond the limit, the next batch begins
 * a new one; the old one was synced before, so only the last segment can have a torn tail.  Old
 * segments go when every batch in them is older than what is retained.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_CHECKPOINT_CHECKPOINT_LOG_H
#define SERVER_CHECKPOINT_CHECKPOINT_LOG_H

#include "base/vfs.h"
#include "checkpoint/log_record.h"

#define LOG_SEGMENT_BYTES     ((uint64_t)16 << 20) /* a new segment begins beyond it, if not said */
#define LOG_PREALLOCATE_BYTES ((uint64_t)256 << 10)

struct checkpoint_log;

/* Where a record stands. */
struct log_position {
    int64_t segment; /* its first batch */
    uint64_t offset;
};

/* Called for each record from the oldest on; the record is valid only during the call. */
struct log_visitor {
    enum status (*visit)(struct log_visitor *self, const struct log_record *record,
                         const struct log_position *position, struct error *err);
    bool done; /* set by visit(): what follows is not wanted, nor looked at */
};

/* What a scan found beyond the records. */
struct log_summary {
    uint64_t segments;
    uint64_t records;
    uint64_t size_bytes;  /* of all records */
    int64_t last_segment; /* first batch of the last one, NO_BATCH if there is none */
    uint64_t end;         /* in the last segment: where the next record goes */
    uint64_t torn_bytes;  /* after it: what a crash left, to be cut */
};

/*
 * Reads the log in `dir` without changing it.
 * Errors: CHECKPOINT.CORRUPT, CHECKPOINT.UNSUPPORTED_VERSION, IO_FAILURE, and the visitor's.
 */
MUST_USE enum status checkpoint_log_scan(struct vfs *vfs, const char *dir,
                                         struct log_visitor *visitor, struct log_summary *out,
                                         struct error *err);

/* As checkpoint_log_scan(), from the segment that `batch_id` is in: for logs that were never
 * rewound. A visitor that is done before the end may read while another thread appends and trims.
 */
MUST_USE enum status checkpoint_log_scan_from(struct vfs *vfs, const char *dir, int64_t batch_id,
                                              struct log_visitor *visitor, struct log_summary *out,
                                              struct error *err);

/* Reads the one record at `position` into `arena`.  Errors: as the scan's. */
MUST_USE enum status checkpoint_log_read(struct vfs *vfs, const char *dir,
                                         const struct log_position *position, struct arena *arena,
                                         struct log_record *out, struct error *err);

/* Opens it for appending where the scan said that it ends; a torn tail is cut. */
MUST_USE enum status checkpoint_log_open(struct vfs *vfs, const char *dir, uint32_t epoch,
                                         const struct log_summary *summary,
                                         struct checkpoint_log **out, struct error *err);
void checkpoint_log_close(struct checkpoint_log *log); /* NULL is fine */

/* Durable after the next sync.  *position is set; NULL: not wanted. */
MUST_USE enum status checkpoint_log_append(struct checkpoint_log *log, enum record_kind kind,
                                           int64_t batch_id, struct bytes payload,
                                           struct log_position *position, struct error *err);
MUST_USE enum status checkpoint_log_sync(struct checkpoint_log *log, struct error *err);
bool checkpoint_log_is_synced(const struct checkpoint_log *log);

/* Whether the next batch should begin a new segment, or none has been begun yet.  What a segment
 * has is at least one batch: its START alone does not fill it. */
bool checkpoint_log_is_full(const struct checkpoint_log *log, uint64_t segment_bytes,
                            int64_t next_batch);

/* Syncs the present segment and begins the one of `first_batch`; a START record has to follow. */
MUST_USE enum status checkpoint_log_rotate(struct checkpoint_log *log, int64_t first_batch,
                                           struct error *err);

/* Removes the segments all of whose batches are below `oldest`; *removed says how many. */
MUST_USE enum status checkpoint_log_trim(struct checkpoint_log *log, int64_t oldest,
                                         uint32_t *removed, struct error *err);

/* Bytes of the present segment that hold records. */
uint64_t checkpoint_log_segment_bytes(const struct checkpoint_log *log);

#endif
