/*
 * Calls: scalar functions, lambdas, generators, aggregates.  OVER is in resolve_window.c.
 */
#include "analyze/resolve_call.h"
#include "analyze/analyzer.h"
#include "base/check.h"
#include "expr/aggregate.h"
#include "expr/coercion.h"

#include <strings.h>

static enum status raise_unresolved(struct resolver *resolver, const struct ast_expr *ast,
                                    struct error *err)
{
    routine_unresolved(resolver->analyzer, &ast->call.name, err);
    return error_at(err, ast->position, ast->position_end);
}

/* The plain name of `abs`, `builtin.abs`, `system.builtin.abs`; NULL for any other path. */
static const char *call_name(struct analyzer *analyzer, const struct ast_path *path)
{
    const char *last = name_text(analyzer, &path->parts[path->count - 1]);
    if (path->count == 1)
        return last;
    if (path->count > 3 ||
        strcasecmp(name_text(analyzer, &path->parts[path->count - 2]), "builtin") != 0)
        return NULL;
    if (path->count == 3 && strcasecmp(name_text(analyzer, &path->parts[0]), "system") != 0)
        return NULL;
    return last;
}

static enum status raise_syntax(struct resolver *resolver, const struct ast_expr *ast,
                                const char *name, const char *syntax, struct error *err)
{
    char lower[128];
    size_t length = strlen(name) < sizeof lower - 1 ? strlen(name) : sizeof lower - 1;
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    lower[length] = '\0';
    return error_raise_at(err, STATUS_INVALID_SQL_SYNTAX__FUNCTION_WITH_UNSUPPORTED_SYNTAX,
                          ast->position, ast->position_end, "prettyName",
                          text_quoted(resolver->analyzer, lower), "syntax", syntax, NULL);
}

static enum status check_scalar_syntax(struct resolver *resolver, const struct ast_expr *ast,
                                       const char *name, struct error *err)
{
    if (ast->call.quantifier == AST_QUANTIFIER_DISTINCT)
        return raise_syntax(resolver, ast, name, "DISTINCT", err);
    if (ast->call.within_group.count > 0)
        return raise_syntax(resolver, ast, name, "WITHIN GROUP (ORDER BY ...)", err);
    if (ast->call.filter != NULL)
        return raise_syntax(resolver, ast, name, "FILTER CLAUSE", err);
    if (ast->call.nulls != AST_NULLS_UNSAID)
        return raise_syntax(resolver, ast, name, "IGNORE NULLS", err);
    return OK;
}

/* ---- arguments ---- */

struct named_function {
    const char *name;
    const char *parameters[6];
};

/* The few functions that take arguments by name. */
static const struct named_function named_functions[] = {
    {"mask", {"str", "upperChar", "lowerChar", "digitChar", "otherChar"}},
    {"count_min_sketch", {"column", "epsilon", "confidence", "seed"}},
};

static const struct named_function *find_named(const char *name)
{
    for (size_t i = 0; i < sizeof named_functions / sizeof named_functions[0]; i++)
        if (strcasecmp(named_functions[i].name, name) == 0)
            return &named_functions[i];
    return NULL;
}

static enum status raise_parameter(struct resolver *resolver, const struct ast_expr *ast,
                                   const char *function, const char *parameter,
                                   const struct named_function *named, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct buffer proposal = {0};
    const char *nearest = named->parameters[0];
    buffer_add_text(&proposal, text_quoted(analyzer, nearest));
    for (uint32_t i = 4; i >= 2 && named->parameters[i] != NULL; i -= 2)
        buffer_printf(&proposal, " %s", text_quoted(analyzer, named->parameters[i]));
    error_raise_at(err, STATUS_UNRECOGNIZED_PARAMETER_NAME, ast->position, ast->position_end,
                   "routineName", text_quoted(analyzer, function), "argumentName",
                   text_quoted(analyzer, parameter), "proposal", buffer_text(&proposal), NULL);
    buffer_fini(&proposal);
    return err->status;
}

static enum status place_named(struct resolver *resolver, const struct ast_expr *ast,
                               const char *name, const struct ast_argument *argument,
                               struct expr **slots, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct named_function *named = find_named(name);
    if (named == NULL)
        return error_raise_at(err, STATUS_NAMED_PARAMETERS_NOT_SUPPORTED, ast->position,
                              ast->position_end, "functionName", text_quoted(analyzer, name), NULL);
    const char *parameter = name_text(analyzer, &argument->name);
    for (uint32_t i = 0; i < 6 && named->parameters[i] != NULL; i++) {
        if (!name_equal(analyzer, named->parameters[i], parameter))
            continue;
        if (slots[i] != NULL && ast->call.args.items[i].name.text.data == NULL)
            return error_raise_at(
                err, STATUS_DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT__BOTH_POSITIONAL_AND_NAMED,
                ast->position, ast->position_end, "routineName", text_quoted(analyzer, name),
                "parameterName", text_quoted(analyzer, parameter), NULL);
        if (slots[i] != NULL)
            return error_raise_at(
                err, STATUS_DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT__DOUBLE_NAMED_ARGUMENT_REFERENCE,
                ast->position, ast->position_end, "routineName", text_quoted(analyzer, name),
                "parameterName", text_quoted(analyzer, parameter), NULL);
        return resolve_expr(resolver, argument->expr, &slots[i], err);
    }
    return raise_parameter(resolver, ast, name, parameter, named, err);
}

/* The default values of mask(), for parameters skipped by name. */
static struct expr *named_default(struct resolver *resolver, uint32_t index)
{
    static const char *const texts[] = {"", "X", "x", "n"};
    struct arena *arena = resolver->analyzer->arena;
    if (index < 4)
        return expr_literal_string(arena, bytes_of_text(texts[index]));
    return expr_null(arena, type_simple(TYPE_STRING));
}

/* The first parameter of mask(), and all of count_min_sketch(), have no default. */
static enum status check_required(struct resolver *resolver, const struct ast_expr *ast,
                                  const char *name, struct expr *const *slots, struct error *err)
{
    const struct named_function *named = find_named(name);
    uint32_t required = named == NULL ? 0 : named == &named_functions[0] ? 1 : 4;
    for (uint32_t i = 0; i < required; i++)
        if (slots[i] == NULL)
            return error_raise_at(
                err, STATUS_REQUIRED_PARAMETER_NOT_FOUND, ast->position, ast->position_end,
                "routineName", text_quoted(resolver->analyzer, name), "parameterName",
                text_quoted(resolver->analyzer, named->parameters[i]), "index",
                arena_sprintf(resolver->analyzer->arena, "%u", i == 0 ? 0 : i - 1), NULL);
    return OK;
}

static enum status raise_table_argument(const struct ast_argument *argument, struct error *err)
{
    return error_raise_at(err, STATUS_NOT_SUPPORTED, argument->position, argument->position_end,
                          "feature", "A TABLE argument", NULL);
}

static enum status resolve_named(struct resolver *resolver, const struct ast_expr *ast,
                                 const char *name, struct expr_list *out, struct error *err)
{
    struct expr *slots[6] = {NULL};
    uint32_t last = 0;
    for (size_t i = 0; i < ast->call.args.count; i++) {
        const struct ast_argument *argument = &ast->call.args.items[i];
        bool by_name = argument->name.text.data != NULL;
        if (!by_name && i > 0 && ast->call.args.items[i - 1].name.text.data != NULL)
            return error_raise_at(
                err, STATUS_UNEXPECTED_POSITIONAL_ARGUMENT, ast->position, ast->position_end,
                "routineName", text_quoted(resolver->analyzer, name), "parameterName",
                text_quoted(resolver->analyzer,
                            name_text(resolver->analyzer, &ast->call.args.items[i - 1].name)),
                NULL);
        if (argument->expr == NULL)
            return raise_table_argument(argument, err);
        if (by_name)
            TRY(place_named(resolver, ast, name, argument, slots, err));
        else if (i < 6)
            TRY(resolve_expr(resolver, argument->expr, &slots[i], err));
    }
    TRY(check_required(resolver, ast, name, slots, err));
    for (uint32_t i = 0; i < 6; i++)
        if (slots[i] != NULL)
            last = i + 1;
    for (uint32_t i = 0; i < last; i++)
        expr_list_add(resolver->analyzer->arena, out,
                      slots[i] != NULL ? slots[i] : named_default(resolver, i));
    return OK;
}

enum status resolve_arguments(struct resolver *resolver, const struct ast_expr *ast,
                              const char *name, struct expr_list *out, struct error *err)
{
    for (size_t i = 0; i < ast->call.args.count; i++)
        if (ast->call.args.items[i].name.text.data != NULL)
            return resolve_named(resolver, ast, name, out, err);
    for (size_t i = 0; i < ast->call.args.count; i++) {
        const struct ast_argument *argument = &ast->call.args.items[i];
        if (argument->table != NULL)
            return raise_table_argument(argument, err);
        if (argument->expr->kind == AST_EXPR_STAR) {
            TRY(resolve_star(resolver, argument->expr, out, err));
            continue;
        }
        struct expr *expr;
        TRY(resolve_expr(resolver, argument->expr, &expr, err));
        expr_list_add(resolver->analyzer->arena, out, expr);
    }
    return OK;
}

/* ---- lambdas ---- */

static enum status check_lambda_names(struct resolver *resolver, const struct ast_expr *ast,
                                      struct error *err)
{
    const struct ast_name_list *params = &ast->lambda.params;
    for (size_t i = 0; i < params->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *a = name_text(resolver->analyzer, &params->items[i]);
            const char *b = name_text(resolver->analyzer, &params->items[j]);
            if (name_equal(resolver->analyzer, a, b))
                return error_raise_at(err, STATUS_INVALID_LAMBDA_FUNCTION_CALL__DUPLICATE_ARG_NAMES,
                                      ast->position, ast->position_end, "args",
                                      arena_sprintf(resolver->analyzer->arena, "%s, %s",
                                                    text_quoted(resolver->analyzer, b),
                                                    text_quoted(resolver->analyzer, a)),
                                      "caseSensitiveConfig", "\"spark.sql.caseSensitive\"", NULL);
        }
    }
    return OK;
}

static enum status resolve_lambda(struct resolver *resolver, const struct ast_expr *ast,
                                  const struct lambda_types *types, uint32_t count,
                                  struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    bool is_lambda = ast->kind == AST_EXPR_LAMBDA;
    if (is_lambda)
        TRY(check_lambda_names(resolver, ast, err));
    struct lambda_scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->count = count;
    scope->outer = resolver->lambdas;
    scope->names = arena_new_object(analyzer->arena, (count + 1) * sizeof *scope->names);
    scope->ids = arena_new_object(analyzer->arena, (count + 1) * sizeof *scope->ids);
    scope->types = arena_new_object(analyzer->arena, (count + 1) * sizeof *scope->types);
    scope->nullable = arena_new_object(analyzer->arena, (count + 1) * sizeof *scope->nullable);
    for (uint32_t i = 0; i < count; i++) {
        scope->names[i] = is_lambda ? name_text(analyzer, &ast->lambda.params.items[i]) : "col";
        scope->ids[i] = analyzer->next_id++;
        scope->types[i] = types->types[i];
        scope->nullable[i] = types->nullable[i];
    }
    struct resolver inner = *resolver;
    if (is_lambda)
        inner.lambdas = scope;
    struct expr *body;
    TRY(resolve_expr(&inner, is_lambda ? ast->lambda.body : ast, &body, err));
    if (expr_has_kind(body, EXPR_SUBQUERY))
        return error_raise_at(
            err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__HIGHER_ORDER_FUNCTION,
            ast->position, ast->position_end, NULL);
    struct expr *lambda = arena_new_object(analyzer->arena, sizeof *lambda);
    lambda->kind = EXPR_LAMBDA;
    lambda->type = body->type;
    lambda->nullable = body->nullable;
    lambda->position = ast->position;
    lambda->position_end = ast->position_end;
    lambda->args = arena_new_object(analyzer->arena, sizeof(struct expr *));
    lambda->args[0] = body;
    lambda->arg_count = 1;
    lambda->lambda.variable_ids = scope->ids;
    lambda->lambda.variable_names = scope->names;
    lambda->lambda.variable_count = count;
    *out = lambda;
    return OK;
}

/* A plain expression in the place of a lambda: as many variables as the function wants. */
static enum status plain_lambda_types(struct resolver *resolver, const struct function_call *call,
                                      uint32_t index, struct lambda_types *types, struct error *err)
{
    enum status status = OK;
    for (uint32_t count = 1; count <= 3; count++) {
        error_clear(err);
        status =
            function_lambda_types(&resolver->analyzer->functions, call, index, count, types, err);
        if (status != STATUS_INVALID_LAMBDA_FUNCTION_CALL__NUM_ARGS_MISMATCH)
            break;
    }
    return status;
}

/* The body with columns in the place of the variables: their names are what a message shows. */
static const char *body_text(struct resolver *resolver, const struct ast_expr *lambda)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct ast_name_list *params = &lambda->lambda.params;
    struct scope scope = {
        .columns =
            arena_new_object(analyzer->arena, (params->count + 1) * sizeof(struct scope_column)),
        .outer = resolver->scope,
    };
    for (size_t i = 0; i < params->count; i++) {
        const char *name = name_text(analyzer, &params->items[i]);
        scope.columns[scope.count++] = (struct scope_column){
            .attribute = analyzer_attribute(analyzer, name, type_simple(TYPE_VOID), true),
            .name = name,
        };
    }
    struct resolver inner = resolver_of(analyzer, &scope, resolver->clause, NULL);
    struct error ignored = ERROR_INIT;
    struct expr *body;
    if (resolve_expr(&inner, lambda->lambda.body, &body, &ignored) == OK)
        return expr_name(analyzer, body);
    struct buffer text = {0};
    ast_expr_print(&text, lambda->lambda.body);
    const char *copy = arena_strdup(analyzer->arena, buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

/* The message shows the lambda, though it has not been resolved. */
static enum status raise_before_lambda(struct resolver *resolver, const struct function_call *call,
                                       const struct ast_expr *lambda, struct error *err)
{
    struct buffer sql = {0};
    buffer_printf(&sql, "\"%s(", call->name);
    for (uint32_t i = 0; i < call->arg_count; i++)
        buffer_printf(&sql, "%s, ", expr_name(resolver->analyzer, call->args[i]));
    buffer_printf(&sql, "lambdafunction(%s", body_text(resolver, lambda));
    for (size_t i = 0; i < lambda->lambda.params.count; i++)
        buffer_printf(&sql, ", %s", name_text(resolver->analyzer, &lambda->lambda.params.items[i]));
    bool folds = strcasecmp(call->name, "aggregate") == 0 || strcasecmp(call->name, "reduce") == 0;
    buffer_add_text(&sql, folds && call->arg_count == 2 ? "), lambdafunction(id, id))\"" : "))\"");
    struct error old = *err;
    error_clear(err);
    if (old.status == STATUS_DATATYPE_MISMATCH__MAP_ZIP_WITH_DIFF_TYPES)
        error_raise_at(err, old.status, call->position, call->position_end, "sqlExpr",
                       buffer_text(&sql), "functionName", error_param(&old, "functionName"),
                       "leftType", error_param(&old, "leftType"), "rightType",
                       error_param(&old, "rightType"), NULL);
    else
        error_raise_at(err, old.status, call->position, call->position_end, "sqlExpr",
                       buffer_text(&sql), "paramIndex", error_param(&old, "paramIndex"), "inputSql",
                       error_param(&old, "inputSql"), "inputType", error_param(&old, "inputType"),
                       "requiredType", error_param(&old, "requiredType"), NULL);
    buffer_fini(&sql);
    return err->status;
}

static enum status resolve_higher_order(struct resolver *resolver, const struct ast_expr *ast,
                                        const char *name, const struct function *function,
                                        struct expr **out, struct error *err)
{
    uint32_t count = (uint32_t)ast->call.args.count;
    struct expr **args =
        arena_new_object(resolver->analyzer->arena, (count + 1) * sizeof(struct expr *));
    struct function_call call = {
        .name = name,
        .args = args,
        .position = ast->position,
        .position_end = ast->position_end,
    };
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_expr *argument = ast->call.args.items[i].expr;
        if (argument == NULL)
            return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                                  "feature", "A TABLE argument", NULL);
        call.arg_count = i;
        if (!function_takes_lambda(function, i)) {
            if (argument->kind == AST_EXPR_LAMBDA)
                return error_raise_at(
                    err,
                    STATUS_INVALID_LAMBDA_FUNCTION_CALL__PARAMETER_DOES_NOT_ACCEPT_LAMBDA_FUNCTION,
                    ast->position, ast->position_end, NULL);
            TRY(resolve_expr(resolver, argument, &args[i], err));
            continue;
        }
        struct lambda_types types = {0};
        enum status status =
            argument->kind == AST_EXPR_LAMBDA
                ? function_lambda_types(&resolver->analyzer->functions, &call, i,
                                        (uint32_t)argument->lambda.params.count, &types, err)
                : plain_lambda_types(resolver, &call, i, &types, err);
        if (status == STATUS_INVALID_LAMBDA_FUNCTION_CALL__NUM_ARGS_MISMATCH) {
            err->position = argument->position;
            err->position_end = argument->position_end;
        }
        if ((status == STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE ||
             status == STATUS_DATATYPE_MISMATCH__MAP_ZIP_WITH_DIFF_TYPES) &&
            argument->kind == AST_EXPR_LAMBDA)
            return raise_before_lambda(resolver, &call, argument, err);
        TRY(status);
        uint32_t variables = argument->kind == AST_EXPR_LAMBDA
                                 ? (uint32_t)argument->lambda.params.count
                                 : types.count;
        TRY(resolve_lambda(resolver, argument, &types, variables, &args[i], err));
    }
    return resolve_function(resolver, name, args, count, ast->position, ast->position_end, out,
                            err);
}

static bool has_lambda(const struct ast_expr *ast)
{
    for (size_t i = 0; i < ast->call.args.count; i++)
        if (ast->call.args.items[i].expr != NULL &&
            ast->call.args.items[i].expr->kind == AST_EXPR_LAMBDA)
            return true;
    return false;
}

static enum status raise_not_higher_order(struct resolver *resolver, const struct ast_expr *ast,
                                          const char *name, struct error *err)
{
    char class_name[160] = "org.apache.spark.sql.catalyst.expressions.";
    size_t length = strlen(class_name);
    bool upper = true;
    for (const char *at = name; *at != '\0' && length < sizeof class_name - 1; at++) {
        if (*at == '_') {
            upper = true;
            continue;
        }
        char letter = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
        class_name[length++] =
            (char)(upper && letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
        upper = false;
    }
    class_name[length] = '\0';
    (void)resolver;
    return error_raise_at(err, STATUS_INVALID_LAMBDA_FUNCTION_CALL__NON_HIGHER_ORDER_FUNCTION,
                          ast->position, ast->position_end, "class", class_name, NULL);
}

/* ---- aggregates ---- */

static const struct expr *nested_aggregate(const struct expr *expr)
{
    if (expr->kind == EXPR_AGGREGATE)
        return expr;
    if (expr->kind == EXPR_WINDOW)
        return NULL;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *found = nested_aggregate(expr->args[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* The first window function below, or the expression itself. */
static const struct expr *window_of(const struct expr *expr)
{
    while (expr->kind != EXPR_WINDOW) {
        uint32_t i = 0;
        while (i < expr->arg_count && !expr_has_window(expr->args[i]))
            i++;
        if (i == expr->arg_count)
            break;
        expr = expr->args[i];
    }
    return expr;
}

static enum status check_filter(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr *filter, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct expr *inner = nested_aggregate(filter);
    if (filter->type->id != TYPE_BOOLEAN)
        return error_raise_at(err, STATUS_INVALID_AGGREGATE_FILTER__NOT_BOOLEAN, ast->position,
                              ast->position_end, "filterExpr", expr_sql(analyzer, filter), NULL);
    if (!expr_is_deterministic(filter))
        return error_raise_at(err, STATUS_INVALID_AGGREGATE_FILTER__NON_DETERMINISTIC,
                              ast->position, ast->position_end, "filterExpr",
                              expr_sql(analyzer, filter), NULL);
    if (inner != NULL)
        return error_raise_at(err, STATUS_INVALID_AGGREGATE_FILTER__CONTAINS_AGGREGATE,
                              ast->position, ast->position_end, "filterExpr",
                              expr_sql(analyzer, filter), "aggExpr", expr_sql(analyzer, inner),
                              NULL);
    if (expr_has_window(filter))
        return error_raise_at(err, STATUS_INVALID_AGGREGATE_FILTER__CONTAINS_WINDOW_FUNCTION,
                              ast->position, ast->position_end, "filterExpr",
                              expr_sql(analyzer, filter), "windowExpr",
                              expr_sql(analyzer, window_of(filter)), NULL);
    return OK;
}

/* count(*) is count(1); count(DISTINCT *) takes all columns. */
static enum status aggregate_arguments(struct resolver *resolver, const struct ast_expr *ast,
                                       const char *name, struct expr_list *args, struct error *err)
{
    const struct ast_call *call = &ast->call;
    bool is_count = strcasecmp(name, "count") == 0;
    if (is_count && call->args.count == 1 && call->args.items[0].expr != NULL &&
        call->args.items[0].expr->kind == AST_EXPR_STAR) {
        const struct ast_expr *star = call->args.items[0].expr;
        if (star->star.qualifier.count > 0)
            return error_raise_at(err, STATUS_INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT,
                                  ast->position, ast->position_end, "tableName",
                                  path_quoted(resolver->analyzer, &star->star.qualifier), NULL);
        if (call->quantifier != AST_QUANTIFIER_DISTINCT && !star->star.has_except) {
            expr_list_add(resolver->analyzer->arena, args,
                          expr_literal_int(resolver->analyzer->arena, 1));
            return OK;
        }
    }
    return resolve_arguments(resolver, ast, name, args, err);
}

static enum status check_aggregate_arguments(struct resolver *resolver, const char *name,
                                             struct expr_list *args, bool windowed,
                                             struct error *err)
{
    for (uint32_t i = 0; i < args->count; i++) {
        const struct expr *inner = nested_aggregate(args->items[i]);
        if (inner != NULL && !windowed)
            return error_raise_at(err, STATUS_NESTED_AGGREGATE_FUNCTION, inner->position,
                                  inner->position_end, NULL);
        if (expr_has_window(args->items[i]) && !windowed)
            return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1031, NULL);
        if (expr_has_generator(args->items[i]))
            return error_raise(err, STATUS_UNSUPPORTED_GENERATOR__NESTED_IN_EXPRESSIONS,
                               "expression",
                               arena_sprintf(resolver->analyzer->arena, "\"%s(%s)\"", name,
                                             expr_name(resolver->analyzer, args->items[i])),
                               NULL);
    }
    return OK;
}

/* The count of arguments is looked at first. */
static enum status raise_aggregate_lambda(struct resolver *resolver, const struct ast_expr *ast,
                                          const char *name, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr_list args = {0};
    struct expr *ignored;
    for (size_t i = 0; i < ast->call.args.count; i++)
        expr_list_add(analyzer->arena, &args, expr_null(analyzer->arena, type_simple(TYPE_VOID)));
    struct aggregate_call request = {
        .name = name,
        .args = args.items,
        .arg_count = args.count,
        .position = ast->position,
        .position_end = ast->position_end,
    };
    enum status status = aggregate_resolve(&analyzer->functions, &request, &ignored, err);
    if (status == STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION)
        return status;
    error_clear(err);
    return error_raise_at(err, STATUS_INVALID_LAMBDA_FUNCTION_CALL__NON_HIGHER_ORDER_FUNCTION,
                          ast->position, ast->position_end, "class",
                          "org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression",
                          NULL);
}

/* The message shows the call with what it may not name. */
static enum status raise_lateral_argument(struct resolver *resolver, const struct ast_expr *ast,
                                          const char *name, enum status status, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    const char *alias = error_param(err, "lca");
    if (alias == NULL || error_param(err, "aggFunc") != NULL ||
        error_param(err, "windowExpr") != NULL)
        return status;
    alias = arena_strdup(arena, alias);
    const struct ast_window *over = ast->call.over;
    bool bare = over != NULL && !over->is_reference && over->partition_by.count == 0 &&
                over->order_by.count == 0 && over->frame == AST_FRAME_NONE;
    const char *sql =
        arena_sprintf(arena, "\"%s(lateralAliasReference(%.*s))%s\"", name, (int)strlen(alias) - 2,
                      alias + 1, bare ? " OVER (unspecifiedframe$())" : "");
    error_clear(err);
    return error_raise(err, status, "lca", alias, over == NULL ? "aggFunc" : "windowExpr", sql,
                       NULL);
}

/* Each row is seen once, so what it contributes must not depend on chance. */
static enum status check_deterministic(struct analyzer *analyzer, const struct expr *aggregate,
                                       struct error *err)
{
    for (uint32_t i = 0; i < aggregate->arg_count; i++) {
        const struct expr *arg = aggregate->args[i];
        while (arg->kind == EXPR_CAST && arg->cast.implicit)
            arg = arg->args[0];
        if (!expr_is_deterministic(arg))
            return error_raise_at(err, STATUS_AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION,
                                  arg->position, arg->position_end, "sqlExpr",
                                  expr_sql(analyzer, aggregate), NULL);
    }
    return OK;
}

enum status resolve_aggregate(struct resolver *resolver, const struct ast_expr *ast,
                              const char *name, struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct ast_call *call = &ast->call;
    struct resolver inner = *resolver;
    if (call->over == NULL)
        inner.in_aggregate = true;
    struct expr_list args = {0};
    if (has_lambda(ast))
        return raise_aggregate_lambda(resolver, ast, name, err);
    enum status status = aggregate_arguments(&inner, ast, name, &args, err);
    if (status == STATUS_UNSUPPORTED_FEATURE__LATERAL_COLUMN_ALIAS_IN_AGGREGATE_FUNC)
        return raise_lateral_argument(resolver, ast, name, status, err);
    if (status == STATUS_UNSUPPORTED_FEATURE__LATERAL_COLUMN_ALIAS_IN_WINDOW)
        return raise_lateral_argument(resolver, ast, name, status, err);
    TRY(status);
    TRY(check_aggregate_arguments(resolver, name, &args, call->over != NULL, err));
    if (call->nulls != AST_NULLS_UNSAID &&
        (aggregate_find(name)->flags & AGGREGATE_IGNORE_NULLS) == 0)
        return raise_syntax(resolver, ast, name, "IGNORE NULLS", err);

    struct expr *filter = NULL;
    if (call->filter != NULL) {
        TRY(resolve_expr(&inner, call->filter, &filter, err));
        TRY(check_filter(resolver, ast, filter, err));
    }
    struct sort_key *order =
        arena_new_object(analyzer->arena, (call->within_group.count + 1) * sizeof *order);
    for (size_t i = 0; i < call->within_group.count; i++)
        TRY(resolve_sort_key(&inner, &call->within_group.items[i], &order[i], err));
    struct aggregate_call request = {
        .name = name,
        .args = args.items,
        .arg_count = args.count,
        .distinct = call->quantifier == AST_QUANTIFIER_DISTINCT,
        .filter = filter,
        .order = order,
        .order_count = (uint32_t)call->within_group.count,
        .nulls = call->nulls == AST_NULLS_IGNORE    ? 1
                 : call->nulls == AST_NULLS_RESPECT ? 2
                                                    : 0,
        .position = ast->position,
        .position_end = ast->position_end,
    };
    TRY(aggregate_resolve(&analyzer->functions, &request, out, err));
    if (call->over == NULL)
        TRY(check_deterministic(analyzer, *out, err));
    if (expr_has_kind(*out, EXPR_OUTER) && expr_has_kind(*out, EXPR_COLUMN))
        return error_raise_at(
            err,
            STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES,
            ast->position, ast->position_end, "function", expr_qualified(analyzer, *out), NULL);
    inner.used_alias = inner.used_alias || resolver->used_alias;
    resolver->used_alias = inner.used_alias;
    if ((*out)->kind == EXPR_AGGREGATE)
        (*out)->aggregate.result_id = analyzer->next_id++;
    return OK;
}

/* ---- the call ---- */

static enum status resolve_scalar(struct resolver *resolver, const struct ast_expr *ast,
                                  const char *name, const struct function *function,
                                  struct expr **out, struct error *err)
{
    TRY(check_scalar_syntax(resolver, ast, name, err));
    if (function->kind == FUNCTION_HIGHER_ORDER)
        return resolve_higher_order(resolver, ast, name, function, out, err);
    if (has_lambda(ast))
        return raise_not_higher_order(resolver, ast, name, err);
    struct expr_list args = {0};
    TRY(resolve_arguments(resolver, ast, name, &args, err));
    return resolve_function(resolver, name, args.items, args.count, ast->position,
                            ast->position_end, out, err);
}

static enum status raise_without_over(struct resolver *resolver, const struct ast_expr *ast,
                                      const char *name, struct error *err)
{
    char text[128];
    size_t length = 0;
    for (; name[length] != '\0' && length < sizeof text - 1; length++)
        text[length] =
            (char)(name[length] >= 'A' && name[length] <= 'Z' ? name[length] + 32 : name[length]);
    text[length] = '\0';
    if (strstr(text, "rank") != NULL)
        for (char *letter = text; *letter != '\0'; letter++)
            *letter = (char)(*letter >= 'a' && *letter <= 'z' ? *letter - 32 : *letter);
    bool own = resolver->item_aliased || resolver->clause != CLAUSE_SELECT;
    const char *shown = arena_sprintf(resolver->analyzer->arena, "\"%s()\"", text);
    bool takes_values = strcmp(text, "lag") == 0 || strcmp(text, "lead") == 0 ||
                        strcmp(text, "ntile") == 0 || strcmp(text, "nth_value") == 0;
    if (takes_values) {
        struct expr_list args = {0};
        struct expr *call;
        TRY(resolve_arguments(resolver, ast, name, &args, err));
        TRY(resolve_function(resolver, text, args.items, args.count, ast->position,
                             ast->position_end, &call, err));
        shown = expr_sql(resolver->analyzer, call);
    }
    return error_raise_at(err, STATUS_WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE,
                          own ? ast->position : resolver->select_position,
                          own ? ast->position_end : resolver->select_position_end, "funcName",
                          shown, NULL);
}

enum status resolve_call(struct resolver *resolver, const struct ast_expr *ast, struct expr **out,
                         struct error *err)
{
    const struct ast_path *path = &ast->call.name;
    if (path->identifier != NULL || path->count == 0)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                              "feature", "IDENTIFIER() of an expression as a function name", NULL);
    const char *name = call_name(resolver->analyzer, path);
    if (name == NULL && path->count > 2)
        return error_raise_at(err, STATUS_REQUIRES_SINGLE_PART_NAMESPACE, ast->position,
                              ast->position_end, "sessionCatalog", "spark_catalog", "identifier",
                              path_quoted(resolver->analyzer, path), NULL);
    if (name == NULL)
        return raise_unresolved(resolver, ast, err);
    if (ast->call.syntax == AST_SYNTAX_POSITION) /* position(a IN b) is named as locate() */
        name = "locate";
    if (ast->call.over != NULL)
        return resolve_over(resolver, ast, name, out, err);
    if (strcasecmp(name, "timestampadd") == 0 || strcasecmp(name, "timestampdiff") == 0)
        return raise_unresolved(resolver, ast, err); /* with a unit they are no calls */
    if (time_window_is_marker(name))
        return resolve_time_window(resolver, ast, name, out, err);
    if (strcasecmp(name, "grouping") == 0 || strcasecmp(name, "grouping_id") == 0)
        return resolve_grouping_call(resolver, ast, name, out, err);
    const struct function *function = function_find(name);
    if (function != NULL && (function->flags & FUNCTION_OPERATOR) != 0)
        function = NULL;
    if (function != NULL && function->kind != FUNCTION_WINDOW)
        return resolve_scalar(resolver, ast, name, function, out, err);
    if (aggregate_find(name) != NULL)
        return resolve_aggregate(resolver, ast, name, out, err);
    if (function != NULL)
        return raise_without_over(resolver, ast, name, err);
    if (strcasecmp(name, "range") == 0)
        return error_raise_at(err, STATUS_NOT_A_SCALAR_FUNCTION, ast->position, ast->position_end,
                              "functionName", path_quoted(resolver->analyzer, path), NULL);
    if (strcasecmp(name, "cast") == 0)
        return error_raise_at(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION, ast->position,
                              ast->position_end, "functionName", "`cast`", "expectedNum", "0",
                              "actualNum",
                              arena_sprintf(resolver->analyzer->arena, "%zu", ast->call.args.count),
                              "docroot", "https://spark.apache.org/docs/latest", NULL);
    return raise_unresolved(resolver, ast, err);
}
