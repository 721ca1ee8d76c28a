#include "base/heap.h"

#include "base/check.h"
#include "base/huge.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define MAPPED_BYTES (4 << 20) /* objects from this size on are mapped on their own */
#define KEPT_BYTES   (8 << 20) /* at the end of each of malloc's heaps */

#define LINE ((size_t)64)

#define LEAST_BYTES     (128 << 10)
#define MOST_IDLE_BYTES (1 << 30)

void *heap_zeroes(size_t count, size_t size)
{
    CHECK(size > 0 && count <= (SIZE_MAX - LINE) / size);
    size_t bytes = (count * size + LINE - 1) & ~(LINE - 1);
    void *memory = aligned_alloc(LINE, bytes); /* of malloc() and memset() gcc makes calloc() */
    CHECK(memory != NULL);
    memset(memory, 0, bytes);
    return memory;
}

void heap_keep_freed(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): at start, before there are threads
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES); /* else it is only slower */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);   // NOLINT(concurrency-mt-unsafe): as above
}

static int share(uint64_t limit_bytes, uint64_t part, int most)
{
    uint64_t bytes = limit_bytes / part;
    return bytes < LEAST_BYTES ? LEAST_BYTES : bytes > (uint64_t)most ? most : (int)bytes;
}

void heap_keep_little(uint64_t limit_bytes)
{
    // NOLINTBEGIN(concurrency-mt-unsafe): these two are not
    (void)mallopt(M_MMAP_THRESHOLD, share(limit_bytes, 64, MAPPED_BYTES));
    (void)mallopt(M_TRIM_THRESHOLD, share(limit_bytes, 64, KEPT_BYTES));
    // NOLINTEND(concurrency-mt-unsafe)
    huge_keep_idle((size_t)share(limit_bytes, 16, MOST_IDLE_BYTES));
}

void heap_trim(void)
{
    (void)malloc_trim(0);
}
