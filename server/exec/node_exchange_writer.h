/*
 * The end of a stage whose rows go to a boundary as they are: sort, limit, deduplication, joins.
 */
#ifndef SERVER_EXEC_NODE_EXCHANGE_WRITER_H
#define SERVER_EXEC_NODE_EXCHANGE_WRITER_H

#include "exec/exchange.h"

extern const struct exec_node_ops node_exchange_writer;

/* The pull() of such boundaries: pushes what the writer has for the partition. */
MUST_USE enum status exchange_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                   struct exec_node *writer, struct error *err);

/* Looks at what the writer has for the partition, before it is pulled. */
MUST_USE enum status exchange_look(const struct exec_node *writer, struct exec_node *self,
                                   struct exec_context *ctx, exchange_look_fn *look,
                                   struct error *err);

#endif
