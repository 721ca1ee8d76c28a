/*
 * LIMIT over a stream: of all rows that ever come, the first ones pass; how many have is the state.
 * Above an aggregation in complete mode every batch shows the whole result, and each is limited
 * anew; below one the limit counts over all batches in every mode.
 *
 * All rows meet in partition 0.
 */
#include "base/check.h"
#include "exec/node_exchange_writer.h"
#include "exec/stateful.h"

#define LIMIT_MAGIC 0x57a11301U

struct stream_limit {
    uint32_t magic;
    int64_t passed;        /* rows so far, those skipped included */
    int64_t passed_before; /* ... before this batch */
    bool over_aggregation;
};

static bool has_aggregation(const struct plan_node *node)
{
    if (node->kind == PLAN_AGGREGATE && node->streaming)
        return true;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (has_aggregation(node->children[i]))
            return true;
    return false;
}

static enum status limit_open(struct exec_node *self, struct arena *query,
                              const struct plan_node *node, struct error *err)
{
    (void)err;
    CHECK(node->kind == PLAN_LIMIT);
    struct stream_limit *limit = arena_new_object(query, sizeof *limit);
    limit->magic = LIMIT_MAGIC;
    limit->over_aggregation = has_aggregation(node);
    self->state = limit;
    return OK;
}

static enum status limit_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)err;
    struct stream_limit *limit = self->state;
    if (ctx->mode == EMIT_COMPLETE && limit->over_aggregation)
        limit->passed = 0;
    limit->passed_before = limit->passed;
    return OK;
}

static enum status limit_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                              const struct batch *batch, struct error *err)
{
    struct stream_limit *limit = self->state;
    CHECK_MAGIC(limit, LIMIT_MAGIC);
    CHECK(input == 0);
    const struct plan_node *node = self->plan;
    int64_t end = node->limit.limit < 0 ? INT64_MAX : node->limit.offset + node->limit.limit;
    void *memory = NULL;
    TRY(arena_alloc_raw(ctx->batch_arena, batch->selected, sizeof(uint16_t), &memory, err));
    uint16_t *rows = memory;
    struct batch out = *batch;
    out.schema = node->schema;
    out.selection = rows;
    out.selected = 0;
    for (uint32_t i = 0; i < batch->selected && limit->passed < end; i++)
        if (limit->passed++ >= node->limit.offset)
            rows[out.selected++] = (uint16_t)batch_row(batch, i);
    return exec_emit(self, ctx, &out, err);
}

static enum status limit_changes(struct exec_node *self, struct exec_context *ctx,
                                 struct buffer *out, struct error *err)
{
    struct stream_limit *limit = self->state;
    (void)err;
    if ((ctx->mode == EMIT_COMPLETE && limit->over_aggregation) ||
        limit->passed == limit->passed_before)
        return OK;
    struct buffer value = {0};
    varint_put(&value, (uint64_t)limit->passed);
    changelog_put(out, INT64_MAX, bytes_of_text(""), buffer_bytes(&value));
    buffer_fini(&value);
    return OK;
}

static enum status limit_restore(struct exec_node *self, const struct change *change,
                                 struct error *err)
{
    struct stream_limit *limit = self->state;
    struct bytes value = change->value;
    uint64_t passed = 0;
    if (change->kind != CHANGE_PUT || !varint_take(&value, &passed) || passed > INT64_MAX)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "the state of a limit", NULL);
    limit->passed = (int64_t)passed;
    return OK;
}

static void limit_stats(const struct exec_node *self, struct operator_stats *out)
{
    const struct stream_limit *limit = self->state;
    CHECK_MAGIC(limit, LIMIT_MAGIC);
    *out = (struct operator_stats){
        .rows_total = limit->passed > 0 ? 1 : 0,
        .rows_updated = limit->passed != limit->passed_before ? 1 : 0,
        .memory_bytes = sizeof *limit,
    };
}

static bool limit_wants_batch(const struct plan_node *node, enum emit_mode mode,
                              int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    (void)mode;
    (void)watermark_us;
    (void)last_watermark_us;
    return false;
}

static const struct stateful_ops limit_stateful = {
    .name = "globalLimit",
    .writer = &node_exchange_writer,
    .pull = exchange_pull,
    .changes = limit_changes,
    .restore = limit_restore,
    .stats = limit_stats,
    .wants_batch = limit_wants_batch,
};

const struct exec_node_ops node_stream_limit = {
    .name = "Limit",
    .open = limit_open,
    .begin = limit_begin,
    .push = limit_push,
    .stateful = &limit_stateful,
};
