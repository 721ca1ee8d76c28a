/*
 * Fixes: for a condition whose remedy is known, the edited spec is put together and given to the
 * real analyser; a fix is offered only if that accepts it.
 */
#include "control/fixing.h"

#include "base/check.h"
#include "base/options.h"
#include "control/fix_edit.h"
#include "control/fix_name.h"
#include "control/fix_value.h"
#include "spec/json_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define FIXES_MAX 12 /* per request: each costs an analysis */

/* One error less; the fix of the only one leaves none.  Of a warning: one warning less. */
static bool accepted(struct fixing *fixing, const struct fix *fix)
{
    json_t *root = json_deep_copy(fixing->root);
    bool good = true;
    for (const struct fix_edit *edit = fix->edits; edit != NULL && good; edit = edit->next)
        good = fix_apply(root, edit);
    if (good) {
        struct bytes edited = bytes_of_text(json_print(fixing->arena, root));
        const struct diagnostics *before = fixing->validation->diagnostics;
        struct problem_count left = query_count_problems(fixing->arena, fixing->paths, edited);
        good = before->error_count > 0
                   ? left.errors < before->error_count
                   : left.errors == 0 && left.all < before->count + before->dropped;
    }
    json_decref(root);
    return good;
}

/* ---- SQL texts ---- */

const char *fixing_sql(const struct fixing *fixing, const struct error *err, const char **pointer)
{
    const struct query_spec *spec = fixing->validation->spec;
    const char *sql = spec->sql;
    *pointer = "/sql";
    for (size_t i = 0; err->view[0] != '\0' && i < spec->view_count; i++) {
        if (strcmp(spec->views[i].name, err->view) == 0) {
            sql = spec->views[i].sql;
            *pointer = arena_sprintf(fixing->arena, "/views/%zu/sql", i);
        }
    }
    return err->pointer[0] != '\0' ? NULL : sql;
}

const char *fixing_text(const struct fixing *fixing, const struct error *err, const char **pointer)
{
    const char *sql = fixing_sql(fixing, err, pointer);
    if (sql == NULL || err->position < 0 || err->position_end <= err->position ||
        (size_t)err->position_end > strlen(sql))
        return NULL;
    return sql;
}

const char *fixing_pointer(const struct fixing *fixing, const struct error *err, const char *sql)
{
    const struct query_spec *spec = fixing->validation->spec;
    const char *pointer = NULL;
    (void)fixing_text(fixing, err, &pointer);
    if (sql == spec->sql)
        pointer = "/sql";
    for (size_t i = 0; i < spec->view_count; i++)
        if (sql == spec->views[i].sql)
            pointer = arena_sprintf(fixing->arena, "/views/%zu/sql", i);
    return pointer;
}

const char *fixing_edit(struct fixing *fixing, struct diagnostic *diagnostic, const char *sql,
                        size_t from, size_t to, const char *right)
{
    struct arena *arena = fixing->arena;
    const char *pointer = fixing_pointer(fixing, &diagnostic->error, sql);
    size_t start = from;
    const char *piece = arena_strndup(arena, sql + from, to - from);
    while (start > 0 && strstr(sql, piece) != sql + start) {
        start--;
        piece = arena_strndup(arena, sql + start, to - start);
    }
    diagnostic_add_text_edit(
        fixing->validation->diagnostics, diagnostic, pointer, piece,
        arena_sprintf(arena, "%.*s%s", (int)(from - start), sql + start, right));
    return arena_sprintf(arena, "%.*s%s%s", (int)from, sql, right, sql + to);
}

/* Where the name stands in [*from, *to), which may be more than it: `* EXCEPT (name)`. */
static bool narrow(const char *sql, const char *name, size_t *from, size_t *to)
{
    size_t at = fix_find_word(sql, *from, name);
    if (at == SIZE_MAX || at + strlen(name) > *to)
        return false;
    *from = at;
    *to = at + strlen(name);
    return true;
}

/* Puts `right` in the place of the quoted name that the error is about; if the same stands
 * elsewhere (the column that is selected and grouped by), a second fix puts it in all places. */
static void replace_at(struct fixing *fixing, struct diagnostic *diagnostic, const char *quoted,
                       const char *right, const char *consequence)
{
    const char *pointer = NULL;
    const struct error *err = &diagnostic->error;
    const char *sql = fixing_text(fixing, err, &pointer);
    if (sql == NULL || quoted == NULL)
        return;
    struct diagnostics *list = fixing->validation->diagnostics;
    size_t from = (size_t)err->position, to = (size_t)err->position_end;
    if (!narrow(sql, fix_bare_name(fixing->arena, quoted), &from, &to) &&
        !narrow(sql, quoted, &from, &to))
        return;
    const char *word = arena_strndup(fixing->arena, sql + from, to - from);
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Use %s", right),
                       consequence);
    (void)fixing_edit(fixing, diagnostic, sql, from, to, right);
    size_t at = fix_find_word(sql, 0, word);
    if (at == SIZE_MAX || (at == from && fix_find_word(sql, to, word) == SIZE_MAX))
        return;
    diagnostic_add_fix(list, diagnostic,
                       arena_sprintf(fixing->arena, "Use %s in all places", right), consequence);
    for (size_t i = 0; at != SIZE_MAX && i < FIX_PLACES_MAX; i++) {
        sql = fixing_edit(fixing, diagnostic, sql, at, at + strlen(word), right);
        at = fix_find_word(sql, at + strlen(right), word);
    }
}

/* ---- values and names of the spec ---- */

const char *fixing_json(struct arena *arena, const char *text)
{
    json_t *value = json_string(text);
    const char *result = json_print(arena, value);
    json_decref(value);
    return result;
}

static void set_value(struct fixing *fixing, struct diagnostic *diagnostic, const char *right,
                      const char *consequence)
{
    struct diagnostics *list = fixing->validation->diagnostics;
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Use %s", right),
                       consequence);
    diagnostic_add_value_edit(list, diagnostic, diagnostic->error.pointer,
                              fixing_json(fixing->arena, right));
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static void fix_column(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const struct {
        const char *flat, *right; /* as other systems name the bounds of a window */
    } parts[] = {
        {"window_start", "window.start"},
        {"window_end", "window.end"},
        {"session_window_start", "session_window.start"},
        {"session_window_end", "session_window.end"},
    };
    const char *quoted = error_param(&diagnostic->error, "objectName");
    const char *name = quoted == NULL ? "" : fix_last_part(fixing->arena, quoted);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcasecmp(name, parts[i].flat) == 0)
            replace_at(fixing, diagnostic, quoted, parts[i].right, "The window's bound is read.");
    static const char ask[] = "Did you mean one of: ";
    const char *proposals = strstr(diagnostic->error.text, ask);
    if (proposals == NULL)
        return; /* the reason is another one */
    proposals = arena_strdup(fixing->arena, proposals + sizeof ask - 1);
    const char *end = strrchr(proposals, '?');
    const char *right = fix_meant_name(
        fixing->arena, quoted,
        arena_strndup(fixing->arena, proposals, end == NULL ? 0 : (size_t)(end - proposals)));
    if (right == NULL)
        return;
    if (ends_with(diagnostic->error.pointer, "/watermark/column"))
        set_value(fixing, diagnostic, fix_bare_name(fixing->arena, right),
                  "The column is the event time.");
    else
        replace_at(fixing, diagnostic, quoted, fix_sql_name(fixing->arena, right),
                   "The column is read.");
}

/* A column of the sink or of a deduplication, in a list or in "a,b". */
static void fix_listed(struct fixing *fixing, struct diagnostic *diagnostic, const char *written,
                       const char *possible)
{
    const struct error *err = &diagnostic->error;
    const char *name = error_param(err, written);
    const char *right = fix_meant_name(fixing->arena, name, error_param(err, possible));
    char last[160];
    json_t *container = fix_container(fixing->root, err->pointer, last, sizeof last);
    const json_t *value = json_object_get(container, last); /* NULL in an array */
    if (right == NULL)
        return;
    right = fix_bare_name(fixing->arena, right);
    struct diagnostics *list = fixing->validation->diagnostics;
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Use %s", right),
                       "The column counts.");
    if (json_is_string(value)) {
        diagnostic_add_text_edit(list, diagnostic, err->pointer, name, right);
        return;
    }
    const char *pointer = err->pointer;
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item)
    {
        if (json_is_string(item) && strcmp(json_string_value(item), name) == 0)
            pointer = arena_sprintf(fixing->arena, "%s/%zu", err->pointer, i);
    }
    diagnostic_add_value_edit(list, diagnostic, pointer, fixing_json(fixing->arena, right));
}

/* A relation that is not there: the source, table or view with the nearest name. */
static void fix_relation(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const struct query_spec *spec = fixing->validation->spec;
    size_t count = 0;
    const char **names = arena_new_object(
        fixing->arena,
        (spec->source_count + spec->table_count + spec->view_count + 1) * sizeof *names);
    for (size_t i = 0; i < spec->source_count; i++)
        names[count++] = spec->sources[i].name;
    for (size_t i = 0; i < spec->table_count; i++)
        names[count++] = spec->tables[i].name;
    for (size_t i = 0; i < spec->view_count; i++)
        names[count++] = spec->views[i].name;
    const char *quoted = error_param(&diagnostic->error, "relationName");
    const char *written = quoted == NULL ? "" : quoted + (*quoted == '`');
    const char *plain = arena_strndup(fixing->arena, written, strcspn(written, "`"));
    const char *right = nearest_name(plain, names, count);
    if (right == NULL)
        return;
    if (ends_with(diagnostic->error.pointer, "/from"))
        set_value(fixing, diagnostic, right, "The relation is read.");
    else
        replace_at(fixing, diagnostic, quoted, right, "The relation is read.");
}

/* The name in "Did you mean NAME?" of the error's text, or NULL. */
static const char *suggested(struct arena *arena, const struct error *err)
{
    static const char ask[] = "Did you mean ";
    const char *at = strstr(err->text, ask);
    if (at == NULL)
        return NULL;
    at += sizeof ask - 1;
    const char *end = strchr(at, '?');
    return end == NULL ? NULL : arena_strndup(arena, at, (size_t)(end - at));
}

/* partitionBy among the options of the sink, a text or a list: the field. */
static void fix_partition_option(struct fixing *fixing, struct diagnostic *diagnostic)
{
    struct diagnostics *list = fixing->validation->diagnostics;
    const char *pointer = diagnostic->error.pointer;
    char last[160];
    json_t *value = json_object_get(fix_container(fixing->root, pointer, last, sizeof last), last);
    json_t *sink = json_object_get(fixing->root, "sink");
    json_t *columns = json_is_array(value) ? json_incref(value) : json_array();
    const char *text = json_string_value(value);
    for (size_t size; text != NULL && *text != '\0'; text += size) {
        text += strspn(text, ", ");
        size = strcspn(text, ", ");
        if (size > 0)
            (void)json_array_append_new(columns, json_stringn(text, size));
    }
    bool other = json_has_field((struct json_place){.object = sink}, "partitionBy");
    diagnostic_add_fix(list, diagnostic,
                       other ? "Leave the option out" : "Write the field partitionBy",
                       "The columns of the field count.");
    diagnostic_add_removal(list, diagnostic, pointer);
    if (!other)
        diagnostic_add_value_edit(list, diagnostic, "/sink/partitionBy",
                                  json_print(fixing->arena, columns));
    json_decref(columns);
}

/* What is at `pointer` goes, and `value` comes beside it as `field`. */
static void add_move(struct fixing *fixing, struct diagnostic *diagnostic, const char *pointer,
                     const char *field, const json_t *value)
{
    struct diagnostics *list = fixing->validation->diagnostics;
    int beside = (int)(strrchr(pointer, '/') - pointer);
    diagnostic_add_removal(list, diagnostic, pointer);
    diagnostic_add_value_edit(list, diagnostic,
                              arena_sprintf(fixing->arena, "%.*s/%s", beside, pointer, field),
                              json_print(fixing->arena, value));
}

/* A field that is meant as an option: it moves to the options beside it. */
static void fix_misplaced_option(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = diagnostic->error.pointer;
    const char *slash = strrchr(pointer, '/');
    char last[160];
    json_t *container = fix_container(fixing->root, pointer, last, sizeof last);
    json_t *value = json_object_get(container, last);
    json_t *options = json_object_get(container, "options");
    if (slash == NULL || value == NULL || json_object_get(options, last) != NULL)
        return;
    json_t *all = options == NULL ? json_object() : json_copy(options);
    (void)json_object_set(all, last, value);
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Make %s an option", last),
                       "The option counts.");
    add_move(fixing, diagnostic, pointer, "options", all);
    json_decref(all);
}

/* A field, an option or a setting of another name: its value moves there. */
static void fix_name(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const char option[] = "/sink/options/partitionBy";
    if (strcasecmp(diagnostic->error.pointer, option) == 0) {
        fix_partition_option(fixing, diagnostic);
        return;
    }
    if (strcmp(diagnostic->error.pointer, "/trigger/type") == 0) {
        diagnostic_add_fix(fixing->validation->diagnostics, diagnostic, "Leave type out",
                           "The other field of the trigger says its kind.");
        diagnostic_add_removal(fixing->validation->diagnostics, diagnostic, "/trigger/type");
    }
    if (strstr(diagnostic->error.text, JSON_HINT_OPTIONS) != NULL)
        fix_misplaced_option(fixing, diagnostic);
    const char *right = suggested(fixing->arena, &diagnostic->error);
    const char *pointer = diagnostic->error.pointer;
    const char *slash = strrchr(pointer, '/');
    char last[160];
    json_t *container = fix_container(fixing->root, pointer, last, sizeof last);
    json_t *value = json_object_get(container, last);
    if (right == NULL || slash == NULL || value == NULL ||
        json_has_field((struct json_place){.object = container}, right))
        return;
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Write %s", right), "The value counts.");
    add_move(fixing, diagnostic, pointer, right, value);
}

/* "onFailure, always or never" -> its words. */
static size_t words_of(struct arena *arena, const char *expected, const char **words, size_t room)
{
    size_t count = 0;
    while (*expected != '\0' && count < room) {
        expected += strspn(expected, ", ");
        size_t size = strcspn(expected, ", ");
        if (size > 0 && !(size == 2 && strncmp(expected, "or", 2) == 0))
            words[count++] = arena_strndup(arena, expected, size);
        expected += size;
    }
    return count;
}

/* A misspelt word where only some are possible; `written` and `possible` name the parameters. */
static void fix_word(struct fixing *fixing, struct diagnostic *diagnostic, const char *written,
                     const char *possible)
{
    const char *words[16];
    const char *value = error_param(&diagnostic->error, written);
    const char *expected = error_param(&diagnostic->error, possible);
    if (value == NULL || expected == NULL || diagnostic->error.pointer[0] == '\0' ||
        strncmp(expected, "a ", 2) == 0 || strncmp(expected, "an ", 3) == 0)
        return; /* "an integer from 1 to 10" is no list of words */
    size_t count = words_of(fixing->arena, expected, words, sizeof words / sizeof words[0]);
    const char *right = nearest_name(value, words, count);
    if (right != NULL)
        set_value(fixing, diagnostic, right, "The value counts.");
}

static void fix_format(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *right = suggested(fixing->arena, &diagnostic->error);
    if (right != NULL && ends_with(diagnostic->error.pointer, "/format"))
        set_value(fixing, diagnostic, right, "The format is known.");
}

/* A value in another form: a text for a number of bytes, a list for a schema. */
static void fix_form(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = diagnostic->error.pointer;
    char last[160];
    json_t *container = fix_container(fixing->root, pointer, last, sizeof last);
    const json_t *value = json_object_get(container, last);
    const char *right = value == NULL ? NULL : fix_value(fixing->arena, pointer, value);
    struct diagnostics *list = fixing->validation->diagnostics;
    if (right == NULL)
        return;
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Write %.200s", right),
                       "The value counts.");
    diagnostic_add_value_edit(list, diagnostic, pointer, right);
}

/* Durations of a window: calls of other systems, and texts that are no intervals. */
static void fix_window(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = NULL;
    const struct error *err = &diagnostic->error;
    const char *sql = fixing_text(fixing, err, &pointer);
    if (sql == NULL)
        return;
    size_t from = (size_t)err->position, to = (size_t)err->position_end;
    const char *call = arena_strndup(fixing->arena, sql + from, to - from);
    const char *right = fix_window_call(fixing->arena, call);
    if (right == NULL)
        return;
    struct diagnostics *list = fixing->validation->diagnostics;
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Use %s", right),
                       "The rows are grouped by windows of this length.");
    (void)fixing_edit(fixing, diagnostic, sql, from, to, right);
    size_t at = strstr(sql, call) == NULL ? 0 : (size_t)(strstr(sql, call) - sql);
    if (at == from && strstr(sql + to, call) == NULL)
        return; /* it stands there only; else it is selected and grouped by */
    diagnostic_add_fix(list, diagnostic,
                       arena_sprintf(fixing->arena, "Use %s in all places", right),
                       "The rows are grouped by windows of this length.");
    for (size_t i = 0; i < FIX_PLACES_MAX && strstr(sql, call) != NULL; i++) {
        at = (size_t)(strstr(sql, call) - sql);
        sql = fixing_edit(fixing, diagnostic, sql, at, at + strlen(call), right);
    }
}

/* The gap of a session in a form that is no interval: '1 min'. */
static void fix_gap(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = NULL;
    const struct error *err = &diagnostic->error;
    const char *sql = fixing_text(fixing, err, &pointer);
    if (sql == NULL || strstr(err->text, "session_window() is no interval") == NULL)
        return;
    size_t from = (size_t)err->position, to = (size_t)err->position_end;
    if (to - from < 3 || (sql[from] != '\'' && sql[from] != '"'))
        return;
    const char *right =
        fix_interval(fixing->arena, arena_strndup(fixing->arena, sql + from + 1, to - from - 2));
    if (right == NULL)
        return;
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Use '%s'", right),
                       "Rows are in sessions that end with a gap of this length.");
    (void)fixing_edit(fixing, diagnostic, sql, from, to,
                      arena_sprintf(fixing->arena, "'%s'", right));
}

/* A duration of window() that is a number, and counts microseconds: 60. */
static void fix_unit(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = NULL;
    const struct error *err = &diagnostic->error;
    const char *sql = fixing_text(fixing, err, &pointer);
    const char *right =
        strstr(err->text, "without a unit") == NULL ? NULL : strstr(err->text, ", as in ");
    if (sql == NULL || right == NULL)
        return;
    right += strlen(", as in ");
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Use %s", right),
                       "The windows are of seconds.");
    (void)fixing_edit(fixing, diagnostic, sql, (size_t)err->position, (size_t)err->position_end,
                      right);
}

/* A misspelt function. */
static void fix_routine(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *right = suggested(fixing->arena, &diagnostic->error);
    if (right != NULL)
        replace_at(fixing, diagnostic, error_param(&diagnostic->error, "routineName"), right,
                   "The function is called.");
}

/* A duration of an option in a longer form: "10 secs" -> "10 seconds". */
static void fix_duration(struct fixing *fixing, struct diagnostic *diagnostic, const char *written)
{
    const char *text = error_param(&diagnostic->error, written);
    const char *right = text == NULL ? NULL : fix_interval(fixing->arena, text);
    if (right != NULL && diagnostic->error.pointer[0] != '\0')
        set_value(fixing, diagnostic, right, "The duration counts.");
}

/* A misspelt type in the text of a schema. */
static void fix_type(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const struct error *err = &diagnostic->error;
    const char *right = suggested(fixing->arena, err);
    if (right != NULL && err->pointer[0] == '\0') {
        const char *written = error_param(err, "typeName");
        size_t size = written == NULL ? 0 : strcspn(written + 1, "\"(");
        const char *pointer = NULL, *sql = fixing_text(fixing, err, &pointer);
        if (size > 0 && sql != NULL && written[size + 1] == '(' && strcmp(right, "DECIMAL") != 0) {
            /* with parameters that the type does not take */
            diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                               arena_sprintf(fixing->arena, "Use %s", right),
                               "The value has this type.");
            (void)fixing_edit(fixing, diagnostic, sql, (size_t)err->position,
                              (size_t)err->position_end, right);
        } else if (size > 0)
            replace_at(fixing, diagnostic, arena_strndup(fixing->arena, written + 1, size), right,
                       "The value has this type.");
        return;
    }
    char last[160];
    json_t *container = fix_container(fixing->root, err->pointer, last, sizeof last);
    const char *schema = json_string_value(json_object_get(container, last));
    if (right == NULL || schema == NULL || err->position < 0 ||
        (size_t)err->position >= strlen(schema))
        return;
    size_t from = (size_t)err->position, to = from;
    while (fix_is_word_byte(schema[to]))
        to++;
    const char *close = schema[to] == '(' ? strchr(schema + to, ')') : NULL;
    if (close != NULL && strcmp(right, "DECIMAL") != 0)
        to = (size_t)(close + 1 - schema); /* parameters that the type does not take */
    size_t start = from; /* as much before it as makes it the first that reads so */
    const char *piece = arena_strndup(fixing->arena, schema + from, to - from);
    while (start > 0 && strstr(schema, piece) != schema + start) {
        start--;
        piece = arena_strndup(fixing->arena, schema + start, to - start);
    }
    struct diagnostics *list = fixing->validation->diagnostics;
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Use %s", right),
                       "The column has this type.");
    diagnostic_add_text_edit(
        list, diagnostic, err->pointer, piece,
        arena_sprintf(fixing->arena, "%.*s%s", (int)(from - start), schema + start, right));
}

/* ---- all ---- */

/* What is there in another form. */
static void propose_form(struct fixing *fixing, struct diagnostic *diagnostic)
{
    switch ((int)diagnostic->error.status) {
    case STATUS_INVALID_DURATION:
        fix_duration(fixing, diagnostic, "text");
        break;
    case STATUS_UNRESOLVED_ROUTINE:
        fix_window(fixing, diagnostic);
        fix_routine(fixing, diagnostic);
        break;
    case STATUS__LEGACY_ERROR_TEMP_1207:
    case STATUS__LEGACY_ERROR_TEMP_3231:
        fix_window(fixing, diagnostic);
        break;
    case STATUS_CANNOT_PARSE_INTERVAL:
    case STATUS_INVALID_FIELD_TYPE:
        fix_window(fixing, diagnostic);
        fix_form(fixing, diagnostic);
        break;
    default:
        if (ends_with(diagnostic->error.pointer, "/processingTime") ||
            ends_with(diagnostic->error.pointer, "/schema"))
            fix_form(fixing, diagnostic);
        break;
    }
}

static void propose(struct fixing *fixing, struct diagnostic *diagnostic)
{
    switch ((int)diagnostic->error.status) {
    case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION:
    case STATUS_STREAMING_OUTPUT_MODE__INVALID:
    case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE:
    case STATUS__LEGACY_ERROR_TEMP_3102:
    case STATUS_UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK:
        fix_legality(fixing, diagnostic);
        break;
    case STATUS_CODEC_NOT_AVAILABLE__WITH_AVAILABLE_CODECS_SUGGESTION:
        fix_word(fixing, diagnostic, "codecName", "availableCodecs");
        break;
    case STATUS_INVALID_PARAMETER_VALUE__CHARSET:
        fix_word(fixing, diagnostic, "charset", "charsets");
        break;
    case STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION:
        fix_column(fixing, diagnostic);
        break;
    case STATUS_UNRESOLVED_COLUMN_AMONG_FIELD_NAMES:
        fix_listed(fixing, diagnostic, "colName", "fieldNames");
        break;
    case STATUS__LEGACY_ERROR_TEMP_1196:
        fix_listed(fixing, diagnostic, "columnName", "validColumnNames");
        break;
    case STATUS_TABLE_OR_VIEW_NOT_FOUND:
        fix_relation(fixing, diagnostic);
        break;
    case STATUS_UNKNOWN_FIELD:
    case STATUS_UNKNOWN_OPTION:
    case STATUS_UNKNOWN_CONF:
        fix_name(fixing, diagnostic);
        break;
    case STATUS_INVALID_FIELD_VALUE:
    case STATUS_INVALID_OPTION_VALUE:
        fix_form(fixing, diagnostic);
        fix_duration(fixing, diagnostic, "value");
        fix_word(fixing, diagnostic, "value", "expected");
        break;
    case STATUS_UNSUPPORTED_DATATYPE:
        fix_type(fixing, diagnostic);
        break;
    case STATUS_DATA_SOURCE_NOT_FOUND:
        fix_format(fixing, diagnostic);
        break;
    default:
        propose_form(fixing, diagnostic);
        break;
    }
}

/* A name that is wrong hides that the mode is, too: the fix of the one then has one of the other.
 */
static bool accepted_with_mode(struct fixing *fixing, struct fix *fix)
{
    static const char *const modes[] = {"append", "update", "complete"};
    const struct query_spec *spec = fixing->validation->spec;
    const struct sink_ops *sink = spec->has_sink ? sink_find(spec->sink.format) : NULL;
    struct fix_edit **end = &fix->edits;
    while (*end != NULL)
        end = &(*end)->next;
    for (size_t i = 0; i < OUTPUT_MODE_COUNT && !fixing->validation->resolved; i++) {
        struct fix_edit *edit = arena_new_object(fixing->arena, sizeof *edit);
        edit->pointer = "/outputMode";
        edit->value_json = fixing_json(fixing->arena, modes[i]);
        if ((sink != NULL && !sink->modes[i]) || strcasecmp(spec->output_mode, modes[i]) == 0 ||
            fixing->tried++ >= FIXES_MAX)
            continue;
        *end = edit;
        if (accepted(fixing, fix)) {
            fix->title = arena_sprintf(fixing->arena, "%s, and %s mode", fix->title, modes[i]);
            return true;
        }
        *end = NULL;
    }
    return false;
}

/* Keeps the fixes that are accepted. */
static void keep_accepted(struct fixing *fixing, struct diagnostic *diagnostic)
{
    for (struct fix **link = &diagnostic->fixes; *link != NULL;) {
        bool good = fixing->tried++ < FIXES_MAX && accepted(fixing, *link);
        if (!good && diagnostic->error.status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION)
            good = accepted_with_mode(fixing, *link);
        (*link)->validated = good;
        if (good)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
}

void query_add_fixes(struct arena *arena, const struct path_policy *paths, struct bytes json,
                     struct validation *validation)
{
    struct error ignored = ERROR_INIT;
    struct fixing fixing = {.arena = arena, .paths = paths, .validation = validation};
    bool wrong = diagnostics_has_errors(validation->diagnostics);
    if (validation->diagnostics->count == 0 || json_load(json, &fixing.root, &ignored) != OK)
        return;
    for (struct diagnostic *at = validation->diagnostics->first; at != NULL; at = at->next) {
        if (at->severity == DIAGNOSTIC_ERROR)
            propose(&fixing, at);
        else if (!wrong) {
            fix_gap(&fixing, at);
            fix_unit(&fixing, at);
        }
        keep_accepted(&fixing, at);
    }
    json_decref(fixing.root);
}
