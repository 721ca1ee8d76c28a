/*
 * Partial aggregation by session: the end of the stage before an aggregation by session windows.
 *
 * Each thread merges the sessions of its own rows before they are handed over.  For each key it has
 * the list of the sessions that rows have made so far, the latest first; they neither overlap nor
 * touch.  A row that touches some of them makes one of them: the others refer to it (`into`) and
 * are merged into it in the end, when their own rows have been counted.
 *
 * Rows that may be too late stay sessions of their own: whether a row is late is decided by its own
 * session, and by the operator.  So do all rows if an aggregate depends on their order or rounds,
 * because merging would change the order.
 *
 * When they take more memory than the query may use for them, they move to the disk, those of a
 * partition together, and the lists begin anew: sessions of a key may then overlap, and meet in the
 * partition's state.  Those of a partition lie apart by the hash by which it takes rounds
 * (exec_in_round()), so that a round does not read all of them.  A session moves as
 *
 *     struct moved_session | key | states as saved
 */
#include "exec/node_session_writer.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/memory_limit.h"
#include "columnar/row_key.h"
#include "exec/lane_order.h"
#include "exec/session_key.h"
#include "state/spill_file.h"

#include <stdlib.h>

#define WRITER_MAGIC 0x5e55e101U
#define SLOTS_MIN    1024
#define PROBE_ROWS   16384 /* after so many rows it is decided whether looking pays */
#define CHUNK_BLOCKS 1024
#define MOVED_BYTES  ((size_t)128 << 10) /* at once, unless a session is larger */
#define PARTS        16
#define NONE         UINT32_MAX

/* 32 bits of the key's hash, and the latest session of the key + 1. */
struct slot {
    uint32_t tag;
    uint32_t head;
};

struct session_writer {
    uint32_t magic;
    uint32_t run;
    uint32_t session_key;
    bool apart; /* rows are not merged at all */
    struct aggregate_calls calls;
    struct arena *arena; /* keys, blocks, what states point to */
    struct session_group *groups;
    uint16_t *lanes; /* by group: its partition */
    uint32_t partitions;
    uint32_t count;
    uint32_t capacity;
    uint32_t merged; /* how many are parts of others */
    uint32_t keys;   /* slots in use */
    struct slot *slots;
    uint32_t mask;
    uint8_t *chunk; /* of blocks */
    uint32_t chunk_left;
    uint64_t rows;
    bool direct; /* every row is a session */
    struct buffer scratch;
    struct lane_order order;      /* of the groups, after finish */
    struct spill_file *file;      /* where sessions have been moved to */
    struct spill_extents *moved;  /* by partition, and then by part; NULL: none */
    struct exec_waiting *waiting; /* by partition: of those */
};

static enum status writer_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    struct session_writer *writer = arena_new_object(query, sizeof *writer);
    self->state = writer;
    writer->magic = WRITER_MAGIC;
    writer->session_key = (uint32_t)session_key_of(node);
    writer->apart = !node->aggregate.exact;
    writer->arena = arena_new("parts of sessions", 0);
    return aggregate_calls_open(&writer->calls, query, node, err);
}

static void forget_moved(struct session_writer *writer)
{
    if (writer->moved == NULL)
        return;
    for (uint32_t i = 0; i < writer->partitions * PARTS; i++)
        spill_extents_fini(&writer->moved[i]);
    memset(writer->waiting, 0, writer->partitions * sizeof *writer->waiting);
}

/* The sessions of a batch are collected over all tasks of the thread. */
static enum status writer_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)err;
    struct session_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    if (writer->run == ctx->run)
        return OK;
    writer->run = ctx->run;
    CHECK(writer->partitions == 0 || writer->partitions == ctx->partitions);
    CHECK(ctx->partitions < LANE_NONE);
    writer->partitions = ctx->partitions;
    writer->count = writer->merged = writer->keys = 0;
    writer->rows = 0;
    writer->chunk_left = 0;
    writer->direct = writer->apart;
    if (writer->slots != NULL)
        memset(writer->slots, 0, ((size_t)writer->mask + 1) * sizeof *writer->slots);
    lane_order_clear(&writer->order);
    forget_moved(writer);
    arena_reset(writer->arena);
    return OK;
}

static uint32_t place_of(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

/* Room for `more` further keys. */
static void grow_slots(struct session_writer *writer, uint32_t more)
{
    uint64_t slots = writer->slots == NULL ? 0 : (uint64_t)writer->mask + 1;
    uint64_t wanted = slots == 0 ? SLOTS_MIN : slots;
    while (((uint64_t)writer->keys + more) * 2 > wanted)
        wanted *= 2;
    if (wanted == slots)
        return;
    if (wanted > UINT32_MAX)
        memory_exhausted(wanted * sizeof *writer->slots);
    struct slot *old = writer->slots;
    writer->slots = heap_zeroes(wanted, sizeof *writer->slots);
    writer->mask = (uint32_t)wanted - 1;
    for (uint64_t i = 0; i < slots; i++) {
        if (old[i].head == 0)
            continue;
        uint32_t slot = place_of(writer->groups[old[i].head - 1].hash) & writer->mask;
        while (writer->slots[slot].head != 0)
            slot = (slot + 1) & writer->mask;
        writer->slots[slot] = old[i];
    }
    free(old);
}

/* A session; its key's bytes are copied unless another session of the key has them. */
static enum status new_group(struct session_writer *writer, struct bytes key, uint64_t hash,
                             bool copy_key, uint32_t *number, struct error *err)
{
    uint32_t block_bytes = writer->calls.block_bytes;
    if (writer->count == UINT32_MAX / 4)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the sessions of one batch", "limit",
                           "1073741823", NULL);
    if (writer->count == writer->capacity) {
        writer->capacity = writer->capacity == 0 ? SLOTS_MIN : writer->capacity * 2;
        writer->groups = heap_realloc(writer->groups, writer->capacity * sizeof *writer->groups);
        writer->lanes = heap_realloc(writer->lanes, writer->capacity * sizeof *writer->lanes);
    }
    if (writer->chunk_left == 0) {
        void *memory = NULL;
        TRY(arena_alloc(writer->arena, CHUNK_BLOCKS, block_bytes + 1, &memory, err));
        writer->chunk = memory;
        writer->chunk_left = CHUNK_BLOCKS;
    }
    if (copy_key) {
        void *copy = NULL;
        TRY(arena_alloc_raw(writer->arena, key.size_bytes + 1, 1, &copy, err));
        if (key.size_bytes > 0)
            memcpy(copy, key.data, key.size_bytes);
        key.data = copy;
    }
    writer->groups[writer->count] = (struct session_group){
        .key = key, .hash = hash, .block = writer->chunk, .next = NONE, .into = NONE};
    writer->lanes[writer->count] = (uint16_t)hash_bucket(hash, writer->partitions);
    aggregate_calls_init(&writer->calls, writer->chunk);
    writer->chunk += block_bytes;
    writer->chunk_left--;
    *number = writer->count++;
    return OK;
}

/* The slot of a key; free if it has no session yet. */
static struct slot *find_key(struct session_writer *writer, struct bytes key, uint64_t hash)
{
    uint32_t slot = place_of(hash) & writer->mask;
    for (; writer->slots[slot].head != 0; slot = (slot + 1) & writer->mask) {
        const struct slot *found = &writer->slots[slot];
        if (found->tag == (uint32_t)(hash >> 32) &&
            bytes_equal(writer->groups[found->head - 1].key, key))
            break;
    }
    return &writer->slots[slot];
}

/* The sessions behind `number` in the list that it has come to touch become part of it. */
static void merge_older(struct session_writer *writer, uint32_t number)
{
    struct session_group *into = &writer->groups[number];
    while (into->next != NONE) {
        struct session_group *older = &writer->groups[into->next];
        if (older->end_us < into->start_us)
            break;
        if (older->start_us < into->start_us)
            into->start_us = older->start_us;
        older->into = number;
        writer->lanes[into->next] = LANE_NONE; /* part of another session */
        into->next = older->next;
        writer->merged++;
    }
}

/* The session that a row of this key belongs to. */
static enum status find_session(struct session_writer *writer, struct bytes key, uint64_t hash,
                                const int64_t bounds[2], uint32_t *number, struct error *err)
{
    struct slot *slot = find_key(writer, key, hash);
    uint32_t newer = NONE;
    uint32_t at = slot->head == 0 ? NONE : slot->head - 1;
    for (; at != NONE && writer->groups[at].start_us > bounds[1]; at = writer->groups[at].next)
        newer = at;
    if (at != NONE && writer->groups[at].end_us >= bounds[0]) {
        struct session_group *group = &writer->groups[at];
        group->start_us = bounds[0] < group->start_us ? bounds[0] : group->start_us;
        group->end_us = bounds[1] > group->end_us ? bounds[1] : group->end_us;
        merge_older(writer, at);
        *number = at;
        return OK;
    }
    bool known = slot->head != 0;
    if (known)
        key = writer->groups[slot->head - 1].key;
    TRY(new_group(writer, key, hash, !known, number, err));
    struct session_group *group = &writer->groups[*number];
    group->start_us = bounds[0];
    group->end_us = bounds[1];
    group->next = at;
    writer->keys += known ? 0 : 1;
    if (newer != NONE)
        writer->groups[newer].next = *number;
    else
        *slot = (struct slot){.tag = (uint32_t)(hash >> 32), .head = *number + 1};
    return OK;
}

/* The keys but the session. */
static enum status encode_others(struct session_writer *writer, struct exec_context *ctx,
                                 const struct batch *batch, struct vector **inputs,
                                 struct bytes **out, struct error *err)
{
    struct arena *arena = ctx->batch_arena;
    uint32_t count = 0;
    struct vector **others =
        arena_new_object(arena, (writer->calls.key_count + 1) * sizeof *others);
    *out = arena_new_object(arena, (batch->selected + 1) * sizeof **out);
    for (uint32_t i = 0; i < writer->calls.key_count; i++)
        if (i != writer->session_key)
            others[count++] = inputs[i];
    return count == 0
               ? OK
               : row_key_encode(arena, others, count, batch->selection, batch->selected, *out, err);
}

static enum status assign_sessions(struct session_writer *writer, struct exec_context *ctx,
                                   const struct batch *batch, struct vector **inputs,
                                   uint8_t **blocks, struct error *err)
{
    struct bytes *keys = NULL;
    const struct vector *window = inputs[writer->session_key];
    const int64_t *starts = VECTOR_VALUES(const int64_t, window->children[0]);
    const int64_t *ends = VECTOR_VALUES(const int64_t, window->children[1]);
    TRY(encode_others(writer, ctx, batch, inputs, &keys, err));
    uint64_t *hashes = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *hashes);
    grow_slots(writer, batch->selected);
    for (uint32_t i = 0; i < batch->selected; i++) {
        hashes[i] = state_hash(keys[i]);
        __builtin_prefetch(&writer->slots[place_of(hashes[i]) & writer->mask]);
    }
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        uint32_t at = vector_index(window, row);
        uint32_t number = 0;
        int64_t bounds[2] = {starts[at], ends[at]};
        if (writer->direct || bounds[1] <= ctx->late_watermark_us) {
            TRY(new_group(writer, keys[i], hashes[i], true, &number, err));
            writer->groups[number].start_us = bounds[0];
            writer->groups[number].end_us = bounds[1];
        } else {
            TRY(find_session(writer, keys[i], hashes[i], bounds, &number, err));
        }
        blocks[row] = writer->groups[number].block;
    }
    writer->rows += batch->selected;
    if (writer->rows > PROBE_ROWS && writer->count > writer->rows - writer->rows / 8)
        writer->direct = true;
    return OK;
}

static enum status writer_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct session_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    CHECK(input == 0 && writer->run == ctx->run);
    struct vector **inputs = NULL;
    TRY(aggregate_calls_eval(&writer->calls, ctx, batch, &inputs, err));
    uint8_t **blocks = arena_new_object(ctx->batch_arena, batch->rows * sizeof *blocks);
    TRY(assign_sessions(writer, ctx, batch, inputs, blocks, err));
    return aggregate_calls_update(&writer->calls, ctx, batch, inputs, blocks, writer->arena, err);
}

/* What has become part of another session is merged into it. */
static enum status merge_parts(struct session_writer *writer, struct error *err)
{
    for (uint32_t i = 0; writer->merged > 0 && i < writer->count; i++) {
        uint32_t into = writer->groups[i].into;
        if (into == NONE || writer->groups[i].block == NULL)
            continue;
        while (writer->groups[into].into != NONE)
            into = writer->groups[into].into;
        TRY(aggregate_calls_merge(&writer->calls, writer->arena, writer->groups[into].block,
                                  writer->groups[i].block, &writer->scratch, err));
        writer->groups[i].block = NULL; /* no row can come to it any more */
    }
    writer->merged = 0;
    return OK;
}

/* Sorts the sessions by partition.  The tasks of a thread each end here; the last one counts. */
static enum status writer_finish(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    struct session_writer *writer = self->state;
    CHECK(ctx->partitions == writer->partitions);
    TRY(merge_parts(writer, err));
    lane_order_sort(&writer->order, writer->lanes, writer->count, writer->partitions);
    return OK;
}

static void writer_close(struct exec_node *self)
{
    struct session_writer *writer = self->state;
    if (writer == NULL)
        return;
    arena_free(writer->arena);
    buffer_fini(&writer->scratch);
    free(writer->groups);
    free(writer->lanes);
    free(writer->slots);
    lane_order_fini(&writer->order);
    forget_moved(writer);
    free(writer->moved);
    free(writer->waiting);
}

struct session_groups session_groups(const struct exec_node *node, uint32_t run, uint32_t partition)
{
    const struct session_writer *writer = node->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    struct session_groups out = {.groups = writer->groups};
    if (writer->run == run)
        out.count = lane_order_read(&writer->order, partition, &out.order);
    return out;
}

static size_t writer_bytes(const struct exec_node *self)
{
    const struct session_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    return arena_used_bytes(writer->arena) + writer->capacity * sizeof *writer->groups +
           lane_order_bytes(&writer->order) +
           (writer->slots == NULL ? 0 : ((size_t)writer->mask + 1) * sizeof *writer->slots);
}

/* ---- to the disk ---- */

struct moved_session {
    uint64_t hash;
    int64_t start_us;
    int64_t end_us;
    uint64_t key_bytes;
    uint64_t state_bytes;
};

static void save_session(struct session_writer *writer, const struct session_group *group,
                         struct buffer *out)
{
    struct moved_session head = {
        .hash = group->hash,
        .start_us = group->start_us,
        .end_us = group->end_us,
        .key_bytes = group->key.size_bytes,
    };
    size_t at = out->size_bytes;
    buffer_add(out, &head, sizeof head);
    buffer_add_bytes(out, group->key);
    size_t before = out->size_bytes;
    aggregate_calls_save(&writer->calls, group->block, out, &writer->scratch);
    head.state_bytes = out->size_bytes - before;
    memcpy(out->data + at, &head, sizeof head);
}

/* What is on its way to the disk. */
struct moving {
    struct buffer bytes;
    struct lane_order order; /* of the sessions of a partition, by part */
};

static enum status move_part(struct session_writer *writer, uint32_t partition, uint32_t part,
                             const uint32_t *numbers, struct moving *moving, struct error *err)
{
    struct buffer *bytes = &moving->bytes;
    const uint32_t *places = NULL;
    uint32_t count = lane_order_read(&moving->order, part, &places);
    for (uint32_t i = 0; i < count; i++) {
        save_session(writer, &writer->groups[numbers[places[i]]], bytes);
        if (i + 1 < count && bytes->size_bytes < MOVED_BYTES)
            continue;
        TRY(spill_extents_write(&writer->moved[partition * PARTS + part], writer->file,
                                buffer_bytes(bytes), err));
        writer->waiting[partition].bytes += bytes->size_bytes;
        buffer_clear(bytes);
    }
    return OK;
}

/* `parts` has room for all sessions. */
static enum status move_lane(struct session_writer *writer, uint32_t partition, uint16_t *parts,
                             struct moving *moving, struct error *err)
{
    const uint32_t *numbers = NULL;
    uint32_t count = lane_order_read(&writer->order, partition, &numbers);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = (uint32_t)writer->groups[numbers[i]].hash;
        parts[i] = (uint16_t)(((uint64_t)hash * PARTS) >> 32);
    }
    lane_order_sort(&moving->order, parts, count, PARTS);
    writer->waiting[partition].entries += count;
    for (uint32_t part = 0; part < PARTS; part++)
        TRY(move_part(writer, partition, part, numbers, moving, err));
    return OK;
}

/* What is in memory counts by its part of all groups. */
static void writer_waiting(const struct exec_node *self, uint32_t run, uint32_t partition,
                           struct exec_waiting *out)
{
    const struct session_writer *writer = self->state;
    struct session_groups groups = session_groups(self, run, partition);
    if (writer->run != run)
        return;
    if (groups.count > 0)
        out->bytes += writer_bytes(self) / writer->count * groups.count;
    out->entries += groups.count;
    if (writer->moved == NULL)
        return;
    out->bytes += writer->waiting[partition].bytes;
    out->entries += writer->waiting[partition].entries;
}

/* As after begin, but that rows have come. */
static void forget_groups(struct session_writer *writer)
{
    free(writer->groups);
    free(writer->lanes);
    free(writer->slots);
    writer->groups = NULL;
    writer->lanes = NULL;
    writer->slots = NULL;
    writer->count = writer->capacity = writer->keys = writer->mask = 0;
    writer->rows = 0;
    writer->chunk_left = 0;
    lane_order_fini(&writer->order);
    writer->order = (struct lane_order){0};
    arena_reset(writer->arena);
    arena_trim(writer->arena);
}

static enum status writer_put_away(struct exec_node *self, struct spill_file *file,
                                   struct error *err)
{
    struct session_writer *writer = self->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    struct moving moving = {0};
    enum status status = OK;
    uint16_t *parts = heap_calloc((size_t)writer->count + 1, sizeof *parts);
    writer->file = file;
    if (writer->moved == NULL) {
        writer->moved = heap_calloc((size_t)writer->partitions * PARTS, sizeof *writer->moved);
        writer->waiting = heap_calloc(writer->partitions, sizeof *writer->waiting);
    }
    status = merge_parts(writer, err);
    lane_order_sort(&writer->order, writer->lanes, writer->count, writer->partitions);
    for (uint32_t i = 0; i < writer->partitions && status == OK; i++)
        status = move_lane(writer, i, parts, &moving, err);
    buffer_fini(&moving.bytes);
    lane_order_fini(&moving.order);
    free(parts);
    if (status == OK)
        forget_groups(writer);
    return status;
}

/* The next session of *in, with a block of its own. */
static enum status load_session(const struct aggregate_calls *calls, struct arena *arena,
                                struct bytes *in, struct session_group *out, struct error *err)
{
    struct moved_session head;
    void *block = NULL;
    bool whole = in->size_bytes >= sizeof head;
    if (whole) {
        memcpy(&head, in->data, sizeof head);
        whole = in->size_bytes - sizeof head >= head.key_bytes &&
                in->size_bytes - sizeof head - head.key_bytes >= head.state_bytes;
    }
    if (!whole)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "sessions on the disk", NULL);
    const uint8_t *key = in->data + sizeof head;
    TRY(arena_alloc(arena, calls->block_bytes + 1, 1, &block, err));
    *out = (struct session_group){.key = bytes_of(key, head.key_bytes),
                                  .hash = head.hash,
                                  .start_us = head.start_us,
                                  .end_us = head.end_us,
                                  .block = block,
                                  .next = NONE,
                                  .into = NONE};
    size_t size = sizeof head + head.key_bytes + head.state_bytes;
    aggregate_calls_init(calls, out->block);
    TRY(aggregate_calls_load(calls, arena, bytes_of(key + head.key_bytes, head.state_bytes),
                             out->block, err));
    *in = bytes_of(in->data + size, in->size_bytes - size);
    return OK;
}

static enum status load_all(const struct session_writer *writer, struct session_moved *moved,
                            struct session_groups *out, struct error *err)
{
    struct bytes rest = buffer_bytes(&moved->bytes);
    size_t most = rest.size_bytes / sizeof(struct moved_session);
    void *memory = NULL;
    TRY(arena_alloc_raw(moved->arena, most + 1, sizeof(struct session_group), &memory, err));
    struct session_group *groups = memory;
    TRY(arena_alloc_raw(moved->arena, most + 1, sizeof(uint32_t), &memory, err));
    uint32_t *order = memory;
    *out = (struct session_groups){.groups = groups, .order = order};
    for (; rest.size_bytes > 0; out->count++) {
        order[out->count] = out->count;
        TRY(load_session(&writer->calls, moved->arena, &rest, &groups[out->count], err));
    }
    return OK;
}

/* The next of a part that may have sessions of the present round; NULL: none. */
static const struct spill_extent *next_extent(const struct session_writer *writer,
                                              const struct exec_context *ctx,
                                              struct session_moved *moved)
{
    uint32_t rounds = ctx->rounds == 0 ? 1 : ctx->rounds;
    uint32_t first = (uint32_t)((uint64_t)ctx->round * PARTS / rounds);
    uint32_t end = (uint32_t)((((uint64_t)ctx->round + 1) * PARTS + rounds - 1) / rounds);
    const struct spill_extents *parts = &writer->moved[(size_t)ctx->partition * PARTS];
    if (moved->part < first)
        moved->part = first;
    for (; moved->part < end; moved->part++, moved->next = 0)
        if (moved->next < parts[moved->part].count)
            return &parts[moved->part].list[moved->next++];
    return NULL;
}

enum status session_groups_moved(const struct exec_node *node, const struct exec_context *ctx,
                                 struct session_moved *moved, struct session_groups *out,
                                 struct error *err)
{
    const struct session_writer *writer = node->state;
    CHECK_MAGIC(writer, WRITER_MAGIC);
    *out = (struct session_groups){0};
    if (writer->run != ctx->run || writer->moved == NULL)
        return OK;
    const struct spill_extent *extent = next_extent(writer, ctx, moved);
    if (extent == NULL)
        return OK;
    if (moved->arena == NULL)
        moved->arena = arena_new("sessions that come back", 0);
    arena_reset(moved->arena);
    TRY(spill_extent_read(writer->file, extent, &moved->bytes, err));
    return load_all(writer, moved, out, err);
}

void session_moved_fini(struct session_moved *moved)
{
    arena_free(moved->arena);
    buffer_fini(&moved->bytes);
    *moved = (struct session_moved){0};
}

const struct exec_node_ops node_session_writer = {
    .name = "SessionPartialAggregate",
    .open = writer_open,
    .begin = writer_begin,
    .push = writer_push,
    .finish = writer_finish,
    .close = writer_close,
    .bytes = writer_bytes,
    .put_away = writer_put_away,
    .waiting = writer_waiting,
};
