/*
 * Partial aggregation: the end of the stage before an aggregation over a stream.
 *
 * Each thread aggregates its own rows of a batch before anything is handed over, so that a few
 * groups cost a few rows.  If it turns out that nearly every row is a group of its own, looking for
 * its group is given up: rows become groups as they come, and meet in the partition's state.
 *
 * A group is written once, into the lane of its partition, in the form of an entry of the state:
 *
 *     struct partial_group | struct state_entry: value (the block of the functions' states), key
 *
 * so that the partition reads its lane from front to back and copies what is new as it is.  The
 * large pieces of a lane are of the memory that the state takes its blocks from: each goes back
 * once its groups are taken, so that the state grows into memory that is there already.
 *
 * When the groups take more memory than the query may use for them, they move to the disk, and the
 * lanes begin anew: a group may then come several times.  There a lane is in parts, by the bits of
 * the hash by which partitions take rounds (exec_in_round()), so that a round does not read all of
 * them.  Where states point to something, each group moves as
 *
 *     struct partial_group | u32 size of the key | u32 size of the states | key | states as saved
 */
#include "exec/node_partial_aggregate.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/huge.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "state/spill_file.h"

#include <stdlib.h>

#define PARTIAL_MAGIC     0x9a671a01U
#define SLOTS_MIN         1024
#define PROBE_ROWS        16384 /* after so many rows it is decided whether looking pays */
#define PIECE_BYTES_FIRST ((uint32_t)1 << 10)
#define PREFETCH          8
#define AHEAD_BYTES       512                 /* of what a reader asks for before it is needed */
#define MOVED_BYTES       ((size_t)128 << 10) /* at once, unless a group is larger */
#define PARTS             16
#define READ_BYTES        ((size_t)512 << 10) /* of what was moved, together */
#define ADDRESS_BITS      48
#define ADDRESS_MASK      (((uint64_t)1 << ADDRESS_BITS) - 1)

/* Groups of a lane, one behind another. */
struct partial_piece {
    struct partial_piece *next;
    uint32_t used;
    uint32_t size; /* HUGE_PIECE_MIN with the piece's head: from huge_alloc(), else the arena's */
    _Alignas(8) uint8_t data[];
};

struct lane {
    struct partial_piece *first;
    struct partial_piece *last;
    size_t huge_bytes;
    size_t piece_bytes;
    uint64_t count;
    uint64_t moved_bytes;
    uint64_t moved_count;
    struct spill_extents moved[PARTS];
};

#define PIECE_BYTES_MAX ((uint32_t)(HUGE_PIECE_MIN - sizeof(struct partial_piece)))

struct partial {
    uint32_t magic;
    uint32_t run;
    struct aggregate_calls calls;
    int event_time_key;
    uint8_t *empty;      /* the states of a group that has no row yet */
    struct arena *arena; /* pieces, what states point to */
    struct lane *lanes;
    uint32_t lane_count;
    uint64_t count;
    uint64_t *slots; /* 16 bits of the hash << 48 | address of the group; 0: free */
    uint64_t mask;
    uint64_t rows;
    bool direct;             /* every row is a group */
    struct spill_file *file; /* where groups have been moved to */
    struct buffer moving[PARTS];
    struct buffer scratch;
};

static enum status partial_open(struct exec_node *self, struct arena *query,
                                const struct plan_node *node, struct error *err)
{
    struct partial *partial = arena_new_object(query, sizeof *partial);
    self->state = partial;
    partial->magic = PARTIAL_MAGIC;
    partial->event_time_key = node->aggregate.event_time_key;
    partial->arena = arena_new("partial groups", 0);
    TRY(aggregate_calls_open(&partial->calls, query, node, err));
    partial->empty = arena_new_object(query, partial->calls.block_bytes + 8);
    aggregate_calls_init(&partial->calls, partial->empty);
    return OK;
}

static void free_pieces(struct lane *lane, const struct partial_piece *end)
{
    while (lane->first != end) {
        struct partial_piece *piece = lane->first;
        lane->first = piece->next;
        if (piece->size != PIECE_BYTES_MAX)
            continue;
        lane->huge_bytes -= HUGE_PIECE_MIN;
        huge_free(piece, HUGE_PIECE_MIN);
    }
    if (end == NULL)
        lane->last = NULL;
}

static void free_lanes(struct partial *partial)
{
    for (uint32_t i = 0; i < partial->lane_count; i++) {
        free_pieces(&partial->lanes[i], NULL);
        for (uint32_t part = 0; part < PARTS; part++)
            spill_extents_fini(&partial->lanes[i].moved[part]);
    }
}

static void free_moving(struct partial *partial)
{
    for (uint32_t part = 0; part < PARTS; part++)
        buffer_fini(&partial->moving[part]);
    buffer_fini(&partial->scratch);
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
    if (partial->count > 0 && partial->slots != NULL)
        memset(partial->slots, 0, (partial->mask + 1) * sizeof *partial->slots);
    partial->count = 0;
    partial->rows = 0;
    partial->direct = false;
    free_lanes(partial);
    if (partial->lane_count != ctx->partitions) {
        partial->lane_count = ctx->partitions;
        partial->lanes = heap_realloc(partial->lanes, partial->lane_count * sizeof *partial->lanes);
    }
    memset(partial->lanes, 0, partial->lane_count * sizeof *partial->lanes);
    arena_reset(partial->arena);
    return OK;
}

static size_t group_bytes(const struct state_entry *entry, uint32_t value_bytes)
{
    return sizeof(struct partial_group) + state_entry_bytes(value_bytes, entry->key_bytes);
}

static struct state_entry *entry_of(struct partial_group *group)
{
    return (struct state_entry *)(void *)(group + 1);
}

/* ---- finding ---- */

static uint64_t slot_value(const struct partial_group *group)
{
    CHECK(group != NULL);
    return (group->hash & ~ADDRESS_MASK) | (uint64_t)(uintptr_t)group;
}

static struct partial_group *group_of(uint64_t slot)
{
    return (struct partial_group *)(uintptr_t)(slot & ADDRESS_MASK); // NOLINT: one we stored
}

static void put_slot(struct partial *partial, const struct partial_group *group)
{
    uint64_t slot = group->hash & partial->mask;
    while (partial->slots[slot] != 0)
        slot = (slot + 1) & partial->mask;
    partial->slots[slot] = slot_value(group);
}

/* Room for `more` further groups, at most every other slot in use. */
static void grow_slots(struct partial *partial, uint32_t more)
{
    uint64_t slots = partial->slots == NULL ? 0 : partial->mask + 1;
    if (partial->count + more <= slots / 2)
        return;
    uint64_t wanted = slots == 0 ? SLOTS_MIN : slots;
    while (partial->count + more > wanted / 2)
        wanted *= 2;
    uint64_t *before = partial->slots;
    partial->slots = heap_zeroes(wanted, sizeof *partial->slots);
    partial->mask = wanted - 1;
    for (uint64_t i = 0; i < slots; i++)
        if (before[i] != 0)
            put_slot(partial, group_of(before[i]));
    free(before);
}

static struct partial_piece *add_piece(struct partial *partial, struct lane *lane, size_t size,
                                       struct error *err)
{
    void *memory = NULL;
    uint32_t wanted = lane->last == NULL ? PIECE_BYTES_FIRST : lane->last->size * 2;
    if (wanted > PIECE_BYTES_MAX)
        wanted = PIECE_BYTES_MAX;
    if (wanted < size)
        wanted = (uint32_t)size;
    if (wanted == PIECE_BYTES_MAX) {
        memory = huge_alloc(HUGE_PIECE_MIN);
        lane->huge_bytes += HUGE_PIECE_MIN;
    } else if (arena_alloc_raw(partial->arena, 1, sizeof(struct partial_piece) + wanted, &memory,
                               err) != OK) {
        return NULL;
    }
    struct partial_piece *piece = memory;
    *piece = (struct partial_piece){.size = wanted};
    if (lane->last == NULL)
        lane->first = piece;
    else
        lane->last->next = piece;
    lane->last = piece;
    return piece;
}

static enum status new_group(struct partial *partial, struct bytes key, uint64_t hash,
                             int64_t end_us, struct partial_group **out, struct error *err)
{
    uint32_t block_bytes = partial->calls.block_bytes;
    struct lane *lane = &partial->lanes[hash_bucket(hash, partial->lane_count)];
    struct partial_piece *piece = lane->last;
    if (key.size_bytes > UINT32_MAX / 4)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the key of a group", "limit",
                           "1073741823", NULL);
    size_t size = sizeof **out + state_entry_bytes(block_bytes, (uint32_t)key.size_bytes);
    if (piece == NULL || piece->size - piece->used < size) {
        piece = add_piece(partial, lane, size, err);
        if (piece == NULL)
            return err->status;
    }
    struct partial_group *group = (struct partial_group *)(void *)(piece->data + piece->used);
    struct state_entry *entry = entry_of(group);
    piece->used += (uint32_t)size;
    lane->piece_bytes += size;
    lane->count++;
    *group = (struct partial_group){.hash = hash, .end_us = end_us};
    entry->key_bytes = (uint32_t)key.size_bytes;
    entry->stamp = 0;
    state_copy_bytes(entry->data, partial->empty, block_bytes);
    state_copy_bytes(entry->data + block_bytes, key.data, key.size_bytes);
    partial->count++;
    *out = group;
    return OK;
}

static bool is_group(struct partial_group *group, struct bytes key, uint64_t hash,
                     uint32_t block_bytes)
{
    const struct state_entry *entry = entry_of(group);
    return group->hash == hash && entry->key_bytes == key.size_bytes &&
           state_same_bytes(entry->data + block_bytes, key.data, key.size_bytes);
}

static enum status find_group(struct partial *partial, struct bytes key, uint64_t hash,
                              int64_t end_us, struct partial_group **out, struct error *err)
{
    uint64_t slot = hash & partial->mask;
    for (;; slot = (slot + 1) & partial->mask) {
        uint64_t value = partial->slots[slot];
        if (value == 0)
            break;
        if (((value ^ hash) & ~ADDRESS_MASK) != 0)
            continue;
        *out = group_of(value);
        if (is_group(*out, key, hash, partial->calls.block_bytes))
            return OK;
    }
    TRY(new_group(partial, key, hash, end_us, out, err));
    CHECK(((uint64_t)(uintptr_t)*out & ~ADDRESS_MASK) == 0);
    partial->slots[slot] = slot_value(*out);
    return OK;
}

/* ---- rows ---- */

struct rows {
    const struct batch *batch;
    const struct vector *time; /* NULL: groups do not end */
    const int64_t *ends;       /* the values of `time`, if it has neither NULLs nor constants */
    struct bytes *keys;        /* of the i-th selected row */
    uint64_t *hashes;
    uint8_t **blocks; /* of row: wanted */
};

/* A column of times, or of windows that end at them. */
static const int64_t *plain_times(const struct vector *time)
{
    if (time->validity != NULL || time->constant)
        return NULL;
    if (time->type->id == TYPE_STRUCT)
        return plain_times(time->children[event_time_field(time->type)]);
    return time->type->id == TYPE_VOID ? NULL : VECTOR_VALUES(const int64_t, time);
}

static int64_t end_of(const struct rows *rows, uint32_t row)
{
    if (rows->ends != NULL)
        return rows->ends[row];
    return rows->time == NULL ? STATE_NO_END : event_time_at(rows->time, row);
}

static enum status find_groups(struct partial *partial, const struct rows *rows, struct error *err)
{
    const struct batch *batch = rows->batch;
    struct partial_group *group = NULL;
    grow_slots(partial, batch->selected);
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (i + PREFETCH < batch->selected)
            __builtin_prefetch(&partial->slots[rows->hashes[i + PREFETCH] & partial->mask]);
        TRY(find_group(partial, rows->keys[i], rows->hashes[i], end_of(rows, row), &group, err));
        rows->blocks[row] = entry_of(group)->data;
    }
    return OK;
}

static enum status add_groups(struct partial *partial, const struct rows *rows, struct error *err)
{
    const struct batch *batch = rows->batch;
    struct partial_group *group = NULL;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        TRY(new_group(partial, rows->keys[i], rows->hashes[i], end_of(rows, row), &group, err));
        rows->blocks[row] = entry_of(group)->data;
    }
    return OK;
}

static enum status assign_groups(struct partial *partial, struct exec_context *ctx,
                                 struct vector **inputs, struct rows *rows, struct error *err)
{
    void *memory = NULL;
    const struct batch *batch = rows->batch;
    uint32_t selected = batch->selected;
    TRY(arena_alloc(ctx->batch_arena, selected, sizeof(struct bytes), &memory, err));
    rows->keys = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, selected, sizeof(uint64_t), &memory, err));
    rows->hashes = memory;
    if (partial->calls.key_count > 0)
        TRY(row_key_encode(ctx->batch_arena, inputs, partial->calls.key_count, batch->selection,
                           selected, rows->keys, err));
    for (uint32_t i = 0; i < selected; i++)
        rows->hashes[i] = state_hash(rows->keys[i]);
    if (partial->event_time_key >= 0) {
        rows->time = inputs[partial->event_time_key];
        rows->ends = plain_times(rows->time);
    }
    TRY((partial->direct ? add_groups : find_groups)(partial, rows, err));
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
    struct rows rows = {.batch = batch};
    TRY(aggregate_calls_eval(&partial->calls, ctx, batch, &inputs, err));
    TRY(arena_alloc_raw(ctx->batch_arena, batch->rows, sizeof(uint8_t *), &memory, err));
    rows.blocks = memory;
    TRY(assign_groups(partial, ctx, inputs, &rows, err));
    return aggregate_calls_update(&partial->calls, ctx, batch, inputs, rows.blocks, partial->arena,
                                  err);
}

static void partial_close(struct exec_node *self)
{
    struct partial *partial = self->state;
    if (partial == NULL)
        return;
    free_lanes(partial);
    arena_free(partial->arena);
    free_moving(partial);
    free(partial->lanes);
    free(partial->slots);
}

struct partial_reader partial_read(const struct exec_node *writer, uint32_t run, uint32_t partition)
{
    const struct partial *partial = writer->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    struct partial_reader reader = {.value_bytes = partial->calls.block_bytes};
    if (partial->run != run)
        return reader;
    CHECK(partition < partial->lane_count);
    reader.piece = partial->lanes[partition].first;
    return reader;
}

const struct partial_group *partial_next(struct partial_reader *reader)
{
    while (reader->piece != NULL && reader->offset == reader->piece->used) {
        reader->piece = reader->piece->next;
        reader->offset = 0;
    }
    if (reader->piece == NULL)
        return NULL;
    const struct partial_group *group =
        (const struct partial_group *)(const void *)(reader->piece->data + reader->offset);
    reader->offset += (uint32_t)group_bytes(partial_entry(group), reader->value_bytes);
    __builtin_prefetch(reader->piece->data + reader->offset + AHEAD_BYTES);
    return group;
}

void partial_taken(const struct exec_node *writer, uint32_t partition,
                   const struct partial_reader *reader)
{
    const struct partial *partial = writer->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    CHECK(partition < partial->lane_count);
    free_pieces(&partial->lanes[partition], reader->piece);
}

static size_t extents_bytes(const struct lane *lane)
{
    size_t bytes = 0;
    for (uint32_t part = 0; part < PARTS; part++)
        bytes += lane->moved[part].capacity * sizeof *lane->moved[part].list;
    return bytes;
}

static void partial_waiting(const struct exec_node *self, uint32_t run, uint32_t partition,
                            struct exec_waiting *out)
{
    const struct partial *partial = self->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    if (partial->run != run)
        return;
    CHECK(partition < partial->lane_count);
    const struct lane *lane = &partial->lanes[partition];
    out->bytes += lane->piece_bytes + lane->moved_bytes;
    out->entries += lane->count + lane->moved_count;
}

static size_t partial_bytes(const struct exec_node *self)
{
    const struct partial *partial = self->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    size_t lane_bytes = 0;
    for (uint32_t i = 0; i < partial->lane_count; i++)
        lane_bytes += partial->lanes[i].huge_bytes + extents_bytes(&partial->lanes[i]);
    return arena_used_bytes(partial->arena) + lane_bytes +
           (partial->slots == NULL ? 0 : (size_t)(partial->mask + 1) * sizeof *partial->slots);
}

/* ---- to the disk ---- */

/* Of a group whose states point to something. */
struct moved_sizes {
    uint64_t states;
    uint32_t key;
    uint32_t unused;
};

static void save_group(struct partial *partial, const struct partial_group *group,
                       struct buffer *moving)
{
    const struct state_entry *entry = partial_entry(group);
    struct moved_sizes sizes = {.key = entry->key_bytes};
    buffer_add(moving, group, sizeof *group);
    size_t at = moving->size_bytes;
    buffer_add(moving, &sizes, sizeof sizes);
    buffer_add(moving, entry->data + partial->calls.block_bytes, entry->key_bytes);
    size_t before = moving->size_bytes;
    aggregate_calls_save(&partial->calls, entry->data, moving, &partial->scratch);
    sizes.states = moving->size_bytes - before;
    memcpy(moving->data + at, &sizes, sizeof sizes);
}

static uint32_t part_of(uint64_t hash)
{
    return (uint32_t)(((uint64_t)(uint32_t)hash * PARTS) >> 32);
}

static enum status move_part(struct partial *partial, struct lane *lane, uint32_t part,
                             struct error *err)
{
    struct buffer *moving = &partial->moving[part];
    if (moving->size_bytes == 0)
        return OK;
    TRY(spill_extents_write(&lane->moved[part], partial->file, buffer_bytes(moving), err));
    buffer_clear(moving);
    return OK;
}

static enum status move_lane(struct partial *partial, struct lane *lane, struct error *err)
{
    uint32_t value_bytes = partial->calls.block_bytes;
    struct partial_reader reader = {.piece = lane->first, .value_bytes = value_bytes};
    const struct partial_group *group = NULL;
    while ((group = partial_next(&reader)) != NULL) {
        uint32_t part = part_of(group->hash);
        struct buffer *moving = &partial->moving[part];
        size_t before = moving->size_bytes;
        if (partial->calls.plain)
            buffer_add(moving, group, group_bytes(partial_entry(group), value_bytes));
        else
            save_group(partial, group, moving);
        lane->moved_bytes += moving->size_bytes - before;
        if (moving->size_bytes >= MOVED_BYTES)
            TRY(move_part(partial, lane, part, err));
    }
    for (uint32_t part = 0; part < PARTS; part++)
        TRY(move_part(partial, lane, part, err));
    lane->moved_count += lane->count;
    lane->count = lane->piece_bytes = 0;
    return OK;
}

static enum status partial_put_away(struct exec_node *self, struct spill_file *file,
                                    struct error *err)
{
    struct partial *partial = self->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    partial->file = file;
    for (uint32_t i = 0; i < partial->lane_count; i++) {
        struct lane *lane = &partial->lanes[i];
        TRY(move_lane(partial, lane, err));
        free_pieces(lane, NULL);
    }
    free(partial->slots);
    partial->slots = NULL;
    partial->count = partial->rows = 0;
    free_moving(partial);
    arena_reset(partial->arena);
    arena_trim(partial->arena);
    return OK;
}

/* Makes the next group of *in what it was, behind those in `out`. */
static enum status load_saved_group(const struct aggregate_calls *calls, struct arena *arena,
                                    struct bytes *in, struct buffer *out, struct error *err)
{
    struct partial_group group;
    struct moved_sizes sizes;
    const size_t head = sizeof group + sizeof sizes;
    bool whole = in->size_bytes >= head;
    if (whole) {
        memcpy(&group, in->data, sizeof group);
        memcpy(&sizes, in->data + sizeof group, sizeof sizes);
        whole =
            in->size_bytes - head >= sizes.key && in->size_bytes - head - sizes.key >= sizes.states;
    }
    if (!whole)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "groups on the disk", NULL);
    size_t size = sizeof group + state_entry_bytes(calls->block_bytes, sizes.key);
    uint8_t *to = buffer_reserve(out, size);
    memset(to, 0, size);
    memcpy(to, &group, sizeof group);
    struct state_entry *entry = entry_of((struct partial_group *)(void *)to);
    entry->key_bytes = sizes.key;
    if (sizes.key > 0)
        memcpy(entry->data + calls->block_bytes, in->data + head, sizes.key);
    aggregate_calls_init(calls, entry->data);
    TRY(aggregate_calls_load(calls, arena, bytes_of(in->data + head + sizes.key, sizes.states),
                             entry->data, err));
    out->size_bytes += size;
    *in = bytes_of(in->data + head + sizes.key + sizes.states,
                   in->size_bytes - head - sizes.key - sizes.states);
    return OK;
}

/* What was moved at once, made groups of again. */
static enum status bring_back(const struct partial *partial, struct partial_moved *moved,
                              struct error *err)
{
    struct bytes rest = buffer_bytes(&moved->one);
    if (partial->calls.plain) {
        buffer_add_bytes(&moved->bytes, rest);
        return OK;
    }
    if (moved->arena == NULL)
        moved->arena = arena_new("groups that come back", 0);
    while (rest.size_bytes > 0)
        TRY(load_saved_group(&partial->calls, moved->arena, &rest, &moved->bytes, err));
    return OK;
}

/* The next extent of the parts that the round is in; NULL: there are no more. */
static const struct spill_extent *
next_extent(const struct lane *lane, const struct exec_context *ctx, struct partial_moved *moved)
{
    uint32_t rounds = ctx->rounds == 0 ? 1 : ctx->rounds;
    uint32_t first = (uint32_t)((uint64_t)ctx->round * PARTS / rounds);
    uint32_t end = (uint32_t)((((uint64_t)ctx->round + 1) * PARTS + rounds - 1) / rounds);
    if (moved->part < first)
        moved->part = first;
    for (; moved->part < end; moved->part++, moved->next = 0)
        if (moved->next < lane->moved[moved->part].count)
            return &lane->moved[moved->part].list[moved->next++];
    return NULL;
}

enum status partial_read_moved(const struct exec_node *writer, const struct exec_context *ctx,
                               struct partial_moved *moved, struct partial_reader *out,
                               struct error *err)
{
    const struct partial *partial = writer->state;
    CHECK_MAGIC(partial, PARTIAL_MAGIC);
    struct partial_piece head = {0};
    struct buffer *bytes = &moved->bytes;
    const struct spill_extent *extent = NULL;
    buffer_clear(bytes);
    buffer_add(bytes, &head, sizeof head);
    if (moved->arena != NULL)
        arena_reset(moved->arena);
    *out = (struct partial_reader){.value_bytes = partial->calls.block_bytes};
    if (partial->run != ctx->run)
        return OK;
    CHECK(ctx->partition < partial->lane_count);
    const struct lane *lane = &partial->lanes[ctx->partition];
    while (bytes->size_bytes < READ_BYTES && (extent = next_extent(lane, ctx, moved)) != NULL) {
        TRY(spill_extent_read(partial->file, extent, &moved->one, err));
        TRY(bring_back(partial, moved, err));
    }
    if (bytes->size_bytes == sizeof head)
        return OK;
    head.used = head.size = (uint32_t)(bytes->size_bytes - sizeof head);
    memcpy(bytes->data, &head, sizeof head);
    out->piece = (const struct partial_piece *)(void *)bytes->data;
    return OK;
}

void partial_moved_fini(struct partial_moved *moved)
{
    buffer_fini(&moved->bytes);
    buffer_fini(&moved->one);
    arena_free(moved->arena);
    moved->arena = NULL;
    moved->part = moved->next = 0;
}

const struct exec_node_ops node_partial_aggregate = {
    .name = "PartialAggregate",
    .open = partial_open,
    .begin = partial_begin,
    .push = partial_push,
    .close = partial_close,
    .bytes = partial_bytes,
    .put_away = partial_put_away,
    .waiting = partial_waiting,
};
