/*
 * See stateful.h.
 */
#include "exec/stateful.h"

#include "exec/session_key.h"

static const struct exec_node_ops *const stateful_table[] = {
#define EXEC_STATEFUL(plan_kind, ops) [plan_kind] = &ops,
#include "exec/stateful_table.def"
#undef EXEC_STATEFUL
};

const struct exec_node_ops *stateful_of(const struct plan_node *node)
{
    size_t index = (size_t)node->kind;
    if (node->kind == PLAN_AGGREGATE && session_key_of(node) >= 0)
        return &node_session_aggregate;
    if (node->kind == PLAN_AGGREGATE && node->aggregate.pane_key >= 0)
        return &node_pane_aggregate;
    return index < sizeof stateful_table / sizeof stateful_table[0] ? stateful_table[index] : NULL;
}

bool stateful_is_static_join(const struct plan_node *node)
{
    return node->kind == PLAN_JOIN && node->streaming &&
           node->children[0]->streaming != node->children[1]->streaming;
}

bool stateful_is_boundary(const struct plan_node *node)
{
    return node->streaming && stateful_of(node) != NULL && !stateful_is_static_join(node);
}

void stateful_spill_stats(const struct spill *spill, struct operator_stats *out)
{
    out->rows_spilled = spill_entries(spill);
    out->rows_fetched = spill->fetched;
    out->spill_lookups = spill->keys_read;
    out->spill_scanned = spill->buffers.entries_read;
}
