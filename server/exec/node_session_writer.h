/*
 * The sessions that one thread of a stage has made of its rows, for the partitions to merge.
 */
#ifndef SERVER_EXEC_NODE_SESSION_WRITER_H
#define SERVER_EXEC_NODE_SESSION_WRITER_H

#include "exec/node.h"
#include "exec/session_store.h"

extern const struct exec_node_ops node_session_writer;

struct session_group {
    struct bytes key; /* the grouping keys but the session */
    uint64_t hash;    /* of it */
    int64_t start_us;
    int64_t end_us;
    uint8_t *block;
    uint32_t next; /* the writer's: the next older session of the key */
    uint32_t into; /* the session that this one is a part of */
};

/* The sessions for one partition: groups[order[i]]. */
struct session_groups {
    const struct session_group *groups;
    const uint32_t *order;
    uint32_t count;
};

/* What has been moved to the disk comes first, some at a time: read into `moved`, which is zeroed
 * in the beginning.  What cannot be of the present round is left out.  Borrowed until the next
 * call; none: there are no more.  Errors: those of the disk. */
struct session_moved {
    struct arena *arena;
    struct buffer bytes;
    uint32_t part;
    uint32_t next; /* of the part */
};
MUST_USE enum status session_groups_moved(const struct exec_node *node,
                                          const struct exec_context *ctx,
                                          struct session_moved *moved, struct session_groups *out,
                                          struct error *err);
void session_moved_fini(struct session_moved *moved);

/* The rest: none if the writer did nothing in this run.  Borrowed until the next batch. */
struct session_groups session_groups(const struct exec_node *node, uint32_t run,
                                     uint32_t partition);

#endif
