/*
 * How much memory this process may use: that of the machine, or what its control groups allow; and
 * its end when there is none left.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_MEMORY_LIMIT_H
#define SERVER_BASE_MEMORY_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* Never 0. */
uint64_t memory_limit_bytes(void);

/* The exit status of a process that could not get the memory that it needs; its supervisor knows
 * it by that. */
#define MEMORY_EXIT_STATUS 61

/* Says on standard error how many bytes were wanted (0: that is not known), and ends the process.
 */
_Noreturn void memory_exhausted(size_t bytes);

#endif
