/*
 * What is on the disk only comes back by look-ups and by scans, and is counted: against a table in
 * memory, for images of all shapes.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/vfs_fault.h"
#include "base/vfs_mem.h"
#include "state/spill.h"
#include "state/state_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRIES 20000
#define END     7000000
#define LONG    30000 /* bytes of a value that takes several pages */

/* What an entry should be; its number is its key. */
struct model {
    bool here;
    uint32_t value; /* its first bytes */
    uint32_t value_bytes;
};

struct world {
    struct clock *clock;
    struct vfs *mem;
    struct vfs *vfs;
    struct spill_file *file;
    struct spill spill;
    struct model model[ENTRIES];
    char key[16];
};

struct source {
    struct spill_source base;
    struct world *world;
};

/* Checks and counts what comes. */
struct taker {
    struct spill_receiver base;
    struct world *world;
    uint32_t count;
    bool seen[ENTRIES];
};

static struct bytes key_text(struct world *world, uint32_t number)
{
    snprintf(world->key, sizeof world->key, "%05u", number);
    return bytes_of_text(world->key);
}

static uint32_t number_of(struct world *world, const void *item)
{
    return (uint32_t)((const struct model *)item - world->model);
}

static struct bytes source_key(struct spill_source *self, const void *item)
{
    struct world *world = ((struct source *)self)->world;
    return key_text(world, number_of(world, item));
}

static void source_value(struct spill_source *self, const void *item, struct buffer *out)
{
    const struct model *model = item;
    (void)self;
    for (uint32_t i = 0; i < model->value_bytes; i += 4)
        buffer_add(out, &model->value, 4);
}

static enum status take(struct spill_receiver *self, int64_t end, struct bytes key,
                        struct bytes value, struct error *err)
{
    struct taker *taker = (struct taker *)self;
    char text[8] = {0};
    (void)err;
    assert_int_equal(end, END);
    assert_int_equal(key.size_bytes, 5);
    memcpy(text, key.data, 5);
    uint32_t number = (uint32_t)strtoul(text, NULL, 10);
    assert_true(number < ENTRIES && !taker->seen[number]);
    const struct model *model = &taker->world->model[number];
    assert_true(model->here);
    assert_int_equal(value.size_bytes, model->value_bytes);
    for (uint32_t i = 0; i < model->value_bytes; i += 4)
        assert_memory_equal(value.data + i, &model->value, 4);
    taker->seen[number] = true;
    taker->count++;
    return OK;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->clock = clock_manual_new(0);
    world->mem = vfs_mem_new(world->clock);
    world->vfs = vfs_fault_new(world->mem);
    world->file = spill_file_new(world->vfs, "/store/state/spilled");
    world->spill.space.file = world->file;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    spill_fini(&world->spill);
    assert_int_equal(spill_bytes(&world->spill), 0);
    spill_file_free(world->file);
    vfs_fault_free(world->vfs);
    vfs_mem_free(world->mem);
    clock_manual_free(world->clock);
    free(world);
    return 0;
}

/* Changes the entries [first, first + count), every `step`th, and writes them. */
static void put(struct world *world, uint32_t first, uint32_t count, uint32_t step,
                struct model value)
{
    struct source source = {.base = {.key = source_key, .value = source_value}, .world = world};
    struct error err = ERROR_INIT;
    if (!value.here)
        source.base.value = NULL;
    for (uint32_t i = first; i < first + count; i += step) {
        world->model[i] = value;
        uint64_t hash = state_hash(key_text(world, i));
        assert_int_equal(spill_put(&world->spill, END, hash, &world->model[i], &source.base, &err),
                         OK);
    }
    assert_int_equal(spill_flush(&world->spill, END, &source.base, &err), OK);
    spill_let_go(&world->spill, END);
}

static uint32_t model_count(const struct world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ENTRIES; i++)
        count += world->model[i].here ? 1 : 0;
    return count;
}

static void check_all(struct world *world)
{
    struct taker *taker = calloc(1, sizeof *taker);
    struct error err = ERROR_INIT;
    assert_non_null(taker);
    *taker = (struct taker){.base = {.receive = take}, .world = world};
    assert_int_equal(spill_scan(&world->spill, END, &taker->base, &err), OK);
    assert_int_equal(taker->count, model_count(world));
    assert_int_equal(spill_entries(&world->spill), taker->count);
    free(taker);
}

/* Wants every `step`th key, and those that follow all; hands back how many came. */
static uint32_t fetch(struct world *world, uint32_t step)
{
    struct taker *taker = calloc(1, sizeof *taker);
    struct arena *arena = arena_new("test", 0);
    struct error err = ERROR_INIT;
    uint32_t wanted = 0;
    assert_non_null(taker);
    *taker = (struct taker){.base = {.receive = take}, .world = world};
    for (uint32_t i = 0; i < ENTRIES; i += step) {
        struct bytes key = arena_copy(arena, key_text(world, i));
        spill_want(&world->spill, END, state_hash(key), key);
        spill_want(&world->spill, END, state_hash(key), key);     /* again */
        spill_want(&world->spill, END + 1, state_hash(key), key); /* that is not spilled */
        wanted += world->model[i].here ? 1 : 0;
    }
    assert_int_equal(spill_fetch(&world->spill, &taker->base, &err), OK);
    assert_int_equal(taker->count, wanted);
    assert_int_equal(world->spill.wanted_capacity, 0);
    free(taker);
    arena_free(arena);
    return wanted;
}

static void an_image_holds_what_was_put_last(void **state)
{
    struct world *world = *state;
    struct model one = {.here = true, .value = 1, .value_bytes = 12};
    struct model two = {.here = true, .value = 2, .value_bytes = 40};
    assert_true(spill_is_empty(&world->spill));
    put(world, 0, 10, 1, one); /* one page */
    check_all(world);
    put(world, 0, ENTRIES, 1, one); /* many */
    check_all(world);
    put(world, 5000, 10000, 7, two); /* some are replaced, and larger */
    check_all(world);
    put(world, 0, ENTRIES, 3, (struct model){0}); /* some go */
    check_all(world);
    assert_int_equal(fetch(world, 11), 1212); /* of 1819 two thirds are left */
    put(world, 0, ENTRIES, 1, (struct model){0});
    check_all(world);
}

static void large_entries_take_several_pages(void **state)
{
    struct world *world = *state;
    put(world, 0, 200, 1, (struct model){.here = true, .value = 3, .value_bytes = LONG});
    put(world, 100, 3000, 1, (struct model){.here = true, .value = 4, .value_bytes = 8});
    check_all(world);
    put(world, 0, 50, 1, (struct model){.here = true, .value = 5, .value_bytes = 0});
    check_all(world);
    fetch(world, 3);
    /* A directory whose size followed the hashes alone would be far larger than this. */
    assert_true(spill_bytes(&world->spill) < 100000);
}

/* Bytes of one chunk are limited by its header; a lower limit is as good. */
static void a_chunk_beyond_its_limit_is_an_error(void **state)
{
    struct world *world = *state;
    struct source source = {.base = {.key = source_key, .value = source_value}, .world = world};
    struct error err = ERROR_INIT;
    world->spill.space.chunk_bytes_max = LONG;
    put(world, 0, 100, 1, (struct model){.here = true, .value = 3, .value_bytes = LONG - 100});
    world->model[100] = (struct model){.here = true, .value = 3, .value_bytes = LONG};
    uint64_t hash = state_hash(key_text(world, 100));
    assert_int_equal(spill_put(&world->spill, END, hash, &world->model[100], &source.base, &err),
                     OK);
    assert_int_equal(spill_flush(&world->spill, END, &source.base, &err), STATUS_LIMIT_EXCEEDED);
    assert_non_null(strstr(err.text, "is 30000"));
    error_clear(&err);
    spill_let_go(&world->spill, END);
}

static void what_comes_back_is_counted(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    put(world, 0, ENTRIES, 1, (struct model){.here = true, .value = 1, .value_bytes = 8});
    spill_begin(spill);
    assert_int_equal(fetch(world, 100), ENTRIES / 100);
    assert_int_equal(spill->fetched, ENTRIES / 100);
    assert_int_equal(spill->keys_read, ENTRIES / 50);
    assert_int_equal(spill_entries(spill), ENTRIES - ENTRIES / 100);
    spill_begin(spill);
    assert_int_equal(spill->fetched, 0);
}

static void an_entry_can_go_by_itself(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    put(world, 0, ENTRIES, 1, (struct model){.here = true, .value = 1, .value_bytes = 8});
    assert_int_equal(spill_remove(&world->spill, END, key_text(world, 77), &err), OK);
    assert_int_equal(spill_remove(&world->spill, END, bytes_of_text("nobody"), &err), OK);
    assert_int_equal(spill_remove(&world->spill, END + 1, key_text(world, 78), &err), OK);
    world->model[77].here = false;
    spill_let_go(&world->spill, END);
    check_all(world);
}

static void a_loaded_bucket_is_not_spilled_any_more(void **state)
{
    struct world *world = *state;
    struct taker *taker = calloc(1, sizeof *taker);
    struct error err = ERROR_INIT;
    assert_non_null(taker);
    *taker = (struct taker){.base = {.receive = take}, .world = world};
    put(world, 0, 100, 1, (struct model){.here = true, .value = 9, .value_bytes = 4});
    assert_int_equal(spill_load(&world->spill, END, &taker->base, &err), OK);
    assert_int_equal(taker->count, 100);
    assert_true(spill_is_empty(&world->spill));
    assert_int_equal(world->spill.fetched, 100);
    free(taker);
}

/* Has room for some entries, and looks at their order. */
struct walker {
    struct taker taker;
    struct spill_walk walk;
    uint32_t last_hash;
};

static enum status take_some(struct spill_receiver *self, int64_t end, struct bytes key,
                             struct bytes value, struct error *err)
{
    struct walker *walker = (struct walker *)self;
    uint32_t hash = spill_hash(state_hash(key));
    assert_true(walker->taker.count == 0 || hash >= walker->last_hash);
    walker->last_hash = hash;
    spill_walk_take(&walker->walk, 10);
    return take(self, end, key, value, err);
}

static void a_walk_stops_when_there_is_no_room(void **state)
{
    struct world *world = *state;
    struct walker *walker = calloc(1, sizeof *walker);
    struct error err = ERROR_INIT;
    uint32_t parts = 0;
    assert_non_null(walker);
    *walker = (struct walker){.taker = {.base = {.receive = take_some}, .world = world}};
    put(world, 0, ENTRIES, 1, (struct model){.here = true, .value = 1, .value_bytes = 8});
    for (; !walker->walk.over; parts++) {
        uint32_t before = walker->taker.count;
        walker->walk.room = 995;
        assert_int_equal(spill_walk(&world->spill, END, &walker->walk, &walker->taker.base, &err),
                         OK);
        assert_in_range(walker->taker.count - before, walker->walk.over ? 0 : 100, 105);
        if (parts == ENTRIES / 200) /* there are other pages then */
            put(world, 0, ENTRIES, 1, (struct model){.here = true, .value = 2, .value_bytes = 60});
    }
    assert_int_equal(walker->taker.count, ENTRIES);
    assert_in_range(parts, ENTRIES / 105, ENTRIES / 100 + 1);
    walker->walk = (struct spill_walk){.room = 1};
    assert_int_equal(spill_walk(&world->spill, END + 1, &walker->walk, &walker->taker.base, &err),
                     OK);
    assert_true(walker->walk.over); /* nothing is there */
    free(walker);
}

static void put_one(struct world *world, int64_t end)
{
    struct source source = {.base = {.key = source_key, .value = source_value}, .world = world};
    struct error err = ERROR_INIT;
    uint64_t hash = state_hash(key_text(world, 0));
    world->model[0] = (struct model){.here = true, .value = 1, .value_bytes = 4};
    assert_int_equal(spill_put(&world->spill, end, hash, &world->model[0], &source.base, &err), OK);
    assert_int_equal(spill_flush(&world->spill, end, &source.base, &err), OK);
    spill_let_go(&world->spill, end);
}

static void buckets_stand_by_their_ends(void **state)
{
    struct world *world = *state;
    struct spill *spill = &world->spill;
    assert_null(spill_first(spill));
    for (int64_t i = 0; i < 20; i++)
        put_one(world, i * 7 % 20);
    assert_int_equal(spill_entries(spill), 20);
    assert_int_equal(spill_first(spill)->end, 0);
    assert_int_equal(spill_after(spill, 3)->end, 4);
    assert_null(spill_after(spill, 19));
    assert_int_equal(spill_drop(spill, 3), 1);
    assert_int_equal(spill_drop(spill, 3), 0);
    assert_null(spill_find(spill, 3));
    assert_int_equal(spill_after(spill, 2)->end, 4);
    spill_drop_until(spill, 10);
    assert_int_equal(spill_first(spill)->end, 11);
    assert_int_equal(spill_entries(spill), 9);
}

static void dropped_pages_are_used_again(void **state)
{
    struct world *world = *state;
    struct error err = ERROR_INIT;
    uint32_t before = 0;
    uint32_t after = 0;
    struct model value = {.here = true, .value = 1, .value_bytes = 40};
    put(world, 0, ENTRIES, 1, value);
    assert_int_equal(spill_file_take(world->file, 1, &before, &err), OK);
    for (int i = 0; i < 5; i++) {
        spill_drop(&world->spill, END);
        put(world, 0, ENTRIES, 1, value);
    }
    assert_int_equal(spill_file_take(world->file, 1, &after, &err), OK);
    assert_true(after - before <= 17);
    check_all(world);
}

static void what_the_disk_refuses_is_an_error(void **state)
{
    struct world *world = *state;
    struct taker taker = {.base = {.receive = take}, .world = world};
    struct source source = {.base = {.key = source_key, .value = source_value}, .world = world};
    struct error err = ERROR_INIT;
    uint64_t hash = state_hash(key_text(world, 1));
    put(world, 0, 10, 1, (struct model){.here = true, .value = 1, .value_bytes = 8});
    vfs_fault_arm(world->vfs, VFS_CALL_WRITE, 1, ENOSPC);
    assert_int_equal(spill_put(&world->spill, END, hash, &world->model[1], &source.base, &err), OK);
    assert_int_equal(spill_flush(&world->spill, END, &source.base, &err), STATUS_DISK_FULL);
    error_clear(&err);
    vfs_fault_arm(world->vfs, VFS_CALL_READ, 1, EIO);
    assert_int_equal(spill_scan(&world->spill, END, &taker.base, &err), STATUS_IO_FAILURE);
    error_clear(&err);
}

static void a_damaged_page_is_noticed(void **state)
{
    struct world *world = *state;
    struct taker taker = {.base = {.receive = take}, .world = world};
    struct error err = ERROR_INIT;
    put(world, 0, 10, 1, (struct model){.here = true, .value = 1, .value_bytes = 8});
    assert_int_equal(spill_file_write(world->file, 0, bytes_of_text("not what was there"), &err),
                     OK);
    assert_int_equal(spill_scan(&world->spill, END, &taker.base, &err), STATUS_CHECKSUM_MISMATCH);
    error_clear(&err);
}

static void large_value(struct spill_source *self, const void *item, struct buffer *out)
{
    (void)self;
    (void)item;
    out->size_bytes = SPILL_VALUE_BYTES_MAX + 1; /* nobody is to look at it */
}

static void a_value_that_no_entry_can_hold_is_refused(void **state)
{
    struct world *world = *state;
    struct source source = {.base = {.key = source_key, .value = large_value}, .world = world};
    struct error err = ERROR_INIT;
    uint64_t hash = state_hash(key_text(world, 0));
    enum status status = spill_put(&world->spill, END, hash, &world->model[0], &source.base, &err);
    if (status == OK)
        status = spill_flush(&world->spill, END, &source.base, &err);
    assert_int_equal(status, STATUS_LIMIT_EXCEEDED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_image_holds_what_was_put_last),
        TEST(large_entries_take_several_pages),
        TEST(a_chunk_beyond_its_limit_is_an_error),
        TEST(what_comes_back_is_counted),
        TEST(an_entry_can_go_by_itself),
        TEST(a_loaded_bucket_is_not_spilled_any_more),
        TEST(a_walk_stops_when_there_is_no_room),
        TEST(buckets_stand_by_their_ends),
        TEST(dropped_pages_are_used_again),
        TEST(what_the_disk_refuses_is_an_error),
        TEST(a_damaged_page_is_noticed),
        TEST(a_value_that_no_entry_can_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
