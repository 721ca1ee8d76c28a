/* JSON texts as trees: what is read, what is refused, how it is printed. */
#include "expr/json_dom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct world {
    struct arena *arena;
    struct json_dom dom;
    struct buffer text;
};

static int set_up(void **state)
{
    static struct world world;
    world = (struct world){.arena = arena_new("test", 0)};
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    json_dom_fini(&world->dom);
    buffer_fini(&world->text);
    arena_free(world->arena);
    return 0;
}

static void assert_reads(struct world *world, const char *text, const char *want)
{
    struct json_dialect dialect = json_dom_defaults();
    bool read = json_dom_read(&world->dom, world->arena, bytes_of_text(text), &dialect);
    if (want == NULL) {
        assert_false(read);
        return;
    }
    assert_true(read);
    buffer_clear(&world->text);
    json_dom_print(&world->text, &world->dom, 0);
    buffer_add_byte(&world->text, '\0');
    assert_string_equal((const char *)world->text.data, want);
}

static void texts_are_read_and_printed(void **state)
{
    static const char *const rows[][2] = {
        {"{}", "{}"},
        {" { \"a\" : [ 1 , 2.50 , null , true ] } ", "{\"a\":[1,2.5,null,true]}"},
        {"{'a': 'b'}", "{\"a\":\"b\"}"},
        {"\"\\u00e9\\n\\\"\"", "\"\xC3\xA9\\n\\\"\""},
        {"\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00\""}, /* Jackson writes units of UTF-16 */
        {"\"\\ud83dx\"", "\"\\uD83Dx\""},
        {"[1e3]", "[1000.0]"},
        {"1 trailing", "1"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
        {"", NULL},
        {"{", NULL},
        {"[1,]", NULL},
        {"{\"a\" 1}", NULL},
        {"\"open", NULL},
        {"\"\\x\"", NULL},
        {"01", NULL},
        {"nul", NULL},
        {"{a:1}", NULL},
        {"-", NULL},
        {"[1 2]", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_reads(*state, rows[i][0], rows[i][1]);
}

static void dialects_allow_more(void **state)
{
    struct world *world = *state;
    struct json_dialect dialect = json_dom_defaults();
    dialect.unquoted_names = true;
    assert_true(json_dom_read(&world->dom, world->arena, bytes_of_text("{a:1}"), &dialect));
    dialect.leading_zeros = true;
    assert_true(json_dom_read(&world->dom, world->arena, bytes_of_text("007"), &dialect));
    dialect.comments = true;
    assert_true(json_dom_read(&world->dom, world->arena, bytes_of_text("/* x */ 1"), &dialect));
    dialect.single_quotes = false;
    assert_false(json_dom_read(&world->dom, world->arena, bytes_of_text("'a'"), &dialect));
}

static void deep_texts_are_refused(void **state)
{
    struct world *world = *state;
    struct json_dialect dialect = json_dom_defaults();
    for (int i = 0; i < 100000; i++)
        buffer_add_byte(&world->text, '[');
    assert_false(json_dom_read(&world->dom, world->arena, buffer_bytes(&world->text), &dialect));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_read_and_printed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dialects_allow_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_texts_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
