/*
 * Join of a bounded run: the right input is kept and hashed by its keys, then each left batch
 * finds its partners; pairs that fail the rest of the condition are taken out.  Without keys every
 * right row is a candidate.
 *
 * Outer joins: a left row without a partner comes out with NULLs at once; right rows that never
 * found one come out at the end.
 */
#include "base/check.h"
#include "base/heap.h"
#include "exec/group_table.h"
#include "exec/node.h"
#include "exec/row_store.h"
#include "expr/program.h"

#include <stdlib.h>

#define JOIN_MAGIC 0x701a0001U
#define NO_ROW     UINT32_MAX

struct join {
    uint32_t magic;
    const struct expr_program *keys[2]; /* of the left and right input */
    struct expr_state *key_states[2];
    const struct expr_filter *condition;
    struct expr_state *condition_state;
    const struct type *pair; /* left columns, then right ones */
    uint32_t width[2];
    struct row_store right;
    bool sealed;
    struct group_table table;
    uint32_t *heads; /* by group: the first right row, the next ones in `chain` */
    uint32_t *tails;
    uint32_t head_capacity;
    uint32_t *chain; /* by right row */
    uint32_t chain_capacity;
    bool *matched; /* by right row */
};

static enum status open_keys(struct join *join, struct arena *query, const struct plan_node *node,
                             struct error *err)
{
    struct expr **keys[2] = {node->join.left_keys, node->join.right_keys};
    for (int side = 0; side < 2; side++) {
        TRY(expr_compile(query, keys[side], node->join.key_count, &join->keys[side], err));
        TRY(expr_state_new(query, join->keys[side], &join->key_states[side], err));
    }
    return OK;
}

static enum status join_open(struct exec_node *self, struct arena *query,
                             const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_JOIN && node->child_count == 2);
    struct join *join = arena_new_object(query, sizeof *join);
    join->magic = JOIN_MAGIC;
    self->state = join;
    const struct type *left = node->children[0]->schema;
    const struct type *right = node->children[1]->schema;
    join->width[0] = left->field_count;
    join->width[1] = right->field_count;
    struct type_field *fields =
        arena_new_object(query, (left->field_count + right->field_count + 1U) * sizeof *fields);
    for (uint32_t i = 0; i < left->field_count; i++)
        fields[i] = left->fields[i];
    for (uint32_t i = 0; i < right->field_count; i++)
        fields[left->field_count + i] = right->fields[i];
    join->pair = type_struct(query, fields, left->field_count + right->field_count);
    row_store_init(&join->right, right->field_count);
    group_table_init(&join->table);
    TRY(open_keys(join, query, node, err));
    if (node->join.condition == NULL)
        return OK;
    TRY(expr_filter_compile(query, node->join.condition, &join->condition, err));
    return expr_filter_state_new(query, join->condition, &join->condition_state, err);
}

static enum status join_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct join *join = self->state;
    row_store_clear(&join->right);
    group_table_clear(&join->table);
    join->sealed = false;
    return OK;
}

/* keys[i] of the i-th selected row; keys[i].data is NULL where a NULL key can have no partner. */
static enum status encode_keys(struct exec_node *self, struct exec_context *ctx, int side,
                               const struct batch *batch, struct bytes **out, struct error *err)
{
    struct join *join = self->state;
    uint32_t count = self->plan->join.key_count;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **columns = memory;
    TRY(expr_eval(join->keys[side], join->key_states[side], &ctx->eval, batch, columns, err));
    TRY(arena_alloc(ctx->batch_arena, batch->selected, sizeof(struct bytes), &memory, err));
    *out = memory;
    TRY(row_key_encode(ctx->batch_arena, columns, count, batch->selection, batch->selected, *out,
                       err));
    for (uint32_t k = 0; k < count; k++) {
        if (self->plan->join.null_safe != NULL && self->plan->join.null_safe[k])
            continue;
        for (uint32_t i = 0; i < batch->selected; i++) {
            if (vector_is_null(columns[k], batch_row(batch, i)))
                (*out)[i].data = NULL;
        }
    }
    return OK;
}

static void chain_add(struct join *join, struct bytes key, uint32_t row)
{
    if (row >= join->chain_capacity) {
        join->chain_capacity = join->chain_capacity == 0 ? 1024 : join->chain_capacity * 2;
        join->chain = heap_realloc(join->chain, join->chain_capacity * sizeof *join->chain);
        join->matched = heap_realloc(join->matched, join->chain_capacity * sizeof *join->matched);
    }
    join->chain[row] = NO_ROW;
    join->matched[row] = false;
    if (key.data == NULL)
        return;
    bool added = false;
    uint32_t group = group_table_add(&join->table, key, &added);
    if (group >= join->head_capacity) {
        join->head_capacity = join->head_capacity == 0 ? 256 : join->head_capacity * 2;
        join->heads = heap_realloc(join->heads, join->head_capacity * sizeof *join->heads);
        join->tails = heap_realloc(join->tails, join->head_capacity * sizeof *join->tails);
    }
    if (added)
        join->heads[group] = row;
    else
        join->chain[join->tails[group]] = row;
    join->tails[group] = row;
}

static enum status push_right(struct exec_node *self, struct exec_context *ctx,
                              const struct batch *batch, struct error *err)
{
    struct join *join = self->state;
    struct bytes *keys = NULL;
    TRY(encode_keys(self, ctx, 1, batch, &keys, err));
    uint32_t first = join->right.rows;
    TRY(row_store_add(&join->right, batch->columns, batch->rows, batch->selection, batch->selected,
                      err));
    for (uint32_t i = 0; i < batch->selected; i++)
        chain_add(join, keys[i], first + i);
    return OK;
}

/* Candidate pairs of one left batch, filled until full, then tested and handed on. */
struct pairs {
    const struct batch *left;
    uint32_t left_rows[BATCH_ROWS_MAX];
    uint32_t right_rows[BATCH_ROWS_MAX]; /* NO_ROW: NULLs */
    uint32_t count;
    bool *found; /* by row of the left batch */
};

/* The columns of all pairs, left then right. */
static enum status pair_columns(struct join *join, struct exec_context *ctx,
                                const struct pairs *pairs, struct vector **columns,
                                struct error *err)
{
    for (uint32_t c = 0; c < join->width[0]; c++)
        TRY(vector_gather(ctx->batch_arena, pairs->left->columns[c], pairs->left_rows, pairs->count,
                          &columns[c], err));
    if (join->right.rows > 0)
        return row_store_gather(&join->right, ctx->batch_arena, pairs->right_rows, pairs->count,
                                columns + join->width[0], err);
    for (uint32_t c = 0; c < join->width[1]; c++)
        TRY(vector_new_null(ctx->batch_arena, join->pair->fields[join->width[0] + c].type,
                            pairs->count, &columns[join->width[0] + c], err));
    return OK;
}

static bool emits_pairs(enum join_kind kind)
{
    return kind != JOIN_LEFT_SEMI && kind != JOIN_LEFT_ANTI && kind != JOIN_EXISTENCE;
}

/* Tests the pairs (unless `padded`: their right side is NULL) and emits those that hold. */
static enum status flush(struct exec_node *self, struct exec_context *ctx, struct pairs *pairs,
                         bool padded, struct error *err)
{
    struct join *join = self->state;
    if (pairs->count == 0)
        return OK;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, join->pair->field_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct batch out = {
        .schema = join->pair, .columns = memory, .rows = pairs->count, .selected = pairs->count};
    bool needed = emits_pairs(self->plan->join.kind) || (join->condition != NULL && !padded);
    if (needed)
        TRY(pair_columns(join, ctx, pairs, out.columns, err));
    if (join->condition != NULL && !padded)
        TRY(expr_filter_run(join->condition, join->condition_state, &ctx->eval, &out, err));
    for (uint32_t i = 0; i < out.selected && !padded; i++) {
        uint32_t at = batch_row(&out, i);
        if (self->plan->join.kind == JOIN_SINGLE && pairs->found[pairs->left_rows[at]])
            return error_raise(err, STATUS_SCALAR_SUBQUERY_TOO_MANY_ROWS, NULL);
        pairs->found[pairs->left_rows[at]] = true;
        join->matched[pairs->right_rows[at]] = true;
    }
    pairs->count = 0;
    if (!emits_pairs(self->plan->join.kind) || out.selected == 0)
        return OK;
    out.schema = self->plan->schema;
    return exec_emit(self, ctx, &out, err);
}

static enum status add_pair(struct exec_node *self, struct exec_context *ctx, struct pairs *pairs,
                            uint32_t left, uint32_t right, struct error *err)
{
    pairs->left_rows[pairs->count] = left;
    pairs->right_rows[pairs->count++] = right;
    if (pairs->count < BATCH_ROWS_MAX)
        return OK;
    return flush(self, ctx, pairs, false, err);
}

static enum status find_partners(struct exec_node *self, struct exec_context *ctx,
                                 struct pairs *pairs, struct error *err)
{
    struct join *join = self->state;
    const struct batch *left = pairs->left;
    bool hashed = self->plan->join.key_count > 0;
    struct bytes *keys = NULL;
    TRY(encode_keys(self, ctx, 0, left, &keys, err));
    for (uint32_t i = 0; i < left->selected; i++) {
        uint32_t row = batch_row(left, i);
        for (uint32_t r = 0; !hashed && r < join->right.rows; r++)
            TRY(add_pair(self, ctx, pairs, row, r, err));
        if (!hashed || keys[i].data == NULL)
            continue;
        uint32_t group = group_table_find(&join->table, keys[i]);
        for (uint32_t r = group == GROUP_NONE ? NO_ROW : join->heads[group]; r != NO_ROW;
             r = join->chain[r])
            TRY(add_pair(self, ctx, pairs, row, r, err));
    }
    return flush(self, ctx, pairs, false, err);
}

/* The left rows and whether they have a partner. */
static enum status emit_existence(struct exec_node *self, struct exec_context *ctx,
                                  const struct pairs *pairs, struct error *err)
{
    struct join *join = self->state;
    struct batch out = *pairs->left;
    struct vector *exists = NULL;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, join->width[0] + 1U, sizeof(struct vector *), &memory, err));
    out.columns = memory;
    for (uint32_t c = 0; c < join->width[0]; c++)
        out.columns[c] = pairs->left->columns[c];
    TRY(vector_new(ctx->batch_arena, type_simple(TYPE_BOOLEAN), out.rows, &exists, err));
    for (uint32_t row = 0; row < out.rows; row++)
        VECTOR_VALUES(uint8_t, exists)[row] = pairs->found[row];
    out.columns[join->width[0]] = exists;
    out.schema = self->plan->schema;
    return exec_emit(self, ctx, &out, err);
}

/* What is left to say of the left rows once all their partners are known. */
static enum status finish_left(struct exec_node *self, struct exec_context *ctx,
                               struct pairs *pairs, struct error *err)
{
    enum join_kind kind = self->plan->join.kind;
    const struct batch *left = pairs->left;
    if (kind == JOIN_LEFT || kind == JOIN_FULL || kind == JOIN_SINGLE) {
        for (uint32_t i = 0; i < left->selected; i++) {
            uint32_t row = batch_row(left, i);
            if (pairs->found[row])
                continue;
            pairs->left_rows[pairs->count] = row;
            pairs->right_rows[pairs->count++] = NO_ROW;
        }
        return flush(self, ctx, pairs, true, err);
    }
    if (emits_pairs(kind))
        return OK;
    if (kind == JOIN_EXISTENCE)
        return emit_existence(self, ctx, pairs, err);
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, left->selected, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    struct batch out = *left;
    out.schema = self->plan->schema;
    out.selection = selection;
    out.selected = 0;
    for (uint32_t i = 0; i < left->selected; i++) {
        uint32_t row = batch_row(left, i);
        if (pairs->found[row] == (kind == JOIN_LEFT_SEMI))
            selection[out.selected++] = (uint16_t)row;
    }
    return exec_emit(self, ctx, &out, err);
}

static enum status join_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             const struct batch *batch, struct error *err)
{
    struct join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    if (input == 1)
        return push_right(self, ctx, batch, err);
    if (!join->sealed)
        TRY(row_store_seal(&join->right, err));
    join->sealed = true;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, 1, sizeof(struct pairs), &memory, err));
    struct pairs *pairs = memory;
    pairs->left = batch;
    pairs->count = 0;
    TRY(arena_alloc(ctx->batch_arena, batch->rows, sizeof(bool), &memory, err));
    pairs->found = memory;
    TRY(find_partners(self, ctx, pairs, err));
    return finish_left(self, ctx, pairs, err);
}

/* Right rows without a partner, with NULLs on the left. */
static enum status emit_unmatched(struct exec_node *self, struct exec_context *ctx,
                                  const uint32_t *rows, uint32_t count, struct error *err)
{
    struct join *join = self->state;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, join->pair->field_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct vector **columns = memory;
    for (uint32_t c = 0; c < join->width[0]; c++)
        TRY(vector_new_null(ctx->batch_arena, join->pair->fields[c].type, count, &columns[c], err));
    TRY(row_store_gather(&join->right, ctx->batch_arena, rows, count, columns + join->width[0],
                         err));
    struct batch out = {
        .schema = self->plan->schema, .columns = columns, .rows = count, .selected = count};
    TRY(exec_emit(self, ctx, &out, err));
    arena_reset(ctx->batch_arena);
    return OK;
}

static enum status join_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    enum join_kind kind = self->plan->join.kind;
    if (kind != JOIN_RIGHT && kind != JOIN_FULL)
        return OK;
    if (!join->sealed)
        TRY(row_store_seal(&join->right, err));
    join->sealed = true;
    uint32_t rows[BATCH_ROWS_MAX];
    uint32_t count = 0;
    for (uint32_t r = 0; r < join->right.rows; r++) {
        if (!join->matched[r])
            rows[count++] = r;
        if (count == BATCH_ROWS_MAX || (r + 1 == join->right.rows && count > 0)) {
            TRY(emit_unmatched(self, ctx, rows, count, err));
            count = 0;
        }
    }
    return OK;
}

static void join_close(struct exec_node *self)
{
    struct join *join = self->state;
    if (join == NULL)
        return;
    row_store_fini(&join->right);
    group_table_fini(&join->table);
    free(join->heads);
    free(join->tails);
    free(join->chain);
    free(join->matched);
}

const struct exec_node_ops node_join = {
    .name = "Join",
    .open = join_open,
    .begin = join_begin,
    .push = join_push,
    .finish = join_finish,
    .close = join_close,
};
