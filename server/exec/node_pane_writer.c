/*
 * Partial aggregation by key and pane: the end of the stage before an aggregation by sliding
 * windows.
 *
 * As node_partial_aggregate.c, each thread aggregates its own rows first, and gives up looking for
 * groups when nearly every row is one.
 */
#include "exec/node_pane_writer.h"

#include "base/check.h"
#include "base/hash.h"
#include "columnar/row_key.h"
#include "exec/lane_order.h"
#include "state/state_table.h"

#include <stdlib.h>

#define WRITER_MAGIC 0x9a4e1001U
#define SLOTS_MIN    1024
#define PROBE_ROWS   16384 /* after so many rows it is decided whether looking pays */
#define CHUNK_BLOCKS 1024

/* 32 bits of the hash of key and pane, and the group's number + 1. */
struct slot {
    uint32_t tag;
    uint32_t number;
};

struct pane_writer {
    uint32_t magic;
    uint32_t run;
    uint32_t pane_key;
    struct aggregate_calls calls;
    struct arena *arena; /* keys, blocks, what states point to */
    struct pane_group *groups;
    uint16_t *lanes; /* by group: its partition */
    uint32_t partitions;
    uint32_t count;
    uint32_t capacity;
    struct slot *slots;
    uint32_t mask;
    uint8_t *chunk; /* of blocks */
    uint32_t chunk_left;
    uint64_t rows;
    bool direct;             /* every row is a group */
    struct lane_order order; /* of the groups, after finish */
};

static enum status writer_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    struct pane_writer *writer = arena_new_object(query, sizeof *writer);
    self->state = writer;
    writer->magic = WRITER_MAGIC;
    CHECK(node->aggregate.pane_key >= 0);
    writer->pane_key = (uint32_t)node->aggregate.pane_key;
    writer->arena = arena_new("panes", 0);
    return aggregate_calls_open(&writer->calls, query, node, err);
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
    writer->partitions = ctx->partitions;
    CHECK(writer->partitions < LANE_NONE);
    writer->count = 0;
    writer->rows = 0;
    writer->chunk_left = 0;
    writer->direct = false;
    if (writer->slots != NULL)
        memset(writer->slots, 0, ((size_t)writer->mask + 1) * sizeof *writer->slots);
    lane_order_clear(&writer->order);
    arena_reset(writer->arena);
    return OK;
}

/* Where to look for a group: its key's hash decides the partition, so that is mixed anew. */
static uint64_t place_of(uint64_t hash, int64_t start_us)
{
    uint64_t mixed =
        (hash ^ (uint64_t)start_us * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return mixed ^ mixed >> 32;
}

static void put_slot(struct pane_writer *writer, uint64_t place, uint32_t number)
{
    uint32_t slot = (uint32_t)place & writer->mask;
    while (writer->slots[slot].number != 0)
        slot = (slot + 1) & writer->mask;
    writer->slots[slot] = (struct slot){.tag = (uint32_t)(place >> 32), .number = number + 1};
}

/* Room for `more` further groups. */
static void grow_slots(struct pane_writer *writer, uint32_t more)
{
    uint64_t slots = writer->slots == NULL ? 0 : (uint64_t)writer->mask + 1;
    uint64_t wanted = slots == 0 ? SLOTS_MIN : slots;
    while (((uint64_t)writer->count + more) * 2 > wanted)
        wanted *= 2;
    if (wanted == slots)
        return;
    CHECK(wanted <= UINT32_MAX);
    free(writer->slots);
    writer->slots = calloc(wanted, sizeof *writer->slots);
    CHECK(writer->slots != NULL);
    writer->mask = (uint32_t)wanted - 1;
    for (uint32_t i = 0; i < writer->count; i++)
        put_slot(writer, place_of(writer->groups[i].hash, writer->groups[i].start_us), i);
}

static enum status new_group(struct pane_writer *writer, struct bytes key, uint64_t hash,
                             int64_t start_us, uint32_t *number, struct error *err)
{
    uint32_t block_bytes = writer->calls.block_bytes;
    if (writer->count == UINT32_MAX / 4)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the groups of one batch", "limit",
                           "1073741823", NULL);
    if (writer->count == writer->capacity) {
        writer->capacity = writer->capacity == 0 ? SLOTS_MIN : writer->capacity * 2;
        writer->groups = realloc(writer->groups, writer->capacity * sizeof *writer->groups);
        writer->lanes = realloc(writer->lanes, writer->capacity * sizeof *writer->lanes);
        CHECK(writer->groups != NULL && writer->lanes != NULL);
    }
    if (writer->chunk_left == 0) {
        void *memory = NULL;
        TRY(arena_alloc(writer->arena, CHUNK_BLOCKS, block_bytes + 1, &memory, err));
        writer->chunk = memory;
        writer->chunk_left = CHUNK_BLOCKS;
    }
    void *copy = NULL;
    TRY(arena_alloc_raw(writer->arena, key.size_bytes + 1, 1, &copy, err));
    if (key.size_bytes > 0)
        memcpy(copy, key.data, key.size_bytes);
    writer->groups[writer->count] = (struct pane_group){
        .key = bytes_of(copy, key.size_bytes),
        .hash = hash,
        .start_us = start_us,
        .block = writer->chunk,
    };
    writer->lanes[writer->count] = (uint16_t)hash_bucket(hash, writer->partitions);
    aggregate_calls_init(&writer->calls, writer->chunk);
    writer->chunk += block_bytes;
    writer->chunk_left--;
    *number = writer->count++;
    return OK;
}

static enum status find_group(struct pane_writer *writer, struct bytes key, uint64_t hash,
                              int64_t start_us, uint32_t *number, struct error *err)
{
    uint64_t place = place_of(hash, start_us);
    uint32_t slot = (uint32_t)place & writer->mask;
    for (; writer->slots[slot].number != 0; slot = (slot + 1) & writer->mask) {
        const struct slot *found = &writer->slots[slot];
        const struct pane_group *group = &writer->groups[found->number - 1];
        if (found->tag == (uint32_t)(place >> 32) && group->start_us == start_us &&
            bytes_equal(group->key, key)) {
            *number = found->number - 1;
            return OK;
        }
    }
    writer->slots[slot] =
        (struct slot){.tag = (uint32_t)(place >> 32), .number = writer->count + 1};
    return new_group(writer, key, hash, start_us, number, err);
}

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

static enum status assign_groups(struct pane_writer *writer, struct exec_context *ctx,
                                 const struct batch *batch, struct vector **inputs,
                                 uint8_t **blocks, struct error *err)
{
    void *memory = NULL;
    struct bytes *keys = NULL;
    uint32_t selected = batch->selected;
    const struct vector *pane = inputs[writer->pane_key];
    const int64_t *starts = VECTOR_VALUES(const int64_t, pane->children[0]);
    TRY(encode_keys(writer, ctx, batch, inputs, &keys, err));
    TRY(arena_alloc_raw(ctx->batch_arena, selected + 1, sizeof(uint64_t), &memory, err));
    uint64_t *hashes = memory;
    if (!writer->direct)
        grow_slots(writer, selected);
    for (uint32_t i = 0; i < selected; i++) {
        hashes[i] = state_hash(keys[i]);
        int64_t start_us = starts[vector_index(pane, batch_row(batch, i))];
        if (!writer->direct)
            __builtin_prefetch(
                &writer->slots[(uint32_t)place_of(hashes[i], start_us) & writer->mask]);
    }
    for (uint32_t i = 0; i < selected; i++) {
        uint32_t row = batch_row(batch, i);
        uint32_t number = 0;
        int64_t start_us = starts[vector_index(pane, row)];
        if (writer->direct)
            TRY(new_group(writer, keys[i], hashes[i], start_us, &number, err));
        else
            TRY(find_group(writer, keys[i], hashes[i], start_us, &number, err));
        blocks[row] = writer->groups[number].block;
    }
    writer->rows += selected;
    if (writer->rows > PROBE_ROWS && writer->count > writer->rows - writer->rows / 4)
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
    TRY(aggregate_calls_eval(&writer->calls, ctx, batch, &inputs, err));
    TRY(arena_alloc_raw(ctx->batch_arena, batch->rows, sizeof(uint8_t *), &memory, err));
    uint8_t **blocks = memory;
    TRY(assign_groups(writer, ctx, batch, inputs, blocks, err));
    return aggregate_calls_update(&writer->calls, ctx, batch, inputs, blocks, writer->arena, err);
}

/* Sorts the groups by partition.  The tasks of a thread each end here; the last one counts. */
static enum status writer_finish(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    (void)err;
    struct pane_writer *writer = self->state;
    CHECK(ctx->partitions == writer->partitions);
    lane_order_sort(&writer->order, writer->lanes, writer->count, writer->partitions);
    return OK;
}

static void writer_close(struct exec_node *self)
{
    struct pane_writer *writer = self->state;
    if (writer == NULL)
        return;
    arena_free(writer->arena);
    free(writer->groups);
    free(writer->lanes);
    free(writer->slots);
    lane_order_fini(&writer->order);
}

struct pane_groups pane_groups(const struct exec_node *node, uint32_t run, uint32_t partition)
{
    const struct pane_writer *writer = node->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    struct pane_groups out = {.groups = writer->groups};
    if (writer->run == run)
        out.count = lane_order_read(&writer->order, partition, &out.order);
    return out;
}

const struct exec_node_ops node_pane_writer = {
    .name = "PanePartialAggregate",
    .open = writer_open,
    .begin = writer_begin,
    .push = writer_push,
    .finish = writer_finish,
    .close = writer_close,
};
