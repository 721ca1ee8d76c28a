/*
 * Watermark: lets every row pass and remembers the event times it saw, from which the worker
 * computes the watermark of the next batch.
 */
#include "exec/node_watermark.h"

#include "base/check.h"
#include "exec/event_time.h"

#define WATERMARK_MAGIC 0x3a7e4301U
#define FAR_MS          ((int64_t)1 << 50) /* BATCH_ROWS_MAX of them have a sum of 64 bits */

struct watermark {
    uint32_t magic;
    struct event_time_stats stats;
};

static enum status watermark_open(struct exec_node *self, struct arena *query,
                                  const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_WATERMARK);
    CHECK(node->watermark.column >= 0 &&
          (uint32_t)node->watermark.column < node->schema->field_count);
    struct watermark *watermark = arena_new_object(query, sizeof *watermark);
    watermark->magic = WATERMARK_MAGIC;
    self->state = watermark;
    return OK;
}

static enum status watermark_begin(struct exec_node *self, struct exec_context *ctx,
                                   struct error *err)
{
    (void)ctx;
    (void)err;
    struct watermark *watermark = self->state;
    watermark->stats = (struct event_time_stats){0};
    return OK;
}

static int64_t floor_ms(int64_t time_us)
{
    return time_us / 1000 - (time_us % 1000 < 0);
}

static void add_time(struct event_time_stats *stats, int64_t time_ms)
{
    if (stats->count == 0 || time_ms < stats->min_ms)
        stats->min_ms = time_ms;
    if (stats->count == 0 || time_ms > stats->max_ms)
        stats->max_ms = time_ms;
    stats->sum_ms += (double)time_ms;
    stats->count++;
}

/* The event time is a TIMESTAMP, or the last microsecond of a window. */
static const struct vector *time_of(const struct vector *column)
{
    return column->type->id == TYPE_STRUCT ? column->children[event_time_field(column->type)]
                                           : column;
}

/* Times without NULLs, summed as integers.  `back_us` is taken off each.  False: they are too far
 * away for that, and nothing has been added. */
static bool add_times(struct event_time_stats *stats, const struct batch *batch,
                      const int64_t *times_us, int64_t back_us)
{
    uint64_t sum_ms = 0;
    int64_t min_us = INT64_MAX;
    int64_t max_us = INT64_MIN;
    for (uint32_t i = 0; i < batch->selected; i++) {
        int64_t time_us = times_us[batch_row(batch, i)];
        min_us = time_us < min_us ? time_us : min_us;
        max_us = time_us > max_us ? time_us : max_us;
        sum_ms += (uint64_t)floor_ms((int64_t)((uint64_t)time_us - (uint64_t)back_us));
    }
    if (batch->selected == 0 || floor_ms(min_us) < -FAR_MS || floor_ms(max_us) > FAR_MS)
        return false;
    struct event_time_stats more = {.count = batch->selected,
                                    .min_ms = floor_ms(min_us - back_us),
                                    .max_ms = floor_ms(max_us - back_us),
                                    .sum_ms = (double)(int64_t)sum_ms};
    event_time_stats_merge(stats, &more);
    return true;
}

static enum status watermark_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                  const struct batch *batch, struct error *err)
{
    struct watermark *watermark = self->state;
    CHECK_MAGIC(watermark, WATERMARK_MAGIC);
    CHECK(input == 0);
    const struct vector *column = batch->columns[self->plan->watermark.column];
    const struct vector *time = time_of(column);
    const int64_t *cells = VECTOR_VALUES(const int64_t, time);
    bool plain = column->validity == NULL && time->validity == NULL && !column->constant &&
                 !time->constant && time->type->id != TYPE_VOID;
    int64_t back_us = time == column ? 0 : 1;
    if (plain && add_times(&watermark->stats, batch, cells, back_us))
        return exec_emit(self, ctx, batch, err);
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        bool is_null = vector_is_null(column, row);
        if (!is_null && time != column) {
            row = vector_index(column, row);
            is_null = vector_is_null(time, row);
        }
        int64_t time_us = is_null ? 0 : cells[vector_index(time, row)];
        if (!is_null && time_us > INT64_MIN)
            time_us -= back_us;
        add_time(&watermark->stats, floor_ms(time_us));
    }
    return exec_emit(self, ctx, batch, err);
}

void event_time_stats_merge(struct event_time_stats *into, const struct event_time_stats *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min_ms < into->min_ms)
        into->min_ms = from->min_ms;
    if (into->count == 0 || from->max_ms > into->max_ms)
        into->max_ms = from->max_ms;
    into->sum_ms += from->sum_ms;
    into->count += from->count;
}

const struct event_time_stats *node_watermark_stats(const struct exec_node *self)
{
    const struct watermark *watermark = self->state;
    CHECK_MAGIC(watermark, WATERMARK_MAGIC);
    return &watermark->stats;
}

const struct exec_node_ops node_watermark = {
    .name = "Watermark",
    .open = watermark_open,
    .begin = watermark_begin,
    .push = watermark_push,
};
