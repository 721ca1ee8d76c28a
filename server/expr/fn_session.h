/* Kernels of fn_session.c. */
#ifndef SERVER_EXPR_FN_SESSION_H
#define SERVER_EXPR_FN_SESSION_H

#include "expr/resolvers.h"

KERNEL(kernel_current_user);
KERNEL(kernel_current_catalog);
KERNEL(kernel_current_schema);
KERNEL(kernel_version);
KERNEL(kernel_spark_partition_id);
KERNEL(kernel_monotonically_increasing_id);
KERNEL(kernel_input_file_name);
KERNEL(kernel_input_file_block_start);
KERNEL(kernel_input_file_block_length);

#endif
