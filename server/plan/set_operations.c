/*
 * EXCEPT of a stream and a table: an anti join, then DISTINCT, which is what Spark makes of it.
 */
#include "base/check.h"
#include "plan/rewrite.h"

static enum status same_columns(struct rewriter *rewriter, const struct logical_node *left,
                                const struct logical_node *right, struct expr **out,
                                struct error *err)
{
    struct expr_set parts = {0};
    for (uint32_t i = 0; i < left->output_count; i++) {
        struct expr *same;
        TRY(function_resolve_2(&rewriter->functions, "<=>",
                               attribute_expr(rewriter->arena, left->output[i]),
                               attribute_expr(rewriter->arena, right->output[i]), &same, err));
        expr_set_add(rewriter->arena, &parts, same);
    }
    *out = conjunction(rewriter, parts.items, parts.count);
    return OK;
}

static enum status rewrite_except(struct rewriter *rewriter, const struct logical_node *node,
                                  struct logical_node **out, struct error *err)
{
    struct arena *arena = rewriter->arena;
    struct logical_node *left = node->children[0];
    struct logical_node *join = logical_new(arena, LOGICAL_JOIN, node->children, 2);
    TRY(same_columns(rewriter, left, node->children[1], &join->join.condition, err));
    join->join.kind = LOGICAL_JOIN_LEFT_ANTI;
    join->output = left->output;
    join->output_count = left->output_count;
    struct logical_node *distinct = logical_over(arena, LOGICAL_DISTINCT, join);
    struct expr **exprs = arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++)
        exprs[i] = attribute_expr(arena, left->output[i]);
    *out = logical_project(arena, distinct, exprs, node->output, node->output_count);
    return OK;
}

enum status rewrite_set_operations(struct rewriter *rewriter, struct logical_node *node,
                                   struct logical_node **out, struct error *err)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++)
        TRY(rewrite_set_operations(rewriter, copy->children[i], &copy->children[i], err));
    *out = copy;
    if (copy->kind != LOGICAL_SET_OPERATION || copy->set_operation.is_intersect ||
        copy->set_operation.all || !copy->streaming)
        return OK;
    return rewrite_except(rewriter, copy, out, err);
}
