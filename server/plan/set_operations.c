/*
 * EXCEPT of a stream and a table, as Spark runs it.
 *
 * EXCEPT is an anti join, then DISTINCT.  EXCEPT ALL counts: rows of the left are +1 and rows of
 * the right -1, the sum by all columns is how often a row comes out.  Over a stream the sums are
 * the state of an aggregation and the table is read, and counted, anew in every batch.
 */
#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/cast.h"
#include "plan/rewrite.h"

#include <string.h>

static enum status same_columns(struct rewriter *rewriter, const struct logical_node *left,
                                const struct logical_node *right, struct expr **out,
                                struct error *err)
{
    struct expr_set parts = {0};
    for (uint32_t i = 0; i < left->output_count; i++) {
        struct expr *same;
        TRY(function_resolve_2(&rewriter->functions, "<=>",
                               attribute_expr(rewriter->arena, left->output[i]),
                               attribute_expr(rewriter->arena, right->output[i]), &same, err));
        expr_set_add(rewriter->arena, &parts, same);
    }
    *out = conjunction(rewriter, parts.items, parts.count);
    return OK;
}

static enum status rewrite_except(struct rewriter *rewriter, const struct logical_node *node,
                                  struct logical_node **out, struct error *err)
{
    struct arena *arena = rewriter->arena;
    struct logical_node *left = node->children[0];
    struct logical_node *join = logical_new(arena, LOGICAL_JOIN, node->children, 2);
    TRY(same_columns(rewriter, left, node->children[1], &join->join.condition, err));
    join->join.kind = LOGICAL_JOIN_LEFT_ANTI;
    join->output = left->output;
    join->output_count = left->output_count;
    struct logical_node *distinct = logical_over(arena, LOGICAL_DISTINCT, join);
    struct expr **exprs = arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++)
        exprs[i] = attribute_expr(arena, left->output[i]);
    *out = logical_project(arena, distinct, exprs, node->output, node->output_count);
    return OK;
}

/* ---- EXCEPT ALL ---- */

/* The child with a count of its rows before its columns. */
static struct logical_node *counted(struct rewriter *rewriter, struct logical_node *child,
                                    int64_t count)
{
    struct arena *arena = rewriter->arena;
    uint32_t width = child->output_count + 1;
    struct expr **exprs = arena_new_object(arena, width * sizeof(struct expr *));
    struct attribute **output = arena_new_object(arena, width * sizeof(struct attribute *));
    exprs[0] = expr_literal_long(arena, count);
    output[0] = attribute_new(arena, rewriter->next_id++, "vcol", exprs[0]->type, false);
    for (uint32_t i = 0; i < child->output_count; i++) {
        exprs[i + 1] = attribute_expr(arena, child->output[i]);
        output[i + 1] = child->output[i];
    }
    return logical_project(arena, child, exprs, output, width);
}

static struct attribute *copy_attribute(struct rewriter *rewriter, const struct attribute *from)
{
    struct attribute *copy =
        attribute_new(rewriter->arena, rewriter->next_id++, from->name, from->type, from->nullable);
    copy->is_window = from->is_window;
    copy->event_time = from->event_time;
    copy->delay_us = from->delay_us;
    copy->watermark_id = from->watermark_id;
    return copy;
}

/* Both sides, counted, under columns of their own. */
static struct logical_node *count_sides(struct rewriter *rewriter, const struct logical_node *node)
{
    struct arena *arena = rewriter->arena;
    struct logical_node *sides[2] = {
        counted(rewriter, node->children[0], 1),
        counted(rewriter, node->children[1], -1),
    };
    struct logical_node *both = logical_new(arena, LOGICAL_UNION, sides, 2);
    both->output_count = sides[0]->output_count;
    both->output = arena_new_object(arena, both->output_count * sizeof(struct attribute *));
    for (uint32_t i = 0; i < both->output_count; i++) {
        both->output[i] = copy_attribute(rewriter, sides[0]->output[i]);
        both->output[i]->nullable = sides[0]->output[i]->nullable || sides[1]->output[i]->nullable;
    }
    return both;
}

/* sum(vcol) by all other columns; the sum is the last column. */
static enum status sum_counts(struct rewriter *rewriter, struct logical_node *both,
                              struct logical_node **out, struct error *err)
{
    struct arena *arena = rewriter->arena;
    uint32_t keys = both->output_count - 1;
    struct logical_node *sums = logical_over(arena, LOGICAL_AGGREGATE, both);
    struct expr *vcol = attribute_expr(arena, both->output[0]);
    struct aggregate_call request = {
        .name = "sum", .args = &vcol, .arg_count = 1, .position = -1, .position_end = -1};
    struct expr **sum = arena_new_object(arena, sizeof(struct expr *));
    TRY(aggregate_resolve(&rewriter->functions, &request, sum, err));
    (*sum)->aggregate.result_id = rewriter->next_id++;
    sums->aggregate.keys = arena_new_object(arena, (keys + 1) * sizeof(struct expr *));
    sums->aggregate.key_count = keys;
    sums->aggregate.aggregates = sum;
    sums->aggregate.aggregate_count = 1;
    sums->output = arena_new_object(arena, (keys + 1) * sizeof(struct attribute *));
    sums->output_count = keys + 1;
    for (uint32_t i = 0; i < keys; i++) {
        sums->aggregate.keys[i] = attribute_expr(arena, both->output[i + 1]);
        sums->output[i] = copy_attribute(rewriter, both->output[i + 1]);
    }
    sums->output[keys] =
        attribute_new(arena, (*sum)->aggregate.result_id, "sum", (*sum)->type, (*sum)->nullable);
    *out = sums;
    return OK;
}

/* Each row as often as its last column says. */
static enum status repeat_rows(struct rewriter *rewriter, struct logical_node *sums,
                               struct logical_node **out, struct error *err)
{
    struct arena *arena = rewriter->arena;
    struct resolve_context *ctx = &rewriter->functions;
    struct expr *sum = attribute_expr(arena, sums->output[sums->output_count - 1]);
    struct expr *some, *times, *list, *each;
    TRY(function_resolve_2(ctx, ">", sum, expr_literal_long(arena, 0), &some, err));
    TRY(cast_resolve(ctx, sum, type_simple(TYPE_INT), false, &times, err));
    TRY(function_resolve_2(ctx, "array_repeat", expr_literal_boolean(arena, true), times, &list,
                           err));
    TRY(function_resolve_1(ctx, "explode", list, &each, err));
    struct logical_node *rows =
        logical_over(arena, LOGICAL_GENERATE, logical_filter(arena, sums, some));
    rows->generate.generator = each;
    rows->output = arena_new_object(arena, (sums->output_count + 1) * sizeof(struct attribute *));
    memcpy(rows->output, sums->output, sums->output_count * sizeof(struct attribute *));
    rows->output[sums->output_count] =
        attribute_new(arena, rewriter->next_id++, "col", each->type->fields[0].type, false);
    rows->output_count = sums->output_count + 1;
    *out = rows;
    return OK;
}

static enum status rewrite_except_all(struct rewriter *rewriter, const struct logical_node *node,
                                      struct logical_node **out, struct error *err)
{
    struct arena *arena = rewriter->arena;
    struct logical_node *sums, *rows;
    TRY(sum_counts(rewriter, count_sides(rewriter, node), &sums, err));
    TRY(repeat_rows(rewriter, sums, &rows, err));
    struct expr **exprs = arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++)
        exprs[i] = attribute_expr(arena, sums->output[i]);
    *out = logical_project(arena, rows, exprs, node->output, node->output_count);
    return OK;
}

enum status rewrite_set_operations(struct rewriter *rewriter, struct logical_node *node,
                                   struct logical_node **out, struct error *err)
{
    struct logical_node *copy = copy_node(rewriter, node);
    for (uint32_t i = 0; i < copy->child_count; i++)
        TRY(rewrite_set_operations(rewriter, copy->children[i], &copy->children[i], err));
    *out = copy;
    if (copy->kind != LOGICAL_SET_OPERATION || copy->set_operation.is_intersect || !copy->streaming)
        return OK;
    return copy->set_operation.all ? rewrite_except_all(rewriter, copy, out, err)
                                   : rewrite_except(rewriter, copy, out, err);
}
