/*
 * Formats: bytes of records -> columns, and back.  json, csv, text; parquet is only written.
 *
 * A format is parsed once per query (options, schema, the columns that are needed) into a
 * struct format_reader or format_writer, which is read-only from then on and shared by all tasks;
 * each task opens its own struct record_reader or record_writer on it.
 *
 * Options and their defaults are Spark's.  Rows that do not fit the schema follow `mode`
 * (PERMISSIVE, DROPMALFORMED, FAILFAST) and columnNameOfCorruptRecord.
 */
#ifndef SERVER_FORMAT_FORMAT_H
#define SERVER_FORMAT_FORMAT_H

#include "base/log.h"
#include "base/options.h"
#include "base/vfs.h"
#include "columnar/batch.h"

#include <stdatomic.h>

/* A stream of bytes that is read once, front to back. */
struct byte_stream {
    /* Reads up to `size_bytes`; *read_bytes = 0 only at the end.  Errors: IO_FAILURE, ... */
    enum status (*read)(struct byte_stream *self, uint8_t *out, size_t size_bytes,
                        size_t *read_bytes, struct error *err);
    void (*close)(struct byte_stream *self);
};

/* What readers have to say beside rows; of a source's own.  Threads: any. */
struct format_notes {
    struct log *log;    /* NULL: nobody listens */
    const char *source; /* its name */
    /* Files whose header names the columns otherwise than the schema, which counts all the same. */
    atomic_uint_least64_t other_headers; /* since progress was told */
    atomic_uint headers_logged;          /* only the first ones are */
};

struct format_config {
    const struct options *options;
    const struct type *schema; /* STRUCT: all data columns as declared (reader), or written */
    const uint32_t *columns;   /* reader: indexes of the schema's fields to deliver, ascending */
    uint32_t column_count;
    const char *time_zone; /* the session's; an option timeZone overrides it */
    bool ansi;
    size_t record_bytes_max;   /* a longer record is LIMIT_EXCEEDED (0: 256 MiB) */
    const struct option *conf; /* the spec's conf entries, Spark names; may be NULL */
    size_t conf_count;
    struct format_notes *notes; /* reader; NULL: nobody is told */
};

struct format_reader;
struct format_writer;
struct record_reader;
struct record_writer;

/* Which part of a file a task reads. */
struct format_split {
    const char *path; /* for errors and input_file_name() */
    uint64_t start;   /* byte range [start, end) of the file: the records that begin in it */
    uint64_t end;
    uint64_t file_size_bytes;
    int64_t now_us; /* when the batch was planned: the day of a bare time of day */
};

struct format_ops {
    const char *name; /* "json" */
    const struct option_def *read_options;
    const struct option_def *write_options;

    /* Checks options and schema.  Errors: UNKNOWN_OPTION, INVALID_OPTION_VALUE and Spark's.  NULL
     * where the format cannot be read; it is no source then. */
    enum status (*reader_new)(struct arena *query, const struct format_config *config,
                              struct format_reader **out, struct error *err);

    /* True if an uncompressed file may be read in byte ranges (one record per line, no
     * multiLine/wholetext). */
    bool (*splittable)(const struct format_reader *reader);

    /* `stream` is positioned at split->start (decompressed text if the file is compressed, and
     * then start is 0); taken: closed by close().  Memory: bounded by the longest record. */
    enum status (*open)(const struct format_reader *reader, struct byte_stream *take,
                        const struct format_split *split, struct record_reader **out,
                        struct error *err);

    /* The next up to BATCH_ROWS_MAX rows with the columns asked for, in `batch` (an arena that the
     * caller resets between calls; text may point into the reader's buffer, which stays until the
     * next call).  *out is NULL at the end. */
    enum status (*next)(struct record_reader *reader, struct arena *batch, struct batch **out,
                        struct error *err);
    void (*close)(struct record_reader *reader);

    /* NULL where the format cannot be written. */
    enum status (*writer_new)(struct arena *query, const struct format_config *config,
                              struct format_writer **out, struct error *err);
    /* ".json", ".csv.gz": what the written file's name ends with. */
    const char *(*extension)(const struct format_writer *writer);
    /* One file: appends encoded (and compressed) bytes to `out`, which the caller drains. */
    enum status (*write_open)(const struct format_writer *writer, struct record_writer **out,
                              struct error *err);
    enum status (*write)(struct record_writer *writer, const struct batch *batch,
                         struct buffer *out, struct error *err);
    /* The rest of the file: footer, end of the compressed stream. */
    enum status (*finish)(struct record_writer *writer, struct buffer *out, struct error *err);
    void (*write_close)(struct record_writer *writer);
};

/* NULL if there is no such format.  Names are case-insensitive. */
const struct format_ops *format_find(const char *name);
/* All formats, ended by NULL. */
const struct format_ops *const *format_all(void);

/*
 * Opens a file at the split's start through the vfs; compression is chosen by the file's extension
 * (.gz, .zst, .bz2, ...; then the split must be the whole file).  It goes on to the end of the
 * file, which may have grown; reading fails where the file ends before file_size_bytes. Errors,
 * also of reading: CODEC_NOT_AVAILABLE..., FAILED_READ_FILE..., SOURCE_FILE_CHANGED, those of vfs.
 */
MUST_USE enum status byte_stream_open(struct vfs *vfs, const struct format_split *split,
                                      struct byte_stream **out, struct error *err);
/* A stream over memory (borrowed until close). */
struct byte_stream *byte_stream_memory(struct bytes content);
bool path_is_compressed(const char *path);

#endif
