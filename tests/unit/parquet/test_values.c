/* Values as the file has them. */
#include "parquet/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_int96(int64_t us, int64_t nanos, int32_t julian_day)
{
    static struct values values;
    const struct parquet_leaf leaf = {.type = PARQUET_INT96, .form = FORM_INT96, .width = 12};
    struct arena *arena = arena_new("test", 0);
    struct error err = ERROR_INIT;
    struct vector *vector = NULL;
    assert_int_equal(vector_new(arena, type_simple(TYPE_TIMESTAMP), 1, &vector, &err), OK);
    VECTOR_VALUES(int64_t, vector)[0] = us;
    values_gather(&values, &leaf, vector, &(uint32_t){0}, 1);
    assert_memory_equal(values.fixed, &nanos, sizeof nanos);
    assert_memory_equal(values.fixed + sizeof nanos, &julian_day, sizeof julian_day);
    arena_free(arena);
}

static void times_are_days_and_nanoseconds_in_the_whole_range(void **state)
{
    (void)state;
    assert_int96(0, 0, 2440588);
    assert_int96(-1, 86399999999000, 2440587);
    assert_int96(-86400000000, 0, 2440587);
    assert_int96(INT64_MAX, 14454775807000, 2440588 + 106751991);
    assert_int96(-INT64_MAX, 71945224193000, 2440588 - 106751992); /* the day begins below it */
    assert_int96(INT64_MIN, 71945224192000, 2440588 - 106751992);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_days_and_nanoseconds_in_the_whole_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
