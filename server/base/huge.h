/*
 * Large pieces of memory, in huge pages.
 *
 * Where memory is touched in pages of 4 KiB, the first touch of each costs more than what is done
 * with it.  These pieces come from regions of 2 MiB for which the kernel is asked for huge pages.
 * Pieces of 64 KiB to 1 MiB are cut from regions that are shared by the whole process and are kept
 * for reuse while half of the regions or less lie idle; larger ones are mapped on their own.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_HUGE_H
#define SERVER_BASE_HUGE_H

#include <stddef.h>

#define HUGE_PIECE_MIN ((size_t)64 << 10)
#define HUGE_REGION    ((size_t)2 << 20)

/* A power of two of at least HUGE_PIECE_MIN, or a multiple of HUGE_REGION.  Content is undefined.
 * Free with huge_free() and the same size. */
void *huge_alloc(size_t size_bytes);
void huge_free(void *data, size_t size_bytes); /* NULL is fine */

/* Bytes of the shared regions, free pieces included. */
size_t huge_mapped_bytes(void);

#endif
