/*
 * Aggregate of a bounded run: a hash table from keys to aggregate states, emptied at the end.
 * Without keys there is one group, also over no rows.
 *
 * DISTINCT: a row reaches update() only if its arguments are new to its group.  FILTER narrows the
 * selection of its aggregate.
 */
#include "base/check.h"
#include "base/heap.h"
#include "exec/group_table.h"
#include "exec/node.h"
#include "expr/aggregate.h"
#include "expr/program.h"

#include <stdlib.h>

#define AGGREGATE_MAGIC 0xa6670001U

/* One aggregate call: where its inputs are in the program's results, its state in a group's. */
struct aggregate_slot {
    const struct expr *call;
    uint32_t first_input; /* args, then order keys */
    uint32_t input_count;
    int filter_input; /* -1: none */
    size_t offset;    /* of its state in a group's row */
    bool distinct;
    struct group_table seen; /* DISTINCT: group number and arguments */
};

struct aggregate_state {
    uint32_t magic;
    const struct expr_program *program; /* keys, then the inputs of all aggregates */
    struct expr_state *state;
    uint32_t input_count; /* keys included */
    struct aggregate_slot *slots;
    struct group_table groups;
    struct arena *arena; /* states and what they hold */
    size_t row_bytes;
    uint8_t **rows; /* by group */
    uint32_t row_capacity;
};

static uint32_t inputs_of(const struct expr *call)
{
    return call->arg_count + call->aggregate.order_count + (call->aggregate.filter != NULL ? 1 : 0);
}

/* Lays out the inputs of all aggregates behind the keys, and their states in a group's row. */
static void slots_init(struct aggregate_state *aggregate, const struct plan_node *node,
                       struct expr **inputs)
{
    uint32_t next = node->aggregate.key_count;
    memcpy(inputs, node->aggregate.keys, next * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        const struct expr *call = node->aggregate.aggregates[i];
        struct aggregate_slot *slot = &aggregate->slots[i];
        *slot = (struct aggregate_slot){
            .call = call,
            .first_input = next,
            .input_count = call->arg_count + call->aggregate.order_count,
            .filter_input = -1,
            .offset = aggregate->row_bytes,
            .distinct = call->aggregate.distinct &&
                        (call->aggregate.aggregate->flags & AGGREGATE_DUPLICATES) == 0,
        };
        for (uint32_t a = 0; a < call->arg_count; a++)
            inputs[next++] = call->args[a];
        for (uint32_t k = 0; k < call->aggregate.order_count; k++)
            inputs[next++] = call->aggregate.order[k].expr;
        if (call->aggregate.filter != NULL) {
            slot->filter_input = (int)next;
            inputs[next++] = call->aggregate.filter;
        }
        if (slot->distinct)
            group_table_init(&slot->seen);
        aggregate->row_bytes += (aggregate_state_bytes(call) + 7) & ~(size_t)7;
    }
    CHECK(next == aggregate->input_count);
}

static enum status aggregate_open(struct exec_node *self, struct arena *query,
                                  const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_AGGREGATE);
    struct aggregate_state *aggregate = arena_new_object(query, sizeof *aggregate);
    aggregate->magic = AGGREGATE_MAGIC;
    aggregate->arena = arena_new("groups", 0);
    aggregate->slots =
        arena_new_object(query, (node->aggregate.aggregate_count + 1U) * sizeof *aggregate->slots);
    group_table_init(&aggregate->groups);
    self->state = aggregate;
    aggregate->input_count = node->aggregate.key_count;
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++)
        aggregate->input_count += inputs_of(node->aggregate.aggregates[i]);
    struct expr **inputs = arena_new_object(query, (aggregate->input_count + 1U) * sizeof *inputs);
    slots_init(aggregate, node, inputs);
    TRY(expr_compile(query, inputs, aggregate->input_count, &aggregate->program, err));
    return expr_state_new(query, aggregate->program, &aggregate->state, err);
}

/* The group of a key; a new one gets empty states. */
static enum status group_row(struct exec_node *self, struct bytes key, uint32_t *group,
                             struct error *err)
{
    struct aggregate_state *aggregate = self->state;
    bool added = false;
    *group = group_table_add(&aggregate->groups, key, &added);
    if (!added)
        return OK;
    if (*group >= aggregate->row_capacity) {
        aggregate->row_capacity = aggregate->row_capacity == 0 ? 256 : aggregate->row_capacity * 2;
        aggregate->rows =
            heap_realloc(aggregate->rows, aggregate->row_capacity * sizeof *aggregate->rows);
    }
    void *row = NULL;
    TRY(arena_alloc(aggregate->arena, 1, aggregate->row_bytes + 1, &row, err));
    aggregate->rows[*group] = row;
    for (uint32_t i = 0; i < self->plan->aggregate.aggregate_count; i++)
        aggregate_init(aggregate->slots[i].call,
                       aggregate->rows[*group] + aggregate->slots[i].offset);
    return OK;
}

static enum status aggregate_begin(struct exec_node *self, struct exec_context *ctx,
                                   struct error *err)
{
    (void)ctx;
    struct aggregate_state *aggregate = self->state;
    group_table_clear(&aggregate->groups);
    arena_reset(aggregate->arena);
    for (uint32_t i = 0; i < self->plan->aggregate.aggregate_count; i++) {
        if (aggregate->slots[i].distinct)
            group_table_clear(&aggregate->slots[i].seen);
    }
    uint32_t group = 0;
    if (self->plan->aggregate.key_count == 0)
        TRY(group_row(self, bytes_of("", 0), &group, err));
    return OK;
}

/* The rows of one batch with their groups, and the same narrowed for one aggregate. */
struct grouped_rows {
    const uint16_t *selection;
    uint32_t selected;
    const uint32_t *groups; /* by position in the selection */
};

static enum status narrow(struct exec_context *ctx, const struct grouped_rows *all,
                          const struct vector *filter, struct grouped_rows *out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, all->selected + 1U, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, all->selected + 1U, sizeof(uint32_t), &memory, err));
    uint32_t *groups = memory;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->selected; i++) {
        uint32_t row = all->selection == NULL ? i : all->selection[i];
        if (vector_is_null(filter, row) ||
            VECTOR_VALUES(uint8_t, filter)[vector_index(filter, row)] == 0)
            continue;
        selection[count] = (uint16_t)row;
        groups[count++] = all->groups[i];
    }
    *out = (struct grouped_rows){.selection = selection, .selected = count, .groups = groups};
    return OK;
}

/* Keeps the rows whose arguments their group has not seen. */
static enum status only_new(struct exec_context *ctx, struct aggregate_slot *slot,
                            struct vector *const *args, struct grouped_rows *rows,
                            struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, rows->selected + 1U, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    TRY(row_key_encode(ctx->batch_arena, args, slot->call->arg_count, rows->selection,
                       rows->selected, keys, err));
    TRY(arena_alloc_raw(ctx->batch_arena, rows->selected + 1U, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    TRY(arena_alloc_raw(ctx->batch_arena, rows->selected + 1U, sizeof(uint32_t), &memory, err));
    uint32_t *groups = memory;
    uint32_t count = 0;
    struct buffer key = {0};
    for (uint32_t i = 0; i < rows->selected; i++) {
        buffer_clear(&key);
        buffer_add(&key, &rows->groups[i], sizeof rows->groups[i]);
        buffer_add_bytes(&key, keys[i]);
        bool added = false;
        (void)group_table_add(&slot->seen, buffer_bytes(&key), &added);
        if (!added)
            continue;
        selection[count] = (uint16_t)(rows->selection == NULL ? i : rows->selection[i]);
        groups[count++] = rows->groups[i];
    }
    buffer_fini(&key);
    *rows = (struct grouped_rows){.selection = selection, .selected = count, .groups = groups};
    return OK;
}

static enum status update_slot(struct exec_node *self, struct exec_context *ctx,
                               struct aggregate_slot *slot, struct vector **inputs,
                               const struct grouped_rows *all, uint32_t rows, struct error *err)
{
    struct aggregate_state *aggregate = self->state;
    struct grouped_rows mine = *all;
    struct vector **args = inputs + slot->first_input;
    if (slot->filter_input >= 0)
        TRY(narrow(ctx, all, inputs[slot->filter_input], &mine, err));
    if (slot->distinct)
        TRY(only_new(ctx, slot, args, &mine, err));
    if (mine.selected == 0)
        return OK;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, mine.selected, sizeof(uint8_t *), &memory, err));
    uint8_t **states = memory;
    for (uint32_t i = 0; i < mine.selected; i++)
        states[i] = aggregate->rows[mine.groups[i]] + slot->offset;
    struct aggregate_update update = {
        .ctx = &ctx->eval,
        .expr = slot->call,
        .args = args,
        .arg_count = slot->input_count,
        .selection = mine.selection,
        .rows = rows,
        .selected = mine.selected,
        .states = states,
        .arena = aggregate->arena,
    };
    return aggregate_update(&update, err);
}

static enum status aggregate_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                                  const struct batch *batch, struct error *err)
{
    struct aggregate_state *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    CHECK(input == 0);
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, aggregate->input_count + 1U, sizeof(struct vector *), &memory,
                    err));
    struct vector **inputs = memory;
    TRY(expr_eval(aggregate->program, aggregate->state, &ctx->eval, batch, inputs, err));
    TRY(arena_alloc(ctx->batch_arena, batch->selected, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    TRY(row_key_encode(ctx->batch_arena, inputs, self->plan->aggregate.key_count, batch->selection,
                       batch->selected, keys, err));
    TRY(arena_alloc(ctx->batch_arena, batch->selected, sizeof(uint32_t), &memory, err));
    uint32_t *groups = memory;
    for (uint32_t i = 0; i < batch->selected; i++)
        TRY(group_row(self, keys[i], &groups[i], err));
    struct grouped_rows all = {
        .selection = batch->selection, .selected = batch->selected, .groups = groups};
    for (uint32_t i = 0; i < self->plan->aggregate.aggregate_count; i++)
        TRY(update_slot(self, ctx, &aggregate->slots[i], inputs, &all, batch->rows, err));
    return OK;
}

/* Groups [first, first + count) as one batch. */
static enum status emit_groups(struct exec_node *self, struct exec_context *ctx, uint32_t first,
                               uint32_t count, struct error *err)
{
    struct aggregate_state *aggregate = self->state;
    const struct plan_node *node = self->plan;
    uint32_t key_count = node->aggregate.key_count;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, node->schema->field_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct vector **columns = memory;
    TRY(arena_alloc(ctx->batch_arena, key_count + 1U, sizeof(struct type *), &memory, err));
    const struct type **types = memory;
    for (uint32_t c = 0; c < key_count; c++)
        types[c] = node->aggregate.keys[c]->type;
    TRY(row_key_decode(ctx->batch_arena, types, key_count, aggregate->groups.keys + first, count,
                       columns, err));
    TRY(arena_alloc(ctx->batch_arena, count, sizeof(uint8_t *), &memory, err));
    uint8_t **states = memory;
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        const struct aggregate_slot *slot = &aggregate->slots[i];
        struct vector **out = &columns[key_count + i];
        struct aggregate_update call = {
            .ctx = &ctx->eval, .expr = slot->call, .arena = ctx->batch_arena};
        for (uint32_t g = 0; g < count; g++)
            states[g] = aggregate->rows[first + g] + slot->offset;
        TRY(vector_new(ctx->batch_arena, slot->call->type, count, out, err));
        TRY(slot->call->aggregate.aggregate->ops->finish(&call, states, count, *out, err));
    }
    struct batch out = {
        .schema = node->schema, .columns = columns, .rows = count, .selected = count};
    return exec_emit(self, ctx, &out, err);
}

static enum status aggregate_finish(struct exec_node *self, struct exec_context *ctx,
                                    struct error *err)
{
    struct aggregate_state *aggregate = self->state;
    CHECK_MAGIC(aggregate, AGGREGATE_MAGIC);
    uint32_t groups = aggregate->groups.count;
    for (uint32_t first = 0; first < groups && !ctx->enough; first += BATCH_ROWS_MAX) {
        uint32_t left = groups - first;
        TRY(emit_groups(self, ctx, first, left < BATCH_ROWS_MAX ? left : BATCH_ROWS_MAX, err));
        arena_reset(ctx->batch_arena);
    }
    return OK;
}

static void aggregate_close(struct exec_node *self)
{
    struct aggregate_state *aggregate = self->state;
    if (aggregate == NULL)
        return;
    for (uint32_t i = 0; i < self->plan->aggregate.aggregate_count; i++) {
        if (aggregate->slots[i].distinct)
            group_table_fini(&aggregate->slots[i].seen);
    }
    group_table_fini(&aggregate->groups);
    arena_free(aggregate->arena);
    free(aggregate->rows);
}

const struct exec_node_ops node_aggregate = {
    .name = "Aggregate",
    .open = aggregate_open,
    .begin = aggregate_begin,
    .push = aggregate_push,
    .finish = aggregate_finish,
    .close = aggregate_close,
};
