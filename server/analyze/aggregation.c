/*
 * GROUP BY: keys, grouping sets, and the rewriting of what stands above the aggregate.
 *
 * Grouping sets are an Expand below the aggregate: each row once per set, the keys that are not in
 * the set NULL, and the set's number as one more key (bit i from the left is 1 if key i is not in).
 */
#include "analyze/analyzer.h"
#include "analyze/resolve_call.h"
#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/coercion.h"
#include "spec/conf.h"

#include <strings.h>

#define GROUPING_KEYS_MAX 63
#define GROUPING_SETS_MAX 4096

/* grouping(x) and grouping_id(...) until the aggregate is known. */
static const struct function grouping_marker = {.name = "grouping", .print = "grouping(%*)"};
static const struct function grouping_id_marker = {.name = "grouping_id",
                                                   .print = "grouping_id(%*)"};

enum status resolve_grouping_call(struct resolver *resolver, const struct ast_expr *ast,
                                  const char *name, struct expr **out, struct error *err)
{
    struct expr_list args = {0};
    TRY(resolve_arguments(resolver, ast, name, &args, err));
    bool one = strcasecmp(name, "grouping") == 0;
    if (one && args.count != 1)
        return error_raise_at(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION, ast->position,
                              ast->position_end, "functionName", "`grouping`", "expectedNum", "1",
                              "actualNum",
                              arena_sprintf(resolver->analyzer->arena, "%u", args.count), "docroot",
                              "https://spark.apache.org/docs/latest", NULL);
    struct expr *expr =
        expr_call(resolver->analyzer->arena, one ? &grouping_marker : &grouping_id_marker,
                  one ? "grouping" : "grouping_id", args.items, args.count);
    expr->type = type_simple(one ? TYPE_BYTE : TYPE_LONG);
    expr->nullable = false;
    expr->position = ast->position;
    expr->position_end = ast->position_end;
    *out = expr;
    return OK;
}

/* ---- keys ---- */

static enum status check_key(struct analyzer *analyzer, const struct expr *key, struct error *err)
{
    if (expr_has_aggregate(key))
        return error_raise_at(err, STATUS_GROUP_BY_AGGREGATE, key->position, key->position_end,
                              "sqlExpr", expr_qualified(analyzer, key), NULL);
    if (key->type->id == TYPE_INTERVAL || key->type->id == TYPE_VARIANT)
        return error_raise_at(err, STATUS_GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE, key->position,
                              key->position_end, "sqlExpr", expr_sql(analyzer, key), "dataType",
                              type_quoted(analyzer, key->type), NULL);
    return OK;
}

/* A name as SQL has it: quoted unless it is a plain word. */
static const char *quoted_if_needed(struct analyzer *analyzer, const char *name)
{
    bool plain = name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9');
    for (const char *c = name; *c != '\0'; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '_');
    return plain ? name : text_quoted(analyzer, name);
}

/* Columns of a subquery without an alias have the name that Spark gives it. */
static struct expr *name_subquery(struct arena *arena, struct expr *expr, void *arg)
{
    const struct scope *scope = arg;
    if (expr->kind != EXPR_COLUMN || expr->column.qualifier != NULL)
        return expr;
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (!column->of_subquery || column->attribute->id != expr->column.attribute_id)
            continue;
        struct expr *copy = expr_copy(arena, expr);
        copy->column.qualifier = "__auto_generated_subquery_name";
        return copy;
    }
    return expr;
}

static enum status key_by_position(struct resolver *resolver, const struct ast_expr *ast,
                                   const struct select_items *items, struct expr **out,
                                   struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    int64_t index = ast->literal.integer;
    const char *text = arena_sprintf(analyzer->arena, "%lld", (long long)index);
    if (index < 1 || index > items->count)
        return error_raise_at(err, STATUS_GROUP_BY_POS_OUT_OF_RANGE, ast->position,
                              ast->position_end, "index", text, "size",
                              arena_sprintf(analyzer->arena, "%u", items->count), NULL);
    for (uint32_t i = 0; i < items->count; i++)
        if (items->items[i].ast->kind == AST_EXPR_STAR)
            return error_raise_at(err, STATUS_STAR_GROUP_BY_POS, ast->position, ast->position_end,
                                  NULL);
    const struct select_item *item = &items->items[index - 1];
    if (expr_has_aggregate(item->expr))
        return error_raise_at(
            err, STATUS_GROUP_BY_POS_AGGREGATE, ast->position, ast->position_end, "index", text,
            "aggExpr",
            arena_sprintf(analyzer->arena, "%s AS %s",
                          expr_qualified(analyzer, expr_rewrite(analyzer->arena, item->expr,
                                                                name_subquery, resolver->scope)),
                          quoted_if_needed(analyzer, item->name)),
            NULL);
    *out = item->expr;
    return OK;
}

/* A name that no column has may be an alias of the list. */
static const struct select_item *key_alias(struct analyzer *analyzer, const struct ast_expr *ast,
                                           const struct select_items *items)
{
    if (ast->kind != AST_EXPR_COLUMN || ast->column.count != 1)
        return NULL;
    const char *name = name_text(analyzer, &ast->column.parts[0]);
    for (uint32_t i = 0; i < items->count; i++)
        if (items->items[i].alias_id != 0 && name_equal(analyzer, items->items[i].name, name))
            return &items->items[i];
    return NULL;
}

static enum status raise_lateral_key(const struct select_item *item, struct error *err)
{
    return error_raise_at(err, STATUS_UNSUPPORTED_FEATURE__LATERAL_COLUMN_ALIAS_IN_GROUP_BY,
                          item->position, item->position_end, NULL);
}

static enum status resolve_key(struct resolver *resolver, const struct ast_expr *ast,
                               const struct select_items *items, struct expr **out,
                               struct error *err)
{
    const struct options *conf = &resolver->analyzer->spec->conf;
    if (ast->kind == AST_EXPR_LITERAL && ast->literal.kind == AST_LITERAL_INT &&
        conf_bool(conf, CONF_groupByOrdinal))
        return key_by_position(resolver, ast, items, out, err);
    enum status status = resolve_expr(resolver, ast, out, err);
    bool unresolved = status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION ||
                      status == STATUS_UNRESOLVED_COLUMN__WITHOUT_SUGGESTION;
    if (unresolved && conf_bool(conf, CONF_groupByAliases)) {
        const struct select_item *item = key_alias(resolver->analyzer, ast, items);
        if (item != NULL) {
            if (expr_has_generator(item->expr))
                return status;
            error_clear(err);
            if (item->lateral)
                return raise_lateral_key(item, err);
            *out = item->expr;
            status = OK;
        }
    }
    TRY(status);
    if (expr_has_generator(*out))
        return OK;
    return check_key(resolver->analyzer, *out, err);
}

static uint32_t add_key(struct analyzer *analyzer, struct grouping *grouping, struct expr *key)
{
    for (uint32_t i = 0; i < grouping->keys.count; i++)
        if (expr_equal(grouping->keys.items[i], key))
            return i;
    expr_list_add(analyzer->arena, &grouping->keys, key);
    return grouping->keys.count - 1;
}

static enum status add_key_ast(struct resolver *resolver, struct grouping *grouping,
                               const struct ast_expr *ast, const struct select_items *items,
                               uint64_t *mask, struct error *err)
{
    struct expr *key = NULL;
    TRY(resolve_key(resolver, ast, items, &key, err));
    uint32_t index = add_key(resolver->analyzer, grouping, key);
    if (index >= GROUPING_KEYS_MAX) {
        if (grouping->sets)
            return error_raise(err, STATUS_GROUPING_SIZE_LIMIT_EXCEEDED, "maxSize", "64", NULL);
        return OK;
    }
    *mask |= (uint64_t)1 << index;
    return OK;
}

/* A column outside of aggregate functions. */
static bool has_bare_column(const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN)
        return true;
    for (uint32_t i = 0; expr->kind != EXPR_AGGREGATE && i < expr->arg_count; i++)
        if (has_bare_column(expr->args[i]))
            return true;
    return false;
}

static enum status group_by_all(struct analyzer *analyzer, struct grouping *grouping,
                                const struct select_items *items, struct error *err)
{
    for (uint32_t i = 0; i < items->count; i++) {
        struct expr *expr = items->items[i].expr;
        if (expr_has_generator(expr))
            continue;
        if (items->items[i].lateral)
            return raise_lateral_key(&items->items[i], err);
        if (!expr_has_aggregate(expr)) {
            TRY(check_key(analyzer, expr, err));
            add_key(analyzer, grouping, expr);
        } else if (has_bare_column(expr))
            return error_raise(err, STATUS_UNRESOLVED_ALL_IN_GROUP_BY, NULL);
    }
    return OK;
}

/* ---- grouping sets ---- */

struct mask_list {
    uint64_t *items;
    uint32_t count;
};

static enum status mask_add(struct analyzer *analyzer, struct mask_list *list, uint64_t mask,
                            struct error *err)
{
    if (list->count >= GROUPING_SETS_MAX)
        return error_raise(err, STATUS_GROUPING_SIZE_LIMIT_EXCEEDED, "maxSize", "4096", NULL);
    if ((list->count & (list->count - 1)) == 0) {
        uint32_t capacity = list->count == 0 ? 1 : list->count * 2;
        uint64_t *grown = arena_new_object(analyzer->arena, capacity * sizeof *grown);
        if (list->count > 0)
            memcpy(grown, list->items, list->count * sizeof *grown);
        list->items = grown;
    }
    list->items[list->count++] = mask;
    return OK;
}

static enum status element_masks(struct resolver *resolver, struct grouping *grouping,
                                 const struct ast_grouping *ast, const struct select_items *items,
                                 struct mask_list *out, struct error *err);

/* The units of ROLLUP and CUBE: one mask per expression or parenthesised list. */
static enum status unit_masks(struct resolver *resolver, struct grouping *grouping,
                              const struct ast_grouping *children, size_t count,
                              const struct select_items *items, uint64_t *units, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        units[i] = 0;
        for (size_t j = 0; j < children[i].exprs.count; j++)
            TRY(add_key_ast(resolver, grouping, children[i].exprs.items[j], items, &units[i], err));
    }
    return OK;
}

static enum status rollup_masks(struct analyzer *analyzer, const uint64_t *units, size_t count,
                                bool cube, struct mask_list *out, struct error *err)
{
    if (!cube) {
        for (size_t length = count + 1; length-- > 0;) {
            uint64_t mask = 0;
            for (size_t i = 0; i < length; i++)
                mask |= units[i];
            TRY(mask_add(analyzer, out, mask, err));
        }
        return OK;
    }
    if (count > 12)
        return error_raise(err, STATUS_GROUPING_SIZE_LIMIT_EXCEEDED, "maxSize", "12", NULL);
    for (uint64_t subset = (uint64_t)1 << count; subset-- > 0;) {
        uint64_t mask = 0;
        for (size_t i = 0; i < count; i++)
            if ((subset >> (count - 1 - i) & 1) != 0)
                mask |= units[i];
        TRY(mask_add(analyzer, out, mask, err));
    }
    return OK;
}

static enum status element_masks(struct resolver *resolver, struct grouping *grouping,
                                 const struct ast_grouping *ast, const struct select_items *items,
                                 struct mask_list *out, struct error *err)
{
    uint64_t mask = 0;
    switch (ast->kind) {
    case AST_GROUPING_EXPR:
    case AST_GROUPING_SET:
        for (size_t i = 0; i < ast->exprs.count; i++)
            TRY(add_key_ast(resolver, grouping, ast->exprs.items[i], items, &mask, err));
        return mask_add(resolver->analyzer, out, mask, err);
    case AST_GROUPING_ROLLUP:
    case AST_GROUPING_CUBE: {
        uint64_t *units =
            arena_new_object(resolver->analyzer->arena, (ast->child_count + 1) * sizeof *units);
        TRY(unit_masks(resolver, grouping, ast->children, ast->child_count, items, units, err));
        return rollup_masks(resolver->analyzer, units, ast->child_count,
                            ast->kind == AST_GROUPING_CUBE, out, err);
    }
    case AST_GROUPING_SETS:
        for (size_t i = 0; i < ast->child_count; i++)
            TRY(element_masks(resolver, grouping, &ast->children[i], items, out, err));
        return OK;
    }
    return OK;
}

/* GROUP BY a, ROLLUP(b): the cross product of the elements' sets. */
static enum status cross_masks(struct analyzer *analyzer, struct mask_list *all,
                               const struct mask_list *more, struct error *err)
{
    struct mask_list product = {0};
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; j < more->count; j++)
            TRY(mask_add(analyzer, &product, all->items[i] | more->items[j], err));
    *all = product;
    return OK;
}

static enum status old_form_masks(struct resolver *resolver, const struct ast_group_by *ast,
                                  struct grouping *grouping, const struct select_items *items,
                                  struct mask_list *out, struct error *err)
{
    uint64_t *units = arena_new_object(resolver->analyzer->arena, (ast->count + 1) * sizeof *units);
    TRY(unit_masks(resolver, grouping, ast->elements, ast->count, items, units, err));
    if (ast->with != AST_WITH_SETS)
        return rollup_masks(resolver->analyzer, units, ast->count, ast->with == AST_WITH_CUBE, out,
                            err);
    for (size_t i = 0; i < ast->set_count; i++)
        TRY(element_masks(resolver, grouping, &ast->sets[i], items, out, err));
    return OK;
}

static bool has_sets(const struct ast_group_by *ast)
{
    if (ast->with != AST_WITH_NOTHING)
        return true;
    for (size_t i = 0; i < ast->count; i++)
        if (ast->elements[i].kind != AST_GROUPING_EXPR)
            return true;
    return false;
}

/* The first grouping() or grouping_id() of an expression is no key. */
static enum status raise_no_sets(const struct expr *expr, struct error *err)
{
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (expr_has_grouping_call(expr->args[i]))
            return raise_no_sets(expr->args[i], err);
    return error_raise_at(err, STATUS_UNSUPPORTED_GROUPING_EXPRESSION, expr->position,
                          expr->position_end, NULL);
}

enum status grouping_keys(struct resolver *resolver, const struct ast_group_by *ast,
                          const struct select_items *items, struct grouping *grouping,
                          struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct mask_list masks = {0};
    uint64_t ignored = 0;
    if (ast->all && scope_find(analyzer, resolver->scope, "all") == NULL) {
        enum status status = group_by_all(analyzer, grouping, items, err);
        if (status == STATUS_UNRESOLVED_ALL_IN_GROUP_BY) {
            err->position = ast->position;
            err->position_end = ast->position_end;
        }
        TRY(status);
    } else if (!has_sets(ast)) {
        for (size_t i = 0; i < ast->count; i++)
            TRY(add_key_ast(resolver, grouping, ast->elements[i].exprs.items[0], items, &ignored,
                            err));
    } else {
        grouping->sets = true;
        if (ast->with != AST_WITH_NOTHING)
            TRY(old_form_masks(resolver, ast, grouping, items, &masks, err));
        else
            TRY(mask_add(analyzer, &masks, 0, err));
        for (size_t i = 0; ast->with == AST_WITH_NOTHING && i < ast->count; i++) {
            struct mask_list more = {0};
            TRY(element_masks(resolver, grouping, &ast->elements[i], items, &more, err));
            TRY(cross_masks(analyzer, &masks, &more, err));
        }
        grouping->masks = masks.items;
        grouping->mask_count = masks.count;
        grouping->grouping_id =
            analyzer_attribute(analyzer, "spark_grouping_id", type_simple(TYPE_LONG), false);
    }
    uint32_t count = grouping->keys.count;
    grouping->key_attributes =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *key = grouping->keys.items[i];
        if (expr_has_grouping_call(key))
            return raise_no_sets(key, err);
        bool plain = key->kind == EXPR_COLUMN && !grouping->sets;
        grouping->key_attributes[i] = analyzer_attribute(
            analyzer, expr_name(analyzer, key), key->type, key->nullable || grouping->sets);
        if (plain)
            grouping->key_attributes[i]->id = key->column.attribute_id;
        if (key->kind == EXPR_COLUMN)
            grouping->key_attributes[i]->qualifier = key->column.qualifier;
    }
    return OK;
}

/* ---- what stands above ---- */

static enum status raise_missing(struct analyzer *analyzer, const struct grouping *grouping,
                                 const struct expr *expr, struct error *err)
{
    if (!grouping->present)
        return error_raise_at(err, STATUS_MISSING_GROUP_BY, grouping->position,
                              grouping->position_end, NULL);
    const char *named = analyzer_expr_name(analyzer, expr);
    const char *sql =
        named == NULL ? expr_sql(analyzer, expr) : arena_sprintf(analyzer->arena, "\"%s\"", named);
    const char *any =
        arena_sprintf(analyzer->arena, "\"any_value(%.*s)\"", (int)strlen(sql) - 2, sql + 1);
    error_raise(err, STATUS_MISSING_AGGREGATION, "expression", sql, "expressionAnyValue", any,
                NULL);
    return err->status;
}

static enum status rewrite_aggregate(struct analyzer *analyzer, struct grouping *grouping,
                                     struct expr **expr)
{
    for (uint32_t i = 0; i < grouping->aggregates.count; i++) {
        const struct expr *seen = grouping->aggregates.items[i];
        if (!expr_equal(seen, *expr) || !expr_is_deterministic(seen))
            continue;
        struct expr *column = expr_column(analyzer->arena, seen->aggregate.result_id,
                                          expr_name(analyzer, seen), seen->type, seen->nullable);
        *expr = column;
        return OK;
    }
    expr_list_add(analyzer->arena, &grouping->aggregates, *expr);
    *expr = expr_column(analyzer->arena, (*expr)->aggregate.result_id, expr_name(analyzer, *expr),
                        (*expr)->type, (*expr)->nullable);
    return OK;
}

static enum status raise_grouping_mismatch(struct analyzer *analyzer,
                                           const struct grouping *grouping, const struct expr *expr,
                                           struct error *err)
{
    struct buffer keys = {0}, args = {0};
    for (uint32_t i = 0; i < grouping->keys.count; i++)
        buffer_printf(&keys, "%s%s#", i > 0 ? "," : "",
                      expr_name(analyzer, grouping->keys.items[i]));
    for (uint32_t i = 0; i < expr->arg_count; i++)
        buffer_printf(&args, "%s%s#", i > 0 ? "," : "", expr_name(analyzer, expr->args[i]));
    if (expr->call.function == &grouping_marker)
        error_raise(err, STATUS_GROUPING_COLUMN_MISMATCH, "grouping", buffer_text(&args),
                    "groupingColumns", buffer_text(&keys), NULL);
    else
        error_raise(err, STATUS_GROUPING_ID_COLUMN_MISMATCH, "groupingIdColumn", buffer_text(&args),
                    "groupByColumns", buffer_text(&keys), NULL);
    buffer_fini(&keys);
    buffer_fini(&args);
    return err->status;
}

/* grouping(x): the bit of x in the set's number. */
static enum status rewrite_grouping(struct analyzer *analyzer, struct grouping *grouping,
                                    struct expr **expr, struct error *err)
{
    struct expr *marker = *expr;
    if (!grouping->sets)
        return error_raise_at(err, STATUS_UNSUPPORTED_GROUPING_EXPRESSION, marker->position,
                              marker->position_end, NULL);
    struct expr *id = attribute_expr(analyzer->arena, grouping->grouping_id);
    uint32_t count = grouping->keys.count;
    if (marker->call.function == &grouping_id_marker) {
        bool all = marker->arg_count == 0 || marker->arg_count == count;
        for (uint32_t i = 0; i < marker->arg_count; i++)
            all = all && expr_equal(marker->args[i], grouping->keys.items[i]);
        *expr = id;
        return all ? OK : raise_grouping_mismatch(analyzer, grouping, marker, err);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!expr_equal(marker->args[0], grouping->keys.items[i]))
            continue;
        struct expr *shifted, *bit;
        TRY(function_resolve_2(&analyzer->functions, ">>", id,
                               expr_literal_int(analyzer->arena, (int32_t)(count - 1 - i)),
                               &shifted, err));
        TRY(function_resolve_2(&analyzer->functions, "&", shifted,
                               expr_literal_long(analyzer->arena, 1), &bit, err));
        *expr = coercion_cast(&analyzer->functions, bit, type_simple(TYPE_BYTE));
        (*expr)->nullable = false;
        return OK;
    }
    return raise_grouping_mismatch(analyzer, grouping, marker, err);
}

static bool is_marker(const struct expr *expr)
{
    return expr->kind == EXPR_CALL &&
           (expr->call.function == &grouping_marker || expr->call.function == &grouping_id_marker);
}

static bool is_no_marker(const struct expr *expr, void *arg)
{
    (void)arg;
    return !is_marker(expr);
}

bool expr_is_grouping_call(const struct expr *expr)
{
    return is_marker(expr);
}

bool expr_has_grouping_call(const struct expr *expr)
{
    return !expr_walk(expr, is_no_marker, NULL);
}

static bool is_generated(const struct expr *expr)
{
    return expr->kind == EXPR_COLUMN &&
           strncmp(expr->column.name, "lateralAliasReference(", 22) == 0;
}

static bool is_own_output(const struct grouping *grouping, uint32_t id)
{
    for (uint32_t i = 0; i < grouping->keys.count; i++)
        if (grouping->key_attributes[i]->id == id)
            return true;
    for (uint32_t i = 0; i < grouping->aggregates.count; i++)
        if (grouping->aggregates.items[i]->aggregate.result_id == id)
            return true;
    return grouping->grouping_id != NULL && grouping->grouping_id->id == id;
}

static enum status rewrite_parts(struct analyzer *analyzer, struct grouping *grouping,
                                 struct expr **expr, struct error *err)
{
    struct expr *copy = expr_copy(analyzer->arena, *expr);
    *expr = copy;
    bool window = copy->kind == EXPR_WINDOW;
    for (uint32_t i = 0; i < copy->arg_count; i++) {
        struct expr *function = copy->args[i];
        if (!window || i > 0 || function->kind != EXPR_AGGREGATE) {
            TRY(grouping_rewrite(analyzer, grouping, &copy->args[i], err));
            continue;
        }
        copy->args[0] = function = expr_copy(analyzer->arena, function);
        for (uint32_t j = 0; j < function->arg_count; j++)
            TRY(grouping_rewrite(analyzer, grouping, &function->args[j], err));
        if (function->aggregate.filter != NULL)
            TRY(grouping_rewrite(analyzer, grouping, &function->aggregate.filter, err));
    }
    if (!window)
        return OK;
    struct sort_key *order =
        arena_new_object(analyzer->arena, (copy->window.order_count + 1) * sizeof *order);
    for (uint32_t i = 0; i < copy->window.order_count; i++) {
        order[i] = copy->window.order[i];
        TRY(grouping_rewrite(analyzer, grouping, &order[i].expr, err));
    }
    copy->window.order = order;
    return OK;
}

enum status grouping_rewrite(struct analyzer *analyzer, struct grouping *grouping,
                             struct expr **expr, struct error *err)
{
    for (uint32_t i = 0; i < grouping->keys.count; i++) {
        if (!expr_equal(*expr, grouping->keys.items[i]))
            continue;
        struct expr *old = *expr;
        *expr = attribute_expr(analyzer->arena, grouping->key_attributes[i]);
        if (old->kind == EXPR_COLUMN)
            (*expr)->column.qualifier = old->column.qualifier;
        (*expr)->position = old->position;
        (*expr)->position_end = old->position_end;
        return OK;
    }
    for (const struct event_time_expr *own = analyzer->window_times; own != NULL; own = own->next)
        if (own->expr == *expr)
            return raise_missing(analyzer, grouping, *expr, err);
    if ((*expr)->kind == EXPR_AGGREGATE)
        return rewrite_aggregate(analyzer, grouping, expr);
    if (is_marker(*expr))
        return rewrite_grouping(analyzer, grouping, expr, err);
    if ((*expr)->kind == EXPR_COLUMN) {
        if (is_generated(*expr) || is_own_output(grouping, (*expr)->column.attribute_id))
            return OK;
        enum status status = raise_missing(analyzer, grouping, *expr, err);
        if (status == STATUS_MISSING_AGGREGATION) {
            err->position = (*expr)->position;
            err->position_end = (*expr)->position_end;
        }
        return status;
    }
    if ((*expr)->arg_count == 0)
        return OK;
    return rewrite_parts(analyzer, grouping, expr, err);
}

/* ---- the node ---- */

static struct logical_node *expand_node(struct analyzer *analyzer, struct grouping *grouping,
                                        struct logical_node *child)
{
    struct arena *arena = analyzer->arena;
    uint32_t keys = grouping->keys.count, below = child->output_count;
    uint32_t count = below + keys + 2;
    struct logical_node *node = logical_over(arena, LOGICAL_EXPAND, child);
    node->output = arena_new_object(arena, (count + 1) * sizeof(struct attribute *));
    node->output_count = count;
    memcpy(node->output, child->output, below * sizeof(struct attribute *));
    for (uint32_t i = 0; i < keys; i++)
        node->output[below + i] =
            analyzer_attribute(analyzer, expr_name(analyzer, grouping->keys.items[i]),
                               grouping->keys.items[i]->type, true);
    node->output[below + keys] =
        analyzer_attribute(analyzer, "spark_grouping_id", type_simple(TYPE_LONG), false);
    node->output[below + keys + 1] =
        analyzer_attribute(analyzer, "_gen_grouping_pos", type_simple(TYPE_LONG), false);
    node->expand.projection_count = grouping->mask_count;
    node->expand.projections =
        arena_new_object(arena, (grouping->mask_count + 1) * sizeof(struct expr **));
    for (uint32_t set = 0; set < grouping->mask_count; set++) {
        struct expr **exprs = arena_new_object(arena, (count + 1) * sizeof(struct expr *));
        uint64_t id = 0;
        for (uint32_t i = 0; i < below; i++)
            exprs[i] = attribute_expr(arena, child->output[i]);
        for (uint32_t i = 0; i < keys; i++) {
            bool in = (grouping->masks[set] >> i & 1) != 0;
            exprs[below + i] =
                in ? grouping->keys.items[i] : expr_null(arena, grouping->keys.items[i]->type);
            id = id << 1 | !in;
        }
        exprs[below + keys] = expr_literal_long(arena, (int64_t)id);
        exprs[below + keys + 1] = expr_literal_long(arena, set);
        node->expand.projections[set] = exprs;
    }
    return node;
}

static bool masks_repeat(const struct grouping *grouping)
{
    for (uint32_t i = 0; i < grouping->mask_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (grouping->masks[i] == grouping->masks[j])
                return true;
    return false;
}

static void set_keys(struct analyzer *analyzer, struct grouping *grouping,
                     struct logical_node *expand, struct logical_node *node)
{
    uint32_t keys = grouping->keys.count;
    uint32_t at = expand->output_count - keys - 2;
    for (uint32_t i = 0; i < keys; i++) {
        node->aggregate.keys[i] = attribute_expr(analyzer->arena, expand->output[at + i]);
        mark_event_time(analyzer, grouping->keys.items[i], expand, grouping->key_attributes[i]);
        grouping->key_attributes[i]->nullable = true;
        node->output[i] = grouping->key_attributes[i];
    }
    node->aggregate.keys[keys] = attribute_expr(analyzer->arena, expand->output[at + keys]);
    node->output[keys] = grouping->grouping_id;
    node->aggregate.key_count = keys + 1;
    if (!masks_repeat(grouping))
        return;
    node->aggregate.keys[keys + 1] = attribute_expr(analyzer->arena, expand->output[at + keys + 1]);
    node->output[keys + 1] =
        analyzer_attribute(analyzer, "_gen_grouping_pos", type_simple(TYPE_LONG), false);
    node->aggregate.key_count++;
}

/* The session that column `id` of the node's output is, through aggregations as well; NULL: none.
 * *grouped: there is one between. */
static const struct logical_node *session_of(const struct logical_node *node, uint32_t id,
                                             bool *grouped)
{
    while (node->child_count > 0 && logical_find_output(node, id, NULL) != NULL) {
        uint32_t at = 0;
        bool groups = node->kind == LOGICAL_AGGREGATE;
        (void)logical_find_output(node, id, &at);
        if (node->kind == LOGICAL_SESSION && at + 1 == node->output_count)
            return node;
        if (node->kind == LOGICAL_PROJECT || groups) {
            if (groups && at >= node->aggregate.key_count)
                return NULL;
            const struct expr *from = groups ? node->aggregate.keys[at] : node->project.exprs[at];
            if (from->kind != EXPR_COLUMN)
                return NULL;
            id = from->column.attribute_id;
            *grouped = *grouped || groups;
        }
        node = node->children[0];
    }
    return NULL;
}

/* Sessions of finer groups, which are grouped again, are rows with a time and a gap: they become
 * one where they touch.  *key: is over *child; both may change. */
static enum status merge_sessions(struct analyzer *analyzer, struct logical_node **child,
                                  struct expr **key, struct error *err)
{
    struct arena *arena = analyzer->arena;
    struct resolve_context *ctx = &analyzer->functions;
    bool grouped = false;
    if ((*key)->kind != EXPR_COLUMN ||
        session_of(*child, (*key)->column.attribute_id, &grouped) == NULL || !grouped)
        return OK;
    struct attribute *from = logical_find_output(*child, (*key)->column.attribute_id, NULL);
    struct expr *start, *end, *gap;
    TRY(function_resolve_2(ctx, "[]", attribute_expr(arena, from),
                           expr_literal_string(arena, bytes_of_text("start")), &start, err));
    TRY(function_resolve_2(ctx, "[]", attribute_expr(arena, from),
                           expr_literal_string(arena, bytes_of_text("end")), &end, err));
    TRY(function_resolve_2(ctx, "-", end, start, &gap, err));
    struct logical_node *node = logical_over(arena, LOGICAL_SESSION, *child);
    struct attribute *merged = analyzer_attribute(analyzer, from->name, from->type, false);
    merged->is_window = from->is_window;
    merged->event_time = from->event_time;
    merged->delay_us = from->delay_us;
    merged->watermark_id = from->watermark_id;
    node->session.time = start;
    node->session.gap = gap;
    node->output =
        arena_new_object(arena, ((*child)->output_count + 1) * sizeof(struct attribute *));
    memcpy(node->output, (*child)->output, (*child)->output_count * sizeof(struct attribute *));
    node->output[(*child)->output_count] = merged;
    node->output_count = (*child)->output_count + 1;
    *child = node;
    *key = attribute_expr(arena, merged);
    return OK;
}

enum status distinct_node(struct analyzer *analyzer, struct logical_node **node, struct error *err)
{
    struct arena *arena = analyzer->arena;
    struct logical_node *child = *node;
    uint32_t count = child->output_count;
    struct attribute **output = child->output;
    struct expr **keys = arena_new_object(arena, (count + 1) * sizeof(struct expr *));
    bool sessions = false, grouped = false;
    for (uint32_t i = 0; i < count; i++) {
        sessions = sessions || session_of(*node, output[i]->id, &grouped) != NULL;
        keys[i] = attribute_expr(arena, output[i]);
        TRY(merge_sessions(analyzer, &child, &keys[i], err));
    }
    if (!sessions) {
        *node = logical_over(arena, LOGICAL_DISTINCT, *node);
        return OK;
    }
    *node = logical_over(arena, LOGICAL_AGGREGATE, child);
    (*node)->output = output;
    (*node)->output_count = (*node)->aggregate.key_count = count;
    (*node)->aggregate.keys = keys;
    (*node)->aggregate.aggregates = arena_new_object(arena, sizeof(struct expr *));
    return OK;
}

enum status grouping_node(struct analyzer *analyzer, struct grouping *grouping,
                          struct logical_node *child, struct logical_node **out, struct error *err)
{
    for (uint32_t i = 0; i < grouping->keys.count; i++) {
        const struct expr *key = grouping->keys.items[i];
        if (expr_has_window(key))
            return error_raise_at(err, STATUS_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE, key->position,
                                  key->position_end, "clauseName", "GROUP BY", NULL);
        if (expr_has_generator(key))
            return error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__NESTED_IN_EXPRESSIONS,
                                  key->position, key->position_end, "expression",
                                  expr_sql(analyzer, key), NULL);
    }
    struct arena *arena = analyzer->arena;
    uint32_t keys = grouping->keys.count, aggregates = grouping->aggregates.count;
    struct expr **key = arena_new_object(arena, (keys + 3) * sizeof(struct expr *));
    for (uint32_t i = 0; i < keys; i++) {
        key[i] = grouping->keys.items[i];
        if (!grouping->sets)
            TRY(merge_sessions(analyzer, &child, &key[i], err));
    }
    struct logical_node *below = grouping->sets ? expand_node(analyzer, grouping, child) : child;
    struct logical_node *node = logical_over(arena, LOGICAL_AGGREGATE, below);
    analyzer_node(analyzer, node, grouping->position, grouping->position_end);
    node->output = arena_new_object(arena, (keys + aggregates + 3) * sizeof(struct attribute *));
    node->aggregate.keys = key;
    node->aggregate.grouping_sets = grouping->sets;
    if (grouping->sets) {
        set_keys(analyzer, grouping, below, node);
    } else {
        for (uint32_t i = 0; i < keys; i++) {
            mark_event_time(analyzer, key[i], child, grouping->key_attributes[i]);
            node->output[i] = grouping->key_attributes[i];
        }
        node->aggregate.key_count = keys;
    }
    node->aggregate.aggregates = grouping->aggregates.items;
    node->aggregate.aggregate_count = aggregates;
    for (uint32_t i = 0; i < aggregates; i++) {
        const struct expr *expr = grouping->aggregates.items[i];
        node->output[node->aggregate.key_count + i] =
            attribute_new(arena, expr->aggregate.result_id, expr_name(analyzer, expr), expr->type,
                          expr->nullable);
    }
    node->output_count = node->aggregate.key_count + aggregates;
    *out = node;
    return OK;
}
