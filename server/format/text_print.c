/* Printing: see text_print.h. */
#include "format/text_print.h"

#include <emmintrin.h>

const char text_two_digits[200] = {
#define TEN(t) t, '0', t, '1', t, '2', t, '3', t, '4', t, '5', t, '6', t, '7', t, '8', t, '9'
    TEN('0'), TEN('1'), TEN('2'), TEN('3'), TEN('4'),
    TEN('5'), TEN('6'), TEN('7'), TEN('8'), TEN('9'),
#undef TEN
};

void text_grow(struct text_cursor *cursor, size_t size_bytes)
{
    if (cursor->at != NULL)
        text_end(cursor);
    (void)buffer_reserve(cursor->out, size_bytes);
    *cursor = text_begin(cursor->out);
}

static inline uint8_t *print_eight(uint8_t *at, uint32_t value)
{
    uint32_t high = value / 10000;
    uint32_t low = value % 10000;
    at = text_print_two(at, high / 100);
    at = text_print_two(at, high % 100);
    at = text_print_two(at, low / 100);
    return text_print_two(at, low % 100);
}

/* Below 10^8, without leading zeros. */
static inline uint8_t *print_small(uint8_t *at, uint32_t value)
{
    if (value < 100) {
        if (value < 10) {
            *at = (uint8_t)('0' + value);
            return at + 1;
        }
        return text_print_two(at, value);
    }
    uint8_t digits[8];
    (void)print_eight(digits, value);
    unsigned skip = value >= 10000 ? (value >= 1000000 ? (value < 10000000) : 2 + (value < 100000))
                                   : 4 + (value < 1000);
    uint64_t word;
    memcpy(&word, digits, sizeof word);
    word >>= 8 * skip;
    memcpy(at, &word, sizeof word); /* the caller made room for 20 bytes */
    return at + (8 - skip);
}

uint8_t *text_print_uint64(uint8_t *at, uint64_t value)
{
    if (value < 100000000)
        return print_small(at, (uint32_t)value);
    uint64_t high = value / 100000000;
    uint32_t low = (uint32_t)(value % 100000000);
    if (high < 100000000) {
        at = print_small(at, (uint32_t)high);
    } else {
        at = print_small(at, (uint32_t)(high / 100000000));
        at = print_eight(at, (uint32_t)(high % 100000000));
    }
    return print_eight(at, low);
}

bool day_text_fill(struct day_text *day, int64_t us)
{
    int64_t days = civil_floor_div(us, CIVIL_DAY_US);
    struct civil_date date = civil_from_days(days);
    if (date.year < 0 || date.year > 9999)
        return false;
    day->first_us = days * CIVIL_DAY_US;
    day->filled = true;
    uint8_t *at = day->text;
    at = text_print_two(at, (unsigned)date.year / 100);
    at = text_print_two(at, (unsigned)date.year % 100);
    *at++ = '-';
    at = text_print_two(at, (unsigned)date.month);
    *at++ = '-';
    at = text_print_two(at, (unsigned)date.day);
    *at = 'T';
    return true;
}

bool encoded_text_is_ascii(struct bytes text)
{
    size_t i = 0;
    for (; i + 16 <= text.size_bytes; i += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(text.data + i));
        if (_mm_movemask_epi8(block) != 0)
            return false;
    }
    for (; i < text.size_bytes; i++) {
        if (text.data[i] >= 0x80)
            return false;
    }
    return true;
}
