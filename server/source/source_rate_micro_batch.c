/*
 * rate-micro-batch: rowsPerBatch rows in every batch, all with the batch's start time.
 *
 * An offset is {"offset":10,"timestamp":1000}: the rows so far, and the time (milliseconds) of the
 * next batch.  There is always something new; a frozen source offers one batch.
 */
#include "source/source_rate.h"

#include "base/check.h"
#include "base/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_BATCH_MAGIC 0x4a7e0002U
#define PARTITIONS_MAX   10000

static const struct option_def rate_batch_options[] = {
    {"rowsPerBatch", OPTION_INT, 1, INT64_MAX, NULL, "Rows of every batch."},
    {"numPartitions", OPTION_INT, 1, PARTITIONS_MAX, NULL, "Splits of a batch."},
    {"startTimestamp", OPTION_INT, 0, INT64_MAX, "0", "Time of the first batch, milliseconds."},
    {"advanceMillisPerBatch", OPTION_INT, 0, INT64_MAX, "1000",
     "How much later the next batch is, milliseconds."},
    {0},
};

struct batch_offset {
    int64_t rows;
    int64_t time_ms;
};

struct rate_batch_source {
    struct source base;
    uint32_t magic;
    struct arena *query;
    const struct type *schema;
    struct rate_binding binding;
    const char *description;
    int64_t rows_per_batch;
    int64_t partitions;
    int64_t advance_ms;
    struct batch_offset next; /* where the next range starts */
    bool frozen;
    bool offered; /* since it was frozen */
};

static struct rate_batch_source *source_of(struct source *self)
{
    struct rate_batch_source *source = (struct rate_batch_source *)self;
    CHECK_MAGIC(source, RATE_BATCH_MAGIC);
    return source;
}

static void rate_batch_close(struct source *self)
{
    struct rate_batch_source *source = source_of(self);
    source->magic = 0;
    free(source);
}

static enum status parse_options(struct rate_batch_source *source, const struct options *options,
                                 struct error *err)
{
    const struct option_def *const tables[] = {rate_batch_options, NULL};
    TRY(options_check(options, tables, err));
    if (options_get(options, "rowsPerBatch") == NULL)
        return error_raise(err, STATUS_OPTION_REQUIRED, "option", "rowsPerBatch", "connector",
                           "rate-micro-batch", NULL);
    TRY(options_int(options, "rowsPerBatch", 1, INT64_MAX / 2, 0, &source->rows_per_batch, err));
    TRY(options_int(options, "numPartitions", 1, PARTITIONS_MAX, 1, &source->partitions, err));
    TRY(options_int(options, "startTimestamp", 0, INT64_MAX / 2000, 0, &source->next.time_ms, err));
    return options_int(options, "advanceMillisPerBatch", 0, INT64_MAX / 2000, 1000,
                       &source->advance_ms, err);
}

static enum status rate_batch_open(struct arena *query, const struct source_config *config,
                                   struct source **out, struct error *err)
{
    if (config->schema != NULL)
        return error_raise(err, STATUS_SCHEMA_NOT_ALLOWED, "connector", "rate-micro-batch", NULL);
    struct rate_batch_source *source = heap_calloc(1, sizeof *source);
    source->base.ops = &source_rate_micro_batch;
    source->magic = RATE_BATCH_MAGIC;
    source->query = query;
    source->schema = rate_schema(query);
    enum status status = parse_options(source, config->options, err);
    if (status != OK) {
        rate_batch_close(&source->base);
        return status;
    }
    const char *partitions = options_get(config->options, "numPartitions");
    source->description = arena_sprintf(
        query,
        "RatePerMicroBatchStream[rowsPerBatch=%" PRId64
        ", numPartitions=%s, startTimestamp=%" PRId64 ", advanceMsPerBatch=%" PRId64 "]",
        source->rows_per_batch, partitions == NULL ? "default" : partitions, source->next.time_ms,
        source->advance_ms);
    *out = &source->base;
    return OK;
}

static const struct type *rate_batch_schema(const struct source *self)
{
    return ((const struct rate_batch_source *)self)->schema;
}

static enum status rate_batch_bind(struct source *self, const uint32_t *columns, uint32_t count,
                                   struct error *err)
{
    (void)err;
    struct rate_batch_source *source = source_of(self);
    rate_bind(source->query, source->schema, columns, count, &source->binding);
    return OK;
}

static enum status parse_offset(struct bytes text, struct batch_offset *out, struct error *err)
{
    char copy[128];
    char end = '\0';
    if (text.size_bytes > 0 && text.size_bytes < sizeof copy) {
        memcpy(copy, text.data, text.size_bytes);
        copy[text.size_bytes] = '\0';
        // NOLINTNEXTLINE(cert-err34-c): the server wrote the numbers
        if (sscanf(copy, "{\"offset\":%" SCNd64 ",\"timestamp\":%" SCNd64 "%c", &out->rows,
                   &out->time_ms, &end) == 3 &&
            end == '}')
            return OK;
    }
    return error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path", "sources", "facts",
                       "an offset of a rate-micro-batch source cannot be read", NULL);
}

static enum status rate_batch_recover(struct source *self, const struct source_range *committed,
                                      const struct source_range *pending, size_t pending_count,
                                      struct error *err)
{
    struct rate_batch_source *source = source_of(self);
    if (committed != NULL)
        TRY(parse_offset(committed->end, &source->next, err));
    for (size_t i = 0; i < pending_count; i++)
        TRY(parse_offset(pending[i].end, &source->next, err));
    source->offered = pending_count > 0;
    return OK;
}

static enum status rate_batch_freeze(struct source *self, struct error *err)
{
    (void)err;
    source_of(self)->frozen = true;
    return OK;
}

static struct bytes offset_text(struct arena *batch, struct batch_offset offset)
{
    return bytes_of_text(arena_sprintf(batch, "{\"offset\":%" PRId64 ",\"timestamp\":%" PRId64 "}",
                                       offset.rows, offset.time_ms));
}

static enum status rate_batch_plan(struct source *self, bool unlimited, struct arena *batch,
                                   struct source_range *range, bool *found, struct error *err)
{
    (void)unlimited;
    struct rate_batch_source *source = source_of(self);
    *found = !(source->frozen && source->offered);
    if (!*found)
        return OK;
    struct batch_offset end = source->next;
    if (__builtin_add_overflow(end.rows, source->rows_per_batch, &end.rows) ||
        __builtin_add_overflow(end.time_ms, source->advance_ms, &end.time_ms))
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                           "the values of a rate-micro-batch source", "limit",
                           "9223372036854775807", NULL);
    range->start = offset_text(batch, source->next);
    range->end = offset_text(batch, end);
    source->next = end;
    source->offered = true;
    return OK;
}

static struct bytes rate_batch_latest(struct source *self, struct arena *batch)
{
    return offset_text(batch, source_of(self)->next);
}

static enum status rate_batch_splits(struct source *self, const struct source_range *range,
                                     struct arena *batch, struct source_split **out, size_t *count,
                                     struct error *err)
{
    struct rate_batch_source *source = source_of(self);
    struct batch_offset start = {0};
    struct batch_offset end = {0};
    TRY(parse_offset(range->start, &start, err));
    TRY(parse_offset(range->end, &end, err));
    char texts[4][24];
    (void)snprintf(texts[0], sizeof texts[0], "%" PRId64, start.rows);
    (void)snprintf(texts[1], sizeof texts[1], "%" PRId64, end.rows);
    (void)snprintf(texts[2], sizeof texts[2], "%" PRId64, start.time_ms);
    (void)snprintf(texts[3], sizeof texts[3], "%" PRId64, end.time_ms);
    if (start.rows > end.rows)
        return error_raise(err,
                           STATUS_MALFORMED_STATE_IN_RATE_PER_MICRO_BATCH_SOURCE__INVALID_OFFSET,
                           "startOffset", texts[0], "endOffset", texts[1], NULL);
    if (start.time_ms > end.time_ms)
        return error_raise(err,
                           STATUS_MALFORMED_STATE_IN_RATE_PER_MICRO_BATCH_SOURCE__INVALID_TIMESTAMP,
                           "startTimestamp", texts[2], "endTimestamp", texts[3], NULL);
    int64_t rows = end.rows - start.rows;
    size_t partitions = (size_t)(rows < source->partitions ? rows : source->partitions);
    struct source_split *splits = arena_new_object(batch, (partitions + 1) * sizeof *splits);
    for (size_t i = 0; i < partitions; i++) {
        struct rate_rows *detail = arena_new_object(batch, sizeof *detail);
        *detail = (struct rate_rows){
            .first = start.rows + (int64_t)i,
            .end = end.rows,
            .step = (int64_t)partitions,
            .base_us = start.time_ms * 1000,
        };
        uint64_t estimate = (uint64_t)rows / partitions;
        splits[i] = (struct source_split){
            .estimated_rows = estimate, .estimated_bytes = estimate * 16, .detail = detail};
    }
    *out = splits;
    *count = partitions;
    return OK;
}

static enum status rate_batch_read(struct source *self, const struct source_split *split,
                                   struct batch_receiver *receiver, struct error *err)
{
    struct rate_batch_source *source = source_of(self);
    return rate_deliver(split->detail, source->binding.bound, source->binding.columns, receiver,
                        err);
}

static const char *rate_batch_description(const struct source *self)
{
    return ((const struct rate_batch_source *)self)->description;
}

const struct source_ops source_rate_micro_batch = {
    .kind = "rate-micro-batch",
    .replayable = true,
    .options = rate_batch_options,
    .open = rate_batch_open,
    .schema = rate_batch_schema,
    .bind = rate_batch_bind,
    .recover = rate_batch_recover,
    .freeze = rate_batch_freeze,
    .plan = rate_batch_plan,
    .latest = rate_batch_latest,
    .splits = rate_batch_splits,
    .read = rate_batch_read,
    .description = rate_batch_description,
    .close = rate_batch_close,
};
