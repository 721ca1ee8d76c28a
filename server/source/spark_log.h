/*
 * Reading the log _spark_metadata of a directory that Spark's file sink (or ours, told to keep one)
 * has written: which of the files there are committed.  Its format is in sink/spark_metadata.h.
 * Threads: the batch thread.
 */
#ifndef SERVER_SOURCE_SPARK_LOG_H
#define SERVER_SOURCE_SPARK_LOG_H

#include "base/vfs.h"

#define SPARK_LOG_DIR "_spark_metadata"

MUST_USE enum status spark_log_find(struct vfs *vfs, const char *dir, bool *found,
                                    struct error *err);

/* The paths of the committed files, in the order of the log.  Errors: MALFORMED_LOG_FILE, those of
 * vfs. */
MUST_USE enum status spark_log_read(struct vfs *vfs, struct arena *arena, const char *dir,
                                    const char ***out, size_t *count, struct error *err);

#endif
