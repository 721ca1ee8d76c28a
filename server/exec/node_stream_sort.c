/*
 * ORDER BY over a stream, which is legal in complete mode: every batch sorts the whole result.  It
 * keeps nothing; it is a boundary because all rows have to meet in one place.
 */
#include "exec/node_exchange_writer.h"
#include "exec/stateful.h"

static enum status sort_open(struct exec_node *self, struct arena *query,
                             const struct plan_node *node, struct error *err)
{
    return node_sort.open(self, query, node, err);
}

static enum status sort_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    return node_sort.begin(self, ctx, err);
}

static enum status sort_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                             const struct batch *batch, struct error *err)
{
    return node_sort.push(self, ctx, input, batch, err);
}

static enum status sort_finish(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    return node_sort.finish(self, ctx, err);
}

static void sort_close(struct exec_node *self)
{
    node_sort.close(self);
}

static bool sort_wants_batch(const struct plan_node *node, enum emit_mode mode,
                             int64_t watermark_us, int64_t last_watermark_us)
{
    (void)node;
    (void)mode;
    (void)watermark_us;
    (void)last_watermark_us;
    return false;
}

static const struct stateful_ops sort_stateful = {
    .writer = &node_exchange_writer,
    .pull = exchange_pull,
    .wants_batch = sort_wants_batch,
};

const struct exec_node_ops node_stream_sort = {
    .name = "Sort",
    .open = sort_open,
    .begin = sort_begin,
    .push = sort_push,
    .finish = sort_finish,
    .close = sort_close,
    .stateful = &sort_stateful,
};
