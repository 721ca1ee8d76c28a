/*
 * Groups of panes that a writer has moved to the disk, because the batch brings more than fits in
 * memory (exec/node_pane_writer.h).
 *
 * They lie in parts by their keys' hashes, so that a round (exec/stateful.h) reads those that it
 * needs and hardly any others.
 *
 *     group = head | key | (pane, u32 size | states)*       sizes are 0 where all are as large
 *
 * Threads: one moves; then any number read.
 */
#ifndef SERVER_EXEC_PANE_MOVED_H
#define SERVER_EXEC_PANE_MOVED_H

#include "exec/node_pane_writer.h"
#include "state/spill_file.h"

#define PANE_PARTS 16

/* What was moved for one partition. */
struct pane_shelf {
    struct spill_extents parts[PANE_PARTS];
    uint64_t groups;
    uint64_t bytes;
};

struct pane_mover {
    const struct aggregate_calls *calls;
    struct spill_file *file;
    struct buffer parts[PANE_PARTS];
    struct buffer states;
    struct buffer scratch;
};

/* Errors: those of the disk.  Between two shelves comes a flush. */
MUST_USE enum status pane_move(struct pane_mover *mover, struct pane_shelf *shelf,
                               const struct pane_group *group, struct error *err);
MUST_USE enum status pane_move_flush(struct pane_mover *mover, struct pane_shelf *shelf,
                                     struct error *err);
void pane_mover_fini(struct pane_mover *mover);
void pane_shelf_fini(struct pane_shelf *shelf); /* it is empty then */

/* Reads a shelf; all but the first four is zeroed in the beginning. */
struct pane_moved {
    const struct aggregate_calls *calls;
    struct spill_file *file;
    const struct pane_shelf *shelf; /* NULL: there is nothing */
    uint32_t run;
    struct buffer bytes;
    struct arena *arena;
    struct pane_group **groups;
    uint32_t capacity;
    uint32_t part; /* that is read, and what of it is next */
    uint32_t next;
};

/* Some of the groups of the round of `ctx`, and perhaps of others; none: that was all.  Valid
 * until the next call.  Errors: those of the disk, CHECKSUM_MISMATCH. */
MUST_USE enum status pane_moved_read(struct pane_moved *moved, const struct exec_context *ctx,
                                     struct pane_groups *out, struct error *err);
void pane_moved_fini(struct pane_moved *moved);

#endif
