/*
 * Types and lists of columns in Spark's DDL.
 *
 * Errors come in two kinds.  Syntax errors end parsing.  An unknown type or a decimal out of bounds
 * is only remembered, because Spark looks at the meaning of a text only if all of it parses: the
 * first such error is raised at the end.
 */
#include "base/check.h"
#include "base/type_words.h"
#include "columnar/type.h"
#include "columnar/type_json.h"

#include <stdio.h>

#define NESTING_MAX 100
#define TOKEN_MAX   256
#define FIELDS_MAX  10000

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* identifier, number or keyword */
    TOKEN_QUOTED, /* `name` */
    TOKEN_STRING, /* 'text' or "text" */
    TOKEN_SYMBOL,
};

struct token {
    enum token_kind kind;
    char text[TOKEN_MAX]; /* without quotes */
    int start;
    int end;
};

struct parser {
    struct arena *arena;
    struct bytes input;
    size_t at;
    struct token token; /* the next one */
    int depth;
    bool in_comment;       /* the syntax error is behind COMMENT */
    bool plain;            /* the token before the next one is a type's keyword, and all of it */
    bool refuse_char;      /* CHAR and VARCHAR are errors here */
    struct error deferred; /* of meaning: raised if the syntax is right */
    struct error later;    /* the errors of meaning after it, never looked at */
    struct error *err;
};

static enum status parse_type(struct parser *parser, const struct type **out);

/* ---- tokens ---- */

static bool is_word_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c >= 0x80;
}

static bool starts(const struct parser *parser, const char *text)
{
    size_t size = strlen(text);
    return parser->input.size_bytes - parser->at >= size &&
           memcmp(parser->input.data + parser->at, text, size) == 0;
}

static void skip_blanks(struct parser *parser)
{
    while (parser->at < parser->input.size_bytes) {
        uint8_t c = parser->input.data[parser->at];
        if (c <= ' ') {
            parser->at++;
        } else if (starts(parser, "--")) {
            while (parser->at < parser->input.size_bytes && parser->input.data[parser->at] != '\n')
                parser->at++;
        } else if (starts(parser, "/*")) {
            while (parser->at < parser->input.size_bytes && !starts(parser, "*/"))
                parser->at++;
            parser->at += parser->at < parser->input.size_bytes ? 2 : 0;
        } else {
            return;
        }
    }
}

/* Text up to the closing quote, which doubled stands for itself.  False: no end. */
static bool read_quoted(struct parser *parser, uint8_t quote)
{
    struct token *token = &parser->token;
    size_t size = 0;
    for (parser->at++; parser->at < parser->input.size_bytes; parser->at++) {
        uint8_t c = parser->input.data[parser->at];
        if (c == quote) {
            bool doubled = parser->at + 1 < parser->input.size_bytes &&
                           parser->input.data[parser->at + 1] == quote;
            if (!doubled) {
                parser->at++;
                token->text[size] = '\0';
                return true;
            }
            parser->at++;
        } else if (c == '\\' && quote != '`' && parser->at + 1 < parser->input.size_bytes) {
            c = parser->input.data[++parser->at];
        }
        if (size + 1 >= TOKEN_MAX)
            return false;
        token->text[size++] = (char)c;
    }
    return false;
}

static enum status syntax_error(struct parser *parser, bool extra)
{
    const struct token *token = &parser->token;
    char near[TOKEN_MAX + 4];
    char hint[TOKEN_MAX + 24] = "";
    int size = token->end - token->start;
    if (token->kind == TOKEN_END)
        (void)snprintf(near, sizeof(near), "end of input");
    else
        (void)snprintf(near, sizeof(near), "'%.*s'", size > TOKEN_MAX ? TOKEN_MAX : size,
                       (const char *)parser->input.data + token->start);
    if (extra)
        (void)snprintf(hint, sizeof(hint), ": extra input %s", near);
    return error_raise_at(parser->err, STATUS_PARSE_SYNTAX_ERROR, token->start, token->end, "error",
                          near, "hint", hint, NULL);
}

/* At the point of a number such as 1.5, of which `size` bytes have been read. */
static bool at_fraction(const struct parser *parser, size_t size)
{
    const uint8_t *at = parser->input.data + parser->at;
    bool number = *at == '.' && size > 0 && parser->at + 1 < parser->input.size_bytes &&
                  at[1] >= '0' && at[1] <= '9';
    for (size_t i = 1; number && i <= size; i++)
        number = at[-(ptrdiff_t)i] >= '0' && at[-(ptrdiff_t)i] <= '9';
    return number;
}

static enum status next_token(struct parser *parser)
{
    struct token *token = &parser->token;
    skip_blanks(parser);
    token->start = (int)parser->at;
    token->end = token->start;
    token->text[0] = '\0';
    token->kind = TOKEN_END;
    if (parser->at == parser->input.size_bytes)
        return OK;
    uint8_t c = parser->input.data[parser->at];
    if (is_word_byte(c)) {
        size_t size = 0;
        token->kind = TOKEN_WORD;
        while (parser->at < parser->input.size_bytes && size + 1 < TOKEN_MAX &&
               (is_word_byte(parser->input.data[parser->at]) || at_fraction(parser, size)))
            token->text[size++] = (char)parser->input.data[parser->at++];
        token->text[size] = '\0';
    } else if (c == '`' || c == '\'' || c == '"') {
        token->kind = c == '`' ? TOKEN_QUOTED : TOKEN_STRING;
        if (!read_quoted(parser, c)) {
            (void)snprintf(token->text, sizeof(token->text), "%c", c);
            token->end = token->start + 1;
            return syntax_error(parser, false);
        }
    } else {
        token->kind = TOKEN_SYMBOL;
        bool pair = starts(parser, "<>");
        (void)snprintf(token->text, sizeof(token->text), "%s", pair ? "<>" : (char[]){(char)c, 0});
        parser->at += pair ? 2 : 1;
    }
    token->end = (int)parser->at;
    return OK;
}

static bool equal_ignoring_case(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
        int y = *b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b;
        if (x != y)
            return false;
    }
    return *a == *b;
}

static bool at_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD && equal_ignoring_case(parser->token.text, word);
}

static bool is_number(const struct token *token)
{
    return token->kind == TOKEN_WORD && strspn(token->text, "0123456789.") == strlen(token->text);
}

static bool at_symbol(const struct parser *parser, char symbol)
{
    return parser->token.kind == TOKEN_SYMBOL && parser->token.text[0] == symbol &&
           parser->token.text[1] == '\0';
}

static enum status expect_symbol(struct parser *parser, char symbol)
{
    if (!at_symbol(parser, symbol))
        return syntax_error(parser, false);
    return next_token(parser);
}

static enum status expect_word(struct parser *parser, const char *word)
{
    if (!at_word(parser, word))
        return syntax_error(parser, false);
    return next_token(parser);
}

/* ---- errors of meaning ---- */

/* Where to record such an error: only the first one counts. */
static struct error *deferred(struct parser *parser)
{
    struct error *where = parser->deferred.status == OK ? &parser->deferred : &parser->later;
    *where = (struct error)ERROR_INIT;
    return where;
}

static void defer_unsupported(struct parser *parser, const struct token *name, const char *suffix)
{
    char text[TOKEN_MAX * 2];
    (void)snprintf(text, sizeof(text), "\"%s%s\"", name->text, suffix);
    for (char *at = text; *at != '\0'; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    (void)error_raise_at(deferred(parser), STATUS_UNSUPPORTED_DATATYPE, name->start, name->end,
                         "typeName", text, NULL);
}

/* ---- types ---- */

/* "(1,2)" behind a type name. */
struct parameters {
    int count;
    int values[2];
    char text[64];
};

static enum status parse_parameters(struct parser *parser, struct parameters *out)
{
    *out = (struct parameters){0};
    if (!at_symbol(parser, '('))
        return OK;
    size_t used = (size_t)snprintf(out->text, sizeof(out->text), "(");
    do {
        TRY(next_token(parser));
        const char *digits = parser->token.text;
        if (parser->token.kind != TOKEN_WORD || strspn(digits, "0123456789") != strlen(digits) ||
            strlen(digits) > 9)
            return syntax_error(parser, false);
        int value = 0;
        for (const char *at = digits; *at != '\0'; at++)
            value = value * 10 + (*at - '0');
        if (out->count < 2)
            out->values[out->count] = value;
        if (used < sizeof(out->text) - 12)
            used += (size_t)snprintf(out->text + used, sizeof(out->text) - used, "%s%d",
                                     out->count > 0 ? "," : "", value);
        out->count++;
        TRY(next_token(parser));
    } while (at_symbol(parser, ','));
    (void)snprintf(out->text + used, sizeof(out->text) - used, ")");
    return expect_symbol(parser, ')');
}

static const struct type *make_decimal(struct parser *parser, const struct token *name,
                                       const struct parameters *parameters)
{
    int precision = parameters->count > 0 ? parameters->values[0] : 10;
    int scale = parameters->count > 1 ? parameters->values[1] : 0;
    char first[16];
    char second[16];
    (void)snprintf(first, sizeof(first), "%d", precision);
    (void)snprintf(second, sizeof(second), "%d", scale);
    if (parameters->count > 2 || precision == 0) {
        defer_unsupported(parser, name, parameters->text);
    } else if (scale > precision) {
        (void)error_raise_at(deferred(parser), STATUS_DECIMAL_SCALE_EXCEEDS_PRECISION, name->start,
                             name->end, "scale", second, "precision", first, NULL);
    } else if (precision > DECIMAL_PRECISION_MAX) {
        (void)error_raise_at(deferred(parser), STATUS_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION,
                             name->start, name->end, "precision", first, "maxPrecision", "38",
                             NULL);
    } else {
        return type_decimal(parser->arena, precision, scale);
    }
    return type_simple(TYPE_DECIMAL);
}

static const struct {
    const char *name;
    enum type_id id;
} type_names[] = {
    {"boolean", TYPE_BOOLEAN},
    {"tinyint", TYPE_BYTE},
    {"byte", TYPE_BYTE},
    {"smallint", TYPE_SHORT},
    {"short", TYPE_SHORT},
    {"int", TYPE_INT},
    {"integer", TYPE_INT},
    {"bigint", TYPE_LONG},
    {"long", TYPE_LONG},
    {"float", TYPE_FLOAT},
    {"real", TYPE_FLOAT},
    {"double", TYPE_DOUBLE},
    {"decimal", TYPE_DECIMAL},
    {"dec", TYPE_DECIMAL},
    {"numeric", TYPE_DECIMAL},
    {"string", TYPE_STRING},
    {"binary", TYPE_BINARY},
    {"date", TYPE_DATE},
    {"timestamp", TYPE_TIMESTAMP},
    {"timestamp_ltz", TYPE_TIMESTAMP},
    {"timestamp_ntz", TYPE_TIMESTAMP_NTZ},
    {"time", TYPE_TIME},
    {"variant", TYPE_VARIANT},
    {"void", TYPE_VOID},
};

static enum status make_char(struct parser *parser, const struct token *name,
                             const struct parameters *parameters, const struct type **out)
{
    char quoted[TOKEN_MAX + 2];
    (void)snprintf(quoted, sizeof(quoted), "\"%s\"",
                   equal_ignoring_case(name->text, "varchar") ? "VARCHAR" : "CHAR");
    if (parameters->count == 0)
        (void)error_raise_at(deferred(parser), STATUS_DATATYPE_MISSING_SIZE, name->start, name->end,
                             "type", quoted, NULL);
    else if (parameters->count > 1)
        defer_unsupported(parser, name, parameters->text);
    else if (parser->refuse_char)
        (void)error_raise_at(deferred(parser), STATUS_UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING,
                             name->start, name->end, NULL);
    *out = type_simple(TYPE_STRING);
    return OK;
}

/* Says which type is meant by what was just refused. */
static void suggest(struct parser *parser, const char *meant)
{
    struct error *err = parser->later.status == OK ? &parser->deferred : &parser->later;
    size_t used = strlen(err->text);
    if (meant == NULL || used >= sizeof err->text)
        return;
    (void)snprintf(err->text + used, sizeof err->text - used, ". Did you mean %s?", meant);
    for (char *at = err->text + used + strlen(". Did you mean "); *at != '\0'; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
}

/* What the name says, once its parameters are read. */
static enum status make_named(struct parser *parser, const struct token *name,
                              const struct parameters *parameters, const struct type **out)
{
    static const char *const char_names[] = {"char", "character", "varchar"};
    for (size_t i = 0; i < sizeof(char_names) / sizeof(*char_names); i++)
        if (equal_ignoring_case(name->text, char_names[i]))
            return make_char(parser, name, parameters, out);
    *out = type_simple(TYPE_STRING);
    for (size_t i = 0; i < sizeof(type_names) / sizeof(*type_names); i++) {
        if (!equal_ignoring_case(name->text, type_names[i].name))
            continue;
        enum type_id id = type_names[i].id;
        if (id == TYPE_DECIMAL) {
            *out = make_decimal(parser, name, parameters);
        } else if (id == TYPE_TIME && parameters->count == 1 && parameters->values[0] <= 6) {
            *out = type_time(parser->arena, parameters->values[0]);
        } else if ((id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ) && parameters->count == 1 &&
                   parameters->values[0] < 6) {
            (void)error_raise(deferred(parser), STATUS_INVALID_TIMESTAMP_PRECISION, NULL);
        } else if (parameters->count == 0 ||
                   ((id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ) && parameters->count == 1 &&
                    parameters->values[0] == 6)) {
            *out = type_simple(id);
        } else {
            defer_unsupported(parser, name, parameters->text);
            suggest(parser, name->text); /* without parameters */
        }
        return OK;
    }
    defer_unsupported(parser, name, parameters->text);
    suggest(parser, type_word_meant(name->text));
    return OK;
}

/* The words one after another, or none of them. */
static enum status take_words(struct parser *parser, const char *const *words, bool *taken)
{
    struct token first = parser->token;
    size_t at = parser->at;
    *taken = false;
    for (; *words != NULL; words++) {
        if (!at_word(parser, *words)) {
            parser->token = first;
            parser->at = at;
            return OK;
        }
        TRY(next_token(parser));
    }
    *taken = true;
    return OK;
}

/* TIMESTAMP [WITH LOCAL TIME ZONE | WITHOUT TIME ZONE] */
static enum status parse_time_zone_words(struct parser *parser, const struct type **type)
{
    static const char *const with[] = {"with", "local", "time", "zone", NULL};
    static const char *const without[] = {"without", "time", "zone", NULL};
    bool taken;
    if (at_word(parser, "with"))
        return take_words(parser, with, &taken);
    TRY(take_words(parser, without, &taken));
    if (taken && (*type)->id == TYPE_TIMESTAMP)
        *type = type_simple(TYPE_TIMESTAMP_NTZ);
    return OK;
}

static int interval_word(const struct parser *parser)
{
    static const char *const words[] = {"year", "month", "day", "hour", "minute", "second"};
    for (int i = 0; i < 6; i++)
        if (at_word(parser, words[i]))
            return i;
    return -1;
}

static enum status parse_interval_end(struct parser *parser, int from, int to,
                                      const struct type **out)
{
    *out = type_interval(parser->arena, (enum interval_field)from, (enum interval_field)to);
    return next_token(parser);
}

static enum status parse_interval(struct parser *parser, const struct type **out)
{
    int from = interval_word(parser);
    int to = from;
    if (from < 0) {
        *out = type_simple(TYPE_INTERVAL);
        return OK;
    }
    parser->plain = false;
    TRY(next_token(parser));
    if (at_word(parser, "to")) {
        struct token word = parser->token;
        size_t at = parser->at;
        TRY(next_token(parser));
        to = interval_word(parser);
        bool fits = to > from && (from <= INTERVAL_MONTH) == (to <= INTERVAL_MONTH);
        if (fits)
            return parse_interval_end(parser, from, to, out);
        parser->token = word; /* TO is not a part of the type then */
        parser->at = at;
        to = from;
    }
    *out = type_interval(parser->arena, (enum interval_field)from, (enum interval_field)to);
    return OK;
}

static enum status parse_array(struct parser *parser, const struct type **out)
{
    const struct type *element;
    TRY(expect_symbol(parser, '<'));
    TRY(parse_type(parser, &element));
    *out = type_array(parser->arena, element, true);
    return expect_symbol(parser, '>');
}

static enum status parse_map(struct parser *parser, const struct type **out)
{
    const struct type *key;
    const struct type *value;
    TRY(expect_symbol(parser, '<'));
    TRY(parse_type(parser, &key));
    TRY(expect_symbol(parser, ','));
    TRY(parse_type(parser, &value));
    *out = type_map(parser->arena, key, value, true);
    return expect_symbol(parser, '>');
}

/* name [:] type [NOT NULL] [COMMENT 'text'] */
static enum status parse_field(struct parser *parser, bool colon, struct type_field *out)
{
    *out = (struct type_field){.nullable = true};
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_QUOTED)
        return syntax_error(parser, false);
    if (is_number(&parser->token))
        return syntax_error(parser, false);
    out->name = arena_strdup(parser->arena, parser->token.text);
    TRY(next_token(parser));
    if (colon && at_symbol(parser, ':'))
        TRY(next_token(parser));
    TRY(parse_type(parser, &out->type));
    if (at_word(parser, "not")) {
        TRY(next_token(parser));
        if (parser->token.kind == TOKEN_END)
            return error_raise_at(parser->err, STATUS_PARSE_SYNTAX_ERROR, parser->token.start,
                                  parser->token.end, "error", "end of input", "hint",
                                  ": missing 'NULL'", NULL);
        TRY(expect_word(parser, "null"));
        out->nullable = false;
    }
    if (at_word(parser, "comment")) {
        TRY(next_token(parser));
        parser->in_comment = parser->token.kind != TOKEN_STRING;
        if (parser->in_comment)
            return syntax_error(parser, false);
        out->comment = arena_strdup(parser->arena, parser->token.text);
        TRY(next_token(parser));
    }
    return OK;
}

/* Fields, separated by commas, as a STRUCT. */
static enum status parse_fields(struct parser *parser, bool colon, const struct type **out)
{
    struct buffer fields = {0};
    enum status status = OK;
    uint32_t count = 0;
    for (;;) {
        struct type_field field;
        TRY_OUT(parse_field(parser, colon, &field));
        buffer_add(&fields, &field, sizeof(field));
        if (++count > FIELDS_MAX) {
            status = error_raise(parser->err, STATUS_LIMIT_EXCEEDED, "what", "a list of columns",
                                 "limit", "10000", NULL);
            goto out;
        }
        if (!at_symbol(parser, ','))
            break;
        TRY_OUT(next_token(parser));
    }
    *out = type_struct(parser->arena, (const void *)fields.data, count);
out:
    buffer_fini(&fields);
    return status;
}

static enum status parse_struct(struct parser *parser, const struct type **out)
{
    TRY(expect_symbol(parser, '<'));
    if (at_symbol(parser, '>'))
        *out = type_struct(parser->arena, NULL, 0);
    else
        TRY(parse_fields(parser, true, out));
    return expect_symbol(parser, '>');
}

static void defer_incomplete(struct parser *parser, const struct token *name)
{
    if (equal_ignoring_case(name->text, "array"))
        (void)error_raise_at(deferred(parser), STATUS_INCOMPLETE_TYPE_DEFINITION__ARRAY,
                             name->start, name->end, "elementType", "<INT>", NULL);
    else
        (void)error_raise_at(deferred(parser),
                             equal_ignoring_case(name->text, "map")
                                 ? STATUS_INCOMPLETE_TYPE_DEFINITION__MAP
                                 : STATUS_INCOMPLETE_TYPE_DEFINITION__STRUCT,
                             name->start, name->end, NULL);
}

/* Where what is in the brackets is no type, Spark takes `<` for a comparison: it is what is wrong.
 */
static enum status parse_bracket(struct parser *parser, const struct token *name,
                                 const struct type **out)
{
    struct token bracket = parser->token;
    enum status status = equal_ignoring_case(name->text, "array") ? parse_array(parser, out)
                         : equal_ignoring_case(name->text, "map") ? parse_map(parser, out)
                                                                  : parse_struct(parser, out);
    if (status != STATUS_PARSE_SYNTAX_ERROR || parser->in_comment)
        return status;
    parser->token = bracket;
    error_clear(parser->err);
    return syntax_error(parser, false);
}

static enum status parse_nested(struct parser *parser, const struct token *name,
                                const struct type **out)
{
    if (at_symbol(parser, '<'))
        return parse_bracket(parser, name, out);
    bool empty = parser->token.kind == TOKEN_SYMBOL && strcmp(parser->token.text, "<>") == 0;
    if (empty && equal_ignoring_case(name->text, "struct")) {
        *out = type_struct(parser->arena, NULL, 0);
        return next_token(parser);
    }
    if (empty)
        return syntax_error(parser, false);
    defer_incomplete(parser, name);
    *out = type_simple(TYPE_STRING);
    return OK;
}

static enum status parse_collation(struct parser *parser)
{
    if (!at_word(parser, "collate"))
        return OK;
    TRY(next_token(parser));
    struct token name = parser->token;
    if (!at_word(parser, "utf8_binary"))
        (void)error_raise_at(deferred(parser), STATUS_NOT_SUPPORTED, name.start, name.end,
                             "feature", "A collation other than UTF8_BINARY", NULL);
    return next_token(parser);
}

static bool is_type_name(const char *word)
{
    static const char *const others[] = {"array", "map",     "struct",   "interval",
                                         "char",  "varchar", "character"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (equal_ignoring_case(word, others[i]))
            return true;
    for (size_t i = 0; i < sizeof(type_names) / sizeof(*type_names); i++)
        if (equal_ignoring_case(word, type_names[i].name))
            return true;
    return false;
}

static enum status parse_type(struct parser *parser, const struct type **out)
{
    bool quoted = parser->token.kind == TOKEN_QUOTED;
    if ((parser->token.kind != TOKEN_WORD && !quoted) || is_number(&parser->token))
        return syntax_error(parser, false);
    if (parser->depth >= NESTING_MAX)
        return error_raise(parser->err, STATUS_LIMIT_EXCEEDED, "what", "the nesting of a type",
                           "limit", "100", NULL);
    struct token name = parser->token;
    TRY(next_token(parser));
    struct parameters parameters;
    if (quoted) { /* no type's name */
        parser->plain = false;
        TRY(parse_parameters(parser, &parameters));
        defer_unsupported(parser, &name, parameters.text);
        suggest(parser, type_word_meant(name.text));
        *out = type_simple(TYPE_STRING);
        return OK;
    }
    parser->plain = is_type_name(name.text) && !at_symbol(parser, '(');
    if (equal_ignoring_case(name.text, "array") || equal_ignoring_case(name.text, "map") ||
        equal_ignoring_case(name.text, "struct")) {
        parser->depth++;
        TRY(parse_nested(parser, &name, out));
        parser->depth--;
        return OK;
    }
    if (equal_ignoring_case(name.text, "interval"))
        return parse_interval(parser, out);
    TRY(parse_parameters(parser, &parameters));
    TRY(make_named(parser, &name, &parameters, out));
    if (equal_ignoring_case(name.text, "string"))
        return parse_collation(parser);
    if (equal_ignoring_case(name.text, "timestamp") || equal_ignoring_case(name.text, "time"))
        return parse_time_zone_words(parser, out);
    return OK;
}

/* ---- entry points ---- */

static enum status begin(struct parser *parser)
{
    TRY(next_token(parser));
    if (parser->token.kind == TOKEN_END)
        return error_raise_at(parser->err, STATUS_PARSE_EMPTY_STATEMENT, 0, 0, NULL);
    return OK;
}

/* Nothing may follow; then the errors of meaning. */
static enum status finish(struct parser *parser)
{
    if (parser->token.kind != TOKEN_END) {
        struct token extra = parser->token;
        size_t at = parser->at;
        struct error *err = parser->err;
        struct error ignored = ERROR_INIT;
        parser->err = &ignored;
        bool last = next_token(parser) == OK && parser->token.kind == TOKEN_END;
        parser->err = err;
        parser->token = extra;
        parser->at = at;
        return syntax_error(parser, last && !parser->plain);
    }
    if (parser->deferred.status == OK)
        return OK;
    *parser->err = parser->deferred;
    return parser->deferred.status;
}

static struct parser *parser_new(struct arena *arena, struct bytes text, struct error *err)
{
    struct parser *parser = arena_new_object(arena, sizeof(*parser));
    parser->arena = arena;
    parser->input = text;
    parser->err = err;
    return parser;
}

static enum status parse_single(struct arena *arena, struct bytes text, const struct type **out,
                                struct error *err)
{
    struct parser *parser = parser_new(arena, text, err);
    TRY(begin(parser));
    TRY(parse_type(parser, out));
    return finish(parser);
}

static enum status parse_columns(struct arena *arena, struct bytes text, const struct type **out,
                                 struct error *err)
{
    struct parser *parser = parser_new(arena, text, err);
    parser->refuse_char = true;
    TRY(begin(parser));
    TRY(parse_fields(parser, false, out));
    return finish(parser);
}

static bool is_json(struct bytes text)
{
    size_t i = 0;
    while (i < text.size_bytes && text.data[i] <= ' ')
        i++;
    return i < text.size_bytes && (text.data[i] == '{' || text.data[i] == '"');
}

enum status type_parse(struct arena *arena, struct bytes text, const struct type **out,
                       struct error *err)
{
    if (is_json(text))
        return type_parse_json(arena, text, out, err);
    enum status status = parse_single(arena, text, out, err);
    if (status == OK)
        return OK;
    struct error second = ERROR_INIT;
    if (parse_columns(arena, text, out, &second) == OK) {
        error_clear(err);
        return OK;
    }
    if (second.status == STATUS_UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING) { /* they are columns */
        *err = second;
        return second.status;
    }
    /* Columns that parse but mean nothing are nearer to what was written; the condition is Spark's.
     */
    if (second.status != STATUS_PARSE_SYNTAX_ERROR && status == STATUS_PARSE_SYNTAX_ERROR)
        (void)snprintf(err->text, sizeof err->text, "%s", second.text);
    return status;
}

enum status type_parse_schema(struct arena *arena, struct bytes text, const struct type **out,
                              struct error *err)
{
    if (!is_json(text))
        return parse_columns(arena, text, out, err);
    TRY(type_parse_json(arena, text, out, err));
    if ((*out)->id == TYPE_STRUCT)
        return OK;
    return error_raise(
        err, STATUS_INVALID_SCHEMA__NON_STRUCT_TYPE, "inputSchema",
        arena_sprintf(arena, "\"%.*s\"", (int)text.size_bytes, (const char *)text.data), "dataType",
        arena_sprintf(arena, "\"%s\"", type_sql(arena, *out)), NULL);
}
