/* Zones: instants around changes of the clock, far years, ids. */
#include "columnar/timezone.h"

#include "columnar/civil.h"
#include "columnar/timestamp_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct zone *zone_of(const char *id)
{
    const struct zone *zone = timezone_lookup(bytes_of_text(id));
    assert_non_null(zone);
    return zone;
}

static int64_t instant(const char *text)
{
    struct timestamp_context context = {.zone = timezone_utc()};
    int64_t us = 0;
    assert_int_equal(timestamp_text_parse(bytes_of_text(text), &context, &us), TEXT_OK);
    return us;
}

static void wall_clocks_become_instants(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        const char *local;
        const char *utc;
    } rows[] = {
        {"America/New_York", "2024-01-15 12:00:00", "2024-01-15 17:00:00"},
        {"America/New_York", "2024-07-15 12:00:00", "2024-07-15 16:00:00"},
        {"America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:30:00"}, /* gap: forward */
        {"America/New_York", "2024-11-03 01:30:00", "2024-11-03 05:30:00"}, /* overlap: earlier */
        {"America/New_York", "1850-01-01 00:00:00", "1850-01-01 04:56:02"}, /* local mean time */
        {"America/New_York", "2399-07-01 00:00:00", "2399-07-01 04:00:00"},
        {"America/New_York", "2999-07-01 00:00:00", "2999-07-01 04:00:00"},
        {"Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31 01:30:00"},
        {"Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27 00:30:00"},
        {"Asia/Kolkata", "2024-05-01 00:00:00", "2024-04-30 18:30:00"},
        {"+05:30", "2024-05-01 00:00:00", "2024-04-30 18:30:00"},
        {"UTC-3", "2024-05-01 00:00:00", "2024-05-01 03:00:00"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(timezone_to_utc(zone_of(rows[i].zone), instant(rows[i].local)),
                         instant(rows[i].utc));
}

/* Every 11 hours and some from 1800 to 2500: local time and back, except in overlaps, where the
 * earlier instant is found. */
static void instants_survive_the_way_there_and_back(void **state)
{
    (void)state;
    static const char *const ids[] = {"America/New_York",  "Europe/Berlin", "Australia/Lord_Howe",
                                      "Africa/Casablanca", "Asia/Kolkata",  "Pacific/Apia"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
        const struct zone *zone = zone_of(ids[i]);
        for (int64_t us = instant("1800-01-01 00:00:00"); us < instant("2500-01-01 00:00:00");
             us += INT64_C(40001) * CIVIL_SECOND_US) {
            int64_t local = timezone_to_local(zone, us);
            int64_t back = timezone_to_utc(zone, local);
            assert_true(back <= us);
            assert_int_equal(timezone_to_local(zone, back), local);
            assert_true(us - back < 25 * CIVIL_HOUR_US);
        }
    }
}

static void names_are_those_of_java(void **state)
{
    (void)state;
    const struct zone *zone = zone_of("America/New_York");
    assert_string_equal(timezone_abbreviation(zone, instant("2024-01-15 00:00:00")), "EST");
    assert_string_equal(timezone_abbreviation(zone, instant("2024-07-15 00:00:00")), "EDT");
    assert_string_equal(timezone_abbreviation(zone, instant("1850-01-01 00:00:00")), "EST");
    assert_string_equal(timezone_abbreviation(timezone_utc(), 0), "UTC");
}

static void ids_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "america/new_york", "+19:00", "Nowhere/City", "../etc", "UTC+", "+5:6:7:8"};
    static const char *const good[] = {"Z", "GMT", "+5", "+05:30:15", "UTC+3", "PST", "Etc/GMT-14"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_null(timezone_lookup(bytes_of_text(bad[i])));
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_non_null(timezone_lookup(bytes_of_text(good[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_clocks_become_instants),
        cmocka_unit_test(instants_survive_the_way_there_and_back),
        cmocka_unit_test(names_are_those_of_java),
        cmocka_unit_test(ids_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
