/*
 * See event_time.h.
 */
#include "exec/event_time.h"

#include "base/check.h"

static bool mentions(const struct expr *expr, void *arg)
{
    const int *ordinal = arg;
    return !(expr->kind == EXPR_COLUMN && expr->column.ordinal == *ordinal);
}

/* A window STRUCT<start, end> computed of the event time. */
static bool is_window_of(const struct expr *expr, int ordinal)
{
    const struct type *type = expr->type;
    return type->id == TYPE_STRUCT && type->field_count == 2 &&
           type->fields[0].type->id == TYPE_TIMESTAMP &&
           type->fields[1].type->id == TYPE_TIMESTAMP && !expr_walk(expr, mentions, &ordinal);
}

static int in_projection(const struct plan_node *node, int below)
{
    if (below < 0)
        return -1;
    for (uint32_t i = 0; i < node->schema->field_count; i++) {
        const struct expr *expr = node->project.exprs[i];
        if (expr->kind == EXPR_COLUMN && expr->column.ordinal == below)
            return (int)i;
    }
    for (uint32_t i = 0; i < node->schema->field_count; i++)
        if (is_window_of(node->project.exprs[i], below))
            return (int)i;
    return -1;
}

static int in_join(const struct plan_node *node)
{
    int left = event_time_ordinal(node->children[0]);
    if (left >= 0 || node->join.kind == JOIN_LEFT_SEMI || node->join.kind == JOIN_LEFT_ANTI ||
        node->join.kind == JOIN_EXISTENCE)
        return left;
    int right = event_time_ordinal(node->children[1]);
    return right < 0 ? -1 : right + (int)node->children[0]->schema->field_count;
}

int event_time_ordinal(const struct plan_node *node)
{
    switch (node->kind) {
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_EXPAND:
    case PLAN_SET_OPERATION:
        return -1;
    case PLAN_WATERMARK:
        return node->watermark.column;
    case PLAN_PROJECT:
        return in_projection(node, event_time_ordinal(node->children[0]));
    case PLAN_AGGREGATE:
        return node->aggregate.event_time_key;
    case PLAN_JOIN:
        return in_join(node);
    case PLAN_FILTER:
    case PLAN_UNION:
    case PLAN_LIMIT:
    case PLAN_SORT:
    case PLAN_DEDUP:
    case PLAN_GENERATE:
    case PLAN_WINDOW:
    case PLAN_SESSION:
        return event_time_ordinal(node->children[0]);
    }
    return -1;
}

int64_t event_time_delay_us(const struct plan_node *node)
{
    if (node->kind == PLAN_WATERMARK)
        return node->watermark.delay_us;
    for (uint32_t i = 0; i < node->child_count; i++) {
        int64_t delay_us = event_time_delay_us(node->children[i]);
        if (delay_us != 0)
            return delay_us;
    }
    return 0;
}

int64_t event_time_at(const struct vector *column, uint32_t row)
{
    if (vector_is_null(column, row))
        return EVENT_TIME_NONE;
    uint32_t at = vector_index(column, row);
    if (column->type->id == TYPE_STRUCT) {
        CHECK(column->child_count == 2);
        return event_time_at(column->children[1], at);
    }
    return VECTOR_VALUES(const int64_t, column)[at];
}
