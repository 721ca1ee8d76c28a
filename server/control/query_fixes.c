/*
 * Fixes: for a condition whose remedy is known, the edited spec is put together and given to the
 * real analyser; a fix is offered only if that accepts it.
 */
#include "control/query_validate.h"

#include "base/check.h"
#include "spec/json_reader.h"

#include <stdio.h>
#include <stdlib.h>

#define FIXES_MAX 8 /* per request: each costs an analysis */

/* The container and the last name of a JSON pointer, or NULL. */
static json_t *resolve(json_t *root, const char *pointer, char *last, size_t last_size)
{
    json_t *at = root;
    while (*pointer == '/') {
        pointer++;
        size_t size = strcspn(pointer, "/");
        char name[160];
        size_t used = 0;
        for (size_t i = 0; i < size && used + 1 < sizeof name; i++) {
            if (pointer[i] == '~' && i + 1 < size) {
                name[used++] = pointer[i + 1] == '1' ? '/' : '~';
                i++;
            } else {
                name[used++] = pointer[i];
            }
        }
        name[used] = '\0';
        pointer += size;
        if (*pointer == '\0') {
            (void)snprintf(last, last_size, "%s", name);
            return at;
        }
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10))
                               : json_object_get(at, name);
    }
    return NULL;
}

/* `text` with the piece at its first occurrence replaced; NULL if it is not there. */
static json_t *replaced(const char *text, const char *replace, const char *with)
{
    const char *at = strstr(text, replace);
    if (at == NULL)
        return NULL;
    struct buffer out = {0};
    buffer_add(&out, text, (size_t)(at - text));
    buffer_add_text(&out, with);
    buffer_add_text(&out, at + strlen(replace));
    json_t *result = json_stringn((const char *)out.data, out.size_bytes);
    buffer_fini(&out);
    return result;
}

static bool apply_edit(json_t *root, const struct fix_edit *edit)
{
    char last[160];
    json_t *container = resolve(root, edit->pointer, last, sizeof last);
    if (!json_is_object(container) && !json_is_array(container))
        return false;
    json_t *old = json_is_array(container) ? json_array_get(container, strtoul(last, NULL, 10))
                                           : json_object_get(container, last);
    json_t *value = NULL;
    if (edit->value_json != NULL)
        value = json_loads(edit->value_json, JSON_DECODE_ANY, NULL);
    else if (json_is_string(old))
        value = replaced(json_string_value(old), edit->replace, edit->text);
    if (value == NULL)
        return false;
    return json_is_array(container)
               ? json_array_set_new(container, strtoul(last, NULL, 10), value) == 0
               : json_object_set_new(container, last, value) == 0;
}

static bool accepted(struct arena *arena, struct bytes json, const struct fix *fix)
{
    struct error ignored = ERROR_INIT;
    json_t *root = NULL;
    if (json_load(json, &root, &ignored) != OK)
        return false;
    bool good = true;
    for (const struct fix_edit *edit = fix->edits; edit != NULL && good; edit = edit->next)
        good = apply_edit(root, edit);
    if (good)
        good = query_check(arena, bytes_of_text(json_print(arena, root)), &ignored) == OK;
    json_decref(root);
    return good;
}

/* Another output mode that the streaming rules accept. */
static void fix_mode(struct validation *validation, struct diagnostic *diagnostic)
{
    static const struct {
        const char *title, *value, *consequence;
    } modes[] = {
        {"Use update mode", "\"update\"",
         "The sink receives a changed row for each key many times and must upsert."},
        {"Use complete mode", "\"complete\"",
         "The sink receives the whole result with every batch."},
        {"Use append mode", "\"append\"", "The sink receives each row once, when it is final."},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        diagnostic_add_fix(validation->diagnostics, diagnostic, modes[i].title,
                           modes[i].consequence);
        diagnostic_add_value_edit(validation->diagnostics, diagnostic, "/outputMode",
                                  modes[i].value);
    }
}

/* The text at the error's position, and the pointer to the text it is in. */
static const char *text_at(struct arena *arena, const struct validation *validation,
                           const struct error *err, const char **pointer)
{
    const char *sql = validation->spec->sql;
    *pointer = "/sql";
    for (size_t i = 0; err->view[0] != '\0' && i < validation->spec->view_count; i++) {
        if (strcmp(validation->spec->views[i].name, err->view) == 0) {
            sql = validation->spec->views[i].sql;
            *pointer = arena_sprintf(arena, "/views/%zu/sql", i);
        }
    }
    if (sql == NULL || err->position < 0 || err->position_end <= err->position ||
        (size_t)err->position_end > strlen(sql))
        return NULL;
    return arena_strndup(arena, sql + err->position, (size_t)(err->position_end - err->position));
}

/* "`a`, `b`" -> a, or the quoted name if it needs its quotes. */
static const char *first_proposal(struct arena *arena, const char *proposals)
{
    if (proposals == NULL || *proposals == '\0')
        return NULL;
    size_t size = strcspn(proposals, ",");
    struct buffer out = {0};
    bool plain = true;
    for (size_t i = 0; i < size; i++) {
        char c = proposals[i];
        if (c == '`')
            continue;
        plain &= c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9');
        buffer_add_byte(&out, (uint8_t)c);
    }
    const char *result = plain && out.size_bytes > 0
                             ? arena_strndup(arena, out.data, out.size_bytes)
                             : arena_strndup(arena, proposals, size);
    buffer_fini(&out);
    return result;
}

static void fix_column(struct arena *arena, struct validation *validation,
                       struct diagnostic *diagnostic)
{
    const char *pointer = NULL;
    const char *wrong = text_at(arena, validation, &diagnostic->error, &pointer);
    const char *right = first_proposal(arena, error_param(&diagnostic->error, "proposal"));
    if (wrong == NULL || right == NULL)
        return;
    diagnostic_add_fix(validation->diagnostics, diagnostic, arena_sprintf(arena, "Use %s", right),
                       "The column is read.");
    diagnostic_add_text_edit(validation->diagnostics, diagnostic, pointer, wrong, right);
}

/* Keeps the fixes that the analyser accepts. */
static void keep_accepted(struct arena *arena, struct bytes json, struct diagnostic *diagnostic,
                          size_t *tried)
{
    for (struct fix **link = &diagnostic->fixes; *link != NULL;) {
        bool good = (*tried)++ < FIXES_MAX && accepted(arena, json, *link);
        (*link)->validated = good;
        if (good)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
}

void query_add_fixes(struct arena *arena, struct bytes json, struct validation *validation)
{
    size_t tried = 0;
    for (struct diagnostic *at = validation->diagnostics->first; at != NULL; at = at->next) {
        if (at->severity != DIAGNOSTIC_ERROR)
            continue;
        switch ((int)at->error.status) {
        case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION:
        case STATUS_STREAMING_OUTPUT_MODE__INVALID:
        case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE:
            fix_mode(validation, at);
            break;
        case STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION:
            fix_column(arena, validation, at);
            break;
        default:
            break;
        }
        keep_accepted(arena, json, at, &tried);
    }
}
