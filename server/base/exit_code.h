/*
 * The exit codes of every command: one table, also for the answers of a server.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_EXIT_CODE_H
#define SERVER_BASE_EXIT_CODE_H

#include "base/error.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_OTHER = 1,        /* nothing of what follows: a disk, a bug */
    EXIT_USAGE = 2,        /* no such command, option or value */
    EXIT_INVALID = 3,      /* the spec is wrong, or what was asked cannot be done with it */
    EXIT_NOT_FOUND = 4,    /* a query, a checkpoint, a file */
    EXIT_CONFLICT = 5,     /* the name is taken, the state forbids it, the checkpoint is in use */
    EXIT_AUTH = 6,         /* no token, or one without the scope */
    EXIT_UNREACHABLE = 7,  /* the server is not there, or takes no requests now */
    EXIT_TIMED_OUT = 8,    /* what was waited for has not come */
    EXIT_FAILED_QUERY = 9, /* a query that could be started has failed */
};
#define EXIT_CODE_COUNT 10

/* One line for a table of them. */
const char *exit_code_help(enum exit_code code);

/* Of a command that ended with this status. */
enum exit_code exit_code_of_status(enum status status);
/* Of a command whose request a server answered with this HTTP status. */
enum exit_code exit_code_of_http(long http);
/* Of a query: `started` says whether it had come as far as its first batch, from where on whatever
 * happens is a failure of the query. */
enum exit_code exit_code_of_query(enum status status, bool started);

#endif
