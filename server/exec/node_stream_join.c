/*
 * Join of two streams: each row meets the rows of the other side that have come so far, and is kept
 * for those that will come, until the watermark says that none can (exec/join_bounds.h).
 *
 * In a batch the left rows come first.  A row that is too late is dropped; one that fails the part
 * of the condition that speaks of its own side alone is not kept, since it has no partner ever; of
 * a preserved side it comes out with NULLs at once.  What is let go of a preserved side without
 * ever having had a partner comes out with NULLs then.  A kept left row of a semi join goes as soon
 * as it has found a partner.
 *
 * Rows that were let go (exec/join_spill.h) come back when a batch has rows of their keys, and when
 * a pass over the disk, made once the watermark has reached the first of them, finds ended ones:
 * some keys at a time, whose ended rows are gone before the next come.
 */
#include "base/check.h"
#include "base/heap.h"
#include "columnar/row_key.h"
#include "exec/event_time.h"
#include "exec/join_bounds.h"
#include "exec/join_rows.h"
#include "exec/join_spill.h"
#include "exec/node_exchange_writer.h"
#include "exec/stateful.h"
#include "expr/function.h"
#include "expr/program.h"

#include <stdlib.h>

#define JOIN_MAGIC 0x57a7015aU
#define SEQ_BYTES  9 /* side and number, before the key of a change */

struct join_side {
    const struct expr_program *keys;
    struct expr_state *key_state;
    const struct expr_filter *own; /* the part of the condition about this side alone; NULL: none */
    struct expr_state *own_state;
    const struct type **types;
    uint32_t width;
    int time_column; /* for the late watermark, -1: none */
    bool preserved;  /* rows without a partner come out with NULLs */
    struct join_limit limit;
    struct join_rows *rows;
};

struct change_entry {
    struct join_row *row; /* NULL: it is gone */
    int side;
    struct bytes key; /* gone: the key of the change, in `arena` */
    int64_t end_us;   /* gone: its bucket */
};

struct stream_join {
    uint32_t magic;
    struct join_side side[2];
    const struct expr_filter *condition;
    struct expr_state *condition_state;
    const struct type *pair; /* left ++ right */
    uint64_t next_seq;
    struct change_entry *changes;
    uint32_t change_count;
    uint32_t change_capacity;
    struct arena *arena; /* of the batch: keys of what is gone */
    struct operator_stats stats;
    struct join_spill spill;
};

/* Which sides an expression speaks of: bit 0 left, bit 1 right. */
struct mention {
    int left_width;
    unsigned sides;
};

static bool note_column(const struct expr *expr, void *arg)
{
    struct mention *mention = arg;
    if (expr->kind == EXPR_COLUMN)
        mention->sides |= expr->column.ordinal < mention->left_width ? 1U : 2U;
    return true;
}

static struct expr *shift_right(struct arena *arena, struct expr *expr, void *arg)
{
    const int *width = arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    struct expr *shifted = expr_copy(arena, expr);
    shifted->column.ordinal -= *width;
    return shifted;
}

/* Collects the conjuncts about one side alone, as one condition over that side's columns. */
static void own_condition(struct arena *query, struct expr *expr, int left_width, int side,
                          struct expr **out)
{
    struct mention mention = {.left_width = left_width};
    if (expr->kind == EXPR_CALL && strcmp(expr->call.function->name, "and") == 0) {
        for (uint32_t i = 0; i < expr->arg_count; i++)
            own_condition(query, expr->args[i], left_width, side, out);
        return;
    }
    expr_walk(expr, note_column, &mention);
    if (mention.sides != 1U << side || !expr_is_deterministic(expr))
        return;
    struct expr *own = side == 0 ? expr : expr_rewrite(query, expr, shift_right, &left_width);
    if (*out == NULL) {
        *out = own;
        return;
    }
    struct expr *both = arena_new_object(query, sizeof *both);
    *both = *own;
    both->kind = EXPR_CALL;
    both->type = type_simple(TYPE_BOOLEAN);
    both->nullable = true;
    both->call.function = function_find("and");
    both->call.name = "and";
    both->call.bound = NULL;
    both->arg_count = 2;
    both->args = arena_new_object(query, 2 * sizeof(struct expr *));
    both->args[0] = *out;
    both->args[1] = own;
    *out = both;
}

static enum status open_side(struct stream_join *join, struct arena *query,
                             const struct plan_node *node, int index, struct error *err)
{
    struct join_side *side = &join->side[index];
    const struct type *schema = node->children[index]->schema;
    struct expr **keys = index == 0 ? node->join.left_keys : node->join.right_keys;
    struct expr *own = NULL;
    side->width = schema->field_count;
    side->types = arena_new_object(query, (side->width + 1) * sizeof *side->types);
    for (uint32_t i = 0; i < side->width; i++)
        side->types[i] = schema->fields[i].type;
    side->time_column = event_time_ordinal(node->children[index]);
    side->preserved =
        node->join.kind == JOIN_FULL || node->join.kind == (index == 0 ? JOIN_LEFT : JOIN_RIGHT);
    side->rows = join_rows_new();
    TRY(expr_compile(query, keys, node->join.key_count, &side->keys, err));
    TRY(expr_state_new(query, side->keys, &side->key_state, err));
    if (node->join.condition != NULL)
        own_condition(query, node->join.condition, (int)node->children[0]->schema->field_count,
                      index, &own);
    if (own == NULL)
        return OK;
    TRY(expr_filter_compile(query, own, &side->own, err));
    return expr_filter_state_new(query, side->own, &side->own_state, err);
}

static enum status join_open(struct exec_node *self, struct arena *query,
                             const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_JOIN && node->child_count == 2);
    struct stream_join *join = arena_new_object(query, sizeof *join);
    struct join_limit limits[2];
    self->state = join;
    join->magic = JOIN_MAGIC;
    join->next_seq = 1;
    join->arena = arena_new("join", 0);
    join_limits(node, limits);
    for (int i = 0; i < 2; i++) {
        TRY(open_side(join, query, node, i, err));
        join->side[i].limit = limits[i];
    }
    join_spill_init(&join->spill, join->side[0].rows, join->side[1].rows);
    uint32_t width = join->side[0].width + join->side[1].width;
    struct type_field *fields = arena_new_object(query, (width + 1) * sizeof *fields);
    for (uint32_t i = 0; i < width; i++)
        fields[i] = i < join->side[0].width
                        ? node->children[0]->schema->fields[i]
                        : node->children[1]->schema->fields[i - join->side[0].width];
    join->pair = type_struct(query, fields, width);
    if (node->join.condition == NULL)
        return OK;
    TRY(expr_filter_compile(query, node->join.condition, &join->condition, err));
    return expr_filter_state_new(query, join->condition, &join->condition_state, err);
}

static enum status join_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    for (uint32_t i = 0; i < join->change_count; i++)
        if (join->changes[i].row != NULL)
            join->changes[i].row->change = 0;
    join->change_count = 0;
    join->stats = (struct operator_stats){0};
    arena_reset(join->arena);
    spill_begin(&join->spill.spill);
    join_rows_pack(join->side[0].rows);
    join_rows_pack(join->side[1].rows);
    return OK;
}

static struct change_entry *new_change(struct stream_join *join)
{
    if (join->change_count == join->change_capacity) {
        join->change_capacity = join->change_capacity == 0 ? 256 : join->change_capacity * 2;
        join->changes = heap_realloc(join->changes, join->change_capacity * sizeof *join->changes);
    }
    return &join->changes[join->change_count++];
}

static void note_change(struct stream_join *join, int side, struct join_row *row)
{
    if (row->change != 0)
        return;
    *new_change(join) = (struct change_entry){.row = row, .side = side};
    row->change = join->change_count;
}

/* The row goes: the list must not look at it any more. */
static void forget_change(struct stream_join *join, struct join_row *row)
{
    if (row->change == 0)
        return;
    struct change_entry *hole = &join->changes[row->change - 1];
    CHECK(hole->row == row);
    *hole = join->changes[--join->change_count];
    if (hole->row != NULL && hole->row != row)
        hole->row->change = row->change;
    row->change = 0;
}

static void put_change_key(struct buffer *out, int side, uint64_t seq, struct bytes key)
{
    buffer_add_byte(out, (uint8_t)side);
    for (int i = 0; i < 8; i++)
        buffer_add_byte(out, (uint8_t)(seq >> (8 * i)));
    buffer_add_bytes(out, key);
}

/* A row goes: the next version of the state is without it.  The caller takes it out of the rows. */
static void lose_row(struct stream_join *join, int index, struct join_row *row, uint32_t run)
{
    struct join_side *side = &join->side[index];
    join->stats.rows_removed++;
    forget_change(join, row);
    join_spill_note_gone(&join->spill, join_row_key(side->rows, row));
    if (row->run == run)
        return; /* no version has it */
    struct buffer key = {0};
    put_change_key(&key, index, row->seq, join_row_key(side->rows, row));
    *new_change(join) = (struct change_entry){
        .side = index, .key = arena_copy(join->arena, buffer_bytes(&key)), .end_us = row->end_us};
    buffer_fini(&key);
}

/* Kept rows that have come out and are not needed any more. */
struct spent {
    struct spent *before;
    uint32_t count;
    struct join_row *rows[];
};

/* The rows of one input batch on their way. */
struct arrival {
    int side;
    const struct batch *batch;
    struct bytes *keys; /* by row */
    uint64_t *hashes;   /* by row */
    bool *null;         /* by row: a NULL in the key, it has no partner */
    bool *found;        /* by row: had a partner */
    struct spent *spent;
    uint32_t count; /* pairs at hand */
    uint32_t own[BATCH_ROWS_MAX];
    struct join_row *other[BATCH_ROWS_MAX];
};

/* Columns of one side of pairs: of the arriving rows, or of kept ones. */
static enum status arriving_columns(struct exec_context *ctx, const struct arrival *arrival,
                                    uint32_t width, struct vector **out, struct error *err)
{
    for (uint32_t c = 0; c < width; c++)
        TRY(vector_gather(ctx->batch_arena, arrival->batch->columns[c], arrival->own,
                          arrival->count, &out[c], err));
    return OK;
}

static enum status kept_columns(struct exec_context *ctx, const struct join_side *side,
                                struct join_row *const *rows, uint32_t count, struct vector **out,
                                struct error *err)
{
    struct bytes *bytes = arena_new_object(ctx->batch_arena, (count + 1) * sizeof *bytes);
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = bytes_of(rows[i]->bytes, rows[i]->size);
    return row_key_decode(ctx->batch_arena, side->types, side->width, bytes, count, out, err);
}

/* A kept left row of a semi join has found its first partner: it comes out. */
static enum status emit_semi(struct exec_node *self, struct exec_context *ctx,
                             struct join_row *const *rows, uint32_t count, struct error *err)
{
    struct stream_join *join = self->state;
    struct batch out = {.schema = self->plan->schema, .rows = count, .selected = count};
    if (count == 0)
        return OK;
    out.columns =
        arena_new_object(ctx->batch_arena, (join->side[0].width + 1) * sizeof(struct vector *));
    TRY(kept_columns(ctx, &join->side[0], rows, count, out.columns, err));
    return exec_emit(self, ctx, &out, err);
}

static enum status mark_pairs(struct exec_node *self, struct exec_context *ctx,
                              struct arrival *arrival, const struct batch *pairs, struct error *err)
{
    struct stream_join *join = self->state;
    bool semi = self->plan->join.kind == JOIN_LEFT_SEMI;
    int other = 1 - arrival->side;
    bool flags = !semi || other == 0; /* of an inner join, too: it may become an outer one */
    struct spent *spent = NULL;
    if (semi && other == 0) {
        spent = arena_new_object(ctx->batch_arena,
                                 sizeof *spent + pairs->selected * sizeof(struct join_row *));
        spent->before = arrival->spent;
        arrival->spent = spent;
    }
    for (uint32_t i = 0; i < pairs->selected; i++) {
        uint32_t at = batch_row(pairs, i);
        struct join_row *row = arrival->other[at];
        arrival->found[arrival->own[at]] = true;
        if (!flags || row->matched)
            continue;
        row->matched = true;
        if (spent != NULL)
            spent->rows[spent->count++] = row;
        else
            note_change(join, other, row);
    }
    return spent == NULL ? OK : emit_semi(self, ctx, spent->rows, spent->count, err);
}

/* Once nothing looks at the rows of a key any more.  What the disk has of them goes at once, too:
 * it must not come back with the key in this batch. */
static enum status drop_spent(struct stream_join *join, const struct spent *spent, uint32_t run,
                              struct error *err)
{
    if (spent == NULL)
        return OK;
    for (; spent != NULL; spent = spent->before) {
        for (uint32_t i = 0; i < spent->count; i++) {
            if (spent->rows[i]->run == run) { /* as if it had come behind its partner */
                join->stats.rows_updated--;
                join->stats.rows_removed--;
            }
            lose_row(join, 0, spent->rows[i], run);
            join_rows_remove(join->side[0].rows, spent->rows[i]);
        }
    }
    return join_spill_forget_gone(&join->spill, err);
}

/* Tests the pairs at hand and emits those that hold. */
static enum status flush(struct exec_node *self, struct exec_context *ctx, struct arrival *arrival,
                         struct error *err)
{
    struct stream_join *join = self->state;
    uint32_t left_width = join->side[0].width;
    int side = arrival->side;
    if (arrival->count == 0)
        return OK;
    struct batch pairs = {.schema = join->pair, .rows = arrival->count, .selected = arrival->count};
    pairs.columns =
        arena_new_object(ctx->batch_arena, (join->pair->field_count + 1) * sizeof(struct vector *));
    TRY(arriving_columns(ctx, arrival, join->side[side].width,
                         pairs.columns + (side == 0 ? 0 : left_width), err));
    TRY(kept_columns(ctx, &join->side[1 - side], arrival->other, arrival->count,
                     pairs.columns + (side == 0 ? left_width : 0), err));
    if (join->condition != NULL)
        TRY(expr_filter_run(join->condition, join->condition_state, &ctx->eval, &pairs, err));
    TRY(mark_pairs(self, ctx, arrival, &pairs, err));
    arrival->count = 0;
    if (self->plan->join.kind == JOIN_LEFT_SEMI || pairs.selected == 0)
        return OK;
    pairs.schema = self->plan->schema;
    return exec_emit(self, ctx, &pairs, err);
}

static enum status find_partners(struct exec_node *self, struct exec_context *ctx,
                                 struct arrival *arrival, struct error *err)
{
    struct stream_join *join = self->state;
    const struct join_rows *other = join->side[1 - arrival->side].rows;
    for (uint32_t i = 0; i < arrival->batch->selected; i++) {
        uint32_t row = batch_row(arrival->batch, i);
        if (arrival->null[row])
            continue;
        struct join_row *partner = join_rows_find(other, arrival->keys[row], arrival->hashes[row]);
        for (; partner != NULL; partner = partner->next) {
            arrival->own[arrival->count] = row;
            arrival->other[arrival->count++] = partner;
            if (arrival->count == BATCH_ROWS_MAX)
                TRY(flush(self, ctx, arrival, err));
        }
    }
    return flush(self, ctx, arrival, err);
}

/* Keys of the selected rows; a NULL in a key that is not null-safe finds nothing. */
static enum status encode_keys(struct exec_node *self, struct exec_context *ctx,
                               struct arrival *arrival, struct vector ***columns, struct error *err)
{
    struct stream_join *join = self->state;
    const struct join_side *side = &join->side[arrival->side];
    const struct batch *batch = arrival->batch;
    uint32_t count = self->plan->join.key_count;
    struct arena *arena = ctx->batch_arena;
    *columns = arena_new_object(arena, (count + 1) * sizeof(struct vector *));
    struct bytes *keys = arena_new_object(arena, (batch->selected + 1) * sizeof *keys);
    TRY(expr_eval(side->keys, side->key_state, &ctx->eval, batch, *columns, err));
    TRY(row_key_encode(arena, *columns, count, batch->selection, batch->selected, keys, err));
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        bool null = false;
        for (uint32_t k = 0; k < count; k++)
            null = null || (vector_is_null((*columns)[k], row) &&
                            !(self->plan->join.null_safe != NULL && self->plan->join.null_safe[k]));
        arrival->keys[row] = keys[i];
        arrival->hashes[row] = state_hash(keys[i]);
        arrival->null[row] = null;
    }
    return OK;
}

/* When a row can be let go. */
static int64_t end_of(const struct join_side *side, const struct batch *batch,
                      struct vector *const *keys, uint32_t row)
{
    switch (side->limit.kind) {
    case JOIN_LIMIT_NONE:
        return STATE_NO_END;
    case JOIN_LIMIT_KEY:
        return event_time_at(keys[side->limit.key], row);
    case JOIN_LIMIT_VALUE:
        return event_time_at(batch->columns[side->limit.column], row);
    }
    return STATE_NO_END;
}

static int64_t limit_us(const struct join_side *side, const struct exec_context *ctx)
{
    int64_t limit = 0;
    if (side->limit.kind == JOIN_LIMIT_NONE)
        return INT64_MIN;
    if (side->limit.kind == JOIN_LIMIT_KEY)
        return ctx->eviction_watermark_us;
    return __builtin_add_overflow(ctx->eviction_watermark_us, side->limit.offset_us, &limit)
               ? INT64_MIN
               : limit;
}

/* Whether a row need not be kept at all. */
static bool not_kept(const struct exec_node *self, const struct exec_context *ctx,
                     const struct arrival *arrival, uint32_t row, int64_t end_us)
{
    const struct stream_join *join = self->state;
    const struct join_side *side = &join->side[arrival->side];
    bool found = arrival->found[row];
    if (arrival->null[row] && !side->preserved)
        return true;
    if (self->plan->join.kind == JOIN_LEFT_SEMI && arrival->side == 0 && found)
        return true;
    return arrival->side == 1 && end_us <= limit_us(side, ctx) && !(side->preserved && !found);
}

static enum status keep_rows(struct exec_node *self, struct exec_context *ctx,
                             struct arrival *arrival, struct vector *const *keys, struct error *err)
{
    struct stream_join *join = self->state;
    struct join_side *side = &join->side[arrival->side];
    const struct batch *batch = arrival->batch;
    struct bytes *bytes = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *bytes);
    TRY(row_key_encode(ctx->batch_arena, batch->columns, side->width, batch->selection,
                       batch->selected, bytes, err));
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        int64_t end_us = end_of(side, batch, keys, row);
        if (not_kept(self, ctx, arrival, row, end_us))
            continue;
        struct join_row *kept = join_rows_add(side->rows, arrival->keys[row], arrival->hashes[row],
                                              bytes[i], end_us, join->next_seq++);
        kept->run = ctx->run;
        kept->matched = arrival->found[row];
        note_change(join, arrival->side, kept);
        join->stats.rows_updated++;
    }
    return OK;
}

/* Rows of one side with NULLs for the other. */
static enum status emit_padded(struct exec_node *self, struct exec_context *ctx, int side,
                               struct vector *const *columns, const struct batch *shape,
                               struct error *err)
{
    struct stream_join *join = self->state;
    uint32_t left_width = join->side[0].width;
    struct batch out = *shape;
    out.schema = self->plan->schema;
    out.columns =
        arena_new_object(ctx->batch_arena, (join->pair->field_count + 1) * sizeof(struct vector *));
    for (uint32_t c = 0; c < join->pair->field_count; c++) {
        bool left = c < left_width;
        if (left == (side == 0))
            out.columns[c] = columns[left ? c : c - left_width];
        else
            TRY(vector_new_null(ctx->batch_arena, join->pair->fields[c].type, shape->rows,
                                &out.columns[c], err));
    }
    return exec_emit(self, ctx, &out, err);
}

/* Takes out what is too late, and what fails the condition about its own side. */
static enum status narrow(struct exec_node *self, struct exec_context *ctx, int index,
                          const struct batch *batch, struct batch *out, struct error *err)
{
    struct stream_join *join = self->state;
    struct join_side *side = &join->side[index];
    uint16_t *rows = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *rows);
    *out = *batch;
    out->selection = rows;
    out->selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (side->time_column >= 0 &&
            event_time_at(batch->columns[side->time_column], row) <= ctx->late_watermark_us)
            join->stats.rows_dropped++;
        else
            rows[out->selected++] = (uint16_t)row;
    }
    if (side->own == NULL || out->selected == 0)
        return OK;
    struct batch in_time = *out;
    TRY(expr_filter_run(side->own, side->own_state, &ctx->eval, out, err));
    if (!side->preserved || out->selected == in_time.selected)
        return OK;
    uint16_t *failed = arena_new_object(ctx->batch_arena, (in_time.selected + 1) * sizeof *failed);
    struct batch padded = in_time;
    padded.selection = failed;
    padded.selected = 0;
    for (uint32_t i = 0, passed = 0; i < in_time.selected; i++) {
        uint32_t row = batch_row(&in_time, i);
        if (passed < out->selected && batch_row(out, passed) == row)
            passed++;
        else
            failed[padded.selected++] = (uint16_t)row;
    }
    return emit_padded(self, ctx, index, batch->columns, &padded, err);
}

static enum status emit_found(struct exec_node *self, struct exec_context *ctx,
                              const struct arrival *arrival, struct error *err)
{
    const struct batch *batch = arrival->batch;
    uint16_t *rows = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *rows);
    struct batch out = *batch;
    out.schema = self->plan->schema;
    out.selection = rows;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++)
        if (arrival->found[batch_row(batch, i)])
            rows[out.selected++] = (uint16_t)batch_row(batch, i);
    return exec_emit(self, ctx, &out, err);
}

/* With the keys of its rows. */
static enum status new_arrival(struct exec_node *self, struct exec_context *ctx, int side,
                               const struct batch *rows, struct arrival **out,
                               struct vector ***keys, struct error *err)
{
    struct arena *arena = ctx->batch_arena;
    struct arrival *arrival = arena_new_object(arena, sizeof *arrival);
    arrival->side = side;
    arrival->batch = rows;
    arrival->keys = arena_new_object(arena, rows->rows * sizeof *arrival->keys);
    arrival->hashes = arena_new_object(arena, rows->rows * sizeof *arrival->hashes);
    arrival->null = arena_new_object(arena, rows->rows * sizeof *arrival->null);
    arrival->found = arena_new_object(arena, rows->rows * sizeof *arrival->found);
    *out = arrival;
    return encode_keys(self, ctx, arrival, keys, err);
}

/* The rows of the round. */
static enum status rows_of_round(struct exec_node *self, struct exec_context *ctx, int side,
                                 const struct batch *batch, struct batch *out, struct error *err)
{
    struct arrival *arrival = NULL;
    struct vector **keys = NULL;
    *out = *batch;
    if (ctx->rounds <= 1 || batch->selected == 0)
        return OK;
    TRY(new_arrival(self, ctx, side, batch, &arrival, &keys, err));
    uint16_t *rows = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *rows);
    out->selection = rows;
    out->selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++)
        if (exec_in_round(ctx, arrival->hashes[batch_row(batch, i)]))
            rows[out->selected++] = (uint16_t)batch_row(batch, i);
    return OK;
}

static enum status join_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             const struct batch *batch, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    CHECK(input < 2);
    struct batch mine;
    struct batch rows;
    struct vector **keys = NULL;
    struct arrival *arrival = NULL;
    TRY(rows_of_round(self, ctx, (int)input, batch, &mine, err));
    TRY(narrow(self, ctx, (int)input, &mine, &rows, err));
    if (rows.selected == 0)
        return OK;
    TRY(new_arrival(self, ctx, (int)input, &rows, &arrival, &keys, err));
    TRY(find_partners(self, ctx, arrival, err));
    TRY(drop_spent(self->state, arrival->spent, ctx->run, err));
    if (self->plan->join.kind == JOIN_LEFT_SEMI && input == 0)
        TRY(emit_found(self, ctx, arrival, err));
    return keep_rows(self, ctx, arrival, keys, err);
}

/* Notes the keys of a batch that may be on the disk only. */
static enum status want_keys(struct exec_node *self, struct exec_context *ctx, int side,
                             const struct batch *batch, struct error *err)
{
    struct stream_join *join = self->state;
    struct arrival *arrival = NULL;
    struct vector **keys = NULL;
    if (batch->selected == 0)
        return OK;
    TRY(new_arrival(self, ctx, side, batch, &arrival, &keys, err));
    for (uint32_t i = 0; i < batch->selected; i++) {
        uint32_t row = batch_row(batch, i);
        if (exec_in_round(ctx, arrival->hashes[row]))
            join_spill_want(&join->spill, arrival->keys[row], arrival->hashes[row]);
    }
    return OK;
}

static enum status want_left(struct exec_node *self, struct exec_context *ctx,
                             const struct batch *batch, struct error *err)
{
    return want_keys(self, ctx, 0, batch, err);
}

static enum status want_right(struct exec_node *self, struct exec_context *ctx,
                              const struct batch *batch, struct error *err)
{
    return want_keys(self, ctx, 1, batch, err);
}

static enum status join_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             struct exec_node *writer, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    if (!spill_is_empty(&join->spill.spill)) {
        TRY(exchange_look(writer, self, ctx, input == 0 ? want_left : want_right, err));
        TRY(join_spill_fetch(&join->spill, err));
    }
    return exchange_pull(self, ctx, input, writer, err);
}

/* Pairs have come out as rows came. */
static enum status join_end_round(struct exec_node *self, struct exec_context *ctx,
                                  struct error *err)
{
    (void)self;
    (void)ctx;
    (void)err;
    return OK;
}

/* Rows that are let go, collected to be padded. */
struct eviction {
    struct exec_node *node;
    struct exec_context *ctx;
    int side;
    uint32_t count;
    struct bytes rows[BATCH_ROWS_MAX];
};

static enum status flush_padded(struct eviction *eviction, struct error *err)
{
    struct stream_join *join = eviction->node->state;
    struct join_side *side = &join->side[eviction->side];
    struct exec_context *ctx = eviction->ctx;
    uint32_t count = eviction->count;
    eviction->count = 0;
    if (count == 0)
        return OK;
    struct batch shape = {.rows = count, .selected = count};
    struct vector **columns =
        arena_new_object(ctx->batch_arena, (side->width + 1) * sizeof *columns);
    TRY(row_key_decode(ctx->batch_arena, side->types, side->width, eviction->rows, count, columns,
                       err));
    TRY(emit_padded(eviction->node, ctx, eviction->side, columns, &shape, err));
    arena_reset(ctx->batch_arena);
    return OK;
}

static enum status let_go(void *arg, struct join_row *row, struct error *err)
{
    struct eviction *eviction = arg;
    struct stream_join *join = eviction->node->state;
    struct join_side *side = &join->side[eviction->side];
    lose_row(join, eviction->side, row, eviction->ctx->run);
    if (!side->preserved || row->matched)
        return OK;
    eviction->rows[eviction->count++] = arena_copy(join->arena, bytes_of(row->bytes, row->size));
    return eviction->count < BATCH_ROWS_MAX ? OK : flush_padded(eviction, err);
}

static enum status join_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    struct eviction *eviction = heap_malloc(sizeof *eviction);
    int64_t limits[2] = {limit_us(&join->side[0], ctx), limit_us(&join->side[1], ctx)};
    enum status status = OK;
    int64_t began_us = exec_clock_us(ctx);
    for (int side = 0; side < 2 && status == OK; side++) {
        *eviction = (struct eviction){.node = self, .ctx = ctx, .side = side};
        if (limits[side] == INT64_MIN)
            continue;
        status = join_rows_evict(join->side[side].rows, limits[side], let_go, eviction, err);
        if (status == OK)
            status = flush_padded(eviction, err);
    }
    free(eviction);
    if (status == OK)
        status = join_spill_forget_gone(&join->spill, err);
    ctx->removal_us += exec_clock_us(ctx) - began_us;
    return status;
}

static enum status join_expire(struct exec_node *self, struct exec_context *ctx, uint64_t room,
                               bool *more, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    int64_t limits[2] = {limit_us(&join->side[0], ctx), limit_us(&join->side[1], ctx)};
    TRY(join_spill_sift(&join->spill, limits, room, more, err));
    return *more ? join_finish(self, ctx, err) : OK;
}

static void put_row(struct stream_join *join, int side, const struct join_row *row,
                    struct buffer *out, struct buffer *key, struct buffer *value)
{
    buffer_clear(key);
    buffer_clear(value);
    put_change_key(key, side, row->seq, join_row_key(join->side[side].rows, row));
    buffer_add_byte(value, row->matched ? 1 : 0);
    buffer_add(value, row->bytes, row->size);
    changelog_put(out, row->end_us, buffer_bytes(key), buffer_bytes(value));
}

static enum status join_changes(struct exec_node *self, struct exec_context *ctx,
                                struct buffer *out, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    struct buffer key = {0};
    struct buffer value = {0};
    (void)ctx;
    (void)err;
    for (uint32_t i = 0; i < join->change_count; i++) {
        const struct change_entry *change = &join->changes[i];
        if (change->row != NULL)
            put_row(join, change->side, change->row, out, &key, &value);
        else
            changelog_take(out, change->end_us, change->key);
    }
    buffer_fini(&key);
    buffer_fini(&value);
    return OK;
}

static enum status damaged(struct error *err)
{
    return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of a join", NULL);
}

static enum status join_restore(struct exec_node *self, const struct change *change,
                                struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    if (change->kind == CHANGE_DROP || change->key.size_bytes < SEQ_BYTES ||
        change->key.data[0] > 1)
        return damaged(err);
    struct join_rows *rows = join->side[change->key.data[0]].rows;
    struct bytes key = bytes_of(change->key.data + SEQ_BYTES, change->key.size_bytes - SEQ_BYTES);
    uint64_t hash = state_hash(key);
    uint64_t seq = 0;
    for (int i = 0; i < 8; i++)
        seq |= (uint64_t)change->key.data[1 + i] << (8 * i);
    join_spill_want(&join->spill, key, hash);
    TRY(join_spill_fetch(&join->spill, err));
    struct join_row *row = join_rows_find(rows, key, hash);
    while (row != NULL && row->seq != seq)
        row = row->next;
    if (change->kind == CHANGE_TAKE) {
        if (row == NULL)
            return OK;
        join_spill_note_gone(&join->spill, key);
        join_rows_remove(rows, row);
        return join_spill_forget_gone(&join->spill, err);
    }
    if (change->value.size_bytes == 0)
        return damaged(err);
    if (row == NULL)
        row = join_rows_add(rows, key, hash,
                            bytes_of(change->value.data + 1, change->value.size_bytes - 1),
                            change->bucket, seq);
    row->matched = change->value.data[0] != 0;
    if (seq >= join->next_seq)
        join->next_seq = seq + 1;
    return OK;
}

static void join_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    *out = join->stats;
    for (int side = 0; side < 2; side++) {
        out->rows_total += join_rows_count(join->side[side].rows);
        out->memory_bytes += join_rows_bytes(join->side[side].rows);
    }
    out->rows_total += join->spill.row_count;
    out->memory_bytes += join_spill_bytes(&join->spill) + arena_used_bytes(join->arena) +
                         join->change_capacity * sizeof *join->changes;
    stateful_spill_stats(&join->spill.spill, out);
    out->rows_spilled = join->spill.row_count;
}

/* Without keys all rows are of one. */
static struct spill *join_spill_of(struct exec_node *self)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    return self->plan->join.key_count == 0 ? NULL : &join->spill.spill;
}

static enum status join_let_go(struct exec_node *self, uint64_t bytes, struct error *err)
{
    struct stream_join *join = self->state;
    CHECK_MAGIC(join, JOIN_MAGIC);
    (void)bytes;
    free(join->changes);
    join->changes = NULL;
    join->change_count = join->change_capacity = 0;
    arena_reset(join->arena);
    arena_trim(join->arena);
    return join_spill_let_go(&join->spill, err);
}

static bool join_wants_batch(const struct plan_node *node, enum emit_mode mode,
                             int64_t watermark_us, int64_t last_watermark_us)
{
    struct join_limit limits[2];
    (void)mode;
    join_limits(node, limits);
    return (limits[0].kind != JOIN_LIMIT_NONE || limits[1].kind != JOIN_LIMIT_NONE) &&
           watermark_us > last_watermark_us;
}

static void join_close(struct exec_node *self)
{
    struct stream_join *join = self->state;
    if (join == NULL)
        return;
    join_spill_fini(&join->spill);
    join_rows_free(join->side[0].rows);
    join_rows_free(join->side[1].rows);
    arena_free(join->arena);
    free(join->changes);
}

static const struct stateful_ops join_stateful = {
    .name = "symmetricHashJoin",
    .writer = &node_exchange_writer,
    .pull = join_pull,
    .changes = join_changes,
    .restore = join_restore,
    .stats = join_stats,
    .spill = join_spill_of,
    .let_go = join_let_go,
    .end_round = join_end_round,
    .expire = join_expire,
    .wants_batch = join_wants_batch,
};

const struct exec_node_ops node_stream_join = {
    .name = "Join",
    .open = join_open,
    .begin = join_begin,
    .push = join_push,
    .finish = join_finish,
    .close = join_close,
    .stateful = &join_stateful,
};
