#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "base/check.h"
#include "control/query_validate.h"

/* The plan of the worker or, if none has run, that of the spec. */
static enum status find_plan(struct request *request, const struct query_snapshot *query,
                             const char **text, const char **json, struct error *err)
{
    if (query->plan_text != NULL && query->plan_json != NULL) {
        *text = arena_strdup(request->arena, query->plan_text->text);
        *json = arena_strdup(request->arena, query->plan_json->text);
        return OK;
    }
    struct validation validation;
    TRY(query_validate(request->arena, control_paths(request->api->control),
                       bytes_of_text(query->definition->json), &validation, err));
    if (!validation.analyzed) {
        const struct diagnostic *first = diagnostics_first_error(validation.diagnostics);
        if (first == NULL)
            return error_raise(err, STATUS_INTERNAL_ERROR, "message", "there is no plan", NULL);
        *err = first->error;
        return err->status;
    }
    *text = validation.plan_text;
    *json = validation.plan_json;
    return OK;
}

enum status get_plan(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"format", NULL};
    TRY(request_check_arguments(request, arguments, err));
    const char *format = request_argument(request, "format");
    if (format == NULL)
        format = request->accept != NULL && strncmp(request->accept, "text/plain", 10) == 0
                     ? "text"
                     : "json";
    if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "format", "value", format,
                           "expected", "json or text", NULL);
    struct query_snapshot *query = NULL;
    const char *text = NULL, *json = NULL;
    TRY(view_find(request, &query, err));
    enum status status = find_plan(request, query, &text, &json, err);
    query_snapshot_unref(query);
    TRY(status);
    CHECK(text != NULL && json != NULL);
    if (strcmp(format, "text") == 0) {
        buffer_add_text(&response->body, text);
        response->content_type = "text/plain; charset=utf-8";
        return OK;
    }
    struct json_writer writer = json_writer_to(&response->body);
    json_begin_object(&writer, NULL);
    json_put_raw(&writer, "plan", bytes_of_text(json));
    json_put_text(&writer, "text", text);
    json_end_object(&writer);
    return OK;
}
