/*
 * SELECT: FROM, WHERE, the select list, GROUP BY, HAVING, QUALIFY, DISTINCT, and the ORDER BY,
 * LIMIT and OFFSET that belong to it.
 *
 * The list, HAVING and ORDER BY are resolved against the input; what they contain that needs a
 * node of its own (aggregates, window functions, generators) is then moved into that node and
 * replaced by a reference to its output.
 */
#include "analyze/analyzer.h"
#include "analyze/relation.h"
#include "base/check.h"
#include "expr/coercion.h"
#include "spec/conf.h"

#include <stdio.h>
#include <strings.h>

struct select {
    struct analyzer *analyzer;
    const struct ast_select *ast;
    const struct ast_tail *tail;
    struct scope *outer;
    struct expr_list *outer_refs;
    struct relation input;
    struct select_items items;
    struct lateral_alias *aliases;
    uint32_t alias_count;
    struct grouping grouping;
    bool aggregated;
    struct expr *having, *qualify;
    struct sort_key *order;
    uint32_t order_count;
    bool order_global;
    uint32_t broken; /* of the analyser when this SELECT began */
    bool quiet;      /* its input is broken: what is wrong with the rest may follow from that */
};

/* What the analyser's count is compared with before an error is collected. */
static uint32_t collected_before(const struct select *select)
{
    return select->quiet ? select->broken : select->analyzer->broken;
}

static struct resolver select_resolver(struct select *select, enum clause clause)
{
    struct resolver resolver =
        resolver_of(select->analyzer, select->input.scope, clause, select->outer_refs);
    resolver.windows = &select->ast->windows;
    if (select->ast->windows.count == 0 && select->tail != NULL)
        resolver.windows = &select->tail->windows;
    resolver.input = &select->input;
    resolver.select_position = select->ast->position;
    resolver.select_position_end = select->ast->position_end;
    const struct ast_group_by *group_by = select->ast->group_by;
    resolver.input_position = group_by != NULL ? group_by->position : select->ast->position;
    resolver.input_position_end =
        group_by != NULL ? group_by->position_end : select->ast->position_end;
    return resolver;
}

/* ---- FROM, WHERE ---- */

static enum status select_from(struct select *select, struct relation *input, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    if (input != NULL) {
        select->input = *input;
        return OK;
    }
    if (select->ast->from != NULL)
        return resolve_relation(analyzer, select->ast->from, select->outer, select->outer_refs,
                                &select->input, err);
    select->input.node = relation_one_row(analyzer);
    analyzer_node(analyzer, select->input.node, select->ast->position, select->ast->position_end);
    select->input.scope = scope_new(analyzer, select->input.node, NULL, select->outer);
    return OK;
}

static enum status raise_filter_type(struct select *select, const struct expr *expr,
                                     struct error *err)
{
    const char *sql = expr_sql(select->analyzer, expr);
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__FILTER_NOT_BOOLEAN, select->ast->position,
                          select->ast->position_end, "sqlExpr", sql, "filter", sql, "type",
                          type_quoted(select->analyzer, expr->type), NULL);
}

/* ---- the select list ---- */

void select_items_add(struct arena *arena, struct select_items *items, struct select_item item)
{
    if (items->count == items->capacity) {
        uint32_t capacity = items->capacity == 0 ? 8 : items->capacity * 2;
        struct select_item *grown = arena_new_object(arena, capacity * sizeof *grown);
        if (items->count > 0)
            memcpy(grown, items->items, items->count * sizeof *grown);
        items->items = grown;
        items->capacity = capacity;
    }
    items->items[items->count++] = item;
}

static struct expr *put_alias(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arena;
    const struct select *select = arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    for (uint32_t i = 0; i < select->alias_count; i++)
        if (select->aliases[i].id == expr->column.attribute_id &&
            !expr_has_generator(select->aliases[i].expr))
            return select->aliases[i].expr;
    return expr;
}

static const char *alias_list(struct analyzer *analyzer, const struct ast_name_list *aliases)
{
    struct buffer names = {0};
    for (size_t i = 0; i < aliases->count; i++)
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", name_text(analyzer, &aliases->items[i]));
    const char *copy = arena_strdup(analyzer->arena, buffer_text(&names));
    buffer_fini(&names);
    return copy;
}

static bool names_no_alias(const struct expr *expr, void *arg)
{
    (void)arg;
    return expr->kind != EXPR_COLUMN ||
           strncmp(expr->column.name, "lateralAliasReference(", 22) != 0;
}

static enum status resolve_item(struct select *select, struct resolver *resolver,
                                const struct ast_item *ast, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    struct expr_list found = {0};
    uint32_t before = analyzer->broken;
    if (ast->expr->kind == AST_EXPR_STAR) {
        if (ast->aliases.count > 0)
            return error_raise(err, STATUS_INVALID_USAGE_OF_STAR_OR_REGEX, "elem", "'*'",
                               "prettyName", "expression `alias`", NULL);
        TRY(resolve_star(resolver, ast->expr, &found, err));
    } else {
        struct expr *expr;
        TRY(resolve_expr(resolver, ast->expr, &expr, err));
        expr_list_add(analyzer->arena, &found, expr);
    }
    for (uint32_t i = 0; i < found.count; i++) {
        struct expr *expr = found.items[i];
        struct select_item item = {
            .name = analyzer->broken == before ? select_item_name(analyzer, ast, expr)
                                               : select_written_name(analyzer, ast),
            .expr = resolver->used_alias ? expr_rewrite(analyzer->arena, expr, put_alias, select)
                                         : expr,
            .ast = ast->expr,
            .aliases = ast->aliases.count > 0 ? &ast->aliases : NULL,
            .lateral = resolver->used_alias && !expr_walk(expr, names_no_alias, NULL),
            .position = ast->position,
            .position_end = ast->position_end,
        };
        if (ast->aliases.count > 1 && expr->kind != EXPR_GENERATOR)
            return error_raise_at(err, STATUS_MULTI_ALIAS_WITHOUT_GENERATOR, ast->position,
                                  ast->position_end, "expr", expr_sql(analyzer, expr), "names",
                                  alias_list(analyzer, &ast->aliases), NULL);
        if (ast->aliases.count == 1) {
            item.alias_id = analyzer->next_id++;
            select->aliases[select->alias_count++] = (struct lateral_alias){
                .name = item.name,
                .expr = item.expr,
                .id = item.alias_id,
            };
        }
        select_items_add(analyzer->arena, &select->items, item);
    }
    return OK;
}

/* In the place of an item that is wrong, so that others may name it. */
static void add_null_item(struct select *select, const struct ast_item *ast)
{
    struct analyzer *analyzer = select->analyzer;
    struct select_item item = {
        .name = select_written_name(analyzer, ast),
        .expr = expr_null(analyzer->arena, type_simple(TYPE_VOID)),
        .ast = ast->expr,
        .alias_id = analyzer->next_id++,
        .position = ast->position,
        .position_end = ast->position_end,
    };
    select_items_add(analyzer->arena, &select->items, item);
}

static enum status collect_item(struct select *select, struct resolver *resolver,
                                const struct ast_item *ast, struct error *err)
{
    uint32_t before = collected_before(select), items = select->items.count;
    enum status status = resolve_item(select, resolver, ast, err);
    TRY(analyzer_go_on(select->analyzer, before, status, err));
    if (status != OK && select->items.count == items)
        add_null_item(select, ast);
    return OK;
}

static enum status select_list(struct select *select, struct error *err)
{
    const struct ast_item_list *list = &select->ast->items;
    struct ast_expr star = {.kind = AST_EXPR_STAR};
    struct ast_item all = {.expr = &star};
    select->aliases =
        arena_new_object(select->analyzer->arena, (list->count + 1) * sizeof *select->aliases);
    if (list->count == 0) {
        struct resolver resolver = select_resolver(select, CLAUSE_SELECT);
        return collect_item(select, &resolver, &all, err);
    }
    for (size_t i = 0; i < list->count; i++) {
        struct resolver resolver = select_resolver(select, CLAUSE_SELECT);
        resolver.aliases = select->aliases;
        if (conf_bool(&select->analyzer->spec->conf,
                      CONF_lateralColumnAlias_enableImplicitResolution))
            resolver.alias_count = select->alias_count;
        resolver.item_aliased = list->items[i].aliases.count > 0;
        resolver.collect = select->analyzer->diagnostics != NULL && !select->quiet;
        TRY(collect_item(select, &resolver, &list->items[i], err));
    }
    return OK;
}

/* ---- GROUP BY, HAVING ---- */

static bool is_window_call(const struct ast_expr *ast)
{
    if (ast->kind != AST_EXPR_CALL || ast->call.name.count != 1)
        return false;
    struct bytes name = ast->call.name.parts[0].text;
    return (name.size_bytes == 6 && strncasecmp((const char *)name.data, "window", 6) == 0) ||
           (name.size_bytes == 14 &&
            strncasecmp((const char *)name.data, "session_window", 14) == 0);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as grouping sets are nested */
static enum status resolve_set_windows(struct select *select, const struct ast_grouping *element,
                                       struct error *err)
{
    for (size_t i = 0; i < element->exprs.count; i++) {
        if (!is_window_call(element->exprs.items[i]))
            continue;
        struct resolver resolver = select_resolver(select, CLAUSE_GROUP_BY);
        struct expr *ignored;
        TRY(resolve_expr(&resolver, element->exprs.items[i], &ignored, err));
    }
    for (size_t i = 0; i < element->child_count; i++)
        TRY(resolve_set_windows(select, &element->children[i], err));
    return OK;
}

/* window() of GROUP BY gives the column `window`, which the list may name. */
static enum status resolve_group_windows(struct select *select, struct error *err)
{
    const struct ast_group_by *group_by = select->ast->group_by;
    for (size_t i = 0; group_by != NULL && i < group_by->count; i++)
        TRY(resolve_set_windows(select, &group_by->elements[i], err));
    for (size_t i = 0; group_by != NULL && i < group_by->set_count; i++)
        TRY(resolve_set_windows(select, &group_by->sets[i], err));
    return OK;
}

static const char *item_qualifier(const struct select_item *item)
{
    return item->aliases == NULL && item->expr->kind == EXPR_COLUMN ? item->expr->column.qualifier
                                                                    : NULL;
}

/* The suggestions for a name of HAVING or ORDER BY are the columns of the list. */
static enum status unresolved_in_output(struct select *select, const char *quoted,
                                        const char *plain, uint32_t parts, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->columns =
        arena_new_object(analyzer->arena, (select->items.count + 1) * sizeof *scope->columns);
    for (uint32_t i = 0; i < select->items.count; i++) {
        scope->columns[scope->count].qualifier = item_qualifier(&select->items.items[i]);
        scope->columns[scope->count++].name = select->items.items[i].name;
    }
    struct resolver resolver = resolver_of(analyzer, scope, CLAUSE_HAVING, NULL);
    int position = err->position, position_end = err->position_end;
    error_clear(err);
    return raise_unresolved_column(&resolver, quoted, plain, parts, position, position_end, err);
}

/* The first column that no aggregate takes. */
static const struct expr *stray_column(const struct expr *expr)
{
    const struct expr *found = expr->kind == EXPR_COLUMN ? expr : NULL;
    for (uint32_t i = 0; expr->kind != EXPR_AGGREGATE && found == NULL && i < expr->arg_count; i++)
        found = stray_column(expr->args[i]);
    return found;
}

/* HAVING makes one group of all rows: a list of columns is wrong before HAVING is read. */
static bool list_lacks_keys(const struct select *select)
{
    for (uint32_t i = 0; select->ast->group_by == NULL && i < select->items.count; i++)
        if (stray_column(select->items.items[i].expr) != NULL)
            return true;
    return false;
}

static enum status having_unresolved(struct select *select, struct error *err)
{
    const char *quoted = arena_strdup(select->analyzer->arena, error_param(err, "objectName"));
    struct buffer plain = {0};
    uint32_t parts = 1;
    for (const char *at = quoted; *at != '\0'; at++) {
        parts += at[0] == '`' && at[1] == '.' && at[2] == '`';
        if (*at != '`')
            buffer_add_byte(&plain, (uint8_t)*at);
    }
    const char *text = arena_strdup(select->analyzer->arena, buffer_text(&plain));
    buffer_fini(&plain);
    return unresolved_in_output(select, quoted, text, parts, err);
}

static enum status select_having(struct select *select, struct error *err)
{
    if (select->ast->having == NULL)
        return OK;
    struct resolver resolver = select_resolver(select, CLAUSE_HAVING);
    resolver.aliases = select->aliases;
    resolver.alias_count = select->alias_count;
    enum status status = resolve_expr(&resolver, select->ast->having, &select->having, err);
    if (status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION && list_lacks_keys(select)) {
        error_clear(err);
        return error_raise_at(err, STATUS_MISSING_GROUP_BY, resolver.select_position,
                              resolver.select_position_end, NULL);
    }
    if (status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION && err->position >= 0)
        return having_unresolved(select, err);
    TRY(status);
    if (resolver.used_alias)
        select->having = expr_rewrite(select->analyzer->arena, select->having, put_alias, select);
    if (select->having->type->id != TYPE_BOOLEAN) {
        if (!type_is_numeric(select->having->type))
            return raise_filter_type(select, select->having, err);
        select->having =
            coercion_cast(&select->analyzer->functions, select->having, type_simple(TYPE_BOOLEAN));
    }
    return OK;
}

static struct scope *output_scope(struct select *select, struct attribute *const *output,
                                  const struct scope *input)
{
    struct analyzer *analyzer = select->analyzer;
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    uint32_t extra = input != NULL ? input->count : 0;
    scope->columns = arena_new_object(analyzer->arena,
                                      (select->items.count + extra + 1) * sizeof *scope->columns);
    scope->outer = select->outer;
    for (uint32_t i = 0; i < select->items.count; i++)
        scope->columns[scope->count++] = (struct scope_column){
            .attribute = output[i],
            .name = output[i]->name,
            .qualifier = input == NULL ? item_qualifier(&select->items.items[i]) : NULL,
        };
    if (input != NULL)
        scope_concat_hidden(analyzer, scope, input, NULL);
    for (uint32_t i = 0; i < extra; i++) {
        struct scope_column column = input->columns[i];
        for (uint32_t j = 0; j < select->items.count; j++)
            if (name_equal(analyzer, column.name, output[j]->name))
                column.qualified_only = true;
        column.no_star = true;
        scope->columns[scope->count++] = column;
    }
    return scope;
}

/* A column that is neither a key nor in the output: Spark names those that are in the output. */
static enum status having_error(struct select *select, enum status status, struct error *err)
{
    if (status != STATUS_MISSING_AGGREGATION || !select->grouping.present)
        return status;
    struct analyzer *analyzer = select->analyzer;
    const char *column = error_param(err, "expression");
    char name[256];
    (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(column) - 2), column + 1);
    char *dot = strrchr(name, '.');
    const char *plain = arena_strdup(analyzer->arena, dot != NULL ? dot + 1 : name);
    return unresolved_in_output(select, text_quoted(analyzer, plain), plain, 1, err);
}

/* A scalar subquery with columns of this query that is neither a key nor inside an aggregate. */
static const struct expr *stray_subquery(const struct grouping *grouping, const struct expr *expr)
{
    for (uint32_t i = 0; i < grouping->keys.count; i++)
        if (expr_equal(expr, grouping->keys.items[i]))
            return NULL;
    if (expr->kind == EXPR_AGGREGATE)
        return NULL;
    if (expr->kind == EXPR_SUBQUERY && expr->subquery.kind == SUBQUERY_SCALAR &&
        expr->arg_count > expr->subquery.value_count)
        return expr;
    const struct expr *found = NULL;
    for (uint32_t i = 0; found == NULL && i < expr->arg_count; i++)
        found = stray_subquery(grouping, expr->args[i]);
    return found;
}

static bool is_item(const struct select *select, const struct expr *key)
{
    for (uint32_t i = 0; i < select->items.count; i++)
        if (expr_equal(select->items.items[i].expr, key))
            return true;
    return false;
}

static enum status check_subqueries(struct select *select, struct error *err)
{
    const struct grouping *grouping = &select->grouping;
    for (uint32_t i = 0; i < select->items.count; i++) {
        const struct expr *stray = stray_subquery(grouping, select->items.items[i].expr);
        if (stray != NULL)
            return error_raise_at(err, STATUS_SCALAR_SUBQUERY_IS_IN_GROUP_BY_OR_AGGREGATE_FUNCTION,
                                  stray->position, stray->position_end, "sqlExpr",
                                  expr_sql(select->analyzer, stray), NULL);
    }
    for (uint32_t i = 0; i < grouping->keys.count; i++) {
        const struct expr *key = grouping->keys.items[i];
        if (key->kind != EXPR_SUBQUERY || key->subquery.kind != SUBQUERY_SCALAR ||
            key->arg_count == key->subquery.value_count || is_item(select, key))
            continue;
        return error_raise_at(
            err,
            STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__MUST_AGGREGATE_CORRELATED_SCALAR_SUBQUERY,
            select->ast->group_by->position, select->ast->group_by->position_end, NULL);
    }
    return OK;
}

/* An aggregate explodes once. */
static enum status check_generators(struct select *select, struct error *err)
{
    struct buffer list = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < select->items.count; i++)
        if (select->items.items[i].expr->kind == EXPR_GENERATOR)
            buffer_printf(&list, "%s%s", count++ > 0 ? ", " : "",
                          expr_sql(select->analyzer, select->items.items[i].expr));
    if (count > 1)
        error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__MULTI_GENERATOR, select->ast->position,
                       select->ast->position_end, "num",
                       arena_sprintf(select->analyzer->arena, "%u", count), "generators",
                       buffer_text(&list), NULL);
    buffer_fini(&list);
    return count > 1 ? err->status : OK;
}

static enum status aggregate_slots(struct select *select, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    TRY(check_subqueries(select, err));
    TRY(check_generators(select, err));
    for (uint32_t i = 0; i < select->items.count; i++) {
        struct expr *expr = select->items.items[i].expr;
        if (expr->kind != EXPR_GENERATOR) {
            TRY(grouping_rewrite(analyzer, &select->grouping, &select->items.items[i].expr, err));
            continue;
        }
        select->items.items[i].expr = expr = expr_copy(analyzer->arena, expr);
        for (uint32_t j = 0; j < expr->arg_count; j++)
            TRY(grouping_rewrite(analyzer, &select->grouping, &expr->args[j], err));
    }
    if (select->having != NULL) {
        const struct expr *stray = stray_column(select->having);
        enum status status = grouping_rewrite(analyzer, &select->grouping, &select->having, err);
        if (status == STATUS_MISSING_GROUP_BY && stray != NULL) {
            err->position = stray->position;
            err->position_end = stray->position_end;
            return unresolved_in_output(select, text_quoted(analyzer, stray->column.name),
                                        stray->column.name, 1, err);
        }
        if (status != OK)
            return having_error(select, status, err);
    }
    if (select->qualify != NULL)
        TRY(grouping_rewrite(analyzer, &select->grouping, &select->qualify, err));
    return OK;
}

static bool select_is_aggregate(const struct select *select)
{
    if (select->ast->group_by != NULL || select->ast->having != NULL)
        return true;
    for (uint32_t i = 0; i < select->items.count; i++)
        if (expr_has_aggregate(select->items.items[i].expr) ||
            expr_has_grouping_call(select->items.items[i].expr))
            return true;
    return false;
}

/* ---- ORDER BY ---- */

/* A name that several items of the list have is none of its columns. */
static enum status ambiguous_in_output(struct select *select, const struct ast_expr *key,
                                       struct error *err)
{
    if (key->kind != AST_EXPR_COLUMN || key->column.count != 1)
        return err->status;
    const char *name = name_text(select->analyzer, &key->column.parts[0]);
    err->position = key->position;
    err->position_end = key->position_end;
    return unresolved_in_output(select, text_quoted(select->analyzer, name), name, 1, err);
}

/* Output names first, then the input: both in one scope. */
static enum status resolve_order_keys(struct select *select, struct scope *scope,
                                      struct scope *suggest, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    const struct ast_sort_list *list = &select->tail->order_by;
    struct ast_sort_list cluster = cluster_keys(analyzer, select->tail);
    if (list->count == 0)
        list = select->tail->sort_by.count > 0 ? &select->tail->sort_by : &cluster;
    select->order_count = (uint32_t)list->count;
    select->order = order_all_keys(analyzer, list, suggest, &select->order_count);
    if (select->order != NULL)
        return OK;
    select->order = arena_new_object(analyzer->arena, (list->count + 1) * sizeof *select->order);
    for (uint32_t i = 0; i < select->order_count; i++) {
        uint32_t position;
        TRY(order_position(analyzer, &list->items[i], select->items.count, &position, err));
        if (position != UINT32_MAX) {
            select->order[i].expr =
                attribute_expr(analyzer->arena, scope->columns[position].attribute);
            sort_direction(&list->items[i], &select->order[i]);
            continue;
        }
        struct resolver resolver = select_resolver(select, CLAUSE_ORDER_BY);
        resolver.scope = scope;
        enum status status = resolve_sort_key(&resolver, &list->items[i], &select->order[i], err);
        if (status == STATUS_AMBIGUOUS_REFERENCE && scope != suggest) {
            error_clear(err); /* two of the list: what is below it may have one */
            resolver.scope = select->input.scope;
            status = resolve_sort_key(&resolver, &list->items[i], &select->order[i], err);
            if (status != OK)
                return ambiguous_in_output(select, list->items[i].expr, err);
        } else if (status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION ||
                   status == STATUS_AMBIGUOUS_REFERENCE) {
            error_clear(err);
            resolver.scope = suggest;
            status = resolve_sort_key(&resolver, &list->items[i], &select->order[i], err);
        }
        TRY(status);
    }
    return OK;
}

/* IN or EXISTS with a query, which only filters, conditions and lists can hold. */
static const struct expr *rows_subquery(const struct expr *expr)
{
    if (expr->kind == EXPR_SUBQUERY)
        return expr->subquery.kind == SUBQUERY_SCALAR ? NULL : expr;
    const struct expr *found = NULL;
    for (uint32_t i = 0; found == NULL && i < expr->arg_count; i++)
        found = rows_subquery(expr->args[i]);
    return found;
}

static enum status raise_rows_subquery(struct select *select, const struct expr *key,
                                       const struct expr *subquery, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    return error_raise_at(
        err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__UNSUPPORTED_IN_EXISTS_SUBQUERY,
        subquery->position, subquery->position_end, "treeNode",
        arena_sprintf(analyzer->arena, "Sort [%s], true", expr_name(analyzer, key)), NULL);
}

static enum status check_order_keys(struct select *select, struct error *err)
{
    for (uint32_t i = 0; i < select->order_count; i++) {
        const struct expr *expr = select->order[i].expr;
        if (expr_has_generator(expr))
            return error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__OUTSIDE_SELECT, expr->position,
                                  expr->position_end, "plan",
                                  arena_sprintf(select->analyzer->arena, "Sort [%s], true",
                                                expr_name(select->analyzer, expr)),
                                  NULL);
        if (!select->aggregated && expr_has_grouping_call(expr))
            return error_raise(err, STATUS_UNSUPPORTED_GROUPING_EXPRESSION, NULL);
        const struct expr *subquery = rows_subquery(expr);
        if (subquery != NULL)
            return raise_rows_subquery(select, expr, subquery, err);
        if (!expr_has_window(expr) && (select->aggregated || !expr_has_aggregate(expr)))
            continue;
        return raise_operator(select->analyzer, expr, "Sort", select->tail->position,
                              select->tail->position_end, err);
    }
    return OK;
}

static bool is_output(const struct select *select, struct attribute *const *output, uint32_t id)
{
    for (uint32_t i = 0; i < select->items.count; i++)
        if (output[i]->id == id)
            return true;
    return false;
}

/* grouping() of what the list has of the keys is of the keys themselves. */
static enum status order_by_grouping(struct select *select, struct expr **expr, struct error *err)
{
    struct grouping *grouping = &select->grouping;
    *expr = expr_copy(select->analyzer->arena, *expr);
    for (uint32_t i = 0; i < (*expr)->arg_count; i++) {
        struct expr **arg = &(*expr)->args[i];
        if ((*arg)->kind != EXPR_COLUMN)
            continue;
        for (uint32_t k = 0; k < grouping->keys.count; k++)
            if ((*arg)->column.attribute_id == grouping->key_attributes[k]->id)
                *arg = grouping->keys.items[k];
    }
    return grouping_rewrite(select->analyzer, grouping, expr, err);
}

/* An ORDER BY expression over an aggregate: outputs stay, the rest has to be keys, aggregates. */
static enum status order_over_aggregate(struct select *select, struct attribute *const *output,
                                        struct expr **expr, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    if ((*expr)->kind == EXPR_COLUMN && is_output(select, output, (*expr)->column.attribute_id))
        return OK;
    for (uint32_t i = 0; i < select->grouping.keys.count; i++)
        if (expr_equal(*expr, select->grouping.keys.items[i]))
            return grouping_rewrite(analyzer, &select->grouping, expr, err);
    if ((*expr)->kind == EXPR_AGGREGATE || (*expr)->kind == EXPR_COLUMN || (*expr)->arg_count == 0)
        return grouping_rewrite(analyzer, &select->grouping, expr, err);
    if (expr_is_grouping_call(*expr))
        return order_by_grouping(select, expr, err);
    *expr = expr_copy(analyzer->arena, *expr);
    for (uint32_t i = 0; i < (*expr)->arg_count; i++)
        TRY(order_over_aggregate(select, output, &(*expr)->args[i], err));
    return OK;
}

static enum status select_order(struct select *select, struct attribute *const *output,
                                struct error *err)
{
    if (select->tail == NULL ||
        (select->tail->order_by.count == 0 && select->tail->sort_by.count == 0 &&
         select->tail->cluster_by.count == 0))
        return OK;
    select->order_global = select->tail->order_by.count > 0;
    bool distinct = select->ast->quantifier == AST_QUANTIFIER_DISTINCT;
    struct scope *plain = output_scope(select, output, NULL);
    struct scope *scope = distinct ? plain : output_scope(select, output, select->input.scope);
    TRY(resolve_order_keys(select, scope, plain, err));
    TRY(check_order_keys(select, err));
    for (uint32_t i = 0; select->aggregated && i < select->order_count; i++) {
        enum status status = order_over_aggregate(select, output, &select->order[i].expr, err);
        if (status != OK)
            return having_error(select, status, err);
    }
    return OK;
}

/* ---- the nodes ---- */

/* The output of the list: a plain column keeps its id, so that it is the same column above. */
static struct attribute **select_output(struct select *select)
{
    struct analyzer *analyzer = select->analyzer;
    struct attribute **output =
        arena_new_object(analyzer->arena, (select->items.count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < select->items.count; i++) {
        const struct select_item *item = &select->items.items[i];
        uint32_t id = item->alias_id;
        if (id == 0)
            id = item->expr->kind == EXPR_COLUMN ? item->expr->column.attribute_id
                                                 : analyzer->next_id++;
        output[i] =
            attribute_new(analyzer->arena, id, item->name, item->expr->type, item->expr->nullable);
    }
    return output;
}

static struct logical_node *build_project(struct select *select, struct logical_node *child,
                                          struct attribute **output)
{
    struct analyzer *analyzer = select->analyzer;
    uint32_t count = select->items.count;
    struct expr **exprs = arena_new_object(analyzer->arena, (count + select->order_count + 1) *
                                                                sizeof(struct expr *));
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = select->items.items[i].expr;
        output[i]->nullable = exprs[i]->nullable;
        mark_event_time(analyzer, exprs[i], child, output[i]);
    }
    struct logical_node *node = logical_project(analyzer->arena, child, exprs, output, count);
    const struct ast_group_by *group_by = select->ast->group_by;
    bool grouped = group_by != NULL && child->kind == LOGICAL_AGGREGATE;
    return analyzer_node(analyzer, node, grouped ? group_by->position : select->ast->position,
                         grouped ? group_by->position_end : select->ast->position_end);
}

struct output_rewrite {
    const struct logical_node *project;
    uint32_t count;
};

static struct expr *put_output(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arena;
    const struct output_rewrite *rewrite = arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    for (uint32_t i = 0; i < rewrite->count; i++)
        if (rewrite->project->output[i]->id == expr->column.attribute_id)
            return rewrite->project->project.exprs[i];
    return expr;
}

struct output_test {
    const struct select *select;
    struct attribute *const *output;
    bool all;
};

static bool test_output(const struct expr *expr, void *arg)
{
    struct output_test *test = arg;
    if (expr->kind == EXPR_COLUMN &&
        !is_output(test->select, test->output, expr->column.attribute_id))
        test->all = false;
    return test->all;
}

/* ORDER BY needs columns that are not selected: they ride along and are dropped above the sort. */
static uint32_t add_hidden_keys(struct select *select, struct logical_node *project)
{
    struct analyzer *analyzer = select->analyzer;
    uint32_t count = select->items.count, total = count;
    struct attribute **output = arena_new_object(
        analyzer->arena, (count + select->order_count + 1) * sizeof(struct attribute *));
    memcpy(output, project->output, count * sizeof(struct attribute *));
    struct output_rewrite rewrite = {.project = project, .count = count};
    for (uint32_t i = 0; i < select->order_count; i++) {
        struct output_test test = {.select = select, .output = output, .all = true};
        expr_walk(select->order[i].expr, test_output, &test);
        if (test.all)
            continue;
        struct expr *over =
            expr_rewrite(analyzer->arena, select->order[i].expr, put_output, &rewrite);
        output[total] = analyzer_attribute(analyzer, "sortkey", over->type, over->nullable);
        project->project.exprs[total] = over;
        select->order[i].expr = attribute_expr(analyzer->arena, output[total++]);
    }
    project->output = output;
    project->output_count = total;
    return total;
}

static struct logical_node *build_sort(struct select *select, struct logical_node *child,
                                       struct attribute **output)
{
    struct analyzer *analyzer = select->analyzer;
    if (select->order_count == 0)
        return child;
    uint32_t count = select->items.count, total = count;
    if (child->kind == LOGICAL_PROJECT)
        total = add_hidden_keys(select, child);
    struct logical_node *sort = logical_over(analyzer->arena, LOGICAL_SORT, child);
    analyzer_node(analyzer, sort, select->tail->position, select->tail->position_end);
    sort->sort.keys = select->order;
    sort->sort.key_count = select->order_count;
    sort->sort.global = select->order_global;
    if (total == count)
        return sort;
    struct expr **exprs = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < count; i++)
        exprs[i] = attribute_expr(analyzer->arena, output[i]);
    return logical_project(analyzer->arena, sort, exprs, output, count);
}

static enum status build_distinct(struct select *select, struct logical_node **node,
                                  struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    if (select->ast->quantifier != AST_QUANTIFIER_DISTINCT)
        return OK;
    for (uint32_t i = 0; i < (*node)->output_count; i++)
        TRY(check_set_column(analyzer, (*node)->output[i], (*node)->output[i]->type,
                             select->ast->position, select->ast->position_end, err));
    TRY(distinct_node(analyzer, node, err));
    analyzer_node(analyzer, *node, select->ast->position, select->ast->position_end);
    return OK;
}

static void build_windows(struct select *select, struct logical_node **node)
{
    struct analyzer *analyzer = select->analyzer;
    uint32_t count = select->items.count;
    struct expr **slots = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < count; i++)
        slots[i] = select->items.items[i].expr;
    slots[count] = select->qualify;
    struct logical_node *below = *node;
    extract_windows(analyzer, slots, count + (select->qualify != NULL), node);
    for (struct logical_node *made = *node; made != below; made = made->children[0])
        analyzer_node(analyzer, made, select->ast->position, select->ast->position_end);
    for (uint32_t i = 0; i < count; i++)
        select->items.items[i].expr = slots[i];
    if (select->qualify == NULL)
        return;
    *node = logical_filter(analyzer->arena, *node, slots[count]);
    analyzer_node(analyzer, *node, select->ast->position, select->ast->position_end);
}

static enum status build(struct select *select, struct relation *out, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    struct pending_generators generators = {0};
    if (select->aggregated)
        TRY(aggregate_slots(select, err));
    TRY(split_generators(analyzer, &select->items, &generators, err));
    /* ORDER BY may add aggregates, so its keys come before the node of the aggregate. */
    struct attribute **output = select_output(select);
    TRY(select_order(select, output, err));
    struct logical_node *node = select->input.node;
    if (select->aggregated) {
        TRY(grouping_node(analyzer, &select->grouping, node, &node, err));
        if (select->having != NULL) {
            node = logical_filter(analyzer->arena, node, select->having);
            analyzer_node(analyzer, node, select->ast->position, select->ast->position_end);
            node->filter.having = true;
        }
    }
    build_windows(select, &node);
    TRY(build_generators(analyzer, &generators, &node, err));
    node = build_project(select, node, output);
    TRY(build_distinct(select, &node, err));
    out->node = build_sort(select, node, output);
    out->scope = scope_new(analyzer, out->node, NULL, select->outer);
    return resolve_limit(analyzer, select->tail, out, err);
}

static enum status raise_qualify_aggregate(struct select *select, struct error *err)
{
    const struct expr *at = select->qualify;
    while (at->kind != EXPR_AGGREGATE) {
        uint32_t i = 0;
        while (i + 1 < at->arg_count && !expr_has_aggregate(at->args[i]))
            i++;
        at = at->args[i];
    }
    return error_raise_at(err, STATUS_QUALIFY_AGGREGATE_NOT_ALLOWED, at->position, at->position_end,
                          "aggregateExpr", expr_sql(select->analyzer, at), NULL);
}

static enum status select_qualify(struct select *select, struct error *err)
{
    if (select->ast->qualify == NULL)
        return OK;
    struct resolver resolver = select_resolver(select, CLAUSE_SELECT);
    resolver.aliases = select->aliases;
    resolver.alias_count = select->alias_count;
    TRY(resolve_expr(&resolver, select->ast->qualify, &select->qualify, err));
    if (resolver.used_alias)
        select->qualify = expr_rewrite(select->analyzer->arena, select->qualify, put_alias, select);
    bool aggregated = select->ast->group_by != NULL;
    for (uint32_t i = 0; i < select->items.count; i++)
        aggregated = aggregated || expr_has_aggregate(select->items.items[i].expr);
    if (!aggregated && expr_has_aggregate(select->qualify))
        return raise_qualify_aggregate(select, err);
    bool windowed = expr_has_window(select->qualify);
    for (uint32_t i = 0; i < select->items.count; i++)
        windowed = windowed || expr_has_window(select->items.items[i].expr);
    if (!windowed)
        return error_raise(err, STATUS_QUALIFY_REQUIRES_WINDOW_FUNCTION, NULL);
    if (select->qualify->type->id != TYPE_BOOLEAN) {
        if (!type_is_numeric(select->qualify->type))
            return raise_filter_type(select, select->qualify, err);
        select->qualify =
            coercion_cast(&select->analyzer->functions, select->qualify, type_simple(TYPE_BOOLEAN));
    }
    return OK;
}

static enum status select_grouping(struct select *select, struct error *err)
{
    select->grouping.position = select->ast->position;
    select->grouping.position_end = select->ast->position_end;
    if (select->ast->group_by == NULL)
        return OK;
    select->grouping.present = true;
    struct resolver resolver = select_resolver(select, CLAUSE_GROUP_BY);
    return grouping_keys(&resolver, select->ast->group_by, &select->items, &select->grouping, err);
}

/* The condition is that of any unknown name; what is wrong is the window. */
static void say_why_no_window(struct error *err, const struct error *cause)
{
    const char *name = error_param(err, "objectName");
    if (name == NULL ||
        (strncasecmp(name, "`window`", 8) != 0 && strncasecmp(name, "`session_window`", 16) != 0))
        return;
    char text[ERROR_TEXT_MAX];
    (void)snprintf(text, sizeof text,
                   "Column %.200s cannot be resolved, for GROUP BY makes no such window: %.600s",
                   name, cause->text);
    (void)snprintf(err->text, sizeof err->text, "%s", text);
}

/* A window() of GROUP BY that cannot be makes no column `window`: a list that names it is what the
 * error is about, as any unknown name of the list is. */
static enum status without_window(struct select *select, struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    if (strncmp(status_name(err->status), "DATATYPE_MISMATCH", 17) != 0)
        return err->status;
    struct error other = ERROR_INIT;
    struct diagnostics *diagnostics = analyzer->diagnostics;
    analyzer->diagnostics = NULL;
    enum status status = select_list(select, &other);
    analyzer->diagnostics = diagnostics;
    if (status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION ||
        status == STATUS_UNRESOLVED_COLUMN__WITHOUT_SUGGESTION) {
        struct error cause = *err;
        say_why_no_window(&other, &cause);
        *err = other;
        if (diagnostics != NULL) { /* where all is said, the window is, too */
            analyzer_collect(analyzer, &other);
            analyzer_collect(analyzer, &cause);
        }
    }
    return err->status;
}

static enum status select_parts(struct select *select, struct relation *input, struct relation *out,
                                struct error *err)
{
    struct analyzer *analyzer = select->analyzer;
    const struct ast_select *ast = select->ast;
    TRY(select_from(select, input, err));
    select->quiet = analyzer->broken != select->broken;
    if (ast->where != NULL) {
        struct resolver resolver = select_resolver(select, CLAUSE_WHERE);
        resolver.collect = analyzer->diagnostics != NULL && !select->quiet;
        resolver.later = &ast->items;
        uint32_t before = collected_before(select);
        enum status status = select_where(analyzer, ast->where, &resolver, &select->input,
                                          ast->position, ast->position_end, err);
        TRY(analyzer_go_on(analyzer, before, status, err));
    }
    if (resolve_group_windows(select, err) != OK)
        return without_window(select, err);
    TRY(select_list(select, err));
    TRY(select_having(select, err));
    TRY(select_qualify(select, err));
    select->aggregated = select_is_aggregate(select);
    if (select->aggregated)
        TRY(select_grouping(select, err));
    return build(select, out, err);
}

enum status resolve_select(struct analyzer *analyzer, const struct ast_select *ast,
                           const struct ast_tail *tail, struct scope *outer,
                           struct expr_list *outer_refs, struct relation *input,
                           struct relation *out, struct error *err)
{
    struct select select = {
        .analyzer = analyzer,
        .ast = ast,
        .tail = tail,
        .outer = outer,
        .outer_refs = outer_refs,
        .broken = analyzer->broken,
    };
    enum status status = select_parts(&select, input, out, err);
    if (status != OK && err->pointer[0] == '\0' && err->view[0] == '\0')
        (void)error_at(err, ast->position, ast->position_end); /* if it has no place of its own */
    return status;
}
