/*
 * Files that have grown since their batch was planned: the record that was begun is read to its
 * end, what follows is in no batch, and that is logged.
 */
#include "base/buffer.h"
#include "base/vfs_mem.h"
#include "columnar/value_text.h"
#include "source/file_reader.h"
#include "source/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct growth {
    const char *format;
    const char *option; /* of the value "true", or NULL */
    const char *planned;
    const char *grown;
    const char *want;
    bool logged;
};

struct collector {
    struct batch_receiver receiver;
    struct buffer text;
    size_t rows;
};

static enum status collect(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    (void)err;
    struct collector *collector = (struct collector *)self;
    for (uint32_t i = 0; i < batch->selected; i++) {
        if (collector->text.size_bytes > 0)
            buffer_add_byte(&collector->text, ' ');
        value_text_print(&collector->text, batch->columns[0], batch_row(batch, i), timezone_utc());
    }
    collector->rows += batch->selected;
    return OK;
}

static void set_file(struct vfs *vfs, struct bytes text)
{
    vfs_mem_write(vfs, "/in/a", text, 1);
}

/* What a batch gives whose file is `grown` when it is read; the log goes into `log_text_out`. */
static void read_grown(const struct growth *test, struct bytes planned, struct bytes grown,
                       struct collector *collector, struct buffer *log_text_out)
{
    struct error err = ERROR_INIT;
    struct vfs *vfs = vfs_mem_new(NULL);
    struct arena *query = arena_new("query", 0);
    struct clock *clock = clock_manual_new(1000000);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct log *log = log_open_fd(ends[1], LOG_INFO, clock);
    struct option items[2] = {{"path", "/in"}, {test->option, "true"}};
    struct options options = {.items = items, .count = test->option == NULL ? 1 : 2};
    struct type_field field = {.name = "v", .type = type_simple(TYPE_STRING), .nullable = true};
    const uint32_t column = 0;
    struct source_config config = {.name = "s",
                                   .format = test->format,
                                   .options = &options,
                                   .schema = type_struct(query, &field, 1),
                                   .time_zone = "UTC",
                                   .ansi = true,
                                   .vfs = vfs,
                                   .clock = clock,
                                   .log = log,
                                   .state_dir = "/state"};
    struct source *source = NULL;
    struct source_range range = {0};
    struct source_split *splits = NULL;
    size_t count = 0;
    bool found = false;
    set_file(vfs, planned);
    assert_int_equal(source_find(test->format)->open(query, &config, &source, &err), OK);
    assert_int_equal(source->ops->bind(source, &column, 1, &err), OK);
    assert_int_equal(source->ops->recover(source, NULL, NULL, 0, &err), OK);
    assert_int_equal(source->ops->plan(source, false, query, &range, &found, &err), OK);
    assert_true(found);
    set_file(vfs, grown);
    assert_int_equal(source->ops->splits(source, &range, query, &splits, &count, &err), OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(source->ops->read(source, &splits[i], &collector->receiver, &err), OK);
    source->ops->close(source);
    log_close(log);
    (void)close(ends[1]);
    char line[4096];
    for (ssize_t got; (got = read(ends[0], line, sizeof line)) > 0;)
        buffer_add(log_text_out, line, (size_t)got);
    (void)close(ends[0]);
    clock_manual_free(clock);
    arena_free(query);
    vfs_mem_free(vfs);
}

static void a_record_that_was_begun_is_read_to_its_end(void **state)
{
    (void)state;
    static const struct growth cases[] = {
        {"json", NULL, "{\"v\":\"1\"}\n{\"v\":", "{\"v\":\"1\"}\n{\"v\":\"2\"}\n{\"v\":\"3\"}\n",
         "1 2", true},
        {"json", NULL, "{\"v\":", "{\"v\":\"1\"}", "1", true},
        {"json", NULL, "{\"v\":\"1\"}", "{\"v\":\"1\"}\n{\"v\":\"2\"}\n", "1", true},
        {"json", NULL, "{\"v\":\"1\"}\n", "{\"v\":\"1\"}\n{\"v\":\"2\"}\n", "1", true},
        {"json", NULL, "{\"v\":\"1\"}\r", "{\"v\":\"1\"}\r\n{\"v\":\"2\"}\n", "1", true},
        {"json", NULL, "{\"v\":\"1\"}\n", "{\"v\":\"1\"}\n", "1", false},
        {"json", NULL, "", "{\"v\":\"1\"}\n", "", true},
        {"json", "multiLine", "{\"v\":", "{\"v\":\n\"1\"}\n", "1", false},
        {"csv", NULL, "a,1\nb", "a,1\nbc,2\nd,3\n", "a bc", true},
        {"csv", "header", "v", "v,w\nb,2\n", "", true},
        {"csv", "multiLine", "a\n\"b", "a\n\"b c\"\nd\n", "a b c d", false},
        {"text", NULL, "one\ntw", "one\ntwo\nthree\n", "one two", true},
        {"text", "wholetext", "one\ntw", "one\ntwo", "one\ntwo", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct collector collector = {.receiver = {.receive = collect}};
        struct buffer log = {0};
        read_grown(&cases[i], bytes_of_text(cases[i].planned), bytes_of_text(cases[i].grown),
                   &collector, &log);
        assert_string_equal(buffer_text(&collector.text), cases[i].want);
        const char *event = strstr(buffer_text(&log), "source_file_grew");
        assert_int_equal(event != NULL, cases[i].logged);
        assert_true(event == NULL || strstr(event, "/in/a") != NULL);
        buffer_fini(&collector.text);
        buffer_fini(&log);
    }
}

/* The record begins before the planned end and ends far behind it, in pieces of the file, too. */
static void a_long_record_may_end_anywhere(void **state)
{
    (void)state;
    const struct growth test = {.format = "text"};
    static const size_t heads[] = {10, 3 * FILE_SPLIT_BYTES, 3 * FILE_SPLIT_BYTES + 1};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct collector collector = {.receiver = {.receive = collect}};
        struct buffer log = {0};
        struct buffer text = {0};
        while (text.size_bytes < heads[i])
            buffer_add_text(&text, "0123456\n");
        size_t lines = text.size_bytes / 8;
        size_t planned = text.size_bytes + 5;
        for (size_t n = 0; n < (size_t)1 << 20; n++)
            buffer_add_byte(&text, 'x');
        buffer_add_text(&text, "\nrest\nrest\n");
        read_grown(&test, bytes_of(text.data, planned), buffer_bytes(&text), &collector, &log);
        assert_int_equal(collector.rows, lines + 1);
        assert_int_equal(collector.text.size_bytes, lines * 8 + ((size_t)1 << 20));
        buffer_fini(&collector.text);
        buffer_fini(&text);
        buffer_fini(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_was_begun_is_read_to_its_end),
        cmocka_unit_test(a_long_record_may_end_anywhere),
    };
    return cmocka_run_group_tests_name("source/file_growth", tests, NULL, NULL);
}
