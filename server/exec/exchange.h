/*
 * The exchange of rows: the end of a stage that spreads its rows over the partitions of the next.
 *
 * Each thread of a stage has a writer of its own, which copies the rows it gets into one list of
 * batches per partition; after the stage's barrier the partitions read the lists of all writers.
 * The copies live until the writer is used for the next batch.  When they are too many, they move
 * to the disk, and come back piece by piece when they are read: before those in memory, so that the
 * order of rows of one key stays.  There they lie apart by the hash by which partitions take rounds
 * (exec_in_round()), so that a round does not read all of them.
 */
#ifndef SERVER_EXEC_EXCHANGE_H
#define SERVER_EXEC_EXCHANGE_H

#include "exec/node.h"

/* Which columns of the input decide the partition; count 0: all rows go to partition 0. */
struct exchange_keys {
    struct expr **exprs; /* NULL: `columns` */
    const uint32_t *columns;
    uint32_t count;
};

struct exchange_writer;

/* In query memory.  Errors: those of expr_compile. */
MUST_USE enum status exchange_writer_new(struct arena *query, const struct exchange_keys *keys,
                                         const struct type *schema, struct exchange_writer **out,
                                         struct error *err);
void exchange_writer_free(struct exchange_writer *writer); /* NULL is fine */

/* Copies the rows of a batch.  Forgets those of the batch before when ctx->run is another. */
MUST_USE enum status exchange_write(struct exchange_writer *writer, struct exec_context *ctx,
                                    const struct batch *batch, struct error *err);

/* Forgets everything of a former batch: a writer that got no rows in this one. */
void exchange_begin(struct exchange_writer *writer, const struct exec_context *ctx);

/* Calls push for the batches of a partition, in the order in which they came. */
MUST_USE enum status exchange_read(const struct exchange_writer *writer, struct exec_node *node,
                                   struct exec_context *ctx, uint32_t input, struct error *err);

/* Looks at the batches of a partition in the same order, before they are read. */
typedef enum status exchange_look_fn(struct exec_node *node, struct exec_context *ctx,
                                     const struct batch *batch, struct error *err);
MUST_USE enum status exchange_each(const struct exchange_writer *writer, struct exec_node *node,
                                   struct exec_context *ctx, exchange_look_fn *look,
                                   struct error *err);

/* Memory of the copies. */
size_t exchange_bytes(const struct exchange_writer *writer);
/* Adds what waits for a partition. */
void exchange_waiting(const struct exchange_writer *writer, uint32_t run, uint32_t partition,
                      struct exec_waiting *out);
/* They move to the file.  Errors: those of the disk. */
MUST_USE enum status exchange_put_away(struct exchange_writer *writer, struct spill_file *file,
                                       struct error *err);

#endif
