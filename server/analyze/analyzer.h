/*
 * Inside the analyser: what its files share.
 *
 * One pass from the syntax tree to the logical plan, bottom-up: a relation is resolved into a node
 * and a scope (the names it offers), an expression against a scope into a typed struct expr.
 */
#ifndef SERVER_ANALYZE_ANALYZER_H
#define SERVER_ANALYZE_ANALYZER_H

#include "analyze/analyze.h"
#include "expr/function.h"
#include "sql/ast.h"

#define ANALYZE_NODES_MAX 20000 /* plan nodes, so that views of views cannot explode */
#define ANALYZE_DEPTH_MAX 256   /* nested queries, CTEs and views */

/* One name that a relation offers. */
struct scope_column {
    struct attribute *attribute;
    const char *name;
    const char *qualifier; /* NULL: none */
    bool qualified_only;   /* a key hidden by USING: not in *, not without qualifier */
    bool no_star;          /* made by window(): not in * */
    bool of_subquery;      /* of a subquery, which has no alias if there is no qualifier */
};

struct scope {
    struct scope_column *columns;
    uint32_t count;
    struct scope_column *hidden; /* _metadata: what only a name finds that no column has */
    uint32_t hidden_count;
    struct scope *outer;   /* of the enclosing query; NULL: none */
    bool suggest_by_place; /* suggestions of one distance in the order of the columns */
};

/* A growable list in arena memory. */
struct expr_list {
    struct expr **items;
    uint32_t count, capacity;
};

/* A select item that later items may name (lateral column alias). */
struct lateral_alias {
    const char *name;
    struct expr *expr;
    uint32_t id; /* of the placeholder column */
};

struct lambda_scope {
    const char **names;
    uint32_t *ids;
    const struct type **types;
    bool *nullable;
    uint32_t count;
    struct lambda_scope *outer;
};

struct cte {
    const char *name;
    const struct ast_cte *ast;
    struct cte_scope *scope; /* in which its query is resolved */
    bool busy;               /* being resolved: a recursive reference */
};

struct cte_scope {
    struct cte *items;
    uint32_t count;
    struct cte_scope *outer;
};

/* window_time(w): as much an event time as w. */
struct event_time_expr {
    const struct expr *expr;
    const struct attribute *attribute;
    struct event_time_expr *next;
};

/* A field that a star expanded to is named like the field. */
struct named_expr {
    const struct expr *expr;
    const char *name;
    struct named_expr *next;
};

/* What is known of a source or a table of the spec. */
struct connector {
    const struct type *type; /* its columns; NULL: what is wrong with it is reported */
    bool asked;
};

struct analyzer {
    struct arena *arena;
    struct diagnostics *diagnostics; /* collects what is wrong; NULL: the first is returned */
    uint32_t broken;                 /* how often something was collected */
    uint32_t refused;                /* collected, but all names are known: what a watermark says */
    bool unmarked;                   /* one of them: a watermark is missing that was declared */
    struct connector *connectors;    /* of spec->sources, then spec->tables */
    const struct query_spec *spec;
    const struct analyze_options *options;
    struct analysis *analysis;
    struct resolve_context functions;
    struct cte_scope *ctes;
    const char *view;  /* whose text is being resolved; NULL: the query's */
    struct bytes text; /* that text */
    uint32_t view_end; /* views before this one may be named */
    uint32_t next_id;
    uint32_t node_count;
    uint32_t depth;
    bool case_sensitive;
    uint32_t relation_capacity, watermark_capacity;
    struct event_time_expr *event_times;  /* expressions that keep an event-time mark */
    struct event_time_expr *window_times; /* calls of window_time() */
    struct named_expr *named;             /* what a star expanded to */
};

enum clause {
    CLAUSE_SELECT,
    CLAUSE_WHERE,
    CLAUSE_JOIN,
    CLAUSE_GROUP_BY,
    CLAUSE_HAVING,
    CLAUSE_ORDER_BY,
    CLAUSE_OTHER, /* LIMIT, VALUES, arguments of table functions, ... */
};

struct relation {
    struct logical_node *node;
    struct scope *scope;
};

/* Where an expression stands and what it sees. */
struct resolver {
    struct analyzer *analyzer;
    struct scope *scope;
    enum clause clause;
    struct lambda_scope *lambdas;
    const struct ast_named_window_list *windows;
    struct lateral_alias *aliases; /* earlier items of the list */
    uint32_t alias_count;
    struct expr_list *outer_refs; /* collects references to scope->outer; NULL: not a subquery */
    bool in_aggregate;            /* inside the arguments of an aggregate function */
    bool in_window;
    bool used_alias;                          /* set when a lateral alias was taken */
    struct relation *input;                   /* where window() may put its node; NULL: nowhere */
    int input_position, input_position_end;   /* of the clause, for its errors */
    int select_position, select_position_end; /* of the SELECT */
    bool item_aliased;                        /* the select item has an alias */
    const struct ast_item_list *later; /* the list of the SELECT, whose names WHERE does not see */
    bool collect; /* a column that is not there is collected, and NULL takes its place */
};

static inline struct resolver resolver_of(struct analyzer *analyzer, struct scope *scope,
                                          enum clause clause, struct expr_list *outer_refs)
{
    return (struct resolver){
        .analyzer = analyzer,
        .scope = scope,
        .clause = clause,
        .outer_refs = outer_refs,
    };
}

/* ---- text and memory (analyze_text.c) ---- */

const char *name_text(struct analyzer *analyzer, const struct ast_name *name);
bool name_equal(const struct analyzer *analyzer, const char *a, const char *b);
/* `a`.`b`: each part in backquotes. */
const char *path_quoted(struct analyzer *analyzer, const struct ast_path *path);
const char *text_quoted(struct analyzer *analyzer, const char *name);
/* The SQL of an expression in double quotes. */
const char *expr_sql(struct analyzer *analyzer, const struct expr *expr);
const char *expr_name(struct analyzer *analyzer, const struct expr *expr);
/* The type's SQL in double quotes. */
const char *type_quoted(struct analyzer *analyzer, const struct type *type);
/* The SQL with qualifiers: "lag(t.a, 1, NULL)", "sum((u.a + outer(t.a)))". */
const char *expr_qualified(struct analyzer *analyzer, const struct expr *expr);
/* With a # behind each column, as Spark shows expressions of a plan. */
const char *expr_with_marks(struct analyzer *analyzer, const struct expr *expr);
/* Where the text goes on behind `position`: blanks and closing parentheses are skipped. */
int text_next(const struct analyzer *analyzer, int position);
const char *ordinal_word(uint32_t index); /* "first", "second", ... */
void expr_list_add(struct arena *arena, struct expr_list *list, struct expr *expr);
struct logical_node *analyzer_node(struct analyzer *analyzer, struct logical_node *node,
                                   int position, int position_end);
struct attribute *analyzer_attribute(struct analyzer *analyzer, const char *name,
                                     const struct type *type, bool nullable);

void analyzer_name_expr(struct analyzer *analyzer, const struct expr *expr, const char *name);
const char *analyzer_expr_name(const struct analyzer *analyzer, const struct expr *expr); /* NULL */

/* ---- names (scope.c) ---- */

struct scope *scope_new(struct analyzer *analyzer, const struct logical_node *node,
                        const char *qualifier, struct scope *outer);
struct scope *scope_concat(struct analyzer *analyzer, const struct scope *left,
                           const struct scope *right, struct scope *outer);
/* Gives `scope` the hidden columns of both; right may be NULL. */
void scope_concat_hidden(struct analyzer *analyzer, struct scope *scope, const struct scope *left,
                         const struct scope *right);
/* The same attributes under another qualifier and, if given, other names. */
MUST_USE enum status scope_alias(struct analyzer *analyzer, struct relation *relation,
                                 const struct ast_name *alias, const struct ast_name_list *names,
                                 int position, int position_end, struct error *err);
/* A column reference: a.b.c as [relation.]column[.field...]. */
MUST_USE enum status scope_resolve(struct resolver *resolver, const struct ast_path *path,
                                   int position, int position_end, struct expr **out,
                                   struct error *err);
/* Points the scope's columns at the attributes of `node` (a node above that changed them). */
void scope_refresh(struct scope *scope, const struct logical_node *node);
/* Names near `plain` in backquotes, nearest first, at most five; "" if the scope is empty. */
const char *scope_suggestions(struct analyzer *analyzer, const struct scope *scope,
                              const char *plain, uint32_t part_count);
/* A plain name among the columns, without fields; NULL if there is none or several. */
struct scope_column *scope_find(const struct analyzer *analyzer, const struct scope *scope,
                                const char *name);
/* Field access by name. */
MUST_USE enum status resolve_field(struct resolver *resolver, struct expr *base, const char *name,
                                   int position, int position_end, struct expr **out,
                                   struct error *err);
MUST_USE enum status raise_unresolved_column(struct resolver *resolver, const char *quoted,
                                             const char *plain, uint32_t part_count, int position,
                                             int position_end, struct error *err);

/* ---- expressions (resolve.c, resolve_call.c, literal.c) ---- */

MUST_USE enum status resolve_expr(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr **out, struct error *err);
/* As resolve_expr, with stars among the arguments expanded. */
MUST_USE enum status resolve_list(struct resolver *resolver, const struct ast_expr_list *list,
                                  struct expr_list *out, struct error *err);
MUST_USE enum status resolve_star(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr_list *out, struct error *err);
MUST_USE enum status resolve_call(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr **out, struct error *err);
MUST_USE enum status resolve_literal(struct resolver *resolver, const struct ast_expr *ast,
                                     struct expr **out, struct error *err);
MUST_USE enum status resolve_type(struct analyzer *analyzer, const struct ast_type *ast,
                                  const struct type **out, struct error *err);
MUST_USE enum status resolve_subquery(struct resolver *resolver, const struct ast_expr *ast,
                                      struct expr **out, struct error *err);
/* Resolves a boolean condition; the caller says what to raise for another type. */
MUST_USE enum status resolve_function(struct resolver *resolver, const char *name,
                                      struct expr **args, uint32_t count, int position,
                                      int position_end, struct expr **out, struct error *err);
MUST_USE enum status resolve_sort_key(struct resolver *resolver, const struct ast_sort_item *item,
                                      struct sort_key *out, struct error *err);

/* Whether the tree holds an aggregate function that is not a window's own. */
bool expr_has_aggregate(const struct expr *expr);
bool expr_has_window(const struct expr *expr);
bool expr_has_generator(const struct expr *expr);
bool expr_has_grouping_call(const struct expr *expr); /* grouping(), grouping_id() */
bool expr_is_grouping_call(const struct expr *expr);

/* ---- relations and queries (relation.c, query.c, select.c) ---- */

MUST_USE enum status resolve_relation(struct analyzer *analyzer, const struct ast_relation *ast,
                                      struct scope *outer, struct expr_list *outer_refs,
                                      struct relation *out, struct error *err);
/* A relation whose leftmost input is already there: a pipe step. */
MUST_USE enum status resolve_relation_over(struct analyzer *analyzer,
                                           const struct ast_relation *ast, struct scope *outer,
                                           struct expr_list *outer_refs, struct relation *input,
                                           struct relation *out, struct error *err);
MUST_USE enum status resolve_query(struct analyzer *analyzer, const struct ast_query *ast,
                                   struct scope *outer, struct expr_list *outer_refs,
                                   struct relation *out, struct error *err);
MUST_USE enum status resolve_term(struct analyzer *analyzer, const struct ast_term *ast,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *out, struct error *err);
/* SELECT with the ORDER BY ... OFFSET that belongs to it (NULL: none).  `input`: of a pipe step,
 * otherwise NULL. */
MUST_USE enum status resolve_select(struct analyzer *analyzer, const struct ast_select *ast,
                                    const struct ast_tail *tail, struct scope *outer,
                                    struct expr_list *outer_refs, struct relation *input,
                                    struct relation *out, struct error *err);
/* ORDER BY, LIMIT ... over a relation that has only its output names. */
MUST_USE enum status resolve_tail(struct analyzer *analyzer, const struct ast_tail *tail,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *relation, struct error *err);
/* WHERE over *input. */
MUST_USE enum status select_where(struct analyzer *analyzer, const struct ast_expr *ast,
                                  struct resolver *resolver, struct relation *input, int position,
                                  int position_end, struct error *err);
MUST_USE enum status resolve_limit(struct analyzer *analyzer, const struct ast_tail *tail,
                                   struct relation *relation, struct error *err);
MUST_USE enum status resolve_cte(struct analyzer *analyzer, struct cte *cte, struct relation *out,
                                 struct error *err);
/* A subquery of FROM and a step of a pipe offer the hidden columns of what their projections are
 * made over. */
void relation_expose(struct analyzer *analyzer, struct relation *relation);
/* The visible columns of a relation under the names of its scope, as a node of its own. */
struct logical_node *relation_visible(struct analyzer *analyzer, const struct relation *relation);
/* ORDER BY 2: the 0-based position, UINT32_MAX if the item is no position. */
MUST_USE enum status order_position(struct analyzer *analyzer, const struct ast_sort_item *item,
                                    uint32_t size, uint32_t *out, struct error *err);
struct ast_sort_list cluster_keys(struct analyzer *analyzer, const struct ast_tail *tail);
void sort_direction(const struct ast_sort_item *item, struct sort_key *key);
/* The keys of ORDER BY ALL, or NULL if the list is another one. */
struct sort_key *order_all_keys(struct analyzer *analyzer, const struct ast_sort_list *list,
                                const struct scope *scope, uint32_t *count);
/* UNSUPPORTED_EXPR_FOR_OPERATOR with the aggregates, windows and generators of the expression. */
enum status raise_operator(struct analyzer *analyzer, const struct expr *expr, const char *name,
                           int position, int position_end, struct error *err);
bool type_contains_map(const struct type *type);
/* UNSUPPORTED_FEATURE.SET_OPERATION_ON_*: DISTINCT and the like compare no maps and no VARIANTs. */
MUST_USE enum status check_set_column(struct analyzer *analyzer, const struct attribute *column,
                                      const struct type *type, int position, int position_end,
                                      struct error *err);
MUST_USE enum status resolve_pipe(struct analyzer *analyzer, const struct ast_term *ast,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *out, struct error *err);
MUST_USE enum status resolve_pivot(struct analyzer *analyzer, const struct ast_relation *ast,
                                   struct scope *outer, struct expr_list *outer_refs,
                                   struct relation *input, struct relation *out, struct error *err);
MUST_USE enum status resolve_unpivot(struct analyzer *analyzer, const struct ast_relation *ast,
                                     struct relation *input, struct relation *out,
                                     struct error *err);

/* A watermark to be declared; `origin`: see struct analysis_watermark. */
struct watermark_mark {
    uint32_t ordinal; /* of its column, which becomes the event time */
    int64_t delay_us;
    const void *origin;
    int position, position_end; /* in the text; -1: none */
};

MUST_USE enum status relation_watermark(struct analyzer *analyzer, struct relation *relation,
                                        const struct watermark_mark *mark, struct error *err);
/* Raises when two sides do not fit a set operation; otherwise widens them to common types. */
MUST_USE enum status resolve_set_operation(struct analyzer *analyzer, const struct ast_term *ast,
                                           struct relation *left, struct relation *right,
                                           struct relation *out, struct error *err);

/* ---- views and relations of the spec (catalog.c) ---- */

MUST_USE enum status catalog_relation(struct analyzer *analyzer, const struct ast_relation *ast,
                                      struct relation *out, struct error *err);
/* Resolves view number `index`. */
MUST_USE enum status catalog_view(struct analyzer *analyzer, uint32_t index, struct relation *out,
                                  struct error *err);

/* ---- sources, tables and the sink of the spec (connectors.c) ---- */

/* Asks every source and table and collects what is wrong with them. */
void connector_collect(struct analyzer *analyzer);
/* The columns of one.  Errors: those of its kind, with a pointer into the spec. */
MUST_USE enum status connector_schema(struct analyzer *analyzer, uint32_t index, bool is_table,
                                      const struct type **out, struct error *err);
/* The sink's options and paths and, if it is known, the schema that it is to take. */
MUST_USE enum status connector_sink(struct analyzer *analyzer, const struct type *schema,
                                    struct error *err);
/* DATA_SOURCE_NOT_FOUND with the nearest kind of sink. */
enum status connector_no_sink(const char *format, struct error *err);
void connector_point_at_sink(struct analyzer *analyzer, struct error *err);

/*
 * Collecting: analysis goes on behind an error as long as what follows is not likely to be wrong
 * only because of it.  analyzer_collect takes err over; analyzer_go_on does so for a status unless
 * something was collected since `broken_before`, and returns OK; without a collector it returns
 * the status.
 */
void analyzer_collect(struct analyzer *analyzer, struct error *err);
MUST_USE enum status analyzer_go_on(struct analyzer *analyzer, uint32_t broken_before,
                                    enum status status, struct error *err);

/* ---- parts of SELECT (select_parts.c, aggregation.c) ---- */

struct grouping {
    bool present;                      /* GROUP BY was written */
    int position, position_end;        /* of the SELECT */
    struct expr_list keys;             /* over the child */
    struct attribute **key_attributes; /* of the aggregate's output */
    struct expr_list aggregates;       /* EXPR_AGGREGATE, each once */
    bool sets;
    uint64_t *masks; /* of each set: bit i = key i is in it */
    uint32_t mask_count;
    struct attribute *grouping_id;
};

/* The keys of GROUP BY; `items` are the select items, for positions and aliases. */
struct select_item {
    struct expr *expr;
    const char *name;
    const struct ast_expr *ast;
    const struct ast_name_list *aliases; /* as written; NULL: none */
    uint32_t alias_id;                   /* of the placeholder for later items */
    bool lateral;                        /* it names an earlier item */
    int position, position_end;
};

struct select_items {
    struct select_item *items;
    uint32_t count, capacity;
};

MUST_USE enum status grouping_keys(struct resolver *resolver, const struct ast_group_by *ast,
                                   const struct select_items *items, struct grouping *grouping,
                                   struct error *err);
/* Replaces keys and aggregates in *expr by references to the aggregate's output, adding the
 * aggregates to the list.  Errors: MISSING_AGGREGATION, MISSING_GROUP_BY. */
MUST_USE enum status grouping_rewrite(struct analyzer *analyzer, struct grouping *grouping,
                                      struct expr **expr, struct error *err);
/* The aggregate node (over an Expand for grouping sets). */
MUST_USE enum status grouping_node(struct analyzer *analyzer, struct grouping *grouping,
                                   struct logical_node *child, struct logical_node **out,
                                   struct error *err);

/* DISTINCT over *node; of sessions it is a grouping, as it makes one of those that touch. */
MUST_USE enum status distinct_node(struct analyzer *analyzer, struct logical_node **node,
                                   struct error *err);

/* Puts the window functions of the expressions into a node over *node. */
void extract_windows(struct analyzer *analyzer, struct expr **slots, uint32_t count,
                     struct logical_node **node);
/* Generators at the top of items become the columns they make (an item may become several), and
 * are put over *node later. */
struct pending_generators {
    struct expr **exprs;
    struct attribute ***attributes;
    uint32_t count;
};
MUST_USE enum status split_generators(struct analyzer *analyzer, struct select_items *items,
                                      struct pending_generators *pending, struct error *err);
MUST_USE enum status build_generators(struct analyzer *analyzer,
                                      const struct pending_generators *pending,
                                      struct logical_node **node, struct error *err);
void select_items_add(struct arena *arena, struct select_items *items, struct select_item item);
/* The name of an item; of one that is wrong: its alias, or that of the column it was to be, or "".
 */
const char *select_item_name(struct analyzer *analyzer, const struct ast_item *ast,
                             const struct expr *expr);
const char *select_written_name(struct analyzer *analyzer, const struct ast_item *ast);
/* The mark of event time that an expression's column has. */
void mark_event_time(const struct analyzer *analyzer, const struct expr *expr,
                     const struct logical_node *child, struct attribute *attribute);

/* ---- the rules for streams (check_streaming.c) ---- */

MUST_USE enum status check_streaming(const struct analysis *analysis, enum output_mode mode,
                                     struct error *err);
/* The rules, the sink and the mode of the spec (check_sink.c). */
MUST_USE enum status check_query(struct analyzer *analyzer, struct error *err);
/* Whether the sink takes rows of the mode. */
MUST_USE enum status check_sink_mode(const struct sink_spec *sink, enum output_mode mode,
                                     struct error *err);
/* What can be said of them where the SQL could not be resolved. */
MUST_USE enum status check_sink_alone(struct analyzer *analyzer, struct error *err);

/* Parses SQL as the spec's conf wants it: "x" may be a name.  (analyze.c) */
MUST_USE enum status parse_text(struct analyzer *analyzer, struct bytes text,
                                struct ast_query **out, struct error *err);

#endif
