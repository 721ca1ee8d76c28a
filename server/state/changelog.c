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

#define VARINT_MAX 10

static uint8_t *varint_write(uint8_t *to, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *to++ = (uint8_t)(value | 128);
    *to++ = (uint8_t)value;
    return to;
}

void varint_put(struct buffer *out, uint64_t value)
{
    uint8_t *data = buffer_reserve(out, VARINT_MAX);
    out->size_bytes += (size_t)(varint_write(data, value) - data);
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

/* How many bytes both begin with. */
static size_t shared_bytes(struct bytes a, struct bytes b)
{
    size_t size = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        uint64_t left = 0;
        uint64_t right = 0;
        memcpy(&left, a.data + at, 8);
        memcpy(&right, b.data + at, 8);
        if (left != right)
            return at + (size_t)__builtin_ctzll(left ^ right) / 8;
    }
    while (at < size && a.data[at] == b.data[at])
        at++;
    return at;
}

static void put_again(struct changelog_run *run, int64_t bucket, struct bytes value)
{
    uint64_t step = (uint64_t)bucket - (uint64_t)run->bucket;
    uint8_t *data = buffer_reserve(run->out, 1 + 2 * VARINT_MAX + value.size_bytes);
    uint8_t *to = data;
    *to++ = CHANGE_AGAIN;
    to = varint_write(to, step >> 63 != 0 ? ~(step << 1) : step << 1);
    to = varint_write(to, value.size_bytes);
    if (value.size_bytes > 0)
        memcpy(to, value.data, value.size_bytes);
    run->out->size_bytes += (size_t)(to - data) + value.size_bytes;
}

static uint8_t *sized_write(uint8_t *to, const uint8_t *data, size_t size)
{
    to = varint_write(to, size);
    if (size > 0)
        memcpy(to, data, size);
    return to + size;
}

static void put_near(struct changelog_run *run, struct bytes key, struct bytes value)
{
    size_t shared = shared_bytes(run->key, key);
    size_t most = 1 + 3 * VARINT_MAX + key.size_bytes + value.size_bytes;
    uint8_t *data = buffer_reserve(run->out, most);
    uint8_t *to = data;
    *to++ = CHANGE_NEAR;
    to = varint_write(to, shared);
    to = sized_write(to, key.data + shared, key.size_bytes - shared);
    to = sized_write(to, value.data, value.size_bytes);
    run->out->size_bytes += (size_t)(to - data);
}

void changelog_run_put(struct changelog_run *run, int64_t bucket, struct bytes key,
                       struct bytes value)
{
    if (run->begun && run->bucket != bucket && bytes_equal(run->key, key)) {
        put_again(run, bucket, value);
    } else if (!run->begun || run->bucket != bucket) {
        changelog_put(run->out, bucket, key, value);
    } else {
        put_near(run, key, value);
    }
    run->begun = true;
    run->bucket = bucket;
    run->key = key;
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
    if (record.size_bytes < CHANGELOG_HEADER_BYTES || record.data[0] > CHANGELOG_VERSION ||
        record.data[0] < CHANGELOG_VERSION_OLDEST)
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

/* The key that shares its beginning with the last one. */
static bool take_near(struct changelog_reader *reader, struct change *out)
{
    uint64_t shared = 0;
    struct bytes rest;
    if (!varint_take(&reader->rest, &shared) || shared > reader->last.size_bytes ||
        !take_sized(&reader->rest, &rest) || reader->last.data == NULL)
        return false;
    if (reader->last.data == reader->key.data) {
        reader->key.size_bytes = (size_t)shared;
    } else {
        buffer_clear(&reader->key);
        buffer_add(&reader->key, reader->last.data, (size_t)shared);
    }
    buffer_add_bytes(&reader->key, rest);
    buffer_reserve(&reader->key, 1); /* it has an address, also when it is empty */
    *out = (struct change){
        .kind = CHANGE_PUT, .bucket = reader->bucket, .key = buffer_bytes(&reader->key)};
    return take_sized(&reader->rest, &out->value);
}

/* The last key again, in another bucket. */
static bool take_again(struct changelog_reader *reader, struct change *out)
{
    uint64_t step = 0;
    if (!varint_take(&reader->rest, &step) || reader->last.data == NULL)
        return false;
    step = (step & 1) != 0 ? ~(step >> 1) : step >> 1;
    *out = (struct change){
        .kind = CHANGE_PUT,
        .bucket = (int64_t)((uint64_t)reader->bucket + step),
        .key = reader->last,
    };
    return take_sized(&reader->rest, &out->value);
}

static bool take_change(struct changelog_reader *reader, struct change *out)
{
    struct bytes *rest = &reader->rest;
    enum change_kind kind = (enum change_kind)rest->data[0];
    if (kind == CHANGE_NEAR || kind == CHANGE_AGAIN) {
        *rest = bytes_of(rest->data + 1, rest->size_bytes - 1);
        return kind == CHANGE_NEAR ? take_near(reader, out) : take_again(reader, out);
    }
    if (rest->size_bytes < 9)
        return false;
    *out = (struct change){.kind = kind, .bucket = (int64_t)get(rest->data + 1, 8)};
    *rest = bytes_of(rest->data + 9, rest->size_bytes - 9);
    switch (kind) {
    case CHANGE_PUT:
        return take_sized(rest, &out->key) && take_sized(rest, &out->value);
    case CHANGE_TAKE:
        return take_sized(rest, &out->key);
    case CHANGE_DROP:
        return true;
    case CHANGE_NEAR:
    case CHANGE_AGAIN:
        break;
    }
    return false;
}

bool changelog_next(struct changelog_reader *reader, struct change *out, bool *found)
{
    *found = reader->rest.size_bytes > 0;
    if (!*found)
        return true;
    if (!take_change(reader, out))
        return false;
    if (out->kind != CHANGE_DROP) {
        reader->bucket = out->bucket;
        reader->last = out->key;
    }
    return true;
}

void changelog_reader_fini(struct changelog_reader *reader)
{
    buffer_fini(&reader->key);
}
