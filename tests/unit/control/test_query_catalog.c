#include "control/query_catalog.h"

#include "base/vfs_fault.h"
#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

struct fixture {
    struct vfs *mem, *fault;
    struct query_catalog *catalog;
    struct query_definition *definition;
    struct error err;
};

static struct fixture setup(void)
{
    struct fixture f = {.err = ERROR_INIT};
    struct query_spec spec = {0};
    f.mem = vfs_mem_new(NULL);
    f.fault = vfs_fault_new(f.mem);
    assert_int_equal(query_catalog_open(f.fault, "/data", &f.catalog, &f.err), OK);
    f.definition = query_definition_new(&spec, "q", "{\"sql\":\"SELECT 1\"}");
    query_catalog_adopt(f.catalog, f.definition, 1000000);
    return f;
}

static void teardown(struct fixture *f)
{
    query_definition_unref(f->definition);
    query_catalog_close(f->catalog);
    vfs_fault_free(f->fault);
    vfs_mem_free(f->mem);
}

static enum status put(struct fixture *f)
{
    const struct catalog_entry entry = {.definition = f->definition, .desired_running = true};
    error_clear(&f->err);
    return query_catalog_put(f->catalog, &entry, &f->err);
}

/* Whichever call it is that finds the disk full. */
static void a_query_that_could_not_be_stored_leaves_no_directory(void **state)
{
    (void)state;
    uint64_t failed = 0;
    for (uint64_t nth = 1;; nth++) {
        struct fixture f = setup();
        vfs_fault_arm(f.fault, VFS_CALL_ANY, nth, ENOSPC);
        enum status status = put(&f);
        bool fired = vfs_fault_fired(f.fault);
        bool there = vfs_exists(f.mem, f.definition->directory);
        teardown(&f);
        if (!fired) {
            assert_int_equal(status, OK);
            assert_true(there);
            break;
        }
        assert_int_equal(status, STATUS_DISK_FULL);
        assert_false(there);
        failed++;
    }
    assert_true(failed >= 3);
}

static void a_query_that_was_stored_stays_when_it_cannot_be_replaced(void **state)
{
    (void)state;
    struct fixture f = setup();
    assert_int_equal(put(&f), OK);
    vfs_fault_arm(f.fault, VFS_CALL_WRITE, 1, ENOSPC);
    assert_int_equal(put(&f), STATUS_DISK_FULL);
    struct arena *arena = arena_new("request", 0);
    const char *record = arena_sprintf(arena, "%s/query.json", f.definition->directory);
    assert_true(vfs_exists(f.mem, record));
    arena_free(arena);
    teardown(&f);
}

static const char *const parts[] = {"identity.json",    "begun",        "epoch", "log/00000000.log",
                                    "state/db/CURRENT", "epoch.1.0.tmp"};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static void make_checkpoint(struct fixture *f, size_t count)
{
    struct buffer path = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&path);
        buffer_printf(&path, "%s/%s", f->definition->checkpoint, parts[i]);
        vfs_mem_write(f->mem, buffer_text(&path), bytes_of_text("x"), 1);
    }
    buffer_fini(&path);
}

static size_t parts_left(struct fixture *f)
{
    size_t left = 0;
    struct buffer path = {0};
    for (size_t i = 0; i < PART_COUNT; i++) {
        buffer_clear(&path);
        buffer_printf(&path, "%s/%s", f->definition->checkpoint, parts[i]);
        left += vfs_exists(f->mem, buffer_text(&path));
    }
    buffer_fini(&path);
    return left;
}

/* The only entry of the catalog, opened again; false: there is none. */
static bool reload(struct fixture *f, struct catalog_entry *out)
{
    struct catalog_entry *entries = NULL;
    size_t count = 0;
    error_clear(&f->err);
    query_catalog_close(f->catalog);
    assert_int_equal(query_catalog_open(f->fault, "/data", &f->catalog, &f->err), OK);
    assert_int_equal(query_catalog_load(f->catalog, &entries, &count, &f->err), OK);
    assert_true(count <= 1);
    if (count > 0)
        *out = entries[0];
    free(entries);
    return count > 0;
}

/* What was begun is finished; what was not begun has lost nothing. */
static void finish_deletion(struct fixture *f)
{
    struct catalog_entry entry;
    if (reload(f, &entry)) {
        assert_false(entry.damaged);
        if (!entry.deleting) {
            assert_int_equal(parts_left(f), PART_COUNT);
            entry.purge = true;
        }
        assert_true(entry.purge);
        assert_int_equal(query_catalog_remove(f->catalog, &entry, &f->err), OK);
        query_definition_unref(entry.definition);
        assert_false(reload(f, &entry));
    }
    assert_false(vfs_exists(f->mem, f->definition->directory));
    assert_false(vfs_exists(f->mem, f->definition->checkpoint));
}

/* Whichever call was the last that the server came to, and whether or not it had become durable. */
static void a_purge_that_a_kill_has_cut_off_is_finished(void **state)
{
    (void)state;
    static const size_t torn[] = {0, SIZE_MAX};
    for (size_t i = 0; i < 2; i++) {
        bool fired = true;
        for (uint64_t nth = 1; fired; nth++) {
            struct fixture f = setup();
            assert_int_equal(put(&f), OK);
            make_checkpoint(&f, PART_COUNT);
            const struct catalog_entry entry = {.definition = f.definition, .purge = true};
            vfs_fault_arm_forever(f.fault, VFS_CALL_ANY, nth, EIO);
            enum status status = query_catalog_remove(f.catalog, &entry, &f.err);
            fired = vfs_fault_fired(f.fault);
            assert_int_equal(status == OK, !fired);
            vfs_fault_disarm(f.fault);
            vfs_mem_crash(f.mem, torn[i]);
            finish_deletion(&f);
            teardown(&f);
            assert_true(nth < 100);
        }
    }
}

static void a_checkpoint_that_is_locked_is_not_purged(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct vfs_lock *lock = NULL;
    struct buffer path = {0};
    assert_int_equal(put(&f), OK);
    make_checkpoint(&f, PART_COUNT);
    buffer_printf(&path, "%s/lock", f.definition->checkpoint);
    assert_int_equal(vfs_lock(f.mem, buffer_text(&path), &lock, &f.err), OK);
    struct catalog_entry entry = {.definition = f.definition, .purge = true};
    assert_int_equal(query_catalog_remove(f.catalog, &entry, &f.err), STATUS_CHECKPOINT__LOCKED);
    assert_int_equal(parts_left(&f), PART_COUNT);
    assert_true(reload(&f, &entry));
    assert_false(entry.deleting);
    query_definition_unref(entry.definition);
    vfs_unlock(lock);
    buffer_fini(&path);
    teardown(&f);
}

/* There is no room for the record that says so: the entry is the last that goes. */
static void a_full_disk_can_be_purged(void **state)
{
    (void)state;
    struct fixture f = setup();
    assert_int_equal(put(&f), OK);
    make_checkpoint(&f, PART_COUNT);
    const struct catalog_entry entry = {.definition = f.definition, .purge = true};
    vfs_fault_arm_forever(f.fault, VFS_CALL_WRITE, 1, ENOSPC);
    assert_int_equal(query_catalog_remove(f.catalog, &entry, &f.err), OK);
    assert_true(vfs_fault_fired(f.fault));
    assert_false(vfs_exists(f.mem, f.definition->directory));
    assert_false(vfs_exists(f.mem, f.definition->checkpoint));
    teardown(&f);
}

static void what_a_killed_server_was_writing_is_removed(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct catalog_entry entry;
    struct buffer path = {0};
    assert_int_equal(put(&f), OK);
    buffer_printf(&path, "%s/query.json.4711.0.tmp", f.definition->directory);
    vfs_mem_write(f.mem, buffer_text(&path), bytes_of_text("{"), 1);
    assert_true(reload(&f, &entry));
    query_definition_unref(entry.definition);
    assert_false(vfs_exists(f.mem, buffer_text(&path)));
    buffer_fini(&path);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_that_could_not_be_stored_leaves_no_directory),
        cmocka_unit_test(a_query_that_was_stored_stays_when_it_cannot_be_replaced),
        cmocka_unit_test(a_purge_that_a_kill_has_cut_off_is_finished),
        cmocka_unit_test(a_checkpoint_that_is_locked_is_not_purged),
        cmocka_unit_test(a_full_disk_can_be_purged),
        cmocka_unit_test(what_a_killed_server_was_writing_is_removed),
    };
    return cmocka_run_group_tests_name("control/query_catalog", tests, NULL, NULL);
}
