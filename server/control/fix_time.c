/*
 * See fix_time.h.
 */
#include "control/fix_time.h"

#include "analyze/check_chain.h"
#include "control/fix_name.h"

#include <string.h>
#include <strings.h>

struct tracing {
    struct arena *arena;
    const struct query_spec *spec;
    struct fix_time *time;
    size_t view;             /* index of the view whose text this is, SIZE_MAX: the query's own */
    const char *reader;      /* the text that reads it; NULL: it began here */
    const char *view_column; /* as the reader sees it */
};

/* ---- where a column comes from ---- */

static bool add_mark(struct tracing *tracing, const struct fix_mark *mark)
{
    struct fix_time *time = tracing->time;
    for (size_t i = 0; i < time->mark_count; i++)
        if (strcmp(time->marks[i].pointer, mark->pointer) == 0)
            return strcmp(time->marks[i].column, mark->column) == 0; /* it is read twice */
    if (time->mark_count == FIX_MARKS_MAX)
        return false;
    time->marks[time->mark_count++] = *mark;
    return true;
}

static bool mark_relation(struct tracing *tracing, const struct logical_node *node,
                          const struct attribute *attribute)
{
    static const char field[] = "/options";
    const struct relation_spec *spec = node->relation.spec;
    const char *options = spec->options.pointer;
    size_t size = options == NULL ? 0 : strlen(options);
    if (node->relation.is_table || attribute->hidden || spec->watermark.column != NULL ||
        size < sizeof field || strcmp(options + size - (sizeof field - 1), field) != 0)
        return false;
    const struct fix_mark mark = {
        .pointer = arena_sprintf(tracing->arena, "%.*s/watermark", (int)(size - (sizeof field - 1)),
                                 options),
        .column = fix_quote_name(tracing->arena, attribute->name),
        .relation = spec->name,
    };
    return add_mark(tracing, &mark);
}

/* A column that is computed: on the view that has it as a column of its own, or where its text is
 * read. */
static bool mark_view(struct tracing *tracing)
{
    if (tracing->view == SIZE_MAX || tracing->reader == NULL)
        return false;
    const struct view_spec *view = &tracing->spec->views[tracing->view];
    const struct fix_mark mark = {
        .pointer = arena_sprintf(tracing->arena, "/views/%zu/watermark", tracing->view),
        .column = tracing->view_column,
        .relation = view->name,
        .sql = view->from == NULL ? tracing->reader : NULL,
    };
    return view->watermark.column == NULL && add_mark(tracing, &mark);
}

static size_t view_of(const struct query_spec *spec, const struct logical_node *node)
{
    for (size_t i = 0; node->view != NULL && i < spec->view_count; i++)
        if (strcmp(spec->views[i].name, node->view) == 0)
            return i;
    return SIZE_MAX;
}

static void enter(struct tracing *tracing, const struct logical_node *node,
                  const struct attribute *attribute)
{
    const struct query_spec *spec = tracing->spec;
    size_t view = view_of(spec, node);
    if (view == SIZE_MAX || view == tracing->view)
        return;
    tracing->reader = tracing->view == SIZE_MAX ? spec->sql : spec->views[tracing->view].sql;
    tracing->view = view;
    tracing->view_column = fix_quote_name(tracing->arena, attribute->name);
}

static bool trace(struct tracing *tracing, const struct logical_node *node, uint32_t id);

static bool trace_expr(struct tracing *tracing, const struct logical_node *node,
                       const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN)
        return trace(tracing, node->children[0], expr->column.attribute_id);
    return expr->type->id == TYPE_TIMESTAMP && mark_view(tracing);
}

/* Each side of a union has a column of its own at the place. */
static bool trace_union(struct tracing *tracing, const struct logical_node *node, uint32_t ordinal)
{
    struct tracing outside = *tracing;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct logical_node *child = node->children[i];
        *tracing = outside;
        if (ordinal < child->output_count && child->output[ordinal]->event_time)
            continue; /* it has one */
        if (ordinal >= child->output_count || !trace(tracing, child, child->output[ordinal]->id))
            return false;
    }
    return tracing->time->mark_count > 0;
}

/* Adds the watermarks that column `id` of the node's output needs; false: none can stand on it. */
static bool trace(struct tracing *tracing, const struct logical_node *node, uint32_t id)
{
    uint32_t ordinal = 0;
    const struct attribute *attribute = logical_find_output(node, id, &ordinal);
    if (attribute == NULL || attribute->event_time || !node->streaming)
        return false;
    enter(tracing, node, attribute);
    switch ((int)node->kind) {
    case LOGICAL_RELATION:
        return mark_relation(tracing, node, attribute);
    case LOGICAL_PROJECT:
        return trace_expr(tracing, node, node->project.exprs[ordinal]);
    case LOGICAL_AGGREGATE:
        return ordinal < node->aggregate.key_count &&
               trace_expr(tracing, node, node->aggregate.keys[ordinal]);
    case LOGICAL_EXPAND:
        if (logical_find_output(node->children[0], id, NULL) != NULL)
            return trace(tracing, node->children[0], id);
        for (uint32_t i = 0; i < node->expand.projection_count; i++)
            if (node->expand.projections[i][ordinal]->kind == EXPR_COLUMN)
                return trace_expr(tracing, node, node->expand.projections[i][ordinal]);
        return false;
    case LOGICAL_TIME_WINDOW:
        if (ordinal + 1 == node->output_count)
            return trace_expr(tracing, node, node->time_window.time);
        return trace(tracing, node->children[0], id);
    case LOGICAL_SESSION:
        if (ordinal + 1 == node->output_count)
            return trace_expr(tracing, node, node->session.time);
        return trace(tracing, node->children[0], id);
    case LOGICAL_UNION:
        return trace_union(tracing, node, ordinal);
    default:
        for (uint32_t i = 0; i < node->child_count; i++)
            if (logical_find_output(node->children[i], id, NULL) != NULL)
                return trace(tracing, node->children[i], id);
        return false;
    }
}

/* ---- what there is ---- */

/* What the grouping reads: below the SELECT list of a DISTINCT. */
static const struct logical_node *input_of(const struct logical_node *aggregation)
{
    const struct logical_node *below = aggregation->children[0];
    return aggregation->kind == LOGICAL_DISTINCT && below->kind == LOGICAL_PROJECT
               ? below->children[0]
               : below;
}

/* How the query calls the relation that a column is of: by the qualifier of any column of it. */
struct calling {
    const struct logical_node *relation;
    const char *alias;
};

static bool see_column(const struct expr *expr, void *arg)
{
    struct calling *calling = arg;
    if (expr->kind == EXPR_COLUMN && expr->column.qualifier != NULL && calling->alias == NULL &&
        logical_find_output(calling->relation, expr->column.attribute_id, NULL) != NULL)
        calling->alias = expr->column.qualifier;
    return calling->alias == NULL;
}

static enum status see_expr(struct expr **slot, void *arg, struct error *err)
{
    (void)err;
    (void)expr_walk(*slot, see_column, arg);
    return OK;
}

static void find_alias(const struct logical_node *node, struct calling *calling)
{
    struct logical_node copy = *node;
    struct error ignored = ERROR_INIT;
    (void)!logical_each_expr(&copy, see_expr, calling, &ignored);
    for (uint32_t i = 0; i < node->child_count; i++)
        find_alias(node->children[i], calling);
}

static const struct logical_node *relation_of(const struct logical_node *node, uint32_t id)
{
    if (node->kind == LOGICAL_RELATION)
        return logical_find_output(node, id, NULL) == NULL ? NULL : node;
    const struct logical_node *found = NULL;
    for (uint32_t i = 0; found == NULL && i < node->child_count; i++)
        found = relation_of(node->children[i], id);
    return found;
}

/* With its relation where another column has the name, too. */
static const char *name_in(struct arena *arena, const struct logical_node *node,
                           const struct attribute *attribute)
{
    struct calling calling = {.relation = relation_of(node, attribute->id)};
    bool other = false;
    for (uint32_t i = 0; i < node->output_count; i++)
        other = other || (node->output[i] != attribute && !node->output[i]->hidden &&
                          strcasecmp(node->output[i]->name, attribute->name) == 0);
    if (other && calling.relation != NULL)
        find_alias(node, &calling);
    const char *of = calling.alias == NULL ? attribute->qualifier : calling.alias;
    const char *name = fix_quote_name(arena, attribute->name);
    return other && of != NULL ? arena_sprintf(arena, "%s.%s", fix_quote_name(arena, of), name)
                               : name;
}

static bool traced(struct arena *arena, const struct analysis *analysis,
                   const struct logical_node *node, uint32_t id, struct fix_time *out)
{
    const struct logical_node *top = topmost_aggregation(analysis->root);
    struct tracing tracing = {
        .arena = arena,
        .spec = analysis->spec,
        .time = out,
        .view = top == NULL ? SIZE_MAX : view_of(analysis->spec, top),
    };
    return trace(&tracing, node, id) && out->mark_count > 0;
}

size_t fix_times(struct arena *arena, const struct analysis *analysis, struct fix_time *out,
                 size_t room)
{
    const struct logical_node *top = topmost_aggregation(analysis->root);
    size_t count = 0;
    for (uint32_t i = 0; top != NULL && i < top->output_count && count < room; i++) {
        bool key = top->kind == LOGICAL_DISTINCT || i < top->aggregate.key_count;
        out[count] = (struct fix_time){.grouped = true, .name = top->output[i]->name};
        if (key && (top->output[i]->is_window || top->output[i]->type->id == TYPE_TIMESTAMP) &&
            traced(arena, analysis, top, top->output[i]->id, &out[count]))
            count++;
    }
    if (top == NULL || count > 0)
        return count;
    const struct logical_node *input = input_of(top);
    for (uint32_t i = 0; i < input->output_count && count < room; i++) {
        const struct attribute *attribute = input->output[i];
        out[count] = (struct fix_time){.name = name_in(arena, input, attribute)};
        if (attribute->type->id == TYPE_TIMESTAMP && !attribute->hidden &&
            traced(arena, analysis, input, attribute->id, &out[count]))
            count++;
    }
    return count;
}

size_t fix_keys(struct arena *arena, const struct analysis *analysis, const char **out, size_t room)
{
    const struct logical_node *top = topmost_aggregation(analysis->root);
    const struct logical_node *input = top == NULL ? NULL : input_of(top);
    size_t count = 0;
    for (uint32_t i = 0; input != NULL && i < input->output_count && count < room; i++) {
        const struct attribute *attribute = input->output[i];
        enum type_id type = attribute->type->id;
        if (!attribute->hidden && !attribute->is_window &&
            (type == TYPE_STRING || type == TYPE_LONG || type == TYPE_INT))
            out[count++] = name_in(arena, input, attribute);
    }
    return count;
}

/* ---- a time that is computed where it is grouped by ---- */

/* The window or session that the aggregation groups by. */
static const struct logical_node *window_below(const struct logical_node *node)
{
    while (node->kind == LOGICAL_EXPAND || node->kind == LOGICAL_FILTER)
        node = node->children[0];
    return node->kind == LOGICAL_TIME_WINDOW || node->kind == LOGICAL_SESSION ? node : NULL;
}

static bool is_no_column(const struct expr *expr, void *arg)
{
    (void)arg;
    return expr->kind != EXPR_COLUMN;
}

static bool reads_a_column(const struct expr *expr)
{
    return !expr_walk(expr, is_no_column, NULL);
}

bool fix_computed_time(const struct analysis *analysis, struct fix_computed *out)
{
    const struct logical_node *top = topmost_aggregation(analysis->root);
    const struct logical_node *window =
        top == NULL || top->kind != LOGICAL_AGGREGATE ? NULL : window_below(top->children[0]);
    if (window == NULL)
        return false;
    const struct expr *time =
        window->kind == LOGICAL_SESSION ? window->session.time : window->time_window.time;
    const struct logical_node *below = window->children[0];
    while (below->kind == LOGICAL_FILTER && view_of(analysis->spec, below) == SIZE_MAX)
        below = below->children[0];
    size_t view = view_of(analysis->spec, below);
    bool entered = view != SIZE_MAX && view != view_of(analysis->spec, top);
    if (time->kind == EXPR_COLUMN || time->position < 0 || !reads_a_column(time) ||
        !expr_is_deterministic(time) || (!entered && below->kind != LOGICAL_RELATION))
        return false;
    *out = (struct fix_computed){
        .from = (size_t)time->position,
        .to = (size_t)time->position_end,
        .relation = entered ? analysis->spec->views[view].name : below->relation.spec->name,
    };
    return true;
}
