/*
 * The snapshots of state in a checkpoint, by the versions in their names:
 *
 *     state/snapshot-00000000000000000412    the state after batch 412: a directory
 *
 * What is in them is their writer's business; here they are found, and removed when a rewind makes
 * them the state of batches that do not count any more.
 */
#ifndef SERVER_CHECKPOINT_SNAPSHOT_LIST_H
#define SERVER_CHECKPOINT_SNAPSHOT_LIST_H

#include "base/arena.h"
#include "base/vfs.h"

#include <stdint.h>

/* The versions of which the checkpoint in `dir` has snapshots, ascending, in `arena`. */
MUST_USE enum status snapshot_list_read(struct vfs *vfs, const char *dir, struct arena *arena,
                                        int64_t **out, size_t *count, struct error *err);

/* One behind the newest of them; 0: there are none. */
MUST_USE enum status snapshot_list_end(struct vfs *vfs, const char *dir, int64_t *end,
                                       struct error *err);

/* Removes those newer than `version`, and what is half written; durable when it returns. */
MUST_USE enum status snapshot_list_cut(struct vfs *vfs, const char *dir, int64_t version,
                                       struct error *err);

#endif
