#include "base/arena_own.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/memory_limit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_FIRST_BYTES 4096
#define BLOCK_MAX_BYTES   ((size_t)1 << 20)
#define ALIGNMENT         ((size_t)16)

struct block {
    struct block *next;
    size_t size_bytes; /* of data */
    size_t used_bytes;
    size_t padding; /* keeps data aligned */
    uint8_t data[];
};

_Static_assert(offsetof(struct block, data) % ALIGNMENT == 0, "data is aligned");

/* Memory of one thing that grows. */
struct own {
    struct own *next;
    struct own **link; /* what points to it */
    size_t size_bytes; /* of data */
    size_t padding;
    uint8_t data[];
};

_Static_assert(offsetof(struct own, data) % ALIGNMENT == 0, "data is aligned");

struct arena {
    const char *lifetime;
    size_t limit_bytes;
    size_t used_bytes;
    struct block *first;
    struct block *current; /* blocks after it are kept from before the last reset and are empty */
    struct own *own;
};

/* NULL: the machine has no such memory. */
static struct block *block_new(size_t size_bytes)
{
    struct block *block = malloc(sizeof *block + size_bytes);
    if (block == NULL)
        return NULL;
    block->next = NULL;
    block->size_bytes = size_bytes;
    block->used_bytes = 0;
    return block;
}

struct arena *arena_new(const char *lifetime, size_t limit_bytes)
{
    struct arena *arena = heap_calloc(1, sizeof *arena);
    arena->lifetime = lifetime;
    arena->limit_bytes = limit_bytes;
    return arena;
}

static void blocks_free(struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

static void own_free(struct arena *arena)
{
    while (arena->own != NULL) {
        struct own *next = arena->own->next;
        free(arena->own);
        arena->own = next;
    }
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    own_free(arena);
    blocks_free(arena->first);
    free(arena);
}

void arena_reset(struct arena *arena)
{
    struct block **link = &arena->first;
    own_free(arena);
    while (*link != NULL) {
        struct block *block = *link;
        if (block->size_bytes > BLOCK_MAX_BYTES) { /* made for one large object */
            *link = block->next;
            free(block);
            continue;
        }
        block->used_bytes = 0;
        link = &block->next;
    }
    arena->current = arena->first;
    arena->used_bytes = 0;
}

void arena_trim(struct arena *arena)
{
    if (arena->current == NULL)
        return;
    blocks_free(arena->current->next);
    arena->current->next = NULL;
}

/* NULL: as block_new(). */
static void *arena_take(struct arena *arena, size_t size_bytes)
{
    size_bytes = (size_bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    while (arena->current != NULL &&
           arena->current->size_bytes - arena->current->used_bytes < size_bytes) {
        struct block *next = arena->current->next;
        if (next == NULL || next->size_bytes < size_bytes)
            break;
        arena->current = next;
    }
    struct block *block = arena->current;
    if (block == NULL || block->size_bytes - block->used_bytes < size_bytes) {
        size_t want = block == NULL ? BLOCK_FIRST_BYTES : block->size_bytes * 2;
        if (want > BLOCK_MAX_BYTES)
            want = BLOCK_MAX_BYTES;
        if (want < size_bytes)
            want = size_bytes;
        struct block *fresh = block_new(want);
        if (fresh == NULL)
            return NULL;
        if (block == NULL) {
            arena->first = fresh;
        } else {
            fresh->next = block->next;
            block->next = fresh;
        }
        arena->current = fresh;
        block = fresh;
    }
    void *out = block->data + block->used_bytes;
    block->used_bytes += size_bytes;
    arena->used_bytes += size_bytes;
    return out;
}

static enum status over_limit(const struct arena *arena, const char *limit, struct error *err)
{
    char what[64];
    (void)snprintf(what, sizeof what, "memory of this %s", arena->lifetime);
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", what, "limit", limit, NULL);
}

enum status(arena_alloc_raw)(struct arena *arena, size_t count, size_t size, void **out,
                             struct error *err)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total) || total > SIZE_MAX / 4 ||
        (arena->limit_bytes != 0 &&
         (total > arena->limit_bytes || arena->used_bytes > arena->limit_bytes - total))) {
        char limit[32];
        (void)snprintf(limit, sizeof limit, "%zu", arena->limit_bytes);
        return over_limit(arena, limit, err);
    }
    *out = arena_take(arena, total == 0 ? 1 : total);
    return *out == NULL ? over_limit(arena, "what this machine has", err) : OK;
}

enum status arena_own_resize(struct arena *arena, void *old, size_t size_bytes, void **out,
                             struct error *err)
{
    struct own *own =
        old == NULL ? NULL : (struct own *)((uint8_t *)old - offsetof(struct own, data));
    size_t before = own == NULL ? 0 : own->size_bytes;
    if (size_bytes > SIZE_MAX / 4 ||
        (arena->limit_bytes != 0 &&
         size_bytes > arena->limit_bytes - (arena->used_bytes - before))) {
        char limit[32];
        (void)snprintf(limit, sizeof limit, "%zu", arena->limit_bytes);
        return over_limit(arena, limit, err);
    }
    struct own *grown = realloc(own, sizeof *own + size_bytes);
    if (grown == NULL)
        return over_limit(arena, "what this machine has", err);
    if (own == NULL) {
        grown->next = arena->own;
        grown->link = &arena->own;
    }
    *grown->link = grown;
    if (grown->next != NULL)
        grown->next->link = &grown->next;
    grown->size_bytes = size_bytes;
    arena->used_bytes += size_bytes - before;
    *out = grown->data;
    return OK;
}

enum status(arena_alloc)(struct arena *arena, size_t count, size_t size, void **out,
                         struct error *err)
{
    TRY(arena_alloc_raw(arena, count, size, out, err));
    memset(*out, 0, count * size);
    return OK;
}

void *(arena_new_object)(struct arena *arena, size_t size)
{
    void *out = arena_take(arena, size == 0 ? 1 : size);
    if (out == NULL)
        memory_exhausted(size);
    memset(out, 0, size);
    return out;
}

char *(arena_strndup)(struct arena *arena, const void *text, size_t size)
{
    char *out = arena_take(arena, size + 1);
    if (out == NULL)
        memory_exhausted(size);
    if (size != 0)
        memcpy(out, text, size);
    out[size] = '\0';
    return out;
}

char *(arena_strdup)(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

struct bytes arena_copy(struct arena *arena, struct bytes bytes)
{
    return bytes_of(arena_strndup(arena, bytes.data, bytes.size_bytes), bytes.size_bytes);
}

char *(arena_sprintf)(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    CHECK(size >= 0);
    char *out = arena_take(arena, (size_t)size + 1);
    CHECK(out != NULL);
    (void)vsnprintf(out, (size_t)size + 1, fmt, again);
    va_end(again);
    return out;
}

size_t arena_used_bytes(const struct arena *arena)
{
    return arena->used_bytes;
}
