/*
 * A checkpoint: everything that is durable about a query.
 *
 *     identity.json        whose it is; written once
 *     lock                 held by flock while a worker lives; says who holds it
 *     epoch                the fencing epoch of the newest worker
 *     begun                there since the log was first durable: an empty log is then a lost one
 *     log/<first batch>    the checkpoint log
 *     state/               snapshots of the state (state/state_store.h)
 *     sources/<n>/         what a source has to remember beyond offsets
 *     sink/                what a file-like sink has to know of its last batches
 *
 * The order in which a worker calls is the protocol of worker/micro_batch.c.  What was appended is
 * durable with the next sync; COMMIT(N) is left to the sync of batch N+1, or to one made when the
 * query goes idle or ends.
 *
 * Two workers cannot have one checkpoint: the lock is taken before anything is read or written, and
 * where locks do not hold (some network file systems) the epoch does: it rises with every worker,
 * and one that finds a higher epoch than its own cannot commit any more.
 *
 * Threads: the batch thread; checkpoint_append_state() also those at work on its batch, one at a
 * time; checkpoint_replay_state() also another one, for batches that are
 * committed and held, after the run has started.
 */
#ifndef SERVER_CHECKPOINT_CHECKPOINT_H
#define SERVER_CHECKPOINT_CHECKPOINT_H

#include "base/clock.h"
#include "base/vfs.h"
#include "checkpoint/batch_record.h"
#include "checkpoint/checkpoint_log.h"
#include "checkpoint/log_history.h"
#include "checkpoint/recovery.h"

struct checkpoint;

struct checkpoint_config {
    struct vfs *vfs;
    struct clock *clock;
    const char *dir;
    const char *query_id;   /* NULL: that of the checkpoint, or a new one */
    const char *query_name; /* for a new checkpoint */
    const char *run_id;
    uint32_t progress_keep; /* progress documents kept in memory */
    int64_t batches_keep;   /* batches whose records stay readable; at least 2 */
    uint64_t segment_bytes; /* a new segment of the log begins beyond it; 0: LOG_SEGMENT_BYTES */
    /* For looking at a checkpoint that a worker may hold: nothing is locked or changed, and only
     * what reads may be called.  Errors: CHECKPOINT_NOT_FOUND, too. */
    bool look_only;
};

/*
 * Takes the lock, makes or checks the identity, reads the log.  Nothing of an existing checkpoint
 * is changed but the epoch. Errors: CHECKPOINT.LOCKED, .FOREIGN, .CORRUPT, .UNSUPPORTED_VERSION,
 * STREAMING_CHECKPOINT_MISSING_METADATA_FILE, IO_FAILURE, DISK_FULL.
 */
MUST_USE enum status checkpoint_open(const struct checkpoint_config *config,
                                     struct checkpoint **out, struct error *err);

/* Releases the lock.  NULL is fine. */
void checkpoint_close(struct checkpoint *checkpoint);

const char *checkpoint_query_id(const struct checkpoint *checkpoint);
const char *checkpoint_dir(const struct checkpoint *checkpoint);
uint32_t checkpoint_epoch(const struct checkpoint *checkpoint);

/* What the log says; sink_last is left alone. */
void checkpoint_facts(const struct checkpoint *checkpoint, struct recovery_facts *facts);

/* The newest run before this one; NULL: the checkpoint is new. */
const struct run_record *checkpoint_last_run(const struct checkpoint *checkpoint);
/* The newest intent found at open, and that of the batch before it; NULL if there is none. */
const struct batch_intent *checkpoint_last_intent(const struct checkpoint *checkpoint);
const struct batch_intent *checkpoint_previous_intent(const struct checkpoint *checkpoint);
/* The newest changes found at open; NULL if there are none. */
const struct batch_changes *checkpoint_last_changes(const struct checkpoint *checkpoint);

/* The oldest batch that the log still has; 0 if it has none. */
int64_t checkpoint_first_batch(const struct checkpoint *checkpoint);

/* Batches below it were run before the checkpoint was rewound, and are run again with their logged
 * intents; 0 if there are none. */
int64_t checkpoint_replay_end(const struct checkpoint *checkpoint);

/* What was taken back, in `arena`: for those who read records in the order of the log. */
MUST_USE enum status checkpoint_rewinds(struct checkpoint *checkpoint, struct arena *arena,
                                        struct log_rewinds *out, struct error *err);
/* The batches [first, end) as they are in the log, rewound or not, in `arena`. */
MUST_USE enum status checkpoint_logged_batches(struct checkpoint *checkpoint, struct arena *arena,
                                               int64_t first, int64_t end,
                                               struct logged_batch **out, struct error *err);
/* The intent at `position`, in `arena`.  Errors: CHECKPOINT.CORRUPT, IO_FAILURE. */
MUST_USE enum status checkpoint_read_intent(struct checkpoint *checkpoint,
                                            const struct log_position *position,
                                            struct arena *arena, struct batch_intent **out,
                                            struct error *err);

/* Ends the reading part: cuts what a crash left behind and logs START.  Errors: IO_FAILURE,
 * DISK_FULL. */
MUST_USE enum status checkpoint_start_run(struct checkpoint *checkpoint, uint64_t fingerprint,
                                          struct bytes fingerprint_text, struct error *err);

/* The records of a batch, in this order.  Errors of all: IO_FAILURE, DISK_FULL. */
MUST_USE enum status checkpoint_append_intent(struct checkpoint *checkpoint,
                                              const struct batch_intent *intent, struct error *err);
MUST_USE enum status checkpoint_append_state(struct checkpoint *checkpoint, int64_t batch_id,
                                             struct bytes content, struct error *err);
MUST_USE enum status checkpoint_append_changes(struct checkpoint *checkpoint, int64_t batch_id,
                                               struct batch_changes *changes, struct error *err);
MUST_USE enum status checkpoint_sync(struct checkpoint *checkpoint, struct error *err);
/* Errors: CONCURRENT_STREAM_LOG_UPDATE if a newer worker has taken over. */
MUST_USE enum status checkpoint_check_fence(struct checkpoint *checkpoint, int64_t batch_id,
                                            struct error *err);
MUST_USE enum status checkpoint_append_commit(struct checkpoint *checkpoint, int64_t batch_id,
                                              struct error *err);
MUST_USE enum status checkpoint_append_progress(struct checkpoint *checkpoint, int64_t batch_id,
                                                struct bytes json, struct error *err);

/* Takes back all batches after `to_batch`, of which something is logged: durable when it returns.
 * Nothing but checkpoint_end_run may follow.  checkpoint/rewind.h is the whole of it. */
MUST_USE enum status checkpoint_append_rewind(struct checkpoint *checkpoint, int64_t to_batch,
                                              const struct rewind_record *rewind,
                                              struct error *err);

/* The newest batch whose COMMIT is durable: up to here a source may forget. */
int64_t checkpoint_durable_commit(const struct checkpoint *checkpoint);

/* The run ends in order: logs CLOSE and syncs. */
MUST_USE enum status checkpoint_end_run(struct checkpoint *checkpoint, struct error *err);

/* The progress documents that are kept, oldest first.  Borrowed until the next append. */
uint32_t checkpoint_progress_count(const struct checkpoint *checkpoint);
struct bytes checkpoint_progress_at(const struct checkpoint *checkpoint, uint32_t index,
                                    int64_t *batch_id);

/* Batches from this one on are needed by the state, whatever is to be kept.  INT64_MAX: none. */
void checkpoint_hold(struct checkpoint *checkpoint, int64_t oldest_needed);

/* Takes the payloads of STATE records, which are valid during the call. */
struct state_receiver {
    enum status (*receive)(struct state_receiver *self, struct bytes record, struct error *err);
};

/* The STATE records of the batches [from, to] in their order; of a batch that was tried several
 * times, those of the last attempt.  Errors: CHECKPOINT.CORRUPT, IO_FAILURE, the receiver's. */
MUST_USE enum status checkpoint_replay_state(struct checkpoint *checkpoint, int64_t from,
                                             int64_t to, struct state_receiver *receiver,
                                             struct error *err);

/* As checkpoint_scan(), but what is sure to be only of batches before this one may be left out. */
MUST_USE enum status checkpoint_scan_from(struct checkpoint *checkpoint, int64_t batch_id,
                                          struct log_visitor *visitor, struct error *err);
/* The whole log again, and one record of it. */
MUST_USE enum status checkpoint_scan(struct checkpoint *checkpoint, struct log_visitor *visitor,
                                     struct error *err);
MUST_USE enum status checkpoint_read_record(struct checkpoint *checkpoint,
                                            const struct log_position *position,
                                            struct arena *arena, struct log_record *out,
                                            struct error *err);

#endif
