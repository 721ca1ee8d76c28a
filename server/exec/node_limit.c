/*
 * Limit: of the rows that come, leaves out the first `offset` and lets `limit` pass.
 *
 * It counts within one task, so it stands only where one task sees all rows.
 */
#include "base/check.h"
#include "exec/node.h"

#define LIMIT_MAGIC 0x11317a01U

struct limit {
    uint32_t magic;
    int64_t to_skip;
    int64_t to_pass; /* INT64_MAX: all */
};

static enum status limit_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_LIMIT);
    CHECK(node->limit.limit >= -1 && node->limit.offset >= 0);
    struct limit *limit = arena_new_object(query, sizeof *limit);
    limit->magic = LIMIT_MAGIC;
    self->state = limit;
    return OK;
}

static enum status limit_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)err;
    struct limit *limit = self->state;
    const struct plan_node *node = self->plan;
    limit->to_skip = node->limit.offset;
    limit->to_pass = node->limit.limit < 0 ? INT64_MAX : node->limit.limit;
    if (limit->to_pass == 0 && self->next == NULL)
        ctx->enough = true;
    return OK;
}

static enum status limit_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    struct limit *limit = self->state;
    CHECK_MAGIC(limit, LIMIT_MAGIC);
    CHECK(input == 0);
    int64_t skip = limit->to_skip < batch->selected ? limit->to_skip : batch->selected;
    int64_t pass = batch->selected - skip;
    if (pass > limit->to_pass)
        pass = limit->to_pass;
    limit->to_skip -= skip;
    if (limit->to_pass != INT64_MAX)
        limit->to_pass -= pass;
    if (limit->to_pass == 0 && self->next == NULL)
        ctx->enough = true;
    if (pass == 0)
        return OK;
    if (skip == 0 && pass == batch->selected)
        return exec_emit(self, ctx, batch, err);
    void *selection = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, (size_t)pass, sizeof(uint16_t), &selection, err));
    uint16_t *rows = selection;
    for (int64_t i = 0; i < pass; i++)
        rows[i] = (uint16_t)batch_row(batch, (uint32_t)(skip + i));
    struct batch out = *batch;
    out.selection = rows;
    out.selected = (uint32_t)pass;
    return exec_emit(self, ctx, &out, err);
}

const struct exec_node_ops node_limit = {
    .name = "Limit",
    .open = limit_open,
    .begin = limit_begin,
    .push = limit_push,
};
