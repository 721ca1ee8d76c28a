/*
 * The entries of an operator's state that the present batch has touched, in their order, each with
 * the bucket that it is of: 8 bytes an entry and 8 where the bucket changes, since this list is
 * counted as memory of the state and a first batch touches all of it.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_TOUCHED_LIST_H
#define SERVER_EXEC_TOUCHED_LIST_H

#include "state/state_table.h"

struct touched_list {
    uintptr_t *words; /* address of an entry; or index of a bucket << 1 | 1: of those that follow */
    size_t count;
    size_t capacity;
    int64_t *buckets;
    size_t bucket_count;
    size_t bucket_capacity;
    size_t current; /* the bucket of the last entry */
    uint64_t entries;
};

/* An empty list for a new batch.  Keeps memory as long as batches need a good part of it. */
void touched_clear(struct touched_list *list);
/* An empty list without memory. */
void touched_fini(struct touched_list *list);
uint64_t touched_bytes(const struct touched_list *list);

void touched_grow(struct touched_list *list);
void touched_add_bucket(struct touched_list *list, int64_t bucket);

/* `bucket` is any number that tells buckets apart. */
static inline void touched_add(struct touched_list *list, int64_t bucket, struct state_entry *entry)
{
    if (list->entries == 0 || list->buckets[list->current] != bucket)
        touched_add_bucket(list, bucket);
    if (list->count == list->capacity)
        touched_grow(list);
    list->words[list->count++] = (uintptr_t)entry;
    list->entries++;
}

struct touched_cursor {
    size_t at; /* 0 in the beginning */
    int64_t bucket;
};

#define TOUCHED_PREFETCH 8

/* The next entry, with cursor->bucket its bucket; NULL after the last. Entries that follow are
 * asked for before they are needed. */
static inline struct state_entry *touched_next(const struct touched_list *list,
                                               struct touched_cursor *cursor)
{
    while (cursor->at < list->count) {
        if (cursor->at + TOUCHED_PREFETCH < list->count) {
            const uint8_t *ahead =
                (const uint8_t *)list->words[cursor->at + TOUCHED_PREFETCH]; // NOLINT: as below
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 48); /* where most of them end */
        }
        uintptr_t word = list->words[cursor->at++];
        if ((word & 1) == 0)
            return (struct state_entry *)word; // NOLINT: an address that touched_add() stored
        cursor->bucket = list->buckets[word >> 1];
    }
    return NULL;
}

#endif
