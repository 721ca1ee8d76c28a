/* The disk of a world, in memory or real, and runs in a process of their own. */
#include "base/check.h"
#include "base/vfs_posix.h"
#include "cell_text.h"
#include "json_rows.h"
#include "worker/query_plan.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#define OUTPUT_BYTES_MAX ((size_t)1 << 26)
#define EXIT_CRASHED     137

extern char **environ;

enum status world_new_process(const char *binary, struct world **out, struct error *err)
{
    char name[] = "/tmp/tidemill-scenario-XXXXXX";
    const char *root = mkdtemp(name);
    if (root == NULL)
        return vfs_error(err, name, errno);
    struct world *world = world_new();
    world->root = arena_strdup(world->arena, root);
    world->binary = binary;
    vfs_fault_free(world->vfs);
    world->vfs = vfs_fault_new(vfs_posix());
    *out = world;
    return OK;
}

void world_remove_root(struct world *world)
{
    struct error err = ERROR_INIT;
    if (world->root != NULL && vfs_posix()->ops->remove_tree(vfs_posix(), world->root, &err) != OK)
        fprintf(stderr, "%s\n", err.text);
}

/* ---- the disk ---- */

struct vfs *world_disk(const struct world *world)
{
    return world->root == NULL ? world->mem : vfs_posix();
}

const char *world_path(const struct world *world, const char *path)
{
    return world->root == NULL ? path : arena_sprintf(world->arena, "%s%s", world->root, path);
}

static void must(enum status status, const struct error *err)
{
    if (status != OK)
        fprintf(stderr, "the test's own file operation failed: %s\n", err->text);
    CHECK(status == OK);
}

void world_make_dirs(struct world *world, const char *path)
{
    struct error err = ERROR_INIT;
    if (world->root == NULL)
        vfs_mem_make_dirs(world->mem, path);
    else
        must(vfs_make_dirs(vfs_posix(), world_path(world, path), &err), &err);
}

void world_touch(struct world *world, const char *path, int64_t mtime_us)
{
    if (world->root == NULL) {
        vfs_mem_touch(world->mem, path, mtime_us);
        return;
    }
    struct timespec times[2];
    times[0] = times[1] = (struct timespec){.tv_sec = mtime_us / 1000000,
                                            .tv_nsec = (long)(mtime_us % 1000000) * 1000};
    CHECK(utimensat(AT_FDCWD, world_path(world, path), times, 0) == 0);
}

void world_write(struct world *world, const char *path, struct bytes content, int64_t mtime_us)
{
    struct error err = ERROR_INIT;
    if (world->root == NULL) {
        vfs_mem_write(world->mem, path, content, mtime_us);
        return;
    }
    const char *slash = strrchr(path, '/');
    world_make_dirs(world, arena_strndup(world->arena, path, (size_t)(slash - path)));
    must(vfs_put(vfs_posix(), world_path(world, path), content, false, &err), &err);
    world_touch(world, path, mtime_us);
}

void world_delete(struct world *world, const char *path)
{
    struct error err = ERROR_INIT;
    if (world->root == NULL)
        vfs_mem_delete(world->mem, path);
    else
        must(vfs_remove_tree(vfs_posix(), world_path(world, path), &err), &err);
}

static void walk_real(const struct world *world, const char *dir,
                      void (*fn)(void *arg, const char *path, const struct vfs_stat *stat),
                      void *arg)
{
    struct error err = ERROR_INIT;
    struct vfs_entry *entries;
    size_t count;
    if (vfs_list(vfs_posix(), world_path(world, dir), world->arena, &entries, &count, &err) != OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_sprintf(world->arena, "%s/%s", dir, entries[i].name);
        fn(arg, path, &entries[i].stat);
        if (entries[i].stat.kind == VFS_DIR)
            walk_real(world, path, fn, arg);
    }
}

void world_walk(const struct world *world, const char *dir,
                void (*fn)(void *arg, const char *path, const struct vfs_stat *stat), void *arg)
{
    if (world->root == NULL)
        vfs_mem_walk(world->mem, dir, fn, arg);
    else
        walk_real(world, dir, fn, arg);
}

/* ---- a run ---- */

/* The environment without settings of ours, and with the armed failpoints. */
static char **child_environment(struct world *world)
{
    size_t all = 0, count = 0;
    while (environ[all] != NULL)
        all++;
    char **out = arena_new_object(world->arena, (all + 2) * sizeof(*out));
    for (size_t i = 0; i < all; i++) {
        if (strncmp(environ[i], "TIDEMILL_", 9) != 0)
            out[count++] = environ[i];
    }
    if (world->armed != NULL)
        out[count] = arena_sprintf(world->arena, "TIDEMILL_FAILPOINTS=%s", world->armed);
    world->armed = NULL;
    return out;
}

static enum status run_child(struct world *world, const char *spec, const char *out_path,
                             int *exit_status, struct error *err)
{
    const char *binary = world->binary;
    char *const argv[] = {(char *)(uintptr_t)binary,  (char *)(uintptr_t) "run",
                          (char *)(uintptr_t)spec,    (char *)(uintptr_t) "-o",
                          (char *)(uintptr_t) "json", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, out_path, O_WRONLY | O_CREAT | O_TRUNC,
                                           0644);
    (void)posix_spawn_file_actions_addopen(&actions, 2,
                                           arena_sprintf(world->arena, "%s.err", out_path),
                                           O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int failed = posix_spawn(&child, binary, &actions, NULL, argv, child_environment(world));
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return vfs_error(err, binary, failed);
    while (waitpid(child, exit_status, 0) < 0)
        CHECK(errno == EINTR);
    return OK;
}

/* The progress documents that the process has printed, one per line. */
static void read_progress(struct world *world, const char *path)
{
    struct error err = ERROR_INIT;
    struct bytes text;
    world->progress_count = 0;
    if (vfs_get(vfs_posix(), path, OUTPUT_BYTES_MAX, world->arena, &text, &err) != OK)
        return;
    for (size_t at = 0; at < text.size_bytes;) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size_bytes - at);
        size_t size = end == NULL ? text.size_bytes - at : (size_t)(end - (text.data + at));
        if (world->progress_count == world->progress_capacity) {
            world->progress_capacity = world->progress_capacity * 2 + 16;
            world->progress =
                realloc(world->progress, world->progress_capacity * sizeof(*world->progress));
            CHECK(world->progress != NULL);
        }
        if (size > 0 && text.data[at] == '{')
            world->progress[world->progress_count++] =
                arena_strndup(world->arena, text.data + at, size);
        at += size + 1;
    }
}

/* The condition that the process has printed: "error: [NAME] text". */
static enum status read_failure(struct world *world, const char *path, struct error *err)
{
    struct error ignored = ERROR_INIT;
    struct bytes text;
    char name[128] = "";
    if (vfs_get(vfs_posix(), path, OUTPUT_BYTES_MAX, world->arena, &text, &ignored) != OK)
        return error_set(err, STATUS_INTERNAL_ERROR, "the run failed and said nothing");
    const char *message = arena_strndup(world->arena, text.data, text.size_bytes);
    const char *open = strchr(message, '[');
    if (open != NULL)
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(open + 1, "]"), open + 1);
    enum status status = status_find(name);
    return error_set(err, status == OK ? STATUS_INTERNAL_ERROR : status, "%s", message);
}

void world_read_schema(struct world *world, enum world_run kind)
{
    const char *spec = world_spec(world, kind);
    struct query_plan plan;
    struct error err = ERROR_INIT;
    struct query_plan_config config = {
        .spec_json = bytes_of_text(spec), .vfs = vfs_posix(), .clock = world->clock};
    if (query_plan_make(world->arena, &config, &plan, &err) == OK)
        world->current->sink->schema = plan.schema;
}

enum status world_run_process(struct world *world, enum world_run kind, struct error *err)
{
    const char *spec = world_spec(world, kind);
    const char *spec_path = world_path(world, "/spec.json");
    const char *out_path = world_path(world, "/progress.jsonl");
    int exit_status = 0;
    if (kind == RUN_STEP && world->armed == NULL)
        return error_set(err, SCENARIO_INVALID, "a process runs idle or availableNow, not a step");
    TRY(vfs_put(vfs_posix(), spec_path, bytes_of_text(spec), false, err));
    world_read_schema(world, kind);
    TRY(run_child(world, spec_path, out_path, &exit_status, err));
    read_progress(world, out_path);
    buffer_printf(&world->actions, "       run           %zu batches, exit %d\n",
                  world->progress_count,
                  WIFEXITED(exit_status) ? WEXITSTATUS(exit_status) : -WTERMSIG(exit_status));
    if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0)
        return OK;
    if (!WIFEXITED(exit_status) || WEXITSTATUS(exit_status) == EXIT_CRASHED)
        return error_set(err, STATUS_FAILPOINT_REACHED, "the process has died");
    return read_failure(world, arena_sprintf(world->arena, "%s.err", out_path), err);
}
