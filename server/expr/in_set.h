/*
 * x IN (constants): the constants in a hash table, made once when the call is resolved.
 */
#ifndef SERVER_EXPR_IN_SET_H
#define SERVER_EXPR_IN_SET_H

#include "expr/function.h"
#include "expr/kernel.h"

struct in_set;

/* NULL if an item is not constant, or if its value is an error. */
const struct in_set *in_set_of(struct resolve_context *ctx, struct expr *const *items,
                               uint32_t count);

/* x IN (...), with a set (call.bound) or without. */
enum status kernel_in(const struct kernel_call *call, struct error *err);

#endif
