/*
 * What is in the store only comes back by look-ups and by scans, and is counted.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/vfs_mem.h"
#include "state/changelog.h"
#include "state/spill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRIES 1000
#define END     7000000

struct world {
    struct state_feed feed;
    struct buffer record;
    struct clock *clock;
    struct vfs *vfs;
    struct state_store *store;
    struct spill spill;
};

/* Notes which keys it was given. */
struct taker {
    struct spill_receiver base;
    uint32_t count;
    bool seen[ENTRIES];
};

static enum status replay(struct state_feed *self, int64_t from, int64_t to,
                          struct state_record_receiver *receiver, struct error *err)
{
    struct world *world = (struct world *)self;
    assert_int_equal(from, 0);
    assert_int_equal(to, 0);
    return receiver->receive(receiver, buffer_bytes(&world->record), err);
}

static enum status take(struct spill_receiver *self, int64_t end, struct bytes key,
                        struct bytes value, struct error *err)
{
    struct taker *taker = (struct taker *)self;
    char text[8] = {0};
    (void)err;
    assert_int_equal(end, END);
    assert_true(bytes_equal(key, value));
    assert_int_equal(key.size_bytes, 4);
    memcpy(text, key.data, 4);
    uint32_t number = (uint32_t)strtoul(text, NULL, 10);
    assert_true(number < ENTRIES && !taker->seen[number]);
    taker->seen[number] = true;
    taker->count++;
    return OK;
}

static int set_up(void **state)
{
    struct error err = ERROR_INIT;
    struct world *world = calloc(1, sizeof *world);
    char text[8];
    assert_non_null(world);
    world->feed.replay = replay;
    world->clock = clock_manual_new(0);
    world->vfs = vfs_mem_new(world->clock);
    changelog_begin(&world->record, 1, 2);
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(text, sizeof text, "%04u", i);
        changelog_put(&world->record, END, bytes_of_text(text), bytes_of_text(text));
    }
    struct state_store_config config = {.kind = STATE_STORE_MEMORY,
                                        .vfs = world->vfs,
                                        .dir = "/store/state",
                                        .feed = &world->feed,
                                        .version = STATE_NO_VERSION,
                                        .versions_kept = 2};
    assert_int_equal(state_store_open(&config, &world->store, &err), OK);
    assert_int_equal(state_store_wait(world->store, 0, &err), OK);
    world->spill = (struct spill){.store = world->store, .operator_id = 1, .partition = 2};
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    spill_fini(&world->spill);
    state_store_close(world->store);
    buffer_fini(&world->record);
    vfs_mem_free(world->vfs);
    clock_manual_free(world->clock);
    free(world);
    return 0;
}

static void fetch(struct world *world, struct taker *taker)
{
    struct error err = ERROR_INIT;
    assert_int_equal(spill_fetch(&world->spill, &taker->base, &err), OK);
    assert_int_equal(world->spill.wanted_capacity, 0);
}

static void test_few_keys_are_looked_up(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    struct taker taker = {.base = {.receive = take}};
    assert_true(spill_is_empty(spill));
    spill_add(spill, END, ENTRIES);
    spill_want(spill, END, bytes_of_text("0500"));
    spill_want(spill, END, bytes_of_text("0007"));
    spill_want(spill, END, bytes_of_text("0007"));
    spill_want(spill, END, bytes_of_text("none"));
    spill_want(spill, END + 1, bytes_of_text("0008")); /* its bucket is not spilled */
    fetch(world, &taker);
    assert_int_equal(taker.count, 2);
    assert_true(taker.seen[7] && taker.seen[500]);
    assert_int_equal(spill->keys_read, 3);
    assert_int_equal(spill->entries_read, 0);
    assert_int_equal(spill_entries(spill), ENTRIES - 2);
}

static void test_many_keys_are_a_scan(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    struct taker taker = {.base = {.receive = take}};
    char keys[ENTRIES / 2][8];
    spill_add(spill, END, ENTRIES);
    for (unsigned i = 0; i < ENTRIES / 2; i++) {
        snprintf(keys[i], sizeof keys[i], "%04u", ENTRIES - 1 - 2 * i);
        spill_want(spill, END, bytes_of_text(keys[i]));
    }
    fetch(world, &taker);
    assert_int_equal(taker.count, ENTRIES / 2);
    assert_true(taker.seen[1] && !taker.seen[0]);
    assert_int_equal(spill->keys_read, 0);
    assert_int_equal(spill->entries_read, ENTRIES);
    assert_int_equal(spill->fetched, ENTRIES / 2);
    spill_begin(spill);
    assert_int_equal(spill->fetched, 0);
}

static void test_a_whole_bucket(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    struct error err = ERROR_INIT;
    struct taker scanned = {.base = {.receive = take}};
    struct taker loaded = {.base = {.receive = take}};
    assert_int_equal(spill_reopen(spill, &err), OK);
    assert_true(spill->reopened);
    assert_int_equal(spill_entries(spill), ENTRIES);
    assert_int_equal(spill_scan(spill, END, &scanned.base, &err), OK);
    assert_int_equal(scanned.count, ENTRIES);
    assert_int_equal(spill_load(spill, END, &loaded.base, &err), OK);
    assert_int_equal(loaded.count, ENTRIES);
    assert_true(spill_is_empty(spill));
}

static void test_buckets_stand_by_their_end(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    assert_null(spill_first(spill));
    for (int64_t i = 0; i < 20; i++)
        spill_add(spill, i * 7 % 20, 1);
    spill_add(spill, 3, 4);
    spill_add(spill, 100, 0);
    assert_int_equal(spill_entries(spill), 24);
    assert_int_equal(spill_first(spill)->end, 0);
    assert_int_equal(spill_after(spill, 3)->end, 4);
    assert_null(spill_after(spill, 19));
    assert_int_equal(spill_drop(spill, 3), 5);
    assert_int_equal(spill_drop(spill, 3), 0);
    assert_null(spill_find(spill, 3));
    assert_int_equal(spill_after(spill, 2)->end, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_few_keys_are_looked_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_keys_are_a_scan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_whole_bucket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_buckets_stand_by_their_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
