/* CAST to DATE, TIMESTAMP, TIMESTAMP_NTZ and TIME. */
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/timestamp_text.h"
#include "expr/cast_impl.h"

#include <math.h>

#define ANSI_CONFIG "\"spark.sql.ansi.enabled\""

static struct timestamp_context text_context(const struct cast_job *job)
{
    return (struct timestamp_context){.zone = job->zone, .now_us = job->ctx->now_us};
}

static enum status text_to_timestamp(const struct cast_job *job, struct error *err)
{
    struct timestamp_context context = text_context(job);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        if (timestamp_text_parse(CAST_IN(struct bytes, job, row), &context,
                                 &CAST_OUT(int64_t, job, row)) != TEXT_OK)
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

static enum status text_to_ntz(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        if (timestamp_text_parse_ntz(CAST_IN(struct bytes, job, row), true,
                                     &CAST_OUT(int64_t, job, row)) != TEXT_OK)
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

static enum status text_to_date(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        if (timestamp_text_parse_date(CAST_IN(struct bytes, job, row),
                                      &CAST_OUT(int32_t, job, row)) != TEXT_OK)
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

/* 10^(9 - precision) nanoseconds */
static int64_t time_unit(const struct type *type)
{
    int64_t unit = 1;
    for (int digits = type->precision; digits < 9; digits++)
        unit *= 10;
    return unit;
}

static enum status text_to_time(const struct cast_job *job, struct error *err)
{
    int64_t unit = time_unit(job->out->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t nanos;
        if (timestamp_text_parse_time(CAST_IN(struct bytes, job, row), &nanos) == TEXT_OK)
            CAST_OUT(int64_t, job, row) = nanos - nanos % unit;
        else
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

static enum status time_to_time(const struct cast_job *job, struct error *err)
{
    (void)err;
    int64_t unit = time_unit(job->out->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t nanos = CAST_IN(int64_t, job, row);
        CAST_OUT(int64_t, job, row) = nanos - nanos % unit;
    }
    return OK;
}

static enum status date_to_timestamp(const struct cast_job *job, struct error *err)
{
    bool local = job->out->type->id == TYPE_TIMESTAMP_NTZ;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t us;
        if (__builtin_mul_overflow((int64_t)CAST_IN(int32_t, job, row), CIVIL_DAY_US, &us)) {
            if (job->mode != CAST_TRY)
                return cast_overflow(job, row, err);
            TRY(cast_set_null(job, row, err));
            continue;
        }
        CAST_OUT(int64_t, job, row) = local ? us : timezone_to_utc(job->zone, us);
    }
    return OK;
}

static enum status timestamp_to_date(const struct cast_job *job, struct error *err)
{
    (void)err;
    bool local = job->in->type->id == TYPE_TIMESTAMP_NTZ;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t us = CAST_IN(int64_t, job, row);
        if (!local)
            us = timezone_to_local(job->zone, us);
        CAST_OUT(int32_t, job, row) = (int32_t)civil_floor_div(us, CIVIL_DAY_US);
    }
    return OK;
}

static enum status timestamp_to_timestamp(const struct cast_job *job, struct error *err)
{
    (void)err;
    bool to_local = job->out->type->id == TYPE_TIMESTAMP_NTZ;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t us = CAST_IN(int64_t, job, row);
        CAST_OUT(int64_t, job, row) =
            to_local ? timezone_to_local(job->zone, us) : timezone_to_utc(job->zone, us);
    }
    return OK;
}

static enum status integer_to_timestamp(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t seconds = cast_integer(job->in, row);
        int64_t us;
        if (job->in->type->id == TYPE_BOOLEAN)
            us = seconds; /* 1 microsecond */
        else if (__builtin_mul_overflow(seconds, CIVIL_SECOND_US, &us))
            us = seconds < 0 ? INT64_MIN : INT64_MAX;
        CAST_OUT(int64_t, job, row) = us;
    }
    return OK;
}

static enum status decimal_to_timestamp(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct decimal value = {CAST_IN(int128, job, row), job->in->type->scale};
        int128 us;
        if (!decimal_rescale(value, 6, DECIMAL_DOWN, &us) || us != (int64_t)us) {
            if (job->mode == CAST_ANSI)
                return cast_overflow(job, row, err);
            TRY(cast_set_null(job, row, err));
            continue;
        }
        CAST_OUT(int64_t, job, row) = (int64_t)us;
    }
    return OK;
}

/* Spark multiplies first and then casts to bigint, which is what the message shows. */
static enum status double_overflow(double us, struct error *err)
{
    char text[NUMBER_DOUBLE_TEXT_MAX + 2];
    size_t size = number_print_double(text, us);
    text[size] = 'D';
    text[size + 1] = '\0';
    return error_raise(err, STATUS_CAST_OVERFLOW, "value", text, "sourceType", "\"DOUBLE\"",
                       "targetType", "\"BIGINT\"", "ansiConfig", ANSI_CONFIG, NULL);
}

static enum status floating_to_timestamp(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        double value = job->in->type->id == TYPE_FLOAT ? (double)CAST_IN(float, job, row)
                                                       : CAST_IN(double, job, row);
        if (isnan(value) || isinf(value)) {
            TRY(cast_invalid(job, row, err));
            continue;
        }
        double us = value * (double)CIVIL_SECOND_US;
        if (us >= 9223372036854775808.0 || us < -9223372036854775808.0) {
            if (job->mode == CAST_ANSI)
                return double_overflow(us, err);
            if (job->mode == CAST_TRY) {
                TRY(cast_set_null(job, row, err));
                continue;
            }
            CAST_OUT(int64_t, job, row) = us < 0 ? INT64_MIN : INT64_MAX;
            continue;
        }
        CAST_OUT(int64_t, job, row) = (int64_t)us;
    }
    return OK;
}

cast_function *cast_to_time(const struct type *from, const struct type *to)
{
    if (to->id == TYPE_TIME)
        return from->id == TYPE_STRING ? text_to_time : from->id == TYPE_TIME ? time_to_time : NULL;
    if (to->id == TYPE_DATE)
        return from->id == TYPE_STRING ? text_to_date : timestamp_to_date;
    switch ((int)from->id) {
    case TYPE_STRING:
        return to->id == TYPE_TIMESTAMP ? text_to_timestamp : text_to_ntz;
    case TYPE_DATE:
        return date_to_timestamp;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return timestamp_to_timestamp;
    case TYPE_DECIMAL:
        return decimal_to_timestamp;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return floating_to_timestamp;
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return integer_to_timestamp;
    default:
        return NULL;
    }
}
