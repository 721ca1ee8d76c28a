/*
 * See pane_spill.h.
 */
#include "exec/pane_spill.h"

#include "base/check.h"
#include "state/changelog.h"

#define BUCKET        0                 /* of all entries */
#define PASSING_BYTES ((size_t)1 << 20) /* of entries at once */

static struct arena *passing_arena(struct pane_spill *disk)
{
    if (disk->passing == NULL)
        disk->passing = arena_new("passing panes", 0);
    return disk->passing;
}

void pane_spill_fini(struct pane_spill *disk)
{
    spill_fini(&disk->spill);
    arena_free(disk->passing);
    disk->passing = NULL;
    buffer_fini(&disk->saved);
    buffer_fini(&disk->scratch);
}

uint64_t pane_spill_bytes(const struct pane_spill *disk)
{
    size_t passing = disk->passing == NULL ? 0 : arena_used_bytes(disk->passing);
    return spill_bytes(&disk->spill) + passing;
}

static bool in_memory(const struct pane_store *store, struct bytes key, uint64_t hash)
{
    for (uint32_t i = 0; i < store->count; i++)
        if (pane_store_entry(store, store->generations[i], key, hash) != NULL)
            return true;
    return false;
}

/* ---- entries ---- */

static uint64_t zigzag(uint64_t distance)
{
    return distance << 1 ^ (0 - (distance >> 63));
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Where the reading of an entry stands. */
struct entry_reader {
    struct bytes rest;
    struct bytes from; /* the rest when the present pane began, behind its distance */
    int64_t pane;
    struct bytes states;
};

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the spilled panes of a key", NULL);
}

static enum status next_pane(struct entry_reader *reader, struct error *err)
{
    uint64_t distance = 0;
    uint64_t size = 0;
    if (!varint_take(&reader->rest, &distance))
        return damaged(err);
    reader->pane = (int64_t)((uint64_t)reader->pane + unzigzag(distance));
    reader->from = reader->rest;
    if (!varint_take(&reader->rest, &size) || size > reader->rest.size_bytes)
        return damaged(err);
    reader->states = bytes_of(reader->rest.data, (size_t)size);
    reader->rest = bytes_of(reader->rest.data + size, reader->rest.size_bytes - (size_t)size);
    return OK;
}

static enum status load_states(const struct pane_store *store, struct arena *arena,
                               struct bytes states, uint8_t *block, struct error *err)
{
    memset(block, 0, store->calls->block_bytes);
    aggregate_calls_init(store->calls, block);
    return aggregate_calls_load(store->calls, store->calls->plain ? NULL : arena, states, block,
                                err);
}

/* ---- back into memory ---- */

struct loader {
    struct spill_receiver base;
    struct pane_store *store;
};

static enum status load_key(struct spill_receiver *self, int64_t end, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct pane_store *store = ((struct loader *)self)->store;
    struct entry_reader reader = {.rest = value};
    struct pane_place place = {.hash = state_hash(key)};
    (void)end;
    while (reader.rest.size_bytes > 0) {
        bool added = false;
        TRY(next_pane(&reader, err));
        if (pane_is_over(store, reader.pane))
            continue;
        int64_t number = pane_generation(&store->grid, reader.pane);
        place.generation = pane_store_open(store, number);
        struct state_bucket *bucket = place.generation->bucket;
        place.entry = state_add(store->table, bucket, key, place.hash, &added);
        uint32_t pane = (uint32_t)(reader.pane - number * store->grid.per_window);
        struct pane_item *item = pane_store_bring(store, &place, pane);
        TRY(load_states(store, state_bucket_arena(bucket), reader.states, item->block, err));
    }
    return OK;
}

void pane_spill_want(struct pane_spill *disk, struct bytes key, uint64_t hash)
{
    if (!spill_is_empty(&disk->spill) && !in_memory(disk->store, key, hash))
        spill_want(&disk->spill, BUCKET, hash, key);
}

enum status pane_spill_fetch(struct pane_spill *disk, struct error *err)
{
    struct loader loader = {.base = {.receive = load_key}, .store = disk->store};
    return spill_fetch(&disk->spill, &loader.base, err);
}

/* ---- out ---- */

struct passage {
    struct spill_receiver base;
    struct pane_spill *disk;
    struct pane_emission *emission;
    int64_t from;
    int64_t to;
};

/* The panes of an entry that are not over, by generation. */
static enum status read_lists(struct pane_spill *disk, struct bytes value,
                              struct pane_key_list *lists, uint32_t *count, void *memory,
                              struct error *err)
{
    const struct pane_store *store = disk->store;
    struct entry_reader reader = {.rest = value};
    uint8_t *items = memory;
    *count = 0;
    while (reader.rest.size_bytes > 0) {
        TRY(next_pane(&reader, err));
        if (pane_is_over(store, reader.pane))
            continue;
        int64_t number = pane_generation(&store->grid, reader.pane);
        if (*count == 0 || lists[*count - 1].generation != number)
            lists[(*count)++] = (struct pane_key_list){
                .generation = number,
                .list = {.items = items},
            };
        struct pane_list *list = &lists[*count - 1].list;
        uint32_t pane = (uint32_t)(reader.pane - number * store->grid.per_window);
        if (list->count == 0)
            list->first = pane;
        struct pane_item *item = pane_item_at(store, list, list->count++);
        *item = (struct pane_item){.pane = pane};
        list->last = pane;
        items += store->item_bytes;
        TRY(load_states(store, disk->passing, reader.states, item->block, err));
    }
    return OK;
}

static enum status count_panes(struct bytes value, uint32_t *count, struct error *err)
{
    struct entry_reader reader = {.rest = value};
    for (*count = 0; reader.rest.size_bytes > 0; (*count)++)
        TRY(next_pane(&reader, err));
    return OK;
}

static enum status pass_key(struct spill_receiver *self, int64_t end, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct passage *passage = (struct passage *)self;
    struct pane_spill *disk = passage->disk;
    struct arena *arena = disk->passing;
    uint32_t count = 0;
    void *items = NULL;
    (void)end;
    if (in_memory(disk->store, key, state_hash(key)))
        return OK;
    TRY(count_panes(value, &count, err));
    TRY(arena_alloc_raw(arena, count + 1, disk->store->item_bytes, &items, err));
    struct pane_key_list *lists = arena_new_object(arena, (count + 1) * sizeof *lists);
    TRY(read_lists(disk, value, lists, &count, items, err));
    TRY(pane_emit_lists(passage->emission, arena_copy(arena, key),
                        &(struct pane_key_lists){.lists = lists, .count = count}, passage->from,
                        passage->to, err));
    if (arena_used_bytes(arena) < PASSING_BYTES)
        return OK;
    TRY(pane_emission_flush(passage->emission, err));
    arena_reset(arena);
    return OK;
}

enum status pane_spill_emit(struct pane_spill *disk, struct pane_emission *emission, int64_t from,
                            int64_t to, struct error *err)
{
    struct passage passage = {
        .base = {.receive = pass_key},
        .disk = disk,
        .emission = emission,
        .from = from,
        .to = to,
    };
    if (spill_is_empty(&disk->spill))
        return OK;
    (void)passing_arena(disk);
    TRY(spill_scan(&disk->spill, BUCKET, &passage.base, err));
    TRY(pane_emission_flush(emission, err));
    arena_reset(disk->passing);
    return OK;
}

/* ---- what is over ---- */

/* An entry on its way from the old image to the new one. */
struct kept {
    struct bytes key;
    struct bytes value;
};

struct sweep {
    struct spill_receiver base;
    struct spill_source source;
    struct pane_spill *disk;
    struct spill fresh;
};

static struct bytes kept_key(struct spill_source *self, const void *item)
{
    (void)self;
    return ((const struct kept *)item)->key;
}

static void kept_value(struct spill_source *self, const void *item, struct buffer *out)
{
    (void)self;
    buffer_add_bytes(out, ((const struct kept *)item)->value);
}

static enum status keep_key(struct spill_receiver *self, int64_t end, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct sweep *sweep = (struct sweep *)self;
    struct pane_spill *disk = sweep->disk;
    struct entry_reader reader = {.rest = value};
    uint64_t hash = state_hash(key);
    bool over = true;
    (void)end;
    if (in_memory(disk->store, key, hash))
        return OK;
    while (over && reader.rest.size_bytes > 0) {
        TRY(next_pane(&reader, err));
        over = pane_is_over(disk->store, reader.pane);
    }
    if (over)
        return OK;
    struct kept *kept = arena_new_object(disk->passing, sizeof *kept);
    buffer_clear(&disk->saved);
    varint_put(&disk->saved, zigzag((uint64_t)reader.pane));
    buffer_add_bytes(&disk->saved, reader.from);
    kept->key = arena_copy(disk->passing, key);
    kept->value = arena_copy(disk->passing, buffer_bytes(&disk->saved));
    TRY(spill_put(&sweep->fresh, BUCKET, hash, kept, &sweep->source, err));
    if (arena_used_bytes(disk->passing) < PASSING_BYTES)
        return OK;
    TRY(spill_flush(&sweep->fresh, BUCKET, &sweep->source, err));
    arena_reset(disk->passing);
    return OK;
}

/* Writes all entries anew, without those of keys in memory and panes that are over. */
static enum status sweep_entries(struct pane_spill *disk, struct error *err)
{
    struct spill *spill = &disk->spill;
    struct sweep sweep = {
        .base = {.receive = keep_key},
        .source = {.key = kept_key, .value = kept_value},
        .disk = disk,
        .fresh = {.space = {.file = spill->space.file}},
    };
    enum status status = OK;
    if (spill_is_empty(spill))
        return OK;
    (void)passing_arena(disk);
    TRY_OUT(spill_scan(spill, BUCKET, &sweep.base, err));
    TRY_OUT(spill_flush(&sweep.fresh, BUCKET, &sweep.source, err));
    spill_let_go(&sweep.fresh, BUCKET);
    spill_trim(&sweep.fresh);
    sweep.fresh.fetched = spill->fetched;
    sweep.fresh.keys_read = spill->keys_read;
    sweep.fresh.buffers.entries_read = spill->buffers.entries_read;
    struct spill old = *spill;
    *spill = sweep.fresh;
    sweep.fresh = old;
out:
    spill_fini(&sweep.fresh);
    arena_reset(disk->passing);
    return status;
}

enum status pane_spill_close(struct pane_spill *disk, int64_t closed, uint64_t *groups,
                             struct error *err)
{
    uint32_t generations = disk->store->count;
    *groups = pane_store_close(disk->store, closed);
    return disk->store->count < generations ? sweep_entries(disk, err) : OK;
}

/* ---- out of memory ---- */

struct leaving {
    struct spill_source base;
    struct pane_spill *disk;
};

static struct bytes leaving_key(struct spill_source *self, const void *item)
{
    return state_key(((struct leaving *)self)->disk->store->table, item);
}

static void leaving_value(struct spill_source *self, const void *item, struct buffer *out)
{
    struct pane_spill *disk = ((struct leaving *)self)->disk;
    const struct pane_store *store = disk->store;
    struct bytes key = state_key(store->table, item);
    uint64_t hash = state_hash(key);
    int64_t before = 0;
    for (uint32_t g = 0; g < store->count; g++) {
        int64_t base = store->generations[g]->number * store->grid.per_window;
        struct state_entry *entry = pane_store_entry(store, store->generations[g], key, hash);
        for (uint32_t i = 0; entry != NULL && i < pane_list_of(entry)->count; i++) {
            const struct pane_item *panes = pane_item_at(store, pane_list_of(entry), i);
            int64_t pane = base + panes->pane;
            if (pane_is_over(store, pane))
                continue;
            buffer_clear(&disk->saved);
            aggregate_calls_save(store->calls, panes->block, &disk->saved, &disk->scratch);
            varint_put(out, zigzag((uint64_t)pane - (uint64_t)before));
            varint_put(out, disk->saved.size_bytes);
            buffer_add_bytes(out, buffer_bytes(&disk->saved));
            before = pane;
        }
    }
}

/* Whether a generation before this one has the key. */
static bool was_there(const struct pane_store *store, uint32_t generation, struct bytes key,
                      uint64_t hash)
{
    for (uint32_t i = 0; i < generation; i++)
        if (pane_store_entry(store, store->generations[i], key, hash) != NULL)
            return true;
    return false;
}

enum status pane_spill_let_go(struct pane_spill *disk, struct error *err)
{
    struct leaving leaving = {.base = {.key = leaving_key, .value = leaving_value}, .disk = disk};
    struct pane_store *store = disk->store;
    for (uint32_t g = 0; g < store->count; g++) {
        struct state_cursor cursor = {0};
        const struct state_entry *entry = NULL;
        while ((entry = state_next(store->table, store->generations[g]->bucket, &cursor)) != NULL) {
            struct bytes key = state_key(store->table, entry);
            uint64_t hash = state_hash(key);
            if (!was_there(store, g, key, hash))
                TRY(spill_put(&disk->spill, BUCKET, hash, entry, &leaving.base, err));
        }
    }
    TRY(spill_flush(&disk->spill, BUCKET, &leaving.base, err));
    pane_store_forget(store);
    spill_let_go(&disk->spill, BUCKET);
    spill_trim(&disk->spill);
    if (disk->passing != NULL)
        arena_trim(disk->passing);
    return OK;
}
