/*
 * See session_store.h.
 */
#include "exec/session_store.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define SLICE_US      1000000
#define NEVER_NOTED   INT64_MIN
#define ENTRY_REMOVED 0x80000000U /* state/state_table.h: the highest bit of key_bytes */

void session_store_init(struct session_store *store, const struct aggregate_calls *calls)
{
    *store = (struct session_store){
        .calls = calls,
        .item_bytes = (uint32_t)sizeof(struct session_item) + calls->block_bytes,
        .table = state_table_new(sizeof(struct session_list)),
        .arena = arena_new("sessions", 0),
    };
    store->bucket = state_bucket_open(store->table, STATE_NO_END);
}

void session_store_fini(struct session_store *store)
{
    if (store->table == NULL)
        return;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(store->table, store->bucket, &cursor)) != NULL)
        arena_free(session_list_of(entry)->arena);
    state_table_free(store->table);
    arena_free(store->arena);
    for (uint32_t i = 0; i < store->slice_count; i++)
        free(store->slices[i].entries);
    free(store->slices);
    buffer_fini(&store->scratch);
    *store = (struct session_store){0};
}

/* ---- notes ---- */

int64_t session_slice_of(int64_t time_us)
{
    return time_us / SLICE_US - (time_us % SLICE_US < 0);
}

static struct session_slice *open_slice(struct session_store *store, int64_t number)
{
    uint32_t index = store->slice_count; /* nearly always one of the last */
    while (index > 0 && store->slices[index - 1].number >= number)
        index--;
    if (index < store->slice_count && store->slices[index].number == number)
        return &store->slices[index];
    if (store->slice_count == store->slice_capacity) {
        store->slice_capacity = store->slice_capacity == 0 ? 16 : store->slice_capacity * 2;
        store->slices = heap_realloc(store->slices, store->slice_capacity * sizeof *store->slices);
    }
    memmove(store->slices + index + 1, store->slices + index,
            (store->slice_count - index) * sizeof *store->slices);
    store->slice_count++;
    store->slices[index] = (struct session_slice){.number = number};
    return &store->slices[index];
}

static void note(struct session_store *store, struct state_entry *entry, struct session_item *item)
{
    item->noted = session_slice_of(item->end_us);
    struct session_slice *slice = open_slice(store, item->noted);
    if (slice->count == slice->capacity) {
        slice->capacity = slice->capacity == 0 ? 16 : slice->capacity * 2;
        slice->entries =
            heap_realloc(slice->entries, slice->capacity * sizeof(struct state_entry *));
    }
    slice->entries[slice->count++] = entry;
}

bool session_store_take_slice(struct session_store *store, int64_t last, struct session_slice *out)
{
    if (store->slice_count == 0 || store->slices[0].number > last)
        return false;
    *out = store->slices[0];
    store->slice_count--;
    memmove(store->slices, store->slices + 1, store->slice_count * sizeof *store->slices);
    return true;
}

bool session_entry_is_gone(const struct state_entry *entry)
{
    return (entry->key_bytes & ENTRY_REMOVED) != 0;
}

void session_store_note(struct session_store *store, struct state_entry *entry, int64_t taken)
{
    struct session_list *list = session_list_of(entry);
    for (uint32_t i = 0; i < list->count; i++) {
        struct session_item *item = session_item_at(store, list, i);
        if (item->noted <= taken)
            note(store, entry, item);
    }
}

void session_store_pack(struct session_store *store)
{
    if (!state_bucket_pack(store->table, store->bucket))
        return;
    for (uint32_t i = 0; i < store->slice_count; i++)
        free(store->slices[i].entries);
    store->slice_count = 0;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(store->table, store->bucket, &cursor)) != NULL)
        session_store_note(store, entry, INT64_MAX);
}

/* ---- keys ---- */

struct state_entry *session_store_open(struct session_store *store, struct bytes key, uint64_t hash)
{
    bool added = false;
    struct state_entry *entry = state_add(store->table, store->bucket, key, hash, &added);
    if (added && !store->calls->plain)
        session_list_of(entry)->arena = arena_new("session", 0);
    return entry;
}

static uint32_t size_class(uint32_t capacity)
{
    return capacity <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(capacity - 1);
}

static void give_back(struct session_store *store, struct session_list *list)
{
    if (list->capacity == 0)
        return;
    uint32_t class = size_class(list->capacity);
    memcpy(list->items, &store->spare[class], sizeof(void *));
    store->spare[class] = list->items;
}

static void grow(struct session_store *store, struct session_list *list)
{
    uint32_t capacity = list->capacity == 0 ? 1 : list->capacity * 2;
    uint32_t class = size_class(capacity);
    CHECK(class < SESSION_SIZES_MAX);
    uint8_t *memory = store->spare[class];
    if (memory != NULL)
        memcpy(&store->spare[class], memory, sizeof(void *));
    else
        memory = arena_new_object(store->arena, (size_t)capacity * store->item_bytes);
    if (list->count > 0)
        memcpy(memory, list->items, (size_t)list->count * store->item_bytes);
    give_back(store, list);
    list->items = memory;
    list->capacity = capacity;
}

void session_store_remove_key(struct session_store *store, struct state_entry *entry)
{
    struct session_list *list = session_list_of(entry);
    store->sessions -= list->count;
    give_back(store, list);
    arena_free(list->arena);
    *list = (struct session_list){0};
    state_remove(store->table, store->bucket, entry);
}

/* ---- sessions ---- */

static struct session_item *insert(struct session_store *store, struct session_list *list,
                                   uint32_t at)
{
    if (list->count == list->capacity)
        grow(store, list);
    uint8_t *place = list->items + (size_t)at * store->item_bytes;
    memmove(place + store->item_bytes, place, (size_t)(list->count - at) * store->item_bytes);
    memset(place, 0, store->item_bytes);
    list->count++;
    store->sessions++;
    struct session_item *item = session_item_at(store, list, at);
    item->noted = NEVER_NOTED;
    aggregate_calls_init(store->calls, item->block);
    return item;
}

void session_store_remove(struct session_store *store, struct session_list *list, uint32_t index)
{
    CHECK(index < list->count);
    uint8_t *place = list->items + (size_t)index * store->item_bytes;
    list->count--;
    store->sessions--;
    memmove(place, place + store->item_bytes, (size_t)(list->count - index) * store->item_bytes);
}

struct session_item *session_store_append(struct session_store *store, struct state_entry *entry,
                                          int64_t start_us, int64_t end_us)
{
    struct session_list *list = session_list_of(entry);
    struct session_item *item = insert(store, list, list->count);
    item->start_us = start_us;
    item->end_us = end_us;
    note(store, entry, item);
    return item;
}

/* The sessions behind `at` that it has come to touch become part of it. */
static enum status merge_behind(struct session_store *store, struct session_list *list, uint32_t at,
                                uint32_t run, struct error *err)
{
    struct session_item *into = session_item_at(store, list, at);
    while (at + 1 < list->count) {
        const struct session_item *next = session_item_at(store, list, at + 1);
        if (next->start_us > into->end_us)
            break;
        if (next->end_us > into->end_us)
            into->end_us = next->end_us;
        if (next->noted < into->noted)
            into->noted = next->noted;
        store->replaced += next->run != run || next->stored ? 1 : 0;
        TRY(aggregate_calls_merge(store->calls, list->arena, into->block, next->block,
                                  &store->scratch, err));
        session_store_remove(store, list, at + 1);
    }
    return OK;
}

enum status session_store_add(struct session_store *store, struct state_entry *entry,
                              const struct session_part *part, uint32_t run, struct error *err)
{
    struct session_list *list = session_list_of(entry);
    uint32_t at = list->count; /* the first that does not end before the part begins */
    while (at > 0 && session_item_at(store, list, at - 1)->end_us >= part->start_us)
        at--;
    bool fresh = at == list->count || session_item_at(store, list, at)->start_us > part->end_us;
    struct session_item *into = fresh ? insert(store, list, at) : session_item_at(store, list, at);
    into->stored = !fresh && (into->run != run || into->stored) ? 1 : 0;
    if (fresh || part->start_us < into->start_us) {
        store->replaced += into->stored;
        into->stored = 0;
        into->start_us = part->start_us;
    }
    if (fresh || part->end_us > into->end_us)
        into->end_us = part->end_us;
    into->run = run;
    if (fresh)
        note(store, entry, into);
    if (fresh && store->calls->plain)
        memcpy(into->block, part->block, store->calls->block_bytes);
    else
        TRY(aggregate_calls_merge(store->calls, list->arena, into->block, part->block,
                                  &store->scratch, err));
    return fresh ? OK : merge_behind(store, list, at, run, err);
}

uint64_t session_store_bytes(const struct session_store *store)
{
    uint64_t bytes = state_table_bytes(store->table) + arena_used_bytes(store->arena);
    for (uint32_t i = 0; i < store->slice_count; i++)
        bytes += store->slices[i].capacity * sizeof(struct state_entry *);
    return bytes;
}
