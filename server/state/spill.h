/*
 * What of the state of one operator in one partition is on the disk instead of in memory.
 *
 * When the memory of a query's state is over its budget, buckets of its tables are let go: their
 * entries are merged into an image of the bucket on the disk (state/spill_image.h), and the memory
 * is given back.  Such a bucket is *spilled*.  From then on memory holds those of its entries that
 * were needed again; what is in memory is at least as new as what is on the disk, so memory wins.
 * The disk is only the longer arm of memory: what makes state durable is the changelog.
 *
 * An operator asks before it looks for keys:
 *
 *     if (!spill_is_empty(spill))          one branch is all that state in memory pays
 *         for all keys of the batch that are in a spilled bucket and not in memory:
 *             spill_want(spill, end, hash, key)
 *         spill_fetch(spill, receiver)     one pass in the order of the disk; the receiver puts
 * what is found into the table
 *
 * and finds everything in memory afterwards.  Where all entries of a bucket are wanted (its window
 * closes, or everything comes out), it goes through those in memory and then through spill_scan(),
 * leaving out what is in memory.  What it removes one by one it removes here, too.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_STATE_SPILL_H
#define SERVER_STATE_SPILL_H

#include "state/spill_image.h"

struct spill_bucket {
    int64_t end;
    uint64_t entries; /* on the disk and not in memory */
    struct spill_image *image;
};

struct spill {
    struct spill_space space;
    struct spill_bucket *buckets; /* by end */
    uint32_t count;
    uint32_t capacity;
    struct spill_key *wanted;
    size_t wanted_count;
    size_t wanted_capacity;
    struct spill_item *items; /* on their way to the disk */
    size_t item_count;
    size_t item_capacity;
    struct spill_buffers buffers;
    size_t image_bytes;
    uint64_t fetched;   /* in the present batch: entries that came back into memory */
    uint64_t keys_read; /* looked up */
};

/* Gives everything back; `space` keeps its file. */
void spill_fini(struct spill *spill);
/* A new batch: its numbers are 0. */
void spill_begin(struct spill *spill);

static inline bool spill_is_empty(const struct spill *spill)
{
    return spill->count == 0;
}

/* NULL: no entry of this bucket is on the disk only. */
struct spill_bucket *spill_find(const struct spill *spill, int64_t end);
/* The first spilled bucket that ends after `end`; *first: the first of all.  NULL: none. */
struct spill_bucket *spill_first(const struct spill *spill);
struct spill_bucket *spill_after(const struct spill *spill, int64_t end);

/* An entry of this bucket goes to the disk, or goes away (spill_source).  The item is borrowed
 * until the flush, which comes by itself when there are many.  All entries of one bucket follow
 * each other.  `hash`: state_hash() of the key. */
MUST_USE enum status spill_put(struct spill *spill, int64_t end, uint64_t hash, const void *item,
                               struct spill_source *source, struct error *err);
MUST_USE enum status spill_flush(struct spill *spill, int64_t end, struct spill_source *source,
                                 struct error *err);
/* Memory has let go of the bucket: all that it has is on the disk only. */
void spill_let_go(struct spill *spill, int64_t end);
/* One entry goes away, if it is there.  `entries` stays: it was in memory, too. */
MUST_USE enum status spill_remove(struct spill *spill, int64_t end, struct bytes key,
                                  struct error *err);

/* Nothing of this bucket is of interest any more; returns how many entries were here only. */
uint64_t spill_drop(struct spill *spill, int64_t end);
/* Nor of all that end here or before. */
void spill_drop_until(struct spill *spill, int64_t end);
uint64_t spill_entries(const struct spill *spill);
/* Bytes of an entry on the disk, on average; 0: there are none. */
uint64_t spill_entry_bytes(const struct spill *spill);
/* Memory of what is noted here. */
uint64_t spill_bytes(const struct spill *spill);
/* Gives it back, but for the buckets. */
void spill_trim(struct spill *spill);

/* The key is borrowed until the next fetch.  It may be wanted more than once. */
void spill_want(struct spill *spill, int64_t end, uint64_t hash, struct bytes key);
/* Hands the wanted entries that are found over, each once.  Errors: IO_FAILURE,
 * CHECKSUM_MISMATCH, the receiver's. */
MUST_USE enum status spill_fetch(struct spill *spill, struct spill_receiver *receiver,
                                 struct error *err);

/* Hands over all entries of the bucket on the disk, also those that are in memory, too. */
MUST_USE enum status spill_scan(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                                struct error *err);
/* As a scan, in the order of the hashes and in parts (state/spill_image.h). */
MUST_USE enum status spill_walk(struct spill *spill, int64_t end, struct spill_walk *walk,
                                struct spill_receiver *receiver, struct error *err);
/* As a scan, of a bucket that then is not spilled any more. */
MUST_USE enum status spill_load(struct spill *spill, int64_t end, struct spill_receiver *receiver,
                                struct error *err);

#endif
