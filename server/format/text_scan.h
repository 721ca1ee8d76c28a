/*
 * The inner loops of the readers: strings by 16 bytes, integers by 8 digits, ISO times with the
 * day remembered.  All of them may read up to LINE_PADDING bytes behind the text.
 * Private to format/.
 */
#ifndef SERVER_FORMAT_TEXT_SCAN_H
#define SERVER_FORMAT_TEXT_SCAN_H

#include "columnar/civil.h"

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first '"', '\\', control character or byte >= 0x80 at or behind `at`. */
static inline const uint8_t *scan_json_plain(const uint8_t *at)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i escape = _mm_set1_epi8('\\');
    const __m128i blank = _mm_set1_epi8(' '); /* signed: bytes >= 0x80 are below it too */
    for (;; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, escape));
        stop = _mm_or_si128(stop, _mm_cmpgt_epi8(blank, block));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
}

#define DIGITS_ZERO UINT64_C(0x3030303030303030)
#define DIGITS_HIGH UINT64_C(0x8080808080808080)

/* Eight bytes minus '0'; the first byte is the lowest. */
static inline uint64_t digits_load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word ^ DIGITS_ZERO;
}

/* How many of them are digits, from the first on. */
static inline unsigned digits_count(uint64_t digits)
{
    uint64_t wrong = ((digits + UINT64_C(0x7676767676767676)) | digits) & DIGITS_HIGH;
    return wrong == 0 ? 8 : (unsigned)__builtin_ctzll(wrong) / 8;
}

/* Value of eight digits, the first one the most significant. */
static inline uint32_t digits_value(uint64_t digits)
{
    const uint64_t mask = UINT64_C(0x000000FF000000FF);
    digits = digits * 10 + (digits >> 8);
    digits = (digits & mask) * UINT64_C(0x000F424000000064) +
             ((digits >> 16) & mask) * UINT64_C(0x0000271000000001);
    return (uint32_t)(digits >> 32);
}

static inline uint64_t digits_power(unsigned count)
{
    static const uint64_t powers[9] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
    return powers[count];
}

/* The digits behind the first eight, whose value is `value`. */
static inline uint64_t scan_more_digits(const uint8_t *at, uint64_t value, unsigned *count)
{
    uint64_t digits = digits_load(at);
    unsigned more = digits_count(digits);
    if (more > 0)
        value = value * digits_power(more) + digits_value(digits << (64 - 8 * more));
    for (; more >= 8 && more < 12 && (uint8_t)(at[more] - '0') <= 9; more++)
        if (more < 11)
            value = value * 10 + (uint8_t)(at[more] - '0');
    *count = 8 + more;
    return value;
}

/* Reads at most 19 digits; *count says how many there are (20: too many). */
static inline __attribute__((always_inline)) uint64_t scan_digits(const uint8_t **cursor,
                                                                  unsigned *count)
{
    const uint8_t *at = *cursor;
    uint64_t digits = digits_load(at);
    *count = digits_count(digits);
    uint64_t value = *count == 0 ? 0 : digits_value(digits << (64 - 8 * *count));
    if (*count == 8)
        value = scan_more_digits(at + 8, value, count);
    *cursor = at + *count;
    return value;
}

/* A plain JSON integer of at most 19 digits without a fraction; *cursor moves behind it. */
static inline bool scan_json_integer(const uint8_t **cursor, int64_t *out)
{
    const uint8_t *at = *cursor;
    bool negative = *at == '-';
    at += negative;
    const uint8_t *first = at;
    unsigned count = 0;
    uint64_t digits = scan_digits(&at, &count);
    int64_t value = (int64_t)digits;
    if (count == 0 || count > 19 || value < 0 || (*first == '0' && count > 1))
        return false;
    if (*at == '.' || (*at | 0x20) == 'e')
        return false;
    *out = negative ? -value : value;
    *cursor = at;
    return true;
}

/* A plain JSON number whose digits fit a double exactly, without an exponent. */
static inline bool scan_json_double(const uint8_t **cursor, double *out)
{
    static const double powers[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const uint8_t *at = *cursor;
    bool negative = *at == '-';
    at += negative;
    const uint8_t *first = at;
    unsigned whole = 0;
    uint64_t value = scan_digits(&at, &whole);
    if (whole == 0 || whole > 15 || (*first == '0' && whole > 1))
        return false;
    unsigned fraction = 0;
    if (*at == '.') {
        at++;
        uint64_t digits = digits_load(at);
        fraction = digits_count(digits);
        if (fraction == 0 || fraction + whole > 15)
            return false;
        value = value * digits_power(fraction) + digits_value(digits << (64 - 8 * fraction));
        at += fraction;
        for (; (uint8_t)(*at - '0') <= 9; at++) {
            if (++fraction + whole > 15)
                return false;
            value = value * 10 + (uint8_t)(*at - '0');
        }
    } else if (value == 0) {
        negative = false; /* -0 is an integer */
    }
    if ((*at | 0x20) == 'e')
        return false;
    double number = (double)value / powers[fraction];
    *out = negative ? -number : number;
    *cursor = at;
    return true;
}

/* The day that the last text named: times of one stream are mostly of one day. */
struct day_cache {
    uint64_t head; /* "2024-05-" */
    uint16_t tail; /* "01" */
    bool filled;
    int64_t day_us;
};

static inline bool day_cache_fill(struct day_cache *cache, const uint8_t *at)
{
    uint8_t d[10];
    for (int i = 0; i < 10; i++)
        d[i] = (uint8_t)(at[i] - '0');
    if (at[4] != '-' || at[7] != '-')
        return false;
    if ((d[0] > 9) | (d[1] > 9) | (d[2] > 9) | (d[3] > 9) | (d[5] > 9) | (d[6] > 9) | (d[8] > 9) |
        (d[9] > 9))
        return false;
    int year = d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3];
    int month = d[5] * 10 + d[6];
    int day = d[8] * 10 + d[9];
    if (!civil_is_valid(year, month, day))
        return false;
    memcpy(&cache->head, at, 8);
    memcpy(&cache->tail, at + 8, 2);
    cache->day_us = civil_days(year, month, day) * CIVIL_DAY_US;
    cache->filled = true;
    return true;
}

static inline bool day_cache_find(struct day_cache *cache, const uint8_t *at)
{
    uint64_t head;
    uint16_t tail;
    memcpy(&head, at, 8);
    memcpy(&tail, at + 8, 2);
    if (cache->filled && head == cache->head && tail == cache->tail)
        return true;
    return day_cache_fill(cache, at);
}

/*
 * "2024-05-01T10:20:30[.1-6 digits][Z]"; without Z only if `local_is_utc`, with Z only if `zoned`.
 * Moves *cursor behind it.  False: look closer (it may still be a time).
 */
static inline bool scan_iso_time(struct day_cache *cache, bool local_is_utc, bool zoned,
                                 const uint8_t **cursor, int64_t *out_us)
{
    static const int32_t scale[7] = {0, 100000, 10000, 1000, 100, 10, 1};
    const uint8_t *at = *cursor;
    if (!day_cache_find(cache, at) || (at[10] != 'T' && at[10] != ' '))
        return false;
    uint64_t clock;
    memcpy(&clock, at + 11, 8);
    clock ^= UINT64_C(0x30303A30303A3030);
    if (((((clock + UINT64_C(0x7676767676767676)) | clock) & DIGITS_HIGH) |
         (clock & UINT64_C(0x0000FF0000FF0000))) != 0)
        return false;
    unsigned hour = (unsigned)(clock & 0xFF) * 10 + (unsigned)(clock >> 8 & 0xFF);
    unsigned minute = (unsigned)(clock >> 24 & 0xFF) * 10 + (unsigned)(clock >> 32 & 0xFF);
    unsigned second = (unsigned)(clock >> 48 & 0xFF) * 10 + (unsigned)(clock >> 56);
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    at += 19;
    int64_t micros = 0;
    if (*at == '.') {
        uint64_t digits = digits_load(at + 1);
        unsigned count = digits_count(digits);
        if (count == 0 || count > 6)
            return false;
        micros = (int64_t)digits_value(digits << (64 - 8 * count)) * scale[count];
        at += 1 + count;
    }
    bool has_zone = *at == 'Z';
    if (has_zone ? !zoned : !local_is_utc)
        return false;
    *out_us = cache->day_us + (int64_t)(hour * 3600 + minute * 60 + second) * 1000000 + micros;
    *cursor = at + has_zone;
    return true;
}

#endif
