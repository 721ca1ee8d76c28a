#include "api/api.h"
#include "api/http/problem.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "base/heap.h"
#include "base/uuid.h"
#include "control/etag.h"
#include "control/query_validate.h"
#include "spec/spec_json.h"

#include <stdio.h>
#include <stdlib.h>

#define COMMAND_TIMEOUT_US 30000000
#define DELETE_TIMEOUT_US  60000000
#define PAGE_SIZE_DEFAULT  100
#define PAGE_SIZE_MAX      1000

/* Before its directories are looked at: the same request twice is about the name. */
static enum status check_name_is_free(const struct request *request, const char *name,
                                      struct error *err)
{
    struct query_snapshot *taken = name == NULL ? NULL : control_find(request->api->control, name);
    if (taken == NULL)
        return OK;
    query_snapshot_unref(taken);
    return error_raise(err, STATUS_QUERY_ALREADY_EXISTS, "query", name, NULL);
}

/*
 * Checks the spec of the body, for the query `name` (NULL: a new one).  *legal is false if the
 * response already says what is wrong.
 */
static enum status check_spec(struct request *request, struct response *response, const char *name,
                              struct validation *validation, bool *legal, struct error *err)
{
    TRY(query_validate(request->arena, control_paths(request->api->control), request->body,
                       validation, err));
    if (name != NULL) /* a new one is checked where nobody else creates another at the same time */
        control_check_shared(request->api->control, validation->spec, name,
                             validation->diagnostics);
    else if (!diagnostics_has_errors(validation->diagnostics))
        TRY(check_name_is_free(request, validation->spec->name, err));
    if (!diagnostics_has_errors(validation->diagnostics))
        control_check_leftover(request->api->control, validation->spec, name,
                               validation->diagnostics);
    *legal = !diagnostics_has_errors(validation->diagnostics);
    if (!*legal)
        problem_respond_all(request, response, validation->diagnostics, validation->spec);
    return OK;
}

/* The command that stores the spec under `name`. */
static enum status store_command(struct request *request, enum command_kind kind, const char *name,
                                 const struct query_spec *spec, struct command **out,
                                 struct error *err)
{
    const char *json = NULL;
    TRY(spec_json_complete(request->arena, spec->json, name, NULL, &json, err));
    struct command *command = command_new(kind, name);
    command->definition = query_definition_new(spec, name, json);
    command->desired_running = !spec->desired_stopped;
    command->has_desired = spec->has_desired_state;
    *out = command;
    return OK;
}

static enum status respond_valid(struct request *request, struct response *response,
                                 const struct query_spec *spec)
{
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_put_bool(&json, "valid", true);
    json_put_raw(&json, "spec", bytes_of_text(spec->json));
    json_end_object(&json);
    (void)request;
    return OK;
}

static void respond_stored(struct request *request, struct response *response,
                           const struct command *result)
{
    view_respond(request, response, result->created ? 201 : 200, result->snapshot);
    if (result->created)
        response_header(
            response, "Location",
            arena_sprintf(request->arena, "/v1/queries/%s", result->snapshot->definition->name));
}

/* What creating the query would find out where nobody else creates one at the same time. */
static enum status check_new(struct request *request, const struct validation *validation,
                             struct error *err)
{
    control_check_shared(request->api->control, validation->spec, NULL, validation->diagnostics);
    const struct diagnostic *first = diagnostics_first_error(validation->diagnostics);
    if (first == NULL)
        return OK;
    *err = first->error;
    return err->status;
}

enum status create_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"validateOnly", NULL};
    bool validate_only = false;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_bool(request, "validateOnly", &validate_only, err));
    struct command *command = NULL;
    if (!request_has_command(request)) {
        struct validation validation;
        bool legal = false;
        TRY(check_spec(request, response, NULL, &validation, &legal, err));
        if (!legal)
            return OK;
        if (validate_only)
            TRY(check_new(request, &validation, err));
        if (validate_only)
            return respond_valid(request, response, validation.spec);
        const char *name = validation.spec->name;
        if (name == NULL) {
            char uuid[UUID_TEXT_SIZE];
            uuid_random_text(uuid);
            name = arena_sprintf(request->arena, "query-%.8s", uuid);
        }
        TRY(store_command(request, COMMAND_CREATE, name, validation.spec, &command, err));
    }
    const struct command *result = NULL;
    TRY(request_command(request, command, COMMAND_TIMEOUT_US, "the creation", &result, err));
    if (result != NULL)
        respond_stored(request, response, result);
    return OK;
}

static enum status check_same_name(const struct query_spec *spec, const char *name,
                                   struct error *err)
{
    if (spec->name != NULL && strcmp(spec->name, name) != 0) {
        (void)error_raise(err, STATUS_INVALID_FIELD_VALUE, "field", "name", "value", spec->name,
                          "expected", name, NULL);
        (void)snprintf(err->pointer, sizeof err->pointer, "/name");
        return err->status;
    }
    if (!query_name_is_valid(name))
        return error_raise(err, STATUS_INVALID_NAME, "what", "query", "name", name, "rule",
                           QUERY_NAME_RULE, NULL);
    return OK;
}

/* Replacing needs a precondition, so that nobody overwrites what he has not seen. */
static enum status read_rule(const struct request *request, struct command *command,
                             struct error *err)
{
    if (request->if_match != NULL) {
        command->rule = REPLACE_MATCHING;
        command->if_match = heap_strdup(request->if_match);
        return OK;
    }
    if (request->if_none_match != NULL && etag_list_is_any(request->if_none_match)) {
        command->rule = REPLACE_NONE;
        return OK;
    }
    struct query_snapshot *query = control_find(request->api->control, request->param[0]);
    query_snapshot_unref(query);
    command->rule = REPLACE_NONE;
    return query == NULL ? OK : error_raise(err, STATUS_PRECONDITION_REQUIRED, NULL);
}

enum status put_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"apply", NULL};
    TRY(request_check_arguments(request, arguments, err));
    const char *apply = request_argument(request, "apply");
    if (apply != NULL && strcmp(apply, "now") != 0 && strcmp(apply, "nextStart") != 0)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "apply", "value", apply,
                           "expected", "now or nextStart", NULL);
    struct command *command = NULL;
    if (!request_has_command(request)) {
        struct validation validation;
        bool legal = false;
        TRY(check_spec(request, response, request->param[0], &validation, &legal, err));
        if (!legal)
            return OK;
        TRY(check_same_name(validation.spec, request->param[0], err));
        TRY(store_command(request, COMMAND_REPLACE, request->param[0], validation.spec, &command,
                          err));
        command->apply_now = apply != NULL && strcmp(apply, "now") == 0;
        if (read_rule(request, command, err) != OK) {
            control_forget(request->api->control, command);
            return err->status;
        }
    }
    const struct command *result = NULL;
    TRY(request_command(request, command, COMMAND_TIMEOUT_US, "the replacement", &result, err));
    if (result != NULL)
        respond_stored(request, response, result);
    return OK;
}

enum status get_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    struct query_snapshot *query = NULL;
    TRY(request_check_arguments(request, arguments, err));
    TRY(view_find(request, &query, err));
    const char *etag = query->definition->etag;
    const char *match = request->if_match, *none = request->if_none_match;
    if (match != NULL && !etag_list_has(match, etag, ETAG_STRONG)) {
        (void)error_raise(err, STATUS_PRECONDITION_FAILED, "etag", etag, NULL);
    } else if (none != NULL && etag_list_has(none, etag, ETAG_WEAK)) {
        response->status = 304;
        view_put_etag(request, response, query->definition->etag);
    } else {
        view_respond(request, response, 200, query);
    }
    query_snapshot_unref(query);
    return err->status;
}

enum status delete_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"force", "purge", NULL};
    bool force = false;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_bool(request, "force", &force, err));
    const char *purge = request_argument(request, "purge");
    if (purge != NULL && strcmp(purge, "checkpoint") != 0)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "purge", "value", purge,
                           "expected", "checkpoint", NULL);
    struct command *command = NULL;
    if (!request_has_command(request)) {
        command = command_new(COMMAND_DELETE, request->param[0]);
        command->force = force;
        command->purge = purge != NULL;
        if (request->if_match != NULL)
            command->if_match = heap_strdup(request->if_match);
        if (request->if_none_match != NULL)
            command->if_none_match = heap_strdup(request->if_none_match);
    }
    const struct command *result = NULL;
    TRY(request_command(request, command, COMMAND_TIMEOUT_US, "the deletion", &result, err));
    if (result == NULL)
        return OK;
    response->status = 204;
    if (result->snapshot == NULL)
        return OK;
    /* It is running: gone when its worker is. */
    struct query_snapshot *query = control_find(request->api->control, request->param[0]);
    bool same =
        query != NULL && strcmp(query->definition->uid, result->snapshot->definition->uid) == 0;
    if (same && query_state_is_ended(query->state) && query->last_error != NULL)
        *err = query->last_error->error; /* it could not be removed */
    query_snapshot_unref(query);
    if (!same || err->status != OK)
        return err->status;
    int64_t until = request->arrived_us + DELETE_TIMEOUT_US;
    if (request_now_us(request) >= until)
        return error_raise(err, STATUS_REQUEST_TIMEOUT, "what", "the end of the worker", "seconds",
                           "60", NULL);
    request_wait(request, request->param[0], until);
    return OK;
}

/* ---- the list ---- */

struct list_filter {
    bool has_state;
    enum query_state state;
    const char *label_name, *label_value; /* NULL: any; value NULL: has the label */
    const char *after;                    /* the last name of the page before */
};

static bool has_label(const struct query_definition *definition, const struct list_filter *filter)
{
    if (filter->label_name == NULL)
        return true;
    for (size_t i = 0; i < definition->label_count; i++) {
        if (strcmp(definition->labels[i].name, filter->label_name) == 0)
            return filter->label_value == NULL ||
                   strcmp(definition->labels[i].value, filter->label_value) == 0;
    }
    return false;
}

static bool fits(const struct query_snapshot *query, const struct list_filter *filter)
{
    if (filter->after != NULL && strcmp(query->definition->name, filter->after) <= 0)
        return false;
    if (filter->has_state && query->state != filter->state)
        return false;
    return has_label(query->definition, filter);
}

static enum status read_filter(const struct request *request, struct list_filter *filter,
                               struct error *err)
{
    const char *state = request_argument(request, "state");
    filter->has_state = state != NULL;
    if (state != NULL && !query_state_find(state, &filter->state))
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "state", "value", state,
                           "expected",
                           "STOPPED, STARTING, RUNNING, STOPPING, RETRYING, FAILED, FINISHED or "
                           "UNKNOWN",
                           NULL);
    const char *label = request_argument(request, "label");
    if (label != NULL) {
        size_t size = strcspn(label, "=");
        if (size == 0)
            return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "label", "value", label,
                               "expected", "NAME or NAME=VALUE", NULL);
        filter->label_name = arena_strndup(request->arena, label, size);
        filter->label_value = label[size] == '=' ? label + size + 1 : NULL;
    }
    const char *token = request_argument(request, "pageToken");
    if (token == NULL)
        return OK;
    if (strncmp(token, "n1.", 3) != 0 || !query_name_is_valid(token + 3))
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "pageToken", "value", token,
                           "expected", "the nextPageToken of an earlier answer", NULL);
    filter->after = token + 3;
    return OK;
}

static void put_summary(struct json_writer *json, const struct query_snapshot *query)
{
    const struct query_definition *definition = query->definition;
    json_begin_object(json, NULL);
    json_put_text(json, "name", definition->name);
    json_put_text(json, "uid", definition->uid);
    json_put_int(json, "generation", (int64_t)definition->generation);
    json_put_time(json, "createdAt", definition->created_us);
    json_begin_object(json, "labels");
    for (size_t i = 0; i < definition->label_count; i++)
        json_put_text(json, definition->labels[i].name, definition->labels[i].value);
    json_end_object(json);
    json_begin_object(json, "status");
    view_put_status(json, query);
    json_end_object(json);
    json_end_object(json);
}

enum status list_queries(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"state", "label", "pageSize", "pageToken", NULL};
    struct list_filter filter = {0};
    int64_t page_size = PAGE_SIZE_DEFAULT;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "pageSize", 1, PAGE_SIZE_MAX, &page_size, err));
    TRY(read_filter(request, &filter, err));
    size_t count = 0;
    struct query_snapshot **list = control_list(request->api->control, &count);
    struct json_writer json = json_writer_to(&response->body);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "queries");
    int64_t used = 0;
    const char *last = NULL;
    bool more = false;
    for (size_t i = 0; i < count && !more; i++) {
        if (!fits(list[i], &filter))
            continue;
        more = used == page_size;
        if (more)
            break;
        put_summary(&json, list[i]);
        last = list[i]->definition->name;
        used++;
    }
    json_end_array(&json);
    json_put_text(&json, "nextPageToken",
                  more ? arena_sprintf(request->arena, "n1.%s", last) : NULL);
    json_end_object(&json);
    for (size_t i = 0; i < count; i++)
        query_snapshot_unref(list[i]);
    free(list);
    return OK;
}
