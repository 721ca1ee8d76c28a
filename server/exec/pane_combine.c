/*
 * See pane_combine.h.
 */
#include "exec/pane_combine.h"

#include "base/check.h"

/* A window, or one end of it, on its way. */
struct part {
    uint8_t *block;
    bool started;
    bool touched;
};

static enum status absorb(const struct pane_store *store, const struct pane_windows *windows,
                          struct part *part, const uint8_t *block, struct error *err)
{
    const struct aggregate_calls *calls = store->calls;
    bool started = part->started;
    part->started = true;
    if (!started && calls->plain) {
        pane_copy(part->block, block, calls->block_bytes);
        return OK;
    }
    if (!started) {
        memset(part->block, 0, calls->block_bytes);
        aggregate_calls_init(calls, part->block);
    }
    return aggregate_calls_merge(calls, windows->arena, part->block, block, windows->scratch, err);
}

static enum status absorb_item(const struct pane_store *store, const struct pane_windows *windows,
                               struct part *part, const struct pane_list *list, uint32_t index,
                               struct error *err)
{
    const struct pane_item *item = pane_item_at(store, list, index);
    part->touched = part->touched || item->run == windows->run;
    return absorb(store, windows, part, item->block, err);
}

/* From the last window to the first: each has the panes of the next one, and those before them. */
static enum status add_first_list(const struct pane_store *store, struct pane_windows *windows,
                                  struct part *parts, struct error *err)
{
    const struct pane_list *list = windows->lists[0];
    uint32_t left = list == NULL ? 0 : list->count;
    for (uint32_t k = windows->count; k-- > 0;) {
        int64_t from = window_first_pane(&store->grid, windows->first + k) - windows->base;
        if (k + 1 < windows->count && parts[k + 1].started) {
            parts[k].touched = parts[k + 1].touched;
            TRY(absorb(store, windows, &parts[k], parts[k + 1].block, err));
        }
        for (; left > 0 && pane_item_at(store, list, left - 1)->pane >= from; left--)
            TRY(absorb_item(store, windows, &parts[k], list, left - 1, err));
    }
    return OK;
}

/* From the first window to the last: each has the panes of the one before, and further ones. */
static enum status add_second_list(const struct pane_store *store, struct pane_windows *windows,
                                   struct part *parts, struct error *err)
{
    const struct pane_list *list = windows->lists[1];
    struct part grown = {.block =
                             windows->blocks + (size_t)windows->count * store->calls->block_bytes};
    uint32_t next = 0;
    for (uint32_t k = 0; list != NULL && k < windows->count; k++) {
        struct part *into = windows->count == 1 ? parts : &grown;
        int64_t end = window_first_pane(&store->grid, windows->first + k) - windows->base;
        for (; next < list->count && pane_item_at(store, list, next)->pane < end; next++)
            TRY(absorb_item(store, windows, into, list, next, err));
        if (into == parts || !grown.started)
            continue;
        parts[k].touched = parts[k].touched || grown.touched;
        TRY(absorb(store, windows, &parts[k], grown.block, err));
    }
    return OK;
}

static enum status combine_parts(const struct pane_store *store, struct pane_windows *windows,
                                 struct error *err)
{
    struct part parts[COMBINE_WINDOWS_MAX];
    for (uint32_t k = 0; k < windows->count; k++)
        parts[k] = (struct part){.block = windows->blocks + (size_t)k * store->calls->block_bytes};
    TRY(add_first_list(store, windows, parts, err));
    TRY(add_second_list(store, windows, parts, err));
    windows->present = 0;
    for (uint32_t k = 0; k < windows->count; k++)
        if (parts[k].started && (windows->run == 0 || parts[k].touched))
            windows->present |= (uint64_t)1 << k;
    return OK;
}

/* ---- integers that add up ---- */

/* One end of a window, on its way: no panes are zeroes. */
struct sums {
    uint64_t words[AGGREGATE_ADDS_MAX];
    uint64_t odd;     /* as of aggregate_calls_add() */
    uint64_t present; /* bit 0: a window with these panes is */
};

static inline __attribute__((always_inline)) void
add_item(const struct pane_store *store, const struct pane_windows *windows, struct sums *sums,
         const struct pane_item *item, uint32_t words)
{
    sums->odd |= aggregate_calls_add(store->calls, sums->words, item->block, words);
    sums->present |= windows->run == 0 || item->run == windows->run;
}

/* As add_first_list(); it sets the blocks. */
static inline __attribute__((always_inline)) uint64_t
sum_first_list(const struct pane_store *store, struct pane_windows *windows, uint32_t words)
{
    const struct pane_list *list = windows->lists[0];
    uint32_t left = list == NULL ? 0 : list->count;
    int64_t from = window_first_pane(&store->grid, windows->first + windows->count - 1);
    struct sums sums = {0};
    from -= windows->base;
    for (uint32_t k = windows->count; k-- > 0; from -= store->grid.per_slide) {
        for (; left > 0 && pane_item_at(store, list, left - 1)->pane >= from; left--)
            add_item(store, windows, &sums, pane_item_at(store, list, left - 1), words);
        uint8_t *block = windows->blocks + (size_t)k * 8 * words;
        for (uint32_t i = 0; i < words; i++)
            memcpy(block + (size_t)i * 8, &sums.words[i], 8);
        windows->present |= sums.present << k;
    }
    return sums.odd;
}

/* As add_second_list(); it adds to the blocks. */
static inline __attribute__((always_inline)) uint64_t
sum_second_list(const struct pane_store *store, struct pane_windows *windows, uint32_t words)
{
    const struct pane_list *list = windows->lists[1];
    uint32_t next = 0;
    int64_t end = window_first_pane(&store->grid, windows->first) - windows->base;
    struct sums sums = {0};
    for (uint32_t k = 0; list != NULL && k < windows->count; k++, end += store->grid.per_slide) {
        for (; next < list->count && pane_item_at(store, list, next)->pane < end; next++)
            add_item(store, windows, &sums, pane_item_at(store, list, next), words);
        if (next == 0)
            continue;
        uint64_t whole[AGGREGATE_ADDS_MAX];
        uint8_t *block = windows->blocks + (size_t)k * 8 * words;
        for (uint32_t i = 0; i < words; i++)
            whole[i] = sums.words[i];
        sums.odd |= aggregate_calls_add(store->calls, whole, block, words);
        for (uint32_t i = 0; i < words; i++)
            memcpy(block + (size_t)i * 8, &whole[i], 8);
        windows->present |= sums.present << k;
    }
    return sums.odd;
}

/* False: that is a case for the functions. */
static inline __attribute__((always_inline)) bool
sum_up(const struct pane_store *store, struct pane_windows *windows, uint32_t words)
{
    windows->present = 0;
    uint64_t odd = sum_first_list(store, windows, words);
    return (odd | sum_second_list(store, windows, words)) >> 63 == 0;
}

/* sum_up() for numbers of words that are known to the compiler. */
static bool sum_words(const struct pane_store *store, struct pane_windows *windows)
{
    switch (store->calls->adds) {
    case 0:
        return false;
    case 1:
        return sum_up(store, windows, 1);
    case 2:
        return sum_up(store, windows, 2);
    case 3:
        return sum_up(store, windows, 3);
    case 4:
        return sum_up(store, windows, 4);
    default:
        return sum_up(store, windows, store->calls->adds);
    }
}

enum status pane_combine(const struct pane_store *store, struct pane_windows *windows,
                         struct error *err)
{
    CHECK(windows->count >= 1 && windows->count <= COMBINE_WINDOWS_MAX);
    return sum_words(store, windows) ? OK : combine_parts(store, windows, err);
}
