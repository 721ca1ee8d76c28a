/*
 * How malloc() deals with memory that was freed: buffers of some 100 KiB come and go with each file
 * and task, and memory that is touched for the first time costs more than what is done with it.
 */
#ifndef SERVER_BASE_HEAP_H
#define SERVER_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Zeroes, as calloc() gives them, but touched: where a table is looked at before it is written, the
 * kernel gives a page of zeroes first, and then another in its place, for which it has to stop all
 * threads.  Never NULL; free() it. */
void *heap_zeroes(size_t count, size_t size);

/* From now on what is freed is kept for reuse, but for objects of megabytes.  Called once, before
 * there are further threads. */
void heap_keep_freed(void);

/* As much of it as suits a process that has to get along with so many bytes. */
void heap_keep_little(uint64_t limit_bytes);

/* Gives back to the system what is free at present: for a process that has nothing to do. */
void heap_trim(void);

#endif
