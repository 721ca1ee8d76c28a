/*
 * The rows of a stream-stream join that are on the disk instead of in memory (state/spill.h).
 *
 * A key goes and comes back with all its rows, those of both sides: what memory has of a key is
 * everything.  So whoever adds a row of a key asks for the key before.
 *
 *     value = rows, each: u8 side and whether it had a partner | i64 end | u64 number | u32 size |
 *             bytes
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_JOIN_SPILL_H
#define SERVER_EXEC_JOIN_SPILL_H

#include "exec/join_rows.h"
#include "state/spill.h"

struct join_spill {
    struct spill spill;
    struct join_rows *rows[2]; /* in memory */
    uint64_t row_count;        /* on the disk only */
    int64_t first_us[2];       /* no row of the side that is there ends before */
    struct spill_walk walk;    /* for rows that have ended */
    bool walking;
    struct arena *wanted;    /* NULL until needed */
    struct arena *gone_keys; /* NULL until needed */
    struct bytes *gone;      /* keys of which rows have gone from memory */
    uint32_t gone_count;
    uint32_t gone_capacity;
};

/* The rows are borrowed. */
void join_spill_init(struct join_spill *self, struct join_rows *left, struct join_rows *right);
void join_spill_fini(struct join_spill *self);

/* Notes a key unless it is in memory; all that were noted come back, as far as they are there. */
void join_spill_want(struct join_spill *self, struct bytes key, uint64_t hash);
MUST_USE enum status join_spill_fetch(struct join_spill *self, struct error *err);

/* Keys of which a row ends at its side's limit or before come back, as far as there is room. *more:
 * there are others; these have to go first. */
MUST_USE enum status join_spill_sift(struct join_spill *self, const int64_t limits_us[2],
                                     uint64_t room, bool *more, struct error *err);
/* A row of this key goes from memory.  After the last: keys of which none is left go from the disk,
 * too. */
void join_spill_note_gone(struct join_spill *self, struct bytes key);
MUST_USE enum status join_spill_forget_gone(struct join_spill *self, struct error *err);

/* All rows go to the disk. */
MUST_USE enum status join_spill_let_go(struct join_spill *self, struct error *err);

uint64_t join_spill_bytes(const struct join_spill *self);

#endif
