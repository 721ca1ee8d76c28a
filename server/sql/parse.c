#include "sql/parser.h"

#include "base/check.h"
#include "base/utf8.h"
#include "sql/parse.h"

#include <stdio.h>
#include <strings.h>

bool parser_take(struct parser *parser, enum token_kind kind)
{
    if (parser_kind(parser, 0) != kind || kind == TOKEN_END)
        return false;
    parser->index++;
    return true;
}

bool parser_take_keyword(struct parser *parser, enum keyword keyword)
{
    if (parser_keyword(parser, 0) != keyword)
        return false;
    parser->index++;
    return true;
}

void parser_skip(struct parser *parser, size_t count)
{
    CHECK(parser->index + count < parser->tokens.count);
    parser->index += count;
}

/* A token as Spark shows it: 'text' with blanks escaped, or "end of input". */
static const char *show(const struct parser *parser, const struct token *token)
{
    if (token->kind == TOKEN_END)
        return "end of input";
    struct bytes text = parser_token_text(parser, token);
    char *shown = arena_new_object(parser->arena, text.size_bytes * 2 + 3);
    size_t at = 0;
    shown[at++] = '\'';
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t byte = text.data[i];
        const char escape = (char)(byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't');
        if (byte == '\n' || byte == '\r' || byte == '\t')
            shown[at++] = '\\';
        shown[at++] = byte == '\n' || byte == '\r' || byte == '\t' ? escape : (char)byte;
    }
    shown[at++] = '\'';
    return shown;
}

static enum status syntax_error(struct parser *parser, const char *hint)
{
    const struct token *token = parser_peek(parser, 0);
    return error_raise_at(parser->err, STATUS_PARSE_SYNTAX_ERROR, token->position,
                          token->position_end, "error", show(parser, token), "hint", hint, NULL);
}

enum status(parser_unexpected)(struct parser *parser)
{
    return syntax_error(parser, "");
}

enum status(parser_extra)(struct parser *parser)
{
    const char *shown = show(parser, parser_peek(parser, 0));
    return syntax_error(parser, arena_sprintf(parser->arena, ": extra input %s", shown));
}

static bool fits_after(const struct parser *parser, enum parser_after after)
{
    switch (after) {
    case AFTER_NOTHING:
        return false;
    case AFTER_EXPR:
        return parser_starts_expr(parser, 0);
    case AFTER_END:
        return parser_kind(parser, 0) == TOKEN_END;
    case AFTER_VALUE:
        return parser_kind(parser, 0) != TOKEN_STRING &&
               parser_kind(parser, 0) != TOKEN_SEMICOLON &&
               (parser_kind(parser, 0) < TOKEN_INTEGER ||
                parser_kind(parser, 0) > TOKEN_BIGDECIMAL);
    case AFTER_ITEM:
        return parser_kind(parser, 0) == TOKEN_END || parser_kind(parser, 0) == TOKEN_COMMA ||
               parser_starts_name(parser, 0);
    }
    return false;
}

static enum status mismatch(struct parser *parser, bool next_fits, const char *wanted,
                            enum parser_after after)
{
    if (next_fits)
        return parser_extra(parser);
    if (fits_after(parser, after))
        return syntax_error(parser, arena_sprintf(parser->arena, ": missing '%s'", wanted));
    return parser_unexpected(parser);
}

enum status parser_want(struct parser *parser, enum token_kind kind, enum parser_after after)
{
    if (parser_take(parser, kind))
        return OK;
    const char *wanted = kind == TOKEN_LEFT_PAREN      ? "("
                         : kind == TOKEN_RIGHT_PAREN   ? ")"
                         : kind == TOKEN_RIGHT_BRACKET ? "]"
                                                       : "";
    return mismatch(parser, parser_kind(parser, 1) == kind, wanted,
                    wanted[0] == '\0' ? AFTER_NOTHING : after);
}

enum status parser_want_keyword(struct parser *parser, enum keyword keyword,
                                enum parser_after after)
{
    if (parser_take_keyword(parser, keyword))
        return OK;
    return mismatch(parser, parser_keyword(parser, 1) == keyword, keyword_name(keyword), after);
}

enum status parser_close_list(struct parser *parser, bool after_comma)
{
    if (parser_take(parser, TOKEN_RIGHT_PAREN))
        return OK;
    enum token_kind next = parser_kind(parser, 1);
    if (after_comma || next == TOKEN_RIGHT_PAREN || next == TOKEN_COMMA)
        return parser_extra(parser);
    return parser_unexpected(parser);
}

enum status parser_enter(struct parser *parser, int *saved)
{
    *saved = parser->height;
    parser->height = 0;
    parser->depth++;
    if (parser->depth > PARSER_DEPTH_MAX)
        return error_raise_at(parser->err, STATUS_FAILED_TO_PARSE_TOO_COMPLEX,
                              parser_position(parser), parser_peek(parser, 0)->position_end, NULL);
    return OK;
}

void parser_leave(struct parser *parser, int saved)
{
    CHECK(parser->depth > 0);
    parser->depth--;
    parser->height++;
    if (saved > parser->height)
        parser->height = saved;
}

enum status parser_higher(struct parser *parser)
{
    parser->height++;
    if (parser->height > PARSER_HEIGHT_MAX)
        return error_raise_at(parser->err, STATUS_FAILED_TO_PARSE_TOO_COMPLEX,
                              parser_position(parser), parser_peek(parser, 0)->position_end, NULL);
    return OK;
}

enum status parser_later(struct parser *parser)
{
    void *memory;
    struct error raised = *parser->err;
    if (parser->later == NULL) {
        error_clear(parser->err);
        TRY(arena_alloc(parser->arena, 1, sizeof raised, &memory, parser->err));
        struct error *kept = memory;
        *kept = raised;
        parser->later = kept;
    }
    error_clear(parser->err);
    return OK;
}

bool parser_retry(struct parser *parser, size_t index)
{
    if (parser->retries_left == 0 || parser->err->status == STATUS_FAILED_TO_PARSE_TOO_COMPLEX)
        return false;
    parser->retries_left--;
    parser->index = index;
    parser->angles_used = 0;
    error_clear(parser->err);
    if (parser->later != NULL && parser->later->position >= parser_position(parser))
        parser->later = NULL;
    return true;
}

int parser_position(const struct parser *parser)
{
    return parser_peek(parser, 0)->position;
}

int parser_position_end(const struct parser *parser)
{
    return parser->index == 0 ? 0 : parser->tokens.items[parser->index - 1].position_end;
}

struct bytes parser_token_text(const struct parser *parser, const struct token *token)
{
    return bytes_of(parser->text.data + token->position,
                    (size_t)(token->position_end - token->position));
}

void *parser_push(struct parser *parser, struct parser_list *list, size_t item_size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
        void *items = arena_new_object(parser->arena, capacity * item_size);
        if (list->count > 0)
            memcpy(items, list->items, list->count * item_size);
        list->items = items;
        list->capacity = capacity;
    }
    return (uint8_t *)list->items + item_size * list->count++;
}

/* ---- entry points ---- */

static enum status begin(struct parser *parser, struct arena *arena, struct bytes text,
                         struct error *err)
{
    CHECK(arena != NULL && err != NULL);
    *parser = (struct parser){
        .arena = arena, .text = arena_copy(arena, text), .retries_left = PARSER_RETRIES_MAX};
    parser->err = err;
    return lexer_read(arena, parser->text, &parser->tokens, err);
}

static void quotes_are_names(struct parser *parser)
{
    for (size_t i = 0; i < parser->tokens.count; i++) {
        struct token *token = &parser->tokens.items[i];
        if (token->kind == TOKEN_STRING && parser->text.data[token->position] == '"')
            token->kind = TOKEN_QUOTED;
    }
}

/* Statements of Spark that are no query. */
static bool is_command(const struct parser *parser)
{
    static const char *const words[] = {
        "ALTER",    "ANALYZE", "CACHE",   "CALL",   "CREATE",   "DECLARE", "DELETE", "DESC",
        "DESCRIBE", "DROP",    "EXPLAIN", "GRANT",  "INSERT",   "LOAD",    "MERGE",  "REFRESH",
        "SET",      "SHOW",    "REPAIR",  "REVOKE", "TRUNCATE", "UNCACHE", "UPDATE", "USE",
    };
    struct bytes word = parser_token_text(parser, parser_peek(parser, 0));
    if (parser_kind(parser, 0) != TOKEN_WORD || parser_kind(parser, 1) != TOKEN_WORD)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (word.size_bytes == strlen(words[i]) &&
            strncasecmp((const char *)word.data, words[i], word.size_bytes) == 0)
            return true;
    }
    return false;
}

static enum status raise_command(const struct parser *parser, struct error *err)
{
    struct bytes word = parser_token_text(parser, parser_peek(parser, 0));
    (void)error_raise_at(err, STATUS_WRITE_STREAM_NOT_ALLOWED, parser_position(parser),
                         parser_peek(parser, 0)->position_end, NULL);
    (void)snprintf(
        err->text, sizeof err->text,
        "%.*s is no query: sql takes a SELECT (also WITH, FROM, VALUES and TABLE). Where "
        "its rows go is said by the field sink, and what it reads by sources, tables and "
        "views",
        (int)word.size_bytes, (const char *)word.data);
    return err->status;
}

/* The end of the text; and the arena's limit, which single nodes do not check. */
static enum status finish(struct parser *parser, bool semicolons)
{
    if (semicolons && parser_kind(parser, 0) != TOKEN_SEMICOLON &&
        parser_kind(parser, 0) != TOKEN_END && parser_kind(parser, 1) == TOKEN_SEMICOLON)
        return parser_extra(parser);
    bool ended = false;
    while (semicolons && parser_take(parser, TOKEN_SEMICOLON))
        ended = true;
    if (parser_kind(parser, 0) != TOKEN_END && ended)
        return parser_extra(parser);
    if (parser_kind(parser, 0) != TOKEN_END)
        return mismatch(parser, parser_kind(parser, 1) == TOKEN_END, "", AFTER_NOTHING);
    const struct ast_expr *comma = parser->trailing_comma;
    if (comma != NULL)
        return error_raise_at(parser->err, STATUS_TRAILING_COMMA_IN_SELECT, comma->position,
                              comma->position_end, NULL);
    if (parser->later != NULL) {
        *parser->err = *parser->later;
        return parser->err->status;
    }
    void *nothing;
    return arena_alloc(parser->arena, 1, 1, &nothing, parser->err);
}

enum status parser_query(struct arena *arena, struct bytes text, struct ast_query **out,
                         struct error *err)
{
    return parser_query_with(arena, text, PARSER_QUOTES_TEXT, out, err);
}

enum status parser_query_with(struct arena *arena, struct bytes text, enum parser_quotes quotes,
                              struct ast_query **out, struct error *err)
{
    struct parser parser;
    TRY(begin(&parser, arena, text, err));
    if (quotes == PARSER_QUOTES_NAMES)
        quotes_are_names(&parser);
    size_t semicolons = 0;
    while (parser_kind(&parser, semicolons) == TOKEN_SEMICOLON)
        semicolons++;
    if (parser_kind(&parser, semicolons) == TOKEN_END && semicolons > 0)
        return parser_unexpected(&parser);
    if (parser_kind(&parser, semicolons) == TOKEN_END)
        return error_raise_at(err, STATUS_PARSE_EMPTY_STATEMENT, (int)text.size_bytes,
                              (int)text.size_bytes, NULL);
    if (is_command(&parser))
        return raise_command(&parser, err);
    struct ast_query *query;
    TRY(parser_query_rule(&parser, &query));
    TRY(finish(&parser, true));
    *out = query;
    return OK;
}

enum status parser_expr(struct arena *arena, struct bytes text, struct ast_expr **out,
                        struct error *err)
{
    struct parser parser;
    TRY(begin(&parser, arena, text, err));
    struct ast_expr *expr;
    TRY(parser_expression(&parser, &expr));
    TRY(finish(&parser, false));
    *out = expr;
    return OK;
}

enum status parser_type(struct arena *arena, struct bytes text, struct ast_type **out,
                        struct error *err)
{
    struct parser parser;
    TRY(begin(&parser, arena, text, err));
    struct ast_type *type;
    TRY(parser_data_type(&parser, &type));
    TRY(finish(&parser, false));
    *out = type;
    return OK;
}

void parser_place(struct bytes text, int position, int *line, int *column)
{
    *line = 1;
    *column = 1;
    size_t at = 0;
    while (at < text.size_bytes && at < (size_t)(position < 0 ? 0 : position)) {
        size_t size = utf8_sequence_size(bytes_of(text.data + at, text.size_bytes - at));
        if (text.data[at] == '\n') {
            *line += 1;
            *column = 1;
        } else {
            *column += 1;
        }
        at += size == 0 ? 1 : size;
    }
}
