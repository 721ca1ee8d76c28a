/*
 * What can be said about stateful operators only when the plan is optimised: which columns reach
 * them, and by which keys they hash.
 */
#ifndef SERVER_PLAN_CHECK_STATE_H
#define SERVER_PLAN_CHECK_STATE_H

#include "analyze/logical_plan.h"
#include "plan/physical_plan.h"

/* Two event times at one stateful operator.  Errors: MULTIPLE_EVENT_TIME_COLUMNS. */
MUST_USE enum status check_event_times(const struct logical_node *node, struct error *err);

/* A join of two streams without an equality; `logical` is what the plan was made of, for the place
 * in the SQL.  Errors: NOT_SUPPORTED. */
MUST_USE enum status check_join_keys(const struct plan_node *node,
                                     const struct logical_node *logical, struct error *err);

#endif
