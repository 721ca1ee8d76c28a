/*
 * A vfs around another one in which everything can be read and nothing can be changed: what would
 * change the disk says OK and does nothing.  For asking code that opens and tidies up what it would
 * find, without its leaving a trace (the start plan).  A file opened anew can be read again under
 * its path, from memory; no directory lists it.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_VFS_DRY_H
#define SERVER_BASE_VFS_DRY_H

#include "base/vfs.h"

/* `inner` is borrowed. */
struct vfs *vfs_dry_new(struct vfs *inner);
void vfs_dry_free(struct vfs *vfs); /* NULL is fine */

#endif
