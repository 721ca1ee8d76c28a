/*
 * Partial aggregation by key and pane: the end of the stage before an aggregation by sliding
 * windows.
 *
 * As node_partial_aggregate.c, each thread aggregates its own rows first, and gives up looking for
 * groups when nearly every row is one.
 *
 * A group is one key's panes of one generation, so that rows of the same key, which are in few
 * panes, are found by one look into a table that is small, and taken over by one look into the
 * state.  The items of a group do not move, as rows of the present batch point to them: behind the
 * first ones, which lie with the group, come further ones of twice as many.
 */
#include "exec/node_pane_writer.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/memory_limit.h"
#include "columnar/row_key.h"
#include "exec/pane_moved.h"

#include <stdlib.h>

#define WRITER_MAGIC    0x9a4e1001U
#define SLOTS_MIN       1024
#define PROBE_ROWS      65536 /* after so many rows it is decided whether looking pays */
#define FIRST_ITEMS_MAX 16    /* room that a group has from the beginning */
#define GROUP_ITEMS_MAX 64    /* then the key gets another group: its items are looked through */
#define PREFETCH        16
#define ADDRESS_BITS    48
#define ADDRESS_MASK    (((uint64_t)1 << ADDRESS_BITS) - 1)

/* The groups of a partition. */
struct lane {
    struct pane_group **groups;
    uint32_t count;
    uint32_t capacity;
    struct pane_shelf moved; /* others, on the disk */
};

/* Where the rows of a pane go; rows of the same pane follow one another. */
struct pane_target {
    int64_t start_us;
    int64_t generation;
    uint32_t pane;
    bool set;
};

struct pane_writer {
    uint32_t magic;
    uint32_t run;
    uint32_t pane_key;
    uint32_t item_bytes;
    uint32_t first_items;    /* room in a new group */
    struct pane_item *empty; /* what a new item is a copy of */
    struct pane_grid grid;
    struct aggregate_calls calls;
    struct arena *arena; /* groups, items, what states point to */
    struct lane *lanes;
    uint32_t lane_count;
    uint64_t count; /* groups */
    uint64_t items;
    uint64_t *slots; /* 16 bits of the hash << 48 | address of the group; 0: free */
    uint64_t mask;
    uint64_t rows;
    bool direct;             /* every row is a group */
    struct spill_file *file; /* where groups were moved to */
};

static enum status writer_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    struct pane_writer *writer = arena_new_object(query, sizeof *writer);
    self->state = writer;
    writer->magic = WRITER_MAGIC;
    CHECK(node->aggregate.pane_key >= 0);
    writer->pane_key = (uint32_t)node->aggregate.pane_key;
    writer->grid = pane_grid_of(node);
    writer->first_items = 1;
    writer->arena = arena_new("panes", 0);
    TRY(aggregate_calls_open(&writer->calls, query, node, err));
    writer->item_bytes = pane_item_bytes(&writer->calls);
    writer->empty = arena_new_object(query, writer->item_bytes);
    aggregate_calls_init(&writer->calls, writer->empty->block);
    return OK;
}

/* Room for as many panes as groups had on the average. */
static uint32_t expected_items(const struct pane_writer *writer)
{
    uint64_t expected = writer->count == 0 ? 1 : writer->items / writer->count + 1;
    return expected < FIRST_ITEMS_MAX ? (uint32_t)expected : FIRST_ITEMS_MAX;
}

/* The groups of a batch are collected over all tasks of the thread. */
static enum status writer_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)err;
    struct pane_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    if (writer->run == ctx->run)
        return OK;
    writer->run = ctx->run;
    writer->first_items = expected_items(writer);
    if (writer->count > 0 && writer->slots != NULL)
        memset(writer->slots, 0, (writer->mask + 1) * sizeof *writer->slots);
    writer->count = writer->items = writer->rows = 0;
    writer->direct = false;
    if (writer->lane_count != ctx->partitions) {
        CHECK(writer->lane_count == 0); /* a query does not change them */
        writer->lanes = heap_calloc(ctx->partitions, sizeof *writer->lanes);
        writer->lane_count = ctx->partitions;
    }
    for (uint32_t i = 0; i < writer->lane_count; i++) {
        writer->lanes[i].count = 0;
        pane_shelf_fini(&writer->lanes[i].moved);
    }
    arena_reset(writer->arena);
    return OK;
}

/* ---- groups ---- */

/* Where to look for a group: its key's hash decides the partition, so that is mixed anew. */
static uint64_t place_of(uint64_t hash, int64_t generation)
{
    uint64_t mixed =
        (hash ^ (uint64_t)generation * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return mixed ^ mixed >> 32;
}

static struct pane_group *group_of(uint64_t slot)
{
    return (struct pane_group *)(uintptr_t)(slot & ADDRESS_MASK); // NOLINT: one we stored
}

static uint64_t slot_value(const struct pane_group *group, uint64_t place)
{
    CHECK(((uint64_t)(uintptr_t)group & ~ADDRESS_MASK) == 0);
    return (place & ~ADDRESS_MASK) | (uint64_t)(uintptr_t)group;
}

/* Room for `more` further groups, at most every other slot in use. */
static void grow_slots(struct pane_writer *writer, uint32_t more)
{
    uint64_t slots = writer->slots == NULL ? 0 : writer->mask + 1;
    uint64_t wanted = slots == 0 ? SLOTS_MIN : slots;
    while (writer->count + more > wanted / 2)
        wanted *= 2;
    if (wanted == slots)
        return;
    uint64_t *before = writer->slots;
    writer->slots = heap_zeroes(wanted, sizeof *writer->slots);
    writer->mask = wanted - 1;
    for (uint64_t i = 0; i < slots; i++) {
        if (before[i] == 0)
            continue;
        const struct pane_group *group = group_of(before[i]);
        uint64_t place = place_of(group->hash, group->generation);
        uint64_t slot = place & writer->mask;
        while (writer->slots[slot] != 0)
            slot = (slot + 1) & writer->mask;
        writer->slots[slot] = slot_value(group, place);
    }
    free(before);
}

static struct pane_item *item_at(const struct pane_writer *writer, struct pane_chunk *chunk,
                                 uint32_t index)
{
    return (struct pane_item *)(void *)(chunk->items + (size_t)index * writer->item_bytes);
}

static void add_to_lane(struct pane_writer *writer, struct pane_group *group)
{
    struct lane *lane = &writer->lanes[hash_bucket(group->hash, writer->lane_count)];
    if (lane->count == lane->capacity) {
        if (lane->capacity > UINT32_MAX / 4)
            memory_exhausted((size_t)lane->capacity * 2 * sizeof(struct pane_group *));
        lane->capacity = lane->capacity == 0 ? 64 : lane->capacity * 2;
        lane->groups = heap_realloc(lane->groups, lane->capacity * sizeof(struct pane_group *));
    }
    lane->groups[lane->count++] = group;
    writer->count++;
}

/* A group without items, but with room for them. */
static enum status new_group(struct pane_writer *writer, struct bytes key, uint64_t hash,
                             const struct pane_target *target, struct pane_group **out,
                             struct error *err)
{
    void *memory = NULL;
    if (key.size_bytes > UINT32_MAX / 4)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the key of a group", "limit",
                           "1073741823", NULL);
    size_t head = (offsetof(struct pane_group, key) + key.size_bytes + 7) & ~(size_t)7;
    uint32_t room = writer->direct ? 1 : writer->first_items;
    size_t size = head + sizeof(struct pane_chunk) + (size_t)room * writer->item_bytes;
    TRY(arena_alloc_raw(writer->arena, size, 1, &memory, err));
    struct pane_chunk *chunk = (struct pane_chunk *)(void *)((uint8_t *)memory + head);
    *chunk = (struct pane_chunk){.capacity = room};
    *out = memory;
    (*out)->hash = hash;
    (*out)->generation = target->generation;
    (*out)->last = chunk;
    (*out)->count = (*out)->from = (*out)->to = 0;
    (*out)->key_bytes = (uint32_t)key.size_bytes;
    (*out)->ordered = true;
    if (key.size_bytes > 0)
        memcpy((*out)->key, key.data, key.size_bytes);
    add_to_lane(writer, *out);
    return OK;
}

static bool is_group(const struct pane_group *group, struct bytes key, uint64_t hash,
                     int64_t generation)
{
    return group->hash == hash && group->generation == generation &&
           group->key_bytes == key.size_bytes &&
           state_same_bytes(group->key, key.data, key.size_bytes);
}

static enum status find_group(struct pane_writer *writer, struct bytes key, uint64_t hash,
                              const struct pane_target *target, struct pane_group **out,
                              struct error *err)
{
    uint64_t place = place_of(hash, target->generation);
    uint64_t slot = place & writer->mask;
    for (; writer->slots[slot] != 0; slot = (slot + 1) & writer->mask) {
        if (((writer->slots[slot] ^ place) & ~ADDRESS_MASK) != 0)
            continue;
        *out = group_of(writer->slots[slot]);
        if (!is_group(*out, key, hash, target->generation))
            continue;
        if ((*out)->count < GROUP_ITEMS_MAX || (*out)->from == target->pane ||
            (*out)->to == target->pane)
            return OK;
        break;
    }
    TRY(new_group(writer, key, hash, target, out, err));
    writer->slots[slot] = slot_value(*out, place);
    return OK;
}

/* ---- items ---- */

static enum status new_item(struct pane_writer *writer, struct pane_group *group, uint32_t pane,
                            uint8_t **block, struct error *err)
{
    struct pane_chunk *chunk = group->last;
    void *memory = NULL;
    if (chunk->count == chunk->capacity) {
        uint32_t room = chunk->capacity * 2;
        TRY(arena_alloc_raw(writer->arena, sizeof *chunk + (size_t)room * writer->item_bytes, 1,
                            &memory, err));
        chunk = memory;
        *chunk = (struct pane_chunk){.before = group->last, .capacity = room};
        group->last = chunk;
    }
    struct pane_item *item = item_at(writer, chunk, chunk->count++);
    pane_copy(item, writer->empty, writer->item_bytes);
    item->pane = pane;
    item->run = writer->run;
    group->ordered = group->ordered && (group->count == 0 || pane > group->to);
    group->from = group->count == 0 || pane < group->from ? pane : group->from;
    group->to = group->count == 0 || pane > group->to ? pane : group->to;
    group->count++;
    writer->items++;
    *block = item->block;
    return OK;
}

/* Nearly always the last item, or the one before. */
static enum status find_item(struct pane_writer *writer, struct pane_group *group, uint32_t pane,
                             uint8_t **block, struct error *err)
{
    struct pane_chunk *chunk = group->count == 0 || pane > group->to ? NULL : group->last;
    for (; chunk != NULL; chunk = chunk->before)
        for (uint32_t i = chunk->count; i-- > 0;) {
            struct pane_item *item = item_at(writer, chunk, i);
            if (item->pane != pane)
                continue;
            *block = item->block;
            return OK;
        }
    return new_item(writer, group, pane, block, err);
}

/* ---- rows ---- */

/* The rows of a batch, by their number among the selected ones. */
struct rows {
    const struct batch *batch;
    const struct vector *pane;
    struct bytes *keys; /* but the pane */
    uint64_t *hashes;
    struct pane_target *targets;
    uint8_t **blocks; /* by row: wanted */
};

/* The grouping keys but the pane, as bytes. */
static enum status encode_keys(struct pane_writer *writer, struct exec_context *ctx,
                               const struct batch *batch, struct vector **inputs,
                               struct bytes **out, struct error *err)
{
    void *memory = NULL;
    uint32_t count = 0;
    struct vector **others =
        arena_new_object(ctx->batch_arena, (writer->calls.key_count + 1) * sizeof *others);
    for (uint32_t i = 0; i < writer->calls.key_count; i++)
        if (i != writer->pane_key)
            others[count++] = inputs[i];
    TRY(arena_alloc(ctx->batch_arena, batch->selected + 1, sizeof(struct bytes), &memory, err));
    *out = memory;
    if (count == 0)
        return OK;
    return row_key_encode(ctx->batch_arena, others, count, batch->selection, batch->selected, *out,
                          err);
}

static void find_targets(const struct pane_writer *writer, struct rows *rows)
{
    const int64_t *starts = VECTOR_VALUES(const int64_t, rows->pane->children[0]);
    struct pane_target target = {0};
    for (uint32_t i = 0; i < rows->batch->selected; i++) {
        int64_t start_us = starts[vector_index(rows->pane, batch_row(rows->batch, i))];
        if (!target.set || start_us != target.start_us) {
            int64_t pane = pane_at(&writer->grid, start_us);
            target.set = true;
            target.start_us = start_us;
            target.generation = pane_generation(&writer->grid, pane);
            target.pane = (uint32_t)(pane - target.generation * writer->grid.per_window);
        }
        rows->targets[i] = target;
        rows->hashes[i] = state_hash(rows->keys[i]);
    }
}

/* The slot where the search for a row begins; there is none behind the last row. */
static const uint64_t *slot_ahead(const struct pane_writer *writer, const struct rows *rows,
                                  uint32_t i)
{
    if (i >= rows->batch->selected)
        return NULL;
    return &writer->slots[place_of(rows->hashes[i], rows->targets[i].generation) & writer->mask];
}

/* The group that stands there; NULL: none. */
static const uint8_t *group_ahead(const struct pane_writer *writer, const struct rows *rows,
                                  uint32_t i)
{
    const uint64_t *slot = slot_ahead(writer, rows, i);
    return slot == NULL ? NULL : (const uint8_t *)group_of(*slot);
}

static enum status assign_groups(struct pane_writer *writer, const struct rows *rows,
                                 struct error *err)
{
    struct pane_group *group = NULL;
    if (!writer->direct)
        grow_slots(writer, rows->batch->selected);
    for (uint32_t i = 0; i < rows->batch->selected; i++) {
        const struct pane_target *target = &rows->targets[i];
        if (writer->direct) {
            TRY(new_group(writer, rows->keys[i], rows->hashes[i], target, &group, err));
        } else {
            /* Not in a function of their own: the compiler takes one that only asks for memory
             * for one that does nothing. */
            __builtin_prefetch(slot_ahead(writer, rows, i + PREFETCH));
            const uint8_t *ahead = group_ahead(writer, rows, i + PREFETCH / 2);
            if (ahead != NULL) {
                __builtin_prefetch(ahead);
                __builtin_prefetch(ahead + 64);
                __builtin_prefetch(ahead + 128);
            }
            TRY(find_group(writer, rows->keys[i], rows->hashes[i], target, &group, err));
        }
        TRY(find_item(writer, group, target->pane, &rows->blocks[batch_row(rows->batch, i)], err));
    }
    writer->rows += rows->batch->selected;
    if (writer->rows > PROBE_ROWS && writer->count > writer->rows - writer->rows / 8)
        writer->direct = true;
    return OK;
}

static enum status writer_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct pane_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    CHECK(input == 0 && writer->run == ctx->run);
    struct vector **inputs = NULL;
    void *memory = NULL;
    struct rows rows = {.batch = batch};
    TRY(aggregate_calls_eval(&writer->calls, ctx, batch, &inputs, err));
    rows.pane = inputs[writer->pane_key];
    TRY(encode_keys(writer, ctx, batch, inputs, &rows.keys, err));
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected + 1, sizeof *rows.hashes, &memory, err));
    rows.hashes = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected + 1, sizeof *rows.targets, &memory, err));
    rows.targets = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->rows + 1, sizeof *rows.blocks, &memory, err));
    rows.blocks = memory;
    find_targets(writer, &rows);
    TRY(assign_groups(writer, &rows, err));
    return aggregate_calls_update(&writer->calls, ctx, batch, inputs, rows.blocks, writer->arena,
                                  err);
}

static void writer_close(struct exec_node *self)
{
    struct pane_writer *writer = self->state;
    if (writer == NULL)
        return;
    arena_free(writer->arena);
    for (uint32_t i = 0; i < writer->lane_count; i++) {
        pane_shelf_fini(&writer->lanes[i].moved);
        free(writer->lanes[i].groups);
    }
    free(writer->lanes);
    free(writer->slots);
}

static size_t writer_bytes(const struct exec_node *self)
{
    const struct pane_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    size_t bytes = arena_used_bytes(writer->arena);
    for (uint32_t i = 0; i < writer->lane_count; i++)
        bytes += writer->lanes[i].capacity * sizeof(struct pane_group *);
    return bytes + (writer->slots == NULL ? 0 : (writer->mask + 1) * sizeof *writer->slots);
}

struct pane_groups pane_groups(const struct exec_node *node, uint32_t run, uint32_t partition)
{
    const struct pane_writer *writer = node->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    if (writer->run != run)
        return (struct pane_groups){0};
    CHECK(partition < writer->lane_count);
    const struct lane *lane = &writer->lanes[partition];
    return (struct pane_groups){.groups = lane->groups, .count = lane->count};
}

static void writer_waiting(const struct exec_node *self, uint32_t run, uint32_t partition,
                           struct exec_waiting *out)
{
    const struct pane_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    if (writer->run != run)
        return;
    const struct lane *lane = &writer->lanes[partition];
    uint32_t count = lane->count;
    out->entries += lane->moved.groups + count;
    out->bytes += lane->moved.bytes;
    if (writer->count == 0)
        return;
    out->bytes +=
        (uint64_t)((double)arena_used_bytes(writer->arena) * count / (double)writer->count);
}

static enum status move_lane(struct pane_mover *mover, struct lane *lane, struct error *err)
{
    for (uint32_t i = 0; i < lane->count; i++)
        TRY(pane_move(mover, &lane->moved, lane->groups[i], err));
    TRY(pane_move_flush(mover, &lane->moved, err));
    free(lane->groups);
    lane->groups = NULL;
    lane->count = lane->capacity = 0;
    return OK;
}

static enum status writer_put_away(struct exec_node *self, struct spill_file *file,
                                   struct error *err)
{
    struct pane_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    struct pane_mover mover = {.calls = &writer->calls, .file = file};
    enum status status = OK;
    writer->file = file;
    for (uint32_t i = 0; i < writer->lane_count; i++)
        TRY_OUT(move_lane(&mover, &writer->lanes[i], err));
    free(writer->slots);
    writer->slots = NULL;
    writer->count = writer->items = writer->rows = 0;
    arena_reset(writer->arena);
    arena_trim(writer->arena);
out:
    pane_mover_fini(&mover);
    return status;
}

struct pane_moved pane_groups_moved(const struct exec_node *node, uint32_t run, uint32_t partition)
{
    const struct pane_writer *writer = node->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    if (writer->run != run)
        return (struct pane_moved){0};
    CHECK(partition < writer->lane_count);
    return (struct pane_moved){
        .calls = &writer->calls,
        .file = writer->file,
        .shelf = &writer->lanes[partition].moved,
        .run = run,
    };
}

const struct exec_node_ops node_pane_writer = {
    .name = "PanePartialAggregate",
    .open = writer_open,
    .begin = writer_begin,
    .push = writer_push,
    .close = writer_close,
    .bytes = writer_bytes,
    .put_away = writer_put_away,
    .waiting = writer_waiting,
};
