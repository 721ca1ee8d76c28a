/*
 * Pipe syntax: input |> step.  Each step becomes the SELECT that it stands for.
 */
#include "analyze/analyzer.h"
#include "analyze/relation.h"
#include "base/check.h"

#include <string.h>
#include <strings.h>

static struct ast_expr *new_star(struct analyzer *analyzer)
{
    struct ast_expr *star = arena_new_object(analyzer->arena, sizeof *star);
    star->kind = AST_EXPR_STAR;
    star->position = star->position_end = -1;
    return star;
}

static struct ast_expr *new_column(struct analyzer *analyzer, const struct ast_name *name)
{
    struct ast_expr *column = arena_new_object(analyzer->arena, sizeof *column);
    column->kind = AST_EXPR_COLUMN;
    column->position = name->position;
    column->position_end = name->position_end;
    column->column.position = name->position;
    column->column.position_end = name->position_end;
    column->column.parts = arena_new_object(analyzer->arena, sizeof *name);
    column->column.parts[0] = *name;
    column->column.count = 1;
    return column;
}

static struct ast_select *new_select(struct analyzer *analyzer, const struct ast_pipe_step *step,
                                     size_t items_max)
{
    struct ast_select *select = arena_new_object(analyzer->arena, sizeof *select);
    select->position = step->position;
    select->position_end = step->position_end;
    select->items.items =
        arena_new_object(analyzer->arena, (items_max + 1) * sizeof *select->items.items);
    return select;
}

static void add_item(struct ast_select *select, struct ast_item item)
{
    select->items.items[select->items.count++] = item;
}

/* EXTEND a AS b: SELECT *, a AS b. */
static struct ast_select *extend(struct analyzer *analyzer, const struct ast_pipe_step *step)
{
    struct ast_select *select = new_select(analyzer, step, step->items.count + 1);
    add_item(select, (struct ast_item){.expr = new_star(analyzer)});
    for (size_t i = 0; i < step->items.count; i++)
        add_item(select, step->items.items[i]);
    return select;
}

static enum status raise_missing(struct analyzer *analyzer, const struct scope *scope,
                                 const char *name, int position, int position_end,
                                 struct error *err)
{
    struct scope copy = *scope;
    struct resolver resolver = resolver_of(analyzer, &copy, CLAUSE_OTHER, NULL);
    return raise_unresolved_column(&resolver, text_quoted(analyzer, name), name, 1, position,
                                   position_end, err);
}

/* SET a = b: the columns in their places, a replaced. */
static struct ast_select *replace_one(struct analyzer *analyzer, const struct ast_pipe_step *step,
                                      const struct ast_assignment *assignment,
                                      const struct scope *scope)
{
    struct ast_select *select = new_select(analyzer, step, scope->count);
    const char *target = name_text(analyzer, &assignment->name);
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (column->qualified_only || column->no_star)
            continue;
        struct ast_name name = {
            .text = bytes_of_text(column->name), .position = -1, .position_end = -1};
        struct ast_item item = {.expr = new_column(analyzer, &name)};
        if (name_equal(analyzer, target, column->name)) {
            item.expr = assignment->expr;
            item.aliases.items = arena_new_object(analyzer->arena, sizeof name);
            item.aliases.items[0] = name;
            item.aliases.count = 1;
        }
        add_item(select, item);
    }
    return select;
}

static enum status pipe_select(struct analyzer *analyzer, const struct ast_select *select,
                               struct scope *outer, struct expr_list *outer_refs,
                               struct relation *input, struct relation *out, struct error *err)
{
    return resolve_select(analyzer, select, NULL, outer, outer_refs, input, out, err);
}

static const struct expr *first_aggregate(const struct expr *expr)
{
    while (expr->kind != EXPR_AGGREGATE) {
        uint32_t i = 0;
        while (i + 1 < expr->arg_count && !expr_has_aggregate(expr->args[i]))
            i++;
        expr = expr->args[i];
    }
    return expr;
}

/* EXTEND and SET work row by row. */
static enum status check_no_aggregate(struct analyzer *analyzer, const struct ast_expr *ast,
                                      const struct relation *input, struct expr_list *outer_refs,
                                      const char *clause, struct error *err)
{
    struct resolver resolver = resolver_of(analyzer, input->scope, CLAUSE_SELECT, outer_refs);
    struct relation copy = *input;
    struct error ignored = ERROR_INIT;
    struct expr *expr;
    resolver.input = &copy;
    if (ast->kind == AST_EXPR_STAR || resolve_expr(&resolver, ast, &expr, &ignored) != OK ||
        !expr_has_aggregate(expr))
        return OK;
    const struct expr *found = first_aggregate(expr);
    return error_raise_at(err, STATUS_PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION, found->position,
                          found->position_end, "expr", expr_with_marks(analyzer, found), "clause",
                          clause, NULL);
}

/* One assignment after the other: each sees what those before it have set. */
static enum status pipe_set(struct analyzer *analyzer, const struct ast_term *ast,
                            struct scope *outer, struct expr_list *outer_refs,
                            struct relation *input, struct relation *out, struct error *err)
{
    const struct ast_pipe_step *step = ast->pipe.step;
    *out = *input;
    for (size_t i = 0; i < step->assignment_count; i++) {
        const struct ast_assignment *assignment = &step->assignments[i];
        const char *name = name_text(analyzer, &assignment->name);
        struct relation before = *out;
        if (scope_find(analyzer, before.scope, name) == NULL)
            return raise_missing(analyzer, before.scope, name, ast->position, step->position_end,
                                 err);
        TRY(check_no_aggregate(analyzer, assignment->expr, &before, outer_refs, "SET", err));
        TRY(pipe_select(analyzer, replace_one(analyzer, step, assignment, before.scope), outer,
                        outer_refs, &before, out, err));
    }
    return OK;
}

/* DROP a: SELECT * EXCEPT (a). */
static struct ast_select *drop(struct analyzer *analyzer, const struct ast_pipe_step *step)
{
    struct ast_select *select = new_select(analyzer, step, 1);
    struct ast_expr *star = new_star(analyzer);
    star->star.has_except = true;
    star->star.except.items =
        arena_new_object(analyzer->arena, (step->names.count + 1) * sizeof(struct ast_path));
    for (size_t i = 0; i < step->names.count; i++)
        star->star.except.items[star->star.except.count++] =
            new_column(analyzer, &step->names.items[i])->column;
    add_item(select, (struct ast_item){.expr = star});
    return select;
}

/* AGGREGATE a GROUP BY k: SELECT k, a GROUP BY k. */
static struct ast_select *aggregate(struct analyzer *analyzer, const struct ast_pipe_step *step)
{
    struct ast_select *select =
        new_select(analyzer, step, step->items.count + step->group_items.count + 1);
    for (size_t i = 0; i < step->group_items.count; i++)
        add_item(select, step->group_items.items[i]);
    for (size_t i = 0; i < step->items.count; i++)
        add_item(select, step->items.items[i]);
    select->group_by = step->group_by;
    if (step->group_by == NULL) {
        select->group_by = arena_new_object(analyzer->arena, sizeof *select->group_by);
        select->group_by->position = step->position;
        select->group_by->position_end = step->position_end;
    }
    return select;
}

static enum status check_aggregate(struct analyzer *analyzer, const struct ast_pipe_step *step,
                                   const struct relation *input, struct scope *outer,
                                   struct expr_list *outer_refs, struct error *err)
{
    for (size_t i = 0; i < step->items.count; i++) {
        struct resolver resolver = resolver_of(analyzer, input->scope, CLAUSE_SELECT, outer_refs);
        struct relation copy = *input;
        resolver.input = &copy;
        struct expr *expr;
        (void)outer;
        if (step->items.items[i].expr->kind == AST_EXPR_STAR)
            continue;
        TRY(resolve_expr(&resolver, step->items.items[i].expr, &expr, err));
        if (!expr_has_aggregate(expr))
            return error_raise_at(
                err, STATUS_PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION,
                step->items.items[i].position, step->items.items[i].position_end, "expr",
                expr_with_marks(analyzer, expr), NULL);
    }
    return OK;
}

static enum status check_extend(struct analyzer *analyzer, const struct ast_pipe_step *step,
                                const struct relation *input, struct expr_list *outer_refs,
                                struct error *err)
{
    for (size_t i = 0; i < step->items.count; i++)
        TRY(check_no_aggregate(analyzer, step->items.items[i].expr, input, outer_refs, "EXTEND",
                               err));
    return OK;
}

static enum status check_group_by(const struct ast_pipe_step *step, struct error *err)
{
    const struct ast_expr *only =
        step->group_items.count == 1 ? step->group_items.items[0].expr : NULL;
    if (only == NULL || only->kind != AST_EXPR_COLUMN || only->column.count != 1 ||
        only->column.parts[0].quoted || only->column.parts[0].text.size_bytes != 3 ||
        strncasecmp((const char *)only->column.parts[0].text.data, "all", 3) != 0)
        return OK;
    return error_raise_at(err, STATUS_UNSUPPORTED_FEATURE__PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE,
                          only->position, only->position_end, "case", "GROUP BY ALL", NULL);
}

static enum status apply_step(struct analyzer *analyzer, const struct ast_term *ast,
                              struct scope *outer, struct expr_list *outer_refs,
                              struct relation *input, struct relation *out, struct error *err)
{
    const struct ast_pipe_step *step = ast->pipe.step;
    struct relation right;
    switch (step->kind) {
    case AST_PIPE_SELECT:
        return pipe_select(analyzer, step->select, outer, outer_refs, input, out, err);
    case AST_PIPE_EXTEND:
        TRY(check_extend(analyzer, step, input, outer_refs, err));
        return pipe_select(analyzer, extend(analyzer, step), outer, outer_refs, input, out, err);
    case AST_PIPE_SET:
        return pipe_set(analyzer, ast, outer, outer_refs, input, out, err);
    case AST_PIPE_DROP:
        return pipe_select(analyzer, drop(analyzer, step), outer, outer_refs, input, out, err);
    case AST_PIPE_AS:
        *out = *input;
        return scope_alias(analyzer, out, &step->names.items[0], NULL, step->position,
                           step->position_end, err);
    case AST_PIPE_WHERE: {
        struct resolver resolver = resolver_of(analyzer, input->scope, CLAUSE_WHERE, outer_refs);
        *out = *input;
        resolver.input = out;
        return select_where(analyzer, step->where, &resolver, out, step->position,
                            step->position_end, err);
    }
    case AST_PIPE_AGGREGATE:
        TRY(check_group_by(step, err));
        TRY(check_aggregate(analyzer, step, input, outer, outer_refs, err));
        return pipe_select(analyzer, aggregate(analyzer, step), outer, outer_refs, input, out, err);
    case AST_PIPE_RELATION:
        return resolve_relation_over(analyzer, step->relation, outer, outer_refs, input, out, err);
    case AST_PIPE_SET_OPERATION: {
        struct ast_term set = {.position = ast->position,
                               .position_end = ast->position_end,
                               .kind = AST_TERM_SET,
                               .set = {.kind = step->set_kind, .quantifier = step->quantifier}};
        TRY(resolve_term(analyzer, step->right, outer, outer_refs, &right, err));
        return resolve_set_operation(analyzer, &set, input, &right, out, err);
    }
    case AST_PIPE_TAIL:
        *out = *input;
        return resolve_tail(analyzer, step->tail, outer, outer_refs, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown pipe step");
}

enum status resolve_pipe(struct analyzer *analyzer, const struct ast_term *ast, struct scope *outer,
                         struct expr_list *outer_refs, struct relation *out, struct error *err)
{
    /* Long chains are loops, not recursion. */
    uint32_t count = 0;
    for (const struct ast_term *at = ast; at->kind == AST_TERM_PIPE; at = at->pipe.input)
        count++;
    const struct ast_term **chain =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct ast_term *));
    const struct ast_term *at = ast;
    for (uint32_t i = count; i-- > 0; at = at->pipe.input)
        chain[i] = at;
    struct relation current;
    TRY(resolve_term(analyzer, at, outer, outer_refs, &current, err));
    for (uint32_t i = 0; i < count; i++) {
        struct relation next = {0};
        relation_expose(analyzer, &current);
        TRY(apply_step(analyzer, chain[i], outer, outer_refs, &current, &next, err));
        current = next;
    }
    *out = current;
    return OK;
}
