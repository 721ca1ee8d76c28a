/*
 * The engine that keeps everything in memory, and its snapshots as one file through the vfs:
 *
 *     entries      key size (varint) · key · value size (varint) · value, one after another
 *
 * Each apply makes the whole anew: it is for tests and small states, where the disk is the vfs.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "state/changelog.h"
#include "state/state_store_engine.h"

#include <stdlib.h>

#define FILE_NAME "entries"

struct pair {
    struct bytes key;
    struct bytes value;
};

struct memory {
    struct state_engine base;
    struct vfs *vfs;
    struct arena *arena; /* of keys and values */
    struct pair *pairs;
    size_t count;
    size_t capacity;
};

static void add_pair(struct memory *memory, struct bytes key, struct bytes value)
{
    if (memory->count == memory->capacity) {
        memory->capacity = memory->capacity == 0 ? 64 : memory->capacity * 2;
        memory->pairs = heap_realloc(memory->pairs, memory->capacity * sizeof *memory->pairs);
    }
    memory->pairs[memory->count++] = (struct pair){
        .key = arena_copy(memory->arena, key),
        .value = arena_copy(memory->arena, value),
    };
}

static bool take_bytes(struct bytes *from, struct bytes *out)
{
    uint64_t size = 0;
    if (!varint_take(from, &size) || size > from->size_bytes)
        return false;
    *out = bytes_of(from->data, (size_t)size);
    *from = bytes_of(from->data + size, from->size_bytes - (size_t)size);
    return true;
}

static enum status load(struct memory *memory, const char *dir, struct error *err)
{
    enum status status = OK;
    struct vfs_map *map = NULL;
    struct bytes rest;
    const char *path = path_join(memory->arena, dir, FILE_NAME);
    TRY(vfs_map(memory->vfs, path, &map, &rest, err));
    while (status == OK && rest.size_bytes > 0) {
        struct bytes key;
        struct bytes value;
        if (take_bytes(&rest, &key) && take_bytes(&rest, &value))
            add_pair(memory, key, value);
        else
            status = error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", path, NULL);
    }
    vfs_unmap(map);
    return status;
}

static void memory_close(struct state_engine *engine)
{
    struct memory *memory = (struct memory *)engine;
    arena_free(memory->arena);
    free(memory->pairs);
    free(memory);
}

static enum status memory_open(const struct state_engine_config *config, struct state_engine **out,
                               struct error *err)
{
    struct memory *memory = heap_calloc(1, sizeof *memory);
    memory->base.ops = &state_engine_memory;
    memory->vfs = config->vfs;
    memory->arena = arena_new("state store", 0);
    enum status status = config->snapshot == NULL ? OK : load(memory, config->snapshot, err);
    if (status != OK) {
        memory_close(&memory->base);
        return status;
    }
    *out = &memory->base;
    return OK;
}

static bool in_range(const struct state_range *range, struct bytes key)
{
    return bytes_compare(key, range->from) >= 0 &&
           (range->until.size_bytes == 0 || bytes_compare(key, range->until) < 0);
}

static bool in_ranges(const struct state_range *ranges, size_t count, struct bytes key)
{
    for (size_t i = 0; i < count; i++)
        if (in_range(&ranges[i], key))
            return true;
    return false;
}

static enum status memory_apply(struct state_engine *engine, const struct state_range *ranges,
                                size_t range_count, const struct state_change *changes,
                                size_t count, struct error *err)
{
    struct memory *memory = (struct memory *)engine;
    struct memory old = *memory;
    size_t at = 0;
    (void)err;
    memory->arena = arena_new("state store", 0);
    memory->pairs = NULL;
    memory->count = memory->capacity = 0;
    for (size_t i = 0; i < count || at < old.count;) {
        int order = i == count ? -1 : 1;
        if (i < count && at < old.count)
            order = bytes_compare(old.pairs[at].key, changes[i].key);
        if (order < 0) {
            if (!in_ranges(ranges, range_count, old.pairs[at].key))
                add_pair(memory, old.pairs[at].key, old.pairs[at].value);
            at++;
            continue;
        }
        if (!changes[i].gone)
            add_pair(memory, changes[i].key, changes[i].value);
        i++;
        at += order == 0;
    }
    arena_free(old.arena);
    free(old.pairs);
    return OK;
}

static enum status memory_save(struct state_engine *engine, const char *dir, struct error *err)
{
    struct memory *memory = (struct memory *)engine;
    struct buffer content = {0};
    struct vfs_file *file = NULL;
    struct arena *arena = arena_new("state snapshot", 0);
    enum status status = OK;
    for (size_t i = 0; i < memory->count; i++) {
        varint_put(&content, memory->pairs[i].key.size_bytes);
        buffer_add_bytes(&content, memory->pairs[i].key);
        varint_put(&content, memory->pairs[i].value.size_bytes);
        buffer_add_bytes(&content, memory->pairs[i].value);
    }
    TRY_OUT(vfs_make_dirs(memory->vfs, dir, err));
    TRY_OUT(vfs_open(memory->vfs, path_join(arena, dir, FILE_NAME), 0, 0, &file, err));
    TRY_OUT(vfs_append(file, buffer_bytes(&content), err));
    status = vfs_sync(file, err);
out:
    vfs_close(file);
    arena_free(arena);
    buffer_fini(&content);
    return status;
}

/* The first pair that is not before `key`. */
static size_t lower_bound(const struct memory *memory, struct bytes key)
{
    size_t low = 0;
    size_t high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(memory->pairs[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status memory_scan(struct state_engine *engine, const struct state_range *range,
                               struct state_raw_receiver *receiver, struct error *err)
{
    struct memory *memory = (struct memory *)engine;
    for (size_t i = lower_bound(memory, range->from);
         i < memory->count && in_range(range, memory->pairs[i].key); i++)
        TRY(receiver->receive(receiver, memory->pairs[i].key, memory->pairs[i].value, err));
    return OK;
}

const struct state_engine_ops state_engine_memory = {
    .open = memory_open,
    .close = memory_close,
    .apply = memory_apply,
    .save = memory_save,
    .scan = memory_scan,
    .inline_work = true,
};
