#include "plan/prune_fields.h"

#include "base/check.h"

#include <string.h>
#include <strings.h>

/* What is used of a struct: a tree along its fields. */
struct field_use {
    const char *name;
    bool whole;
    struct field_use *fields;
    struct field_use *next;
};

struct column_use {
    struct field_use use;
    bool candidate;          /* a struct column of a relation */
    const struct type *type; /* narrowed, or NULL */
};

struct field_pruner {
    struct rewriter *rewriter;
    struct column_use *columns; /* by attribute id */
    uint32_t size;
};

/* base.name of a struct; NULL otherwise. */
static const struct expr *field_base(const struct expr *expr, struct bytes *name)
{
    if (expr->kind != EXPR_CALL || expr->arg_count != 2 ||
        strcmp(expr->call.function->name, ".") != 0 || expr->args[0]->type->id != TYPE_STRUCT ||
        expr->args[1]->kind != EXPR_LITERAL || expr->args[1]->type->id != TYPE_STRING)
        return NULL;
    *name = VECTOR_VALUES(struct bytes, expr->args[1]->literal.value)[0];
    return expr->args[0];
}

static struct field_use *use_field(struct field_pruner *pruner, struct field_use *use,
                                   struct bytes name)
{
    for (struct field_use *field = use->fields; field != NULL; field = field->next)
        if (bytes_equal(bytes_of_text(field->name), name))
            return field;
    struct field_use *field = arena_new_object(pruner->rewriter->arena, sizeof *field);
    field->name = arena_strndup(pruner->rewriter->arena, name.data, name.size_bytes);
    field->next = use->fields;
    use->fields = field;
    return field;
}

/* The use that a chain of fields stands for; NULL if it does not start at a candidate. */
static struct field_use *chain_use(struct field_pruner *pruner, const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN) {
        uint32_t id = expr->column.attribute_id;
        return id < pruner->size && pruner->columns[id].candidate ? &pruner->columns[id].use : NULL;
    }
    struct bytes name;
    const struct expr *base = field_base(expr, &name);
    if (base == NULL)
        return NULL;
    struct field_use *use = chain_use(pruner, base);
    return use == NULL ? NULL : use_field(pruner, use, name);
}

static void collect(struct field_pruner *pruner, const struct expr *expr)
{
    struct field_use *use = chain_use(pruner, expr);
    if (use != NULL) {
        use->whole = true;
        return;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++)
        collect(pruner, expr->args[i]);
    if (expr->kind == EXPR_AGGREGATE) {
        if (expr->aggregate.filter != NULL)
            collect(pruner, expr->aggregate.filter);
        for (uint32_t i = 0; i < expr->aggregate.order_count; i++)
            collect(pruner, expr->aggregate.order[i].expr);
    }
    for (uint32_t i = 0; expr->kind == EXPR_WINDOW && i < expr->window.order_count; i++)
        collect(pruner, expr->window.order[i].expr);
}

static enum status collect_slot(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    collect(arg, *slot);
    return OK;
}

static void use_output(struct field_pruner *pruner, const struct logical_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->output[i]->id < pruner->size)
            pruner->columns[node->output[i]->id].use.whole = true;
}

static bool find_candidates(struct logical_node *node, void *arg)
{
    struct field_pruner *pruner = arg;
    if (node->kind != LOGICAL_RELATION || !node->relation.narrows)
        return true;
    for (uint32_t i = 0; i < node->output_count; i++)
        pruner->columns[node->output[i]->id].candidate = node->output[i]->type->id == TYPE_STRUCT;
    return true;
}

static bool collect_node(struct logical_node *node, void *arg)
{
    struct field_pruner *pruner = arg;
    struct error ignored = ERROR_INIT;
    if (node->kind == LOGICAL_PROJECT) {
        for (uint32_t i = 0; i < node->output_count; i++) {
            const struct expr *expr = node->project.exprs[i];
            /* A column that is passed on under its own id is used where it is used above. */
            if (expr->kind != EXPR_COLUMN || expr->column.attribute_id != node->output[i]->id)
                collect(pruner, expr);
        }
        return true;
    }
    if (node->kind == LOGICAL_WATERMARK) { /* reads the end of a window */
        uint32_t id = node->children[0]->output[node->watermark.column]->id;
        if (id < pruner->size)
            pruner->columns[id].use.whole = true;
    }
    if (node->kind == LOGICAL_UNION || node->kind == LOGICAL_SET_OPERATION ||
        node->kind == LOGICAL_DISTINCT || node->kind == LOGICAL_DEDUP)
        for (uint32_t i = 0; i < node->child_count; i++)
            use_output(pruner, node->children[i]);
    return logical_each_expr(node, collect_slot, pruner, &ignored) == OK;
}

static const struct type *narrow(struct field_pruner *pruner, const struct type *type,
                                 const struct field_use *use)
{
    if (use->whole || use->fields == NULL || type->id != TYPE_STRUCT)
        return type;
    struct type_field *fields =
        arena_new_object(pruner->rewriter->arena, (type->field_count + 1) * sizeof *fields);
    uint32_t count = 0;
    bool same = true;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct field_use *field = use->fields;
        while (field != NULL && strcasecmp(field->name, type->fields[i].name) != 0)
            field = field->next;
        if (field == NULL) {
            same = false;
            continue;
        }
        fields[count] = type->fields[i];
        fields[count].type = narrow(pruner, type->fields[i].type, field);
        same = same && fields[count].type == type->fields[i].type;
        count++;
    }
    if (same || count == 0)
        return type;
    return type_struct(pruner->rewriter->arena, fields, count);
}

/* ---- the second pass ---- */

static struct expr *rebuild(struct arena *arena, struct expr *expr, void *arg)
{
    struct field_pruner *pruner = arg;
    if (expr->kind == EXPR_COLUMN && expr->column.attribute_id < pruner->size &&
        pruner->columns[expr->column.attribute_id].type != NULL) {
        struct expr *copy = expr_copy(arena, expr);
        copy->type = pruner->columns[expr->column.attribute_id].type;
        return copy;
    }
    struct bytes name;
    if (field_base(expr, &name) == NULL)
        return expr;
    struct error ignored = ERROR_INIT;
    struct expr *again;
    if (function_resolve_2(&pruner->rewriter->functions, ".", expr->args[0], expr->args[1], &again,
                           &ignored) != OK)
        return expr;
    again->position = expr->position;
    again->position_end = expr->position_end;
    return again;
}

static enum status rebuild_slot(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    struct field_pruner *pruner = arg;
    *slot = expr_rewrite(pruner->rewriter->arena, *slot, rebuild, pruner);
    return OK;
}

static bool rebuild_node(struct logical_node *node, void *arg)
{
    struct field_pruner *pruner = arg;
    struct error ignored = ERROR_INIT;
    struct attribute **output = arena_new_object(
        pruner->rewriter->arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++)
        output[i] = node->output[i];
    node->output = output;
    for (uint32_t i = 0; i < node->output_count; i++) {
        struct attribute *attribute = node->output[i];
        if (attribute->id >= pruner->size || pruner->columns[attribute->id].type == NULL)
            continue;
        node->output[i] = arena_new_object(pruner->rewriter->arena, sizeof *attribute);
        *node->output[i] = *attribute;
        node->output[i]->type = pruner->columns[attribute->id].type;
    }
    return logical_each_expr(node, rebuild_slot, pruner, &ignored) == OK;
}

static bool set_types(struct logical_node *node, void *arg)
{
    struct field_pruner *pruner = arg;
    for (uint32_t i = 0; node->kind == LOGICAL_RELATION && i < node->output_count; i++) {
        struct column_use *column = &pruner->columns[node->output[i]->id];
        if (!column->candidate)
            continue;
        const struct type *type = narrow(pruner, node->output[i]->type, &column->use);
        column->type = type == node->output[i]->type ? NULL : type;
    }
    return true;
}

enum status prune_fields(struct rewriter *rewriter, struct logical_node *node,
                         struct logical_node **out, struct error *err)
{
    (void)err;
    struct field_pruner pruner = {.rewriter = rewriter, .size = rewriter->next_id};
    pruner.columns = arena_new_object(rewriter->arena, (pruner.size + 1) * sizeof *pruner.columns);
    logical_walk(node, find_candidates, &pruner);
    use_output(&pruner, node);
    logical_walk(node, collect_node, &pruner);
    bool any = false;
    for (uint32_t id = 0; id < pruner.size; id++)
        any = any || (pruner.columns[id].candidate && !pruner.columns[id].use.whole);
    *out = node;
    if (!any)
        return OK;
    struct logical_node *copy = fold_constants(rewriter, node); /* own nodes and slots */
    logical_walk(copy, set_types, &pruner);
    logical_walk(copy, rebuild_node, &pruner);
    *out = copy;
    return OK;
}
