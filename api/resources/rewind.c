/*
 * POST /v1/queries/{q}/rewind: the batches after one that is given are run again.
 *
 * The main thread does it (control/query_commands.c); what the next start makes of it, and what
 * the sink will see, is the start plan that the answer ends with.
 */
#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#define COMMAND_TIMEOUT_US 60000000

/* {"toBatchId": 41} */
static enum status read_rewind_body(struct request *request, int64_t *to_batch, struct error *err)
{
    static const char *const fields[] = {"toBatchId", NULL};
    struct json_reader reader;
    struct json_place body;
    TRY(view_read_body(request, &reader, fields, &body, err));
    bool given = json_has_field(body, "toBatchId");
    const json_t *value = json_object_get(body.object, "toBatchId");
    if (given && json_is_string(value)) { /* an option may be text, a batch is a number */
        json_decref(body.object);
        return error_raise(err, STATUS_INVALID_FIELD_TYPE, "field", "toBatchId", "expected",
                           "an integer", "actual", "a string", NULL);
    }
    enum status status = json_read_int(&reader, body, "toBatchId", -1, INT64_MAX - 1, to_batch);
    json_decref(body.object);
    TRY(status);
    if (!given)
        return error_raise(err, STATUS_MISSING_FIELD, "field", "toBatchId", "where", "the body",
                           NULL);
    return OK;
}

enum status rewind_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    struct command *command = NULL;
    const struct command *result = NULL;
    TRY(request_check_arguments(request, arguments, err));
    if (!request_has_command(request)) {
        int64_t to_batch = -1;
        TRY(read_rewind_body(request, &to_batch, err));
        command = command_new(COMMAND_REWIND, request->param[0]);
        command->to_batch = to_batch;
    }
    TRY(request_command(request, command, COMMAND_TIMEOUT_US, "the rewind", &result, err));
    if (result == NULL)
        return OK;
    struct query_snapshot *query = NULL;
    TRY(view_find(request, &query, err));
    buffer_add_bytes(&response->body, buffer_bytes(&result->output));
    buffer_add_text(&response->body, ", \"startPlan\": ");
    enum status status = report_start_plan(request->api->control, query, &response->body, err);
    buffer_add_text(&response->body, "}");
    query_snapshot_unref(query);
    return status;
}
