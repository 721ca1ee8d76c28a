#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     10000

enum status list_batches(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"limit", NULL};
    int64_t limit = LIMIT_DEFAULT;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "limit", 1, LIMIT_MAX, &limit, err));
    struct query_snapshot *query = NULL;
    struct buffer batches = {0};
    TRY(view_find(request, &query, err));
    enum status status =
        report_batches(request->api->control, query, -1, (uint32_t)limit, &batches, err);
    if (status == OK) {
        buffer_add_text(&response->body, "{\"batches\":");
        buffer_add_bytes(&response->body, buffer_bytes(&batches));
        buffer_add_text(&response->body, "}");
    }
    buffer_fini(&batches);
    query_snapshot_unref(query);
    return status;
}

/* The id of the first document of an array, or -1. */
static int64_t first_id(struct bytes array)
{
    struct error ignored = ERROR_INIT;
    json_t *root = NULL;
    if (json_load(array, &root, &ignored) != OK)
        return -1;
    const json_t *id = json_object_get(json_array_get(root, 0), "batchId");
    int64_t value = json_is_integer(id) ? json_integer_value(id) : -1;
    json_decref(root);
    return value;
}

/* Why there is no such batch: never, or no longer. */
static enum status absent(struct request *request, const struct query_snapshot *query,
                          int64_t batch_id, struct error *err)
{
    struct buffer all = {0};
    enum status status = report_batches(request->api->control, query, -1, LIMIT_MAX, &all, err);
    int64_t oldest = status == OK ? first_id(buffer_bytes(&all)) : -1;
    buffer_fini(&all);
    TRY(status);
    char first[24];
    (void)snprintf(first, sizeof first, "%lld", (long long)oldest);
    if (batch_id < oldest)
        return error_raise(err, STATUS_BATCH_EXPIRED, "query", request->param[0], "batchId",
                           request->param[1], "oldest", first, NULL);
    return error_raise(err, STATUS_BATCH_NOT_FOUND, "query", request->param[0], "batchId",
                       request->param[1], NULL);
}

enum status get_batch(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {NULL};
    TRY(request_check_arguments(request, arguments, err));
    char *end = NULL;
    errno = 0;
    long long batch_id = strtoll(request->param[1], &end, 10);
    if (errno != 0 || *end != '\0' || batch_id < 0)
        return error_raise(err, STATUS_BATCH_NOT_FOUND, "query", request->param[0], "batchId",
                           request->param[1], NULL);
    struct query_snapshot *query = NULL;
    struct buffer batches = {0};
    TRY(view_find(request, &query, err));
    enum status status = report_batches(request->api->control, query, batch_id, 1, &batches, err);
    size_t size = batches.size_bytes;
    while (size > 0 && (batches.data[size - 1] == '\n' || batches.data[size - 1] == ' '))
        size--;
    if (status == OK && size > 2) /* an array of one: its element */
        buffer_add(&response->body, batches.data + 1, size - 2);
    else if (status == OK)
        status = absent(request, query, batch_id, err);
    buffer_fini(&batches);
    query_snapshot_unref(query);
    return status;
}
