#include "plan/decorrelate.h"

#include "base/check.h"
#include "expr/aggregate.h"

#include <string.h>

enum status find_subquery(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    bool *found = arg;
    *found = *found || expr_has_kind(*slot, EXPR_SUBQUERY);
    return OK;
}

static enum status find_outer(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    bool *found = arg;
    *found = *found || expr_has_kind(*slot, EXPR_OUTER);
    return OK;
}

static bool node_finds_outer(struct logical_node *node, void *arg)
{
    struct error ignored = ERROR_INIT;
    return logical_each_expr(node, find_outer, arg, &ignored) == OK && !*(bool *)arg;
}

static bool is_correlated(struct logical_node *node)
{
    bool found = false;
    logical_walk(node, node_finds_outer, &found);
    return found;
}

static struct expr *to_column(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arg;
    if (expr->kind != EXPR_OUTER)
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    copy->kind = EXPR_COLUMN;
    return copy;
}

static struct expr *joined(struct rewriter *rewriter, struct expr *expr)
{
    return expr_rewrite(rewriter->arena, expr, to_column, NULL);
}

/* What pulling up has found so far: of one subquery. */
struct pulling {
    struct rewriter *rewriter;
    struct logical_node *outer;
    struct expr_set conditions; /* with EXPR_OUTER still in them */
    struct attribute **late;    /* columns that are computed after the join ... */
    struct expr **late_exprs;   /* ... from these; parallel */
    uint32_t late_count, late_capacity;
    struct attribute *match; /* a literal true of the inner side */
    bool defaults;
};

static enum status refuse(const struct logical_node *node, const char *what, struct error *err)
{
    return error_raise_at(err, STATUS_NOT_SUPPORTED, node->position, node->position_end, "feature",
                          what, NULL);
}

static void add_late(struct pulling *pulling, struct attribute *attribute, struct expr *expr)
{
    struct arena *arena = pulling->rewriter->arena;
    if (pulling->late_count == pulling->late_capacity) {
        uint32_t capacity = pulling->late_capacity == 0 ? 8 : pulling->late_capacity * 2;
        struct attribute **late = arena_new_object(arena, capacity * sizeof(struct attribute *));
        struct expr **exprs = arena_new_object(arena, capacity * sizeof(struct expr *));
        if (pulling->late_count > 0) {
            memcpy(late, pulling->late, pulling->late_count * sizeof(struct attribute *));
            memcpy(exprs, pulling->late_exprs, pulling->late_count * sizeof(struct expr *));
        }
        pulling->late = late;
        pulling->late_exprs = exprs;
        pulling->late_capacity = capacity;
    }
    pulling->late[pulling->late_count] = attribute;
    pulling->late_exprs[pulling->late_count++] = expr;
}

static struct expr *with_late(struct pulling *pulling, struct expr *expr)
{
    return substitute_outputs(pulling->rewriter, expr, pulling->late, pulling->late_exprs,
                              pulling->late_count);
}

static bool uses_late(const struct pulling *pulling, const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN)
        for (uint32_t i = 0; i < pulling->late_count; i++)
            if (pulling->late[i]->id == expr->column.attribute_id)
                return true;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (uses_late(pulling, expr->args[i]))
            return true;
    return false;
}

/* The inner columns that the pulled conditions need have to come out of every node. */
static bool add_inner_columns(const struct expr *expr, void *arg)
{
    struct expr_set *columns = arg;
    if (expr->kind == EXPR_COLUMN && columns->count < columns->capacity)
        columns->items[columns->count++] = (struct expr *)(uintptr_t)expr;
    return true;
}

static void inner_columns(struct pulling *pulling, struct expr_set *columns)
{
    columns->capacity = 256;
    columns->items =
        arena_new_object(pulling->rewriter->arena, columns->capacity * sizeof(struct expr *));
    for (uint32_t i = 0; i < pulling->conditions.count; i++)
        expr_walk(pulling->conditions.items[i], add_inner_columns, columns);
    for (uint32_t i = 0; i < pulling->late_count; i++)
        expr_walk(pulling->late_exprs[i], add_inner_columns, columns);
}

static enum status pull(struct pulling *pulling, struct logical_node *node,
                        struct logical_node **out, struct error *err);

static enum status pull_filter(struct pulling *pulling, struct logical_node *node,
                               struct logical_node **out, struct error *err)
{
    struct arena *arena = pulling->rewriter->arena;
    struct expr_set parts = {0}, stay = {0};
    TRY(pull(pulling, node->children[0], out, err));
    split_conjuncts(arena, node->filter.predicate, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        struct expr *part = parts.items[i];
        bool late = uses_late(pulling, part);
        if (late || expr_has_kind(part, EXPR_OUTER))
            expr_set_add(arena, &pulling->conditions, with_late(pulling, part));
        else
            expr_set_add(arena, &stay, part);
    }
    if (stay.count > 0)
        *out = logical_filter(arena, *out, conjunction(pulling->rewriter, stay.items, stay.count));
    return OK;
}

static bool has_output(struct attribute *const *output, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (output[i]->id == id)
            return true;
    return false;
}

static enum status pull_project(struct pulling *pulling, struct logical_node *node,
                                struct logical_node **out, struct error *err)
{
    struct arena *arena = pulling->rewriter->arena;
    struct logical_node *child;
    TRY(pull(pulling, node->children[0], &child, err));
    uint32_t count = 0;
    struct expr_set columns = {0};
    for (uint32_t i = 0; i < node->output_count; i++)
        if (uses_late(pulling, node->project.exprs[i]) ||
            expr_has_kind(node->project.exprs[i], EXPR_OUTER))
            add_late(pulling, node->output[i], with_late(pulling, node->project.exprs[i]));
    inner_columns(pulling, &columns);
    uint32_t width = node->output_count + columns.count + 1;
    struct expr **exprs = arena_new_object(arena, width * sizeof(struct expr *));
    struct attribute **output = arena_new_object(arena, width * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (has_output(pulling->late, pulling->late_count, node->output[i]->id))
            continue;
        output[count] = node->output[i];
        exprs[count++] = node->project.exprs[i];
    }
    for (uint32_t i = 0; i < columns.count; i++) {
        uint32_t id = columns.items[i]->column.attribute_id;
        struct attribute *below = logical_find_output(child, id, NULL);
        if (below == NULL || has_output(output, count, id))
            continue;
        output[count] = below;
        exprs[count++] = attribute_expr(arena, below);
    }
    if (pulling->match != NULL && !has_output(output, count, pulling->match->id)) {
        output[count] = pulling->match;
        exprs[count++] = attribute_expr(arena, pulling->match);
    }
    *out = logical_project(arena, child, exprs, output, count);
    return OK;
}

/* ---- aggregates ---- */

/* inner = outer of a pulled condition; the inner side, or NULL. */
static struct expr *inner_side(struct expr *condition)
{
    if (condition->kind != EXPR_CALL || condition->arg_count != 2 ||
        (strcmp(condition->call.function->name, "=") != 0 &&
         strcmp(condition->call.function->name, "<=>") != 0))
        return NULL;
    for (uint32_t i = 0; i < 2; i++)
        if (!expr_has_kind(condition->args[i], EXPR_OUTER) &&
            !expr_has_kind(condition->args[1 - i], EXPR_COLUMN))
            return condition->args[i];
    return NULL;
}

static enum status key_of_condition(struct pulling *pulling, struct expr *condition,
                                    const struct logical_node *node, struct expr_set *keys,
                                    struct attribute **attributes, struct expr **out,
                                    struct error *err)
{
    struct arena *arena = pulling->rewriter->arena;
    struct expr *inner = inner_side(condition);
    if (inner == NULL)
        return refuse(node,
                      "A correlated aggregate whose condition is no equality with the outer query",
                      err);
    uint32_t index = 0;
    while (index < keys->count && !expr_equal(keys->items[index], inner))
        index++;
    if (index == keys->count) {
        attributes[index] =
            attribute_new(arena, pulling->rewriter->next_id++, "key", inner->type, inner->nullable);
        expr_set_add(arena, keys, inner);
    }
    struct expr *copy = expr_copy(arena, condition);
    copy->args[copy->args[0] == inner ? 0 : 1] = attribute_expr(arena, attributes[index]);
    *out = copy;
    return OK;
}

/* ---- domains ---- */

struct id_map {
    struct arena *arena;
    uint32_t *from, *to;
    uint32_t count, capacity;
    uint32_t *next_id;
};

static uint32_t map_id(const struct id_map *map, uint32_t id)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (map->from[i] == id)
            return map->to[i];
    return id;
}

static void map_new(struct id_map *map, uint32_t id)
{
    if (map_id(map, id) != id)
        return;
    if (map->count == map->capacity) {
        uint32_t capacity = map->capacity == 0 ? 32 : map->capacity * 2;
        uint32_t *from = arena_new_object(map->arena, capacity * sizeof *from);
        uint32_t *to = arena_new_object(map->arena, capacity * sizeof *to);
        if (map->count > 0) {
            memcpy(from, map->from, map->count * sizeof *from);
            memcpy(to, map->to, map->count * sizeof *to);
        }
        map->from = from;
        map->to = to;
        map->capacity = capacity;
    }
    map->from[map->count] = id;
    map->to[map->count++] = (*map->next_id)++;
}

static struct expr *map_expr(struct arena *arena, struct expr *expr, void *arg)
{
    const struct id_map *map = arg;
    if (expr->kind == EXPR_COLUMN) {
        struct expr *copy = expr_copy(arena, expr);
        copy->column.attribute_id = map_id(map, expr->column.attribute_id);
        return copy;
    }
    if (expr->kind == EXPR_AGGREGATE) {
        struct expr *copy = expr_copy(arena, expr);
        copy->aggregate.result_id = map_id(map, expr->aggregate.result_id);
        return copy;
    }
    return expr;
}

static enum status map_slot(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    struct id_map *map = arg;
    *slot = expr_rewrite(map->arena, *slot, map_expr, map);
    return OK;
}

/* The same plan with attributes of its own. */
static struct logical_node *clone_plan(struct pulling *pulling, const struct logical_node *node,
                                       struct id_map *map)
{
    struct arena *arena = pulling->rewriter->arena;
    struct logical_node *copy = fold_free_copy(pulling->rewriter, node);
    struct error ignored = ERROR_INIT;
    for (uint32_t i = 0; i < copy->child_count; i++)
        copy->children[i] = clone_plan(pulling, copy->children[i], map);
    copy->output = arena_new_object(arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        map_new(map, node->output[i]->id);
        copy->output[i] = arena_new_object(arena, sizeof(struct attribute));
        *copy->output[i] = *node->output[i];
        copy->output[i]->id = map_id(map, node->output[i]->id);
    }
    CHECK(logical_each_expr(copy, map_slot, map, &ignored) == OK);
    return copy;
}

static bool add_outer(const struct expr *expr, void *arg)
{
    struct expr_set *found = arg;
    if (expr->kind != EXPR_OUTER || found->count >= found->capacity)
        return true;
    for (uint32_t i = 0; i < found->count; i++)
        if (expr_equal(found->items[i], expr))
            return true;
    union {
        const struct expr *from;
        struct expr *to;
    } cast = {.from = expr};
    found->items[found->count++] = cast.to;
    return true;
}

static bool has_equalities(struct pulling *pulling)
{
    for (uint32_t i = 0; i < pulling->conditions.count; i++)
        if (inner_side(pulling->conditions.items[i]) == NULL)
            return false;
    return true;
}

static struct expr *put_domain(struct arena *arena, struct expr *expr, void *arg)
{
    const struct logical_node *domain = arg;
    if (expr->kind != EXPR_OUTER)
        return expr;
    for (uint32_t i = 0; i < domain->output_count; i++)
        if (strcmp(domain->output[i]->name, expr->column.name) == 0 &&
            domain->output[i]->delay_us == (int64_t)expr->column.attribute_id)
            return attribute_expr(arena, domain->output[i]);
    return expr;
}

/*
 * The distinct values that the outer query has, joined with the inner rows on the conditions: then
 * the aggregate is grouped by them, and they are equal to the outer columns.
 */
static enum status join_domain(struct pulling *pulling, const struct logical_node *node,
                               struct logical_node **child, struct error *err)
{
    struct rewriter *rewriter = pulling->rewriter;
    struct arena *arena = rewriter->arena;
    if (has_equalities(pulling))
        return OK;
    if (pulling->outer->streaming || is_correlated(pulling->outer))
        return refuse(node,
                      "A correlated aggregate whose condition is no equality with the outer query",
                      err);
    struct expr_set outer = {.capacity = 64};
    outer.items = arena_new_object(arena, outer.capacity * sizeof(struct expr *));
    for (uint32_t i = 0; i < pulling->conditions.count; i++)
        expr_walk(pulling->conditions.items[i], add_outer, &outer);
    struct id_map map = {.arena = arena, .next_id = &rewriter->next_id};
    struct logical_node *copy = clone_plan(pulling, pulling->outer, &map);
    struct expr **exprs = arena_new_object(arena, (outer.count + 1) * sizeof(struct expr *));
    struct attribute **output =
        arena_new_object(arena, (outer.count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < outer.count; i++) {
        uint32_t id = outer.items[i]->column.attribute_id;
        const struct attribute *inner = logical_find_output(copy, map_id(&map, id), NULL);
        if (inner == NULL)
            return refuse(node, "A column of an outer query in this place", err);
        exprs[i] = attribute_expr(arena, inner);
        output[i] = attribute_new(arena, rewriter->next_id++, outer.items[i]->column.name,
                                  inner->type, inner->nullable);
        output[i]->delay_us = id; /* which outer column it stands for, until the join is made */
    }
    struct logical_node *domain = logical_over(
        arena, LOGICAL_DISTINCT, logical_project(arena, copy, exprs, output, outer.count));
    struct expr_set parts = {0};
    for (uint32_t i = 0; i < pulling->conditions.count; i++)
        expr_set_add(arena, &parts,
                     expr_rewrite(arena, pulling->conditions.items[i], put_domain, domain));
    struct logical_node *children[] = {*child, domain};
    struct logical_node *join = logical_new(arena, LOGICAL_JOIN, children, 2);
    join->join.kind = LOGICAL_JOIN_INNER;
    join->join.condition = conjunction(rewriter, parts.items, parts.count);
    join->output_count = (*child)->output_count + outer.count;
    join->output = arena_new_object(arena, (join->output_count + 1) * sizeof(struct attribute *));
    memcpy(join->output, (*child)->output, (*child)->output_count * sizeof(struct attribute *));
    memcpy(join->output + (*child)->output_count, output, outer.count * sizeof(struct attribute *));
    memset(&pulling->conditions, 0, sizeof pulling->conditions);
    for (uint32_t i = 0; i < outer.count; i++) {
        struct expr *same;
        output[i]->delay_us = 0;
        TRY(function_resolve_2(&rewriter->functions, "<=>", attribute_expr(arena, output[i]),
                               outer.items[i], &same, err));
        expr_set_add(arena, &pulling->conditions, same);
    }
    *child = join;
    return OK;
}

/* What an aggregate is over no rows. */
static enum status empty_value(struct rewriter *rewriter, const struct expr *aggregate,
                               struct expr **out, struct error *err)
{
    if (aggregate->type->id == TYPE_LONG && !aggregate->nullable)
        *out = expr_literal_long(rewriter->arena, 0);
    else if (aggregate->type->id == TYPE_ARRAY && !aggregate->nullable) {
        struct function_call call = {.name = "array", .position = -1, .position_end = -1};
        TRY(function_resolve(&rewriter->functions, &call, out, err));
        *out = expr_cast(rewriter->arena, *out, aggregate->type, CAST_ANSI,
                         rewriter->functions.time_zone);
        (*out)->cast.implicit = true;
    } else
        *out = expr_null(rewriter->arena, aggregate->type);
    return OK;
}

/* Without a match a global aggregate still has a row: its values over nothing. */
static enum status add_defaults(struct pulling *pulling, struct logical_node *node,
                                struct logical_node *made, struct error *err)
{
    struct rewriter *rewriter = pulling->rewriter;
    pulling->match = attribute_new(rewriter->arena, rewriter->next_id++, "match",
                                   type_simple(TYPE_BOOLEAN), false);
    pulling->defaults = true;
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        const struct expr *aggregate = node->aggregate.aggregates[i];
        struct attribute *inner =
            attribute_new(rewriter->arena, rewriter->next_id++, node->output[i]->name,
                          aggregate->type, aggregate->nullable);
        struct expr *copy = expr_copy(rewriter->arena, aggregate), *empty, *value;
        copy->aggregate.result_id = inner->id;
        made->aggregate.aggregates[i] = copy;
        made->output[made->aggregate.key_count + i] = inner;
        value = attribute_expr(rewriter->arena, inner);
        TRY(empty_value(rewriter, aggregate, &empty, err));
        if (empty->kind != EXPR_LITERAL || !vector_is_null(empty->literal.value, 0)) {
            struct expr *args[] = {attribute_expr(rewriter->arena, pulling->match), value, empty};
            struct function_call call = {
                .name = "if", .args = args, .arg_count = 3, .position = -1, .position_end = -1};
            args[0]->nullable = true;
            TRY(function_resolve(&rewriter->functions, &call, &value, err));
        }
        add_late(pulling, node->output[i], value);
    }
    return OK;
}

static struct logical_node *add_match(struct pulling *pulling, struct logical_node *node)
{
    struct arena *arena = pulling->rewriter->arena;
    uint32_t count = node->output_count;
    struct expr **exprs = arena_new_object(arena, (count + 2) * sizeof(struct expr *));
    struct attribute **output = arena_new_object(arena, (count + 2) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < count; i++) {
        exprs[i] = attribute_expr(arena, node->output[i]);
        output[i] = node->output[i];
    }
    exprs[count] = expr_literal_boolean(arena, true);
    output[count] = pulling->match;
    return logical_project(arena, node, exprs, output, count + 1);
}

static enum status pull_aggregate(struct pulling *pulling, struct logical_node *node,
                                  struct logical_node **out, struct error *err)
{
    struct arena *arena = pulling->rewriter->arena;
    struct logical_node *child;
    TRY(pull(pulling, node->children[0], &child, err));
    TRY(join_domain(pulling, node, &child, err));
    uint32_t width =
        node->aggregate.key_count + pulling->conditions.count + node->aggregate.aggregate_count;
    struct expr_set keys = {0};
    struct attribute **attributes =
        arena_new_object(arena, (width + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->aggregate.key_count; i++) {
        if (uses_late(pulling, node->aggregate.keys[i]))
            return refuse(node, "Grouping by a column of the outer query", err);
        attributes[i] = node->output[i];
        expr_set_add(arena, &keys, node->aggregate.keys[i]);
    }
    for (uint32_t i = 0; i < pulling->conditions.count; i++)
        TRY(key_of_condition(pulling, pulling->conditions.items[i], node, &keys, attributes,
                             &pulling->conditions.items[i], err));
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++)
        if (uses_late(pulling, node->aggregate.aggregates[i]) ||
            expr_has_kind(node->aggregate.aggregates[i], EXPR_OUTER))
            return refuse(node, "An aggregate over a column of the outer query", err);
    struct logical_node *made = logical_over(arena, LOGICAL_AGGREGATE, child);
    made->aggregate.keys = keys.items;
    made->aggregate.key_count = keys.count;
    made->aggregate.aggregate_count = node->aggregate.aggregate_count;
    made->aggregate.aggregates =
        arena_new_object(arena, (node->aggregate.aggregate_count + 1) * sizeof(struct expr *));
    made->output = arena_new_object(arena, (width + 1) * sizeof(struct attribute *));
    made->output_count = keys.count + node->aggregate.aggregate_count;
    memcpy(made->output, attributes, keys.count * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        made->aggregate.aggregates[i] = node->aggregate.aggregates[i];
        made->output[keys.count + i] = node->output[node->aggregate.key_count + i];
    }
    *out = made;
    if (node->aggregate.key_count > 0 || !is_correlated(node->children[0]))
        return OK;
    TRY(add_defaults(pulling, node, made, err));
    *out = add_match(pulling, made);
    return OK;
}

/* ---- the other nodes ---- */

static enum status pull_join(struct pulling *pulling, struct logical_node *node,
                             struct logical_node **out, struct error *err)
{
    struct arena *arena = pulling->rewriter->arena;
    bool inner = node->join.kind == LOGICAL_JOIN_INNER || node->join.kind == LOGICAL_JOIN_CROSS;
    bool left = is_correlated(node->children[0]), right = is_correlated(node->children[1]);
    bool one_sided =
        node->join.kind == LOGICAL_JOIN_LEFT || node->join.kind == LOGICAL_JOIN_LEFT_SEMI ||
        node->join.kind == LOGICAL_JOIN_LEFT_ANTI || node->join.kind == LOGICAL_JOIN_SINGLE ||
        node->join.kind == LOGICAL_JOIN_EXISTENCE;
    bool condition =
        node->join.condition != NULL && expr_has_kind(node->join.condition, EXPR_OUTER);
    if (!inner && (right || condition || (left && !one_sided)))
        return refuse(node, "A correlated outer join", err);
    struct logical_node *copy = copy_node(pulling->rewriter, node);
    TRY(pull(pulling, node->children[0], &copy->children[0], err));
    TRY(pull(pulling, node->children[1], &copy->children[1], err));
    struct expr_set parts = {0}, stay = {0};
    if (node->join.condition != NULL)
        split_conjuncts(arena, node->join.condition, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        bool late = uses_late(pulling, parts.items[i]);
        if (late && !inner)
            return refuse(node, "A correlated outer join", err);
        bool up = late || expr_has_kind(parts.items[i], EXPR_OUTER);
        expr_set_add(arena, up ? &pulling->conditions : &stay, with_late(pulling, parts.items[i]));
    }
    copy->join.condition = conjunction(pulling->rewriter, stay.items, stay.count);
    bool shows_right = node->join.kind != LOGICAL_JOIN_LEFT_SEMI &&
                       node->join.kind != LOGICAL_JOIN_LEFT_ANTI &&
                       node->join.kind != LOGICAL_JOIN_EXISTENCE;
    struct logical_node *a = copy->children[0], *b = copy->children[1];
    copy->output = arena_new_object(arena, (a->output_count + b->output_count + 2) *
                                               sizeof(struct attribute *));
    copy->output_count = 0;
    for (uint32_t i = 0; i < a->output_count; i++)
        copy->output[copy->output_count++] = a->output[i];
    for (uint32_t i = 0; shows_right && i < b->output_count; i++) {
        struct attribute *known = logical_find_output(node, b->output[i]->id, NULL);
        copy->output[copy->output_count++] = known != NULL ? known : b->output[i];
    }
    if (node->join.kind == LOGICAL_JOIN_EXISTENCE)
        copy->output[copy->output_count++] = node->output[node->output_count - 1];
    *out = copy;
    return OK;
}

static enum status pull_over(struct pulling *pulling, struct logical_node *node,
                             struct logical_node **out, struct error *err)
{
    struct logical_node *child;
    uint32_t made = node->output_count - node->children[0]->output_count;
    TRY(pull(pulling, node->children[0], &child, err));
    struct logical_node *copy = with_child(pulling->rewriter, node, child);
    copy->output = arena_new_object(pulling->rewriter->arena,
                                    (child->output_count + made + 1) * sizeof(struct attribute *));
    memcpy(copy->output, child->output, child->output_count * sizeof(struct attribute *));
    memcpy(copy->output + child->output_count, node->output + node->children[0]->output_count,
           made * sizeof(struct attribute *));
    copy->output_count = child->output_count + made;
    *out = copy;
    return OK;
}

static enum status pull(struct pulling *pulling, struct logical_node *node,
                        struct logical_node **out, struct error *err)
{
    *out = node;
    if (!is_correlated(node))
        return OK;
    switch (node->kind) {
    case LOGICAL_FILTER:
        return pull_filter(pulling, node, out, err);
    case LOGICAL_PROJECT:
        return pull_project(pulling, node, out, err);
    case LOGICAL_AGGREGATE:
        return pull_aggregate(pulling, node, out, err);
    case LOGICAL_JOIN:
        return pull_join(pulling, node, out, err);
    case LOGICAL_SORT:
    case LOGICAL_DISTINCT:
    case LOGICAL_GENERATE: {
        bool own = false;
        struct logical_node alone = *node;
        alone.child_count = 0;
        logical_walk(&alone, node_finds_outer, &own);
        if (own)
            return refuse(node, "A column of the outer query in this part of a subquery", err);
        return pull_over(pulling, node, out, err);
    }
    case LOGICAL_RELATION:
    case LOGICAL_VALUES:
    case LOGICAL_UNION:
    case LOGICAL_SET_OPERATION:
    case LOGICAL_DEDUP:
    case LOGICAL_LIMIT:
    case LOGICAL_WINDOW:
    case LOGICAL_EXPAND:
    case LOGICAL_WATERMARK:
    case LOGICAL_TIME_WINDOW:
    case LOGICAL_SESSION:
    case LOGICAL_SAMPLE:
        break;
    }
    return refuse(node, "A column of the outer query below a limit, a union or a window", err);
}

static bool is_global_aggregate(const struct logical_node *node)
{
    while (node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_SORT)
        node = node->children[0];
    if (node->kind == LOGICAL_LIMIT)
        return node->limit.limit == 1 || node->limit.limit == 0;
    return (node->kind == LOGICAL_AGGREGATE && node->aggregate.key_count == 0) ||
           (node->kind == LOGICAL_VALUES && node->values.row_count <= 1);
}

/* A computed column of an outer join's right side is NULL where there is no match. */
static enum status null_unmatched(struct pulling *pulling, struct expr **expr, struct error *err)
{
    struct rewriter *rewriter = pulling->rewriter;
    struct expr *args[] = {attribute_expr(rewriter->arena, pulling->match), *expr,
                           expr_null(rewriter->arena, (*expr)->type)};
    args[0]->nullable = true;
    struct function_call call = {
        .name = "if", .args = args, .arg_count = 3, .position = -1, .position_end = -1};
    return function_resolve(&rewriter->functions, &call, expr, err);
}

enum status decorrelate(struct rewriter *rewriter, struct logical_node *node,
                        struct logical_node *outer_plan, enum decorrelate_mode mode,
                        struct decorrelated *out, struct error *err)
{
    struct pulling pulling = {.rewriter = rewriter, .outer = outer_plan};
    memset(out, 0, sizeof *out);
    out->single_row = is_global_aggregate(node);
    if (mode == DECORRELATE_EXISTS)
        while ((node->kind == LOGICAL_LIMIT && node->limit.limit > 0 && node->limit.offset == 0 &&
                is_correlated(node)) ||
               (node->kind == LOGICAL_SORT && is_correlated(node)))
            node = node->children[0];
    struct logical_node *made;
    TRY(pull(&pulling, node, &made, err));
    bool outer = mode == DECORRELATE_SCALAR || mode == DECORRELATE_LATERAL_OUTER;
    if (outer && pulling.late_count > 0 && pulling.match == NULL) {
        pulling.match = attribute_new(rewriter->arena, rewriter->next_id++, "match",
                                      type_simple(TYPE_BOOLEAN), false);
        made = add_match(&pulling, made);
    }
    out->node = made;
    out->defaults = pulling.defaults;
    for (uint32_t i = 0; i < pulling.conditions.count; i++)
        expr_set_add(rewriter->arena, &out->conditions,
                     joined(rewriter, with_late(&pulling, pulling.conditions.items[i])));
    out->outputs =
        arena_new_object(rewriter->arena, (node->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        struct expr *column = attribute_expr(rewriter->arena, node->output[i]);
        column->nullable = column->nullable || outer;
        out->outputs[i] = joined(rewriter, with_late(&pulling, column));
        if (outer && !pulling.defaults && out->outputs[i]->kind != EXPR_COLUMN)
            TRY(null_unmatched(&pulling, &out->outputs[i], err));
    }
    return OK;
}

/* A one-row generator, perhaps below a projection. */
static struct logical_node *generator_of(struct logical_node *node)
{
    if (node->kind == LOGICAL_PROJECT)
        node = node->children[0];
    if (node->kind != LOGICAL_GENERATE || node->children[0]->kind != LOGICAL_VALUES ||
        node->children[0]->values.row_count != 1 || node->children[0]->output_count != 0)
        return NULL;
    return node;
}

static struct expr *to_variable(struct arena *arena, struct expr *expr, void *arg)
{
    const struct expr *variable = arg;
    if (expr->kind != EXPR_COLUMN || expr->column.attribute_id != variable->variable.id)
        return expr;
    struct expr *copy = expr_copy(arena, variable);
    copy->type = expr->type;
    return copy;
}

/* LEFT JOIN LATERAL explode(a) ON c: the elements for which c does not hold are left out of the
 * array, so that a row whose elements all fail comes out with NULL. */
static bool filter_elements(struct rewriter *rewriter, struct expr *generator,
                            const struct attribute *element, struct expr *condition)
{
    struct arena *arena = rewriter->arena;
    if (strcmp(generator->generator.function->name, "explode") != 0 ||
        generator->args[0]->type->id != TYPE_ARRAY)
        return false;
    struct expr *variable = arena_new_object(arena, sizeof *variable);
    variable->kind = EXPR_LAMBDA_VARIABLE;
    variable->type = element->type;
    variable->nullable = true;
    variable->position = variable->position_end = -1;
    variable->variable.id = element->id;
    variable->variable.name = element->name;
    struct expr *lambda = arena_new_object(arena, sizeof *lambda);
    lambda->kind = EXPR_LAMBDA;
    lambda->args = arena_new_object(arena, sizeof(struct expr *));
    lambda->args[0] = expr_rewrite(arena, condition, to_variable, variable);
    lambda->arg_count = 1;
    lambda->type = lambda->args[0]->type;
    lambda->nullable = true;
    lambda->position = lambda->position_end = -1;
    lambda->lambda.variable_count = 1;
    lambda->lambda.variable_ids = arena_new_object(arena, sizeof(uint32_t));
    lambda->lambda.variable_ids[0] = element->id;
    lambda->lambda.variable_names = arena_new_object(arena, sizeof(char *));
    lambda->lambda.variable_names[0] = element->name;
    struct expr *args[] = {generator->args[0], lambda};
    struct function_call call = {
        .name = "filter", .args = args, .arg_count = 2, .position = -1, .position_end = -1};
    struct error ignored = ERROR_INIT;
    return function_resolve(&rewriter->functions, &call, &generator->args[0], &ignored) == OK;
}

static bool is_true(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && expr->type->id == TYPE_BOOLEAN &&
           !vector_is_null(expr->literal.value, 0) &&
           VECTOR_VALUES(uint8_t, expr->literal.value)[0] != 0;
}

bool lateral_generator(struct rewriter *rewriter, struct logical_node *join,
                       struct logical_node **out)
{
    struct arena *arena = rewriter->arena;
    struct logical_node *left = join->children[0], *right = join->children[1];
    struct logical_node *from = generator_of(right);
    bool outer = join->join.kind == LOGICAL_JOIN_LEFT;
    struct expr *condition = join->join.condition;
    if (from == NULL)
        return false;
    if (condition != NULL && is_true(condition))
        condition = NULL;
    struct expr *generator = expr_copy(arena, joined(rewriter, from->generate.generator));
    bool filtered = outer && condition != NULL;
    if (filtered && (right != from || from->generate.outer || from->output_count != 1 ||
                     !filter_elements(rewriter, generator, from->output[0], condition)))
        return false;
    struct logical_node *node = logical_over(arena, LOGICAL_GENERATE, left);
    uint32_t width = left->output_count + from->output_count;
    node->generate.generator = generator;
    node->generate.outer = from->generate.outer || outer;
    node->output = arena_new_object(arena, (width + 1) * sizeof(struct attribute *));
    node->output_count = width;
    memcpy(node->output, left->output, left->output_count * sizeof(struct attribute *));
    for (uint32_t i = 0; i < from->output_count; i++) {
        node->output[left->output_count + i] = arena_new_object(arena, sizeof(struct attribute));
        *node->output[left->output_count + i] = *from->output[i];
        node->output[left->output_count + i]->nullable |= outer;
    }
    struct expr **exprs = arena_new_object(arena, (join->output_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < join->output_count; i++) {
        bool computed = i >= left->output_count && right != from;
        exprs[i] = computed ? joined(rewriter, right->project.exprs[i - left->output_count])
                            : attribute_expr(arena, join->output[i]);
    }
    *out = logical_project(arena, node, exprs, join->output, join->output_count);
    if (condition != NULL && !filtered)
        *out = logical_filter(arena, *out, condition);
    return true;
}
