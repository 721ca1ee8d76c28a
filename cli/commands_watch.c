/*
 * What a query does and did: progress, batches, runs, plan, rows.
 */
#include "cli/command.h"

#include "base/heap.h"

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

#define FILES_NAMED 100000

/* Sources are one cell, so that the names of their files stand elsewhere. */
static json_t *batch_row(const json_t *batch)
{
    json_t *row = json_copy((json_t *)(uintptr_t)batch), *sources = json_array();
    size_t i;
    const json_t *source;
    json_int_t files = 0;
    bool has_files = false;
    json_array_foreach(json_object_get(batch, "sources"), i, source)
    {
        json_t *offsets = json_copy((json_t *)(uintptr_t)source);
        has_files = has_files || json_object_get(source, "numFiles") != NULL;
        files += json_integer_value(json_object_get(source, "numFiles"));
        (void)json_object_del(offsets, "numFiles");
        (void)json_object_del(offsets, "files");
        (void)json_array_append_new(sources, offsets);
    }
    (void)json_object_set_new(row, "sources", sources);
    if (has_files)
        (void)json_object_set_new(row, "filesRead", json_integer(files));
    return row;
}

static void print_batch_list(const json_t *list)
{
    static const char *const names[] = {"batchId",        "committed",    "attempts",
                                        "batchTimestamp", "numInputRows", "numOutputRows",
                                        "filesRead",      "watermark",    "sources"};
    json_t *rows = json_array();
    size_t i;
    const json_t *batch;
    json_array_foreach(list, i, batch)
    {
        (void)json_array_append_new(rows, batch_row(batch));
    }
    print_objects(rows, names, sizeof names / sizeof names[0]);
    json_decref(rows);
}

static void print_file_names(const char *what, const json_t *of)
{
    size_t i;
    const json_t *file;
    const json_t *files = json_object_get(of, "files");
    json_array_foreach(files, i, file)
    {
        (void)printf("  %s %s\n", what, text_at(file, "path"));
    }
    int64_t more = int_at(of, "numFiles") - (int64_t)json_array_size(files);
    if (more > 0)
        (void)printf("  %s %lld more\n", what, (long long)more);
}

/* "batch 3", and a line for each file. */
static void print_batch_files(const json_t *list)
{
    size_t i, j;
    const json_t *batch, *source;
    json_array_foreach(list, i, batch)
    {
        (void)printf("%sbatch %lld\n", i > 0 ? "\n" : "", (long long)int_at(batch, "batchId"));
        json_array_foreach(json_object_get(batch, "sources"), j, source)
        {
            print_file_names("read ", source);
        }
        print_file_names("wrote", json_object_get(batch, "sink"));
    }
}

static void print_batches(const json_t *document)
{
    print_batch_list(json_object_get(document, "batches"));
}

static void print_files(const json_t *document)
{
    print_batch_files(json_object_get(document, "batches"));
}

static void print_one(const json_t *document, void (*print)(const json_t *list))
{
    json_t *list = json_array();
    (void)json_array_append(list, (json_t *)(uintptr_t)document);
    print(list);
    json_decref(list);
}

static void print_batch(const json_t *document)
{
    print_one(document, print_batch_list);
}

static void print_files_of_batch(const json_t *document)
{
    print_one(document, print_batch_files);
}

int command_batches(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    bool good = true, files = has(given, CLI_FILES);
    int64_t batch = arguments_number(given->arguments, CLI_BATCH, -1, 0, &good);
    if (!good)
        return EXIT_USAGE;
    if (batch >= 0)
        buffer_printf(&suffix, "/batches/%lld?", (long long)batch);
    else
        buffer_printf(&suffix, "/batches?limit=%lld%s",
                      (long long)(given->count > 0 ? given->count : 10), files ? "&" : "");
    if (files || batch >= 0)
        buffer_printf(&suffix, "files=%d", files ? FILES_NAMED : 3);
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    void (*print)(const json_t *) = batch >= 0 ? files ? print_files_of_batch : print_batch
                                    : files    ? print_files
                                               : print_batches;
    int code = call_and_print(given, &call, print);
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
    struct buffer path = {0}, suffix = {0};
    buffer_printf(&suffix, "/runs?limit=%lld", (long long)(given->count > 0 ? given->count : 100));
    const struct http_call call = {.method = "GET",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    int code = call_and_print(given, &call, print_runs);
    buffer_fini(&path);
    buffer_fini(&suffix);
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
    const char **names = heap_calloc(count, sizeof *names);
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
