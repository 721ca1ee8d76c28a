/*
 * The client commands: tidemill submit, apply, ls, get, start, stop, status, progress ...
 * Everything goes through the public API; --server URL or TIDEMILL_SERVER says where.
 *
 * Tables for people, JSON with -o json.  Threads: one.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/arguments.h"

/* A client command.  Returns the exit code. */
int cli_run(const struct arguments *arguments);

/* What three local commands ask a server when --server or --query says so. */
int cli_validate(const struct arguments *arguments);
int cli_checkpoint(const struct arguments *arguments, bool verify);

/* Reads a spec, "-" from standard input; says what is wrong.  Returns the exit code. */
int cli_read_spec(const char *path, struct buffer *out);

/* The answer of engine->state: counts of all operators, or the rows of one. */
void cli_print_state(struct bytes json, bool operators);

/* A JSON document, indented, on standard output, its numbers as they stand. */
void cli_print_json(struct bytes json);

#endif
