/* Literals: numbers, strings, typed literals, the words NULL, TRUE and FALSE. */
#include "base/check.h"
#include "base/utf8.h"
#include "sql/parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define DECIMAL_DIGITS_MAX 38

static char *text_of(struct parser *parser, struct bytes text)
{
    return arena_strndup(parser->arena, text.data, text.size_bytes);
}

/* ---- strings ---- */

static int digit_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

/* Reads exactly `count` digits; false if they are not there. */
static bool read_digits(struct bytes text, size_t at, int base, size_t count, uint32_t *value)
{
    *value = 0;
    if (at + count > text.size_bytes)
        return false;
    for (size_t i = 0; i < count; i++) {
        int digit = digit_value(text.data[at + i]);
        if (digit < 0 || digit >= base)
            return false;
        *value = *value * (uint32_t)base + (uint32_t)digit;
    }
    return true;
}

static size_t add_code(uint8_t *out, uint32_t code)
{
    bool valid = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return utf8_encode(valid ? code : '?', out);
}

/* The escape whose backslash is at text[at - 1]; returns how many bytes it takes from `at`. */
static size_t unescape(struct bytes text, size_t at, uint8_t *out, size_t *size)
{
    uint32_t code, low;
    uint8_t byte = text.data[at];
    if (byte == 'u' && read_digits(text, at + 1, 16, 4, &code)) {
        if (code >= 0xD800 && code < 0xDC00 && at + 6 < text.size_bytes &&
            text.data[at + 5] == '\\' && text.data[at + 6] == 'u' &&
            read_digits(text, at + 7, 16, 4, &low) && low >= 0xDC00 && low < 0xE000) {
            *size += add_code(out + *size, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            return 11;
        }
        *size += add_code(out + *size, code);
        return 5;
    }
    if (byte == 'U' && read_digits(text, at + 1, 16, 8, &code)) {
        *size += add_code(out + *size, code);
        return 9;
    }
    if ((byte == '0' || byte == '1') && read_digits(text, at, 8, 3, &code)) {
        *size += add_code(out + *size, code);
        return 3;
    }
    static const char from[] = "0bntrZ";
    static const char to[] = "\0\b\n\t\r\x1a";
    const char *found = byte == '\0' ? NULL : strchr(from, byte);
    if (byte == '%' || byte == '_')
        out[(*size)++] = '\\';
    out[(*size)++] = found != NULL ? (uint8_t)to[found - from] : byte;
    return 1;
}

enum status parser_string(struct parser *parser, struct bytes *out)
{
    if (parser_kind(parser, 0) != TOKEN_STRING)
        return parser_unexpected(parser);
    struct bytes text = parser_token_text(parser, parser_peek(parser, 0));
    bool raw = text.data[0] == 'r' || text.data[0] == 'R';
    size_t start = raw ? 2 : 1;
    uint8_t quote = text.data[start - 1];
    CHECK(text.size_bytes > start);
    text.size_bytes--;
    uint8_t *data = arena_new_object(parser->arena, text.size_bytes);
    size_t size = 0;
    for (size_t i = start; i < text.size_bytes;) {
        if (!raw && text.data[i] == '\\' && i + 1 < text.size_bytes) {
            i += 1 + unescape(text, i + 1, data, &size);
            continue;
        }
        bool doubled = !raw && text.data[i] == quote;
        data[size++] = text.data[i];
        i += doubled ? 2 : 1;
    }
    parser_skip(parser, 1);
    *out = bytes_of(data, size);
    return OK;
}

/* Adjacent strings are one. */
static enum status strings(struct parser *parser, struct bytes *out)
{
    TRY(parser_string(parser, out));
    while (parser_kind(parser, 0) == TOKEN_STRING) {
        struct bytes more;
        TRY(parser_string(parser, &more));
        uint8_t *data = arena_new_object(parser->arena, out->size_bytes + more.size_bytes + 1);
        if (out->size_bytes > 0)
            memcpy(data, out->data, out->size_bytes);
        if (more.size_bytes > 0)
            memcpy(data + out->size_bytes, more.data, more.size_bytes);
        *out = bytes_of(data, out->size_bytes + more.size_bytes);
    }
    return OK;
}

/* ---- numbers ---- */

static const struct number_type {
    enum token_kind token;
    enum ast_literal_kind kind;
    int suffix_size;
    const char *name, *min, *max;
} number_types[] = {
    {TOKEN_TINYINT, AST_LITERAL_TINYINT, 1, "tinyint", "-128", "127"},
    {TOKEN_SMALLINT, AST_LITERAL_SMALLINT, 1, "smallint", "-32768", "32767"},
    {TOKEN_BIGINT, AST_LITERAL_BIGINT, 1, "bigint", "-9223372036854775808", "9223372036854775807"},
    {TOKEN_FLOAT, AST_LITERAL_FLOAT, 1, "float", "-3.4028234663852886E+38",
     "3.4028234663852886E+38"},
    {TOKEN_DOUBLE, AST_LITERAL_DOUBLE, 1, "double", "-1.7976931348623157E+308",
     "1.7976931348623157E+308"},
    {TOKEN_EXPONENT, AST_LITERAL_DOUBLE, 0, "double", "-1.7976931348623157E+308",
     "1.7976931348623157E+308"},
    {TOKEN_INTEGER, AST_LITERAL_INT, 0, "", "", ""},
    {TOKEN_DECIMAL, AST_LITERAL_DECIMAL, 0, "", "", ""},
    {TOKEN_BIGDECIMAL, AST_LITERAL_DECIMAL, 2, "", "", ""},
};

static enum status out_of_range(struct parser *parser, const struct number_type *type,
                                const char *text, int position)
{
    return error_raise_at(parser->err, STATUS_INVALID_NUMERIC_LITERAL_RANGE, position,
                          parser_position_end(parser), "rawStrippedQualifier", text, "typeName",
                          type->name, "minValue", type->min, "maxValue", type->max, NULL);
}

static long exponent_of(const char *text)
{
    long exponent = strtol(text, NULL, 10);
    return exponent > 1000000 ? 1000000 : exponent < -1000000 ? -1000000 : exponent;
}

/*
 * Plain digits, precision and scale of decimal text: "1.50", "1e2".  The exponent is applied;
 * integer zeros in front do not count.
 */
static enum status decimal(struct parser *parser, const char *text, int position,
                           struct ast_literal *out)
{
    size_t length = strlen(text);
    char *digits = arena_new_object(parser->arena, length + 1);
    long count = 0, scale = 0;
    bool point = false;
    const char *at = text + (*text == '-' ? 1 : 0);
    for (; *at != '\0' && (*at | 0x20) != 'e'; at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        scale += point ? 1 : 0;
        if (count > 0 || *at != '0')
            digits[count++] = *at;
    }
    if (*at != '\0')
        scale -= exponent_of(at + 1);
    long precision = count == 0 ? 1 : count;
    if (scale < 0) {
        precision = count == 0 ? 1 : count - scale;
        scale = count == 0 ? 0 : scale;
    }
    if (precision < scale)
        precision = scale;
    if (precision > DECIMAL_DIGITS_MAX || labs(scale) > DECIMAL_DIGITS_MAX)
        return error_raise_at(parser->err, STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION, position,
                              parser_position_end(parser), "precision",
                              arena_sprintf(parser->arena, "%ld", precision), "maxPrecision", "38",
                              NULL);
    char *plain = arena_new_object(parser->arena, DECIMAL_DIGITS_MAX + 8);
    size_t size = 0;
    if (*text == '-')
        plain[size++] = '-';
    long whole = precision - (scale > 0 ? scale : 0);
    long zeros = precision - count + (scale < 0 ? scale : 0); /* in front of the digits */
    if (whole == 0)
        plain[size++] = '0';
    for (long i = 0; i < precision; i++) {
        if (i == whole)
            plain[size++] = '.';
        plain[size++] = i < zeros || i - zeros >= count ? '0' : digits[i - zeros];
    }
    out->kind = AST_LITERAL_DECIMAL;
    out->integer = 0;
    out->text = bytes_of(plain, size);
    out->precision = (int)precision;
    out->scale = (int)(scale > 0 ? scale : 0);
    return OK;
}

/* An integer of a fixed width, or one without suffix, which takes the width it needs. */
static enum status integer(struct parser *parser, const struct number_type *type, const char *text,
                           int position, struct ast_literal *out)
{
    errno = 0;
    out->integer = strtoll(text, NULL, 10);
    bool fits = errno == 0;
    if (type->kind == AST_LITERAL_INT) {
        if (!fits)
            return decimal(parser, text, position, out);
        bool small = out->integer >= INT32_MIN && out->integer <= INT32_MAX;
        out->kind = small ? AST_LITERAL_INT : AST_LITERAL_BIGINT;
        return OK;
    }
    int64_t max = type->kind == AST_LITERAL_TINYINT    ? INT8_MAX
                  : type->kind == AST_LITERAL_SMALLINT ? INT16_MAX
                                                       : INT64_MAX;
    if (!fits || out->integer > max || out->integer < -max - 1)
        return out_of_range(parser, type, text, position);
    return OK;
}

static enum status floating(struct parser *parser, const struct number_type *type, const char *text,
                            int position, struct ast_literal *out)
{
    out->floating = strtod(text, NULL);
    if (type->kind == AST_LITERAL_FLOAT) { /* the limit is exact: 3.4028235E38F does not round */
        if (fabs(out->floating) > 3.4028234663852886E+38)
            return out_of_range(parser, type, text, position);
        out->floating = (double)strtof(text, NULL);
    }
    return isinf(out->floating) ? out_of_range(parser, type, text, position) : OK;
}

static enum status number(struct parser *parser, struct ast_expr **out)
{
    int position = parser_position(parser);
    bool minus = parser_take(parser, TOKEN_MINUS);
    const struct token *token = parser_peek(parser, 0);
    const struct number_type *type = number_types;
    while (type->token != token->kind)
        type++;
    struct bytes digits = parser_token_text(parser, token);
    const char *text =
        arena_sprintf(parser->arena, "%s%.*s", minus ? "-" : "",
                      (int)digits.size_bytes - type->suffix_size, (const char *)digits.data);
    parser_skip(parser, 1);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_LITERAL, position);
    expr->literal.kind = type->kind;
    enum status status;
    switch (type->kind) {
    case AST_LITERAL_FLOAT:
    case AST_LITERAL_DOUBLE:
        status = floating(parser, type, text, position, &expr->literal);
        break;
    case AST_LITERAL_DECIMAL:
        status = decimal(parser, text, position, &expr->literal);
        break;
    default:
        status = integer(parser, type, text, position, &expr->literal);
        break;
    }
    if (status != OK)
        TRY(parser_later(parser));
    return parser_finish(parser, expr, out);
}

/* ---- typed literals ---- */

static const struct typed {
    const char *name;
    enum ast_literal_kind kind;
} typed_literals[] = {
    {"DATE", AST_LITERAL_DATE},
    {"TIMESTAMP", AST_LITERAL_TIMESTAMP},
    {"TIMESTAMP_NTZ", AST_LITERAL_TIMESTAMP_NTZ},
    {"TIMESTAMP_LTZ", AST_LITERAL_TIMESTAMP_LTZ},
    {"TIME", AST_LITERAL_TIME},
    {"X", AST_LITERAL_BINARY},
    {"INTERVAL", AST_LITERAL_DAY_TIME},
};

static enum status binary(struct parser *parser, const struct ast_expr *expr,
                          struct ast_literal *out)
{
    struct bytes text = out->text;
    uint8_t *data = arena_new_object(parser->arena, text.size_bytes / 2 + 1);
    size_t odd = text.size_bytes % 2;
    for (size_t i = 0; i < text.size_bytes; i++) {
        int digit = digit_value(text.data[i]);
        if (digit < 0)
            return error_raise_at(parser->err, STATUS_INVALID_TYPED_LITERAL, expr->position,
                                  parser_position_end(parser), "valueType", "\"X\"", "value",
                                  arena_sprintf(parser->arena, "'%s'", text_of(parser, text)),
                                  NULL);
        size_t to = (i + odd) / 2;
        data[to] = (uint8_t)(data[to] << 4 | digit);
    }
    out->text = bytes_of(data, (text.size_bytes + odd) / 2);
    return OK;
}

/* word 'text': the present token is a word and a string follows. */
static enum status typed_literal(struct parser *parser, struct ast_expr **out)
{
    struct bytes word = parser_token_text(parser, parser_peek(parser, 0));
    struct ast_expr *expr = parser_node(parser, AST_EXPR_LITERAL, parser_position(parser));
    parser_skip(parser, 1);
    TRY(parser_string(parser, &expr->literal.text));
    char *name = text_of(parser, word);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 0x20 : *c);
    for (size_t i = 0; i < sizeof(typed_literals) / sizeof(typed_literals[0]); i++) {
        if (strcmp(name, typed_literals[i].name) == 0)
            expr->literal.kind = typed_literals[i].kind;
    }
    int end = parser_position_end(parser);
    struct bytes source =
        bytes_of(parser->text.data + expr->position, (size_t)(end - expr->position));
    switch ((int)expr->literal.kind) {
    case 0:
        (void)error_raise_at(
            parser->err, STATUS_UNSUPPORTED_TYPED_LITERAL, expr->position, end, "unsupportedType",
            arena_sprintf(parser->arena, "\"%s\"", name), "supportedTypes",
            "\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", "
            "\"TIME\"",
            NULL);
        TRY(parser_later(parser));
        break;
    case AST_LITERAL_BINARY:
        if (binary(parser, expr, &expr->literal) != OK)
            TRY(parser_later(parser));
        break;
    case AST_LITERAL_DAY_TIME:
        if (interval_from_text(expr->literal.text, source, &expr->literal, parser->err) != OK) {
            (void)error_at(parser->err, expr->position, end);
            TRY(parser_later(parser));
        }
        expr->literal.text = (struct bytes){0};
        break;
    default:
        break;
    }
    return parser_finish(parser, expr, out);
}

/* ---- INTERVAL 1 DAY 2 HOURS, INTERVAL '1-2' YEAR TO MONTH ---- */

static const struct unit_word {
    const char *name;
    enum ast_unit unit;
} unit_words[] = {
    {"YEAR", AST_UNIT_YEAR},
    {"QUARTER", AST_UNIT_QUARTER},
    {"MONTH", AST_UNIT_MONTH},
    {"WEEK", AST_UNIT_WEEK},
    {"DAY", AST_UNIT_DAY},
    {"DAYOFYEAR", AST_UNIT_DAYOFYEAR},
    {"HOUR", AST_UNIT_HOUR},
    {"MINUTE", AST_UNIT_MINUTE},
    {"SECOND", AST_UNIT_SECOND},
    {"MILLISECOND", AST_UNIT_MILLISECOND},
    {"MICROSECOND", AST_UNIT_MICROSECOND},
};

const char *ast_unit_name(enum ast_unit unit)
{
    for (size_t i = 0; i < sizeof(unit_words) / sizeof(unit_words[0]); i++) {
        if (unit_words[i].unit == unit)
            return unit_words[i].name;
    }
    return "";
}

static enum ast_unit unit_of(struct bytes word)
{
    for (size_t i = 0; i < sizeof(unit_words) / sizeof(unit_words[0]); i++) {
        if (word.size_bytes == strlen(unit_words[i].name) &&
            strncasecmp((const char *)word.data, unit_words[i].name, word.size_bytes) == 0)
            return unit_words[i].unit;
    }
    return AST_UNIT_NONE;
}

enum ast_unit parser_unit(const struct parser *parser, size_t ahead)
{
    const struct token *token = parser_peek(parser, ahead);
    return token->kind == TOKEN_WORD ? unit_of(parser_token_text(parser, token)) : AST_UNIT_NONE;
}

/* A unit of an interval literal: singular or plural, no QUARTER, no DAYOFYEAR. */
static enum ast_unit interval_unit(const struct parser *parser, size_t ahead)
{
    const struct token *token = parser_peek(parser, ahead);
    if (token->kind != TOKEN_WORD)
        return AST_UNIT_NONE;
    struct bytes word = parser_token_text(parser, token);
    if ((word.data[word.size_bytes - 1] | 0x20) == 's')
        word.size_bytes--;
    if (word.size_bytes == 10 && strncasecmp((const char *)word.data, "NANOSECOND", 10) == 0)
        return AST_UNIT_MICROSECOND; /* a unit for the grammar; its value is refused */
    enum ast_unit unit = unit_of(word);
    return unit == AST_UNIT_QUARTER || unit == AST_UNIT_DAYOFYEAR ? AST_UNIT_NONE : unit;
}

static size_t sign_ahead(const struct parser *parser, size_t ahead)
{
    enum token_kind kind = parser_kind(parser, ahead);
    return kind == TOKEN_PLUS || kind == TOKEN_MINUS ? 1 : 0;
}

static bool interval_value_ahead(const struct parser *parser, size_t ahead)
{
    ahead += sign_ahead(parser, ahead);
    enum token_kind kind = parser_kind(parser, ahead);
    if (kind == TOKEN_STRING)
        return interval_unit(parser, ahead + 1) != AST_UNIT_NONE;
    return kind == TOKEN_INTEGER || kind == TOKEN_DECIMAL;
}

bool parser_interval_ahead(const struct parser *parser)
{
    if (parser_keyword(parser, 0) != KW_INTERVAL || !interval_value_ahead(parser, 1))
        return false;
    size_t sign = sign_ahead(parser, 1);
    return sign == 0 || interval_unit(parser, 2 + sign) != AST_UNIT_NONE;
}

static enum status interval_pair(struct parser *parser, struct interval_pair *out)
{
    *out = (struct interval_pair){.minus = parser_kind(parser, 0) == TOKEN_MINUS};
    int position = parser_position(parser);
    parser_skip(parser, sign_ahead(parser, 0));
    if (parser_kind(parser, 0) == TOKEN_STRING) {
        out->quoted = true;
        TRY(parser_string(parser, &out->value));
    } else {
        int end = parser_peek(parser, 0)->position_end;
        out->value = bytes_of(parser->text.data + position, (size_t)(end - position));
        parser_skip(parser, 1);
    }
    if (interval_unit(parser, 0) == AST_UNIT_NONE)
        return parser_unexpected(parser);
    out->unit = parser_token_text(parser, parser_peek(parser, 0));
    parser_skip(parser, 1);
    return OK;
}

/* The `TO unit` form, whose first unit is read. */
static enum status interval_range(struct parser *parser, const struct interval_pair *first,
                                  struct ast_literal *out)
{
    struct bytes unit = first->unit;
    if ((unit.data[unit.size_bytes - 1] | 0x20) == 's')
        unit.size_bytes--;
    parser_skip(parser, 1);
    enum ast_unit to = interval_unit(parser, 0);
    if (to == AST_UNIT_NONE)
        return parser_unexpected(parser);
    parser_skip(parser, 1);
    struct bytes value = first->value;
    if (first->quoted && first->minus) {
        bool negative = value.size_bytes > 0 && value.data[0] == '-';
        const char *text =
            arena_sprintf(parser->arena, "%s%.*s", negative ? "" : "-",
                          (int)value.size_bytes - negative, (const char *)value.data + negative);
        value = bytes_of_text(text);
    }
    return interval_from_to(value, unit_of(unit), to, out, parser->err);
}

enum status parser_interval(struct parser *parser, struct ast_expr **out)
{
    if (parser_keyword(parser, 0) != KW_INTERVAL)
        return parser_unexpected(parser);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_LITERAL, parser_position(parser));
    parser_skip(parser, 1);
    if (!interval_value_ahead(parser, 0))
        return parser_unexpected(parser);
    struct parser_list list = {0};
    enum status status;
    do {
        struct interval_pair pair;
        TRY(interval_pair(parser, &pair));
        *(struct interval_pair *)parser_push(parser, &list, sizeof(pair)) = pair;
    } while (interval_value_ahead(parser, 0) && interval_unit(parser, 1 + sign_ahead(parser, 0)));
    if (list.count == 1 && parser_keyword(parser, 0) == KW_TO) {
        status = interval_range(parser, list.items, &expr->literal);
    } else {
        int end = parser_position_end(parser);
        struct bytes source =
            bytes_of(parser->text.data + expr->position, (size_t)(end - expr->position));
        status = interval_from_pairs(list.items, list.count, source, &expr->literal, parser->err);
        if (status != OK) {
            (void)error_at(parser->err, expr->position, end);
            status = parser_later(parser);
        }
    }
    if (status != OK)
        return error_at(parser->err, expr->position, parser_position_end(parser));
    return parser_finish(parser, expr, out);
}

enum status parser_literal(struct parser *parser, struct ast_expr **out)
{
    *out = NULL;
    const struct token *token = parser_peek(parser, 0);
    size_t sign = token->kind == TOKEN_MINUS ? 1 : 0;
    enum token_kind kind = parser_kind(parser, sign);
    if (kind >= TOKEN_INTEGER && kind <= TOKEN_BIGDECIMAL)
        return number(parser, out);
    if (token->kind == TOKEN_WORD && parser_interval_ahead(parser))
        return parser_interval(parser, out);
    bool word = token->kind == TOKEN_WORD && token->keyword != KW_CASE;
    if (word && parser_kind(parser, 1) == TOKEN_STRING)
        return typed_literal(parser, out);
    struct ast_expr *expr = parser_node(parser, AST_EXPR_LITERAL, token->position);
    if (token->kind == TOKEN_STRING) {
        expr->literal.kind = AST_LITERAL_STRING;
        TRY(strings(parser, &expr->literal.text));
        return parser_finish(parser, expr, out);
    }
    if (token->keyword != KW_NULL && token->keyword != KW_TRUE && token->keyword != KW_FALSE)
        return OK;
    expr->literal.kind = token->keyword == KW_NULL ? AST_LITERAL_NULL : AST_LITERAL_BOOLEAN;
    expr->literal.boolean = token->keyword == KW_TRUE;
    parser_skip(parser, 1);
    return parser_finish(parser, expr, out);
}
