/*
 * When a join of two streams may forget a row: what the watermark says about the rows that can
 * still come from the other side.
 */
#ifndef SERVER_EXEC_JOIN_BOUNDS_H
#define SERVER_EXEC_JOIN_BOUNDS_H

#include "plan/physical_plan.h"

enum join_limit_kind {
    JOIN_LIMIT_NONE,  /* rows of this side are kept for ever */
    JOIN_LIMIT_KEY,   /* until the watermark has reached the time in the key */
    JOIN_LIMIT_VALUE, /* until watermark + offset has reached the row's own event time */
};

struct join_limit {
    enum join_limit_kind kind;
    uint32_t key;      /* KEY: index of the join key */
    int column;        /* VALUE: ordinal in this side's rows */
    int64_t offset_us; /* VALUE */
};

/* limits[0]: of the left side's rows; limits[1]: of the right side's. */
void join_limits(const struct plan_node *join, struct join_limit limits[2]);

/* How far the event time of what comes out of `node` may lag behind the query's watermark. */
int64_t join_watermark_shift_us(const struct plan_node *node);

#endif
