/* Names, paths and aliases: which word may be what. */
#include "base/check.h"
#include "sql/parse.h"

bool parser_starts_name(const struct parser *parser, size_t ahead)
{
    enum token_kind kind = parser_kind(parser, ahead);
    return kind == TOKEN_WORD || kind == TOKEN_QUOTED;
}

bool parser_starts_expr(const struct parser *parser, size_t ahead)
{
    switch (parser_kind(parser, ahead)) {
    case TOKEN_WORD:
    case TOKEN_QUOTED:
    case TOKEN_STRING:
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_EXPONENT:
    case TOKEN_TINYINT:
    case TOKEN_SMALLINT:
    case TOKEN_BIGINT:
    case TOKEN_FLOAT:
    case TOKEN_DOUBLE:
    case TOKEN_BIGDECIMAL:
    case TOKEN_LEFT_PAREN:
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_STAR:
    case TOKEN_TILDE:
    case TOKEN_BANG:
    case TOKEN_COLON:
    case TOKEN_QUESTION:
        return true;
    default:
        return false;
    }
}

/* The text behind the quotes of `a``b`. */
static struct bytes unquote(struct parser *parser, struct bytes text)
{
    CHECK(text.size_bytes >= 2);
    uint8_t *out = arena_new_object(parser->arena, text.size_bytes);
    size_t size = 0;
    for (size_t i = 1; i + 1 < text.size_bytes; i++) {
        out[size++] = text.data[i];
        if (text.data[i] == text.data[0])
            i++;
    }
    return bytes_of(out, size);
}

static enum status invalid_identifier(struct parser *parser, int position, int position_end)
{
    struct bytes text = bytes_of(parser->text.data + position, (size_t)(position_end - position));
    return error_raise_at(parser->err, STATUS_INVALID_IDENTIFIER, position, position_end, "ident",
                          arena_strndup(parser->arena, text.data, text.size_bytes), NULL);
}

enum status parser_name_part(struct parser *parser, struct ast_name *out)
{
    const struct token *token = parser_peek(parser, 0);
    if (!parser_starts_name(parser, 0))
        return parser_unexpected(parser);
    struct bytes text = parser_token_text(parser, token);
    *out = (struct ast_name){.position = token->position, .position_end = token->position_end};
    out->quoted = token->kind == TOKEN_QUOTED;
    out->text = out->quoted ? unquote(parser, text) : text;
    for (size_t i = 0; !out->quoted && i < text.size_bytes; i++) {
        if (text.data[i] >= 0x80)
            return invalid_identifier(parser, token->position, token->position_end);
    }
    parser_skip(parser, 1);
    return OK;
}

/* a-b where only a name can stand. */
static enum status refuse_hyphen(struct parser *parser, const struct ast_name *name)
{
    size_t ahead = 0;
    while (parser_kind(parser, ahead) == TOKEN_MINUS && parser_starts_name(parser, ahead + 1))
        ahead += 2;
    if (ahead == 0)
        return OK;
    return invalid_identifier(parser, name->position, parser_peek(parser, ahead - 1)->position_end);
}

enum status parser_name(struct parser *parser, struct ast_name *out)
{
    TRY(parser_name_part(parser, out));
    return refuse_hyphen(parser, out);
}

enum status parser_name_seq(struct parser *parser, struct ast_name_list *out)
{
    struct parser_list list = {0};
    do {
        struct ast_name name;
        TRY(parser_name(parser, &name));
        *(struct ast_name *)parser_push(parser, &list, sizeof(name)) = name;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_name_list){list.items, list.count};
    return OK;
}

enum status parser_names(struct parser *parser, struct ast_name_list *out)
{
    TRY(parser_want(parser, TOKEN_LEFT_PAREN,
                    parser_starts_name(parser, 0) ? AFTER_EXPR : AFTER_NOTHING));
    TRY(parser_name_seq(parser, out));
    return parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_ITEM);
}

/* The parts of a path; the hyphen rule holds where the path is no expression. */
static enum status path_parts(struct parser *parser, bool hyphens, struct ast_path *out)
{
    struct parser_list list = {0};
    out->position = parser_position(parser);
    do {
        struct ast_name name;
        TRY(parser_name_part(parser, &name));
        if (hyphens)
            TRY(refuse_hyphen(parser, &name));
        *(struct ast_name *)parser_push(parser, &list, sizeof(name)) = name;
    } while (parser_take(parser, TOKEN_DOT));
    out->parts = list.items;
    out->count = list.count;
    out->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_path(struct parser *parser, struct ast_path *out)
{
    *out = (struct ast_path){0};
    return path_parts(parser, true, out);
}

/* Reads the text of IDENTIFIER('a.b') as a path; places in it have no meaning outside. */
static enum status split_identifier(struct parser *parser, struct bytes text, struct ast_path *out)
{
    struct parser inner = {.arena = parser->arena, .text = text, .err = parser->err};
    inner.retries_left = 0;
    TRY(lexer_read(parser->arena, text, &inner.tokens, parser->err));
    enum status status = path_parts(&inner, true, out);
    if (status == OK && parser_kind(&inner, 0) != TOKEN_END) {
        bool last = parser_kind(&inner, 1) == TOKEN_END;
        status = last ? parser_extra(&inner) : parser_unexpected(&inner);
    }
    if (status != OK) {
        parser->err->position = out->position;
        parser->err->position_end = out->position_end;
    }
    for (size_t i = 0; status == OK && i < out->count; i++)
        out->parts[i].quoted = true;
    return status;
}

/* IDENTIFIER ( expr ): the present token is IDENTIFIER and `(` follows. */
static enum status identifier_clause(struct parser *parser, struct ast_path *out)
{
    int position = parser_position(parser);
    parser_skip(parser, 2);
    struct ast_expr *expr;
    TRY(parser_expression(parser, &expr));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    int end = parser_position_end(parser);
    *out = (struct ast_path){.position = position, .position_end = end};
    if (expr->kind != AST_EXPR_LITERAL || expr->literal.kind != AST_LITERAL_STRING) {
        out->identifier = expr;
        return OK;
    }
    TRY(split_identifier(parser, expr->literal.text, out));
    out->position = position;
    out->position_end = end;
    for (size_t i = 0; i < out->count; i++) {
        out->parts[i].position = position;
        out->parts[i].position_end = end;
    }
    return OK;
}

enum status parser_reference(struct parser *parser, struct ast_path *out)
{
    if (parser_keyword(parser, 0) == KW_IDENTIFIER && parser_kind(parser, 1) == TOKEN_LEFT_PAREN)
        return identifier_clause(parser, out);
    return parser_path(parser, out);
}

bool parser_starts_query(const struct parser *parser, size_t ahead)
{
    while (parser_kind(parser, ahead) == TOKEN_LEFT_PAREN)
        ahead++;
    enum token_kind next = parser_kind(parser, ahead + 1);
    switch (parser_keyword(parser, ahead)) {
    case KW_SELECT:
        return parser_starts_expr(parser, ahead + 1) || next == TOKEN_HINT_START;
    case KW_VALUES:
        return parser_starts_expr(parser, ahead + 1) && next != TOKEN_STAR;
    case KW_FROM:
    case KW_TABLE:
        return next == TOKEN_WORD || next == TOKEN_QUOTED || next == TOKEN_LEFT_PAREN;
    case KW_WITH:
        return next == TOKEN_WORD || next == TOKEN_QUOTED;
    default:
        return false;
    }
}

/* A clause that takes an expression, unless FROM and a relation come next. */
static bool expression_clause(const struct parser *parser)
{
    if (!parser_starts_expr(parser, 1))
        return false;
    bool relation = parser_starts_name(parser, 2) || parser_kind(parser, 2) == TOKEN_LEFT_PAREN;
    return parser_keyword(parser, 1) != KW_FROM || !relation;
}

static bool from_clause(const struct parser *parser)
{
    bool relation = parser_starts_name(parser, 1) || parser_kind(parser, 1) == TOKEN_LEFT_PAREN;
    bool relation_next =
        parser_starts_name(parser, 2) || parser_kind(parser, 2) == TOKEN_LEFT_PAREN;
    switch (parser_keyword(parser, 1)) {
    case KW_FROM:
        return !relation_next;
    case KW_UNION:
    case KW_EXCEPT:
    case KW_INTERSECT:
    case KW_MINUS:
        return parser_keyword(parser, 2) != KW_SELECT && parser_keyword(parser, 2) != KW_ALL &&
               parser_keyword(parser, 2) != KW_DISTINCT;
    default:
        return relation;
    }
}

bool parser_starts_clause(const struct parser *parser)
{
    enum keyword next = parser_keyword(parser, 1);
    enum token_kind after = parser_kind(parser, 2);
    switch (parser_keyword(parser, 0)) {
    case KW_FROM:
        return from_clause(parser);
    case KW_WHERE:
    case KW_HAVING:
    case KW_QUALIFY:
    case KW_LIMIT:
    case KW_OFFSET:
        return expression_clause(parser);
    case KW_GROUP:
    case KW_ORDER:
    case KW_CLUSTER:
    case KW_DISTRIBUTE:
    case KW_SORT:
        return next == KW_BY && parser_starts_expr(parser, 2);
    case KW_WINDOW:
        return parser_starts_name(parser, 1) &&
               (parser_keyword(parser, 2) == KW_AS || after == TOKEN_LEFT_PAREN);
    case KW_UNION:
    case KW_EXCEPT:
    case KW_INTERSECT:
    case KW_MINUS:
        return next == KW_ALL || next == KW_DISTINCT || next == KW_BY ||
               (next != KW_FROM && parser_starts_query(parser, 1));
    case KW_SELECT:
        return parser->from_first && parser_starts_expr(parser, 1);
    case KW_LATERAL:
        return next == KW_VIEW;
    case KW_DELAY:
        return next == KW_OF;
    case KW_FOR:
        return parser_kind(parser, 1) == TOKEN_LEFT_PAREN ||
               (parser_starts_name(parser, 1) && (parser_keyword(parser, 2) == KW_IN ||
                                                  after == TOKEN_DOT || after == TOKEN_LEFT_PAREN));
    default:
        return false;
    }
}

/* Words that are never the alias of a relation unless quoted. */
static bool is_strict_word(enum keyword keyword)
{
    switch (keyword) {
    case KW_ANTI:
    case KW_CROSS:
    case KW_EXCEPT:
    case KW_FULL:
    case KW_INNER:
    case KW_INTERSECT:
    case KW_JOIN:
    case KW_LATERAL:
    case KW_LEFT:
    case KW_MINUS:
    case KW_NATURAL:
    case KW_ON:
    case KW_RIGHT:
    case KW_SEMI:
    case KW_UNION:
    case KW_USING:
        return true;
    default:
        return false;
    }
}

/* What may follow a relation instead of its alias, beyond parser_starts_clause. */
static bool starts_relation_clause(const struct parser *parser)
{
    enum keyword next = parser_keyword(parser, 1);
    enum token_kind next_kind = parser_kind(parser, 1);
    switch (parser_keyword(parser, 0)) {
    case KW_SELECT:
        return parser_starts_expr(parser, 1) || next_kind == TOKEN_HINT_START;
    case KW_PIVOT:
    case KW_TABLESAMPLE:
        return next_kind == TOKEN_LEFT_PAREN;
    case KW_UNPIVOT:
        return next_kind == TOKEN_LEFT_PAREN || next == KW_INCLUDE || next == KW_EXCLUDE;
    case KW_NONE:
        return false;
    default:
        return parser_starts_clause(parser);
    }
}

enum status parser_table_alias(struct parser *parser, struct ast_relation *relation)
{
    size_t ahead = parser_keyword(parser, 0) == KW_AS && parser_starts_name(parser, 1) ? 1 : 0;
    bool possible = parser_starts_name(parser, ahead) &&
                    !is_strict_word(parser_keyword(parser, ahead)) &&
                    (ahead == 1 || !starts_relation_clause(parser));
    if (!possible)
        return ahead == 1 ? (parser_skip(parser, 1), parser_unexpected(parser)) : OK;
    parser_skip(parser, ahead);
    TRY(parser_name(parser, &relation->alias));
    size_t list = parser->index;
    if (parser_kind(parser, 0) == TOKEN_LEFT_PAREN && parser_starts_name(parser, 1) &&
        parser_names(parser, &relation->column_aliases) != OK) {
        if (parser->err->status != STATUS_PARSE_SYNTAX_ERROR)
            return parser->err->status;
        if (relation->kind != AST_RELATION_VALUES)
            parser->index = list; /* looked over as a whole, and not entered */
        error_clear(parser->err);
        return parser_unexpected(parser);
    }
    relation->position_end = parser_position_end(parser);
    return OK;
}
