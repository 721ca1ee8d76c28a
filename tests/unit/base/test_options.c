/* Options against their tables: names and values, each with the nearest right one. */
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct option_def table[] = {
    {"header", OPTION_BOOL, 0, 0, "false", "the first line names the columns"},
    {"maxFiles", OPTION_INT, 1, 1000, NULL, "most files of a batch"},
    {"any", OPTION_INT, 0, 0, NULL, "any number"},
    {"maxBytes", OPTION_BYTES, 0, 0, "1g", "most bytes of a batch"},
    {"mode", OPTION_WORD, 0, 0, "PERMISSIVE",
     "PERMISSIVE, DROPMALFORMED or FAILFAST: what becomes of broken records"},
    {"clean", OPTION_WORD, 0, 0, "off", "off, archive or delete: off and on"},
    {"ratio", OPTION_RATIO, 0, 0, "1.0", "a part of all"},
    {"path", OPTION_TEXT, 0, 0, NULL, "where"},
    {0},
};

static enum status check(const char *name, const char *value, struct error *err)
{
    static const struct option_def *const tables[] = {table, NULL};
    const struct option item = {name, value};
    const struct options options = {.items = &item, .count = 1, .pointer = "/sink/options"};
    error_clear(err);
    return options_check(&options, tables, err);
}

static void a_value_is_one_of_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        const char *expected; /* NULL: it is fine */
    } cases[] = {
        {"header", "TRUE", NULL},
        {"HEADER", "yse", "true or false"},
        {"header", "", "true or false"},
        {"maxFiles", "1000", NULL},
        {"maxFiles", "0", "an integer from 1 to 1000"},
        {"maxFiles", "10 ", "an integer from 1 to 1000"},
        {"any", "-9223372036854775808", NULL},
        {"any", "x", "an integer from -9223372036854775808 to 9223372036854775807"},
        {"maxBytes", "10m", NULL},
        {"maxBytes", "ten", "a positive size such as 1048576, 10m or 1g"},
        {"mode", "failfast", NULL},
        {"mode", "PERMISIVE", "PERMISSIVE, DROPMALFORMED or FAILFAST"},
        {"clean", "delete", NULL},
        {"clean", "on", "off, archive or delete"},
        {"clean", "or", "off, archive or delete"},
        {"ratio", "0.25", NULL},
        {"ratio", "nan", "a number from 0 to 1"},
        {"ratio", "1.5", "a number from 0 to 1"},
        {"path", "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err;
        print_message("%s=%s\n", cases[i].name, cases[i].value);
        enum status status = check(cases[i].name, cases[i].value, &err);
        if (cases[i].expected == NULL) {
            assert_int_equal(status, OK);
            continue;
        }
        assert_int_equal(status, STATUS_INVALID_OPTION_VALUE);
        assert_string_equal(error_param(&err, "expected"), cases[i].expected);
    }
}

static void the_nearest_is_named(void **state)
{
    (void)state;
    struct error err;
    assert_int_equal(check("mode", "PERMISIVE", &err), STATUS_INVALID_OPTION_VALUE);
    assert_string_equal(err.pointer, "/sink/options/mode");
    assert_non_null(strstr(err.text, "Did you mean PERMISSIVE?"));
    assert_int_equal(check("mode", "whatever", &err), STATUS_INVALID_OPTION_VALUE);
    assert_null(strstr(err.text, "Did you mean"));
    assert_int_equal(check("headr", "true", &err), STATUS_UNKNOWN_OPTION);
    assert_non_null(strstr(err.text, "Did you mean header?"));
    static const char *const names[] = {"a", "cot", "count", "k"};
    assert_string_equal(nearest_name("coutn", names, 4), "count"); /* and not cot */
    assert_string_equal(nearest_name("kk", names, 4), "k");
    assert_null(nearest_name("day", names, 4)); /* which is no misspelling of a */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_one_of_its_kind),
        cmocka_unit_test(the_nearest_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
