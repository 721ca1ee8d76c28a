/* The contract of vfs, tried on every implementation. */
#include "base/path.h"
#include "base/vfs_fault.h"
#include "base/vfs_mem.h"
#include "base/vfs_posix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    struct vfs *vfs;
    char root[64];
    struct arena *arena;
};

static const char *at(struct world *world, const char *name)
{
    return path_join(world->arena, world->root, name);
}

static struct bytes content_of(struct world *world, const char *name)
{
    struct error err = ERROR_INIT;
    struct bytes out = {0};
    assert_int_equal(vfs_get(world->vfs, at(world, name), 1 << 20, world->arena, &out, &err), OK);
    return out;
}

static void assert_content(struct world *world, const char *name, const char *want)
{
    assert_true(bytes_equal(content_of(world, name), bytes_of_text(want)));
}

static void put_replaces_whole_files(struct world *world)
{
    struct error err = ERROR_INIT;
    struct vfs *vfs = world->vfs;
    assert_int_equal(vfs_put(vfs, at(world, "a"), bytes_of_text("one"), true, &err), OK);
    assert_int_equal(vfs_put(vfs, at(world, "a"), bytes_of_text("two"), true, &err),
                     STATUS_FILE_ALREADY_EXISTS);
    assert_content(world, "a", "one");
    assert_int_equal(vfs_put(vfs, at(world, "a"), bytes_of_text("three"), false, &err), OK);
    assert_content(world, "a", "three");
    assert_int_equal(vfs_put(vfs, at(world, "none/a"), bytes_of_text("x"), false, &err),
                     STATUS_FILE_NOT_FOUND);
}

static void files_grow_and_are_cut(struct world *world)
{
    struct error err = ERROR_INIT;
    struct vfs_file *file = NULL;
    assert_int_equal(vfs_open(world->vfs, at(world, "log"), UINT64_MAX, 4096, &file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("hello "), &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("world"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    vfs_close(file);
    assert_content(world, "log", "hello world");
    assert_int_equal(vfs_open(world->vfs, at(world, "log"), 5, 0, &file, &err), OK);
    assert_int_equal(vfs_append(file, bytes_of_text("!"), &err), OK);
    assert_int_equal(vfs_sync_data(file, &err), OK);
    vfs_close(file);
    assert_content(world, "log", "hello!");
    struct vfs_stat stat;
    assert_int_equal(vfs_stat(world->vfs, at(world, "log"), &stat, &err), OK);
    assert_int_equal(stat.size_bytes, 6);
    assert_int_equal(stat.kind, VFS_FILE);
}

static void reads_and_maps(struct world *world)
{
    struct error err = ERROR_INIT;
    char *page = malloc(4097);
    memset(page, 'p', 4096);
    page[4096] = '\0';
    assert_int_equal(vfs_put(world->vfs, at(world, "page"), bytes_of_text(page), false, &err), OK);
    assert_int_equal(vfs_put(world->vfs, at(world, "empty"), bytes_of_text(""), false, &err), OK);
    static const char *const names[] = {"page", "empty"};
    for (int i = 0; i < 2; i++) {
        struct vfs_map *map = NULL;
        struct bytes content;
        assert_int_equal(vfs_map(world->vfs, at(world, names[i]), &map, &content, &err), OK);
        assert_int_equal(content.size_bytes, i == 0 ? 4096 : 0);
        for (size_t pad = 0; pad < VFS_MAP_PADDING; pad++)
            assert_int_equal(content.data[content.size_bytes + pad], 0);
        vfs_unmap(map);
    }
    uint8_t out[10];
    size_t size = 0;
    struct bytes_out into = {.data = out, .size_bytes = sizeof out};
    assert_int_equal(vfs_read_at(world->vfs, at(world, "page"), 4090, into, &size, &err), OK);
    assert_int_equal(size, 6);
    assert_int_equal(vfs_read_at(world->vfs, at(world, "page"), 9999, into, &size, &err), OK);
    assert_int_equal(size, 0);
    assert_int_equal(vfs_read_at(world->vfs, at(world, "none"), 0, into, &size, &err),
                     STATUS_FILE_NOT_FOUND);
    struct bytes ignored;
    assert_int_equal(vfs_get(world->vfs, at(world, "page"), 4095, world->arena, &ignored, &err),
                     STATUS_LIMIT_EXCEEDED);
    free(page);
}

struct counter {
    struct vfs_visitor visitor;
    size_t files;
    size_t dirs;
};

static enum status count_entry(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                               struct error *err)
{
    struct counter *counter = (struct counter *)visitor;
    counter->files += kind == VFS_FILE;
    counter->dirs += kind == VFS_DIR;
    return strcmp(name, "stop") == 0 ? error_set(err, STATUS_INTERNAL_ERROR, "stop") : OK;
}

static void scans_names_only(struct world *world)
{
    struct error err = ERROR_INIT;
    struct counter counter = {.visitor = {.visit = count_entry}};
    assert_int_equal(vfs_make_dirs(world->vfs, at(world, "s/x"), &err), OK);
    assert_int_equal(vfs_put(world->vfs, at(world, "s/a"), bytes_of_text("1"), false, &err), OK);
    assert_int_equal(vfs_scan(world->vfs, at(world, "s"), &counter.visitor, &err), OK);
    assert_int_equal(counter.files, 1);
    assert_int_equal(counter.dirs, 1);
    assert_int_equal(vfs_put(world->vfs, at(world, "s/stop"), bytes_of_text("1"), false, &err), OK);
    assert_int_equal(vfs_scan(world->vfs, at(world, "s"), &counter.visitor, &err),
                     STATUS_INTERNAL_ERROR);
    assert_int_equal(vfs_scan(world->vfs, at(world, "none"), &counter.visitor, &err),
                     STATUS_FILE_NOT_FOUND);
    assert_int_equal(vfs_remove_tree(world->vfs, at(world, "s"), &err), OK);
}

static void directories_list_in_order(struct world *world)
{
    struct error err = ERROR_INIT;
    struct vfs *vfs = world->vfs;
    assert_int_equal(vfs_make_dirs(vfs, at(world, "d/e/f"), &err), OK);
    assert_int_equal(vfs_make_dirs(vfs, at(world, "d/e/f"), &err), OK);
    assert_int_equal(vfs_put(vfs, at(world, "d/b"), bytes_of_text("1"), false, &err), OK);
    assert_int_equal(vfs_put(vfs, at(world, "d/a"), bytes_of_text("22"), false, &err), OK);
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    assert_int_equal(vfs_list(vfs, at(world, "d"), world->arena, &entries, &count, &err), OK);
    assert_int_equal(count, 3);
    assert_string_equal(entries[0].name, "a");
    assert_int_equal(entries[0].stat.size_bytes, 2);
    assert_string_equal(entries[1].name, "b");
    assert_string_equal(entries[2].name, "e");
    assert_int_equal(entries[2].stat.kind, VFS_DIR);
    assert_int_equal(vfs_list(vfs, at(world, "none"), world->arena, &entries, &count, &err),
                     STATUS_FILE_NOT_FOUND);
    assert_int_equal(vfs_rename(vfs, at(world, "d/a"), at(world, "d/e/g"), &err), OK);
    assert_int_equal(vfs_rename(vfs, at(world, "d/a"), at(world, "d/x"), &err),
                     STATUS_FILE_NOT_FOUND);
    assert_int_equal(vfs_link(vfs, at(world, "d/b"), at(world, "d/c"), &err), OK);
    assert_int_equal(vfs_link(vfs, at(world, "d/b"), at(world, "d/c"), &err), OK);
    assert_int_equal(vfs_link(vfs, at(world, "d/b"), at(world, "d/e/g"), &err),
                     STATUS_FILE_ALREADY_EXISTS);
    assert_content(world, "d/c", "1");
    assert_int_equal(vfs_sync_dir(vfs, at(world, "d"), &err), OK);
    assert_int_equal(vfs_remove(vfs, at(world, "d/b"), &err), OK);
    assert_int_equal(vfs_remove(vfs, at(world, "d/b"), &err), OK);
    assert_int_equal(vfs_remove(vfs, at(world, "d"), &err), STATUS_IO_FAILURE);
    assert_int_equal(vfs_remove_tree(vfs, at(world, "d"), &err), OK);
    assert_int_equal(vfs_remove_tree(vfs, at(world, "d"), &err), OK);
    assert_false(vfs_exists(vfs, at(world, "d")));
}

static void a_lock_has_one_holder(struct world *world)
{
    struct error err = ERROR_INIT;
    struct vfs_lock *lock = NULL;
    struct vfs_lock *second = NULL;
    assert_int_equal(vfs_lock(world->vfs, at(world, "lock"), &lock, &err), OK);
    assert_int_equal(vfs_lock(world->vfs, at(world, "lock"), &second, &err),
                     STATUS_CHECKPOINT__LOCKED);
    assert_non_null(error_param(&err, "holder"));
    vfs_unlock(lock);
    assert_int_equal(vfs_lock(world->vfs, at(world, "lock"), &second, &err), OK);
    vfs_unlock(second);
}

static void scratch_space_has_no_name(struct world *world)
{
    struct error err = ERROR_INIT;
    struct vfs_scratch *scratch = NULL;
    char text[9] = {0};
    struct bytes_out out = {.data = (uint8_t *)text, .size_bytes = 8};
    assert_int_equal(vfs_put(world->vfs, at(world, "s"), bytes_of_text("old"), false, &err), OK);
    assert_int_equal(vfs_scratch_open(world->vfs, at(world, "s"), &scratch, &err), OK);
    assert_false(vfs_exists(world->vfs, at(world, "s")));
    assert_int_equal(vfs_scratch_write(scratch, 6, bytes_of_text("gh"), &err), OK);
    assert_int_equal(vfs_scratch_write(scratch, 1, bytes_of_text("bcd"), &err), OK);
    assert_int_equal(vfs_scratch_write(scratch, 2, bytes_of_text("C"), &err), OK);
    assert_int_equal(vfs_scratch_read(scratch, 0, out, &err), OK);
    assert_memory_equal(text, "\0bCd\0\0gh", 8);
    assert_int_equal(vfs_scratch_read(scratch, 7, out, &err), OK);
    assert_memory_equal(text, "h\0\0\0\0\0\0\0", 8);
    vfs_scratch_close(scratch);
    vfs_scratch_close(NULL);
    assert_int_equal(vfs_scratch_open(world->vfs, at(world, "none/s"), &scratch, &err),
                     STATUS_FILE_NOT_FOUND);
    error_clear(&err);
}

static void try_all(struct vfs *vfs, const char *root)
{
    struct world world = {.vfs = vfs, .arena = arena_new("request", 0)};
    (void)snprintf(world.root, sizeof world.root, "%s", root);
    put_replaces_whole_files(&world);
    scratch_space_has_no_name(&world);
    files_grow_and_are_cut(&world);
    reads_and_maps(&world);
    scans_names_only(&world);
    directories_list_in_order(&world);
    a_lock_has_one_holder(&world);
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    struct error err = ERROR_INIT;
    assert_int_equal(vfs_list(vfs, root, world.arena, &entries, &count, &err), OK);
    for (size_t i = 0; i < count; i++)
        assert_null(strstr(entries[i].name, ".tmp"));
    arena_free(world.arena);
}

static void posix_keeps_the_contract(void **state)
{
    (void)state;
    char root[] = "/tmp/tidemill-vfs-XXXXXX";
    assert_non_null(mkdtemp(root));
    try_all(vfs_posix(), root);
    struct error err = ERROR_INIT;
    assert_int_equal(vfs_remove_tree(vfs_posix(), root, &err), OK);
}

/* A server may be reading a log whose torn end the worker that starts takes away. */
static void what_is_mapped_stays_when_a_preallocated_file_is_cut(void **state)
{
    (void)state;
    static const uint8_t zeros[20000];
    char root[] = "/tmp/tidemill-vfs-XXXXXX";
    char path[128];
    struct error err = ERROR_INIT;
    struct vfs_file *file = NULL;
    struct vfs_map *map = NULL;
    struct bytes content;
    uint8_t *text = malloc(sizeof zeros);
    assert_non_null(text);
    memset(text, 'x', sizeof zeros);
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof path, "%s/log", root);
    assert_int_equal(vfs_put(vfs_posix(), path, bytes_of(text, sizeof zeros), false, &err), OK);
    assert_int_equal(vfs_map(vfs_posix(), path, &map, &content, &err), OK);
    assert_int_equal(vfs_open(vfs_posix(), path, 10, 4096, &file, &err), OK);
    assert_memory_equal(content.data, text, 10);
    assert_memory_equal(content.data + 10, zeros, sizeof zeros - 10);
    assert_int_equal(vfs_append(file, bytes_of_text("next"), &err), OK);
    assert_int_equal(vfs_sync(file, &err), OK);
    vfs_close(file);
    assert_memory_equal(content.data, "xxxxxxxxxxnext\0", 15);
    vfs_unmap(map);
    free(text);
    assert_int_equal(vfs_remove_tree(vfs_posix(), root, &err), OK);
}

/* In a container every process may have the same id. */
static void a_put_is_not_stopped_by_what_a_crash_left(void **state)
{
    (void)state;
    char root[] = "/tmp/tidemill-vfs-XXXXXX";
    char path[128];
    struct error err = ERROR_INIT;
    struct vfs_file *file = NULL;
    assert_non_null(mkdtemp(root));
    for (int i = 0; i < 64; i++) {
        (void)snprintf(path, sizeof path, "%s/a.%ld.%d.tmp", root, (long)getpid(), i);
        assert_int_equal(vfs_open(vfs_posix(), path, 0, 0, &file, &err), OK);
        vfs_close(file);
    }
    (void)snprintf(path, sizeof path, "%s/a", root);
    assert_int_equal(vfs_put(vfs_posix(), path, bytes_of_text("x"), false, &err), OK);
    assert_int_equal(vfs_put(vfs_posix(), path, bytes_of_text("y"), true, &err),
                     STATUS_FILE_ALREADY_EXISTS);
    assert_int_equal(vfs_remove_tree(vfs_posix(), root, &err), OK);
}

static void a_name_that_is_too_long_is_no_matter_of_permissions(void **state)
{
    (void)state;
    char path[400];
    struct error err = ERROR_INIT;
    (void)snprintf(path, sizeof path, "/tmp/%0300d", 1);
    assert_int_equal(vfs_put(vfs_posix(), path, bytes_of_text("x"), false, &err),
                     STATUS_PATH_NOT_USABLE);
    assert_non_null(strstr(err.text, "at most 255 bytes"));
    assert_null(strstr(err.text, "permissions"));
}

static void memory_keeps_the_contract(void **state)
{
    (void)state;
    struct vfs *vfs = vfs_mem_new(NULL);
    vfs_mem_make_dirs(vfs, "/root");
    try_all(vfs, "/root");
    vfs_mem_free(vfs);
}

static void an_unarmed_fault_keeps_the_contract(void **state)
{
    (void)state;
    struct vfs *mem = vfs_mem_new(NULL);
    struct vfs *vfs = vfs_fault_new(mem);
    vfs_mem_make_dirs(mem, "/root");
    try_all(vfs, "/root");
    vfs_fault_free(vfs);
    vfs_mem_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posix_keeps_the_contract),
        cmocka_unit_test(what_is_mapped_stays_when_a_preallocated_file_is_cut),
        cmocka_unit_test(a_put_is_not_stopped_by_what_a_crash_left),
        cmocka_unit_test(a_name_that_is_too_long_is_no_matter_of_permissions),
        cmocka_unit_test(memory_keeps_the_contract),
        cmocka_unit_test(an_unarmed_fault_keeps_the_contract),
    };
    return cmocka_run_group_tests_name("base/vfs", tests, NULL, NULL);
}
