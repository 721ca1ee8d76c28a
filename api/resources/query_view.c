#include "api/resources/query_view.h"

#include "api/http/problem.h"
#include "base/check.h"
#include "base/hash.h"

#include <stdio.h>

enum status view_find(const struct request *request, struct query_snapshot **out, struct error *err)
{
    struct query_snapshot *query = control_find(request->api->control, request->param[0]);
    if (query == NULL)
        return error_raise(err, STATUS_QUERY_NOT_FOUND, "query", request->param[0], NULL);
    *out = query;
    return OK;
}

static void put_error(struct json_writer *json, const char *key, const struct shared_error *error)
{
    if (error == NULL) {
        json_put_null(json, key);
        return;
    }
    json_begin_object(json, key);
    json_put_time(json, "at", error->time_us);
    problem_put_error(json, &error->error);
    json_end_object(json);
}

/* Spark's StreamingQueryStatus.message for the states in which no worker speaks. */
static const char *status_message(const struct query_snapshot *query, char *out, size_t size)
{
    switch (query->state) {
    case QUERY_RUNNING:
    case QUERY_STOPPING:
        return query->message;
    case QUERY_STARTING:
    case QUERY_UNKNOWN:
        return query->message[0] == '\0' ? "Initializing sources" : query->message;
    case QUERY_STOPPED:
    case QUERY_FINISHED:
        return "Stopped";
    case QUERY_RETRYING:
    case QUERY_FAILED:
        if (query->last_error == NULL)
            return "Stopped";
        (void)snprintf(out, size, "Terminated with exception: [%s] %s",
                       status_name(query->last_error->error.status), query->last_error->error.text);
        return out;
    }
    CHECK(false);
}

void view_put_status(struct json_writer *json, const struct query_snapshot *query)
{
    char message[ERROR_TEXT_MAX + 160];
    json_put_text(json, "message", status_message(query, message, sizeof message));
    json_put_bool(json, "isDataAvailable", query->is_data_available);
    json_put_bool(json, "isTriggerActive", query->is_trigger_active);
    json_put_text(json, "state", query_state_name(query->state));
    json_put_text(json, "stateReason", query->reason);
    json_put_time(json, "stateSince", query->since_us);
    json_put_text(json, "desiredState", query->desired_running ? "RUNNING" : "STOPPED");
    json_put_bool(json, "desiredStateDurable", query->is_durable);
    json_put_text(json, "phase", query->phase[0] == '\0' ? NULL : query->phase);
    json_put_text(json, "queryId", query->query_id[0] == '\0' ? NULL : query->query_id);
    json_put_text(json, "runId", query->run_id[0] == '\0' ? NULL : query->run_id);
    if (query->pid == 0)
        json_put_null(json, "pid");
    else
        json_put_int(json, "pid", query->pid);
    json_put_time(json, "runStartedAt", query->run_started_us);
    json_put_int(json, "generation", (int64_t)query->definition->generation);
    if (query->running_generation == 0)
        json_put_null(json, "runningGeneration");
    else
        json_put_int(json, "runningGeneration", (int64_t)query->running_generation);
    if (query->last_batch_id < 0)
        json_put_null(json, "lastBatchId");
    else
        json_put_int(json, "lastBatchId", query->last_batch_id);
    json_put_time(json, "heardAt", query->heard_us);
    json_put_int(json, "attempt", query->attempt);
    json_put_time(json, "nextRetryAt", query->next_retry_us);
    put_error(json, "firstError", query->first_error);
    put_error(json, "lastError", query->last_error);
}

void view_put_query(struct json_writer *json, const struct query_snapshot *query)
{
    const struct query_definition *definition = query->definition;
    json_begin_object(json, NULL);
    json_put_text(json, "name", definition->name);
    json_put_text(json, "uid", definition->uid);
    json_put_int(json, "generation", (int64_t)definition->generation);
    json_put_time(json, "createdAt", definition->created_us);
    json_put_time(json, "updatedAt", definition->updated_us);
    json_put_text(json, "checkpointLocation", definition->checkpoint);
    if (strcmp(definition->json, QUERY_SPEC_UNKNOWN) == 0)
        json_put_null(json, "spec");
    else
        json_put_raw(json, "spec", bytes_of_text(definition->json));
    json_begin_object(json, "status");
    view_put_status(json, query);
    json_end_object(json);
    json_end_object(json);
}

void view_put_etag(struct request *request, struct response *response, const char *etag)
{
    response_header(response, "ETag", arena_sprintf(request->arena, "\"%s\"", etag));
}

void view_respond(struct request *request, struct response *response, int status,
                  const struct query_snapshot *query)
{
    struct json_writer json = json_writer_to(&response->body);
    view_put_query(&json, query);
    response->status = status;
    view_put_etag(request, response, query->definition->etag);
}

uint64_t view_status_hash(const struct query_snapshot *query)
{
    uint64_t hash = hash_combine((uint64_t)query->state + 1, (uint64_t)query->last_batch_id);
    hash = hash_combine(hash, (uint64_t)query->attempt);
    hash = hash_combine(hash, query->definition->generation);
    hash = hash_combine(hash, hash_bytes(query->run_id, strlen(query->run_id)));
    hash = hash_combine(hash, hash_bytes(query->reason, strlen(query->reason)));
    hash = hash_combine(hash, query->is_durable);
    return hash_combine(hash, query->desired_running);
}

enum status view_read_body(struct request *request, struct json_reader *reader,
                           const char *const *fields, struct json_place *body, struct error *err)
{
    *reader = (struct json_reader){.arena = request->arena, .err = err};
    *body = (struct json_place){NULL, ""};
    json_t *root = NULL;
    if (request->body.size_bytes == 0)
        root = json_object();
    else
        TRY(json_load(request->body, &root, err));
    enum status status = OK;
    if (!json_is_object(root))
        status = error_raise(err, STATUS_INVALID_FIELD_TYPE, "field", "body", "expected",
                             "an object", "actual", json_type_name(root), NULL);
    body->object = root;
    size_t count = 0;
    while (fields[count] != NULL)
        count++;
    if (status == OK)
        status = json_check_fields(reader, *body, fields, count);
    if (status != OK) {
        json_decref(root);
        body->object = NULL;
    }
    return status;
}

enum status view_read_duration(struct json_reader *reader, struct json_place body,
                               const char *field, int64_t *out_us)
{
    const json_t *value = json_object_get(body.object, field);
    if (value == NULL || json_is_null(value))
        return OK;
    const char *text = json_scalar_text(reader->arena, value);
    if (text == NULL)
        text = "";
    if (request_duration(field, text, out_us, reader->err) == OK)
        return OK;
    return json_report(reader, json_pointer_join(reader, body.pointer, field));
}
