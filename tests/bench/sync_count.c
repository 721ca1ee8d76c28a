/*
 * Preloaded into a program that is measured: counts its fsync() and fdatasync() calls and the time
 * that they take.
 *
 *     LD_PRELOAD=libsync_count.so SYNC_COUNT_FILE=page PROGRAM
 *
 * `page` is a file of at least 16 bytes, which is mapped: calls:u64 nanoseconds:u64.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct page {
    _Atomic uint64_t calls;
    _Atomic uint64_t nanoseconds;
};

static struct page own;
static struct page *page = &own;

__attribute__((constructor)) static void map_page(void)
{
    const char *path = getenv("SYNC_COUNT_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED)
        page = mapped;
    (void)close(fd);
}

static int timed(const char *name, int fd)
{
    int (*call)(int) = NULL;
    struct timespec begin, end;
    *(void **)&call = dlsym(RTLD_NEXT, name); /* as POSIX asks for it */
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    int result = call(fd);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t took = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
    atomic_fetch_add(&page->nanoseconds, (uint64_t)took);
    atomic_fetch_add(&page->calls, 1);
    return result;
}

int fsync(int fd)
{
    return timed("fsync", fd);
}

int fdatasync(int fd)
{
    return timed("fdatasync", fd);
}
