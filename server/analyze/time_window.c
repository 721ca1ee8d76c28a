/*
 * window(time, size [, slide [, start]]), session_window(time, gap), window_time(window).
 *
 * window() and session_window() are no functions of a row: they put a node over the input, whose
 * new column (`window`, `session_window`) stands for the call.
 */
#include "analyze/analyzer.h"
#include "analyze/resolve_call.h"
#include "base/check.h"
#include "columnar/interval_text.h"
#include "expr/coercion.h"
#include "expr/program.h"

#include <stdio.h>
#include <strings.h>

static const struct function window_marker = {.name = "window", .print = "window(%*)"};
static const struct function window_time_marker = {.name = "window_time",
                                                   .print = "window_time(%*)"};
static const struct function session_marker = {.name = "sessionwindow",
                                               .print = "sessionwindow(%*)"};

#define TIME_TYPES                                                                                 \
    "(\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\" or \"STRUCT<start: TIMESTAMP, end: "          \
    "TIMESTAMP>\" or \"STRUCT<start: TIMESTAMP_NTZ, end: TIMESTAMP_NTZ>\")"

bool time_window_is_marker(const char *name)
{
    return strcasecmp(name, "window") == 0 || strcasecmp(name, "session_window") == 0 ||
           strcasecmp(name, "window_time") == 0;
}

static bool is_window_type(const struct type *type)
{
    if (type->id != TYPE_STRUCT || type->field_count != 2)
        return false;
    enum type_id id = type->fields[0].type->id;
    return (id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ) && type->fields[1].type->id == id &&
           strcmp(type->fields[0].name, "start") == 0 && strcmp(type->fields[1].name, "end") == 0;
}

static enum status raise_count(struct resolver *resolver, const struct ast_expr *ast,
                               const char *name, const char *expected, uint32_t actual,
                               struct error *err)
{
    return error_raise_at(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION, ast->position,
                          ast->position_end, "functionName", text_quoted(resolver->analyzer, name),
                          "expectedNum", expected, "actualNum",
                          arena_sprintf(resolver->analyzer->arena, "%u", actual), "docroot",
                          "https://spark.apache.org/docs/latest", NULL);
}

/* The last microsecond of a window. */
static enum status window_last(struct resolver *resolver, struct expr *window,
                               const struct ast_expr *ast, struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr *end;
    TRY(resolve_field(resolver, window, "end", ast->position, ast->position_end, &end, err));
    struct vector *value;
    TRY(vector_new(analyzer->arena,
                   type_interval(analyzer->arena, INTERVAL_SECOND, INTERVAL_SECOND), 1, &value,
                   err));
    value->constant = true;
    VECTOR_VALUES(int64_t, value)[0] = 1;
    return function_resolve_2(&analyzer->functions, "-", end, expr_literal(analyzer->arena, value),
                              out, err);
}

static const struct attribute *event_attribute(struct resolver *resolver, const struct expr *expr)
{
    if (expr->kind != EXPR_COLUMN)
        return NULL;
    for (uint32_t i = 0; i < resolver->scope->count; i++)
        if (resolver->scope->columns[i].attribute->id == expr->column.attribute_id)
            return resolver->scope->columns[i].attribute;
    return NULL;
}

static const struct attribute *event_time_of(struct resolver *resolver, const struct expr *expr)
{
    const struct attribute *attribute = event_attribute(resolver, expr);
    for (const struct event_time_expr *entry = resolver->analyzer->event_times;
         entry != NULL && attribute == NULL; entry = entry->next)
        if (entry->expr == expr)
            attribute = entry->attribute;
    return attribute;
}

static void add_event_expr(struct analyzer *analyzer, struct event_time_expr **list,
                           const struct expr *expr, const struct attribute *attribute)
{
    struct event_time_expr *entry = arena_new_object(analyzer->arena, sizeof *entry);
    entry->expr = expr;
    entry->attribute = attribute;
    entry->next = *list;
    *list = entry;
}

static void keep_event_time(struct resolver *resolver, const struct expr *expr,
                            const struct attribute *attribute)
{
    if (attribute == NULL || !attribute->event_time)
        return;
    add_event_expr(resolver->analyzer, &resolver->analyzer->event_times, expr, attribute);
}

static enum status raise_no_window(const struct ast_expr *ast, struct error *err)
{
    (void)error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end, "feature",
                         "window_time() of a struct that is no window", NULL);
    (void)snprintf(err->text, sizeof err->text,
                   "window_time() takes the column that window() or session_window() has made, as "
                   "it came from there: this struct is no window");
    return err->status;
}

static enum status resolve_window_time(struct resolver *resolver, const struct ast_expr *ast,
                                       const struct expr_list *args, struct expr **out,
                                       struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    if (args->count != 1)
        return raise_count(resolver, ast, "window_time", "1", args->count, err);
    struct expr *window = args->items[0];
    if (!is_window_type(window->type)) {
        struct expr *call =
            expr_call(analyzer->arena, &window_time_marker, "window_time", args->items, 1);
        call->type = window->type;
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE, ast->position,
                              ast->position_end, "sqlExpr", expr_sql(analyzer, call), "paramIndex",
                              "first", "inputSql", expr_sql(analyzer, window), "inputType",
                              type_quoted(analyzer, window->type), "requiredType", "\"STRUCT\"",
                              NULL);
    }
    const struct attribute *made = event_time_of(resolver, window);
    if (made == NULL || !made->is_window)
        return raise_no_window(ast, err);
    TRY(window_last(resolver, window, ast, out, err));
    keep_event_time(resolver, *out, made);
    analyzer_name_expr(
        analyzer, *out,
        arena_sprintf(analyzer->arena, "window_time(%s)", expr_name(analyzer, window)));
    add_event_expr(analyzer, &analyzer->window_times, *out, made);
    return OK;
}

/* ---- durations ---- */

static enum status duration_of(struct resolver *resolver, const struct ast_expr *ast,
                               const struct expr *expr, int64_t *out, struct error *err)
{
    if (expr->kind == EXPR_LITERAL && !vector_is_null(expr->literal.value, 0)) {
        const struct vector *value = expr->literal.value;
        if (expr->type->id == TYPE_INT) {
            *out = VECTOR_VALUES(int32_t, value)[0];
            return OK;
        }
        if (expr->type->id == TYPE_LONG) {
            *out = VECTOR_VALUES(int64_t, value)[0];
            return OK;
        }
        if (expr->type->id == TYPE_STRING) {
            struct bytes text = VECTOR_VALUES(struct bytes, value)[0];
            const char *quoted = arena_sprintf(resolver->analyzer->arena, "'%.*s'",
                                               (int)text.size_bytes, (const char *)text.data);
            struct calendar_interval interval;
            struct error inner = ERROR_INIT;
            if (interval_text_parse(text, &interval, &inner) != OK)
                return error_raise_at(err, STATUS_CANNOT_PARSE_INTERVAL, ast->position,
                                      ast->position_end, "intervalString", quoted, NULL);
            if (interval.months != 0)
                return error_raise_at(
                    err, STATUS__LEGACY_ERROR_TEMP_3231, ast->position, ast->position_end,
                    "interval",
                    arena_strndup(resolver->analyzer->arena, text.data, text.size_bytes), NULL);
            *out = interval.days * INT64_C(86400000000) + interval.micros;
            return OK;
        }
    }
    return error_raise_at(err, STATUS__LEGACY_ERROR_TEMP_1207, ast->position, ast->position_end,
                          NULL);
}

static struct expr *printed_window(struct resolver *resolver, struct expr *time, int64_t size,
                                   int64_t slide, int64_t start)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr *args[] = {time, expr_literal_long(arena, size), expr_literal_long(arena, slide),
                           expr_literal_long(arena, start)};
    struct expr *call = expr_call(arena, &window_marker, "window", args, 4);
    call->type = time->type;
    return call;
}

/* A duration as it is written. */
static const char *written(const struct resolver *resolver, const struct ast_expr *call,
                           size_t index)
{
    if (index >= call->call.args.count)
        return "what the star stands for";
    const struct ast_expr *arg = call->call.args.items[index].expr;
    return arena_strndup(resolver->analyzer->arena, resolver->analyzer->text.data + arg->position,
                         (size_t)(arg->position_end - arg->position));
}

static enum status raise_range(struct resolver *resolver, const struct ast_expr *ast,
                               const struct expr *call, const char *name, int64_t value,
                               struct error *err)
{
    bool size = strcmp(name, "`window_duration`") == 0;
    (void)error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, ast->position,
                         ast->position_end, "sqlExpr", expr_sql(resolver->analyzer, call),
                         "exprName", name, "valueRange", "(0, 9223372036854775807]", "currentValue",
                         arena_sprintf(resolver->analyzer->arena, "%lldL", (long long)value), NULL);
    (void)snprintf(err->text, sizeof err->text,
                   "The %s of window() is %.200s, but has to be longer "
                   "than zero",
                   size ? "size" : "slide", written(resolver, ast, size ? 1 : 2));
    return err->status;
}

static enum status check_durations(struct resolver *resolver, const struct ast_expr *ast,
                                   struct expr *time, const int64_t durations[3], struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    int64_t size = durations[0], slide = durations[1], start = durations[2];
    const struct expr *call = printed_window(resolver, time, size, slide, start);
    if (size <= 0)
        return raise_range(resolver, ast, call, "`window_duration`", size, err);
    if (slide <= 0)
        return raise_range(resolver, ast, call, "`slide_duration`", slide, err);
    const char *left = NULL, *right = NULL, *constraint = NULL, *text = NULL;
    int64_t left_value = 0, right_value = 0;
    int64_t distance = start < 0 ? -start : start;
    if (slide > size) {
        left = "`slide_duration`";
        right = "`window_duration`";
        constraint = "<=";
        left_value = slide;
        right_value = size;
        text = arena_sprintf(arena,
                             "The slide of window() is %.200s and longer than its size, %.200s: "
                             "rows between two windows would be in none. Write the size first",
                             written(resolver, ast, 2), written(resolver, ast, 1));
    } else if (distance >= slide) {
        left = "`abs(start_time)`";
        right = "`slide_duration`";
        constraint = "<";
        left_value = distance;
        right_value = slide;
        text = arena_sprintf(arena,
                             "The start of window() is %.200s, but has to be shorter than its "
                             "slide, %.200s",
                             written(resolver, ast, 3), written(resolver, ast, 2));
    } else {
        return OK;
    }
    (void)error_raise_at(err, STATUS_DATATYPE_MISMATCH__PARAMETER_CONSTRAINT_VIOLATION,
                         ast->position, ast->position_end, "sqlExpr",
                         expr_sql(resolver->analyzer, call), "leftExprName", left, "leftExprValue",
                         arena_sprintf(arena, "%lldL", (long long)left_value), "constraint",
                         constraint, "rightExprName", right, "rightExprValue",
                         arena_sprintf(arena, "%lldL", (long long)right_value), NULL);
    (void)snprintf(err->text, sizeof err->text, "%s", text);
    return err->status;
}

/* ---- the nodes ---- */

static const struct type *window_type(struct analyzer *analyzer, const struct type *time)
{
    const struct type_field fields[] = {
        {.name = "start", .type = time, .nullable = true},
        {.name = "end", .type = time, .nullable = true},
    };
    return type_struct(analyzer->arena, fields, 2);
}

static void add_column(struct resolver *resolver, struct logical_node *node,
                       struct attribute *attribute)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct relation *input = resolver->input;
    uint32_t below = node->output_count;
    struct attribute **output =
        arena_new_object(analyzer->arena, (below + 2) * sizeof(struct attribute *));
    memcpy(output, node->output, below * sizeof(struct attribute *));
    output[below] = attribute;
    node->output = output;
    node->output_count = below + 1;
    input->node = node;
    struct scope *scope = input->scope;
    struct scope_column *columns =
        arena_new_object(analyzer->arena, (scope->count + 2) * sizeof *columns);
    memcpy(columns, scope->columns, scope->count * sizeof *columns);
    /* The new column hides one of that name from now on. */
    for (uint32_t i = 0; i < scope->count; i++)
        if (name_equal(analyzer, columns[i].name, attribute->name) && !columns[i].qualified_only &&
            columns[i].qualifier == NULL && columns[i].no_star)
            columns[i].qualified_only = true;
    columns[scope->count] = (struct scope_column){
        .attribute = attribute,
        .name = attribute->name,
        .no_star = true,
    };
    bool taken = scope_find(analyzer, scope, attribute->name) != NULL;
    columns[scope->count].qualified_only = taken;
    scope->columns = columns;
    scope->count++;
}

static enum status find_existing(struct resolver *resolver, const struct expr *time,
                                 const struct expr *gap, const int64_t *durations,
                                 struct expr **out, struct error *err)
{
    *out = NULL;
    for (struct logical_node *node = resolver->input->node;
         node->kind == LOGICAL_TIME_WINDOW || node->kind == LOGICAL_SESSION ||
         node->kind == LOGICAL_FILTER;
         node = node->children[0]) {
        bool same = false, window = true;
        if (node->kind == LOGICAL_TIME_WINDOW)
            same = durations != NULL && node->time_window.size_us == durations[0] &&
                   node->time_window.slide_us == durations[1] &&
                   node->time_window.start_us == durations[2] &&
                   expr_equal(node->time_window.time, time);
        else if (node->kind == LOGICAL_SESSION)
            same = gap != NULL && expr_equal(node->session.time, time) &&
                   expr_equal(node->session.gap, gap);
        else
            window = false;
        if (same) {
            *out = attribute_expr(resolver->analyzer->arena, node->output[node->output_count - 1]);
            return OK;
        }
        if (window && node->view == resolver->analyzer->view &&
            node->position == resolver->input_position)
            return error_raise_at(err, STATUS__LEGACY_ERROR_TEMP_1039, resolver->input_position,
                                  resolver->input_position_end, NULL);
    }
    return OK;
}

static enum status put_node(struct resolver *resolver, const struct ast_expr *ast,
                            struct logical_node *node, const struct expr *time, const char *name,
                            const struct attribute *event, struct expr **out)
{
    struct analyzer *analyzer = resolver->analyzer;
    analyzer_node(analyzer, node, resolver->input_position, resolver->input_position_end);
    struct attribute *attribute =
        analyzer_attribute(analyzer, name, window_type(analyzer, time->type), false);
    attribute->is_window = true;
    if (event != NULL) {
        attribute->event_time = event->event_time;
        attribute->delay_us = event->delay_us;
        attribute->watermark_id = event->watermark_id;
    }
    add_column(resolver, node, attribute);
    *out = attribute_expr(analyzer->arena, attribute);
    (*out)->position = ast->position;
    (*out)->position_end = ast->position_end;
    return OK;
}

static enum status time_argument(struct resolver *resolver, const struct ast_expr *ast,
                                 const struct expr *call, struct expr **time,
                                 const struct attribute **event, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    enum type_id id = (*time)->type->id;
    *event = event_time_of(resolver, *time);
    if (id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ)
        return OK;
    if (is_window_type((*time)->type))
        return window_last(resolver, *time, ast, time, err);
    *event = NULL;
    if (id == TYPE_DATE || id == TYPE_STRING || id == TYPE_VOID) {
        *time = coercion_cast(&analyzer->functions, *time, type_simple(TYPE_TIMESTAMP));
        return OK;
    }
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE, ast->position,
                          ast->position_end, "sqlExpr", expr_sql(analyzer, call), "paramIndex",
                          "first", "inputSql", expr_sql(analyzer, *time), "inputType",
                          type_quoted(analyzer, (*time)->type), "requiredType", TIME_TYPES, NULL);
}

/* Notes a duration that has no unit, and is of less than a second then: microseconds. */
static void note_bare(struct logical_node *node, const struct ast_expr *ast,
                      const struct expr_list *args, const int64_t durations[3])
{
    for (uint32_t i = args->count; i-- > 1;) {
        if (args->items[i]->type->id == TYPE_STRING || durations[i - 1] == 0 ||
            durations[i - 1] <= -1000000 || durations[i - 1] >= 1000000 ||
            i >= ast->call.args.count) /* a star stands for several */
            continue;
        const struct ast_expr *written = ast->call.args.items[i].expr;
        node->time_window.bare_us = durations[i - 1];
        node->time_window.bare_position = written->position;
        node->time_window.bare_end = written->position_end;
    }
}

static enum status resolve_window(struct resolver *resolver, const struct ast_expr *ast,
                                  const struct expr_list *args, struct expr **out,
                                  struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    if (args->count < 2 || args->count > 4)
        return raise_count(resolver, ast, "window", "[2, 3, 4]", args->count, err);
    int64_t durations[3] = {0, 0, 0};
    TRY(duration_of(resolver, ast, args->items[1], &durations[0], err));
    durations[1] = durations[0];
    if (args->count > 2)
        TRY(duration_of(resolver, ast, args->items[2], &durations[1], err));
    if (args->count > 3)
        TRY(duration_of(resolver, ast, args->items[3], &durations[2], err));
    struct expr *time = args->items[0];
    const struct attribute *event;
    TRY(time_argument(resolver, ast,
                      printed_window(resolver, time, durations[0], durations[1], durations[2]),
                      &time, &event, err));
    TRY(check_durations(resolver, ast, args->items[0], durations, err));
    TRY(find_existing(resolver, time, NULL, durations, out, err));
    if (*out != NULL)
        return OK;
    struct logical_node *node =
        logical_over(analyzer->arena, LOGICAL_TIME_WINDOW, resolver->input->node);
    node->time_window.time = time;
    node->time_window.size_us = durations[0];
    node->time_window.slide_us = durations[1];
    node->time_window.start_us = durations[2];
    note_bare(node, ast, args, durations);
    return put_node(resolver, ast, node, time, "window", event, out);
}

static enum status session_gap(struct resolver *resolver, const struct ast_expr *ast,
                               struct expr **gap, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    if ((*gap)->type->id != TYPE_STRING && (*gap)->type->id != TYPE_INTERVAL &&
        (*gap)->type->id != TYPE_VOID)
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1040, "dt",
                           type_name(analyzer->arena, (*gap)->type), NULL);
    (void)ast;
    if ((*gap)->type->id != TYPE_INTERVAL)
        *gap = expr_cast(analyzer->arena, *gap, type_simple(TYPE_INTERVAL), CAST_TRY,
                         analyzer->functions.time_zone);
    return OK;
}

static enum status resolve_session(struct resolver *resolver, const struct ast_expr *ast,
                                   const struct expr_list *args, struct expr **out,
                                   struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    if (args->count != 2)
        return raise_count(resolver, ast, "session_window", "2", args->count, err);
    struct expr *time = args->items[0], *gap = args->items[1];
    struct expr *call =
        expr_call(analyzer->arena, &session_marker, "sessionwindow", args->items, 2);
    call->type = time->type;
    const struct attribute *event;
    TRY(time_argument(resolver, ast, call, &time, &event, err));
    TRY(session_gap(resolver, ast, &gap, err));
    TRY(find_existing(resolver, time, gap, NULL, out, err));
    if (*out != NULL)
        return OK;
    struct logical_node *node =
        logical_over(analyzer->arena, LOGICAL_SESSION, resolver->input->node);
    node->session.time = time;
    node->session.gap = gap;
    return put_node(resolver, ast, node, time, "session_window", event, out);
}

enum status resolve_time_window(struct resolver *resolver, const struct ast_expr *ast,
                                const char *name, struct expr **out, struct error *err)
{
    struct expr_list args = {0};
    TRY(resolve_arguments(resolver, ast, name, &args, err));
    if (strcasecmp(name, "window_time") == 0)
        return resolve_window_time(resolver, ast, &args, out, err);
    if (resolver->input == NULL)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                              "feature", "A time window in this place", NULL);
    if (strcasecmp(name, "window") == 0)
        return resolve_window(resolver, ast, &args, out, err);
    return resolve_session(resolver, ast, &args, out, err);
}
