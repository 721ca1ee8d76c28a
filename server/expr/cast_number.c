/* CAST to numbers and BOOLEAN. */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/number_text.h"
#include "expr/cast_impl.h"
#include "expr/decimal_error.h"

#include <math.h>
#include <stdio.h>

int64_t cast_integer(const struct vector *vector, uint32_t row)
{
    uint32_t index = vector_index(vector, row);
    switch (vector->type->id) {
    case TYPE_BYTE:
        return VECTOR_VALUES(int8_t, vector)[index];
    case TYPE_SHORT:
        return VECTOR_VALUES(int16_t, vector)[index];
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return VECTOR_VALUES(int32_t, vector)[index];
    case TYPE_BOOLEAN:
        return VECTOR_VALUES(uint8_t, vector)[index] != 0;
    default:
        return VECTOR_VALUES(int64_t, vector)[index];
    }
}

static void integer_range(enum type_id id, int64_t *min, int64_t *max)
{
    *min = id == TYPE_BYTE    ? INT8_MIN
           : id == TYPE_SHORT ? INT16_MIN
           : id == TYPE_INT   ? INT32_MIN
                              : INT64_MIN;
    *max = -(*min + 1);
}

void cast_wrap_integer(const struct cast_job *job, uint32_t row, int64_t value)
{
    switch (job->out->type->id) {
    case TYPE_BYTE:
        CAST_OUT(int8_t, job, row) = (int8_t)value;
        break;
    case TYPE_SHORT:
        CAST_OUT(int16_t, job, row) = (int16_t)value;
        break;
    case TYPE_INT:
        CAST_OUT(int32_t, job, row) = (int32_t)value;
        break;
    default:
        CAST_OUT(int64_t, job, row) = value;
        break;
    }
}

bool cast_store_integer(const struct cast_job *job, uint32_t row, int128 value)
{
    int64_t min, max;
    integer_range(job->out->type->id, &min, &max);
    if (value < min || value > max)
        return false;
    cast_wrap_integer(job, row, (int64_t)value);
    return true;
}

/* ---- to integers ---- */

static enum status integer_to_integer(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    bool widening = job->in->type->id <= job->out->type->id;
    while (cast_next(job, &i, &row)) {
        int64_t value = cast_integer(job->in, row);
        if (widening || job->mode == CAST_LEGACY)
            cast_wrap_integer(job, row, value);
        else if (!cast_store_integer(job, row, value))
            TRY(cast_overflow(job, row, err));
    }
    return OK;
}

static double floating(const struct cast_job *job, uint32_t row)
{
    return job->in->type->id == TYPE_FLOAT ? (double)CAST_IN(float, job, row)
                                           : CAST_IN(double, job, row);
}

static int64_t saturate(double value, int64_t min, int64_t max)
{
    if (isnan(value))
        return 0;
    if (value >= (double)max)
        return max;
    return value <= (double)min ? min : (int64_t)value;
}

static enum status floating_to_integer(const struct cast_job *job, struct error *err)
{
    int64_t min, max;
    enum type_id id = job->out->type->id;
    integer_range(id, &min, &max);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        double value = floating(job, row);
        if (job->mode == CAST_LEGACY) {
            /* Java: through int for the smaller types */
            bool wide = id == TYPE_LONG;
            cast_wrap_integer(
                job, row,
                saturate(value, wide ? INT64_MIN : INT32_MIN, wide ? INT64_MAX : INT32_MAX));
        } else if (floor(value) <= (double)max && ceil(value) >= (double)min) {
            cast_wrap_integer(job, row, saturate(value, min, max));
        } else {
            TRY(cast_overflow(job, row, err));
        }
    }
    return OK;
}

static enum status decimal_to_integer(const struct cast_job *job, struct error *err)
{
    int128 divisor = decimal_power10(job->in->type->scale);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int128 value = CAST_IN(int128, job, row) / divisor;
        if (job->mode == CAST_LEGACY)
            cast_wrap_integer(job, row, (int64_t)value);
        else if (!cast_store_integer(job, row, value))
            TRY(cast_overflow(job, row, err));
    }
    return OK;
}

static enum status text_to_integer(const struct cast_job *job, struct error *err)
{
    int64_t min, max;
    integer_range(job->out->type->id, &min, &max);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t value;
        if (number_cast_integer(CAST_IN(struct bytes, job, row), job->mode == CAST_LEGACY, min, max,
                                &value) == TEXT_OK)
            cast_wrap_integer(job, row, value);
        else
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

static enum status boolean_to_integer(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        cast_wrap_integer(job, row, CAST_IN(uint8_t, job, row) != 0);
    return OK;
}

static enum status time_to_integer(const struct cast_job *job, struct error *err)
{
    bool day = job->in->type->id == TYPE_TIME;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t unit = day ? CIVIL_SECOND_US * 1000 : CIVIL_SECOND_US;
        int64_t seconds = civil_floor_div(CAST_IN(int64_t, job, row), unit);
        if (!cast_store_integer(job, row, seconds))
            TRY(cast_overflow(job, row, err));
    }
    return OK;
}

static enum status interval_to_integer(const struct cast_job *job, struct error *err)
{
    int64_t unit = cast_interval_unit(job->in->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        if (!cast_store_integer(job, row, cast_integer(job->in, row) / unit))
            TRY(cast_overflow(job, row, err));
    }
    return OK;
}

/* Dates have no number: NULL, where the cast exists at all. */
static enum status date_to_null(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        TRY(cast_set_null(job, row, err));
    return OK;
}

/* ---- to floats ---- */

static void store_floating(const struct cast_job *job, uint32_t row, double value)
{
    if (job->out->type->id == TYPE_FLOAT)
        CAST_OUT(float, job, row) = (float)value;
    else
        CAST_OUT(double, job, row) = value;
}

static enum status integer_to_floating(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        int64_t value = cast_integer(job->in, row);
        if (job->out->type->id == TYPE_FLOAT)
            CAST_OUT(float, job, row) = (float)value;
        else
            CAST_OUT(double, job, row) = (double)value;
    }
    return OK;
}

static enum status floating_to_floating(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        store_floating(job, row, floating(job, row));
    return OK;
}

static enum status decimal_to_floating(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct decimal value = {CAST_IN(int128, job, row), job->in->type->scale};
        if (job->out->type->id == TYPE_FLOAT)
            CAST_OUT(float, job, row) = decimal_to_float(value);
        else
            CAST_OUT(double, job, row) = decimal_to_double(value);
    }
    return OK;
}

static enum status text_to_floating(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct bytes text = CAST_IN(struct bytes, job, row);
        enum text_result result = job->out->type->id == TYPE_FLOAT
                                      ? number_cast_float(text, &CAST_OUT(float, job, row))
                                      : number_cast_double(text, &CAST_OUT(double, job, row));
        if (result != TEXT_OK)
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

static enum status time_to_floating(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        store_floating(job, row, (double)CAST_IN(int64_t, job, row) / (double)CIVIL_SECOND_US);
    return OK;
}

/* ---- to decimals ---- */

static enum status store_decimal(const struct cast_job *job, uint32_t row, struct decimal value,
                                 struct error *err)
{
    const struct type *type = job->out->type;
    if (decimal_convert(value, type->precision, type->scale, &CAST_OUT(int128, job, row)))
        return OK;
    enum type_id from = job->in->type->id;
    bool interval = from == TYPE_INTERVAL_DT || from == TYPE_INTERVAL_YM;
    bool fails = job->mode == CAST_ANSI || (interval && job->mode != CAST_TRY);
    if (!fails || !(interval || from == TYPE_TIMESTAMP))
        return cast_decimal_overflow(job, row, err);
    char text[DECIMAL_TEXT_MAX + 1]; /* the number that it is, not how it looks */
    text[decimal_print(text, value)] = '\0';
    return decimal_error(text, type, err);
}

static enum status integer_to_decimal(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        TRY(store_decimal(job, row, (struct decimal){cast_integer(job->in, row), 0}, err));
    return OK;
}

static enum status floating_to_decimal(const struct cast_job *job, struct error *err)
{
    const struct type *type = job->out->type;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        double value = floating(job, row);
        if (isnan(value) || isinf(value))
            TRY(cast_set_null(job, row, err));
        else if (!decimal_from_double(value, type->precision, type->scale,
                                      &CAST_OUT(int128, job, row)))
            TRY(cast_decimal_overflow(job, row, err));
    }
    return OK;
}

static enum status decimal_to_decimal(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct decimal value = {CAST_IN(int128, job, row), job->in->type->scale};
        TRY(store_decimal(job, row, value, err));
    }
    return OK;
}

static enum status unsupported_number(const struct cast_job *job, uint32_t row, struct error *err)
{
    struct bytes text = number_trim_all(CAST_IN(struct bytes, job, row));
    char value[128];
    (void)snprintf(value, sizeof value, "%.*s",
                   (int)(text.size_bytes < 120 ? text.size_bytes : 120), (const char *)text.data);
    return error_raise(err, STATUS_NUMERIC_OUT_OF_SUPPORTED_RANGE, "value", value, NULL);
}

static enum status text_to_decimal(const struct cast_job *job, struct error *err)
{
    const struct type *type = job->out->type;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct bytes text = CAST_IN(struct bytes, job, row);
        enum text_result result =
            decimal_cast(text, type->precision, type->scale, &CAST_OUT(int128, job, row));
        if (result == TEXT_OK)
            continue;
        if (result == TEXT_INVALID) {
            TRY(cast_invalid(job, row, err));
            continue;
        }
        int128 any;
        if (job->mode == CAST_ANSI && decimal_cast(text, 38, 0, &any) != TEXT_OK)
            return unsupported_number(job, row, err);
        TRY(cast_decimal_overflow(job, row, err));
    }
    return OK;
}

static enum status time_to_decimal(const struct cast_job *job, struct error *err)
{
    int scale = job->in->type->id == TYPE_TIME ? 9 : 6;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row))
        TRY(store_decimal(job, row, (struct decimal){CAST_IN(int64_t, job, row), scale}, err));
    return OK;
}

static enum status interval_to_decimal(const struct cast_job *job, struct error *err)
{
    bool seconds =
        job->in->type->id == TYPE_INTERVAL_DT && job->in->type->interval_to == INTERVAL_SECOND;
    int64_t unit = seconds ? 1 : cast_interval_unit(job->in->type);
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        struct decimal value = {cast_integer(job->in, row) / unit, seconds ? 6 : 0};
        TRY(store_decimal(job, row, value, err));
    }
    return OK;
}

/* ---- to BOOLEAN ---- */

static enum status number_to_boolean(const struct cast_job *job, struct error *err)
{
    (void)err;
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        bool value;
        if (job->in->type->id == TYPE_DECIMAL)
            value = CAST_IN(int128, job, row) != 0;
        else if (job->in->type->id == TYPE_FLOAT || job->in->type->id == TYPE_DOUBLE)
            value = !(floating(job, row) == 0);
        else
            value = cast_integer(job->in, row) != 0;
        CAST_OUT(uint8_t, job, row) = value;
    }
    return OK;
}

static enum status text_to_boolean(const struct cast_job *job, struct error *err)
{
    uint32_t i = 0, row;
    while (cast_next(job, &i, &row)) {
        bool value;
        if (number_cast_boolean(CAST_IN(struct bytes, job, row), &value) == TEXT_OK)
            CAST_OUT(uint8_t, job, row) = value;
        else
            TRY(cast_invalid(job, row, err));
    }
    return OK;
}

/* ---- the table ---- */

enum family {
    FAMILY_BOOLEAN,
    FAMILY_INTEGER,
    FAMILY_FLOATING,
    FAMILY_DECIMAL,
    FAMILY_TEXT,
    FAMILY_DATE,
    FAMILY_TIME,
    FAMILY_INTERVAL,
    FAMILY_OTHER,
};

static enum family family_of(const struct type *type)
{
    switch (type->id) {
    case TYPE_BOOLEAN:
        return FAMILY_BOOLEAN;
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return FAMILY_INTEGER;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return FAMILY_FLOATING;
    case TYPE_DECIMAL:
        return FAMILY_DECIMAL;
    case TYPE_STRING:
        return FAMILY_TEXT;
    case TYPE_DATE:
        return FAMILY_DATE;
    case TYPE_TIMESTAMP:
    case TYPE_TIME:
        return FAMILY_TIME;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        return FAMILY_INTERVAL;
    case TYPE_VOID:
    case TYPE_BINARY:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return FAMILY_OTHER;
    }
    return FAMILY_OTHER;
}

cast_function *cast_to_number(const struct type *from, const struct type *to)
{
    static cast_function *const table[FAMILY_OTHER][FAMILY_DECIMAL + 1] = {
        [FAMILY_BOOLEAN] = {NULL, boolean_to_integer, integer_to_floating, integer_to_decimal},
        [FAMILY_INTEGER] = {number_to_boolean, integer_to_integer, integer_to_floating,
                            integer_to_decimal},
        [FAMILY_FLOATING] = {number_to_boolean, floating_to_integer, floating_to_floating,
                             floating_to_decimal},
        [FAMILY_DECIMAL] = {number_to_boolean, decimal_to_integer, decimal_to_floating,
                            decimal_to_decimal},
        [FAMILY_TEXT] = {text_to_boolean, text_to_integer, text_to_floating, text_to_decimal},
        [FAMILY_DATE] = {date_to_null, date_to_null, date_to_null, date_to_null},
        [FAMILY_TIME] = {number_to_boolean, time_to_integer, time_to_floating, time_to_decimal},
        [FAMILY_INTERVAL] = {NULL, interval_to_integer, NULL, interval_to_decimal},
    };
    enum family family = family_of(from), target = family_of(to);
    CHECK(target <= FAMILY_DECIMAL);
    return family == FAMILY_OTHER ? NULL : table[family][target];
}
