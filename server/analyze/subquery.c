/*
 * Subqueries in expressions: scalar, IN, EXISTS.
 *
 * The subquery's plan stays inside the expression; the planner makes it a join.  What it takes
 * from the enclosing query stands in it as EXPR_OUTER, and again among the arguments of the
 * EXPR_SUBQUERY, so that the columns are seen to be used.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "expr/coercion.h"

static void fill_outer(struct resolver *resolver, struct expr *expr, const struct expr_list *refs,
                       struct expr_list *args)
{
    struct arena *arena = resolver->analyzer->arena;
    expr->subquery.value_count = args->count;
    for (uint32_t i = 0; i < refs->count; i++) {
        bool seen = false;
        for (uint32_t j = expr->subquery.value_count; j < args->count; j++)
            seen = seen || expr_equal(args->items[j], refs->items[i]);
        if (!seen)
            expr_list_add(arena, args, refs->items[i]);
    }
    expr->args = args->items;
    expr->arg_count = args->count;
}

static struct expr *subquery_expr(struct resolver *resolver, const struct ast_expr *ast,
                                  enum subquery_kind kind, struct logical_node *plan)
{
    struct expr *expr = arena_new_object(resolver->analyzer->arena, sizeof *expr);
    expr->kind = EXPR_SUBQUERY;
    expr->position = ast->kind == AST_EXPR_IN
                         ? text_next(resolver->analyzer, ast->in.value->position_end)
                         : ast->position;
    expr->position_end = ast->position_end;
    expr->subquery.kind = kind;
    expr->subquery.plan = plan;
    expr->type = type_simple(TYPE_BOOLEAN);
    return expr;
}

static enum status resolve_scalar_subquery(struct resolver *resolver, const struct ast_expr *ast,
                                           struct relation *relation, struct expr_list *refs,
                                           struct expr **out, struct error *err)
{
    struct logical_node *plan = relation->node;
    if (plan->output_count != 1)
        return error_raise_at(
            err,
            STATUS_INVALID_SUBQUERY_EXPRESSION__SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN,
            ast->position, ast->position_end, "number",
            arena_sprintf(resolver->analyzer->arena, "%u", plan->output_count), NULL);
    struct expr *expr = subquery_expr(resolver, ast, SUBQUERY_SCALAR, plan);
    struct expr_list args = {0};
    expr->type = plan->output[0]->type;
    expr->nullable = true;
    fill_outer(resolver, expr, refs, &args);
    *out = expr;
    return OK;
}

/* An aggregate without keys has one row, also where the enclosing row has no partner. */
static bool has_one_row(const struct logical_node *plan)
{
    while (plan->kind == LOGICAL_PROJECT)
        plan = plan->children[0];
    return plan->kind == LOGICAL_AGGREGATE && plan->aggregate.key_count == 0;
}

/* ---- IN ---- */

/* v IN (one row) is v = that row, which the plan of a scalar subquery finds for every v. */
static enum status in_one_row(struct resolver *resolver, const struct ast_expr *ast,
                              struct logical_node *plan, const struct expr_list *refs,
                              struct expr *value, struct expr **out, struct error *err)
{
    struct expr *scalar = subquery_expr(resolver, ast, SUBQUERY_SCALAR, plan);
    struct expr_list args = {0};
    scalar->type = plan->output[0]->type;
    scalar->nullable = true;
    fill_outer(resolver, scalar, refs, &args);
    return function_resolve_2(&resolver->analyzer->functions, "=", value, scalar, out, err);
}

static enum status in_values(struct resolver *resolver, const struct ast_expr *ast,
                             struct expr_list *values, struct error *err)
{
    const struct ast_expr *value = ast->in.value;
    if (value->kind != AST_EXPR_ROW) {
        struct expr *expr;
        TRY(resolve_expr(resolver, value, &expr, err));
        expr_list_add(resolver->analyzer->arena, values, expr);
        return OK;
    }
    for (size_t i = 0; i < value->members.count; i++) {
        struct expr *expr;
        TRY(resolve_expr(resolver, value->members.items[i].expr, &expr, err));
        expr_list_add(resolver->analyzer->arena, values, expr);
    }
    return OK;
}

static const char *in_sql(struct resolver *resolver, const struct expr_list *values)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < values->count; i++) {
        const struct expr *value = values->items[i];
        buffer_add_text(&text, i > 0 ? ", " : "");
        if (values->count > 1 && value->kind == EXPR_COLUMN)
            buffer_printf(&text, "'%s', ", value->column.name);
        else if (values->count > 1)
            buffer_printf(&text, "'col%u', ", i + 1);
        buffer_add_text(&text, expr_name(resolver->analyzer, value));
    }
    const char *sql = arena_sprintf(resolver->analyzer->arena, "\"(%s%s%s IN (listquery()))\"",
                                    values->count > 1 ? "named_struct(" : "", buffer_text(&text),
                                    values->count > 1 ? ")" : "");
    buffer_fini(&text);
    return sql;
}

static enum status raise_in_length(struct resolver *resolver, const struct ast_expr *ast,
                                   const struct expr_list *values, const struct logical_node *plan,
                                   struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct buffer left = {0}, right = {0};
    for (uint32_t i = 0; i < values->count; i++)
        buffer_printf(&left, "%s%s", i > 0 ? ", " : "", expr_sql(analyzer, values->items[i]));
    for (uint32_t i = 0; i < plan->output_count; i++)
        buffer_printf(&right, "%s\"%s\"", i > 0 ? ", " : "", plan->output[i]->name);
    error_raise_at(err, STATUS_DATATYPE_MISMATCH__IN_SUBQUERY_LENGTH_MISMATCH,
                   text_next(analyzer, ast->in.value->position_end), ast->position_end, "sqlExpr",
                   in_sql(resolver, values), "leftLength",
                   arena_sprintf(analyzer->arena, "%u", values->count), "rightLength",
                   arena_sprintf(analyzer->arena, "%u", plan->output_count), "leftColumns",
                   buffer_text(&left), "rightColumns", buffer_text(&right), NULL);
    buffer_fini(&left);
    buffer_fini(&right);
    return err->status;
}

static enum status raise_in_types(struct resolver *resolver, const struct ast_expr *ast,
                                  const struct expr_list *values, const struct logical_node *plan,
                                  uint32_t at, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct expr *value = values->items[at];
    const char *left = expr_name(analyzer, value);
    if (value->kind == EXPR_COLUMN && value->column.qualifier != NULL)
        left = arena_sprintf(analyzer->arena, "%s.%s", value->column.qualifier, left);
    const char *left_types = "", *right_types = "";
    for (uint32_t i = 0; i < values->count; i++) {
        const char *between = i > 0 ? ", " : "";
        left_types = arena_sprintf(analyzer->arena, "%s%s%s", left_types, between,
                                   type_quoted(analyzer, values->items[i]->type));
        right_types = arena_sprintf(analyzer->arena, "%s%s%s", right_types, between,
                                    type_quoted(analyzer, plan->output[i]->type));
    }
    const struct attribute *column = plan->output[at];
    const char *right = column->name;
    bool plain = true;
    for (const char *c = right; *c != '\0'; c++)
        plain = plain && (*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9'));
    if (!plain)
        right = text_quoted(analyzer, right);
    const struct expr *source = plan->kind == LOGICAL_PROJECT ? plan->project.exprs[at] : NULL;
    const char *of =
        source != NULL && source->kind == EXPR_COLUMN ? source->column.qualifier : NULL;
    if (of != NULL && strcmp(source->column.name, column->name) == 0)
        right = arena_sprintf(analyzer->arena, "%s.%s", of, right);
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__IN_SUBQUERY_DATA_TYPE_MISMATCH,
                          text_next(analyzer, ast->in.value->position_end), ast->position_end,
                          "sqlExpr", in_sql(resolver, values), "mismatchedColumns",
                          arena_sprintf(analyzer->arena, "(%s:%s, %s:%s)", left,
                                        type_name(analyzer->arena, value->type), right,
                                        type_name(analyzer->arena, column->type)),
                          "leftType", left_types, "rightType", right_types, NULL);
}

static struct logical_node *cast_output(struct analyzer *analyzer, struct logical_node *plan,
                                        const struct type *const *types)
{
    bool same = true;
    for (uint32_t i = 0; i < plan->output_count; i++)
        same = same && type_equal(plan->output[i]->type, types[i]);
    if (same)
        return plan;
    uint32_t count = plan->output_count;
    struct expr **exprs = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    struct attribute **output =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = coercion_cast(&analyzer->functions,
                                 attribute_expr(analyzer->arena, plan->output[i]), types[i]);
        output[i] =
            analyzer_attribute(analyzer, plan->output[i]->name, types[i], exprs[i]->nullable);
    }
    return logical_project(analyzer->arena, plan, exprs, output, count);
}

static enum status resolve_in_subquery(struct resolver *resolver, const struct ast_expr *ast,
                                       struct relation *relation, struct expr_list *refs,
                                       struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct logical_node *plan = relation->node;
    struct expr_list values = {0};
    TRY(in_values(resolver, ast, &values, err));
    if (values.count != plan->output_count)
        return raise_in_length(resolver, ast, &values, plan, err);
    const struct type **types =
        arena_new_object(analyzer->arena, (values.count + 1) * sizeof(struct type *));
    for (uint32_t i = 0; i < values.count; i++) {
        const struct type *a = values.items[i]->type, *b = plan->output[i]->type;
        types[i] = type_equal(a, b) ? a : coercion_common(&analyzer->functions, a, b);
        if (types[i] == NULL)
            return raise_in_types(resolver, ast, &values, plan, i, err);
        if (!type_is_orderable(types[i]))
            return error_raise_at(err, STATUS_DATATYPE_MISMATCH__INVALID_ORDERING_TYPE,
                                  text_next(analyzer, ast->in.value->position_end),
                                  ast->position_end, "functionName", "`insubquery`", "dataType",
                                  type_quoted(analyzer, types[i]), "sqlExpr",
                                  in_sql(resolver, &values), NULL);
    }
    for (uint32_t i = 0; i < values.count; i++)
        values.items[i] = coercion_cast(&analyzer->functions, values.items[i], types[i]);
    plan = cast_output(analyzer, plan, types);
    if (refs->count > 0 && values.count == 1 && resolver->clause != CLAUSE_JOIN &&
        has_one_row(plan)) {
        TRY(in_one_row(resolver, ast, plan, refs, values.items[0], out, err));
        return ast->negated ? function_resolve_1(&analyzer->functions, "not", *out, out, err) : OK;
    }
    struct expr *expr = subquery_expr(resolver, ast, SUBQUERY_IN, plan);
    expr->nullable = true;
    fill_outer(resolver, expr, refs, &values);
    *out = expr;
    if (!ast->negated)
        return OK;
    return function_resolve_1(&analyzer->functions, "not", expr, out, err);
}

enum status resolve_subquery(struct resolver *resolver, const struct ast_expr *ast,
                             struct expr **out, struct error *err)
{
    struct relation relation;
    struct expr_list refs = {0};
    const struct ast_query *query = ast->kind == AST_EXPR_IN ? ast->in.query : ast->query;
    TRY(resolve_query(resolver->analyzer, query, resolver->scope, &refs, &relation, err));
    if (relation.node->streaming && !resolver->analyzer->options->bounded)
        return error_raise_at(err, STATUS_INVALID_SUBQUERY_EXPRESSION__STREAMING_QUERY,
                              resolver->select_position, resolver->select_position_end, NULL);
    if (ast->kind == AST_EXPR_IN)
        return resolve_in_subquery(resolver, ast, &relation, &refs, out, err);
    if (ast->kind == AST_EXPR_SUBQUERY)
        return resolve_scalar_subquery(resolver, ast, &relation, &refs, out, err);
    if (refs.count > 0 && has_one_row(relation.node)) {
        *out = expr_literal_boolean(resolver->analyzer->arena, true);
        analyzer_name_expr(resolver->analyzer, *out, "exists()");
        return OK;
    }
    struct expr_list args = {0};
    struct expr *expr = subquery_expr(resolver, ast, SUBQUERY_EXISTS, relation.node);
    fill_outer(resolver, expr, &refs, &args);
    *out = expr;
    return OK;
}
