/*
 * See exchange.h.
 */
#include "exec/exchange.h"

#include "base/check.h"
#include "base/hash.h"
#include "columnar/row_key.h"
#include "expr/program.h"
#include "state/state_table.h"

#include <stdlib.h>

#define EXCHANGE_MAGIC 0xe8c4a001U

struct piece {
    struct batch batch;
    struct piece *next;
};

struct lane { /* what goes to one partition */
    struct piece *first;
    struct piece **end;
};

struct exchange_writer {
    uint32_t magic;
    uint32_t key_count;
    const uint32_t *columns;
    const struct expr_program *program;
    struct expr_state *state;
    const struct type *schema;
    struct arena *arena; /* the copies */
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t run;
};

enum status exchange_writer_new(struct arena *query, const struct exchange_keys *keys,
                                const struct type *schema, struct exchange_writer **out,
                                struct error *err)
{
    struct exchange_writer *writer = arena_new_object(query, sizeof *writer);
    writer->magic = EXCHANGE_MAGIC;
    writer->key_count = keys->count;
    writer->columns = keys->columns;
    writer->schema = schema;
    *out = writer;
    if (keys->count > 0 && keys->exprs != NULL) {
        TRY(expr_compile(query, keys->exprs, keys->count, &writer->program, err));
        TRY(expr_state_new(query, writer->program, &writer->state, err));
    }
    writer->arena = arena_new("exchange", 0);
    return OK;
}

void exchange_writer_free(struct exchange_writer *writer)
{
    if (writer == NULL)
        return;
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    arena_free(writer->arena);
    free(writer->lanes);
    writer->magic = 0;
}

void exchange_begin(struct exchange_writer *writer, const struct exec_context *ctx)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run == ctx->run)
        return;
    writer->run = ctx->run;
    arena_reset(writer->arena);
    if (writer->lane_count != ctx->partitions) {
        writer->lane_count = ctx->partitions;
        writer->lanes = realloc(writer->lanes, writer->lane_count * sizeof *writer->lanes);
        CHECK(writer->lanes != NULL);
    }
    for (uint32_t i = 0; i < writer->lane_count; i++) {
        writer->lanes[i].first = NULL;
        writer->lanes[i].end = &writer->lanes[i].first;
    }
}

static enum status key_columns(struct exchange_writer *writer, struct exec_context *ctx,
                               const struct batch *batch, struct vector ***out, struct error *err)
{
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, writer->key_count, sizeof(struct vector *), &memory, err));
    *out = memory;
    if (writer->program != NULL)
        return expr_eval(writer->program, writer->state, &ctx->eval, batch, *out, err);
    for (uint32_t i = 0; i < writer->key_count; i++)
        (*out)[i] = batch->columns[writer->columns[i]];
    return OK;
}

/* Copies rows[0..count) of the batch into a lane. */
static enum status add_piece(struct exchange_writer *writer, struct exec_context *ctx,
                             struct lane *lane, const struct batch *batch, const uint32_t *rows,
                             uint32_t count, struct error *err)
{
    uint32_t width = batch->schema->field_count;
    struct piece *piece = arena_new_object(writer->arena, sizeof *piece);
    piece->batch = (struct batch){.schema = writer->schema, .rows = count, .selected = count};
    piece->batch.columns =
        arena_new_object(writer->arena, (width + 1) * sizeof *piece->batch.columns);
    for (uint32_t c = 0; c < width; c++) {
        struct vector *dense = NULL;
        TRY(vector_gather(ctx->batch_arena, batch->columns[c], rows, count, &dense, err));
        TRY(vector_clone(writer->arena, dense, &piece->batch.columns[c], err));
    }
    *lane->end = piece;
    lane->end = &piece->next;
    return OK;
}

enum status exchange_write(struct exchange_writer *writer, struct exec_context *ctx,
                           const struct batch *batch, struct error *err)
{
    exchange_begin(writer, ctx);
    uint32_t lanes = writer->lane_count;
    uint32_t selected = batch->selected;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, (size_t)selected * 2 + lanes + 1, sizeof(uint32_t),
                        &memory, err));
    uint32_t *target = memory;
    uint32_t *rows = target + selected;
    uint32_t *start = rows + selected; /* lanes + 1 */
    memset(start, 0, (lanes + 1) * sizeof *start);
    if (writer->key_count == 0) {
        memset(target, 0, selected * sizeof *target);
    } else {
        struct vector **columns = NULL;
        TRY(key_columns(writer, ctx, batch, &columns, err));
        TRY(arena_alloc_raw(ctx->batch_arena, selected, sizeof(struct bytes), &memory, err));
        struct bytes *keys = memory;
        TRY(row_key_encode(ctx->batch_arena, columns, writer->key_count, batch->selection, selected,
                           keys, err));
        for (uint32_t i = 0; i < selected; i++)
            target[i] = hash_bucket(state_hash(keys[i]), lanes);
    }
    for (uint32_t i = 0; i < selected; i++)
        start[target[i] + 1]++;
    for (uint32_t lane = 0; lane < lanes; lane++)
        start[lane + 1] += start[lane];
    for (uint32_t i = 0; i < selected; i++)
        rows[start[target[i]]++] = batch_row(batch, i);
    for (uint32_t lane = 0, first = 0; lane < lanes; first = start[lane++])
        if (start[lane] > first)
            TRY(add_piece(writer, ctx, &writer->lanes[lane], batch, rows + first,
                          start[lane] - first, err));
    return OK;
}

enum status exchange_each(const struct exchange_writer *writer, struct exec_node *node,
                          struct exec_context *ctx, exchange_look_fn *look, struct error *err)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run != ctx->run)
        return OK;
    CHECK(ctx->partition < writer->lane_count);
    for (const struct piece *piece = writer->lanes[ctx->partition].first; piece != NULL;
         piece = piece->next) {
        TRY(look(node, ctx, &piece->batch, err));
        arena_reset(ctx->batch_arena);
    }
    return OK;
}

size_t exchange_bytes(const struct exchange_writer *writer)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    return arena_used_bytes(writer->arena);
}

enum status exchange_read(const struct exchange_writer *writer, struct exec_node *node,
                          struct exec_context *ctx, uint32_t input, struct error *err)
{
    CHECK_MAGIC(writer, EXCHANGE_MAGIC);
    if (writer->run != ctx->run) /* it had nothing to do in this batch */
        return OK;
    CHECK(ctx->partition < writer->lane_count);
    for (const struct piece *piece = writer->lanes[ctx->partition].first; piece != NULL;
         piece = piece->next) {
        TRY(node->ops->push(node, ctx, input, &piece->batch, err));
        arena_reset(ctx->batch_arena);
    }
    return OK;
}
