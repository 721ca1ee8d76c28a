#include "source/spark_log.h"

#include "base/buffer.h"
#include "base/heap.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define LOG_FILE_MAX ((size_t)1 << 30)

struct log_reader {
    struct vfs *vfs;
    struct arena *arena;
    const char **paths; /* heap while it grows */
    size_t count;
    size_t capacity;
};

enum status spark_log_find(struct vfs *vfs, const char *dir, bool *found, struct error *err)
{
    struct arena *request = arena_new("request", 0);
    enum status status = vfs_find(vfs, path_join(request, dir, SPARK_LOG_DIR), found, err);
    arena_free(request);
    return status;
}

/* The batch id of a log file's name, -1 if it is none; *compact tells "9.compact" from "9". */
static int64_t batch_of(const char *name, bool *compact)
{
    char *end = NULL;
    long long id = strtoll(name, &end, 10);
    if (end == name || name[0] < '0' || name[0] > '9')
        return -1;
    *compact = strcmp(end, ".compact") == 0;
    return *compact || *end == '\0' ? id : -1;
}

/* The value of "path" in one entry, as a path of this machine; NULL: there is none. */
static const char *entry_path(struct arena *arena, const char *line)
{
    static const char key[] = "\"path\":\"";
    const char *at = strstr(line, key);
    if (at == NULL || strstr(line, "\"action\":\"delete\"") != NULL)
        return NULL;
    struct buffer uri = {0};
    for (at += sizeof key - 1; *at != '"' && *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        buffer_add_byte(&uri, (uint8_t)*at);
    }
    struct buffer path = {0};
    percent_decode(&path, bytes_of_text(path_strip_file_scheme(buffer_text(&uri))));
    const char *result = path_normalize(arena, buffer_text(&path));
    buffer_fini(&uri);
    buffer_fini(&path);
    return result;
}

static void add_path(struct log_reader *reader, const char *path)
{
    if (reader->count == reader->capacity) {
        reader->capacity = reader->capacity == 0 ? 64 : reader->capacity * 2;
        reader->paths = heap_realloc(reader->paths, reader->capacity * sizeof *reader->paths);
    }
    reader->paths[reader->count++] = path;
}

static enum status read_log_file(struct log_reader *reader, const char *path, struct error *err)
{
    struct bytes content;
    TRY(vfs_get(reader->vfs, path, LOG_FILE_MAX, reader->arena, &content, err));
    char *text = arena_strndup(reader->arena, content.data, content.size_bytes);
    char *line = strsep(&text, "\n");
    if (line == NULL || strcmp(line, "v1") != 0)
        return error_raise(err, STATUS_MALFORMED_LOG_FILE, "text", line == NULL ? "" : line, NULL);
    for (line = strsep(&text, "\n"); line != NULL; line = strsep(&text, "\n")) {
        const char *file = entry_path(reader->arena, line);
        if (file != NULL)
            add_path(reader, file);
    }
    return OK;
}

struct log_file {
    int64_t batch_id;
    const char *name;
};

static int compare_files(const void *a, const void *b)
{
    const struct log_file *left = a;
    const struct log_file *right = b;
    return left->batch_id < right->batch_id ? -1 : left->batch_id > right->batch_id;
}

/* The newest compact file and what follows it. */
static enum status files_to_read(struct log_reader *reader, const char *dir, struct log_file **out,
                                 size_t *count, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t entry_count = 0;
    TRY(vfs_list(reader->vfs, dir, reader->arena, &entries, &entry_count, err));
    struct log_file *files = arena_new_object(reader->arena, (entry_count + 1) * sizeof *files);
    int64_t newest_compact = -1;
    bool compact = false;
    for (size_t i = 0; i < entry_count; i++) {
        int64_t id = batch_of(entries[i].name, &compact);
        if (id > newest_compact && compact)
            newest_compact = id;
    }
    *count = 0;
    for (size_t i = 0; i < entry_count; i++) {
        int64_t id = batch_of(entries[i].name, &compact);
        if (id > newest_compact || (id >= 0 && id == newest_compact && compact))
            files[(*count)++] = (struct log_file){.batch_id = id, .name = entries[i].name};
    }
    if (*count > 1)
        qsort(files, *count, sizeof *files, compare_files);
    *out = files;
    return OK;
}

enum status spark_log_read(struct vfs *vfs, struct arena *arena, const char *dir, const char ***out,
                           size_t *count, struct error *err)
{
    enum status status = OK;
    struct log_reader reader = {.vfs = vfs, .arena = arena};
    struct log_file *files = NULL;
    size_t file_count = 0;
    const char *log_dir = path_join(arena, dir, SPARK_LOG_DIR);
    TRY_OUT(files_to_read(&reader, log_dir, &files, &file_count, err));
    for (size_t i = 0; i < file_count; i++)
        TRY_OUT(read_log_file(&reader, path_join(arena, log_dir, files[i].name), err));
    const char **paths = arena_new_object(arena, (reader.count + 1) * sizeof *paths);
    if (reader.count > 0)
        memcpy(paths, reader.paths, reader.count * sizeof *paths);
    *out = paths;
    *count = reader.count;
out:
    free(reader.paths);
    return status;
}
