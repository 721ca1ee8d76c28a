/*
 * What the equalities of a join say of its other side.
 *
 * Of `a.k = b.k` every row of a that finds a partner in b has its k: a condition that holds for
 * a.k on all rows that may meet holds for b.k, too.  Rows of a stream that cannot meet any are
 * dropped below its watermark and its state, as in Spark, so that they neither move the one nor
 * stay in the other.
 *
 * What is known of a side are its filters, those of the nodes below it as far as their columns come
 * up, and the condition.  Only the side whose rows come out together with a partner or not at all
 * gets a filter; never a condition that could fail on rows that it did not see before.
 */
#include "plan/rewrite.h"

#include <string.h>

enum {
    MAX_KNOWN = 64, /* conditions that are looked at in a join */
    ROUNDS = 3,     /* equalities of equalities */
};

/* ---- what is known of the rows of a node ---- */

static bool holds_on(const struct expr *expr, const struct logical_node *node)
{
    return expr_has_kind(expr, EXPR_COLUMN) && expr_covered(expr, node);
}

static void keep_covered(struct arena *arena, const struct expr_set *all,
                         const struct logical_node *node, struct expr_set *out)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (holds_on(all->items[i], node))
            expr_set_add(arena, out, all->items[i]);
}

/* The conditions in terms of outputs that are plain columns. */
static void keep_renamed(struct rewriter *rewriter, const struct expr_set *all,
                         const struct logical_node *node, struct expr *const *exprs, uint32_t count,
                         struct expr_set *out)
{
    struct arena *arena = rewriter->arena;
    struct attribute **from = arena_new_object(arena, (count + 1) * sizeof(struct attribute *));
    struct expr **to = arena_new_object(arena, (count + 1) * sizeof(struct expr *));
    uint32_t columns = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (exprs[i]->kind != EXPR_COLUMN)
            continue;
        struct attribute *attribute = arena_new_object(arena, sizeof *attribute);
        *attribute = (struct attribute){.id = exprs[i]->column.attribute_id};
        from[columns] = attribute;
        to[columns++] = attribute_expr(arena, node->output[i]);
    }
    struct expr_set renamed = {0};
    for (uint32_t i = 0; i < all->count; i++)
        expr_set_add(arena, &renamed,
                     substitute_outputs(rewriter, all->items[i], from, to, columns));
    keep_covered(arena, &renamed, node, out);
}

static void known_of(struct rewriter *rewriter, const struct logical_node *node,
                     struct expr_set *out);

static void known_of_join(struct rewriter *rewriter, const struct logical_node *node,
                          struct expr_set *out)
{
    enum logical_join kind = node->join.kind;
    bool inner = kind == LOGICAL_JOIN_INNER || kind == LOGICAL_JOIN_CROSS;
    struct expr_set all = {0};
    if (kind != LOGICAL_JOIN_FULL && kind != LOGICAL_JOIN_RIGHT)
        known_of(rewriter, node->children[0], &all);
    if (inner || kind == LOGICAL_JOIN_RIGHT)
        known_of(rewriter, node->children[1], &all);
    if ((inner || kind == LOGICAL_JOIN_LEFT_SEMI) && node->join.condition != NULL)
        split_conjuncts(rewriter->arena, node->join.condition, &all);
    keep_covered(rewriter->arena, &all, node, out);
}

/* Adds what the filters at and below a node say of its rows. */
static void known_of(struct rewriter *rewriter, const struct logical_node *node,
                     struct expr_set *out)
{
    struct expr_set below = {0};
    switch (node->kind) {
    case LOGICAL_FILTER:
        split_conjuncts(rewriter->arena, node->filter.predicate, out);
        known_of(rewriter, node->children[0], out);
        return;
    case LOGICAL_PROJECT:
        known_of(rewriter, node->children[0], &below);
        keep_renamed(rewriter, &below, node, node->project.exprs, node->output_count, out);
        return;
    case LOGICAL_AGGREGATE:
        if (node->aggregate.key_count == 0 || node->aggregate.grouping_sets)
            return;
        known_of(rewriter, node->children[0], &below);
        keep_renamed(rewriter, &below, node, node->aggregate.keys, node->aggregate.key_count, out);
        return;
    case LOGICAL_JOIN:
        known_of_join(rewriter, node, out);
        return;
    case LOGICAL_WATERMARK:
    case LOGICAL_DEDUP:
    case LOGICAL_DISTINCT:
    case LOGICAL_TIME_WINDOW:
        known_of(rewriter, node->children[0], &below);
        keep_covered(rewriter->arena, &below, node, out);
        return;
    default:
        return;
    }
}

/* ---- what follows ---- */

/* Whether a condition may see any row: nothing in it fails. */
static bool harmless(const struct expr *expr, void *arg)
{
    static const char *const others[] = {"<=>", "<>",     "and",       "or",
                                         "in",  "isnull", "isnotnull", "between"};
    (void)arg;
    if (expr->kind == EXPR_COLUMN || expr->kind == EXPR_LITERAL)
        return true;
    if (expr->kind != EXPR_CALL)
        return false;
    bool ok = (expr->call.function->flags & FUNCTION_TOTAL) != 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ok = ok || strcmp(expr->call.function->name, others[i]) == 0;
    return ok;
}

static bool is_equality(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && strcmp(expr->call.function->name, "=") == 0 &&
           expr->args[0]->kind == EXPR_COLUMN && expr->args[1]->kind == EXPR_COLUMN &&
           type_equal(expr->args[0]->type, expr->args[1]->type);
}

static bool is_known(const struct expr_set *set, const struct expr *expr)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (expr_equal(set->items[i], expr))
            return true;
    return false;
}

/* Adds `expr` with `to` in the place of the column `from`, if that says anything. */
static void add_replaced(struct rewriter *rewriter, struct expr *expr, const struct expr *from,
                         struct expr *to, struct expr_set *known)
{
    struct attribute column = {.id = from->column.attribute_id};
    struct attribute *output[] = {&column};
    struct expr *exprs[] = {to};
    struct expr *other = substitute_outputs(rewriter, expr, output, exprs, 1);
    bool same = is_equality(other) && expr_equal(other->args[0], other->args[1]);
    if (!same && known->count < MAX_KNOWN && !is_known(known, other))
        expr_set_add(rewriter->arena, known, other);
}

static void follow(struct rewriter *rewriter, struct expr_set *known)
{
    uint32_t before = 0;
    for (int round = 0; round < ROUNDS && before != known->count; round++) {
        before = known->count;
        for (uint32_t i = 0; i < before; i++) {
            struct expr *equality = known->items[i];
            for (uint32_t j = 0; j < before && is_equality(equality); j++) {
                if (i == j)
                    continue;
                add_replaced(rewriter, known->items[j], equality->args[0], equality->args[1],
                             known);
                add_replaced(rewriter, known->items[j], equality->args[1], equality->args[0],
                             known);
            }
        }
    }
}

static void add_side(struct rewriter *rewriter, const struct expr_set *known,
                     const struct expr_set *own, const struct logical_node *side,
                     struct expr_set *filters)
{
    for (uint32_t i = 0; side->streaming && i < known->count; i++)
        if (holds_on(known->items[i], side) && !is_known(own, known->items[i]))
            expr_set_add(rewriter->arena, filters, known->items[i]);
}

void infer_filters(struct rewriter *rewriter, const struct logical_node *join,
                   const struct expr_set *condition, struct expr_set *to_left,
                   struct expr_set *to_right)
{
    enum logical_join kind = join->join.kind;
    bool both =
        kind == LOGICAL_JOIN_INNER || kind == LOGICAL_JOIN_CROSS || kind == LOGICAL_JOIN_LEFT_SEMI;
    bool left = both || kind == LOGICAL_JOIN_RIGHT;
    bool right = both || kind == LOGICAL_JOIN_LEFT || kind == LOGICAL_JOIN_LEFT_ANTI;
    const struct logical_node *sides[] = {join->children[0], join->children[1]};
    struct expr_set *filters[] = {to_left, to_right};
    struct expr_set own[2] = {{0}, {0}}, known = {0};
    if (!rewriter->infers || (!(left && sides[0]->streaming) && !(right && sides[1]->streaming)))
        return;
    for (int s = 0; s < 2; s++) {
        for (uint32_t i = 0; i < filters[s]->count; i++)
            expr_set_add(rewriter->arena, &own[s], filters[s]->items[i]);
        known_of(rewriter, sides[s], &own[s]);
        for (uint32_t i = 0; i < own[s].count; i++)
            if (known.count < MAX_KNOWN && expr_walk(own[s].items[i], harmless, NULL))
                expr_set_add(rewriter->arena, &known, own[s].items[i]);
    }
    for (uint32_t i = 0; i < condition->count; i++)
        if (known.count < MAX_KNOWN && expr_walk(condition->items[i], harmless, NULL))
            expr_set_add(rewriter->arena, &known, condition->items[i]);
    follow(rewriter, &known);
    if (left)
        add_side(rewriter, &known, &own[0], sides[0], to_left);
    if (right)
        add_side(rewriter, &known, &own[1], sides[1], to_right);
}
