/*
 * Memory of malloc() that a process cannot do without, and how malloc() deals with what was freed:
 * buffers of some 100 KiB come and go with each file and task, and memory that is touched for the
 * first time costs more than what is done with it.
 *
 * Threads: any, but for what says otherwise.
 */
#ifndef SERVER_BASE_HEAP_H
#define SERVER_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* As the functions of those names in C, but never NULL: where there is no such memory the process
 * ends by memory_exhausted(), so that its supervisor can say why.  What may be done without, or has
 * an error of its own, is asked of malloc().  free() each of them. */
void *heap_malloc(size_t size_bytes);
void *heap_calloc(size_t count, size_t size_bytes);
void *heap_realloc(void *memory, size_t size_bytes);
char *heap_strdup(const char *text);
char *heap_strndup(const char *text, size_t size_bytes);

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
