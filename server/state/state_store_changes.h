/*
 * Changes on their way into a store: what records of the changelog say, sorted, with the last
 * change of each key only.  Threads: one.
 */
#ifndef SERVER_STATE_STATE_STORE_CHANGES_H
#define SERVER_STATE_STATE_STORE_CHANGES_H

#include "state/state_store_engine.h"

struct state_changes;

struct state_changes *state_changes_new(void);
void state_changes_free(struct state_changes *changes); /* NULL is fine */
void state_changes_clear(struct state_changes *changes);

/* A STATE record.  Errors: CHECKSUM_MISMATCH if it is none. */
MUST_USE enum status state_changes_add(struct state_changes *changes, struct bytes record,
                                       struct error *err);
/* Memory that is in use. */
size_t state_changes_bytes(const struct state_changes *changes);

/* While a record is added, full() is called when there are this many bytes; it takes them out. */
struct state_changes_owner {
    enum status (*full)(struct state_changes_owner *self, struct error *err);
};
void state_changes_limit(struct state_changes *changes, size_t limit_bytes,
                         struct state_changes_owner *owner);
/* Forgets all, and gives the memory back. */
void state_changes_trim(struct state_changes *changes);

/* Sorts; what is added afterwards needs another one.  Ranges first, then changes. */
void state_changes_finish(struct state_changes *changes, const struct state_range **ranges,
                          size_t *range_count, const struct state_change **items, size_t *count);

#endif
