/*
 * approx_count_distinct: HyperLogLog with linear counting for few values.
 */
#include "expr/aggregate_impl.h"
#include "expr/program.h"

#include <math.h>

#define PRECISION_MIN 4
#define PRECISION_MAX 24

RESOLVER(aggregate_resolve_distinct)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    double deviation = 0.05;
    if (call->arg_count == 2) {
        struct vector *value;
        const struct type *type = type_simple(TYPE_DOUBLE);
        if (!coercion_can_cast_implicitly(ctx, call->args[1]->type, type))
            return function_wrong_type(call, 1, "\"DOUBLE\"", err);
        TRY(function_constant(ctx, call, 1, "relativeSD", &value, err));
        TRY(expr_constant(ctx->arena, coercion_cast(ctx, call->args[1], type), ctx->time_zone,
                          &value, err));
        deviation = vector_is_null(value, 0) ? 0 : *VECTOR_VALUES(double, value);
    }
    double precision = ceil(2.0 * log2(1.106 / deviation));
    if (deviation > 0 && precision < PRECISION_MIN)
        return error_raise_at(err, STATUS_FAILED_FUNCTION_CALL, call->position, call->position_end,
                              "funcName", "`approx_count_distinct`", NULL);
    if (!(deviation > 0) || !(precision >= PRECISION_MIN) || precision > PRECISION_MAX)
        return error_raise_at(err, STATUS__LEGACY_ERROR_TEMP_1104, call->position,
                              call->position_end, NULL);
    options->precision = (uint32_t)precision;
    aggregate_finish_call(call, type_simple(TYPE_LONG));
    return OK;
}

static uint32_t precision_of(const struct expr *expr)
{
    return ((const struct aggregate_options *)expr->aggregate.bound)->precision;
}

static size_t sketch_bytes(const struct expr *expr)
{
    return (size_t)1 << precision_of(expr);
}

static enum status sketch_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    const struct vector *arg = update->args[0];
    uint32_t precision = precision_of(update->expr);
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (vector_is_null(arg, row))
            continue;
        uint64_t hash = vector_hash(arg, vector_index(arg, row), 42);
        uint8_t *registers = aggregate_state(update, i);
        uint64_t rest = hash << precision | (uint64_t)1 << (precision - 1);
        uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
        uint8_t *place = &registers[hash >> (64 - precision)];
        if (*place < rank)
            *place = rank;
    }
    return OK;
}

static enum status sketch_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                const uint8_t *from, struct error *err)
{
    (void)arena;
    (void)err;
    size_t count = sketch_bytes(expr);
    for (size_t i = 0; i < count; i++) {
        if (into[i] < from[i])
            into[i] = from[i];
    }
    return OK;
}

static int64_t estimate(const uint8_t *registers, size_t count)
{
    double m = (double)count;
    double sum = 0;
    double empty = 0;
    for (size_t i = 0; i < count; i++) {
        sum += ldexp(1.0, -registers[i]);
        empty += registers[i] == 0;
    }
    double alpha = count == 16   ? 0.673
                   : count == 32 ? 0.697
                   : count == 64 ? 0.709
                                 : 0.7213 / (1.0 + 1.079 / m);
    double raw = alpha * m * m / sum;
    if (empty > 0 && raw <= 2.5 * m)
        raw = m * log(m / empty);
    return (int64_t)llround(raw);
}

static enum status sketch_finish(const struct aggregate_update *call, uint8_t *const *states,
                                 uint32_t count, struct vector *out, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        VECTOR_VALUES(int64_t, out)[i] = estimate(states[i], sketch_bytes(call->expr));
    return OK;
}

const struct aggregate_ops aggregate_distinct = {
    .state_bytes = sketch_bytes,
    .update = sketch_update,
    .merge = sketch_merge,
    .finish = sketch_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};
