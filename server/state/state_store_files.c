/*
 * See state_store_files.h.
 */
#include "state/state_store_files.h"

#include "base/failpoint.h"
#include "base/heap.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdlib.h>

#define PREFIX     "snapshot-"
#define PART       ".part"
#define DIGITS     20
#define KEPT_LEAST 2

static char *snapshot_path(struct arena *arena, const char *dir, int64_t version,
                           const char *suffix)
{
    return arena_sprintf(arena, "%s/" PREFIX "%0*" PRId64 "%s", dir, DIGITS, version, suffix);
}

char *state_files_path(const struct state_files *files, struct arena *arena, int64_t version,
                       const char *suffix)
{
    return snapshot_path(arena, files->config->dir, version, suffix);
}

bool state_files_parse(const char *name, int64_t *version, const char **suffix)
{
    size_t prefix = strlen(PREFIX);
    if (strncmp(name, PREFIX, prefix) != 0 || strlen(name) < prefix + DIGITS)
        return false;
    *version = 0;
    for (size_t i = prefix; i < prefix + DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9' || *version > (INT64_MAX - 9) / 10)
            return false;
        *version = *version * 10 + (name[i] - '0');
    }
    *suffix = name + prefix + DIGITS;
    return true;
}

void state_files_init(struct state_files *files, const struct state_store_config *config)
{
    *files = (struct state_files){
        .config = config,
        .arena = arena_new("snapshot manifest", 0),
        .manifest = {.version = STATE_NO_VERSION},
    };
}

void state_files_fini(struct state_files *files)
{
    free(files->versions);
    arena_free(files->arena);
}

/* The versions of which there are snapshots in `dir`, ascending, in `arena`. */
static enum status list_versions(struct vfs *vfs, const char *dir, struct arena *arena,
                                 int64_t **out, size_t *count, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t entry_count = 0;
    bool found = false;
    *count = 0;
    TRY(vfs_find(vfs, dir, &found, err));
    if (found)
        TRY(vfs_list(vfs, dir, arena, &entries, &entry_count, err));
    *out = arena_new_object(arena, (entry_count + 1) * sizeof **out);
    for (size_t i = 0; i < entry_count; i++) {
        const char *suffix = NULL;
        if (entries[i].stat.kind == VFS_DIR &&
            state_files_parse(entries[i].name, &(*out)[*count], &suffix) && suffix[0] == '\0')
            (*count)++;
    }
    return OK;
}

/* What is half written, and what an older run worked in. */
static enum status remove_scratch(const struct state_files *files, struct arena *arena,
                                  struct error *err)
{
    struct vfs *vfs = files->config->vfs;
    const char *dir = files->config->dir;
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    bool found = false;
    TRY(vfs_find(vfs, dir, &found, err));
    if (!found)
        return OK;
    TRY(vfs_list(vfs, dir, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *path = path_join(arena, dir, entries[i].name);
        const char *suffix = NULL;
        int64_t version = 0;
        bool part = state_files_parse(entries[i].name, &version, &suffix) &&
                    strncmp(suffix, PART, strlen(PART)) == 0;
        if (!part && strcmp(entries[i].name, "db") != 0)
            continue;
        if (entries[i].stat.kind == VFS_DIR)
            TRY(vfs_remove_tree(vfs, path, err));
        else
            TRY(vfs_remove(vfs, path, err));
    }
    return OK;
}

/* Takes the name away first, so that what a crash leaves of it is not taken for a snapshot. */
static enum status remove_snapshot(const struct state_files *files, struct arena *arena,
                                   int64_t version, struct error *err)
{
    struct vfs *vfs = files->config->vfs;
    const char *path = state_files_path(files, arena, version, "");
    const char *part = state_files_path(files, arena, version, PART);
    bool found = false;
    TRY(vfs_find(vfs, path, &found, err));
    if (found) /* or an attempt before this one came only so far */
        TRY(vfs_rename(vfs, path, part, err));
    return vfs_remove_tree(vfs, part, err);
}

static void warn_damaged(const struct state_files *files, const char *path, const char *problem)
{
    log_event(files->config->log, LOG_WARN, "snapshot_damaged",
              (struct log_field[]){log_text("path", path), log_text("reason", problem), {0}});
}

/* The newest of `versions` that is whole is left in files->manifest; *count becomes what is left
 * with it at the end. */
static enum status choose(struct state_files *files, struct arena *arena, const int64_t *versions,
                          size_t *count, struct error *err)
{
    while (*count > 0) {
        const char *problem = NULL;
        int64_t version = versions[*count - 1];
        const char *path = state_files_path(files, arena, version, "");
        arena_reset(files->arena);
        TRY(state_manifest_check(files->config->vfs, path, version, files->arena, &files->manifest,
                                 &problem, err));
        if (problem == NULL)
            return OK;
        warn_damaged(files, path, problem);
        --*count;
    }
    files->manifest = (struct state_manifest){.version = STATE_NO_VERSION};
    return OK;
}

static void make_room(struct state_files *files, size_t count)
{
    files->versions = heap_realloc(files->versions, (count + 1) * sizeof *files->versions);
}

static enum status open_files(struct state_files *files, struct arena *arena, struct error *err)
{
    const struct state_store_config *config = files->config;
    int64_t *versions = NULL;
    size_t count = 0;
    if (!config->read_only)
        TRY(remove_scratch(files, arena, err));
    TRY(list_versions(config->vfs, config->dir, arena, &versions, &count, err));
    while (count > 0 && versions[count - 1] > config->version)
        count--;
    size_t whole = count;
    TRY(choose(files, arena, versions, &whole, err));
    make_room(files, whole);
    memcpy(files->versions, versions, whole * sizeof *versions);
    files->count = whole;
    /* Without another to begin with nothing is touched: it may be all that is left. */
    bool replaced = whole > 0 || config->first_batch <= 0;
    for (size_t i = whole; i < count && replaced && !config->read_only; i++)
        TRY(remove_snapshot(files, arena, versions[i], err));
    return OK;
}

enum status state_files_open(struct state_files *files, struct error *err)
{
    struct arena *arena = arena_new("snapshots", 0);
    enum status status = open_files(files, arena, err);
    arena_free(arena);
    return status;
}

/* One that its worker removes meanwhile is none. */
enum status state_files_foresee(const struct state_store_config *config, struct arena *arena,
                                struct state_start *out, struct error *err)
{
    int64_t *versions = NULL;
    size_t count = 0;
    *out = (struct state_start){.version = STATE_NO_VERSION, .damaged = STATE_NO_VERSION};
    TRY(list_versions(config->vfs, config->dir, arena, &versions, &count, err));
    for (; count > 0 && out->version == STATE_NO_VERSION; count--) {
        struct state_manifest manifest;
        const char *problem = NULL;
        bool found = false;
        int64_t version = versions[count - 1];
        const char *path = snapshot_path(arena, config->dir, version, "");
        if (version > config->version)
            continue;
        TRY(state_manifest_check(config->vfs, path, version, arena, &manifest, &problem, err));
        if (problem == NULL)
            out->version = version;
        else
            TRY(vfs_find(config->vfs, path, &found, err));
        if (found && out->problem == NULL) {
            out->damaged = version;
            out->problem = problem;
        }
    }
    return OK;
}

int64_t state_files_newest(const struct state_files *files)
{
    return files->count == 0 ? STATE_NO_VERSION : files->versions[files->count - 1];
}

/* How many of the oldest are not to be kept. */
static size_t spare(const struct state_files *files, int64_t version)
{
    int64_t oldest = version - files->config->versions_kept;
    size_t count = 0;
    while (count + KEPT_LEAST < files->count && files->versions[count + 1] <= oldest)
        count++;
    return count;
}

int64_t state_files_oldest_needed(const struct state_files *files)
{
    /* Should the only one be damaged, everything is built from the changes. */
    if (files->count < KEPT_LEAST)
        return 0;
    int64_t oldest = state_files_newest(files) - files->config->versions_kept;
    return files->versions[0] > oldest ? 0 : files->versions[0] + 1;
}

static enum status remove_spare(struct state_files *files, struct arena *arena, int64_t version,
                                struct error *err)
{
    size_t count = spare(files, version);
    for (size_t i = 0; i < count; i++) {
        TRY(remove_snapshot(files, arena, files->versions[0], err));
        files->count--;
        memmove(files->versions, files->versions + 1, files->count * sizeof *files->versions);
    }
    return OK;
}

/* Everything but the name. */
static enum status write_part(struct state_files *files, struct state_engine *engine,
                              int64_t version, struct arena *arena, struct error *err)
{
    struct vfs *vfs = files->config->vfs;
    const char *part = state_files_path(files, arena, version, PART);
    struct arena *manifest_arena = arena_new("snapshot manifest", 0);
    struct state_manifest manifest;
    enum status status = OK;
    TRY_OUT(vfs_make_dirs(vfs, files->config->dir, err));
    TRY_OUT(vfs_remove_tree(vfs, part, err));
    TRY_OUT(engine->ops->save(engine, part, err));
    TRY_OUT(FAILPOINT(mid_snapshot, err));
    TRY_OUT(
        state_manifest_write(vfs, part, version, &files->manifest, manifest_arena, &manifest, err));
    TRY_OUT(vfs_sync_dir(vfs, part, err));
    TRY_OUT(FAILPOINT(pre_snapshot_rename, err));
    struct arena *old = files->arena;
    files->arena = manifest_arena;
    files->manifest = manifest;
    manifest_arena = old;
out:
    arena_free(manifest_arena);
    return status;
}

static enum status save(struct state_files *files, struct state_engine *engine, int64_t version,
                        struct arena *arena, struct error *err)
{
    struct vfs *vfs = files->config->vfs;
    const char *path = state_files_path(files, arena, version, "");
    TRY(write_part(files, engine, version, arena, err));
    TRY(vfs_remove_tree(vfs, path, err)); /* of a history that does not count any more */
    TRY(vfs_rename(vfs, state_files_path(files, arena, version, PART), path, err));
    TRY(vfs_sync_dir(vfs, files->config->dir, err));
    make_room(files, files->count);
    files->versions[files->count++] = version;
    TRY(FAILPOINT(post_snapshot, err));
    return remove_spare(files, arena, version, err);
}

enum status state_files_save(struct state_files *files, struct state_engine *engine,
                             int64_t version, struct error *err)
{
    struct arena *arena = arena_new("snapshot", 0);
    enum status status = save(files, engine, version, arena, err);
    if (status != OK) { /* what is half written only takes space, which may be what is missing */
        struct error ignored = ERROR_INIT;
        if (vfs_remove_tree(files->config->vfs, state_files_path(files, arena, version, PART),
                            &ignored) != OK)
            error_clear(&ignored); /* the next start finds it */
    }
    arena_free(arena);
    return status;
}

enum status state_store_verify(struct vfs *vfs, const char *dir, struct arena *arena,
                               struct state_snapshot_info **out, size_t *count, struct error *err)
{
    int64_t *versions = NULL;
    TRY(list_versions(vfs, dir, arena, &versions, count, err));
    *out = arena_new_object(arena, (*count + 1) * sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        struct state_manifest manifest = {0};
        struct state_snapshot_info *info = &(*out)[i];
        const char *path = snapshot_path(arena, dir, versions[i], "");
        TRY(state_manifest_check(vfs, path, versions[i], arena, &manifest, &info->problem, err));
        info->version = versions[i];
        info->files = manifest.count;
        info->bytes = manifest.bytes;
        info->whole = info->problem == NULL;
    }
    return OK;
}
