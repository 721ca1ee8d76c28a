#include "base/lock_probe.h"
#include "base/vfs_dry.h"
#include "base/vfs_mem.h"
#include "base/vfs_posix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is there can be read; what would change it says OK and does not. */
static void nothing_is_changed(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct clock *clock = clock_manual_new(0);
    struct vfs *mem = vfs_mem_new(clock);
    struct vfs *dry = vfs_dry_new(mem);
    struct arena *arena = arena_new("request", 0);
    struct bytes content;
    struct vfs_file *file = NULL;
    struct vfs_lock *lock = NULL;
    assert_int_equal(vfs_put(mem, "/a", bytes_of_text("one"), false, &err), OK);
    assert_int_equal(vfs_put(dry, "/a", bytes_of_text("two"), false, &err), OK);
    assert_int_equal(vfs_put(dry, "/b", bytes_of_text("two"), true, &err), OK);
    assert_int_equal(vfs_rename(dry, "/a", "/c", &err), OK);
    assert_int_equal(vfs_link(dry, "/a", "/d", &err), OK);
    assert_int_equal(vfs_remove(dry, "/a", &err), OK);
    assert_int_equal(vfs_remove_tree(dry, "/", &err), OK);
    assert_int_equal(vfs_make_dirs(dry, "/dir", &err), OK);
    assert_int_equal(vfs_open(dry, "/a", 0, 0, &file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("x"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    vfs_close(file);
    assert_int_equal(vfs_lock(dry, "/lock", &lock, &err), OK);
    vfs_unlock(lock);
    assert_int_equal(vfs_get(dry, "/a", 100, arena, &content, &err), OK);
    assert_memory_equal(content.data, "one", 3);
    assert_false(vfs_exists(mem, "/b") || vfs_exists(mem, "/c") || vfs_exists(mem, "/d"));
    assert_false(vfs_exists(mem, "/dir") || vfs_exists(mem, "/lock"));
    arena_free(arena);
    vfs_dry_free(dry);
    vfs_mem_free(mem);
    clock_manual_free(clock);
}

static void what_was_written_anew_can_be_read_again(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct clock *clock = clock_manual_new(0);
    struct vfs *mem = vfs_mem_new(clock);
    struct vfs *dry = vfs_dry_new(mem);
    struct vfs_file *file = NULL;
    struct vfs_map *map = NULL;
    struct vfs_stat stat;
    struct bytes content;
    uint8_t data[8];
    size_t read_bytes = 0;
    assert_int_equal(vfs_open(dry, "/new", 0, 0, &file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("abc"), &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("def"), &err), OK);
    vfs_close(file);
    assert_int_equal(vfs_map(dry, "/new", &map, &content, &err), OK);
    assert_int_equal(content.size_bytes, 6);
    assert_memory_equal(content.data, "abcdef", 6);
    vfs_unmap(map);
    assert_int_equal(
        vfs_read_at(dry, "/new", 4, (struct bytes_out){data, sizeof data}, &read_bytes, &err), OK);
    assert_int_equal(read_bytes, 2);
    assert_memory_equal(data, "ef", 2);
    assert_int_equal(vfs_stat(dry, "/new", &stat, &err), OK);
    assert_int_equal(stat.size_bytes, 6);
    assert_false(vfs_exists(mem, "/new"));
    vfs_dry_free(dry);
    vfs_mem_free(mem);
    clock_manual_free(clock);
}

static void a_held_lock_is_seen_and_left_alone(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    char path[] = "/tmp/tidemill-lock-XXXXXX", holder[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    struct vfs_lock *lock = NULL;
    assert_false(lock_probe(path, holder, sizeof holder));
    assert_int_equal(vfs_posix_lock_as(path, "somebody", &lock, &err), OK);
    assert_true(lock_probe(path, holder, sizeof holder));
    assert_string_equal(holder, "somebody");
    vfs_unlock(lock);
    assert_false(lock_probe(path, holder, sizeof holder));
    assert_false(lock_probe("/nonexistent/lock", holder, sizeof holder));
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_changed),
        cmocka_unit_test(what_was_written_anew_can_be_read_again),
        cmocka_unit_test(a_held_lock_is_seen_and_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
