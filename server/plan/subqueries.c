/*
 * Subqueries in expressions and LATERAL relations become joins.
 *
 *   WHERE x IN (...), EXISTS (...)          left semi join; with NOT left anti join
 *   IN, EXISTS as a value                   existence join: a BOOLEAN column
 *   scalar                                  left join that allows one match
 *   LATERAL (...)                           the join it stands in
 *
 * decorrelate.c takes the references to the outer query out of the subquery's plan first.
 *
 * NULL in NOT IN: the comparison "is true or NULL" is what excludes a row, so the join's condition
 * is NOT (x = y <=> false) unless neither side can be NULL.
 */
#include "base/check.h"
#include "plan/decorrelate.h"
#include "plan/rewrite.h"

#include <string.h>

struct taker {
    struct rewriter *rewriter;
    struct logical_node *child; /* grows: joins are put over it */
    enum status status;
    struct error *err;
};

/* ---- joins ---- */

static struct logical_node *new_join(struct rewriter *rewriter, struct logical_node *left,
                                     struct logical_node *right, enum logical_join kind,
                                     struct expr *condition)
{
    struct logical_node *children[] = {left, right};
    struct logical_node *join = logical_new(rewriter->arena, LOGICAL_JOIN, children, 2);
    join->join.kind = kind;
    join->join.condition = condition;
    join->position = left->position;
    join->position_end = left->position_end;
    join->view = left->view;
    bool right_shown = kind != LOGICAL_JOIN_LEFT_SEMI && kind != LOGICAL_JOIN_LEFT_ANTI &&
                       kind != LOGICAL_JOIN_EXISTENCE;
    join->output =
        arena_new_object(rewriter->arena, (left->output_count + right->output_count + 2) *
                                              sizeof(struct attribute *));
    for (uint32_t i = 0; i < left->output_count; i++)
        join->output[join->output_count++] = left->output[i];
    for (uint32_t i = 0; right_shown && i < right->output_count; i++) {
        struct attribute *copy = arena_new_object(rewriter->arena, sizeof *copy);
        *copy = *right->output[i];
        copy->nullable = true;
        join->output[join->output_count++] = copy;
    }
    if (kind == LOGICAL_JOIN_EXISTENCE)
        join->output[join->output_count++] = attribute_new(
            rewriter->arena, rewriter->next_id++, "exists", type_simple(TYPE_BOOLEAN), false);
    return join;
}

/* value = column for each value of IN, and what came out of the subquery. */
static enum status in_condition(struct rewriter *rewriter, const struct expr *subquery,
                                const struct decorrelated *plan, bool negated, struct expr **out,
                                struct error *err)
{
    struct expr_set parts = {0};
    for (uint32_t i = 0; i < subquery->subquery.value_count; i++) {
        struct expr *column = plan->outputs[i], *equal;
        TRY(function_resolve_2(&rewriter->functions, "=", subquery->args[i], column, &equal, err));
        if (negated && (subquery->args[i]->nullable || column->nullable)) {
            struct expr *known;
            TRY(function_resolve_2(&rewriter->functions, "<=>", equal,
                                   expr_literal_boolean(rewriter->arena, false), &known, err));
            TRY(function_resolve_1(&rewriter->functions, "not", known, &equal, err));
        }
        expr_set_add(rewriter->arena, &parts, equal);
    }
    for (uint32_t i = 0; i < plan->conditions.count; i++)
        expr_set_add(rewriter->arena, &parts, plan->conditions.items[i]);
    *out = conjunction(rewriter, parts.items, parts.count);
    return OK;
}

static enum status semi_condition(struct rewriter *rewriter, const struct expr *subquery,
                                  const struct decorrelated *plan, bool negated, struct expr **out,
                                  struct error *err)
{
    if (subquery->subquery.kind == SUBQUERY_IN)
        return in_condition(rewriter, subquery, plan, negated, out, err);
    *out = conjunction(rewriter, plan->conditions.items, plan->conditions.count);
    return OK;
}

static struct logical_node *subquery_plan(const struct expr *expr)
{
    return expr->subquery.plan;
}

/* The subquery as a value of a row of `child`: a reference to a column that a join adds. */
static enum status take_value(struct rewriter *rewriter, struct logical_node **child,
                              struct expr *subquery, bool negated, struct expr **out,
                              struct error *err)
{
    struct logical_node *plan;
    TRY(rewrite_subqueries(rewriter, subquery_plan(subquery), &plan, err));
    struct decorrelated parts;
    bool scalar = subquery->subquery.kind == SUBQUERY_SCALAR;
    TRY(decorrelate(rewriter, plan, *child, scalar ? DECORRELATE_SCALAR : DECORRELATE_EXISTS,
                    &parts, err));
    struct expr *condition;
    if (!scalar) {
        TRY(semi_condition(rewriter, subquery, &parts, negated, &condition, err));
        *child = new_join(rewriter, *child, parts.node, LOGICAL_JOIN_EXISTENCE, condition);
        *out = attribute_expr(rewriter->arena, (*child)->output[(*child)->output_count - 1]);
        return OK;
    }
    condition = conjunction(rewriter, parts.conditions.items, parts.conditions.count);
    *child = new_join(rewriter, *child, parts.node,
                      parts.single_row ? LOGICAL_JOIN_LEFT : LOGICAL_JOIN_SINGLE, condition);
    *out = parts.outputs[0];
    return OK;
}

static bool is_not(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->arg_count == 1 &&
           strcmp(expr->call.function->name, "not") == 0;
}

static enum status take_all(struct taker *taker, struct expr **slot, struct error *err)
{
    struct expr *expr = *slot;
    if (!expr_has_kind(expr, EXPR_SUBQUERY))
        return OK;
    if (is_not(expr) && expr->args[0]->kind == EXPR_SUBQUERY &&
        expr->args[0]->subquery.kind == SUBQUERY_IN) {
        struct expr *inner = expr_copy(taker->rewriter->arena, expr->args[0]), *exists;
        for (uint32_t i = 0; i < inner->subquery.value_count; i++)
            TRY(take_all(taker, &inner->args[i], err));
        TRY(take_value(taker->rewriter, &taker->child, inner, true, &exists, err));
        return function_resolve_1(&taker->rewriter->functions, "not", exists, slot, err);
    }
    struct expr *copy = expr_copy(taker->rewriter->arena, expr);
    uint32_t own = copy->kind == EXPR_SUBQUERY ? copy->subquery.value_count : copy->arg_count;
    for (uint32_t i = 0; i < own; i++)
        TRY(take_all(taker, &copy->args[i], err));
    *slot = copy;
    if (copy->kind == EXPR_AGGREGATE && copy->aggregate.filter != NULL)
        TRY(take_all(taker, &copy->aggregate.filter, err));
    if (copy->kind != EXPR_SUBQUERY)
        return OK;
    return take_value(taker->rewriter, &taker->child, copy, false, slot, err);
}

static enum status take_slot(struct expr **slot, void *arg, struct error *err)
{
    return take_all(arg, slot, err);
}

/* ---- nodes ---- */

static struct logical_node *restore_output(struct rewriter *rewriter, struct logical_node *node,
                                           const struct logical_node *like)
{
    struct expr **exprs =
        arena_new_object(rewriter->arena, (like->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < like->output_count; i++)
        exprs[i] = attribute_expr(rewriter->arena, like->output[i]);
    return logical_project(rewriter->arena, node, exprs, like->output, like->output_count);
}

static enum status filter_part(struct rewriter *rewriter, struct logical_node **node,
                               struct expr *part, struct error *err)
{
    bool negated = is_not(part);
    struct expr *subquery = negated ? part->args[0] : part;
    bool direct = subquery->kind == EXPR_SUBQUERY && subquery->subquery.kind != SUBQUERY_SCALAR;
    for (uint32_t i = 0; direct && i < subquery->subquery.value_count; i++)
        direct = !expr_has_kind(subquery->args[i], EXPR_SUBQUERY);
    if (direct) {
        struct logical_node *plan;
        struct decorrelated parts;
        struct expr *condition;
        TRY(rewrite_subqueries(rewriter, subquery_plan(subquery), &plan, err));
        TRY(decorrelate(rewriter, plan, *node, DECORRELATE_EXISTS, &parts, err));
        TRY(semi_condition(rewriter, subquery, &parts, negated, &condition, err));
        *node = new_join(rewriter, *node, parts.node,
                         negated ? LOGICAL_JOIN_LEFT_ANTI : LOGICAL_JOIN_LEFT_SEMI, condition);
        return OK;
    }
    struct logical_node *before = *node;
    struct taker taker = {.rewriter = rewriter, .child = before};
    TRY(take_all(&taker, &part, err));
    *node = logical_filter(rewriter->arena, taker.child, part);
    if (taker.child != before)
        *node = restore_output(rewriter, *node, before);
    return OK;
}

static enum status rewrite_filter(struct rewriter *rewriter, struct logical_node *node,
                                  struct logical_node **out, struct error *err)
{
    struct expr_set parts = {0};
    struct logical_node *made = node->children[0];
    split_conjuncts(rewriter->arena, node->filter.predicate, &parts);
    for (uint32_t i = 0; i < parts.count; i++)
        TRY(filter_part(rewriter, &made, parts.items[i], err));
    *out = made;
    return OK;
}

static bool holds_subquery(struct logical_node *node)
{
    struct error ignored = ERROR_INIT;
    bool found = false;
    enum status status = logical_each_expr(node, find_subquery, &found, &ignored);
    return status == OK && found;
}

/* Subqueries in a join's condition: a filter over the cross join, if the join is inner. */
static enum status rewrite_join_condition(struct rewriter *rewriter, struct logical_node *node,
                                          struct logical_node **out, struct error *err)
{
    if (node->join.kind != LOGICAL_JOIN_INNER && node->join.kind != LOGICAL_JOIN_CROSS)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, node->position, node->position_end,
                              "feature", "A subquery in the condition of an outer join", NULL);
    struct logical_node *join = copy_node(rewriter, node);
    struct expr *condition = join->join.condition;
    join->join.condition = NULL;
    join->join.kind = LOGICAL_JOIN_CROSS;
    return rewrite_filter(rewriter, logical_filter(rewriter->arena, join, condition), out, err);
}

/* The node passes on what the joins have added; a projection drops it again. */
static void widen_output(struct rewriter *rewriter, struct logical_node *node,
                         const struct logical_node *below, struct logical_node **out)
{
    const struct logical_node *child = node->children[0];
    uint32_t made = node->output_count - below->output_count;
    struct logical_node before = *node;
    node->output_count = child->output_count + made;
    node->output =
        arena_new_object(rewriter->arena, (node->output_count + 1) * sizeof(struct attribute *));
    memcpy(node->output, child->output, child->output_count * sizeof(struct attribute *));
    memcpy(node->output + child->output_count, before.output + below->output_count,
           made * sizeof(struct attribute *));
    *out = restore_output(rewriter, node, &before);
}

static enum status rewrite_exprs(struct rewriter *rewriter, struct logical_node *node,
                                 struct logical_node **out, struct error *err)
{
    if (node->kind == LOGICAL_FILTER)
        return rewrite_filter(rewriter, node, out, err);
    if (node->kind == LOGICAL_JOIN)
        return rewrite_join_condition(rewriter, node, out, err);
    if (node->child_count != 1)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, node->position, node->position_end,
                              "feature", "A subquery in this place", NULL);
    struct taker taker = {.rewriter = rewriter, .child = node->children[0]};
    struct logical_node *below = node->children[0];
    TRY(logical_each_expr(node, take_slot, &taker, err));
    node->children[0] = taker.child;
    *out = node;
    if (node->kind == LOGICAL_GENERATE || node->kind == LOGICAL_WINDOW ||
        node->kind == LOGICAL_TIME_WINDOW || node->kind == LOGICAL_SESSION) {
        widen_output(rewriter, node, below, out);
        return OK;
    }
    if (node->kind == LOGICAL_SORT) {
        struct logical_node *child = taker.child;
        struct logical_node before = *node;
        node->output = child->output;
        node->output_count = child->output_count;
        *out = restore_output(rewriter, node, &before);
    }
    return OK;
}

/* ---- LATERAL ---- */

static enum status rewrite_lateral(struct rewriter *rewriter, struct logical_node *node,
                                   struct logical_node **out, struct error *err)
{
    struct logical_node *left = node->children[0];
    struct decorrelated parts;
    enum logical_join kind = node->join.kind;
    bool outer = kind == LOGICAL_JOIN_LEFT;
    if (lateral_generator(rewriter, node, out))
        return OK;
    TRY(decorrelate(rewriter, node->children[1], left,
                    outer ? DECORRELATE_LATERAL_OUTER : DECORRELATE_LATERAL, &parts, err));
    struct expr_set conditions = parts.conditions;
    uint32_t count = node->output_count;
    struct expr **exprs = arena_new_object(rewriter->arena, (count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < left->output_count; i++)
        exprs[i] = attribute_expr(rewriter->arena, left->output[i]);
    for (uint32_t i = left->output_count; i < count; i++)
        exprs[i] = parts.outputs[i - left->output_count];
    if (node->join.condition != NULL)
        split_conjuncts(rewriter->arena,
                        substitute_outputs(rewriter, node->join.condition,
                                           node->output + left->output_count, parts.outputs,
                                           count - left->output_count),
                        &conditions);
    if (!outer)
        kind = parts.defaults         ? LOGICAL_JOIN_LEFT
               : conditions.count > 0 ? LOGICAL_JOIN_INNER
                                      : LOGICAL_JOIN_CROSS;
    struct logical_node *join = new_join(rewriter, left, parts.node, kind,
                                         conjunction(rewriter, conditions.items, conditions.count));
    *out = logical_project(rewriter->arena, join, exprs, node->output, count);
    return OK;
}

enum status rewrite_subqueries(struct rewriter *rewriter, struct logical_node *node,
                               struct logical_node **out, struct error *err)
{
    struct logical_node *copy = fold_free_copy(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++)
        TRY(rewrite_subqueries(rewriter, copy->children[i], &copy->children[i], err));
    *out = copy;
    if (copy->kind == LOGICAL_JOIN && copy->join.lateral)
        return rewrite_lateral(rewriter, copy, out, err);
    if (holds_subquery(copy))
        return rewrite_exprs(rewriter, copy, out, err);
    return OK;
}
