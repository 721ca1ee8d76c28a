/* What reading and writing JSON and CSV records share: fn_record.c.  Inside expr/ only. */
#ifndef SERVER_EXPR_FN_RECORD_H
#define SERVER_EXPR_FN_RECORD_H

#include "expr/cell_builder.h"
#include "expr/fn_json.h"

/*
 * Add the cell of out's type that the text gives.  False, with nothing added: the text is not of
 * the type.
 */
bool record_add_integer(int64_t value, struct cell_builder *out);
bool record_read_decimal(const struct record_format *format, struct bytes text,
                         struct cell_builder *out);
/* DATE, TIMESTAMP, TIMESTAMP_NTZ and the intervals. */
bool record_read_time(const struct record_format *format, const struct kernel_call *call,
                      struct bytes text, struct cell_builder *out);

/* Appends a DATE, TIMESTAMP or TIMESTAMP_NTZ; `at` is the index behind vector_index(). */
void record_write_time(const struct record_format *format, const struct zone *zone,
                       const struct vector *vector, uint32_t at, struct buffer *out);

/* The field of a STRUCT that holds corrupt records, or -1.  Error: INVALID_CORRUPT_RECORD_TYPE. */
MUST_USE enum status record_corrupt_field(struct resolve_context *ctx, const struct type *type,
                                          const struct record_format *format, int *out,
                                          struct error *err);
/* The record, or NULL, into the last cell. */
void record_set_corrupt(struct cell_builder *field, bool bad, struct bytes record);

#endif
