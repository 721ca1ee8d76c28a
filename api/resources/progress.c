#include "api/api.h"
#include "api/resources/query_view.h"
#include "api/resources/resources.h"
#include "control/reports.h"

#include <stdio.h>
#include <stdlib.h>

#define LAST_DEFAULT 100

/* The batch id of a document, found by its key: documents are ours and have it near the start. */
static int64_t batch_id_of(const char *line, size_t size)
{
    const char *at = memmem(line, size, "\"batchId\"", 9);
    if (at == NULL)
        return -1;
    at += 9;
    while (at < line + size && (*at == ' ' || *at == ':'))
        at++;
    return strtoll(at, NULL, 10);
}

/* Appends the documents of `lines` from `from_batch` on; *oldest is the first id there is. */
static void put_documents(struct buffer *out, const struct buffer *lines, int64_t from_batch,
                          int64_t *oldest)
{
    const char *at = (const char *)lines->data;
    const char *end = at + lines->size_bytes;
    bool first = true;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
        int64_t id = size == 0 ? -1 : batch_id_of(at, size);
        if (id >= 0 && *oldest < 0)
            *oldest = id;
        if (size > 0 && at[size - 1] == '}' && id >= from_batch) {
            if (!first)
                buffer_add_byte(out, ',');
            buffer_add(out, at, size);
            first = false;
        }
        at += size + 1;
    }
}

enum status get_progress(struct request *request, struct response *response, struct error *err)
{
    static const char *const arguments[] = {"last", "fromBatch", NULL};
    int64_t last = LAST_DEFAULT, from_batch = -1, oldest = -1;
    TRY(request_check_arguments(request, arguments, err));
    TRY(request_int(request, "last", 1, 100000, &last, err));
    TRY(request_int(request, "fromBatch", 0, INT64_MAX, &from_batch, err));
    struct query_snapshot *query = NULL;
    struct buffer lines = {0};
    TRY(view_find(request, &query, err));
    size_t count = from_batch >= 0 ? SIZE_MAX : (size_t)last;
    enum status status = report_progress(request->api->control, query, count, &lines, err);
    if (status == OK) {
        buffer_add_text(&response->body, "{\"progress\":[");
        put_documents(&response->body, &lines, from_batch, &oldest);
        buffer_add_text(&response->body, "]}");
    }
    if (status == OK && from_batch >= 0 && from_batch < oldest) {
        char batch[24], first[24];
        (void)snprintf(batch, sizeof batch, "%lld", (long long)from_batch);
        (void)snprintf(first, sizeof first, "%lld", (long long)oldest);
        status = error_raise(err, STATUS_BATCH_EXPIRED, "query", request->param[0], "batchId",
                             batch, "oldest", first, NULL);
    }
    buffer_fini(&lines);
    query_snapshot_unref(query);
    return status;
}
