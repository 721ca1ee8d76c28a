/*
 * What befalls files on a real disk: links, pipes and odd names, files that are cut, replaced or
 * removed while they are read, and compressed files that are not what they say.
 */
#include "base/buffer.h"
#include "base/vfs_posix.h"
#include "columnar/value_text.h"
#include "source/source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OPTIONS_MAX 8

/* {"v":"a"} on a line, compressed. */
static const uint8_t gz_line[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff,
                                  0xab, 0x56, 0x2a, 0x53, 0xb2, 0x52, 0x4a, 0x54, 0xaa, 0xe5,
                                  0x02, 0x00, 0x7c, 0xb8, 0xce, 0xaf, 0x0a, 0x00, 0x00, 0x00};
static const uint8_t bz2_line[] = {0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59,
                                   0x1a, 0x72, 0x5d, 0x34, 0x00, 0x00, 0x04, 0x59, 0x80, 0x00,
                                   0x10, 0x10, 0x00, 0x00, 0x10, 0x20, 0x00, 0x01, 0x0a, 0x20,
                                   0x00, 0x31, 0x0c, 0x01, 0x00, 0x7e, 0xa8, 0xed, 0x12, 0xaf,
                                   0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0x1a, 0x72, 0x5d, 0x34};

/* What happens to the file "in/a". */
enum deed {
    DEED_NONE,
    DEED_CUT,
    DEED_REPLACE,
    DEED_REMOVE,
};

struct fixture {
    char root[64];
    struct clock *clock;
    struct arena *query;
    struct option items[OPTIONS_MAX];
    struct options options;
    struct source *source;
    struct source_range newest; /* of the source that runs */
    struct error err;
};

static struct fixture f;

/* A path below the test's directory. */
static const char *at(const char *name)
{
    return arena_sprintf(f.query, "%s/%s", f.root, name);
}

static void option(const char *name, const char *value)
{
    assert_true(f.options.count < OPTIONS_MAX);
    f.items[f.options.count++] = (struct option){name, value};
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    f.err = (struct error)ERROR_INIT;
    (void)snprintf(f.root, sizeof f.root, "/tmp/tidemill-faults-XXXXXX");
    assert_non_null(mkdtemp(f.root));
    f.clock = clock_manual_new(1000000);
    f.query = arena_new("query", 0);
    f.options.items = f.items;
    option("path", at("in"));
    assert_int_equal(vfs_make_dirs(vfs_posix(), at("in"), &f.err), OK);
    return 0;
}

static void close_source(void)
{
    if (f.source != NULL)
        f.source->ops->close(f.source);
    f.source = NULL;
}

static int tear_down(void **state)
{
    (void)state;
    close_source();
    assert_int_equal(vfs_remove_tree(vfs_posix(), f.root, &f.err), OK);
    arena_free(f.query);
    clock_manual_free(f.clock);
    return 0;
}

static void put(const char *name, const char *text)
{
    assert_int_equal(vfs_put(vfs_posix(), at(name), bytes_of_text(text), false, &f.err), OK);
}

/* With what an intent says of the batch before, if there was one. */
static void start_after(const struct source_range *committed)
{
    close_source();
    struct type_field field = {.name = "v", .type = type_simple(TYPE_STRING), .nullable = true};
    const uint32_t column = 0;
    struct source_config config = {
        .name = "s",
        .format = "json",
        .options = &f.options,
        .schema = type_struct(f.query, &field, 1),
        .time_zone = "UTC",
        .ansi = true,
        .vfs = vfs_posix(),
        .clock = f.clock,
        .state_dir = at("state"),
    };
    assert_int_equal(source_find("json")->open(f.query, &config, &f.source, &f.err), OK);
    assert_int_equal(f.source->ops->bind(f.source, &column, 1, &f.err), OK);
    assert_int_equal(f.source->ops->recover(f.source, committed, NULL, 0, &f.err), OK);
}

static void start(void)
{
    start_after(NULL);
}

static void do_deed(enum deed deed)
{
    switch (deed) {
    case DEED_NONE:
        break;
    case DEED_CUT:
        assert_int_equal(truncate(at("in/a"), 10), 0);
        break;
    case DEED_REPLACE:
        assert_int_equal(rename(at("other"), at("in/a")), 0);
        break;
    case DEED_REMOVE:
        assert_int_equal(unlink(at("in/a")), 0);
        break;
    }
}

struct collector {
    struct batch_receiver receiver;
    struct buffer text;
    size_t rows;
    enum deed deed; /* once the first rows have come */
};

static enum status collect(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    (void)err;
    struct collector *collector = (struct collector *)self;
    for (uint32_t i = 0; i < batch->selected && collector->rows < 100; i++) {
        if (collector->text.size_bytes > 0)
            buffer_add_byte(&collector->text, ' ');
        value_text_print(&collector->text, batch->columns[0], batch_row(batch, i), timezone_utc());
    }
    if (collector->rows == 0)
        do_deed(collector->deed);
    collector->rows += batch->selected;
    return OK;
}

/* Plans a batch and reads it. */
static enum status read_batch(struct collector *collector, enum deed before)
{
    const struct source_ops *ops = f.source->ops;
    struct source_range range = {0};
    struct source_split *splits = NULL;
    size_t count = 0;
    bool found = false;
    enum status status = ops->plan(f.source, false, f.query, &range, &found, &f.err);
    if (status != OK || !found)
        return status;
    f.newest = range;
    status = ops->splits(f.source, &range, f.query, &splits, &count, &f.err);
    do_deed(before);
    for (size_t i = 0; status == OK && i < count; i++)
        status = ops->read(f.source, &splits[i], &collector->receiver, &f.err);
    return status;
}

/* The first rows of the next batch, or the condition that it fails with. */
static void assert_batch_with(enum deed before, enum deed meanwhile, const char *want)
{
    struct collector collector = {.receiver = {.receive = collect}, .deed = meanwhile};
    enum status status = read_batch(&collector, before);
    assert_string_equal(status == OK ? buffer_text(&collector.text) : status_name(status), want);
    if (status == STATUS_FAILED_READ_FILE__NO_HINT) /* the option that helps, unless none does */
        assert_int_equal(strstr(f.err.text, "ignoreCorruptFiles") != NULL, f.err.causes[0] == OK);
    error_clear(&f.err);
    buffer_fini(&collector.text);
}

static void assert_batch(const char *want)
{
    assert_batch_with(DEED_NONE, DEED_NONE, want);
}

static void links_and_pipes(void **state)
{
    (void)state;
    option("recursiveFileLookup", "true");
    put("in/a", "{\"v\":\"a\"}\n");
    put("outside", "{\"v\":\"outside\"}\n");
    assert_int_equal(vfs_make_dirs(vfs_posix(), at("in/sub"), &f.err), OK);
    assert_int_equal(symlink(".", at("in/loop")), 0);
    assert_int_equal(symlink("..", at("in/sub/up")), 0);
    assert_int_equal(symlink("nowhere", at("in/b")), 0);
    assert_int_equal(symlink("d", at("in/c")), 0);
    assert_int_equal(symlink("c", at("in/d")), 0);
    assert_int_equal(mkfifo(at("in/e"), 0600), 0);
    start();
    assert_batch("a");
    /* Those that come later are told by the watch. */
    assert_int_equal(symlink("nowhere", at("in/f")), 0);
    assert_int_equal(symlink("g", at("g")), 0);
    assert_int_equal(rename(at("g"), at("in/g")), 0);
    assert_batch("");
    assert_int_equal(symlink("../outside", at("in/h")), 0);
    assert_batch("outside");
    assert_int_equal(link(at("outside"), at("in/i")), 0);
    assert_batch("outside");
}

static void a_pipe_by_name_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(at("in/pipe"), 0600), 0);
    f.items[0].value = at("in/pipe");
    start();
    assert_batch("IO_FAILURE");
}

static void odd_names_are_read_once(void **state)
{
    (void)state;
    static const char *const names[] = {"a b",      "a%41", "a%zz", "new\nline", "q\"\\",
                                        "*[x]{y}?", "#&=:", "\t",   "\303\251",  "\377"};
    char longest[] = "in/" /* 255 bytes */
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxx";
    assert_int_equal(strlen(longest), 258);
    put("longest", "{\"v\":\"longest\"}\n");
    assert_int_equal(rename(at("longest"), at(longest)), 0);
    start();
    assert_batch("longest");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "{\"v\":\"%zu\"}\n", i);
        put(arena_sprintf(f.query, "in/%s", names[i]), text);
        (void)snprintf(text, sizeof text, "%zu", i);
        assert_batch(text);
    }
    assert_batch("");
    start_after(&f.newest);
    assert_batch("");
}

static void a_file_that_is_cut(void **state)
{
    (void)state;
    put("in/a", "{\"v\":\"1\"}\n{\"v\":\"2\"}\n{\"v\":\"3\"}\n");
    start();
    assert_batch_with(DEED_CUT, DEED_NONE, "SOURCE_FILE_CHANGED");
    assert_int_equal(vfs_remove_tree(vfs_posix(), at("state"), &f.err), OK);
    put("in/a", "{\"v\":\"1\"}\n{\"v\":\"2\"}\n{\"v\":\"3\"}\n");
    option("ignoreCorruptFiles", "true");
    start();
    put("in/b", "{\"v\":\"b\"}\n");
    assert_batch_with(DEED_CUT, DEED_NONE, "1 b");
    assert_int_equal(vfs_remove_tree(vfs_posix(), at("state"), &f.err), OK);
    put("other", "{\"v\":\"another\"}\n{\"v\":\"2\"}\n{\"v\":\"3\"}\n");
    start();
    assert_batch_with(DEED_REPLACE, DEED_NONE, "b");
}

/* Of another time than files that are put in the same tick of the clock: by size and time files
 * are told apart. */
static void age(const char *name)
{
    const struct timespec times[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    assert_int_equal(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

/* Between the plan and the first byte: as long as before, or longer. */
static void a_file_that_is_replaced(void **state)
{
    (void)state;
    static const char *const others[] = {"{\"v\":\"9\"}\n", "{\"v\":\"8\"}\n{\"v\":\"9\"}\n"};
    for (size_t i = 0; i < 2; i++) {
        put("in/a", "{\"v\":\"1\"}\n");
        put("other", others[i]);
        age("other");
        start();
        assert_batch_with(DEED_REPLACE, DEED_NONE, "SOURCE_FILE_CHANGED");
        close_source();
        assert_int_equal(vfs_remove_tree(vfs_posix(), at("state"), &f.err), OK);
    }
}

/* A file that is read in more than one piece. */
static void put_long(const char *name, char value)
{
    struct buffer text = {0};
    for (int i = 0; i < 200000; i++)
        buffer_printf(&text, "{\"v\":\"%c\",\"filler\":\"%d\"}\n", value, i);
    assert_int_equal(vfs_put(vfs_posix(), at(name), buffer_bytes(&text), false, &f.err), OK);
    buffer_fini(&text);
}

static void restart_with(const char *text)
{
    close_source();
    assert_int_equal(vfs_remove_tree(vfs_posix(), at("state"), &f.err), OK);
    put_long("in/a", 'x');
    put_long("other", 'y');
    if (text != NULL)
        option(text, "true");
    start();
}

static void a_file_that_changes_while_it_is_read(void **state)
{
    (void)state;
    restart_with(NULL);
    assert_batch_with(DEED_NONE, DEED_CUT, "SOURCE_FILE_CHANGED");
    restart_with(NULL);
    assert_batch_with(DEED_NONE, DEED_REPLACE, "SOURCE_FILE_CHANGED");
    restart_with(NULL);
    assert_batch_with(DEED_NONE, DEED_REMOVE, "FAILED_READ_FILE.FILE_NOT_EXIST");
}

static void compressed(const char *name, const uint8_t *content, size_t size, const char *tail,
                       size_t tail_size)
{
    struct buffer text = {0};
    buffer_add(&text, content, size);
    buffer_add(&text, tail, tail_size);
    assert_int_equal(vfs_put(vfs_posix(), at(name), buffer_bytes(&text), false, &f.err), OK);
    buffer_fini(&text);
}

/* What Spark 4.3 makes of them, but for a bz2 file that is cut, of which it reads what it can. */
static void compressed_files_that_are_broken(void **state)
{
    (void)state;
    const char *failure = "FAILED_READ_FILE.NO_HINT";
    const char *second = (const char *)gz_line;
    size_t gz = sizeof gz_line, bz2 = sizeof bz2_line;
    const struct {
        const char *name;
        const uint8_t *content;
        size_t size;
        const char *tail;
        size_t tail_size;
        const char *want;
        const char *ignoring;
    } cases[] = {
        {"in/whole.gz", gz_line, gz, "", 0, "a", "a"},
        {"in/empty.gz", gz_line, 0, "", 0, "", ""},
        {"in/two.gz", gz_line, gz, second, gz, "a a", "a a"},
        {"in/head.gz", gz_line, 10, "", 0, failure, ""},
        {"in/bytes.gz", gz_line, 3, "", 0, failure, ""},
        {"in/trailer.gz", gz_line, gz - 4, "", 0, failure, "a"},
        {"in/crc.gz", gz_line, gz - 8, "12345678", 8, failure, ""},
        {"in/second.gz", gz_line, gz, second, 12, failure, "a"},
        {"in/garbage.gz", gz_line, gz, "garbage", 7, failure, "a"},
        {"in/zeros.gz", gz_line, gz, "\0\0\0\0", 4, failure, "a"},
        {"in/plain.gz", gz_line, 0, "{\"v\":\"a\"}\n", 10, failure, ""},
        {"in/empty.zst", gz_line, 0, "", 0, "", ""},
        {"in/plain.zst", gz_line, 0, "{\"v\":\"a\"}\n", 10, failure, ""},
        {"in/whole.bz2", bz2_line, bz2, "", 0, "a", "a"},
        {"in/empty.bz2", bz2_line, 0, "", 0, "", ""},
        {"in/garbage.bz2", bz2_line, bz2, "garbage", 7, "a", "a"},
        {"in/two.bz2", bz2_line, bz2, (const char *)bz2_line, bz2, "a a", "a a"},
        {"in/cut.bz2", bz2_line, bz2 - 5, "", 0, failure, "a"},
    };
    start();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        compressed(cases[i].name, cases[i].content, cases[i].size, cases[i].tail,
                   cases[i].tail_size);
        assert_batch(cases[i].want);
    }
    close_source();
    assert_int_equal(vfs_remove_tree(vfs_posix(), f.root, &f.err), OK);
    assert_int_equal(vfs_make_dirs(vfs_posix(), at("in"), &f.err), OK);
    option("ignoreCorruptFiles", "true");
    start();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        compressed(cases[i].name, cases[i].content, cases[i].size, cases[i].tail,
                   cases[i].tail_size);
        assert_batch(cases[i].ignoring);
    }
}

static void a_malformed_record_is_no_corrupt_file(void **state)
{
    (void)state;
    option("mode", "FAILFAST");
    option("ignoreCorruptFiles", "true");
    put("in/a", "{\"v\":\"a\"}\n{bad\n");
    start();
    assert_batch("FAILED_READ_FILE.NO_HINT");
}

/* What is listed once needs no watch: to let go of one takes the kernel some 10 ms. */
static void a_frozen_source_watches_nothing(void **state)
{
    (void)state;
    put("in/a", "{\"v\":\"a\"}\n");
    start();
    assert_int_equal(f.source->ops->wake_fd(f.source), -1);
    assert_int_equal(f.source->ops->freeze(f.source, &f.err), OK);
    assert_batch("a");
    assert_int_equal(f.source->ops->wake_fd(f.source), -1);
    start_after(&f.newest);
    assert_batch("");
    assert_true(f.source->ops->wake_fd(f.source) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_and_pipes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_by_name_is_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_are_read_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_changes_while_it_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compressed_files_that_are_broken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_frozen_source_watches_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_malformed_record_is_no_corrupt_file, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/file_faults", tests, NULL, NULL);
}
