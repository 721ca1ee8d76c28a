/*
 * See lock_probe.h.  The kernel's list has a line for each lock:
 *
 *     3: FLOCK  ADVISORY  WRITE 4711 08:01:1234567 0 EOF
 *
 * with the process and the device and inode of the file.
 */
#include "base/lock_probe.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void read_holder(const char *path, char *holder, size_t size)
{
    holder[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(holder, (int)size, file) == NULL)
        holder[0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    (void)fclose(file);
}

bool lock_probe(const char *path, char *holder, size_t size)
{
    struct stat stat_;
    char line[256];
    bool held = false;
    holder[0] = '\0';
    if (stat(path, &stat_) != 0)
        return false;
    FILE *locks = fopen("/proc/locks", "re");
    if (locks == NULL)
        return false;
    while (!held && fgets(line, sizeof line, locks) != NULL) {
        char kind[16], mode[16];
        uint64_t inode = 0;
        // NOLINTNEXTLINE(cert-err34-c): the kernel writes the numbers
        held = sscanf(line, "%*s %15s %*s %15s %*d %*x:%*x:%" SCNu64, kind, mode, &inode) == 3 &&
               strcmp(kind, "FLOCK") == 0 && strcmp(mode, "WRITE") == 0 &&
               inode == (uint64_t)stat_.st_ino;
    }
    (void)fclose(locks);
    if (held)
        read_holder(path, holder, size);
    return held;
}
