/*
 * See node_exchange_writer.h.
 */
#include "exec/node_exchange_writer.h"

#include "base/check.h"
#include "exec/exchange.h"

/* What decides the partition of a row, by the boundary that it goes to. */
static struct exchange_keys keys_of(const struct plan_node *node, uint32_t input)
{
    struct exchange_keys keys = {0};
    switch (node->kind) {
    case PLAN_DEDUP:
        keys.columns = node->dedup.columns;
        keys.count = node->dedup.column_count;
        break;
    case PLAN_JOIN:
        keys.exprs = input == 0 ? node->join.left_keys : node->join.right_keys;
        keys.count = node->join.key_count;
        break;
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_FILTER:
    case PLAN_PROJECT:
    case PLAN_UNION:
    case PLAN_LIMIT:
    case PLAN_SORT:
    case PLAN_AGGREGATE:
    case PLAN_SESSION:
    case PLAN_EXPAND:
    case PLAN_GENERATE:
    case PLAN_WINDOW:
    case PLAN_SET_OPERATION:
    case PLAN_WATERMARK:
        break; /* all rows meet in one partition */
    }
    return keys;
}

static enum status writer_open(struct exec_node *self, struct arena *query,
                               const struct plan_node *node, struct error *err)
{
    uint32_t input = self->next_input;
    CHECK(input < node->child_count);
    struct exchange_keys keys = keys_of(node, input);
    struct exchange_writer *writer = NULL;
    enum status status =
        exchange_writer_new(query, &keys, node->children[input]->schema, &writer, err);
    self->state = writer;
    return status;
}

static enum status writer_begin(struct exec_node *self, struct exec_context *ctx, struct error *err)
{
    (void)err;
    exchange_begin(self->state, ctx);
    return OK;
}

static enum status writer_push(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                               const struct batch *batch, struct error *err)
{
    CHECK(input == 0);
    return exchange_write(self->state, ctx, batch, err);
}

static void writer_close(struct exec_node *self)
{
    exchange_writer_free(self->state);
}

enum status exchange_pull(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                          struct exec_node *writer, struct error *err)
{
    return exchange_read(writer->state, self, ctx, input, err);
}

enum status exchange_look(const struct exec_node *writer, struct exec_node *self,
                          struct exec_context *ctx, exchange_look_fn *look, struct error *err)
{
    return exchange_each(writer->state, self, ctx, look, err);
}

static size_t writer_bytes(const struct exec_node *self)
{
    return exchange_bytes(self->state);
}

static void writer_waiting(const struct exec_node *self, uint32_t run, uint32_t partition,
                           struct exec_waiting *out)
{
    exchange_waiting(self->state, run, partition, out);
}

static enum status writer_put_away(struct exec_node *self, struct spill_file *file,
                                   struct error *err)
{
    return exchange_put_away(self->state, file, err);
}

const struct exec_node_ops node_exchange_writer = {
    .name = "Exchange",
    .open = writer_open,
    .begin = writer_begin,
    .push = writer_push,
    .close = writer_close,
    .bytes = writer_bytes,
    .put_away = writer_put_away,
    .waiting = writer_waiting,
};
