/*
 * Arithmetic kernels.
 *
 * Integer loops compute the wrapped result of every row and collect one flag "something
 * overflowed"; only when it is set the rows are looked at one by one, so that the loop vectorises
 * and NULL or unselected rows do no harm.
 */
#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/arithmetic.h"
#include "expr/decimal_error.h"

#include <math.h>
#include <stdio.h>

#define ANSI_CONFIG "\"spark.sql.ansi.enabled\""

enum status arithmetic_overflow(const char *message, const char *try_function, struct error *err)
{
    char alternative[128] = "";
    if (try_function != NULL)
        (void)snprintf(alternative, sizeof alternative,
                       " Use '%s' to tolerate overflow and return NULL instead.", try_function);
    return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", message, "alternative",
                       alternative, "config", ANSI_CONFIG, NULL);
}

enum status arithmetic_divide_by_zero(struct error *err)
{
    return error_raise(err, STATUS_DIVIDE_BY_ZERO, "config", ANSI_CONFIG, NULL);
}

enum status arithmetic_remainder_by_zero(struct error *err)
{
    return error_raise(err, STATUS_REMAINDER_BY_ZERO, "config", ANSI_CONFIG, NULL);
}

static enum status small_overflow(int x, int y, const char *symbol, const char *suffix,
                                  const char *try_function, struct error *err)
{
    char left[16], right[16], quoted[32];
    (void)snprintf(left, sizeof left, "%d%s", x, suffix);
    (void)snprintf(right, sizeof right, "%d%s", y, suffix);
    (void)snprintf(quoted, sizeof quoted, "`%s`", try_function);
    return error_raise(err, STATUS_BINARY_ARITHMETIC_OVERFLOW, "value1", left, "symbol", symbol,
                       "value2", right, "functionName", quoted, NULL);
}

static enum status interval_overflow(const char *try_function, struct error *err)
{
    if (try_function == NULL)
        return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITHOUT_SUGGESTION, NULL);
    char quoted[32];
    (void)snprintf(quoted, sizeof quoted, "`%s`", try_function);
    return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITH_SUGGESTION, "functionName",
                       quoted, NULL);
}

/* A selected row whose result is not NULL already. */
static bool counts(const struct kernel_call *call, uint32_t row)
{
    return validity_get(call->out->validity, row);
}

/* ---- + - * of integers ---- */

/*
 * For operation `op` on type T: op_T_loop computes all rows and says whether any overflowed;
 * x and y are the operands, r the wrapped result.
 */
#define INTEGER_LOOP(op, T, WRAPPED, OVERFLOWS)                                                    \
    static bool op##_##T##_overflows(T x, T y)                                                     \
    {                                                                                              \
        T r = (T)(WRAPPED);                                                                        \
        (void)r;                                                                                   \
        return OVERFLOWS;                                                                          \
    }                                                                                              \
    static bool op##_##T##_loop(const struct kernel_call *call)                                    \
    {                                                                                              \
        const T *restrict a = call->args[0]->values;                                               \
        const T *restrict b = call->args[1]->values;                                               \
        T *restrict out = call->out->values;                                                       \
        size_t step_a = kernel_step(call->args[0]);                                                \
        size_t step_b = kernel_step(call->args[1]);                                                \
        bool over = false;                                                                         \
        if (kernel_is_dense(call) && step_a + step_b == 2) {                                       \
            for (uint32_t row = 0; row < call->rows; row++) {                                      \
                T x = a[row], y = b[row], r = (T)(WRAPPED);                                        \
                out[row] = r;                                                                      \
                over |= OVERFLOWS;                                                                 \
            }                                                                                      \
            return over;                                                                           \
        }                                                                                          \
        if (kernel_is_dense(call) && step_a == 1) {                                                \
            T y = b[0];                                                                            \
            for (uint32_t row = 0; row < call->rows; row++) {                                      \
                T x = a[row], r = (T)(WRAPPED);                                                    \
                out[row] = r;                                                                      \
                over |= OVERFLOWS;                                                                 \
            }                                                                                      \
            return over;                                                                           \
        }                                                                                          \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            T x = a[row * step_a], y = b[row * step_b], r = (T)(WRAPPED);                          \
            out[row] = r;                                                                          \
            over |= OVERFLOWS;                                                                     \
        }                                                                                          \
        return over;                                                                               \
    }                                                                                              \
    static enum status op##_##T##_legacy(const struct kernel_call *call, struct error *err)        \
    {                                                                                              \
        (void)err;                                                                                 \
        op##_##T##_loop(call);                                                                     \
        return OK;                                                                                 \
    }                                                                                              \
    static enum status op##_##T##_rows(const struct kernel_call *call, bool try,                   \
                                       struct error *err)                                          \
    {                                                                                              \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            if (!counts(call, row))                                                                \
                continue;                                                                          \
            T x = KERNEL_ARG(T, call, 0, row), y = KERNEL_ARG(T, call, 1, row);                    \
            if (!op##_##T##_overflows(x, y))                                                       \
                continue;                                                                          \
            if (!try)                                                                              \
                return op##_##T##_error(call, x, y, err);                                          \
            TRY(kernel_set_null(call, row, err));                                                  \
        }                                                                                          \
        return OK;                                                                                 \
    }                                                                                              \
    static enum status op##_##T##_ansi(const struct kernel_call *call, struct error *err)          \
    {                                                                                              \
        return op##_##T##_loop(call) ? op##_##T##_rows(call, false, err) : OK;                     \
    }                                                                                              \
    static enum status op##_##T##_try(const struct kernel_call *call, struct error *err)           \
    {                                                                                              \
        return op##_##T##_loop(call) ? op##_##T##_rows(call, true, err) : OK;                      \
    }

#define SMALL_ERROR(op, T, symbol, suffix, try_function)                                           \
    static enum status op##_##T##_error(const struct kernel_call *call, T x, T y,                  \
                                        struct error *err)                                         \
    {                                                                                              \
        (void)call;                                                                                \
        return small_overflow(x, y, symbol, suffix, try_function, err);                            \
    }

#define WIDE_ERROR(op, T, try_function)                                                            \
    static enum status op##_##T##_error(const struct kernel_call *call, T x, T y,                  \
                                        struct error *err)                                         \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)y;                                                                                   \
        if (!type_is_numeric(call->expr->type))                                                    \
            return interval_overflow(try_function, err);                                           \
        return arithmetic_overflow("overflow", try_function, err);                                 \
    }

#define SMALL(T, suffix)                                                                           \
    SMALL_ERROR(add, T, "+", suffix, "try_add")                                                    \
    SMALL_ERROR(subtract, T, "-", suffix, "try_subtract")                                          \
    SMALL_ERROR(multiply, T, "*", suffix, "try_multiply")                                          \
    INTEGER_LOOP(add, T, x + y, r != x + y)                                                        \
    INTEGER_LOOP(subtract, T, x - y, r != x - y)                                                   \
    INTEGER_LOOP(multiply, T, x *y, r != x * y)

SMALL(int8_t, "S")
SMALL(int16_t, "S")

WIDE_ERROR(add, int32_t, "try_add")
WIDE_ERROR(subtract, int32_t, "try_subtract")
WIDE_ERROR(multiply, int32_t, "try_multiply")
INTEGER_LOOP(add, int32_t, (uint32_t)x + (uint32_t)y, ((x ^ r) & (y ^ r)) < 0)
INTEGER_LOOP(subtract, int32_t, (uint32_t)x - (uint32_t)y, ((x ^ y) & (x ^ r)) < 0)
INTEGER_LOOP(multiply, int32_t, (int64_t)x *y, (int64_t)x *y != r)

static inline bool multiply_overflows(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_mul_overflow(x, y, &r);
}

WIDE_ERROR(add, int64_t, "try_add")
WIDE_ERROR(subtract, int64_t, "try_subtract")
WIDE_ERROR(multiply, int64_t, "try_multiply")
INTEGER_LOOP(add, int64_t, (uint64_t)x + (uint64_t)y, ((x ^ r) & (y ^ r)) < 0)
INTEGER_LOOP(subtract, int64_t, (uint64_t)x - (uint64_t)y, ((x ^ y) & (x ^ r)) < 0)
INTEGER_LOOP(multiply, int64_t, (uint64_t)x *(uint64_t)y, multiply_overflows(x, y))

/* ---- floats ---- */

/* clang-format off */
static KERNEL_BINARY(add_float, float, float, float, x + y)
static KERNEL_BINARY(subtract_float, float, float, float, x - y)
static KERNEL_BINARY(multiply_float, float, float, float, x * y)
static KERNEL_BINARY(add_double, double, double, double, x + y)
static KERNEL_BINARY(subtract_double, double, double, double, x - y)
static KERNEL_BINARY(multiply_double, double, double, double, x * y)
    /* clang-format on */

    /* ---- division and remainder: x / y where y is 0 is an error or NULL ---- */

    enum zero_error {
    BY_DIVIDE,
    BY_REMAINDER,
};

/* Handles y == 0 at a row.  *skip: the row is done. */
static enum status zero_divisor(const struct kernel_call *call, uint32_t row, bool null,
                                enum zero_error kind, struct error *err)
{
    if (null)
        return kernel_set_null(call, row, err);
    return kind == BY_DIVIDE ? arithmetic_divide_by_zero(err) : arithmetic_remainder_by_zero(err);
}

#define DIVIDING(name, T, R, kind, result)                                                         \
    static enum status name##_rows(const struct kernel_call *call, bool null, struct error *err)   \
    {                                                                                              \
        R *out = call->out->values;                                                                \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            if (!counts(call, row))                                                                \
                continue;                                                                          \
            T x = KERNEL_ARG(T, call, 0, row), y = KERNEL_ARG(T, call, 1, row);                    \
            if (y == 0) {                                                                          \
                TRY(zero_divisor(call, row, null, kind, err));                                     \
                continue;                                                                          \
            }                                                                                      \
            out[row] = (R)(result);                                                                \
        }                                                                                          \
        return OK;                                                                                 \
    }                                                                                              \
    static enum status name##_ansi(const struct kernel_call *call, struct error *err)              \
    {                                                                                              \
        return name##_rows(call, false, err);                                                      \
    }                                                                                              \
    static enum status name##_null(const struct kernel_call *call, struct error *err)              \
    {                                                                                              \
        return name##_rows(call, true, err);                                                       \
    }

static inline int64_t pmod_int64(int64_t x, int64_t y)
{
    int64_t rest = x % y;
    return rest < 0 ? (int64_t)(((int128)rest + y) % y) : rest;
}

static inline double pmod_double(double x, double y)
{
    double rest = fmod(x, y);
    return rest < 0 ? fmod(rest + y, y) : rest;
}

DIVIDING(divide_double, double, double, BY_DIVIDE, x / y)
DIVIDING(remainder_int8, int8_t, int8_t, BY_REMAINDER, x % y)
DIVIDING(remainder_int16, int16_t, int16_t, BY_REMAINDER, x % y)
DIVIDING(remainder_int32, int32_t, int32_t, BY_REMAINDER, y == -1 ? 0 : x % y)
DIVIDING(remainder_int64, int64_t, int64_t, BY_REMAINDER, y == -1 ? 0 : x % y)
DIVIDING(remainder_float, float, float, BY_REMAINDER, fmodf(x, y))
DIVIDING(remainder_double, double, double, BY_REMAINDER, fmod(x, y))
DIVIDING(pmod_int8, int8_t, int8_t, BY_REMAINDER, pmod_int64(x, y))
DIVIDING(pmod_int16, int16_t, int16_t, BY_REMAINDER, pmod_int64(x, y))
DIVIDING(pmod_int32, int32_t, int32_t, BY_REMAINDER, pmod_int64(x, y))
DIVIDING(pmod_int64, int64_t, int64_t, BY_REMAINDER, y == -1 ? 0 : pmod_int64(x, y))
DIVIDING(pmod_float, float, float, BY_REMAINDER, (float)pmod_double((double)x, (double)y))
DIVIDING(pmod_double, double, double, BY_REMAINDER, pmod_double(x, y))

/* x DIV y of bigint: the minimum by -1 overflows. */
static enum status div_rows(const struct kernel_call *call, enum arithmetic_mode mode,
                            struct error *err)
{
    int64_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!counts(call, row))
            continue;
        int64_t x = KERNEL_ARG(int64_t, call, 0, row);
        int64_t y = KERNEL_ARG(int64_t, call, 1, row);
        if (y == 0) {
            TRY(zero_divisor(call, row, mode != ARITHMETIC_ANSI, BY_DIVIDE, err));
            continue;
        }
        if (y != -1) {
            out[row] = x / y;
            continue;
        }
        if (x == INT64_MIN && mode == ARITHMETIC_ANSI)
            return arithmetic_overflow("Overflow in integral divide", "try_divide", err);
        out[row] = (int64_t)(0 - (uint64_t)x);
    }
    return OK;
}

static enum status div_int64_ansi(const struct kernel_call *call, struct error *err)
{
    return div_rows(call, ARITHMETIC_ANSI, err);
}

static enum status div_int64_null(const struct kernel_call *call, struct error *err)
{
    return div_rows(call, ARITHMETIC_LEGACY, err);
}

/* interval DIV interval: a zero divisor fails in every mode. */
static enum status div_interval(const struct kernel_call *call, struct error *err)
{
    int64_t *out = call->out->values;
    bool months = call->args[0]->type->id == TYPE_INTERVAL_YM;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!counts(call, row))
            continue;
        int64_t x = months ? KERNEL_ARG(int32_t, call, 0, row) : KERNEL_ARG(int64_t, call, 0, row);
        int64_t y = months ? KERNEL_ARG(int32_t, call, 1, row) : KERNEL_ARG(int64_t, call, 1, row);
        if (y == 0)
            return error_raise(err, STATUS_DIVIDE_BY_ZERO, "config", "\"spark.sql.ansi.enabled\"",
                               NULL);
        if (y == -1 && x == INT64_MIN)
            return arithmetic_overflow("Overflow in integral divide", "try_divide", err);
        out[row] = x / y;
    }
    return OK;
}

/* ---- decimals ---- */

typedef bool decimal_function(struct decimal a, struct decimal b, int precision, int scale,
                              int128 *out);

static struct decimal decimal_arg(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    return (struct decimal){.unscaled = KERNEL_ARG(int128, call, index, row),
                            .scale = call->args[index]->type->scale};
}

static bool decimal_pmod(struct decimal a, struct decimal b, int precision, int scale, int128 *out)
{
    int128 rest;
    if (!decimal_remainder(a, b, precision, scale, &rest))
        return false;
    if (rest < 0) {
        struct decimal sum = {.scale = scale};
        if (!decimal_add((struct decimal){rest, scale}, b, DECIMAL_PRECISION_MAX, scale,
                         &sum.unscaled))
            return false;
        if (!decimal_remainder(sum, b, precision, scale, &rest))
            return false;
    }
    *out = rest;
    return true;
}

struct decimal_operation_row {
    decimal_function *function;
    bool divides;
    enum zero_error zero;
    char symbol;
};

static enum status decimal_rows(const struct kernel_call *call, enum arithmetic_mode mode,
                                const struct decimal_operation_row *operation, struct error *err)
{
    int128 *out = call->out->values;
    const struct type *type = call->expr->type;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!counts(call, row))
            continue;
        struct decimal x = decimal_arg(call, 0, row);
        struct decimal y = decimal_arg(call, 1, row);
        if (operation->divides && y.unscaled == 0) {
            TRY(zero_divisor(call, row, mode != ARITHMETIC_ANSI, operation->zero, err));
            continue;
        }
        if (operation->function(x, y, type->precision, type->scale, &out[row]))
            continue;
        if (mode == ARITHMETIC_ANSI)
            return decimal_error_of(x, y, operation->symbol, type, err);
        TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

#define DECIMAL_KERNEL(name, function_, divides_, zero_, symbol_)                                  \
    static const struct decimal_operation_row name##_operation = {function_, divides_, zero_,      \
                                                                  symbol_};                        \
    static enum status name##_ansi(const struct kernel_call *call, struct error *err)              \
    {                                                                                              \
        return decimal_rows(call, ARITHMETIC_ANSI, &name##_operation, err);                        \
    }                                                                                              \
    static enum status name##_null(const struct kernel_call *call, struct error *err)              \
    {                                                                                              \
        return decimal_rows(call, ARITHMETIC_TRY, &name##_operation, err);                         \
    }

DECIMAL_KERNEL(decimal_add_rows, decimal_add, false, BY_DIVIDE, '+')
DECIMAL_KERNEL(decimal_subtract_rows, decimal_subtract, false, BY_DIVIDE, '-')
DECIMAL_KERNEL(decimal_multiply_rows, decimal_multiply, false, BY_DIVIDE, '*')
DECIMAL_KERNEL(decimal_divide_rows, decimal_divide, true, BY_DIVIDE, '/')
DECIMAL_KERNEL(decimal_remainder_rows, decimal_remainder, true, BY_REMAINDER, '%')
DECIMAL_KERNEL(decimal_pmod_rows, decimal_pmod, true, BY_REMAINDER, '%')

static enum status decimal_div_rows(const struct kernel_call *call, bool null, struct error *err)
{
    int64_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!counts(call, row))
            continue;
        struct decimal x = decimal_arg(call, 0, row);
        struct decimal y = decimal_arg(call, 1, row);
        if (y.unscaled == 0) {
            TRY(zero_divisor(call, row, null, BY_DIVIDE, err));
            continue;
        }
        int128 quotient;
        if (decimal_quotient(x, y, &quotient)) {
            out[row] = (int64_t)quotient;
            if (out[row] == quotient || null)
                continue;
        } else if (null) {
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        return arithmetic_overflow("Overflow in integral divide", "try_divide", err);
    }
    return OK;
}

static enum status div_decimal_ansi(const struct kernel_call *call, struct error *err)
{
    return decimal_div_rows(call, false, err);
}

static enum status div_decimal_null(const struct kernel_call *call, struct error *err)
{
    return decimal_div_rows(call, true, err);
}

/* ---- the legacy interval ---- */

/* The three parts each by itself; false if one overflows.  Fills *out in any case. */
static bool calendar_add(const struct calendar_interval *x, const struct calendar_interval *y,
                         struct calendar_interval *out)
{
    bool over = __builtin_add_overflow(x->months, y->months, &out->months);
    over |= __builtin_add_overflow(x->days, y->days, &out->days);
    over |= __builtin_add_overflow(x->micros, y->micros, &out->micros);
    return !over;
}

static bool calendar_subtract(const struct calendar_interval *x, const struct calendar_interval *y,
                              struct calendar_interval *out)
{
    bool over = __builtin_sub_overflow(x->months, y->months, &out->months);
    over |= __builtin_sub_overflow(x->days, y->days, &out->days);
    over |= __builtin_sub_overflow(x->micros, y->micros, &out->micros);
    return !over;
}

static enum status calendar_rows(const struct kernel_call *call, int sign, const char *try_function,
                                 struct error *err)
{
    struct calendar_interval *out = call->out->values;
    bool unary = call->arg_count == 1;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (!counts(call, row))
            continue;
        struct calendar_interval x = {0};
        if (!unary)
            x = KERNEL_ARG(struct calendar_interval, call, 0, row);
        struct calendar_interval y = KERNEL_ARG(struct calendar_interval, call, unary ? 0 : 1, row);
        if (sign > 0 ? calendar_add(&x, &y, &out[row]) : calendar_subtract(&x, &y, &out[row]))
            continue;
        if (try_function != NULL)
            return interval_overflow(try_function[0] == '\0' ? NULL : try_function, err);
        TRY(kernel_set_null(call, row, err));
    }
    return OK;
}

static enum status add_calendar(const struct kernel_call *call, struct error *err)
{
    return calendar_rows(call, 1, "try_add", err);
}

static enum status subtract_calendar(const struct kernel_call *call, struct error *err)
{
    return calendar_rows(call, -1, "try_subtract", err);
}

static enum status add_calendar_try(const struct kernel_call *call, struct error *err)
{
    return calendar_rows(call, 1, NULL, err);
}

static enum status subtract_calendar_try(const struct kernel_call *call, struct error *err)
{
    return calendar_rows(call, -1, NULL, err);
}

static enum status negate_calendar(const struct kernel_call *call, struct error *err)
{
    return calendar_rows(call, -1, "", err);
}

/* ---- bits ---- */

/* clang-format off */
#define BITS(T) \
    static KERNEL_BINARY(bit_and_##T, T, T, T, x & y) \
    static KERNEL_BINARY(bit_or_##T, T, T, T, x | y) \
    static KERNEL_BINARY(bit_xor_##T, T, T, T, x ^ y) \
    static KERNEL_UNARY(bit_not_##T, T, T, ~x)
/* clang-format on */

BITS(int8_t)
BITS(int16_t)
BITS(int32_t)
BITS(int64_t)

/* ---- unary ---- */

static enum status positive(const struct kernel_call *call, struct error *err)
{
    (void)err;
    uint64_t *validity = call->out->validity;
    *call->out = *call->args[0];
    if (call->args[0]->constant)
        call->out->length = call->rows;
    else
        call->out->validity = validity;
    return OK;
}

/* clang-format off */
static KERNEL_UNARY(negate_float, float, float, -x)
static KERNEL_UNARY(negate_double, double, double, -x)
static KERNEL_UNARY(abs_float, float, float, fabsf(x))
static KERNEL_UNARY(abs_double, double, double, fabs(x))
static KERNEL_UNARY(negate_decimal, int128, int128, -x)
static KERNEL_UNARY(abs_decimal, int128, int128, x < 0 ? -x : x)
/* clang-format on */

#define NEGATING(prefix, T, U, MINIMUM, result)                                                    \
    static enum status prefix##_rows(const struct kernel_call *call, bool check,                   \
                                     struct error *err)                                            \
    {                                                                                              \
        T *out = call->out->values;                                                                \
        for (uint32_t i = 0; i < call->selected; i++) {                                            \
            uint32_t row = kernel_row(call, i);                                                    \
            T x = KERNEL_ARG(T, call, 0, row);                                                     \
            if (x == MINIMUM && check && counts(call, row)) {                                      \
                bool abs = strcmp(call->expr->call.function->name, "abs") == 0;                    \
                if (!abs && !type_is_numeric(call->expr->type))                                    \
                    return interval_overflow(NULL, err);                                           \
                return arithmetic_overflow("overflow", NULL, err);                                 \
            }                                                                                      \
            out[row] = (T)(result);                                                                \
        }                                                                                          \
        return OK;                                                                                 \
    }                                                                                              \
    static enum status prefix##_ansi(const struct kernel_call *call, struct error *err)            \
    {                                                                                              \
        return prefix##_rows(call, true, err);                                                     \
    }                                                                                              \
    static enum status prefix##_legacy(const struct kernel_call *call, struct error *err)          \
    {                                                                                              \
        return prefix##_rows(call, !type_is_numeric(call->expr->type), err);                       \
    }

    NEGATING(negate_int8, int8_t, uint8_t, INT8_MIN, (uint8_t)0 - (uint8_t)x)
        NEGATING(negate_int16, int16_t, uint16_t, INT16_MIN, (uint16_t)0 - (uint16_t)x)
            NEGATING(negate_int32, int32_t, uint32_t, INT32_MIN, (uint32_t)0 - (uint32_t)x)
                NEGATING(negate_int64, int64_t, uint64_t, INT64_MIN, (uint64_t)0 - (uint64_t)x)
                    NEGATING(abs_int8, int8_t, uint8_t, INT8_MIN,
                             x < 0 ? (uint8_t)0 - (uint8_t)x : x)
                        NEGATING(abs_int16, int16_t, uint16_t, INT16_MIN,
                                 x < 0 ? (uint16_t)0 - (uint16_t)x : x)
                            NEGATING(abs_int32, int32_t, uint32_t, INT32_MIN,
                                     x < 0 ? (uint32_t)0 - (uint32_t)x : (uint32_t)x)
                                NEGATING(abs_int64, int64_t, uint64_t, INT64_MIN,
                                         x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x)

    /* ---- the table ---- */

    struct arithmetic_entry {
    enum arithmetic_operation operation;
    enum type_id id;
    function_kernel_fn *ansi, *legacy, *try;
};

#define OF_INTEGERS(operation, op)                                                                 \
    {operation, TYPE_BYTE, op##_int8_t_ansi, op##_int8_t_legacy, op##_int8_t_try},                 \
        {operation, TYPE_SHORT, op##_int16_t_ansi, op##_int16_t_legacy, op##_int16_t_try},         \
        {operation, TYPE_INT, op##_int32_t_ansi, op##_int32_t_legacy, op##_int32_t_try},           \
    {                                                                                              \
        operation, TYPE_LONG, op##_int64_t_ansi, op##_int64_t_legacy, op##_int64_t_try             \
    }
#define OF_FLOATS(operation, op)                                                                   \
    {operation, TYPE_FLOAT, op##_float, op##_float, op##_float},                                   \
    {                                                                                              \
        operation, TYPE_DOUBLE, op##_double, op##_double, op##_double                              \
    }
#define OF_INTERVALS(operation, op)                                                                \
    {operation, TYPE_INTERVAL_YM, op##_int32_t_ansi, op##_int32_t_ansi, op##_int32_t_try},         \
        {operation, TYPE_INTERVAL_DT, op##_int64_t_ansi, op##_int64_t_ansi, op##_int64_t_try},     \
    {                                                                                              \
        operation, TYPE_INTERVAL, op##_calendar, op##_calendar, op##_calendar_try                  \
    }
#define DIVIDED(operation, id, name)                                                               \
    {                                                                                              \
        operation, id, name##_ansi, name##_null, name##_null                                       \
    }
#define REMAINDERS(operation, op)                                                                  \
    DIVIDED(operation, TYPE_BYTE, op##_int8), DIVIDED(operation, TYPE_SHORT, op##_int16),          \
        DIVIDED(operation, TYPE_INT, op##_int32), DIVIDED(operation, TYPE_LONG, op##_int64),       \
        DIVIDED(operation, TYPE_FLOAT, op##_float), DIVIDED(operation, TYPE_DOUBLE, op##_double),  \
        DIVIDED(operation, TYPE_DECIMAL, decimal_##op##_rows)
#define SAME(operation, id, name)                                                                  \
    {                                                                                              \
        operation, id, name, name, name                                                            \
    }
#define OF_BITS(operation, op)                                                                     \
    SAME(operation, TYPE_BYTE, op##_int8_t), SAME(operation, TYPE_SHORT, op##_int16_t),            \
        SAME(operation, TYPE_INT, op##_int32_t), SAME(operation, TYPE_LONG, op##_int64_t)
#define SIGNED(operation, id, name)                                                                \
    {                                                                                              \
        operation, id, name##_ansi, name##_legacy, name##_legacy                                   \
    }
#define SIGNS(operation, op)                                                                       \
    SIGNED(operation, TYPE_BYTE, op##_int8), SIGNED(operation, TYPE_SHORT, op##_int16),            \
        SIGNED(operation, TYPE_INT, op##_int32), SIGNED(operation, TYPE_LONG, op##_int64),         \
        SIGNED(operation, TYPE_INTERVAL_YM, op##_int32),                                           \
        SIGNED(operation, TYPE_INTERVAL_DT, op##_int64), SAME(operation, TYPE_FLOAT, op##_float),  \
        SAME(operation, TYPE_DOUBLE, op##_double), SAME(operation, TYPE_DECIMAL, op##_decimal)

static const struct arithmetic_entry entries[] = {
    OF_INTEGERS(ARITHMETIC_ADD, add),
    OF_FLOATS(ARITHMETIC_ADD, add),
    OF_INTERVALS(ARITHMETIC_ADD, add),
    DIVIDED(ARITHMETIC_ADD, TYPE_DECIMAL, decimal_add_rows),
    OF_INTEGERS(ARITHMETIC_SUBTRACT, subtract),
    OF_FLOATS(ARITHMETIC_SUBTRACT, subtract),
    OF_INTERVALS(ARITHMETIC_SUBTRACT, subtract),
    DIVIDED(ARITHMETIC_SUBTRACT, TYPE_DECIMAL, decimal_subtract_rows),
    OF_INTEGERS(ARITHMETIC_MULTIPLY, multiply),
    OF_FLOATS(ARITHMETIC_MULTIPLY, multiply),
    DIVIDED(ARITHMETIC_MULTIPLY, TYPE_DECIMAL, decimal_multiply_rows),
    DIVIDED(ARITHMETIC_DIVIDE, TYPE_DOUBLE, divide_double),
    DIVIDED(ARITHMETIC_DIVIDE, TYPE_DECIMAL, decimal_divide_rows),
    REMAINDERS(ARITHMETIC_REMAINDER, remainder),
    REMAINDERS(ARITHMETIC_PMOD, pmod),
    DIVIDED(ARITHMETIC_DIV, TYPE_LONG, div_int64),
    DIVIDED(ARITHMETIC_DIV, TYPE_DECIMAL, div_decimal),
    SAME(ARITHMETIC_DIV, TYPE_INTERVAL_DT, div_interval),
    SAME(ARITHMETIC_DIV, TYPE_INTERVAL_YM, div_interval),
    OF_BITS(ARITHMETIC_BIT_AND, bit_and),
    OF_BITS(ARITHMETIC_BIT_OR, bit_or),
    OF_BITS(ARITHMETIC_BIT_XOR, bit_xor),
    OF_BITS(ARITHMETIC_BIT_NOT, bit_not),
    SIGNS(ARITHMETIC_NEGATE, negate),
    SAME(ARITHMETIC_NEGATE, TYPE_INTERVAL, negate_calendar),
    SIGNS(ARITHMETIC_ABS, abs),
};

function_kernel_fn *arithmetic_kernel(enum arithmetic_operation operation, enum type_id id,
                                      enum arithmetic_mode mode)
{
    if (operation == ARITHMETIC_POSITIVE)
        return positive;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        const struct arithmetic_entry *entry = &entries[i];
        if (entry->operation != operation || entry->id != id)
            continue;
        return mode == ARITHMETIC_ANSI     ? entry->ansi
               : mode == ARITHMETIC_LEGACY ? entry->legacy
                                           : entry->try;
    }
    return NULL;
}
