/*
 * The panes of one partition: for each key and pane, the states of the functions over its rows.
 *
 * Panes lie in generations (exec/pane_grid.h), each a bucket of a state table with an entry per
 * key: the panes that the key has in it, in order.  A generation goes as a whole once every window
 * that it has a part in is closed.  Windows are not stored, but counted: a pane that comes new adds
 * those that none of its neighbours is in.
 *
 *     item = i64 pane | u32 run that touched it last | u32 unused | states (block_bytes)
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_PANE_STORE_H
#define SERVER_EXEC_PANE_STORE_H

#include "exec/aggregate_calls.h"
#include "exec/pane_grid.h"
#include "state/state_table.h"

struct pane_item {
    int64_t pane;
    uint32_t run;
    uint32_t unused;
    uint8_t block[];
};

/* The value of a state entry. */
struct pane_list {
    uint8_t *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t mark; /* the scan that has seen it */
    uint32_t unused;
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

/* A pane of an entry of `generation`; made and counted if it is not there: *added.  Then its block
 * is not set yet. */
struct pane_item *pane_store_add(struct pane_store *store, struct pane_generation *generation,
                                 struct state_entry *entry, int64_t pane, bool *added);

/* Closes the windows up to `closed`, drops what no other window needs; returns how many groups
 * these were. */
uint64_t pane_store_close(struct pane_store *store, int64_t closed);

/* Whether all windows of a pane are closed. */
static inline bool pane_is_over(const struct pane_store *store, int64_t pane)
{
    return pane < window_first_pane(&store->grid, store->closed + 1);
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

#endif
