/*
 * Rows that an operator keeps: deep copies of batches, which can be read as one long column each.
 * For blocking operators of bounded runs (sort, join, set operations, window functions).
 *
 * Threads: one at a time.
 */
#ifndef SERVER_EXEC_ROW_STORE_H
#define SERVER_EXEC_ROW_STORE_H

#include "exec/node.h"

struct row_store {
    struct arena *arena; /* of the copies; reset by row_store_clear */
    uint32_t column_count;
    struct vector ***pieces; /* pieces[column][piece] */
    uint32_t piece_count;
    uint32_t piece_capacity;
    uint32_t rows;
    struct vector **columns; /* after row_store_seal: all rows of each column */
};

/* A zeroed store becomes usable; `column_count` may be 0 (then it only counts rows). */
void row_store_init(struct row_store *store, uint32_t column_count);
void row_store_fini(struct row_store *store);
void row_store_clear(struct row_store *store);

/*
 * Copies the selected rows of `columns` (vectors of `rows` rows).
 * Errors: LIMIT_EXCEEDED beyond 2^31 rows.
 */
MUST_USE enum status row_store_add(struct row_store *store, struct vector *const *columns,
                                   uint32_t rows, const uint16_t *selection, uint32_t selected,
                                   struct error *err);

/* Makes store->columns; nothing may be added after it until row_store_clear. */
MUST_USE enum status row_store_seal(struct row_store *store, struct error *err);

/*
 * Output vectors for rows[0..count) of a sealed store, in `arena`; a row UINT32_MAX gives NULLs.
 */
MUST_USE enum status row_store_gather(const struct row_store *store, struct arena *arena,
                                      const uint32_t *rows, uint32_t count, struct vector **out,
                                      struct error *err);

/*
 * For finish(): emits rows order[0..count) of a sealed store as batches of the node's schema, whose
 * columns are the first ones of the store.  Resets ctx->batch_arena after each batch, so nothing
 * of the caller's may lie there.
 */
MUST_USE enum status row_store_emit(const struct row_store *store, struct exec_node *node,
                                    struct exec_context *ctx, const uint32_t *order, uint32_t count,
                                    struct error *err);

#endif
