/*
 * Aggregate functions: one table, aggregates.def.
 *
 * A function keeps one fixed-size state per group, in memory that the caller owns (a row of its
 * hash table), and may keep more in the arena of the state (lists, sets, digests).  Partial
 * aggregation: update states over rows, merge states, finish.  States are written to and read from
 * bytes for the changelog and for exchanges; the bytes are part of the checkpoint format.
 *
 * DISTINCT and FILTER are the business of the operator (distinct arguments are made unique before
 * update; FILTER narrows the selection); ORDER BY of WITHIN GROUP is the function's.
 */
#ifndef SERVER_EXPR_AGGREGATE_H
#define SERVER_EXPR_AGGREGATE_H

#include "expr/function.h"
#include "expr/kernel.h"

struct aggregate_ops;

/* What update() gets: argument vectors (evaluated over the batch) and the state of each row. */
struct aggregate_update {
    const struct eval_context *ctx;
    const struct expr *expr; /* EXPR_AGGREGATE */
    struct vector **args;    /* args, then the values of its order keys */
    uint32_t arg_count;
    const uint16_t *selection; /* NULL: all rows */
    uint32_t rows, selected;
    uint8_t *const *states; /* states[i]: of the i-th selected row; NULL: all rows use `state` */
    uint8_t *state;         /* the only group */
    struct arena *arena;    /* lives as long as the states */
};

struct aggregate_ops {
    /* Bytes of one state, aligned to 8; depends on the call's types. */
    size_t (*state_bytes)(const struct expr *expr);
    /* Makes an empty state of zeroed memory.  NULL: zeroes are the empty state. */
    void (*init)(const struct expr *expr, uint8_t *state);
    enum status (*update)(const struct aggregate_update *update, struct error *err);
    /* into += from; both of the same call.  from is not used afterwards, but its memory lives. */
    enum status (*merge)(const struct expr *expr, struct arena *arena, uint8_t *into,
                         const uint8_t *from, struct error *err);
    /* Row i of `out` (flat, expr->type, `count` rows, uninitialised) = the value of states[i]. */
    enum status (*finish)(const struct aggregate_update *call, uint8_t *const *states,
                          uint32_t count, struct vector *out, struct error *err);
    /* Appends the state; reads it back (all of `in`).  Errors of load: CHECKSUM_MISMATCH. */
    void (*save)(const struct expr *expr, const uint8_t *state, struct buffer *out);
    enum status (*load)(const struct expr *expr, struct arena *arena, struct bytes in,
                        uint8_t *state, struct error *err);
};

enum aggregate_flag {
    AGGREGATE_NEVER_NULL = 1 << 0,   /* count */
    AGGREGATE_ORDERED = 1 << 1,      /* the result depends on the order of rows: first, ... */
    AGGREGATE_IGNORE_NULLS = 1 << 2, /* takes IGNORE NULLS */
    AGGREGATE_WITHIN_GROUP = 1 << 3, /* takes WITHIN GROUP */
    AGGREGATE_NEEDS_ORDER = 1 << 4,  /* ... and needs it: percentile_cont, percentile_disc */
    AGGREGATE_DUPLICATES = 1 << 5,   /* DISTINCT changes nothing: min, max, bool_and, ... */
    /* A state that grows with its input: */
    AGGREGATE_KEEPS_ALL = 1 << 6,      /* each value: collect_list, listagg */
    AGGREGATE_KEEPS_DISTINCT = 1 << 7, /* each distinct value: collect_set, percentile, mode */
};

struct aggregate {
    const char *name;
    const char *aliases; /* as in functions.def */
    const char *print;
    const char *signature; /* as in functions.def */
    uint32_t flags;
    /* NULL: the signature says all.  `call` is the EXPR_AGGREGATE under construction. */
    function_resolve_fn *resolve;
    const struct aggregate_ops *ops;
};

/* Any case; NULL if there is none.  Threads: any. */
const struct aggregate *aggregate_find(const char *name);
const struct aggregate *aggregate_list(uint32_t *count);
void aggregate_each_name(void (*visit)(void *arg, const char *name,
                                       const struct aggregate *aggregate),
                         void *arg);

struct aggregate_call {
    const char *name;
    struct expr **args;
    uint32_t arg_count;
    bool distinct;
    struct expr *filter; /* boolean, or NULL */
    struct sort_key *order;
    uint32_t order_count;
    int nulls; /* 0 not said, 1 IGNORE NULLS, 2 RESPECT NULLS */
    int position, position_end;
};

/* A call as messages show it: what WITHIN GROUP orders by stands among the arguments. */
const char *aggregate_children_sql(struct arena *arena, const struct expr *call);

/*
 * Resolves an aggregate call into EXPR_AGGREGATE.  count(*) is called with one literal 1 (it
 * prints as count(1)).
 * Errors: UNRESOLVED_ROUTINE, WRONG_NUM_ARGS.*, DATATYPE_MISMATCH.*, INVALID_WITHIN_GROUP_*.
 */
MUST_USE enum status aggregate_resolve(struct resolve_context *ctx,
                                       const struct aggregate_call *call, struct expr **out,
                                       struct error *err);

/* Wrappers that check and call through. */
size_t aggregate_state_bytes(const struct expr *expr);
void aggregate_init(const struct expr *expr, uint8_t *state);
MUST_USE enum status aggregate_update(const struct aggregate_update *update, struct error *err);

/* Whether a call's states are 64-bit integers, and to merge two is to add each, as long as none
 * overflows and no counter is negative.  *counters: which of them are counters, a bit for each. */
bool aggregate_adds(const struct expr *expr, uint64_t *counters);

#endif
