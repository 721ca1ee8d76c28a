/*
 * The worker's ear: a thread that listens to the server while the batch thread works.
 *
 * It answers pings, notices that the server is gone, and keeps what it was told for the batch
 * thread: a wish to stop, and commands.  The batch thread sends through it, too.  Without a
 * channel (`tidemill run`) there is no thread, and only signals speak.
 *
 * Threads: control_stop_wish, control_send and the signal handler: any; the rest: the batch thread.
 */
#ifndef SERVER_WORKER_CONTROL_THREAD_H
#define SERVER_WORKER_CONTROL_THREAD_H

#include "ipc/message.h"

#include <stdatomic.h>

struct control;

enum stop_wish {
    STOP_NONE,
    STOP_GRACEFUL,  /* at the batch boundary */
    STOP_IMMEDIATE, /* the batch is abandoned */
};

struct control_command {
    enum message_kind kind; /* TRIGGER, PROCESS_ALL_AVAILABLE, READ_RESULTS */
    int64_t request_id;
    int64_t rows; /* READ_RESULTS */
};

/* Takes the socket, or -1.  Installs handlers of SIGTERM and SIGINT: the first is a graceful stop,
 * a second one an immediate stop.  One at a time per process.  Errors: IO_FAILURE. */
MUST_USE enum status control_open(int take_fd, struct control **out, struct error *err);

/* Sends what is queued, waiting up to a second, and ends the thread. */
void control_close(struct control *control);

/* Sets *cancelled as soon as a stop shall be immediate; NULL: no more. */
void control_watch(struct control *control, atomic_bool *cancelled);

enum stop_wish control_stop_wish(struct control *control);
/* Whether the server has closed its end. */
bool control_server_gone(struct control *control);

/* Readable when there is a wish or a command that has not been looked at. */
int control_wake_fd(const struct control *control);
void control_woken(struct control *control);

/* The next command, oldest first; false if there is none. */
bool control_next_command(struct control *control, struct control_command *out);

/* Queues and writes what goes without waiting.  A server that is gone is no error. */
void control_send(struct control *control, const struct message *message);

/* Answers a request: err NULL means that it was done. */
void control_reply(struct control *control, int64_t request_id, const struct error *err);

#endif
