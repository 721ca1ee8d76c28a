/*
 * EXCEPT and INTERSECT [ALL] of two inputs: counts the right rows by key, then lets left rows pass
 * that are (not) among them.  Without ALL each row comes out once.
 */
#include "base/check.h"
#include "base/heap.h"
#include "exec/group_table.h"
#include "exec/node.h"

#include <stdlib.h>

#define SET_MAGIC 0x5e700001U

struct set_state {
    uint32_t magic;
    struct group_table table;
    uint32_t *right; /* by group: rows of the right input; ALL: those not yet used up */
    bool *done;      /* by group: came out already */
    uint32_t capacity;
};

static enum status set_open(struct exec_node *self, struct arena *query,
                            const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_SET_OPERATION && node->child_count == 2);
    struct set_state *set = arena_new_object(query, sizeof *set);
    set->magic = SET_MAGIC;
    self->state = set;
    group_table_init(&set->table);
    return OK;
}

static enum status set_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)ctx;
    (void)err;
    struct set_state *set = self->state;
    group_table_clear(&set->table);
    return OK;
}

static uint32_t group_of(struct set_state *set, struct bytes key)
{
    bool added = false;
    uint32_t group = group_table_add(&set->table, key, &added);
    if (group >= set->capacity) {
        set->capacity = set->capacity == 0 ? 256 : set->capacity * 2;
        set->right = heap_realloc(set->right, set->capacity * sizeof *set->right);
        set->done = heap_realloc(set->done, set->capacity * sizeof *set->done);
    }
    if (added) {
        set->right[group] = 0;
        set->done[group] = false;
    }
    return group;
}

static bool passes(struct set_state *set, enum set_operation operation, uint32_t group)
{
    bool found = set->right[group] > 0;
    switch (operation) {
    case SET_EXCEPT_ALL:
        if (found)
            set->right[group]--;
        return !found;
    case SET_INTERSECT_ALL:
        if (found)
            set->right[group]--;
        return found;
    case SET_EXCEPT:
    case SET_INTERSECT: {
        bool first = !set->done[group];
        set->done[group] = true;
        return first && found == (operation == SET_INTERSECT);
    }
    }
    return false;
}

static enum status set_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                            const struct batch *batch, struct error *err)
{
    struct set_state *set = self->state;
    CHECK_MAGIC(set, SET_MAGIC);
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(struct bytes), &memory, err));
    struct bytes *keys = memory;
    TRY(row_key_encode(ctx->batch_arena, batch->columns, batch->schema->field_count,
                       batch->selection, batch->selected, keys, err));
    if (input == 1) {
        for (uint32_t i = 0; i < batch->selected; i++) {
            uint32_t group = group_of(set, keys[i]); /* may move the counters */
            set->right[group]++;
        }
        return OK;
    }
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(uint16_t), &memory, err));
    uint16_t *selection = memory;
    struct batch out = *batch;
    out.schema = self->plan->schema;
    out.selection = selection;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected; i++) {
        if (passes(set, self->plan->set_operation.operation, group_of(set, keys[i])))
            selection[out.selected++] = (uint16_t)batch_row(batch, i);
    }
    return exec_emit(self, ctx, &out, err);
}

static void set_close(struct exec_node *self)
{
    struct set_state *set = self->state;
    if (set == NULL)
        return;
    group_table_fini(&set->table);
    free(set->right);
    free(set->done);
}

const struct exec_node_ops node_set_operation = {
    .name = "SetOperation",
    .open = set_open,
    .begin = set_begin,
    .push = set_push,
    .close = set_close,
};
