/* Least and greatest values, and where there are none. */
#include "parquet/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct parquet_leaf doubles = {.type = PARQUET_DOUBLE, .form = FORM_COPY8, .width = 8};

/* True if there are statistics. */
static bool of_doubles(const double *values, uint32_t count, double *min, double *max)
{
    struct statistics statistics = {0};
    struct values piece = {.count = count};
    memcpy(piece.fixed, values, count * sizeof *values);
    statistics_add(&statistics, &doubles, &piece);
    bool some = statistics_end(&statistics, &doubles);
    if (some) {
        memcpy(min, statistics.min.data, sizeof *min);
        memcpy(max, statistics.max.data, sizeof *max);
    }
    statistics_fini(&statistics);
    return some;
}

static void a_nan_leaves_none(void **state)
{
    (void)state;
    double min = 0, max = 0;
    assert_false(of_doubles((double[]){1, nan(""), 2}, 3, &min, &max));
    assert_false(of_doubles(NULL, 0, &min, &max));
    assert_true(of_doubles((double[]){1, -HUGE_VAL, 2}, 3, &min, &max));
    assert_true(isinf(min) && min < 0 && max >= 2 && max <= 2);
}

static void zeroes_cover_both_signs(void **state)
{
    (void)state;
    double min = 0, max = 0;
    assert_true(of_doubles((double[]){0.0, 1}, 2, &min, &max));
    assert_true(signbit(min));
    assert_true(of_doubles((double[]){-1, -0.0}, 2, &min, &max));
    assert_false(signbit(max));
    assert_true(signbit(min));
}

static void numbers_are_compared_with_their_sign(void **state)
{
    (void)state;
    const struct parquet_leaf leaf = {.type = PARQUET_INT32, .form = FORM_COPY4, .width = 4};
    struct statistics statistics = {0};
    struct values piece = {.count = 3};
    memcpy(piece.fixed, (int32_t[]){5, -7, 3}, 12);
    statistics_add(&statistics, &leaf, &piece);
    assert_true(statistics_end(&statistics, &leaf));
    assert_memory_equal(statistics.min.data, &(int32_t){-7}, 4);
    assert_memory_equal(statistics.max.data, &(int32_t){5}, 4);
    statistics_fini(&statistics);
}

static void wide_decimals_are_signed_and_texts_are_not(void **state)
{
    (void)state;
    const struct parquet_leaf fixed = {.type = PARQUET_FIXED, .form = FORM_DECIMAL, .width = 9};
    const struct parquet_leaf texts = {.type = PARQUET_BYTES, .form = FORM_BYTES};
    static const uint8_t minus_one[9] = {255, 255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t two[9] = {0, 0, 0, 0, 0, 0, 0, 0, 2};
    struct statistics statistics = {0};
    statistics_add_one(&statistics, &fixed, bytes_of(two, 9));
    statistics_add_one(&statistics, &fixed, bytes_of(minus_one, 9));
    assert_true(statistics_end(&statistics, &fixed));
    assert_memory_equal(statistics.min.data, minus_one, 9);
    assert_memory_equal(statistics.max.data, two, 9);
    statistics_clear(&statistics);
    assert_false(statistics_end(&statistics, &texts));
    statistics_add_one(&statistics, &texts, bytes_of_text("\xc3\xa9"));
    statistics_add_one(&statistics, &texts, bytes_of_text("z"));
    statistics_add_one(&statistics, &texts, bytes_of_text(""));
    assert_true(statistics_end(&statistics, &texts));
    assert_int_equal(statistics.min.size_bytes, 0);
    assert_memory_equal(statistics.max.data, "\xc3\xa9", 2);
    statistics_fini(&statistics);
}

static void what_is_long_or_has_no_order_leaves_none(void **state)
{
    (void)state;
    const struct parquet_leaf texts = {.type = PARQUET_BYTES, .form = FORM_BYTES};
    const struct parquet_leaf times = {.type = PARQUET_INT96, .form = FORM_INT96, .width = 12};
    static const uint8_t text[STATISTICS_BYTES_MAX + 1] = {'a'};
    struct statistics statistics = {0};
    statistics_add_one(&statistics, &texts, bytes_of(text, STATISTICS_BYTES_MAX));
    assert_true(statistics_end(&statistics, &texts));
    statistics_add_one(&statistics, &texts, bytes_of(text, sizeof text));
    assert_false(statistics_end(&statistics, &texts));
    statistics_clear(&statistics);
    statistics_add_one(&statistics, &times, bytes_of(text, 12));
    assert_false(statistics_end(&statistics, &times));
    statistics_fini(&statistics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nan_leaves_none),
        cmocka_unit_test(zeroes_cover_both_signs),
        cmocka_unit_test(numbers_are_compared_with_their_sign),
        cmocka_unit_test(wide_decimals_are_signed_and_texts_are_not),
        cmocka_unit_test(what_is_long_or_has_no_order_leaves_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
