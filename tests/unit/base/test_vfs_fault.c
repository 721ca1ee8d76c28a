#include "base/vfs_fault.h"
#include "base/vfs_mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_nth_call_fails_with_the_errno(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct vfs *mem = vfs_mem_new(NULL);
    struct vfs *vfs = vfs_fault_new(mem);
    struct vfs_file *file = NULL;
    assert_int_equal(vfs_open(vfs, "/log", UINT64_MAX, 0, &file, &err), OK);
    vfs_fault_arm(vfs, VFS_CALL_WRITE, 2, ENOSPC);
    vfs_fault_partial(vfs, 3);
    assert_int_equal(vfs_append(file, bytes_of_text("first"), &err), OK);
    assert_false(vfs_fault_fired(vfs));
    assert_int_equal(vfs_append(file, bytes_of_text("second"), &err), STATUS_DISK_FULL);
    assert_true(vfs_fault_fired(vfs));
    assert_int_equal(vfs_append(file, bytes_of_text("."), &err), OK);
    struct arena *arena = arena_new("request", 0);
    struct bytes content;
    assert_int_equal(vfs_get(vfs, "/log", 100, arena, &content, &err), OK);
    assert_true(bytes_equal(content, bytes_of_text("firstsec.")));
    arena_free(arena);
    vfs_fault_arm_forever(vfs, VFS_CALL_ANY, 1, EIO);
    for (int i = 0; i < 3; i++)
        assert_int_equal(vfs_sync(file, &err), STATUS_IO_FAILURE);
    vfs_fault_disarm(vfs);
    assert_int_equal(vfs_sync(file, &err), OK);
    assert_int_equal(vfs_fault_calls(vfs, VFS_CALL_SYNC), 4);
    assert_int_equal(vfs_fault_calls(vfs, VFS_CALL_WRITE), 4);
    assert_int_equal(vfs_fault_calls(vfs, VFS_CALL_ANY), 8);
    vfs_fault_reset(vfs);
    assert_int_equal(vfs_fault_calls(vfs, VFS_CALL_ANY), 0);
    enum vfs_call call;
    assert_true(vfs_fault_find("rename", &call));
    assert_int_equal(call, VFS_CALL_RENAME);
    assert_false(vfs_fault_find("eat", &call));
    vfs_close(file);
    vfs_fault_free(vfs);
    vfs_mem_free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_nth_call_fails_with_the_errno)};
    return cmocka_run_group_tests_name("base/vfs_fault", tests, NULL, NULL);
}
