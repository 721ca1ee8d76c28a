/*
 * Vectors as bytes, for a scratch file: what is saved comes back as it was, cell by cell (unlike
 * row_key.h, which takes what is equal as one).
 *
 *     vector = u32 rows | u8 constant | u8 has NULLs | [validity words] | cells | children
 *     cells of text = u32 size of each | the bytes of all
 *
 * Numbers are those of the machine; nothing of this outlives the process.
 *
 * Threads: any; nothing is shared.
 */
#ifndef SERVER_COLUMNAR_VECTOR_BYTES_H
#define SERVER_COLUMNAR_VECTOR_BYTES_H

#include "base/buffer.h"
#include "columnar/vector.h"

/* Appends it. */
void vector_save(const struct vector *vector, struct buffer *out);

/* Takes a vector of this type from the front of *in; it lives in `arena`, text included.
 * Errors: CHECKSUM_MISMATCH if the bytes are no vector of it, LIMIT_EXCEEDED. */
MUST_USE enum status vector_load(struct arena *arena, const struct type *type, struct bytes *in,
                                 struct vector **out, struct error *err);

#endif
