/*
 * A table from row keys (columnar/row_key.h) to small consecutive numbers, in order of their first
 * appearance: the groups of an aggregation, the rows of a hash join or a set operation.
 *
 * Open addressing with linear probing over 8-byte slots {hash, number}; the key bytes lie in the
 * table's arena.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_GROUP_TABLE_H
#define SERVER_EXEC_GROUP_TABLE_H

#include "columnar/row_key.h"

#define GROUP_NONE           UINT32_MAX
#define GROUP_TABLE_KEYS_MAX (1U << 30)

struct group_slot {
    uint32_t hash;
    uint32_t number; /* + 1; 0: free */
};

struct group_table {
    struct arena *arena; /* of the keys */
    struct group_slot *slots;
    uint32_t mask;
    uint32_t count;
    struct bytes *keys; /* by number */
    uint32_t key_capacity;
    uint32_t keys_max; /* one more ends the process by memory_exhausted() */
};

void group_table_init(struct group_table *table);
void group_table_fini(struct group_table *table);
void group_table_clear(struct group_table *table);

/* The number of the key, a new one if it was not there (*added says so; may be NULL). */
uint32_t group_table_add(struct group_table *table, struct bytes key, bool *added);
/* The number of the key or GROUP_NONE. */
uint32_t group_table_find(const struct group_table *table, struct bytes key);

#endif
