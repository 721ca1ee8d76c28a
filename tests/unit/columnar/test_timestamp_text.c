/* Dates and times as text, and zones: Spark's forms, accepted and refused; gaps and overlaps. */
#include "columnar/civil.h"
#include "columnar/timestamp_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct zone *zone(const char *id)
{
    const struct zone *found = timezone_lookup(bytes_of_text(id));
    assert_non_null(found);
    return found;
}

static const char *print(char *out, int64_t us, const char *id)
{
    out[timestamp_text_print(out, us, zone(id))] = '\0';
    return out;
}

static void timestamps_read_as_spark_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want; /* in UTC; NULL: refused */
    } rows[] = {
        {"2024", "2024-01-01 00:00:00"},
        {"2024-5", "2024-05-01 00:00:00"},
        {"2024-005-01", NULL},
        {"24-05-01", NULL},
        {"0024-05-01", "0024-05-01 00:00:00"},
        {"20240501", NULL},
        {"2024-05-", NULL},
        {"2024-05-01 10", "2024-05-01 10:00:00"},
        {"2024-05-01 10:", NULL},
        {"2024-05-01 1:2:3", "2024-05-01 01:02:03"},
        {"2024-05-01T10:11:12", "2024-05-01 10:11:12"},
        {"2024-05-01t10:11:12", NULL},
        {"2024-05-01  10:11:12", NULL},
        {"2024-05-01T", NULL},
        {"2024-05-01 ", "2024-05-01 00:00:00"},
        {"2024-05-01 10:11:12.1", "2024-05-01 10:11:12.1"},
        {"2024-05-01 10:11:12.1234567", "2024-05-01 10:11:12.123456"},
        {"2024-05-01 10:11:12.", "2024-05-01 10:11:12"},
        {"2024-05-01 10:11:12.-5", "2024-05-01 15:11:12"},
        {"2024-05-01 10:11:12,5", NULL},
        {"2024-05-01 10:11.5", NULL},
        {"2024-05-01T10:11:12Z", "2024-05-01 10:11:12"},
        {"2024-05-01T10:11:12.5Z", "2024-05-01 10:11:12.5"},
        {"2024-05-01T10:11:12z", NULL},
        {"2024-05-01T10:11:12+02:00", "2024-05-01 08:11:12"},
        {"2024-05-01T10:11:12 Europe/Paris", "2024-05-01 08:11:12"},
        {"2024-05-01T10:11:12UTC+3", "2024-05-01 07:11:12"},
        {"2024-05-01T10:11Z", NULL},
        {"\t2024-05-01\n", "2024-05-01 00:00:00"},
        {"2024-13-01", NULL},
        {"2023-02-29", NULL},
        {"2024-05-01 24:00:00", NULL},
        {"2024-05-01 23:59:60", NULL},
        {"-0001-12-31", "-0001-12-31 00:00:00"},
        {"+10000-01-01", "+10000-01-01 00:00:00"},
        {"294247-01-10", "+294247-01-10 00:00:00"},
        {"294248-01-01", NULL},
        {"1234567-01-01", NULL},
        {"10:11:12", "2024-02-29 10:11:12"},
        {"T10:11", "2024-02-29 10:11:00"},
        {"", NULL},
        {"null", NULL},
    };
    struct timestamp_context context = {.zone = timezone_utc()};
    assert_int_equal(
        timestamp_text_parse(bytes_of_text("2024-02-29 12:00:00"), &context, &context.now_us),
        TEXT_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t us = 0;
        char text[TIMESTAMP_TEXT_MAX + 1];
        enum text_result result = timestamp_text_parse(bytes_of_text(rows[i].text), &context, &us);
        if (rows[i].want == NULL)
            assert_int_not_equal(result, TEXT_OK);
        else
            assert_int_equal(result, TEXT_OK);
        if (rows[i].want != NULL)
            assert_string_equal(print(text, us, "UTC"), rows[i].want);
    }
}

static void dates_ignore_what_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"2024-02-29 ", "2024-02-29"},
        {"2024-02-29Tanything", "2024-02-29"},
        {"2024-02-29x", NULL},
        {"2024-2-9", "2024-02-09"},
        {"2024", "2024-01-01"},
        {"2024T10:11", NULL},
        {"5881580-07-11", "+5881580-07-11"},
        {"5881580-07-12", NULL},
        {"-5877641-06-23", "-5877641-06-23"},
        {"-0044-03-15", "-0044-03-15"},
        {"12345678-01-01", NULL},
        {"2024-05-001", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int32_t days = 0;
        char text[TIMESTAMP_TEXT_MAX + 1];
        enum text_result result = timestamp_text_parse_date(bytes_of_text(rows[i].text), &days);
        assert_int_equal(result == TEXT_OK, rows[i].want != NULL);
        if (rows[i].want != NULL) {
            text[timestamp_text_print_date(text, days)] = '\0';
            assert_string_equal(text, rows[i].want);
        }
    }
}

static void zones_have_gaps_and_overlaps(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        const char *local;
        const char *utc;
    } rows[] = {
        {"America/New_York", "2024-03-10 01:59:59", "2024-03-10 06:59:59"},
        {"America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:30:00"},
        {"America/New_York", "2024-03-10 03:00:00", "2024-03-10 07:00:00"},
        {"America/New_York", "2024-11-03 01:30:00", "2024-11-03 05:30:00"},
        {"America/New_York", "2024-11-03 02:00:00", "2024-11-03 07:00:00"},
        {"America/New_York", "1800-01-01 00:00:00", "1800-01-01 04:56:02"},
        {"Europe/Paris", "2150-07-01 00:00:00", "2150-06-30 22:00:00"},
        {"Europe/Paris", "2900-07-01 00:00:00", "2900-06-30 22:00:00"},
        {"Europe/Paris", "2900-01-01 00:00:00", "2899-12-31 23:00:00"},
        {"Asia/Kolkata", "2024-05-01 00:00:00", "2024-04-30 18:30:00"},
        {"+05:30:15", "2024-05-01 00:00:00", "2024-04-30 18:29:45"},
        {"UTC-3", "2024-05-01 00:00:00", "2024-05-01 03:00:00"},
        {"GMT", "2024-05-01 00:00:00", "2024-05-01 00:00:00"},
        {"PST", "2024-05-01 00:00:00", "2024-05-01 07:00:00"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct timestamp_context context = {.zone = zone(rows[i].zone)};
        int64_t us = 0;
        char text[TIMESTAMP_TEXT_MAX + 1];
        assert_int_equal(timestamp_text_parse(bytes_of_text(rows[i].local), &context, &us),
                         TEXT_OK);
        assert_string_equal(print(text, us, "UTC"), rows[i].utc);
    }
    struct error err = ERROR_INIT;
    const struct zone *found = NULL;
    static const char *const wrong[] = {"europe/paris", "+18:01", "utc",          "",
                                        "Mars/Base",    "+25",    "../etc/passwd"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(timezone_find(bytes_of_text(wrong[i]), &found, &err),
                         STATUS_INVALID_TIMEZONE);
    assert_string_equal(timezone_abbreviation(zone("Europe/Paris"), 0), "CET");
}

static void instants_go_to_local_and_back(void **state)
{
    (void)state;
    static const char *const ids[] = {"America/New_York",  "Australia/Lord_Howe", "Asia/Kolkata",
                                      "America/Sao_Paulo", "Africa/Casablanca",   "+01:00"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        const struct zone *z = zone(ids[i]);
        for (int64_t hour = -900000; hour < 3000000; hour += 37) {
            int64_t us = hour * CIVIL_HOUR_US + 123456;
            int64_t local = timezone_to_local(z, us);
            int64_t back = timezone_to_utc(z, local);
            if (back != us) /* the later instant of an overlap */
                assert_int_equal(timezone_to_local(z, back), local);
            assert_true(back <= us);
        }
    }
}

static void iso_form_has_millis_and_offset(void **state)
{
    (void)state;
    char text[TIMESTAMP_TEXT_MAX + 1];
    text[timestamp_text_print_iso(text, INT64_C(1714558272000000), timezone_utc())] = '\0';
    assert_string_equal(text, "2024-05-01T10:11:12.000Z");
    text[timestamp_text_print_iso(text, INT64_C(1714558272123456), zone("Europe/Paris"))] = '\0';
    assert_string_equal(text, "2024-05-01T12:11:12.123+02:00");
    text[timestamp_text_print_iso_ntz(text, -1)] = '\0';
    assert_string_equal(text, "1969-12-31T23:59:59.999");
    text[timestamp_text_print_ntz(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-290308-12-21 19:59:05.224192");
    text[timestamp_text_print_time(text, INT64_C(36672500000000))] = '\0';
    assert_string_equal(text, "10:11:12.5");
}

static void calendar_agrees_with_itself(void **state)
{
    (void)state;
    for (int64_t days = -1000000; days < 1000000; days += 13) {
        struct civil_date date = civil_from_days(days);
        assert_int_equal(civil_days(date.year, date.month, date.day), days);
        assert_true(civil_is_valid(date.year, date.month, date.day));
    }
    assert_int_equal(civil_weekday(0), 4);
    assert_int_equal(civil_iso_week(civil_days(2021, 1, 3), NULL), 53);
    assert_int_equal(civil_add_months(civil_days(2024, 1, 31), 1), civil_days(2024, 2, 29));
    assert_int_equal(civil_day_of_year(civil_days(2024, 12, 31)), 366);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_read_as_spark_reads_them),
        cmocka_unit_test(dates_ignore_what_follows),
        cmocka_unit_test(zones_have_gaps_and_overlaps),
        cmocka_unit_test(instants_go_to_local_and_back),
        cmocka_unit_test(iso_form_has_millis_and_offset),
        cmocka_unit_test(calendar_agrees_with_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
