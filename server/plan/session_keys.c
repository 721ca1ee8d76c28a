/*
 * A session is the business of a group: rows of different groups are in different sessions.  The
 * session node stands below the aggregate, so it has to know the other grouping keys.
 */
#include "base/check.h"
#include "plan/physical.h"

#include <string.h>

static bool is_session_key(const struct expr *key, const struct logical_node *session)
{
    return key->kind == EXPR_COLUMN &&
           key->column.attribute_id == session->output[session->output_count - 1]->id;
}

/* The session node below an aggregate; the keys come along as expressions over its child. */
static struct logical_node *find_session(struct rewriter *rewriter, struct logical_node *node,
                                         struct expr **keys, uint32_t count)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT ||
           node->kind == LOGICAL_WATERMARK) {
        if (node->kind == LOGICAL_PROJECT)
            for (uint32_t i = 0; i < count; i++)
                keys[i] = substitute_outputs(rewriter, keys[i], node->output, node->project.exprs,
                                             node->output_count);
        node = node->children[0];
    }
    return node->kind == LOGICAL_SESSION ? node : NULL;
}

static enum status fill_aggregate(struct rewriter *rewriter, struct logical_node *node,
                                  struct error *err)
{
    uint32_t count = node->aggregate.key_count;
    struct expr **keys = arena_new_object(rewriter->arena, (count + 1) * sizeof(struct expr *));
    if (count > 0)
        memcpy(keys, node->aggregate.keys, count * sizeof(struct expr *));
    struct logical_node *session = find_session(rewriter, node->children[0], keys, count);
    if (session == NULL)
        return OK;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!is_session_key(keys[i], session))
            keys[kept++] = keys[i];
    if (kept == count)
        return OK;
    for (uint32_t i = 0; i < kept; i++)
        if (!expr_covered(keys[i], session->children[0]))
            return error_raise_at(err, STATUS_NOT_SUPPORTED, node->position, node->position_end,
                                  "feature", "A grouping key made of the session window itself",
                                  NULL);
    session->session.keys = keys;
    session->session.key_count = kept;
    return OK;
}

enum status fill_session_keys(struct rewriter *rewriter, struct logical_node *node,
                              struct error *err)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(fill_session_keys(rewriter, node->children[i], err));
    return node->kind == LOGICAL_AGGREGATE ? fill_aggregate(rewriter, node, err) : OK;
}
