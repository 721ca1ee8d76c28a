/*
 * JSON lines through the product's JSON reader, strictly (FAILFAST).
 */
#ifndef TESTS_SUPPORT_JSON_ROWS_H
#define TESTS_SUPPORT_JSON_ROWS_H

#include "columnar/batch.h"

/* Hands the rows of `text` to the receiver, all columns of `schema`.  Batches live in `arena`.
 * Errors: those of the reader and the receiver. */
MUST_USE enum status json_rows_read(struct arena *arena, const struct type *schema,
                                    struct bytes text, struct batch_receiver *receiver,
                                    struct error *err);

#endif
