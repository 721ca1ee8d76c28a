/*
 * See panes.h.
 */
#include "plan/panes.h"

#include "expr/aggregate.h"

#include <string.h>

/* Functions whose state is exact and knows no order, over any type but floating-point numbers. */
static const char *const exact_functions[] = {
    "count", "count_if", "sum",     "try_sum", "avg",    "try_avg", "min",
    "max",   "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "approx_count_distinct",
};

static bool is_floating(const struct type *type)
{
    return type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE;
}

/* Sums of floating-point numbers round, each order in its own way; their least and largest do
 * not. */
static bool is_exact(const struct expr *call)
{
    const struct aggregate *aggregate = call->aggregate.aggregate;
    bool sums = strstr(aggregate->name, "sum") != NULL || strstr(aggregate->name, "avg") != NULL;
    if ((aggregate->flags & AGGREGATE_ORDERED) != 0 || call->aggregate.order_count > 0 ||
        (sums && (call->arg_count != 1 || is_floating(call->args[0]->type) ||
                  (call->args[0]->type->id == TYPE_STRING))))
        return false;
    for (size_t i = 0; i < sizeof exact_functions / sizeof exact_functions[0]; i++)
        if (strcmp(aggregate->name, exact_functions[i]) == 0)
            return true;
    return false;
}

struct mention {
    uint32_t id;
    bool found;
};

static bool find_mention(const struct expr *expr, void *arg)
{
    struct mention *mention = arg;
    if (expr->kind == EXPR_COLUMN && expr->column.attribute_id == mention->id)
        mention->found = true;
    return !mention->found;
}

/* Whether an expression looks at the window, or gives another value for each row of a window. */
static bool minds(const struct expr *expr, uint32_t window)
{
    struct mention mention = {.id = window};
    expr_walk(expr, find_mention, &mention);
    return mention.found || !expr_is_deterministic(expr);
}

static bool is_column(const struct expr *expr, uint32_t id)
{
    return expr->kind == EXPR_COLUMN && expr->column.attribute_id == id;
}

/* The window's attribute behind the operators between it and the aggregate; false: one of them
 * looks at it. */
static bool pass_up(const struct logical_node *node, uint32_t *window)
{
    if (node->kind == LOGICAL_TIME_WINDOW) {
        *window = node->output[node->output_count - 1]->id;
        return true;
    }
    if ((node->kind != LOGICAL_PROJECT && node->kind != LOGICAL_FILTER) ||
        !pass_up(node->children[0], window))
        return false;
    if (node->kind == LOGICAL_FILTER)
        return !minds(node->filter.predicate, *window);
    uint32_t below = *window, passed = 0;
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (is_column(node->project.exprs[i], below)) {
            *window = node->output[i]->id;
            passed++;
        } else if (minds(node->project.exprs[i], below)) {
            return false;
        }
    }
    return passed == 1;
}

static bool find_key(const struct logical_node *aggregate, uint32_t window, uint32_t *key)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < aggregate->aggregate.key_count; i++) {
        if (is_column(aggregate->aggregate.keys[i], window)) {
            *key = i;
            found++;
        } else if (minds(aggregate->aggregate.keys[i], window)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < aggregate->aggregate.key_count; i++)
        if (aggregate->output[i]->event_time && i != *key)
            return false; /* the watermark closes groups by another key */
    return found == 1;
}

bool aggregates_are_exact(struct expr *const *aggregates, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_exact(aggregates[i]))
            return false;
    return true;
}

const struct logical_node *panes_below(const struct logical_node *aggregate, uint32_t *key)
{
    uint32_t window = 0;
    if (aggregate->kind != LOGICAL_AGGREGATE || !aggregate->streaming ||
        !aggregates_are_exact(aggregate->aggregate.aggregates,
                              aggregate->aggregate.aggregate_count) ||
        !pass_up(aggregate->children[0], &window) || !find_key(aggregate, window, key))
        return NULL;
    for (uint32_t i = 0; i < aggregate->aggregate.aggregate_count; i++) {
        const struct expr *call = aggregate->aggregate.aggregates[i];
        if (minds(call, window) ||
            (call->aggregate.filter != NULL && minds(call->aggregate.filter, window)))
            return NULL;
    }
    const struct logical_node *node = aggregate->children[0];
    while (node->kind != LOGICAL_TIME_WINDOW)
        node = node->children[0];
    return node->time_window.slide_us < node->time_window.size_us ? node : NULL;
}
