/*
 * A batch is a horizontal slice of a stream: one vector per column, all `rows` long, at most
 * BATCH_ROWS_MAX.
 *
 * Operators never mutate the vectors of their input.  A filter narrows the selection; a projection
 * adds vectors; whoever needs the rows dense calls batch_compact().
 */
#ifndef SERVER_COLUMNAR_BATCH_H
#define SERVER_COLUMNAR_BATCH_H

#include "columnar/vector.h"

#define BATCH_ROWS_MAX 4096

struct batch {
    const struct type *schema; /* STRUCT of the columns; borrowed: query lifetime */
    struct vector **columns;   /* schema->field_count of them: batch lifetime */
    uint32_t rows;
    uint32_t selected;         /* rows that are still in the stream */
    const uint16_t *selection; /* their indexes, ascending; NULL while selected == rows */
};

/* The row behind position `i` of the selection. */
static inline uint32_t batch_row(const struct batch *batch, uint32_t i)
{
    return batch->selection == NULL ? i : batch->selection[i];
}

/* Makes a batch of flat vectors for `rows` rows, in `arena`.  Errors: LIMIT_EXCEEDED. */
MUST_USE enum status batch_new(struct arena *arena, const struct type *schema, uint32_t rows,
                               struct batch **out, struct error *err);

/* Makes `out` a dense copy of the selected rows (or a plain copy of the struct if dense). */
MUST_USE enum status batch_compact(struct arena *arena, const struct batch *batch,
                                   struct batch *out, struct error *err);

/* Checks every invariant above (CHECK); called between operators in debug builds. */
void batch_check(const struct batch *batch);

/*
 * Who takes batches: the head of a pipeline, a sink's task writer, a collector in a test.  The
 * batch and all it points to are valid only during the call.
 */
struct batch_receiver {
    enum status (*receive)(struct batch_receiver *self, const struct batch *batch,
                           struct error *err);
};

static inline enum status batch_receive(struct batch_receiver *receiver, const struct batch *batch,
                                        struct error *err)
{
    return receiver->receive(receiver, batch, err);
}

#endif
