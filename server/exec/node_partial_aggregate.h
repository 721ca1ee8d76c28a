/*
 * The groups that one thread of a stage has made of its rows, for the partitions to take over.
 */
#ifndef SERVER_EXEC_NODE_PARTIAL_AGGREGATE_H
#define SERVER_EXEC_NODE_PARTIAL_AGGREGATE_H

#include "exec/aggregate_calls.h"
#include "exec/node.h"
#include "state/state_table.h"

extern const struct exec_node_ops node_partial_aggregate;

/* A group on its way.  Behind it lies the entry that it may become: the states of its functions and
 * its key. */
struct partial_group {
    uint64_t hash;  /* state_hash() of the key */
    int64_t end_us; /* STATE_NO_END if it does not */
};

static inline const struct state_entry *partial_entry(const struct partial_group *group)
{
    return (const struct state_entry *)(const void *)(group + 1);
}

/* The groups for one partition, one after another. */
struct partial_reader {
    const struct partial_piece *piece;
    uint32_t offset;
    uint32_t value_bytes;
};

/* Of the writer's present batch; empty if it did nothing in this run. */
struct partial_reader partial_read(const struct exec_node *writer, uint32_t run,
                                   uint32_t partition);
/* NULL after the last.  Borrowed until partial_taken() or the next batch. */
const struct partial_group *partial_next(struct partial_reader *reader);
/* What has been moved to the disk comes besides, as much at a time as is good to look for at once:
 * read into `moved`, which is zeroed in the beginning.  reader.piece is NULL behind the last.
 * Errors: those of the disk. */
struct partial_moved {
    struct buffer bytes; /* where the groups lie */
    struct buffer one;
    struct arena *arena; /* what states point to; NULL until needed */
    uint32_t part;       /* that is read, and what of it is next */
    uint32_t next;
};
/* Those of the round of `ctx`, and perhaps some others. */
MUST_USE enum status partial_read_moved(const struct exec_node *writer,
                                        const struct exec_context *ctx, struct partial_moved *moved,
                                        struct partial_reader *out, struct error *err);
void partial_moved_fini(struct partial_moved *moved);

/* Nothing that the reader has returned is needed any more: gives back its memory, as far as the
 * reader is not in the middle of it.  Read again, the partition begins behind it. */
void partial_taken(const struct exec_node *writer, uint32_t partition,
                   const struct partial_reader *reader);

#endif
