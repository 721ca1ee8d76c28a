/*
 * How much memory this process may use: that of the machine, or what its control groups allow.
 */
#ifndef SERVER_BASE_MEMORY_LIMIT_H
#define SERVER_BASE_MEMORY_LIMIT_H

#include <stdint.h>

/* Never 0. */
uint64_t memory_limit_bytes(void);

#endif
