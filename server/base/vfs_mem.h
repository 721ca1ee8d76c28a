/*
 * A file system in memory that knows what a crash would leave.  Test support.
 *
 * Every file has its content and the part of it that was synced; every directory has its names and
 * those that were synced.  vfs_mem_crash() goes back to what is durable: unsynced bytes are gone,
 * a name that was made, renamed or removed without a sync of its directory is as it was before.
 * sync of a file also makes its own name durable (as the contract of vfs says), and put makes both.
 *
 * vfs_mem_freeze() is the instant of death: from then on everything still works in memory, so that
 * the dying code can unwind, but nothing becomes durable any more.  vfs_mem_crash() ends it.
 *
 * Files that the test itself writes (vfs_mem_write) are durable at once: the world outside did not
 * crash.  Threads: any; one lock.
 */
#ifndef SERVER_BASE_VFS_MEM_H
#define SERVER_BASE_VFS_MEM_H

#include "base/clock.h"
#include "base/vfs.h"

/* `clock` gives modification times; borrowed; NULL: times rise by one microsecond per write. */
struct vfs *vfs_mem_new(const struct clock *clock);
void vfs_mem_free(struct vfs *vfs);

void vfs_mem_freeze(struct vfs *vfs);

/*
 * Reverts to what is durable; locks are released.  `torn_bytes` of the unsynced tail of every
 * file survive (0: none, SIZE_MAX: all of it, as when the page cache was written by chance).
 * Open files and maps of the dead must be closed before or after, never used again.
 */
void vfs_mem_crash(struct vfs *vfs, size_t torn_bytes);

/* A test's own hand: writes, dates and removes durably, making parent directories. */
void vfs_mem_write(struct vfs *vfs, const char *path, struct bytes content, int64_t mtime_us);
void vfs_mem_touch(struct vfs *vfs, const char *path, int64_t mtime_us);
void vfs_mem_delete(struct vfs *vfs, const char *path);
void vfs_mem_make_dirs(struct vfs *vfs, const char *path);
/* As somebody who died before the directories were synced: a crash takes those that are new. */
void vfs_mem_make_dirs_unsynced(struct vfs *vfs, const char *path);

/* Calls fn for every file and directory below `dir`, in the order of their paths. */
void vfs_mem_walk(struct vfs *vfs, const char *dir,
                  void (*fn)(void *arg, const char *path, const struct vfs_stat *stat), void *arg);

/* Syncs made since the beginning (put, sync, sync_dir count one each). */
uint64_t vfs_mem_syncs(struct vfs *vfs);

#endif
