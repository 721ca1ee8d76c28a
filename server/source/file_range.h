/*
 * What a file source's range holds beyond its offsets: the files themselves.
 *
 * Text, one item a line, so that `tidemill checkpoint show` can print it:
 *
 *     files 1 <directory>          the format's version; where relative paths begin
 *     seen <generation> <bytes> <crc>   what the set of seen files holds durably; absent: nothing
 *     batch <logOffset>
 *     <size> <mtime in us> <path>  '%', CR and LF of the path are percent-encoded
 *
 * The batches of the range come last; those before it are files that an earlier batch has read and
 * that the set of seen files may not hold durably yet (see source_file.c).
 */
#ifndef SERVER_SOURCE_FILE_RANGE_H
#define SERVER_SOURCE_FILE_RANGE_H

#include "base/buffer.h"
#include "source/seen_files.h"
#include "source/source.h"

struct range_file {
    const char *path; /* absolute */
    uint64_t size_bytes;
    int64_t mtime_us;
    int64_t log_offset;
};

/* {"logOffset":n} */
void file_offset_print(struct buffer *out, int64_t log_offset);
/* Also a bare number; empty text is -1.  Errors: CHECKPOINT__INCONSISTENT. */
MUST_USE enum status file_offset_parse(struct bytes text, int64_t *out, struct error *err);

void file_range_begin(struct buffer *out, const char *dir, const struct seen_mark *durable);
void file_range_add_batch(struct buffer *out, int64_t log_offset);
void file_range_add_file(struct buffer *out, const char *dir, const struct range_file *file);

/* The mark of a detail; false: it is not that of a file source, or has none. */
bool file_range_mark(struct bytes detail, struct seen_mark *out);

/* All files of a detail, in order, in `arena`; *dir is the directory it was written with (NULL if
 * the detail is empty).  Errors: CHECKPOINT__INCONSISTENT. */
MUST_USE enum status file_range_parse(struct arena *arena, struct bytes detail, const char **dir,
                                      struct range_file **out, size_t *count, struct error *err);

#endif
