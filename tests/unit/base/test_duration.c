#include "base/duration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void reads_short_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want; /* -1: refused */
    } cases[] = {
        {"30", 30000},
        {"7d", 604800000000},
        {"10min", 600000000},
        {"500 ms", 500000},
        {"1H", 3600000000},
        {" 2 s ", 2000000},
        {"3us", 3},
        {"1m", 60000000},
        {"", -1},
        {"s", -1},
        {"-1s", -1},
        {"1 fortnight", -1},
        {"1 s s", -1},
        {"1.5s", -1},
        {"99999999999999999999", -1},
        {"9999999999999999d", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = ERROR_INIT;
        int64_t got = -1;
        print_message("%s\n", cases[i].text);
        enum status status = duration_parse_short_us(cases[i].text, 1000, &got, &err);
        assert_int_equal(status, cases[i].want < 0 ? STATUS_INVALID_DURATION : OK);
        if (status == OK)
            assert_int_equal(got, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_short_durations)};
    return cmocka_run_group_tests_name("base/duration", tests, NULL, NULL);
}
