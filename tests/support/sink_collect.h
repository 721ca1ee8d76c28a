/*
 * The sink of tests: keeps the rows of every committed batch, as canonical text, outside the query,
 * so that they outlive it.  A batch that is committed again replaces its rows, as a transactional
 * sink does.  It stands in for the product's `memory` sink; sink_collect_find() is the registry to
 * give to a query.
 *
 * Threads: task writers of one batch at the same time; the rest: the batch thread.
 */
#ifndef TESTS_SUPPORT_SINK_COLLECT_H
#define TESTS_SUPPORT_SINK_COLLECT_H

#include "sink/sink.h"

struct collected_batch {
    int64_t batch_id;
    char **rows;
    size_t row_count;
};

/* What a sink holds; a zeroed one is empty. */
struct collected {
    char name[128];
    struct arena *arena;             /* of the schema */
    const struct type *schema;       /* of the newest run; NULL before the first */
    struct collected_batch *batches; /* ascending */
    size_t count, capacity;
    bool frozen; /* the process is dead: nothing is committed any more */
};

void collected_fini(struct collected *collected);
/* Rows committed so far, of all batches. */
size_t collected_rows(const struct collected *collected);

/* Where the `memory` sink of a query puts its rows: found by the query's name.  The array is
 * borrowed until the next call. */
struct collect_target {
    const char *query_name;
    struct collected *collected; /* several queries may write into one */
    int64_t *last_batch;         /* of this query: the newest committed one */
};
/* Called after each commit; NULL: nothing. */
void sink_collect_on_commit(void (*fn)(void *arg, const struct collected *collected,
                                       const struct collected_batch *batch),
                            void *arg);
/* Puts a batch in its place, instead of one of this id; takes the rows. */
void collected_put(struct collected *collected, struct collected_batch take_batch);
void sink_collect_targets(const struct collect_target *targets, size_t count);

/* The test sink for "memory", the product's for everything else. */
const struct sink_ops *sink_collect_find(const char *format);

#endif
