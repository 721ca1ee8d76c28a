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

/* routine_hint.c: says behind the text of the error which function is meant by the name. */
void routine_hint(struct arena *arena, const char *name, struct error *err);
/* Only of the windows of other systems; true if it is one. */
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
