/* Decimal arithmetic and text: tables of edge cases of the 38 digits and of HALF_UP. */
#include "base/buffer.h"
#include "columnar/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct decimal of(const char *text)
{
    struct decimal value = {0};
    int precision;
    assert_int_equal(decimal_parse_exact(bytes_of_text(text), &value, &precision), TEXT_OK);
    return value;
}

static void assert_decimal(bool ok, int128 unscaled, int scale, const char *want)
{
    if (want == NULL) {
        assert_false(ok);
        return;
    }
    assert_true(ok);
    char text[DECIMAL_TEXT_MAX + 1];
    text[decimal_print(text, (struct decimal){unscaled, scale})] = '\0';
    assert_string_equal(text, want);
}

static void arithmetic_is_exact_then_rounded(void **state)
{
    (void)state;
    static const struct {
        char op;
        const char *a;
        const char *b;
        int precision;
        int scale;
        const char *result; /* NULL: overflow */
    } rows[] = {
        {'+', "1.5", "2.25", 5, 2, "3.75"},
        {'+', "99999999999999999999999999999999999999", "1", 38, 0, NULL},
        {'+', "99999999999999999999999999999999999999", "0.5", 38, 0, NULL},
        {'+', "99999999999999999999999999999999999998", "0.5", 38, 0,
         "99999999999999999999999999999999999999"},
        {'-', "1", "0.00000000000000000000000000000000000001", 38, 37,
         "1.0000000000000000000000000000000000000"},
        {'-', "-5", "-7.5", 5, 1, "2.5"},
        {'*', "123456789012345678901234567890", "98765432.1", 38, 1, NULL},
        {'*', "1234567890123456789.5", "-9876543210987654321.5", 38, 0,
         "-12193263113702179527930193561668190824"},
        {'*', "0.00000000000000000001", "0.00000000000000000001", 38, 37,
         "0.0000000000000000000000000000000000000"},
        {'/', "1", "3", 38, 6, "0.333333"},
        {'/', "2", "3", 38, 37, "0.6666666666666666666666666666666666667"},
        {'/', "-1", "8", 10, 2, "-0.13"},
        {'/', "99999999999999999999999999999999999999", "0.1", 38, 0, NULL},
        {'/', "12345678901234567890123456789012345678", "98765432109876543210987654321098765432",
         38, 38, "0.12499999886093750001423828124982202148"},
        {'%', "-7.5", "2", 5, 1, "-1.5"},
        {'%', "99999999999999999999999999999999999999", "0.7", 38, 1, "0.3"},
        {'d', "7.9", "-2", 38, 0, "-3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct decimal a = of(rows[i].a);
        struct decimal b = of(rows[i].b);
        int precision = rows[i].precision;
        int scale = rows[i].scale;
        int128 result = 0;
        bool ok = false;
        switch (rows[i].op) {
        case '+':
            ok = decimal_add(a, b, precision, scale, &result);
            break;
        case '-':
            ok = decimal_subtract(a, b, precision, scale, &result);
            break;
        case '*':
            ok = decimal_multiply(a, b, precision, scale, &result);
            break;
        case '/':
            ok = decimal_divide(a, b, precision, scale, &result);
            break;
        case '%':
            ok = decimal_remainder(a, b, precision, scale, &result);
            break;
        default:
            ok = decimal_quotient(a, b, &result);
        }
        assert_decimal(ok, result, scale, rows[i].result);
    }
}

static void text_is_read_as_big_decimal(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int precision;
        int scale;
        const char *result; /* NULL: refused; "range": does not fit */
    } rows[] = {
        {"0", 10, 2, "0.00"},
        {"1.005", 10, 2, "1.01"},
        {"-1.995", 10, 2, "-2.00"},
        {"1e3", 10, 2, "1000.00"},
        {" 7 ", 10, 2, "7.00"},
        {"+.5", 10, 2, "0.50"},
        {"5.", 10, 2, "5.00"},
        {"1E-3", 10, 2, "0.00"},
        {"5E-3", 10, 2, "0.01"},
        {"0.0049999999999999999999999999999999999999999999999", 10, 2, "0.00"},
        {"0.005000000000000000000000000000000000000000000000", 10, 2, "0.01"},
        {"99999999.995", 10, 2, "range"},
        {"99999999.994", 10, 2, "99999999.99"},
        {"1e40", 38, 0, "range"},
        {"0e999999999999", 10, 2, "0.00"},
        {"1e-999999999999", 10, 2, "0.00"},
        {"\xD9\xA1\xD9\xA2", 10, 0, "12"}, /* Arabic 12 */
        {"1d", 10, 2, NULL},
        {"", 10, 2, NULL},
        {".", 10, 2, NULL},
        {"1.2.3", 10, 2, NULL},
        {"1e", 10, 2, NULL},
        {"abc", 10, 2, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int128 value = 0;
        enum text_result result =
            decimal_cast(bytes_of_text(rows[i].text), rows[i].precision, rows[i].scale, &value);
        if (rows[i].result == NULL)
            assert_int_equal(result, TEXT_INVALID);
        else if (strcmp(rows[i].result, "range") == 0)
            assert_int_equal(result, TEXT_OUT_OF_RANGE);
        else
            assert_decimal(result == TEXT_OK, value, rows[i].scale, rows[i].result);
    }
}

/* 0.333... in Arabic digits, of more bytes than a buffer on the stack has. */
static void foreign_digits_may_be_many(void **state)
{
    (void)state;
    struct buffer text = {0};
    int128 value = 0;
    buffer_add_text(&text, "0.");
    for (int i = 0; i < 400; i++)
        buffer_add_text(&text, "\xD9\xA3");
    assert_int_equal(decimal_cast(buffer_bytes(&text), 10, 3, &value), TEXT_OK);
    assert_true(value == 333);
    buffer_add_text(&text, "x");
    assert_int_equal(decimal_cast(buffer_bytes(&text), 10, 3, &value), TEXT_INVALID);
    buffer_fini(&text);
}

static void java_notation_uses_exponents_for_small_values(void **state)
{
    (void)state;
    static const struct {
        int64_t unscaled;
        int scale;
        const char *text;
    } rows[] = {
        {1, 12, "1E-12"},   {0, 10, "0E-10"}, {123, 2, "1.23"}, {-123, 10, "-1.23E-8"},
        {1, 6, "0.000001"}, {1, 7, "1E-7"},   {0, 2, "0.00"},   {12, -3, "1.2E+4"},
        {100, 0, "100"},    {-5, 1, "-0.5"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[DECIMAL_TEXT_MAX + 1];
        text[decimal_print_java(text, (struct decimal){rows[i].unscaled, rows[i].scale})] = '\0';
        assert_string_equal(text, rows[i].text);
    }
}

static void rounding_modes(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int half_up, half_even, down, floor, ceiling;
    } rows[] = {
        {"2.5", 3, 2, 2, 2, 3},   {"-2.5", -3, -2, -2, -3, -2}, {"1.5", 2, 2, 1, 1, 2},
        {"2.51", 3, 3, 2, 2, 3},  {"-2.4", -2, -2, -2, -3, -2}, {"7.0", 7, 7, 7, 7, 7},
        {"-0.1", 0, 0, 0, -1, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const int want[] = {rows[i].half_up, rows[i].half_even, rows[i].down, rows[i].floor,
                            rows[i].ceiling};
        for (int mode = DECIMAL_HALF_UP; mode <= DECIMAL_CEILING; mode++) {
            int128 result = 99;
            assert_true(
                decimal_rescale(of(rows[i].value), 0, (enum decimal_rounding)mode, &result));
            assert_int_equal((int)result, want[mode]);
        }
    }
}

static void comparison_ignores_scales(void **state)
{
    (void)state;
    assert_true(decimal_compare(of("1.0"), of("1.00")) == 0);
    assert_true(decimal_compare(of("99999999999999999999999999999999999999"),
                                of("0.00000000000000000000000000000000000001")) > 0);
    assert_true(decimal_compare(of("-99999999999999999999999999999999999999"),
                                of("0.00000000000000000000000000000000000001")) < 0);
    assert_true(decimal_compare(of("-99999999999999999999999999999999999999"),
                                of("-0.00000000000000000000000000000000000001")) < 0);
}

static void doubles_convert_through_their_text(void **state)
{
    (void)state;
    int128 value = 0;
    bool ok = decimal_from_double(1.005, 10, 2, &value);
    assert_decimal(ok, value, 2, "1.01");
    assert_false(decimal_from_double(1e9, 10, 2, &value));
    assert_true(decimal_to_double(of("0.1")) == 0.1);
    assert_true(decimal_to_double(of("12345678901234567890.123456789")) ==
                12345678901234567890.123456789);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_exact_then_rounded),
        cmocka_unit_test(text_is_read_as_big_decimal),
        cmocka_unit_test(foreign_digits_may_be_many),
        cmocka_unit_test(java_notation_uses_exponents_for_small_values),
        cmocka_unit_test(rounding_modes),
        cmocka_unit_test(comparison_ignores_scales),
        cmocka_unit_test(doubles_convert_through_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
