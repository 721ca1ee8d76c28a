/*
 * Runs a piece of a runner in a process of its own, so that one that dies is one failure.
 */
#ifndef TESTS_SUPPORT_ISOLATE_H
#define TESTS_SUPPORT_ISOLATE_H

/* Calls `run` in a child, which shares standard output, and returns what it returned (0 to 99), or
 * -1 if the child died, after a line that says of what; `name` is for that line. */
int isolate(const char *name, int (*run)(void *arg), void *arg);

#endif
