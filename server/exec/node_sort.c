/*
 * Sort: keeps all rows with their keys, then hands them on in order.  Equal rows keep the order in
 * which they came.
 */
#include "base/check.h"
#include "exec/node.h"
#include "exec/row_store.h"
#include "expr/program.h"

#include <stdlib.h>

#define SORT_MAGIC 0x50a70001U

struct sort {
    uint32_t magic;
    const struct expr_program *program; /* the keys */
    struct expr_state *state;
    struct row_store rows; /* the child's columns, then the keys */
    uint32_t width;        /* of the child */
};

static enum status sort_open(struct exec_node *self, struct arena *query,
                             const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_SORT);
    struct sort *sort = arena_new_object(query, sizeof *sort);
    sort->magic = SORT_MAGIC;
    sort->width = node->schema->field_count;
    self->state = sort;
    row_store_init(&sort->rows, sort->width + node->sort.key_count);
    struct expr **keys = arena_new_object(query, (node->sort.key_count + 1) * sizeof *keys);
    for (uint32_t i = 0; i < node->sort.key_count; i++)
        keys[i] = node->sort.keys[i].expr;
    TRY(expr_compile(query, keys, node->sort.key_count, &sort->program, err));
    return expr_state_new(query, sort->program, &sort->state, err);
}

static enum status sort_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct sort *sort = self->state;
    row_store_clear(&sort->rows);
    return OK;
}

static enum status sort_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             const struct batch *batch, struct error *err)
{
    struct sort *sort = self->state;
    CHECK_MAGIC(sort, SORT_MAGIC);
    CHECK(input == 0);
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, sort->rows.column_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct vector **columns = memory;
    memcpy(columns, batch->columns, sort->width * sizeof(struct vector *));
    TRY(expr_eval(sort->program, sort->state, &ctx->eval, batch, columns + sort->width, err));
    return row_store_add(&sort->rows, columns, batch->rows, batch->selection, batch->selected, err);
}

struct sort_order {
    const struct sort_key *keys;
    uint32_t key_count;
    struct vector **columns; /* of the keys */
};

static int compare_rows(const void *left, const void *right, void *arg)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    const struct sort_order *order = arg;
    for (uint32_t i = 0; i < order->key_count; i++) {
        const struct sort_key *key = &order->keys[i];
        const struct vector *column = order->columns[i];
        bool null_a = vector_is_null(column, a);
        bool null_b = vector_is_null(column, b);
        if (null_a && null_b)
            continue;
        if (null_a != null_b)
            return null_a == key->nulls_first ? -1 : 1;
        int result = vector_compare(column, a, column, b);
        if (result != 0)
            return key->descending ? -result : result;
    }
    return (a > b) - (a < b);
}

static enum status sort_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct sort *sort = self->state;
    CHECK_MAGIC(sort, SORT_MAGIC);
    if (sort->rows.rows == 0)
        return OK;
    TRY(row_store_seal(&sort->rows, err));
    void *memory = NULL;
    TRY(arena_alloc_raw(sort->rows.arena, sort->rows.rows, sizeof(uint32_t), &memory, err));
    uint32_t *order = memory;
    for (uint32_t i = 0; i < sort->rows.rows; i++)
        order[i] = i;
    struct sort_order how = {.keys = self->plan->sort.keys,
                             .key_count = self->plan->sort.key_count,
                             .columns = sort->rows.columns + sort->width};
    qsort_r(order, sort->rows.rows, sizeof *order, compare_rows, &how);
    return row_store_emit(&sort->rows, self, ctx, order, sort->rows.rows, err);
}

static void sort_close(struct exec_node *self)
{
    struct sort *sort = self->state;
    if (sort != NULL)
        row_store_fini(&sort->rows);
}

const struct exec_node_ops node_sort = {
    .name = "Sort",
    .open = sort_open,
    .begin = sort_begin,
    .push = sort_push,
    .finish = sort_finish,
    .close = sort_close,
};
