#include "api/http/problem.h"

#include "base/check.h"
#include "spec/error_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void problem_put_error(struct json_writer *json, const struct error *err)
{
    CHECK(err->status != OK);
    json_put_text(json, "condition", status_name(err->status));
    const char *state = status_sqlstate(err->status);
    json_put_text(json, "sqlState", *state == '\0' ? NULL : state);
    json_begin_object(json, "parameters");
    for (const char *at = err->params; *at != '\0';) {
        const char *value = at + strlen(at) + 1;
        json_put_text(json, at, value);
        at = value + strlen(value) + 1;
    }
    json_end_object(json);
    json_put_text(json, "detail", err->text);
    static const char *const domains[] = {"none", "user", "external", "internal"};
    json_put_text(json, "domain", domains[status_domain(err->status)]);
    json_put_bool(json, "retryable", status_retryable(err->status));
    if (err->causes[0] == OK)
        return;
    json_begin_array(json, "causes");
    for (size_t i = 0; i < 3 && err->causes[i] != OK; i++)
        json_put_text(json, NULL, status_name(err->causes[i]));
    json_end_array(json);
}

/* The text that a position counts in: that of the view, or the query's. */
static const char *text_of(const struct error *err, const struct query_spec *spec,
                           size_t *view_index)
{
    *view_index = SIZE_MAX;
    if (spec == NULL)
        return NULL;
    if (err->view[0] == '\0')
        return spec->sql;
    for (size_t i = 0; i < spec->view_count; i++) {
        if (strcmp(spec->views[i].name, err->view) == 0) {
            *view_index = i;
            return spec->views[i].sql;
        }
    }
    return NULL;
}

/* Line and column (1-based, in characters) of a byte offset. */
static void line_column(const char *text, int position, int *line, int *column)
{
    *line = *column = 1;
    for (int i = 0; i < position && text[i] != '\0'; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

static void put_span(struct json_writer *json, const struct error *err, const char *text)
{
    if (err->position < 0 || text == NULL)
        return;
    int line, column, end_line, end_column;
    line_column(text, err->position, &line, &column);
    int end = err->position_end < err->position ? err->position : err->position_end;
    line_column(text, end, &end_line, &end_column);
    json_begin_object(json, "span");
    json_put_int(json, "line", line);
    json_put_int(json, "column", column);
    json_put_int(json, "endLine", end_line);
    json_put_int(json, "endColumn", end_column);
    json_end_object(json);
}

void problem_put_fixes(struct json_writer *json, const char *key, const struct fix *fixes)
{
    json_begin_array(json, key);
    for (const struct fix *fix = fixes; fix != NULL; fix = fix->next) {
        json_begin_object(json, NULL);
        json_put_text(json, "title", fix->title);
        json_begin_array(json, "edits");
        for (const struct fix_edit *edit = fix->edits; edit != NULL; edit = edit->next) {
            json_begin_object(json, NULL);
            json_put_text(json, "pointer", edit->pointer);
            if (edit->value_json != NULL)
                json_put_raw(json, "value", bytes_of_text(edit->value_json));
            if (edit->remove)
                json_put_bool(json, "remove", true);
            if (edit->replace != NULL)
                json_put_text(json, "replace", edit->replace);
            if (edit->text != NULL)
                json_put_text(json, "text", edit->text);
            json_end_object(json);
        }
        json_end_array(json);
        json_put_text(json, "consequence", fix->consequence);
        json_put_bool(json, "validated", fix->validated);
        json_end_object(json);
    }
    json_end_array(json);
}

/* Where the error is: its pointer, or the text it has a position in. */
static void put_place(struct json_writer *json, const struct error *err,
                      const struct query_spec *spec)
{
    size_t view = SIZE_MAX;
    const char *text = text_of(err, spec, &view);
    if (err->pointer[0] != '\0') {
        json_put_text(json, "pointer", err->pointer);
        /* A position beside a pointer counts in the text there: a schema. */
        put_span(json, err, error_schema_text(err, spec));
    } else if (view != SIZE_MAX) {
        char pointer[48];
        (void)snprintf(pointer, sizeof pointer, "/views/%zu/sql", view);
        json_put_text(json, "pointer", pointer);
        put_span(json, err, text);
    } else if (err->position >= 0) {
        json_put_text(json, "pointer", "/sql");
        put_span(json, err, text);
    } else {
        json_put_text(json, "pointer", "");
    }
}

void problem_put_diagnostic(struct json_writer *json, const struct diagnostic *diagnostic,
                            const struct query_spec *spec)
{
    static const char *const severities[] = {"ERROR", "WARNING", "INFO"};
    json_begin_object(json, NULL);
    json_put_text(json, "severity", severities[diagnostic->severity]);
    put_place(json, &diagnostic->error, spec);
    problem_put_error(json, &diagnostic->error);
    problem_put_fixes(json, "fixes", diagnostic->fixes);
    json_end_object(json);
}

/* "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION" -> "Streaming output mode: unsupported operation";
 * "_LEGACY_ERROR_TEMP_3102" -> "Legacy error temp 3102". */
static void put_title(struct json_writer *json, enum status status)
{
    char title[200];
    size_t used = 0;
    const char *name = status_name(status);
    for (const char *at = name + strspn(name, "_"); *at != '\0' && used + 3 < sizeof title; at++) {
        char c = *at;
        if (c == '.')
            title[used++] = ':';
        if (c == '.' || c == '_')
            c = ' ';
        else if (used > 0)
            c = (char)tolower((unsigned char)c);
        title[used++] = c;
    }
    title[used] = '\0';
    json_put_text(json, "title", title);
}

/* That of the condition; HTTP tells apart what is too large. */
static int http_status_of(const struct error *err)
{
    const char *what = err->status == STATUS_LIMIT_EXCEEDED ? error_param(err, "what") : NULL;
    if (what != NULL && strcmp(what, LIMIT_OF_HEADERS) == 0)
        return 431;
    if (what != NULL && strcmp(what, LIMIT_OF_TARGET) == 0)
        return 414;
    return status_http(err->status);
}

static void begin_problem(struct json_writer *json, const struct error *err)
{
    char type[160];
    (void)snprintf(type, sizeof type, "/v1/error-conditions/%s", status_name(err->status));
    json_begin_object(json, NULL);
    json_put_text(json, "type", type);
    put_title(json, err->status);
    json_put_int(json, "status", http_status_of(err));
    problem_put_error(json, err);
}

static void end_problem(struct request *request, struct response *response,
                        struct json_writer *json, const struct error *err)
{
    json_put_text(json, "requestId", request->id);
    json_end_object(json);
    response->status = http_status_of(err);
    response->content_type = "application/problem+json";
    if (response->status == 503)
        response_header(response, "Retry-After", "1");
    if (response->status == 401)
        response_header(response, "WWW-Authenticate", "Bearer");
}

void problem_respond(struct request *request, struct response *response, const struct error *err,
                     const char *allow)
{
    buffer_clear(&response->body);
    response->header_count = 0;
    struct json_writer json = json_writer_to(&response->body);
    begin_problem(&json, err);
    json_begin_array(&json, "errors");
    if (err->pointer[0] != '\0' || err->position >= 0) {
        json_begin_object(&json, NULL);
        put_place(&json, err, NULL);
        json_put_text(&json, "condition", status_name(err->status));
        json_end_object(&json);
    }
    json_end_array(&json);
    problem_put_fixes(&json, "fixes", NULL);
    if (err->status == STATUS_INVALID_STATE) { /* as a list, beside the parameter */
        json_begin_array(&json, "allowedActions");
        const char *at = error_param(err, "allowedActions");
        for (; at != NULL && *at != '\0';) {
            size_t size = strcspn(at, ",");
            json_put_bytes(&json, NULL, bytes_of(at, size));
            at += size + strspn(at + size, ", ");
        }
        json_end_array(&json);
    }
    end_problem(request, response, &json, err);
    if (allow != NULL)
        response_header(response, "Allow", allow);
}

void problem_respond_all(struct request *request, struct response *response,
                         const struct diagnostics *diagnostics, const struct query_spec *spec)
{
    const struct diagnostic *first = diagnostics_first_error(diagnostics);
    CHECK(first != NULL);
    buffer_clear(&response->body);
    response->header_count = 0;
    struct json_writer json = json_writer_to(&response->body);
    begin_problem(&json, &first->error);
    json_begin_array(&json, "errors");
    for (const struct diagnostic *at = diagnostics->first; at != NULL; at = at->next) {
        if (at->severity == DIAGNOSTIC_ERROR)
            problem_put_diagnostic(&json, at, spec);
    }
    json_end_array(&json);
    problem_put_fixes(&json, "fixes", first->fixes);
    end_problem(request, response, &json, &first->error);
}
