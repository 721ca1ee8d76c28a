#include "sql/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define DAY    (86400 * SECOND)

static void interval_literals_have_a_value_and_the_fields_that_were_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        enum ast_unit from, to;
    } cases[] = {
        {"INTERVAL 1 DAY", DAY, AST_UNIT_DAY, AST_UNIT_DAY},
        {"INTERVAL 1 DAY 2 HOURS", DAY + 7200 * SECOND, AST_UNIT_DAY, AST_UNIT_HOUR},
        {"INTERVAL 1 WEEK", 7 * DAY, AST_UNIT_DAY, AST_UNIT_DAY},
        {"INTERVAL 100 MILLISECONDS", SECOND / 10, AST_UNIT_SECOND, AST_UNIT_SECOND},
        {"INTERVAL '1.5' SECOND", 3 * SECOND / 2, AST_UNIT_SECOND, AST_UNIT_SECOND},
        {"INTERVAL - '-1' MONTH", 1, AST_UNIT_MONTH, AST_UNIT_MONTH},
        {"INTERVAL -1 MONTH", -1, AST_UNIT_MONTH, AST_UNIT_MONTH},
        {"INTERVAL '1-2' YEAR TO MONTH", 14, AST_UNIT_YEAR, AST_UNIT_MONTH},
        {"INTERVAL '1:30' MINUTE TO SECOND", 90 * SECOND, AST_UNIT_MINUTE, AST_UNIT_SECOND},
        {"INTERVAL '-1 02:03:04.5' DAY TO SECOND", -(DAY + 7384 * SECOND + SECOND / 2),
         AST_UNIT_DAY, AST_UNIT_SECOND},
        {"INTERVAL '-1 day +2 hours'", -22 * 3600 * SECOND, AST_UNIT_DAY, AST_UNIT_HOUR},
        {"INTERVAL 'interval 1 year'", 12, AST_UNIT_YEAR, AST_UNIT_YEAR},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *arena = arena_new("request", 0);
        struct error err = ERROR_INIT;
        struct ast_expr *expr;
        print_message("%s\n", cases[i].text);
        assert_int_equal(parser_expr(arena, bytes_of_text(cases[i].text), &expr, &err), OK);
        assert_int_equal(expr->kind, AST_EXPR_LITERAL);
        assert_int_equal(expr->literal.integer, cases[i].value);
        assert_int_equal(expr->literal.from, cases[i].from);
        assert_int_equal(expr->literal.to, cases[i].to);
        arena_free(arena);
    }
}

static void a_wrong_interval_has_its_own_condition(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
    } cases[] = {
        {"INTERVAL 1 YEAR 1 DAY", STATUS__LEGACY_ERROR_TEMP_0029},
        {"INTERVAL 'x' DAY", STATUS__LEGACY_ERROR_TEMP_0026},
        {"INTERVAL '1'", STATUS_INVALID_TYPED_LITERAL},
        {"INTERVAL 1.5 DAY", STATUS_INVALID_INTERVAL_FORMAT__INVALID_FRACTION},
        {"INTERVAL 1 NANOSECOND", STATUS_INVALID_INTERVAL_FORMAT__INVALID_UNIT},
        {"INTERVAL '' DAY", STATUS_INVALID_INTERVAL_FORMAT__UNRECOGNIZED_NUMBER},
        {"INTERVAL '1-13' YEAR TO MONTH", STATUS_INVALID_INTERVAL_FORMAT__INTERVAL_PARSING},
        {"INTERVAL '1' SECOND TO DAY",
         STATUS_INVALID_INTERVAL_FORMAT__UNSUPPORTED_FROM_TO_EXPRESSION},
        {"INTERVAL '1 2' DAY TO MINUTE",
         STATUS_INVALID_INTERVAL_FORMAT__UNMATCHED_FORMAT_STRING_WITH_NOTICE},
        {"INTERVAL '1 25' DAY TO HOUR", STATUS_INVALID_INTERVAL_FORMAT__DAY_TIME_PARSING},
        {"INTERVAL '106751992' DAY", STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITHOUT_SUGGESTION},
        {"INTERVAL 9223372036854775807 HOUR", STATUS_INVALID_INTERVAL_FORMAT__ARITHMETIC_EXCEPTION},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *arena = arena_new("request", 0);
        struct error err = ERROR_INIT;
        struct ast_expr *expr;
        print_message("%s\n", cases[i].text);
        assert_int_equal(parser_expr(arena, bytes_of_text(cases[i].text), &expr, &err),
                         cases[i].status);
        assert_int_equal(err.position, 0);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_literals_have_a_value_and_the_fields_that_were_named),
        cmocka_unit_test(a_wrong_interval_has_its_own_condition),
    };
    return cmocka_run_group_tests_name("sql/interval", tests, NULL, NULL);
}
