/*
 * The open sessions of one partition: for each key its sessions, in order, which neither overlap
 * nor touch.
 *
 * A key is an entry of a state table, its value a list of items in memory of the store's own:
 *
 *     item = i64 start | i64 end | i64 noted | u32 run that touched it last | u32 stored | states
 *
 * To find what has ended, an entry is noted in the slice of time (a second) in which one of its
 * sessions ends.  A session may grow after that: whoever comes to the slice looks where it ends
 * now, and notes it there.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_SESSION_STORE_H
#define SERVER_EXEC_SESSION_STORE_H

#include "exec/aggregate_calls.h"
#include "state/state_table.h"

struct session_item {
    int64_t start_us;
    int64_t end_us;
    int64_t noted; /* the slice in which its entry is noted for it */
    uint32_t run;
    uint32_t stored; /* of one that the run has touched: the state had one with this start */
    uint8_t block[];
};

/* The value of a state entry. */
struct session_list {
    uint8_t *items;
    uint32_t count;
    uint32_t capacity;
    struct arena *arena; /* of states that are not plain; NULL: none */
};

#define SESSION_SIZES_MAX 32

struct session_slice {
    int64_t number;
    struct state_entry **entries;
    uint32_t count;
    uint32_t capacity;
};

struct session_store {
    const struct aggregate_calls *calls;
    uint32_t item_bytes;
    struct state_table *table;
    struct state_bucket *bucket;
    struct arena *arena;            /* of items */
    void *spare[SESSION_SIZES_MAX]; /* by the logarithm of its capacity: memory, linked */
    struct session_slice *slices;   /* by number */
    uint32_t slice_count;
    uint32_t slice_capacity;
    uint64_t sessions;
    uint64_t replaced; /* that were stored, and became part of one that starts elsewhere */
    struct buffer scratch;
};

/* A session on its way into the state: that of a row, or of some rows of one batch. */
struct session_part {
    int64_t start_us;
    int64_t end_us;
    const uint8_t *block;
};

void session_store_init(struct session_store *store, const struct aggregate_calls *calls);
void session_store_fini(struct session_store *store);

/* Closes the holes that keys have left.  Addresses of entries are void afterwards. */
void session_store_pack(struct session_store *store);

/* The entry of a key, made if it is not there. */
struct state_entry *session_store_open(struct session_store *store, struct bytes key,
                                       uint64_t hash);

/* Merges a session with all that it overlaps or touches. */
MUST_USE enum status session_store_add(struct session_store *store, struct state_entry *entry,
                                       const struct session_part *part, uint32_t run,
                                       struct error *err);

/* A new session behind the others of the entry, with an empty state: for restoring. */
struct session_item *session_store_append(struct session_store *store, struct state_entry *entry,
                                          int64_t start_us, int64_t end_us);

/* Takes session `index` out of the list. */
void session_store_remove(struct session_store *store, struct session_list *list, uint32_t index);
/* The key is gone, with all its sessions. */
void session_store_remove_key(struct session_store *store, struct state_entry *entry);

/* The slice of a time. */
int64_t session_slice_of(int64_t time_us);

/* Takes the first slice out if its number is `last` or lower; the caller frees its entries.  Some
 * of them may have been removed (session_entry_is_gone), or be there twice. */
bool session_store_take_slice(struct session_store *store, int64_t last, struct session_slice *out);
bool session_entry_is_gone(const struct state_entry *entry);

/* Notes the sessions of an entry anew whose note was in slice `taken` or before it. */
void session_store_note(struct session_store *store, struct state_entry *entry, int64_t taken);

uint64_t session_store_bytes(const struct session_store *store);

static inline struct session_list *session_list_of(struct state_entry *entry)
{
    return (struct session_list *)(void *)state_value(entry);
}

static inline struct session_item *session_item_at(const struct session_store *store,
                                                   const struct session_list *list, uint32_t index)
{
    return (struct session_item *)(void *)(list->items + (size_t)index * store->item_bytes);
}

#endif
