/* What differs between our answer to a case and Spark's. */
#include "base/check.h"
#include "base/utf8.h"
#include "conformance_case.h"
#include "play.h"
#include "sql/parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text == NULL ? "" : text;
}

static void differs(struct buffer *report, const char *what, const char *want, const char *got)
{
    buffer_printf(report, "  %s: expected %s, got %s\n", what, want == NULL ? "NULL" : want,
                  got == NULL ? "NULL" : got);
}

/* ---- errors ---- */

/* What Spark calls it, from the outside in: the innermost named condition. */
static const char *innermost(const json_t *error, const json_t **inner)
{
    const json_t *cause = json_object_get(error, "cause");
    const json_t *causes = json_object_get(error, "causes");
    *inner = error;
    if (json_is_object(cause)) {
        *inner = cause;
        return text_of(cause, "condition");
    }
    if (json_is_string(cause)) {
        *inner = NULL;
        return json_string_value(cause);
    }
    size_t count = json_array_size(causes);
    if (count > 0 && json_is_string(json_array_get(causes, count - 1))) {
        *inner = NULL;
        return json_string_value(json_array_get(causes, count - 1));
    }
    return text_of(error, "condition");
}

/* Paths, ids and numbers of expressions that differ from run to run. */
static const char *masked(struct buffer *out, const char *text)
{
    buffer_clear(out);
    while (*text != '\0') {
        const char *p = strncmp(text, "file:", 5) == 0 ? text + 5 : text;
        size_t slashes = strspn(p, "/");
        if (slashes > 0 &&
            (strncmp(p + slashes, "case/", 5) == 0 || strncmp(p + slashes, "out", 3) == 0)) {
            p += slashes + (p[slashes] == 'o' ? 3 : 5);
            p += strspn(p, "0123456789");
            buffer_add_text(out, "<path>");
            text = p;
            continue;
        }
        if (*text == '#' && isdigit((unsigned char)text[1])) {
            buffer_add_byte(out, '#');
            text += 1 + strspn(text + 1, "0123456789");
            text += *text == 'L' ? 1 : 0;
            continue;
        }
        buffer_add_byte(out, (uint8_t)*text++);
    }
    return buffer_text(out);
}

/* Values that name Spark's own classes, settings or types of a plan, not something of the user's.
 */
static bool names_spark(const char *key, const char *value)
{
    static const char *const keys[] = {
        "config",       "ansiConfig", "message",         "msg", "failFastMode", "className",
        "ckptLocation", "reason",     "availableCodecs", "wf",  "required",     "treeNode",
        "plan"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return strstr(value, "spark.") != NULL || strstr(value, "org.apache") != NULL ||
           strstr(value, "java.") != NULL || strstr(value, "<path>") != NULL ||
           strstr(value, "<uuid>") != NULL;
}

static bool compare_parameters(const json_t *wanted, const struct error *err, struct buffer *report)
{
    const char *key;
    json_t *value;
    bool equal = true;
    struct buffer ours = {0};
    json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
    {
        const char *want = json_string_value(value);
        const char *got = error_param(err, key);
        if (want == NULL || strlen(want) != json_string_length(value) || names_spark(key, want))
            continue;
        const char *shown = masked(&ours, got == NULL ? "(absent)" : got);
        if (strcmp(shown, want) != 0) {
            buffer_printf(report, "  parameter %s: expected %s, got %s\n", key, want, shown);
            equal = false;
        }
    }
    buffer_fini(&ours);
    return equal;
}

static bool compare_place(const json_t *error, const struct case_answer *answer,
                          struct buffer *report)
{
    const json_t *line_json = json_object_get(error, "line");
    int line = 0, column = 0;
    if (!json_is_integer(line_json))
        return true;
    int want_line = (int)json_integer_value(line_json);
    int want_column = (int)json_integer_value(json_object_get(error, "column"));
    if (answer->err.position >= 0) {
        parser_place(bytes_of_text(answer->error_sql), answer->err.position, &line, &column);
        column -= line == 1 ? answer->error_shift : 0;
    }
    if (line == want_line && column == want_column)
        return true;
    buffer_printf(report, "  place: expected %d:%d, got %d:%d\n", want_line, want_column, line,
                  column);
    return false;
}

static bool is_nameless(const char *condition)
{
    return strcmp(condition, "NO_CONDITION") == 0 || strcmp(condition, "STREAM_FAILED") == 0 ||
           strncmp(condition, "_LEGACY_ERROR_TEMP_", 19) == 0;
}

static bool compare_error(const json_t *error, const struct case_answer *answer,
                          struct buffer *report)
{
    const json_t *inner;
    const char *want = innermost(error, &inner);
    if (answer->err.status == OK) {
        differs(report, "error", want, "rows");
        return false;
    }
    if (is_nameless(want))
        return true;
    if (!condition_matches(&answer->err, want)) {
        differs(report, "condition", want, status_name(answer->err.status));
        buffer_printf(report, "  %s\n", answer->err.text);
        return false;
    }
    bool own = strcmp(status_name(answer->err.status), want) == 0;
    const char *state = inner == NULL ? "" : text_of(inner, "sqlState");
    bool equal = true;
    if (own && state[0] != '\0' && strcmp(state, status_sqlstate(answer->err.status)) != 0) {
        differs(report, "sqlState", state, status_sqlstate(answer->err.status));
        equal = false;
    }
    if (own && inner != NULL)
        equal =
            compare_parameters(json_object_get(inner, "parameters"), &answer->err, report) && equal;
    return compare_place(error, answer, report) && equal;
}

/* ---- columns and rows ---- */

static bool compare_columns(const json_t *columns, const struct case_answer *answer,
                            struct buffer *report)
{
    bool equal = json_array_size(columns) == answer->column_count;
    for (size_t i = 0; equal && i < answer->column_count; i++) {
        const json_t *column = json_array_get(columns, i);
        const char *name = json_string_value(json_array_get(column, 0));
        const char *type = json_string_value(json_array_get(column, 1));
        equal = strcmp(name, answer->columns[i].name) == 0 &&
                strcmp(type, answer->columns[i].type) == 0;
    }
    if (equal)
        return true;
    char *want = json_dumps(columns, JSON_COMPACT);
    buffer_printf(report, "  columns: expected %s, got", want);
    for (size_t i = 0; i < answer->column_count; i++)
        buffer_printf(report, " %s %s", answer->columns[i].name, answer->columns[i].type);
    buffer_add_byte(report, '\n');
    free(want);
    return false;
}

static void add_cell(struct buffer *out, const char *text)
{
    if (text == NULL)
        buffer_add_text(out, "NULL");
    else
        buffer_add_json_string(out, bytes_of_text(text));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **our_rows(const struct case_answer *answer, bool ordered)
{
    char **rows = calloc(answer->row_count + 1, sizeof(*rows));
    CHECK(rows != NULL);
    for (size_t i = 0; i < answer->row_count; i++) {
        struct buffer row = {0};
        for (size_t c = 0; c < answer->column_count; c++) {
            buffer_add_text(&row, c > 0 ? " | " : "");
            add_cell(&row, answer->rows[i][c]);
        }
        rows[i] = strdup(buffer_text(&row));
        buffer_fini(&row);
    }
    if (!ordered && answer->row_count > 1)
        qsort(rows, answer->row_count, sizeof(*rows), by_text);
    return rows;
}

static char **their_rows(const json_t *list, bool ordered)
{
    size_t count = json_array_size(list);
    char **rows = calloc(count + 1, sizeof(*rows));
    CHECK(rows != NULL);
    for (size_t i = 0; i < count; i++) {
        struct buffer row = {0};
        const json_t *cells = json_array_get(list, i);
        for (size_t c = 0; c < json_array_size(cells); c++) {
            buffer_add_text(&row, c > 0 ? " | " : "");
            add_cell(&row, json_string_value(json_array_get(cells, c)));
        }
        rows[i] = strdup(buffer_text(&row));
        buffer_fini(&row);
    }
    if (!ordered && count > 1)
        qsort(rows, count, sizeof(*rows), by_text);
    return rows;
}

static void free_rows(char **rows)
{
    for (size_t i = 0; rows[i] != NULL; i++)
        free(rows[i]);
    free(rows);
}

static bool compare_rows(const json_t *list, bool ordered, const struct case_answer *answer,
                         struct buffer *report)
{
    char **want = their_rows(list, ordered), **got = our_rows(answer, ordered);
    size_t i = 0;
    while (want[i] != NULL && got[i] != NULL && strcmp(want[i], got[i]) == 0)
        i++;
    bool equal = want[i] == NULL && got[i] == NULL;
    if (!equal) {
        char what[64];
        (void)snprintf(what, sizeof(what), "row %zu", i + 1);
        differs(report, what, want[i] == NULL ? "(no row)" : want[i],
                got[i] == NULL ? "(no row)" : got[i]);
    }
    free_rows(want);
    free_rows(got);
    return equal;
}

static bool compare_expression(const json_t *json, const struct case_answer *answer,
                               struct buffer *report)
{
    bool equal = true;
    const char *type = text_of(json, "type"), *name = text_of(json, "name");
    if (answer->column_count != 1) {
        differs(report, "columns", "1", "others");
        return false;
    }
    if (strcmp(type, answer->columns[0].type) != 0) {
        differs(report, "type", type, answer->columns[0].type);
        equal = false;
    }
    if (strcmp(name, answer->columns[0].name) != 0) {
        differs(report, "name", name, answer->columns[0].name);
        equal = false;
    }
    const json_t *values = json_object_get(json, "values");
    size_t count = values == NULL ? 1 : json_array_size(values);
    if (values == NULL ? answer->row_count < 1 : answer->row_count != count) {
        buffer_printf(report, "  expected %zu rows, got %zu\n", count, answer->row_count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value =
            values == NULL ? json_object_get(json, "value") : json_array_get(values, i);
        const char *want = json_string_value(value), *got = answer->rows[i][0];
        if ((want == NULL) != (got == NULL) || (want != NULL && strcmp(want, got) != 0)) {
            differs(report, "value", want, got);
            return false;
        }
    }
    return equal;
}

/* ---- files ---- */

/* The ending that counts: what follows the part of the name that is the writer's own. */
static const char *ending(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash == NULL ? name : slash + 1;
    const char *part = strstr(base, "c000");
    if (part == NULL && strncmp(base, "part-", 5) == 0) {
        for (part = base; *part != '\0'; part++) { /* -c1.json of a later file */
            if (*part == 'c' && isdigit((unsigned char)part[1]) &&
                (part[-1] == '-' || part[-1] == '.'))
                break;
        }
    }
    const char *dot = strchr(part == NULL || *part == '\0' ? base : part, '.');
    return dot == NULL ? "" : dot;
}

static size_t folder_size(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash == NULL ? 0 : (size_t)(slash - name);
}

static bool same_file(const char *want_name, const json_t *want, const struct case_file *got,
                      struct buffer *report)
{
    size_t folder = folder_size(want_name);
    if (folder != folder_size(got->name) || strncmp(want_name, got->name, folder) != 0 ||
        strcmp(ending(want_name), ending(got->name)) != 0) {
        differs(report, "file", want_name, got->name);
        return false;
    }
    if (!json_is_string(want))
        return true; /* base64 and unknown codecs are compared by the caller */
    struct bytes text = bytes_of(json_string_value(want), json_string_length(want));
    if (bytes_equal(text, got->content))
        return true;
    buffer_printf(report, "  %s: expected ", want_name);
    buffer_add_json_string(report, text);
    buffer_add_text(report, ", got ");
    buffer_add_json_string(report, got->content);
    buffer_add_byte(report, '\n');
    return false;
}

static void add_base64(struct buffer *out, struct bytes bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.size_bytes; i += 3) {
        size_t left = bytes.size_bytes - i;
        uint32_t bits = (uint32_t)bytes.data[i] << 16 |
                        (uint32_t)(left > 1 ? bytes.data[i + 1] : 0) << 8 |
                        (uint32_t)(left > 2 ? bytes.data[i + 2] : 0);
        buffer_add_byte(out, (uint8_t)digits[bits >> 18]);
        buffer_add_byte(out, (uint8_t)digits[bits >> 12 & 63]);
        buffer_add_byte(out, (uint8_t)(left > 1 ? digits[bits >> 6 & 63] : '='));
        buffer_add_byte(out, (uint8_t)(left > 2 ? digits[bits & 63] : '='));
    }
}

static bool compare_files(const json_t *output, const struct case_answer *answer,
                          struct buffer *report)
{
    const char *name;
    json_t *want;
    size_t i = 0;
    bool equal = json_object_size(output) == answer->file_count;
    if (!equal)
        buffer_printf(report, "  expected %zu files, got %zu\n", json_object_size(output),
                      answer->file_count);
    json_object_foreach((json_t *)(uintptr_t)output, name, want)
    {
        if (!equal || i == answer->file_count)
            break;
        const struct case_file *file = &answer->files[i++];
        equal = same_file(name, want, file, report);
        const json_t *base64 = json_object_get(want, "base64");
        if (equal && base64 != NULL) {
            struct buffer ours = {0};
            add_base64(&ours, file->content);
            equal = strcmp(buffer_text(&ours), json_string_value(base64)) == 0;
            if (!equal)
                differs(report, name, json_string_value(base64), buffer_text(&ours));
            buffer_fini(&ours);
        }
    }
    return equal;
}

/* ---- the whole ---- */

static bool refused(const struct case_answer *answer, struct buffer *report)
{
    if (answer->err.status == OK)
        return false;
    buffer_printf(report, "  expected an answer, got [%s] %s\n", status_name(answer->err.status),
                  answer->err.text);
    return true;
}

bool case_compare(const struct conformance_case *one, const struct case_answer *answer,
                  struct buffer *report)
{
    const json_t *error = json_object_get(one->json, "error");
    if (error != NULL)
        return compare_error(error, answer, report);
    if (refused(answer, report))
        return false;
    bool equal = true;
    switch (one->kind) {
    case CASE_SQL:
    case CASE_AGG:
        return compare_expression(one->json, answer, report);
    case CASE_QUERY:
        equal = compare_columns(json_object_get(one->json, "columns"), answer, report);
        return compare_rows(json_object_get(one->json, "result"),
                            json_is_true(json_object_get(one->json, "ordered")), answer, report) &&
               equal;
    case CASE_STREAM:
        return compare_columns(json_object_get(one->json, "columns"), answer, report);
    case CASE_READER:
        equal = compare_columns(json_object_get(one->json, "columns"), answer, report);
        return compare_rows(json_object_get(one->json, "rows"), false, answer, report) && equal;
    case CASE_WRITER:
        return compare_files(json_object_get(one->json, "output"), answer, report);
    }
    return false;
}

void case_describe(const struct case_answer *answer, struct buffer *out)
{
    if (answer->err.status != OK) {
        buffer_printf(out, "!%s", status_name(answer->err.status));
        return;
    }
    for (size_t i = 0; i < answer->file_count; i++)
        buffer_add_json_string(out, answer->files[i].content);
    for (size_t i = 0; i < answer->row_count; i++) {
        buffer_add_text(out, i > 0 ? " / " : "");
        for (size_t c = 0; c < answer->column_count; c++) {
            buffer_add_text(out, c > 0 ? " | " : "");
            buffer_add_text(out, answer->rows[i][c] == NULL ? "NULL" : answer->rows[i][c]);
        }
    }
    if (answer->file_count == 0 && answer->row_count == 0)
        buffer_add_text(out, "accepted");
}
