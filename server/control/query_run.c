#include "control/query.h"

#include "base/check.h"
#include "base/metric.h"
#include "base/path.h"
#include "control/reports.h"
#include "spec/json_reader.h"
#include "supervisor/restart_policy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNKNOWN_BATCH      INT64_MIN
#define START_PARALLEL     4        /* workers that are starting at a time */
#define IMMEDIATE_GRACE_US 10000000 /* after that an immediate stop is a SIGKILL */
#define ORPHAN_LOCK_US     60000000 /* how long an old worker may still hold its checkpoint */
#define ORPHAN_RETRY_US    200000
#define STOPPING_SILENCES                                                                          \
    3 /* heartbeat timeouts of a worker that is to stop: then it is killed                         \
       */
#define STORE_AGAIN_US    2000000
#define IDLE_ROUND_MS     1000
#define BUSY_ROUND_MS     20
#define RESULTS_BYTES_MAX (256U << 20)

static void copy_text(char *to, size_t size, struct bytes from)
{
    size_t keep = from.size_bytes < size ? from.size_bytes : size - 1;
    if (keep > 0)
        memcpy(to, from.data, keep);
    to[keep] = '\0';
}

static void log_state(struct control *control, const struct query *query)
{
    struct log *log = control->options.log;
    const struct query_snapshot *now = &query->now;
    enum log_level level = now->state == QUERY_FAILED     ? LOG_ERROR
                           : now->state == QUERY_RETRYING ? LOG_WARN
                                                          : LOG_INFO;
    const struct log_field fields[] = {log_text("queryName", now->definition->name),
                                       log_text("state", query_state_name(now->state)),
                                       log_text("reason", now->reason),
                                       {0}};
    bool failed = now->state == QUERY_FAILED || now->state == QUERY_RETRYING;
    if (failed && now->last_error != NULL)
        log_error_event(log, level, "query_state_changed", &now->last_error->error, fields);
    else
        log_event(log, level, "query_state_changed", fields);
}

static void count_states(struct control *control)
{
    double counts[QUERY_STATE_COUNT] = {0};
    for (size_t i = 0; i < control->query_count; i++)
        counts[control->queries[i]->now.state]++;
    for (int i = 0; i < QUERY_STATE_COUNT; i++) {
        const struct metric_labels labels = {{query_state_name((enum query_state)i)}};
        metric_set(metric_series(METRIC_queries, &labels), counts[i]);
    }
}

/* True if it is another state than before, or another reason. */
static bool change_state(struct control *control, struct query *query, enum query_state state,
                         const char *reason)
{
    bool same = query->now.state == state && strcmp(query->now.reason, reason) == 0;
    query->now.state = state;
    (void)snprintf(query->now.reason, sizeof query->now.reason, "%s", reason);
    if (!same)
        query->now.since_us = now_us(control);
    if (state != QUERY_RUNNING) {
        query->now.phase[0] = '\0';
        query->now.is_trigger_active = false;
    }
    if (state != QUERY_RUNNING && state != QUERY_STOPPING)
        query->now.is_data_available = false; /* nobody looks */
    if (state != QUERY_RETRYING)
        query->now.next_retry_us = 0;
    if (state == QUERY_STOPPED || state == QUERY_FINISHED)
        query->now.attempt = 0; /* nothing is tried any more */
    return !same;
}

static void announce_state(struct control *control, struct query *query, bool changed)
{
    if (changed) { /* who has seen the state finds it in the metrics, too */
        const struct metric_labels labels = {{query->now.definition->name}};
        count_states(control);
        metric_set(metric_series(METRIC_query_up, &labels),
                   query->now.state == QUERY_RUNNING ? 1 : 0);
    }
    query_publish(control, query);
    if (changed)
        log_state(control, query);
}

void query_set_state(struct control *control, struct query *query, enum query_state state,
                     const char *reason)
{
    announce_state(control, query, change_state(control, query, state, reason));
}

void query_end_as(struct control *control, struct query *query, enum query_state state,
                  const char *reason)
{
    CHECK(query_state_is_ended(state));
    bool changed = change_state(control, query, state, reason);
    if (!control->stopping)
        query_store_or_later(control, query);
    announce_state(control, query, changed);
}

struct catalog_entry query_record(const struct query *query)
{
    struct catalog_entry entry = {.definition = query->now.definition,
                                  .desired_running = query->now.desired_running,
                                  .deleting = query->deleting,
                                  .purge = query->purge};
    if (!query_state_is_ended(query->now.state))
        return entry;
    entry.outcome.state = query->now.state;
    entry.outcome.since_us = query->now.since_us;
    memcpy(entry.outcome.reason, query->now.reason, sizeof entry.outcome.reason);
    if (query->now.state == QUERY_FAILED && query->now.last_error != NULL)
        entry.outcome.error = query->now.last_error->error;
    return entry;
}

enum status query_store(struct control *control, struct query *query, struct error *err)
{
    const struct catalog_entry entry = query_record(query);
    TRY(query_catalog_put(control->catalog, &entry, err));
    query->store_us = 0;
    if (!query->now.is_durable) {
        query->now.is_durable = true;
        query_publish(control, query);
    }
    return OK;
}

void query_store_or_later(struct control *control, struct query *query)
{
    struct error err = ERROR_INIT;
    if (query->damaged || query_store(control, query, &err) == OK)
        return;
    query->store_us = monotonic_us(control) + STORE_AGAIN_US;
    if (!query->now.is_durable)
        return; /* it is known */
    query->now.is_durable = false;
    log_error_event(control->options.log, LOG_ERROR, "query_record_not_written", &err,
                    (struct log_field[]){log_text("queryName", query->now.definition->name), {0}});
    query_publish(control, query);
}

/* ---- starting ---- */

void query_want_start(struct control *control, struct query *query, const char *reason)
{
    CHECK(query->worker == NULL);
    query->start_wanted = true;
    query->stop_asked = false;
    query->restart_asked = false;
    query_set_state(control, query, QUERY_STARTING, reason);
}

static void run_line(struct control *control, struct query *query, struct buffer *line)
{
    struct error err = ERROR_INIT;
    if (history_append(query->runs_log, buffer_bytes(line), &err) != OK)
        log_error_event(
            control->options.log, LOG_WARN, "run_not_recorded", &err,
            (struct log_field[]){log_text("queryName", query->now.definition->name), {0}});
    buffer_fini(line);
}

void query_record_rewind(struct control *control, struct query *query, int64_t from_batch,
                         int64_t to_batch)
{
    char at[CLOCK_ISO_SIZE];
    struct buffer line = {0};
    clock_format_iso(now_us(control), at);
    buffer_printf(&line, "{\"rewoundAt\":\"%s\",\"fromBatchId\":%lld,\"toBatchId\":%lld}", at,
                  (long long)from_batch, (long long)to_batch);
    run_line(control, query, &line);
    history_rest(query->runs_log);
    log_event(control->options.log, LOG_INFO, "query_rewound",
              (struct log_field[]){log_text("queryName", query->now.definition->name),
                                   log_i64("fromBatchId", from_batch),
                                   log_i64("toBatchId", to_batch),
                                   {0}});
}

static void record_start(struct control *control, struct query *query)
{
    char started[CLOCK_ISO_SIZE];
    clock_format_iso(query->now.run_started_us, started);
    struct buffer line = {0};
    buffer_printf(&line, "{\"runId\":\"%s\",\"startedAt\":\"%s\",\"generation\":%llu,\"pid\":%lld}",
                  query->now.run_id, started, (unsigned long long)query->now.running_generation,
                  (long long)query->now.pid);
    run_line(control, query, &line);
}

/* `last_batch`: UNKNOWN_BATCH if it is not known. */
static void write_end(struct control *control, struct query *query, const char *run_id,
                      const char *how, int64_t last_batch, const struct error *error)
{
    char ended[CLOCK_ISO_SIZE];
    clock_format_iso(now_us(control), ended);
    struct buffer line = {0};
    buffer_printf(&line, "{\"runId\":\"%s\",\"endedAt\":\"%s\",\"end\":\"%s\"", run_id, ended, how);
    if (last_batch != UNKNOWN_BATCH)
        buffer_printf(&line, ",\"lastBatchId\":%lld", (long long)last_batch);
    if (error != NULL) {
        buffer_printf(&line, ",\"condition\":\"%s\",\"detail\":", status_name(error->status));
        buffer_add_json_string(&line, bytes_of_text(error->text));
    }
    buffer_add_byte(&line, '}');
    run_line(control, query, &line);
}

static void record_end(struct control *control, struct query *query, const char *how,
                       const struct error *error)
{
    if (query->now.run_id[0] != '\0') /* else it did not come to a run */
        write_end(control, query, query->now.run_id, how, query->now.last_batch_id, error);
}

/* The worker ends, after its batch, when it finds that the server is gone. */
void query_record_lost_ends(struct control *control, struct query *query)
{
    struct open_runs runs;
    report_open_runs(query->now.definition, &runs);
    for (size_t i = 0; i < runs.count; i++) {
        struct error err = ERROR_INIT;
        (void)error_raise(&err, STATUS_WORKER_DIED, "reason",
                          "the server was killed, and a worker ends without its server", NULL);
        write_end(control, query, runs.ids[i], "FAILED", UNKNOWN_BATCH, &err);
    }
    if (runs.count > 0)
        history_rest(query->runs_log);
}

static void decide_end(struct control *control, struct query *query, enum run_end end,
                       const struct error *error);

static enum status spawn(struct control *control, struct query *query, struct error *err)
{
    const struct query_definition *definition = query->now.definition;
    const struct config *config = control->options.config;
    struct arena *arena = arena_new("request", 0);
    const char *spec_path = NULL;
    enum status status =
        query_catalog_write_spec(control->catalog, arena, definition, &spec_path, err);
    if (status == OK) {
        const char *log_level = log_level_name(config_level(config, SETTING_logLevel));
        const char *parallelism = arena_sprintf(
            arena, "%llu", (unsigned long long)config_number(config, SETTING_parallelism));
        const char *partitions = arena_sprintf(
            arena, "%llu", (unsigned long long)config_number(config, SETTING_partitions));
        const char *memory = arena_sprintf(
            arena, "%llu", (unsigned long long)config_number(config, SETTING_workerMemory));
        const char *const settings[] = {"--log-level",     log_level,      "--parallelism",
                                        parallelism,       "--partitions", partitions,
                                        "--worker-memory", memory,         NULL};
        const struct worker_start start = {
            .binary = control->options.binary,
            .spec_path = spec_path,
            .data_dir = config_text(config, SETTING_dataDir),
            .log_path = path_join(arena, definition->directory, "worker.log"),
            .log_keep_bytes = config_number(config, SETTING_logKeepBytes),
            .settings = settings,
        };
        status = supervisor_start(control->supervisor, &start, query, &query->worker, err);
    }
    arena_free(arena);
    return status;
}

static void start_now(struct control *control, struct query *query)
{
    query->start_wanted = false;
    query->failed = query->finished = false;
    query->stop_deadline_us = 0;
    query->now.run_id[0] = '\0';
    query->now.running_generation = query->now.definition->generation;
    query->now.run_started_us = now_us(control);
    buffer_fini(&query->results);
    struct error err = ERROR_INIT;
    if (spawn(control, query, &err) != OK) {
        decide_end(control, query, RUN_FAILED, &err);
        query_end_waiting(control, query);
        return;
    }
    query->now.pid = worker_pid(query->worker);
    query->heard_us = query->pinged_us = monotonic_us(control);
    query_set_state(control, query, QUERY_STARTING, "the worker is starting");
    query_send_pending(query);
}

static bool may_start(const struct control *control, const struct query *query)
{
    /* A name with a worker ends first; it starts again from query_on_end. */
    return query->start_wanted && query->worker == NULL && !control->stopping;
}

void query_start_some(struct control *control)
{
    size_t starting = 0;
    for (size_t i = 0; i < control->query_count; i++)
        starting +=
            control->queries[i]->worker != NULL && control->queries[i]->now.state == QUERY_STARTING;
    uint64_t running_max = config_number(control->options.config, SETTING_maxRunningQueries);
    for (size_t i = 0; i < control->query_count && starting < START_PARALLEL; i++) {
        struct query *query = control->queries[i];
        if (!may_start(control, query))
            continue;
        if (supervisor_worker_count(control->supervisor) >= running_max)
            return;
        start_now(control, query);
        starting += query->worker != NULL;
    }
}

/* ---- stopping ---- */

void query_want_stop(struct control *control, struct query *query, bool immediate)
{
    CHECK(query->worker != NULL);
    query->stop_asked = true;
    const struct message message = {.kind = MESSAGE_STOP, .number = {immediate ? 1 : 0}};
    worker_send(query->worker, &message);
    int64_t grace = config_duration_us(control->options.config, SETTING_stopTimeout);
    query->stop_deadline_us = 0;
    if (immediate)
        grace = IMMEDIATE_GRACE_US;
    if (grace > 0)
        query->stop_deadline_us = monotonic_us(control) + grace;
    query_set_state(control, query, QUERY_STOPPING,
                    immediate ? "stopping at once" : "finishing the batch");
}

/* ---- messages ---- */

void query_begin_streak(struct query *query)
{
    query->now.attempt = 0;
    shared_error_unref(query->now.first_error);
    query->now.first_error = NULL;
}

static void note_success(struct query *query)
{
    query->resumed = false;
    query_begin_streak(query);
}

static double number_at(json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 0;
}

static void count_state_rows(const char *name, json_t *document)
{
    double rows = 0, bytes = 0, dropped = 0;
    size_t i;
    json_t *operator_;
    json_array_foreach(json_object_get(document, "stateOperators"), i, operator_)
    {
        rows += number_at(operator_, "numRowsTotal");
        bytes += number_at(operator_, "memoryUsedBytes");
        dropped += number_at(operator_, "numRowsDroppedByWatermark");
    }
    const struct metric_labels labels = {{name}};
    metric_set(metric_series(METRIC_query_state_rows, &labels), rows);
    metric_set(metric_series(METRIC_query_state_bytes, &labels), bytes);
    metric_add(metric_series(METRIC_query_dropped_rows_total, &labels), dropped);
}

static void count_uncleaned(const char *name, json_t *document)
{
    double uncleaned = 0;
    size_t i;
    json_t *source;
    json_array_foreach(json_object_get(document, "sources"), i, source)
    {
        const char *text = json_string_value(
            json_object_get(json_object_get(source, "metrics"), "numFilesNotCleaned"));
        uncleaned += text == NULL ? 0 : strtod(text, NULL);
    }
    const struct metric_labels labels = {{name}};
    metric_add(metric_series(METRIC_query_uncleaned_files_total, &labels), uncleaned);
}

/* Of a query with a watermark: "2026-01-01T00:00:00.000Z". */
static void set_watermark(const char *name, const json_t *document)
{
    struct tm time = {0};
    const json_t *event_time = json_object_get(document, "eventTime");
    const char *text = json_string_value(json_object_get(event_time, "watermark"));
    const char *rest = text == NULL ? NULL : strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (rest == NULL)
        return;
    const struct metric_labels labels = {{name}};
    metric_set(metric_series(METRIC_query_watermark_seconds, &labels),
               (double)timegm(&time) + strtod(*rest == '.' ? rest : "0", NULL));
}

static void count_progress(const char *name, json_t *document)
{
    const struct metric_labels labels = {{name}};
    metric_add(metric_series(METRIC_query_input_rows_total, &labels),
               number_at(document, "numInputRows"));
    double millis = number_at(json_object_get(document, "durationMs"), "triggerExecution");
    metric_observe(metric_series(METRIC_query_batch_duration_seconds, &labels), millis / 1000);
}

/* Also of an idle query. */
static void count_standing(const char *name, json_t *document)
{
    count_state_rows(name, document);
    count_uncleaned(name, document);
    set_watermark(name, document);
}

/*
 * A starting worker sends again what its checkpoint remembers of earlier runs: taken only if the
 * server's own history is gone.
 */
static bool is_news(const struct query *query, json_t *document)
{
    const char *run_id = json_string_value(json_object_get(document, "runId"));
    return query->history_wanted || run_id == NULL || strcmp(run_id, query->now.run_id) == 0;
}

static void on_progress(struct control *control, struct query *query, const struct message *message)
{
    struct error err = ERROR_INIT;
    json_t *document = NULL;
    if (json_load(message->text[0], &document, &err) != OK || !json_is_object(document) ||
        !is_news(query, document)) {
        json_decref(document);
        return;
    }
    bool idle = message->number[1] != 0; /* as in Spark, no document of it is kept */
    if (query->now.state != QUERY_STARTING && !idle)
        count_progress(query->now.definition->name, document);
    if (query->now.state != QUERY_STARTING)
        count_standing(query->now.definition->name, document);
    json_decref(document);
    if (idle)
        return;
    if (history_append(query->progress_log, message->text[0], &err) != OK)
        log_error_event(
            control->options.log, LOG_WARN, "progress_not_recorded", &err,
            (struct log_field[]){log_text("queryName", query->now.definition->name), {0}});
    shared_text_unref(query->now.progress);
    query->now.progress = shared_text_new(message->text[0]);
    query_publish(control, query);
}

static void on_batch(struct control *control, struct query *query, const struct message *message)
{
    note_success(query);
    query->now.last_batch_id = message->number[0];
    const struct metric_labels labels = {{query->now.definition->name}};
    metric_add(metric_series(METRIC_query_batches_total, &labels), 1);
    metric_add(metric_series(METRIC_query_output_rows_total, &labels), (double)message->number[1]);
    metric_set(metric_series(METRIC_query_last_batch_id, &labels), (double)message->number[0]);
    query_publish(control, query);
}

static void on_state(struct control *control, struct query *query, const struct message *message)
{
    struct query_snapshot *now = &query->now;
    copy_text(now->phase, sizeof now->phase, message->text[0]);
    copy_text(now->message, sizeof now->message, message->text[1]);
    now->is_data_available = message->number[0] != 0;
    now->is_trigger_active = message->number[1] != 0;
    bool runs = now->phase[0] != '\0' && strcmp(now->phase, "STARTING") != 0;
    if (runs && (now->state == QUERY_STARTING || now->state == QUERY_UNKNOWN)) {
        query_set_state(control, query, QUERY_RUNNING, "");
        return;
    }
    query_publish(control, query);
}

static struct command **find_pending(struct query *query, int64_t request_id)
{
    struct command **link = &query->pending;
    while (*link != NULL && (*link)->request_id != request_id)
        link = &(*link)->next;
    return link;
}

static void answer(struct control *control, struct query *query, struct command **link,
                   const struct error *error)
{
    struct command *command = *link;
    *link = command->next;
    query->pending_count--;
    command->next = NULL;
    command->changed = true;
    command_finish(control, command, query, error);
}

static void on_reply(struct control *control, struct query *query, const struct message *message)
{
    struct command **link = find_pending(query, message->number[0]);
    if (*link == NULL)
        return;
    if (message->text[0].size_bytes == 0) {
        answer(control, query, link, NULL);
        return;
    }
    char name[128];
    copy_text(name, sizeof name, message->text[0]);
    struct error err = ERROR_INIT;
    if ((*link)->kind == COMMAND_RESULTS)
        (void)query_raise_no_results(query->now.definition, name, &err);
    else
        (void)error_set(&err, status_find(name) == OK ? STATUS_INTERNAL_ERROR : status_find(name),
                        "The worker answered %s", name);
    answer(control, query, link, &err);
}

static void keep_results(struct control *control, struct query *query,
                         const struct message *message)
{
    if (query->results.size_bytes + message->text[0].size_bytes <= RESULTS_BYTES_MAX)
        buffer_add_bytes(&query->results, message->text[0]);
    if (message->number[1] == 0)
        return;
    struct buffer path = {0};
    buffer_printf(&path, "%s/results.ndjson", query->now.definition->directory);
    struct error err = ERROR_INIT;
    if (vfs_put(control->options.vfs, buffer_text(&path), buffer_bytes(&query->results), false,
                &err) != OK)
        log_error_event(
            control->options.log, LOG_WARN, "results_not_kept", &err,
            (struct log_field[]){log_text("queryName", query->now.definition->name), {0}});
    buffer_fini(&path);
    buffer_fini(&query->results);
}

static void on_result(struct control *control, struct query *query, const struct message *message)
{
    if (message->number[0] == 0) {
        keep_results(control, query, message);
        return;
    }
    struct command **link = find_pending(query, message->number[0]);
    if (*link == NULL)
        return;
    struct command *command = *link;
    if (command->output.size_bytes + message->text[0].size_bytes <= RESULTS_BYTES_MAX)
        buffer_add_bytes(&command->output, message->text[0]);
    if (message->number[1] != 0)
        answer(control, query, link, NULL);
}

static void on_hello(struct control *control, struct query *query, const struct message *message)
{
    copy_text(query->now.query_id, sizeof query->now.query_id, message->text[0]);
    copy_text(query->now.run_id, sizeof query->now.run_id, message->text[1]);
    struct uuid ignored;
    if (!uuid_parse(bytes_of_text(query->now.run_id), &ignored)) /* it goes into JSON */
        uuid_random_text(query->now.run_id);
    query->history_wanted = !history_exists(query->progress_log);
    record_start(control, query);
    query_publish(control, query);
}

static void on_plan(struct control *control, struct query *query, const struct message *message)
{
    shared_text_unref(query->now.plan_text);
    shared_text_unref(query->now.plan_json);
    query->now.plan_text = shared_text_new(message->text[0]);
    query->now.plan_json = shared_text_new(message->text[1]);
    query_publish(control, query);
}

void query_on_message(void *ctx, void *owner, const struct message *message)
{
    struct control *control = ctx;
    struct query *query = owner;
    query->heard_us = monotonic_us(control);
    query->now.heard_us = now_us(control);
    if (query->now.state == QUERY_UNKNOWN)
        query_set_state(control, query, query->was_starting ? QUERY_STARTING : QUERY_RUNNING,
                        "the worker answers again");
    switch (message->kind) {
    case MESSAGE_HELLO:
        on_hello(control, query, message);
        break;
    case MESSAGE_STATE:
        on_state(control, query, message);
        break;
    case MESSAGE_PLAN:
        on_plan(control, query, message);
        break;
    case MESSAGE_PROGRESS:
        on_progress(control, query, message);
        break;
    case MESSAGE_BATCH:
        on_batch(control, query, message);
        break;
    case MESSAGE_REPLY:
        on_reply(control, query, message);
        break;
    case MESSAGE_RESULT:
        on_result(control, query, message);
        break;
    case MESSAGE_FAILED:
        query->failed = true;
        message_to_error(message, &query->failure);
        break;
    case MESSAGE_FINISHED:
        query->finished = true;
        copy_text(query->finish_reason, sizeof query->finish_reason, message->text[0]);
        break;
    case MESSAGE_HEARTBEAT:
    case MESSAGE_STOP:
    case MESSAGE_TRIGGER:
    case MESSAGE_PROCESS_ALL_AVAILABLE:
    case MESSAGE_READ_RESULTS:
    case MESSAGE_PING:
    case MESSAGE_COUNT_:
        break;
    }
}

/* ---- the end of a run ---- */

static void note_error(struct control *control, struct query *query, const struct error *error)
{
    struct shared_error *shared = shared_error_new(error, now_us(control));
    shared_error_unref(query->now.last_error);
    query->now.last_error = shared;
    if (query->now.first_error == NULL)
        query->now.first_error = shared_error_ref(shared);
}

bool query_may_have_orphan(const struct control *control)
{
    return monotonic_us(control) - control->opened_us < ORPHAN_LOCK_US;
}

/* The checkpoint may be held by a worker of the server's earlier life that ends its batch. */
static bool lock_may_be_ours(const struct control *control, const struct query *query,
                             const struct error *error)
{
    return query->resumed && error != NULL && error->status == STATUS_CHECKPOINT__LOCKED &&
           query_may_have_orphan(control);
}

static void plan_retry(struct control *control, struct query *query, int64_t delay_us,
                       const char *reason)
{
    query->retry_us = monotonic_us(control) + delay_us;
    query->now.next_retry_us = now_us(control) + delay_us;
    query_set_state(control, query, QUERY_RETRYING, reason);
    const struct metric_labels labels = {{query->now.definition->name}};
    metric_add(metric_series(METRIC_query_restarts_total, &labels), 1);
}

static struct restart_facts facts_of(const struct control *control, const struct query *query,
                                     enum run_end end, const struct error *error)
{
    const struct config *config = control->options.config;
    int64_t limit = (int64_t)config_number(config, SETTING_restartMax);
    int64_t own = query->now.definition->restart_attempts_max;
    uint32_t random = 0;
    random_bytes(&random, sizeof random);
    return (struct restart_facts){
        .end = end,
        .status = error == NULL ? OK : error->status,
        .mode = query->now.definition->restart_mode,
        .attempts_max = own < limit ? own : limit,
        .attempts_said = own != INT32_MAX, /* the default */
        .attempts = query->now.attempt,
        .delay_us = config_duration_us(config, SETTING_restartDelay),
        .delay_max_us = config_duration_us(config, SETTING_restartDelayMax),
        .jitter = (double)random / 4294967295.0,
    };
}

static void decide_end(struct control *control, struct query *query, enum run_end end,
                       const struct error *error)
{
    if (error != NULL)
        note_error(control, query, error);
    if (lock_may_be_ours(control, query, error)) {
        plan_retry(control, query, ORPHAN_RETRY_US, "the earlier worker is still ending");
        return;
    }
    const struct restart_facts facts = facts_of(control, query, end, error);
    struct restart_decision decision = restart_decide(&facts);
    switch (decision.action) {
    case RESTART_TO_STOPPED:
        query_end_as(control, query, QUERY_STOPPED,
                     control->stopping ? "the server is stopping" : "stopped on request");
        return;
    case RESTART_TO_FINISHED:
        note_success(query);
        query_end_as(control, query, QUERY_FINISHED, query->finish_reason);
        return;
    case RESTART_TO_FAILED:
        query_end_as(control, query, QUERY_FAILED,
                     error == NULL ? "failed" : status_name(error->status));
        return;
    case RESTART_TO_RETRYING:
        query->now.attempt++;
        plan_retry(control, query, decision.delay_us,
                   error == NULL ? "the query starts again" : status_name(error->status));
        return;
    }
}

/* What waits for all input waits on through a next attempt, if there is one. */
static void answer_pending(struct control *control, struct query *query, enum run_end end,
                           bool goes_on)
{
    for (struct command **link = &query->pending; *link != NULL;) {
        struct error err = ERROR_INIT;
        enum command_kind kind = (*link)->kind;
        if (goes_on && kind == COMMAND_PROCESS_ALL) {
            link = &(*link)->next;
            continue;
        }
        if (end == RUN_FINISHED && (kind == COMMAND_PROCESS_ALL || kind == COMMAND_TRIGGER)) {
            answer(control, query, link, NULL);
            continue;
        }
        char actions[128];
        query_allowed_actions(query->now.state, actions, sizeof actions);
        (void)error_raise(&err, STATUS_INVALID_STATE, "query", query->now.definition->name, "state",
                          query_state_name(query->now.state), "action",
                          kind == COMMAND_TRIGGER       ? "trigger"
                          : kind == COMMAND_PROCESS_ALL ? "processAllAvailable"
                                                        : "results",
                          "allowedActions", actions, NULL);
        query_add_cause(query, &err);
        answer(control, query, link, &err);
    }
}

void query_end_waiting(struct control *control, struct query *query)
{
    answer_pending(control, query, RUN_STOPPED, false);
}

static void end_run(struct control *control, struct query *query, const struct worker_exit *how)
{
    struct error err = ERROR_INIT;
    enum run_end end = RUN_FAILED;
    if (query->failed) {
        err = query->failure;
    } else if (query->finished) {
        bool by_request = query->stop_asked || strcmp(query->finish_reason, "stopped") == 0;
        end = by_request ? RUN_STOPPED : RUN_FINISHED;
    } else if (query->stop_asked) {
        end = RUN_STOPPED;
    } else {
        worker_exit_error(how, &err);
    }
    if (query->failed && query->stop_asked && status_domain(err.status) != DOMAIN_USER)
        end = RUN_STOPPED; /* it was to end anyway; the error is still shown */
    static const char *const names[] = {"STOPPED", "FINISHED", "FAILED"};
    bool has_error = err.status != OK;
    record_end(control, query, names[end], has_error ? &err : NULL);
    if (query->restart_asked && !control->stopping) {
        if (has_error)
            note_error(control, query, &err);
        query_want_start(control, query, "restarting on request");
    } else {
        decide_end(control, query, end, has_error ? &err : NULL);
    }
    answer_pending(control, query, end, !query_state_is_ended(query->now.state));
}

/* What cannot be removed stays, and says why. */
static void give_up_deletion(struct control *control, struct query *query, const struct error *why)
{
    log_error_event(control->options.log, LOG_ERROR, "query_not_removed", why,
                    (struct log_field[]){log_text("queryName", query->now.definition->name), {0}});
    query->deleting = query->purge = false;
    note_error(control, query, why);
    query_end_as(control, query, QUERY_FAILED, status_name(why->status));
}

static void finish_delete(struct control *control, struct query *query)
{
    struct error err = ERROR_INIT;
    const struct catalog_entry entry = query_record(query);
    query_end_waiting(control, query);
    enum status status = query_catalog_remove(control->catalog, &entry, &err);
    if (status == OK)
        query_remove(control, query);
    else if (status == STATUS_CHECKPOINT__LOCKED && query_may_have_orphan(control))
        query->delete_us = monotonic_us(control) + ORPHAN_RETRY_US;
    else
        give_up_deletion(control, query, &err);
}

void query_delete_later(struct control *control, struct query *query, const char *reason)
{
    query->deleting = true;
    query->start_wanted = false;
    query->now.desired_running = false;
    query->delete_us = monotonic_us(control) + ORPHAN_RETRY_US;
    query_set_state(control, query, QUERY_STOPPING, reason);
    query_store_or_later(control, query);
}

void query_delete_some(struct control *control)
{
    for (size_t i = control->query_count; i-- > 0;) { /* from the end: they leave the array */
        struct query *query = control->queries[i];
        if (query->deleting && query->worker == NULL && monotonic_us(control) >= query->delete_us)
            finish_delete(control, query);
    }
}

void query_on_end(void *ctx, void *owner, const struct worker_exit *how)
{
    struct control *control = ctx;
    struct query *query = owner;
    query->worker = NULL;
    query->now.pid = 0;
    history_rest(query->progress_log);
    if (query->deleting) {
        finish_delete(control, query);
        return;
    }
    end_run(control, query, how);
    history_rest(query->runs_log);
}

/* ---- time ---- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void watch_worker(struct control *control, struct query *query, int64_t now)
{
    const struct config *config = control->options.config;
    if (query->stop_deadline_us != 0 && now >= query->stop_deadline_us) {
        query->stop_deadline_us = 0;
        worker_kill(query->worker, SIGKILL);
    }
    if (control->stopping && now >= control->stop_deadline_us)
        worker_kill(query->worker, SIGKILL);
    if (now - query->pinged_us >= config_duration_us(config, SETTING_heartbeatInterval)) {
        query->pinged_us = now;
        worker_send(query->worker, &(struct message){.kind = MESSAGE_PING});
    }
    int64_t silent = now - query->heard_us;
    if (query->now.state == QUERY_STOPPING &&
        silent >= STOPPING_SILENCES * config_duration_us(config, SETTING_heartbeatTimeout)) {
        worker_kill(query->worker, SIGKILL); /* it does not even say that it lives */
        return;
    }
    bool starting = query->now.state == QUERY_STARTING;
    if ((starting || query->now.state == QUERY_RUNNING) &&
        silent >= config_duration_us(config, SETTING_heartbeatTimeout)) {
        struct error err = ERROR_INIT;
        char seconds[24];
        (void)snprintf(seconds, sizeof seconds, "%lld", (long long)(silent / 1000000));
        (void)error_raise(&err, STATUS_WORKER_UNRESPONSIVE, "seconds", seconds, NULL);
        query->was_starting = starting;
        query_set_state(control, query, QUERY_UNKNOWN, err.text);
    }
}

int query_timers(struct control *control)
{
    int64_t now = monotonic_us(control);
    int64_t next = now + (int64_t)IDLE_ROUND_MS * 1000;
    bool waiting = false;
    for (size_t i = 0; i < control->query_count; i++) {
        struct query *query = control->queries[i];
        if (query->worker != NULL) {
            watch_worker(control, query, now);
            if (query->stop_deadline_us != 0)
                next = earlier(next, query->stop_deadline_us);
            next = earlier(next, query->pinged_us + config_duration_us(control->options.config,
                                                                       SETTING_heartbeatInterval));
        } else if (query->now.state == QUERY_RETRYING && !control->stopping) {
            if (now >= query->retry_us)
                query_want_start(control, query, "trying again");
            else
                next = earlier(next, query->retry_us);
        }
        if (query->deleting && query->worker == NULL)
            next = earlier(next, query->delete_us);
        waiting |= may_start(control, query);
        if (query->rewind != NULL)
            continue; /* meanwhile the reason is not that of the state */
        if (query->store_us != 0 && now >= query->store_us)
            query_store_or_later(control, query);
        if (query->store_us != 0)
            next = earlier(next, query->store_us);
    }
    if (control->stopping)
        next = earlier(next, control->stop_deadline_us);
    if (waiting)
        next = earlier(next, now + (int64_t)BUSY_ROUND_MS * 1000);
    return next <= now ? 0 : (int)((next - now + 999) / 1000);
}
