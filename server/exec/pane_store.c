/*
 * See pane_store.h.
 */
#include "exec/pane_store.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define SIZES_MAX 16 /* 2^15 panes: a window has no more than 2 * 10,000 and one */

void pane_store_init(struct pane_store *store, const struct pane_grid *grid,
                     const struct aggregate_calls *calls)
{
    *store = (struct pane_store){
        .grid = *grid,
        .calls = calls,
        .item_bytes = pane_item_bytes(calls),
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

/* How many panes a key will have, going by the generation before. */
static uint32_t expected_panes(const struct pane_store *store, int64_t number)
{
    const struct pane_generation *before = pane_store_find(store, number - 1);
    uint64_t keys = before == NULL ? 0 : state_bucket_count(before->bucket);
    return keys == 0 ? 1 : (uint32_t)(before->panes / keys);
}

struct pane_generation *pane_store_open(struct pane_store *store, int64_t number)
{
    uint32_t index = generation_index(store, number);
    if (index < store->count && store->generations[index]->number == number)
        return store->generations[index];
    if (store->count == store->capacity) {
        store->capacity = store->capacity == 0 ? 8 : store->capacity * 2;
        store->generations =
            heap_realloc(store->generations, store->capacity * sizeof(struct pane_generation *));
    }
    struct pane_generation *generation = heap_calloc(1, sizeof *generation);
    generation->number = number;
    generation->expected = expected_panes(store, number);
    generation->bucket = state_bucket_open(store->table, number);
    generation->steps = heap_calloc(step_count(store), sizeof *generation->steps);
    generation->spare = heap_calloc(SIZES_MAX, sizeof *generation->spare);
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
    if (first <= store->closed)
        first = store->closed + 1;
    if (first > last)
        return;
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

/* The key's panes in the generation before (-1) or after (1); NULL: it has none. */
static const struct pane_list *list_beside(const struct pane_store *store,
                                           const struct pane_place *place, int step)
{
    const struct pane_generation *generation =
        pane_store_find(store, place->generation->number + step);
    if (generation == NULL || state_bucket_count(generation->bucket) == 0)
        return NULL;
    struct state_entry *found =
        pane_store_entry(store, generation, state_key(store->table, place->entry), place->hash);
    return found == NULL || pane_list_of(found)->count == 0 ? NULL : pane_list_of(found);
}

/* The key's first window that no pane before this generation is in, from `first` on. */
static int64_t without_before(const struct pane_store *store, const struct pane_place *place,
                              int64_t first)
{
    const struct pane_list *list = list_beside(store, place, -1);
    if (list == NULL)
        return first;
    int64_t base = (place->generation->number - 1) * store->grid.per_window;
    int64_t last = pane_last_window(&store->grid, base + list->last);
    return last < first ? first : last + 1;
}

static int64_t without_behind(const struct pane_store *store, const struct pane_place *place,
                              int64_t last)
{
    const struct pane_list *list = list_beside(store, place, 1);
    if (list == NULL)
        return last;
    int64_t base = (place->generation->number + 1) * store->grid.per_window;
    int64_t first = pane_first_window(&store->grid, base + list->first);
    return first > last ? last : first - 1;
}

/* Counts the windows that a list has got since it went from pane `first` to pane `last`; it was
 * empty if these are the wrong way round. */
static void count_growth(struct pane_store *store, const struct pane_place *place, uint32_t first,
                         uint32_t last)
{
    const struct pane_grid *grid = &store->grid;
    const struct pane_list *list = pane_list_of(place->entry);
    int64_t base = place->generation->number * grid->per_window;
    uint32_t now = list->first;
    int64_t from = pane_first_window(grid, base + now);
    int64_t to = pane_last_window(grid, base + list->last);
    if (first > last) {
        from = without_before(store, place, from);
        count_windows(store, from, without_behind(store, place, to));
        return;
    }
    if (now < first)
        count_windows(store, without_before(store, place, from),
                      pane_first_window(grid, base + first) - 1);
    if (list->last > last)
        count_windows(store, pane_last_window(grid, base + last) + 1,
                      without_behind(store, place, to));
}

/* ---- panes ---- */

static uint32_t size_class(uint32_t capacity)
{
    return capacity <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(capacity - 1);
}

static void *new_items(const struct pane_store *store, struct pane_generation *generation,
                       uint32_t count)
{
    void *memory = NULL;
    struct error err; /* the arena has no limit, so nothing is written to it, and it is large */
    CHECK(arena_alloc_raw(state_bucket_arena(generation->bucket), count, store->item_bytes, &memory,
                          &err) == OK);
    return memory;
}

/* Room for `more` further items: powers of two, but not more than a generation can have, and that
 * at once if it is less than twice as much. */
static void reserve(struct pane_store *store, struct pane_generation *generation,
                    struct pane_list *list, uint32_t more)
{
    void *memory = NULL;
    uint32_t wanted = list->count + more;
    if (wanted <= list->capacity)
        return;
    if (wanted < generation->expected)
        wanted = generation->expected;
    if (wanted > store->grid.per_window / 2)
        wanted = (uint32_t)store->grid.per_window;
    uint32_t class = size_class(wanted);
    CHECK(class < SIZES_MAX);
    uint32_t capacity = (uint32_t)1 << class;
    if (capacity > store->grid.per_window)
        capacity = (uint32_t)store->grid.per_window;
    if (generation->spare[class] != NULL) {
        memory = generation->spare[class];
        memcpy(&generation->spare[class], memory, sizeof(void *));
    } else {
        memory = new_items(store, generation, capacity);
    }
    if (list->capacity > 0) {
        uint32_t before = size_class(list->capacity);
        for (uint32_t i = 0; i < list->count; i++)
            pane_copy((uint8_t *)memory + (size_t)i * store->item_bytes,
                      pane_item_at(store, list, i), store->item_bytes);
        memcpy(list->items, &generation->spare[before], sizeof(void *));
        generation->spare[before] = list->items;
    }
    list->items = memory;
    list->capacity = capacity;
}

/* The number of items whose pane is `pane` or an earlier one. */
static uint32_t count_up_to(const struct pane_store *store, const struct pane_list *list,
                            uint32_t pane)
{
    uint32_t low = 0;
    uint32_t high = list->count;
    if (high == 0 || list->last <= pane)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pane_item_at(store, list, middle)->pane <= pane)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pane_item *pane_store_add(struct pane_store *store, const struct pane_place *place,
                                 uint32_t pane, bool *added)
{
    struct pane_list *list = pane_list_of(place->entry);
    uint32_t at = count_up_to(store, list, pane);
    *added = at == 0 || pane_item_at(store, list, at - 1)->pane != pane;
    if (!*added)
        return pane_item_at(store, list, at - 1);
    bool empty = list->count == 0;
    uint32_t first = empty ? 1 : list->first;
    uint32_t last = empty ? 0 : list->last;
    reserve(store, place->generation, list, 1);
    uint8_t *to = list->items + (size_t)at * store->item_bytes;
    if (at < list->count)
        memmove(to + store->item_bytes, to, (size_t)(list->count - at) * store->item_bytes);
    else
        list->last = pane;
    if (at == 0)
        list->first = pane;
    list->count++;
    place->generation->panes++;
    struct pane_item *item = pane_item_at(store, list, at);
    *item = (struct pane_item){.pane = pane};
    if (at == 0 || at + 1 == list->count)
        count_growth(store, place, first, last);
    return item;
}

uint32_t pane_store_append(struct pane_store *store, const struct pane_place *place,
                           const struct pane_chunk *chunks)
{
    struct pane_list *list = pane_list_of(place->entry);
    uint32_t item_bytes = store->item_bytes;
    bool empty = list->count == 0;
    uint32_t first = empty ? 1 : list->first;
    uint32_t last = empty ? 0 : list->last;
    uint32_t fresh = 0;
    for (const struct pane_chunk *chunk = chunks; chunk != NULL; chunk = chunk->before)
        for (uint32_t i = chunk->count; i-- > 0; fresh++)
            if (!empty && pane_chunk_item(store, chunk, i)->pane <= last)
                break;
    if (fresh == 0)
        return 0;
    reserve(store, place->generation, list, fresh);
    uint8_t *end = list->items + (size_t)(list->count + fresh) * item_bytes;
    uint32_t left = fresh;
    for (const struct pane_chunk *chunk = chunks; left > 0; chunk = chunk->before) {
        uint32_t take = left < chunk->count ? left : chunk->count;
        left -= take;
        for (uint32_t i = chunk->count; take > 0; take--) {
            end -= item_bytes;
            pane_copy(end, pane_chunk_item(store, chunk, --i), item_bytes);
        }
    }
    list->count += fresh;
    list->last = pane_chunk_item(store, chunks, chunks->count - 1)->pane;
    if (empty)
        list->first = pane_item_at(store, list, 0)->pane;
    place->generation->panes += fresh;
    count_growth(store, place, first, last);
    return fresh;
}

struct pane_item *pane_store_bring(struct pane_store *store, const struct pane_place *place,
                                   uint32_t pane)
{
    struct pane_list *list = pane_list_of(place->entry);
    reserve(store, place->generation, list, 1);
    if (list->count == 0)
        list->first = pane;
    struct pane_item *item = pane_item_at(store, list, list->count++);
    *item = (struct pane_item){.pane = pane};
    list->last = pane;
    place->generation->panes++;
    return item;
}

void pane_store_forget(struct pane_store *store)
{
    for (uint32_t i = 0; i < store->count; i++) {
        struct pane_generation *generation = store->generations[i];
        state_bucket_drop(store->table, generation->bucket);
        generation->bucket = state_bucket_open(store->table, generation->number);
        memset(generation->spare, 0, SIZES_MAX * sizeof *generation->spare);
        generation->panes = 0;
    }
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

uint64_t pane_store_bytes(const struct pane_store *store)
{
    size_t tables = step_count(store) * sizeof(int64_t) + SIZES_MAX * sizeof(void *);
    return state_table_bytes(store->table) +
           store->count * (sizeof(struct pane_generation) + tables);
}
