/* interval * number, interval / number. */
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "expr/arithmetic.h"
#include "expr/kernel_time.h"

#include <math.h>

struct times {
    bool divide;
    bool try;
    bool ansi;
};

static enum status fails(const struct kernel_call *call, uint32_t row, enum status status,
                         struct error *err)
{
    const struct times *times = call->expr->call.bound;
    if (times->try)
        return kernel_set_null(call, row, err);
    if (status == STATUS_INTERVAL_DIVIDED_BY_ZERO && call->out->type->id == TYPE_INTERVAL &&
        !times->ansi)
        return kernel_set_null(call, row, err);
    if (status == STATUS_ARITHMETIC_OVERFLOW)
        return error_raise(err, status, "message", "overflow", "alternative", "", "config",
                           "\"spark.sql.ansi.enabled\"", NULL);
    if (status == STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITH_SUGGESTION)
        return error_raise(err, status, "functionName",
                           times->divide ? "`try_divide`" : "`try_multiply`", NULL);
    return error_raise(err, status, NULL);
}

static int64_t integer_arg(const struct kernel_call *call, uint32_t index, uint32_t row)
{
    switch ((int)call->args[index]->type->id) {
    case TYPE_BYTE:
        return KERNEL_ARG(int8_t, call, index, row);
    case TYPE_SHORT:
        return KERNEL_ARG(int16_t, call, index, row);
    case TYPE_INT:
    case TYPE_INTERVAL_YM:
        return KERNEL_ARG(int32_t, call, index, row);
    default:
        return KERNEL_ARG(int64_t, call, index, row);
    }
}

/* value op number as an integer, half up; *zero: division by zero.  False: overflow. */
static bool by_decimal(const struct kernel_call *call, int64_t value, uint32_t row, bool divide,
                       bool *zero, int128 *out)
{
    const struct type *type = call->args[1]->type;
    struct decimal number = {.scale = 0};
    if (type->id == TYPE_DECIMAL)
        number = (struct decimal){KERNEL_ARG(int128, call, 1, row), type->scale};
    else
        number.unscaled = integer_arg(call, 1, row);
    *zero = divide && number.unscaled == 0;
    if (*zero)
        return false;
    struct decimal interval = {value, 0};
    return divide ? decimal_divide(interval, number, 38, 0, out)
                  : decimal_multiply(interval, number, 38, 0, out);
}

static bool by_double(const struct kernel_call *call, int64_t value, uint32_t row, bool divide,
                      bool *zero, int128 *out)
{
    double number = call->args[1]->type->id == TYPE_FLOAT ? (double)KERNEL_ARG(float, call, 1, row)
                                                          : KERNEL_ARG(double, call, 1, row);
    *zero = divide && number == 0;
    if (*zero)
        return false;
    double result = divide ? (double)value / number : (double)value * number;
    if (isnan(result) || fabs(result) > 1e19)
        return false;
    double rounded = round(fabs(result));
    *out = (int128)(result < 0 ? -rounded : rounded);
    return true;
}

static bool store(const struct kernel_call *call, uint32_t row, int128 value)
{
    if (call->out->type->id == TYPE_INTERVAL_YM) {
        if (value != (int32_t)value)
            return false;
        KERNEL_OUT(int32_t, call)[row] = (int32_t)value;
        return true;
    }
    if (value != (int64_t)value)
        return false;
    KERNEL_OUT(int64_t, call)[row] = (int64_t)value;
    return true;
}

static enum status ansi_interval(const struct kernel_call *call, struct error *err)
{
    const struct times *times = call->expr->call.bound;
    bool floating = call->args[1]->type->id == TYPE_FLOAT || call->args[1]->type->id == TYPE_DOUBLE;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t value = integer_arg(call, 0, row);
        bool zero;
        int128 result;
        bool fits = floating ? by_double(call, value, row, times->divide, &zero, &result)
                             : by_decimal(call, value, row, times->divide, &zero, &result);
        if (zero)
            TRY(fails(call, row, STATUS_INTERVAL_DIVIDED_BY_ZERO, err));
        else if (!fits || !store(call, row, result))
            TRY(fails(call, row, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITH_SUGGESTION, err));
    }
    return OK;
}

/* Towards zero; what is no number is 0. */
static double truncated(double value, double most)
{
    if (isnan(value))
        return 0;
    return value > most ? most : value < -most - 1 ? -most - 1 : trunc(value);
}

/* As Java's Math.round: half up. */
static int64_t rounded(double value)
{
    if (isnan(value))
        return 0;
    double below = floor(value);
    value = value - below >= 0.5 ? below + 1 : below; /* value + 0.5 is not always exact */
    return value >= 9223372036854775808.0    ? INT64_MAX
           : value <= -9223372036854775808.0 ? INT64_MIN
                                             : (int64_t)value;
}

/* The legacy interval by a double: what is left of a day goes to the microseconds, what is left of
 * a month is lost. */
static enum status calendar(const struct kernel_call *call, struct error *err)
{
    const struct times *times = call->expr->call.bound;
    struct calendar_interval *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct calendar_interval x = KERNEL_ARG(struct calendar_interval, call, 0, row);
        double number = KERNEL_ARG(double, call, 1, row);
        if (times->divide && number == 0) {
            TRY(fails(call, row, STATUS_INTERVAL_DIVIDED_BY_ZERO, err));
            continue;
        }
        double months = times->divide ? x.months / number : x.months * number;
        double days = times->divide ? x.days / number : x.days * number;
        double micros = times->divide ? (double)x.micros / number : (double)x.micros * number;
        if (times->ansi && (fabs(months) >= 2147483648.0 || fabs(days) >= 2147483648.0)) {
            TRY(fails(call, row, STATUS_ARITHMETIC_OVERFLOW, err));
            continue;
        }
        out[row].months = (int32_t)truncated(months, 2147483647.0);
        out[row].days = (int32_t)truncated(days, 2147483647.0);
        micros += (double)CIVIL_DAY_US * (days - out[row].days);
        out[row].micros = rounded(micros);
    }
    return OK;
}

RESOLVER(resolve_interval_times)
{
    *out = call;
    struct times *times = arena_new_object(ctx->arena, sizeof *times);
    const char *name = call->call.function->name;
    times->try = strncmp(name, "try", 3) == 0;
    times->divide = strchr(name, '/') != NULL;
    times->ansi = ctx->ansi;
    call->call.bound = times;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_INTERVAL) {
        TRY(function_apply(ctx, call, "interval,double->interval", err));
        call->call.kernel = calendar;
        if (!times->try) {
            call->call.function =
                function_find(times->divide ? "calendar / number" : "calendar * number");
            call->call.name = times->divide ? "divide_interval" : "multiply_interval";
        }
    } else {
        TRY(function_apply(ctx, call, "day_time|year_month,numeric->1", err));
        call->type = type_simple(type->id);
        call->call.kernel = ansi_interval;
    }
    call->nullable |= times->try || (type->id == TYPE_INTERVAL && times->divide);
    return OK;
}
