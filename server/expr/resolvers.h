/*
 * Inside expr/: the resolvers and kernels that functions.def names, and what they share.
 * Every area declares its own in a header of its own, included here.
 */
#ifndef SERVER_EXPR_RESOLVERS_H
#define SERVER_EXPR_RESOLVERS_H

#include "expr/coercion.h"
#include "expr/function.h"
#include "expr/kernel.h"

/* ---- function.c ---- */

bool function_name_matches(const char *name, const char *aliases, const char *wanted);
bool function_alias_prints_main(const char *aliases, const char *name);
const char *function_lower_name(struct arena *arena, const char *name);
MUST_USE enum status function_check_count(const char *name, const char *signature,
                                          const struct function_call *call, struct error *err);
void function_insert_arg(struct resolve_context *ctx, struct expr *call, uint32_t index,
                         struct expr *arg);

/* Makes the call a generator of rows with these columns (generator.c). */
void generator_make(struct expr *call, const struct type *columns);

/* More of the usual mismatches; sqlExpr and the place are filled in. */
enum status function_diff_types(const struct expr *call, struct error *err);
enum status function_not_orderable(const struct expr *call, const struct type *type,
                                   struct error *err);
enum status function_not_foldable(const struct expr *call, uint32_t index, const char *input_name,
                                  struct error *err);

/* The word before the parentheses when the call is printed: "coalesce", "SQRT", "+". */
const char *function_print_name(const struct expr *call);

/* Declares resolvers and kernels. */
#define RESOLVER(name)                                                                             \
    enum status name(struct resolve_context *ctx, struct expr *call, struct expr **out,            \
                     struct error *err)
#define KERNEL(name) enum status name(const struct kernel_call *call, struct error *err)

/* ---- resolve_operators.c ---- */
RESOLVER(resolve_add);
RESOLVER(resolve_subtract);
RESOLVER(resolve_multiply);
RESOLVER(resolve_divide);
RESOLVER(resolve_div);
RESOLVER(resolve_remainder);
RESOLVER(resolve_pmod);
RESOLVER(resolve_try_add);
RESOLVER(resolve_try_subtract);
RESOLVER(resolve_try_multiply);
RESOLVER(resolve_try_divide);
RESOLVER(resolve_try_mod);
RESOLVER(resolve_bit_and);
RESOLVER(resolve_bit_or);
RESOLVER(resolve_bit_xor);
RESOLVER(resolve_bit_not);
RESOLVER(resolve_negative);
RESOLVER(resolve_positive);
RESOLVER(resolve_abs);
RESOLVER(resolve_shift);
RESOLVER(resolve_equal);
RESOLVER(resolve_null_equal);
RESOLVER(resolve_not_equal);
RESOLVER(resolve_less);
RESOLVER(resolve_less_equal);
RESOLVER(resolve_greater);
RESOLVER(resolve_greater_equal);
RESOLVER(resolve_equal_null);
RESOLVER(resolve_between);
RESOLVER(resolve_and);
RESOLVER(resolve_or);

/* ---- resolve_conditional.c ---- */
RESOLVER(resolve_if);
RESOLVER(resolve_case);
RESOLVER(resolve_coalesce);
RESOLVER(resolve_nvl);
RESOLVER(resolve_nvl2);
RESOLVER(resolve_nullif);
RESOLVER(resolve_nullifzero);
RESOLVER(resolve_zeroifnull);
RESOLVER(resolve_greatest);
RESOLVER(resolve_in);
RESOLVER(resolve_assert_true);
KERNEL(kernel_raise_error);
RESOLVER(resolve_cast_function);

/* ---- generator.c ---- */
RESOLVER(resolve_explode);
RESOLVER(resolve_inline);
RESOLVER(resolve_stack);
KERNEL(kernel_explode);
KERNEL(kernel_posexplode);
KERNEL(kernel_inline);
KERNEL(kernel_stack);

/* ---- resolve_nested.c ---- */
RESOLVER(resolve_array);
RESOLVER(resolve_map);
RESOLVER(resolve_named_struct);
RESOLVER(resolve_field_access);
RESOLVER(resolve_subscript);
RESOLVER(resolve_get);
RESOLVER(resolve_element_at);
RESOLVER(resolve_try_element_at);

/* ---- generator.c ---- */
RESOLVER(resolve_explode);
RESOLVER(resolve_inline);
RESOLVER(resolve_stack);
KERNEL(kernel_explode);
KERNEL(kernel_posexplode);
KERNEL(kernel_inline);
KERNEL(kernel_stack);

/* ---- the library, functions_library.def ---- */
#include "expr/fn_array.h"
#include "expr/fn_crypto.h"
#include "expr/fn_datetime.h"
#include "expr/fn_format.h"
#include "expr/fn_json.h"
#include "expr/fn_math.h"
#include "expr/fn_regex.h"
#include "expr/fn_session.h"
#include "expr/fn_string.h"
#include "expr/fn_support.h"
#include "expr/fn_variant.h"

#endif
