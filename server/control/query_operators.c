/*
 * The operators with state of a plan, and whether the state of each stops growing.
 *
 * What removes state is the watermark, and what it removes is the operator's business: the rules
 * here are those that exec/ goes by, a join's limits its very own.
 */
#include "control/query_validate.h"

#include "analyze/analyze.h"
#include "exec/join_bounds.h"
#include "exec/stateful.h"

static const char *why_join_grows(const struct join_limit limits[2])
{
    if (limits[0].kind == JOIN_LIMIT_NONE && limits[1].kind == JOIN_LIMIT_NONE)
        return "rows of both sides are kept for ever: no watermark together with an event time in "
               "the join key or a time range condition says when no match can come any more";
    if (limits[0].kind == JOIN_LIMIT_NONE)
        return "rows of the left side are kept for ever: nothing says when no match from the right "
               "side can come any more (a watermark on the right side and a time range condition "
               "that bounds it)";
    if (limits[1].kind == JOIN_LIMIT_NONE)
        return "rows of the right side are kept for ever: nothing says when no match from the left "
               "side can come any more (a watermark on the left side and a time range condition "
               "that bounds it)";
    return NULL;
}

static const char *why_aggregate_grows(const struct plan_node *node, enum output_mode mode)
{
    if (node->aggregate.key_count == 0)
        return NULL;
    if (mode == MODE_COMPLETE)
        return "in complete mode no group is ever removed, since all of them are in every result";
    if (node->aggregate.event_time_key < 0)
        return "no grouping key is an event time with a watermark, or a window of one, so that no "
               "group is ever final";
    return NULL;
}

/* NULL: it does not. */
static const char *why_it_grows(const struct plan_node *node, enum output_mode mode)
{
    struct join_limit limits[2];
    switch ((int)node->kind) {
    case PLAN_AGGREGATE:
        return why_aggregate_grows(node, mode);
    case PLAN_DEDUP:
        if (node->dedup.event_time_column >= 0)
            return NULL;
        return "no key column is an event time with a watermark, so that every key is kept for "
               "ever";
    case PLAN_JOIN:
        if (!stateful_is_boundary(node))
            return NULL;
        join_limits(node, limits);
        return why_join_grows(limits);
    default:
        return NULL;
    }
}

static const char *why_it_is_bounded(const struct plan_node *node)
{
    switch ((int)node->kind) {
    case PLAN_AGGREGATE:
        return node->aggregate.key_count == 0 ? "there is one group"
                                              : "groups go when the watermark has passed them";
    case PLAN_DEDUP:
        return "keys go when the watermark has passed them";
    case PLAN_JOIN:
        return stateful_is_boundary(node)
                   ? "rows go when the watermark says that no match can come any more"
                   : "the table is read again in every batch, nothing is kept";
    case PLAN_LIMIT:
        return "it is the number of rows that have passed";
    default:
        return "nothing is kept between batches";
    }
}

static void warn(struct arena *arena, const struct validation_operator *it, struct validation *out)
{
    const char *text =
        arena_sprintf(arena, "The state of %s (operator %d) grows without limit, because %s",
                      it->kind, it->id, it->reason);
    query_warn(arena,
               &(struct analysis_warning){.name = "UNBOUNDED_STATE",
                                          .text = text,
                                          .pointer = "",
                                          .position = -1,
                                          .position_end = -1},
               out);
}

void query_add_operators(struct arena *arena, const struct plan_node *node, enum output_mode mode,
                         struct validation *out)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        query_add_operators(arena, node->children[i], mode, out);
    if (node->operator_id < 0)
        return;
    const char *grows = why_it_grows(node, mode);
    struct validation_operator *it = &out->operators[out->operator_count++];
    *it = (struct validation_operator){
        .kind = plan_kind_name(node->kind),
        .id = node->operator_id,
        .bounded = grows == NULL,
        .reason = grows == NULL ? why_it_is_bounded(node) : grows,
    };
    if (grows != NULL)
        warn(arena, it, out);
}
