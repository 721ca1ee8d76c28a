/*
 * Large pieces of memory that is looked at here and there: the state.
 *
 * Pieces of 64 KiB to 1 MiB are cut from regions of 2 MiB that the whole process shares and that
 * are kept for reuse while half of them or less lie idle: memory that is touched for the first time
 * costs more than what is done with it.  When there are many regions, further ones are of huge
 * pages, which find more of a large state at once; where the first touch of a huge page has to wait
 * for a virtual machine's host, a small state does better without.  Pieces of 2 MiB or more are
 * mapped on their own, in huge pages.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_HUGE_H
#define SERVER_BASE_HUGE_H

#include <stddef.h>

#define HUGE_PIECE_MIN ((size_t)64 << 10)
#define HUGE_REGION    ((size_t)2 << 20)

/* A power of two of at least HUGE_PIECE_MIN, or a multiple of HUGE_REGION.  Content is undefined,
 * but HUGE_REGION or more are zeroes.  Free with huge_free() and the same size. */
void *huge_alloc(size_t size_bytes);
void huge_free(void *data, size_t size_bytes); /* NULL is fine */

/* Regions that lie idle as a whole are kept up to so many bytes. */
void huge_keep_idle(size_t bytes);

/* Bytes of the shared regions, free pieces included. */
size_t huge_mapped_bytes(void);

#endif
