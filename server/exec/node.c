/*
 * How operators are found and how batches go from one to the next.  See node.h.
 */
#include "exec/node.h"

#include "base/check.h"

static const struct exec_node_ops *const node_table[] = {
#define EXEC_NODE(plan_kind, ops) [plan_kind] = &ops,
#include "exec/node_table.def"
#undef EXEC_NODE
};

const struct exec_node_ops *exec_node_find(enum plan_kind kind)
{
    size_t index = (size_t)kind;
    return index < sizeof node_table / sizeof node_table[0] ? node_table[index] : NULL;
}

enum status exec_emit(struct exec_node *self, struct exec_context *ctx, const struct batch *batch,
                      struct error *err)
{
    CHECK_MAGIC(self, EXEC_NODE_MAGIC);
    CHECK(batch->schema != NULL);
    if (batch->selected == 0)
        return OK;
#ifndef NDEBUG
    batch_check(batch);
#endif
    struct exec_node *next = self->next;
    if (next != NULL)
        return next->ops->push(next, ctx, self->next_input, batch, err);
    ctx->output_rows += batch->selected;
    return batch_receive(ctx->sink, batch, err);
}

enum status exec_finish_input(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    for (; self != NULL; self = self->next) {
        CHECK_MAGIC(self, EXEC_NODE_MAGIC);
        self->inputs_finished++;
        CHECK(self->inputs_finished <= self->inputs);
        if (self->inputs_finished < self->inputs)
            return OK;
        if (self->ops->finish != NULL)
            TRY(self->ops->finish(self, ctx, err));
    }
    return OK;
}
