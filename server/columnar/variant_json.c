/* JSON texts as VARIANT values: read strictly, in one pass, straight into the builder. */
#include "columnar/number_text.h"
#include "columnar/variant.h"

#define NUMBER_CHARS_MAX 1000 /* as Jackson */

struct json_text {
    struct variant_builder *builder;
    const struct variant_json_options *options;
    struct buffer text; /* of a string with escapes */
    const uint8_t *at;
    const uint8_t *end;
    struct bytes repeated;
    bool has_repeated;
};

static void skip_blanks(struct json_text *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
}

static bool take(struct json_text *json, char c)
{
    skip_blanks(json);
    if (json->at == json->end || *json->at != (uint8_t)c)
        return false;
    json->at++;
    return true;
}

/* ---- strings ---- */

static bool read_hex(struct json_text *json, uint32_t *out)
{
    *out = 0;
    if (json->end - json->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        uint8_t c = *json->at++;
        uint8_t letter = c | 0x20;
        bool digit = c >= '0' && c <= '9';
        if (!digit && (letter < 'a' || letter > 'f'))
            return false;
        *out = *out << 4 | (uint32_t)(digit ? c - '0' : letter - 'a' + 10);
    }
    return true;
}

static void add_code(struct buffer *out, uint32_t code)
{
    if (code < 0x80) {
        buffer_add_byte(out, (uint8_t)code);
    } else if (code < 0x800) {
        buffer_add_byte(out, (uint8_t)(0xC0 | code >> 6));
        buffer_add_byte(out, (uint8_t)(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) {
        buffer_add_byte(out, (uint8_t)(0xE0 | code >> 12));
        buffer_add_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3F)));
        buffer_add_byte(out, (uint8_t)(0x80 | (code & 0x3F)));
    } else {
        buffer_add_byte(out, (uint8_t)(0xF0 | code >> 18));
        buffer_add_byte(out, (uint8_t)(0x80 | (code >> 12 & 0x3F)));
        buffer_add_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3F)));
        buffer_add_byte(out, (uint8_t)(0x80 | (code & 0x3F)));
    }
}

/* Behind "\u"; half of a pair alone becomes '?'. */
static bool read_unicode(struct json_text *json)
{
    uint32_t code;
    uint32_t low;
    if (!read_hex(json, &code))
        return false;
    if (code < 0xD800 || code > 0xDFFF) {
        add_code(&json->text, code);
        return true;
    }
    const uint8_t *before = json->at;
    if (code < 0xDC00 && json->end - json->at >= 6 && json->at[0] == '\\' && json->at[1] == 'u') {
        json->at += 2;
        if (!read_hex(json, &low))
            return false;
        if (low >= 0xDC00 && low <= 0xDFFF) {
            add_code(&json->text, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            return true;
        }
        json->at = before;
    }
    buffer_add_byte(&json->text, '?');
    return true;
}

static bool read_escape(struct json_text *json)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end)
        return false;
    uint8_t c = *json->at++;
    if (c == 'u')
        return read_unicode(json);
    const char *name = c == 0 ? NULL : strchr(names, c);
    if (name == NULL)
        return false;
    buffer_add_byte(&json->text, (uint8_t)values[name - names]);
    return true;
}

/* Behind the opening quote.  *out points into the text or into json->text. */
static bool read_string(struct json_text *json, uint8_t quote, struct bytes *out)
{
    const uint8_t *start = json->at;
    bool escaped = false;
    buffer_clear(&json->text);
    while (json->at < json->end) {
        uint8_t c = *json->at++;
        if (c == quote) {
            *out = escaped ? buffer_bytes(&json->text)
                           : bytes_of(start, (size_t)(json->at - start) - 1);
            return true;
        }
        if (c < 0x20)
            return false;
        if (c == '\\' && !escaped) {
            buffer_add(&json->text, start, (size_t)(json->at - start) - 1);
            escaped = true;
        }
        if (c == '\\' && !read_escape(json))
            return false;
        if (c != '\\' && escaped)
            buffer_add_byte(&json->text, c);
    }
    return false;
}

static bool take_quote(struct json_text *json, uint8_t *quote)
{
    skip_blanks(json);
    if (json->at == json->end)
        return false;
    *quote = *json->at;
    if (*quote != '"' && !(*quote == '\'' && json->options->single_quotes))
        return false;
    json->at++;
    return true;
}

/* ---- numbers and words ---- */

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static bool ends_value(const struct json_text *json, const uint8_t *at)
{
    return at == json->end || (*at != 0 && strchr(" \t\n\r,]}", *at) != NULL);
}

/* The number at the place; *plain: without an exponent.  NULL: none. */
static const uint8_t *number_end(const struct json_text *json, bool *integer, bool *plain)
{
    const uint8_t *at = json->at;
    if (at < json->end && *at == '-')
        at++;
    const uint8_t *digits = at;
    at = skip_digits(at, json->end);
    if (at == digits || (at - digits > 1 && *digits == '0'))
        return NULL;
    *integer = *plain = true;
    if (at < json->end && *at == '.') {
        const uint8_t *fraction = ++at;
        at = skip_digits(at, json->end);
        *integer = false;
        if (at == fraction)
            return NULL;
    }
    if (at < json->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < json->end && (*at == '+' || *at == '-'))
            at++;
        const uint8_t *exponent = at;
        at = skip_digits(at, json->end);
        *integer = *plain = false;
        if (at == exponent)
            return NULL;
    }
    return ends_value(json, at) && at - json->at <= NUMBER_CHARS_MAX ? at : NULL;
}

static bool add_number(struct json_text *json)
{
    bool integer = false;
    bool plain = false;
    const uint8_t *end = number_end(json, &integer, &plain);
    if (end == NULL)
        return false;
    struct bytes text = bytes_of(json->at, (size_t)(end - json->at));
    int64_t whole;
    struct decimal decimal;
    int precision;
    double real;
    json->at = end;
    if (integer && number_parse_int64(text, &whole) == TEXT_OK)
        variant_add_long(json->builder, whole);
    else if (plain && decimal_parse_exact(text, &decimal, &precision) == TEXT_OK)
        variant_add_decimal(json->builder, decimal);
    else if (number_parse_double(text, &real) == TEXT_OK)
        variant_add_double(json->builder, real);
    else
        return false;
    return true;
}

static bool add_word(struct json_text *json, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(json->end - json->at) < size || memcmp(json->at, word, size) != 0 ||
        !ends_value(json, json->at + size))
        return false;
    json->at += size;
    if (*word == 'n')
        variant_add_null(json->builder);
    else
        variant_add_boolean(json->builder, *word == 't');
    return true;
}

/* ---- values ---- */

static bool add_value(struct json_text *json, int depth);

static bool add_array(struct json_text *json, int depth)
{
    struct variant_mark mark = variant_begin(json->builder);
    if (!take(json, ']')) {
        do {
            variant_next_element(json->builder);
            if (!add_value(json, depth + 1))
                return false;
        } while (take(json, ','));
        if (!take(json, ']'))
            return false;
    }
    variant_end_array(json->builder, mark);
    return true;
}

static bool add_object(struct json_text *json, int depth)
{
    struct variant_mark mark = variant_begin(json->builder);
    struct bytes repeated = {0};
    if (!take(json, '}')) {
        do {
            uint8_t quote;
            struct bytes name;
            if (!take_quote(json, &quote) || !read_string(json, quote, &name) || !take(json, ':'))
                return false;
            variant_next_field(json->builder, name);
            if (!add_value(json, depth + 1))
                return false;
        } while (take(json, ','));
        if (!take(json, '}'))
            return false;
    }
    if (!variant_end_object(json->builder, mark, &repeated) && !json->has_repeated) {
        json->has_repeated = true;
        json->repeated = repeated;
    }
    return json->options->repeated_names || !json->has_repeated;
}

static bool add_value(struct json_text *json, int depth)
{
    uint8_t quote;
    struct bytes text;
    if (depth > VARIANT_DEPTH_MAX)
        return false;
    skip_blanks(json);
    if (take_quote(json, &quote)) {
        if (!read_string(json, quote, &text))
            return false;
        variant_add_string(json->builder, text);
        return true;
    }
    if (take(json, '{'))
        return add_object(json, depth);
    if (take(json, '['))
        return add_array(json, depth);
    if (json->at == json->end)
        return false;
    if (*json->at == 't' || *json->at == 'f' || *json->at == 'n')
        return add_word(json, *json->at == 't' ? "true" : *json->at == 'f' ? "false" : "null");
    return add_number(json);
}

enum variant_json_result variant_add_json(struct variant_builder *builder, struct bytes text,
                                          const struct variant_json_options *options,
                                          struct bytes *repeated)
{
    struct json_text json = {.builder = builder,
                             .options = options,
                             .at = text.data,
                             .end = text.data + text.size_bytes};
    bool read = text.size_bytes > 0 && add_value(&json, 0);
    buffer_fini(&json.text);
    if (read)
        return VARIANT_JSON_OK;
    *repeated = json.repeated;
    return json.has_repeated && !options->repeated_names ? VARIANT_JSON_REPEATED_NAME
                                                         : VARIANT_JSON_MALFORMED;
}
