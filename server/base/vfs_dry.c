/*
 * See vfs_dry.h.
 */
#include "base/vfs_dry.h"

#include "base/check.h"

#include <stdlib.h>

#define DRY_MAGIC 0xd47f5001U

struct vfs_dry {
    struct vfs base;
    uint32_t magic;
    struct vfs *inner;
};

static struct vfs *inner_of(struct vfs *self)
{
    struct vfs_dry *dry = (struct vfs_dry *)self;
    CHECK(dry->magic == DRY_MAGIC);
    return dry->inner;
}

static enum status dry_put(struct vfs *self, const char *path, struct bytes content, bool exclusive,
                           struct error *err)
{
    (void)self;
    (void)path;
    (void)content;
    (void)exclusive;
    (void)err;
    return OK;
}

static enum status dry_open(struct vfs *self, const char *path, uint64_t truncate_to,
                            uint64_t preallocate_bytes, struct vfs_file **out, struct error *err)
{
    (void)path;
    (void)truncate_to;
    (void)preallocate_bytes;
    (void)err;
    struct vfs_file *file = calloc(1, sizeof *file);
    CHECK(file != NULL);
    file->vfs = self;
    *out = file;
    return OK;
}

static enum status dry_append(struct vfs_file *file, struct bytes content, struct error *err)
{
    (void)file;
    (void)content;
    (void)err;
    return OK;
}

static enum status dry_sync(struct vfs_file *file, struct error *err)
{
    (void)file;
    (void)err;
    return OK;
}

static void dry_close(struct vfs_file *file)
{
    free(file);
}

/* The map belongs to the inner vfs, which also ends it. */
static enum status dry_map(struct vfs *self, const char *path, struct vfs_map **out,
                           struct bytes *content, struct error *err)
{
    return vfs_map(inner_of(self), path, out, content, err);
}

static void dry_unmap(struct vfs_map *map)
{
    vfs_unmap(map);
}

static enum status dry_read_at(struct vfs *self, const char *path, uint64_t offset,
                               struct bytes_out out, size_t *read_bytes, struct error *err)
{
    return vfs_read_at(inner_of(self), path, offset, out, read_bytes, err);
}

static enum status dry_stat(struct vfs *self, const char *path, struct vfs_stat *out,
                            struct error *err)
{
    return vfs_stat(inner_of(self), path, out, err);
}

static enum status dry_list(struct vfs *self, const char *dir, struct arena *arena,
                            struct vfs_entry **out, size_t *count, struct error *err)
{
    return vfs_list(inner_of(self), dir, arena, out, count, err);
}

static enum status dry_scan(struct vfs *self, const char *dir, struct vfs_visitor *visitor,
                            struct error *err)
{
    return vfs_scan(inner_of(self), dir, visitor, err);
}

static enum status dry_pair(struct vfs *self, const char *from, const char *to, struct error *err)
{
    (void)self;
    (void)from;
    (void)to;
    (void)err;
    return OK;
}

static enum status dry_path(struct vfs *self, const char *path, struct error *err)
{
    (void)self;
    (void)path;
    (void)err;
    return OK;
}

static enum status dry_lock(struct vfs *self, const char *path, struct vfs_lock **out,
                            struct error *err)
{
    (void)path;
    (void)err;
    struct vfs_lock *lock = calloc(1, sizeof *lock);
    CHECK(lock != NULL);
    lock->vfs = self;
    *out = lock;
    return OK;
}

static void dry_unlock(struct vfs_lock *lock)
{
    free(lock);
}

/* Who only looks has nothing that memory would not hold. */
static enum status dry_scratch(struct vfs *self, const char *path, struct vfs_scratch **out,
                               struct error *err)
{
    (void)self;
    (void)out;
    return error_raise(err, STATUS_PATH_NOT_USABLE, "path", path, "reason", "nothing is written",
                       NULL);
}

static enum status dry_scratch_write(struct vfs_scratch *scratch, uint64_t offset,
                                     struct bytes content, struct error *err)
{
    (void)scratch;
    (void)offset;
    (void)content;
    (void)err;
    CHECK(!"there is no scratch");
    return OK;
}

static enum status dry_scratch_read(struct vfs_scratch *scratch, uint64_t offset,
                                    struct bytes_out out, struct error *err)
{
    (void)scratch;
    (void)offset;
    (void)out;
    (void)err;
    CHECK(!"there is no scratch");
    return OK;
}

static void dry_scratch_close(struct vfs_scratch *scratch)
{
    (void)scratch;
    CHECK(!"there is no scratch");
}

static const struct vfs_ops dry_ops = {
    .name = "dry",
    .put = dry_put,
    .open = dry_open,
    .append = dry_append,
    .sync = dry_sync,
    .sync_data = dry_sync,
    .close = dry_close,
    .map = dry_map,
    .unmap = dry_unmap,
    .read_at = dry_read_at,
    .stat = dry_stat,
    .list = dry_list,
    .scan = dry_scan,
    .rename = dry_pair,
    .link = dry_pair,
    .remove = dry_path,
    .make_dirs = dry_path,
    .remove_tree = dry_path,
    .sync_dir = dry_path,
    .lock = dry_lock,
    .unlock = dry_unlock,
    .scratch = dry_scratch,
    .scratch_write = dry_scratch_write,
    .scratch_read = dry_scratch_read,
    .scratch_close = dry_scratch_close,
};

struct vfs *vfs_dry_new(struct vfs *inner)
{
    struct vfs_dry *dry = calloc(1, sizeof *dry);
    CHECK(dry != NULL);
    dry->base.ops = &dry_ops;
    dry->magic = DRY_MAGIC;
    dry->inner = inner;
    return &dry->base;
}

void vfs_dry_free(struct vfs *vfs)
{
    if (vfs == NULL)
        return;
    (void)inner_of(vfs);
    free(vfs);
}
