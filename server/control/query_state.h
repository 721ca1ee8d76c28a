/*
 * The states of a query and what may be asked of it in each.  Pure tables.  Threads: any.
 */
#ifndef SERVER_CONTROL_QUERY_STATE_H
#define SERVER_CONTROL_QUERY_STATE_H

#include <stdbool.h>
#include <stddef.h>

enum query_state {
    QUERY_STOPPED,  /* no worker */
    QUERY_STARTING, /* worker spawned, or waiting for its turn */
    QUERY_RUNNING,  /* the batch loop is alive */
    QUERY_STOPPING, /* finishing the batch */
    QUERY_RETRYING, /* failed, the next attempt is planned */
    QUERY_FAILED,   /* needs a person */
    QUERY_FINISHED, /* availableNow or once is done */
    QUERY_UNKNOWN,  /* the server has just restarted, or the worker does not answer */
};
#define QUERY_STATE_COUNT ((int)QUERY_UNKNOWN + 1)

enum query_action {
    ACTION_START,
    ACTION_STOP,
    ACTION_RESTART,
    ACTION_TRIGGER,
    ACTION_PROCESS_ALL,
    ACTION_READ_RESULTS,
    ACTION_DELETE,
    ACTION_REWIND,
};
#define QUERY_ACTION_COUNT ((int)ACTION_REWIND + 1)

const char *query_state_name(enum query_state state); /* "RUNNING" */
bool query_state_find(const char *name, enum query_state *out);
const char *query_action_name(enum query_action action); /* as in the path: "start" */

bool query_action_allowed(enum query_state state, enum query_action action);
/* "start, delete" into `out`. */
void query_allowed_actions(enum query_state state, char *out, size_t size);

/* No worker and nothing planned. */
bool query_state_is_ended(enum query_state state);

#endif
