/*
 * Physical operators: push-based and vectorized.
 *
 * A plan node is read-only and shared; everything that changes while a query runs is in the
 * operator's own state.  Batches are pushed from the leaves (scans, values) to the sink; an
 * operator hands its output to exec_emit(), which is the next operator.  The life of an operator
 * within one task of a batch is
 *
 *     begin()?  ->  push()*  ->  finish()?
 *
 * Operators are single-threaded and share nothing: each thread of a stage has its own chain.
 */
#ifndef SERVER_EXEC_NODE_H
#define SERVER_EXEC_NODE_H

#include "exec/exec_context.h"
#include "plan/physical_plan.h"

struct exec_node;
struct spill_file;

/* What waits for one partition. */
struct exec_waiting {
    uint64_t bytes; /* in memory or on the disk */
    uint64_t entries;
};
struct stateful_ops;

struct exec_node_ops {
    const char *name; /* as EXPLAIN and metrics print it */

    /* Builds the operator in `query` memory: self->state.  `node` is borrowed for the life of the
     * query.  Errors: LIMIT_EXCEEDED, NOT_SUPPORTED. */
    enum status (*open)(struct exec_node *self, struct arena *query, const struct plan_node *node,
                        struct error *err);

    /* Optional: forgets what the last task left; the first call comes before any push. */
    enum status (*begin)(struct exec_node *self, struct exec_context *ctx, struct error *err);

    /* Takes one input batch from child `input` (0, or 1 for the right side of two).  The batch is
     * valid during the call.  Leaves that make rows themselves have none. */
    enum status (*push)(struct exec_node *self, struct exec_context *ctx, uint32_t input,
                        const struct batch *batch, struct error *err);

    /* Optional: no more input from any child. */
    enum status (*finish)(struct exec_node *self, struct exec_context *ctx, struct error *err);

    /* Optional: gives back what is not in query memory.  Never fails; also after a failed open. */
    void (*close)(struct exec_node *self);

    /* Optional, of the writers of boundaries: memory of what they have for the partitions. */
    size_t (*bytes)(const struct exec_node *self);
    /* Optional, of the same: moves it to the file, as far as that is possible.  Errors: those of
     * the disk. */
    enum status (*put_away)(struct exec_node *self, struct spill_file *file, struct error *err);
    /* Optional, of the same: adds what waits for a partition in this run. */
    void (*waiting)(const struct exec_node *self, uint32_t run, uint32_t partition,
                    struct exec_waiting *out);

    /* NULL, or what an operator with state can do besides: exec/stateful.h. */
    const struct stateful_ops *stateful;
};

#define EXEC_NODE_MAGIC 0xe8ec0de1U

struct exec_node {
    uint32_t magic;
    const struct exec_node_ops *ops;
    const struct plan_node *plan;
    struct exec_node *next; /* where emit sends batches; NULL: the sink */
    uint32_t next_input;
    uint32_t inputs; /* how many have to finish */
    uint32_t inputs_finished;
    int64_t watermark_shift_us; /* of a boundary: how far its input lags behind the watermark */
    void *state;                /* private to the implementation */
};

/* Sends a batch on to self->next; the only way an operator produces output.  Empty ones are not
 * passed on. */
MUST_USE enum status exec_emit(struct exec_node *self, struct exec_context *ctx,
                               const struct batch *batch, struct error *err);

/* One child of `self` (or, for a leaf, its source) has no more rows: finishes it if that was the
 * last one, and then tells the next operator. */
MUST_USE enum status exec_finish_input(struct exec_node *self, struct exec_context *ctx,
                                       struct error *err);

/* The implementation for a kind of plan node; NULL if the engine does not run it. */
const struct exec_node_ops *exec_node_find(enum plan_kind kind);

/* Every implementation. */
#define EXEC_NODE(plan_kind, ops) extern const struct exec_node_ops ops;
#include "exec/node_table.def"
#undef EXEC_NODE

#endif
