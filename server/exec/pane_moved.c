/*
 * See pane_moved.h.
 */
#include "exec/pane_moved.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>

#define MOVED_BYTES ((size_t)64 << 10) /* are written at once */

struct moved_head {
    uint64_t hash;
    int64_t generation;
    uint32_t key_bytes;
    uint32_t count; /* items */
    uint32_t ordered;
    uint32_t unused;
};

struct moved_item {
    uint32_t pane;
    uint32_t states_bytes; /* 0: as they are in memory */
};

static uint32_t part_of(uint64_t hash)
{
    return (uint32_t)(((uint64_t)(uint32_t)hash * PANE_PARTS) >> 32);
}

/* ---- to the disk ---- */

static const struct pane_item *item_of(const struct pane_mover *mover,
                                       const struct pane_chunk *chunk, uint32_t index)
{
    size_t at = (size_t)index * pane_item_bytes(mover->calls);
    return (const struct pane_item *)(const void *)(chunk->items + at);
}

static void put_item(struct pane_mover *mover, const struct pane_item *item, uint8_t **to)
{
    struct moved_item head = {.pane = item->pane};
    memcpy(*to, &head, sizeof head);
    memcpy(*to + sizeof head, item->block, mover->calls->block_bytes);
    *to += sizeof head + mover->calls->block_bytes;
}

/* The last chunk is the first of the list. */
static void put_plain_items(struct pane_mover *mover, const struct pane_group *group,
                            struct buffer *out)
{
    size_t each = sizeof(struct moved_item) + mover->calls->block_bytes;
    uint8_t *end = buffer_reserve(out, each * group->count) + each * group->count;
    out->size_bytes += each * group->count;
    for (const struct pane_chunk *chunk = group->last; chunk != NULL; chunk = chunk->before) {
        uint8_t *to = end -= each * chunk->count;
        for (uint32_t i = 0; i < chunk->count; i++)
            put_item(mover, item_of(mover, chunk, i), &to);
    }
}

static void put_chunk(struct pane_mover *mover, const struct pane_chunk *chunk, struct buffer *out)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        const struct pane_item *item = item_of(mover, chunk, i);
        buffer_clear(&mover->states);
        aggregate_calls_save(mover->calls, item->block, &mover->states, &mover->scratch);
        struct moved_item head = {.pane = item->pane,
                                  .states_bytes = (uint32_t)mover->states.size_bytes};
        buffer_add(out, &head, sizeof head);
        buffer_add_bytes(out, buffer_bytes(&mover->states));
    }
}

static enum status move_part(struct pane_mover *mover, struct pane_shelf *shelf, uint32_t part,
                             struct error *err)
{
    struct buffer *moving = &mover->parts[part];
    if (moving->size_bytes == 0)
        return OK;
    TRY(spill_extents_write(&shelf->parts[part], mover->file, buffer_bytes(moving), err));
    buffer_clear(moving);
    return OK;
}

enum status pane_move(struct pane_mover *mover, struct pane_shelf *shelf,
                      const struct pane_group *group, struct error *err)
{
    uint32_t part = part_of(group->hash);
    struct buffer *moving = &mover->parts[part];
    size_t before = moving->size_bytes;
    struct moved_head head = {
        .hash = group->hash,
        .generation = group->generation,
        .key_bytes = group->key_bytes,
        .count = group->count,
        .ordered = group->ordered && mover->calls->plain,
    };
    buffer_add(moving, &head, sizeof head);
    buffer_add_bytes(moving, pane_group_key(group));
    if (mover->calls->plain)
        put_plain_items(mover, group, moving);
    for (const struct pane_chunk *chunk = group->last; chunk != NULL && !mover->calls->plain;
         chunk = chunk->before)
        put_chunk(mover, chunk, moving);
    shelf->bytes += moving->size_bytes - before;
    shelf->groups++;
    return moving->size_bytes < MOVED_BYTES ? OK : move_part(mover, shelf, part, err);
}

enum status pane_move_flush(struct pane_mover *mover, struct pane_shelf *shelf, struct error *err)
{
    for (uint32_t part = 0; part < PANE_PARTS; part++)
        TRY(move_part(mover, shelf, part, err));
    return OK;
}

void pane_mover_fini(struct pane_mover *mover)
{
    for (uint32_t part = 0; part < PANE_PARTS; part++)
        buffer_fini(&mover->parts[part]);
    buffer_fini(&mover->states);
    buffer_fini(&mover->scratch);
}

void pane_shelf_fini(struct pane_shelf *shelf)
{
    for (uint32_t part = 0; part < PANE_PARTS; part++)
        spill_extents_fini(&shelf->parts[part]);
    *shelf = (struct pane_shelf){0};
}

/* ---- and back ---- */

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "groups of panes on the disk", NULL);
}

static bool take(struct bytes *from, size_t size, void *out)
{
    if (from->size_bytes < size)
        return false;
    if (out != NULL && size > 0)
        memcpy(out, from->data, size);
    *from = bytes_of(from->data + size, from->size_bytes - size);
    return true;
}

static enum status read_item(const struct pane_moved *moved, struct bytes *from,
                             struct pane_item *item, struct error *err)
{
    const struct aggregate_calls *calls = moved->calls;
    struct moved_item head;
    if (!take(from, sizeof head, &head))
        return damaged(err);
    *item = (struct pane_item){.pane = head.pane, .run = moved->run};
    if (calls->plain)
        return take(from, calls->block_bytes, item->block) ? OK : damaged(err);
    struct bytes states = bytes_of(from->data, head.states_bytes);
    if (!take(from, head.states_bytes, NULL))
        return damaged(err);
    memset(item->block, 0, calls->block_bytes);
    aggregate_calls_init(calls, item->block);
    return aggregate_calls_load(calls, moved->arena, states, item->block, err);
}

static enum status read_items(const struct pane_moved *moved, struct bytes *from,
                              struct pane_group *group, struct error *err)
{
    uint8_t *at = group->last->items;
    for (uint32_t i = 0; i < group->count; i++, at += pane_item_bytes(moved->calls)) {
        struct pane_item *item = (struct pane_item *)(void *)at;
        TRY(read_item(moved, from, item, err));
        group->from = i == 0 || item->pane < group->from ? item->pane : group->from;
        group->to = i == 0 || item->pane > group->to ? item->pane : group->to;
    }
    return OK;
}

static enum status read_group(struct pane_moved *moved, struct bytes *from, struct pane_group **out,
                              struct error *err)
{
    struct moved_head head;
    void *memory = NULL;
    if (!take(from, sizeof head, &head) || head.count == 0 ||
        head.count > from->size_bytes / sizeof(struct moved_item) ||
        head.key_bytes > from->size_bytes)
        return damaged(err);
    size_t group_bytes = (offsetof(struct pane_group, key) + head.key_bytes + 7) & ~(size_t)7;
    size_t items_bytes = (size_t)head.count * pane_item_bytes(moved->calls);
    size_t size = group_bytes + sizeof(struct pane_chunk) + items_bytes;
    TRY(arena_alloc_raw(moved->arena, size, 1, &memory, err));
    struct pane_group *group = memory;
    struct pane_chunk *chunk = (struct pane_chunk *)(void *)((uint8_t *)memory + group_bytes);
    *chunk = (struct pane_chunk){.count = head.count, .capacity = head.count};
    *group = (struct pane_group){
        .hash = head.hash,
        .generation = head.generation,
        .last = chunk,
        .count = head.count,
        .key_bytes = head.key_bytes,
        .ordered = head.ordered != 0,
    };
    if (!take(from, head.key_bytes, group->key))
        return damaged(err);
    *out = group;
    return read_items(moved, from, group, err);
}

/* The next extent of the parts that the round is in; NULL: there are no more. */
static const struct spill_extent *next_extent(struct pane_moved *moved,
                                              const struct exec_context *ctx)
{
    uint32_t rounds = ctx->rounds == 0 ? 1 : ctx->rounds;
    uint32_t first = (uint32_t)((uint64_t)ctx->round * PANE_PARTS / rounds);
    uint32_t end = (uint32_t)((((uint64_t)ctx->round + 1) * PANE_PARTS + rounds - 1) / rounds);
    if (moved->part < first)
        moved->part = first;
    for (; moved->part < end; moved->part++, moved->next = 0)
        if (moved->next < moved->shelf->parts[moved->part].count)
            return &moved->shelf->parts[moved->part].list[moved->next++];
    return NULL;
}

enum status pane_moved_read(struct pane_moved *moved, const struct exec_context *ctx,
                            struct pane_groups *out, struct error *err)
{
    *out = (struct pane_groups){0};
    const struct spill_extent *extent = moved->shelf == NULL ? NULL : next_extent(moved, ctx);
    if (extent == NULL)
        return OK;
    if (moved->arena == NULL)
        moved->arena = arena_new("groups of panes that come back", 0);
    arena_reset(moved->arena);
    TRY(spill_extent_read(moved->file, extent, &moved->bytes, err));
    struct bytes rest = buffer_bytes(&moved->bytes);
    while (rest.size_bytes > 0) {
        if (out->count == moved->capacity) {
            moved->capacity = moved->capacity == 0 ? 256 : moved->capacity * 2;
            moved->groups =
                heap_realloc(moved->groups, moved->capacity * sizeof(struct pane_group *));
        }
        TRY(read_group(moved, &rest, &moved->groups[out->count], err));
        out->count++;
    }
    out->groups = moved->groups;
    return OK;
}

void pane_moved_fini(struct pane_moved *moved)
{
    buffer_fini(&moved->bytes);
    arena_free(moved->arena);
    free(moved->groups);
    *moved = (struct pane_moved){0};
}
