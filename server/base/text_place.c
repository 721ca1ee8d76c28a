#include "base/text_place.h"

#include "base/check.h"

#define LINE_CHARACTERS_MAX 100
#define BEFORE_CHARACTERS   40 /* of a long line, before the place */

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static void line_column(const char *text, int position, int *line, int *column)
{
    *line = *column = 1;
    for (int i = 0; i < position && text[i] != '\0'; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (starts_character(text[i])) {
            ++*column;
        }
    }
}

struct text_span text_span_of(const char *text, int position, int position_end)
{
    struct text_span span;
    CHECK(text != NULL && position >= 0);
    line_column(text, position, &span.line, &span.column);
    line_column(text, position_end < position ? position : position_end, &span.end_line,
                &span.end_column);
    return span;
}

/* The line without its end; NULL if the text has not so many. */
static const char *find_line(const char *text, int line, size_t *size)
{
    for (int at = 1; at < line; at++) {
        text = strchr(text, '\n');
        if (text == NULL)
            return NULL;
        text++;
    }
    *size = strcspn(text, "\n");
    return text;
}

/* The characters [from, to) of the line; `under` marks instead of showing. */
static void add_part(struct buffer *out, struct bytes line, int from, int to,
                     const struct text_span *under)
{
    int column = 0;
    for (size_t i = 0; i < line.size_bytes; i++) {
        char byte = (char)line.data[i];
        column += starts_character(byte);
        if (column < from || column >= to)
            continue;
        if (under == NULL)
            buffer_add(out, byte == '\t' || (unsigned char)byte >= ' ' ? &byte : "?", 1);
        else if (starts_character(byte))
            buffer_add_text(out, column >= under->column && column < under->end_column ? "^"
                                 : byte == '\t'                                        ? "\t"
                                                                                       : " ");
    }
    if (under != NULL && column < under->column && under->column < to) /* the end of the text */
        buffer_printf(out, "%*s^", under->column - 1 - column, "");
}

void text_mark(struct buffer *out, const char *text, const struct text_span *span)
{
    size_t size = 0;
    const char *line = find_line(text, span->line, &size);
    if (line == NULL)
        return;
    if (size > 0 && line[size - 1] == '\r')
        size--;
    struct text_span under = *span;
    if (under.end_line > under.line)
        under.end_column = INT32_MAX;
    else if (under.end_column <= under.column)
        under.end_column = under.column + 1;
    int from = under.column > LINE_CHARACTERS_MAX - BEFORE_CHARACTERS
                   ? under.column - BEFORE_CHARACTERS
                   : 1;
    int to = from + LINE_CHARACTERS_MAX;
    struct bytes bytes = bytes_of(line, size);
    buffer_printf(out, "%5d | %s", under.line, from > 1 ? "..." : "");
    add_part(out, bytes, from, to, NULL);
    buffer_printf(out, "\n      | %s", from > 1 ? "   " : "");
    add_part(out, bytes, from, to, &under);
    buffer_add_text(out, "\n");
}
