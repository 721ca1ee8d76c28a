#include "api/http/http_head.h"
#include "api/http/problem.h"

#include "base/check.h"
#include "base/path.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct reading {
    struct request *request;
    struct http_head *head;
    struct error *err;
    enum status status;
    size_t header_bytes, target_bytes;
    bool has_host, has_transfer_encoding;
};

static enum method method_of(const char *text)
{
    static const struct {
        const char *name;
        enum method method;
    } methods[] = {{"GET", METHOD_GET},        {"POST", METHOD_POST},   {"PUT", METHOD_PUT},
                   {"DELETE", METHOD_DELETE},  {"PATCH", METHOD_PATCH}, {"HEAD", METHOD_HEAD},
                   {"OPTIONS", METHOD_OPTIONS}};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i].name, text) == 0)
            return methods[i].method;
    }
    return METHOD_OTHER;
}

/* Decoded text without NUL bytes that is UTF-8, or NULL. */
static const char *decode(struct arena *arena, const char *text, size_t size)
{
    struct buffer out = {0};
    percent_decode(&out, bytes_of(text, size));
    bool valid = out.size_bytes == 0 ||
                 (memchr(out.data, 0, out.size_bytes) == NULL && utf8_is_valid(buffer_bytes(&out)));
    const char *result = !valid                ? NULL
                         : out.size_bytes == 0 ? ""
                                               : arena_strndup(arena, out.data, out.size_bytes);
    buffer_fini(&out);
    return result;
}

static enum status read_path(struct request *request, const char *url, struct error *err)
{
    if (strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0) {
        url = strchr(url + 8, '/');
        if (url == NULL)
            url = "/";
    }
    request->path = arena_strndup(request->arena, url, strcspn(url, "?"));
    const char *at = request->path;
    while (*at == '/') {
        at++;
        size_t size = strcspn(at, "/");
        if (request->segment_count == REQUEST_SEGMENTS_MAX)
            return error_raise(err, STATUS_ROUTE_NOT_FOUND, "path", request->path, NULL);
        const char *segment = decode(request->arena, at, size);
        if (segment == NULL)
            return error_raise(err, STATUS_ROUTE_NOT_FOUND, "path", request->path, NULL);
        request->segment[request->segment_count++] = segment;
        at += size;
    }
    return OK;
}

static enum status too_large(const struct http_head *head, const char *what, struct error *err)
{
    char limit[24];
    (void)snprintf(limit, sizeof limit, "%zu bytes", head->bytes_max);
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", what, "limit", limit, NULL);
}

static enum MHD_Result on_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct reading *reading = ctx;
    struct request *request = reading->request;
    reading->target_bytes += key_size + value_size + sizeof "?=" - 1;
    if (reading->target_bytes > reading->head->bytes_max) {
        reading->status = too_large(reading->head, LIMIT_OF_TARGET, reading->err);
        return MHD_NO;
    }
    const char *name = decode(request->arena, key, key_size);
    const char *text = value == NULL ? "" : decode(request->arena, value, value_size);
    if (name == NULL || text == NULL || request->argument_count == REQUEST_ARGUMENTS_MAX) {
        reading->status = error_raise(reading->err, STATUS_INVALID_PARAMETER, "parameter",
                                      name == NULL ? "?" : name, "value", "?", "expected",
                                      "at most 32 parameters in UTF-8", NULL);
        return MHD_NO;
    }
    request->argument[request->argument_count++] = (struct argument){name, text};
    return MHD_YES;
}

static enum status invalid_header(struct reading *reading, const char *name, const char *reason)
{
    reading->status =
        error_raise(reading->err, STATUS_INVALID_HEADER, "header", name, "reason", reason, NULL);
    return reading->status;
}

static void read_content_length(struct reading *reading, const char *value)
{
    if (reading->head->has_content_length) {
        (void)invalid_header(reading, "Content-Length", "it is there twice");
        return;
    }
    char *end = NULL;
    errno = 0;
    unsigned long long length = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || *value == '-') {
        (void)invalid_header(reading, "Content-Length", "it is no number");
        return;
    }
    reading->head->content_length = length;
    reading->head->has_content_length = true;
}

static void read_transfer_encoding(struct reading *reading, const char *value)
{
    reading->has_transfer_encoding = true;
    if (strcasecmp(value, "chunked") != 0)
        reading->status = error_raise(reading->err, STATUS_UNSUPPORTED_TRANSFER_ENCODING,
                                      "encoding", value, NULL);
}

/* A header that is there twice is one list (RFC 9110, 5.3). */
static const char *joined_list(struct arena *arena, const char *before, const char *value)
{
    return before == NULL ? arena_strdup(arena, value)
                          : arena_sprintf(arena, "%s, %s", before, value);
}

/* "respond-async, wait=10" */
static void read_prefer(struct reading *reading, const char *value)
{
    const char *wait = strcasestr(value, "wait=");
    if (wait == NULL)
        return;
    char *end = NULL;
    errno = 0;
    long long seconds = strtoll(wait + 5, &end, 10);
    if (errno != 0 || end == wait + 5 || seconds < 0) {
        (void)invalid_header(reading, "Prefer", "wait=N is a number of seconds");
        return;
    }
    int64_t max = PREFER_WAIT_MAX_US / 1000000;
    reading->request->has_wait = true;
    reading->request->wait_us = (seconds < max ? seconds : max) * 1000000;
}

static enum MHD_Result on_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                 size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct reading *reading = ctx;
    struct request *request = reading->request;
    if (value == NULL)
        value = "";
    reading->header_bytes += key_size + value_size + sizeof ": \r\n" - 1;
    if (reading->header_bytes > reading->head->bytes_max) {
        reading->status = too_large(reading->head, LIMIT_OF_HEADERS, reading->err);
    } else if (strlen(key) != key_size || strlen(value) > value_size) {
        (void)invalid_header(reading, "?", "it contains a NUL");
    } else if (strcasecmp(key, "Content-Length") == 0) {
        read_content_length(reading, value);
    } else if (strcasecmp(key, "Transfer-Encoding") == 0) {
        read_transfer_encoding(reading, value);
    } else if (strcasecmp(key, "Host") == 0) {
        if (reading->has_host)
            (void)invalid_header(reading, "Host", "it is there twice");
        reading->has_host = true;
        reading->head->host = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Origin") == 0) {
        reading->head->origin = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Content-Type") == 0) {
        request->content_type = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Content-Encoding") == 0) {
        if (strcasecmp(value, "identity") != 0 && *value != '\0')
            request->content_encoding = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Accept") == 0) {
        request->accept = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "If-Match") == 0) {
        request->if_match = joined_list(request->arena, request->if_match, value);
    } else if (strcasecmp(key, "If-None-Match") == 0) {
        request->if_none_match = joined_list(request->arena, request->if_none_match, value);
    } else if (strcasecmp(key, "Idempotency-Key") == 0) {
        request->idempotency_key = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Authorization") == 0) {
        request->authorization = arena_strdup(request->arena, value);
    } else if (strcasecmp(key, "Prefer") == 0) {
        read_prefer(reading, value);
    }
    return reading->status == OK ? MHD_YES : MHD_NO;
}

enum status http_head_read(struct MHD_Connection *connection, const char *method, const char *url,
                           struct request *request, struct http_head *head, struct error *err)
{
    *head = (struct http_head){.bytes_max = head->bytes_max};
    request->method = method_of(method);
    request->method_text = arena_strdup(request->arena, method);
    request->path = "/";
    struct reading reading = {
        .request = request, .head = head, .err = err, .target_bytes = strlen(url)};
    if (reading.target_bytes > head->bytes_max)
        return too_large(head, LIMIT_OF_TARGET, err);
    TRY(read_path(request, url, err));
    (void)mhd.get_connection_values_n(connection, MHD_HEADER_KIND, on_header, &reading);
    if (reading.status == OK)
        (void)mhd.get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, on_argument, &reading);
    if (reading.status == OK && reading.has_transfer_encoding && head->has_content_length)
        (void)invalid_header(&reading, "Content-Length", "it stands beside Transfer-Encoding");
    return reading.status;
}
