/* Functions of dates and times: differences, truncation, zones, the epoch, "now". */
#include "expr/fn_datetime.h"
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/fn_support.h"
#include "expr/kernel_time.h"

#include <math.h>

/* ---- dates ---- */

KERNEL(kernel_datediff)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)
        [row] = (int32_t)((int64_t)kernel_int(call, 0, row) - kernel_int(call, 1, row));
    }
    return OK;
}

KERNEL(kernel_add_months)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t days = civil_add_months(kernel_int(call, 0, row), kernel_int(call, 1, row));
        if (days < INT32_MIN || days > INT32_MAX)
            return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow",
                               "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)days;
    }
    return OK;
}

static double months_between(int64_t us1, int64_t us2, const struct zone *zone, bool round_off)
{
    int64_t local1 = timezone_to_local(zone, us1);
    int64_t local2 = timezone_to_local(zone, us2);
    struct civil_date date1 = civil_from_days(civil_floor_div(local1, CIVIL_DAY_US));
    struct civil_date date2 = civil_from_days(civil_floor_div(local2, CIVIL_DAY_US));
    double months = (double)(((int64_t)date1.year - date2.year) * 12 + date1.month - date2.month);
    bool last1 = date1.day == civil_month_days(date1.year, date1.month);
    bool last2 = date2.day == civil_month_days(date2.year, date2.month);
    if (date1.day == date2.day || (last1 && last2))
        return months;
    int64_t seconds = (date1.day - date2.day) * INT64_C(86400) +
                      civil_floor_mod(local1, CIVIL_DAY_US) / CIVIL_SECOND_US -
                      civil_floor_mod(local2, CIVIL_DAY_US) / CIVIL_SECOND_US;
    double result = months + (double)seconds / (31.0 * 86400.0);
    return round_off ? floor(result * 1e8 + 0.5) / 1e8 : result;
}

KERNEL(kernel_months_between)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(double, call)
        [row] = months_between(kernel_long(call, 0, row), kernel_long(call, 1, row),
                               call->ctx->zone, KERNEL_ARG(uint8_t, call, 2, row) != 0);
    }
    return OK;
}

/* The ISO number of a weekday by its name, 2 or 3 letters or whole; 0: none. */
static int weekday_of(struct bytes name)
{
    static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                        "friday", "saturday", "sunday"};
    char word[12];
    if (name.size_bytes < 2 || name.size_bytes >= sizeof(word))
        return 0;
    for (size_t i = 0; i < name.size_bytes; i++)
        word[i] = (char)(name.data[i] | 0x20);
    for (int i = 0; i < 7; i++) {
        size_t size = strlen(names[i]);
        bool length = name.size_bytes == 2 || name.size_bytes == 3 || name.size_bytes == size;
        if (length && memcmp(names[i], word, name.size_bytes) == 0)
            return i + 1;
    }
    return 0;
}

KERNEL(kernel_next_day)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes name = kernel_text(call, 1, row);
        int weekday = weekday_of(name);
        int32_t days = kernel_int(call, 0, row);
        if (weekday == 0) {
            if (kernel_is_ansi(call))
                return error_raise(err, STATUS_ILLEGAL_DAY_OF_WEEK, "string",
                                   kernel_error_text(call, name), NULL);
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        int ahead = (weekday - civil_weekday(days) + 6) % 7 + 1;
        KERNEL_OUT(int32_t, call)[row] = days + ahead;
    }
    return OK;
}

/* ---- truncation ---- */

enum trunc_unit {
    TRUNC_NONE,
    TRUNC_YEAR,
    TRUNC_QUARTER,
    TRUNC_MONTH,
    TRUNC_WEEK,
    TRUNC_DAY,
    TRUNC_HOUR,
    TRUNC_MINUTE,
    TRUNC_SECOND,
    TRUNC_MILLISECOND,
    TRUNC_MICROSECOND,
};

static enum trunc_unit find_trunc_unit(struct bytes name)
{
    static const struct {
        const char *name;
        enum trunc_unit unit;
    } units[] = {
        {"year", TRUNC_YEAR},
        {"yyyy", TRUNC_YEAR},
        {"yy", TRUNC_YEAR},
        {"quarter", TRUNC_QUARTER},
        {"month", TRUNC_MONTH},
        {"mon", TRUNC_MONTH},
        {"mm", TRUNC_MONTH},
        {"week", TRUNC_WEEK},
        {"day", TRUNC_DAY},
        {"dd", TRUNC_DAY},
        {"hour", TRUNC_HOUR},
        {"minute", TRUNC_MINUTE},
        {"second", TRUNC_SECOND},
        {"millisecond", TRUNC_MILLISECOND},
        {"microsecond", TRUNC_MICROSECOND},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (text_equals_ignoring_case(name, units[i].name))
            return units[i].unit;
    return TRUNC_NONE;
}

static int64_t trunc_days(int64_t days, enum trunc_unit unit)
{
    struct civil_date date = civil_from_days(days);
    switch ((int)unit) {
    case TRUNC_YEAR:
        return civil_days(date.year, 1, 1);
    case TRUNC_QUARTER:
        return civil_days(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case TRUNC_MONTH:
        return days - date.day + 1;
    case TRUNC_WEEK:
        return days - civil_weekday(days) + 1;
    default:
        return days;
    }
}

KERNEL(kernel_trunc_date)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        enum trunc_unit unit = find_trunc_unit(kernel_text(call, 1, row));
        if (unit == TRUNC_NONE || unit > TRUNC_WEEK) {
            TRY(kernel_set_null(call, row, err));
            continue;
        }
        KERNEL_OUT(int32_t, call)[row] = (int32_t)trunc_days(kernel_int(call, 0, row), unit);
    }
    return OK;
}

/* False: the beginning is before the first TIMESTAMP. */
static bool trunc_timestamp(int64_t us, enum trunc_unit unit, const struct zone *zone, int64_t *out)
{
    static const int64_t sizes[] = {[TRUNC_HOUR] = CIVIL_HOUR_US,
                                    [TRUNC_MINUTE] = CIVIL_MINUTE_US,
                                    [TRUNC_SECOND] = CIVIL_SECOND_US,
                                    [TRUNC_MILLISECOND] = 1000,
                                    [TRUNC_MICROSECOND] = 1};
    if (unit >= TRUNC_SECOND)
        return !__builtin_sub_overflow(us, civil_floor_mod(us, sizes[unit]), out);
    int64_t local = timezone_to_local(zone, us);
    if (unit <= TRUNC_DAY) {
        int64_t days = trunc_days(civil_floor_div(local, CIVIL_DAY_US), unit);
        int64_t start;
        if (__builtin_mul_overflow(days, CIVIL_DAY_US, &start))
            return false;
        *out = timezone_to_utc(zone, start);
        return true;
    }
    /* Within an overlap the hour stays on the side it is on. */
    int32_t offset = timezone_offset_seconds(zone, us);
    int64_t truncated;
    if (__builtin_sub_overflow(local, civil_floor_mod(local, sizes[unit]), &truncated) ||
        __builtin_sub_overflow(truncated, offset * CIVIL_SECOND_US, out))
        return false;
    if (timezone_offset_seconds(zone, *out) != offset)
        *out = timezone_to_utc(zone, truncated);
    return true;
}

KERNEL(kernel_date_trunc)
{
    struct bytes last = {0};
    enum trunc_unit unit = TRUNC_NONE;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes name = kernel_text(call, 0, row);
        if (name.data != last.data || name.size_bytes != last.size_bytes)
            unit = find_trunc_unit(name);
        last = name;
        if (unit == TRUNC_NONE)
            TRY(kernel_set_null(call, row, err));
        else if (!trunc_timestamp(kernel_long(call, 1, row), unit, call->ctx->zone,
                                  &KERNEL_OUT(int64_t, call)[row]))
            return error_raise(err, STATUS_DATETIME_OVERFLOW, "operation",
                               "truncate a TIMESTAMP near the first one", NULL);
    }
    return OK;
}

/* ---- the epoch ---- */

static enum status run_floor(const struct kernel_call *call, int64_t unit)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int64_t, call)[row] = civil_floor_div(kernel_long(call, 0, row), unit);
    }
    return OK;
}

KERNEL(kernel_unix_seconds)
{
    (void)err;
    return run_floor(call, CIVIL_SECOND_US);
}

KERNEL(kernel_unix_millis)
{
    (void)err;
    return run_floor(call, 1000);
}

KERNEL(kernel_unix_micros)
{
    (void)err;
    return run_floor(call, 1);
}

static enum status epoch_overflow(const struct kernel_call *call, int64_t value, const char *unit,
                                  struct error *err)
{
    return error_raise(err, STATUS_DATETIME_OVERFLOW, "operation",
                       arena_sprintf(call->ctx->arena,
                                     "create a TIMESTAMP from %lldL %s since the epoch",
                                     (long long)value, unit),
                       NULL);
}

static enum status run_epoch(const struct kernel_call *call, int64_t factor, const char *unit,
                             struct error *err)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t value = kernel_long(call, 0, row);
        if (__builtin_mul_overflow(value, factor, &KERNEL_OUT(int64_t, call)[row]))
            return epoch_overflow(call, value, unit, err);
    }
    return OK;
}

KERNEL(kernel_timestamp_millis)
{
    return run_epoch(call, 1000, "milliseconds", err);
}

KERNEL(kernel_timestamp_micros)
{
    return run_epoch(call, 1, "microseconds", err);
}

static enum status seconds_of_decimal(const struct kernel_call *call, uint32_t row,
                                      struct error *err)
{
    struct decimal value = {KERNEL_ARG(int128, call, 0, row), call->args[0]->type->scale};
    int128 us;
    if (!decimal_rescale(value, 6, DECIMAL_DOWN, &us) || us > INT64_MAX || us < INT64_MIN)
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "long overflow",
                           "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
    if (decimal_compare(value, (struct decimal){us, 6}) != 0)
        return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "Rounding necessary",
                           "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
    KERNEL_OUT(int64_t, call)[row] = (int64_t)us;
    return OK;
}

static enum status seconds_of_double(const struct kernel_call *call, uint32_t row,
                                     struct error *err)
{
    double seconds = KERNEL_ARG(double, call, 0, row) * 1e6;
    if (!isfinite(seconds))
        return kernel_set_null(call, row, err);
    KERNEL_OUT(int64_t, call)
    [row] = seconds >= 9.2233720368547758e18    ? INT64_MAX
            : seconds <= -9.2233720368547758e18 ? INT64_MIN
                                                : (int64_t)seconds;
    return OK;
}

KERNEL(kernel_timestamp_seconds)
{
    enum type_id id = call->args[0]->type->id;
    if (id == TYPE_LONG)
        return run_epoch(call, CIVIL_SECOND_US, "seconds", err);
    return kernel_each(call, id == TYPE_DECIMAL ? seconds_of_decimal : seconds_of_double, err);
}

RESOLVER(resolve_timestamp_seconds)
{
    *out = call;
    enum type_id id = call->args[0]->type->id;
    const char *signature = id == TYPE_DECIMAL                      ? "decimal->timestamp"
                            : id == TYPE_DOUBLE || id == TYPE_FLOAT ? "double->timestamp"
                                                                    : "numeric->timestamp";
    if (type_is_integral(call->args[0]->type))
        signature = "bigint->timestamp";
    TRY(function_apply(ctx, call, signature, err));
    if (call->args[0]->type->id != TYPE_LONG && call->args[0]->type->id != TYPE_DECIMAL)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_DOUBLE));
    return OK;
}

/* ---- zones ---- */

static enum status find_zone(struct bytes id, struct bytes *last, const struct zone **zone,
                             struct error *err)
{
    if (*zone != NULL && bytes_equal(id, *last))
        return OK;
    TRY(timezone_find(id, zone, err));
    *last = id;
    return OK;
}

KERNEL(kernel_from_utc_timestamp)
{
    struct bytes last = {0};
    const struct zone *zone = NULL;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY(find_zone(kernel_text(call, 1, row), &last, &zone, err));
        KERNEL_OUT(int64_t, call)[row] = timezone_to_local(zone, kernel_long(call, 0, row));
    }
    return OK;
}

KERNEL(kernel_to_utc_timestamp)
{
    struct bytes last = {0};
    const struct zone *zone = NULL;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY(find_zone(kernel_text(call, 1, row), &last, &zone, err));
        KERNEL_OUT(int64_t, call)[row] = timezone_to_utc(zone, kernel_long(call, 0, row));
    }
    return OK;
}

KERNEL(kernel_convert_timezone)
{
    struct bytes last_from = {0};
    struct bytes last_to = {0};
    const struct zone *from = NULL;
    const struct zone *to = NULL;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        TRY(find_zone(kernel_text(call, 0, row), &last_from, &from, err));
        TRY(find_zone(kernel_text(call, 1, row), &last_to, &to, err));
        int64_t utc = timezone_to_utc(from, kernel_long(call, 2, row));
        KERNEL_OUT(int64_t, call)[row] = timezone_to_local(to, utc);
    }
    return OK;
}

RESOLVER(resolve_convert_timezone)
{
    *out = call;
    if (call->arg_count == 2) {
        struct function_call current = {.name = "current_timezone",
                                        .position = call->position,
                                        .position_end = call->position_end};
        struct expr *from;
        TRY(function_resolve(ctx, &current, &from, err));
        function_insert_arg(ctx, call, 0, from);
    }
    return function_apply(ctx, call, "string,string,timestamp_ntz->timestamp_ntz", err);
}

/* ---- now ---- */

KERNEL(kernel_current_timestamp)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(int64_t, call)[kernel_row(call, i)] = call->ctx->now_us;
    return OK;
}

KERNEL(kernel_localtimestamp)
{
    (void)err;
    int64_t local = timezone_to_local(call->ctx->zone, call->ctx->now_us);
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(int64_t, call)[kernel_row(call, i)] = local;
    return OK;
}

KERNEL(kernel_current_date)
{
    (void)err;
    int64_t local = timezone_to_local(call->ctx->zone, call->ctx->now_us);
    int32_t days = (int32_t)civil_floor_div(local, CIVIL_DAY_US);
    for (uint32_t i = 0; i < call->selected; i++)
        KERNEL_OUT(int32_t, call)[kernel_row(call, i)] = days;
    return OK;
}

KERNEL(kernel_current_timezone)
{
    struct bytes id = bytes_of_text(call->ctx->time_zone);
    for (uint32_t i = 0; i < call->selected; i++)
        TRY(kernel_set_bytes(call, kernel_row(call, i), id, err));
    return OK;
}

/* ---- TIMESTAMPADD, TIMESTAMPDIFF ---- */

struct time_unit {
    const char *name;
    int32_t months;
    int32_t days;
    int64_t micros;
};

static const struct time_unit time_units[] = {
    {"microsecond", 0, 0, 1},
    {"millisecond", 0, 0, 1000},
    {"second", 0, 0, CIVIL_SECOND_US},
    {"minute", 0, 0, CIVIL_MINUTE_US},
    {"hour", 0, 0, CIVIL_HOUR_US},
    {"day", 0, 1, 0},
    {"dayofyear", 0, 1, 0},
    {"week", 0, 7, 0},
    {"month", 1, 0, 0},
    {"quarter", 3, 0, 0},
    {"year", 12, 0, 0},
};

static const struct zone *zone_of(const struct kernel_call *call, uint32_t index)
{
    return call->args[index]->type->id == TYPE_TIMESTAMP_NTZ ? timezone_utc() : call->ctx->zone;
}

static bool add_units(int64_t us, const struct time_unit *unit, int64_t count,
                      const struct zone *zone, int64_t *out)
{
    int64_t months;
    int64_t days;
    int64_t micros;
    if (__builtin_mul_overflow(count, unit->months, &months) ||
        __builtin_mul_overflow(count, unit->days, &days) ||
        __builtin_mul_overflow(count, unit->micros, &micros) || months > INT32_MAX ||
        months < INT32_MIN || days > INT32_MAX || days < INT32_MIN)
        return false;
    struct calendar_interval interval = {(int32_t)months, (int32_t)days, micros};
    return timestamp_add(us, interval, zone, out);
}

KERNEL(kernel_timestamp_add)
{
    const struct time_unit *unit = call->expr->call.bound;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t count = kernel_long(call, 1, row);
        if (add_units(kernel_long(call, 2, row), unit, count, zone_of(call, 2),
                      &KERNEL_OUT(int64_t, call)[row]))
            continue;
        struct buffer text = {0};
        buffer_printf(&text, "add %lldL ", (long long)count);
        for (const char *at = unit->name; *at != '\0'; at++)
            buffer_add_byte(&text, (uint8_t)(*at - 32));
        buffer_add_text(&text, " to ");
        value_text_print_literal(&text, call->args[2], row, call->ctx->zone);
        enum status status =
            error_raise(err, STATUS_DATETIME_OVERFLOW, "operation", buffer_text(&text), NULL);
        buffer_fini(&text);
        return status;
    }
    return OK;
}

/* Whole months from `start` to `end`, local times, as LocalDateTime.until counts them. */
static int64_t months_until(int64_t start, int64_t end)
{
    int64_t days1 = civil_floor_div(start, CIVIL_DAY_US);
    int64_t days2 = civil_floor_div(end, CIVIL_DAY_US);
    int64_t time1 = civil_floor_mod(start, CIVIL_DAY_US);
    int64_t time2 = civil_floor_mod(end, CIVIL_DAY_US);
    if (days2 > days1 && time2 < time1)
        days2--;
    else if (days2 < days1 && time2 > time1)
        days2++;
    struct civil_date date1 = civil_from_days(days1);
    struct civil_date date2 = civil_from_days(days2);
    int64_t packed1 = ((int64_t)date1.year * 12 + date1.month - 1) * 32 + date1.day;
    int64_t packed2 = ((int64_t)date2.year * 12 + date2.month - 1) * 32 + date2.day;
    return (packed2 - packed1) / 32;
}

KERNEL(kernel_timestamp_diff)
{
    (void)err;
    const struct time_unit *unit = call->expr->call.bound;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t start = timezone_to_local(zone_of(call, 1), kernel_long(call, 1, row));
        int64_t end = timezone_to_local(zone_of(call, 2), kernel_long(call, 2, row));
        int64_t size = unit->days > 0 ? unit->days * CIVIL_DAY_US : unit->micros;
        KERNEL_OUT(int64_t, call)
        [row] = unit->months > 0 ? months_until(start, end) / unit->months
                                 : (int64_t)(((int128)end - start) / size);
    }
    return OK;
}

RESOLVER(resolve_timestamp_unit)
{
    *out = call;
    struct vector *value;
    bool add = strcmp(call->call.function->name, "timestampadd") == 0;
    TRY(function_constant(ctx, call, 0, "unit", &value, err));
    if (value->type->id != TYPE_STRING || vector_is_null(value, 0))
        return function_wrong_type(call, 0, "\"STRING\"", err);
    struct bytes name = VECTOR_VALUES(struct bytes, value)[0];
    const struct time_unit *unit = NULL;
    for (size_t i = 0; i < sizeof(time_units) / sizeof(*time_units); i++)
        if (text_equals_ignoring_case(name, time_units[i].name))
            unit = &time_units[i];
    bool only_add = !add && text_equals_ignoring_case(name, "dayofyear");
    if (unit == NULL || only_add)
        return error_raise_at(
            err, STATUS_INVALID_PARAMETER_VALUE__DATETIME_UNIT, call->position, call->position_end,
            "functionName",
            only_add ? "`TIMESTAMPDIFF`"
            : add    ? "`timestampadd`"
                     : "`timestampdiff`",
            "parameter", "`unit`", "invalidValue",
            arena_sprintf(ctx->arena, "'%.*s'", (int)name.size_bytes, (const char *)name.data),
            NULL);
    call->call.bound = unit;
    if (!add)
        return function_apply(ctx, call, "string,timestamp,timestamp->bigint", err);
    bool ntz = call->args[2]->type->id == TYPE_TIMESTAMP_NTZ;
    return function_apply(ctx, call,
                          ntz ? "string,bigint,timestamp_ntz->timestamp_ntz"
                              : "string,bigint,timestamp->timestamp",
                          err);
}

/* ---- time_bucket ---- */

/* The start of the bucket of `size` micros or months, aligned to `origin`, that holds `us`; both
 * count on the wall clock. */
KERNEL(kernel_time_bucket)
{
    bool months = call->args[0]->type->id == TYPE_INTERVAL_YM;
    const struct zone *zone = zone_of(call, 1);
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t us = kernel_long(call, 1, row);
        int64_t origin =
            call->expr->call.bound != NULL ? timezone_to_utc(zone, 0) : kernel_long(call, 2, row);
        if (!months) {
            int64_t size = kernel_long(call, 0, row);
            int64_t local = timezone_to_local(zone, us);
            int128 rest = ((int128)local - timezone_to_local(zone, origin)) % size;
            int128 first = local - rest - (rest < 0 ? size : 0);
            if (first != (int64_t)first)
                return error_raise(err, STATUS_ARITHMETIC_OVERFLOW, "message", "overflow",
                                   "alternative", "", "config", "\"spark.sql.ansi.enabled\"", NULL);
            KERNEL_OUT(int64_t, call)[row] = timezone_to_utc(zone, (int64_t)first);
            continue;
        }
        int32_t size = kernel_int(call, 0, row);
        int64_t local_origin = timezone_to_local(zone, origin);
        int64_t whole = months_until(local_origin, timezone_to_local(zone, us));
        int64_t bucket = civil_floor_div(whole, size);
        int64_t start = us;
        for (int step = 0; step < 3; step++, bucket--) {
            struct calendar_interval interval = {(int32_t)(bucket * size), 0, 0};
            if (timestamp_add(origin, interval, zone, &start) && start <= us)
                break;
        }
        KERNEL_OUT(int64_t, call)[row] = start;
    }
    return OK;
}

RESOLVER(resolve_time_bucket)
{
    *out = call;
    bool ntz = call->args[1]->type->id == TYPE_TIMESTAMP_NTZ;
    if (call->args[1]->type->id == TYPE_DATE)
        return function_wrong_type(call, 1, "\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\"", err);
    if (call->arg_count < 3) {
        struct expr *zero = expr_literal_long(ctx->arena, 0);
        struct vector *value = arena_new_object(ctx->arena, sizeof(*value));
        *value = *zero->literal.value;
        value->type = type_simple(ntz ? TYPE_TIMESTAMP_NTZ : TYPE_TIMESTAMP);
        function_add_arg(ctx, call, expr_literal(ctx->arena, value));
        call->call.bound = value; /* no origin given: 1970 of the session's zone */
    }
    TRY(function_apply(ctx, call,
                       ntz ? "day_time|year_month,timestamp_ntz,timestamp_ntz->timestamp_ntz"
                           : "day_time|year_month,timestamp,timestamp->timestamp",
                       err));
    struct vector *size;
    TRY(function_constant(ctx, call, 0, "bucketSize", &size, err));
    if (vector_is_null(size, 0))
        return OK;
    int64_t amount = size->type->id == TYPE_INTERVAL_YM ? VECTOR_VALUES(int32_t, size)[0]
                                                        : VECTOR_VALUES(int64_t, size)[0];
    if (amount > 0)
        return OK;
    struct arena *arena = arena_new("message", 0);
    struct buffer shown = {0};
    expr_print_sql(&shown, call->args[0]);
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position, call->position_end,
        "sqlExpr", function_sql(arena, call), "exprName", "`bucketSize`", "valueRange", "(0, inf)",
        "currentValue", buffer_text(&shown), NULL);
    buffer_fini(&shown);
    arena_free(arena);
    return status;
}
