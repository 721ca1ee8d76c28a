#include "sink/spark_metadata.h"

#include "base/vfs_mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void lines_are_those_of_spark(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct arena *arena = arena_new("request", 0);
    struct vfs *vfs = vfs_mem_new(NULL);
    struct buffer lines = {0};
    struct vfs_stat stat = {.size_bytes = 34, .mtime_us = 1795993771919999};
    struct sink_config config = {.vfs = vfs};
    struct spark_metadata log;
    spark_metadata_init(&log, &config, "/data");
    assert_int_equal(spark_metadata_open(&log, &err), OK);
    spark_metadata_add(&lines, "/data/out a%b/p=\xc3\xa9/part-0", &stat);
    assert_int_equal(spark_metadata_put(&log, 0, buffer_bytes(&lines), &err), OK);
    struct bytes content;
    assert_int_equal(vfs_get(vfs, "/data/_spark_metadata/0", 1000, arena, &content, &err), OK);
    assert_true(bytes_equal(
        content,
        bytes_of_text("v1\n{\"path\":\"file:///data/out%20a%25b/p=\xc3\xa9/part-0\",\"size\":34,"
                      "\"isDir\":false,\"modificationTime\":1795993771919,\"blockReplication\":1,"
                      "\"blockSize\":33554432,\"action\":\"add\"}")));
    vfs_mem_write(vfs, "/data/_spark_metadata/0", bytes_of_text("nonsense"), 0);
    assert_int_equal(spark_metadata_put(&log, 9, buffer_bytes(&lines), &err),
                     STATUS_MALFORMED_LOG_FILE);
    buffer_fini(&lines);
    vfs_mem_free(vfs);
    arena_free(arena);
}

struct names {
    struct buffer text;
};

static void add_name(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct names *names = arg;
    if (stat->kind == VFS_FILE)
        buffer_printf(&names->text, "%s ", strrchr(path, '/') + 1);
}

static void assert_names(struct vfs *vfs, const char *want)
{
    struct names names = {0};
    vfs_mem_walk(vfs, "/data/_spark_metadata", add_name, &names);
    assert_string_equal(buffer_text(&names.text), want);
    buffer_fini(&names.text);
}

/* Writes batches one second apart, each with an entry of its time; *last is the log file. */
static void put_batches(struct spark_metadata *log, struct clock *clock, int64_t from, int64_t to)
{
    struct error err = ERROR_INIT;
    for (int64_t id = from; id <= to; id++) {
        struct buffer lines = {0};
        clock_manual_set_wall(clock, (id + 1) * 1000000);
        struct vfs_stat stat = {.size_bytes = 1, .mtime_us = (id + 1) * 1000000};
        spark_metadata_add(&lines, "/data/part", &stat);
        assert_int_equal(spark_metadata_put(log, id, buffer_bytes(&lines), &err), OK);
        buffer_fini(&lines);
    }
}

static size_t count_entries(struct vfs *vfs, const char *path)
{
    struct error err = ERROR_INIT;
    struct bytes content;
    size_t count = 0;
    struct arena *arena = arena_new("request", 0);
    assert_int_equal(vfs_get(vfs, path, 1 << 20, arena, &content, &err), OK);
    for (size_t i = 0; i < content.size_bytes; i++)
        count += content.data[i] == '\n';
    arena_free(arena);
    return count;
}

static void the_log_is_compacted_and_cleaned(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct clock *clock = clock_manual_new(0);
    struct vfs *vfs = vfs_mem_new(clock);
    const struct option conf[] = {
        {"spark.sql.streaming.fileSink.log.compactInterval", "3"},
        {"spark.sql.streaming.fileSink.log.cleanupDelay", "6s"},
        {"spark.sql.streaming.minBatchesToRetain", "2"},
        {"spark.sql.streaming.fileSink.log.deletion", "false"},
    };
    struct sink_config config = {.vfs = vfs, .clock = clock, .conf = conf, .conf_count = 4};
    struct spark_metadata log;
    spark_metadata_init(&log, &config, "/data");
    assert_int_equal(spark_metadata_open(&log, &err), OK);
    put_batches(&log, clock, 0, 7);
    assert_names(vfs, "0 1 2.compact 3 4 5.compact 6 7 ");
    assert_int_equal(count_entries(vfs, "/data/_spark_metadata/5.compact"), 6);
    config.conf_count = 3; /* the log has two compact files: their interval stays */
    spark_metadata_init(&log, &config, "/data");
    log.interval = 7;
    assert_int_equal(spark_metadata_open(&log, &err), OK);
    assert_int_equal(log.interval, 3);
    log.retention_us = 4000000;
    put_batches(&log, clock, 8, 8);
    assert_names(vfs, "3 4 5.compact 6 7 8.compact ");
    assert_int_equal(count_entries(vfs, "/data/_spark_metadata/8.compact"), 5);
    put_batches(&log, clock, 9, 11);
    assert_names(vfs, "10 11.compact 6 7 8.compact 9 ");
    vfs_mem_free(vfs);
    clock_manual_free(clock);
}

static void an_interval_fits_the_log_that_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *compact; /* the one that is there */
        int64_t asked;
        int64_t want;
    } cases[] = {{"9", 10, 10},
                 {"9", 20, 10},
                 {"9", 3, 5},
                 {"11", 5, 6},
                 {"9", 5, 10},
                 {"6", 2, 7},
                 {"1022116", 2, 1009}, /* 1009 times 1013: the root is between */
                 {"2000005", 1000, 1000003},
                 {"1099511627688", 10, INT64_C(1099511627689)}, /* a prime: the search is bounded */
                 {"9223372036854775806", 10, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = ERROR_INIT;
        struct vfs *vfs = vfs_mem_new(NULL);
        struct sink_config config = {.vfs = vfs};
        struct spark_metadata log;
        char path[64];
        (void)snprintf(path, sizeof path, "/data/_spark_metadata/%s.compact", cases[i].compact);
        vfs_mem_write(vfs, path, bytes_of_text("v1"), 0);
        vfs_mem_write(vfs, "/data/_spark_metadata/x.tmp", bytes_of_text(""), 0);
        vfs_mem_write(vfs, "/data/_spark_metadata/09.compact", bytes_of_text("v1"), 0);
        vfs_mem_write(vfs, "/data/_spark_metadata/9223372036854775807.compact", bytes_of_text("v1"),
                      0);
        spark_metadata_init(&log, &config, "/data");
        log.interval = cases[i].asked;
        assert_int_equal(spark_metadata_open(&log, &err), OK);
        assert_int_equal(log.interval, cases[i].want);
        vfs_mem_free(vfs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_spark),
        cmocka_unit_test(the_log_is_compacted_and_cleaned),
        cmocka_unit_test(an_interval_fits_the_log_that_is_there),
    };
    return cmocka_run_group_tests_name("sink/spark_metadata", tests, NULL, NULL);
}
