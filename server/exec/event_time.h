/*
 * Where the event time is in the rows of a plan node.
 */
#ifndef SERVER_EXEC_EVENT_TIME_H
#define SERVER_EXEC_EVENT_TIME_H

#include "plan/physical_plan.h"

/*
 * The ordinal of the column that a watermark is declared on, or of a window made of it, in the
 * output of `node`; -1: there is none.  Of a union the first arm decides, of a join the left side
 * comes first.
 */
int event_time_ordinal(const struct plan_node *node);

/* Whether this column is the event time, or a window made of it: a node may have several. */
bool event_time_is(const struct plan_node *node, int ordinal);
/* The same of an expression over the output of `node`. */
bool event_time_is_expr(const struct plan_node *node, const struct expr *expr);

/* The delay of the watermark that is nearest below; 0 if there is none. */
int64_t event_time_delay_us(const struct plan_node *node);

struct vector;

#define EVENT_TIME_NONE INT64_MAX

/* The field of a window, or of another struct that a watermark may stand on, that says when it
 * ends: the first that is called `end`. */
uint32_t event_time_field(const struct type *type);

/*
 * Up to when the watermark keeps a row: its timestamp, or the end of its window; EVENT_TIME_NONE if
 * it is NULL.  A window moves the watermark by its last microsecond (node_watermark.h).
 */
int64_t event_time_at(const struct vector *column, uint32_t row);

#endif
