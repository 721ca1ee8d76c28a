#include "expr/decimal_error.h"

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

#define ANSI_CONFIG "\"spark.sql.ansi.enabled\""

/* A natural number of up to 200 digits, least significant digit first. */
#define DIGITS_MAX 240

/* Digits behind the point of a quotient before it is rounded to its type. */
#define QUOTIENT_SCALE 39

struct digits {
    uint8_t digit[DIGITS_MAX];
    int count;
};

static void trim(struct digits *number)
{
    while (number->count > 1 && number->digit[number->count - 1] == 0)
        number->count--;
}

static struct digits digits_of(int128 value)
{
    struct digits number = {.count = 0};
    do {
        int digit = (int)(value % 10);
        number.digit[number.count++] = (uint8_t)(digit < 0 ? -digit : digit);
        value /= 10;
    } while (value != 0);
    return number;
}

static void shift(struct digits *number, int places)
{
    CHECK(number->count + places < DIGITS_MAX);
    memmove(number->digit + places, number->digit, (size_t)number->count);
    memset(number->digit, 0, (size_t)places);
    number->count += places;
    trim(number);
}

static int compare(const struct digits *a, const struct digits *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--) {
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i] ? -1 : 1;
    }
    return 0;
}

static struct digits add(const struct digits *a, const struct digits *b)
{
    struct digits sum = {.count = (a->count > b->count ? a->count : b->count) + 1};
    int carry = 0;
    for (int i = 0; i < sum.count; i++) {
        int digit = carry + (i < a->count ? a->digit[i] : 0) + (i < b->count ? b->digit[i] : 0);
        sum.digit[i] = (uint8_t)(digit % 10);
        carry = digit / 10;
    }
    trim(&sum);
    return sum;
}

/* a >= b */
static struct digits subtract(const struct digits *a, const struct digits *b)
{
    struct digits rest = {.count = a->count};
    int borrow = 0;
    for (int i = 0; i < a->count; i++) {
        int digit = a->digit[i] - borrow - (i < b->count ? b->digit[i] : 0);
        borrow = digit < 0;
        rest.digit[i] = (uint8_t)(digit + 10 * borrow);
    }
    trim(&rest);
    return rest;
}

static struct digits multiply(const struct digits *a, const struct digits *b)
{
    struct digits product = {.count = a->count + b->count};
    for (int i = 0; i < a->count; i++) {
        int carry = 0;
        for (int j = 0; j < b->count || carry > 0; j++) {
            int digit =
                product.digit[i + j] + carry + (j < b->count ? a->digit[i] * b->digit[j] : 0);
            product.digit[i + j] = (uint8_t)(digit % 10);
            carry = digit / 10;
        }
    }
    trim(&product);
    return product;
}

/* a / b, half up. */
static struct digits divide(const struct digits *a, const struct digits *b)
{
    struct digits quotient = {.count = a->count};
    struct digits rest = {.count = 1};
    for (int i = a->count - 1; i >= 0; i--) {
        if (rest.count > 1 || rest.digit[0] != 0)
            shift(&rest, 1);
        rest.digit[0] = a->digit[i];
        while (compare(&rest, b) >= 0) {
            rest = subtract(&rest, b);
            quotient.digit[i]++;
        }
    }
    trim(&quotient);
    struct digits twice = add(&rest, &rest);
    if (compare(&twice, b) >= 0) {
        struct digits one = {.digit = {1}, .count = 1};
        quotient = add(&quotient, &one);
    }
    return quotient;
}

/* At `scale` digits behind the point instead of `from`, half up. */
static void rescale(struct digits *number, int from, int scale)
{
    if (scale >= from) {
        shift(number, scale - from);
        return;
    }
    struct digits power = {.digit = {1}, .count = 1};
    shift(&power, from - scale);
    *number = divide(number, &power);
}

static void print(char *out, size_t size, const struct digits *number, int scale, bool negative)
{
    size_t at = 0;
    int top = number->count > scale + 1 ? number->count : scale + 1;
    if (negative)
        out[at++] = '-';
    for (int i = top - 1; i >= 0 && at + 3 < size; i--) {
        out[at++] = (char)('0' + (i < number->count ? number->digit[i] : 0));
        if (i == scale && scale > 0)
            out[at++] = '.';
    }
    out[at] = '\0';
}

static struct digits sum_of(struct decimal a, struct decimal b, int scale, bool *negative)
{
    struct digits x = digits_of(a.unscaled);
    struct digits y = digits_of(b.unscaled);
    int common = a.scale > b.scale ? a.scale : b.scale;
    rescale(&x, a.scale, common);
    rescale(&y, b.scale, common);
    struct digits result;
    bool negative_a = a.unscaled < 0;
    bool negative_b = b.unscaled < 0;
    *negative = negative_a;
    if (negative_a == negative_b) {
        result = add(&x, &y);
    } else if (compare(&x, &y) >= 0) {
        result = subtract(&x, &y);
    } else {
        result = subtract(&y, &x);
        *negative = negative_b;
    }
    rescale(&result, common, scale);
    return result;
}

enum status decimal_error(const char *text, const struct type *type, struct error *err)
{
    char precision[8], scale[8];
    (void)snprintf(precision, sizeof precision, "%d", type->precision);
    (void)snprintf(scale, sizeof scale, "%d", type->scale);
    return error_raise(err, STATUS_NUMERIC_VALUE_OUT_OF_RANGE__WITH_SUGGESTION, "value", text,
                       "precision", precision, "scale", scale, "config", ANSI_CONFIG, NULL);
}

enum status decimal_error_of_average(struct decimal sum, int64_t count, const struct type *type,
                                     struct error *err)
{
    struct digits x = digits_of(sum.unscaled);
    struct digits y = digits_of(count);
    shift(&x, QUOTIENT_SCALE);
    if (sum.scale > 0)
        shift(&y, sum.scale);
    struct digits result = divide(&x, &y);
    char text[DIGITS_MAX + 8];
    print(text, sizeof text, &result, QUOTIENT_SCALE, sum.unscaled < 0);
    return decimal_error(text, type, err);
}

enum status decimal_error_of(struct decimal a, struct decimal b, char op, const struct type *type,
                             struct error *err)
{
    struct digits x = digits_of(a.unscaled);
    struct digits y = digits_of(b.unscaled);
    bool negative = (a.unscaled < 0) != (b.unscaled < 0);
    struct digits result = x;
    switch (op) {
    case '+':
        result = sum_of(a, b, type->scale, &negative);
        break;
    case '-':
        b.unscaled = -b.unscaled;
        result = sum_of(a, b, type->scale, &negative);
        break;
    case '*':
        result = multiply(&x, &y);
        rescale(&result, a.scale + b.scale, type->scale);
        break;
    case '/':
        shift(&x, type->scale + b.scale);
        if (a.scale > 0)
            shift(&y, a.scale);
        result = divide(&x, &y);
        break;
    default:
        rescale(&result, a.scale, type->scale);
        break;
    }
    char text[DIGITS_MAX + 8];
    print(text, sizeof text, &result, type->scale, negative);
    return decimal_error(text, type, err);
}
