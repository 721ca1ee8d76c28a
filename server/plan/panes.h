/*
 * Sliding windows as panes.
 *
 * An aggregation by sliding windows may keep, instead of a row per window, a row per pane: the
 * time between one boundary of a window and the next.  A window is the union of some panes that
 * follow one another, so its groups are those of its panes, merged (exec/node_pane_aggregate.c).
 */
#ifndef SERVER_PLAN_PANES_H
#define SERVER_PLAN_PANES_H

#include "plan/physical.h"

/*
 * The time window below an aggregate over a stream whose groups may be kept as panes; NULL: one
 * row per window it is.  *key is the index of the grouping key that is the window.
 *
 * Panes need that nothing but that key looks at the window, and that the aggregates are exact.
 */
const struct logical_node *panes_below(const struct logical_node *aggregate, uint32_t *key);

/* Whether the aggregates come out the same, bit by bit, in whatever order rows come and parts of
 * them are merged. */
bool aggregates_are_exact(struct expr *const *aggregates, uint32_t count);

#endif
