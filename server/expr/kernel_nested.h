/*
 * Inside expr/: making arrays, maps and structs, and getting at their parts.
 */
#ifndef SERVER_EXPR_KERNEL_NESTED_H
#define SERVER_EXPR_KERNEL_NESTED_H

#include "expr/resolvers.h"

KERNEL(kernel_array);
KERNEL(kernel_map);
KERNEL(kernel_named_struct);
KERNEL(kernel_field);             /* s.x; bound: uint32_t index */
KERNEL(kernel_field_of_elements); /* array<struct>.x */
KERNEL(kernel_array_element);     /* a[i], get(a, i); bound not NULL: ANSI */
KERNEL(kernel_map_value);
KERNEL(kernel_element_at); /* bound not NULL: ANSI */

bool type_has_map(const struct type *type);
/* Errors: DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE. */
MUST_USE enum status map_check_key_type(const struct expr *call, const struct type *key,
                                        struct error *err);
/* What a resolver puts into call.bound for map_finish(): the policy for duplicate keys. */
const void *map_policy(const struct resolve_context *ctx);

/*
 * Makes call->out the MAP whose row r has entries[r] of `keys` and `values` (flat), after the
 * rules of map construction: no NULL keys, duplicates fail or, with `policy` (map_policy()) not
 * NULL, the last value wins at the first place.  Rows that are not selected have length 0.
 * Errors: NULL_MAP_KEY, DUPLICATED_MAP_KEY.
 */
MUST_USE enum status map_finish(const struct kernel_call *call, struct list_entry *entries,
                                struct vector *keys, struct vector *values, const void *policy,
                                struct error *err);

#endif
