#include "base/heap.h"

#include <malloc.h>

#define MAPPED_BYTES (4 << 20) /* objects from this size on are mapped on their own */
#define KEPT_BYTES   (8 << 20) /* at the end of each of malloc's heaps */

void heap_keep_freed(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): at start, before there are threads
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES); /* else it is only slower */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);   // NOLINT(concurrency-mt-unsafe): as above
}

void heap_trim(void)
{
    (void)malloc_trim(0);
}
