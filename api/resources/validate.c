#include "api/api.h"
#include "api/http/problem.h"
#include "api/resources/resources.h"
#include "control/query_validate.h"

static const char *const mode_names[OUTPUT_MODE_COUNT] = {"append", "update", "complete"};

static void put_modes(struct json_writer *json, const struct validation *validation)
{
    json_begin_array(json, "outputModes");
    for (int i = 0; i < OUTPUT_MODE_COUNT; i++) {
        const struct error *why = &validation->mode[i];
        json_begin_object(json, NULL);
        json_put_text(json, "mode", mode_names[i]);
        json_put_bool(json, "legal", why->status == OK);
        json_put_text(json, "condition", why->status == OK ? NULL : status_name(why->status));
        json_put_text(json, "reason", why->status == OK ? NULL : why->text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_operators(struct json_writer *json, const struct validation *validation)
{
    json_begin_array(json, "statefulOperators");
    for (size_t i = 0; i < validation->operator_count; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "kind", validation->operators[i].kind);
        json_put_int(json, "operatorId", validation->operators[i].id);
        json_put_bool(json, "bounded", validation->operators[i].bounded);
        json_put_text(json, "reason", validation->operators[i].reason);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_triggers(struct json_writer *json, const struct validation *validation)
{
    json_begin_array(json, "triggers");
    for (int i = 0; i < TRIGGER_KIND_COUNT; i++) {
        const struct validation_trigger *it = &validation->trigger[i];
        bool legal = it->why.status == OK;
        json_begin_object(json, NULL);
        json_put_text(json, "trigger", it->kind);
        json_put_bool(json, "legal", legal);
        json_put_text(json, "condition", legal ? NULL : status_name(it->why.status));
        json_put_text(json, "reason", it->reason);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_warnings(struct json_writer *json, const struct validation *validation)
{
    json_begin_array(json, "warnings");
    for (const struct validation_warning *at = validation->warnings; at != NULL; at = at->next) {
        json_begin_object(json, NULL);
        json_put_text(json, "name", at->name);
        json_put_text(json, "text", at->text);
        json_put_text(json, "pointer", at->pointer);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_analysis(struct json_writer *json, const struct validation *validation)
{
    if (validation->resolved) {
        put_modes(json, validation);
        json_put_raw(json, "outputSchema", bytes_of_text(validation->schema_json));
    } else {
        json_put_null(json, "outputModes");
        json_put_null(json, "outputSchema");
    }
    if (!validation->analyzed) {
        json_put_null(json, "statefulOperators");
        json_put_null(json, "plan");
        json_put_null(json, "planText");
        return;
    }
    put_operators(json, validation);
    json_put_raw(json, "plan", bytes_of_text(validation->plan_json));
    json_put_text(json, "planText", validation->plan_text);
}

void api_put_validation(struct buffer *out, const struct validation *validation)
{
    struct json_writer json = json_writer_to(out);
    json_begin_object(&json, NULL);
    json_put_bool(&json, "valid", !diagnostics_has_errors(validation->diagnostics));
    json_begin_array(&json, "diagnostics");
    for (const struct diagnostic *at = validation->diagnostics->first; at != NULL; at = at->next)
        problem_put_diagnostic(&json, at, validation->spec);
    json_end_array(&json);
    put_analysis(&json, validation);
    put_triggers(&json, validation);
    put_warnings(&json, validation);
    json_put_text(&json, "delivery", validation->exactly_once ? "exactlyOnce" : "atLeastOnce");
    json_end_object(&json);
}

enum status validate_query(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    struct validation validation;
    TRY(request_check_arguments(request, arguments, err));
    TRY(query_validate(request->arena, control_paths(request->api->control), request->body,
                       &validation, err));
    control_check_shared(request->api->control, validation.spec, validation.spec->name,
                         validation.diagnostics);
    if (!diagnostics_has_errors(validation.diagnostics))
        control_check_leftover(request->api->control, validation.spec, validation.spec->name,
                               validation.diagnostics);
    api_put_validation(&response->body, &validation);
    return OK;
}
