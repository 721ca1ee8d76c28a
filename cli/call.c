#include "cli/command.h"

#include "base/path.h"
#include "base/vfs_posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPEC_BYTES_MAX (64U << 20)
#define READ_BYTES     65536

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

void call_server(const struct given *given, const struct http_call *call, json_t **document,
                 struct http_reply *reply, int *exit_code)
{
    struct error err = ERROR_INIT;
    *document = NULL;
    if (http_client_call(&given->client, call, reply, &err) != OK) {
        (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
        *exit_code = (int)exit_code_of_status(err.status);
        return;
    }
    *document = json_loadb((const char *)reply->body.data, reply->body.size_bytes,
                           JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    *exit_code = (int)exit_code_of_http(reply->status);
    if (*exit_code != EXIT_OK) {
        print_problem(*document, reply->status, given->spec);
        json_decref(*document);
        *document = NULL;
    }
}

int call_and_print(const struct given *given, const struct http_call *call,
                   void (*print)(const json_t *document))
{
    json_t *document = NULL;
    struct http_reply reply = {0};
    int code = EXIT_OK;
    call_server(given, call, &document, &reply, &code);
    if (code == EXIT_OK && given->json)
        print_json_text(buffer_bytes(&reply.body));
    else if (code == EXIT_OK)
        print(document);
    json_decref(document);
    http_reply_fini(&reply);
    return code;
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

void print_json_text(struct bytes json)
{
    struct buffer out = {0};
    json_text_indent(json, &out);
    (void)fwrite(out.data, 1, out.size_bytes, stdout);
    buffer_fini(&out);
}

json_t *load_rows(struct bytes json)
{
    struct buffer kept = {0};
    json_text_keep_cells(json, &kept);
    json_t *document = json_loadb((const char *)kept.data, kept.size_bytes, JSON_ALLOW_NUL, NULL);
    buffer_fini(&kept);
    return document;
}

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
        ssize_t got = read(STDIN_FILENO, buffer_reserve(out, READ_BYTES), READ_BYTES);
        if (got <= 0 || out->size_bytes > SPEC_BYTES_MAX)
            return OK;
        out->size_bytes += (size_t)got;
    }
}

int cli_read_spec(const char *path, struct buffer *out)
{
    struct error err = ERROR_INIT;
    if (read_input(path, out, &err) == OK)
        return EXIT_OK;
    (void)fprintf(stderr, "error: [%s] %s\n", status_name(err.status), err.text);
    return (int)exit_code_of_status(err.status);
}
