/*
 * What a watermark operator has seen in one task of a batch.
 */
#ifndef SERVER_EXEC_NODE_WATERMARK_H
#define SERVER_EXEC_NODE_WATERMARK_H

#include "exec/node.h"

/*
 * Event times in milliseconds since 1970, cut; a NULL counts as 0, as in Spark.  The event time of
 * a window is its last microsecond, as window_time() gives it: a window is not over before a row of
 * a later one has come.
 */
struct event_time_stats {
    uint64_t count;
    int64_t min_ms;
    int64_t max_ms;
    double sum_ms;
};

void event_time_stats_merge(struct event_time_stats *into, const struct event_time_stats *from);

const struct event_time_stats *node_watermark_stats(const struct exec_node *self);

#endif
