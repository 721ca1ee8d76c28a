/*
 * Variance and its relatives, covariance, correlation, linear regression: running central moments,
 * with the formulas (and so the last digits) of Spark.
 */
#include "expr/aggregate_impl.h"

#include <math.h>

/* ---- one variable ---- */

struct moments {
    double n, mean, m2, m3, m4;
};

static size_t moments_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct moments);
}

static void moments_add(struct moments *state, double x)
{
    double n = state->n + 1;
    double delta = x - state->mean;
    double delta_n = delta / n;
    double m2 = state->m2 + delta * (delta - delta_n);
    double delta2 = delta * delta;
    double delta_n2 = delta_n * delta_n;
    double m3 = state->m3 - 3.0 * delta_n * m2 + delta * (delta2 - delta_n2);
    double m4 = state->m4 - 4.0 * delta_n * m3 - 6.0 * delta_n2 * m2 +
                delta * (delta * delta2 - delta_n * delta_n2);
    *state = (struct moments){n, state->mean + delta_n, m2, m3, m4};
}

static enum status moments_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (!aggregate_arg_is_null(update, 0, row))
            moments_add((void *)aggregate_state(update, i), AGGREGATE_ARG(double, update, 0, row));
    }
    return OK;
}

static enum status moments_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                 const uint8_t *from, struct error *err)
{
    (void)expr;
    (void)arena;
    (void)err;
    struct moments *a = (void *)into;
    const struct moments *b = (const void *)from;
    double n1 = a->n;
    double n2 = b->n;
    double n = n1 + n2;
    double delta = b->mean - a->mean;
    double delta_n = n == 0 ? 0 : delta / n;
    double m2 = a->m2 + b->m2 + delta * delta_n * n1 * n2;
    double m3 = a->m3 + b->m3 + delta_n * delta_n * delta * n1 * n2 * (n1 - n2) +
                3.0 * delta_n * (n1 * b->m2 - n2 * a->m2);
    double m4 = a->m4 + b->m4 +
                delta_n * delta_n * delta_n * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2) +
                6.0 * delta_n * delta_n * (n1 * n1 * b->m2 + n2 * n2 * a->m2) +
                4.0 * delta_n * (n1 * b->m3 - n2 * a->m3);
    *a = (struct moments){n, a->mean + delta_n * n2, m2, m3, m4};
    return OK;
}

/* What a function makes of a state; false: NULL. */
typedef bool number_result(const uint8_t *state, double *out);

static enum status numbers_finish(const struct aggregate_update *call, uint8_t *const *states,
                                  uint32_t count, struct vector *out, number_result *result,
                                  struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        double value;
        if (result(states[i], &value))
            VECTOR_VALUES(double, out)[i] = value;
        else
            TRY(aggregate_set_null(call, out, i, err));
    }
    return OK;
}

/* The aggregate `name`, which is a function of the state that the functions `kind`_... keep. */
#define NUMBER_AGGREGATE(kind, name)                                                               \
    static bool name##_result(const uint8_t *state, double *out)                                   \
    {                                                                                              \
        return name((const void *)state, out);                                                     \
    }                                                                                              \
    static enum status name##_finish(const struct aggregate_update *call, uint8_t *const *states,  \
                                     uint32_t count, struct vector *out, struct error *err)        \
    {                                                                                              \
        return numbers_finish(call, states, count, out, name##_result, err);                       \
    }                                                                                              \
    const struct aggregate_ops aggregate_##name = {                                                \
        .state_bytes = kind##_bytes,                                                               \
        .update = kind##_update,                                                                   \
        .merge = kind##_merge,                                                                     \
        .finish = name##_finish,                                                                   \
        .save = aggregate_save_plain,                                                              \
        .load = aggregate_load_plain,                                                              \
    }

static bool var_pop(const struct moments *state, double *out)
{
    *out = state->m2 / state->n;
    return state->n > 0;
}

static bool var_samp(const struct moments *state, double *out)
{
    *out = state->m2 / (state->n - 1);
    return state->n > 1;
}

static bool stddev_pop(const struct moments *state, double *out)
{
    *out = sqrt(state->m2 / state->n);
    return state->n > 0;
}

static bool stddev_samp(const struct moments *state, double *out)
{
    *out = sqrt(state->m2 / (state->n - 1));
    return state->n > 1;
}

static bool skewness(const struct moments *state, double *out)
{
    *out = sqrt(state->n) * state->m3 / sqrt(state->m2 * state->m2 * state->m2);
    return state->n > 0 && state->m2 != 0;
}

static bool kurtosis(const struct moments *state, double *out)
{
    *out = state->n * state->m4 / (state->m2 * state->m2) - 3.0;
    return state->n > 0 && state->m2 != 0;
}

NUMBER_AGGREGATE(moments, var_pop);
NUMBER_AGGREGATE(moments, var_samp);
NUMBER_AGGREGATE(moments, stddev_pop);
NUMBER_AGGREGATE(moments, stddev_samp);
NUMBER_AGGREGATE(moments, skewness);
NUMBER_AGGREGATE(moments, kurtosis);

/* ---- two variables: the first argument is a, the second b ---- */

struct pair {
    double n, mean_a, mean_b, ck;
    double mk_a, mk_b; /* as corr sums them */
    double m2_a, m2_b; /* as variance sums them */
};

static size_t pair_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct pair);
}

static void pair_add(struct pair *state, double a, double b)
{
    double n = state->n + 1;
    double da = a - state->mean_a;
    double db = b - state->mean_b;
    double mean_a = state->mean_a + da / n;
    double mean_b = state->mean_b + db / n;
    state->ck += da * (b - mean_b);
    state->mk_a += da * (a - mean_a);
    state->mk_b += db * (b - mean_b);
    state->m2_a += da * (da - da / n);
    state->m2_b += db * (db - db / n);
    state->n = n;
    state->mean_a = mean_a;
    state->mean_b = mean_b;
}

static enum status pair_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (aggregate_arg_is_null(update, 0, row) || aggregate_arg_is_null(update, 1, row))
            continue;
        pair_add((void *)aggregate_state(update, i), AGGREGATE_ARG(double, update, 0, row),
                 AGGREGATE_ARG(double, update, 1, row));
    }
    return OK;
}

static enum status pair_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                              const uint8_t *from, struct error *err)
{
    (void)expr;
    (void)arena;
    (void)err;
    struct pair *x = (void *)into;
    const struct pair *y = (const void *)from;
    double n = x->n + y->n;
    if (n == 0)
        return OK;
    double da = y->mean_a - x->mean_a;
    double db = y->mean_b - x->mean_b;
    double da_n = da / n;
    double db_n = db / n;
    double product = x->n * y->n;
    x->ck += y->ck + da * db_n * product;
    x->mk_a += y->mk_a + da * da_n * product;
    x->mk_b += y->mk_b + db * db_n * product;
    x->m2_a += y->m2_a + da * da_n * product;
    x->m2_b += y->m2_b + db * db_n * product;
    x->mean_a += da_n * y->n;
    x->mean_b += db_n * y->n;
    x->n = n;
    return OK;
}

static bool covar_pop(const struct pair *state, double *out)
{
    *out = state->ck / state->n;
    return state->n > 0;
}

static bool covar_samp(const struct pair *state, double *out)
{
    *out = state->ck / (state->n - 1);
    return state->n > 1;
}

static bool corr(const struct pair *state, double *out)
{
    double product = state->mk_a * state->mk_b;
    *out = state->ck / sqrt(product);
    return state->n > 1 && product != 0;
}

/* Of the regression functions a is y and b is x. */
static bool regr_sxx(const struct pair *state, double *out)
{
    *out = state->m2_b;
    return state->n > 0;
}

static bool regr_syy(const struct pair *state, double *out)
{
    *out = state->m2_a;
    return state->n > 0;
}

static bool regr_sxy(const struct pair *state, double *out)
{
    *out = state->ck;
    return state->n > 0;
}

static bool regr_slope(const struct pair *state, double *out)
{
    *out = state->ck / state->m2_b;
    return state->n > 0 && state->m2_b != 0;
}

static bool regr_intercept(const struct pair *state, double *out)
{
    double slope;
    if (!regr_slope(state, &slope))
        return false;
    *out = state->mean_a - slope * state->mean_b;
    return true;
}

static bool regr_r2(const struct pair *state, double *out)
{
    if (state->n == 0 || state->mk_b == 0)
        return false;
    *out = state->mk_a == 0 ? 1.0 : state->ck * state->ck / state->mk_b / state->mk_a;
    return true;
}

NUMBER_AGGREGATE(pair, covar_pop);
NUMBER_AGGREGATE(pair, covar_samp);
NUMBER_AGGREGATE(pair, corr);
NUMBER_AGGREGATE(pair, regr_sxx);
NUMBER_AGGREGATE(pair, regr_syy);
NUMBER_AGGREGATE(pair, regr_sxy);
NUMBER_AGGREGATE(pair, regr_slope);
NUMBER_AGGREGATE(pair, regr_intercept);
NUMBER_AGGREGATE(pair, regr_r2);

static enum status regr_count_finish(const struct aggregate_update *call, uint8_t *const *states,
                                     uint32_t count, struct vector *out, struct error *err)
{
    (void)call;
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        VECTOR_VALUES(int64_t, out)[i] = (int64_t)((const struct pair *)(const void *)states[i])->n;
    return OK;
}

const struct aggregate_ops aggregate_regr_count = {
    .state_bytes = pair_bytes,
    .update = pair_update,
    .merge = pair_merge,
    .finish = regr_count_finish,
    .save = aggregate_save_plain,
    .load = aggregate_load_plain,
};

/* ---- the means of pairs: of sums, as those of avg ---- */

struct sums {
    double n, a, b;
};

static size_t sums_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct sums);
}

static enum status sums_update(const struct aggregate_update *update, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < update->selected; i++) {
        uint32_t row = aggregate_row(update, i);
        if (aggregate_arg_is_null(update, 0, row) || aggregate_arg_is_null(update, 1, row))
            continue;
        struct sums *state = (void *)aggregate_state(update, i);
        state->n += 1;
        state->a += AGGREGATE_ARG(double, update, 0, row);
        state->b += AGGREGATE_ARG(double, update, 1, row);
    }
    return OK;
}

static enum status sums_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                              const uint8_t *from, struct error *err)
{
    (void)expr;
    (void)arena;
    (void)err;
    struct sums *x = (void *)into;
    const struct sums *y = (const void *)from;
    x->n += y->n;
    x->a += y->a;
    x->b += y->b;
    return OK;
}

static bool regr_avgx(const struct sums *state, double *out)
{
    *out = state->b / state->n;
    return state->n > 0;
}

static bool regr_avgy(const struct sums *state, double *out)
{
    *out = state->a / state->n;
    return state->n > 0;
}

NUMBER_AGGREGATE(sums, regr_avgx);
NUMBER_AGGREGATE(sums, regr_avgy);
