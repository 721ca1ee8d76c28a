/*
 * Rows of a sink that can be read while the query runs, for the server.
 */
#ifndef SERVER_WORKER_RESULTS_H
#define SERVER_WORKER_RESULTS_H

#include "worker/control_thread.h"
#include "worker/query.h"

/* Answers READ_RESULTS with RESULT messages, or with a failed REPLY. */
void results_send(struct query *query, struct control *control,
                  const struct control_command *command);

#endif
