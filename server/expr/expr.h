/*
 * Resolved expressions: a typed tree.  The analyser makes it (through function_resolve() and the
 * coercion rules), the optimiser rewrites it, expr_compile() turns it into a flat program over
 * vectors.  Operators are functions too: `a + b` is a call of "+".
 *
 * Nodes are immutable once made and may be shared; they live in the arena of their query.
 */
#ifndef SERVER_EXPR_EXPR_H
#define SERVER_EXPR_EXPR_H

#include "columnar/vector.h"

struct kernel_call;
struct function;  /* a scalar function, expr/function.h */
struct aggregate; /* an aggregate function, expr/aggregate.h */
struct plan_node; /* a subquery's plan: opaque here */

enum expr_kind {
    EXPR_LITERAL,         /* one value */
    EXPR_COLUMN,          /* a column of the input, by attribute id and, once bound, by ordinal */
    EXPR_CALL,            /* a scalar function or operator */
    EXPR_CAST,            /* explicit or by coercion */
    EXPR_LAMBDA,          /* args[0] is the body */
    EXPR_LAMBDA_VARIABLE, /* inside the body */
    EXPR_AGGREGATE,       /* only below an aggregate node of the plan */
    EXPR_WINDOW,          /* f OVER (...): args[0] the function, then partition, order keys */
    EXPR_GENERATOR,       /* explode() and the like: only in a generate node */
    EXPR_SUBQUERY,        /* scalar, IN or EXISTS subquery */
    EXPR_OUTER,           /* a column of the outer query, inside a correlated subquery */
};

enum cast_mode {
    CAST_ANSI,   /* an invalid value is an error */
    CAST_LEGACY, /* ... is NULL; overflow wraps: spark.sql.ansi.enabled=false */
    CAST_TRY,    /* ... is NULL */
};

enum subquery_kind {
    SUBQUERY_SCALAR,
    SUBQUERY_EXISTS,
    SUBQUERY_IN,
};

struct sort_key {
    struct expr *expr;
    bool descending;
    bool nulls_first;
};

struct window_frame {
    bool rows;          /* ROWS; otherwise RANGE */
    struct expr *lower; /* NULL: unbounded; a literal 0: current row; negative: preceding */
    struct expr *upper;
};

struct expr {
    enum expr_kind kind;
    const struct type *type;
    bool nullable;
    int position; /* bytes in the SQL text, -1 if made by the analyser */
    int position_end;
    struct expr **args;
    uint32_t arg_count;

    union {
        struct {
            struct vector *value; /* constant, length 1 */
            const char *text;     /* as written, for generated names; NULL: print the value */
        } literal;
        struct {
            uint32_t attribute_id; /* unique in the query, as Catalyst's exprId */
            int ordinal;           /* of the input batch, -1 until bound */
            const char *name;
            const char *qualifier; /* table alias, or NULL */
        } column;
        struct {
            const struct function *function;
            const char *name;  /* as written, for generated names: "ln" and "log" differ */
            const void *bound; /* made by the resolver from args and settings */
            enum status (*kernel)(const struct kernel_call *call, struct error *err);
        } call;
        struct {
            enum cast_mode mode;
            bool implicit;         /* by coercion: not shown in names */
            const char *time_zone; /* the session's */
        } cast;
        struct {
            uint32_t *variable_ids;
            const char **variable_names;
            uint32_t variable_count;
        } lambda;
        struct {
            uint32_t id;
            const char *name;
        } variable;
        struct {
            const struct aggregate *aggregate;
            const char *name;
            const void *bound;
            bool distinct;
            struct expr *filter;    /* FILTER (WHERE ...), or NULL */
            struct sort_key *order; /* WITHIN GROUP */
            uint32_t order_count;
            bool ignore_nulls;
            uint32_t result_id; /* attribute id of its result */
        } aggregate;
        struct {
            uint32_t partition_count; /* args[1 .. partition_count] */
            struct sort_key *order;
            uint32_t order_count;
            struct window_frame frame;
            bool has_frame;
        } window;
        struct {
            const struct function *function;
            const char *name;
            bool outer;
        } generator;
        struct {
            enum subquery_kind kind;
            void *plan;           /* struct logical_node */
            bool negated;         /* NOT IN, NOT EXISTS */
            uint32_t value_count; /* args: the left values of IN, then the outer references */
        } subquery;
    };
};

/* Makers; the results live in `arena`.  expr_literal takes over the constant vector. */
struct expr *expr_literal(struct arena *arena, struct vector *value);
struct expr *expr_null(struct arena *arena, const struct type *type);
struct expr *expr_column(struct arena *arena, uint32_t attribute_id, const char *name,
                         const struct type *type, bool nullable);
struct expr *expr_cast(struct arena *arena, struct expr *child, const struct type *type,
                       enum cast_mode mode, const char *time_zone);
/* An unresolved call: type NULL, args copied. */
struct expr *expr_call(struct arena *arena, const struct function *function, const char *name,
                       struct expr *const *args, uint32_t arg_count);
/* Literals of simple types. */
struct expr *expr_literal_int(struct arena *arena, int32_t value);
struct expr *expr_literal_long(struct arena *arena, int64_t value);
struct expr *expr_literal_boolean(struct arena *arena, bool value);
struct expr *expr_literal_string(struct arena *arena, struct bytes value);
/* A shallow copy with its own args array. */
struct expr *expr_copy(struct arena *arena, const struct expr *expr);

/* Calls visit() for the node and all below it, parents first; stops when it returns false. */
bool expr_walk(const struct expr *expr, bool (*visit)(const struct expr *expr, void *arg),
               void *arg);
/* A copy in which rewrite() has replaced nodes, children first; it returns its argument to keep. */
struct expr *
expr_rewrite(struct arena *arena, struct expr *expr,
             struct expr *(*rewrite)(struct arena *arena, struct expr *expr, void *arg), void *arg);

/* Semantic equality: positions, texts and implicit-cast marks do not count. */
bool expr_equal(const struct expr *a, const struct expr *b);
bool expr_is_deterministic(const struct expr *expr);
bool expr_is_foldable(const struct expr *expr); /* no column below it and deterministic */
bool expr_has_kind(const struct expr *expr, enum expr_kind kind);

/* Spark's generated column name ("toPrettySQL"): "(a + 1)", "upper(v)". */
void expr_print_name(struct buffer *out, const struct expr *expr);
/* Spark's sql form as error messages show it: "\"(a + 1)\"" without the outer quotes. */
void expr_print_sql(struct buffer *out, const struct expr *expr);

#endif
