/*
 * When may a join of two streams forget a row?  Only if the watermark of one side bounds the time
 * of the other.
 */
#ifndef SERVER_ANALYZE_CHECK_JOIN_H
#define SERVER_ANALYZE_CHECK_JOIN_H

#include "analyze/logical_plan.h"
#include "base/buffer.h"

/* An event-time column is among the equal keys of the join. */
bool join_has_event_key(const struct logical_node *join);

/* The condition bounds the time of side `preserved` (0 left, 1 right) from below by the event time
 * of the other side: `o.at >= p.at - INTERVAL 10 SECONDS`. */
bool join_bounds_side(const struct logical_node *join, uint32_t preserved);

/* The condition that is missing, by the names that ON knows (join.times), if both sides have a
 * watermark: how far the times may be apart, or that the windows are equal. */
void say_join_bound(const struct logical_node *join, struct buffer *text);

/* A name as SQL reads it: with backquotes if it needs them. */
void add_sql_name(struct buffer *text, const char *name);

#endif
