#include "sink/spark_metadata.h"

#include "base/check.h"
#include "base/path.h"

#include <inttypes.h>
#include <string.h>

#define LOG_FILE_MAX ((size_t)1 << 30)

/* Blank and '%' are encoded, and what no URI may hold; letters beyond ASCII stay. */
static void add_path(struct buffer *out, const char *path)
{
    static const char encoded[] = " %\"<>\\^`{|}#?[]";
    buffer_add_text(out, "file://");
    for (; *path != '\0'; path++) {
        uint8_t c = (uint8_t)*path;
        if (c < 0x20 || c == 0x7f || strchr(encoded, c) != NULL)
            buffer_printf(out, "%%%02X", (unsigned)c);
        else
            buffer_add_byte(out, c);
    }
}

void spark_metadata_add(struct buffer *lines, const char *path, const struct vfs_stat *stat)
{
    struct buffer uri = {0};
    add_path(&uri, path);
    buffer_add_text(lines, "\n{\"path\":");
    buffer_add_json_string(lines, buffer_bytes(&uri));
    buffer_printf(lines,
                  ",\"size\":%" PRIu64 ",\"isDir\":false,\"modificationTime\":%" PRId64
                  ",\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"}",
                  stat->size_bytes, stat->mtime_us / 1000);
    buffer_fini(&uri);
}

static bool is_compact(int64_t batch_id)
{
    return (batch_id + 1) % SPARK_METADATA_COMPACT == 0;
}

static char *log_path(struct arena *arena, const char *dir, int64_t batch_id)
{
    return arena_sprintf(arena, "%s/" SPARK_METADATA_DIR "/%" PRId64 "%s", dir, batch_id,
                         is_compact(batch_id) ? ".compact" : "");
}

/* Appends the entries of a log file, with the newline before each. */
static enum status append_entries(struct vfs *vfs, struct arena *arena, const char *path,
                                  struct buffer *out, struct error *err)
{
    struct bytes content;
    enum status status = vfs_get(vfs, path, LOG_FILE_MAX, arena, &content, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return OK;
    }
    TRY(status);
    if (content.size_bytes < 2 || memcmp(content.data, "v1", 2) != 0)
        return error_raise(
            err, STATUS_MALFORMED_LOG_FILE, "text",
            arena_strndup(arena, content.data, content.size_bytes < 40 ? content.size_bytes : 40),
            NULL);
    buffer_add(out, content.data + 2, content.size_bytes - 2);
    return OK;
}

static enum status compact_before(struct vfs *vfs, struct arena *arena, const char *dir,
                                  int64_t batch_id, struct buffer *out, struct error *err)
{
    int64_t first = batch_id + 1 - SPARK_METADATA_COMPACT;
    if (first > 0)
        TRY(append_entries(vfs, arena, log_path(arena, dir, first - 1), out, err));
    for (int64_t id = first; id < batch_id; id++)
        TRY(append_entries(vfs, arena, log_path(arena, dir, id), out, err));
    return OK;
}

static enum status put_one(struct vfs *vfs, struct arena *arena, const char *dir, int64_t batch_id,
                           struct bytes lines, struct error *err)
{
    struct buffer content = {0};
    enum status status = OK;
    buffer_add_text(&content, "v1");
    if (is_compact(batch_id))
        TRY_OUT(compact_before(vfs, arena, dir, batch_id, &content, err));
    buffer_add_bytes(&content, lines);
    TRY_OUT(vfs_put(vfs, log_path(arena, dir, batch_id), buffer_bytes(&content), false, err));
out:
    buffer_fini(&content);
    return status;
}

enum status spark_metadata_put(struct vfs *vfs, const char *dir, int64_t batch_id,
                               struct bytes lines, struct error *err)
{
    CHECK(batch_id >= 0);
    enum status status = OK;
    struct arena *arena = arena_new("request", 0);
    TRY_OUT(vfs_make_dirs(vfs, path_join(arena, dir, SPARK_METADATA_DIR), err));
    int64_t missing = batch_id;
    for (bool found = false; missing > 0; missing--) {
        TRY_OUT(vfs_find(vfs, log_path(arena, dir, missing - 1), &found, err));
        if (found)
            break;
    }
    for (; missing < batch_id; missing++)
        TRY_OUT(put_one(vfs, arena, dir, missing, bytes_of(NULL, 0), err));
    TRY_OUT(put_one(vfs, arena, dir, batch_id, lines, err));
out:
    arena_free(arena);
    return status;
}

enum status spark_metadata_remove(struct vfs *vfs, const char *dir, int64_t batch_id,
                                  struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("request", 0);
    const char *path = log_path(arena, dir, batch_id);
    bool found = false;
    TRY_OUT(vfs_find(vfs, path, &found, err));
    if (found) {
        TRY_OUT(vfs_remove(vfs, path, err));
        TRY_OUT(vfs_sync_dir(vfs, path_dirname(arena, path), err));
    }
out:
    arena_free(arena);
    return status;
}
