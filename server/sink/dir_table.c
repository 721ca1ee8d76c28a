#include "sink/dir_table.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

void dir_table_fini(struct dir_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->entries[i].dir);
    free(table->entries);
    free(table->slots);
    *table = (struct dir_table){0};
}

/* The slot of the directory, or the empty one where it belongs. */
static uint32_t *find_slot(const struct dir_table *table, uint64_t hash, const char *dir)
{
    size_t mask = table->slot_count - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &table->slots[i];
        if (*slot == 0)
            return slot;
        const struct dir_entry *entry = &table->entries[*slot - 1];
        if (entry->hash == hash && strcmp(entry->dir, dir) == 0)
            return slot;
    }
}

static void grow(struct dir_table *table)
{
    table->capacity = table->capacity == 0 ? 8 : table->capacity * 2;
    table->entries = heap_realloc(table->entries, table->capacity * sizeof *table->entries);
    free(table->slots);
    table->slot_count = table->capacity * 2;
    table->slots = heap_calloc(table->slot_count, sizeof *table->slots);
    for (size_t i = 0; i < table->count; i++)
        *find_slot(table, table->entries[i].hash, table->entries[i].dir) = (uint32_t)i + 1;
}

struct dir_entry *dir_table_at(struct dir_table *table, const char *dir)
{
    CHECK(dir != NULL);
    if (table->count == table->capacity)
        grow(table);
    uint64_t hash = hash_bytes(dir, strlen(dir));
    uint32_t *slot = find_slot(table, hash, dir);
    if (*slot == 0) {
        char *copy = heap_strdup(dir);
        table->entries[table->count++] = (struct dir_entry){.dir = copy, .hash = hash};
        *slot = (uint32_t)table->count;
    }
    return &table->entries[*slot - 1];
}
