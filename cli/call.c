#include "cli/command.h"

#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>

static int exit_code_of(long status)
{
    switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
        return EXIT_INVALID;
    case 404:
    case 410:
        return EXIT_NOT_FOUND;
    case 409:
    case 412:
    case 428:
        return EXIT_CONFLICT;
    case 401:
    case 403:
        return EXIT_AUTH;
    case 408:
        return EXIT_TIMED_OUT;
    case 503:
        return EXIT_UNREACHABLE;
    default:
        return EXIT_OTHER;
    }
}

const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

int64_t int_at(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double real_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void print_place(const json_t *error)
{
    const json_t *span = json_object_get(error, "span");
    (void)fprintf(stderr, "  at %s",
                  *text_at(error, "pointer") == '\0' ? "/" : text_at(error, "pointer"));
    if (json_is_object(span))
        (void)fprintf(stderr, " line %lld column %lld", (long long)int_at(span, "line"),
                      (long long)int_at(span, "column"));
    if (*text_at(error, "detail") != '\0')
        (void)fprintf(stderr, ": [%s] %s", text_at(error, "condition"), text_at(error, "detail"));
    (void)fputc('\n', stderr);
}

static void print_problem(const json_t *problem, long status)
{
    if (!json_is_object(problem) || *text_at(problem, "condition") == '\0') {
        (void)fprintf(stderr, "error: the server answered %ld\n", status);
        return;
    }
    (void)fprintf(stderr, "error: [%s] %s\n", text_at(problem, "condition"),
                  text_at(problem, "detail"));
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(problem, "errors"), i, item)
    {
        print_place(item);
    }
    json_array_foreach(json_object_get(problem, "fixes"), i, item)
    {
        (void)fprintf(stderr, "  fix: %s (%s)\n", text_at(item, "title"),
                      text_at(item, "consequence"));
    }
}

void call_server(const struct options_given *given, const struct http_call *call, json_t **document,
                 struct http_reply *reply, int *exit_code)
{
    struct error err = ERROR_INIT;
    *document = NULL;
    if (http_client_call(&given->client, call, reply, &err) != OK) {
        (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
        *exit_code = EXIT_UNREACHABLE;
        return;
    }
    *document = json_loadb((const char *)reply->body.data, reply->body.size_bytes,
                           JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    *exit_code = EXIT_OK;
    if (reply->status >= 400) {
        print_problem(*document, reply->status);
        json_decref(*document);
        *document = NULL;
        *exit_code = exit_code_of(reply->status);
    }
}

const char *query_path(const char *name, const char *suffix, struct buffer *out)
{
    buffer_clear(out);
    buffer_add_text(out, "/v1/queries/");
    percent_encode(out, bytes_of_text(name), "");
    buffer_add_text(out, suffix);
    return buffer_text(out);
}

void print_json(const json_t *document)
{
    char *text = json_dumps(document, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (text != NULL)
        (void)puts(text);
    free(text);
}
