#include "control/batch_files.h"

#include "base/heap.h"
#include "base/path.h"
#include "checkpoint/identity.h"
#include "sink/sink_file.h"

#include <stdlib.h>
#include <string.h>

struct subdir {
    const char *path; /* relative; "" is the sink's directory */
    struct subdir *next;
};

struct found {
    const char *path; /* relative */
    int64_t batch_id;
};

struct batch_files {
    struct vfs_visitor visitor;
    struct outputs {
        struct batch_outputs base;
        struct batch_files *files;
    } outputs;
    struct arena *arena;
    struct vfs *vfs;
    const char *dir;
    uint32_t files;
    const char *query_id;
    int64_t from, end;
    struct subdir *at, *subdirs;
    struct found *found; /* of the batches asked for; by batch and path at the end */
    size_t count, capacity;
    bool failed;
};

static struct batch_files *files_of(struct batch_outputs *self)
{
    return ((struct outputs *)self)->files;
}

static void note(struct batch_files *files, const char *name, int64_t batch_id)
{
    if (files->count == files->capacity) {
        files->capacity = files->capacity == 0 ? 64 : files->capacity * 2;
        files->found = heap_realloc(files->found, files->capacity * sizeof *files->found);
    }
    files->found[files->count++] = (struct found){
        .path = files->at->path[0] == '\0' ? arena_strdup(files->arena, name)
                                           : path_join(files->arena, files->at->path, name),
        .batch_id = batch_id,
    };
}

static enum status visit(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                         struct error *err)
{
    (void)err;
    struct batch_files *files = (struct batch_files *)visitor;
    int64_t batch_id = 0;
    if (kind == VFS_DIR && strchr(name, '=') != NULL) {
        struct subdir *subdir = arena_new_object(files->arena, sizeof *subdir);
        subdir->path = files->at->path[0] == '\0' ? arena_strdup(files->arena, name)
                                                  : path_join(files->arena, files->at->path, name);
        subdir->next = files->subdirs;
        files->subdirs = subdir;
    } else if (sink_file_part(name, files->query_id, &batch_id) && batch_id >= files->from &&
               batch_id < files->end) {
        note(files, name, batch_id);
    }
    return OK;
}

static int compare(const void *a, const void *b)
{
    const struct found *left = a, *right = b;
    if (left->batch_id != right->batch_id)
        return left->batch_id < right->batch_id ? -1 : 1;
    return strcmp(left->path, right->path);
}

static void begin(struct batch_outputs *self, const char *query_id, int64_t from, int64_t end)
{
    struct batch_files *files = files_of(self);
    struct error ignored = ERROR_INIT;
    struct subdir root = {.path = ""};
    files->query_id = query_id;
    files->from = from;
    files->end = end;
    files->subdirs = &root;
    while (files->subdirs != NULL && !files->failed) {
        files->at = files->subdirs;
        files->subdirs = files->at->next;
        const char *dir =
            files->at == &root ? files->dir : path_join(files->arena, files->dir, files->at->path);
        enum status status = vfs_scan(files->vfs, dir, &files->visitor, &ignored);
        files->failed = status != OK && status != STATUS_FILE_NOT_FOUND;
        error_clear(&ignored);
    }
    files->at = files->subdirs = NULL;
    if (files->count > 0)
        qsort(files->found, files->count, sizeof *files->found, compare);
}

static size_t first_of(const struct batch_files *files, int64_t batch_id)
{
    size_t low = 0, high = files->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (files->found[middle].batch_id < batch_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add(struct batch_outputs *self, int64_t batch_id, struct buffer *out)
{
    const struct batch_files *files = files_of(self);
    size_t first = first_of(files, batch_id), end = first_of(files, batch_id + 1);
    if (files->failed) {
        buffer_add_text(out, ", \"sink\": {\"numFiles\": null, \"files\": []}");
        return;
    }
    buffer_printf(out, ", \"sink\": {\"numFiles\": %zu, \"files\": [", end - first);
    for (size_t i = first; i < end && i - first < files->files; i++) {
        struct buffer path = {0};
        buffer_printf(&path, "%s/%s", files->dir, files->found[i].path);
        buffer_add_text(out, i == first ? "{\"path\": " : ", {\"path\": ");
        buffer_add_json_string(out, buffer_bytes(&path));
        buffer_add_text(out, "}");
        buffer_fini(&path);
    }
    buffer_add_text(out, "]}");
}

struct batch_files *batch_files_new(struct vfs *vfs, const char *dir, uint32_t count)
{
    struct arena *arena = arena_new("request", 0);
    struct batch_files *files = arena_new_object(arena, sizeof *files);
    *files = (struct batch_files){
        .visitor = {.visit = visit},
        .outputs = {.base = {.begin = begin, .add = add}, .files = files},
        .arena = arena,
        .vfs = vfs,
        .dir = arena_strdup(arena, dir),
        .files = count,
    };
    return files;
}

void batch_files_free(struct batch_files *files)
{
    if (files == NULL)
        return;
    free(files->found);
    arena_free(files->arena);
}

struct batch_outputs *batch_files_outputs(struct batch_files *files)
{
    return &files->outputs.base;
}

int64_t batch_files_newest(struct vfs *vfs, const char *checkpoint, const char *dir)
{
    struct error ignored = ERROR_INIT;
    struct identity identity;
    bool found = false;
    if (dir == NULL || identity_read(vfs, checkpoint, &identity, &found, &ignored) != OK || !found)
        return SINK_CANNOT_TELL;
    int64_t newest = sink_file_newest(vfs, dir, identity.query_id);
    return newest == NO_BATCH ? SINK_CANNOT_TELL : newest;
}
