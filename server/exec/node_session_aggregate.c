/*
 * Aggregation by session windows over a stream.
 *
 * The state of a key (the grouping keys but the session) is the list of its open sessions, each
 * with the states of the functions.  A row opens a session of its own, which merges with every
 * session that it overlaps or touches.  In append mode a session comes out, and goes, when the
 * eviction watermark has reached its end; in complete mode all come out in every batch.
 *
 * To find what has ended, each key stands in the bucket of the second in which one of its sessions
 * ends, or once ended before it grew: the sessions themselves say whether they have.
 */
#include "base/check.h"
#include "columnar/row_key.h"
#include "exec/aggregate_calls.h"
#include "exec/node_exchange_writer.h"
#include "exec/session_key.h"
#include "exec/stateful.h"
#include "state/state_table.h"

#include <stdlib.h>

#define SESSION_MAGIC 0x5e55a601U
#define SLICE_US      1000000

struct session {
    int64_t start_us;
    int64_t end_us;
    uint32_t run; /* the batch that touched it last */
    uint8_t *block;
};

/* What the state entry of a key points to. */
struct sessions {
    struct session *items; /* by start; they neither overlap nor touch */
    uint32_t count;
    uint32_t capacity;
    uint32_t run;        /* in the list of touched keys of this batch */
    struct arena *arena; /* of states that are not plain; NULL: none */
};

struct session_aggregate {
    uint32_t magic;
    uint32_t session_key;
    struct aggregate_calls calls;
    const struct type **other_types; /* of the keys but the session */
    uint32_t other_count;
    struct state_table *keys; /* value: struct sessions * */
    struct state_bucket *bucket;
    struct state_table *ends; /* buckets by second: keys */
    struct bytes *touched;    /* keys of this batch, in `arena` */
    uint32_t touched_count;
    uint32_t touched_capacity;
    struct arena *arena; /* of the batch */
    uint64_t session_count;
    struct operator_stats stats;
    struct buffer scratch;
    struct buffer value;
};

static enum status session_open(struct exec_node *self, struct arena *query,
                                const struct plan_node *node, struct error *err)
{
    struct session_aggregate *state = arena_new_object(query, sizeof *state);
    self->state = state;
    state->magic = SESSION_MAGIC;
    state->session_key = (uint32_t)session_key_of(node);
    TRY(aggregate_calls_open(&state->calls, query, node, err));
    state->other_types =
        arena_new_object(query, (state->calls.key_count + 1) * sizeof *state->other_types);
    for (uint32_t i = 0; i < state->calls.key_count; i++)
        if (i != state->session_key)
            state->other_types[state->other_count++] = state->calls.key_types[i];
    state->keys = state_table_new(sizeof(struct sessions *));
    state->bucket = state_bucket_open(state->keys, STATE_NO_END);
    state->ends = state_table_new(0);
    state->arena = arena_new("sessions", 0);
    return OK;
}

static struct sessions *sessions_of(struct state_entry *entry)
{
    struct sessions *sessions = NULL;
    memcpy(&sessions, state_value(entry), sizeof sessions);
    return sessions;
}

static void sessions_free(struct sessions *sessions)
{
    for (uint32_t i = 0; i < sessions->count; i++)
        free(sessions->items[i].block);
    free(sessions->items);
    arena_free(sessions->arena);
    free(sessions);
}

static enum status session_begin(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    (void)ctx;
    (void)err;
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    state->touched_count = 0;
    state->stats = (struct operator_stats){0};
    arena_reset(state->arena);
    state_bucket_pack(state->keys, state->bucket);
    return OK;
}

static struct sessions *open_key(struct session_aggregate *state, struct bytes key)
{
    bool added = false;
    struct state_entry *entry = state_add(state->keys, state->bucket, key, state_hash(key), &added);
    if (!added)
        return sessions_of(entry);
    struct sessions *sessions = calloc(1, sizeof *sessions);
    CHECK(sessions != NULL);
    if (!state->calls.plain)
        sessions->arena = arena_new("session", 0);
    memcpy(state_value(entry), &sessions, sizeof sessions);
    return sessions;
}

static void touch(struct session_aggregate *state, struct sessions *sessions, uint32_t run,
                  struct bytes key)
{
    if (sessions->run == run)
        return;
    sessions->run = run;
    if (state->touched_count == state->touched_capacity) {
        state->touched_capacity = state->touched_capacity == 0 ? 256 : state->touched_capacity * 2;
        state->touched = realloc(state->touched, state->touched_capacity * sizeof *state->touched);
        CHECK(state->touched != NULL);
    }
    state->touched[state->touched_count++] = arena_copy(state->arena, key);
}

static int64_t slice_of(int64_t end_us)
{
    int64_t slice = end_us / SLICE_US;
    return end_us % SLICE_US < 0 ? slice - 1 : slice;
}

static void note_end(struct session_aggregate *state, struct bytes key, int64_t end_us)
{
    bool added = false;
    struct state_bucket *bucket = state_bucket_open(state->ends, slice_of(end_us));
    (void)state_add(state->ends, bucket, key, state_hash(key), &added);
}

static struct session *insert_session(struct sessions *sessions, uint32_t at)
{
    if (sessions->count == sessions->capacity) {
        sessions->capacity = sessions->capacity == 0 ? 2 : sessions->capacity * 2;
        sessions->items = realloc(sessions->items, sessions->capacity * sizeof *sessions->items);
        CHECK(sessions->items != NULL);
    }
    memmove(sessions->items + at + 1, sessions->items + at,
            (sessions->count - at) * sizeof *sessions->items);
    sessions->count++;
    sessions->items[at] = (struct session){0};
    return &sessions->items[at];
}

static uint8_t *new_block(const struct session_aggregate *state)
{
    uint8_t *block = calloc(1, state->calls.block_bytes + 8);
    CHECK(block != NULL);
    aggregate_calls_init(&state->calls, block);
    return block;
}

/* Takes the session of one row into the list of its key. */
static enum status add_session(struct session_aggregate *state, struct sessions *sessions,
                               int64_t start_us, int64_t end_us, const uint8_t *block, uint32_t run,
                               struct error *err)
{
    uint32_t first = 0;
    while (first < sessions->count && sessions->items[first].end_us < start_us)
        first++;
    if (first == sessions->count || sessions->items[first].start_us > end_us) {
        struct session *fresh = insert_session(sessions, first);
        fresh->start_us = start_us;
        fresh->end_us = end_us;
        fresh->block = new_block(state);
        state->session_count++;
    }
    struct session *into = &sessions->items[first];
    if (start_us < into->start_us)
        into->start_us = start_us;
    if (end_us > into->end_us)
        into->end_us = end_us;
    into->run = run;
    TRY(aggregate_calls_merge(&state->calls, sessions->arena, into->block, block, &state->scratch,
                              err));
    while (first + 1 < sessions->count && sessions->items[first + 1].start_us <= into->end_us) {
        struct session *next = &sessions->items[first + 1];
        if (next->end_us > into->end_us)
            into->end_us = next->end_us;
        TRY(aggregate_calls_merge(&state->calls, sessions->arena, into->block, next->block,
                                  &state->scratch, err));
        free(next->block);
        memmove(next, next + 1, (sessions->count - first - 2) * sizeof *next);
        sessions->count--;
        state->session_count--;
    }
    return OK;
}

/* The keys but the session. */
static enum status encode_others(struct session_aggregate *state, struct exec_context *ctx,
                                 const struct batch *rows, struct vector **inputs,
                                 struct bytes **out, struct error *err)
{
    struct arena *arena = ctx->batch_arena;
    struct vector **others = arena_new_object(arena, (state->other_count + 1) * sizeof *others);
    *out = arena_new_object(arena, (rows->selected + 1) * sizeof **out);
    for (uint32_t i = 0, next = 0; i < state->calls.key_count; i++)
        if (i != state->session_key)
            others[next++] = inputs[i];
    return state->other_count == 0 ? OK
                                   : row_key_encode(arena, others, state->other_count,
                                                    rows->selection, rows->selected, *out, err);
}

static void drop_late(struct session_aggregate *state, struct exec_context *ctx,
                      const struct batch *batch, const int64_t *ends, uint16_t *rows,
                      struct batch *out)
{
    *out = *batch;
    out->selection = rows;
    out->selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (ctx->mode != EMIT_COMPLETE && ends[row] <= ctx->late_watermark_us)
            state->stats.rows_dropped++;
        else
            rows[out->selected++] = (uint16_t)row;
    }
}

static enum status session_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                const struct batch *batch, struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    CHECK(input == 0);
    struct arena *arena = ctx->batch_arena;
    struct vector **inputs = NULL;
    struct bytes *keys = NULL;
    struct batch rows;
    TRY(aggregate_calls_eval(&state->calls, ctx, batch, &inputs, err));
    const struct vector *window = inputs[state->session_key];
    const int64_t *starts = VECTOR_VALUES(const int64_t, window->children[0]);
    const int64_t *ends = VECTOR_VALUES(const int64_t, window->children[1]);
    drop_late(state, ctx, batch, ends,
              arena_new_object(arena, (batch->selected + 1) * sizeof(uint16_t)), &rows);
    if (rows.selected == 0)
        return OK;
    TRY(encode_others(state, ctx, &rows, inputs, &keys, err));
    uint32_t block_bytes = state->calls.block_bytes;
    void *memory = NULL;
    TRY(arena_alloc(arena, rows.selected, block_bytes + 8, &memory, err));
    uint8_t *block = memory;
    uint8_t **blocks = arena_new_object(arena, rows.rows * sizeof *blocks);
    for (uint32_t i = 0; i < rows.selected; i++, block += block_bytes + 8) {
        aggregate_calls_init(&state->calls, block);
        blocks[batch_row(&rows, i)] = block;
    }
    TRY(aggregate_calls_update(&state->calls, ctx, &rows, inputs, blocks, arena, err));
    for (uint32_t i = 0; i < rows.selected; i++) {
        uint32_t row = batch_row(&rows, i);
        struct sessions *sessions = open_key(state, keys[i]);
        touch(state, sessions, ctx->run, keys[i]);
        TRY(add_session(state, sessions, starts[row], ends[row], blocks[row], ctx->run, err));
        note_end(state, keys[i], ends[row]);
    }
    return OK;
}

/* Sessions on their way out. */
struct emission {
    struct exec_node *node;
    struct exec_context *ctx;
    uint32_t count;
    struct bytes keys[BATCH_ROWS_MAX];
    int64_t starts[BATCH_ROWS_MAX];
    int64_t ends[BATCH_ROWS_MAX];
    uint8_t *blocks[BATCH_ROWS_MAX];
    bool owned; /* the blocks are freed when they are out */
};

static enum status window_vector(struct emission *emission, const struct type *type, uint32_t count,
                                 struct vector **out, struct error *err)
{
    struct arena *arena = emission->ctx->batch_arena;
    TRY(vector_new(arena, type, count, out, err));
    memcpy((*out)->children[0]->values, emission->starts, count * sizeof(int64_t));
    memcpy((*out)->children[1]->values, emission->ends, count * sizeof(int64_t));
    return OK;
}

static enum status emit_batch(struct emission *emission, uint32_t count, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    struct exec_context *ctx = emission->ctx;
    const struct aggregate_calls *calls = &state->calls;
    arena_reset(ctx->batch_arena);
    struct batch out = {.schema = emission->node->plan->schema, .rows = count, .selected = count};
    out.columns =
        arena_new_object(ctx->batch_arena, (calls->key_count + calls->count + 1) * sizeof(void *));
    struct vector **others =
        arena_new_object(ctx->batch_arena, (state->other_count + 1) * sizeof *others);
    if (state->other_count > 0)
        TRY(row_key_decode(ctx->batch_arena, state->other_types, state->other_count, emission->keys,
                           count, others, err));
    for (uint32_t i = 0, next = 0; i < calls->key_count; i++)
        if (i != state->session_key)
            out.columns[i] = others[next++];
    TRY(window_vector(emission, calls->key_types[state->session_key], count,
                      &out.columns[state->session_key], err));
    TRY(aggregate_calls_finish(calls, ctx, emission->blocks, count, out.columns + calls->key_count,
                               err));
    return exec_emit(emission->node, ctx, &out, err);
}

static enum status flush(struct emission *emission, struct error *err)
{
    uint32_t count = emission->count;
    emission->count = 0;
    enum status status = count == 0 ? OK : emit_batch(emission, count, err);
    for (uint32_t i = 0; emission->owned && i < count; i++)
        free(emission->blocks[i]);
    return status;
}

static enum status emit(struct emission *emission, struct bytes key, const struct session *session,
                        struct error *err)
{
    uint32_t at = emission->count++;
    emission->keys[at] = key;
    emission->starts[at] = session->start_us;
    emission->ends[at] = session->end_us;
    emission->blocks[at] = session->block;
    return emission->count < BATCH_ROWS_MAX ? OK : flush(emission, err);
}

/* Takes the ended sessions of a key out of its list. */
static enum status close_sessions(struct emission *emission, struct bytes key, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    int64_t watermark_us = emission->ctx->eviction_watermark_us;
    struct state_entry *entry = state_find(state->keys, state->bucket, key, state_hash(key));
    if (entry == NULL)
        return OK;
    struct sessions *sessions = sessions_of(entry);
    struct bytes kept_key = arena_copy(state->arena, key);
    uint32_t left = 0;
    for (uint32_t i = 0; i < sessions->count; i++) {
        struct session session = sessions->items[i];
        if (session.end_us > watermark_us) {
            sessions->items[left++] = session;
            continue;
        }
        touch(state, sessions, emission->ctx->run, kept_key);
        state->stats.rows_removed++;
        state->stats.rows_updated += session.run == emission->ctx->run ? 1 : 0;
        state->session_count--;
        TRY(emit(emission, kept_key, &session, err));
    }
    sessions->count = left;
    if (left > 0)
        return OK;
    TRY(flush(emission, err)); /* states may lie in the memory of the key */
    state_remove(state->keys, state->bucket, entry);
    sessions_free(sessions);
    return OK;
}

static enum status evict(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    int64_t last = slice_of(emission->ctx->eviction_watermark_us);
    struct state_bucket *bucket = NULL;
    emission->owned = true;
    while ((bucket = state_bucket_next(state->ends, NULL)) != NULL &&
           state_bucket_end(bucket) <= last) {
        struct state_cursor cursor = {0};
        struct state_entry *entry = NULL;
        while ((entry = state_next(state->ends, bucket, &cursor)) != NULL)
            TRY(close_sessions(emission, state_key(state->ends, entry), err));
        if (state_bucket_end(bucket) == last)
            break; /* the second is not over: what is left in it waits */
        state_bucket_drop(state->ends, bucket);
    }
    return flush(emission, err);
}

static enum status emit_all(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(state->keys, state->bucket, &cursor)) != NULL) {
        const struct sessions *sessions = sessions_of(entry);
        for (uint32_t i = 0; i < sessions->count; i++)
            TRY(emit(emission, state_key(state->keys, entry), &sessions->items[i], err));
    }
    return flush(emission, err);
}

static void count_updated(struct session_aggregate *state, uint32_t run)
{
    for (uint32_t i = 0; i < state->touched_count; i++) {
        struct bytes key = state->touched[i];
        struct state_entry *entry = state_find(state->keys, state->bucket, key, state_hash(key));
        const struct sessions *sessions = entry == NULL ? NULL : sessions_of(entry);
        for (uint32_t s = 0; sessions != NULL && s < sessions->count; s++)
            state->stats.rows_updated += sessions->items[s].run == run ? 1 : 0;
    }
}

static enum status session_finish(struct exec_node *self, struct exec_context *ctx,
                                  struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    struct emission *emission = calloc(1, sizeof *emission);
    CHECK(emission != NULL);
    emission->node = self;
    emission->ctx = ctx;
    enum status status =
        ctx->mode == EMIT_COMPLETE ? emit_all(emission, err) : evict(emission, err);
    free(emission);
    count_updated(state, ctx->run);
    return status;
}

static void put_key(struct session_aggregate *state, struct bytes key,
                    const struct sessions *sessions, struct buffer *out)
{
    struct buffer block = {0};
    buffer_clear(&state->value);
    for (uint32_t i = 0; i < sessions->count; i++) {
        const struct session *session = &sessions->items[i];
        buffer_clear(&block);
        aggregate_calls_save(&state->calls, session->block, &block, &state->scratch);
        varint_put(&state->value, (uint64_t)session->start_us);
        varint_put(&state->value, (uint64_t)session->end_us);
        varint_put(&state->value, block.size_bytes);
        buffer_add_bytes(&state->value, buffer_bytes(&block));
    }
    changelog_put(out, STATE_NO_END, key, buffer_bytes(&state->value));
    buffer_fini(&block);
}

static enum status session_changes(struct exec_node *self, struct exec_context *ctx,
                                   struct buffer *out, struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    (void)ctx;
    (void)err;
    for (uint32_t i = 0; i < state->touched_count; i++) {
        struct bytes key = state->touched[i];
        struct state_entry *entry = state_find(state->keys, state->bucket, key, state_hash(key));
        if (entry == NULL)
            changelog_take(out, STATE_NO_END, key);
        else
            put_key(state, key, sessions_of(entry), out);
    }
    return OK;
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of a session window",
                       NULL);
}

static enum status load_sessions(struct session_aggregate *state, struct bytes key,
                                 struct bytes value, struct error *err)
{
    struct sessions *sessions = open_key(state, key);
    while (value.size_bytes > 0) {
        uint64_t start = 0;
        uint64_t end = 0;
        uint64_t size = 0;
        if (!varint_take(&value, &start) || !varint_take(&value, &end) ||
            !varint_take(&value, &size) || size > value.size_bytes)
            return damaged(err);
        struct session *session = insert_session(sessions, sessions->count);
        session->start_us = (int64_t)start;
        session->end_us = (int64_t)end;
        session->block = new_block(state);
        state->session_count++;
        TRY(aggregate_calls_load(&state->calls, sessions->arena, bytes_of(value.data, (size_t)size),
                                 session->block, err));
        note_end(state, key, session->end_us);
        value = bytes_of(value.data + size, value.size_bytes - (size_t)size);
    }
    return OK;
}

static enum status session_restore(struct exec_node *self, const struct change *change,
                                   struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    if (change->kind == CHANGE_DROP)
        return damaged(err);
    uint64_t hash = state_hash(change->key);
    struct state_entry *entry = state_find(state->keys, state->bucket, change->key, hash);
    if (entry != NULL) {
        struct sessions *sessions = sessions_of(entry);
        state->session_count -= sessions->count;
        state_remove(state->keys, state->bucket, entry);
        sessions_free(sessions);
    }
    return change->kind == CHANGE_TAKE ? OK : load_sessions(state, change->key, change->value, err);
}

static enum status session_dump(struct exec_node *self, struct buffer *out, struct error *err)
{
    struct session_aggregate *state = self->state;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    (void)err;
    while ((entry = state_next(state->keys, state->bucket, &cursor)) != NULL)
        put_key(state, state_key(state->keys, entry), sessions_of(entry), out);
    return OK;
}

static void session_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    *out = state->stats;
    out->rows_total = state->session_count;
    out->memory_bytes = state_table_bytes(state->keys) + state_table_bytes(state->ends) +
                        state->session_count * (sizeof(struct session) + state->calls.block_bytes);
}

static bool session_wants_batch(const struct plan_node *node, enum emit_mode mode,
                                int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    return mode != EMIT_COMPLETE && watermark_us > last_watermark_us;
}

static void session_close(struct exec_node *self)
{
    struct session_aggregate *state = self->state;
    if (state == NULL || state->keys == NULL)
        return;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(state->keys, state->bucket, &cursor)) != NULL)
        sessions_free(sessions_of(entry));
    state_table_free(state->keys);
    state_table_free(state->ends);
    arena_free(state->arena);
    free(state->touched);
    buffer_fini(&state->scratch);
    buffer_fini(&state->value);
}

static const struct stateful_ops session_stateful = {
    .name = "sessionWindowStateStoreSaveExec",
    .writer = &node_exchange_writer,
    .pull = exchange_pull,
    .changes = session_changes,
    .restore = session_restore,
    .dump = session_dump,
    .stats = session_stats,
    .wants_batch = session_wants_batch,
};

const struct exec_node_ops node_session_aggregate = {
    .name = "Aggregate",
    .open = session_open,
    .begin = session_begin,
    .push = session_push,
    .finish = session_finish,
    .close = session_close,
    .stateful = &session_stateful,
};
