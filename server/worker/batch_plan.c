/*
 * See batch_plan.h.
 */
#include "worker/batch_plan.h"

#include "base/check.h"
#include "base/uuid.h"
#include "spec/conf.h"
#include "worker/query_plan.h"

#include <stdio.h>

static int64_t since(const struct query *query, int64_t began_us)
{
    return clock_monotonic_us(query->config.clock) - began_us;
}

static void announce(struct query *query)
{
    if (query->config.observer == NULL || query->sources.count == 0)
        return;
    char message[300];
    (void)snprintf(message, sizeof message, "Getting offsets from %s",
                   source_description(&query->sources.uses[0]));
    query_set_status(query, "FETCHING_OFFSETS", message, true);
}

/* A watermark that has moved may close state without any new row; it is asked only after a batch of
 * this run, as Spark does. */
static bool wants_batch(const struct query *query)
{
    return query->batches > 0 && query->previous != NULL &&
           conf_bool(&query->spec->conf, CONF_streaming_noDataMicroBatches_enabled) &&
           stage_graph_wants_batch(query->graph, watermark_global_us(&query->watermark),
                                   query->previous->eviction_watermark_us);
}

/* A batch that ran before a rewind is what it was. */
static enum status take_replay(struct query *query, struct error *err)
{
    int64_t id = query->next_batch_id;
    struct arena *arena = query->intent_arena[id & 1];
    if (query->intent != NULL || id >= query->replay_end)
        return OK;
    const struct logged_batch *batch = &query->replays[id - query->replay_first];
    if (!batch->has_intent)
        return OK;
    arena_reset(arena);
    return checkpoint_read_intent(query->checkpoint, &batch->intent, arena, &query->intent, err);
}

enum status batch_plan_next(struct query *query, struct error *err)
{
    TRY(take_replay(query, err));
    if (query->intent != NULL) {
        CHECK(query->intent->batch_id == query->next_batch_id);
        query->timing.planned = false;
        query->is_data_available = true;
        return OK;
    }
    struct arena *arena = query->intent_arena[query->next_batch_id & 1];
    bool any = false;
    announce(query);
    arena_reset(arena);
    int64_t began_us = clock_monotonic_us(query->config.clock);
    struct batch_intent *intent = arena_new_object(arena, sizeof *intent);
    intent->source_count = query->sources.count;
    intent->sources = arena_new_object(arena, (intent->source_count + 1) * sizeof *intent->sources);
    TRY(source_set_plan(&query->sources, query->spec->trigger == TRIGGER_ONCE, arena,
                        intent->sources, &any, err));
    query->timing.planned = true;
    query->timing.latest_offset_us = since(query, began_us);
    query->is_data_available = any;
    if (!any && !wants_batch(query))
        return OK;
    intent->table_count = query->tables.count;
    intent->tables = arena_new_object(arena, (intent->table_count + 1) * sizeof *intent->tables);
    TRY(table_set_plan(&query->tables, arena, intent->tables, err));
    intent->batch_id = query->next_batch_id;
    intent->eviction_watermark_us = watermark_global_us(&query->watermark);
    intent->late_watermark_us =
        query->previous == NULL ? 0 : query->previous->eviction_watermark_us;
    intent->batch_timestamp_us = clock_now_us(query->config.clock);
    random_bytes(&intent->random_seed, sizeof intent->random_seed);
    intent->fingerprint = query->plan->fingerprint;
    intent->epoch = checkpoint_epoch(query->checkpoint);
    (void)snprintf(intent->run_id, sizeof intent->run_id, "%s", query->run_id);
    query_plan_pinned(arena, query->spec, &intent->settings, &intent->setting_count);
    query->intent = intent;
    return OK;
}
