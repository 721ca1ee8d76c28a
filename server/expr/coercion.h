/*
 * Implicit conversion, Spark 4.3's rules with and without ANSI mode.
 *
 * Three rules, from narrow to wide:
 *   tightest common type   no loss, no strings: set operations' and VALUES' first step, GREATEST
 *   common type            comparison, CASE, COALESCE, ARRAY, IN, UNION: strings take part
 *   implicit cast          an argument to the type a function wants
 * plus the result types of decimal arithmetic.
 */
#ifndef SERVER_EXPR_COERCION_H
#define SERVER_EXPR_COERCION_H

#include "expr/function.h"

/* NULL: there is none. */
const struct type *coercion_tightest(const struct resolve_context *ctx, const struct type *a,
                                     const struct type *b);
const struct type *coercion_common(const struct resolve_context *ctx, const struct type *a,
                                   const struct type *b);
/* Common type of many (types of exprs).  `strings` false: as GREATEST, LEAST and VALUES. */
const struct type *coercion_common_of(const struct resolve_context *ctx, struct expr *const *exprs,
                                      uint32_t count, bool strings);
/* Type of a column of UNION, EXCEPT, INTERSECT. */
const struct type *coercion_union(const struct resolve_context *ctx, const struct type *a,
                                  const struct type *b);

/* The expression as `type`: itself if it has it, else an implicit cast (literals too stay casts;
 * folding removes them). */
struct expr *coercion_cast(const struct resolve_context *ctx, struct expr *expr,
                           const struct type *type);

/* Gives args[first .. first+count) their common type.  False: there is none (nothing changed). */
bool coercion_unify(const struct resolve_context *ctx, struct expr **args, uint32_t count,
                    bool strings);

/*
 * Whether an argument of type `from` may stand where a function wants `to` (a concrete type), by
 * an implicit cast.
 */
bool coercion_can_cast_implicitly(const struct resolve_context *ctx, const struct type *from,
                                  const struct type *to);

/* DECIMAL(p, s) that holds every value of an integral type; also DECIMAL itself, float (14,7) and
 * double (30,15).  A literal takes only its own digits (coercion_decimal_of_expr). */
const struct type *coercion_decimal_of(const struct resolve_context *ctx, const struct type *type);
const struct type *coercion_decimal_of_expr(const struct resolve_context *ctx,
                                            const struct expr *expr);

enum decimal_operation {
    DECIMAL_OP_ADD, /* and subtract */
    DECIMAL_OP_MULTIPLY,
    DECIMAL_OP_DIVIDE,
    DECIMAL_OP_REMAINDER, /* and pmod */
};
/* Result type for two DECIMAL types. */
const struct type *coercion_decimal_result(const struct resolve_context *ctx,
                                           enum decimal_operation operation, const struct type *a,
                                           const struct type *b);
/* DECIMAL(min(p,38), min(s,38)), or adjusted for precision loss. */
const struct type *coercion_decimal_bounded(struct arena *arena, int precision, int scale);
const struct type *coercion_decimal_adjusted(struct arena *arena, int precision, int scale);

#endif
