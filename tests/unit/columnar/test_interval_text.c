/* Intervals as text: units, fields, printing, durations. */
#include "columnar/interval_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void units_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want; /* printed again */
        enum status status;
        const char *word;
    } rows[] = {
        {"1 year 2 months 3 days 4 hours", "1 years 2 months 3 days 4 hours", OK, NULL},
        {"  INTERVAL 1   day -2 HOURS", "1 days -2 hours", OK, NULL},
        {"1.5 seconds", "1.5 seconds", OK, NULL},
        {".25 second", "0.25 seconds", OK, NULL},
        {"-1.5 seconds", "-1.5 seconds", OK, NULL},
        {"2 weeks 1500 milliseconds", "14 days 1.5 seconds", OK, NULL},
        {"0 days", "0 seconds", OK, NULL},
        {"", NULL, STATUS_INVALID_INTERVAL_FORMAT__INPUT_IS_EMPTY, NULL},
        {"interval", NULL, STATUS_INVALID_INTERVAL_FORMAT__INPUT_IS_EMPTY, NULL},
        {"intervals 1 day", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_PREFIX, "intervals"},
        {"5", NULL, STATUS_INVALID_INTERVAL_FORMAT__MISSING_UNIT, "5"},
        {"10 secs", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT, "secs"},
        {"10s", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_VALUE, "10s"},
        {" 1 NANOSECOND", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT, "nanosecond"},
        {"1.5 days", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_FRACTION, "days"},
        {"x day", NULL, STATUS_INVALID_INTERVAL_FORMAT__UNRECOGNIZED_NUMBER, "x"},
        {"1 day -", NULL, STATUS_INVALID_INTERVAL_FORMAT__MISSING_NUMBER, "-"},
        {" 178956971 YEAR", NULL, STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION, NULL},
        {"1.0123456789 seconds", NULL, STATUS_INVALID_INTERVAL_FORMAT__INVALID_PRECISION,
         "1.0123456789"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct calendar_interval interval = {0, 0, 0};
        struct error err = ERROR_INIT;
        assert_int_equal(interval_text_parse(bytes_of_text(rows[i].text), &interval, &err),
                         rows[i].status);
        if (rows[i].status == OK) {
            struct buffer out = {0};
            interval_text_print_calendar(&out, interval);
            assert_string_equal(buffer_text(&out), rows[i].want);
            buffer_fini(&out);
        } else if (rows[i].word != NULL) {
            static const char *const names[] = {"word", "unit", "value", "prefix", "number"};
            const char *found = NULL;
            for (size_t n = 0; n < 5 && found == NULL; n++)
                found = error_param(&err, names[n]);
            assert_string_equal(found, rows[i].word);
        }
    }
}

static void a_text_longer_than_any_interval_is_refused(void **state)
{
    (void)state;
    char text[601];
    struct calendar_interval interval;
    struct error err = ERROR_INIT;
    memset(text, '0', sizeof text);
    memcpy(text + 595, "1 day", 5);
    assert_int_equal(interval_text_parse(bytes_of(text, 600), &interval, &err),
                     STATUS_INVALID_INTERVAL_FORMAT__UNKNOWN_PARSING_ERROR);
}

static void fields_are_read_and_printed(void **state)
{
    (void)state;
    static const struct {
        enum interval_field from, to;
        const char *text;
        const char *want;
        enum status status;
    } rows[] = {
        {INTERVAL_YEAR, INTERVAL_MONTH, "1-2", "INTERVAL '1-2' YEAR TO MONTH", OK},
        {INTERVAL_YEAR, INTERVAL_MONTH, "-1-2", "INTERVAL '-1-2' YEAR TO MONTH", OK},
        {INTERVAL_YEAR, INTERVAL_MONTH, "interval -'-1-2' year to month",
         "INTERVAL '1-2' YEAR TO MONTH", OK},
        {INTERVAL_YEAR, INTERVAL_MONTH, "-178956970-8", "INTERVAL '-178956970-8' YEAR TO MONTH",
         OK},
        {INTERVAL_YEAR, INTERVAL_MONTH, "1-12", NULL,
         STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING},
        {INTERVAL_YEAR, INTERVAL_MONTH, "1 - 2", NULL,
         STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING},
        {INTERVAL_YEAR, INTERVAL_YEAR, "INTERVAL '1' YEAR", "INTERVAL '1' YEAR", OK},
        {INTERVAL_DAY, INTERVAL_SECOND, "1 2:3:4.5", "INTERVAL '1 02:03:04.5' DAY TO SECOND", OK},
        {INTERVAL_DAY, INTERVAL_SECOND, " -1 02:03:04.000001 ",
         "INTERVAL '-1 02:03:04.000001' DAY TO SECOND", OK},
        {INTERVAL_DAY, INTERVAL_SECOND, "1 24:00:00", NULL,
         STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING},
        {INTERVAL_DAY, INTERVAL_SECOND, "INTERVAL '1' DAY", NULL,
         STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING_WITH_NOTICE},
        {INTERVAL_DAY, INTERVAL_SECOND, "-106751991 04:00:54.775808",
         "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND", OK},
        {INTERVAL_HOUR, INTERVAL_MINUTE, "25:00", "INTERVAL '25:00' HOUR TO MINUTE", OK},
        {INTERVAL_DAY, INTERVAL_HOUR, "1 10", "INTERVAL '1 10' DAY TO HOUR", OK},
        {INTERVAL_SECOND, INTERVAL_SECOND, "1.1234567", "INTERVAL '01.123456' SECOND", OK},
        {INTERVAL_DAY, INTERVAL_DAY, "x", NULL,
         STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING_WITH_NOTICE},
    };
    struct arena *arena = arena_new("test", 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct type *type = type_interval(arena, rows[i].from, rows[i].to);
        struct error err = ERROR_INIT;
        int64_t value = 0;
        assert_int_equal(
            interval_text_parse_fields(bytes_of_text(rows[i].text), type, &value, &err),
            rows[i].status);
        if (rows[i].status != OK)
            continue;
        struct buffer out = {0};
        interval_text_print(&out, type, value);
        assert_string_equal(buffer_text(&out), rows[i].want);
        buffer_fini(&out);
    }
    arena_free(arena);
}

static void literals_know_their_fields(void **state)
{
    (void)state;
    int64_t value = 0;
    struct error err = ERROR_INIT;
    assert_int_equal(interval_text_parse_literal(bytes_of_text("1.5"), INTERVAL_SECOND,
                                                 INTERVAL_SECOND, &value, &err),
                     OK);
    assert_int_equal(value, 1500000);
    assert_int_equal(
        interval_text_parse_literal(bytes_of_text("-7"), INTERVAL_DAY, INTERVAL_DAY, &value, &err),
        OK);
    assert_int_equal(value, INT64_C(-604800000000));
    assert_int_equal(interval_text_parse_literal(bytes_of_text("1:2"), INTERVAL_SECOND,
                                                 INTERVAL_MINUTE, &value, &err),
                     STATUS_INVALID_INTERVAL_FORMAT__UNSUPPORTED_FROM_TO_EXPRESSION);
    assert_string_equal(error_param(&err, "to"), "minute");
    assert_int_equal(
        interval_text_parse_literal(bytes_of_text("x"), INTERVAL_DAY, INTERVAL_DAY, &value, &err),
        STATUS__LEGACY_ERROR_TEMP_0026);
}

static void durations_count_months_as_31_days(void **state)
{
    (void)state;
    int64_t us = 0;
    struct error err = ERROR_INIT;
    assert_int_equal(interval_parse_duration_us(bytes_of_text("2 years 5 months"), &us, &err), OK);
    assert_int_equal(us, 899 * INT64_C(86400000000));
    assert_int_equal(interval_parse_duration_us(bytes_of_text("1 month -30 days"), &us, &err), OK);
    assert_int_equal(us, INT64_C(86400000000));
    assert_int_equal(interval_parse_duration_us(bytes_of_text("10 secs"), &us, &err),
                     STATUS_CANNOT_PARSE_INTERVAL);
    assert_string_equal(error_param(&err, "intervalString"), "'10 secs'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_longer_than_any_interval_is_refused),
        cmocka_unit_test(units_are_read),
        cmocka_unit_test(fields_are_read_and_printed),
        cmocka_unit_test(literals_know_their_fields),
        cmocka_unit_test(durations_count_months_as_31_days),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
