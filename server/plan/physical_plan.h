/*
 * The physical plan: what the engine runs.  A tree of read-only nodes in query memory; every
 * expression in it is bound: a column's ordinal counts in the output of the node's child (for a
 * join: left columns, then right).  Scans are numbered; scan i reads relations[i].
 *
 * plan_stages() cuts it at exchanges: a map stage runs once per input split, a partition stage
 * once per hash partition.
 */
#ifndef SERVER_PLAN_PHYSICAL_PLAN_H
#define SERVER_PLAN_PHYSICAL_PLAN_H

#include "expr/expr.h"
#include "spec/query_spec.h"

enum plan_kind {
#define PLAN_KIND(kind, name) kind,
#include "plan/plan_kind.def"
#undef PLAN_KIND
};

enum join_kind {
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_RIGHT,
    JOIN_FULL,
    JOIN_LEFT_SEMI,
    JOIN_LEFT_ANTI,
    JOIN_SINGLE,    /* left outer; a second match is SCALAR_SUBQUERY_TOO_MANY_ROWS */
    JOIN_EXISTENCE, /* the left columns and a BOOLEAN: there is a match */
};

enum set_operation {
    SET_EXCEPT,
    SET_EXCEPT_ALL,
    SET_INTERSECT,
    SET_INTERSECT_ALL,
};

struct plan_node {
    enum plan_kind kind;
    struct plan_node **children;
    uint32_t child_count;
    const struct type *schema; /* STRUCT of the output columns */
    bool streaming;            /* a stream is below */
    int operator_id;           /* of a stateful operator, downstream first; -1 otherwise */

    union {
        struct {
            uint32_t relation;     /* index into physical_plan.relations */
            uint32_t *columns;     /* ordinals of the source's schema, ascending */
            uint32_t column_count; /* = schema->field_count */
            bool narrowed; /* schema's structs lack fields of the source's: see source.h, narrow */
            struct expr **predicates; /* pushed down, over the scan's output; ANDed; rows that
                                         fail are not counted as input (as Spark's readers) */
            uint32_t predicate_count;
        } scan;
        struct {
            struct expr **cells; /* row by row, foldable */
            uint32_t row_count;
        } values;
        struct {
            struct expr *predicate;
        } filter;
        struct {
            struct expr **exprs; /* schema->field_count of them */
        } project;
        struct {
            int64_t limit; /* -1: all */
            int64_t offset;
        } limit;
        struct {
            struct sort_key *keys;
            uint32_t key_count;
        } sort;
        struct {
            struct expr **keys; /* output: keys, then one column per aggregate */
            uint32_t key_count;
            struct expr **aggregates; /* EXPR_AGGREGATE over the child's columns */
            uint32_t aggregate_count;
            int event_time_key; /* index of the key that the watermark closes (a window or an
                                   event-time column), -1 if none */
            int pane_key; /* index of the key that is a pane of sliding windows in the input, and
                             the window in the output (plan/panes.h); -1 if none */
            bool exact;   /* the results are the same however rows are grouped before they meet */
            int64_t window_size_us; /* of the sliding windows */
            int64_t window_slide_us;
            int64_t window_start_us;
        } aggregate;
        struct {
            uint32_t *columns; /* of the child's output */
            uint32_t column_count;
            int event_time_column; /* ordinal, -1 if none is among them */
            bool within_watermark;
        } dedup;
        struct {
            enum join_kind kind;
            struct expr **left_keys; /* over the left child; equal to right_keys[i] */
            struct expr **right_keys;
            uint32_t key_count;
            bool *null_safe;        /* <=> instead of = */
            struct expr *condition; /* the rest, over left ++ right; NULL: none */
        } join;
        struct {
            struct expr ***projections; /* each schema->field_count wide: grouping sets */
            uint32_t projection_count;
            bool any_order; /* what is above does not mind in which order its rows come */
        } expand;
        struct {
            struct expr *generator; /* output: the child's columns, then the generated ones */
            bool outer;
        } generate;
        struct {
            struct expr **functions; /* EXPR_WINDOW; output: child's columns, then results */
            uint32_t function_count;
        } window;
        struct {
            enum set_operation operation;
        } set_operation;
        struct {
            int column; /* ordinal of the event-time column */
            int64_t delay_us;
            uint32_t watermark_id; /* index of the query's watermarks */
        } watermark;
        struct {
            struct expr **keys;
            uint32_t key_count;
            struct expr *event_time;
            struct expr *gap; /* interval, per row */
        } session;
    };
};

/* One use of a source or table by the plan. */
struct plan_relation {
    const struct relation_spec *spec;
    bool streaming;
    uint32_t source_index; /* into spec->sources or spec->tables */
};

struct physical_plan {
    struct plan_node *root;
    struct plan_relation *relations;
    uint32_t relation_count;
    uint32_t watermark_count;
    uint64_t fingerprint;         /* of what must not change on a checkpoint */
    const char *fingerprint_text; /* JSON: what it covers, for saying what differs */
};

const char *plan_kind_name(enum plan_kind kind);

/* EXPLAIN: one node per line, indented by its depth; and the same as JSON. */
void plan_print_text(struct buffer *out, const struct physical_plan *plan);
void plan_print_json(struct buffer *out, const struct physical_plan *plan);

#endif
