/*
 * See spill_file.h.
 */
#include "state/spill_file.h"

#include "base/check.h"
#include "base/crc32c.h"
#include "base/heap.h"
#include "base/path.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FILE_MAGIC   0x59111f01U
#define TAKE_AT_ONCE 16U /* single pages, so that those of a partition lie together */
#define KEPT_BYTES   ((uint64_t)16 << 20)

struct spill_file {
    uint32_t magic;
    struct vfs *vfs;
    struct arena *arena;
    const char *path;
    struct vfs_scratch *_Atomic scratch; /* NULL until the first write */
    _Atomic uint64_t next;               /* page that nobody has taken yet */
};

struct spill_file *spill_file_new(struct vfs *vfs, const char *path)
{
    struct spill_file *file = heap_calloc(1, sizeof *file);
    file->magic = FILE_MAGIC;
    file->vfs = vfs;
    file->arena = arena_new("spill file", 0);
    file->path = arena_strdup(file->arena, path);
    return file;
}

void spill_file_free(struct spill_file *file)
{
    if (file == NULL)
        return;
    CHECK_MAGIC(file, FILE_MAGIC);
    vfs_scratch_close(atomic_load(&file->scratch));
    arena_free(file->arena);
    file->magic = 0;
    free(file);
}

enum status spill_file_take(struct spill_file *file, uint32_t count, uint32_t *page,
                            struct error *err)
{
    CHECK_MAGIC(file, FILE_MAGIC);
    uint64_t first = atomic_fetch_add(&file->next, count);
    if (first + count > UINT32_MAX)
        return error_raise(err, STATUS_DISK_FULL, "path", file->path, NULL);
    *page = (uint32_t)first;
    return OK;
}

void spill_file_reset(struct spill_file *file)
{
    CHECK_MAGIC(file, FILE_MAGIC);
    if (atomic_exchange(&file->next, 0) * SPILL_PAGE_BYTES > KEPT_BYTES) /* the disk is not ours */
        vfs_scratch_close(atomic_exchange(&file->scratch, NULL));
}

/* Two threads may both come first: each opens a file of its own, and one of them goes again. */
static enum status open_scratch(struct spill_file *file, struct vfs_scratch **out,
                                struct error *err)
{
    struct vfs_scratch *none = NULL;
    struct arena *arena = arena_new("spill file", 0);
    enum status status = vfs_make_dirs(file->vfs, path_dirname(arena, file->path), err);
    char *path = arena_sprintf(arena, "%s.%p", file->path, (void *)arena);
    if (status == OK)
        status = vfs_scratch_open(file->vfs, path, out, err);
    arena_free(arena);
    TRY(status);
    if (atomic_compare_exchange_strong(&file->scratch, &none, *out))
        return OK;
    vfs_scratch_close(*out);
    *out = none;
    return OK;
}

enum status spill_file_write(struct spill_file *file, uint32_t page, struct bytes content,
                             struct error *err)
{
    CHECK_MAGIC(file, FILE_MAGIC);
    struct vfs_scratch *scratch = atomic_load(&file->scratch);
    if (scratch == NULL)
        TRY(open_scratch(file, &scratch, err));
    return vfs_scratch_write(scratch, (uint64_t)page * SPILL_PAGE_BYTES, content, err);
}

enum status spill_file_read(struct spill_file *file, uint32_t page, size_t size_bytes,
                            struct buffer *out, struct error *err)
{
    CHECK_MAGIC(file, FILE_MAGIC);
    struct vfs_scratch *scratch = atomic_load(&file->scratch);
    CHECK(scratch != NULL);
    buffer_clear(out);
    struct bytes_out place = {.data = buffer_reserve(out, size_bytes), .size_bytes = size_bytes};
    out->size_bytes = size_bytes;
    return vfs_scratch_read(scratch, (uint64_t)page * SPILL_PAGE_BYTES, place, err);
}

enum status spill_file_damaged(const struct spill_file *file, struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", file->path, NULL);
}

enum status spill_extent_write(struct spill_file *file, struct bytes content,
                               struct spill_extent *out, struct error *err)
{
    size_t pages = (content.size_bytes + SPILL_PAGE_BYTES - 1) / SPILL_PAGE_BYTES;
    CHECK(pages > 0 && pages < UINT32_MAX);
    TRY(spill_file_take(file, (uint32_t)pages, &out->page, err));
    out->crc = crc32c(0, content.data, content.size_bytes);
    out->bytes = content.size_bytes;
    return spill_file_write(file, out->page, content, err);
}

enum status spill_extent_read(struct spill_file *file, const struct spill_extent *extent,
                              struct buffer *out, struct error *err)
{
    TRY(spill_file_read(file, extent->page, extent->bytes, out, err));
    return crc32c(0, out->data, out->size_bytes) == extent->crc ? OK
                                                                : spill_file_damaged(file, err);
}

enum status spill_extents_write(struct spill_extents *extents, struct spill_file *file,
                                struct bytes content, struct error *err)
{
    if (extents->count == extents->capacity) {
        extents->capacity = extents->capacity == 0 ? 4 : extents->capacity * 2;
        extents->list = heap_realloc(extents->list, extents->capacity * sizeof *extents->list);
    }
    TRY(spill_extent_write(file, content, &extents->list[extents->count], err));
    extents->count++;
    return OK;
}

void spill_extents_fini(struct spill_extents *extents)
{
    free(extents->list);
    *extents = (struct spill_extents){0};
}

/* ---- the free pages of a partition ---- */

void spill_space_fini(struct spill_space *space)
{
    for (uint32_t i = 0; i < SPILL_SIZES_COUNT; i++)
        free(space->free[i].pages);
    *space = (struct spill_space){0};
}

void spill_space_give(struct spill_space *space, uint32_t size_class, uint32_t page)
{
    CHECK(size_class < SPILL_SIZES_COUNT);
    struct spill_free_pages *list = &space->free[size_class];
    if (list->count == list->capacity) {
        space->bytes -= list->capacity * sizeof *list->pages;
        list->capacity = list->capacity == 0 ? TAKE_AT_ONCE : list->capacity * 2;
        list->pages = heap_realloc(list->pages, list->capacity * sizeof *list->pages);
        space->bytes += list->capacity * sizeof *list->pages;
    }
    list->pages[list->count++] = page;
}

enum status spill_space_take(struct spill_space *space, uint32_t size_class, uint32_t *page,
                             struct error *err)
{
    CHECK(space->file != NULL && size_class < SPILL_SIZES_COUNT);
    struct spill_free_pages *list = &space->free[size_class];
    if (list->count > 0) {
        *page = list->pages[--list->count];
        return OK;
    }
    if (size_class > 0)
        return spill_file_take(space->file, 1U << size_class, page, err);
    TRY(spill_file_take(space->file, TAKE_AT_ONCE, page, err));
    for (uint32_t i = TAKE_AT_ONCE - 1; i > 0; i--)
        spill_space_give(space, 0, *page + i);
    return OK;
}
