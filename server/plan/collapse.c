/*
 * Projections over projections become one, unless that would compute something twice.
 */
#include "base/check.h"
#include "plan/rewrite.h"

#include <string.h>

static bool is_cheap(const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN || expr->kind == EXPR_LITERAL)
        return true;
    return expr->kind == EXPR_CALL && strcmp(expr->call.function->name, ".") == 0 &&
           expr->args[0]->type->id == TYPE_STRUCT && is_cheap(expr->args[0]);
}

struct uses {
    uint32_t id;
    uint32_t count;
};

static bool count_use(const struct expr *expr, void *arg)
{
    struct uses *uses = arg;
    uses->count += expr->kind == EXPR_COLUMN && expr->column.attribute_id == uses->id;
    return true;
}

static bool may_merge(const struct logical_node *upper, const struct logical_node *lower)
{
    for (uint32_t i = 0; i < lower->output_count; i++) {
        const struct expr *expr = lower->project.exprs[i];
        if (is_cheap(expr))
            continue;
        struct uses uses = {.id = lower->output[i]->id};
        for (uint32_t j = 0; j < upper->output_count; j++)
            expr_walk(upper->project.exprs[j], count_use, &uses);
        if (uses.count > 1 || (uses.count == 1 && !expr_is_deterministic(expr)))
            return false;
    }
    return true;
}

/* Inside a lambda an expression would be computed once per element. */
static bool has_lambda(const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (expr_has_kind(node->project.exprs[i], EXPR_LAMBDA))
            return true;
    return false;
}

static struct logical_node *merge(struct rewriter *rewriter, struct logical_node *upper,
                                  const struct logical_node *lower)
{
    struct expr **exprs =
        arena_new_object(rewriter->arena, (upper->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < upper->output_count; i++)
        exprs[i] = substitute_outputs(rewriter, upper->project.exprs[i], lower->output,
                                      lower->project.exprs, lower->output_count);
    struct logical_node *copy = with_child(rewriter, upper, lower->children[0]);
    copy->project.exprs = exprs;
    return copy;
}

static bool is_identity(const struct logical_node *node)
{
    const struct logical_node *child = node->children[0];
    if (node->output_count != child->output_count)
        return false;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct expr *expr = node->project.exprs[i];
        if (expr->kind != EXPR_COLUMN || expr->column.attribute_id != child->output[i]->id ||
            node->output[i]->id != child->output[i]->id ||
            strcmp(node->output[i]->name, child->output[i]->name) != 0)
            return false;
    }
    return true;
}

struct logical_node *collapse_projects(struct rewriter *rewriter, struct logical_node *node)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++)
        copy->children[i] = collapse_projects(rewriter, copy->children[i]);
    if (copy->kind != LOGICAL_PROJECT)
        return copy;
    while (copy->children[0]->kind == LOGICAL_PROJECT && may_merge(copy, copy->children[0]) &&
           !has_lambda(copy))
        copy = merge(rewriter, copy, copy->children[0]);
    return is_identity(copy) ? copy->children[0] : copy;
}
