#include "control/query.h"

#include "base/check.h"
#include "base/path.h"

#include <stdio.h>

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

static enum status check_allowed(const struct query *query, enum query_action action,
                                 struct error *err)
{
    if (query_action_allowed(query->now.state, action) && !query->deleting)
        return OK;
    char actions[128];
    query_allowed_actions(query->now.state, actions, sizeof actions);
    return error_raise(err, STATUS_INVALID_STATE, "query", query->now.definition->name, "state",
                       query_state_name(query->now.state), "action", query_action_name(action),
                       "allowedActions", actions, NULL);
}

/* Two queries never share a checkpoint, and none lies inside another's. */
static enum status check_checkpoint(struct control *control, const char *checkpoint,
                                    const char *own_name, struct error *err)
{
    for (size_t i = 0; i < control->query_count; i++) {
        const struct query_definition *other = control->queries[i]->now.definition;
        if (strcmp(other->name, own_name) == 0)
            continue;
        bool same = strcmp(checkpoint, other->checkpoint) == 0;
        if (!same && !path_is_below(checkpoint, other->checkpoint) &&
            !path_is_below(other->checkpoint, checkpoint))
            continue;
        struct buffer reason = {0};
        buffer_printf(&reason, "the query %s %s %s", other->name,
                      same ? "uses it" : "has its checkpoint at", same ? "" : other->checkpoint);
        (void)error_raise(err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", checkpoint, "reason",
                          buffer_text(&reason), NULL);
        (void)snprintf(err->pointer, sizeof err->pointer, "/checkpointLocation");
        buffer_fini(&reason);
        return err->status;
    }
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
    TRY(check_checkpoint(control, definition->checkpoint, definition->name, err));
    const struct catalog_entry entry = {.definition = definition,
                                        .desired_running = command->desired_running};
    TRY(query_catalog_put(control->catalog, &entry, err));
    command->definition = NULL;
    struct query *query = query_insert(control, definition);
    query->now.desired_running = command->desired_running;
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
        query_set_state(control, query, QUERY_STOPPED, "created stopped");
    finish(control, command, query);
}

static enum status check_rule(const struct command *command, const struct query *query,
                              struct error *err)
{
    const char *etag = query->now.definition->etag;
    bool fits = command->rule == REPLACE_ANY ||
                (command->rule == REPLACE_MATCHING && strcmp(command->if_match, etag) == 0);
    return fits ? OK : error_raise(err, STATUS_PRECONDITION_FAILED, "etag", etag, NULL);
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
    TRY(check_rule(command, query, err));
    query_catalog_succeed(control->catalog, definition, old, now_us(control));
    TRY(check_checkpoint(control, definition->checkpoint, definition->name, err));
    struct catalog_entry entry = query_record(query); /* an end stays what it was */
    entry.definition = definition;
    TRY(query_catalog_put(control->catalog, &entry, err));
    command->definition = NULL;
    (void)pthread_mutex_lock(&control->mutex); /* position_of reads the name through it */
    query->now.definition = definition;
    (void)pthread_mutex_unlock(&control->mutex);
    query_definition_unref(old);
    return OK;
}

static void execute_replace(struct control *control, struct command *command)
{
    struct error err = ERROR_INIT;
    struct query *query = query_find(control, command->name);
    if (query == NULL && command->rule != REPLACE_NONE) { /* If-Match wants one that is there */
        (void)not_found(command->name, &err);
        refuse(control, command, &err);
        return;
    }
    if (query == NULL) {
        execute_create(control, command);
        return;
    }
    if (command->definition != NULL &&
        strcmp(command->definition->json, query->now.definition->json) == 0 &&
        check_rule(command, query, &err) == OK && !command->apply_now) {
        finish(control, command, query); /* the same spec: nothing to do */
        return;
    }
    error_clear(&err);
    if (replace_checked(control, command, query, &err) != OK) {
        refuse(control, command, &err);
        return;
    }
    command->changed = true;
    query_publish(control, query);
    if (command->apply_now && query->worker != NULL) {
        query->restart_asked = true;
        query_want_stop(control, query, false);
    }
    finish(control, command, query);
}

static void execute_delete(struct control *control, struct command *command, struct query *query)
{
    struct error err = ERROR_INIT;
    bool free_to_go = query->worker == NULL;
    if (!command->force && check_allowed(query, ACTION_DELETE, &err) != OK) {
        refuse(control, command, &err);
        return;
    }
    if (free_to_go) {
        query_end_waiting(control, query); /* some wait for a worker that was to start */
        if (query_catalog_remove(control->catalog, query->now.definition, command->purge, &err) !=
            OK) {
            refuse(control, command, &err);
            return;
        }
        query_remove(control, query);
        finish(control, command, NULL);
        return;
    }
    query->deleting = true;
    query->purge = command->purge;
    query->now.desired_running = false;
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
    TRY(check_allowed(query, ACTION_START, err));
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
        query->now.attempt = 0;
        query_want_start(control, query, "started on request");
        break;
    case QUERY_RETRYING:
    case QUERY_UNKNOWN:
        if (query->worker == NULL)
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
}

static enum status stop_checked(struct control *control, struct command *command,
                                struct query *query, struct error *err)
{
    TRY(check_allowed(query, ACTION_STOP, err));
    if (query_state_is_ended(query->now.state) && !query->now.desired_running)
        return OK;
    TRY(set_desired(control, query, false, err));
    query->restart_asked = false;
    if (query->worker == NULL) {
        query->start_wanted = false;
        if (query_state_is_ended(query->now.state))
            return OK; /* FAILED and FINISHED stay visible */
        query_set_state(control, query, QUERY_STOPPED, "stopped on request");
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
    TRY(check_allowed(query, ACTION_RESTART, err));
    TRY(set_desired(control, query, true, err));
    command->changed = true;
    query->now.attempt = 0;
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
        return error_raise(
            err, STATUS_RESULTS_NOT_AVAILABLE, "query", query->now.definition->name, "reason",
            "no worker runs, and the last run kept no rows (only a memory sink does)", NULL);
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
    if (check_allowed(query, forwarded[command->kind].action, &err) != OK) {
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
