/*
 * See event_time.h.
 */
#include "exec/event_time.h"

#include "base/check.h"

#include <string.h>

struct search {
    const struct plan_node *node;
    bool found;
};

static bool mentions_time(const struct expr *expr, void *arg)
{
    struct search *search = arg;
    if (expr->kind == EXPR_COLUMN && event_time_is(search->node, expr->column.ordinal))
        search->found = true;
    return !search->found;
}

/* The column itself, or a window STRUCT<start, end> computed of it. */
bool event_time_is_expr(const struct plan_node *node, const struct expr *expr)
{
    const struct type *type = expr->type;
    if (expr->kind == EXPR_COLUMN)
        return event_time_is(node, expr->column.ordinal);
    if (type->id != TYPE_STRUCT || type->field_count != 2 ||
        type->fields[0].type->id != TYPE_TIMESTAMP || type->fields[1].type->id != TYPE_TIMESTAMP)
        return false;
    struct search search = {.node = node};
    expr_walk(expr, mentions_time, &search);
    return search.found;
}

bool event_time_is(const struct plan_node *node, int ordinal)
{
    if (ordinal < 0)
        return false;
    switch (node->kind) {
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_EXPAND:
    case PLAN_SET_OPERATION:
        return false;
    case PLAN_WATERMARK:
        return ordinal == node->watermark.column || event_time_is(node->children[0], ordinal);
    case PLAN_PROJECT:
        return event_time_is_expr(node->children[0], node->project.exprs[ordinal]);
    case PLAN_AGGREGATE:
        return ordinal == node->aggregate.event_time_key;
    case PLAN_JOIN: {
        int width = (int)node->children[0]->schema->field_count;
        return ordinal < width ? event_time_is(node->children[0], ordinal)
                               : event_time_is(node->children[1], ordinal - width);
    }
    case PLAN_FILTER:
    case PLAN_UNION:
    case PLAN_LIMIT:
    case PLAN_SORT:
    case PLAN_DEDUP:
    case PLAN_GENERATE:
    case PLAN_WINDOW:
    case PLAN_SESSION:
        if (ordinal >= (int)node->children[0]->schema->field_count)
            return node->kind == PLAN_SESSION &&
                   event_time_is_expr(node->children[0], node->session.event_time);
        return event_time_is(node->children[0], ordinal);
    }
    return false;
}

static int in_projection(const struct plan_node *node, int below)
{
    for (uint32_t i = 0; below >= 0 && i < node->schema->field_count; i++) {
        const struct expr *expr = node->project.exprs[i];
        if (expr->kind == EXPR_COLUMN && expr->column.ordinal == below)
            return (int)i;
    }
    for (uint32_t i = 0; i < node->schema->field_count; i++)
        if (event_time_is_expr(node->children[0], node->project.exprs[i]))
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

uint32_t event_time_field(const struct type *type)
{
    CHECK(type->id == TYPE_STRUCT && type->field_count > 0);
    uint32_t i = type->field_count - 1; /* of a window the last, however it is called by now */
    if (i == 1 && type->fields[0].name[0] != 'e')
        return i;
    for (uint32_t j = type->field_count; j-- > 0;)
        if (strcmp(type->fields[j].name, "end") == 0)
            i = j;
    return i;
}

/* NOLINTNEXTLINE(misc-no-recursion): a struct and its field */
int64_t event_time_at(const struct vector *column, uint32_t row)
{
    if (vector_is_null(column, row))
        return EVENT_TIME_NONE;
    uint32_t at = vector_index(column, row);
    if (column->type->id == TYPE_STRUCT)
        return event_time_at(column->children[event_time_field(column->type)], at);
    return VECTOR_VALUES(const int64_t, column)[at];
}
