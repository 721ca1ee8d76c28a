/*
 * Which plans the engine runs as streams.
 */
#ifndef SERVER_EXEC_STREAM_CHECK_H
#define SERVER_EXEC_STREAM_CHECK_H

#include "plan/physical_plan.h"

/* Refuses what keeps state across batches but has no implementation that does.
 * Errors: NOT_SUPPORTED. */
MUST_USE enum status stream_check(const struct plan_node *root, struct error *err);

#endif
