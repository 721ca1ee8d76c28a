/* Fields of dates, times and intervals: year() ... second(), and EXTRACT over them. */
#include "base/check.h"
#include "columnar/civil.h"
#include "expr/fn_datetime.h"
#include "expr/fn_support.h"

/* ---- of a date ---- */

static enum status run_days(const struct kernel_call *call, int32_t (*field)(int32_t days))
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = field(kernel_int(call, 0, row));
    }
    return OK;
}

/* Defines field_`name` over `days`, and its kernel. */
#define DAYS_FIELD(name, result)                                                                   \
    static int32_t field_##name(int32_t days)                                                      \
    {                                                                                              \
        return (int32_t)(result);                                                                  \
    }                                                                                              \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        (void)err;                                                                                 \
        return run_days(call, field_##name);                                                       \
    }

static int32_t year_of_week(int32_t days)
{
    int32_t year;
    (void)civil_iso_week(days, &year);
    return year;
}

static int32_t last_day(int32_t days)
{
    struct civil_date date = civil_from_days(days);
    int64_t last = (int64_t)days - date.day + civil_month_days(date.year, date.month);
    return (int32_t)last; /* wraps in the last month there is */
}

DAYS_FIELD(kernel_year, civil_from_days(days).year)
DAYS_FIELD(kernel_year_of_week, year_of_week(days))
DAYS_FIELD(kernel_quarter, (civil_from_days(days).month - 1) / 3 + 1)
DAYS_FIELD(kernel_month, civil_from_days(days).month)
DAYS_FIELD(kernel_day, civil_from_days(days).day)
DAYS_FIELD(kernel_day_of_year, civil_day_of_year(days))
DAYS_FIELD(kernel_day_of_week, civil_weekday(days) % 7 + 1)
DAYS_FIELD(kernel_day_of_week_iso, civil_weekday(days))
DAYS_FIELD(kernel_weekday, civil_weekday(days) - 1)
DAYS_FIELD(kernel_week_of_year, civil_iso_week(days, NULL))
DAYS_FIELD(kernel_last_day, last_day(days))
DAYS_FIELD(kernel_unix_date, days)

KERNEL(kernel_dayname)
{
    (void)err;
    static const char names[] = "MonTueWedThuFriSatSun";
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int index = civil_weekday(kernel_int(call, 0, row)) - 1;
        kernel_set_view(call, row, bytes_of(names + (ptrdiff_t)index * 3, 3));
    }
    return OK;
}

KERNEL(kernel_monthname)
{
    (void)err;
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int index = civil_from_days(kernel_int(call, 0, row)).month - 1;
        kernel_set_view(call, row, bytes_of(names + (ptrdiff_t)index * 3, 3));
    }
    return OK;
}

/* ---- of a time of day ---- */

/* Microseconds of the local day of a TIMESTAMP, TIMESTAMP_NTZ or TIME. */
static int64_t micros_of_day(const struct kernel_call *call, uint32_t row)
{
    int64_t value = kernel_long(call, 0, row);
    switch ((int)call->args[0]->type->id) {
    case TYPE_TIMESTAMP:
        return civil_floor_mod(timezone_to_local(call->ctx->zone, value), CIVIL_DAY_US);
    case TYPE_TIME:
        return value / 1000;
    default:
        return civil_floor_mod(value, CIVIL_DAY_US);
    }
}

static enum status run_clock(const struct kernel_call *call, int64_t unit, int64_t modulus)
{
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)(micros_of_day(call, row) / unit % modulus);
    }
    return OK;
}

KERNEL(kernel_hour)
{
    (void)err;
    return run_clock(call, CIVIL_HOUR_US, 24);
}

KERNEL(kernel_minute)
{
    (void)err;
    return run_clock(call, CIVIL_MINUTE_US, 60);
}

KERNEL(kernel_second)
{
    (void)err;
    return run_clock(call, CIVIL_SECOND_US, 60);
}

/* DECIMAL(8,6) */
KERNEL(kernel_second_with_fraction)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int128, call)[row] = micros_of_day(call, row) % CIVIL_MINUTE_US;
    }
    return OK;
}

/* ---- of an interval ---- */

static int64_t interval_months(const struct kernel_call *call, uint32_t row)
{
    if (call->args[0]->type->id == TYPE_INTERVAL)
        return KERNEL_ARG(struct calendar_interval, call, 0, row).months;
    return kernel_int(call, 0, row);
}

static int64_t interval_micros(const struct kernel_call *call, uint32_t row)
{
    if (call->args[0]->type->id == TYPE_INTERVAL)
        return KERNEL_ARG(struct calendar_interval, call, 0, row).micros;
    return kernel_long(call, 0, row);
}

KERNEL(kernel_interval_year)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int32_t, call)[row] = (int32_t)(interval_months(call, row) / 12);
    }
    return OK;
}

KERNEL(kernel_interval_month)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int8_t, call)[row] = (int8_t)(interval_months(call, row) % 12);
    }
    return OK;
}

KERNEL(kernel_interval_day)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        bool calendar = call->args[0]->type->id == TYPE_INTERVAL;
        KERNEL_OUT(int32_t, call)
        [row] = calendar ? KERNEL_ARG(struct calendar_interval, call, 0, row).days
                         : (int32_t)(interval_micros(call, row) / CIVIL_DAY_US);
    }
    return OK;
}

KERNEL(kernel_interval_hour)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        int64_t hours = interval_micros(call, row) / CIVIL_HOUR_US;
        KERNEL_OUT(int8_t, call)[row] = (int8_t)(hours % 24);
    }
    return OK;
}

KERNEL(kernel_interval_minute)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int8_t, call)[row] = (int8_t)(interval_micros(call, row) / CIVIL_MINUTE_US % 60);
    }
    return OK;
}

KERNEL(kernel_interval_second)
{
    (void)err;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        KERNEL_OUT(int128, call)[row] = interval_micros(call, row) % CIVIL_MINUTE_US;
    }
    return OK;
}

/* Seconds with their fraction are DECIMAL(8, 6). */
RESOLVER(resolve_second_fraction)
{
    *out = call;
    TRY(function_apply_signature(ctx, call, err));
    call->type = type_decimal(ctx->arena, 8, 6);
    return OK;
}

/* ---- EXTRACT ---- */

struct extract_field {
    const char *names;       /* separated by blanks, lower case */
    const char *of_time;     /* the function over a date or timestamp; NULL: none */
    const char *of_interval; /* over an interval; NULL: none */
    int interval_field;
};

static const struct extract_field extract_fields[] = {
    {" year y years yr yrs ", "year", "interval year", INTERVAL_YEAR},
    {" yearofweek ", "year of week", NULL, 0},
    {" quarter qtr ", "quarter", NULL, 0},
    {" month mon mons months ", "month", "interval month", INTERVAL_MONTH},
    {" week w weeks ", "weekofyear", NULL, 0},
    {" day d days ", "day", "interval day", INTERVAL_DAY},
    {" dayofweek dow ", "dayofweek", NULL, 0},
    {" dayofweek_iso dow_iso ", "day of week iso", NULL, 0},
    {" doy ", "dayofyear", NULL, 0},
    {" hour h hours hr hrs ", "hour", "interval hour", INTERVAL_HOUR},
    {" minute m min mins minutes ", "minute", "interval minute", INTERVAL_MINUTE},
    {" second s sec seconds secs ", "second with fraction", "interval second", INTERVAL_SECOND},
};

static const struct extract_field *find_field(struct bytes name)
{
    char wanted[32];
    if (name.size_bytes == 0 || name.size_bytes + 3 > sizeof(wanted))
        return NULL;
    wanted[0] = ' ';
    for (size_t i = 0; i < name.size_bytes; i++) {
        uint8_t c = name.data[i];
        wanted[i + 1] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    wanted[name.size_bytes + 1] = ' ';
    wanted[name.size_bytes + 2] = '\0';
    for (size_t i = 0; i < sizeof(extract_fields) / sizeof(*extract_fields); i++)
        if (strstr(extract_fields[i].names, wanted) != NULL)
            return &extract_fields[i];
    return NULL;
}

/* The function that computes the field of such a value; NULL: there is none. */
static const char *field_function(const struct extract_field *field, const struct type *type)
{
    if (field == NULL)
        return NULL;
    switch ((int)type->id) {
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        if (field->of_interval == NULL || field->interval_field < type->interval_from ||
            field->interval_field > type->interval_to)
            return NULL;
        return field->of_interval;
    case TYPE_INTERVAL:
        return field->of_interval;
    case TYPE_TIME:
        return field->interval_field >= INTERVAL_HOUR ? field->of_time : NULL;
    default:
        return field->of_time;
    }
}

RESOLVER(resolve_extract)
{
    *out = call;
    struct vector *name;
    struct expr *meaning;
    TRY(function_constant(ctx, call, 0, "field", &name, err));
    if (vector_is_null(name, 0)) {
        function_replace(ctx, call, expr_null(ctx->arena, type_simple(TYPE_DOUBLE)));
        return OK;
    }
    if (name->type->id != TYPE_STRING)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    struct bytes text = VECTOR_VALUES(struct bytes, name)[0];
    const char *function = field_function(find_field(text), call->args[1]->type);
    if (function == NULL) {
        struct arena *arena = arena_new("message", 0);
        enum status status = error_raise_at(
            err, STATUS_INVALID_EXTRACT_FIELD, call->position, call->position_end, "field",
            arena_sprintf(arena, "`%.*s`", (int)text.size_bytes, (const char *)text.data), "expr",
            function_sql(arena, call->args[1]), NULL);
        arena_free(arena);
        return status;
    }
    TRY(function_resolve_1(ctx, function, call->args[1], &meaning, err));
    function_replace(ctx, call, meaning);
    return OK;
}
