/*
 * What a file source's range holds beyond its offsets: the files themselves.
 *
 * Text, one item a line, so that `tidemill checkpoint show` can print it:
 *
 *     files 2 <directory>          the format's version; where relative paths begin
 *     seen <generation> <bytes> <crc>   what the set of seen files holds durably; absent: nothing
 *     batch <logOffset>
 *     <size> <mtime in us>@<inode> <path>   '%', CR and LF of the path are percent-encoded
 *
 * Size, time and inode say which file was planned: another that has come under its name is not read
 * in its place (file_range_differs).  Version 1 had no inodes and is read, too.
 * The batches of the range come last; those before it are files that an earlier batch has read and
 * that the set of seen files may not hold durably yet (see source_file.c).
 */
#ifndef SERVER_SOURCE_FILE_RANGE_H
#define SERVER_SOURCE_FILE_RANGE_H

#include "base/buffer.h"
#include "base/vfs.h"
#include "source/seen_files.h"
#include "source/source.h"

struct range_file {
    const char *path; /* absolute */
    uint64_t size_bytes;
    int64_t mtime_us;
    uint64_t inode; /* 0: not known */
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

/* The size of what file_range_add_batch and file_range_add_file add. */
size_t file_range_batch_bytes(int64_t log_offset);
size_t file_range_file_bytes(const char *dir, const struct range_file *file);

/* The files of a detail, one after another, without memory for each. */
struct file_range_cursor {
    const char *dir; /* with which the detail was written; NULL if it is empty */
    struct bytes left;
    int64_t log_offset;
};

/* One line of a detail: a file. */
struct range_line {
    struct bytes text; /* all of it */
    struct bytes path; /* escaped; absolute or below the cursor's dir */
    uint64_t size_bytes;
    int64_t mtime_us;
    uint64_t inode; /* 0: not known */
    int64_t log_offset;
};

/* Whether what is found is the planned file no more. */
enum range_difference {
    RANGE_SAME,      /* also one that was put back with its size and time (a backup) */
    RANGE_GROWN,     /* longer, and for all that is known the same file */
    RANGE_CUT,       /* shorter */
    RANGE_REPLACED,  /* another file under its name */
    RANGE_REWRITTEN, /* as long, but written since */
};
enum range_difference file_range_differs(const struct range_line *planned,
                                         const struct vfs_stat *found);

/* `dir` goes into `arena`.  Errors: CHECKPOINT__INCONSISTENT. */
MUST_USE enum status file_range_open(struct arena *arena, struct bytes detail,
                                     struct file_range_cursor *out, struct error *err);
/* *found is false at the end.  Errors: CHECKPOINT__INCONSISTENT. */
MUST_USE enum status file_range_next(struct file_range_cursor *cursor, struct range_line *out,
                                     bool *found, struct error *err);
/* What the text of a line says, but for the log offset; false: it is none. */
bool file_range_line(struct bytes text, struct range_line *out);
/* The absolute path of a line, into `out`, which is cleared. */
void file_range_path(const char *dir, struct bytes path, struct buffer *out);

/* All files of a detail, in order, in `arena`; *dir is the directory it was written with (NULL if
 * the detail is empty).  Errors: CHECKPOINT__INCONSISTENT. */
MUST_USE enum status file_range_parse(struct arena *arena, struct bytes detail, const char **dir,
                                      struct range_file **out, size_t *count, struct error *err);

#endif
