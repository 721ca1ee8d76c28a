#include "expr/expr.h"

#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/function.h"

/* The tree is as deep as the parser allows; rewrites add a few levels. */

static struct expr *expr_new(struct arena *arena, enum expr_kind kind, const struct type *type)
{
    struct expr *expr = arena_new_object(arena, sizeof *expr);
    expr->kind = kind;
    expr->type = type;
    expr->nullable = true;
    expr->position = -1;
    expr->position_end = -1;
    return expr;
}

struct expr *expr_literal(struct arena *arena, struct vector *value)
{
    CHECK(value->constant);
    struct expr *expr = expr_new(arena, EXPR_LITERAL, value->type);
    expr->literal.value = value;
    expr->nullable = vector_is_null(value, 0);
    return expr;
}

struct expr *expr_null(struct arena *arena, const struct type *type)
{
    struct vector *value = arena_new_object(arena, sizeof *value);
    value->type = type;
    value->length = 1;
    value->constant = true;
    value->validity = arena_new_object(arena, sizeof(uint64_t));
    value->values = arena_new_object(arena, 32);
    if (type->id == TYPE_STRUCT) {
        value->child_count = type->field_count;
        value->children = arena_new_object(arena, type->field_count * sizeof(struct vector *) + 1);
        for (uint32_t i = 0; i < type->field_count; i++)
            value->children[i] = expr_null(arena, type->fields[i].type)->literal.value;
    } else if (type->id == TYPE_ARRAY || type->id == TYPE_MAP) {
        value->child_count = type->id == TYPE_MAP ? 2 : 1;
        value->children = arena_new_object(arena, 2 * sizeof(struct vector *));
        if (type->id == TYPE_MAP)
            value->children[0] = expr_null(arena, type->key)->literal.value;
        value->children[value->child_count - 1] = expr_null(arena, type->element)->literal.value;
    }
    return expr_literal(arena, value);
}

static struct expr *literal_of(struct arena *arena, const struct type *type, const void *cell)
{
    struct vector *value = arena_new_object(arena, sizeof *value);
    size_t size_bytes = type_value_bytes(type);
    value->type = type;
    value->length = 1;
    value->constant = true;
    value->values = arena_new_object(arena, size_bytes);
    memcpy(value->values, cell, size_bytes);
    return expr_literal(arena, value);
}

struct expr *expr_literal_int(struct arena *arena, int32_t value)
{
    return literal_of(arena, type_simple(TYPE_INT), &value);
}

struct expr *expr_literal_long(struct arena *arena, int64_t value)
{
    return literal_of(arena, type_simple(TYPE_LONG), &value);
}

struct expr *expr_literal_boolean(struct arena *arena, bool value)
{
    uint8_t cell = value;
    return literal_of(arena, type_simple(TYPE_BOOLEAN), &cell);
}

struct expr *expr_literal_string(struct arena *arena, struct bytes value)
{
    struct bytes copy = arena_copy(arena, value);
    return literal_of(arena, type_simple(TYPE_STRING), &copy);
}

struct expr *expr_column(struct arena *arena, uint32_t attribute_id, const char *name,
                         const struct type *type, bool nullable)
{
    struct expr *expr = expr_new(arena, EXPR_COLUMN, type);
    expr->nullable = nullable;
    expr->column.attribute_id = attribute_id;
    expr->column.ordinal = -1;
    expr->column.name = name;
    return expr;
}

struct expr *expr_cast(struct arena *arena, struct expr *child, const struct type *type,
                       enum cast_mode mode, const char *time_zone)
{
    struct expr *expr = expr_new(arena, EXPR_CAST, type);
    expr->position = child->position;
    expr->position_end = child->position_end;
    expr->args = arena_new_object(arena, sizeof(struct expr *));
    expr->args[0] = child;
    expr->arg_count = 1;
    expr->cast.mode = mode;
    expr->cast.time_zone = time_zone;
    expr->nullable = true;
    return expr;
}

struct expr *expr_call(struct arena *arena, const struct function *function, const char *name,
                       struct expr *const *args, uint32_t arg_count)
{
    struct expr *expr = expr_new(arena, EXPR_CALL, NULL);
    expr->call.function = function;
    expr->call.name = name;
    expr->args = arena_new_object(arena, (arg_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < arg_count; i++)
        expr->args[i] = args[i];
    expr->arg_count = arg_count;
    return expr;
}

struct expr *expr_copy(struct arena *arena, const struct expr *expr)
{
    struct expr *copy = arena_new_object(arena, sizeof *copy);
    *copy = *expr;
    copy->args = arena_new_object(arena, (expr->arg_count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = expr->args[i];
    return copy;
}

/* The expressions of a node that are not among its args. */
static uint32_t extra_count(const struct expr *expr)
{
    if (expr->kind == EXPR_AGGREGATE)
        return (expr->aggregate.filter != NULL) + expr->aggregate.order_count;
    if (expr->kind == EXPR_WINDOW)
        return expr->window.order_count + (expr->window.frame.lower != NULL) +
               (expr->window.frame.upper != NULL);
    return 0;
}

static struct expr **extra_slot(struct expr *expr, uint32_t index)
{
    if (expr->kind == EXPR_AGGREGATE) {
        if (index < expr->aggregate.order_count)
            return &expr->aggregate.order[index].expr;
        return &expr->aggregate.filter;
    }
    if (index < expr->window.order_count)
        return &expr->window.order[index].expr;
    index -= expr->window.order_count;
    if (index == 0 && expr->window.frame.lower != NULL)
        return &expr->window.frame.lower;
    return &expr->window.frame.upper;
}

static struct expr *extra_get(const struct expr *expr, uint32_t index)
{
    struct expr copy = *expr;
    return *extra_slot(&copy, index);
}

bool expr_walk(const struct expr *expr, bool (*visit)(const struct expr *expr, void *arg),
               void *arg)
{
    if (!visit(expr, arg))
        return false;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (!expr_walk(expr->args[i], visit, arg))
            return false;
    }
    for (uint32_t i = 0; i < extra_count(expr); i++) {
        if (!expr_walk(extra_get(expr, i), visit, arg))
            return false;
    }
    return true;
}

static void copy_order(struct arena *arena, struct sort_key **keys, uint32_t count)
{
    struct sort_key *copy = arena_new_object(arena, (count + 1) * sizeof *copy);
    if (count > 0)
        memcpy(copy, *keys, count * sizeof *copy);
    *keys = copy;
}

struct expr *
expr_rewrite(struct arena *arena, struct expr *expr,
             struct expr *(*rewrite)(struct arena *arena, struct expr *expr, void *arg), void *arg)
{
    struct expr *copy = NULL;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        struct expr *changed = expr_rewrite(arena, expr->args[i], rewrite, arg);
        if (changed == expr->args[i])
            continue;
        if (copy == NULL)
            copy = expr_copy(arena, expr);
        copy->args[i] = changed;
    }
    uint32_t extras = extra_count(expr);
    if (extras > 0) {
        if (copy == NULL)
            copy = expr_copy(arena, expr);
        if (copy->kind == EXPR_AGGREGATE)
            copy_order(arena, &copy->aggregate.order, copy->aggregate.order_count);
        else
            copy_order(arena, &copy->window.order, copy->window.order_count);
        for (uint32_t i = 0; i < extras; i++) {
            struct expr **slot = extra_slot(copy, i);
            *slot = expr_rewrite(arena, *slot, rewrite, arg);
        }
    }
    return rewrite(arena, copy == NULL ? expr : copy, arg);
}

static bool order_equal(const struct sort_key *a, const struct sort_key *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].descending != b[i].descending || a[i].nulls_first != b[i].nulls_first ||
            !expr_equal(a[i].expr, b[i].expr))
            return false;
    }
    return true;
}

static bool optional_equal(const struct expr *a, const struct expr *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return expr_equal(a, b);
}

static bool literal_equal(const struct expr *a, const struct expr *b)
{
    const struct vector *x = a->literal.value;
    const struct vector *y = b->literal.value;
    bool null = vector_is_null(x, 0);
    if (null != vector_is_null(y, 0))
        return false;
    if (!null && (a->type->id == TYPE_FLOAT || a->type->id == TYPE_DOUBLE))
        return memcmp(x->values, y->values, type_value_bytes(a->type)) == 0; /* 0.0 is not -0.0 */
    return null || vector_equal(x, 0, y, 0);
}

static bool payload_equal(const struct expr *a, const struct expr *b)
{
    switch (a->kind) {
    case EXPR_LITERAL:
        return literal_equal(a, b);
    case EXPR_COLUMN:
    case EXPR_OUTER:
        return a->column.attribute_id == b->column.attribute_id;
    case EXPR_CALL:
        return a->call.function == b->call.function && a->call.kernel == b->call.kernel &&
               (a->call.bound == b->call.bound || (a->call.bound != NULL && b->call.bound != NULL));
    case EXPR_CAST:
        return a->cast.mode == b->cast.mode;
    case EXPR_LAMBDA:
        return a->lambda.variable_count == b->lambda.variable_count &&
               memcmp(a->lambda.variable_ids, b->lambda.variable_ids,
                      a->lambda.variable_count * sizeof(uint32_t)) == 0;
    case EXPR_LAMBDA_VARIABLE:
        return a->variable.id == b->variable.id;
    case EXPR_AGGREGATE:
        return a->aggregate.aggregate == b->aggregate.aggregate &&
               a->aggregate.distinct == b->aggregate.distinct &&
               a->aggregate.ignore_nulls == b->aggregate.ignore_nulls &&
               a->aggregate.order_count == b->aggregate.order_count &&
               optional_equal(a->aggregate.filter, b->aggregate.filter) &&
               order_equal(a->aggregate.order, b->aggregate.order, a->aggregate.order_count);
    case EXPR_WINDOW:
        return a->window.partition_count == b->window.partition_count &&
               a->window.order_count == b->window.order_count &&
               a->window.has_frame == b->window.has_frame &&
               a->window.frame.rows == b->window.frame.rows &&
               optional_equal(a->window.frame.lower, b->window.frame.lower) &&
               optional_equal(a->window.frame.upper, b->window.frame.upper) &&
               order_equal(a->window.order, b->window.order, a->window.order_count);
    case EXPR_GENERATOR:
        return a->generator.function == b->generator.function &&
               a->generator.outer == b->generator.outer;
    case EXPR_SUBQUERY:
        return a->subquery.kind == b->subquery.kind && a->subquery.plan == b->subquery.plan &&
               a->subquery.negated == b->subquery.negated;
    }
    return false;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->arg_count != b->arg_count || a->type == NULL || b->type == NULL ||
        !type_equal(a->type, b->type))
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!expr_equal(a->args[i], b->args[i]))
            return false;
    }
    return payload_equal(a, b);
}

static bool visit_deterministic(const struct expr *expr, void *arg)
{
    (void)arg;
    return expr->kind != EXPR_CALL || (expr->call.function->flags & FUNCTION_RANDOM) == 0;
}

bool expr_is_deterministic(const struct expr *expr)
{
    return expr_walk(expr, visit_deterministic, NULL);
}

static bool visit_foldable(const struct expr *expr, void *arg)
{
    (void)arg;
    switch (expr->kind) {
    case EXPR_LITERAL:
    case EXPR_CAST:
    case EXPR_LAMBDA:
    case EXPR_LAMBDA_VARIABLE:
        return true;
    case EXPR_CALL:
        return (expr->call.function->flags & (FUNCTION_RANDOM | FUNCTION_PER_BATCH)) == 0;
    case EXPR_COLUMN:
    case EXPR_AGGREGATE:
    case EXPR_WINDOW:
    case EXPR_GENERATOR:
    case EXPR_SUBQUERY:
    case EXPR_OUTER:
        return false;
    }
    return false;
}

struct scope {
    const uint32_t *ids;
    uint32_t count;
    const struct scope *outer;
};

/* Whether every lambda variable below is bound by a lambda below. */
static bool variables_are_bound(const struct expr *expr, const struct scope *scope)
{
    if (expr->kind == EXPR_LAMBDA_VARIABLE) {
        for (; scope != NULL; scope = scope->outer) {
            for (uint32_t i = 0; i < scope->count; i++) {
                if (scope->ids[i] == expr->variable.id)
                    return true;
            }
        }
        return false;
    }
    struct scope inner = {.outer = scope};
    if (expr->kind == EXPR_LAMBDA) {
        inner.ids = expr->lambda.variable_ids;
        inner.count = expr->lambda.variable_count;
        scope = &inner;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (!variables_are_bound(expr->args[i], scope))
            return false;
    }
    return true;
}

bool expr_is_foldable(const struct expr *expr)
{
    return expr_walk(expr, visit_foldable, NULL) && variables_are_bound(expr, NULL);
}

static bool visit_kind(const struct expr *expr, void *arg)
{
    return expr->kind != *(const enum expr_kind *)arg;
}

bool expr_has_kind(const struct expr *expr, enum expr_kind kind)
{
    return !expr_walk(expr, visit_kind, &kind);
}
