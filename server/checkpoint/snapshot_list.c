/*
 * See snapshot_list.h.
 */
#include "checkpoint/snapshot_list.h"

#include "base/path.h"
#include "state/state_store_files.h"

static enum status list(struct vfs *vfs, const char *state_dir, struct arena *arena,
                        struct vfs_entry **out, size_t *count, struct error *err)
{
    bool found = false;
    *out = NULL;
    *count = 0;
    TRY(vfs_find(vfs, state_dir, &found, err));
    return found ? vfs_list(vfs, state_dir, arena, out, count, err) : OK;
}

enum status snapshot_list_read(struct vfs *vfs, const char *dir, struct arena *arena, int64_t **out,
                               size_t *count, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t entry_count = 0;
    *count = 0;
    TRY(list(vfs, path_join(arena, dir, "state"), arena, &entries, &entry_count, err));
    *out = arena_new_object(arena, (entry_count + 1) * sizeof **out);
    for (size_t i = 0; i < entry_count; i++) {
        const char *suffix = NULL;
        if (state_files_parse(entries[i].name, &(*out)[*count], &suffix) && suffix[0] == '\0')
            (*count)++;
    }
    return OK;
}

enum status snapshot_list_end(struct vfs *vfs, const char *dir, int64_t *end, struct error *err)
{
    struct arena *arena = arena_new("snapshots", 0);
    int64_t *versions = NULL;
    size_t count = 0;
    enum status status = snapshot_list_read(vfs, dir, arena, &versions, &count, err);
    *end = status == OK && count > 0 ? versions[count - 1] + 1 : 0;
    arena_free(arena);
    return status;
}

enum status snapshot_list_cut(struct vfs *vfs, const char *dir, int64_t version, struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("snapshots", 0);
    const char *state_dir = path_join(arena, dir, "state");
    struct vfs_entry *entries = NULL;
    size_t count = 0, removed = 0;
    TRY_OUT(list(vfs, state_dir, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *path = path_join(arena, state_dir, entries[i].name);
        int64_t at = 0;
        const char *suffix = NULL;
        if (!state_files_parse(entries[i].name, &at, &suffix) ||
            (suffix[0] == '\0' && at <= version))
            continue;
        if (entries[i].stat.kind == VFS_DIR)
            TRY_OUT(vfs_remove_tree(vfs, path, err));
        else
            TRY_OUT(vfs_remove(vfs, path, err));
        removed++;
    }
    if (removed > 0)
        status = vfs_sync_dir(vfs, state_dir, err);
out:
    arena_free(arena);
    return status;
}
