#include "source/seen_files.h"

#include "base/buffer.h"
#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct vfs *vfs;
static struct error err;
static const struct seen_mark nothing = {0};

static int set_up(void **state)
{
    (void)state;
    vfs = vfs_mem_new(NULL);
    err = (struct error)ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vfs_mem_free(vfs);
    return 0;
}

static struct seen_files *open_seen(int64_t max_age_us)
{
    struct seen_files *seen = NULL;
    assert_int_equal(seen_files_open(vfs, "/s/0", max_age_us, &nothing, &seen, &err), OK);
    return seen;
}

static enum status open_marked(struct vfs *disk, const struct seen_mark *mark)
{
    struct seen_files *seen = NULL;
    error_clear(&err);
    enum status status = seen_files_open(disk, "/s/0", INT64_MAX, mark, &seen, &err);
    seen_files_close(seen);
    return status;
}

static bool is_new(struct seen_files *seen, const char *path, int64_t mtime_us)
{
    return seen_files_is_new(seen, bytes_of_text(path), mtime_us);
}

static void add(struct seen_files *seen, const char *path, int64_t mtime_us)
{
    seen_files_add(seen, bytes_of_text(path), mtime_us);
}

static void what_is_synced_survives_a_crash(void **state)
{
    (void)state;
    bool synced = false;
    struct seen_files *seen = open_seen(INT64_MAX);
    assert_true(is_new(seen, "a", 1));
    add(seen, "a", 1);
    assert_false(is_new(seen, "a", 5));
    assert_int_equal(seen_files_flush(seen, &synced, &err), OK);
    assert_false(synced);
    assert_int_equal(seen_files_sync(seen, &err), OK);
    add(seen, "b", 2);
    assert_int_equal(seen_files_flush(seen, &synced, &err), OK);
    vfs_mem_freeze(vfs);
    seen_files_close(seen);
    vfs_mem_crash(vfs, 7);
    seen = open_seen(INT64_MAX);
    assert_false(is_new(seen, "a", 1));
    assert_true(is_new(seen, "b", 2));
    add(seen, "c", 3);
    assert_int_equal(seen_files_flush(seen, &synced, &err), OK);
    seen_files_close(seen);
    seen = open_seen(INT64_MAX);
    assert_false(is_new(seen, "c", 1));
    seen_files_close(seen);
}

static void age_counts_from_the_newest_file(void **state)
{
    (void)state;
    struct seen_files *seen = open_seen(10);
    assert_true(is_new(seen, "ancient", -1000000));
    add(seen, "a", 100);
    seen_files_purge(seen);
    assert_false(is_new(seen, "b", 89));
    assert_true(is_new(seen, "c", 90));
    add(seen, "d", 200);
    seen_files_purge(seen);
    assert_true(is_new(seen, "a", 250)); /* its entry is forgotten */
    seen_files_close(seen);
}

static void many_files_go_to_runs(void **state)
{
    (void)state;
    enum {
        COUNT = 300000
    };
    struct seen_files *seen = open_seen(INT64_MAX);
    char path[64];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(path, sizeof path, "/in/file-%d", i);
        add(seen, path, i);
        bool synced = false;
        if (i % 10000 == 9999)
            assert_int_equal(seen_files_flush(seen, &synced, &err), OK);
    }
    assert_int_equal(seen_files_count(seen), COUNT);
    assert_int_equal(seen_files_sync(seen, &err), OK);
    vfs_mem_freeze(vfs);
    seen_files_close(seen);
    vfs_mem_crash(vfs, 0);
    seen = open_seen(INT64_MAX);
    assert_int_equal(seen_files_count(seen), COUNT);
    for (int i = 0; i < COUNT; i += 37) {
        (void)snprintf(path, sizeof path, "/in/file-%d", i);
        assert_false(is_new(seen, path, INT64_MAX));
    }
    assert_true(is_new(seen, "/in/file-300000", INT64_MAX));
    seen_files_close(seen);
}

static void damage_is_refused(void **state)
{
    (void)state;
    seen_files_close(open_seen(INT64_MAX));
    vfs_mem_write(vfs, "/s/0/seen", bytes_of_text("tidemill-seen 1\nlog 0\ncrc 00000000\n"), 0);
    assert_int_equal(open_marked(vfs, &nothing), STATUS_CHECKPOINT__CORRUPT);
    vfs_mem_write(vfs, "/s/0/seen", bytes_of_text("tidemill-seen 2\n"), 0);
    assert_int_equal(open_marked(vfs, &nothing), STATUS_CHECKPOINT__UNSUPPORTED_VERSION);
    static const char *const damaged[] = {"tidemill-seen 1Klog 0\n", "tidemill-seen \n",
                                          "tidemill-seen 0\n", "tidemill-seen 1"};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        vfs_mem_write(vfs, "/s/0/seen", bytes_of_text(damaged[i]), 0);
        assert_int_equal(open_marked(vfs, &nothing), STATUS_CHECKPOINT__CORRUPT);
    }
}

static void flush(struct seen_files *seen)
{
    bool synced = false;
    assert_int_equal(seen_files_flush(seen, &synced, &err), OK);
}

/* Two synced records of one file each, and one that is not; what the mark covers. */
static struct seen_mark write_small(size_t *durable, struct buffer *content)
{
    struct arena *arena = arena_new("test", 0);
    struct bytes bytes;
    struct seen_files *seen = open_seen(INT64_MAX);
    add(seen, "a", 1);
    flush(seen);
    add(seen, "b", 2);
    flush(seen);
    assert_int_equal(seen_files_sync(seen, &err), OK);
    struct seen_mark mark = seen_files_mark(seen);
    add(seen, "c", 3);
    flush(seen);
    seen_files_close(seen);
    assert_int_equal(vfs_get(vfs, "/s/0/seen-0.log", 1 << 20, arena, &bytes, &err), OK);
    buffer_add_bytes(content, bytes);
    *durable = mark.log_bytes;
    arena_free(arena);
    return mark;
}

static void put_log(struct bytes content)
{
    vfs_mem_write(vfs, "/s/0/seen-0.log", content, 0);
}

/* With this log, whoever starts is refused, or knows the files that are durable. */
static void check_log(struct bytes content, const struct seen_mark *mark, bool is_damaged)
{
    struct seen_files *seen = NULL;
    put_log(content);
    assert_int_equal(seen_files_verify(vfs, "/s/0", mark, &err),
                     is_damaged ? STATUS_CHECKPOINT__CORRUPT : OK);
    error_clear(&err);
    enum status status = seen_files_open(vfs, "/s/0", INT64_MAX, mark, &seen, &err);
    assert_int_equal(status, is_damaged ? STATUS_CHECKPOINT__CORRUPT : OK);
    if (!is_damaged) {
        assert_false(is_new(seen, "a", 1));
        assert_false(is_new(seen, "b", 2));
    }
    seen_files_close(seen);
    error_clear(&err);
}

static void damage_of_what_was_durable_is_refused_byte_by_byte(void **state)
{
    (void)state;
    size_t durable = 0;
    struct buffer content = {0};
    struct seen_mark mark = write_small(&durable, &content);
    assert_true(durable > 0 && durable < content.size_bytes);
    for (size_t i = 0; i < content.size_bytes; i++) {
        content.data[i] ^= 0x10;
        check_log(buffer_bytes(&content), &mark, i < durable);
        content.data[i] ^= 0x10;
    }
    for (size_t size = 0; size <= content.size_bytes; size++)
        check_log(bytes_of(content.data, size), &mark, size < durable);
    assert_int_equal(vfs_remove(vfs, "/s/0/seen-0.log", &err), OK);
    assert_int_equal(open_marked(vfs, &mark), STATUS_CHECKPOINT__CORRUPT);
    check_log(buffer_bytes(&content), &mark, false);
    buffer_fini(&content);
}

static void a_log_of_the_same_length_from_elsewhere_is_refused(void **state)
{
    (void)state;
    size_t durable = 0;
    struct buffer content = {0};
    struct seen_mark mark = write_small(&durable, &content);
    mark.crc ^= 1;
    check_log(buffer_bytes(&content), &mark, true);
    buffer_fini(&content);
}

static void files_that_no_intent_has_are_refused(void **state)
{
    (void)state;
    size_t durable = 0;
    struct buffer content = {0};
    struct seen_files *seen = NULL;
    struct seen_mark mark = write_small(&durable, &content);
    buffer_fini(&content);
    assert_int_equal(seen_files_open(vfs, "/s/0", INT64_MAX, &mark, &seen, &err), OK);
    seen_files_confirm(seen, bytes_of_text("b"));
    assert_int_equal(seen_files_check(seen, &err), STATUS_CHECKPOINT__CORRUPT);
    error_clear(&err);
    seen_files_confirm(seen, bytes_of_text("c"));
    assert_int_equal(seen_files_check(seen, &err), OK);
    seen_files_close(seen);
    assert_int_equal(seen_files_open(vfs, "/s/0", INT64_MAX, &nothing, &seen, &err), OK);
    seen_files_confirm(seen, bytes_of_text("a"));
    seen_files_confirm(seen, bytes_of_text("c"));
    assert_int_equal(seen_files_check(seen, &err), STATUS_CHECKPOINT__CORRUPT);
    error_clear(&err);
    seen_files_confirm(seen, bytes_of_text("b"));
    assert_int_equal(seen_files_check(seen, &err), OK);
    seen_files_close(seen);
}

static void add_range(struct seen_files *seen, int from, int to)
{
    char path[64];
    for (int i = from; i < to; i++) {
        (void)snprintf(path, sizeof path, "/in/file-%d", i);
        add(seen, path, i);
    }
    flush(seen);
}

/* Each byte, and each length, of a file of the set but the logs. */
static void check_file(const char *path, const struct seen_mark *mark)
{
    struct arena *arena = arena_new("test", 0);
    struct bytes whole;
    struct buffer content = {0};
    assert_int_equal(vfs_get(vfs, path, 1 << 24, arena, &whole, &err), OK);
    buffer_add_bytes(&content, whole);
    size_t step = content.size_bytes > 4096 ? content.size_bytes / 64 : 1;
    for (size_t i = 0; i < content.size_bytes; i += step) {
        content.data[i] ^= 0x10;
        vfs_mem_write(vfs, path, buffer_bytes(&content), 0);
        assert_int_not_equal(open_marked(vfs, mark), OK);
        content.data[i] ^= 0x10;
        vfs_mem_write(vfs, path, bytes_of(content.data, i), 0);
        assert_int_not_equal(open_marked(vfs, mark), OK);
    }
    assert_int_equal(vfs_remove(vfs, path, &err), OK);
    assert_int_equal(open_marked(vfs, mark), STATUS_CHECKPOINT__CORRUPT);
    vfs_mem_write(vfs, path, whole, 0);
    assert_int_equal(open_marked(vfs, mark), OK);
    buffer_fini(&content);
    arena_free(arena);
}

static void damage_of_the_manifest_and_of_runs_is_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_new("test", 0);
    struct bytes old;
    struct seen_files *seen = open_seen(INT64_MAX);
    assert_int_equal(vfs_get(vfs, "/s/0/seen", 1 << 20, arena, &old, &err), OK);
    add_range(seen, 0, SEEN_MEMORY_MAX);
    struct seen_mark mark = seen_files_mark(seen);
    assert_true(mark.generation > 0);
    seen_files_close(seen);
    check_file("/s/0/seen-1.run", &mark);
    check_file("/s/0/seen", &mark);
    vfs_mem_write(vfs, "/s/0/seen", old, 0);
    assert_int_equal(open_marked(vfs, &mark), STATUS_CHECKPOINT__CORRUPT);
    arena_free(arena);
}

static const struct vfs_ops *real_ops;
static size_t runs_removed;

static enum status open_no_run(struct vfs *self, const char *path, uint64_t truncate_to,
                               uint64_t preallocate_bytes, struct vfs_file **out, struct error *e)
{
    struct vfs_stat stat;
    struct error none = ERROR_INIT;
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".run") == 0 && vfs_stat(self, path, &stat, &none) == OK)
        assert_true(truncate_to >= stat.size_bytes);
    error_clear(&none);
    return real_ops->open(self, path, truncate_to, preallocate_bytes, out, e);
}

static enum status map_no_log(struct vfs *self, const char *path, struct vfs_map **out,
                              struct bytes *content, struct error *e)
{
    const char *dot = strrchr(path, '.');
    assert_false(dot != NULL && strcmp(dot, ".log") == 0);
    return real_ops->map(self, path, out, content, e);
}

static enum status count_removed(struct vfs *self, const char *path, struct error *e)
{
    const char *dot = strrchr(path, '.');
    runs_removed += dot != NULL && strcmp(dot, ".run") == 0;
    return real_ops->remove(self, path, e);
}

/* A server may have them mapped. */
static void what_is_mapped_is_never_shortened(void **state)
{
    (void)state;
    real_ops = vfs->ops;
    struct vfs_ops ops = *real_ops;
    ops.open = open_no_run;
    ops.map = map_no_log;
    ops.remove = count_removed;
    vfs->ops = &ops;
    runs_removed = 0;
    struct seen_files *seen = open_seen(INT64_MAX);
    seen_files_resize(seen, 64, 16);
    for (int i = 0; i < 4000; i += 16) {
        add_range(seen, i, i + 16);
        assert_int_equal(seen_files_merge(seen, &err), OK);
    }
    assert_true(runs_removed > 10);
    assert_int_equal(seen_files_sync(seen, &err), OK);
    struct seen_mark mark = seen_files_mark(seen);
    seen_files_close(seen);
    assert_int_equal(seen_files_verify(vfs, "/s/0", &mark, &err), OK);
    vfs->ops = real_ops;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_synced_survives_a_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(age_counts_from_the_newest_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_go_to_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_of_what_was_durable_is_refused_byte_by_byte, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_log_of_the_same_length_from_elsewhere_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_that_no_intent_has_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_of_the_manifest_and_of_runs_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_mapped_is_never_shortened, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/seen_files", tests, NULL, NULL);
}
