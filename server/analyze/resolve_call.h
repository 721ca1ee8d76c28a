/*
 * The parts of resolving a call: arguments, aggregates, OVER, and the markers window() and
 * session_window(), which become nodes of the plan.
 */
#ifndef SERVER_ANALYZE_RESOLVE_CALL_H
#define SERVER_ANALYZE_RESOLVE_CALL_H

#include "analyze/analyzer.h"

MUST_USE enum status resolve_arguments(struct resolver *resolver, const struct ast_expr *ast,
                                       const char *name, struct expr_list *out, struct error *err);
MUST_USE enum status resolve_aggregate(struct resolver *resolver, const struct ast_expr *ast,
                                       const char *name, struct expr **out, struct error *err);

/* routine_hint.c: the error of a name that no function has: NOT_SUPPORTED if Spark has one,
 * otherwise UNRESOLVED_ROUTINE, and behind its text the function that is meant. */
void routine_unresolved(struct analyzer *analyzer, const struct ast_path *path, struct error *err);
/* Only the hint of the windows of other systems; true if it is one. */
bool routine_window_hint(const char *name, struct error *err);

/* resolve_window.c */
MUST_USE enum status resolve_over(struct resolver *resolver, const struct ast_expr *ast,
                                  const char *name, struct expr **out, struct error *err);

/* time_window.c */
bool time_window_is_marker(const char *name);
MUST_USE enum status resolve_time_window(struct resolver *resolver, const struct ast_expr *ast,
                                         const char *name, struct expr **out, struct error *err);

/* aggregation.c: grouping(x) and grouping_id(...) as markers. */
MUST_USE enum status resolve_grouping_call(struct resolver *resolver, const struct ast_expr *ast,
                                           const char *name, struct expr **out, struct error *err);

#endif
