/*
 * Names and texts as messages show them, and the small makers of the analyser.
 */
#include "analyze/analyzer.h"
#include "base/check.h"

#include <strings.h>

const char *name_text(struct analyzer *analyzer, const struct ast_name *name)
{
    return arena_strndup(analyzer->arena, name->text.data, name->text.size_bytes);
}

bool name_equal(const struct analyzer *analyzer, const char *a, const char *b)
{
    return analyzer->case_sensitive ? strcmp(a, b) == 0 : strcasecmp(a, b) == 0;
}

static void add_quoted(struct buffer *out, const char *text, size_t size)
{
    buffer_add_byte(out, '`');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '`')
            buffer_add_byte(out, '`');
        buffer_add_byte(out, (uint8_t)text[i]);
    }
    buffer_add_byte(out, '`');
}

static const char *take_text(struct analyzer *analyzer, struct buffer *buffer)
{
    const char *text = arena_strndup(analyzer->arena, buffer->data, buffer->size_bytes);
    buffer_fini(buffer);
    return text;
}

const char *path_quoted(struct analyzer *analyzer, const struct ast_path *path)
{
    struct buffer buffer = {0};
    for (size_t i = 0; i < path->count; i++) {
        if (i > 0)
            buffer_add_byte(&buffer, '.');
        add_quoted(&buffer, (const char *)path->parts[i].text.data, path->parts[i].text.size_bytes);
    }
    return take_text(analyzer, &buffer);
}

const char *text_quoted(struct analyzer *analyzer, const char *name)
{
    struct buffer buffer = {0};
    add_quoted(&buffer, name, strlen(name));
    return take_text(analyzer, &buffer);
}

const char *expr_sql(struct analyzer *analyzer, const struct expr *expr)
{
    struct buffer buffer = {0};
    buffer_add_byte(&buffer, '"');
    expr_print_sql(&buffer, expr);
    buffer_add_byte(&buffer, '"');
    return take_text(analyzer, &buffer);
}

const char *expr_name(struct analyzer *analyzer, const struct expr *expr)
{
    struct buffer buffer = {0};
    expr_print_name(&buffer, expr);
    return take_text(analyzer, &buffer);
}

const char *type_quoted(struct analyzer *analyzer, const struct type *type)
{
    return arena_sprintf(analyzer->arena, "\"%s\"", type_sql(analyzer->arena, type));
}

static struct expr *qualify(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arg;
    if (expr->kind != EXPR_COLUMN && expr->kind != EXPR_OUTER)
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    const char *name = copy->column.name;
    if (copy->column.qualifier != NULL)
        name = arena_sprintf(arena, "%s.%s", copy->column.qualifier, name);
    if (expr->kind == EXPR_OUTER)
        name = arena_sprintf(arena, "outer(%s)", name);
    copy->kind = EXPR_COLUMN;
    copy->column.name = name;
    return copy;
}

const char *expr_qualified(struct analyzer *analyzer, const struct expr *expr)
{
    struct expr *copy = expr_copy(analyzer->arena, expr);
    return expr_name(analyzer, expr_rewrite(analyzer->arena, copy, qualify, NULL));
}

static struct expr *mark(struct arena *arena, struct expr *expr, void *arg)
{
    (void)arg;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    struct expr *copy = expr_copy(arena, expr);
    copy->column.name = arena_sprintf(arena, "%s#", expr->column.name);
    return copy;
}

const char *expr_with_marks(struct analyzer *analyzer, const struct expr *expr)
{
    struct expr *copy = expr_copy(analyzer->arena, expr);
    return expr_name(analyzer, expr_rewrite(analyzer->arena, copy, mark, NULL));
}

int text_next(const struct analyzer *analyzer, int position)
{
    const struct bytes *text = &analyzer->text;
    if (position < 0)
        return position;
    size_t at = (size_t)position;
    while (at < text->size_bytes && (text->data[at] <= ' ' || text->data[at] == ')'))
        at++;
    return at < text->size_bytes ? (int)at : position;
}

const char *ordinal_word(uint32_t index)
{
    static const char *const words[] = {"first",   "second", "third", "fourth", "fifth",   "sixth",
                                        "seventh", "eighth", "ninth", "tenth",  "eleventh"};
    return index < sizeof words / sizeof words[0] ? words[index] : "later";
}

void expr_list_add(struct arena *arena, struct expr_list *list, struct expr *expr)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        struct expr **items = arena_new_object(arena, capacity * sizeof(struct expr *));
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(struct expr *));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = expr;
}

struct logical_node *analyzer_node(struct analyzer *analyzer, struct logical_node *node,
                                   int position, int position_end)
{
    node->position = position;
    node->position_end = position_end;
    node->view = analyzer->view;
    return node;
}

struct attribute *analyzer_attribute(struct analyzer *analyzer, const char *name,
                                     const struct type *type, bool nullable)
{
    return attribute_new(analyzer->arena, analyzer->next_id++, name, type, nullable);
}

void analyzer_name_expr(struct analyzer *analyzer, const struct expr *expr, const char *name)
{
    struct named_expr *named = arena_new_object(analyzer->arena, sizeof *named);
    named->expr = expr;
    named->name = name;
    named->next = analyzer->named;
    analyzer->named = named;
}

const char *analyzer_expr_name(const struct analyzer *analyzer, const struct expr *expr)
{
    for (const struct named_expr *named = analyzer->named; named != NULL; named = named->next)
        if (named->expr == expr)
            return named->name;
    return NULL;
}

struct presence {
    bool aggregate, window, generator;
};

static void find_presence(const struct expr *expr, struct presence *presence, bool is_window_call)
{
    if (expr->kind == EXPR_AGGREGATE && !is_window_call)
        presence->aggregate = true;
    if (expr->kind == EXPR_WINDOW)
        presence->window = true;
    if (expr->kind == EXPR_GENERATOR)
        presence->generator = true;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        find_presence(expr->args[i], presence, expr->kind == EXPR_WINDOW && i == 0);
    if (expr->kind == EXPR_AGGREGATE && expr->aggregate.filter != NULL)
        find_presence(expr->aggregate.filter, presence, false);
    if (expr->kind == EXPR_WINDOW)
        for (uint32_t i = 0; i < expr->window.order_count; i++)
            find_presence(expr->window.order[i].expr, presence, false);
}

bool expr_has_aggregate(const struct expr *expr)
{
    struct presence presence = {0};
    find_presence(expr, &presence, false);
    return presence.aggregate;
}

bool expr_has_window(const struct expr *expr)
{
    struct presence presence = {0};
    find_presence(expr, &presence, false);
    return presence.window;
}

bool expr_has_generator(const struct expr *expr)
{
    struct presence presence = {0};
    find_presence(expr, &presence, false);
    return presence.generator;
}

static bool type_contains(const struct type *type, enum type_id id)
{
    if (type->id == id)
        return true;
    if (type->id == TYPE_ARRAY)
        return type_contains(type->element, id);
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++)
        if (type_contains(type->fields[i].type, id))
            return true;
    return false;
}

bool type_contains_map(const struct type *type)
{
    return type_contains(type, TYPE_MAP);
}

enum status check_set_column(struct analyzer *analyzer, const struct attribute *column,
                             const struct type *type, int position, int position_end,
                             struct error *err)
{
    bool map = type_contains(type, TYPE_MAP);
    if (!map && !type_contains(type, TYPE_VARIANT))
        return OK;
    enum status status = map ? STATUS_UNSUPPORTED_FEATURE__SET_OPERATION_ON_MAP_TYPE
                             : STATUS_UNSUPPORTED_FEATURE__SET_OPERATION_ON_VARIANT_TYPE;
    const char *name = text_quoted(analyzer, column->name);
    const char *shown = type_quoted(analyzer, type);
    if (position < 0)
        return error_raise(err, status, "colName", name, "dataType", shown, NULL);
    return error_raise_at(err, status, position, position_end, "colName", name, "dataType", shown,
                          NULL);
}

static void add_offenders(struct analyzer *analyzer, const struct expr *expr, struct buffer *out)
{
    if (expr->kind == EXPR_AGGREGATE || expr->kind == EXPR_WINDOW || expr->kind == EXPR_GENERATOR) {
        buffer_printf(out, "%s%s", out->size_bytes > 0 ? ", " : "", expr_sql(analyzer, expr));
        return;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++)
        add_offenders(analyzer, expr->args[i], out);
}

enum status raise_operator(struct analyzer *analyzer, const struct expr *expr, const char *name,
                           int position, int position_end, struct error *err)
{
    struct buffer list = {0};
    add_offenders(analyzer, expr, &list);
    error_raise_at(err, STATUS_UNSUPPORTED_EXPR_FOR_OPERATOR, position, position_end, "operator",
                   name, "invalidExprSqls", buffer_text(&list), NULL);
    buffer_fini(&list);
    return err->status;
}
