#include "checkpoint/checkpoint_log.h"

#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A batch that changes more of one partition than a record holds fails with a name, and the log
 * goes on with the next one. */
static void a_record_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct vfs *vfs = vfs_mem_new(NULL);
    struct checkpoint_log *log = NULL;
    struct log_visitor visitor = {0};
    struct log_summary summary = {0};
    assert_int_equal(vfs_make_dirs(vfs, "/c/log", &err), OK);
    assert_int_equal(checkpoint_log_scan(vfs, "/c/log", &visitor, &summary, &err), OK);
    assert_int_equal(checkpoint_log_open(vfs, "/c/log", 1, &summary, &log, &err), OK);
    assert_int_equal(checkpoint_log_rotate(log, 0, &err), OK);
    struct bytes small = bytes_of_text("start");
    struct bytes large = bytes_of(small.data, (size_t)LOG_RECORD_PAYLOAD_MAX + 1);
    assert_int_equal(checkpoint_log_append(log, RECORD_START, -1, small, NULL, &err), OK);
    assert_int_equal(checkpoint_log_append(log, RECORD_STATE, 0, large, NULL, &err),
                     STATUS_LIMIT_EXCEEDED);
    error_clear(&err);
    assert_int_equal(checkpoint_log_append(log, RECORD_STATE, 0, small, NULL, &err), OK);
    checkpoint_log_close(log);
    vfs_mem_free(vfs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests_name("checkpoint/checkpoint_log", tests, NULL, NULL);
}
