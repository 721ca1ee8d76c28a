/*
 * See state_store.h.  What is the same for all engines: snapshots and their names, what is kept,
 * and the work in the background.
 */
#include "state/state_store.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/task_pool.h"
#include "state/state_store_changes.h"
#include "state/state_store_engine.h"
#include "state/state_store_files.h"

#include <stdatomic.h>
#include <stdlib.h>

#define STORE_MAGIC       0x57a7e570U
#define CHANGES_BYTES_MAX ((size_t)64 << 20) /* merged at once */
#define CHANGES_BYTES_MIN ((size_t)2 << 20)
#define LIMITED_BYTES     ((uint64_t)512 << 20) /* with less memory, merges are smaller */

/* Changes that are laid over what is scanned. */
struct overlay {
    struct state_raw_receiver base;
    const struct state_range *ranges;
    size_t range_count;
    const struct state_change *changes;
    size_t count;
    size_t at;
    struct state_entry_receiver *receiver;
};

struct state_store {
    uint32_t magic;
    struct state_changes_owner owner; /* of `changes` */
    struct state_store_config config;
    const struct state_engine_ops *ops;
    /* NULL: there is nothing yet; the background makes it with the first changes. */
    struct state_engine *_Atomic engine;
    struct arena *arena;
    struct state_changes *changes;
    size_t changes_limit;
    struct overlay *overlay;       /* read-only: what lies over the snapshot; NULL: nothing */
    struct state_files files;      /* the background's */
    struct background *background; /* NULL until needed */
    int64_t goal;                  /* of the request at hand */
    bool goal_snapshot;
    atomic_bool busy;
    atomic_bool abandoned;
    _Atomic int64_t applied;
    _Atomic int64_t newest;
    _Atomic int64_t oldest_needed;
    _Atomic uint64_t snapshot_bytes;
    _Atomic uint32_t failures;
    struct error error; /* of the last request; the batch thread's unless busy */
};

/* Collects records; what has been collected is merged when it is much. */
struct collector {
    struct state_record_receiver base;
    struct state_store *store;
};

/* Between two steps of the work. */
static enum status check_abandoned(const struct state_store *store, struct error *err)
{
    return atomic_load(&store->abandoned) ? error_raise(err, STATUS_OPERATION_CANCELLED, NULL) : OK;
}

/* The engine, begun with the newest snapshot if it is not there yet. */
static enum status open_engine(struct state_store *store, struct error *err)
{
    const struct state_store_config *config = &store->config;
    struct state_engine_config engine_config = {
        .vfs = config->vfs,
        .abandoned = &store->abandoned,
        .small = store->changes_limit < CHANGES_BYTES_MAX,
    };
    struct state_engine *engine = NULL;
    int64_t version = state_files_newest(&store->files);
    if (atomic_load(&store->engine) != NULL)
        return OK;
    if (version != STATE_NO_VERSION)
        engine_config.snapshot = state_files_path(&store->files, store->arena, version, "");
    if (!config->read_only)
        engine_config.db = path_join(store->arena, config->dir, "db");
    if (engine_config.db != NULL) /* what a failure left */
        TRY(vfs_remove_tree(config->vfs, engine_config.db, err));
    TRY(store->ops->open(&engine_config, &engine, err));
    atomic_store(&store->engine, engine);
    return OK;
}

static enum status merge(struct state_store *store, struct error *err)
{
    const struct state_range *ranges = NULL;
    const struct state_change *changes = NULL;
    size_t range_count = 0;
    size_t count = 0;
    state_changes_finish(store->changes, &ranges, &range_count, &changes, &count);
    TRY(check_abandoned(store, err));
    TRY(open_engine(store, err));
    struct state_engine *engine = atomic_load(&store->engine);
    if (count > 0 || range_count > 0)
        TRY(engine->ops->apply(engine, ranges, range_count, changes, count, err));
    TRY(FAILPOINT(mid_state_apply, err));
    state_changes_clear(store->changes);
    return OK;
}

static enum status collect(struct state_record_receiver *self, struct bytes record,
                           struct error *err)
{
    struct state_store *store = ((struct collector *)self)->store;
    TRY(check_abandoned(store, err));
    return state_changes_add(store->changes, record, err);
}

static enum status merge_full(struct state_changes_owner *owner, struct error *err)
{
    return merge((struct state_store *)((char *)owner - offsetof(struct state_store, owner)), err);
}

/* Takes the changes of the batches up to `version` from the feed. */
static enum status feed(struct state_store *store, int64_t version, struct error *err)
{
    struct collector collector = {.base = {.receive = collect}, .store = store};
    struct state_feed *from = store->config.feed;
    int64_t applied = atomic_load(&store->applied);
    if (applied >= version)
        return OK;
    state_changes_clear(store->changes);
    TRY(from->replay(from, applied + 1, version, &collector.base, err));
    if (!store->config.read_only)
        TRY(merge(store, err));
    atomic_store(&store->applied, version);
    return OK;
}

static void publish_files(struct state_store *store)
{
    atomic_store(&store->newest, state_files_newest(&store->files));
    atomic_store(&store->oldest_needed, state_files_oldest_needed(&store->files));
    atomic_store(&store->snapshot_bytes, store->files.manifest.bytes);
}

static enum status save(struct state_store *store, int64_t version, struct error *err)
{
    if (state_files_newest(&store->files) >= version)
        return OK;
    TRY(open_engine(store, err));
    TRY(check_abandoned(store, err));
    TRY(state_files_save(&store->files, atomic_load(&store->engine), version, err));
    publish_files(store);
    return OK;
}

static void work(void *arg)
{
    struct state_store *store = arg;
    struct error err = ERROR_INIT;
    enum status status = feed(store, store->goal, &err);
    state_changes_trim(store->changes);
    if (status == OK && store->goal_snapshot)
        status = save(store, store->goal, &err);
    if (status == OK) {
        atomic_store(&store->failures, 0);
    } else if (status != STATUS_OPERATION_CANCELLED) {
        atomic_fetch_add(&store->failures, 1);
        log_event(store->config.log, LOG_WARN, "snapshot_failed",
                  (struct log_field[]){
                      log_i64("version", store->goal), log_text("reason", err.text), {0}});
    }
    store->error = err;
    atomic_store(&store->busy, false);
}

void state_store_advance(struct state_store *store, int64_t version, bool snapshot)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    CHECK(!store->config.read_only);
    if (atomic_load(&store->busy))
        return;
    store->goal = version;
    store->goal_snapshot = snapshot;
    atomic_store(&store->busy, true);
    if (store->ops->inline_work) {
        work(store);
        return;
    }
    if (store->background == NULL)
        store->background = background_new();
    if (!background_submit(store->background, work, store))
        work(store); /* no thread to be had */
}

bool state_store_busy(const struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    return atomic_load(&store->busy);
}

enum status state_store_wait(struct state_store *store, int64_t version, struct error *err)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    if (store->background != NULL)
        background_wait(store->background);
    if (atomic_load(&store->applied) >= version)
        return OK;
    state_store_advance(store, version, false);
    if (store->background != NULL)
        background_wait(store->background);
    if (atomic_load(&store->applied) >= version)
        return OK;
    *err = store->error;
    return err->status;
}

uint32_t state_store_failures(const struct state_store *store, struct error *last)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    uint32_t count = atomic_load(&store->failures);
    if (count > 0 && last != NULL && !atomic_load(&store->busy))
        *last = store->error;
    return count;
}

/* Whether the log has all changes since the snapshot. */
static enum status check_reach(const struct state_store_config *config, int64_t version,
                               struct error *err)
{
    if (config->first_batch <= version + 1 || config->version == STATE_NO_VERSION)
        return OK;
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", config->dir, "reason",
                       "no snapshot of the state is whole, and the log does not reach back to "
                       "the first batch",
                       NULL);
}

enum status state_store_foresee(const struct state_store_config *config, struct arena *arena,
                                struct state_start *out, struct error *err)
{
    TRY(state_files_foresee(config, arena, out, err));
    return check_reach(config, out->version, err);
}

/* Begins with the newest whole snapshot. */
static enum status begin(struct state_store *store, struct error *err)
{
    const struct state_store_config *config = &store->config;
    TRY(state_files_open(&store->files, err));
    int64_t version = state_files_newest(&store->files);
    TRY(check_reach(config, version, err));
    if (version != STATE_NO_VERSION)
        TRY(open_engine(store, err));
    atomic_store(&store->applied, version);
    publish_files(store);
    return OK;
}

/* Makes the changes since the snapshot lie over it. */
static enum status look(struct state_store *store, struct error *err)
{
    struct overlay *overlay = arena_new_object(store->arena, sizeof *overlay);
    TRY(feed(store, store->config.version, err));
    state_changes_finish(store->changes, &overlay->ranges, &overlay->range_count, &overlay->changes,
                         &overlay->count);
    store->overlay = overlay;
    return OK;
}

static size_t changes_limit(uint64_t memory_bytes)
{
    if (memory_bytes == 0 || memory_bytes >= LIMITED_BYTES)
        return CHANGES_BYTES_MAX;
    size_t share = (size_t)memory_bytes / 8;
    return share < CHANGES_BYTES_MIN ? CHANGES_BYTES_MIN : share;
}

enum status state_store_open(const struct state_store_config *config, struct state_store **out,
                             struct error *err)
{
    struct state_store *store = heap_calloc(1, sizeof *store);
    CHECK(config->versions_kept >= 1);
    store->magic = STORE_MAGIC;
    store->config = *config;
    store->ops = config->kind == STATE_STORE_ROCKSDB ? &state_engine_rocksdb : &state_engine_memory;
    store->arena = arena_new("state store", 0);
    store->config.dir = arena_strdup(store->arena, config->dir);
    store->changes = state_changes_new();
    store->changes_limit = changes_limit(config->memory_bytes);
    store->owner.full = merge_full;
    if (!config->read_only)
        state_changes_limit(store->changes, store->changes_limit, &store->owner);
    atomic_init(&store->applied, STATE_NO_VERSION);
    state_files_init(&store->files, &store->config);
    enum status status = begin(store, err);
    if (status == OK && config->read_only)
        status = look(store, err);
    if (status != OK) {
        state_store_close(store);
        return status;
    }
    *out = store;
    return OK;
}

void state_store_abandon(struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    atomic_store(&store->abandoned, true);
}

void state_store_close(struct state_store *store)
{
    if (store == NULL)
        return;
    CHECK_MAGIC(store, STORE_MAGIC);
    background_free(store->background);
    struct state_engine *engine = atomic_load(&store->engine);
    if (engine != NULL)
        engine->ops->close(engine);
    state_changes_free(store->changes);
    state_files_fini(&store->files);
    arena_free(store->arena);
    store->magic = 0;
    free(store);
}

int64_t state_store_applied(const struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    return atomic_load(&store->applied);
}

int64_t state_store_oldest_needed(const struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    return atomic_load(&store->oldest_needed);
}

int64_t state_store_newest_snapshot(const struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    return atomic_load(&store->newest);
}

uint64_t state_store_snapshot_bytes(const struct state_store *store)
{
    CHECK_MAGIC(store, STORE_MAGIC);
    return atomic_load(&store->snapshot_bytes);
}

static enum status hand_over(struct overlay *overlay, struct bytes key, struct bytes value,
                             struct error *err)
{
    struct state_store_entry entry = {.value = value};
    if (!state_key_split(key, &entry))
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "a key of the state store", NULL);
    return overlay->receiver->receive(overlay->receiver, &entry, err);
}

static bool before(struct bytes key, struct bytes end)
{
    return end.size_bytes == 0 || bytes_compare(key, end) < 0;
}

/* The changes that stand before `key` (no bytes: all that are left). */
static enum status hand_over_changes(struct overlay *overlay, struct bytes key, struct error *err)
{
    for (; overlay->at < overlay->count && before(overlay->changes[overlay->at].key, key);
         overlay->at++)
        if (!overlay->changes[overlay->at].gone)
            TRY(hand_over(overlay, overlay->changes[overlay->at].key,
                          overlay->changes[overlay->at].value, err));
    return OK;
}

static enum status scanned(struct state_raw_receiver *self, struct bytes key, struct bytes value,
                           struct error *err)
{
    struct overlay *overlay = (struct overlay *)self;
    TRY(hand_over_changes(overlay, key, err));
    if (overlay->at < overlay->count && bytes_equal(overlay->changes[overlay->at].key, key))
        return OK; /* its change is what counts */
    for (size_t i = 0; i < overlay->range_count; i++)
        if (bytes_compare(key, overlay->ranges[i].from) >= 0 &&
            before(key, overlay->ranges[i].until))
            return OK;
    return hand_over(overlay, key, value, err);
}

/* Everything whose key begins with `prefix`. */
static enum status scan(struct state_store *store, struct bytes prefix,
                        struct state_entry_receiver *receiver, struct error *err)
{
    uint8_t after[STATE_KEY_PREFIX_BYTES];
    struct overlay overlay = {.base = {.receive = scanned}, .receiver = receiver};
    CHECK_MAGIC(store, STORE_MAGIC);
    struct state_range range = {
        .from = prefix,
        .until = bytes_of(after, state_key_after(after, prefix)),
    };
    if (store->overlay != NULL) {
        overlay = *store->overlay;
        overlay.base.receive = scanned;
        overlay.receiver = receiver;
        while (overlay.at < overlay.count &&
               bytes_compare(overlay.changes[overlay.at].key, prefix) < 0)
            overlay.at++;
        while (overlay.count > overlay.at &&
               !before(overlay.changes[overlay.count - 1].key, range.until))
            overlay.count--;
    }
    struct state_engine *engine = atomic_load(&store->engine);
    if (engine != NULL)
        TRY(engine->ops->scan(engine, &range, &overlay.base, err));
    return hand_over_changes(&overlay, bytes_of("", 0), err);
}

enum status state_store_scan(struct state_store *store, struct state_place place,
                             struct state_entry_receiver *receiver, struct error *err)
{
    uint8_t prefix[STATE_KEY_PREFIX_BYTES];
    state_key_prefix(prefix, place);
    return scan(store, bytes_of(prefix, sizeof prefix), receiver, err);
}

enum status state_store_scan_partition(struct state_store *store, struct state_place place,
                                       struct state_entry_receiver *receiver, struct error *err)
{
    uint8_t prefix[STATE_KEY_PREFIX_BYTES];
    state_key_prefix(prefix, place);
    return scan(store, bytes_of(prefix, STATE_KEY_GROUP_BYTES), receiver, err);
}

enum status state_store_scan_all(struct state_store *store, struct state_entry_receiver *receiver,
                                 struct error *err)
{
    return scan(store, bytes_of("", 0), receiver, err);
}

struct bucket_counter {
    struct state_entry_receiver base;
    struct state_bucket_info info;
    struct state_bucket_receiver *receiver;
};

static enum status flush_bucket(struct bucket_counter *counter, struct error *err)
{
    if (counter->info.entries == 0)
        return OK;
    return counter->receiver->receive(counter->receiver, &counter->info, err);
}

static enum status count_entry(struct state_entry_receiver *self,
                               const struct state_store_entry *entry, struct error *err)
{
    struct bucket_counter *counter = (struct bucket_counter *)self;
    if (counter->info.entries == 0 || entry->bucket != counter->info.bucket) {
        TRY(flush_bucket(counter, err));
        counter->info = (struct state_bucket_info){.bucket = entry->bucket};
    }
    counter->info.entries++;
    counter->info.bytes += entry->key.size_bytes + entry->value.size_bytes;
    return OK;
}

enum status state_store_buckets(struct state_store *store, struct state_place place,
                                struct state_bucket_receiver *receiver, struct error *err)
{
    struct bucket_counter counter = {.base = {.receive = count_entry}, .receiver = receiver};
    TRY(state_store_scan_partition(store, place, &counter.base, err));
    return flush_bucket(&counter, err);
}
