#include "exec/group_table.h"

#include "base/hash.h"
#include "base/heap.h"
#include "base/memory_limit.h"

#include <stdlib.h>

#define SLOTS_FIRST 1024U

void group_table_init(struct group_table *table)
{
    *table = (struct group_table){
        .arena = arena_new("groups", 0), .mask = SLOTS_FIRST - 1, .keys_max = GROUP_TABLE_KEYS_MAX};
    table->slots = heap_calloc(SLOTS_FIRST, sizeof *table->slots);
}

void group_table_fini(struct group_table *table)
{
    free(table->slots);
    free(table->keys);
    arena_free(table->arena);
    *table = (struct group_table){0};
}

void group_table_clear(struct group_table *table)
{
    memset(table->slots, 0, ((size_t)table->mask + 1) * sizeof *table->slots);
    arena_reset(table->arena);
    table->count = 0;
}

static uint32_t key_hash(struct bytes key)
{
    uint64_t hash = hash_bytes(key.data, key.size_bytes);
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of the key, or the free slot where it belongs. */
static struct group_slot *slot_of(const struct group_table *table, struct bytes key, uint32_t hash)
{
    for (uint32_t i = hash & table->mask;; i = (i + 1) & table->mask) {
        struct group_slot *slot = &table->slots[i];
        if (slot->number == 0 ||
            (slot->hash == hash && bytes_equal(table->keys[slot->number - 1], key)))
            return slot;
    }
}

static void table_grow(struct group_table *table)
{
    struct group_slot *old = table->slots;
    size_t old_count = (size_t)table->mask + 1;
    table->slots = heap_calloc(old_count * 2, sizeof *table->slots);
    table->mask = (uint32_t)(old_count * 2 - 1);
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].number == 0)
            continue;
        uint32_t at = old[i].hash & table->mask;
        while (table->slots[at].number != 0)
            at = (at + 1) & table->mask;
        table->slots[at] = old[i];
    }
    free(old);
}

uint32_t group_table_find(const struct group_table *table, struct bytes key)
{
    const struct group_slot *slot = slot_of(table, key, key_hash(key));
    return slot->number == 0 ? GROUP_NONE : slot->number - 1;
}

uint32_t group_table_add(struct group_table *table, struct bytes key, bool *added)
{
    uint32_t hash = key_hash(key);
    struct group_slot *slot = slot_of(table, key, hash);
    if (added != NULL)
        *added = slot->number == 0;
    if (slot->number != 0)
        return slot->number - 1;
    if (table->count >= table->keys_max)
        memory_exhausted(((size_t)table->mask + 1) * 2 * sizeof *table->slots);
    if (table->count == table->key_capacity) {
        table->key_capacity = table->key_capacity == 0 ? 256 : table->key_capacity * 2;
        table->keys = heap_realloc(table->keys, table->key_capacity * sizeof *table->keys);
    }
    table->keys[table->count] = arena_copy(table->arena, key);
    slot->hash = hash;
    slot->number = ++table->count;
    if (table->count > table->mask / 2)
        table_grow(table);
    return table->count - 1;
}
