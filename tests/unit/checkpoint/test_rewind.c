#include "base/failpoint.h"
#include "base/vfs_mem.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/inspect.h"
#include "checkpoint/rewind.h"
#include "checkpoint/snapshot_list.h"
#include "state/state_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define DIR "/cp"
#define RUN "01234567-89ab-4cde-8f01-23456789abcd"

struct world {
    struct clock *clock;
    struct vfs *vfs;
    struct arena *arena;
    struct checkpoint *checkpoint;
    struct error err;
};

static void start(struct world *world)
{
    struct checkpoint_config config = {
        .vfs = world->vfs,
        .clock = world->clock,
        .dir = DIR,
        .query_name = "q",
        .run_id = RUN,
        .progress_keep = 3,
        .batches_keep = 100,
    };
    assert_int_equal(checkpoint_open(&config, &world->checkpoint, &world->err), OK);
    assert_int_equal(checkpoint_start_run(world->checkpoint, 5, bytes_of_text("{}"), &world->err),
                     OK);
}

static void stop(struct world *world)
{
    assert_int_equal(checkpoint_end_run(world->checkpoint, &world->err), OK);
    checkpoint_close(world->checkpoint);
    world->checkpoint = NULL;
}

/* A batch whose state record is the letter. */
static void batch(struct world *world, int64_t batch_id, const char *letter)
{
    struct batch_intent intent = {.batch_id = batch_id, .batch_timestamp_us = batch_id * 1000 + 7};
    struct batch_changes changes = {.next_watermark_us = batch_id * 10 + 10,
                                    .sink_due = batch_id % 2 == 0,
                                    .input_rows = 3,
                                    .output_rows = 2};
    assert_int_equal(checkpoint_append_intent(world->checkpoint, &intent, &world->err), OK);
    assert_int_equal(
        checkpoint_append_state(world->checkpoint, batch_id, bytes_of_text(letter), &world->err),
        OK);
    assert_int_equal(checkpoint_append_changes(world->checkpoint, batch_id, &changes, &world->err),
                     OK);
    assert_int_equal(checkpoint_append_commit(world->checkpoint, batch_id, &world->err), OK);
    assert_int_equal(checkpoint_sync(world->checkpoint, &world->err), OK);
}

static int setup(void **state)
{
    struct world *world = test_calloc(1, sizeof *world);
    world->clock = clock_manual_new(1714521600000000);
    world->vfs = vfs_mem_new(world->clock);
    world->arena = arena_new("request", 0);
    *state = world;
    start(world);
    batch(world, 0, "a");
    batch(world, 1, "b");
    batch(world, 2, "c");
    batch(world, 3, "d");
    stop(world);
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    checkpoint_close(world->checkpoint);
    arena_free(world->arena);
    vfs_mem_free(world->vfs);
    clock_manual_free(world->clock);
    test_free(world);
    return 0;
}

static enum status rewind_to(struct world *world, int64_t to, struct rewind_outcome *out)
{
    struct rewind_request request = {
        .vfs = world->vfs, .clock = world->clock, .dir = DIR, .name = "q", .to_batch = to};
    return checkpoint_rewind(world->arena, &request, out, &world->err);
}

static struct recovery_facts facts(struct world *world)
{
    struct recovery_facts it = {.sink_last = SINK_CANNOT_TELL};
    checkpoint_facts(world->checkpoint, &it);
    return it;
}

struct letters {
    struct state_receiver base;
    char text[16];
};

static enum status take(struct state_receiver *self, struct bytes record, struct error *err)
{
    struct letters *letters = (struct letters *)self;
    size_t size = strlen(letters->text);
    (void)err;
    memcpy(letters->text + size, record.data, record.size_bytes);
    letters->text[size + record.size_bytes] = '\0';
    return OK;
}

static void assert_state(struct world *world, int64_t to, const char *expected)
{
    struct letters letters = {.base = {.receive = take}};
    assert_int_equal(checkpoint_replay_state(world->checkpoint, 0, to, &letters.base, &world->err),
                     OK);
    assert_string_equal(letters.text, expected);
}

static void the_batches_after_it_run_again_with_their_intents(void **state)
{
    struct world *world = *state;
    struct rewind_outcome outcome;
    assert_int_equal(rewind_to(world, 1, &outcome), OK);
    assert_int_equal(outcome.last_batch, 3);
    assert_int_equal(outcome.replay_end, 4);
    assert_int_equal(outcome.batches[0].changes.input_rows, 3);
    assert_true(outcome.batches[1].committed);

    start(world);
    struct recovery_facts it = facts(world);
    assert_int_equal(it.last_intent, 1);
    assert_int_equal(it.last_commit, 1);
    assert_int_equal(it.last_sink_due, 0);
    assert_int_equal(recovery_decide(&it), RECOVERY_START);
    it.sink_last = 2; /* it has batches that are run again */
    assert_int_equal(recovery_decide(&it), RECOVERY_START);
    it.sink_last = 4; /* but not those that never were */
    assert_int_equal(recovery_decide(&it), RECOVERY_CORRUPT);
    assert_int_equal(checkpoint_last_changes(world->checkpoint)->next_watermark_us, 20);
    assert_int_equal(checkpoint_last_intent(world->checkpoint)->batch_timestamp_us, 1007);
    assert_int_equal(checkpoint_previous_intent(world->checkpoint)->batch_timestamp_us, 7);
    assert_state(world, 3, "ab");

    struct logged_batch *logged = NULL;
    struct batch_intent *intent = NULL;
    assert_int_equal(
        checkpoint_logged_batches(world->checkpoint, world->arena, 2, 4, &logged, &world->err), OK);
    assert_int_equal(checkpoint_read_intent(world->checkpoint, &logged[1].intent, world->arena,
                                            &intent, &world->err),
                     OK);
    assert_int_equal(intent->batch_timestamp_us, 3007);
    batch(world, 2, "C");
    assert_state(world, 3, "abC");
    stop(world);

    start(world); /* the sink is ahead in the middle of it, and that is well */
    it = facts(world);
    it.sink_last = 2;
    assert_int_equal(it.last_intent, 2);
    assert_int_equal(recovery_decide(&it), RECOVERY_START);
}

static void a_batch_that_stopped_on_the_way_is_finished_if_the_sink_is_ahead(void **state)
{
    (void)state;
    struct recovery_facts it = {.last_intent = 5,
                                .last_changes = 5,
                                .last_commit = 4,
                                .last_sink_due = 5,
                                .replay_end = 9,
                                .sink_last = 8};
    assert_int_equal(recovery_decide(&it), RECOVERY_FINISH);
    it.last_changes = 4;
    it.last_sink_due = 4;
    assert_int_equal(recovery_decide(&it), RECOVERY_RERUN);
}

static void one_can_rewind_to_before_the_first_batch_and_more_than_once(void **state)
{
    struct world *world = *state;
    struct rewind_outcome outcome;
    assert_int_equal(rewind_to(world, 2, &outcome), OK);
    assert_int_equal(rewind_to(world, NO_BATCH, &outcome), OK);
    assert_int_equal(outcome.last_batch, 2);
    assert_int_equal(outcome.replay_end, 4);
    start(world);
    assert_int_equal(facts(world).last_intent, NO_BATCH);
    assert_int_equal(checkpoint_replay_end(world->checkpoint), 4);
    batch(world, 0, "A");
    batch(world, 1, "B");
    stop(world);
    assert_int_equal(rewind_to(world, 0, &outcome), OK);
    start(world);
    assert_state(world, 3, "A");
    assert_int_equal(checkpoint_replay_end(world->checkpoint), 4);
    batch(world, 1, "x");
    batch(world, 2, "y");
    assert_state(world, 3, "Axy");
    stop(world);
    struct buffer out = {0};
    const struct batch_request newest = {.batch_id = NO_BATCH, .before = NO_BATCH, .limit = 10};
    int64_t oldest = NO_BATCH;
    assert_int_equal(checkpoint_batches(world->vfs, DIR, &newest, &oldest, &out, &world->err), OK);
    const char *text = buffer_text(&out);
    assert_non_null(strstr(text, "\"batchId\": 2"));
    assert_null(strstr(text, "\"batchId\": 3"));
    const char *first = strstr(text, "\"batchId\": 1");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"batchId\": 1,"));
    buffer_fini(&out);
}

static void to_where_it_stands_nothing_is_done(void **state)
{
    struct world *world = *state;
    struct rewind_outcome outcome;
    assert_int_equal(rewind_to(world, 3, &outcome), OK);
    assert_int_equal(outcome.last_batch, outcome.to_batch);
    start(world);
    assert_int_equal(checkpoint_replay_end(world->checkpoint), 0);
}

static void what_cannot_be_is_refused(void **state)
{
    struct world *world = *state;
    struct rewind_outcome outcome;
    assert_int_equal(rewind_to(world, 4, &outcome), STATUS_INVALID_FIELD_VALUE);
    start(world);
    assert_int_equal(rewind_to(world, 1, &outcome), STATUS_CHECKPOINT__LOCKED);
    stop(world);
    struct rewind_request request = {.vfs = world->vfs, .clock = world->clock, .dir = "/nowhere"};
    assert_int_equal(checkpoint_rewind(world->arena, &request, &outcome, &world->err),
                     STATUS_CHECKPOINT_NOT_FOUND);
    assert_false(vfs_exists(world->vfs, "/nowhere"));
    request.dir = DIR;
    request.query_id = "another";
    assert_int_equal(checkpoint_rewind(world->arena, &request, &outcome, &world->err),
                     STATUS_CHECKPOINT__FOREIGN);
}

static enum status feed_nothing(struct state_feed *self, int64_t from, int64_t to,
                                struct state_record_receiver *receiver, struct error *err)
{
    (void)self;
    (void)from;
    (void)to;
    (void)receiver;
    (void)err;
    return OK;
}

/* A snapshot as the store takes it, of a version that no newer one follows. */
static void put_snapshot(struct world *world, int64_t version)
{
    struct state_feed feed = {.replay = feed_nothing};
    struct state_store *store = NULL;
    struct state_store_config config = {
        .kind = STATE_STORE_MEMORY,
        .vfs = world->vfs,
        .dir = DIR "/state",
        .feed = &feed,
        .version = version,
        .versions_kept = 100,
    };
    assert_int_equal(state_store_open(&config, &store, &world->err), OK);
    state_store_advance(store, version, true);
    assert_int_equal(state_store_newest_snapshot(store), version);
    state_store_close(store);
}

/* One byte in the middle of a file of the snapshot is another. */
static void damage_snapshot(struct world *world, int64_t version)
{
    struct vfs_entry *entries = NULL;
    struct bytes content;
    size_t count = 0;
    const char *dir =
        arena_sprintf(world->arena, DIR "/state/snapshot-%020lld", (long long)version);
    assert_int_equal(vfs_list(world->vfs, dir, world->arena, &entries, &count, &world->err), OK);
    assert_true(count > 0);
    const char *path = arena_sprintf(world->arena, "%s/%s", dir, entries[0].name);
    assert_int_equal(vfs_get(world->vfs, path, 1 << 20, world->arena, &content, &world->err), OK);
    uint8_t *bytes = arena_new_object(world->arena, content.size_bytes);
    memcpy(bytes, content.data, content.size_bytes);
    bytes[content.size_bytes / 2] ^= 1;
    assert_int_equal(
        vfs_put(world->vfs, path, bytes_of(bytes, content.size_bytes), false, &world->err), OK);
}

/* The log has lost its first segment: what can be reached depends on the snapshots. */
static void what_the_snapshots_and_the_log_do_not_reach_is_refused(void **state)
{
    struct world *world = *state;
    struct rewind_outcome outcome;
    uint8_t *big = test_calloc(1, (size_t)17 << 20);
    start(world);
    struct batch_intent intent = {.batch_id = 4};
    struct batch_changes changes = {0};
    assert_int_equal(checkpoint_append_intent(world->checkpoint, &intent, &world->err), OK);
    assert_int_equal(
        checkpoint_append_state(world->checkpoint, 4, bytes_of(big, (size_t)17 << 20), &world->err),
        OK);
    assert_int_equal(checkpoint_append_changes(world->checkpoint, 4, &changes, &world->err), OK);
    assert_int_equal(checkpoint_append_commit(world->checkpoint, 4, &world->err), OK);
    for (int64_t id = 5; id < 9; id++)
        batch(world, id, "s");
    stop(world);
    test_free(big);
    assert_int_equal(vfs_remove(world->vfs, DIR "/log/00000000000000000000", &world->err), OK);
    assert_int_equal(rewind_to(world, 6, &outcome), STATUS_BATCH_EXPIRED); /* no snapshot at all */
    static const int64_t versions_put[] = {2 /* too old for the log */, 5, 6, 8};
    for (size_t i = 0; i < 4; i++)
        put_snapshot(world, versions_put[i]);
    damage_snapshot(world, 5);
    /* A directory without the manifest of the store is no snapshot, either. */
    assert_int_equal(
        vfs_make_dirs(world->vfs, DIR "/state/snapshot-00000000000000000004", &world->err), OK);
    assert_int_equal(rewind_to(world, 5, &outcome), STATUS_BATCH_EXPIRED);
    assert_non_null(strstr(world->err.text, "oldest: 6"));
    assert_int_equal(rewind_to(world, 7, &outcome), OK);
    int64_t *versions = NULL;
    size_t count = 0;
    assert_int_equal(
        snapshot_list_read(world->vfs, DIR, world->arena, &versions, &count, &world->err), OK);
    assert_int_equal(count, 4); /* 8 was of a batch that does not count any more */
    assert_int_equal(versions[3], 6);
}

/* Power fails at every failpoint, with every part of the unsynced tail left. */
static void dying_on_the_way_leaves_it_before_or_after(void **state)
{
    struct world *world = *state;
#ifdef FAILPOINTS
    static const enum failpoint points[] = {FAILPOINT_AT_pre_rewind, FAILPOINT_AT_mid_rewind,
                                            FAILPOINT_AT_post_rewind};
    for (size_t torn = 0; torn < 700; torn += 50) {
        for (size_t i = 0; i < 3; i++) {
            struct rewind_outcome outcome;
            const struct failpoint_arming arming = {
                .action = FAILPOINT_ERROR, .status = STATUS_IO_FAILURE, .hit = 1};
            put_snapshot(world, 1);
            put_snapshot(world, 3);
            failpoint_arm(points[i], &arming);
            assert_int_equal(rewind_to(world, 1, &outcome), STATUS_IO_FAILURE);
            vfs_mem_freeze(world->vfs);
            vfs_mem_crash(world->vfs, torn);
            start(world);
            bool after = facts(world).last_commit == 1;
            assert_int_equal(after, points[i] == FAILPOINT_AT_post_rewind);
            assert_state(world, 3, after ? "ab" : "abcd");
            if (after) {
                batch(world, 2, "c");
                batch(world, 3, "d");
            }
            stop(world);
        }
    }
#else
    (void)world;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(the_batches_after_it_run_again_with_their_intents),
        T(a_batch_that_stopped_on_the_way_is_finished_if_the_sink_is_ahead),
        T(one_can_rewind_to_before_the_first_batch_and_more_than_once),
        T(to_where_it_stands_nothing_is_done),
        T(what_cannot_be_is_refused),
        T(what_the_snapshots_and_the_log_do_not_reach_is_refused),
        T(dying_on_the_way_leaves_it_before_or_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
