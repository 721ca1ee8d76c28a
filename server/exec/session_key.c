/*
 * See session_key.h.
 */
#include "exec/session_key.h"

/* Whether column `ordinal` of the output of `node` is the session of an operator below. */
static bool is_session(const struct plan_node *node, int ordinal)
{
    const struct expr *expr = NULL;
    switch (node->kind) {
    case PLAN_SESSION:
        return ordinal + 1 == (int)node->schema->field_count;
    case PLAN_FILTER:
    case PLAN_WATERMARK:
        return is_session(node->children[0], ordinal);
    case PLAN_PROJECT:
        expr = node->project.exprs[ordinal];
        return expr->kind == EXPR_COLUMN && is_session(node->children[0], expr->column.ordinal);
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_UNION:
    case PLAN_LIMIT:
    case PLAN_SORT:
    case PLAN_AGGREGATE:
    case PLAN_DEDUP:
    case PLAN_JOIN:
    case PLAN_EXPAND:
    case PLAN_GENERATE:
    case PLAN_WINDOW:
    case PLAN_SET_OPERATION:
        return false;
    }
    return false;
}

int session_key_of(const struct plan_node *aggregate)
{
    for (uint32_t i = 0; i < aggregate->aggregate.key_count; i++) {
        const struct expr *key = aggregate->aggregate.keys[i];
        if (key->kind == EXPR_COLUMN && is_session(aggregate->children[0], key->column.ordinal))
            return (int)i;
    }
    return -1;
}
