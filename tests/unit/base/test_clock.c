#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_manual_clock_stands_still(void **state)
{
    (void)state;
    struct clock *clock = clock_manual_new(1000);
    assert_int_equal(clock_now_us(clock), 1000);
    clock_manual_advance(clock, 5);
    assert_int_equal(clock_now_us(clock), 1005);
    assert_int_equal(clock_monotonic_us(clock), 1005);
    clock_manual_set_wall(clock, 10);
    assert_int_equal(clock_now_us(clock), 10);
    assert_int_equal(clock_monotonic_us(clock), 1005);
    assert_true(clock_is_manual(clock));
    assert_false(clock_is_manual(clock_real()));
    clock_manual_free(clock);
}

static void the_real_clock_never_goes_back(void **state)
{
    (void)state;
    int64_t before = clock_monotonic_us(clock_real());
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_monotonic_us(clock_real());
        assert_true(now >= before);
        before = now;
    }
    assert_true(clock_now_us(clock_real()) > 1700000000000000);
}

static void times_print_as_iso(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *want;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {1714521600123999, "2024-05-01T00:00:00.123Z"},
        {951782400000000, "2000-02-29T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[CLOCK_ISO_SIZE];
        clock_format_iso(cases[i].us, out);
        assert_string_equal(out, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manual_clock_stands_still),
        cmocka_unit_test(the_real_clock_never_goes_back),
        cmocka_unit_test(times_print_as_iso),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
