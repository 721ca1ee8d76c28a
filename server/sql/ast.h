/*
 * The tree of a SQL query, as written: nothing is resolved, typed or folded.
 *
 * Every node carries the bytes [position, position_end) of the SQL text it was read from; the
 * parentheses around an expression belong to the node that contains it.  All nodes, and all
 * `struct bytes` in them, live in the arena that was given to the parser (texts of unquoted names
 * are views into a copy of the SQL text in that arena).  Absent parts are NULL, an empty list, or
 * the enum value 0, which always means "not written".
 *
 * Equality (ast_query_equal) ignores positions and letter case of keywords, not of names.
 * Printing (ast_query_print) gives text that parses to an equal tree.
 *
 * Threads: a finished tree is immutable; any.
 */
#ifndef SERVER_SQL_AST_H
#define SERVER_SQL_AST_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"

#include <stdint.h>

struct ast_expr;
struct ast_query;
struct ast_relation;
struct ast_type;

/* ---- names ---- */

/* One part of a name, without its backquotes; `text` keeps the letter case of the query. */
struct ast_name {
    int position, position_end;
    struct bytes text;
    bool quoted; /* written in backquotes, or came out of IDENTIFIER('...') */
};

struct ast_name_list {
    struct ast_name *items;
    size_t count;
};

/* a, a.b, `a`.b.c; count >= 1 unless `identifier` is set. */
struct ast_path {
    int position, position_end;
    struct ast_name *parts;
    size_t count;
    /* IDENTIFIER(expr) whose argument is not a string literal (a literal is split by the parser):
     * a constant expression that gives the path's text.  NULL otherwise. */
    struct ast_expr *identifier;
};

struct ast_path_list {
    struct ast_path *items;
    size_t count;
};

/* ---- types, as in CAST(x AS type) ---- */

enum ast_type_kind {
    AST_TYPE_BOOLEAN = 1,
    AST_TYPE_TINYINT,
    AST_TYPE_SMALLINT,
    AST_TYPE_INT,
    AST_TYPE_BIGINT,
    AST_TYPE_FLOAT,
    AST_TYPE_DOUBLE,
    AST_TYPE_DECIMAL, /* precision, scale: (10,0) if not written; range already checked */
    AST_TYPE_STRING,  /* collation: empty if not written */
    AST_TYPE_CHAR,    /* length */
    AST_TYPE_VARCHAR, /* length */
    AST_TYPE_BINARY,
    AST_TYPE_DATE,
    AST_TYPE_TIME,      /* precision: 6 if not written */
    AST_TYPE_TIMESTAMP, /* what spark.sql.timestampType says */
    AST_TYPE_TIMESTAMP_LTZ,
    AST_TYPE_TIMESTAMP_NTZ,
    AST_TYPE_INTERVAL, /* from, to: AST_UNIT_YEAR..AST_UNIT_SECOND; both 0: calendar interval */
    AST_TYPE_VOID,
    AST_TYPE_VARIANT,
    AST_TYPE_ARRAY,  /* element */
    AST_TYPE_MAP,    /* key, element (the value) */
    AST_TYPE_STRUCT, /* fields */
};

/* Units of intervals and of TIMESTAMPADD, from the largest to the smallest. */
enum ast_unit {
    AST_UNIT_NONE,
    AST_UNIT_YEAR,
    AST_UNIT_QUARTER,
    AST_UNIT_MONTH,
    AST_UNIT_WEEK,
    AST_UNIT_DAY,
    AST_UNIT_DAYOFYEAR,
    AST_UNIT_HOUR,
    AST_UNIT_MINUTE,
    AST_UNIT_SECOND,
    AST_UNIT_MILLISECOND,
    AST_UNIT_MICROSECOND,
};

struct ast_type_field {
    struct ast_name name;
    struct ast_type *type;
    bool not_null;
    bool has_comment;
    struct bytes comment;
};

struct ast_type {
    int position, position_end;
    enum ast_type_kind kind;
    int precision, scale;
    int length;
    enum ast_unit from, to; /* to == from for a single unit */
    struct bytes collation;
    struct ast_type *key, *element;
    struct ast_type_field *fields;
    size_t field_count;
};

/* ---- literals ---- */

enum ast_literal_kind {
    AST_LITERAL_NULL = 1,
    AST_LITERAL_BOOLEAN,       /* boolean */
    AST_LITERAL_TINYINT,       /* integer */
    AST_LITERAL_SMALLINT,      /* integer */
    AST_LITERAL_INT,           /* integer: 1 that fits an int */
    AST_LITERAL_BIGINT,        /* integer: 1L, or 1 that fits only a bigint */
    AST_LITERAL_DECIMAL,       /* text = plain digits "-1.50", precision, scale */
    AST_LITERAL_FLOAT,         /* floating (already rounded to float) */
    AST_LITERAL_DOUBLE,        /* floating */
    AST_LITERAL_STRING,        /* text, escapes done */
    AST_LITERAL_BINARY,        /* text = the bytes */
    AST_LITERAL_DATE,          /* text, unparsed: the analyser raises INVALID_TYPED_LITERAL */
    AST_LITERAL_TIMESTAMP,     /* text, unparsed */
    AST_LITERAL_TIMESTAMP_LTZ, /* text, unparsed */
    AST_LITERAL_TIMESTAMP_NTZ, /* text, unparsed */
    AST_LITERAL_TIME,          /* text, unparsed */
    AST_LITERAL_YEAR_MONTH,    /* integer = months; from, to: the fields of its type */
    AST_LITERAL_DAY_TIME,      /* integer = microseconds; from, to */
};

/* A sign directly before the digits is part of the literal: -128Y is one. */
struct ast_literal {
    enum ast_literal_kind kind;
    bool boolean;
    int64_t integer;
    double floating;
    struct bytes text;
    int precision, scale;
    enum ast_unit from, to; /* intervals: type INTERVAL from TO to; equal for a single field */
};

/* ---- expressions ---- */

enum ast_expr_kind {
    AST_EXPR_LITERAL = 1,
    AST_EXPR_PARAMETER, /* :name or ? */
    AST_EXPR_COLUMN,    /* a, a.b.c; also CURRENT_DATE, USER ... without parentheses */
    AST_EXPR_STAR,      /* *, t.*, * EXCEPT (a, s.x) */
    AST_EXPR_UNARY,
    AST_EXPR_BINARY,
    AST_EXPR_BETWEEN,
    AST_EXPR_IN,
    AST_EXPR_LIKE, /* LIKE, ILIKE, RLIKE, also with ANY, SOME, ALL */
    AST_EXPR_IS,   /* IS NULL, IS TRUE, IS DISTINCT FROM ... */
    AST_EXPR_CASE,
    AST_EXPR_CAST,
    AST_EXPR_CALL,          /* any function call, also OVERLAY, POSITION, SUBSTRING with keywords */
    AST_EXPR_TRIM,          /* TRIM([side] [characters] FROM source) */
    AST_EXPR_EXTRACT,       /* EXTRACT(field FROM source) */
    AST_EXPR_TIMESTAMP_ADD, /* TIMESTAMPADD/DATEADD/DATE_ADD(unit, amount, source) */
    AST_EXPR_TIMESTAMP_DIFF, /* TIMESTAMPDIFF/DATEDIFF/DATE_DIFF(unit, start, end) */
    AST_EXPR_STRUCT,         /* STRUCT(a AS x, b) */
    AST_EXPR_ROW,            /* (a, b): named_struct('col1', a, 'col2', b) */
    AST_EXPR_FIELD,          /* base.name where base is not a plain name */
    AST_EXPR_SUBSCRIPT,      /* base[index] */
    AST_EXPR_JSON_PATH,      /* base:a.b[0], the semi-structured extraction */
    AST_EXPR_COLLATE,        /* operand COLLATE name */
    AST_EXPR_LAMBDA,         /* x -> body, (x, y) -> body */
    AST_EXPR_SUBQUERY,       /* (query) as a scalar */
    AST_EXPR_EXISTS,         /* EXISTS (query) */
};

enum ast_operator {
    AST_OP_NONE,
    /* unary */
    AST_OP_NEGATE,
    AST_OP_PLUS,
    AST_OP_BIT_NOT,
    AST_OP_NOT, /* NOT, ! */
    /* binary */
    AST_OP_MULTIPLY,
    AST_OP_DIVIDE,
    AST_OP_REMAINDER, /* % */
    AST_OP_DIV,       /* DIV */
    AST_OP_ADD,
    AST_OP_SUBTRACT,
    AST_OP_CONCAT, /* || */
    AST_OP_SHIFT_LEFT,
    AST_OP_SHIFT_RIGHT,
    AST_OP_SHIFT_RIGHT_UNSIGNED,
    AST_OP_BIT_AND,
    AST_OP_BIT_XOR,
    AST_OP_BIT_OR,
    AST_OP_EQUAL,      /* =, == */
    AST_OP_NULL_EQUAL, /* <=> */
    AST_OP_NOT_EQUAL,  /* <>, != */
    AST_OP_LESS,
    AST_OP_LESS_EQUAL, /* <=, !> */
    AST_OP_GREATER,
    AST_OP_GREATER_EQUAL, /* >=, !< */
    AST_OP_AND,
    AST_OP_OR,
};

struct ast_expr_list {
    struct ast_expr **items;
    size_t count;
};

/* An expression with an optional name: select items, STRUCT() and row members. */
struct ast_item {
    int position, position_end;
    struct ast_expr *expr;
    struct ast_name_list aliases; /* one for `AS a`, several for `AS (a, b)` (generators) */
};

struct ast_item_list {
    struct ast_item *items;
    size_t count;
};

struct ast_sort_item {
    int position, position_end;
    struct ast_expr *expr;
    enum {
        AST_ORDER_DEFAULT,
        AST_ORDER_ASC,
        AST_ORDER_DESC
    } order;
    enum {
        AST_NULLS_DEFAULT,
        AST_NULLS_FIRST,
        AST_NULLS_LAST
    } nulls;
};

struct ast_sort_list {
    struct ast_sort_item *items;
    size_t count;
};

enum ast_bound_kind {
    AST_BOUND_NONE,
    AST_BOUND_UNBOUNDED_PRECEDING,
    AST_BOUND_PRECEDING, /* expr PRECEDING */
    AST_BOUND_CURRENT_ROW,
    AST_BOUND_FOLLOWING, /* expr FOLLOWING */
    AST_BOUND_UNBOUNDED_FOLLOWING,
};

struct ast_bound {
    int position, position_end;
    enum ast_bound_kind kind;
    struct ast_expr *expr;
};

/* OVER name, OVER (PARTITION BY .. ORDER BY .. frame).  end.kind is NONE for `ROWS bound`. */
struct ast_window {
    int position, position_end;
    bool is_reference; /* OVER name, OVER (name): only `reference` is set */
    struct ast_name reference;
    struct ast_expr_list partition_by;
    struct ast_sort_list order_by;
    enum {
        AST_FRAME_NONE,
        AST_FRAME_ROWS,
        AST_FRAME_RANGE
    } frame;
    struct ast_bound start, end;
    int frame_position, frame_position_end;
};

/* WINDOW name AS (...) */
struct ast_named_window {
    struct ast_name name;
    struct ast_window *window;
};

struct ast_named_window_list {
    struct ast_named_window *items;
    size_t count;
};

/* An argument of a function: expr, name => expr, or TABLE t / TABLE(query) (then `table`). */
struct ast_argument {
    int position, position_end;
    struct ast_name name; /* text.data is NULL for a positional argument */
    struct ast_expr *expr;
    struct ast_relation *table;
};

struct ast_argument_list {
    struct ast_argument *items;
    size_t count;
};

enum ast_quantifier {
    AST_QUANTIFIER_NONE,
    AST_QUANTIFIER_DISTINCT,
    AST_QUANTIFIER_ALL
};

/* How a call was written, which only the printer cares about: args are in the plain order. */
enum ast_call_syntax {
    AST_SYNTAX_PLAIN,     /* f(a, b) */
    AST_SYNTAX_SUBSTRING, /* SUBSTRING(a FROM b FOR c): substring(a, b, c) */
    AST_SYNTAX_POSITION,  /* POSITION(a IN b): position(a, b) */
    AST_SYNTAX_OVERLAY,   /* OVERLAY(a PLACING b FROM c FOR d): overlay(a, b, c, d) */
};

struct ast_call {
    struct ast_path name; /* as written: `substr`, `builtin.abs` */
    enum ast_call_syntax syntax;
    enum ast_quantifier quantifier;
    struct ast_argument_list args; /* count(*): one STAR */
    struct ast_sort_list within_group;
    struct ast_expr *filter;
    enum {
        AST_NULLS_UNSAID,
        AST_NULLS_IGNORE,
        AST_NULLS_RESPECT
    } nulls; /* inside or after () */
    struct ast_window *over;
};

struct ast_when {
    struct ast_expr *condition, *result;
};

enum ast_is_test {
    AST_IS_NULL = 1,
    AST_IS_TRUE,
    AST_IS_FALSE,
    AST_IS_UNKNOWN,
    AST_IS_DISTINCT_FROM, /* other */
};

enum ast_like_kind {
    AST_LIKE = 1,
    AST_ILIKE,
    AST_RLIKE
};

struct ast_expr {
    int position, position_end;
    enum ast_expr_kind kind;
    enum ast_operator op; /* UNARY, BINARY */
    bool negated;         /* NOT BETWEEN, NOT IN, NOT LIKE, IS NOT */
    union {
        struct ast_literal literal;
        struct {
            struct ast_name name; /* text.data NULL for ? */
            int ordinal;          /* of a ?, from 0 */
        } parameter;
        struct ast_path column;
        struct {
            struct ast_path qualifier; /* count 0 for a bare star */
            struct ast_path_list except;
            bool has_except;
        } star;
        struct {
            struct ast_expr *left, *right; /* UNARY: left only */
        } operands;
        struct {
            struct ast_expr *value, *low, *high;
        } between;
        struct {
            struct ast_expr *value;
            struct ast_expr_list list; /* empty if `query` */
            struct ast_query *query;
        } in;
        struct {
            enum ast_like_kind kind;
            struct ast_expr *value;
            struct ast_expr *pattern; /* NULL if quantified */
            enum {
                AST_LIKE_ONE,
                AST_LIKE_ANY,
                AST_LIKE_ALL
            } quantifier;
            struct ast_expr_list patterns; /* of ANY and ALL */
            bool has_escape;
            struct bytes escape; /* one character (checked) */
        } like;
        struct {
            enum ast_is_test test;
            struct ast_expr *value, *other;
        } is;
        struct {
            struct ast_expr *operand; /* NULL for the searched form */
            struct ast_when *whens;
            size_t when_count;
            struct ast_expr *otherwise;
        } cases;
        struct {
            enum {
                AST_CAST = 1,
                AST_TRY_CAST,
                AST_CAST_COLONS
            } form;
            struct ast_expr *operand;
            struct ast_type *type;
        } cast;
        struct ast_call call;
        struct {
            enum {
                AST_TRIM_BOTH,
                AST_TRIM_LEADING,
                AST_TRIM_TRAILING
            } side;
            struct ast_expr *characters; /* NULL: blanks */
            struct ast_expr *source;
        } trim;
        struct {
            struct ast_name field; /* YEAR, 'year': the analyser knows the fields */
            struct ast_expr *source;
        } extract;
        struct {
            struct ast_name function;  /* as written: DATEADD */
            struct ast_name unit_name; /* as written: day */
            enum ast_unit unit;
            struct ast_expr *first, *second; /* amount, source; or start, end */
        } timestamp;
        struct ast_item_list members; /* STRUCT, ROW */
        struct {
            struct ast_expr *base;
            struct ast_name name;
        } field;
        struct {
            struct ast_expr *base, *index;
        } subscript;
        struct {
            struct ast_expr *base;
            struct bytes path; /* "$.a.b[0]", as variant_get takes it */
        } json_path;
        struct {
            struct ast_expr *operand;
            struct ast_path name;
        } collate;
        struct {
            struct ast_name_list params;
            struct ast_expr *body;
        } lambda;
        struct ast_query *query; /* SUBQUERY, EXISTS */
    };
};

/* ---- relations ---- */

enum ast_relation_kind {
    AST_RELATION_TABLE = 1,    /* t, STREAM t, STREAM(t) */
    AST_RELATION_SUBQUERY,     /* (query) */
    AST_RELATION_PAREN,        /* (relation), which may have an alias of its own */
    AST_RELATION_VALUES,       /* VALUES (1, 'a'), (2, 'b') */
    AST_RELATION_FUNCTION,     /* range(10), explode(a) */
    AST_RELATION_JOIN,         /* also the comma */
    AST_RELATION_LATERAL_VIEW, /* input LATERAL VIEW [OUTER] f(..) t AS a, b */
    AST_RELATION_PIVOT,
    AST_RELATION_UNPIVOT,
    AST_RELATION_SAMPLE, /* |> TABLESAMPLE only; elsewhere `sample` of the sampled relation */
};

enum ast_join_kind {
    AST_JOIN_COMMA = 1, /* a, b */
    AST_JOIN_INNER,     /* JOIN, INNER JOIN */
    AST_JOIN_CROSS,
    AST_JOIN_LEFT,
    AST_JOIN_RIGHT,
    AST_JOIN_FULL,
    AST_JOIN_LEFT_SEMI,
    AST_JOIN_LEFT_ANTI,
};

struct ast_join {
    enum ast_join_kind kind;
    bool natural;
    struct ast_relation *left;  /* NULL: the input of a pipe step */
    struct ast_relation *right; /* right->lateral for JOIN LATERAL */
    struct ast_expr *on;
    struct ast_name_list using_columns;
};

/* WITH ('k' = 'v', ...) after a table name, and hints' OPTIONS. */
struct ast_option {
    struct bytes key, value;
};

struct ast_sample {
    int position, position_end;
    enum {
        AST_SAMPLE_PERCENT = 1, /* amount PERCENT */
        AST_SAMPLE_ROWS,        /* amount ROWS */
        AST_SAMPLE_BUCKET,      /* BUCKET numerator OUT OF denominator */
    } kind;
    struct ast_expr *amount;
    int64_t numerator, denominator;
    bool has_seed;
    int64_t seed; /* REPEATABLE (seed) */
};

/* WATERMARK item DELAY OF INTERVAL ..; delay is a literal YEAR_MONTH or DAY_TIME. */
struct ast_watermark {
    int position, position_end;
    struct ast_item item;
    struct ast_expr *delay;
};

struct ast_pivot_value {
    struct ast_expr *expr;
    struct ast_name alias; /* text.data NULL if none */
};

struct ast_pivot {
    struct ast_item_list aggregates;
    struct ast_path_list columns;
    struct ast_pivot_value *values;
    size_t value_count;
};

/* One entry of UNPIVOT's IN: (a, b) AS x.  Single-value UNPIVOT has one path per entry. */
struct ast_unpivot_column {
    struct ast_path_list columns;
    struct ast_name alias; /* text.data NULL if none */
};

struct ast_unpivot {
    enum {
        AST_UNPIVOT_DEFAULT,
        AST_UNPIVOT_INCLUDE,
        AST_UNPIVOT_EXCLUDE
    } nulls;
    bool multiple;               /* FOR name IN ((a, b), ..) with several value columns */
    struct ast_name_list values; /* the value columns */
    struct ast_name name;        /* the name column */
    struct ast_unpivot_column *columns;
    size_t column_count;
};

struct ast_relation {
    int position, position_end;
    enum ast_relation_kind kind;
    bool lateral; /* LATERAL before it */
    union {
        struct {
            struct ast_path name;
            bool is_stream; /* STREAM t */
            struct ast_option *options;
            size_t option_count;
            struct ast_expr *version;   /* VERSION AS OF */
            struct ast_expr *timestamp; /* TIMESTAMP AS OF */
            struct ast_name source;     /* IDENTIFIED BY name; text.data NULL if none */
        } table;
        struct ast_query *query;       /* SUBQUERY */
        struct ast_relation *relation; /* PAREN; SAMPLE: its input (NULL in a pipe step) */
        struct ast_expr_list rows;     /* VALUES: a ROW, or any expression for one column */
        struct {
            struct ast_path name;
            struct ast_argument_list args;
            struct ast_name source; /* IDENTIFIED BY name */
        } function;
        struct ast_join join;
        struct {
            struct ast_relation *input; /* NULL without FROM */
            bool outer;
            struct ast_path function;
            struct ast_expr_list args;
            struct ast_name table;
            struct ast_name_list columns;
        } lateral_view;
        struct {
            struct ast_relation *input; /* NULL: the input of a pipe step */
            struct ast_pivot pivot;
        } pivot;
        struct {
            struct ast_relation *input; /* NULL: the input of a pipe step */
            struct ast_unpivot unpivot;
        } unpivot;
    };
    struct ast_sample *sample;
    struct ast_watermark *watermark;
    struct ast_name alias; /* text.data NULL if none; also after PIVOT and UNPIVOT */
    struct ast_name_list column_aliases;
};

/* ---- queries ---- */

enum ast_grouping_kind {
    AST_GROUPING_EXPR = 1, /* exprs has one */
    AST_GROUPING_SET,      /* (a, b), () inside ROLLUP, CUBE, GROUPING SETS */
    AST_GROUPING_ROLLUP,   /* children are EXPR or SET */
    AST_GROUPING_CUBE,     /* children are EXPR or SET */
    AST_GROUPING_SETS,     /* children are anything */
};

struct ast_grouping {
    int position, position_end;
    enum ast_grouping_kind kind;
    struct ast_expr_list exprs;
    struct ast_grouping *children;
    size_t child_count;
};

/* GROUP BY.  The old forms `GROUP BY a, b WITH ROLLUP` and `GROUP BY a, b GROUPING SETS (..)`
 * have only EXPR elements, and `with`; `sets` holds the sets of the latter. */
struct ast_group_by {
    int position, position_end;
    bool all; /* GROUP BY ALL */
    struct ast_grouping *elements;
    size_t count;
    enum {
        AST_WITH_NOTHING,
        AST_WITH_ROLLUP,
        AST_WITH_CUBE,
        AST_WITH_SETS
    } with;
    struct ast_grouping *sets;
    size_t set_count;
};

struct ast_hint {
    int position, position_end;
    struct bytes name;
    struct ast_expr_list args;
};

struct ast_select {
    int position, position_end;
    struct ast_hint *hints;
    size_t hint_count;
    enum ast_quantifier quantifier;
    struct ast_item_list items; /* empty: `FROM t` alone, which is SELECT * */
    int items_position, items_position_end;
    struct ast_relation *from; /* NULL: one row without columns */
    struct ast_expr *where;
    struct ast_group_by *group_by;
    struct ast_expr *having;
    struct ast_named_window_list windows;
    struct ast_expr *qualify;
};

/* ORDER BY .. OFFSET, in the order they are written. */
struct ast_tail {
    int position, position_end;
    struct ast_sort_list order_by; /* ORDER BY ALL: one COLUMN `ALL` */
    struct ast_expr_list cluster_by;
    struct ast_expr_list distribute_by;
    struct ast_sort_list sort_by;
    struct ast_named_window_list windows;
    bool limit_all; /* LIMIT ALL */
    struct ast_expr *limit;
    struct ast_expr *offset;
};

enum ast_set_kind {
    AST_SET_UNION = 1,
    AST_SET_EXCEPT /* also MINUS */,
    AST_SET_INTERSECT
};

enum ast_pipe_kind {
    AST_PIPE_SELECT = 1,
    AST_PIPE_EXTEND,
    AST_PIPE_SET,
    AST_PIPE_DROP,
    AST_PIPE_AS,
    AST_PIPE_WHERE,
    AST_PIPE_AGGREGATE,
    AST_PIPE_RELATION, /* JOIN, PIVOT, UNPIVOT, TABLESAMPLE over the input */
    AST_PIPE_SET_OPERATION,
    AST_PIPE_TAIL, /* ORDER BY, LIMIT, ... */
};

struct ast_assignment {
    int position, position_end;
    struct ast_name name;
    struct ast_expr *expr;
};

struct ast_term;

struct ast_pipe_step {
    int position, position_end;
    enum ast_pipe_kind kind;
    struct ast_select *select;          /* SELECT: items, windows; no FROM */
    struct ast_item_list items;         /* EXTEND, AGGREGATE */
    struct ast_group_by *group_by;      /* AGGREGATE: elements may have aliases in group_items */
    struct ast_item_list group_items;   /* AGGREGATE .. GROUP BY a AS x: parallel to the elements */
    struct ast_assignment *assignments; /* SET */
    size_t assignment_count;
    struct ast_name_list names;     /* DROP; AS has one */
    struct ast_expr *where;         /* WHERE */
    struct ast_relation *relation;  /* RELATION: its leftmost input is NULL */
    enum ast_set_kind set_kind;     /* SET_OPERATION */
    enum ast_quantifier quantifier; /* SET_OPERATION */
    struct ast_term *right;         /* SET_OPERATION */
    struct ast_tail *tail;          /* TAIL */
};

enum ast_term_kind {
    AST_TERM_SELECT = 1,
    AST_TERM_TABLE,  /* TABLE t */
    AST_TERM_VALUES, /* VALUES (1), (2) [AS t(a)]: a VALUES relation */
    AST_TERM_QUERY,  /* (query) */
    AST_TERM_SET,    /* left UNION [ALL] right */
    AST_TERM_PIPE,   /* input |> step */
};

struct ast_term {
    int position, position_end;
    enum ast_term_kind kind;
    union {
        struct ast_select *select;
        struct ast_path table;
        struct ast_relation *values;
        struct ast_query *query;
        struct {
            enum ast_set_kind kind;
            enum ast_quantifier quantifier; /* NONE and DISTINCT mean the same */
            struct ast_term *left, *right;
            int word, word_end; /* UNION ALL; both 0 where no word stands between the terms */
        } set;
        struct {
            struct ast_term *input;
            struct ast_pipe_step *step;
        } pipe;
    };
};

struct ast_cte {
    int position, position_end;
    struct ast_name name;
    struct ast_name_list columns;
    bool has_max_recursion;
    int64_t max_recursion;
    struct ast_query *query;
};

struct ast_query {
    int position, position_end;
    bool recursive;
    struct ast_cte *ctes;
    size_t cte_count;
    struct ast_term *term;
    struct ast_tail *tail; /* NULL if nothing is written */
};

/* ---- operations (ast.c, ast_equal.c, ast_print.c) ---- */

/* Names are equal if their texts are, with case. */
bool ast_query_equal(const struct ast_query *a, const struct ast_query *b);
bool ast_expr_equal(const struct ast_expr *a, const struct ast_expr *b);
bool ast_type_equal(const struct ast_type *a, const struct ast_type *b);

/* Append SQL text that parses to an equal tree.  The depth of a tree is bounded by the parser. */
void ast_query_print(struct buffer *out, const struct ast_query *query);
void ast_expr_print(struct buffer *out, const struct ast_expr *expr);
void ast_type_print(struct buffer *out, const struct ast_type *type);

/* "YEAR", "DAY", ...; "" for NONE. */
const char *ast_unit_name(enum ast_unit unit);

#endif
