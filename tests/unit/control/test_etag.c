#include "control/etag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_weak_tag_matches_only_weakly(void **state)
{
    (void)state;
    assert_true(etag_list_has("\"ab\"", "ab", ETAG_STRONG));
    assert_true(etag_list_has("\"ab\"", "ab", ETAG_WEAK));
    assert_false(etag_list_has("W/\"ab\"", "ab", ETAG_STRONG));
    assert_true(etag_list_has("W/\"ab\"", "ab", ETAG_WEAK));
    assert_false(etag_list_has("W/\"a\"", "ab", ETAG_WEAK));
    assert_false(etag_list_has("w/\"ab\"", "ab", ETAG_WEAK));
}

static void each_tag_of_a_list_counts(void **state)
{
    (void)state;
    assert_true(etag_list_has("\"x\", \"ab\"", "ab", ETAG_STRONG));
    assert_true(etag_list_has("W/\"ab\" ,,\"ab\"", "ab", ETAG_STRONG));
    assert_false(etag_list_has("\"x\",W/\"ab\"", "ab", ETAG_STRONG));
    assert_false(etag_list_has("\"x, ab\"", "ab", ETAG_STRONG)); /* one tag */
    assert_true(etag_list_has("x, ab", "ab", ETAG_STRONG));
}

static void a_star_is_anything_and_only_alone(void **state)
{
    (void)state;
    assert_true(etag_list_is_any(" * "));
    assert_true(etag_list_has("*", "ab", ETAG_STRONG));
    assert_false(etag_list_is_any("\"*\""));
    assert_false(etag_list_has("\"*\"", "ab", ETAG_STRONG));
    assert_false(etag_list_has("*, \"x\"", "ab", ETAG_WEAK));
}

static void what_is_no_list_holds_nothing(void **state)
{
    (void)state;
    static const char *const lists[] = {"", " ", ",", "\"", "W/", "W/\"", "\"ab", "*a"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        assert_false(etag_list_has(lists[i], "a", ETAG_WEAK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weak_tag_matches_only_weakly),
        cmocka_unit_test(each_tag_of_a_list_counts),
        cmocka_unit_test(a_star_is_anything_and_only_alone),
        cmocka_unit_test(what_is_no_list_holds_nothing),
    };
    return cmocka_run_group_tests_name("control/etag", tests, NULL, NULL) != 0;
}
