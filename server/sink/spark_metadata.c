#include "sink/spark_metadata.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMPACT_SUFFIX   ".compact"
#define COMPACT_INTERVAL 10
#define BATCHES_KEEP     100
#define BATCHES_CREDIBLE (INT64_C(1) << 40)
#define CLEANUP_DELAY_US INT64_C(600000000)

void spark_metadata_add(struct buffer *lines, const char *path, const struct vfs_stat *stat)
{
    struct buffer uri = {0};
    path_add_uri(&uri, path);
    buffer_add_text(lines, "\n{\"path\":");
    buffer_add_json_string(lines, buffer_bytes(&uri));
    buffer_printf(lines,
                  ",\"size\":%" PRIu64 ",\"isDir\":false,\"modificationTime\":%" PRId64
                  ",\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"}",
                  stat->size_bytes, stat->mtime_us / 1000);
    buffer_fini(&uri);
}

static const char *conf_text(const struct sink_config *config, const char *name)
{
    for (size_t i = 0; i < config->conf_count; i++)
        if (strcmp(config->conf[i].name, name) == 0)
            return config->conf[i].value;
    return NULL;
}

/* A number above zero, or the default. */
static int64_t conf_number(const struct sink_config *config, const char *name, int64_t fallback)
{
    const char *text = conf_text(config, name);
    long long value = text == NULL ? 0 : strtoll(text, NULL, 10);
    return value > 0 ? value : fallback;
}

void spark_metadata_init(struct spark_metadata *log, const struct sink_config *config,
                         const char *dir)
{
    static const char prefix[] = "spark.sql.streaming.fileSink.log.";
    char name[64];
    struct error ignored = ERROR_INIT;
    *log = (struct spark_metadata){
        .vfs = config->vfs,
        .clock = config->clock,
        .dir = dir,
        .cleanup_delay_us = CLEANUP_DELAY_US,
        .retention_us = INT64_MAX,
    };
    (void)snprintf(name, sizeof name, "%scompactInterval", prefix);
    log->interval = conf_number(config, name, COMPACT_INTERVAL);
    log->batches_keep = conf_number(config, "spark.sql.streaming.minBatchesToRetain", BATCHES_KEEP);
    (void)snprintf(name, sizeof name, "%sdeletion", prefix);
    const char *deletion = conf_text(config, name);
    log->deletion = deletion == NULL || strcasecmp(deletion, "true") == 0;
    (void)snprintf(name, sizeof name, "%scleanupDelay", prefix);
    const char *delay = conf_text(config, name);
    if (delay != NULL &&
        duration_parse_short_us(delay, 1000, &log->cleanup_delay_us, &ignored) != OK)
        error_clear(&ignored);
}

static bool is_compact(const struct spark_metadata *log, int64_t batch_id)
{
    return (batch_id + 1) % log->interval == 0;
}

static char *log_path(const struct spark_metadata *log, struct arena *arena, int64_t batch_id)
{
    return arena_sprintf(arena, "%s/" SPARK_METADATA_DIR "/%" PRId64 "%s", log->dir, batch_id,
                         is_compact(log, batch_id) ? COMPACT_SUFFIX : "");
}

/* "12" or "12.compact", but not what no log writes: "012", or more than there are batches. */
static bool parse_name(const char *name, int64_t *batch_id, bool *compact)
{
    char *end = NULL;
    if (name[0] < '0' || name[0] > '9' || (name[0] == '0' && name[1] >= '0' && name[1] <= '9'))
        return false;
    *batch_id = strtoll(name, &end, 10);
    if (*batch_id == INT64_MAX)
        return false;
    *compact = strcmp(end, COMPACT_SUFFIX) == 0;
    return *compact || *end == '\0';
}

/* The last two compact files, or one, or none. */
struct search {
    struct vfs_visitor visitor;
    int64_t last;
    int64_t before;
};

static enum status visit(struct vfs_visitor *visitor, const char *name, enum vfs_kind kind,
                         struct error *err)
{
    (void)kind;
    (void)err;
    struct search *search = (struct search *)visitor;
    int64_t batch_id = 0;
    bool compact = false;
    if (!parse_name(name, &batch_id, &compact) || !compact)
        return OK;
    if (batch_id > search->last) {
        search->before = search->last;
        search->last = batch_id;
    } else if (batch_id > search->before) {
        search->before = batch_id;
    }
    return OK;
}

/*
 * The first divisor of `total` that is no smaller than the interval asked for; `total` itself if
 * that is more than half of it, or if no log has so many batches: then it is what a name claims.
 */
static int64_t fitting_interval(int64_t asked, int64_t total)
{
    if (total <= asked || asked >= total / 2 || total > BATCHES_CREDIBLE)
        return total;
    for (int64_t i = asked; i <= total / i; i++)
        if (total % i == 0)
            return i;
    /* It is above the root: the cofactors below it, down from the largest. */
    int64_t root = 1;
    while ((root + 1) * (root + 1) <= total)
        root++;
    int64_t cofactor = total / asked < root ? total / asked : root;
    while (cofactor >= 2 && total % cofactor != 0)
        cofactor--;
    return cofactor < 2 ? total : total / cofactor;
}

enum status spark_metadata_open(struct spark_metadata *log, struct error *err)
{
    struct arena *arena = arena_new("request", 0);
    struct search search = {.visitor = {.visit = visit}, .last = -1, .before = -1};
    enum status status =
        vfs_scan(log->vfs, path_join(arena, log->dir, SPARK_METADATA_DIR), &search.visitor, err);
    arena_free(arena);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return OK;
    }
    TRY(status);
    if (search.before >= 0)
        log->interval = search.last - search.before;
    else if (search.last >= 0)
        log->interval = fitting_interval(log->interval, search.last + 1);
    return OK;
}

/* When the file of an entry was written; INT64_MAX if the entry does not say. */
static int64_t entry_time_us(struct bytes line)
{
    static const char key[] = "\"modificationTime\":";
    const uint8_t *at = memmem(line.data, line.size_bytes, key, sizeof key - 1);
    if (at == NULL)
        return INT64_MAX;
    int64_t ms = 0;
    const uint8_t *end = line.data + line.size_bytes;
    for (at += sizeof key - 1; at < end && *at >= '0' && *at <= '9' && ms < INT64_MAX / 10000; at++)
        ms = ms * 10 + (*at - '0');
    return ms * 1000;
}

/* Entries, each with the newline before it, but for those that retention lets go. */
static void add_entries(const struct spark_metadata *log, struct bytes entries, struct buffer *out)
{
    if (log->retention_us == INT64_MAX) {
        buffer_add_bytes(out, entries);
        return;
    }
    int64_t oldest_us = clock_now_us(log->clock) - log->retention_us;
    while (entries.size_bytes > 0) {
        const uint8_t *end = memchr(entries.data + 1, '\n', entries.size_bytes - 1);
        size_t size = end == NULL ? entries.size_bytes : (size_t)(end - entries.data);
        struct bytes line = bytes_of(entries.data, size);
        if (entry_time_us(line) >= oldest_us)
            buffer_add_bytes(out, line);
        entries = bytes_of(entries.data + size, entries.size_bytes - size);
    }
}

/* Adds the entries of a log file. */
static enum status add_file(const struct spark_metadata *log, const char *path, struct buffer *out,
                            struct error *err)
{
    struct vfs_map *map = NULL;
    struct bytes content;
    enum status status = vfs_map(log->vfs, path, &map, &content, err);
    if (status == STATUS_FILE_NOT_FOUND) {
        error_clear(err);
        return OK;
    }
    TRY(status);
    if (content.size_bytes < 2 || memcmp(content.data, "v1", 2) != 0) {
        char text[40];
        (void)snprintf(text, sizeof text, "%.*s",
                       (int)(content.size_bytes < 39 ? content.size_bytes : 39),
                       (const char *)content.data);
        status = error_raise(err, STATUS_MALFORMED_LOG_FILE, "text", text, NULL);
    } else {
        add_entries(log, bytes_of(content.data + 2, content.size_bytes - 2), out);
    }
    vfs_unmap(map);
    return status;
}

static enum status compact_before(const struct spark_metadata *log, struct arena *arena,
                                  int64_t batch_id, struct buffer *out, struct error *err)
{
    int64_t first = batch_id + 1 - log->interval;
    if (first > 0)
        TRY(add_file(log, log_path(log, arena, first - 1), out, err));
    for (int64_t id = first; id < batch_id; id++)
        TRY(add_file(log, log_path(log, arena, id), out, err));
    return OK;
}

static enum status put_one(const struct spark_metadata *log, struct arena *arena, int64_t batch_id,
                           struct bytes lines, struct error *err)
{
    struct buffer content = {0};
    enum status status = OK;
    buffer_add_text(&content, "v1");
    if (is_compact(log, batch_id))
        TRY_OUT(compact_before(log, arena, batch_id, &content, err));
    buffer_add_bytes(&content, lines);
    TRY_OUT(vfs_put(log->vfs, log_path(log, arena, batch_id), buffer_bytes(&content), false, err));
out:
    buffer_fini(&content);
    return status;
}

/* Log files that neither Spark nor a later compact file needs.  Those that a crash leaves go with
 * the next compact file. */
static enum status remove_expired(const struct spark_metadata *log, struct arena *arena,
                                  int64_t batch_id, struct error *err)
{
    int64_t oldest = batch_id + 1 - log->batches_keep;
    if (!log->deletion || log->interval > oldest)
        return OK;
    int64_t compact = oldest - oldest % log->interval - 1;
    int64_t expired_us = clock_now_us(log->clock) - log->cleanup_delay_us;
    const char *dir = path_join(arena, log->dir, SPARK_METADATA_DIR);
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    TRY(vfs_list(log->vfs, dir, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        int64_t id = 0;
        bool is_one = false;
        if (parse_name(entries[i].name, &id, &is_one) && id < compact &&
            entries[i].stat.mtime_us <= expired_us)
            TRY(vfs_remove(log->vfs, path_join(arena, dir, entries[i].name), err));
    }
    return OK;
}

enum status spark_metadata_put(const struct spark_metadata *log, int64_t batch_id,
                               struct bytes lines, struct error *err)
{
    CHECK(batch_id >= 0 && log->interval > 0);
    enum status status = OK;
    struct arena *arena = arena_new("request", 0);
    TRY_OUT(vfs_make_dirs(log->vfs, path_join(arena, log->dir, SPARK_METADATA_DIR), err));
    int64_t missing = batch_id;
    for (bool found = false; missing > 0; missing--) {
        TRY_OUT(vfs_find(log->vfs, log_path(log, arena, missing - 1), &found, err));
        if (found)
            break;
    }
    for (; missing < batch_id; missing++)
        TRY_OUT(put_one(log, arena, missing, bytes_of(NULL, 0), err));
    TRY_OUT(put_one(log, arena, batch_id, lines, err));
    if (is_compact(log, batch_id))
        TRY_OUT(remove_expired(log, arena, batch_id, err));
out:
    arena_free(arena);
    return status;
}

enum status spark_metadata_remove(const struct spark_metadata *log, int64_t batch_id,
                                  struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("request", 0);
    const char *path = log_path(log, arena, batch_id);
    bool found = false;
    TRY_OUT(vfs_find(log->vfs, path, &found, err));
    if (found) {
        TRY_OUT(vfs_remove(log->vfs, path, err));
        TRY_OUT(vfs_sync_dir(log->vfs, path_dirname(arena, path), err));
    }
out:
    arena_free(arena);
    return status;
}
