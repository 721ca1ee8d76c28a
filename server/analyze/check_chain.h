/*
 * What is said about an aggregation that does not group by the event time: above another one, whose
 * window is the event time then, and over a stream.  The advice has to lead to a legal query.
 */
#ifndef SERVER_ANALYZE_CHECK_CHAIN_H
#define SERVER_ANALYZE_CHECK_CHAIN_H

#include "analyze/logical_plan.h"
#include "base/buffer.h"
#include "base/error.h"

/* An aggregation, or a DISTINCT, over a stream. */
bool is_aggregation(const struct logical_node *node);
/* The first one from the top, the left side of a join before its right; NULL: there is none. */
const struct logical_node *topmost_aggregation(const struct logical_node *node);

/* Append mode: there is a watermark, but the grouping does not use it.  `chained`: the aggregation
 * stands above another one, so that no other output mode is possible either.  The text of `err`
 * goes on. */
void say_unused_watermark(const struct logical_node *aggregate, bool chained, struct error *err);

/* Another mode, which a chain cannot have: what it takes in append mode. */
void say_chain_needs_append(const struct logical_node *node, struct buffer *text);

#endif
