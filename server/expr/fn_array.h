/* Kernels and resolvers of fn_array.c, fn_array_set.c, fn_map.c, fn_sequence.c, fn_lambda.c. */
#ifndef SERVER_EXPR_FN_ARRAY_H
#define SERVER_EXPR_FN_ARRAY_H

#include "expr/resolvers.h"

KERNEL(kernel_array_concat);
KERNEL(kernel_array_reverse);

#endif
