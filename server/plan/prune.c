/*
 * Column pruning: every node delivers what is needed above it, relations read no more than that.
 *
 * `needed` marks attribute ids.  A node adds what its own expressions use before its children are
 * looked at.
 */
#include "base/check.h"
#include "plan/prune_fields.h"
#include "plan/rewrite.h"

#include <string.h>

struct pruner {
    struct rewriter *rewriter;
    uint8_t *needed; /* by attribute id */
    uint32_t size;
};

static bool need_columns(const struct expr *expr, void *arg)
{
    struct pruner *pruner = arg;
    if (expr->kind == EXPR_COLUMN && expr->column.attribute_id < pruner->size)
        pruner->needed[expr->column.attribute_id] = 1;
    return true;
}

static void need_expr(struct pruner *pruner, const struct expr *expr)
{
    if (expr != NULL)
        expr_walk(expr, need_columns, pruner);
}

static bool is_needed(const struct pruner *pruner, const struct attribute *attribute)
{
    return pruner->needed[attribute->id] != 0;
}

static void need_all(struct pruner *pruner, const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        pruner->needed[node->output[i]->id] = 1;
}

static bool is_wanted(const struct attribute *attribute, const uint32_t *wanted, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (wanted[i] == attribute->id)
            return true;
    return false;
}

static struct logical_node *prune(struct pruner *pruner, struct logical_node *node);

/* A projection to the columns whose ids are in `wanted`, where the child has more. */
static struct logical_node *trim(struct pruner *pruner, struct logical_node *node,
                                 const uint32_t *wanted, uint32_t wanted_count)
{
    struct arena *arena = pruner->rewriter->arena;
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->output_count; i++)
        count += is_wanted(node->output[i], wanted, wanted_count);
    if (count == node->output_count || node->kind == LOGICAL_RELATION)
        return node;
    struct expr **exprs = arena_new_object(arena, (count + 1) * sizeof(struct expr *));
    struct attribute **output = arena_new_object(arena, (count + 1) * sizeof(struct attribute *));
    count = 0;
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (!is_wanted(node->output[i], wanted, wanted_count))
            continue;
        output[count] = node->output[i];
        exprs[count++] = attribute_expr(arena, node->output[i]);
    }
    return logical_project(arena, node, exprs, output, count);
}

/* Prunes the child, then drops what only nodes below it have needed. */
static struct logical_node *prune_trimmed(struct pruner *pruner, struct logical_node *child)
{
    uint32_t *wanted =
        arena_new_object(pruner->rewriter->arena, (child->output_count + 1) * sizeof *wanted);
    uint32_t count = 0;
    for (uint32_t i = 0; i < child->output_count; i++)
        if (is_needed(pruner, child->output[i]))
            wanted[count++] = child->output[i]->id;
    return trim(pruner, prune(pruner, child), wanted, count);
}

static struct logical_node *prune_relation(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    uint32_t count = 0, smallest = 0;
    copy->output = arena_new_object(pruner->rewriter->arena,
                                    (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (is_needed(pruner, node->output[i]))
            copy->output[count++] = node->output[i];
        if (type_is_nested(node->output[smallest]->type) && !type_is_nested(node->output[i]->type))
            smallest = i;
    }
    /* Rows have to be counted: one column stays. */
    if (count == 0 && node->output_count > 0)
        copy->output[count++] = node->output[smallest];
    copy->output_count = count;
    return copy;
}

static struct logical_node *prune_values(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    struct arena *arena = pruner->rewriter->arena;
    uint32_t rows = node->values.row_count, count = 0;
    struct attribute **output =
        arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++)
        if (is_needed(pruner, node->output[i]))
            output[count++] = node->output[i];
    struct expr **cells =
        arena_new_object(arena, ((size_t)rows * count + 1) * sizeof(struct expr *));
    uint32_t at = 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < node->output_count; i++)
            if (is_needed(pruner, node->output[i]))
                cells[at++] = node->values.cells[row * node->output_count + i];
    copy->output = output;
    copy->output_count = count;
    copy->values.cells = cells;
    return copy;
}

static struct logical_node *prune_project(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    struct arena *arena = pruner->rewriter->arena;
    uint32_t count = 0;
    copy->output = arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    copy->project.exprs = arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (!is_needed(pruner, node->output[i]))
            continue;
        copy->output[count] = node->output[i];
        copy->project.exprs[count++] = node->project.exprs[i];
    }
    copy->output_count = count;
    for (uint32_t i = 0; i < count; i++)
        need_expr(pruner, copy->project.exprs[i]);
    copy->children[0] = prune(pruner, copy->children[0]);
    return copy;
}

static void need_keys(struct pruner *pruner, const struct sort_key *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        need_expr(pruner, keys[i].expr);
}

/* The node passes its child's columns on. */
static struct logical_node *over(struct pruner *pruner, struct logical_node *node, bool trimmed)
{
    struct logical_node *child =
        trimmed ? prune_trimmed(pruner, node->children[0]) : prune(pruner, node->children[0]);
    struct logical_node *copy = with_child(pruner->rewriter, node, child);
    copy->output = child->output;
    copy->output_count = child->output_count;
    return copy;
}

static struct logical_node *prune_aggregate(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    struct arena *arena = pruner->rewriter->arena;
    uint32_t keys = node->aggregate.key_count, count = 0;
    copy->output = arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    memcpy(copy->output, node->output, keys * sizeof(struct attribute *));
    copy->aggregate.aggregates =
        arena_new_object(arena, (node->aggregate.aggregate_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        if (!is_needed(pruner, node->output[keys + i]))
            continue;
        copy->output[keys + count] = node->output[keys + i];
        copy->aggregate.aggregates[count++] = node->aggregate.aggregates[i];
    }
    copy->aggregate.aggregate_count = count;
    copy->output_count = keys + count;
    for (uint32_t i = 0; i < keys; i++)
        need_expr(pruner, copy->aggregate.keys[i]);
    for (uint32_t i = 0; i < count; i++)
        need_expr(pruner, copy->aggregate.aggregates[i]);
    copy->children[0] = prune(pruner, copy->children[0]);
    return copy;
}

static bool join_shows_right(enum logical_join kind)
{
    return kind != LOGICAL_JOIN_LEFT_SEMI && kind != LOGICAL_JOIN_LEFT_ANTI &&
           kind != LOGICAL_JOIN_EXISTENCE;
}

static struct attribute *output_of(const struct logical_node *node, const struct attribute *below)
{
    struct attribute *found = logical_find_output(node, below->id, NULL);
    CHECK(found != NULL);
    return found;
}

static struct logical_node *prune_join(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    need_expr(pruner, node->join.condition);
    copy->children[0] = prune_trimmed(pruner, node->children[0]);
    copy->children[1] = prune_trimmed(pruner, node->children[1]);
    struct logical_node *left = copy->children[0], *right = copy->children[1];
    uint32_t count = 0;
    copy->output = arena_new_object(
        pruner->rewriter->arena, (left->output_count + right->output_count + 2) * sizeof(void *));
    for (uint32_t i = 0; i < left->output_count; i++)
        copy->output[count++] = output_of(node, left->output[i]);
    for (uint32_t i = 0; join_shows_right(node->join.kind) && i < right->output_count; i++)
        copy->output[count++] = output_of(node, right->output[i]);
    if (node->join.kind == LOGICAL_JOIN_EXISTENCE)
        copy->output[count++] = node->output[node->output_count - 1];
    copy->output_count = count;
    return copy;
}

static struct logical_node *prune_union(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    struct arena *arena = pruner->rewriter->arena;
    uint32_t *positions = arena_new_object(arena, (node->output_count + 1) * sizeof *positions);
    uint32_t count = 0;
    copy->output = arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (!is_needed(pruner, node->output[i]) && !(count == 0 && i + 1 == node->output_count))
            continue;
        positions[count] = i;
        copy->output[count++] = node->output[i];
    }
    copy->output_count = count;
    for (uint32_t c = 0; c < node->child_count; c++) {
        struct logical_node *child = node->children[c];
        struct attribute **wanted =
            arena_new_object(arena, (count + 1) * sizeof(struct attribute *));
        struct expr **exprs = arena_new_object(arena, (count + 1) * sizeof(struct expr *));
        for (uint32_t i = 0; i < count; i++) {
            wanted[i] = child->output[positions[i]];
            exprs[i] = attribute_expr(arena, wanted[i]);
            pruner->needed[wanted[i]->id] = 1;
        }
        struct logical_node *pruned = prune(pruner, child);
        bool same = pruned->output_count == count;
        for (uint32_t i = 0; same && i < count; i++)
            same = pruned->output[i]->id == wanted[i]->id;
        copy->children[c] = same ? pruned : logical_project(arena, pruned, exprs, wanted, count);
    }
    return copy;
}

/* All columns matter: set operations, DISTINCT. */
static struct logical_node *prune_whole(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct logical_node *child = node->children[i];
        need_all(pruner, child);
        struct logical_node *pruned = prune(pruner, child);
        bool same = pruned->output_count == child->output_count;
        for (uint32_t j = 0; same && j < child->output_count; j++)
            same = pruned->output[j]->id == child->output[j]->id;
        if (!same) {
            struct expr **exprs = arena_new_object(
                pruner->rewriter->arena, (child->output_count + 1) * sizeof(struct expr *));
            for (uint32_t j = 0; j < child->output_count; j++)
                exprs[j] = attribute_expr(pruner->rewriter->arena, child->output[j]);
            pruned = logical_project(pruner->rewriter->arena, pruned, exprs, child->output,
                                     child->output_count);
        }
        copy->children[i] = pruned;
    }
    return copy;
}

static struct logical_node *prune_dedup(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *child = node->children[0];
    struct arena *arena = pruner->rewriter->arena;
    for (uint32_t i = 0; i < node->dedup.column_count; i++)
        pruner->needed[child->output[node->dedup.columns[i]]->id] = 1;
    for (uint32_t i = 0; i < child->output_count; i++)
        if (child->output[i]->event_time)
            pruner->needed[child->output[i]->id] = 1;
    struct logical_node *copy = over(pruner, node, true);
    copy->dedup.columns =
        arena_new_object(arena, (node->dedup.column_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < node->dedup.column_count; i++) {
        uint32_t id = child->output[node->dedup.columns[i]]->id;
        CHECK(logical_find_output(copy, id, &copy->dedup.columns[i]) != NULL);
    }
    return copy;
}

static struct logical_node *prune_watermark(struct pruner *pruner, struct logical_node *node)
{
    uint32_t id = node->output[node->watermark.column]->id;
    pruner->needed[id] = 1;
    struct logical_node *child = prune(pruner, node->children[0]);
    struct logical_node *copy = with_child(pruner->rewriter, node, child);
    copy->output_count = child->output_count;
    copy->output = arena_new_object(pruner->rewriter->arena,
                                    (child->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < child->output_count; i++) {
        copy->output[i] = output_of(node, child->output[i]);
        if (copy->output[i]->id == id)
            copy->watermark.column = i;
    }
    return copy;
}

/* The child's columns and, behind them, `made` new ones of the node. */
static struct logical_node *with_made(struct pruner *pruner, struct logical_node *node,
                                      struct attribute *const *made, uint32_t made_count)
{
    struct logical_node *copy = over(pruner, node, true);
    struct logical_node *child = copy->children[0];
    copy->output_count = child->output_count + made_count;
    copy->output = arena_new_object(pruner->rewriter->arena,
                                    (copy->output_count + 1) * sizeof(struct attribute *));
    memcpy(copy->output, child->output, child->output_count * sizeof(struct attribute *));
    memcpy(copy->output + child->output_count, made, made_count * sizeof(struct attribute *));
    return copy;
}

static struct logical_node *prune_window(struct pruner *pruner, struct logical_node *node)
{
    struct arena *arena = pruner->rewriter->arena;
    uint32_t below = node->children[0]->output_count, count = 0;
    struct expr **functions =
        arena_new_object(arena, (node->window.function_count + 1) * sizeof(struct expr *));
    struct attribute **made =
        arena_new_object(arena, (node->window.function_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->window.function_count; i++) {
        if (!is_needed(pruner, node->output[below + i]))
            continue;
        made[count] = node->output[below + i];
        functions[count++] = node->window.functions[i];
    }
    for (uint32_t i = 0; i < count; i++)
        need_expr(pruner, functions[i]);
    if (count == 0)
        return prune(pruner, node->children[0]);
    struct logical_node *copy = with_made(pruner, node, made, count);
    copy->window.functions = functions;
    copy->window.function_count = count;
    return copy;
}

static struct logical_node *prune_expand(struct pruner *pruner, struct logical_node *node)
{
    struct logical_node *copy = copy_node(pruner->rewriter, node);
    struct arena *arena = pruner->rewriter->arena;
    copy->output = arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    copy->expand.projections =
        arena_new_object(arena, (node->expand.projection_count + 1) * sizeof(struct expr **));
    copy->output_count = 0;
    for (uint32_t p = 0; p < node->expand.projection_count; p++)
        copy->expand.projections[p] =
            arena_new_object(arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (!is_needed(pruner, node->output[i]))
            continue;
        for (uint32_t p = 0; p < node->expand.projection_count; p++) {
            copy->expand.projections[p][copy->output_count] = node->expand.projections[p][i];
            need_expr(pruner, node->expand.projections[p][i]);
        }
        copy->output[copy->output_count++] = node->output[i];
    }
    copy->children[0] = prune(pruner, node->children[0]);
    return copy;
}

static struct logical_node *prune_made(struct pruner *pruner, struct logical_node *node)
{
    uint32_t below = node->children[0]->output_count;
    if (node->kind == LOGICAL_GENERATE)
        need_expr(pruner, node->generate.generator);
    if (node->kind == LOGICAL_TIME_WINDOW)
        need_expr(pruner, node->time_window.time);
    if (node->kind == LOGICAL_SESSION) {
        need_expr(pruner, node->session.time);
        need_expr(pruner, node->session.gap);
    }
    return with_made(pruner, node, node->output + below, node->output_count - below);
}

static struct logical_node *prune(struct pruner *pruner, struct logical_node *node)
{
    switch (node->kind) {
    case LOGICAL_RELATION:
        return prune_relation(pruner, node);
    case LOGICAL_VALUES:
        return prune_values(pruner, node);
    case LOGICAL_PROJECT:
        return prune_project(pruner, node);
    case LOGICAL_FILTER:
        need_expr(pruner, node->filter.predicate);
        return over(pruner, node, false);
    case LOGICAL_AGGREGATE:
        return prune_aggregate(pruner, node);
    case LOGICAL_JOIN:
        return prune_join(pruner, node);
    case LOGICAL_UNION:
        return prune_union(pruner, node);
    case LOGICAL_SET_OPERATION:
    case LOGICAL_DISTINCT:
        return prune_whole(pruner, node);
    case LOGICAL_DEDUP:
        return prune_dedup(pruner, node);
    case LOGICAL_SORT:
        need_keys(pruner, node->sort.keys, node->sort.key_count);
        return over(pruner, node, true);
    case LOGICAL_LIMIT:
    case LOGICAL_SAMPLE:
        return over(pruner, node, false);
    case LOGICAL_WINDOW:
        return prune_window(pruner, node);
    case LOGICAL_GENERATE:
    case LOGICAL_TIME_WINDOW:
    case LOGICAL_SESSION:
        return prune_made(pruner, node);
    case LOGICAL_EXPAND:
        return prune_expand(pruner, node);
    case LOGICAL_WATERMARK:
        return prune_watermark(pruner, node);
    }
    return node;
}

enum status prune_columns(struct rewriter *rewriter, struct logical_node *node,
                          struct logical_node **out, struct error *err)
{
    struct pruner pruner = {.rewriter = rewriter, .size = rewriter->next_id};
    pruner.needed = arena_new_object(rewriter->arena, pruner.size + 1);
    need_all(&pruner, node);
    struct logical_node *pruned = prune(&pruner, node);
    /* Filters below the root may leave more columns, or another order. */
    bool same = pruned->output_count == node->output_count;
    for (uint32_t i = 0; same && i < node->output_count; i++)
        same = pruned->output[i]->id == node->output[i]->id;
    if (!same) {
        struct expr **exprs =
            arena_new_object(rewriter->arena, (node->output_count + 1) * sizeof(struct expr *));
        for (uint32_t i = 0; i < node->output_count; i++)
            exprs[i] = attribute_expr(rewriter->arena, node->output[i]);
        pruned = logical_project(rewriter->arena, pruned, exprs, node->output, node->output_count);
    }
    return prune_fields(rewriter, pruned, out, err);
}
