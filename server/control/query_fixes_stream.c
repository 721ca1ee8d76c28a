/*
 * Fixes of what the rules of streams refuse: another output mode, a watermark, a grouping that goes
 * by it, a clause left out.
 */
#include "base/check.h"
#include "control/fix_clause.h"
#include "control/fix_name.h"
#include "control/fix_stream.h"
#include "control/fix_time.h"
#include "control/fixing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WATERMARKS_MAX 3                            /* of one error */
#define BOUNDS_MAX     3                            /* of windows that are tried */
#define NEEDS_KEY      "needs another grouping key" /* what is said of a session */
#define KEYS_MAX       3                            /* of a grouping that are tried */

/* ---- output modes ---- */

/* The output mode of the spec; NULL: it is wrong. */
static const char *given_mode(const struct query_spec *spec, const char *const names[3])
{
    for (size_t i = 0; i < OUTPUT_MODE_COUNT && !spec->output_mode_wrong; i++)
        if (strcasecmp(spec->output_mode, names[i]) == 0)
            return names[i];
    return NULL;
}

/* Whether nothing but the sink is known to be against it. */
static bool may_have_mode(const struct fixing *fixing, const struct diagnostic *diagnostic,
                          size_t mode)
{
    const struct validation *validation = fixing->validation;
    enum status why = validation->mode[mode].status;
    return !validation->resolved || why == OK ||
           why == STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE ||
           diagnostic->error.status == STATUS_STREAMING_OUTPUT_MODE__INVALID;
}

/* Another output mode that the streaming rules accept, if need be into a sink that takes it; first
 * the one that a misspelt word means. */
void fix_output_mode(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const struct {
        const char *title, *value, *consequence;
    } modes[] = {
        {"Use append mode", "\"append\"", "The sink receives each row once, when it is final."},
        {"Use update mode", "\"update\"",
         "The sink receives the rows that a batch has changed: those of an aggregation many times "
         "for each key, so that it must upsert; without an aggregation this is append mode."},
        {"Use complete mode", "\"complete\"",
         "The sink receives the whole result with every batch."},
    };
    static const char *const names[] = {"append", "update", "complete"};
    const struct query_spec *spec = fixing->validation->spec;
    const struct sink_ops *sink = spec->has_sink ? sink_find(spec->sink.format) : NULL;
    const char *written = error_param(&diagnostic->error, "outputMode");
    const char *meant = written == NULL ? NULL : nearest_name(written, names, 3);
    bool exact = meant != NULL && strcasecmp(written, meant) == 0;
    const char *given = exact ? meant : written == NULL ? given_mode(spec, names) : NULL;
    struct diagnostics *list = fixing->validation->diagnostics;
    if (exact)
        meant = NULL; /* it is no misspelling */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 3; i++) {
            bool fits = sink == NULL || sink->modes[i];
            if ((meant == names[i]) != (pass == 0) || (fits && given == names[i]) ||
                !may_have_mode(fixing, diagnostic, i))
                continue;
            if (fits)
                diagnostic_add_fix(list, diagnostic, modes[i].title, modes[i].consequence);
            else
                diagnostic_add_fix(
                    list, diagnostic,
                    arena_sprintf(fixing->arena, "%s, into memory", modes[i].title),
                    arena_sprintf(
                        fixing->arena,
                        "The rows are kept in memory and not in files; the results of the "
                        "query show them. %s",
                        modes[i].consequence));
            if (!fits)
                diagnostic_add_value_edit(list, diagnostic, "/sink", "{\"format\":\"memory\"}");
            diagnostic_add_value_edit(list, diagnostic, "/outputMode", modes[i].value);
        }
    }
}

/* sum(DISTINCT x) of a stream: there is no other function of that meaning. */
static void leave_distinct_out(struct fixing *fixing, struct diagnostic *diagnostic,
                               const char *sql)
{
    const struct error *err = &diagnostic->error;
    size_t from = fix_find_word(sql, (size_t)err->position, "DISTINCT");
    size_t to = from + strlen("DISTINCT");
    if (from >= (size_t)err->position_end)
        return;
    while (isspace((unsigned char)sql[to]))
        to++;
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic, "Leave DISTINCT out",
                       "A value that comes again counts again.");
    (void)fixing_edit(fixing, diagnostic, sql, from, to, "");
}

/* count(DISTINCT x) of a stream. */
static void fix_distinct(struct fixing *fixing, struct diagnostic *diagnostic)
{
    const char *pointer = NULL;
    const struct error *err = &diagnostic->error;
    const char *sql = fixing_text(fixing, err, &pointer);
    size_t from = sql == NULL ? 0 : (size_t)err->position;
    if (sql == NULL)
        return;
    if (strncasecmp(sql + from, "count", 5) != 0) {
        leave_distinct_out(fixing, diagnostic, sql);
        return;
    }
    size_t at = from + 5;
    at += strspn(sql + at, " \t\r\n");
    at += sql[at] == '(';
    at += strspn(sql + at, " \t\r\n");
    if (strncasecmp(sql + at, "DISTINCT", 8) != 0 || fix_is_word_byte(sql[at + 8]))
        return;
    at += 8;
    at += strspn(sql + at, " \t\r\n");
    size_t to = (size_t)err->position_end;
    if (at >= to)
        return;
    const char *right =
        arena_sprintf(fixing->arena, "approx_count_distinct(%.*s", (int)(to - at), sql + at);
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Use %s", right),
                       "The count is off by about 5 %; the state of a group is of one size.");
    (void)fixing_edit(fixing, diagnostic, sql, from, to, right);
}

/* ---- watermarks ---- */

/* The fix is one of append mode; the query may have another. */
static void add_append(struct fixing *fixing, struct diagnostic *diagnostic)
{
    if (diagnostic->error.status == STATUS__LEGACY_ERROR_TEMP_3102 &&
        strstr(diagnostic->error.text, NEEDS_KEY) == NULL)
        diagnostic_add_value_edit(fixing->validation->diagnostics, diagnostic, "/outputMode",
                                  "\"append\"");
}

static bool is_named(const struct query_spec *spec, const char *column)
{
    if (spec->sql != NULL && strcasestr(spec->sql, column) != NULL)
        return true;
    for (size_t i = 0; i < spec->view_count; i++)
        if (spec->views[i].sql != NULL && strcasestr(spec->views[i].sql, column) != NULL)
            return true;
    return false;
}

static bool is_options(const char *pointer)
{
    const char *last = pointer == NULL ? NULL : strrchr(pointer, '/');
    return last != NULL && strcmp(last, "/options") == 0;
}

enum time_column {
    TIME_NAMED, /* in the SQL: it groups by it */
    TIME_ANY,
};

/* Where a watermark is missing: one on a time column of a source without. */
static void fix_watermark(struct fixing *fixing, struct diagnostic *diagnostic,
                          enum time_column which)
{
    const struct query_spec *spec = fixing->validation->spec;
    struct diagnostics *list = fixing->validation->diagnostics;
    struct arena *arena = fixing->arena;
    size_t offered = 0;
    for (size_t i = 0; i < spec->source_count; i++) {
        const struct relation_spec *source = &spec->sources[i];
        const char *options = source->options.pointer;
        uint32_t fields = source->schema == NULL ? 0 : source->schema->field_count;
        if (source->watermark.column != NULL || !is_options(options))
            continue;
        for (uint32_t j = 0; j < fields && offered < WATERMARKS_MAX; j++) {
            const struct type_field *field = &source->schema->fields[j];
            if (field->type->id != TYPE_TIMESTAMP ||
                (which == TIME_NAMED && !is_named(spec, field->name)))
                continue;
            offered++;
            diagnostic_add_fix(
                list, diagnostic,
                arena_sprintf(arena, "Add a watermark on %s of %s", field->name, source->name),
                "A row comes out once, when the watermark has passed it; input that is later than "
                "10 minutes is left out.");
            diagnostic_add_value_edit(
                list, diagnostic,
                arena_sprintf(arena, "%.*s/watermark", (int)(strlen(options) - strlen("/options")),
                              options),
                arena_sprintf(arena, "{\"column\":%s,\"delay\":\"10 minutes\"}",
                              fixing_json(arena, fix_quote_name(arena, field->name))));
            if (strstr(diagnostic->error.text, "only the output mode append") != NULL)
                add_append(fixing, diagnostic);
        }
    }
}

/* FROM v -> FROM v WATERMARK t DELAY OF INTERVAL 10 MINUTES; in `edited` if the text is the one
 * that has been edited, NULL: none. */
static const char *add_clause(struct fixing *fixing, struct diagnostic *diagnostic,
                              const struct fix_mark *mark, const char *edited)
{
    const char *pointer = NULL;
    bool own = mark->sql == fixing_sql(fixing, &diagnostic->error, &pointer);
    const char *sql = edited != NULL && own ? edited : mark->sql;
    const char *name = fix_quote_name(fixing->arena, mark->relation);
    size_t at = fix_find_word(sql, 0, name);
    if (at == SIZE_MAX)
        return edited; /* the fix is not accepted then */
    at += strlen(name);
    const char *made = fixing_edit(
        fixing, diagnostic, sql, at, at,
        arena_sprintf(fixing->arena, " WATERMARK %s DELAY OF INTERVAL 10 MINUTES", mark->column));
    return own ? made : edited;
}

/* `edited`: the text of the error with the edits that the fix has so far, NULL: none. */
static void add_marks(struct fixing *fixing, struct diagnostic *diagnostic,
                      const struct fix_time *time, const char *edited)
{
    for (size_t i = 0; i < time->mark_count; i++) {
        if (time->marks[i].sql != NULL) {
            edited = add_clause(fixing, diagnostic, &time->marks[i], edited);
            continue;
        }
        diagnostic_add_value_edit(
            fixing->validation->diagnostics, diagnostic, time->marks[i].pointer,
            arena_sprintf(fixing->arena, "{\"column\":%s,\"delay\":\"10 minutes\"}",
                          fixing_json(fixing->arena, time->marks[i].column)));
    }
}

/* "Add a watermark on t of a", "Add watermarks on t of a and t of b". */
static const char *title_of(struct arena *arena, const struct fix_time *time)
{
    const char *title = time->mark_count == 1 ? "Add a watermark on" : "Add watermarks on";
    for (size_t i = 0; i < time->mark_count; i++)
        title = arena_sprintf(arena, "%s%s %s of %s", title,
                              i == 0                      ? ""
                              : i + 1 == time->mark_count ? " and"
                                                          : ",",
                              time->marks[i].column, time->marks[i].relation);
    return title;
}

/* Another grouping key; `time` (NULL: none): with its watermarks. */
static void add_grouping(struct fixing *fixing, struct diagnostic *diagnostic, const char *key,
                         const struct fix_time *time, const char *consequence)
{
    const char *pointer = NULL;
    const char *sql = fixing_sql(fixing, &diagnostic->error, &pointer);
    struct arena *arena = fixing->arena;
    if (sql == NULL)
        return;
    int position = diagnostic->error.position;
    size_t at = 0, from = position < 0 || (size_t)position > strlen(sql) ? 0 : (size_t)position;
    enum fix_grouping place = fix_grouping_at(sql, from, &at);
    const char *how = place == FIX_GROUPING_SELECT ? "elect" : "roup by";
    const char *title =
        time == NULL ? arena_sprintf(arena, "%c%s %s, too", *how == 'e' ? 'S' : 'G', how, key)
                     : arena_sprintf(arena, "%s, and %c%s %s, too", title_of(arena, time),
                                     *how == 'e' ? 's' : 'g', how, key);
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic, title, consequence);
    const char *edited = fixing_edit(
        fixing, diagnostic, sql, at, at,
        arena_sprintf(arena, place == FIX_GROUPING_CLAUSE ? " GROUP BY %s" : " %s,", key));
    if (time != NULL)
        add_marks(fixing, diagnostic, time, edited);
    add_append(fixing, diagnostic);
}

/* window(CAST(t AS TIMESTAMP), ...): the clause computes the column, which stands in all places. */
static void fix_computed_column(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const char name[] = "event_time";
    const char *pointer = NULL;
    const char *sql = fixing_sql(fixing, &diagnostic->error, &pointer);
    struct arena *arena = fixing->arena;
    struct fix_computed time;
    if (sql == NULL || fixing->validation->analysis == NULL ||
        !fix_computed_time(fixing->validation->analysis, &time) || time.from >= time.to ||
        time.to > strlen(sql))
        return;
    const char *written = arena_strndup(arena, sql + time.from, time.to - time.from);
    diagnostic_add_fix(
        fixing->validation->diagnostics, diagnostic,
        arena_sprintf(arena, "Add a watermark on %s of %s", written, time.relation),
        "A row comes out once, when the watermark has passed it; input that is later than 10 "
        "minutes is left out.");
    for (size_t i = 0; i < FIX_PLACES_MAX && strstr(sql, written) != NULL; i++) {
        size_t at = (size_t)(strstr(sql, written) - sql);
        sql = fixing_edit(fixing, diagnostic, sql, at, at + strlen(written), name);
    }
    const struct fix_mark mark = {
        .column = arena_sprintf(arena, "%s AS %s", written, name),
        .relation = time.relation,
        .sql = fixing_sql(fixing, &diagnostic->error, &pointer),
    };
    (void)add_clause(fixing, diagnostic, &mark, sql);
}

/* A session of a stream has to have another key; `time` (NULL: none): and watermarks. */
static void fix_session(struct fixing *fixing, struct diagnostic *diagnostic,
                        const struct fix_time *time)
{
    const char *keys[KEYS_MAX];
    const char *pointer = NULL;
    bool mode = diagnostic->error.status == STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION;
    if (fixing->validation->analysis == NULL ||
        fixing_sql(fixing, &diagnostic->error, &pointer) == NULL)
        return;
    size_t count = fix_keys(fixing->arena, fixing->validation->analysis, keys, KEYS_MAX);
    for (size_t i = 0; i < count; i++) {
        add_grouping(fixing, diagnostic, keys[i], time, "Each value has sessions of its own.");
        if (mode && time == NULL)
            diagnostic_add_value_edit(fixing->validation->diagnostics, diagnostic, "/outputMode",
                                      "\"append\"");
    }
}

/* Whether a session has no other key, which is said in complete mode: the other modes say first
 * that they are none for it. */
static bool needs_key(const struct fixing *fixing)
{
    return fixing->validation->resolved &&
           strstr(fixing->validation->mode[MODE_COMPLETE].text, NEEDS_KEY) != NULL;
}

/* Time columns that have no watermark: one there, and if the grouping does not go by the column
 * yet, groups of a window of it. */
static void fix_by_time(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const char marked[] =
        "A row comes out once, when the watermark has passed it; input that is later than 10 "
        "minutes is left out.";
    static const char windowed[] =
        "Each window has rows of its own, which come out once, when the watermark has passed it; "
        "input that is later than 10 minutes is left out.";
    struct diagnostics *list = fixing->validation->diagnostics;
    struct fix_time times[WATERMARKS_MAX];
    bool append = diagnostic->error.status != STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION;
    size_t count =
        fixing->validation->analysis == NULL
            ? 0
            : fix_times(fixing->arena, fixing->validation->analysis, times, WATERMARKS_MAX);
    if (count == 0 || !times[0].grouped)
        fix_computed_column(fixing, diagnostic);
    for (size_t i = 0; i < count; i++) {
        if (!times[i].grouped) {
            add_grouping(fixing, diagnostic,
                         arena_sprintf(fixing->arena, "window(%s, '1 minute')", times[i].name),
                         &times[i], windowed);
            continue;
        }
        if (needs_key(fixing)) {
            fix_session(fixing, diagnostic, &times[i]);
            continue;
        }
        diagnostic_add_fix(list, diagnostic, title_of(fixing->arena, &times[i]), marked);
        add_marks(fixing, diagnostic, &times[i], NULL);
        if (append)
            diagnostic_add_value_edit(list, diagnostic, "/outputMode", "\"append\"");
    }
}

/* A clause that a stream cannot have; in update mode LIMIT goes with the ORDER BY before it. */
static void leave_out(struct fixing *fixing, struct diagnostic *diagnostic, const char *word,
                      const char *name)
{
    const char *pointer = NULL;
    const char *sql = fixing_text(fixing, &diagnostic->error, &pointer);
    size_t from = 0, to = 0, limit = 0, end = 0;
    if (sql == NULL || !fix_clause_of(sql, (size_t)diagnostic->error.position, word, &from, &to))
        return;
    struct diagnostics *list = fixing->validation->diagnostics;
    static const char consequence[] = "All rows come out, in the order of their batches.";
    static const char limited[] =
        "Rows come out in the order of their batches, as many as a LIMIT that stays lets.";
    diagnostic_add_fix(list, diagnostic, arena_sprintf(fixing->arena, "Leave %s out", name),
                       limited);
    (void)fixing_edit(fixing, diagnostic, sql, from, to, "");
    if (strcmp(word, "ORDER") != 0 || !fix_clause_of(sql, to, "LIMIT", &limit, &end))
        return;
    diagnostic_add_fix(list, diagnostic, "Leave ORDER BY and LIMIT out", consequence);
    (void)fixing_edit(fixing, diagnostic, sql, from, end, "");
}

/* The bound of a window where the window is meant, which the watermark stands on: in one place, and
 * in all. */
static void fix_bounds_of(struct fixing *fixing, struct diagnostic *diagnostic, const char *sql,
                          size_t *tried)
{
    static const char consequence[] =
        "The watermark knows when the window is over; its rows come out once, then.";
    struct diagnostics *list = fixing->validation->diagnostics;
    struct arena *arena = fixing->arena;
    struct fix_bound bound = {0};
    while (sql != NULL && *tried < BOUNDS_MAX && fix_window_bound(sql, bound.to, &bound)) {
        const char *written = arena_strndup(arena, sql + bound.from, bound.to - bound.from);
        const char *window = arena_strndup(arena, sql + bound.from, bound.dot - bound.from);
        const char *title = arena_sprintf(arena, "Use %s instead of %s", window, written);
        ++*tried;
        diagnostic_add_fix(list, diagnostic, title, consequence);
        (void)fixing_edit(fixing, diagnostic, sql, bound.from, bound.to, window);
        add_append(fixing, diagnostic);
        size_t at = fix_find_word(sql, 0, written);
        if (at != bound.from || fix_find_word(sql, bound.to, written) == SIZE_MAX)
            continue;
        diagnostic_add_fix(list, diagnostic, arena_sprintf(arena, "%s in all places", title),
                           consequence);
        const char *pointer = fixing_pointer(fixing, &diagnostic->error, sql);
        for (size_t i = 0; at != SIZE_MAX && i < FIX_PLACES_MAX; i++) {
            diagnostic_add_text_edit(list, diagnostic, pointer, written, window);
            at = fix_find_word(sql, at + 1, written);
        }
        add_append(fixing, diagnostic);
    }
}

/* A watermark that the grouping does not use: by the window of which only a bound is read; by
 * windows of its column, or by the column, as the reason names them. */
static void fix_grouping(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const char such[] = "such as window(";
    static const char own[] = "Each of them has rows of its own, which come out once, when the "
                              "watermark has passed them.";
    const struct query_spec *spec = fixing->validation->spec;
    const char *said = strstr(diagnostic->error.text, such);
    const char *end = said == NULL ? NULL : strstr(said, ", '");
    const char *close = end == NULL ? NULL : strchr(end, ')');
    size_t tried = 0;
    fix_bounds_of(fixing, diagnostic, spec->sql, &tried);
    for (size_t i = 0; i < spec->view_count; i++)
        fix_bounds_of(fixing, diagnostic, spec->views[i].sql, &tried);
    if (close != NULL) {
        const char *call = said + strlen("such as "), *name = said + strlen(such);
        add_grouping(fixing, diagnostic,
                     arena_strndup(fixing->arena, call, (size_t)(close + 1 - call)), NULL, own);
        add_grouping(fixing, diagnostic, arena_strndup(fixing->arena, name, (size_t)(end - name)),
                     NULL, own);
    }
}

/* A join of streams without a bound: the one that the reason names, at the end of ON. */
static void fix_join_bound(struct fixing *fixing, struct diagnostic *diagnostic)
{
    static const char say[] = "Say in ON ", as[] = ", as in ";
    const struct error *err = &diagnostic->error;
    const char *pointer = NULL;
    const char *sql = fixing_text(fixing, err, &pointer);
    const char *said = strstr(err->text, say);
    const char *bound = said == NULL ? NULL : strstr(said, as);
    if (sql == NULL || bound == NULL)
        return;
    bound += strlen(as);
    size_t from = (size_t)err->position, to = (size_t)err->position_end;
    if (fix_find_word(sql, from, "ON") >= to || fix_find_word(sql, from, "OR") < to)
        return;
    diagnostic_add_fix(fixing->validation->diagnostics, diagnostic,
                       arena_sprintf(fixing->arena, "Add %s", bound),
                       strstr(said, "INTERVAL") == NULL
                           ? "Rows meet those of their own window, and are forgotten with it."
                           : "Rows meet those that are at most 10 minutes later, and are forgotten "
                             "when no such row can come any more; say how far apart they may be.");
    (void)fixing_edit(fixing, diagnostic, sql, to, to,
                      arena_sprintf(fixing->arena, " AND %s", bound));
}

/* ---- all ---- */

static bool says(const struct diagnostic *diagnostic, const char *text)
{
    return strstr(diagnostic->error.text, text) != NULL;
}

/* A rule that is not about the mode alone. */
static void fix_operator(struct fixing *fixing, struct diagnostic *diagnostic)
{
    if (says(diagnostic, "Leave ORDER BY out")) {
        leave_out(fixing, diagnostic, "ORDER", "ORDER BY");
        leave_out(fixing, diagnostic, "SORT", "SORT BY");
    }
    if (says(diagnostic, "Leave OFFSET out"))
        leave_out(fixing, diagnostic, "OFFSET", "OFFSET");
    if (says(diagnostic, "Leave LIMIT out"))
        leave_out(fixing, diagnostic, "LIMIT", "LIMIT");
    if (says(diagnostic, NEEDS_KEY))
        fix_session(fixing, diagnostic, NULL);
    if (says(diagnostic, "is not used by the grouping"))
        fix_grouping(fixing, diagnostic);
    else if (says(diagnostic, "with a watermark, and only by windows"))
        fix_watermark(fixing, diagnostic, TIME_NAMED);
    fix_join_bound(fixing, diagnostic);
    if (says(diagnostic, "Distinct aggregations"))
        fix_distinct(fixing, diagnostic);
    if (says(diagnostic, "without"))
        fix_watermark(fixing, diagnostic, TIME_ANY);
}

void fix_legality(struct fixing *fixing, struct diagnostic *diagnostic)
{
    switch ((int)diagnostic->error.status) {
    case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_OPERATION:
        if (says(diagnostic, "is not used by the grouping"))
            fix_grouping(fixing, diagnostic);
        else if (says(diagnostic, "append is not possible"))
            fix_by_time(fixing, diagnostic);
        fix_output_mode(fixing, diagnostic);
        if (says(diagnostic, "session window") && needs_key(fixing))
            fix_session(fixing, diagnostic, NULL);
        break;
    case STATUS_STREAMING_OUTPUT_MODE__INVALID:
    case STATUS_STREAMING_OUTPUT_MODE__UNSUPPORTED_DATASOURCE:
        fix_output_mode(fixing, diagnostic);
        fix_by_time(fixing, diagnostic);
        break;
    case STATUS_UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK:
        fix_by_time(fixing, diagnostic);
        fix_output_mode(fixing, diagnostic);
        fix_operator(fixing, diagnostic);
        break;
    default:
        fix_output_mode(fixing, diagnostic);
        fix_operator(fixing, diagnostic);
        break;
    }
}
