#include "plan/state_inputs.h"

#include "base/hash.h"
#include "expr/aggregate.h"
#include "expr/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The hashes of a node's columns, each made when it is asked for: an expression may use a column
 * twice that uses two columns twice ... */
struct memo {
    const struct plan_node *node;
    uint64_t *hashes;
    bool *known;
    struct memo *next;
};

struct walk {
    struct arena *arena;
    const struct physical_plan *plan;
    struct memo *memos;
    /* Columns whose IS NOT NULL is no filter of its own, as a join has inferred it from itself. */
    uint64_t *inferred;
    uint32_t inferred_count, inferred_max;
};

/* The columns that an expression counts: those of `left`, then those of `right` (NULL: none). */
struct scope {
    struct walk *walk;
    const struct plan_node *left, *right;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof both);
}

static uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static uint64_t column_hash(struct walk *walk, const struct plan_node *node, uint32_t ordinal);

/* ---- one function under several names ---- */

const char *state_function_name(const char *name)
{
    static const char *const same[][2] = {
        {"stddev_samp", "stddev"}, {"var_samp", "variance"}, {"first_value", "first"},
        {"any_value", "first"},    {"last_value", "last"},
    };
    const struct aggregate *aggregate = aggregate_find(name);
    const struct function *function = aggregate == NULL ? function_find(name) : NULL;
    const char *found = aggregate != NULL  ? aggregate->name
                        : function != NULL ? function->name
                                           : NULL;
    for (size_t i = 0; found != NULL && i < sizeof same / sizeof same[0]; i++)
        if (strcmp(same[i][0], found) == 0)
            return same[i][1];
    return found;
}

static double number_of(const struct expr *expr)
{
    struct buffer text = {0};
    expr_print_name(&text, expr);
    char *end = NULL;
    double number = strtod(buffer_text(&text), &end);
    bool is_number = end != buffer_text(&text) && (*end == '\0' || strcmp(end, "D") == 0);
    buffer_fini(&text);
    return is_number ? number : -1;
}

/* percentile(v, 0.5) is median(v). */
static bool is_median(const struct expr *call)
{
    return strcmp(call->aggregate.aggregate->name, "percentile") == 0 && call->arg_count == 3 &&
           number_of(call->args[1]) == 0.5 && number_of(call->args[2]) == 1;
}

/* By the name that all names of a function have in common. */
static struct expr *call_by_main_name(struct arena *arena, struct expr *expr)
{
    if (expr->kind != EXPR_CALL && expr->kind != EXPR_AGGREGATE)
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    if (expr->kind == EXPR_CALL) {
        copy->call.name = expr->call.function->name;
        return copy;
    }
    const struct aggregate *aggregate = expr->aggregate.aggregate;
    const char *name = is_median(expr) ? "median" : state_function_name(aggregate->name);
    const struct aggregate *main = name == NULL ? NULL : aggregate_find(name);
    copy->aggregate.aggregate = main == NULL ? aggregate : main;
    copy->aggregate.name = copy->aggregate.aggregate->name;
    if (is_median(expr))
        copy->arg_count = 1;
    return copy;
}

static uint64_t hash_in(const struct scope *scope, uint32_t ordinal)
{
    uint32_t width = scope->left->schema->field_count;
    bool left = ordinal < width || scope->right == NULL;
    return left ? column_hash(scope->walk, scope->left, ordinal)
                : column_hash(scope->walk, scope->right, ordinal - width);
}

static struct expr *name_by_hash(struct arena *arena, struct expr *expr, void *arg)
{
    const struct scope *scope = arg;
    if (expr->kind != EXPR_COLUMN || expr->column.ordinal < 0)
        return call_by_main_name(arena, expr);
    uint64_t hash = hash_in(scope, (uint32_t)expr->column.ordinal);
    const char *name = arena_sprintf(arena, "%016llx", (unsigned long long)hash);
    return expr_column(arena, expr->column.attribute_id, name, expr->type, expr->nullable);
}

static uint64_t expr_hash(struct walk *walk, struct expr *expr, const struct plan_node *left,
                          const struct plan_node *right)
{
    struct scope scope = {walk, left, right};
    struct buffer text = {0};
    if (expr->kind == EXPR_COLUMN && expr->column.ordinal >= 0) /* passed on as it is */
        return hash_in(&scope, (uint32_t)expr->column.ordinal);
    expr_print_sql(&text, expr_rewrite(walk->arena, expr, name_by_hash, &scope));
    buffer_add_byte(&text, ' ');
    type_print_simple(&text, expr->type);
    uint64_t hash = hash_bytes(text.data, text.size_bytes);
    buffer_fini(&text);
    return hash;
}

static uint64_t exprs_hash(struct walk *walk, struct expr *const *exprs, uint32_t count,
                           const struct plan_node *input)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, expr_hash(walk, exprs[i], input, NULL));
    return hash;
}

static bool is_inferred(struct walk *walk, const struct expr *expr, const struct plan_node *input)
{
    if (walk->inferred_count == 0 || expr->kind != EXPR_CALL ||
        strcmp(expr->call.function->name, "isnotnull") != 0)
        return false;
    uint64_t hash = expr_hash(walk, expr->args[0], input, NULL);
    for (uint32_t i = 0; i < walk->inferred_count; i++)
        if (walk->inferred[i] == hash)
            return true;
    return false;
}

/* Whatever order the conditions stand in. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the condition is nested */
static uint64_t condition_hash(struct walk *walk, struct expr *expr, const struct plan_node *left,
                               const struct plan_node *right)
{
    bool is_and = expr->kind == EXPR_CALL && strcmp(expr->call.function->name, "and") == 0;
    if (!is_and)
        return is_inferred(walk, expr, left) ? 0 : expr_hash(walk, expr, left, right);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        sum += condition_hash(walk, expr->args[i], left, right);
    return sum;
}

/* Structs without the fields that nobody asks for are of the same column. */
static uint64_t scanned_column(const struct walk *walk, const struct plan_node *node,
                               uint32_t ordinal)
{
    struct buffer text = {0};
    const struct type_field *field = &node->schema->fields[ordinal];
    buffer_printf(&text, "%s.%s ", walk->plan->relations[node->scan.relation].spec->name,
                  field->name);
    if (!node->scan.narrowed)
        type_print_simple(&text, field->type);
    uint64_t hash = hash_bytes(text.data, text.size_bytes);
    buffer_fini(&text);
    return hash;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static uint64_t children_column(struct walk *walk, const struct plan_node *node, uint32_t ordinal)
{
    uint64_t hash = node->kind;
    for (uint32_t i = 0; i < node->child_count; i++)
        hash = mix(hash, column_hash(walk, node->children[i], ordinal));
    return hash;
}

/* A column that the node adds to those of its only child. */
static uint64_t added_column(struct walk *walk, const struct plan_node *node, uint32_t index)
{
    const struct plan_node *child = node->children[0];
    switch (node->kind) {
    case PLAN_GENERATE:
        return mix(index, expr_hash(walk, node->generate.generator, child, NULL));
    case PLAN_WINDOW:
        return index < node->window.function_count
                   ? expr_hash(walk, node->window.functions[index], child, NULL)
                   : index;
    case PLAN_SESSION:
        return mix(expr_hash(walk, node->session.event_time, child, NULL),
                   expr_hash(walk, node->session.gap, child, NULL));
    default:
        return mix(node->kind, index);
    }
}

static uint64_t expanded_column(struct walk *walk, const struct plan_node *node, uint32_t ordinal)
{
    uint64_t hash = node->expand.projection_count, first = 0;
    bool same = node->expand.projection_count > 0; /* passed on as it is */
    for (uint32_t i = 0; i < node->expand.projection_count; i++) {
        uint64_t one =
            expr_hash(walk, node->expand.projections[i][ordinal], node->children[0], NULL);
        first = i == 0 ? one : first;
        same = same && one == first;
        hash = mix(hash, one);
    }
    return same ? first : hash;
}

static uint64_t aggregated_column(struct walk *walk, const struct plan_node *node, uint32_t ordinal)
{
    uint32_t keys = node->aggregate.key_count;
    struct expr *expr = ordinal < keys ? node->aggregate.keys[ordinal]
                        : ordinal - keys < node->aggregate.aggregate_count
                            ? node->aggregate.aggregates[ordinal - keys]
                            : NULL;
    return expr == NULL ? ordinal : mix(node->kind, expr_hash(walk, expr, node->children[0], NULL));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static uint64_t make_column_hash(struct walk *walk, const struct plan_node *node, uint32_t ordinal)
{
    switch (node->kind) {
    case PLAN_SCAN:
        return scanned_column(walk, node, ordinal);
    case PLAN_PROJECT:
        return expr_hash(walk, node->project.exprs[ordinal], node->children[0], NULL);
    case PLAN_EXPAND:
        return expanded_column(walk, node, ordinal);
    case PLAN_AGGREGATE:
        return aggregated_column(walk, node, ordinal);
    case PLAN_UNION:
    case PLAN_SET_OPERATION:
        return children_column(walk, node, ordinal);
    case PLAN_VALUES:
        return ordinal;
    default:
        break;
    }
    uint32_t width = node->children[0]->schema->field_count;
    if (ordinal < width)
        return column_hash(walk, node->children[0], ordinal);
    if (node->kind == PLAN_JOIN && node->join.kind != JOIN_EXISTENCE)
        return column_hash(walk, node->children[1], ordinal - width);
    return added_column(walk, node, ordinal - width);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static uint64_t column_hash(struct walk *walk, const struct plan_node *node, uint32_t ordinal)
{
    uint32_t width = node->schema->field_count;
    struct memo *memo = walk->memos;
    if (ordinal >= width)
        return ordinal;
    while (memo != NULL && memo->node != node)
        memo = memo->next;
    if (memo == NULL) {
        memo = arena_new_object(walk->arena, sizeof *memo);
        *memo = (struct memo){
            .node = node,
            .hashes = arena_new_object(walk->arena, width * sizeof *memo->hashes),
            .known = arena_new_object(walk->arena, width * sizeof *memo->known),
            .next = walk->memos,
        };
        walk->memos = memo;
    }
    if (!memo->known[ordinal]) {
        memo->hashes[ordinal] = make_column_hash(walk, node, ordinal);
        memo->known[ordinal] = true;
    }
    return memo->hashes[ordinal];
}

/* ---- the parts of an operator ---- */

static uint64_t all_columns(struct walk *walk, const struct plan_node *node)
{
    uint64_t sum = 0; /* in any order */
    for (uint32_t i = 0; i < node->schema->field_count; i++)
        sum += column_hash(walk, node, i);
    return sum;
}

static uint64_t keys_hash(struct walk *walk, const struct plan_node *node)
{
    const struct plan_node *child = node->children[0];
    uint64_t hash = node->kind;
    switch (node->kind) {
    case PLAN_AGGREGATE:
        return exprs_hash(walk, node->aggregate.keys, node->aggregate.key_count, child);
    case PLAN_DEDUP:
        for (uint32_t i = 0; i < node->dedup.column_count; i++)
            hash = mix(hash, column_hash(walk, child, node->dedup.columns[i]));
        return hash;
    case PLAN_JOIN:
        return mix(
            exprs_hash(walk, node->join.left_keys, node->join.key_count, child),
            exprs_hash(walk, node->join.right_keys, node->join.key_count, node->children[1]));
    default:
        return hash;
    }
}

static uint64_t values_hash(struct walk *walk, const struct plan_node *node)
{
    switch (node->kind) {
    case PLAN_AGGREGATE:
        return exprs_hash(walk, node->aggregate.aggregates, node->aggregate.aggregate_count,
                          node->children[0]);
    case PLAN_JOIN:
        return mix(all_columns(walk, node->children[0]), all_columns(walk, node->children[1]));
    default:
        return 0;
    }
}

static uint64_t join_hash(struct walk *walk, const struct plan_node *node)
{
    uint64_t hash = mix(node->kind, node->join.kind);
    if (node->join.condition == NULL)
        return hash;
    return mix(hash,
               condition_hash(walk, node->join.condition, node->children[0], node->children[1]));
}

/* "time < window.end" above the windows that a row may be in says which of them it is in, which is
 * a matter of the windows. */
static bool bounds_window(struct walk *walk, const struct plan_node *node)
{
    const struct expr *test = node->filter.predicate;
    const struct plan_node *expand = node->children[0];
    if (expand->kind != PLAN_EXPAND || expand->expand.projection_count == 0 ||
        test->kind != EXPR_CALL || strcmp(test->call.function->name, "<") != 0)
        return false;
    const struct expr *end = test->args[1];
    if (end->kind != EXPR_CALL || end->arg_count == 0 || end->args[0]->kind != EXPR_COLUMN ||
        end->args[0]->column.ordinal < 0)
        return false;
    const struct expr *window = expand->expand.projections[0][end->args[0]->column.ordinal];
    return window->kind == EXPR_CALL && strcmp(window->call.function->name, "window") == 0 &&
           expr_hash(walk, test->args[0], expand, NULL) ==
               expr_hash(walk, window->args[0], expand->children[0], NULL);
}

/* What the node itself does to its rows.  What an expand adds is among the keys. */
static uint64_t own_rows(struct walk *walk, const struct plan_node *node)
{
    uint64_t sum = 0;
    switch (node->kind) {
    case PLAN_SCAN:
        sum = hash_text(walk->plan->relations[node->scan.relation].spec->name);
        for (uint32_t i = 0; i < node->scan.predicate_count; i++)
            sum += condition_hash(walk, node->scan.predicates[i], node, NULL);
        return sum;
    case PLAN_FILTER:
        return bounds_window(walk, node)
                   ? 0
                   : condition_hash(walk, node->filter.predicate, node->children[0], NULL);
    case PLAN_LIMIT:
        return mix((uint64_t)node->limit.limit, (uint64_t)node->limit.offset);
    case PLAN_JOIN:
        return mix(join_hash(walk, node), keys_hash(walk, node));
    case PLAN_AGGREGATE:
        return mix(keys_hash(walk, node), values_hash(walk, node));
    case PLAN_DEDUP:
        return keys_hash(walk, node);
    case PLAN_GENERATE:
        return mix(node->generate.outer, added_column(walk, node, 0));
    case PLAN_SET_OPERATION:
        return mix(node->kind, node->set_operation.operation);
    case PLAN_UNION:
    case PLAN_WINDOW:
        return node->kind;
    default:
        return 0;
    }
}

/* A sum: where a filter stands among projections does not matter. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static void add_below(struct walk *walk, const struct plan_node *node, struct state_inputs *out)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct plan_node *child = node->children[i];
        out->rows += own_rows(walk, child);
        if (child->kind == PLAN_WATERMARK)
            out->watermarks +=
                mix(column_hash(walk, child->children[0], (uint32_t)child->watermark.column),
                    (uint64_t)child->watermark.delay_us);
        add_below(walk, child, out);
    }
}

/* ---- what a join infers from itself ---- */

static bool add_inferred(const struct expr *expr, void *arg)
{
    const struct scope *scope = arg;
    struct walk *walk = scope->walk;
    if (expr->kind != EXPR_COLUMN || expr->column.ordinal < 0)
        return true;
    if (walk->inferred_count == walk->inferred_max) {
        uint64_t *more = arena_new_object(walk->arena, (walk->inferred_max * 2 + 8) * sizeof *more);
        if (walk->inferred_count > 0)
            memcpy(more, walk->inferred, walk->inferred_count * sizeof *more);
        walk->inferred = more;
        walk->inferred_max = walk->inferred_max * 2 + 8;
    }
    walk->inferred[walk->inferred_count++] = hash_in(scope, (uint32_t)expr->column.ordinal);
    return true;
}

/* The rows that reach a join, whatever it infers of its columns being not NULL: that depends on its
 * kind and condition. */
static uint64_t rows_of_join(struct walk *walk, const struct plan_node *node)
{
    struct state_inputs below = {0};
    struct scope left = {walk, node->children[0], NULL}, right = {walk, node->children[1], NULL};
    struct scope both = {walk, node->children[0], node->children[1]};
    for (uint32_t i = 0; i < node->join.key_count; i++) {
        expr_walk(node->join.left_keys[i], add_inferred, &left);
        expr_walk(node->join.right_keys[i], add_inferred, &right);
    }
    if (node->join.condition != NULL)
        expr_walk(node->join.condition, add_inferred, &both);
    add_below(walk, node, &below);
    walk->inferred_count = 0;
    return below.rows;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static uint32_t count_operators(const struct plan_node *node)
{
    uint32_t count = node->operator_id >= 0 ? 1 : 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_operators(node->children[i]);
    return count;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the plan */
static void fill_operators(struct walk *walk, const struct plan_node *node,
                           struct state_inputs **next)
{
    if (node->operator_id >= 0) {
        struct state_inputs *out = (*next)++;
        *out =
            (struct state_inputs){.keys = keys_hash(walk, node), .values = values_hash(walk, node)};
        add_below(walk, node, out);
        out->rows_of_join = out->rows;
        if (node->kind == PLAN_JOIN) {
            out->join = join_hash(walk, node);
            out->rows_of_join = rows_of_join(walk, node);
        }
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        fill_operators(walk, node->children[i], next);
}

void state_inputs_of(struct arena *arena, const struct physical_plan *plan,
                     struct state_inputs **out, uint32_t *count)
{
    struct walk walk = {.arena = arena, .plan = plan};
    *count = count_operators(plan->root);
    *out = arena_new_object(arena, (*count + 1) * sizeof **out);
    struct state_inputs *next = *out;
    fill_operators(&walk, plan->root, &next);
}

uint64_t state_inputs_expr(struct arena *arena, const struct physical_plan *plan, struct expr *expr,
                           const struct plan_node *input)
{
    struct walk walk = {.arena = arena, .plan = plan};
    return expr_hash(&walk, expr, input, NULL);
}
