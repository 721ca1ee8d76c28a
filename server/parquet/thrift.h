/*
 * Thrift's compact protocol, as far as Parquet's footer and page headers need it: writing only.
 *
 *     struct thrift thrift = thrift_to(&out);
 *     thrift_i32(&thrift, 1, version);
 *     thrift_list(&thrift, 4, THRIFT_STRUCT, count);
 *     for (...) { thrift_begin(&thrift); ...fields...; thrift_end(&thrift); }
 *     thrift_end(&thrift);
 *
 * Fields are written in the order of their ids.  A field's head has the distance to the field
 * before it, so each open struct remembers its last id.
 */
#ifndef SERVER_PARQUET_THRIFT_H
#define SERVER_PARQUET_THRIFT_H

#include "base/buffer.h"

#define THRIFT_DEPTH_MAX 8 /* of structs: Parquet's deepest is 6 */

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I8 = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

struct thrift {
    struct buffer *out;
    int16_t last[THRIFT_DEPTH_MAX];
    int depth;
};

/* A struct is open. */
struct thrift thrift_to(struct buffer *out);

void thrift_bool(struct thrift *thrift, int16_t id, bool value);
void thrift_i8(struct thrift *thrift, int16_t id, int8_t value);
void thrift_i16(struct thrift *thrift, int16_t id, int16_t value);
void thrift_i32(struct thrift *thrift, int16_t id, int32_t value);
void thrift_i64(struct thrift *thrift, int16_t id, int64_t value);
void thrift_binary(struct thrift *thrift, int16_t id, struct bytes value);
void thrift_text(struct thrift *thrift, int16_t id, const char *value);

/* The head of a list; its elements follow: structs between begin and end, or thrift_item_*(). */
void thrift_list(struct thrift *thrift, int16_t id, enum thrift_type element, size_t count);
void thrift_item_i32(struct thrift *thrift, int32_t value);
void thrift_item_text(struct thrift *thrift, const char *value);

/* A field that is a struct; a struct that is an element of a list; the end of either. */
void thrift_struct(struct thrift *thrift, int16_t id);
void thrift_begin(struct thrift *thrift);
void thrift_end(struct thrift *thrift);

/* The form of unsigned numbers: seven bits a byte, the lowest first. */
void thrift_varint(struct buffer *out, uint64_t value);

#endif
