/*
 * Integers and the casts.  Doubles are in double_text.c (printing) and double_parse.c (reading).
 */
#include "columnar/number_text.h"

static const char digit_pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293"
    "949596979899";

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are read eight at a time");

/* Less than 10^8, without zeros in front. */
static size_t print_short(char *out, uint32_t value)
{
    size_t size = 1;
    for (uint32_t bound = 10; size < 8 && value >= bound; bound *= 10)
        size++;
    size_t at = size;
    while (at > 1) {
        at -= 2;
        memcpy(out + at, digit_pairs + (size_t)(value % 100) * 2, 2);
        value /= 100;
    }
    if (at == 1)
        out[0] = (char)('0' + value);
    return size;
}

static void print_eight(char *out, uint32_t value)
{
    uint32_t high = value / 10000;
    uint32_t low = value % 10000;
    memcpy(out, digit_pairs + (size_t)(high / 100) * 2, 2);
    memcpy(out + 2, digit_pairs + (size_t)(high % 100) * 2, 2);
    memcpy(out + 4, digit_pairs + (size_t)(low / 100) * 2, 2);
    memcpy(out + 6, digit_pairs + (size_t)(low % 100) * 2, 2);
}

size_t number_print_uint64(char *out, uint64_t value)
{
    if (value < 100000000)
        return print_short(out, (uint32_t)value);
    uint64_t rest = value / 100000000;
    size_t size = number_print_uint64(out, rest);
    print_eight(out + size, (uint32_t)(value - rest * 100000000));
    return size + 8;
}

size_t number_print_int64(char *out, int64_t value)
{
    if (value >= 0)
        return number_print_uint64(out, (uint64_t)value);
    *out = '-';
    return 1 + number_print_uint64(out + 1, 0 - (uint64_t)value);
}

/* Reads digits at *at up to `end`; *out is the negated value (its range is the larger one).
 * Result: false on overflow, having skipped the digits all the same. */
static bool read_negative(const uint8_t **at, const uint8_t *end, int64_t *out)
{
    int64_t value = 0;
    bool fits = true;
    const uint8_t *next = *at;
    for (; next < end && (uint8_t)(*next - '0') <= 9; next++) {
        int digit = *next - '0';
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_sub_overflow(value, digit, &value);
    }
    *at = next;
    *out = value;
    return fits;
}

static enum text_result finish_integer(int64_t negated, bool negative, int64_t *out)
{
    if (negative) {
        *out = negated;
        return TEXT_OK;
    }
    return __builtin_sub_overflow(0, negated, out) ? TEXT_OUT_OF_RANGE : TEXT_OK;
}

/* Eight digits at once: pairs, then fours, then all of them. */
static inline bool read_eight(const uint8_t *at, uint32_t *out)
{
    uint64_t x;
    memcpy(&x, at, sizeof(x));
    x ^= UINT64_C(0x3030303030303030);
    if (((x | (x + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080)) != 0)
        return false;
    x = x * 10 + (x >> 8);
    x = (x & UINT64_C(0x00FF00FF00FF00FF)) * 100 + (x >> 16 & UINT64_C(0x00FF00FF00FF00FF));
    *out = (uint32_t)(x & 0xFFFF) * 10000 + (uint32_t)(x >> 32 & 0xFFFF);
    return true;
}

enum text_result number_parse_int64(struct bytes text, int64_t *out)
{
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return TEXT_INVALID;
    if (end - at <= 18) { /* cannot overflow */
        int64_t value = 0;
        uint32_t eight;
        for (; end - at >= 8; at += 8) {
            if (!read_eight(at, &eight))
                return TEXT_INVALID;
            value = value * 100000000 + eight;
        }
        for (; at < end; at++) {
            uint8_t digit = (uint8_t)(*at - '0');
            if (digit > 9)
                return TEXT_INVALID;
            value = value * 10 + digit;
        }
        *out = negative ? -value : value;
        return TEXT_OK;
    }
    int64_t negated;
    bool fits = read_negative(&at, end, &negated);
    if (at != end)
        return TEXT_INVALID;
    return fits ? finish_integer(negated, negative, out) : TEXT_OUT_OF_RANGE;
}

struct bytes number_trim_all(struct bytes text)
{
    const uint8_t *start = text.data;
    const uint8_t *end = start + text.size_bytes;
    while (start < end && (*start <= 0x20 || *start == 0x7F))
        start++;
    while (end > start && (end[-1] <= 0x20 || end[-1] == 0x7F))
        end--;
    return bytes_of(start, (size_t)(end - start));
}

enum text_result number_cast_integer(struct bytes text, bool fraction, int64_t min, int64_t max,
                                     int64_t *out)
{
    text = number_trim_all(text);
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const uint8_t *digits = at;
    int64_t negated;
    bool fits = read_negative(&at, end, &negated);
    if (at == digits && !(fraction && at < end && *at == '.'))
        return TEXT_INVALID;
    if (fraction && at < end && *at == '.') {
        at++;
        while (at < end && (uint8_t)(*at - '0') <= 9)
            at++;
    }
    if (at != end)
        return TEXT_INVALID;
    int64_t value;
    if (!fits || finish_integer(negated, negative, &value) != TEXT_OK)
        return TEXT_OUT_OF_RANGE;
    if (value < min || value > max)
        return TEXT_OUT_OF_RANGE;
    *out = value;
    return TEXT_OK;
}

static bool equal_word(struct bytes text, const char *word)
{
    size_t size = strlen(word);
    if (text.size_bytes != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text.data[i];
        if (byte >= 'A' && byte <= 'Z')
            byte = (uint8_t)(byte + ('a' - 'A'));
        if (byte != (uint8_t)word[i])
            return false;
    }
    return true;
}

enum text_result number_cast_boolean(struct bytes text, bool *out)
{
    static const char *const words[] = {"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"};
    text = number_trim_all(text);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (equal_word(text, words[i])) {
            *out = i < 5;
            return TEXT_OK;
        }
    }
    return TEXT_INVALID;
}
