/*
 * f(...) OVER (...): an EXPR_WINDOW with its effective frame.
 *
 * The frame that Spark takes when none is written: for rank-like functions ROWS up to the current
 * row, with ORDER BY the RANGE up to the current row, otherwise the whole partition.
 */
#include "analyze/analyzer.h"
#include "analyze/resolve_call.h"
#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/cast.h"
#include "expr/coercion.h"
#include "expr/program.h"
#include "expr/resolvers.h"

#include <stdio.h>
#include <strings.h>

static bool name_is(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcasecmp(name, *names) == 0)
            return true;
    return false;
}

static const char *const rows_functions[] = {"row_number",   "rank",  "dense_rank",
                                             "percent_rank", "ntile", NULL};
static const char *const ordered_functions[] = {
    "row_number", "rank", "dense_rank", "percent_rank", "ntile",
    "cume_dist",  "lag",  "lead",       "nth_value_",   NULL};
static const char *const offset_functions[] = {"lag", "lead", NULL};
static const char *const rank_functions[] = {"rank", "dense_rank", "percent_rank", NULL};
static const char *const null_functions[] = {"lag", "lead", "nth_value", NULL};

static const struct ast_window *find_window(struct resolver *resolver,
                                            const struct ast_window *window)
{
    if (!window->is_reference)
        return window;
    const struct ast_named_window_list *list = resolver->windows;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (!bytes_equal(list->items[i].name.text, window->reference.text))
            continue;
        const struct ast_window *found = list->items[i].window;
        return found->is_reference ? find_window(resolver, found) : found;
    }
    return NULL;
}

/* ---- the function ---- */

/* The number of buckets or rows is positive. */
static enum status check_buckets(struct resolver *resolver, const struct ast_expr *ast,
                                 const struct expr *call, struct error *err)
{
    bool buckets = call->kind == EXPR_CALL && strcmp(call->call.function->name, "ntile") == 0;
    bool offset =
        call->kind == EXPR_CALL && strncmp(call->call.function->name, "nth_value", 9) == 0;
    const struct expr *count = call->arg_count > 0 ? call->args[call->arg_count - 1] : NULL;
    if ((!buckets && !offset) || count == NULL || count->type->id != TYPE_INT ||
        !expr_is_foldable(count))
        return OK;
    struct vector *constant;
    TRY(expr_constant(resolver->analyzer->arena, count, resolver->analyzer->functions.time_zone,
                      &constant, err));
    int32_t value = vector_is_null(constant, 0) ? 0 : *VECTOR_VALUES(int32_t, constant);
    if (value > 0)
        return OK;
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, ast->position,
                          ast->position_end, "exprName", buckets ? "buckets" : "offset",
                          "valueRange", buckets ? "(0, 2147483647]" : "(0, 9223372036854775807]",
                          "currentValue",
                          arena_sprintf(resolver->analyzer->arena, buckets ? "%d" : "%dL", value),
                          "sqlExpr", expr_sql(resolver->analyzer, call), NULL);
}

static enum status check_offset(struct resolver *resolver, const struct ast_expr *ast,
                                const char *name, const struct expr_list *args, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct expr *offset = args->items[1];
    if (expr_is_foldable(offset) || offset->type->id != TYPE_INT)
        return OK;
    const char *text = expr_name(analyzer, offset);
    const char *other = args->count > 2 ? expr_name(analyzer, args->items[2]) : "NULL";
    bool lag = strcasecmp(name, "lag") == 0;
    return error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__NON_FOLDABLE_INPUT, ast->position, ast->position_end,
        "inputName", "`offset`", "inputType", "\"INT\"", "inputExpr",
        arena_sprintf(analyzer->arena, lag ? "\"(- %s)\"" : "\"%s\"", text), "sqlExpr",
        arena_sprintf(analyzer->arena, "\"%s(%s, %s, %s)\"", lag ? "lag" : "lead",
                      expr_name(analyzer, args->items[0]), text, other),
        NULL);
}

static enum status resolve_windowed(struct resolver *resolver, const struct ast_expr *ast,
                                    const char *name, struct expr **out, struct error *err)
{
    const struct function *function = function_find(name);
    if (function != NULL && (function->flags & FUNCTION_OPERATOR) == 0 &&
        function->kind == FUNCTION_WINDOW) {
        struct expr_list args = {0};
        if (ast->call.quantifier == AST_QUANTIFIER_DISTINCT)
            return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                                  ast->position, ast->position_end, "prettyName",
                                  text_quoted(resolver->analyzer, name), "syntax", "DISTINCT",
                                  NULL);
        if (ast->call.filter != NULL)
            return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                                  ast->position, ast->position_end, "prettyName",
                                  text_quoted(resolver->analyzer, name), "syntax", "FILTER CLAUSE",
                                  NULL);
        if (ast->call.nulls == AST_NULLS_IGNORE && !name_is(name, null_functions))
            return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                                  ast->position, ast->position_end, "prettyName",
                                  text_quoted(resolver->analyzer, name), "syntax", "IGNORE NULLS",
                                  NULL);
        TRY(resolve_arguments(resolver, ast, name, &args, err));
        if (name_is(name, rank_functions)) /* what is ranked is what ORDER BY says */
            args.count = 0;
        if (name_is(name, offset_functions) && args.count > 1)
            TRY(check_offset(resolver, ast, name, &args, err));
        if (ast->call.nulls == AST_NULLS_IGNORE)
            name = arena_sprintf(resolver->analyzer->arena, "%s ignore nulls", function->name);
        TRY(resolve_function(resolver, name, args.items, args.count, ast->position,
                             ast->position_end, out, err));
        return check_buckets(resolver, ast, *out, err);
    }
    if (aggregate_find(name) != NULL)
        return resolve_aggregate(resolver, ast, name, out, err);
    if (function == NULL || (function->flags & FUNCTION_OPERATOR) != 0) {
        routine_unresolved(resolver->analyzer, &ast->call.name, err);
        return error_at(err, ast->position, ast->position_end);
    }
    struct ast_expr plain = *ast;
    plain.call.over = NULL;
    return resolve_call(resolver, &plain, out, err);
}

static bool is_windowed(const struct expr *function)
{
    return function->kind == EXPR_AGGREGATE ||
           (function->kind == EXPR_CALL && function->call.function->kind == FUNCTION_WINDOW);
}

/* ---- the frame ---- */

static enum status resolve_bound(struct resolver *resolver, const struct ast_bound *bound,
                                 struct expr **out, struct error *err)
{
    *out = NULL;
    switch (bound->kind) {
    case AST_BOUND_NONE:
    case AST_BOUND_UNBOUNDED_PRECEDING:
    case AST_BOUND_UNBOUNDED_FOLLOWING:
        return OK;
    case AST_BOUND_CURRENT_ROW:
        *out = expr_literal_int(resolver->analyzer->arena, 0);
        return OK;
    case AST_BOUND_FOLLOWING:
    case AST_BOUND_PRECEDING:
        TRY(resolve_expr(resolver, bound->expr, out, err));
        if (!expr_is_foldable(*out)) /* what the parser let pass: a parameter, a path */
            return error_raise(err, STATUS_INVALID_SQL_SYNTAX__INVALID_WINDOW_FRAME_BOUND, NULL);
        if (bound->kind == AST_BOUND_FOLLOWING)
            return OK;
        return resolve_function(resolver, "unary -", out, 1, bound->position, bound->position_end,
                                out, err);
    }
    return OK;
}

static bool is_current_row(const struct ast_bound *bound)
{
    return bound->kind == AST_BOUND_CURRENT_ROW || bound->kind == AST_BOUND_NONE;
}

static bool is_offset(const struct ast_bound *bound)
{
    return bound->kind == AST_BOUND_PRECEDING || bound->kind == AST_BOUND_FOLLOWING;
}

/* A bound as the checks see it: Spark casts an offset to the type of the order key where it can. */
struct frame_bound {
    const struct ast_bound *ast;
    const struct expr *offset; /* NULL: unbounded, or the current row */
    struct expr *cast;         /* the offset in its type */
    const char *text;          /* as a part of the frame */
};

static const char *unquoted_sql(struct resolver *resolver, const struct expr *expr)
{
    const char *quoted = expr_sql(resolver->analyzer, expr);
    size_t size = strlen(quoted);
    return arena_sprintf(resolver->analyzer->arena, "%.*s", (int)(size < 2 ? 0 : size - 2),
                         quoted + 1);
}

/* What stands under a minus; NULL if none is there, or a literal's own sign. */
static const struct expr *negated(const struct expr *expr)
{
    bool minus = expr->kind == EXPR_CALL && expr->arg_count == 1 &&
                 strcmp(expr->call.function->name, "unary -") == 0;
    return minus ? expr->args[0] : NULL;
}

/* A bound that was cast to the type of the order key: its sign is no longer seen. */
static const char *bound_text(struct resolver *resolver, const struct frame_bound *bound)
{
    if (bound->offset == NULL)
        return bound->ast->kind == AST_BOUND_UNBOUNDED_PRECEDING   ? "UNBOUNDED PRECEDING"
               : bound->ast->kind == AST_BOUND_UNBOUNDED_FOLLOWING ? "UNBOUNDED FOLLOWING"
                                                                   : "CURRENT ROW";
    const struct expr *under = bound->cast != bound->offset ? NULL : negated(bound->offset);
    return arena_sprintf(resolver->analyzer->arena, under != NULL ? "%s PRECEDING" : "%s FOLLOWING",
                         unquoted_sql(resolver, under != NULL ? under : bound->offset));
}

static bool is_time(const struct type *type)
{
    return type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
}

static void read_bound(struct resolver *resolver, const struct ast_window *ast,
                       const struct expr *window, struct frame_bound *bound)
{
    bool lower = bound->ast == &ast->start;
    struct expr *offset = lower ? window->window.frame.lower : window->window.frame.upper;
    bound->offset = is_offset(bound->ast) ? offset : NULL;
    bound->cast = offset;
    if (bound->offset != NULL && ast->frame == AST_FRAME_RANGE && window->window.order_count == 1) {
        const struct type *key = window->window.order[0].expr->type;
        if (!is_time(key) && !type_equal(key, offset->type) &&
            cast_exists(offset->type, key, CAST_ANSI))
            bound->cast = coercion_cast(&resolver->analyzer->functions, offset, key);
    }
    bound->text = bound_text(resolver, bound);
}

static const char *frame_sql(struct resolver *resolver, const struct expr *window)
{
    struct expr empty = *window;
    struct buffer buffer = {0};
    expr_print_sql(&buffer, &empty);
    const char *text = buffer_text(&buffer);
    const char *over = strstr(text, " OVER ");
    const char *copy =
        arena_sprintf(resolver->analyzer->arena, "\"%s\"", over != NULL ? over + 6 : text);
    buffer_fini(&buffer);
    return copy;
}

static bool frame_takes(const struct ast_window *ast, const struct type *type)
{
    if (ast->frame == AST_FRAME_ROWS)
        return type->id == TYPE_INT;
    return type_is_numeric(type) || type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM ||
           type->id == TYPE_INTERVAL;
}

/* The lower bound does not come after the upper one. */
static enum status check_bound_order(struct resolver *resolver, const struct ast_window *ast,
                                     const struct frame_bound *bounds, const char *sql,
                                     struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr *sides[] = {bounds[0].cast, bounds[1].cast}, *greater;
    struct vector *value;
    TRY(resolve_function(resolver, ">", sides, 2, ast->position, ast->position_end, &greater, err));
    TRY(expr_constant(analyzer->arena, greater, analyzer->functions.time_zone, &value, err));
    if (vector_is_null(value, 0) || !*VECTOR_VALUES(bool, value))
        return OK;
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON,
                          ast->position, ast->position_end, "sqlExpr", sql, "comparison",
                          "less than or equal", NULL);
}

static enum status check_bounds(struct resolver *resolver, const struct ast_window *ast,
                                const struct frame_bound *bounds, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct frame_bound *lower = &bounds[0], *upper = &bounds[1];
    const char *sql =
        arena_sprintf(analyzer->arena, "\"%s BETWEEN %s AND %s\"",
                      ast->frame == AST_FRAME_ROWS ? "ROWS" : "RANGE", lower->text, upper->text);
    for (int i = 0; i < 2; i++) {
        if (bounds[i].offset == NULL || frame_takes(ast, bounds[i].cast->type))
            continue;
        return error_raise_at(
            err, STATUS_DATATYPE_MISMATCH__SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE, ast->position,
            ast->position_end, "location", i == 0 ? "lower" : "upper", "exprType",
            type_quoted(analyzer, bounds[i].cast->type), "expectedType",
            ast->frame == AST_FRAME_ROWS
                ? "\"INT\""
                : "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or "
                  "\"INTERVAL\")",
            "sqlExpr", sql, NULL);
    }
    const char *names[2];
    for (int i = 0; i < 2; i++)
        names[i] = bounds[i].offset != NULL
                       ? expr_sql(analyzer, bounds[i].offset)
                       : arena_sprintf(analyzer->arena, "\"%s\"", bounds[i].text);
    if (lower->ast->kind == AST_BOUND_UNBOUNDED_FOLLOWING ||
        upper->ast->kind == AST_BOUND_UNBOUNDED_PRECEDING)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__SPECIFIED_WINDOW_FRAME_INVALID_BOUND,
                              ast->position, ast->position_end, "sqlExpr", sql, "upper", names[1],
                              "lower", names[0], NULL);
    if (lower->offset == NULL || upper->offset == NULL)
        return OK;
    if (type_equal(lower->cast->type, upper->cast->type))
        return check_bound_order(resolver, ast, bounds, sql, err);
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__SPECIFIED_WINDOW_FRAME_DIFF_TYPES,
                          ast->position, ast->position_end, "sqlExpr", sql, "lower", names[0],
                          "upper", names[1], "lowerType", type_quoted(analyzer, lower->cast->type),
                          "upperType", type_quoted(analyzer, upper->cast->type), NULL);
}

/* Whether an offset of this type can be added to the order key. */
static bool key_takes(const struct type *key, const struct type *offset)
{
    bool months = offset->id == TYPE_INTERVAL_YM, times = offset->id == TYPE_INTERVAL_DT;
    if (key->id == TYPE_DATE)
        return offset->id == TYPE_INT || months ||
               (times && offset->interval_from == INTERVAL_DAY &&
                offset->interval_to == INTERVAL_DAY);
    if (is_time(key))
        return months || times || offset->id == TYPE_INTERVAL;
    return type_equal(key, offset);
}

static enum status check_key(struct resolver *resolver, const struct ast_window *ast,
                             struct expr *window, const struct frame_bound *bounds,
                             struct error *err)
{
    const struct type *key = window->window.order[0].expr->type;
    const struct type *offset = bounds[bounds[0].offset != NULL ? 0 : 1].cast->type;
    if (!key_takes(key, offset))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__RANGE_FRAME_INVALID_TYPE,
                              ast->position, ast->position_end, "orderSpecType",
                              type_quoted(resolver->analyzer, key), "valueBoundaryType",
                              type_quoted(resolver->analyzer, offset), "sqlExpr",
                              frame_sql(resolver, window), NULL);
    struct window_frame *frame = &window->window.frame;
    if (bounds[0].offset != NULL)
        frame->lower = bounds[0].cast;
    if (bounds[1].offset != NULL)
        frame->upper = bounds[1].cast;
    return OK;
}

static enum status check_frame(struct resolver *resolver, const struct ast_window *ast,
                               struct expr *window, struct error *err)
{
    struct frame_bound bounds[] = {{.ast = &ast->start}, {.ast = &ast->end}};
    read_bound(resolver, ast, window, &bounds[0]);
    read_bound(resolver, ast, window, &bounds[1]);
    TRY(check_bounds(resolver, ast, bounds, err));
    if (ast->frame != AST_FRAME_RANGE)
        return OK;
    bool offsets = is_offset(&ast->start) || is_offset(&ast->end);
    if (window->window.order_count == 0 &&
        (offsets || !is_current_row(&ast->end) || ast->start.kind != AST_BOUND_UNBOUNDED_PRECEDING))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__RANGE_FRAME_WITHOUT_ORDER,
                              ast->position, ast->position_end, "sqlExpr",
                              frame_sql(resolver, window), NULL);
    if (offsets && window->window.order_count > 1) {
        struct buffer order = {0};
        for (uint32_t i = 0; i < window->window.order_count; i++) {
            const struct sort_key *key = &window->window.order[i];
            buffer_printf(&order, "%s%s#%s NULLS %s", i > 0 ? "," : "",
                          expr_name(resolver->analyzer, key->expr),
                          key->descending ? " DESC" : " ASC", key->nulls_first ? "FIRST" : "LAST");
        }
        error_raise_at(err, STATUS_DATATYPE_MISMATCH__RANGE_FRAME_MULTI_ORDER, ast->position,
                       ast->position_end, "orderSpec", buffer_text(&order), "sqlExpr",
                       frame_sql(resolver, window), NULL);
        buffer_fini(&order);
        return err->status;
    }
    return offsets ? check_key(resolver, ast, window, bounds, err) : OK;
}

/* lag and lead look at one row; both bounds are the same expression. */
static enum status offset_frame(struct resolver *resolver, const char *name, struct expr *window,
                                struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct expr *call = window->args[0];
    int64_t rows = 1;
    if (call->arg_count > 1) {
        struct vector *value;
        struct expr *offset =
            coercion_cast(&analyzer->functions, call->args[1], type_simple(TYPE_LONG));
        TRY(expr_constant(analyzer->arena, offset, analyzer->functions.time_zone, &value, err));
        rows = vector_is_null(value, 0) ? 0 : *VECTOR_VALUES(int64_t, value);
    }
    struct window_frame *frame = &window->window.frame;
    rows = strcasecmp(name, "lag") == 0 ? -rows : rows;
    frame->rows = true;
    frame->lower = frame->upper = expr_literal_int(analyzer->arena, (int32_t)rows);
    return OK;
}

static enum status resolve_frame(struct resolver *resolver, const struct ast_window *ast,
                                 const char *name, struct expr *window, struct error *err)
{
    struct window_frame *frame = &window->window.frame;
    window->window.has_frame = true;
    bool rows_only = name_is(name, rows_functions);
    if (ast->frame != AST_FRAME_NONE && name_is(name, offset_functions))
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1035, "prettyName",
                           strcasecmp(name, "lag") == 0 ? "lag" : "lead", NULL);
    if (ast->frame != AST_FRAME_NONE) {
        frame->rows = ast->frame == AST_FRAME_ROWS;
        TRY(resolve_bound(resolver, &ast->start, &frame->lower, err));
        if (ast->end.kind == AST_BOUND_NONE)
            frame->upper = expr_literal_int(resolver->analyzer->arena, 0);
        else
            TRY(resolve_bound(resolver, &ast->end, &frame->upper, err));
        bool range_only = strcasecmp(name, "cume_dist") == 0;
        bool usual = frame->rows != range_only && frame->lower == NULL &&
                     ast->start.kind == AST_BOUND_UNBOUNDED_PRECEDING && is_current_row(&ast->end);
        if ((rows_only || range_only) && !usual)
            return error_raise(
                err, STATUS__LEGACY_ERROR_TEMP_1036, "wf",
                arena_sprintf(resolver->analyzer->arena, "specifiedwindowframe(%sFrame, %s, %s)",
                              frame->rows ? "Row" : "Range",
                              frame->lower == NULL ? "unboundedpreceding$()"
                                                   : expr_name(resolver->analyzer, frame->lower),
                              is_current_row(&ast->end) ? "currentrow$()"
                              : frame->upper == NULL    ? "unboundedfollowing$()"
                                                     : expr_name(resolver->analyzer, frame->upper)),
                "required",
                range_only
                    ? "specifiedwindowframe(RangeFrame, unboundedpreceding$(), currentrow$())"
                    : "specifiedwindowframe(RowFrame, unboundedpreceding$(), currentrow$())",
                NULL);
        return check_frame(resolver, ast, window, err);
    }
    if (name_is(name, offset_functions))
        return offset_frame(resolver, name, window, err);
    bool ordered = window->window.order_count > 0;
    frame->rows = rows_only || !ordered;
    frame->upper = ordered || rows_only ? expr_literal_int(resolver->analyzer->arena, 0) : NULL;
    return OK;
}

static enum status check_ordered(struct resolver *resolver, const char *name,
                                 const struct expr *window, struct error *err)
{
    if (!name_is(name, ordered_functions) || window->window.order_count > 0)
        return OK;
    return error_raise(err, STATUS_WINDOW_FUNCTION_FRAME_NOT_ORDERED, "wf_name",
                       function_lower_name(resolver->analyzer->arena, name), "wf_expr",
                       expr_qualified(resolver->analyzer, window->args[0]), NULL);
}

static enum status fill_window(struct resolver *resolver, const struct ast_window *ast,
                               struct expr *window, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr_list args = {0};
    expr_list_add(arena, &args, window->args[0]);
    TRY(resolve_list(resolver, &ast->partition_by, &args, err));
    window->args = args.items;
    window->arg_count = args.count;
    window->window.partition_count = args.count - 1;
    uint32_t computed = 0;
    for (uint32_t i = 1; i < args.count; i++) {
        const struct expr *key = args.items[i];
        const char *text = key->kind == EXPR_COLUMN ? expr_sql(resolver->analyzer, key)
                                                    : arena_sprintf(arena, "\"_w%u\"", computed++);
        if (!type_is_orderable(key->type))
            return error_raise_at(err, STATUS_EXPRESSION_TYPE_IS_NOT_ORDERABLE, window->position,
                                  window->position_end, "expr", text, "exprType",
                                  type_quoted(resolver->analyzer, key->type), NULL);
    }
    window->window.order_count = (uint32_t)ast->order_by.count;
    window->window.order =
        arena_new_object(arena, (ast->order_by.count + 1) * sizeof *window->window.order);
    for (size_t i = 0; i < ast->order_by.count; i++)
        TRY(resolve_sort_key(resolver, &ast->order_by.items[i], &window->window.order[i], err));
    return OK;
}

static enum status check_window_place(const struct resolver *resolver, const struct ast_expr *ast,
                                      struct error *err)
{
    const char *clause = resolver->clause == CLAUSE_WHERE      ? "WHERE"
                         : resolver->clause == CLAUSE_GROUP_BY ? "GROUP BY"
                         : resolver->clause == CLAUSE_HAVING   ? "HAVING"
                                                               : NULL;
    if (clause == NULL)
        return OK;
    return error_raise_at(err, STATUS_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE, ast->position,
                          ast->position_end, "clauseName", clause, NULL);
}

/* Aggregates that look at all rows of the window at once take neither ORDER BY nor a frame. */
static enum status check_aggregate_spec(struct resolver *resolver, const struct ast_expr *ast,
                                        const struct expr *function, const struct ast_window *spec,
                                        struct error *err)
{
    bool plain = spec->order_by.count == 0 && (spec->frame == AST_FRAME_NONE ||
                                               (spec->frame == AST_FRAME_ROWS &&
                                                spec->start.kind == AST_BOUND_UNBOUNDED_PRECEDING &&
                                                spec->end.kind == AST_BOUND_UNBOUNDED_FOLLOWING));
    if (plain || function->kind != EXPR_AGGREGATE)
        return OK;
    const char *name = function->aggregate.aggregate->name;
    bool ordered = function->aggregate.order_count > 0;
    if (strcmp(name, "median") != 0 && !ordered)
        return OK;
    return error_raise_at(err, STATUS_INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC, ast->position,
                          ast->position_end, "aggFunc",
                          aggregate_children_sql(resolver->analyzer->arena, function), NULL);
}

enum status resolve_over(struct resolver *resolver, const struct ast_expr *ast, const char *name,
                         struct expr **out, struct error *err)
{
    if (resolver->clause == CLAUSE_WHERE || resolver->clause == CLAUSE_HAVING)
        TRY(check_window_place(resolver, ast, err));
    struct resolver inner = *resolver;
    inner.in_window = true;
    struct expr *function;
    TRY(resolve_windowed(&inner, ast, name, &function, err));
    const struct ast_window *spec = find_window(resolver, ast->call.over);
    if (spec == NULL)
        return error_raise_at(err, STATUS_MISSING_WINDOW_SPECIFICATION, -1, -1, "windowName",
                              name_text(resolver->analyzer, &ast->call.over->reference), "docroot",
                              "https://spark.apache.org/docs/latest", NULL);
    struct expr *window = arena_new_object(resolver->analyzer->arena, sizeof *window);
    window->kind = EXPR_WINDOW;
    window->type = function->type;
    window->nullable = function->nullable || name_is(name, null_functions);
    window->position = ast->position;
    window->position_end = ast->position_end;
    struct expr *only[] = {function};
    window->args = only;
    TRY(fill_window(&inner, spec, window, err));
    TRY(check_ordered(resolver, name, window, err));
    TRY(resolve_frame(&inner, spec, name, window, err));
    if (!is_windowed(function))
        return error_raise_at(err, STATUS_UNSUPPORTED_EXPR_FOR_WINDOW, ast->position,
                              ast->position_end, "sqlExpr", expr_sql(resolver->analyzer, function),
                              NULL);
    TRY(check_aggregate_spec(resolver, ast, function, spec, err));
    if (function->kind == EXPR_AGGREGATE && function->aggregate.distinct)
        return error_raise_at(err, STATUS_DISTINCT_WINDOW_FUNCTION_UNSUPPORTED, ast->position,
                              ast->position_end, "windowExpr", expr_sql(resolver->analyzer, window),
                              NULL);
    *out = window;
    return OK;
}
