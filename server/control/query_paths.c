#include "control/query_validate.h"

#include "base/path.h"
#include "base/vfs_posix.h"
#include "format/format.h"
#include "source/file_options.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- what lies in each other ---- */

/* The overlap of sink and sources that the analyser sees in the texts of the paths, once more with
 * links followed. */
static enum status check_links(struct arena *arena, const struct path_policy *paths,
                               const struct query_spec *spec, struct diagnostics *diagnostics,
                               struct error *err)
{
    const char *dir = spec->has_sink ? options_get(&spec->sink.options, "path") : NULL;
    if (dir == NULL || *dir == '\0' || path_policy_check(paths, dir, err) != OK) {
        error_clear(err);
        return OK;
    }
    const char *real_dir = path_policy_resolve(arena, path_absolute(arena, dir));
    for (size_t i = 0; i < spec->source_count; i++) {
        const struct relation_spec *source = &spec->sources[i];
        const char *path = options_get(&source->options, "path");
        if (path == NULL || *path == '\0' || file_options_would_read(arena, path, dir) ||
            path_policy_check(paths, path, err) != OK ||
            !file_options_would_read(arena, path_policy_resolve(arena, path_absolute(arena, path)),
                                     real_dir)) {
            error_clear(err);
            continue;
        }
        (void)error_raise(err, STATUS_SINK_PATH_OVERLAPS_SOURCE, "path", dir, "source",
                          source->name, "sourcePath", path, NULL);
        options_point_at(&spec->sink.options, "path", err);
        TRY(diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL));
    }
    return OK;
}

/* A checkpoint among the files that a source reads, or that lies where the sink writes. */
static enum status check_checkpoint(struct arena *arena, const struct query_spec *spec,
                                    struct diagnostics *diagnostics, struct error *err)
{
    const char *dir = spec->checkpoint_location;
    const char *reason = NULL;
    for (size_t i = 0; dir != NULL && i < spec->source_count; i++) {
        const char *path = options_get(&spec->sources[i].options, "path");
        if (path != NULL && *path != '\0' && file_options_would_read(arena, path, dir))
            reason = arena_sprintf(arena, "the source %s reads %s", spec->sources[i].name, path);
    }
    const char *sink = spec->has_sink ? options_get(&spec->sink.options, "path") : NULL;
    if (dir != NULL && sink != NULL && *sink != '\0' &&
        path_is_below(path_absolute(arena, sink), dir))
        reason = arena_sprintf(arena, "the sink writes to %s", sink);
    if (reason == NULL)
        return OK;
    (void)error_raise(err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", dir, "reason", reason, NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/checkpointLocation");
    return diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}

/* ---- what can be written to ---- */

/* File systems that show the kernel: whatever their modes say, nobody makes a directory there. */
static bool is_of_the_kernel(const char *dir)
{
    static const long magic[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC};
    struct statfs found;
    if (statfs(dir, &found) != 0)
        return false;
    for (size_t i = 0; i < sizeof magic / sizeof magic[0]; i++)
        if ((long)found.f_type == magic[i])
            return true;
    return false;
}

/* Why `path` cannot be a directory that is written to: what is there of it says so.  NULL: it can,
 * as far as anybody can tell. */
static const char *why_not_writable(struct arena *arena, const char *path)
{
    char *at = path_absolute(arena, path);
    for (;;) {
        struct vfs_stat stat;
        struct error err = ERROR_INIT;
        enum status status = vfs_stat(vfs_posix(), at, &stat, &err);
        if (status == STATUS_PATH_NOT_USABLE)
            return arena_sprintf(arena, "%s: %s", at, error_param(&err, "reason"));
        if (status == OK && stat.kind != VFS_DIR)
            return arena_sprintf(arena, "%s is a file, and no directory", at);
        if (status == OK)
            break;
        if (strcmp(at, "/") == 0 || strcmp(at, ".") == 0)
            return NULL;
        at = path_dirname(arena, at);
    }
    if (is_of_the_kernel(at))
        return arena_sprintf(arena, "%s belongs to the kernel: no files can be made there", at);
    if (access(at, W_OK | X_OK) != 0)
        return arena_sprintf(arena, "the server may not write to %s", at);
    return NULL;
}

/* A directory of the server, or the query's checkpoint (whether a sink is there, check_checkpoint()
 * says): files of others damage it. */
static const char *why_not_there(struct arena *arena, const struct path_policy *paths,
                                 const char *checkpoint, const char *path)
{
    const char *own = path_policy_own(paths, arena, path);
    if (own != NULL)
        return arena_sprintf(arena, "%s is the server's own", own);
    if (checkpoint == NULL || !path_is_below(path_absolute(arena, path), checkpoint))
        return NULL;
    return arena_sprintf(arena, "%s is the query's checkpoint", checkpoint);
}

/* Why the directory cannot be written to; NULL also for what others refuse. */
static const char *why_not(struct arena *arena, const struct path_policy *paths, const char *path)
{
    struct error ignored = ERROR_INIT;
    const char *local = path_strip_file_scheme(path);
    if (*path == '\0' || path_scheme_length(local) > 0 ||
        path_policy_check(paths, path, &ignored) != OK)
        return NULL;
    return why_not_writable(arena, local);
}

struct path_check {
    struct arena *arena;
    const struct path_policy *paths;
    const char *checkpoint; /* of which nothing is said elsewhere */
    struct diagnostics *diagnostics;
};

static enum status check_option(const struct path_check *check, const struct options *options,
                                const char *name, struct error *err)
{
    struct arena *arena = check->arena;
    const char *path = options_get(options, name);
    const char *reason = path == NULL ? NULL : why_not(arena, check->paths, path);
    if (path != NULL && *path != '\0' && reason == NULL)
        reason = why_not_there(arena, check->paths, check->checkpoint, path);
    if (reason == NULL)
        return OK;
    (void)error_raise(
        err, STATUS_INVALID_OPTION_VALUE, "option", name, "value", path, "expected",
        arena_sprintf(arena, "a directory in which files can be made, but %s", reason), NULL);
    options_point_at(options, name, err);
    return diagnostics_report(check->diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}

/* Sinks that have a path write files there. */
static bool has_path(const struct sink_ops *sink)
{
    for (const struct option_def *def = sink->options; def != NULL && def->name != NULL; def++)
        if (strcmp(def->name, "path") == 0)
            return true;
    return false;
}

/* The directory above those that k=v names are read from has to be one. */
static enum status check_base(const struct path_policy *paths, const struct options *options,
                              struct arena *arena, struct diagnostics *diagnostics,
                              struct error *err)
{
    const char *path = options_get(options, "basePath");
    struct vfs_stat stat;
    if (path == NULL || path_policy_check(paths, path, err) != OK) {
        error_clear(err);
        return OK;
    }
    if (vfs_stat(vfs_posix(), path_absolute(arena, path), &stat, err) == OK && stat.kind == VFS_DIR)
        return OK;
    error_clear(err);
    (void)error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "basePath", "value", path,
                      "expected", "a directory", NULL);
    options_point_at(options, "basePath", err);
    return diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}

/* A relative path would lead elsewhere after a restart of the server from another directory. */
static enum status check_absolute(const struct path_policy *paths, const char *format,
                                  const struct options *options, struct diagnostics *diagnostics,
                                  struct error *err)
{
    static const char *const names[] = {"path", "basePath", "sourceArchiveDir"};
    if (path_policy_relative(paths) || format == NULL || format_find(format) == NULL)
        return OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = options_get(options, names[i]);
        const char *local = path == NULL ? "" : path_strip_file_scheme(path);
        if (*local == '\0' || *local == '/' || path_scheme_length(local) > 0)
            continue;
        (void)error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", names[i], "value", path,
                          "expected", "an absolute path: a server may be started anywhere", NULL);
        options_point_at(options, names[i], err);
        TRY(diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL));
    }
    return OK;
}

static enum status check_all_absolute(const struct path_policy *paths,
                                      const struct query_spec *spec,
                                      struct diagnostics *diagnostics, struct error *err)
{
    for (size_t i = 0; i < spec->source_count; i++)
        TRY(check_absolute(paths, spec->sources[i].format, &spec->sources[i].options, diagnostics,
                           err));
    for (size_t i = 0; i < spec->table_count; i++)
        TRY(check_absolute(paths, spec->tables[i].format, &spec->tables[i].options, diagnostics,
                           err));
    return spec->has_sink
               ? check_absolute(paths, spec->sink.format, &spec->sink.options, diagnostics, err)
               : OK;
}

enum status query_check_paths(struct arena *arena, const struct path_policy *paths,
                              const struct query_spec *spec, struct diagnostics *diagnostics,
                              struct error *err)
{
    TRY(check_all_absolute(paths, spec, diagnostics, err));
    TRY(path_policy_check_spec(paths, spec, diagnostics, err));
    TRY(check_links(arena, paths, spec, diagnostics, err));
    TRY(check_checkpoint(arena, spec, diagnostics, err));
    const struct sink_ops *sink = spec->has_sink ? sink_find(spec->sink.format) : NULL;
    struct path_check check = {.arena = arena, .paths = paths, .diagnostics = diagnostics};
    if (sink != NULL && has_path(sink))
        TRY(check_option(&check, &spec->sink.options, "path", err));
    check.checkpoint = spec->checkpoint_location;
    for (size_t i = 0; i < spec->source_count; i++) {
        const struct options *options = &spec->sources[i].options;
        TRY(check_option(&check, options, "sourceArchiveDir", err));
        TRY(check_base(paths, options, arena, diagnostics, err));
    }
    const char *checkpoint = spec->checkpoint_location;
    const char *reason = checkpoint == NULL ? NULL : why_not(arena, paths, checkpoint);
    const char *own = checkpoint == NULL ? NULL : path_policy_own(paths, arena, checkpoint);
    if (reason == NULL && own != NULL && strcmp(path_basename(own), "checkpoints") != 0)
        reason = arena_sprintf(arena, "%s is the server's own", own);
    if (reason == NULL)
        return OK;
    (void)error_raise(err, STATUS_INVALID_CHECKPOINT_LOCATION, "path", checkpoint, "reason", reason,
                      NULL);
    (void)snprintf(err->pointer, sizeof err->pointer, "/checkpointLocation");
    return diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL);
}
