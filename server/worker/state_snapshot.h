/*
 * The state between the tables in memory, the checkpoint log and the store (state/state_store.h).
 *
 * A batch leaves its changes in the log, and that makes them durable.  When the log has grown
 * enough since the last snapshot, the version is handed to the store, which reads the log in the
 * background, takes a snapshot, and by that says which part of the log is not needed any more.  The
 * batch thread does nothing for it.  A snapshot that fails, because the disk is full say, fails no
 * batch: the log has everything, and it is tried again; only when it fails again and again does the
 * query fail.
 *
 * At a start the store is opened at its newest whole snapshot, all its entries are put into the
 * tables, partitions side by side, and then the changes of the batches since.
 *
 * Threads: the batch thread.
 */
#ifndef SERVER_WORKER_STATE_SNAPSHOT_H
#define SERVER_WORKER_STATE_SNAPSHOT_H

#include "state/state_store.h"

struct query;

/* Opens the store and restores the state after batch `version`.
 * Errors: CHECKPOINT.CORRUPT if no snapshot is whole that the log reaches back to; LIBRARY_MISSING,
 * IO_FAILURE, DISK_FULL. */
MUST_USE enum status state_snapshot_load(struct query *query, int64_t version, struct error *err);

/* Batch `version` is committed: asks for a snapshot if it is time, and lets go of the log that is
 * not needed any more.  Errors: what has stopped snapshots for long. */
MUST_USE enum status state_snapshot_consider(struct query *query, int64_t version,
                                             struct error *err);

/* Waits for what is in the background. */
void state_snapshot_close(struct query *query);

#endif
