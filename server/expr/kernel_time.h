/*
 * Inside expr/: arithmetic of dates, times and intervals.
 */
#ifndef SERVER_EXPR_KERNEL_TIME_H
#define SERVER_EXPR_KERNEL_TIME_H

#include "columnar/type.h"
#include "expr/resolvers.h"

RESOLVER(resolve_date_add); /* date_add, date_sub */
RESOLVER(resolve_timestamp_interval);
RESOLVER(resolve_date_minus_date);
RESOLVER(resolve_timestamp_minus_timestamp);
RESOLVER(resolve_interval_times);

KERNEL(kernel_date_add);
KERNEL(kernel_date_sub);
KERNEL(kernel_date_plus_months);
KERNEL(kernel_date_minus_months);
KERNEL(kernel_date_plus_interval);
KERNEL(kernel_date_minus_interval);
KERNEL(kernel_timestamp_plus_months);
KERNEL(kernel_timestamp_minus_months);
KERNEL(kernel_timestamp_plus_interval);
KERNEL(kernel_timestamp_minus_interval);
KERNEL(kernel_date_minus_date);
KERNEL(kernel_timestamp_minus_timestamp);
KERNEL(kernel_interval_days);

/* Makes a call of dates or times NULL where the result does not fit; leaves others alone. */
void kernel_time_try(struct expr *call);

/* instant + months + days (both on the local calendar) + micros.  False: overflow. */
bool timestamp_add(int64_t us, struct calendar_interval interval, const struct zone *zone,
                   int64_t *out);

#endif
