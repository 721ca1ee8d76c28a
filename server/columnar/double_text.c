/*
 * Doubles and floats as text: Raffaello Giulietti's Schubfach finds the shortest decimal within
 * the rounding interval, the one nearest to the value if there are several; layout is Java's.
 */
#include "columnar/number_text.h"
#include "columnar/power10.h"

#include "base/check.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

static int floor_log2_pow10(int exponent)
{
    return (exponent * 1741647) >> 19;
}

/* floor(log10(2^exponent)), of 3/4 of it if the lower neighbour is closer. */
static int floor_log10_pow2(int exponent, bool closer)
{
    return (exponent * 1262611 - (closer ? 524031 : 0)) >> 22;
}

/* The table's entry rounded up: a bound from above, as the algorithm needs it. */
static struct power10 power10_ceiling(int exponent)
{
    struct power10 power = power10_of(exponent);
    if (exponent < 0 || exponent > 55) {
        power.low++;
        power.high += power.low == 0;
    }
    return power;
}

static uint64_t round_to_odd(struct power10 power, uint64_t factor)
{
    wide low = (wide)power.low * factor;
    wide high = (wide)power.high * factor + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static uint32_t round_to_odd_float(uint64_t power, uint32_t factor)
{
    wide product = (wide)power * factor;
    return (uint32_t)(product >> 64) | ((uint32_t)(product >> 32) > 1);
}

/*
 * The last step of Schubfach: chooses among the candidates around value4 / 4, whose interval is
 * [lower, upper] in quarters.  Adds to *exponent.
 */
static uint64_t choose_digits(uint64_t value4, uint64_t lower, uint64_t upper, int *exponent)
{
    uint64_t s = value4 / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down_inside = lower <= 40 * tens;
        bool up_inside = 40 * tens + 40 <= upper;
        if (down_inside != up_inside) {
            *exponent += 1;
            return tens + up_inside;
        }
    }
    bool down_inside = lower <= 4 * s;
    bool up_inside = 4 * s + 4 <= upper;
    if (down_inside != up_inside)
        return s + up_inside;
    uint64_t middle = 4 * s + 2;
    return s + (value4 > middle || (value4 == middle && (s & 1) != 0));
}

static uint64_t strip_zeros(uint64_t digits, int *exponent)
{
    while (digits % 10 == 0) {
        digits /= 10;
        *exponent += 1;
    }
    return digits;
}

/*
 * Up to four decimals: if a decimal of at most 15 digits reads back as the value it is the only
 * one of so few digits, hence the shortest.
 */
static bool few_decimals(double value, uint64_t *digits, int *exponent)
{
    double scaled = value * 10000.0;
    if (!(scaled < 1e15))
        return false;
    uint64_t whole = (uint64_t)(scaled + 0.5);
    if (whole == 0 || (double)whole / 10000.0 != value)
        return false;
    *exponent = -4;
    *digits = strip_zeros(whole, exponent);
    return true;
}

/*
 * A whole number that is too large for its type to tell from all of its neighbours, below 2^63:
 * up to JDK 17, Java writes all of its digits but those that say less than one bit of it.
 * `spare` is how many of its last bits say nothing: Java counts one less than the type lacks.
 */
static uint64_t java_whole(uint64_t whole, int spare, int *exponent)
{
    int dropped = spare > 1 ? spare * 301 / 1000 : 0; /* floor(spare * log10(2)) */
    uint64_t unit = 1;
    for (int i = 0; i < dropped; i++)
        unit *= 10;
    uint64_t rest = whole % unit;
    whole = whole / unit + (dropped > 0 && rest >= unit / 2);
    *exponent = dropped;
    return strip_zeros(whole, exponent);
}

uint64_t number_shortest_double(double value, int *exponent)
{
    CHECK(value > 0.0);
    uint64_t digits;
    if (few_decimals(value, &digits, exponent))
        return digits;
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int biased = (int)(bits >> 52) & 0x7FF;
    uint64_t c = biased != 0 ? fraction | UINT64_C(1) << 52 : fraction;
    int q = (biased != 0 ? biased : 1) - 1075;
    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) { /* a whole number */
        *exponent = 0;
        return strip_zeros(c >> -q, exponent);
    }
    if (q > 0 && q < 63 - 52)
        return java_whole(c << q, q - 2, exponent);
    bool closer = fraction == 0 && biased > 1;
    int k = floor_log10_pow2(q, closer);
    int shift = q + floor_log2_pow10(-k) + 1;
    struct power10 power = power10_ceiling(-k);
    bool odd = (c & 1) != 0;
    uint64_t lower = round_to_odd(power, (4 * c - 2 + closer) << shift) + odd;
    uint64_t value4 = round_to_odd(power, (4 * c) << shift);
    uint64_t upper = round_to_odd(power, (4 * c + 2) << shift) - odd;
    *exponent = k;
    return strip_zeros(choose_digits(value4, lower, upper, exponent), exponent);
}

uint64_t number_shortest_float(float value, int *exponent)
{
    CHECK(value > 0.0F);
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t fraction = bits & ((1U << 23) - 1);
    int biased = (int)(bits >> 23) & 0xFF;
    uint32_t c = biased != 0 ? fraction | 1U << 23 : fraction;
    int q = (biased != 0 ? biased : 1) - 150;
    if (q <= 0 && q > -24 && (c & ((1U << -q) - 1)) == 0) {
        *exponent = 0;
        return strip_zeros(c >> -q, exponent);
    }
    if (q > 0 && q < 63 - 23)
        return java_whole((uint64_t)c << q, q - 2, exponent);
    bool closer = fraction == 0 && biased > 1;
    int k = floor_log10_pow2(q, closer);
    int shift = q + floor_log2_pow10(-k) + 1;
    struct power10 wide_power = power10_of(-k);
    bool exact = wide_power.low == 0 && -k >= 0 && -k <= 27;
    uint64_t power = wide_power.high + !exact;
    bool odd = (c & 1) != 0;
    uint32_t lower = round_to_odd_float(power, (4 * c - 2 + closer) << shift) + odd;
    uint32_t value4 = round_to_odd_float(power, (4 * c) << shift);
    uint32_t upper = round_to_odd_float(power, (4 * c + 2) << shift) - odd;
    *exponent = k;
    return strip_zeros(choose_digits(value4, lower, upper, exponent), exponent);
}

static char *put_zeros(char *out, int count)
{
    memset(out, '0', (size_t)count);
    return out + count;
}

/* digits without trailing zeros * 10^exponent, in Java's layout.  Result: the end. */
static char *layout(char *out, uint64_t digits, int exponent)
{
    char text[NUMBER_INT64_TEXT_MAX];
    int size = (int)number_print_uint64(text, digits);
    int point = size + exponent;   /* digits before the point */
    if (point > 7 || point < -2) { /* d.dddE[-]x */
        *out++ = text[0];
        *out++ = '.';
        if (size > 1) {
            memcpy(out, text + 1, (size_t)size - 1);
            out += size - 1;
        } else {
            *out++ = '0';
        }
        *out++ = 'E';
        return out + number_print_int64(out, point - 1);
    }
    if (point <= 0) { /* 0.00ddd */
        out = put_zeros(out, 1);
        *out++ = '.';
        out = put_zeros(out, -point);
        memcpy(out, text, (size_t)size);
        return out + size;
    }
    if (exponent >= 0) { /* ddd00.0 */
        memcpy(out, text, (size_t)size);
        out = put_zeros(out + size, exponent);
        *out++ = '.';
        return put_zeros(out, 1);
    }
    memcpy(out, text, (size_t)point);
    out += point;
    *out++ = '.';
    memcpy(out, text + point, (size_t)(size - point));
    return out + (size - point);
}

/*
 * Java writes at least two digits and takes the two nearest to the value.  That differs from one
 * digit and a zero only where neighbours are further apart than a tenth: 4.9E-324.
 */
static uint64_t two_digits(double value, int *exponent)
{
    char text[16];
    CHECK(snprintf(text, sizeof(text), "%.1e", value) < (int)sizeof(text));
    *exponent = (int)strtol(text + 4, NULL, 10) - 1;
    return strip_zeros((uint64_t)(text[0] - '0') * 10 + (uint64_t)(text[2] - '0'), exponent);
}

static size_t put_word(char *out, const char *word)
{
    size_t size = strlen(word);
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller counts bytes
    memcpy(out, word, size);
    return size;
}

size_t number_print_double(char *out, double value)
{
    if (value != value)
        return put_word(out, "NaN");
    char *at = out;
    if (__builtin_signbit(value)) {
        *at++ = '-';
        value = -value;
    }
    if (value == 0.0)
        return (size_t)(at - out) + put_word(at, "0.0");
    if (__builtin_isinf(value))
        return (size_t)(at - out) + put_word(at, "Infinity");
    int exponent;
    uint64_t digits = number_shortest_double(value, &exponent);
    if (digits < 10 && value < 1e-321)
        digits = two_digits(value, &exponent);
    return (size_t)(layout(at, digits, exponent) - out);
}

size_t number_print_float(char *out, float value)
{
    if (value != value || value == 0.0F || __builtin_isinf(value))
        return number_print_double(out, (double)value);
    char *at = out;
    if (value < 0.0F) {
        *at++ = '-';
        value = -value;
    }
    int exponent;
    uint64_t digits = number_shortest_float(value, &exponent);
    if (digits < 10 && value < 1e-43F)
        digits = two_digits((double)value, &exponent);
    if (value == FLT_MIN) { /* Java prints one digit more of this one than it takes */
        digits = 117549435;
        exponent = -46;
    }
    return (size_t)(layout(at, digits, exponent) - out);
}
