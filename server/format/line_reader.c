/* Lines: see line_reader.h. */
#include "format/line_reader.h"

#include "base/check.h"
#include "base/heap.h"

#include <emmintrin.h>
#include <stdio.h>
#include <stdlib.h>

void line_reader_init(struct line_reader *reader, struct byte_stream *take,
                      const struct format_split *split, struct bytes separator,
                      size_t record_bytes_max)
{
    CHECK(separator.size_bytes <= sizeof reader->separator);
    bool whole = path_is_compressed(split->path);
    *reader = (struct line_reader){
        .stream = take,
        .offset = whole ? 0 : split->start,
        .last = whole ? UINT64_MAX : split->end,
        .file_end = whole || split->file_size_bytes == 0 ? UINT64_MAX : split->file_size_bytes,
        .record_bytes_max = record_bytes_max == 0 ? (size_t)256 * 1024 * 1024 : record_bytes_max,
        .separator_size = separator.size_bytes,
        .skip_first = !whole && split->start > 0,
        .path = split->path,
    };
    if (separator.size_bytes > 0)
        memcpy(reader->separator, separator.data, separator.size_bytes);
}

void line_reader_fini(struct line_reader *reader)
{
    if (reader->stream != NULL)
        reader->stream->close(reader->stream);
    free(reader->data);
    *reader = (struct line_reader){0};
}

/* The first \n or \r in [at, end), or end; up to 15 bytes behind end are read. */
static inline const uint8_t *find_newline(const uint8_t *at, const uint8_t *end)
{
    const __m128i lf = _mm_set1_epi8('\n');
    const __m128i cr = _mm_set1_epi8('\r');
    for (; at < end; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, lf), _mm_cmpeq_epi8(block, cr));
        unsigned mask = (unsigned)_mm_movemask_epi8(hits);
        if (mask != 0) {
            const uint8_t *found = at + __builtin_ctz(mask);
            return found < end ? found : end;
        }
    }
    return end;
}

static const uint8_t *find_separator(const struct line_reader *reader, const uint8_t *at,
                                     const uint8_t *end)
{
    if (reader->separator_size == 0)
        return find_newline(at, end);
    if (at >= end)
        return end;
    const uint8_t *found =
        memmem(at, (size_t)(end - at), reader->separator, reader->separator_size);
    return found == NULL ? end : found;
}

/* Steps over `size` bytes of the buffer. */
static inline void advance(struct line_reader *reader, size_t size)
{
    reader->start += size;
    reader->offset += size;
    reader->scanned = reader->start;
}

static bool cut(struct line_reader *reader, struct bytes *line)
{
    if (reader->skip_lf && reader->start < reader->end) {
        if (reader->data[reader->start] == '\n')
            advance(reader, 1);
        reader->skip_lf = false;
    }
    if (reader->start == reader->end)
        return false;
    uint8_t *begin = reader->data + reader->start;
    uint8_t *end = reader->data + reader->end;
    const uint8_t *found = find_separator(reader, reader->data + reader->scanned, end);
    size_t size = (size_t)(found - begin);
    if (found == end) {
        size_t overlap = reader->separator_size > 1 ? reader->separator_size - 1 : 0;
        reader->scanned = size > overlap ? reader->end - overlap : reader->start;
        if (!reader->stream_done)
            return false;
        advance(reader, size);
    } else if (reader->separator_size > 0) {
        advance(reader, size + reader->separator_size);
    } else {
        reader->skip_lf = *found == '\r';
        advance(reader, size + 1);
    }
    /* a \n kept for skip_lf may not be overwritten: it lies behind the \r, not on it */
    begin[size] = '\0';
    *line = bytes_of(begin, size);
    return true;
}

bool line_reader_next(struct line_reader *reader, struct bytes *line)
{
    if (reader->skip_first) {
        if (!cut(reader, line))
            return false;
        reader->skip_first = false;
    }
    /* the \n of a \r\n belongs to the line before: a line that begins behind it begins there */
    if (reader->skip_lf && reader->start < reader->end) {
        if (reader->data[reader->start] == '\n')
            advance(reader, 1);
        reader->skip_lf = false;
    }
    if (reader->offset > reader->last || reader->skip_lf)
        return false;
    return cut(reader, line);
}

bool line_reader_take_slow(struct line_reader *reader, const uint8_t *at)
{
    CHECK(reader->separator_size == 0);
    const uint8_t *begin = reader->data + reader->start;
    const uint8_t *end = reader->data + reader->end;
    const uint8_t *found = find_newline(at, end);
    if (found == end) {
        if (reader->stream_done)
            advance(reader, (size_t)(end - begin));
        return reader->stream_done;
    }
    reader->skip_lf = *found == '\r';
    advance(reader, (size_t)(found - begin) + 1);
    return true;
}

bool line_reader_done(const struct line_reader *reader)
{
    if (reader->stream_done && reader->start == reader->end)
        return true;
    return !reader->skip_first && !reader->skip_lf && reader->offset > reader->last;
}

static enum status make_room(struct line_reader *reader, struct error *err)
{
    size_t kept = reader->end - reader->start;
    if (kept > reader->record_bytes_max) {
        char limit[32];
        (void)snprintf(limit, sizeof limit, "%zu", reader->record_bytes_max);
        (void)error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a record", "limit", limit, NULL);
        return error_wrap(err, "%s", reader->path);
    }
    if (reader->capacity - kept < LINE_CHUNK_BYTES / 2) {
        size_t capacity = reader->capacity == 0 ? LINE_CHUNK_BYTES : reader->capacity * 2;
        uint8_t *data = heap_malloc(capacity + LINE_PADDING);
        if (kept > 0)
            memcpy(data, reader->data + reader->start, kept);
        free(reader->data);
        reader->data = data;
        reader->capacity = capacity;
    } else if (kept > 0) {
        memmove(reader->data, reader->data + reader->start, kept);
    }
    reader->scanned -= reader->start;
    reader->start = 0;
    reader->end = kept;
    return OK;
}

/* `got` bytes were read behind file_end: those that end the record that was begun before it.  The
 * rest is not this reader's. */
static size_t rest_of_record(struct line_reader *reader, size_t got)
{
    size_t known = reader->separator_size > 1 ? reader->separator_size - 1 : 0;
    size_t from = reader->end > known ? reader->end - known : 0;
    const uint8_t *end = reader->data + reader->end + got;
    const uint8_t *found = find_separator(reader, reader->data + from, end);
    if (found == end)
        return got;
    found += reader->separator_size > 0 ? reader->separator_size : 1;
    return (size_t)(found - reader->data) - reader->end;
}

enum status line_reader_fill(struct line_reader *reader, struct error *err)
{
    TRY(make_room(reader, err));
    size_t room = reader->capacity - reader->end;
    uint64_t left = reader->file_end - reader->offset - reader->end;
    bool straddles = left == 0 && reader->end > 0;
    if (room > left && !straddles)
        room = (size_t)left;
    size_t got = 0;
    if (room > 0)
        TRY(reader->stream->read(reader->stream, reader->data + reader->end, room, &got, err));
    if (straddles) {
        got = rest_of_record(reader, got);
        reader->file_end += got;
    }
    reader->end += got;
    reader->stream_done = got == 0;
    memset(reader->data + reader->end, 0, LINE_PADDING);
    return OK;
}

void line_reader_take_all(struct line_reader *reader)
{
    reader->file_end = UINT64_MAX;
}

void line_reader_skip(struct line_reader *reader, size_t size_bytes)
{
    CHECK(size_bytes <= reader->end - reader->start);
    advance(reader, size_bytes);
}

enum status line_reader_whole(struct line_reader *reader, struct bytes *out, struct error *err)
{
    while (!reader->stream_done)
        TRY(line_reader_fill(reader, err));
    CHECK(reader->data != NULL);
    *out = bytes_of(reader->data + reader->start, reader->end - reader->start);
    advance(reader, out->size_bytes);
    return OK;
}
