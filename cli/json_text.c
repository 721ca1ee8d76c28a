/*
 * JSON as the server wrote it.  A number is a text here and stays as it is: no library that reads
 * it into a double keeps the digits of a DECIMAL.
 */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#define INDENT 2

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static size_t skip_blanks(struct bytes json, size_t at)
{
    while (at < json.size_bytes && is_blank(json.data[at]))
        at++;
    return at;
}

/* Behind the token that begins at `at`: a string, a number or word, or one sign. */
static size_t token_end(struct bytes json, size_t at)
{
    static const char signs[] = "{}[],:";
    if (json.data[at] == '"') {
        for (at++; at < json.size_bytes && json.data[at] != '"'; at++)
            at += json.data[at] == '\\';
        return at < json.size_bytes ? at + 1 : json.size_bytes;
    }
    if (memchr(signs, json.data[at], sizeof signs - 1) != NULL)
        return at + 1;
    while (at < json.size_bytes && !is_blank(json.data[at]) && json.data[at] != '"' &&
           memchr(signs, json.data[at], sizeof signs - 1) == NULL)
        at++;
    return at;
}

static void new_line(struct buffer *out, size_t depth)
{
    buffer_add_byte(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++)
        buffer_add_byte(out, ' ');
}

/* One sign or token, with the line breaks around it; `next` is the byte that follows. */
static void add_pretty(struct buffer *out, struct bytes token, uint8_t next, size_t *depth)
{
    uint8_t sign = token.data[0];
    bool closes = sign == '}' || sign == ']';
    bool opens = token.size_bytes == 1 && (sign == '{' || sign == '[');
    if (closes && *depth > 0)
        new_line(out, --*depth);
    buffer_add_bytes(out, token);
    if (opens && next != '}' && next != ']')
        new_line(out, ++*depth);
    else if (sign == ',')
        new_line(out, *depth);
    else if (sign == ':')
        buffer_add_byte(out, ' ');
    else if (*depth == 0 && !opens)
        buffer_add_byte(out, '\n');
}

void json_text_indent(struct bytes json, struct buffer *out)
{
    size_t depth = 0, at = skip_blanks(json, 0);
    while (at < json.size_bytes) {
        size_t end = token_end(json, at), next = skip_blanks(json, end);
        uint8_t follows = next < json.size_bytes ? json.data[next] : '\0';
        bool empty =
            (json.data[at] == '{' && follows == '}') || (json.data[at] == '[' && follows == ']');
        if (empty) {
            add_pretty(out, bytes_of(json.data[at] == '{' ? "{}" : "[]", 2), follows, &depth);
            end = next + 1;
            next = skip_blanks(json, end);
        } else {
            add_pretty(out, bytes_of(json.data + at, end - at), follows, &depth);
        }
        at = next;
    }
}

static bool is_kept(uint8_t first)
{
    return first == '{' || first == '[' || first == '-' || (first >= '0' && first <= '9');
}

/* The value that begins at `at`, without blanks; where it ends. */
static size_t add_value(struct bytes json, size_t at, struct buffer *out)
{
    size_t depth = 0;
    do {
        size_t end = token_end(json, at);
        bool opens = json.data[at] == '{' || json.data[at] == '[';
        bool closes = json.data[at] == '}' || json.data[at] == ']';
        depth += opens ? 1 : 0;
        depth -= closes && depth > 0 ? 1 : 0;
        buffer_add_bytes(out, bytes_of(json.data + at, end - at));
        at = skip_blanks(json, end);
    } while (depth > 0 && at < json.size_bytes);
    return at;
}

void json_text_keep_cells(struct bytes json, struct buffer *out)
{
    const size_t cell_depth = 3; /* {"rows": [{"column": CELL}]} */
    struct buffer cell = {0};
    size_t depth = 0, at = skip_blanks(json, 0);
    bool is_value = false;
    while (at < json.size_bytes) {
        uint8_t first = json.data[at];
        if (is_value && depth == cell_depth && is_kept(first)) {
            buffer_clear(&cell);
            at = add_value(json, at, &cell);
            buffer_add_json_string(out, buffer_bytes(&cell));
            is_value = false;
            continue;
        }
        size_t end = token_end(json, at);
        depth += first == '{' || first == '[' ? 1 : 0;
        depth -= (first == '}' || first == ']') && depth > 0 ? 1 : 0;
        is_value = first == ':';
        buffer_add_bytes(out, bytes_of(json.data + at, end - at));
        at = skip_blanks(json, end);
    }
    buffer_fini(&cell);
}
