/*
 * Text to double, correctly rounded.  Three ways, fastest first: one multiplication or division of
 * exact doubles (Clinger); one or two 64x64 products with a table of powers (Eisel and Lemire);
 * the C library for what is left (ties deep behind the 19th digit).
 */
#include "columnar/number_text.h"
#include "columnar/power10.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

#define DIGITS_MAX      19 /* fit a uint64 */
#define EXPONENT_CAP    100000
#define FALLBACK_DIGITS 800 /* more never change which double is nearest */
#define FALLBACK_TEXT   (FALLBACK_DIGITS + 32)

struct decimal_text {
    bool negative;
    bool truncated;      /* digits behind the 19th that are not all zero */
    uint64_t digits;     /* the first 19 significant ones */
    int exponent;        /* value = digits * 10^exponent */
    const uint8_t *from; /* where the digits and the point are */
    const uint8_t *to;
    int written_exponent;
};

static bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') <= 9;
}

static const uint8_t *read_exponent(const uint8_t *at, const uint8_t *end, int *out)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    int value = 0;
    for (; at < end && is_digit(*at); at++)
        if (value < EXPONENT_CAP)
            value = value * 10 + (*at - '0');
    *out = negative ? -value : value;
    return at;
}

/* Takes digits from..to (with a point at `point` or none) again, the careful way: more than 19. */
static void read_long(struct decimal_text *number)
{
    uint64_t digits = 0;
    int taken = 0;
    int exponent = number->written_exponent;
    bool behind = false;
    for (const uint8_t *at = number->from; at < number->to; at++) {
        if (*at == '.') {
            behind = true;
            continue;
        }
        if (taken == 0 && *at == '0') {
            exponent -= behind;
        } else if (taken < DIGITS_MAX) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            taken++;
            exponent -= behind;
        } else {
            number->truncated = number->truncated || *at != '0';
            exponent += !behind;
        }
    }
    number->digits = digits;
    number->exponent = exponent;
}

/* Reads the number at the start of `text`.  Result: where it ends, or NULL. */
static const uint8_t *read_decimal(struct bytes text, struct decimal_text *number)
{
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    *number = (struct decimal_text){0};
    if (at < end && (*at == '-' || *at == '+'))
        number->negative = *at++ == '-';
    number->from = at;
    uint64_t digits = 0;
    for (; at < end && is_digit(*at); at++)
        digits = digits * 10 + (uint64_t)(*at - '0');
    ptrdiff_t count = at - number->from;
    int exponent = 0;
    if (at < end && *at == '.') {
        const uint8_t *point = ++at;
        for (; at < end && is_digit(*at); at++)
            digits = digits * 10 + (uint64_t)(*at - '0');
        count += at - point;
        exponent = (int)-(at - point);
    }
    if (count == 0)
        return NULL;
    number->to = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = read_exponent(at + 1, end, &number->written_exponent);
        if (at == NULL)
            return NULL;
    }
    number->digits = digits;
    number->exponent = exponent + number->written_exponent;
    if (count > DIGITS_MAX)
        read_long(number);
    return at;
}

/* Eisel-Lemire for a double: digits > 0.  False: cannot tell. */
static bool multiply_wide(uint64_t digits, int exponent, double *out)
{
    if (exponent < POWER10_MIN) {
        *out = 0.0;
        return true;
    }
    if (exponent > 308) {
        *out = (double)INFINITY;
        return true;
    }
    int leading = __builtin_clzll(digits);
    uint64_t w = digits << leading;
    struct power10 power = power10_of(exponent);
    wide product = (wide)w * power.high;
    if (((uint64_t)(product >> 64) & 0x1FF) == 0x1FF) {
        product += (uint64_t)(((wide)w * power.low) >> 64);
        if ((uint64_t)product == UINT64_MAX && (exponent < -27 || exponent > 55))
            return false;
    }
    uint64_t high = (uint64_t)(product >> 64);
    int top = (int)(high >> 63);
    int drop = top + 64 - 52 - 3;
    uint64_t mantissa = high >> drop;
    int power2 = (((152170 + 65536) * exponent) >> 16) + 63 + top - leading + 1023;
    if (power2 <= 0) {
        if (-power2 + 1 >= 64) {
            *out = 0.0;
            return true;
        }
        mantissa >>= -power2 + 1;
        mantissa = (mantissa + (mantissa & 1)) >> 1;
        memcpy(out, &mantissa, sizeof(*out)); /* rounds up into the smallest normal by itself */
        return true;
    }
    if ((uint64_t)product <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 &&
        mantissa << drop == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= UINT64_C(1) << 53) {
        mantissa = UINT64_C(1) << 52;
        power2++;
    }
    if (power2 >= 0x7FF) {
        *out = (double)INFINITY;
        return true;
    }
    uint64_t bits = (mantissa & ~(UINT64_C(1) << 52)) | (uint64_t)power2 << 52;
    memcpy(out, &bits, sizeof(*out));
    return true;
}

/* The number as text for the C library: its digits, shortened, and an exponent. */
static void fallback_text(const struct decimal_text *number, char text[FALLBACK_TEXT])
{
    int exponent = number->written_exponent;
    bool behind = false;
    bool rest = false;
    size_t size = 0;
    for (const uint8_t *at = number->from; at < number->to; at++) {
        if (*at == '.') {
            behind = true;
        } else if (size < FALLBACK_DIGITS) {
            if (size > 0 || *at != '0')
                text[size++] = (char)*at;
            exponent -= behind;
        } else {
            rest = rest || *at != '0';
            exponent += !behind;
        }
    }
    if (size == 0)
        text[size++] = '0';
    if (rest) {
        text[size++] = '1';
        exponent--;
    }
    text[size++] = 'e';
    size += number_print_int64(text + size, exponent);
    text[size] = '\0';
}

static double to_double(const struct decimal_text *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value;
    double above;
    int exponent = number->exponent;
    if (number->digits == 0) {
        value = 0.0;
    } else if (!number->truncated && number->digits <= UINT64_C(1) << 53 && exponent >= -22 &&
               exponent <= 22) {
        value = (double)number->digits;
        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    } else if (!multiply_wide(number->digits, exponent, &value) ||
               (number->truncated &&
                (!multiply_wide(number->digits + 1, exponent, &above) || above != value))) {
        char text[FALLBACK_TEXT];
        fallback_text(number, text);
        value = strtod(text, NULL);
    }
    return number->negative ? -value : value;
}

static float to_float(const struct decimal_text *number)
{
    double value = to_double(number);
    float narrow = (float)value;
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    /* A double on the border of two floats, or a subnormal float, may hide on which side the
     * text is. */
    bool border = (bits & ((UINT64_C(1) << 29) - 1)) == UINT64_C(1) << 28;
    bool small = fabs(value) < 1.2e-38 && value != 0.0;
    if (!border && !small)
        return narrow;
    char text[FALLBACK_TEXT];
    fallback_text(number, text);
    narrow = strtof(text, NULL);
    return number->negative ? -narrow : narrow;
}

enum text_result number_parse_double(struct bytes text, double *out)
{
    struct decimal_text number;
    if (read_decimal(text, &number) != text.data + text.size_bytes || text.size_bytes == 0)
        return TEXT_INVALID;
    *out = to_double(&number);
    return TEXT_OK;
}

enum text_result number_parse_float(struct bytes text, float *out)
{
    struct decimal_text number;
    if (read_decimal(text, &number) != text.data + text.size_bytes || text.size_bytes == 0)
        return TEXT_INVALID;
    *out = to_float(&number);
    return TEXT_OK;
}

/* ---- CAST ---- */

static bool equal_ignoring_case(struct bytes text, const char *word)
{
    size_t size = strlen(word);
    if (text.size_bytes != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if ((text.data[i] | 0x20) != (uint8_t)word[i])
            return false;
    return true;
}

/* NaN and the infinities, with their signs as Spark and Java allow them. */
static bool read_special(struct bytes text, double *out)
{
    struct bytes word = text;
    bool negative = false;
    if (word.size_bytes > 0 && (*word.data == '-' || *word.data == '+')) {
        negative = *word.data == '-';
        word = bytes_of(word.data + 1, word.size_bytes - 1);
    }
    if (equal_ignoring_case(word, "inf") || equal_ignoring_case(word, "infinity")) {
        *out = (double)(negative ? -INFINITY : INFINITY);
        return true;
    }
    bool is_nan = word.size_bytes == text.size_bytes ? equal_ignoring_case(word, "nan")
                                                     : bytes_equal(word, bytes_of_text("NaN"));
    if (is_nan)
        *out = (double)NAN;
    return is_nan;
}

static bool is_hex_digit(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return is_digit(byte) || (lower >= 'a' && lower <= 'f');
}

/* [-+]0x[hex][.hex]p[-+]digits, copied with a NUL for the C library. */
static bool read_hex_text(struct bytes text, char copy[FALLBACK_TEXT])
{
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    if (text.size_bytes >= FALLBACK_TEXT)
        return false;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (end - at < 2 || at[0] != '0' || (at[1] | 0x20) != 'x')
        return false;
    bool digits = false;
    bool point = false;
    for (at += 2; at < end && (is_hex_digit(*at) || (*at == '.' && !point)); at++) {
        point = point || *at == '.';
        digits = digits || *at != '.';
    }
    int exponent;
    if (!digits || at == end || (*at | 0x20) != 'p' || read_exponent(at + 1, end, &exponent) != end)
        return false;
    memcpy(copy, text.data, text.size_bytes);
    copy[text.size_bytes] = '\0';
    return true;
}

static struct bytes without_suffix(struct bytes text)
{
    if (text.size_bytes > 1) {
        uint8_t last = text.data[text.size_bytes - 1] | 0x20;
        if (last == 'd' || last == 'f')
            text.size_bytes--;
    }
    return text;
}

enum text_result number_cast_double(struct bytes text, double *out)
{
    text = number_trim_all(text);
    if (number_parse_double(text, out) == TEXT_OK)
        return TEXT_OK;
    if (read_special(text, out))
        return TEXT_OK;
    text = without_suffix(text);
    char copy[FALLBACK_TEXT];
    if (read_hex_text(text, copy)) {
        *out = strtod(copy, NULL);
        return TEXT_OK;
    }
    return number_parse_double(text, out);
}

enum text_result number_cast_float(struct bytes text, float *out)
{
    double special;
    text = number_trim_all(text);
    if (number_parse_float(text, out) == TEXT_OK)
        return TEXT_OK;
    if (read_special(text, &special)) {
        *out = (float)special;
        return TEXT_OK;
    }
    text = without_suffix(text);
    char copy[FALLBACK_TEXT];
    if (read_hex_text(text, copy)) {
        *out = strtof(copy, NULL);
        return TEXT_OK;
    }
    return number_parse_float(text, out);
}
