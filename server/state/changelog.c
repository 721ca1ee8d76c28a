/*
 * See changelog.h.
 */
#include "state/changelog.h"

#include "base/check.h"

static void put(struct buffer *out, uint64_t value, size_t size)
{
    uint8_t *data = buffer_reserve(out, size);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(value >> (8 * i));
    out->size_bytes += size;
}

static uint64_t get(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

void varint_put(struct buffer *out, uint64_t value)
{
    uint8_t *data = buffer_reserve(out, 10);
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        data[size++] = (uint8_t)(value | 128);
    data[size++] = (uint8_t)value;
    out->size_bytes += size;
}

bool varint_take(struct bytes *from, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (from->size_bytes == 0)
            return false;
        uint8_t byte = from->data[0];
        *from = bytes_of(from->data + 1, from->size_bytes - 1);
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return true;
        }
    }
    return false;
}

void changelog_begin(struct buffer *out, uint32_t operator_id, uint32_t partition)
{
    buffer_add_byte(out, CHANGELOG_VERSION);
    put(out, operator_id, 4);
    put(out, partition, 4);
}

static void put_sized(struct buffer *out, struct bytes bytes)
{
    varint_put(out, bytes.size_bytes);
    buffer_add_bytes(out, bytes);
}

static void put_head(struct buffer *out, enum change_kind kind, int64_t bucket)
{
    buffer_add_byte(out, (uint8_t)kind);
    put(out, (uint64_t)bucket, 8);
}

void changelog_put(struct buffer *out, int64_t bucket, struct bytes key, struct bytes value)
{
    put_head(out, CHANGE_PUT, bucket);
    put_sized(out, key);
    put_sized(out, value);
}

void changelog_drop(struct buffer *out, int64_t bucket)
{
    put_head(out, CHANGE_DROP, bucket);
}

void changelog_take(struct buffer *out, int64_t bucket, struct bytes key)
{
    put_head(out, CHANGE_TAKE, bucket);
    put_sized(out, key);
}

bool changelog_open(struct bytes record, uint32_t *operator_id, uint32_t *partition,
                    struct bytes *changes)
{
    if (record.size_bytes < CHANGELOG_HEADER_BYTES || record.data[0] != CHANGELOG_VERSION)
        return false;
    *operator_id = (uint32_t)get(record.data + 1, 4);
    *partition = (uint32_t)get(record.data + 5, 4);
    *changes =
        bytes_of(record.data + CHANGELOG_HEADER_BYTES, record.size_bytes - CHANGELOG_HEADER_BYTES);
    return true;
}

static bool take_sized(struct bytes *from, struct bytes *out)
{
    uint64_t size = 0;
    if (!varint_take(from, &size) || size > from->size_bytes)
        return false;
    *out = bytes_of(from->data, (size_t)size);
    *from = bytes_of(from->data + size, from->size_bytes - (size_t)size);
    return true;
}

bool changelog_next(struct bytes *changes, struct change *out, bool *found)
{
    *found = changes->size_bytes > 0;
    if (!*found)
        return true;
    if (changes->size_bytes < 9)
        return false;
    *out = (struct change){
        .kind = (enum change_kind)changes->data[0],
        .bucket = (int64_t)get(changes->data + 1, 8),
    };
    *changes = bytes_of(changes->data + 9, changes->size_bytes - 9);
    switch (out->kind) {
    case CHANGE_PUT:
        return take_sized(changes, &out->key) && take_sized(changes, &out->value);
    case CHANGE_TAKE:
        return take_sized(changes, &out->key);
    case CHANGE_DROP:
        return true;
    }
    return false;
}
