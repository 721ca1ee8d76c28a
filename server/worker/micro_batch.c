/*
 * One micro-batch, start to end.
 *
 * The order of the steps is the exactly-once protocol:
 *
 *     intent  ->  read + execute  ->  changes  ->  sync  ->  sink commit  ->  commit record
 *
 * The intent freezes what batch N reads, with which watermarks and which "now".  Intent and changes
 * become durable together, in one sync, and always before the sink shows anything of N.  Every step
 * is idempotent for its batch id, so a worker that dies anywhere either finishes N (the sink has
 * it) or runs it again from the logged intent against state version N-1.  The commit record waits
 * for the next sync; losing it only means that N is finished or run again.
 *
 * checkpoint/recovery.c is the mirror image of this file: change them together.
 */
#include "worker/micro_batch.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "worker/batch_run.h"
#include "worker/state_budget.h"

static int64_t lap(const struct query *query, int64_t *began_us)
{
    int64_t now_us = clock_monotonic_us(query->config.clock);
    int64_t took_us = now_us - *began_us;
    *began_us = now_us;
    return took_us;
}

/* COMMIT(N-1) is durable since the sync of N: its sources may forget. */
static void acknowledge_previous(struct query *query)
{
    if (query->previous == NULL || query->acknowledged)
        return;
    CHECK(checkpoint_durable_commit(query->checkpoint) >= query->previous->batch_id);
    source_set_acknowledge(&query->sources, query->previous);
    query->acknowledged = true;
}

static void batch_committed(struct query *query, struct batch_intent *intent)
{
    query->previous = intent;
    query->acknowledged = false;
    query->intent = NULL;
    query->next_batch_id = intent->batch_id + 1;
    query->batches++;
}

/* A batch that is run again after a rewind may be in the sink already, which then leaves it at
 * that: the rows are the same.  It is due all the same, so that the sink is not ahead of the log.
 */
static bool sink_has(const struct query *query, int64_t batch_id)
{
    return batch_id < query->replay_end && batch_id <= query->sink_last;
}

enum status micro_batch_run(struct query *query, struct error *err)
{
    enum status status = OK;
    struct batch_intent *intent = query->intent;
    int64_t batch_id = intent->batch_id;
    CHECK(batch_id == query->next_batch_id);
    struct batch_changes changes = {0};
    int64_t began_us = clock_monotonic_us(query->config.clock);
    log_set_batch(query->config.log, batch_id);

    query_set_status(query, "PROCESSING", "Writing offsets to log", true);
    TRY_OUT(FAILPOINT(pre_intent, err));
    TRY_OUT(checkpoint_append_intent(query->checkpoint, intent, err));
    TRY_OUT(FAILPOINT(post_intent, err));
    query->timing.wal_commit_us = lap(query, &began_us);

    query_set_status(query, "PROCESSING",
                     query->is_data_available ? "Processing new data"
                                              : "No new data but cleaning up state",
                     true);
    TRY_OUT(batch_run(query, intent, err));
    watermark_update(&query->watermark, query->result.event_times);
    changes.next_watermark_us = watermark_global_us(&query->watermark);
    changes.sink_due = query->result.sink_due || sink_has(query, batch_id);
    changes.input_rows = query->result.input_rows_all;
    changes.output_rows = query->result.output_rows;
    TRY_OUT(checkpoint_append_changes(query->checkpoint, batch_id, &changes, err));
    TRY_OUT(checkpoint_sync(query->checkpoint, err));
    TRY_OUT(FAILPOINT(post_sync, err));

    if (query->result.sink_due) {
        query_set_status(query, "WRITING_SINK", "Processing new data", true);
        TRY_OUT(checkpoint_check_fence(query->checkpoint, batch_id, err));
        TRY_OUT(query->sink->ops->commit(query->sink, batch_id, err));
    }
    TRY_OUT(FAILPOINT(post_sink, err));
    query->timing.add_batch_us = lap(query, &began_us) - query->timing.get_batch_us;

    TRY_OUT(checkpoint_append_commit(query->checkpoint, batch_id, err));
    TRY_OUT(FAILPOINT(post_commit, err));
    acknowledge_previous(query);
    batch_committed(query, intent);
    query->timing.commit_us = lap(query, &began_us);

out:
    query->sink->ops->abort(query->sink);
    state_budget_end(query);
    arena_reset(query->batch_arena);
    return status;
}
