/* The hybrid encoding: see rle.h. */
#include "parquet/rle.h"

#include "base/check.h"
#include "parquet/thrift.h"

#define RUN_MIN    8
#define GROUPS_MAX 63 /* what a head of one byte counts */

unsigned rle_width(uint32_t max)
{
    unsigned width = 0;
    for (; max > 0; max >>= 1)
        width++;
    return width;
}

void rle_fini(struct rle_encoder *encoder)
{
    buffer_fini(&encoder->out);
}

void rle_clear(struct rle_encoder *encoder)
{
    buffer_clear(&encoder->out);
    encoder->repeats = 0;
    encoder->waiting_count = 0;
    encoder->packed_at = 0;
    encoder->packed_groups = 0;
}

static void end_packed(struct rle_encoder *encoder)
{
    if (encoder->packed_at == 0)
        return;
    encoder->out.data[encoder->packed_at - 1] = (uint8_t)(encoder->packed_groups << 1 | 1);
    encoder->packed_at = 0;
    encoder->packed_groups = 0;
}

static void put_group(struct rle_encoder *encoder)
{
    if (encoder->packed_groups == GROUPS_MAX)
        end_packed(encoder);
    uint8_t *at = buffer_reserve(&encoder->out, 1 + 32);
    if (encoder->packed_at == 0) {
        *at++ = 0;
        encoder->packed_at = ++encoder->out.size_bytes;
    }
    uint64_t bits = 0;
    unsigned filled = 0;
    for (unsigned i = 0; i < 8; i++) {
        bits |= (uint64_t)encoder->waiting[i] << filled;
        for (filled += encoder->width; filled >= 8; filled -= 8) {
            *at++ = (uint8_t)bits;
            bits >>= 8;
        }
    }
    encoder->out.size_bytes += encoder->width;
    encoder->packed_groups++;
    encoder->waiting_count = 0;
    encoder->repeats = 0;
}

static void put_run(struct rle_encoder *encoder)
{
    end_packed(encoder);
    thrift_varint(&encoder->out, encoder->repeats << 1);
    for (unsigned done = 0; done < encoder->width; done += 8)
        buffer_add_byte(&encoder->out, (uint8_t)(encoder->value >> done));
    encoder->repeats = 0;
    encoder->waiting_count = 0;
}

void rle_add(struct rle_encoder *encoder, uint32_t value)
{
    if (value == encoder->value && encoder->repeats > 0) {
        if (++encoder->repeats >= RUN_MIN)
            return; /* those that wait are of the run: it began with the group */
    } else {
        if (encoder->repeats >= RUN_MIN)
            put_run(encoder);
        encoder->value = value;
        encoder->repeats = 1;
    }
    encoder->waiting[encoder->waiting_count++] = value;
    if (encoder->waiting_count == 8)
        put_group(encoder);
}

void rle_add_run(struct rle_encoder *encoder, uint32_t value, uint64_t count)
{
    while (count > 0 && (encoder->repeats < RUN_MIN || encoder->value != value)) {
        rle_add(encoder, value);
        count--;
    }
    encoder->repeats += count;
}

void rle_end(struct rle_encoder *encoder)
{
    CHECK(encoder->width > 0 && encoder->width <= 32);
    if (encoder->repeats >= RUN_MIN) {
        put_run(encoder);
        return;
    }
    if (encoder->waiting_count > 0) {
        while (encoder->waiting_count < 8)
            encoder->waiting[encoder->waiting_count++] = 0;
        put_group(encoder);
    }
    end_packed(encoder);
}
