#include "format/json_pretty.h"

/* The containers around a place, outermost first. */
struct printer {
    struct buffer *out;
    struct buffer open; /* '{' and '[' */
    size_t objects;     /* of them */
};

static bool in_object(const struct printer *p)
{
    return p->open.size_bytes > 0 && p->open.data[p->open.size_bytes - 1] == '{';
}

static void break_line(struct printer *p)
{
    buffer_add_byte(p->out, '\n');
    for (size_t i = 0; i < p->objects; i++)
        buffer_add_text(p->out, "  ");
}

static void enter(struct printer *p, uint8_t bracket)
{
    buffer_add_byte(p->out, bracket);
    buffer_add_byte(&p->open, bracket);
    if (bracket == '{') {
        p->objects++;
        break_line(p);
    } else {
        buffer_add_byte(p->out, ' ');
    }
}

static void leave(struct printer *p, uint8_t bracket)
{
    p->open.size_bytes--;
    if (bracket == '}') {
        p->objects--;
        break_line(p);
    } else {
        buffer_add_byte(p->out, ' ');
    }
    buffer_add_byte(p->out, bracket);
}

/* The size of the string that the text begins with, quotes included. */
static size_t string_size(struct bytes text)
{
    size_t at = 1;
    while (at < text.size_bytes && text.data[at] != '"')
        at += text.data[at] == '\\' ? 2 : 1;
    return at < text.size_bytes ? at + 1 : text.size_bytes;
}

/* Prints what the text begins with; returns its size. */
static size_t print_one(struct printer *p, struct bytes text)
{
    uint8_t c = text.data[0];
    uint8_t next = text.size_bytes > 1 ? text.data[1] : 0;
    if (c == '"') {
        size_t size = string_size(text);
        buffer_add(p->out, text.data, size);
        return size;
    }
    if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
        buffer_add_byte(p->out, c);
        buffer_add_byte(p->out, ' ');
        buffer_add_byte(p->out, next);
        return 2;
    }
    if (c == '{' || c == '[')
        enter(p, c);
    else if ((c == '}' || c == ']') && p->open.size_bytes > 0)
        leave(p, c);
    else if (c == ':')
        buffer_add_text(p->out, " : ");
    else
        buffer_add_byte(p->out, c);
    if (c == ',' && in_object(p))
        break_line(p);
    else if (c == ',')
        buffer_add_byte(p->out, ' ');
    return 1;
}

void json_pretty_print(struct bytes compact, struct buffer *out)
{
    struct printer printer = {.out = out};
    while (compact.size_bytes > 0) {
        size_t size = print_one(&printer, compact);
        compact = bytes_of(compact.data + size, compact.size_bytes - size);
    }
    buffer_fini(&printer.open);
}
