/*
 * Operands: names, parentheses, stars, parameters, and what follows them: .field [index] ::type
 * :path COLLATE.
 */
#include "base/check.h"
#include "sql/parse.h"

static enum status paths_in_parens(struct parser *parser, struct ast_path_list *out)
{
    struct parser_list list = {0};
    parser_skip(parser, 1);
    do {
        struct ast_path path;
        TRY(parser_path(parser, &path));
        *(struct ast_path *)parser_push(parser, &list, sizeof(path)) = path;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_path_list){list.items, list.count};
    return parser_close_list(parser, out->count > 1);
}

/* The star itself is read; EXCEPT (a, b) may follow, unless it is a set operation. */
static enum status star(struct parser *parser, struct ast_path qualifier, int position,
                        struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_STAR, position);
    expr->star.qualifier = qualifier;
    if (parser_keyword(parser, 0) == KW_EXCEPT && parser_kind(parser, 1) == TOKEN_LEFT_PAREN &&
        !parser_starts_query(parser, 2)) {
        parser_skip(parser, 1);
        expr->star.has_except = true;
        TRY(paths_in_parens(parser, &expr->star.except));
    }
    return parser_finish(parser, expr, out);
}

static enum status parameter(struct parser *parser, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_PARAMETER, parser_position(parser));
    bool named = parser_kind(parser, 0) == TOKEN_COLON;
    parser_skip(parser, 1);
    if (named)
        TRY(parser_name(parser, &expr->parameter.name));
    else
        expr->parameter.ordinal = parser->question_marks++;
    return parser_finish(parser, expr, out);
}

/* The number of tokens of `(x, y) ->`, or 0 if the parenthesis begins something else. */
static size_t lambda_head(const struct parser *parser)
{
    size_t ahead = 1;
    for (;;) {
        if (!parser_starts_name(parser, ahead))
            return 0;
        if (parser_kind(parser, ahead + 1) == TOKEN_RIGHT_PAREN)
            break;
        if (parser_kind(parser, ahead + 1) != TOKEN_COMMA)
            return 0;
        ahead += 2;
    }
    return parser_kind(parser, ahead + 2) == TOKEN_ARROW ? ahead + 3 : 0;
}

static enum status lambda(struct parser *parser, bool parens, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_LAMBDA, parser_position(parser));
    if (parens) {
        TRY(parser_names(parser, &expr->lambda.params));
    } else {
        struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
        TRY(parser_name(parser, name));
        expr->lambda.params = (struct ast_name_list){name, 1};
    }
    CHECK(parser_kind(parser, 0) == TOKEN_ARROW);
    parser_skip(parser, 1);
    TRY(parser_expression(parser, &expr->lambda.body));
    return parser_finish(parser, expr, out);
}

static enum status subquery(struct parser *parser, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_SUBQUERY, parser_position(parser));
    parser_skip(parser, 1);
    TRY(parser_query_rule(parser, &expr->query));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_ITEM));
    return parser_finish(parser, expr, out);
}

/* (query), (a, b), (a AS x, b), (a). */
static enum status parenthesized(struct parser *parser, struct ast_expr **out)
{
    size_t start = parser->index;
    if (lambda_head(parser) > 0)
        return lambda(parser, true, out);
    if (parser_starts_query(parser, 1)) {
        bool nested = parser_kind(parser, 1) == TOKEN_LEFT_PAREN;
        enum status status = subquery(parser, out);
        if (status == OK || !nested || !parser_retry(parser, start))
            return status;
    }
    struct ast_expr *row = parser_node(parser, AST_EXPR_ROW, parser_position(parser));
    parser_skip(parser, 1);
    TRY(parser_item_seq(parser, &row->members));
    struct ast_item *first = &row->members.items[0];
    if (row->members.count > 1) {
        TRY(parser_close_list(parser, true));
        return parser_finish(parser, row, out);
    }
    if (first->aliases.count > 0 && parser_kind(parser, 0) == TOKEN_RIGHT_PAREN) {
        parser->index = start; /* one name in parentheses: point at it, as Spark does */
        while (parser_position(parser) < first->expr->position_end)
            parser_skip(parser, 1);
        return parser_unexpected(parser);
    }
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_NOTHING));
    *out = first->expr;
    return OK;
}

static enum status parenthesis(struct parser *parser, struct ast_expr **out)
{
    enum parser_place_of_value place = parser->place;
    parser->place = PLACE_OTHER;
    TRY(parenthesized(parser, out));
    parser->place = place;
    return OK;
}

/* A column, t.*, a call, a lambda. */
static enum status named(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    if (parser_kind(parser, 1) == TOKEN_ARROW)
        return lambda(parser, false, out);
    struct ast_path path = {.position = position};
    bool clause =
        parser_keyword(parser, 0) == KW_IDENTIFIER && parser_kind(parser, 1) == TOKEN_LEFT_PAREN;
    if (clause) {
        TRY(parser_reference(parser, &path));
    } else {
        struct parser_list list = {0};
        for (;;) {
            struct ast_name name;
            TRY(parser_name_part(parser, &name));
            *(struct ast_name *)parser_push(parser, &list, sizeof(name)) = name;
            if (parser_kind(parser, 0) != TOKEN_DOT || parser_kind(parser, 1) == TOKEN_STAR)
                break;
            parser_skip(parser, 1);
        }
        path.parts = list.items;
        path.count = list.count;
        path.position_end = parser_position_end(parser);
    }
    if (parser_kind(parser, 0) == TOKEN_DOT && parser_kind(parser, 1) == TOKEN_STAR) {
        parser_skip(parser, 2);
        return star(parser, path, position, out);
    }
    enum keyword word = parser->tokens.items[parser->index - 1].keyword;
    bool quantified = (word == KW_ANY || word == KW_SOME || word == KW_ALL) &&
                      parser_starts_query(parser, 1); /* = ANY (query) does not exist */
    if (parser_kind(parser, 0) == TOKEN_LEFT_PAREN && !quantified)
        return parser_call(parser, path, out);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_COLUMN, position);
    expr->column = path;
    return parser_finish(parser, expr, out);
}

static enum status operand(struct parser *parser, struct ast_expr **out)
{
    *out = NULL;
    TRY(parser_literal(parser, out));
    if (*out != NULL)
        return OK;
    int position = parser_position(parser);
    switch (parser_kind(parser, 0)) {
    case TOKEN_LEFT_PAREN:
        return parenthesis(parser, out);
    case TOKEN_STAR:
        parser_skip(parser, 1);
        return star(parser, (struct ast_path){0}, position, out);
    case TOKEN_COLON:
    case TOKEN_QUESTION:
        return parameter(parser, out);
    case TOKEN_WORD:
        TRY(parser_special(parser, out));
        return *out != NULL ? OK : named(parser, out);
    case TOKEN_QUOTED:
        return named(parser, out);
    default:
        return parser_unexpected(parser);
    }
}

/* ---- what follows an operand ---- */

/* base.name: more parts of a plain name are one longer name, also behind parentheses. */
static enum status field(struct parser *parser, int position, struct ast_expr **base)
{
    parser_skip(parser, 1);
    struct ast_name name;
    TRY(parser_name_part(parser, &name));
    struct ast_expr *expr;
    if ((*base)->kind == AST_EXPR_COLUMN && (*base)->column.identifier == NULL) {
        expr = parser_node(parser, AST_EXPR_COLUMN, position);
        size_t count = (*base)->column.count;
        expr->column = (*base)->column;
        expr->column.parts = arena_new_object(parser->arena, (count + 1) * sizeof(name));
        memcpy(expr->column.parts, (*base)->column.parts, count * sizeof(name));
        expr->column.parts[count] = name;
        expr->column.count = count + 1;
        expr->column.position = position;
        expr->column.position_end = name.position_end;
    } else {
        expr = parser_node(parser, AST_EXPR_FIELD, position);
        expr->field.base = *base;
        expr->field.name = name;
    }
    return parser_finish(parser, expr, base);
}

static enum status subscript(struct parser *parser, int position, struct ast_expr **base)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_SUBSCRIPT, position);
    expr->subscript.base = *base;
    parser_skip(parser, 1);
    TRY(parser_value(parser, &expr->subscript.index));
    TRY(parser_want(parser, TOKEN_RIGHT_BRACKET, AFTER_ITEM));
    return parser_finish(parser, expr, base);
}

static enum status colons(struct parser *parser, int position, struct ast_expr **base)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CAST, position);
    expr->cast.form = AST_CAST_COLONS;
    expr->cast.operand = *base;
    parser_skip(parser, 1);
    TRY(parser_data_type(parser, &expr->cast.type));
    return parser_finish(parser, expr, base);
}

static enum status collate(struct parser *parser, int position, struct ast_expr **base)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_COLLATE, position);
    expr->collate.operand = *base;
    parser_skip(parser, 1);
    TRY(parser_path(parser, &expr->collate.name));
    return parser_finish(parser, expr, base);
}

static void add_key(struct buffer *text, struct bytes key)
{
    buffer_add_text(text, "['");
    for (size_t i = 0; i < key.size_bytes; i++) {
        if (key.data[i] == '\'' || key.data[i] == '\\')
            buffer_add_byte(text, '\\');
        buffer_add_byte(text, key.data[i]);
    }
    buffer_add_text(text, "']");
}

/* One step of a path behind the colon; *more is false if there is none. */
static enum status path_step(struct parser *parser, bool first, struct buffer *text, bool *more)
{
    *more = true;
    if (!first && parser_kind(parser, 0) == TOKEN_DOT) {
        parser_skip(parser, 1);
        first = true;
    } else if (!first && parser_kind(parser, 0) != TOKEN_LEFT_BRACKET) {
        *more = false;
        return OK;
    }
    if (first && parser_kind(parser, 0) != TOKEN_LEFT_BRACKET) {
        bool quoted = parser_kind(parser, 0) == TOKEN_QUOTED;
        struct bytes part = parser_token_text(parser, parser_peek(parser, 0));
        struct ast_name name;
        TRY(parser_name(parser, &name));
        if (quoted) {
            add_key(text, name.text);
            return OK;
        }
        buffer_add_byte(text, '.');
        buffer_add_bytes(text, part);
        return OK;
    }
    parser_skip(parser, 1);
    struct bytes part = parser_token_text(parser, parser_peek(parser, 0));
    if (parser_kind(parser, 0) == TOKEN_STRING) {
        TRY(parser_string(parser, &part));
        add_key(text, part);
    } else if (parser_take(parser, TOKEN_INTEGER) || parser_take(parser, TOKEN_STAR)) {
        buffer_add_byte(text, '[');
        buffer_add_bytes(text, part);
        buffer_add_byte(text, ']');
    } else {
        return parser_unexpected(parser);
    }
    return parser_want(parser, TOKEN_RIGHT_BRACKET, AFTER_NOTHING);
}

static enum status json_path(struct parser *parser, int position, struct ast_expr **base)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_JSON_PATH, position);
    expr->json_path.base = *base;
    parser_skip(parser, 1);
    struct buffer text = {0};
    buffer_add_byte(&text, '$');
    bool more = true;
    enum status status = path_step(parser, true, &text, &more);
    while (status == OK && more)
        status = path_step(parser, false, &text, &more);
    if (status == OK) {
        expr->json_path.path = arena_copy(parser->arena, buffer_bytes(&text));
        status = parser_finish(parser, expr, base);
    }
    buffer_fini(&text);
    return status;
}

static bool path_ahead(const struct parser *parser)
{
    return parser_kind(parser, 0) == TOKEN_COLON &&
           (parser_starts_name(parser, 1) || parser_kind(parser, 1) == TOKEN_LEFT_BRACKET);
}

enum status parser_primary(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    TRY(operand(parser, out));
    for (;;) {
        if (parser_kind(parser, 0) == TOKEN_DOT)
            TRY(field(parser, position, out));
        else if (parser_kind(parser, 0) == TOKEN_LEFT_BRACKET)
            TRY(subscript(parser, position, out));
        else if (parser_kind(parser, 0) == TOKEN_DOUBLE_COLON)
            TRY(colons(parser, position, out));
        else if (parser_keyword(parser, 0) == KW_COLLATE && parser_starts_name(parser, 1))
            TRY(collate(parser, position, out));
        else if (path_ahead(parser))
            TRY(json_path(parser, position, out));
        else
            return OK;
        TRY(parser_higher(parser));
    }
}
