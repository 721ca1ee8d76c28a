/*
 * The streams of a running query: one source per use of a stream in the plan.
 *
 * Threads: the batch thread.
 */
#ifndef SERVER_WORKER_SOURCE_SET_H
#define SERVER_WORKER_SOURCE_SET_H

#include "checkpoint/batch_record.h"
#include "worker/relation_reader.h"

#include <poll.h>

struct source_use {
    uint32_t relation; /* index into plan->relations */
    const struct plan_relation *plan;
    struct source *source;
    struct buffer end; /* JSON of the offset after the newest planned range; empty: none yet */
};

struct source_set {
    struct source_use *uses; /* in the order of the plan's streaming relations */
    uint32_t count;
};

/* Opens every stream with its directory below the checkpoint, and binds its columns. */
MUST_USE enum status source_set_open(struct arena *query, const struct relation_context *context,
                                     const struct physical_plan *plan, const char *checkpoint_dir,
                                     struct source_set *out, struct error *err);
void source_set_close(struct source_set *set);

/*
 * Tells the sources where the log stands.  `committed` is the newest committed intent (NULL:
 * there is none), `pending` those after it that will run again.
 * Errors: CHECKPOINT.QUERY_CHANGED if the log counts other sources than the plan.
 */
MUST_USE enum status source_set_recover(struct source_set *set,
                                        const struct batch_intent *committed,
                                        struct batch_intent *const *pending, size_t pending_count,
                                        struct error *err);

MUST_USE enum status source_set_freeze(struct source_set *set, struct error *err);

/*
 * Asks every source for its next range.  `ranges` has room for one per source; its texts live in
 * `batch`.  A source without anything new repeats where it stands.
 */
MUST_USE enum status source_set_plan(struct source_set *set, bool unlimited, struct arena *batch,
                                     struct intent_range *ranges, bool *any, struct error *err);

/* The ranges of `intent` are committed, durably. */
void source_set_acknowledge(struct source_set *set, const struct batch_intent *intent);

/* Fills in what to poll for; *all is false if some source has no descriptor and must be asked
 * again and again.  At most `room` entries. */
uint32_t source_set_poll(struct source_set *set, struct pollfd *out, uint32_t room, bool *all);
void source_set_woken(struct source_set *set);

const char *source_description(const struct source_use *use);

#endif
