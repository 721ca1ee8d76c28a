#include "sink/spark_metadata.h"

#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void lines_are_those_of_spark(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("request", 0);
    struct vfs *vfs = vfs_mem_new(NULL);
    struct buffer lines = {0};
    struct vfs_stat stat = {.size_bytes = 34, .mtime_us = 1795993771919999};
    spark_metadata_add(&lines, "/data/out a%b/p=\xc3\xa9/part-0", &stat);
    assert_int_equal(spark_metadata_put(vfs, "/data", 0, buffer_bytes(&lines), &err), OK);
    struct bytes content;
    assert_int_equal(vfs_get(vfs, "/data/_spark_metadata/0", 1000, arena, &content, &err), OK);
    assert_true(bytes_equal(
        content,
        bytes_of_text("v1\n{\"path\":\"file:///data/out%20a%25b/p=\xc3\xa9/part-0\",\"size\":34,"
                      "\"isDir\":false,\"modificationTime\":1795993771919,\"blockReplication\":1,"
                      "\"blockSize\":33554432,\"action\":\"add\"}")));
    vfs_mem_write(vfs, "/data/_spark_metadata/0", bytes_of_text("nonsense"), 0);
    assert_int_equal(spark_metadata_put(vfs, "/data", 9, buffer_bytes(&lines), &err),
                     STATUS_MALFORMED_LOG_FILE);
    buffer_fini(&lines);
    vfs_mem_free(vfs);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_those_of_spark)};
    return cmocka_run_group_tests_name("sink/spark_metadata", tests, NULL, NULL);
}
