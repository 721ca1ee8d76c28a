/*
 * Files, as the engine needs them: few operations, each with a durability promise.
 *
 * The engine touches the disk only through this interface (RocksDB, which opens its own files, is
 * the exception).  Tests swap in vfs_mem, which forgets everything not yet synced when it is told
 * to crash (unsynced bytes gone, a rename without directory sync undone, a torn write cut), and
 * vfs_fault, which fails the Nth call.
 *
 * Paths are absolute or relative to the process; components are separated by '/'.
 * Errors of all members: IO_FAILURE, PATH_NOT_USABLE (permission denied, no directory, read-only:
 * what trying again does not change), DISK_FULL, FILE_NOT_FOUND, each with the path.
 * Threads: any, for different files; one file belongs to one thread at a time.
 */
#ifndef SERVER_BASE_VFS_H
#define SERVER_BASE_VFS_H

#include "base/arena.h"
#include "base/bytes.h"

struct vfs;

/* Where a read puts its bytes. */
struct bytes_out {
    uint8_t *data;
    size_t size_bytes;
};

/* A handle of an implementation begins with the vfs it came from. */
struct vfs_file { /* open for appending */
    struct vfs *vfs;
};
struct vfs_map { /* content of a file for reading */
    struct vfs *vfs;
};
struct vfs_lock {
    struct vfs *vfs;
};
struct vfs_scratch { /* read and written anywhere */
    struct vfs *vfs;
};

/* Bytes beyond the end of a mapped content that may be read (they are zero): kernels that look at
 * 64 bytes at a time need no special last step. */
#define VFS_MAP_PADDING 64

enum vfs_kind {
    VFS_FILE,
    VFS_DIR,
};

struct vfs_stat {
    enum vfs_kind kind;
    uint64_t size_bytes;
    int64_t mtime_us;
    uint64_t inode; /* another for each file that is there at the same time */
};

struct vfs_entry {
    const char *name; /* in the caller's arena */
    struct vfs_stat stat;
};

/* Who is told the entries of a directory; `name` is valid during the call. */
struct vfs_visitor {
    enum status (*visit)(struct vfs_visitor *self, const char *name, enum vfs_kind kind,
                         struct error *err);
};

struct vfs_ops {
    const char *name;

    /*
     * Makes `path` contain exactly `content`, or leaves it untouched: writes a temporary file,
     * syncs it, renames it into place, syncs the directory.  Durable when it returns OK.
     * Errors: also FILE_ALREADY_EXISTS if `exclusive`.
     */
    enum status (*put)(struct vfs *self, const char *path, struct bytes content, bool exclusive,
                       struct error *err);

    /*
     * A file that only grows.  `truncate_to` cuts it first (UINT64_MAX: keep all); with
     * `preallocate_bytes` durably, and what stood behind may stay as written zeros, so that another
     * process that has mapped the file never finds it shorter.  `preallocate_bytes` reserves disk
     * space in steps of that size without changing what a reader of `size` sees beyond written
     * zeros (0: no). Creates the file if missing; the name is durable after the first sync.  What
     * was appended is durable after the next sync and may be there, in part, before it.
     */
    enum status (*open)(struct vfs *self, const char *path, uint64_t truncate_to,
                        uint64_t preallocate_bytes, struct vfs_file **out, struct error *err);
    enum status (*append)(struct vfs_file *file, struct bytes content, struct error *err);
    enum status (*sync)(struct vfs_file *file, struct error *err); /* data and, once, the name */
    /* Only the data: for a file that is renamed afterwards, with a sync_dir of its own. */
    enum status (*sync_data)(struct vfs_file *file, struct error *err);
    void (*close)(struct vfs_file *file);

    /*
     * The content of a file, for reading from any thread until unmap: mapped, or read into memory
     * where mapping is not possible.  VFS_MAP_PADDING zero bytes beyond the end may be read.
     */
    enum status (*map)(struct vfs *self, const char *path, struct vfs_map **out,
                       struct bytes *content, struct error *err);
    void (*unmap)(struct vfs_map *map);
    /* Optional: what stands before `bytes` need not stay in memory; it may still be read. */
    void (*map_passed)(struct vfs_map *map, size_t bytes);

    /* Fills `out` from offset on; *read_bytes is smaller than its size only at the end. */
    enum status (*read_at)(struct vfs *self, const char *path, uint64_t offset,
                           struct bytes_out out, size_t *read_bytes, struct error *err);

    enum status (*stat)(struct vfs *self, const char *path, struct vfs_stat *out,
                        struct error *err);

    /* The entries of a directory, sorted by name, in `arena`. */
    enum status (*list)(struct vfs *self, const char *dir, struct arena *arena,
                        struct vfs_entry **out, size_t *count, struct error *err);

    /* Calls the visitor for every entry of a directory, in no order, without looking at sizes and
     * times: for directories of any size.  An error of the visitor ends it. */
    enum status (*scan)(struct vfs *self, const char *dir, struct vfs_visitor *visitor,
                        struct error *err);

    /* Renames; replaces the target.  Durable after sync_dir of both parents. */
    enum status (*rename)(struct vfs *self, const char *from, const char *to, struct error *err);
    /* A second name for a file; an existing target that is the same file is fine. */
    enum status (*link)(struct vfs *self, const char *from, const char *to, struct error *err);
    enum status (*remove)(struct vfs *self, const char *path, struct error *err); /* gone is fine */
    enum status (*make_dirs)(struct vfs *self, const char *dir,
                             struct error *err); /* and parents */
    enum status (*remove_tree)(struct vfs *self, const char *dir, struct error *err);
    enum status (*sync_dir)(struct vfs *self, const char *dir, struct error *err);

    /* Takes an exclusive advisory lock or fails at once with CHECKPOINT__LOCKED; released by
     * unlock and by the end of the process. */
    enum status (*lock)(struct vfs *self, const char *path, struct vfs_lock **out,
                        struct error *err);
    void (*unlock)(struct vfs_lock *lock);

    /*
     * Disk space for what memory does not hold: empty, without a name as soon as it is open, gone
     * with its close or with the process, and never synced.  `path` only says in which file system
     * it is; what has this name is replaced.  A read gets what the last write of that place said,
     * and zeroes where there was none.  Threads: any, also at once, for different places.
     */
    enum status (*scratch)(struct vfs *self, const char *path, struct vfs_scratch **out,
                           struct error *err);
    enum status (*scratch_write)(struct vfs_scratch *scratch, uint64_t offset, struct bytes content,
                                 struct error *err);
    enum status (*scratch_read)(struct vfs_scratch *scratch, uint64_t offset, struct bytes_out out,
                                struct error *err);
    void (*scratch_close)(struct vfs_scratch *scratch);
};

struct vfs {
    const struct vfs_ops *ops; /* first member of every implementation */
};

/* The wrappers check the preconditions and call through; the contracts are those of vfs_ops. */
MUST_USE enum status vfs_put(struct vfs *vfs, const char *path, struct bytes content,
                             bool exclusive, struct error *err);
MUST_USE enum status vfs_open(struct vfs *vfs, const char *path, uint64_t truncate_to,
                              uint64_t preallocate_bytes, struct vfs_file **out, struct error *err);
MUST_USE enum status vfs_append(struct vfs_file *file, struct bytes content, struct error *err);
MUST_USE enum status vfs_sync(struct vfs_file *file, struct error *err);
MUST_USE enum status vfs_sync_data(struct vfs_file *file, struct error *err);
void vfs_close(struct vfs_file *file); /* NULL is fine */
MUST_USE enum status vfs_map(struct vfs *vfs, const char *path, struct vfs_map **out,
                             struct bytes *content, struct error *err);
void vfs_unmap(struct vfs_map *map); /* NULL is fine */
void vfs_map_passed(struct vfs_map *map, size_t bytes);
MUST_USE enum status vfs_read_at(struct vfs *vfs, const char *path, uint64_t offset,
                                 struct bytes_out out, size_t *read_bytes, struct error *err);
MUST_USE enum status vfs_stat(struct vfs *vfs, const char *path, struct vfs_stat *out,
                              struct error *err);
MUST_USE enum status vfs_list(struct vfs *vfs, const char *dir, struct arena *arena,
                              struct vfs_entry **out, size_t *count, struct error *err);
MUST_USE enum status vfs_scan(struct vfs *vfs, const char *dir, struct vfs_visitor *visitor,
                              struct error *err);
MUST_USE enum status vfs_rename(struct vfs *vfs, const char *from, const char *to,
                                struct error *err);
MUST_USE enum status vfs_link(struct vfs *vfs, const char *from, const char *to, struct error *err);
MUST_USE enum status vfs_remove(struct vfs *vfs, const char *path, struct error *err);
MUST_USE enum status vfs_make_dirs(struct vfs *vfs, const char *dir, struct error *err);
MUST_USE enum status vfs_remove_tree(struct vfs *vfs, const char *dir, struct error *err);
MUST_USE enum status vfs_sync_dir(struct vfs *vfs, const char *dir, struct error *err);
MUST_USE enum status vfs_lock(struct vfs *vfs, const char *path, struct vfs_lock **out,
                              struct error *err);
void vfs_unlock(struct vfs_lock *lock); /* NULL is fine */
MUST_USE enum status vfs_scratch_open(struct vfs *vfs, const char *path, struct vfs_scratch **out,
                                      struct error *err);
MUST_USE enum status vfs_scratch_write(struct vfs_scratch *scratch, uint64_t offset,
                                       struct bytes content, struct error *err);
MUST_USE enum status vfs_scratch_read(struct vfs_scratch *scratch, uint64_t offset,
                                      struct bytes_out out, struct error *err);
void vfs_scratch_close(struct vfs_scratch *scratch); /* NULL is fine */

/* Reads a whole file of at most `limit_bytes` into `arena`.  Errors: also LIMIT_EXCEEDED. */
MUST_USE enum status vfs_get(struct vfs *vfs, const char *path, size_t limit_bytes,
                             struct arena *arena, struct bytes *out, struct error *err);
/* Makes the name of a directory that was there already durable, and the names of those above it:
 * who made them may not have.  What this process may not look into is another's, and left to that
 * one. */
MUST_USE enum status vfs_sync_above(struct vfs *vfs, const char *dir, struct error *err);
bool vfs_exists(struct vfs *vfs, const char *path); /* false also if that cannot be told */
/* Whether `path` is there, for those who may not take an error for a no. */
MUST_USE enum status vfs_find(struct vfs *vfs, const char *path, bool *found, struct error *err);

/* Raises IO_FAILURE, DISK_FULL, FILE_NOT_FOUND or FILE_ALREADY_EXISTS for an errno. */
enum status vfs_error(struct error *err, const char *path, int errno_value);

#endif
