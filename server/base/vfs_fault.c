#include "base/vfs_fault.h"

#include "base/check.h"
#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FAULT_MAGIC 0xfa017001U

struct fault {
    struct vfs base;
    uint32_t magic;
    struct vfs *inner;
    pthread_mutex_t lock; /* protects all below */
    uint64_t calls[VFS_CALL_COUNT_];
    bool armed;
    bool forever;
    bool fired;
    enum vfs_call call;
    uint64_t left; /* calls until it fires; 1 = the next one */
    int errno_value;
    size_t partial_bytes;
};

/* Handles wrap those of the inner vfs. */
struct fault_file {
    struct vfs_file base;
    struct vfs_file *inner;
    char *path;
};

static struct fault *fault_of(struct vfs *vfs)
{
    struct fault *fault = (struct fault *)vfs;
    CHECK_MAGIC(fault, FAULT_MAGIC);
    return fault;
}

static bool is_change(enum vfs_call call)
{
    return call == VFS_CALL_WRITE || call == VFS_CALL_SYNC || call == VFS_CALL_RENAME ||
           call == VFS_CALL_REMOVE;
}

/* Counts one call; the errno it has to fail with, or 0. */
static int fault_due(struct fault *fault, enum vfs_call call)
{
    int result = 0;
    pthread_mutex_lock(&fault->lock);
    fault->calls[call]++;
    if (is_change(call))
        fault->calls[VFS_CALL_ANY]++;
    bool hit =
        fault->armed && (fault->call == call || (fault->call == VFS_CALL_ANY && is_change(call)));
    if (hit && fault->left > 1) {
        fault->left--;
    } else if (hit) {
        fault->fired = true;
        fault->armed = fault->forever;
        result = fault->errno_value;
    }
    pthread_mutex_unlock(&fault->lock);
    return result;
}

#define FAIL_IF_DUE(self, call, path, err)                                                         \
    do {                                                                                           \
        int due_ = fault_due(fault_of(self), call);                                                \
        if (due_ != 0)                                                                             \
            return vfs_error(err, path, due_);                                                     \
    } while (0)

static enum status fault_put(struct vfs *self, const char *path, struct bytes content,
                             bool exclusive, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_WRITE, path, err);
    FAIL_IF_DUE(self, VFS_CALL_SYNC, path, err);
    FAIL_IF_DUE(self, VFS_CALL_RENAME, path, err);
    return vfs_put(fault_of(self)->inner, path, content, exclusive, err);
}

static enum status fault_open(struct vfs *self, const char *path, uint64_t truncate_to,
                              uint64_t preallocate_bytes, struct vfs_file **out, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_WRITE, path, err);
    struct vfs_file *inner = NULL;
    TRY(vfs_open(fault_of(self)->inner, path, truncate_to, preallocate_bytes, &inner, err));
    struct fault_file *file = heap_calloc(1, sizeof *file);
    file->base.vfs = self;
    file->inner = inner;
    file->path = heap_strdup(path);
    *out = &file->base;
    return OK;
}

static enum status fault_append(struct vfs_file *base, struct bytes content, struct error *err)
{
    struct fault_file *file = (struct fault_file *)base;
    struct fault *fault = fault_of(base->vfs);
    int due = fault_due(fault, VFS_CALL_WRITE);
    if (due == 0)
        return vfs_append(file->inner, content, err);
    size_t part =
        fault->partial_bytes < content.size_bytes ? fault->partial_bytes : content.size_bytes;
    if (part > 0)
        TRY(vfs_append(file->inner, bytes_of(content.data, part), err));
    return vfs_error(err, file->path, due);
}

static enum status fault_sync(struct vfs_file *base, struct error *err)
{
    struct fault_file *file = (struct fault_file *)base;
    FAIL_IF_DUE(base->vfs, VFS_CALL_SYNC, file->path, err);
    return vfs_sync(file->inner, err);
}

static enum status fault_sync_data(struct vfs_file *base, struct error *err)
{
    struct fault_file *file = (struct fault_file *)base;
    FAIL_IF_DUE(base->vfs, VFS_CALL_SYNC, file->path, err);
    return vfs_sync_data(file->inner, err);
}

static void fault_close(struct vfs_file *base)
{
    struct fault_file *file = (struct fault_file *)base;
    vfs_close(file->inner);
    free(file->path);
    free(file);
}

/* Maps and locks are the inner vfs's own: nothing in them can fail later. */
static enum status fault_map(struct vfs *self, const char *path, struct vfs_map **out,
                             struct bytes *content, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_READ, path, err);
    return vfs_map(fault_of(self)->inner, path, out, content, err);
}

static void fault_unmap(struct vfs_map *map)
{
    (void)map;
    CHECK(!"a map belongs to the inner vfs");
}

static enum status fault_read_at(struct vfs *self, const char *path, uint64_t offset,
                                 struct bytes_out out, size_t *read_bytes, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_READ, path, err);
    return vfs_read_at(fault_of(self)->inner, path, offset, out, read_bytes, err);
}

static enum status fault_stat(struct vfs *self, const char *path, struct vfs_stat *out,
                              struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_LIST, path, err);
    return vfs_stat(fault_of(self)->inner, path, out, err);
}

static enum status fault_list(struct vfs *self, const char *dir, struct arena *arena,
                              struct vfs_entry **out, size_t *count, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_LIST, dir, err);
    return vfs_list(fault_of(self)->inner, dir, arena, out, count, err);
}

static enum status fault_scan(struct vfs *self, const char *dir, struct vfs_visitor *visitor,
                              struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_LIST, dir, err);
    return vfs_scan(fault_of(self)->inner, dir, visitor, err);
}

static enum status fault_rename(struct vfs *self, const char *from, const char *to,
                                struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_RENAME, from, err);
    return vfs_rename(fault_of(self)->inner, from, to, err);
}

static enum status fault_link(struct vfs *self, const char *from, const char *to, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_RENAME, from, err);
    return vfs_link(fault_of(self)->inner, from, to, err);
}

static enum status fault_remove(struct vfs *self, const char *path, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_REMOVE, path, err);
    return vfs_remove(fault_of(self)->inner, path, err);
}

static enum status fault_make_dirs(struct vfs *self, const char *dir, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_WRITE, dir, err);
    return vfs_make_dirs(fault_of(self)->inner, dir, err);
}

static enum status fault_remove_tree(struct vfs *self, const char *dir, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_REMOVE, dir, err);
    return vfs_remove_tree(fault_of(self)->inner, dir, err);
}

static enum status fault_sync_dir(struct vfs *self, const char *dir, struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_SYNC, dir, err);
    return vfs_sync_dir(fault_of(self)->inner, dir, err);
}

static enum status fault_lock(struct vfs *self, const char *path, struct vfs_lock **out,
                              struct error *err)
{
    return vfs_lock(fault_of(self)->inner, path, out, err);
}

static void fault_unlock(struct vfs_lock *lock)
{
    (void)lock;
    CHECK(!"a lock belongs to the inner vfs");
}

struct fault_scratch {
    struct vfs_scratch base;
    struct vfs_scratch *inner;
    char *path;
};

static enum status fault_scratch(struct vfs *self, const char *path, struct vfs_scratch **out,
                                 struct error *err)
{
    FAIL_IF_DUE(self, VFS_CALL_WRITE, path, err);
    struct vfs_scratch *inner = NULL;
    TRY(vfs_scratch_open(fault_of(self)->inner, path, &inner, err));
    struct fault_scratch *scratch = heap_calloc(1, sizeof *scratch);
    scratch->base.vfs = self;
    scratch->inner = inner;
    scratch->path = heap_strdup(path);
    *out = &scratch->base;
    return OK;
}

static enum status fault_scratch_write(struct vfs_scratch *base, uint64_t offset,
                                       struct bytes content, struct error *err)
{
    struct fault_scratch *scratch = (struct fault_scratch *)base;
    FAIL_IF_DUE(base->vfs, VFS_CALL_WRITE, scratch->path, err);
    return vfs_scratch_write(scratch->inner, offset, content, err);
}

static enum status fault_scratch_read(struct vfs_scratch *base, uint64_t offset,
                                      struct bytes_out out, struct error *err)
{
    struct fault_scratch *scratch = (struct fault_scratch *)base;
    FAIL_IF_DUE(base->vfs, VFS_CALL_READ, scratch->path, err);
    return vfs_scratch_read(scratch->inner, offset, out, err);
}

static void fault_scratch_close(struct vfs_scratch *base)
{
    struct fault_scratch *scratch = (struct fault_scratch *)base;
    vfs_scratch_close(scratch->inner);
    free(scratch->path);
    free(scratch);
}

static const struct vfs_ops fault_ops = {
    .name = "fault",
    .put = fault_put,
    .open = fault_open,
    .append = fault_append,
    .sync = fault_sync,
    .sync_data = fault_sync_data,
    .close = fault_close,
    .map = fault_map,
    .unmap = fault_unmap,
    .read_at = fault_read_at,
    .stat = fault_stat,
    .list = fault_list,
    .scan = fault_scan,
    .rename = fault_rename,
    .link = fault_link,
    .remove = fault_remove,
    .make_dirs = fault_make_dirs,
    .remove_tree = fault_remove_tree,
    .sync_dir = fault_sync_dir,
    .lock = fault_lock,
    .unlock = fault_unlock,
    .scratch = fault_scratch,
    .scratch_write = fault_scratch_write,
    .scratch_read = fault_scratch_read,
    .scratch_close = fault_scratch_close,
};

struct vfs *vfs_fault_new(struct vfs *inner)
{
    struct fault *fault = heap_calloc(1, sizeof *fault);
    CHECK(inner != NULL);
    fault->base.ops = &fault_ops;
    fault->magic = FAULT_MAGIC;
    fault->inner = inner;
    pthread_mutex_init(&fault->lock, NULL);
    return &fault->base;
}

void vfs_fault_free(struct vfs *vfs)
{
    if (vfs == NULL)
        return;
    struct fault *fault = fault_of(vfs);
    pthread_mutex_destroy(&fault->lock);
    fault->magic = 0;
    free(fault);
}

static void arm(struct vfs *vfs, enum vfs_call call, uint64_t nth, int errno_value, bool forever)
{
    CHECK((int)call >= 0 && call < VFS_CALL_COUNT_ && nth > 0 && errno_value != 0);
    struct fault *fault = fault_of(vfs);
    pthread_mutex_lock(&fault->lock);
    fault->armed = true;
    fault->forever = forever;
    fault->fired = false;
    fault->call = call;
    fault->left = nth;
    fault->errno_value = errno_value;
    fault->partial_bytes = 0;
    pthread_mutex_unlock(&fault->lock);
}

void vfs_fault_arm(struct vfs *vfs, enum vfs_call call, uint64_t nth, int errno_value)
{
    arm(vfs, call, nth, errno_value, false);
}

void vfs_fault_arm_forever(struct vfs *vfs, enum vfs_call call, uint64_t nth, int errno_value)
{
    arm(vfs, call, nth, errno_value, true);
}

void vfs_fault_partial(struct vfs *vfs, size_t partial_bytes)
{
    fault_of(vfs)->partial_bytes = partial_bytes;
}

void vfs_fault_disarm(struct vfs *vfs)
{
    struct fault *fault = fault_of(vfs);
    pthread_mutex_lock(&fault->lock);
    fault->armed = false;
    pthread_mutex_unlock(&fault->lock);
}

bool vfs_fault_fired(struct vfs *vfs)
{
    struct fault *fault = fault_of(vfs);
    pthread_mutex_lock(&fault->lock);
    bool fired = fault->fired;
    pthread_mutex_unlock(&fault->lock);
    return fired;
}

uint64_t vfs_fault_calls(struct vfs *vfs, enum vfs_call call)
{
    CHECK((int)call >= 0 && call < VFS_CALL_COUNT_);
    struct fault *fault = fault_of(vfs);
    pthread_mutex_lock(&fault->lock);
    uint64_t calls = fault->calls[call];
    pthread_mutex_unlock(&fault->lock);
    return calls;
}

void vfs_fault_reset(struct vfs *vfs)
{
    struct fault *fault = fault_of(vfs);
    pthread_mutex_lock(&fault->lock);
    memset(fault->calls, 0, sizeof fault->calls);
    pthread_mutex_unlock(&fault->lock);
}

bool vfs_fault_find(const char *name, enum vfs_call *out)
{
    static const char *const names[] = {"write", "sync", "rename", "remove", "read", "list", "any"};
    for (int i = 0; i < VFS_CALL_COUNT_; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum vfs_call)i;
            return true;
        }
    return false;
}
