/* CAST to intervals. */
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "expr/cast_impl.h"

int64_t cast_interval_unit(const struct type *type)
{
    switch (type->interval_to) {
    case INTERVAL_YEAR:
        return 12;
    case INTERVAL_MONTH:
        return 1;
    case INTERVAL_DAY:
        return CIVIL_DAY_US;
    case INTERVAL_HOUR:
        return CIVIL_HOUR_US;
    case INTERVAL_MINUTE:
        return CIVIL_MINUTE_US;
    default:
        return CIVIL_SECOND_US;
    }
}

static bool store(const struct cast_job *job, uint32_t row, int128 value)
{
    if (job->out->type->id == TYPE_INTERVAL_YM) {
        if (value != (int32_t)value)
            return false;
        CAST_OUT(int32_t, job, row) = (int32_t)value;
        return true;
    }
    if (value != (int64_t)value)
        return false;
    CAST_OUT(int64_t, job, row) = (int64_t)value;
    return true;
}

static enum status text_to_interval(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t value = 0;
        enum status status = interval_text_parse_fields(CAST_IN(struct bytes, job, row),
                                                        job->out->type, &value, err);
        if (status == OK) {
            store(job, row, value);
            continue;
        }
        if (job->mode != CAST_TRY)
            return status;
        error_clear(err);
        TRY(cast_set_null(job, row, err));
    }
    return OK;
}

static enum status text_to_calendar(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct error ignored = ERROR_INIT;
        if (interval_text_parse(CAST_IN(struct bytes, job, row),
                                &CAST_OUT(struct calendar_interval, job, row), &ignored) != OK)
            TRY(cast_set_null(job, row, err));
    }
    return OK;
}

static enum status integer_to_interval(const struct cast_job *job, struct error *err)
{
    int64_t unit = cast_interval_unit(job->out->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        if (!store(job, row, (int128)cast_integer(job->in, row) * unit))
            TRY(cast_interval_overflow(job, row, err));
    }
    return OK;
}

static enum status decimal_to_interval(const struct cast_job *job, struct error *err)
{
    int64_t unit = cast_interval_unit(job->out->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct decimal value = {CAST_IN(int128, job, row), job->in->type->scale};
        int128 result;
        if (!decimal_multiply(value, (struct decimal){unit, 0}, 38, 0, &result) ||
            !store(job, row, result))
            TRY(cast_interval_overflow(job, row, err));
    }
    return OK;
}

/* To fewer fields: what is below the last one is cut off. */
static enum status interval_to_interval(const struct cast_job *job, struct error *err)
{
    (void)err;
    int64_t unit =
        job->out->type->interval_to == INTERVAL_SECOND ? 1 : cast_interval_unit(job->out->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t value = cast_integer(job->in, row);
        store(job, row, value - value % unit);
    }
    return OK;
}

cast_function *cast_to_interval(const struct type *from, const struct type *to)
{
    if (to->id == TYPE_INTERVAL)
        return from->id == TYPE_STRING ? text_to_calendar : NULL;
    if (from->id == TYPE_STRING)
        return text_to_interval;
    if (from->id == TYPE_DECIMAL)
        return decimal_to_interval;
    if (type_is_integral(from))
        return integer_to_interval;
    return from->id == to->id ? interval_to_interval : NULL;
}
