#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT     100
#define FILES_OF_MANY     3
#define FILES_OF_ONE      1000
#define FILES_MAX         100000
#define PAGE_TOKEN_PREFIX "b1."

static enum status read_token(const struct request *request, int64_t *before, struct error *err)
{
    static const char prefix[] = PAGE_TOKEN_PREFIX;
    const char *token = request_argument(request, "pageToken");
    char *end = NULL;
    if (token == NULL)
        return OK;
    errno = 0;
    if (strncmp(token, prefix, sizeof prefix - 1) == 0)
        *before = strtoll(token + sizeof prefix - 1, &end, 10);
    if (end == NULL || *end != '\0' || errno != 0 || *before < 0)
        return error_raise(err, STATUS_INVALID_PARAMETER, "parameter", "pageToken", "value", token,
                           "expected", "the nextPageToken of an earlier answer", NULL);
    return OK;
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

enum status list_batches(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"limit", "files", "pageToken", NULL};
    int64_t limit = LIMIT_DEFAULT, files = FILES_OF_MANY, first = -1;
    struct batches_wanted wanted = {.batch_id = -1, .before = -1};
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "limit", 1, REPORT_BATCHES_MAX, &limit, err));
    TRY(request_int(request, "files", 0, FILES_MAX, &files, err));
    TRY(read_token(request, &wanted.before, err));
    wanted.limit = (uint32_t)limit;
    wanted.files = (uint32_t)files;
    wanted.outputs = request_argument(request, "files") != NULL;
    struct query_snapshot *query = NULL;
    struct buffer batches = {0};
    TRY(view_find(request, &query, err));
    enum status status =
        report_batches(request->api->control, query, &wanted, &first, &batches, err);
    if (status == OK) {
        int64_t oldest = first_id(buffer_bytes(&batches));
        buffer_add_text(&response->body, "{\"batches\":");
        buffer_add_bytes(&response->body, buffer_bytes(&batches));
        if (first >= 0 && oldest > first)
            buffer_printf(&response->body, ",\"nextPageToken\":\"" PAGE_TOKEN_PREFIX "%lld\"}",
                          (long long)oldest);
        else
            buffer_add_text(&response->body, ",\"nextPageToken\":null}");
    }
    buffer_fini(&batches);
    query_snapshot_unref(query);
    return status;
}

/* Why there is no such batch: never, or no longer. */
static enum status absent(const struct request *request, int64_t batch_id, int64_t oldest,
                          struct error *err)
{
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
    static const char *const arguments[] = {"files", NULL};
    int64_t files = FILES_OF_ONE, first = -1;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "files", 0, FILES_MAX, &files, err));
    char *end = NULL;
    errno = 0;
    long long batch_id = strtoll(request->param[1], &end, 10);
    if (errno != 0 || *end != '\0' || batch_id < 0)
        return error_raise(err, STATUS_BATCH_NOT_FOUND, "query", request->param[0], "batchId",
                           request->param[1], NULL);
    struct query_snapshot *query = NULL;
    struct buffer batches = {0};
    TRY(view_find(request, &query, err));
    const struct batches_wanted wanted = {
        .batch_id = batch_id, .before = -1, .limit = 1, .files = (uint32_t)files, .outputs = true};
    enum status status =
        report_batches(request->api->control, query, &wanted, &first, &batches, err);
    size_t size = batches.size_bytes;
    while (size > 0 && (batches.data[size - 1] == '\n' || batches.data[size - 1] == ' '))
        size--;
    if (status == OK && size > 2) /* an array of one: its element */
        buffer_add(&response->body, batches.data + 1, size - 2);
    else if (status == OK)
        status = absent(request, batch_id, first, err);
    buffer_fini(&batches);
    query_snapshot_unref(query);
    return status;
}
