/*
 * The panes of keys that are on the disk instead of in memory.
 *
 * A key is in memory with all of its panes or with none: what a batch has rows for comes back
 * before these are merged, and all that is in memory goes to the disk together.  So the windows of
 * a key are put together from one place, and what is here of a key that memory has does not count.
 *
 * On the disk a key is one entry, all of them in one bucket (state/spill.h):
 *
 *     entry = (varint distance from the pane before, zigzag; the first one's from 0
 *              | varint size | states)*
 *
 * Entries are not changed when windows close: panes that are over are left out when they are read,
 * and, whenever a generation is over, all entries are written anew without them, one pass.
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_PANE_SPILL_H
#define SERVER_EXEC_PANE_SPILL_H

#include "exec/pane_emission.h"
#include "state/spill.h"

struct pane_spill {
    struct pane_store *store;
    struct spill spill;
    struct arena *passing; /* entries on their way; NULL until needed */
    struct buffer saved;
    struct buffer scratch;
};

/* A zeroed one with its store is empty. */
void pane_spill_fini(struct pane_spill *disk);

/* A key that is not in memory is looked for by the next fetch; it is borrowed until then. */
void pane_spill_want(struct pane_spill *disk, struct bytes key, uint64_t hash);
/* Errors: those of the disk, CHECKSUM_MISMATCH. */
MUST_USE enum status pane_spill_fetch(struct pane_spill *disk, struct error *err);

/* As pane_emit_windows(), of the keys that memory does not have. */
MUST_USE enum status pane_spill_emit(struct pane_spill *disk, struct pane_emission *emission,
                                     int64_t from, int64_t to, struct error *err);

/* Closes windows as pane_store_close(), here as well; *groups: what it says. */
MUST_USE enum status pane_spill_close(struct pane_spill *disk, int64_t closed, uint64_t *groups,
                                      struct error *err);

/* All keys that are in memory leave it. */
MUST_USE enum status pane_spill_let_go(struct pane_spill *disk, struct error *err);

uint64_t pane_spill_bytes(const struct pane_spill *disk);

#endif
