/*
 * See vfs_dry.h.
 */
#include "base/vfs_dry.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DRY_MAGIC 0xd47f5001U

/* A file that is not on the disk, for who reads again what it has written. */
struct dry_content {
    struct dry_content *next;
    char *path;
    struct buffer bytes;
};

struct vfs_dry {
    struct vfs base;
    uint32_t magic;
    struct vfs *inner;
    pthread_mutex_t lock; /* of the contents */
    struct dry_content *contents;
};

struct dry_file {
    struct vfs_file base;
    struct dry_content *content; /* NULL: of a file on the disk, nothing is kept */
};

struct dry_view {
    struct vfs_map base;
    uint8_t data[];
};

static struct vfs *inner_of(struct vfs *self)
{
    struct vfs_dry *dry = (struct vfs_dry *)self;
    CHECK(dry->magic == DRY_MAGIC);
    return dry->inner;
}

/* The contents by their path, under the lock: a NULL at the end. */
static struct dry_content **find_content(struct vfs_dry *dry, const char *path)
{
    struct dry_content **at = &dry->contents;
    while (*at != NULL && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

static void free_content(struct dry_content *content)
{
    buffer_fini(&content->bytes);
    free(content->path);
    free(content);
}

/* A copy of what was written under the path; NULL if nothing was. */
static struct dry_view *copy_content(struct vfs *self, const char *path, size_t *size_bytes)
{
    struct vfs_dry *dry = (struct vfs_dry *)self;
    struct dry_view *map = NULL;
    pthread_mutex_lock(&dry->lock);
    const struct dry_content *content = *find_content(dry, path);
    if (content != NULL) {
        *size_bytes = content->bytes.size_bytes;
        map = heap_calloc(1, sizeof *map + *size_bytes + VFS_MAP_PADDING);
        map->base.vfs = self;
        if (*size_bytes > 0)
            memcpy(map->data, content->bytes.data, *size_bytes);
    }
    pthread_mutex_unlock(&dry->lock);
    return map;
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
    (void)truncate_to;
    (void)preallocate_bytes;
    struct vfs_dry *dry = (struct vfs_dry *)self;
    bool on_disk = false;
    TRY(vfs_find(inner_of(self), path, &on_disk, err));
    struct dry_file *file = heap_calloc(1, sizeof *file);
    file->base.vfs = self;
    if (!on_disk) {
        struct dry_content *content = heap_calloc(1, sizeof *content);
        content->path = heap_strdup(path);
        pthread_mutex_lock(&dry->lock);
        struct dry_content **at = find_content(dry, path);
        if (*at == NULL) {
            *at = content;
            content = NULL;
        }
        file->content = *at;
        pthread_mutex_unlock(&dry->lock);
        if (content != NULL)
            free_content(content);
    }
    *out = &file->base;
    return OK;
}

static enum status dry_append(struct vfs_file *self, struct bytes content, struct error *err)
{
    (void)err;
    struct dry_file *file = (struct dry_file *)self;
    struct vfs_dry *dry = (struct vfs_dry *)self->vfs;
    if (file->content == NULL)
        return OK;
    pthread_mutex_lock(&dry->lock);
    buffer_add_bytes(&file->content->bytes, content);
    pthread_mutex_unlock(&dry->lock);
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

/* A map of a file on the disk belongs to the inner vfs, which also ends it. */
static enum status dry_map(struct vfs *self, const char *path, struct vfs_map **out,
                           struct bytes *content, struct error *err)
{
    size_t size_bytes = 0;
    struct dry_view *map = copy_content(self, path, &size_bytes);
    if (map == NULL)
        return vfs_map(inner_of(self), path, out, content, err);
    *content = bytes_of(map->data, size_bytes);
    *out = &map->base;
    return OK;
}

static void dry_unmap(struct vfs_map *map)
{
    free(map);
}

static enum status dry_read_at(struct vfs *self, const char *path, uint64_t offset,
                               struct bytes_out out, size_t *read_bytes, struct error *err)
{
    size_t size_bytes = 0;
    struct dry_view *map = copy_content(self, path, &size_bytes);
    if (map == NULL)
        return vfs_read_at(inner_of(self), path, offset, out, read_bytes, err);
    size_t left = offset < size_bytes ? size_bytes - (size_t)offset : 0;
    *read_bytes = left < out.size_bytes ? left : out.size_bytes;
    if (*read_bytes > 0)
        memcpy(out.data, map->data + offset, *read_bytes);
    free(map);
    return OK;
}

static enum status dry_stat(struct vfs *self, const char *path, struct vfs_stat *out,
                            struct error *err)
{
    size_t size_bytes = 0;
    struct dry_view *map = copy_content(self, path, &size_bytes);
    if (map == NULL)
        return vfs_stat(inner_of(self), path, out, err);
    free(map);
    *out = (struct vfs_stat){.kind = VFS_FILE, .size_bytes = size_bytes};
    return OK;
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
    struct vfs_lock *lock = heap_calloc(1, sizeof *lock);
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
    struct vfs_dry *dry = heap_calloc(1, sizeof *dry);
    dry->base.ops = &dry_ops;
    dry->magic = DRY_MAGIC;
    dry->inner = inner;
    pthread_mutex_init(&dry->lock, NULL);
    return &dry->base;
}

void vfs_dry_free(struct vfs *vfs)
{
    if (vfs == NULL)
        return;
    (void)inner_of(vfs);
    struct vfs_dry *dry = (struct vfs_dry *)vfs;
    while (dry->contents != NULL) {
        struct dry_content *content = dry->contents;
        dry->contents = content->next;
        free_content(content);
    }
    pthread_mutex_destroy(&dry->lock);
    free(dry);
}
