#include "cli/command.h"

#include "base/check.h"
#include "base/path.h"
#include "base/vfs_posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SPEC_BYTES_MAX   (64U << 20)
#define LONG_WAIT_S      60
#define LIST_PAGE        1000
#define FOLLOW_COUNT_MAX 1000

static enum status read_input(const char *path, struct buffer *out, struct error *err)
{
    if (strcmp(path, "-") != 0) {
        struct arena *arena = arena_new("request", 0);
        struct bytes content;
        enum status status = vfs_get(vfs_posix(), path, SPEC_BYTES_MAX, arena, &content, err);
        if (status == OK)
            buffer_add_bytes(out, content);
        arena_free(arena);
        return status;
    }
    for (;;) {
        ssize_t got = read(STDIN_FILENO, buffer_reserve(out, 65536), 65536);
        if (got <= 0 || out->size_bytes > SPEC_BYTES_MAX)
            return OK;
        out->size_bytes += (size_t)got;
    }
}

static void print_status_line(const json_t *status)
{
    (void)printf("%s: %s", text_at(status, "name"), text_at(status, "state"));
    if (*text_at(status, "stateReason") != '\0')
        (void)printf(" (%s)", text_at(status, "stateReason"));
    if (*text_at(status, "phase") != '\0')
        (void)printf(", %s", text_at(status, "message"));
    (void)putchar('\n');
}

/* A call whose answer is a status object. */
static int call_action(const struct options_given *given, const struct http_call *call)
{
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json(document);
    else if (code == EXIT_OK)
        print_status_line(document);
    if (code == EXIT_OK && given->wait != NULL && strcmp(text_at(document, "state"), "FAILED") == 0)
        code = EXIT_FAILED_QUERY; /* it was waited for, and this is what came */
    json_decref(document);
    http_reply_fini(&reply);
    return code;
}

int command_submit(const struct options_given *given)
{
    struct buffer spec = {0};
    struct error err = ERROR_INIT;
    if (read_input(given->target, &spec, &err) != OK) {
        (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
        return EXIT_NOT_FOUND;
    }
    if (given->stopped) {
        json_t *root = json_loadb((const char *)spec.data, spec.size_bytes, 0, NULL);
        if (json_is_object(root)) {
            (void)json_object_set_new(root, "desiredState", json_string("STOPPED"));
            char *text = json_dumps(root, JSON_COMPACT);
            buffer_clear(&spec);
            buffer_add_text(&spec, text);
            free(text);
        }
        json_decref(root);
    }
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {
        .method = "POST", .path = "/v1/queries", .body = buffer_bytes(&spec)};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json(document);
    else if (code == EXIT_OK)
        (void)printf("%s: %s\n", text_at(document, "name"),
                     text_at(json_object_get(document, "status"), "state"));
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&spec);
    return code;
}

static void add_query_row(struct table *table, const json_t *query)
{
    const json_t *status = json_object_get(query, "status");
    char batch[24] = "-";
    if (json_is_integer(json_object_get(status, "lastBatchId")))
        (void)snprintf(batch, sizeof batch, "%lld", (long long)int_at(status, "lastBatchId"));
    const char *const cells[] = {text_at(query, "name"), text_at(status, "state"), batch,
                                 text_at(status, "stateSince"), text_at(status, "stateReason")};
    table_add(table, cells);
}

/* One page; its queries go to the end of `all`. */
static int read_page(const struct options_given *given, const char *token, json_t *all,
                     struct buffer *next)
{
    struct buffer path = {0};
    buffer_printf(&path, "/v1/queries?pageSize=%lld",
                  (long long)(given->count > 0 ? given->count : LIST_PAGE));
    if (given->state != NULL) {
        buffer_add_text(&path, "&state=");
        percent_encode(&path, bytes_of_text(given->state), "");
    }
    if (given->label != NULL) {
        buffer_add_text(&path, "&label=");
        percent_encode(&path, bytes_of_text(given->label), "");
    }
    if (*token != '\0') {
        buffer_add_text(&path, "&pageToken=");
        percent_encode(&path, bytes_of_text(token), "");
    }
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET", .path = buffer_text(&path)};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK)
        (void)json_array_extend(all, json_object_get(document, "queries"));
    buffer_clear(next);
    if (code == EXIT_OK)
        buffer_add_text(next, text_at(document, "nextPageToken"));
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    return code;
}

int command_ls(const struct options_given *given)
{
    json_t *all = json_array();
    struct buffer token = {0}, next = {0};
    int code = EXIT_OK;
    do {
        buffer_clear(&token);
        buffer_add_bytes(&token, buffer_bytes(&next));
        code = read_page(given, buffer_text(&token), all, &next);
    } while (code == EXIT_OK && next.size_bytes > 0);
    if (code == EXIT_OK && given->json) {
        json_t *document = json_pack("{s:O, s:n}", "queries", all, "nextPageToken");
        print_json(document);
        json_decref(document);
    } else if (code == EXIT_OK) {
        struct table table = {.columns = 5};
        static const char *const heading[] = {"NAME", "STATE", "BATCH", "SINCE", "REASON"};
        table_add(&table, heading);
        size_t i;
        json_t *query;
        json_array_foreach(all, i, query)
        {
            add_query_row(&table, query);
        }
        table_print(&table);
        table_fini(&table);
    }
    json_decref(all);
    buffer_fini(&token);
    buffer_fini(&next);
    return code;
}

int command_get(const struct options_given *given)
{
    struct buffer path = {0};
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET", .path = query_path(given->target, "", &path)};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK)
        print_json(document);
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    return code;
}

static int action(const struct options_given *given, const char *suffix, const char *body)
{
    struct buffer path = {0};
    const struct http_call call = {
        .method = "POST",
        .path = query_path(given->target, suffix, &path),
        .body = bytes_of_text(body),
        .wait_seconds = given->wait == NULL ? 0 : LONG_WAIT_S,
    };
    int code = call_action(given, &call);
    buffer_fini(&path);
    return code;
}

int command_start(const struct options_given *given)
{
    if (given->dry_run)
        return command_start_plan(given);
    return action(given, "/start", "");
}

int command_stop(const struct options_given *given)
{
    return action(given, "/stop", given->immediate ? "{\"mode\":\"immediate\"}" : "");
}

int command_restart(const struct options_given *given)
{
    return action(given, "/restart", "");
}

int command_rm(const struct options_given *given)
{
    struct buffer path = {0}, suffix = {0};
    buffer_printf(&suffix, "?force=%s%s", given->force ? "true" : "false",
                  given->purge ? "&purge=checkpoint" : "");
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "DELETE",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && !given->json)
        (void)printf("%s: deleted\n", given->target);
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}

/* ---- status ---- */

static bool is_ended(const char *state)
{
    return strcmp(state, "STOPPED") == 0 || strcmp(state, "FAILED") == 0 ||
           strcmp(state, "FINISHED") == 0;
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Waits until the query is in the wished state; a query that ended elsewhere will not come. */
static int wait_for_state(const struct options_given *given, const char *path)
{
    double until = given->timeout_s > 0 ? seconds_now() + (double)given->timeout_s : 1e300;
    char etag[64] = "";
    int code = EXIT_OK;
    for (bool done = false; !done;) {
        double left = until - seconds_now();
        int wait = left < LONG_WAIT_S ? (int)left : LONG_WAIT_S;
        json_t *status = NULL;
        struct http_reply reply = {0};
        struct http_call call = {.method = "GET",
                                 .path = path,
                                 .wait_seconds = *etag == '\0' || wait < 1 ? 0 : wait,
                                 .if_none_match = *etag == '\0' ? NULL : etag};
        call_server(given, &call, &status, &reply, &code);
        const char *state = text_at(status, "state");
        if (*reply.etag != '\0')
            (void)snprintf(etag, sizeof etag, "%s", reply.etag);
        if (code != EXIT_OK) {
            done = true;
        } else if (strcmp(state, given->wait) == 0 || is_ended(state)) {
            print_status_line(status);
            code = strcmp(state, given->wait) == 0 ? EXIT_OK
                   : strcmp(state, "FAILED") == 0  ? EXIT_FAILED_QUERY
                                                   : EXIT_CONFLICT;
            done = true;
        } else if (seconds_now() >= until) {
            (void)fprintf(stderr, "error: the query is not %s within %lld s\n", given->wait,
                          (long long)given->timeout_s);
            code = EXIT_TIMED_OUT;
            done = true;
        }
        json_decref(status);
        http_reply_fini(&reply);
    }
    return code;
}

int command_status(const struct options_given *given)
{
    struct buffer path = {0};
    const char *text = query_path(given->target, "/status", &path);
    int code = EXIT_OK;
    if (given->wait != NULL) {
        code = wait_for_state(given, text);
    } else {
        const struct http_call call = {.method = "GET", .path = text};
        code = call_action(given, &call);
    }
    buffer_fini(&path);
    return code;
}

/* ---- ready ---- */

int command_ready(const struct options_given *given)
{
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET", .path = "/readyz"};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json(document);
    else if (code == EXIT_OK)
        (void)puts(text_at(document, "status"));
    json_decref(document);
    http_reply_fini(&reply);
    return code;
}

/* ---- progress ---- */

static void print_progress(const struct options_given *given, const json_t *document)
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

/* Prints the documents of the answer that come after *last. */
static void print_documents(const struct options_given *given, const json_t *answer, char last[64])
{
    size_t i, start = 0;
    json_t *document;
    const json_t *list = json_object_get(answer, "progress");
    json_array_foreach(list, i, document)
    {
        if (strcmp(text_at(document, "timestamp"), last) <= 0)
            start = i + 1; /* ISO times sort as text */
    }
    for (i = start; i < json_array_size(list); i++) {
        document = json_array_get(list, i);
        print_progress(given, document);
        (void)snprintf(last, 64, "%s", text_at(document, "timestamp"));
    }
    (void)fflush(stdout);
}

/* Waits for a change of the status.  *ended: the query will make no more progress. */
static int wait_for_change(const struct options_given *given, char etag[64], bool *ended)
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
    *ended = code != EXIT_OK || is_ended(text_at(status, "state"));
    if (code == EXIT_OK && strcmp(text_at(status, "state"), "FAILED") == 0)
        code = EXIT_FAILED_QUERY;
    json_decref(status);
    http_reply_fini(&reply);
    buffer_fini(&path);
    return code;
}

int command_progress(const struct options_given *given)
{
    struct buffer path = {0}, suffix = {0};
    char last[64] = "", etag[64] = "";
    int code = EXIT_OK;
    bool ended = false;
    int64_t count = given->count > 0 ? given->count : 10;
    do {
        bool was_ended = ended;
        buffer_clear(&suffix);
        buffer_printf(&suffix, "/progress?last=%lld",
                      (long long)(*last == '\0' ? count : FOLLOW_COUNT_MAX));
        json_t *document = NULL;
        struct http_reply reply = {0};
        const struct http_call call = {
            .method = "GET", .path = query_path(given->target, buffer_text(&suffix), &path)};
        call_server(given, &call, &document, &reply, &code);
        if (code == EXIT_OK)
            print_documents(given, document, last);
        json_decref(document);
        http_reply_fini(&reply);
        if (code != EXIT_OK || was_ended || !given->follow)
            break;
        code = wait_for_change(given, etag, &ended);
    } while (code == EXIT_OK || code == EXIT_FAILED_QUERY);
    buffer_fini(&path);
    buffer_fini(&suffix);
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

int command_results(const struct options_given *given)
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
        print_rows(json_object_get(document, "rows"));
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}
