#ifndef SERVER_EXPR_FN_REGEX_H
#define SERVER_EXPR_FN_REGEX_H

#include "expr/resolvers.h"

RESOLVER(resolve_regexp_replace);

KERNEL(kernel_rlike);
KERNEL(kernel_regexp_extract);
KERNEL(kernel_regexp_extract_all);
KERNEL(kernel_regexp_substr);
KERNEL(kernel_regexp_count);
KERNEL(kernel_regexp_instr);
KERNEL(kernel_regexp_replace);
KERNEL(kernel_split);

#endif
