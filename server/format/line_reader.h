/*
 * Cuts a stream into records of one line.
 *
 * Bytes are read in large pieces into one buffer that is reused; a line is a view into it.  The
 * byte behind a line (its separator or padding) is overwritten with NUL, and LINE_PADDING bytes
 * behind the buffer may be read, so that scanners need no bound checks: a NUL ends every token.
 *
 * A split reads the lines that begin in (start, end], the first split also one at 0: the next
 * split skips up to its first separator, so every line is read once however the file is cut.
 *
 * A file may have grown since its size was taken: a line that was begun before that size is read to
 * its end, and nothing that follows.
 */
#ifndef SERVER_FORMAT_LINE_READER_H
#define SERVER_FORMAT_LINE_READER_H

#include "format/format.h"

#define LINE_PADDING     64
#define LINE_CHUNK_BYTES ((size_t)512 * 1024)

struct line_reader {
    struct byte_stream *stream;
    uint8_t *data;
    size_t capacity;
    size_t start, end; /* what is read and not yet cut */
    size_t scanned;    /* no separator before this place */
    uint64_t offset;   /* of data[start] in the file */
    uint64_t last;     /* lines that begin behind this offset are the next split's */
    uint64_t file_end; /* lines that begin here or later are not looked at */
    size_t record_bytes_max;
    uint8_t separator[8];
    size_t separator_size; /* 0: \n, \r and \r\n */
    bool skip_first;       /* the first line is the previous split's */
    bool skip_lf;          /* the line before ended with \r, which may be half of \r\n */
    bool stream_done;
    const char *path; /* borrowed: the split's */
};

/* `take` is positioned at split->start and is closed by line_reader_fini(). */
void line_reader_init(struct line_reader *reader, struct byte_stream *take,
                      const struct format_split *split, struct bytes separator,
                      size_t record_bytes_max);
void line_reader_fini(struct line_reader *reader);
/* The file is read as it is now, whatever size it had: for records that are not lines. */
void line_reader_take_all(struct line_reader *reader);

/*
 * The next line if it is wholly in the buffer.  False: call line_reader_fill(), which makes all
 * lines so far invalid, unless line_reader_done().
 */
bool line_reader_next(struct line_reader *reader, struct bytes *line);

/*
 * For a reader that finds the end of a record by reading it: what is in the buffer from the next
 * line on, if one may begin here.  NUL stands behind it.
 */
static inline bool line_reader_peek(const struct line_reader *reader, struct bytes *rest)
{
    if (reader->skip_first || reader->skip_lf || reader->offset > reader->last ||
        reader->start == reader->end)
        return false;
    *rest = bytes_of(reader->data + reader->start, reader->end - reader->start);
    return true;
}

/* Steps over the line in which `at` lies, where no line break stands before `at`.  False: its end
 * is not in the buffer. */
bool line_reader_take_slow(struct line_reader *reader, const uint8_t *at);

static inline bool line_reader_take(struct line_reader *reader, const uint8_t *at)
{
    size_t size = (size_t)(at - (reader->data + reader->start)) + 1;
    if (*at != '\n' || reader->start + size > reader->end)
        return line_reader_take_slow(reader, at);
    reader->start += size;
    reader->offset += size;
    reader->scanned = reader->start;
    return true;
}

/* True once the last line of the split has been given out. */
bool line_reader_done(const struct line_reader *reader);

/* Reads on.  Errors: those of the stream, LIMIT_EXCEEDED for a line that is too long. */
MUST_USE enum status line_reader_fill(struct line_reader *reader, struct error *err);

/* Steps over bytes of the buffer: for a reader that cuts [start, end) of `data` itself. */
void line_reader_skip(struct line_reader *reader, size_t size_bytes);

/* Reads all that is left as one record (NUL behind it).  Errors: as line_reader_fill(). */
MUST_USE enum status line_reader_whole(struct line_reader *reader, struct bytes *out,
                                       struct error *err);

#endif
