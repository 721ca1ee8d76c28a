/*
 * Segments of the checkpoint log.  See checkpoint_log.h; the bytes are in log_record.h.
 */
#include "checkpoint/checkpoint_log.h"

#include "base/check.h"
#include "base/heap.h"
#include "base/path.h"
#include "checkpoint/batch_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE_PAYLOAD  ((size_t)1 << 20) /* written without a copy */
#define LOG_MAGIC      0x7109c4e2U
#define SEGMENT_DIGITS 20
#define SEGMENTS_MAX   100000

struct checkpoint_log {
    uint32_t magic;
    struct vfs *vfs;
    char *dir;
    uint32_t epoch;
    struct vfs_file *file; /* the last segment; NULL before the first one is begun */
    int64_t segment;
    uint64_t size;   /* bytes appended to it */
    uint64_t synced; /* ... that are durable */
    struct buffer scratch;
};

static char *segment_path(struct arena *arena, const char *dir, int64_t first_batch)
{
    return arena_sprintf(arena, "%s/%0*" PRId64, dir, SEGMENT_DIGITS, first_batch);
}

static bool segment_parse(const char *name, int64_t *first_batch)
{
    if (strlen(name) != SEGMENT_DIGITS)
        return false;
    int64_t value = 0;
    for (int i = 0; i < SEGMENT_DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9' || value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (name[i] - '0');
    }
    *first_batch = value;
    return true;
}

static enum status corrupt(struct error *err, const char *path, const char *fmt, ...) PRINTF(3, 4);

static enum status corrupt(struct error *err, const char *path, const char *fmt, ...)
{
    char reason[256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", path, "reason", reason, NULL);
}

/* The segments of a log in ascending order, in `arena`.  A missing directory has none. */
static enum status list_segments(struct vfs *vfs, const char *dir, struct arena *arena,
                                 int64_t **out, size_t *count, struct error *err)
{
    struct vfs_entry *entries = NULL;
    size_t entry_count = 0;
    *out = NULL;
    *count = 0;
    bool found = false;
    TRY(vfs_find(vfs, dir, &found, err));
    if (!found)
        return OK;
    TRY(vfs_list(vfs, dir, arena, &entries, &entry_count, err));
    if (entry_count > SEGMENTS_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "segments of a checkpoint log",
                           "limit", "100000", NULL);
    int64_t *segments = arena_new_object(arena, (entry_count + 1) * sizeof *segments);
    for (size_t i = 0; i < entry_count; i++)
        if (entries[i].stat.kind == VFS_FILE && segment_parse(entries[i].name, &segments[*count]))
            (*count)++;
    *out = segments;
    return OK;
}

/* Whether a whole record after `offset` says that more than `offset` bytes had been synced. */
static bool was_synced(struct bytes content, uint64_t offset)
{
    for (uint64_t at = offset + 8; at + LOG_RECORD_HEADER_SIZE <= content.size_bytes; at += 8) {
        const uint8_t *data = content.data + at;
        struct log_record record;
        uint64_t size = 0;
        if (data[4] != 'T' || data[5] != 'R')
            continue;
        if (log_record_decode(bytes_of(data, (size_t)(content.size_bytes - at)), &record, &size) ==
                RECORD_VALID &&
            record.synced > offset)
            return true;
    }
    return false;
}

/* One segment being read. */
struct segment_scan {
    const char *path;
    int64_t first_batch;
    bool last;
    struct bytes content;
    struct vfs_map *map;
};

static uint64_t used_bytes(struct bytes content)
{
    size_t size = content.size_bytes;
    while (size > 0 && content.data[size - 1] == 0)
        size--;
    return size;
}

/* Nothing valid at `offset`: the end, a torn tail, or damage. */
static enum status end_segment(const struct segment_scan *scan, enum record_verdict verdict,
                               uint64_t offset, struct log_summary *out, struct error *err)
{
    uint64_t used = used_bytes(scan->content);
    if (verdict == RECORD_UNSUPPORTED) {
        char version[16];
        (void)snprintf(version, sizeof version, "%d.%d", scan->content.data[offset + 6],
                       scan->content.data[offset + 7]);
        return error_raise(err, STATUS_CHECKPOINT__UNSUPPORTED_VERSION, "path", scan->path,
                           "version", version, "supported", "1", NULL);
    }
    if (!scan->last && used > offset)
        return corrupt(err, scan->path, "the record at byte %" PRIu64 " does not check", offset);
    if (used > offset && was_synced(scan->content, offset))
        return corrupt(err, scan->path,
                       "the record at byte %" PRIu64 " does not check, although it was durable",
                       offset);
    out->end = offset;
    out->torn_bytes = used > offset ? used - offset : 0;
    return OK;
}

static enum status visit_segment(const struct segment_scan *scan, struct log_visitor *visitor,
                                 struct log_summary *out, struct error *err)
{
    uint64_t offset = 0;
    for (;;) {
        struct log_record record;
        uint64_t size = 0;
        struct bytes rest =
            bytes_of(scan->content.data + offset, (size_t)(scan->content.size_bytes - offset));
        enum record_verdict verdict = log_record_decode(rest, &record, &size);
        if (verdict != RECORD_VALID)
            return end_segment(scan, verdict, offset, out, err);
        if (offset == 0 && record.kind != RECORD_START)
            return corrupt(err, scan->path, "the segment does not begin with START");
        if (record.synced > offset)
            return corrupt(err, scan->path, "the record at byte %" PRIu64 " is out of place",
                           offset);
        struct log_position position = {.segment = scan->first_batch, .offset = offset};
        if (visitor != NULL)
            TRY(visitor->visit(visitor, &record, &position, err));
        out->records++;
        out->size_bytes += size;
        offset += size;
        vfs_map_passed(scan->map, (size_t)offset);
        if (visitor != NULL && visitor->done)
            return OK;
    }
}

static enum status scan_one(struct vfs *vfs, struct segment_scan *scan, struct log_visitor *visitor,
                            struct log_summary *out, struct error *err)
{
    TRY(vfs_map(vfs, scan->path, &scan->map, &scan->content, err));
    enum status status = visit_segment(scan, visitor, out, err);
    vfs_unmap(scan->map);
    return status;
}

enum status checkpoint_log_scan(struct vfs *vfs, const char *dir, struct log_visitor *visitor,
                                struct log_summary *out, struct error *err)
{
    return checkpoint_log_scan_from(vfs, dir, NO_BATCH, visitor, out, err);
}

enum status checkpoint_log_scan_from(struct vfs *vfs, const char *dir, int64_t batch_id,
                                     struct log_visitor *visitor, struct log_summary *out,
                                     struct error *err)
{
    enum status status = OK;
    struct arena *arena = arena_new("checkpoint log scan", 0);
    int64_t *segments = NULL;
    size_t count = 0;
    *out = (struct log_summary){.last_segment = NO_BATCH};
    TRY_OUT(list_segments(vfs, dir, arena, &segments, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && segments[i + 1] <= batch_id)
            continue;
        struct segment_scan scan = {
            .path = segment_path(arena, dir, segments[i]),
            .first_batch = segments[i],
            .last = i + 1 == count,
        };
        TRY_OUT(scan_one(vfs, &scan, visitor, out, err));
        if (visitor != NULL && visitor->done)
            break;
        if (!scan.last && out->end == 0) {
            status = corrupt(err, scan.path, "the segment is empty");
            goto out;
        }
        out->last_segment = segments[i];
        out->segments++;
    }
out:
    arena_free(arena);
    return status;
}

enum status checkpoint_log_read(struct vfs *vfs, const char *dir,
                                const struct log_position *position, struct arena *arena,
                                struct log_record *out, struct error *err)
{
    struct vfs_map *map = NULL;
    struct bytes content;
    const char *path = segment_path(arena, dir, position->segment);
    TRY(vfs_map(vfs, path, &map, &content, err));
    uint64_t size = 0;
    enum status status = OK;
    if (position->offset > content.size_bytes ||
        log_record_decode(bytes_of(content.data + position->offset,
                                   (size_t)(content.size_bytes - position->offset)),
                          out, &size) != RECORD_VALID)
        status =
            corrupt(err, path, "the record at byte %" PRIu64 " does not check", position->offset);
    else
        out->payload = arena_copy(arena, out->payload);
    vfs_unmap(map);
    return status;
}

static enum status open_segment(struct checkpoint_log *log, int64_t first_batch, uint64_t end,
                                struct error *err)
{
    struct arena *arena = arena_new("segment path", 0);
    const char *path = segment_path(arena, log->dir, first_batch);
    enum status status = vfs_open(log->vfs, path, end, LOG_PREALLOCATE_BYTES, &log->file, err);
    arena_free(arena);
    log->segment = first_batch;
    log->size = end;
    log->synced = end;
    return status;
}

enum status checkpoint_log_open(struct vfs *vfs, const char *dir, uint32_t epoch,
                                const struct log_summary *summary, struct checkpoint_log **out,
                                struct error *err)
{
    struct checkpoint_log *log = heap_calloc(1, sizeof *log);
    *log = (struct checkpoint_log){
        .magic = LOG_MAGIC,
        .vfs = vfs,
        .dir = heap_strdup(dir),
        .epoch = epoch,
        .segment = NO_BATCH,
    };
    enum status status = vfs_make_dirs(vfs, dir, err);
    if (status == OK && summary->last_segment != NO_BATCH)
        status = open_segment(log, summary->last_segment, summary->end, err);
    /* What a killed process left may be in the page cache only, and recovery builds on it. */
    if (status == OK && log->file != NULL)
        status = vfs_sync(log->file, err);
    if (status != OK) {
        checkpoint_log_close(log);
        return status;
    }
    *out = log;
    return OK;
}

void checkpoint_log_close(struct checkpoint_log *log)
{
    if (log == NULL)
        return;
    CHECK_MAGIC(log, LOG_MAGIC);
    vfs_close(log->file);
    buffer_fini(&log->scratch);
    free(log->dir);
    log->magic = 0;
    free(log);
}

static enum status append_whole(struct checkpoint_log *log, const struct log_record *record,
                                struct error *err)
{
    buffer_clear(&log->scratch);
    log_record_encode(record, &log->scratch);
    return vfs_append(log->file, buffer_bytes(&log->scratch), err);
}

/* The same bytes without a copy of the payload.  What a failure leaves is a torn record either way.
 */
static enum status append_in_pieces(struct checkpoint_log *log, const struct log_record *record,
                                    struct error *err)
{
    static const uint8_t zeros[LOG_RECORD_HEADER_SIZE] = {0};
    uint8_t header[LOG_RECORD_HEADER_SIZE];
    log_record_encode_header(record, header);
    size_t size = record->payload.size_bytes;
    size_t padding = (size_t)log_record_size(size) - size - sizeof header;
    CHECK(padding <= sizeof zeros);
    TRY(vfs_append(log->file, bytes_of(header, sizeof header), err));
    TRY(vfs_append(log->file, record->payload, err));
    return padding == 0 ? OK : vfs_append(log->file, bytes_of(zeros, padding), err);
}

enum status checkpoint_log_append(struct checkpoint_log *log, enum record_kind kind,
                                  int64_t batch_id, struct bytes payload,
                                  struct log_position *position, struct error *err)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    CHECK(log->file != NULL);
    CHECK(log->size != 0 || kind == RECORD_START);
    struct log_record record = {
        .kind = kind,
        .epoch = log->epoch,
        .batch_id = batch_id,
        .synced = log->synced,
        .payload = payload,
    };
    if (payload.size_bytes > LOG_RECORD_PAYLOAD_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "a record of the checkpoint log",
                           "limit", "4294967296", NULL);
    if (payload.size_bytes > LARGE_PAYLOAD)
        TRY(append_in_pieces(log, &record, err));
    else
        TRY(append_whole(log, &record, err));
    if (position != NULL)
        *position = (struct log_position){.segment = log->segment, .offset = log->size};
    log->size += log_record_size(payload.size_bytes);
    if (log->scratch.capacity_bytes > LOG_SEGMENT_BYTES)
        buffer_fini(&log->scratch);
    return OK;
}

enum status checkpoint_log_sync(struct checkpoint_log *log, struct error *err)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    if (log->file == NULL || checkpoint_log_is_synced(log))
        return OK;
    TRY(vfs_sync(log->file, err));
    log->synced = log->size;
    return OK;
}

bool checkpoint_log_is_synced(const struct checkpoint_log *log)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    return log->synced == log->size;
}

bool checkpoint_log_is_full(const struct checkpoint_log *log, uint64_t segment_bytes,
                            int64_t next_batch)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    return log->file == NULL || (log->size >= segment_bytes && next_batch > log->segment);
}

enum status checkpoint_log_rotate(struct checkpoint_log *log, int64_t first_batch,
                                  struct error *err)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    CHECK(first_batch > log->segment);
    TRY(checkpoint_log_sync(log, err));
    vfs_close(log->file);
    log->file = NULL;
    return open_segment(log, first_batch, 0, err);
}

enum status checkpoint_log_trim(struct checkpoint_log *log, int64_t oldest, uint32_t *removed,
                                struct error *err)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    enum status status = OK;
    struct arena *arena = arena_new("checkpoint log trim", 0);
    int64_t *segments = NULL;
    size_t count = 0;
    *removed = 0;
    TRY_OUT(list_segments(log->vfs, log->dir, arena, &segments, &count, err));
    for (size_t i = 0; i + 1 < count && segments[i + 1] <= oldest; i++) {
        TRY_OUT(vfs_remove(log->vfs, segment_path(arena, log->dir, segments[i]), err));
        (*removed)++;
    }
    if (*removed > 0)
        status = vfs_sync_dir(log->vfs, log->dir, err);
out:
    arena_free(arena);
    return status;
}

uint64_t checkpoint_log_segment_bytes(const struct checkpoint_log *log)
{
    CHECK_MAGIC(log, LOG_MAGIC);
    return log->size;
}
