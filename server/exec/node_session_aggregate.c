/*
 * Aggregation by session windows over a stream.
 *
 * The state of a key (the grouping keys but the session) is the list of its open sessions, each
 * with the states of the functions (exec/session_store.h).  A row opens a session of its own, which
 * merges with every session that it overlaps or touches; most rows have met in the stage before
 * (node_session_writer.c).  In append mode a session comes out, and goes, when the eviction
 * watermark has reached its end; in complete mode all come out in every batch.
 *
 * What is durable is, for each key, all its sessions.
 *
 * Keys that were let go (state/spill.h) come back when a batch has rows for them, and when a pass
 * over the disk, made once the watermark has reached the first of their ends, finds that one of
 * their sessions has ended: some keys at a time, which are gone before the next come.
 */
#include "base/check.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/node_session_writer.h"
#include "exec/session_key.h"
#include "exec/stateful.h"
#include "exec/touched_list.h"

#include <stdlib.h>

#define SESSION_MAGIC 0x5e55a601U
#define AHEAD         16  /* keys that are looked for together */
#define KEY_BYTES     250 /* of memory for a key that ends, besides twice its bytes on the disk */
#define PASSING_BYTES ((size_t)1 << 20)

struct session_aggregate {
    uint32_t magic;
    uint32_t session_key;
    struct aggregate_calls calls;
    const struct type **other_types; /* of the keys but the session */
    uint32_t other_count;
    struct session_store store;
    struct touched_list touched; /* keys of this batch; some may be gone */
    struct operator_stats stats;
    struct buffer scratch;
    struct buffer value;
    struct spill spill;
    uint64_t spilled_sessions;
    int64_t spilled_first_us; /* none of them ends before */
    struct spill_walk walk;   /* over the disk, for those that have ended */
    bool walking;
    bool counted;          /* the keys that the batch has rows for */
    struct arena *passing; /* sessions of the disk that only come out; NULL until needed */
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
    session_store_init(&state->store, &state->calls);
    state->spilled_first_us = INT64_MAX;
    return OK;
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of a session window",
                       NULL);
}

/* A session as it is durable. */
struct saved_session {
    int64_t start_us;
    int64_t end_us;
    struct bytes block;
};

static enum status read_session(struct bytes *value, struct saved_session *out, struct error *err)
{
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t size = 0;
    if (!varint_take(value, &start) || !varint_take(value, &end) || !varint_take(value, &size) ||
        size > value->size_bytes)
        return damaged(err);
    *out = (struct saved_session){
        .start_us = (int64_t)start,
        .end_us = (int64_t)end,
        .block = bytes_of(value->data, (size_t)size),
    };
    *value = bytes_of(value->data + size, value->size_bytes - (size_t)size);
    return OK;
}

static enum status load_sessions(struct session_aggregate *state, struct state_entry *entry,
                                 struct bytes value, struct error *err)
{
    while (value.size_bytes > 0) {
        struct saved_session saved = {0};
        TRY(read_session(&value, &saved, err));
        struct session_item *item =
            session_store_append(&state->store, entry, saved.start_us, saved.end_us);
        TRY(aggregate_calls_load(&state->calls, session_list_of(entry)->arena, saved.block,
                                 item->block, err));
    }
    return OK;
}

/* ---- what is on the disk only ---- */

/* Keys on their way to the disk, or off it. */
struct entry_source {
    struct spill_source base;
    struct session_aggregate *state;
};

struct pass {
    struct spill_receiver base;
    struct session_aggregate *state;
    int64_t watermark_us;
    uint64_t keys; /* that came back */
};

static bool is_in_memory(const struct session_aggregate *state, struct bytes key)
{
    const struct session_store *store = &state->store;
    return state_find(store->table, store->bucket, key, state_hash(key)) != NULL;
}

static enum status load_key(struct spill_receiver *self, int64_t bucket, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct pass *pass = (struct pass *)self;
    struct session_aggregate *state = pass->state;
    struct state_entry *entry = session_store_open(&state->store, key, state_hash(key));
    uint64_t before = state->store.sessions;
    (void)bucket;
    TRY(load_sessions(state, entry, value, err));
    uint64_t loaded = state->store.sessions - before;
    state->spilled_sessions -= loaded < state->spilled_sessions ? loaded : state->spilled_sessions;
    pass->keys++;
    return OK;
}

/* Loads the key if one of its sessions has ended. */
static enum status load_ended(struct spill_receiver *self, int64_t bucket, struct bytes key,
                              struct bytes value, struct error *err)
{
    struct pass *pass = (struct pass *)self;
    int64_t first_us = INT64_MAX;
    if (is_in_memory(pass->state, key))
        return OK;
    for (struct bytes rest = value; rest.size_bytes > 0;) {
        struct saved_session saved = {0};
        TRY(read_session(&rest, &saved, err));
        if (saved.end_us < first_us)
            first_us = saved.end_us;
    }
    if (first_us <= pass->watermark_us) {
        spill_walk_take(&pass->state->walk, KEY_BYTES + 2 * (key.size_bytes + value.size_bytes));
        return load_key(self, bucket, key, value, err);
    }
    if (first_us < pass->state->spilled_first_us)
        pass->state->spilled_first_us = first_us;
    return OK;
}

static enum status sift(struct session_aggregate *state, int64_t watermark_us, uint64_t room,
                        bool *more, struct error *err)
{
    struct pass pass = {
        .base = {.receive = load_ended}, .state = state, .watermark_us = watermark_us};
    struct spill_bucket *spilled = spill_find(&state->spill, STATE_NO_END);
    *more = false;
    if (spilled == NULL || (!state->walking && state->spilled_first_us > watermark_us))
        return OK;
    if (!state->walking) {
        state->walk = (struct spill_walk){0};
        state->spilled_first_us = INT64_MAX;
    }
    state->walk.room = room;
    TRY(spill_walk(&state->spill, STATE_NO_END, &state->walk, &pass.base, err));
    state->walking = *more = !state->walk.over;
    spilled->entries -= pass.keys < spilled->entries ? pass.keys : spilled->entries;
    state->spill.fetched += pass.keys;
    return OK;
}

/* The sessions of the writer's keys that are on the disk only come back into memory. */
static enum status fetch_keys(struct session_aggregate *state, const struct exec_context *ctx,
                              const struct session_groups *groups, struct error *err)
{
    struct pass pass = {.base = {.receive = load_key}, .state = state};
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct session_group *group = &groups->groups[groups->order[i]];
        bool late = group->end_us <= ctx->late_watermark_us;
        if (!late && exec_in_round(ctx, group->hash) && !is_in_memory(state, group->key))
            spill_want(&state->spill, STATE_NO_END, group->hash, group->key);
    }
    return spill_fetch(&state->spill, &pass.base, err);
}

/* ---- a batch ---- */

static enum status session_begin(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    (void)ctx;
    (void)err;
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    touched_clear(&state->touched);
    state->counted = false;
    state->stats = (struct operator_stats){0};
    session_store_pack(&state->store);
    spill_begin(&state->spill);
    return OK;
}

static void touch(struct session_aggregate *state, struct state_entry *entry, uint32_t run)
{
    if (entry->stamp == run)
        return;
    entry->stamp = run;
    touched_add(&state->touched, STATE_NO_END, entry);
}

/* Some sessions of a writer: first all keys are looked for, then all are merged. */
static enum status take_groups(struct session_aggregate *state, struct exec_context *ctx,
                               const struct session_groups *groups, uint32_t first, uint32_t count,
                               struct error *err)
{
    struct session_store *store = &state->store;
    struct state_entry *entries[AHEAD];
    for (uint32_t i = 0; i < count; i++) {
        const struct session_group *group = &groups->groups[groups->order[first + i]];
        entries[i] = NULL;
        if (!exec_in_round(ctx, group->hash))
            continue;
        if (group->end_us <= ctx->late_watermark_us) {
            state->stats.rows_dropped++;
            continue;
        }
        entries[i] = session_store_open(store, group->key, group->hash);
        __builtin_prefetch(session_list_of(entries[i])->items);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct session_group *group = &groups->groups[groups->order[first + i]];
        if (entries[i] == NULL)
            continue;
        struct session_part part = {
            .start_us = group->start_us, .end_us = group->end_us, .block = group->block};
        touch(state, entries[i], ctx->run);
        TRY(session_store_add(store, entries[i], &part, ctx->run, err));
    }
    return OK;
}

static enum status take_all(struct session_aggregate *state, struct exec_context *ctx,
                            const struct session_groups *groups, struct error *err)
{
    if (!spill_is_empty(&state->spill))
        TRY(fetch_keys(state, ctx, groups, err));
    for (uint32_t first = 0; first < groups->count; first += AHEAD) {
        uint32_t left = groups->count - first;
        for (uint32_t i = AHEAD; i < 2 * AHEAD && i < left; i++)
            state_bucket_prefetch(state->store.bucket,
                                  groups->groups[groups->order[first + i]].hash);
        for (uint32_t i = 2 * AHEAD; i < 3 * AHEAD && i < left; i++)
            __builtin_prefetch(&groups->groups[groups->order[first + i]]);
        TRY(take_groups(state, ctx, groups, first, left < AHEAD ? left : AHEAD, err));
    }
    return OK;
}

static enum status take_moved(struct session_aggregate *state, struct exec_context *ctx,
                              const struct exec_node *writer, struct error *err)
{
    struct session_moved moved = {0};
    struct session_groups groups = {0};
    enum status status = OK;
    do {
        status = session_groups_moved(writer, ctx, &moved, &groups, err);
        if (status == OK)
            status = take_all(state, ctx, &groups, err);
    } while (status == OK && groups.count > 0);
    session_moved_fini(&moved);
    return status;
}

static enum status session_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                struct exec_node *writer, struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    CHECK(input == 0);
    TRY(take_moved(state, ctx, writer, err));
    struct session_groups groups = session_groups(writer, ctx->run, ctx->partition);
    return take_all(state, ctx, &groups, err);
}

/* Sessions on their way out. */
struct emission {
    struct exec_node *node;
    struct exec_context *ctx;
    uint32_t count;
    struct bytes keys[BATCH_ROWS_MAX];
    int64_t starts[BATCH_ROWS_MAX];
    int64_t ends[BATCH_ROWS_MAX];
    uint8_t *states[BATCH_ROWS_MAX];
    uint8_t *blocks; /* copies: the items of closed sessions go before their rows do */
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

static enum status flush(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    struct exec_context *ctx = emission->ctx;
    const struct aggregate_calls *calls = &state->calls;
    uint32_t count = emission->count;
    emission->count = 0;
    if (count == 0)
        return OK;
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
    TRY(aggregate_calls_finish(calls, ctx, emission->states, count, out.columns + calls->key_count,
                               err));
    return exec_emit(emission->node, ctx, &out, err);
}

static enum status emit(struct emission *emission, struct bytes key,
                        const struct session_item *item, struct error *err)
{
    const struct session_aggregate *state = emission->node->state;
    uint32_t block_bytes = state->calls.block_bytes;
    uint32_t at = emission->count++;
    emission->keys[at] = key;
    emission->starts[at] = item->start_us;
    emission->ends[at] = item->end_us;
    emission->states[at] = emission->blocks + (size_t)at * block_bytes;
    if (block_bytes > 0)
        memcpy(emission->states[at], item->block, block_bytes);
    return emission->count < BATCH_ROWS_MAX ? OK : flush(emission, err);
}

/* Takes the ended sessions of a key out of its list. */
static enum status close_sessions(struct emission *emission, struct state_entry *entry,
                                  struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    struct session_store *store = &state->store;
    struct session_list *list = session_list_of(entry);
    struct bytes key = state_key(store->table, entry); /* stays until holes are closed */
    uint32_t run = emission->ctx->run;
    for (uint32_t i = 0; i < list->count;) {
        const struct session_item *item = session_item_at(store, list, i);
        if (item->end_us > emission->ctx->eviction_watermark_us) {
            i++;
            continue;
        }
        touch(state, entry, run);
        state->stats.rows_removed++;
        TRY(emit(emission, key, item, err));
        session_store_remove(store, list, i);
    }
    if (list->count > 0)
        return OK;
    if (list->arena != NULL)
        TRY(flush(emission, err)); /* states lie in the memory of the key */
    session_store_remove_key(store, entry);
    return OK;
}

static enum status close_slice(struct emission *emission, const struct session_slice *slice,
                               struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    for (uint32_t i = 0; i < slice->count; i++) {
        struct state_entry *entry = slice->entries[i];
        if (i + AHEAD < slice->count)
            __builtin_prefetch(slice->entries[i + AHEAD]);
        if (i + AHEAD / 2 < slice->count)
            __builtin_prefetch(session_list_of(slice->entries[i + AHEAD / 2])->items);
        if (session_entry_is_gone(entry))
            continue;
        TRY(close_sessions(emission, entry, err));
        if (!session_entry_is_gone(entry))
            session_store_note(&state->store, entry, slice->number);
    }
    return OK;
}

/* The second of the watermark is not over: what is left in it is noted there anew. */
static enum status evict(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    int64_t last = session_slice_of(emission->ctx->eviction_watermark_us);
    struct session_slice slice = {.number = INT64_MIN};
    while (slice.number != last && session_store_take_slice(&state->store, last, &slice)) {
        enum status status = close_slice(emission, &slice, err);
        free(slice.entries);
        TRY(status);
    }
    return flush(emission, err);
}

static struct bytes entry_key(struct spill_source *self, const void *item)
{
    return state_key(((struct entry_source *)self)->state->store.table, item);
}

/* Keys that have gone are gone on the disk, too. */
static enum status forget_gone(struct session_aggregate *state, struct error *err)
{
    struct entry_source source = {.base = {.key = entry_key}, .state = state};
    if (spill_is_empty(&state->spill))
        return OK;
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&state->touched, &cursor)) != NULL)
        if (session_entry_is_gone(entry))
            TRY(spill_put(&state->spill, STATE_NO_END,
                          state_hash(state_key(state->store.table, entry)), entry, &source.base,
                          err));
    return spill_flush(&state->spill, STATE_NO_END, &source.base, err);
}

/* Emits the sessions of the disk that memory does not have. */
struct passage {
    struct spill_receiver base;
    struct emission *emission;
};

static enum status pass_key(struct spill_receiver *self, int64_t bucket, struct bytes key,
                            struct bytes value, struct error *err)
{
    struct emission *emission = ((struct passage *)self)->emission;
    struct session_aggregate *state = emission->node->state;
    struct arena *arena = state->passing;
    (void)bucket;
    if (is_in_memory(state, key))
        return OK;
    if (arena_used_bytes(arena) >= PASSING_BYTES)
        TRY(flush(emission, err));
    if (emission->count == 0)
        arena_reset(arena);
    struct bytes copy = arena_copy(arena, key);
    while (value.size_bytes > 0) {
        struct saved_session saved = {0};
        TRY(read_session(&value, &saved, err));
        struct session_item *item = arena_new_object(arena, state->store.item_bytes);
        item->start_us = saved.start_us;
        item->end_us = saved.end_us;
        aggregate_calls_init(&state->calls, item->block);
        TRY(aggregate_calls_load(&state->calls, arena, saved.block, item->block, err));
        TRY(emit(emission, copy, item, err));
    }
    return OK;
}

static enum status emit_spilled(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    struct passage passage = {.base = {.receive = pass_key}, .emission = emission};
    if (spill_is_empty(&state->spill))
        return OK;
    if (state->passing == NULL)
        state->passing = arena_new("passing sessions", 0);
    TRY(flush(emission, err));
    TRY(spill_scan(&state->spill, STATE_NO_END, &passage.base, err));
    TRY(flush(emission, err));
    arena_reset(state->passing);
    return OK;
}

static enum status emit_all(struct emission *emission, struct error *err)
{
    struct session_aggregate *state = emission->node->state;
    const struct session_store *store = &state->store;
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = state_next(store->table, store->bucket, &cursor)) != NULL) {
        const struct session_list *list = session_list_of(entry);
        for (uint32_t i = 0; i < list->count; i++)
            TRY(emit(emission, state_key(store->table, entry), session_item_at(store, list, i),
                     err));
    }
    TRY(emit_spilled(emission, err));
    return flush(emission, err);
}

/* Before any session is closed: all of a key that has got rows count, as Spark writes them all;
 * and those that the state had with a start that is none any more count as removed. */
static void count_updated(struct session_aggregate *state)
{
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&state->touched, &cursor)) != NULL)
        state->stats.rows_updated += session_list_of(entry)->count;
    state->stats.rows_removed += state->store.replaced;
    state->store.replaced = 0;
}

static enum status session_finish(struct exec_node *self, struct exec_context *ctx,
                                  struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    struct emission *emission = heap_malloc(sizeof *emission);
    emission->node = self;
    emission->ctx = ctx;
    emission->count = 0;
    emission->blocks = heap_malloc((size_t)BATCH_ROWS_MAX * state->calls.block_bytes + 1);
    if (!state->counted)
        count_updated(state);
    state->counted = true;
    enum status status = ctx->mode == EMIT_COMPLETE ? emit_all(emission, err) : OK;
    int64_t began_us = exec_clock_us(ctx);
    if (status == OK && ctx->mode != EMIT_COMPLETE)
        status = evict(emission, err);
    if (status == OK)
        status = forget_gone(state, err);
    ctx->removal_us += exec_clock_us(ctx) - began_us;
    free(emission->blocks);
    free(emission);
    return status;
}

/* What ends together with keys of the last part comes out when the operator finishes. */
static enum status session_expire(struct exec_node *self, struct exec_context *ctx, uint64_t room,
                                  bool *more, struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    *more = false;
    if (ctx->mode == EMIT_COMPLETE)
        return OK;
    TRY(sift(state, ctx->eviction_watermark_us, room, more, err));
    return *more ? session_finish(self, ctx, err) : OK;
}

/* Nothing comes out, or everything in the end. */
static enum status session_end_round(struct exec_node *self, struct exec_context *ctx,
                                     struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    (void)ctx;
    (void)err;
    count_updated(state);
    return OK;
}

/* ---- what is durable ---- */

/* All sessions of a key. */
static void save_sessions(struct session_aggregate *state, const struct session_list *list,
                          struct buffer *out)
{
    struct buffer block = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct session_item *item = session_item_at(&state->store, list, i);
        buffer_clear(&block);
        aggregate_calls_save(&state->calls, item->block, &block, &state->scratch);
        varint_put(out, (uint64_t)item->start_us);
        varint_put(out, (uint64_t)item->end_us);
        varint_put(out, block.size_bytes);
        buffer_add_bytes(out, buffer_bytes(&block));
    }
    buffer_fini(&block);
}

static void put_key(struct session_aggregate *state, struct state_entry *entry, struct buffer *out)
{
    buffer_clear(&state->value);
    save_sessions(state, session_list_of(entry), &state->value);
    changelog_put(out, STATE_NO_END, state_key(state->store.table, entry),
                  buffer_bytes(&state->value));
}

static enum status session_changes(struct exec_node *self, struct exec_context *ctx,
                                   struct buffer *out, struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    (void)ctx;
    (void)err;
    struct touched_cursor cursor = {0};
    struct state_entry *entry = NULL;
    while ((entry = touched_next(&state->touched, &cursor)) != NULL) {
        if (session_entry_is_gone(entry))
            changelog_take(out, STATE_NO_END, state_key(state->store.table, entry));
        else
            put_key(state, entry, out);
    }
    return OK;
}

/* Sessions are counted: those on the disk, too. */
static enum status take_back(struct session_aggregate *state, struct bytes key, uint64_t hash,
                             struct error *err)
{
    struct pass pass = {.base = {.receive = load_key}, .state = state};
    if (is_in_memory(state, key))
        return OK;
    spill_want(&state->spill, STATE_NO_END, hash, key);
    return spill_fetch(&state->spill, &pass.base, err);
}

static enum status session_restore(struct exec_node *self, const struct change *change,
                                   struct error *err)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    struct session_store *store = &state->store;
    if (change->kind == CHANGE_DROP)
        return damaged(err);
    uint64_t hash = state_hash(change->key);
    if (!spill_is_empty(&state->spill))
        TRY(take_back(state, change->key, hash, err));
    struct state_entry *entry = state_find(store->table, store->bucket, change->key, hash);
    if (entry != NULL)
        session_store_remove_key(store, entry);
    if (change->kind == CHANGE_TAKE)
        return spill_remove(&state->spill, STATE_NO_END, change->key, err);
    return load_sessions(state, session_store_open(store, change->key, hash), change->value, err);
}

static void session_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    *out = state->stats;
    out->rows_total = state->store.sessions + state->spilled_sessions;
    out->memory_bytes = session_store_bytes(&state->store) + spill_bytes(&state->spill) +
                        touched_bytes(&state->touched);
    stateful_spill_stats(&state->spill, out);
}

static struct spill *session_spill(struct exec_node *self)
{
    struct session_aggregate *state = self->state;
    CHECK_MAGIC(state, SESSION_MAGIC);
    return &state->spill;
}

static void leaving_value(struct spill_source *self, const void *item, struct buffer *out)
{
    const struct state_entry *entry = item;
    struct session_list list;
    memcpy(&list, entry->data, sizeof list);
    save_sessions(((struct entry_source *)self)->state, &list, out);
}

/* All keys go: what has rows again comes back. */
static enum status session_let_go(struct exec_node *self, uint64_t bytes, struct error *err)
{
    struct session_aggregate *state = self->state;
    struct session_store *store = &state->store;
    CHECK_MAGIC(state, SESSION_MAGIC);
    struct entry_source source = {.base = {.key = entry_key, .value = leaving_value},
                                  .state = state};
    struct state_cursor cursor = {0};
    struct state_entry *entry = NULL;
    (void)bytes;
    touched_fini(&state->touched);
    while ((entry = state_next(store->table, store->bucket, &cursor)) != NULL) {
        const struct session_list *list = session_list_of(entry);
        for (uint32_t i = 0; i < list->count; i++)
            if (session_item_at(store, list, i)->end_us < state->spilled_first_us)
                state->spilled_first_us = session_item_at(store, list, i)->end_us;
        TRY(spill_put(&state->spill, STATE_NO_END, state_hash(state_key(store->table, entry)),
                      entry, &source.base, err));
    }
    TRY(spill_flush(&state->spill, STATE_NO_END, &source.base, err));
    state->spilled_sessions += store->sessions;
    session_store_fini(store);
    session_store_init(store, &state->calls);
    spill_let_go(&state->spill, STATE_NO_END);
    spill_trim(&state->spill);
    return OK;
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
    if (state == NULL)
        return;
    session_store_fini(&state->store);
    spill_fini(&state->spill);
    arena_free(state->passing);
    touched_fini(&state->touched);
    buffer_fini(&state->scratch);
    buffer_fini(&state->value);
}

static const struct stateful_ops session_stateful = {
    .name = "sessionWindowStateStoreSaveExec",
    .writer = &node_session_writer,
    .pull = session_pull,
    .changes = session_changes,
    .restore = session_restore,
    .stats = session_stats,
    .spill = session_spill,
    .let_go = session_let_go,
    .end_round = session_end_round,
    .expire = session_expire,
    .wants_batch = session_wants_batch,
};

const struct exec_node_ops node_session_aggregate = {
    .name = "Aggregate",
    .open = session_open,
    .begin = session_begin,
    .finish = session_finish,
    .close = session_close,
    .stateful = &session_stateful,
};
