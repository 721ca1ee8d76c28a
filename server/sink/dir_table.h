/*
 * The directories (or files) of a batch, each with a number: partitions may be many thousands.
 * Threads: one at a time.
 */
#ifndef SERVER_SINK_DIR_TABLE_H
#define SERVER_SINK_DIR_TABLE_H

#include "base/bytes.h"

#include <stdint.h>

struct dir_entry {
    char *dir; /* the table's */
    uint64_t hash;
    uint32_t number; /* the caller's; 0 in the beginning */
};

/* All zero is an empty table. */
struct dir_table {
    struct dir_entry *entries; /* in the order they came */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* index + 1 of an entry; 0: empty */
    size_t slot_count;
};

void dir_table_fini(struct dir_table *table);

/* The entry of `dir`, which is added if need be.  Valid until the next call. */
struct dir_entry *dir_table_at(struct dir_table *table, const char *dir);

#endif
