/*
 * Reading the files of a range: splits, and the rows of a split with its partition columns.
 *
 * A file_reader is made when the columns are bound, and only read from then on: tasks share it.
 */
#ifndef SERVER_SOURCE_FILE_READER_H
#define SERVER_SOURCE_FILE_READER_H

#include "columnar/timezone.h"
#include "format/format.h"
#include "source/file_listing.h"
#include "source/file_range.h"

#define FILE_SPLIT_BYTES ((uint64_t)4 << 20) /* larger files are cut, if the format allows it */

struct file_reader {
    struct vfs *vfs;
    struct log *log;  /* NULL: nobody listens */
    const char *name; /* of the source */
    const struct format_ops *format;
    struct format_reader *reader;
    const struct listing_config *listing; /* which root a path lies below */
    const struct zone *zone;
    const struct type *schema; /* all columns: data, then partition columns */
    uint32_t data_count;       /* fields of `schema` that files hold */
    const struct type *bound;  /* STRUCT of the columns delivered */
    const uint32_t *columns;   /* their indexes in `schema`; its field_count: _metadata */
    uint32_t column_count;
    bool ignore_missing;
    bool ignore_corrupt;
};

/* The splits of the files of a detail with log offsets in (after, up_to], in order, in `batch`;
 * they point into the detail, for a batch may have a million of them.  Errors:
 * FAILED_READ_FILE.FILE_NOT_EXIST, SOURCE_FILE_CHANGED, those of file_range and of partition
 * values.
 */
struct file_reader_range {
    struct bytes detail;
    int64_t after;
    int64_t up_to;
};

MUST_USE enum status file_reader_splits(const struct file_reader *reader,
                                        const struct file_reader_range *range, struct arena *batch,
                                        struct source_split **out, size_t *out_count,
                                        struct error *err);

/*
 * Delivers the rows of a split.  Files that are gone, or were cut or replaced since or while they
 * were read, fail the batch; with ignore_missing and ignore_corrupt it has the rows read before.
 * Of a file that has grown since, the record that was begun is read to its end, and the rest is in
 * no batch, which is logged; where records are not lines, it is read as it is now.
 * Errors: those of the format, FAILED_READ_FILE.FILE_NOT_EXIST, SOURCE_FILE_CHANGED.  Threads: any.
 */
MUST_USE enum status file_reader_read(const struct file_reader *reader,
                                      const struct source_split *split,
                                      struct batch_receiver *receiver, struct error *err);

void file_reader_block(const struct source_split *split, struct arena *arena,
                       struct source_block *out);

#endif
