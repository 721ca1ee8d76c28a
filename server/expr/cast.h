/*
 * CAST: which pairs of types exist, and the kernels.  Three modes (expr.h): ANSI, legacy, TRY.
 */
#ifndef SERVER_EXPR_CAST_H
#define SERVER_EXPR_CAST_H

#include "expr/function.h"
#include "expr/kernel.h"

/* Whether such a cast exists. */
bool cast_exists(const struct type *from, const struct type *to, enum cast_mode mode);

/* True if no value can fail or become NULL (an upcast): then the result is as nullable as the
 * operand. */
bool cast_is_total(const struct type *from, const struct type *to, enum cast_mode mode);

/*
 * Resolves CAST(operand AS type) as the user wrote it; `try_cast` for TRY_CAST.  The mode follows
 * ctx->ansi.
 * Errors: DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION, .CAST_WITH_FUNC_SUGGESTION,
 * .CAST_WITH_CONF_SUGGESTION.
 */
MUST_USE enum status cast_resolve(struct resolve_context *ctx, struct expr *operand,
                                  const struct type *type, bool try_cast, struct expr **out,
                                  struct error *err);

/*
 * Converts the selected rows of `in` into a new vector of `type` (or `in` itself if nothing has to
 * change).  Rows that fail are errors or NULL as the mode says.
 * Errors: CAST_INVALID_INPUT, CAST_OVERFLOW, NUMERIC_VALUE_OUT_OF_RANGE.*, LIMIT_EXCEEDED.
 */
struct cast_rows {
    const uint16_t *selection; /* NULL: all rows */
    uint32_t selected;
    uint32_t rows;
};
MUST_USE enum status cast_vector(const struct eval_context *ctx, const struct expr *cast,
                                 const struct vector *in, const struct cast_rows *rows,
                                 struct vector **out, struct error *err);

#endif
