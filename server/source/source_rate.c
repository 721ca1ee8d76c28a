/*
 * The rate source: rowsPerSecond rows for every second since the query was made.
 *
 * An offset is the number of whole seconds since then.  The moment itself is in the detail of every
 * range ("rate 1 <microseconds>"), so that numbering goes on after a restart.
 */
#include "source/source_rate.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/duration.h"
#include "base/heap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MAGIC     0x4a7e0001U
#define PARTITIONS_MAX 10000
#define DETAIL_TEXT    "rate 1 "
#define US_PER_SECOND  1000000
#define TASK_ARENA_MAX ((size_t)64 << 20)

static const struct option_def rate_options[] = {
    {"rowsPerSecond", OPTION_INT, 1, INT64_MAX, "1", "Rows made for every second."},
    {"rampUpTime", OPTION_DURATION, 0, 0, "0s", "How long the rate takes to rise to its value."},
    {"numPartitions", OPTION_INT, 1, PARTITIONS_MAX, NULL, "Splits of a batch."},
    {0},
};

struct rate_source {
    struct source base;
    uint32_t magic;
    struct arena *query;
    const struct clock *clock;
    const struct type *schema;
    struct rate_binding binding;
    const char *description;
    int64_t rows_per_second;
    int64_t ramp_up_seconds;
    int64_t partitions;
    int64_t created_us; /* INT64_MIN: not decided yet */
    int64_t planned;    /* seconds; -1: no range yet */
    int64_t frozen;     /* seconds; -1: not frozen */
};

static struct rate_source *rate_of(struct source *self)
{
    struct rate_source *source = (struct rate_source *)self;
    CHECK_MAGIC(source, RATE_MAGIC);
    return source;
}

const struct type *rate_schema(struct arena *query)
{
    const struct type_field fields[] = {
        {.name = "timestamp", .type = type_simple(TYPE_TIMESTAMP), .nullable = true},
        {.name = "value", .type = type_simple(TYPE_LONG), .nullable = true},
    };
    return type_struct(query, fields, 2);
}

void rate_bind(struct arena *query, const struct type *schema, const uint32_t *columns,
               uint32_t count, struct rate_binding *out)
{
    CHECK(count <= 2);
    struct type_field fields[2];
    for (uint32_t i = 0; i < count; i++) {
        CHECK(columns[i] < 2);
        out->columns[i] = columns[i];
        fields[i] = schema->fields[columns[i]];
    }
    out->bound = type_struct(query, fields, count);
}

static int64_t time_of(const struct rate_rows *rows, int64_t value)
{
    double ms = floor((double)(value - rows->from) * rows->ms_per_value + 0.5);
    return rows->base_us + (int64_t)ms * 1000;
}

enum status rate_deliver(const struct rate_rows *rows, const struct type *bound,
                         const uint32_t *columns, struct batch_receiver *receiver,
                         struct error *err)
{
    CHECK(rows->step > 0);
    enum status status = OK;
    struct arena *arena = arena_new("batch", TASK_ARENA_MAX);
    int64_t value = rows->first;
    while (value < rows->end) {
        int64_t left = (rows->end - value - 1) / rows->step + 1;
        uint32_t count = left < BATCH_ROWS_MAX ? (uint32_t)left : BATCH_ROWS_MAX;
        struct batch *batch = NULL;
        arena_reset(arena);
        TRY_OUT(batch_new(arena, bound, count, &batch, err));
        for (uint32_t c = 0; c < bound->field_count; c++) {
            int64_t *cells = VECTOR_VALUES(int64_t, batch->columns[c]);
            for (uint32_t i = 0; i < count; i++) {
                int64_t v = value + (int64_t)i * rows->step;
                cells[i] = columns[c] == 0 ? time_of(rows, v) : v;
            }
        }
        TRY_OUT(batch_receive(receiver, batch, err));
        value += (int64_t)count * rows->step;
    }
out:
    arena_free(arena);
    return status;
}

/* How many rows there are in all after `seconds`; false: more than fit. */
static bool rows_after(const struct rate_source *source, int64_t seconds, int64_t *out)
{
    int64_t ramp = source->ramp_up_seconds;
    int64_t step = source->rows_per_second / (ramp + 1);
    int64_t rising = seconds < ramp ? seconds : ramp;
    int64_t sum = 0;
    if (__builtin_mul_overflow(rising, rising + 1, &sum) ||
        __builtin_mul_overflow(sum / 2, step, &sum))
        return false;
    *out = sum;
    int64_t rest = 0;
    if (seconds > ramp && (__builtin_mul_overflow(seconds - ramp, source->rows_per_second, &rest) ||
                           __builtin_add_overflow(sum, rest, out)))
        return false;
    return true;
}

static enum status check_ramp(const struct rate_source *source, struct error *err)
{
    int64_t seconds_max = INT64_MAX / source->rows_per_second;
    if (source->ramp_up_seconds <= seconds_max)
        return OK;
    struct arena *arena = source->query;
    return error_raise(err, STATUS_INCORRECT_RAMP_UP_RATE, "rowsPerSecond",
                       arena_sprintf(arena, "%" PRId64, source->rows_per_second), "maxSeconds",
                       arena_sprintf(arena, "%" PRId64, seconds_max), "rampUpTimeSeconds",
                       arena_sprintf(arena, "%" PRId64, source->ramp_up_seconds), NULL);
}

static enum status parse_options(struct rate_source *source, const struct source_config *config,
                                 struct error *err)
{
    const struct option_def *const tables[] = {rate_options, NULL};
    const struct options *options = config->options;
    TRY(options_check(options, tables, err));
    TRY(options_int(options, "rowsPerSecond", 1, INT64_MAX, 1, &source->rows_per_second, err));
    TRY(options_int(options, "numPartitions", 1, PARTITIONS_MAX, 1, &source->partitions, err));
    const char *ramp = options_get(options, "rampUpTime");
    int64_t ramp_us = 0;
    if (ramp != NULL)
        TRY(duration_parse_short_us(ramp, US_PER_SECOND, &ramp_us, err));
    source->ramp_up_seconds = ramp_us / US_PER_SECOND;
    return check_ramp(source, err);
}

static void rate_close(struct source *self)
{
    struct rate_source *source = rate_of(self);
    source->magic = 0;
    free(source);
}

static enum status rate_open(struct arena *query, const struct source_config *config,
                             struct source **out, struct error *err)
{
    if (config->schema != NULL)
        return error_raise(err, STATUS_SCHEMA_NOT_ALLOWED, "connector", "rate", NULL);
    struct rate_source *source = heap_calloc(1, sizeof *source);
    source->base.ops = &source_rate;
    source->magic = RATE_MAGIC;
    source->query = query;
    source->clock = config->clock;
    source->schema = rate_schema(query);
    source->created_us = INT64_MIN;
    source->planned = -1;
    source->frozen = -1;
    enum status status = parse_options(source, config, err);
    if (status != OK) {
        rate_close(&source->base);
        return status;
    }
    const char *partitions = options_get(config->options, "numPartitions");
    source->description = arena_sprintf(query,
                                        "RateStreamV2[rowsPerSecond=%" PRId64
                                        ", rampUpTimeSeconds=%" PRId64 ", numPartitions=%s",
                                        source->rows_per_second, source->ramp_up_seconds,
                                        partitions == NULL ? "default" : partitions);
    *out = &source->base;
    return OK;
}

static const struct type *rate_source_schema(const struct source *self)
{
    return ((const struct rate_source *)self)->schema;
}

static enum status rate_source_bind(struct source *self, const uint32_t *columns, uint32_t count,
                                    struct error *err)
{
    (void)err;
    struct rate_source *source = rate_of(self);
    rate_bind(source->query, source->schema, columns, count, &source->binding);
    return OK;
}

static enum status broken(struct error *err)
{
    return error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path", "sources", "facts",
                       "an offset of a rate source cannot be read", NULL);
}

static enum status parse_seconds(struct bytes text, int64_t *out, struct error *err)
{
    char copy[32];
    char *end = NULL;
    if (text.size_bytes == 0 || text.size_bytes >= sizeof copy)
        return broken(err);
    memcpy(copy, text.data, text.size_bytes);
    copy[text.size_bytes] = '\0';
    *out = strtoll(copy, &end, 10);
    return *end == '\0' && *out >= 0 ? OK : broken(err);
}

static enum status recover_range(struct rate_source *source, const struct source_range *range,
                                 struct error *err)
{
    TRY(parse_seconds(range->end, &source->planned, err));
    size_t prefix = sizeof DETAIL_TEXT - 1;
    if (range->detail.size_bytes == 0)
        return OK; /* a batch in which this source had nothing */
    if (range->detail.size_bytes <= prefix || memcmp(range->detail.data, DETAIL_TEXT, prefix) != 0)
        return broken(err);
    return parse_seconds(bytes_of(range->detail.data + prefix, range->detail.size_bytes - prefix),
                         &source->created_us, err);
}

static enum status rate_recover(struct source *self, const struct source_range *committed,
                                const struct source_range *pending, size_t pending_count,
                                struct error *err)
{
    struct rate_source *source = rate_of(self);
    if (committed != NULL)
        TRY(recover_range(source, committed, err));
    for (size_t i = 0; i < pending_count; i++)
        TRY(recover_range(source, &pending[i], err));
    if (source->created_us == INT64_MIN)
        source->created_us = clock_now_us(source->clock) / 1000 * 1000;
    return OK;
}

static int64_t seconds_now(const struct rate_source *source)
{
    int64_t elapsed_us = clock_now_us(source->clock) - source->created_us;
    return elapsed_us < 0 ? 0 : elapsed_us / US_PER_SECOND;
}

static enum status rate_freeze(struct source *self, struct error *err)
{
    (void)err;
    struct rate_source *source = rate_of(self);
    source->frozen = seconds_now(source);
    return OK;
}

static void put_detail(struct rate_source *source, struct arena *batch, struct source_range *range)
{
    range->detail = bytes_of_text(arena_sprintf(batch, DETAIL_TEXT "%" PRId64, source->created_us));
}

static struct bytes seconds_text(struct arena *batch, int64_t seconds)
{
    return bytes_of_text(arena_sprintf(batch, "%" PRId64, seconds));
}

static enum status rate_plan(struct source *self, bool unlimited, struct arena *batch,
                             struct source_range *range, bool *found, struct error *err)
{
    (void)unlimited;
    struct rate_source *source = rate_of(self);
    if (source->created_us == INT64_MIN) /* bounded: a table without rows */
        source->created_us = clock_now_us(source->clock) / 1000 * 1000;
    int64_t end = source->frozen >= 0 ? source->frozen : seconds_now(source);
    int64_t start = source->planned < 0 ? 0 : source->planned;
    /* The first range is planned even if it is empty: it pins the moment of creation. */
    *found = source->planned < 0 ? true : end > source->planned;
    int64_t rows = 0;
    if (!*found) {
        range->start = range->end = seconds_text(batch, start);
        put_detail(source, batch, range);
        return OK;
    }
    if (!rows_after(source, end, &rows))
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the values of a rate source",
                           "limit", "9223372036854775807", NULL);
    range->start = seconds_text(batch, start);
    range->end = seconds_text(batch, end);
    put_detail(source, batch, range);
    source->planned = end;
    return OK;
}

static struct bytes rate_latest(struct source *self, struct arena *batch)
{
    struct rate_source *source = rate_of(self);
    if (source->created_us == INT64_MIN)
        return bytes_of(NULL, 0);
    return seconds_text(batch, seconds_now(source));
}

static enum status rate_splits(struct source *self, const struct source_range *range,
                               struct arena *batch, struct source_split **out, size_t *count,
                               struct error *err)
{
    struct rate_source *source = rate_of(self);
    int64_t start = 0;
    int64_t end = 0;
    TRY(parse_seconds(range->start, &start, err));
    TRY(parse_seconds(range->end, &end, err));
    int64_t first = 0;
    int64_t last = 0;
    if (end < start || !rows_after(source, start, &first) || !rows_after(source, end, &last))
        return broken(err);
    int64_t rows = last - first;
    size_t partitions = (size_t)(rows < source->partitions ? rows : source->partitions);
    struct source_split *splits = arena_new_object(batch, (partitions + 1) * sizeof *splits);
    for (size_t i = 0; i < partitions; i++) {
        struct rate_rows *detail = arena_new_object(batch, sizeof *detail);
        *detail = (struct rate_rows){
            .first = first + (int64_t)i,
            .end = last,
            .step = (int64_t)partitions,
            .from = first,
            .base_us = source->created_us + start * US_PER_SECOND,
            .ms_per_value = (double)(end - start) * 1000 / (double)rows,
        };
        uint64_t estimate = (uint64_t)rows / partitions;
        splits[i] = (struct source_split){
            .estimated_rows = estimate, .estimated_bytes = estimate * 16, .detail = detail};
    }
    *out = splits;
    *count = partitions;
    return OK;
}

static enum status rate_read(struct source *self, const struct source_split *split,
                             struct batch_receiver *receiver, struct error *err)
{
    struct rate_source *source = rate_of(self);
    return rate_deliver(split->detail, source->binding.bound, source->binding.columns, receiver,
                        err);
}

static const char *rate_description(const struct source *self)
{
    return ((const struct rate_source *)self)->description;
}

const struct source_ops source_rate = {
    .kind = "rate",
    .replayable = true,
    .options = rate_options,
    .open = rate_open,
    .schema = rate_source_schema,
    .bind = rate_source_bind,
    .recover = rate_recover,
    .freeze = rate_freeze,
    .plan = rate_plan,
    .latest = rate_latest,
    .splits = rate_splits,
    .read = rate_read,
    .description = rate_description,
    .close = rate_close,
};
