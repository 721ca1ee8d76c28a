/*
 * Assertions.  CHECK states what the code relies on and stays on in release builds; CHECK_SLOW is
 * for checks that cost more than the work they guard and exists only in debug builds.  Neither is
 * ever reachable from user input: bad input is an error, not an assertion.
 */
#ifndef SERVER_BASE_CHECK_H
#define SERVER_BASE_CHECK_H

#include <stddef.h>

/* Prints where and what to standard error and aborts.  Threads: any. */
_Noreturn void check_failed(const char *expr, const char *file, int line, const char *func);

#define CHECK(expr) ((expr) ? (void)0 : check_failed(#expr, __FILE__, __LINE__, __func__))

#ifdef NDEBUG
#define CHECK_SLOW(expr) ((void)sizeof(expr))
#else
#define CHECK_SLOW(expr) CHECK(expr)
#endif

/* Objects that cross a void pointer carry a magic number as their first field. */
#define CHECK_MAGIC(ptr, want) CHECK((ptr) != NULL && (ptr)->magic == (want))

#endif
