/*
 * See stream_check.h.
 */
#include "exec/stream_check.h"

#include "exec/stateful.h"

/* What cannot be done batch by batch without state; NULL: can be. */
static const char *needs_state(enum plan_kind kind)
{
    switch (kind) {
    case PLAN_AGGREGATE:
        return "aggregation of a stream";
    case PLAN_DEDUP:
        return "dropDuplicates of a stream";
    case PLAN_JOIN:
        return "a join with a stream";
    case PLAN_LIMIT:
        return "LIMIT of a stream";
    case PLAN_SORT:
        return "ORDER BY of a stream";
    case PLAN_WINDOW:
        return "window functions over a stream";
    case PLAN_SET_OPERATION:
        return "EXCEPT or INTERSECT of a stream";
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_FILTER:
    case PLAN_PROJECT:
    case PLAN_UNION:
    case PLAN_EXPAND:
    case PLAN_GENERATE:
    case PLAN_WATERMARK:
    case PLAN_SESSION: /* the aggregate above keeps it */
        return NULL;
    }
    return NULL;
}

/* The table is read by every task on its own, so the rows of the stream have to decide what comes
 * out. */
static bool runs_static_join(const struct plan_node *node)
{
    enum join_kind kind = node->join.kind;
    if (!stateful_is_static_join(node))
        return false;
    if (!node->children[0]->streaming)
        return kind == JOIN_INNER || kind == JOIN_RIGHT;
    return kind != JOIN_RIGHT && kind != JOIN_FULL;
}

static bool runs_stream_join(const struct plan_node *node)
{
    return node->kind != PLAN_JOIN ||
           (node->join.key_count > 0 && node->join.kind != JOIN_LEFT_ANTI &&
            node->join.kind != JOIN_SINGLE && node->join.kind != JOIN_EXISTENCE);
}

enum status stream_check(const struct plan_node *root, struct error *err)
{
    bool supported =
        (stateful_is_boundary(root) && runs_stream_join(root)) || runs_static_join(root);
    const char *feature = root->streaming && !supported ? needs_state(root->kind) : NULL;
    if (feature != NULL)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature", feature, NULL);
    for (uint32_t i = 0; i < root->child_count; i++)
        TRY(stream_check(root->children[i], err));
    return OK;
}
