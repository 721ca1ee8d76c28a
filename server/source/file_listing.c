#include "source/file_listing.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "base/vfs_posix.h"
#include "source/spark_log.h"

#include <stdlib.h>
#include <string.h>

enum file_kind {
    KIND_ROOT,      /* directly in a matched directory, or matched itself */
    KIND_PARTITION, /* below a k=v directory */
    KIND_OTHER,     /* below a plain directory */
};

struct walk {
    struct vfs_visitor visitor;
    const struct listing_config *config;
    struct listing *listing;
    const char *root; /* where partition columns begin */
    const char *top;  /* the matched directory */
    const char *dir;
    bool has_files;
    enum file_kind kind; /* of this directory's files, once has_files */
    const struct walk *parent;
    uint64_t identity; /* of the directory, if the vfs is that of POSIX; else 0 */
    char **subdirs;
    size_t subdir_count;
    size_t subdir_capacity;
};

void listing_init(struct listing *listing)
{
    *listing = (struct listing){.arena = arena_new("batch", 0), .paths = arena_new("batch", 0)};
}

void listing_fini(struct listing *listing)
{
    free(listing->files);
    free(listing->dirs);
    arena_free(listing->arena);
    arena_free(listing->paths);
    *listing = (struct listing){0};
}

void listing_add(struct listing *listing, const struct listed_file *file)
{
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity == 0 ? 64 : listing->capacity * 2;
        listing->files = heap_realloc(listing->files, listing->capacity * sizeof *listing->files);
    }
    struct listed_file *added = &listing->files[listing->count++];
    *added = *file;
    added->path = arena_strdup(listing->paths, file->path);
}

bool listing_name_hidden(const char *name)
{
    static const char copying[] = "._COPYING_";
    size_t size = strlen(name);
    if (name[0] == '.' || (name[0] == '_' && strchr(name, '=') == NULL))
        return true;
    return size >= sizeof copying - 1 && strcmp(name + size - (sizeof copying - 1), copying) == 0;
}

static int compare_paths(const struct listed_file *left, const struct listed_file *right)
{
    return strcmp(left->path, right->path);
}

static int compare_oldest(const void *a, const void *b)
{
    const struct listed_file *left = a;
    const struct listed_file *right = b;
    if (left->mtime_us != right->mtime_us)
        return left->mtime_us < right->mtime_us ? -1 : 1;
    return compare_paths(left, right);
}

static int compare_latest(const void *a, const void *b)
{
    const struct listed_file *left = a;
    const struct listed_file *right = b;
    if (left->mtime_us != right->mtime_us)
        return left->mtime_us > right->mtime_us ? -1 : 1;
    return compare_paths(left, right);
}

void listing_sort(struct listed_file *files, size_t count, bool latest_first)
{
    if (count > 1)
        qsort(files, count, sizeof *files, latest_first ? compare_latest : compare_oldest);
}

static void keep_first(struct listing *listing, size_t keep, bool latest_first)
{
    listing_sort(listing->files, listing->count, latest_first);
    if (listing->count <= keep)
        return;
    struct arena *paths = arena_new("batch", 0);
    for (size_t i = 0; i < keep; i++)
        listing->files[i].path = arena_strdup(paths, listing->files[i].path);
    arena_free(listing->paths);
    listing->paths = paths;
    listing->count = keep;
    listing->truncated = true;
}

/* Beside partition directories no other files count. */
static void drop_uncounted(struct listing *listing)
{
    size_t kept = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (listing->dir_count == 0 || listing->files[i].kind == KIND_PARTITION)
            listing->files[kept++] = listing->files[i];
    listing->count = kept;
}

static enum status add_file(const struct listing_config *config, struct listing *listing,
                            const char *path, enum file_kind kind, struct error *err)
{
    if (config->want != NULL && !config->want(config->arg, path))
        return OK;
    struct vfs_stat stat = {0};
    if (!config->names_only) {
        enum status status = vfs_stat(config->vfs, path, &stat, err);
        if (status == STATUS_FILE_NOT_FOUND)
            return OK; /* gone since the directory was read */
        TRY(status);
        if (stat.mtime_us < config->oldest_us)
            return OK;
    }
    if (config->keep_max > 0 && listing->count >= 2 * config->keep_max)
        drop_uncounted(listing);
    if (config->keep_max > 0 && listing->count >= 2 * config->keep_max)
        keep_first(listing, config->keep_max, config->latest_first);
    listing_add(listing, &(struct listed_file){
                             .path = path,
                             .size_bytes = stat.size_bytes,
                             .mtime_us = stat.mtime_us,
                             .inode = stat.inode,
                             .kind = (uint8_t)kind,
                         });
    return OK;
}

static void add_dir(struct listing *listing, struct partition_dir dir)
{
    if (listing->dir_count == listing->dir_capacity) {
        listing->dir_capacity = listing->dir_capacity == 0 ? 16 : listing->dir_capacity * 2;
        listing->dirs = heap_realloc(listing->dirs, listing->dir_capacity * sizeof *listing->dirs);
    }
    if (listing->dir_count == 0)
        listing->truncated = false; /* what was left out until now does not count */
    listing->dirs[listing->dir_count++] = dir;
}

/* The first file of a directory: what kind of directory is it? */
static enum status note_files(struct walk *walk, struct error *err)
{
    struct listing *listing = walk->listing;
    walk->has_files = true;
    walk->kind = strcmp(walk->dir, walk->top) == 0 ? KIND_ROOT : KIND_OTHER;
    if (walk->config->recursive)
        return OK;
    struct partition_dir dir;
    TRY(partition_path_parse(listing->arena, walk->root, walk->dir, &dir, err));
    if (dir.count > 0) {
        walk->kind = KIND_PARTITION;
        add_dir(listing, dir);
    } else if (walk->kind == KIND_OTHER) {
        listing->plain_dir = arena_strdup(listing->arena, walk->dir);
    } else {
        listing->root_with_files = arena_strdup(listing->arena, walk->dir);
    }
    return OK;
}

static void add_subdir(struct walk *walk, const char *name)
{
    if (walk->subdir_count == walk->subdir_capacity) {
        walk->subdir_capacity = walk->subdir_capacity == 0 ? 16 : walk->subdir_capacity * 2;
        walk->subdirs = heap_realloc(walk->subdirs, walk->subdir_capacity * sizeof *walk->subdirs);
    }
    char *copy = heap_strdup(name);
    walk->subdirs[walk->subdir_count++] = copy;
}

static enum status visit_entry(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                               struct error *err)
{
    struct walk *walk = (struct walk *)visitor;
    if (listing_name_hidden(name))
        return OK;
    if (kind == VFS_DIR) {
        add_subdir(walk, name);
        return OK;
    }
    if (walk->config->name_glob != NULL && !glob_matches(walk->config->name_glob, name))
        return OK;
    if (!walk->has_files)
        TRY(note_files(walk, err));
    /* Only partition directories can make these count, and those were counted above. */
    if (walk->kind == KIND_OTHER && !walk->config->recursive)
        return OK;
    struct arena *request = arena_new("request", 0);
    enum status status =
        add_file(walk->config, walk->listing, path_join(request, walk->dir, name), walk->kind, err);
    arena_free(request);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A link to a directory that it lies in: its files are listed there. */
static bool goes_in_circles(const struct walk *walk)
{
    if (walk->identity == 0)
        return false;
    for (const struct walk *above = walk->parent; above != NULL; above = above->parent)
        if (above->identity == walk->identity)
            return true;
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): limited by LISTING_DEPTH_MAX */
static enum status walk_dir(const struct walk *parent, const char *dir, int depth,
                            struct error *err)
{
    if (depth > LISTING_DEPTH_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the depth of a directory", "limit",
                           "64", NULL);
    struct walk walk = {
        .visitor = {.visit = visit_entry},
        .config = parent->config,
        .listing = parent->listing,
        .root = parent->root,
        .top = parent->top,
        .dir = dir,
        .parent = parent,
        .identity = parent->config->vfs == vfs_posix() ? vfs_posix_identity(dir) : 0,
    };
    if (goes_in_circles(&walk))
        return OK;
    if (walk.config->watch != NULL)
        dir_watch_add(walk.config->watch, dir);
    enum status status = vfs_scan(walk.config->vfs, dir, &walk.visitor, err);
    if (status == STATUS_FILE_NOT_FOUND) /* removed meanwhile */
        status = OK;
    if (walk.subdir_count > 1)
        qsort(walk.subdirs, walk.subdir_count, sizeof *walk.subdirs, compare_names);
    struct arena *request = arena_new("request", 0);
    for (size_t i = 0; i < walk.subdir_count; i++) {
        if (status == OK)
            status = walk_dir(&walk, path_join(request, dir, walk.subdirs[i]), depth + 1, err);
        free(walk.subdirs[i]);
    }
    arena_free(request);
    free(walk.subdirs);
    return status;
}

/* The files that the log of the directory names; the others there are not committed. */
static enum status list_by_log(const struct walk *top, struct error *err)
{
    const struct listing_config *config = top->config;
    struct arena *request = arena_new("request", 0);
    enum status status = OK;
    const char **paths = NULL;
    size_t count = 0;
    struct walk walk = *top;
    walk.dir = NULL;
    top->listing->by_log = true;
    if (config->watch != NULL)
        dir_watch_add(config->watch, path_join(request, top->top, SPARK_LOG_DIR));
    TRY_OUT(spark_log_read(config->vfs, request, top->top, &paths, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *dir = path_dirname(request, paths[i]);
        const char *name = path_basename(paths[i]);
        if (config->name_glob != NULL && !glob_matches(config->name_glob, name))
            continue;
        if (walk.dir == NULL || strcmp(walk.dir, dir) != 0) {
            walk.dir = dir;
            TRY_OUT(note_files(&walk, err));
        }
        TRY_OUT(add_file(config, top->listing, paths[i], walk.kind, err));
    }
out:
    arena_free(request);
    return status;
}

static bool named_plainly(const struct listing_config *config, const char *path)
{
    for (size_t i = 0; i < config->pattern_count; i++)
        if (strcmp(config->patterns[i], path) == 0)
            return true;
    return false;
}

static enum status walk_root(const struct listing_config *config, struct listing *listing,
                             const char *path, struct error *err)
{
    struct vfs_stat stat;
    enum status status = vfs_stat(config->vfs, path, &stat, err);
    if (status == STATUS_FILE_NOT_FOUND && config->watch != NULL) { /* it may come yet */
        dir_watch_add(config->watch, path_dirname(listing->arena, path));
        status = vfs_stat(config->vfs, path, &stat, err);
    }
    if (status == STATUS_FILE_NOT_FOUND)
        return OK;
    TRY(status);
    listing->found_root = true;
    const char *base = config->base_path != NULL && path_is_below(path, config->base_path)
                           ? config->base_path
                           : path;
    if (stat.kind == VFS_DIR) {
        struct walk top = {.config = config, .listing = listing, .root = base, .top = path};
        bool by_log = false;
        if (named_plainly(config, path))
            TRY(spark_log_find(config->vfs, path, &by_log, err));
        return by_log ? list_by_log(&top, err) : walk_dir(&top, path, 0, err);
    }
    const char *name = path_basename(path);
    if (config->watch != NULL)
        dir_watch_add(config->watch, path_dirname(listing->arena, path));
    if (listing_name_hidden(name) || /* even if it is named in full, as in Spark */
        (config->name_glob != NULL && !glob_matches(config->name_glob, name)))
        return OK;
    return add_file(config, listing, path, KIND_ROOT, err);
}

/* Expanding one pattern, component by component. */
struct expansion {
    struct vfs_visitor visitor;
    const char *component;
    struct arena *arena;
    char **names;
    size_t count;
    size_t capacity;
};

static enum status visit_name(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                              struct error *err)
{
    (void)kind;
    (void)err;
    struct expansion *expansion = (struct expansion *)visitor;
    /* As in Hadoop's globs, '*' matches hidden names, too: of a directory all that is not hidden in
     * it is read, and a file is left out by walk_root(). */
    if (!glob_matches(expansion->component, name))
        return OK;
    if (expansion->count == expansion->capacity) {
        expansion->capacity = expansion->capacity == 0 ? 16 : expansion->capacity * 2;
        expansion->names =
            heap_realloc(expansion->names, expansion->capacity * sizeof *expansion->names);
    }
    expansion->names[expansion->count++] = arena_strdup(expansion->arena, name);
    return OK;
}

/* `done` is a path without magic, `rest` what follows it ("" or "a/b*"). */
/* NOLINTNEXTLINE(misc-no-recursion): one level per component of the pattern */
static enum status expand(const struct listing_config *config, struct listing *listing,
                          const char *done, const char *rest, struct error *err)
{
    while (*rest == '/')
        rest++;
    if (*rest == '\0')
        return walk_root(config, listing, done, err);
    struct arena *request = arena_new("request", 0);
    size_t size = strcspn(rest, "/");
    struct expansion expansion = {
        .visitor = {.visit = visit_name},
        .component = arena_strndup(request, rest, size),
        .arena = request,
    };
    enum status status = OK;
    if (!glob_has_magic(expansion.component)) {
        TRY_OUT(expand(config, listing, path_join(request, done, expansion.component), rest + size,
                       err));
        goto out;
    }
    if (config->watch != NULL)
        dir_watch_add(config->watch, done);
    status = vfs_scan(config->vfs, done, &expansion.visitor, err);
    if (status != OK) { /* what is not there, or is no directory, matches nothing */
        struct error ignored = ERROR_INIT;
        struct vfs_stat stat = {0};
        bool is_dir = vfs_stat(config->vfs, done, &stat, &ignored) == OK && stat.kind == VFS_DIR;
        status = is_dir ? status : OK;
        goto out;
    }
    if (expansion.count > 1)
        qsort(expansion.names, expansion.count, sizeof *expansion.names, compare_names);
    for (size_t i = 0; i < expansion.count; i++)
        TRY_OUT(expand(config, listing, path_join(request, done, expansion.names[i]), rest + size,
                       err));
out:
    free(expansion.names);
    arena_free(request);
    return status;
}

static bool same_columns(const struct partition_dir *a, const struct partition_dir *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0)
            return false;
    return true;
}

static char *column_list(struct arena *arena, const struct partition_dir *dir)
{
    char *list = arena_strdup(arena, "");
    for (uint32_t i = 0; i < dir->count; i++)
        list = arena_sprintf(arena, "%s%s%s", list, i > 0 ? ", " : "", dir->columns[i].name);
    return list;
}

static enum status conflicting_bases(struct listing *listing, const char *a, const char *b,
                                     struct error *err)
{
    return error_raise(err, STATUS_CONFLICTING_DIRECTORY_STRUCTURES, "discoveredBasePaths",
                       arena_sprintf(listing->arena, "file:%s, file:%s", a, b), NULL);
}

static enum status check_partitions(struct listing *listing, struct error *err)
{
    listing->partitioned = listing->dir_count > 0;
    if (!listing->partitioned)
        return OK;
    const struct partition_dir *first = &listing->dirs[0];
    if (listing->plain_dir != NULL)
        return conflicting_bases(listing, first->base, listing->plain_dir, err);
    if (listing->root_with_files != NULL && strcmp(listing->root_with_files, first->base) != 0)
        return conflicting_bases(listing, first->base, listing->root_with_files, err);
    for (size_t i = 1; i < listing->dir_count; i++)
        if (strcmp(listing->dirs[i].base, first->base) != 0)
            return conflicting_bases(listing, first->base, listing->dirs[i].base, err);
    for (size_t i = 1; i < listing->dir_count; i++) {
        const struct partition_dir *other = &listing->dirs[i];
        if (!same_columns(first, other))
            return error_raise(
                err, STATUS_CONFLICTING_PARTITION_COLUMN_NAMES, "distinctPartColLists",
                arena_sprintf(listing->arena, "%s; %s", column_list(listing->arena, first),
                              column_list(listing->arena, other)),
                "suspiciousPaths", arena_sprintf(listing->arena, "file:%s", first->base), NULL);
    }
    return OK;
}

enum status listing_run(const struct listing_config *config, struct listing *listing,
                        struct error *err)
{
    CHECK(listing->arena != NULL);
    for (size_t i = 0; i < config->pattern_count; i++)
        TRY(expand(config, listing, "/", config->patterns[i], err));
    TRY(check_partitions(listing, err));
    drop_uncounted(listing);
    listing_sort(listing->files, listing->count, config->latest_first);
    if (config->keep_max > 0 && listing->count > config->keep_max)
        keep_first(listing, config->keep_max, config->latest_first);
    return OK;
}

/* Whether the first components of `path` match the pattern; *rest is what follows them. */
static bool match_root(struct arena *arena, const char *pattern, const char *path,
                       const char **rest)
{
    for (;;) {
        while (*pattern == '/')
            pattern++;
        while (*path == '/')
            path++;
        if (*pattern == '\0') {
            *rest = path;
            return true;
        }
        size_t pattern_size = strcspn(pattern, "/");
        size_t path_size = strcspn(path, "/");
        if (path_size == 0 || !glob_matches(arena_strndup(arena, pattern, pattern_size),
                                            arena_strndup(arena, path, path_size)))
            return false;
        pattern += pattern_size;
        path += path_size;
    }
}

const char *listing_root_of(const struct listing_config *config, struct arena *arena,
                            const char *path)
{
    const char *name = path_basename(path);
    if (config->name_glob != NULL && !glob_matches(config->name_glob, name))
        return NULL;
    for (size_t i = 0; i < config->pattern_count; i++) {
        const char *rest = NULL;
        if (!match_root(arena, config->patterns[i], path, &rest))
            continue;
        bool hidden = *rest == '\0' && listing_name_hidden(name); /* the file itself is matched */
        for (const char *at = rest; *at != '\0' && !hidden;) {
            size_t size = strcspn(at, "/");
            hidden = listing_name_hidden(arena_strndup(arena, at, size));
            at += size + (at[size] == '/');
        }
        if (hidden)
            continue;
        size_t size = (size_t)(rest - path);
        while (size > 1 && path[size - 1] == '/')
            size--;
        return arena_strndup(arena, path, size);
    }
    return NULL;
}

char *listing_prefix(struct arena *arena, const char *pattern)
{
    size_t size = 0;
    for (const char *at = pattern; *at != '\0';) {
        size_t part = 0;
        while (at[part] == '/')
            part++;
        part += strcspn(at + part, "/");
        if (glob_has_magic(arena_strndup(arena, at, part)))
            break;
        at += part;
        size = (size_t)(at - pattern);
    }
    return size == 0 ? arena_strdup(arena, "/") : arena_strndup(arena, pattern, size);
}
