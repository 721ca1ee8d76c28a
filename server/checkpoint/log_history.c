/*
 * See log_history.h.
 */
#include "checkpoint/log_history.h"

#include "base/check.h"

struct rewind_search {
    struct log_visitor visitor;
    struct arena *arena;
    struct log_rewinds *out;
    size_t capacity;
    uint64_t ordinal;
};

static enum status find_rewind(struct log_visitor *self, const struct log_record *record,
                               const struct log_position *position, struct error *err)
{
    struct rewind_search *search = (struct rewind_search *)self;
    struct log_rewinds *out = search->out;
    (void)position;
    (void)err;
    uint64_t ordinal = search->ordinal++;
    if (record->kind != RECORD_REWIND)
        return OK;
    if (out->count == search->capacity) {
        search->capacity = search->capacity == 0 ? 8 : search->capacity * 2;
        struct log_rewind *grown =
            arena_new_object(search->arena, search->capacity * sizeof *grown);
        if (out->count > 0)
            memcpy(grown, out->items, out->count * sizeof *grown);
        out->items = grown;
    }
    out->items[out->count++] = (struct log_rewind){.ordinal = ordinal, .to = record->batch_id};
    return OK;
}

enum status log_rewinds_read(struct vfs *vfs, const char *dir, struct arena *arena,
                             struct log_rewinds *out, struct error *err)
{
    struct rewind_search search = {.visitor = {.visit = find_rewind}, .arena = arena, .out = out};
    struct log_summary summary;
    *out = (struct log_rewinds){0};
    return checkpoint_log_scan(vfs, dir, &search.visitor, &summary, err);
}

bool log_rewinds_took_back(const struct log_rewinds *rewinds, uint64_t ordinal, int64_t batch_id)
{
    for (size_t i = 0; i < rewinds->count; i++)
        if (rewinds->items[i].ordinal > ordinal && batch_id > rewinds->items[i].to)
            return true;
    return false;
}

struct batch_search {
    struct log_visitor visitor;
    int64_t first, end;
    struct logged_batch *batches;
};

static enum status find_batch(struct log_visitor *self, const struct log_record *record,
                              const struct log_position *position, struct error *err)
{
    struct batch_search *search = (struct batch_search *)self;
    (void)err;
    if (record->batch_id < search->first || record->batch_id >= search->end)
        return OK;
    struct logged_batch *batch = &search->batches[record->batch_id - search->first];
    if (record->kind == RECORD_INTENT)
        *batch = (struct logged_batch){.has_intent = true, .intent = *position};
    else if (record->kind == RECORD_CHANGES)
        batch->has_changes = batch_changes_decode(record->payload, &batch->changes);
    else if (record->kind == RECORD_COMMIT)
        batch->committed = true;
    return OK;
}

enum status logged_batches_read(struct vfs *vfs, const char *dir, struct arena *arena,
                                int64_t first, int64_t end, struct logged_batch **out,
                                struct error *err)
{
    CHECK(first >= 0 && first <= end);
    struct log_summary summary;
    struct batch_search search = {
        .visitor = {.visit = find_batch},
        .first = first,
        .end = end,
        .batches = arena_new_object(arena, (size_t)(end - first + 1) * sizeof(struct logged_batch)),
    };
    *out = search.batches;
    return checkpoint_log_scan(vfs, dir, &search.visitor, &summary, err);
}
