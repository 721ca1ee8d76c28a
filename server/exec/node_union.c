/*
 * Union (ALL): every batch of every child, under the names of the first one.
 *
 * A table beside a stream is a part of every task of the stage, but its rows count once: in task 0.
 */
#include "base/check.h"
#include "exec/node.h"

static enum status union_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    (void)self;
    (void)query;
    (void)err;
    CHECK(node->kind == PLAN_UNION);
    return OK;
}

static enum status union_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    CHECK(input < self->plan->child_count);
    bool table = self->plan->streaming && !self->plan->children[input]->streaming;
    if (table && ctx->eval.partition != 0)
        return OK;
    struct batch out = *batch;
    out.schema = self->plan->schema;
    return exec_emit(self, ctx, &out, err);
}

const struct exec_node_ops node_union = {
    .name = "Union",
    .open = union_open,
    .push = union_push,
};
