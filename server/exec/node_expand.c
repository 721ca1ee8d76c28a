/*
 * Expand: every row becomes several, one per projection: the grouping sets of an aggregation.
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

static enum status expand_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct expand *expand = self->state;
    CHECK_MAGIC(expand, EXPAND_MAGIC);
    CHECK(input == 0);
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
