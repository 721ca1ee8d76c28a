#include "cell_text.h"
#include "scn_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static enum status parse(struct arena *arena, const char *text, struct scn_file *out,
                         struct error *err)
{
    return scn_parse(arena, "x.scn", bytes_of_text(text), out, err);
}

static void a_record_is_a_directive_and_its_body(void **state)
{
    (void)state;
    struct arena *arena = arena_new("file", 0);
    struct error err = ERROR_INIT;
    struct scn_file file;
    assert_int_equal(parse(arena,
                           "# comment\nscenario \"a=b is true\"\n\nfeed s file=x.json\n  1  a\n"
                           "# between\n  2  b\n\nrun\n",
                           &file, &err),
                     OK);
    assert_int_equal(file.count, 3);
    assert_string_equal(file.records[0].words[0], "a=b is true");
    assert_int_equal(file.records[1].line, 4);
    assert_string_equal(scn_pair(&file.records[1], "file"), "x.json");
    assert_int_equal(file.records[1].body_count, 2);
    assert_string_equal(file.records[1].body[1], "2  b");
    arena_free(arena);
}

static void a_mistake_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"run\n", "x.scn:1: expected `scenario"},
        {"scenario \"x\"\n\nrunn\n", "x.scn:3: expected a directive"},
        {"scenario \"x\"\n\nexpect out\n", "x.scn:3: expected a body"},
        {"scenario \"x\"\n\nfeed s colour=red\n  1\n", "x.scn:3: unknown key=value"},
        {"scenario \"x\"\n\nstop now\n", "x.scn:3: wrong number of words"},
        {"scenario \"x\"\n\n  1\n", "x.scn:3: a body line outside a record"},
        {"scenario \"x\"\n\nstop\n  1\n", "x.scn:4: this record has no body"},
        {"\xff\n", "x.scn:1: expected UTF-8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena *arena = arena_new("file", 0);
        struct error err = ERROR_INIT;
        struct scn_file file;
        assert_int_equal(parse(arena, cases[i].text, &file, &err), SCENARIO_INVALID);
        assert_non_null(strstr(err.text, cases[i].want));
        arena_free(arena);
    }
}

static void cells_are_words_texts_and_json(void **state)
{
    (void)state;
    struct arena *arena = arena_new("file", 0);
    struct error err = ERROR_INIT;
    struct scn_cell *cells;
    size_t count;
    assert_int_equal(
        scn_cells(arena, " a  \"b \\\" c\"  {\"x\":[1,\"}\"]}  +1.5", &cells, &count, &err), OK);
    assert_int_equal(count, 4);
    assert_string_equal(cells[0].text, "a");
    assert_true(cells[1].json);
    assert_string_equal(cells[2].text, "{\"x\":[1,\"}\"]}");
    assert_string_equal(cells[3].text, "+1.5");
    assert_int_equal(scn_cells(arena, "{\"a\": 1", &cells, &count, &err), SCENARIO_INVALID);
    arena_free(arena);
}

static void timestamps_are_seconds_after_the_beginning(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t since_us;
        const char *printed;
    } cases[] = {
        {"+12", 12000000, "+12"},
        {"-3", -3000000, "-3"},
        {"+1.5", 1500000, "+1.5"},
        {"2024-05-01T00:00:07Z", 7000000, "+7"},
        {"2023-01-01T00:00:00Z", INT64_C(-41990400000000), "2023-01-01T00:00:00Z"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t time_us;
        struct buffer out = {0};
        assert_true(cell_read_timestamp(cases[i].text, &time_us));
        assert_int_equal(time_us - SCENARIO_BEGIN_US, cases[i].since_us);
        cell_add_timestamp(&out, time_us);
        assert_string_equal(buffer_text(&out), cases[i].printed);
        buffer_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_a_directive_and_its_body),
        cmocka_unit_test(a_mistake_is_told_with_its_line),
        cmocka_unit_test(cells_are_words_texts_and_json),
        cmocka_unit_test(timestamps_are_seconds_after_the_beginning),
    };
    return cmocka_run_group_tests_name("support/scn_file", tests, NULL, NULL);
}
