/*
 * Parquet's hybrid of run lengths and packed bits, for levels and for indexes of dictionaries.
 *
 *     run    = varint(length << 1), then the value in (width + 7) / 8 bytes
 *     packed = varint(groups << 1 | 1), then for each group of 8 values `width` bytes, the lowest
 *              bit first
 *
 * Values that are at least eight times the same become a run, all others are packed.  The end of a
 * page fills its last group with zeroes.
 */
#ifndef SERVER_PARQUET_RLE_H
#define SERVER_PARQUET_RLE_H

#include "base/buffer.h"

/* Zeroed but for the width (1 to 32 bits), it is empty. */
struct rle_encoder {
    struct buffer out;
    unsigned width;
    uint32_t value;   /* the last one */
    uint64_t repeats; /* of it, since the last group */
    uint32_t waiting[8];
    unsigned waiting_count;
    size_t packed_at; /* where the head of the packed run at hand stands, plus 1; 0: none */
    unsigned packed_groups;
};

/* How many bits a value needs that is `max` at most. */
unsigned rle_width(uint32_t max);

void rle_fini(struct rle_encoder *encoder);
void rle_clear(struct rle_encoder *encoder); /* keeps width and memory */

void rle_add(struct rle_encoder *encoder, uint32_t value);
/* The same value `count` times, in a time that does not depend on it. */
void rle_add_run(struct rle_encoder *encoder, uint32_t value, uint64_t count);
/* After the last value: encoder->out is complete. */
void rle_end(struct rle_encoder *encoder);

#endif
