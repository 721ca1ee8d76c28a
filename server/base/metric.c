#include "base/metric.h"

#include "base/check.h"
#include "base/heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum metric_kind {
    COUNTER,
    GAUGE,
    HISTOGRAM,
};

struct metric_def {
    const char *name;
    enum metric_kind kind;
    const char *labels;
    const char *help;
};

static const struct metric_def defs[] = {
#define METRIC(name, kind, labels, help) {#name, kind, labels, help},
#include "base/metrics.def"
#undef METRIC
};

/* Upper bounds of the buckets, in seconds; the last bucket is +Inf. */
static const double bounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
#define BOUND_COUNT (sizeof bounds / sizeof bounds[0])

struct metric_series {
    enum metric metric;
    char *values[METRIC_LABELS_MAX]; /* NULL: no such label */
    _Atomic double value;            /* histogram: the sum */
    _Atomic uint64_t *buckets;       /* histogram: BOUND_COUNT + 1, not cumulative */
    struct metric_series *next;      /* of the same metric, in order of making */
};

/* `lock` protects the lists; the numbers in a series are atomic. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct metric_series *series_first[METRIC_COUNT_];
static size_t series_count;
static struct metric_series *overflow[METRIC_COUNT_]; /* made when there are too many */

static size_t label_count(enum metric metric)
{
    const char *labels = defs[metric].labels;
    if (labels[0] == '\0')
        return 0;
    size_t count = 1;
    for (; *labels != '\0'; labels++)
        count += *labels == ',';
    CHECK(count <= METRIC_LABELS_MAX);
    return count;
}

static const char *label_value(const struct metric_labels *labels, size_t i)
{
    return labels == NULL || labels->value[i] == NULL ? "" : labels->value[i];
}

static struct metric_series *series_new(enum metric metric, const struct metric_labels *labels)
{
    struct metric_series *series = heap_calloc(1, sizeof *series);
    series->metric = metric;
    for (size_t i = 0; i < label_count(metric); i++) {
        series->values[i] = heap_strdup(label_value(labels, i));
    }
    if (defs[metric].kind == HISTOGRAM) {
        series->buckets = heap_calloc(BOUND_COUNT + 1, sizeof *series->buckets);
    }
    return series;
}

static void series_free(struct metric_series *series)
{
    for (size_t i = 0; i < METRIC_LABELS_MAX; i++)
        free(series->values[i]);
    free(series->buckets);
    free(series);
}

static bool series_is(const struct metric_series *series, const struct metric_labels *labels)
{
    for (size_t i = 0; i < METRIC_LABELS_MAX && series->values[i] != NULL; i++)
        if (strcmp(series->values[i], label_value(labels, i)) != 0)
            return false;
    return true;
}

struct metric_series *metric_series(enum metric metric, const struct metric_labels *labels)
{
    CHECK((int)metric >= 0 && metric < METRIC_COUNT_);
    CHECK(label_count(metric) == 0 || labels != NULL);
    pthread_mutex_lock(&lock);
    struct metric_series **at = &series_first[metric];
    while (*at != NULL && !series_is(*at, labels))
        at = &(*at)->next;
    struct metric_series *series = *at;
    if (series == NULL && series_count < METRIC_SERIES_MAX) {
        series = series_new(metric, labels);
        *at = series;
        series_count++;
    } else if (series == NULL) {
        if (overflow[metric] == NULL)
            overflow[metric] = series_new(metric, labels);
        series = overflow[metric];
    }
    pthread_mutex_unlock(&lock);
    return series;
}

static void add_double(_Atomic double *target, double delta)
{
    double have = atomic_load(target);
    while (!atomic_compare_exchange_weak(target, &have, have + delta))
        continue;
}

void metric_add(struct metric_series *series, double delta)
{
    CHECK(series != NULL && defs[series->metric].kind != HISTOGRAM);
    CHECK(delta >= 0 || defs[series->metric].kind == GAUGE);
    add_double(&series->value, delta);
}

void metric_set(struct metric_series *series, double value)
{
    CHECK(series != NULL && defs[series->metric].kind == GAUGE);
    atomic_store(&series->value, value);
}

void metric_observe(struct metric_series *series, double value)
{
    CHECK(series != NULL && defs[series->metric].kind == HISTOGRAM);
    size_t bucket = 0;
    while (bucket < BOUND_COUNT && value > bounds[bucket])
        bucket++;
    atomic_fetch_add(&series->buckets[bucket], 1);
    add_double(&series->value, value);
}

double metric_value(struct metric_series *series)
{
    CHECK(series != NULL);
    return atomic_load(&series->value);
}

/* Index of `label` among the metric's labels, or METRIC_LABELS_MAX. */
static size_t label_index(enum metric metric, const char *label)
{
    const char *at = defs[metric].labels;
    for (size_t i = 0; at != NULL && *at != '\0'; i++) {
        const char *comma = strchr(at, ',');
        size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);
        if (strlen(label) == length && memcmp(at, label, length) == 0)
            return i;
        at = comma == NULL ? NULL : comma + 1;
    }
    return METRIC_LABELS_MAX;
}

void metric_forget(const char *label, const char *value)
{
    pthread_mutex_lock(&lock);
    for (int metric = 0; metric < METRIC_COUNT_; metric++) {
        size_t index = label_index((enum metric)metric, label);
        struct metric_series **at = &series_first[metric];
        while (index < METRIC_LABELS_MAX && *at != NULL) {
            struct metric_series *series = *at;
            if (strcmp(series->values[index], value) != 0) {
                at = &series->next;
                continue;
            }
            *at = series->next;
            series_free(series);
            series_count--;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void write_escaped(struct buffer *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            buffer_add_byte(out, '\\');
        if (*value == '\n')
            buffer_add_text(out, "\\n");
        else
            buffer_add_byte(out, (uint8_t)*value);
    }
}

/* {query="visits",le="0.1"} with `extra` as further pairs, or nothing. */
static void write_labels(struct buffer *out, const struct metric_series *series, const char *extra)
{
    const char *name = defs[series->metric].labels;
    bool any = false;
    for (size_t i = 0; i < METRIC_LABELS_MAX && series->values[i] != NULL; i++) {
        size_t length = strcspn(name, ",");
        buffer_add_text(out, any ? "," : "{");
        buffer_add(out, name, length);
        buffer_add_text(out, "=\"");
        write_escaped(out, series->values[i]);
        buffer_add_byte(out, '"');
        name += length + (name[length] == ',');
        any = true;
    }
    if (extra != NULL) {
        buffer_add_text(out, any ? "," : "{");
        buffer_add_text(out, extra);
        any = true;
    }
    if (any)
        buffer_add_byte(out, '}');
}

static void write_number(struct buffer *out, double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.17g", value);
    char shorter[32];
    (void)snprintf(shorter, sizeof shorter, "%.15g", value);
    buffer_add_text(out, strtod(shorter, NULL) == value ? shorter : text);
}

static void write_histogram(struct buffer *out, struct metric_series *series)
{
    const char *name = defs[series->metric].name;
    uint64_t sum = 0;
    for (size_t i = 0; i <= BOUND_COUNT; i++) {
        char le[48];
        if (i < BOUND_COUNT)
            (void)snprintf(le, sizeof le, "le=\"%g\"", bounds[i]);
        else
            (void)snprintf(le, sizeof le, "le=\"+Inf\"");
        sum += atomic_load(&series->buckets[i]);
        buffer_printf(out, "tidemill_%s_bucket", name);
        write_labels(out, series, le);
        buffer_printf(out, " %llu\n", (unsigned long long)sum);
    }
    buffer_printf(out, "tidemill_%s_sum", name);
    write_labels(out, series, NULL);
    buffer_add_byte(out, ' ');
    write_number(out, atomic_load(&series->value));
    buffer_printf(out, "\ntidemill_%s_count", name);
    write_labels(out, series, NULL);
    buffer_printf(out, " %llu\n", (unsigned long long)sum);
}

void metric_write(struct buffer *out)
{
    pthread_mutex_lock(&lock);
    for (int metric = 0; metric < METRIC_COUNT_; metric++) {
        if (series_first[metric] == NULL)
            continue;
        const struct metric_def *def = &defs[metric];
        buffer_printf(out, "# HELP tidemill_%s %s\n# TYPE tidemill_%s %s\n", def->name, def->help,
                      def->name, metric_kind_name((enum metric)metric));
        for (struct metric_series *s = series_first[metric]; s != NULL; s = s->next) {
            if (def->kind == HISTOGRAM) {
                write_histogram(out, s);
                continue;
            }
            buffer_printf(out, "tidemill_%s", def->name);
            write_labels(out, s, NULL);
            buffer_add_byte(out, ' ');
            write_number(out, atomic_load(&s->value));
            buffer_add_byte(out, '\n');
        }
    }
    pthread_mutex_unlock(&lock);
}

const char *metric_name(enum metric metric)
{
    return defs[metric].name;
}

const char *metric_kind_name(enum metric metric)
{
    static const char *const names[] = {"counter", "gauge", "histogram"};
    return names[defs[metric].kind];
}

const char *metric_label_names(enum metric metric)
{
    return defs[metric].labels;
}

const char *metric_help(enum metric metric)
{
    return defs[metric].help;
}
