/*
 * Kernels of arithmetic and comparison, chosen by type and mode.
 */
#ifndef SERVER_EXPR_ARITHMETIC_H
#define SERVER_EXPR_ARITHMETIC_H

#include "expr/function.h"
#include "expr/kernel.h"

enum arithmetic_mode {
    ARITHMETIC_ANSI,   /* overflow is an error */
    ARITHMETIC_LEGACY, /* integers wrap, decimals become NULL */
    ARITHMETIC_TRY,    /* NULL */
};

enum arithmetic_operation {
    ARITHMETIC_ADD,
    ARITHMETIC_SUBTRACT,
    ARITHMETIC_MULTIPLY,
    ARITHMETIC_DIVIDE,    /* double, decimal */
    ARITHMETIC_REMAINDER, /* sign of the dividend */
    ARITHMETIC_PMOD,
    ARITHMETIC_DIV, /* bigint, decimal, intervals: to bigint */
    ARITHMETIC_BIT_AND,
    ARITHMETIC_BIT_OR,
    ARITHMETIC_BIT_XOR,
    ARITHMETIC_NEGATE,
    ARITHMETIC_POSITIVE,
    ARITHMETIC_ABS,
    ARITHMETIC_BIT_NOT,
};

/* NULL: there is none. */
function_kernel_fn *arithmetic_kernel(enum arithmetic_operation operation, enum type_id id,
                                      enum arithmetic_mode mode);

enum comparison_operation {
    COMPARE_EQUAL,
    COMPARE_NULL_EQUAL,
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL,
};

/* Both arguments have this type. */
function_kernel_fn *comparison_kernel(enum comparison_operation operation, const struct type *type);
/* The operation of a kernel of comparison_kernel(); false if it is none. */
bool comparison_of_kernel(function_kernel_fn *kernel, enum comparison_operation *out);

/* Errors of arithmetic, with Spark's parameters. */
enum status arithmetic_overflow(const char *message, const char *try_function, struct error *err);
enum status arithmetic_divide_by_zero(struct error *err);
enum status arithmetic_remainder_by_zero(struct error *err);

#endif
