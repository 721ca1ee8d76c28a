/*
 * The watermark of a query: one value per watermark operator, and the global one made from them.
 *
 * An operator's value is the newest event time it has seen, less its delay; it never falls.  The
 * global value is the smallest (or, by the policy max, the largest) of them, where an operator that
 * has seen nothing in this run counts as 0; it never falls either.  Only the global one survives a
 * restart.  What a batch moves holds from the next batch on.
 */
#ifndef SERVER_WORKER_WATERMARK_H
#define SERVER_WORKER_WATERMARK_H

#include "exec/node_watermark.h"

enum watermark_policy {
    WATERMARK_MIN,
    WATERMARK_MAX,
};

struct watermark_tracker {
    enum watermark_policy policy;
    uint32_t count;    /* watermark operators */
    int64_t *delay_ms; /* of each */
    int64_t *value_ms; /* of each; INT64_MIN: nothing seen in this run */
    int64_t global_ms;
};

/* Finds the watermark operators of a plan. */
void watermark_init(struct watermark_tracker *tracker, struct arena *query,
                    const struct physical_plan *plan, enum watermark_policy policy);

/* After a restart: the logged global value. */
void watermark_restore(struct watermark_tracker *tracker, int64_t global_us);

/* Takes in what the operators saw in one batch, one entry each. */
void watermark_update(struct watermark_tracker *tracker, const struct event_time_stats *stats);

int64_t watermark_global_us(const struct watermark_tracker *tracker);

#endif
