#include "control/query.h"

#include "base/check.h"
#include "base/path.h"
#include "control/etag.h"

#include <stdio.h>

#define CREATED_STOPPED "created stopped"

static void finish(struct control *control, struct command *command, struct query *query)
{
    command_finish(control, command, query, NULL);
}

static void refuse(struct control *control, struct command *command, const struct error *err)
{
    command_finish(control, command, NULL, err);
}

static enum status not_found(const char *name, struct error *err)
{
    return error_raise(err, STATUS_QUERY_NOT_FOUND, "query", name, NULL);
}

void query_add_cause(const struct query *query, struct error *err)
{
    if (query->now.state != QUERY_FAILED || query->now.last_error == NULL)
        return;
    const struct error *cause = &query->now.last_error->error;
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ". It failed with [%s] %s",
                   status_name(cause->status), cause->text);
    err->causes[0] = cause->status;
    for (size_t i = 0; i < 2; i++)
        err->causes[i + 1] = cause->causes[i];
}

static enum status raise_rewinding(struct error *err)
{
    return error_raise(err, STATUS_SERVER_BUSY, "reason", "the query is being rewound", NULL);
}

enum status query_check_allowed(const struct query *query, enum query_action action,
                                struct error *err)
{
    if (query->damaged && action != ACTION_DELETE) {
        *err = query->now.last_error->error;
        return err->status;
    }
    if (query->rewind != NULL && action != ACTION_STOP && action != ACTION_READ_RESULTS)
        return raise_rewinding(err);
    if (query_action_allowed(query->now.state, action) && !query->deleting && !query->damaged)
        return OK;
    char actions[128] = "";
    if (!query->damaged)
        query_allowed_actions(query->now.state, actions, sizeof actions);
    (void)error_raise(err, STATUS_INVALID_STATE, "query", query->now.definition->name, "state",
                      query_state_name(query->now.state), "action", query_action_name(action),
                      "allowedActions", actions, NULL);
    query_add_cause(query, err);
    return err->status;
}

static enum status checkpoint_in_use(const struct query_definition *definition,
                                     const struct query_definition *other, struct error *err)
{
    const char *mine = definition->real_checkpoint, *checkpoint = definition->checkpoint;
    bool same = strcmp(mine, other->real_checkpoint) == 0;
    if (!same && !path_is_below(mine, other->real_checkpoint) &&
        !path_is_below(other->real_checkpoint, mine))
        return OK;
    struct buffer reason = {0};
    buffer_printf(&reason, "the query %s %s %s", other->name,
                  same ? "uses it" : "has its checkpoint at", same ? "" : other->checkpoint);
    (void)error_raise(err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", checkpoint, "reason",
                      buffer_text(&reason), NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/checkpointLocation");
    buffer_fini(&reason);
    return err->status;
}

/* Two queries that write to one directory know nothing of each other's batches; what is written
 * into a checkpoint damages it. */
static enum status sink_in_use(const struct query_definition *definition,
                               const struct query_definition *other, struct error *err)
{
    const char *mine = definition->real_sink;
    bool same = other->real_sink != NULL && strcmp(mine, other->real_sink) == 0;
    if (!same && !path_is_below(mine, other->real_checkpoint))
        return OK;
    (void)error_raise(err, STATUS_SINK_PATH_IN_USE, "path", definition->sink_path, "queryId",
                      other->name, NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/sink/options/path");
    return err->status;
}

enum status query_check_shared(const struct query_definition *definition,
                               const struct query_definition *other, struct error *err)
{
    if (strcmp(other->name, definition->name) == 0)
        return OK;
    if (definition->real_checkpoint != NULL) /* else it is not decided yet, and its own */
        TRY(checkpoint_in_use(definition, other, err));
    return definition->real_sink == NULL ? OK : sink_in_use(definition, other, err);
}

static enum status check_shared(struct control *control, const struct query_definition *definition,
                                struct error *err)
{
    for (size_t i = 0; i < control->query_count; i++)
        TRY(query_check_shared(definition, control->queries[i]->now.definition, err));
    return OK;
}

static enum status create_checked(struct control *control, struct command *command,
                                  struct query **out, struct error *err)
{
    struct query_definition *definition = command->definition;
    if (query_find(control, definition->name) != NULL)
        return error_raise(err, STATUS_QUERY_ALREADY_EXISTS, "query", definition->name, NULL);
    uint64_t limit = config_number(control->options.config, SETTING_maxQueries);
    if (control->query_count >= limit) {
        char text[24];
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)limit);
        return error_raise(err, STATUS_QUERY_LIMIT_EXCEEDED, "limit", text, NULL);
    }
    query_catalog_adopt(control->catalog, definition, now_us(control));
    TRY(check_shared(control, definition, err));
    struct catalog_entry entry = {.definition = definition,
                                  .desired_running = command->desired_running};
    if (!command->desired_running)
        entry.outcome = (struct query_outcome){
            .since_us = definition->created_us,
            .reason = CREATED_STOPPED,
        };
    TRY(query_catalog_put(control->catalog, &entry, err));
    command->definition = NULL;
    struct query *query = query_insert(control, definition);
    query->now.desired_running = command->desired_running;
    query->now.is_durable = true;
    query->now.since_us = definition->created_us; /* as it is stored */
    if (!command->desired_running)
        (void)snprintf(query->now.reason, sizeof query->now.reason, CREATED_STOPPED);
    *out = query;
    return OK;
}

static void execute_create(struct control *control, struct command *command)
{
    struct error err = ERROR_INIT;
    struct query *query = NULL;
    if (create_checked(control, command, &query, &err) != OK) {
        refuse(control, command, &err);
        return;
    }
    command->created = command->changed = true;
    if (query->now.desired_running)
        query_want_start(control, query, "created");
    else
        query_set_state(control, query, QUERY_STOPPED, CREATED_STOPPED);
    finish(control, command, query);
}

/* If-Match on what is not there (RFC 9110, 13.1.1): it cannot hold. */
static enum status no_match(const char *name, struct error *err)
{
    (void)error_raise(err, STATUS_PRECONDITION_FAILED, "etag", "", NULL);
    (void)snprintf(err->text, sizeof err->text,
                   "There is no query %s, so that If-Match does not hold. Create it with "
                   "If-None-Match: *, or without a condition",
                   name);
    return err->status;
}

static enum status check_rule(const struct command *command, const struct query *query,
                              struct error *err)
{
    const char *etag = query->now.definition->etag;
    bool fits =
        command->rule == REPLACE_MATCHING && etag_list_has(command->if_match, etag, ETAG_STRONG);
    return fits ? OK : error_raise(err, STATUS_PRECONDITION_FAILED, "etag", etag, NULL);
}

static bool wants_running(const struct command *command, const struct query *query)
{
    return command->has_desired ? command->desired_running : query->now.desired_running;
}

/* A query without a worker starts with its new spec if that is to be applied now, or if the spec
 * is what says that it is to run. */
static bool starts_with_it(const struct command *command, const struct query *query)
{
    return query->worker == NULL && wants_running(command, query) &&
           (command->apply_now || !query->now.desired_running);
}

static enum status replace_checked(struct control *control, struct command *command,
                                   struct query *query, struct error *err)
{
    struct query_definition *definition = command->definition;
    struct query_definition *old = query->now.definition;
    if (query->deleting)
        return error_raise(err, STATUS_INVALID_STATE, "query", command->name, "state",
                           query_state_name(query->now.state), "action", "replace",
                           "allowedActions", "", NULL);
    if (query->damaged) {
        *err = query->now.last_error->error;
        return err->status;
    }
    if (query->rewind != NULL)
        return raise_rewinding(err);
    TRY(check_rule(command, query, err));
    query_catalog_succeed(control->catalog, definition, old, now_us(control));
    TRY(check_shared(control, definition, err));
    struct catalog_entry entry = query_record(query); /* an end stays what it was ... */
    entry.definition = definition;
    if (command->has_desired)
        entry.desired_running = command->desired_running;
    if (starts_with_it(command, query))
        entry.outcome = (struct query_outcome){0}; /* ... but for a query that starts now */
    TRY(query_catalog_put(control->catalog, &entry, err));
    command->definition = NULL;
    (void)pthread_mutex_lock(&control->mutex); /* position_of reads the name through it */
    query->now.definition = definition;
    (void)pthread_mutex_unlock(&control->mutex);
    query_definition_unref(old);
    return OK;
}

/* What follows from a new spec: its desired state, and apply=now. */
static void follow_replacement(struct control *control, struct command *command,
                               struct query *query)
{
    bool starts = starts_with_it(command, query);
    bool stops = !wants_running(command, query) && query->now.desired_running;
    query->now.desired_running = wants_running(command, query);
    query->now.is_durable = true;
    query->store_us = 0;
    if (starts) {
        query_begin_streak(query);
        query_want_start(control, query, "started with a new spec");
    } else if (stops && query->worker != NULL) {
        query->restart_asked = false;
        query_want_stop(control, query, false);
    } else if (stops && !query_state_is_ended(query->now.state)) {
        query->start_wanted = false;
        query_end_as(control, query, QUERY_STOPPED, "stopped by its new spec");
        query_end_waiting(control, query);
    } else if (query->worker != NULL && query->now.desired_running &&
               (command->apply_now || query->stop_asked)) {
        query->restart_asked = true;
        query_want_stop(control, query, false);
    }
    query_publish(control, query);
}

static bool is_same(const struct command *command, const struct query *query)
{
    return strcmp(command->definition->json, query->now.definition->json) == 0 &&
           wants_running(command, query) == query->now.desired_running && !command->apply_now &&
           !query->damaged;
}

static void execute_replace(struct control *control, struct command *command)
{
    struct error err = ERROR_INIT;
    struct query *query = query_find(control, command->name);
    if (query == NULL && command->rule != REPLACE_NONE) { /* If-Match wants one that is there */
        (void)no_match(command->name, &err);
        refuse(control, command, &err);
        return;
    }
    if (query == NULL) {
        execute_create(control, command);
        return;
    }
    if (is_same(command, query) && check_rule(command, query, &err) == OK) {
        finish(control, command, query); /* the same spec: nothing to do */
        return;
    }
    error_clear(&err);
    if (replace_checked(control, command, query, &err) != OK) {
        refuse(control, command, &err);
        return;
    }
    command->changed = true;
    follow_replacement(control, command, query);
    finish(control, command, query);
}

/* Of a query without a worker of this server. */
static void delete_now(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    struct catalog_entry entry = query_record(query);
    entry.purge = command->purge;
    query_end_waiting(control, query); /* some wait for a worker that was to start */
    enum status status = query_catalog_remove(control->catalog, &entry, &err);
    if (status == OK) {
        query_remove(control, query);
        finish(control, command, NULL);
        return;
    }
    if (status == STATUS_CHECKPOINT__LOCKED && query_may_have_orphan(control)) {
        query->purge = command->purge;
        query_delete_later(control, query, "being deleted: the earlier worker is still ending");
        finish(control, command, query);
        return;
    }
    query_store_or_later(control, query); /* it stays: the record may say otherwise */
    refuse(control, command, &err);
}

static void execute_delete(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    bool free_to_go = query->worker == NULL;
    const char *etag = query->now.definition->etag;
    if ((command->if_match != NULL && !etag_list_has(command->if_match, etag, ETAG_STRONG)) ||
        (command->if_none_match != NULL &&
         etag_list_has(command->if_none_match, etag, ETAG_WEAK))) {
        (void)error_raise(&err, STATUS_PRECONDITION_FAILED, "etag", etag, NULL);
        refuse(control, command, &err);
        return;
    }
    if (query->rewind != NULL)
        (void)raise_rewinding(&err);
    else if (!command->force)
        (void)!query_check_allowed(query, ACTION_DELETE, &err);
    if (err.status != OK) {
        refuse(control, command, &err);
        return;
    }
    if (free_to_go) {
        delete_now(control, command, query);
        return;
    }
    query->deleting = true;
    query->purge = command->purge;
    query->now.desired_running = false;
    query_store_or_later(control, query); /* a server that dies meanwhile finishes it then */
    query_want_stop(control, query, true);
    finish(control, command, query);
}

/* Stores the wish before anything follows from it. */
static enum status set_desired(struct control *control, struct query *query, bool running,
                               struct error *err)
{
    bool old = query->now.desired_running;
    enum query_state state = query->now.state;
    if (old == running && !query_state_is_ended(state))
        return OK;
    query->now.desired_running = running;
    if (running)
        query->now.state = QUERY_STARTING; /* an outcome is over with the wish to start */
    enum status status = query_store(control, query, err);
    query->now.state = state;
    if (status != OK)
        query->now.desired_running = old;
    return status;
}

static enum status start_checked(struct control *control, struct command *command,
                                 struct query *query, struct error *err)
{
    TRY(query_check_allowed(query, ACTION_START, err));
    TRY(set_desired(control, query, true, err));
    switch (query->now.state) {
    case QUERY_STARTING:
    case QUERY_RUNNING:
        return OK;
    case QUERY_STOPPING: /* starts again when the run has ended */
        query->restart_asked = true;
        break;
    case QUERY_STOPPED:
    case QUERY_FAILED:
    case QUERY_FINISHED:
        query_begin_streak(query);
        query_want_start(control, query, "started on request");
        break;
    case QUERY_RETRYING:
    case QUERY_UNKNOWN:
        if (query->worker != NULL)
            break;
        query_begin_streak(query);
        query_want_start(control, query, "started on request");
        break;
    }
    command->changed = true;
    return OK;
}

static void stop_worker(struct control *control, const struct command *command, struct query *query)
{
    query_want_stop(control, query, command->immediate);
    if (command->timeout_us > 0 && command->kill_on_timeout)
        query->stop_deadline_us = monotonic_us(control) + command->timeout_us;
    else if (command->timeout_us > 0)
        query->stop_deadline_us = 0; /* onTimeout: wait */
}

static enum status stop_checked(struct control *control, struct command *command,
                                struct query *query, struct error *err)
{
    TRY(query_check_allowed(query, ACTION_STOP, err));
    if (query_state_is_ended(query->now.state) && !query->now.desired_running)
        return OK;
    if (set_desired(control, query, false, err) != OK) {
        /* Whoever stops a query on a full disk means it now: it stops, the answer says that the
         * wish is not on disk, and it is written as soon as that goes. */
        error_clear(err);
        query->now.desired_running = false;
        query_store_or_later(control, query);
    }
    query->restart_asked = false;
    if (query->worker == NULL) {
        query->start_wanted = false;
        if (query_state_is_ended(query->now.state))
            return OK; /* FAILED and FINISHED stay visible */
        query_end_as(control, query, QUERY_STOPPED, "stopped on request");
        query_end_waiting(control, query);
        command->changed = true;
        return OK;
    }
    stop_worker(control, command, query);
    command->changed = true;
    return OK;
}

static enum status restart_checked(struct control *control, struct command *command,
                                   struct query *query, struct error *err)
{
    TRY(query_check_allowed(query, ACTION_RESTART, err));
    TRY(set_desired(control, query, true, err));
    command->changed = true;
    query_begin_streak(query);
    if (query->worker == NULL) {
        query_want_start(control, query, "restarted on request");
        return OK;
    }
    query->restart_asked = true;
    stop_worker(control, command, query);
    return OK;
}

static const struct {
    enum query_action action;
    enum message_kind message;
} forwarded[] = {
    [COMMAND_TRIGGER] = {ACTION_TRIGGER, MESSAGE_TRIGGER},
    [COMMAND_PROCESS_ALL] = {ACTION_PROCESS_ALL, MESSAGE_PROCESS_ALL_AVAILABLE},
    [COMMAND_RESULTS] = {ACTION_READ_RESULTS, MESSAGE_READ_RESULTS},
};

enum status query_raise_no_results(const struct query_definition *definition, const char *reason,
                                   struct error *err)
{
    char text[160];
    const char *format = definition->sink_format;
    bool other = format != NULL && strcmp(format, "memory") != 0;
    (void)snprintf(text, sizeof text,
                   "its sink is %.60s, and only memory keeps rows that can be read here",
                   other ? format : "");
    return error_raise(err, STATUS_RESULTS_NOT_AVAILABLE, "query", definition->name, "reason",
                       other ? text : reason, NULL);
}

/* The rows that the last run left behind. */
static enum status read_kept_results(struct control *control, struct command *command,
                                     struct query *query, struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    struct bytes content;
    const char *path = path_join(arena, query->now.definition->directory, "results.ndjson");
    enum status status = vfs_get(control->options.vfs, path, (size_t)1 << 30, arena, &content, err);
    if (status == OK)
        buffer_add_bytes(&command->output, content);
    arena_free(arena);
    if (status == STATUS_FILE_NOT_FOUND)
        return query_raise_no_results(query->now.definition,
                                      "no worker runs, and the last run kept no rows", err);
    return status;
}

static void send_to_worker(struct query *query, const struct command *command)
{
    const struct message message = {.kind = forwarded[command->kind].message,
                                    .number = {command->request_id, command->limit}};
    worker_send(query->worker, &message);
}

void query_send_pending(struct query *query)
{
    for (const struct command *command = query->pending; command != NULL; command = command->next)
        send_to_worker(query, command);
}

/* What the worker answers: the command is done later, with its REPLY or RESULT. */
static void forward(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    if (query->worker == NULL && command->kind == COMMAND_RESULTS) {
        bool read = read_kept_results(control, command, query, &err) == OK;
        command_finish(control, command, query, read ? NULL : &err);
        return;
    }
    if (query_check_allowed(query, forwarded[command->kind].action, &err) != OK) {
        refuse(control, command, &err);
        return;
    }
    if (query->worker == NULL && query->now.state == QUERY_FINISHED) {
        finish(control, command, query); /* everything that was there is processed */
        return;
    }
    if (query->pending_count == QUERY_PENDING_MAX) {
        (void)error_raise(&err, STATUS_SERVER_BUSY, "reason",
                          "too many requests wait for the worker of the query", NULL);
        refuse(control, command, &err);
        return;
    }
    command->request_id = ++control->request_id;
    command->next = query->pending;
    query->pending = command;
    query->pending_count++;
    if (query->worker != NULL)
        send_to_worker(query, command);
}

static void execute_on(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    enum status status = OK;
    switch (command->kind) {
    case COMMAND_CREATE:
    case COMMAND_REPLACE:
        CHECK(false);
        break;
    case COMMAND_DELETE:
        execute_delete(control, command, query);
        return;
    case COMMAND_START:
        status = start_checked(control, command, query, &err);
        break;
    case COMMAND_STOP:
        status = stop_checked(control, command, query, &err);
        break;
    case COMMAND_RESTART:
        status = restart_checked(control, command, query, &err);
        break;
    case COMMAND_REWIND:
        query_begin_rewind(control, command, query);
        return;
    case COMMAND_TRIGGER:
    case COMMAND_PROCESS_ALL:
    case COMMAND_RESULTS:
        forward(control, command, query);
        return;
    }
    if (status != OK)
        refuse(control, command, &err);
    else
        finish(control, command, query);
}

void command_execute(struct control *control, struct command *command)
{
    if (command->kind == COMMAND_CREATE) {
        execute_create(control, command);
        return;
    }
    if (command->kind == COMMAND_REPLACE) {
        execute_replace(control, command);
        return;
    }
    struct query *query = query_find(control, command->name);
    if (query == NULL) {
        struct error err = ERROR_INIT;
        (void)not_found(command->name, &err);
        refuse(control, command, &err);
        return;
    }
    execute_on(control, command, query);
}
