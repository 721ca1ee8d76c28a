/*
 * Aggregation over a stream: groups that live from batch to batch.
 *
 * A group stands in the bucket of its window's end (or its event time), or in the one that never
 * ends.  What of it comes out, and when it goes, is the output mode:
 *
 *     append    when the eviction watermark has reached its end: once, and it goes
 *     update    in each batch that has changed it; it goes when the watermark has reached its end
 *     complete  all groups in every batch; none goes
 *
 * Groups of rows that are too late for the late watermark are dropped before they reach the state.
 *
 * Buckets that were let go (state/spill.h) get back the groups that a batch has rows for before
 * these are merged; a bucket that comes out as a whole is read from memory first, then from the
 * disk.
 */
#include "exec/node_partial_aggregate.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "exec/stateful.h"
#include "exec/touched_list.h"
#include "state/spill.h"
#include "state/state_table.h"

#include <stdlib.h>

#define AGGREGATE_MAGIC 0x57a66a01U
#define PULL_GROUPS     64
#define PASSING_BYTES   ((size_t)1 << 20) /* of groups at once, if their states are large */

struct stream_aggregate {
    uint32_t magic;
    bool has_end;
    struct aggregate_calls calls;
    struct state_table *table;
    struct touched_list touched; /* in the present batch */
    int64_t dropped_until_us;    /* buckets up to it went in this batch; INT64_MIN: none */
    struct operator_stats stats;
    struct buffer scratch;
    struct buffer value;
    bool restored; /* from a former run, whose watermark may have been another */
    struct spill spill;
    struct arena *passing;      /* groups of the disk that only come out; NULL until needed */
    struct partial_moved moved; /* groups that a writer has moved to the disk */
    struct buffer moves;        /* changes: groups that have changed their bucket */
};

static enum status aggregate_open(struct exec_node *self, struct arena *query,
                                  const struct plan_node *node, struct error *err)
{
    struct stream_aggregate *aggregate = arena_new_object(query, sizeof *aggregate);
    self->state = aggregate;
    aggregate->magic = AGGREGATE_MAGIC;
    aggregate->has_end = node->aggregate.event_time_key >= 0;
    TRY(aggregate_calls_open(&aggregate->calls, query, node, err));
    aggregate->table = state_table_new(aggregate->calls.block_bytes);
    return OK;
}

/* Where a group belongs by its key. */
static enum status end_of_key(struct exec_node *self, struct arena *arena, struct bytes key,
                              int64_t *end_us, struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    const struct aggregate_calls *calls = &aggregate->calls;
    struct vector **columns = arena_new_object(arena, (calls->key_count + 1) * sizeof *columns);
    *end_us = STATE_NO_END;
    if (!aggregate->has_end)
        return OK;
    TRY(row_key_decode(arena, calls->key_types, calls->key_count, &key, 1, columns, err));
    *end_us = event_time_at(columns[self->plan->aggregate.event_time_key], 0);
    return OK;
}

/* Puts a group into another bucket; the changelog says so. */
static enum status move_group(struct stream_aggregate *aggregate, struct state_bucket *from,
                              struct state_entry *entry, int64_t end_us, struct error *err)
{
    bool added = false;
    struct bytes key = state_key(aggregate->table, entry);
    struct state_bucket *into = state_bucket_open(aggregate->table, end_us);
    struct state_entry *moved = state_add(aggregate->table, into, key, state_hash(key), &added);
    if (!added)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of an aggregate",
                           NULL);
    aggregate_calls_init(&aggregate->calls, state_value(moved));
    TRY(aggregate_calls_merge(&aggregate->calls, state_bucket_arena(into), state_value(moved),
                              state_value(entry), &aggregate->scratch, err));
    buffer_clear(&aggregate->value);
    aggregate_calls_save(&aggregate->calls, state_value(moved), &aggregate->value,
                         &aggregate->scratch);
    changelog_take(&aggregate->moves, state_bucket_end(from), key);
    changelog_put(&aggregate->moves, end_us, key, buffer_bytes(&aggregate->value));
    state_remove(aggregate->table, from, entry);
    return OK;
}

/* Puts groups of the disk into the table, but for those that are there. */
struct loader {
    struct spill_receiver base;
    struct stream_aggregate *aggregate;
};

static enum status load_group(struct spill_receiver *self, int64_t end_us, struct bytes key,
                              struct bytes value, struct error *err)
{
    struct stream_aggregate *aggregate = ((struct loader *)self)->aggregate;
    const struct aggregate_calls *calls = &aggregate->calls;
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(aggregate->table, end_us);
    struct state_entry *entry = state_add(aggregate->table, bucket, key, state_hash(key), &added);
    if (!added)
        return OK;
    aggregate_calls_init(calls, state_value(entry));
    return aggregate_calls_load(calls, calls->plain ? NULL : state_bucket_arena(bucket), value,
                                state_value(entry), err);
}

static bool ends_otherwise(const struct stream_aggregate *aggregate, int64_t end_us)
{
    return aggregate->has_end == (end_us == STATE_NO_END);
}

/* Buckets whose groups have to move come back into memory. */
static enum status load_misplaced(struct stream_aggregate *aggregate, struct error *err)
{
    struct loader loader = {.base = {.receive = load_group}, .aggregate = aggregate};
    const struct spill_bucket *spilled = spill_first(&aggregate->spill);
    while (spilled != NULL) {
        int64_t end_us = spilled->end;
        if (ends_otherwise(aggregate, end_us))
            TRY(spill_load(&aggregate->spill, end_us, &loader.base, err));
        spilled = spill_after(&aggregate->spill, end_us);
    }
    return OK;
}

/* A watermark that was added or taken away since the last run changes where groups end. */
static enum status settle(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    struct state_bucket *bucket = NULL;
    TRY(load_misplaced(aggregate, err));
    while ((bucket = state_bucket_next(aggregate->table, bucket)) != NULL) {
        struct state_cursor cursor = {0};
        struct state_entry *entry = NULL;
        if (!ends_otherwise(aggregate, state_bucket_end(bucket)))
            continue;
        while ((entry = state_next(aggregate->table, bucket, &cursor)) != NULL) {
            int64_t end_us = STATE_NO_END;
            struct bytes key = state_key(aggregate->table, entry);
            TRY(end_of_key(self, ctx->batch_arena, key, &end_us, err));
            if (end_us != state_bucket_end(bucket))
                TRY(move_group(aggregate, bucket, entry, end_us, err));
        }
    }
    return OK;
}

static enum status aggregate_begin(struct exec_node *self, struct exec_context *ctx,
                                   struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    touched_clear(&aggregate->touched);
    aggregate->dropped_until_us = INT64_MIN;
    aggregate->stats = (struct operator_stats){0};
    buffer_clear(&aggregate->moves);
    spill_begin(&aggregate->spill);
    if (!aggregate->restored)
        return OK;
    aggregate->restored = false;
    return settle(self, ctx, err);
}

static void touch(struct stream_aggregate *aggregate, const struct exec_context *ctx,
                  int64_t end_us, struct state_entry *entry)
{
    if (entry->stamp == ctx->run)
        return;
    entry->stamp = ctx->run;
    touched_add(&aggregate->touched, end_us, entry);
}

static enum status take_group(struct stream_aggregate *aggregate, struct exec_context *ctx,
                              struct state_bucket *bucket, const struct partial_group *group,
                              struct error *err)
{
    bool added = false;
    const struct state_entry *image = partial_entry(group);
    const struct aggregate_calls *calls = &aggregate->calls;
    struct state_entry *entry = state_take(aggregate->table, bucket, image, group->hash, &added);
    touch(aggregate, ctx, group->end_us, entry);
    if (added && calls->plain)
        return OK;
    if (added) { /* what the copied states point to goes away */
        memset(state_value(entry), 0, calls->block_bytes);
        aggregate_calls_init(calls, state_value(entry));
    }
    return aggregate_calls_merge(calls, calls->plain ? NULL : state_bucket_arena(bucket),
                                 state_value(entry), image->data, &aggregate->scratch, err);
}

/* Groups that are taken together, so that what they need of the table is on its way before. */
struct pulled {
    const struct partial_group *group;
    struct state_bucket *bucket;
};

/* The next groups that are not too late; fewer than PULL_GROUPS: there are no more. */
static uint32_t pull_groups(struct stream_aggregate *aggregate, const struct exec_context *ctx,
                            struct partial_reader *reader, struct pulled *pulled)
{
    bool drops = aggregate->has_end && ctx->mode != EMIT_COMPLETE;
    const struct partial_group *group = NULL;
    struct state_bucket *bucket = NULL;
    uint32_t count = 0;
    while (count < PULL_GROUPS && (group = partial_next(reader)) != NULL) {
        if (!exec_in_round(ctx, group->hash))
            continue;
        if (drops && group->end_us <= ctx->late_watermark_us) {
            aggregate->stats.rows_dropped++;
            continue;
        }
        if (bucket == NULL || state_bucket_end(bucket) != group->end_us)
            bucket = state_bucket_open(aggregate->table, group->end_us);
        state_bucket_prefetch(bucket, group->hash);
        pulled[count++] = (struct pulled){.group = group, .bucket = bucket};
    }
    return count;
}

/* The groups of a writer that are on the disk only come back into memory. */
static enum status fetch_groups(struct stream_aggregate *aggregate, const struct exec_context *ctx,
                                struct partial_reader reader, struct error *err)
{
    bool drops = aggregate->has_end && ctx->mode != EMIT_COMPLETE;
    int64_t late_us = drops ? ctx->late_watermark_us : INT64_MIN;
    struct loader loader = {.base = {.receive = load_group}, .aggregate = aggregate};
    struct state_table *table = aggregate->table;
    const struct partial_group *group = NULL;
    while ((group = partial_next(&reader)) != NULL) {
        struct bytes key = state_key(table, partial_entry(group));
        if (group->end_us <= late_us || !exec_in_round(ctx, group->hash) ||
            spill_find(&aggregate->spill, group->end_us) == NULL)
            continue;
        const struct state_bucket *bucket = state_bucket_find(table, group->end_us);
        if (bucket == NULL || state_find(table, bucket, key, group->hash) == NULL)
            spill_want(&aggregate->spill, group->end_us, group->hash, key);
    }
    return spill_fetch(&aggregate->spill, &loader.base, err);
}

/* Takes what a reader has; pieces in the memory of `writer` (NULL: they are not) go back. */
static enum status take_groups(struct stream_aggregate *aggregate, struct exec_context *ctx,
                               struct partial_reader reader, const struct exec_node *writer,
                               struct error *err)
{
    struct pulled pulled[PULL_GROUPS];
    const struct partial_piece *piece = reader.piece;
    uint32_t count = PULL_GROUPS;
    if (!spill_is_empty(&aggregate->spill))
        TRY(fetch_groups(aggregate, ctx, reader, err));
    while (count == PULL_GROUPS) {
        count = pull_groups(aggregate, ctx, &reader, pulled);
        for (uint32_t i = 0; i < count; i++)
            state_bucket_prefetch_entry(pulled[i].bucket, pulled[i].group->hash);
        for (uint32_t i = 0; i < count; i++)
            TRY(take_group(aggregate, ctx, pulled[i].bucket, pulled[i].group, err));
        if (reader.piece != piece && writer != NULL)
            partial_taken(writer, ctx->partition, &reader);
        piece = reader.piece;
    }
    return OK;
}

static enum status aggregate_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                  struct exec_node *writer, struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    CHECK(input == 0);
    struct partial_moved *moved = &aggregate->moved;
    struct partial_reader reader;
    for (;;) {
        TRY(partial_read_moved(writer, ctx, moved, &reader, err));
        if (reader.piece == NULL)
            break;
        TRY(take_groups(aggregate, ctx, reader, NULL, err));
    }
    partial_moved_fini(moved);
    bool last = ctx->round + 1 >= ctx->rounds;
    return take_groups(aggregate, ctx, partial_read(writer, ctx->run, ctx->partition),
                       last ? writer : NULL, err);
}

/* Collects groups and emits them, a batch at a time. */
struct emission {
    struct exec_node *node;
    struct exec_context *ctx;
    uint32_t count;
    struct bytes keys[BATCH_ROWS_MAX];
    uint8_t *blocks[BATCH_ROWS_MAX];
};

static enum status flush(struct emission *emission, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    const struct aggregate_calls *calls = &aggregate->calls;
    struct exec_context *ctx = emission->ctx;
    uint32_t count = emission->count;
    emission->count = 0;
    if (count == 0)
        return OK;
    void *memory = NULL;
    arena_reset(ctx->batch_arena);
    TRY(arena_alloc(ctx->batch_arena, calls->key_count + calls->count + 1, sizeof(struct vector *),
                    &memory, err));
    struct batch out = {.schema = emission->node->plan->schema,
                        .columns = memory,
                        .rows = count,
                        .selected = count};
    if (calls->key_count > 0)
        TRY(row_key_decode(ctx->batch_arena, calls->key_types, calls->key_count, emission->keys,
                           count, out.columns, err));
    TRY(aggregate_calls_finish(calls, ctx, emission->blocks, count, out.columns + calls->key_count,
                               err));
    return exec_emit(emission->node, ctx, &out, err);
}

static enum status emit(struct emission *emission, struct state_entry *entry, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    emission->keys[emission->count] = state_key(aggregate->table, entry);
    emission->blocks[emission->count++] = state_value(entry);
    return emission->count < BATCH_ROWS_MAX ? OK : flush(emission, err);
}

/* Emits the groups of the disk that memory does not have. */
struct passage {
    struct spill_receiver base;
    struct emission *emission;
    const struct state_bucket *bucket; /* in memory; NULL: none */
};

static enum status pass_group(struct spill_receiver *self, int64_t end_us, struct bytes key,
                              struct bytes value, struct error *err)
{
    struct passage *passage = (struct passage *)self;
    struct emission *emission = passage->emission;
    struct stream_aggregate *aggregate = emission->node->state;
    struct arena *arena = aggregate->passing;
    (void)end_us;
    if (passage->bucket != NULL &&
        state_find(aggregate->table, passage->bucket, key, state_hash(key)) != NULL)
        return OK;
    uint8_t *block = arena_new_object(arena, aggregate->calls.block_bytes + 8);
    aggregate_calls_init(&aggregate->calls, block);
    TRY(aggregate_calls_load(&aggregate->calls, arena, value, block, err));
    emission->keys[emission->count] = arena_copy(arena, key);
    emission->blocks[emission->count++] = block;
    if (emission->count < BATCH_ROWS_MAX && arena_used_bytes(arena) < PASSING_BYTES)
        return OK;
    TRY(flush(emission, err));
    arena_reset(arena);
    return OK;
}

static enum status emit_spilled(struct emission *emission, int64_t end_us, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    struct passage passage = {
        .base = {.receive = pass_group},
        .emission = emission,
        .bucket = state_bucket_find(aggregate->table, end_us),
    };
    if (spill_find(&aggregate->spill, end_us) == NULL)
        return OK;
    if (aggregate->passing == NULL)
        aggregate->passing = arena_new("passing groups", 0);
    TRY(spill_scan(&aggregate->spill, end_us, &passage.base, err));
    TRY(flush(emission, err));
    arena_reset(aggregate->passing);
    return OK;
}

/* All groups of a bucket, wherever they are. */
static enum status emit_bucket(struct emission *emission, int64_t end_us, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    const struct state_bucket *bucket = state_bucket_find(aggregate->table, end_us);
    while (bucket != NULL && (entry = state_next(aggregate->table, bucket, &cursor)) != NULL)
        TRY(emit(emission, entry, err));
    TRY(flush(emission, err)); /* before the bucket and its memory may go */
    return spill_is_empty(&aggregate->spill) ? OK : emit_spilled(emission, end_us, err);
}

/* The end of the first bucket, in memory or not, or of the first one after *end_us. */
static bool next_end(const struct stream_aggregate *aggregate, bool first, int64_t *end_us)
{
    const struct spill *spill = &aggregate->spill;
    const struct spill_bucket *spilled = first ? spill_first(spill) : spill_after(spill, *end_us);
    const struct state_bucket *bucket = state_bucket_after(aggregate->table, first, *end_us);
    if (bucket == NULL && spilled == NULL)
        return false;
    if (bucket == NULL || (spilled != NULL && spilled->end < state_bucket_end(bucket)))
        *end_us = spilled->end;
    else
        *end_us = state_bucket_end(bucket);
    return true;
}

static enum status emit_all(struct emission *emission, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    int64_t end_us = 0;
    for (bool found = next_end(aggregate, true, &end_us); found;
         found = next_end(aggregate, false, &end_us))
        TRY(emit_bucket(emission, end_us, err));
    return OK;
}

/* What the watermark has reached goes; in append mode it comes out first. */
static enum status evict(struct emission *emission, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    struct exec_context *ctx = emission->ctx;
    int64_t end_us = 0;
    if (!aggregate->has_end || ctx->mode == EMIT_COMPLETE)
        return OK;
    while (next_end(aggregate, true, &end_us) && end_us <= ctx->eviction_watermark_us &&
           end_us != STATE_NO_END) {
        if (ctx->mode == EMIT_APPEND)
            TRY(emit_bucket(emission, end_us, err));
        struct state_bucket *bucket = state_bucket_find(aggregate->table, end_us);
        aggregate->stats.rows_removed += spill_drop(&aggregate->spill, end_us);
        aggregate->dropped_until_us = end_us;
        if (bucket == NULL)
            continue;
        aggregate->stats.rows_removed += state_bucket_count(bucket);
        state_bucket_drop(aggregate->table, bucket);
    }
    return OK;
}

/* A group without keys is there in every batch, also without rows: in the partition to which the
 * writers give its rows. */
static void touch_global(struct stream_aggregate *aggregate, struct exec_context *ctx)
{
    struct bytes key = bytes_of_text("");
    uint64_t hash = state_hash(key);
    if (aggregate->calls.key_count > 0 || ctx->partition != hash_bucket(hash, ctx->partitions))
        return;
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(aggregate->table, STATE_NO_END);
    struct state_entry *entry = state_add(aggregate->table, bucket, key, hash, &added);
    if (added)
        aggregate_calls_init(&aggregate->calls, state_value(entry));
    touch(aggregate, ctx, STATE_NO_END, entry);
}

static struct emission *emission_new(struct exec_node *self, struct exec_context *ctx)
{
    struct emission *emission = heap_malloc(sizeof *emission);
    emission->node = self;
    emission->ctx = ctx;
    emission->count = 0;
    return emission;
}

/* In update mode the groups that the batch, or its round, has changed come out. */
static enum status emit_touched(struct emission *emission, struct error *err)
{
    struct stream_aggregate *aggregate = emission->node->state;
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    aggregate->stats.rows_updated += aggregate->touched.entries;
    while (emission->ctx->mode == EMIT_UPDATE &&
           (entry = touched_next(&aggregate->touched, &cursor)) != NULL)
        TRY(emit(emission, entry, err));
    return flush(emission, err);
}

static enum status aggregate_end_round(struct exec_node *self, struct exec_context *ctx,
                                       struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    struct emission *emission = emission_new(self, ctx);
    enum status status = emit_touched(emission, err);
    free(emission);
    return status;
}

static enum status aggregate_finish(struct exec_node *self, struct exec_context *ctx,
                                    struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    touch_global(aggregate, ctx);
    if (ctx->mode == EMIT_APPEND && state_table_count(aggregate->table) == 0 &&
        spill_is_empty(&aggregate->spill))
        return OK;
    struct emission *emission = emission_new(self, ctx);
    enum status status = OK;
    TRY_OUT(emit_touched(emission, err));
    if (ctx->mode == EMIT_COMPLETE)
        TRY_OUT(emit_all(emission, err));
    int64_t began_us = exec_clock_us(ctx);
    status = evict(emission, err);
    ctx->removal_us += exec_clock_us(ctx) - began_us;
out:
    free(emission);
    return status;
}

static enum status aggregate_changes(struct exec_node *self, struct exec_context *ctx,
                                     struct buffer *out, struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    (void)ctx;
    (void)err;
    struct changelog_run run = {.out = out};
    buffer_add_bytes(out, buffer_bytes(&aggregate->moves));
    buffer_fini(&aggregate->moves);
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&aggregate->touched, &cursor)) != NULL) {
        if (cursor.bucket <= aggregate->dropped_until_us)
            continue; /* the entry went with its bucket */
        buffer_clear(&aggregate->value);
        aggregate_calls_save(&aggregate->calls, state_value(entry), &aggregate->value,
                             &aggregate->scratch);
        changelog_run_put(&run, cursor.bucket, state_key(aggregate->table, entry),
                          buffer_bytes(&aggregate->value));
    }
    if (aggregate->dropped_until_us != INT64_MIN)
        changelog_drop(out, aggregate->dropped_until_us);
    return OK;
}

static void drop_until(struct stream_aggregate *aggregate, int64_t end_us)
{
    struct state_bucket *bucket = NULL;
    while ((bucket = state_bucket_next(aggregate->table, NULL)) != NULL &&
           state_bucket_end(bucket) <= end_us)
        state_bucket_drop(aggregate->table, bucket);
}

static enum status aggregate_restore(struct exec_node *self, const struct change *change,
                                     struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    if (change->kind == CHANGE_DROP) {
        drop_until(aggregate, change->bucket);
        spill_drop_until(&aggregate->spill, change->bucket);
        return OK;
    }
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(aggregate->table, change->bucket);
    aggregate->restored = true;
    if (change->kind == CHANGE_TAKE) {
        struct state_entry *gone =
            state_find(aggregate->table, bucket, change->key, state_hash(change->key));
        if (gone != NULL)
            state_remove(aggregate->table, bucket, gone);
        return spill_remove(&aggregate->spill, change->bucket, change->key, err);
    }
    struct state_entry *entry =
        state_add(aggregate->table, bucket, change->key, state_hash(change->key), &added);
    memset(state_value(entry), 0, aggregate->calls.block_bytes);
    aggregate_calls_init(&aggregate->calls, state_value(entry));
    struct arena *arena = aggregate->calls.plain ? NULL : state_bucket_arena(bucket);
    return aggregate_calls_load(&aggregate->calls, arena, change->value, state_value(entry), err);
}

static void aggregate_expect(struct exec_node *self, const struct change *change)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    const struct state_bucket *bucket = state_bucket_find(aggregate->table, change->bucket);
    if (bucket != NULL)
        state_bucket_prefetch(bucket, state_hash(change->key));
}

static void aggregate_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    *out = aggregate->stats;
    out->rows_total = state_table_count(aggregate->table) + spill_entries(&aggregate->spill);
    out->memory_bytes = state_table_bytes(aggregate->table) + spill_bytes(&aggregate->spill) +
                        touched_bytes(&aggregate->touched);
    stateful_spill_stats(&aggregate->spill, out);
}

static struct spill *aggregate_spill(struct exec_node *self)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    return aggregate->calls.key_count == 0 ? NULL : &aggregate->spill;
}

/* Groups on their way to the disk. */
struct leaving {
    struct spill_source base;
    struct stream_aggregate *aggregate;
};

static struct bytes leaving_key(struct spill_source *self, const void *item)
{
    return state_key(((struct leaving *)self)->aggregate->table, item);
}

static void leaving_value(struct spill_source *self, const void *item, struct buffer *out)
{
    struct stream_aggregate *aggregate = ((struct leaving *)self)->aggregate;
    const struct state_entry *entry = item;
    aggregate_calls_save(&aggregate->calls, entry->data, out, &aggregate->scratch);
}

static enum status let_bucket_go(struct stream_aggregate *aggregate, struct state_bucket *bucket,
                                 struct error *err)
{
    struct leaving leaving = {.base = {.key = leaving_key, .value = leaving_value},
                              .aggregate = aggregate};
    struct spill *spill = &aggregate->spill;
    int64_t end_us = state_bucket_end(bucket);
    struct state_cursor cursor = {0};
    const struct state_entry *entry = NULL;
    while ((entry = state_next(aggregate->table, bucket, &cursor)) != NULL)
        TRY(spill_put(spill, end_us, state_hash(state_key(aggregate->table, entry)), entry,
                      &leaving.base, err));
    TRY(spill_flush(spill, end_us, &leaving.base, err));
    state_bucket_drop(aggregate->table, bucket);
    spill_let_go(spill, end_us);
    return OK;
}

/* Windows that end first are the coldest: what comes late is little. */
static enum status aggregate_let_go(struct exec_node *self, uint64_t bytes, struct error *err)
{
    struct stream_aggregate *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    struct state_bucket *bucket = NULL;
    uint64_t before = state_table_bytes(aggregate->table);
    touched_fini(&aggregate->touched);
    while (before - state_table_bytes(aggregate->table) < bytes &&
           (bucket = state_bucket_next(aggregate->table, NULL)) != NULL)
        TRY(let_bucket_go(aggregate, bucket, err));
    spill_trim(&aggregate->spill);
    return OK;
}

static bool aggregate_wants_batch(const struct plan_node *node, enum emit_mode mode,
                                  int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    return mode != EMIT_COMPLETE && watermark_us > last_watermark_us;
}

static void aggregate_close(struct exec_node *self)
{
    struct stream_aggregate *aggregate = self->state;
    if (aggregate == NULL)
        return;
    state_table_free(aggregate->table);
    spill_fini(&aggregate->spill);
    arena_free(aggregate->passing);
    touched_fini(&aggregate->touched);
    buffer_fini(&aggregate->scratch);
    buffer_fini(&aggregate->value);
    buffer_fini(&aggregate->moves);
    partial_moved_fini(&aggregate->moved);
}

static const struct stateful_ops aggregate_stateful = {
    .name = "stateStoreSave",
    .writer = &node_partial_aggregate,
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

const struct exec_node_ops node_stream_aggregate = {
    .name = "Aggregate",
    .open = aggregate_open,
    .begin = aggregate_begin,
    .finish = aggregate_finish,
    .close = aggregate_close,
    .stateful = &aggregate_stateful,
};
