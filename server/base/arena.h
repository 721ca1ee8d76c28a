/*
 * Arenas: memory that is given back all at once.
 *
 * The name of an arena is its lifetime: `request`, `query`, `batch`.  An arena is always passed in
 * by the caller, who thereby decides how long the result lives; there is no current arena.
 * Running out of memory ends the process (memory_limit.h: the worker's query is FAILED, and can be
 * started again); running over the arena's limit, or asking arena_alloc() for one object
 * that the machine has no room for, is an ordinary STATUS_LIMIT_EXCEEDED error.
 *
 * Threads: one arena belongs to one thread at a time.
 */
#ifndef SERVER_BASE_ARENA_H
#define SERVER_BASE_ARENA_H

#include "base/bytes.h"
#include "base/error.h"

#include <stdint.h>

struct arena;

/* limit_bytes bounds the total handed out; 0 means no limit.  Free with arena_free(). */
struct arena *arena_new(const char *lifetime, size_t limit_bytes);
void arena_free(struct arena *arena); /* NULL is fine */

/* Gives back everything allocated since arena_new() or the last reset; keeps blocks for reuse. */
void arena_reset(struct arena *arena);

/* Gives back also the kept blocks but the first: called when a query goes idle. */
void arena_trim(struct arena *arena);

/*
 * Allocates `count` zeroed objects of `size` bytes into *out, aligned for any type (16 bytes).
 * The memory is borrowed: it is valid until the arena is reset or freed.
 * Errors: LIMIT_EXCEEDED.
 */
MUST_USE enum status arena_alloc(struct arena *arena, size_t count, size_t size, void **out,
                                 struct error *err);

/* As arena_alloc, but the memory is not zeroed: for vectors that are filled at once. */
MUST_USE enum status arena_alloc_raw(struct arena *arena, size_t count, size_t size, void **out,
                                     struct error *err);

/*
 * Zeroed memory whose size does not follow untrusted data (one node of a tree, a small struct).
 * Never fails: going over the limit is noticed by the next arena_alloc().
 */
void *arena_new_object(struct arena *arena, size_t size);

/* Copies; the result of arena_strdup and arena_sprintf ends with NUL.  Never fail, as above. */
struct bytes arena_copy(struct arena *arena, struct bytes bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const void *text, size_t size);
char *arena_sprintf(struct arena *arena, const char *fmt, ...) PRINTF(2, 3);

size_t arena_used_bytes(const struct arena *arena);

/* The static analyzer does not see that *out is set when the status is OK, and no result NULL. */
#ifdef __clang_analyzer__
static inline enum status arena_gave(enum status status, void *const *out)
{
    if (status == OK && *out == NULL)
        __builtin_unreachable();
    return status;
}
static inline void *arena_given(void *memory)
{
    if (memory == NULL)
        __builtin_unreachable();
    return memory;
}
#define arena_alloc(arena, count, size, out, err)                                                  \
    arena_gave(arena_alloc(arena, count, size, out, err), out)
#define arena_alloc_raw(arena, count, size, out, err)                                              \
    arena_gave(arena_alloc_raw(arena, count, size, out, err), out)
#define arena_new_object(arena, size)    arena_given(arena_new_object(arena, size))
#define arena_strdup(arena, text)        ((char *)arena_given(arena_strdup(arena, text)))
#define arena_strndup(arena, text, size) ((char *)arena_given(arena_strndup(arena, text, size)))
#define arena_sprintf(arena, ...)        ((char *)arena_given(arena_sprintf(arena, __VA_ARGS__)))
#endif

#endif
