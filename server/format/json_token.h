/*
 * JSON tokens as Jackson reads them, with its lenient rules switched on or off.  The fast paths
 * are in json_decode.c; what is here handles everything, and decides what is an error.
 *
 * The text ends with a NUL at `end`, which no token can contain.  Private to format/.
 */
#ifndef SERVER_FORMAT_JSON_TOKEN_H
#define SERVER_FORMAT_JSON_TOKEN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "format/text_scan.h"

enum json_outcome {
    JSON_SET,    /* a value */
    JSON_NULL,   /* null */
    JSON_BAD,    /* a value that does not fit the type; the cursor is behind it */
    JSON_TORN,   /* a text with an error inside; the cursor is behind the offending byte */
    JSON_SYNTAX, /* no JSON: the whole record is broken */
};

struct json_rules {
    bool comments;
    bool unquoted_names;
    bool single_quotes;
    bool leading_zeros;
    bool any_escape;
    bool control_chars;
    bool non_numeric;
    uint32_t nesting_max;
    size_t string_max; /* characters */
    size_t number_max; /* digits */
};

struct json_lexer {
    const struct json_rules *rules;
    const uint8_t *end;    /* of the record: *end is NUL */
    struct arena *arena;   /* texts that had escapes */
    struct buffer scratch; /* a text being rewritten */
    uint64_t *nesting;     /* bit stack of skip: 1 = object; nesting_max bits */
    uint32_t depth;        /* of the value being read */
    bool across_lines;     /* line breaks are blanks; otherwise they end the record */
};

void json_lexer_init(struct json_lexer *lexer, const struct json_rules *rules);
void json_lexer_fini(struct json_lexer *lexer);

/* Behind blanks (and comments, if allowed). */
const uint8_t *json_skip_space_slow(const struct json_lexer *lexer, const uint8_t *at);

static inline const uint8_t *json_skip_space(const struct json_lexer *lexer, const uint8_t *at)
{
    if (*at > ' ' && *at != '/')
        return at;
    return json_skip_space_slow(lexer, at);
}

/* A text from its opening quote on; out == NULL only checks it.  SET or TORN. */
enum json_outcome json_text(struct json_lexer *lexer, const uint8_t **cursor, struct bytes *out);

/* A name of a field and its colon; the cursor ends at the value.  SET or SYNTAX. */
enum json_outcome json_name(struct json_lexer *lexer, const uint8_t **cursor, struct bytes *out);

enum json_number {
    JSON_NUMBER_INTEGER,
    JSON_NUMBER_FRACTION,
    JSON_NUMBER_NAN,
    JSON_NUMBER_INFINITY,
    JSON_NUMBER_MINUS_INFINITY,
    JSON_NUMBER_NONE, /* no number */
};

enum json_number json_number(const struct json_lexer *lexer, const uint8_t **cursor);

/* A word: true, false, null. */
static inline bool json_word(const uint8_t **cursor, const char *word, size_t size)
{
    if (memcmp(*cursor, word, size) != 0)
        return false;
    *cursor += size;
    return true;
}

/* Any value, checked and not kept.  SET or SYNTAX. */
enum json_outcome json_skip_value(struct json_lexer *lexer, const uint8_t **cursor);

#endif
