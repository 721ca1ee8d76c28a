#include "base/vfs_posix.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define POSIX_FILE_MAGIC    0x70f11e01U
#define POSIX_MAP_MAGIC     0x70f1a902U
#define POSIX_LOCK_MAGIC    0x70f10c03U
#define POSIX_SCRATCH_MAGIC 0x70f15c04U

#define WRITE_AHEAD_BYTES ((uint64_t)1 << 20)

struct posix_file {
    struct vfs_file base;
    uint32_t magic;
    int fd;
    bool name_synced;
    char *path;
    uint64_t size_bytes;        /* where the next append goes */
    uint64_t started_bytes;     /* up to here the kernel has been told to write */
    uint64_t synced_bytes;      /* for vfs_posix_tear */
    uint64_t preallocate_bytes; /* step; 0: none */
    uint64_t reserved_bytes;    /* disk space reserved so far */
    struct posix_file *next;    /* in open_files */
};

struct posix_map {
    struct vfs_map base;
    uint32_t magic;
    void *address; /* NULL: `copy` is used */
    size_t mapped_bytes;
    size_t passed_bytes;
    uint8_t *copy;
};

struct posix_lock {
    struct vfs_lock base;
    uint32_t magic;
    int fd;
};

struct posix_scratch {
    struct vfs_scratch base;
    uint32_t magic;
    int fd;
    char *path;
};

static struct vfs posix_vfs;

#ifdef FAILPOINTS
/* `open_lock` protects the list of files open for appending. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct posix_file *open_files;

static void remember_open(struct posix_file *file)
{
    pthread_mutex_lock(&open_lock);
    file->next = open_files;
    open_files = file;
    pthread_mutex_unlock(&open_lock);
}

static void forget_open(struct posix_file *file)
{
    pthread_mutex_lock(&open_lock);
    struct posix_file **at = &open_files;
    while (*at != NULL && *at != file)
        at = &(*at)->next;
    if (*at != NULL)
        *at = file->next;
    pthread_mutex_unlock(&open_lock);
}

void vfs_posix_tear(size_t bytes)
{
    pthread_mutex_lock(&open_lock);
    for (struct posix_file *file = open_files; file != NULL; file = file->next) {
        uint64_t keep = file->synced_bytes + bytes;
        if (keep < file->size_bytes && ftruncate(file->fd, (off_t)keep) != 0)
            _exit(138);
    }
    pthread_mutex_unlock(&open_lock);
}
#else
static void remember_open(struct posix_file *file)
{
    (void)file;
}

static void forget_open(struct posix_file *file)
{
    (void)file;
}

void vfs_posix_tear(size_t bytes)
{
    (void)bytes;
}
#endif

static int open_retrying(const char *path, int flags, mode_t mode)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* 0, or the errno. */
static int write_all(int fd, struct bytes content, uint64_t offset)
{
    while (content.size_bytes > 0) {
        ssize_t written = pwrite(fd, content.data, content.size_bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written == 0 ? ENOSPC : errno;
        content.data += written;
        content.size_bytes -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

static int sync_retrying(int fd, bool data_only)
{
    int result;
    do {
        result = data_only ? fdatasync(fd) : fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static enum status posix_sync_dir(struct vfs *self, const char *dir, struct error *err)
{
    (void)self;
    int fd = open_retrying(dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return vfs_error(err, dir, errno);
    int reason = sync_retrying(fd, false);
    close(fd);
    return reason == 0 ? OK : vfs_error(err, dir, reason);
}

static enum status sync_parent(const char *path, struct error *err)
{
    struct arena *request = arena_new("request", 0);
    enum status status = posix_sync_dir(&posix_vfs, path_dirname(request, path), err);
    arena_free(request);
    return status;
}

/* The name may be taken: by what a crashed process left that had the same id (as in containers). */
static int open_temporary(struct arena *request, const char *path, const char **temporary)
{
    static _Atomic uint64_t counter;
    int fd;
    do {
        *temporary = arena_sprintf(request, "%s.%ld.%llu.tmp", path, (long)getpid(),
                                   (unsigned long long)atomic_fetch_add(&counter, 1));
        fd = open_retrying(*temporary, O_WRONLY | O_CREAT | O_EXCL, 0644);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static enum status put_temporary(struct arena *request, const char *path, struct bytes content,
                                 const char **temporary, struct error *err)
{
    int fd = open_temporary(request, path, temporary);
    if (fd < 0)
        return vfs_error(err, *temporary, errno);
    int reason = write_all(fd, content, 0);
    if (reason == 0)
        reason = sync_retrying(fd, true);
    if (close(fd) != 0 && reason == 0)
        reason = errno;
    return reason == 0 ? OK : vfs_error(err, *temporary, reason);
}

static enum status put_publish(const char *temporary, const char *path, bool exclusive,
                               struct error *err)
{
    if (!exclusive)
        return rename(temporary, path) == 0 ? OK : vfs_error(err, path, errno);
    if (link(temporary, path) != 0)
        return vfs_error(err, path, errno);
    return unlink(temporary) == 0 ? OK : vfs_error(err, temporary, errno);
}

static enum status posix_put(struct vfs *self, const char *path, struct bytes content,
                             bool exclusive, struct error *err)
{
    (void)self;
    struct arena *request = arena_new("request", 0);
    const char *temporary = NULL;
    enum status status = OK;
    TRY_OUT(put_temporary(request, path, content, &temporary, err));
    TRY_OUT(put_publish(temporary, path, exclusive, err));
    TRY_OUT(sync_parent(path, err));
out:
    if (status != OK)
        (void)unlink(temporary);
    arena_free(request);
    return status;
}

/*
 * Bytes [from, to) become zeros and the file keeps its size: pages that another process has mapped
 * do not go away beneath it.  Durable before anything is appended, since a record that a crash
 * left there must not come after a new one.  0 or an errno.
 */
static int blank(int fd, uint64_t from, uint64_t to)
{
    static const uint8_t zeros[16 << 10];
    int reason = 0;
    while (reason == 0 && from < to) {
        size_t part = to - from < sizeof zeros ? (size_t)(to - from) : sizeof zeros;
        reason = write_all(fd, bytes_of(zeros, part), from);
        from += part;
    }
    return reason == 0 ? sync_retrying(fd, true) : reason;
}

static int cut(int fd, uint64_t from, uint64_t to, bool keeps_size)
{
    if (keeps_size)
        return blank(fd, from, to);
    return ftruncate(fd, (off_t)from) == 0 ? 0 : errno;
}

static enum status posix_open(struct vfs *self, const char *path, uint64_t truncate_to,
                              uint64_t preallocate_bytes, struct vfs_file **out, struct error *err)
{
    int fd = open_retrying(path, O_WRONLY | O_CREAT, 0644);
    if (fd < 0)
        return vfs_error(err, path, errno);
    struct stat stat;
    int reason = fstat(fd, &stat) == 0 ? 0 : errno;
    if (reason == 0 && truncate_to < (uint64_t)stat.st_size) {
        reason = cut(fd, truncate_to, (uint64_t)stat.st_size, preallocate_bytes > 0);
        stat.st_size = (off_t)truncate_to;
    }
    if (reason != 0) {
        close(fd);
        return vfs_error(err, path, reason);
    }
    struct posix_file *file = heap_calloc(1, sizeof *file);
    file->base.vfs = self;
    file->magic = POSIX_FILE_MAGIC;
    file->fd = fd;
    file->path = heap_strdup(path);
    file->size_bytes = (uint64_t)stat.st_size;
    file->synced_bytes = file->size_bytes;
    file->preallocate_bytes = preallocate_bytes;
    file->reserved_bytes = file->size_bytes;
    file->started_bytes = file->size_bytes;
    remember_open(file);
    *out = &file->base;
    return OK;
}

static struct posix_file *file_of(struct vfs_file *base)
{
    struct posix_file *file = (struct posix_file *)base;
    CHECK_MAGIC(file, POSIX_FILE_MAGIC);
    return file;
}

/* Reserving is an optimisation, but a full disk is noticed here first. */
static int reserve(struct posix_file *file, size_t more)
{
    uint64_t need = file->size_bytes + more;
    if (file->preallocate_bytes == 0 || need <= file->reserved_bytes)
        return 0;
    uint64_t target =
        (need + file->preallocate_bytes - 1) / file->preallocate_bytes * file->preallocate_bytes;
    int result;
    do {
        result = fallocate(file->fd, FALLOC_FL_KEEP_SIZE, (off_t)file->reserved_bytes,
                           (off_t)(target - file->reserved_bytes));
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno == EOPNOTSUPP)
        file->preallocate_bytes = 0;
    else if (result != 0)
        return errno;
    file->reserved_bytes = target;
    return 0;
}

/* Lets the disk work while the file is still being made: less is left to do for the sync.  An
 * optimisation, so failing is fine. */
static void start_writing(struct posix_file *file)
{
    uint64_t waiting = file->size_bytes - file->started_bytes;
    if (waiting < WRITE_AHEAD_BYTES)
        return;
    (void)sync_file_range(file->fd, (off_t)file->started_bytes, (off_t)waiting,
                          SYNC_FILE_RANGE_WRITE);
    file->started_bytes = file->size_bytes;
}

static enum status posix_append(struct vfs_file *base, struct bytes content, struct error *err)
{
    struct posix_file *file = file_of(base);
    int reason = reserve(file, content.size_bytes);
    if (reason == ENOSPC) {
        file->preallocate_bytes = 0; /* what is written may fit even where a whole step does not */
        reason = 0;
    }
    if (reason == 0)
        reason = write_all(file->fd, content, file->size_bytes);
    if (reason != 0)
        return vfs_error(err, file->path, reason);
    file->size_bytes += content.size_bytes;
    start_writing(file);
    return OK;
}

static enum status posix_sync_data(struct vfs_file *base, struct error *err)
{
    struct posix_file *file = file_of(base);
    int reason = sync_retrying(file->fd, true);
    if (reason != 0)
        return vfs_error(err, file->path, reason);
    file->synced_bytes = file->size_bytes;
    return OK;
}

static enum status posix_sync(struct vfs_file *base, struct error *err)
{
    struct posix_file *file = file_of(base);
    TRY(posix_sync_data(base, err));
    if (!file->name_synced)
        TRY(sync_parent(file->path, err));
    file->name_synced = true;
    return OK;
}

static void posix_close(struct vfs_file *base)
{
    struct posix_file *file = file_of(base);
    forget_open(file);
    close(file->fd);
    free(file->path);
    file->magic = 0;
    free(file);
}

/* 0 or an errno; stops early at the end of the file. */
static int read_all(int fd, uint64_t offset, struct bytes_out out, size_t *read_bytes)
{
    size_t done = 0;
    while (done < out.size_bytes) {
        ssize_t got = pread(fd, out.data + done, out.size_bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *read_bytes = done;
    return 0;
}

/*
 * The file's pages are put over the beginning of an anonymous mapping that is one page longer, so
 * that the padding is there also when the file fills its last page.
 */
static bool map_pages(int fd, size_t size, struct posix_map *map)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t total = (size + page - 1) / page * page + page;
    void *address = mmap(NULL, total, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        return false;
    if (mmap(address, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(address, total);
        return false;
    }
    map->address = address;
    map->mapped_bytes = total;
    return true;
}

static enum status posix_map(struct vfs *self, const char *path, struct vfs_map **out,
                             struct bytes *content, struct error *err)
{
    int fd = open_retrying(path, O_RDONLY, 0);
    if (fd < 0)
        return vfs_error(err, path, errno);
    struct stat stat;
    struct posix_map *map = heap_calloc(1, sizeof *map);
    map->base.vfs = self;
    map->magic = POSIX_MAP_MAGIC;
    int reason = fstat(fd, &stat) == 0 ? 0 : errno;
    if (reason == 0 && S_ISDIR(stat.st_mode))
        reason = EISDIR;
    size_t size = reason == 0 ? (size_t)stat.st_size : 0;
    if (reason == 0 && (size == 0 || !map_pages(fd, size, map))) {
        map->copy = heap_calloc(1, size + VFS_MAP_PADDING);
        reason = read_all(fd, 0, (struct bytes_out){.data = map->copy, .size_bytes = size}, &size);
    }
    close(fd);
    if (reason != 0) {
        free(map->copy);
        free(map);
        return vfs_error(err, path, reason);
    }
    *content = bytes_of(map->address != NULL ? map->address : map->copy, size);
    *out = &map->base;
    return OK;
}

static void posix_map_passed(struct vfs_map *base, size_t bytes)
{
    struct posix_map *map = (struct posix_map *)base;
    CHECK_MAGIC(map, POSIX_MAP_MAGIC);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t end = bytes / page * page;
    if (map->address == NULL || end <= map->passed_bytes || end >= map->mapped_bytes)
        return;
    /* It only stays if this fails. */
    (void)madvise((uint8_t *)map->address + map->passed_bytes, end - map->passed_bytes,
                  MADV_DONTNEED);
    map->passed_bytes = end;
}

static void posix_unmap(struct vfs_map *base)
{
    struct posix_map *map = (struct posix_map *)base;
    CHECK_MAGIC(map, POSIX_MAP_MAGIC);
    if (map->address != NULL)
        munmap(map->address, map->mapped_bytes);
    free(map->copy);
    map->magic = 0;
    free(map);
}

static enum status posix_read_at(struct vfs *self, const char *path, uint64_t offset,
                                 struct bytes_out out, size_t *read_bytes, struct error *err)
{
    (void)self;
    int fd =
        open_retrying(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe must not wait for its writer */
    if (fd < 0)
        return vfs_error(err, path, errno);
    int reason = read_all(fd, offset, out, read_bytes);
    close(fd);
    return reason == 0 ? OK : vfs_error(err, path, reason);
}

static struct vfs_stat stat_of(const struct stat *stat)
{
    return (struct vfs_stat){
        .kind = S_ISDIR(stat->st_mode) ? VFS_DIR : VFS_FILE,
        .size_bytes = (uint64_t)stat->st_size,
        .mtime_us = (int64_t)stat->st_mtim.tv_sec * 1000000 + stat->st_mtim.tv_nsec / 1000,
        .inode = stat->st_ino,
    };
}

static enum status posix_stat(struct vfs *self, const char *path, struct vfs_stat *out,
                              struct error *err)
{
    (void)self;
    struct stat result;
    if (stat(path, &result) != 0)
        return vfs_error(err, path, errno == ENOTDIR || errno == ELOOP ? ENOENT : errno);
    *out = stat_of(&result);
    return OK;
}

static int entry_compare(const void *a, const void *b)
{
    const struct vfs_entry *left = a;
    const struct vfs_entry *right = b;
    return strcmp(left->name, right->name);
}

struct entries {
    struct vfs_entry *items;
    size_t count;
    size_t capacity;
};

static void entries_add(struct entries *entries, struct arena *arena, const char *name,
                        const struct stat *stat)
{
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity == 0 ? 64 : entries->capacity * 2;
        entries->items = heap_realloc(entries->items, entries->capacity * sizeof *entries->items);
    }
    entries->items[entries->count++] =
        (struct vfs_entry){.name = arena_strdup(arena, name), .stat = stat_of(stat)};
}

static int read_entries(DIR *stream, struct arena *arena, struct entries *entries)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream); /* NOLINT(concurrency-mt-unsafe): own DIR */
        if (entry == NULL)
            return errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct stat stat;
        /* A file that has just gone, or a link to nothing, is not in the directory. */
        if (fstatat(dirfd(stream), entry->d_name, &stat, 0) == 0)
            entries_add(entries, arena, entry->d_name, &stat);
        else if (errno != ENOENT && errno != ELOOP)
            return errno;
    }
}

static enum status posix_list(struct vfs *self, const char *dir, struct arena *arena,
                              struct vfs_entry **out, size_t *count, struct error *err)
{
    (void)self;
    DIR *stream = opendir(dir);
    if (stream == NULL)
        return vfs_error(err, dir, errno);
    struct entries entries = {0};
    int reason = read_entries(stream, arena, &entries);
    closedir(stream);
    enum status status = OK;
    if (reason != 0)
        TRY_OUT(vfs_error(err, dir, reason));
    void *items = NULL;
    TRY_OUT(arena_alloc(arena, entries.count + 1, sizeof *entries.items, &items, err));
    if (entries.count > 0) {
        qsort(entries.items, entries.count, sizeof *entries.items, entry_compare);
        memcpy(items, entries.items, entries.count * sizeof *entries.items);
    }
    *out = items;
    *count = entries.count;
out:
    free(entries.items);
    return status;
}

/* False: the entry has gone, is a link to nothing, or is neither file nor directory. */
static bool entry_kind(DIR *stream, const struct dirent *entry, enum vfs_kind *out)
{
    if (entry->d_type == DT_REG || entry->d_type == DT_DIR) {
        *out = entry->d_type == DT_DIR ? VFS_DIR : VFS_FILE;
        return true;
    }
    struct stat stat;
    if (fstatat(dirfd(stream), entry->d_name, &stat, 0) != 0)
        return false;
    *out = S_ISDIR(stat.st_mode) ? VFS_DIR : VFS_FILE;
    return S_ISDIR(stat.st_mode) || S_ISREG(stat.st_mode);
}

static enum status posix_scan(struct vfs *self, const char *dir, struct vfs_visitor *visitor,
                              struct error *err)
{
    (void)self;
    DIR *stream = opendir(dir);
    if (stream == NULL)
        return vfs_error(err, dir, errno);
    enum status status = OK;
    while (status == OK) {
        errno = 0;
        const struct dirent *entry = readdir(stream); /* NOLINT(concurrency-mt-unsafe): own DIR */
        if (entry == NULL) {
            status = errno == 0 ? OK : vfs_error(err, dir, errno);
            break;
        }
        enum vfs_kind kind;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            entry_kind(stream, entry, &kind))
            status = visitor->visit(visitor, entry->d_name, kind, err);
    }
    closedir(stream);
    return status;
}

static enum status posix_rename(struct vfs *self, const char *from, const char *to,
                                struct error *err)
{
    (void)self;
    return rename(from, to) == 0 ? OK : vfs_error(err, from, errno);
}

static bool same_file(const char *a, const char *b)
{
    struct stat stat_a;
    struct stat stat_b;
    return stat(a, &stat_a) == 0 && stat(b, &stat_b) == 0 && stat_a.st_dev == stat_b.st_dev &&
           stat_a.st_ino == stat_b.st_ino;
}

uint64_t vfs_posix_identity(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return 0;
    return ((uint64_t)found.st_dev * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)found.st_ino;
}

static enum status posix_link(struct vfs *self, const char *from, const char *to, struct error *err)
{
    (void)self;
    if (link(from, to) == 0 || (errno == EEXIST && same_file(from, to)))
        return OK;
    return vfs_error(err, errno == EEXIST ? to : from, errno);
}

static enum status posix_remove(struct vfs *self, const char *path, struct error *err)
{
    (void)self;
    return remove(path) == 0 || errno == ENOENT ? OK : vfs_error(err, path, errno);
}

/* Each new directory is made durable in its parent. */
static enum status posix_make_dirs(struct vfs *self, const char *dir, struct error *err)
{
    struct stat stat_buffer;
    if (stat(dir, &stat_buffer) == 0)
        return S_ISDIR(stat_buffer.st_mode) ? OK : vfs_error(err, dir, ENOTDIR);
    if (errno != ENOENT)
        return vfs_error(err, dir, errno);
    enum status status = OK;
    struct arena *request = arena_new("request", 0);
    char *plain = path_normalize(request, dir);
    char *parent = path_dirname(request, plain);
    if (strcmp(parent, plain) != 0 && strcmp(parent, ".") != 0)
        TRY_OUT(posix_make_dirs(self, parent, err));
    if (mkdir(plain, 0755) != 0 && errno != EEXIST)
        TRY_OUT(vfs_error(err, plain, errno));
    TRY_OUT(posix_sync_dir(self, parent, err));
out:
    arena_free(request);
    return status;
}

static int remove_visited(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat;
    (void)kind;
    (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : errno;
}

static enum status posix_remove_tree(struct vfs *self, const char *dir, struct error *err)
{
    (void)self;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc walks with fds, without FTW_CHDIR
    int reason = nftw(dir, remove_visited, 32, FTW_DEPTH | FTW_PHYS);
    if (reason == -1)
        reason = errno;
    return reason == 0 || reason == ENOENT ? OK : vfs_error(err, dir, reason);
}

static enum status refuse_locked(const char *path, int fd, struct error *err)
{
    char holder[256];
    size_t size = 0;
    struct bytes_out out = {.data = (uint8_t *)holder, .size_bytes = sizeof holder - 1};
    if (read_all(fd, 0, out, &size) != 0)
        size = 0;
    holder[size] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return error_raise(err, STATUS_CHECKPOINT__LOCKED, "path", path, "holder",
                       holder[0] == '\0' ? "another process" : holder, NULL);
}

enum status vfs_posix_lock_as(const char *path, const char *holder, struct vfs_lock **out,
                              struct error *err)
{
    int fd = open_retrying(path, O_RDWR | O_CREAT, 0644);
    if (fd < 0)
        return vfs_error(err, path, errno);
    int result;
    do {
        result = flock(fd, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
        enum status status =
            errno == EWOULDBLOCK ? refuse_locked(path, fd, err) : vfs_error(err, path, errno);
        close(fd);
        return status;
    }
    /* The text is for people: that it could not be written (full disk) does not matter. */
    if (ftruncate(fd, 0) == 0 && write_all(fd, bytes_of_text(holder), 0) == 0)
        (void)write_all(fd, bytes_of_text("\n"), strlen(holder));
    struct posix_lock *lock = heap_calloc(1, sizeof *lock);
    lock->base.vfs = &posix_vfs;
    lock->magic = POSIX_LOCK_MAGIC;
    lock->fd = fd;
    *out = &lock->base;
    return OK;
}

static enum status posix_lock(struct vfs *self, const char *path, struct vfs_lock **out,
                              struct error *err)
{
    (void)self;
    char host[128] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    char holder[192];
    (void)snprintf(holder, sizeof holder, "process %ld on %s", (long)getpid(), host);
    return vfs_posix_lock_as(path, holder, out, err);
}

static void posix_unlock(struct vfs_lock *base)
{
    struct posix_lock *lock = (struct posix_lock *)base;
    CHECK_MAGIC(lock, POSIX_LOCK_MAGIC);
    close(lock->fd);
    lock->magic = 0;
    free(lock);
}

static enum status posix_scratch(struct vfs *self, const char *path, struct vfs_scratch **out,
                                 struct error *err)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return vfs_error(err, path, errno);
    int fd = open_retrying(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return vfs_error(err, path, errno);
    if (unlink(path) != 0) {
        int reason = errno;
        close(fd);
        return vfs_error(err, path, reason);
    }
    struct posix_scratch *scratch = heap_calloc(1, sizeof *scratch);
    scratch->base.vfs = self;
    scratch->magic = POSIX_SCRATCH_MAGIC;
    scratch->fd = fd;
    scratch->path = heap_strdup(path);
    *out = &scratch->base;
    return OK;
}

static struct posix_scratch *scratch_of(struct vfs_scratch *base)
{
    struct posix_scratch *scratch = (struct posix_scratch *)base;
    CHECK_MAGIC(scratch, POSIX_SCRATCH_MAGIC);
    return scratch;
}

static enum status posix_scratch_write(struct vfs_scratch *base, uint64_t offset,
                                       struct bytes content, struct error *err)
{
    const struct posix_scratch *scratch = scratch_of(base);
    int reason = write_all(scratch->fd, content, offset);
    return reason == 0 ? OK : vfs_error(err, scratch->path, reason);
}

static enum status posix_scratch_read(struct vfs_scratch *base, uint64_t offset,
                                      struct bytes_out out, struct error *err)
{
    const struct posix_scratch *scratch = scratch_of(base);
    size_t done = 0;
    int reason = read_all(scratch->fd, offset, out, &done);
    if (reason != 0)
        return vfs_error(err, scratch->path, reason);
    if (done < out.size_bytes)
        memset(out.data + done, 0, out.size_bytes - done);
    return OK;
}

static void posix_scratch_close(struct vfs_scratch *base)
{
    struct posix_scratch *scratch = scratch_of(base);
    close(scratch->fd);
    free(scratch->path);
    scratch->magic = 0;
    free(scratch);
}

static const struct vfs_ops posix_ops = {
    .name = "posix",
    .put = posix_put,
    .open = posix_open,
    .append = posix_append,
    .sync = posix_sync,
    .sync_data = posix_sync_data,
    .close = posix_close,
    .map = posix_map,
    .unmap = posix_unmap,
    .map_passed = posix_map_passed,
    .read_at = posix_read_at,
    .stat = posix_stat,
    .list = posix_list,
    .scan = posix_scan,
    .rename = posix_rename,
    .link = posix_link,
    .remove = posix_remove,
    .make_dirs = posix_make_dirs,
    .remove_tree = posix_remove_tree,
    .sync_dir = posix_sync_dir,
    .lock = posix_lock,
    .unlock = posix_unlock,
    .scratch = posix_scratch,
    .scratch_write = posix_scratch_write,
    .scratch_read = posix_scratch_read,
    .scratch_close = posix_scratch_close,
};

static struct vfs posix_vfs = {.ops = &posix_ops};

struct vfs *vfs_posix(void)
{
    return &posix_vfs;
}
