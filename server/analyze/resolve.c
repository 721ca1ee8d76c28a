/*
 * Expressions: syntax tree to typed tree, but for calls (resolve_call.c), literals (literal.c) and
 * subqueries (subquery.c).  Operators are functions; the table below says which.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "expr/cast.h"
#include "expr/coercion.h"
#include "expr/program.h"
#include "sql/parser.h"

#include <strings.h>

static const char *operator_name(enum ast_operator op)
{
    static const char *const names[] = {
        [AST_OP_NEGATE] = "unary -", [AST_OP_PLUS] = "positive",
        [AST_OP_BIT_NOT] = "~",      [AST_OP_NOT] = "not",
        [AST_OP_MULTIPLY] = "*",     [AST_OP_DIVIDE] = "/",
        [AST_OP_REMAINDER] = "%",    [AST_OP_DIV] = "div",
        [AST_OP_ADD] = "+",          [AST_OP_SUBTRACT] = "-",
        [AST_OP_CONCAT] = "concat",  [AST_OP_SHIFT_LEFT] = "<<",
        [AST_OP_SHIFT_RIGHT] = ">>", [AST_OP_SHIFT_RIGHT_UNSIGNED] = ">>>",
        [AST_OP_BIT_AND] = "&",      [AST_OP_BIT_XOR] = "^",
        [AST_OP_BIT_OR] = "|",       [AST_OP_EQUAL] = "=",
        [AST_OP_NULL_EQUAL] = "<=>", [AST_OP_NOT_EQUAL] = "=",
        [AST_OP_LESS] = "<",         [AST_OP_LESS_EQUAL] = "<=",
        [AST_OP_GREATER] = ">",      [AST_OP_GREATER_EQUAL] = ">=",
        [AST_OP_AND] = "and",        [AST_OP_OR] = "or",
    };
    CHECK((size_t)op < sizeof names / sizeof names[0] && names[op] != NULL);
    return names[op];
}

/* Gives the generators a type that fits nearly any place: that they stand inside an expression is
 * what is wrong with them, whatever the place wants.  False: there are none. */
static bool blank_generators(const struct resolver *resolver, struct expr **args, uint32_t count,
                             enum type_id type)
{
    bool found = false;
    for (uint32_t i = 0; i < count && resolver->clause != CLAUSE_GROUP_BY; i++) {
        if (args[i]->kind != EXPR_GENERATOR)
            continue;
        args[i] = expr_copy(resolver->analyzer->arena, args[i]);
        args[i]->type = type_simple(type);
        found = true;
    }
    return found;
}

enum status resolve_function(struct resolver *resolver, const char *name, struct expr **args,
                             uint32_t count, int position, int position_end, struct expr **out,
                             struct error *err)
{
    struct function_call call = {
        .name = name,
        .args = args,
        .arg_count = count,
        .position = position,
        .position_end = position_end,
    };
    /* A generator inside an expression is refused later; until then it has its column's type. */
    for (uint32_t i = 0; i < count; i++) {
        if (args[i]->kind != EXPR_GENERATOR || args[i]->type->field_count != 1)
            continue;
        args[i] = expr_copy(resolver->analyzer->arena, args[i]);
        args[i]->type = args[i]->type->fields[0].type;
    }
    struct expr **given = arena_new_object(resolver->analyzer->arena, (count + 1) * sizeof *given);
    for (uint32_t i = 0; i < count; i++)
        given[i] = args[i];
    enum status status = function_resolve(&resolver->analyzer->functions, &call, out, err);
    static const enum type_id blanks[] = {TYPE_VOID, TYPE_BOOLEAN};
    for (size_t i = 0; status != OK && i < 2; i++) {
        if (!blank_generators(resolver, given, count, blanks[i]))
            break;
        error_clear(err);
        call.args = args;
        for (uint32_t j = 0; j < count; j++)
            args[j] = given[j];
        status = function_resolve(&resolver->analyzer->functions, &call, out, err);
    }
    return status;
}

/* A predicate stands where its keyword does: the IN of `a IN (1)`. */
static int predicate_position(const struct resolver *resolver, const struct ast_expr *value)
{
    return text_next(resolver->analyzer, value->position_end);
}

static enum status negate(struct resolver *resolver, const struct ast_expr *ast, struct expr **expr,
                          struct error *err)
{
    return resolve_function(resolver, "not", expr, 1, ast->position, ast->position_end, expr, err);
}

static enum status resolve_operator(struct resolver *resolver, const struct ast_expr *ast,
                                    struct expr **out, struct error *err)
{
    struct expr *args[2] = {NULL, NULL};
    uint32_t count = ast->kind == AST_EXPR_UNARY ? 1 : 2;
    TRY(resolve_expr(resolver, ast->operands.left, &args[0], err));
    if (count == 2)
        TRY(resolve_expr(resolver, ast->operands.right, &args[1], err));
    TRY(resolve_function(resolver, operator_name(ast->op), args, count, ast->position,
                         ast->position_end, out, err));
    return ast->op == AST_OP_NOT_EQUAL ? negate(resolver, ast, out, err) : OK;
}

/* The value stands in both comparisons, so messages show a reference to it. */
static enum status raise_between(struct resolver *resolver, struct expr *const *args,
                                 struct error *err)
{
    struct error old = *err;
    const char *value = expr_name(resolver->analyzer, args[0]);
    const char *sql = error_param(&old, "sqlExpr");
    size_t size = strlen(value);
    if (sql == NULL || strncmp(sql, "\"(", 2) != 0 || strncmp(sql + 2, value, size) != 0)
        return err->status;
    const char *shown =
        arena_sprintf(resolver->analyzer->arena, "\"(commonexpressionref()%s", sql + 2 + size);
    error_clear(err);
    return error_raise_at(err, old.status, old.position, old.position_end, "sqlExpr", shown, "left",
                          error_param(&old, "left"), "right", error_param(&old, "right"), NULL);
}

static enum status resolve_between(struct resolver *resolver, const struct ast_expr *ast,
                                   struct expr **out, struct error *err)
{
    struct expr *args[3];
    TRY(resolve_expr(resolver, ast->between.value, &args[0], err));
    TRY(resolve_expr(resolver, ast->between.low, &args[1], err));
    TRY(resolve_expr(resolver, ast->between.high, &args[2], err));
    enum status status = resolve_function(resolver, "between", args, 3,
                                          predicate_position(resolver, ast->between.value),
                                          ast->position_end, out, err);
    if (status == STATUS_DATATYPE_MISMATCH__BINARY_OP_DIFF_TYPES)
        return raise_between(resolver, args, err);
    TRY(status);
    return ast->negated ? negate(resolver, ast, out, err) : OK;
}

static enum status resolve_in(struct resolver *resolver, const struct ast_expr *ast,
                              struct expr **out, struct error *err)
{
    if (ast->in.query != NULL)
        return resolve_subquery(resolver, ast, out, err);
    struct expr_list args = {0};
    struct expr *value;
    TRY(resolve_expr(resolver, ast->in.value, &value, err));
    expr_list_add(resolver->analyzer->arena, &args, value);
    TRY(resolve_list(resolver, &ast->in.list, &args, err));
    TRY(resolve_function(resolver, "in", args.items, args.count,
                         predicate_position(resolver, ast->in.value), ast->position_end, out, err));
    return ast->negated ? negate(resolver, ast, out, err) : OK;
}

static const char *like_name(const struct ast_expr *ast, bool *negated)
{
    *negated = ast->negated;
    if (ast->like.kind == AST_RLIKE)
        return "rlike";
    bool any = ast->like.quantifier == AST_LIKE_ANY, all = ast->like.quantifier == AST_LIKE_ALL;
    if (!any && !all)
        return ast->like.kind == AST_ILIKE ? "ilike" : "like";
    *negated = false;
    if (ast->negated)
        return any ? "notlikeany" : "notlikeall";
    return any ? "likeany" : "likeall";
}

static enum status resolve_like_pattern(struct resolver *resolver, const struct ast_expr *pattern,
                                        const struct ast_expr *ast, struct expr *value,
                                        struct expr_list *args, struct error *err)
{
    struct expr *expr = NULL;
    TRY(resolve_expr(resolver, pattern, &expr, err));
    if (ast->like.kind == AST_ILIKE && ast->like.quantifier != AST_LIKE_ONE) {
        struct expr *lower[] = {expr};
        TRY(resolve_function(resolver, "lower", lower, 1, ast->position, ast->position_end, &expr,
                             err));
    }
    (void)value;
    expr_list_add(resolver->analyzer->arena, args, expr);
    return OK;
}

static enum status resolve_like(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr **out, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr_list args = {0};
    struct expr *value;
    TRY(resolve_expr(resolver, ast->like.value, &value, err));
    bool quantified = ast->like.quantifier != AST_LIKE_ONE;
    if (quantified && ast->like.kind == AST_ILIKE) {
        struct expr *lower[] = {value};
        TRY(resolve_function(resolver, "lower", lower, 1, ast->position, ast->position_end, &value,
                             err));
    }
    expr_list_add(arena, &args, value);
    if (!quantified)
        TRY(resolve_like_pattern(resolver, ast->like.pattern, ast, value, &args, err));
    for (size_t i = 0; quantified && i < ast->like.patterns.count; i++)
        TRY(resolve_like_pattern(resolver, ast->like.patterns.items[i], ast, value, &args, err));
    if (ast->like.has_escape)
        expr_list_add(arena, &args, expr_literal_string(arena, ast->like.escape));
    bool negated;
    const char *name = like_name(ast, &negated);
    TRY(resolve_function(resolver, name, args.items, args.count,
                         predicate_position(resolver, ast->like.value), ast->position_end, out,
                         err));
    return negated ? negate(resolver, ast, out, err) : OK;
}

static enum status resolve_is(struct resolver *resolver, const struct ast_expr *ast,
                              struct expr **out, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr *args[2];
    TRY(resolve_expr(resolver, ast->is.value, &args[0], err));
    const char *name = "<=>";
    uint32_t count = 2;
    bool negated = ast->negated;
    switch (ast->is.test) {
    case AST_IS_NULL:
    case AST_IS_UNKNOWN:
        name = negated ? "isnotnull" : "isnull";
        negated = false;
        count = 1;
        break;
    case AST_IS_TRUE:
    case AST_IS_FALSE:
        args[1] = expr_literal_boolean(arena, ast->is.test == AST_IS_TRUE);
        break;
    case AST_IS_DISTINCT_FROM:
        TRY(resolve_expr(resolver, ast->is.other, &args[1], err));
        negated = !negated;
        break;
    }
    TRY(resolve_function(resolver, name, args, count, predicate_position(resolver, ast->is.value),
                         ast->position_end, out, err));
    return negated ? negate(resolver, ast, out, err) : OK;
}

static enum status resolve_case(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr **out, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr_list args = {0};
    struct expr *operand = NULL;
    if (ast->cases.operand != NULL)
        TRY(resolve_expr(resolver, ast->cases.operand, &operand, err));
    for (size_t i = 0; i < ast->cases.when_count; i++) {
        struct expr *condition, *result;
        TRY(resolve_expr(resolver, ast->cases.whens[i].condition, &condition, err));
        if (operand != NULL) {
            struct expr *pair[] = {operand, condition};
            TRY(resolve_function(resolver, "=", pair, 2, ast->position, ast->position_end,
                                 &condition, err));
        }
        TRY(resolve_expr(resolver, ast->cases.whens[i].result, &result, err));
        expr_list_add(arena, &args, condition);
        expr_list_add(arena, &args, result);
    }
    if (ast->cases.otherwise != NULL) {
        struct expr *otherwise;
        TRY(resolve_expr(resolver, ast->cases.otherwise, &otherwise, err));
        expr_list_add(arena, &args, otherwise);
    }
    return resolve_function(resolver, "when", args.items, args.count, ast->position,
                            ast->position_end, out, err);
}

static enum status resolve_cast(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr **out, struct error *err)
{
    struct expr *operand;
    const struct type *type;
    TRY(resolve_expr(resolver, ast->cast.operand, &operand, err));
    TRY(resolve_type(resolver->analyzer, ast->cast.type, &type, err));
    (void)blank_generators(resolver, &operand, 1, TYPE_VOID);
    enum status status = cast_resolve(&resolver->analyzer->functions, operand, type,
                                      ast->cast.form == AST_TRY_CAST, out, err);
    if (status != OK) {
        err->position = ast->position;
        err->position_end = ast->position_end;
        return status;
    }
    if (*out != operand) {
        (*out)->position = ast->position;
        (*out)->position_end = ast->position_end;
    }
    return OK;
}

/* v:a.b is variant_get(v, '$.a.b'). */
static enum status resolve_json_path(struct resolver *resolver, const struct ast_expr *ast,
                                     struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr *args[2] = {NULL, expr_literal_string(analyzer->arena, ast->json_path.path)};
    TRY(resolve_expr(resolver, ast->json_path.base, &args[0], err));
    struct function_call call = {.name = "variant_get",
                                 .args = args,
                                 .arg_count = 2,
                                 .position = ast->position,
                                 .position_end = ast->position_end};
    return function_resolve(&analyzer->functions, &call, out, err);
}

static enum status resolve_trim(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr **out, struct error *err)
{
    const char *name = ast->trim.side == AST_TRIM_LEADING    ? "ltrim"
                       : ast->trim.side == AST_TRIM_TRAILING ? "rtrim"
                                                             : "trim";
    struct expr *args[2];
    uint32_t count = 0;
    if (ast->trim.characters != NULL)
        TRY(resolve_expr(resolver, ast->trim.characters, &args[count++], err));
    TRY(resolve_expr(resolver, ast->trim.source, &args[count++], err));
    return resolve_function(resolver, name, args, count, ast->position, ast->position_end, out,
                            err);
}

static enum status resolve_extract(struct resolver *resolver, const struct ast_expr *ast,
                                   struct expr **out, struct error *err)
{
    struct expr *args[2];
    args[0] = expr_literal_string(resolver->analyzer->arena, ast->extract.field.text);
    TRY(resolve_expr(resolver, ast->extract.source, &args[1], err));
    enum status status =
        resolve_function(resolver, "extract", args, 2, ast->position, ast->position_end, out, err);
    if (status == STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE) {
        err->position = ast->position;
        err->position_end = ast->position_end;
    }
    return status;
}

static enum status resolve_timestamp(struct resolver *resolver, const struct ast_expr *ast,
                                     struct expr **out, struct error *err)
{
    struct expr *args[3];
    args[0] = expr_literal_string(resolver->analyzer->arena, ast->timestamp.unit_name.text);
    TRY(resolve_expr(resolver, ast->timestamp.first, &args[1], err));
    TRY(resolve_expr(resolver, ast->timestamp.second, &args[2], err));
    const char *name = ast->kind == AST_EXPR_TIMESTAMP_ADD ? "timestampadd" : "timestampdiff";
    return resolve_function(resolver, name, args, 3, ast->position, ast->position_end, out, err);
}

/* The name that a member of a struct has of its own, NULL if none. */
static const char *member_name(const struct expr *value)
{
    if (value->kind == EXPR_COLUMN)
        return value->column.name;
    if (value->kind == EXPR_LAMBDA_VARIABLE)
        return value->variable.name;
    bool field = value->kind == EXPR_CALL && strcmp(value->call.function->name, ".") == 0;
    if (!field || value->args[0]->type->id != TYPE_STRUCT)
        return NULL;
    return value->args[0]->type->fields[*(const uint32_t *)value->call.bound].name;
}

/* STRUCT(a AS x, b): named after aliases and columns, the others by their position. */
static enum status resolve_struct(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr **out, struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr_list args = {0};
    for (size_t i = 0; i < ast->members.count; i++) {
        const struct ast_item *item = &ast->members.items[i];
        struct expr_list values = {0};
        if (item->expr->kind == AST_EXPR_STAR) {
            TRY(resolve_star(resolver, item->expr, &values, err));
        } else {
            struct expr *value;
            TRY(resolve_expr(resolver, item->expr, &value, err));
            expr_list_add(arena, &values, value);
        }
        for (uint32_t j = 0; j < values.count; j++) {
            struct bytes name;
            struct expr *label;
            if (item->aliases.count > 0)
                name = item->aliases.items[0].text;
            else if (member_name(values.items[j]) != NULL)
                name = bytes_of_text(member_name(values.items[j]));
            else
                name = bytes_of_text(arena_sprintf(arena, "col%u", args.count / 2 + 1));
            label = expr_literal_string(arena, name);
            if (item->aliases.count > 0 ||
                (item->expr->kind == AST_EXPR_STAR && values.items[j]->kind != EXPR_COLUMN))
                label->literal.text = arena_strndup(arena, name.data, name.size_bytes);
            expr_list_add(arena, &args, label);
            expr_list_add(arena, &args, values.items[j]);
        }
    }
    const char *name = ast->kind == AST_EXPR_STRUCT ? "struct" : "named_struct";
    return resolve_function(resolver, name, args.items, args.count, ast->position,
                            ast->position_end, out, err);
}

/* What stands in brackets; a name that is no column is told apart by what is indexed. */
static enum status resolve_index(struct resolver *resolver, const struct expr *base,
                                 const struct ast_expr *ast, struct expr **out, struct error *err)
{
    struct resolver inner = *resolver;
    inner.collect = false;
    enum status status = resolve_expr(&inner, ast, out, err);
    resolver->used_alias = inner.used_alias;
    bool suggested = status == STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION;
    if (ast->kind != AST_EXPR_COLUMN ||
        (!suggested && status != STATUS_UNRESOLVED_COLUMN__WITHOUT_SUGGESTION))
        return status;
    struct analyzer *analyzer = resolver->analyzer;
    const char *name = arena_strdup(analyzer->arena, error_param(err, "objectName"));
    if (base->type->id == TYPE_STRUCT) {
        error_clear(err);
        return error_raise_at(
            err, STATUS_INVALID_EXTRACT_FIELD_TYPE, ast->position, ast->position_end, "extraction",
            arena_sprintf(analyzer->arena, "\"%.*s\"", ast->position_end - ast->position,
                          (const char *)analyzer->text.data + ast->position),
            NULL);
    }
    if (base->type->id != TYPE_MAP)
        return status;
    const char *proposal =
        suggested ? arena_strdup(analyzer->arena, error_param(err, "proposal")) : NULL;
    error_clear(err);
    if (!suggested)
        return error_raise_at(err, STATUS_UNRESOLVED_MAP_KEY__WITHOUT_SUGGESTION, ast->position,
                              ast->position_end, "objectName", name, NULL);
    return error_raise_at(err, STATUS_UNRESOLVED_MAP_KEY__WITH_SUGGESTION, ast->position,
                          ast->position_end, "objectName", name, "proposal", proposal, NULL);
}

static enum status resolve_access(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr **out, struct error *err)
{
    struct expr *base;
    if (ast->kind == AST_EXPR_FIELD) {
        TRY(resolve_expr(resolver, ast->field.base, &base, err));
        const char *name = name_text(resolver->analyzer, &ast->field.name);
        return resolve_field(resolver, base, name, ast->position, ast->position_end, out, err);
    }
    struct expr *index;
    TRY(resolve_expr(resolver, ast->subscript.base, &base, err));
    TRY(resolve_index(resolver, base, ast->subscript.index, &index, err));
    if (base->type->id == TYPE_STRUCT && index->kind == EXPR_LITERAL &&
        index->type->id == TYPE_STRING && !vector_is_null(index->literal.value, 0)) {
        struct bytes text = VECTOR_VALUES(struct bytes, index->literal.value)[0];
        const char *name = arena_strndup(resolver->analyzer->arena, text.data, text.size_bytes);
        return resolve_field(resolver, base, name, ast->position, ast->position_end, out, err);
    }
    if (base->type->id == TYPE_STRUCT)
        return error_raise_at(err, STATUS_INVALID_EXTRACT_FIELD_TYPE, ast->position,
                              ast->position_end, "extraction", expr_sql(resolver->analyzer, index),
                              NULL);
    if (base->type->id != TYPE_ARRAY && base->type->id != TYPE_MAP && base->type->id != TYPE_VOID)
        return error_raise(err, STATUS_INVALID_EXTRACT_BASE_FIELD_TYPE, "base",
                           expr_sql(resolver->analyzer, base), "other",
                           type_quoted(resolver->analyzer, base->type), NULL);
    struct expr *args[] = {base, index};
    return resolve_function(resolver, "[]", args, 2, ast->position, ast->position_end, out, err);
}

static enum status not_supported(const struct ast_expr *ast, const char *feature, struct error *err)
{
    return error_raise_at(err, STATUS_NOT_SUPPORTED, ast->position, ast->position_end, "feature",
                          feature, NULL);
}

/* The text of IDENTIFIER(expr) becomes the path. */
static enum status resolve_identifier(struct resolver *resolver, const struct ast_expr *ast,
                                      struct expr **out, struct error *err)
{
    struct expr *text;
    TRY(resolve_expr(resolver, ast->column.identifier, &text, err));
    if (!expr_is_foldable(text) || text->type->id != TYPE_STRING)
        return not_supported(ast, "IDENTIFIER() of an expression that is no constant text", err);
    struct vector *value;
    TRY(expr_constant(resolver->analyzer->arena, text, resolver->analyzer->functions.time_zone,
                      &value, err));
    struct ast_expr *parsed;
    struct bytes bytes =
        vector_is_null(value, 0) ? bytes_of_text("") : VECTOR_VALUES(struct bytes, value)[0];
    TRY(parser_expr(resolver->analyzer->arena, bytes, &parsed, err));
    if (parsed->kind != AST_EXPR_COLUMN)
        return not_supported(ast, "IDENTIFIER() of a text that is no name", err);
    return scope_resolve(resolver, &parsed->column, ast->position, ast->position_end, out, err);
}

static enum status resolve_parameter(const struct ast_expr *ast, struct resolver *resolver,
                                     struct error *err)
{
    const char *name = ast->parameter.name.text.data != NULL
                           ? name_text(resolver->analyzer, &ast->parameter.name)
                           : arena_sprintf(resolver->analyzer->arena, "_%d", ast->position);
    return error_raise(err, STATUS_UNBOUND_SQL_PARAMETER, "name", name, NULL);
}

/* UTF8_LCASE, UNICODE_CI_AI, de_CI_RTRIM ...: as Spark names collations. */
static bool is_collation(const char *name)
{
    static const char *const bases[] = {"UTF8_BINARY", "UTF8_LCASE", "UNICODE"};
    size_t size = 0;
    for (size_t i = 0; size == 0 && i < sizeof bases / sizeof *bases; i++)
        if (strncasecmp(name, bases[i], strlen(bases[i])) == 0)
            size = strlen(bases[i]);
    if (size == 0)
        while (name[size] >= 'a' && name[size] <= 'z')
            size++;
    bool locale = size == 2;
    return size > 0 && (locale || size > 3) && (name[size] == '\0' || name[size] == '_');
}

/* Never OK: no collation is supported but the one that all text has. */
static enum status refuse_collate(struct resolver *resolver, const struct ast_expr *ast,
                                  struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr *operand;
    const struct ast_path *path = &ast->collate.name;
    const char *name = name_text(analyzer, &path->parts[path->count - 1]);
    TRY(resolve_expr(resolver, ast->collate.operand, &operand, err));
    if (path->count > 1 || !is_collation(name))
        return error_raise_at(err, STATUS_COLLATION_INVALID_NAME, ast->position, ast->position_end,
                              "collationName", name, "proposals",
                              "UTF8_BINARY, UTF8_LCASE, UNICODE", NULL);
    if (operand->type->id != TYPE_STRING && operand->type->id != TYPE_VOID)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_INPUT_TYPE, ast->position,
                              ast->position_end, "sqlExpr",
                              arena_sprintf(analyzer->arena, "\"collate(%s, %s)\"",
                                            expr_name(analyzer, operand), name),
                              "paramIndex", "first", "inputSql", expr_sql(analyzer, operand),
                              "inputType", type_quoted(analyzer, operand->type), "requiredType",
                              "\"STRING\"", NULL);
    return not_supported(ast, "COLLATE", err);
}

static enum status raise_star(const struct ast_expr *ast, struct error *err)
{
    (void)ast;
    return error_raise(err, STATUS_INVALID_USAGE_OF_STAR_OR_REGEX, "elem", "'*'", "prettyName",
                       "expression `alias`", NULL);
}

static enum status resolve_column(struct resolver *resolver, const struct ast_expr *ast,
                                  struct expr **out, struct error *err)
{
    enum status status =
        scope_resolve(resolver, &ast->column, ast->position, ast->position_end, out, err);
    if (!resolver->collect || (status != STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION &&
                               status != STATUS_UNRESOLVED_COLUMN__WITHOUT_SUGGESTION))
        return status;
    analyzer_collect(resolver->analyzer, err);
    *out = expr_null(resolver->analyzer->arena, type_simple(TYPE_VOID));
    return OK;
}

static enum status resolve_kind(struct resolver *resolver, const struct ast_expr *ast,
                                struct expr **out, struct error *err)
{
    enum status status;
    switch (ast->kind) {
    case AST_EXPR_LITERAL:
        return resolve_literal(resolver, ast, out, err);
    case AST_EXPR_PARAMETER:
        return resolve_parameter(ast, resolver, err);
    case AST_EXPR_COLUMN:
        if (ast->column.identifier != NULL)
            return resolve_identifier(resolver, ast, out, err);
        return resolve_column(resolver, ast, out, err);
    case AST_EXPR_STAR:
        return raise_star(ast, err);
    case AST_EXPR_UNARY:
    case AST_EXPR_BINARY:
        return resolve_operator(resolver, ast, out, err);
    case AST_EXPR_BETWEEN:
        return resolve_between(resolver, ast, out, err);
    case AST_EXPR_IN:
        return resolve_in(resolver, ast, out, err);
    case AST_EXPR_LIKE:
        return resolve_like(resolver, ast, out, err);
    case AST_EXPR_IS:
        return resolve_is(resolver, ast, out, err);
    case AST_EXPR_CASE:
        return resolve_case(resolver, ast, out, err);
    case AST_EXPR_CAST:
        return resolve_cast(resolver, ast, out, err);
    case AST_EXPR_CALL:
        return resolve_call(resolver, ast, out, err);
    case AST_EXPR_TRIM:
        return resolve_trim(resolver, ast, out, err);
    case AST_EXPR_EXTRACT:
        return resolve_extract(resolver, ast, out, err);
    case AST_EXPR_TIMESTAMP_ADD:
    case AST_EXPR_TIMESTAMP_DIFF:
        return resolve_timestamp(resolver, ast, out, err);
    case AST_EXPR_STRUCT:
    case AST_EXPR_ROW:
        return resolve_struct(resolver, ast, out, err);
    case AST_EXPR_FIELD:
    case AST_EXPR_SUBSCRIPT:
        return resolve_access(resolver, ast, out, err);
    case AST_EXPR_JSON_PATH:
        return resolve_json_path(resolver, ast, out, err);
    case AST_EXPR_COLLATE:
        status = refuse_collate(resolver, ast, err);
        CHECK(status != OK);
        return status;
    case AST_EXPR_LAMBDA:
        return error_raise_at(err, STATUS_INVALID_LAMBDA_FUNCTION_CALL__NON_HIGHER_ORDER_FUNCTION,
                              ast->position, ast->position_end, "class", "a plain expression",
                              NULL);
    case AST_EXPR_SUBQUERY:
    case AST_EXPR_EXISTS:
        return resolve_subquery(resolver, ast, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown kind of expression");
}

enum status resolve_expr(struct resolver *resolver, const struct ast_expr *ast, struct expr **out,
                         struct error *err)
{
    enum status status = resolve_kind(resolver, ast, out, err);
    if (status != OK && err->pointer[0] == '\0' && err->view[0] == '\0')
        (void)error_at(err, ast->position, ast->position_end); /* if it has no place of its own */
    return status;
}

/* ---- stars ---- */

static enum status raise_star_target(struct resolver *resolver, const struct ast_expr *ast,
                                     struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct buffer columns = {0};
    const char **names =
        arena_new_object(analyzer->arena, (resolver->scope->count + 1) * sizeof *names);
    uint32_t count = 0;
    for (uint32_t i = 0; i < resolver->scope->count; i++) {
        if (resolver->scope->columns[i].qualified_only)
            continue;
        const char *name = text_quoted(analyzer, resolver->scope->columns[i].name);
        uint32_t at = count++;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&columns, "%s%s", i > 0 ? ", " : "", names[i]);
    error_raise_at(err, STATUS_CANNOT_RESOLVE_STAR_EXPAND, ast->position, ast->position_end,
                   "targetString", path_quoted(analyzer, &ast->star.qualifier), "columns",
                   buffer_text(&columns), NULL);
    buffer_fini(&columns);
    return err->status;
}

/* s.* of a struct column: its fields. */
static enum status expand_struct(struct resolver *resolver, const struct ast_expr *ast,
                                 struct expr_list *out, struct error *err)
{
    struct expr *base = NULL;
    struct error ignored = ERROR_INIT;
    if (scope_resolve(resolver, &ast->star.qualifier, ast->position, ast->position_end, &base,
                      &ignored) != OK ||
        base->type->id != TYPE_STRUCT)
        return raise_star_target(resolver, ast, err);
    for (uint32_t i = 0; i < base->type->field_count; i++) {
        struct expr *field;
        TRY(resolve_field(resolver, base, base->type->fields[i].name, ast->position,
                          ast->position_end, &field, err));
        analyzer_name_expr(resolver->analyzer, field, base->type->fields[i].name);
        expr_list_add(resolver->analyzer->arena, out, field);
    }
    return OK;
}

/* s without s.x: a struct of the other fields. */
static enum status drop_field(struct resolver *resolver, struct expr **slot,
                              const struct expr *drop, const struct ast_path *path,
                              struct error *err)
{
    struct arena *arena = resolver->analyzer->arena;
    struct expr_list args = {0};
    const char *name = analyzer_expr_name(resolver->analyzer, *slot);
    struct expr *base = *slot;
    if (name == NULL)
        name = base->column.name;
    for (uint32_t i = 0; i < base->type->field_count; i++) {
        struct expr *field;
        const char *field_name = base->type->fields[i].name;
        TRY(resolve_field(resolver, base, field_name, path->position, path->position_end, &field,
                          err));
        if (drop->kind == EXPR_CALL && expr_equal(field, drop))
            continue;
        expr_list_add(arena, &args, expr_literal_string(arena, bytes_of_text(field_name)));
        expr_list_add(arena, &args, field);
    }
    TRY(resolve_function(resolver, "named_struct", args.items, args.count, path->position,
                         path->position_end, slot, err));
    analyzer_name_expr(resolver->analyzer, *slot, name);
    return OK;
}

static enum status drop_one(struct resolver *resolver, const struct ast_expr *ast,
                            const struct ast_path *path, struct expr_list *list, struct error *err)
{
    struct expr *drop;
    uint32_t kept = 0;
    TRY(scope_resolve(resolver, path, ast->position, ast->position_end, &drop, err));
    for (uint32_t j = 0; j < list->count; j++)
        if (!expr_equal(list->items[j], drop))
            list->items[kept++] = list->items[j];
    if (kept < list->count) {
        list->count = kept;
        return OK;
    }
    for (uint32_t j = 0; j < list->count; j++) {
        struct expr *base = list->items[j];
        const struct expr *inner =
            drop->kind == EXPR_CALL && drop->arg_count > 0 ? drop->args[0] : NULL;
        bool rebuilt = base->kind == EXPR_CALL && base->arg_count > 1 &&
                       base->args[1]->kind == EXPR_CALL && inner != NULL &&
                       base->args[1]->arg_count > 0 && expr_equal(base->args[1]->args[0], inner);
        if (inner == NULL || base->type->id != TYPE_STRUCT ||
            (!expr_equal(base, inner) && !rebuilt))
            continue;
        if (!rebuilt)
            return drop_field(resolver, &list->items[j], drop, path, err);
        struct expr_list args = {0};
        for (uint32_t k = 0; k + 1 < base->arg_count; k += 2) {
            if (expr_equal(base->args[k + 1], drop))
                continue;
            expr_list_add(resolver->analyzer->arena, &args, base->args[k]);
            expr_list_add(resolver->analyzer->arena, &args, base->args[k + 1]);
        }
        const char *name = analyzer_expr_name(resolver->analyzer, base);
        TRY(resolve_function(resolver, "named_struct", args.items, args.count, path->position,
                             path->position_end, &list->items[j], err));
        analyzer_name_expr(resolver->analyzer, list->items[j], name);
        return OK;
    }
    struct buffer columns = {0};
    for (size_t j = 0; j < ast->star.except.count; j++) {
        const struct ast_path *one = &ast->star.except.items[j];
        buffer_add_text(&columns, j > 0 ? ", " : "");
        for (size_t k = 0; k < one->count; k++)
            buffer_printf(&columns, "%s%s", k > 0 ? "." : "",
                          name_text(resolver->analyzer, &one->parts[k]));
    }
    error_raise_at(err, STATUS_EXCEPT_OVERLAPPING_COLUMNS, ast->position, ast->position_end,
                   "columns", buffer_text(&columns), NULL);
    buffer_fini(&columns);
    return err->status;
}

/* The names of EXCEPT are looked up among the columns of the star alone. */
static enum status drop_excepted(struct resolver *resolver, const struct ast_expr *ast,
                                 const char *qualifier, struct expr_list *list, struct error *err)
{
    struct resolver inner = *resolver;
    struct scope *scope = arena_new_object(resolver->analyzer->arena, sizeof *scope);
    scope->columns = arena_new_object(resolver->analyzer->arena,
                                      (resolver->scope->count + 1) * sizeof *scope->columns);
    for (uint32_t i = 0; i < resolver->scope->count; i++) {
        const struct scope_column *column = &resolver->scope->columns[i];
        if (qualifier == NULL || (column->qualifier != NULL &&
                                  name_equal(resolver->analyzer, column->qualifier, qualifier)))
            scope->columns[scope->count++] = *column;
    }
    scope->suggest_by_place = true;
    inner.scope = scope;
    for (size_t i = 0; i < ast->star.except.count; i++)
        TRY(drop_one(&inner, ast, &ast->star.except.items[i], list, err));
    return OK;
}

enum status resolve_star(struct resolver *resolver, const struct ast_expr *ast,
                         struct expr_list *out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct expr_list found = {0};
    const struct ast_path *qualifier = &ast->star.qualifier;
    const char *name =
        qualifier->count > 0 ? name_text(analyzer, &qualifier->parts[qualifier->count - 1]) : NULL;
    for (uint32_t i = 0; i < resolver->scope->count; i++) {
        const struct scope_column *column = &resolver->scope->columns[i];
        if (column->no_star)
            continue;
        if (name == NULL
                ? column->qualified_only
                : column->qualifier == NULL || !name_equal(analyzer, column->qualifier, name))
            continue;
        struct expr *expr = attribute_expr(analyzer->arena, column->attribute);
        expr->column.name = column->name;
        expr->column.qualifier = column->qualifier;
        expr_list_add(analyzer->arena, &found, expr);
    }
    if (name != NULL && found.count == 0)
        TRY(expand_struct(resolver, ast, &found, err));
    TRY(drop_excepted(resolver, ast, name, &found, err));
    for (uint32_t i = 0; i < found.count; i++)
        expr_list_add(analyzer->arena, out, found.items[i]);
    return OK;
}

enum status resolve_list(struct resolver *resolver, const struct ast_expr_list *list,
                         struct expr_list *out, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->kind == AST_EXPR_STAR) {
            TRY(resolve_star(resolver, list->items[i], out, err));
            continue;
        }
        struct expr *expr = NULL;
        TRY(resolve_expr(resolver, list->items[i], &expr, err));
        expr_list_add(resolver->analyzer->arena, out, expr);
    }
    return OK;
}

enum status resolve_sort_key(struct resolver *resolver, const struct ast_sort_item *item,
                             struct sort_key *out, struct error *err)
{
    TRY(resolve_expr(resolver, item->expr, &out->expr, err));
    out->descending = item->order == AST_ORDER_DESC;
    out->nulls_first =
        item->nulls == AST_NULLS_DEFAULT ? !out->descending : item->nulls == AST_NULLS_FIRST;
    if (!type_is_orderable(out->expr->type))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__INVALID_ORDERING_TYPE, item->position,
                              item->position_end, "functionName", "`sortorder`", "dataType",
                              type_quoted(resolver->analyzer, out->expr->type), "sqlExpr",
                              arena_sprintf(resolver->analyzer->arena, "\"%s %s NULLS %s\"",
                                            expr_name(resolver->analyzer, out->expr),
                                            out->descending ? "DESC" : "ASC",
                                            out->nulls_first ? "FIRST" : "LAST"),
                              NULL);
    return OK;
}
