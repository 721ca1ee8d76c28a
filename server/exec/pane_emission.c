/*
 * See pane_emission.h.
 */
#include "exec/pane_emission.h"

#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/pane_combine.h"

#include <stdlib.h>

#define SLOTS (BATCH_ROWS_MAX + 1) /* the last one is working memory */
#define AHEAD 16                   /* entries that are looked for together */

struct pane_emission {
    struct pane_output output;
    struct arena *arena; /* of states that are not plain */
    struct buffer scratch;
    uint8_t *blocks; /* SLOTS of them */
    uint32_t used;   /* slots */
    uint32_t rows;
    struct bytes keys[BATCH_ROWS_MAX];
    int64_t windows[BATCH_ROWS_MAX];
    uint8_t *states[BATCH_ROWS_MAX];
};

struct pane_emission *pane_emission_new(const struct pane_output *output)
{
    struct pane_emission *emission = heap_malloc(sizeof *emission);
    emission->output = *output;
    emission->arena = output->store->calls->plain ? NULL : arena_new("windows on their way out", 0);
    emission->scratch = (struct buffer){0};
    emission->blocks = heap_malloc((size_t)SLOTS * output->store->calls->block_bytes + 1);
    emission->used = emission->rows = 0;
    return emission;
}

void pane_emission_free(struct pane_emission *emission)
{
    if (emission == NULL)
        return;
    arena_free(emission->arena);
    buffer_fini(&emission->scratch);
    free(emission->blocks);
    free(emission);
}

static enum status window_column(struct pane_emission *emission, const struct type *type,
                                 struct vector **out, struct error *err)
{
    const struct pane_grid *grid = &emission->output.store->grid;
    TRY(vector_new(emission->output.ctx->batch_arena, type, emission->rows, out, err));
    int64_t *starts = VECTOR_VALUES(int64_t, (*out)->children[0]);
    int64_t *ends = VECTOR_VALUES(int64_t, (*out)->children[1]);
    for (uint32_t i = 0; i < emission->rows; i++) {
        starts[i] = window_start_us(grid, emission->windows[i]);
        ends[i] = window_end_us(grid, emission->windows[i]);
    }
    return OK;
}

static enum status send(struct pane_emission *emission, struct error *err)
{
    const struct pane_output *output = &emission->output;
    const struct aggregate_calls *calls = output->store->calls;
    const struct plan_node *plan = output->node->plan;
    struct exec_context *ctx = output->ctx;
    uint32_t pane_key = (uint32_t)plan->aggregate.pane_key;
    arena_reset(ctx->batch_arena);
    struct batch out = {.schema = plan->schema, .rows = emission->rows, .selected = emission->rows};
    out.columns =
        arena_new_object(ctx->batch_arena, (calls->key_count + calls->count + 1) * sizeof(void *));
    struct vector **others =
        arena_new_object(ctx->batch_arena, (output->other_count + 1) * sizeof *others);
    if (output->other_count > 0)
        TRY(row_key_decode(ctx->batch_arena, output->other_types, output->other_count,
                           emission->keys, emission->rows, others, err));
    for (uint32_t i = 0, next = 0; i < calls->key_count; i++)
        if (i != pane_key)
            out.columns[i] = others[next++];
    TRY(window_column(emission, calls->key_types[pane_key], &out.columns[pane_key], err));
    TRY(aggregate_calls_finish(calls, ctx, emission->states, emission->rows,
                               out.columns + calls->key_count, err));
    return exec_emit(output->node, ctx, &out, err);
}

enum status pane_emission_flush(struct pane_emission *emission, struct error *err)
{
    enum status status = emission->rows == 0 ? OK : send(emission, err);
    emission->used = emission->rows = 0;
    if (emission->arena != NULL)
        arena_reset(emission->arena);
    return status;
}

/* The windows [windows->first, to] of one key, some at a time. */
static enum status emit_key(struct pane_emission *emission, struct bytes key,
                            struct pane_windows *windows, int64_t to, struct error *err)
{
    const struct pane_store *store = emission->output.store;
    uint32_t block_bytes = store->calls->block_bytes;
    for (; windows->first <= to; windows->first += windows->count) {
        int64_t left = to - windows->first + 1;
        windows->count = left < COMBINE_WINDOWS_MAX ? (uint32_t)left : COMBINE_WINDOWS_MAX;
        if (emission->used + windows->count > BATCH_ROWS_MAX)
            TRY(pane_emission_flush(emission, err));
        windows->blocks = emission->blocks + (size_t)emission->used * block_bytes;
        TRY(pane_combine(store, windows, err));
        for (uint32_t k = 0; k < windows->count; k++) {
            if ((windows->present >> k & 1) == 0)
                continue;
            emission->keys[emission->rows] = key;
            emission->windows[emission->rows] = windows->first + k;
            emission->states[emission->rows++] = windows->blocks + (size_t)k * block_bytes;
        }
        emission->used += windows->count;
    }
    return OK;
}

/* Windows from `from` on, which begins in generation `number`. */
static struct pane_windows shape_of(struct pane_emission *emission, int64_t number, int64_t from,
                                    const struct pane_list *first, const struct pane_list *second)
{
    return (struct pane_windows){
        .first = from,
        .base = number * emission->output.store->grid.per_window,
        .lists = {first, second},
        .arena = emission->arena,
        .scratch = &emission->scratch,
    };
}

/* ---- all keys ---- */

/* A range of windows that have their first pane in one generation. */
struct span {
    int64_t number;                /* of the generation */
    struct pane_generation *first; /* NULL: nobody has panes in it */
    struct pane_generation *second;
    int64_t from;
    int64_t to;
    uint32_t scan;
};

/* The next entries of a bucket, and what they are found by. */
struct ahead {
    struct state_entry *entries[AHEAD];
    struct bytes keys[AHEAD];
    uint64_t hashes[AHEAD];
    uint32_t count;
};

static bool look_ahead(const struct pane_store *store, const struct pane_generation *generation,
                       struct state_cursor *cursor, const struct pane_generation *other,
                       struct ahead *ahead)
{
    ahead->count = 0;
    while (ahead->count < AHEAD) {
        struct state_entry *entry = state_next(store->table, generation->bucket, cursor);
        if (entry == NULL)
            break;
        uint32_t at = ahead->count++;
        ahead->entries[at] = entry;
        ahead->keys[at] = state_key(store->table, entry);
        ahead->hashes[at] = 0;
        if (other == NULL)
            continue;
        ahead->hashes[at] = state_hash(ahead->keys[at]);
        state_bucket_prefetch(other->bucket, ahead->hashes[at]);
    }
    return ahead->count > 0;
}

/* Asks for the last panes of a list, as many as there may be from `from` on. */
static void ask_for_last(const struct pane_store *store, const struct pane_list *list, int64_t from)
{
    int64_t most = store->grid.per_window - from;
    uint32_t skip = list->count > most ? list->count - (uint32_t)most : 0;
    pane_list_prefetch(store, list, skip, list->count);
}

/* Asks for the first panes of a list, as many as there may be before `end`. */
static void ask_for_first(const struct pane_store *store, const struct pane_list *list, int64_t end)
{
    pane_list_prefetch(store, list, 0, list->count < end ? list->count : (uint32_t)end);
}

static enum status emit_first(struct pane_emission *emission, const struct span *span,
                              struct error *err)
{
    const struct pane_store *store = emission->output.store;
    int64_t base = span->number * store->grid.per_window;
    int64_t begin = window_first_pane(&store->grid, span->from) - base;
    int64_t end = window_first_pane(&store->grid, span->to) - base;
    struct state_cursor cursor = {0};
    struct ahead ahead;
    while (look_ahead(store, span->first, &cursor, span->second, &ahead)) {
        struct pane_list *mates[AHEAD];
        for (uint32_t i = 0; i < ahead.count; i++) {
            ask_for_last(store, pane_list_of(ahead.entries[i]), begin);
            if (span->second != NULL)
                state_bucket_prefetch_entry(span->second->bucket, ahead.hashes[i]);
        }
        for (uint32_t i = 0; i < ahead.count; i++) {
            struct state_entry *mate =
                pane_store_entry(store, span->second, ahead.keys[i], ahead.hashes[i]);
            mates[i] = mate == NULL ? NULL : pane_list_of(mate);
            if (mates[i] == NULL)
                continue;
            mates[i]->mark = span->scan;
            ask_for_first(store, mates[i], end);
        }
        for (uint32_t i = 0; i < ahead.count; i++) {
            struct pane_windows shape = shape_of(emission, span->number, span->from,
                                                 pane_list_of(ahead.entries[i]), mates[i]);
            TRY(emit_key(emission, ahead.keys[i], &shape, span->to, err));
        }
    }
    return OK;
}

/* Keys that have panes in the second generation only. */
static enum status emit_second(struct pane_emission *emission, const struct span *span,
                               struct error *err)
{
    const struct pane_store *store = emission->output.store;
    int64_t base = span->number * store->grid.per_window;
    int64_t end = window_first_pane(&store->grid, span->to) - base;
    struct state_cursor cursor = {0};
    struct ahead ahead;
    while (look_ahead(store, span->second, &cursor, NULL, &ahead)) {
        for (uint32_t i = 0; i < ahead.count; i++)
            if (pane_list_of(ahead.entries[i])->mark != span->scan)
                ask_for_first(store, pane_list_of(ahead.entries[i]), end);
        for (uint32_t i = 0; i < ahead.count; i++) {
            const struct pane_list *list = pane_list_of(ahead.entries[i]);
            if (list->mark == span->scan || list->count == 0 || list->first >= end)
                continue;
            struct pane_windows shape = shape_of(emission, span->number, span->from, NULL, list);
            TRY(emit_key(emission, ahead.keys[i], &shape, span->to, err));
        }
    }
    return OK;
}

/* The windows of [from, to] whose first pane is in generation `number`. */
static enum status emit_span(struct pane_emission *emission, int64_t number, int64_t from,
                             int64_t to, struct error *err)
{
    struct pane_store *store = emission->output.store;
    int64_t first = generation_first_window(&store->grid, number);
    int64_t last = generation_last_window(&store->grid, number);
    struct span span = {
        .number = number,
        .first = pane_store_find(store, number),
        .second = pane_store_find(store, number + 1),
        .from = from > first ? from : first,
        .to = to < last ? to : last,
        .scan = ++store->scans,
    };
    if (span.from > span.to)
        return OK;
    if (span.first != NULL)
        TRY(emit_first(emission, &span, err));
    return span.second == NULL ? OK : emit_second(emission, &span, err);
}

enum status pane_emit_windows(struct pane_emission *emission, int64_t from, int64_t to,
                              struct error *err)
{
    const struct pane_store *store = emission->output.store;
    int64_t done = INT64_MIN;
    for (uint32_t i = 0; i < store->count; i++) {
        int64_t number = store->generations[i]->number;
        if (number - 1 > done)
            TRY(emit_span(emission, number - 1, from, to, err));
        TRY(emit_span(emission, number, from, to, err));
        done = number;
    }
    return OK;
}

/* ---- one key ---- */

/* The windows of [from, to] that begin in generation `number`. */
static enum status emit_list(struct pane_emission *emission, struct bytes key,
                             const struct pane_windows *shape, int64_t to, struct error *err)
{
    const struct pane_grid *grid = &emission->output.store->grid;
    int64_t number = floor_div(shape->base, grid->per_window);
    int64_t first = generation_first_window(grid, number);
    int64_t last = generation_last_window(grid, number);
    struct pane_windows windows = *shape;
    windows.first = shape->first > first ? shape->first : first;
    return emit_key(emission, key, &windows, to < last ? to : last, err);
}

enum status pane_emit_lists(struct pane_emission *emission, struct bytes key,
                            const struct pane_key_lists *lists, int64_t from, int64_t to,
                            struct error *err)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        const struct pane_key_list *each = &lists->lists[i];
        const struct pane_list *next = NULL;
        if (i == 0 || each[-1].generation != each->generation - 1) {
            struct pane_windows before =
                shape_of(emission, each->generation - 1, from, NULL, &each->list);
            TRY(emit_list(emission, key, &before, to, err));
        }
        if (i + 1 < lists->count && each[1].generation == each->generation + 1)
            next = &each[1].list;
        struct pane_windows shape = shape_of(emission, each->generation, from, &each->list, next);
        TRY(emit_list(emission, key, &shape, to, err));
    }
    return OK;
}

/* ---- what was touched ---- */

/* Widens [from, to] by the windows of the panes that the run has touched, in `generation`. */
static void widen(const struct pane_store *store, int64_t generation, struct state_entry *entry,
                  uint32_t run, int64_t *from, int64_t *to)
{
    if (entry == NULL || entry->stamp != run)
        return;
    const struct pane_list *list = pane_list_of(entry);
    int64_t base = generation * store->grid.per_window;
    int64_t first = pane_first_window(&store->grid, base + list->touched_from);
    int64_t last = pane_last_window(&store->grid, base + list->touched_to);
    *from = first < *from ? first : *from;
    *to = last > *to ? last : *to;
}

static enum status emit_pair(struct pane_emission *emission, int64_t number,
                             struct state_entry *const entries[2], int64_t closed,
                             struct error *err)
{
    const struct pane_store *store = emission->output.store;
    uint32_t run = emission->output.ctx->run;
    const struct pane_list *lists[2];
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (int i = 0; i < 2; i++) {
        lists[i] = entries[i] == NULL ? NULL : pane_list_of(entries[i]);
        widen(store, number + i, entries[i], run, &from, &to);
    }
    int64_t first = generation_first_window(&store->grid, number);
    int64_t last = generation_last_window(&store->grid, number);
    first = first > closed ? first : closed + 1;
    from = from > first ? from : first;
    to = to < last ? to : last;
    struct pane_windows shape = shape_of(emission, number, from, lists[0], lists[1]);
    shape.run = run;
    struct state_entry *entry = entries[0] != NULL ? entries[0] : entries[1];
    return emit_key(emission, state_key(store->table, entry), &shape, to, err);
}

enum status pane_emit_touched(struct pane_emission *emission, int64_t number,
                              struct state_entry *entry, int64_t closed, struct error *err)
{
    const struct pane_store *store = emission->output.store;
    struct bytes key = state_key(store->table, entry);
    uint64_t hash = state_hash(key);
    struct state_entry *before =
        pane_store_entry(store, pane_store_find(store, number - 1), key, hash);
    struct state_entry *behind =
        pane_store_entry(store, pane_store_find(store, number + 1), key, hash);
    if (before == NULL || before->stamp != emission->output.ctx->run)
        TRY(emit_pair(emission, number - 1, (struct state_entry *[]){before, entry}, closed, err));
    return emit_pair(emission, number, (struct state_entry *[]){entry, behind}, closed, err);
}
