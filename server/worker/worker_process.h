/*
 * The two ways in which a query runs in a process: as a child of the server, and by hand.
 */
#ifndef SERVER_WORKER_WORKER_PROCESS_H
#define SERVER_WORKER_WORKER_PROCESS_H

#include "base/log.h"

struct worker_options {
    const char *spec_path;
    int socket_fd;                      /* to the server */
    const char *query_id;               /* the server's name for the query: uuid */
    const char *run_id;                 /* uuid */
    const char *default_checkpoint_dir; /* if the spec names none */
    uint32_t parallelism;               /* 0: the processors it may use */
    const char *log_file;               /* NULL: standard error */
    enum log_level log_level;
};

/* `tidemill worker`: runs until the query ends, the server says so or is gone.  Exit codes:
 * base/exit_code.h. */
int worker_process_run(const struct worker_options *options);

struct foreground_options {
    const char *spec_path; /* "-": standard input */
    bool json;             /* -o json: progress documents (or rows, bounded), one per line */
    bool bounded;          /* read everything once, print the rows, no checkpoint */
    const char *data_dir;  /* for the checkpoint of a spec that names none */
    uint32_t parallelism;
    const char *log_file;
    enum log_level log_level;
};

/* `tidemill run SPEC`: the same without a server.  Exit codes as above. */
int foreground_run(const struct foreground_options *options);

#endif
