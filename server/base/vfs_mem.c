#include "base/vfs_mem.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MEM_MAGIC 0x3e35f501U

/* A name in a directory: what it stands for now, and what it would after a crash. */
struct name {
    char *text;
    struct node *now;     /* NULL: not there */
    struct node *durable; /* NULL: not there */
};

struct node {
    uint32_t refs; /* names (now and durable count alike), open files, locks, the root */
    enum vfs_kind kind;
    int64_t mtime_us;
    uint64_t inode;
    bool locked;
    /* VFS_FILE: `durable` is what was synced; the first `clean_bytes` of both are the same. */
    struct buffer content;
    struct buffer durable;
    size_t clean_bytes;
    size_t frozen_bytes; /* size of content at the instant of death */
    /* VFS_DIR, sorted by text */
    struct name *names;
    size_t name_count;
    size_t name_capacity;
};

struct mem {
    struct vfs base;
    uint32_t magic;
    const struct clock *clock;
    pthread_mutex_t lock; /* protects all below and all nodes */
    struct node *root;
    bool frozen;
    uint64_t life; /* rises with every crash: locks of an earlier life are void */
    int64_t counter_us;
    uint64_t inodes; /* given so far */
    uint64_t syncs;
};

struct mem_file {
    struct vfs_file base;
    struct node *node;
    char *path;
    bool name_synced;
};

struct mem_map {
    struct vfs_map base;
    uint8_t *copy;
};

struct mem_lock {
    struct vfs_lock base;
    struct node *node;
    uint64_t life;
};

struct mem_scratch {
    struct vfs_scratch base;
    struct buffer content;
};

static struct mem *mem_of(struct vfs *vfs)
{
    struct mem *mem = (struct mem *)vfs;
    CHECK_MAGIC(mem, MEM_MAGIC);
    return mem;
}

static struct node *node_new(struct mem *mem, enum vfs_kind kind)
{
    struct node *node = heap_calloc(1, sizeof *node);
    node->kind = kind;
    node->inode = ++mem->inodes;
    node->mtime_us = mem->clock != NULL ? clock_now_us(mem->clock) : ++mem->counter_us;
    return node;
}

static struct node *node_ref(struct node *node)
{
    if (node != NULL)
        node->refs++;
    return node;
}

static void node_unref(struct node *node)
{
    if (node == NULL)
        return;
    CHECK(node->refs > 0);
    if (--node->refs > 0)
        return;
    for (size_t i = 0; i < node->name_count; i++) {
        free(node->names[i].text);
        node_unref(node->names[i].now);
        node_unref(node->names[i].durable);
    }
    free(node->names);
    buffer_fini(&node->content);
    buffer_fini(&node->durable);
    free(node);
}

static void name_set_now(struct name *name, struct node *node)
{
    struct node *old = name->now;
    name->now = node_ref(node);
    node_unref(old);
}

static void name_make_durable(struct mem *mem, struct name *name)
{
    if (mem->frozen)
        return;
    struct node *old = name->durable;
    name->durable = node_ref(name->now);
    node_unref(old);
}

/* The place of `text` in a directory; if it is not there and `make`, a name without meaning. */
static struct name *dir_name(struct node *dir, const char *text, size_t size, bool make)
{
    CHECK(dir->kind == VFS_DIR);
    size_t at = 0;
    for (; at < dir->name_count; at++) {
        int order = strncmp(dir->names[at].text, text, size);
        if (order == 0 && dir->names[at].text[size] == '\0')
            return &dir->names[at];
        if (order > 0 || (order == 0 && dir->names[at].text[size] != '\0'))
            break;
    }
    if (!make)
        return NULL;
    if (dir->name_count == dir->name_capacity) {
        dir->name_capacity = dir->name_capacity == 0 ? 8 : dir->name_capacity * 2;
        dir->names = heap_realloc(dir->names, dir->name_capacity * sizeof *dir->names);
    }
    memmove(&dir->names[at + 1], &dir->names[at], (dir->name_count - at) * sizeof *dir->names);
    dir->name_count++;
    dir->names[at] = (struct name){.text = heap_strndup(text, size)};
    return &dir->names[at];
}

/* The next component of a path: *at moves behind it; false at the end. */
static bool next_component(const char **at, const char **text, size_t *size)
{
    for (;;) {
        while (**at == '/')
            (*at)++;
        *text = *at;
        *size = strcspn(*at, "/");
        *at += *size;
        if (*size == 0)
            return false;
        if (*size != 1 || (*text)[0] != '.')
            return true;
    }
}

/* The directory that holds the last component, and that component; an errno otherwise. */
static int find_parent(struct mem *mem, const char *path, struct node **dir, const char **text,
                       size_t *size)
{
    struct node *here = mem->root;
    const char *next_text = NULL;
    size_t next_size = 0;
    if (!next_component(&path, text, size))
        return EINVAL;
    while (next_component(&path, &next_text, &next_size)) {
        struct name *name = dir_name(here, *text, *size, false);
        if (name == NULL || name->now == NULL)
            return ENOENT;
        if (name->now->kind != VFS_DIR)
            return ENOTDIR;
        here = name->now;
        *text = next_text;
        *size = next_size;
    }
    *dir = here;
    return 0;
}

static int find_name(struct mem *mem, const char *path, bool make, struct name **out)
{
    struct node *dir = NULL;
    const char *text = NULL;
    size_t size = 0;
    int reason = find_parent(mem, path, &dir, &text, &size);
    if (reason != 0)
        return reason;
    *out = dir_name(dir, text, size, make);
    return *out != NULL && (make || (*out)->now != NULL) ? 0 : ENOENT;
}

static int find_node(struct mem *mem, const char *path, struct node **out)
{
    const char *at = path;
    const char *text = NULL;
    size_t size = 0;
    if (!next_component(&at, &text, &size)) {
        *out = mem->root;
        return 0;
    }
    struct name *name = NULL;
    int reason = find_name(mem, path, false, &name);
    if (reason == 0)
        *out = name->now;
    return reason;
}

static void node_sync(struct mem *mem, struct node *node)
{
    if (mem->frozen)
        return;
    node->durable.size_bytes = node->clean_bytes;
    buffer_add(&node->durable, node->content.data + node->clean_bytes,
               node->content.size_bytes - node->clean_bytes);
    node->clean_bytes = node->content.size_bytes;
}

static void node_write(struct mem *mem, struct node *node, struct bytes content)
{
    buffer_add_bytes(&node->content, content);
    node->mtime_us = mem->clock != NULL ? clock_now_us(mem->clock) : ++mem->counter_us;
}

static void node_truncate(struct node *node, uint64_t size)
{
    if (size >= node->content.size_bytes)
        return;
    node->content.size_bytes = (size_t)size;
    if (node->clean_bytes > size)
        node->clean_bytes = (size_t)size;
}

static enum status unlock_with(struct mem *mem, int reason, const char *path, struct error *err)
{
    pthread_mutex_unlock(&mem->lock);
    return reason == 0 ? OK : vfs_error(err, path, reason);
}

static enum status mem_put(struct vfs *self, const char *path, struct bytes content, bool exclusive,
                           struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, path, true, &name);
    if (reason == 0 && name->now != NULL && exclusive)
        reason = EEXIST;
    else if (reason == 0 && name->now != NULL && name->now->kind == VFS_DIR)
        reason = EISDIR;
    if (reason == 0) {
        struct node *node = node_new(mem, VFS_FILE);
        node_write(mem, node, content);
        node_sync(mem, node);
        name_set_now(name, node);
        name_make_durable(mem, name);
        mem->syncs += 2;
    }
    return unlock_with(mem, reason, path, err);
}

static enum status mem_open(struct vfs *self, const char *path, uint64_t truncate_to,
                            uint64_t preallocate_bytes, struct vfs_file **out, struct error *err)
{
    (void)preallocate_bytes;
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, path, true, &name);
    if (reason == 0 && name->now != NULL && name->now->kind == VFS_DIR)
        reason = EISDIR;
    if (reason == 0) {
        if (name->now == NULL)
            name_set_now(name, node_new(mem, VFS_FILE));
        node_truncate(name->now, truncate_to);
        struct mem_file *file = heap_calloc(1, sizeof *file);
        file->base.vfs = self;
        file->node = node_ref(name->now);
        file->path = heap_strdup(path);
        *out = &file->base;
    }
    return unlock_with(mem, reason, path, err);
}

static enum status mem_append(struct vfs_file *base, struct bytes content, struct error *err)
{
    (void)err;
    struct mem_file *file = (struct mem_file *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    node_write(mem, file->node, content);
    pthread_mutex_unlock(&mem->lock);
    return OK;
}

static enum status mem_sync_data(struct vfs_file *base, struct error *err)
{
    (void)err;
    struct mem_file *file = (struct mem_file *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    node_sync(mem, file->node);
    mem->syncs++;
    pthread_mutex_unlock(&mem->lock);
    return OK;
}

static enum status mem_sync(struct vfs_file *base, struct error *err)
{
    struct mem_file *file = (struct mem_file *)base;
    struct mem *mem = mem_of(base->vfs);
    TRY(mem_sync_data(base, err));
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    if (!file->name_synced) {
        mem->syncs++;
        if (find_name(mem, file->path, false, &name) == 0 && name->now == file->node)
            name_make_durable(mem, name);
        file->name_synced = true;
    }
    pthread_mutex_unlock(&mem->lock);
    return OK;
}

static void mem_close(struct vfs_file *base)
{
    struct mem_file *file = (struct mem_file *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    node_unref(file->node);
    pthread_mutex_unlock(&mem->lock);
    free(file->path);
    free(file);
}

static enum status mem_map(struct vfs *self, const char *path, struct vfs_map **out,
                           struct bytes *content, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    int reason = find_node(mem, path, &node);
    if (reason == 0 && node->kind == VFS_DIR)
        reason = EISDIR;
    if (reason == 0) {
        struct mem_map *map = heap_calloc(1, sizeof *map);
        map->base.vfs = self;
        map->copy = heap_calloc(1, node->content.size_bytes + VFS_MAP_PADDING);
        if (node->content.size_bytes > 0)
            memcpy(map->copy, node->content.data, node->content.size_bytes);
        *content = bytes_of(map->copy, node->content.size_bytes);
        *out = &map->base;
    }
    return unlock_with(mem, reason, path, err);
}

static void mem_unmap(struct vfs_map *base)
{
    struct mem_map *map = (struct mem_map *)base;
    free(map->copy);
    free(map);
}

static enum status mem_read_at(struct vfs *self, const char *path, uint64_t offset,
                               struct bytes_out out, size_t *read_bytes, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    int reason = find_node(mem, path, &node);
    if (reason == 0 && node->kind == VFS_DIR)
        reason = EISDIR;
    if (reason == 0) {
        size_t size = node->content.size_bytes;
        size_t left = offset < size ? size - (size_t)offset : 0;
        size_t part = left < out.size_bytes ? left : out.size_bytes;
        if (part > 0)
            memcpy(out.data, node->content.data + offset, part);
        *read_bytes = part;
    }
    return unlock_with(mem, reason, path, err);
}

static struct vfs_stat stat_of(const struct node *node)
{
    return (struct vfs_stat){
        .kind = node->kind,
        .size_bytes = node->content.size_bytes,
        .mtime_us = node->mtime_us,
        .inode = node->inode,
    };
}

static enum status mem_stat(struct vfs *self, const char *path, struct vfs_stat *out,
                            struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    int reason = find_node(mem, path, &node);
    if (reason == ENOTDIR)
        reason = ENOENT;
    if (reason == 0)
        *out = stat_of(node);
    return unlock_with(mem, reason, path, err);
}

static enum status mem_list(struct vfs *self, const char *dir, struct arena *arena,
                            struct vfs_entry **out, size_t *count, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    int reason = find_node(mem, dir, &node);
    if (reason == 0 && node->kind != VFS_DIR)
        reason = ENOTDIR;
    if (reason == 0) {
        struct vfs_entry *entries =
            arena_new_object(arena, (node->name_count + 1) * sizeof *entries);
        size_t found = 0;
        for (size_t i = 0; i < node->name_count; i++)
            if (node->names[i].now != NULL)
                entries[found++] =
                    (struct vfs_entry){.name = arena_strdup(arena, node->names[i].text),
                                       .stat = stat_of(node->names[i].now)};
        *out = entries;
        *count = found;
    }
    return unlock_with(mem, reason, dir, err);
}

static enum status mem_scan(struct vfs *self, const char *dir, struct vfs_visitor *visitor,
                            struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    enum status status = mem_list(self, dir, arena, &entries, &count, err);
    for (size_t i = 0; status == OK && i < count; i++)
        status = visitor->visit(visitor, entries[i].name, entries[i].stat.kind, err);
    arena_free(arena);
    return status;
}

static enum status mem_rename(struct vfs *self, const char *from, const char *to, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    struct name *target = NULL;
    int reason = find_name(mem, from, false, &name);
    if (reason == 0)
        reason = find_name(mem, to, true, &target);
    if (reason == 0)
        reason = find_name(mem, from, false, &name); /* making `to` may have moved it */
    if (reason == 0 && target->now != NULL && target->now->kind != name->now->kind)
        reason = target->now->kind == VFS_DIR ? EISDIR : ENOTDIR;
    if (reason == 0 && name != target) {
        name_set_now(target, name->now);
        name_set_now(name, NULL);
    }
    return unlock_with(mem, reason, from, err);
}

static enum status mem_link(struct vfs *self, const char *from, const char *to, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    struct name *target = NULL;
    int reason = find_node(mem, from, &node);
    if (reason == 0)
        reason = find_name(mem, to, true, &target);
    if (reason == 0 && target->now != NULL && target->now != node)
        reason = EEXIST;
    if (reason == 0 && target->now == NULL)
        name_set_now(target, node);
    return unlock_with(mem, reason, reason == EEXIST ? to : from, err);
}

static bool dir_is_empty(const struct node *dir)
{
    for (size_t i = 0; i < dir->name_count; i++)
        if (dir->names[i].now != NULL)
            return false;
    return true;
}

static enum status mem_remove(struct vfs *self, const char *path, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, path, false, &name);
    if (reason == 0 && name->now->kind == VFS_DIR && !dir_is_empty(name->now))
        reason = ENOTEMPTY;
    else if (reason == 0)
        name_set_now(name, NULL);
    return unlock_with(mem, reason == ENOENT ? 0 : reason, path, err);
}

static enum status mem_remove_tree(struct vfs *self, const char *dir, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, dir, false, &name);
    if (reason == 0)
        name_set_now(name, NULL);
    return unlock_with(mem, reason == ENOENT ? 0 : reason, dir, err);
}

static int make_dirs(struct mem *mem, const char *path)
{
    struct node *here = mem->root;
    const char *text = NULL;
    size_t size = 0;
    while (next_component(&path, &text, &size)) {
        struct name *name = dir_name(here, text, size, true);
        if (name->now == NULL) {
            name_set_now(name, node_new(mem, VFS_DIR));
            name_make_durable(mem, name);
        }
        if (name->now->kind != VFS_DIR)
            return ENOTDIR;
        here = name->now;
    }
    return 0;
}

static enum status mem_make_dirs(struct vfs *self, const char *dir, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    return unlock_with(mem, make_dirs(mem, dir), dir, err);
}

static enum status mem_sync_dir(struct vfs *self, const char *dir, struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    int reason = find_node(mem, dir, &node);
    if (reason == 0 && node->kind != VFS_DIR)
        reason = ENOTDIR;
    for (size_t i = 0; reason == 0 && i < node->name_count; i++)
        name_make_durable(mem, &node->names[i]);
    mem->syncs++;
    return unlock_with(mem, reason, dir, err);
}

static enum status mem_lock(struct vfs *self, const char *path, struct vfs_lock **out,
                            struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, path, true, &name);
    if (reason == 0 && name->now == NULL)
        name_set_now(name, node_new(mem, VFS_FILE));
    bool taken = reason == 0 && name->now->locked;
    if (reason == 0 && !taken) {
        struct mem_lock *lock = heap_calloc(1, sizeof *lock);
        lock->base.vfs = self;
        lock->node = node_ref(name->now);
        lock->life = mem->life;
        name->now->locked = true;
        *out = &lock->base;
    }
    TRY(unlock_with(mem, reason, path, err));
    return !taken ? OK
                  : error_raise(err, STATUS_CHECKPOINT__LOCKED, "path", path, "holder",
                                "another worker", NULL);
}

static void mem_unlock(struct vfs_lock *base)
{
    struct mem_lock *lock = (struct mem_lock *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    if (lock->life == mem->life)
        lock->node->locked = false;
    node_unref(lock->node);
    pthread_mutex_unlock(&mem->lock);
    free(lock);
}

/* No node of the tree: nothing of it has a name, or outlives its handle. */
static enum status mem_scratch(struct vfs *self, const char *path, struct vfs_scratch **out,
                               struct error *err)
{
    struct mem *mem = mem_of(self);
    pthread_mutex_lock(&mem->lock);
    struct name *name = NULL;
    int reason = find_name(mem, path, true, &name);
    if (reason == 0 && name->now != NULL && name->now->kind == VFS_DIR)
        reason = EISDIR;
    if (reason == 0) {
        struct mem_scratch *scratch = heap_calloc(1, sizeof *scratch);
        scratch->base.vfs = self;
        name_set_now(name, NULL);
        *out = &scratch->base;
    }
    return unlock_with(mem, reason, path, err);
}

static enum status mem_scratch_write(struct vfs_scratch *base, uint64_t offset,
                                     struct bytes content, struct error *err)
{
    (void)err;
    struct mem_scratch *scratch = (struct mem_scratch *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    struct buffer *all = &scratch->content;
    size_t end = (size_t)offset + content.size_bytes;
    if (end > all->size_bytes) {
        memset(buffer_reserve(all, end - all->size_bytes), 0, end - all->size_bytes);
        all->size_bytes = end;
    }
    if (content.size_bytes > 0)
        memcpy(all->data + offset, content.data, content.size_bytes);
    pthread_mutex_unlock(&mem->lock);
    return OK;
}

static enum status mem_scratch_read(struct vfs_scratch *base, uint64_t offset, struct bytes_out out,
                                    struct error *err)
{
    (void)err;
    struct mem_scratch *scratch = (struct mem_scratch *)base;
    struct mem *mem = mem_of(base->vfs);
    pthread_mutex_lock(&mem->lock);
    const struct buffer *all = &scratch->content;
    size_t left = offset < all->size_bytes ? all->size_bytes - (size_t)offset : 0;
    size_t part = left < out.size_bytes ? left : out.size_bytes;
    if (part > 0)
        memcpy(out.data, all->data + offset, part);
    if (part < out.size_bytes)
        memset(out.data + part, 0, out.size_bytes - part);
    pthread_mutex_unlock(&mem->lock);
    return OK;
}

static void mem_scratch_close(struct vfs_scratch *base)
{
    struct mem_scratch *scratch = (struct mem_scratch *)base;
    buffer_fini(&scratch->content);
    free(scratch);
}

static const struct vfs_ops mem_ops = {
    .name = "memory",
    .put = mem_put,
    .open = mem_open,
    .append = mem_append,
    .sync = mem_sync,
    .sync_data = mem_sync_data,
    .close = mem_close,
    .map = mem_map,
    .unmap = mem_unmap,
    .read_at = mem_read_at,
    .stat = mem_stat,
    .list = mem_list,
    .scan = mem_scan,
    .rename = mem_rename,
    .link = mem_link,
    .remove = mem_remove,
    .make_dirs = mem_make_dirs,
    .remove_tree = mem_remove_tree,
    .sync_dir = mem_sync_dir,
    .lock = mem_lock,
    .unlock = mem_unlock,
    .scratch = mem_scratch,
    .scratch_write = mem_scratch_write,
    .scratch_read = mem_scratch_read,
    .scratch_close = mem_scratch_close,
};

struct vfs *vfs_mem_new(const struct clock *clock)
{
    struct mem *mem = heap_calloc(1, sizeof *mem);
    mem->base.ops = &mem_ops;
    mem->magic = MEM_MAGIC;
    mem->clock = clock;
    pthread_mutex_init(&mem->lock, NULL);
    mem->root = node_ref(node_new(mem, VFS_DIR));
    return &mem->base;
}

void vfs_mem_free(struct vfs *vfs)
{
    if (vfs == NULL)
        return;
    struct mem *mem = mem_of(vfs);
    node_unref(mem->root);
    pthread_mutex_destroy(&mem->lock);
    mem->magic = 0;
    free(mem);
}

static void freeze_node(struct node *node)
{
    node->frozen_bytes = node->content.size_bytes;
    for (size_t i = 0; i < node->name_count; i++) {
        if (node->names[i].now != NULL)
            freeze_node(node->names[i].now);
        if (node->names[i].durable != NULL && node->names[i].durable != node->names[i].now)
            freeze_node(node->names[i].durable);
    }
}

static void freeze(struct mem *mem)
{
    if (!mem->frozen)
        freeze_node(mem->root);
    mem->frozen = true;
}

void vfs_mem_freeze(struct vfs *vfs)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    freeze(mem);
    pthread_mutex_unlock(&mem->lock);
}

static void crash_file(struct node *node, size_t torn_bytes)
{
    size_t size = node->frozen_bytes < node->content.size_bytes ? node->frozen_bytes
                                                                : node->content.size_bytes;
    bool only_grown = node->clean_bytes == node->durable.size_bytes;
    if (only_grown && size > node->clean_bytes) {
        size_t tail = size - node->clean_bytes;
        buffer_add(&node->durable, node->content.data + node->clean_bytes,
                   tail < torn_bytes ? tail : torn_bytes);
    }
    buffer_clear(&node->content);
    buffer_add_bytes(&node->content, buffer_bytes(&node->durable));
    node->clean_bytes = node->content.size_bytes;
    node->locked = false;
}

static void crash_dir(struct node *dir, size_t torn_bytes)
{
    for (size_t i = 0; i < dir->name_count; i++) {
        struct name *name = &dir->names[i];
        name_set_now(name, name->durable);
        if (name->now == NULL)
            continue;
        if (name->now->kind == VFS_DIR)
            crash_dir(name->now, torn_bytes);
        else
            crash_file(name->now, torn_bytes);
    }
}

void vfs_mem_crash(struct vfs *vfs, size_t torn_bytes)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    freeze(mem);
    crash_dir(mem->root, torn_bytes);
    mem->frozen = false;
    mem->life++;
    pthread_mutex_unlock(&mem->lock);
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = heap_strndup(path, slash == NULL ? 0 : (size_t)(slash - path));
    return parent;
}

/* The world outside is never frozen. */
static bool thaw(struct mem *mem)
{
    bool was = mem->frozen;
    mem->frozen = false;
    return was;
}

static bool begins_with(struct bytes content, struct bytes head)
{
    return content.size_bytes >= head.size_bytes &&
           bytes_equal(bytes_of(content.data, head.size_bytes), head);
}

void vfs_mem_write(struct vfs *vfs, const char *path, struct bytes content, int64_t mtime_us)
{
    struct mem *mem = mem_of(vfs);
    char *parent = parent_of(path);
    pthread_mutex_lock(&mem->lock);
    bool was_frozen = thaw(mem);
    CHECK(make_dirs(mem, parent) == 0);
    struct name *name = NULL;
    CHECK(find_name(mem, path, true, &name) == 0);
    struct node *node = node_new(mem, VFS_FILE);
    node_write(mem, node, content);
    node_sync(mem, node);
    node->mtime_us = mtime_us;
    if (name->now != NULL && begins_with(content, buffer_bytes(&name->now->content)))
        node->inode = name->now->inode; /* what was there has grown */
    name_set_now(name, node);
    name_make_durable(mem, name);
    mem->frozen = was_frozen;
    pthread_mutex_unlock(&mem->lock);
    free(parent);
}

void vfs_mem_touch(struct vfs *vfs, const char *path, int64_t mtime_us)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    CHECK(find_node(mem, path, &node) == 0);
    node->mtime_us = mtime_us;
    pthread_mutex_unlock(&mem->lock);
}

void vfs_mem_delete(struct vfs *vfs, const char *path)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    bool was_frozen = thaw(mem);
    struct name *name = NULL;
    if (find_name(mem, path, false, &name) == 0) {
        name_set_now(name, NULL);
        name_make_durable(mem, name);
    }
    mem->frozen = was_frozen;
    pthread_mutex_unlock(&mem->lock);
}

void vfs_mem_make_dirs(struct vfs *vfs, const char *path)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    bool was_frozen = thaw(mem);
    CHECK(make_dirs(mem, path) == 0);
    mem->frozen = was_frozen;
    pthread_mutex_unlock(&mem->lock);
}

void vfs_mem_make_dirs_unsynced(struct vfs *vfs, const char *path)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    bool was_frozen = mem->frozen;
    mem->frozen = true;
    CHECK(make_dirs(mem, path) == 0);
    mem->frozen = was_frozen;
    pthread_mutex_unlock(&mem->lock);
}

struct walk {
    struct arena *arena;
    struct walk_item *first;
    struct walk_item **last;
};

struct walk_item {
    char *path;
    struct vfs_stat stat;
    struct walk_item *next;
};

static void walk_dir(struct walk *walk, const struct node *dir, const char *path)
{
    for (size_t i = 0; i < dir->name_count; i++) {
        const struct node *node = dir->names[i].now;
        if (node == NULL)
            continue;
        struct walk_item *item = arena_new_object(walk->arena, sizeof *item);
        const char *slash = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";
        item->path = arena_sprintf(walk->arena, "%s%s%s", path, slash, dir->names[i].text);
        item->stat = stat_of(node);
        *walk->last = item;
        walk->last = &item->next;
        if (node->kind == VFS_DIR)
            walk_dir(walk, node, item->path);
    }
}

void vfs_mem_walk(struct vfs *vfs, const char *dir,
                  void (*fn)(void *arg, const char *path, const struct vfs_stat *stat), void *arg)
{
    struct mem *mem = mem_of(vfs);
    struct walk walk = {.arena = arena_new("request", 0)};
    walk.last = &walk.first;
    pthread_mutex_lock(&mem->lock);
    struct node *node = NULL;
    if (find_node(mem, dir, &node) == 0 && node->kind == VFS_DIR)
        walk_dir(&walk, node, dir);
    pthread_mutex_unlock(&mem->lock);
    for (const struct walk_item *item = walk.first; item != NULL; item = item->next)
        fn(arg, item->path, &item->stat);
    arena_free(walk.arena);
}

uint64_t vfs_mem_syncs(struct vfs *vfs)
{
    struct mem *mem = mem_of(vfs);
    pthread_mutex_lock(&mem->lock);
    uint64_t syncs = mem->syncs;
    pthread_mutex_unlock(&mem->lock);
    return syncs;
}
