/*
 * Dedup of a bounded run: lets the first row of each key pass.
 */
#include "base/check.h"
#include "exec/group_table.h"
#include "exec/node.h"

#define DEDUP_MAGIC 0xdedb0001U

struct dedup {
    uint32_t magic;
    struct group_table seen;
};

static enum status dedup_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_DEDUP);
    struct dedup *dedup = arena_new_object(query, sizeof *dedup);
    dedup->magic = DEDUP_MAGIC;
    self->state = dedup;
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
    uint32_t key_count = self->plan->dedup.column_count;
    void *memory = NULL;
    TRY(arena_alloc(ctx->batch_arena, key_count + 1U, sizeof(struct vector *), &memory, err));
    struct vector **columns = memory;
    for (uint32_t i = 0; i < key_count; i++)
        columns[i] = batch->columns[self->plan->dedup.columns[i]];
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    TRY(row_key_encode(ctx->batch_arena, columns, key_count, batch->selection, batch->selected,
                       keys, err));
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    struct batch out = *batch;
    out.schema = self->plan->schema;
    out.selection = selection;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        bool added = false;
        (void)group_table_add(&dedup->seen, keys[i], &added);
        if (added)
            selection[out.selected++] = (uint16_t)batch_row(batch, i);
    }
    return exec_emit(self, ctx, &out, err);
}

static void dedup_close(struct exec_node *self)
{
    struct dedup *dedup = self->state;
    if (dedup != NULL)
        group_table_fini(&dedup->seen);
}

const struct exec_node_ops node_dedup = {
    .name = "Dedup",
    .open = dedup_open,
    .begin = dedup_begin,
    .push = dedup_push,
    .close = dedup_close,
};
