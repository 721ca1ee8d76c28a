/*
 * Java pattern -> PCRE2 pattern.  What both understand alike is copied; what only PCRE2 knows is
 * refused; classes are taken apart, because Java's may hold classes and intersections:
 *
 *   [a[bc]]       [abc]                 a union of plain sets is one set
 *   [a[^bc]]      (?:[a]|[^bc])
 *   [a-z&&[^x]]   (?:(?=[^x])[a-z])
 *   [^...]        of a compound: (?:(?!...)(?s:.))
 */
#include "expr/regex.h"

#include "base/check.h"

#include <string.h>

#define NESTING_MAX 50

struct translator {
    const uint8_t *at;
    const uint8_t *end;
    struct buffer *out;
    bool *unicode;
    bool comments; /* (?x) seen */
    int depth;
};

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_digit(uint8_t c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t left(const struct translator *t)
{
    return (size_t)(t->end - t->at);
}

static void add(struct translator *t, const char *text)
{
    buffer_add_text(t->out, text);
}

static void add_code(struct translator *t, uint32_t code)
{
    buffer_printf(t->out, "\\x{%X}", code);
}

/* ---- properties ---- */

/* \p{name} or \P{name}; `in_class` decides how POSIX classes are written. */
static bool add_property(struct translator *t, bool negative, bool in_class)
{
    static const struct {
        const char *java;
        const char *posix;
    } posix[] = {
        {"Lower", "lower"}, {"Upper", "upper"}, {"ASCII", "ascii"}, {"Alpha", "alpha"},
        {"Digit", "digit"}, {"Alnum", "alnum"}, {"Punct", "punct"}, {"Graph", "graph"},
        {"Print", "print"}, {"Blank", "blank"}, {"Cntrl", "cntrl"}, {"XDigit", "xdigit"},
        {"Space", "space"},
    };
    static const char *const renamed[][2] = {
        {"IsAlphabetic", "L"},   {"IsLetter", "L"},          {"IsUppercase", "Lu"},
        {"IsLowercase", "Ll"},   {"IsDigit", "Nd"},          {"IsWhite_Space", "Xps"},
        {"IsPunctuation", "P"},  {"IsTitlecase", "Lt"},      {"IsControl", "Cc"},
        {"javaLowerCase", "Ll"}, {"javaUpperCase", "Lu"},    {"javaLetter", "L"},
        {"javaDigit", "Nd"},     {"javaAlphabetic", "L"},    {"javaWhitespace", "Xps"},
        {"InGreek", "Greek"},    {"InCyrillic", "Cyrillic"}, {"InHebrew", "Hebrew"},
        {"InArabic", "Arabic"},  {"InThai", "Thai"},
    };
    char name[64];
    size_t size = 0;
    if (left(t) == 0)
        return false;
    if (*t->at != '{') {
        name[size++] = (char)*t->at++;
    } else {
        for (t->at++; left(t) > 0 && *t->at != '}'; t->at++) {
            if (size + 1 >= sizeof(name))
                return false;
            name[size++] = (char)*t->at;
        }
        if (left(t) == 0)
            return false;
        t->at++;
    }
    name[size] = '\0';
    for (size_t i = 0; i < sizeof(posix) / sizeof(*posix); i++) {
        if (strcmp(name, posix[i].java) == 0) {
            buffer_printf(t->out, in_class ? "[:%s%s:]" : "[[:%s%s:]]", negative ? "^" : "",
                          posix[i].posix);
            return true;
        }
    }
    const char *mapped = name;
    for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
        if (strcmp(name, renamed[i][0]) == 0)
            mapped = renamed[i][1];
    const char *equals = strchr(name, '=');
    if (equals != NULL)
        mapped = equals + 1;
    else if (mapped == name && strncmp(name, "Is", 2) == 0)
        mapped = name + 2;
    buffer_printf(t->out, "\\%c{%s}", negative ? 'P' : 'p', mapped);
    return true;
}

/* ---- escapes ---- */

static bool take_hex(struct translator *t, int digits, uint32_t *code)
{
    *code = 0;
    if (left(t) < (size_t)digits)
        return false;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(*t->at++);
        if (digit < 0)
            return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

/* \xhh, \x{h...}, \uhhhh (pairs of surrogates are one character), \0ooo. */
static bool add_numeric_escape(struct translator *t, uint8_t c)
{
    uint32_t code = 0;
    if (c == '0') {
        int digits = 0;
        while (left(t) > 0 && *t->at >= '0' && *t->at <= '7' && digits < 3 && code * 8 < 256) {
            code = code * 8 + (uint32_t)(*t->at++ - '0');
            digits++;
        }
        if (digits == 0)
            return false;
    } else if (c == 'x' && left(t) > 0 && *t->at == '{') {
        for (t->at++; left(t) > 0 && hex_digit(*t->at) >= 0 && code < 0x110000; t->at++)
            code = code * 16 + (uint32_t)hex_digit(*t->at);
        if (left(t) == 0 || *t->at++ != '}')
            return false;
    } else if (!take_hex(t, c == 'x' ? 2 : 4, &code)) {
        return false;
    }
    if (code >= 0xD800 && code < 0xDC00 && left(t) >= 6 && t->at[0] == '\\' && t->at[1] == 'u') {
        uint32_t low;
        t->at += 2;
        if (!take_hex(t, 4, &low) || low < 0xDC00 || low > 0xDFFF)
            return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return false;
    add_code(t, code);
    return true;
}

static void add_literal(struct translator *t, uint8_t c)
{
    if (c < 0x80 && !is_letter(c) && !is_digit(c) && c > ' ')
        buffer_add_byte(t->out, '\\');
    buffer_add_byte(t->out, c);
}

/* \Q ... \E, which may stand in a class too. */
static void add_quotation(struct translator *t)
{
    while (left(t) > 0) {
        if (left(t) >= 2 && t->at[0] == '\\' && t->at[1] == 'E') {
            t->at += 2;
            return;
        }
        add_literal(t, *t->at++);
    }
}

/* Behind a backslash. */
static bool add_escape(struct translator *t, bool in_class)
{
    if (left(t) == 0)
        return false;
    uint8_t c = *t->at++;
    if (c == 'p' || c == 'P')
        return add_property(t, c == 'P', in_class);
    if (c == 'x' || c == 'u' || c == '0')
        return add_numeric_escape(t, c);
    if (c == 'Q') {
        add_quotation(t);
        return true;
    }
    if (!is_letter(c) && !is_digit(c)) {
        if (c >= 0x80 || c <= ' ')
            buffer_add_byte(t->out, c);
        else
            add_literal(t, c);
        return true;
    }
    const char *allowed = in_class ? "tnrfaecdDhHsSvVwW" : "tnrfaecdDhHsSvVwWbBAGZzRXk123456789";
    if (strchr(allowed, c) == NULL)
        return false;
    if (c == 'k' && (left(t) == 0 || *t->at != '<'))
        return false;
    buffer_add_byte(t->out, '\\');
    buffer_add_byte(t->out, c);
    if (c == 'c') {
        if (left(t) == 0)
            return false;
        buffer_add_byte(t->out, *t->at++);
    }
    return true;
}

/* ---- classes ---- */

/* One operand of &&: a set of plain items and compounds, ORed. */
struct operand {
    struct buffer items;    /* what may stand in [...] */
    struct buffer compound; /* alternatives: "|[^bc]" */
};

static bool translate_class(struct translator *t, struct buffer *out, bool *plain);

static bool add_nested(struct translator *t, struct operand *operand)
{
    struct buffer inner = {0};
    bool plain = false;
    bool ok = translate_class(t, &inner, &plain);
    if (ok && plain) { /* without its brackets */
        CHECK(inner.data != NULL && inner.size_bytes >= 2);
        buffer_add(&operand->items, inner.data + 1, inner.size_bytes - 2);
    } else if (ok) {
        buffer_add_byte(&operand->compound, '|');
        buffer_add_bytes(&operand->compound, buffer_bytes(&inner));
    }
    buffer_fini(&inner);
    return ok;
}

static bool add_class_item(struct translator *t, struct operand *operand)
{
    uint8_t c = *t->at;
    if (c == '[') {
        t->at++;
        return add_nested(t, operand);
    }
    struct buffer *saved = t->out;
    t->out = &operand->items;
    bool ok = true;
    t->at++;
    if (c == '\\')
        ok = add_escape(t, true);
    else if (c == '-' || c == '^' || c == ']')
        buffer_printf(t->out, c == '-' ? "-" : "\\%c", c);
    else if (!(t->comments && (c == ' ' || (c >= '\t' && c <= '\r'))))
        add_literal(t, c);
    t->out = saved;
    return ok;
}

/* The operand as a pattern of one character. */
static void finish_operand(struct operand *operand, struct buffer *out, bool *plain)
{
    *plain = operand->compound.size_bytes == 0;
    if (*plain) {
        buffer_add_byte(out, '[');
        buffer_add_bytes(out, buffer_bytes(&operand->items));
        buffer_add_byte(out, ']');
        return;
    }
    buffer_add_text(out, "(?:");
    if (operand->items.size_bytes > 0) {
        buffer_add_byte(out, '[');
        buffer_add_bytes(out, buffer_bytes(&operand->items));
        buffer_add_byte(out, ']');
        buffer_add_bytes(out, buffer_bytes(&operand->compound));
    } else {
        buffer_add(out, operand->compound.data + 1, operand->compound.size_bytes - 1);
    }
    buffer_add_byte(out, ')');
}

/* Reads operands up to the closing bracket; *out is one pattern of one character. */
static bool read_operands(struct translator *t, struct buffer *out, bool *plain)
{
    bool first = true;
    bool any = false;
    for (;;) {
        struct operand operand = {0};
        bool ok = true;
        bool closed = false;
        bool next = false;
        while (ok && !closed && !next) {
            if (left(t) == 0) {
                ok = false;
            } else if (*t->at == ']' && any) {
                t->at++;
                closed = true;
            } else if (left(t) >= 2 && t->at[0] == '&' && t->at[1] == '&') {
                t->at += 2;
                next = true;
            } else {
                ok = add_class_item(t, &operand);
                any = true;
            }
        }
        bool empty = operand.items.size_bytes + operand.compound.size_bytes == 0;
        if (ok && !empty) {
            struct buffer text = {0};
            bool operand_plain;
            finish_operand(&operand, &text, &operand_plain);
            if (first) {
                *plain = operand_plain;
                buffer_add_bytes(out, buffer_bytes(&text));
            } else {
                struct buffer both = {0};
                buffer_printf(&both, "(?:(?=%.*s)%.*s)", (int)text.size_bytes,
                              (const char *)text.data, (int)out->size_bytes,
                              (const char *)out->data);
                buffer_clear(out);
                buffer_add_bytes(out, buffer_bytes(&both));
                buffer_fini(&both);
                *plain = false;
            }
            first = false;
            buffer_fini(&text);
        }
        buffer_fini(&operand.items);
        buffer_fini(&operand.compound);
        if (!ok || closed)
            return ok && !first;
    }
}

/* Behind '['.  *plain: the result is "[...]" without a negation. */
static bool translate_class(struct translator *t, struct buffer *out, bool *plain)
{
    if (++t->depth > NESTING_MAX)
        return false;
    bool negative = left(t) > 0 && *t->at == '^';
    t->at += negative;
    struct buffer inner = {0};
    bool ok = read_operands(t, &inner, plain);
    t->depth--;
    if (ok && !negative) {
        buffer_add_bytes(out, buffer_bytes(&inner));
    } else if (ok && *plain) {
        buffer_add_text(out, "[^");
        buffer_add(out, inner.data + 1, inner.size_bytes - 1);
        *plain = false;
    } else if (ok) {
        buffer_printf(out, "(?:(?!%.*s)(?s:.))", (int)inner.size_bytes, (const char *)inner.data);
    }
    buffer_fini(&inner);
    return ok;
}

/* ---- groups, quantifiers ---- */

/* Behind "(?": flags such as i, -s, imx: up to ')' or ':'. */
static bool add_flags(struct translator *t)
{
    bool on = true;
    add(t, "(?");
    for (; left(t) > 0 && *t->at != ')' && *t->at != ':'; t->at++) {
        uint8_t c = *t->at;
        if (c == '-' && on) {
            on = false;
            buffer_add_byte(t->out, '-');
            continue;
        }
        if (c == '\0' || strchr("idmsuxU", c) == NULL)
            return false;
        if (c == 'U' && on)
            *t->unicode = true;
        if (c == 'x')
            t->comments = on;
        if (c != 'd' && c != 'u' && c != 'U')
            buffer_add_byte(t->out, c);
    }
    if (left(t) == 0)
        return false;
    buffer_add_byte(t->out, *t->at++);
    return true;
}

static bool add_group(struct translator *t)
{
    if (left(t) == 0 || *t->at != '?') {
        if (left(t) > 0 && *t->at == '*')
            return false;
        add(t, "(");
        return true;
    }
    t->at++;
    if (left(t) == 0)
        return false;
    uint8_t c = *t->at;
    if (c == ':' || c == '=' || c == '!' || c == '>') {
        t->at++;
        buffer_printf(t->out, "(?%c", c);
        return true;
    }
    if (c != '<')
        return add_flags(t);
    t->at++;
    if (left(t) == 0 || (*t->at != '=' && *t->at != '!' && !is_letter(*t->at)))
        return false;
    add(t, "(?<");
    return true;
}

/* {n}, {n,} or {n,m}; anything else is an error in Java. */
static bool add_repetition(struct translator *t)
{
    const uint8_t *start = t->at;
    const uint8_t *at = t->at + 1;
    while (at < t->end && is_digit(*at))
        at++;
    if (at == start + 1)
        return false;
    if (at < t->end && *at == ',')
        for (at++; at < t->end && is_digit(*at); at++)
            continue;
    if (at == t->end || *at != '}')
        return false;
    at++;
    buffer_add(t->out, start, (size_t)(at - start));
    t->at = at;
    return true;
}

static bool add_next(struct translator *t)
{
    uint8_t c = *t->at;
    switch (c) {
    case '\\':
        t->at++;
        return add_escape(t, false);
    case '[': {
        bool plain;
        t->at++;
        return translate_class(t, t->out, &plain);
    }
    case '(':
        t->at++;
        return add_group(t);
    case '{':
        return add_repetition(t);
    default:
        t->at++;
        buffer_add_byte(t->out, c);
        return true;
    }
}

bool regex_translate(struct bytes pattern, struct buffer *out, bool *unicode)
{
    struct translator t = {.at = pattern.data,
                           .end = pattern.data + pattern.size_bytes,
                           .out = out,
                           .unicode = unicode};
    *unicode = false;
    while (left(&t) > 0)
        if (!add_next(&t))
            return false;
    return true;
}
