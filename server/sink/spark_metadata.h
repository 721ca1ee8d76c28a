/*
 * The log that Spark's file sink keeps beside its files, so that Spark reads exactly the committed
 * ones: <output>/_spark_metadata/<batch id>, every tenth as <batch id>.compact.
 *
 *     v1
 *     {"path":"file:///out/part-...","size":34,"isDir":false,"modificationTime":1795993771919,
 *      "blockReplication":1,"blockSize":33554432,"action":"add"}           (one line per file)
 *
 * A compact file repeats all entries since batch 0.  No newline at the end.
 */
#ifndef SERVER_SINK_SPARK_METADATA_H
#define SERVER_SINK_SPARK_METADATA_H

#include "base/buffer.h"
#include "base/vfs.h"

#define SPARK_METADATA_DIR     "_spark_metadata"
#define SPARK_METADATA_COMPACT 10

/* Appends the line of one file; `path` is absolute. */
void spark_metadata_add(struct buffer *lines, const char *path, const struct vfs_stat *stat);

/*
 * Writes the log file of the batch, durably; the same batch again replaces it.  Batches without a
 * file of their own are filled in, empty, because Spark expects every id.
 */
MUST_USE enum status spark_metadata_put(struct vfs *vfs, const char *dir, int64_t batch_id,
                                        struct bytes lines, struct error *err);

/* Takes the log file of the batch away, durably, if there is one. */
MUST_USE enum status spark_metadata_remove(struct vfs *vfs, const char *dir, int64_t batch_id,
                                           struct error *err);

#endif
