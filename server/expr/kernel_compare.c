/*
 * Comparison kernels.  Floats follow Spark's order: NaN equals NaN and is larger than everything.
 */
#include "expr/arithmetic.h"

#include <math.h>

/* clang-format off */
#define ORDERED(T) \
    static KERNEL_BINARY(equal_##T, uint8_t, T, T, x == y) \
    static KERNEL_BINARY(less_##T, uint8_t, T, T, x < y) \
    static KERNEL_BINARY(less_equal_##T, uint8_t, T, T, x <= y) \
    static KERNEL_BINARY(greater_##T, uint8_t, T, T, x > y) \
    static KERNEL_BINARY(greater_equal_##T, uint8_t, T, T, x >= y)
/* clang-format on */

ORDERED(uint8_t)
ORDERED(int8_t)
ORDERED(int16_t)
ORDERED(int32_t)
ORDERED(int64_t)
ORDERED(int128)

/* x < y, with NaN last */
#define LESS(x, y)   (((x) < (y)) | (((y) != (y)) & ((x) == (x))))
#define EQUAL_(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))
/* clang-format off */
#define FLOATING(T) \
    static KERNEL_BINARY(equal_##T, uint8_t, T, T, EQUAL_(x, y)) \
    static KERNEL_BINARY(less_##T, uint8_t, T, T, LESS(x, y)) \
    static KERNEL_BINARY(less_equal_##T, uint8_t, T, T, !(LESS(y, x))) \
    static KERNEL_BINARY(greater_##T, uint8_t, T, T, LESS(y, x)) \
    static KERNEL_BINARY(greater_equal_##T, uint8_t, T, T, !(LESS(x, y)))
/* clang-format on */

FLOATING(float)
FLOATING(double)

/* Kernels that look at memory behind the cells: rows that are NULL must not be touched. */
#define BY_ROW(name, result)                                                                       \
    static enum status name(const struct kernel_call *call, struct error *err)                     \
    {                                                                                              \
        (void)err;                                                                                 \
        const struct vector *a = call->args[0];                                                    \
        const struct vector *b = call->args[1];                                                    \
        uint8_t *out = call->out->values;                                                          \
        const uint64_t *validity = call->out->validity;                                            \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            if (!validity_get(validity, row))                                                      \
                continue;                                                                          \
            uint32_t row_a = vector_index(a, row);                                                 \
            uint32_t row_b = vector_index(b, row);                                                 \
            out[row] = (uint8_t)(result);                                                          \
        }                                                                                          \
        return OK;                                                                                 \
    }

#define TEXT(vector, row) (VECTOR_VALUES(struct bytes, vector)[row])

BY_ROW(equal_bytes, bytes_equal(TEXT(a, row_a), TEXT(b, row_b)))
BY_ROW(less_bytes, bytes_compare(TEXT(a, row_a), TEXT(b, row_b)) < 0)
BY_ROW(less_equal_bytes, bytes_compare(TEXT(a, row_a), TEXT(b, row_b)) <= 0)
BY_ROW(greater_bytes, bytes_compare(TEXT(a, row_a), TEXT(b, row_b)) > 0)
BY_ROW(greater_equal_bytes, bytes_compare(TEXT(a, row_a), TEXT(b, row_b)) >= 0)
BY_ROW(equal_any, vector_compare(a, row_a, b, row_b) == 0)
BY_ROW(less_any, vector_compare(a, row_a, b, row_b) < 0)
BY_ROW(less_equal_any, vector_compare(a, row_a, b, row_b) <= 0)
BY_ROW(greater_any, vector_compare(a, row_a, b, row_b) > 0)
BY_ROW(greater_equal_any, vector_compare(a, row_a, b, row_b) >= 0)

static enum status null_equal(const struct kernel_call *call, struct error *err)
{
    (void)err;
    const struct vector *a = call->args[0];
    const struct vector *b = call->args[1];
    uint8_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        bool null_a = vector_is_null(a, row);
        bool null_b = vector_is_null(b, row);
        if (null_a || null_b)
            out[row] = null_a && null_b;
        else
            out[row] = vector_compare(a, vector_index(a, row), b, vector_index(b, row)) == 0;
    }
    return OK;
}

static enum status null_equal_boolean(const struct kernel_call *call, struct error *err)
{
    (void)err;
    const struct vector *a = call->args[0];
    const struct vector *b = call->args[1];
    const uint8_t *cells_a = a->values;
    const uint8_t *cells_b = b->values;
    uint8_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        bool null_a = vector_is_null(a, row);
        bool null_b = vector_is_null(b, row);
        out[row] = null_a == null_b &&
                   (null_a || cells_a[vector_index(a, row)] == cells_b[vector_index(b, row)]);
    }
    return OK;
}

#define ROW(suffix)                                                                                \
    {                                                                                              \
        [COMPARE_EQUAL] = equal_##suffix, [COMPARE_LESS] = less_##suffix,                          \
        [COMPARE_LESS_EQUAL] = less_equal_##suffix, [COMPARE_GREATER] = greater_##suffix,          \
        [COMPARE_GREATER_EQUAL] = greater_equal_##suffix, [COMPARE_NULL_EQUAL] = null_equal        \
    }

static function_kernel_fn *const kernels[TYPE_ID_COUNT][COMPARE_GREATER_EQUAL + 1] = {
    [TYPE_VOID] = ROW(any),
    [TYPE_BOOLEAN] = ROW(uint8_t),
    [TYPE_BYTE] = ROW(int8_t),
    [TYPE_SHORT] = ROW(int16_t),
    [TYPE_INT] = ROW(int32_t),
    [TYPE_LONG] = ROW(int64_t),
    [TYPE_FLOAT] = ROW(float),
    [TYPE_DOUBLE] = ROW(double),
    [TYPE_DECIMAL] = ROW(int128),
    [TYPE_STRING] = ROW(bytes),
    [TYPE_BINARY] = ROW(bytes),
    [TYPE_DATE] = ROW(int32_t),
    [TYPE_TIMESTAMP] = ROW(int64_t),
    [TYPE_TIMESTAMP_NTZ] = ROW(int64_t),
    [TYPE_TIME] = ROW(int64_t),
    [TYPE_INTERVAL_DT] = ROW(int64_t),
    [TYPE_INTERVAL_YM] = ROW(int32_t),
    [TYPE_INTERVAL] = ROW(any),
    [TYPE_VARIANT] = ROW(bytes),
    [TYPE_ARRAY] = ROW(any),
    [TYPE_MAP] = ROW(any),
    [TYPE_STRUCT] = ROW(any),
};

function_kernel_fn *comparison_kernel(enum comparison_operation operation, const struct type *type)
{
    if (operation == COMPARE_NULL_EQUAL && type->id == TYPE_BOOLEAN)
        return null_equal_boolean;
    return kernels[type->id][operation];
}

bool comparison_of_kernel(function_kernel_fn *kernel, enum comparison_operation *out)
{
    if (kernel == NULL || kernel == null_equal || kernel == null_equal_boolean)
        return false;
    for (int id = 0; id < TYPE_ID_COUNT; id++) {
        for (int operation = 0; operation <= COMPARE_GREATER_EQUAL; operation++) {
            if (kernels[id][operation] == kernel) {
                *out = (enum comparison_operation)operation;
                return true;
            }
        }
    }
    return false;
}
