/*
 * Joins of a stream with a table: brings the table to the right.
 */
#ifndef SERVER_EXEC_STATIC_JOIN_H
#define SERVER_EXEC_STATIC_JOIN_H

#include "plan/physical_plan.h"

/*
 * A plan in which every join of a table with a stream has the stream on its left side: the join is
 * turned round, and a projection above it puts its columns back.  The rest of the tree is changed
 * in place.
 */
struct plan_node *static_join_turn(struct arena *query, struct plan_node *root);

#endif
