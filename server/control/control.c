#include "control/query.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/heap.h"
#include "base/metric.h"
#include "base/vfs_posix.h"
#include "checkpoint/identity.h"
#include "control/reports.h"
#include "sink/sink_file.h"
#include "spec/diagnostics.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int64_t now_us(const struct control *control)
{
    return clock_now_us(control->options.clock);
}

int64_t monotonic_us(const struct control *control)
{
    return clock_monotonic_us(control->options.clock);
}

/* The place of `name` in the sorted array: the query of that name, or where it would stand. */
static size_t position_of(const struct control *control, const char *name, bool *found)
{
    size_t low = 0, high = control->query_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(control->queries[middle]->now.definition->name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = false;
    return low;
}

struct query *query_find(struct control *control, const char *name)
{
    bool found = false;
    size_t at = position_of(control, name, &found);
    return found ? control->queries[at] : NULL;
}

static struct history *history_in(const struct query_definition *definition, const char *name,
                                  size_t keep)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", definition->directory, name);
    struct history *history = history_new(buffer_text(&path), keep);
    buffer_fini(&path);
    return history;
}

struct query *query_insert(struct control *control, struct query_definition *definition)
{
    struct query *query = heap_calloc(1, sizeof *query);
    query->now.definition = definition;
    query->now.last_batch_id = -1;
    query->now.since_us = now_us(control);
    size_t keep = config_number(control->options.config, SETTING_progressKeep);
    query->progress_log = history_in(definition, "progress.ndjson", keep);
    query->runs_log = history_in(definition, "runs.ndjson", 200);
    bool found = false;
    size_t at = position_of(control, definition->name, &found);
    CHECK(!found);
    (void)pthread_mutex_lock(&control->mutex);
    if (control->query_count == control->query_capacity) {
        control->query_capacity = control->query_capacity == 0 ? 16 : control->query_capacity * 2;
        control->queries =
            heap_realloc(control->queries, control->query_capacity * sizeof *control->queries);
    }
    memmove(control->queries + at + 1, control->queries + at,
            (control->query_count - at) * sizeof *control->queries);
    control->queries[at] = query;
    control->query_count++;
    (void)pthread_mutex_unlock(&control->mutex);
    return query;
}

static void query_free(struct query *query)
{
    query_definition_unref(query->now.definition);
    shared_error_unref(query->now.first_error);
    shared_error_unref(query->now.last_error);
    shared_text_unref(query->now.progress);
    shared_text_unref(query->now.plan_text);
    shared_text_unref(query->now.plan_json);
    query_snapshot_unref(query->published);
    history_free(query->progress_log);
    history_free(query->runs_log);
    buffer_fini(&query->results);
    free(query);
}

void query_remove(struct control *control, struct query *query)
{
    CHECK(query->worker == NULL && query->pending == NULL);
    bool found = false;
    size_t at = position_of(control, query->now.definition->name, &found);
    CHECK(found && control->queries[at] == query);
    char name[QUERY_NAME_MAX + 1];
    (void)snprintf(name, sizeof name, "%s", query->now.definition->name);
    (void)pthread_mutex_lock(&control->mutex);
    control->query_count--;
    memmove(control->queries + at, control->queries + at + 1,
            (control->query_count - at) * sizeof *control->queries);
    (void)pthread_mutex_unlock(&control->mutex);
    metric_forget("query", name);
    query_free(query);
    if (control->changed != NULL)
        control->changed(control->changed_ctx, name);
}

void query_publish(struct control *control, struct query *query)
{
    struct query_snapshot *snapshot = query_snapshot_new();
    query->now.version = ++control->version;
    *snapshot = query->now;
    snapshot->references = 1;
    (void)query_definition_ref(snapshot->definition);
    (void)shared_error_ref(snapshot->first_error);
    (void)shared_error_ref(snapshot->last_error);
    (void)shared_text_ref(snapshot->progress);
    (void)shared_text_ref(snapshot->plan_text);
    (void)shared_text_ref(snapshot->plan_json);
    (void)pthread_mutex_lock(&control->mutex);
    struct query_snapshot *old = query->published;
    query->published = snapshot;
    (void)pthread_mutex_unlock(&control->mutex);
    query_snapshot_unref(old);
    if (control->changed != NULL)
        control->changed(control->changed_ctx, query->now.definition->name);
}

struct query_snapshot *control_find(struct control *control, const char *name)
{
    (void)pthread_mutex_lock(&control->mutex);
    bool found = false;
    size_t at = position_of(control, name, &found);
    struct query_snapshot *snapshot = NULL;
    if (found && control->queries[at]->published != NULL)
        snapshot = query_snapshot_ref(control->queries[at]->published);
    (void)pthread_mutex_unlock(&control->mutex);
    return snapshot;
}

struct query_snapshot **control_list(struct control *control, size_t *count)
{
    (void)pthread_mutex_lock(&control->mutex);
    struct query_snapshot **list = heap_calloc(control->query_count + 1, sizeof(void *));
    size_t used = 0;
    for (size_t i = 0; i < control->query_count; i++) {
        if (control->queries[i]->published != NULL)
            list[used++] = query_snapshot_ref(control->queries[i]->published);
    }
    (void)pthread_mutex_unlock(&control->mutex);
    *count = used;
    return list;
}

void control_check_shared(struct control *control, const struct query_spec *spec, const char *name,
                          struct diagnostics *diagnostics)
{
    size_t count = 0;
    struct query_snapshot **list = control_list(control, &count);
    struct query_definition *definition =
        query_definition_new(spec, name == NULL ? "" : name, "{}");
    for (size_t i = 0; i < count; i++) {
        struct error err = ERROR_INIT;
        const struct query_definition *other = list[i]->definition;
        if (query_check_shared(definition, other, &err) != OK)
            (void)diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, &err);
        query_snapshot_unref(list[i]);
    }
    query_definition_unref(definition);
    free(list);
}

/* Whether the sink of a query with this checkpoint takes the directory of `owner` for its own: not
 * if the checkpoint is of another id, or has none yet.  What cannot be read says nothing. */
static bool is_owner(const char *checkpoint, const char *owner)
{
    struct identity identity;
    struct error ignored = ERROR_INIT;
    bool found = false;
    if (checkpoint == NULL)
        return false;
    if (identity_read(vfs_posix(), checkpoint, &identity, &found, &ignored) != OK)
        return true;
    return found && strcmp(identity.query_id, owner) == 0;
}

/* True if a query that is there has a directory of the definition's. */
static bool is_shared(struct control *control, const struct query_definition *definition)
{
    size_t count = 0;
    bool shared = false;
    struct query_snapshot **list = control_list(control, &count);
    for (size_t i = 0; i < count; i++) {
        struct error ignored = ERROR_INIT;
        shared |= query_check_shared(definition, list[i]->definition, &ignored) != OK;
        query_snapshot_unref(list[i]);
    }
    free(list);
    return shared;
}

/* Writes the name of the query whose checkpoint has the id `owner`, if it is one of these. */
static void name_owner(struct control *control, char owner[QUERY_NAME_MAX + 1])
{
    size_t count = 0;
    char name[QUERY_NAME_MAX + 1] = "";
    struct query_snapshot **list = control_list(control, &count);
    for (size_t i = 0; i < count; i++) {
        const struct query_definition *definition = list[i]->definition;
        struct identity identity;
        struct error ignored = ERROR_INIT;
        bool found = false;
        if (name[0] == '\0' && definition->checkpoint != NULL &&
            identity_read(vfs_posix(), definition->checkpoint, &identity, &found, &ignored) == OK &&
            found && strcmp(identity.query_id, owner) == 0)
            (void)snprintf(name, sizeof name, "%s", definition->name);
        query_snapshot_unref(list[i]);
    }
    free(list);
    if (name[0] != '\0')
        memcpy(owner, name, sizeof name);
}

static bool may_look(struct control *control, const char *dir)
{
    struct error ignored = ERROR_INIT;
    return dir != NULL && path_policy_check(control_paths(control), dir, &ignored) == OK;
}

void control_check_leftover(struct control *control, const struct query_spec *spec,
                            const char *name, struct diagnostics *diagnostics)
{
    struct query_snapshot *same = name == NULL ? NULL : control_find(control, name);
    struct query_definition *definition =
        query_definition_new(spec, name == NULL ? "" : name, "{}");
    char owner[SINK_OWNER_SIZE];
    const char *checkpoint = definition->checkpoint;
    if (checkpoint == NULL && same != NULL)
        checkpoint = same->definition->checkpoint;
    if (may_look(control, definition->sink_path) &&
        sink_file_owner(vfs_posix(), definition->sink_path, owner) &&
        !is_owner(checkpoint, owner) &&
        !is_shared(control, definition)) { /* said with its name, then */
        struct error err = ERROR_INIT;
        char writer[QUERY_NAME_MAX + 1];
        (void)snprintf(writer, sizeof writer, "%s", owner);
        name_owner(control, writer);
        (void)error_raise(&err, STATUS_SINK_PATH_IN_USE, "path", definition->sink_path, "queryId",
                          writer, NULL);
        (void)snprintf(err.pointer, sizeof err.pointer, "/sink/options/path");
        (void)diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, &err);
    }
    if (same != NULL)
        query_snapshot_unref(same);
    query_definition_unref(definition);
}

struct command *command_new(enum command_kind kind, const char *name)
{
    struct command *command = heap_calloc(1, sizeof *command);
    command->kind = kind;
    command->references = 1;
    command->error.position = command->error.position_end = -1;
    if (strlen(name) <= QUERY_NAME_MAX) /* a longer one, cut, could be another query's */
        memcpy(command->name, name, strlen(name) + 1);
    return command;
}

static void command_unref(struct command *command)
{
    if (atomic_fetch_sub(&command->references, 1) != 1)
        return;
    query_definition_unref(command->definition);
    query_snapshot_unref(command->snapshot);
    buffer_fini(&command->output);
    free(command->if_match);
    free(command->if_none_match);
    free(command);
}

bool command_is_done(const struct command *command)
{
    return atomic_load_explicit(&command->done, memory_order_acquire);
}

enum status control_post(struct control *control, struct command *command, struct error *err)
{
    if (control_is_stopping(control))
        return error_raise(err, STATUS_SERVER_STOPPING, NULL);
    (void)pthread_mutex_lock(&control->mutex);
    bool full = control->mailbox_count == CONTROL_MAILBOX_MAX;
    if (!full) {
        (void)atomic_fetch_add(&command->references, 1);
        command->next = NULL;
        *control->mailbox_last = command;
        control->mailbox_last = &command->next;
        control->mailbox_count++;
    }
    (void)pthread_mutex_unlock(&control->mutex);
    if (full)
        return error_raise(err, STATUS_SERVER_BUSY, "reason", "too many commands are waiting",
                           NULL);
    supervisor_wake(control->supervisor);
    return OK;
}

void control_forget(struct control *control, struct command *command)
{
    (void)pthread_mutex_lock(&control->mutex);
    command->wake = NULL;
    (void)pthread_mutex_unlock(&control->mutex);
    command_unref(command);
}

void command_finish(struct control *control, struct command *command, struct query *query,
                    const struct error *error)
{
    if (error != NULL)
        command->error = *error;
    if (query != NULL && query->published != NULL)
        command->snapshot = query_snapshot_ref(query->published);
    atomic_store_explicit(&command->done, true, memory_order_release);
    (void)pthread_mutex_lock(&control->mutex);
    if (command->wake != NULL)
        command->wake(command->wake_ctx);
    (void)pthread_mutex_unlock(&control->mutex);
    command_unref(command);
}

static struct command *take_mailbox(struct control *control)
{
    (void)pthread_mutex_lock(&control->mutex);
    struct command *first = control->mailbox;
    control->mailbox = NULL;
    control->mailbox_last = &control->mailbox;
    control->mailbox_count = 0;
    (void)pthread_mutex_unlock(&control->mutex);
    return first;
}

static void execute_mailbox(struct control *control)
{
    struct command *next = NULL;
    for (struct command *command = take_mailbox(control); command != NULL; command = next) {
        next = command->next;
        command->next = NULL;
        command_execute(control, command);
    }
}

static void begin_stopping(struct control *control)
{
    if (control->stopping)
        return;
    control->stopping = true;
    atomic_store(&control->stop_asked, true);
    int64_t grace = config_duration_us(control->options.config, SETTING_shutdownGrace);
    control->stop_deadline_us = monotonic_us(control) + grace;
    log_event(control->options.log, LOG_INFO, "server_stopping",
              (struct log_field[]){log_u64("workers", supervisor_worker_count(control->supervisor)),
                                   {0}});
    for (size_t i = 0; i < control->query_count; i++) {
        struct query *query = control->queries[i];
        query->start_wanted = false;
        if (query->worker != NULL)
            query_want_stop(control, query, false);
    }
}

static void on_signal(void *ctx, int signo)
{
    struct control *control = ctx;
    if (signo == SIGHUP) {
        struct error err = ERROR_INIT;
        (void)!log_reopen(control->options.log, &err);
        return;
    }
    if (control->stopping) /* the second time: at once */
        control->stop_deadline_us = monotonic_us(control);
    begin_stopping(control);
}

void control_stop(struct control *control)
{
    atomic_store(&control->stop_asked, true);
    supervisor_wake(control->supervisor);
}

bool control_is_stopping(const struct control *control)
{
    return atomic_load(&control->stop_asked);
}

void control_listen(struct control *control, void (*changed)(void *ctx, const char *name),
                    void *ctx)
{
    control->changed = changed;
    control->changed_ctx = ctx;
}

/* Ends stay what they were; what should run is UNKNOWN until its turn comes. */
static void restore(struct control *control, const struct catalog_entry *entry)
{
    struct query *query = query_insert(control, entry->definition);
    query->damaged = entry->damaged;
    query->now.is_durable = true;
    query->now.desired_running = entry->desired_running;
    query->now.since_us = entry->outcome.since_us;
    query->now.state = entry->outcome.state;
    (void)snprintf(query->now.reason, sizeof query->now.reason, "%s", entry->outcome.reason);
    if (entry->outcome.error.status != OK)
        query->now.last_error = shared_error_new(&entry->outcome.error, entry->outcome.since_us);
    if (entry->deleting) { /* asked for in the server's earlier life; see query_delete_some() */
        query->deleting = true;
        query->purge = entry->purge;
        query->now.desired_running = false;
        query->now.state = QUERY_STOPPING;
        query->now.since_us = now_us(control);
        (void)snprintf(query->now.reason, sizeof query->now.reason, "being deleted");
    } else if (entry->outcome.state == QUERY_STOPPED && entry->desired_running) {
        query->now.state = QUERY_UNKNOWN;
        query->now.since_us = now_us(control);
        (void)snprintf(query->now.reason, sizeof query->now.reason, "the server has restarted");
        query->start_wanted = true;
        query->resumed = true;
    } else if (query->now.since_us == 0) {
        query->now.since_us = entry->definition->updated_us;
    }
    if (entry->damaged)
        log_error_event(control->options.log, LOG_ERROR, "query_record_damaged",
                        &entry->outcome.error,
                        (struct log_field[]){log_text("queryName", entry->definition->name), {0}});
    else /* a worker that goes on without a batch does not say it */
        query->now.last_batch_id = report_last_batch(control, entry->definition);
    if (!entry->damaged)
        query_record_lost_ends(control, query);
    query_publish(control, query);
}

/* A second entry of a name is shown under another one; its file is left alone, too. */
static void restore_twin(struct control *control, struct catalog_entry *entry)
{
    struct error *why = &entry->outcome.error;
    struct query_definition *definition = entry->definition;
    struct buffer name = {0}, path = {0};
    error_clear(why);
    buffer_printf(&path, "%s/query.json", definition->directory);
    (void)error_raise(why, STATUS_QUERY_RECORD_DAMAGED, "path", buffer_text(&path), "reason",
                      "another query has its name", NULL);
    buffer_printf(&name, "damaged-%s", definition->uid);
    free(definition->name);
    definition->name = heap_strdup(buffer_text(&name));
    entry->damaged = true;
    entry->desired_running = false;
    entry->outcome.state = QUERY_FAILED;
    (void)snprintf(entry->outcome.reason, sizeof entry->outcome.reason, "%s",
                   status_name(why->status));
    buffer_fini(&name);
    buffer_fini(&path);
    if (query_find(control, definition->name) == NULL)
        restore(control, entry);
    else
        query_definition_unref(definition);
}

static enum status load(struct control *control, struct error *err)
{
    struct catalog_entry *entries = NULL;
    size_t count = 0;
    TRY(query_catalog_load(control->catalog, &entries, &count, err));
    for (int damaged = 0; damaged < 2; damaged++) { /* what can be read has the name */
        for (size_t i = 0; i < count; i++) {
            if (entries[i].damaged != (damaged == 1))
                continue;
            if (query_find(control, entries[i].definition->name) == NULL)
                restore(control, &entries[i]);
            else
                restore_twin(control, &entries[i]);
        }
    }
    free(entries);
    return OK;
}

enum status control_begin(const struct control_options *options, struct control **out,
                          struct error *err)
{
    struct control *control = heap_calloc(1, sizeof *control);
    control->options = *options;
    control->mailbox_last = &control->mailbox;
    CHECK(pthread_mutex_init(&control->mutex, NULL) == 0);
    control->opened_us = monotonic_us(control);
    control->paths = path_policy_new(options->config);
    const struct supervisor_events events = {
        .message = query_on_message, .ended = query_on_end, .signalled = on_signal, .ctx = control};
    enum status status = failpoint_arm_environment(err);
    if (status == OK)
        status = supervisor_open(&events, &control->supervisor, err);
    if (status == OK)
        status = query_catalog_open(options->vfs, config_text(options->config, SETTING_dataDir),
                                    &control->catalog, err);
    if (status == OK)
        status = load(control, err);
    if (status != OK) {
        control_end(control);
        return status;
    }
    *out = control;
    return OK;
}

/* What nobody will execute any more is answered. */
static void refuse_mailbox(struct control *control)
{
    struct command *next = NULL;
    for (struct command *command = take_mailbox(control); command != NULL; command = next) {
        next = command->next;
        struct error err = ERROR_INIT;
        (void)error_raise(&err, STATUS_SERVER_STOPPING, NULL);
        command_finish(control, command, NULL, &err);
    }
}

/* The workers are gone, and the rewinds; what still rewinds when the grace is over is left. */
static bool is_at_end(struct control *control)
{
    if (!control->stopping || supervisor_worker_count(control->supervisor) > 0)
        return false;
    return !query_end_rewinds(control) || monotonic_us(control) >= control->stop_deadline_us;
}

void control_run(struct control *control)
{
    while (!is_at_end(control)) {
        if (atomic_load(&control->stop_asked))
            begin_stopping(control);
        (void)query_end_rewinds(control);
        if (control->stopping)
            refuse_mailbox(control);
        else
            execute_mailbox(control);
        if (!control->stopping)
            query_delete_some(control);
        query_start_some(control);
        int timeout_ms = query_timers(control);
        if (is_at_end(control))
            break;
        supervisor_poll(control->supervisor, timeout_ms);
    }
    refuse_mailbox(control);
}

void control_end(struct control *control)
{
    if (control == NULL)
        return;
    refuse_mailbox(control);
    if (query_end_rewinds(control))
        return; /* a thread still has it; the process ends */
    for (size_t i = 0; i < control->query_count; i++) {
        struct query *query = control->queries[i];
        struct command *next = NULL;
        for (struct command *command = query->pending; command != NULL; command = next) {
            next = command->next;
            struct error err = ERROR_INIT;
            (void)error_raise(&err, STATUS_SERVER_STOPPING, NULL);
            command_finish(control, command, query, &err);
        }
        query_free(query);
    }
    free(control->queries);
    supervisor_close(control->supervisor);
    query_catalog_close(control->catalog);
    path_policy_free(control->paths);
    (void)pthread_mutex_destroy(&control->mutex);
    free(control);
}

const struct path_policy *control_paths(const struct control *control)
{
    return control->paths;
}

const struct config *control_config(const struct control *control)
{
    return control->options.config;
}

const struct engine *control_engine(const struct control *control)
{
    return control->options.engine;
}

struct vfs *control_vfs(const struct control *control)
{
    return control->options.vfs;
}

struct clock *control_clock(const struct control *control)
{
    return control->options.clock;
}

struct log *control_log(const struct control *control)
{
    return control->options.log;
}
