/*
 * Watching directories for files that are complete: renamed in, or closed after writing.
 *
 * Built on inotify.  What cannot be watched (another kind of file system, no watches left) is
 * reported by dir_watch_covers(), and the caller then lists the directory instead.
 * Threads: the batch thread.
 */
#ifndef SERVER_SOURCE_DIR_WATCH_H
#define SERVER_SOURCE_DIR_WATCH_H

#include "base/bytes.h"

struct dir_watch;

struct dir_watch *dir_watch_new(void); /* NULL: there is no inotify */
void dir_watch_free(struct dir_watch *watch);

/* Readable when something has happened. */
int dir_watch_fd(const struct dir_watch *watch);

/* Watches a directory; adding it again is fine.  Call it before listing the directory. */
void dir_watch_add(struct dir_watch *watch, const char *dir);

/* Takes what has happened since the last call. */
void dir_watch_drain(struct dir_watch *watch);

/* True if every directory added is watched and nothing was lost or changed that only a new listing
 * can tell: events dropped, directories made, moved or removed.  dir_watch_listed() makes it so
 * again. */
bool dir_watch_covers(const struct dir_watch *watch);
/* The caller is about to list everything: forgets the files noted so far. */
void dir_watch_listed(struct dir_watch *watch);

/* The paths of the files that have arrived, oldest first; dir_watch_clear() when they are taken. */
size_t dir_watch_count(const struct dir_watch *watch);
const char *dir_watch_path(const struct dir_watch *watch, size_t i);
void dir_watch_clear(struct dir_watch *watch);

#endif
