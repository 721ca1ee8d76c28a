/*
 * The life of a query: query_open() has recovered it; here it waits for triggers, and runs a batch
 * at each.  A failed batch ends the run: what comes then is the supervisor's to decide.
 */
#include "worker/worker.h"

#include "base/check.h"
#include "spec/conf.h"
#include "worker/batch_plan.h"
#include "worker/commands.h"
#include "worker/micro_batch.h"
#include "worker/progress.h"
#include "worker/state_snapshot.h"
#include "worker/trigger.h"

#include <limits.h>

#define POLL_SOURCES_MAX   64
#define IDLE_SYNC_US       200000 /* an idle query makes its last COMMIT durable after this */
#define IDLE_REPORT_MIN_US 1000

static void report(struct query *query, int64_t batch_id, int64_t output_rows)
{
    struct query_observer *observer = query->config.observer;
    query->last_progress_us = clock_monotonic_us(query->config.clock);
    if (observer != NULL && observer->progress != NULL)
        observer->progress(observer, batch_id, output_rows, buffer_bytes(&query->scratch));
}

static enum status run_batch(struct query *query, struct error *err)
{
    const struct batch_intent *intent = query->intent;
    if (micro_batch_run(query, err) != OK)
        return error_wrap(err, "batch %lld", (long long)intent->batch_id);
    query->timing.ended_us = clock_monotonic_us(query->config.clock);
    buffer_clear(&query->scratch);
    progress_of_batch(query, intent, &query->scratch);
    TRY(checkpoint_append_progress(query->checkpoint, intent->batch_id,
                                   buffer_bytes(&query->scratch), err));
    log_event(query->config.log, LOG_INFO, "batch_committed",
              (struct log_field[]){
                  log_u64("numInputRows", query->result.input_rows_all),
                  log_u64("numOutputRows", query->result.output_rows),
                  log_i64("durationMs", (query->timing.ended_us - query->timing.started_us) / 1000),
                  {0}});
    report(query, intent->batch_id, (int64_t)query->result.output_rows);
    return state_snapshot_consider(query, intent->batch_id, err);
}

/* An idle query looks for data once in a polling delay, and reports no more often than it looks:
 * else 0 would mean without pause. */
static int64_t idle_interval_us(const struct query *query)
{
    int64_t interval_us =
        conf_duration_us(&query->spec->conf, CONF_streaming_noDataProgressEventInterval);
    int64_t polling_us = conf_duration_us(&query->spec->conf, CONF_streaming_pollingDelay);
    int64_t least_us = polling_us > IDLE_REPORT_MIN_US ? polling_us : IDLE_REPORT_MIN_US;
    return interval_us > least_us ? interval_us : least_us;
}

static void idle_report(struct query *query)
{
    int64_t interval_us = idle_interval_us(query);
    if (clock_monotonic_us(query->config.clock) - query->last_progress_us < interval_us)
        return;
    query->timing.ended_us = clock_monotonic_us(query->config.clock);
    buffer_clear(&query->scratch);
    progress_idle(query, &query->scratch);
    report(query, query->next_batch_id, -1);
}

enum status worker_step(struct query *query, enum step_outcome *outcome, struct error *err)
{
    enum trigger_kind trigger = query->spec->trigger;
    query->timing = (struct trigger_timing){
        .started_wall_us = clock_now_us(query->config.clock),
        .started_us = clock_monotonic_us(query->config.clock),
    };
    *outcome = STEP_FINISHED;
    if (trigger == TRIGGER_ONCE && query->ran_once)
        return OK;
    TRY(batch_plan_next(query, err));
    if (query->intent != NULL) {
        TRY(run_batch(query, err));
        query->ran_once = true;
        *outcome = STEP_RAN;
    } else {
        idle_report(query);
        if (trigger != TRIGGER_AVAILABLE_NOW && trigger != TRIGGER_ONCE)
            *outcome = STEP_IDLE;
    }
    query->last_trigger_us = query->timing.started_us;
    bool timed = trigger == TRIGGER_PROCESSING_TIME && query->spec->trigger_interval_us > 0;
    if (timed || *outcome == STEP_RAN) /* until the next multiple nobody looks for data */
        query_set_status(query, "WAITING_FOR_TRIGGER", "Waiting for next trigger", false);
    else
        query_set_status(query, "WAITING_FOR_DATA", "Waiting for data to arrive", false);
    return OK;
}

/* Waits until the server or a signal has something to say, a source may have something new (if
 * `sources`), or the time is over; -1: without end. */
static void wait_for(struct query *query, struct control *control, bool sources, int64_t limit_us)
{
    struct pollfd fds[POLL_SOURCES_MAX + 1];
    uint32_t count = 0;
    bool all = true;
    if (sources)
        count = source_set_poll(&query->sources, fds, POLL_SOURCES_MAX, &all);
    if (!all) {
        int64_t polling_us = conf_duration_us(&query->spec->conf, CONF_streaming_pollingDelay);
        if (limit_us < 0 || polling_us < limit_us)
            limit_us = polling_us;
    }
    fds[count] = (struct pollfd){.fd = control_wake_fd(control), .events = POLLIN};
    int64_t limit_ms = limit_us < 0 ? -1 : (limit_us + 999) / 1000;
    int ready = poll(fds, count + 1, limit_ms > INT_MAX ? INT_MAX : (int)limit_ms);
    if (ready > 0 && fds[count].revents != 0)
        control_woken(control);
    if (sources)
        source_set_woken(&query->sources);
}

static int64_t min_wait(int64_t a_us, int64_t b_us)
{
    if (a_us < 0 || b_us < 0)
        return a_us < 0 ? b_us : a_us;
    return a_us < b_us ? a_us : b_us;
}

/* What an idle query still has to do, and when: the first thing of it. */
static enum status rest(struct query *query, int64_t idle_since_us, bool *trimmed,
                        int64_t *limit_us, struct error *err)
{
    int64_t now_us = clock_monotonic_us(query->config.clock);
    int64_t report_us = query->last_progress_us + idle_interval_us(query) - now_us;
    *limit_us = min_wait(*limit_us, report_us > 0 ? report_us : 0);
    if (*trimmed)
        return OK;
    if (now_us - idle_since_us < IDLE_SYNC_US) {
        *limit_us = min_wait(*limit_us, idle_since_us + IDLE_SYNC_US - now_us);
        return OK;
    }
    *trimmed = true;
    query_trim(query);
    return checkpoint_sync(query->checkpoint, err);
}

static enum status loop_until_stopped(struct query *query, struct control *control,
                                      const char **reason, struct error *err)
{
    enum trigger_kind trigger = query->spec->trigger;
    int64_t interval_us = trigger == TRIGGER_PROCESSING_TIME ? query->spec->trigger_interval_us : 0;
    struct commands commands = {.control = control, .query = query};
    int64_t next_us = 0;
    int64_t idle_since_us = clock_monotonic_us(query->config.clock);
    bool trimmed = false;
    *reason = trigger == TRIGGER_ONCE ? "once" : "availableNow";
    for (;;) {
        bool forced = commands_take(&commands);
        if (control_stop_wish(control) != STOP_NONE) {
            *reason = "stopped";
            break;
        }
        enum step_outcome outcome = STEP_IDLE;
        int64_t now_us = clock_now_us(query->config.clock);
        bool due = interval_us == 0 || now_us >= next_us;
        if (due)
            next_us = trigger_next_us(interval_us, now_us);
        if (due || forced)
            TRY(worker_step(query, &outcome, err));
        if (due || forced)
            commands_answer(&commands, outcome == STEP_RAN);
        if (outcome == STEP_FINISHED)
            break;
        if (outcome == STEP_RAN) {
            idle_since_us = clock_monotonic_us(query->config.clock);
            trimmed = false;
            if (interval_us == 0)
                continue;
        }
        int64_t limit_us = -1;
        if (interval_us > 0)
            limit_us = trigger_wait_us(next_us, clock_now_us(query->config.clock));
        TRY(rest(query, idle_since_us, &trimmed, &limit_us, err));
        if (!commands_open(&commands))
            wait_for(query, control, interval_us == 0, limit_us);
    }
    commands_end(&commands);
    return OK;
}

enum status worker_loop(struct query *query, struct control *control, const char **reason,
                        struct error *err)
{
    enum status status = loop_until_stopped(query, control, reason, err);
    /* A stop does not wait for a snapshot: the log has everything, and the next run takes one.  A
     * run that has ended by itself takes its time. */
    if ((status != OK || control_stop_wish(control) != STOP_NONE) &&
        query->state_snapshot.store != NULL)
        state_store_abandon(query->state_snapshot.store);
    return status;
}
