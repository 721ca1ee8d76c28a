/*
 * Names: which columns a relation offers, and what a dotted name means.
 *
 * a.b.c is tried as relation.column.field first, then as column.field.field.  What no column
 * answers is, in this order, one of the functions that need no parentheses (current_date), an
 * alias of an earlier select item, a column of the enclosing query, and an error that suggests
 * names by edit distance.  Hidden columns (_metadata of files) come behind all columns of the
 * scope.
 */
#include "analyze/analyzer.h"
#include "base/check.h"
#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct scope *scope_new(struct analyzer *analyzer, const struct logical_node *node,
                        const char *qualifier, struct scope *outer)
{
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    uint32_t size = node->output_count + 1;
    scope->columns = arena_new_object(analyzer->arena, size * sizeof *scope->columns);
    scope->outer = outer;
    for (uint32_t i = 0; i < node->output_count; i++) {
        struct scope_column column = {
            .attribute = node->output[i],
            .name = node->output[i]->name,
            .qualifier = qualifier,
        };
        if (!column.attribute->hidden) {
            scope->columns[scope->count++] = column;
            continue;
        }
        if (scope->hidden == NULL)
            scope->hidden = arena_new_object(analyzer->arena, size * sizeof *scope->hidden);
        scope->hidden[scope->hidden_count++] = column;
    }
    return scope;
}

void scope_concat_hidden(struct analyzer *analyzer, struct scope *scope, const struct scope *left,
                         const struct scope *right)
{
    uint32_t count = left->hidden_count + (right != NULL ? right->hidden_count : 0);
    if (count == 0)
        return;
    scope->hidden = arena_new_object(analyzer->arena, count * sizeof *scope->hidden);
    scope->hidden_count = count;
    if (left->hidden_count > 0)
        memcpy(scope->hidden, left->hidden, left->hidden_count * sizeof *scope->hidden);
    if (count > left->hidden_count)
        memcpy(scope->hidden + left->hidden_count, right->hidden,
               (count - left->hidden_count) * sizeof *scope->hidden);
}

struct scope *scope_concat(struct analyzer *analyzer, const struct scope *left,
                           const struct scope *right, struct scope *outer)
{
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->count = left->count + right->count;
    scope->columns = arena_new_object(analyzer->arena, (scope->count + 1) * sizeof *scope->columns);
    scope->outer = outer;
    memcpy(scope->columns, left->columns, left->count * sizeof *scope->columns);
    memcpy(scope->columns + left->count, right->columns, right->count * sizeof *scope->columns);
    scope_concat_hidden(analyzer, scope, left, right);
    return scope;
}

static void refresh_columns(struct scope_column *columns, uint32_t count,
                            const struct logical_node *node)
{
    for (uint32_t i = 0; i < count; i++) {
        struct attribute *found = logical_find_output(node, columns[i].attribute->id, NULL);
        if (found != NULL)
            columns[i].attribute = found;
    }
}

void scope_refresh(struct scope *scope, const struct logical_node *node)
{
    refresh_columns(scope->columns, scope->count, node);
    refresh_columns(scope->hidden, scope->hidden_count, node);
}

static uint32_t visible_count(const struct scope *scope)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scope->count; i++)
        count += !scope->columns[i].qualified_only;
    return count;
}

enum status scope_alias(struct analyzer *analyzer, struct relation *relation,
                        const struct ast_name *alias, const struct ast_name_list *names,
                        int position, int position_end, struct error *err)
{
    struct scope *from = relation->scope;
    uint32_t count = visible_count(from);
    if (names != NULL && names->count > 0 && names->count != count) {
        char have[16], want[16];
        (void)snprintf(have, sizeof have, "%zu", names->count);
        (void)snprintf(want, sizeof want, "%u", count);
        return error_raise_at(err, STATUS_ASSIGNMENT_ARITY_MISMATCH, position, position_end,
                              "numExpr", have, "numTarget", want, NULL);
    }
    struct scope *scope = arena_new_object(analyzer->arena, sizeof *scope);
    scope->columns = arena_new_object(analyzer->arena, (count + 1) * sizeof *scope->columns);
    scope->outer = from->outer;
    const char *qualifier =
        alias != NULL && alias->text.data != NULL ? name_text(analyzer, alias) : NULL;
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->columns[i].qualified_only)
            continue;
        struct scope_column *column = &scope->columns[scope->count];
        *column = from->columns[i];
        if (names != NULL && names->count > 0)
            column->name = name_text(analyzer, &names->items[scope->count]);
        if (qualifier != NULL)
            column->qualifier = qualifier;
        scope->count++;
    }
    scope_concat_hidden(analyzer, scope, from, NULL);
    for (uint32_t i = 0; qualifier != NULL && i < scope->hidden_count; i++)
        scope->hidden[i].qualifier = qualifier;
    relation->scope = scope;
    return OK;
}

struct scope_column *scope_find(const struct analyzer *analyzer, const struct scope *scope,
                                const char *name)
{
    struct scope_column *found = NULL;
    for (uint32_t i = 0; i < scope->count; i++) {
        struct scope_column *column = &scope->columns[i];
        if (column->qualified_only || !name_equal(analyzer, column->name, name))
            continue;
        if (found != NULL)
            return NULL;
        found = column;
    }
    return found;
}

/* ---- suggestions ---- */

struct candidate {
    const char *text;
    const char *name; /* breaks ties, then the place in the scope does */
    uint32_t distance;
    uint32_t index;
};

static uint32_t edit_distance(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    uint32_t row[256];
    if (length_b >= sizeof row / sizeof row[0])
        return (uint32_t)(length_a + length_b);
    for (size_t j = 0; j <= length_b; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 1; i <= length_a; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= length_b; j++) {
            uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[length_b];
}

static int candidate_order(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->distance != right->distance)
        return left->distance < right->distance ? -1 : 1;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Spark leaves the qualifier out when it is the same for all and the name has none. */
static bool qualifiers_differ(const struct scope *scope)
{
    const char *first = NULL;
    bool seen = false;
    for (uint32_t i = 0; i < scope->count; i++) {
        const char *qualifier = scope->columns[i].qualifier;
        if (!seen) {
            first = qualifier;
            seen = true;
        } else if ((qualifier == NULL) != (first == NULL) ||
                   (qualifier != NULL && strcmp(qualifier, first) != 0)) {
            return true;
        }
    }
    return false;
}

/* Backquotes where the name would not be read back without them. */
static const char *quote_if_needed(struct analyzer *analyzer, const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (*c != '.' && *c != '_' && !(*c >= '0' && *c <= '9') && !(*c >= 'a' && *c <= 'z') &&
            !(*c >= 'A' && *c <= 'Z'))
            return text_quoted(analyzer, name);
    return name;
}

/* As a suggestion of a name with or without a qualifier. */
static const char *column_text(struct analyzer *analyzer, const struct scope_column *column,
                               bool qualified)
{
    const char *text = text_quoted(analyzer, column->name);
    if (qualified && column->qualifier != NULL)
        text =
            arena_sprintf(analyzer->arena, "%s.%s", text_quoted(analyzer, column->qualifier), text);
    return text;
}

const char *scope_suggestions(struct analyzer *analyzer, const struct scope *scope,
                              const char *plain, uint32_t part_count)
{
    bool by_place = scope->suggest_by_place;
    plain = quote_if_needed(analyzer, plain);
    bool qualified = part_count > 1 || qualifiers_differ(scope);
    struct candidate *candidates =
        arena_new_object(analyzer->arena, (scope->count + 1) * sizeof *candidates);
    uint32_t count = 0;
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        if (column->qualified_only)
            continue;
        const char *text = column_text(analyzer, column, qualified);
        candidates[count].text = text;
        candidates[count].name = by_place ? "" : column->name;
        candidates[count].index = i;
        candidates[count++].distance = edit_distance(plain, text);
    }
    qsort(candidates, count, sizeof *candidates, candidate_order);
    struct buffer buffer = {0};
    for (uint32_t i = 0; i < count && i < 5; i++) {
        if (i > 0)
            buffer_add_text(&buffer, ", ");
        buffer_add_text(&buffer, candidates[i].text);
    }
    const char *text = arena_strdup(analyzer->arena, buffer_text(&buffer));
    buffer_fini(&buffer);
    return text;
}

/* Spark's five suggestions are the nearest with their quotes and qualifiers, among which `id` is
 * far from ID2: the name that is meant is said first, though the parameter does not have it. */
static void say_nearest(struct resolver *resolver, const char *plain, uint32_t part_count,
                        struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct scope *scope = resolver->scope;
    const char **names = arena_new_object(analyzer->arena, (scope->count + 1) * sizeof *names);
    const char *dot = strrchr(plain, '.');
    size_t count = 0;
    for (uint32_t i = 0; i < scope->count; i++)
        if (!scope->columns[i].qualified_only)
            names[count++] = scope->columns[i].name;
    const char *nearest = nearest_name(dot == NULL ? plain : dot + 1, names, count);
    uint32_t at = 0;
    while (nearest != NULL &&
           (scope->columns[at].qualified_only || strcmp(scope->columns[at].name, nearest) != 0))
        at++;
    const char *quoted = error_param(err, "objectName"), *proposal = error_param(err, "proposal");
    if (nearest == NULL || quoted == NULL || proposal == NULL)
        return;
    const char *text =
        column_text(analyzer, &scope->columns[at], part_count > 1 || qualifiers_differ(scope));
    if (strstr(proposal, text) == NULL)
        (void)snprintf(err->text, sizeof err->text,
                       "Column %.300s cannot be resolved. Did you mean one of: %.200s, %.400s?",
                       quoted, text, proposal);
}

/* A name that the list gives is no misspelling: the suggestions would lead away from it. */
static bool say_later(const struct resolver *resolver, const char *plain, struct error *err)
{
    const struct ast_item_list *later = resolver->later;
    for (size_t i = 0; later != NULL && i < later->count; i++) {
        const struct ast_name_list *names = &later->items[i].aliases;
        if (names->count != 1 ||
            !name_equal(resolver->analyzer, plain, name_text(resolver->analyzer, &names->items[0])))
            continue;
        (void)snprintf(err->text, sizeof err->text,
                       "Column %.300s cannot be resolved: %.300s is a name that the SELECT list "
                       "gives, and WHERE is computed before the list. Write its expression in its "
                       "place; if that is an aggregate, the condition belongs into HAVING",
                       error_param(err, "objectName"), plain);
        return true;
    }
    return false;
}

enum status raise_unresolved_column(struct resolver *resolver, const char *quoted,
                                    const char *plain, uint32_t part_count, int position,
                                    int position_end, struct error *err)
{
    if (resolver->lambdas != NULL && resolver->select_position_end > 0) {
        position = resolver->select_position;
        position_end = resolver->select_position_end;
    }
    const char *proposal =
        scope_suggestions(resolver->analyzer, resolver->scope, plain, part_count);
    if (proposal[0] == '\0')
        (void)error_raise_at(err, STATUS_UNRESOLVED_COLUMN__WITHOUT_SUGGESTION, position,
                             position_end, "objectName", quoted, NULL);
    else
        (void)error_raise_at(err, STATUS_UNRESOLVED_COLUMN__WITH_SUGGESTION, position, position_end,
                             "objectName", quoted, "proposal", proposal, NULL);
    if (!say_later(resolver, plain, err) && proposal[0] != '\0')
        say_nearest(resolver, plain, part_count, err);
    return err->status;
}

/* ---- fields ---- */

static enum status raise_field_not_found(struct analyzer *analyzer, const struct type *type,
                                         const char *name, int position, int position_end,
                                         struct error *err)
{
    struct buffer buffer = {0};
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (i > 0)
            buffer_add_text(&buffer, ", ");
        buffer_add_text(&buffer, text_quoted(analyzer, type->fields[i].name));
    }
    error_raise_at(err, STATUS_FIELD_NOT_FOUND, position, position_end, "fieldName",
                   text_quoted(analyzer, name), "fields", buffer_text(&buffer), NULL);
    buffer_fini(&buffer);
    return err->status;
}

static enum status find_struct_field(struct analyzer *analyzer, const struct type *type,
                                     const char *name, int position, int position_end,
                                     struct error *err)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        found += name_equal(analyzer, type->fields[i].name, name);
    if (found == 0)
        return raise_field_not_found(analyzer, type, name, position, position_end, err);
    if (found > 1) {
        char count[16];
        (void)snprintf(count, sizeof count, "%u", found);
        return error_raise_at(err, STATUS_AMBIGUOUS_REFERENCE_TO_FIELDS, position, position_end,
                              "field", text_quoted(analyzer, name), "count", count, NULL);
    }
    return OK;
}

enum status resolve_field(struct resolver *resolver, struct expr *base, const char *name,
                          int position, int position_end, struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    const struct type *type = base->type;
    const struct type *holder = type->id == TYPE_ARRAY ? type->element : type;
    if (holder->id == TYPE_STRUCT)
        TRY(find_struct_field(analyzer, holder, name, position, position_end, err));
    else if (type->id != TYPE_MAP && type->id != TYPE_ARRAY)
        return error_raise_at(err, STATUS_INVALID_EXTRACT_BASE_FIELD_TYPE, position, position_end,
                              "base", expr_sql(analyzer, base), "other",
                              type_quoted(analyzer, type), NULL);
    struct vector *value;
    TRY(vector_new(analyzer->arena, type_simple(TYPE_STRING), 1, &value, err));
    value->constant = true;
    VECTOR_VALUES(struct bytes, value)[0] = bytes_of_text(name);
    struct expr *args[] = {base, expr_literal(analyzer->arena, value)};
    return resolve_function(resolver, "[]", args, 2, position, position_end, out, err);
}

/* ---- references ---- */

struct match {
    struct scope_column *column;
    uint32_t used; /* parts of the path that named it */
    uint32_t count;
    const char *names[8]; /* of the candidates, for AMBIGUOUS_REFERENCE */
};

static void match_add(struct analyzer *analyzer, struct match *match, struct scope_column *column,
                      const char *written, uint32_t used)
{
    match->used = used;
    if (match->count > 0 && match->column->attribute->id == column->attribute->id)
        return;
    const char *name = text_quoted(analyzer, written);
    if (column->qualifier != NULL)
        name =
            arena_sprintf(analyzer->arena, "%s.%s", text_quoted(analyzer, column->qualifier), name);
    if (match->count < sizeof match->names / sizeof match->names[0])
        match->names[match->count] = name;
    match->count++;
    match->column = column;
}

static void match_qualified(struct analyzer *analyzer, struct scope_column *columns,
                            uint32_t column_count, const char *const *parts, struct match *match)
{
    for (uint32_t i = 0; i < column_count; i++) {
        struct scope_column *column = &columns[i];
        if (column->qualifier == NULL || !name_equal(analyzer, column->qualifier, parts[0]) ||
            !name_equal(analyzer, column->name, parts[1]))
            continue;
        match_add(analyzer, match, column, parts[1], 2);
    }
}

static void match_plain(struct analyzer *analyzer, struct scope_column *columns,
                        uint32_t column_count, const char *const *parts, struct match *match)
{
    for (uint32_t i = 0; i < column_count; i++) {
        struct scope_column *column = &columns[i];
        if (column->qualified_only || !name_equal(analyzer, column->name, parts[0]))
            continue;
        match_add(analyzer, match, column, parts[0], 1);
    }
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum status raise_ambiguous(struct analyzer *analyzer, struct match *match,
                                   const char *const *parts, int position, int position_end,
                                   struct error *err)
{
    uint32_t count = match->count < 8 ? match->count : 8;
    qsort(match->names, count, sizeof match->names[0], text_order);
    struct buffer buffer = {0};
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&buffer, "%s%s", i == 0 ? "[" : ", ", match->names[i]);
    buffer_add_byte(&buffer, ']');
    const char *name = text_quoted(analyzer, parts[0]);
    if (match->used == 2)
        name = arena_sprintf(analyzer->arena, "%s.%s", name, text_quoted(analyzer, parts[1]));
    error_raise_at(err, STATUS_AMBIGUOUS_REFERENCE, position, position_end, "name", name,
                   "referenceNames", buffer_text(&buffer), NULL);
    buffer_fini(&buffer);
    return err->status;
}

static void match_scope(struct analyzer *analyzer, const struct scope *scope,
                        const char *const *parts, uint32_t count, struct match *match)
{
    memset(match, 0, sizeof *match);
    if (count > 1)
        match_qualified(analyzer, scope->columns, scope->count, parts, match);
    if (match->count == 0)
        match_plain(analyzer, scope->columns, scope->count, parts, match);
    if (match->count == 0 && count > 1)
        match_qualified(analyzer, scope->hidden, scope->hidden_count, parts, match);
    if (match->count == 0)
        match_plain(analyzer, scope->hidden, scope->hidden_count, parts, match);
}

static struct expr *column_reference(struct resolver *resolver, const struct scope_column *column,
                                     const char *written, int position, int position_end)
{
    struct expr *expr = attribute_expr(resolver->analyzer->arena, column->attribute);
    expr->column.name = written;
    expr->column.qualifier = column->qualifier;
    expr->position = position;
    expr->position_end = position_end;
    return expr;
}

static const char *literal_function(const char *name)
{
    static const char *const names[] = {
        "current_date",    "current_timestamp", "current_user", "user",        "session_user",
        "current_catalog", "current_database",  "current_time", "grouping__id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i], name) == 0)
            return names[i];
    return NULL;
}

static enum status take_alias(struct resolver *resolver, const char *name, int position,
                              int position_end, struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    struct lateral_alias *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < resolver->alias_count; i++) {
        if (!name_equal(analyzer, resolver->aliases[i].name, name))
            continue;
        found = &resolver->aliases[i];
        count++;
    }
    if (count == 0)
        return OK;
    if (count > 1) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", count);
        return error_raise(err, STATUS_AMBIGUOUS_LATERAL_COLUMN_ALIAS, "name",
                           text_quoted(analyzer, name), "n", number, NULL);
    }
    if (resolver->in_aggregate || resolver->in_window) {
        const char *quoted = text_quoted(analyzer, name);
        enum status condition =
            resolver->in_window
                ? STATUS_UNSUPPORTED_FEATURE__LATERAL_COLUMN_ALIAS_IN_WINDOW
                : STATUS_UNSUPPORTED_FEATURE__LATERAL_COLUMN_ALIAS_IN_AGGREGATE_FUNC;
        return error_raise(err, condition, "lca", quoted, NULL);
    }
    resolver->used_alias = true;
    *out = expr_column(analyzer->arena, found->id,
                       arena_sprintf(analyzer->arena, "lateralAliasReference(%s)", name),
                       found->expr->type, found->expr->nullable);
    (*out)->position = position;
    (*out)->position_end = position_end;
    return OK;
}

static struct expr *lambda_variable(struct resolver *resolver, const char *name)
{
    for (struct lambda_scope *scope = resolver->lambdas; scope != NULL; scope = scope->outer) {
        for (uint32_t i = 0; i < scope->count; i++) {
            if (!name_equal(resolver->analyzer, scope->names[i], name))
                continue;
            struct expr *expr = arena_new_object(resolver->analyzer->arena, sizeof *expr);
            expr->kind = EXPR_LAMBDA_VARIABLE;
            expr->type = scope->types[i];
            expr->nullable = scope->nullable[i];
            expr->position = expr->position_end = -1;
            expr->variable.id = scope->ids[i];
            expr->variable.name = scope->names[i];
            return expr;
        }
    }
    return NULL;
}

static enum status take_outer(struct resolver *resolver, const char *const *parts, uint32_t count,
                              int position, int position_end, struct expr **out, uint32_t *used,
                              struct error *err)
{
    struct scope *outer = resolver->scope->outer;
    if (outer == NULL)
        return OK;
    struct match match;
    match_scope(resolver->analyzer, outer, parts, count, &match);
    if (match.count == 0)
        return OK;
    if (match.count > 1)
        return raise_ambiguous(resolver->analyzer, &match, parts, position, position_end, err);
    struct expr *inner =
        column_reference(resolver, match.column, parts[match.used - 1], position, position_end);
    if (resolver->outer_refs != NULL)
        expr_list_add(resolver->analyzer->arena, resolver->outer_refs, inner);
    *out = expr_copy(resolver->analyzer->arena, inner);
    (*out)->kind = EXPR_OUTER;
    *used = match.used;
    return OK;
}

static enum status find_base(struct resolver *resolver, const char *const *parts, uint32_t count,
                             int position, int position_end, struct expr **base, uint32_t *used,
                             struct error *err)
{
    *used = 1;
    *base = lambda_variable(resolver, parts[0]);
    if (*base != NULL)
        return OK;
    struct match match;
    match_scope(resolver->analyzer, resolver->scope, parts, count, &match);
    if (match.count > 1)
        return raise_ambiguous(resolver->analyzer, &match, parts, position, position_end, err);
    if (match.count == 1) {
        *used = match.used;
        *base =
            column_reference(resolver, match.column, parts[match.used - 1], position, position_end);
        return OK;
    }
    const char *function = count == 1 ? literal_function(parts[0]) : NULL;
    if (function != NULL && function_find(function) != NULL)
        return resolve_function(resolver, function, NULL, 0, position, position_end, base, err);
    TRY(take_alias(resolver, parts[0], position, position_end, base, err));
    if (*base != NULL)
        return OK;
    return take_outer(resolver, parts, count, position, position_end, base, used, err);
}

enum status scope_resolve(struct resolver *resolver, const struct ast_path *path, int position,
                          int position_end, struct expr **out, struct error *err)
{
    struct analyzer *analyzer = resolver->analyzer;
    uint32_t count = (uint32_t)path->count;
    const char **parts = arena_new_object(analyzer->arena, (count + 1) * sizeof *parts);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = name_text(analyzer, &path->parts[i]);

    struct expr *base = NULL;
    uint32_t used = 0;
    TRY(find_base(resolver, parts, count, position, position_end, &base, &used, err));
    if (base == NULL) {
        struct buffer plain = {0};
        for (uint32_t i = 0; i < count; i++)
            buffer_printf(&plain, "%s%s", i > 0 ? "." : "", parts[i]);
        const char *text = arena_strdup(analyzer->arena, buffer_text(&plain));
        buffer_fini(&plain);
        return raise_unresolved_column(resolver, path_quoted(analyzer, path), text, count, position,
                                       position_end, err);
    }
    for (uint32_t i = used; i < count; i++)
        TRY(resolve_field(resolver, base, parts[i], position, position_end, &base, err));
    *out = base;
    return OK;
}
