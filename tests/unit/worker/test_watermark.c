#include "worker/watermark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct event_time_stats seen(int64_t max_ms)
{
    return (struct event_time_stats){.count = 1, .min_ms = max_ms, .max_ms = max_ms};
}

#define NOTHING                                                                                    \
    (struct event_time_stats)                                                                      \
    {                                                                                              \
        0                                                                                          \
    }

static void follows_the_policy_and_never_falls(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        enum watermark_policy policy;
        int64_t max_ms[3][2]; /* per batch and operator; -1: nothing seen */
        int64_t want_us[3];
    } cases[] = {
        {"min stays 0 until both have seen rows",
         WATERMARK_MIN,
         {{100, -1}, {200, 50}, {200, 500}},
         {0, 40000, 190000}},
        {"max moves with the faster one",
         WATERMARK_MAX,
         {{100, -1}, {-1, 50}, {-1, 500}},
         {90000, 90000, 490000}},
        {"a slower batch does not pull it back",
         WATERMARK_MIN,
         {{100, 100}, {20, 20}, {-1, -1}},
         {90000, 90000, 90000}},
        {"not below 0", WATERMARK_MIN, {{5, 5}, {-1, -1}, {12, 12}}, {0, 0, 2000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].why);
        int64_t delays[2] = {10, 10};
        int64_t values[2] = {INT64_MIN, INT64_MIN};
        struct watermark_tracker tracker = {
            .policy = cases[i].policy, .count = 2, .delay_ms = delays, .value_ms = values};
        for (int batch = 0; batch < 3; batch++) {
            struct event_time_stats stats[2];
            for (int n = 0; n < 2; n++)
                stats[n] =
                    cases[i].max_ms[batch][n] < 0 ? NOTHING : seen(cases[i].max_ms[batch][n]);
            watermark_update(&tracker, stats);
            assert_int_equal(watermark_global_us(&tracker), cases[i].want_us[batch]);
        }
    }
}

static void a_restart_keeps_only_the_global_value(void **state)
{
    (void)state;
    int64_t delays[2] = {0, 0};
    int64_t values[2] = {INT64_MIN, INT64_MIN};
    struct watermark_tracker tracker = {.count = 2, .delay_ms = delays, .value_ms = values};
    watermark_restore(&tracker, 100000);
    struct event_time_stats stats[2] = {seen(500), NOTHING};
    watermark_update(&tracker, stats);
    assert_int_equal(watermark_global_us(&tracker), 100000);
    stats[1] = seen(300);
    watermark_update(&tracker, stats);
    assert_int_equal(watermark_global_us(&tracker), 300000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_policy_and_never_falls),
        cmocka_unit_test(a_restart_keeps_only_the_global_value),
    };
    return cmocka_run_group_tests_name("worker/watermark", tests, NULL, NULL);
}
