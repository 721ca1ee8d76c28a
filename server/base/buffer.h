/*
 * A growable run of bytes, for building text and records.  Grows by doubling; malloc failing ends
 * the process; whoever builds from untrusted input checks size_bytes against its own limit.
 *
 * Or sets one for all that its thread builds: see struct buffer_limit.
 */
#ifndef SERVER_BASE_BUFFER_H
#define SERVER_BASE_BUFFER_H

#include "base/bytes.h"
#include "base/error.h"

struct buffer {
    uint8_t *data;
    size_t size_bytes;
    size_t capacity_bytes;
};

/* A zeroed struct buffer is empty and valid. */
void buffer_fini(struct buffer *buffer);
void buffer_clear(struct buffer *buffer); /* keeps the memory */

/*
 * A limit for every buffer that this thread makes grow until buffer_limit_end(); limits nest, and
 * the last one holds.  What would be above it, or what there is no memory for, is dropped, and
 * `refused` says so: what was built since is not to be used.  Up to BUFFER_SLACK bytes behind
 * size_bytes may be written to in any case.
 */
struct buffer_limit {
    size_t bytes_max; /* at least 4096 */
    bool refused;
    struct buffer_limit *outer;
};
void buffer_limit_begin(struct buffer_limit *limit);
void buffer_limit_end(struct buffer_limit *limit);
/* Whether the limit that holds now has refused anything; false without one. */
bool buffer_limit_refused(void);

#define BUFFER_SLACK 64

/* Makes room for `more` bytes.  False: refused, as above. */
bool buffer_grow(struct buffer *buffer, size_t more);

/* Makes room for `more` bytes and returns where they go; the caller then adds to size_bytes.  Never
 * refuses: for what is not larger than what was there before. */
uint8_t *buffer_reserve_slow(struct buffer *buffer, size_t more);

static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->capacity_bytes - buffer->size_bytes < more)
        return buffer_reserve_slow(buffer, more);
    return buffer->data + buffer->size_bytes;
}

static inline void buffer_add_byte(struct buffer *buffer, uint8_t byte)
{
    if (buffer->capacity_bytes == buffer->size_bytes && !buffer_grow(buffer, 1))
        return;
    buffer->data[buffer->size_bytes++] = byte;
}

static inline void buffer_add(struct buffer *buffer, const void *data, size_t size_bytes)
{
    if (size_bytes == 0 || (buffer->capacity_bytes - buffer->size_bytes < size_bytes &&
                            !buffer_grow(buffer, size_bytes)))
        return;
    memcpy(buffer->data + buffer->size_bytes, data, size_bytes);
    buffer->size_bytes += size_bytes;
}

static inline void buffer_add_bytes(struct buffer *buffer, struct bytes bytes)
{
    buffer_add(buffer, bytes.data, bytes.size_bytes);
}

static inline void buffer_add_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

/* `count` times the same byte; none if count <= 0. */
void buffer_add_repeated(struct buffer *buffer, uint8_t byte, int64_t count);

void buffer_printf(struct buffer *buffer, const char *fmt, ...) PRINTF(2, 3);

/* Adds `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. */
void buffer_add_json_string(struct buffer *buffer, struct bytes text);

/* Borrowed until the buffer changes. */
static inline struct bytes buffer_bytes(const struct buffer *buffer)
{
    return bytes_of(buffer->data, buffer->size_bytes);
}

/* The content with a NUL after it, which is not counted.  Borrowed as above. */
const char *buffer_text(struct buffer *buffer);

#endif
