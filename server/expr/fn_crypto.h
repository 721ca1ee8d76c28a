/* Kernels of fn_crypto.c and fn_bitmap.c. */
#ifndef SERVER_EXPR_FN_CRYPTO_H
#define SERVER_EXPR_FN_CRYPTO_H

#include "expr/resolvers.h"

KERNEL(kernel_aes_encrypt);
KERNEL(kernel_aes_decrypt);
KERNEL(kernel_try_aes_decrypt);
KERNEL(kernel_hmac);

KERNEL(kernel_bitmap_bit_position);
KERNEL(kernel_bitmap_bucket_number);
KERNEL(kernel_bitmap_count);
KERNEL(kernel_to_base32);
KERNEL(kernel_from_base32);

#endif
