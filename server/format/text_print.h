/*
 * The inner loops of the writers: a cursor into the output buffer, integers by two digits, ISO
 * times with the day remembered.
 * Private to format/.
 */
#ifndef SERVER_FORMAT_TEXT_PRINT_H
#define SERVER_FORMAT_TEXT_PRINT_H

#include "base/buffer.h"
#include "columnar/civil.h"

/* Writes go to `at`; text_room() makes sure that there is place before them. */
struct text_cursor {
    struct buffer *out;
    uint8_t *at;
    uint8_t *limit;
};

static inline struct text_cursor text_begin(struct buffer *out)
{
    struct text_cursor cursor = {out, out->data + out->size_bytes, out->data + out->capacity_bytes};
    return cursor;
}

/* Makes what was written part of the buffer. */
static inline void text_end(struct text_cursor *cursor)
{
    cursor->out->size_bytes = (size_t)(cursor->at - cursor->out->data);
}

void text_grow(struct text_cursor *cursor, size_t size_bytes);

/* Place for `size_bytes` and 16 more, which copies may use as scratch. */
static inline void text_room(struct text_cursor *cursor, size_t size_bytes)
{
    if ((size_t)(cursor->limit - cursor->at) < size_bytes + 16 || cursor->at == NULL)
        text_grow(cursor, size_bytes + 16);
}

static inline void text_add(struct text_cursor *cursor, const void *data, size_t size_bytes)
{
    text_room(cursor, size_bytes);
    if (size_bytes > 0)
        memcpy(cursor->at, data, size_bytes);
    cursor->at += size_bytes;
}

extern const char text_two_digits[200]; /* "00" .. "99" */

/* At most 20 bytes; the caller made room for 28, some of which are scratch. */
uint8_t *text_print_uint64(uint8_t *at, uint64_t value);

static inline uint8_t *text_print_int64(uint8_t *at, int64_t value)
{
    if (value >= 0)
        return text_print_uint64(at, (uint64_t)value);
    *at++ = '-';
    return text_print_uint64(at, (uint64_t)0 - (uint64_t)value);
}

static inline uint8_t *text_print_two(uint8_t *at, unsigned value)
{
    memcpy(at, text_two_digits + (size_t)value * 2, 2);
    return at + 2;
}

/* The day that was printed last. */
struct day_text {
    int64_t first_us; /* its midnight */
    bool filled;
    uint8_t text[11]; /* "2024-05-01T" */
};

bool day_text_fill(struct day_text *day, int64_t us);

/* "2024-05-01T10:20:30.123", 23 bytes, for the years 0000 to 9999; false for others. */
static inline bool text_print_millis(uint8_t **cursor, struct day_text *day, int64_t us)
{
    uint64_t rest = (uint64_t)us - (uint64_t)day->first_us;
    if ((!day->filled || rest >= (uint64_t)CIVIL_DAY_US)) {
        if (!day_text_fill(day, us))
            return false;
        rest = (uint64_t)us - (uint64_t)day->first_us;
    }
    uint8_t *at = *cursor;
    unsigned millis = (unsigned)(rest / 1000);
    unsigned seconds = millis / 1000;
    unsigned minutes = seconds / 60;
    unsigned hours = minutes / 60;
    millis %= 1000;
    memcpy(at, day->text, 11);
    at = text_print_two(at + 11, hours);
    *at++ = ':';
    at = text_print_two(at, minutes % 60);
    *at++ = ':';
    at = text_print_two(at, seconds % 60);
    *at++ = '.';
    *at++ = (uint8_t)('0' + millis / 100);
    *cursor = text_print_two(at, millis % 100);
    return true;
}

/* True if the text is ASCII only. */
bool encoded_text_is_ascii(struct bytes text);

#endif
