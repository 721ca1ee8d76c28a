#include "spec/diagnostics.h"

#include "base/check.h"

struct diagnostics *diagnostics_new(struct arena *arena)
{
    struct diagnostics *diagnostics = arena_new_object(arena, sizeof *diagnostics);
    diagnostics->arena = arena;
    diagnostics->last = &diagnostics->first;
    return diagnostics;
}

struct diagnostic *diagnostics_add(struct diagnostics *diagnostics,
                                   enum diagnostic_severity severity, const struct error *err)
{
    CHECK(diagnostics != NULL && err->status != OK);
    if (severity == DIAGNOSTIC_ERROR)
        diagnostics->error_count++;
    if (diagnostics->count == DIAGNOSTICS_MAX) {
        diagnostics->dropped++;
        return NULL;
    }
    struct diagnostic *diagnostic = arena_new_object(diagnostics->arena, sizeof *diagnostic);
    diagnostic->severity = severity;
    diagnostic->error = *err;
    *diagnostics->last = diagnostic;
    diagnostics->last = &diagnostic->next;
    diagnostics->count++;
    return diagnostic;
}

enum status diagnostics_report(struct diagnostics *diagnostics, enum diagnostic_severity severity,
                               struct error *err, struct diagnostic **added)
{
    CHECK(err->status != OK);
    if (added != NULL)
        *added = NULL;
    if (diagnostics == NULL) {
        if (severity == DIAGNOSTIC_ERROR)
            return err->status;
        error_clear(err);
        return OK;
    }
    struct diagnostic *diagnostic = diagnostics_add(diagnostics, severity, err);
    if (added != NULL)
        *added = diagnostic;
    error_clear(err);
    return OK;
}

void diagnostic_add_fix(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                        const char *title, const char *consequence)
{
    if (diagnostic == NULL)
        return;
    struct fix *fix = arena_new_object(diagnostics->arena, sizeof *fix);
    fix->title = arena_strdup(diagnostics->arena, title);
    fix->consequence = arena_strdup(diagnostics->arena, consequence);
    struct fix **end = &diagnostic->fixes;
    while (*end != NULL)
        end = &(*end)->next;
    *end = fix;
}

static struct fix_edit *edit_new(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                                 const char *pointer)
{
    struct fix *fix = diagnostic->fixes;
    CHECK(fix != NULL);
    while (fix->next != NULL)
        fix = fix->next;
    struct fix_edit *edit = arena_new_object(diagnostics->arena, sizeof *edit);
    edit->pointer = arena_strdup(diagnostics->arena, pointer);
    struct fix_edit **end = &fix->edits;
    while (*end != NULL)
        end = &(*end)->next;
    *end = edit;
    return edit;
}

void diagnostic_add_value_edit(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                               const char *pointer, const char *value_json)
{
    if (diagnostic == NULL)
        return;
    struct fix_edit *edit = edit_new(diagnostics, diagnostic, pointer);
    edit->value_json = arena_strdup(diagnostics->arena, value_json);
}

void diagnostic_add_removal(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                            const char *pointer)
{
    if (diagnostic == NULL)
        return;
    edit_new(diagnostics, diagnostic, pointer)->remove = true;
}

void diagnostic_add_text_edit(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                              const char *pointer, const char *replace, const char *text)
{
    if (diagnostic == NULL)
        return;
    struct fix_edit *edit = edit_new(diagnostics, diagnostic, pointer);
    edit->replace = arena_strdup(diagnostics->arena, replace);
    edit->text = arena_strdup(diagnostics->arena, text);
}

bool diagnostics_has_errors(const struct diagnostics *diagnostics)
{
    return diagnostics != NULL && diagnostics->error_count > 0;
}

const struct diagnostic *diagnostics_first_error(const struct diagnostics *diagnostics)
{
    if (diagnostics == NULL)
        return NULL;
    for (const struct diagnostic *at = diagnostics->first; at != NULL; at = at->next) {
        if (at->severity == DIAGNOSTIC_ERROR)
            return at;
    }
    return NULL;
}
