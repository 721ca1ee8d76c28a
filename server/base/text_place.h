/*
 * Places in a text as people count them: lines and columns (of characters) from 1; and a picture of
 * the line with the place marked.
 *
 * Threads: any.
 */
#ifndef SERVER_BASE_TEXT_PLACE_H
#define SERVER_BASE_TEXT_PLACE_H

#include "base/buffer.h"

struct text_span {
    int line, column;
    int end_line, end_column; /* just after the place */
};

/* Of the bytes [position, position_end); an end before the position is the position. */
struct text_span text_span_of(const char *text, int position, int position_end);

/*
 * Appends the first line of the span, marked:
 *
 *       2 | WHERE colour = 'red'
 *         |       ^^^^^^
 *
 * Of a long line the part around the place; control characters as '?'.
 */
void text_mark(struct buffer *out, const char *text, const struct text_span *span);

#endif
