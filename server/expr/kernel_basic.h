/*
 * Inside expr/: small kernels, and help for kernels that move cells of any type.
 */
#ifndef SERVER_EXPR_KERNEL_BASIC_H
#define SERVER_EXPR_KERNEL_BASIC_H

#include "expr/resolvers.h"

KERNEL(kernel_not);
KERNEL(kernel_is_null);
KERNEL(kernel_is_not_null);
KERNEL(kernel_shift_left);
KERNEL(kernel_shift_right);
KERNEL(kernel_shift_right_unsigned);
KERNEL(kernel_greatest);
KERNEL(kernel_least);

/* Arguments first .. first+count as one flat vector, argument k's row r at k * rows + r. */
MUST_USE enum status kernel_concat_args(const struct kernel_call *call, uint32_t first,
                                        uint32_t count, struct vector **out, struct error *err);

/*
 * Makes row r of the result the cell indices[r] of `vector` (any type; flat), UINT32_MAX: NULL.
 * indices has call->rows entries; those of unselected rows must be valid too.
 */
MUST_USE enum status kernel_gather(const struct kernel_call *call, const struct vector *vector,
                                   const uint32_t *indices, struct error *err);

/* As vector_gather(), UINT32_MAX giving NULL. */
MUST_USE enum status vector_gather_or_null(struct arena *arena, const struct vector *vector,
                                           const uint32_t *indices, uint32_t count,
                                           struct vector **out, struct error *err);

#endif
