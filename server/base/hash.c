#include "base/hash.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wconversion"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

uint64_t hash_bytes(const void *data, size_t size_bytes)
{
    return XXH3_64bits(data, size_bytes);
}

uint64_t hash_bytes_seeded(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size_bytes, seed);
}
