/*
 * See memory_limit.h.
 */
#include "base/memory_limit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"
#define UNKNOWN     ((uint64_t)1 << 30)

/* The content of a small file, up to its first line's end. */
static bool read_line(const char *path, const char *prefix, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    bool found = false;
    if (file == NULL)
        return false;
    while (!found && fgets(out, (int)size, file) != NULL)
        found = strncmp(out, prefix, strlen(prefix)) == 0;
    (void)fclose(file);
    out[found ? strcspn(out, "\n") : 0] = '\0';
    return found;
}

static uint64_t limit_of(const char *path)
{
    char text[32];
    if (!read_line(path, "", text, sizeof text))
        return UINT64_MAX; /* no such file */
    char *end = NULL;
    uint64_t limit = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : limit; /* "max" is no number */
}

_Noreturn void memory_exhausted(size_t bytes)
{
    if (bytes == 0)
        (void)fputs("out of memory\n", stderr);
    else
        (void)fprintf(stderr, "out of memory: %zu bytes cannot be had\n", bytes);
    (void)fflush(stderr);
    _exit(MEMORY_EXIT_STATUS);
}

uint64_t memory_limit_bytes(void)
{
    char group[PATH_MAX];
    char path[PATH_MAX + sizeof CGROUP_ROOT + sizeof "/memory.max"];
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    uint64_t limit = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UNKNOWN;
    if (!read_line("/proc/self/cgroup", "0::", group, sizeof group))
        group[0] = '\0';
    char *name = group[0] == '\0' ? group : group + strlen("0::");
    for (;;) { /* the group and those that it is in */
        (void)snprintf(path, sizeof path, CGROUP_ROOT "%s/memory.max", name);
        uint64_t own = limit_of(path);
        if (own < limit)
            limit = own;
        char *slash = strrchr(name, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
    }
    uint64_t old = limit_of(CGROUP_ROOT "/memory/memory.limit_in_bytes");
    if (old < limit)
        limit = old;
    return limit == 0 ? UNKNOWN : limit;
}
