#include "expr/digits.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static void set_text(struct digits *out, struct bytes text, int exponent, bool negative)
{
    int after = 0;
    bool fraction = false;
    *out = (struct digits){.negative = negative};
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        fraction = fraction || c == '.';
        if (!isdigit(c))
            continue;
        after += fraction;
        if (c != '0' || out->count > 0)
            out->digits[out->count++] = (char)c;
    }
    out->point = out->count - after + exponent;
    while (out->count > 0 && out->digits[out->count - 1] == '0')
        out->count--;
}

void digits_of_int64(int64_t value, struct digits *out)
{
    char text[NUMBER_INT64_TEXT_MAX];
    set_text(out, bytes_of(text, number_print_int64(text, value)), 0, value < 0);
}

void digits_of_decimal(struct decimal value, struct digits *out)
{
    char text[DECIMAL_TEXT_MAX];
    set_text(out, bytes_of(text, decimal_print(text, value)), 0, value.unscaled < 0);
}

void digits_of_double(double value, struct digits *out)
{
    char text[NUMBER_INT64_TEXT_MAX];
    int exponent = 0;
    uint64_t shortest = value == 0.0 ? 0 : number_shortest_double(fabs(value), &exponent);
    set_text(out, bytes_of(text, number_print_uint64(text, shortest)), exponent, signbit(value));
}

void digits_of_float(float value, struct digits *out)
{
    char text[NUMBER_INT64_TEXT_MAX];
    int exponent = 0;
    uint64_t shortest = value == 0.0F ? 0 : number_shortest_float(fabsf(value), &exponent);
    set_text(out, bytes_of(text, number_print_uint64(text, shortest)), exponent, signbit(value));
}

void digits_round(struct digits *digits, int keep, enum decimal_rounding rounding)
{
    if (keep >= digits->count)
        return;
    bool up = keep >= 0 && digits->digits[keep] >= '5';
    bool tie = up && digits->digits[keep] == '5' && keep + 1 == digits->count;
    if (tie && rounding == DECIMAL_HALF_EVEN)
        up = keep > 0 && digits->digits[keep - 1] % 2 != 0;
    digits->count = keep < 0 ? 0 : keep;
    if (!up)
        return;
    int i = digits->count - 1;
    while (i >= 0 && digits->digits[i] == '9')
        digits->digits[i--] = '0';
    if (i >= 0) {
        digits->digits[i]++;
        return;
    }
    memset(digits->digits, '0', (size_t)digits->count + 1);
    digits->digits[0] = '1';
    digits->count++;
    digits->point++;
}

char digits_at(const struct digits *digits, int at)
{
    return at >= 0 && at < digits->count ? digits->digits[at] : '0';
}
