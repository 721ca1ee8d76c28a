/*
 * Row keys: the values of some columns of a row as one run of bytes.
 *
 * Two rows have equal keys exactly if GROUP BY takes them as one (NULL equals NULL, NaN equals NaN,
 * -0.0 equals 0.0), and the order of the bytes (bytes_compare) is the SQL order of the rows,
 * ascending with NULLs first.  Keys are part of the checkpoint format: state is looked up by them.
 *
 *   key      = cell of each column, one after another
 *   cell     = 00 (NULL) | 01 value
 *   integers, dates, times, intervals: big-endian, sign bit flipped, of the type's width
 *   floats   = IEEE bits, big-endian; negative numbers inverted, others with the sign bit flipped;
 *              NaN is one value, -0.0 is 0.0
 *   text     = the bytes with 00 written as 00 FF, ended by 00 00
 *   ARRAY    = 02 cell for each element, ended by 01 (so that it sorts behind NULL: 00)
 *   MAP      = as an array of key, value, in the order of the keys
 *   STRUCT   = cells of its fields
 *
 * Threads: any; nothing is shared.
 */
#ifndef SERVER_COLUMNAR_ROW_KEY_H
#define SERVER_COLUMNAR_ROW_KEY_H

#include "columnar/vector.h"

/*
 * Encodes the selected rows (selection NULL: rows 0..selected): keys[i] is the key of the i-th
 * selected row.  The bytes live in `arena`.  Errors: LIMIT_EXCEEDED.
 */
MUST_USE enum status row_key_encode(struct arena *arena, struct vector *const *columns,
                                    uint32_t column_count, const uint16_t *selection,
                                    uint32_t selected, struct bytes *keys, struct error *err);

/*
 * Decodes keys back into flat vectors of the given types, `count` rows each, in `arena`; text is
 * copied.  Errors: CHECKSUM_MISMATCH if the bytes are no key of these types.
 */
MUST_USE enum status row_key_decode(struct arena *arena, const struct type *const *types,
                                    uint32_t column_count, const struct bytes *keys, uint32_t count,
                                    struct vector **out, struct error *err);

#endif
