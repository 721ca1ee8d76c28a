/*
 * See huge.h.  A region is a bit mask of its free pieces of 64 KiB; the regions stand in a table in
 * the order of their addresses.
 */
#include "base/huge.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/memory_limit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PIECES        ((unsigned)(HUGE_REGION / HUGE_PIECE_MIN))
#define ALL_FREE      UINT32_MAX
#define REGIONS_PLAIN 4 /* 8 MiB in ordinary pages */

_Static_assert(HUGE_REGION / HUGE_PIECE_MIN == 32, "a region has a bit for each piece");

struct region {
    uint8_t *data;
    uint32_t free; /* bit set: piece is free */
};

static struct pool {
    pthread_mutex_t lock; /* protects all below */
    struct region *regions;
    size_t count;
    size_t capacity;
    size_t idle; /* regions with nothing in use */
    size_t hint; /* where a free piece was found last */
    size_t idle_most;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle_most = SIZE_MAX};

static void unmap(void *data, size_t size_bytes)
{
    CHECK(munmap(data, size_bytes) == 0);
}

/* Mapped at a multiple of HUGE_REGION, else the kernel cannot use huge pages. */
static void *map(size_t size_bytes, bool huge)
{
    int protection = PROT_READ | PROT_WRITE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    uint8_t *data = mmap(NULL, size_bytes, protection, flags, -1, 0);
    if (data == MAP_FAILED)
        memory_exhausted(size_bytes);
    size_t over = (uintptr_t)data % HUGE_REGION;
    if (over != 0) {
        unmap(data, size_bytes);
        data = mmap(NULL, size_bytes + HUGE_REGION, protection, flags, -1, 0);
        if (data == MAP_FAILED)
            memory_exhausted(size_bytes);
        size_t before = (HUGE_REGION - (uintptr_t)data % HUGE_REGION) % HUGE_REGION;
        if (before != 0)
            unmap(data, before);
        data += before;
        if (before != HUGE_REGION)
            unmap(data + size_bytes, HUGE_REGION - before);
    }
    if (huge)
        (void)madvise(data, size_bytes, MADV_HUGEPAGE); /* without them it is only slower */
    return data;
}

/* The bits of `count` pieces, a power of two, at a multiple of `count`. */
static uint32_t find_run(uint32_t free, unsigned count, unsigned *first)
{
    uint32_t run = (uint32_t)(((uint64_t)1 << count) - 1);
    for (unsigned at = 0; at < PIECES; at += count)
        if ((free >> at & run) == run) {
            *first = at;
            return run << at;
        }
    return 0;
}

static size_t index_of(const uint8_t *data)
{
    size_t low = 0;
    size_t high = pool.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool.regions[middle].data + HUGE_REGION <= data)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t add_region(void)
{
    if (pool.count == pool.capacity) {
        pool.capacity = pool.capacity == 0 ? 16 : pool.capacity * 2;
        pool.regions = heap_realloc(pool.regions, pool.capacity * sizeof *pool.regions);
    }
    struct region region = {.data = map(HUGE_REGION, pool.count >= REGIONS_PLAIN),
                            .free = ALL_FREE};
    size_t index = index_of(region.data);
    for (size_t i = pool.count; i > index; i--)
        pool.regions[i] = pool.regions[i - 1];
    pool.regions[index] = region;
    pool.count++;
    pool.idle++;
    return index;
}

static void remove_region(size_t index)
{
    unmap(pool.regions[index].data, HUGE_REGION);
    for (size_t i = index; i + 1 < pool.count; i++)
        pool.regions[i] = pool.regions[i + 1];
    pool.count--;
    pool.idle--;
    pool.hint = 0;
}

static void *take(unsigned count)
{
    unsigned first = 0;
    uint32_t run = 0;
    size_t index = pool.hint;
    for (size_t tried = 0; tried < pool.count && run == 0; tried++) {
        index = (pool.hint + tried) % pool.count;
        run = find_run(pool.regions[index].free, count, &first);
    }
    if (run == 0) {
        index = add_region();
        run = find_run(ALL_FREE, count, &first);
    }
    struct region *region = &pool.regions[index];
    pool.idle -= region->free == ALL_FREE;
    region->free &= ~run;
    pool.hint = index;
    return region->data + first * HUGE_PIECE_MIN;
}

static void give(uint8_t *data, unsigned count)
{
    size_t index = index_of(data);
    CHECK(index < pool.count && pool.regions[index].data <= data);
    struct region *region = &pool.regions[index];
    uint32_t run = (uint32_t)(((uint64_t)1 << count) - 1)
                   << (unsigned)((size_t)(data - region->data) / HUGE_PIECE_MIN);
    CHECK((region->free & run) == 0);
    region->free |= run;
    pool.hint = index;
    if (region->free != ALL_FREE)
        return;
    pool.idle++;
    for (size_t i = pool.count;
         i-- > 0 && (pool.idle > pool.count / 2 || pool.idle > pool.idle_most);)
        if (pool.regions[i].free == ALL_FREE)
            remove_region(i);
}

void *huge_alloc(size_t size_bytes)
{
    CHECK(size_bytes >= HUGE_PIECE_MIN);
    if (size_bytes >= HUGE_REGION) {
        CHECK(size_bytes % HUGE_REGION == 0);
        return map(size_bytes, true);
    }
    CHECK((size_bytes & (size_bytes - 1)) == 0);
    pthread_mutex_lock(&pool.lock);
    void *data = take((unsigned)(size_bytes / HUGE_PIECE_MIN));
    pthread_mutex_unlock(&pool.lock);
    return data;
}

void huge_free(void *data, size_t size_bytes)
{
    if (data == NULL)
        return;
    if (size_bytes >= HUGE_REGION) {
        unmap(data, size_bytes);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    give(data, (unsigned)(size_bytes / HUGE_PIECE_MIN));
    pthread_mutex_unlock(&pool.lock);
}

void huge_keep_idle(size_t bytes)
{
    pthread_mutex_lock(&pool.lock);
    pool.idle_most = bytes / HUGE_REGION;
    pthread_mutex_unlock(&pool.lock);
}

size_t huge_mapped_bytes(void)
{
    pthread_mutex_lock(&pool.lock);
    size_t bytes = pool.count * HUGE_REGION;
    pthread_mutex_unlock(&pool.lock);
    return bytes;
}
