/*
 * JSON texts as trees, for the JSON functions: one value is read from the start of a text, what
 * follows it is not looked at.  Nodes are numbered; strings point into the text or, if they had
 * escapes, into the arena.  A tree is reused from text to text.
 */
#ifndef SERVER_EXPR_JSON_DOM_H
#define SERVER_EXPR_JSON_DOM_H

#include "base/arena.h"
#include "base/buffer.h"

enum json_kind {
    JSON_DOM_NULL,
    JSON_DOM_FALSE,
    JSON_DOM_TRUE,
    JSON_DOM_INTEGER, /* text: as written */
    JSON_DOM_FLOAT,   /* text: as written; NaN, Infinity, -INF ... too */
    JSON_DOM_STRING,  /* text: without escapes */
    JSON_DOM_ARRAY,
    JSON_DOM_OBJECT,
};

#define JSON_DOM_NONE UINT32_MAX

struct json_node {
    enum json_kind kind;
    struct bytes key; /* of a member of an object */
    struct bytes text;
    uint32_t first; /* child, or JSON_DOM_NONE */
    uint32_t next;  /* sibling, or JSON_DOM_NONE */
    uint32_t count; /* children */
    bool halves;    /* text of a string: has halves of surrogate pairs, in three bytes each */
};

/* Spark's options; the defaults are those of json_dom_defaults(). */
struct json_dialect {
    bool single_quotes;
    bool comments;
    bool unquoted_names;
    bool non_numeric; /* NaN, Infinity, +INF, -INF as numbers */
    bool leading_zeros;
    bool any_escape;
    bool control_characters;
};

struct json_dialect json_dom_defaults(void);

/* A zeroed struct json_dom is empty and valid. */
struct json_dom {
    struct json_node *nodes;
    uint32_t count;
    uint32_t capacity;
    bool too_large; /* a text had more than JSON_DOM_NODES_MAX values, or memory ended */
};

#define JSON_DOM_NODES_MAX ((uint32_t)64 << 20)

void json_dom_fini(struct json_dom *dom);

/* Reads the value; node 0 is the root.  False: no JSON, nested too deep, or too large: see there.
 */
bool json_dom_read(struct json_dom *dom, struct arena *arena, struct bytes text,
                   const struct json_dialect *dialect);

/* Appends the node as Jackson renders it: no blanks, floats as doubles. */
void json_dom_print(struct buffer *out, const struct json_dom *dom, uint32_t node);

/* The text of a string node with '?' for each half of a surrogate pair. */
struct bytes json_dom_text(const struct json_node *node, struct arena *arena);

/* A string with its quotes, as Jackson writes it; `ascii`: other characters as \uXXXX. */
void json_print_string(struct buffer *out, struct bytes text, bool ascii);

#endif
