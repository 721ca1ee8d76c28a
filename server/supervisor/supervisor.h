/*
 * The worker processes and the loop that watches them.
 *
 * supervisor_poll() is one round of the server's main loop: it waits for messages of workers,
 * for signals, for a wake-up from another thread, or for the timeout, and calls back for each.  It
 * knows nothing of queries: `owner` is whatever the caller keeps for a worker.
 *
 * A worker is started as `<binary> worker --spec FILE --fd 3 --data-dir DIR`, with the socket on
 * descriptor 3, /dev/null as its input, its log file as its output, and nothing else open.
 *
 * Threads: the main thread, but supervisor_wake (any).  The caller has blocked SIGCHLD, SIGTERM,
 * SIGINT and SIGHUP in all threads.
 */
#ifndef SERVER_SUPERVISOR_SUPERVISOR_H
#define SERVER_SUPERVISOR_SUPERVISOR_H

#include "ipc/message.h"

#include <sys/types.h>

struct supervisor;
struct worker;

struct worker_exit {
    bool by_signal;
    int code; /* exit status, or the number of the signal */
};

struct supervisor_events {
    /* The message is borrowed. */
    void (*message)(void *ctx, void *owner, const struct message *message);
    /* The process is gone and its last messages were delivered; the worker is freed after it. */
    void (*ended)(void *ctx, void *owner, const struct worker_exit *how);
    void (*signalled)(void *ctx, int signo); /* SIGTERM, SIGINT, SIGHUP */
    void *ctx;
};

struct worker_start {
    const char *binary;
    const char *spec_path;
    const char *data_dir;
    const char *log_path;
    uint64_t log_keep_bytes;     /* the file is moved to "<log_path>.1" when larger */
    const char *const *settings; /* further flags, ended by NULL; NULL: none */
};

/* Errors: IO_FAILURE. */
MUST_USE enum status supervisor_open(const struct supervisor_events *events,
                                     struct supervisor **out, struct error *err);
/* Kills what still runs. */
void supervisor_close(struct supervisor *supervisor); /* NULL is fine */

/* Errors: WORKER_NOT_STARTED. */
MUST_USE enum status supervisor_start(struct supervisor *supervisor,
                                      const struct worker_start *start, void *owner,
                                      struct worker **out, struct error *err);

/* Sends without waiting; a worker that is gone or does not read is noticed elsewhere. */
void worker_send(struct worker *worker, const struct message *message);
void worker_kill(struct worker *worker, int signo);
pid_t worker_pid(const struct worker *worker);

/* One round; timeout_ms as in poll(2). */
void supervisor_poll(struct supervisor *supervisor, int timeout_ms);
size_t supervisor_worker_count(const struct supervisor *supervisor);

/* Ends the wait of supervisor_poll.  Threads: any; also safe in a signal handler. */
void supervisor_wake(struct supervisor *supervisor);

#endif
