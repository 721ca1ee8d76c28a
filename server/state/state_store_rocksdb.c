/*
 * The engine that is RocksDB.
 *
 * It sees no single put: changes come sorted, become one SST file and are ingested by moving it. So
 * there is nothing in its memtable and nothing in its log, and a checkpoint is a matter of hard
 * links.  Buckets that were dropped are range tombstones in the same file; a tombstone does not
 * cover keys of its own file, which is what is wanted: ranges go first.
 *
 * The library is loaded by the first open, so that a process without state does without its pages.
 * Opening costs threads and descriptors, not many with the options here; its own log says only what
 * went wrong.
 */
#include "base/arena.h"
#include "base/dynlib.h"
#include "base/heap.h"
#include "base/memory_limit.h"
#include "base/path.h"
#include "state/state_store_engine.h"

#include <errno.h>
#include <rocksdb/c.h>
#include <stdlib.h>
#include <threads.h>

#define LIBRARY              "librocksdb.so.7.8"
#define SET_NEW_HANDLER      "_ZSt15set_new_handlerPFvvE" /* as C++ writes std::set_new_handler */
#define BLOCK_CACHE_BYTES    ((size_t)1 << 20)            /* scans do not fill it */
#define WRITE_BUFFER_BYTES   ((size_t)1 << 20)            /* stays empty */
#define MANIFEST_BYTES_AHEAD ((size_t)16 << 10)
#define SCAN_AHEAD_BYTES     ((size_t)1 << 20)
#define FAR_KEY_BYTES        32
#define BLOCK_BYTES          ((size_t)16 << 10) /* nobody looks for single keys */
#define OPEN_FILES           128
#define LOG_LEVEL_ERROR      3
#define SMALL_FILES          32
#define CHANGES_BETWEEN      4096 /* looks whether all this is still wanted */

#define FUNCTIONS(X)                                                                               \
    X(block_based_options_create)                                                                  \
    X(block_based_options_destroy)                                                                 \
    X(block_based_options_set_block_cache)                                                         \
    X(block_based_options_set_block_size)                                                          \
    X(cache_create_lru)                                                                            \
    X(cache_destroy)                                                                               \
    X(cancel_all_background_work)                                                                  \
    X(checkpoint_create)                                                                           \
    X(checkpoint_object_create)                                                                    \
    X(checkpoint_object_destroy)                                                                   \
    X(close)                                                                                       \
    X(column_family_handle_destroy)                                                                \
    X(create_iterator)                                                                             \
    X(envoptions_create)                                                                           \
    X(envoptions_destroy)                                                                          \
    X(free)                                                                                        \
    X(ingest_external_file)                                                                        \
    X(ingestexternalfileoptions_create)                                                            \
    X(ingestexternalfileoptions_destroy)                                                           \
    X(ingestexternalfileoptions_set_move_files)                                                    \
    X(iter_destroy)                                                                                \
    X(iter_get_error)                                                                              \
    X(iter_key)                                                                                    \
    X(iter_next)                                                                                   \
    X(iter_seek)                                                                                   \
    X(iter_seek_to_first)                                                                          \
    X(iter_valid)                                                                                  \
    X(iter_value)                                                                                  \
    X(open_column_families)                                                                        \
    X(open_for_read_only_column_families)                                                          \
    X(options_create)                                                                              \
    X(options_destroy)                                                                             \
    X(options_set_block_based_table_factory)                                                       \
    X(options_set_compression)                                                                     \
    X(options_set_create_if_missing)                                                               \
    X(options_set_db_log_dir)                                                                      \
    X(options_set_info_log_level)                                                                  \
    X(options_set_keep_log_file_num)                                                               \
    X(options_set_level0_file_num_compaction_trigger)                                              \
    X(options_set_level0_slowdown_writes_trigger)                                                  \
    X(options_set_level0_stop_writes_trigger)                                                      \
    X(options_set_manifest_preallocation_size)                                                     \
    X(options_set_max_background_jobs)                                                             \
    X(options_set_max_open_files)                                                                  \
    X(options_set_skip_stats_update_on_db_open)                                                    \
    X(options_set_stats_dump_period_sec)                                                           \
    X(options_set_write_buffer_size)                                                               \
    X(readoptions_create)                                                                          \
    X(readoptions_destroy)                                                                         \
    X(readoptions_set_fill_cache)                                                                  \
    X(readoptions_set_iterate_upper_bound)                                                         \
    X(readoptions_set_readahead_size)                                                              \
    X(sstfilewriter_create)                                                                        \
    X(sstfilewriter_delete)                                                                        \
    X(sstfilewriter_delete_range)                                                                  \
    X(sstfilewriter_destroy)                                                                       \
    X(sstfilewriter_finish)                                                                        \
    X(sstfilewriter_open)                                                                          \
    X(sstfilewriter_put)

static struct {
#define X(name) __typeof__(&rocksdb_##name) name;
    FUNCTIONS(X)
#undef X
    once_flag once;
    enum status status;
    struct error err;
} rocks = {.once = ONCE_FLAG_INIT, .err = ERROR_INIT};

struct rocks_engine {
    struct state_engine base;
    struct vfs *vfs;
    struct arena *arena;
    const char *dir;
    rocksdb_options_t *options;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family;
    const atomic_bool *abandoned; /* NULL: never */
};

static void no_memory(void)
{
    memory_exhausted(0);
}

/* RocksDB does not catch what C++ throws where there is no memory: the process would abort without
 * a reason. */
static void take_new_handler(void)
{
    void (*(*set_new_handler)(void (*)(void)))(void) = NULL;
    struct dynlib_symbol symbol = {SET_NEW_HANDLER, &set_new_handler};
    struct error err = ERROR_INIT;
    if (dynlib_load(LIBRARY, &symbol, 1, &err) == OK)
        (void)set_new_handler(no_memory);
    error_clear(&err);
}

static void load_once(void)
{
    static const struct dynlib_symbol symbols[] = {
#define X(name) {"rocksdb_" #name, &rocks.name},
        FUNCTIONS(X)
#undef X
    };
    rocks.status = dynlib_load(LIBRARY, symbols, sizeof symbols / sizeof symbols[0], &rocks.err);
    if (rocks.status == OK)
        take_new_handler();
}

static enum status load(struct error *err)
{
    call_once(&rocks.once, load_once);
    if (rocks.status != OK)
        *err = rocks.err;
    return rocks.status;
}

/* Takes the text that the library allocated; NULL: nothing was wrong. */
static enum status check(const struct rocks_engine *engine, char *text, struct error *err)
{
    enum status status = OK;
    if (text == NULL)
        return OK;
    if (strstr(text, "No space left") != NULL)
        status = error_raise(err, STATUS_DISK_FULL, "path", engine->dir, NULL);
    else
        status = error_raise(err, STATUS_IO_FAILURE, "path", engine->dir, "reason", text, NULL);
    rocks.free(text);
    return status;
}

static void make_options(struct rocks_engine *engine, bool small)
{
    rocksdb_options_t *options = rocks.options_create();
    rocksdb_block_based_table_options_t *table = rocks.block_based_options_create();
    rocksdb_cache_t *cache = rocks.cache_create_lru(BLOCK_CACHE_BYTES);
    rocks.block_based_options_set_block_cache(table, cache);
    rocks.block_based_options_set_block_size(table, BLOCK_BYTES);
    rocks.options_set_block_based_table_factory(options, table);
    rocks.options_set_create_if_missing(options, 1);
    rocks.options_set_compression(options, rocksdb_lz4_compression);
    rocks.options_set_write_buffer_size(options, WRITE_BUFFER_BYTES);
    rocks.options_set_manifest_preallocation_size(options, MANIFEST_BYTES_AHEAD);
    rocks.options_set_max_background_jobs(options, 2);
    rocks.options_set_max_open_files(options, OPEN_FILES);
    if (small) { /* else each piece would be merged with all that is there */
        rocks.options_set_level0_file_num_compaction_trigger(options, SMALL_FILES);
        rocks.options_set_level0_slowdown_writes_trigger(options, 2 * SMALL_FILES);
        rocks.options_set_level0_stop_writes_trigger(options, 3 * SMALL_FILES);
    }
    rocks.options_set_keep_log_file_num(options, 1);
    rocks.options_set_stats_dump_period_sec(options, 0);
    rocks.options_set_skip_stats_update_on_db_open(options, 1);
    rocks.options_set_info_log_level(options, LOG_LEVEL_ERROR);
    rocks.block_based_options_destroy(table);
    rocks.cache_destroy(cache); /* the table has its own reference */
    engine->options = options;
}

/* The files that never change get a second name, the others are copied. */
static enum status copy_snapshot(struct rocks_engine *engine, const char *from, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    TRY(vfs_make_dirs(engine->vfs, engine->dir, err));
    TRY(vfs_list(engine->vfs, from, engine->arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].name;
        size_t size = strlen(name);
        const char *source = path_join(engine->arena, from, name);
        const char *target = path_join(engine->arena, engine->dir, name);
        struct bytes content;
        struct vfs_map *map = NULL;
        struct vfs_file *file = NULL;
        if (strcmp(name, STATE_MANIFEST_NAME) == 0)
            continue;
        if (size > 4 && strcmp(name + size - 4, ".sst") == 0) {
            TRY(vfs_link(engine->vfs, source, target, err));
            continue;
        }
        TRY(vfs_map(engine->vfs, source, &map, &content, err));
        enum status status = vfs_open(engine->vfs, target, 0, 0, &file, err);
        if (status == OK)
            status = vfs_append(file, content, err);
        vfs_close(file);
        vfs_unmap(map);
        TRY(status);
    }
    return OK;
}

static bool is_abandoned(const struct rocks_engine *engine)
{
    return engine->abandoned != NULL && atomic_load(engine->abandoned);
}

static void rocks_close(struct state_engine *base)
{
    struct rocks_engine *engine = (struct rocks_engine *)base;
    if (engine->family != NULL)
        rocks.column_family_handle_destroy(engine->family);
    if (engine->db != NULL && is_abandoned(engine))
        rocks.cancel_all_background_work(engine->db, 1);
    if (engine->db != NULL)
        rocks.close(engine->db);
    if (engine->options != NULL)
        rocks.options_destroy(engine->options);
    arena_free(engine->arena);
    free(engine);
}

/* The library insists on a log of its own: it is put where it does not change the snapshot. */
static enum status open_to_look(struct rocks_engine *engine, struct error *err)
{
    const char *family = "default";
    const rocksdb_options_t *options = engine->options;
    const char *temporary = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): nothing sets it
    char *text = NULL;
    char *dir = arena_sprintf(engine->arena, "%s/tidemill-look.XXXXXX",
                              temporary == NULL ? "/tmp" : temporary);
    if (mkdtemp(dir) == NULL)
        return vfs_error(err, dir, errno);
    rocks.options_set_db_log_dir(engine->options, dir);
    engine->db = rocks.open_for_read_only_column_families(options, engine->dir, 1, &family,
                                                          &options, &engine->family, 0, &text);
    enum status status = check(engine, text, err);
    struct error ignored = ERROR_INIT;
    if (vfs_remove_tree(engine->vfs, dir, &ignored) != OK)
        error_clear(&ignored); /* an empty log that nobody needs */
    return status;
}

static enum status open_db(struct rocks_engine *engine, const struct state_engine_config *config,
                           struct error *err)
{
    const char *family = "default";
    const rocksdb_options_t *options = NULL;
    char *text = NULL;
    engine->dir = arena_strdup(engine->arena, config->db != NULL ? config->db : config->snapshot);
    make_options(engine, config->small);
    options = engine->options;
    if (config->db == NULL)
        return open_to_look(engine, err);
    TRY(vfs_make_dirs(engine->vfs, path_dirname(engine->arena, engine->dir), err));
    if (config->snapshot != NULL)
        TRY(copy_snapshot(engine, config->snapshot, err));
    engine->db = rocks.open_column_families(options, engine->dir, 1, &family, &options,
                                            &engine->family, &text);
    return check(engine, text, err);
}

static enum status rocks_open(const struct state_engine_config *config, struct state_engine **out,
                              struct error *err)
{
    TRY(load(err));
    struct rocks_engine *engine = heap_calloc(1, sizeof *engine);
    engine->base.ops = &state_engine_rocksdb;
    engine->vfs = config->vfs;
    engine->abandoned = config->abandoned;
    engine->arena = arena_new("state store", 0);
    enum status status = open_db(engine, config, err);
    if (status != OK) {
        rocks_close(&engine->base);
        return status;
    }
    *out = &engine->base;
    return OK;
}

static const char *text_of(struct bytes bytes)
{
    return (const char *)bytes.data;
}

static enum status write_ranges(struct rocks_engine *engine, rocksdb_sstfilewriter_t *writer,
                                const struct state_range *ranges, size_t count, struct error *err)
{
    uint8_t far[FAR_KEY_BYTES];
    memset(far, 0xff, sizeof far);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        struct bytes until = ranges[i].until;
        if (until.size_bytes == 0)
            until = bytes_of(far, sizeof far);
        rocks.sstfilewriter_delete_range(writer, text_of(ranges[i].from), ranges[i].from.size_bytes,
                                         text_of(until), until.size_bytes, &text);
        TRY(check(engine, text, err));
    }
    return OK;
}

static enum status write_changes(struct rocks_engine *engine, rocksdb_sstfilewriter_t *writer,
                                 const struct state_change *changes, size_t count,
                                 struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        const struct state_change *change = &changes[i];
        if (i % CHANGES_BETWEEN == 0 && is_abandoned(engine))
            return error_raise(err, STATUS_OPERATION_CANCELLED, NULL);
        if (change->gone)
            rocks.sstfilewriter_delete(writer, text_of(change->key), change->key.size_bytes, &text);
        else
            rocks.sstfilewriter_put(writer, text_of(change->key), change->key.size_bytes,
                                    text_of(change->value), change->value.size_bytes, &text);
        TRY(check(engine, text, err));
    }
    return OK;
}

static enum status ingest(struct rocks_engine *engine, const char *path, struct error *err)
{
    char *text = NULL;
    rocksdb_ingestexternalfileoptions_t *options = rocks.ingestexternalfileoptions_create();
    rocks.ingestexternalfileoptions_set_move_files(options, 1);
    rocks.ingest_external_file(engine->db, &path, 1, options, &text);
    rocks.ingestexternalfileoptions_destroy(options);
    return check(engine, text, err);
}

static enum status rocks_apply(struct state_engine *base, const struct state_range *ranges,
                               size_t range_count, const struct state_change *changes, size_t count,
                               struct error *err)
{
    struct rocks_engine *engine = (struct rocks_engine *)base;
    enum status status = OK;
    char *text = NULL;
    struct arena *arena = arena_new("sst", 0);
    const char *path = path_join(arena, engine->dir, "incoming");
    rocksdb_envoptions_t *env = rocks.envoptions_create();
    rocksdb_sstfilewriter_t *writer = rocks.sstfilewriter_create(env, engine->options);
    rocks.sstfilewriter_open(writer, path, &text);
    TRY_OUT(check(engine, text, err));
    TRY_OUT(write_ranges(engine, writer, ranges, range_count, err));
    TRY_OUT(write_changes(engine, writer, changes, count, err));
    text = NULL;
    rocks.sstfilewriter_finish(writer, &text);
    TRY_OUT(check(engine, text, err));
    TRY_OUT(ingest(engine, path, err));
out:
    rocks.sstfilewriter_destroy(writer);
    rocks.envoptions_destroy(env);
    if (status != OK) {
        struct error ignored = ERROR_INIT;
        if (vfs_remove(engine->vfs, path, &ignored) != OK)
            error_clear(&ignored); /* the next one begins it anew */
    }
    arena_free(arena);
    return status;
}

static enum status rocks_save(struct state_engine *base, const char *dir, struct error *err)
{
    struct rocks_engine *engine = (struct rocks_engine *)base;
    char *text = NULL;
    rocksdb_checkpoint_t *checkpoint = rocks.checkpoint_object_create(engine->db, &text);
    TRY(check(engine, text, err));
    rocks.checkpoint_create(checkpoint, dir, 0, &text);
    rocks.checkpoint_object_destroy(checkpoint);
    return check(engine, text, err);
}

static enum status scan_with(struct rocks_engine *engine, rocksdb_iterator_t *iterator,
                             struct bytes from, struct state_raw_receiver *receiver,
                             struct error *err)
{
    char *text = NULL;
    if (from.size_bytes == 0)
        rocks.iter_seek_to_first(iterator);
    else
        rocks.iter_seek(iterator, text_of(from), from.size_bytes);
    for (; rocks.iter_valid(iterator); rocks.iter_next(iterator)) {
        size_t key_size = 0;
        size_t value_size = 0;
        const char *key = rocks.iter_key(iterator, &key_size);
        const char *value = rocks.iter_value(iterator, &value_size);
        TRY(receiver->receive(receiver, bytes_of(key, key_size), bytes_of(value, value_size), err));
    }
    rocks.iter_get_error(iterator, &text);
    return check(engine, text, err);
}

static enum status rocks_scan(struct state_engine *base, const struct state_range *range,
                              struct state_raw_receiver *receiver, struct error *err)
{
    struct rocks_engine *engine = (struct rocks_engine *)base;
    rocksdb_readoptions_t *options = rocks.readoptions_create();
    rocks.readoptions_set_fill_cache(options, 0);
    rocks.readoptions_set_readahead_size(options, SCAN_AHEAD_BYTES);
    if (range->until.size_bytes > 0)
        rocks.readoptions_set_iterate_upper_bound(options, text_of(range->until),
                                                  range->until.size_bytes);
    rocksdb_iterator_t *iterator = rocks.create_iterator(engine->db, options);
    enum status status = scan_with(engine, iterator, range->from, receiver, err);
    rocks.iter_destroy(iterator);
    rocks.readoptions_destroy(options);
    return status;
}

const struct state_engine_ops state_engine_rocksdb = {
    .open = rocks_open,
    .close = rocks_close,
    .apply = rocks_apply,
    .save = rocks_save,
    .scan = rocks_scan,
};
