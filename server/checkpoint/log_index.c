/*
 * See log_index.h.
 */
#include "checkpoint/log_index.h"

#include "base/check.h"

#include <inttypes.h>
#include <stdio.h>

static enum status out_of_order(const struct log_index *index, const struct log_record *record,
                                struct error *err)
{
    char reason[160];
    (void)snprintf(reason, sizeof reason, "%s(%" PRId64 ") cannot follow the records before it",
                   record_kind_name(record->kind), record->batch_id);
    return error_raise(err, STATUS_CHECKPOINT__CORRUPT, "path", index->dir, "reason", reason, NULL);
}

static enum status see_intent(struct log_index *index, const struct log_record *record,
                              const struct log_position *position, struct error *err)
{
    int64_t id = record->batch_id;
    bool again = id == index->last_intent;
    if (id < 0 || (!again && index->last_intent != NO_BATCH && id != index->last_intent + 1) ||
        (index->last_intent == NO_BATCH && index->last_commit != NO_BATCH))
        return out_of_order(index, record, err);
    if (!again) {
        index->has_previous_intent = index->last_intent != NO_BATCH;
        index->previous_intent = index->intent;
        index->sink_due_before = index->last_sink_due;
        if (index->last_intent == NO_BATCH) {
            index->first_intent = id;
            index->last_changes = index->last_commit = id - 1;
        }
    }
    index->last_intent = id;
    index->intent = *position;
    index->state_records = 0;
    return OK;
}

static enum status see_changes(struct log_index *index, const struct log_record *record,
                               struct error *err)
{
    struct batch_changes changes;
    if (index->last_intent == NO_BATCH || record->batch_id != index->last_intent ||
        !batch_changes_decode(record->payload, &changes) ||
        changes.state_records != index->state_records)
        return out_of_order(index, record, err);
    index->changes = changes;
    index->last_changes = record->batch_id;
    if (changes.sink_due)
        index->last_sink_due = record->batch_id;
    else
        index->last_sink_due = index->sink_due_before;
    return OK;
}

static struct log_position position_of(const struct rewind_place *place)
{
    return (struct log_position){.segment = place->segment, .offset = place->offset};
}

/* From here on the log goes on as if `to` were the last batch of it.  What it took back may be gone
 * with older segments: the log then begins with it. */
static enum status see_rewind(struct log_index *index, const struct log_record *record,
                              struct error *err)
{
    struct rewind_record rewind;
    int64_t to = record->batch_id;
    bool begins = index->last_intent == NO_BATCH && index->last_commit == NO_BATCH;
    if (to < NO_BATCH || (to > index->last_commit && !begins) ||
        !rewind_record_decode(record->payload, &rewind) ||
        rewind.intent.is_set != (to != NO_BATCH) || rewind.replay_end <= index->last_intent ||
        rewind.last_sink_due > to)
        return out_of_order(index, record, err);
    index->rewound = true;
    index->replay_end = rewind.replay_end;
    index->last_intent = index->last_changes = index->last_commit = to;
    index->intent = position_of(&rewind.intent);
    index->has_previous_intent = rewind.previous.is_set;
    index->previous_intent = position_of(&rewind.previous);
    index->changes = rewind.changes;
    index->last_sink_due = index->sink_due_before = rewind.last_sink_due;
    index->state_records = 0;
    if (index->first_intent > to + 1 || begins)
        index->first_intent = to + 1;
    return OK;
}

static enum status visit(struct log_visitor *self, const struct log_record *record,
                         const struct log_position *position, struct error *err)
{
    struct log_index *index = (struct log_index *)self;
    if (record->epoch < index->last_epoch)
        return out_of_order(index, record, err);
    index->last_epoch = record->epoch;
    index->closed = record->kind == RECORD_CLOSE;
    switch (record->kind) {
    case RECORD_START:
        index->has_run = true;
        index->run = *position;
        return OK;
    case RECORD_INTENT:
        return see_intent(index, record, position, err);
    case RECORD_STATE:
        index->state_records++;
        return record->batch_id == index->last_intent ? OK : out_of_order(index, record, err);
    case RECORD_CHANGES:
        return see_changes(index, record, err);
    case RECORD_COMMIT:
        if (index->last_intent == NO_BATCH || record->batch_id != index->last_changes ||
            record->batch_id != index->last_commit + 1)
            return out_of_order(index, record, err);
        index->last_commit = record->batch_id;
        return OK;
    case RECORD_PROGRESS:
        if (record->batch_id != index->last_commit)
            return out_of_order(index, record, err);
        if (index->progress_keep > 0)
            index->progress[index->progress_seen++ % index->progress_keep] = *position;
        return OK;
    case RECORD_CLOSE:
        return OK;
    case RECORD_REWIND:
        return see_rewind(index, record, err);
    }
    return out_of_order(index, record, err);
}

void log_index_init(struct log_index *index, uint32_t progress_keep, struct arena *arena)
{
    *index = (struct log_index){
        .visitor = {.visit = visit},
        .first_intent = NO_BATCH,
        .last_intent = NO_BATCH,
        .last_changes = NO_BATCH,
        .last_commit = NO_BATCH,
        .last_sink_due = NO_BATCH,
        .sink_due_before = NO_BATCH,
        .progress_keep = progress_keep,
        .progress = arena_new_object(arena, (progress_keep + 1) * sizeof *index->progress),
    };
}

enum status log_index_build(struct log_index *index, struct vfs *vfs, const char *dir,
                            struct log_summary *summary, struct error *err)
{
    index->dir = dir;
    TRY(checkpoint_log_scan(vfs, dir, &index->visitor, summary, err));
    /* Of a log whose first segments are gone the first batch had its predecessor. */
    if (index->last_sink_due == NO_BATCH && index->first_intent > 0)
        index->last_sink_due = index->first_intent - 1;
    return OK;
}

uint32_t log_index_progress_count(const struct log_index *index)
{
    return index->progress_seen < index->progress_keep ? (uint32_t)index->progress_seen
                                                       : index->progress_keep;
}

const struct log_position *log_index_progress(const struct log_index *index, uint32_t i)
{
    uint32_t count = log_index_progress_count(index);
    CHECK(i < count);
    uint64_t first = index->progress_seen - count;
    return &index->progress[(first + i) % index->progress_keep];
}
