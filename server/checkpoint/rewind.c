/*
 * See rewind.h.
 */
#include "checkpoint/rewind.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "base/path.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/identity.h"
#include "checkpoint/snapshot_list.h"
#include "source/file_range.h"
#include "state/state_store.h"

#include <inttypes.h>
#include <stdio.h>

struct state_search {
    struct log_visitor visitor;
    bool found;
};

static enum status find_state(struct log_visitor *self, const struct log_record *record,
                              const struct log_position *position, struct error *err)
{
    struct state_search *search = (struct state_search *)self;
    (void)position;
    (void)err;
    search->found = search->found || record->kind == RECORD_STATE;
    return OK;
}

/* The oldest batch whose version of everything can be made again. */
static enum status find_oldest(struct arena *arena, struct checkpoint *checkpoint, struct vfs *vfs,
                               int64_t *oldest, struct error *err)
{
    int64_t first = checkpoint_first_batch(checkpoint);
    struct state_snapshot_info *snapshots = NULL;
    size_t count = 0;
    struct state_search search = {.visitor = {.visit = find_state}};
    const char *state_dir = path_join(arena, checkpoint_dir(checkpoint), "state");
    *oldest = first == 0 ? NO_BATCH : first;
    if (first == 0)
        return OK;
    TRY(state_store_verify(vfs, state_dir, arena, &snapshots, &count, err));
    TRY(checkpoint_scan(checkpoint, &search.visitor, err));
    if (count == 0 && !search.found)
        return OK;
    for (size_t i = 0; i < count; i++) {
        if (!snapshots[i].whole || snapshots[i].version + 1 < first)
            continue;
        *oldest = snapshots[i].version < first ? first : snapshots[i].version;
        return OK;
    }
    *oldest = INT64_MAX;
    return OK;
}

static enum status refuse_expired(const struct rewind_request *request, int64_t oldest,
                                  struct error *err)
{
    char batch[24], limit[24];
    (void)snprintf(batch, sizeof batch, "%" PRId64, request->to_batch);
    (void)snprintf(limit, sizeof limit, "%" PRId64, oldest);
    return error_raise(err, STATUS_BATCH_EXPIRED, "query",
                       request->name == NULL ? request->dir : request->name, "batchId", batch,
                       "oldest", oldest == INT64_MAX ? "none" : limit, NULL);
}

static enum status refuse_future(const struct rewind_request *request, int64_t last,
                                 struct error *err)
{
    char batch[24], expected[96];
    (void)snprintf(batch, sizeof batch, "%" PRId64, request->to_batch);
    (void)snprintf(expected, sizeof expected, "a committed batch, %" PRId64 " at most", last);
    return error_raise(err, STATUS_INVALID_FIELD_VALUE, "field", "toBatchId", "value", batch,
                       "expected", expected, NULL);
}

static struct rewind_place place_of(const struct logged_batch *batch)
{
    return (struct rewind_place){
        .is_set = batch->has_intent,
        .segment = batch->has_intent ? batch->intent.segment : 0,
        .offset = batch->has_intent ? batch->intent.offset : 0,
    };
}

/* What REWIND says, from the batches up to `to` that the log has. */
static enum status make_record(struct arena *arena, struct checkpoint *checkpoint, int64_t to,
                               struct rewind_record *out, struct error *err)
{
    int64_t first = checkpoint_first_batch(checkpoint);
    struct logged_batch *batches = NULL;
    out->last_sink_due = first - 1;
    if (to == NO_BATCH)
        return OK;
    TRY(checkpoint_logged_batches(checkpoint, arena, first, to + 1, &batches, err));
    for (int64_t id = first; id <= to; id++)
        if (batches[id - first].changes.sink_due)
            out->last_sink_due = id;
    const struct logged_batch *last = &batches[to - first];
    if (!last->has_intent || !last->has_changes)
        return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", checkpoint_dir(checkpoint),
                           "reason", "a committed batch is not in the log", NULL);
    out->intent = place_of(last);
    out->changes = last->changes;
    if (to > first)
        out->previous = place_of(last - 1);
    return OK;
}

static enum status go_back(struct arena *arena, const struct rewind_request *request,
                           struct checkpoint *checkpoint, const struct rewind_outcome *outcome,
                           struct error *err)
{
    const struct run_record *last = checkpoint_last_run(checkpoint);
    struct rewind_record record = {.replay_end = outcome->replay_end};
    CHECK(last != NULL);
    TRY(make_record(arena, checkpoint, request->to_batch, &record, err));
    TRY(checkpoint_start_run(checkpoint, last->fingerprint, last->fingerprint_text, err));
    TRY(FAILPOINT(pre_rewind, err));
    TRY(snapshot_list_cut(request->vfs, checkpoint_dir(checkpoint), request->to_batch, err));
    TRY(FAILPOINT(mid_rewind, err));
    TRY(checkpoint_append_rewind(checkpoint, request->to_batch, &record, err));
    TRY(FAILPOINT(post_rewind, err));
    return checkpoint_end_run(checkpoint, err);
}

/* The files of a range that are not there any more: a clean-up has removed them, or a person. */
static enum status find_files(struct vfs *vfs, struct arena *arena,
                              const struct source_range *range, struct error *err)
{
    static const char head[] = "files ";
    struct range_file *files = NULL;
    const char *dir = NULL;
    size_t count = 0;
    int64_t before = 0;
    if (range->detail.size_bytes < sizeof head - 1 ||
        memcmp(range->detail.data, head, sizeof head - 1) != 0)
        return OK;
    TRY(file_offset_parse(range->start, &before, err));
    TRY(file_range_parse(arena, range->detail, &dir, &files, &count, err));
    for (size_t i = 0; i < count; i++) {
        bool found = files[i].log_offset <= before; /* read by an earlier batch */
        if (!found)
            TRY(vfs_find(vfs, files[i].path, &found, err));
        if (!found)
            return error_raise(err, STATUS_FAILED_READ_FILE__FILE_NOT_EXIST, "path", files[i].path,
                               NULL);
    }
    return OK;
}

/* The input of the batches that would run again has to be there still. */
static enum status check_input(struct arena *arena, const struct rewind_request *request,
                               const struct rewind_outcome *outcome, struct error *err)
{
    const char *log_dir = path_join(arena, request->dir, "log");
    for (int64_t id = outcome->to_batch + 1; id < outcome->replay_end; id++) {
        const struct logged_batch *batch = &outcome->batches[id - outcome->to_batch - 1];
        struct log_record record;
        struct batch_intent intent;
        if (!batch->has_intent)
            continue;
        TRY(checkpoint_log_read(request->vfs, log_dir, &batch->intent, arena, &record, err));
        if (!batch_intent_decode(arena, record.payload, &intent))
            return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", log_dir, "reason",
                               "an intent cannot be read", NULL);
        for (uint32_t i = 0; i < intent.source_count; i++)
            TRY(find_files(request->vfs, arena, &intent.sources[i].range, err));
    }
    return OK;
}

static enum status rewind_open(struct arena *arena, const struct rewind_request *request,
                               struct checkpoint *checkpoint, struct rewind_outcome *out,
                               struct error *err)
{
    struct recovery_facts facts;
    checkpoint_facts(checkpoint, &facts);
    out->to_batch = request->to_batch;
    out->last_batch = facts.last_commit;
    out->replay_end = facts.last_intent + 1;
    if (out->replay_end < facts.replay_end)
        out->replay_end = facts.replay_end;
    out->epoch = checkpoint_epoch(checkpoint);
    TRY(find_oldest(arena, checkpoint, request->vfs, &out->oldest, err));
    if (request->to_batch > facts.last_commit)
        return refuse_future(request, facts.last_commit, err);
    if (request->to_batch < out->oldest)
        return refuse_expired(request, out->oldest, err);
    TRY(checkpoint_logged_batches(checkpoint, arena, request->to_batch + 1, out->replay_end,
                                  &out->batches, err));
    if (request->to_batch == facts.last_commit)
        return OK;
    TRY(check_input(arena, request, out, err));
    return go_back(arena, request, checkpoint, out, err);
}

enum status checkpoint_rewind(struct arena *arena, const struct rewind_request *request,
                              struct rewind_outcome *out, struct error *err)
{
    struct identity identity;
    struct checkpoint *checkpoint = NULL;
    char run_id[UUID_TEXT_SIZE];
    bool found = false;
    CHECK(request->to_batch >= NO_BATCH);
    TRY(identity_read(request->vfs, request->dir, &identity, &found, err));
    if (!found)
        return error_raise(err, STATUS_CHECKPOINT_NOT_FOUND, "path", request->dir, NULL);
    uuid_random_text(run_id);
    struct checkpoint_config config = {
        .vfs = request->vfs,
        .clock = request->clock,
        .dir = request->dir,
        .query_id = request->query_id,
        .run_id = run_id,
        .progress_keep = 1,
        .batches_keep = 2,
    };
    TRY(checkpoint_open(&config, &checkpoint, err));
    enum status status = rewind_open(arena, request, checkpoint, out, err);
    checkpoint_close(checkpoint);
    return status;
}

void rewind_outcome_print(const struct rewind_outcome *outcome, struct buffer *out)
{
    uint64_t input_rows = 0, output_rows = 0;
    buffer_printf(out,
                  "{\"toBatchId\": %" PRId64 ", \"nextBatchId\": %" PRId64
                  ", \"previousBatchId\": %" PRId64 ", \"changed\": %s, \"epoch\": %" PRIu32
                  ", \"batches\": [",
                  outcome->to_batch, outcome->to_batch + 1, outcome->last_batch,
                  outcome->last_batch != outcome->to_batch ? "true" : "false", outcome->epoch);
    for (int64_t id = outcome->to_batch + 1; id < outcome->replay_end; id++) {
        const struct logged_batch *batch = &outcome->batches[id - outcome->to_batch - 1];
        buffer_printf(out, "%s{\"batchId\": %" PRId64 ", \"committed\": %s",
                      id == outcome->to_batch + 1 ? "" : ", ", id,
                      batch->committed ? "true" : "false");
        if (batch->has_changes)
            buffer_printf(out,
                          ", \"numInputRows\": %" PRIu64 ", \"numOutputRows\": %" PRIu64
                          ", \"sinkDue\": %s",
                          batch->changes.input_rows, batch->changes.output_rows,
                          batch->changes.sink_due ? "true" : "false");
        buffer_add_text(out, "}");
        input_rows += batch->changes.input_rows;
        output_rows += batch->changes.output_rows;
    }
    buffer_printf(out, "], \"numInputRows\": %" PRIu64 ", \"numOutputRows\": %" PRIu64, input_rows,
                  output_rows);
}
