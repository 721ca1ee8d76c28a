/*
 * Queries: WITH, set operations, VALUES and TABLE terms, ORDER BY ... OFFSET.
 */
#include "analyze/analyzer.h"
#include "analyze/relation.h"
#include "base/check.h"
#include "expr/coercion.h"
#include "expr/program.h"
#include "spec/conf.h"

#include <stdio.h>
#include <strings.h>

/* ---- WITH ---- */

static enum status push_ctes(struct analyzer *analyzer, const struct ast_query *ast,
                             struct error *err)
{
    struct cte_scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->items = arena_new_object(analyzer->arena, (ast->cte_count + 1) * sizeof *scope->items);
    scope->outer = analyzer->ctes;
    for (size_t i = 0; i < ast->cte_count; i++) {
        struct cte *cte = &scope->items[i];
        cte->name = name_text(analyzer, &ast->ctes[i].name);
        cte->ast = &ast->ctes[i];
        for (size_t j = 0; j < i; j++)
            if (name_equal(analyzer, scope->items[j].name, cte->name))
                return error_raise(err, STATUS_DUPLICATED_CTE_NAMES, "duplicateNames",
                                   text_quoted(analyzer, cte->name), NULL);
        /* A CTE sees those before it. */
        struct cte_scope *before = arena_new_object(analyzer->arena, sizeof *before);
        before->items = scope->items;
        before->count = ast->recursive ? (uint32_t)i + 1 : (uint32_t)i;
        before->outer = scope->outer;
        cte->scope = before;
    }
    scope->count = (uint32_t)ast->cte_count;
    analyzer->ctes = scope;
    return OK;
}

/* Each CTE is resolved where it is defined, even if nothing uses it. */
static enum status check_ctes(struct analyzer *analyzer, const struct ast_query *ast,
                              struct error *err)
{
    struct cte_scope *scope = analyzer->ctes;
    for (size_t i = 0; i < ast->cte_count; i++) {
        struct cte *cte = &scope->items[i];
        struct relation ignored;
        uint32_t relations = analyzer->analysis->relation_count;
        uint32_t watermarks = analyzer->analysis->watermark_count;
        TRY(resolve_cte(analyzer, cte, &ignored, err));
        analyzer->analysis->relation_count = relations;
        analyzer->analysis->watermark_count = watermarks;
    }
    return OK;
}

enum status resolve_cte(struct analyzer *analyzer, struct cte *cte, struct relation *out,
                        struct error *err)
{
    if (cte->busy && cte->ast->query->term->kind != AST_TERM_SET)
        return error_raise(err, STATUS_INVALID_RECURSIVE_CTE, NULL);
    if (cte->busy)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, cte->ast->position, cte->ast->position_end,
                              "feature", "A recursive CTE", NULL);
    struct cte_scope *saved = analyzer->ctes;
    analyzer->ctes = cte->scope;
    cte->busy = true;
    enum status status = resolve_query(analyzer, cte->ast->query, NULL, NULL, out, err);
    cte->busy = false;
    analyzer->ctes = saved;
    if (status != OK)
        return status;
    return scope_alias(analyzer, out, &cte->ast->name, &cte->ast->columns, cte->ast->name.position,
                       cte->ast->name.position_end, err);
}

/* ---- set operations ---- */

static const char *set_name(const struct ast_term *ast)
{
    bool all = ast->set.quantifier == AST_QUANTIFIER_ALL;
    switch (ast->set.kind) {
    case AST_SET_UNION:
        return "UNION";
    case AST_SET_EXCEPT:
        return all ? "EXCEPT ALL" : "EXCEPT";
    case AST_SET_INTERSECT:
        return all ? "INTERSECT ALL" : "INTERSECT";
    }
    return "";
}

static enum status raise_columns(const struct ast_term *ast, uint32_t left, uint32_t right,
                                 struct error *err)
{
    char first[16], second[16];
    (void)snprintf(first, sizeof first, "%u", left);
    (void)snprintf(second, sizeof second, "%u", right);
    return error_raise_at(err, STATUS_NUM_COLUMNS_MISMATCH, ast->position, ast->position_end,
                          "operator", set_name(ast), "firstNumColumns", first, "invalidOrdinalNum",
                          "second", "invalidNumColumns", second, NULL);
}

static enum status raise_types(struct analyzer *analyzer, const struct ast_term *ast,
                               uint32_t column, const struct type *left, const struct type *right,
                               struct error *err)
{
    return error_raise_at(err, STATUS_INCOMPATIBLE_COLUMN_TYPE, ast->position, ast->position_end,
                          "tableOrdinalNumber", "second", "columnOrdinalNumber",
                          ordinal_word(column), "dataType2", type_quoted(analyzer, left),
                          "operator", set_name(ast), "hint", "", "dataType1",
                          type_quoted(analyzer, right), NULL);
}

/* The visible columns of a relation, in the order of its scope, as a node of its own. */
struct logical_node *relation_visible(struct analyzer *analyzer, const struct relation *relation)
{
    const struct scope *scope = relation->scope;
    uint32_t count = 0;
    bool same = scope->count == relation->node->output_count;
    for (uint32_t i = 0; i < scope->count; i++) {
        same = same && !scope->columns[i].qualified_only &&
               scope->columns[i].attribute == relation->node->output[i] &&
               strcmp(scope->columns[i].name, relation->node->output[i]->name) == 0;
        count += !scope->columns[i].qualified_only;
    }
    if (same)
        return relation->node;
    struct expr **exprs = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    struct attribute **output =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct attribute *));
    uint32_t at = 0;
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (column->qualified_only)
            continue;
        exprs[at] = attribute_expr(analyzer->arena, column->attribute);
        output[at] = arena_new_object(analyzer->arena, sizeof(struct attribute));
        *output[at] = *column->attribute;
        output[at]->id = analyzer->next_id++;
        output[at++]->name = column->name;
    }
    struct logical_node *node =
        logical_project(analyzer->arena, relation->node, exprs, output, count);
    return node;
}

static struct logical_node *cast_columns(struct analyzer *analyzer, struct logical_node *node,
                                         const struct type *const *types)
{
    bool same = true;
    for (uint32_t i = 0; i < node->output_count; i++)
        same = same && type_equal(node->output[i]->type, types[i]);
    if (same)
        return node;
    struct expr **exprs =
        arena_new_object(analyzer->arena, (node->output_count + 1) * sizeof(struct expr *));
    struct attribute **output =
        arena_new_object(analyzer->arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        struct expr *column = attribute_expr(analyzer->arena, node->output[i]);
        exprs[i] = coercion_cast(&analyzer->functions, column, types[i]);
        output[i] = node->output[i];
        if (exprs[i] != column)
            output[i] =
                analyzer_attribute(analyzer, node->output[i]->name, types[i], exprs[i]->nullable);
    }
    return logical_project(analyzer->arena, node, exprs, output, node->output_count);
}

static enum status common_types(struct analyzer *analyzer, const struct ast_term *ast,
                                const struct logical_node *left, const struct logical_node *right,
                                const struct type ***out, struct error *err)
{
    if (left->output_count != right->output_count)
        return raise_columns(ast, left->output_count, right->output_count, err);
    *out = arena_new_object(analyzer->arena, (left->output_count + 1) * sizeof(struct type *));
    for (uint32_t i = 0; i < left->output_count; i++) {
        const struct type *a = left->output[i]->type, *b = right->output[i]->type;
        bool same = type_equal(a, b); /* UNION takes structs whose fields have other names */
        if (ast->set.kind == AST_SET_UNION)
            same = type_equal_unnamed(a, b);
        (*out)[i] = same ? a : coercion_common(&analyzer->functions, a, b);
        if ((*out)[i] == NULL)
            return raise_types(analyzer, ast, i, a, b, err);
        bool distinct = ast->set.kind != AST_SET_UNION || ast->set.quantifier != AST_QUANTIFIER_ALL;
        if (distinct)
            TRY(check_set_column(analyzer, left->output[i], (*out)[i], ast->position,
                                 ast->position_end, err));
    }
    return OK;
}

/* What is not possible there is the operation, not what it is between. */
static void place_set(struct analyzer *analyzer, const struct ast_term *ast,
                      struct logical_node *node)
{
    bool written = ast->set.word_end > 0;
    analyzer_node(analyzer, node, written ? ast->set.word : ast->position,
                  written ? ast->set.word_end : ast->position_end);
}

static struct logical_node *set_node(struct analyzer *analyzer, const struct ast_term *ast,
                                     struct logical_node *left, struct logical_node *right)
{
    struct logical_node *children[] = {left, right};
    enum logical_kind kind = ast->set.kind == AST_SET_UNION ? LOGICAL_UNION : LOGICAL_SET_OPERATION;
    struct logical_node *node = logical_new(analyzer->arena, kind, children, 2);
    place_set(analyzer, ast, node);
    node->output_count = left->output_count;
    node->output =
        arena_new_object(analyzer->arena, (left->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < left->output_count; i++) {
        struct attribute *copy = arena_new_object(analyzer->arena, sizeof *copy);
        *copy = *left->output[i];
        copy->id = analyzer->next_id++;
        if (ast->set.kind != AST_SET_EXCEPT)
            copy->nullable = copy->nullable || right->output[i]->nullable;
        node->output[i] = copy;
    }
    if (kind == LOGICAL_SET_OPERATION) {
        node->set_operation.all = ast->set.quantifier == AST_QUANTIFIER_ALL;
        node->set_operation.is_intersect = ast->set.kind == AST_SET_INTERSECT;
    }
    return node;
}

enum status resolve_set_operation(struct analyzer *analyzer, const struct ast_term *ast,
                                  struct relation *left, struct relation *right,
                                  struct relation *out, struct error *err)
{
    struct logical_node *a = relation_visible(analyzer, left);
    struct logical_node *b = relation_visible(analyzer, right);
    const struct type **types = NULL;
    TRY(common_types(analyzer, ast, a, b, &types, err));
    a = cast_columns(analyzer, a, types);
    b = cast_columns(analyzer, b, types);
    out->node = set_node(analyzer, ast, a, b);
    if (ast->set.kind == AST_SET_UNION && ast->set.quantifier != AST_QUANTIFIER_ALL) {
        out->node = logical_over(analyzer->arena, LOGICAL_DISTINCT, out->node);
        place_set(analyzer, ast, out->node);
    }
    out->scope = scope_new(analyzer, out->node, NULL, left->scope->outer);
    return OK;
}

/* ---- ORDER BY ... OFFSET over names of the output only ---- */

static enum status limit_value(struct analyzer *analyzer, const struct ast_expr *ast,
                               const char *what, int64_t *out, struct error *err)
{
    struct scope *empty = arena_new_object(analyzer->arena, sizeof *empty);
    struct resolver resolver = resolver_of(analyzer, empty, CLAUSE_OTHER, NULL);
    struct expr *expr;
    TRY(resolve_expr(&resolver, ast, &expr, err));
    const char *sql = expr_sql(analyzer, expr);
    if (!expr_is_foldable(expr))
        return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__IS_UNFOLDABLE,
                              ast->position, ast->position_end, "name", what, "expr", sql, NULL);
    enum type_id id = expr->type->id;
    if (id != TYPE_INT && id != TYPE_BYTE && id != TYPE_SHORT)
        return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__DATA_TYPE, ast->position,
                              ast->position_end, "name", what, "expr", sql, "dataType",
                              type_quoted(analyzer, expr->type), NULL);
    struct vector *value;
    expr = coercion_cast(&analyzer->functions, expr, type_simple(TYPE_LONG));
    TRY(expr_constant(analyzer->arena, expr, analyzer->functions.time_zone, &value, err));
    if (vector_is_null(value, 0))
        return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__IS_NULL, ast->position,
                              ast->position_end, "name", what, "expr", sql, NULL);
    *out = VECTOR_VALUES(int64_t, value)[0];
    if (*out < 0)
        return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__IS_NEGATIVE, ast->position,
                              ast->position_end, "name", what, "expr", sql, "v",
                              arena_sprintf(analyzer->arena, "%lld", (long long)*out), NULL);
    return OK;
}

enum status resolve_limit(struct analyzer *analyzer, const struct ast_tail *tail,
                          struct relation *relation, struct error *err)
{
    if (tail == NULL || (tail->limit == NULL && tail->offset == NULL))
        return OK;
    int64_t limit = -1, offset = 0;
    if (tail->limit != NULL)
        TRY(limit_value(analyzer, tail->limit, "limit", &limit, err));
    if (tail->offset != NULL)
        TRY(limit_value(analyzer, tail->offset, "offset", &offset, err));
    if (limit >= 0 && limit + offset > INT32_MAX)
        return error_raise_at(err, STATUS_SUM_OF_LIMIT_AND_OFFSET_EXCEEDS_MAX_INT, tail->position,
                              tail->position_end, "limit",
                              arena_sprintf(analyzer->arena, "%lld", (long long)limit), "offset",
                              arena_sprintf(analyzer->arena, "%lld", (long long)offset), NULL);
    relation->node = logical_over(analyzer->arena, LOGICAL_LIMIT, relation->node);
    analyzer_node(analyzer, relation->node, tail->position, tail->position_end);
    relation->node->limit.limit = limit;
    relation->node->limit.offset = offset;
    return OK;
}

static bool is_order_all(const struct ast_sort_list *list)
{
    return list->count == 1 && list->items[0].expr->kind == AST_EXPR_COLUMN &&
           list->items[0].expr->column.count == 1 && !list->items[0].expr->column.parts[0].quoted &&
           list->items[0].expr->column.parts[0].text.size_bytes == 3 &&
           strncasecmp((const char *)list->items[0].expr->column.parts[0].text.data, "all", 3) == 0;
}

enum status order_position(struct analyzer *analyzer, const struct ast_sort_item *item,
                           uint32_t size, uint32_t *out, struct error *err)
{
    *out = UINT32_MAX;
    const struct ast_expr *ast = item->expr;
    if (ast->kind != AST_EXPR_LITERAL || ast->literal.kind != AST_LITERAL_INT ||
        !conf_bool(&analyzer->spec->conf, CONF_orderByOrdinal))
        return OK;
    if (ast->literal.integer < 1 || ast->literal.integer > size)
        return error_raise_at(
            err, STATUS_ORDER_BY_POS_OUT_OF_RANGE, ast->position, ast->position_end, "index",
            arena_sprintf(analyzer->arena, "%lld", (long long)ast->literal.integer), "size",
            arena_sprintf(analyzer->arena, "%u", size), NULL);
    *out = (uint32_t)ast->literal.integer - 1;
    return OK;
}

void sort_direction(const struct ast_sort_item *item, struct sort_key *key)
{
    key->descending = item->order == AST_ORDER_DESC;
    key->nulls_first =
        item->nulls == AST_NULLS_DEFAULT ? !key->descending : item->nulls == AST_NULLS_FIRST;
}

struct sort_key *order_all_keys(struct analyzer *analyzer, const struct ast_sort_list *list,
                                const struct scope *scope, uint32_t *count)
{
    if (!is_order_all(list) || scope_find(analyzer, scope, "all") != NULL)
        return NULL;
    struct sort_key *keys = arena_new_object(analyzer->arena, (scope->count + 1) * sizeof *keys);
    *count = scope->count;
    for (uint32_t i = 0; i < scope->count; i++) {
        keys[i].expr = attribute_expr(analyzer->arena, scope->columns[i].attribute);
        sort_direction(&list->items[0], &keys[i]);
    }
    return keys;
}

/* CLUSTER BY a is DISTRIBUTE BY a SORT BY a. */
struct ast_sort_list cluster_keys(struct analyzer *analyzer, const struct ast_tail *tail)
{
    struct ast_sort_list list = {.count = tail->cluster_by.count};
    list.items = arena_new_object(analyzer->arena, (list.count + 1) * sizeof *list.items);
    for (size_t i = 0; i < list.count; i++) {
        list.items[i].expr = tail->cluster_by.items[i];
        list.items[i].position = tail->cluster_by.items[i]->position;
        list.items[i].position_end = tail->cluster_by.items[i]->position_end;
    }
    return list;
}

static enum status order_key(struct resolver *resolver, const struct ast_tail *tail,
                             const struct ast_sort_item *item, struct sort_key *key,
                             struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    uint32_t position;
    TRY(order_position(analyzer, item, resolver->scope->count, &position, err));
    if (position != UINT32_MAX) {
        key->expr = attribute_expr(analyzer->arena, resolver->scope->columns[position].attribute);
        sort_direction(item, key);
        return OK;
    }
    TRY(resolve_sort_key(resolver, item, key, err));
    if (expr_has_aggregate(key->expr) || expr_has_window(key->expr))
        return raise_operator(analyzer, key->expr, "Sort", tail->position, tail->position_end, err);
    return OK;
}

static enum status resolve_order(struct analyzer *analyzer, const struct ast_tail *tail,
                                 struct expr_list *outer_refs, struct relation *relation,
                                 struct error *err)
{
    const struct ast_sort_list *list = &tail->order_by;
    bool global = list->count > 0;
    struct ast_sort_list cluster = cluster_keys(analyzer, tail);
    if (!global)
        list = tail->sort_by.count > 0 ? &tail->sort_by : &cluster;
    if (list->count == 0)
        return OK;
    uint32_t count = (uint32_t)list->count;
    struct sort_key *keys = order_all_keys(analyzer, list, relation->scope, &count);
    struct resolver resolver = resolver_of(analyzer, relation->scope, CLAUSE_ORDER_BY, outer_refs);
    resolver.windows = &tail->windows;
    if (keys == NULL) {
        keys = arena_new_object(analyzer->arena, (count + 1) * sizeof *keys);
        for (uint32_t i = 0; i < count; i++)
            TRY(order_key(&resolver, tail, &list->items[i], &keys[i], err));
    }
    relation->node = logical_over(analyzer->arena, LOGICAL_SORT, relation->node);
    analyzer_node(analyzer, relation->node, tail->position, tail->position_end);
    relation->node->sort.keys = keys;
    relation->node->sort.key_count = count;
    relation->node->sort.global = global;
    return OK;
}

enum status resolve_tail(struct analyzer *analyzer, const struct ast_tail *tail,
                         struct scope *outer, struct expr_list *outer_refs,
                         struct relation *relation, struct error *err)
{
    (void)outer;
    if (tail == NULL)
        return OK;
    TRY(resolve_order(analyzer, tail, outer_refs, relation, err));
    return resolve_limit(analyzer, tail, relation, err);
}

/* ---- terms ---- */

static enum status resolve_table_term(struct analyzer *analyzer, const struct ast_term *ast,
                                      struct scope *outer, struct relation *out, struct error *err)
{
    struct ast_relation *relation = arena_new_object(analyzer->arena, sizeof *relation);
    relation->position = ast->position;
    relation->position_end = ast->position_end;
    relation->kind = AST_RELATION_TABLE;
    relation->table.name = ast->table;
    return resolve_relation(analyzer, relation, outer, NULL, out, err);
}

/* With a collector the right side is looked at even if the left one is wrong. */
static enum status resolve_sides(struct analyzer *analyzer, const struct ast_term *ast,
                                 struct scope *outer, struct expr_list *outer_refs,
                                 struct relation sides[2], struct error *err)
{
    uint32_t before = analyzer->broken;
    enum status status = resolve_term(analyzer, ast->set.left, outer, outer_refs, &sides[0], err);
    if (status == OK)
        return resolve_term(analyzer, ast->set.right, outer, outer_refs, &sides[1], err);
    if (analyzer->diagnostics == NULL)
        return status;
    struct error first = *err;
    TRY(analyzer_go_on(analyzer, before, status, err));
    before = analyzer->broken;
    TRY(analyzer_go_on(analyzer, before,
                       resolve_term(analyzer, ast->set.right, outer, outer_refs, &sides[1], err),
                       err));
    *err = first;
    return status;
}

enum status resolve_term(struct analyzer *analyzer, const struct ast_term *ast, struct scope *outer,
                         struct expr_list *outer_refs, struct relation *out, struct error *err)
{
    struct relation sides[2];
    switch (ast->kind) {
    case AST_TERM_SELECT:
        return resolve_select(analyzer, ast->select, NULL, outer, outer_refs, NULL, out, err);
    case AST_TERM_TABLE:
        return resolve_table_term(analyzer, ast, outer, out, err);
    case AST_TERM_VALUES:
        return resolve_relation(analyzer, ast->values, outer, outer_refs, out, err);
    case AST_TERM_QUERY:
        return resolve_query(analyzer, ast->query, outer, outer_refs, out, err);
    case AST_TERM_SET:
        TRY(resolve_sides(analyzer, ast, outer, outer_refs, sides, err));
        return resolve_set_operation(analyzer, ast, &sides[0], &sides[1], out, err);
    case AST_TERM_PIPE:
        return resolve_pipe(analyzer, ast, outer, outer_refs, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown kind of term");
}

static enum status resolve_body(struct analyzer *analyzer, const struct ast_query *ast,
                                struct scope *outer, struct expr_list *outer_refs,
                                struct relation *out, struct error *err)
{
    if (ast->cte_count > 0) {
        TRY(push_ctes(analyzer, ast, err));
        TRY(check_ctes(analyzer, ast, err));
    }
    if (ast->term->kind == AST_TERM_SELECT)
        TRY(resolve_select(analyzer, ast->term->select, ast->tail, outer, outer_refs, NULL, out,
                           err));
    else {
        TRY(resolve_term(analyzer, ast->term, outer, outer_refs, out, err));
        TRY(resolve_tail(analyzer, ast->tail, outer, outer_refs, out, err));
    }
    out->node = relation_visible(analyzer, out);
    out->scope = scope_new(analyzer, out->node, NULL, outer);
    return OK;
}

enum status resolve_query(struct analyzer *analyzer, const struct ast_query *ast,
                          struct scope *outer, struct expr_list *outer_refs, struct relation *out,
                          struct error *err)
{
    if (++analyzer->depth > ANALYZE_DEPTH_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "The nesting of queries", "limit",
                           "256 levels", NULL);
    struct cte_scope *saved = analyzer->ctes;
    enum status status = resolve_body(analyzer, ast, outer, outer_refs, out, err);
    analyzer->ctes = saved;
    analyzer->depth--;
    return status;
}
