/* Writing JSON values again: see json_copy.h. */
#include "format/json_copy.h"

#include "base/check.h"
#include "columnar/number_text.h"

static void copy_text(struct buffer *out, struct bytes text)
{
    static const char *const shorts[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
        ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
    };
    buffer_add_byte(out, '"');
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t byte = text.data[i];
        if (byte < sizeof shorts / sizeof *shorts && shorts[byte] != NULL)
            buffer_add_text(out, shorts[byte]);
        else if (byte < 0x20)
            buffer_printf(out, "\\u%04X", (unsigned)byte);
        else
            buffer_add_byte(out, byte);
    }
    buffer_add_byte(out, '"');
}

/* An integer without the zeros in front that a reader may have allowed. */
static void copy_integer(struct buffer *out, struct bytes text)
{
    bool minus = text.data[0] == '-';
    size_t at = minus || text.data[0] == '+';
    while (at + 1 < text.size_bytes && text.data[at] == '0')
        at++;
    if (minus && text.data[at] != '0')
        buffer_add_byte(out, '-');
    buffer_add(out, text.data + at, text.size_bytes - at);
}

static void copy_number(struct buffer *out, struct bytes text, enum json_number kind)
{
    double value = 0;
    char digits[NUMBER_DOUBLE_TEXT_MAX];
    switch (kind) {
    case JSON_NUMBER_INTEGER:
        copy_integer(out, text);
        return;
    case JSON_NUMBER_NAN:
        buffer_add_text(out, "\"NaN\"");
        return;
    case JSON_NUMBER_INFINITY:
        buffer_add_text(out, "\"Infinity\"");
        return;
    case JSON_NUMBER_MINUS_INFINITY:
        buffer_add_text(out, "\"-Infinity\"");
        return;
    case JSON_NUMBER_FRACTION:
    case JSON_NUMBER_NONE:
        break;
    }
    (void)number_parse_double(text, &value); /* a value out of range is infinite */
    const char *quote = __builtin_isinf(value) ? "\"" : "";
    buffer_add_text(out, quote);
    buffer_add(out, digits, number_print_double(digits, value));
    buffer_add_text(out, quote);
}

/* A text, a word or a number. */
static const uint8_t *copy_scalar(struct json_lexer *lexer, const uint8_t *at, struct buffer *out)
{
    struct bytes text;
    const uint8_t *start = at;
    if (*at == '"' || *at == '\'') {
        CHECK(json_text(lexer, &at, &text) == JSON_SET);
        copy_text(out, text);
    } else if (json_word(&at, "null", 4) || json_word(&at, "true", 4) ||
               json_word(&at, "false", 5)) {
        buffer_add(out, start, (size_t)(at - start));
    } else {
        enum json_number kind = json_number(lexer, &at);
        CHECK(kind != JSON_NUMBER_NONE);
        copy_number(out, bytes_of(start, (size_t)(at - start)), kind);
    }
    return at;
}

void json_copy_value(struct json_lexer *lexer, struct bytes text, struct buffer *out)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.data + text.size_bytes;
    struct buffer open = {0}; /* the braces and brackets around */
    bool names = false;       /* the next token is a name, unless the object ends */
    while (at < end) {
        at = json_skip_space(lexer, at);
        struct bytes name;
        if (*at == '{' || *at == '[') {
            buffer_add_byte(&open, *at);
            names = *at == '{';
            buffer_add_byte(out, *at++);
        } else if (*at == '}' || *at == ']') {
            open.size_bytes -= open.size_bytes > 0;
            buffer_add_byte(out, *at++);
        } else if (*at == ',') {
            names = open.size_bytes > 0 && open.data[open.size_bytes - 1] == '{';
            buffer_add_byte(out, *at++);
        } else if (names) {
            CHECK(json_name(lexer, &at, &name) == JSON_SET);
            copy_text(out, name);
            buffer_add_byte(out, ':');
            names = false;
        } else {
            at = copy_scalar(lexer, at, out);
        }
    }
    buffer_fini(&open);
}
