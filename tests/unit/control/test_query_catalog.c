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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_that_could_not_be_stored_leaves_no_directory),
        cmocka_unit_test(a_query_that_was_stored_stays_when_it_cannot_be_replaced),
    };
    return cmocka_run_group_tests_name("control/query_catalog", tests, NULL, NULL);
}
