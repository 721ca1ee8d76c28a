/*
 * What one task of a file sink writes: part files under temporary names, one per partition
 * directory (and another after maxRecordsPerFile).  Many directories are written to at the same
 * time; beyond that the one that was not used for longest gets its end, and another file if more
 * rows come.
 *
 * Staged files lie in the output directory itself, hidden by a leading dot, so that giving one its
 * final name is a rename within one file system.  Their data is synced when the task finishes;
 * their temporary names need not be durable, because nobody looks for them after a crash.
 * Threads: the task's; the config is shared and read-only.
 */
#ifndef SERVER_SINK_PART_WRITER_H
#define SERVER_SINK_PART_WRITER_H

#include "columnar/timezone.h"
#include "format/format.h"

#define PART_DEFAULT_PARTITION "__HIVE_DEFAULT_PARTITION__"

struct part_config {
    struct vfs *vfs;
    const char *dir;
    const char *query_id;
    const struct format_ops *format;
    struct format_writer *writer;
    const char *extension;     /* ".json.gz" */
    const struct type *schema; /* of what arrives */
    const struct type *data_schema;
    const uint32_t *data_columns;      /* what goes into the files */
    const uint32_t *partition_columns; /* what becomes directories */
    const char *const *partition_names;
    uint32_t partition_count;
    const struct zone *zone; /* of partition values */
    uint64_t records_max;    /* per file; 0: no limit */
    bool empty_file;         /* task 0 writes a file even without rows */
};

/* A file that is ready to get its final name.  Texts live in the writer. */
struct part {
    const char *staged; /* full path */
    const char *final;  /* relative to the output directory: "k=v/part-..." */
    uint64_t rows;
    uint64_t size_bytes;
};

enum part_state {
    PART_STAGED,    /* under its temporary name */
    PART_PUBLISHED, /* under its final name */
    PART_KEPT,      /* an earlier attempt had published the same: that one stays */
};

struct part_writer;

struct part_writer *part_writer_new(const struct part_config *config, int64_t batch_id,
                                    uint32_t task);
/* Removes what is still under a temporary name. */
void part_writer_free(struct part_writer *writer);

struct batch_receiver *part_writer_receiver(struct part_writer *writer);
/* No more rows: ends and syncs the files. */
MUST_USE enum status part_writer_finish(struct part_writer *writer, struct error *err);

/* The finished files in the order of their partition directories. */
size_t part_writer_count(const struct part_writer *writer);
const struct part *part_writer_part(const struct part_writer *writer, size_t i);
uint64_t part_writer_rows(const struct part_writer *writer);
/* Free touches staged parts only. */
enum part_state part_writer_state(const struct part_writer *writer, size_t i);
void part_writer_set_state(struct part_writer *writer, size_t i, enum part_state state);

/* A directory name by Spark's escapes: "k=a%2Fb".  NULL and the empty text are the default
 * partition. */
void part_escape(struct buffer *out, const char *name, struct bytes value, bool is_null);

#endif
