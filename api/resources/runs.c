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

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000

/* The newest `limit` runs before the one of the token: [*first, *end). */
static enum status choose_page(const struct request *request, const json_t *runs, int64_t limit,
                               size_t *first, size_t *end, struct error *err)
{
    const char *token = request_argument(request, "pageToken");
    *end = json_array_size(runs);
    if (token != NULL) {
        size_t i = strncmp(token, "r1.", 3) == 0 ? 0 : *end;
        while (i < *end && strcmp(token + 3, json_string_value(json_object_get(
                                                 json_array_get(runs, i), "runId"))) != 0)
            i++;
        if (i == *end)
            return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "pageToken", "value",
                               token, "expected", "the nextPageToken of an earlier answer", NULL);
        *end = i;
    }
    *first = *end > (size_t)limit ? *end - (size_t)limit : 0;
    return OK;
}

static enum status put_runs(const struct request *request, json_t *runs, const json_t *rewinds,
                            int64_t limit, struct buffer *out, struct error *err)
{
    size_t first = 0, end = 0;
    const char *next = "null";
    TRY(choose_page(request, runs, limit, &first, &end, err));
    if (first > 0)
        next =
            arena_sprintf(request->arena, "\"r1.%s\"",
                          json_string_value(json_object_get(json_array_get(runs, first), "runId")));
    json_t *page = json_array();
    for (size_t i = first; i < end; i++)
        (void)json_array_append(page, json_array_get(runs, i));
    buffer_printf(out, "{\"runs\":%s,\"rewinds\":%s,\"nextPageToken\":%s}",
                  json_print(request->arena, page), json_print(request->arena, rewinds), next);
    json_decref(page);
    return OK;
}

enum status list_runs(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"limit", "pageToken", NULL};
    int64_t limit = LIMIT_DEFAULT;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "limit", 1, LIMIT_MAX, &limit, err));
    struct query_snapshot *query = NULL;
    struct buffer lines = {0};
    TRY(view_find(request, &query, err));
    enum status status = report_runs(request->api->control, query, &lines, err);
    if (status == OK) {
        json_t *runs = json_array(), *rewinds = json_array();
        read_runs(buffer_bytes(&lines), runs, rewinds);
        complete(runs, query);
        status = put_runs(request, runs, rewinds, limit, &response->body, err);
        json_decref(runs);
        json_decref(rewinds);
    }
    buffer_fini(&lines);
    query_snapshot_unref(query);
    return status;
}
