/*
 * Numbers as text, both ways.  Spark's notation is Java's: doubles print the shortest digits that
 * read back as the same value, laid out by Double.toString (1.0, 1.0E10, 1.0E-5, NaN, Infinity).
 *
 * Three grammars are read:
 *   number_parse_*  one plain number and nothing else, as JSON and CSV fields hold it;
 *   number_cast_*   the rules of CAST(text AS type): control characters and blanks around the
 *                   value are trimmed, a sign is allowed, and so on;
 *   the JSON grammar proper is the tokenizer's business (format/).
 *
 * Called for every cell on the way in and out: nothing here allocates.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_NUMBER_TEXT_H
#define SERVER_COLUMNAR_NUMBER_TEXT_H

#include "base/bytes.h"

/* What reading a text gave.  The caller turns it into NULL or into its own condition. */
enum text_result {
    TEXT_OK,
    TEXT_INVALID,      /* not of this form */
    TEXT_OUT_OF_RANGE, /* of this form, but the value does not fit */
};

#define NUMBER_INT64_TEXT_MAX  20 /* -9223372036854775808 */
#define NUMBER_DOUBLE_TEXT_MAX 26 /* -2.2250738585072014E-308 */

/* Print without NUL; `out` has room for the maximum above.  Result: bytes written. */
size_t number_print_int64(char *out, int64_t value);
size_t number_print_uint64(char *out, uint64_t value);
size_t number_print_double(char *out, double value); /* Java's Double.toString */
size_t number_print_float(char *out, float value);   /* Java's Float.toString */

/*
 * The decimal digits that Java writes of `value` (finite, > 0): value = digits * 10^exponent,
 * digits without trailing zeros.  They are the shortest that read back as it; whole numbers below
 * 2^63 that have more bits than the type keep more of theirs, as in JDK 17: 1.23456792E8F.
 */
uint64_t number_shortest_double(double value, int *exponent);
uint64_t number_shortest_float(float value, int *exponent);

/* [-+]digits, the whole text. */
enum text_result number_parse_int64(struct bytes text, int64_t *out);

/* [-+]digits[.digits][(e|E)[-+]digits], ".5" and "5." too; the whole text; rounded correctly. */
enum text_result number_parse_double(struct bytes text, double *out);
enum text_result number_parse_float(struct bytes text, float *out);

/*
 * CAST to an integer type of range [min, max].  `fraction` allows and drops ".digits" behind the
 * number (casts without ANSI mode).
 */
enum text_result number_cast_integer(struct bytes text, bool fraction, int64_t min, int64_t max,
                                     int64_t *out);

/* CAST to DOUBLE, FLOAT: also NaN, Inf, Infinity in any case, suffixes d and f, hex floats. */
enum text_result number_cast_double(struct bytes text, double *out);
enum text_result number_cast_float(struct bytes text, float *out);

/* CAST to BOOLEAN: t, true, y, yes, 1 and f, false, n, no, 0, in any case. */
enum text_result number_cast_boolean(struct bytes text, bool *out);

/* The text without the blanks and control characters (0x00..0x20, 0x7F) around it, as casts trim.
 */
struct bytes number_trim_all(struct bytes text);

#endif
