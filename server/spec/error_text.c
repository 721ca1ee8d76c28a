#include "spec/error_text.h"

#include "base/text_place.h"

#include <string.h>

/* The SQL that the error has a position in; *view is its index, or view_count. */
static const char *sql_of(const struct error *err, const struct query_spec *spec, size_t *view)
{
    if (spec == NULL || err->position < 0 || err->pointer[0] != '\0')
        return NULL;
    *view = spec->view_count;
    if (err->view[0] == '\0')
        return spec->sql;
    for (*view = 0; *view < spec->view_count; ++*view)
        if (strcmp(spec->views[*view].name, err->view) == 0)
            return spec->views[*view].sql;
    return NULL;
}

static bool points_at_schema(const struct error *err, const struct relation_spec *relation)
{
    static const char options[] = "/options";
    const char *pointer = relation->options.pointer;
    size_t size = pointer == NULL ? 0 : strlen(pointer);
    if (size < sizeof options)
        return false;
    size -= sizeof options - 1;
    return strncmp(err->pointer, pointer, size) == 0 && strcmp(err->pointer + size, "/schema") == 0;
}

const char *error_schema_text(const struct error *err, const struct query_spec *spec)
{
    const char *text = NULL;
    if (spec == NULL || err->position < 0)
        return NULL;
    for (size_t i = 0; i < spec->source_count; i++)
        if (points_at_schema(err, &spec->sources[i]))
            text = spec->sources[i].schema_text;
    for (size_t i = 0; i < spec->table_count; i++)
        if (points_at_schema(err, &spec->tables[i]))
            text = spec->tables[i].schema_text;
    if (text == NULL || (size_t)err->position > strlen(text))
        return NULL;
    char first = text[strspn(text, " \t\r\n")];
    return first == '{' || first == '"' ? NULL : text;
}

void error_text_add(struct buffer *out, const char *word, const struct error *err,
                    const struct query_spec *spec)
{
    size_t view = 0;
    const char *sql = sql_of(err, spec, &view);
    const char *schema = error_schema_text(err, spec);
    bool placed = sql != NULL || schema != NULL || err->pointer[0] != '\0';
    size_t size = strlen(err->text);
    bool ends = placed && size > 0 && err->text[size - 1] == '.'; /* its place belongs to it */
    buffer_printf(out, "%s: [%s] %.*s", word, status_name(err->status), (int)(size - ends),
                  err->text);
    if (sql == NULL && schema == NULL) {
        if (err->pointer[0] != '\0')
            buffer_printf(out, " (at %s)", err->pointer);
        buffer_add_text(out, "\n");
        return;
    }
    sql = sql == NULL ? schema : sql;
    struct text_span span = text_span_of(sql, err->position, err->position_end);
    if (sql == schema)
        buffer_printf(out, " (at %s", err->pointer);
    else if (view == spec->view_count)
        buffer_add_text(out, " (at /sql");
    else
        buffer_printf(out, " (at /views/%zu/sql", view);
    buffer_printf(out, " line %d column %d)\n", span.line, span.column);
    text_mark(out, sql, &span);
}
