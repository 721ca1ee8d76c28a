/*
 * The file `epoch` of a checkpoint: the fencing epoch of the newest worker, in decimal, and a
 * newline.  Threads: any.
 */
#ifndef SERVER_CHECKPOINT_EPOCH_H
#define SERVER_CHECKPOINT_EPOCH_H

#include "base/vfs.h"

/* 0 if there is no file yet.  Errors: CHECKPOINT.CORRUPT, IO_FAILURE. */
MUST_USE enum status epoch_read(struct vfs *vfs, const char *path, uint32_t *out,
                                struct error *err);

#endif
