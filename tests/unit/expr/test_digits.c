/* Digits of numbers and their rounding. */
#include "expr/digits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_digits(const struct digits *digits, const char *want, int point)
{
    assert_int_equal(digits->count, strlen(want));
    assert_memory_equal(digits->digits, want, strlen(want));
    if (digits->count > 0)
        assert_int_equal(digits->point, point);
}

static void numbers_have_their_shortest_digits(void **state)
{
    (void)state;
    struct digits digits;
    digits_of_double(0.1, &digits);
    assert_digits(&digits, "1", 0);
    digits_of_double(-1234.5, &digits);
    assert_digits(&digits, "12345", 4);
    assert_true(digits.negative);
    digits_of_double(1e300, &digits);
    assert_digits(&digits, "1", 301);
    digits_of_double(0.0, &digits);
    assert_digits(&digits, "", 0);
    digits_of_double(-0.0, &digits);
    assert_true(digits.negative);
    digits_of_float(0.3F, &digits);
    assert_digits(&digits, "3", 0);
    digits_of_int64(INT64_MIN, &digits);
    assert_digits(&digits, "9223372036854775808", 19);
    digits_of_decimal((struct decimal){-1050, 2}, &digits);
    assert_digits(&digits, "105", 2);
    digits_of_decimal((struct decimal){5, 4}, &digits);
    assert_digits(&digits, "5", -3);
}

static void rounding_keeps_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        int keep;
        enum decimal_rounding rounding;
        const char *digits;
        int point;
    } rows[] = {
        {1.25, 2, DECIMAL_HALF_UP, "13", 1},   {1.25, 2, DECIMAL_HALF_EVEN, "12", 1},
        {1.35, 2, DECIMAL_HALF_EVEN, "14", 1}, {9.99, 2, DECIMAL_HALF_UP, "100", 2},
        {0.5, 0, DECIMAL_HALF_UP, "1", 1},     {0.5, 0, DECIMAL_HALF_EVEN, "", 0},
        {0.05, -1, DECIMAL_HALF_UP, "", 0},    {1.251, 2, DECIMAL_HALF_EVEN, "13", 1},
        {123.0, 5, DECIMAL_HALF_UP, "123", 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct digits digits;
        digits_of_double(rows[i].value, &digits);
        digits_round(&digits, rows[i].keep, rows[i].rounding);
        assert_digits(&digits, rows[i].digits, rows[i].point);
    }
}

static void digits_outside_are_zeros(void **state)
{
    (void)state;
    struct digits digits;
    digits_of_int64(42, &digits);
    assert_int_equal(digits_at(&digits, -1), '0');
    assert_int_equal(digits_at(&digits, 0), '4');
    assert_int_equal(digits_at(&digits, 2), '0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_shortest_digits),
        cmocka_unit_test(rounding_keeps_digits),
        cmocka_unit_test(digits_outside_are_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
