/*
 * See join_bounds.h.
 *
 * Of the condition only comparisons of the form
 *
 *     time [+ or - a fixed length]  <op>  other time [+ or - a fixed length]
 *
 * are bounds, casts between TIMESTAMP and seconds looked through.  `this > other + c` bounds this
 * side's time by watermark + c; `>=` by one millisecond less, since event time counts milliseconds.
 * Of several bounds the smallest holds.
 */
#include "exec/join_bounds.h"

#include "base/check.h"
#include "exec/event_time.h"
#include "exec/stateful.h"
#include "expr/function.h"

/* A column plus a number of microseconds. */
struct linear {
    int ordinal;
    int64_t offset_us;
};

static bool literal_us(const struct expr *expr, int64_t *out)
{
    if (expr->kind == EXPR_CAST)
        return literal_us(expr->args[0], out);
    if (expr->kind != EXPR_LITERAL || vector_is_null(expr->literal.value, 0))
        return false;
    const void *cell = expr->literal.value->values;
    int64_t seconds = 0;
    switch (expr->type->id) {
    case TYPE_INTERVAL_DT:
        *out = *(const int64_t *)cell;
        return true;
    case TYPE_INTERVAL: {
        const struct calendar_interval *interval = cell;
        int64_t day_us = 0;
        return interval->months == 0 &&
               !__builtin_mul_overflow((int64_t)interval->days, 86400000000, &day_us) &&
               !__builtin_add_overflow(day_us, interval->micros, out);
    }
    case TYPE_BYTE:
        seconds = *(const int8_t *)cell;
        break;
    case TYPE_SHORT:
        seconds = *(const int16_t *)cell;
        break;
    case TYPE_INT:
        seconds = *(const int32_t *)cell;
        break;
    case TYPE_LONG:
        seconds = *(const int64_t *)cell;
        break;
    default:
        return false;
    }
    return !__builtin_mul_overflow(seconds, 1000000, out);
}

static bool is_time_type(const struct type *type)
{
    return type->id == TYPE_TIMESTAMP || type->id == TYPE_LONG || type->id == TYPE_DOUBLE ||
           type->id == TYPE_DECIMAL;
}

static bool linear_of(const struct expr *expr, struct linear *out);

static bool linear_sum(const struct expr *expr, struct linear *out)
{
    const char *name = expr->call.function->name;
    bool plus = strcmp(name, "+") == 0 || strcmp(name, "timestamp + interval") == 0;
    bool minus = strcmp(name, "-") == 0 || strcmp(name, "timestamp - interval") == 0;
    int64_t us = 0;
    if (expr->arg_count != 2 || !(plus || minus))
        return false;
    if (literal_us(expr->args[1], &us) && linear_of(expr->args[0], out))
        return minus ? !__builtin_sub_overflow(out->offset_us, us, &out->offset_us)
                     : !__builtin_add_overflow(out->offset_us, us, &out->offset_us);
    return plus && literal_us(expr->args[0], &us) && linear_of(expr->args[1], out) &&
           !__builtin_add_overflow(out->offset_us, us, &out->offset_us);
}

static bool linear_of(const struct expr *expr, struct linear *out)
{
    if (expr->kind == EXPR_COLUMN) {
        *out = (struct linear){.ordinal = expr->column.ordinal};
        return true;
    }
    if (expr->kind == EXPR_CAST)
        return is_time_type(expr->type) && linear_of(expr->args[0], out);
    if (expr->kind != EXPR_CALL)
        return false;
    if ((expr->call.function->flags & FUNCTION_REPLACED) != 0)
        return linear_of(expr->args[expr->arg_count - 1], out);
    return linear_sum(expr, out);
}

struct bounds {
    int time[2]; /* event-time ordinals in left ++ right, -1: none */
    bool found[2];
    int64_t offset_us[2];
};

/* greater > lesser, or >= if not strict. */
static void add_comparison(struct bounds *bounds, const struct expr *greater,
                           const struct expr *lesser, bool strict)
{
    struct linear high;
    struct linear low;
    int64_t offset_us = 0;
    if (!linear_of(greater, &high) || !linear_of(lesser, &low) ||
        __builtin_sub_overflow(low.offset_us, high.offset_us, &offset_us))
        return;
    for (int side = 0; side < 2; side++) {
        if (high.ordinal != bounds->time[side] || low.ordinal != bounds->time[1 - side] ||
            high.ordinal < 0 || low.ordinal < 0)
            continue;
        offset_us -= strict ? 0 : 1000;
        if (!bounds->found[side] || offset_us < bounds->offset_us[side])
            bounds->offset_us[side] = offset_us;
        bounds->found[side] = true;
    }
}

static void add_condition(struct bounds *bounds, const struct expr *expr)
{
    if (expr->kind != EXPR_CALL)
        return;
    if ((expr->call.function->flags & FUNCTION_REPLACED) != 0) {
        add_condition(bounds, expr->args[expr->arg_count - 1]);
        return;
    }
    const char *name = expr->call.function->name;
    if (strcmp(name, "and") == 0) {
        for (uint32_t i = 0; i < expr->arg_count; i++)
            add_condition(bounds, expr->args[i]);
    } else if (strcmp(name, ">") == 0 || strcmp(name, ">=") == 0) {
        add_comparison(bounds, expr->args[0], expr->args[1], name[1] == '\0');
    } else if (strcmp(name, "<") == 0 || strcmp(name, "<=") == 0) {
        add_comparison(bounds, expr->args[1], expr->args[0], name[1] == '\0');
    }
}

void join_limits(const struct plan_node *join, struct join_limit limits[2])
{
    CHECK(join->kind == PLAN_JOIN && join->child_count == 2);
    int left = event_time_ordinal(join->children[0]);
    int right = event_time_ordinal(join->children[1]);
    limits[0] = limits[1] = (struct join_limit){.kind = JOIN_LIMIT_NONE};
    for (uint32_t k = 0; k < join->join.key_count; k++)
        if (event_time_is_expr(join->children[0], join->join.left_keys[k]) ||
            event_time_is_expr(join->children[1], join->join.right_keys[k])) {
            limits[0] = limits[1] = (struct join_limit){.kind = JOIN_LIMIT_KEY, .key = k};
            return;
        }
    int width = (int)join->children[0]->schema->field_count;
    struct bounds bounds = {.time = {left, right < 0 ? -1 : right + width}};
    if (join->join.condition != NULL)
        add_condition(&bounds, join->join.condition);
    int columns[2] = {left, right};
    for (int side = 0; side < 2; side++)
        if (bounds.found[side])
            limits[side] = (struct join_limit){
                .kind = JOIN_LIMIT_VALUE,
                .column = columns[side],
                .offset_us = bounds.offset_us[side],
            };
}

int64_t join_watermark_shift_us(const struct plan_node *node)
{
    int64_t shift_us = 0;
    for (uint32_t i = 0; i < node->child_count; i++) {
        int64_t below_us = join_watermark_shift_us(node->children[i]);
        if (below_us > shift_us)
            shift_us = below_us;
    }
    if (node->kind != PLAN_JOIN || !stateful_is_boundary(node))
        return shift_us;
    struct join_limit limits[2];
    int64_t own_us = 0;
    join_limits(node, limits);
    for (int side = 0; side < 2; side++)
        if (limits[side].kind == JOIN_LIMIT_VALUE && -limits[side].offset_us > own_us)
            own_us = -limits[side].offset_us;
    return shift_us + own_us;
}
