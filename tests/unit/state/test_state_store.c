/*
 * The state store against a model: an array of versions, each a sorted list of what must be there.
 * Everything runs with both engines: memory on a disk in memory, RocksDB on the real one.
 */
#include "base/check.h"
#include "base/memory_limit.h"
#include "base/path.h"
#include "base/vfs_mem.h"
#include "base/vfs_posix.h"
#include "state/changelog.h"
#include "state/state_store.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define VERSIONS   40
#define KEYS       300
#define BUCKETS    6
#define PARTITIONS 2

/* What a key of the model is worth at a version; -1: not there. */
typedef int model_version[PARTITIONS][BUCKETS][KEYS];

struct world {
    struct state_feed feed;
    enum state_store_kind kind;
    struct vfs *vfs;
    struct clock *clock;
    char root[64];
    char dir[96];
    struct arena *arena;
    struct buffer records[VERSIONS][PARTITIONS];
    model_version *model;
    int64_t asked_from; /* the oldest version that the feed was asked for */
    int64_t first_batch;
    uint32_t seed;
    atomic_bool feeding; /* the feed was asked */
};

static uint32_t draw(struct world *world, uint32_t limit)
{
    world->seed = world->seed * 1664525 + 1013904223;
    return (world->seed >> 8) % limit;
}

static int64_t bucket_end(uint32_t bucket)
{
    return bucket + 1 == BUCKETS ? INT64_MAX : ((int64_t)bucket - 2) * 1000000;
}

static void key_text(char out[16], uint32_t key)
{
    snprintf(out, 16, "key%u", key * 7919U);
}

static enum status replay(struct state_feed *self, int64_t from, int64_t to,
                          struct state_record_receiver *receiver, struct error *err)
{
    struct world *world = (struct world *)self;
    if (from < world->asked_from)
        world->asked_from = from;
    assert_true(from >= world->first_batch);
    for (int64_t v = from; v <= to; v++)
        for (uint32_t p = 0; p < PARTITIONS; p++)
            TRY(receiver->receive(receiver, buffer_bytes(&world->records[v][p]), err));
    return OK;
}

/* One batch of one partition: some puts, takes, and now and then a drop; the drop also between
 * puts into what it removes. */
static void make_batch(struct world *world, uint32_t version, uint32_t partition)
{
    struct buffer *out = &world->records[version][partition];
    changelog_begin(out, 7, partition);
    for (uint32_t i = 0; i < 60; i++) {
        char key[16];
        char value[32];
        uint32_t bucket = draw(world, BUCKETS);
        uint32_t number = draw(world, KEYS);
        int *cell = &world->model[version][partition][bucket][number];
        key_text(key, number);
        if (draw(world, 40) == 0) {
            changelog_drop(out, bucket_end(bucket));
            for (uint32_t b = 0; b <= bucket; b++)
                for (uint32_t k = 0; k < KEYS; k++)
                    world->model[version][partition][b][k] = -1;
        } else if (draw(world, 4) == 0) {
            changelog_take(out, bucket_end(bucket), bytes_of_text(key));
            *cell = -1;
        } else {
            *cell = (int)draw(world, 1000000);
            snprintf(value, sizeof value, "%d", *cell);
            changelog_put(out, bucket_end(bucket), bytes_of_text(key), bytes_of_text(value));
        }
    }
}

static void make_model(struct world *world)
{
    world->model = calloc(VERSIONS, sizeof *world->model);
    assert_non_null(world->model);
    for (uint32_t v = 0; v < VERSIONS; v++) {
        if (v == 0)
            memset(world->model[0], 0xff, sizeof world->model[0]);
        else
            memcpy(world->model[v], world->model[v - 1], sizeof world->model[v]);
        for (uint32_t p = 0; p < PARTITIONS; p++)
            make_batch(world, v, p);
    }
}

static struct world *world_new(enum state_store_kind kind)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->feed.replay = replay;
    world->kind = kind;
    world->seed = 12345;
    world->arena = arena_new("test", 0);
    world->clock = clock_manual_new(0);
    if (kind == STATE_STORE_ROCKSDB) {
        strcpy(world->root, "/tmp/test_state_store.XXXXXX");
        assert_non_null(mkdtemp(world->root));
        world->vfs = vfs_posix();
    } else {
        strcpy(world->root, "/store");
        world->vfs = vfs_mem_new(world->clock);
    }
    snprintf(world->dir, sizeof world->dir, "%s/state", world->root);
    make_model(world);
    return world;
}

static void world_free(struct world *world)
{
    struct error err = ERROR_INIT;
    assert_int_equal(vfs_remove_tree(world->vfs, world->root, &err), OK);
    for (uint32_t v = 0; v < VERSIONS; v++)
        for (uint32_t p = 0; p < PARTITIONS; p++)
            buffer_fini(&world->records[v][p]);
    if (world->kind == STATE_STORE_MEMORY)
        vfs_mem_free(world->vfs);
    clock_manual_free(world->clock);
    arena_free(world->arena);
    free(world->model);
    free(world);
}

static enum status try_open(struct world *world, int64_t version, bool read_only,
                            struct state_store **out, struct error *err)
{
    struct state_store_config config = {
        .kind = world->kind,
        .vfs = world->vfs,
        .dir = world->dir,
        .feed = &world->feed,
        .version = version,
        .first_batch = world->first_batch,
        .versions_kept = 10,
        .read_only = read_only,
    };
    world->asked_from = INT64_MAX;
    return state_store_open(&config, out, err);
}

static struct state_store *open_store(struct world *world, int64_t version, bool read_only)
{
    struct error err = ERROR_INIT;
    struct state_store *store = NULL;
    enum status status = try_open(world, version, read_only, &store, &err);
    if (status != OK)
        fail_msg("%s", err.text);
    return store;
}

/* Counts what it is shown and compares it with the model. */
struct reader {
    struct state_entry_receiver base;
    const model_version *model;
    size_t count;
    uint32_t partition;
    int64_t bucket;
    uint8_t last[64];
    size_t last_bytes;
};

static uint32_t bucket_number(int64_t end)
{
    return end == INT64_MAX ? BUCKETS - 1 : (uint32_t)(end / 1000000 + 2);
}

static uint32_t key_number(struct bytes key)
{
    char text[16] = {0};
    assert_true(key.size_bytes > 3 && key.size_bytes < sizeof text);
    memcpy(text, key.data, key.size_bytes);
    return (uint32_t)strtoul(text + 3, NULL, 10) / 7919U;
}

static enum status see(struct state_entry_receiver *self, const struct state_store_entry *entry,
                       struct error *err)
{
    struct reader *reader = (struct reader *)self;
    char value[32] = {0};
    (void)err;
    assert_int_equal(entry->operator_id, 7);
    assert_true(entry->value.size_bytes < sizeof value);
    memcpy(value, entry->value.data, entry->value.size_bytes);
    assert_int_equal(
        atoi(value),
        (*reader->model)[entry->partition][bucket_number(entry->bucket)][key_number(entry->key)]);
    bool later = reader->count == 0 || entry->partition > reader->partition ||
                 (entry->partition == reader->partition && entry->bucket > reader->bucket) ||
                 (entry->partition == reader->partition && entry->bucket == reader->bucket &&
                  bytes_compare(entry->key, bytes_of(reader->last, reader->last_bytes)) > 0);
    assert_true(later);
    reader->partition = entry->partition;
    reader->bucket = entry->bucket;
    memcpy(reader->last, entry->key.data, entry->key.size_bytes);
    reader->last_bytes = entry->key.size_bytes;
    reader->count++;
    return OK;
}

static size_t model_count(const model_version *model, uint32_t partition, uint32_t bucket)
{
    size_t count = 0;
    for (uint32_t k = 0; k < KEYS; k++)
        count += (*model)[partition][bucket][k] >= 0;
    return count;
}

struct bucket_reader {
    struct state_bucket_receiver base;
    const model_version *model;
    uint32_t partition;
    uint32_t buckets;
};

static enum status see_bucket(struct state_bucket_receiver *self,
                              const struct state_bucket_info *info, struct error *err)
{
    struct bucket_reader *reader = (struct bucket_reader *)self;
    (void)err;
    assert_int_equal(info->entries,
                     model_count(reader->model, reader->partition, bucket_number(info->bucket)));
    assert_true(info->bytes > info->entries * 4);
    reader->buckets++;
    return OK;
}

static void check_scans(struct world *world, struct state_store *store, int64_t version)
{
    struct error err = ERROR_INIT;
    const model_version *model = (const model_version *)&world->model[version];
    struct reader all = {.base = {.receive = see}, .model = model};
    size_t total = 0;
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        struct state_place place = {.operator_id = 7, .partition = p};
        struct reader part = {.base = {.receive = see}, .model = model};
        struct bucket_reader buckets = {
            .base = {.receive = see_bucket}, .model = model, .partition = p};
        size_t in_partition = 0;
        uint32_t not_empty = 0;
        for (uint32_t b = 0; b < BUCKETS; b++) {
            struct reader one = {.base = {.receive = see}, .model = model};
            place.bucket = bucket_end(b);
            assert_int_equal(state_store_scan(store, place, &one.base, &err), OK);
            assert_int_equal(one.count, model_count(model, p, b));
            in_partition += one.count;
            not_empty += one.count > 0;
        }
        assert_int_equal(state_store_scan_partition(store, place, &part.base, &err), OK);
        assert_int_equal(part.count, in_partition);
        assert_int_equal(state_store_buckets(store, place, &buckets.base, &err), OK);
        assert_int_equal(buckets.buckets, not_empty);
        total += in_partition;
    }
    assert_int_equal(state_store_scan_all(store, &all.base, &err), OK);
    assert_int_equal(all.count, total);
}

static void advance(struct state_store *store, int64_t version, bool snapshot)
{
    struct error err = ERROR_INIT;
    state_store_advance(store, version, snapshot);
    assert_int_equal(state_store_wait(store, version, &err), OK);
    assert_int_equal(state_store_failures(store, NULL), 0);
    if (snapshot)
        assert_int_equal(state_store_newest_snapshot(store), version);
}

static enum state_store_kind kind_of(void **state)
{
    return *(enum state_store_kind *)*state;
}

static void holds_what_the_model_holds(void **state)
{
    struct world *world = world_new(kind_of(state));
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    assert_int_equal(state_store_applied(store), STATE_NO_VERSION);
    for (int64_t v = 0; v < VERSIONS; v++) {
        if (v % 3 == 1) /* several versions at once */
            continue;
        advance(store, v, false);
        check_scans(world, store, v);
    }
    state_store_close(store);
    world_free(world);
}

static void a_start_begins_with_the_newest_snapshot(void **state)
{
    struct world *world = world_new(kind_of(state));
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    for (int64_t v = 0; v < VERSIONS - 1; v++)
        advance(store, v, v % 4 == 3);
    /* Within reach: the last 10 versions before the newest snapshot, and all that came after. */
    assert_int_equal(state_store_oldest_needed(store), 24);
    assert_true(state_store_snapshot_bytes(store) > 0);
    state_store_close(store);

    store = open_store(world, VERSIONS - 2, false);
    assert_int_equal(state_store_applied(store), 35);
    assert_int_equal(state_store_oldest_needed(store), 24);
    check_scans(world, store, 35);
    advance(store, VERSIONS - 1, false);
    assert_int_equal(world->asked_from, 36);
    check_scans(world, store, VERSIONS - 1);
    state_store_close(store);

    store = open_store(world, 30, false); /* goes back */
    assert_int_equal(state_store_applied(store), 27);
    advance(store, 30, true);
    advance(store, 35, true); /* one of that version is there */
    check_scans(world, store, 35);
    state_store_close(store);
    world_free(world);
}

/* A feed without end: it ends when nobody takes its records any more. */
static enum status replay_for_ever(struct state_feed *self, int64_t from, int64_t to,
                                   struct state_record_receiver *receiver, struct error *err)
{
    struct world *world = (struct world *)self;
    (void)to;
    for (uint32_t v = (uint32_t)from;; v = (v + 1) % VERSIONS) {
        atomic_store(&world->feeding, true);
        TRY(receiver->receive(receiver, buffer_bytes(&world->records[v][v % PARTITIONS]), err));
    }
}

static void what_is_abandoned_ends_and_nothing_of_it_is_kept(void **state)
{
    struct world *world = world_new(kind_of(state));
    struct error last = ERROR_INIT;
    if (kind_of(state) == STATE_STORE_MEMORY) { /* works inside the calls: nothing to abandon */
        world_free(world);
        return;
    }
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    advance(store, 3, true);
    world->feed.replay = replay_for_ever;
    state_store_advance(store, 9, true);
    while (!atomic_load(&world->feeding))
        sched_yield();
    state_store_abandon(store);
    while (state_store_busy(store))
        sched_yield();
    assert_int_equal(state_store_applied(store), 3);
    assert_int_equal(state_store_newest_snapshot(store), 3);
    assert_int_equal(state_store_failures(store, &last), 0); /* it is no failure */
    assert_int_equal(last.status, OK);
    state_store_close(store);

    world->feed.replay = replay;
    store = open_store(world, 9, false);
    assert_int_equal(state_store_applied(store), 3);
    advance(store, 9, true);
    check_scans(world, store, 9);
    state_store_close(store);
    world_free(world);
}

static void any_kept_version_can_be_looked_at(void **state)
{
    struct world *world = world_new(kind_of(state));
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    for (int64_t v = 0; v < VERSIONS; v++)
        advance(store, v, v % 5 == 4);
    world->first_batch = state_store_oldest_needed(store);
    for (int64_t v = VERSIONS - 10; v < VERSIONS; v++) {
        struct state_store *view = open_store(world, v, true);
        assert_int_equal(state_store_applied(view), v);
        check_scans(world, view, v);
        state_store_close(view);
    }
    check_scans(world, store, VERSIONS - 1); /* nobody disturbed it */
    state_store_close(store);
    world->first_batch = 0;
    store = open_store(world, 2, true); /* no snapshot, only changes */
    check_scans(world, store, 2);
    state_store_close(store);
    world_free(world);
}

enum damage {
    DAMAGE_BIT,
    DAMAGE_CUT,
    DAMAGE_GONE,
    DAMAGE_COUNT,
};

/* Replaced, so that other names of the file keep their content. */
static void damage_file(struct world *world, const char *path, enum damage damage)
{
    struct error err = ERROR_INIT;
    struct bytes content;
    assert_int_equal(vfs_get(world->vfs, path, 1 << 24, world->arena, &content, &err), OK);
    assert_int_equal(vfs_remove(world->vfs, path, &err), OK);
    if (damage == DAMAGE_GONE)
        return;
    uint8_t *bytes = malloc(content.size_bytes + 1);
    assert_non_null(bytes);
    memcpy(bytes, content.data, content.size_bytes);
    if (damage == DAMAGE_BIT)
        bytes[content.size_bytes / 2] ^= 4;
    size_t size = damage == DAMAGE_CUT ? content.size_bytes - 1 : content.size_bytes;
    assert_int_equal(vfs_put(world->vfs, path, bytes_of(bytes, size), false, &err), OK);
    free(bytes);
}

static const char *snapshot_dir(struct world *world, int version)
{
    return arena_sprintf(world->arena, "%s/snapshot-%020d", world->dir, version);
}

static void take_snapshots(struct world *world)
{
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    advance(store, 4, true);
    advance(store, 9, true);
    state_store_close(store);
}

static size_t whole_snapshots(struct world *world)
{
    struct error err = ERROR_INIT;
    struct state_snapshot_info *infos = NULL;
    size_t count = 0;
    size_t whole = 0;
    assert_int_equal(state_store_verify(world->vfs, world->dir, world->arena, &infos, &count, &err),
                     OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(infos[i].whole == (infos[i].problem == NULL));
        whole += infos[i].whole;
    }
    return whole;
}

/* That of batch 9 is damaged, and a store would begin with the other. */
static void check_foreseen(struct world *world, int64_t version)
{
    struct error err = ERROR_INIT;
    struct state_start start;
    struct state_store_config config = {
        .vfs = world->vfs, .dir = world->dir, .version = 12, .first_batch = world->first_batch};
    assert_int_equal(state_store_foresee(&config, world->arena, &start, &err), OK);
    assert_int_equal(start.version, version);
    assert_int_equal(start.damaged, 9);
    assert_non_null(start.problem);
    config.first_batch = 6;
    assert_int_equal(state_store_foresee(&config, world->arena, &start, &err),
                     STATUS_CHECKPOINT__CORRUPT);
    error_clear(&err);
    config.version = 8; /* the damaged one is not asked for */
    config.first_batch = 0;
    assert_int_equal(state_store_foresee(&config, world->arena, &start, &err), OK);
    assert_int_equal(start.damaged, STATE_NO_VERSION);
}

static void a_damaged_snapshot_is_passed_over(void **state)
{
    struct error err = ERROR_INIT;
    for (size_t file = 0, files = 1; file < files; file++)
        for (int damage = 0; damage < DAMAGE_COUNT; damage++) {
            struct world *world = world_new(kind_of(state));
            struct vfs_entry *entries = NULL;
            take_snapshots(world);
            assert_int_equal(whole_snapshots(world), 2);
            const char *dir = snapshot_dir(world, 9);
            assert_int_equal(vfs_list(world->vfs, dir, world->arena, &entries, &files, &err), OK);
            const char *path = path_join(world->arena, dir, entries[file].name);
            if (entries[file].stat.size_bytes == 0) { /* RocksDB's empty log */
                world_free(world);
                continue;
            }
            damage_file(world, path, (enum damage)damage);
            assert_int_equal(whole_snapshots(world), 1);
            world->first_batch = 5;
            check_foreseen(world, 4);
            struct state_store *store = open_store(world, 12, false);
            assert_int_equal(state_store_applied(store), 4);
            advance(store, 12, true);
            check_scans(world, store, 12);
            state_store_close(store);
            world->first_batch = 0;
            assert_int_equal(whole_snapshots(world), 2);
            world_free(world);
        }
}

static void without_a_whole_one_the_changes_have_to_reach_back(void **state)
{
    struct error err = ERROR_INIT;
    struct world *world = world_new(kind_of(state));
    struct state_store *store = NULL;
    take_snapshots(world);
    damage_file(world, path_join(world->arena, snapshot_dir(world, 9), "MANIFEST.tidemill"),
                DAMAGE_GONE);
    damage_file(world, path_join(world->arena, snapshot_dir(world, 4), "MANIFEST.tidemill"),
                DAMAGE_BIT);
    world->first_batch = 5;
    assert_int_equal(try_open(world, 12, false, &store, &err), STATUS_CHECKPOINT__CORRUPT);
    assert_int_equal(try_open(world, 12, true, &store, &err), STATUS_CHECKPOINT__CORRUPT);
    world->first_batch = 0;
    store = open_store(world, 12, false);
    assert_int_equal(state_store_applied(store), STATE_NO_VERSION);
    advance(store, 12, true);
    check_scans(world, store, 12);
    state_store_close(store);
    world_free(world);
}

static void half_written_ones_are_removed(void **state)
{
    struct error err = ERROR_INIT;
    struct world *world = world_new(kind_of(state));
    take_snapshots(world);
    const char *part = arena_sprintf(world->arena, "%s.part", snapshot_dir(world, 11));
    assert_int_equal(vfs_make_dirs(world->vfs, part, &err), OK);
    assert_int_equal(
        vfs_put(world->vfs, path_join(world->arena, part, "x"), bytes_of("x", 1), false, &err), OK);
    state_store_close(open_store(world, 12, true));
    assert_true(vfs_exists(world->vfs, part));
    state_store_close(open_store(world, 12, false));
    assert_false(vfs_exists(world->vfs, part));
    world_free(world);
}

static void records_that_are_none_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct error last = ERROR_INIT;
    struct world *world = world_new(kind_of(state));
    struct state_store *store = open_store(world, STATE_NO_VERSION, false);
    buffer_clear(&world->records[3][0]);
    buffer_add_text(&world->records[3][0], "no changelog");
    advance(store, 2, false);
    assert_int_equal(state_store_wait(store, 5, &err), STATUS_CHECKSUM_MISMATCH);
    assert_int_equal(state_store_failures(store, &last), 1);
    assert_int_equal(last.status, STATUS_CHECKSUM_MISMATCH);
    assert_int_equal(state_store_applied(store), 2);
    state_store_close(store);
    world_free(world);
}

/* The library of C++ asks its handler before it throws. */
static void rocksdb_without_memory_ends_the_process_by_name(void **state)
{
    void (*(*get_new_handler)(void))(void) = NULL;
    struct world *world = world_new(kind_of(state));
    state_store_close(open_store(world, STATE_NO_VERSION, false));
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    void *address = dlsym(library, "_ZSt15get_new_handlerv");
    assert_non_null(address);
    memcpy(&get_new_handler, &address, sizeof address);
    void (*handler)(void) = get_new_handler();
    assert_true(handler != NULL);
    pid_t child = fork();
    if (child == 0)
        handler();
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), MEMORY_EXIT_STATUS);
    dlclose(library);
    world_free(world);
}

int main(void)
{
    static enum state_store_kind memory = STATE_STORE_MEMORY;
    static enum state_store_kind rocksdb = STATE_STORE_ROCKSDB;
#define BOTH(test)                                                                                 \
    {#test " (memory)", test, NULL, NULL, &memory},                                                \
    {                                                                                              \
#test " (rocksdb)", test, NULL, NULL, &rocksdb                                             \
    }
    static const struct CMUnitTest tests[] = {
        BOTH(holds_what_the_model_holds),
        BOTH(a_start_begins_with_the_newest_snapshot),
        BOTH(any_kept_version_can_be_looked_at),
        BOTH(what_is_abandoned_ends_and_nothing_of_it_is_kept),
        BOTH(a_damaged_snapshot_is_passed_over),
        BOTH(without_a_whole_one_the_changes_have_to_reach_back),
        BOTH(half_written_ones_are_removed),
        BOTH(records_that_are_none_are_refused),
        {"rocksdb_without_memory_ends_the_process_by_name",
         rocksdb_without_memory_ends_the_process_by_name, NULL, NULL, &rocksdb},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
