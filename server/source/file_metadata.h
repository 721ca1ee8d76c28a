/*
 * The hidden column _metadata of files: what is known of the file that a row comes from.
 *
 * A STRUCT as Spark's: file_path ("file:/a/b%20c"), file_name (encoded alike), file_size,
 * file_block_start, file_block_length, file_modification_time (in whole milliseconds).  It is one
 * constant vector for each split, so it costs nothing per row, and nothing at all when no query
 * asks for it.
 * Threads: any.
 */
#ifndef SERVER_SOURCE_FILE_METADATA_H
#define SERVER_SOURCE_FILE_METADATA_H

#include "columnar/vector.h"

struct file_facts {
    const char *path; /* absolute */
    uint64_t size_bytes;
    uint64_t block_start;
    uint64_t block_length;
    int64_t mtime_us;
};

const struct type *file_metadata_type(struct arena *arena);

/* A constant vector of `type`, the STRUCT or one that lacks fields of it.  Errors: LIMIT_EXCEEDED.
 */
MUST_USE enum status file_metadata_vector(struct arena *arena, const struct type *type,
                                          const struct file_facts *facts, struct vector **out,
                                          struct error *err);

#endif
