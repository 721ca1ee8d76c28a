/*
 * Opening and closing a query.  See query.h.
 */
#include "worker/query.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "exec/static_join.h"
#include "exec/stream_check.h"
#include "spec/conf.h"
#include "worker/fingerprint_check.h"
#include "worker/query_plan.h"
#include "worker/state_snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define INTENT_BYTES_MAX ((size_t)1 << 30)

static void make_plan_config(const struct query *query, struct query_plan_config *out)
{
    *out = (struct query_plan_config){
        .spec_json = query->config.spec_json,
        .vfs = query->config.vfs,
        .clock = query->config.clock,
        .find_source = query->config.find_source,
    };
}

static void take_plan(struct query *query, const struct query_plan *plan)
{
    query->spec = plan->spec;
    query->plan = plan->plan;
    query->schema = plan->schema;
    query->mode = plan->mode;
    query->time_zone = plan->time_zone;
    query->ansi = plan->ansi;
    if (plan->spec->name != NULL)
        query->name = plan->spec->name;
}

enum status query_open_checkpoint(struct query *query, bool look_only, struct error *err)
{
    const char *dir = query->spec->checkpoint_location;
    if (dir == NULL)
        dir = query->config.default_checkpoint_dir;
    if (dir == NULL)
        return error_raise(err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", "", "reason",
                           "the query names none", NULL);
    int64_t keep = conf_int(&query->spec->conf, CONF_streaming_minBatchesToRetain);
    int64_t progress_keep = conf_int(&query->spec->conf, CONF_streaming_numRecentProgressUpdates);
    struct checkpoint_config config = {
        .vfs = query->config.vfs,
        .clock = query->config.clock,
        .dir = path_strip_file_scheme(dir),
        .query_id = query->config.query_id,
        .query_name = query->name,
        .run_id = query->run_id,
        .progress_keep = progress_keep < 2 ? 1 : (uint32_t)(progress_keep - 1),
        .batches_keep = keep < 2 ? 2 : keep,
        .segment_bytes = (uint64_t)conf_int(&query->spec->conf, CONF_logSegmentBytes),
        .look_only = look_only,
    };
    return checkpoint_open(&config, &query->checkpoint, err);
}

enum status query_make_plan(struct query *query, struct error *err)
{
    struct query_plan_config config;
    struct query_plan plan = {0};
    make_plan_config(query, &config);
    TRY(query_plan_make(query->arena, &config, &plan, err));
    take_plan(query, &plan);
    return stream_check(query->plan->root, err);
}

enum status query_pin_plan(struct query *query, struct error *err)
{
    struct query_plan_config config;
    struct query_plan plan = {0};
    make_plan_config(query, &config);
    config.pinned = checkpoint_last_intent(query->checkpoint);
    config.whole_windows = fingerprint_has_whole_windows(query);
    bool pinned = config.pinned != NULL && query_plan_differs(query->spec, config.pinned);
    if (!pinned && !config.whole_windows)
        return OK;
    query->kept = pinned ? query_plan_kept(query->arena, query->spec, config.pinned) : NULL;
    TRY(query_plan_make(query->arena, &config, &plan, err));
    take_plan(query, &plan);
    return OK;
}

/* The first analysis comes before the lock, so that a wrong spec leaves no trace; where the
 * checkpoint pins other settings than the spec has, there is a second one with them. */
static enum status plan_and_lock(struct query *query, struct error *err)
{
    TRY(query_make_plan(query, err));
    TRY(query_open_checkpoint(query, false, err));
    TRY(query_pin_plan(query, err));
    TRY(fingerprint_check(query, err));
    if (query->kept != NULL)
        log_event(query->config.log, LOG_WARN, "settings_kept",
                  (struct log_field[]){log_text("reason", query->kept), {0}});
    return checkpoint_start_run(query->checkpoint, query->plan->fingerprint,
                                bytes_of_text(query->plan->fingerprint_text), err);
}

enum status query_open_sink(struct query *query, struct error *err)
{
    const char *format = query->spec->sink.format;
    const struct sink_ops *ops = query->config.find_sink(format);
    if (ops == NULL)
        return error_raise(err, STATUS_DATA_SOURCE_NOT_FOUND, "provider", format, NULL);
    struct sink_config config = {
        .name = query->name,
        .query_id = query->checkpoint == NULL ? NULL : checkpoint_query_id(query->checkpoint),
        .format = format,
        .options = &query->spec->sink.options,
        .schema = query->schema,
        .partition_by = query->spec->sink.partition_by,
        .partition_by_count = query->spec->sink.partition_by_count,
        .mode = query->mode,
        .time_zone = query->time_zone,
        .vfs = query->config.vfs,
        .clock = query->config.clock,
        .state_dir = arena_sprintf(query->arena, "%s/sink",
                                   query->checkpoint == NULL ? query->config.default_checkpoint_dir
                                                             : checkpoint_dir(query->checkpoint)),
        .conf = query->spec->conf.items,
        .conf_count = query->spec->conf.count,
    };
    return ops->open(query->arena, &config, &query->sink, err);
}

static enum status refuse(const struct query *query, const struct recovery_facts *facts,
                          struct error *err)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "%s (intent %" PRId64 ", changes %" PRId64 ", commit %" PRId64
                   ", sink due %" PRId64 ", sink %" PRId64 ")",
                   recovery_contradiction(facts), facts->last_intent, facts->last_changes,
                   facts->last_commit, facts->last_sink_due, facts->sink_last);
    return error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path",
                       checkpoint_dir(query->checkpoint), "facts", text, NULL);
}

static struct batch_intent *keep_intent(struct query *query, const struct batch_intent *intent)
{
    if (intent == NULL)
        return NULL;
    return batch_intent_clone(query->intent_arena[intent->batch_id & 1], intent);
}

static enum emit_mode emit_mode_of(enum output_mode mode)
{
    switch (mode) {
    case MODE_APPEND:
        return EMIT_APPEND;
    case MODE_UPDATE:
        return EMIT_UPDATE;
    case MODE_COMPLETE:
        return EMIT_COMPLETE;
    }
    return EMIT_APPEND;
}

static enum status build_graph(struct query *query, struct error *err)
{
    int64_t partitions = conf_int(&query->spec->conf, CONF_shuffle_partitions);
    int64_t threads = conf_int(&query->spec->conf, CONF_parallelism);
    query->parallelism = threads > 0 ? (uint32_t)threads : query->config.parallelism;
    query->pool = task_pool_new(query->parallelism);
    query->plan->root = static_join_turn(query->arena, query->plan->root);
    query->partitions = partitions < 1 ? 1 : (uint32_t)partitions;
    struct stage_graph_config config = {
        .plan = query->plan,
        .time_zone = query->time_zone,
        .threads = query->parallelism,
        .partitions = query->partitions,
        .mode = emit_mode_of(query->mode),
    };
    return stage_graph_new(query->arena, &config, &query->graph, err);
}

/* What a rewind left to be run again. */
enum status query_find_replays(struct query *query, struct error *err)
{
    query->replay_first = query->next_batch_id;
    query->replay_end = checkpoint_replay_end(query->checkpoint);
    if (query->replay_end <= query->replay_first)
        return OK;
    return checkpoint_logged_batches(query->checkpoint, query->arena, query->replay_first,
                                     query->replay_end, &query->replays, err);
}

static enum status read_pending(struct query *query, struct arena *arena,
                                struct batch_intent **pending, size_t *count, struct error *err)
{
    *count = 0;
    if (query->intent != NULL)
        pending[(*count)++] = query->intent;
    for (int64_t id = query->next_batch_id + (int64_t)*count; id < query->replay_end; id++) {
        const struct logged_batch *batch = &query->replays[id - query->replay_first];
        if (batch->has_intent)
            TRY(checkpoint_read_intent(query->checkpoint, &batch->intent, arena,
                                       &pending[(*count)++], err));
    }
    return OK;
}

/* The sources hear of everything that is logged and will be read again. */
enum status query_recover_sources(struct query *query, struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("pending intents", 0);
    int64_t left = query->replay_end - query->next_batch_id;
    struct batch_intent **pending =
        arena_new_object(arena, (size_t)(left > 0 ? left + 1 : 2) * sizeof *pending);
    size_t count = 0;
    TRY_OUT(read_pending(query, arena, pending, &count, err));
    TRY_OUT(source_set_recover(&query->sources, query->previous, pending, count, err));
out:
    arena_free(arena);
    return status;
}

/* Where the last run stopped, and what that leaves to do. */
static enum status recover(struct query *query, struct error *err)
{
    struct recovery_facts facts;
    checkpoint_facts(query->checkpoint, &facts);
    TRY(query->sink->ops->last_batch(query->sink, &facts.sink_last, err));
    enum recovery_step step = recovery_decide(&facts);
    if (step == RECOVERY_CORRUPT)
        return refuse(query, &facts, err);
    const struct batch_intent *last = checkpoint_last_intent(query->checkpoint);
    const struct batch_changes *changes = checkpoint_last_changes(query->checkpoint);
    if (step == RECOVERY_FINISH)
        TRY(checkpoint_append_commit(query->checkpoint, facts.last_intent, err));
    if (step == RECOVERY_RERUN) {
        query->intent = keep_intent(query, last);
        query->previous = keep_intent(query, checkpoint_previous_intent(query->checkpoint));
        query->next_batch_id = facts.last_intent;
        watermark_restore(&query->watermark, last->eviction_watermark_us);
    } else {
        query->previous = keep_intent(query, last);
        query->next_batch_id = facts.last_intent + 1;
        if (last != NULL)
            watermark_restore(&query->watermark, last->eviction_watermark_us);
        if (changes != NULL)
            watermark_restore(&query->watermark, changes->next_watermark_us);
    }
    query->sink_last = facts.sink_last;
    TRY(query_find_replays(query, err));
    TRY(state_snapshot_load(query, query->next_batch_id - 1, err));
    log_event(query->config.log, LOG_INFO, "query_recovered",
              (struct log_field[]){log_text("step", recovery_step_name(step)),
                                   log_i64("nextBatchId", query->next_batch_id),
                                   log_u64("epoch", checkpoint_epoch(query->checkpoint)),
                                   {0}});
    return OK;
}

/* The last run may have died between the commit of its last batch and the clean-up of the one
 * before, which nobody would make up for: the next batch only cleans up after the last. */
static enum status clean_up_before_last(struct query *query, struct error *err)
{
    const struct batch_intent *before = checkpoint_previous_intent(query->checkpoint);
    if (query->intent != NULL || before == NULL || before->source_count != query->sources.count)
        return OK;
    TRY(checkpoint_sync(query->checkpoint, err)); /* what was found may not be durable yet */
    source_set_acknowledge(&query->sources, before);
    return OK;
}

enum status query_open_sources(struct query *query, struct relation_context *context,
                               const char *dir, struct error *err)
{
    *context = (struct relation_context){
        .spec = query->spec,
        .vfs = query->config.vfs,
        .clock = query->config.clock,
        .log = query->config.log,
        .time_zone = query->time_zone,
        .ansi = query->ansi,
        .find_source = query->config.find_source,
    };
    return source_set_open(query->arena, context, query->plan, dir, &query->sources, err);
}

static enum status open_parts(struct query *query, struct error *err)
{
    query_set_status(query, "STARTING", "Initializing StreamExecution", false);
    TRY(plan_and_lock(query, err));
    log_set_query(query->config.log, query->name, checkpoint_query_id(query->checkpoint),
                  query->run_id);
    query_set_status(query, "STARTING", "Initializing sources", false);
    struct relation_context context;
    TRY(query_open_sources(query, &context, checkpoint_dir(query->checkpoint), err));
    table_set_init(&query->tables, query->arena, &context, query->plan);
    TRY(query_open_sink(query, err));
    const char *policy = conf_text(&query->spec->conf, CONF_streaming_multipleWatermarkPolicy);
    watermark_init(&query->watermark, query->arena, query->plan,
                   policy != NULL && strcmp(policy, "max") == 0 ? WATERMARK_MAX : WATERMARK_MIN);
    TRY(build_graph(query, err));
    state_budget_init(query);
    TRY(recover(query, err));
    TRY(query_recover_sources(query, err));
    TRY(clean_up_before_last(query, err));
    if (query->spec->trigger == TRIGGER_AVAILABLE_NOW)
        TRY(source_set_freeze(&query->sources, err));
    query->result.input_rows =
        arena_new_object(query->arena, (query->sources.count + 1) * sizeof(uint64_t));
    query->result.event_times = arena_new_object(
        query->arena, (query->plan->watermark_count + 1) * sizeof *query->result.event_times);
    return OK;
}

enum status query_open(const struct query_config *config, struct query **out, struct error *err)
{
    CHECK(config->vfs != NULL && config->clock != NULL && config->parallelism >= 1);
    struct arena *arena = arena_new("query", 0);
    struct query *query = arena_new_object(arena, sizeof *query);
    query->arena = arena;
    query->config = *config;
    if (query->config.find_source == NULL)
        query->config.find_source = source_find;
    if (query->config.find_sink == NULL)
        query->config.find_sink = sink_find;
    if (config->run_id == NULL)
        uuid_random_text(query->run_id);
    else
        (void)snprintf(query->run_id, sizeof query->run_id, "%s", config->run_id);
    query->batch_arena = arena_new("batch", INTENT_BYTES_MAX);
    query->intent_arena[0] = arena_new("intent", INTENT_BYTES_MAX);
    query->intent_arena[1] = arena_new("intent", INTENT_BYTES_MAX);
    query->last_progress_us = clock_monotonic_us(config->clock);
    atomic_init(&query->cancelled, false);
    enum status status = open_parts(query, err);
    if (status != OK) {
        query_close(query, false);
        return status;
    }
    *out = query;
    return OK;
}

void query_close(struct query *query, bool clean)
{
    if (query == NULL)
        return;
    struct error ignored = ERROR_INIT;
    if (query->sink != NULL) {
        query->sink->ops->abort(query->sink);
        query->sink->ops->close(query->sink);
    }
    source_set_close(&query->sources);
    table_set_close(&query->tables);
    state_snapshot_close(query);
    if (clean && checkpoint_end_run(query->checkpoint, &ignored) != OK)
        log_error_event(query->config.log, LOG_WARN, "checkpoint_not_closed", &ignored, NULL);
    task_pool_free(query->pool);
    stage_graph_free(query->graph);
    state_budget_fini(query);
    checkpoint_close(query->checkpoint);
    buffer_fini(&query->scratch);
    arena_free(query->batch_arena);
    arena_free(query->intent_arena[0]);
    arena_free(query->intent_arena[1]);
    arena_free(query->arena);
}

void query_set_status(struct query *query, const char *phase, const char *message,
                      bool is_trigger_active)
{
    struct query_observer *observer = query->config.observer;
    if (observer == NULL || observer->status == NULL)
        return;
    struct query_status status = {
        .phase = phase,
        .message = message,
        .is_data_available = query->is_data_available,
        .is_trigger_active = is_trigger_active,
    };
    observer->status(observer, &status);
}

void query_trim(struct query *query)
{
    stage_graph_trim(query->graph);
    arena_trim(query->batch_arena);
    heap_trim();
}
