/*
 * What of a SELECT needs nodes of its own: WHERE, window functions and generators.  The names of
 * its items.
 */
#include "analyze/analyzer.h"
#include "base/check.h"

#include <stdio.h>

/* ---- names of items ---- */

/* The last name in a path such as $.a['b c'][0]; NULL: none. */
static const char *json_path_name(struct analyzer *analyzer, struct bytes path)
{
    size_t end = path.size_bytes;
    while (end > 1 && path.data[end - 1] == ']' && path.data[end - 2] != '\'')
        while (end > 1 && path.data[--end] != '[')
            ;
    bool quoted = end > 2 && path.data[end - 1] == ']';
    end -= quoted ? 2 : 0;
    size_t start = end;
    while (start > 0 && path.data[start - 1] != (quoted ? '\'' : '.'))
        start--;
    return start == 0 ? NULL : arena_strndup(analyzer->arena, path.data + start, end - start);
}

const char *select_item_name(struct analyzer *analyzer, const struct ast_item *ast,
                             const struct expr *expr)
{
    if (ast->aliases.count > 0)
        return name_text(analyzer, &ast->aliases.items[0]);
    if (analyzer_expr_name(analyzer, expr) != NULL)
        return analyzer_expr_name(analyzer, expr);
    if (expr->kind == EXPR_COLUMN && strncmp(expr->column.name, "lateralAliasReference(", 22) == 0)
        return name_text(analyzer, &ast->expr->column.parts[ast->expr->column.count - 1]);
    if (expr->kind == EXPR_COLUMN || expr->kind == EXPR_OUTER)
        return expr->column.name;
    if (ast->expr->kind == AST_EXPR_COLUMN && ast->expr->column.count > 1)
        return name_text(analyzer, &ast->expr->column.parts[ast->expr->column.count - 1]);
    const struct ast_expr *path = ast->expr;
    while (path->kind == AST_EXPR_CAST)
        path = path->cast.operand;
    if (path->kind == AST_EXPR_JSON_PATH && json_path_name(analyzer, path->json_path.path) != NULL)
        return json_path_name(analyzer, path->json_path.path);
    if (expr->kind == EXPR_CAST && expr->args[0]->kind == EXPR_COLUMN &&
        ast->expr->kind == AST_EXPR_CAST)
        return expr->args[0]->column.name;
    return expr_name(analyzer, expr);
}

const char *select_written_name(struct analyzer *analyzer, const struct ast_item *ast)
{
    if (ast->aliases.count > 0)
        return name_text(analyzer, &ast->aliases.items[0]);
    if (ast->expr->kind != AST_EXPR_COLUMN || ast->expr->column.count == 0)
        return ""; /* IDENTIFIER(...) has no parts */
    return name_text(analyzer, &ast->expr->column.parts[ast->expr->column.count - 1]);
}

/* ---- window functions ---- */

struct windows {
    struct analyzer *analyzer;
    struct expr_list functions;
    struct attribute **attributes;
    uint32_t capacity;
};

static struct expr *take_window(struct arena *arena, struct expr *expr, void *arg)
{
    struct windows *windows = arg;
    if (expr->kind != EXPR_WINDOW)
        return expr;
    for (uint32_t i = 0; i < windows->functions.count; i++)
        if (expr_equal(windows->functions.items[i], expr))
            return attribute_expr(arena, windows->attributes[i]);
    if (windows->functions.count == windows->capacity) {
        uint32_t capacity = windows->capacity == 0 ? 8 : windows->capacity * 2;
        struct attribute **grown = arena_new_object(arena, capacity * sizeof(struct attribute *));
        if (windows->capacity > 0)
            memcpy(grown, windows->attributes, windows->capacity * sizeof(struct attribute *));
        windows->attributes = grown;
        windows->capacity = capacity;
    }
    struct attribute *attribute = analyzer_attribute(
        windows->analyzer, expr_qualified(windows->analyzer, expr), expr->type, expr->nullable);
    windows->attributes[windows->functions.count] = attribute;
    expr_list_add(arena, &windows->functions, expr);
    return attribute_expr(arena, attribute);
}

/* Window functions inside window functions: innermost first, one node per depth. */
static uint32_t window_depth(const struct expr *expr)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        uint32_t below = window_depth(expr->args[i]);
        depth = below > depth ? below : depth;
    }
    for (uint32_t i = 0; expr->kind == EXPR_WINDOW && i < expr->window.order_count; i++) {
        uint32_t below = window_depth(expr->window.order[i].expr);
        depth = below > depth ? below : depth;
    }
    return depth + (expr->kind == EXPR_WINDOW);
}

static struct expr *take_innermost(struct arena *arena, struct expr *expr, void *arg)
{
    if (expr->kind == EXPR_WINDOW && window_depth(expr) == 1)
        return take_window(arena, expr, arg);
    return expr;
}

/* Only the windows that hold no other: a walk from the top, so that one pass takes one depth. */
static struct expr *take_level(struct windows *windows, struct expr *expr)
{
    uint32_t depth = window_depth(expr);
    if (depth == 0)
        return expr;
    if (depth == 1)
        return expr_rewrite(windows->analyzer->arena, expr, take_innermost, windows);
    struct expr *copy = expr_copy(windows->analyzer->arena, expr);
    for (uint32_t i = 0; i < copy->arg_count; i++)
        copy->args[i] = take_level(windows, copy->args[i]);
    if (copy->kind == EXPR_WINDOW) {
        struct sort_key *order = arena_new_object(windows->analyzer->arena,
                                                  (copy->window.order_count + 1) * sizeof *order);
        for (uint32_t i = 0; i < copy->window.order_count; i++) {
            order[i] = copy->window.order[i];
            order[i].expr = take_level(windows, order[i].expr);
        }
        copy->window.order = order;
    }
    return copy;
}

static void window_node(struct windows *windows, struct logical_node **node)
{
    struct analyzer *analyzer = windows->analyzer;
    struct logical_node *child = *node;
    struct logical_node *over = logical_over(analyzer->arena, LOGICAL_WINDOW, child);
    over->window.functions = windows->functions.items;
    over->window.function_count = windows->functions.count;
    over->output_count = child->output_count + windows->functions.count;
    over->output =
        arena_new_object(analyzer->arena, (over->output_count + 1) * sizeof(struct attribute *));
    memcpy(over->output, child->output, child->output_count * sizeof(struct attribute *));
    memcpy(over->output + child->output_count, windows->attributes,
           windows->functions.count * sizeof(struct attribute *));
    *node = over;
}

void extract_windows(struct analyzer *analyzer, struct expr **slots, uint32_t count,
                     struct logical_node **node)
{
    for (;;) {
        struct windows windows = {.analyzer = analyzer};
        for (uint32_t i = 0; i < count; i++)
            slots[i] = take_level(&windows, slots[i]);
        if (windows.functions.count == 0)
            return;
        window_node(&windows, node);
    }
}

/* ---- generators ---- */

static enum status raise_aliases(struct analyzer *analyzer, const struct select_item *item,
                                 uint32_t columns, struct error *err)
{
    struct buffer names = {0};
    char size[16];
    (void)snprintf(size, sizeof size, "%u", columns);
    for (size_t i = 0; i < item->aliases->count; i++)
        buffer_printf(&names, "%s%s", i > 0 ? "," : "",
                      name_text(analyzer, &item->aliases->items[i]));
    error_raise_at(err, STATUS_UDTF_ALIAS_NUMBER_MISMATCH, item->position, item->position_end,
                   "aliasesSize", size, "aliasesNames", buffer_text(&names), NULL);
    buffer_fini(&names);
    return err->status;
}

static enum status split_one(struct analyzer *analyzer, const struct select_item *item,
                             struct select_items *out, struct pending_generators *pending,
                             struct error *err)
{
    const struct type *type = item->expr->type;
    size_t aliases = item->aliases != NULL ? item->aliases->count : 0;
    if (aliases > 0 && aliases != type->field_count)
        return raise_aliases(analyzer, item, type->field_count, err);
    struct attribute **attributes =
        arena_new_object(analyzer->arena, (type->field_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < type->field_count; i++) {
        const char *name =
            aliases > 0 ? name_text(analyzer, &item->aliases->items[i]) : type->fields[i].name;
        attributes[i] = analyzer_attribute(analyzer, name, type->fields[i].type,
                                           type->fields[i].nullable || item->expr->generator.outer);
        if (item->alias_id != 0 && type->field_count == 1)
            attributes[i]->id = item->alias_id;
        select_items_add(analyzer->arena, out,
                         (struct select_item){
                             .expr = attribute_expr(analyzer->arena, attributes[i]),
                             .name = name,
                             .ast = item->ast,
                             .position = item->position,
                             .position_end = item->position_end,
                         });
    }
    pending->exprs[pending->count] = item->expr;
    pending->attributes[pending->count++] = attributes;
    return OK;
}

static enum status raise_nested(struct analyzer *analyzer, const struct expr *expr,
                                struct error *err)
{
    return error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__NESTED_IN_EXPRESSIONS, expr->position,
                          expr->position_end, "expression", expr_sql(analyzer, expr), NULL);
}

enum status split_generators(struct analyzer *analyzer, struct select_items *items,
                             struct pending_generators *pending, struct error *err)
{
    struct select_items out = {0};
    pending->exprs = arena_new_object(analyzer->arena, (items->count + 1) * sizeof(struct expr *));
    pending->attributes =
        arena_new_object(analyzer->arena, (items->count + 1) * sizeof(struct attribute **));
    for (uint32_t i = 0; i < items->count; i++) {
        const struct select_item *item = &items->items[i];
        if (item->expr->kind == EXPR_GENERATOR) {
            for (uint32_t j = 0; j < item->expr->arg_count; j++)
                if (expr_has_generator(item->expr->args[j]))
                    return raise_nested(analyzer, item->expr, err);
            TRY(split_one(analyzer, item, &out, pending, err));
            continue;
        }
        if (expr_has_generator(item->expr))
            return raise_nested(analyzer, item->expr, err);
        select_items_add(analyzer->arena, &out, *item);
    }
    *items = out;
    return OK;
}

enum status build_generators(struct analyzer *analyzer, const struct pending_generators *pending,
                             struct logical_node **node, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < pending->count; i++) {
        struct logical_node *child = *node;
        struct logical_node *over = logical_over(analyzer->arena, LOGICAL_GENERATE, child);
        uint32_t columns = pending->exprs[i]->type->field_count;
        over->generate.generator = pending->exprs[i];
        over->generate.outer = pending->exprs[i]->generator.outer;
        over->output_count = child->output_count + columns;
        over->output = arena_new_object(analyzer->arena,
                                        (over->output_count + 1) * sizeof(struct attribute *));
        memcpy(over->output, child->output, child->output_count * sizeof(struct attribute *));
        memcpy(over->output + child->output_count, pending->attributes[i],
               columns * sizeof(struct attribute *));
        *node = over;
    }
    return OK;
}

/* ---- event time ---- */

void mark_event_time(const struct analyzer *analyzer, const struct expr *expr,
                     const struct logical_node *child, struct attribute *attribute)
{
    const struct attribute *from = NULL;
    if (expr->kind == EXPR_COLUMN)
        from = logical_find_output(child, expr->column.attribute_id, NULL);
    for (const struct event_time_expr *entry = analyzer->event_times; entry != NULL && from == NULL;
         entry = entry->next)
        if (entry->expr == expr)
            from = entry->attribute;
    if (from == NULL)
        return;
    attribute->is_window = from->is_window;
    attribute->event_time = from->event_time;
    attribute->delay_us = from->delay_us;
    attribute->watermark_id = from->watermark_id;
    if (expr->kind == EXPR_COLUMN)
        attribute->nullable = from->nullable;
}

/* ---- WHERE ---- */

struct aggregate_names {
    struct analyzer *analyzer;
    struct buffer text;
};

static bool add_aggregate_name(const struct expr *expr, void *arg)
{
    if (expr->kind != EXPR_AGGREGATE)
        return true;
    struct aggregate_names *list = arg;
    if (list->text.size_bytes > 0)
        buffer_add_text(&list->text, ", ");
    buffer_add_text(&list->text, expr_qualified(list->analyzer, expr));
    return true;
}

enum status select_where(struct analyzer *analyzer, const struct ast_expr *ast,
                         struct resolver *resolver, struct relation *input, int position,
                         int position_end, struct error *err)
{
    struct expr *where;
    TRY(resolve_expr(resolver, ast, &where, err));
    if (expr_has_grouping_call(where))
        return error_raise(err, STATUS_UNSUPPORTED_GROUPING_EXPRESSION, NULL);
    if (expr_has_aggregate(where)) {
        struct aggregate_names names = {.analyzer = analyzer};
        expr_walk(where, add_aggregate_name, &names);
        error_raise_at(err, STATUS_INVALID_WHERE_CONDITION, position, position_end, "condition",
                       expr_sql(analyzer, where), "expressionList", buffer_text(&names.text), NULL);
        buffer_fini(&names.text);
        return err->status;
    }
    if (expr_has_generator(where))
        return error_raise_at(
            err, STATUS_UNSUPPORTED_GENERATOR__OUTSIDE_SELECT, ast->position, ast->position_end,
            "plan", arena_sprintf(analyzer->arena, "'Filter %s", expr_name(analyzer, where)), NULL);
    if (where->type->id != TYPE_BOOLEAN) {
        const char *sql = expr_sql(analyzer, where);
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__FILTER_NOT_BOOLEAN, position,
                              position_end, "sqlExpr", sql, "filter", sql, "type",
                              type_quoted(analyzer, where->type), NULL);
    }
    input->node = logical_filter(analyzer->arena, input->node, where);
    analyzer_node(analyzer, input->node, position, position_end);
    return OK;
}
