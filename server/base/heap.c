#include "base/heap.h"

#include "base/check.h"
#include "base/huge.h"
#include "base/memory_limit.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAPPED_BYTES (4 << 20) /* objects from this size on are mapped on their own */
#define KEPT_BYTES   (8 << 20) /* at the end of each of malloc's heaps */

#define LINE ((size_t)64)

#define LEAST_BYTES     (128 << 10)
#define MOST_IDLE_BYTES (1 << 30)

void *heap_malloc(size_t size_bytes)
{
    void *memory = malloc(size_bytes == 0 ? 1 : size_bytes);
    if (memory == NULL)
        memory_exhausted(size_bytes);
    return memory;
}

void *heap_calloc(size_t count, size_t size_bytes)
{
    bool nothing = count == 0 || size_bytes == 0;
    void *memory = nothing ? calloc(1, 1) : calloc(count, size_bytes);
    if (memory == NULL)
        memory_exhausted(nothing || count <= SIZE_MAX / size_bytes ? count * size_bytes : SIZE_MAX);
    return memory;
}

void *heap_realloc(void *memory, size_t size_bytes)
{
    void *moved = realloc(memory, size_bytes == 0 ? 1 : size_bytes);
    if (moved == NULL)
        memory_exhausted(size_bytes);
    return moved;
}

char *heap_strndup(const char *text, size_t size_bytes)
{
    size_t length = strnlen(text, size_bytes);
    char *copy = heap_malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *heap_strdup(const char *text)
{
    return heap_strndup(text, strlen(text));
}

void *heap_zeroes(size_t count, size_t size)
{
    CHECK(size > 0);
    if (count > (SIZE_MAX - LINE) / size)
        memory_exhausted(SIZE_MAX);
    size_t bytes = (count * size + LINE - 1) & ~(LINE - 1);
    void *memory = aligned_alloc(LINE, bytes); /* of malloc() and memset() gcc makes calloc() */
    if (memory == NULL)
        memory_exhausted(bytes);
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
