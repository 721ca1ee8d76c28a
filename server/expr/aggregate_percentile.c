/*
 * percentile, median, percentile_cont, percentile_disc, percentile_approx.
 *
 * All of them count the distinct values (row keys, which sort as the values do).  The approximate
 * one puts neighbours together when there are many, within its accuracy.
 */
#include "base/check.h"
#include "columnar/number_text.h"
#include "expr/aggregate_impl.h"
#include "expr/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- resolving ---- */

static const char *shown_call(struct resolve_context *ctx, const struct expr *call)
{
    return call->aggregate.order_count > 0 ? aggregate_children_sql(ctx->arena, call)
                                           : function_sql(ctx->arena, call);
}

static enum status percent_out_of_range(struct resolve_context *ctx, const struct expr *call,
                                        double value, struct error *err)
{
    char text[NUMBER_DOUBLE_TEXT_MAX + 2];
    size_t size = number_print_double(text, value);
    memcpy(text + size, "D", 2);
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                          call->position_end, "sqlExpr", shown_call(ctx, call), "exprName",
                          "percentage", "valueRange", "[0.0, 1.0]", "currentValue", text, NULL);
}

/* The constant percentages of argument `index`, a number or an array of them. */
static enum status read_percents(struct resolve_context *ctx, struct expr *call, uint32_t index,
                                 struct aggregate_options *options, struct error *err)
{
    struct expr *arg = call->args[index];
    options->percent_list = arg->type->id == TYPE_ARRAY;
    const struct type *type = type_simple(TYPE_DOUBLE);
    if (options->percent_list)
        type = type_array(ctx->arena, type, arg->type->element_nullable);
    if (!coercion_can_cast_implicitly(ctx, arg->type, type))
        return function_wrong_type(call, index, "(\"DOUBLE\" or \"ARRAY<DOUBLE>\")", err);
    struct vector *value;
    arg = call->args[index] = coercion_cast(ctx, arg, type);
    if (!expr_is_foldable(arg))
        return function_not_foldable(call, index, "percentage", err);
    TRY(expr_constant(ctx->arena, arg, ctx->time_zone, &value, err));
    if (vector_is_null(value, 0))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_NULL, call->position,
                              call->position_end, "sqlExpr", shown_call(ctx, call), "exprName",
                              "percentage", NULL);
    const double *cells = value->values;
    options->percent_count = 1;
    if (options->percent_list) {
        struct list_entry entry = *VECTOR_VALUES(struct list_entry, value);
        cells = VECTOR_VALUES(double, value->children[0]) + entry.offset;
        options->percent_count = entry.length;
    }
    options->percents = arena_new_object(ctx->arena, (options->percent_count + 1) * sizeof(double));
    for (uint32_t i = 0; i < options->percent_count; i++) {
        double percent = cells[options->percent_list && value->children[0]->constant ? 0 : i];
        if (!(percent >= 0 && percent <= 1))
            return percent_out_of_range(ctx, call, percent, err);
        options->percents[i] = percent;
    }
    return OK;
}

static const struct type *result_of(struct resolve_context *ctx, const struct type *value,
                                    const struct aggregate_options *options)
{
    return options->percent_list ? type_array(ctx->arena, value, false) : value;
}

/* Numbers become doubles; intervals stay. */
static enum status exact_value(struct resolve_context *ctx, struct expr *call,
                               const struct type **type, struct error *err)
{
    const struct type *arg = call->args[0]->type;
    if (arg->id == TYPE_INTERVAL_DT || arg->id == TYPE_INTERVAL_YM) {
        *type = type_simple(arg->id);
        return OK;
    }
    if (arg->id == TYPE_DATE || arg->id == TYPE_TIMESTAMP || arg->id == TYPE_TIMESTAMP_NTZ)
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    *type = type_simple(TYPE_DOUBLE);
    if (type_is_numeric(arg) || arg->id == TYPE_STRING || arg->id == TYPE_VOID) {
        call->args[0] = coercion_cast(ctx, call->args[0], *type);
        return OK;
    }
    return function_wrong_type(
        call, 0,
        "((\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\") or \"TIME\")",
        err);
}

RESOLVER(aggregate_resolve_percentile)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    if (call->arg_count == 2)
        call->args[call->arg_count++] = expr_literal_int(ctx->arena, 1);
    TRY(read_percents(ctx, call, 1, options, err));
    if (call->args[2]->type->id == TYPE_STRING ||
        !coercion_can_cast_implicitly(ctx, call->args[2]->type, type_simple(TYPE_LONG)))
        return function_wrong_type(call, 2, "\"INTEGRAL\"", err);
    call->args[2] = coercion_cast(ctx, call->args[2], type_simple(TYPE_LONG));
    const struct type *type;
    TRY(exact_value(ctx, call, &type, err));
    aggregate_finish_call(call, result_of(ctx, type, options));
    return OK;
}

static void one_percent(struct resolve_context *ctx, struct aggregate_options *options,
                        double percent)
{
    options->percents = arena_new_object(ctx->arena, sizeof(double));
    options->percents[0] = percent;
    options->percent_count = 1;
}

RESOLVER(aggregate_resolve_median)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    one_percent(ctx, options, 0.5);
    const struct type *type = NULL;
    TRY(exact_value(ctx, call, &type, err));
    aggregate_finish_call(call, type);
    return OK;
}

/* percentile_cont(p) WITHIN GROUP (ORDER BY x): the value is the order key. */
RESOLVER(aggregate_resolve_ordered_percentile)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    if (call->aggregate.order_count != 1)
        return error_raise_at(
            err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__WRONG_NUM_ORDERINGS, call->position,
            call->position_end, "funcName", arena_sprintf(ctx->arena, "`%s`", call->aggregate.name),
            "expectedNum", "1", "actualNum",
            arena_sprintf(ctx->arena, "%u", (unsigned)call->aggregate.order_count), NULL);
    TRY(read_percents(ctx, call, 0, options, err));
    options->reverse = call->aggregate.order[0].descending;
    struct expr value = *call;
    value.args = arena_new_object(ctx->arena, sizeof(struct expr *));
    value.args[0] = call->aggregate.order[0].expr;
    const struct type *type;
    TRY(exact_value(ctx, &value, &type, err));
    struct sort_key *key = arena_new_object(ctx->arena, sizeof *key);
    *key = call->aggregate.order[0];
    key->expr = value.args[0];
    call->aggregate.order = key;
    aggregate_finish_call(call, result_of(ctx, type, options));
    return OK;
}

static enum status read_accuracy(struct resolve_context *ctx, struct expr *call,
                                 struct aggregate_options *options, struct error *err)
{
    struct vector *value;
    const struct type *type = type_simple(TYPE_LONG);
    if (!type_is_integral(call->args[2]->type))
        return function_wrong_type(call, 2, "\"INTEGRAL\"", err);
    if (!expr_is_foldable(call->args[2]))
        return function_not_foldable(call, 2, "accuracy", err);
    TRY(expr_constant(ctx->arena, coercion_cast(ctx, call->args[2], type), ctx->time_zone, &value,
                      err));
    int64_t accuracy = vector_is_null(value, 0) ? 0 : *VECTOR_VALUES(int64_t, value);
    if (accuracy < 1 || accuracy > INT32_MAX)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__VALUE_OUT_OF_RANGE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "exprName", "accuracy", "valueRange", "(0, 2147483647]",
                              "currentValue",
                              arena_sprintf(ctx->arena, "%lldL", (long long)accuracy), NULL);
    options->accuracy = (int)accuracy;
    return OK;
}

RESOLVER(aggregate_resolve_percentile_approx)
{
    *out = call;
    struct aggregate_options *options = arena_new_object(ctx->arena, sizeof *options);
    call->aggregate.bound = options;
    if (call->arg_count == 2)
        call->args[call->arg_count++] = expr_literal_int(ctx->arena, 10000);
    const struct type *type = call->args[0]->type;
    bool fits = type_is_numeric(type) || type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP ||
                type->id == TYPE_TIMESTAMP_NTZ || type->id == TYPE_INTERVAL_DT ||
                type->id == TYPE_INTERVAL_YM;
    if (type->id == TYPE_STRING || type->id == TYPE_VOID) {
        type = type_simple(TYPE_DOUBLE);
        call->args[0] = coercion_cast(ctx, call->args[0], type);
    } else if (!fits) {
        return function_wrong_type(
            call, 0,
            "(\"NUMERIC\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"INTERVAL YEAR TO "
            "MONTH\" or \"INTERVAL DAY TO SECOND\")",
            err);
    }
    TRY(read_percents(ctx, call, 1, options, err));
    TRY(read_accuracy(ctx, call, options, err));
    aggregate_finish_call(call, result_of(ctx, type, options));
    return OK;
}

/* ---- states ---- */

static size_t set_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct value_set);
}

/* The argument that holds the values: the order key of ordered ones, else the first. */
static uint32_t value_index_of(const struct aggregate_update *update)
{
    return update->expr->aggregate.order_count > 0 ? update->expr->arg_count : 0;
}

static enum status negative_frequency(int64_t frequency, struct error *err)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)frequency);
    return error_set(err, STATUS_INTERNAL_ERROR, "Negative values found in percentile: %s", text);
}

struct counted {
    struct bytes value;
    uint64_t count; /* after sorting: of this value and all before it */
};

static int compare_counted(const void *a, const void *b)
{
    return bytes_compare(((const struct counted *)a)->value, ((const struct counted *)b)->value);
}

static enum status sorted_counts(struct arena *arena, const struct value_set *set,
                                 struct counted **out, struct error *err)
{
    void *memory;
    TRY(arena_alloc(arena, (size_t)set->list.count + 1, sizeof(struct counted), &memory, err));
    struct counted *counts = memory;
    uint32_t offset = 0;
    uint32_t n = 0;
    while (value_set_next(set, &offset, &counts[n].value, &counts[n].count))
        n++;
    qsort(counts, n, sizeof *counts, compare_counted);
    for (uint32_t i = 1; i < n; i++)
        counts[i].count += counts[i - 1].count;
    *out = counts;
    return OK;
}

/* Values that share a group stand for one another: `share` of all in one group. */
static enum status regroup(struct value_set *set, struct arena *arena, uint32_t groups,
                           struct error *err)
{
    struct arena *work = arena_new("batch", 0);
    struct counted *counts;
    struct value_set kept = {0};
    enum status status = sorted_counts(work, set, &counts, err);
    uint32_t n = set->list.count;
    uint64_t share = status == OK ? counts[n - 1].count / groups + 1 : 0;
    uint64_t done = 0;
    for (uint32_t i = 0; status == OK && i < n; i++) {
        if (counts[i].count - done < share && i + 1 < n)
            continue;
        status = value_set_add(&kept, work, counts[i].value, counts[i].count - done, err);
        done = counts[i].count;
    }
    set->list.size = 0;
    set->list.count = 0;
    memset(set->slots, 0, set->slot_count * sizeof *set->slots);
    uint32_t offset = 0;
    struct bytes value;
    uint64_t count;
    while (status == OK && value_set_next(&kept, &offset, &value, &count))
        status = value_set_add(set, arena, value, count, err);
    arena_free(work);
    return status;
}

/*
 * percentile_approx keeps at most about 20 times `accuracy` values: beyond that, neighbours are
 * put together in groups of a tenth of the error allowed (a group counts as its largest value, so
 * a rank is off by no more than the largest group).
 */
static enum status compress(const struct expr *expr, struct value_set *set, struct arena *arena,
                            struct error *err)
{
    if (expr->aggregate.aggregate->ops != &aggregate_percentile_approx)
        return OK;
    const struct aggregate_options *options = expr->aggregate.bound;
    uint64_t groups = (uint64_t)options->accuracy * 10;
    if (groups > UINT32_MAX / 4 || set->list.count < 2 * groups + 128)
        return OK;
    return regroup(set, arena, (uint32_t)groups, err);
}

static enum status percentile_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    TRY(values_of(update, value_index_of(update), true, &values, err));
    bool weighted = update->expr->aggregate.aggregate->ops == &aggregate_percentile &&
                    update->expr->arg_count == 3;
    for (uint32_t i = 0; i < update->selected; i++) {
        if (values[i].data == NULL)
            continue;
        uint32_t row = aggregate_row(update, i);
        int64_t count = 1;
        if (weighted) {
            if (aggregate_arg_is_null(update, 2, row))
                continue;
            count = AGGREGATE_ARG(int64_t, update, 2, row);
            if (count < 0)
                return negative_frequency(count, err);
        }
        struct value_set *set = (void *)aggregate_state(update, i);
        if (count > 0)
            TRY(value_set_add(set, update->arena, values[i], (uint64_t)count, err));
        TRY(compress(update->expr, set, update->arena, err));
    }
    return OK;
}

static enum status percentile_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                    const uint8_t *from, struct error *err)
{
    uint32_t offset = 0;
    struct bytes value;
    uint64_t count;
    while (value_set_next((const void *)from, &offset, &value, &count))
        TRY(value_set_add((void *)into, arena, value, count, err));
    return compress(expr, (void *)into, arena, err);
}

static void percentile_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    value_list_save(&((const struct value_set *)(const void *)state)->list, out);
}

static enum status percentile_load(const struct expr *expr, struct arena *arena, struct bytes in,
                                   uint8_t *state, struct error *err)
{
    (void)expr;
    return value_set_load((void *)state, arena, &in, err);
}

/* ---- results ---- */

/* The value at a position counted from 0. */
static uint32_t at_position(const struct counted *counts, uint32_t n, uint64_t position)
{
    uint32_t low = 0;
    uint32_t high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (counts[middle].count > position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double as_double(const struct vector *vector, uint32_t row)
{
    switch ((int)vector->type->id) {
    case TYPE_INTERVAL_YM:
        return VECTOR_VALUES(int32_t, vector)[row];
    case TYPE_INTERVAL_DT:
        return (double)VECTOR_VALUES(int64_t, vector)[row];
    default:
        return VECTOR_VALUES(double, vector)[row];
    }
}

static void store_double(struct vector *vector, uint32_t row, double value)
{
    switch ((int)vector->type->id) {
    case TYPE_INTERVAL_YM:
        VECTOR_VALUES(int32_t, vector)[row] = (int32_t)value;
        break;
    case TYPE_INTERVAL_DT:
        VECTOR_VALUES(int64_t, vector)[row] = (int64_t)value;
        break;
    default:
        VECTOR_VALUES(double, vector)[row] = value;
        break;
    }
}

enum percentile_kind {
    PERCENTILE_CONTINUOUS,
    PERCENTILE_DISCRETE,
    PERCENTILE_RANK, /* approx: the value of rank ceil(p * n) */
};

static double interpolated(const struct counted *counts, uint32_t n, double percent,
                           const struct vector *values)
{
    double position = (double)(counts[n - 1].count - 1) * percent;
    double lower = floor(position);
    double higher = ceil(position);
    uint32_t low = at_position(counts, n, (uint64_t)lower);
    uint32_t high = at_position(counts, n, (uint64_t)higher);
    if (higher == lower || low == high)
        return as_double(values, low);
    return (higher - position) * as_double(values, low) +
           (position - lower) * as_double(values, high);
}

static uint32_t ranked(const struct counted *counts, uint32_t n, double percent)
{
    double rank = ceil((double)counts[n - 1].count * percent);
    return at_position(counts, n, rank < 1 ? 0 : (uint64_t)rank - 1);
}

/* Writes the results of one group at row `at` of `results`. */
static enum status group_results(const struct aggregate_update *call, const struct value_set *set,
                                 enum percentile_kind kind, struct vector *results, uint32_t at,
                                 struct error *err)
{
    const struct aggregate_options *options = call->expr->aggregate.bound;
    struct counted *counts;
    TRY(sorted_counts(call->ctx->arena, set, &counts, err));
    uint32_t n = set->list.count;
    struct bytes *keys = arena_new_object(call->ctx->arena, ((size_t)n + 1) * sizeof(struct bytes));
    for (uint32_t i = 0; i < n; i++)
        keys[i] = counts[i].value;
    const struct expr *value = call->expr->aggregate.order_count > 0
                                   ? call->expr->aggregate.order[0].expr
                                   : call->expr->args[0];
    struct vector *values;
    TRY(values_to_vector(call->ctx->arena, value->type, true, keys, n, &values, err));
    for (uint32_t k = 0; k < options->percent_count; k++) {
        double percent = options->reverse ? 1 - options->percents[k] : options->percents[k];
        if (kind == PERCENTILE_CONTINUOUS) {
            store_double(results, at + k, interpolated(counts, n, percent, values));
            continue;
        }
        uint32_t place = ranked(counts, n, percent);
        size_t width = type_value_bytes(values->type);
        memcpy((uint8_t *)results->values + (at + k) * width,
               (uint8_t *)values->values + place * width, width);
    }
    return OK;
}

static enum status percentile_results(const struct aggregate_update *call, uint8_t *const *states,
                                      uint32_t count, enum percentile_kind kind, struct vector *out,
                                      struct error *err)
{
    const struct aggregate_options *options = call->expr->aggregate.bound;
    struct vector *results = out;
    uint32_t width = options->percent_count;
    if (options->percent_list) {
        TRY(vector_new(call->ctx->arena, out->type->element, count * width, &results, err));
        out->children[0] = results;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct value_set *set = (const void *)states[i];
        if (options->percent_list)
            VECTOR_VALUES(struct list_entry, out)
        [i] = (struct list_entry){.offset = i * width, .length = set->list.count == 0 ? 0 : width};
        if (set->list.count == 0)
            TRY(aggregate_set_null(call, out, i, err));
        else
            TRY(group_results(call, set, kind, results, i * width, err));
    }
    return OK;
}

static enum status continuous_finish(const struct aggregate_update *call, uint8_t *const *states,
                                     uint32_t count, struct vector *out, struct error *err)
{
    return percentile_results(call, states, count, PERCENTILE_CONTINUOUS, out, err);
}

static enum status discrete_finish(const struct aggregate_update *call, uint8_t *const *states,
                                   uint32_t count, struct vector *out, struct error *err)
{
    return percentile_results(call, states, count, PERCENTILE_DISCRETE, out, err);
}

static enum status rank_finish(const struct aggregate_update *call, uint8_t *const *states,
                               uint32_t count, struct vector *out, struct error *err)
{
    return percentile_results(call, states, count, PERCENTILE_RANK, out, err);
}

const struct aggregate_ops aggregate_percentile = {
    .state_bytes = set_bytes,
    .update = percentile_update,
    .merge = percentile_merge,
    .finish = continuous_finish,
    .save = percentile_save,
    .load = percentile_load,
};

const struct aggregate_ops aggregate_percentile_disc = {
    .state_bytes = set_bytes,
    .update = percentile_update,
    .merge = percentile_merge,
    .finish = discrete_finish,
    .save = percentile_save,
    .load = percentile_load,
};

const struct aggregate_ops aggregate_percentile_approx = {
    .state_bytes = set_bytes,
    .update = percentile_update,
    .merge = percentile_merge,
    .finish = rank_finish,
    .save = percentile_save,
    .load = percentile_load,
};
