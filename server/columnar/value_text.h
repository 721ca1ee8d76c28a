/*
 * Any cell as text, as CAST(x AS STRING) prints it: {a, b}, [1, 2], {k -> v}, null inside nested
 * values, and so on.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_VALUE_TEXT_H
#define SERVER_COLUMNAR_VALUE_TEXT_H

#include "columnar/timezone.h"
#include "columnar/vector.h"

/* The elements of lists end where the text has become longer: who prints long values looks. */
#define VALUE_TEXT_BYTES_MAX ((size_t)2147483632)

/* Appends the text of the cell, which is not NULL (NULL cells append "null"). */
void value_text_print(struct buffer *out, const struct vector *vector, uint32_t row,
                      const struct zone *zone);

/* As above for SHOW-like output and error messages: SQL literal form, 'text' quoted, DATE '...',
 * 1.5D, 3L, X'..'. */
void value_text_print_literal(struct buffer *out, const struct vector *vector, uint32_t row,
                              const struct zone *zone);

#endif
