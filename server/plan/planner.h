/*
 * The planner: a resolved logical plan into a physical one.
 *
 * Subqueries become joins (decorrelate.c), constants are folded, filters go down to the scans
 * (push_filters.c), columns and fields of structs that nothing uses are dropped (prune.c),
 * projections are merged (collapse.c), and what is left is bound and numbered (physical.c).
 *
 * Threads: any; one plan uses one arena.
 */
#ifndef SERVER_PLAN_PLANNER_H
#define SERVER_PLAN_PLANNER_H

#include "analyze/analyze.h"
#include "plan/physical_plan.h"

/* The result lives in `query`.  Errors: NOT_SUPPORTED, LIMIT_EXCEEDED. */
MUST_USE enum status plan_query(struct arena *query, const struct analysis *analysis,
                                struct physical_plan **out, struct error *err);

#endif
