/*
 * The groups by key and pane that one thread of a stage has made of its rows, for the partitions
 * to take over.  All panes of a key go to the same partition.
 */
#ifndef SERVER_EXEC_NODE_PANE_WRITER_H
#define SERVER_EXEC_NODE_PANE_WRITER_H

#include "exec/aggregate_calls.h"
#include "exec/node.h"

extern const struct exec_node_ops node_pane_writer;

struct pane_group {
    struct bytes key; /* the grouping keys but the pane */
    uint64_t hash;    /* of it */
    int64_t start_us; /* of the pane */
    uint8_t *block;
};

/* The groups for one partition: groups[order[i]]. */
struct pane_groups {
    const struct pane_group *groups;
    const uint32_t *order;
    uint32_t count;
};

/* None if the writer did nothing in this run.  Borrowed until the next batch. */
struct pane_groups pane_groups(const struct exec_node *writer, uint32_t run, uint32_t partition);

#endif
