/*
 * Values: rows written in the query itself.  They are computed when the leaf is run.
 */
#include "base/check.h"
#include "exec/node.h"
#include "expr/program.h"

#define VALUES_MAGIC 0x7a10e501U

struct values {
    uint32_t magic;
    const struct expr_program *program; /* all cells, row by row */
    struct expr_state *state;
    struct type empty; /* a schema without columns: what the cells are computed over */
};

static enum status values_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_VALUES);
    struct values *values = arena_new_object(query, sizeof *values);
    values->magic = VALUES_MAGIC;
    values->empty.id = TYPE_STRUCT;
    self->state = values;
    uint32_t cells = node->values.row_count * node->schema->field_count;
    TRY(expr_compile(query, node->values.cells, cells, &values->program, err));
    return expr_state_new(query, values->program, &values->state, err);
}

/* Rows [first, first + count) of the computed cells as one batch. */
static enum status emit_rows(struct exec_node *self, struct exec_context *ctx,
                             struct vector **cells, uint32_t first, uint32_t count,
                             struct error *err)
{
    const struct type *schema = self->plan->schema;
    uint32_t width = schema->field_count;
    void *memory = NULL;
    struct batch out = {.schema = schema, .rows = count, .selected = count};
    TRY(arena_alloc(ctx->batch_arena, width + 1, sizeof(struct vector *), &memory, err));
    out.columns = memory;
    TRY(arena_alloc(ctx->batch_arena, count, sizeof(struct vector *), &memory, err));
    struct vector **column = memory;
    for (uint32_t c = 0; c < width; c++) {
        for (uint32_t r = 0; r < count; r++)
            column[r] = cells[(size_t)(first + r) * width + c];
        TRY(vector_concat(ctx->batch_arena, column, count, &out.columns[c], err));
    }
    return exec_emit(self, ctx, &out, err);
}

static enum status values_finish(struct exec_node *self, struct exec_context *ctx,
                                 struct error *err)
{
    struct values *values = self->state;
    CHECK_MAGIC(values, VALUES_MAGIC);
    uint32_t rows = self->plan->values.row_count;
    struct batch one = {.schema = &values->empty, .rows = 1, .selected = 1};
    void *cells = NULL;
    TRY(arena_alloc(ctx->batch_arena, (size_t)rows * self->plan->schema->field_count + 1,
                    sizeof(struct vector *), &cells, err));
    TRY(expr_eval(values->program, values->state, &ctx->eval, &one, cells, err));
    for (uint32_t first = 0; first < rows; first += BATCH_ROWS_MAX) {
        uint32_t count = rows - first < BATCH_ROWS_MAX ? rows - first : BATCH_ROWS_MAX;
        TRY(emit_rows(self, ctx, cells, first, count, err));
    }
    return OK;
}

const struct exec_node_ops node_values = {
    .name = "Values",
    .open = values_open,
    .finish = values_finish,
};
