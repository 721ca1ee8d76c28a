/*
 * Only comparisons of the form
 *
 *     [CAST](time) [+ or - a fixed length]  <op>  [CAST](time) [+ or - a fixed length]
 *
 * are bounds; each side names one column.  Month intervals have no fixed length; other functions of
 * a time are not looked through.
 */
#include "analyze/check_join.h"

#include "expr/function.h"

#include <ctype.h>
#include <string.h>

/* The column behind a sum of a column and constants; NULL if it is something else. */
static const struct expr *time_column(const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN)
        return expr;
    if (expr->kind == EXPR_CAST)
        return expr->type->id == TYPE_LONG || expr->type->id == TYPE_TIMESTAMP ||
                       expr->type->id == TYPE_DOUBLE || expr->type->id == TYPE_DECIMAL
                   ? time_column(expr->args[0])
                   : NULL;
    if (expr->kind != EXPR_CALL || expr->arg_count < 2)
        return NULL;
    const char *name = expr->call.function->name;
    bool plus = strcmp(name, "+") == 0, minus = strcmp(name, "-") == 0;
    if ((expr->call.function->flags & FUNCTION_REPLACED) != 0)
        return time_column(expr->args[expr->arg_count - 1]);
    if (!plus && !minus && strcmp(name, "timestampadd") != 0 && !strstr(name, "interval"))
        return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const struct expr *constant = expr->args[1 - i];
        if (minus && i == 1)
            return NULL;
        if (!expr_is_foldable(constant) || constant->type->id == TYPE_INTERVAL_YM ||
            constant->type->id == TYPE_INTERVAL)
            continue;
        return time_column(expr->args[i]);
    }
    return NULL;
}

static const struct attribute *attribute_of(const struct logical_node *node,
                                            const struct expr *column)
{
    return column == NULL ? NULL : logical_find_output(node, column->column.attribute_id, NULL);
}

/* greater >= lesser: a bound from below for the side of `greater`. */
static bool is_bound(const struct logical_node *join, uint32_t preserved,
                     const struct expr *greater, const struct expr *lesser)
{
    const struct attribute *time = attribute_of(join->children[preserved], time_column(greater));
    const struct attribute *event =
        attribute_of(join->children[1 - preserved], time_column(lesser));
    return time != NULL && event != NULL && event->event_time &&
           (time->type->id == TYPE_TIMESTAMP || time->type->id == TYPE_STRUCT);
}

static bool bounds(const struct logical_node *join, uint32_t preserved, const struct expr *expr)
{
    if (expr->kind != EXPR_CALL)
        return false;
    if ((expr->call.function->flags & FUNCTION_REPLACED) != 0)
        return bounds(join, preserved, expr->args[expr->arg_count - 1]);
    const char *name = expr->call.function->name;
    if (strcmp(name, "and") == 0)
        return bounds(join, preserved, expr->args[0]) || bounds(join, preserved, expr->args[1]);
    if (strcmp(name, ">") == 0 || strcmp(name, ">=") == 0)
        return is_bound(join, preserved, expr->args[0], expr->args[1]);
    if (strcmp(name, "<") == 0 || strcmp(name, "<=") == 0)
        return is_bound(join, preserved, expr->args[1], expr->args[0]);
    return false;
}

bool join_bounds_side(const struct logical_node *join, uint32_t preserved)
{
    return join->join.condition != NULL && bounds(join, preserved, join->join.condition);
}

static const struct attribute *side_attribute(const struct logical_node *join,
                                              const struct expr *expr, uint32_t *side)
{
    if (expr->kind != EXPR_COLUMN)
        return NULL;
    for (*side = 0; *side < 2; ++*side) {
        const struct attribute *found = attribute_of(join->children[*side], expr);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static bool event_key(const struct logical_node *join, const struct expr *expr)
{
    if (expr->kind != EXPR_CALL || expr->arg_count != 2)
        return false;
    const char *name = expr->call.function->name;
    if (strcmp(name, "and") == 0)
        return event_key(join, expr->args[0]) || event_key(join, expr->args[1]);
    if (strcmp(name, "=") != 0 && strcmp(name, "<=>") != 0)
        return false;
    uint32_t side_a = 0, side_b = 0;
    const struct attribute *a = side_attribute(join, expr->args[0], &side_a);
    const struct attribute *b = side_attribute(join, expr->args[1], &side_b);
    if (a == NULL || b == NULL || side_a == side_b)
        return false;
    return a->event_time || b->event_time;
}

bool join_has_event_key(const struct logical_node *join)
{
    return join->join.condition != NULL && event_key(join, join->join.condition);
}

/* ---- texts ---- */

void add_sql_name(struct buffer *text, const char *name)
{
    bool plain = name[0] != '\0' && !isdigit((unsigned char)name[0]);
    for (const char *at = name; plain && *at != '\0'; at++)
        plain = isalnum((unsigned char)*at) || *at == '_';
    if (plain) {
        buffer_add_text(text, name);
        return;
    }
    buffer_add_byte(text, '`');
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '`')
            buffer_add_byte(text, '`');
        buffer_add_byte(text, (uint8_t)*at);
    }
    buffer_add_byte(text, '`');
}

/* join.c has taken the first column of each side that the watermark stands on. */
void say_join_bound(const struct logical_node *join, struct buffer *text)
{
    const char *left = join->join.times[0], *right = join->join.times[1];
    if (left == NULL || right == NULL || join->join.windows[0] != join->join.windows[1])
        return;
    if (join->join.windows[0])
        buffer_printf(text, ". Say in ON that the two windows are equal, as in %s = %s", left,
                      right);
    else
        buffer_printf(text,
                      ". Say in ON how far apart the two times may be, as in %s BETWEEN %s AND "
                      "%s + INTERVAL 10 MINUTES",
                      right, left, left);
}
