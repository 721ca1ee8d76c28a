/* Function calls, the forms with keywords inside the parentheses, CASE, and windows. */
#include "base/check.h"
#include "sql/parse.h"

#include <strings.h>

/* ---- windows ---- */

/* Whether Spark knows the value while it builds the tree: no names, no calls, and no BETWEEN, which
 * is one there. */
static bool is_value(const struct ast_expr *expr);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser went */
static bool are_values(const struct ast_expr_list *list)
{
    bool values = true;
    for (size_t i = 0; values && i < list->count; i++)
        values = is_value(list->items[i]);
    return values;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser went */
static bool is_value_by_case(const struct ast_expr *expr)
{
    bool value = (expr->cases.operand == NULL || is_value(expr->cases.operand)) &&
                 (expr->cases.otherwise == NULL || is_value(expr->cases.otherwise));
    for (size_t i = 0; value && i < expr->cases.when_count; i++)
        value = is_value(expr->cases.whens[i].condition) && is_value(expr->cases.whens[i].result);
    return value;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser went */
static bool is_value(const struct ast_expr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
    case AST_EXPR_PARAMETER:
        return true;
    case AST_EXPR_UNARY:
        return is_value(expr->operands.left);
    case AST_EXPR_BINARY:
        return is_value(expr->operands.left) && is_value(expr->operands.right);
    case AST_EXPR_CAST:
        return is_value(expr->cast.operand);
    case AST_EXPR_CASE:
        return is_value_by_case(expr);
    case AST_EXPR_IN:
        return expr->in.query == NULL && is_value(expr->in.value) && are_values(&expr->in.list);
    case AST_EXPR_LIKE:
        return is_value(expr->like.value) && are_values(&expr->like.patterns) &&
               (expr->like.pattern == NULL || is_value(expr->like.pattern));
    case AST_EXPR_IS:
        return is_value(expr->is.value) && (expr->is.other == NULL || is_value(expr->is.other));
    default:
        return false;
    }
}

static enum status frame_bound(struct parser *parser, struct ast_bound *out)
{
    *out = (struct ast_bound){.position = parser_position(parser)};
    enum keyword next = parser_keyword(parser, 1);
    if (parser_keyword(parser, 0) == KW_UNBOUNDED &&
        (next == KW_PRECEDING || next == KW_FOLLOWING)) {
        out->kind =
            next == KW_PRECEDING ? AST_BOUND_UNBOUNDED_PRECEDING : AST_BOUND_UNBOUNDED_FOLLOWING;
        parser_skip(parser, 2);
    } else if (parser_keyword(parser, 0) == KW_CURRENT && next == KW_ROW) {
        out->kind = AST_BOUND_CURRENT_ROW;
        parser_skip(parser, 2);
    } else {
        TRY(parser_expression(parser, &out->expr));
        if (parser_take_keyword(parser, KW_PRECEDING))
            out->kind = AST_BOUND_PRECEDING;
        else if (parser_take_keyword(parser, KW_FOLLOWING))
            out->kind = AST_BOUND_FOLLOWING;
        else
            return parser_unexpected(parser);
        if (!is_value(out->expr)) {
            (void)error_raise(parser->err, STATUS_INVALID_SQL_SYNTAX__INVALID_WINDOW_FRAME_BOUND,
                              NULL);
            TRY(parser_later(parser));
        }
    }
    out->position_end = parser_position_end(parser);
    return OK;
}

static enum status frame(struct parser *parser, struct ast_window *window)
{
    window->frame_position = parser_position(parser);
    window->frame = parser_keyword(parser, 0) == KW_ROWS ? AST_FRAME_ROWS : AST_FRAME_RANGE;
    parser_skip(parser, 1);
    if (parser_take_keyword(parser, KW_BETWEEN)) {
        TRY(frame_bound(parser, &window->start));
        TRY(parser_want_keyword(parser, KW_AND, AFTER_EXPR));
        TRY(frame_bound(parser, &window->end));
    } else {
        TRY(frame_bound(parser, &window->start));
    }
    window->frame_position_end = parser_position_end(parser);
    return OK;
}

static bool window_by(const struct parser *parser, enum keyword a, enum keyword b, enum keyword c)
{
    enum keyword word = parser_keyword(parser, 0);
    return word != KW_NONE && (word == a || word == b || word == c) &&
           parser_keyword(parser, 1) == KW_BY;
}

static enum status window_definition(struct parser *parser, struct ast_window *window)
{
    if (window_by(parser, KW_PARTITION, KW_DISTRIBUTE, KW_CLUSTER)) {
        parser_skip(parser, 2);
        TRY(parser_expr_seq(parser, &window->partition_by));
    }
    if (window_by(parser, KW_ORDER, KW_SORT, KW_SORT)) {
        parser_skip(parser, 2);
        TRY(parser_sort_seq(parser, &window->order_by));
    }
    enum keyword word = parser_keyword(parser, 0);
    if (word == KW_ROWS || word == KW_RANGE) {
        TRY(frame(parser, window));
        return parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_VALUE);
    }
    return parser_close_list(parser, window->partition_by.count + window->order_by.count > 2);
}

enum status parser_window(struct parser *parser, struct ast_window **out)
{
    struct ast_window *window = arena_new_object(parser->arena, sizeof(*window));
    window->position = parser_position(parser);
    bool parens = parser_kind(parser, 0) == TOKEN_LEFT_PAREN;
    if (!parens || (parser_starts_name(parser, 1) && parser_kind(parser, 2) == TOKEN_RIGHT_PAREN)) {
        parser_skip(parser, parens ? 1 : 0);
        window->is_reference = true;
        TRY(parser_name(parser, &window->reference));
        if (parens)
            parser_skip(parser, 1);
    } else {
        parser_skip(parser, 1);
        TRY(window_definition(parser, window));
    }
    window->position_end = parser_position_end(parser);
    *out = window;
    return OK;
}

static enum status raise_window(struct parser *parser, enum status status,
                                const struct ast_name *name)
{
    return error_raise_at(parser->err, status, name->position, name->position_end, "windowName",
                          arena_sprintf(parser->arena, "`%.*s`", (int)name->text.size_bytes,
                                        (const char *)name->text.data),
                          NULL);
}

static const struct ast_window *named_window(const struct ast_named_window_list *list,
                                             struct bytes name)
{
    for (size_t i = 0; i < list->count; i++)
        if (bytes_equal(list->items[i].name.text, name))
            return list->items[i].window;
    return NULL;
}

/* Each name once; a reference names a definition, not another reference. */
static enum status check_named_windows(struct parser *parser,
                                       const struct ast_named_window_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct ast_window *window = list->items[i].window;
        CHECK(window != NULL);
        if (named_window(list, list->items[i].name.text) != window)
            return raise_window(parser, STATUS_INVALID_SQL_SYNTAX__REPETITIVE_WINDOW_DEFINITION,
                                &list->items[i].name);
        if (!window->is_reference)
            continue;
        const struct ast_window *target = named_window(list, window->reference.text);
        if (target == NULL)
            return raise_window(parser, STATUS_INVALID_SQL_SYNTAX__UNRESOLVED_WINDOW_REFERENCE,
                                &window->reference);
        if (target->is_reference)
            return raise_window(parser, STATUS_INVALID_SQL_SYNTAX__INVALID_WINDOW_REFERENCE,
                                &window->reference);
    }
    return OK;
}

enum status parser_named_windows(struct parser *parser, struct ast_named_window_list *out)
{
    struct parser_list list = {0};
    do {
        struct ast_named_window window;
        TRY(parser_name(parser, &window.name));
        TRY(parser_want_keyword(parser, KW_AS, AFTER_NOTHING));
        TRY(parser_window(parser, &window.window));
        *(struct ast_named_window *)parser_push(parser, &list, sizeof(window)) = window;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_named_window_list){list.items, list.count};
    return check_named_windows(parser, out);
}

/* OVER begins a window and is no alias. */
static bool over_ahead(const struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_OVER)
        return false;
    if (parser_kind(parser, 1) != TOKEN_LEFT_PAREN)
        return parser_starts_name(parser, 1);
    if (parser_kind(parser, 2) == TOKEN_RIGHT_PAREN)
        return true;
    switch (parser_keyword(parser, 2)) {
    case KW_PARTITION:
    case KW_DISTRIBUTE:
    case KW_CLUSTER:
    case KW_ORDER:
    case KW_SORT:
        return parser_keyword(parser, 3) == KW_BY || parser_kind(parser, 3) == TOKEN_RIGHT_PAREN;
    case KW_ROWS:
    case KW_RANGE:
        return true;
    default:
        return parser_starts_name(parser, 2) && parser_kind(parser, 3) == TOKEN_RIGHT_PAREN;
    }
}

/* ---- arguments and what follows them ---- */

static enum status table_argument(struct parser *parser, struct ast_argument *out)
{
    struct ast_relation *table = arena_new_object(parser->arena, sizeof(*table));
    table->position = parser_position(parser);
    parser_skip(parser, 1);
    bool parens = parser_take(parser, TOKEN_LEFT_PAREN);
    if (parens && parser_starts_query(parser, 0)) {
        table->kind = AST_RELATION_SUBQUERY;
        TRY(parser_query_rule(parser, &table->query));
    } else {
        table->kind = AST_RELATION_TABLE;
        TRY(parser_reference(parser, &table->table.name));
    }
    if (parens)
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_NOTHING));
    table->position_end = parser_position_end(parser);
    out->table = table;
    return OK;
}

static bool table_argument_ahead(const struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_TABLE)
        return false;
    if (parser_kind(parser, 1) == TOKEN_LEFT_PAREN)
        return parser_starts_query(parser, 2) ||
               (parser_starts_name(parser, 2) && parser_kind(parser, 3) == TOKEN_RIGHT_PAREN);
    return parser_starts_name(parser, 1) &&
           (parser_kind(parser, 2) == TOKEN_COMMA || parser_kind(parser, 2) == TOKEN_RIGHT_PAREN);
}

static enum status argument(struct parser *parser, struct ast_argument *out)
{
    *out = (struct ast_argument){.position = parser_position(parser)};
    if (parser_starts_name(parser, 0) && parser_kind(parser, 1) == TOKEN_FAT_ARROW) {
        TRY(parser_name_part(parser, &out->name));
        parser_skip(parser, 1);
    }
    enum parser_place_of_value place = parser->place;
    parser->place = PLACE_OTHER;
    if (table_argument_ahead(parser))
        TRY(table_argument(parser, out));
    else
        TRY(parser_expression(parser, &out->expr));
    parser->place = place;
    out->position_end = parser_position_end(parser);
    return OK;
}

static enum status more_args(struct parser *parser, struct parser_list *list,
                             struct ast_argument_list *out)
{
    do {
        struct ast_argument arg;
        TRY(argument(parser, &arg));
        *(struct ast_argument *)parser_push(parser, list, sizeof(arg)) = arg;
    } while (parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_argument_list){list->items, list->count};
    return OK;
}

enum status parser_args(struct parser *parser, struct ast_argument_list *out)
{
    struct parser_list list = {0};
    *out = (struct ast_argument_list){0};
    if (parser_take(parser, TOKEN_RIGHT_PAREN))
        return OK;
    TRY(more_args(parser, &list, out));
    return parser_close_list(parser, out->count > 1);
}

/* DISTINCT or ALL as a word of its own, not as a name. */
static enum ast_quantifier quantifier(struct parser *parser)
{
    enum keyword word = parser_keyword(parser, 0);
    bool possible = (word == KW_DISTINCT || word == KW_ALL) && parser_starts_expr(parser, 1);
    if (!possible)
        return AST_QUANTIFIER_NONE;
    parser_skip(parser, 1);
    return word == KW_ALL ? AST_QUANTIFIER_ALL : AST_QUANTIFIER_DISTINCT;
}

static enum status call_suffix(struct parser *parser, struct ast_call *call)
{
    if (parser_keyword(parser, 0) == KW_WITHIN && parser_keyword(parser, 1) == KW_GROUP &&
        parser_kind(parser, 2) == TOKEN_LEFT_PAREN) {
        parser_skip(parser, 3);
        TRY(parser_want_keyword(parser, KW_ORDER, AFTER_NOTHING));
        TRY(parser_want_keyword(parser, KW_BY, AFTER_NOTHING));
        TRY(parser_sort_seq(parser, &call->within_group));
        TRY(parser_close_list(parser, call->within_group.count > 1));
    }
    if (parser_keyword(parser, 0) == KW_FILTER && parser_kind(parser, 1) == TOKEN_LEFT_PAREN &&
        parser_keyword(parser, 2) == KW_WHERE) {
        parser_skip(parser, 3);
        TRY(parser_expression(parser, &call->filter));
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_ITEM));
    }
    enum keyword word = parser_keyword(parser, 0);
    if ((word == KW_IGNORE || word == KW_RESPECT) && parser_keyword(parser, 1) == KW_NULLS) {
        call->nulls = word == KW_IGNORE ? AST_NULLS_IGNORE : AST_NULLS_RESPECT;
        parser_skip(parser, 2);
    }
    if (over_ahead(parser)) {
        parser_skip(parser, 1);
        TRY(parser_window(parser, &call->over));
    }
    return OK;
}

static bool takes_nulls_inside(const struct ast_path *name, enum keyword word)
{
    return name->count == 1 && !name->parts[0].quoted &&
           (word == KW_FIRST || word == KW_LAST || word == KW_ANY_VALUE);
}

/* TIMESTAMPADD('DAY', ..): the unit is a word, not a text. */
static enum status refuse_quoted_unit(struct parser *parser, const struct ast_call *call,
                                      enum keyword word)
{
    const struct ast_expr *unit = call->args.count == 3 ? call->args.items[0].expr : NULL;
    bool takes_unit = word == KW_TIMESTAMPADD || word == KW_DATEADD || word == KW_DATE_ADD ||
                      word == KW_TIMESTAMPDIFF || word == KW_DATEDIFF || word == KW_DATE_DIFF;
    if (!takes_unit || unit == NULL || unit->kind != AST_EXPR_LITERAL ||
        unit->literal.kind != AST_LITERAL_STRING || call->name.count != 1)
        return OK;
    struct bytes name = call->name.parts[0].text;
    return error_raise_at(
        parser->err, STATUS_INVALID_PARAMETER_VALUE__DATETIME_UNIT, unit->position,
        unit->position_end, "functionName",
        arena_sprintf(parser->arena, "`%.*s`", (int)name.size_bytes, (const char *)name.data),
        "parameter", "`unit`", "invalidValue",
        arena_sprintf(parser->arena, "'%.*s'", (int)unit->literal.text.size_bytes,
                      (const char *)unit->literal.text.data),
        NULL);
}

/* count( FROM t: no name. */
static bool is_from(const struct ast_name *name)
{
    return !name->quoted && name->text.size_bytes == 4 &&
           strncasecmp((const char *)name->text.data, "from", 4) == 0;
}

/* f(a, b with nothing else in it: names. */
static bool only_names(const struct parser *parser, const struct ast_call *call)
{
    size_t tokens = 2 * call->args.count;
    if (parser->tokens.items[parser->index - tokens].kind != TOKEN_LEFT_PAREN)
        return false;
    for (size_t i = 0; i < call->args.count; i++) {
        const struct ast_argument *arg = &call->args.items[i];
        if (arg->name.text.data != NULL || arg->expr == NULL ||
            arg->expr->kind != AST_EXPR_COLUMN || arg->expr->column.count != 1 ||
            is_from(&arg->expr->column.parts[0]))
            return false;
    }
    return call->args.count > 0 && call->quantifier == AST_QUANTIFIER_NONE;
}

/*
 * The `)` of a call.  Where it is missing behind names alone, Spark takes f for a column and (a, b
 * for its aliases; in a condition, where there are none, it stops at the parenthesis.
 */
static enum status close_call(struct parser *parser, const struct ast_call *call)
{
    size_t count = call->args.count;
    if (parser_kind(parser, 0) == TOKEN_RIGHT_PAREN || parser->place == PLACE_OTHER ||
        !only_names(parser, call)) {
        bool lambda = count > 0 && call->args.items[count - 1].expr != NULL &&
                      call->args.items[count - 1].expr->kind == AST_EXPR_LAMBDA;
        return parser_close_list(parser, count > 1 && !lambda);
    }
    bool ends = parser_kind(parser, 0) == TOKEN_END || parser_starts_clause(parser);
    if (parser->place == PLACE_ITEM)
        return parser_want(parser, TOKEN_RIGHT_PAREN, ends ? AFTER_ITEM : AFTER_NOTHING);
    parser->index -= 2 * count;
    return parser_unexpected(parser);
}

/* The rest of a call whose first argument may be read already. */
static enum status call_rest(struct parser *parser, struct ast_path name, enum keyword word,
                             struct ast_expr *first, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CALL, name.position);
    struct ast_call *call = &expr->call;
    call->name = name;
    struct parser_list list = {0};
    if (first != NULL) {
        struct ast_argument arg = {.position = first->position,
                                   .position_end = first->position_end};
        arg.expr = first;
        *(struct ast_argument *)parser_push(parser, &list, sizeof(arg)) = arg;
        call->args = (struct ast_argument_list){list.items, list.count};
    } else if (parser_kind(parser, 0) != TOKEN_RIGHT_PAREN) {
        call->quantifier = quantifier(parser);
    }
    if (first != NULL ? parser_take(parser, TOKEN_COMMA)
                      : parser_kind(parser, 0) != TOKEN_RIGHT_PAREN)
        TRY(more_args(parser, &list, &call->args));
    if (takes_nulls_inside(&name, word) && call->args.count == 1 &&
        parser_keyword(parser, 0) == KW_IGNORE && parser_keyword(parser, 1) == KW_NULLS) {
        parser_skip(parser, 2);
        call->nulls = AST_NULLS_IGNORE;
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_NOTHING));
        return parser_finish(parser, expr, out);
    }
    TRY(close_call(parser, call));
    TRY(refuse_quoted_unit(parser, call, word));
    TRY(call_suffix(parser, call));
    return parser_finish(parser, expr, out);
}

enum status parser_call(struct parser *parser, struct ast_path name, struct ast_expr **out)
{
    CHECK(parser_kind(parser, 0) == TOKEN_LEFT_PAREN && parser->index > 0);
    enum keyword word = parser->tokens.items[parser->index - 1].keyword;
    parser_skip(parser, 1);
    return call_rest(parser, name, word, NULL, out);
}

/* ---- forms with keywords between the arguments ---- */

static struct ast_path word_path(struct parser *parser)
{
    const struct token *token = parser_peek(parser, 0);
    struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
    name->position = token->position;
    name->position_end = token->position_end;
    name->text = parser_token_text(parser, token);
    return (struct ast_path){.position = token->position,
                             .position_end = token->position_end,
                             .parts = name,
                             .count = 1};
}

static void add_arg(struct parser *parser, struct parser_list *list, struct ast_expr *expr)
{
    struct ast_argument *arg = parser_push(parser, list, sizeof(*arg));
    arg->position = expr->position;
    arg->position_end = expr->position_end;
    arg->expr = expr;
}

static const struct keyword_form {
    enum keyword word;
    enum ast_call_syntax syntax;
    enum keyword separators[3];
    int required; /* of the separators */
} keyword_forms[] = {
    {KW_SUBSTR, AST_SYNTAX_SUBSTRING, {KW_FROM, KW_FOR, KW_NONE}, 1},
    {KW_SUBSTRING, AST_SYNTAX_SUBSTRING, {KW_FROM, KW_FOR, KW_NONE}, 1},
    {KW_POSITION, AST_SYNTAX_POSITION, {KW_IN, KW_NONE, KW_NONE}, 1},
    {KW_OVERLAY, AST_SYNTAX_OVERLAY, {KW_PLACING, KW_FROM, KW_FOR}, 2},
};

static enum status finish_trim(struct parser *parser, struct ast_expr *expr, struct ast_expr **out)
{
    TRY(parser_want_keyword(parser, KW_FROM, AFTER_NOTHING));
    TRY(parser_value(parser, &expr->trim.source));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_VALUE));
    return parser_finish(parser, expr, out);
}

/* The rest of a form whose first argument and first separator are ahead. */
static enum status finish_form(struct parser *parser, const struct keyword_form *form,
                               struct ast_path name, struct ast_expr *first, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CALL, name.position);
    struct parser_list list = {0};
    expr->call.name = name;
    expr->call.syntax = form->syntax;
    add_arg(parser, &list, first);
    for (int i = 0; i < 3 && form->separators[i] != KW_NONE; i++) {
        if (i >= form->required && parser_keyword(parser, 0) != form->separators[i])
            break;
        TRY(parser_want_keyword(parser, form->separators[i], AFTER_EXPR));
        struct ast_expr *arg;
        TRY(parser_value(parser, &arg));
        add_arg(parser, &list, arg);
    }
    expr->call.args = (struct ast_argument_list){list.items, list.count};
    bool all = form->required == 3 || form->separators[form->required] == KW_NONE;
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, all ? AFTER_VALUE : AFTER_END));
    return parser_finish(parser, expr, out);
}

/* TRIM, SUBSTRING, POSITION, OVERLAY: the first argument decides which form it is. */
static enum status argument_form(struct parser *parser, const struct keyword_form *form,
                                 struct ast_expr **out)
{
    size_t start = parser->index;
    enum keyword word = parser_keyword(parser, 0);
    struct ast_path name = word_path(parser);
    parser_skip(parser, 2);
    struct ast_expr *first;
    enum status status = parser_value(parser, &first);
    enum keyword separator = form == NULL ? KW_FROM : form->separators[0];
    if (status == OK && parser_keyword(parser, 0) == separator) {
        if (form != NULL)
            return finish_form(parser, form, name, first, out);
        struct ast_expr *expr = parser_node(parser, AST_EXPR_TRIM, name.position);
        expr->trim.characters = first;
        return finish_trim(parser, expr, out);
    }
    if (status == OK &&
        (parser_kind(parser, 0) == TOKEN_COMMA || parser_kind(parser, 0) == TOKEN_RIGHT_PAREN))
        return call_rest(parser, name, word, first, out);
    if (!parser_retry(parser, start))
        return status == OK ? parser_unexpected(parser) : status;
    *out = NULL;
    return OK;
}

static enum status trim(struct parser *parser, struct ast_expr **out)
{
    enum keyword side = parser_keyword(parser, 2);
    enum token_kind next = parser_kind(parser, 3);
    bool sided = (side == KW_BOTH || side == KW_LEADING || side == KW_TRAILING) &&
                 parser_starts_expr(parser, 3);
    size_t start = parser->index;
    bool from = side == KW_FROM && parser_starts_expr(parser, 3);
    if (!sided && !from)
        return parser_kind(parser, 2) == TOKEN_RIGHT_PAREN || !parser_starts_expr(parser, 2)
                   ? OK
                   : argument_form(parser, NULL, out);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_TRIM, parser_position(parser));
    expr->trim.side = side == KW_LEADING    ? AST_TRIM_LEADING
                      : side == KW_TRAILING ? AST_TRIM_TRAILING
                                            : AST_TRIM_BOTH;
    parser_skip(parser, sided ? 3 : 2);
    if (parser_keyword(parser, 0) != KW_FROM)
        TRY(parser_value(parser, &expr->trim.characters));
    if (sided && next == TOKEN_LEFT_PAREN && parser_keyword(parser, 0) != KW_FROM &&
        parser_retry(parser, start)) /* trim(both(x)): a function of that name */
        return OK;
    return finish_trim(parser, expr, out);
}

/* The `)` behind a type.  Behind the keyword of a type Spark looks further before it decides, and
 * says then neither what is missing nor what is too much. */
static enum status close_cast(struct parser *parser)
{
    enum token_kind next = parser_kind(parser, 0);
    const struct token *type = &parser->tokens.items[parser->index - 1];
    bool keyword = type->kind == TOKEN_WORD && parser_is_type(parser_token_text(parser, type));
    bool zone = parser_keyword(parser, 0) == KW_WITH;
    if (keyword && !zone && next != TOKEN_RIGHT_PAREN && next != TOKEN_LEFT_PAREN &&
        next != TOKEN_LESS)
        return parser_unexpected(parser);
    return parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_VALUE);
}

static enum status cast(struct parser *parser, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CAST, parser_position(parser));
    enum keyword word = parser_keyword(parser, 0);
    struct ast_path name = word_path(parser);
    expr->cast.form = word == KW_CAST ? AST_CAST : AST_TRY_CAST;
    parser_skip(parser, 2);
    if (parser_kind(parser, 0) == TOKEN_RIGHT_PAREN)
        return call_rest(parser, name, word, NULL, out);
    TRY(parser_expression(parser, &expr->cast.operand));
    bool as = parser_take_keyword(parser, KW_AS);
    bool column = expr->cast.operand->kind == AST_EXPR_COLUMN;
    if (!as && !column && parser_kind(parser, 0) == TOKEN_WORD)
        return parser_unexpected(parser);
    if (!as)
        return call_rest(parser, name, word, expr->cast.operand, out);
    TRY(parser_data_type(parser, &expr->cast.type));
    TRY(close_cast(parser));
    return parser_finish(parser, expr, out);
}

static enum status extract(struct parser *parser, struct ast_expr **out)
{
    if (!parser_starts_name(parser, 2) || parser_keyword(parser, 3) != KW_FROM)
        return OK;
    struct ast_expr *expr = parser_node(parser, AST_EXPR_EXTRACT, parser_position(parser));
    parser_skip(parser, 2);
    TRY(parser_name(parser, &expr->extract.field));
    parser_skip(parser, 1);
    TRY(parser_value(parser, &expr->extract.source));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_VALUE));
    return parser_finish(parser, expr, out);
}

static enum status timestamp_unit(struct parser *parser, enum ast_expr_kind kind,
                                  struct ast_expr **out)
{
    enum ast_unit unit = parser_unit(parser, 2);
    if (unit == AST_UNIT_NONE || parser_kind(parser, 3) != TOKEN_COMMA)
        return OK;
    struct ast_expr *expr = parser_node(parser, kind, parser_position(parser));
    TRY(parser_name_part(parser, &expr->timestamp.function));
    parser_skip(parser, 1);
    TRY(parser_name_part(parser, &expr->timestamp.unit_name));
    expr->timestamp.unit = unit;
    parser_skip(parser, 1);
    TRY(parser_value(parser, &expr->timestamp.first));
    TRY(parser_want(parser, TOKEN_COMMA, AFTER_NOTHING));
    TRY(parser_value(parser, &expr->timestamp.second));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    return parser_finish(parser, expr, out);
}

static enum status structure(struct parser *parser, struct ast_expr **out)
{
    struct ast_expr *expr = parser_node(parser, AST_EXPR_STRUCT, parser_position(parser));
    parser_skip(parser, 2);
    if (!parser_take(parser, TOKEN_RIGHT_PAREN)) {
        TRY(parser_item_seq(parser, &expr->members));
        TRY(parser_close_list(parser, expr->members.count > 1));
    }
    return parser_finish(parser, expr, out);
}

static enum status case_body(struct parser *parser, struct ast_expr *expr)
{
    struct parser_list list = {0};
    if (parser_keyword(parser, 0) != KW_WHEN)
        TRY(parser_expression(parser, &expr->cases.operand));
    do {
        struct ast_when when;
        TRY(parser_want_keyword(parser, KW_WHEN, AFTER_NOTHING));
        TRY(parser_expression(parser, &when.condition));
        expr->cases.otherwise = when.condition; /* has come so far */
        TRY(parser_want_keyword(parser, KW_THEN,
                                expr->cases.operand != NULL ? AFTER_EXPR : AFTER_NOTHING));
        TRY(parser_expression(parser, &when.result));
        *(struct ast_when *)parser_push(parser, &list, sizeof(when)) = when;
        expr->cases.when_count = list.count;
    } while (parser_keyword(parser, 0) == KW_WHEN);
    expr->cases.whens = list.items;
    expr->cases.otherwise = NULL;
    bool otherwise = parser_take_keyword(parser, KW_ELSE);
    if (otherwise)
        TRY(parser_expression(parser, &expr->cases.otherwise));
    if (otherwise && expr->cases.operand != NULL && parser_keyword(parser, 0) != KW_END)
        return parser_want_keyword(parser, KW_END, AFTER_ITEM);
    if (expr->cases.operand != NULL && parser_keyword(parser, 0) != KW_END)
        return parser_extra(parser);
    return parser_want_keyword(parser, KW_END, AFTER_NOTHING);
}

/* CASE is a column when what follows is no CASE expression. */
static enum status case_form(struct parser *parser, struct ast_expr **out)
{
    size_t start = parser->index;
    if (!parser_starts_expr(parser, 1))
        return OK;
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CASE, parser_position(parser));
    parser_skip(parser, 1);
    enum status status = case_body(parser, expr);
    if (status == OK)
        return parser_finish(parser, expr, out);
    bool entered = expr->cases.operand != NULL &&
                   (expr->cases.when_count > 0 || expr->cases.otherwise != NULL);
    if (parser->err->status != STATUS_PARSE_SYNTAX_ERROR || entered || !parser_retry(parser, start))
        return status;
    return OK;
}

static enum status current_path(struct parser *parser, struct ast_expr **out)
{
    if (parser_kind(parser, 1) == TOKEN_LEFT_PAREN || parser_kind(parser, 1) == TOKEN_DOT)
        return OK;
    struct ast_expr *expr = parser_node(parser, AST_EXPR_CALL, parser_position(parser));
    expr->call.name = word_path(parser);
    parser_skip(parser, 1);
    return parser_finish(parser, expr, out);
}

enum status parser_special(struct parser *parser, struct ast_expr **out)
{
    *out = NULL;
    enum keyword word = parser_keyword(parser, 0);
    if (word == KW_CASE)
        return case_form(parser, out);
    if (word == KW_CURRENT_PATH)
        return current_path(parser, out);
    if (parser_kind(parser, 1) != TOKEN_LEFT_PAREN)
        return OK;
    switch (word) {
    case KW_CAST:
    case KW_TRY_CAST:
        return cast(parser, out);
    case KW_EXTRACT:
        return extract(parser, out);
    case KW_TRIM:
        return trim(parser, out);
    case KW_STRUCT:
        return structure(parser, out);
    case KW_TIMESTAMPADD:
    case KW_DATEADD:
    case KW_DATE_ADD:
        return timestamp_unit(parser, AST_EXPR_TIMESTAMP_ADD, out);
    case KW_TIMESTAMPDIFF:
    case KW_DATEDIFF:
    case KW_DATE_DIFF:
        return timestamp_unit(parser, AST_EXPR_TIMESTAMP_DIFF, out);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(keyword_forms) / sizeof(keyword_forms[0]); i++) {
        if (keyword_forms[i].word == word && parser_starts_expr(parser, 2) &&
            parser_kind(parser, 3) != TOKEN_FAT_ARROW)
            return argument_form(parser, &keyword_forms[i], out);
    }
    return OK;
}
