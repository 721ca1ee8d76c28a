/*
 * Decimal arithmetic: a 128-bit unscaled value and a scale, at most 38 digits, rounding HALF_UP as
 * Spark does.  Cells of DECIMAL vectors are the unscaled value; the scale is the type's.
 *
 * Functions that can overflow answer false and leave *out alone; the caller makes it NULL or
 * NUMERIC_VALUE_OUT_OF_RANGE.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_DECIMAL_H
#define SERVER_COLUMNAR_DECIMAL_H

#include "columnar/number_text.h"
#include "columnar/type.h"

#define DECIMAL_TEXT_MAX 80 /* room for any printed form */

struct decimal {
    int128 unscaled;
    int scale; /* may be negative only in intermediate values */
};

enum decimal_rounding {
    DECIMAL_HALF_UP,   /* away from zero at a tie */
    DECIMAL_HALF_EVEN, /* to the even digit at a tie */
    DECIMAL_DOWN,      /* towards zero */
    DECIMAL_FLOOR,
    DECIMAL_CEILING,
};

/* 10^exponent for 0..38. */
int128 decimal_power10(int exponent);

/* Number of decimal digits; 1 for 0 (BigDecimal.precision). */
int decimal_digits(int128 unscaled);

static inline bool decimal_fits(int128 unscaled, int precision)
{
    int128 bound = decimal_power10(precision);
    return unscaled < bound && unscaled > -bound;
}

/* The value at another scale (-38..76), rounded.  False: more than 38 digits. */
bool decimal_rescale(struct decimal value, int scale, enum decimal_rounding rounding, int128 *out);

/* The value as DECIMAL(precision, scale), HALF_UP.  False: it does not fit. */
bool decimal_convert(struct decimal value, int precision, int scale, int128 *out);

/* Exact result, then rounded HALF_UP to DECIMAL(precision, scale).  False: overflow. */
bool decimal_add(struct decimal a, struct decimal b, int precision, int scale, int128 *out);
bool decimal_subtract(struct decimal a, struct decimal b, int precision, int scale, int128 *out);
bool decimal_multiply(struct decimal a, struct decimal b, int precision, int scale, int128 *out);
/* b is not zero (CHECKed). */
bool decimal_divide(struct decimal a, struct decimal b, int precision, int scale, int128 *out);
/* Remainder with the sign of a, as Java's %. */
bool decimal_remainder(struct decimal a, struct decimal b, int precision, int scale, int128 *out);
/* Integer part of a / b.  False: does not fit 38 digits. */
bool decimal_quotient(struct decimal a, struct decimal b, int128 *out);

/* <0, 0, >0; the scales may differ. */
int decimal_compare(struct decimal a, struct decimal b);

/* Integer part.  False: does not fit. */
bool decimal_to_int64(struct decimal value, int64_t *out);
double decimal_to_double(struct decimal value);
float decimal_to_float(struct decimal value);

bool decimal_from_int64(int64_t value, int precision, int scale, int128 *out);
/* The decimal that the double prints as, rounded HALF_UP.  False: overflow, NaN or infinite. */
bool decimal_from_double(double value, int precision, int scale, int128 *out);
bool decimal_from_float(float value, int precision, int scale, int128 *out);

/*
 * Reads "[-+]digits[.digits][e[-+]digits]" (BigDecimal's grammar; the whole text) and rounds
 * HALF_UP to DECIMAL(precision, scale).  TEXT_OUT_OF_RANGE: more digits before the point.
 */
enum text_result decimal_parse(struct bytes text, int precision, int scale, int128 *out);

/* As decimal_parse with blanks and control characters trimmed and any Unicode digits: CAST. */
enum text_result decimal_cast(struct bytes text, int precision, int scale, int128 *out);
/* What a digit of another script than ASCII's stands for, or -1. */
int decimal_foreign_digit(uint32_t code);

/* The text's own precision and scale (a literal): scale >= 0.  Range: more than 38 digits. */
enum text_result decimal_parse_exact(struct bytes text, struct decimal *out, int *precision);

/* Plain notation with `scale` digits behind the point: CAST to STRING.  Result: bytes written. */
size_t decimal_print(char out[DECIMAL_TEXT_MAX], struct decimal value);

/* Java's BigDecimal.toString: with an exponent if the value is small (0E-10, 1E-12). */
size_t decimal_print_java(char out[DECIMAL_TEXT_MAX], struct decimal value);

#endif
