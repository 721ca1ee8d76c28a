/*
 * See aggregate_calls.h.
 */
#include "exec/aggregate_calls.h"

#include "base/check.h"
#include "expr/program.h"
#include "state/changelog.h"

/* Functions whose state is numbers alone, whatever they are computed of. */
static const char *const number_states[] = {
    "count",       "count_if",  "sum",      "avg",      "mean",     "stddev",     "stddev_pop",
    "stddev_samp", "std",       "variance", "var_pop",  "var_samp", "corr",       "covar_pop",
    "covar_samp",  "skewness",  "kurtosis", "bool_and", "bool_or",  "every",      "some",
    "any",         "bit_and",   "bit_or",   "bit_xor",  "try_sum",  "try_avg",    "regr_count",
    "regr_avgx",   "regr_avgy", "regr_sxx", "regr_sxy", "regr_syy", "regr_slope", "regr_r2",
};

static bool is_fixed(const struct type *type)
{
    return type->id != TYPE_STRING && type->id != TYPE_BINARY && type->id != TYPE_VARIANT &&
           !type_is_nested(type);
}

static bool has_plain_state(const struct expr *expr)
{
    const char *name = expr->aggregate.aggregate->name;
    for (size_t i = 0; i < sizeof number_states / sizeof number_states[0]; i++)
        if (strcmp(name, number_states[i]) == 0)
            return true;
    return (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) && is_fixed(expr->type);
}

/* What keeps its values copies each of them, when it is merged and when it is loaded: a copy made
 * before would stay in the arena, and be as large as the state. */
static bool has_copying_state(const struct expr *call)
{
    uint32_t keeps = AGGREGATE_KEEPS_ALL | AGGREGATE_KEEPS_DISTINCT;
    return (call->aggregate.aggregate->flags & keeps) != 0;
}

static uint32_t inputs_of(const struct expr *expr)
{
    return expr->arg_count + expr->aggregate.order_count + (expr->aggregate.filter != NULL ? 1 : 0);
}

static void lay_out(struct aggregate_calls *calls, const struct plan_node *node,
                    struct expr **inputs)
{
    uint32_t next = 0;
    calls->plain = true;
    for (; next < calls->key_count; next++) {
        inputs[next] = node->aggregate.keys[next];
        calls->key_types[next] = inputs[next]->type;
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct expr *expr = node->aggregate.aggregates[i];
        struct aggregate_call_slot *slot = &calls->slots[i];
        *slot = (struct aggregate_call_slot){
            .expr = expr,
            .first_input = next,
            .input_count = expr->arg_count + expr->aggregate.order_count,
            .filter_input = -1,
            .offset = calls->block_bytes,
            .plain = has_plain_state(expr),
            .copies = has_copying_state(expr),
            .merge = expr->aggregate.aggregate->ops->merge,
        };
        calls->plain = calls->plain && slot->plain;
        for (uint32_t a = 0; a < expr->arg_count; a++)
            inputs[next++] = expr->args[a];
        for (uint32_t k = 0; k < expr->aggregate.order_count; k++)
            inputs[next++] = expr->aggregate.order[k].expr;
        if (expr->aggregate.filter != NULL) {
            slot->filter_input = (int)next;
            inputs[next++] = expr->aggregate.filter;
        }
        calls->block_bytes += (uint32_t)((aggregate_state_bytes(expr) + 7) & ~(size_t)7);
    }
    CHECK(next == calls->input_count);
}

/* Notes the words of a block if all of them are integers that add up. */
static void find_adds(struct aggregate_calls *calls, struct arena *query)
{
    uint32_t words = calls->block_bytes / 8;
    calls->adds = 0;
    calls->counters = arena_new_object(query, AGGREGATE_ADDS_MAX * sizeof *calls->counters);
    for (uint32_t i = 0; i < calls->count; i++) {
        uint64_t counters = 0;
        uint32_t first = calls->slots[i].offset / 8;
        uint32_t end = i + 1 < calls->count ? calls->slots[i + 1].offset / 8 : words;
        if (end > AGGREGATE_ADDS_MAX || !aggregate_adds(calls->slots[i].expr, &counters))
            return;
        for (uint32_t word = first; word < end; word++)
            calls->counters[word] = (counters >> (word - first) & 1) != 0 ? UINT64_MAX : 0;
    }
    calls->adds = words;
}

enum status aggregate_calls_open(struct aggregate_calls *calls, struct arena *query,
                                 const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_AGGREGATE);
    *calls = (struct aggregate_calls){
        .count = node->aggregate.aggregate_count,
        .key_count = node->aggregate.key_count,
        .input_count = node->aggregate.key_count,
    };
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct expr *expr = node->aggregate.aggregates[i];
        calls->input_count += inputs_of(expr);
        if (expr->aggregate.distinct &&
            (expr->aggregate.aggregate->flags & AGGREGATE_DUPLICATES) == 0)
            return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                               "a DISTINCT aggregate over a stream", NULL);
    }
    calls->slots = arena_new_object(query, (calls->count + 1) * sizeof *calls->slots);
    calls->key_types = arena_new_object(query, (calls->key_count + 1) * sizeof *calls->key_types);
    struct expr **inputs = arena_new_object(query, (calls->input_count + 1) * sizeof *inputs);
    lay_out(calls, node, inputs);
    find_adds(calls, query);
    TRY(expr_compile(query, inputs, calls->input_count, &calls->program, err));
    return expr_state_new(query, calls->program, &calls->state, err);
}

enum status aggregate_calls_eval(const struct aggregate_calls *calls, struct exec_context *ctx,
                                 const struct batch *batch, struct vector ***inputs,
                                 struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, calls->input_count + 1, sizeof(struct vector *), &memory,
                    err));
    *inputs = memory;
    return expr_eval(calls->program, calls->state, &ctx->eval, batch, *inputs, err);
}

void aggregate_calls_init(const struct aggregate_calls *calls, uint8_t *block)
{
    for (uint32_t i = 0; i < calls->count; i++)
        aggregate_init(calls->slots[i].expr, block + calls->slots[i].offset);
}

/* The rows for which a FILTER condition is true. */
static enum status narrow(struct exec_context *ctx, const struct vector *condition,
                          const struct batch *batch, struct batch *out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(uint16_t), &memory, err));
    uint16_t *rows = memory;
    const uint8_t *cells = VECTOR_VALUES(const uint8_t, condition);
    *out = *batch;
    out->selection = rows;
    out->selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (!vector_is_null(condition, row) && cells[vector_index(condition, row)] != 0)
            rows[out->selected++] = (uint16_t)row;
    }
    return OK;
}

enum status aggregate_calls_update(const struct aggregate_calls *calls, struct exec_context *ctx,
                                   const struct batch *batch, struct vector **inputs,
                                   uint8_t *const *blocks, struct arena *arena, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected + 1, sizeof(uint8_t *), &memory, err));
    uint8_t **states = memory;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct aggregate_call_slot *slot = &calls->slots[i];
        struct batch rows = *batch;
        if (slot->filter_input >= 0)
            TRY(narrow(ctx, inputs[slot->filter_input], batch, &rows, err));
        if (rows.selected == 0)
            continue;
        for (uint32_t r = 0; r < rows.selected; r++)
            states[r] = blocks[batch_row(&rows, r)] + slot->offset;
        struct aggregate_update update = {
            .ctx = &ctx->eval,
            .expr = slot->expr,
            .args = inputs + slot->first_input,
            .arg_count = slot->input_count,
            .selection = rows.selection,
            .rows = rows.rows,
            .selected = rows.selected,
            .states = states,
            .arena = arena,
        };
        TRY(aggregate_update(&update, err));
    }
    return OK;
}

/* A state that points into memory that goes away is moved by way of its bytes. */
static enum status merge_moved(const struct aggregate_call_slot *slot, struct arena *arena,
                               uint8_t *into, const uint8_t *from, struct buffer *scratch,
                               struct error *err)
{
    const struct aggregate_ops *ops = slot->expr->aggregate.aggregate->ops;
    uint8_t *moved = arena_new_object(arena, aggregate_state_bytes(slot->expr));
    struct bytes saved;
    buffer_clear(scratch);
    ops->save(slot->expr, from, scratch);
    saved = arena_copy(arena, buffer_bytes(scratch));
    aggregate_init(slot->expr, moved);
    TRY(ops->load(slot->expr, arena, saved, moved, err));
    return ops->merge(slot->expr, arena, into, moved, err);
}

static inline __attribute__((always_inline)) bool
add_words(const struct aggregate_calls *calls, uint8_t *into, const uint8_t *from, uint32_t words)
{
    uint64_t sums[AGGREGATE_ADDS_MAX];
    for (uint32_t i = 0; i < words; i++)
        memcpy(&sums[i], into + (size_t)i * 8, 8);
    if (aggregate_calls_add(calls, sums, from, words) >> 63 != 0)
        return false;
    for (uint32_t i = 0; i < words; i++)
        memcpy(into + (size_t)i * 8, &sums[i], 8);
    return true;
}

/* False: it has done nothing, as this is a case for the functions. */
static bool add_block(const struct aggregate_calls *calls, uint8_t *into, const uint8_t *from)
{
    switch (calls->adds) {
    case 0:
        return false;
    case 1:
        return add_words(calls, into, from, 1);
    case 2:
        return add_words(calls, into, from, 2);
    case 3:
        return add_words(calls, into, from, 3);
    default:
        return add_words(calls, into, from, calls->adds);
    }
}

enum status aggregate_calls_merge(const struct aggregate_calls *calls, struct arena *arena,
                                  uint8_t *into, const uint8_t *from, struct buffer *scratch,
                                  struct error *err)
{
    if (add_block(calls, into, from))
        return OK;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct aggregate_call_slot *slot = &calls->slots[i];
        if (slot->plain || slot->copies)
            TRY(slot->merge(slot->expr, arena, into + slot->offset, from + slot->offset, err));
        else
            TRY(merge_moved(slot, arena, into + slot->offset, from + slot->offset, scratch, err));
    }
    return OK;
}

enum status aggregate_calls_finish(const struct aggregate_calls *calls, struct exec_context *ctx,
                                   uint8_t *const *blocks, uint32_t count, struct vector **out,
                                   struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, count + 1, sizeof(uint8_t *), &memory, err));
    uint8_t **states = memory;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct aggregate_call_slot *slot = &calls->slots[i];
        const struct aggregate_ops *ops = slot->expr->aggregate.aggregate->ops;
        for (uint32_t r = 0; r < count; r++)
            states[r] = blocks[r] + slot->offset;
        TRY(vector_new(ctx->batch_arena, slot->expr->type, count, &out[i], err));
        struct aggregate_update call = {
            .ctx = &ctx->eval, .expr = slot->expr, .rows = count, .arena = ctx->batch_arena};
        TRY(ops->finish(&call, states, count, out[i], err));
    }
    return OK;
}

/*
 * A block of plain states as 64-bit words without their leading zero bytes: for two words a byte
 * with the size of each (the first in the low half), then the words, little-endian.
 */
static void save_words(const uint8_t *block, size_t words, struct buffer *out)
{
    uint8_t *head = buffer_reserve(out, words * 9 + 16);
    uint8_t *to = head;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;
        memcpy(&word, block + i * 8, sizeof word);
        unsigned size = word == 0 ? 0 : (unsigned)(71 - __builtin_clzll(word)) / 8;
        if (i % 2 == 0) {
            head = to++;
            *head = (uint8_t)size;
        } else {
            *head = (uint8_t)(*head | size << 4);
        }
        memcpy(to, &word, sizeof word);
        to += size;
    }
    out->size_bytes = (size_t)(to - out->data);
}

static bool load_words(struct bytes in, uint8_t *block, size_t words)
{
    const uint8_t *from = in.data;
    const uint8_t *end = from + in.size_bytes;
    unsigned sizes = 0;
    for (size_t i = 0; i < words; i++) {
        if (i % 2 == 0 && from == end)
            return false;
        sizes = i % 2 == 0 ? *from++ : sizes >> 4;
        unsigned size = sizes & 15;
        uint64_t word = 0;
        if (size > sizeof word || (size_t)(end - from) < size)
            return false;
        memcpy(&word, from, size);
        memcpy(block + i * 8, &word, sizeof word);
        from += size;
    }
    return from == end;
}

void aggregate_calls_save(const struct aggregate_calls *calls, const uint8_t *block,
                          struct buffer *out, struct buffer *scratch)
{
    if (calls->plain) {
        save_words(block, calls->block_bytes / 8, out);
        return;
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct aggregate_call_slot *slot = &calls->slots[i];
        buffer_clear(scratch);
        slot->expr->aggregate.aggregate->ops->save(slot->expr, block + slot->offset, scratch);
        varint_put(out, scratch->size_bytes);
        buffer_add_bytes(out, buffer_bytes(scratch));
    }
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of an aggregate", NULL);
}

enum status aggregate_calls_load(const struct aggregate_calls *calls, struct arena *arena,
                                 struct bytes in, uint8_t *block, struct error *err)
{
    if (calls->plain)
        return load_words(in, block, calls->block_bytes / 8) ? OK : damaged(err);
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct aggregate_call_slot *slot = &calls->slots[i];
        uint64_t size = 0;
        if (!varint_take(&in, &size) || size > in.size_bytes)
            return damaged(err);
        struct bytes saved = bytes_of(in.data, (size_t)size);
        if (!slot->plain && !slot->copies)
            saved = arena_copy(arena, saved);
        TRY(slot->expr->aggregate.aggregate->ops->load(slot->expr, arena, saved,
                                                       block + slot->offset, err));
        in = bytes_of(in.data + size, in.size_bytes - (size_t)size);
    }
    return in.size_bytes == 0 ? OK : damaged(err);
}

const char *aggregate_call_keeps(const struct expr *call)
{
    uint32_t flags = call->aggregate.aggregate->flags;
    if ((flags & AGGREGATE_KEEPS_DISTINCT) != 0 ||
        (call->aggregate.distinct && (flags & AGGREGATE_DUPLICATES) == 0))
        return "each distinct value";
    return (flags & AGGREGATE_KEEPS_ALL) != 0 ? "each value" : NULL;
}
