/*
 * Aggregations by session windows: an aggregate above a session operator.
 */
#ifndef SERVER_EXEC_SESSION_KEY_H
#define SERVER_EXEC_SESSION_KEY_H

#include "plan/physical_plan.h"

/* Which grouping key of an aggregate is the session that an operator below has made; -1: none. */
int session_key_of(const struct plan_node *aggregate);

#endif
