/*
 * What the state of a query is computed from: for each stateful operator the rows that reach it,
 * its keys and its values, down to the columns of the sources.
 *
 * The fingerprint says what must not change while a checkpoint lives; this says what may, as in
 * Spark, but leaves results of the former query in the state: a filter below an aggregation, an
 * expression below it, windows of another size, another delay of a watermark.  Names of columns
 * and of functions (mean and avg), the order of conditions and what is not used do not count.
 *
 * Threads: any.
 */
#ifndef SERVER_PLAN_STATE_INPUTS_H
#define SERVER_PLAN_STATE_INPUTS_H

#include "plan/physical_plan.h"

/* Hashes: those of two plans are equal if nothing differs. */
struct state_inputs {
    uint64_t rows;       /* sources, filters, joins and operators with state below */
    uint64_t keys;       /* grouping expressions, windows, deduplicated columns, join keys */
    uint64_t values;     /* what is aggregated or kept */
    uint64_t watermarks; /* columns and delays */
    uint64_t join;       /* of a join: its kind and its condition beyond the keys */
    uint64_t
        rows_of_join; /* `rows` without what the join infers: to compare where `join` differs */
};

/* In the order of the operators' numbers; in `arena`. */
void state_inputs_of(struct arena *arena, const struct physical_plan *plan,
                     struct state_inputs **out, uint32_t *count);

/* The same for one expression over the rows of `input`, a node of the plan. */
uint64_t state_inputs_expr(struct arena *arena, const struct physical_plan *plan, struct expr *expr,
                           const struct plan_node *input);

/* The name that all names of a function have in common: "avg" of "mean"; NULL: there is none. */
const char *state_function_name(const char *name);

#endif
