#include "base/vfs_fault.h"
#include "base/vfs_mem.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/inspect.h"
#include "source/file_range.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DIR     "/cp"
#define RUN     "01234567-89ab-4cde-8f01-23456789abcd"
#define SEGMENT "/cp/log/00000000000000000000"

struct world {
    struct clock *clock;
    struct vfs *vfs;
    struct checkpoint *checkpoint;
    uint64_t segment_bytes;
    struct error err;
};

static enum status try_open(struct world *world, const char *query_id)
{
    struct checkpoint_config config = {
        .vfs = world->vfs,
        .clock = world->clock,
        .dir = DIR,
        .query_id = query_id,
        .query_name = "q",
        .run_id = RUN,
        .progress_keep = 3,
        .batches_keep = 2,
        .segment_bytes = world->segment_bytes,
    };
    return checkpoint_open(&config, &world->checkpoint, &world->err);
}

static void open_and_start(struct world *world)
{
    assert_int_equal(try_open(world, NULL), OK);
    assert_int_equal(checkpoint_start_run(world->checkpoint, 5, bytes_of_text("{}"), &world->err),
                     OK);
}

static void intent(struct world *world, int64_t batch_id)
{
    struct batch_intent it = {.batch_id = batch_id, .eviction_watermark_us = batch_id * 10};
    assert_int_equal(checkpoint_append_intent(world->checkpoint, &it, &world->err), OK);
}

static void changes(struct world *world, int64_t batch_id, bool due)
{
    struct batch_changes it = {.next_watermark_us = batch_id * 10 + 10, .sink_due = due};
    assert_int_equal(checkpoint_append_changes(world->checkpoint, batch_id, &it, &world->err), OK);
    assert_int_equal(checkpoint_sync(world->checkpoint, &world->err), OK);
}

static void commit(struct world *world, int64_t batch_id)
{
    assert_int_equal(checkpoint_append_commit(world->checkpoint, batch_id, &world->err), OK);
    assert_int_equal(
        checkpoint_append_progress(world->checkpoint, batch_id, bytes_of_text("{}"), &world->err),
        OK);
}

static void die(struct world *world, size_t torn_bytes)
{
    vfs_mem_freeze(world->vfs);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
    vfs_mem_crash(world->vfs, torn_bytes);
}

static struct recovery_facts facts(struct world *world)
{
    struct recovery_facts it = {.sink_last = SINK_CANNOT_TELL};
    checkpoint_facts(world->checkpoint, &it);
    return it;
}

static enum status verify(struct world *world, int64_t sink_last, struct buffer *out)
{
    return checkpoint_verify(world->vfs, DIR, sink_last, CHECKPOINT_TEXT, out, &world->err);
}

static int setup(void **state)
{
    struct world *world = test_calloc(1, sizeof *world);
    world->clock = clock_manual_new(1714521600000000);
    world->vfs = vfs_mem_new(world->clock);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    checkpoint_close(world->checkpoint);
    vfs_mem_free(world->vfs);
    clock_manual_free(world->clock);
    test_free(world);
    return 0;
}

static void a_new_checkpoint_is_empty(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    struct recovery_facts it = facts(world);
    assert_int_equal(it.last_intent, NO_BATCH);
    assert_null(checkpoint_last_run(world->checkpoint));
    assert_null(checkpoint_last_intent(world->checkpoint));
    assert_int_equal(checkpoint_epoch(world->checkpoint), 1);
}

static void what_was_synced_survives_a_crash_and_what_was_not_does_not(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    intent(world, 0);
    changes(world, 0, true);
    commit(world, 0);
    assert_int_equal(checkpoint_durable_commit(world->checkpoint), NO_BATCH);
    intent(world, 1);
    changes(world, 1, false);
    assert_int_equal(checkpoint_durable_commit(world->checkpoint), 0);
    commit(world, 1);
    intent(world, 2);
    die(world, 0);

    open_and_start(world);
    struct recovery_facts it = facts(world);
    assert_int_equal(it.last_intent, 1);
    assert_int_equal(it.last_changes, 1);
    assert_int_equal(it.last_commit, 0);
    assert_int_equal(it.last_sink_due, 0);
    assert_int_equal(checkpoint_last_intent(world->checkpoint)->eviction_watermark_us, 10);
    assert_int_equal(checkpoint_previous_intent(world->checkpoint)->batch_id, 0);
    assert_int_equal(checkpoint_last_changes(world->checkpoint)->next_watermark_us, 20);
    assert_int_equal(checkpoint_epoch(world->checkpoint), 2);
    assert_int_equal(checkpoint_progress_count(world->checkpoint), 1);
}

/* A worker is killed, its successor reads the intent from the page cache, then the power fails:
 * what the successor built on (files it noted as read) must not outlive the intent. */
static void what_a_start_has_read_is_durable(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    intent(world, 0);
    checkpoint_close(world->checkpoint); /* killed: nothing was synced, nothing is lost yet */
    open_and_start(world);
    assert_int_equal(facts(world).last_intent, 0);
    die(world, 0);

    open_and_start(world);
    assert_int_equal(facts(world).last_intent, 0);
}

static void what_cannot_be_looked_at_is_not_taken_for_missing(void **state)
{
    struct world *world = *state;
    struct vfs *mem = world->vfs;
    open_and_start(world);
    intent(world, 0);
    changes(world, 0, true);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
    world->vfs = vfs_fault_new(mem);
    uint64_t nth = 1;
    for (bool fired = true; fired; nth++) {
        vfs_fault_arm(world->vfs, VFS_CALL_LIST, nth, EIO);
        if (try_open(world, NULL) == OK) {
            assert_int_equal(facts(world).last_intent, 0);
            checkpoint_close(world->checkpoint);
        }
        world->checkpoint = NULL;
        error_clear(&world->err);
        fired = vfs_fault_fired(world->vfs);
        vfs_fault_disarm(world->vfs);
    }
    assert_true(nth > 4);
    vfs_fault_free(world->vfs);
    world->vfs = mem;
}

static void a_torn_tail_of_any_length_is_cut(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    for (size_t torn = 0; torn < 400; torn += 3) {
        struct recovery_facts before = facts(world);
        int64_t id = before.last_commit + 1;
        intent(world, id);
        changes(world, id, true);
        commit(world, id);
        die(world, torn);
        open_and_start(world);
        struct recovery_facts it = facts(world);
        assert_int_equal(it.last_changes, id);
        if (it.last_commit < id) {
            assert_int_equal(checkpoint_append_commit(world->checkpoint, id, &world->err), OK);
            assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
            checkpoint_close(world->checkpoint);
            open_and_start(world);
        }
    }
}

static void damage_in_what_was_durable_is_refused(void **state)
{
    struct world *world = *state;
    struct arena *arena = arena_new("test", 0);
    open_and_start(world);
    for (int64_t id = 0; id < 3; id++) {
        intent(world, id);
        changes(world, id, true);
        commit(world, id);
    }
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
    struct bytes content;
    assert_int_equal(vfs_get(world->vfs, SEGMENT, 1 << 20, arena, &content, &world->err), OK);
    uint8_t *copy = arena_new_object(arena, content.size_bytes);
    memcpy(copy, content.data, content.size_bytes);
    copy[100] ^= 1;
    vfs_mem_write(world->vfs, SEGMENT, bytes_of(copy, content.size_bytes), 0);
    assert_int_equal(try_open(world, NULL), STATUS_CHECKPOINT__CORRUPT);
    struct buffer out = {0};
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), STATUS_CHECKPOINT__CORRUPT);
    vfs_mem_write(world->vfs, SEGMENT, content, 0);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), OK);
    assert_int_equal(verify(world, 2, &out), OK);
    assert_int_equal(verify(world, 3, &out), STATUS_CHECKPOINT__INCONSISTENT); /* lost its end */
    error_clear(&world->err);
    static const char *const bad_epochs[] = {"x\n", "1x\n", "1", "\n", "", "4294967295\n"};
    for (size_t i = 0; i < sizeof bad_epochs / sizeof bad_epochs[0]; i++) {
        vfs_mem_write(world->vfs, DIR "/epoch", bytes_of_text(bad_epochs[i]), 0);
        assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), STATUS_CHECKPOINT__CORRUPT);
        assert_int_equal(try_open(world, NULL), STATUS_CHECKPOINT__CORRUPT);
    }
    vfs_mem_write(world->vfs, DIR "/epoch", bytes_of_text("1\n"), 0);
    assert_int_equal(checkpoint_show(world->vfs, DIR, CHECKPOINT_JSON, &out, &world->err), OK);
    buffer_fini(&out);
    open_and_start(world);
    assert_int_equal(facts(world).last_commit, 2);
    arena_free(arena);
}

static void what_a_source_lost_is_found_by_verify(void **state)
{
    struct world *world = *state;
    struct seen_files *seen = NULL;
    struct seen_mark mark = {0};
    struct buffer detail = {0}, out = {0};
    bool synced = false;
    open_and_start(world);
    const char *dir = DIR "/sources/0";
    assert_int_equal(seen_files_open(world->vfs, dir, INT64_MAX, &mark, &seen, &world->err), OK);
    seen_files_add(seen, bytes_of_text("/in/a"), 1);
    assert_int_equal(seen_files_flush(seen, &synced, &world->err), OK);
    assert_int_equal(seen_files_sync(seen, &world->err), OK);
    mark = seen_files_mark(seen);
    seen_files_close(seen);
    file_range_begin(&detail, "/in", &mark);
    struct intent_range range = {.range = {.detail = buffer_bytes(&detail)}};
    struct batch_intent it = {.sources = &range, .source_count = 1};
    assert_int_equal(checkpoint_append_intent(world->checkpoint, &it, &world->err), OK);
    changes(world, 0, true);
    commit(world, 0);
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), OK);
    vfs_mem_delete(world->vfs, DIR "/sources/0/seen-0.log");
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), STATUS_CHECKPOINT__CORRUPT);
    assert_string_equal(error_param(&world->err, "path"), DIR "/sources/0/seen-0.log");
    error_clear(&world->err);
    checkpoint_close(world->checkpoint);
    open_and_start(world);
    intent(world, 1); /* no source says anything in it */
    changes(world, 1, true);
    commit(world, 1);
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), OK);
    vfs_mem_write(world->vfs, DIR "/sources/0/seen", bytes_of_text("tidemill-seen 1\nlog"), 0);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), STATUS_CHECKPOINT__CORRUPT);
    assert_string_equal(error_param(&world->err, "path"), DIR "/sources/0/seen");
    buffer_fini(&detail);
    buffer_fini(&out);
}

static void a_damaged_snapshot_is_found_by_verify(void **state)
{
    struct world *world = *state;
    struct buffer out = {0};
    const char *dir = DIR "/state/snapshot-00000000000000000000";
    open_and_start(world);
    intent(world, 0);
    changes(world, 0, true);
    commit(world, 0);
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), OK);
    assert_int_equal(vfs_make_dirs(world->vfs, dir, &world->err), OK);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out), STATUS_CHECKPOINT__CORRUPT);
    assert_string_equal(error_param(&world->err, "path"), dir);
    assert_string_equal(error_param(&world->err, "reason"), "MANIFEST.tidemill is missing");
    assert_int_equal(
        vfs_make_dirs(world->vfs, DIR "/state/snapshot-00000000000000000001", &world->err), OK);
    assert_int_equal(verify(world, SINK_CANNOT_TELL, &out),
                     STATUS_CHECKPOINT__INCONSISTENT); /* the log has lost batch 1 */
    checkpoint_close(world->checkpoint);
    assert_int_equal(try_open(world, NULL), OK);
    assert_int_equal(facts(world).snapshots_end, 2);
    buffer_fini(&out);
}

static void a_held_or_foreign_checkpoint_is_refused(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    struct checkpoint *first = world->checkpoint;
    assert_int_equal(try_open(world, NULL), STATUS_CHECKPOINT__LOCKED);
    world->checkpoint = first;
    checkpoint_close(first);
    world->checkpoint = NULL;
    assert_int_equal(try_open(world, "99999999-89ab-4cde-8f01-23456789abcd"),
                     STATUS_CHECKPOINT__FOREIGN);
    world->checkpoint = NULL;
    assert_int_equal(try_open(world, NULL), OK);
}

static void a_log_without_its_identity_is_refused(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
    vfs_mem_delete(world->vfs, DIR "/identity.json");
    assert_int_equal(try_open(world, NULL), STATUS_STREAMING_CHECKPOINT_MISSING_METADATA_FILE);
}

static void a_log_that_was_removed_is_refused(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    intent(world, 0);
    changes(world, 0, true);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
    assert_int_equal(vfs_remove_tree(world->vfs, "/cp/log", &world->err), OK);
    assert_int_equal(try_open(world, NULL), STATUS_CHECKPOINT__CORRUPT);
}

static void a_directory_of_other_files_is_refused(void **state)
{
    struct world *world = *state;
    assert_int_equal(vfs_make_dirs(world->vfs, DIR, &world->err), OK);
    assert_int_equal(
        vfs_put(world->vfs, DIR "/letters.txt", bytes_of_text("dear"), false, &world->err), OK);
    assert_int_equal(try_open(world, NULL), STATUS_STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY);
    assert_string_equal(error_param(&world->err, "entry"), "letters.txt");
}

static void a_checkpoint_that_is_removed_under_its_run_is_named(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    assert_int_equal(checkpoint_check_fence(world->checkpoint, 0, &world->err), OK);
    assert_int_equal(vfs_remove(world->vfs, DIR "/epoch", &world->err), OK);
    assert_int_equal(checkpoint_check_fence(world->checkpoint, 0, &world->err),
                     STATUS_CHECKPOINT_NOT_FOUND);
    assert_non_null(strstr(world->err.text, "was removed while the query was running"));
}

static void a_newer_worker_fences_an_older_one(void **state)
{
    struct world *world = *state;
    open_and_start(world);
    intent(world, 0);
    assert_int_equal(checkpoint_check_fence(world->checkpoint, 0, &world->err), OK);
    vfs_mem_write(world->vfs, DIR "/epoch", bytes_of_text("2\n"), 0);
    assert_int_equal(checkpoint_check_fence(world->checkpoint, 0, &world->err),
                     STATUS_CONCURRENT_STREAM_LOG_UPDATE);
}

static void old_segments_go_and_the_rest_is_readable(void **state)
{
    struct world *world = *state;
    struct buffer big = {0};
    struct buffer out = {0};
    for (int i = 0; i < 6 << 20; i++)
        buffer_add_byte(&big, (uint8_t)(i % 251));
    open_and_start(world);
    for (int64_t id = 0; id < 20; id++) {
        intent(world, id);
        assert_int_equal(
            checkpoint_append_state(world->checkpoint, id, buffer_bytes(&big), &world->err), OK);
        changes(world, id, true);
        commit(world, id);
    }
    assert_false(vfs_exists(world->vfs, SEGMENT));
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    checkpoint_close(world->checkpoint);
    open_and_start(world);
    assert_int_equal(facts(world).last_commit, 19);
    assert_int_equal(checkpoint_progress_count(world->checkpoint), 3);
    const struct batch_request newest = {.batch_id = NO_BATCH, .before = NO_BATCH, .limit = 2};
    int64_t first = NO_BATCH;
    assert_int_equal(checkpoint_batches(world->vfs, DIR, &newest, &first, &out, &world->err), OK);
    assert_non_null(strstr(buffer_text(&out), "\"batchId\": 18, \"attempts\": 1"));
    buffer_fini(&out);
    buffer_fini(&big);
}

static void segments_are_as_small_as_wanted(void **state)
{
    struct world *world = *state;
    world->segment_bytes = 1;
    open_and_start(world);
    for (int64_t id = 0; id < 5; id++) {
        intent(world, id);
        changes(world, id, true);
        commit(world, id);
    }
    assert_false(vfs_exists(world->vfs, SEGMENT));
    assert_false(vfs_exists(world->vfs, "/cp/log/00000000000000000001"));
    assert_true(vfs_exists(world->vfs, "/cp/log/00000000000000000002"));
    assert_true(vfs_exists(world->vfs, "/cp/log/00000000000000000004"));
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    checkpoint_close(world->checkpoint);
    world->segment_bytes = 0; /* as it is set now */
    open_and_start(world);
    assert_int_equal(facts(world).last_commit, 4);
    assert_int_equal(checkpoint_first_batch(world->checkpoint), 2);
    intent(world, 5);
    assert_false(vfs_exists(world->vfs, "/cp/log/00000000000000000005"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_checkpoint_is_empty),
        TEST(what_was_synced_survives_a_crash_and_what_was_not_does_not),
        TEST(what_a_start_has_read_is_durable),
        TEST(what_cannot_be_looked_at_is_not_taken_for_missing),
        TEST(a_torn_tail_of_any_length_is_cut),
        TEST(damage_in_what_was_durable_is_refused),
        TEST(what_a_source_lost_is_found_by_verify),
        TEST(a_damaged_snapshot_is_found_by_verify),
        TEST(a_held_or_foreign_checkpoint_is_refused),
        TEST(a_log_without_its_identity_is_refused),
        TEST(a_log_that_was_removed_is_refused),
        TEST(a_directory_of_other_files_is_refused),
        TEST(a_checkpoint_that_is_removed_under_its_run_is_named),
        TEST(a_newer_worker_fences_an_older_one),
        TEST(old_segments_go_and_the_rest_is_readable),
        TEST(segments_are_as_small_as_wanted),
    };
    return cmocka_run_group_tests_name("checkpoint/checkpoint", tests, NULL, NULL);
}
