/*
 * Taking the references to the outer query out of a subquery's plan.
 *
 * Predicates that compare with the outer query are pulled up to the join; above an aggregate their
 * inner sides become grouping keys (so there they have to be equalities).  Projections above what
 * refers to the outer query are computed after the join instead.
 */
#ifndef SERVER_PLAN_DECORRELATE_H
#define SERVER_PLAN_DECORRELATE_H

#include "plan/rewrite.h"

enum decorrelate_mode {
    DECORRELATE_EXISTS, /* only whether there is a row matters, and the columns of IN */
    DECORRELATE_SCALAR, /* one column, NULL if there is no row */
    DECORRELATE_LATERAL,
    DECORRELATE_LATERAL_OUTER, /* LEFT JOIN LATERAL */
};

struct decorrelated {
    struct logical_node *node;
    struct expr_set conditions; /* over the outer columns and node's output */
    struct expr **outputs;      /* the subquery's columns, as expressions over the join */
    bool single_row;            /* at most one row of node matches a row of the outer query */
    bool defaults;              /* a global aggregate: without a match its defaults stand */
};

/* Errors: NOT_SUPPORTED for correlations that have no join. */
/* `outer`: the plan whose rows the subquery is for; an aggregate whose conditions are no equalities
 * is computed once for each of its distinct values. */
MUST_USE enum status decorrelate(struct rewriter *rewriter, struct logical_node *node,
                                 struct logical_node *outer, enum decorrelate_mode mode,
                                 struct decorrelated *out, struct error *err);

/* LATERAL explode(l.a): a generator over the left side.  False: it is something else. */
bool lateral_generator(struct rewriter *rewriter, struct logical_node *join,
                       struct logical_node **out);

/* logical_each_expr() visitor: *(bool *)arg = there is a subquery. */
enum status find_subquery(struct expr **slot, void *arg, struct error *err);

#endif
