/*
 * Whether somebody holds a lock file, without taking it even for a moment: who tried to take it
 * then would fail.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_LOCK_PROBE_H
#define SERVER_BASE_LOCK_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* True if a process of this machine holds the flock of the file; `holder` then has the line that it
 * left there ("" if none).  Processes that the kernel hides (another pid namespace) are not seen.
 */
bool lock_probe(const char *path, char *holder, size_t size);

#endif
