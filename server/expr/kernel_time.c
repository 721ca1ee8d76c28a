#include "expr/kernel_time.h"

#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/timezone.h"
#include "expr/arithmetic.h"

#include <math.h>

/* ---- date + days ---- */

/* A constant text becomes its number at once; NULL becomes 0. */
static enum status days_of_text(struct resolve_context *ctx, struct expr *call, struct error *err)
{
    struct vector *text;
    int64_t days = 0;
    TRY(function_constant(ctx, call, 1, "days", &text, err));
    if (vector_is_null(text, 0) || number_cast_integer(*VECTOR_VALUES(struct bytes, text), false,
                                                       INT32_MIN, INT32_MAX, &days) == TEXT_OK)
        call->args[1] = expr_literal_int(ctx->arena, (int32_t)days);
    else if (!ctx->ansi)
        return error_raise_at(err, STATUS_SECOND_FUNCTION_ARGUMENT_NOT_INTEGER, call->position,
                              call->position_end, "functionName", call->call.function->name, NULL);
    else
        call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    return OK;
}

RESOLVER(resolve_date_add)
{
    *out = call;
    const struct expr *days = call->args[1];
    enum type_id id = days->type->id;
    bool literal = days->kind == EXPR_LITERAL ||
                   (days->kind == EXPR_CAST && days->args[0]->kind == EXPR_LITERAL);
    if (id == TYPE_STRING && literal)
        TRY(days_of_text(ctx, call, err));
    else if (id == TYPE_VOID || (id == TYPE_STRING && expr_is_foldable(days)))
        call->args[1] = coercion_cast(ctx, call->args[1], type_simple(TYPE_INT));
    else if (id != TYPE_INT && id != TYPE_SHORT && id != TYPE_BYTE)
        return function_wrong_type(call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")", err);
    return function_apply(ctx, call, "date,int|smallint|tinyint->date", err);
}

static int32_t days_of(const struct kernel_call *call, uint32_t row)
{
    const struct vector *days = call->args[1];
    switch ((int)days->type->id) {
    case TYPE_BYTE:
        return KERNEL_ARG(int8_t, call, 1, row);
    case TYPE_SHORT:
        return KERNEL_ARG(int16_t, call, 1, row);
    default:
        return KERNEL_ARG(int32_t, call, 1, row);
    }
}

static void shift_days(const struct kernel_call *call, bool plus)
{
    int32_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t date = (uint32_t)KERNEL_ARG(int32_t, call, 0, row);
        uint32_t days = (uint32_t)days_of(call, row);
        out[row] = (int32_t)(plus ? date + days : date - days); /* wraps, as in Spark */
    }
}

KERNEL(kernel_date_add)
{
    (void)err;
    shift_days(call, true);
    return OK;
}

KERNEL(kernel_date_sub)
{
    (void)err;
    shift_days(call, false);
    return OK;
}

KERNEL(kernel_interval_days)
{
    (void)err;
    int32_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        out[row] = (int32_t)(KERNEL_ARG(int64_t, call, 0, row) / CIVIL_DAY_US);
    }
    return OK;
}

/* ---- overflow ---- */

/* What `bound` is in a call that is NULL where the result does not fit: try_add, try_subtract. */
static const char in_try[] = "try";

static bool fails_as_null(const struct kernel_call *call)
{
    return call->expr->call.bound == in_try;
}

static enum status time_overflow(const struct kernel_call *call, uint32_t row, struct error *err)
{
    if (fails_as_null(call))
        return kernel_set_null(call, row, err);
    struct arena *arena = arena_new("message", 0);
    enum status status = error_raise(err, STATUS_DATETIME_OVERFLOW, "operation",
                                     function_sql(arena, call->expr), NULL);
    arena_free(arena);
    return status;
}

static enum status overflow(const struct kernel_call *call, uint32_t row, struct error *err)
{
    if (fails_as_null(call))
        return kernel_set_null(call, row, err);
    return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow", "alternative", "",
                       "config", "\"spark.sql.ansi.enabled\"", NULL);
}

static enum status cannot_negate(const struct kernel_call *call, uint32_t row, struct error *err)
{
    if (fails_as_null(call))
        return kernel_set_null(call, row, err);
    return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITHOUT_SUGGESTION, NULL);
}

/* ---- + months ---- */

static bool date_add_months(int32_t date, int64_t months, int32_t *out)
{
    int64_t days = civil_add_months(date, months);
    *out = (int32_t)days;
    return *out == days;
}

static enum status date_months(const struct kernel_call *call, int sign, struct error *err)
{
    int32_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t months = (int64_t)sign * KERNEL_ARG(int32_t, call, 1, row);
        if (months > INT32_MAX)
            TRY(cannot_negate(call, row, err));
        else if (!date_add_months(KERNEL_ARG(int32_t, call, 0, row), months, &out[row]))
            TRY(overflow(call, row, err));
    }
    return OK;
}

KERNEL(kernel_date_plus_months)
{
    return date_months(call, 1, err);
}

KERNEL(kernel_date_minus_months)
{
    return date_months(call, -1, err);
}

bool timestamp_add(int64_t us, struct calendar_interval interval, const struct zone *zone,
                   int64_t *out)
{
    if (interval.months != 0 || interval.days != 0) {
        int64_t local = timezone_to_local(zone, us);
        int64_t days = civil_floor_div(local, CIVIL_DAY_US);
        int64_t rest = civil_floor_mod(local, CIVIL_DAY_US);
        if (interval.months != 0)
            days = civil_add_months(days, interval.months);
        days += interval.days;
        if (__builtin_mul_overflow(days, CIVIL_DAY_US, &local) ||
            __builtin_add_overflow(local, rest, &local))
            return false;
        us = timezone_to_utc(zone, local);
    }
    return !__builtin_add_overflow(us, interval.micros, out);
}

static const struct zone *zone_of(const struct kernel_call *call)
{
    return call->args[0]->type->id == TYPE_TIMESTAMP_NTZ ? timezone_utc() : call->ctx->zone;
}

static enum status timestamp_months(const struct kernel_call *call, int sign, struct error *err)
{
    int64_t *out = call->out->values;
    const struct zone *zone = zone_of(call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t months = (int64_t)sign * KERNEL_ARG(int32_t, call, 1, row);
        struct calendar_interval interval = {.months = (int32_t)months};
        if (months > INT32_MAX)
            TRY(cannot_negate(call, row, err));
        else if (!timestamp_add(KERNEL_ARG(int64_t, call, 0, row), interval, zone, &out[row]))
            TRY(time_overflow(call, row, err));
    }
    return OK;
}

KERNEL(kernel_timestamp_plus_months)
{
    return timestamp_months(call, 1, err);
}

KERNEL(kernel_timestamp_minus_months)
{
    return timestamp_months(call, -1, err);
}

/* ---- + interval ---- */

RESOLVER(resolve_timestamp_interval)
{
    *out = call;
    const struct type *time = call->args[0]->type;
    bool is_time = time->id == TYPE_TIMESTAMP || time->id == TYPE_TIMESTAMP_NTZ;
    bool fits =
        is_time || time->id == TYPE_DATE || time->id == TYPE_STRING || time->id == TYPE_VOID;
    if (!fits)
        return function_wrong_type(
            call, 0,
            "(\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\" or \"(TIMESTAMP_LTZ(P) OR "
            "TIMESTAMP_NTZ(P) WITH P IN [7, 9])\")",
            err);
    if (!is_time)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_TIMESTAMP));
    function_finish(call, call->args[0]->type);
    return OK;
}

/* The interval argument, day-time or legacy, as the latter. */
static struct calendar_interval interval_of(const struct kernel_call *call, uint32_t row)
{
    if (call->args[1]->type->id == TYPE_INTERVAL)
        return KERNEL_ARG(struct calendar_interval, call, 1, row);
    int64_t us = KERNEL_ARG(int64_t, call, 1, row);
    return (struct calendar_interval){.days = (int32_t)(us / CIVIL_DAY_US),
                                      .micros = us % CIVIL_DAY_US};
}

static bool is_day_time(const struct kernel_call *call)
{
    return call->args[1]->type->id == TYPE_INTERVAL_DT;
}

static bool negate(struct calendar_interval *interval)
{
    return !__builtin_sub_overflow(0, interval->months, &interval->months) &&
           !__builtin_sub_overflow(0, interval->days, &interval->days) &&
           !__builtin_sub_overflow(INT64_C(0), interval->micros, &interval->micros);
}

static enum status timestamp_interval(const struct kernel_call *call, bool plus, struct error *err)
{
    int64_t *out = call->out->values;
    const struct zone *zone = zone_of(call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct calendar_interval interval = interval_of(call, row);
        if (!plus && is_day_time(call) && KERNEL_ARG(int64_t, call, 1, row) == INT64_MIN)
            TRY(cannot_negate(call, row, err));
        else if ((!plus && !negate(&interval)) ||
                 !timestamp_add(KERNEL_ARG(int64_t, call, 0, row), interval, zone, &out[row]))
            TRY(time_overflow(call, row, err));
    }
    return OK;
}

KERNEL(kernel_timestamp_plus_interval)
{
    return timestamp_interval(call, true, err);
}

KERNEL(kernel_timestamp_minus_interval)
{
    return timestamp_interval(call, false, err);
}

/* False: the result does not fit. */
static bool date_plus_micros(int32_t date, struct calendar_interval interval, int32_t *out)
{
    int64_t us;
    if (__builtin_mul_overflow(date, CIVIL_DAY_US, &us) ||
        !timestamp_add(us, interval, timezone_utc(), &us))
        return false;
    *out = (int32_t)civil_floor_div(us, CIVIL_DAY_US);
    return true;
}

/* DATE + legacy interval: its microseconds count only in whole days, and fail in ANSI mode. */
static enum status date_interval(const struct kernel_call *call, bool plus, struct error *err)
{
    int32_t *out = call->out->values;
    bool ansi = call->expr->call.bound != NULL;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int32_t date = KERNEL_ARG(int32_t, call, 0, row);
        struct calendar_interval interval = interval_of(call, row);
        bool fits = plus || negate(&interval);
        if (fits && interval.micros != 0 && ansi) {
            if (!fails_as_null(call))
                return error_raise(err, STATUS_INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION,
                                   "ansiConfig", "\"spark.sql.ansi.enabled\"", NULL);
            fits = false;
        } else if (fits && interval.micros != 0) {
            fits = date_plus_micros(date, interval, &out[row]);
        } else if (fits) {
            fits = date_add_months(date, interval.months, &out[row]);
            out[row] = (int32_t)((uint32_t)out[row] + (uint32_t)interval.days);
        }
        if (!fits)
            TRY(time_overflow(call, row, err));
    }
    return OK;
}

KERNEL(kernel_date_plus_interval)
{
    return date_interval(call, true, err);
}

KERNEL(kernel_date_minus_interval)
{
    return date_interval(call, false, err);
}

/* ---- differences ---- */

/* INTERVAL DAY */
RESOLVER(resolve_date_minus_date)
{
    *out = call;
    TRY(function_apply(ctx, call, "date,date->1", err));
    call->type = type_interval(ctx->arena, INTERVAL_DAY, INTERVAL_DAY);
    return OK;
}

RESOLVER(resolve_timestamp_minus_timestamp)
{
    *out = call;
    TRY(function_apply(ctx, call, "timestamps,timestamps->1", err));
    call->type = type_simple(TYPE_INTERVAL_DT);
    return OK;
}

KERNEL(kernel_date_minus_date)
{
    int64_t *out = call->out->values;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t days =
            (int64_t)KERNEL_ARG(int32_t, call, 0, row) - KERNEL_ARG(int32_t, call, 1, row);
        if (__builtin_mul_overflow(days, CIVIL_DAY_US, &out[row]))
            TRY(time_overflow(call, row, err));
    }
    return OK;
}

KERNEL(kernel_timestamp_minus_timestamp)
{
    int64_t *out = call->out->values;
    const struct zone *zone = zone_of(call);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t end = timezone_to_local(zone, KERNEL_ARG(int64_t, call, 0, row));
        int64_t start = timezone_to_local(zone, KERNEL_ARG(int64_t, call, 1, row));
        if (__builtin_sub_overflow(end, start, &out[row]))
            TRY(time_overflow(call, row, err));
    }
    return OK;
}

void kernel_time_try(struct expr *call)
{
    function_kernel_fn *const fallible[] = {
        kernel_date_plus_months,        kernel_date_minus_months,
        kernel_date_plus_interval,      kernel_date_minus_interval,
        kernel_timestamp_plus_months,   kernel_timestamp_minus_months,
        kernel_timestamp_plus_interval, kernel_timestamp_minus_interval,
        kernel_date_minus_date,         kernel_timestamp_minus_timestamp,
    };
    for (size_t i = 0; i < sizeof fallible / sizeof *fallible; i++) {
        if (call->call.kernel != fallible[i])
            continue;
        call->call.bound = in_try;
        call->nullable = true;
    }
}
