/*
 * What the parts of the parser share; nobody outside sql/ includes this.
 *
 * Each function reads one rule of the grammar from the parser's place, moves the place behind it
 * and writes the result, or fills parser->err and fails.  Where two readings are possible a
 * function saves `index`, tries one and comes back (parser_retry); `retries_left` bounds how often
 * that may happen in a statement, so that parsing stays linear in practice and bounded always.
 *
 * Errors imitate Spark's parser, which reports the token where its own lookahead ended: when the
 * next token but one would fit, the present one is "extra input"; when the present one fits behind
 * the wanted one, that is "missing".
 */
#ifndef SERVER_SQL_PARSE_H
#define SERVER_SQL_PARSE_H

#include "sql/ast.h"
#include "sql/lexer.h"

#define PARSER_DEPTH_MAX   300  /* nesting of rules */
#define PARSER_HEIGHT_MAX  2000 /* of the tree: long chains of operators count too */
#define PARSER_RETRIES_MAX 200

/* What may stand behind the value being read, inside no parentheses. */
enum parser_place_of_value {
    PLACE_OTHER,
    PLACE_ITEM,      /* an alias, which may be a list of names */
    PLACE_CONDITION, /* of WHERE */
};

struct parser {
    struct arena *arena;
    struct bytes text;
    struct token_list tokens;
    size_t index;
    int depth;
    int height; /* of the highest subtree finished since the enclosing rule began */
    int retries_left;
    const struct ast_expr *trailing_comma; /* the FROM of `SELECT a, FROM t` */
    bool from_first;                       /* in FROM t SELECT a SELECT b: SELECT is no alias */
    int question_marks;
    enum parser_place_of_value place;
    int angles_used;           /* how many `>` of a `>>` the types around it have taken */
    const struct error *later; /* what is wrong with the tree, see parser_later; or NULL */
    struct error *err;
};

/* What may follow a missing token, so that it is reported as missing. */
enum parser_after {
    AFTER_NOTHING, /* never report it as missing */
    AFTER_EXPR,    /* an expression */
    AFTER_END,     /* the end of the statement */
    AFTER_VALUE,   /* nearly everything: an operator, an alias, a clause, the end; no literal */
    AFTER_ITEM,    /* what may follow a value in a select list: an alias, a comma, FROM, the end */
};

/* ---- tokens and errors (parse.c) ---- */

static inline const struct token *parser_peek(const struct parser *parser, size_t ahead)
{
    size_t at = parser->index + ahead;
    return &parser->tokens.items[at < parser->tokens.count ? at : parser->tokens.count - 1];
}

static inline enum token_kind parser_kind(const struct parser *parser, size_t ahead)
{
    return parser_peek(parser, ahead)->kind;
}

static inline enum keyword parser_keyword(const struct parser *parser, size_t ahead)
{
    return parser_peek(parser, ahead)->keyword;
}

/* Moves over the token if it is the one asked for. */
bool parser_take(struct parser *parser, enum token_kind kind);
bool parser_take_keyword(struct parser *parser, enum keyword keyword);
void parser_skip(struct parser *parser, size_t count);

enum status parser_unexpected(struct parser *parser); /* PARSE_SYNTAX_ERROR at the present token */
enum status parser_extra(struct parser *parser);      /* the same with hint "extra input" */
#ifdef __clang_analyzer__                             /* does not see that they are never OK */
#define parser_unexpected(parser) STATUS_NOT_OK(parser_unexpected(parser))
#define parser_extra(parser)      STATUS_NOT_OK(parser_extra(parser))
#endif
MUST_USE enum status parser_want(struct parser *parser, enum token_kind kind,
                                 enum parser_after after);
MUST_USE enum status parser_want_keyword(struct parser *parser, enum keyword keyword,
                                         enum parser_after after);
/* Spark builds the tree when the whole text has been read: what err holds is raised if no error of
 * syntax follows.  The parse goes on; of several the first one stays. */
MUST_USE enum status parser_later(struct parser *parser);
/* A condition: an expression behind which no alias can stand. */
MUST_USE enum status parser_condition(struct parser *parser, struct ast_expr **out);
/* The `)` of a comma list: after a comma every wrong token is "extra input". */
MUST_USE enum status parser_close_list(struct parser *parser, bool after_comma);

/* Nesting.  enter saves the height in *saved; leave must follow, also after an error. */
MUST_USE enum status parser_enter(struct parser *parser, int *saved);
void parser_leave(struct parser *parser, int saved);
MUST_USE enum status parser_higher(struct parser *parser); /* one more link of a chain */

/* Goes back to `index` and forgets the error; false when the retries are used up. */
bool parser_retry(struct parser *parser, size_t index);

int parser_position(const struct parser *parser);     /* where the present token starts */
int parser_position_end(const struct parser *parser); /* where the last token read ended */
struct bytes parser_token_text(const struct parser *parser, const struct token *token);
bool parser_starts_expr(const struct parser *parser, size_t ahead);
bool parser_starts_name(const struct parser *parser, size_t ahead);

/* A list that grows in the arena. */
struct parser_list {
    void *items;
    size_t count, capacity;
};
void *parser_push(struct parser *parser, struct parser_list *list, size_t item_size);

/* ---- names (parse_name.c) ---- */

/* One part of a name; parser_name also refuses `a-b`, which is a name nowhere. */
MUST_USE enum status parser_name_part(struct parser *parser, struct ast_name *out);
MUST_USE enum status parser_name(struct parser *parser, struct ast_name *out);
MUST_USE enum status parser_names(struct parser *parser, struct ast_name_list *out);    /* (a, b) */
MUST_USE enum status parser_name_seq(struct parser *parser, struct ast_name_list *out); /* a, b */
MUST_USE enum status parser_path(struct parser *parser, struct ast_path *out);          /* a.b */
/* As parser_path, also IDENTIFIER(expr). */
MUST_USE enum status parser_reference(struct parser *parser, struct ast_path *out);
MUST_USE enum status parser_table_alias(struct parser *parser, struct ast_relation *relation);
/* The present word cannot be an alias, because it starts what follows. */
bool parser_starts_clause(const struct parser *parser);
bool parser_starts_query(const struct parser *parser, size_t ahead);

/* ---- expressions (parse_expr.c, parse_primary.c, parse_call.c, parse_literal.c) ---- */

struct ast_expr *parser_node(struct parser *parser, enum ast_expr_kind kind, int position);
enum status parser_finish(struct parser *parser, struct ast_expr *expr, struct ast_expr **out);
MUST_USE enum status parser_expression(struct parser *parser, struct ast_expr **out);
MUST_USE enum status parser_value(struct parser *parser, struct ast_expr **out);
MUST_USE enum status parser_primary(struct parser *parser, struct ast_expr **out);
/* The present token is a word, as is or in backquotes, with `(` behind it or an IDENTIFIER form. */
MUST_USE enum status parser_call(struct parser *parser, struct ast_path name,
                                 struct ast_expr **out);
/* Forms like CAST(..): *out stays NULL if the present word begins none. */
MUST_USE enum status parser_special(struct parser *parser, struct ast_expr **out);
/* Number, string, typed literal, NULL, TRUE, INTERVAL: *out stays NULL if there is none here. */
MUST_USE enum status parser_literal(struct parser *parser, struct ast_expr **out);
MUST_USE enum status parser_interval(struct parser *parser, struct ast_expr **out);
MUST_USE enum status parser_string(struct parser *parser, struct bytes *out); /* one token */
bool parser_interval_ahead(const struct parser *parser);
MUST_USE enum status parser_expr_seq(struct parser *parser, struct ast_expr_list *out);
MUST_USE enum status parser_item(struct parser *parser, struct ast_item *out);
MUST_USE enum status parser_item_seq(struct parser *parser, struct ast_item_list *out);
MUST_USE enum status parser_sort_seq(struct parser *parser, struct ast_sort_list *out);
MUST_USE enum status parser_args(struct parser *parser, struct ast_argument_list *out);
MUST_USE enum status parser_window(struct parser *parser, struct ast_window **out);
MUST_USE enum status parser_named_windows(struct parser *parser, struct ast_named_window_list *out);
enum ast_unit parser_unit(const struct parser *parser, size_t ahead);
MUST_USE enum status parser_data_type(struct parser *parser, struct ast_type **out);
bool parser_is_type(struct bytes word); /* one of the words for a type, not one made up */

/* ---- interval literals (interval_literal.c) ---- */

struct interval_pair {
    struct bytes value; /* digits with sign, or the content of a string */
    struct bytes unit;  /* as written */
    bool quoted;
    bool minus; /* a sign before a quoted value */
};

/* The literal of `INTERVAL pairs`; `source` is its text, for messages.
 * Errors: INVALID_INTERVAL_FORMAT.*, _LEGACY_ERROR_TEMP_0026 and _0029. */
MUST_USE enum status interval_from_pairs(const struct interval_pair *pairs, size_t count,
                                         struct bytes source, struct ast_literal *out,
                                         struct error *err);
/* The literal of `INTERVAL 'text'`.  Errors: INVALID_TYPED_LITERAL. */
MUST_USE enum status interval_from_text(struct bytes text, struct bytes source,
                                        struct ast_literal *out, struct error *err);
/* The literal of `INTERVAL 'text' from TO to`. */
MUST_USE enum status interval_from_to(struct bytes text, enum ast_unit from, enum ast_unit to,
                                      struct ast_literal *out, struct error *err);

/* ---- queries (parse_query.c, parse_select.c, parse_relation.c, parse_pipe.c) ---- */

MUST_USE enum status parser_query_rule(struct parser *parser, struct ast_query **out);
MUST_USE enum status parser_query_primary(struct parser *parser, struct ast_term **out);
MUST_USE enum status parser_set_quantifier(struct parser *parser, enum ast_quantifier *out);
MUST_USE enum status parser_tail(struct parser *parser, struct ast_tail **out); /* NULL: none */
MUST_USE enum status parser_select(struct parser *parser, struct ast_relation *from,
                                   struct ast_select **out);
MUST_USE enum status parser_from(struct parser *parser, struct ast_relation **out);
MUST_USE enum status parser_group_by(struct parser *parser, struct ast_item_list *items,
                                     struct ast_group_by **out);
MUST_USE enum status parser_pipe_step(struct parser *parser, struct ast_pipe_step **out);
MUST_USE enum status parser_inline_table(struct parser *parser, struct ast_relation **out);
/* Adds one JOIN, PIVOT, UNPIVOT or TABLESAMPLE to *relation, which may be NULL (the input of a
 * pipe step); *found says if there was one. */
MUST_USE enum status parser_extension(struct parser *parser, struct ast_relation **relation,
                                      bool *found);
MUST_USE enum status parser_sample(struct parser *parser, struct ast_sample **out);

#endif
