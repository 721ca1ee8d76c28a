/* The compact protocol: see thrift.h. */
#include "parquet/thrift.h"

#include "base/check.h"

struct thrift thrift_to(struct buffer *out)
{
    return (struct thrift){.out = out};
}

void thrift_varint(struct buffer *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buffer_add_byte(out, (uint8_t)(value | 0x80));
    buffer_add_byte(out, (uint8_t)value);
}

static void put_signed(struct thrift *thrift, int64_t value)
{
    thrift_varint(thrift->out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_bytes(struct thrift *thrift, struct bytes value)
{
    thrift_varint(thrift->out, value.size_bytes);
    buffer_add_bytes(thrift->out, value);
}

static void put_field(struct thrift *thrift, int16_t id, enum thrift_type type)
{
    int16_t *last = &thrift->last[thrift->depth];
    int distance = id - *last;
    CHECK(distance > 0);
    if (distance <= 15) {
        buffer_add_byte(thrift->out, (uint8_t)(distance << 4 | (int)type));
    } else {
        buffer_add_byte(thrift->out, (uint8_t)type);
        put_signed(thrift, id);
    }
    *last = id;
}

void thrift_bool(struct thrift *thrift, int16_t id, bool value)
{
    put_field(thrift, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i8(struct thrift *thrift, int16_t id, int8_t value)
{
    put_field(thrift, id, THRIFT_I8);
    buffer_add_byte(thrift->out, (uint8_t)value);
}

void thrift_i16(struct thrift *thrift, int16_t id, int16_t value)
{
    put_field(thrift, id, THRIFT_I16);
    put_signed(thrift, value);
}

void thrift_i32(struct thrift *thrift, int16_t id, int32_t value)
{
    put_field(thrift, id, THRIFT_I32);
    put_signed(thrift, value);
}

void thrift_i64(struct thrift *thrift, int16_t id, int64_t value)
{
    put_field(thrift, id, THRIFT_I64);
    put_signed(thrift, value);
}

void thrift_binary(struct thrift *thrift, int16_t id, struct bytes value)
{
    put_field(thrift, id, THRIFT_BINARY);
    put_bytes(thrift, value);
}

void thrift_text(struct thrift *thrift, int16_t id, const char *value)
{
    thrift_binary(thrift, id, bytes_of_text(value));
}

void thrift_list(struct thrift *thrift, int16_t id, enum thrift_type element, size_t count)
{
    put_field(thrift, id, THRIFT_LIST);
    if (count < 15) {
        buffer_add_byte(thrift->out, (uint8_t)(count << 4 | (size_t)element));
        return;
    }
    buffer_add_byte(thrift->out, (uint8_t)(0xF0 | (int)element));
    thrift_varint(thrift->out, count);
}

void thrift_item_i32(struct thrift *thrift, int32_t value)
{
    put_signed(thrift, value);
}

void thrift_item_text(struct thrift *thrift, const char *value)
{
    put_bytes(thrift, bytes_of_text(value));
}

void thrift_struct(struct thrift *thrift, int16_t id)
{
    put_field(thrift, id, THRIFT_STRUCT);
    thrift_begin(thrift);
}

void thrift_begin(struct thrift *thrift)
{
    CHECK(thrift->depth + 1 < THRIFT_DEPTH_MAX);
    thrift->last[++thrift->depth] = 0;
}

void thrift_end(struct thrift *thrift)
{
    buffer_add_byte(thrift->out, 0);
    thrift->depth--;
}
