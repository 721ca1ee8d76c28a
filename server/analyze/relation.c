/*
 * Relations: what stands in FROM.
 */
#include "analyze/relation.h"
#include "analyze/analyzer.h"
#include "analyze/resolve_call.h"
#include "base/check.h"
#include "columnar/number_text.h"
#include "expr/aggregate.h"
#include "expr/coercion.h"
#include "expr/program.h"

#include <stdio.h>
#include <strings.h>

static enum status count_node(struct analyzer *analyzer, struct error *err)
{
    if (++analyzer->node_count > ANALYZE_NODES_MAX)
        return error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "The plan of a query", "limit",
                           "20000 relations", NULL);
    return OK;
}

/* ---- VALUES ---- */

static enum status values_row(struct resolver *resolver, const struct ast_expr *ast,
                              struct expr_list *row, struct error *err)
{
    if (ast->kind == AST_EXPR_ROW) {
        for (size_t i = 0; i < ast->members.count; i++) {
            struct expr *cell;
            TRY(resolve_expr(resolver, ast->members.items[i].expr, &cell, err));
            expr_list_add(resolver->analyzer->arena, row, cell);
        }
        return OK;
    }
    struct expr *cell;
    TRY(resolve_expr(resolver, ast, &cell, err));
    if (ast->kind != AST_EXPR_STRUCT) {
        expr_list_add(resolver->analyzer->arena, row, cell);
        return OK;
    }
    for (uint32_t i = 0; i < cell->type->field_count; i++) {
        struct expr *field;
        TRY(resolve_field(resolver, cell, cell->type->fields[i].name, ast->position,
                          ast->position_end, &field, err));
        expr_list_add(resolver->analyzer->arena, row, field);
    }
    return OK;
}

static enum status check_cell(struct analyzer *analyzer, const struct expr *cell,
                              const struct ast_expr *ast, const struct ast_relation *relation,
                              struct error *err)
{
    if (expr_has_kind(cell, EXPR_SUBQUERY))
        return error_raise_at(
            err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__SCALAR_SUBQUERY_IN_VALUES,
            relation->position, relation->position_end, NULL);
    if (expr_has_kind(cell, EXPR_COLUMN) || expr_has_kind(cell, EXPR_AGGREGATE) ||
        expr_has_kind(cell, EXPR_WINDOW) || expr_has_kind(cell, EXPR_GENERATOR) ||
        (!expr_has_kind(cell, EXPR_OUTER) && !expr_is_deterministic(cell)))
        return error_raise_at(
            err, STATUS_INVALID_INLINE_TABLE__CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE,
            ast->position, ast->position_end, "expr", expr_sql(analyzer, cell), NULL);
    struct vector *value;
    struct error failure = ERROR_INIT;
    if (expr_has_kind(cell, EXPR_OUTER) ||
        expr_constant(analyzer->arena, cell, analyzer->functions.time_zone, &value, &failure) == OK)
        return OK;
    if (failure.status == STATUS_LIMIT_EXCEEDED) { /* it is computed when the query runs */
        error_clear(&failure);
        return OK;
    }
    return error_raise_at(err, STATUS_INVALID_INLINE_TABLE__FAILED_SQL_EXPRESSION_EVALUATION,
                          relation->position, relation->position_end, "sqlExpr",
                          expr_sql(analyzer, cell), NULL);
}

static enum status raise_ragged(uint32_t want, uint32_t have, size_t row, struct error *err)
{
    char expected[16], actual[16], index[16];
    (void)snprintf(expected, sizeof expected, "%u", want);
    (void)snprintf(actual, sizeof actual, "%u", have);
    (void)snprintf(index, sizeof index, "%zu", row);
    return error_raise(err, STATUS_INVALID_INLINE_TABLE__NUM_COLUMNS_MISMATCH, "expectedNumCols",
                       expected, "actualNumCols", actual, "rowIndex", index, NULL);
}

static enum status values_column(struct analyzer *analyzer, const struct ast_relation *ast,
                                 struct logical_node *node, uint32_t column, uint32_t columns,
                                 struct error *err)
{
    uint32_t rows = node->values.row_count;
    struct expr **cells = arena_new_object(analyzer->arena, (rows + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < rows; i++)
        cells[i] = node->values.cells[i * columns + column];
    const char *name = arena_sprintf(analyzer->arena, "col%u", column + 1);
    if (!coercion_unify(&analyzer->functions, cells, rows, false))
        return error_raise_at(err, STATUS_INVALID_INLINE_TABLE__INCOMPATIBLE_TYPES_IN_INLINE_TABLE,
                              ast->position, ast->position_end, "colName",
                              text_quoted(analyzer, name), NULL);
    bool nullable = false;
    for (uint32_t i = 0; i < rows; i++) {
        node->values.cells[i * columns + column] = cells[i];
        nullable = nullable || cells[i]->nullable;
    }
    node->output[column] = analyzer_attribute(analyzer, name, cells[0]->type, nullable);
    return OK;
}

static enum status resolve_values(struct analyzer *analyzer, const struct ast_relation *ast,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *out, struct error *err)
{
    struct scope *empty = arena_new_object(analyzer->arena, sizeof *empty);
    empty->outer = outer;
    struct resolver resolver = resolver_of(analyzer, empty, CLAUSE_OTHER, outer_refs);
    struct expr_list cells = {0};
    uint32_t columns = 0;
    for (size_t i = 0; i < ast->rows.count; i++) {
        struct expr_list row = {0};
        TRY(values_row(&resolver, ast->rows.items[i], &row, err));
        if (i == 0)
            columns = row.count;
        else if (row.count != columns)
            return raise_ragged(columns, row.count, i, err);
        for (uint32_t j = 0; j < row.count; j++) {
            TRY(check_cell(analyzer, row.items[j], ast->rows.items[i], ast, err));
            expr_list_add(analyzer->arena, &cells, row.items[j]);
        }
    }
    struct logical_node *node = logical_new(analyzer->arena, LOGICAL_VALUES, NULL, 0);
    analyzer_node(analyzer, node, ast->position, ast->position_end);
    node->values.cells = cells.items;
    node->values.row_count = (uint32_t)ast->rows.count;
    node->output = arena_new_object(analyzer->arena, (columns + 1) * sizeof(struct attribute *));
    node->output_count = columns;
    for (uint32_t i = 0; i < columns; i++)
        TRY(values_column(analyzer, ast, node, i, columns, err));
    out->node = node;
    out->scope = scope_new(analyzer, node, NULL, outer);
    return OK;
}

struct logical_node *relation_one_row(struct analyzer *analyzer)
{
    struct logical_node *node = logical_new(analyzer->arena, LOGICAL_VALUES, NULL, 0);
    node->values.row_count = 1;
    node->output = arena_new_object(analyzer->arena, sizeof(struct attribute *));
    return node;
}

/* ---- generators ---- */

enum status relation_generate(struct analyzer *analyzer, struct relation *input,
                              struct expr *generator, bool outer, struct logical_node **out,
                              struct error *err)
{
    (void)err;
    struct logical_node *node = logical_over(analyzer->arena, LOGICAL_GENERATE, input->node);
    const struct type *type = generator->type;
    node->generate.generator = generator;
    node->generate.outer = outer || generator->generator.outer;
    node->output_count = input->node->output_count + type->field_count;
    node->output =
        arena_new_object(analyzer->arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < input->node->output_count; i++)
        node->output[i] = input->node->output[i];
    for (uint32_t i = 0; i < type->field_count; i++)
        node->output[input->node->output_count + i] =
            analyzer_attribute(analyzer, type->fields[i].name, type->fields[i].type,
                               type->fields[i].nullable || node->generate.outer);
    *out = node;
    return OK;
}

static enum status check_aliases(const struct ast_name_list *names, uint32_t columns,
                                 struct analyzer *analyzer, int position, int position_end,
                                 struct error *err)
{
    if (names->count == 0 || names->count == columns)
        return OK;
    struct buffer list = {0};
    char size[16];
    (void)snprintf(size, sizeof size, "%u", columns);
    for (size_t i = 0; i < names->count; i++)
        buffer_printf(&list, "%s%s", i > 0 ? "," : "", name_text(analyzer, &names->items[i]));
    error_raise_at(err, STATUS_UDTF_ALIAS_NUMBER_MISMATCH, position, position_end, "aliasesSize",
                   size, "aliasesNames", buffer_text(&list), NULL);
    buffer_fini(&list);
    return err->status;
}

/* LATERAL VIEW knows functions that are in no FROM, and where Spark looks for them is its own. */
static enum status find_view_function(struct analyzer *analyzer, const struct ast_relation *ast,
                                      int position, const char **name, struct error *err)
{
    static const char *const tables[] = {"range", "variant_explode", "variant_explode_outer"};
    const struct ast_path *path = &ast->lateral_view.function;
    *name = name_text(analyzer, &path->parts[path->count - 1]);
    if (path->count > 2)
        return error_raise(err, STATUS_INVALID_SQL_SYNTAX__UNSUPPORTED_FUNC_NAME, "funcName",
                           path_quoted(analyzer, path), NULL);
    const char *schema = path->count < 2 ? NULL : name_text(analyzer, &path->parts[0]);
    if (schema != NULL && !name_equal(analyzer, schema, "builtin") &&
        !name_equal(analyzer, schema, "default"))
        return error_raise_at(
            err, STATUS_SCHEMA_NOT_FOUND, position, ast->position_end, "schemaName",
            arena_sprintf(analyzer->arena, "`spark_catalog`.%s", text_quoted(analyzer, schema)),
            NULL);
    const struct function *function = function_find(*name);
    bool table = false;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        table = table || strcasecmp(*name, tables[i]) == 0;
    bool known = !table && function != NULL && (function->flags & FUNCTION_OPERATOR) == 0;
    bool explodes =
        known && (strcasecmp(*name, "explode") == 0 || strcasecmp(*name, "explode_outer") == 0);
    if (explodes && ast->lateral_view.args.count == 0)
        return error_raise_at(err, STATUS_REQUIRED_PARAMETER_NOT_FOUND, position, ast->position_end,
                              "routineName", text_quoted(analyzer, function->name), "parameterName",
                              "`collection`", "index", "0", NULL);
    if (known)
        return OK;
    if (aggregate_find(*name) != NULL)
        return error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__NOT_GENERATOR, position,
                              ast->position_end, "functionName", text_quoted(analyzer, *name),
                              "classCanonicalName", *name, NULL);
    struct error hint = ERROR_INIT; /* the words are those of any function */
    routine_unresolved(analyzer, path, &hint);
    (void)error_raise_at(
        err, STATUS_ROUTINE_NOT_FOUND, position, ast->position_end, "routineName",
        arena_sprintf(analyzer->arena, "`default`.%s", text_quoted(analyzer, *name)), NULL);
    (void)snprintf(err->text, sizeof err->text, "%s", hint.text);
    return err->status;
}

static enum status resolve_lateral_view(struct analyzer *analyzer, const struct ast_relation *ast,
                                        struct relation *input, struct relation *out,
                                        struct expr_list *outer_refs, struct error *err)
{
    struct resolver resolver = resolver_of(analyzer, input->scope, CLAUSE_OTHER, outer_refs);
    struct expr_list args = {0};
    int position = ast->lateral_view.input == NULL
                       ? ast->position
                       : text_next(analyzer, ast->lateral_view.input->position_end);
    TRY(resolve_list(&resolver, &ast->lateral_view.args, &args, err));
    const char *name;
    TRY(find_view_function(analyzer, ast, position, &name, err));
    struct expr *generator;
    TRY(resolve_function(&resolver, name, args.items, args.count, position, ast->position_end,
                         &generator, err));
    if (generator->kind != EXPR_GENERATOR)
        return error_raise_at(err, STATUS_UNSUPPORTED_GENERATOR__NOT_GENERATOR, position,
                              ast->position_end, "functionName", text_quoted(analyzer, name),
                              "classCanonicalName", name, NULL);
    uint32_t columns = generator->type->field_count;
    const struct ast_name_list *names = &ast->lateral_view.columns;
    TRY(check_aliases(names, columns, analyzer, position, ast->position_end, err));
    struct logical_node *node;
    TRY(relation_generate(analyzer, input, generator, ast->lateral_view.outer, &node, err));
    analyzer_node(analyzer, node, ast->position, ast->position_end);
    uint32_t before = input->node->output_count;
    for (size_t i = 0; i < names->count; i++)
        node->output[before + i]->name = name_text(analyzer, &names->items[i]);
    struct scope made = {.outer = input->scope->outer};
    struct scope *right = scope_new(analyzer, node, NULL, NULL);
    made.columns = right->columns + (right->count - columns); /* behind those of the input */
    made.count = columns;
    if (ast->lateral_view.table.text.data != NULL)
        for (uint32_t i = 0; i < columns; i++)
            made.columns[i].qualifier = name_text(analyzer, &ast->lateral_view.table);
    out->scope = scope_concat(analyzer, input->scope, &made, input->scope->outer);
    out->node = node;
    return OK;
}

/* ---- table functions ---- */

static enum status raise_table_argument(struct analyzer *analyzer, const struct ast_argument *arg,
                                        struct error *err)
{
    const struct ast_relation *table = arg->table;
    const uint8_t *text = analyzer->text.data + arg->position;
    size_t size = (size_t)(arg->position_end - arg->position);
    if (table->kind == AST_RELATION_TABLE && memchr(text, '(', size) == NULL)
        return error_raise_at(
            err,
            STATUS_INVALID_SQL_SYNTAX__INVALID_TABLE_FUNCTION_IDENTIFIER_ARGUMENT_MISSING_PARENTHESES,
            arg->position, arg->position_end, "argumentName",
            path_quoted(analyzer, &table->table.name), NULL);
    return error_raise_at(
        err, STATUS_UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY__UNSUPPORTED_TABLE_ARGUMENT,
        arg->position, arg->position_end, "treeNode",
        arena_sprintf(analyzer->arena, "%.*s", (int)size, (const char *)text), NULL);
}

static enum status table_function_argument(struct resolver *resolver,
                                           const struct ast_relation *ast, size_t index,
                                           struct expr **out, struct error *err)
{
    const struct ast_argument *arg = &ast->function.args.items[index];
    if (arg->table != NULL)
        return raise_table_argument(resolver->analyzer, arg, err);
    if (arg->name.text.data == NULL)
        return resolve_expr(resolver, arg->expr, out, err);
    return error_raise_at(err, STATUS_NAMED_PARAMETERS_NOT_SUPPORTED, ast->position,
                          ast->position_end, "functionName",
                          path_quoted(resolver->analyzer, &ast->function.name), NULL);
}

/* An argument of range(): a constant that becomes a bigint. */
static enum status range_argument(struct analyzer *analyzer, const struct ast_relation *ast,
                                  size_t index, struct expr **arg, struct error *err)
{
    static const char *const names[] = {"start", "end", "step", "numSlices"};
    size_t at = ast->function.args.count == 1 ? 1 : index < 4 ? index : 3;
    if (!expr_is_foldable(*arg))
        return error_raise_at(err, STATUS_NON_FOLDABLE_ARGUMENT, ast->position, ast->position_end,
                              "funcName", "`range`", "paramName", text_quoted(analyzer, names[at]),
                              "paramType", "\"BIGINT\"", NULL);
    if ((*arg)->type->id == TYPE_VOID)
        return error_raise_at(err, STATUS_UNEXPECTED_INPUT_TYPE, ast->position, ast->position_end,
                              "paramIndex", ordinal_word((uint32_t)at), "functionName", "`range`",
                              "requiredType", "\"BIGINT\"", "inputSql", expr_sql(analyzer, *arg),
                              "inputType", type_quoted(analyzer, (*arg)->type), NULL);
    *arg = coercion_cast(&analyzer->functions, *arg, type_simple(TYPE_LONG));
    return OK;
}

static enum status range_arguments(struct resolver *resolver, const struct ast_relation *ast,
                                   struct expr **start, struct expr **end, struct expr **step,
                                   struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr_list args = {0};
    for (size_t i = 0; i < ast->function.args.count; i++) {
        struct expr *arg;
        TRY(table_function_argument(resolver, ast, i, &arg, err));
        TRY(range_argument(analyzer, ast, i, &arg, err));
        expr_list_add(analyzer->arena, &args, arg);
    }
    if (args.count < 1 || args.count > 4)
        return error_raise_at(err, STATUS_WRONG_NUM_ARGS__WITHOUT_SUGGESTION, ast->position,
                              ast->position_end, "functionName", "`range`", "expectedNum",
                              "[1, 2, 3, 4]", "actualNum",
                              arena_sprintf(analyzer->arena, "%u", args.count), "docroot",
                              "https://spark.apache.org/docs/latest", NULL);
    *start = args.count == 1 ? expr_literal_long(analyzer->arena, 0) : args.items[0];
    *end = args.count == 1 ? args.items[0] : args.items[1];
    *step = args.count >= 3 ? args.items[2] : expr_literal_long(analyzer->arena, 1);
    return OK;
}

static enum status constant_long(struct resolver *resolver, const struct expr *expr, int64_t *out,
                                 struct error *err)
{
    struct vector *value;
    TRY(expr_constant(resolver->analyzer->arena, expr, resolver->analyzer->functions.time_zone,
                      &value, err));
    *out = vector_is_null(value, 0) ? 0 : VECTOR_VALUES(int64_t, value)[0];
    return OK;
}

/* range(start, end, step) is explode(sequence(start, last, step)). */
static enum status resolve_range(struct resolver *resolver, const struct ast_relation *ast,
                                 struct relation *out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct arena *arena = analyzer->arena;
    struct expr *start = NULL, *end = NULL, *step = NULL, *sequence = NULL, *generator = NULL;
    int64_t from, to, by;
    TRY(range_arguments(resolver, ast, &start, &end, &step, err));
    TRY(constant_long(resolver, start, &from, err));
    TRY(constant_long(resolver, end, &to, err));
    TRY(constant_long(resolver, step, &by, err));
    if (by == 0)
        return error_raise_at(err, STATUS_FAILED_FUNCTION_CALL, ast->position, ast->position_end,
                              "funcName", "`range`", NULL);
    int128 span = (int128)to - from,
           count = span == 0 || (span > 0) != (by > 0) ? 0 : (span + by + (by > 0 ? -1 : 1)) / by;
    struct relation input = {.node = relation_one_row(analyzer)};
    input.scope = scope_new(analyzer, input.node, NULL, NULL);
    int64_t last = count == 0 ? from : (int64_t)(from + (count - 1) * by);
    struct expr *args[] = {expr_literal_long(arena, from), expr_literal_long(arena, last),
                           expr_literal_long(arena, by)};
    TRY(resolve_function(resolver, "sequence", args, 3, ast->position, ast->position_end, &sequence,
                         err));
    TRY(resolve_function(resolver, "explode", &sequence, 1, ast->position, ast->position_end,
                         &generator, err));
    TRY(relation_generate(analyzer, &input, generator, false, &out->node, err));
    out->node->output[0]->name = "id";
    out->node->output[0]->nullable = false;
    if (count == 0) {
        out->node = logical_filter(arena, out->node, expr_literal_boolean(arena, false));
    }
    out->scope = scope_new(analyzer, out->node, NULL, resolver->scope->outer);
    return OK;
}

/* a.b.f() is a function of a namespace that there is not, a.f() one that is not found. */
static enum status check_function_path(struct analyzer *analyzer, const struct ast_relation *ast,
                                       struct error *err)
{
    const struct ast_path *path = &ast->function.name;
    bool builtin =
        path->count == 1 ||
        (path->count <= 3 &&
         name_equal(analyzer, name_text(analyzer, &path->parts[path->count - 2]), "builtin") &&
         (path->count == 2 ||
          name_equal(analyzer, name_text(analyzer, &path->parts[0]), "system")));
    if (builtin)
        return OK;
    if (path->count > 2)
        return error_raise_at(err, STATUS_REQUIRES_SINGLE_PART_NAMESPACE, ast->position,
                              ast->position_end, "sessionCatalog", "spark_catalog", "identifier",
                              path_quoted(analyzer, path), NULL);
    return error_raise_at(err, STATUS_UNRESOLVABLE_TABLE_VALUED_FUNCTION, ast->position,
                          ast->position_end, "name", path_quoted(analyzer, path), NULL);
}

static enum status resolve_known_table_function(struct analyzer *analyzer,
                                                const struct ast_relation *ast, struct scope *outer,
                                                struct expr_list *outer_refs, struct relation *out,
                                                struct error *err)
{
    struct scope *empty = arena_new_object(analyzer->arena, sizeof *empty);
    empty->outer = outer;
    struct resolver resolver = resolver_of(analyzer, empty, CLAUSE_OTHER, outer_refs);
    const char *name = name_text(analyzer, &ast->function.name.parts[ast->function.name.count - 1]);
    for (size_t i = 0; i < ast->function.args.count; i++)
        if (ast->function.args.items[i].table != NULL)
            return raise_table_argument(analyzer, &ast->function.args.items[i], err);
    TRY(check_function_path(analyzer, ast, err));
    if (name_equal(analyzer, name, "range"))
        return resolve_range(&resolver, ast, out, err);
    const struct function *function = function_find(name);
    if (function == NULL || function->kind != FUNCTION_GENERATOR) {
        bool known = (function != NULL && (function->flags & FUNCTION_OPERATOR) == 0) ||
                     aggregate_find(name) != NULL;
        return known ? error_raise_at(err, STATUS_NOT_A_TABLE_FUNCTION, ast->position,
                                      ast->position_end, "functionName",
                                      path_quoted(analyzer, &ast->function.name), NULL)
                     : error_raise_at(err, STATUS_UNRESOLVABLE_TABLE_VALUED_FUNCTION,
                                      ast->function.name.position, ast->position_end, "name",
                                      path_quoted(analyzer, &ast->function.name), NULL);
    }
    struct expr_list args = {0};
    for (size_t i = 0; i < ast->function.args.count; i++) {
        struct expr *arg;
        TRY(table_function_argument(&resolver, ast, i, &arg, err));
        expr_list_add(analyzer->arena, &args, arg);
    }
    struct expr *generator;
    TRY(resolve_function(&resolver, name, args.items, args.count, ast->position, ast->position_end,
                         &generator, err));
    struct relation input = {.node = relation_one_row(analyzer)};
    TRY(relation_generate(analyzer, &input, generator, false, &out->node, err));
    analyzer_node(analyzer, out->node, ast->position, ast->position_end);
    out->scope = scope_new(analyzer, out->node, NULL, outer);
    return OK;
}

static enum status resolve_table_function(struct analyzer *analyzer, const struct ast_relation *ast,
                                          struct scope *outer, struct expr_list *outer_refs,
                                          struct relation *out, struct error *err)
{
    enum status status = resolve_known_table_function(analyzer, ast, outer, outer_refs, out, err);
    const struct ast_path *name = &ast->function.name;
    if (status != OK)
        (void)routine_window_hint(name_text(analyzer, &name->parts[name->count - 1]), err);
    return status;
}

/* ---- watermarks ---- */

/* A TIMESTAMP or a window: any struct of which the first field `end` is a TIMESTAMP. */
static bool may_be_event_time(const struct type *type)
{
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++)
        if (strcmp(type->fields[i].name, "end") == 0)
            return type->fields[i].type->id == TYPE_TIMESTAMP;
    return type->id == TYPE_TIMESTAMP;
}

enum status relation_watermark(struct analyzer *analyzer, struct relation *relation,
                               const struct watermark_mark *mark, struct error *err)
{
    struct logical_node *child = relation->node;
    struct attribute *column = child->output[mark->ordinal];
    if (!may_be_event_time(column->type))
        return error_raise_at(err, STATUS_EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE, mark->position,
                              mark->position_end, "eventName", text_quoted(analyzer, column->name),
                              "eventType", type_quoted(analyzer, column->type), NULL);
    if (!child->streaming || analyzer->options->bounded)
        return OK;
    struct logical_node *node = logical_over(analyzer->arena, LOGICAL_WATERMARK, child);
    analyzer_node(analyzer, node, mark->position, mark->position_end);
    node->watermark.column = mark->ordinal;
    node->watermark.delay_us = mark->delay_us - mark->delay_us % 1000;
    node->watermark.watermark_id = analysis_add_watermark(
        analyzer,
        &(struct analysis_watermark){column->name, node->watermark.delay_us, mark->origin});
    node->output =
        arena_new_object(analyzer->arena, (node->output_count + 1) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < node->output_count; i++) {
        struct attribute *copy = arena_new_object(analyzer->arena, sizeof *copy);
        *copy = *child->output[i];
        copy->event_time = i == mark->ordinal;
        copy->delay_us = i == mark->ordinal ? node->watermark.delay_us : 0;
        copy->watermark_id = i == mark->ordinal ? node->watermark.watermark_id : 0;
        node->output[i] = copy;
    }
    relation->node = node;
    scope_refresh(relation->scope, node);
    return OK;
}

static enum status watermark_delay(const struct ast_expr *delay, int64_t *out, struct error *err)
{
    const struct ast_literal *literal = &delay->literal;
    *out = literal->kind == AST_LITERAL_YEAR_MONTH ? literal->integer * 31 * INT64_C(86400000000)
                                                   : literal->integer;
    if (*out < 0)
        return error_raise_at(err, STATUS_INVALID_DURATION, delay->position, delay->position_end,
                              "text", "DELAY OF", "reason",
                              "delay threshold should not be negative", NULL);
    return OK;
}

/* A computed or renamed column goes in front of the others.  `computed` is the relation with the
 * column that window() of the expression has put behind those. */
static enum status watermark_prepend(struct analyzer *analyzer, struct relation *relation,
                                     const struct relation *computed, struct expr *expr,
                                     const char *name)
{
    const struct logical_node *child = relation->node;
    uint32_t count = child->output_count + 1;
    struct attribute **output =
        arena_new_object(analyzer->arena, (count + 1) * sizeof(struct attribute *));
    struct expr **exprs = arena_new_object(analyzer->arena, (count + 1) * sizeof(struct expr *));
    output[0] = analyzer_attribute(analyzer, name, expr->type, expr->nullable);
    mark_event_time(analyzer, expr, computed->node, output[0]);
    exprs[0] = expr;
    for (uint32_t i = 0; i < child->output_count; i++) {
        output[i + 1] = child->output[i];
        exprs[i + 1] = attribute_expr(analyzer->arena, child->output[i]);
    }
    struct scope_column first = {
        .attribute = output[0],
        .name = name,
        .qualifier = relation->scope->count > 0 ? relation->scope->columns[0].qualifier : NULL,
    };
    struct scope made = {.columns = &first, .count = 1};
    relation->node = logical_project(analyzer->arena, computed->node, exprs, output, count);
    relation->scope = scope_concat(analyzer, &made, relation->scope, relation->scope->outer);
    return OK;
}

static enum status apply_watermark(struct analyzer *analyzer, const struct ast_relation *ast,
                                   struct relation *relation, struct error *err)
{
    const struct ast_watermark *watermark = ast->watermark;
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    *scope = *relation->scope;
    struct relation computed = {.node = relation->node, .scope = scope};
    struct resolver resolver = resolver_of(analyzer, scope, CLAUSE_OTHER, NULL);
    resolver.input = &computed;
    resolver.input_position = watermark->position;
    resolver.input_position_end = watermark->position_end;
    struct expr *expr;
    int64_t delay_us = 0;
    TRY(resolve_expr(&resolver, watermark->item.expr, &expr, err));
    TRY(watermark_delay(watermark->delay, &delay_us, err));
    if (expr_has_generator(expr))
        return error_raise(
            err, STATUS_UNSUPPORTED_GENERATOR__OUTSIDE_SELECT, "plan",
            arena_sprintf(analyzer->arena, "'EventTimeWatermark %s", expr_name(analyzer, expr)),
            NULL);
    if (watermark->item.aliases.count > 1)
        return error_raise_at(err, STATUS_CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE,
                              watermark->position, watermark->position_end, NULL);
    bool named = watermark->item.aliases.count == 1;
    bool field = watermark->item.expr->kind == AST_EXPR_COLUMN && expr->kind != EXPR_COLUMN;
    if (!named && expr->kind != EXPR_COLUMN && !field)
        return error_raise(err, STATUS_REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE, "sqlExpr",
                           arena_sprintf(analyzer->arena, "CAST(%s AS %s) AS %s",
                                         expr_qualified(analyzer, expr),
                                         type_sql(analyzer->arena, expr->type),
                                         text_quoted(analyzer, expr_name(analyzer, expr))),
                           NULL);
    struct watermark_mark mark = {
        .delay_us = delay_us,
        .origin = analyzer->text.data + watermark->position,
        .position = watermark->position,
        .position_end = watermark->position_end,
    };
    if (named || field) {
        const char *name =
            named
                ? name_text(analyzer, &watermark->item.aliases.items[0])
                : name_text(
                      analyzer,
                      &watermark->item.expr->column.parts[watermark->item.expr->column.count - 1]);
        TRY(watermark_prepend(analyzer, relation, &computed, expr, name));
    } else {
        CHECK(logical_find_output(relation->node, expr->column.attribute_id, &mark.ordinal) !=
              NULL);
    }
    return relation_watermark(analyzer, relation, &mark, err);
}

/* ---- TABLESAMPLE ---- */

static enum status sample_rows(struct resolver *resolver, struct expr *amount,
                               const struct ast_sample *sample, int64_t *out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    CHECK(amount != NULL);
    int position = sample->amount->position, end = sample->amount->position_end;
    if (!expr_is_foldable(amount))
        return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__IS_UNFOLDABLE, position,
                              end, "name", "limit", "expr", expr_sql(analyzer, amount), NULL);
    TRY(constant_long(resolver, coercion_cast(&analyzer->functions, amount, type_simple(TYPE_LONG)),
                      out, err));
    if (*out >= 0)
        return OK;
    return error_raise_at(err, STATUS_INVALID_LIMIT_LIKE_EXPRESSION__IS_NEGATIVE, position, end,
                          "name", "limit", "expr", expr_sql(analyzer, amount), "v",
                          arena_sprintf(analyzer->arena, "%lld", (long long)*out), NULL);
}

/* What part of the rows is taken: from 0 to 1. */
static enum status check_fraction(struct analyzer *analyzer, const struct ast_sample *sample,
                                  const struct expr *fraction, struct error *err)
{
    struct vector *value;
    TRY(expr_constant(analyzer->arena, fraction, analyzer->functions.time_zone, &value, err));
    double part = vector_is_null(value, 0) ? 0 : *VECTOR_VALUES(double, value);
    if (part >= 0 && part <= 1)
        return OK;
    char text[NUMBER_DOUBLE_TEXT_MAX];
    size_t size = number_print_double(text, part);
    return error_raise_at(err, STATUS_INVALID_TABLESAMPLE_FRACTION, sample->position,
                          sample->position_end, "fraction",
                          arena_strndup(analyzer->arena, (const uint8_t *)text, size), NULL);
}

static enum status apply_sample(struct analyzer *analyzer, const struct ast_sample *sample,
                                struct relation *relation, struct error *err)
{
    struct arena *arena = analyzer->arena;
    if (relation->node->streaming && sample->kind != AST_SAMPLE_ROWS)
        return error_raise_at(err, STATUS__LEGACY_ERROR_TEMP_3102, sample->position,
                              sample->position_end, "msg",
                              "Sampling is not supported on streaming DataFrames/Datasets. Write a "
                              "condition, such as WHERE rand() < 0.1",
                              NULL);
    struct resolver resolver = resolver_of(analyzer, relation->scope, CLAUSE_OTHER, NULL);
    struct expr *amount = NULL;
    if (sample->amount != NULL)
        TRY(resolve_expr(&resolver, sample->amount, &amount, err));
    if (sample->kind == AST_SAMPLE_ROWS) {
        int64_t rows = 0;
        TRY(sample_rows(&resolver, amount, sample, &rows, err));
        relation->node = logical_over(arena, LOGICAL_LIMIT, relation->node);
        relation->node->limit.limit = rows;
        return OK;
    }
    struct expr *seed = expr_literal_long(arena, sample->has_seed ? sample->seed : 0);
    struct expr *parts[2];
    TRY(resolve_function(&resolver, "rand", &seed, 1, sample->position, sample->position_end,
                         &parts[0], err));
    if (sample->kind == AST_SAMPLE_PERCENT) {
        struct expr *hundred = expr_literal_int(arena, 100);
        TRY(function_resolve_2(
            &analyzer->functions, "/",
            coercion_cast(&analyzer->functions, amount, type_simple(TYPE_DOUBLE)), hundred,
            &parts[1], err));
    } else {
        TRY(function_resolve_2(&analyzer->functions, "/",
                               expr_literal_long(arena, sample->numerator),
                               expr_literal_long(arena, sample->denominator), &parts[1], err));
    }
    struct expr *predicate;
    TRY(check_fraction(analyzer, sample, parts[1], err));
    TRY(function_resolve_2(&analyzer->functions, "<", parts[0], parts[1], &predicate, err));
    relation->node = logical_filter(arena, relation->node, predicate);
    return OK;
}

/* ---- aliases ---- */

/* Functions and VALUES say it in their own words when the aliases are too many or too few. */
static enum status check_alias_count(struct analyzer *analyzer, const struct ast_relation *ast,
                                     const struct relation *relation, struct error *err)
{
    size_t aliases = ast->column_aliases.count;
    uint32_t columns = relation->scope->count;
    if (aliases == 0 || aliases == columns)
        return OK;
    if (ast->kind == AST_RELATION_VALUES)
        return raise_ragged((uint32_t)aliases, columns, 0, err);
    if (ast->kind != AST_RELATION_FUNCTION)
        return OK;
    const struct ast_path *path = &ast->function.name;
    return error_raise_at(err, STATUS_NUM_TABLE_VALUE_ALIASES_MISMATCH, ast->position,
                          ast->position_end, "funcName",
                          text_quoted(analyzer, name_text(analyzer, &path->parts[path->count - 1])),
                          "aliasesNum", arena_sprintf(analyzer->arena, "%zu", aliases),
                          "outColsNum", arena_sprintf(analyzer->arena, "%u", columns), NULL);
}

/* ---- hidden columns ---- */

/* Lets projections, and what only passes rows on, give the hidden columns of the node below.  Their
 * outputs are replaced, for others may share them. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the query is nested */
static void expose_hidden(struct analyzer *analyzer, struct logical_node *node)
{
    bool passes = node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_FILTER ||
                  node->kind == LOGICAL_SORT || node->kind == LOGICAL_LIMIT ||
                  node->kind == LOGICAL_WATERMARK;
    if (!passes)
        return;
    struct logical_node *child = node->children[0];
    expose_hidden(analyzer, child);
    uint32_t size = node->output_count + child->output_count + 1;
    struct attribute **output =
        arena_new_object(analyzer->arena, size * sizeof(struct attribute *));
    struct expr **exprs = arena_new_object(analyzer->arena, size * sizeof(struct expr *));
    uint32_t count = node->output_count;
    memcpy(output, node->output, count * sizeof(struct attribute *));
    if (node->kind == LOGICAL_PROJECT)
        memcpy(exprs, node->project.exprs, count * sizeof(struct expr *));
    for (uint32_t i = 0; i < child->output_count; i++) {
        if (!child->output[i]->hidden ||
            logical_find_output(node, child->output[i]->id, NULL) != NULL)
            continue;
        exprs[count] = attribute_expr(analyzer->arena, child->output[i]);
        output[count++] = child->output[i];
    }
    if (count == node->output_count)
        return;
    node->output = output;
    node->output_count = count;
    if (node->kind == LOGICAL_PROJECT)
        node->project.exprs = exprs;
}

void relation_expose(struct analyzer *analyzer, struct relation *relation)
{
    if (relation->scope->hidden_count > 0)
        return;
    expose_hidden(analyzer, relation->node);
    const struct scope *found = scope_new(analyzer, relation->node, NULL, NULL);
    scope_concat_hidden(analyzer, relation->scope, found, NULL);
}

/* ---- all kinds ---- */

static enum status resolve_bare(struct analyzer *analyzer, const struct ast_relation *ast,
                                struct scope *outer, struct expr_list *outer_refs,
                                struct relation *input, struct relation *out, struct error *err)
{
    struct relation left = {0};
    switch (ast->kind) {
    case AST_RELATION_TABLE:
        return catalog_relation(analyzer, ast, out, err);
    case AST_RELATION_SUBQUERY:
        TRY(resolve_query(analyzer, ast->query, outer, outer_refs, out, err));
        relation_expose(analyzer, out);
        for (uint32_t i = 0; i < out->scope->count; i++)
            out->scope->columns[i].of_subquery = true;
        return OK;
    case AST_RELATION_PAREN:
        return resolve_relation_over(analyzer, ast->relation, outer, outer_refs, input, out, err);
    case AST_RELATION_VALUES:
        return resolve_values(analyzer, ast, outer, outer_refs, out, err);
    case AST_RELATION_FUNCTION:
        return resolve_table_function(analyzer, ast, outer, outer_refs, out, err);
    case AST_RELATION_JOIN:
        return resolve_join(analyzer, ast, outer, outer_refs, input, out, err);
    case AST_RELATION_LATERAL_VIEW:
        if (ast->lateral_view.input != NULL) {
            TRY(resolve_relation_over(analyzer, ast->lateral_view.input, outer, outer_refs, input,
                                      &left, err));
        } else if (input != NULL) {
            left = *input;
        } else {
            left.node = relation_one_row(analyzer);
            left.scope = scope_new(analyzer, left.node, NULL, outer);
        }
        return resolve_lateral_view(analyzer, ast, &left, out, outer_refs, err);
    case AST_RELATION_PIVOT:
    case AST_RELATION_UNPIVOT: {
        const struct ast_relation *from =
            ast->kind == AST_RELATION_PIVOT ? ast->pivot.input : ast->unpivot.input;
        if (from != NULL)
            TRY(resolve_relation_over(analyzer, from, outer, outer_refs, input, &left, err));
        else if (input != NULL)
            left = *input;
        CHECK(left.node != NULL);
        if (ast->kind == AST_RELATION_PIVOT)
            return resolve_pivot(analyzer, ast, outer, outer_refs, &left, out, err);
        return resolve_unpivot(analyzer, ast, &left, out, err);
    }
    case AST_RELATION_SAMPLE:
        if (ast->relation == NULL) {
            CHECK(input != NULL);
            *out = *input;
            return OK;
        }
        return resolve_relation_over(analyzer, ast->relation, outer, outer_refs, input, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown kind of relation");
}

enum status resolve_relation_over(struct analyzer *analyzer, const struct ast_relation *ast,
                                  struct scope *outer, struct expr_list *outer_refs,
                                  struct relation *input, struct relation *out, struct error *err)
{
    TRY(count_node(analyzer, err));
    TRY(resolve_bare(analyzer, ast, outer, outer_refs, input, out, err));
    CHECK(out->node != NULL && out->scope != NULL);
    if (ast->sample != NULL)
        TRY(apply_sample(analyzer, ast->sample, out, err));
    out->scope->outer = outer;
    bool aliased = ast->alias.text.data != NULL || ast->column_aliases.count > 0;
    if (aliased)
        TRY(check_alias_count(analyzer, ast, out, err));
    if (aliased)
        TRY(scope_alias(analyzer, out, &ast->alias, &ast->column_aliases, ast->position,
                        ast->position_end, err));
    if (ast->watermark != NULL)
        TRY(apply_watermark(analyzer, ast, out, err));
    return OK;
}

enum status resolve_relation(struct analyzer *analyzer, const struct ast_relation *ast,
                             struct scope *outer, struct expr_list *outer_refs,
                             struct relation *out, struct error *err)
{
    return resolve_relation_over(analyzer, ast, outer, outer_refs, NULL, out, err);
}
