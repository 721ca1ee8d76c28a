/*
 * The operators with state of a plan, and whether the state of each stops growing.
 *
 * What removes state is the watermark, and what it removes is the operator's business: the rules
 * here are those that exec/ goes by, a join's limits its very own.
 */
#include "control/query_validate.h"

#include "analyze/analyze.h"
#include "exec/aggregate_calls.h"
#include "exec/join_bounds.h"
#include "exec/stateful.h"

#define SETS_SHOWN 4 /* grouping sets, in one text */

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

/* ---- aggregations ---- */

/* "collect_list keeps each value": the first aggregate whose state grows with its input; NULL. */
static const char *what_keeps_values(struct arena *arena, const struct plan_node *node)
{
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        const struct expr *call = node->aggregate.aggregates[i];
        const char *what = aggregate_call_keeps(call);
        if (what != NULL)
            return arena_sprintf(arena, "%s%s keeps %s", call->aggregate.name,
                                 call->aggregate.distinct ? "(DISTINCT)" : "", what);
    }
    return NULL;
}

static bool is_null_literal(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && vector_is_null(expr->literal.value, 0);
}

/* The grouping sets that a key goes through: the node, and the key's ordinal in it.  NULL: none. */
static const struct plan_node *sets_of(const struct plan_node *node, const struct expr *key,
                                       uint32_t *ordinal)
{
    if (key->kind != EXPR_COLUMN)
        return NULL;
    *ordinal = (uint32_t)key->column.ordinal;
    for (node = node->children[0]; node->child_count == 1; node = node->children[0]) {
        if (node->kind == PLAN_EXPAND)
            return node;
        if (node->kind == PLAN_PROJECT) {
            key = node->project.exprs[*ordinal];
            if (key->kind != EXPR_COLUMN)
                return NULL;
            *ordinal = (uint32_t)key->column.ordinal;
        } else if (node->kind != PLAN_FILTER) {
            return NULL;
        }
    }
    return NULL;
}

/* "(k, w)": the keys that the grouping set has. */
static uint32_t add_set(struct buffer *out, const struct plan_node *node,
                        const struct plan_node *sets, uint32_t set)
{
    uint32_t count = 0;
    buffer_add_byte(out, '(');
    for (uint32_t i = 0; i < node->aggregate.key_count; i++) {
        uint32_t ordinal = 0;
        if (sets_of(node, node->aggregate.keys[i], &ordinal) == sets &&
            sets->expand.projections[set][ordinal]->kind != EXPR_LITERAL)
            buffer_printf(out, "%s%s", count++ > 0 ? ", " : "", node->schema->fields[i].name);
    }
    buffer_add_byte(out, ')');
    return count;
}

/* The grouping sets that leave the event time out: no watermark ever passes their groups. */
struct timeless {
    uint32_t count;
    bool keyed;         /* one of them has keys: many groups */
    const char *names;  /* "(k), ()" */
    const char *column; /* the event time that they lack */
};

static struct timeless timeless_sets(struct arena *arena, const struct plan_node *node)
{
    struct timeless found = {0};
    struct buffer names = {0};
    uint32_t ordinal = 0;
    int time = node->aggregate.event_time_key;
    const struct plan_node *sets =
        time < 0 ? NULL : sets_of(node, node->aggregate.keys[time], &ordinal);
    for (uint32_t i = 0; sets != NULL && i < sets->expand.projection_count; i++) {
        if (!is_null_literal(sets->expand.projections[i][ordinal]))
            continue;
        struct buffer ignored = {0};
        buffer_add_text(&names, found.count == 0 ? "" : found.count < SETS_SHOWN ? ", " : "");
        found.keyed |= add_set(found.count < SETS_SHOWN ? &names : &ignored, node, sets, i) > 0;
        if (found.count++ == SETS_SHOWN)
            buffer_add_text(&names, ", ...");
        buffer_fini(&ignored);
    }
    if (found.count > 0)
        found.column = node->schema->fields[time].name;
    found.names = arena_strdup(arena, buffer_text(&names));
    buffer_fini(&names);
    return found;
}

/* Without the aggregates that keep values. */
static const char *why_groups_stay(struct arena *arena, const struct plan_node *node,
                                   enum output_mode mode)
{
    if (node->aggregate.key_count == 0)
        return NULL;
    if (mode == MODE_COMPLETE)
        return "in complete mode no group is ever removed, since all of them are in every result";
    if (node->aggregate.event_time_key < 0)
        return "no grouping key is an event time with a watermark, or a window of one, so that no "
               "group is ever final";
    struct timeless sets = timeless_sets(arena, node);
    if (!sets.keyed)
        return NULL;
    return arena_sprintf(arena,
                         "the grouping set%s %s ha%s no %s, so that no watermark ever removes "
                         "%s groups",
                         sets.count == 1 ? "" : "s", sets.names, sets.count == 1 ? "s" : "ve",
                         sets.column, sets.count == 1 ? "its" : "their");
}

static const char *why_aggregate_grows(struct arena *arena, const struct plan_node *node,
                                       enum output_mode mode)
{
    const char *stays = why_groups_stay(arena, node, mode);
    const char *keeps = what_keeps_values(arena, node);
    bool one = node->aggregate.key_count == 0 || timeless_sets(arena, node).count > 0;
    if (stays == NULL)
        return one ? keeps : NULL;
    return keeps == NULL ? stays : arena_sprintf(arena, "%s, and %s", stays, keeps);
}

/* Rows that append mode lets out never: said of the groups of grouping sets without the time. */
static void warn_of_timeless(struct arena *arena, const struct plan_node *node,
                             enum output_mode mode, struct validation *out)
{
    if (node->kind != PLAN_AGGREGATE || mode != MODE_APPEND)
        return;
    struct timeless sets = timeless_sets(arena, node);
    if (sets.count == 0)
        return;
    bool one = sets.count == 1;
    const char *text = arena_sprintf(
        arena,
        "The rows of the grouping set%s %s never come out in append mode: %s no %s that a "
        "watermark could pass. Put %s into every grouping set, or use update mode",
        one ? "" : "s", sets.names, one ? "it has" : "they have", sets.column, sets.column);
    query_warn(arena,
               &(struct analysis_warning){.name = "GROUPS_NEVER_COME_OUT",
                                          .text = text,
                                          .pointer = "",
                                          .position = -1,
                                          .position_end = -1},
               out);
}

/* ---- all ---- */

/* NULL: it does not. */
static const char *why_it_grows(struct arena *arena, const struct plan_node *node,
                                enum output_mode mode)
{
    struct join_limit limits[2];
    switch ((int)node->kind) {
    case PLAN_AGGREGATE:
        return why_aggregate_grows(arena, node, mode);
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
    const char *grows = why_it_grows(arena, node, mode);
    struct validation_operator *it = &out->operators[out->operator_count++];
    *it = (struct validation_operator){
        .kind = plan_kind_name(node->kind),
        .id = node->operator_id,
        .bounded = grows == NULL,
        .reason = grows == NULL ? why_it_is_bounded(node) : grows,
    };
    if (grows != NULL)
        warn(arena, it, out);
    warn_of_timeless(arena, node, mode, out);
}
