#include "base/crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78U /* Castagnoli, reflected */

static uint32_t table[8][256];

__attribute__((constructor)) static void table_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (POLYNOMIAL & (0U - (crc & 1)));
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int slice = 1; slice < 8; slice++)
            table[slice][i] = table[0][table[slice - 1][i] & 0xff] ^ (table[slice - 1][i] >> 8);
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size_bytes)
{
    const uint8_t *p = data;
    uint32_t c = ~crc;
    for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
        c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        c = table[7][c & 0xff] ^ table[6][(c >> 8) & 0xff] ^ table[5][(c >> 16) & 0xff] ^
            table[4][c >> 24] ^ table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; size_bytes > 0; p++, size_bytes--)
        c = table[0][(c ^ *p) & 0xff] ^ (c >> 8);
    return ~c;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data,
                                                               size_t size_bytes)
{
    const uint8_t *p = data;
    uint64_t c = ~crc;
    for (; size_bytes >= 8; p += 8, size_bytes -= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        c = __builtin_ia32_crc32di(c, word);
    }
    uint32_t c32 = (uint32_t)c;
    for (; size_bytes > 0; p++, size_bytes--)
        c32 = __builtin_ia32_crc32qi(c32, *p);
    return ~c32;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes)
{
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, data, size_bytes);
    return crc32c_portable(crc, data, size_bytes);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes)
{
    return crc32c_portable(crc, data, size_bytes);
}

#endif
