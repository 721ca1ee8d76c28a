/*
 * Building and running a chain of operators.  See pipeline.h.
 */
#include "exec/pipeline.h"

#include "base/check.h"
#include "exec/node_scan.h"

#include <stdlib.h>

#define PIPELINE_MAGIC    0x919e1101U
#define PLAN_DEPTH_MAX    1000
#define LEAVES_MAX        1024
#define BATCH_ARENA_BYTES ((size_t)4 << 30)

struct leaf {
    struct batch_receiver receiver; /* first member: what a source gets */
    struct pipeline *pipeline;
    struct exec_node *node;
};

struct node_list {
    struct exec_node *node;
    struct node_list *next;
};

struct pipeline {
    uint32_t magic;
    struct arena *query; /* operators */
    struct exec_context ctx;
    struct node_list *nodes; /* all, parents first */
    struct node_list **nodes_end;
    struct leaf *leaves;
    uint32_t leaf_count;
    const atomic_bool *cancelled;
};

static enum status receive(struct batch_receiver *self, const struct batch *batch,
                           struct error *err)
{
    struct leaf *leaf = (struct leaf *)self;
    struct pipeline *pipeline = leaf->pipeline;
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    enum status status = OK;
    if (pipeline->cancelled != NULL &&
        atomic_load_explicit(pipeline->cancelled, memory_order_relaxed))
        return error_raise(err, STATUS_OPERATION_CANCELLED, NULL);
    if (batch->selected > 0 && !pipeline->ctx.enough)
        status = leaf->node->ops->push(leaf->node, &pipeline->ctx, 0, batch, err);
    arena_reset(pipeline->ctx.batch_arena);
    return status;
}

static enum status add_leaf(struct pipeline *pipeline, struct exec_node *node, struct error *err)
{
    if (pipeline->leaf_count == LEAVES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the inputs of a query", "limit",
                           "1024", NULL);
    pipeline->leaves[pipeline->leaf_count++] = (struct leaf){
        .receiver = {.receive = receive},
        .pipeline = pipeline,
        .node = node,
    };
    return OK;
}

static enum status build(struct pipeline *pipeline, const struct plan_node *plan,
                         struct exec_node *next, uint32_t next_input, int depth, struct error *err)
{
    const struct exec_node_ops *ops = exec_node_find(plan->kind);
    if (ops == NULL)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature", plan_kind_name(plan->kind), NULL);
    if (depth > PLAN_DEPTH_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the depth of a plan", "limit",
                           "1000", NULL);
    struct exec_node *node = arena_new_object(pipeline->query, sizeof *node);
    struct node_list *entry = arena_new_object(pipeline->query, sizeof *entry);
    *node = (struct exec_node){
        .magic = EXEC_NODE_MAGIC,
        .ops = ops,
        .plan = plan,
        .next = next,
        .next_input = next_input,
    };
    entry->node = node;
    *pipeline->nodes_end = entry;
    pipeline->nodes_end = &entry->next;
    TRY(ops->open(node, pipeline->query, plan, err));
    if (plan->child_count == 0)
        return add_leaf(pipeline, node, err);
    if (plan->kind == PLAN_JOIN || plan->kind == PLAN_SET_OPERATION) {
        CHECK(plan->child_count == 2);
        TRY(build(pipeline, plan->children[1], node, 1, depth + 1, err));
        return build(pipeline, plan->children[0], node, 0, depth + 1, err);
    }
    for (uint32_t i = 0; i < plan->child_count; i++)
        TRY(build(pipeline, plan->children[i], node, i, depth + 1, err));
    return OK;
}

enum status pipeline_new(const struct plan_node *root, const char *time_zone, struct pipeline **out,
                         struct error *err)
{
    struct arena *query = arena_new("query", 0);
    struct pipeline *pipeline = arena_new_object(query, sizeof *pipeline);
    pipeline->magic = PIPELINE_MAGIC;
    pipeline->query = query;
    pipeline->nodes_end = &pipeline->nodes;
    pipeline->leaves = arena_new_object(query, LEAVES_MAX * sizeof *pipeline->leaves);
    pipeline->ctx.batch_arena = arena_new("batch", BATCH_ARENA_BYTES);
    pipeline->ctx.eval.arena = pipeline->ctx.batch_arena;
    pipeline->ctx.eval.time_zone = time_zone;
    pipeline->ctx.eval.input_file = "";
    enum status status = timezone_find(bytes_of_text(time_zone), &pipeline->ctx.eval.zone, err);
    if (status == OK)
        status = build(pipeline, root, NULL, 0, 0, err);
    if (status != OK) {
        pipeline_free(pipeline);
        return status;
    }
    *out = pipeline;
    return OK;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next)
        if (entry->node->ops->close != NULL)
            entry->node->ops->close(entry->node);
    arena_free(pipeline->ctx.batch_arena);
    pipeline->magic = 0;
    arena_free(pipeline->query);
}

uint32_t pipeline_leaf_count(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->leaf_count;
}

static const struct leaf *leaf_at(const struct pipeline *pipeline, uint32_t leaf)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    CHECK(leaf < pipeline->leaf_count);
    return &pipeline->leaves[leaf];
}

const struct plan_node *pipeline_leaf(const struct pipeline *pipeline, uint32_t leaf)
{
    return leaf_at(pipeline, leaf)->node->plan;
}

struct batch_receiver *pipeline_receiver(struct pipeline *pipeline, uint32_t leaf)
{
    CHECK(leaf_at(pipeline, leaf)->node->plan->kind == PLAN_SCAN);
    return &pipeline->leaves[leaf].receiver;
}

void pipeline_set_input_file(struct pipeline *pipeline, const char *path, int64_t start,
                             int64_t length)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    pipeline->ctx.eval.input_file = path == NULL ? "" : path;
    pipeline->ctx.eval.input_start = start;
    pipeline->ctx.eval.input_length = length;
}

enum status pipeline_begin(struct pipeline *pipeline, const struct pipeline_task *task,
                           struct error *err)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    struct exec_context *ctx = &pipeline->ctx;
    arena_reset(ctx->batch_arena);
    ctx->batch_id = task->batch_id;
    ctx->late_watermark_us = task->late_watermark_us;
    ctx->eviction_watermark_us = task->eviction_watermark_us;
    ctx->eval.now_us = task->batch_timestamp_us;
    ctx->eval.seed = task->random_seed;
    ctx->eval.partition = task->task;
    ctx->sink = task->sink;
    ctx->output_rows = 0;
    ctx->enough = false;
    pipeline->cancelled = task->cancelled;
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next) {
        entry->node->inputs_finished = 0;
        if (entry->node->ops->begin != NULL)
            TRY(entry->node->ops->begin(entry->node, ctx, err));
    }
    return OK;
}

enum status pipeline_finish_leaf(struct pipeline *pipeline, uint32_t leaf, struct error *err)
{
    struct exec_node *node = leaf_at(pipeline, leaf)->node;
    enum status status = exec_finish_input(node, &pipeline->ctx, err);
    arena_reset(pipeline->ctx.batch_arena);
    return status;
}

void pipeline_end(struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    arena_reset(pipeline->ctx.batch_arena);
    pipeline->ctx.sink = NULL;
    pipeline_set_input_file(pipeline, NULL, 0, 0);
}

bool pipeline_has_enough(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->ctx.enough;
}

uint64_t pipeline_input_rows(const struct pipeline *pipeline, uint32_t leaf)
{
    return node_scan_rows(leaf_at(pipeline, leaf)->node);
}

uint64_t pipeline_output_rows(const struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    return pipeline->ctx.output_rows;
}

void pipeline_watermark_stats(const struct pipeline *pipeline, struct event_time_stats *stats,
                              uint32_t count)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    for (struct node_list *entry = pipeline->nodes; entry != NULL; entry = entry->next) {
        if (entry->node->plan->kind != PLAN_WATERMARK)
            continue;
        uint32_t id = entry->node->plan->watermark.watermark_id;
        CHECK(id < count);
        event_time_stats_merge(&stats[id], node_watermark_stats(entry->node));
    }
}

void pipeline_trim(struct pipeline *pipeline)
{
    CHECK_MAGIC(pipeline, PIPELINE_MAGIC);
    arena_trim(pipeline->ctx.batch_arena);
}
