/* Decimal digits of a number, to be rounded and laid out.  Inside expr/ only. */
#ifndef SERVER_EXPR_DIGITS_H
#define SERVER_EXPR_DIGITS_H

#include "columnar/decimal.h"

/* The absolute value is 0.d0 d1 d2 ... * 10^point; d0 is not 0, and zero has no digits. */
struct digits {
    char digits[48];
    int count;
    int point;
    bool negative;
};

void digits_of_int64(int64_t value, struct digits *out);
void digits_of_decimal(struct decimal value, struct digits *out);
/* The shortest that read back as the value, which is finite. */
void digits_of_double(double value, struct digits *out);
void digits_of_float(float value, struct digits *out);

/* Keeps the first `keep` digits (any number), HALF_UP or HALF_EVEN. */
void digits_round(struct digits *digits, int keep, enum decimal_rounding rounding);

/* Digit `at`, '0' outside. */
char digits_at(const struct digits *digits, int at);

#endif
