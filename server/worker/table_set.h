/*
 * The static tables of a running query: read anew in every batch, in the version that the intent
 * of the batch names.
 *
 * Threads: the batch thread, but for reading.
 */
#ifndef SERVER_WORKER_TABLE_SET_H
#define SERVER_WORKER_TABLE_SET_H

#include "checkpoint/batch_record.h"
#include "worker/relation_reader.h"

struct table_use {
    uint32_t relation; /* index into plan->relations */
    struct source *source;
    struct arena *arena; /* of the source */
    struct source_split *splits;
    size_t split_count;
};

struct table_set {
    struct table_use *uses;
    uint32_t count;
    const struct physical_plan *plan;
    struct relation_context context;
};

void table_set_init(struct table_set *set, struct arena *query,
                    const struct relation_context *context, const struct physical_plan *plan);
void table_set_close(struct table_set *set);

/* Lists each table as it is now; `versions` has room for one per table, texts in `batch`. */
MUST_USE enum status table_set_plan(struct table_set *set, struct arena *batch,
                                    struct source_range *versions, struct error *err);

/* Makes the tables ready to be read in the versions of an intent; splits live in `batch`. */
MUST_USE enum status table_set_begin(struct table_set *set, const struct batch_intent *intent,
                                     struct arena *batch, struct error *err);

/* NULL if the relation is no table.  Threads: any, after table_set_begin. */
const struct table_use *table_set_find(const struct table_set *set, uint32_t relation);

#endif
