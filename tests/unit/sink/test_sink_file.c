#include "base/buffer.h"
#include "base/failpoint.h"
#include "base/path.h"
#include "base/vfs_fault.h"
#include "base/vfs_mem.h"
#include "sink/part_writer.h"
#include "sink/sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define QUERY_ID "11111111-2222-4333-8444-555555555555"
#define OTHER_ID "99999999-2222-4333-8444-555555555555"

/* One sink over a disk in memory that can fail and die. */
struct fixture {
    struct vfs *mem;
    struct vfs *vfs; /* fails when armed */
    struct arena *query;
    struct option items[4];
    struct options options;
    const struct type *schema;
    const char *partition_by[2];
    size_t partition_count;
    struct sink *sink;
    struct error err;
};

static struct fixture f;

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof f);
    f.err = (struct error)ERROR_INIT;
    f.mem = vfs_mem_new(NULL);
    f.vfs = vfs_fault_new(f.mem);
    f.query = arena_new("query", 0);
    f.items[0] = (struct option){"path", "/out"};
    f.options = (struct options){.items = f.items, .count = 1};
    const struct type_field fields[] = {
        {.name = "n", .type = type_simple(TYPE_LONG), .nullable = true},
        {.name = "k", .type = type_simple(TYPE_STRING), .nullable = true},
    };
    f.schema = type_struct(f.query, fields, 2);
    failpoint_reset();
    return 0;
}

static void close_sink(void)
{
    if (f.sink != NULL)
        f.sink->ops->close(f.sink);
    f.sink = NULL;
}

static int tear_down(void **state)
{
    (void)state;
    close_sink();
    arena_free(f.query);
    vfs_fault_free(f.vfs);
    vfs_mem_free(f.mem);
    failpoint_reset();
    failpoint_set_crash_handler(NULL, NULL);
    return 0;
}

static enum status open_as(const char *query_id)
{
    struct sink_config config = {
        .name = "q",
        .query_id = query_id,
        .format = "json",
        .options = &f.options,
        .schema = f.schema,
        .partition_by = f.partition_by,
        .partition_by_count = f.partition_count,
        .mode = MODE_APPEND,
        .time_zone = "UTC",
        .vfs = f.vfs,
        .state_dir = "/cp/sink",
    };
    return sink_find("json")->open(f.query, &config, &f.sink, &f.err);
}

/* The rows of batch b are numbered through its tasks: n = 100 * b, ... */
static enum status write_task(int64_t batch_id, uint32_t task, uint32_t rows)
{
    struct batch *batch = NULL;
    TRY(batch_new(f.query, f.schema, rows, &batch, &f.err));
    for (uint32_t i = 0; i < rows; i++) {
        VECTOR_VALUES(int64_t, batch->columns[0])[i] = 100 * batch_id + (int64_t)rows * task + i;
        VECTOR_VALUES(struct bytes, batch->columns[1])[i] = bytes_of_text(i % 2 ? "odd" : "a/b");
        if (f.schema->field_count > 2)
            VECTOR_VALUES(struct bytes, batch->columns[2])[i] = bytes_of_text("0");
    }
    TRY(batch_receive(f.sink->ops->writer(f.sink, task), batch, &f.err));
    return f.sink->ops->task_finish(f.sink, task, &f.err);
}

/* A batch as the batch loop runs it; *due tells whether there is something to commit. */
static enum status stage_batch(int64_t batch_id, uint32_t tasks, uint32_t rows, bool *due)
{
    uint64_t total = 0;
    TRY(f.sink->ops->begin(f.sink, batch_id, tasks, &f.err));
    for (uint32_t t = 0; t < tasks; t++) {
        if (rows > 0)
            TRY(write_task(batch_id, t, rows));
        else
            TRY(f.sink->ops->task_finish(f.sink, t, &f.err));
    }
    TRY(f.sink->ops->stage(f.sink, due, &total, &f.err));
    assert_int_equal(total, (uint64_t)tasks * rows);
    return OK;
}

static enum status run_batch(int64_t batch_id, uint32_t tasks, uint32_t rows)
{
    bool due = false;
    TRY(stage_batch(batch_id, tasks, rows, &due));
    return due ? f.sink->ops->commit(f.sink, batch_id, &f.err) : OK;
}

struct listing {
    struct buffer text;
    uint64_t lines;
    uint64_t hidden;
};

static void list_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct listing *listing = arg;
    const char *name = path_basename(path);
    if (stat->kind == VFS_DIR)
        return;
    if (name[0] == '.') {
        listing->hidden++;
        return;
    }
    struct bytes content;
    assert_int_equal(vfs_get(f.mem, path, 1 << 20, f.query, &content, &f.err), OK);
    for (size_t i = 0; i < content.size_bytes; i++)
        listing->lines += content.data[i] == '\n';
    buffer_printf(&listing->text, "%s\n", path + strlen("/out/"));
}

/* Lines in all visible files: every row is one. */
static uint64_t visible_rows(void)
{
    struct listing listing = {0};
    vfs_mem_walk(f.mem, "/out", list_file, &listing);
    buffer_fini(&listing.text);
    return listing.lines;
}

static void assert_files(const char *want)
{
    struct listing listing = {0};
    vfs_mem_walk(f.mem, "/out", list_file, &listing);
    assert_string_equal(buffer_text(&listing.text), want);
    buffer_fini(&listing.text);
}

static int64_t last_batch(void)
{
    int64_t batch_id = 0;
    assert_int_equal(f.sink->ops->last_batch(f.sink, &batch_id, &f.err), OK);
    return batch_id;
}

static void files_appear_at_commit(void **state)
{
    (void)state;
    bool due = false;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_string_equal(f.sink->ops->description(f.sink), "FileSink[file:/out]");
    assert_int_equal(last_batch(), NO_BATCH);
    assert_int_equal(stage_batch(0, 2, 3, &due), OK);
    assert_true(due);
    assert_files("");
    assert_int_equal(f.sink->ops->commit(f.sink, 0, &f.err), OK);
    assert_files("part-00000-" QUERY_ID "-0000000000-c000.json\n"
                 "part-00001-" QUERY_ID "-0000000000-c000.json\n");
    assert_int_equal(visible_rows(), 6);
    assert_int_equal(last_batch(), 0);
    assert_int_equal(f.sink->ops->commit(f.sink, 0, &f.err), OK);
    assert_int_equal(stage_batch(1, 2, 0, &due), OK);
    assert_false(due);
    assert_int_equal(visible_rows(), 6);
    assert_int_equal(run_batch(2, 1, 1), OK);
    vfs_mem_crash(f.mem, 0);
    close_sink();
    assert_int_equal(visible_rows(), 7);
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(last_batch(), 0); /* the marker is durable with the next commit */
}

static void a_batch_costs_few_syncs(void **state)
{
    (void)state;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 1, 3), OK);
    uint64_t before = vfs_mem_syncs(f.mem);
    assert_int_equal(run_batch(1, 1, 3), OK);
    assert_int_equal(vfs_mem_syncs(f.mem) - before, 2); /* the file, the directory */
    before = vfs_mem_syncs(f.mem);
    assert_int_equal(run_batch(2, 1, 0), OK);
    assert_int_equal(vfs_mem_syncs(f.mem) - before, 0);
}

static void partition_columns_become_directories(void **state)
{
    (void)state;
    f.partition_by[0] = "K";
    f.partition_count = 1;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 1, 3), OK);
    assert_files("k=a%2Fb/part-00000-" QUERY_ID "-0000000000.c000.json\n"
                 "k=odd/part-00000-" QUERY_ID "-0000000000.c000.json\n");
    struct bytes content;
    assert_int_equal(vfs_get(f.mem, "/out/k=a%2Fb/part-00000-" QUERY_ID "-0000000000.c000.json",
                             1000, f.query, &content, &f.err),
                     OK);
    assert_true(bytes_equal(content, bytes_of_text("{\"n\":0}\n{\"n\":2}\n")));
}

static void names_are_escaped_as_spark_does(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *want;
    } cases[] = {
        {"a b", "p=a b"},           {"a%b", "p=a%25b"},       {"}<|", "p=}<|"},
        {"{[^", "p=%7B%5B%5E"},     {"a:b=c", "p=a%3Ab%3Dc"}, {"", "p=__HIVE_DEFAULT_PARTITION__"},
        {"\xc3\xa9", "p=\xc3\xa9"},
    };
    struct buffer out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer_clear(&out);
        part_escape(&out, "p", bytes_of_text(cases[i].value), false);
        assert_string_equal(buffer_text(&out), cases[i].want);
    }
    for (unsigned byte = 0; byte < 256;
         byte++) { /* a name can hold it, and no value is another's */
        uint8_t text[] = {'a', (uint8_t)byte, 'b'};
        buffer_clear(&out);
        part_escape(&out, "p", bytes_of(text, sizeof text), false);
        struct bytes name = buffer_bytes(&out);
        bool as_it_is = name.size_bytes == 5;
        assert_true(as_it_is ? name.data[3] == byte && byte != 0 && byte != '/' && byte != '%'
                             : strtoul(buffer_text(&out) + 4, NULL, 16) == (byte << 4 | 0xb));
    }
    buffer_clear(&out);
    part_escape(&out, "p/q", bytes_of(NULL, 0), true);
    assert_string_equal(buffer_text(&out), "p%2Fq=__HIVE_DEFAULT_PARTITION__");
    buffer_fini(&out);
}

static void a_file_has_at_most_its_records(void **state)
{
    (void)state;
    f.items[f.options.count++] = (struct option){"maxRecordsPerFile", "2"};
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 1, 5), OK);
    assert_files("part-00000-" QUERY_ID "-0000000000-c000.json\n"
                 "part-00000-" QUERY_ID "-0000000000-c001.json\n"
                 "part-00000-" QUERY_ID "-0000000000-c002.json\n");
    assert_int_equal(visible_rows(), 5);
}

/* Row after row another directory; the task is not finished. */
static void write_in_turn(uint32_t directories, uint32_t rows, struct bytes text)
{
    struct batch *batch = NULL;
    for (uint32_t done = 0; done < rows; done += batch->rows) {
        uint32_t count = rows - done < BATCH_ROWS_MAX ? rows - done : BATCH_ROWS_MAX;
        assert_int_equal(batch_new(f.query, f.schema, count, &batch, &f.err), OK);
        for (uint32_t i = 0; i < count; i++) {
            VECTOR_VALUES(int64_t, batch->columns[0])[i] = (done + i) % directories;
            VECTOR_VALUES(struct bytes, batch->columns[1])[i] = text;
        }
        assert_int_equal(batch_receive(f.sink->ops->writer(f.sink, 0), batch, &f.err), OK);
    }
}

static void count_file(void *arg, const char *path, const struct vfs_stat *stat)
{
    if (stat->kind != VFS_DIR && path_basename(path)[0] == 'p')
        ++*(uint64_t *)arg;
}

static uint64_t end_of_turns(uint64_t rows)
{
    bool due = false;
    uint64_t files = 0, total = 0;
    assert_int_equal(f.sink->ops->task_finish(f.sink, 0, &f.err), OK);
    assert_int_equal(f.sink->ops->stage(f.sink, &due, &total, &f.err), OK);
    assert_int_equal(total, rows);
    assert_int_equal(f.sink->ops->commit(f.sink, 0, &f.err), OK);
    vfs_mem_walk(f.mem, "/out", count_file, &files);
    assert_int_equal(visible_rows(), rows);
    return files;
}

static void begin_turns(void)
{
    f.partition_by[0] = "n";
    f.partition_count = 1;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(f.sink->ops->begin(f.sink, 0, 1, &f.err), OK);
}

static void rows_of_many_directories_in_turn_are_few_files(void **state)
{
    (void)state;
    begin_turns();
    write_in_turn(700, 10000, bytes_of_text("x"));
    assert_int_equal(end_of_turns(10000), 700);
}

/* Each batch has all directories, and 1,024 of them are open. */
static void of_very_many_directories_the_least_used_end(void **state)
{
    (void)state;
    begin_turns();
    for (uint32_t i = 0; i < 3; i++)
        write_in_turn(1500, 3000, bytes_of_text("x"));
    assert_int_equal(end_of_turns(9000), 1500 + 2 * (1500 - 1024));
}

/* 256 may have something on disk. */
static void directories_that_have_files_are_few(void **state)
{
    (void)state;
    struct buffer text = {0};
    begin_turns();
    for (size_t i = 0; i < 270000; i++)
        buffer_add_byte(&text, 'x');
    write_in_turn(300, 300, buffer_bytes(&text));
    write_in_turn(300, 3000, bytes_of_text("y"));
    assert_int_equal(end_of_turns(3300), 300 + 300 - 256);
    buffer_fini(&text);
}

static void freeze_disk(void *arg, uint64_t torn_bytes)
{
    (void)torn_bytes;
    vfs_mem_freeze(arg);
}

/* Dies at each failpoint in turn; the batch is run again, with another number of tasks, unless the
 * sink says that it has it. */
static void sweep_crashes(void)
{
    failpoint_set_crash_handler(freeze_disk, f.mem);
    uint64_t crashes = 0;
    for (uint64_t hit = 1;; hit++) {
        failpoint_reset();
        assert_int_equal(vfs_remove_tree(f.mem, "/out", &f.err), OK);
        assert_int_equal(vfs_sync_dir(f.mem, "/", &f.err), OK);
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(run_batch(0, 2, 3), OK);
        failpoint_reset();
        failpoint_arm_any(NULL, &(struct failpoint_arming){.action = FAILPOINT_CRASH, .hit = hit});
        enum status status = run_batch(1, 3, 4);
        bool fired = failpoint_fired();
        assert_int_equal(status, fired ? STATUS_FAILPOINT_REACHED : OK);
        failpoint_reset();
        close_sink();
        vfs_mem_crash(f.mem, (size_t)hit);
        assert_int_equal(open_as(QUERY_ID), OK);
        if (last_batch() < 1)
            assert_int_equal(run_batch(1, 2, 6), OK);
        assert_int_equal(last_batch(), 1);
        assert_int_equal(visible_rows(), 6 + 12);
        close_sink();
        if (!fired)
            break;
        crashes++;
    }
    if (failpoint_available())
        assert_true(crashes >= 6);
}

static void no_crash_loses_or_repeats_a_row(void **state)
{
    (void)state;
    sweep_crashes();
}

static void no_crash_loses_or_repeats_a_row_of_a_partition(void **state)
{
    (void)state;
    f.partition_by[0] = "k";
    f.partition_count = 1;
    sweep_crashes();
}

static void no_disk_fault_loses_or_repeats_a_row(void **state)
{
    (void)state;
    uint64_t faults = 0;
    for (uint64_t nth = 1;; nth++) {
        assert_int_equal(vfs_remove_tree(f.mem, "/out", &f.err), OK);
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(run_batch(0, 2, 3), OK);
        vfs_fault_arm(f.vfs, VFS_CALL_ANY, nth, ENOSPC);
        enum status status = run_batch(1, 3, 4);
        bool fired = vfs_fault_fired(f.vfs);
        vfs_fault_disarm(f.vfs);
        assert_int_equal(status, fired ? STATUS_DISK_FULL : OK);
        f.sink->ops->abort(f.sink);
        close_sink();
        assert_int_equal(open_as(QUERY_ID), OK);
        if (last_batch() < 1)
            assert_int_equal(run_batch(1, 2, 6), OK);
        assert_int_equal(visible_rows(), 6 + 12);
        close_sink();
        if (!fired)
            break;
        faults++;
    }
    assert_true(faults >= 10);
}

/* Which rows a reader sees who lists the directory at this moment: none twice. */
struct seen_rows {
    bool rows[1000];
    uint64_t count;
};

static void see_rows(void *arg, const char *path, const struct vfs_stat *stat)
{
    struct seen_rows *seen = arg;
    struct bytes content;
    if (stat->kind == VFS_DIR || path_basename(path)[0] == '.')
        return;
    assert_int_equal(vfs_get(f.mem, path, 1 << 20, f.query, &content, &f.err), OK);
    const char *text = arena_strndup(f.query, content.data, content.size_bytes);
    for (const char *at = strstr(text, "\"n\":"); at != NULL; at = strstr(at + 1, "\"n\":")) {
        long n = strtol(at + 4, NULL, 10);
        assert_true(n >= 0 && n < 1000);
        assert_false(seen->rows[n]);
        seen->rows[n] = true;
        seen->count++;
    }
}

static struct seen_rows look(void)
{
    struct seen_rows seen = {0};
    vfs_mem_walk(f.mem, "/out", see_rows, &seen);
    return seen;
}

/* From now on every call fails. */
static void lose_disk(void *arg, uint64_t torn_bytes)
{
    (void)torn_bytes;
    vfs_fault_arm_forever(arg, VFS_CALL_ANY, 1, EIO);
}

/* Batch 1 ends in its commit at passing `hit` of the failpoint, as if the process had died: what it
 * has renamed is visible.  False: it came through. */
static bool die_in_commit(uint64_t hit)
{
    failpoint_reset();
    failpoint_set_crash_handler(lose_disk, f.vfs);
    assert_int_equal(vfs_remove_tree(f.mem, "/out", &f.err), OK);
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 2, 3), OK);
    failpoint_arm(FAILPOINT_AT_mid_commit,
                  &(struct failpoint_arming){.action = FAILPOINT_CRASH, .hit = hit});
    (void)run_batch(1, 3, 4);
    bool fired = failpoint_fired();
    close_sink();
    vfs_fault_disarm(f.vfs);
    failpoint_reset();
    error_clear(&f.err);
    return fired;
}

/* Every rerun is stopped after each of its calls that change the disk, and a reader looks. */
static void watch_reruns(uint32_t tasks, uint32_t rows)
{
    uint64_t looks = 0;
    bool same = tasks == 3;
    for (uint64_t hit = 1; die_in_commit(hit); hit++)
        for (uint64_t nth = 1;; nth++) {
            assert_true(die_in_commit(hit));
            struct seen_rows before = look();
            vfs_fault_arm_forever(f.vfs, VFS_CALL_ANY, nth, EIO);
            if (open_as(QUERY_ID) == OK)
                (void)run_batch(1, tasks, rows);
            bool fired = vfs_fault_fired(f.vfs);
            struct seen_rows after = look();
            for (size_t n = 0; same && n < 1000; n++)
                assert_true(after.rows[n] || !before.rows[n]);
            close_sink();
            vfs_fault_disarm(f.vfs);
            error_clear(&f.err);
            looks++;
            if (!fired) {
                assert_int_equal(after.count, 6 + 12);
                break;
            }
        }
    if (failpoint_available())
        assert_true(looks > 30);
}

static void no_reader_sees_a_row_twice_while_a_batch_runs_again(void **state)
{
    (void)state;
    watch_reruns(2, 6);
    f.partition_by[0] = "k";
    f.partition_count = 1;
    watch_reruns(2, 6);
}

static void what_a_rerun_makes_again_stays_visible(void **state)
{
    (void)state;
    watch_reruns(3, 4);
    f.partition_by[0] = "k";
    f.partition_count = 1;
    watch_reruns(3, 4);
}

static void what_a_rerun_without_rows_had_shown_goes(void **state)
{
    (void)state;
    bool due = false;
    if (!die_in_commit(2))
        return;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(last_batch(), 0);
    assert_true(visible_rows() > 6);
    assert_int_equal(stage_batch(1, 1, 0, &due), OK);
    assert_true(due);
    assert_int_equal(f.sink->ops->commit(f.sink, 1, &f.err), OK);
    assert_int_equal(visible_rows(), 6);
    assert_int_equal(stage_batch(2, 1, 0, &due), OK);
    assert_false(due);
}

/* The directory of the second partition cannot be made, for a file has its name. */
static void a_commit_that_fails_half_way_shows_nothing(void **state)
{
    (void)state;
    f.partition_by[0] = "k";
    f.partition_count = 1;
    assert_int_equal(open_as(QUERY_ID), OK);
    vfs_mem_write(f.mem, "/out/k=odd", bytes_of_text("not a directory"), 0);
    assert_int_not_equal(run_batch(0, 2, 2), OK);
    error_clear(&f.err);
    assert_files("k=odd\n");
    close_sink();
    vfs_mem_delete(f.mem, "/out/k=odd");
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(last_batch(), NO_BATCH);
    assert_int_equal(run_batch(0, 2, 2), OK);
    assert_int_equal(visible_rows(), 4);
}

/* Each rename of the commit fails in turn: those before it are taken back. */
static void a_rename_that_fails_shows_nothing(void **state)
{
    (void)state;
    assert_int_equal(open_as(QUERY_ID), OK);
    for (uint64_t nth = 1; nth <= 3; nth++) {
        bool due = false;
        assert_int_equal(stage_batch(0, 3, 2, &due), OK);
        vfs_fault_arm(f.vfs, VFS_CALL_RENAME, nth, EIO);
        assert_int_not_equal(f.sink->ops->commit(f.sink, 0, &f.err), OK);
        vfs_fault_disarm(f.vfs);
        error_clear(&f.err);
        assert_files("");
    }
    assert_int_equal(run_batch(0, 3, 2), OK);
    assert_int_equal(visible_rows(), 6);
}

/* Hidden files are easily left behind when a directory is copied. */
static void a_lost_marker_costs_no_rows(void **state)
{
    (void)state;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 2, 3), OK);
    assert_int_equal(run_batch(1, 2, 3), OK);
    close_sink();
    vfs_mem_delete(f.mem, "/out/.tidemill-" QUERY_ID "-1");
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(last_batch(), NO_BATCH);
    assert_int_equal(run_batch(2, 1, 1), OK);
    assert_int_equal(visible_rows(), 13);
}

/* When the marker says batch 1, its files are durable: whatever a disk does to names that were not
 * synced. */
static void a_marker_is_never_ahead(void **state)
{
    (void)state;
    bool due = false;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 2, 3), OK);
    assert_int_equal(stage_batch(1, 2, 3, &due), OK);
    vfs_fault_arm(f.vfs, VFS_CALL_RENAME, 3, EIO); /* two files, the marker */
    assert_int_not_equal(f.sink->ops->commit(f.sink, 1, &f.err), OK);
    assert_true(vfs_fault_fired(f.vfs));
    vfs_fault_disarm(f.vfs);
    error_clear(&f.err);
    close_sink();
    vfs_mem_crash(f.mem, 0);
    assert_int_equal(visible_rows(), 12);
}

/* A loss of power: COMMIT(2) and the files of 2 are there, the marker is that of 0. */
static void a_marker_behind_its_files_costs_no_rows(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(vfs_remove_tree(f.mem, "/out", &f.err), OK);
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(run_batch(0, 2, 3), OK);
        assert_int_equal(run_batch(2, 2, 3), OK);
        close_sink();
        vfs_mem_crash(f.mem, 0);
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(last_batch(), 0);
        if (again > 0)
            assert_int_equal(run_batch(2, 3, 2), OK); /* as if the log had lost the COMMIT */
        assert_int_equal(visible_rows(), 12);
        assert_int_equal(run_batch(3, 1, 4), OK);
        assert_int_equal(visible_rows(), 16);
        close_sink();
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(last_batch(), 3);
        close_sink();
    }
}

/* Made by somebody who died before they were synced. */
static void directories_that_are_there_become_durable(void **state)
{
    (void)state;
    const struct type_field fields[] = {
        {.name = "n", .type = type_simple(TYPE_LONG), .nullable = true},
        {.name = "k", .type = type_simple(TYPE_STRING), .nullable = true},
        {.name = "p", .type = type_simple(TYPE_STRING), .nullable = true},
    };
    f.schema = type_struct(f.query, fields, 3);
    f.partition_by[0] = "k";
    f.partition_by[1] = "p";
    for (size_t columns = 0; columns <= 2; columns++) {
        f.partition_count = columns;
        assert_int_equal(vfs_remove_tree(f.mem, "/a", &f.err), OK);
        assert_int_equal(vfs_sync_dir(f.mem, "/", &f.err), OK);
        f.items[0].value = "/a/b/out";
        vfs_mem_make_dirs_unsynced(f.mem, columns == 2 ? "/a/b/out/k=odd/p=0" : "/a/b/out/k=odd");
        assert_int_equal(open_as(QUERY_ID), OK);
        assert_int_equal(run_batch(0, 1, 3), OK);
        close_sink();
        vfs_mem_crash(f.mem, 0);
        struct seen_rows seen = {0};
        vfs_mem_walk(f.mem, "/a", see_rows, &seen);
        assert_int_equal(seen.count, 3);
    }
}

static void another_query_is_refused(void **state)
{
    (void)state;
    assert_int_equal(open_as(QUERY_ID), OK);
    assert_int_equal(run_batch(0, 1, 1), OK);
    close_sink();
    assert_int_equal(open_as(OTHER_ID), STATUS_SINK_PATH_IN_USE);
    assert_string_equal(error_param(&f.err, "queryId"), QUERY_ID);
}

static void spark_finds_its_log(void **state)
{
    (void)state;
    f.items[f.options.count++] = (struct option){"sparkMetadata", "true"};
    assert_int_equal(open_as(QUERY_ID), OK);
    for (int64_t batch_id = 0; batch_id < 12; batch_id++)
        assert_int_equal(run_batch(batch_id, 1, batch_id == 3 ? 0 : 1), OK);
    struct bytes content;
    assert_int_equal(vfs_get(f.mem, "/out/_spark_metadata/3", 1000, f.query, &content, &f.err), OK);
    assert_true(bytes_equal(content, bytes_of_text("v1")));
    assert_int_equal(
        vfs_get(f.mem, "/out/_spark_metadata/9.compact", 10000, f.query, &content, &f.err), OK);
    uint32_t lines = 0;
    for (size_t i = 0; i < content.size_bytes; i++)
        lines += content.data[i] == '\n';
    assert_int_equal(lines, 9);
    assert_true(vfs_exists(f.mem, "/out/_spark_metadata/11"));
}

static void retention_needs_the_log(void **state)
{
    (void)state;
    f.items[f.options.count++] = (struct option){"retention", "1h"};
    assert_int_equal(open_as(QUERY_ID), STATUS_INVALID_OPTION_VALUE);
    error_clear(&f.err);
    f.items[f.options.count++] = (struct option){"sparkMetadata", "true"};
    assert_int_equal(open_as(QUERY_ID), OK);
    close_sink();
    f.items[1].value = "an hour";
    assert_int_equal(open_as(QUERY_ID), STATUS_INVALID_OPTION_VALUE);
    error_clear(&f.err);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    f.partition_by[0] = "zz";
    f.partition_count = 1;
    assert_int_equal(open_as(QUERY_ID), STATUS_SINK_COLUMN_NOT_FOUND);
    f.partition_by[0] = "k";
    f.partition_by[1] = "K";
    f.partition_count = 2;
    assert_int_equal(open_as(QUERY_ID), STATUS_COLUMN_ALREADY_EXISTS);
    f.partition_by[1] = "n";
    assert_int_equal(open_as(QUERY_ID), STATUS_ALL_PARTITION_COLUMNS_NOT_ALLOWED);
    f.partition_count = 0;
    f.items[1] = (struct option){"compresion", "gzip"};
    f.options.count = 2;
    assert_int_equal(open_as(QUERY_ID), STATUS_UNKNOWN_OPTION);
    f.items[0].value = "";
    f.options.count = 1;
    assert_int_equal(open_as(QUERY_ID), STATUS_OPTION_REQUIRED);
    f.items[0].value = "hdfs://x/y";
    assert_int_equal(open_as(QUERY_ID), STATUS_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_appear_at_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_costs_few_syncs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partition_columns_become_directories, set_up, tear_down),
        cmocka_unit_test(names_are_escaped_as_spark_does),
        cmocka_unit_test_setup_teardown(a_file_has_at_most_its_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_many_directories_in_turn_are_few_files, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_very_many_directories_the_least_used_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(directories_that_have_files_are_few, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_crash_loses_or_repeats_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_crash_loses_or_repeats_a_row_of_a_partition, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_disk_fault_loses_or_repeats_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_reader_sees_a_row_twice_while_a_batch_runs_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_rerun_makes_again_stays_visible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_commit_that_fails_half_way_shows_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_rename_that_fails_shows_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_marker_costs_no_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_rerun_without_rows_had_shown_goes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_marker_is_never_ahead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_marker_behind_its_files_costs_no_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories_that_are_there_become_durable, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_query_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spark_finds_its_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(retention_needs_the_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("sink/sink_file", tests, NULL, NULL);
}
