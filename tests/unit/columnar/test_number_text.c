/* Numbers to text and back: tables of Java's notation, and random values against the C library. */
#include "columnar/number_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void doubles_print_as_java(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {100.0, "100.0"},
        {1e7, "1.0E7"},
        {9999999.0, "9999999.0"},
        {12345678.5, "1.23456785E7"},
        {0.001, "0.001"},
        {9.9e-4, "9.9E-4"},
        {0.1, "0.1"},
        {-1.5, "-1.5"},
        {1e10, "1.0E10"},
        {1e-5, "1.0E-5"},
        {1e22, "1.0E22"},
        {1e23, "1.0E23"},
        {123.456, "123.456"},
        {5e-324, "4.9E-324"},
        {2.2250738585072014e-308, "2.2250738585072014E-308"},
        {1.7976931348623157e308, "1.7976931348623157E308"},
        {9007199254740993.0, "9.007199254740992E15"},
        {2.718281828459045, "2.718281828459045"},
        {(double)INFINITY, "Infinity"},
        {-(double)INFINITY, "-Infinity"},
        {(double)NAN, "NaN"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[NUMBER_DOUBLE_TEXT_MAX + 1];
        text[number_print_double(text, rows[i].value)] = '\0';
        assert_string_equal(text, rows[i].text);
    }
    char text[NUMBER_DOUBLE_TEXT_MAX + 1];
    text[number_print_float(text, 0.1F)] = '\0';
    assert_string_equal(text, "0.1");
    text[number_print_float(text, 16777216.0F)] = '\0';
    assert_string_equal(text, "1.6777216E7");
    text[number_print_float(text, 3.4028235e38F)] = '\0';
    assert_string_equal(text, "3.4028235E38");
    text[number_print_float(text, 1e-45F)] = '\0';
    assert_string_equal(text, "1.4E-45");
}

static void random_doubles_are_shortest_and_read_back(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value) || value == 0.0)
            continue;
        char text[NUMBER_DOUBLE_TEXT_MAX];
        size_t size = number_print_double(text, value);
        assert_true(size <= NUMBER_DOUBLE_TEXT_MAX);
        double back = 0;
        assert_int_equal(number_parse_double(bytes_of(text, size), &back), TEXT_OK);
        assert_memory_equal(&back, &value, sizeof(value));
        int exponent;
        uint64_t digits = number_shortest_double(fabs(value), &exponent);
        int count = snprintf(NULL, 0, "%llu", (unsigned long long)digits);
        char shorter[64];
        snprintf(shorter, sizeof(shorter), "%.*e", count > 1 ? count - 2 : 0, value);
        bool whole = fabs(value) >= 0x1p53 && fabs(value) < 0x1p63; /* Java writes more of those */
        if (count > 1 && !whole)
            assert_true(strtod(shorter, NULL) != value);
        snprintf(shorter, sizeof(shorter), "%.*e", count - 1, value);
        if (strtod(shorter, NULL) == value) {
            double nearest = 0;
            assert_int_equal(number_parse_double(bytes_of_text(shorter), &nearest), TEXT_OK);
            assert_true(nearest == value);
        }
    }
}

static void random_floats_are_shortest_and_read_back(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)next_random(&seed);
        float value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value) || value == 0.0F)
            continue;
        char text[NUMBER_DOUBLE_TEXT_MAX];
        size_t size = number_print_float(text, value);
        float back = 0;
        assert_int_equal(number_parse_float(bytes_of(text, size), &back), TEXT_OK);
        assert_memory_equal(&back, &value, sizeof(value));
        int exponent;
        uint64_t digits = number_shortest_float(fabsf(value), &exponent);
        int count = snprintf(NULL, 0, "%lu", digits);
        char shorter[64];
        snprintf(shorter, sizeof(shorter), "%.*e", count > 1 ? count - 2 : 0, (double)value);
        bool whole = fabsf(value) >= 0x1p24F && fabsf(value) < 0x1p63F;
        if (count > 1 && !whole)
            assert_true(strtof(shorter, NULL) != value);
    }
}

static void random_texts_read_as_strtod_does(void **state)
{
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 200000; i++) {
        char text[80];
        int size = 0;
        int digits = 1 + (int)(next_random(&seed) % 25);
        for (int d = 0; d < digits; d++)
            text[size++] = (char)('0' + next_random(&seed) % 10);
        text[size++] = '.';
        for (int d = (int)(next_random(&seed) % 12); d > 0; d--)
            text[size++] = (char)('0' + next_random(&seed) % 10);
        size += snprintf(text + size, 20, "e%d", (int)(next_random(&seed) % 680) - 350);
        double value = 0;
        assert_int_equal(number_parse_double(bytes_of(text, (size_t)size), &value), TEXT_OK);
        double want = strtod(text, NULL);
        assert_memory_equal(&value, &want, sizeof(value));
        float narrow = 0;
        assert_int_equal(number_parse_float(bytes_of(text, (size_t)size), &narrow), TEXT_OK);
        float want_narrow = strtof(text, NULL);
        assert_memory_equal(&narrow, &want_narrow, sizeof(narrow));
    }
}

static void hard_texts_read_correctly(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "9007199254740993",
        "9007199254740992.999999999999999999999999999999",
        "9007199254740993.00000000000000000000000000001",
        "2.4703282292062327208299439092882e-324",
        "2.4703282292062327208299439092883e-324",
        "0.000000000000000000000000000000000000000000001e45",
        "1e400",
        "1e-400",
        "123456789012345678901234567890",
        "00000000000000000000000000000001.5",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "8.41e+21",
        "7.2057594037927933e16",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        double value = 0;
        assert_int_equal(number_parse_double(bytes_of_text(texts[i]), &value), TEXT_OK);
        assert_true(value == strtod(texts[i], NULL));
    }
}

static void casts_follow_spark(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        double value;
    } rows[] = {
        {"1", true, 1},
        {" 1.5 ", true, 1.5},
        {"1d", true, 1},
        {"1.5F", true, 1.5},
        {"0x1p3", true, 8},
        {"inf", true, (double)INFINITY},
        {"+Infinity", true, (double)INFINITY},
        {"-inf", true, -(double)INFINITY},
        {"1L", false, 0},
        {"0x10", false, 0},
        {"", false, 0},
        {".", false, 0},
        {".5", true, 0.5},
        {"5.", true, 5},
        {"1e5", true, 1e5},
        {"1e", false, 0},
        {"--1", false, 0},
        {"1 2", false, 0},
        {"-nan", false, 0},
        {"1e400", true, (double)INFINITY},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double value = 0;
        enum text_result result = number_cast_double(bytes_of_text(rows[i].text), &value);
        assert_int_equal(result == TEXT_OK, rows[i].ok);
        if (rows[i].ok)
            assert_true(value == rows[i].value);
    }
    double value = 0;
    assert_int_equal(number_cast_double(bytes_of_text("nan"), &value), TEXT_OK);
    assert_true(isnan(value));
    assert_int_equal(number_cast_double(bytes_of_text("+NaN"), &value), TEXT_OK);
}

static void integers_follow_spark(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fraction;
        enum text_result result;
        int64_t value;
    } rows[] = {
        {"0", false, TEXT_OK, 0},
        {" +7\t", false, TEXT_OK, 7},
        {"-128", false, TEXT_OK, -128},
        {"1.5", false, TEXT_INVALID, 0},
        {"1.5", true, TEXT_OK, 1},
        {"1.", true, TEXT_OK, 1},
        {"-", false, TEXT_INVALID, 0},
        {"", false, TEXT_INVALID, 0},
        {"1x", false, TEXT_INVALID, 0},
        {"9223372036854775807", false, TEXT_OK, INT64_MAX},
        {"-9223372036854775808", false, TEXT_OK, INT64_MIN},
        {"9223372036854775808", false, TEXT_OUT_OF_RANGE, 0},
        {"99999999999999999999", false, TEXT_OUT_OF_RANGE, 0},
        {"0000000000000000000000012", false, TEXT_OK, 12},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t value = 0;
        enum text_result result = number_cast_integer(bytes_of_text(rows[i].text), rows[i].fraction,
                                                      INT64_MIN, INT64_MAX, &value);
        assert_int_equal(result, rows[i].result);
        if (result == TEXT_OK)
            assert_int_equal(value, rows[i].value);
    }
    int64_t value = 0;
    assert_int_equal(number_cast_integer(bytes_of_text("128"), false, INT8_MIN, INT8_MAX, &value),
                     TEXT_OUT_OF_RANGE);
    assert_int_equal(number_parse_int64(bytes_of_text("-9223372036854775808"), &value), TEXT_OK);
    assert_int_equal(value, INT64_MIN);
    assert_int_equal(number_parse_int64(bytes_of_text("9223372036854775808"), &value),
                     TEXT_OUT_OF_RANGE);
    char text[NUMBER_INT64_TEXT_MAX + 1];
    text[number_print_int64(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_print_as_java),
        cmocka_unit_test(random_doubles_are_shortest_and_read_back),
        cmocka_unit_test(random_floats_are_shortest_and_read_back),
        cmocka_unit_test(random_texts_read_as_strtod_does),
        cmocka_unit_test(hard_texts_read_correctly),
        cmocka_unit_test(casts_follow_spark),
        cmocka_unit_test(integers_follow_spark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
