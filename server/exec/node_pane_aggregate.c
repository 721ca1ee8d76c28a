/*
 * Aggregation by sliding windows over a stream, from panes.
 *
 * A row is in one pane, and a window is some panes in a row: what a batch brings is merged into the
 * panes of its keys, and a window is put together when it comes out:
 *
 *     append    when the eviction watermark has reached its end
 *     update    in each batch that has changed one of its panes
 *     complete  in every batch
 *
 * To the outside it is as if every window were a group with a state of its own: windows that are
 * too late for the late watermark do not get a row that others get, and the numbers of groups in
 * the progress are numbers of windows.
 *
 * Keys that were let go (exec/pane_spill.h) come back before a batch's rows for them are merged;
 * where all keys are wanted, those in memory come first, then those on the disk.
 *
 * What is durable is the panes, by the end of each, and, under the bucket of CLOSED, the last
 * window that was closed: its panes stay until the last window that they are in is closed as well.
 */
#include "base/check.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/node_pane_writer.h"
#include "exec/pane_moved.h"
#include "exec/pane_spill.h"
#include "exec/stateful.h"
#include "exec/touched_list.h"

#include <stdlib.h>

#define AGGREGATE_MAGIC 0x9a4ea601U
#define AHEAD           16        /* keys that are looked for together */
#define CLOSED          INT64_MIN /* the bucket before all panes */

/* Windows that a row has come too late for. */
struct late {
    struct bytes key;
    int64_t first;
    int64_t last;
};

struct pane_aggregate {
    uint32_t magic;
    bool has_end;
    struct aggregate_calls calls;
    const struct type **other_types; /* of the keys but the window */
    uint32_t other_count;
    struct pane_store store;
    struct pane_spill disk;
    struct touched_list touched; /* in the present batch; buckets are generations */
    struct late *late;
    uint32_t late_count;
    uint32_t late_capacity;
    struct arena *late_keys; /* NULL until needed */
    int64_t closed_before;   /* the last closed window when the present batch's rows came in */
    bool settled;            /* closed_before is set */
    bool moved;              /* the present batch has closed windows */
    struct operator_stats stats;
    struct buffer scratch;
    struct buffer value;
};

static enum status aggregate_open(struct exec_node *self, struct arena *query,
                                  const struct plan_node *node, struct error *err)
{
    struct pane_aggregate *aggregate = arena_new_object(query, sizeof *aggregate);
    struct pane_grid grid = pane_grid_of(node);
    self->state = aggregate;
    aggregate->magic = AGGREGATE_MAGIC;
    aggregate->has_end = node->aggregate.event_time_key >= 0;
    TRY(aggregate_calls_open(&aggregate->calls, query, node, err));
    uint32_t key_count = aggregate->calls.key_count;
    aggregate->other_types = arena_new_object(query, key_count * sizeof *aggregate->other_types);
    for (uint32_t i = 0; i < key_count; i++)
        if (i != (uint32_t)node->aggregate.pane_key)
            aggregate->other_types[aggregate->other_count++] = aggregate->calls.key_types[i];
    pane_store_init(&aggregate->store, &grid, &aggregate->calls);
    aggregate->disk.store = &aggregate->store;
    return OK;
}

static enum status aggregate_begin(struct exec_node *self, struct exec_context *ctx,
                                   struct error *err)
{
    (void)ctx;
    (void)err;
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    touched_clear(&aggregate->touched);
    aggregate->late_count = 0;
    aggregate->settled = aggregate->moved = false;
    aggregate->stats = (struct operator_stats){0};
    spill_begin(&aggregate->disk.spill);
    return OK;
}

static bool closes(const struct pane_aggregate *aggregate, const struct exec_context *ctx)
{
    return aggregate->has_end && ctx->mode != EMIT_COMPLETE;
}

/* The windows of all keys, wherever they are. */
static enum status emit_windows(struct pane_aggregate *aggregate, struct pane_emission *emission,
                                int64_t from, int64_t to, struct error *err)
{
    TRY(pane_emit_windows(emission, from, to, err));
    TRY(pane_emission_flush(emission, err));
    return pane_spill_emit(&aggregate->disk, emission, from, to, err);
}

/* Closes what the watermark has reached; in append mode it comes out first. */
static enum status close_until(struct exec_node *self, struct exec_context *ctx,
                               struct pane_emission *emission, int64_t watermark_us,
                               struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    struct pane_store *store = &aggregate->store;
    int64_t closed = window_closed_at(&store->grid, watermark_us);
    if (closed <= store->closed)
        return OK;
    uint64_t groups = 0;
    if (ctx->mode == EMIT_APPEND && store->windows > 0)
        TRY(emit_windows(aggregate, emission, store->closed + 1, closed, err));
    TRY(pane_emission_flush(emission, err)); /* before panes and their memory may go */
    TRY(pane_spill_close(&aggregate->disk, closed, &groups, err));
    aggregate->stats.rows_removed += groups;
    aggregate->moved = true;
    return OK;
}

static struct pane_emission *new_emission(struct exec_node *self, struct exec_context *ctx)
{
    struct pane_aggregate *aggregate = self->state;
    struct pane_output output = {
        .node = self,
        .ctx = ctx,
        .store = &aggregate->store,
        .other_types = aggregate->other_types,
        .other_count = aggregate->other_count,
    };
    return pane_emission_new(&output);
}

/* Windows that take no rows any more are closed before the rows of the batch come in: nearly
 * always the last batch has closed them. */
static enum status settle(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    enum status status = OK;
    if (aggregate->settled)
        return OK;
    aggregate->settled = true;
    if (closes(aggregate, ctx) && window_closed_at(&aggregate->store.grid, ctx->late_watermark_us) >
                                      aggregate->store.closed) {
        struct pane_emission *emission = new_emission(self, ctx);
        status = close_until(self, ctx, emission, ctx->late_watermark_us, err);
        pane_emission_free(emission);
    }
    aggregate->closed_before = aggregate->store.closed;
    return status;
}

static void note_late(struct pane_aggregate *aggregate, struct bytes key, int64_t first,
                      int64_t last)
{
    if (aggregate->late_keys == NULL)
        aggregate->late_keys = arena_new("keys that are late", 0);
    if (aggregate->late_count == aggregate->late_capacity) {
        aggregate->late_capacity =
            aggregate->late_capacity == 0 ? 256 : aggregate->late_capacity * 2;
        aggregate->late =
            heap_realloc(aggregate->late, aggregate->late_capacity * sizeof *aggregate->late);
    }
    aggregate->late[aggregate->late_count++] =
        (struct late){.key = arena_copy(aggregate->late_keys, key), .first = first, .last = last};
}

/* Panes [from, to] of a place are touched by the run. */
static void touch(struct pane_aggregate *aggregate, uint32_t run, const struct pane_place *place,
                  uint32_t from, uint32_t to)
{
    struct state_entry *entry = place->entry;
    struct pane_list *list = pane_list_of(entry);
    place->generation->run = run;
    if (entry->stamp == run) {
        list->touched_from = from < list->touched_from ? from : list->touched_from;
        list->touched_to = to > list->touched_to ? to : list->touched_to;
        return;
    }
    entry->stamp = run;
    list->touched_from = from;
    list->touched_to = to;
    touched_add(&aggregate->touched, place->generation->number, entry);
}

static void make_block(const struct pane_aggregate *aggregate, uint8_t *block)
{
    memset(block, 0, aggregate->calls.block_bytes);
    aggregate_calls_init(&aggregate->calls, block);
}

static enum status take_item(struct pane_aggregate *aggregate, const struct pane_place *place,
                             const struct pane_item *from, struct error *err)
{
    bool added = false;
    struct pane_item *item = pane_store_add(&aggregate->store, place, from->pane, &added);
    item->run = from->run;
    if (added && aggregate->calls.plain) {
        pane_copy(item->block, from->block, aggregate->calls.block_bytes);
        return OK;
    }
    if (added)
        make_block(aggregate, item->block);
    return aggregate_calls_merge(&aggregate->calls, state_bucket_arena(place->generation->bucket),
                                 item->block, from->block, &aggregate->scratch, err);
}

/* Takes all items but the last `taken` ones. */
static enum status take_items(struct pane_aggregate *aggregate, const struct pane_place *place,
                              struct pane_group *group, uint32_t taken, struct error *err)
{
    const struct pane_store *store = &aggregate->store;
    int64_t base = group->generation * store->grid.per_window;
    for (struct pane_chunk *chunk = group->last; chunk != NULL; chunk = chunk->before)
        for (uint32_t i = chunk->count; i-- > 0;) {
            const struct pane_item *item = pane_chunk_item(store, chunk, i);
            if (taken > 0)
                taken--;
            else if (pane_last_window(&store->grid, base + item->pane) > store->closed)
                TRY(take_item(aggregate, place, item, err));
        }
    return OK;
}

static enum status take_group(struct pane_aggregate *aggregate, uint32_t run,
                              const struct pane_place *place, struct pane_group *group,
                              struct error *err)
{
    struct pane_store *store = &aggregate->store;
    int64_t base = group->generation * store->grid.per_window;
    uint32_t from = group->from;
    uint32_t taken = 0;
    if (pane_is_over(store, base + from)) /* some are */
        from = (uint32_t)(window_first_pane(&store->grid, store->closed + 1) - base);
    else if (group->ordered && aggregate->calls.plain)
        taken = pane_store_append(store, place, group->last);
    touch(aggregate, run, place, from, group->to);
    return taken == group->count ? OK : take_items(aggregate, place, group, taken, err);
}

/* Notes each pane of a group that has come too late for some of its windows. */
static void note_late_panes(struct pane_aggregate *aggregate, struct pane_group *group)
{
    const struct pane_store *store = &aggregate->store;
    int64_t base = group->generation * store->grid.per_window;
    for (struct pane_chunk *chunk = group->last; chunk != NULL; chunk = chunk->before)
        for (uint32_t i = 0; i < chunk->count; i++) {
            int64_t pane = base + pane_chunk_item(store, chunk, i)->pane;
            int64_t first = pane_first_window(&store->grid, pane);
            int64_t last = pane_last_window(&store->grid, pane);
            if (first <= store->closed)
                note_late(aggregate, pane_group_key(group), first,
                          last < store->closed ? last : store->closed);
        }
}

/* The generation of a group, made if it is not there; NULL: all of its windows are closed.  *last
 * is that of the group before. */
static struct pane_generation *generation_of(struct pane_aggregate *aggregate,
                                             const struct pane_group *group,
                                             struct pane_generation **last)
{
    struct pane_store *store = &aggregate->store;
    int64_t base = group->generation * store->grid.per_window;
    if (pane_last_window(&store->grid, base + group->to) <= store->closed)
        return NULL;
    if (*last == NULL || (*last)->number != group->generation)
        *last = pane_store_open(store, group->generation);
    return *last;
}

/* Finds the entry of a group; NULL: it has come too late for all windows. */
static struct pane_place find_place(struct pane_aggregate *aggregate, struct pane_group *group,
                                    struct pane_generation **last)
{
    struct pane_store *store = &aggregate->store;
    int64_t base = group->generation * store->grid.per_window;
    bool added = false;
    struct pane_place place = {
        .generation = generation_of(aggregate, group, last),
        .hash = group->hash,
    };
    if (pane_first_window(&store->grid, base + group->from) <= store->closed)
        note_late_panes(aggregate, group);
    if (place.generation == NULL)
        return place;
    place.entry = state_add(store->table, place.generation->bucket, pane_group_key(group),
                            group->hash, &added);
    const struct pane_list *list = pane_list_of(place.entry);
    if (list->count > 0)
        pane_list_prefetch(store, list, list->count - 1, list->count + group->count);
    return place;
}

/* Asks for what is needed of the groups from `first` on, some earlier than others. */
static void look_ahead(struct pane_aggregate *aggregate, const struct pane_groups *groups,
                       uint32_t first, struct pane_generation **last)
{
    uint32_t left = groups->count - first;
    for (uint32_t i = 3 * AHEAD; i < 4 * AHEAD && i < left; i++) {
        __builtin_prefetch(groups->groups[first + i]);
        __builtin_prefetch((const uint8_t *)groups->groups[first + i] + 64);
        __builtin_prefetch((const uint8_t *)groups->groups[first + i] + 128);
    }
    for (uint32_t i = 2 * AHEAD; i < 3 * AHEAD && i < left; i++) {
        const struct pane_group *group = groups->groups[first + i];
        const struct pane_generation *generation = generation_of(aggregate, group, last);
        __builtin_prefetch(group->last);
        __builtin_prefetch((const uint8_t *)group->last + 64);
        __builtin_prefetch((const uint8_t *)group->last + 128);
        if (generation != NULL)
            state_bucket_prefetch(generation->bucket, group->hash);
    }
    for (uint32_t i = AHEAD; i < 2 * AHEAD && i < left; i++) {
        const struct pane_group *group = groups->groups[first + i];
        const struct pane_generation *generation = generation_of(aggregate, group, last);
        if (generation != NULL)
            state_bucket_prefetch_entry(generation->bucket, group->hash);
    }
}

/* Keys of the groups of this round that are on the disk come back into memory. */
static enum status fetch_keys(struct pane_aggregate *aggregate, const struct exec_context *ctx,
                              const struct pane_groups *groups, struct error *err)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (exec_in_round(ctx, groups->groups[i]->hash))
            pane_spill_want(&aggregate->disk, pane_group_key(groups->groups[i]),
                            groups->groups[i]->hash);
    return pane_spill_fetch(&aggregate->disk, err);
}

static enum status take_groups(struct pane_aggregate *aggregate, const struct exec_context *ctx,
                               const struct pane_groups *groups, struct error *err)
{
    struct pane_place places[AHEAD];
    struct pane_generation *last = NULL;
    if (!spill_is_empty(&aggregate->disk.spill))
        TRY(fetch_keys(aggregate, ctx, groups, err));
    for (uint32_t first = 0; first < groups->count; first += AHEAD) {
        uint32_t left = groups->count - first;
        uint32_t count = left < AHEAD ? left : AHEAD;
        look_ahead(aggregate, groups, first, &last);
        for (uint32_t i = 0; i < count; i++)
            places[i] = exec_in_round(ctx, groups->groups[first + i]->hash)
                            ? find_place(aggregate, groups->groups[first + i], &last)
                            : (struct pane_place){0};
        for (uint32_t i = 0; i < count; i++)
            if (places[i].entry != NULL)
                TRY(take_group(aggregate, ctx->run, &places[i], groups->groups[first + i], err));
    }
    return OK;
}

static enum status take_moved(struct pane_aggregate *aggregate, const struct exec_context *ctx,
                              struct pane_moved *moved, struct error *err)
{
    struct pane_groups groups = {.count = 1};
    while (groups.count > 0) {
        TRY(pane_moved_read(moved, ctx, &groups, err));
        TRY(take_groups(aggregate, ctx, &groups, err));
    }
    return OK;
}

static enum status aggregate_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                  struct exec_node *writer, struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    CHECK(input == 0);
    TRY(settle(self, ctx, err));
    struct pane_moved moved = pane_groups_moved(writer, ctx->run, ctx->partition);
    enum status status = take_moved(aggregate, ctx, &moved, err);
    pane_moved_fini(&moved);
    TRY(status);
    struct pane_groups groups = pane_groups(writer, ctx->run, ctx->partition);
    return take_groups(aggregate, ctx, &groups, err);
}

/* ---- numbers ---- */

static int compare_late(const void *a, const void *b)
{
    const struct late *late_a = a;
    const struct late *late_b = b;
    int order = bytes_compare(late_a->key, late_b->key);
    return order != 0 ? order : (late_a->first > late_b->first) - (late_a->first < late_b->first);
}

/* A group that was too late counts once, however many rows it had. */
static uint64_t count_late(struct pane_aggregate *aggregate)
{
    uint64_t groups = 0;
    int64_t counted = INT64_MIN;
    if (aggregate->late_count > 1)
        qsort(aggregate->late, aggregate->late_count, sizeof *aggregate->late, compare_late);
    for (uint32_t i = 0; i < aggregate->late_count; i++) {
        const struct late *late = &aggregate->late[i];
        if (i == 0 || !bytes_equal(late->key, aggregate->late[i - 1].key))
            counted = INT64_MIN;
        int64_t first = late->first > counted ? late->first : counted + 1;
        if (first <= late->last)
            groups += (uint64_t)(late->last - first + 1);
        counted = late->last > counted ? late->last : counted;
    }
    return groups;
}

/* The last window that the run has touched of an entry's key in the generation before it. */
static int64_t touched_before(const struct pane_aggregate *aggregate, int64_t number,
                              const struct state_entry *entry, uint32_t run)
{
    const struct pane_store *store = &aggregate->store;
    const struct pane_generation *generation = pane_store_find(store, number - 1);
    if (generation == NULL || generation->run != run)
        return WINDOW_NONE;
    struct bytes key = state_key(store->table, entry);
    struct state_entry *found = pane_store_entry(store, generation, key, state_hash(key));
    if (found == NULL || found->stamp != run)
        return WINDOW_NONE;
    int64_t base = (number - 1) * store->grid.per_window;
    return pane_last_window(&store->grid, base + pane_list_of(found)->touched_to);
}

/* The windows that the run has touched, as pane_emit_touched() gives them. */
static uint64_t count_touched(const struct pane_aggregate *aggregate, uint32_t run)
{
    const struct pane_grid *grid = &aggregate->store.grid;
    uint64_t groups = 0;
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&aggregate->touched, &cursor)) != NULL) {
        const struct pane_list *list = pane_list_of(entry);
        int64_t base = cursor.bucket * grid->per_window;
        int64_t first = pane_first_window(grid, base + list->touched_from);
        int64_t last = pane_last_window(grid, base + list->touched_to);
        int64_t before = touched_before(aggregate, cursor.bucket, entry, run);
        first = before >= first ? before + 1 : first;
        first = first > aggregate->closed_before ? first : aggregate->closed_before + 1;
        groups += first <= last ? (uint64_t)(last - first + 1) : 0;
    }
    return groups;
}

/* ---- the end of a batch ---- */

/* The windows that the batch has changed, of the keys that are in memory now. */
static enum status emit_touched(struct pane_aggregate *aggregate, const struct exec_context *ctx,
                                struct pane_emission *emission, struct error *err)
{
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while (ctx->mode == EMIT_UPDATE && (entry = touched_next(&aggregate->touched, &cursor)) != NULL)
        TRY(pane_emit_touched(emission, cursor.bucket, entry, aggregate->closed_before, err));
    return pane_emission_flush(emission, err);
}

static void count_round(struct pane_aggregate *aggregate, uint32_t run)
{
    aggregate->stats.rows_updated += count_touched(aggregate, run);
    aggregate->stats.rows_dropped += count_late(aggregate);
    aggregate->late_count = 0;
    if (aggregate->late_keys != NULL)
        arena_reset(aggregate->late_keys);
}

static enum status emit(struct exec_node *self, struct exec_context *ctx,
                        struct pane_emission *emission, struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    TRY(emit_touched(aggregate, ctx, emission, err));
    if (ctx->mode == EMIT_COMPLETE)
        TRY(emit_windows(aggregate, emission, aggregate->store.closed + 1, INT64_MAX, err));
    TRY(pane_emission_flush(emission, err));
    if (!closes(aggregate, ctx))
        return OK;
    int64_t began_us = exec_clock_us(ctx);
    TRY(close_until(self, ctx, emission, ctx->eviction_watermark_us, err));
    ctx->removal_us += exec_clock_us(ctx) - began_us;
    return OK;
}

static enum status aggregate_end_round(struct exec_node *self, struct exec_context *ctx,
                                       struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    count_round(aggregate, ctx->run);
    struct pane_emission *emission = new_emission(self, ctx);
    enum status status = emit_touched(aggregate, ctx, emission, err);
    pane_emission_free(emission);
    return status;
}

static enum status aggregate_finish(struct exec_node *self, struct exec_context *ctx,
                                    struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    TRY(settle(self, ctx, err));
    count_round(aggregate, ctx->run);
    struct pane_emission *emission = new_emission(self, ctx);
    enum status status = emit(self, ctx, emission, err);
    pane_emission_free(emission);
    return status;
}

/* ---- what is durable ---- */

/* The end of the last pane that no open window needs, as a DROP. */
static void put_closed(struct pane_aggregate *aggregate, struct buffer *out)
{
    const struct pane_store *store = &aggregate->store;
    int64_t pane = window_first_pane(&store->grid, store->closed + 1) - 1;
    buffer_clear(&aggregate->value);
    varint_put(&aggregate->value, (uint64_t)store->closed);
    changelog_drop(out, pane_end_us(&store->grid, pane));
    changelog_put(out, CLOSED, bytes_of(NULL, 0), buffer_bytes(&aggregate->value));
}

/* The panes of an entry of generation `number` that the run has touched. */
static void put_panes(struct pane_aggregate *aggregate, int64_t number, struct state_entry *entry,
                      uint32_t run, struct changelog_run *out)
{
    const struct pane_store *store = &aggregate->store;
    const struct pane_list *list = pane_list_of(entry);
    struct bytes key = state_key(store->table, entry);
    int64_t base = number * store->grid.per_window;
    uint32_t i = list->count;
    while (i > 0 && pane_item_at(store, list, i - 1)->pane >= list->touched_from)
        i--;
    for (; i < list->count; i++) {
        const struct pane_item *item = pane_item_at(store, list, i);
        if (item->run != run || pane_is_over(store, base + item->pane))
            continue;
        buffer_clear(&aggregate->value);
        aggregate_calls_save(&aggregate->calls, item->block, &aggregate->value,
                             &aggregate->scratch);
        changelog_run_put(out, pane_end_us(&store->grid, base + item->pane), key,
                          buffer_bytes(&aggregate->value));
    }
}

static enum status aggregate_changes(struct exec_node *self, struct exec_context *ctx,
                                     struct buffer *out, struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    const struct pane_store *store = &aggregate->store;
    (void)err;
    if (aggregate->moved)
        put_closed(aggregate, out);
    struct changelog_run puts = {.out = out};
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&aggregate->touched, &cursor)) != NULL) {
        int64_t last_pane = (cursor.bucket + 1) * store->grid.per_window - 1;
        if (!pane_is_over(store, last_pane)) /* else the entry went with its generation */
            put_panes(aggregate, cursor.bucket, entry, ctx->run, &puts);
    }
    return OK;
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of a sliding window",
                       NULL);
}

static enum status restore_pane(struct pane_aggregate *aggregate, const struct change *change,
                                struct error *err)
{
    struct pane_store *store = &aggregate->store;
    int64_t pane = pane_at(&store->grid, change->bucket - 1);
    bool added = false;
    if (pane_end_us(&store->grid, pane) != change->bucket)
        return damaged(err);
    if (pane_is_over(store, pane))
        return OK;
    int64_t number = pane_generation(&store->grid, pane);
    struct pane_place place = {
        .generation = pane_store_open(store, number),
        .hash = state_hash(change->key),
    };
    struct state_bucket *bucket = place.generation->bucket;
    place.entry = state_add(store->table, bucket, change->key, place.hash, &added);
    struct pane_item *item =
        pane_store_add(store, &place, (uint32_t)(pane - number * store->grid.per_window), &added);
    make_block(aggregate, item->block);
    struct arena *arena = aggregate->calls.plain ? NULL : state_bucket_arena(bucket);
    return aggregate_calls_load(&aggregate->calls, arena, change->value, item->block, err);
}

static enum status aggregate_restore(struct exec_node *self, const struct change *change,
                                     struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    if (change->kind == CHANGE_DROP)
        return OK; /* says the same as the PUT into CLOSED behind it */
    if (change->kind != CHANGE_PUT)
        return damaged(err);
    TRY(pane_spill_fetch(&aggregate->disk, err)); /* what is expected */
    if (change->bucket != CLOSED)
        return restore_pane(aggregate, change, err);
    struct bytes value = change->value;
    uint64_t closed = 0;
    uint64_t groups = 0;
    if (!varint_take(&value, &closed) || value.size_bytes > 0)
        return damaged(err);
    return pane_spill_close(&aggregate->disk, (int64_t)closed, &groups, err);
}

static void aggregate_expect(struct exec_node *self, const struct change *change)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    if (change->bucket != CLOSED && !spill_is_empty(&aggregate->disk.spill))
        pane_spill_want(&aggregate->disk, change->key, state_hash(change->key));
}

static void aggregate_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    *out = aggregate->stats;
    out->rows_total = aggregate->store.windows;
    out->memory_bytes = pane_store_bytes(&aggregate->store) + pane_spill_bytes(&aggregate->disk) +
                        touched_bytes(&aggregate->touched) +
                        aggregate->late_capacity * sizeof *aggregate->late;
    stateful_spill_stats(&aggregate->disk.spill, out);
}

static struct spill *aggregate_spill(struct exec_node *self)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    return &aggregate->disk.spill;
}

static enum status aggregate_let_go(struct exec_node *self, uint64_t bytes, struct error *err)
{
    struct pane_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    (void)bytes; /* keys are used alike: all of them go */
    touched_fini(&aggregate->touched);
    return pane_spill_let_go(&aggregate->disk, err);
}

static bool aggregate_wants_batch(const struct plan_node *node, enum emit_mode mode,
                                  int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    return mode != EMIT_COMPLETE && watermark_us > last_watermark_us;
}

static void aggregate_close(struct exec_node *self)
{
    struct pane_aggregate *aggregate = self->state;
    if (aggregate == NULL)
        return;
    pane_spill_fini(&aggregate->disk);
    pane_store_fini(&aggregate->store);
    touched_fini(&aggregate->touched);
    free(aggregate->late);
    arena_free(aggregate->late_keys);
    buffer_fini(&aggregate->scratch);
    buffer_fini(&aggregate->value);
}

static const struct stateful_ops aggregate_stateful = {
    .name = "stateStoreSave",
    .writer = &node_pane_writer,
    .pull = aggregate_pull,
    .changes = aggregate_changes,
    .restore = aggregate_restore,
    .expect = aggregate_expect,
    .stats = aggregate_stats,
    .spill = aggregate_spill,
    .let_go = aggregate_let_go,
    .end_round = aggregate_end_round,
    .wants_batch = aggregate_wants_batch,
};

const struct exec_node_ops node_pane_aggregate = {
    .name = "Aggregate",
    .open = aggregate_open,
    .begin = aggregate_begin,
    .finish = aggregate_finish,
    .close = aggregate_close,
    .stateful = &aggregate_stateful,
};
