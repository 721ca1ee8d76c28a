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

enum status pane_combine(const struct pane_store *store, struct pane_windows *windows,
                         struct error *err)
{
    CHECK(windows->count >= 1 && windows->count <= COMBINE_WINDOWS_MAX);
    struct part parts[COMBINE_WINDOWS_MAX];
    for (uint32_t k = 0; k < windows->count; k++)
        parts[k] = (struct part){.block = windows->blocks + (size_t)k * store->calls->block_bytes};
    TRY(add_first_list(store, windows, parts, err));
    TRY(add_second_list(store, windows, parts, err));
    for (uint32_t k = 0; k < windows->count; k++)
        windows->present[k] = parts[k].started && (windows->run == 0 || parts[k].touched);
    return OK;
}
