/*
 * A view of bytes: text (UTF-8, not ended by NUL) or binary.  Never owns what it points to; each
 * use says how long the view is valid.  Also the cell of a STRING or BINARY vector.
 */
#ifndef SERVER_BASE_BYTES_H
#define SERVER_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size_bytes;
};

static inline struct bytes bytes_of(const void *data, size_t size_bytes)
{
    return (struct bytes){.data = data, .size_bytes = size_bytes};
}

static inline struct bytes bytes_of_text(const char *text)
{
    return (struct bytes){.data = (const uint8_t *)text, .size_bytes = strlen(text)};
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

/* Order of unsigned bytes, then of length: Spark's order of strings and binaries. */
static inline int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0)
        return order;
    return (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

#endif
