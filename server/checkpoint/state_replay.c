/*
 * Reading state changes back.  Of a batch that was tried several times only the last attempt
 * counts, and that it was the last is known when the next batch begins; so the places of the STATE
 * records are remembered, and read when their batch is over.  Records that a REWIND took back are
 * passed over.  Nothing is read beyond the COMMIT of the last batch that is wanted, so that the
 * batch thread may append meanwhile.
 */
#include "base/heap.h"
#include "checkpoint/checkpoint.h"

#include <stdlib.h>

struct replay {
    struct log_visitor visitor;
    struct checkpoint *checkpoint;
    int64_t from, to;
    struct state_receiver *receiver;
    int64_t batch_id; /* whose records are at hand */
    struct log_position *positions;
    size_t count;
    size_t capacity;
    struct log_rewinds rewinds;
    uint64_t ordinal;
    struct arena *arena;
};

static enum status deliver(struct replay *replay, struct error *err)
{
    if (replay->batch_id < replay->from || replay->batch_id > replay->to)
        replay->count = 0;
    for (size_t i = 0; i < replay->count; i++) {
        struct log_record record;
        arena_reset(replay->arena);
        TRY(checkpoint_read_record(replay->checkpoint, &replay->positions[i], replay->arena,
                                   &record, err));
        TRY(replay->receiver->receive(replay->receiver, record.payload, err));
    }
    replay->count = 0;
    return OK;
}

static enum status visit(struct log_visitor *self, const struct log_record *record,
                         const struct log_position *position, struct error *err)
{
    struct replay *replay = (struct replay *)self;
    uint64_t ordinal = replay->ordinal++;
    bool counts = record->kind == RECORD_INTENT || record->kind == RECORD_STATE ||
                  record->kind == RECORD_COMMIT;
    if (!counts || log_rewinds_took_back(&replay->rewinds, ordinal, record->batch_id))
        return OK;
    if (record->kind == RECORD_INTENT) {
        if (record->batch_id != replay->batch_id)
            TRY(deliver(replay, err));
        replay->batch_id = record->batch_id;
        replay->count = 0;
    } else if (record->kind == RECORD_COMMIT) {
        replay->visitor.done = record->batch_id == replay->to;
    } else {
        if (replay->count == replay->capacity) {
            replay->capacity = replay->capacity == 0 ? 64 : replay->capacity * 2;
            replay->positions =
                heap_realloc(replay->positions, replay->capacity * sizeof *replay->positions);
        }
        replay->positions[replay->count++] = *position;
    }
    return OK;
}

enum status checkpoint_replay_state(struct checkpoint *checkpoint, int64_t from, int64_t to,
                                    struct state_receiver *receiver, struct error *err)
{
    struct replay replay = {
        .visitor = {.visit = visit},
        .checkpoint = checkpoint,
        .from = from,
        .to = to,
        .receiver = receiver,
        .batch_id = NO_BATCH,
        .arena = arena_new("state replay", 0),
    };
    struct arena *arena = arena_new("rewinds", 0);
    enum status status = checkpoint_rewinds(checkpoint, arena, &replay.rewinds, err);
    if (status == OK)
        status = checkpoint_scan_from(checkpoint, from, &replay.visitor, err);
    if (status == OK)
        status = deliver(&replay, err);
    free(replay.positions);
    arena_free(replay.arena);
    arena_free(arena);
    return status;
}
