/*
 * A fast 64-bit hash of bytes (XXH3), for tables in memory and for spreading keys over partitions.
 * The function is fixed: partitions of a checkpoint depend on it.  Not for secrets, not Spark's
 * hash() (that is a SQL function).  Threads: any.
 */
#ifndef SERVER_BASE_HASH_H
#define SERVER_BASE_HASH_H

#include "base/bytes.h"

uint64_t hash_bytes(const void *data, size_t size_bytes);
uint64_t hash_bytes_seeded(const void *data, size_t size_bytes, uint64_t seed);

/* Mixes 64 bits (a bijection): for keys that are numbers, and to finish a combination. */
static inline uint64_t hash_u64(uint64_t value)
{
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93U;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93U;
    value ^= value >> 32;
    return value;
}

static inline uint64_t hash_combine(uint64_t hash, uint64_t value)
{
    return hash_u64(hash * 0x9e3779b97f4a7c15U + value);
}

/* A number in [0, count) from a hash, without division. */
static inline uint32_t hash_bucket(uint64_t hash, uint32_t count)
{
    return (uint32_t)(((hash >> 32) * count) >> 32);
}

#endif
