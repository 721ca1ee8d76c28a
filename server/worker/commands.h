/*
 * What the server has asked of the running query: a batch now, all that is there, rows of a sink.
 *
 * Threads: the batch thread.
 */
#ifndef SERVER_WORKER_COMMANDS_H
#define SERVER_WORKER_COMMANDS_H

#include "worker/control_thread.h"
#include "worker/query.h"

#define COMMANDS_OPEN_MAX 256

struct commands {
    struct control *control;
    struct query *query;
    struct control_command open[COMMANDS_OPEN_MAX]; /* waiting for a batch */
    uint32_t count;
};

/* Takes over new commands; true if one of the open ones wants a batch now. */
bool commands_take(struct commands *commands);

/* A trigger has been run: answers those that it fulfils. */
void commands_answer(struct commands *commands, bool ran);

/* Whether some are still waiting for a further batch. */
bool commands_open(const struct commands *commands);

/* The query ends: whoever still waits is told. */
void commands_end(struct commands *commands);

#endif
