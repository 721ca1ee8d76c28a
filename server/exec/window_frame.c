#include "exec/window_frame.h"

#include "base/check.h"
#include "columnar/civil.h"
#include "expr/program.h"

/* ---- bounds ---- */

static int64_t integral_of(const struct vector *value)
{
    switch (value->type->id) {
    case TYPE_BYTE:
        return VECTOR_VALUES(int8_t, value)[0];
    case TYPE_SHORT:
        return VECTOR_VALUES(int16_t, value)[0];
    case TYPE_INT:
        return VECTOR_VALUES(int32_t, value)[0];
    default:
        return VECTOR_VALUES(int64_t, value)[0];
    }
}

static enum status bound_open(struct arena *query, const struct expr *bound, bool rows,
                              const char *time_zone, struct window_bound *out, struct error *err)
{
    *out = (struct window_bound){.unbounded = bound == NULL};
    if (bound == NULL)
        return OK;
    struct vector *value = NULL;
    TRY(expr_constant(query, bound, time_zone, &value, err));
    if (rows)
        out->rows = integral_of(value);
    else if (!(type_is_integral(value->type) && integral_of(value) == 0))
        out->offset = value;
    return OK;
}

enum status window_frame_open(struct arena *query, const struct expr *window, const char *time_zone,
                              struct window_frame_plan *out, struct error *err)
{
    CHECK(window->kind == EXPR_WINDOW);
    const struct window_frame *frame = &window->window.frame;
    *out = (struct window_frame_plan){.rows = frame->rows};
    if (window->window.order_count > 0)
        out->descending = window->window.order[0].descending;
    TRY(bound_open(query, frame->lower, frame->rows, time_zone, &out->lower, err));
    return bound_open(query, frame->upper, frame->rows, time_zone, &out->upper, err);
}

/* ---- RANGE with offsets: keys as numbers that can be added and compared ---- */

struct range_number {
    bool real;
    int128 whole;
    long double fraction;
};

static struct range_number number_of(const struct vector *vector, uint32_t row, int scale)
{
    uint32_t at = vector_index(vector, row);
    struct range_number out = {0};
    switch (vector->type->id) {
    case TYPE_BYTE:
        out.whole = VECTOR_VALUES(int8_t, vector)[at];
        break;
    case TYPE_SHORT:
        out.whole = VECTOR_VALUES(int16_t, vector)[at];
        break;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        out.whole = VECTOR_VALUES(int32_t, vector)[at];
        break;
    case TYPE_FLOAT:
        out = (struct range_number){.real = true,
                                    .fraction = (long double)VECTOR_VALUES(float, vector)[at]};
        return out;
    case TYPE_DOUBLE:
        out = (struct range_number){.real = true,
                                    .fraction = (long double)VECTOR_VALUES(double, vector)[at]};
        return out;
    case TYPE_DECIMAL:
        out.whole = VECTOR_VALUES(int128, vector)[at];
        scale -= vector->type->scale;
        break;
    default:
        out.whole = VECTOR_VALUES(int64_t, vector)[at];
        break;
    }
    for (; scale > 0; scale--)
        out.whole *= 10;
    return out;
}

static int compare_numbers(struct range_number a, struct range_number b)
{
    if (!a.real && !b.real)
        return (a.whole > b.whole) - (a.whole < b.whole);
    long double x = a.real ? a.fraction : (long double)a.whole;
    long double y = b.real ? b.fraction : (long double)b.whole;
    return (x > y) - (x < y);
}

static int scale_of(const struct vector *vector)
{
    CHECK(vector != NULL);
    return vector->type->id == TYPE_DECIMAL ? vector->type->scale : 0;
}

/* key[row] + offset, or - for a descending order. */
static struct range_number shifted(const struct window_frame_plan *frame, uint32_t row,
                                   const struct vector *offset, int scale)
{
    const struct vector *key = frame->key;
    struct range_number value = number_of(key, row, scale);
    struct range_number by = number_of(offset, 0, scale);
    if (frame->descending) {
        by.whole = -by.whole;
        by.fraction = -by.fraction;
    }
    bool months = offset->type->id == TYPE_INTERVAL_YM && key->type->id != TYPE_INTERVAL_YM;
    if (months && key->type->id == TYPE_DATE) {
        value.whole = civil_add_months((int64_t)value.whole, (int64_t)by.whole);
    } else if (months) {
        int64_t micros = (int64_t)value.whole;
        int64_t days = civil_floor_div(micros, CIVIL_DAY_US);
        value.whole = (int128)civil_add_months(days, (int64_t)by.whole) * CIVIL_DAY_US +
                      (micros - days * CIVIL_DAY_US);
    } else if (key->type->id == TYPE_DATE && offset->type->id == TYPE_INTERVAL_DT) {
        value.whole += by.whole / CIVIL_DAY_US;
    } else if (value.real || by.real) {
        long double x = value.real ? value.fraction : (long double)value.whole;
        long double y = by.real ? by.fraction : (long double)by.whole;
        value = (struct range_number){.real = true, .fraction = x + y};
    } else {
        value.whole += by.whole;
    }
    return value;
}

/* The first position of the partition whose key is not before (or, if `after`, is behind) the
 * bound; NULL keys are never inside a range with offsets. */
static uint32_t range_search(const struct window_frame_plan *frame, const struct window_rows *rows,
                             uint32_t position, const struct vector *offset, bool after)
{
    int scale = scale_of(frame->key) > scale_of(offset) ? scale_of(frame->key) : scale_of(offset);
    struct range_number bound = shifted(frame, rows->order[position], offset, scale);
    uint32_t low = rows->partition_begin[position];
    uint32_t high = rows->partition_end[position];
    while (low < high && vector_is_null(frame->key, rows->order[low]))
        low = rows->peers_end[low];
    while (low < high && vector_is_null(frame->key, rows->order[high - 1]))
        high = rows->peers_begin[high - 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_numbers(number_of(frame->key, rows->order[middle], scale), bound);
        if (frame->descending)
            order = -order;
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the frame of a row ---- */

static uint32_t clamp(int64_t position, uint32_t begin, uint32_t end)
{
    if (position < (int64_t)begin)
        return begin;
    return position > (int64_t)end ? end : (uint32_t)position;
}

void window_frame_at(const struct window_frame_plan *frame, const struct window_rows *rows,
                     uint32_t position, uint32_t *begin, uint32_t *end)
{
    uint32_t first = rows->partition_begin[position];
    uint32_t last = rows->partition_end[position];
    *begin = first;
    *end = last;
    if (frame->rows) {
        if (!frame->lower.unbounded)
            *begin = clamp((int64_t)position + frame->lower.rows, first, last);
        if (!frame->upper.unbounded)
            *end = clamp((int64_t)position + frame->upper.rows + 1, first, last);
        return;
    }
    bool null_key = frame->key != NULL && vector_is_null(frame->key, rows->order[position]);
    if (!frame->lower.unbounded)
        *begin = frame->lower.offset == NULL || null_key
                     ? rows->peers_begin[position]
                     : range_search(frame, rows, position, frame->lower.offset, false);
    if (!frame->upper.unbounded)
        *end = frame->upper.offset == NULL || null_key
                   ? rows->peers_end[position]
                   : range_search(frame, rows, position, frame->upper.offset, true);
}
