/*
 * Window functions of a bounded run: keeps all rows, sorts them once per function by partition and
 * order keys, and hands them on with one more column per function, in the order of the first one.
 */
#include "base/check.h"
#include "exec/node.h"
#include "exec/row_store.h"
#include "exec/window_function.h"
#include "expr/program.h"

#include <stdlib.h>

#define WINDOW_MAGIC 0x3144d001U

/* Where the inputs of one function lie among the stored columns. */
struct window_slot {
    const struct expr *window; /* EXPR_WINDOW */
    uint32_t args;             /* arguments (aggregates: then order keys, then the filter) */
    uint32_t arg_count;
    bool has_filter;
    uint32_t partition; /* window.partition_count of them */
    uint32_t order;
    struct window_frame_plan frame;
};

struct window_state {
    uint32_t magic;
    const struct expr_program *program; /* all inputs of all functions */
    struct expr_state *state;
    uint32_t width; /* of the child */
    uint32_t input_count;
    struct window_slot *slots;
    struct row_store rows;
};

static uint32_t inputs_of(const struct expr *window)
{
    const struct expr *function = window->args[0];
    uint32_t count =
        function->arg_count + window->window.partition_count + window->window.order_count;
    if (function->kind == EXPR_AGGREGATE)
        count += function->aggregate.order_count + (function->aggregate.filter != NULL ? 1 : 0);
    return count;
}

/* Lays out the inputs of one function; returns how many there are so far. */
static uint32_t slot_init(struct window_slot *slot, const struct expr *window, uint32_t width,
                          struct expr **inputs, uint32_t next)
{
    const struct expr *function = window->args[0];
    slot->window = window;
    slot->args = width + next;
    for (uint32_t i = 0; i < function->arg_count; i++)
        inputs[next++] = function->args[i];
    slot->arg_count = function->arg_count;
    if (function->kind == EXPR_AGGREGATE) {
        for (uint32_t i = 0; i < function->aggregate.order_count; i++)
            inputs[next++] = function->aggregate.order[i].expr;
        slot->arg_count += function->aggregate.order_count;
        slot->has_filter = function->aggregate.filter != NULL;
        if (slot->has_filter)
            inputs[next++] = function->aggregate.filter;
    }
    slot->partition = width + next;
    for (uint32_t i = 0; i < window->window.partition_count; i++)
        inputs[next++] = window->args[1 + i];
    slot->order = width + next;
    for (uint32_t i = 0; i < window->window.order_count; i++)
        inputs[next++] = window->window.order[i].expr;
    return next;
}

static enum status window_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_WINDOW);
    uint32_t count = node->window.function_count;
    struct window_state *window = arena_new_object(query, sizeof *window);
    window->magic = WINDOW_MAGIC;
    window->width = node->children[0]->schema->field_count;
    window->slots = arena_new_object(query, (count + 1U) * sizeof *window->slots);
    self->state = window;
    for (uint32_t i = 0; i < count; i++)
        window->input_count += inputs_of(node->window.functions[i]);
    row_store_init(&window->rows, window->width + window->input_count);
    struct expr **inputs = arena_new_object(query, (window->input_count + 1U) * sizeof *inputs);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        next = slot_init(&window->slots[i], node->window.functions[i], window->width, inputs, next);
        TRY(window_frame_open(query, node->window.functions[i], "UTC", &window->slots[i].frame,
                              err));
    }
    TRY(expr_compile(query, inputs, window->input_count, &window->program, err));
    return expr_state_new(query, window->program, &window->state, err);
}

static enum status window_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct window_state *window = self->state;
    row_store_clear(&window->rows);
    return OK;
}

static enum status window_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct window_state *window = self->state;
    CHECK_MAGIC(window, WINDOW_MAGIC);
    CHECK(input == 0);
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, window->rows.column_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct vector **columns = memory;
    memcpy(columns, batch->columns, window->width * sizeof(struct vector *));
    TRY(expr_eval(window->program, window->state, &ctx->eval, batch, columns + window->width, err));
    return row_store_add(&window->rows, columns, batch->rows, batch->selection, batch->selected,
                         err);
}

/* ---- sorting ---- */

struct window_order {
    struct vector **columns;
    const struct window_slot *slot;
};

static int compare_cells(const struct vector *column, uint32_t a, uint32_t b, bool descending,
                         bool nulls_first)
{
    bool null_a = vector_is_null(column, a);
    bool null_b = vector_is_null(column, b);
    if (null_a || null_b) {
        if (null_a == null_b)
            return 0;
        return null_a == nulls_first ? -1 : 1;
    }
    int order = vector_compare(column, a, column, b);
    return descending ? -order : order;
}

static int compare_partitions(const struct window_order *order, uint32_t a, uint32_t b)
{
    int result = 0;
    for (uint32_t i = 0; i < order->slot->window->window.partition_count && result == 0; i++)
        result = compare_cells(order->columns[order->slot->partition + i], a, b, false, true);
    return result;
}

static int compare_keys(const struct window_order *order, uint32_t a, uint32_t b)
{
    int result = 0;
    for (uint32_t i = 0; i < order->slot->window->window.order_count && result == 0; i++) {
        const struct sort_key *key = &order->slot->window->window.order[i];
        result = compare_cells(order->columns[order->slot->order + i], a, b, key->descending,
                               key->nulls_first);
    }
    return result;
}

static int compare_rows(const void *left, const void *right, void *arg)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    int result = compare_partitions(arg, a, b);
    if (result == 0)
        result = compare_keys(arg, a, b);
    return result != 0 ? result : (a > b) - (a < b);
}

/* Where the run of positions that are equal by `compare` begins and ends, for every position. */
static void mark_runs(const struct window_order *order, const uint32_t *rows, uint32_t begin,
                      uint32_t end,
                      int (*compare)(const struct window_order *order, uint32_t a, uint32_t b),
                      uint32_t *run_begin, uint32_t *run_end)
{
    uint32_t first = begin;
    for (uint32_t p = begin; p < end; p++) {
        if (p + 1 < end && compare(order, rows[p], rows[p + 1]) == 0)
            continue;
        for (uint32_t q = first; q <= p; q++) {
            run_begin[q] = first;
            run_end[q] = p + 1;
        }
        first = p + 1;
    }
}

static enum status sort_rows(struct window_state *window, const struct window_slot *slot,
                             struct window_rows *out, struct error *err)
{
    uint32_t count = window->rows.rows;
    void *memory = NULL;
    TRY(arena_alloc(window->rows.arena, (size_t)count * 5, sizeof(uint32_t), &memory, err));
    uint32_t *order = memory;
    *out = (struct window_rows){
        .count = count,
        .order = order,
        .partition_begin = order + count,
        .partition_end = order + (size_t)count * 2,
        .peers_begin = order + (size_t)count * 3,
        .peers_end = order + (size_t)count * 4,
    };
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    struct window_order how = {.columns = window->rows.columns, .slot = slot};
    qsort_r(order, count, sizeof *order, compare_rows, &how);
    mark_runs(&how, order, 0, count, compare_partitions, out->partition_begin, out->partition_end);
    for (uint32_t p = 0; p < count; p = out->partition_end[p])
        mark_runs(&how, order, p, out->partition_end[p], compare_keys, out->peers_begin,
                  out->peers_end);
    return OK;
}

/* ---- results ---- */

static enum status run_slot(struct exec_node *self, struct exec_context *ctx, uint32_t index,
                            const struct window_rows *rows, struct vector **out, struct error *err)
{
    struct window_state *window = self->state;
    const struct window_slot *slot = &window->slots[index];
    struct vector **columns = window->rows.columns;
    struct window_frame_plan frame = slot->frame;
    if (slot->window->window.order_count > 0)
        frame.key = columns[slot->order];
    struct eval_context eval = ctx->eval;
    eval.arena = window->rows.arena;
    struct window_call call = {
        .function = slot->window->args[0],
        .args = columns + slot->args,
        .arg_count = slot->arg_count,
        .filter = slot->has_filter ? columns[slot->args + slot->arg_count] : NULL,
        .rows = rows,
        .frame = &frame,
        .ctx = &eval,
        .arena = window->rows.arena,
    };
    return window_function_run(&call, out, err);
}

static enum status emit_rows(struct exec_node *self, struct exec_context *ctx,
                             const struct window_rows *rows, struct vector **results,
                             struct error *err)
{
    struct window_state *window = self->state;
    uint32_t functions = self->plan->window.function_count;
    for (uint32_t at = 0; at < rows->count && !ctx->enough; at += BATCH_ROWS_MAX) {
        uint32_t left = rows->count - at;
        uint32_t count = left < BATCH_ROWS_MAX ? left : BATCH_ROWS_MAX;
        void *memory = NULL;
        TRY(arena_alloc(ctx->batch_arena, window->width + functions + 1U, sizeof(struct vector *),
                        &memory, err));
        struct vector **columns = memory;
        for (uint32_t c = 0; c < window->width + functions; c++) {
            const struct vector *from =
                c < window->width ? window->rows.columns[c] : results[c - window->width];
            TRY(vector_gather(ctx->batch_arena, from, rows->order + at, count, &columns[c], err));
        }
        struct batch out = {
            .schema = self->plan->schema, .columns = columns, .rows = count, .selected = count};
        TRY(exec_emit(self, ctx, &out, err));
        arena_reset(ctx->batch_arena);
    }
    return OK;
}

static enum status window_finish(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    struct window_state *window = self->state;
    CHECK_MAGIC(window, WINDOW_MAGIC);
    if (window->rows.rows == 0)
        return OK;
    TRY(row_store_seal(&window->rows, err));
    void *memory = NULL;
    uint32_t functions = self->plan->window.function_count;
    TRY(arena_alloc(window->rows.arena, functions + 1U, sizeof(struct vector *), &memory, err));
    struct vector **results = memory;
    struct window_rows first = {0};
    for (uint32_t i = 0; i < functions; i++) {
        struct window_rows rows;
        TRY(sort_rows(window, &window->slots[i], &rows, err));
        TRY(run_slot(self, ctx, i, &rows, &results[i], err));
        if (i == 0)
            first = rows;
    }
    return emit_rows(self, ctx, &first, results, err);
}

static void window_close(struct exec_node *self)
{
    struct window_state *window = self->state;
    if (window != NULL)
        row_store_fini(&window->rows);
}

const struct exec_node_ops node_window = {
    .name = "Window",
    .open = window_open,
    .begin = window_begin,
    .push = window_push,
    .finish = window_finish,
    .close = window_close,
};
