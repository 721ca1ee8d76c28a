/*
 * The vfs of production: POSIX files.
 *
 * put writes "<path>.<pid>.<n>.tmp" beside the target; names ending in ".tmp" are leftovers of a
 * crash and nobody's content.  Directories given to sync_dir are synced each time.
 * Threads: any.
 */
#ifndef SERVER_BASE_VFS_POSIX_H
#define SERVER_BASE_VFS_POSIX_H

#include "base/vfs.h"

/* The one instance; never freed. */
struct vfs *vfs_posix(void);

/* As vfs_lock; `holder` (a line of text: host, pid, run) is left in the file for whoever is
 * refused. */
MUST_USE enum status vfs_posix_lock_as(const char *path, const char *holder, struct vfs_lock **out,
                                       struct error *err);

/* A number for what the path names (links followed), the same for every path that names it; 0 if it
 * names nothing. */
uint64_t vfs_posix_identity(const char *path);

/*
 * For failpoints that tear a write: cuts every file open for appending to what was synced plus at
 * most `bytes`.  Only in builds with failpoints; the process ends right after.
 */
void vfs_posix_tear(size_t bytes);

#endif
