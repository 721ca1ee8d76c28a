/*
 * Which files a sink has of batches.  The checkpoint log knows the input of a batch; what came of
 * it is seen in the sink's directory, by the names of the files there.
 *
 * Threads: any.
 */
#ifndef SERVER_CONTROL_BATCH_FILES_H
#define SERVER_CONTROL_BATCH_FILES_H

#include "base/vfs.h"
#include "checkpoint/inspect.h"

struct batch_files;

/* Of the sink's directory; `count` files are named of each batch, the first by name. */
struct batch_files *batch_files_new(struct vfs *vfs, const char *dir, uint32_t count);
void batch_files_free(struct batch_files *files); /* NULL is fine */

/* Adds `"sink": {"numFiles": N, "files": [{"path": PATH}]}` to each batch; numFiles is null where
 * the directory cannot be read. */
struct batch_outputs *batch_files_outputs(struct batch_files *files);

/*
 * The newest batch of the checkpoint's query that the sink's directory shows; SINK_CANNOT_TELL
 * where it shows none, or `dir` is NULL.  Asked before the log is read, for a query may be running:
 * the log is then never behind.
 */
int64_t batch_files_newest(struct vfs *vfs, const char *checkpoint, const char *dir);

#endif
