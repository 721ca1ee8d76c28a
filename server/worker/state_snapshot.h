/*
 * Snapshots of the state, so that a restart need not replay all changes and the log can be cut.
 *
 *     state/snapshot-<version>     everything that is in the state after batch <version>
 *
 * The file is a run of records in the framing of the checkpoint log (checkpoint/log_record.h):
 * START, then STATE records whose payloads have the form of the changelog and hold only PUT, then
 * CLOSE.  It gets its name when it is complete and durable; one that does not check is passed over
 * for the one before it, which is kept for that, together with the log since then.
 *
 * A snapshot is taken between two batches when the log since the last one has outgrown the state;
 * the batch thread writes it, making it durable is left to the background.
 *
 * Threads: the batch thread.
 */
#ifndef SERVER_WORKER_STATE_SNAPSHOT_H
#define SERVER_WORKER_STATE_SNAPSHOT_H

#include "base/error.h"

#include <stdint.h>

struct query;

/* Restores the state after batch `version`: the newest good snapshot, and the changes since.
 * Errors: CHECKPOINT.CORRUPT if neither is there in full. */
MUST_USE enum status state_snapshot_load(struct query *query, int64_t version, struct error *err);

/* Batch `version` is committed: takes a snapshot if it is time, and lets go of what an older one
 * has made durable.  Errors: IO_FAILURE, DISK_FULL. */
MUST_USE enum status state_snapshot_consider(struct query *query, int64_t version,
                                             struct error *err);

/* Waits for what is in the background. */
void state_snapshot_close(struct query *query);

#endif
