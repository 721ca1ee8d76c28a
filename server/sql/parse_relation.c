/* FROM: tables, subqueries, functions, joins, LATERAL VIEW, PIVOT, UNPIVOT, samples, WATERMARK. */
#include "base/check.h"
#include "sql/parse.h"

#include <stdlib.h>

static struct ast_relation *new_relation(struct parser *parser, enum ast_relation_kind kind,
                                         int position)
{
    struct ast_relation *relation = arena_new_object(parser->arena, sizeof(*relation));
    relation->kind = kind;
    relation->position = position;
    return relation;
}

/* The place where `left` begins, or the present one when a pipe step has no left side. */
static int start_of(const struct parser *parser, const struct ast_relation *left)
{
    return left != NULL ? left->position : parser_position(parser);
}

static enum status finish_relation(struct parser *parser, struct ast_relation *relation,
                                   struct ast_relation **out)
{
    relation->position_end = parser_position_end(parser);
    *out = relation;
    return OK;
}

/* ---- TABLESAMPLE, WATERMARK ---- */

static enum status integer(struct parser *parser, int64_t *out)
{
    bool minus = parser_take(parser, TOKEN_MINUS);
    if (parser_kind(parser, 0) != TOKEN_INTEGER)
        return parser_unexpected(parser);
    struct bytes text = parser_token_text(parser, parser_peek(parser, 0));
    *out = strtoll(arena_strndup(parser->arena, text.data, text.size_bytes), NULL, 10);
    if (minus)
        *out = -*out;
    parser_skip(parser, 1);
    return OK;
}

static enum status sample_amount(struct parser *parser, struct ast_sample *sample)
{
    if (parser_keyword(parser, 0) == KW_BUCKET && parser_kind(parser, 1) == TOKEN_INTEGER) {
        sample->kind = AST_SAMPLE_BUCKET;
        parser_skip(parser, 1);
        TRY(integer(parser, &sample->numerator));
        TRY(parser_want_keyword(parser, KW_OUT, AFTER_NOTHING));
        TRY(parser_want_keyword(parser, KW_OF, AFTER_NOTHING));
        return integer(parser, &sample->denominator);
    }
    TRY(parser_expression(parser, &sample->amount));
    if (parser_take_keyword(parser, KW_PERCENT)) {
        sample->kind = AST_SAMPLE_PERCENT;
        return OK;
    }
    if (parser_take_keyword(parser, KW_ROWS)) {
        sample->kind = AST_SAMPLE_ROWS;
        return OK;
    }
    if (parser_kind(parser, 0) != TOKEN_RIGHT_PAREN)
        return parser_unexpected(parser);
    int start = sample->amount->position, end = sample->amount->position_end;
    return error_raise_at(
        parser->err, STATUS__LEGACY_ERROR_TEMP_0016, start, end, "bytesStr",
        arena_strndup(parser->arena, parser->text.data + start, (size_t)(end - start)), NULL);
}

enum status parser_sample(struct parser *parser, struct ast_sample **out)
{
    if (parser_keyword(parser, 0) != KW_TABLESAMPLE || parser_kind(parser, 1) != TOKEN_LEFT_PAREN)
        return OK;
    struct ast_sample *sample = arena_new_object(parser->arena, sizeof(*sample));
    sample->position = parser_position(parser);
    parser_skip(parser, 2);
    TRY(sample_amount(parser, sample));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    if (parser_keyword(parser, 0) == KW_REPEATABLE && parser_kind(parser, 1) == TOKEN_LEFT_PAREN) {
        parser_skip(parser, 2);
        sample->has_seed = true;
        TRY(integer(parser, &sample->seed));
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    }
    sample->position_end = parser_position_end(parser);
    *out = sample;
    return OK;
}

static bool join_word(enum keyword word)
{
    switch (word) {
    case KW_JOIN:
    case KW_INNER:
    case KW_CROSS:
    case KW_LEFT:
    case KW_RIGHT:
    case KW_FULL:
    case KW_SEMI:
    case KW_ANTI:
    case KW_NATURAL:
    case KW_ON:
    case KW_USING:
        return true;
    default:
        return false;
    }
}

/* WATERMARK begins its clause; otherwise it is an alias. */
static bool watermark_ahead(struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_WATERMARK || !parser_starts_expr(parser, 1) ||
        join_word(parser_keyword(parser, 1)))
        return false;
    parser->index++;
    bool clause = parser_starts_clause(parser);
    parser->index--;
    return !clause;
}

static enum status watermark(struct parser *parser, struct ast_watermark **out)
{
    if (!watermark_ahead(parser))
        return OK;
    size_t start = parser->index;
    bool maybe_alias = parser_kind(parser, 1) == TOKEN_LEFT_PAREN;
    struct ast_watermark *mark = arena_new_object(parser->arena, sizeof(*mark));
    mark->position = parser_position(parser);
    parser_skip(parser, 1);
    enum status status = parser_item(parser, &mark->item);
    if (status == OK)
        status = parser_want_keyword(parser, KW_DELAY, AFTER_NOTHING);
    if (status != OK)
        return maybe_alias && parser_retry(parser, start) ? OK : status;
    TRY(parser_want_keyword(parser, KW_OF, AFTER_NOTHING));
    enum token_kind kind = parser_kind(parser, 0);
    bool value = kind == TOKEN_STRING || kind == TOKEN_INTEGER || kind == TOKEN_DECIMAL;
    if (value)
        return parser_want_keyword(parser, KW_INTERVAL, AFTER_EXPR);
    TRY(parser_interval(parser, &mark->delay));
    mark->position_end = parser_position_end(parser);
    *out = mark;
    return OK;
}

static enum status decorations(struct parser *parser, bool sample, struct ast_relation *relation,
                               struct ast_relation **out)
{
    if (sample)
        TRY(parser_sample(parser, &relation->sample));
    TRY(watermark(parser, &relation->watermark));
    TRY(parser_table_alias(parser, relation));
    return finish_relation(parser, relation, out);
}

/* ---- what a relation can be ---- */

static enum status options(struct parser *parser, struct ast_relation *relation)
{
    if (parser_keyword(parser, 0) != KW_WITH || parser_kind(parser, 1) != TOKEN_LEFT_PAREN)
        return OK;
    struct parser_list list = {0};
    parser_skip(parser, 2);
    do {
        struct ast_option option;
        if (parser_kind(parser, 0) == TOKEN_STRING) {
            TRY(parser_string(parser, &option.key));
        } else {
            struct ast_path path;
            TRY(parser_path(parser, &path));
            option.key = bytes_of(parser->text.data + path.position,
                                  (size_t)(path.position_end - path.position));
        }
        parser_take(parser, TOKEN_EQUAL);
        const struct token *token = parser_peek(parser, 0);
        if (token->kind == TOKEN_STRING) {
            TRY(parser_string(parser, &option.value));
        } else if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_DECIMAL ||
                   token->keyword == KW_TRUE || token->keyword == KW_FALSE) {
            option.value = parser_token_text(parser, token);
            parser_skip(parser, 1);
        } else {
            return parser_unexpected(parser);
        }
        *(struct ast_option *)parser_push(parser, &list, sizeof(option)) = option;
    } while (parser_take(parser, TOKEN_COMMA));
    relation->table.options = list.items;
    relation->table.option_count = list.count;
    return parser_close_list(parser, list.count > 1);
}

static enum status identified_by(struct parser *parser, struct ast_name *out)
{
    if (parser_keyword(parser, 0) != KW_IDENTIFIED || parser_keyword(parser, 1) != KW_BY)
        return OK;
    parser_skip(parser, 2);
    return parser_name(parser, out);
}

/* [FOR] VERSION AS OF x, [FOR] TIMESTAMP AS OF x. */
static enum status time_travel(struct parser *parser, struct ast_relation *relation)
{
    size_t ahead = parser_keyword(parser, 0) == KW_FOR ? 1 : 0;
    enum keyword word = parser_keyword(parser, ahead);
    bool version = word == KW_VERSION || word == KW_SYSTEM_VERSION;
    bool timestamp = word == KW_TIMESTAMP || word == KW_SYSTEM_TIME;
    if ((!version && !timestamp) || parser_keyword(parser, ahead + 1) != KW_AS ||
        parser_keyword(parser, ahead + 2) != KW_OF)
        return OK;
    parser_skip(parser, ahead + 3);
    return parser_value(parser, version ? &relation->table.version : &relation->table.timestamp);
}

/* STREAM is the keyword, not a table of that name. */
static bool stream_ahead(struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_STREAM)
        return false;
    if (parser_kind(parser, 1) == TOKEN_LEFT_PAREN)
        return parser_starts_name(parser, 2) &&
               (parser_kind(parser, 3) == TOKEN_RIGHT_PAREN || parser_kind(parser, 3) == TOKEN_DOT);
    if (!parser_starts_name(parser, 1) || parser_keyword(parser, 1) == KW_AS ||
        join_word(parser_keyword(parser, 1)))
        return false;
    parser->index++;
    bool clause = parser_starts_clause(parser);
    parser->index--;
    return !clause && parser_keyword(parser, 1) != KW_WATERMARK;
}

static enum status table(struct parser *parser, struct ast_relation **out)
{
    struct ast_relation *relation =
        new_relation(parser, AST_RELATION_TABLE, parser_position(parser));
    bool stream = stream_ahead(parser);
    bool parens = stream && parser_kind(parser, 1) == TOKEN_LEFT_PAREN;
    parser_skip(parser, stream ? (parens ? 2 : 1) : 0);
    TRY(parser_reference(parser, &relation->table.name));
    if (parens)
        TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    relation->table.is_stream = stream;
    if (!stream && parser_kind(parser, 0) == TOKEN_LEFT_PAREN) {
        struct ast_path name = relation->table.name;
        relation->kind = AST_RELATION_FUNCTION;
        memset(&relation->table, 0, sizeof(relation->table));
        relation->function.name = name;
        parser_skip(parser, 1);
        TRY(parser_args(parser, &relation->function.args));
        TRY(identified_by(parser, &relation->function.source));
        return decorations(parser, false, relation, out);
    }
    TRY(time_travel(parser, relation));
    TRY(options(parser, relation));
    if (stream)
        TRY(identified_by(parser, &relation->table.source));
    return decorations(parser, !stream, relation, out);
}

enum status parser_inline_table(struct parser *parser, struct ast_relation **out)
{
    struct ast_relation *relation =
        new_relation(parser, AST_RELATION_VALUES, parser_position(parser));
    parser_skip(parser, 1);
    TRY(parser_expr_seq(parser, &relation->rows));
    TRY(parser_table_alias(parser, relation));
    return finish_relation(parser, relation, out);
}

static enum status relation(struct parser *parser, struct ast_relation **out);

static enum status parenthesis(struct parser *parser, struct ast_relation **out)
{
    size_t start = parser->index;
    struct ast_relation *paren =
        new_relation(parser, AST_RELATION_SUBQUERY, parser_position(parser));
    parser_skip(parser, 1);
    if (parser_starts_query(parser, 0)) {
        bool nested = parser_kind(parser, 0) == TOKEN_LEFT_PAREN;
        enum status status = parser_query_rule(parser, &paren->query);
        if (status == OK)
            status = parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_ITEM);
        if (status == OK)
            return decorations(parser, true, paren, out);
        if (!nested || !parser_retry(parser, start + 1))
            return status;
    }
    paren->kind = AST_RELATION_PAREN;
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = relation(parser, &paren->relation);
    parser_leave(parser, saved);
    TRY(status);
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    return decorations(parser, true, paren, out);
}

/* VALUES and rows, not a table of that name with an alias. */
static bool inline_table_ahead(const struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_VALUES || !parser_starts_expr(parser, 1))
        return false;
    if (parser_kind(parser, 1) == TOKEN_LEFT_PAREN && parser_kind(parser, 2) == TOKEN_RIGHT_PAREN)
        return false;
    if (!parser_starts_name(parser, 1) || parser_kind(parser, 2) == TOKEN_STRING)
        return true;
    return parser_kind(parser, 2) == TOKEN_LEFT_PAREN &&
           (!parser_starts_name(parser, 3) ||
            (parser_kind(parser, 4) != TOKEN_COMMA && parser_kind(parser, 4) != TOKEN_RIGHT_PAREN));
}

static bool lateral_possible(const struct ast_relation *relation)
{
    return relation->kind == AST_RELATION_SUBQUERY || relation->kind == AST_RELATION_FUNCTION;
}

static enum status primary(struct parser *parser, struct ast_relation **out)
{
    int position = parser_position(parser);
    bool lateral = parser_keyword(parser, 0) == KW_LATERAL &&
                   (parser_starts_name(parser, 1) || parser_kind(parser, 1) == TOKEN_LEFT_PAREN);
    parser_skip(parser, lateral ? 1 : 0);
    if (parser_kind(parser, 0) == TOKEN_LEFT_PAREN)
        TRY(parenthesis(parser, out));
    else if (inline_table_ahead(parser))
        TRY(parser_inline_table(parser, out));
    else
        TRY(table(parser, out));
    if (lateral) {
        if (!lateral_possible(*out))
            return error_raise_at(
                parser->err,
                STATUS_INVALID_SQL_SYNTAX__LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC, position,
                parser_position_end(parser), NULL);
        (*out)->lateral = true;
        (*out)->position = position;
    }
    return OK;
}

/* ---- joins ---- */

/* The words before JOIN; *count is 0 if no join is ahead. */
static enum ast_join_kind join_words(const struct parser *parser, size_t ahead, size_t *count)
{
    enum keyword next = parser_keyword(parser, ahead + 1);
    *count = 1;
    switch (parser_keyword(parser, ahead)) {
    case KW_JOIN:
        *count = 0;
        return AST_JOIN_INNER;
    case KW_INNER:
        return AST_JOIN_INNER;
    case KW_CROSS:
        return AST_JOIN_CROSS;
    case KW_SEMI:
        return AST_JOIN_LEFT_SEMI;
    case KW_ANTI:
        return AST_JOIN_LEFT_ANTI;
    case KW_LEFT:
        *count = next == KW_OUTER || next == KW_SEMI || next == KW_ANTI ? 2 : 1;
        return next == KW_SEMI   ? AST_JOIN_LEFT_SEMI
               : next == KW_ANTI ? AST_JOIN_LEFT_ANTI
                                 : AST_JOIN_LEFT;
    case KW_RIGHT:
        *count = next == KW_OUTER ? 2 : 1;
        return AST_JOIN_RIGHT;
    case KW_FULL:
        *count = next == KW_OUTER ? 2 : 1;
        return AST_JOIN_FULL;
    default:
        return 0;
    }
}

static enum status check_lateral(struct parser *parser, const struct ast_relation *join)
{
    static const char *const refused[] = {
        [AST_JOIN_RIGHT] = "RIGHT OUTER",
        [AST_JOIN_FULL] = "FULL OUTER",
        [AST_JOIN_LEFT_SEMI] = "LEFT SEMI",
        [AST_JOIN_LEFT_ANTI] = "LEFT ANTI",
    };
    int position = join->join.right->position, end = parser_position_end(parser);
    if (!join->join.right->lateral)
        return OK;
    if (join->join.natural)
        return error_raise_at(parser->err, STATUS_INCOMPATIBLE_JOIN_TYPES, position, end,
                              "joinType1", "LATERAL", "joinType2", "NATURAL", NULL);
    if (join->join.using_columns.count > 0)
        return error_raise_at(parser->err, STATUS_UNSUPPORTED_FEATURE__LATERAL_JOIN_USING, position,
                              end, NULL);
    const char *word = join->join.kind <= AST_JOIN_LEFT_ANTI ? refused[join->join.kind] : NULL;
    if (word != NULL)
        return error_raise_at(parser->err, STATUS_INVALID_LATERAL_JOIN_TYPE, position, end,
                              "joinType", word, NULL);
    return OK;
}

static enum status join(struct parser *parser, struct ast_relation **left)
{
    struct ast_relation *out = new_relation(parser, AST_RELATION_JOIN, start_of(parser, *left));
    out->join.natural = parser_take_keyword(parser, KW_NATURAL);
    size_t count;
    out->join.kind = join_words(parser, 0, &count);
    out->join.left = *left;
    if (out->join.kind == 0)
        return parser_unexpected(parser);
    parser_skip(parser, count);
    if (!parser_take_keyword(parser, KW_JOIN))
        return parser_unexpected(parser);
    TRY(primary(parser, &out->join.right));
    if (!out->join.natural && parser_take_keyword(parser, KW_ON))
        TRY(parser_expression(parser, &out->join.on));
    else if (!out->join.natural && parser_take_keyword(parser, KW_USING))
        TRY(parser_names(parser, &out->join.using_columns));
    TRY(check_lateral(parser, out));
    return finish_relation(parser, out, left);
}

/* ---- LATERAL VIEW, PIVOT, UNPIVOT ---- */

static enum status lateral_view(struct parser *parser, struct ast_relation **input)
{
    struct ast_relation *out =
        new_relation(parser, AST_RELATION_LATERAL_VIEW, start_of(parser, *input));
    out->lateral_view.input = *input;
    parser_skip(parser, 2);
    if (parser_keyword(parser, 0) == KW_OUTER && parser_starts_name(parser, 1)) {
        out->lateral_view.outer = true;
        parser_skip(parser, 1);
    }
    TRY(parser_path(parser, &out->lateral_view.function));
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_EXPR));
    if (!parser_take(parser, TOKEN_RIGHT_PAREN)) {
        TRY(parser_expr_seq(parser, &out->lateral_view.args));
        TRY(parser_close_list(parser, out->lateral_view.args.count > 1));
    }
    TRY(parser_name(parser, &out->lateral_view.table));
    bool as = parser_keyword(parser, 0) == KW_AS && parser_starts_name(parser, 1);
    if (as || (parser_starts_name(parser, 0) && !parser_starts_clause(parser))) {
        parser_skip(parser, as ? 1 : 0);
        TRY(parser_name_seq(parser, &out->lateral_view.columns));
    }
    return finish_relation(parser, out, input);
}

/* [AS] name: AS without a name behind it is the name. */
static enum status optional_alias(struct parser *parser, struct ast_name *out)
{
    if (!parser_starts_name(parser, 0))
        return OK;
    if (parser_keyword(parser, 0) == KW_AS && parser_starts_name(parser, 1))
        parser_skip(parser, 1);
    return parser_name(parser, out);
}

static enum status paths(struct parser *parser, bool many, struct ast_path_list *out)
{
    struct parser_list list = {0};
    bool parens = many && parser_take(parser, TOKEN_LEFT_PAREN);
    do {
        struct ast_path path;
        TRY(parser_path(parser, &path));
        *(struct ast_path *)parser_push(parser, &list, sizeof(path)) = path;
    } while (parens && parser_take(parser, TOKEN_COMMA));
    *out = (struct ast_path_list){list.items, list.count};
    return parens ? parser_close_list(parser, list.count > 1) : OK;
}

static enum status pivot(struct parser *parser, struct ast_relation **input)
{
    struct ast_relation *out = new_relation(parser, AST_RELATION_PIVOT, start_of(parser, *input));
    struct ast_pivot *pivoting = &out->pivot.pivot;
    struct parser_list list = {0};
    out->pivot.input = *input;
    parser_skip(parser, 2);
    TRY(parser_item_seq(parser, &pivoting->aggregates));
    TRY(parser_want_keyword(parser, KW_FOR, AFTER_EXPR));
    TRY(paths(parser, true, &pivoting->columns));
    TRY(parser_want_keyword(parser, KW_IN, AFTER_EXPR));
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_NOTHING));
    do {
        struct ast_pivot_value value = {0};
        TRY(parser_expression(parser, &value.expr));
        TRY(optional_alias(parser, &value.alias));
        *(struct ast_pivot_value *)parser_push(parser, &list, sizeof(value)) = value;
    } while (parser_take(parser, TOKEN_COMMA));
    pivoting->values = list.items;
    pivoting->value_count = list.count;
    TRY(parser_close_list(parser, list.count > 1));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_VALUE));
    return finish_relation(parser, out, input);
}

static enum status unpivot_columns(struct parser *parser, struct ast_unpivot *unpivoting)
{
    struct parser_list list = {0};
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_NOTHING));
    do {
        struct ast_unpivot_column column = {0};
        TRY(paths(parser, unpivoting->multiple, &column.columns));
        TRY(optional_alias(parser, &column.alias));
        *(struct ast_unpivot_column *)parser_push(parser, &list, sizeof(column)) = column;
    } while (parser_take(parser, TOKEN_COMMA));
    unpivoting->columns = list.items;
    unpivoting->column_count = list.count;
    return parser_close_list(parser, list.count > 1);
}

static enum status unpivot(struct parser *parser, struct ast_relation **input)
{
    struct ast_relation *out = new_relation(parser, AST_RELATION_UNPIVOT, start_of(parser, *input));
    struct ast_unpivot *unpivoting = &out->unpivot.unpivot;
    out->unpivot.input = *input;
    parser_skip(parser, 1);
    enum keyword word = parser_keyword(parser, 0);
    if (word == KW_INCLUDE || word == KW_EXCLUDE) {
        unpivoting->nulls = word == KW_INCLUDE ? AST_UNPIVOT_INCLUDE : AST_UNPIVOT_EXCLUDE;
        parser_skip(parser, 1);
        TRY(parser_want_keyword(parser, KW_NULLS, AFTER_NOTHING));
    }
    TRY(parser_want(parser, TOKEN_LEFT_PAREN, AFTER_NOTHING));
    unpivoting->multiple = parser_kind(parser, 0) == TOKEN_LEFT_PAREN;
    if (unpivoting->multiple) {
        TRY(parser_names(parser, &unpivoting->values));
    } else {
        struct ast_name *name = arena_new_object(parser->arena, sizeof(*name));
        TRY(parser_name(parser, name));
        unpivoting->values = (struct ast_name_list){name, 1};
    }
    TRY(parser_want_keyword(parser, KW_FOR, AFTER_NOTHING));
    TRY(parser_name(parser, &unpivoting->name));
    TRY(parser_want_keyword(parser, KW_IN, AFTER_NOTHING));
    TRY(unpivot_columns(parser, unpivoting));
    TRY(parser_want(parser, TOKEN_RIGHT_PAREN, AFTER_END));
    TRY(parser_table_alias(parser, out));
    return finish_relation(parser, out, input);
}

/* PIVOT and UNPIVOT do not follow LATERAL VIEW. */
static enum status check_pivot(struct parser *parser, const struct ast_relation *input)
{
    if (input == NULL || input->kind != AST_RELATION_LATERAL_VIEW)
        return OK;
    return error_raise_at(parser->err,
                          parser_keyword(parser, 0) == KW_PIVOT
                              ? STATUS_NOT_ALLOWED_IN_FROM__LATERAL_WITH_PIVOT
                              : STATUS_NOT_ALLOWED_IN_FROM__LATERAL_WITH_UNPIVOT,
                          input->position, parser_position_end(parser), NULL);
}

static enum status pipe_sample(struct parser *parser, struct ast_relation **input)
{
    struct ast_relation *out = new_relation(parser, AST_RELATION_SAMPLE, start_of(parser, *input));
    out->relation = *input;
    TRY(parser_sample(parser, &out->sample));
    return finish_relation(parser, out, input);
}

enum status parser_extension(struct parser *parser, struct ast_relation **input, bool *found)
{
    enum keyword next = parser_keyword(parser, 1);
    enum token_kind next_kind = parser_kind(parser, 1);
    *found = true;
    enum status status;
    switch (parser_keyword(parser, 0)) {
    case KW_JOIN:
    case KW_INNER:
    case KW_CROSS:
    case KW_LEFT:
    case KW_RIGHT:
    case KW_FULL:
    case KW_SEMI:
    case KW_ANTI:
    case KW_NATURAL:
        status = join(parser, input);
        break;
    case KW_LATERAL:
        if (*input != NULL && next != KW_VIEW && parser_starts_name(parser, 1)) {
            parser_skip(parser, 1);
            return parser_want_keyword(parser, KW_VIEW, AFTER_EXPR);
        }
        *found = next == KW_VIEW;
        status = *found ? lateral_view(parser, input) : OK;
        break;
    case KW_PIVOT:
        *found = next_kind == TOKEN_LEFT_PAREN;
        status = *found ? check_pivot(parser, *input) : OK;
        if (*found && status == OK)
            status = pivot(parser, input);
        break;
    case KW_UNPIVOT:
        *found = next_kind == TOKEN_LEFT_PAREN || next == KW_INCLUDE || next == KW_EXCLUDE;
        status = *found ? check_pivot(parser, *input) : OK;
        if (*found && status == OK)
            status = unpivot(parser, input);
        break;
    case KW_TABLESAMPLE:
        *found = *input == NULL && next_kind == TOKEN_LEFT_PAREN;
        status = *found ? pipe_sample(parser, input) : OK;
        break;
    default:
        *found = false;
        return OK;
    }
    TRY(status);
    return *found ? parser_higher(parser) : OK;
}

/* ---- FROM ---- */

static enum status extensions(struct parser *parser, struct ast_relation **out)
{
    bool found = true;
    while (found)
        TRY(parser_extension(parser, out, &found));
    return OK;
}

static enum status relation(struct parser *parser, struct ast_relation **out)
{
    TRY(primary(parser, out));
    return extensions(parser, out);
}

enum status parser_from(struct parser *parser, struct ast_relation **out)
{
    parser_skip(parser, 1);
    TRY(relation(parser, out));
    while (parser_take(parser, TOKEN_COMMA)) {
        struct ast_relation *comma = new_relation(parser, AST_RELATION_JOIN, (*out)->position);
        comma->join.kind = AST_JOIN_COMMA;
        comma->join.left = *out;
        TRY(primary(parser, &comma->join.right));
        TRY(finish_relation(parser, comma, out));
        TRY(parser_higher(parser));
        TRY(extensions(parser, out));
    }
    return OK;
}
