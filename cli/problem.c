/*
 * Errors as the server says them, for people: condition, text, the place marked in the SQL, fixes.
 */
#include "base/text_place.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text at "/sql" or "/views/N/sql" of the spec; to be freed; NULL: none. */
static char *sql_at(struct bytes spec, const char *pointer)
{
    json_t *root = json_loadb((const char *)spec.data, spec.size_bytes, JSON_ALLOW_NUL, NULL);
    const json_t *value = NULL;
    if (strcmp(pointer, "/sql") == 0)
        value = json_object_get(root, "sql");
    else if (strncmp(pointer, "/views/", 7) == 0)
        value = json_object_get(
            json_array_get(json_object_get(root, "views"), (size_t)strtoull(pointer + 7, NULL, 10)),
            "sql");
    const char *text = json_string_value(value);
    char *copy = text == NULL ? NULL : strdup(text);
    json_decref(root);
    return copy;
}

static void mark(FILE *to, const json_t *place, struct bytes spec)
{
    const json_t *span = json_object_get(place, "span");
    char *sql = json_is_object(span) ? sql_at(spec, text_at(place, "pointer")) : NULL;
    if (sql == NULL)
        return;
    struct buffer out = {0};
    const struct text_span at = {
        .line = (int)int_at(span, "line"),
        .column = (int)int_at(span, "column"),
        .end_line = (int)int_at(span, "endLine"),
        .end_column = (int)int_at(span, "endColumn"),
    };
    text_mark(&out, sql, &at);
    (void)fwrite(out.data, 1, out.size_bytes, to);
    buffer_fini(&out);
    free(sql);
}

static void print_where(FILE *to, const json_t *place)
{
    const json_t *span = json_object_get(place, "span");
    const char *pointer = text_at(place, "pointer");
    (void)fprintf(to, "at %s", *pointer == '\0' ? "/" : pointer);
    if (json_is_object(span))
        (void)fprintf(to, " line %lld column %lld", (long long)int_at(span, "line"),
                      (long long)int_at(span, "column"));
}

static void print_fixes(FILE *to, const json_t *fixes)
{
    size_t i;
    json_t *item;
    json_array_foreach(fixes, i, item)
    {
        (void)fprintf(to, "  fix: %s (%s)\n", text_at(item, "title"), text_at(item, "consequence"));
    }
}

void print_problem(const json_t *problem, long status, struct bytes spec)
{
    size_t i;
    json_t *item;
    if (!json_is_object(problem) || *text_at(problem, "condition") == '\0') {
        (void)fprintf(stderr, "error: the server answered %ld\n", status);
        return;
    }
    (void)fprintf(stderr, "error: [%s] %s\n", text_at(problem, "condition"),
                  text_at(problem, "detail"));
    json_array_foreach(json_object_get(problem, "errors"), i, item)
    {
        const char *detail = text_at(item, "detail");
        bool same = strcmp(detail, text_at(problem, "detail")) == 0 || *detail == '\0';
        (void)fputs("  ", stderr);
        print_where(stderr, item);
        if (!same)
            (void)fprintf(stderr, ": [%s] %s", text_at(item, "condition"), detail);
        (void)fputc('\n', stderr);
        mark(stderr, item, spec);
    }
    print_fixes(stderr, json_object_get(problem, "fixes"));
}

void print_diagnostic(const json_t *diagnostic, struct bytes spec)
{
    const char *severity = text_at(diagnostic, "severity");
    (void)printf("%s: [%s] %s (",
                 strcmp(severity, "ERROR") == 0     ? "error"
                 : strcmp(severity, "WARNING") == 0 ? "warning"
                                                    : "note",
                 text_at(diagnostic, "condition"), text_at(diagnostic, "detail"));
    print_where(stdout, diagnostic);
    (void)puts(")");
    mark(stdout, diagnostic, spec);
    print_fixes(stdout, json_object_get(diagnostic, "fixes"));
}
