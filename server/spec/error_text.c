#include "spec/error_text.h"

#include "base/text_place.h"

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

void error_text_add(struct buffer *out, const char *word, const struct error *err,
                    const struct query_spec *spec)
{
    size_t view = 0;
    const char *sql = sql_of(err, spec, &view);
    buffer_printf(out, "%s: [%s] %s", word, status_name(err->status), err->text);
    if (sql == NULL) {
        if (err->pointer[0] != '\0')
            buffer_printf(out, " (at %s)", err->pointer);
        buffer_add_text(out, "\n");
        return;
    }
    struct text_span span = text_span_of(sql, err->position, err->position_end);
    if (view == spec->view_count)
        buffer_add_text(out, " (at /sql");
    else
        buffer_printf(out, " (at /views/%zu/sql", view);
    buffer_printf(out, " line %d column %d)\n", span.line, span.column);
    text_mark(out, sql, &span);
}
