/*
 * Rows of scenarios as text that can be compared: what came out, and what is expected, are brought
 * to one canonical form, column by column.
 *
 * Timestamps are `+N` seconds after the scenario's clock begins, doubles have the digits that tell
 * them apart, nested values are JSON, binary is 0x.., NULL is bare and a text that looks like
 * something else is quoted.
 */
#ifndef TESTS_SUPPORT_CELL_TEXT_H
#define TESTS_SUPPORT_CELL_TEXT_H

#include "columnar/batch.h"
#include "scn_file.h"

/* 2024-05-01T00:00:00Z, when the clock of every scenario begins. */
#define SCENARIO_BEGIN_US INT64_C(1714521600000000)

/* +12, -3, +1.5, or ISO text within a range that is longer than a week. */
void cell_add_timestamp(struct buffer *out, int64_t time_us);

/* Reads +12, -1.5 or ISO text; false if it is neither. */
bool cell_read_timestamp(const char *text, int64_t *time_us);

/* Appends the cell of a row. */
MUST_USE enum status cell_add(struct buffer *out, const struct vector *vector, uint32_t row,
                              struct error *err);

/* Appends a row's cells, two blanks between them. */
MUST_USE enum status cell_add_row(struct buffer *out, const struct batch *batch, uint32_t row,
                                  struct error *err);

/* Appends a written row in the canonical form of `schema` (STRUCT); a row of another number of
 * cells is of another generation of the query, and its cells count as text.
 * Errors: SCENARIO_INVALID if a cell does not fit. */
MUST_USE enum status cell_add_expected(struct buffer *out, struct arena *arena,
                                       const struct type *schema, const char *row,
                                       struct error *err);

/* A written row of a `feed` as a JSON object for the JSON reader. */
MUST_USE enum status cell_row_json(struct buffer *out, struct arena *arena,
                                   const struct type *schema, const char *row, struct error *err);

/* A text as a bare word, or quoted if it could be taken for something else. */
void cell_add_text(struct buffer *out, struct bytes text);

#endif
