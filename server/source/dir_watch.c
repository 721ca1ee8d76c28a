#include "source/dir_watch.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTED_MAX   100000 /* more files at once: list the directories instead */
#define WATCHES_MAX 8192
#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct watched {
    int id;
    char *dir;
};

struct dir_watch {
    int fd;
    bool covers;
    struct watched *watched; /* by rising id */
    size_t watched_count;
    size_t watched_capacity;
    char **noted;
    size_t noted_count;
    size_t noted_capacity;
};

struct dir_watch *dir_watch_new(void)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct dir_watch *watch = heap_calloc(1, sizeof *watch);
    watch->fd = fd;
    return watch;
}

void dir_watch_clear(struct dir_watch *watch)
{
    for (size_t i = 0; i < watch->noted_count; i++)
        free(watch->noted[i]);
    watch->noted_count = 0;
}

void dir_watch_free(struct dir_watch *watch)
{
    if (watch == NULL)
        return;
    dir_watch_clear(watch);
    for (size_t i = 0; i < watch->watched_count; i++)
        free(watch->watched[i].dir);
    free(watch->watched);
    free(watch->noted);
    close(watch->fd);
    free(watch);
}

int dir_watch_fd(const struct dir_watch *watch)
{
    return watch->fd;
}

static struct watched *find_watched(struct dir_watch *watch, int id)
{
    size_t low = 0;
    size_t high = watch->watched_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (watch->watched[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < watch->watched_count && watch->watched[low].id == id ? &watch->watched[low] : NULL;
}

void dir_watch_add(struct dir_watch *watch, const char *dir)
{
    int id = watch->watched_count < WATCHES_MAX ? inotify_add_watch(watch->fd, dir, EVENTS) : -1;
    if (id < 0) {
        watch->covers = false;
        return;
    }
    struct watched *known = find_watched(watch, id);
    if (known != NULL) { /* the same directory, perhaps under another name by now */
        if (strcmp(known->dir, dir) != 0) {
            free(known->dir);
            known->dir = heap_strdup(dir);
        }
        return;
    }
    if (watch->watched_count == watch->watched_capacity) {
        watch->watched_capacity = watch->watched_capacity == 0 ? 16 : watch->watched_capacity * 2;
        watch->watched =
            heap_realloc(watch->watched, watch->watched_capacity * sizeof *watch->watched);
    }
    /* The kernel counts ids up, so this keeps the order. */
    CHECK(watch->watched_count == 0 || watch->watched[watch->watched_count - 1].id < id);
    char *copy = heap_strdup(dir);
    watch->watched[watch->watched_count++] = (struct watched){.id = id, .dir = copy};
}

static void note_file(struct dir_watch *watch, const char *dir, const char *name)
{
    if (watch->noted_count >= NOTED_MAX) {
        watch->covers = false;
        return;
    }
    if (watch->noted_count == watch->noted_capacity) {
        watch->noted_capacity = watch->noted_capacity == 0 ? 16 : watch->noted_capacity * 2;
        watch->noted = heap_realloc(watch->noted, watch->noted_capacity * sizeof *watch->noted);
    }
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = heap_malloc(size);
    (void)snprintf(path, size, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
    watch->noted[watch->noted_count++] = path;
}

/* A file that is created is complete when it is closed, which a link never is: it is complete at
 * once.  One to a directory is for a listing to judge. */
static void note_link(struct dir_watch *watch, const char *dir, const char *name)
{
    struct stat link;
    struct stat target;
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", dir, name);
    if (lstat(buffer_text(&path), &link) == 0) {
        bool soft = S_ISLNK(link.st_mode);
        bool found = soft && stat(buffer_text(&path), &target) == 0;
        if (found && S_ISDIR(target.st_mode))
            watch->covers = false;
        else if (found || (S_ISREG(link.st_mode) && link.st_nlink > 1))
            note_file(watch, dir, name);
    }
    buffer_fini(&path);
}

static void take_event(struct dir_watch *watch, const struct inotify_event *event)
{
    struct watched *watched = find_watched(watch, event->wd);
    if ((event->mask & IN_IGNORED) != 0 && watched != NULL) {
        size_t at = (size_t)(watched - watch->watched);
        free(watched->dir);
        memmove(watched, watched + 1, (watch->watched_count - at - 1) * sizeof *watched);
        watch->watched_count--;
    }
    if ((event->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_ISDIR)) !=
        0)
        watch->covers = false;
    else if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 && watched != NULL &&
             event->len > 0)
        note_file(watch, watched->dir, event->name);
    else if ((event->mask & IN_CREATE) != 0 && watched != NULL && event->len > 0)
        note_link(watch, watched->dir, event->name);
}

void dir_watch_drain(struct dir_watch *watch)
{
    union {
        struct inotify_event align;
        char bytes[65536];
    } buffer;
    for (;;) {
        ssize_t got = read(watch->fd, buffer.bytes, sizeof buffer.bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        for (size_t at = 0; at + sizeof(struct inotify_event) <= (size_t)got;) {
            const struct inotify_event *event = (const void *)(buffer.bytes + at);
            take_event(watch, event);
            at += sizeof *event + event->len;
        }
    }
}

bool dir_watch_covers(const struct dir_watch *watch)
{
    return watch->covers;
}

void dir_watch_listed(struct dir_watch *watch)
{
    dir_watch_drain(watch);
    dir_watch_clear(watch);
    watch->covers = true;
}

size_t dir_watch_count(const struct dir_watch *watch)
{
    return watch->noted_count;
}

const char *dir_watch_path(const struct dir_watch *watch, size_t i)
{
    CHECK(i < watch->noted_count);
    return watch->noted[i];
}
