/*
 * The logical plan: what a query means, resolved and typed, before it is decided how to run it.
 *
 * Every node has output attributes; an attribute has an id that is unique in the query (each use
 * of a relation, view or CTE makes fresh ones, so a self-join needs no renaming).  Expressions
 * refer to attributes of the node's children by id (EXPR_COLUMN); inside a correlated subquery or
 * a LATERAL relation EXPR_OUTER refers to an attribute of the enclosing query.
 *
 * Nodes live in query memory.  The analyser makes them, the optimiser (plan/) rewrites copies.
 */
#ifndef SERVER_ANALYZE_LOGICAL_PLAN_H
#define SERVER_ANALYZE_LOGICAL_PLAN_H

#include "expr/expr.h"
#include "spec/query_spec.h"

struct attribute {
    uint32_t id;
    const char *name;
    const struct type *type;
    const char *qualifier; /* alias of the relation it comes from, for names in messages */
    bool nullable;
    bool is_window;  /* made by window() or session_window() */
    bool hidden;     /* _metadata of a relation: found by its name, in no star */
    bool event_time; /* a watermark is declared on it, or it is a window over such a column */
    int64_t delay_us;
    uint32_t watermark_id;
};

enum logical_kind {
    LOGICAL_RELATION,
    LOGICAL_VALUES,
    LOGICAL_PROJECT,
    LOGICAL_FILTER,
    LOGICAL_AGGREGATE,
    LOGICAL_JOIN,
    LOGICAL_UNION,
    LOGICAL_SET_OPERATION,
    LOGICAL_DISTINCT,
    LOGICAL_DEDUP,
    LOGICAL_SORT,
    LOGICAL_LIMIT,
    LOGICAL_WINDOW,
    LOGICAL_GENERATE,
    LOGICAL_EXPAND,
    LOGICAL_WATERMARK,
    LOGICAL_TIME_WINDOW,
    LOGICAL_SESSION,
    LOGICAL_SAMPLE,
};

enum logical_join {
    LOGICAL_JOIN_INNER,
    LOGICAL_JOIN_CROSS,
    LOGICAL_JOIN_LEFT,
    LOGICAL_JOIN_RIGHT,
    LOGICAL_JOIN_FULL,
    LOGICAL_JOIN_LEFT_SEMI,
    LOGICAL_JOIN_LEFT_ANTI,
    LOGICAL_JOIN_SINGLE,    /* left outer; a second match is SCALAR_SUBQUERY_TOO_MANY_ROWS */
    LOGICAL_JOIN_EXISTENCE, /* left columns and a BOOLEAN: there is a match */
};

struct logical_node {
    enum logical_kind kind;
    struct logical_node **children;
    uint32_t child_count;
    struct attribute **output;
    uint32_t output_count;
    bool streaming; /* a stream is below */
    int position, position_end;
    const char *view; /* whose SQL the position counts in; NULL: the query's own */

    union {
        struct {
            const struct relation_spec *spec;
            bool is_table;               /* of spec->tables, otherwise of spec->sources */
            uint32_t source_index;       /* into the one or the other */
            uint32_t ordinal;            /* number of this use, in the order of the text */
            const struct type *schema;   /* of the source, all columns but the hidden one */
            const struct type *metadata; /* of the hidden column; NULL: it has none */
            bool narrows;                /* the source can leave out fields of structs */
        } relation;
        struct {
            struct expr **cells; /* row by row; foldable */
            uint32_t row_count;
        } values;
        struct {
            struct expr **exprs; /* parallel to output */
        } project;
        struct {
            struct expr *predicate;
            bool having; /* a HAVING clause, for messages */
        } filter;
        struct {
            struct expr **keys; /* output: keys, then aggregates (their result_id) */
            uint32_t key_count;
            struct expr **aggregates;
            uint32_t aggregate_count;
            bool grouping_sets;
            bool pivot; /* the second aggregation of a PIVOT of a stream */
        } aggregate;
        struct {
            enum logical_join kind;
            struct expr *condition; /* NULL: none */
            bool lateral;           /* the right child refers to the left with EXPR_OUTER */
            const char *times[2]; /* how ON may name the event time of a side; NULL: it has none */
            bool windows[2];      /* it is a window */
        } join;
        struct {
            bool all;
            bool is_intersect; /* otherwise EXCEPT */
        } set_operation;
        struct {
            uint32_t *columns; /* ordinals of the child's output */
            uint32_t column_count;
            bool within_watermark;
        } dedup;
        struct {
            struct sort_key *keys;
            uint32_t key_count;
            bool global; /* ORDER BY; otherwise SORT BY: no guarantee, not planned */
        } sort;
        struct {
            int64_t limit; /* -1: all */
            int64_t offset;
        } limit;
        struct {
            struct expr **functions; /* EXPR_WINDOW; output: child's, then results */
            uint32_t function_count;
        } window;
        struct {
            struct expr *generator; /* output: child's, then generated */
            bool outer;
        } generate;
        struct {
            struct expr ***projections; /* each output_count wide */
            uint32_t projection_count;
        } expand;
        struct {
            uint32_t column; /* ordinal */
            int64_t delay_us;
            uint32_t watermark_id;
        } watermark;
        struct {
            struct expr *time; /* output: child's, then the window STRUCT<start, end> */
            int64_t size_us, slide_us, start_us;
            int64_t bare_us; /* a duration below one second without a unit; 0: none */
            int bare_position, bare_end;
        } time_window;
        struct {
            struct expr *time; /* output: child's, then the session STRUCT<start, end> of the row */
            struct expr *gap;  /* an interval */
            struct expr **keys; /* the other grouping keys (the planner fills them in) */
            uint32_t key_count;
        } session;
    };
};

/* A node with room for its children; `streaming` is that of the children. */
struct logical_node *logical_new(struct arena *arena, enum logical_kind kind,
                                 struct logical_node *const *children, uint32_t child_count);
/* As above with one child, whose output it takes over. */
struct logical_node *logical_over(struct arena *arena, enum logical_kind kind,
                                  struct logical_node *child);
struct logical_node *logical_filter(struct arena *arena, struct logical_node *child,
                                    struct expr *predicate);
/* output and exprs: `count` of them; borrowed. */
struct logical_node *logical_project(struct arena *arena, struct logical_node *child,
                                     struct expr **exprs, struct attribute **output,
                                     uint32_t count);

struct attribute *attribute_new(struct arena *arena, uint32_t id, const char *name,
                                const struct type *type, bool nullable);
/* A reference to the attribute. */
struct expr *attribute_expr(struct arena *arena, const struct attribute *attribute);
/* The attribute of that id among the node's output, or NULL; *ordinal may be NULL. */
struct attribute *logical_find_output(const struct logical_node *node, uint32_t id,
                                      uint32_t *ordinal);
/* STRUCT of the node's output. */
const struct type *logical_schema(struct arena *arena, const struct logical_node *node);

/* Calls visit() for the node and all below it (not subqueries in expressions), parents first. */
bool logical_walk(struct logical_node *node, bool (*visit)(struct logical_node *node, void *arg),
                  void *arg);

/* Calls visit() with the address of every expression of this node, so that it may be replaced. */
enum status logical_each_expr(struct logical_node *node,
                              enum status (*visit)(struct expr **slot, void *arg,
                                                   struct error *err),
                              void *arg, struct error *err);

/* "Filter", "Join", ...: Spark's names of operators, as messages show them. */
const char *logical_kind_name(enum logical_kind kind);

#endif
