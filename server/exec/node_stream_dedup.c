/*
 * Deduplication over a stream: of the rows with equal values in the key columns the first one
 * passes; the keys seen are the state.
 *
 * dropDuplicates: a key is kept until the watermark has reached its event time, for ever if no key
 * column is one.  dropDuplicatesWithinWatermark: until it has reached the event time of the row
 * that came first, plus the delay of the watermark.
 *
 * Keys whose time is known when they are looked for (the first kind) stand in buckets of a second,
 * so that most go as a bucket; only in the bucket where the watermark stands they are looked at one
 * by one.  The others stand in one bucket, which is read through when the watermark has reached the
 * first of them.
 *
 * Of buckets that were let go (state/spill.h) the keys that a batch has rows for come back before
 * they are looked for; those that have ended are found by a pass over the disk, and go some at a
 * time.
 */
#include "base/check.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "exec/exchange.h"
#include "exec/node_exchange_writer.h"
#include "exec/stateful.h"
#include "exec/touched_list.h"
#include "state/spill.h"
#include "state/state_table.h"

#include <stdlib.h>

#define DEDUP_MAGIC 0x57adedc1U
#define BUCKET_US   1000000
#define VALUE_BYTES 8   /* the time at which the key ends */
#define GONE_BYTES  100 /* of memory to say that a key goes, besides twice the key */

struct gone {
    int64_t bucket;
    struct bytes key; /* in `gone_arena` */
};

struct stream_dedup {
    uint32_t magic;
    int time_column; /* that a key ends with; -1: none */
    int late_column; /* that says whether a row is too late; -1: none */
    int64_t delay_us;
    bool within;
    struct state_table *table;
    int64_t first_end_us;      /* within: no key ends before it */
    struct touched_list added; /* in the present batch */
    struct arena *gone_arena;
    struct gone *gone; /* taken one by one in the present batch */
    uint32_t gone_count;
    uint32_t gone_capacity;
    int64_t dropped_until_us; /* buckets; INT64_MIN: none */
    struct operator_stats stats;
    struct spill spill;
    struct arena *wanted; /* keys to fetch; NULL until needed */
    struct spill_walk walk;
    bool walking;     /* over a bucket on the disk, for keys that have ended */
    int64_t walk_end; /* of the bucket */
};

static enum status dedup_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_DEDUP);
    struct stream_dedup *dedup = arena_new_object(query, sizeof *dedup);
    self->state = dedup;
    dedup->magic = DEDUP_MAGIC;
    dedup->time_column = node->dedup.event_time_column;
    dedup->within = node->dedup.within_watermark;
    dedup->first_end_us = INT64_MAX;
    dedup->table = state_table_new(VALUE_BYTES);
    dedup->gone_arena = arena_new("dedup", 0);
    dedup->late_column = event_time_ordinal(node->children[0]);
    dedup->delay_us = event_time_delay_us(node);
    return OK;
}

static enum status dedup_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    touched_clear(&dedup->added);
    dedup->gone_count = 0;
    dedup->dropped_until_us = INT64_MIN;
    dedup->stats = (struct operator_stats){0};
    arena_reset(dedup->gone_arena);
    spill_begin(&dedup->spill);
    struct state_bucket *bucket = NULL;
    while ((bucket = state_bucket_next(dedup->table, bucket)) != NULL)
        state_bucket_pack(dedup->table, bucket);
    return OK;
}

static int64_t end_value(struct state_entry *entry)
{
    int64_t end_us = 0;
    memcpy(&end_us, state_value(entry), sizeof end_us);
    return end_us;
}

static int64_t bucket_of(const struct stream_dedup *dedup, int64_t time_us)
{
    if (dedup->within || time_us == STATE_NO_END)
        return STATE_NO_END;
    int64_t past = time_us % BUCKET_US;
    if (past < 0)
        past += BUCKET_US;
    int64_t bucket = 0;
    if (past == 0 || __builtin_add_overflow(time_us, BUCKET_US - past, &bucket))
        return time_us;
    return bucket;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX - 1 : sum;
}

/* Whether the key is new. */
static bool see(struct stream_dedup *dedup, struct bytes key, uint64_t hash, int64_t time_us)
{
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(dedup->table, bucket_of(dedup, time_us));
    struct state_entry *entry = state_add(dedup->table, bucket, key, hash, &added);
    if (!added)
        return false;
    int64_t end_us = time_us;
    if (dedup->within && time_us != STATE_NO_END)
        end_us = add_saturating(time_us, dedup->delay_us);
    memcpy(state_value(entry), &end_us, sizeof end_us);
    if (end_us < dedup->first_end_us)
        dedup->first_end_us = end_us;
    touched_add(&dedup->added, state_bucket_end(bucket), entry);
    return true;
}

static enum status encode_keys(struct exec_node *self, struct exec_context *ctx,
                               const struct batch *batch, struct bytes **out, struct error *err)
{
    uint32_t count = self->plan->dedup.column_count;
    struct vector **columns = arena_new_object(ctx->batch_arena, (count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = batch->columns[self->plan->dedup.columns[i]];
    *out = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof **out);
    return row_key_encode(ctx->batch_arena, columns, count, batch->selection, batch->selected, *out,
                          err);
}

static bool is_late(const struct stream_dedup *dedup, const struct exec_context *ctx,
                    const struct batch *batch, uint32_t row)
{
    return dedup->late_column >= 0 &&
           event_time_at(batch->columns[dedup->late_column], row) <= ctx->late_watermark_us;
}

static int64_t time_of(const struct stream_dedup *dedup, const struct batch *batch, uint32_t row)
{
    if (dedup->time_column < 0)
        return STATE_NO_END;
    int64_t time_us = event_time_at(batch->columns[dedup->time_column], row);
    /* A key without a time is forgotten as one of 1970. */
    return dedup->within && time_us == EVENT_TIME_NONE ? 0 : time_us;
}

static enum status dedup_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    CHECK(input == 0);
    struct bytes *keys = NULL;
    TRY(encode_keys(self, ctx, batch, &keys, err));
    uint16_t *kept = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *kept);
    struct batch out = *batch;
    out.schema = self->plan->schema;
    out.selection = kept;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        uint64_t hash = state_hash(keys[i]);
        if (!exec_in_round(ctx, hash))
            continue;
        if (is_late(dedup, ctx, batch, row))
            dedup->stats.rows_dropped++;
        else if (see(dedup, keys[i], hash, time_of(dedup, batch, row)))
            kept[out.selected++] = (uint16_t)row;
        else
            dedup->stats.duplicates++;
    }
    return exec_emit(self, ctx, &out, err);
}

/* Notes the keys of a batch that may be on the disk only. */
static enum status want_keys(struct exec_node *self, struct exec_context *ctx,
                             const struct batch *batch, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    struct bytes *keys = NULL;
    TRY(encode_keys(self, ctx, batch, &keys, err));
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        int64_t end_us = bucket_of(dedup, time_of(dedup, batch, row));
        uint64_t hash = state_hash(keys[i]);
        if (!exec_in_round(ctx, hash) || is_late(dedup, ctx, batch, row) ||
            spill_find(&dedup->spill, end_us) == NULL)
            continue;
        const struct state_bucket *bucket = state_bucket_find(dedup->table, end_us);
        if (bucket == NULL || state_find(dedup->table, bucket, keys[i], hash) == NULL)
            spill_want(&dedup->spill, end_us, hash, arena_copy(dedup->wanted, keys[i]));
    }
    return OK;
}

struct loader {
    struct spill_receiver base;
    struct stream_dedup *dedup;
    int64_t watermark_us;
    int64_t first_us; /* of those that stay */
    uint64_t gone;
};

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of dropDuplicates", NULL);
}

static enum status load_key(struct spill_receiver *self, int64_t end_us, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct stream_dedup *dedup = ((struct loader *)self)->dedup;
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(dedup->table, end_us);
    struct state_entry *entry = state_add(dedup->table, bucket, key, state_hash(key), &added);
    if (value.size_bytes != VALUE_BYTES)
        return damaged(err);
    memcpy(state_value(entry), value.data, VALUE_BYTES);
    return OK;
}

static enum status dedup_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              struct exec_node *writer, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    struct loader loader = {.base = {.receive = load_key}, .dedup = dedup};
    if (spill_is_empty(&dedup->spill))
        return exchange_pull(self, ctx, input, writer, err);
    if (dedup->wanted == NULL)
        dedup->wanted = arena_new("wanted keys", 0);
    TRY(exchange_look(writer, self, ctx, want_keys, err));
    TRY(spill_fetch(&dedup->spill, &loader.base, err));
    arena_reset(dedup->wanted);
    return exchange_pull(self, ctx, input, writer, err);
}

static void note_gone(struct stream_dedup *dedup, int64_t bucket, struct bytes key)
{
    if (dedup->gone_count == dedup->gone_capacity) {
        dedup->gone_capacity = dedup->gone_capacity == 0 ? 256 : dedup->gone_capacity * 2;
        dedup->gone = heap_realloc(dedup->gone, dedup->gone_capacity * sizeof *dedup->gone);
    }
    dedup->gone[dedup->gone_count++] = (struct gone){
        .bucket = bucket,
        .key = arena_copy(dedup->gone_arena, key),
    };
    dedup->stats.rows_removed++;
}

/* A key that is on the disk only. */
static enum status sift_spilled(struct spill_receiver *self, int64_t bucket_end, struct bytes key,
                                struct bytes value, struct error *err)
{
    struct loader *loader = (struct loader *)self;
    struct stream_dedup *dedup = loader->dedup;
    const struct state_bucket *bucket = state_bucket_find(dedup->table, bucket_end);
    int64_t end_us = 0;
    if (value.size_bytes != VALUE_BYTES)
        return damaged(err);
    if (bucket != NULL && state_find(dedup->table, bucket, key, state_hash(key)) != NULL)
        return OK;
    memcpy(&end_us, value.data, sizeof end_us);
    if (end_us > loader->watermark_us || end_us == STATE_NO_END) {
        if (end_us < loader->first_us)
            loader->first_us = end_us;
        return OK;
    }
    spill_walk_take(&dedup->walk, GONE_BYTES + 2 * key.size_bytes);
    note_gone(dedup, bucket_end, key);
    loader->gone++;
    return OK;
}

static struct bytes gone_key(struct spill_source *self, const void *item)
{
    (void)self;
    return ((const struct gone *)item)->key;
}

/* What is gone of a bucket is gone on the disk, too. */
static enum status forget_gone(struct stream_dedup *dedup, int64_t bucket_end, struct error *err)
{
    struct spill_source source = {.key = gone_key};
    for (uint32_t i = 0; i < dedup->gone_count; i++)
        if (dedup->gone[i].bucket == bucket_end)
            TRY(spill_put(&dedup->spill, bucket_end, state_hash(dedup->gone[i].key),
                          &dedup->gone[i], &source, err));
    return spill_flush(&dedup->spill, bucket_end, &source, err);
}

/* Goes on with the walk over the bucket on the disk, for what has ended. */
static enum status walk_on(struct stream_dedup *dedup, struct loader *loader, uint64_t room,
                           struct error *err)
{
    struct spill_bucket *spilled = spill_find(&dedup->spill, dedup->walk_end);
    dedup->walk.room = room;
    TRY(spill_walk(&dedup->spill, dedup->walk_end, &dedup->walk, &loader->base, err));
    if (spilled != NULL)
        spilled->entries -= loader->gone < spilled->entries ? loader->gone : spilled->entries;
    dedup->walking = !dedup->walk.over;
    return OK;
}

/* Looks at the keys of a bucket one by one: those of the disk first, because what memory has is
 * left out there. */
static enum status sift(struct stream_dedup *dedup, int64_t watermark_us, uint64_t room,
                        struct error *err)
{
    int64_t bucket_end = dedup->walk_end;
    struct loader loader = {.base = {.receive = sift_spilled},
                            .dedup = dedup,
                            .watermark_us = watermark_us,
                            .first_us = dedup->walking ? dedup->first_end_us : INT64_MAX};
    struct state_bucket *bucket = state_bucket_find(dedup->table, bucket_end);
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    if (!dedup->walking)
        dedup->walk = (struct spill_walk){0};
    TRY(walk_on(dedup, &loader, room, err));
    while (bucket != NULL && (entry = state_next(dedup->table, bucket, &cursor)) != NULL) {
        int64_t end_us = end_value(entry);
        if (end_us <= watermark_us && end_us != STATE_NO_END) {
            note_gone(dedup, bucket_end, state_key(dedup->table, entry));
            state_remove(dedup->table, bucket, entry);
        } else if (end_us < loader.first_us) {
            loader.first_us = end_us;
        }
    }
    if (dedup->within)
        dedup->first_end_us = loader.first_us;
    return spill_find(&dedup->spill, bucket_end) == NULL ? OK : forget_gone(dedup, bucket_end, err);
}

/* The end of the first bucket, in memory or not. */
static bool first_bucket(const struct stream_dedup *dedup, int64_t *end_us)
{
    const struct spill_bucket *spilled = spill_first(&dedup->spill);
    const struct state_bucket *bucket = state_bucket_next(dedup->table, NULL);
    *end_us = bucket == NULL ? INT64_MAX : state_bucket_end(bucket);
    if (spilled != NULL && spilled->end < *end_us)
        *end_us = spilled->end;
    return bucket != NULL || spilled != NULL;
}

/* The bucket of which a part may have ended: the first that ends behind the watermark. */
static bool partly_ended(const struct stream_dedup *dedup, int64_t watermark_us, int64_t *end_us)
{
    const struct spill_bucket *spilled = spill_after(&dedup->spill, watermark_us);
    struct state_bucket *bucket = state_bucket_next(dedup->table, NULL);
    while (bucket != NULL && state_bucket_end(bucket) <= watermark_us)
        bucket = state_bucket_next(dedup->table, bucket);
    *end_us = bucket == NULL ? INT64_MAX : state_bucket_end(bucket);
    if (spilled != NULL && spilled->end < *end_us)
        *end_us = spilled->end;
    if ((bucket == NULL && spilled == NULL) || dedup->time_column < 0)
        return false;
    return dedup->within ? dedup->first_end_us <= watermark_us : *end_us - BUCKET_US < watermark_us;
}

static enum status dedup_expire(struct exec_node *self, struct exec_context *ctx, uint64_t room,
                                bool *more, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    *more = false;
    if (!dedup->walking && !partly_ended(dedup, ctx->eviction_watermark_us, &dedup->walk_end))
        return OK;
    TRY(sift(dedup, ctx->eviction_watermark_us, room, err));
    *more = dedup->walking;
    if (*more)
        dedup->stats.rows_updated += dedup->added.entries; /* which are let go */
    return OK;
}

/* Rows have come out as they came. */
static enum status dedup_end_round(struct exec_node *self, struct exec_context *ctx,
                                   struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    (void)ctx;
    (void)err;
    dedup->stats.rows_updated += dedup->added.entries;
    return OK;
}

/* Whole buckets go. */
static enum status dedup_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    (void)err;
    dedup->stats.rows_updated += dedup->added.entries;
    int64_t watermark_us = ctx->eviction_watermark_us;
    int64_t end_us = 0;
    int64_t began_us = exec_clock_us(ctx);
    while (first_bucket(dedup, &end_us) && end_us <= watermark_us && end_us != STATE_NO_END) {
        struct state_bucket *bucket = state_bucket_find(dedup->table, end_us);
        dedup->stats.rows_removed += spill_drop(&dedup->spill, end_us);
        dedup->dropped_until_us = end_us;
        if (bucket == NULL)
            continue;
        dedup->stats.rows_removed += state_bucket_count(bucket);
        state_bucket_drop(dedup->table, bucket);
    }
    ctx->removal_us += exec_clock_us(ctx) - began_us;
    return OK;
}

static enum status dedup_changes(struct exec_node *self, struct exec_context *ctx,
                                 struct buffer *out, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    (void)ctx;
    (void)err;
    struct changelog_run run = {.out = out};
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&dedup->added, &cursor)) != NULL) {
        if (cursor.bucket <= dedup->dropped_until_us)
            continue; /* the entry went with its bucket */
        changelog_run_put(&run, cursor.bucket, state_key(dedup->table, entry),
                          bytes_of(state_value(entry), VALUE_BYTES));
    }
    for (uint32_t i = 0; i < dedup->gone_count; i++)
        changelog_take(out, dedup->gone[i].bucket, dedup->gone[i].key);
    if (dedup->dropped_until_us != INT64_MIN)
        changelog_drop(out, dedup->dropped_until_us);
    return OK;
}

static enum status dedup_restore(struct exec_node *self, const struct change *change,
                                 struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    struct state_bucket *bucket = NULL;
    bool added = false;
    if (change->kind == CHANGE_DROP) {
        while ((bucket = state_bucket_next(dedup->table, NULL)) != NULL &&
               state_bucket_end(bucket) <= change->bucket)
            state_bucket_drop(dedup->table, bucket);
        spill_drop_until(&dedup->spill, change->bucket);
        return OK;
    }
    bucket = state_bucket_open(dedup->table, change->bucket);
    uint64_t hash = state_hash(change->key);
    if (change->kind == CHANGE_TAKE) {
        struct state_entry *entry = state_find(dedup->table, bucket, change->key, hash);
        if (entry != NULL)
            state_remove(dedup->table, bucket, entry);
        return spill_remove(&dedup->spill, change->bucket, change->key, err);
    }
    if (change->value.size_bytes != VALUE_BYTES)
        return damaged(err);
    struct state_entry *entry = state_add(dedup->table, bucket, change->key, hash, &added);
    memcpy(state_value(entry), change->value.data, VALUE_BYTES);
    if (end_value(entry) < dedup->first_end_us)
        dedup->first_end_us = end_value(entry);
    return OK;
}

static void dedup_expect(struct exec_node *self, const struct change *change)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    const struct state_bucket *bucket = state_bucket_find(dedup->table, change->bucket);
    if (bucket != NULL)
        state_bucket_prefetch(bucket, state_hash(change->key));
}

static void dedup_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    *out = dedup->stats;
    out->rows_total = state_table_count(dedup->table) + spill_entries(&dedup->spill);
    out->memory_bytes = state_table_bytes(dedup->table) + spill_bytes(&dedup->spill) +
                        touched_bytes(&dedup->added) + dedup->gone_capacity * sizeof *dedup->gone +
                        arena_used_bytes(dedup->gone_arena);
    stateful_spill_stats(&dedup->spill, out);
}

static struct spill *dedup_spill(struct exec_node *self)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    return &dedup->spill;
}

/* Keys on their way to the disk. */
struct leaving {
    struct spill_source base;
    const struct stream_dedup *dedup;
};

static struct bytes leaving_key(struct spill_source *self, const void *item)
{
    return state_key(((struct leaving *)self)->dedup->table, item);
}

static void leaving_value(struct spill_source *self, const void *item, struct buffer *out)
{
    const struct state_entry *entry = item;
    (void)self;
    buffer_add(out, entry->data, VALUE_BYTES);
}

static enum status let_bucket_go(struct stream_dedup *dedup, struct state_bucket *bucket,
                                 struct error *err)
{
    struct leaving leaving = {.base = {.key = leaving_key, .value = leaving_value}, .dedup = dedup};
    int64_t end_us = state_bucket_end(bucket);
    struct state_cursor cursor = {0};
    const struct state_entry *entry = NULL;
    while ((entry = state_next(dedup->table, bucket, &cursor)) != NULL)
        TRY(spill_put(&dedup->spill, end_us, state_hash(state_key(dedup->table, entry)), entry,
                      &leaving.base, err));
    TRY(spill_flush(&dedup->spill, end_us, &leaving.base, err));
    state_bucket_drop(dedup->table, bucket);
    spill_let_go(&dedup->spill, end_us);
    return OK;
}

static enum status dedup_let_go(struct exec_node *self, uint64_t bytes, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    struct state_bucket *bucket = NULL;
    uint64_t before = state_table_bytes(dedup->table);
    touched_fini(&dedup->added);
    free(dedup->gone);
    dedup->gone = NULL;
    dedup->gone_count = dedup->gone_capacity = 0;
    arena_reset(dedup->gone_arena);
    arena_trim(dedup->gone_arena);
    while (before - state_table_bytes(dedup->table) < bytes &&
           (bucket = state_bucket_next(dedup->table, NULL)) != NULL)
        TRY(let_bucket_go(dedup, bucket, err));
    spill_trim(&dedup->spill);
    return OK;
}

static bool dedup_wants_batch(const struct plan_node *node, enum emit_mode mode,
                              int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    (void)mode;
    return watermark_us > last_watermark_us;
}

static void dedup_close(struct exec_node *self)
{
    struct stream_dedup *dedup = self->state;
    if (dedup == NULL)
        return;
    state_table_free(dedup->table);
    arena_free(dedup->gone_arena);
    arena_free(dedup->wanted);
    spill_fini(&dedup->spill);
    touched_fini(&dedup->added);
    free(dedup->gone);
}

static const struct stateful_ops dedup_stateful = {
    .name = "dedupe",
    .writer = &node_exchange_writer,
    .pull = dedup_pull,
    .changes = dedup_changes,
    .restore = dedup_restore,
    .expect = dedup_expect,
    .stats = dedup_stats,
    .spill = dedup_spill,
    .let_go = dedup_let_go,
    .end_round = dedup_end_round,
    .expire = dedup_expire,
    .wants_batch = dedup_wants_batch,
};

const struct exec_node_ops node_stream_dedup = {
    .name = "Dedup",
    .open = dedup_open,
    .begin = dedup_begin,
    .push = dedup_push,
    .finish = dedup_finish,
    .close = dedup_close,
    .stateful = &dedup_stateful,
};
