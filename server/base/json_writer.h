/*
 * Writes JSON text: objects and arrays nest, commas and quotes come by themselves.  Keys are
 * literals of ours; texts are escaped.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_BASE_JSON_WRITER_H
#define SERVER_BASE_JSON_WRITER_H

#include "base/buffer.h"

struct json_writer {
    struct buffer *out;
    bool comma; /* the next value needs one before it */
};

static inline struct json_writer json_writer_to(struct buffer *out)
{
    return (struct json_writer){.out = out};
}

/* key == NULL: a value of an array, or the document itself. */
void json_begin_object(struct json_writer *json, const char *key);
void json_end_object(struct json_writer *json);
void json_begin_array(struct json_writer *json, const char *key);
void json_end_array(struct json_writer *json);
void json_put_text(struct json_writer *json, const char *key, const char *value); /* NULL: null */
void json_put_bytes(struct json_writer *json, const char *key, struct bytes value);
void json_put_int(struct json_writer *json, const char *key, int64_t value);
void json_put_bool(struct json_writer *json, const char *key, bool value);
void json_put_null(struct json_writer *json, const char *key);
/* Text that is JSON already. */
void json_put_raw(struct json_writer *json, const char *key, struct bytes value);
/* Microseconds since 1970 as RFC 3339; 0: null. */
void json_put_time(struct json_writer *json, const char *key, int64_t time_us);

#endif
