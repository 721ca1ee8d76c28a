/*
 * Expand: every row becomes several, one per projection: grouping sets, sliding windows, UNPIVOT.
 *
 * The rows made from one row follow each other, as people expect of a table, and as functions that
 * know an order (collect_list, first, sums of DOUBLE) see them in Spark.  Where nothing above
 * minds, a stream emits projection by projection, which copies nothing.
 */
#include "base/check.h"
#include "exec/node.h"
#include "expr/program.h"

#define EXPAND_MAGIC 0xe8fa4d01U

struct expand {
    uint32_t magic;
    const struct expr_program **programs; /* one per projection */
    struct expr_state **states;
};

static enum status expand_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_EXPAND);
    uint32_t count = node->expand.projection_count;
    struct expand *expand = arena_new_object(query, sizeof *expand);
    expand->magic = EXPAND_MAGIC;
    expand->programs = arena_new_object(query, (count + 1) * sizeof *expand->programs);
    expand->states = arena_new_object(query, (count + 1) * sizeof *expand->states);
    self->state = expand;
    for (uint32_t i = 0; i < count; i++) {
        TRY(expr_compile(query, node->expand.projections[i], node->schema->field_count,
                         &expand->programs[i], err));
        TRY(expr_state_new(query, expand->programs[i], &expand->states[i], err));
    }
    return OK;
}

/* Column c of all projections, one after another: row r of projection p is row p * rows + r. */
static enum status expand_columns(struct exec_node *self, struct exec_context *ctx,
                                  const struct batch *batch, struct vector **flat,
                                  struct error *err)
{
    struct expand *expand = self->state;
    uint32_t count = self->plan->expand.projection_count;
    uint32_t width = self->plan->schema->field_count;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, (size_t)count * width + 1U, sizeof(struct vector *), &memory,
                    err));
    struct vector **columns = memory;
    for (uint32_t p = 0; p < count; p++)
        TRY(expr_eval(expand->programs[p], expand->states[p], &ctx->eval, batch,
                      columns + (size_t)p * width, err));
    TRY(arena_alloc(ctx->batch_arena, count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **parts = memory;
    for (uint32_t c = 0; c < width; c++) {
        for (uint32_t p = 0; p < count; p++)
            parts[p] = columns[(size_t)p * width + c];
        TRY(vector_concat(ctx->batch_arena, parts, count, &flat[c], err));
    }
    return OK;
}

static enum status emit_rows(struct exec_node *self, struct exec_context *ctx,
                             struct vector *const *flat, const uint32_t *rows, uint32_t count,
                             struct error *err)
{
    uint32_t width = self->plan->schema->field_count;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, width + 1U, sizeof(struct vector *), &memory, err));
    struct batch out = {
        .schema = self->plan->schema, .columns = memory, .rows = count, .selected = count};
    for (uint32_t c = 0; c < width; c++)
        TRY(vector_gather(ctx->batch_arena, flat[c], rows, count, &out.columns[c], err));
    return count == 0 ? OK : exec_emit(self, ctx, &out, err);
}

static enum status push_piece(struct exec_node *self, struct exec_context *ctx,
                              const struct batch *selected, struct error *err)
{
    uint32_t projections = self->plan->expand.projection_count, count = 0;
    struct batch batch;
    void *memory = NULL;
    TRY(batch_compact(ctx->batch_arena, selected, &batch, err));
    TRY(arena_alloc(ctx->batch_arena, self->plan->schema->field_count + 1U, sizeof(struct vector *),
                    &memory, err));
    struct vector **flat = memory;
    TRY(expand_columns(self, ctx, &batch, flat, err));
    TRY(arena_alloc_raw(ctx->batch_arena, BATCH_ROWS_MAX, sizeof(uint32_t), &memory, err));
    uint32_t *rows = memory;
    for (uint32_t row = 0; row < batch.rows; row++) {
        for (uint32_t p = 0; p < projections; p++) {
            rows[count++] = p * batch.rows + row;
            if (count < BATCH_ROWS_MAX)
                continue;
            TRY(emit_rows(self, ctx, flat, rows, count, err));
            count = 0;
        }
    }
    return emit_rows(self, ctx, flat, rows, count, err);
}

/* In pieces that have so many rows when they are expanded. */
#define PIECE_ROWS ((uint32_t)1 << 18)

static enum status push_row_by_row(struct exec_node *self, struct exec_context *ctx,
                                   const struct batch *batch, struct error *err)
{
    uint32_t projections = self->plan->expand.projection_count;
    uint32_t most = projections < PIECE_ROWS / 64 ? PIECE_ROWS / (projections + 1) : 64;
    if (batch->selected <= most)
        return push_piece(self, ctx, batch, err);
    struct batch compact;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, BATCH_ROWS_MAX, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    TRY(batch_compact(ctx->batch_arena, batch, &compact, err));
    for (uint32_t i = 0; i < compact.rows; i++)
        selection[i] = (uint16_t)i;
    for (uint32_t first = 0; first < compact.rows; first += most) {
        struct batch piece = compact;
        piece.selection = selection + first;
        piece.selected = compact.rows - first < most ? compact.rows - first : most;
        TRY(push_piece(self, ctx, &piece, err));
    }
    return OK;
}

static enum status expand_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct expand *expand = self->state;
    CHECK_MAGIC(expand, EXPAND_MAGIC);
    CHECK(input == 0);
    if (!self->plan->expand.any_order && batch->selected > 0)
        return push_row_by_row(self, ctx, batch, err);
    for (uint32_t i = 0; i < self->plan->expand.projection_count; i++) {
        void *columns = NULL;
        TRY(arena_alloc(ctx->batch_arena, self->plan->schema->field_count + 1U,
                        sizeof(struct vector *), &columns, err));
        struct batch out = *batch;
        out.schema = self->plan->schema;
        out.columns = columns;
        TRY(expr_eval(expand->programs[i], expand->states[i], &ctx->eval, batch, out.columns, err));
        TRY(exec_emit(self, ctx, &out, err));
    }
    return OK;
}

const struct exec_node_ops node_expand = {
    .name = "Expand",
    .open = expand_open,
    .push = expand_push,
};
