/*
 * Partial aggregation: the end of the stage before an aggregation over a stream.
 *
 * Each thread aggregates its own rows of a batch before anything is handed over, so that a few
 * groups cost a few rows.  If it turns out that nearly every row is a group of its own, looking for
 * its group is given up: rows become groups as they come, and meet in the partition's state.
 */
#include "exec/node_partial_aggregate.h"

#include "base/check.h"
#include "base/hash.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "state/state_table.h"

#include <stdlib.h>

#define PARTIAL_MAGIC 0x9a671a01U
#define SLOTS_MIN     1024
#define PROBE_ROWS    16384 /* after so many rows it is decided whether looking pays */
#define CHUNK_BLOCKS  1024

struct partial {
    uint32_t magic;
    uint32_t run;
    struct aggregate_calls calls;
    int event_time_key;
    struct arena *arena; /* keys, blocks, what states point to */
    struct partial_group *groups;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* group + 1 */
    uint32_t mask;
    uint8_t *chunk; /* of blocks */
    uint32_t chunk_left;
    uint64_t rows;
    bool direct; /* every row is a group */
    /* After finish: the groups in the order of their partitions. */
    struct partial_group *sorted;
    uint32_t sorted_capacity;
    uint32_t *starts; /* partitions + 1 */
    uint32_t start_count;
};

static enum status partial_open(struct exec_node *self, struct arena *query,
                                const struct plan_node *node, struct error *err)
{
    struct partial *partial = arena_new_object(query, sizeof *partial);
    self->state = partial;
    partial->magic = PARTIAL_MAGIC;
    partial->event_time_key = node->aggregate.event_time_key;
    partial->arena = arena_new("partial groups", 0);
    return aggregate_calls_open(&partial->calls, query, node, err);
}

/* The groups of a batch are collected over all tasks of the thread. */
static enum status partial_begin(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    (void)err;
    struct partial *partial = self->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    if (partial->run == ctx->run)
        return OK;
    partial->run = ctx->run;
    partial->count = 0;
    partial->rows = 0;
    partial->chunk_left = 0;
    partial->direct = false;
    if (partial->slots != NULL)
        memset(partial->slots, 0, ((size_t)partial->mask + 1) * sizeof *partial->slots);
    for (uint32_t i = 0; i < partial->start_count; i++)
        partial->starts[i] = 0;
    arena_reset(partial->arena);
    return OK;
}

static void grow_slots(struct partial *partial)
{
    uint32_t slots = partial->slots == NULL ? 0 : partial->mask + 1;
    if (partial->count < slots / 2)
        return;
    slots = slots == 0 ? SLOTS_MIN : slots * 2;
    free(partial->slots);
    partial->slots = calloc(slots, sizeof *partial->slots);
    CHECK(partial->slots != NULL);
    partial->mask = slots - 1;
    for (uint32_t i = 0; i < partial->count; i++) {
        uint32_t slot = (uint32_t)partial->groups[i].hash & partial->mask;
        while (partial->slots[slot] != 0)
            slot = (slot + 1) & partial->mask;
        partial->slots[slot] = i + 1;
    }
}

static enum status new_group(struct partial *partial, struct bytes key, uint64_t hash,
                             int64_t end_us, uint32_t *number, struct error *err)
{
    uint32_t block_bytes = partial->calls.block_bytes;
    if (partial->count == UINT32_MAX / 2)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the groups of one batch", "limit",
                           "2147483647", NULL);
    if (partial->count == partial->capacity) {
        partial->capacity = partial->capacity == 0 ? SLOTS_MIN : partial->capacity * 2;
        partial->groups = realloc(partial->groups, partial->capacity * sizeof *partial->groups);
        CHECK(partial->groups != NULL);
    }
    if (partial->chunk_left == 0) {
        void *memory = NULL;
        TRY(arena_alloc(partial->arena, CHUNK_BLOCKS, block_bytes + 1, &memory, err));
        partial->chunk = memory;
        partial->chunk_left = CHUNK_BLOCKS;
    }
    void *copy = NULL;
    TRY(arena_alloc_raw(partial->arena, key.size_bytes + 1, 1, &copy, err));
    if (key.size_bytes > 0)
        memcpy(copy, key.data, key.size_bytes);
    partial->groups[partial->count] = (struct partial_group){
        .key = bytes_of(copy, key.size_bytes),
        .hash = hash,
        .end_us = end_us,
        .block = partial->chunk,
    };
    aggregate_calls_init(&partial->calls, partial->chunk);
    partial->chunk += block_bytes;
    partial->chunk_left--;
    *number = partial->count++;
    return OK;
}

static enum status find_group(struct partial *partial, struct bytes key, uint64_t hash,
                              int64_t end_us, uint32_t *number, struct error *err)
{
    uint32_t slot = (uint32_t)hash & partial->mask;
    for (;; slot = (slot + 1) & partial->mask) {
        uint32_t entry = partial->slots[slot];
        if (entry == 0)
            break;
        const struct partial_group *group = &partial->groups[entry - 1];
        if (group->hash == hash && bytes_equal(group->key, key)) {
            *number = entry - 1;
            return OK;
        }
    }
    partial->slots[slot] = partial->count + 1;
    return new_group(partial, key, hash, end_us, number, err);
}

static enum status assign_groups(struct partial *partial, struct exec_context *ctx,
                                 const struct batch *batch, struct vector **inputs,
                                 uint8_t **blocks, struct error *err)
{
    void *memory = NULL;
    uint32_t selected = batch->selected;
    TRY(arena_alloc(ctx->batch_arena, selected, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, selected, sizeof(uint64_t), &memory, err));
    uint64_t *hashes = memory;
    if (partial->calls.key_count > 0)
        TRY(row_key_encode(ctx->batch_arena, inputs, partial->calls.key_count, batch->selection,
                           selected, keys, err));
    for (uint32_t i = 0; i < selected; i++)
        hashes[i] = state_hash(keys[i]);
    const struct vector *time =
        partial->event_time_key < 0 ? NULL : inputs[partial->event_time_key];
    for (uint32_t i = 0; i < selected; i++) {
        uint32_t row = batch_row(batch, i);
        uint32_t number = 0;
        if (partial->direct) {
            TRY(new_group(partial, keys[i], hashes[i],
                          time == NULL ? STATE_NO_END : event_time_at(time, row), &number, err));
        } else {
            grow_slots(partial);
            TRY(find_group(partial, keys[i], hashes[i],
                           time == NULL ? STATE_NO_END : event_time_at(time, row), &number, err));
        }
        blocks[row] = partial->groups[number].block;
    }
    partial->rows += selected;
    if (partial->rows > PROBE_ROWS && partial->count > partial->rows - partial->rows / 4)
        partial->direct = true;
    return OK;
}

static enum status partial_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                const struct batch *batch, struct error *err)
{
    struct partial *partial = self->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    CHECK(input == 0 && partial->run == ctx->run);
    struct vector **inputs = NULL;
    void *memory = NULL;
    TRY(aggregate_calls_eval(&partial->calls, ctx, batch, &inputs, err));
    TRY(arena_alloc_raw(ctx->batch_arena, batch->rows, sizeof(uint8_t *), &memory, err));
    uint8_t **blocks = memory;
    TRY(assign_groups(partial, ctx, batch, inputs, blocks, err));
    return aggregate_calls_update(&partial->calls, ctx, batch, inputs, blocks, partial->arena, err);
}

/* Sorts the groups by partition.  The tasks of a thread each end here; the last one counts. */
static enum status partial_finish(struct exec_node *self, struct exec_context *ctx,
                                  struct error *err)
{
    (void)err;
    struct partial *partial = self->state;
    uint32_t lanes = ctx->partitions;
    if (partial->start_count != lanes + 1) {
        partial->start_count = lanes + 1;
        partial->starts = realloc(partial->starts, (size_t)(lanes + 1) * sizeof *partial->starts);
    }
    if (partial->sorted_capacity < partial->count) {
        free(partial->sorted);
        partial->sorted_capacity = partial->capacity;
        partial->sorted = malloc(partial->sorted_capacity * sizeof *partial->sorted);
    }
    CHECK(partial->starts != NULL && (partial->count == 0 || partial->sorted != NULL));
    uint32_t *starts = partial->starts;
    memset(starts, 0, (size_t)(lanes + 1) * sizeof *starts);
    for (uint32_t i = 0; i < partial->count; i++)
        starts[hash_bucket(partial->groups[i].hash, lanes) + 1]++;
    for (uint32_t lane = 0; lane < lanes; lane++)
        starts[lane + 1] += starts[lane];
    for (uint32_t i = 0; i < partial->count; i++)
        partial->sorted[starts[hash_bucket(partial->groups[i].hash, lanes)]++] = partial->groups[i];
    memmove(starts + 1, starts, lanes * sizeof *starts); /* each had moved to its lane's end */
    starts[0] = 0;
    return OK;
}

static void partial_close(struct exec_node *self)
{
    struct partial *partial = self->state;
    if (partial == NULL)
        return;
    arena_free(partial->arena);
    free(partial->groups);
    free(partial->slots);
    free(partial->sorted);
    free(partial->starts);
}

uint32_t partial_groups(const struct exec_node *writer, uint32_t run, uint32_t partition,
                        const struct partial_group **out)
{
    const struct partial *partial = writer->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    *out = NULL;
    if (partial->run != run || partial->start_count == 0)
        return 0;
    CHECK(partition + 1 < partial->start_count);
    *out = partial->sorted + partial->starts[partition];
    return partial->starts[partition + 1] - partial->starts[partition];
}

const struct exec_node_ops node_partial_aggregate = {
    .name = "PartialAggregate",
    .open = partial_open,
    .begin = partial_begin,
    .push = partial_push,
    .finish = partial_finish,
    .close = partial_close,
};
