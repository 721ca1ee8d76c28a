/*
 * Pruning inside structs: a relation's struct column of which only some fields are used is read
 * with those fields only.
 */
#ifndef SERVER_PLAN_PRUNE_FIELDS_H
#define SERVER_PLAN_PRUNE_FIELDS_H

#include "plan/rewrite.h"

/* After column pruning.  Narrows attributes in place; expressions are resolved again. */
MUST_USE enum status prune_fields(struct rewriter *rewriter, struct logical_node *node,
                                  struct logical_node **out, struct error *err);

#endif
