/* Patterns of dates and times: printing, reading, and the errors of patterns. */
#include "columnar/datetime_pattern.h"
#include "columnar/timestamp_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new("test", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct zone *zone(const char *id)
{
    const struct zone *found = timezone_lookup(bytes_of_text(id));
    assert_non_null(found);
    return found;
}

static int64_t instant(const char *text)
{
    struct timestamp_context context = {.zone = timezone_utc()};
    int64_t us = 0;
    assert_int_equal(timestamp_text_parse(bytes_of_text(text), &context, &us), TEXT_OK);
    return us;
}

static const struct datetime_pattern *compile(const char *pattern, enum datetime_pattern_use use)
{
    const struct datetime_pattern *compiled = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(datetime_pattern_compile(arena, bytes_of_text(pattern), use, &compiled, &err),
                     OK);
    return compiled;
}

static void patterns_print(void **state)
{
    (void)state;
    static const struct {
        const char *at;
        const char *zone;
        const char *pattern;
        const char *text;
    } rows[] = {
        {"2024-02-05T00:07:09.012345Z", "UTC", "yyyy-MM-dd HH:mm:ss", "2024-02-05 00:07:09"},
        {"2024-02-05T00:07:09Z", "UTC", "y|yy|yyy|yyyy|yyyyy", "2024|24|2024|2024|02024"},
        {"12345-06-07T12:00:00Z", "UTC", "y|yy|yyy|yyyy|yyyyy", "12345|45|12345|+12345|12345"},
        {"2024-02-05T00:07:09Z", "UTC", "G|GGGG", "AD|Anno Domini"},
        {"2024-02-05T00:07:09Z", "UTC", "M|MM|MMM|MMMM", "2|02|Feb|February"},
        {"2024-02-05T00:07:09Z", "UTC", "F E EEEE D DDD", "5 Mon Monday 36 036"},
        {"2024-02-05T00:07:09Z", "UTC", "h|hh|H|HH|K|KK|k|kk a", "12|12|0|00|0|00|24|24 AM"},
        {"2024-02-05T00:07:09.012345Z", "UTC", "S|SSS|SSSSSS|SSSSSSSSS", "0|012|012345|012345000"},
        {"2023-12-31T13:45:59Z", "UTC", "Q|QQ|QQQ|QQQQ|q|qqq", "4|04|Q4|4th quarter|4|Q4"},
        {"2024-02-05T00:07:09Z", "UTC", "yyyy'year' '' 'o''clock'", "2024year ' o'clock"},
        {"2024-02-05T00:07:09Z", "UTC", "yyyy[-MM][ZZZ]", "2024-02+0000"},
        {"2024-02-05T00:07:09Z", "UTC", "", ""},
        {"2024-02-05T00:07:09Z", "UTC", "X|XX|XXX|x|xx|xxx|Z|ZZZZ|ZZZZZ|O",
         "Z|Z|Z|+00|+0000|+00:00|+0000|GMT|Z|GMT"},
        {"2024-02-05T00:07:09Z", "Asia/Kolkata", "X|XX|XXX|x|Z|ZZZZ|ZZZZZ|O|OOOO|VV|z",
         "+0530|+0530|+05:30|+0530|+0530|GMT+05:30|+05:30|GMT+5:30|GMT+05:30|Asia/Kolkata|IST"},
        {"1850-01-01T00:00:00Z", "Asia/Kolkata", "HH:mm:ss XXX", "05:53:28 +05:53"},
        {"2024-05-01T01:00:00Z", "+02:00", "VV XXX", "+02:00 +02:00"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct buffer out = {0};
        datetime_pattern_format(compile(rows[i].pattern, DATETIME_PATTERN_FORMAT), &out,
                                instant(rows[i].at), zone(rows[i].zone));
        assert_string_equal(buffer_text(&out), rows[i].text);
        buffer_fini(&out);
    }
}

static void texts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *pattern;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"2024-05-01 10:11:12", "yyyy-MM-dd HH:mm:ss", "2024-05-01 10:11:12"},
        {"2024-05-01 10:11:12.5", "yyyy-MM-dd HH:mm:ss.S", "2024-05-01 10:11:12.5"},
        {"2024-05-01 10:11:12.5", "yyyy-MM-dd HH:mm:ss.SSSSSS", "2024-05-01 10:11:12.5"},
        {"2024-05-01 10:11:12", "yyyy-MM-dd HH:mm:ss[.SSS]", "2024-05-01 10:11:12"},
        {"2024-05-01 10:11:12.123", "yyyy-MM-dd HH:mm:ss[.SSS]", "2024-05-01 10:11:12.123"},
        {"2024-05-01", "yyyy-MM-dd['T'HH:mm]", "2024-05-01 00:00:00"},
        {"2024-05-01T10:11:12+0200", "yyyy-MM-dd'T'HH:mm:ssZ", "2024-05-01 08:11:12"},
        {"2024-05-01T10:11:12+02", "yyyy-MM-dd'T'HH:mm:ssX", "2024-05-01 08:11:12"},
        {"2024-05-01T10:11:12Z", "yyyy-MM-dd'T'HH:mm:ssXXX", "2024-05-01 10:11:12"},
        {"2024-05-01 10:11 GMT+2", "yyyy-MM-dd HH:mm O", "2024-05-01 08:11:00"},
        {"2024-05-01 10:11 PST", "yyyy-MM-dd HH:mm z", "2024-05-01 17:11:00"},
        {"2024-05-01 10:11 America/New_York", "yyyy-MM-dd HH:mm VV", "2024-05-01 14:11:00"},
        {"05/01/2024 01:30 pm", "MM/dd/yyyy hh:mm a", "2024-05-01 13:30:00"},
        {"05/01/2024 12:30 AM", "MM/dd/yyyy hh:mm a", "2024-05-01 00:30:00"},
        {"05/01/2024 13:30 PM", "MM/dd/yyyy hh:mm a", NULL},
        {"2024-05-01 24", "yyyy-MM-dd kk", "2024-05-01 00:00:00"},
        {"12", "HH", "1970-01-01 12:00:00"},
        {"2024-05-01", "yyyy-mm-dd", "2024-01-01 00:05:00"},
        {"2024-02-30", "yyyy-MM-dd", NULL},
        {"2024-5-1", "yyyy-MM-dd", NULL},
        {"2024-5-1", "yyyy-M-d", "2024-05-01 00:00:00"},
        {"2024-05-01 x", "yyyy-MM-dd", NULL},
        {"10000-01-01", "yyyy-MM-dd", NULL},
        {"+10000-01-01", "yyyy-MM-dd", "+10000-01-01 00:00:00"},
        {"20240229", "yyyyMMdd", "2024-02-29 00:00:00"},
        {"20240229131415", "yyyyMMddHHmmss", "2024-02-29 13:14:15"},
        {"99-05-01", "yy-MM-dd", "2099-05-01 00:00:00"},
        {"2024-060", "yyyy-DDD", "2024-02-29 00:00:00"},
        {"may 1, 2024", "MMM d, yyyy", "2024-05-01 00:00:00"},
        {"MAY 1, 2024", "MMMM d, yyyy", "2024-05-01 00:00:00"},
        {"2024", "yyyy-MM-dd'T", NULL},
        {"44 BC", "y G", "-0043-01-01 00:00:00"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t us = 0;
        enum text_result result =
            datetime_pattern_parse(compile(rows[i].pattern, DATETIME_PATTERN_PARSE),
                                   bytes_of_text(rows[i].text), timezone_utc(), &us);
        if (rows[i].want == NULL) {
            assert_int_not_equal(result, TEXT_OK);
            continue;
        }
        char text[TIMESTAMP_TEXT_MAX + 1];
        text[timestamp_text_print(text, us, timezone_utc())] = '\0';
        assert_int_equal(result, TEXT_OK);
        assert_string_equal(text, rows[i].want);
    }
}

static void a_zero_byte_in_a_pattern_is_a_literal(void **state)
{
    (void)state;
    const struct datetime_pattern *compiled = NULL;
    struct error err = ERROR_INIT;
    struct bytes pattern = bytes_of("yyyy\0MM", 7);
    assert_int_equal(
        datetime_pattern_compile(arena, pattern, DATETIME_PATTERN_PARSE, &compiled, &err), OK);
}

static void wrong_patterns_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        enum datetime_pattern_use use;
        enum status status;
        const char *parameter;
        const char *value;
    } rows[] = {
        {"yyyy'Q'q", DATETIME_PATTERN_PARSE, STATUS_INVALID_DATETIME_PATTERN__ILLEGAL_CHARACTER,
         "c", "q"},
        {"YYYY-'W'ww", DATETIME_PATTERN_PARSE,
         STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_PATTERN_RECOGNITION, "pattern",
         "'YYYY-\\'W\\'ww'"},
        {"bogus pattern", DATETIME_PATTERN_PARSE,
         STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_WEEK_BASED_PATTERN, "c", "u"},
        {"MMMMM", DATETIME_PATTERN_FORMAT,
         STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_PATTERN_RECOGNITION, "pattern",
         "'MMMMM'"},
        {"e", DATETIME_PATTERN_FORMAT,
         STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__DATETIME_WEEK_BASED_PATTERN, "c", "e"},
        {"n", DATETIME_PATTERN_FORMAT, STATUS_INVALID_DATETIME_PATTERN__ILLEGAL_CHARACTER,
         "pattern", "n"},
        {"yyyy-MM-dd T", DATETIME_PATTERN_FORMAT, STATUS_INVALID_DATETIME_PATTERN__WITH_SUGGESTION,
         "pattern", "'yyyy-MM-dd T'"},
        {"yyyy-qqqqqq", DATETIME_PATTERN_FORMAT, STATUS_INVALID_DATETIME_PATTERN__LENGTH, "pattern",
         "qqqqq"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct datetime_pattern *compiled = NULL;
        struct error err = ERROR_INIT;
        assert_int_equal(datetime_pattern_compile(arena, bytes_of_text(rows[i].pattern),
                                                  rows[i].use, &compiled, &err),
                         rows[i].status);
        assert_string_equal(error_param(&err, rows[i].parameter), rows[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_print),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(a_zero_byte_in_a_pattern_is_a_literal),
        cmocka_unit_test(wrong_patterns_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
