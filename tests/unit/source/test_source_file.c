#include "base/buffer.h"
#include "base/vfs_mem.h"
#include "columnar/value_text.h"
#include "source/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPTIONS_MAX 8

/* One source over a disk in memory, and what it last planned. */
struct fixture {
    struct vfs *vfs;
    struct clock *clock;
    struct arena *query;
    struct arena *batch;
    struct option items[OPTIONS_MAX];
    struct options options;
    const struct type *schema;
    struct source *source;
    struct source_range last; /* malloc'd texts */
    bool has_last;
    struct error err;
};

static struct fixture f;

static char *copy_text(struct bytes text)
{
    char *copy = calloc(1, text.size_bytes + 1);
    assert_non_null(copy);
    if (text.size_bytes > 0)
        memcpy(copy, text.data, text.size_bytes);
    return copy;
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    f.err = (struct error)ERROR_INIT;
    f.clock = clock_manual_new(1000000);
    f.vfs = vfs_mem_new(f.clock);
    f.query = arena_new("query", 0);
    f.batch = arena_new("batch", 0);
    f.items[0] = (struct option){"path", "/in"};
    f.options = (struct options){.items = f.items, .count = 1};
    vfs_mem_make_dirs(f.vfs, "/in");
    struct type_field field = {.name = "v", .type = type_simple(TYPE_STRING), .nullable = true};
    f.schema = type_struct(f.query, &field, 1);
    return 0;
}

static void forget_last(void)
{
    free((void *)(uintptr_t)f.last.start.data);
    free((void *)(uintptr_t)f.last.end.data);
    free((void *)(uintptr_t)f.last.detail.data);
    f.last = (struct source_range){0};
    f.has_last = false;
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
    forget_last();
    arena_free(f.batch);
    arena_free(f.query);
    vfs_mem_free(f.vfs);
    clock_manual_free(f.clock);
    return 0;
}

static void option(const char *name, const char *value)
{
    assert_true(f.options.count < OPTIONS_MAX);
    f.items[f.options.count++] = (struct option){name, value};
}

static void feed(const char *path, int64_t mtime_us, const char *text)
{
    vfs_mem_write(f.vfs, path, bytes_of_text(text), mtime_us);
}

static enum status open_with(const char *state_dir)
{
    struct source_config config = {
        .name = "s",
        .format = "json",
        .options = &f.options,
        .schema = f.schema,
        .time_zone = "UTC",
        .ansi = true,
        .vfs = f.vfs,
        .clock = f.clock,
        .state_dir = state_dir,
    };
    return source_find("json")->open(f.query, &config, &f.source, &f.err);
}

/* Opens; the newest range is committed, or pending. */
static void start(bool pending)
{
    assert_int_equal(open_with("/cp/sources/0"), OK);
    const struct type *schema = f.source->ops->schema(f.source);
    uint32_t columns[16];
    for (uint32_t i = 0; i < schema->field_count; i++)
        columns[i] = i;
    assert_int_equal(f.source->ops->bind(f.source, columns, schema->field_count, &f.err), OK);
    const struct source_range *committed = f.has_last && !pending ? &f.last : NULL;
    const struct source_range *again = f.has_last && pending ? &f.last : NULL;
    assert_int_equal(
        f.source->ops->recover(f.source, committed, again, again == NULL ? 0 : 1, &f.err), OK);
}

struct collector {
    struct batch_receiver receiver;
    struct buffer text;
};

static enum status collect(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    (void)err;
    struct collector *collector = (struct collector *)self;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (collector->text.size_bytes > 0)
            buffer_add_byte(&collector->text, ' ');
        for (uint32_t c = 0; c < batch->schema->field_count; c++) {
            if (c > 0)
                buffer_add_byte(&collector->text, '/');
            value_text_print(&collector->text, batch->columns[c], row, timezone_utc());
        }
    }
    return OK;
}

/* The rows of the newest range, or the condition that reading it fails with. */
static void assert_reads(const char *want)
{
    struct collector collector = {.receiver = {.receive = collect}};
    struct source_split *splits = NULL;
    size_t count = 0;
    const struct source_ops *ops = f.source->ops;
    enum status status = ops->splits(f.source, &f.last, f.batch, &splits, &count, &f.err);
    for (size_t i = 0; status == OK && i < count; i++)
        status = ops->read(f.source, &splits[i], &collector.receiver, &f.err);
    assert_string_equal(status == OK ? buffer_text(&collector.text) : status_name(status), want);
    buffer_fini(&collector.text);
    arena_reset(f.batch);
}

/* Plans a batch; "" if there is nothing new, else its rows. */
static void assert_batch(const char *want)
{
    struct source_range range = {0};
    bool found = false;
    enum status status = f.source->ops->plan(f.source, false, f.batch, &range, &found, &f.err);
    if (status != OK) {
        assert_string_equal(status_name(status), want);
        return;
    }
    if (!found) {
        assert_string_equal("", want);
        return;
    }
    struct source_range copy = {
        .start = bytes_of(copy_text(range.start), range.start.size_bytes),
        .end = bytes_of(copy_text(range.end), range.end.size_bytes),
        .detail = bytes_of(copy_text(range.detail), range.detail.size_bytes),
    };
    forget_last();
    f.last = copy;
    f.has_last = true;
    assert_reads(want);
}

static void reads_each_file_once(void **state)
{
    (void)state;
    feed("/in/b", 20, "{\"v\":\"b\"}\n");
    feed("/in/a", 30, "{\"v\":\"a\"}\n");
    start(false);
    assert_string_equal(f.source->ops->description(f.source), "FileStreamSource[file:/in]");
    assert_batch("b a");
    assert_true(bytes_equal(f.last.end, bytes_of_text("{\"logOffset\":0}")));
    assert_batch("");
    feed("/in/a", 40, "{\"v\":\"again\"}\n");
    feed("/in/c", 5, "{\"v\":\"c\"}\n");
    assert_batch("c");
    close_source();
    start(false);
    assert_batch("");
    feed("/in/d", 50, "{\"v\":\"d\"}\n");
    assert_batch("d");
    assert_true(bytes_equal(f.last.end, bytes_of_text("{\"logOffset\":2}")));
}

/* So many files are in the detail of their own batch and in no later one: the set holds them then.
 */
static void a_crash_after_many_files_forgets_none(void **state)
{
    (void)state;
    for (int later = 0; later < 4; later++) {
        struct buffer want = {0};
        char path[64];
        start(false);
        (void)snprintf(path, sizeof path, "/in/before-%d", later);
        feed(path, 10 * later, "{\"v\":\"before\"}\n");
        assert_batch("before");
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(path, sizeof path, "/in/many-%d-%d", later, i);
            feed(path, 10 * later + 1, "{\"v\":\"x\"}\n");
            buffer_add_text(&want, i == 0 ? "x" : " x");
        }
        assert_batch(buffer_text(&want));
        assert_true(f.last.detail.size_bytes > 10000);
        for (int i = 0; i < later; i++) {
            (void)snprintf(path, sizeof path, "/in/after-%d-%d", later, i);
            feed(path, 10 * later + 2, "{\"v\":\"after\"}\n");
            assert_batch("after");
            assert_true(f.last.detail.size_bytes < 1000);
        }
        vfs_mem_freeze(f.vfs);
        close_source();
        vfs_mem_crash(f.vfs, 0);
        start(later % 2 == 0);
        assert_reads(later == 0 ? buffer_text(&want) : "after");
        assert_batch("");
        close_source();
        buffer_fini(&want);
    }
}

static void a_crash_forgets_no_file(void **state)
{
    (void)state;
    start(false);
    /* The checkpoint keeps only the newest range: nothing else is synced by the batch loop. */
    for (int i = 0; i < 100; i++) {
        char path[32];
        char text[32];
        (void)snprintf(path, sizeof path, "/in/%03d", i);
        (void)snprintf(text, sizeof text, "{\"v\":\"%d\"}\n", i);
        feed(path, i, text);
        (void)snprintf(text, sizeof text, "%d", i);
        assert_batch(text);
        if (i % 7 == 3) {
            vfs_mem_freeze(f.vfs);
            close_source();
            vfs_mem_crash(f.vfs, (size_t)i);
            start(i % 2 == 0);
            assert_reads(text);
            assert_batch("");
        }
    }
}

static void limits_cut_batches(void **state)
{
    (void)state;
    option("maxFilesPerTrigger", "2");
    feed("/in/c", 3, "{\"v\":\"c\"}\n");
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    assert_batch("a b");
    assert_batch("c");
    assert_batch("");
}

/* Trigger.Once and tables know no limit. */
static void an_unlimited_batch_takes_all(void **state)
{
    (void)state;
    option("maxFilesPerTrigger", "1");
    option("maxCachedFiles", "0");
    for (int i = 0; i < 1100; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/in/f%d", i);
        feed(path, 1000 + i, "{\"v\":\"x\"}\n");
    }
    start(false);
    struct source_range range = {0};
    struct source_split *splits = NULL;
    size_t count = 0;
    bool found = false;
    assert_int_equal(f.source->ops->plan(f.source, true, f.batch, &range, &found, &f.err), OK);
    assert_true(found);
    assert_int_equal(f.source->ops->splits(f.source, &range, f.batch, &splits, &count, &f.err), OK);
    assert_int_equal(count, 1100);
}

/* More of them than a listing keeps. */
static void files_that_are_too_old_hide_no_new_ones(void **state)
{
    (void)state;
    option("maxFilesPerTrigger", "1");
    option("maxCachedFiles", "0");
    option("maxFileAge", "1s");
    feed("/in/a", 10000000, "{\"v\":\"a\"}\n");
    start(false);
    assert_batch("a");
    for (int i = 0; i < 1100; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/in/old%d", i);
        feed(path, 1000 + i, "{\"v\":\"old\"}\n");
    }
    feed("/in/b", 11000000, "{\"v\":\"b\"}\n");
    assert_batch("b");
    assert_batch("");
}

static void a_frozen_source_ignores_newcomers(void **state)
{
    (void)state;
    option("maxBytesPerTrigger", "5");
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    assert_int_equal(f.source->ops->freeze(f.source, &f.err), OK);
    assert_batch("a");
    feed("/in/c", 3, "{\"v\":\"c\"}\n");
    assert_batch("b");
    assert_batch("");
}

static void files_gone_or_changed_fail_the_rerun(void **state)
{
    (void)state;
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    assert_batch("a b");
    close_source();
    start(true);
    vfs_mem_delete(f.vfs, "/in/a");
    assert_reads("FAILED_READ_FILE.FILE_NOT_EXIST");
    feed("/in/a", 1, "{}\n");
    assert_reads("SOURCE_FILE_CHANGED");
    feed("/in/a", 1, "{\"v\":\"other\"}\n");
    assert_reads("SOURCE_FILE_CHANGED");
    feed("/in/a", 2, "{\"v\":\"c\"}\n");
    assert_reads("SOURCE_FILE_CHANGED");
    feed("/in/a", 1, "{\"v\":\"a\"}\n"); /* from a backup */
    assert_reads("a b");
    vfs_mem_delete(f.vfs, "/in/a");
    close_source();
    option("ignoreMissingFiles", "true");
    start(true);
    assert_reads("b");
}

static void a_file_that_has_grown_is_read_as_planned(void **state)
{
    (void)state;
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    start(false);
    assert_batch("a");
    close_source();
    start(true);
    feed("/in/a", 2, "{\"v\":\"a\"}\n{\"v\":\"appended\"}\n");
    assert_reads("a");
    vfs_mem_touch(f.vfs, "/in/a", 3);
    assert_reads("a");
}

static void a_file_written_again_is_left_out(void **state)
{
    (void)state;
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    assert_batch("a b");
    close_source();
    start(true);
    vfs_mem_touch(f.vfs, "/in/a", 3);
    assert_reads("SOURCE_FILE_CHANGED");
    close_source();
    option("ignoreCorruptFiles", "true");
    start(true);
    assert_reads("b");
}

static void directories_give_columns(void **state)
{
    (void)state;
    feed("/in/k=1/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/k=2/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    const struct type *schema = f.source->ops->schema(f.source);
    assert_string_equal(type_name(f.query, schema), "struct<v:string,k:int>");
    assert_batch("a/1 b/2");
    feed("/in/k=x/c", 3, "{\"v\":\"c\"}\n");
    assert_batch("INVALID_PARTITION_VALUE");
}

static void a_filter_of_names_leaves_partition_columns(void **state)
{
    (void)state;
    option("pathGlobFilter", "*.json");
    feed("/in/p=1/a.json", 1, "{\"v\":\"a\"}\n");
    feed("/in/p=2/b.txt", 1, "{\"v\":\"b\"}\n");
    start(false);
    assert_batch("a/1");
}

static void read_files_are_cleaned(void **state)
{
    (void)state;
    option("cleanSource", "archive");
    option("sourceArchiveDir", "/archive");
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    start(false);
    assert_batch("a");
    assert_true(vfs_exists(f.vfs, "/in/a"));
    f.source->ops->acknowledge(f.source, &f.last);
    assert_false(vfs_exists(f.vfs, "/in/a"));
    assert_true(vfs_exists(f.vfs, "/archive/in/a"));
}

static void another_file_of_the_same_name_is_not_cleaned(void **state)
{
    (void)state;
    option("cleanSource", "delete");
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    start(false);
    assert_batch("a");
    f.source->ops->acknowledge(f.source, &f.last);
    assert_false(vfs_exists(f.vfs, "/in/a"));
    feed("/in/a", 2, "{\"v\":\"new\"}\n");
    f.source->ops->acknowledge(f.source, &f.last); /* again, after a crash */
    assert_true(vfs_exists(f.vfs, "/in/a"));
    assert_int_equal(f.source->ops->take_uncleaned(f.source), 0);
}

static void files_that_cannot_be_cleaned_are_counted(void **state)
{
    (void)state;
    option("cleanSource", "archive");
    option("sourceArchiveDir", "/archive");
    feed("/archive", 1, "a file where the directory belongs");
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    start(false);
    assert_batch("a b");
    f.source->ops->acknowledge(f.source, &f.last);
    assert_true(vfs_exists(f.vfs, "/in/a"));
    assert_int_equal(f.source->ops->take_uncleaned(f.source), 2);
    assert_int_equal(f.source->ops->take_uncleaned(f.source), 0);
}

static void another_directory_is_refused(void **state)
{
    (void)state;
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    start(false);
    assert_batch("a");
    close_source();
    vfs_mem_make_dirs(f.vfs, "/other");
    f.items[0].value = "/other";
    assert_int_equal(open_with("/cp/sources/0"), OK);
    assert_int_equal(f.source->ops->recover(f.source, &f.last, NULL, 0, &f.err),
                     STATUS_SOURCE_PATH_CHANGED);
}

/* As a batch does it: each time anew. */
static void open_table(void)
{
    uint32_t column = 0;
    if (f.source != NULL)
        f.source->ops->close(f.source);
    assert_int_equal(open_with(NULL), OK);
    assert_int_equal(f.source->ops->bind(f.source, &column, 1, &f.err), OK);
    assert_int_equal(f.source->ops->recover(f.source, NULL, NULL, 0, &f.err), OK);
}

static void a_table_is_read_whole_every_time(void **state)
{
    (void)state;
    feed("/in/a", 1, "{\"v\":\"a\"}\n");
    open_table();
    assert_batch("a");
    feed("/in/b", 2, "{\"v\":\"b\"}\n");
    open_table();
    assert_batch("a b");
}

/* Both bounds are left out themselves; a stream has neither. */
static void a_table_is_read_between_two_times(void **state)
{
    (void)state;
    static const char *const times[] = {"1970-01-01T00:00:01", "1970-01-01T00:00:03"};
    char path[] = "/in/0", text[] = "{\"v\":\"0\"}\n";
    for (int i = 0; i < 5; i++) {
        path[4] = text[6] = (char)('0' + i);
        feed(path, i * INT64_C(1000000), text);
    }
    option("modifiedAfter", times[0]);
    open_table();
    assert_batch("2 3 4");
    option("modifiedBefore", times[1]);
    open_table();
    assert_batch("2");
    assert_int_equal(open_with("/cp/sources/0"), STATUS_INVALID_OPTION_VALUE);
}

static void the_log_of_a_sink_names_its_files(void **state)
{
    (void)state;
    feed("/in/part-0", 1, "{\"v\":\"committed\"}\n");
    feed("/in/part-1", 2, "{\"v\":\"not committed\"}\n");
    feed("/in/_spark_metadata/0", 3,
         "v1\n{\"path\":\"file:///in/part-0\",\"size\":1,\"action\":\"add\"}");
    start(false);
    assert_batch("committed");
    assert_batch("");
    feed("/in/part 2%", 4, "{\"v\":\"next\"}\n");
    feed("/in/_spark_metadata/1.compact", 5,
         "v1\n{\"path\":\"file:///in/part-0\",\"action\":\"add\"}\n"
         "{\"path\":\"file:///in/part%202%25\",\"action\":\"add\"}");
    assert_batch("next");
    feed("/in/_spark_metadata/2", 6, "v9\n");
    assert_batch("MALFORMED_LOG_FILE");
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *value;
        const char *want;
    } cases[] = {
        {"maxFilesPerTrigger", "0", "INVALID_OPTION_VALUE"},
        {"maxFilesPerTrigger", "1.5", "INVALID_OPTION_VALUE"},
        {"maxBytesPerTrigger", "10k", "INVALID_OPTION_VALUE"},
        {"latestFirst", "maybe", "INVALID_OPTION_VALUE"},
        {"maxFileAge", "-1d", "INVALID_OPTION_VALUE"},
        {"cleanSource", "burn", "INVALID_OPTION_VALUE"},
        {"cleanSource", "archive", "OPTION_REQUIRED"},
        {"modifiedAfter", "2024-01-01T00:00:00", "INVALID_OPTION_VALUE"},
        {"maxFilesPerTriger", "1", "UNKNOWN_OPTION"},
        {"discardCachedInputRatio", "2", "INVALID_OPTION_VALUE"},
        {"path", "/none", "PATH_NOT_FOUND"},
        {"path", "/in[", "INVALID_GLOB"},
        {"path", "s3a://bucket/x", "NOT_SUPPORTED"},
        {"path", "", "OPTION_REQUIRED"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s = %s\n", cases[i].name, cases[i].value);
        f.options.count = 1;
        option(cases[i].name, cases[i].value);
        assert_string_equal(status_name(open_with("/cp/sources/0")), cases[i].want);
    }
    f.options.count = 1;
    option("maxFilesPerTrigger", "1");
    option("maxBytesPerTrigger", "1");
    assert_int_equal(open_with("/cp/sources/0"), STATUS_CONFLICTING_FIELDS);
    f.options.count = 1;
    option("cleanSource", "archive");
    option("sourceArchiveDir", "/in/archive");
    assert_int_equal(open_with("/cp/sources/0"), STATUS_INVALID_OPTION_VALUE);
    f.options.count = 1;
    f.schema = NULL;
    assert_int_equal(open_with("/cp/sources/0"), STATUS_SCHEMA_REQUIRED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_each_file_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crash_forgets_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crash_after_many_files_forgets_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_cut_batches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unlimited_batch_takes_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_too_old_hide_no_new_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_frozen_source_ignores_newcomers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_gone_or_changed_fail_the_rerun, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories_give_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_has_grown_is_read_as_planned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_written_again_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_filter_of_names_leaves_partition_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(read_files_are_cleaned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_file_of_the_same_name_is_not_cleaned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_cleaned_are_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_directory_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_is_read_whole_every_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_is_read_between_two_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_log_of_a_sink_names_its_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/source_file", tests, NULL, NULL);
}
