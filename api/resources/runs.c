#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

/* Adds the fields of an event (a start or an end) to the run of its id; a rewind is no run. */
static void merge(json_t *runs, json_t *rewinds, json_t *event)
{
    if (json_object_get(event, "rewoundAt") != NULL)
        (void)json_array_append(rewinds, event);
    const char *id = json_string_value(json_object_get(event, "runId"));
    if (id == NULL)
        return;
    for (size_t i = json_array_size(runs); i-- > 0;) {
        json_t *run = json_array_get(runs, i);
        const char *other = json_string_value(json_object_get(run, "runId"));
        if (other != NULL && strcmp(other, id) == 0) {
            (void)json_object_update(run, event);
            return;
        }
    }
    (void)json_array_append(runs, event);
}

static void read_runs(struct bytes lines, json_t *runs, json_t *rewinds)
{
    while (lines.size_bytes > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.size_bytes);
        size_t size = end == NULL ? lines.size_bytes : (size_t)(end - lines.data);
        struct error ignored = ERROR_INIT;
        json_t *event = NULL;
        if (json_load(bytes_of(lines.data, size), &event, &ignored) == OK) {
            merge(runs, rewinds, event);
            json_decref(event);
        }
        size_t step = end == NULL ? size : size + 1;
        lines = bytes_of(lines.data + step, lines.size_bytes - step);
    }
}

/* A run without an end is the present one, or one whose end nobody saw. */
static void complete(json_t *runs, const struct query_snapshot *query)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (json_object_get(run, "end") != NULL)
            continue;
        const char *id = json_string_value(json_object_get(run, "runId"));
        bool present = query->pid != 0 && id != NULL && strcmp(id, query->run_id) == 0;
        (void)json_object_set_new(run, "end", json_string(present ? "RUNNING" : "UNKNOWN"));
        (void)json_object_set_new(run, "endedAt", json_null());
    }
}

enum status list_runs(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    TRY(request_check_arguments(request, arguments, err));
    struct query_snapshot *query = NULL;
    struct buffer lines = {0};
    TRY(view_find(request, &query, err));
    enum status status = report_runs(request->api->control, query, &lines, err);
    if (status == OK) {
        json_t *runs = json_array(), *rewinds = json_array();
        read_runs(buffer_bytes(&lines), runs, rewinds);
        complete(runs, query);
        buffer_printf(&response->body, "{\"runs\":%s,\"rewinds\":%s}",
                      json_print(request->arena, runs), json_print(request->arena, rewinds));
        json_decref(runs);
        json_decref(rewinds);
    }
    buffer_fini(&lines);
    query_snapshot_unref(query);
    return status;
}
