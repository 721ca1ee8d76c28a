/*
 * Integers and the casts.  Doubles are in double_text.c (printing) and double_parse.c (reading).
 */
#include "columnar/number_text.h"

static const char digit_pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293"
    "949596979899";

size_t number_print_uint64(char *out, uint64_t value)
{
    char reversed[NUMBER_INT64_TEXT_MAX];
    char *at = reversed + sizeof(reversed);
    while (value >= 100) {
        at -= 2;
        memcpy(at, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(at, digit_pairs + value * 2, 2);
    } else {
        *--at = (char)('0' + value);
    }
    size_t size = (size_t)(reversed + sizeof(reversed) - at);
    memcpy(out, at, size);
    return size;
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
