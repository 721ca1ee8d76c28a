/*
 * What can be asked of a query: start, stop, restart, one batch, all that is there, its end.
 *
 * The command is answered when the wish is recorded; `Prefer: wait` waits for what follows.
 */
#include "api/api.h"
#include "api/http/problem.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#include <stdio.h>

#define COMMAND_TIMEOUT_US 30000000
#define UNLIMITED_US       (INT64_MAX / 2)

enum goal {
    GOAL_NONE,
    GOAL_STARTED, /* running, or ended */
    GOAL_ENDED,
};

static bool reached(const struct query_snapshot *query, enum goal goal)
{
    switch (goal) {
    case GOAL_NONE:
        return true;
    case GOAL_STARTED:
        return query->state != QUERY_STARTING && query->state != QUERY_UNKNOWN &&
               query->state != QUERY_STOPPING;
    case GOAL_ENDED:
        return query_state_is_ended(query->state);
    }
    return true;
}

static void respond_status(struct response *response, int status,
                           const struct query_snapshot *query)
{
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_text(&json, "name", query->definition->name);
    view_put_status(&json, query);
    json_end_object(&json);
    response->status = status;
}

/* Answers a command that is done: 200 if nothing had to follow or it has, else 202. */
static enum status respond_action(struct request *request, struct response *response,
                                  const struct command *result, enum goal goal, int64_t wait_us,
                                  struct error *err)
{
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    int64_t until = request->arrived_us + wait_us;
    if (!result->changed || reached(query, goal)) {
        bool at_once = !result->changed || goal != GOAL_NONE;
        respond_status(response, at_once && reached(query, goal) ? 200 : 202, query);
    } else if (wait_us > 0 && request_now_us(request) < until) {
        request_wait(request, request->param[0], until);
    } else {
        respond_status(response, 202, query);
    }
    query_snapshot_unref(query);
    return OK;
}

static enum status run_action(struct request *request, struct response *response,
                              struct command *command, enum goal goal, struct error *err)
{
    const struct command *result = NULL;
    TRY(request_command(request, command, COMMAND_TIMEOUT_US, "the action", &result, err));
    if (result == NULL)
        return OK;
    int64_t wait_us = request->has_wait ? request->wait_us : 0;
    return respond_action(request, response, result, goal, wait_us, err);
}

static enum status read_empty_body(struct request *request, struct error *err)
{
    static const char *const fields[] = {NULL};
    struct json_reader reader;
    struct json_place body;
    TRY(view_read_body(request, &reader, fields, &body, err));
    json_decref(body.object);
    return OK;
}

static enum status no_arguments(const struct request *request, struct error *err)
{
    static const char *const arguments[] = {NULL};
    return request_check_arguments(request, arguments, err);
}

/* What a start would do: nothing is started and nothing changed. */
static enum status respond_plan(struct request *request, struct response *response,
                                struct error *err)
{
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    enum status status = report_start_plan(request->api->control, query, &response->body, err);
    query_snapshot_unref(query);
    return status;
}

enum status start_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"validateOnly", NULL};
    bool validate_only = false;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_bool(request, "validateOnly", &validate_only, err));
    TRY(read_empty_body(request, err));
    if (validate_only)
        return respond_plan(request, response, err);
    struct command *command =
        request_has_command(request) ? NULL : command_new(COMMAND_START, request->param[0]);
    return run_action(request, response, command, GOAL_STARTED, err);
}

/* {"mode": "graceful" | "immediate", "timeout": "10 seconds", "onTimeout": "kill" | "wait"} */
static enum status read_stop_body(struct request *request, bool *immediate, int64_t *timeout_us,
                                  bool *kill, struct error *err)
{
    static const char *const fields[] = {"mode", "timeout", "onTimeout", NULL};
    struct json_reader reader;
    struct json_place body;
    const char *mode = "graceful", *on_timeout = "kill";
    TRY(view_read_body(request, &reader, fields, &body, err));
    enum status status = json_read_text(&reader, body, "mode", &mode);
    if (status == OK)
        status = json_read_text(&reader, body, "onTimeout", &on_timeout);
    if (status == OK)
        status = view_read_duration(&reader, body, "timeout", timeout_us);
    json_decref(body.object);
    TRY(status);
    *immediate = strcmp(mode, "immediate") == 0;
    *kill = strcmp(on_timeout, "kill") == 0;
    if (!*immediate && strcmp(mode, "graceful") != 0)
        return error_raise(err, STATUS_INVALID_FIELD_VALUE, "field", "mode", "value", mode,
                           "expected", "graceful or immediate", NULL);
    if (!*kill && strcmp(on_timeout, "wait") != 0)
        return error_raise(err, STATUS_INVALID_FIELD_VALUE, "field", "onTimeout", "value",
                           on_timeout, "expected", "kill or wait", NULL);
    return OK;
}

static enum status stop_or_restart(struct request *request, struct response *response,
                                   enum command_kind kind, enum goal goal, struct error *err)
{
    TRY(no_arguments(request, err));
    struct command *command = NULL;
    if (!request_has_command(request)) {
        bool immediate = false, kill = true;
        int64_t timeout_us = 0;
        TRY(read_stop_body(request, &immediate, &timeout_us, &kill, err));
        command = command_new(kind, request->param[0]);
        command->immediate = immediate;
        command->timeout_us = timeout_us;
        command->kill_on_timeout = kill;
    }
    return run_action(request, response, command, goal, err);
}

enum status stop_query(struct request *request, struct response *response, struct error *err)
{
    return stop_or_restart(request, response, COMMAND_STOP, GOAL_ENDED, err);
}

enum status restart_query(struct request *request, struct response *response, struct error *err)
{
    return stop_or_restart(request, response, COMMAND_RESTART, GOAL_STARTED, err);
}

/* {"timeout": "10 seconds"}; -1: none. */
static enum status read_timeout(struct request *request, int64_t *timeout_us, struct error *err)
{
    static const char *const fields[] = {"timeout", NULL};
    struct json_reader reader;
    struct json_place body;
    TRY(view_read_body(request, &reader, fields, &body, err));
    enum status status = view_read_duration(&reader, body, "timeout", timeout_us);
    json_decref(body.object);
    return status;
}

/* A command that the worker answers. */
static enum status ask_worker(struct request *request, struct response *response,
                              enum command_kind kind, const char *what, struct error *err)
{
    int64_t timeout_us = UNLIMITED_US;
    TRY(no_arguments(request, err));
    TRY(read_timeout(request, &timeout_us, err));
    if (request->has_wait && request->wait_us < timeout_us)
        timeout_us = request->wait_us;
    struct command *command =
        request_has_command(request) ? NULL : command_new(kind, request->param[0]);
    const struct command *result = NULL;
    TRY(request_command(request, command, timeout_us, what, &result, err));
    if (result != NULL)
        respond_status(response, 200, result->snapshot);
    return OK;
}

enum status trigger_query(struct request *request, struct response *response, struct error *err)
{
    return ask_worker(request, response, COMMAND_TRIGGER, "the end of the batch", err);
}

enum status process_all_available(struct request *request, struct response *response,
                                  struct error *err)
{
    return ask_worker(request, response, COMMAND_PROCESS_ALL, "the processing of all input", err);
}

/* The end of a query, with what it failed with. */
static void respond_end(struct response *response, const struct query_snapshot *query)
{
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_text(&json, "name", query->definition->name);
    view_put_status(&json, query);
    if (query->state == QUERY_FAILED && query->last_error != NULL) {
        json_begin_object(&json, "exception");
        problem_put_error(&json, &query->last_error->error);
        json_end_object(&json);
    } else {
        json_put_null(&json, "exception");
    }
    json_end_object(&json);
}

enum status await_termination(struct request *request, struct response *response, struct error *err)
{
    int64_t timeout_us = UNLIMITED_US;
    TRY(no_arguments(request, err));
    TRY(read_timeout(request, &timeout_us, err));
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    int64_t until = request->arrived_us + timeout_us;
    enum status status = OK;
    if (query_state_is_ended(query->state)) {
        respond_end(response, query);
    } else if (request_now_us(request) >= until) {
        char seconds[32];
        (void)snprintf(seconds, sizeof seconds, "%.3g", (double)timeout_us / 1e6);
        status = error_raise(err, STATUS_REQUEST_TIMEOUT, "what", "the end of the query", "seconds",
                             seconds, NULL);
    } else {
        request_wait(request, request->param[0], until);
    }
    query_snapshot_unref(query);
    return status;
}
