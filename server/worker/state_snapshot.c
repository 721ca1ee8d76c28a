/*
 * See state_snapshot.h.
 */
#include "worker/state_snapshot.h"

#include "base/check.h"
#include "base/path.h"
#include "checkpoint/log_record.h"
#include "worker/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_PREFIX      "snapshot-"
#define PART_SUFFIX      ".part"
#define NAME_DIGITS      20
#define SNAPSHOTS_KEPT   2
#define LOG_BYTES_MIN    ((uint64_t)64 << 20) /* below this the log is short enough */
#define SNAPSHOTS_LISTED 1000

static char *snapshot_path(struct arena *arena, const struct query *query, int64_t version,
                           const char *suffix)
{
    return arena_sprintf(arena, "%s/state/" NAME_PREFIX "%0*" PRId64 "%s",
                         checkpoint_dir(query->checkpoint), NAME_DIGITS, version, suffix);
}

static bool parse_name(const char *name, int64_t *version)
{
    size_t prefix = strlen(NAME_PREFIX);
    if (strncmp(name, NAME_PREFIX, prefix) != 0 || strlen(name) != prefix + NAME_DIGITS)
        return false;
    *version = 0;
    for (const char *digit = name + prefix; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || *version > (INT64_MAX - 9) / 10)
            return false;
        *version = *version * 10 + (*digit - '0');
    }
    return true;
}

/* The versions of which there are snapshots, ascending, in `arena`. */
static enum status list_snapshots(const struct query *query, struct arena *arena, int64_t **out,
                                  size_t *count, struct error *err)
{
    struct vfs *vfs = query->config.vfs;
    char *dir = path_join(arena, checkpoint_dir(query->checkpoint), "state");
    struct vfs_entry *entries = NULL;
    size_t entry_count = 0;
    bool found = false;
    *count = 0;
    TRY(vfs_find(vfs, dir, &found, err));
    if (!found)
        return OK;
    TRY(vfs_list(vfs, dir, arena, &entries, &entry_count, err));
    *out = arena_new_object(arena, (SNAPSHOTS_LISTED + 1) * sizeof **out);
    for (size_t i = 0; i < entry_count && *count < SNAPSHOTS_LISTED; i++)
        if (parse_name(entries[i].name, &(*out)[*count]))
            (*count)++;
    return OK;
}

/* One pass over a snapshot: calls `take` for each STATE record (NULL: only checks).  False: it is
 * damaged or not complete. */
static enum status read_records(struct bytes content, struct stage_graph *take, bool *whole,
                                struct error *err)
{
    uint64_t offset = 0;
    *whole = false;
    for (;;) {
        struct log_record record;
        uint64_t size = 0;
        struct bytes rest = bytes_of(content.data + offset, content.size_bytes - (size_t)offset);
        if (log_record_decode(rest, &record, &size) != RECORD_VALID)
            return OK;
        offset += size;
        if (record.kind == RECORD_CLOSE) {
            *whole = true;
            return OK;
        }
        if (record.kind == RECORD_STATE && take != NULL)
            TRY(stage_graph_restore(take, record.payload, err));
    }
}

static enum status load_file(struct query *query, const char *path, bool *loaded, struct error *err)
{
    struct vfs_map *map = NULL;
    struct bytes content;
    *loaded = false;
    TRY(vfs_map(query->config.vfs, path, &map, &content, err));
    enum status status = read_records(content, NULL, loaded, err);
    if (status == OK && *loaded)
        status = read_records(content, query->graph, loaded, err);
    query->state_snapshot.bytes = content.size_bytes;
    vfs_unmap(map);
    return status;
}

struct state_loader {
    struct state_receiver base;
    struct query *query;
};

static enum status load_record(struct state_receiver *self, struct bytes record, struct error *err)
{
    struct state_loader *loader = (struct state_loader *)self;
    loader->query->state_snapshot.log_bytes += record.size_bytes;
    return stage_graph_restore(loader->query->graph, record, err);
}

static enum status refuse(const struct query *query, struct error *err)
{
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", checkpoint_dir(query->checkpoint),
                       "reason",
                       "no snapshot of the state is whole, and the log does not reach back to the "
                       "first batch",
                       NULL);
}

static bool is_part(const char *name)
{
    size_t prefix = strlen(NAME_PREFIX);
    return strncmp(name, NAME_PREFIX, prefix) == 0 && strlen(name) > prefix + NAME_DIGITS &&
           strcmp(name + prefix + NAME_DIGITS, PART_SUFFIX) == 0;
}

/* What crashes left half written: each may be as large as the state. */
static enum status remove_parts(const struct query *query, struct error *err)
{
    enum status status = OK;
    struct vfs *vfs = query->config.vfs;
    struct arena *arena = arena_new("snapshots", 0);
    char *dir = path_join(arena, checkpoint_dir(query->checkpoint), "state");
    struct vfs_entry *entries = NULL;
    size_t count = 0;
    if (vfs_exists(vfs, dir))
        TRY_OUT(vfs_list(vfs, dir, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++)
        if (is_part(entries[i].name))
            TRY_OUT(vfs_remove(vfs, path_join(arena, dir, entries[i].name), err));
out:
    arena_free(arena);
    return status;
}

/* The newest snapshot that is good, NO_BATCH if there is none. */
static enum status load_newest(struct query *query, int64_t version, int64_t *loaded_version,
                               struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("snapshots", 0);
    int64_t *versions = NULL;
    size_t count = 0;
    bool loaded = false;
    *loaded_version = NO_BATCH;
    TRY_OUT(list_snapshots(query, arena, &versions, &count, err));
    for (size_t i = count; i-- > 0 && !loaded;) {
        if (versions[i] > version)
            continue;
        char *path = snapshot_path(arena, query, versions[i], "");
        TRY_OUT(load_file(query, path, &loaded, err));
        if (loaded)
            *loaded_version = versions[i];
        else
            log_event(query->config.log, LOG_WARN, "snapshot_damaged",
                      (struct log_field[]){log_text("path", path), {0}});
    }
out:
    arena_free(arena);
    return status;
}

enum status state_snapshot_load(struct query *query, int64_t version, struct error *err)
{
    struct state_loader loader = {.base = {.receive = load_record}, .query = query};
    if (!stage_graph_has_state(query->graph))
        return OK;
    checkpoint_hold(query->checkpoint, 0); /* without a snapshot all changes are needed */
    query->state_snapshot.version = NO_BATCH;
    query->state_snapshot.before = NO_BATCH;
    TRY(remove_parts(query, err));
    if (version == NO_BATCH)
        return OK;
    int64_t loaded = NO_BATCH;
    TRY(load_newest(query, version, &loaded, err));
    if (checkpoint_first_batch(query->checkpoint) > loaded + 1)
        return refuse(query, err);
    query->state_snapshot.version = loaded;
    return checkpoint_replay_state(query->checkpoint, loaded + 1, version, &loader.base, err);
}

static enum status append_record(struct vfs_file *file, enum record_kind kind, int64_t version,
                                 struct bytes payload, struct error *err)
{
    static const uint8_t zeros[8];
    uint8_t header[LOG_RECORD_HEADER_SIZE];
    struct log_record record = {.kind = kind, .batch_id = version, .payload = payload};
    size_t padding =
        (size_t)(log_record_size(payload.size_bytes) - LOG_RECORD_HEADER_SIZE - payload.size_bytes);
    log_record_encode_header(&record, header);
    TRY(vfs_append(file, bytes_of(header, sizeof header), err));
    TRY(vfs_append(file, payload, err));
    return vfs_append(file, bytes_of(zeros, padding), err);
}

static enum status write_state(struct query *query, struct vfs_file *file, int64_t version,
                               struct error *err)
{
    struct buffer buffer = {0};
    enum status status = append_record(file, RECORD_START, version, bytes_of("", 0), err);
    uint64_t written = 0;
    for (uint32_t i = 0; status == OK && i < query->graph->count; i++) {
        struct stage *stage = &query->graph->stages[i];
        for (uint32_t p = 0;
             status == OK && stage_is_partitioned(stage) && p < stage->pipeline_count; p++)
            for (uint32_t c = 0; status == OK && c < pipeline_change_count(stage->pipelines[p]);
                 c++) {
                buffer_clear(&buffer);
                status = pipeline_dump(stage->pipelines[p], c, &buffer, err);
                if (status != OK || buffer.size_bytes <= CHANGELOG_HEADER_BYTES)
                    continue;
                written += buffer.size_bytes;
                status = append_record(file, RECORD_STATE, version, buffer_bytes(&buffer), err);
            }
    }
    buffer_fini(&buffer);
    if (status == OK)
        status = append_record(file, RECORD_CLOSE, version, bytes_of("", 0), err);
    query->state_snapshot.bytes = written;
    return status;
}

/* What is half written only takes space, which may be what is missing. */
static void remove_part(const struct snapshot_job *job)
{
    struct error ignored = ERROR_INIT;
    if (vfs_remove(job->vfs, job->from, &ignored) != OK)
        error_clear(&ignored); /* the next start finds it */
}

/* In the background: only the file and its names are touched. */
static void make_durable(void *arg)
{
    struct snapshot_job *job = arg;
    struct error err = ERROR_INIT;
    enum status status = vfs_sync(job->file, &err);
    vfs_close(job->file);
    if (status == OK)
        status = vfs_rename(job->vfs, job->from, job->to, &err);
    if (status == OK)
        status = vfs_sync_dir(job->vfs, job->dir, &err);
    if (status != OK)
        remove_part(job);
    atomic_store(&job->state, status == OK ? SNAPSHOT_DONE : SNAPSHOT_FAILED);
}

static enum status begin_snapshot(struct query *query, int64_t version, struct error *err)
{
    struct snapshot_job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    struct arena *arena = arena_new("snapshot", 0);
    *job = (struct snapshot_job){.vfs = query->config.vfs, .version = version, .arena = arena};
    job->dir = path_join(arena, checkpoint_dir(query->checkpoint), "state");
    job->from = snapshot_path(arena, query, version, PART_SUFFIX);
    job->to = snapshot_path(arena, query, version, "");
    atomic_init(&job->state, SNAPSHOT_RUNNING);
    enum status status = vfs_make_dirs(job->vfs, job->dir, err);
    if (status == OK)
        status = vfs_open(job->vfs, job->from, 0, 0, &job->file, err);
    if (status == OK)
        status = write_state(query, job->file, version, err);
    if (status != OK) {
        vfs_close(job->file);
        remove_part(job);
        arena_free(arena);
        free(job);
        return status;
    }
    query->state_snapshot.job = job;
    query->state_snapshot.log_bytes = 0;
    if (query->background == NULL)
        query->background = background_new();
    if (!background_submit(query->background, make_durable, job))
        make_durable(job);
    return OK;
}

/* Removes all but the newest snapshots. */
static enum status remove_old(struct query *query, struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("snapshots", 0);
    int64_t *versions = NULL;
    size_t count = 0;
    TRY_OUT(list_snapshots(query, arena, &versions, &count, err));
    for (size_t i = 0; i + SNAPSHOTS_KEPT < count; i++)
        TRY_OUT(vfs_remove(query->config.vfs, snapshot_path(arena, query, versions[i], ""), err));
out:
    arena_free(arena);
    return status;
}

static enum status finish_job(struct query *query, struct error *err)
{
    struct query_snapshot *snapshot = &query->state_snapshot;
    struct snapshot_job *job = snapshot->job;
    int state = atomic_load(&job->state);
    if (state == SNAPSHOT_RUNNING)
        return OK;
    snapshot->job = NULL;
    int64_t version = job->version;
    arena_free(job->arena);
    free(job);
    if (state == SNAPSHOT_FAILED) {
        log_event(query->config.log, LOG_WARN, "snapshot_failed",
                  (struct log_field[]){log_i64("version", version), {0}});
        return OK; /* the log has everything: the next one will do */
    }
    snapshot->before = snapshot->version;
    snapshot->version = version;
    checkpoint_hold(query->checkpoint, snapshot->before == NO_BATCH ? 0 : snapshot->before + 1);
    return remove_old(query, err);
}

enum status state_snapshot_consider(struct query *query, int64_t version, struct error *err)
{
    struct query_snapshot *snapshot = &query->state_snapshot;
    if (!stage_graph_has_state(query->graph))
        return OK;
    if (snapshot->job != NULL)
        return finish_job(query, err);
    uint64_t limit = snapshot->bytes * 2;
    if (limit < LOG_BYTES_MIN)
        limit = LOG_BYTES_MIN;
    if (snapshot->log_bytes < limit)
        return OK;
    return begin_snapshot(query, version, err);
}

void state_snapshot_close(struct query *query)
{
    struct snapshot_job *job = query->state_snapshot.job;
    background_free(query->background);
    query->background = NULL;
    if (job != NULL) {
        arena_free(job->arena);
        free(job);
    }
    query->state_snapshot.job = NULL;
}
