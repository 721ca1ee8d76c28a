/* min, max, first, last, any_value, max_by, min_by. */
#include "base/check.h"
#include "expr/aggregate_impl.h"
#include "expr/program.h"

#include <math.h>

/* ---- min, max: fixed-width cells in place, others as row keys, whose order is SQL's ---- */

struct cell_state {
    uint64_t cell[2];
    uint64_t set;
};

static bool is_cell(const struct expr *expr)
{
    return value_width(expr->args[0]->type) > 0;
}

static size_t extreme_bytes(const struct expr *expr)
{
    return is_cell(expr) ? sizeof(struct cell_state) : sizeof(struct value_box);
}

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)isnan(a) - (int)isnan(b);
    return (a > b) - (a < b);
}

#define COMPARE_AS(T)                                                                              \
    do {                                                                                           \
        T x, y;                                                                                    \
        memcpy(&x, a, sizeof x);                                                                   \
        memcpy(&y, b, sizeof y);                                                                   \
        return (x > y) - (x < y);                                                                  \
    } while (0)

static int compare_cells(const struct type *type, const void *a, const void *b)
{
    switch ((int)type->id) {
    case TYPE_BOOLEAN:
        COMPARE_AS(uint8_t);
    case TYPE_BYTE:
        COMPARE_AS(int8_t);
    case TYPE_SHORT:
        COMPARE_AS(int16_t);
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        COMPARE_AS(int32_t);
    case TYPE_FLOAT: {
        float x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return compare_doubles((double)x, (double)y);
    }
    case TYPE_DOUBLE: {
        double x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return compare_doubles(x, y);
    }
    case TYPE_DECIMAL:
        COMPARE_AS(int128);
    default:
        COMPARE_AS(int64_t);
    }
}

static void offer_cell(const struct type *type, struct cell_state *state, const void *cell,
                       uint32_t width, int sign)
{
    if (state->set == 0 || sign * compare_cells(type, cell, state->cell) > 0) {
        state->set = 1;
        memcpy(state->cell, cell, width);
    }
}

static enum status offer_key(struct value_box *box, struct arena *arena, struct bytes key, int sign,
                             struct error *err)
{
    if (box->set && sign * bytes_compare(key, bytes_of(box->data, box->size)) <= 0)
        return OK;
    return value_box_set(box, arena, key, err);
}

static enum status extreme_update(const struct aggregate_update *update, int sign,
                                  struct error *err)
{
    const struct vector *arg = update->args[0];
    uint32_t width = value_width(arg->type);
    if (arg->type->id == TYPE_VOID)
        return OK;
    if (width > 0) {
        const uint8_t *cells = arg->values;
        for (uint32_t i = 0; i < update->selected; i++) {
            uint32_t row = aggregate_row(update, i);
            if (!vector_is_null(arg, row))
                offer_cell(arg->type, (void *)aggregate_state(update, i),
                           cells + (size_t)vector_index(arg, row) * width, width, sign);
        }
        return OK;
    }
    struct bytes *keys;
    TRY(values_of(update, 0, false, &keys, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        if (keys[i].data != NULL)
            TRY(offer_key((void *)aggregate_state(update, i), update->arena, keys[i], sign, err));
    }
    return OK;
}

static enum status max_update(const struct aggregate_update *update, struct error *err)
{
    return extreme_update(update, 1, err);
}

static enum status min_update(const struct aggregate_update *update, struct error *err)
{
    return extreme_update(update, -1, err);
}

static enum status extreme_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                 const uint8_t *from, int sign, struct error *err)
{
    const struct type *type = expr->args[0]->type;
    if (is_cell(expr)) {
        const struct cell_state *other = (const void *)from;
        if (other->set != 0)
            offer_cell(type, (void *)into, other->cell, value_width(type), sign);
        return OK;
    }
    const struct value_box *other = (const void *)from;
    if (!other->set)
        return OK;
    return offer_key((void *)into, arena, bytes_of(other->data, other->size), sign, err);
}

static enum status max_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                             const uint8_t *from, struct error *err)
{
    return extreme_merge(expr, arena, into, from, 1, err);
}

static enum status min_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                             const uint8_t *from, struct error *err)
{
    return extreme_merge(expr, arena, into, from, -1, err);
}

static enum status new_values(const struct aggregate_update *call, uint32_t count,
                              struct bytes **out, struct error *err)
{
    void *memory;
    TRY(arena_alloc(call->ctx->arena, (size_t)count + 1, sizeof(struct bytes), &memory, err));
    *out = memory;
    return OK;
}

static enum status store_values(const struct aggregate_update *call, const struct bytes *values,
                                uint32_t count, struct vector *out, struct error *err)
{
    const struct type *type = out->type;
    struct vector *vector;
    TRY(values_to_vector(call->ctx->arena, type, false, values, count, &vector, err));
    *out = *vector;
    out->type = type;
    return OK;
}

static enum status extreme_finish(const struct aggregate_update *call, uint8_t *const *states,
                                  uint32_t count, struct vector *out, struct error *err)
{
    struct bytes *values;
    TRY(new_values(call, count, &values, err));
    for (uint32_t i = 0; i < count; i++) {
        if (is_cell(call->expr)) {
            const struct cell_state *state = (const void *)states[i];
            if (state->set != 0)
                values[i] = bytes_of(state->cell, value_width(out->type));
        } else {
            const struct value_box *box = (const void *)states[i];
            if (box->set)
                values[i] = bytes_of(box->data, box->size);
        }
    }
    return store_values(call, values, count, out, err);
}

static void extreme_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    if (is_cell(expr))
        aggregate_save_plain(expr, state, out);
    else
        value_box_save((const void *)state, out);
}

static enum status extreme_load(const struct expr *expr, struct arena *arena, struct bytes in,
                                uint8_t *state, struct error *err)
{
    if (is_cell(expr))
        return aggregate_load_plain(expr, arena, in, state, err);
    return value_box_load((void *)state, arena, &in, err);
}

const struct aggregate_ops aggregate_max = {
    .state_bytes = extreme_bytes,
    .update = max_update,
    .merge = max_merge,
    .finish = extreme_finish,
    .save = extreme_save,
    .load = extreme_load,
};

const struct aggregate_ops aggregate_min = {
    .state_bytes = extreme_bytes,
    .update = min_update,
    .merge = min_merge,
    .finish = extreme_finish,
    .save = extreme_save,
    .load = extreme_load,
};

/* ---- first, last ---- */

RESOLVER(aggregate_resolve_first)
{
    *out = call;
    if (call->arg_count == 2) {
        struct vector *flag;
        if (call->args[1]->type->id != TYPE_BOOLEAN || !expr_is_foldable(call->args[1]))
            return error_raise_at(err, STATUS__LEGACY_ERROR_TEMP_1210, call->position,
                                  call->position_end, "funcName", call->aggregate.name, NULL);
        TRY(expr_constant(ctx->arena, call->args[1], ctx->time_zone, &flag, err));
        call->aggregate.ignore_nulls |=
            !vector_is_null(flag, 0) && *VECTOR_VALUES(uint8_t, flag) != 0;
        call->arg_count = 1;
    }
    /* first_value(x) IGNORE NULLS prints as first(x) */
    if (call->aggregate.ignore_nulls && strcmp(call->aggregate.name, "first_value") == 0)
        call->aggregate.name = "first";
    if (call->aggregate.ignore_nulls && strcmp(call->aggregate.name, "last_value") == 0)
        call->aggregate.name = "last";
    aggregate_finish_call(call, call->args[0]->type);
    return OK;
}

static size_t box_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct value_box);
}

static enum status first_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    TRY(values_of(update, 0, false, &values, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        struct value_box *box = (void *)aggregate_state(update, i);
        if (box->set || (values[i].data == NULL && update->expr->aggregate.ignore_nulls))
            continue;
        TRY(value_box_set(box, update->arena, values[i], err));
    }
    return OK;
}

static enum status last_update(const struct aggregate_update *update, struct error *err)
{
    struct bytes *values;
    TRY(values_of(update, 0, false, &values, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        if (values[i].data == NULL && update->expr->aggregate.ignore_nulls)
            continue;
        TRY(value_box_set((void *)aggregate_state(update, i), update->arena, values[i], err));
    }
    return OK;
}

static struct bytes box_value(const struct value_box *box)
{
    return box->null ? (struct bytes){0} : bytes_of(box->data, box->size);
}

static enum status first_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                               const uint8_t *from, struct error *err)
{
    (void)expr;
    struct value_box *box = (void *)into;
    const struct value_box *other = (const void *)from;
    if (box->set || !other->set)
        return OK;
    return value_box_set(box, arena, box_value(other), err);
}

static enum status last_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                              const uint8_t *from, struct error *err)
{
    (void)expr;
    const struct value_box *other = (const void *)from;
    if (!other->set)
        return OK;
    return value_box_set((void *)into, arena, box_value(other), err);
}

static enum status box_finish(const struct aggregate_update *call, uint8_t *const *states,
                              uint32_t count, struct vector *out, struct error *err)
{
    struct bytes *values;
    TRY(new_values(call, count, &values, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct value_box *box = (const void *)states[i];
        if (box->set)
            values[i] = box_value(box);
    }
    return store_values(call, values, count, out, err);
}

static void box_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    value_box_save((const void *)state, out);
}

static enum status box_load(const struct expr *expr, struct arena *arena, struct bytes in,
                            uint8_t *state, struct error *err)
{
    (void)expr;
    return value_box_load((void *)state, arena, &in, err);
}

const struct aggregate_ops aggregate_first = {
    .state_bytes = box_bytes,
    .update = first_update,
    .merge = first_merge,
    .finish = box_finish,
    .save = box_save,
    .load = box_load,
};

const struct aggregate_ops aggregate_last = {
    .state_bytes = box_bytes,
    .update = last_update,
    .merge = last_merge,
    .finish = box_finish,
    .save = box_save,
    .load = box_load,
};

/* ---- max_by, min_by: of equal keys the later row wins, as in Spark ---- */

struct by_state {
    struct value_box key;
    struct value_box value;
};

static size_t by_bytes(const struct expr *expr)
{
    (void)expr;
    return sizeof(struct by_state);
}

static enum status offer_by(struct by_state *state, struct arena *arena, struct bytes key,
                            struct bytes value, int sign, struct error *err)
{
    if (state->key.set && sign * bytes_compare(key, bytes_of(state->key.data, state->key.size)) < 0)
        return OK;
    TRY(value_box_set(&state->key, arena, key, err));
    return value_box_set(&state->value, arena, value, err);
}

static enum status by_update(const struct aggregate_update *update, int sign, struct error *err)
{
    struct bytes *values;
    struct bytes *keys;
    TRY(values_of(update, 0, false, &values, err));
    TRY(values_of(update, 1, true, &keys, err));
    for (uint32_t i = 0; i < update->selected; i++) {
        if (keys[i].data != NULL)
            TRY(offer_by((void *)aggregate_state(update, i), update->arena, keys[i], values[i],
                         sign, err));
    }
    return OK;
}

static enum status max_by_update(const struct aggregate_update *update, struct error *err)
{
    return by_update(update, 1, err);
}

static enum status min_by_update(const struct aggregate_update *update, struct error *err)
{
    return by_update(update, -1, err);
}

static enum status by_merge(struct arena *arena, uint8_t *into, const uint8_t *from, int sign,
                            struct error *err)
{
    const struct by_state *other = (const void *)from;
    if (!other->key.set)
        return OK;
    return offer_by((void *)into, arena, bytes_of(other->key.data, other->key.size),
                    box_value(&other->value), sign, err);
}

static enum status max_by_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                const uint8_t *from, struct error *err)
{
    (void)expr;
    return by_merge(arena, into, from, 1, err);
}

static enum status min_by_merge(const struct expr *expr, struct arena *arena, uint8_t *into,
                                const uint8_t *from, struct error *err)
{
    (void)expr;
    return by_merge(arena, into, from, -1, err);
}

static enum status by_finish(const struct aggregate_update *call, uint8_t *const *states,
                             uint32_t count, struct vector *out, struct error *err)
{
    struct bytes *values;
    TRY(new_values(call, count, &values, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct by_state *state = (const void *)states[i];
        if (state->key.set)
            values[i] = box_value(&state->value);
    }
    return store_values(call, values, count, out, err);
}

static void by_save(const struct expr *expr, const uint8_t *state, struct buffer *out)
{
    (void)expr;
    const struct by_state *by = (const void *)state;
    value_box_save(&by->key, out);
    value_box_save(&by->value, out);
}

static enum status by_load(const struct expr *expr, struct arena *arena, struct bytes in,
                           uint8_t *state, struct error *err)
{
    (void)expr;
    struct by_state *by = (void *)state;
    TRY(value_box_load(&by->key, arena, &in, err));
    return value_box_load(&by->value, arena, &in, err);
}

const struct aggregate_ops aggregate_max_by = {
    .state_bytes = by_bytes,
    .update = max_by_update,
    .merge = max_by_merge,
    .finish = by_finish,
    .save = by_save,
    .load = by_load,
};

const struct aggregate_ops aggregate_min_by = {
    .state_bytes = by_bytes,
    .update = min_by_update,
    .merge = min_by_merge,
    .finish = by_finish,
    .save = by_save,
    .load = by_load,
};
