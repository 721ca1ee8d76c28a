#include "sql/lexer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void numbers_and_words_are_told_apart_by_the_longest_match(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum token_kind kinds[5];
    } cases[] = {
        {"1", {TOKEN_INTEGER}},
        {"1.5", {TOKEN_DECIMAL}},
        {".5", {TOKEN_DECIMAL}},
        {"5.", {TOKEN_DECIMAL}},
        {"1e3", {TOKEN_EXPONENT}},
        {"1.e-3", {TOKEN_EXPONENT}},
        {"1Y", {TOKEN_TINYINT}},
        {"1s", {TOKEN_SMALLINT}},
        {"1L", {TOKEN_BIGINT}},
        {"1f", {TOKEN_FLOAT}},
        {"1.5D", {TOKEN_DOUBLE}},
        {"1e2BD", {TOKEN_BIGDECIMAL}},
        {"1a", {TOKEN_WORD}},
        {"1_000", {TOKEN_WORD}},
        {"1e", {TOKEN_WORD}},
        {"1L2", {TOKEN_WORD}},
        {"0x1F", {TOKEN_WORD}},
        {"1.a", {TOKEN_INTEGER, TOKEN_DOT, TOKEN_WORD}},
        {"a.b", {TOKEN_WORD, TOKEN_DOT, TOKEN_WORD}},
        {"1 .5", {TOKEN_INTEGER, TOKEN_DECIMAL}},
        {">>>", {TOKEN_SHIFT_RIGHT_UNSIGNED}},
        {"|> ||", {TOKEN_PIPE_STEP, TOKEN_CONCAT}},
        {"'a''b' \"c\" r'\\'", {TOKEN_STRING, TOKEN_STRING, TOKEN_STRING}},
        {"`a``b`", {TOKEN_QUOTED}},
        {"'abc", {TOKEN_UNRECOGNIZED, TOKEN_WORD}},
        {"a -- b\n c", {TOKEN_WORD, TOKEN_WORD}},
        {"a -- b\\\n c", {TOKEN_WORD}},
        {"/* a /* b */ c */ d", {TOKEN_WORD}},
        {"select /*+ a */", {TOKEN_WORD, TOKEN_HINT_START, TOKEN_WORD, TOKEN_HINT_END}},
        {"a /*+ b */", {TOKEN_WORD}},
        {"\xc3\xa9", {TOKEN_WORD}},
        {"\xe2\x88\x92", {TOKEN_UNRECOGNIZED}},
        {"\xc2\xa0", {TOKEN_END}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *arena = arena_new("request", 0);
        struct error err = ERROR_INIT;
        struct token_list tokens;
        print_message("%s\n", cases[i].text);
        assert_int_equal(lexer_read(arena, bytes_of_text(cases[i].text), &tokens, &err), OK);
        size_t count = 0;
        while (count < 5 && cases[i].kinds[count] != TOKEN_END)
            count++;
        assert_int_equal(tokens.count, count + 1);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(tokens.items[k].kind, cases[i].kinds[k]);
        arena_free(arena);
    }
}

static void every_keyword_is_found_in_any_case(void **state)
{
    (void)state;
    for (int keyword = KW_NONE + 1; keyword < KW_COUNT_; keyword++) {
        char lower[32] = {0};
        const char *name = keyword_name((enum keyword)keyword);
        for (size_t i = 0; name[i] != '\0'; i++)
            lower[i] = (char)(name[i] == '_' ? '_' : name[i] | 0x20);
        assert_int_equal(keyword_find(bytes_of_text(name)), keyword);
        assert_int_equal(keyword_find(bytes_of_text(lower)), keyword);
    }
    assert_int_equal(keyword_find(bytes_of_text("visitor")), KW_NONE);
    assert_int_equal(keyword_find(bytes_of_text("SELEC")), KW_NONE);
    assert_int_equal(keyword_find(bytes_of_text("SELECTS")), KW_NONE);
}

static void an_open_comment_is_an_error_that_names_it(void **state)
{
    (void)state;
    struct arena *arena = arena_new("request", 0);
    struct error err = ERROR_INIT;
    struct token_list tokens;
    assert_int_equal(lexer_read(arena, bytes_of_text("SELECT 1 /* a /* b */"), &tokens, &err),
                     STATUS_UNCLOSED_BRACKETED_COMMENT);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_words_are_told_apart_by_the_longest_match),
        cmocka_unit_test(every_keyword_is_found_in_any_case),
        cmocka_unit_test(an_open_comment_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests_name("sql/lexer", tests, NULL, NULL);
}
