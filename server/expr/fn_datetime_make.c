/* make_date, make_timestamp and the makers of intervals. */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/datetime_pattern.h"
#include "columnar/decimal.h"
#include "expr/fn_datetime.h"
#include "expr/fn_support.h"

/* What make_timestamp needs to know besides its arguments. */
struct make_options {
    bool nulls; /* out of range is NULL */
    bool ntz;
    bool has_zone; /* the last argument */
};

static enum status out_of_bounds(const struct kernel_call *call, uint32_t row, bool nulls,
                                 struct buffer *message, struct error *err)
{
    enum status status =
        nulls ? kernel_set_null(call, row, err)
              : error_raise(err, STATUS_DATETIME_FIELD_OUT_OF_BOUNDS__WITHOUT_SUGGESTION,
                            "rangeMessage", buffer_text(message), NULL);
    buffer_fini(message);
    return status;
}

static enum status cell_kernel_make_date(const struct kernel_call *call, uint32_t row,
                                         struct error *err)
{
    int64_t year = kernel_int(call, 0, row);
    int64_t month = kernel_int(call, 1, row);
    int64_t day = kernel_int(call, 2, row);
    struct buffer message = {0};
    datetime_explain_date(&message, year, month, day);
    if (message.size_bytes > 0)
        return out_of_bounds(call, row, !kernel_is_ansi(call), &message, err);
    KERNEL_OUT(int32_t, call)[row] = (int32_t)civil_days(year, (int)month, (int)day);
    return OK;
}

KERNEL_EACH(kernel_make_date)

static enum status fraction_error(const struct kernel_call *call, uint32_t row, bool nulls,
                                  int128 seconds, struct error *err)
{
    if (nulls)
        return kernel_set_null(call, row, err);
    char text[NUMBER_DOUBLE_TEXT_MAX + 1];
    text[number_print_double(text, decimal_to_double((struct decimal){seconds, 6}))] = '\0';
    return error_raise(err, STATUS_INVALID_FRACTION_OF_SECOND, "secAndMicros", text, NULL);
}

static enum status cell_kernel_make_timestamp(const struct kernel_call *call, uint32_t row,
                                              struct error *err)
{
    const struct make_options *options = call->expr->call.bound;
    const struct zone *zone = options->ntz ? timezone_utc() : call->ctx->zone;
    if (options->has_zone)
        TRY(timezone_find(kernel_text(call, 6, row), &zone, err));
    int64_t parts[5];
    for (uint32_t i = 0; i < 5; i++)
        parts[i] = kernel_int(call, i, row);
    int128 seconds = KERNEL_ARG(int128, call, 5, row);
    int64_t second = civil_floor_div((int64_t)seconds, CIVIL_SECOND_US);
    int64_t micro = civil_floor_mod((int64_t)seconds, CIVIL_SECOND_US);
    if (second == 60 && micro != 0)
        return fraction_error(call, row, options->nulls, seconds, err);
    struct buffer message = {0};
    datetime_explain_date(&message, parts[0], parts[1], parts[2]);
    if (message.size_bytes == 0)
        datetime_explain_time(&message, parts[3], parts[4], second == 60 ? 59 : second);
    if (message.size_bytes > 0)
        return out_of_bounds(call, row, options->nulls, &message, err);
    int64_t days = civil_days(parts[0], (int)parts[1], (int)parts[2]);
    int64_t rest = (parts[3] * 3600 + parts[4] * 60 + second) * CIVIL_SECOND_US + micro;
    int64_t local;
    if (__builtin_mul_overflow(days, CIVIL_DAY_US, &local) ||
        __builtin_add_overflow(local, rest, &local))
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "long overflow",
                           "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
    KERNEL_OUT(int64_t, call)[row] = timezone_to_utc(zone, local);
    return OK;
}

KERNEL_EACH(kernel_make_timestamp)

/* The argument as DECIMAL(precision, 6). */
static struct expr *as_seconds(struct resolve_context *ctx, struct expr *expr, int precision)
{
    return coercion_cast(ctx, expr, type_decimal(ctx->arena, precision, 6));
}

RESOLVER(resolve_make_timestamp)
{
    *out = call;
    const char *name = call->call.function->name;
    struct make_options *options = arena_new_object(ctx->arena, sizeof(*options));
    options->nulls = !ctx->ansi || strncmp(name, "try_", 4) == 0;
    options->has_zone = call->arg_count > 6;
    options->ntz = strstr(name, "ntz") != NULL ||
                   (ctx->timestamp_ntz && strstr(name, "ltz") == NULL && !options->has_zone);
    call->call.bound = options;
    if (call->arg_count > 5 && call->args[5]->type->id != TYPE_DECIMAL)
        call->args[5] = as_seconds(ctx, call->args[5], 16);
    TRY(function_apply(ctx, call,
                       options->ntz ? "int,int,int,int,int,decimal->timestamp_ntz"
                                    : "int,int,int,int,int,decimal,string?->timestamp",
                       err));
    call->args[5] = as_seconds(ctx, call->args[5], 16);
    if (options->nulls)
        call->nullable = true;
    return OK;
}

/* ---- intervals ---- */

static enum status interval_overflow(struct error *err)
{
    return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITHOUT_SUGGESTION, NULL);
}

static enum status cell_kernel_make_ym_interval(const struct kernel_call *call, uint32_t row,
                                                struct error *err)
{
    int64_t months = kernel_int(call, 0, row) * INT64_C(12) + kernel_int(call, 1, row);
    if (months > INT32_MAX || months < INT32_MIN)
        return interval_overflow(err);
    KERNEL_OUT(int32_t, call)[row] = (int32_t)months;
    return OK;
}

KERNEL_EACH(kernel_make_ym_interval)

static bool add_product(int64_t *total, int64_t count, int64_t unit)
{
    int64_t product;
    return !__builtin_mul_overflow(count, unit, &product) &&
           !__builtin_add_overflow(*total, product, total);
}

static enum status cell_kernel_make_dt_interval(const struct kernel_call *call, uint32_t row,
                                                struct error *err)
{
    int64_t total = (int64_t)KERNEL_ARG(int128, call, 3, row);
    if (!add_product(&total, kernel_int(call, 0, row), CIVIL_DAY_US) ||
        !add_product(&total, kernel_int(call, 1, row), CIVIL_HOUR_US) ||
        !add_product(&total, kernel_int(call, 2, row), CIVIL_MINUTE_US))
        return interval_overflow(err);
    KERNEL_OUT(int64_t, call)[row] = total;
    return OK;
}

KERNEL_EACH(kernel_make_dt_interval)

static enum status cell_kernel_make_interval(const struct kernel_call *call, uint32_t row,
                                             struct error *err)
{
    int64_t months = kernel_int(call, 0, row) * INT64_C(12) + kernel_int(call, 1, row);
    int64_t days = kernel_int(call, 2, row) * INT64_C(7) + kernel_int(call, 3, row);
    int64_t micros = (int64_t)KERNEL_ARG(int128, call, 6, row);
    bool fits = months <= INT32_MAX && months >= INT32_MIN && days <= INT32_MAX &&
                days >= INT32_MIN &&
                add_product(&micros, kernel_int(call, 4, row), CIVIL_HOUR_US) &&
                add_product(&micros, kernel_int(call, 5, row), CIVIL_MINUTE_US);
    if (!fits && kernel_is_ansi(call))
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow", "alternative",
                           "", "config", "\"spark.sql.ansi.enabled\"", NULL);
    if (!fits)
        return kernel_set_null(call, row, err);
    KERNEL_OUT(struct calendar_interval, call)
    [row] = (struct calendar_interval){(int32_t)months, (int32_t)days, micros};
    return OK;
}

KERNEL_EACH(kernel_make_interval)

static struct expr *zero_seconds(struct resolve_context *ctx)
{
    struct vector *value = arena_new_object(ctx->arena, sizeof(*value));
    value->type = type_decimal(ctx->arena, 18, 6);
    value->length = 1;
    value->constant = true;
    value->values = arena_new_object(ctx->arena, sizeof(int128));
    return expr_literal(ctx->arena, value);
}

RESOLVER(resolve_make_ym_interval)
{
    *out = call;
    TRY(function_apply_signature(ctx, call, err));
    call->type = type_simple(TYPE_INTERVAL_YM);
    return OK;
}

/* make_interval, make_dt_interval: whole numbers, then seconds as DECIMAL(18, 6); 0 if missing. */
RESOLVER(resolve_make_interval)
{
    static const bool yes = true;
    *out = call;
    bool calendar = strstr(call->call.function->name, "dt") == NULL;
    uint32_t wholes = calendar ? 6 : 3;
    bool tries = strncmp(call->call.function->name, "try_", 4) == 0;
    call->call.bound = ctx->ansi && !tries ? &yes : NULL;
    while (call->arg_count < wholes)
        function_add_arg(ctx, call, expr_literal_int(ctx->arena, 0));
    if (call->arg_count == wholes)
        function_add_arg(ctx, call, zero_seconds(ctx));
    if (call->args[wholes]->type->id != TYPE_DECIMAL)
        call->args[wholes] = as_seconds(ctx, call->args[wholes], 18);
    TRY(function_apply(
        ctx, call,
        calendar ? "int,int,int,int,int,int,decimal->interval" : "int,int,int,decimal->4", err));
    call->args[wholes] = as_seconds(ctx, call->args[wholes], 18);
    function_finish(call, type_simple(calendar ? TYPE_INTERVAL : TYPE_INTERVAL_DT));
    return OK;
}
