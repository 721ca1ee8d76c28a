/*
 * Dedup over bounded input: of the rows with equal values in the key columns the first one stays.
 * Over a stream it is a stateful operator.
 */
#include "base/check.h"
#include "columnar/row_key.h"
#include "exec/group_table.h"
#include "exec/node.h"

#define DEDUP_MAGIC 0xdedc0001U

struct dedup {
    uint32_t magic;
    struct group_table seen;
};

static enum status dedup_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    CHECK(node->kind == PLAN_DEDUP);
    (void)err;
    struct dedup *dedup = arena_new_object(query, sizeof *dedup);
    self->state = dedup;
    dedup->magic = DEDUP_MAGIC;
    group_table_init(&dedup->seen);
    return OK;
}

static enum status dedup_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct dedup *dedup = self->state;
    group_table_clear(&dedup->seen);
    return OK;
}

static enum status dedup_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    struct dedup *dedup = self->state;
    CHECK_MAGIC(dedup, DEDUP_MAGIC);
    CHECK(input == 0);
    uint32_t count = self->plan->dedup.column_count;
    struct vector **columns = arena_new_object(ctx->batch_arena, (count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = batch->columns[self->plan->dedup.columns[i]];
    struct bytes *keys = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *keys);
    uint16_t *kept = arena_new_object(ctx->batch_arena, (batch->selected + 1) * sizeof *kept);
    TRY(row_key_encode(ctx->batch_arena, columns, count, batch->selection, batch->selected, keys,
                       err));
    struct batch out = *batch;
    out.selection = kept;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        bool added = false;
        group_table_add(&dedup->seen, keys[i], &added);
        if (added)
            kept[out.selected++] = (uint16_t)batch_row(batch, i);
    }
    return exec_emit(self, ctx, &out, err);
}

static void dedup_close(struct exec_node *self)
{
    struct dedup *dedup = self->state;
    if (dedup == NULL)
        return;
    group_table_fini(&dedup->seen);
}

const struct exec_node_ops node_dedup = {
    .name = "Dedup",
    .open = dedup_open,
    .begin = dedup_begin,
    .push = dedup_push,
    .close = dedup_close,
};
