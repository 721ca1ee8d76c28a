/*
 * The server of a test program, and what most of them do before and after their tests.
 *
 * Threads: one.
 */
#ifndef TESTS_API_FIXTURE_H
#define TESTS_API_FIXTURE_H

#include "api_test.h"

extern struct server server;
extern const char *const quick_restarts[]; /* flags of serve: a query waits 1 ms */

/* Starts the server with quick_restarts and makes the directory "in". */
int fixture_setup(void **state);
/* Stops it, if it runs: it has to end well. */
int fixture_teardown(void **state);

#endif
