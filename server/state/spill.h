/*
 * What of the state of one operator in one partition is in the store only.
 *
 * When the memory of a query's state is over its budget, buckets of its tables are let go between
 * two batches: once the store has applied all changes, their entries are in it, and the memory is
 * given back.  Such a bucket is *spilled*.  From then on memory holds those of its entries that
 * were needed again; what is in memory is at least as new as what is in the store, so memory wins.
 *
 * An operator asks before it looks for keys:
 *
 *     if (!spill_is_empty(spill))          one branch is all that state in memory pays
 *         for all keys of the batch that are in a spilled bucket and not in memory:
 *             spill_want(spill, end, key)
 *         spill_fetch(spill, receiver)     one sorted pass over the store; the receiver puts what
 *                                          is found into the table
 *
 * and finds everything in memory afterwards.  Where all entries of a bucket are wanted (its window
 * closes, or everything comes out), it goes through those in memory and then through spill_scan(),
 * leaving out what is in memory.
 *
 * A store that has not yet heard of a removed entry would bring it back.  Removing an entry that
 * the store may have sets `taken`: the next batch has to wait until the store has heard of it.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_STATE_SPILL_H
#define SERVER_STATE_SPILL_H

#include "state/state_store.h"

struct spill_bucket {
    int64_t end;
    uint64_t entries; /* in the store and not in memory */
};

struct spill_key {
    int64_t end;
    uint64_t prefix; /* the first bytes, to sort by */
    struct bytes key;
};

struct spill {
    struct state_store *store; /* NULL: nothing can be let go */
    uint32_t operator_id;
    uint32_t partition;
    struct spill_bucket *buckets; /* by end */
    uint32_t count;
    uint32_t capacity;
    struct spill_key *wanted;
    size_t wanted_count;
    size_t wanted_capacity;
    bool taken;
    bool reopened;         /* a former run has left the state in the store */
    uint64_t fetched;      /* in the present batch: entries that came back into memory */
    uint64_t keys_read;    /* looked up one by one */
    uint64_t entries_read; /* seen by scans */
};

/* Entry and bytes are valid during the call. */
struct spill_receiver {
    enum status (*receive)(struct spill_receiver *self, int64_t end, struct bytes key,
                           struct bytes value, struct error *err);
};

void spill_fini(struct spill *spill);
/* A new batch: its numbers are 0. */
void spill_begin(struct spill *spill);

static inline bool spill_is_empty(const struct spill *spill)
{
    return spill->count == 0;
}

/* NULL: no entry of this bucket is in the store only. */
struct spill_bucket *spill_find(const struct spill *spill, int64_t end);
/* The first spilled bucket that ends after `end`; *first: the first of all.  NULL: none. */
struct spill_bucket *spill_first(const struct spill *spill);
struct spill_bucket *spill_after(const struct spill *spill, int64_t end);

/* `entries` of this bucket have been let go. */
void spill_add(struct spill *spill, int64_t end, uint64_t entries);
/* Nothing of this bucket is of interest any more; returns how many entries that were. */
uint64_t spill_drop(struct spill *spill, int64_t end);
uint64_t spill_entries(const struct spill *spill);
/* Memory of what is noted here. */
uint64_t spill_bytes(const struct spill *spill);
/* Gives it back, but for the buckets. */
void spill_trim(struct spill *spill);

/* The key is borrowed until the next fetch.  It may be wanted more than once. */
void spill_want(struct spill *spill, int64_t end, struct bytes key);
/* Reads what is wanted and forgets it: by a batch of look-ups, or by a scan of the bucket where
 * that is less.  What the receiver gets counts as being in memory.  Errors: the store's. */
MUST_USE enum status spill_fetch(struct spill *spill, struct spill_receiver *receiver,
                                 struct error *err);

/* All entries of the bucket that the store has, by key: also those that are in memory, too. */
MUST_USE enum status spill_scan(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                                struct error *err);
/* Takes a whole bucket back into memory; the receiver leaves out what is there. */
MUST_USE enum status spill_load(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                                struct error *err);

/* A former run left everything in the store: notes its buckets.  Errors: the store's. */
MUST_USE enum status spill_reopen(struct spill *spill, struct error *err);

#endif
