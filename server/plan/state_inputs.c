#include "plan/state_inputs.h"

#include "base/hash.h"
#include "expr/function.h"

#include <stdio.h>
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

static struct expr *name_by_hash(struct arena *arena, struct expr *expr, void *arg)
{
    const struct scope *scope = arg;
    if (expr->kind != EXPR_COLUMN || expr->column.ordinal < 0)
        return expr;
    uint32_t ordinal = (uint32_t)expr->column.ordinal;
    uint32_t width = scope->left->schema->field_count;
    bool left = ordinal < width || scope->right == NULL;
    uint64_t hash = left ? column_hash(scope->walk, scope->left, ordinal)
                         : column_hash(scope->walk, scope->right, ordinal - width);
    const char *name = arena_sprintf(arena, "%016llx", (unsigned long long)hash);
    return expr_column(arena, expr->column.attribute_id, name, expr->type, expr->nullable);
}

static uint64_t expr_hash(struct walk *walk, struct expr *expr, const struct plan_node *left,
                          const struct plan_node *right)
{
    struct scope scope = {walk, left, right};
    struct buffer text = {0};
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

/* Whatever order the conditions stand in. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the condition is nested */
static uint64_t condition_hash(struct walk *walk, struct expr *expr, const struct plan_node *left,
                               const struct plan_node *right)
{
    bool is_and = expr->kind == EXPR_CALL && strcmp(expr->call.function->name, "and") == 0;
    if (!is_and)
        return expr_hash(walk, expr, left, right);
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
    uint64_t hash = node->expand.projection_count;
    for (uint32_t i = 0; i < node->expand.projection_count; i++)
        hash = mix(hash,
                   expr_hash(walk, node->expand.projections[i][ordinal], node->children[0], NULL));
    return hash;
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

/* What the node itself does to its rows. */
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
        return condition_hash(walk, node->filter.predicate, node->children[0], NULL);
    case PLAN_LIMIT:
        return mix((uint64_t)node->limit.limit, (uint64_t)node->limit.offset);
    case PLAN_JOIN:
        if (node->join.condition != NULL)
            sum = condition_hash(walk, node->join.condition, node->children[0], node->children[1]);
        return mix(mix(node->kind, node->join.kind), mix(keys_hash(walk, node), sum));
    case PLAN_AGGREGATE:
        return mix(keys_hash(walk, node), values_hash(walk, node));
    case PLAN_DEDUP:
        return keys_hash(walk, node);
    case PLAN_GENERATE:
        return mix(node->generate.outer, added_column(walk, node, 0));
    case PLAN_EXPAND:
        return mix(node->kind, node->expand.projection_count);
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
        if (node->kind == PLAN_JOIN)
            out->rows = own_rows(walk, node);
        add_below(walk, node, out);
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
