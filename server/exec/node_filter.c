/*
 * Filter: keeps the rows for which the predicate is true (not false, not NULL).
 *
 * Nothing is copied.  The predicate narrows the selection, and the output batch is the input batch
 * seen through it.
 */
#include "base/check.h"
#include "exec/node.h"
#include "expr/program.h"

#define FILTER_MAGIC 0xf117e401U

struct filter {
    uint32_t magic;
    const struct expr_filter *predicate;
    struct expr_state *state;
};

static enum status filter_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_FILTER);
    struct filter *filter = arena_new_object(query, sizeof *filter);
    filter->magic = FILTER_MAGIC;
    self->state = filter;
    TRY(expr_filter_compile(query, node->filter.predicate, &filter->predicate, err));
    return expr_filter_state_new(query, filter->predicate, &filter->state, err);
}

static enum status filter_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    struct filter *filter = self->state;
    CHECK_MAGIC(filter, FILTER_MAGIC);
    CHECK(input == 0);
    struct batch out = *batch;
    TRY(expr_filter_run(filter->predicate, filter->state, &ctx->eval, &out, err));
    return exec_emit(self, ctx, &out, err);
}

const struct exec_node_ops node_filter = {
    .name = "Filter",
    .open = filter_open,
    .push = filter_push,
};
