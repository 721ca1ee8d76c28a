/*
 * An error about a spec, as people read it: the condition, the text, where it is and, if that is in
 * a text of SQL or of a schema, the line with the place marked.
 *
 * Threads: any.
 */
#ifndef SERVER_SPEC_ERROR_TEXT_H
#define SERVER_SPEC_ERROR_TEXT_H

#include "base/buffer.h"
#include "spec/query_spec.h"

/* Appends "error: [CONDITION] text (at /sql line 2 column 7)" and the marked line.  `word` is
 * "error", "warning" ...; `spec` may be NULL. */
void error_text_add(struct buffer *out, const char *word, const struct error *err,
                    const struct query_spec *spec);

/* The text of the schema that the error points at and has a position in; NULL: it is about
 * something else, or the schema is no DDL. */
const char *error_schema_text(const struct error *err, const struct query_spec *spec);

#endif
