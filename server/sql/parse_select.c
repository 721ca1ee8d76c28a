/* SELECT and its clauses, GROUP BY, and the steps of pipes. */
#include "base/check.h"
#include "sql/parse.h"

#include <strings.h>

/* ---- hints ---- */

static enum status hint(struct parser *parser, struct ast_hint *out)
{
    struct ast_name name;
    *out = (struct ast_hint){.position = parser_position(parser)};
    TRY(parser_name(parser, &name));
    out->name = name.text;
    if (parser_take(parser, TOKEN_LEFT_PAREN) && !parser_take(parser, TOKEN_RIGHT_PAREN)) {
        struct parser_list list = {0};
        do {
            struct ast_expr *arg;
            TRY(parser_value(parser, &arg));
            *(struct ast_expr **)parser_push(parser, &list, sizeof(arg)) = arg;
        } while (parser_take(parser, TOKEN_COMMA));
        out->args = (struct ast_expr_list){list.items, list.count};
        TRY(parser_close_list(parser, list.count > 1));
    }
    out->position_end = parser_position_end(parser);
    return OK;
}

static enum status hints(struct parser *parser, struct ast_select *select)
{
    struct parser_list list = {0};
    while (parser_take(parser, TOKEN_HINT_START)) {
        do {
            struct ast_hint item;
            TRY(hint(parser, &item));
            *(struct ast_hint *)parser_push(parser, &list, sizeof(item)) = item;
            parser_take(parser, TOKEN_COMMA);
        } while (!parser_take(parser, TOKEN_HINT_END));
    }
    select->hints = list.items;
    select->hint_count = list.count;
    return OK;
}

/* ---- GROUP BY ---- */

static enum status grouping(struct parser *parser, bool sets, struct ast_grouping *out);

static enum status grouping_children(struct parser *parser, struct ast_grouping *out)
{
    struct parser_list list = {0};
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_NOTHING));
    do {
        struct ast_grouping child;
        int saved;
        enum status status = parser_enter(parser, &saved);
        if (status == OK)
            status = grouping(parser, true, &child);
        parser_leave(parser, saved);
        TRY(status);
        *(struct ast_grouping *)parser_push(parser, &list, sizeof(child)) = child;
    } while (parser_take(parser, TOKEN_COMMA));
    out->children = list.items;
    out->child_count = list.count;
    return parser_close_list(parser, list.count > 1);
}

/* (a, b) or () as a grouping set; *found is false if it begins an expression instead. */
static enum status grouping_set(struct parser *parser, struct ast_grouping *out, bool *found)
{
    size_t start = parser->index;
    *found = true;
    parser_skip(parser, 1);
    out->kind = AST_GROUPING_SET;
    if (parser_take(parser, TOKEN_RIGHT_PAREN))
        return OK;
    enum status status = parser_expr_seq(parser, &out->exprs);
    if (status == OK)
        status = parser_close_list(parser, out->exprs.count > 1);
    enum token_kind next = parser_kind(parser, 0);
    if (status == OK && (next == TOKEN_COMMA || next == TOKEN_RIGHT_PAREN))
        return OK;
    if (!parser_retry(parser, start))
        return status == OK ? parser_unexpected(parser) : status;
    *found = false;
    return OK;
}

static enum status grouping(struct parser *parser, bool sets, struct ast_grouping *out)
{
    *out = (struct ast_grouping){.position = parser_position(parser)};
    enum keyword word = parser_keyword(parser, 0);
    bool found = false;
    if ((word == KW_ROLLUP || word == KW_CUBE) && parser_kind(parser, 1) == TOKEN_LEFT_PAREN) {
        out->kind = word == KW_ROLLUP ? AST_GROUPING_ROLLUP : AST_GROUPING_CUBE;
        parser_skip(parser, 1);
        TRY(grouping_children(parser, out));
    } else if (word == KW_GROUPING && parser_keyword(parser, 1) == KW_SETS) {
        out->kind = AST_GROUPING_SETS;
        parser_skip(parser, 2);
        TRY(grouping_children(parser, out));
    } else {
        if (sets && parser_kind(parser, 0) == TOKEN_LEFT_PAREN)
            TRY(grouping_set(parser, out, &found));
        if (!found) {
            struct ast_expr **item = arena_new_object(parser->arena, sizeof(*item));
            out->kind = AST_GROUPING_EXPR;
            TRY(parser_expression(parser, item));
            out->exprs = (struct ast_expr_list){item, 1};
        }
    }
    out->position_end = parser_position_end(parser);
    return OK;
}

static bool reads(struct bytes text, const char *word)
{
    return text.size_bytes == strlen(word) &&
           strncasecmp((const char *)text.data, word, strlen(word)) == 0;
}

static bool is_word(const struct ast_expr *expr, const char *word)
{
    return expr->kind == AST_EXPR_COLUMN && expr->column.count == 1 &&
           !expr->column.parts[0].quoted && reads(expr->column.parts[0].text, word);
}

static enum status group_with(struct parser *parser, struct ast_group_by *group_by)
{
    enum keyword next = parser_keyword(parser, 1);
    if (parser_keyword(parser, 0) == KW_WITH && (next == KW_ROLLUP || next == KW_CUBE)) {
        group_by->with = next == KW_ROLLUP ? AST_WITH_ROLLUP : AST_WITH_CUBE;
        parser_skip(parser, 2);
    } else if (parser_keyword(parser, 0) == KW_GROUPING && next == KW_SETS) {
        struct ast_grouping sets = {0};
        group_by->with = AST_WITH_SETS;
        parser_skip(parser, 2);
        TRY(grouping_children(parser, &sets));
        group_by->sets = sets.children;
        group_by->set_count = sets.child_count;
    }
    return OK;
}

/* The name a grouping expression of a pipe's AGGREGATE may have. */
static enum status group_alias(struct parser *parser, const struct ast_grouping *element,
                               struct parser_list *list)
{
    struct ast_item *item = parser_push(parser, list, sizeof(*item));
    *item = (struct ast_item){.position = element->position};
    item->expr = element->kind == AST_GROUPING_EXPR ? element->exprs.items[0] : NULL;
    bool as = parser_keyword(parser, 0) == KW_AS && parser_starts_name(parser, 1);
    if (item->expr != NULL && parser_starts_name(parser, 0) && !parser_starts_clause(parser)) {
        parser_skip(parser, as ? 1 : 0);
        struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
        TRY(parser_name(parser, name));
        item->aliases = (struct ast_name_list){name, 1};
    }
    item->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_group_by(struct parser *parser, struct ast_item_list *items,
                            struct ast_group_by **out)
{
    CHECK(out != NULL);
    struct ast_group_by *group_by = arena_new_object(parser->arena, sizeof(*group_by));
    struct parser_list list = {0}, names = {0};
    group_by->position = parser_position(parser);
    parser_skip(parser, 1);
    TRY(parser_want_keyword(parser, KW_BY, AFTER_NOTHING));
    do {
        struct ast_grouping element;
        TRY(grouping(parser, false, &element));
        *(struct ast_grouping *)parser_push(parser, &list, sizeof(element)) = element;
        if (items != NULL)
            TRY(group_alias(parser, &element, &names));
    } while (parser_take(parser, TOKEN_COMMA));
    group_by->elements = list.items;
    group_by->count = list.count;
    if (items != NULL)
        *items = (struct ast_item_list){names.items, names.count};
    if (items == NULL && parser_keyword(parser, 0) == KW_AS && parser_starts_name(parser, 1)) {
        parser_skip(parser, 1);
        return parser_kind(parser, 1) == TOKEN_END ? parser_extra(parser)
                                                   : parser_unexpected(parser);
    }
    TRY(group_with(parser, group_by));
    struct ast_grouping *first = &group_by->elements[0];
    group_by->all = group_by->count == 1 && group_by->with == AST_WITH_NOTHING &&
                    first->kind == AST_GROUPING_EXPR && is_word(first->exprs.items[0], "ALL");
    group_by->position_end = parser_position_end(parser);
    *out = group_by;
    return OK;
}

/* ---- SELECT ---- */

static void select_quantifier(struct parser *parser, struct ast_select *select)
{
    enum keyword word = parser_keyword(parser, 0);
    if ((word != KW_ALL && word != KW_DISTINCT) || !parser_starts_expr(parser, 1))
        return;
    select->quantifier = word == KW_ALL ? AST_QUANTIFIER_ALL : AST_QUANTIFIER_DISTINCT;
    parser_skip(parser, 1);
}

/* SELECT TRANSFORM(a) USING 'program', or ROW FORMAT before USING, of which the first word has been
 * read as the alias of a call. */
static bool is_script(const struct parser *parser, const struct ast_select *select)
{
    const struct ast_item *item = &select->items.items[0];
    if (select->items.count != 1 || item->expr->kind != AST_EXPR_CALL ||
        item->expr->call.name.count != 1 || item->aliases.count != 1 ||
        !reads(item->expr->call.name.parts[0].text, "TRANSFORM"))
        return false;
    struct bytes alias = item->aliases.items[0].text;
    struct bytes next = parser_token_text(parser, parser_peek(parser, 0));
    return (reads(alias, "USING") && parser_kind(parser, 0) == TOKEN_STRING) ||
           (reads(alias, "ROW") && reads(next, "FORMAT"));
}

/* SELECT .. items. */
static enum status select_clause(struct parser *parser, struct ast_select *select)
{
    select->position = parser_position(parser);
    parser_skip(parser, 1);
    TRY(hints(parser, select));
    select_quantifier(parser, select);
    select->items_position = parser_position(parser);
    TRY(parser_item_seq(parser, &select->items));
    select->items_position_end = parser_position_end(parser);
    if (is_script(parser, select))
        return error_raise_at(parser->err, STATUS_NOT_SUPPORTED, select->items_position,
                              select->items_position_end, "feature", "SELECT TRANSFORM", NULL);
    return OK;
}

/* `SELECT a, FROM t` reads as a column FROM with the alias t; refused when the rest is right. */
static void note_trailing_comma(struct parser *parser, const struct ast_select *select)
{
    const struct ast_item *last = &select->items.items[select->items.count - 1];
    if (select->items.count < 2 || select->from != NULL || !is_word(last->expr, "FROM") ||
        parser->trailing_comma != NULL)
        return;
    parser->trailing_comma = last->expr;
}

static enum status lateral_views(struct parser *parser, struct ast_relation **relation)
{
    while (parser_keyword(parser, 0) == KW_LATERAL && parser_keyword(parser, 1) == KW_VIEW) {
        bool found;
        TRY(parser_extension(parser, relation, &found));
        CHECK(found);
    }
    return OK;
}

static enum status select_body(struct parser *parser, struct ast_select *select)
{
    TRY(select_clause(parser, select));
    if (select->from == NULL && parser_keyword(parser, 0) == KW_FROM)
        TRY(parser_from(parser, &select->from));
    note_trailing_comma(parser, select);
    TRY(lateral_views(parser, &select->from));
    if (parser_take_keyword(parser, KW_WHERE))
        TRY(parser_condition(parser, &select->where));
    if (parser_keyword(parser, 0) == KW_GROUP && parser_keyword(parser, 1) == KW_BY)
        TRY(parser_group_by(parser, NULL, &select->group_by));
    if (parser_take_keyword(parser, KW_HAVING))
        TRY(parser_expression(parser, &select->having));
    if (parser_keyword(parser, 0) == KW_WINDOW && parser_starts_name(parser, 1) &&
        parser_keyword(parser, 2) == KW_AS) {
        parser_skip(parser, 1);
        TRY(parser_named_windows(parser, &select->windows));
    }
    if (parser_take_keyword(parser, KW_QUALIFY))
        TRY(parser_expression(parser, &select->qualify));
    select->position_end = parser_position_end(parser);
    return OK;
}

enum status parser_select(struct parser *parser, struct ast_relation *from, struct ast_select **out)
{
    struct ast_select *select = arena_new_object(parser->arena, sizeof(*select));
    select->from = from;
    TRY(select_body(parser, select));
    *out = select;
    return OK;
}

/* ---- pipe steps ---- */

static enum status refuse_pipe(struct parser *parser, const struct ast_pipe_step *step,
                               const char *message)
{
    return error_raise_at(parser->err, STATUS__LEGACY_ERROR_TEMP_0035, step->position,
                          parser_position_end(parser), "message", message, NULL);
}

static enum status assignments(struct parser *parser, struct ast_pipe_step *step)
{
    struct parser_list list = {0};
    do {
        struct ast_assignment item = {.position = parser_position(parser)};
        struct ast_path path;
        TRY(parser_path(parser, &path));
        TRY(parser_want(parser, TOKEN_EQUAL, AFTER_NOTHING));
        TRY(parser_expression(parser, &item.expr));
        if (path.count != 1)
            return refuse_pipe(parser, step,
                               "SQL pipe syntax |> SET operator with multi-part assignment key "
                               "(only single-part keys are allowed)");
        item.name = path.parts[0];
        item.position_end = parser_position_end(parser);
        *(struct ast_assignment *)parser_push(parser, &list, sizeof(item)) = item;
    } while (parser_take(parser, TOKEN_COMMA));
    step->assignments = list.items;
    step->assignment_count = list.count;
    return OK;
}

static enum status aggregate_step(struct parser *parser, struct ast_pipe_step *step)
{
    bool group = parser_keyword(parser, 0) == KW_GROUP && parser_keyword(parser, 1) == KW_BY;
    if (!group && parser_starts_expr(parser, 0))
        TRY(parser_item_seq(parser, &step->items));
    group = parser_keyword(parser, 0) == KW_GROUP && parser_keyword(parser, 1) == KW_BY;
    if (group)
        return parser_group_by(parser, &step->group_items, &step->group_by);
    if (step->items.count > 0)
        return OK;
    return refuse_pipe(parser, step,
                       "The AGGREGATE clause requires a list of aggregate expressions or a list "
                       "of grouping expressions, or both");
}

static enum status select_step(struct parser *parser, struct ast_pipe_step *step)
{
    struct ast_select *select = arena_new_object(parser->arena, sizeof(*select));
    step->select = select;
    TRY(select_clause(parser, select));
    if (parser_keyword(parser, 0) == KW_WINDOW && parser_starts_name(parser, 1) &&
        parser_keyword(parser, 2) == KW_AS) {
        parser_skip(parser, 1);
        TRY(parser_named_windows(parser, &select->windows));
    }
    select->position_end = parser_position_end(parser);
    return OK;
}

static enum status set_step(struct parser *parser, struct ast_pipe_step *step)
{
    enum keyword word = parser_keyword(parser, 0);
    step->set_kind = word == KW_UNION       ? AST_SET_UNION
                     : word == KW_INTERSECT ? AST_SET_INTERSECT
                                            : AST_SET_EXCEPT;
    parser_skip(parser, 1);
    TRY(parser_set_quantifier(parser, &step->quantifier));
    return parser_query_primary(parser, &step->right);
}

/* Steps that begin with a word of their own; *kind stays 0 for the others. */
static enum status word_step(struct parser *parser, struct ast_pipe_step *step)
{
    static const struct {
        enum keyword word;
        enum ast_pipe_kind kind;
    } words[] = {
        {KW_SELECT, AST_PIPE_SELECT},
        {KW_EXTEND, AST_PIPE_EXTEND},
        {KW_SET, AST_PIPE_SET},
        {KW_DROP, AST_PIPE_DROP},
        {KW_AS, AST_PIPE_AS},
        {KW_WHERE, AST_PIPE_WHERE},
        {KW_AGGREGATE, AST_PIPE_AGGREGATE},
        {KW_UNION, AST_PIPE_SET_OPERATION},
        {KW_EXCEPT, AST_PIPE_SET_OPERATION},
        {KW_INTERSECT, AST_PIPE_SET_OPERATION},
        {KW_MINUS, AST_PIPE_SET_OPERATION},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].word == parser_keyword(parser, 0))
            step->kind = words[i].kind;
    }
    if (step->kind == 0)
        return OK;
    if (step->kind == AST_PIPE_SELECT)
        return select_step(parser, step);
    if (step->kind == AST_PIPE_SET_OPERATION)
        return set_step(parser, step);
    parser_skip(parser, 1);
    switch (step->kind) {
    case AST_PIPE_EXTEND:
        return parser_item_seq(parser, &step->items);
    case AST_PIPE_SET:
        return assignments(parser, step);
    case AST_PIPE_DROP:
        return parser_name_seq(parser, &step->names);
    case AST_PIPE_WHERE:
        return parser_expression(parser, &step->where);
    case AST_PIPE_AGGREGATE:
        return aggregate_step(parser, step);
    default: {
        struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
        step->names = (struct ast_name_list){name, 1};
        return parser_name(parser, name);
    }
    }
}

enum status parser_pipe_step(struct parser *parser, struct ast_pipe_step **out)
{
    struct ast_pipe_step *step = arena_new_object(parser->arena, sizeof(*step));
    step->position = parser_position(parser);
    TRY(word_step(parser, step));
    if (step->kind == 0) {
        bool found = false;
        TRY(parser_extension(parser, &step->relation, &found));
        step->kind = found ? AST_PIPE_RELATION : AST_PIPE_TAIL;
    }
    if (step->kind == AST_PIPE_TAIL) {
        TRY(parser_tail(parser, &step->tail));
        if (step->tail == NULL) /* `FROM t |>` is legal */
            step->tail = arena_new_object(parser->arena, sizeof(*step->tail));
    }
    step->position_end = parser_position_end(parser);
    if (step->tail != NULL && step->tail->windows.count > 0)
        return error_raise_at(parser->err, STATUS_UNSUPPORTED_FEATURE__CLAUSE_WITH_PIPE_OPERATORS,
                              step->position, step->position_end, "clauses", "the WINDOW clause",
                              NULL);
    if (step->position_end < step->position)
        step->position_end = step->position;
    *out = step;
    return OK;
}
