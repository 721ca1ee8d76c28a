/* Queries: WITH, set operations, pipes, and the clauses behind them (ORDER BY .. OFFSET). */
#include "base/check.h"
#include "sql/parse.h"

#include <stdlib.h>

static struct ast_term *new_term(struct parser *parser, enum ast_term_kind kind, int position)
{
    struct ast_term *term = arena_new_object(parser->arena, sizeof(*term));
    term->kind = kind;
    term->position = position;
    return term;
}

static enum status finish_term(struct parser *parser, struct ast_term *term, struct ast_term **out)
{
    term->position_end = parser_position_end(parser);
    *out = term;
    return OK;
}

/* ---- WITH ---- */

static enum status max_recursion(struct parser *parser, struct ast_cte *cte)
{
    if (parser_keyword(parser, 0) != KW_MAX || parser_keyword(parser, 1) != KW_RECURSION)
        return OK;
    parser_skip(parser, 2);
    TRY(parser_want_keyword(parser, KW_LEVEL, AFTER_NOTHING));
    if (parser_kind(parser, 0) != TOKEN_INTEGER)
        return parser_unexpected(parser);
    struct bytes text = parser_token_text(parser, parser_peek(parser, 0));
    char *digits = arena_strndup(parser->arena, text.data, text.size_bytes);
    cte->has_max_recursion = true;
    cte->max_recursion = strtoll(digits, NULL, 10);
    parser_skip(parser, 1);
    return OK;
}

static enum status cte(struct parser *parser, struct ast_cte *out)
{
    *out = (struct ast_cte){.position = parser_position(parser)};
    TRY(parser_name(parser, &out->name));
    if (parser_kind(parser, 0) == TOKEN_LEFT_PAREN && !parser_starts_query(parser, 1))
        TRY(parser_names(parser, &out->columns));
    TRY(max_recursion(parser, out));
    parser_take_keyword(parser, KW_AS);
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_NOTHING));
    TRY(parser_query_rule(parser, &out->query));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_NOTHING));
    out->position_end = parser_position_end(parser);
    return OK;
}

static enum status ctes(struct parser *parser, struct ast_query *query)
{
    struct parser_list list = {0};
    if (!parser_take_keyword(parser, KW_WITH))
        return OK;
    if (parser_keyword(parser, 0) == KW_RECURSIVE && parser_starts_name(parser, 1) &&
        parser_keyword(parser, 1) != KW_AS) {
        query->recursive = true;
        parser_skip(parser, 1);
    }
    do {
        struct ast_cte item;
        TRY(cte(parser, &item));
        *(struct ast_cte *)parser_push(parser, &list, sizeof(item)) = item;
    } while (parser_take(parser, TOKEN_COMMA));
    query->ctes = list.items;
    query->cte_count = list.count;
    return OK;
}

/* ---- ORDER BY .. OFFSET ---- */

/*
 * Spark looks ahead over a whole clause before it enters it; when the clause is broken it does
 * not enter, and the clause's first word is what it reports.
 */
static enum status clause_failed(struct parser *parser, size_t start, enum status status)
{
    if (parser->err->status != STATUS_PARSE_SYNTAX_ERROR)
        return status;
    parser->index = start;
    error_clear(parser->err);
    return parser_kind(parser, 1) == TOKEN_END ? parser_extra(parser) : parser_unexpected(parser);
}

static bool by_ahead(const struct parser *parser, enum keyword word)
{
    return parser_keyword(parser, 0) == word && parser_keyword(parser, 1) == KW_BY;
}

static enum status order_clauses(struct parser *parser, struct ast_tail *tail)
{
    if (by_ahead(parser, KW_ORDER)) {
        parser_skip(parser, 2);
        return parser_sort_seq(parser, &tail->order_by);
    }
    if (by_ahead(parser, KW_CLUSTER)) {
        parser_skip(parser, 2);
        return parser_expr_seq(parser, &tail->cluster_by);
    }
    if (by_ahead(parser, KW_DISTRIBUTE)) {
        parser_skip(parser, 2);
        return parser_expr_seq(parser, &tail->distribute_by);
    }
    if (by_ahead(parser, KW_SORT)) {
        parser_skip(parser, 2);
        return parser_sort_seq(parser, &tail->sort_by);
    }
    return OK;
}

static enum status limit_clauses(struct parser *parser, struct ast_tail *tail)
{
    if (parser_take_keyword(parser, KW_LIMIT)) {
        if (parser_keyword(parser, 0) != KW_ALL)
            return parser_expression(parser, &tail->limit);
        parser_skip(parser, 1);
        tail->limit_all = true;
        return OK;
    }
    if (parser_take_keyword(parser, KW_OFFSET))
        return parser_expression(parser, &tail->offset);
    if (parser_take_keyword(parser, KW_WINDOW))
        return parser_named_windows(parser, &tail->windows);
    return OK;
}

/* The place of a clause in the order they must have; 0 if the word begins none. */
static int tail_rank(const struct parser *parser)
{
    switch (parser_keyword(parser, 0)) {
    case KW_ORDER:
        return parser_keyword(parser, 1) == KW_BY ? 1 : 0;
    case KW_CLUSTER:
        return parser_keyword(parser, 1) == KW_BY ? 2 : 0;
    case KW_DISTRIBUTE:
        return parser_keyword(parser, 1) == KW_BY ? 3 : 0;
    case KW_SORT:
        return parser_keyword(parser, 1) == KW_BY ? 4 : 0;
    case KW_WINDOW:
        return 5;
    case KW_LIMIT:
        return 6;
    case KW_OFFSET:
        return 7;
    default:
        return 0;
    }
}

/* One of them, or DISTRIBUTE BY with SORT BY. */
static enum status check_orders(struct parser *parser, const struct ast_tail *tail)
{
    bool order = tail->order_by.count > 0, cluster = tail->cluster_by.count > 0;
    bool spread = tail->distribute_by.count > 0 || tail->sort_by.count > 0;
    if (order + cluster + spread <= 1)
        return OK;
    return error_raise_at(parser->err, STATUS_UNSUPPORTED_FEATURE__COMBINATION_QUERY_RESULT_CLAUSES,
                          tail->position, tail->position_end, NULL);
}

enum status parser_tail(struct parser *parser, struct ast_tail **out)
{
    struct ast_tail *tail = NULL;
    int last = 0;
    for (int rank = tail_rank(parser); rank > last; rank = tail_rank(parser)) {
        if (tail == NULL) {
            tail = arena_new_object(parser->arena, sizeof(*tail));
            tail->position = parser_position(parser);
        }
        size_t start = parser->index;
        enum status status = rank < 5 ? order_clauses(parser, tail) : limit_clauses(parser, tail);
        if (status != OK)
            return clause_failed(parser, start, status);
        tail->position_end = parser_position_end(parser);
        last = rank;
    }
    *out = tail;
    return tail == NULL ? OK : check_orders(parser, tail);
}

/* ---- set operations and pipes ---- */

enum status parser_set_quantifier(struct parser *parser, enum ast_quantifier *out)
{
    *out = AST_QUANTIFIER_NONE;
    if (parser_take_keyword(parser, KW_ALL))
        *out = AST_QUANTIFIER_ALL;
    else if (parser_take_keyword(parser, KW_DISTINCT))
        *out = AST_QUANTIFIER_DISTINCT;
    return OK;
}

static enum ast_set_kind set_kind(enum keyword keyword)
{
    switch (keyword) {
    case KW_UNION:
        return AST_SET_UNION;
    case KW_EXCEPT:
    case KW_MINUS:
        return AST_SET_EXCEPT;
    case KW_INTERSECT:
        return AST_SET_INTERSECT;
    default:
        return 0;
    }
}

static enum status set_operation(struct parser *parser, enum ast_set_kind kind,
                                 struct ast_term **left);

/* Operands of UNION and EXCEPT: INTERSECT binds tighter. */
static enum status intersection(struct parser *parser, struct ast_term **out)
{
    TRY(parser_query_primary(parser, out));
    while (parser_keyword(parser, 0) == KW_INTERSECT)
        TRY(set_operation(parser, AST_SET_INTERSECT, out));
    return OK;
}

static enum status set_operation(struct parser *parser, enum ast_set_kind kind,
                                 struct ast_term **left)
{
    struct ast_term *term = new_term(parser, AST_TERM_SET, (*left)->position);
    term->set.kind = kind;
    term->set.left = *left;
    term->set.word = parser_position(parser);
    parser_skip(parser, 1);
    TRY(parser_set_quantifier(parser, &term->set.quantifier));
    term->set.word_end = parser_position_end(parser);
    TRY(kind == AST_SET_INTERSECT ? parser_query_primary(parser, &term->set.right)
                                  : intersection(parser, &term->set.right));
    TRY(parser_higher(parser));
    return finish_term(parser, term, left);
}

static bool pipe_ahead(const struct parser *parser)
{
    if (parser_kind(parser, 0) == TOKEN_PIPE_STEP)
        return true;
    if (parser_kind(parser, 0) != TOKEN_BAR)
        return false;
    switch (parser_keyword(parser, 1)) {
    case KW_SELECT:
    case KW_EXTEND:
    case KW_SET:
    case KW_DROP:
    case KW_AS:
    case KW_WHERE:
    case KW_AGGREGATE:
    case KW_PIVOT:
    case KW_UNPIVOT:
    case KW_TABLESAMPLE:
    case KW_ORDER:
    case KW_SORT:
    case KW_LIMIT:
    case KW_OFFSET:
    case KW_UNION:
    case KW_EXCEPT:
    case KW_INTERSECT:
    case KW_MINUS:
    case KW_JOIN:
    case KW_INNER:
    case KW_CROSS:
    case KW_LEFT:
    case KW_RIGHT:
    case KW_FULL:
    case KW_NATURAL:
        return true;
    default:
        return false;
    }
}

static enum status pipe(struct parser *parser, struct ast_term **input)
{
    struct ast_term *term = new_term(parser, AST_TERM_PIPE, (*input)->position);
    term->pipe.input = *input;
    parser_skip(parser, 1);
    TRY(parser_pipe_step(parser, &term->pipe.step));
    TRY(parser_higher(parser));
    return finish_term(parser, term, input);
}

static enum status pipeline(struct parser *parser, struct ast_term **out)
{
    TRY(intersection(parser, out));
    for (;;) {
        enum ast_set_kind kind = set_kind(parser_keyword(parser, 0));
        if (kind != 0)
            TRY(set_operation(parser, kind, out));
        else if (pipe_ahead(parser))
            TRY(pipe(parser, out));
        else
            return OK;
    }
}

static enum status query_body(struct parser *parser, struct ast_query *query)
{
    query->position = parser_position(parser);
    TRY(ctes(parser, query));
    TRY(pipeline(parser, &query->term));
    TRY(parser_tail(parser, &query->tail));
    query->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_query_rule(struct parser *parser, struct ast_query **out)
{
    struct ast_query *query = arena_new_object(parser->arena, sizeof(*query));
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = query_body(parser, query);
    parser_leave(parser, saved);
    *out = query;
    return status;
}

/* ---- the simplest queries ---- */

static bool select_ahead(const struct parser *parser)
{
    return parser_keyword(parser, 0) == KW_SELECT;
}

static enum status from_first_select(struct parser *parser, struct ast_relation *from,
                                     struct ast_select **out)
{
    bool saved = parser->from_first;
    parser->from_first = true;
    enum status status = parser_select(parser, from, out);
    parser->from_first = saved;
    return status;
}

/* FROM t, FROM t SELECT a, and FROM t SELECT a SELECT b, which is their UNION ALL. */
static enum status from_statement(struct parser *parser, struct ast_term *term,
                                  struct ast_term **out)
{
    struct ast_relation *from;
    TRY(parser_from(parser, &from));
    if (!select_ahead(parser)) {
        struct ast_select *select = arena_new_object(parser->arena, sizeof(*select));
        select->position = term->position;
        select->position_end = parser_position_end(parser);
        select->from = from;
        term->select = select;
        return finish_term(parser, term, out);
    }
    TRY(from_first_select(parser, from, &term->select));
    TRY(finish_term(parser, term, out));
    while (select_ahead(parser)) {
        struct ast_term *set = new_term(parser, AST_TERM_SET, term->position);
        struct ast_term *right = new_term(parser, AST_TERM_SELECT, parser_position(parser));
        set->set.kind = AST_SET_UNION;
        set->set.quantifier = AST_QUANTIFIER_ALL;
        set->set.left = *out;
        set->set.right = right;
        TRY(from_first_select(parser, from, &right->select));
        TRY(finish_term(parser, right, &set->set.right));
        TRY(parser_higher(parser));
        TRY(finish_term(parser, set, out));
    }
    return OK;
}

enum status parser_query_primary(struct parser *parser, struct ast_term **out)
{
    struct ast_term *term = new_term(parser, AST_TERM_SELECT, parser_position(parser));
    if (parser_kind(parser, 0) == TOKEN_LEFT_PAREN) {
        term->kind = AST_TERM_QUERY;
        parser_skip(parser, 1);
        TRY(parser_query_rule(parser, &term->query));
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
        return finish_term(parser, term, out);
    }
    switch (parser_keyword(parser, 0)) {
    case KW_SELECT:
        TRY(parser_select(parser, NULL, &term->select));
        return finish_term(parser, term, out);
    case KW_FROM:
        return from_statement(parser, term, out);
    case KW_TABLE:
        term->kind = AST_TERM_TABLE;
        parser_skip(parser, 1);
        TRY(parser_reference(parser, &term->table));
        return finish_term(parser, term, out);
    case KW_VALUES:
        term->kind = AST_TERM_VALUES;
        TRY(parser_inline_table(parser, &term->values));
        return finish_term(parser, term, out);
    default:
        return parser_unexpected(parser);
    }
}
