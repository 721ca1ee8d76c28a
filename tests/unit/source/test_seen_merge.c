/*
 * The merging of the list of files read: what it costs a batch, and what a crash, a failing disk
 * and damage do to it at every call that changes the disk.
 */
#include "source/seen_files.h"
#include "source/seen_run.h"

#include "base/vfs_fault.h"
#include "base/vfs_mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MEMORY_MAX       64
#define STEP             16
#define PER_BATCH        16
#define BATCHES          60
#define BATCHES_PER_SYNC 3
#define DIR              "/s/0"

static struct vfs *mem;
static struct vfs *vfs; /* faults around mem */
static struct error err;

/* What the disk was told; put_fault: this put (1 = the next) is done, and then fails. */
static const struct vfs_ops *real_ops;
static struct vfs_ops counted_ops;
static size_t appended_bytes;
static int put_fault;

static enum status counted_append(struct vfs_file *file, struct bytes content, struct error *e)
{
    appended_bytes += content.size_bytes;
    return real_ops->append(file, content, e);
}

static enum status lying_put(struct vfs *self, const char *path, struct bytes content,
                             bool exclusive, struct error *e)
{
    TRY(real_ops->put(self, path, content, exclusive, e));
    return put_fault > 0 && --put_fault == 0 ? vfs_error(e, path, EIO) : OK;
}

static int set_up(void **state)
{
    (void)state;
    mem = vfs_mem_new(NULL);
    real_ops = mem->ops;
    counted_ops = *real_ops;
    counted_ops.append = counted_append;
    counted_ops.put = lying_put;
    mem->ops = &counted_ops;
    vfs = vfs_fault_new(mem);
    put_fault = 0;
    err = (struct error)ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vfs_fault_free(vfs);
    vfs_mem_free(mem);
    error_clear(&err);
    return 0;
}

/* A query with a list of files read, and what must not be lost. */
struct query {
    struct seen_files *seen;
    struct seen_mark mark; /* what the intents say */
    int added;
    int durable; /* files that are */
};

static struct bytes name_of(char out[32], int i)
{
    (void)snprintf(out, 32, "/in/%d", i);
    return bytes_of_text(out);
}

static bool knows(const struct query *query, int i)
{
    char name[32];
    return !seen_files_is_new(query->seen, name_of(name, i), INT64_MAX);
}

static enum status open_query(struct query *query)
{
    error_clear(&err);
    TRY(seen_files_open(vfs, DIR, INT64_MAX, &query->mark, &query->seen, &err));
    seen_files_resize(query->seen, MEMORY_MAX, STEP);
    return OK;
}

static enum status write_batch(struct query *query, bool sync)
{
    bool synced = false;
    TRY(seen_files_flush(query->seen, &synced, &err));
    TRY(seen_files_merge(query->seen, &err));
    if (sync && !synced) {
        TRY(seen_files_sync(query->seen, &err));
        synced = true;
    }
    if (synced)
        query->durable = query->added;
    query->mark = seen_files_mark(query->seen);
    return OK;
}

static void add_files(struct query *query, int count)
{
    char name[32];
    for (int i = 0; i < count; i++, query->added++)
        seen_files_add(query->seen, name_of(name, query->added), query->added);
}

/* Runs up to BATCHES batches of files; retry: a batch that failed is tried again. */
static enum status run_query(struct query *query, bool retry)
{
    while (query->added < BATCHES * PER_BATCH) {
        add_files(query, PER_BATCH);
        bool sync = query->added / PER_BATCH % BATCHES_PER_SYNC == 0;
        enum status status = write_batch(query, sync);
        for (int tries = 0; retry && status != OK && tries < 3; tries++) {
            error_clear(&err);
            status = write_batch(query, sync);
        }
        TRY(status);
    }
    return OK;
}

static size_t files_with(const char *extension)
{
    struct arena *arena = arena_new("test", 0);
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    size_t found = 0;
    struct error ignored = ERROR_INIT;
    if (vfs_list(mem, DIR, arena, &entries, &count, &ignored) == OK)
        for (size_t i = 0; i < count; i++) {
            const char *dot = strrchr(entries[i].name, '.');
            found += dot != NULL && strcmp(dot, extension) == 0;
        }
    error_clear(&ignored);
    arena_free(arena);
    return found;
}

/* The death of the query; what was synced is there again, and nothing that never was. */
static void crash_and_check(struct query *query, size_t torn_bytes)
{
    error_clear(&err);
    if (torn_bytes == SIZE_MAX && vfs_sync_dir(mem, DIR, &err) != OK) /* by chance all is written */
        error_clear(&err);
    vfs_mem_freeze(mem);
    seen_files_close(query->seen);
    query->seen = NULL;
    vfs_fault_disarm(vfs);
    put_fault = 0;
    vfs_mem_crash(mem, torn_bytes);
    assert_int_equal(open_query(query), OK);
    for (int i = 0; i < query->durable; i++)
        assert_true(knows(query, i));
    for (int i = query->added; i < query->added + 100; i++)
        assert_false(knows(query, i));
    assert_int_equal(files_with(".run"), seen_files_runs(query->seen)); /* no leftovers */
    assert_true(files_with(".log") <= 1);
}

/* After a crash: the intents say again what was not durable, and the query goes on. */
static void go_on(struct query *query)
{
    query->added = query->durable;
    assert_int_equal(run_query(query, false), OK);
    for (int i = 0; i < query->added; i++)
        assert_true(knows(query, i));
    seen_files_close(query->seen);
}

/* From the nth change of the disk on nothing is done any more; false: there are not so many. */
static bool crash_at(uint64_t nth, size_t torn_bytes, size_t *while_merging)
{
    struct query query = {0};
    (void)set_up(NULL);
    vfs_fault_arm_forever(vfs, VFS_CALL_ANY, nth, EIO);
    enum status status = open_query(&query);
    size_t runs = 0;
    if (status == OK) {
        status = run_query(&query, false);
        runs = seen_files_runs(query.seen);
    }
    bool fired = vfs_fault_fired(vfs);
    assert_int_equal(status == OK, !fired);
    *while_merging += fired && files_with(".run") > runs;
    crash_and_check(&query, torn_bytes);
    go_on(&query);
    (void)tear_down(NULL);
    return fired;
}

static void a_crash_at_every_change_of_the_disk_loses_nothing(void **state)
{
    (void)state;
    static const size_t torn[] = {0, 13, SIZE_MAX};
    for (size_t t = 0; t < sizeof torn / sizeof *torn; t++) {
        size_t while_merging = 0;
        uint64_t nth = 1;
        while (crash_at(nth, torn[t], &while_merging))
            nth++;
        assert_true(nth > 200);
        assert_true(while_merging > 20);
    }
}

static void a_disk_that_fails_once_at_any_call_costs_a_merge_at_the_most(void **state)
{
    (void)state;
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        struct query query = {0};
        (void)set_up(NULL);
        assert_int_equal(open_query(&query), OK);
        vfs_fault_arm(vfs, VFS_CALL_ANY, nth, ENOSPC);
        assert_int_equal(run_query(&query, true), OK);
        fired = vfs_fault_fired(vfs);
        for (int i = 0; i < query.added; i++)
            assert_true(knows(&query, i));
        crash_and_check(&query, 0);
        go_on(&query);
        (void)tear_down(NULL);
    }
}

/* A manifest that is on the disk although writing it failed: with a crash soon after, and later. */
static void a_manifest_that_failed_but_is_there_loses_nothing(void **state)
{
    (void)state;
    bool fired = true;
    for (int nth = 1; fired; nth++)
        for (int after = 1; after <= 4; after++) {
            struct query query = {0};
            (void)set_up(NULL);
            assert_int_equal(open_query(&query), OK);
            put_fault = nth;
            enum status status = run_query(&query, false);
            fired = status != OK;
            error_clear(&err);
            assert_int_equal(vfs_sync_dir(mem, DIR, &err), OK); /* what was removed is gone */
            for (int i = 1; i < after && fired; i++) {
                assert_int_equal(write_batch(&query, true), OK);
                add_files(&query, 1);
            }
            crash_and_check(&query, 0);
            go_on(&query);
            (void)tear_down(NULL);
        }
}

static void a_batch_merges_no_more_than_in_proportion_to_its_files(void **state)
{
    (void)state;
    struct query query = {0};
    size_t most_runs = 0;
    size_t most_bytes = 0;
    assert_int_equal(open_query(&query), OK);
    for (int i = 0; i < 4000; i++) {
        bool synced = false;
        add_files(&query, 8);
        assert_int_equal(seen_files_flush(query.seen, &synced, &err), OK);
        appended_bytes = 0;
        assert_int_equal(seen_files_merge(query.seen, &err), OK);
        if (appended_bytes > most_bytes)
            most_bytes = appended_bytes;
        if (seen_files_runs(query.seen) > most_runs)
            most_runs = seen_files_runs(query.seen);
    }
    assert_int_equal(seen_files_count(query.seen), 32000);
    /* A merge of all 32,000 that ends before 12 runs have come reads 42 for each new file, and a
     * batch that made a run leaves its part to the next one. */
    assert_true(most_bytes > 0);
    assert_true(most_bytes <= (size_t)SEEN_ENTRY_BYTES * (2 * 8 * 42 + STEP + SEEN_RUNS_MAX));
    assert_true(most_runs > 2 && most_runs <= 32);
    crash_and_check(&query, 0);
    seen_files_close(query.seen);
}

/* Without merging there are never more runs than the manifest has room for. */
static void the_next_run_waits_when_there_are_too_many(void **state)
{
    (void)state;
    struct query query = {0};
    bool synced = false;
    assert_int_equal(open_query(&query), OK);
    for (int i = 0; i < 3 * SEEN_RUNS_MAX; i++) {
        add_files(&query, MEMORY_MAX);
        assert_int_equal(seen_files_flush(query.seen, &synced, &err), OK);
        assert_true(synced);
        query.durable = query.added;
        assert_true(seen_files_runs(query.seen) <= SEEN_RUNS_MAX);
    }
    query.mark = seen_files_mark(query.seen);
    crash_and_check(&query, 0);
    assert_int_equal(seen_files_count(query.seen), query.added);
    seen_files_close(query.seen);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* `count` entries of every `step`th key, with times from `mtime_us` on, as the run `generation`. */
static struct seen_run make_run(uint64_t generation, uint64_t count, uint64_t step,
                                int64_t mtime_us)
{
    char path[32];
    struct seen_merge *merge = NULL;
    struct seen_entry *entries = calloc(count, sizeof *entries);
    assert_non_null(entries);
    for (uint64_t i = 0; i < count; i++)
        entries[i] = (struct seen_entry){
            .high = i * step, .low = 1, .mtime_us = mtime_us + (int64_t)(i * step)};
    struct seen_run input = {.count = count, .entries = entries};
    struct seen_run run = {.generation = generation, .count = count};
    bool done = false;
    (void)snprintf(path, sizeof path, "/run-%llu", (unsigned long long)generation);
    assert_int_equal(seen_merge_begin(vfs, path, &input, 1, &merge, &err), OK);
    assert_int_equal(seen_merge_step(merge, UINT64_MAX, INT64_MIN, &done, &err), OK);
    assert_true(done);
    seen_merge_end(merge);
    assert_int_equal(seen_run_map(vfs, path, &run, &err), OK);
    assert_int_equal(seen_run_check(&run, path, &err), OK);
    free(entries);
    return run;
}

static void a_merge_in_steps_of_any_size_is_the_same(void **state)
{
    (void)state;
    struct seen_run inputs[3] = {make_run(1, 100, 2, 0), make_run(2, 60, 3, 1000),
                                 make_run(3, 40, 5, -1000)};
    for (uint64_t step = 1; step < 210; step += 7) {
        bool done = false;
        struct seen_merge *merge = NULL;
        assert_int_equal(seen_merge_begin(vfs, "/merged", inputs, 3, &merge, &err), OK);
        while (!done)
            assert_int_equal(seen_merge_step(merge, step, 30, &done, &err), OK);
        struct seen_run run = {.count = seen_merge_count(merge)};
        seen_merge_end(merge);
        assert_int_equal(seen_run_map(vfs, "/merged", &run, &err), OK);
        assert_int_equal(seen_run_check(&run, "/merged", &err), OK);
        uint64_t kept = 0;
        for (uint64_t i = 0; i < 400; i++) {
            struct seen_entry key = {.high = i, .low = 1};
            int64_t newest = i < 180 && i % 3 == 0 ? 1000 + (int64_t)i : (int64_t)i;
            bool there = (i < 180 && i % 3 == 0) || (i < 200 && i % 2 == 0 && i >= 30);
            const struct seen_entry *found = seen_run_find(&run, &key);
            assert_int_equal(found != NULL, there);
            kept += there;
            if (there)
                assert_int_equal(found->mtime_us, newest);
        }
        assert_int_equal(run.count, kept);
        vfs_unmap(run.map);
    }
    for (int i = 0; i < 3; i++)
        vfs_unmap(inputs[i].map);
}

static void damage_does_not_get_into_a_merged_run(void **state)
{
    (void)state;
    struct seen_run inputs[2] = {make_run(1, 100, 2, 0), make_run(2, 60, 3, 0)};
    for (int i = 0; i < 2; i++) {
        bool done = false;
        enum status status = OK;
        struct seen_merge *merge = NULL;
        inputs[i].crc ^= 1;
        assert_int_equal(seen_run_check(&inputs[i], "/run", &err), STATUS_CHECKPOINT__CORRUPT);
        error_clear(&err);
        assert_int_equal(seen_merge_begin(vfs, "/merged", inputs, 2, &merge, &err), OK);
        while (status == OK && !done)
            status = seen_merge_step(merge, 10, INT64_MIN, &done, &err);
        assert_int_equal(status, STATUS_CHECKPOINT__CORRUPT);
        error_clear(&err);
        seen_merge_end(merge);
        inputs[i].crc ^= 1;
    }
    for (int i = 0; i < 2; i++)
        vfs_unmap(inputs[i].map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_at_every_change_of_the_disk_loses_nothing),
        cmocka_unit_test(a_disk_that_fails_once_at_any_call_costs_a_merge_at_the_most),
        cmocka_unit_test(a_manifest_that_failed_but_is_there_loses_nothing),
        cmocka_unit_test_setup_teardown(a_batch_merges_no_more_than_in_proportion_to_its_files,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_next_run_waits_when_there_are_too_many, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_merge_in_steps_of_any_size_is_the_same, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(damage_does_not_get_into_a_merged_run, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source/seen_merge", tests, NULL, NULL);
}
