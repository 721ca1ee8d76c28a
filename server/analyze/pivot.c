/*
 * PIVOT and UNPIVOT.
 *
 * PIVOT groups by every column that it does not name; each value of the pivot column gives one
 * filtered aggregate (a column per value and aggregate).  Over a stream two aggregations have to be
 * told from one, as they differ in what is legal and in their state: Spark makes two where its
 * PivotFirst can take the results, first by the keys and the pivot columns, then by the keys.
 * UNPIVOT is an Expand: one row per listed column.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/cast.h"
#include "expr/coercion.h"
#include "expr/program.h"

#include <string.h>

struct pivot {
    struct analyzer *analyzer;
    struct resolver resolver;
    const struct ast_pivot *ast;
    struct expr_list columns;    /* the pivot columns */
    struct expr_list aggregates; /* resolved, not yet filtered */
    int begin;                   /* of the whole relation */
    int position, position_end;  /* of the clause */
    struct expr_list keys;       /* all columns that are not named */
    const char **key_names;
    struct logical_node *node; /* what is grouped */
    bool twice;                /* it is grouped by the keys and the pivot columns already */
};

static bool used_by(const struct expr *expr, uint32_t id)
{
    if (expr->kind == EXPR_COLUMN && expr->column.attribute_id == id)
        return true;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (used_by(expr->args[i], id))
            return true;
    return false;
}

static bool is_consumed(const struct pivot *pivot, uint32_t id)
{
    for (uint32_t i = 0; i < pivot->columns.count; i++)
        if (used_by(pivot->columns.items[i], id))
            return true;
    for (uint32_t i = 0; i < pivot->aggregates.count; i++)
        if (used_by(pivot->aggregates.items[i], id))
            return true;
    return false;
}

static enum status resolve_parts(struct pivot *pivot, struct error *err)
{
    struct analyzer *analyzer = pivot->analyzer;
    for (size_t i = 0; i < pivot->ast->columns.count; i++) {
        const struct ast_path *path = &pivot->ast->columns.items[i];
        struct expr *column;
        TRY(scope_resolve(&pivot->resolver, path, pivot->position, pivot->position_end, &column,
                          err));
        if (!type_is_orderable(column->type))
            return error_raise_at(err, STATUS_INCOMPARABLE_PIVOT_COLUMN, path->position,
                                  path->position_end, "columnName",
                                  text_quoted(analyzer, expr_name(analyzer, column)), NULL);
        expr_list_add(analyzer->arena, &pivot->columns, column);
    }
    for (size_t i = 0; i < pivot->ast->aggregates.count; i++) {
        struct expr *aggregate;
        TRY(resolve_expr(&pivot->resolver, pivot->ast->aggregates.items[i].expr, &aggregate, err));
        if (!expr_has_aggregate(aggregate)) {
            const char *sql = expr_name(analyzer, aggregate);
            if (aggregate->kind == EXPR_COLUMN && aggregate->column.qualifier != NULL)
                sql = arena_sprintf(analyzer->arena, "%s.%s", aggregate->column.qualifier, sql);
            return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1006, "sql", sql, NULL);
        }
        expr_list_add(analyzer->arena, &pivot->aggregates, aggregate);
    }
    return OK;
}

static enum status resolve_value(struct pivot *pivot, const struct ast_expr *ast, struct expr **out,
                                 struct error *err)
{
    struct resolver resolver = pivot->resolver;
    TRY(resolve_expr(&resolver, ast, out, err));
    if (expr_is_foldable(*out))
        return OK;
    return error_raise_at(err, STATUS_NON_LITERAL_PIVOT_VALUES, ast->position, ast->position_end,
                          "expression", expr_sql(pivot->analyzer, *out), NULL);
}

/* The column is named by the value cast to text. */
static enum status value_text(struct analyzer *analyzer, struct expr *constant, struct buffer *text,
                              struct error *err)
{
    struct vector *value;
    TRY(expr_constant(analyzer->arena,
                      coercion_cast(&analyzer->functions, constant, type_simple(TYPE_STRING)),
                      analyzer->functions.time_zone, &value, err));
    if (vector_is_null(value, 0))
        buffer_add_text(text, "null");
    else
        buffer_add_bytes(text, *VECTOR_VALUES(struct bytes, value));
    return OK;
}

static enum status raise_value_type(struct pivot *pivot, const struct ast_pivot_value *value,
                                    struct error *err)
{
    struct analyzer *analyzer = pivot->analyzer;
    struct resolver resolver = pivot->resolver;
    struct expr *whole;
    TRY(resolve_expr(&resolver, value->expr, &whole, err));
    struct buffer type = {0};
    bool one = pivot->columns.count == 1;
    buffer_add_text(&type, one ? "" : "struct<");
    for (uint32_t i = 0; i < pivot->columns.count; i++) {
        const struct expr *column = pivot->columns.items[i];
        if (!one)
            buffer_printf(&type, "%s%s:", i > 0 ? "," : "", expr_name(analyzer, column));
        buffer_add_text(&type, type_name(analyzer->arena, column->type));
    }
    buffer_add_text(&type, one ? "" : ">");
    error_raise(err, STATUS_PIVOT_VALUE_DATA_TYPE_MISMATCH, "value", expr_name(analyzer, whole),
                "valueType", type_name(analyzer->arena, whole->type), "pivotType",
                buffer_text(&type), NULL);
    buffer_fini(&type);
    return err->status;
}

/* (c1, c2) <=> (v1, v2). */
static enum status value_condition(struct pivot *pivot, const struct ast_pivot_value *value,
                                   struct expr **out, const char **name, struct error *err)
{
    struct analyzer *analyzer = pivot->analyzer;
    struct buffer text = {0};
    *out = NULL;
    bool row = value->expr->kind == AST_EXPR_ROW;
    size_t count = row ? value->expr->members.count : 1;
    if (count != pivot->columns.count)
        return raise_value_type(pivot, value, err);
    for (size_t i = 0; i < count; i++) {
        struct expr *constant, *equal;
        TRY(resolve_value(pivot, row ? value->expr->members.items[i].expr : value->expr, &constant,
                          err));
        buffer_add_text(&text, i > 0 ? ", " : "");
        TRY(value_text(analyzer, constant, &text, err));
        const struct type *type = pivot->columns.items[i]->type;
        if (!type_equal(constant->type, type))
            TRY(cast_resolve(&analyzer->functions, constant, type, false, &constant, err));
        TRY(function_resolve_2(&analyzer->functions, "<=>", pivot->columns.items[i], constant,
                               &equal, err));
        if (*out == NULL)
            *out = equal;
        else
            TRY(function_resolve_2(&analyzer->functions, "and", *out, equal, out, err));
    }
    *name = arena_sprintf(analyzer->arena, row ? "{%s}" : "%s", buffer_text(&text));
    if (value->alias.text.data != NULL)
        *name = name_text(analyzer, &value->alias);
    buffer_fini(&text);
    return OK;
}

struct filter_rewrite {
    struct analyzer *analyzer;
    struct expr *condition;
};

static struct expr *put_filter(struct arena *arena, struct expr *expr, void *arg)
{
    const struct filter_rewrite *rewrite = arg;
    if (expr->kind != EXPR_AGGREGATE)
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    struct error ignored = ERROR_INIT;
    struct expr *both = rewrite->condition;
    if (copy->aggregate.filter != NULL &&
        function_resolve_2(&rewrite->analyzer->functions, "and", copy->aggregate.filter,
                           rewrite->condition, &both, &ignored) != OK)
        both = rewrite->condition;
    copy->aggregate.filter = both;
    copy->aggregate.result_id = rewrite->analyzer->next_id++;
    return copy;
}

static const char *pivot_name(struct pivot *pivot, size_t aggregate, const char *value)
{
    const struct ast_item *item = &pivot->ast->aggregates.items[aggregate];
    const char *suffix = item->aliases.count > 0
                             ? name_text(pivot->analyzer, &item->aliases.items[0])
                             : expr_name(pivot->analyzer, pivot->aggregates.items[aggregate]);
    if (pivot->aggregates.count == 1)
        return value;
    return arena_sprintf(pivot->analyzer->arena, "%s_%s", value, suffix);
}

/* Spark's PivotFirst: it takes the results of each group and value, and NULL where there is none.
 */
static bool has_pivot_first(const struct pivot *pivot)
{
    for (uint32_t i = 0; i < pivot->aggregates.count; i++) {
        enum type_id id = pivot->aggregates.items[i]->type->id;
        if (id < TYPE_BOOLEAN || id > TYPE_DECIMAL)
            return false;
    }
    return true;
}

/* Of the results that there are, that of the value: the last one, if they change. */
static enum status value_result(struct pivot *pivot, struct expr *result, struct expr *condition,
                                struct expr **out, struct error *err)
{
    struct aggregate_call request = {.name = "last",
                                     .args = &result,
                                     .arg_count = 1,
                                     .filter = condition,
                                     .nulls = 1,
                                     .position = pivot->position,
                                     .position_end = pivot->position_end};
    TRY(aggregate_resolve(&pivot->analyzer->functions, &request, out, err));
    (*out)->aggregate.result_id = pivot->analyzer->next_id++;
    return OK;
}

/* The aggregate over the rows of a value; NULL, not 0, if a count has none. */
static enum status value_aggregate(struct pivot *pivot, size_t index,
                                   struct filter_rewrite *rewrite, struct expr **out,
                                   struct error *err)
{
    struct analyzer *analyzer = pivot->analyzer;
    struct resolve_context *ctx = &analyzer->functions;
    struct expr *aggregate = pivot->aggregates.items[index];
    if (pivot->twice)
        return value_result(pivot, aggregate, rewrite->condition, out, err);
    *out = expr_rewrite(analyzer->arena, pivot->aggregates.items[index], put_filter, rewrite);
    if ((aggregate->kind == EXPR_AGGREGATE && aggregate->nullable) || !has_pivot_first(pivot))
        return OK;
    struct expr *one = expr_literal_int(analyzer->arena, 1);
    struct aggregate_call request = {.name = "count",
                                     .args = &one,
                                     .arg_count = 1,
                                     .filter = rewrite->condition,
                                     .position = pivot->position,
                                     .position_end = pivot->position_end};
    struct expr *args[3] = {NULL, *out, expr_null(analyzer->arena, (*out)->type)};
    TRY(aggregate_resolve(ctx, &request, &args[0], err));
    args[0]->aggregate.result_id = analyzer->next_id++;
    TRY(function_resolve_2(ctx, ">", args[0], expr_literal_int(analyzer->arena, 0), &args[0], err));
    struct function_call call = {.name = "if",
                                 .args = args,
                                 .arg_count = 3,
                                 .position = pivot->position,
                                 .position_end = pivot->position_end};
    return function_resolve(ctx, &call, out, err);
}

static void find_keys(struct pivot *pivot, const struct scope *scope)
{
    struct arena *arena = pivot->analyzer->arena;
    pivot->key_names = arena_new_object(arena, (scope->count + 1) * sizeof *pivot->key_names);
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (column->qualified_only || is_consumed(pivot, column->attribute->id))
            continue;
        pivot->key_names[pivot->keys.count] = column->name;
        expr_list_add(arena, &pivot->keys, attribute_expr(arena, column->attribute));
    }
}

/* By the keys; there is room for the pivot columns behind them. */
static struct grouping pivot_grouping(const struct pivot *pivot)
{
    struct arena *arena = pivot->analyzer->arena;
    struct grouping grouping = {
        .present = true, .position = pivot->begin, .position_end = pivot->position_end};
    uint32_t room = pivot->keys.count + pivot->columns.count + 1;
    grouping.key_attributes = arena_new_object(arena, room * sizeof(struct attribute *));
    for (uint32_t i = 0; i < pivot->keys.count; i++) {
        const struct expr *key = pivot->keys.items[i];
        expr_list_add(arena, &grouping.keys, pivot->keys.items[i]);
        grouping.key_attributes[i] = attribute_new(arena, key->column.attribute_id,
                                                   pivot->key_names[i], key->type, key->nullable);
    }
    return grouping;
}

/* The first of two aggregations.  The pivot columns and the aggregates become its columns. */
static enum status group_first(struct pivot *pivot, struct error *err)
{
    struct analyzer *analyzer = pivot->analyzer;
    struct grouping grouping = pivot_grouping(pivot);
    uint32_t keys = pivot->keys.count + pivot->columns.count;
    uint32_t width = keys + pivot->aggregates.count;
    struct attribute **output =
        arena_new_object(analyzer->arena, (width + 1) * sizeof(struct attribute *));
    struct expr **exprs = arena_new_object(analyzer->arena, (width + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < pivot->columns.count; i++) {
        struct expr *column = pivot->columns.items[i];
        grouping.key_attributes[grouping.keys.count] = analyzer_attribute(
            analyzer, expr_name(analyzer, column), column->type, column->nullable);
        expr_list_add(analyzer->arena, &grouping.keys, column);
    }
    for (uint32_t i = keys; i < width; i++) {
        exprs[i] = pivot->aggregates.items[i - keys];
        const char *name = expr_name(analyzer, exprs[i]);
        TRY(grouping_rewrite(analyzer, &grouping, &exprs[i], err));
        output[i] = analyzer_attribute(analyzer, name, exprs[i]->type, exprs[i]->nullable);
        pivot->aggregates.items[i - keys] = attribute_expr(analyzer->arena, output[i]);
    }
    struct logical_node *node;
    TRY(grouping_node(analyzer, &grouping, pivot->node, &node, err));
    for (uint32_t i = 0; i < keys; i++) {
        output[i] = grouping.key_attributes[i];
        exprs[i] = attribute_expr(analyzer->arena, output[i]);
        if (i >= pivot->keys.count)
            pivot->columns.items[i - pivot->keys.count] = exprs[i];
    }
    pivot->node = logical_project(analyzer->arena, node, exprs, output, width);
    pivot->twice = true;
    return OK;
}

enum status resolve_pivot(struct analyzer *analyzer, const struct ast_relation *ast,
                          struct scope *outer, struct expr_list *outer_refs, struct relation *input,
                          struct relation *out, struct error *err)
{
    struct pivot pivot = {
        .analyzer = analyzer,
        .resolver = resolver_of(analyzer, input->scope, CLAUSE_OTHER, outer_refs),
        .ast = &ast->pivot.pivot,
        .begin = ast->position,
        .position = ast->pivot.input == NULL ? ast->position
                                             : text_next(analyzer, ast->pivot.input->position_end),
        .position_end = ast->position_end,
    };
    TRY(resolve_parts(&pivot, err));
    pivot.node = input->node;
    find_keys(&pivot, input->scope);
    if (input->node->streaming && has_pivot_first(&pivot))
        TRY(group_first(&pivot, err));
    struct grouping grouping = pivot_grouping(&pivot);
    struct expr_list exprs = {0};
    uint32_t width = pivot.keys.count + (uint32_t)(pivot.ast->value_count * pivot.aggregates.count);
    const char **names = arena_new_object(analyzer->arena, (width + 1) * sizeof *names);
    for (uint32_t i = 0; i < pivot.keys.count; i++) {
        names[i] = pivot.key_names[i];
        expr_list_add(analyzer->arena, &exprs, pivot.keys.items[i]);
    }
    for (size_t i = 0; i < pivot.ast->value_count; i++) {
        struct filter_rewrite rewrite = {.analyzer = analyzer};
        const char *value = "";
        TRY(value_condition(&pivot, &pivot.ast->values[i], &rewrite.condition, &value, err));
        for (uint32_t j = 0; j < pivot.aggregates.count; j++) {
            struct expr *expr;
            TRY(value_aggregate(&pivot, j, &rewrite, &expr, err));
            names[exprs.count] = pivot_name(&pivot, j, value);
            TRY(grouping_rewrite(analyzer, &grouping, &expr, err));
            expr_list_add(analyzer->arena, &exprs, expr);
        }
    }
    struct logical_node *node;
    TRY(grouping_node(analyzer, &grouping, pivot.node, &node, err));
    node->aggregate.pivot = pivot.twice;
    struct attribute **output =
        arena_new_object(analyzer->arena, (exprs.count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < exprs.count; i++) {
        output[i] = i < grouping.keys.count
                        ? grouping.key_attributes[i]
                        : analyzer_attribute(analyzer, names[i], exprs.items[i]->type, true);
    }
    out->node = logical_project(analyzer->arena, node, exprs.items, output, exprs.count);
    out->scope = scope_new(analyzer, out->node, NULL, outer);
    return OK;
}

/* ---- UNPIVOT ---- */

/* "INT" (`a`, `c`), "STRING" (`b`): the columns by type, at most three of each. */
static enum status raise_unpivot_types(struct analyzer *analyzer, struct expr *const *cells,
                                       uint32_t count, struct error *err)
{
    struct buffer types = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        while (same < i && !type_equal(cells[same]->type, cells[i]->type))
            same++;
        if (same < i)
            continue;
        buffer_printf(&types, "%s%s (", i > 0 ? ", " : "", type_quoted(analyzer, cells[i]->type));
        uint32_t named = 0;
        for (uint32_t j = i; j < count; j++)
            if (type_equal(cells[j]->type, cells[i]->type) && named++ < 4)
                buffer_printf(&types, "%s%s", named > 1 ? ", " : "",
                              named > 3 ? "..."
                                        : text_quoted(analyzer, expr_name(analyzer, cells[j])));
        buffer_add_byte(&types, ')');
    }
    error_raise(err, STATUS_UNPIVOT_VALUE_DATA_TYPE_MISMATCH, "types", buffer_text(&types), NULL);
    buffer_fini(&types);
    return err->status;
}

static enum status check_unpivot_columns(struct analyzer *analyzer, const struct ast_relation *ast,
                                         const struct expr_list *columns, struct error *err)
{
    struct buffer list = {0};
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct expr *column = columns->items[i];
        if (column->kind == EXPR_COLUMN)
            continue;
        const char *name = expr_name(analyzer, column);
        const char *dot = strrchr(name, '.');
        buffer_printf(&list, "%s\"%s AS %s\"", list.size_bytes > 0 ? ", " : "", name,
                      dot != NULL ? dot + 1 : name);
    }
    bool plain = list.size_bytes == 0;
    if (!plain)
        error_raise_at(err, STATUS_UNPIVOT_REQUIRES_ATTRIBUTES, ast->position, ast->position_end,
                       "given", "value", "empty", "id", "expressions", buffer_text(&list), NULL);
    buffer_fini(&list);
    return plain ? OK : err->status;
}

static enum status unpivot_value(struct analyzer *analyzer, const struct ast_unpivot *ast,
                                 const struct expr_list *columns, uint32_t value,
                                 struct expr **cells, struct error *err)
{
    uint32_t entries = (uint32_t)ast->column_count;
    CHECK(entries > 0);
    uint32_t width = columns->count / entries;
    for (uint32_t i = 0; i < entries; i++)
        cells[i] = columns->items[i * width + value];
    if (coercion_unify(&analyzer->functions, cells, entries, false))
        return OK;
    return raise_unpivot_types(analyzer, cells, entries, err);
}

static enum status unpivot_columns(struct analyzer *analyzer, const struct ast_unpivot *ast,
                                   struct relation *input, struct expr_list *columns,
                                   const char **labels, struct error *err)
{
    struct resolver resolver = resolver_of(analyzer, input->scope, CLAUSE_OTHER, NULL);
    for (size_t i = 0; i < ast->column_count; i++) {
        const struct ast_unpivot_column *entry = &ast->columns[i];
        struct buffer label = {0};
        if (entry->columns.count != ast->values.count)
            return error_raise(err, STATUS_UNPIVOT_VALUE_SIZE_MISMATCH, "names",
                               arena_sprintf(analyzer->arena, "%zu", ast->values.count), NULL);
        for (size_t j = 0; j < entry->columns.count; j++) {
            const struct ast_path *path = &entry->columns.items[j];
            struct expr *column;
            TRY(scope_resolve(&resolver, path, path->position, path->position_end, &column, err));
            expr_list_add(analyzer->arena, columns, column);
            buffer_printf(&label, "%s%s", j > 0 ? "_" : "",
                          column->kind == EXPR_COLUMN ? column->column.name
                                                      : expr_name(analyzer, column));
        }
        labels[i] = entry->alias.text.data != NULL
                        ? name_text(analyzer, &entry->alias)
                        : arena_strdup(analyzer->arena, buffer_text(&label));
        buffer_fini(&label);
    }
    return OK;
}

static enum status unpivot_nulls(struct analyzer *analyzer, struct logical_node **node,
                                 uint32_t first, uint32_t count, struct error *err)
{
    struct expr *any = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct expr *test;
        TRY(function_resolve_1(&analyzer->functions, "isnotnull",
                               attribute_expr(analyzer->arena, (*node)->output[first + i]), &test,
                               err));
        if (any == NULL)
            any = test;
        else
            TRY(function_resolve_2(&analyzer->functions, "or", any, test, &any, err));
    }
    *node = logical_filter(analyzer->arena, *node, any);
    return OK;
}

static bool is_unpivoted(const struct expr_list *columns, uint32_t id)
{
    for (uint32_t i = 0; i < columns->count; i++)
        if (used_by(columns->items[i], id))
            return true;
    return false;
}

enum status resolve_unpivot(struct analyzer *analyzer, const struct ast_relation *ast,
                            struct relation *input, struct relation *out, struct error *err)
{
    const struct ast_unpivot *unpivot = &ast->unpivot.unpivot;
    struct arena *arena = analyzer->arena;
    uint32_t entries = (uint32_t)unpivot->column_count, values = (uint32_t)unpivot->values.count;
    struct expr_list columns = {0}, kept = {0};
    const char **labels = arena_new_object(arena, (entries + 1) * sizeof *labels);
    TRY(unpivot_columns(analyzer, unpivot, input, &columns, labels, err));
    TRY(check_unpivot_columns(analyzer, ast, &columns, err));
    struct scope *scope = input->scope;
    uint32_t width = scope->count + 1 + values;
    struct attribute **output = arena_new_object(arena, (width + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (column->qualified_only || is_unpivoted(&columns, column->attribute->id))
            continue;
        output[kept.count] = column->attribute;
        expr_list_add(arena, &kept, attribute_expr(arena, column->attribute));
    }
    uint32_t first = kept.count + 1;
    width = first + values;
    output[kept.count] = analyzer_attribute(analyzer, name_text(analyzer, &unpivot->name),
                                            type_simple(TYPE_STRING), false);
    struct expr ***projections = arena_new_object(arena, (entries + 1) * sizeof(struct expr **));
    for (uint32_t i = 0; i < entries; i++) {
        projections[i] = arena_new_object(arena, (width + 1) * sizeof(struct expr *));
        for (uint32_t j = 0; j < kept.count; j++)
            projections[i][j] = kept.items[j];
        projections[i][kept.count] = expr_literal_string(arena, bytes_of_text(labels[i]));
    }
    struct expr **cells = arena_new_object(arena, (entries + 1) * sizeof(struct expr *));
    for (uint32_t value = 0; value < values; value++) {
        TRY(unpivot_value(analyzer, unpivot, &columns, value, cells, err));
        for (uint32_t i = 0; i < entries; i++)
            projections[i][first + value] = cells[i];
        output[first + value] = analyzer_attribute(
            analyzer, name_text(analyzer, &unpivot->values.items[value]), cells[0]->type, true);
    }
    struct logical_node *node = logical_over(arena, LOGICAL_EXPAND, input->node);
    analyzer_node(analyzer, node, ast->position, ast->position_end);
    node->output = output;
    node->output_count = width;
    node->expand.projections = projections;
    node->expand.projection_count = entries;
    if (unpivot->nulls != AST_UNPIVOT_INCLUDE)
        TRY(unpivot_nulls(analyzer, &node, first, values, err));
    out->node = node;
    out->scope = scope_new(analyzer, node, NULL, input->scope->outer);
    return OK;
}
