/* JSON tokens: see json_token.h. */
#include "format/json_token.h"

#include "base/heap.h"
#include "base/utf8.h"

#include <stdlib.h>

void json_lexer_init(struct json_lexer *lexer, const struct json_rules *rules)
{
    *lexer = (struct json_lexer){.rules = rules};
    lexer->nesting = heap_calloc(rules->nesting_max / 64 + 1, sizeof(uint64_t));
}

void json_lexer_fini(struct json_lexer *lexer)
{
    free(lexer->nesting);
    buffer_fini(&lexer->scratch);
}

static bool is_space(const struct json_lexer *lexer, uint8_t byte)
{
    return byte == ' ' || byte == '\t' || ((byte == '\n' || byte == '\r') && lexer->across_lines);
}

/* Behind a comment, or `at` if there is none (or no end of it). */
static const uint8_t *skip_comment(const struct json_lexer *lexer, const uint8_t *at)
{
    if (at[1] == '/') {
        const uint8_t *p = at + 2;
        while (p < lexer->end && *p != '\n' && *p != '\r')
            p++;
        return p;
    }
    if (at[1] != '*')
        return at;
    for (const uint8_t *p = at + 2; p + 1 < lexer->end; p++) {
        if (p[0] == '*' && p[1] == '/')
            return p + 2;
    }
    return at;
}

const uint8_t *json_skip_space_slow(const struct json_lexer *lexer, const uint8_t *at)
{
    for (;;) {
        while (is_space(lexer, *at))
            at++;
        if (*at != '/' || !lexer->rules->comments)
            return at;
        const uint8_t *behind = skip_comment(lexer, at);
        if (behind == at)
            return at;
        at = behind;
    }
}

/*
 * A text that has to be rewritten.  Java builds texts of 16-bit units, and a unit of a surrogate
 * pair without its other half becomes '?' when the text is stored.
 */
struct text_builder {
    struct buffer *out;
    uint32_t high; /* half of a pair, waiting for the other one */
};

static void builder_flush(struct text_builder *builder)
{
    if (builder->high != 0)
        buffer_add_byte(builder->out, '?');
    builder->high = 0;
}

static void builder_unit(struct text_builder *builder, uint32_t unit)
{
    uint8_t bytes[4];
    if (unit >= 0xDC00 && unit <= 0xDFFF && builder->high != 0) {
        uint32_t code = 0x10000 + ((builder->high - 0xD800) << 10) + (unit - 0xDC00);
        builder->high = 0;
        buffer_add(builder->out, bytes, utf8_encode(code, bytes));
        return;
    }
    builder_flush(builder);
    if (unit >= 0xD800 && unit <= 0xDBFF)
        builder->high = unit;
    else if (unit >= 0xDC00 && unit <= 0xDFFF)
        buffer_add_byte(builder->out, '?');
    else
        buffer_add(builder->out, bytes, utf8_encode(unit, bytes));
}

static void builder_run(struct text_builder *builder, const uint8_t *from, const uint8_t *to)
{
    if (from == to)
        return;
    builder_flush(builder);
    buffer_add(builder->out, from, (size_t)(to - from));
}

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The escape at *cursor (a backslash) as a unit.  False: the cursor is behind what is wrong. */
static bool read_escape(const struct json_lexer *lexer, const uint8_t **cursor, uint32_t *unit)
{
    static const char from[] = "btnfr\"/\\";
    static const char to[] = "\b\t\n\f\r\"/\\";
    const uint8_t *at = *cursor + 1;
    const char *known = *at == '\0' ? NULL : strchr(from, *at);
    *cursor = at + 1;
    if (known != NULL) {
        *unit = (uint8_t)to[known - from];
        return true;
    }
    if (*at == 'u') {
        *unit = 0;
        for (int i = 1; i <= 4; i++) {
            int digit = hex_digit(at[i]);
            *cursor = at + i + 1;
            if (digit < 0)
                return false;
            *unit = *unit << 4 | (uint32_t)digit;
        }
        return true;
    }
    if (*at < 0x80 && (lexer->rules->any_escape || (*at == '\'' && lexer->rules->single_quotes))) {
        *unit = *at;
        return at < lexer->end;
    }
    return false;
}

/*
 * A sequence of bytes >= 0x80 as Jackson decodes it: more than UTF-8 allows.  The result is its
 * size, or 0 with *cursor behind the wrong byte; *units are filled if it is no standard UTF-8.
 */
static size_t read_wide(const uint8_t **cursor, bool surrogates, uint32_t units[2], int *count)
{
    const uint8_t *at = *cursor;
    *count = 0;
    size_t standard = utf8_sequence_size(bytes_of(at, 4));
    if (standard > 0)
        return standard;
    size_t size = (*at & 0xE0) == 0xC0   ? 2
                  : (*at & 0xF0) == 0xE0 ? 3
                  : (*at & 0xF8) == 0xF0 ? 4
                                         : 0;
    *cursor = at + 1;
    if (size == 0)
        return 0;
    uint32_t code = *at & (0xFFU >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        *cursor = at + i + 1;
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3F);
    }
    if (size == 3 && code >= 0xD800 && code <= 0xDFFF && !surrogates)
        return 0;
    if (size < 4) {
        units[0] = code;
        *count = 1;
        return size;
    }
    int32_t rest = (int32_t)code - 0x10000;
    units[0] = (0xD800U | (uint32_t)(rest >> 10)) & 0xFFFF;
    units[1] = 0xDC00U | ((uint32_t)rest & 0x3FF);
    *count = 2;
    return size;
}

static size_t text_length(struct bytes text)
{
    size_t length = 0;
    for (size_t i = 0; i < text.size_bytes; i++)
        length += (size_t)((text.data[i] & 0xC0) != 0x80) + (size_t)(text.data[i] >= 0xF0);
    return length;
}

static enum json_outcome text_finish(struct json_lexer *lexer, const uint8_t *start,
                                     const uint8_t *at, const uint8_t *run,
                                     struct text_builder *builder, struct bytes *out)
{
    if (out == NULL)
        return JSON_SET;
    *out = bytes_of(start, (size_t)(at - start));
    if (run != start) {
        builder_run(builder, run, at);
        builder_flush(builder);
        *out = arena_copy(lexer->arena, buffer_bytes(builder->out));
    }
    if (out->size_bytes > lexer->rules->string_max && text_length(*out) > lexer->rules->string_max)
        return JSON_TORN;
    return JSON_SET;
}

static enum json_outcome torn(const struct json_lexer *lexer, const uint8_t *at,
                              const uint8_t **cursor)
{
    *cursor = at > lexer->end ? lexer->end : at;
    return JSON_TORN;
}

enum json_outcome json_text(struct json_lexer *lexer, const uint8_t **cursor, struct bytes *out)
{
    const uint8_t quote = **cursor;
    const uint8_t *start = *cursor + 1;
    const uint8_t *at = start;
    const uint8_t *run = start; /* bytes not yet in the builder; == start: nothing rewritten */
    struct text_builder builder = {.out = &lexer->scratch};
    buffer_clear(&lexer->scratch);
    for (;;) {
        if (quote == '"')
            at = scan_json_plain(at);
        uint32_t units[2];
        int count = 1;
        const uint8_t *behind = at;
        if (*at == quote)
            break;
        if (*at == '\\') {
            if (!read_escape(lexer, &behind, &units[0]))
                return torn(lexer, behind, cursor);
        } else if (*at >= 0x80) {
            size_t size = read_wide(&behind, out == NULL, units, &count);
            if (size == 0)
                return torn(lexer, behind, cursor);
            behind = at + size;
        } else {
            if (at == lexer->end || (*at < ' ' && !lexer->rules->control_chars))
                return torn(lexer, at + 1, cursor);
            behind = at + 1;
            count = 0;
        }
        if (count > 0) {
            builder_run(&builder, run, at);
            for (int i = 0; i < count; i++)
                builder_unit(&builder, units[i]);
            run = behind;
        }
        at = behind;
    }
    *cursor = at + 1;
    return text_finish(lexer, start, at, run, &builder, out);
}

static bool is_name_byte(uint8_t byte)
{
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || (byte != '\0' && strchr("_$@#*-+", byte) != NULL);
}

enum json_outcome json_name(struct json_lexer *lexer, const uint8_t **cursor, struct bytes *out)
{
    const uint8_t *at = *cursor;
    if (*at == '"' || (*at == '\'' && lexer->rules->single_quotes)) {
        if (json_text(lexer, &at, out) != JSON_SET)
            return JSON_SYNTAX;
    } else if (lexer->rules->unquoted_names && is_name_byte(*at)) {
        while (is_name_byte(*at))
            at++;
        *out = bytes_of(*cursor, (size_t)(at - *cursor));
    } else {
        return JSON_SYNTAX;
    }
    at = json_skip_space(lexer, at);
    if (*at != ':')
        return JSON_SYNTAX;
    *cursor = json_skip_space(lexer, at + 1);
    return JSON_SET;
}

static enum json_number word_number(const struct json_lexer *lexer, const uint8_t **cursor)
{
    static const struct {
        const char *word;
        enum json_number number;
    } words[] = {
        {"NaN", JSON_NUMBER_NAN},
        {"Infinity", JSON_NUMBER_INFINITY},
        {"+Infinity", JSON_NUMBER_INFINITY},
        {"-Infinity", JSON_NUMBER_MINUS_INFINITY},
        {"+INF", JSON_NUMBER_INFINITY},
        {"-INF", JSON_NUMBER_MINUS_INFINITY},
    };
    if (!lexer->rules->non_numeric)
        return JSON_NUMBER_NONE;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (json_word(cursor, words[i].word, strlen(words[i].word)))
            return words[i].number;
    }
    return JSON_NUMBER_NONE;
}

static const uint8_t *skip_digits(const uint8_t *at)
{
    while ((uint8_t)(*at - '0') <= 9)
        at++;
    return at;
}

enum json_number json_number(const struct json_lexer *lexer, const uint8_t **cursor)
{
    const uint8_t *at = *cursor;
    at += *at == '-';
    const uint8_t *first = at;
    at = skip_digits(at);
    size_t digits = (size_t)(at - first);
    if (digits == 0)
        return word_number(lexer, cursor);
    if (*first == '0' && digits > 1 && !lexer->rules->leading_zeros)
        return JSON_NUMBER_NONE;
    enum json_number number = JSON_NUMBER_INTEGER;
    if (*at == '.') {
        const uint8_t *fraction = at + 1;
        at = skip_digits(fraction);
        if (at == fraction)
            return JSON_NUMBER_NONE;
        digits += (size_t)(at - fraction);
        number = JSON_NUMBER_FRACTION;
    }
    if ((*at | 0x20) == 'e') {
        const uint8_t *exponent = at + 1;
        exponent += *exponent == '+' || *exponent == '-';
        at = skip_digits(exponent);
        if (at == exponent)
            return JSON_NUMBER_NONE;
        digits += (size_t)(at - exponent);
        number = JSON_NUMBER_FRACTION;
    }
    if (digits > lexer->rules->number_max)
        return JSON_NUMBER_NONE;
    *cursor = at;
    return number;
}

/* A value that is neither object nor array. */
static bool skip_scalar(struct json_lexer *lexer, const uint8_t **cursor)
{
    switch (**cursor) {
    case '"': {
        const uint8_t *stop = scan_json_plain(*cursor + 1);
        if (*stop == '"') {
            *cursor = stop + 1;
            return true;
        }
        return json_text(lexer, cursor, NULL) == JSON_SET;
    }
    case '\'':
        return lexer->rules->single_quotes && json_text(lexer, cursor, NULL) == JSON_SET;
    case 't':
        return json_word(cursor, "true", 4);
    case 'f':
        return json_word(cursor, "false", 5);
    case 'n':
        return json_word(cursor, "null", 4);
    default:
        return json_number(lexer, cursor) != JSON_NUMBER_NONE;
    }
}

static inline bool nesting_is_object(const struct json_lexer *lexer, uint32_t depth)
{
    return (lexer->nesting[depth / 64] >> (depth % 64) & 1) != 0;
}

static inline void nesting_push(struct json_lexer *lexer, uint32_t depth, bool object)
{
    uint64_t bit = (uint64_t)1 << (depth % 64);
    if (object)
        lexer->nesting[depth / 64] |= bit;
    else
        lexer->nesting[depth / 64] &= ~bit;
}

/* Enters the container at the cursor, or steps over it if it is empty. */
static bool skip_open(struct json_lexer *lexer, const uint8_t **cursor, uint32_t *depth)
{
    bool object = **cursor == '{';
    if (++*depth > lexer->rules->nesting_max)
        return false;
    nesting_push(lexer, *depth, object);
    const uint8_t *at = json_skip_space(lexer, *cursor + 1);
    struct bytes name;
    if (*at == (object ? '}' : ']')) {
        --*depth;
        *cursor = at + 1;
        return true;
    }
    if (object && json_name(lexer, &at, &name) != JSON_SET)
        return false;
    *cursor = at;
    return true;
}

/* What may follow a value: closing brackets, then a comma and the start of the next value. */
static bool skip_behind(struct json_lexer *lexer, const uint8_t **cursor, uint32_t *depth,
                        uint32_t base)
{
    while (*depth > base) {
        bool object = nesting_is_object(lexer, *depth);
        const uint8_t *at = json_skip_space(lexer, *cursor);
        if (*at == (object ? '}' : ']')) {
            --*depth;
            *cursor = at + 1;
            continue;
        }
        if (*at != ',')
            return false;
        at = json_skip_space(lexer, at + 1);
        struct bytes name;
        if (object && json_name(lexer, &at, &name) != JSON_SET)
            return false;
        *cursor = at;
        return true;
    }
    return true;
}

enum json_outcome json_skip_value(struct json_lexer *lexer, const uint8_t **cursor)
{
    uint32_t base = lexer->depth;
    uint32_t depth = base;
    *cursor = json_skip_space(lexer, *cursor);
    do {
        uint32_t before = depth;
        if (**cursor == '{' || **cursor == '[') {
            if (!skip_open(lexer, cursor, &depth))
                return JSON_SYNTAX;
            if (depth > before)
                continue; /* the cursor is at the first value inside */
        } else if (!skip_scalar(lexer, cursor)) {
            return JSON_SYNTAX;
        }
        if (!skip_behind(lexer, cursor, &depth, base))
            return JSON_SYNTAX;
    } while (depth > base);
    return JSON_SET;
}
