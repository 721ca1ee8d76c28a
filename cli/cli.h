/*
 * The client commands: tidemill submit, ls, get, start, stop, restart, progress, status, results,
 * rm.  Everything goes through the public API; --server URL or TIDEMILL_SERVER says where.
 *
 * Tables for people, JSON with -o json.  Threads: one.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
    EXIT_OK = 0,
    EXIT_OTHER = 1,
    EXIT_USAGE = 2,
    EXIT_INVALID = 3,
    EXIT_NOT_FOUND = 4,
    EXIT_CONFLICT = 5,
    EXIT_AUTH = 6,
    EXIT_UNREACHABLE = 7,
    EXIT_TIMED_OUT = 8,
    EXIT_FAILED_QUERY = 9,
};

/* ---- help.c: of all commands, also those that need no server ---- */

bool cli_asks_help(int argc, char *const *argv); /* --help or -h among the arguments */
/* Prints what the command takes; false if there is none of that name. */
bool cli_help(const char *command);
const char *cli_nearest_command(const char *name); /* NULL: none is near */
/* The option of the command that is nearest to `option`; false: none is near. */
bool cli_nearest_option(const char *command, const char *option, char *out, size_t size);

bool cli_knows(const char *command);
/* argv[0] is the command.  Returns the exit code. */
int cli_main(int argc, char **argv);

#endif
