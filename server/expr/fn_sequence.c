/* sequence(start, stop [, step]): integers, or dates and times by an interval. */
#include "base/check.h"
#include "columnar/civil.h"
#include "expr/fn_array.h"
#include "expr/fn_support.h"
#include "expr/kernel_time.h"

#include <stdio.h>

#define SEQUENCE_LENGTH_MAX 2147483632
/* What the rows of one batch may make together: half a gigabyte. */
#define SEQUENCE_BATCH_MAX ((uint32_t)64 << 20)

static int64_t integral_of(const struct vector *vector, uint32_t row)
{
    uint32_t at = vector_index(vector, row);
    switch ((int)vector->type->id) {
    case TYPE_BYTE:
        return VECTOR_VALUES(int8_t, vector)[at];
    case TYPE_SHORT:
        return VECTOR_VALUES(int16_t, vector)[at];
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        return VECTOR_VALUES(int32_t, vector)[at];
    default:
        return VECTOR_VALUES(int64_t, vector)[at];
    }
}

/* The values of all rows; the elements are narrowed at the end. */
struct values {
    struct buffer data; /* int64_t */
    uint32_t count;
};

static void value_add(struct values *values, int64_t value)
{
    buffer_add(&values->data, &value, sizeof(value));
    values->count++;
}

static enum status too_long(const struct kernel_call *call, int128 count, struct error *err)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
    return error_raise(err, STATUS_COLLECTION_SIZE_LIMIT_EXCEEDED__PARAMETER, "numberOfElements",
                       text, "maxRoundedArrayLength",
                       kernel_error_number(call, SEQUENCE_LENGTH_MAX), "parameter", "`count`",
                       "functionName", "`sequence`", NULL);
}

static enum status batch_too_long(struct error *err)
{
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "The sequences of a batch", "limit",
                       "536870912", NULL);
}

static enum status integer_row(const struct kernel_call *call, uint32_t row, struct values *values,
                               struct error *err)
{
    int64_t start = integral_of(call->args[0], row);
    int64_t stop = integral_of(call->args[1], row);
    int64_t step = call->arg_count > 2 ? integral_of(call->args[2], row) : start <= stop ? 1 : -1;
    if ((step > 0 && start > stop) || (step < 0 && start < stop) || (step == 0 && start != stop))
        return error_set(err, STATUS_INVALID_PARAMETER_VALUE__START,
                         "requirement failed: Illegal sequence boundaries: %lld to %lld by %lld",
                         (long long)start, (long long)stop, (long long)step);
    int128 count = step == 0 ? 1 : ((int128)stop - start) / step + 1;
    if (count > SEQUENCE_LENGTH_MAX || values->count + count > SEQUENCE_LENGTH_MAX)
        return too_long(call, count, err);
    if (values->count + count > SEQUENCE_BATCH_MAX)
        return batch_too_long(err);
    TRY(kernel_check_elements(call, values->count + (size_t)count, err));
    for (int64_t i = 0; i < (int64_t)count; i++)
        value_add(values, start + i * step);
    return OK;
}

static struct calendar_interval step_of(const struct kernel_call *call, uint32_t row)
{
    if (call->arg_count < 3)
        return (struct calendar_interval){0, 1, 0};
    const struct vector *step = call->args[2];
    switch ((int)step->type->id) {
    case TYPE_INTERVAL:
        return VECTOR_VALUES(struct calendar_interval, step)[vector_index(step, row)];
    case TYPE_INTERVAL_YM:
        return (struct calendar_interval){(int32_t)integral_of(step, row), 0, 0};
    default: {
        int64_t us = integral_of(step, row);
        if (us % CIVIL_DAY_US == 0 && us / CIVIL_DAY_US <= INT32_MAX)
            return (struct calendar_interval){0, (int32_t)(us / CIVIL_DAY_US), 0};
        return (struct calendar_interval){0, 0, us};
    }
    }
}

/* start + i * step */
static bool time_at(int64_t start, struct calendar_interval step, int64_t i,
                    const struct zone *zone, int64_t *out)
{
    int64_t months = step.months * i;
    int64_t days = step.days * i;
    int64_t micros;
    if (months > INT32_MAX || months < INT32_MIN || days > INT32_MAX || days < INT32_MIN ||
        __builtin_mul_overflow(step.micros, i, &micros))
        return false;
    struct calendar_interval total = {(int32_t)months, (int32_t)days, micros};
    return timestamp_add(start, total, zone, out);
}

static enum status time_row(const struct kernel_call *call, uint32_t row, struct values *values,
                            struct error *err)
{
    bool date = call->args[0]->type->id == TYPE_DATE;
    int64_t unit = date ? CIVIL_DAY_US : 1;
    bool local = date || call->args[0]->type->id == TYPE_TIMESTAMP_NTZ;
    const struct zone *zone = local ? timezone_utc() : call->ctx->zone;
    int64_t start, stop;
    if (__builtin_mul_overflow(integral_of(call->args[0], row), unit, &start) ||
        __builtin_mul_overflow(integral_of(call->args[1], row), unit, &stop))
        return error_raise(err, STATUS_DATETIME_OVERFLOW, "operation", "sequence of dates", NULL);
    struct calendar_interval step = step_of(call, row);
    if (call->arg_count < 3 && start > stop)
        step.days = -1;
    int128 size =
        (int128)step.months * 28 * CIVIL_DAY_US + (int128)step.days * CIVIL_DAY_US + step.micros;
    if (size == 0 && date)
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_3242, "intervalType",
                           step.months == 0 ? "interval day to second" : "interval year to month",
                           NULL);
    if ((size > 0 && start > stop) || (size < 0 && start < stop) || (size == 0 && start != stop))
        return error_set(err, STATUS_INVALID_PARAMETER_VALUE__START,
                         "requirement failed: Illegal sequence boundaries: %lld to %lld",
                         (long long)start, (long long)stop);
    int64_t at = start;
    for (int64_t i = 0; size > 0 ? at <= stop : at >= stop;) {
        if (values->count >= SEQUENCE_BATCH_MAX)
            return batch_too_long(err);
        TRY(kernel_check_elements(call, values->count + 1, err));
        value_add(values, date ? civil_floor_div(at, CIVIL_DAY_US) : at);
        i++;
        if (size == 0 || !time_at(start, step, i, zone, &at))
            break;
    }
    return OK;
}

static enum status narrow(const struct kernel_call *call, const struct values *values,
                          struct error *err)
{
    TRY(kernel_check_built(call, err));
    TRY(vector_resize_child(call->ctx->arena, call->out, 0, values->count, err));
    struct vector *child = call->out->children[0];
    const int64_t *from = (const void *)values->data.data;
    for (uint32_t i = 0; i < values->count; i++) {
        switch (type_value_bytes(child->type)) {
        case 1:
            VECTOR_VALUES(int8_t, child)[i] = (int8_t)from[i];
            break;
        case 2:
            VECTOR_VALUES(int16_t, child)[i] = (int16_t)from[i];
            break;
        case 4:
            VECTOR_VALUES(int32_t, child)[i] = (int32_t)from[i];
            break;
        default:
            VECTOR_VALUES(int64_t, child)[i] = from[i];
        }
    }
    return OK;
}

KERNEL(kernel_sequence)
{
    struct values values = {0};
    struct list_entry *entries = call->out->values;
    enum status status = OK;
    bool integers = type_is_integral(call->args[0]->type);
    memset(entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t first = values.count;
        TRY_OUT(integers ? integer_row(call, row, &values, err)
                         : time_row(call, row, &values, err));
        entries[row] = (struct list_entry){first, values.count - first};
    }
    status = narrow(call, &values, err);
out:
    buffer_fini(&values.data);
    return status;
}

static enum status wrong_types(const struct expr *call, struct error *err)
{
    struct arena *arena = arena_new("message", 0);
    enum status status = error_raise_at(
        err, STATUS_DATATYPE_MISMATCH__SEQUENCE_WRONG_INPUT_TYPES, call->position,
        call->position_end, "sqlExpr", function_sql(arena, call), "functionName", "`sequence`",
        "startType", "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"DATE\")", "stepType",
        "(\"INTERVAL\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL DAY TO SECOND\")",
        "otherStartType", "\"INTEGRAL\"", NULL);
    arena_free(arena);
    return status;
}

static bool is_interval(const struct type *type)
{
    return type->id == TYPE_INTERVAL || type->id == TYPE_INTERVAL_DT ||
           type->id == TYPE_INTERVAL_YM;
}

RESOLVER(resolve_sequence)
{
    *out = call;
    const struct type *common = coercion_tightest(ctx, call->args[0]->type, call->args[1]->type);
    if (call->args[0]->type->id == TYPE_VOID)
        common = call->args[1]->type;
    else if (call->args[1]->type->id == TYPE_VOID)
        common = call->args[0]->type;
    if (common == NULL)
        return wrong_types(call, err);
    bool time =
        common->id == TYPE_DATE || common->id == TYPE_TIMESTAMP || common->id == TYPE_TIMESTAMP_NTZ;
    if (!time && !type_is_integral(common))
        return wrong_types(call, err);
    if (call->arg_count > 2) {
        const struct type *step = call->args[2]->type;
        if (step->id != TYPE_VOID && (time ? !is_interval(step) : !type_is_integral(step)))
            return wrong_types(call, err);
        if (!time && step->id != TYPE_VOID)
            common = coercion_tightest(ctx, common, step);
        if (!time || step->id == TYPE_VOID)
            call->args[2] =
                coercion_cast(ctx, call->args[2], time ? type_simple(TYPE_INTERVAL_DT) : common);
    }
    for (uint32_t i = 0; i < 2; i++)
        call->args[i] = coercion_cast(ctx, call->args[i], common);
    function_finish(call, type_array(ctx->arena, common, false));
    return OK;
}
