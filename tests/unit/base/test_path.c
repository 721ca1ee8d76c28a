#include "base/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void globs_match_as_hadoop_does(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *name;
        bool want;
    } cases[] = {
        {"*.json", "a.json", true},
        {"*.json", "a.csv", false},
        {"*", "", true},
        {"*", "a/b", false},
        {"?", "a", true},
        {"?", "/", false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[^a]x", "bx", true},
        {"[^a]x", "ax", false},
        {"[]]x", "]x", true},
        {"{a,b{c,d}}.x", "bd.x", true},
        {"{a,b{c,d}}.x", "b.x", false},
        {"{a,}.x", ".x", true},
        {"\\*x", "*x", true},
        {"\\*x", "ax", false},
        {"a*b*c", "a-b-b-c", true},
        {"a*b*c", "a-c-b", false},
        {"part-{0,1}*", "part-0007", true},
        {"*{x,y}", "aaay", true},
        {"[", "[", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s ~ %s\n", cases[i].pattern, cases[i].name);
        assert_int_equal(glob_matches(cases[i].pattern, cases[i].name), cases[i].want);
    }
    /* A pattern made to be slow ends. */
    assert_false(glob_matches("*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    struct error err = ERROR_INIT;
    assert_int_equal(glob_check("a[b", &err), STATUS_INVALID_GLOB);
    assert_int_equal(glob_check("a{b", &err), STATUS_INVALID_GLOB);
    assert_int_equal(glob_check("a\\", &err), STATUS_INVALID_GLOB);
    assert_int_equal(glob_check("{a,b}[c]", &err), OK);
}

static void groups_with_slashes_expand(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("request", 0);
    char **items = NULL;
    size_t count = 0;
    assert_int_equal(glob_expand(arena, "/x/{a/b,c}/{d,e}", &items, &count, &err), OK);
    assert_int_equal(count, 2);
    assert_string_equal(items[0], "/x/a/b/{d,e}");
    assert_string_equal(items[1], "/x/c/{d,e}");
    assert_int_equal(glob_expand(arena,
                                 "{a/1,b}{a/1,b}{a/1,b}{a/1,b}{a/1,b}{a/1,b}{a/1,b}{a/1,b}"
                                 "{a/1,b}{a/1,b}",
                                 &items, &count, &err),
                     STATUS_LIMIT_EXCEEDED);
    arena_free(arena);
}

static void paths_are_taken_apart(void **state)
{
    (void)state;
    struct arena *arena = arena_new("request", 0);
    static const struct {
        const char *path;
        const char *want;
    } normal[] = {
        {"/a//b/./c/", "/a/b/c"}, {"/a/../b", "/b"},      {"/..", "/"}, {"a/..", "."},
        {"../a", "../a"},         {"../../a", "../../a"}, {"", "."},    {"/", "/"},
        {"/a/b/../..", "/"},      {"/a/b/../../c", "/c"},
    };
    for (size_t i = 0; i < sizeof normal / sizeof normal[0]; i++) {
        print_message("%s\n", normal[i].path);
        assert_string_equal(path_normalize(arena, normal[i].path), normal[i].want);
    }
    assert_string_equal(path_join(arena, "/a/", "b"), "/a/b");
    assert_string_equal(path_join(arena, "", "b"), "b");
    assert_string_equal(path_dirname(arena, "/a/b"), "/a");
    assert_string_equal(path_dirname(arena, "/a"), "/");
    assert_string_equal(path_dirname(arena, "a"), ".");
    assert_string_equal(path_basename("/a/b"), "b");
    assert_true(path_is_below("/a/b", "/a"));
    assert_false(path_is_below("/ab", "/a"));
    assert_true(path_is_below("/ab", "/"));
    assert_string_equal(path_strip_file_scheme("file:/a"), "/a");
    assert_string_equal(path_strip_file_scheme("file:///a"), "/a");
    assert_string_equal(path_strip_file_scheme("FILE://localhost/a"), "/a");
    assert_string_equal(path_strip_file_scheme("s3a://b/k"), "s3a://b/k");
    assert_int_equal(path_scheme_length("s3a://b/k"), 3);
    assert_int_equal(path_scheme_length("/a:/b"), 0);
    assert_string_equal(path_to_uri(arena, "/a b/c=1"), "file:///a%20b/c=1");
    /* as Spark 4.3 prints them */
    assert_string_equal(path_to_uri(arena, "/\xc3\xa9/\xe6\x97\xa5"),
                        "file:///\xc3\xa9/\xe6\x97\xa5");
    assert_string_equal(path_to_uri(arena, "/x+y;z|{\"#%41[\x01"),
                        "file:///x+y;z%7C%7B%22%23%2541%5B%01");
    assert_string_equal(path_to_uri(arena, "/\xc2\x85\xc2\xa0\xe3\x80\x80"),
                        "file:///%C2%85%C2%A0%E3%80%80");
    assert_string_equal(path_to_uri(arena, "/\xe9x\xc3"), "file:///%E9x%C3");
    struct buffer out = {0};
    percent_decode(&out, bytes_of_text("a%2Fb%zz%4"));
    assert_string_equal(buffer_text(&out), "a/b%zz%4");
    buffer_fini(&out);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match_as_hadoop_does),
        cmocka_unit_test(groups_with_slashes_expand),
        cmocka_unit_test(paths_are_taken_apart),
    };
    return cmocka_run_group_tests_name("base/path", tests, NULL, NULL);
}
