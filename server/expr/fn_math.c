/* Functions of numbers: double in, double out, and the small rest. */
#include "expr/fn_math.h"
#include "base/check.h"
#include "expr/fn_string.h"
#include "expr/fn_support.h"
#include "expr/java_math.h"

#include <math.h>

#define PI        3.141592653589793
#define EULER     2.718281828459045
#define TO_DEGREE 57.29577951308232
#define TO_RADIAN 0.017453292519943295

static double acosh_java(double x)
{
    const double ln2 = 0.6931471805599453;
    if (x < 1.0)
        return (double)NAN;
    if (x >= 268435456.0)
        return java_log(x) + ln2;
    if (x > 2.0)
        return java_log(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0)));
    double t = x - 1.0;
    return log1p(t + sqrt(2.0 * t + t * t));
}

static double atanh_java(double x)
{
    return 0.5 * (log1p(x) - log1p(-x));
}

KERNEL_UNARY(kernel_acos, double, double, acos(x))
KERNEL_UNARY(kernel_acosh, double, double, acosh_java(x))
KERNEL_UNARY(kernel_asin, double, double, asin(x))
KERNEL_UNARY(kernel_asinh, double, double, asinh(x))
KERNEL_UNARY(kernel_atan, double, double, atan(x))
KERNEL_BINARY(kernel_atan2, double, double, double, atan2(x + 0.0, y + 0.0))
KERNEL_UNARY(kernel_atanh, double, double, atanh_java(x))
KERNEL_UNARY(kernel_cbrt, double, double, java_cbrt(x))
KERNEL_UNARY(kernel_cos, double, double, cos(x))
KERNEL_UNARY(kernel_cosh, double, double, cosh(x))
KERNEL_UNARY(kernel_cot, double, double, 1.0 / tan(x))
KERNEL_UNARY(kernel_csc, double, double, 1.0 / sin(x))
KERNEL_UNARY(kernel_degrees, double, double, x *TO_DEGREE)
KERNEL_UNARY(kernel_exp, double, double, java_exp(x))
KERNEL_UNARY(kernel_expm1, double, double, expm1(x))
KERNEL_BINARY(kernel_hypot, double, double, double, hypot(x, y))
KERNEL_BINARY(kernel_pow, double, double, double, java_pow(x, y))
KERNEL_UNARY(kernel_radians, double, double, x *TO_RADIAN)
KERNEL_UNARY(kernel_rint, double, double, rint(x))
KERNEL_UNARY(kernel_sec, double, double, 1.0 / cos(x))
KERNEL_UNARY(kernel_sin, double, double, sin(x))
KERNEL_UNARY(kernel_sinh, double, double, sinh(x))
KERNEL_UNARY(kernel_sqrt, double, double, sqrt(x))
KERNEL_UNARY(kernel_tan, double, double, tan(x))
KERNEL_UNARY(kernel_tanh, double, double, tanh(x))

static enum status fill_double(const struct kernel_call *call, double value)
{
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(double, call)[kernel_row(call, i)] = value;
    return OK;
}

KERNEL(kernel_e)
{
    (void)err;
    return fill_double(call, EULER);
}

KERNEL(kernel_pi)
{
    (void)err;
    return fill_double(call, PI);
}

/* ---- logarithms: NULL at and below `limit` ---- */

static enum status run_log(const struct kernel_call *call, double limit, double (*log_of)(double),
                           struct error *err)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        double x = KERNEL_ARG(double, call, 0, row);
        if (x <= limit)
            TRY(kernel_set_null(call, row, err));
        else
            KERNEL_OUT(double, call)[row] = log_of(x);
    }
    return OK;
}

static double log2_java(double x)
{
    return java_log(x) / java_log(2.0);
}

KERNEL(kernel_ln)
{
    return run_log(call, 0.0, java_log, err);
}

KERNEL(kernel_log10)
{
    return run_log(call, 0.0, java_log10, err);
}

KERNEL(kernel_log1p)
{
    return run_log(call, -1.0, log1p, err);
}

KERNEL(kernel_log2)
{
    return run_log(call, 0.0, log2_java, err);
}

KERNEL(kernel_log_base)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        double base = KERNEL_ARG(double, call, 0, row);
        double x = KERNEL_ARG(double, call, 1, row);
        if (base <= 0.0 || x <= 0.0)
            TRY(kernel_set_null(call, row, err));
        else
            KERNEL_OUT(double, call)[row] = java_log(x) / java_log(base);
    }
    return OK;
}

/* log(x) is LOG(E(), x). */
RESOLVER(resolve_log)
{
    *out = call;
    if (call->arg_count == 1) {
        struct function_call e = {
            .name = "e", .position = call->position, .position_end = call->position_end};
        struct expr *base;
        TRY(function_resolve(ctx, &e, &base, err));
        function_insert_arg(ctx, call, 0, base);
    }
    return function_apply(ctx, call, "double,double->double", err);
}

/* ---- sign, NaN ---- */

KERNEL(kernel_sign)
{
    (void)err;
    enum type_id id = call->args[0]->type->id;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        double x;
        if (id == TYPE_INTERVAL_DT)
            x = (double)kernel_long(call, 0, row);
        else if (id == TYPE_INTERVAL_YM)
            x = (double)kernel_int(call, 0, row);
        else
            x = KERNEL_ARG(double, call, 0, row);
        KERNEL_OUT(double, call)[row] = x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    }
    return OK;
}

RESOLVER(resolve_sign)
{
    *out = call;
    enum type_id id = call->args[0]->type->id;
    return function_apply(ctx, call,
                          id == TYPE_INTERVAL_DT   ? "day_time->double"
                          : id == TYPE_INTERVAL_YM ? "year_month->double"
                                                   : "double->double",
                          err);
}

static bool is_nan_at(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    if (call->args[index]->type->id == TYPE_FLOAT)
        return isnan(KERNEL_ARG(float, call, index, row));
    return isnan(KERNEL_ARG(double, call, index, row));
}

/* isnan(NULL) is false. */
KERNEL(kernel_isnan)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(uint8_t, call)
        [row] = !kernel_arg_is_null(call, 0, row) && is_nan_at(call, 0, row);
    }
    return OK;
}

RESOLVER(resolve_isnan)
{
    *out = call;
    return function_apply(
        ctx, call, call->args[0]->type->id == TYPE_FLOAT ? "float->boolean" : "double->boolean",
        err);
}

KERNEL(kernel_nanvl)
{
    bool narrow = call->out->type->id == TYPE_FLOAT;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t index = 0;
        if (!kernel_arg_is_null(call, 0, row) && is_nan_at(call, 0, row))
            index = 1;
        if (kernel_arg_is_null(call, index, row))
            TRY(kernel_set_null(call, row, err));
        else if (narrow)
            KERNEL_OUT(float, call)[row] = KERNEL_ARG(float, call, index, row);
        else
            KERNEL_OUT(double, call)[row] = KERNEL_ARG(double, call, index, row);
    }
    return OK;
}

RESOLVER(resolve_nanvl)
{
    *out = call;
    bool narrow = call->args[0]->type->id == TYPE_FLOAT && call->args[1]->type->id == TYPE_FLOAT;
    return function_apply(ctx, call, narrow ? "float,float->float" : "double,double->double", err);
}

/* ---- bases ---- */

static size_t print_base(uint64_t value, uint32_t base, uint8_t out[64])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t at = 64;
    do {
        out[--at] = (uint8_t)digits[value % base];
        value /= base;
    } while (value != 0);
    return at;
}

static enum status cell_kernel_bin(const struct kernel_call *call, uint32_t row, struct error *err)
{
    uint8_t text[64];
    size_t at = print_base((uint64_t)kernel_long(call, 0, row), 2, text);
    return kernel_set_bytes(call, row, bytes_of(text + at, sizeof(text) - at), err);
}

KERNEL_EACH(kernel_bin)

static int digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* The digits at the start of the text as an unsigned number.  False: overflow. */
static bool read_base(struct bytes text, uint64_t base, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint64_t digit = (uint64_t)digit_value(text.data[i]);
        if (digit >= base)
            break;
        fits = fits && !__builtin_mul_overflow(value, base, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    *out = fits ? value : UINT64_MAX;
    return fits;
}

static struct bytes trim_spaces(struct bytes text)
{
    while (text.size_bytes > 0 && *text.data == ' ')
        text = text_skip(text, 1);
    while (text.size_bytes > 0 && text.data[text.size_bytes - 1] == ' ')
        text.size_bytes--;
    return text;
}

static enum status cell_kernel_conv(const struct kernel_call *call, uint32_t row, struct error *err)
{
    struct bytes text = trim_spaces(kernel_text(call, 0, row));
    int32_t from = kernel_int(call, 1, row);
    int32_t to = kernel_int(call, 2, row);
    int64_t size = to < 0 ? -(int64_t)to : to;
    if (from < 2 || from > 36 || size < 2 || size > 36 || text.size_bytes == 0)
        return kernel_set_null(call, row, err);
    bool negative = *text.data == '-';
    uint64_t value;
    if (!read_base(text_skip(text, negative), (uint64_t)from, &value) && kernel_is_ansi(call))
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message",
                           "Overflow in function conv()", "alternative", "", "config",
                           "\"spark.sql.ansi.enabled\"", NULL);
    if (negative && to > 0)
        value = (int64_t)value < 0 ? UINT64_MAX : 0 - value;
    if (to < 0 && (int64_t)value < 0) {
        value = 0 - value;
        negative = true;
    }
    uint8_t digits[65];
    size_t at = print_base(value, (uint32_t)size, digits + 1) + 1;
    if (negative && to < 0)
        digits[--at] = '-';
    return kernel_set_bytes(call, row, bytes_of(digits + at, sizeof(digits) - at), err);
}

KERNEL_EACH(kernel_conv)

RESOLVER(resolve_hex)
{
    *out = call;
    enum type_id id = call->args[0]->type->id;
    bool number = type_is_numeric(call->args[0]->type);
    call->call.kernel = number ? kernel_hex_bigint : kernel_hex_bytes;
    return function_apply(ctx, call,
                          number              ? "bigint->string"
                          : id == TYPE_BINARY ? "binary->string"
                                              : "string->string",
                          err);
}

/* ---- factorial, width_bucket, bits ---- */

KERNEL(kernel_factorial)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t n = kernel_int(call, 0, row);
        int64_t product = 1;
        if (n < 0 || n > 20)
            TRY(kernel_set_null(call, row, err));
        for (int32_t k = 2; k <= n && n <= 20; k++)
            product *= k;
        KERNEL_OUT(int64_t, call)[row] = product;
    }
    return OK;
}

/* The argument as a double, whatever comparable type it has. */
static double bucket_value(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    switch ((int)call->args[index]->type->id) {
    case TYPE_INTERVAL_DT:
        return (double)kernel_long(call, index, row);
    case TYPE_INTERVAL_YM:
        return (double)kernel_int(call, index, row);
    default:
        return KERNEL_ARG(double, call, index, row);
    }
}

KERNEL(kernel_width_bucket)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        double value = bucket_value(call, 0, row);
        double min = bucket_value(call, 1, row);
        double max = bucket_value(call, 2, row);
        int64_t count = kernel_long(call, 3, row);
        if (count <= 0 || count == INT64_MAX || isnan(value) || !isfinite(min) || !isfinite(max) ||
            min == max) {
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        double low = min < max ? min : max;
        double high = min < max ? max : min;
        int64_t bucket;
        if (min < max)
            bucket = value < low     ? 0
                     : value >= high ? count + 1
                                     : (int64_t)((double)count * (value - low) / (high - low)) + 1;
        else
            bucket = value > high   ? 0
                     : value <= low ? count + 1
                                    : (int64_t)((double)count * (high - value) / (high - low)) + 1;
        KERNEL_OUT(int64_t, call)[row] = bucket;
    }
    return OK;
}

RESOLVER(resolve_width_bucket)
{
    *out = call;
    enum type_id id = call->args[0]->type->id;
    return function_apply(ctx, call,
                          id == TYPE_INTERVAL_DT ? "day_time,day_time,day_time,bigint->bigint"
                          : id == TYPE_INTERVAL_YM
                              ? "year_month,year_month,year_month,bigint->bigint"
                              : "double,double,double,bigint->bigint",
                          err);
}

static int64_t integral_at(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    switch ((int)call->args[index]->type->id) {
    case TYPE_BOOLEAN:
        return KERNEL_ARG(uint8_t, call, index, row);
    case TYPE_BYTE:
        return KERNEL_ARG(int8_t, call, index, row);
    case TYPE_SHORT:
        return KERNEL_ARG(int16_t, call, index, row);
    case TYPE_INT:
        return kernel_int(call, index, row);
    default:
        return kernel_long(call, index, row);
    }
}

/* Bits of the value widened to 64: bit_count(-1Y) is 64. */
KERNEL(kernel_bit_count)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)
        [row] = __builtin_popcountll((unsigned long long)integral_at(call, 0, row));
    }
    return OK;
}

RESOLVER(resolve_bit_count)
{
    *out = call;
    return function_apply(
        ctx, call, call->args[0]->type->id == TYPE_BOOLEAN ? "boolean->int" : "integral->int", err);
}

KERNEL(kernel_bit_get)
{
    int32_t width = (int32_t)type_value_bytes(call->args[0]->type) * 8;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t position = kernel_int(call, 1, row);
        if (position < 0 || position >= width)
            return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__BIT_POSITION_RANGE,
                               "functionName", kernel_error_function(call), "parameter", "`pos`",
                               "upper", kernel_error_number(call, width), "invalidValue",
                               kernel_error_number(call, position), NULL);
        KERNEL_OUT(int8_t, call)[row] = (int8_t)(integral_at(call, 0, row) >> position & 1);
    }
    return OK;
}

/* ---- typeof ---- */

KERNEL(kernel_typeof)
{
    struct bytes name = bytes_of_text(call->expr->call.bound);
    for (uint32_t i = 0; i < call->selected; i++)
        TRY(kernel_set_bytes(call, kernel_row(call, i), name, err));
    return OK;
}

RESOLVER(resolve_typeof)
{
    (void)err;
    *out = call;
    call->call.bound = type_name(ctx->arena, call->args[0]->type);
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}
