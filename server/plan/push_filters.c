/*
 * Filters go down: through projections, unions, aggregates (on keys), into the sides of joins, as
 * far as the rows that come out stay the same.
 *
 * A filter passes a watermark only if it does not look at the event time: rows that it drops still
 * move the watermark then, as in Spark.
 *
 * A stream whose rows need a value to find a partner in a join gets a filter of its own: rows with
 * NULL there are not kept, and do not move the watermark.  So do rows of which explode() makes
 * none.  What a join says of one side by its equalities is a filter of the other: infer_filters.c.
 */
#include "base/check.h"
#include "expr/program.h"
#include "plan/rewrite.h"

#include <string.h>

static struct logical_node *push(struct rewriter *rewriter, struct logical_node *node,
                                 struct expr_set *filters);

static struct logical_node *place(struct rewriter *rewriter, struct logical_node *node,
                                  const struct expr_set *filters)
{
    if (filters->count == 0)
        return node;
    struct expr *predicate = conjunction(rewriter, filters->items, filters->count);
    return logical_filter(rewriter->arena, node, predicate);
}

static bool movable(const struct expr *expr)
{
    return expr_is_deterministic(expr) && !expr_has_kind(expr, EXPR_SUBQUERY) &&
           !expr_has_kind(expr, EXPR_OUTER);
}

static struct logical_node *push_through_filter(struct rewriter *rewriter,
                                                struct logical_node *node, struct expr_set *filters)
{
    struct expr_set parts = {0}, all = {0}, none = {0};
    split_conjuncts(rewriter->arena, node->filter.predicate, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        if (movable(parts.items[i]))
            continue;
        /* A random filter sees the rows that it saw before. */
        struct logical_node *child = push(rewriter, node->children[0], &none);
        return place(rewriter, with_child(rewriter, node, child), filters);
    }
    for (uint32_t i = 0; i < parts.count; i++)
        expr_set_add(rewriter->arena, &all, parts.items[i]);
    for (uint32_t i = 0; i < filters->count; i++)
        expr_set_add(rewriter->arena, &all, filters->items[i]);
    return push(rewriter, node->children[0], &all);
}

static bool refers_only_to_simple(const struct expr *expr, const struct logical_node *project)
{
    if (expr->kind == EXPR_COLUMN) {
        uint32_t ordinal;
        if (logical_find_output(project, expr->column.attribute_id, &ordinal) == NULL)
            return false;
        return movable(project->project.exprs[ordinal]);
    }
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (!refers_only_to_simple(expr->args[i], project))
            return false;
    return true;
}

static struct logical_node *
push_through_project(struct rewriter *rewriter, struct logical_node *node, struct expr_set *filters)
{
    struct expr_set below = {0}, above = {0};
    for (uint32_t i = 0; i < filters->count; i++) {
        struct expr *filter = filters->items[i];
        if (refers_only_to_simple(filter, node))
            expr_set_add(rewriter->arena, &below,
                         substitute_outputs(rewriter, filter, node->output, node->project.exprs,
                                            node->output_count));
        else
            expr_set_add(rewriter->arena, &above, filter);
    }
    struct logical_node *child = push(rewriter, node->children[0], &below);
    return place(rewriter, with_child(rewriter, node, child), &above);
}

static struct logical_node *push_through_union(struct rewriter *rewriter, struct logical_node *node,
                                               const struct expr_set *filters)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct logical_node *child = node->children[i];
        struct expr **columns =
            arena_new_object(rewriter->arena, (node->output_count + 1) * sizeof(struct expr *));
        for (uint32_t j = 0; j < node->output_count; j++)
            columns[j] = attribute_expr(rewriter->arena, child->output[j]);
        struct expr_set mine = {0};
        for (uint32_t j = 0; j < filters->count; j++)
            expr_set_add(rewriter->arena, &mine,
                         substitute_outputs(rewriter, filters->items[j], node->output, columns,
                                            node->output_count));
        copy->children[i] = push(rewriter, child, &mine);
    }
    return copy;
}

/* Filters over columns of the child alone, when the node passes rows on as they are. */
static struct logical_node *
push_covered(struct rewriter *rewriter, struct logical_node *node, const struct expr_set *filters,
             bool (*may)(const struct logical_node *node, const struct expr *filter))
{
    struct expr_set below = {0}, above = {0};
    for (uint32_t i = 0; i < filters->count; i++) {
        struct expr *filter = filters->items[i];
        bool down = expr_covered(filter, node->children[0]) && (may == NULL || may(node, filter));
        expr_set_add(rewriter->arena, down ? &below : &above, filter);
    }
    struct logical_node *child = push(rewriter, node->children[0], &below);
    return place(rewriter, with_child(rewriter, node, child), &above);
}

static bool uses_attribute(const struct expr *expr, void *arg)
{
    return expr->kind != EXPR_COLUMN || expr->column.attribute_id != *(const uint32_t *)arg;
}

static bool may_pass_watermark(const struct logical_node *node, const struct expr *filter)
{
    uint32_t id = node->output[node->watermark.column]->id;
    return expr_walk(filter, uses_attribute, &id);
}

static bool never(const struct logical_node *node, const struct expr *filter)
{
    (void)node;
    (void)filter;
    return false;
}

static struct logical_node *push_through_aggregate(struct rewriter *rewriter,
                                                   struct logical_node *node,
                                                   const struct expr_set *filters)
{
    struct expr_set below = {0}, above = {0};
    struct logical_node keys = *node;
    keys.output_count = node->aggregate.key_count;
    for (uint32_t i = 0; i < filters->count; i++) {
        struct expr *filter = filters->items[i];
        bool has_column = expr_has_kind(filter, EXPR_COLUMN);
        bool down = has_column && node->aggregate.key_count > 0 && !node->aggregate.grouping_sets &&
                    expr_covered(filter, &keys);
        for (uint32_t j = 0; down && j < keys.output_count; j++)
            down = movable(node->aggregate.keys[j]);
        if (down)
            expr_set_add(rewriter->arena, &below,
                         substitute_outputs(rewriter, filter, node->output, node->aggregate.keys,
                                            node->aggregate.key_count));
        else
            expr_set_add(rewriter->arena, &above, filter);
    }
    struct logical_node *child = push(rewriter, node->children[0], &below);
    return place(rewriter, with_child(rewriter, node, child), &above);
}

/* ---- joins ---- */

struct join_sides {
    bool left, right;       /* a filter over the join may go into this side */
    bool condition;         /* ... or into the condition */
    bool on_left, on_right; /* a part of the condition may go into this side */
};

static struct join_sides join_sides(enum logical_join kind)
{
    switch (kind) {
    case LOGICAL_JOIN_INNER:
    case LOGICAL_JOIN_CROSS:
        return (struct join_sides){true, true, true, true, true};
    case LOGICAL_JOIN_LEFT:
    case LOGICAL_JOIN_SINGLE:
        return (struct join_sides){true, false, false, false, true};
    case LOGICAL_JOIN_EXISTENCE:
        return (struct join_sides){true, false, false, false, true};
    case LOGICAL_JOIN_RIGHT:
        return (struct join_sides){false, true, false, true, false};
    case LOGICAL_JOIN_FULL:
        return (struct join_sides){false, false, false, false, false};
    case LOGICAL_JOIN_LEFT_SEMI:
        return (struct join_sides){true, false, false, true, true};
    case LOGICAL_JOIN_LEFT_ANTI:
        return (struct join_sides){true, false, false, false, true};
    }
    return (struct join_sides){0};
}

/* Adds `column IS NOT NULL` to the filters of a side for each column of it whose NULL makes the
 * condition NULL. */
static void infer_not_null(struct rewriter *rewriter, struct expr *expr,
                           const struct logical_node *side, struct expr_set *filters)
{
    if (expr->kind == EXPR_COLUMN) {
        struct expr *known = NULL;
        struct error err = ERROR_INIT;
        if (expr->nullable && expr_covered(expr, side) &&
            function_resolve_1(&rewriter->functions, "isnotnull", expr, &known, &err) == OK)
            expr_set_add(rewriter->arena, filters, known);
        return;
    }
    bool passes =
        expr->kind == EXPR_CAST ||
        (expr->kind == EXPR_CALL && (expr->call.function->flags & FUNCTION_NULL_INTOLERANT) != 0);
    for (uint32_t i = 0; passes && i < expr->arg_count; i++)
        infer_not_null(rewriter, expr->args[i], side, filters);
}

/* Whether NULL in a column of this side makes the expression NULL. */
static bool fails_on_null(const struct expr *expr, const struct logical_node *side)
{
    if (expr->kind == EXPR_COLUMN)
        return expr_covered(expr, side);
    bool passes =
        expr->kind == EXPR_CAST ||
        (expr->kind == EXPR_CALL && (expr->call.function->flags & FUNCTION_NULL_INTOLERANT) != 0);
    for (uint32_t i = 0; passes && i < expr->arg_count; i++)
        if (fails_on_null(expr->args[i], side))
            return true;
    return false;
}

/* Whether a filter lets no row through that has found nothing on this side of a join. */
static bool needs_found(struct rewriter *rewriter, struct expr *filter,
                        const struct logical_node *side)
{
    if (fails_on_null(filter, side))
        return true;
    if (!expr_has_kind(filter, EXPR_COLUMN) || !expr_covered(filter, side) ||
        !expr_is_deterministic(filter))
        return false;
    struct expr **nulls =
        arena_new_object(rewriter->arena, (side->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < side->output_count; i++)
        nulls[i] = expr_null(rewriter->arena, side->output[i]->type);
    struct expr *value =
        expr_fold(rewriter->arena,
                  substitute_outputs(rewriter, filter, side->output, nulls, side->output_count),
                  rewriter->functions.time_zone);
    return value->kind == EXPR_LITERAL && (vector_is_null(value->literal.value, 0) ||
                                           (value->type->id == TYPE_BOOLEAN &&
                                            VECTOR_VALUES(uint8_t, value->literal.value)[0] == 0));
}

/* Filters over a left join say of its left side what they need themselves; and if they let no row
 * through that has found nothing, what it needs to find something, as in the inner join that Spark
 * makes of it. */
static void infer_below_left(struct rewriter *rewriter, const struct logical_node *node,
                             const struct expr_set *above, const struct expr_set *condition,
                             struct expr_set *to_left)
{
    const struct logical_node *left = node->children[0], *right = node->children[1];
    bool found = false;
    if (!left->streaming || !rewriter->infers ||
        (node->join.kind != LOGICAL_JOIN_LEFT && node->join.kind != LOGICAL_JOIN_SINGLE))
        return;
    for (uint32_t i = 0; i < above->count; i++) {
        infer_not_null(rewriter, above->items[i], left, to_left);
        found = found || needs_found(rewriter, above->items[i], right);
    }
    found = found && node->join.kind == LOGICAL_JOIN_LEFT;
    for (uint32_t i = 0; found && i < condition->count; i++)
        infer_not_null(rewriter, condition->items[i], left, to_left);
}

static struct logical_node *push_into_join(struct rewriter *rewriter, struct logical_node *node,
                                           const struct expr_set *filters)
{
    struct arena *arena = rewriter->arena;
    struct join_sides may = join_sides(node->join.kind);
    struct logical_node *left = node->children[0], *right = node->children[1];
    struct expr_set above = {0}, to_left = {0}, to_right = {0}, condition = {0}, parts = {0};
    for (uint32_t i = 0; i < filters->count; i++) {
        struct expr *filter = filters->items[i];
        if (may.left && expr_covered(filter, left))
            expr_set_add(arena, &to_left, filter);
        else if (may.right && expr_covered(filter, right))
            expr_set_add(arena, &to_right, filter);
        else
            expr_set_add(arena, may.condition ? &condition : &above, filter);
    }
    if (node->join.condition != NULL)
        split_conjuncts(arena, node->join.condition, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        struct expr *part = parts.items[i];
        bool free = movable(part);
        if (free && may.on_left && expr_covered(part, left))
            expr_set_add(arena, &to_left, part);
        else if (free && may.on_right && expr_covered(part, right) &&
                 expr_has_kind(part, EXPR_COLUMN))
            expr_set_add(arena, &to_right, part);
        else
            expr_set_add(arena, &condition, part);
    }
    infer_filters(rewriter, node, &condition, &to_left, &to_right);
    for (uint32_t i = 0; i < condition.count; i++) {
        if (rewriter->infers && left->streaming && may.on_left)
            infer_not_null(rewriter, condition.items[i], left, &to_left);
        if (rewriter->infers && right->streaming && may.on_right)
            infer_not_null(rewriter, condition.items[i], right, &to_right);
    }
    infer_below_left(rewriter, node, &above, &condition, &to_left);
    struct logical_node *copy = copy_node(rewriter, node);
    copy->children[0] = push(rewriter, left, &to_left);
    copy->children[1] = push(rewriter, right, &to_right);
    copy->join.condition = conjunction(rewriter, condition.items, condition.count);
    if (copy->join.kind == LOGICAL_JOIN_CROSS && copy->join.condition != NULL)
        copy->join.kind = LOGICAL_JOIN_INNER;
    return place(rewriter, copy, &above);
}

/* explode() of a column makes no row of NULL and of what is empty: `size(column) > 0` goes below.
 */
static struct logical_node *push_through_generate(struct rewriter *rewriter,
                                                  struct logical_node *node,
                                                  const struct expr_set *filters)
{
    const struct expr *generator = node->generate.generator;
    struct expr_set all = *filters;
    struct expr *size = NULL, *some = NULL;
    struct error err = ERROR_INIT;
    const char *name = generator->call.function->name;
    bool makes_none = node->streaming && !node->generate.outer && generator->arg_count == 1 &&
                      generator->args[0]->kind == EXPR_COLUMN &&
                      (strcmp(name, "explode") == 0 || strcmp(name, "posexplode") == 0 ||
                       strcmp(name, "inline") == 0);
    if (makes_none &&
        function_resolve_1(&rewriter->functions, "size", generator->args[0], &size, &err) == OK &&
        function_resolve_2(&rewriter->functions, ">", size, expr_literal_int(rewriter->arena, 0),
                           &some, &err) == OK) {
        all = (struct expr_set){0};
        for (uint32_t i = 0; i < filters->count; i++)
            expr_set_add(rewriter->arena, &all, filters->items[i]);
        expr_set_add(rewriter->arena, &all, some);
    }
    return push_covered(rewriter, node, &all, NULL);
}

static struct logical_node *push_nowhere(struct rewriter *rewriter, struct logical_node *node,
                                         const struct expr_set *filters)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++) {
        struct expr_set none = {0};
        copy->children[i] = push(rewriter, copy->children[i], &none);
    }
    return place(rewriter, copy, filters);
}

static struct logical_node *push(struct rewriter *rewriter, struct logical_node *node,
                                 struct expr_set *filters)
{
    switch (node->kind) {
    case LOGICAL_FILTER:
        return push_through_filter(rewriter, node, filters);
    case LOGICAL_PROJECT:
        return push_through_project(rewriter, node, filters);
    case LOGICAL_UNION:
        return push_through_union(rewriter, node, filters);
    case LOGICAL_JOIN:
        return push_into_join(rewriter, node, filters);
    case LOGICAL_AGGREGATE:
        return push_through_aggregate(rewriter, node, filters);
    case LOGICAL_WATERMARK:
        return push_covered(rewriter, node, filters, may_pass_watermark);
    case LOGICAL_GENERATE:
        return push_through_generate(rewriter, node, filters);
    case LOGICAL_TIME_WINDOW:
    case LOGICAL_SESSION:
    case LOGICAL_SORT:
    case LOGICAL_DISTINCT:
        return push_covered(rewriter, node, filters, NULL);
    case LOGICAL_SAMPLE:
    case LOGICAL_DEDUP:
    case LOGICAL_LIMIT:
    case LOGICAL_WINDOW:
    case LOGICAL_EXPAND:
        return push_covered(rewriter, node, filters, never);
    case LOGICAL_RELATION:
    case LOGICAL_VALUES:
    case LOGICAL_SET_OPERATION:
        return push_nowhere(rewriter, node, filters);
    }
    return push_nowhere(rewriter, node, filters);
}

static bool reads_tables(const struct expr *expr, void *arg)
{
    (void)arg;
    if (expr->kind == EXPR_OUTER)
        return false;
    if (expr->kind != EXPR_SUBQUERY)
        return true;
    /* Spark makes a join of a value that depends on the row before it moves filters. */
    bool joined =
        expr->subquery.kind == SUBQUERY_SCALAR && expr->arg_count > expr->subquery.value_count;
    const struct logical_node *plan = expr->subquery.plan;
    return !joined && !plan->streaming;
}

static struct logical_node *below_watermark(struct rewriter *rewriter, struct logical_node *filter)
{
    struct logical_node *watermark = filter->children[0];
    struct expr_set parts = {0}, below = {0}, above = {0};
    split_conjuncts(rewriter->arena, filter->filter.predicate, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        struct expr *part = parts.items[i];
        bool down = expr_is_deterministic(part) && expr_walk(part, reads_tables, NULL) &&
                    expr_covered(part, watermark->children[0]) &&
                    may_pass_watermark(watermark, part);
        expr_set_add(rewriter->arena, down ? &below : &above, part);
    }
    struct logical_node *child = place(rewriter, watermark->children[0], &below);
    return place(rewriter, with_child(rewriter, watermark, child), &above);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
struct logical_node *lower_subquery_filters(struct rewriter *rewriter, struct logical_node *node)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++)
        copy->children[i] = lower_subquery_filters(rewriter, copy->children[i]);
    bool lower = copy->kind == LOGICAL_FILTER && copy->children[0]->kind == LOGICAL_WATERMARK &&
                 expr_has_kind(copy->filter.predicate, EXPR_SUBQUERY);
    return lower ? below_watermark(rewriter, copy) : copy;
}

struct logical_node *push_filters(struct rewriter *rewriter, struct logical_node *node)
{
    struct expr_set none = {0};
    return push(rewriter, node, &none);
}
