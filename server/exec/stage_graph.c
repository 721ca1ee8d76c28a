/*
 * See stage_graph.h.
 */
#include "exec/stage_graph.h"

#include "base/check.h"

#define STAGES_MAX     256
#define BOUNDARIES_MAX 64

struct builder {
    struct arena *query;
    struct stage_graph *graph;
};

static enum status build_stage(struct builder *builder, const struct plan_node *root,
                               const struct plan_node *consumer, uint32_t input, struct stage **out,
                               struct error *err);

/* Finds the boundaries below a stage's root, not beyond them, and builds the stages below. */
static enum status find_boundaries(struct builder *builder, const struct plan_node *node,
                                   struct stage *stage, struct error *err)
{
    if (!stateful_is_boundary(node)) {
        for (uint32_t i = 0; i < node->child_count; i++)
            TRY(find_boundaries(builder, node->children[i], stage, err));
        return OK;
    }
    if (stage->boundary_count == BOUNDARIES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the stateful inputs of a stage",
                           "limit", "64", NULL);
    CHECK(node->child_count <= STAGE_INPUTS_MAX);
    struct stage_boundary *boundary = &stage->boundaries[stage->boundary_count++];
    boundary->node = node;
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(build_stage(builder, node->children[i], node, i, &boundary->producers[i], err));
    return OK;
}

/* The stages below come before this one. */
static enum status build_stage(struct builder *builder, const struct plan_node *root,
                               const struct plan_node *consumer, uint32_t input, struct stage **out,
                               struct error *err)
{
    struct stage_graph *graph = builder->graph;
    struct stage stage = {.root = root, .consumer = consumer, .consumer_input = input};
    stage.boundaries = arena_new_object(builder->query, BOUNDARIES_MAX * sizeof *stage.boundaries);
    TRY(find_boundaries(builder, root, &stage, err));
    if (graph->count == STAGES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "the stages of a plan", "limit",
                           "256", NULL);
    stage.pipeline_count = stage.boundary_count > 0 ? graph->partitions : graph->threads;
    stage.pipelines =
        arena_new_object(builder->query, stage.pipeline_count * sizeof(struct pipeline *));
    *out = &graph->stages[graph->count++];
    **out = stage;
    return OK;
}

enum status stage_graph_new(struct arena *query, const struct stage_graph_config *config,
                            struct stage_graph **out, struct error *err)
{
    CHECK(config->threads >= 1 && config->partitions >= 1);
    struct stage_graph *graph = arena_new_object(query, sizeof *graph);
    struct builder builder = {.query = query, .graph = graph};
    struct stage *last = NULL;
    *graph = (struct stage_graph){
        .stages = arena_new_object(query, STAGES_MAX * sizeof *graph->stages),
        .threads = config->threads,
        .partitions = config->partitions,
        .time_zone = config->time_zone,
        .mode = config->mode,
    };
    enum status status = build_stage(&builder, config->plan->root, NULL, 0, &last, err);
    for (uint32_t i = 0; status == OK && i < graph->count; i++) {
        struct stage *stage = &graph->stages[i];
        struct pipeline *pipeline = NULL;
        for (uint32_t p = 0; status == OK && stage_is_partitioned(stage) && p < graph->partitions;
             p++)
            status = stage_pipeline(graph, stage, p, &pipeline, err);
        if (status == OK && !stage_is_partitioned(stage)) /* to see now whether it can be built */
            status = stage_pipeline(graph, stage, 0, &pipeline, err);
    }
    if (status != OK) {
        stage_graph_free(graph);
        return status;
    }
    *out = graph;
    return OK;
}

void stage_graph_free(struct stage_graph *graph)
{
    if (graph == NULL)
        return;
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t p = 0; p < graph->stages[i].pipeline_count; p++)
            pipeline_free(graph->stages[i].pipelines[p]);
}

bool stage_is_partitioned(const struct stage *stage)
{
    return stage->boundary_count > 0;
}

bool stage_graph_has_state(const struct stage_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        if (stage_is_partitioned(&graph->stages[i]))
            return true;
    return false;
}

enum status stage_pipeline(const struct stage_graph *graph, struct stage *stage, uint32_t index,
                           struct pipeline **out, struct error *err)
{
    CHECK(index < stage->pipeline_count);
    if (stage->pipelines[index] == NULL) {
        struct pipeline_config config = {
            .root = stage->root,
            .time_zone = graph->time_zone,
            .consumer = stage->consumer,
            .consumer_input = stage->consumer_input,
            .partitions = graph->partitions,
            .partition = stage_is_partitioned(stage) ? index : 0,
            .mode = graph->mode,
        };
        TRY(pipeline_new(&config, &stage->pipelines[index], err));
    }
    *out = stage->pipelines[index];
    return OK;
}

static struct stage_boundary *boundary_of(struct stage *stage, const struct plan_node *node)
{
    for (uint32_t i = 0; i < stage->boundary_count; i++)
        if (stage->boundaries[i].node == node)
            return &stage->boundaries[i];
    return NULL;
}

enum status stage_pull(struct stage *stage, struct pipeline *pipeline, uint32_t leaf,
                       struct error *err)
{
    const struct plan_node *node = pipeline_leaf(pipeline, leaf);
    struct stage_boundary *boundary = boundary_of(stage, node);
    CHECK(boundary != NULL);
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct stage *producer = boundary->producers[i];
        for (uint32_t p = 0; p < producer->pipeline_count; p++)
            if (producer->pipelines[p] != NULL)
                TRY(pipeline_pull(pipeline, leaf, i, pipeline_writer(producer->pipelines[p]), err));
    }
    return OK;
}

void stage_waiting(struct stage *stage, struct pipeline *pipeline, uint32_t leaf,
                   struct exec_waiting *out)
{
    const struct plan_node *node = pipeline_leaf(pipeline, leaf);
    struct stage_boundary *boundary = boundary_of(stage, node);
    CHECK(boundary != NULL);
    *out = (struct exec_waiting){0};
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct stage *producer = boundary->producers[i];
        for (uint32_t p = 0; p < producer->pipeline_count; p++)
            if (producer->pipelines[p] != NULL)
                pipeline_waiting(pipeline, leaf, pipeline_writer(producer->pipelines[p]), out);
    }
}

enum status stage_graph_restore(struct stage_graph *graph, struct bytes record, struct error *err)
{
    uint32_t operator_id = 0;
    uint32_t partition = 0;
    struct bytes changes;
    if (!changelog_open(record, &operator_id, &partition, &changes) ||
        partition >= graph->partitions)
        return error_raise(err, STATUS_CHECKSUM_MISMATCH, "path", "a record of state", NULL);
    for (uint32_t i = 0; i < graph->count; i++) {
        struct stage *stage = &graph->stages[i];
        for (uint32_t b = 0; b < stage->boundary_count; b++)
            if ((uint32_t)stage->boundaries[b].node->operator_id == operator_id)
                return pipeline_restore(stage->pipelines[partition], stage->boundaries[b].node,
                                        changes, err);
    }
    return OK; /* the operator is gone: what it kept is not needed any more */
}

/* Adds up the partitions; the stages run upstream first, so downstream first is from the back. */
uint32_t stage_graph_operators(const struct stage_graph *graph, struct stage_operator *out,
                               uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = graph->count; i-- > 0;) {
        const struct stage *stage = &graph->stages[i];
        for (uint32_t b = 0; b < stage->boundary_count; b++) {
            const struct plan_node *node = stage->boundaries[b].node;
            const struct stateful_ops *ops = stateful_of(node)->stateful;
            if (ops->name == NULL || node->operator_id < 0)
                continue;
            if (count++ >= room)
                continue;
            struct stage_operator *entry = &out[count - 1];
            *entry = (struct stage_operator){.node = node, .ops = ops};
            for (uint32_t p = 0; p < stage->pipeline_count; p++)
                pipeline_operator_stats(stage->pipelines[p], node, &entry->stats);
        }
    }
    return count;
}

bool stage_graph_wants_batch(const struct stage_graph *graph, int64_t watermark_us,
                             int64_t last_watermark_us)
{
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t b = 0; b < graph->stages[i].boundary_count; b++) {
            const struct plan_node *node = graph->stages[i].boundaries[b].node;
            const struct stateful_ops *ops = stateful_of(node)->stateful;
            if (ops->wants_batch(node, graph->mode, watermark_us, last_watermark_us))
                return true;
        }
    return false;
}

void stage_graph_trim(struct stage_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t p = 0; p < graph->stages[i].pipeline_count; p++)
            if (graph->stages[i].pipelines[p] != NULL)
                pipeline_trim(graph->stages[i].pipelines[p]);
}
