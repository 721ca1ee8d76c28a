/*
 * The groups that one thread of a stage has made of its rows, for the partitions to take over.
 */
#ifndef SERVER_EXEC_NODE_PARTIAL_AGGREGATE_H
#define SERVER_EXEC_NODE_PARTIAL_AGGREGATE_H

#include "exec/aggregate_calls.h"
#include "exec/node.h"

extern const struct exec_node_ops node_partial_aggregate;

/* A group on its way: its key, where it ends, the states of its functions. */
struct partial_group {
    struct bytes key;
    uint64_t hash;
    int64_t end_us; /* STATE_NO_END if it does not */
    uint8_t *block;
};

/* The groups for one partition; 0 if the writer did nothing in this run.  Borrowed until the next
 * batch. */
uint32_t partial_groups(const struct exec_node *writer, uint32_t run, uint32_t partition,
                        const struct partial_group **out);

#endif
