#include "base/buffer.h"

#include "base/check.h"
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

uint8_t *buffer_reserve_slow(struct buffer *buffer, size_t more)
{
    size_t want = buffer->size_bytes + more;
    CHECK(want >= more);
    size_t capacity = buffer->capacity_bytes == 0 ? 256 : buffer->capacity_bytes;
    while (capacity < want)
        capacity *= 2;
    buffer->data = realloc(buffer->data, capacity);
    CHECK(buffer->data != NULL);
    buffer->capacity_bytes = capacity;
    return buffer->data + buffer->size_bytes;
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
    uint8_t *to = buffer_reserve(buffer, (size_t)size + 1);
    (void)vsnprintf((char *)to, (size_t)size + 1, fmt, again);
    va_end(again);
    buffer->size_bytes += (size_t)size;
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
