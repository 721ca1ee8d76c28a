/*
 * The groups by key and pane that one thread of a stage has made of its rows, for the partitions
 * to take over.  All panes of a key go to the same partition.
 *
 * What belongs together in the state comes together: the panes of a key in one generation
 * (exec/pane_grid.h), as the items that a store of panes has them in (exec/pane_store.h).
 */
#ifndef SERVER_EXEC_NODE_PANE_WRITER_H
#define SERVER_EXEC_NODE_PANE_WRITER_H

#include "exec/node.h"
#include "exec/pane_store.h"

extern const struct exec_node_ops node_pane_writer;

/* Panes of a key in one generation; another group may have further ones, and the same. */
struct pane_group {
    uint64_t hash; /* of the key */
    int64_t generation;
    struct pane_chunk *last; /* its items, not none */
    uint32_t count;          /* of them in all */
    uint32_t from;           /* the least and the greatest pane */
    uint32_t to;
    uint32_t key_bytes;
    bool ordered; /* each item's pane is greater than that before */
    uint8_t key[];
};

static inline struct bytes pane_group_key(const struct pane_group *group)
{
    return bytes_of(group->key, group->key_bytes);
}

/* The groups for one partition. */
struct pane_groups {
    struct pane_group *const *groups;
    uint32_t count;
};

/* None if the writer did nothing in this run.  Borrowed until the next batch. */
struct pane_groups pane_groups(const struct exec_node *node, uint32_t run, uint32_t partition);

/* What it has moved to the disk of these, to be read by pane_moved_read(). */
struct pane_moved;
struct pane_moved pane_groups_moved(const struct exec_node *node, uint32_t run, uint32_t partition);

#endif
