/* count, count_if, sum, avg and their try_ forms. */
#include "base/check.h"
#include "columnar/decimal.h"
#include "expr/aggregate_impl.h"
#include "expr/arithmetic.h"
#include "expr/decimal_error.h"

#include <math.h>

/* ---- count ---- */

RESOLVER(aggregate_resolve_count)
{
    (void)ctx;
    *out = call;
    if (call->arg_count == 0)
        return error_raise(err, STATUS_WRONG_NUM_ARGS__WITH_SUGGESTION, "functionName", "`count`",
                           "expectedNum", " >= 1", "actualNum", "0", "legacyNum", "0",
                           "legacyConfKey", "\"spark.sql.legacy.allowParameterlessCount\"",
                           "legacyConfValue", "\"true\"", NULL);
    aggregate_finish_call(call, type_simple(TYPE_LONG));
    return OK;
}

static size_t count_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(int64_t);
}

static bool any_null(const struct aggregate_update *update, uint32_t row)
{
    for (uint32_t k = 0; k < update->arg_count; k++) {
        if (aggregate_arg_is_null(update, k, row))
            return true;
    }
    return false;
}

static bool never_null(const struct aggregate_update *update)
{
    for (uint32_t k = 0; k < update->arg_count; k++) {
        const struct vector *arg = update->args[k];
        if (arg->validity != NULL || arg->type->id == TYPE_VOID)
            return false;
    }
    return true;
}

static enum status count_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    bool all = never_null(update);
    if (all && update->states == NULL) {
        *(int64_t *)(void *)update->state += update->selected;
        return OK;
    }
    for (uint32_t i = 0; i < update->selected; i++) {
        int64_t *count = (void *)aggregate_state(update, i);
        *count += all || !any_null(update, aggregate_row(update, i));
    }
    return OK;
}

static enum status count_if_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        int64_t *count = (void *)aggregate_state(update, i);
        *count +=
            !aggregate_arg_is_null(update, 0, row) && AGGREGATE_ARG(uint8_t, update, 0, row) != 0;
    }
    return OK;
}

static enum status count_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                               const uint8_t *from, struct error *err)
{
    (void)expr;
    (void)arena;
    (void)err;
    *(int64_t *)(void *)into += *(const int64_t *)(const void *)from;
    return OK;
}

static enum status count_finish(const struct aggregate_update *call, uint8_t *const *states,
                                uint32_t count, struct vector *out, struct error *err)
{
    (void)call;
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        VECTOR_VALUES(int64_t, out)[i] = *(const int64_t *)(const void *)states[i];
    return OK;
}

const struct aggregate_ops aggregate_count = {
    .state_bytes = count_bytes,
    .update = count_update,
    .merge = count_merge,
    .finish = count_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};

const struct aggregate_ops aggregate_count_if = {
    .state_bytes = count_bytes,
    .update = count_if_update,
    .merge = count_merge,
    .finish = count_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};

/* ---- sum and avg share a state ---- */

struct sum_state {
    uint64_t count; /* and OVERFLOW */
    union {
        int64_t integer;
        double floating;
        uint64_t decimal[2]; /* int128, low half first; there only for decimals */
    };
};
#define OVERFLOW ((uint64_t)1 << 63)

static int64_t count_of(const struct sum_state *state)
{
    return (int64_t)(state->count & ~OVERFLOW);
}

static bool overflowed(const struct sum_state *state)
{
    return (state->count & OVERFLOW) != 0;
}

static int128 get_decimal(const struct sum_state *state)
{
    int128 value;
    memcpy(&value, state->decimal, sizeof value);
    return value;
}

static void set_decimal(struct sum_state *state, int128 value)
{
    memcpy(state->decimal, &value, sizeof value);
}

enum sum_kind {
    SUM_INTEGER,
    SUM_DOUBLE,
    SUM_DECIMAL,
};

static bool is_avg(const struct expr *expr)
{
    return expr->aggregate.aggregate->ops == &aggregate_avg;
}

static enum sum_kind sum_kind(const struct expr *expr)
{
    switch ((int)expr->args[0]->type->id) {
    case TYPE_DECIMAL:
        return SUM_DECIMAL;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return SUM_DOUBLE;
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        return SUM_INTEGER;
    default:
        return is_avg(expr) ? SUM_DOUBLE : SUM_INTEGER;
    }
}

static int64_t integer_arg(const struct aggregate_update *update, uint32_t row)
{
    switch ((int)update->args[0]->type->id) {
    case TYPE_BYTE:
        return AGGREGATE_ARG(int8_t, update, 0, row);
    case TYPE_SHORT:
        return AGGREGATE_ARG(int16_t, update, 0, row);
    case TYPE_INT:
    case TYPE_INTERVAL_YM:
        return AGGREGATE_ARG(int32_t, update, 0, row);
    default:
        return AGGREGATE_ARG(int64_t, update, 0, row);
    }
}

static double floating_arg(const struct aggregate_update *update, uint32_t row)
{
    if (update->args[0]->type->id == TYPE_DOUBLE)
        return AGGREGATE_ARG(double, update, 0, row);
    if (update->args[0]->type->id == TYPE_FLOAT)
        return (double)AGGREGATE_ARG(float, update, 0, row);
    return (double)integer_arg(update, row);
}

static size_t sum_bytes(const struct expr *expr)
{
    return sum_kind(expr) == SUM_DECIMAL ? sizeof(struct sum_state)
                                         : offsetof(struct sum_state, integer) + sizeof(int64_t);
}

/* What overflow means for this call.  NULL results wait for finish. */
static enum status sum_overflow(const struct expr *expr, struct sum_state *state, struct error *err)
{
    const struct aggregate_options *options = expr->aggregate.bound;
    state->count |= OVERFLOW;
    if (options->try || sum_kind(expr) == SUM_DECIMAL)
        return OK;
    if (!type_is_numeric(expr->args[0]->type))
        return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITH_SUGGESTION,
                           "functionName", "`try_add`", NULL);
    return options->ansi ? arithmetic_overflow("overflow", "try_add", err) : OK;
}

static enum status add_integer(const struct expr *expr, struct sum_state *state, int64_t value,
                               struct error *err)
{
    if (!__builtin_add_overflow(state->integer, value, &state->integer))
        return OK;
    return sum_overflow(expr, state, err);
}

/* A sum on the way that has no place in a decimal is an overflow, too, whatever comes after it. */
static void add_decimal(struct sum_state *state, int128 value)
{
    int128 sum;
    if (__builtin_add_overflow(get_decimal(state), value, &sum) ||
        !decimal_fits(sum, DECIMAL_PRECISION_MAX))
        state->count |= OVERFLOW;
    set_decimal(state, sum);
}

/* Integers of 32 or 64 bits without NULLs, each into a state of its own. */
static bool adds_plainly(const struct aggregate_update *update)
{
    const struct vector *arg = update->args[0];
    return (arg->type->id == TYPE_INT || arg->type->id == TYPE_LONG) && arg->validity == NULL &&
           !arg->constant && update->states != NULL;
}

static enum status add_plainly(const struct aggregate_update *update, struct error *err)
{
    const struct vector *arg = update->args[0];
    bool narrow = arg->type->id == TYPE_INT;
    const int32_t *ints = arg->values;
    const int64_t *longs = arg->values;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        struct sum_state *state = (void *)update->states[i];
        state->count++;
        TRY(add_integer(update->expr, state, narrow ? ints[row] : longs[row], err));
    }
    return OK;
}

static enum status sum_update(const struct aggregate_update *update, struct error *err)
{
    enum sum_kind kind = sum_kind(update->expr);
    if (update->args[0]->type->id == TYPE_VOID)
        return OK;
    if (kind == SUM_INTEGER && adds_plainly(update))
        return add_plainly(update, err);
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (aggregate_arg_is_null(update, 0, row))
            continue;
        struct sum_state *state = (void *)aggregate_state(update, i);
        state->count++;
        switch (kind) {
        case SUM_INTEGER:
            TRY(add_integer(update->expr, state, integer_arg(update, row), err));
            break;
        case SUM_DOUBLE:
            state->floating += floating_arg(update, row);
            break;
        case SUM_DECIMAL:
            add_decimal(state, AGGREGATE_ARG(int128, update, 0, row));
            break;
        }
    }
    return OK;
}

static enum status sum_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                             const uint8_t *from, struct error *err)
{
    (void)arena;
    struct sum_state *a = (void *)into;
    const struct sum_state *b = (const void *)from;
    a->count = (a->count | (b->count & OVERFLOW)) + (b->count & ~OVERFLOW);
    switch (sum_kind(expr)) {
    case SUM_INTEGER:
        return add_integer(expr, a, b->integer, err);
    case SUM_DOUBLE:
        a->floating += b->floating;
        break;
    case SUM_DECIMAL:
        add_decimal(a, get_decimal(b));
        break;
    }
    return OK;
}

static enum status decimal_overflow(const struct aggregate_update *call, struct vector *out,
                                    uint32_t i, struct error *err)
{
    const struct aggregate_options *options = call->expr->aggregate.bound;
    if (options->try || !options->ansi)
        return aggregate_set_null(call, out, i, err);
    return arithmetic_overflow("Overflow in sum of decimals",
                               is_avg(call->expr) ? "try_avg" : "try_sum", err);
}

static enum status finish_sum(const struct aggregate_update *call, const struct sum_state *state,
                              struct vector *out, uint32_t i, struct error *err)
{
    const struct aggregate_options *options = call->expr->aggregate.bound;
    const struct type *type = out->type;
    if (count_of(state) == 0)
        return aggregate_set_null(call, out, i, err);
    switch (sum_kind(call->expr)) {
    case SUM_INTEGER:
        if (overflowed(state) && options->try)
            return aggregate_set_null(call, out, i, err);
        if (type->id != TYPE_INTERVAL_YM) {
            VECTOR_VALUES(int64_t, out)[i] = state->integer;
            return OK;
        }
        if (state->integer != (int32_t)state->integer) {
            if (options->try)
                return aggregate_set_null(call, out, i, err);
            return error_raise(err, STATUS_INTERVAL_ARITHMETIC_OVERFLOW__WITH_SUGGESTION,
                               "functionName", "`try_add`", NULL);
        }
        VECTOR_VALUES(int32_t, out)[i] = (int32_t)state->integer;
        return OK;
    case SUM_DOUBLE:
        VECTOR_VALUES(double, out)[i] = state->floating;
        return OK;
    case SUM_DECIMAL: {
        int128 sum = get_decimal(state);
        if (overflowed(state) || !decimal_fits(sum, type->precision))
            return decimal_overflow(call, out, i, err);
        VECTOR_VALUES(int128, out)[i] = sum;
        return OK;
    }
    }
    return OK;
}

/* Half up, as intervals divide. */
static int64_t divide_rounded(int64_t sum, int64_t count)
{
    int128 doubled = (int128)(sum < 0 ? -(int128)sum : sum) * 2 + count;
    int128 result = doubled / ((int128)count * 2);
    return (int64_t)(sum < 0 ? -result : result);
}

static enum status finish_avg(const struct aggregate_update *call, const struct sum_state *state,
                              struct vector *out, uint32_t i, struct error *err)
{
    const struct type *type = out->type;
    const struct aggregate_options *options = call->expr->aggregate.bound;
    if (count_of(state) == 0)
        return aggregate_set_null(call, out, i, err);
    switch (sum_kind(call->expr)) {
    case SUM_INTEGER:
        if (overflowed(state) && options->try)
            return aggregate_set_null(call, out, i, err);
        if (type->id == TYPE_INTERVAL_YM)
            VECTOR_VALUES(int32_t, out)
        [i] = (int32_t)divide_rounded(state->integer, count_of(state));
        else VECTOR_VALUES(int64_t, out)[i] = divide_rounded(state->integer, count_of(state));
        return OK;
    case SUM_DOUBLE:
        VECTOR_VALUES(double, out)[i] = state->floating / (double)count_of(state);
        return OK;
    case SUM_DECIMAL: {
        int128 sum = get_decimal(state);
        int precision = call->expr->args[0]->type->precision + 10;
        if (precision > DECIMAL_PRECISION_MAX)
            precision = DECIMAL_PRECISION_MAX;
        struct decimal total = {sum, call->expr->args[0]->type->scale};
        struct decimal rows = {count_of(state), 0};
        if (overflowed(state) || !decimal_fits(sum, precision))
            return decimal_overflow(call, out, i, err);
        if (decimal_divide(total, rows, type->precision, type->scale,
                           &VECTOR_VALUES(int128, out)[i]))
            return OK;
        if (options->try || !options->ansi)
            return aggregate_set_null(call, out, i, err);
        return decimal_error_of_average(total, count_of(state), type, err);
    }
    }
    return OK;
}

static enum status sum_finish(const struct aggregate_update *call, uint8_t *const *states,
                              uint32_t count, struct vector *out, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(finish_sum(call, (const void *)states[i], out, i, err));
    return OK;
}

static enum status avg_finish(const struct aggregate_update *call, uint8_t *const *states,
                              uint32_t count, struct vector *out, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(finish_avg(call, (const void *)states[i], out, i, err));
    return OK;
}

const struct aggregate_ops aggregate_sum = {
    .state_bytes = sum_bytes,
    .update = sum_update,
    .merge = sum_merge,
    .finish = sum_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};

const struct aggregate_ops aggregate_avg = {
    .state_bytes = sum_bytes,
    .update = sum_update,
    .merge = sum_merge,
    .finish = avg_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};

bool aggregate_adds(const struct expr *expr, uint64_t *counters)
{
    const struct aggregate_ops *ops = expr->aggregate.aggregate->ops;
    *counters = 1; /* the only word, or the first of two: OVERFLOW makes it negative */
    if (ops == &aggregate_count || ops == &aggregate_count_if)
        return true;
    return (ops == &aggregate_sum || ops == &aggregate_avg) && sum_kind(expr) == SUM_INTEGER;
}

/* ---- resolving ---- */

static const struct type *result_type(struct resolve_context *ctx, const struct type *arg, bool avg)
{
    switch ((int)arg->id) {
    case TYPE_DECIMAL:
        return avg ? coercion_decimal_bounded(ctx->arena, arg->precision + 4, arg->scale + 4)
                   : coercion_decimal_bounded(ctx->arena, arg->precision + 10, arg->scale);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return type_simple(TYPE_DOUBLE);
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
        return avg ? type_simple(arg->id) : arg;
    default:
        return type_simple(avg ? TYPE_DOUBLE : TYPE_LONG);
    }
}

RESOLVER(aggregate_resolve_sum)
{
    *out = call;
    const struct type *type = call->args[0]->type;
    bool number =
        type_is_numeric(type) || type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL_YM;
    bool becomes_double =
        type->id == TYPE_STRING || type->id == TYPE_VOID || type->id == TYPE_TIMESTAMP;
    if (!number && !becomes_double)
        return function_wrong_type(call, 0, "\"NUMERIC\" or \"ANSI INTERVAL\"", err);
    if (becomes_double)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_DOUBLE));
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    options->ansi = ctx->ansi;
    options->try = strncmp(call->aggregate.name, "try_", 4) == 0;
    call->aggregate.bound = options;
    aggregate_finish_call(call, result_type(ctx, call->args[0]->type, is_avg(call)));
    return OK;
}
