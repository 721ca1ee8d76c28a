/*
 * Sources that make their rows up: rate (source_rate.c) and rate-micro-batch
 * (source_rate_micro_batch.c).
 */
#ifndef SERVER_SOURCE_SOURCE_RATE_H
#define SERVER_SOURCE_SOURCE_RATE_H

#include "source/source.h"

extern const struct source_ops source_rate;
extern const struct source_ops source_rate_micro_batch;

/* timestamp TIMESTAMP, value BIGINT */
const struct type *rate_schema(struct arena *query);

/* Rows first, first + step, ... below end. */
struct rate_rows {
    int64_t first;
    int64_t end;
    int64_t step;
    /* The time of value v: base_us + round((v - from) * us_per_value), to the millisecond. */
    int64_t from;
    int64_t base_us;
    double ms_per_value;
};

/* Delivers them as batches of the bound columns (0: timestamp, 1: value). */
MUST_USE enum status rate_deliver(const struct rate_rows *rows, const struct type *bound,
                                  const uint32_t *columns, struct batch_receiver *receiver,
                                  struct error *err);

/* What both keep of bind(). */
struct rate_binding {
    uint32_t columns[2];
    const struct type *bound;
};

void rate_bind(struct arena *query, const struct type *schema, const uint32_t *columns,
               uint32_t count, struct rate_binding *out);

#endif
