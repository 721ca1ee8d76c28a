/*
 * Which queries there are: create, replace, list, show, delete; and the server as such.
 */
#include "cli/command.h"

#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_PAGE 1000

/* desiredState of the spec becomes STOPPED; what is no object is left for the server to refuse. */
static void make_stopped(struct buffer *spec)
{
    json_t *root = json_loadb((const char *)spec->data, spec->size_bytes, 0, NULL);
    if (json_is_object(root)) {
        (void)json_object_set_new(root, "desiredState", json_string("STOPPED"));
        char *text = json_dumps(root, JSON_COMPACT);
        buffer_clear(spec);
        buffer_add_text(spec, text);
        free(text);
    }
    json_decref(root);
}

static void print_created(const json_t *document)
{
    if (json_is_true(json_object_get(document, "valid")))
        (void)puts("valid: it could be created");
    else
        (void)printf("%s: %s\n", text_at(document, "name"),
                     text_at(json_object_get(document, "status"), "state"));
    print_waiting_spec(json_object_get(document, "status"));
}

int command_submit(const struct given *asked)
{
    struct buffer spec = {0};
    struct given given = *asked;
    int code = cli_read_spec(given.target, &spec);
    if (code == EXIT_OK && has(&given, CLI_STOPPED))
        make_stopped(&spec);
    given.spec = buffer_bytes(&spec);
    const struct http_call call = {
        .method = "POST",
        .path = has(&given, CLI_DRY_RUN) ? "/v1/queries?validateOnly=true" : "/v1/queries",
        .body = given.spec,
    };
    if (code == EXIT_OK)
        code = call_and_print(&given, &call, print_created);
    buffer_fini(&spec);
    return code;
}

/* Whether there is a query of the name; its ETag. */
static int read_etag(const struct given *given, const char *path, bool *found, char etag[64])
{
    struct error err = ERROR_INIT;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "GET", .path = path};
    if (http_client_call(&given->client, &call, &reply, &err) != OK) {
        (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
        code = (int)exit_code_of_status(err.status);
    }
    *found = reply.status == 200;
    (void)snprintf(etag, 64, "%s", reply.etag);
    http_reply_fini(&reply);
    return code;
}

/* PUT: creates what is not there, and replaces only the spec that was seen. */
static int put_spec(const struct given *given, const char *name)
{
    struct buffer path = {0}, with = {0};
    char etag[64] = "", quoted[80];
    bool found = true;
    int code = EXIT_OK;
    const char *wanted = value_of(given, CLI_IF_MATCH);
    if (wanted == NULL)
        code = read_etag(given, query_path(name, "", &path), &found, etag);
    if (strcmp(wanted == NULL ? etag : wanted, "*") == 0 || (wanted != NULL && *wanted == '"'))
        (void)snprintf(quoted, sizeof quoted, "%s", wanted);
    else
        (void)snprintf(quoted, sizeof quoted, "\"%s\"", wanted == NULL ? etag : wanted);
    buffer_add_text(&with, query_path(name, has(given, CLI_NOW) ? "?apply=now" : "", &path));
    const struct http_call call = {
        .method = "PUT",
        .path = buffer_text(&with),
        .body = given->spec,
        .if_match = found ? quoted : NULL,
        .only_create = !found,
    };
    if (code == EXIT_OK)
        code = call_and_print(given, &call, print_created);
    buffer_fini(&path);
    buffer_fini(&with);
    return code;
}

int command_apply(const struct given *asked)
{
    struct buffer spec = {0};
    struct given given = *asked;
    int code = cli_read_spec(given.target, &spec);
    given.spec = buffer_bytes(&spec);
    json_t *root = json_loadb((const char *)spec.data, spec.size_bytes, 0, NULL);
    const char *name = text_at(root, "name");
    if (code == EXIT_OK && *name == '\0') {
        (void)fprintf(stderr, "error: %s has no \"name\", which says what to replace\n",
                      given.target);
        code = EXIT_INVALID;
    }
    if (code == EXIT_OK)
        code = put_spec(&given, name);
    json_decref(root);
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
static int read_page(const struct given *given, const char *token, json_t *all, struct buffer *next)
{
    struct buffer path = {0};
    buffer_printf(&path, "/v1/queries?pageSize=%lld",
                  (long long)(given->count > 0 ? given->count : LIST_PAGE));
    if (has(given, CLI_STATE)) {
        buffer_add_text(&path, "&state=");
        percent_encode(&path, bytes_of_text(value_of(given, CLI_STATE)), "");
    }
    if (has(given, CLI_LABEL)) {
        buffer_add_text(&path, "&label=");
        percent_encode(&path, bytes_of_text(value_of(given, CLI_LABEL)), "");
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

int command_ls(const struct given *given)
{
    json_t *all = json_array();
    struct buffer token = {0}, next = {0};
    int code = check_state(given, CLI_STATE);
    while (code == EXIT_OK) {
        buffer_clear(&token);
        buffer_add_bytes(&token, buffer_bytes(&next));
        code = read_page(given, buffer_text(&token), all, &next);
        if (next.size_bytes == 0)
            break;
    }
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

static void print_query(const json_t *query)
{
    static const char *const names[] = {"name", "uid", "createdAt", "updatedAt",
                                        "checkpointLocation"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)printf("%-19s %s\n", names[i], text_at(query, names[i]));
    json_t *status = json_deep_copy(json_object_get(query, "status"));
    (void)json_object_set(status, "name", json_object_get(query, "name"));
    print_status(status);
    json_decref(status);
    print_json(json_object_get(query, "spec"));
}

int command_get(const struct given *asked)
{
    struct buffer path = {0};
    struct given given = *asked;
    given.json = !has(&given, CLI_OUTPUT) || given.json;
    const struct http_call call = {.method = "GET", .path = query_path(given.target, "", &path)};
    int code = call_and_print(&given, &call, print_query);
    buffer_fini(&path);
    return code;
}

int command_rm(const struct given *given)
{
    struct buffer path = {0}, suffix = {0};
    buffer_printf(&suffix, "?force=%s%s", has(given, CLI_FORCE) ? "true" : "false",
                  has(given, CLI_PURGE) ? "&purge=checkpoint" : "");
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    const struct http_call call = {.method = "DELETE",
                                   .path = query_path(given->target, buffer_text(&suffix), &path)};
    call_server(given, &call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        (void)puts("{}");
    else if (code == EXIT_OK)
        (void)printf("%s: deleted\n", given->target);
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&path);
    buffer_fini(&suffix);
    return code;
}

static void print_ready(const json_t *document)
{
    (void)puts(text_at(document, "status"));
}

int command_ready(const struct given *given)
{
    const struct http_call call = {.method = "GET", .path = "/readyz"};
    return call_and_print(given, &call, print_ready);
}

int command_call(const struct given *given)
{
    struct buffer body = {0};
    json_t *document = NULL;
    struct http_reply reply = {0};
    const char *file = given->arguments->target[2];
    int code = file == NULL ? EXIT_OK : cli_read_spec(file, &body);
    const struct http_call call = {
        .method = given->target,
        .path = given->arguments->target[1],
        .body = buffer_bytes(&body),
        .accept = "*/*",
        .patient = true,
    };
    if (call.path[0] != '/')
        code = (int)cli_usage(given->arguments->command, "a path begins with /, not", call.path);
    if (code == EXIT_OK)
        call_server(given, &call, &document, &reply, &code);
    struct bytes answer = buffer_bytes(&reply.body);
    if (code == EXIT_OK && answer.size_bytes > 0 &&
        (answer.data[0] == '{' || answer.data[0] == '['))
        print_json_text(answer);
    else if (code == EXIT_OK)
        (void)fwrite(reply.body.data, 1, reply.body.size_bytes, stdout);
    json_decref(document);
    http_reply_fini(&reply);
    buffer_fini(&body);
    return code;
}
