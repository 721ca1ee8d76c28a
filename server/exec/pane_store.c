/*
 * See pane_store.h.
 */
#include "exec/pane_store.h"

#include "base/check.h"

#include <stdlib.h>

#define SIZES_MAX 20 /* capacities up to 2^19 panes: more than a generation has */

void pane_store_init(struct pane_store *store, const struct pane_grid *grid,
                     const struct aggregate_calls *calls)
{
    *store = (struct pane_store){
        .grid = *grid,
        .calls = calls,
        .item_bytes = (uint32_t)sizeof(struct pane_item) + calls->block_bytes,
        .table = state_table_new(sizeof(struct pane_list)),
        .closed = WINDOW_NONE,
    };
}

static void generation_free(struct pane_generation *generation)
{
    free(generation->steps);
    free(generation->spare);
    free(generation);
}

void pane_store_fini(struct pane_store *store)
{
    for (uint32_t i = 0; i < store->count; i++)
        generation_free(store->generations[i]);
    free(store->generations);
    state_table_free(store->table);
    *store = (struct pane_store){0};
}

/* The index of the first generation with this number or a higher one. */
static uint32_t generation_index(const struct pane_store *store, int64_t number)
{
    uint32_t index = store->count; /* nearly always one of the last */
    while (index > 0 && store->generations[index - 1]->number >= number)
        index--;
    return index;
}

struct pane_generation *pane_store_find(const struct pane_store *store, int64_t number)
{
    uint32_t index = generation_index(store, number);
    return index < store->count && store->generations[index]->number == number
               ? store->generations[index]
               : NULL;
}

static size_t step_count(const struct pane_store *store)
{
    return (size_t)(store->grid.per_window / store->grid.per_slide) + 2;
}

/* How many panes a key will have, going by the generation before: a power of two. */
static uint32_t expected_panes(const struct pane_store *store, int64_t number)
{
    const struct pane_generation *before = pane_store_find(store, number - 1);
    uint64_t keys = before == NULL ? 0 : state_bucket_count(before->bucket);
    uint32_t expected = 1;
    while (keys > 0 && expected * 2 <= before->panes / keys)
        expected *= 2;
    return expected;
}

struct pane_generation *pane_store_open(struct pane_store *store, int64_t number)
{
    uint32_t index = generation_index(store, number);
    if (index < store->count && store->generations[index]->number == number)
        return store->generations[index];
    if (store->count == store->capacity) {
        store->capacity = store->capacity == 0 ? 8 : store->capacity * 2;
        store->generations =
            realloc(store->generations, store->capacity * sizeof(struct pane_generation *));
        CHECK(store->generations != NULL);
    }
    struct pane_generation *generation = calloc(1, sizeof *generation);
    CHECK(generation != NULL);
    generation->number = number;
    generation->expected = expected_panes(store, number);
    generation->bucket = state_bucket_open(store->table, number);
    generation->steps = calloc(step_count(store), sizeof *generation->steps);
    generation->spare = calloc(SIZES_MAX, sizeof *generation->spare);
    CHECK(generation->steps != NULL && generation->spare != NULL);
    memmove(store->generations + index + 1, store->generations + index,
            (store->count - index) * sizeof(struct pane_generation *));
    store->generations[index] = generation;
    store->count++;
    return generation;
}

struct state_entry *pane_store_entry(const struct pane_store *store,
                                     const struct pane_generation *generation, struct bytes key,
                                     uint64_t hash)
{
    return generation == NULL ? NULL : state_find(store->table, generation->bucket, key, hash);
}

/* ---- counting ---- */

/* One key more in the windows [first, last]: steps up and down, in the generations of both. */
static void count_windows(struct pane_store *store, int64_t first, int64_t last)
{
    const struct pane_grid *grid = &store->grid;
    store->windows += (uint64_t)(last - first + 1);
    for (int64_t from = first; from <= last;) {
        int64_t number = pane_generation(grid, window_first_pane(grid, from));
        struct pane_generation *generation = pane_store_open(store, number);
        int64_t base = generation_first_window(grid, number);
        int64_t end = generation_last_window(grid, number);
        int64_t to = last < end ? last : end;
        generation->steps[from - base]++;
        generation->steps[to + 1 - base]--;
        from = to + 1;
    }
}

/* The pane before or behind the list in the generation next to it; false: there is none. */
static bool pane_beyond(const struct pane_store *store, int64_t number, struct state_entry *entry,
                        bool last, int64_t *pane)
{
    const struct pane_generation *generation = pane_store_find(store, number);
    if (generation == NULL || state_bucket_count(generation->bucket) == 0)
        return false;
    struct bytes key = state_key(store->table, entry);
    struct state_entry *found = pane_store_entry(store, generation, key, state_hash(key));
    if (found == NULL || pane_list_of(found)->count == 0)
        return false;
    const struct pane_list *list = pane_list_of(found);
    *pane = pane_item_at(store, list, last ? list->count - 1 : 0)->pane;
    return true;
}

/* Counts the windows that only the pane at `index` is in. */
static void count_pane(struct pane_store *store, const struct pane_generation *generation,
                       struct state_entry *entry, uint32_t index)
{
    const struct pane_grid *grid = &store->grid;
    const struct pane_list *list = pane_list_of(entry);
    int64_t pane = pane_item_at(store, list, index)->pane;
    int64_t first = pane_first_window(grid, pane);
    int64_t last = pane_last_window(grid, pane);
    int64_t other = 0;
    bool found = index > 0;
    if (found)
        other = pane_item_at(store, list, index - 1)->pane;
    else
        found = pane_beyond(store, generation->number - 1, entry, true, &other);
    if (found && pane_last_window(grid, other) >= first)
        first = pane_last_window(grid, other) + 1;
    found = index + 1 < list->count;
    if (found)
        other = pane_item_at(store, list, index + 1)->pane;
    else
        found = pane_beyond(store, generation->number + 1, entry, false, &other);
    if (found && pane_first_window(grid, other) <= last)
        last = pane_first_window(grid, other) - 1;
    if (first <= store->closed)
        first = store->closed + 1;
    if (first <= last)
        count_windows(store, first, last);
}

/* ---- panes ---- */

static uint32_t size_class(uint32_t capacity)
{
    return capacity <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(capacity - 1);
}

static void grow(struct pane_store *store, struct pane_generation *generation,
                 struct pane_list *list)
{
    uint32_t capacity = list->capacity == 0 ? generation->expected : list->capacity * 2;
    uint32_t class = size_class(capacity);
    CHECK(class < SIZES_MAX);
    uint8_t *memory = generation->spare[class];
    if (memory != NULL)
        memcpy(&generation->spare[class], memory, sizeof(void *));
    else
        memory = arena_new_object(state_bucket_arena(generation->bucket),
                                  (size_t)capacity * store->item_bytes);
    if (list->capacity > 0) {
        memcpy(memory, list->items, (size_t)list->count * store->item_bytes);
        memcpy(list->items, &generation->spare[class - 1], sizeof(void *));
        generation->spare[class - 1] = list->items;
    }
    list->items = memory;
    list->capacity = capacity;
}

struct pane_item *pane_store_add(struct pane_store *store, struct pane_generation *generation,
                                 struct state_entry *entry, int64_t pane, bool *added)
{
    struct pane_list *list = pane_list_of(entry);
    uint32_t at = list->count;
    while (at > 0 && pane_item_at(store, list, at - 1)->pane > pane)
        at--;
    *added = at == 0 || pane_item_at(store, list, at - 1)->pane != pane;
    if (!*added)
        return pane_item_at(store, list, at - 1);
    if (list->count == list->capacity)
        grow(store, generation, list);
    uint8_t *place = list->items + (size_t)at * store->item_bytes;
    if (at < list->count)
        memmove(place + store->item_bytes, place, (size_t)(list->count - at) * store->item_bytes);
    list->count++;
    generation->panes++;
    struct pane_item *item = pane_item_at(store, list, at);
    *item = (struct pane_item){.pane = pane};
    count_pane(store, generation, entry, at);
    return item;
}

uint64_t pane_store_close(struct pane_store *store, int64_t closed)
{
    const struct pane_grid *grid = &store->grid;
    uint64_t groups = 0;
    if (closed <= store->closed)
        return 0;
    for (uint32_t i = 0; i < store->count; i++) {
        const struct pane_generation *generation = store->generations[i];
        int64_t base = generation_first_window(grid, generation->number);
        int64_t end = generation_last_window(grid, generation->number);
        int64_t keys = 0;
        for (int64_t window = base; window <= end && window <= closed; window++) {
            keys += generation->steps[window - base];
            groups += window > store->closed ? (uint64_t)keys : 0;
        }
    }
    CHECK(groups <= store->windows);
    store->windows -= groups;
    store->closed = closed;
    uint32_t gone = 0;
    while (gone < store->count &&
           pane_is_over(store, (store->generations[gone]->number + 1) * grid->per_window - 1)) {
        state_bucket_drop(store->table, store->generations[gone]->bucket);
        generation_free(store->generations[gone++]);
    }
    store->count -= gone;
    if (gone > 0)
        memmove(store->generations, store->generations + gone,
                store->count * sizeof(struct pane_generation *));
    return groups;
}
