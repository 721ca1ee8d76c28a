/*
 * Every operation has two ways: native 128-bit arithmetic if nothing overflows, else wide_int,
 * which is always exact.  Both end in the same rounding.
 */
#include "columnar/decimal.h"

#include "base/check.h"
#include "columnar/wide_int.h"

#define P18 ((int128)1000000000000000000)

static const int128 powers[DECIMAL_PRECISION_MAX + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    P18,
    P18 * 10,
    P18 * 100,
    P18 * 1000,
    P18 * 10000,
    P18 * 100000,
    P18 * 1000000,
    P18 * 10000000,
    P18 * 100000000,
    P18 * 1000000000,
    P18 * 10000000000,
    P18 * 100000000000,
    P18 * 1000000000000,
    P18 * 10000000000000,
    P18 * 100000000000000,
    P18 * 1000000000000000,
    P18 * 10000000000000000,
    P18 * 100000000000000000,
    P18 *P18,
    P18 *P18 * 10,
    P18 *P18 * 100,
};

int128 decimal_power10(int exponent)
{
    CHECK(exponent >= 0 && exponent <= DECIMAL_PRECISION_MAX);
    return powers[exponent];
}

static uint128 magnitude(int128 value)
{
    return value < 0 ? 0 - (uint128)value : (uint128)value;
}

int decimal_digits(int128 unscaled)
{
    uint128 value = magnitude(unscaled);
    int digits = 1;
    while (digits <= DECIMAL_PRECISION_MAX && value >= (uint128)powers[digits])
        digits++;
    return digits;
}

/* Whether a quotient that was cut off has to move away from zero. */
static bool rounds_away(enum decimal_rounding rounding, bool negative, bool odd, int half_order,
                        bool exact)
{
    switch (rounding) {
    case DECIMAL_HALF_UP:
        return half_order >= 0;
    case DECIMAL_HALF_EVEN:
        return half_order > 0 || (half_order == 0 && odd);
    case DECIMAL_DOWN:
        return false;
    case DECIMAL_FLOOR:
        return negative && !exact;
    case DECIMAL_CEILING:
        return !negative && !exact;
    }
    return false;
}

static int order(uint128 a, uint128 b)
{
    return (a > b) - (a < b);
}

/* In 64 bits where they suffice, which is several times as fast. */
static uint128 quotient_of(uint128 size, uint128 divisor, uint128 *rest)
{
    if (size <= UINT64_MAX && divisor <= UINT64_MAX) {
        *rest = (uint64_t)size % (uint64_t)divisor;
        return (uint64_t)size / (uint64_t)divisor;
    }
    *rest = size % divisor;
    return size / divisor;
}

/* value / 10^drop, 0 < drop. */
static int128 drop_digits(int128 value, int drop, enum decimal_rounding rounding)
{
    bool negative = value < 0;
    if (drop > DECIMAL_PRECISION_MAX) { /* less than a half of the last place */
        bool away = rounds_away(rounding, negative, false, -1, value == 0);
        return away ? (negative ? -1 : 1) : 0;
    }
    uint128 divisor = (uint128)powers[drop];
    uint128 size = magnitude(value);
    uint128 rest;
    uint128 quotient = quotient_of(size, divisor, &rest);
    quotient +=
        rounds_away(rounding, negative, (quotient & 1) != 0, order(rest * 2, divisor), rest == 0);
    return negative ? -(int128)quotient : (int128)quotient;
}

bool decimal_rescale(struct decimal value, int scale, enum decimal_rounding rounding, int128 *out)
{
    int128 result;
    if (scale == value.scale || value.unscaled == 0) {
        result = value.unscaled;
    } else if (scale < value.scale) {
        result = drop_digits(value.unscaled, value.scale - scale, rounding);
    } else {
        int add = scale - value.scale;
        if (add > DECIMAL_PRECISION_MAX ||
            __builtin_mul_overflow(value.unscaled, powers[add], &result))
            return false;
    }
    if (!decimal_fits(result, DECIMAL_PRECISION_MAX))
        return false;
    *out = result;
    return true;
}

bool decimal_convert(struct decimal value, int precision, int scale, int128 *out)
{
    int128 result;
    if (!decimal_rescale(value, scale, DECIMAL_HALF_UP, &result) ||
        !decimal_fits(result, precision))
        return false;
    *out = result;
    return true;
}

/* The wide value at `scale_from`, rounded HALF_UP to DECIMAL(precision, scale). */
static bool finish_wide(struct wide_int value, bool negative, int scale_from, int precision,
                        int scale, int128 *out)
{
    if (scale >= scale_from) {
        wide_multiply_power10(&value, scale - scale_from);
    } else {
        struct wide_int divisor = wide_of(1);
        wide_multiply_power10(&divisor, scale_from - scale);
        struct wide_int rest = wide_divide(&value, &divisor);
        wide_add(&rest, &rest);
        struct wide_int one = wide_of(1);
        if (wide_compare(&rest, &divisor) >= 0)
            wide_add(&value, &one);
    }
    uint128 result;
    if (!wide_to(&value, &result) || result >= (uint128)powers[precision])
        return false;
    *out = negative ? -(int128)result : (int128)result;
    return true;
}

static struct wide_int wide_scaled(int128 value, int digits)
{
    struct wide_int wide = wide_of(magnitude(value));
    wide_multiply_power10(&wide, digits);
    return wide;
}

static bool add_wide(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    int common = a.scale > b.scale ? a.scale : b.scale;
    struct wide_int left = wide_scaled(a.unscaled, common - a.scale);
    struct wide_int right = wide_scaled(b.unscaled, common - b.scale);
    bool negative = a.unscaled < 0;
    if (negative == (b.unscaled < 0)) {
        wide_add(&left, &right);
    } else if (wide_compare(&left, &right) >= 0) {
        wide_subtract(&left, &right);
    } else {
        wide_subtract(&right, &left);
        left = right;
        negative = !negative;
    }
    return finish_wide(left, negative, common, precision, scale, out);
}

/* Brings both to the larger of their scales.  False: does not fit 128 bits. */
static bool align(struct decimal a, struct decimal b, int128 *left, int128 *right)
{
    *left = a.unscaled;
    *right = b.unscaled;
    int difference = a.scale - b.scale;
    if (difference == 0)
        return true;
    if (difference > DECIMAL_PRECISION_MAX || difference < -DECIMAL_PRECISION_MAX)
        return false;
    if (difference > 0)
        return !__builtin_mul_overflow(b.unscaled, powers[difference], right);
    return !__builtin_mul_overflow(a.unscaled, powers[-difference], left);
}

static int larger_scale(struct decimal a, struct decimal b)
{
    return a.scale > b.scale ? a.scale : b.scale;
}

bool decimal_add(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    int128 left;
    int128 right;
    int128 sum;
    if (!align(a, b, &left, &right) || __builtin_add_overflow(left, right, &sum) ||
        !decimal_fits(sum, DECIMAL_PRECISION_MAX))
        return add_wide(a, b, precision, scale, out);
    return decimal_convert((struct decimal){sum, larger_scale(a, b)}, precision, scale, out);
}

bool decimal_subtract(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    b.unscaled = -b.unscaled;
    return decimal_add(a, b, precision, scale, out);
}

bool decimal_multiply(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    int128 product;
    if (!__builtin_mul_overflow(a.unscaled, b.unscaled, &product) &&
        decimal_fits(product, DECIMAL_PRECISION_MAX))
        return decimal_convert((struct decimal){product, a.scale + b.scale}, precision, scale, out);
    struct wide_int left = wide_of(magnitude(a.unscaled));
    struct wide_int right = wide_of(magnitude(b.unscaled));
    return finish_wide(wide_multiply(&left, &right), (a.unscaled < 0) != (b.unscaled < 0),
                       a.scale + b.scale, precision, scale, out);
}

static bool divide_wide(struct decimal a, struct decimal b, int shift, int precision, int128 *out)
{
    struct wide_int quotient = wide_scaled(a.unscaled, shift > 0 ? shift : 0);
    struct wide_int divisor = wide_scaled(b.unscaled, shift < 0 ? -shift : 0);
    struct wide_int rest = wide_divide(&quotient, &divisor);
    wide_add(&rest, &rest);
    struct wide_int one = wide_of(1);
    if (wide_compare(&rest, &divisor) >= 0)
        wide_add(&quotient, &one);
    return finish_wide(quotient, (a.unscaled < 0) != (b.unscaled < 0), 0, precision, 0, out);
}

bool decimal_divide(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    CHECK(b.unscaled != 0);
    int shift = scale - a.scale + b.scale;
    int128 dividend;
    if (shift < 0 || shift > DECIMAL_PRECISION_MAX ||
        __builtin_mul_overflow(a.unscaled, powers[shift], &dividend))
        return divide_wide(a, b, shift, precision, out);
    uint128 divisor = magnitude(b.unscaled);
    uint128 size = magnitude(dividend);
    uint128 rest;
    uint128 quotient = quotient_of(size, divisor, &rest);
    quotient += rest >= divisor - rest;
    if (quotient >= (uint128)powers[precision])
        return false;
    *out = (a.unscaled < 0) != (b.unscaled < 0) ? -(int128)quotient : (int128)quotient;
    return true;
}

bool decimal_remainder(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    CHECK(b.unscaled != 0);
    int128 left;
    int128 right;
    int common = larger_scale(a, b);
    if (align(a, b, &left, &right)) {
        int128 rest = right == -1 ? 0 : left % right;
        return decimal_convert((struct decimal){rest, common}, precision, scale, out);
    }
    struct wide_int value = wide_scaled(a.unscaled, common - a.scale);
    struct wide_int divisor = wide_scaled(b.unscaled, common - b.scale);
    struct wide_int rest = wide_divide(&value, &divisor);
    return finish_wide(rest, a.unscaled < 0, common, precision, scale, out);
}

bool decimal_quotient(struct decimal a, struct decimal b, int128 *out)
{
    CHECK(b.unscaled != 0);
    int128 left;
    int128 right;
    if (align(a, b, &left, &right)) {
        int128 quotient = right == -1 ? -left : left / right;
        if (!decimal_fits(quotient, DECIMAL_PRECISION_MAX))
            return false;
        *out = quotient;
        return true;
    }
    int common = larger_scale(a, b);
    struct wide_int value = wide_scaled(a.unscaled, common - a.scale);
    struct wide_int divisor = wide_scaled(b.unscaled, common - b.scale);
    (void)wide_divide(&value, &divisor);
    return finish_wide(value, (a.unscaled < 0) != (b.unscaled < 0), 0, DECIMAL_PRECISION_MAX, 0,
                       out);
}

int decimal_compare(struct decimal a, struct decimal b)
{
    int128 left;
    int128 right;
    if (align(a, b, &left, &right))
        return (left > right) - (left < right);
    if ((a.unscaled < 0) != (b.unscaled < 0))
        return a.unscaled < 0 ? -1 : 1;
    int common = larger_scale(a, b);
    struct wide_int size_a = wide_scaled(a.unscaled, common - a.scale);
    struct wide_int size_b = wide_scaled(b.unscaled, common - b.scale);
    int by_size = wide_compare(&size_a, &size_b);
    return a.unscaled < 0 ? -by_size : by_size;
}

bool decimal_to_int64(struct decimal value, int64_t *out)
{
    int128 whole;
    if (!decimal_rescale(value, 0, DECIMAL_DOWN, &whole) || whole > INT64_MAX || whole < INT64_MIN)
        return false;
    *out = (int64_t)whole;
    return true;
}

bool decimal_from_int64(int64_t value, int precision, int scale, int128 *out)
{
    return decimal_convert((struct decimal){value, 0}, precision, scale, out);
}
