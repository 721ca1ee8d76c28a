/* Kernels and resolvers of fn_string.c, fn_string_more.c, fn_string_case.c, fn_encode.c. */
#ifndef SERVER_EXPR_FN_STRING_H
#define SERVER_EXPR_FN_STRING_H

#include "expr/resolvers.h"

RESOLVER(resolve_concat);
RESOLVER(resolve_concat_ws);
RESOLVER(resolve_elt);
RESOLVER(resolve_overlay);
RESOLVER(resolve_trim);
RESOLVER(resolve_pad);
RESOLVER(resolve_substring);
RESOLVER(resolve_reverse);
RESOLVER(resolve_length);
RESOLVER(resolve_mask);
RESOLVER(resolve_decode);

KERNEL(kernel_concat);
KERNEL(kernel_concat_ws);
KERNEL(kernel_char_length);
KERNEL(kernel_octet_length);
KERNEL(kernel_bit_length);
KERNEL(kernel_substring);
KERNEL(kernel_substring_binary);
KERNEL(kernel_left);
KERNEL(kernel_left_binary);
KERNEL(kernel_right);
KERNEL(kernel_trim);
KERNEL(kernel_btrim);
KERNEL(kernel_ltrim);
KERNEL(kernel_rtrim);
KERNEL(kernel_lpad);
KERNEL(kernel_rpad);
KERNEL(kernel_lpad_binary);
KERNEL(kernel_rpad_binary);
KERNEL(kernel_repeat);
KERNEL(kernel_space);
KERNEL(kernel_reverse);
KERNEL(kernel_reverse_binary);
KERNEL(kernel_replace);
KERNEL(kernel_translate);
KERNEL(kernel_instr);
KERNEL(kernel_locate);
KERNEL(kernel_startswith);
KERNEL(kernel_endswith);
KERNEL(kernel_contains);
KERNEL(kernel_split_part);
KERNEL(kernel_substring_index);
KERNEL(kernel_overlay);
KERNEL(kernel_overlay_binary);
KERNEL(kernel_ascii);
KERNEL(kernel_chr);
KERNEL(kernel_elt);
KERNEL(kernel_find_in_set);
KERNEL(kernel_jaro_winkler);
KERNEL(kernel_levenshtein);
KERNEL(kernel_soundex);
KERNEL(kernel_luhn_check);
KERNEL(kernel_mask);
KERNEL(kernel_quote);
KERNEL(kernel_upper);
KERNEL(kernel_lower);
KERNEL(kernel_initcap);
KERNEL(kernel_base64);
KERNEL(kernel_unbase64);
KERNEL(kernel_hex_bigint);
KERNEL(kernel_hex_bytes);
KERNEL(kernel_unhex);
KERNEL(kernel_encode);
KERNEL(kernel_decode);
RESOLVER(resolve_to_binary);
KERNEL(kernel_to_binary);
KERNEL(kernel_try_to_binary);
KERNEL(kernel_url_encode);
KERNEL(kernel_url_decode);
KERNEL(kernel_try_url_decode);
KERNEL(kernel_parse_url);
KERNEL(kernel_try_parse_url);
KERNEL(kernel_is_valid_utf8);
KERNEL(kernel_make_valid_utf8);
KERNEL(kernel_validate_utf8);
KERNEL(kernel_try_validate_utf8);

#endif
