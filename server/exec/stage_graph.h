/*
 * A plan cut at its operators with state into stages.
 *
 *     map stage        one task per piece of the input: scans, filters, projections, up to the sink
 *                      or the writer of a boundary
 *     partition stage  one task per partition: boundaries with their state, then the same
 *
 * The stages stand in the order in which they have to run.  A stage has one pipeline per thread
 * (map) or per partition; the latter live as long as the query, because they hold its state.
 *
 * Threads: the graph belongs to the batch thread; a pipeline, to the task that runs it.
 */
#ifndef SERVER_EXEC_STAGE_GRAPH_H
#define SERVER_EXEC_STAGE_GRAPH_H

#include "exec/pipeline.h"
#include "exec/stateful.h"

#define STAGE_INPUTS_MAX 2

struct stage;

/* A boundary at the start of a partition stage, and the stages that write for it. */
struct stage_boundary {
    const struct plan_node *node;
    struct stage *producers[STAGE_INPUTS_MAX];
};

struct stage {
    const struct plan_node *root;     /* its topmost operator */
    const struct plan_node *consumer; /* the boundary that takes its rows; NULL: the sink does */
    uint32_t consumer_input;
    struct stage_boundary *boundaries;
    uint32_t boundary_count; /* 0: a map stage */
    struct pipeline **pipelines;
    uint32_t pipeline_count;
};

struct stage_graph {
    struct stage *stages;
    uint32_t count;
    uint32_t threads;
    uint32_t partitions;
    const char *time_zone;
    enum emit_mode mode;
};

struct stage_graph_config {
    const struct physical_plan *plan;
    const char *time_zone;
    uint32_t threads;
    uint32_t partitions;
    enum emit_mode mode;
};

/* In `query`.  The pipelines of partition stages are made at once, those of map stages by
 * stage_pipeline().  Errors: NOT_SUPPORTED and those of the operators. */
MUST_USE enum status stage_graph_new(struct arena *query, const struct stage_graph_config *config,
                                     struct stage_graph **out, struct error *err);
void stage_graph_free(struct stage_graph *graph); /* NULL is fine */

bool stage_is_partitioned(const struct stage *stage);
bool stage_graph_has_state(const struct stage_graph *graph);

/* The pipeline of a thread or partition.  Threads: the one that will use it. */
MUST_USE enum status stage_pipeline(const struct stage_graph *graph, struct stage *stage,
                                    uint32_t index, struct pipeline **out, struct error *err);

/* Takes over what the producers of boundary leaf `leaf` have for this partition. */
MUST_USE enum status stage_pull(struct stage *stage, struct pipeline *pipeline, uint32_t leaf,
                                struct error *err);

/* What that is. */
void stage_waiting(struct stage *stage, struct pipeline *pipeline, uint32_t leaf,
                   struct exec_waiting *out);

/* A STATE record of a former batch, or a part of a snapshot.  Errors: CHECKSUM_MISMATCH if the
 * record fits no operator of the plan. */
MUST_USE enum status stage_graph_restore(struct stage_graph *graph, struct bytes record,
                                         struct error *err);

/* Operators with state, downstream first: fills in at most `room`, returns how many there are. */
struct stage_operator {
    const struct plan_node *node;
    const struct stateful_ops *ops;
    struct operator_stats stats; /* over all partitions */
};
uint32_t stage_graph_operators(const struct stage_graph *graph, struct stage_operator *out,
                               uint32_t room);

/* Whether a batch without rows would do something at this watermark. */
bool stage_graph_wants_batch(const struct stage_graph *graph, int64_t watermark_us,
                             int64_t last_watermark_us);

void stage_graph_trim(struct stage_graph *graph);

#endif
