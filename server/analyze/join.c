/*
 * Joins of FROM: kinds, ON, USING, NATURAL, LATERAL.
 *
 * USING and NATURAL are a matter of the scope: the key is visible once, in front; the keys of both
 * sides stay addressable with their qualifier.
 */
#include "analyze/analyzer.h"
#include "analyze/check_join.h"
#include "analyze/relation.h"
#include "base/check.h"
#include "expr/coercion.h"

static enum logical_join join_kind(enum ast_join_kind kind, bool has_condition)
{
    switch (kind) {
    case AST_JOIN_COMMA:
    case AST_JOIN_CROSS:
        return LOGICAL_JOIN_CROSS;
    case AST_JOIN_INNER:
        return has_condition ? LOGICAL_JOIN_INNER : LOGICAL_JOIN_CROSS;
    case AST_JOIN_LEFT:
        return LOGICAL_JOIN_LEFT;
    case AST_JOIN_RIGHT:
        return LOGICAL_JOIN_RIGHT;
    case AST_JOIN_FULL:
        return LOGICAL_JOIN_FULL;
    case AST_JOIN_LEFT_SEMI:
        return LOGICAL_JOIN_LEFT_SEMI;
    case AST_JOIN_LEFT_ANTI:
        return LOGICAL_JOIN_LEFT_ANTI;
    }
    return LOGICAL_JOIN_INNER;
}

static void add_side(struct analyzer *analyzer, struct logical_node *node,
                     const struct logical_node *side, bool nullable)
{
    for (uint32_t i = 0; i < side->output_count; i++) {
        struct attribute *attribute = side->output[i];
        if (nullable && !attribute->nullable) {
            struct attribute *copy = arena_new_object(analyzer->arena, sizeof *copy);
            *copy = *attribute;
            copy->nullable = true;
            attribute = copy;
        }
        node->output[node->output_count++] = attribute;
    }
}

static struct logical_node *join_node(struct analyzer *analyzer, struct logical_node *left,
                                      struct logical_node *right, enum logical_join kind)
{
    struct logical_node *children[] = {left, right};
    struct logical_node *node = logical_new(analyzer->arena, LOGICAL_JOIN, children, 2);
    node->join.kind = kind;
    node->output =
        arena_new_object(analyzer->arena, (left->output_count + right->output_count + 1) *
                                              sizeof(struct attribute *));
    add_side(analyzer, node, left, kind == LOGICAL_JOIN_RIGHT || kind == LOGICAL_JOIN_FULL);
    if (kind != LOGICAL_JOIN_LEFT_SEMI && kind != LOGICAL_JOIN_LEFT_ANTI)
        add_side(analyzer, node, right,
                 kind == LOGICAL_JOIN_LEFT || kind == LOGICAL_JOIN_FULL ||
                     kind == LOGICAL_JOIN_SINGLE);
    return node;
}

/* ---- USING, NATURAL ---- */

struct using_keys {
    const char **names;
    struct scope_column **left, **right;
    uint32_t count;
};

static enum status raise_using(struct analyzer *analyzer, const char *name, const char *side,
                               const struct scope *scope, struct error *err)
{
    return error_raise(err, STATUS_UNRESOLVED_USING_COLUMN_FOR_JOIN, "colName",
                       text_quoted(analyzer, name), "side", side, "suggestion",
                       scope_suggestions(analyzer, scope, name, 1), NULL);
}

static enum status find_using(struct analyzer *analyzer, const struct ast_join *join,
                              const struct scope *left, const struct scope *right,
                              struct using_keys *keys, struct error *err)
{
    for (size_t i = 0; i < join->using_columns.count; i++) {
        const char *name = name_text(analyzer, &join->using_columns.items[i]);
        struct scope_column *a = scope_find(analyzer, left, name);
        struct scope_column *b = scope_find(analyzer, right, name);
        if (a == NULL)
            return raise_using(analyzer, name, "left", left, err);
        if (b == NULL)
            return raise_using(analyzer, name, "right", right, err);
        keys->names[keys->count] = name;
        keys->left[keys->count] = a;
        keys->right[keys->count++] = b;
    }
    return OK;
}

static void find_natural(struct analyzer *analyzer, const struct scope *left,
                         const struct scope *right, struct using_keys *keys)
{
    for (uint32_t i = 0; i < left->count; i++) {
        struct scope_column *a = &left->columns[i];
        struct scope_column *b = a->qualified_only ? NULL : scope_find(analyzer, right, a->name);
        if (b == NULL)
            continue;
        keys->names[keys->count] = a->name;
        keys->left[keys->count] = a;
        keys->right[keys->count++] = b;
    }
}

static enum status keys_condition(struct analyzer *analyzer, const struct using_keys *keys,
                                  const struct ast_relation *ast, struct expr **out,
                                  struct error *err)
{
    *out = NULL;
    for (uint32_t i = 0; i < keys->count; i++) {
        struct expr *equal;
        TRY(function_resolve_2(
            &analyzer->functions, "=", attribute_expr(analyzer->arena, keys->left[i]->attribute),
            attribute_expr(analyzer->arena, keys->right[i]->attribute), &equal, err));
        equal->position = ast->position;
        equal->position_end = ast->position_end;
        if (*out == NULL)
            *out = equal;
        else
            TRY(function_resolve_2(&analyzer->functions, "and", *out, equal, out, err));
    }
    return OK;
}

/* FULL: the key is coalesce(left, right), computed by a projection over the join. */
static enum status coalesce_keys(struct analyzer *analyzer, struct logical_node **node,
                                 const struct using_keys *keys, struct scope_column *columns,
                                 struct error *err)
{
    uint32_t before = (*node)->output_count, count = before + keys->count;
    struct expr **exprs = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    struct attribute **output =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < before; i++) {
        exprs[i] = attribute_expr(analyzer->arena, (*node)->output[i]);
        output[i] = (*node)->output[i];
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        TRY(function_resolve_2(&analyzer->functions, "coalesce",
                               attribute_expr(analyzer->arena, keys->left[i]->attribute),
                               attribute_expr(analyzer->arena, keys->right[i]->attribute),
                               &exprs[before + i], err));
        output[before + i] = analyzer_attribute(analyzer, keys->names[i], exprs[before + i]->type,
                                                exprs[before + i]->nullable);
        columns[i] = (struct scope_column){
            .attribute = output[before + i],
            .name = keys->left[i]->name,
        };
    }
    *node = logical_project(analyzer->arena, *node, exprs, output, count);
    return OK;
}

static bool is_key(struct scope_column *const *keys, uint32_t count,
                   const struct scope_column *column)
{
    for (uint32_t i = 0; i < count; i++)
        if (keys[i] == column)
            return true;
    return false;
}

static void add_columns(struct scope *scope, const struct scope *side,
                        struct scope_column *const *keys, uint32_t key_count)
{
    for (uint32_t i = 0; i < side->count; i++)
        if (!is_key(keys, key_count, &side->columns[i]))
            scope->columns[scope->count++] = side->columns[i];
}

static void add_hidden(struct scope *scope, struct scope_column *const *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct scope_column *column = &scope->columns[scope->count++];
        *column = *keys[i];
        column->qualified_only = true;
    }
}

static enum status using_scope(struct analyzer *analyzer, const struct using_keys *keys,
                               const struct scope *left, const struct scope *right,
                               struct relation *out, struct error *err)
{
    enum logical_join kind = out->node->join.kind;
    bool one_sided = kind == LOGICAL_JOIN_LEFT_SEMI || kind == LOGICAL_JOIN_LEFT_ANTI;
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->columns = arena_new_object(
        analyzer->arena, (left->count + right->count + keys->count + 1) * sizeof *scope->columns);
    scope->outer = left->outer;
    if (kind == LOGICAL_JOIN_FULL)
        TRY(coalesce_keys(analyzer, &out->node, keys, scope->columns, err));
    for (uint32_t i = 0; i < keys->count; i++)
        if (kind == LOGICAL_JOIN_RIGHT)
            scope->columns[i] = *keys->right[i];
        else if (kind != LOGICAL_JOIN_FULL)
            scope->columns[i] = *keys->left[i];
    scope->count = keys->count;
    add_columns(scope, left, keys->left, keys->count);
    if (!one_sided)
        add_columns(scope, right, keys->right, keys->count);
    if (kind == LOGICAL_JOIN_RIGHT || kind == LOGICAL_JOIN_FULL)
        add_hidden(scope, keys->left, keys->count);
    if (!one_sided && kind != LOGICAL_JOIN_RIGHT)
        add_hidden(scope, keys->right, keys->count);
    out->scope = scope; /* USING and NATURAL offer no hidden columns */
    scope_refresh(scope, out->node);
    return OK;
}

/* ---- the join ---- */

static bool find_subquery(const struct expr *expr, void *arg)
{
    const struct expr **found = arg;
    if (expr->kind == EXPR_SUBQUERY)
        *found = expr;
    return *found == NULL;
}

/* A correlated scalar subquery belongs to a filter or a list, and no subquery to a lateral join. */
static enum status check_on_subqueries(struct analyzer *analyzer, const struct ast_relation *ast,
                                       const struct expr *condition, int position,
                                       struct error *err)
{
    const struct expr *found = NULL;
    expr_walk(condition, find_subquery, &found);
    if (found == NULL)
        return OK;
    bool scalar = found->subquery.kind == SUBQUERY_SCALAR;
    bool correlated = found->arg_count > found->subquery.value_count;
    const char *plan = arena_sprintf(analyzer->arena, "Join %s", expr_name(analyzer, condition));
    if (scalar && correlated)
        return error_raise_at(
            err,
            STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY,
            position, ast->position_end, "treeNode", plan, NULL);
    if (!scalar && ast->join.right->lateral)
        return error_raise_at(
            err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__UNSUPPORTED_IN_EXISTS_SUBQUERY,
            ast->join.on->position, ast->join.on->position_end, "treeNode", plan, NULL);
    return OK;
}

/* Whether each run of the node gives other rows. */
static enum status see_chance(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    bool *found = arg;
    *found = *found || !expr_is_deterministic(*slot);
    return OK;
}

static bool node_is_certain(struct logical_node *node, void *arg)
{
    struct error ignored = ERROR_INIT;
    return logical_each_expr(node, see_chance, arg, &ignored) == OK && !*(bool *)arg;
}

static bool has_one_row(const struct logical_node *node)
{
    while (node->kind == LOGICAL_PROJECT)
        node = node->children[0];
    return node->kind == LOGICAL_VALUES && node->values.row_count <= 1;
}

/* A comma belongs to FROM. */
static int from_position(struct analyzer *analyzer, const struct ast_relation *ast)
{
    if (ast->join.kind != AST_JOIN_COMMA)
        return ast->join.left == NULL ? ast->position
                                      : text_next(analyzer, ast->join.left->position_end);
    int position = ast->position;
    while (position > 0 && analyzer->text.data[position - 1] == ' ')
        position--;
    return position >= 4 ? position - 4 : ast->position;
}

static enum status check_lateral(struct analyzer *analyzer, const struct ast_relation *ast,
                                 const struct logical_node *left, struct logical_node *right,
                                 struct error *err)
{
    bool chance = false;
    int position = from_position(analyzer, ast);
    logical_walk(right, node_is_certain, &chance);
    if (!chance || has_one_row(left))
        return OK;
    return error_raise_at(
        err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__NON_DETERMINISTIC_LATERAL_SUBQUERIES,
        position, ast->position_end, "treeNode", "LateralJoin", NULL);
}

static enum status resolve_on(struct analyzer *analyzer, const struct ast_relation *ast,
                              struct scope *scope, struct expr_list *outer_refs, struct expr **out,
                              struct error *err)
{
    struct resolver resolver = resolver_of(analyzer, scope, CLAUSE_JOIN, outer_refs);
    int position =
        ast->join.left == NULL ? ast->position : text_next(analyzer, ast->join.left->position_end);
    TRY(resolve_expr(&resolver, ast->join.on, out, err));
    if ((*out)->type->id != TYPE_BOOLEAN)
        return error_raise_at(err, STATUS_JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE, position,
                              ast->position_end, "joinCondition", expr_sql(analyzer, *out),
                              "conditionType", type_quoted(analyzer, (*out)->type), NULL);
    if (expr_has_aggregate(*out) || expr_has_window(*out) || expr_has_generator(*out))
        return raise_operator(analyzer, *out, "Join", position, ast->position_end, err);
    if (!expr_is_deterministic(*out) && ast->join.right->lateral)
        return error_raise_at(
            err,
            STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__LATERAL_JOIN_CONDITION_NON_DETERMINISTIC,
            ast->join.on->position, ast->join.on->position_end, "condition",
            expr_qualified(analyzer, *out), NULL);
    if (!expr_is_deterministic(*out))
        return error_raise_at(err, STATUS_INVALID_NON_DETERMINISTIC_EXPRESSIONS, position,
                              ast->position_end, "sqlExprs", expr_sql(analyzer, *out), NULL);
    return check_on_subqueries(analyzer, ast, *out, position, err);
}

static bool has_outer(const struct expr *expr, void *arg)
{
    bool *found = arg;
    *found = *found || expr->kind == EXPR_OUTER;
    return !*found;
}

static enum status see_outer(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    expr_walk(*slot, has_outer, arg);
    return OK;
}

static bool node_has_outer(struct logical_node *node, void *arg)
{
    struct error ignored = ERROR_INIT;
    return logical_each_expr(node, see_outer, arg, &ignored) == OK && !*(bool *)arg;
}

static enum status join_inputs(struct analyzer *analyzer, const struct ast_relation *ast,
                               struct scope *outer, struct expr_list *outer_refs,
                               struct relation *input, struct relation *left,
                               struct relation *right, struct error *err)
{
    const struct ast_join *join = &ast->join;
    if (join->left != NULL)
        TRY(resolve_relation_over(analyzer, join->left, outer, outer_refs, input, left, err));
    else
        *left = *input;
    if (!join->right->lateral)
        return resolve_relation(analyzer, join->right, outer, outer_refs, right, err);
    return resolve_relation(analyzer, join->right, left->scope, NULL, right, err);
}

/* How ON may name the column that a side has its watermark on, for messages. */
static void name_time(struct analyzer *analyzer, const struct scope *scope, uint32_t side,
                      struct logical_node *join)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < scope->count && text.size_bytes == 0; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (!column->attribute->event_time)
            continue;
        if (column->qualifier != NULL) {
            add_sql_name(&text, column->qualifier);
            buffer_add_byte(&text, '.');
        }
        add_sql_name(&text, column->name);
        join->join.times[side] = arena_strdup(analyzer->arena, buffer_text(&text));
        join->join.windows[side] = column->attribute->type->id == TYPE_STRUCT;
    }
    buffer_fini(&text);
}

enum status resolve_join(struct analyzer *analyzer, const struct ast_relation *ast,
                         struct scope *outer, struct expr_list *outer_refs, struct relation *input,
                         struct relation *out, struct error *err)
{
    const struct ast_join *join = &ast->join;
    struct relation left, right;
    if (join->natural && join->kind == AST_JOIN_CROSS)
        return error_raise(err, STATUS_INCOMPATIBLE_JOIN_TYPES, "joinType1", "NATURAL", "joinType2",
                           "CROSS", NULL);
    TRY(join_inputs(analyzer, ast, outer, outer_refs, input, &left, &right, err));
    uint32_t keys_max = (uint32_t)join->using_columns.count + left.scope->count + 1;
    struct using_keys keys = {
        .names = arena_new_object(analyzer->arena, keys_max * sizeof(char *)),
        .left = arena_new_object(analyzer->arena, keys_max * sizeof(struct scope_column *)),
        .right = arena_new_object(analyzer->arena, keys_max * sizeof(struct scope_column *)),
    };
    TRY(find_using(analyzer, join, left.scope, right.scope, &keys, err));
    if (join->natural)
        find_natural(analyzer, left.scope, right.scope, &keys);

    enum logical_join kind = join_kind(join->kind, join->on != NULL || keys.count > 0);
    struct scope *both = scope_concat(analyzer, left.scope, right.scope, outer);
    struct expr *condition = NULL;
    if (join->on != NULL)
        TRY(resolve_on(analyzer, ast, both, outer_refs, &condition, err));
    else
        TRY(keys_condition(analyzer, &keys, ast, &condition, err));
    out->node = join_node(analyzer, left.node, right.node, kind);
    analyzer_node(analyzer, out->node, ast->position, ast->position_end);
    out->node->join.condition = condition;
    name_time(analyzer, left.scope, 0, out->node);
    name_time(analyzer, right.scope, 1, out->node);
    if (join->right->lateral) {
        if (right.node->streaming && !analyzer->options->bounded)
            return error_raise_at(err, STATUS_INVALID_SUBQUERY_EXPRESSION__STREAMING_QUERY,
                                  from_position(analyzer, ast), ast->position_end, NULL);
        TRY(check_lateral(analyzer, ast, left.node, right.node, err));
        logical_walk(right.node, node_has_outer, &out->node->join.lateral);
    }
    if (keys.count > 0)
        return using_scope(analyzer, &keys, left.scope, right.scope, out, err);
    bool one_sided = kind == LOGICAL_JOIN_LEFT_SEMI || kind == LOGICAL_JOIN_LEFT_ANTI;
    out->scope = one_sided ? left.scope : both;
    out->scope->outer = outer;
    scope_refresh(out->scope, out->node);
    return OK;
}
