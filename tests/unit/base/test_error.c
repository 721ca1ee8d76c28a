#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void parameters_fill_the_template(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_int_equal(error_raise(&err, STATUS_IO_FAILURE, "path", "/a", "reason", "broken", NULL),
                     STATUS_IO_FAILURE);
    assert_string_equal(err.text, "/a: broken");
    assert_string_equal(error_param(&err, "reason"), "broken");
    assert_null(error_param(&err, "other"));
    assert_int_equal(error_wrap(&err, "batch %d", 7), STATUS_IO_FAILURE);
    assert_string_equal(err.text, "batch 7: /a: broken");
    assert_int_equal(error_cause(&err, STATUS_INTERNAL_ERROR, "outer"), STATUS_INTERNAL_ERROR);
    assert_int_equal(err.causes[0], STATUS_IO_FAILURE);
}

static void long_texts_are_cut_not_overrun(void **state)
{
    (void)state;
    static char long_text[8192];
    memset(long_text, 'x', sizeof long_text - 1);
    struct error err = ERROR_INIT;
    assert_int_equal(
        error_raise(&err, STATUS_IO_FAILURE, "path", long_text, "reason", long_text, NULL),
        STATUS_IO_FAILURE);
    assert_true(strlen(err.text) < sizeof err.text);
    for (int i = 0; i < 10; i++)
        (void)error_wrap(&err, "%s", long_text);
    assert_true(strlen(err.text) < sizeof err.text);
}

static void every_condition_is_found_by_its_published_name(void **state)
{
    (void)state;
    for (int i = 1; i < STATUS_COUNT_; i++) {
        const char *name = status_name((enum status)i);
        assert_null(strstr(name, "__"));
        assert_int_equal(status_find(name), i);
        bool warning = status_http((enum status)i) == 200; /* goes with an answer, is none */
        assert_true(warning ? strstr(name, "WARNING") != NULL : status_http((enum status)i) >= 400);
        assert_int_not_equal(status_domain((enum status)i), DOMAIN_NONE);
    }
    assert_int_equal(status_find("NO_SUCH_CONDITION_EXISTS"), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_fill_the_template),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
        cmocka_unit_test(every_condition_is_found_by_its_published_name),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
