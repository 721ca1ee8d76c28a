#include "source/seen_files.h"

#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct vfs *vfs;
static struct error err;

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
    assert_int_equal(seen_files_open(vfs, "/s/0", max_age_us, &seen, &err), OK);
    return seen;
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
    struct seen_files *seen = open_seen(INT64_MAX);
    seen_files_close(seen);
    vfs_mem_write(vfs, "/s/0/seen", bytes_of_text("tidemill-seen 1\nlog 0\ncrc 00000000\n"), 0);
    assert_int_equal(seen_files_open(vfs, "/s/0", 0, &seen, &err), STATUS_CHECKSUM_MISMATCH);
    vfs_mem_write(vfs, "/s/0/seen", bytes_of_text("tidemill-seen 2\n"), 0);
    assert_int_equal(seen_files_open(vfs, "/s/0", 0, &seen, &err),
                     STATUS_CHECKPOINT__UNSUPPORTED_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_synced_survives_a_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(age_counts_from_the_newest_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_go_to_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/seen_files", tests, NULL, NULL);
}
