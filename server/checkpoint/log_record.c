/*
 * Encoding and checking of log records.  The bytes are described in log_record.h.
 */
#include "checkpoint/log_record.h"

#include "base/check.h"
#include "base/crc32c.h"

#define ALIGNMENT 8

static const char *const kind_names[RECORD_KIND_COUNT] = {
    [RECORD_START] = "START",     [RECORD_INTENT] = "INTENT", [RECORD_STATE] = "STATE",
    [RECORD_CHANGES] = "CHANGES", [RECORD_COMMIT] = "COMMIT", [RECORD_PROGRESS] = "PROGRESS",
    [RECORD_CLOSE] = "CLOSE",     [RECORD_REWIND] = "REWIND",
};

static const uint8_t zeros[ALIGNMENT];

static void put(uint8_t *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static size_t padding(uint64_t payload_size)
{
    return (size_t)(-payload_size & (ALIGNMENT - 1));
}

uint64_t log_record_size(uint64_t payload_size)
{
    return LOG_RECORD_HEADER_SIZE + payload_size + padding(payload_size);
}

void log_record_encode_header(const struct log_record *record, uint8_t out[LOG_RECORD_HEADER_SIZE])
{
    CHECK(record_kind_name(record->kind) != NULL);
    CHECK(record->payload.size_bytes <= LOG_RECORD_PAYLOAD_MAX);
    out[4] = 'T';
    out[5] = 'R';
    out[6] = LOG_RECORD_VERSION;
    out[7] = (uint8_t)record->kind;
    put(out + 8, record->payload.size_bytes, 8);
    put(out + 16, (uint64_t)record->batch_id, 8);
    put(out + 24, record->epoch, 4);
    put(out + 28, 0, 4);
    put(out + 32, record->synced, 8);
    uint32_t crc = crc32c(0, out + 4, LOG_RECORD_HEADER_SIZE - 4);
    crc = crc32c(crc, record->payload.data, record->payload.size_bytes);
    crc = crc32c(crc, zeros, padding(record->payload.size_bytes));
    put(out, crc, 4);
}

void log_record_encode(const struct log_record *record, struct buffer *out)
{
    uint8_t *header = buffer_reserve(out, LOG_RECORD_HEADER_SIZE);
    log_record_encode_header(record, header);
    out->size_bytes += LOG_RECORD_HEADER_SIZE;
    buffer_add_bytes(out, record->payload);
    buffer_add(out, zeros, padding(record->payload.size_bytes));
}

static bool all_zero(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != 0)
            return false;
    return true;
}

enum record_verdict log_record_decode(struct bytes from, struct log_record *out, uint64_t *size)
{
    const uint8_t *data = from.data;
    if (from.size_bytes < LOG_RECORD_HEADER_SIZE)
        return all_zero(data, from.size_bytes) ? RECORD_END : RECORD_BROKEN;
    if (all_zero(data, LOG_RECORD_HEADER_SIZE))
        return RECORD_END;
    if (data[4] != 'T' || data[5] != 'R')
        return RECORD_BROKEN;
    uint64_t payload_size = get(data + 8, 8);
    if (payload_size > LOG_RECORD_PAYLOAD_MAX || log_record_size(payload_size) > from.size_bytes)
        return RECORD_BROKEN;
    uint64_t whole = log_record_size(payload_size);
    if (crc32c(0, data + 4, (size_t)whole - 4) != (uint32_t)get(data, 4))
        return RECORD_BROKEN;
    *size = whole;
    if (data[6] != LOG_RECORD_VERSION || record_kind_name((enum record_kind)data[7]) == NULL)
        return RECORD_UNSUPPORTED;
    *out = (struct log_record){
        .kind = (enum record_kind)data[7],
        .epoch = (uint32_t)get(data + 24, 4),
        .batch_id = (int64_t)get(data + 16, 8),
        .synced = get(data + 32, 8),
        .payload = bytes_of(data + LOG_RECORD_HEADER_SIZE, (size_t)payload_size),
    };
    return RECORD_VALID;
}

const char *record_kind_name(enum record_kind kind)
{
    return (int)kind >= 0 && (int)kind < RECORD_KIND_COUNT ? kind_names[kind] : NULL;
}
