#include "analyze/logical_plan.h"

#include "base/check.h"

struct logical_node *logical_new(struct arena *arena, enum logical_kind kind,
                                 struct logical_node *const *children, uint32_t child_count)
{
    struct logical_node *node = arena_new_object(arena, sizeof *node);
    node->kind = kind;
    node->position = node->position_end = -1;
    node->child_count = child_count;
    if (child_count > 0) {
        node->children = arena_new_object(arena, child_count * sizeof(struct logical_node *));
        memcpy(node->children, children, child_count * sizeof(struct logical_node *));
    }
    for (uint32_t i = 0; i < child_count; i++)
        node->streaming = node->streaming || children[i]->streaming;
    return node;
}

struct logical_node *logical_over(struct arena *arena, enum logical_kind kind,
                                  struct logical_node *child)
{
    struct logical_node *node = logical_new(arena, kind, &child, 1);
    node->output = child->output;
    node->output_count = child->output_count;
    node->position = child->position;
    node->position_end = child->position_end;
    node->view = child->view;
    return node;
}

struct logical_node *logical_filter(struct arena *arena, struct logical_node *child,
                                    struct expr *predicate)
{
    struct logical_node *node = logical_over(arena, LOGICAL_FILTER, child);
    node->filter.predicate = predicate;
    return node;
}

struct logical_node *logical_project(struct arena *arena, struct logical_node *child,
                                     struct expr **exprs, struct attribute **output, uint32_t count)
{
    struct logical_node *node = logical_over(arena, LOGICAL_PROJECT, child);
    node->project.exprs = exprs;
    node->output = output;
    node->output_count = count;
    return node;
}

struct attribute *attribute_new(struct arena *arena, uint32_t id, const char *name,
                                const struct type *type, bool nullable)
{
    CHECK(type != NULL);
    struct attribute *attribute = arena_new_object(arena, sizeof *attribute);
    attribute->id = id;
    attribute->name = name;
    attribute->type = type;
    attribute->nullable = nullable;
    return attribute;
}

struct expr *attribute_expr(struct arena *arena, const struct attribute *attribute)
{
    struct expr *expr =
        expr_column(arena, attribute->id, attribute->name, attribute->type, attribute->nullable);
    expr->column.qualifier = attribute->qualifier;
    return expr;
}

struct attribute *logical_find_output(const struct logical_node *node, uint32_t id,
                                      uint32_t *ordinal)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (node->output[i]->id != id)
            continue;
        if (ordinal != NULL)
            *ordinal = i;
        return node->output[i];
    }
    return NULL;
}

const struct type *logical_schema(struct arena *arena, const struct logical_node *node)
{
    struct type_field *fields = arena_new_object(arena, (node->output_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < node->output_count; i++) {
        fields[i].name = node->output[i]->name;
        fields[i].type = node->output[i]->type;
        fields[i].nullable = node->output[i]->nullable;
    }
    return type_struct(arena, fields, node->output_count);
}

bool logical_walk(struct logical_node *node, bool (*visit)(struct logical_node *node, void *arg),
                  void *arg)
{
    if (!visit(node, arg))
        return false;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!logical_walk(node->children[i], visit, arg))
            return false;
    return true;
}

struct each {
    enum status (*visit)(struct expr **slot, void *arg, struct error *err);
    void *arg;
};

static enum status each_of(const struct each *each, struct expr **exprs, uint32_t count,
                           struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (exprs[i] != NULL)
            TRY(each->visit(&exprs[i], each->arg, err));
    return OK;
}

enum status logical_each_expr(struct logical_node *node,
                              enum status (*visit)(struct expr **slot, void *arg,
                                                   struct error *err),
                              void *arg, struct error *err)
{
    struct each each = {visit, arg};
    switch (node->kind) {
    case LOGICAL_VALUES:
        return each_of(&each, node->values.cells, node->values.row_count * node->output_count, err);
    case LOGICAL_PROJECT:
        return each_of(&each, node->project.exprs, node->output_count, err);
    case LOGICAL_FILTER:
        return each_of(&each, &node->filter.predicate, 1, err);
    case LOGICAL_AGGREGATE:
        TRY(each_of(&each, node->aggregate.keys, node->aggregate.key_count, err));
        return each_of(&each, node->aggregate.aggregates, node->aggregate.aggregate_count, err);
    case LOGICAL_JOIN:
        return each_of(&each, &node->join.condition, 1, err);
    case LOGICAL_SORT:
        for (uint32_t i = 0; i < node->sort.key_count; i++)
            TRY(visit(&node->sort.keys[i].expr, arg, err));
        return OK;
    case LOGICAL_WINDOW:
        return each_of(&each, node->window.functions, node->window.function_count, err);
    case LOGICAL_GENERATE:
        return each_of(&each, &node->generate.generator, 1, err);
    case LOGICAL_EXPAND:
        for (uint32_t i = 0; i < node->expand.projection_count; i++)
            TRY(each_of(&each, node->expand.projections[i], node->output_count, err));
        return OK;
    case LOGICAL_TIME_WINDOW:
        return each_of(&each, &node->time_window.time, 1, err);
    case LOGICAL_SESSION:
        TRY(each_of(&each, &node->session.time, 1, err));
        return each_of(&each, &node->session.gap, 1, err);
    case LOGICAL_RELATION:
    case LOGICAL_UNION:
    case LOGICAL_SET_OPERATION:
    case LOGICAL_DISTINCT:
    case LOGICAL_DEDUP:
    case LOGICAL_LIMIT:
    case LOGICAL_WATERMARK:
    case LOGICAL_SAMPLE:
        return OK;
    }
    return OK;
}

const char *logical_kind_name(enum logical_kind kind)
{
    static const char *const names[] = {
        [LOGICAL_RELATION] = "Relation",
        [LOGICAL_VALUES] = "LocalRelation",
        [LOGICAL_PROJECT] = "Project",
        [LOGICAL_FILTER] = "Filter",
        [LOGICAL_AGGREGATE] = "Aggregate",
        [LOGICAL_JOIN] = "Join",
        [LOGICAL_UNION] = "Union",
        [LOGICAL_SET_OPERATION] = "SetOperation",
        [LOGICAL_DISTINCT] = "Distinct",
        [LOGICAL_DEDUP] = "Deduplicate",
        [LOGICAL_SORT] = "Sort",
        [LOGICAL_LIMIT] = "Limit",
        [LOGICAL_WINDOW] = "Window",
        [LOGICAL_GENERATE] = "Generate",
        [LOGICAL_EXPAND] = "Expand",
        [LOGICAL_WATERMARK] = "EventTimeWatermark",
        [LOGICAL_TIME_WINDOW] = "TimeWindow",
        [LOGICAL_SESSION] = "SessionWindow",
        [LOGICAL_SAMPLE] = "Sample",
    };
    CHECK((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}
