/*
 * Decimals as text, and as doubles, which go through the text: a double becomes the decimal that it
 * prints as, and a decimal the double nearest to its digits.
 */
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/decimal.h"
#include "columnar/wide_int.h"

#include <math.h>
#include <stdlib.h>

#define EXPONENT_CAP 1000000

/* A number taken apart: sign, where its digits (and a point) are, and its exponent. */
struct scanned {
    bool negative;
    const uint8_t *digits; /* the first significant digit, or `end` for zero */
    const uint8_t *end;
    int64_t whole;    /* digits before the point, counted from `digits`; may be negative */
    int64_t fraction; /* digits behind the point as written, less the exponent */
};

static bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') <= 9;
}

static bool scan_exponent(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    int64_t value = 0;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        if (value < EXPONENT_CAP)
            value = value * 10 + (*at - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static bool scan(struct bytes text, struct scanned *out)
{
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    *out = (struct scanned){.negative = at < end && *at == '-'};
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const uint8_t *first = NULL;
    const uint8_t *point = NULL;
    const uint8_t *start = at;
    for (; at < end && (is_digit(*at) || (*at == '.' && point == NULL)); at++) {
        if (*at == '.')
            point = at;
        else if (*at != '0' && first == NULL)
            first = at;
    }
    if (at - start == (point != NULL))
        return false; /* no digit */
    out->end = at;
    out->digits = first != NULL ? first : at;
    const uint8_t *whole_end = point != NULL ? point : at;
    out->whole = whole_end - out->digits;
    if (out->whole < 0)
        out->whole++; /* the point itself is no digit */
    out->fraction = point != NULL ? at - point - 1 : 0;
    int64_t exponent = 0;
    if (at < end) {
        if (*at != 'e' && *at != 'E')
            return false;
        if (!scan_exponent(at + 1, end, &exponent))
            return false;
    }
    out->whole += exponent;
    out->fraction -= exponent;
    return true;
}

enum text_result decimal_parse(struct bytes text, int precision, int scale, int128 *out)
{
    CHECK(precision <= DECIMAL_PRECISION_MAX);
    struct scanned number;
    if (!scan(text, &number))
        return TEXT_INVALID;
    if (number.digits == number.end) {
        *out = 0;
        return TEXT_OK;
    }
    if (number.whole > precision - scale)
        return TEXT_OUT_OF_RANGE;
    int64_t wanted = number.whole + scale; /* significant digits to take, at most `precision` */
    int128 value = 0;
    const uint8_t *at = number.digits;
    for (; wanted > 0 && at < number.end; at++) {
        if (*at == '.')
            continue;
        value = value * 10 + (*at - '0');
        wanted--;
    }
    if (wanted > 0)
        value *= decimal_power10((int)wanted);
    while (at < number.end && *at == '.')
        at++;
    if (wanted == 0 && at < number.end && *at >= '5')
        value++;
    if (!decimal_fits(value, precision))
        return TEXT_OUT_OF_RANGE;
    *out = number.negative ? -value : value;
    return TEXT_OK;
}

enum text_result decimal_parse_exact(struct bytes text, struct decimal *out, int *precision)
{
    struct scanned number;
    if (!scan(text, &number))
        return TEXT_INVALID;
    int64_t scale = number.fraction > 0 ? number.fraction : 0;
    if (scale > DECIMAL_PRECISION_MAX || number.whole + scale > DECIMAL_PRECISION_MAX)
        return TEXT_OUT_OF_RANGE;
    int128 unscaled;
    enum text_result result = decimal_parse(text, DECIMAL_PRECISION_MAX, (int)scale, &unscaled);
    if (result != TEXT_OK)
        return result;
    *out = (struct decimal){unscaled, (int)scale};
    int digits = decimal_digits(unscaled);
    *precision = digits > scale ? digits : (int)scale;
    return TEXT_OK;
}

/* ---- digits of other scripts ---- */

int decimal_foreign_digit(uint32_t code)
{
    static const uint16_t zeros[] = {
        0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6,
        0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090,
        0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40,
        0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    };
    for (size_t i = 0; i < sizeof(zeros) / sizeof(*zeros); i++)
        if (code >= zeros[i] && code < zeros[i] + 10U)
            return (int)(code - zeros[i]);
    return -1;
}

static bool is_ascii(struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++)
        if (text.data[i] >= 0x80)
            return false;
    return true;
}

#define FOREIGN_TEXT_MAX 256 /* longer ones are rare, and cost an allocation */

/* The text with ASCII digits, of no more bytes than it has. */
static enum text_result plain_digits(struct bytes text, uint8_t *plain, size_t *size)
{
    while (text.size_bytes > 0) {
        size_t step = 1;
        if (*text.data < 0x80) {
            plain[(*size)++] = *text.data;
        } else {
            int digit = decimal_foreign_digit(utf8_decode(text, &step));
            if (digit < 0 || step == 0)
                return TEXT_INVALID;
            plain[(*size)++] = (uint8_t)('0' + digit);
        }
        text = bytes_of(text.data + step, text.size_bytes - step);
    }
    return TEXT_OK;
}

enum text_result decimal_cast(struct bytes text, int precision, int scale, int128 *out)
{
    text = number_trim_all(text);
    if (is_ascii(text))
        return decimal_parse(text, precision, scale, out);
    uint8_t room[FOREIGN_TEXT_MAX];
    uint8_t *plain = text.size_bytes <= sizeof(room) ? room : heap_malloc(text.size_bytes);
    size_t size = 0;
    enum text_result result = plain_digits(text, plain, &size);
    if (result == TEXT_OK)
        result = decimal_parse(bytes_of(plain, size), precision, scale, out);
    if (plain != room)
        free(plain);
    return result;
}

/* ---- printing ---- */

static size_t print_digits(char *out, uint128 value)
{
    const uint64_t chunk = UINT64_C(1000000000000000000);
    if (value < chunk)
        return number_print_uint64(out, (uint64_t)value);
    size_t size = print_digits(out, value / chunk);
    char low[NUMBER_INT64_TEXT_MAX];
    size_t low_size = number_print_uint64(low, (uint64_t)(value % chunk));
    memset(out + size, '0', 18 - low_size);
    memcpy(out + size + 18 - low_size, low, low_size);
    return size + 18;
}

/* Plain digits with a point before the last `scale` of them. */
static size_t put_plain(char *out, const char *digits, size_t size, int scale)
{
    if (scale <= 0) {
        memcpy(out, digits, size);
        memset(out + size, '0', (size_t)-scale);
        return size + (size_t)-scale;
    }
    char *at = out;
    if (size <= (size_t)scale) {
        size_t zeros = (size_t)scale - size;
        *at++ = '0';
        *at++ = '.';
        memset(at, '0', zeros);
        memcpy(at + zeros, digits, size);
        return 2 + (size_t)scale;
    }
    size_t whole = size - (size_t)scale;
    memcpy(at, digits, whole);
    at[whole] = '.';
    memcpy(at + whole + 1, digits + whole, (size_t)scale);
    return size + 1;
}

static uint128 magnitude(int128 value)
{
    return value < 0 ? 0 - (uint128)value : (uint128)value;
}

size_t decimal_print(char out[DECIMAL_TEXT_MAX], struct decimal value)
{
    CHECK(value.scale >= -DECIMAL_PRECISION_MAX && value.scale <= DECIMAL_PRECISION_MAX);
    char digits[NUMBER_INT64_TEXT_MAX * 2 + 4];
    size_t size = print_digits(digits, magnitude(value.unscaled));
    bool negative = value.unscaled < 0;
    if (negative)
        *out = '-';
    int scale = value.unscaled == 0 && value.scale < 0 ? 0 : value.scale;
    return negative + put_plain(out + negative, digits, size, scale);
}

size_t decimal_print_java(char out[DECIMAL_TEXT_MAX], struct decimal value)
{
    char digits[NUMBER_INT64_TEXT_MAX * 2 + 4];
    size_t size = print_digits(digits, magnitude(value.unscaled));
    int exponent = (int)size - 1 - value.scale;
    if (value.scale >= 0 && exponent >= -6)
        return decimal_print(out, value);
    char *at = out;
    if (value.unscaled < 0)
        *at++ = '-';
    *at++ = digits[0];
    if (size > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, size - 1);
        at += size - 1;
    }
    if (exponent != 0) {
        *at++ = 'E';
        if (exponent > 0)
            *at++ = '+';
        at += number_print_int64(at, exponent);
    }
    return (size_t)(at - out);
}

/* ---- doubles ---- */

static size_t scientific(char *out, struct decimal value)
{
    size_t size = value.unscaled < 0;
    *out = '-';
    size += print_digits(out + size, magnitude(value.unscaled));
    out[size++] = 'e';
    return size + number_print_int64(out + size, -value.scale);
}

double decimal_to_double(struct decimal value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int128 exact = (int128)1 << 53;
    if (value.unscaled <= exact && value.unscaled >= -exact && value.scale >= 0 &&
        value.scale <= 22)
        return (double)(int64_t)value.unscaled / powers[value.scale];
    char text[DECIMAL_TEXT_MAX];
    double result = 0.0;
    CHECK(number_parse_double(bytes_of(text, scientific(text, value)), &result) == TEXT_OK);
    return result;
}

float decimal_to_float(struct decimal value)
{
    char text[DECIMAL_TEXT_MAX];
    float result = 0.0F;
    CHECK(number_parse_float(bytes_of(text, scientific(text, value)), &result) == TEXT_OK);
    return result;
}

bool decimal_from_double(double value, int precision, int scale, int128 *out)
{
    if (!isfinite(value))
        return false;
    char text[NUMBER_DOUBLE_TEXT_MAX];
    return decimal_parse(bytes_of(text, number_print_double(text, value)), precision, scale, out) ==
           TEXT_OK;
}

bool decimal_from_float(float value, int precision, int scale, int128 *out)
{
    if (!isfinite(value))
        return false;
    char text[NUMBER_DOUBLE_TEXT_MAX];
    return decimal_parse(bytes_of(text, number_print_float(text, value)), precision, scale, out) ==
           TEXT_OK;
}
