/*
 * See progress.h.
 *
 * Rates are printed with one decimal, rounded half up; inputRowsPerSecond is 0.0 in the first
 * trigger of a run, which has no trigger before it to measure from.
 */
#include "worker/progress.h"

#include "base/check.h"

#include <inttypes.h>
#include <math.h>

static void add_rate(struct buffer *out, const char *key, double rate)
{
    if (isfinite(rate))
        buffer_printf(out, ",\"%s\":%.1f", key, floor(rate * 10 + 0.5) / 10);
}

static void add_rates(const struct query *query, uint64_t rows, struct buffer *out)
{
    const struct trigger_timing *timing = &query->timing;
    double input = 0;
    if (query->last_trigger_us != 0)
        input = (double)rows * 1e6 / (double)(timing->started_us - query->last_trigger_us);
    int64_t took_us = timing->ended_us - timing->started_us;
    if (took_us < 1000)
        took_us = 1000;
    add_rate(out, "inputRowsPerSecond", input);
    add_rate(out, "processedRowsPerSecond", (double)rows * 1e6 / (double)took_us);
}

static void add_json(struct buffer *out, const char *key, struct bytes json)
{
    buffer_printf(out, ",\"%s\":", key);
    if (json.size_bytes == 0)
        buffer_add_text(out, "null");
    else
        buffer_add_bytes(out, json);
}

/* The keys are sorted, as Spark's are. */
static void add_durations(const struct query *query, bool ran, struct buffer *out)
{
    const struct trigger_timing *timing = &query->timing;
    int64_t all_us = timing->ended_us - timing->started_us;
    buffer_add_text(out, ",\"durationMs\":{");
    if (ran)
        buffer_printf(
            out, "\"addBatch\":%" PRId64 ",\"commitOffsets\":%" PRId64 ",\"getBatch\":%" PRId64 ",",
            timing->add_batch_us / 1000, timing->commit_us / 1000, timing->get_batch_us / 1000);
    if (timing->planned)
        buffer_printf(out, "\"latestOffset\":%" PRId64 ",", timing->latest_offset_us / 1000);
    if (ran)
        buffer_printf(out, "\"queryPlanning\":%" PRId64 ",", timing->planning_us / 1000);
    buffer_printf(out, "\"triggerExecution\":%" PRId64, all_us / 1000);
    if (ran && timing->planned)
        buffer_printf(out, ",\"walCommit\":%" PRId64, timing->wal_commit_us / 1000);
    buffer_add_text(out, "}");
}

static void add_time(struct buffer *out, const char *key, int64_t time_ms)
{
    char iso[CLOCK_ISO_SIZE];
    clock_format_iso(time_ms * 1000, iso);
    buffer_printf(out, "\"%s\":\"%s\"", key, iso);
}

/* max, min and avg are those of the first watermark operator that saw a row in the batch. */
static void add_event_time(const struct query *query, int64_t watermark_us, bool ran,
                           struct buffer *out)
{
    if (query->watermark.count == 0)
        return;
    buffer_add_text(out, ",\"eventTime\":{");
    for (uint32_t i = 0; ran && i < query->watermark.count; i++) {
        const struct event_time_stats *stats = &query->result.event_times[i];
        if (stats->count == 0)
            continue;
        add_time(out, "avg", (int64_t)(stats->sum_ms / (double)stats->count));
        buffer_add_text(out, ",");
        add_time(out, "max", stats->max_ms);
        buffer_add_text(out, ",");
        add_time(out, "min", stats->min_ms);
        buffer_add_text(out, ",");
        break;
    }
    add_time(out, "watermark", watermark_us / 1000);
    buffer_add_text(out, "}");
}

#define OPERATORS_MAX 64

/* Beside Spark's: what of the state is on the disk only, what a batch read of it, and the most
 * memory that counts for the limit, of all operators. */
static void add_custom_metrics(const struct query *query, const struct operator_stats *stats,
                               bool dedup, bool ran, struct buffer *out)
{
    bool spilled = stats->rows_spilled > 0 || stats->spill_lookups > 0 || stats->spill_scanned > 0;
    if (!dedup && !spilled)
        return;
    buffer_add_text(out, ",\"customMetrics\":{");
    if (dedup)
        buffer_printf(out, "\"numDroppedDuplicateRows\":%" PRIu64, ran ? stats->duplicates : 0);
    if (spilled)
        buffer_printf(out,
                      "%s\"numRowsSpilled\":%" PRIu64 ",\"numRowsUnspilled\":%" PRIu64
                      ",\"spillKeysLookedUp\":%" PRIu64 ",\"spillRowsScanned\":%" PRIu64
                      ",\"spillMemoryPeakBytes\":%" PRId64,
                      dedup ? "," : "", stats->rows_spilled, ran ? stats->rows_fetched : 0,
                      ran ? stats->spill_lookups : 0, ran ? stats->spill_scanned : 0,
                      ran ? state_budget_peak_bytes(query) : 0);
    buffer_add_text(out, "}");
}

/* An idle report repeats the numbers of the last batch, but for rows updated and dropped. */
static void add_operator(const struct query *query, const struct stage_operator *operator_,
                         bool ran, struct buffer *out)
{
    const struct operator_stats *stats = &operator_->stats;
    const char *name = operator_->ops->name;
    bool dedup = operator_->node->kind == PLAN_DEDUP;
    if (dedup && operator_->node->dedup.within_watermark)
        name = "dedupeWithinWatermark";
    buffer_printf(
        out,
        "{\"operatorName\":\"%s\",\"numRowsTotal\":%" PRIu64 ",\"numRowsUpdated\":%" PRIu64
        ",\"allUpdatesTimeMs\":%" PRId64 ",\"numRowsRemoved\":%" PRIu64
        ",\"allRemovalsTimeMs\":%" PRId64 ",\"commitTimeMs\":%" PRId64
        ",\"memoryUsedBytes\":%" PRIu64 ",\"numRowsDroppedByWatermark\":%" PRIu64
        ",\"numShufflePartitions\":%" PRIu32 ",\"numStateStoreInstances\":%" PRIu32,
        name, stats->rows_total, ran ? stats->rows_updated : 0, stats->updates_us / 1000,
        stats->rows_removed, stats->removals_us / 1000, stats->commit_us / 1000,
        stats->memory_bytes, ran ? stats->rows_dropped : 0, query->partitions, query->partitions);
    add_custom_metrics(query, stats, dedup, ran, out);
    buffer_add_text(out, "}");
}

static void add_operators(const struct query *query, bool ran, struct buffer *out)
{
    struct stage_operator operators[OPERATORS_MAX];
    uint32_t count = stage_graph_operators(query->graph, operators, OPERATORS_MAX);
    buffer_add_text(out, ",\"stateOperators\":[");
    for (uint32_t i = 0; i < count && i < OPERATORS_MAX; i++) {
        if (i > 0)
            buffer_add_text(out, ",");
        add_operator(query, &operators[i], ran, out);
    }
    buffer_add_text(out, "]");
}

/* Two uses of one stream are one entry, as in Spark. */
static bool seen_before(const struct source_set *sources, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (sources->uses[i].plan->source_index == sources->uses[index].plan->source_index)
            return true;
    return false;
}

/* What was not as it should be, if something was: texts, as all of Spark's source metrics. */
static void add_metrics(struct source *source, struct buffer *out)
{
    const struct source_ops *ops = source->ops;
    uint64_t uncleaned = ops->take_uncleaned == NULL ? 0 : ops->take_uncleaned(source);
    uint64_t headers = ops->take_other_headers == NULL ? 0 : ops->take_other_headers(source);
    if (uncleaned == 0 && headers == 0)
        return;
    buffer_add_text(out, ",\"metrics\":{");
    if (uncleaned > 0)
        buffer_printf(out, "\"numFilesNotCleaned\":\"%" PRIu64 "\"", uncleaned);
    if (headers > 0)
        buffer_printf(out, "%s\"numFilesWithOtherHeader\":\"%" PRIu64 "\"",
                      uncleaned > 0 ? "," : "", headers);
    buffer_add_text(out, "}");
}

static void add_source(const struct query *query, uint32_t index, const struct intent_range *range,
                       struct buffer *out)
{
    const struct source_set *sources = &query->sources;
    const struct source_use *use = &sources->uses[index];
    struct bytes end = buffer_bytes(&use->end);
    uint64_t rows = 0;
    for (uint32_t i = index; range != NULL && i < sources->count; i++)
        if (sources->uses[i].plan->source_index == use->plan->source_index)
            rows += query->result.input_rows[i];
    buffer_add_text(out, "{\"description\":");
    buffer_add_json_string(out, bytes_of_text(source_description(use)));
    add_json(out, "startOffset", range == NULL ? end : range->range.start);
    add_json(out, "endOffset", range == NULL ? end : range->range.end);
    struct bytes latest = {0};
    if (use->source->ops->latest != NULL)
        latest = use->source->ops->latest(use->source, query->batch_arena);
    add_json(out, "latestOffset", latest);
    buffer_printf(out, ",\"numInputRows\":%" PRIu64, rows);
    add_rates(query, rows, out);
    add_metrics(use->source, out);
    buffer_add_text(out, "}");
}

static void add_sink(const struct query *query, int64_t rows, struct buffer *out)
{
    const struct sink_ops *ops = query->sink->ops;
    buffer_add_text(out, ",\"sink\":{\"description\":");
    buffer_add_json_string(
        out, bytes_of_text(ops->description == NULL ? ops->kind : ops->description(query->sink)));
    buffer_printf(out, ",\"numOutputRows\":%" PRId64 "}", rows);
}

static void begin_document(const struct query *query, int64_t batch_id, struct buffer *out)
{
    char iso[CLOCK_ISO_SIZE];
    clock_format_iso(query->timing.started_wall_us, iso);
    buffer_printf(out, "{\"id\":\"%s\",\"runId\":\"%s\",\"name\":",
                  checkpoint_query_id(query->checkpoint), query->run_id);
    if (query->spec->name == NULL)
        buffer_add_text(out, "null");
    else
        buffer_add_json_string(out, bytes_of_text(query->spec->name));
    int64_t took_us = query->timing.ended_us - query->timing.started_us;
    buffer_printf(out, ",\"timestamp\":\"%s\",\"batchId\":%" PRId64 ",\"batchDuration\":%" PRId64,
                  iso, batch_id, took_us / 1000);
}

/* Sources and sink, and the end of the document; without an intent, of an idle query. */
static void add_ends(const struct query *query, const struct batch_intent *intent,
                     int64_t output_rows, struct buffer *out)
{
    buffer_add_text(out, ",\"sources\":[");
    bool first = true;
    for (uint32_t i = 0; i < query->sources.count; i++) {
        if (seen_before(&query->sources, i))
            continue;
        if (!first)
            buffer_add_text(out, ",");
        first = false;
        add_source(query, i, intent == NULL ? NULL : &intent->sources[i], out);
    }
    buffer_add_text(out, "]");
    add_sink(query, query->sink->ops->counts_rows ? output_rows : -1, out);
    buffer_add_text(out, "}");
}

void progress_of_batch(const struct query *query, const struct batch_intent *intent,
                       struct buffer *out)
{
    const struct batch_result *result = &query->result;
    begin_document(query, intent->batch_id, out);
    buffer_printf(out, ",\"numInputRows\":%" PRIu64, result->input_rows_all);
    add_rates(query, result->input_rows_all, out);
    add_durations(query, true, out);
    add_event_time(query, intent->eviction_watermark_us, true, out);
    add_operators(query, true, out);
    add_ends(query, intent, (int64_t)result->output_rows, out);
}

void progress_idle(const struct query *query, struct buffer *out)
{
    begin_document(query, query->next_batch_id, out);
    buffer_add_text(out, ",\"numInputRows\":0");
    add_rates(query, 0, out);
    add_durations(query, false, out);
    add_event_time(query, watermark_global_us(&query->watermark), false, out);
    add_operators(query, false, out);
    add_ends(query, NULL, 0, out);
}
