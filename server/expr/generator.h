/*
 * Generators: functions that make several rows of one, for the generate operator.
 *
 * A generator's kernel (kernel.h) gets its arguments like any other; its result is one ARRAY of
 * STRUCT per row: the rows it makes and their columns.  expr->type is the STRUCT.
 */
#ifndef SERVER_EXPR_GENERATOR_H
#define SERVER_EXPR_GENERATOR_H

#include "expr/program.h"

/*
 * Runs the generator over the selected rows.  `args` are its arguments' vectors.  *out is a flat
 * vector of batch->rows lists whose child is a STRUCT vector of generator->type; rows that are not
 * selected are unspecified; NULL rows have empty lists.  In ctx->arena.
 */
MUST_USE enum status generator_run(const struct expr *generator, const struct eval_context *ctx,
                                   struct vector **args, const struct batch *batch,
                                   struct vector **out, struct error *err);

#endif
