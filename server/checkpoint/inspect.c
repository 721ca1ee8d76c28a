/*
 * See inspect.h.
 */
#include "checkpoint/inspect.h"

#include "base/check.h"
#include "base/path.h"
#include "checkpoint/epoch.h"
#include "checkpoint/identity.h"
#include "checkpoint/log_history.h"
#include "checkpoint/log_index.h"
#include "checkpoint/recovery.h"
#include "checkpoint/snapshot_list.h"
#include "source/file_range.h"
#include "state/state_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEXT_START_SIZE 256

struct inspection {
    struct arena *arena;
    struct identity identity;
    struct log_index index;
    struct log_summary summary;
    int64_t snapshots_end;
};

static enum status look(struct vfs *vfs, const char *dir, struct inspection *out, struct error *err)
{
    bool found = false;
    log_index_init(&out->index, 0, out->arena);
    TRY(identity_read(vfs, dir, &out->identity, &found, err));
    if (!found)
        return error_raise(err, STATUS_CHECKPOINT_NOT_FOUND, "path", dir, NULL);
    const char *log_dir = path_join(out->arena, dir, "log");
    TRY(snapshot_list_end(vfs, dir, &out->snapshots_end, err)); /* before a live one goes on */
    TRY(log_index_build(&out->index, vfs, log_dir, &out->summary, err));
    if (out->summary.records == 0 && vfs_exists(vfs, path_join(out->arena, dir, "begun")))
        return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", log_dir, "reason",
                           "its records are gone, though this query has run", NULL);
    return OK;
}

static struct recovery_facts facts_of(const struct inspection *it)
{
    const struct log_index *index = &it->index;
    return (struct recovery_facts){
        .last_intent = index->last_intent,
        .last_changes = index->last_changes,
        .last_commit = index->last_commit,
        .last_sink_due = index->last_sink_due,
        .replay_end = index->replay_end,
        .sink_last = SINK_CANNOT_TELL,
        .snapshots_end = it->snapshots_end,
    };
}

/* What a start does, as far as the log alone can say: the names are those of the start plan. */
static const char *next_start(const struct inspection *it, char text[NEXT_START_SIZE])
{
    const struct log_index *index = &it->index;
    struct recovery_facts facts = facts_of(it);
    int64_t batch = index->last_intent;
    switch (recovery_decide(&facts)) {
    case RECOVERY_CORRUPT:
        (void)snprintf(text, NEXT_START_SIZE, "is refused: %s", recovery_contradiction(&facts));
        return "NONE";
    case RECOVERY_FINISH:
        (void)snprintf(text, NEXT_START_SIZE,
                       "writes the commit record of batch %" PRId64 ", then goes on", batch);
        return "FINISH";
    case RECOVERY_RERUN:
        if (index->last_changes < batch) {
            (void)snprintf(text, NEXT_START_SIZE,
                           "runs batch %" PRId64 " again, with the input that it had", batch);
            return "RERUN";
        }
        (void)snprintf(text, NEXT_START_SIZE,
                       "asks the sink for batch %" PRId64 ": has it the batch, only the commit "
                       "record is written, else the batch runs again with its input",
                       batch);
        return "RERUN_OR_FINISH";
    case RECOVERY_START:
        break;
    }
    if (index->replay_end > batch + 1) {
        (void)snprintf(text, NEXT_START_SIZE,
                       "runs batches %" PRId64 " to %" PRId64
                       " again, with the input that they had, then goes on",
                       batch + 1, index->replay_end - 1);
        return "REPLAY";
    }
    (void)snprintf(text, NEXT_START_SIZE, "plans batch %" PRId64, batch + 1);
    return "NEW";
}

static void show_json(const struct inspection *it, const char *dir, struct buffer *out)
{
    const struct log_index *index = &it->index;
    char text[NEXT_START_SIZE];
    buffer_add_text(out, "{\"location\": ");
    buffer_add_json_string(out, bytes_of_text(dir));
    buffer_printf(out, ", \"formatVersion\": %d, \"queryId\": \"%s\", \"queryName\": ",
                  CHECKPOINT_FORMAT_VERSION, it->identity.query_id);
    buffer_add_json_string(out, bytes_of_text(it->identity.query_name));
    buffer_printf(out, ", \"createdAt\": \"%s\", \"epoch\": %" PRIu32, it->identity.created_at,
                  index->last_epoch);
    buffer_printf(out,
                  ", \"firstBatch\": %" PRId64 ", \"intent\": %" PRId64 ", \"changes\": %" PRId64
                  ", \"commit\": %" PRId64,
                  index->first_intent, index->last_intent, index->last_changes, index->last_commit);
    if (index->last_changes != NO_BATCH && index->changes.next_watermark_us >= 0) {
        char iso[CLOCK_ISO_SIZE];
        clock_format_iso(index->changes.next_watermark_us, iso);
        buffer_printf(out, ", \"watermark\": \"%s\"", iso);
    }
    buffer_printf(out,
                  ", \"segments\": %" PRIu64 ", \"records\": %" PRIu64 ", \"sizeBytes\": %" PRIu64
                  ", \"tornBytes\": %" PRIu64
                  ", \"closed\": %s, \"nextStart\": \"%s\", \"nextStartText\": \"%s\"}",
                  it->summary.segments, it->summary.records, it->summary.size_bytes,
                  it->summary.torn_bytes, index->closed ? "true" : "false", next_start(it, text),
                  text);
}

static void show_text(const struct inspection *it, const char *dir, struct buffer *out)
{
    const struct log_index *index = &it->index;
    char text[NEXT_START_SIZE];
    const char *kind = next_start(it, text);
    buffer_printf(out, "checkpoint  %s\n", dir);
    buffer_printf(out, "query       %s %s\n", it->identity.query_id, it->identity.query_name);
    buffer_printf(out, "created     %s\n", it->identity.created_at);
    buffer_printf(out, "epoch       %" PRIu32 "\n", index->last_epoch);
    buffer_printf(out, "intent      %" PRId64 "\n", index->last_intent);
    buffer_printf(out, "changes     %" PRId64 "\n", index->last_changes);
    buffer_printf(out, "commit      %" PRId64 "\n", index->last_commit);
    buffer_printf(out, "log         %" PRIu64 " segments, %" PRIu64 " records, %" PRIu64 " bytes\n",
                  it->summary.segments, it->summary.records, it->summary.size_bytes);
    if (it->summary.torn_bytes > 0)
        buffer_printf(out, "torn        %" PRIu64 " bytes, cut at the next start\n",
                      it->summary.torn_bytes);
    buffer_printf(out, "last run    %s\n", index->closed ? "closed in order" : "open or killed");
    buffer_printf(out, "next start  %s: %s\n", kind, text);
}

enum status checkpoint_show(struct vfs *vfs, const char *dir, enum checkpoint_form form,
                            struct buffer *out, struct error *err)
{
    struct inspection it = {.arena = arena_new("inspection", 0)};
    enum status status = look(vfs, dir, &it, err);
    if (status == OK && form == CHECKPOINT_JSON)
        show_json(&it, dir, out);
    else if (status == OK)
        show_text(&it, dir, out);
    arena_free(it.arena);
    return status;
}

/* What the sources remember beyond the log, against what the newest intent says of it.  One that
 * read nothing in that batch says nothing there: its files are to be whole all the same. */
static enum status verify_sources(struct vfs *vfs, const char *dir, const struct inspection *it,
                                  struct error *err)
{
    struct log_record record;
    struct batch_intent intent = {0};
    if (it->index.last_intent != NO_BATCH) {
        TRY(checkpoint_log_read(vfs, path_join(it->arena, dir, "log"), &it->index.intent, it->arena,
                                &record, err));
        if (!batch_intent_decode(it->arena, record.payload, &intent))
            return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", "log", "reason",
                               "an intent cannot be read", NULL);
    }
    bool there = true;
    for (uint32_t i = 0; i < intent.source_count || there; i++) {
        struct seen_mark durable = {0};
        const char *source_dir = arena_sprintf(it->arena, "%s/sources/%" PRIu32, dir, i);
        TRY(vfs_find(vfs, source_dir, &there, err));
        if (i < intent.source_count)
            (void)file_range_mark(intent.sources[i].range.detail, &durable);
        TRY(seen_files_verify(vfs, source_dir, &durable, err));
    }
    return OK;
}

/* The first snapshot of the state that is damaged; *count says how many there are. */
static enum status verify_snapshots(struct vfs *vfs, const char *dir, const struct inspection *it,
                                    size_t *count, struct error *err)
{
    struct state_snapshot_info *infos = NULL;
    const char *state_dir = path_join(it->arena, dir, "state");
    TRY(state_store_verify(vfs, state_dir, it->arena, &infos, count, err));
    for (size_t i = 0; i < *count; i++)
        if (!infos[i].whole)
            return error_raise(
                err, STATUS_CHECKPOINT__CORRUPT, "path",
                arena_sprintf(it->arena, "%s/snapshot-%020" PRId64, state_dir, infos[i].version),
                "reason", infos[i].problem, NULL);
    return OK;
}

enum status checkpoint_verify(struct vfs *vfs, const char *dir, int64_t sink_last,
                              enum checkpoint_form form, struct buffer *out, struct error *err)
{
    struct inspection it = {.arena = arena_new("inspection", 0)};
    enum status status = look(vfs, dir, &it, err);
    struct recovery_facts facts = facts_of(&it);
    facts.sink_last = sink_last;
    size_t snapshots = 0;
    uint32_t epoch = 0;
    if (status == OK)
        status = epoch_read(vfs, path_join(it.arena, dir, "epoch"), &epoch, err);
    if (status == OK && recovery_decide(&facts) == RECOVERY_CORRUPT)
        status = error_raise(err, STATUS_CHECKPOINT__INCONSISTENT, "path", dir, "facts",
                             recovery_contradiction(&facts), NULL);
    if (status == OK)
        status = verify_sources(vfs, dir, &it, err);
    if (status == OK)
        status = verify_snapshots(vfs, dir, &it, &snapshots, err);
    if (status == OK)
        buffer_printf(out,
                      form == CHECKPOINT_JSON ? "{\"ok\": true, \"records\": %" PRIu64
                                                ", \"tornBytes\": %" PRIu64 ", \"snapshots\": %zu}"
                                              : "ok: %" PRIu64 " records, %" PRIu64
                                                " torn bytes, %zu snapshots\n",
                      it.summary.records, it.summary.torn_bytes, snapshots);
    arena_free(it.arena);
    return status;
}

/* Collects one object per batch; a batch that ran again replaces what its first attempt said. */
struct batch_listing {
    struct log_visitor visitor;
    struct arena *arena; /* of the batch at hand */
    struct buffer *out;
    const struct batch_request *request;
    const char *query_id;
    int64_t from, end; /* those that are listed */
    int64_t batch_id;
    uint32_t attempts;
    struct batch_intent intent;
    struct batch_changes changes;
    bool has_changes;
    bool committed;
    uint32_t listed;
    struct log_rewinds rewinds;
    uint64_t ordinal;
};

static void add_text(struct buffer *out, const char *key, struct bytes json)
{
    buffer_printf(out, "\"%s\": ", key);
    if (json.size_bytes == 0)
        buffer_add_text(out, "null");
    else
        buffer_add_bytes(out, json);
}

/* The files that the source read in this batch: how many, and the first ones by name. */
static enum status add_files(struct batch_listing *list, const struct source_range *range,
                             struct error *err)
{
    enum status status = OK;
    struct buffer names = {0}, path = {0};
    struct file_range_cursor cursor;
    struct range_line line;
    int64_t start = -1;
    uint64_t count = 0;
    bool found = true;
    TRY_OUT(file_offset_parse(range->start, &start, err));
    TRY_OUT(file_range_open(list->arena, range->detail, &cursor, err));
    while (found) {
        TRY_OUT(file_range_next(&cursor, &line, &found, err));
        if (!found || line.log_offset <= start)
            continue; /* of an earlier batch */
        if (count++ >= list->request->files)
            continue;
        file_range_path(cursor.dir, line.path, &path);
        buffer_add_text(&names, count == 1 ? "{\"path\": " : ", {\"path\": ");
        buffer_add_json_string(&names, buffer_bytes(&path));
        buffer_printf(&names, ", \"sizeBytes\": %" PRIu64 "}", line.size_bytes);
    }
    buffer_printf(list->out, ", \"numFiles\": %" PRIu64 ", \"files\": [", count);
    buffer_add_bytes(list->out, buffer_bytes(&names));
    buffer_add_text(list->out, "]");
out:
    buffer_fini(&names);
    buffer_fini(&path);
    return status;
}

static enum status add_sources(struct batch_listing *list, struct error *err)
{
    static const char files[] = "files ";
    struct buffer *out = list->out;
    buffer_add_text(out, ", \"sources\": [");
    for (uint32_t i = 0; i < list->intent.source_count; i++) {
        const struct source_range *range = &list->intent.sources[i].range;
        buffer_add_text(out, i == 0 ? "{" : ", {");
        add_text(out, "startOffset", range->start);
        buffer_add_text(out, ", ");
        add_text(out, "endOffset", range->end);
        if (range->detail.size_bytes >= sizeof files - 1 &&
            memcmp(range->detail.data, files, sizeof files - 1) == 0)
            TRY(add_files(list, range, err));
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
    return OK;
}

static enum status flush_batch(struct batch_listing *list, struct error *err)
{
    struct buffer *out = list->out;
    const struct batch_intent *intent = &list->intent;
    char iso[CLOCK_ISO_SIZE];
    if (list->batch_id == NO_BATCH || list->batch_id < list->from || list->batch_id >= list->end)
        return OK;
    clock_format_iso(intent->batch_timestamp_us, iso);
    buffer_printf(out, "%s{\"batchId\": %" PRId64 ", \"attempts\": %" PRIu32 ", \"runId\": \"%s\"",
                  list->listed == 0 ? "" : ", ", list->batch_id, list->attempts, intent->run_id);
    buffer_printf(out, ", \"batchTimestamp\": \"%s\", \"committed\": %s", iso,
                  list->committed ? "true" : "false");
    clock_format_iso(intent->eviction_watermark_us, iso);
    buffer_printf(out, ", \"watermark\": \"%s\"", iso);
    clock_format_iso(intent->late_watermark_us, iso);
    buffer_printf(out, ", \"lateWatermark\": \"%s\"", iso);
    TRY(add_sources(list, err));
    if (list->has_changes)
        buffer_printf(out,
                      ", \"numInputRows\": %" PRIu64 ", \"numOutputRows\": %" PRIu64
                      ", \"stateVersion\": %" PRId64 ", \"sinkDue\": %s",
                      list->changes.input_rows, list->changes.output_rows, list->batch_id,
                      list->changes.sink_due ? "true" : "false");
    buffer_printf(out, ", \"sinkToken\": \"%s-%" PRId64 "\"", list->query_id, list->batch_id);
    if (list->request->outputs != NULL)
        list->request->outputs->add(list->request->outputs, list->batch_id, out);
    buffer_add_text(out, "}");
    list->listed++;
    return OK;
}

static enum status list_batch(struct log_visitor *self, const struct log_record *record,
                              const struct log_position *position, struct error *err)
{
    struct batch_listing *list = (struct batch_listing *)self;
    (void)position;
    if (log_rewinds_took_back(&list->rewinds, list->ordinal++, record->batch_id))
        return OK;
    if (record->kind == RECORD_INTENT) {
        if (record->batch_id != list->batch_id) {
            TRY(flush_batch(list, err));
            list->attempts = 0;
        }
        arena_reset(list->arena);
        list->batch_id = record->batch_id;
        list->attempts++;
        list->has_changes = list->committed = false;
        if (!batch_intent_decode(list->arena, record->payload, &list->intent))
            return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", "log", "reason",
                               "an intent cannot be read", NULL);
    } else if (record->kind == RECORD_CHANGES) {
        list->has_changes = batch_changes_decode(record->payload, &list->changes);
    } else if (record->kind == RECORD_COMMIT) {
        list->committed = true;
    }
    return OK;
}

/* Which batches are asked for. */
static void choose_batches(struct batch_listing *list, const struct log_index *index)
{
    const struct batch_request *request = list->request;
    list->end = index->last_intent + 1;
    if (request->batch_id != NO_BATCH) {
        list->from = request->batch_id;
        list->end = request->batch_id + 1;
        return;
    }
    if (request->before != NO_BATCH && request->before < list->end)
        list->end = request->before;
    list->from = list->end > (int64_t)request->limit ? list->end - (int64_t)request->limit : 0;
}

enum status checkpoint_batches(struct vfs *vfs, const char *dir,
                               const struct batch_request *request, int64_t *first,
                               struct buffer *out, struct error *err)
{
    enum status status = OK;
    struct inspection it = {.arena = arena_new("inspection", 0)};
    struct batch_listing list = {
        .visitor = {.visit = list_batch},
        .arena = arena_new("batch listing", 0),
        .out = out,
        .request = request,
        .batch_id = NO_BATCH,
    };
    CHECK(request->limit > 0 && request->limit <= BATCHES_MAX);
    TRY_OUT(look(vfs, dir, &it, err));
    choose_batches(&list, &it.index);
    list.query_id = it.identity.query_id;
    *first = it.index.first_intent;
    if (request->outputs != NULL)
        request->outputs->begin(request->outputs, it.identity.query_id, list.from, list.end);
    buffer_add_text(out, "[");
    if (it.index.rewound)
        TRY_OUT(
            log_rewinds_read(vfs, path_join(it.arena, dir, "log"), it.arena, &list.rewinds, err));
    TRY_OUT(
        checkpoint_log_scan(vfs, path_join(it.arena, dir, "log"), &list.visitor, &it.summary, err));
    TRY_OUT(flush_batch(&list, err));
    buffer_add_text(out, "]");
out:
    arena_free(list.arena);
    arena_free(it.arena);
    return status;
}

struct run_listing {
    struct log_visitor visitor;
    struct arena *arena;
    struct buffer *out;
    char last[UUID_TEXT_SIZE];
    uint32_t listed;
};

/* A run writes START again in each segment that it begins: only its first counts. */
static enum status list_run(struct log_visitor *self, const struct log_record *record,
                            const struct log_position *position, struct error *err)
{
    struct run_listing *list = (struct run_listing *)self;
    struct run_record run;
    char iso[CLOCK_ISO_SIZE];
    (void)position;
    if (record->kind != RECORD_START)
        return OK;
    arena_reset(list->arena);
    if (!run_record_decode(list->arena, record->payload, &run))
        return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", "log", "reason",
                           "the start of a run cannot be read", NULL);
    if (strcmp(run.run_id, list->last) == 0)
        return OK;
    memcpy(list->last, run.run_id, sizeof list->last);
    clock_format_iso(run.started_us, iso);
    buffer_printf(list->out, "%s{\"runId\": \"%s\", \"startedAt\": \"%s\", \"epoch\": %" PRIu32,
                  list->listed == 0 ? "" : ", ", run.run_id, iso, record->epoch);
    buffer_add_text(list->out, ", \"holder\": ");
    buffer_add_json_string(list->out, run.holder);
    buffer_add_text(list->out, "}");
    list->listed++;
    return OK;
}

enum status checkpoint_runs(struct vfs *vfs, const char *dir, struct buffer *out, struct error *err)
{
    struct arena *arena = arena_new("inspection", 0);
    struct run_listing list = {
        .visitor = {.visit = list_run},
        .arena = arena_new("run listing", 0),
        .out = out,
    };
    struct log_summary summary;
    buffer_add_text(out, "[");
    enum status status =
        checkpoint_log_scan(vfs, path_join(arena, dir, "log"), &list.visitor, &summary, err);
    buffer_add_text(out, "]");
    arena_free(list.arena);
    arena_free(arena);
    return status;
}
