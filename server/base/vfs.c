#include "base/vfs.h"

#include "base/check.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status vfs_error(struct error *err, const char *path, int errno_value)
{
    char reason[128];
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
        return error_raise(err, STATUS_DISK_FULL, "path", path, NULL);
    case ENOENT:
        return error_raise(err, STATUS_FILE_NOT_FOUND, "path", path, NULL);
    case EEXIST:
        return error_raise(err, STATUS_FILE_ALREADY_EXISTS, "path", path, NULL);
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
    case EISDIR:
    case ELOOP: /* no trying again changes these; somebody has to */
        return error_raise(err, STATUS_PATH_NOT_USABLE, "path", path, "reason",
                           strerror_r(errno_value, reason, sizeof reason), NULL);
    case ENAMETOOLONG: /* neither do permissions */
        (void)error_raise(err, STATUS_PATH_NOT_USABLE, "path", path, "reason",
                          strerror_r(errno_value, reason, sizeof reason), NULL);
        (void)snprintf(err->text, sizeof err->text,
                       "%s cannot be used: its name is too long. A name has at most 255 bytes, a "
                       "path 4095",
                       path);
        return err->status;
    default:
        return error_raise(err, STATUS_IO_FAILURE, "path", path, "reason",
                           strerror_r(errno_value, reason, sizeof reason), NULL);
    }
}

static void check_path(const struct vfs *vfs, const char *path)
{
    CHECK(vfs != NULL && vfs->ops != NULL);
    CHECK(path != NULL && path[0] != '\0');
}

enum status vfs_put(struct vfs *vfs, const char *path, struct bytes content, bool exclusive,
                    struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->put(vfs, path, content, exclusive, err);
}

enum status vfs_open(struct vfs *vfs, const char *path, uint64_t truncate_to,
                     uint64_t preallocate_bytes, struct vfs_file **out, struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->open(vfs, path, truncate_to, preallocate_bytes, out, err);
}

enum status vfs_append(struct vfs_file *file, struct bytes content, struct error *err)
{
    CHECK(file != NULL);
    return file->vfs->ops->append(file, content, err);
}

enum status vfs_sync(struct vfs_file *file, struct error *err)
{
    CHECK(file != NULL);
    return file->vfs->ops->sync(file, err);
}

enum status vfs_sync_data(struct vfs_file *file, struct error *err)
{
    CHECK(file != NULL);
    return file->vfs->ops->sync_data(file, err);
}

void vfs_close(struct vfs_file *file)
{
    if (file != NULL)
        file->vfs->ops->close(file);
}

enum status vfs_map(struct vfs *vfs, const char *path, struct vfs_map **out, struct bytes *content,
                    struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->map(vfs, path, out, content, err);
}

void vfs_unmap(struct vfs_map *map)
{
    if (map != NULL)
        map->vfs->ops->unmap(map);
}

void vfs_map_passed(struct vfs_map *map, size_t bytes)
{
    if (map->vfs->ops->map_passed != NULL)
        map->vfs->ops->map_passed(map, bytes);
}

enum status vfs_read_at(struct vfs *vfs, const char *path, uint64_t offset, struct bytes_out out,
                        size_t *read_bytes, struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->read_at(vfs, path, offset, out, read_bytes, err);
}

enum status vfs_stat(struct vfs *vfs, const char *path, struct vfs_stat *out, struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->stat(vfs, path, out, err);
}

enum status vfs_list(struct vfs *vfs, const char *dir, struct arena *arena, struct vfs_entry **out,
                     size_t *count, struct error *err)
{
    check_path(vfs, dir);
    return vfs->ops->list(vfs, dir, arena, out, count, err);
}

enum status vfs_scan(struct vfs *vfs, const char *dir, struct vfs_visitor *visitor,
                     struct error *err)
{
    check_path(vfs, dir);
    CHECK(visitor != NULL && visitor->visit != NULL);
    return vfs->ops->scan(vfs, dir, visitor, err);
}

enum status vfs_rename(struct vfs *vfs, const char *from, const char *to, struct error *err)
{
    check_path(vfs, from);
    check_path(vfs, to);
    return vfs->ops->rename(vfs, from, to, err);
}

enum status vfs_link(struct vfs *vfs, const char *from, const char *to, struct error *err)
{
    check_path(vfs, from);
    check_path(vfs, to);
    return vfs->ops->link(vfs, from, to, err);
}

enum status vfs_remove(struct vfs *vfs, const char *path, struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->remove(vfs, path, err);
}

enum status vfs_make_dirs(struct vfs *vfs, const char *dir, struct error *err)
{
    check_path(vfs, dir);
    return vfs->ops->make_dirs(vfs, dir, err);
}

enum status vfs_remove_tree(struct vfs *vfs, const char *dir, struct error *err)
{
    check_path(vfs, dir);
    return vfs->ops->remove_tree(vfs, dir, err);
}

enum status vfs_sync_dir(struct vfs *vfs, const char *dir, struct error *err)
{
    check_path(vfs, dir);
    return vfs->ops->sync_dir(vfs, dir, err);
}

enum status vfs_lock(struct vfs *vfs, const char *path, struct vfs_lock **out, struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->lock(vfs, path, out, err);
}

void vfs_unlock(struct vfs_lock *lock)
{
    if (lock != NULL)
        lock->vfs->ops->unlock(lock);
}

enum status vfs_scratch_open(struct vfs *vfs, const char *path, struct vfs_scratch **out,
                             struct error *err)
{
    check_path(vfs, path);
    return vfs->ops->scratch(vfs, path, out, err);
}

enum status vfs_scratch_write(struct vfs_scratch *scratch, uint64_t offset, struct bytes content,
                              struct error *err)
{
    CHECK(scratch != NULL);
    return scratch->vfs->ops->scratch_write(scratch, offset, content, err);
}

enum status vfs_scratch_read(struct vfs_scratch *scratch, uint64_t offset, struct bytes_out out,
                             struct error *err)
{
    CHECK(scratch != NULL);
    return scratch->vfs->ops->scratch_read(scratch, offset, out, err);
}

void vfs_scratch_close(struct vfs_scratch *scratch)
{
    if (scratch != NULL)
        scratch->vfs->ops->scratch_close(scratch);
}

enum status vfs_get(struct vfs *vfs, const char *path, size_t limit_bytes, struct arena *arena,
                    struct bytes *out, struct error *err)
{
    struct vfs_stat stat;
    TRY(vfs_stat(vfs, path, &stat, err));
    if (stat.kind == VFS_DIR)
        return vfs_error(err, path, EISDIR);
    char limit[32];
    (void)snprintf(limit, sizeof limit, "%zu", limit_bytes);
    /* One byte more, to notice a file that grows. */
    uint64_t want = stat.size_bytes + 1;
    if (stat.size_bytes > limit_bytes)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", path, "limit", limit, NULL);
    void *data = NULL;
    TRY(arena_alloc_raw(arena, 1, (size_t)want, &data, err));
    size_t size = 0;
    TRY(vfs_read_at(vfs, path, 0, (struct bytes_out){.data = data, .size_bytes = (size_t)want},
                    &size, err));
    if (size > limit_bytes)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", path, "limit", limit, NULL);
    *out = bytes_of(data, size);
    return OK;
}

enum status vfs_sync_above(struct vfs *vfs, const char *dir, struct error *err)
{
    enum status status = OK;
    struct arena *request = arena_new("request", 0);
    const char *at = path_normalize(request, dir);
    const char *above = path_dirname(request, at);
    while (strcmp(above, at) != 0 && strcmp(above, ".") != 0) {
        status = vfs_sync_dir(vfs, above, err);
        if (status != OK && status != STATUS_PATH_NOT_USABLE)
            break;
        error_clear(err);
        status = OK;
        at = above;
        above = path_dirname(request, at);
    }
    arena_free(request);
    return status;
}

bool vfs_exists(struct vfs *vfs, const char *path)
{
    struct vfs_stat stat;
    struct error ignored = ERROR_INIT;
    return vfs_stat(vfs, path, &stat, &ignored) == OK;
}

enum status vfs_find(struct vfs *vfs, const char *path, bool *found, struct error *err)
{
    struct vfs_stat stat;
    enum status status = vfs_stat(vfs, path, &stat, err);
    *found = status == OK;
    if (status != STATUS_FILE_NOT_FOUND)
        return status;
    error_clear(err);
    return OK;
}
