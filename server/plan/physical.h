/*
 * From the optimised logical plan to the physical one: operators are chosen, columns bound to
 * ordinals, stateful operators numbered.
 */
#ifndef SERVER_PLAN_PHYSICAL_H
#define SERVER_PLAN_PHYSICAL_H

#include "plan/physical_plan.h"
#include "plan/rewrite.h"

/* Sessions are found per group: gives each session node the other keys of the aggregate above. */
MUST_USE enum status fill_session_keys(struct rewriter *rewriter, struct logical_node *node,
                                       struct error *err);

MUST_USE enum status physical_make(struct rewriter *rewriter, struct logical_node *node,
                                   struct physical_plan *plan, struct error *err);

/* window() over one row: STRUCT<start, end> of window `index` (0: the latest) around `time`. */
struct expr *time_window_expr(struct rewriter *rewriter, struct expr *time, const int64_t spec[3],
                              uint32_t index, const struct type *type);

/* The pane of a row: STRUCT<start, end> of the time between two boundaries of windows. */
struct expr *time_pane_expr(struct rewriter *rewriter, struct expr *time, const int64_t spec[3],
                            const struct type *type);

#endif
