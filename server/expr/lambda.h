/*
 * Inside expr/: the higher-order functions.
 */
#ifndef SERVER_EXPR_LAMBDA_H
#define SERVER_EXPR_LAMBDA_H

#include "expr/resolvers.h"

RESOLVER(resolve_transform);
RESOLVER(resolve_array_filter);
RESOLVER(resolve_array_predicate); /* exists, forall */
RESOLVER(resolve_aggregate_fold);
RESOLVER(resolve_zip_with);
RESOLVER(resolve_map_filter);
RESOLVER(resolve_transform_keys);
RESOLVER(resolve_transform_values);
RESOLVER(resolve_map_zip_with);
RESOLVER(resolve_array_sort);

KERNEL(kernel_transform);
KERNEL(kernel_array_filter);
KERNEL(kernel_exists);
KERNEL(kernel_forall);
KERNEL(kernel_aggregate_fold);
KERNEL(kernel_zip_with);
KERNEL(kernel_map_filter);
KERNEL(kernel_transform_keys);
KERNEL(kernel_transform_values);
KERNEL(kernel_map_zip_with);
KERNEL(kernel_array_sort);

#endif
