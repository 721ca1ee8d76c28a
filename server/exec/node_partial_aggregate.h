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
/* Nothing that the reader has returned is needed any more: gives back its memory, as far as the
 * reader is not in the middle of it.  Read again, the partition begins behind it. */
void partial_taken(const struct exec_node *writer, uint32_t partition,
                   const struct partial_reader *reader);

#endif
