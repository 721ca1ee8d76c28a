#include "worker/trigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void triggers_fall_on_multiples_of_the_interval(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        int64_t interval_us, now_us, want_us;
    } cases[] = {
        {"no interval: at once", 0, 123, 123},
        {"just after one", 10, 101, 110},
        {"on one: the next", 10, 100, 110},
        {"just before one", 10, 109, 110},
        {"at 1970", 10, 0, 10},
        {"before 1970", 10, -5, 0},
        {"before 1970, on one", 10, -10, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        assert_int_equal(trigger_next_us(cases[i].interval_us, cases[i].now_us), cases[i].want_us);
    }
}

static void a_batch_that_took_too_long_is_followed_at_once(void **state)
{
    (void)state;
    int64_t next_us = trigger_next_us(100, 250); /* a trigger begins at 250: the next is 300 */
    assert_int_equal(next_us, 300);
    assert_int_equal(trigger_wait_us(next_us, 270), 30);
    assert_int_equal(trigger_wait_us(next_us, 730), 0); /* it ended at 730 */
    assert_int_equal(trigger_next_us(100, 730), 800);   /* 400 to 700 are not made up for */
    assert_int_equal(trigger_wait_us(next_us, INT64_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triggers_fall_on_multiples_of_the_interval),
        cmocka_unit_test(a_batch_that_took_too_long_is_followed_at_once),
    };
    return cmocka_run_group_tests_name("worker/trigger", tests, NULL, NULL);
}
