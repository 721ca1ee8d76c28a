/*
 * Rows as JSON, one object per line, for those who look at them: nested values nested, NULL as
 * null.
 * Threads: one.
 */
#ifndef SERVER_SINK_ROW_JSON_H
#define SERVER_SINK_ROW_JSON_H

#include "base/buffer.h"
#include "columnar/batch.h"

struct row_json;

/* Schema and time zone outlive it.  Errors: those of the format for types that it cannot write. */
MUST_USE enum status row_json_new(const struct type *schema, const char *time_zone,
                                  struct row_json **out, struct error *err);
void row_json_free(struct row_json *json); /* NULL is fine */

/* Appends the rows of the batch. */
MUST_USE enum status row_json_add(struct row_json *json, const struct batch *batch,
                                  struct buffer *out, struct error *err);

#endif
