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
 */
#include "base/check.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "exec/node_exchange_writer.h"
#include "exec/stateful.h"
#include "state/state_table.h"

#include <stdlib.h>

#define DEDUP_MAGIC 0x57adedc1U
#define BUCKET_US   1000000
#define VALUE_BYTES 8 /* the time at which the key ends */

struct gone {
    int64_t bucket;
    struct bytes key; /* in `gone_arena` */
};

struct added {
    int64_t bucket;
    struct state_entry *entry;
};

struct stream_dedup {
    uint32_t magic;
    int time_column; /* that a key ends with; -1: none */
    int late_column; /* that says whether a row is too late; -1: none */
    int64_t delay_us;
    bool within;
    struct state_table *table;
    int64_t first_end_us; /* within: no key ends before it */
    struct added *added;  /* in the present batch */
    uint32_t added_count;
    uint32_t added_capacity;
    struct arena *gone_arena;
    struct gone *gone; /* taken one by one in the present batch */
    uint32_t gone_count;
    uint32_t gone_capacity;
    int64_t dropped_until_us; /* buckets; INT64_MIN: none */
    struct operator_stats stats;
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
    dedup->added_count = 0;
    dedup->gone_count = 0;
    dedup->dropped_until_us = INT64_MIN;
    dedup->stats = (struct operator_stats){0};
    arena_reset(dedup->gone_arena);
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

static void remember_added(struct stream_dedup *dedup, struct state_bucket *bucket,
                           struct state_entry *entry)
{
    if (dedup->added_count == dedup->added_capacity) {
        dedup->added_capacity = dedup->added_capacity == 0 ? 256 : dedup->added_capacity * 2;
        dedup->added = realloc(dedup->added, dedup->added_capacity * sizeof *dedup->added);
        CHECK(dedup->added != NULL);
    }
    dedup->added[dedup->added_count++] =
        (struct added){.bucket = state_bucket_end(bucket), .entry = entry};
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX - 1 : sum;
}

/* Whether the key is new. */
static bool see(struct stream_dedup *dedup, struct bytes key, int64_t time_us)
{
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(dedup->table, bucket_of(dedup, time_us));
    struct state_entry *entry = state_add(dedup->table, bucket, key, state_hash(key), &added);
    if (!added)
        return false;
    int64_t end_us = time_us;
    if (dedup->within && time_us != STATE_NO_END)
        end_us = add_saturating(time_us, dedup->delay_us);
    memcpy(state_value(entry), &end_us, sizeof end_us);
    if (end_us < dedup->first_end_us)
        dedup->first_end_us = end_us;
    remember_added(dedup, bucket, entry);
    return true;
}

static enum status dedup_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    CHECK(input == 0);
    uint32_t count = self->plan->dedup.column_count;
    struct vector **columns = arena_new_object(ctx->batch_arena, (count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = batch->columns[self->plan->dedup.columns[i]];
    struct bytes *keys = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *keys);
    uint16_t *kept = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *kept);
    TRY(row_key_encode(ctx->batch_arena, columns, count, batch->selection, batch->selected, keys,
                       err));
    struct batch out = *batch;
    out.schema = self->plan->schema;
    out.selection = kept;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        int64_t time_us = dedup->time_column < 0
                              ? STATE_NO_END
                              : event_time_at(batch->columns[dedup->time_column], row);
        if (dedup->late_column >= 0 &&
            event_time_at(batch->columns[dedup->late_column], row) <= ctx->late_watermark_us)
            dedup->stats.rows_dropped++;
        else if (see(dedup, keys[i], time_us))
            kept[out.selected++] = (uint16_t)row;
        else
            dedup->stats.duplicates++;
    }
    return exec_emit(self, ctx, &out, err);
}

static void take_entry(struct stream_dedup *dedup, struct state_bucket *bucket,
                       struct state_entry *entry)
{
    if (dedup->gone_count == dedup->gone_capacity) {
        dedup->gone_capacity = dedup->gone_capacity == 0 ? 256 : dedup->gone_capacity * 2;
        dedup->gone = realloc(dedup->gone, dedup->gone_capacity * sizeof *dedup->gone);
        CHECK(dedup->gone != NULL);
    }
    dedup->gone[dedup->gone_count++] = (struct gone){
        .bucket = state_bucket_end(bucket),
        .key = arena_copy(dedup->gone_arena, state_key(dedup->table, entry)),
    };
    state_remove(dedup->table, bucket, entry);
    dedup->stats.rows_removed++;
}

/* Looks at the keys of a bucket one by one. */
static void sift(struct stream_dedup *dedup, struct state_bucket *bucket, int64_t watermark_us)
{
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    int64_t first_us = INT64_MAX;
    while ((entry = state_next(dedup->table, bucket, &cursor)) != NULL) {
        int64_t end_us = end_value(entry);
        if (end_us <= watermark_us && end_us != STATE_NO_END)
            take_entry(dedup, bucket, entry);
        else if (end_us < first_us)
            first_us = end_us;
    }
    if (dedup->within)
        dedup->first_end_us = first_us;
}

static enum status dedup_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    (void)err;
    dedup->stats.rows_updated = dedup->added_count;
    int64_t watermark_us = ctx->eviction_watermark_us;
    struct state_bucket *bucket = NULL;
    while ((bucket = state_bucket_next(dedup->table, NULL)) != NULL &&
           state_bucket_end(bucket) <= watermark_us && state_bucket_end(bucket) != STATE_NO_END) {
        dedup->stats.rows_removed += state_bucket_count(bucket);
        dedup->dropped_until_us = state_bucket_end(bucket);
        state_bucket_drop(dedup->table, bucket);
    }
    if (bucket != NULL && dedup->time_column >= 0 &&
        (dedup->within ? dedup->first_end_us <= watermark_us
                       : state_bucket_end(bucket) - BUCKET_US < watermark_us))
        sift(dedup, bucket, watermark_us);
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
    for (uint32_t i = 0; i < dedup->added_count; i++) {
        const struct added *added = &dedup->added[i];
        if (added->bucket <= dedup->dropped_until_us)
            continue; /* the entry went with its bucket */
        changelog_run_put(&run, added->bucket, state_key(dedup->table, added->entry),
                          bytes_of(state_value(added->entry), VALUE_BYTES));
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
        return OK;
    }
    bucket = state_bucket_open(dedup->table, change->bucket);
    uint64_t hash = state_hash(change->key);
    if (change->kind == CHANGE_TAKE) {
        struct state_entry *entry = state_find(dedup->table, bucket, change->key, hash);
        if (entry != NULL)
            state_remove(dedup->table, bucket, entry);
        return OK;
    }
    if (change->value.size_bytes != VALUE_BYTES)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of dropDuplicates",
                           NULL);
    struct state_entry *entry = state_add(dedup->table, bucket, change->key, hash, &added);
    memcpy(state_value(entry), change->value.data, VALUE_BYTES);
    if (end_value(entry) < dedup->first_end_us)
        dedup->first_end_us = end_value(entry);
    return OK;
}

static enum status dedup_dump(struct exec_node *self, struct buffer *out, struct error *err)
{
    struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    (void)err;
    struct changelog_run run = {.out = out};
    struct state_bucket *bucket = NULL;
    while ((bucket = state_bucket_next(dedup->table, bucket)) != NULL) {
        struct state_cursor cursor = {0};
        struct state_entry *entry = NULL;
        while ((entry = state_next(dedup->table, bucket, &cursor)) != NULL)
            changelog_run_put(&run, state_bucket_end(bucket), state_key(dedup->table, entry),
                              bytes_of(state_value(entry), VALUE_BYTES));
    }
    return OK;
}

static void dedup_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct stream_dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    *out = dedup->stats;
    out->rows_total = state_table_count(dedup->table);
    out->memory_bytes = state_table_bytes(dedup->table);
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
    free(dedup->added);
    free(dedup->gone);
}

static const struct stateful_ops dedup_stateful = {
    .name = "dedupe",
    .writer = &node_exchange_writer,
    .pull = exchange_pull,
    .changes = dedup_changes,
    .restore = dedup_restore,
    .dump = dedup_dump,
    .stats = dedup_stats,
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
