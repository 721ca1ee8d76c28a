#include "plan/rewrite.h"

#include "base/check.h"
#include "expr/program.h"

#include <string.h>

struct logical_node *copy_node(struct rewriter *rewriter, const struct logical_node *node)
{
    struct logical_node *copy = arena_new_object(rewriter->arena, sizeof *copy);
    *copy = *node;
    if (node->child_count > 0) {
        copy->children =
            arena_new_object(rewriter->arena, node->child_count * sizeof(struct logical_node *));
        memcpy(copy->children, node->children, node->child_count * sizeof(struct logical_node *));
    }
    return copy;
}

struct logical_node *with_child(struct rewriter *rewriter, const struct logical_node *node,
                                struct logical_node *child)
{
    CHECK(node->child_count == 1);
    struct logical_node *copy = copy_node(rewriter, node);
    copy->children[0] = child;
    return copy;
}

static bool covered(const struct expr *expr, void *arg)
{
    return expr->kind != EXPR_COLUMN ||
           logical_find_output(arg, expr->column.attribute_id, NULL) != NULL;
}

bool expr_covered(const struct expr *expr, const struct logical_node *node)
{
    union {
        const struct logical_node *node;
        void *arg;
    } arg = {.node = node};
    return expr_walk(expr, covered, arg.arg);
}

struct substitution {
    struct attribute *const *output;
    struct expr *const *exprs;
    uint32_t count;
};

static struct expr *substitute(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arena;
    const struct substitution *with = arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    for (uint32_t i = 0; i < with->count; i++)
        if (with->output[i]->id == expr->column.attribute_id)
            return with->exprs[i];
    return expr;
}

struct expr *substitute_outputs(struct rewriter *rewriter, struct expr *expr,
                                struct attribute *const *output, struct expr *const *exprs,
                                uint32_t count)
{
    struct substitution with = {output, exprs, count};
    return expr_rewrite(rewriter->arena, expr, substitute, &with);
}

struct expr *conjunction(struct rewriter *rewriter, struct expr *const *exprs, uint32_t count)
{
    struct expr *all = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct error ignored = ERROR_INIT;
        if (all == NULL)
            all = exprs[i];
        else
            CHECK(function_resolve_2(&rewriter->functions, "and", all, exprs[i], &all, &ignored) ==
                  OK);
    }
    return all;
}

void expr_set_add(struct arena *arena, struct expr_set *set, struct expr *expr)
{
    if (set->count == set->capacity) {
        uint32_t capacity = set->capacity == 0 ? 8 : set->capacity * 2;
        struct expr **grown = arena_new_object(arena, capacity * sizeof(struct expr *));
        if (set->count > 0)
            memcpy(grown, set->items, set->count * sizeof(struct expr *));
        set->items = grown;
        set->capacity = capacity;
    }
    set->items[set->count++] = expr;
}

void split_conjuncts(struct arena *arena, struct expr *expr, struct expr_set *out)
{
    if (expr->kind == EXPR_CALL && expr->arg_count == 2 &&
        strcmp(expr->call.function->name, "and") == 0) {
        split_conjuncts(arena, expr->args[0], out);
        split_conjuncts(arena, expr->args[1], out);
        return;
    }
    if (expr->kind == EXPR_CALL && (expr->call.function->flags & FUNCTION_REPLACED) != 0 &&
        expr->arg_count > 0) {
        struct expr *meaning = expr->args[expr->arg_count - 1];
        if (meaning->kind == EXPR_CALL && strcmp(meaning->call.function->name, "and") == 0) {
            split_conjuncts(arena, meaning, out);
            return;
        }
    }
    expr_set_add(arena, out, expr);
}

/* ---- constants ---- */

static enum status fold_slot(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    struct rewriter *rewriter = arg;
    *slot = expr_fold(rewriter->arena, *slot, rewriter->functions.time_zone);
    return OK;
}

/* The slots of a copy must not be those of the original. */
static void own_slots(struct rewriter *rewriter, struct logical_node *node)
{
    struct arena *arena = rewriter->arena;
    struct expr **exprs;
    switch (node->kind) {
    case LOGICAL_PROJECT:
        exprs = arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
        memcpy(exprs, node->project.exprs, node->output_count * sizeof(struct expr *));
        node->project.exprs = exprs;
        return;
    case LOGICAL_AGGREGATE:
        exprs = arena_new_object(arena, (node->aggregate.key_count + 1) * sizeof(struct expr *));
        memcpy(exprs, node->aggregate.keys, node->aggregate.key_count * sizeof(struct expr *));
        node->aggregate.keys = exprs;
        if (node->aggregate.aggregate_count == 0)
            return;
        exprs =
            arena_new_object(arena, (node->aggregate.aggregate_count + 1) * sizeof(struct expr *));
        memcpy(exprs, node->aggregate.aggregates,
               node->aggregate.aggregate_count * sizeof(struct expr *));
        node->aggregate.aggregates = exprs;
        return;
    case LOGICAL_SORT: {
        struct sort_key *keys = arena_new_object(arena, (node->sort.key_count + 1) * sizeof *keys);
        memcpy(keys, node->sort.keys, node->sort.key_count * sizeof *keys);
        node->sort.keys = keys;
        return;
    }
    case LOGICAL_WINDOW:
        exprs = arena_new_object(arena, (node->window.function_count + 1) * sizeof(struct expr *));
        memcpy(exprs, node->window.functions, node->window.function_count * sizeof(struct expr *));
        node->window.functions = exprs;
        return;
    case LOGICAL_EXPAND: {
        struct expr ***projections =
            arena_new_object(arena, (node->expand.projection_count + 1) * sizeof(void *));
        for (uint32_t i = 0; i < node->expand.projection_count; i++) {
            projections[i] = arena_new_object(arena, (node->output_count + 1) * sizeof(void *));
            memcpy(projections[i], node->expand.projections[i],
                   node->output_count * sizeof(struct expr *));
        }
        node->expand.projections = projections;
        return;
    }
    default:
        return;
    }
}

struct logical_node *fold_free_copy(struct rewriter *rewriter, const struct logical_node *node)
{
    struct logical_node *copy = copy_node(rewriter, node);
    own_slots(rewriter, copy);
    return copy;
}

struct logical_node *fold_constants(struct rewriter *rewriter, struct logical_node *node)
{
    struct logical_node *copy = fold_free_copy(rewriter, node);
    struct error ignored = ERROR_INIT;
    for (uint32_t i = 0; i < copy->child_count; i++)
        copy->children[i] = fold_constants(rewriter, copy->children[i]);
    CHECK(logical_each_expr(copy, fold_slot, rewriter, &ignored) == OK);
    return copy;
}
