/*
 * Inside columnar/: row keys column by column.
 *
 * Flat columns are numbers, times, text, and structs of them that are not NULL themselves.  Their
 * keys are written one column after another, each loop with its type fixed; keys of columns that
 * all have one width are read back the same way.  The bytes are those of row_key.h.
 *
 * Threads: any; nothing is shared.
 */
#ifndef SERVER_COLUMNAR_ROW_KEY_FLAT_H
#define SERVER_COLUMNAR_ROW_KEY_FLAT_H

#include "columnar/vector.h"

enum row_key_mark {
    CELL_NULL = 0x00,
    CELL_VALUE = 0x01,
};

bool row_key_is_flat(struct vector *const *columns, uint32_t column_count);

/* The most bytes of a key, and of a row that is kept as one. */
#define ROW_KEY_BYTES_MAX ((size_t)INT32_MAX)

/* Keys that take `total` bytes together.  Errors: LIMIT_EXCEEDED if one is too long. */
MUST_USE enum status row_key_check(const struct bytes *keys, uint32_t count, size_t total,
                                   struct error *err);

/* row_key_encode() for flat columns. */
MUST_USE enum status row_key_encode_flat(struct arena *arena, struct vector *const *columns,
                                         uint32_t column_count, const uint16_t *selection,
                                         uint32_t selected, struct bytes *keys, struct error *err);

/*
 * Decodes keys of columns that have no NULL and one width.  False: they are not so (or damaged);
 * `out` is then to be overwritten.  out[c] are fresh vectors of `count` rows without NULLs.
 */
bool row_key_decode_flat(struct vector **out, uint32_t column_count, const struct bytes *keys,
                         uint32_t count);

/* The bits of floating-point numbers whose unsigned order is that of SQL. */
uint64_t row_key_double_bits(double value);
uint32_t row_key_float_bits(float value);

#endif
