#include "base/buffer.h"

#include "base/check.h"
#include "base/memory_limit.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buffer_fini(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size_bytes = 0;
}

/* The limit that holds for this thread: a buffer does not know for whom it is. */
static _Thread_local struct buffer_limit *limit_now;

void buffer_limit_begin(struct buffer_limit *limit)
{
    CHECK(limit->bytes_max >= 4096);
    limit->refused = false;
    limit->outer = limit_now;
    limit_now = limit;
}

void buffer_limit_end(struct buffer_limit *limit)
{
    CHECK(limit_now == limit);
    limit_now = limit->outer;
}

bool buffer_limit_refused(void)
{
    return limit_now != NULL && limit_now->refused;
}

/* False: there is no such memory; the buffer is as it was. */
static bool enlarge(struct buffer *buffer, size_t more, size_t most)
{
    size_t want = buffer->size_bytes + more;
    size_t capacity = buffer->capacity_bytes == 0 ? 256 : buffer->capacity_bytes;
    if (want < more || want > SIZE_MAX / 4)
        return false;
    while (capacity < want)
        capacity *= 2;
    if (capacity > most && most >= want)
        capacity = most;
    uint8_t *data = realloc(buffer->data, capacity + BUFFER_SLACK);
    if (data == NULL)
        return false;
    buffer->data = data;
    buffer->capacity_bytes = capacity;
    return true;
}

bool buffer_grow(struct buffer *buffer, size_t more)
{
    size_t most = limit_now == NULL ? SIZE_MAX : limit_now->bytes_max;
    bool fits = buffer->size_bytes <= most && more <= most - buffer->size_bytes;
    if (fits && enlarge(buffer, more, most))
        return true;
    if (limit_now == NULL)
        memory_exhausted(more);
    limit_now->refused = true;
    if (buffer->data == NULL && !enlarge(buffer, 1, SIZE_MAX)) /* the slack, at least */
        memory_exhausted(1);
    return false;
}

uint8_t *buffer_reserve_slow(struct buffer *buffer, size_t more)
{
    if (limit_now != NULL && more > limit_now->bytes_max)
        limit_now->refused = true;
    if (!enlarge(buffer, more, SIZE_MAX))
        memory_exhausted(more);
    return buffer->data + buffer->size_bytes;
}

void buffer_add_repeated(struct buffer *buffer, uint8_t byte, int64_t count)
{
    size_t size = count > 0 ? (size_t)count : 0;
    if (size == 0 ||
        (buffer->capacity_bytes - buffer->size_bytes < size && !buffer_grow(buffer, size)))
        return;
    memset(buffer->data + buffer->size_bytes, byte, size);
    buffer->size_bytes += size;
}

void buffer_printf(struct buffer *buffer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    CHECK(size >= 0);
    size_t room = (size_t)size + 1;
    if (buffer->capacity_bytes - buffer->size_bytes >= room || buffer_grow(buffer, room)) {
        (void)vsnprintf((char *)buffer->data + buffer->size_bytes, room, fmt, again);
        buffer->size_bytes += (size_t)size;
    }
    va_end(again);
}

void buffer_add_json_string(struct buffer *buffer, struct bytes text)
{
    buffer_add_byte(buffer, '"');
    for (size_t i = 0; i < text.size_bytes;) {
        uint8_t c = text.data[i];
        if (c == '"' || c == '\\') {
            buffer_add_byte(buffer, '\\');
            buffer_add_byte(buffer, c);
            i++;
        } else if (c == '\n' || c == '\t' || c == '\r') {
            buffer_add_text(buffer, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
            i++;
        } else if (c < 0x20) {
            buffer_printf(buffer, "\\u%04x", (unsigned)c);
            i++;
        } else if (c < 0x80) {
            buffer_add_byte(buffer, c);
            i++;
        } else {
            struct bytes rest = bytes_of(text.data + i, text.size_bytes - i);
            size_t size = utf8_sequence_size(rest);
            if (size == 0) {
                buffer_add_text(buffer, "\xef\xbf\xbd");
                i += utf8_malformed_size(rest);
            } else {
                buffer_add(buffer, text.data + i, size);
                i += size;
            }
        }
    }
    buffer_add_byte(buffer, '"');
}

const char *buffer_text(struct buffer *buffer)
{
    *buffer_reserve(buffer, 1) = '\0';
    return (const char *)buffer->data;
}
