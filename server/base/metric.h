/*
 * Metrics, printed in Prometheus's text format.
 *
 * The list is metrics.def.  A metric has at most METRIC_LABELS_MAX labels with few values; a
 * series is one combination of label values.  metric_series() finds or makes the series, which
 * callers keep; adding is one atomic instruction.
 * Threads: any.
 */
#ifndef SERVER_BASE_METRIC_H
#define SERVER_BASE_METRIC_H

#include "base/buffer.h"

#define METRIC_LABELS_MAX 3
#define METRIC_SERIES_MAX                                                                          \
    20000 /* all together; beyond it values go to a series that is not shown */

enum metric {
#define METRIC(name, kind, labels, help) METRIC_##name,
#include "base/metrics.def"
#undef METRIC
    METRIC_COUNT_
};

struct metric_series;

/* The values of the metric's labels, in the order of metrics.def; NULL ends the list early. */
struct metric_labels {
    const char *value[METRIC_LABELS_MAX];
};

/* The series of a metric without labels: labels == NULL.  The result lives until forgotten. */
struct metric_series *metric_series(enum metric metric, const struct metric_labels *labels);

void metric_add(struct metric_series *series, double delta); /* counter: delta >= 0; gauge: any */
void metric_set(struct metric_series *series, double value); /* gauge */
void metric_observe(struct metric_series *series, double value); /* histogram, in base units */
double metric_value(struct metric_series *series);               /* histogram: the sum */

/* Drops every series with this value of this label (a query was deleted).  Handles to them end. */
void metric_forget(const char *label, const char *value);

/* Appends all series in Prometheus's text format 0.0.4. */
void metric_write(struct buffer *out);

/* For reference pages: "counter", label list ("query,state") and help of a metric. */
const char *metric_name(enum metric metric);
const char *metric_kind_name(enum metric metric);
const char *metric_label_names(enum metric metric);
const char *metric_help(enum metric metric);

#endif
