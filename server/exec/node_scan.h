/*
 * What the pipeline asks a scan beyond being an operator.
 */
#ifndef SERVER_EXEC_NODE_SCAN_H
#define SERVER_EXEC_NODE_SCAN_H

#include "exec/node.h"

/* Rows read in the present task, before the predicates. */
uint64_t node_scan_rows(const struct exec_node *self);

#endif
