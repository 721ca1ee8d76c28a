/*
 * What a query does and did: progress, batches, runs, plan, rows.
 */
#include "cli/command.h"

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_WAIT_S      60
#define FOLLOW_COUNT_MAX 1000

/* ---- progress ---- */

static void print_progress(const struct given *given, const json_t *document)
{
    if (given->json) {
        char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(15));
        (void)puts(text);
        free(text);
        return;
    }
    const json_t *duration = json_object_get(document, "durationMs");
    const json_t *sink = json_object_get(document, "sink");
    (void)printf("%s  batch %-6lld  in %-9lld out %-9lld %8.0f rows/s  %6lld ms",
                 text_at(document, "timestamp"), (long long)int_at(document, "batchId"),
                 (long long)int_at(document, "numInputRows"),
                 (long long)int_at(sink, "numOutputRows"),
                 real_at(document, "processedRowsPerSecond"),
                 (long long)int_at(duration, "triggerExecution"));
    const char *watermark = text_at(json_object_get(document, "eventTime"), "watermark");
    if (*watermark != '\0')
        (void)printf("  watermark %s", watermark);
    (void)putchar('\n');
}

/* Prints the documents of the answer that come after the last one that was printed. */
static void print_documents(const struct given *given, const json_t *answer, json_t **last)
{
    size_t i, start = 0;
    json_t *document;
    const json_t *list = json_object_get(answer, "progress");
    bool known = false;
    json_array_foreach(list, i, document)
    {
        if (*last != NULL && json_equal(document, *last)) {
            start = i + 1;
            known = true;
        }
    }
    json_array_foreach(list, i, document)
    {
        bool old =
            i < start || (*last != NULL && !known && /* ISO times sort as text */
                          strcmp(text_at(document, "timestamp"), text_at(*last, "timestamp")) < 0);
        if (!old)
            print_progress(given, document);
    }
    document = json_array_get(list, json_array_size(list) - 1);
    if (document != NULL) {
        json_decref(*last);
        *last = json_incref(document);
    }
    (void)fflush(stdout);
}

/* Waits for a change of the status.  *ended: the query will make no more progress. */
static int wait_for_change(const struct given *given, char etag[64], bool *ended)
{
    struct buffer path = {0};
    json_t *status = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, "/status", &path),
                                   .wait_seconds = *etag == '\0' ? 0 : LONG_WAIT_S,
                                   .if_none_match = *etag == '\0' ? NULL : etag};
    call_server(given, &call, &status, &reply, &code);
    if (*reply.etag != '\0')
        (void)snprintf(etag, 64, "%s", reply.etag);
    *ended = code != EXIT_OK || state_is_ended(text_at(status, "state"));
    if (code == EXIT_OK && strcmp(text_at(status, "state"), "FAILED") == 0)
        code = EXIT_FAILED_QUERY;
    json_decref(status);
    http_reply_fini(&reply);
    buffer_fini(&path);
    return code;
}

int command_progress(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    json_t *last = NULL;
    char etag[64] = "";
    int code = EXIT_OK;
    bool ended = false, follow = has(given, CLI_FOLLOW);
    int64_t count = given->count > 0 ? given->count : 10;
    do {
        bool was_ended = ended;
        buffer_clear(&suffix);
        buffer_printf(&suffix, "/progress?last=%lld",
                      (long long)(last == NULL ? count : FOLLOW_COUNT_MAX));
        json_t *document = NULL;
        struct http_reply reply = {0};
        int called = EXIT_OK;
        const struct http_call call = {
            .method = "GET", .path = query_path(given->target, buffer_text(&suffix), &path)};
        call_server(given, &call, &document, &reply, &called);
        if (called == EXIT_OK)
            print_documents(given, document, &last);
        json_decref(document);
        http_reply_fini(&reply);
        code = called == EXIT_OK ? code : called;
        if (called != EXIT_OK || was_ended || !follow || ferror(stdout) != 0)
            break;
        code = wait_for_change(given, etag, &ended);
    } while (code == EXIT_OK || code == EXIT_FAILED_QUERY);
    json_decref(last);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}

/* ---- batches, runs, plan ---- */

/* The cells are texts or numbers or JSON as it stands. */
static void print_objects(const json_t *list, const char *const *names, size_t count)
{
    struct table table = {0};
    table_add_objects(&table, names, count, list);
    table_print(&table);
    table_fini(&table);
}

static void print_batch_list(const json_t *list)
{
    static const char *const names[] = {"batchId",        "committed",    "attempts",
                                        "batchTimestamp", "numInputRows", "numOutputRows",
                                        "watermark",      "sources"};
    print_objects(list, names, sizeof names / sizeof names[0]);
}

static void print_batches(const json_t *document)
{
    print_batch_list(json_object_get(document, "batches"));
}

static void print_batch(const json_t *document)
{
    json_t *list = json_array();
    (void)json_array_append(list, (json_t *)(uintptr_t)document);
    print_batch_list(list);
    json_decref(list);
}

int command_batches(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    bool good = true;
    int64_t batch = arguments_number(given->arguments, CLI_BATCH, -1, 0, &good);
    if (!good)
        return EXIT_USAGE;
    if (batch >= 0)
        buffer_printf(&suffix, "/batches/%lld", (long long)batch);
    else
        buffer_printf(&suffix, "/batches?limit=%lld",
                      (long long)(given->count > 0 ? given->count : 10));
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    int code = call_and_print(given, &call, batch >= 0 ? print_batch : print_batches);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}

static void print_runs(const json_t *document)
{
    static const char *const runs[] = {"runId",       "startedAt", "endedAt", "end",
                                       "lastBatchId", "condition", "detail"};
    static const char *const rewinds[] = {"rewoundAt", "fromBatchId", "toBatchId"};
    print_objects(json_object_get(document, "runs"), runs, sizeof runs / sizeof runs[0]);
    if (json_array_size(json_object_get(document, "rewinds")) == 0)
        return;
    (void)putchar('\n');
    print_objects(json_object_get(document, "rewinds"), rewinds,
                  sizeof rewinds / sizeof rewinds[0]);
}

int command_runs(const struct given *given)
{
    struct buffer path = {0};
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, "/runs", &path)};
    int code = call_and_print(given, &call, print_runs);
    buffer_fini(&path);
    return code;
}

static void print_plan(const json_t *document)
{
    (void)fputs(text_at(document, "text"), stdout);
}

int command_plan(const struct given *given)
{
    struct buffer path = {0};
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, "/plan", &path)};
    int code = call_and_print(given, &call, print_plan);
    buffer_fini(&path);
    return code;
}

/* ---- results ---- */

/* The columns are the keys of all rows, in the order in which they come. */
static void print_rows(const json_t *rows)
{
    json_t *keys = json_object();
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        (void)json_object_update_missing(keys, row);
    }
    size_t count = json_object_size(keys), used = 0;
    if (count == 0) {
        (void)puts("(no rows)");
        json_decref(keys);
        return;
    }
    const char **names = calloc(count, sizeof *names);
    CHECK(names != NULL);
    const char *key;
    json_t *value;
    json_object_foreach(keys, key, value)
    {
        names[used++] = key;
    }
    struct table table = {0};
    table_add_objects(&table, names, count, rows);
    table_print(&table);
    table_fini(&table);
    free((void *)names);
    json_decref(keys);
}

static void print_result(struct bytes json)
{
    json_t *document = load_rows(json);
    print_rows(json_object_get(document, "rows"));
    json_decref(document);
}

int command_results(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    buffer_printf(&suffix, "/results?limit=%lld",
                  (long long)(given->count > 0 ? given->count : 100));
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path),
                                   .accept = given->json ? "application/x-ndjson" : NULL};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        (void)fwrite(reply.body.data, 1, reply.body.size_bytes, stdout);
    else if (code == EXIT_OK)
        print_result(buffer_bytes(&reply.body));
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}
