/* Kernels and resolvers of fn_math.c, fn_round.c, fn_hash.c, fn_random.c. */
#ifndef SERVER_EXPR_FN_MATH_H
#define SERVER_EXPR_FN_MATH_H

#include "expr/resolvers.h"

RESOLVER(resolve_sign);
RESOLVER(resolve_log);
RESOLVER(resolve_nanvl);
RESOLVER(resolve_isnan);
RESOLVER(resolve_width_bucket);
RESOLVER(resolve_hex);
RESOLVER(resolve_round);
RESOLVER(resolve_ceil);
RESOLVER(resolve_hash);
RESOLVER(resolve_uniform);
RESOLVER(resolve_rand);
RESOLVER(resolve_uuid);
RESOLVER(resolve_randstr);
RESOLVER(resolve_shuffle);
RESOLVER(resolve_typeof);
RESOLVER(resolve_bit_count);

KERNEL(kernel_acos);
KERNEL(kernel_acosh);
KERNEL(kernel_asin);
KERNEL(kernel_asinh);
KERNEL(kernel_atan);
KERNEL(kernel_atan2);
KERNEL(kernel_atanh);
KERNEL(kernel_cbrt);
KERNEL(kernel_cos);
KERNEL(kernel_cosh);
KERNEL(kernel_cot);
KERNEL(kernel_csc);
KERNEL(kernel_degrees);
KERNEL(kernel_exp);
KERNEL(kernel_expm1);
KERNEL(kernel_hypot);
KERNEL(kernel_pow);
KERNEL(kernel_radians);
KERNEL(kernel_rint);
KERNEL(kernel_sec);
KERNEL(kernel_sin);
KERNEL(kernel_sinh);
KERNEL(kernel_sqrt);
KERNEL(kernel_tan);
KERNEL(kernel_tanh);
KERNEL(kernel_e);
KERNEL(kernel_pi);
KERNEL(kernel_ln);
KERNEL(kernel_log10);
KERNEL(kernel_log1p);
KERNEL(kernel_log2);
KERNEL(kernel_log_base);
KERNEL(kernel_sign);
KERNEL(kernel_isnan);
KERNEL(kernel_nanvl);
KERNEL(kernel_bin);
KERNEL(kernel_conv);
KERNEL(kernel_factorial);
KERNEL(kernel_width_bucket);
KERNEL(kernel_bit_count);
KERNEL(kernel_bit_get);
KERNEL(kernel_typeof);

KERNEL(kernel_round);
KERNEL(kernel_ceil);

KERNEL(kernel_hash);
KERNEL(kernel_xxhash64);
KERNEL(kernel_crc32);
KERNEL(kernel_md5);
KERNEL(kernel_sha1);
KERNEL(kernel_sha2);

KERNEL(kernel_rand);
KERNEL(kernel_randn);
KERNEL(kernel_uuid);
KERNEL(kernel_uniform);
KERNEL(kernel_randstr);
KERNEL(kernel_shuffle);

#endif
