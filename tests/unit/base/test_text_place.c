#include "base/text_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exit_code.h"

#include <string.h>

static void lines_and_columns_count_characters(void **state)
{
    (void)state;
    struct text_span span = text_span_of("a\nä x", 5, 6);
    assert_int_equal(span.line, 2);
    assert_int_equal(span.column, 3);
    assert_int_equal(span.end_line, 2);
    assert_int_equal(span.end_column, 4);
    span = text_span_of("ab", 1, -1);
    assert_int_equal(span.end_column, span.column);
}

static void check_mark(const char *text, int position, int end, const char *expected)
{
    struct buffer out = {0};
    struct text_span span = text_span_of(text, position, end);
    text_mark(&out, text, &span);
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

static void places_are_marked(void **state)
{
    (void)state;
    check_mark("SELECT aa FROM c", 7, 9, "    1 | SELECT aa FROM c\n      |        ^^       \n");
    check_mark("SELECT", 6, 6, "    1 | SELECT\n      |       ^\n"); /* the end of the text */
    check_mark("a\r\n\tb\x1b c", 4, 5, "    2 | \tb? c\n      | \t^   \n");
    check_mark("x + (\ny)", 4, 8, "    1 | x + (\n      |     ^\n"); /* goes on below */
    check_mark("", 0, 0, "    1 | \n      | ^\n");
}

static void long_lines_are_cut_around_the_place(void **state)
{
    (void)state;
    char text[1001];
    struct buffer out = {0};
    memset(text, 'a', 1000);
    text[1000] = '\0';
    text[500] = 'X';
    struct text_span span = text_span_of(text, 500, 501);
    text_mark(&out, text, &span);
    assert_true(out.size_bytes < 300);
    const char *shown = buffer_text(&out);
    const char *x = strchr(shown, 'X');
    const char *below = strchr(shown, '\n') + 1;
    assert_non_null(x);
    assert_int_equal(strchr(below, '^') - below, x - shown);
    struct text_span beyond = {.line = 9, .column = 1, .end_line = 9, .end_column = 2};
    buffer_clear(&out);
    text_mark(&out, text, &beyond);
    assert_int_equal(out.size_bytes, 0);
    buffer_fini(&out);
}

static void exit_codes_are_one_table(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of_status(OK), EXIT_OK);
    assert_int_equal(exit_code_of_status(STATUS_PARSE_SYNTAX_ERROR), EXIT_INVALID);
    assert_int_equal(exit_code_of_status(STATUS_FILE_NOT_FOUND), EXIT_NOT_FOUND);
    assert_int_equal(exit_code_of_status(STATUS_CHECKPOINT__LOCKED), EXIT_CONFLICT);
    assert_int_equal(exit_code_of_status(STATUS_UNREACHABLE), EXIT_UNREACHABLE);
    assert_int_equal(exit_code_of_status(STATUS_IO_FAILURE), EXIT_OTHER);
    assert_int_equal(exit_code_of_query(STATUS_IO_FAILURE, false), EXIT_FAILED_QUERY);
    assert_int_equal(exit_code_of_query(STATUS_DIVIDE_BY_ZERO, true), EXIT_FAILED_QUERY);
    assert_int_equal(exit_code_of_query(STATUS_DIVIDE_BY_ZERO, false), EXIT_INVALID);
    assert_int_equal(exit_code_of_query(OK, true), EXIT_OK);
    static const struct {
        long http;
        enum exit_code code;
    } answers[] = {
        {200, EXIT_OK},        {202, EXIT_OK},          {304, EXIT_OK},        {400, EXIT_INVALID},
        {401, EXIT_AUTH},      {404, EXIT_NOT_FOUND},   {408, EXIT_TIMED_OUT}, {409, EXIT_CONFLICT},
        {410, EXIT_NOT_FOUND}, {412, EXIT_CONFLICT},    {422, EXIT_INVALID},   {428, EXIT_CONFLICT},
        {500, EXIT_OTHER},     {503, EXIT_UNREACHABLE},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        assert_int_equal(exit_code_of_http(answers[i].http), answers[i].code);
    for (int i = 0; i < EXIT_CODE_COUNT; i++)
        assert_true(strlen(exit_code_help((enum exit_code)i)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_columns_count_characters),
        cmocka_unit_test(places_are_marked),
        cmocka_unit_test(long_lines_are_cut_around_the_place),
        cmocka_unit_test(exit_codes_are_one_table),
    };
    return cmocka_run_group_tests_name("base/text_place", tests, NULL, NULL) != 0;
}
