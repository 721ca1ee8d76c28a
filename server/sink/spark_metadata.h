/*
 * The log that Spark's file sink keeps beside its files, so that Spark reads exactly the committed
 * ones: <output>/_spark_metadata/<batch id>, every tenth (fileSink.log.compactInterval) as
 * <batch id>.compact.
 *
 *     v1
 *     {"path":"file:///out/part-...","size":34,"isDir":false,"modificationTime":1795993771919,
 *      "blockReplication":1,"blockSize":33554432,"action":"add"}           (one line per file)
 *
 * A compact file repeats all entries since batch 0, but for those of files that are older than
 * `retention`.  No newline at the end.  A log that is there already has compact files at an
 * interval of its own, which is kept as Spark keeps it.  When a compact file has been written, log
 * files go that are older than the compact file before the last minBatchesToRetain batches, once
 * they are older than fileSink.log.cleanupDelay, too.
 */
#ifndef SERVER_SINK_SPARK_METADATA_H
#define SERVER_SINK_SPARK_METADATA_H

#include "base/buffer.h"
#include "base/vfs.h"
#include "sink/sink.h"

#define SPARK_METADATA_DIR "_spark_metadata"

struct spark_metadata {
    struct vfs *vfs;
    const struct clock *clock;
    const char *dir; /* of the output */
    int64_t interval;
    int64_t batches_keep;
    bool deletion;
    int64_t cleanup_delay_us;
    int64_t retention_us; /* of the entries; INT64_MAX: for ever */
};

/* The conf entries, or what holds without them.  Touches nothing.  `config`, whose vfs, clock and
 * conf are read, has been checked. */
void spark_metadata_init(struct spark_metadata *log, const struct sink_config *config,
                         const char *dir);
/* Adapts the interval to the log that is there. */
MUST_USE enum status spark_metadata_open(struct spark_metadata *log, struct error *err);

/* Appends the line of one file; `path` is absolute. */
void spark_metadata_add(struct buffer *lines, const char *path, const struct vfs_stat *stat);

/*
 * Writes the log file of the batch, durably; the same batch again replaces it.  Batches without a
 * file of their own are filled in, empty, because Spark expects every id.
 */
MUST_USE enum status spark_metadata_put(const struct spark_metadata *log, int64_t batch_id,
                                        struct bytes lines, struct error *err);

/* Takes the log file of the batch away, durably, if there is one. */
MUST_USE enum status spark_metadata_remove(const struct spark_metadata *log, int64_t batch_id,
                                           struct error *err);

#endif
