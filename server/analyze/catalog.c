/*
 * What names in FROM mean: CTEs, the views, sources and tables of the spec.
 */
#include "analyze/catalog.h"
#include "analyze/analyzer.h"
#include "analyze/relation.h"
#include "base/check.h"
#include "columnar/interval_text.h"
#include "source/source.h"
#include "sql/parser.h"

#include <stdio.h>
#include <strings.h>

/* ---- sources and tables ---- */

static void add_relation(struct analyzer *analyzer, const struct relation_spec *spec,
                         bool streaming, uint32_t index)
{
    struct analysis *analysis = analyzer->analysis;
    if (analysis->relation_count == analyzer->relation_capacity) {
        uint32_t capacity = analyzer->relation_capacity == 0 ? 8 : analyzer->relation_capacity * 2;
        struct analysis_relation *grown =
            arena_new_object(analyzer->arena, capacity * sizeof *grown);
        if (analysis->relation_count > 0)
            memcpy(grown, analysis->relations, analysis->relation_count * sizeof *grown);
        analysis->relations = grown;
        analyzer->relation_capacity = capacity;
    }
    analysis->relations[analysis->relation_count++] = (struct analysis_relation){
        .spec = spec,
        .streaming = streaming,
        .source_index = index,
    };
}

/* Points at a field of the spec, which is not a place in a SQL text. */
static enum status at_field(const char *base, const char *field, enum status status,
                            struct error *err)
{
    if (status == OK || base == NULL)
        return status;
    err->position = err->position_end = -1;
    err->view[0] = '\0';
    (void)snprintf(err->pointer, sizeof err->pointer, "%s/%s", base, field);
    return status;
}

static enum status watermark_column(struct analyzer *analyzer, const struct watermark_spec *spec,
                                    struct relation *relation, int64_t delay_us, struct error *err)
{
    struct watermark_mark mark = {
        .delay_us = delay_us, .origin = spec, .position = -1, .position_end = -1};
    struct ast_expr *ast;
    TRY(parser_expr(analyzer->arena, bytes_of_text(spec->column), &ast, err));
    struct resolver resolver = resolver_of(analyzer, relation->scope, CLAUSE_OTHER, NULL);
    struct expr *expr;
    bool nested = ast->kind == AST_EXPR_COLUMN && ast->column.count > 1;
    enum status status = resolve_expr(&resolver, ast, &expr, err);
    if (nested && status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION) {
        error_clear(err);
        return error_raise(err, STATUS_EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN, "eventExpr",
                           spec->column, NULL);
    }
    TRY(status);
    if (expr->kind != EXPR_COLUMN ||
        logical_find_output(relation->node, expr->column.attribute_id, &mark.ordinal) == NULL)
        return error_raise(err, STATUS_EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN, "eventExpr",
                           nested ? spec->column : expr_sql(analyzer, expr), NULL);
    return relation_watermark(analyzer, relation, &mark, err);
}

/* Goes on after a watermark that is wrong: the columns are what they are, so whatever reads them is
 * looked at as if nothing had happened. */
static enum status refuse_watermark(struct analyzer *analyzer, enum status status,
                                    struct error *err)
{
    if (status == OK || analyzer->diagnostics == NULL)
        return status;
    uint32_t before = analyzer->broken;
    analyzer_collect(analyzer, err);
    analyzer->broken = before;
    analyzer->refused++;
    return OK;
}

/* `base` is the pointer to the source or view. */
static enum status watermark_of_spec(struct analyzer *analyzer, const struct watermark_spec *spec,
                                     const char *base, struct relation *relation, struct error *err)
{
    if (spec->column == NULL)
        return OK;
    int64_t delay_us = 0;
    enum status status = at_field(base, "watermark/delay",
                                  catalog_delay(spec->delay, analyzer->arena, &delay_us, err), err);
    TRY(refuse_watermark(analyzer, status, err));
    status = at_field(base, "watermark/column",
                      watermark_column(analyzer, spec, relation, delay_us, err), err);
    analyzer->unmarked |= status != OK;
    return refuse_watermark(analyzer, status, err);
}

enum status catalog_delay(const char *text, struct arena *arena, int64_t *out, struct error *err)
{
    struct calendar_interval interval;
    struct error inner = ERROR_INIT;
    if (text == NULL || interval_text_parse(bytes_of_text(text), &interval, &inner) != OK)
        return error_raise(err, STATUS_CANNOT_PARSE_INTERVAL, "intervalString",
                           arena_sprintf(arena, "'%s'", text == NULL ? "" : text), NULL);
    *out = ((int64_t)interval.months * 31 + interval.days) * INT64_C(86400000000) + interval.micros;
    if (*out < 0)
        return error_raise(err, STATUS_INVALID_DURATION, "text", text, "reason",
                           "delay threshold should not be negative", NULL);
    return OK;
}

/* Whether a record is malformed may depend on fields that nobody asks for. */
static bool may_narrow(const struct analyzer *analyzer, const struct relation_spec *spec,
                       const struct type *schema)
{
    const char *mode = options_get(&spec->options, "mode");
    const char *corrupt = options_get(&spec->options, "columnNameOfCorruptRecord");
    if (strcasecmp(spec->format, "json") != 0 ||
        (mode != NULL && strcasecmp(mode, "PERMISSIVE") != 0))
        return false;
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (name_equal(analyzer, schema->fields[i].name,
                       corrupt != NULL ? corrupt : "_corrupt_record"))
            return false;
    return true;
}

/* The hidden column comes last.  One of the data's own of that name takes its place. */
static void add_metadata(struct analyzer *analyzer, struct logical_node *node,
                         const struct type *type)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (name_equal(analyzer, node->output[i]->name, SOURCE_METADATA))
            return;
    struct attribute *attribute = analyzer_attribute(analyzer, SOURCE_METADATA, type, false);
    attribute->hidden = true;
    attribute->qualifier = node->relation.spec->name;
    node->relation.metadata = type;
    node->output[node->output_count++] = attribute;
}

static enum status resolve_source(struct analyzer *analyzer, uint32_t index, bool is_table,
                                  const struct ast_relation *ast, struct relation *out,
                                  struct error *err)
{
    const struct relation_spec *spec =
        is_table ? &analyzer->spec->tables[index] : &analyzer->spec->sources[index];
    const struct type *schema;
    TRY(connector_schema(analyzer, index, is_table, &schema, err));
    struct logical_node *node = logical_new(analyzer->arena, LOGICAL_RELATION, NULL, 0);
    analyzer_node(analyzer, node, ast->position, ast->position_end);
    node->streaming = !is_table && !analyzer->options->bounded;
    node->relation.spec = spec;
    node->relation.is_table = is_table;
    node->relation.source_index = index;
    node->relation.ordinal = analyzer->analysis->relation_count;
    node->relation.schema = schema;
    const struct source_ops *ops = source_find(spec->format);
    node->relation.narrows =
        ops != NULL && ops->narrow != NULL && may_narrow(analyzer, spec, schema);
    add_relation(analyzer, spec, !is_table, index);
    node->output_count = schema->field_count;
    node->output =
        arena_new_object(analyzer->arena, (schema->field_count + 2) * sizeof(struct attribute *));
    for (uint32_t i = 0; i < schema->field_count; i++) {
        node->output[i] =
            analyzer_attribute(analyzer, schema->fields[i].name, schema->fields[i].type, true);
        node->output[i]->qualifier = spec->name;
    }
    if (ops != NULL && ops->metadata != NULL)
        add_metadata(analyzer, node, ops->metadata(analyzer->arena));
    out->node = node;
    out->scope = scope_new(analyzer, node, spec->name, NULL);
    const char *options = spec->options.pointer;
    size_t size = options == NULL ? 0 : strlen(options) - strlen("/options");
    const char *base = options == NULL ? NULL : arena_strndup(analyzer->arena, options, size);
    return watermark_of_spec(analyzer, &spec->watermark, base, out, err);
}

/* ---- views ---- */

static enum status raise_among_fields(struct analyzer *analyzer, const struct logical_node *node,
                                      const char *name, struct error *err)
{
    struct buffer names = {0};
    for (uint32_t i = 0; i < node->output_count; i++)
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", node->output[i]->name);
    error_raise(err, STATUS_UNRESOLVED_COLUMN_AMONG_FIELD_NAMES, "colName", name, "fieldNames",
                buffer_text(&names), NULL);
    buffer_fini(&names);
    (void)analyzer;
    return err->status;
}

static enum status drop_duplicates(struct analyzer *analyzer, const struct view_spec *view,
                                   struct relation *relation, struct error *err)
{
    struct logical_node *child = relation->node;
    struct logical_node *node = logical_over(analyzer->arena, LOGICAL_DEDUP, child);
    node->view = analyzer->view;
    node->dedup.within_watermark = view->drop_duplicates_within_watermark;
    node->dedup.columns = arena_new_object(
        analyzer->arena, (child->output_count + view->column_count + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < view->column_count; i++) {
        uint32_t found = 0;
        for (uint32_t j = 0; j < child->output_count; j++) {
            if (!name_equal(analyzer, child->output[j]->name, view->columns[i]))
                continue;
            node->dedup.columns[node->dedup.column_count++] = j;
            found++;
        }
        if (found == 0)
            return raise_among_fields(analyzer, child, view->columns[i], err);
    }
    for (uint32_t j = 0; view->column_count == 0 && j < child->output_count; j++)
        node->dedup.columns[node->dedup.column_count++] = j;
    for (uint32_t i = 0; i < node->dedup.column_count; i++) {
        const struct attribute *column = child->output[node->dedup.columns[i]];
        TRY(check_set_column(analyzer, column, column->type, -1, -1, err));
    }
    relation->node = node;
    return OK;
}

static enum status view_body(struct analyzer *analyzer, const struct view_spec *view,
                             struct relation *out, struct error *err)
{
    const char *base =
        arena_sprintf(analyzer->arena, "/views/%zu", (size_t)(view - analyzer->spec->views));
    if (view->sql != NULL) {
        struct ast_query *ast;
        TRY(parse_text(analyzer, bytes_of_text(view->sql), &ast, err));
        TRY(resolve_query(analyzer, ast, NULL, NULL, out, err));
    } else {
        struct ast_name part = {
            .position = -1, .position_end = -1, .text = bytes_of_text(view->from)};
        struct ast_relation from = {.position = -1,
                                    .position_end = -1,
                                    .kind = AST_RELATION_TABLE,
                                    .table.name = {.parts = &part, .count = 1}};
        enum status status = resolve_relation(analyzer, &from, NULL, NULL, out, err);
        TRY(status == STATUS_TABLE_OR_VIEW_NOT_FOUND && err->view[0] == '\0'
                ? at_field(base, "from", status, err)
                : status);
        out->node = relation_visible(analyzer, out);
        out->scope = scope_new(analyzer, out->node, NULL, NULL);
    }
    if (view->drop_duplicates || view->drop_duplicates_within_watermark)
        TRY(at_field(base,
                     view->drop_duplicates ? "dropDuplicates" : "dropDuplicatesWithinWatermark",
                     drop_duplicates(analyzer, view, out, err), err));
    TRY(watermark_of_spec(analyzer, &view->watermark, base, out, err));
    return OK;
}

enum status catalog_view(struct analyzer *analyzer, uint32_t index, struct relation *out,
                         struct error *err)
{
    const struct view_spec *view = &analyzer->spec->views[index];
    struct analyzer saved = *analyzer;
    analyzer->view = view->name;
    analyzer->text = bytes_of_text(view->sql != NULL ? view->sql : "");
    analyzer->view_end = index;
    analyzer->ctes = NULL;
    analyzer->depth++;
    enum status status = OK;
    if (analyzer->depth > ANALYZE_DEPTH_MAX)
        status = error_raise(err, STATUS_LIMIT_EXCEEDED, "what", "The nesting of views", "limit",
                             "256 levels", NULL);
    if (status == OK)
        status = view_body(analyzer, view, out, err);
    analyzer->view = saved.view;
    analyzer->text = saved.text;
    analyzer->view_end = saved.view_end;
    analyzer->ctes = saved.ctes;
    analyzer->depth = saved.depth;
    if (status != OK && err->view[0] == '\0' && err->pointer[0] == '\0')
        (void)snprintf(err->view, sizeof err->view, "%s", view->name);
    if (status == OK)
        out->scope = scope_new(analyzer, out->node, view->name, NULL);
    return status;
}

/* ---- names ---- */

/* Spark's search path names no relation: those that the text at hand may read, after it. */
static void say_what_there_is(struct analyzer *analyzer, const char *name, struct error *err)
{
    const struct query_spec *spec = analyzer->spec;
    struct buffer text = {0};
    const char *comma = ". To be read here: ";
    for (size_t i = analyzer->view_end; name != NULL && i < spec->view_count; i++)
        if (name_equal(analyzer, spec->views[i].name, name))
            buffer_add_text(&text, ". A view reads only the views before it");
    for (size_t i = 0; i < spec->source_count; i++, comma = ", ")
        buffer_printf(&text, "%s%s", comma, spec->sources[i].name);
    for (size_t i = 0; i < spec->table_count; i++, comma = ", ")
        buffer_printf(&text, "%s%s", comma, spec->tables[i].name);
    for (size_t i = 0; i < analyzer->view_end; i++, comma = ", ")
        buffer_printf(&text, "%s%s", comma, spec->views[i].name);
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, "%s", buffer_text(&text));
    buffer_fini(&text);
}

static enum status raise_not_found(struct analyzer *analyzer, const struct ast_relation *ast,
                                   const char *name, struct error *err)
{
    (void)error_raise_at(err, STATUS_TABLE_OR_VIEW_NOT_FOUND, ast->position, ast->position_end,
                         "relationName", path_quoted(analyzer, &ast->table.name), "searchPath",
                         "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]",
                         NULL);
    say_what_there_is(analyzer, name, err);
    return err->status;
}

static struct cte *find_cte(struct analyzer *analyzer, const char *name)
{
    for (struct cte_scope *scope = analyzer->ctes; scope != NULL; scope = scope->outer)
        for (uint32_t i = scope->count; i-- > 0;)
            if (name_equal(analyzer, scope->items[i].name, name))
                return &scope->items[i];
    return NULL;
}

static enum status find_relation(struct analyzer *analyzer, const struct ast_relation *ast,
                                 const char *name, struct relation *out, bool *found,
                                 struct error *err)
{
    const struct query_spec *spec = analyzer->spec;
    *found = true;
    uint32_t views = analyzer->view_end;
    for (uint32_t i = views; i-- > 0;)
        if (name_equal(analyzer, spec->views[i].name, name))
            return catalog_view(analyzer, i, out, err);
    for (uint32_t i = 0; i < spec->source_count; i++)
        if (name_equal(analyzer, spec->sources[i].name, name))
            return resolve_source(analyzer, i, false, ast, out, err);
    for (uint32_t i = 0; i < spec->table_count; i++)
        if (name_equal(analyzer, spec->tables[i].name, name))
            return resolve_source(analyzer, i, true, ast, out, err);
    *found = false;
    return OK;
}

/* default.t and spark_catalog.default.t are t. */
static enum status plain_name(struct analyzer *analyzer, const struct ast_relation *ast,
                              const char **out, struct error *err)
{
    const struct ast_path *path = &ast->table.name;
    *out = NULL;
    if (path->identifier != NULL || path->count == 0)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                              "feature", "IDENTIFIER() of an expression as a table name", NULL);
    const char *first = name_text(analyzer, &path->parts[0]);
    if (path->count >= 3 && strcasecmp(first, "spark_catalog") != 0)
        return error_raise(err, STATUS_REQUIRES_SINGLE_PART_NAMESPACE, "sessionCatalog",
                           "spark_catalog", "identifier", path_quoted(analyzer, path), NULL);
    if (path->count >= 2 &&
        strcasecmp(name_text(analyzer, &path->parts[path->count - 2]), "default") != 0)
        return OK;
    *out = name_text(analyzer, &path->parts[path->count - 1]);
    return OK;
}

enum status catalog_relation(struct analyzer *analyzer, const struct ast_relation *ast,
                             struct relation *out, struct error *err)
{
    const char *name;
    TRY(plain_name(analyzer, ast, &name, err));
    if (name == NULL)
        return raise_not_found(analyzer, ast, name, err);
    if (ast->table.version != NULL || ast->table.timestamp != NULL)
        return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end,
                              "feature", "Time travel", NULL);
    struct cte *cte = ast->table.name.count == 1 ? find_cte(analyzer, name) : NULL;
    bool found = true;
    if (cte != NULL)
        TRY(resolve_cte(analyzer, cte, out, err));
    else
        TRY(find_relation(analyzer, ast, name, out, &found, err));
    if (!found)
        return raise_not_found(analyzer, ast, name, err);
    if (ast->table.is_stream && !out->node->streaming && !analyzer->options->bounded)
        return error_raise(err, STATUS__LEGACY_ERROR_TEMP_1008, "quoted", name, NULL);
    /* Every use has its own attributes, so columns are named as the relation is. */
    return OK;
}
