#include "expr/json_dom.h"

#include "base/check.h"
#include "base/utf8.h"
#include "columnar/number_text.h"

#include <stdlib.h>

#define NESTING_MAX 1000

struct reader {
    struct json_dom *dom;
    struct arena *arena;
    const struct json_dialect *dialect;
    const uint8_t *at;
    const uint8_t *end;
    int depth;
    bool halves; /* the string last read has halves of surrogate pairs */
};

struct json_dialect json_dom_defaults(void)
{
    return (struct json_dialect){.single_quotes = true, .non_numeric = true};
}

void json_dom_fini(struct json_dom *dom)
{
    free(dom->nodes);
    *dom = (struct json_dom){0};
}

/* JSON_DOM_NONE: too large. */
static uint32_t new_node(struct json_dom *dom, enum json_kind kind)
{
    if (dom->count == dom->capacity) {
        uint32_t capacity = dom->capacity == 0 ? 64 : dom->capacity * 2;
        struct json_node *nodes =
            capacity > JSON_DOM_NODES_MAX ? NULL : realloc(dom->nodes, capacity * sizeof(*nodes));
        dom->too_large = nodes == NULL;
        if (nodes == NULL)
            return JSON_DOM_NONE;
        dom->nodes = nodes;
        dom->capacity = capacity;
    }
    dom->nodes[dom->count] =
        (struct json_node){.kind = kind, .first = JSON_DOM_NONE, .next = JSON_DOM_NONE};
    return dom->count++;
}

static bool skip_comment(struct reader *r)
{
    if (!r->dialect->comments || r->end - r->at < 2)
        return false;
    if (r->at[1] == '/') {
        while (r->at < r->end && *r->at != '\n')
            r->at++;
        return true;
    }
    if (r->at[1] != '*')
        return false;
    for (r->at += 2; r->end - r->at >= 2; r->at++) {
        if (r->at[0] == '*' && r->at[1] == '/') {
            r->at += 2;
            return true;
        }
    }
    return false;
}

/* False: a comment that is not allowed, or does not end. */
static bool skip_blanks(struct reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '/') {
            if (!skip_comment(r))
                return false;
            r->at--;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\n' && *r->at != '\r') {
            break;
        }
    }
    return true;
}

/* ---- strings ---- */

static bool take_hex(struct reader *r, uint32_t *out)
{
    uint32_t code = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        uint8_t c = *r->at++;
        uint8_t lower = c | 0x20;
        if (c >= '0' && c <= '9')
            code = code * 16 + (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            code = code * 16 + (uint32_t)(lower - 'a' + 10);
        else
            return false;
    }
    *out = code;
    return true;
}

static bool take_unicode(struct reader *r, uint8_t **out)
{
    uint32_t code;
    if (!take_hex(r, &code))
        return false;
    if (code >= 0xD800 && code < 0xDC00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
        const uint8_t *start = r->at;
        uint32_t low;
        r->at += 2;
        if (!take_hex(r, &low))
            return false;
        if (low >= 0xDC00 && low < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        else
            r->at = start;
    }
    if (code >= 0xD800 && code < 0xE000) { /* half of a pair */
        *(*out)++ = 0xED;
        *(*out)++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *(*out)++ = (uint8_t)(0x80 | (code & 0x3F));
        r->halves = true;
        return true;
    }
    *out += utf8_encode(code, *out);
    return true;
}

/* Each half of a pair becomes '?', in place. */
static size_t replace_halves(uint8_t *text, size_t size)
{
    size_t to = 0;
    for (size_t i = 0; i < size; to++) {
        bool half = text[i] == 0xED && i + 2 < size && text[i + 1] >= 0xA0;
        text[to] = half ? '?' : text[i];
        i += half ? 3 : 1;
    }
    return to;
}

struct bytes json_dom_text(const struct json_node *node, struct arena *arena)
{
    if (!node->halves)
        return node->text;
    struct bytes copy = arena_copy(arena, node->text);
    uint8_t *text = arena_new_object(arena, copy.size_bytes + 1);
    memcpy(text, copy.data, copy.size_bytes);
    return bytes_of(text, replace_halves(text, copy.size_bytes));
}

/* Behind a backslash. */
static bool take_escape(struct reader *r, uint8_t **out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return false;
    uint8_t c = *r->at++;
    if (c == 'u')
        return take_unicode(r, out);
    const char *found = c == 0 ? NULL : strchr(from, c);
    if (found != NULL)
        *(*out)++ = (uint8_t)to[found - from];
    else if (r->dialect->any_escape || (c == '\'' && r->dialect->single_quotes))
        *(*out)++ = c;
    else
        return false;
    return true;
}

/* Behind the opening quote. */
static bool take_string(struct reader *r, uint8_t quote, struct bytes *out)
{
    const uint8_t *start = r->at;
    const uint8_t *scan = start;
    r->halves = false;
    while (scan < r->end && *scan != quote && *scan != '\\' && *scan >= ' ')
        scan++;
    if (scan < r->end && *scan == quote) {
        *out = bytes_of(start, (size_t)(scan - start));
        r->at = scan + 1;
        return true;
    }
    uint8_t *copy = arena_new_object(r->arena, (size_t)(r->end - start) + 4);
    uint8_t *to = copy;
    while (r->at < r->end) {
        uint8_t c = *r->at++;
        if (c == quote) {
            *out = bytes_of(copy, (size_t)(to - copy));
            return true;
        }
        if (c == '\\') {
            if (!take_escape(r, &to))
                return false;
        } else if (c < ' ' && !r->dialect->control_characters) {
            return false;
        } else {
            *to++ = c;
        }
    }
    return false;
}

/* ---- scalars ---- */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* A token ends at a delimiter: 1x is no number. */
static bool at_delimiter(const struct reader *r)
{
    return r->at == r->end || strchr(" \t\r\n,]}:/", *r->at) != NULL || *r->at == 0;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return false;
    const uint8_t *start = r->at;
    r->at += size;
    if (at_delimiter(r))
        return true;
    r->at = start;
    return false;
}

static bool take_number(struct reader *r, enum json_kind *kind)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity", "+Infinity",
                                        "INF", "+INF",     "-INF"};
    *kind = JSON_DOM_FLOAT;
    for (size_t i = 0; r->dialect->non_numeric && i < sizeof(words) / sizeof(*words); i++)
        if (take_word(r, words[i]))
            return true;
    *kind = JSON_DOM_INTEGER;
    r->at += *r->at == '-';
    const uint8_t *digits = r->at;
    while (r->at < r->end && is_digit(*r->at))
        r->at++;
    if (r->at == digits || (*digits == '0' && r->at - digits > 1 && !r->dialect->leading_zeros))
        return false;
    if (r->at < r->end && *r->at == '.') {
        *kind = JSON_DOM_FLOAT;
        const uint8_t *fraction = ++r->at;
        while (r->at < r->end && is_digit(*r->at))
            r->at++;
        if (r->at == fraction)
            return false;
    }
    if (r->at < r->end && (*r->at | 0x20) == 'e') {
        *kind = JSON_DOM_FLOAT;
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        const uint8_t *exponent = r->at;
        while (r->at < r->end && is_digit(*r->at))
            r->at++;
        if (r->at == exponent)
            return false;
    }
    return at_delimiter(r);
}

/* ---- values ---- */

static bool take_value(struct reader *r, uint32_t *out);

static bool take_name(struct reader *r, struct bytes *out)
{
    if (r->at == r->end)
        return false;
    if (*r->at == '"' || (*r->at == '\'' && r->dialect->single_quotes)) {
        uint8_t quote = *r->at++;
        if (!take_string(r, quote, out))
            return false;
        struct json_node name = {.text = *out, .halves = r->halves};
        *out = json_dom_text(&name, r->arena);
        return true;
    }
    if (!r->dialect->unquoted_names)
        return false;
    const uint8_t *start = r->at;
    while (r->at < r->end && (is_digit(*r->at) || (*r->at | 0x20) >= 'a' || *r->at == '_' ||
                              *r->at == '$' || *r->at >= 0x80))
        r->at++;
    *out = bytes_of(start, (size_t)(r->at - start));
    return r->at > start;
}

static void add_child(struct json_dom *dom, uint32_t parent, uint32_t *last, uint32_t child)
{
    if (*last == JSON_DOM_NONE)
        dom->nodes[parent].first = child;
    else
        dom->nodes[*last].next = child;
    dom->nodes[parent].count++;
    *last = child;
}

/* Behind '[' or '{'. */
static bool take_children(struct reader *r, uint32_t parent, bool object)
{
    uint8_t close = object ? '}' : ']';
    uint32_t last = JSON_DOM_NONE;
    if (!skip_blanks(r) || r->at == r->end)
        return false;
    if (*r->at == close) {
        r->at++;
        return true;
    }
    for (;;) {
        struct bytes key = {0};
        uint32_t child;
        if (!skip_blanks(r) || (object && !take_name(r, &key)))
            return false;
        if (object && (!skip_blanks(r) || r->at == r->end || *r->at++ != ':'))
            return false;
        if (!take_value(r, &child))
            return false;
        r->dom->nodes[child].key = key;
        add_child(r->dom, parent, &last, child);
        if (!skip_blanks(r) || r->at == r->end)
            return false;
        uint8_t c = *r->at++;
        if (c == close)
            return true;
        if (c != ',')
            return false;
    }
}

static bool take_container(struct reader *r, bool object, uint32_t *out)
{
    *out = new_node(r->dom, object ? JSON_DOM_OBJECT : JSON_DOM_ARRAY);
    if (*out == JSON_DOM_NONE)
        return false;
    r->at++;
    if (++r->depth > NESTING_MAX)
        return false;
    bool ok = take_children(r, *out, object);
    r->depth--;
    return ok;
}

static bool take_scalar(struct reader *r, uint32_t *out)
{
    const uint8_t *start = r->at;
    enum json_kind kind;
    struct bytes text;
    if (*start == '"' || (*start == '\'' && r->dialect->single_quotes)) {
        r->at++;
        if (!take_string(r, *start, &text))
            return false;
        kind = JSON_DOM_STRING;
    } else if (take_word(r, "null")) {
        kind = JSON_DOM_NULL;
    } else if (take_word(r, "true")) {
        kind = JSON_DOM_TRUE;
    } else if (take_word(r, "false")) {
        kind = JSON_DOM_FALSE;
    } else if (!take_number(r, &kind)) {
        return false;
    }
    if (kind != JSON_DOM_STRING)
        text = bytes_of(start, (size_t)(r->at - start));
    *out = new_node(r->dom, kind);
    if (*out == JSON_DOM_NONE)
        return false;
    r->dom->nodes[*out].text = text;
    r->dom->nodes[*out].halves = kind == JSON_DOM_STRING && r->halves;
    return true;
}

static bool take_value(struct reader *r, uint32_t *out)
{
    if (!skip_blanks(r) || r->at == r->end)
        return false;
    if (*r->at == '{' || *r->at == '[')
        return take_container(r, *r->at == '{', out);
    return take_scalar(r, out);
}

bool json_dom_read(struct json_dom *dom, struct arena *arena, struct bytes text,
                   const struct json_dialect *dialect)
{
    struct reader reader = {.dom = dom,
                            .arena = arena,
                            .dialect = dialect,
                            .at = text.data,
                            .end = text.data + text.size_bytes};
    uint32_t root;
    dom->count = 0;
    dom->too_large = false;
    if (text.size_bytes >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
        reader.at += 3;
    return take_value(&reader, &root);
}

/* ---- printing ---- */

static void add_unicode_escape(struct buffer *out, uint32_t code)
{
    if (code >= 0x10000) {
        buffer_printf(out, "\\u%04X\\u%04X", 0xD800 + ((code - 0x10000) >> 10),
                      0xDC00 + ((code - 0x10000) & 0x3FF));
        return;
    }
    buffer_printf(out, "\\u%04X", code);
}

enum print_mode {
    PRINT_PLAIN,
    PRINT_ASCII, /* other characters as escapes */
    PRINT_UNITS, /* as Jackson writes bytes: what UTF-16 has in two units is two escapes */
};

/* Half of a surrogate pair, in three bytes. */
static bool is_half(struct bytes text)
{
    return text.size_bytes >= 3 && text.data[0] == 0xED && text.data[1] >= 0xA0;
}

/* One character of more than one byte; the result is its size. */
static size_t print_character(struct buffer *out, struct bytes text, enum print_mode mode)
{
    size_t size;
    uint32_t code = utf8_decode(text, &size);
    if (size == 0 && mode == PRINT_UNITS && is_half(text)) {
        add_unicode_escape(out, 0xD000U | (text.data[1] & 0x3FU) << 6 | (text.data[2] & 0x3FU));
        return 3;
    }
    if (mode == PRINT_ASCII || (mode == PRINT_UNITS && size == 4))
        add_unicode_escape(out, code);
    else if (size == 0)
        buffer_add_text(out, "\xEF\xBF\xBD");
    else
        buffer_add(out, text.data, size);
    return size == 0 ? 1 : size;
}

static void print_string(struct buffer *out, struct bytes text, enum print_mode mode)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    buffer_add_byte(out, '"');
    for (size_t i = 0; i < text.size_bytes;) {
        uint8_t c = text.data[i];
        const char *found = c == 0 || c >= 0x80 ? NULL : strchr(from, c);
        size_t size = 1;
        if (found != NULL) {
            buffer_add_byte(out, '\\');
            buffer_add_byte(out, (uint8_t)to[found - from]);
        } else if (c < ' ') {
            add_unicode_escape(out, c);
        } else if (c < 0x80) {
            buffer_add_byte(out, c);
        } else {
            size = print_character(out, bytes_of(text.data + i, text.size_bytes - i), mode);
        }
        i += size;
    }
    buffer_add_byte(out, '"');
}

void json_print_string(struct buffer *out, struct bytes text, bool ascii)
{
    print_string(out, text, ascii ? PRINT_ASCII : PRINT_PLAIN);
}

static void print_float(struct buffer *out, struct bytes text)
{
    double value;
    char *at = (char *)buffer_reserve(out, NUMBER_DOUBLE_TEXT_MAX + 2);
    if (number_cast_double(text, &value) != TEXT_OK) {
        buffer_add_bytes(out, text);
        return;
    }
    if (value - value != 0.0) { /* NaN, Infinity */
        *at = '"';
        size_t size = number_print_double(at + 1, value);
        at[size + 1] = '"';
        out->size_bytes += size + 2;
        return;
    }
    out->size_bytes += number_print_double(at, value);
}

void json_dom_print(struct buffer *out, const struct json_dom *dom, uint32_t node)
{
    const struct json_node *n = &dom->nodes[node];
    switch (n->kind) {
    case JSON_DOM_NULL:
        buffer_add_text(out, "null");
        return;
    case JSON_DOM_FALSE:
        buffer_add_text(out, "false");
        return;
    case JSON_DOM_TRUE:
        buffer_add_text(out, "true");
        return;
    case JSON_DOM_INTEGER:
        if (bytes_equal(n->text, bytes_of_text("-0")))
            buffer_add_byte(out, '0');
        else
            buffer_add_bytes(out, n->text);
        return;
    case JSON_DOM_FLOAT:
        print_float(out, n->text);
        return;
    case JSON_DOM_STRING:
        print_string(out, n->text, PRINT_UNITS);
        return;
    case JSON_DOM_ARRAY:
    case JSON_DOM_OBJECT:
        break;
    }
    bool object = n->kind == JSON_DOM_OBJECT;
    buffer_add_byte(out, object ? '{' : '[');
    for (uint32_t child = n->first; child != JSON_DOM_NONE; child = dom->nodes[child].next) {
        if (child != n->first)
            buffer_add_byte(out, ',');
        if (object) {
            print_string(out, dom->nodes[child].key, PRINT_UNITS);
            buffer_add_byte(out, ':');
        }
        json_dom_print(out, dom, child);
    }
    buffer_add_byte(out, object ? '}' : ']');
}
