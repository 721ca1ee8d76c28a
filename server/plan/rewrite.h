/*
 * The optimiser's steps, from logical plan to logical plan.  Each gives a new tree and may share
 * nodes with the old one; nodes are copied before they are changed.
 */
#ifndef SERVER_PLAN_REWRITE_H
#define SERVER_PLAN_REWRITE_H

#include "analyze/analyze.h"
#include "expr/function.h"

struct rewriter {
    struct arena *arena;
    const struct analysis *analysis;
    struct resolve_context functions;
    uint32_t next_id;
    bool infers; /* spark.sql.constraintPropagation.enabled */
};

struct expr_set {
    struct expr **items;
    uint32_t count, capacity;
};

/* Filters with subqueries over tables go below the watermark that they stand on. */
struct logical_node *lower_subquery_filters(struct rewriter *rewriter, struct logical_node *node);

/* Subqueries in expressions and LATERAL joins become joins.  Errors: NOT_SUPPORTED. */
MUST_USE enum status rewrite_subqueries(struct rewriter *rewriter, struct logical_node *node,
                                        struct logical_node **out, struct error *err);

/* Set operations of streams become joins and aggregations. */
MUST_USE enum status rewrite_set_operations(struct rewriter *rewriter, struct logical_node *node,
                                            struct logical_node **out, struct error *err);

/* Constant sub-expressions become literals. */
struct logical_node *fold_constants(struct rewriter *rewriter, struct logical_node *node);

/* Filters as low as they may go. */
struct logical_node *push_filters(struct rewriter *rewriter, struct logical_node *node);

/* Adds to the filters that go into the sides of a join what its equalities say about streams there:
 * with a.k = b.k a filter of a.k is one of b.k.  `condition`: the parts that stay in the join. */
void infer_filters(struct rewriter *rewriter, const struct logical_node *join,
                   const struct expr_set *condition, struct expr_set *to_left,
                   struct expr_set *to_right);

/* Projections over projections become one; those that change nothing go. */
struct logical_node *collapse_projects(struct rewriter *rewriter, struct logical_node *node);

/* Every node delivers only what is needed above it; relations get narrower schemas. */
MUST_USE enum status prune_columns(struct rewriter *rewriter, struct logical_node *node,
                                   struct logical_node **out, struct error *err);

/* ---- shared ---- */

/* A copy that may have its expressions replaced: it has slots of its own. */
struct logical_node *fold_free_copy(struct rewriter *rewriter, const struct logical_node *node);
struct logical_node *copy_node(struct rewriter *rewriter, const struct logical_node *node);
/* A copy over another child. */
struct logical_node *with_child(struct rewriter *rewriter, const struct logical_node *node,
                                struct logical_node *child);
/* Whether every column of the expression is among the outputs of the node. */
bool expr_covered(const struct expr *expr, const struct logical_node *node);
/* References to the outputs of a projection become the expressions behind them. */
struct expr *substitute_outputs(struct rewriter *rewriter, struct expr *expr,
                                struct attribute *const *output, struct expr *const *exprs,
                                uint32_t count);
/* The conjunction of expressions; NULL for none. */
struct expr *conjunction(struct rewriter *rewriter, struct expr *const *exprs, uint32_t count);

void expr_set_add(struct arena *arena, struct expr_set *set, struct expr *expr);
/* Adds the parts of an AND. */
void split_conjuncts(struct arena *arena, struct expr *expr, struct expr_set *out);

#endif
