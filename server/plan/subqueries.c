#include "plan/rewrite.h"

static enum status refuse(struct expr **slot, void *arg, struct error *err)
{
    (void)arg;
    if (expr_has_kind(*slot, EXPR_SUBQUERY))
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature", "A subquery in an expression",
                           NULL);
    return OK;
}

enum status rewrite_subqueries(struct rewriter *rewriter, struct logical_node *node,
                               struct logical_node **out, struct error *err)
{
    (void)rewriter;
    TRY(logical_each_expr(node, refuse, NULL, err));
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(rewrite_subqueries(rewriter, node->children[i], &node->children[i], err));
    *out = node;
    return OK;
}
