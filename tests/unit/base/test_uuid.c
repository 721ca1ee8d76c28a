#include "base/dynlib.h"
#include "base/uuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void text_and_back(void **state)
{
    (void)state;
    char text[UUID_TEXT_SIZE];
    uuid_random_text(text);
    assert_int_equal(strlen(text), 36);
    assert_int_equal(text[14], '4');
    struct uuid uuid;
    assert_true(uuid_parse(bytes_of_text(text), &uuid));
    char again[UUID_TEXT_SIZE];
    uuid_format(uuid, again);
    assert_string_equal(again, text);
    assert_false(uuid_parse(bytes_of_text("x"), &uuid));
    text[3] = 'g';
    assert_false(uuid_parse(bytes_of_text(text), &uuid));
}

static void a_seed_repeats(void **state)
{
    (void)state;
    char first[UUID_TEXT_SIZE];
    char second[UUID_TEXT_SIZE];
    uuid_seed(7);
    uuid_random_text(first);
    uuid_seed(7);
    uuid_random_text(second);
    assert_string_equal(first, second);
    uuid_random_text(second);
    assert_string_not_equal(first, second);
    uuid_seed(0);
}

static void a_missing_library_is_named(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    double (*cosine)(double) = NULL;
    const struct dynlib_symbol symbols[] = {{"cos", &cosine}};
    assert_int_equal(dynlib_load("libdoes-not-exist.so.9", symbols, 1, &err),
                     STATUS_LIBRARY_MISSING);
    assert_int_equal(dynlib_load("libm.so.6", symbols, 1, &err), OK);
    assert_true(cosine(0) > 0.99);
    const struct dynlib_symbol wrong[] = {{"no_such_function", &cosine}};
    assert_int_equal(dynlib_load("libm.so.6", wrong, 1, &err), STATUS_LIBRARY_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(a_seed_repeats),
        cmocka_unit_test(a_missing_library_is_named),
    };
    return cmocka_run_group_tests_name("base/uuid", tests, NULL, NULL);
}
