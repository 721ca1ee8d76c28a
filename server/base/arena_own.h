/*
 * Large things in an arena that grow: each has memory of its own, which grows where it is or moves,
 * and leaves nothing behind, as what arena_alloc() gave would.  They end with the arena, and with
 * its reset.
 *
 * Threads: as of the arena.
 */
#ifndef SERVER_BASE_ARENA_OWN_H
#define SERVER_BASE_ARENA_OWN_H

#include "base/arena.h"

/* `old` is what this function gave before, whose bytes stay, or NULL; afterwards it is not valid
 * any more.  The bytes that are new are not set.  Errors: LIMIT_EXCEEDED, and `old` is as it was.
 */
MUST_USE enum status arena_own_resize(struct arena *arena, void *old, size_t size_bytes, void **out,
                                      struct error *err);

#endif
