#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct vfs *vfs;
static struct arena *arena;
static struct error err;

static int set_up(void **state)
{
    (void)state;
    vfs = vfs_mem_new(NULL);
    arena = arena_new("request", 0);
    err = (struct error)ERROR_INIT;
    vfs_mem_make_dirs(vfs, "/d");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vfs_mem_free(vfs);
    arena_free(arena);
    return 0;
}

static void assert_content(const char *path, const char *want)
{
    struct bytes out = {0};
    assert_int_equal(vfs_get(vfs, path, 1 << 20, arena, &out, &err), OK);
    assert_true(bytes_equal(out, bytes_of_text(want)));
}

static struct vfs_file *open_file(const char *path)
{
    struct vfs_file *file = NULL;
    assert_int_equal(vfs_open(vfs, path, UINT64_MAX, 0, &file, &err), OK);
    return file;
}

static void unsynced_bytes_are_gone(void **state)
{
    (void)state;
    struct vfs_file *file = open_file("/d/log");
    assert_int_equal(vfs_append(file, bytes_of_text("kept"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("lost"), &err), OK);
    assert_content("/d/log", "keptlost");
    vfs_mem_crash(vfs, 0);
    vfs_close(file);
    assert_content("/d/log", "kept");
}

static void a_torn_write_leaves_its_beginning(void **state)
{
    (void)state;
    struct vfs_file *file = open_file("/d/log");
    assert_int_equal(vfs_append(file, bytes_of_text("kept"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("lost"), &err), OK);
    vfs_mem_freeze(vfs);
    assert_int_equal(vfs_append(file, bytes_of_text("by the dead"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    vfs_close(file);
    vfs_mem_crash(vfs, 2);
    assert_content("/d/log", "keptlo");
    vfs_mem_crash(vfs, SIZE_MAX);
    assert_content("/d/log", "keptlo");
}

static void nothing_done_after_the_freeze_is_durable(void **state)
{
    (void)state;
    vfs_mem_write(vfs, "/d/old", bytes_of_text("old"), 0);
    vfs_mem_freeze(vfs);
    assert_int_equal(vfs_put(vfs, "/d/new", bytes_of_text("new"), false, &err), OK);
    assert_int_equal(vfs_remove(vfs, "/d/old", &err), OK);
    assert_int_equal(vfs_sync_dir(vfs, "/d", &err), OK);
    assert_true(vfs_exists(vfs, "/d/new"));
    vfs_mem_write(vfs, "/d/outside", bytes_of_text("x"), 0);
    vfs_mem_crash(vfs, SIZE_MAX);
    assert_false(vfs_exists(vfs, "/d/new"));
    assert_content("/d/old", "old");
    assert_content("/d/outside", "x");
}

static void a_name_needs_a_sync_of_its_directory(void **state)
{
    (void)state;
    struct vfs_file *file = open_file("/d/temporary");
    assert_int_equal(vfs_append(file, bytes_of_text("x"), &err), OK);
    assert_int_equal(vfs_sync_data(file, &err), OK);
    vfs_close(file);
    assert_int_equal(vfs_rename(vfs, "/d/temporary", "/d/final", &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_false(vfs_exists(vfs, "/d/final"));
    assert_false(vfs_exists(vfs, "/d/temporary"));

    vfs_mem_write(vfs, "/d/a", bytes_of_text("x"), 0);
    assert_int_equal(vfs_rename(vfs, "/d/a", "/d/b", &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_content("/d/a", "x");
    assert_false(vfs_exists(vfs, "/d/b"));
    assert_int_equal(vfs_rename(vfs, "/d/a", "/d/b", &err), OK);
    assert_int_equal(vfs_sync_dir(vfs, "/d", &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_content("/d/b", "x");
    assert_false(vfs_exists(vfs, "/d/a"));
}

static void a_removal_needs_a_sync_too(void **state)
{
    (void)state;
    vfs_mem_write(vfs, "/d/a", bytes_of_text("x"), 0);
    assert_int_equal(vfs_remove(vfs, "/d/a", &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_content("/d/a", "x");
    assert_int_equal(vfs_remove_tree(vfs, "/d", &err), OK);
    assert_int_equal(vfs_sync_dir(vfs, "/", &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_false(vfs_exists(vfs, "/d"));
}

static void a_crash_releases_locks(void **state)
{
    (void)state;
    struct vfs_lock *dead = NULL;
    struct vfs_lock *lock = NULL;
    struct vfs_lock *third = NULL;
    vfs_mem_write(vfs, "/d/lock", bytes_of_text(""), 0);
    assert_int_equal(vfs_lock(vfs, "/d/lock", &dead, &err), OK);
    vfs_mem_crash(vfs, 0);
    assert_int_equal(vfs_lock(vfs, "/d/lock", &lock, &err), OK);
    vfs_unlock(dead); /* of an earlier life: releases nothing */
    assert_int_equal(vfs_lock(vfs, "/d/lock", &third, &err), STATUS_CHECKPOINT__LOCKED);
    vfs_unlock(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unsynced_bytes_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_torn_write_leaves_its_beginning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_done_after_the_freeze_is_durable, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_name_needs_a_sync_of_its_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_removal_needs_a_sync_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crash_releases_locks, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("base/vfs_crash", tests, NULL, NULL);
}
