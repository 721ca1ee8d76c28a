/* Kernels and resolvers of fn_printf.c, fn_format_number.c, fn_number_pattern.c. */
#ifndef SERVER_EXPR_FN_FORMAT_H
#define SERVER_EXPR_FN_FORMAT_H

#include "expr/resolvers.h"

RESOLVER(resolve_format_string);
RESOLVER(resolve_format_number);
RESOLVER(resolve_to_char);
RESOLVER(resolve_to_number);

KERNEL(kernel_format_string);
KERNEL(kernel_format_number);
KERNEL(kernel_to_char);
KERNEL(kernel_to_number);

#endif
