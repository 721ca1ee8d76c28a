/* Types, as in CAST(x AS type) and STRUCT<a: INT>. */
#include "base/check.h"
#include "base/type_words.h"
#include "sql/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PRECISION_MAX 38

static const struct type_name {
    const char *name;
    enum ast_type_kind kind;
    int params_min, params_max;
} type_names[] = {
    {"BOOLEAN", AST_TYPE_BOOLEAN, 0, 0},
    {"TINYINT", AST_TYPE_TINYINT, 0, 0},
    {"BYTE", AST_TYPE_TINYINT, 0, 0},
    {"SMALLINT", AST_TYPE_SMALLINT, 0, 0},
    {"SHORT", AST_TYPE_SMALLINT, 0, 0},
    {"INT", AST_TYPE_INT, 0, 0},
    {"INTEGER", AST_TYPE_INT, 0, 0},
    {"BIGINT", AST_TYPE_BIGINT, 0, 0},
    {"LONG", AST_TYPE_BIGINT, 0, 0},
    {"FLOAT", AST_TYPE_FLOAT, 0, 0},
    {"REAL", AST_TYPE_FLOAT, 0, 0},
    {"DOUBLE", AST_TYPE_DOUBLE, 0, 0},
    {"DECIMAL", AST_TYPE_DECIMAL, 0, 2},
    {"DEC", AST_TYPE_DECIMAL, 0, 2},
    {"NUMERIC", AST_TYPE_DECIMAL, 0, 2},
    {"STRING", AST_TYPE_STRING, 0, 0},
    {"CHAR", AST_TYPE_CHAR, 1, 1},
    {"CHARACTER", AST_TYPE_CHAR, 1, 1},
    {"VARCHAR", AST_TYPE_VARCHAR, 1, 1},
    {"BINARY", AST_TYPE_BINARY, 0, 0},
    {"DATE", AST_TYPE_DATE, 0, 0},
    {"TIME", AST_TYPE_TIME, 0, 1},
    {"TIMESTAMP", AST_TYPE_TIMESTAMP, 0, 1},
    {"TIMESTAMP_LTZ", AST_TYPE_TIMESTAMP_LTZ, 0, 1},
    {"TIMESTAMP_NTZ", AST_TYPE_TIMESTAMP_NTZ, 0, 1},
    {"VOID", AST_TYPE_VOID, 0, 0},
    {"VARIANT", AST_TYPE_VARIANT, 0, 0},
    {"INTERVAL", AST_TYPE_INTERVAL, 0, 0},
    {"ARRAY", AST_TYPE_ARRAY, 0, 0},
    {"MAP", AST_TYPE_MAP, 0, 0},
    {"STRUCT", AST_TYPE_STRUCT, 0, 0},
};

/* One `>`, which may be part of `>>`, `>>>` or `>=`. */
static enum status close_angle(struct parser *parser)
{
    static const struct {
        enum token_kind kind;
        int angles;
    } kinds[] = {{TOKEN_GREATER, 1}, {TOKEN_SHIFT_RIGHT, 2}, {TOKEN_SHIFT_RIGHT_UNSIGNED, 3}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].kind != parser_kind(parser, 0))
            continue;
        parser->angles_used++;
        if (parser->angles_used == kinds[i].angles) {
            parser->angles_used = 0;
            parser_skip(parser, 1);
        }
        return OK;
    }
    return parser_unexpected(parser);
}

static enum status nested_type(struct parser *parser, struct ast_type **out)
{
    int saved;
    enum status status = parser_enter(parser, &saved);
    if (status == OK)
        status = parser_data_type(parser, out);
    parser_leave(parser, saved);
    return status;
}

static enum status struct_field(struct parser *parser, struct ast_type_field *out)
{
    *out = (struct ast_type_field){0};
    TRY(parser_name(parser, &out->name));
    parser_take(parser, TOKEN_COLON);
    TRY(nested_type(parser, &out->type));
    if (parser_keyword(parser, 0) == KW_NOT && parser_keyword(parser, 1) == KW_NULL) {
        out->not_null = true;
        parser_skip(parser, 2);
    }
    if (parser_take_keyword(parser, KW_COMMENT)) {
        out->has_comment = true;
        TRY(parser_string(parser, &out->comment));
    }
    return OK;
}

static enum status struct_fields(struct parser *parser, struct ast_type *type)
{
    struct parser_list list = {0};
    if (parser_take(parser, TOKEN_NOT_EQUAL)) /* STRUCT<> */
        return OK;
    parser_skip(parser, 1);
    if (parser_kind(parser, 0) != TOKEN_GREATER) {
        do {
            struct ast_type_field field;
            TRY(struct_field(parser, &field));
            *(struct ast_type_field *)parser_push(parser, &list, sizeof(field)) = field;
        } while (parser_take(parser, TOKEN_COMMA));
    }
    type->fields = list.items;
    type->field_count = list.count;
    return close_angle(parser);
}

static enum status incomplete(struct parser *parser, const struct ast_type *type)
{
    int end = parser_position_end(parser);
    switch (type->kind) {
    case AST_TYPE_ARRAY:
        return error_raise_at(parser->err, STATUS_INCOMPLETE_TYPE_DEFINITION__ARRAY, type->position,
                              end, "elementType", "<INT>", NULL);
    case AST_TYPE_MAP:
        return error_raise_at(parser->err, STATUS_INCOMPLETE_TYPE_DEFINITION__MAP, type->position,
                              end, NULL);
    default:
        return error_raise_at(parser->err, STATUS_INCOMPLETE_TYPE_DEFINITION__STRUCT,
                              type->position, end, NULL);
    }
}

static enum status brackets(struct parser *parser, struct ast_type *type)
{
    if (type->kind == AST_TYPE_STRUCT)
        return struct_fields(parser, type);
    parser_skip(parser, 1);
    if (type->kind == AST_TYPE_MAP) {
        TRY(nested_type(parser, &type->key));
        TRY(parser_want(parser, TOKEN_COMMA, AFTER_NOTHING));
    }
    TRY(nested_type(parser, &type->element));
    return close_angle(parser);
}

/* Where what is in the brackets is no type, Spark takes `<` for a comparison: the type ends before
 * it.  Behind COMMENT there is no way back. */
static enum status complex_type(struct parser *parser, struct ast_type *type)
{
    enum token_kind next = parser_kind(parser, 0);
    bool empty = type->kind == AST_TYPE_STRUCT && next == TOKEN_NOT_EQUAL;
    if (next == TOKEN_LESS || empty) {
        size_t start = parser->index;
        enum status status = brackets(parser, type);
        if (status != STATUS_PARSE_SYNTAX_ERROR ||
            parser->tokens.items[parser->index - 1].keyword == KW_COMMENT ||
            !parser_retry(parser, start))
            return status;
    }
    return incomplete(parser, type) == OK ? OK : parser_later(parser);
}

static enum status interval_fields(struct parser *parser, struct ast_type *type)
{
    type->from = parser_unit(parser, 0);
    bool field = type->from == AST_UNIT_YEAR || type->from == AST_UNIT_MONTH ||
                 type->from == AST_UNIT_DAY || type->from == AST_UNIT_HOUR ||
                 type->from == AST_UNIT_MINUTE || type->from == AST_UNIT_SECOND;
    if (!field) {
        type->from = AST_UNIT_NONE;
        return OK;
    }
    type->to = type->from;
    parser_skip(parser, 1);
    if (parser_keyword(parser, 0) != KW_TO)
        return OK;
    type->to = parser_unit(parser, 1);
    bool months = type->from == AST_UNIT_YEAR && type->to == AST_UNIT_MONTH;
    bool times =
        type->from >= AST_UNIT_DAY && type->to > type->from &&
        (type->to == AST_UNIT_HOUR || type->to == AST_UNIT_MINUTE || type->to == AST_UNIT_SECOND);
    if (months || times)
        parser_skip(parser, 2);
    else
        type->to = type->from; /* TO is not a part of the type then */
    return OK;
}

/* TIMESTAMP WITH LOCAL TIME ZONE, TIMESTAMP WITHOUT TIME ZONE. */
static void time_zone(struct parser *parser, struct ast_type *type)
{
    enum keyword word = parser_keyword(parser, 0);
    size_t local = word == KW_WITH && parser_keyword(parser, 1) == KW_LOCAL ? 1 : 0;
    if ((local == 0 && word != KW_WITHOUT) || parser_keyword(parser, 1 + local) != KW_TIME ||
        parser_keyword(parser, 2 + local) != KW_ZONE)
        return;
    type->kind = local == 1 ? AST_TYPE_TIMESTAMP_LTZ : AST_TYPE_TIMESTAMP_NTZ;
    parser_skip(parser, 3 + local);
}

static enum status type_params(struct parser *parser, const struct type_name *name, int64_t *params,
                               size_t *count)
{
    *count = 0;
    bool none = name == NULL || name->params_max == 0; /* then `(` may be of something else */
    if (parser_kind(parser, 0) != TOKEN_LEFT_PAREN ||
        (none && parser_kind(parser, 1) != TOKEN_INTEGER))
        return OK;
    parser_skip(parser, 1);
    do {
        if (parser_kind(parser, 0) != TOKEN_INTEGER)
            return parser_unexpected(parser);
        struct bytes text = parser_token_text(parser, parser_peek(parser, 0));
        char *digits = arena_strndup(parser->arena, text.data, text.size_bytes);
        params[*count < 2 ? *count : 2] = strtoll(digits, NULL, 10);
        *count += 1;
        parser_skip(parser, 1);
    } while (parser_take(parser, TOKEN_COMMA));
    return parser_close_list(parser, *count > 1);
}

/* The type in capitals, without blanks and backquotes. */
static const char *upper_text(struct parser *parser, int position, int position_end)
{
    char *text = arena_sprintf(parser->arena, "\"%.*s\"", position_end - position,
                               (const char *)parser->text.data + position);
    size_t at = 0;
    for (const char *c = text; *c != '\0'; c++)
        if (*c != '`' && *c != ' ')
            text[at++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 0x20 : *c);
    text[at] = '\0';
    return text;
}

static enum status decimal_params(struct parser *parser, const int64_t *params, size_t count,
                                  struct ast_type *type)
{
    int64_t precision = count > 0 ? params[0] : 10, scale = count > 1 ? params[1] : 0;
    const char *shown = arena_sprintf(parser->arena, "%lld", (long long)precision);
    int end = parser_position_end(parser);
    if (scale > precision)
        return error_raise_at(parser->err, STATUS_DECIMAL_SCALE_EXCEEDS_PRECISION, type->position,
                              end, "scale", arena_sprintf(parser->arena, "%lld", (long long)scale),
                              "precision", shown, NULL);
    if (precision > PRECISION_MAX)
        return error_raise_at(parser->err, STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION,
                              type->position, end, "precision", shown, "maxPrecision", "38", NULL);
    type->precision = (int)precision;
    type->scale = (int)scale;
    return OK;
}

/* Says which type is meant by what was just refused. */
static void suggest(struct parser *parser, const char *meant)
{
    struct error *err = parser->err;
    size_t used = strlen(err->text);
    if (meant != NULL && used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ". Did you mean %s?", meant);
}

static enum status scalar_type(struct parser *parser, const struct type_name *name,
                               const int64_t *params, size_t count, struct ast_type *type)
{
    int64_t first = count > 0 ? params[0] : 0;
    int end = parser_position_end(parser);
    const char *shown = upper_text(parser, type->position, end);
    if (count < (size_t)name->params_min)
        return error_raise_at(parser->err, STATUS_DATATYPE_MISSING_SIZE, type->position, end,
                              "type", shown, NULL);
    bool timestamp = type->kind == AST_TYPE_TIMESTAMP || type->kind == AST_TYPE_TIMESTAMP_LTZ ||
                     type->kind == AST_TYPE_TIMESTAMP_NTZ;
    bool digits = timestamp || type->kind == AST_TYPE_TIME;
    if (timestamp && count == 1 && first < 6) {
        (void)error_raise(parser->err, STATUS_INVALID_TIMESTAMP_PRECISION, NULL);
        TRY(parser_later(parser));
    }
    if (count > (size_t)name->params_max || (digits && count > 0 && first > 6) ||
        first > INT32_MAX) {
        (void)error_raise_at(parser->err, STATUS_UNSUPPORTED_DATATYPE, type->position, end,
                             "typeName", shown, NULL);
        if (name->params_max == 0)
            suggest(parser, name->name); /* without parameters */
        return parser->err->status;
    }
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        return decimal_params(parser, params, count, type) == OK ? OK : parser_later(parser);
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        type->length = (int)first;
        return OK;
    case AST_TYPE_TIME:
        type->precision = count > 0 ? (int)first : 6;
        return OK;
    case AST_TYPE_TIMESTAMP:
        time_zone(parser, type);
        return OK;
    case AST_TYPE_INTERVAL:
        return interval_fields(parser, type);
    case AST_TYPE_STRING:
        if (parser_keyword(parser, 0) == KW_COLLATE && parser_starts_name(parser, 1)) {
            struct ast_path path;
            parser_skip(parser, 1);
            TRY(parser_path(parser, &path));
            type->collation = bytes_of(parser->text.data + path.position,
                                       (size_t)(path.position_end - path.position));
        }
        return OK;
    default:
        return OK;
    }
}

static const struct type_name *find_type(struct bytes word)
{
    for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
        const char *text = type_names[i].name;
        if (word.size_bytes == strlen(text) &&
            strncasecmp((const char *)word.data, text, word.size_bytes) == 0)
            return &type_names[i];
    }
    return NULL;
}

bool parser_is_type(struct bytes word)
{
    return find_type(word) != NULL;
}

enum status parser_data_type(struct parser *parser, struct ast_type **out)
{
    struct ast_type *type = arena_new_object(parser->arena, sizeof(*type));
    type->position = parser_position(parser);
    struct ast_name word;
    TRY(parser_name_part(parser, &word));
    const struct type_name *name = word.quoted ? NULL : find_type(word.text);
    int64_t params[3] = {0};
    size_t count = 0;
    TRY(type_params(parser, name, params, &count));
    if (name == NULL) {
        (void)error_raise_at(parser->err, STATUS_UNSUPPORTED_DATATYPE, type->position,
                             parser_position_end(parser), "typeName",
                             upper_text(parser, type->position, parser_position_end(parser)), NULL);
        suggest(parser, type_word_meant(
                            arena_strndup(parser->arena, word.text.data, word.text.size_bytes)));
        TRY(parser_later(parser));
        name = &type_names[0];
        count = 0;
    }
    type->kind = name->kind;
    bool complex =
        name->kind == AST_TYPE_ARRAY || name->kind == AST_TYPE_MAP || name->kind == AST_TYPE_STRUCT;
    if (complex && count == 0)
        TRY(complex_type(parser, type));
    else
        TRY(scalar_type(parser, name, params, count, type));
    type->position_end = parser_position_end(parser);
    *out = type;
    return OK;
}
