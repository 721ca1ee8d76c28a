#include "expr/aggregate.h"

#include "base/check.h"
#include "expr/aggregate_impl.h"
#include "expr/signature.h"

#include <stdio.h>
#include <strings.h>

enum {
    NEVER_NULL = AGGREGATE_NEVER_NULL,
    ORDERED = AGGREGATE_ORDERED,
    IGNORE_NULLS = AGGREGATE_IGNORE_NULLS,
    WITHIN_GROUP = AGGREGATE_WITHIN_GROUP,
    NEEDS_ORDER = AGGREGATE_NEEDS_ORDER,
    DUPLICATES = AGGREGATE_DUPLICATES,
    KEEPS_ALL = AGGREGATE_KEEPS_ALL,
    KEEPS_DISTINCT = AGGREGATE_KEEPS_DISTINCT,
};

static const struct aggregate aggregates[] = {
#define AGGREGATE(name_, aliases_, print_, signature_, flags_, resolve_, ops_)                     \
    {.name = (name_),                                                                              \
     .aliases = (aliases_),                                                                        \
     .print = (print_),                                                                            \
     .signature = (signature_),                                                                    \
     .flags = (flags_),                                                                            \
     .resolve = (resolve_),                                                                        \
     .ops = &(ops_)},
#include "expr/aggregates.def"
#undef AGGREGATE
};

#define AGGREGATE_COUNT (sizeof aggregates / sizeof aggregates[0])

const struct aggregate *aggregate_find(const char *name)
{
    for (size_t i = 0; i < AGGREGATE_COUNT; i++) {
        if (function_name_matches(aggregates[i].name, aggregates[i].aliases, name))
            return &aggregates[i];
    }
    return NULL;
}

const struct aggregate *aggregate_list(uint32_t *count)
{
    *count = (uint32_t)AGGREGATE_COUNT;
    return aggregates;
}

void aggregate_each_name(void (*visit)(void *arg, const char *name,
                                       const struct aggregate *aggregate),
                         void *arg)
{
    for (size_t i = 0; i < AGGREGATE_COUNT; i++) {
        if (strchr(aggregates[i].name, ' ') != NULL) /* a variant that has no name of its own */
            continue;
        visit(arg, aggregates[i].name, &aggregates[i]);
        const char *at = aggregates[i].aliases;
        while (at != NULL && *at != '\0') {
            at += *at == '=';
            size_t length = strcspn(at, "|");
            char name[64];
            CHECK(length < sizeof name);
            memcpy(name, at, length);
            name[length] = '\0';
            visit(arg, name, &aggregates[i]);
            at += length + (at[length] == '|');
        }
    }
}

void aggregate_finish_call(struct expr *call, const struct type *type)
{
    call->type = type;
    call->nullable = (call->aggregate.aggregate->flags & AGGREGATE_NEVER_NULL) == 0;
}

enum status aggregate_apply(struct resolve_context *ctx, struct expr *call, const char *text,
                            struct error *err)
{
    struct signature signature;
    const struct type *type;
    signature_parse(&signature, text);
    TRY(signature_apply(ctx, &signature, call, &type, err));
    aggregate_finish_call(call, type);
    return OK;
}

static struct expr *new_call(struct resolve_context *ctx, const struct aggregate *aggregate,
                             const char *name, const struct aggregate_call *call)
{
    struct expr *node = arena_new_object(ctx->arena, sizeof *node);
    node->kind = EXPR_AGGREGATE;
    node->position = call->position;
    node->position_end = call->position_end;
    node->args =
        arena_new_object(ctx->arena, ((size_t)call->arg_count + 2) * sizeof(struct expr *));
    for (uint32_t i = 0; i < call->arg_count; i++)
        node->args[i] = call->args[i];
    node->arg_count = call->arg_count;
    node->aggregate.aggregate = aggregate;
    node->aggregate.name = name;
    node->aggregate.distinct = call->distinct;
    node->aggregate.filter = call->filter;
    node->aggregate.order = call->order;
    node->aggregate.order_count = call->order_count;
    node->aggregate.ignore_nulls = call->nulls == 1;
    return node;
}

static enum status check_syntax(const struct aggregate *aggregate, const char *name,
                                const struct aggregate_call *call, struct error *err)
{
    char quoted[128];
    (void)snprintf(quoted, sizeof quoted, "`%s`", name);
    if (call->order_count > 0 && (aggregate->flags & AGGREGATE_WITHIN_GROUP) == 0)
        return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                              call->position, call->position_end, "prettyName", quoted, "syntax",
                              "WITHIN GROUP (ORDER BY ...)", NULL);
    if (call->distinct && (aggregate->flags & AGGREGATE_NEEDS_ORDER) != 0)
        return error_raise_at(err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__DISTINCT_UNSUPPORTED,
                              call->position, call->position_end, "funcName", quoted, NULL);
    if (call->order_count == 0 && (aggregate->flags & AGGREGATE_NEEDS_ORDER) != 0)
        return error_raise_at(err, STATUS_INVALID_WITHIN_GROUP_EXPRESSION__WITHIN_GROUP_MISSING,
                              call->position, call->position_end, "funcName", quoted, NULL);
    if (call->nulls == 1 && (aggregate->flags & AGGREGATE_IGNORE_NULLS) == 0)
        return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                              call->position, call->position_end, "prettyName", quoted, "syntax",
                              "\"IGNORE NULLS\"", NULL);
    return OK;
}

enum status aggregate_resolve(struct resolve_context *ctx, const struct aggregate_call *call,
                              struct expr **out, struct error *err)
{
    const struct aggregate *aggregate = aggregate_find(call->name);
    if (aggregate == NULL) {
        char quoted[256];
        (void)snprintf(quoted, sizeof quoted, "`%s`", call->name);
        return error_raise_at(err, STATUS_UNRESOLVED_ROUTINE, call->position, call->position_end,
                              "routineName", quoted, "searchPath", "", NULL);
    }
    const char *name = function_lower_name(ctx->arena, call->name);
    struct function_call counted = {.name = name,
                                    .args = call->args,
                                    .arg_count = call->arg_count,
                                    .position = call->position,
                                    .position_end = call->position_end};
    TRY(function_check_count(name, aggregate->signature, &counted, err));
    TRY(check_syntax(aggregate, name, call, err));
    /* first_value(x) RESPECT NULLS prints as first(x) */
    if (call->nulls == 2 && (strcmp(name, "first_value") == 0 || strcmp(name, "last_value") == 0))
        name = strcmp(name, "first_value") == 0 ? "first" : "last";
    struct expr *node = new_call(ctx, aggregate, name, call);
    *out = node;
    if (aggregate->resolve != NULL)
        return aggregate->resolve(ctx, node, out, err);
    return aggregate_apply(ctx, node, aggregate->signature, err);
}

static const struct aggregate_ops *ops_of(const struct expr *expr)
{
    CHECK(expr->kind == EXPR_AGGREGATE);
    return expr->aggregate.aggregate->ops;
}

size_t aggregate_state_bytes(const struct expr *expr)
{
    return (ops_of(expr)->state_bytes(expr) + 7) & ~(size_t)7;
}

void aggregate_init(const struct expr *expr, uint8_t *state)
{
    if (ops_of(expr)->init != NULL)
        ops_of(expr)->init(expr, state);
}

enum status aggregate_update(const struct aggregate_update *update, struct error *err)
{
    CHECK(update->states != NULL || update->state != NULL);
    return ops_of(update->expr)->update(update, err);
}
