/*
 * A JSON value written again as Jackson writes it: without blanks, numbers with a fraction in the
 * form of Java's doubles, texts with no more escapes than they need.  Private to format/.
 */
#ifndef SERVER_FORMAT_JSON_COPY_H
#define SERVER_FORMAT_JSON_COPY_H

#include "format/json_token.h"

/* `text` is one value that json_skip_value() has found to be good. */
void json_copy_value(struct json_lexer *lexer, struct bytes text, struct buffer *out);

#endif
