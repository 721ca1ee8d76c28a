/*
 * Expressions: OR, AND, NOT, predicates, and the operators by precedence.
 *
 * Loosest to tightest: OR; AND; NOT; one predicate (BETWEEN, IN, LIKE, IS) per operand;
 * comparison; | ; ^ ; & ; shifts; + - ||; * / % DIV; unary; and what parse_primary.c reads.
 */
#include "base/check.h"
#include "base/utf8.h"
#include "sql/parse.h"

enum level {
    LEVEL_COMPARISON = 1,
    LEVEL_BIT_OR,
    LEVEL_BIT_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MULTIPLY,
    LEVEL_UNARY,
};

static const struct binary {
    enum token_kind kind;
    enum ast_operator op;
    enum level level;
} binaries[] = {
    {TOKEN_EQUAL, AST_OP_EQUAL, LEVEL_COMPARISON},
    {TOKEN_NULL_EQUAL, AST_OP_NULL_EQUAL, LEVEL_COMPARISON},
    {TOKEN_NOT_EQUAL, AST_OP_NOT_EQUAL, LEVEL_COMPARISON},
    {TOKEN_LESS, AST_OP_LESS, LEVEL_COMPARISON},
    {TOKEN_LESS_EQUAL, AST_OP_LESS_EQUAL, LEVEL_COMPARISON},
    {TOKEN_GREATER, AST_OP_GREATER, LEVEL_COMPARISON},
    {TOKEN_GREATER_EQUAL, AST_OP_GREATER_EQUAL, LEVEL_COMPARISON},
    {TOKEN_BAR, AST_OP_BIT_OR, LEVEL_BIT_OR},
    {TOKEN_HAT, AST_OP_BIT_XOR, LEVEL_BIT_XOR},
    {TOKEN_AMPERSAND, AST_OP_BIT_AND, LEVEL_BIT_AND},
    {TOKEN_SHIFT_LEFT, AST_OP_SHIFT_LEFT, LEVEL_SHIFT},
    {TOKEN_SHIFT_RIGHT, AST_OP_SHIFT_RIGHT, LEVEL_SHIFT},
    {TOKEN_SHIFT_RIGHT_UNSIGNED, AST_OP_SHIFT_RIGHT_UNSIGNED, LEVEL_SHIFT},
    {TOKEN_PLUS, AST_OP_ADD, LEVEL_ADD},
    {TOKEN_MINUS, AST_OP_SUBTRACT, LEVEL_ADD},
    {TOKEN_CONCAT, AST_OP_CONCAT, LEVEL_ADD},
    {TOKEN_STAR, AST_OP_MULTIPLY, LEVEL_MULTIPLY},
    {TOKEN_SLASH, AST_OP_DIVIDE, LEVEL_MULTIPLY},
    {TOKEN_PERCENT, AST_OP_REMAINDER, LEVEL_MULTIPLY},
};

struct ast_expr *parser_node(struct parser *parser, enum ast_expr_kind kind, int position)
{
    struct ast_expr *expr = arena_new_object(parser->arena, sizeof(*expr));
    expr->kind = kind;
    expr->position = position;
    return expr;
}

enum status parser_finish(struct parser *parser, struct ast_expr *expr, struct ast_expr **out)
{
    expr->position_end = parser_position_end(parser);
    *out = expr;
    return OK;
}

static enum status finish_binary(struct parser *parser, enum ast_operator op, int position,
                                 struct ast_expr **left, struct ast_expr *right)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_BINARY, position);
    expr->op = op;
    expr->operands.left = *left;
    expr->operands.right = right;
    TRY(parser_higher(parser));
    return parser_finish(parser, expr, left);
}

/* The operator at the present place, if it binds at `min` or tighter. */
static const struct binary *binary_ahead(const struct parser *parser, enum level min)
{
    static const struct binary division = {TOKEN_WORD, AST_OP_DIV, LEVEL_MULTIPLY};
    if (parser_keyword(parser, 0) == KW_DIV && parser_starts_expr(parser, 1))
        return min <= division.level ? &division : NULL;
    enum token_kind kind = parser_kind(parser, 0);
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
        if (binaries[i].kind == kind)
            return min <= binaries[i].level ? &binaries[i] : NULL;
    }
    return NULL;
}

/* `|` before a pipe step, not the operator. */
static bool bar_is_pipe(const struct parser *parser)
{
    if (parser_kind(parser, 0) != TOKEN_BAR)
        return false;
    switch (parser_keyword(parser, 1)) {
    case KW_SELECT:
    case KW_EXTEND:
    case KW_SET:
    case KW_DROP:
    case KW_AGGREGATE:
    case KW_WHERE:
        return parser_starts_expr(parser, 2) && parser_kind(parser, 2) != TOKEN_LEFT_PAREN &&
               parser_kind(parser, 2) != TOKEN_PLUS && parser_kind(parser, 2) != TOKEN_MINUS;
    default:
        return false;
    }
}

static enum status unary(struct parser *parser, struct ast_expr **out);

static enum status operators(struct parser *parser, enum level min, struct ast_expr **out)
{
    int position = parser_position(parser);
    TRY(unary(parser, out));
    for (;;) {
        const struct binary *binary = binary_ahead(parser, min);
        if (binary == NULL || bar_is_pipe(parser))
            return OK;
        parser_skip(parser, 1);
        struct ast_expr *right;
        TRY(operators(parser, binary->level + 1, &right));
        TRY(finish_binary(parser, binary->op, position, out, right));
    }
}

static enum ast_operator unary_operator(enum token_kind kind)
{
    switch (kind) {
    case TOKEN_MINUS:
        return AST_OP_NEGATE;
    case TOKEN_PLUS:
        return AST_OP_PLUS;
    case TOKEN_TILDE:
        return AST_OP_BIT_NOT;
    default:
        return AST_OP_NONE;
    }
}

static bool number_ahead(const struct parser *parser, size_t ahead)
{
    enum token_kind kind = parser_kind(parser, ahead);
    return kind >= TOKEN_INTEGER && kind <= TOKEN_BIGDECIMAL;
}

static enum status unary(struct parser *parser, struct ast_expr **out)
{
    enum ast_operator op = unary_operator(parser_kind(parser, 0));
    if (op == AST_OP_NONE || (op == AST_OP_NEGATE && number_ahead(parser, 1)))
        return parser_primary(parser, out);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_UNARY, parser_position(parser));
    expr->op = op;
    parser_skip(parser, 1);
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = unary(parser, &expr->operands.left);
    parser_leave(parser, saved);
    TRY(status);
    return parser_finish(parser, expr, out);
}

enum status parser_value(struct parser *parser, struct ast_expr **out)
{
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = operators(parser, LEVEL_COMPARISON, out);
    parser_leave(parser, saved);
    return status;
}

/* ---- predicates ---- */

static enum status between(struct parser *parser, struct ast_expr *expr)
{
    TRY(parser_value(parser, &expr->between.low));
    TRY(parser_want_keyword(parser, KW_AND, AFTER_EXPR));
    return parser_value(parser, &expr->between.high);
}

/* Whether the parenthesis at `start` is closed right before the one that was just read. */
static bool is_list_of_one(const struct parser *parser, size_t start)
{
    size_t open = 0, i = start;
    for (; i < parser->index; i++) {
        open += parser->tokens.items[i].kind == TOKEN_LEFT_PAREN ? 1 : 0;
        open -= parser->tokens.items[i].kind == TOKEN_RIGHT_PAREN ? 1 : 0;
        if (open == 0)
            break;
    }
    return i + 2 == parser->index;
}

static enum status in_list(struct parser *parser, struct ast_expr *expr)
{
    int position = parser_position(parser);
    parser_skip(parser, 1);
    if (parser_take(parser, TOKEN_RIGHT_PAREN))
        return error_raise_at(parser->err, STATUS_INVALID_SQL_SYNTAX__EMPTY_IN_PREDICATE, position,
                              parser_position_end(parser), NULL);
    size_t start = parser->index;
    bool nested = parser_kind(parser, 0) == TOKEN_LEFT_PAREN;
    if (parser_starts_query(parser, 0)) {
        enum status status = parser_query_rule(parser, &expr->in.query);
        if (status == OK)
            status = parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END);
        if (status == OK && nested && is_list_of_one(parser, start)) {
            /* IN ((SELECT ...)) is a list of one value: it is read again */
        } else if (status == OK || !nested) {
            return status;
        }
        if (!parser_retry(parser, start))
            return status;
        expr->in.query = NULL;
    }
    TRY(parser_expr_seq(parser, &expr->in.list));
    return parser_close_list(parser, expr->in.list.count > 1);
}

static enum status like_escape(struct parser *parser, struct ast_expr *expr)
{
    if (parser_keyword(parser, 0) != KW_ESCAPE || parser_kind(parser, 1) != TOKEN_STRING)
        return OK;
    parser_skip(parser, 1);
    int position = parser_position(parser);
    TRY(parser_string(parser, &expr->like.escape));
    expr->like.has_escape = true;
    if (utf8_length(expr->like.escape) == 1)
        return OK;
    const char *shown = arena_sprintf(parser->arena, "'%.*s'", (int)expr->like.escape.size_bytes,
                                      (const char *)expr->like.escape.data);
    return error_raise_at(parser->err, STATUS_INVALID_ESC, position, parser_position_end(parser),
                          "invalidEscape", shown, NULL);
}

static enum status like(struct parser *parser, struct ast_expr *expr)
{
    enum keyword word = parser_keyword(parser, 0);
    bool quantified = word == KW_ANY || word == KW_SOME || word == KW_ALL;
    if (!quantified || parser_kind(parser, 1) != TOKEN_LEFT_PAREN || expr->like.kind == AST_RLIKE) {
        TRY(parser_value(parser, &expr->like.pattern));
        return expr->like.kind == AST_RLIKE ? OK : like_escape(parser, expr);
    }
    int position = parser_position(parser);
    parser_skip(parser, 2);
    expr->like.quantifier = word == KW_ALL ? AST_LIKE_ALL : AST_LIKE_ANY;
    if (parser_take(parser, TOKEN_RIGHT_PAREN))
        return error_raise_at(parser->err, STATUS_INVALID_SQL_SYNTAX__EMPTY_QUANTIFIED_PATTERN,
                              position, parser_position_end(parser), NULL);
    TRY(parser_expr_seq(parser, &expr->like.patterns));
    return parser_close_list(parser, expr->like.patterns.count > 1);
}

static enum status is_test(struct parser *parser, struct ast_expr *expr)
{
    expr->negated = parser_take_keyword(parser, KW_NOT) || parser_take(parser, TOKEN_BANG);
    switch (parser_keyword(parser, 0)) {
    case KW_NULL:
        expr->is.test = AST_IS_NULL;
        break;
    case KW_TRUE:
        expr->is.test = AST_IS_TRUE;
        break;
    case KW_FALSE:
        expr->is.test = AST_IS_FALSE;
        break;
    case KW_UNKNOWN:
        expr->is.test = AST_IS_UNKNOWN;
        break;
    case KW_DISTINCT:
        expr->is.test = AST_IS_DISTINCT_FROM;
        break;
    default:
        return parser_unexpected(parser);
    }
    parser_skip(parser, 1);
    if (expr->is.test != AST_IS_DISTINCT_FROM)
        return OK;
    TRY(parser_want_keyword(parser, KW_FROM, AFTER_EXPR));
    return parser_value(parser, &expr->is.other);
}

/* The kind of predicate whose keyword is `ahead`, 0 if none is or it can only be an alias. */
static enum ast_expr_kind predicate_kind(const struct parser *parser, size_t ahead)
{
    size_t next = ahead + 1;
    switch (parser_keyword(parser, ahead)) {
    case KW_BETWEEN:
        return parser_starts_expr(parser, next) ? AST_EXPR_BETWEEN : 0;
    case KW_IN:
        return parser_kind(parser, next) == TOKEN_LEFT_PAREN ? AST_EXPR_IN : 0;
    case KW_LIKE:
    case KW_ILIKE:
    case KW_RLIKE:
    case KW_REGEXP:
        return parser_starts_expr(parser, next) ||
                       (next > 1 && parser_kind(parser, next) == TOKEN_END)
                   ? AST_EXPR_LIKE
                   : 0;
    case KW_IS:
        switch (parser_keyword(parser, next)) {
        case KW_NOT:
        case KW_NULL:
        case KW_TRUE:
        case KW_FALSE:
        case KW_UNKNOWN:
        case KW_DISTINCT:
            return AST_EXPR_IS;
        default:
            return parser_kind(parser, next) == TOKEN_BANG ? AST_EXPR_IS : 0;
        }
    default:
        return 0;
    }
}

static enum status predicate_body(struct parser *parser, struct ast_expr *value,
                                  struct ast_expr *expr)
{
    enum keyword word = parser_keyword(parser, 0);
    parser_skip(parser, 1);
    switch (expr->kind) {
    case AST_EXPR_BETWEEN:
        expr->between.value = value;
        return between(parser, expr);
    case AST_EXPR_IN:
        expr->in.value = value;
        return in_list(parser, expr);
    case AST_EXPR_IS:
        expr->is.value = value;
        return is_test(parser, expr);
    default:
        expr->like.value = value;
        expr->like.kind = word == KW_LIKE ? AST_LIKE : word == KW_ILIKE ? AST_ILIKE : AST_RLIKE;
        return like(parser, expr);
    }
}

/* A value with at most one predicate. */
static enum status predicated(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    TRY(operators(parser, LEVEL_COMPARISON, out));
    size_t start = parser->index;
    bool negated = parser_keyword(parser, 0) == KW_NOT || parser_kind(parser, 0) == TOKEN_BANG;
    enum ast_expr_kind kind = predicate_kind(parser, negated ? 1 : 0);
    if (kind == 0 || (negated && kind == AST_EXPR_IS))
        return OK;
    parser_skip(parser, negated ? 1 : 0);
    struct ast_expr *expr = parser_node(parser, kind, position);
    expr->negated = negated;
    bool clause_next = parser_keyword(parser, 1) == KW_FROM;
    enum status status = predicate_body(parser, *out, expr);
    if (status != OK) /* SELECT a between FROM t: an alias after all */
        return clause_next && !negated && parser_retry(parser, start) ? OK : status;
    TRY(parser_higher(parser));
    return parser_finish(parser, expr, out);
}

/* ---- NOT, AND, OR ---- */

static enum status negation(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    bool bang = parser_kind(parser, 0) == TOKEN_BANG;
    if (bang || (parser_keyword(parser, 0) == KW_NOT && parser_starts_expr(parser, 1))) {
        struct ast_expr *expr = parser_node(parser, AST_EXPR_UNARY, position);
        expr->op = AST_OP_NOT;
        parser_skip(parser, 1);
        int saved;
        enum status status = parser_enter(parser, &saved);
        if (status == OK)
            status = negation(parser, &expr->operands.left);
        parser_leave(parser, saved);
        TRY(status);
        return parser_finish(parser, expr, out);
    }
    if (parser_keyword(parser, 0) == KW_EXISTS && parser_kind(parser, 1) == TOKEN_LEFT_PAREN &&
        parser_starts_query(parser, 2)) {
        struct ast_expr *expr = parser_node(parser, AST_EXPR_EXISTS, position);
        size_t open = parser->index + 1;
        parser_skip(parser, 2);
        enum status status = parser_query_rule(parser, &expr->query);
        bool wrong = status == STATUS_PARSE_SYNTAX_ERROR;
        if (status != OK && (!wrong || !parser_retry(parser, open)))
            return status;
        if (wrong || parser_kind(parser, 0) != TOKEN_RIGHT_PAREN) {
            parser->index = open; /* EXISTS is taken for a column */
            return parser_unexpected(parser);
        }
        parser_skip(parser, 1);
        return parser_finish(parser, expr, out);
    }
    return predicated(parser, out);
}

static enum status conjunction(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    TRY(negation(parser, out));
    while (parser_keyword(parser, 0) == KW_AND && parser_starts_expr(parser, 1)) {
        parser_skip(parser, 1);
        struct ast_expr *right;
        TRY(negation(parser, &right));
        TRY(finish_binary(parser, AST_OP_AND, position, out, right));
    }
    return OK;
}

static enum status disjunction(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    TRY(conjunction(parser, out));
    while (parser_keyword(parser, 0) == KW_OR && parser_starts_expr(parser, 1)) {
        parser_skip(parser, 1);
        struct ast_expr *right;
        TRY(conjunction(parser, &right));
        TRY(finish_binary(parser, AST_OP_OR, position, out, right));
    }
    return OK;
}

enum status parser_expression(struct parser *parser, struct ast_expr **out)
{
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = disjunction(parser, out);
    parser_leave(parser, saved);
    return status;
}

/* ---- lists ---- */

enum status parser_expr_seq(struct parser *parser, struct ast_expr_list *out)
{
    struct parser_list list = {0};
    do {
        struct ast_expr *expr;
        TRY(parser_expression(parser, &expr));
        *(struct ast_expr **)parser_push(parser, &list, sizeof(expr)) = expr;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_expr_list){list.items, list.count};
    return OK;
}

enum status parser_condition(struct parser *parser, struct ast_expr **out)
{
    enum parser_place_of_value place = parser->place;
    parser->place = PLACE_CONDITION;
    TRY(parser_expression(parser, out));
    parser->place = place;
    return OK;
}

enum status parser_item(struct parser *parser, struct ast_item *out)
{
    *out = (struct ast_item){.position = parser_position(parser)};
    enum parser_place_of_value place = parser->place;
    parser->place = PLACE_ITEM;
    TRY(parser_expression(parser, &out->expr));
    parser->place = place;
    bool as = parser_keyword(parser, 0) == KW_AS;
    enum token_kind next = parser_kind(parser, 1);
    if (as && next >= TOKEN_STRING && next <= TOKEN_BIGDECIMAL) {
        parser_skip(parser, 1);
        return parser_unexpected(parser);
    }
    bool names = parser_kind(parser, 0) == TOKEN_LEFT_PAREN && parser_starts_name(parser, 1);
    if (names || (as && next == TOKEN_LEFT_PAREN)) {
        parser_skip(parser, as ? 1 : 0);
        TRY(parser_names(parser, &out->aliases));
    } else if (parser_starts_name(parser, 0) && !parser_starts_clause(parser)) {
        /* SELECT a AS FROM t: the alias is AS, unless FROM follows once more */
        bool word = parser_keyword(parser, 1) == KW_FROM && parser_starts_name(parser, 2) &&
                    parser_keyword(parser, 2) != KW_FROM;
        if (as && parser_starts_name(parser, 1) && !word)
            parser_skip(parser, 1);
        struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
        TRY(parser_name(parser, name));
        out->aliases = (struct ast_name_list){name, 1};
    }
    out->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_item_seq(struct parser *parser, struct ast_item_list *out)
{
    struct parser_list list = {0};
    do {
        struct ast_item item;
        TRY(parser_item(parser, &item));
        *(struct ast_item *)parser_push(parser, &list, sizeof(item)) = item;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_item_list){list.items, list.count};
    return OK;
}

static enum status sort_item(struct parser *parser, struct ast_sort_item *out)
{
    *out = (struct ast_sort_item){.position = parser_position(parser)};
    TRY(parser_expression(parser, &out->expr));
    if (parser_take_keyword(parser, KW_ASC))
        out->order = AST_ORDER_ASC;
    else if (parser_take_keyword(parser, KW_DESC))
        out->order = AST_ORDER_DESC;
    if (parser_take_keyword(parser, KW_NULLS)) {
        if (parser_take_keyword(parser, KW_FIRST))
            out->nulls = AST_NULLS_FIRST;
        else if (parser_take_keyword(parser, KW_LAST))
            out->nulls = AST_NULLS_LAST;
        else
            return parser_unexpected(parser);
    }
    out->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_sort_seq(struct parser *parser, struct ast_sort_list *out)
{
    struct parser_list list = {0};
    do {
        struct ast_sort_item item;
        TRY(sort_item(parser, &item));
        *(struct ast_sort_item *)parser_push(parser, &list, sizeof(item)) = item;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_sort_list){list.items, list.count};
    return OK;
}
