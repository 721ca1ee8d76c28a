/*
 * The panes of one partition: for each key and pane, the states of the functions over its rows.
 *
 * Panes lie in generations (exec/pane_grid.h), each a bucket of a state table with an entry per
 * key: the panes that the key has in it, in order.  A generation goes as a whole once every window
 * that it has a part in is closed.
 *
 * Windows are not stored, but counted.  Two panes of one generation are in a window together, or in
 * windows next to each other, so the windows of a list are all those from the first one of its
 * first pane to the last one of its last pane; what another generation of the key has of them was
 * counted there.
 *
 *     item = u32 pane, counted from its generation's first | u32 run that touched it last
 *          | states (block_bytes)
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_PANE_STORE_H
#define SERVER_EXEC_PANE_STORE_H

#include "exec/aggregate_calls.h"
#include "exec/pane_grid.h"
#include "state/state_table.h"

#define PANE_AHEAD_BYTES 512 /* for which pane_list_prefetch() asks at the most */

struct pane_item {
    uint32_t pane;
    uint32_t run;
    uint8_t block[];
};

/* The value of a state entry. */
struct pane_list {
    uint8_t *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t first; /* pane; of a list that is not empty */
    uint32_t last;
    uint32_t touched_from; /* the panes that the run of the entry's stamp has touched lie here */
    uint32_t touched_to;
    uint32_t mark; /* the scan that has seen it */
};

/* Items in a row on their way into a store, linked from the last ones to the first ones. */
struct pane_chunk {
    struct pane_chunk *before;
    uint32_t count;
    uint32_t capacity;
    uint8_t items[];
};

struct pane_generation {
    int64_t number;
    struct state_bucket *bucket;
    int64_t *steps;    /* by window whose first pane is here: how many more keys than in the last */
    void **spare;      /* by the logarithm of its capacity: memory for items, linked */
    uint32_t run;      /* that touched it last */
    uint32_t expected; /* panes of a key: room for them is made at once */
    uint64_t panes;
};

struct pane_store {
    struct pane_grid grid;
    const struct aggregate_calls *calls;
    uint32_t item_bytes;
    struct state_table *table;
    struct pane_generation **generations; /* by number */
    uint32_t count;
    uint32_t capacity;
    int64_t closed;   /* the last window that is closed, WINDOW_NONE */
    uint64_t windows; /* keys times open windows that have rows */
    uint32_t scans;
};

void pane_store_init(struct pane_store *store, const struct pane_grid *grid,
                     const struct aggregate_calls *calls);
void pane_store_fini(struct pane_store *store);

/* NULL if there is none. */
struct pane_generation *pane_store_find(const struct pane_store *store, int64_t number);
struct pane_generation *pane_store_open(struct pane_store *store, int64_t number);

/* The panes of a key in a generation (may be NULL); NULL: it has none. */
struct state_entry *pane_store_entry(const struct pane_store *store,
                                     const struct pane_generation *generation, struct bytes key,
                                     uint64_t hash);

/* A key in a generation. */
struct pane_place {
    struct pane_generation *generation;
    struct state_entry *entry;
    uint64_t hash; /* of the key */
};

/* A pane of a key; made and counted if it is not there: *added.  Then its block is not set yet. */
struct pane_item *pane_store_add(struct pane_store *store, const struct pane_place *place,
                                 uint32_t pane, bool *added);

/* Copies the items behind the last one that the key has.  Those of the chunks are in order, and
 * their states plain.  How many it took. */
uint32_t pane_store_append(struct pane_store *store, const struct pane_place *place,
                           const struct pane_chunk *chunks);

/* A pane of a key that was counted before; it is later than those that the key has in the
 * generation, and its block is not set yet. */
struct pane_item *pane_store_bring(struct pane_store *store, const struct pane_place *place,
                                   uint32_t pane);

/* Gives all panes back; their windows stay counted. */
void pane_store_forget(struct pane_store *store);

/* Closes the windows up to `closed`, drops what no other window needs; returns how many groups
 * these were. */
uint64_t pane_store_close(struct pane_store *store, int64_t closed);

uint64_t pane_store_bytes(const struct pane_store *store);

/* Asks for the memory of items [from, to) of a list. */
static inline void pane_list_prefetch(const struct pane_store *store, const struct pane_list *list,
                                      uint32_t from, uint32_t to)
{
    const uint8_t *at = list->items + (size_t)from * store->item_bytes;
    const uint8_t *end = list->items + (size_t)to * store->item_bytes;
    if (end > at + PANE_AHEAD_BYTES)
        end = at + PANE_AHEAD_BYTES;
    for (; at < end; at += 64)
        __builtin_prefetch(at);
}

/* Whether all windows of a pane are closed. */
static inline bool pane_is_over(const struct pane_store *store, int64_t pane)
{
    return pane < window_first_pane(&store->grid, store->closed + 1);
}

/* As memcpy(), for blocks and items: a call takes longer than to copy what most of them are. */
static inline void pane_copy(void *to, const void *from, size_t size_bytes)
{
    switch (size_bytes) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    case 24:
        memcpy(to, from, 24);
        break;
    case 32:
        memcpy(to, from, 32);
        break;
    case 40:
        memcpy(to, from, 40);
        break;
    default:
        memcpy(to, from, size_bytes);
        break;
    }
}

static inline uint32_t pane_item_bytes(const struct aggregate_calls *calls)
{
    return (uint32_t)sizeof(struct pane_item) + calls->block_bytes;
}

static inline struct pane_list *pane_list_of(struct state_entry *entry)
{
    return (struct pane_list *)(void *)state_value(entry);
}

static inline struct pane_item *pane_item_at(const struct pane_store *store,
                                             const struct pane_list *list, uint32_t index)
{
    return (struct pane_item *)(void *)(list->items + (size_t)index * store->item_bytes);
}

static inline const struct pane_item *
pane_chunk_item(const struct pane_store *store, const struct pane_chunk *chunk, uint32_t index)
{
    return (const struct pane_item *)(const void *)(chunk->items +
                                                    (size_t)index * store->item_bytes);
}

#endif
