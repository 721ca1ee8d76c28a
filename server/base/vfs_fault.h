/*
 * A vfs around another one that fails on purpose.  Test support.
 *
 * Counts the calls of each kind; the armed call fails with the armed errno before anything is
 * done (a failing write may have written a part: arm with `partial_bytes`).  Threads: any.
 */
#ifndef SERVER_BASE_VFS_FAULT_H
#define SERVER_BASE_VFS_FAULT_H

#include "base/vfs.h"

enum vfs_call {
    VFS_CALL_WRITE,  /* put, append, open for appending, scratch */
    VFS_CALL_SYNC,   /* sync, sync_dir */
    VFS_CALL_RENAME, /* rename, link */
    VFS_CALL_REMOVE, /* remove, remove_tree */
    VFS_CALL_READ,   /* map, read_at, scratch_read */
    VFS_CALL_LIST,   /* list, stat */
    VFS_CALL_ANY,    /* any of the above that changes the disk: write, sync, rename, remove */
    VFS_CALL_COUNT_,
};

/* `inner` is borrowed. */
struct vfs *vfs_fault_new(struct vfs *inner);
void vfs_fault_free(struct vfs *vfs);

/* Makes the nth call from now (1 = the next) of this kind fail once with this errno. */
void vfs_fault_arm(struct vfs *vfs, enum vfs_call call, uint64_t nth, int errno_value);
/* As arm, but every call from the nth on fails until vfs_fault_disarm. */
void vfs_fault_arm_forever(struct vfs *vfs, enum vfs_call call, uint64_t nth, int errno_value);
/* The armed append writes this much before it fails. */
void vfs_fault_partial(struct vfs *vfs, size_t partial_bytes);
void vfs_fault_disarm(struct vfs *vfs);

/* True if an armed fault has fired since it was armed. */
bool vfs_fault_fired(struct vfs *vfs);
/* Calls so far; reset sets all counts to 0. */
uint64_t vfs_fault_calls(struct vfs *vfs, enum vfs_call call);
void vfs_fault_reset(struct vfs *vfs);

/* "write", "sync", "rename", ... -> the kind; false if there is none. */
bool vfs_fault_find(const char *name, enum vfs_call *out);

#endif
