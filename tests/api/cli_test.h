/*
 * The command line in a test: runs it, and holds exit code and output against what is expected.
 *
 * cli_setup() first: it takes the binary from TIDEMILL_BINARY, starts a server with two rows in
 * <dir>/in, and points the commands at it.  Functions fail the test themselves.  Threads: one.
 */
#ifndef TESTS_API_CLI_TEST_H
#define TESTS_API_CLI_TEST_H

#include "fixture.h"

extern char output[1 << 20]; /* of the last command, both streams */

int cli_setup(void **state);
int cli_teardown(void **state);

/* Starts `tidemill ARGUMENTS` (split at blanks); *fd reads both of its streams. */
pid_t tidemill_start(const char *arguments, int *fd);
/* Runs it to its end; its exit code, or 128 + the signal that ended it. */
int tidemill(const char *arguments);
void expect(int code, const char *arguments, const char *text);
/* With a standard output to which nothing can be written. */
void expect_full(int code, const char *arguments, const char *text);
/* Starts it, waits until `text` has been printed, sends the signal; as tidemill(). */
int tidemill_until(const char *arguments, const char *text, int signal);

/* <dir>/NAME.spec: a query over <dir>/in (a INT, b STRING) into memory, with `more` fields. */
void write_spec(const char *name, const char *more);
/* "COMMAND <dir>/NAME", until the next call. */
const char *with_file(const char *command, const char *name);

#endif
