#include "plan/physical.h"

#include "base/check.h"
#include "expr/coercion.h"
#include "plan/panes.h"

#include <stdio.h>
#include <string.h>

#define SLIDING_WINDOWS_MAX 10000
#define PANED_WINDOWS_MAX   100000000 /* 8 bytes each where the panes are kept */

struct maker {
    struct rewriter *rewriter;
    struct physical_plan *plan;
    const struct logical_node *paned; /* the time window whose rows are to come in panes */
    bool unbound;                     /* an expression refers to what its input does not deliver */
};

static enum status make(struct maker *maker, struct logical_node *node, struct plan_node **out,
                        struct error *err);

static struct plan_node *new_node(struct maker *maker, enum plan_kind kind,
                                  const struct logical_node *node, struct plan_node **children,
                                  uint32_t child_count)
{
    struct plan_node *made = arena_new_object(maker->rewriter->arena, sizeof *made);
    made->kind = kind;
    made->children = children;
    made->child_count = child_count;
    made->schema = logical_schema(maker->rewriter->arena, node);
    made->streaming = node->streaming;
    made->operator_id = -1;
    return made;
}

/* ---- binding ---- */

struct binding {
    struct maker *maker;
    const struct logical_node *inputs[2];
    uint32_t input_count;
};

static struct expr *bind_column(struct arena *arena, struct expr *expr, void *arg)
{
    const struct binding *binding = arg;
    if (expr->kind == EXPR_OUTER || expr->kind == EXPR_SUBQUERY)
        binding->maker->unbound = true;
    if (expr->kind != EXPR_COLUMN)
        return expr;
    uint32_t before = 0, ordinal;
    for (uint32_t i = 0; i < binding->input_count; i++) {
        const struct logical_node *input = binding->inputs[i];
        const struct attribute *found =
            logical_find_output(input, expr->column.attribute_id, &ordinal);
        if (found != NULL) {
            struct expr *copy = expr_copy(arena, expr);
            copy->column.ordinal = (int)(before + ordinal);
            copy->nullable = expr->nullable || found->nullable;
            return copy;
        }
        before += input->output_count;
    }
    binding->maker->unbound = true;
    return expr;
}

static struct expr *bind(struct maker *maker, struct expr *expr, const struct logical_node *input)
{
    struct binding binding = {.maker = maker, .inputs = {input}, .input_count = 1};
    return expr_rewrite(maker->rewriter->arena, expr, bind_column, &binding);
}

static struct expr **bind_all(struct maker *maker, struct expr *const *exprs, uint32_t count,
                              const struct logical_node *input)
{
    struct expr **bound =
        arena_new_object(maker->rewriter->arena, (count + 1) * sizeof(struct expr *));
    for (uint32_t i = 0; i < count; i++)
        bound[i] = bind(maker, exprs[i], input);
    return bound;
}

static struct sort_key *bind_keys(struct maker *maker, const struct sort_key *keys, uint32_t count,
                                  const struct logical_node *input)
{
    struct sort_key *bound = arena_new_object(maker->rewriter->arena, (count + 1) * sizeof *bound);
    for (uint32_t i = 0; i < count; i++) {
        bound[i] = keys[i];
        bound[i].expr = bind(maker, keys[i].expr, input);
    }
    return bound;
}

/* ---- leaves ---- */

static enum status make_scan(struct maker *maker, struct logical_node *node, struct plan_node **out,
                             struct error *err)
{
    (void)err;
    struct plan_node *scan = new_node(maker, PLAN_SCAN, node, NULL, 0);
    const struct type *schema = node->relation.schema;
    scan->scan.relation = node->relation.ordinal;
    scan->scan.column_count = node->output_count;
    scan->scan.columns =
        arena_new_object(maker->rewriter->arena, (node->output_count + 1) * sizeof(uint32_t));
    uint32_t at = 0;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct attribute *column = node->output[i];
        while (at < schema->field_count &&
               (column->hidden || strcmp(schema->fields[at].name, column->name) != 0))
            at++;
        CHECK(at < schema->field_count || column->hidden);
        const struct type *whole =
            column->hidden ? node->relation.metadata : schema->fields[at].type;
        scan->scan.narrowed = scan->scan.narrowed || !type_equal(whole, column->type);
        scan->scan.columns[i] = at++;
    }
    *out = scan;
    return OK;
}

static enum status make_values(struct maker *maker, struct logical_node *node,
                               struct plan_node **out, struct error *err)
{
    (void)err;
    struct plan_node *values = new_node(maker, PLAN_VALUES, node, NULL, 0);
    values->values.cells = node->values.cells;
    values->values.row_count = node->values.row_count;
    *out = values;
    return OK;
}

/* ---- one child ---- */

static enum status make_over(struct maker *maker, struct logical_node *node, enum plan_kind kind,
                             struct plan_node **out, struct error *err)
{
    struct plan_node **children =
        arena_new_object(maker->rewriter->arena, sizeof(struct plan_node *));
    TRY(make(maker, node->children[0], &children[0], err));
    *out = new_node(maker, kind, node, children, 1);
    return OK;
}

/* The rows of sliding windows right below an aggregation that knows no order. */
static void release_order(struct plan_node *node)
{
    while (node->kind == PLAN_PROJECT || node->kind == PLAN_FILTER)
        node = node->children[0];
    if (node->kind == PLAN_EXPAND)
        node->expand.any_order = node->streaming;
}

static enum status make_aggregate(struct maker *maker, struct logical_node *node,
                                  struct plan_node **out, struct error *err)
{
    const struct logical_node *child = node->children[0];
    uint32_t pane_key = 0;
    bool whole = maker->rewriter->analysis->whole_windows;
    const struct logical_node *paned = whole ? NULL : panes_below(node, &pane_key);
    maker->paned = paned;
    TRY(make_over(maker, node, PLAN_AGGREGATE, out, err));
    maker->paned = NULL;
    struct plan_node *made = *out;
    made->aggregate.event_time_key = -1;
    made->aggregate.pane_key = paned == NULL ? -1 : (int)pane_key;
    if (paned != NULL) {
        made->aggregate.window_size_us = paned->time_window.size_us;
        made->aggregate.window_slide_us = paned->time_window.slide_us;
        made->aggregate.window_start_us = paned->time_window.start_us;
    }
    if (node->kind == LOGICAL_DISTINCT) {
        struct expr **keys = arena_new_object(maker->rewriter->arena,
                                              (node->output_count + 1) * sizeof(struct expr *));
        for (uint32_t i = 0; i < node->output_count; i++)
            keys[i] = bind(maker, attribute_expr(maker->rewriter->arena, child->output[i]), child);
        made->aggregate.keys = keys;
        made->aggregate.key_count = node->output_count;
        made->aggregate.aggregates =
            arena_new_object(maker->rewriter->arena, sizeof(struct expr *));
    } else {
        made->aggregate.keys =
            bind_all(maker, node->aggregate.keys, node->aggregate.key_count, child);
        made->aggregate.key_count = node->aggregate.key_count;
        made->aggregate.aggregates =
            bind_all(maker, node->aggregate.aggregates, node->aggregate.aggregate_count, child);
        made->aggregate.aggregate_count = node->aggregate.aggregate_count;
    }
    made->aggregate.exact =
        aggregates_are_exact(made->aggregate.aggregates, made->aggregate.aggregate_count);
    if (made->aggregate.exact)
        release_order(made->children[0]);
    for (uint32_t i = made->aggregate.key_count; node->streaming && i-- > 0;)
        if (node->output[i]->event_time)
            made->aggregate.event_time_key = (int)i;
    return OK;
}

static enum status make_dedup(struct maker *maker, struct logical_node *node,
                              struct plan_node **out, struct error *err)
{
    TRY(make_over(maker, node, PLAN_DEDUP, out, err));
    struct plan_node *made = *out;
    made->dedup.columns = node->dedup.columns;
    made->dedup.column_count = node->dedup.column_count;
    made->dedup.within_watermark = node->dedup.within_watermark;
    made->dedup.event_time_column = -1;
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (!node->output[i]->event_time)
            continue;
        bool key = node->dedup.within_watermark;
        for (uint32_t j = 0; j < node->dedup.column_count; j++)
            key = key || node->dedup.columns[j] == i;
        if (key && made->dedup.event_time_column < 0)
            made->dedup.event_time_column = (int)i;
    }
    return OK;
}

static enum status make_expand(struct maker *maker, struct logical_node *node,
                               struct plan_node **out, struct error *err)
{
    TRY(make_over(maker, node, PLAN_EXPAND, out, err));
    uint32_t count = node->expand.projection_count;
    (*out)->expand.projection_count = count;
    (*out)->expand.projections =
        arena_new_object(maker->rewriter->arena, (count + 1) * sizeof(struct expr **));
    for (uint32_t i = 0; i < count; i++)
        (*out)->expand.projections[i] =
            bind_all(maker, node->expand.projections[i], node->output_count, node->children[0]);
    return OK;
}

/* ---- time windows ---- */

static enum status window_filter(struct rewriter *rewriter, struct logical_node *child,
                                 struct expr *predicate, struct logical_node **out)
{
    *out = logical_filter(rewriter->arena, child, predicate);
    return OK;
}

/* Rows of window i whose end is not after the time are none. */
static enum status window_bound(struct rewriter *rewriter, const struct logical_node *node,
                                struct logical_node *expand, struct logical_node **out,
                                struct error *err)
{
    const struct attribute *window = node->output[node->output_count - 1];
    struct expr *end, *inside;
    struct expr *name = expr_literal_string(rewriter->arena, bytes_of_text("end"));
    TRY(function_resolve_2(&rewriter->functions, "[]", attribute_expr(rewriter->arena, window),
                           name, &end, err));
    TRY(function_resolve_2(&rewriter->functions, "<", node->time_window.time, end, &inside, err));
    return window_filter(rewriter, expand, inside, out);
}

static enum status too_many_windows(const struct logical_node *node, bool paned, struct error *err)
{
    error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                paned ? "the sliding windows around one row"
                      : "the sliding windows around one row, where they are not kept as panes "
                        "(collect_list and others that keep values or their order, sums of "
                        "DOUBLE, grouping sets, bounded runs),",
                "limit", paned ? "100000000" : "10000", NULL);
    err->position = node->time_window.time->position;
    err->position_end = node->time_window.time->position_end;
    (void)snprintf(err->view, sizeof err->view, "%s", node->view == NULL ? "" : node->view);
    return err->status;
}

static enum status make_time_window(struct maker *maker, struct logical_node *node,
                                    struct plan_node **out, struct error *err)
{
    struct rewriter *rewriter = maker->rewriter;
    struct arena *arena = rewriter->arena;
    int64_t spec[3] = {node->time_window.size_us, node->time_window.slide_us,
                       node->time_window.start_us};
    bool paned = node == maker->paned;
    int64_t count = spec[0] / spec[1] + (spec[0] % spec[1] != 0 ? 1 : 0);
    if (count > (paned ? PANED_WINDOWS_MAX : SLIDING_WINDOWS_MAX))
        return too_many_windows(node, paned, err);
    struct expr *known;
    TRY(function_resolve_1(&rewriter->functions, "isnotnull", node->time_window.time, &known, err));
    struct logical_node *input;
    TRY(window_filter(rewriter, node->children[0], known, &input));
    uint32_t below = node->output_count - 1;
    if (paned)
        count = 1;
    struct expr ***projections = arena_new_object(arena, ((size_t)count + 1) * sizeof(void *));
    for (uint32_t i = 0; i < count; i++) {
        projections[i] = arena_new_object(arena, (below + 2) * sizeof(struct expr *));
        for (uint32_t j = 0; j < below; j++)
            projections[i][j] = attribute_expr(arena, node->output[j]);
        const struct type *type = node->output[below]->type;
        projections[i][below] =
            paned ? time_pane_expr(rewriter, node->time_window.time, spec, type)
                  : time_window_expr(rewriter, node->time_window.time, spec, i, type);
        projections[i][below]->nullable = false;
    }
    struct logical_node *made;
    if (count == 1) {
        made = logical_project(arena, input, projections[0], node->output, node->output_count);
    } else {
        made = logical_over(arena, LOGICAL_EXPAND, input);
        made->output = node->output;
        made->output_count = node->output_count;
        made->expand.projections = projections;
        made->expand.projection_count = (uint32_t)count;
    }
    if (spec[0] % spec[1] != 0 && !paned)
        TRY(window_bound(rewriter, node, made, &made, err));
    return make(maker, made, out, err);
}

static enum status make_session(struct maker *maker, struct logical_node *node,
                                struct plan_node **out, struct error *err)
{
    TRY(make_over(maker, node, PLAN_SESSION, out, err));
    (*out)->session.event_time = bind(maker, node->session.time, node->children[0]);
    (*out)->session.gap = bind(maker, node->session.gap, node->children[0]);
    (*out)->session.keys =
        bind_all(maker, node->session.keys, node->session.key_count, node->children[0]);
    (*out)->session.key_count = node->session.key_count;
    return OK;
}

/* ---- joins ---- */

static bool has_columns(const struct expr *expr)
{
    return expr_has_kind(expr, EXPR_COLUMN);
}

static bool is_equality(const struct expr *expr, bool *null_safe)
{
    if (expr->kind != EXPR_CALL || expr->arg_count != 2)
        return false;
    *null_safe = strcmp(expr->call.function->name, "<=>") == 0;
    return *null_safe || strcmp(expr->call.function->name, "=") == 0;
}

struct join_parts {
    struct expr_set left, right, rest;
    bool null_safe[64];
};

static void take_join_part(struct maker *maker, const struct logical_node *node, struct expr *part,
                           struct join_parts *parts)
{
    struct arena *arena = maker->rewriter->arena;
    const struct logical_node *left = node->children[0], *right = node->children[1];
    bool null_safe = false;
    if (is_equality(part, &null_safe) && parts->left.count < 64 && expr_is_deterministic(part) &&
        has_columns(part->args[0]) && has_columns(part->args[1])) {
        struct expr *a = part->args[0], *b = part->args[1];
        if (!expr_covered(a, left) || !expr_covered(b, right)) {
            struct expr *swap = a;
            a = b;
            b = swap;
        }
        if (expr_covered(a, left) && expr_covered(b, right)) {
            parts->null_safe[parts->left.count] = null_safe;
            expr_set_add(arena, &parts->left, bind(maker, a, left));
            expr_set_add(arena, &parts->right, bind(maker, b, right));
            return;
        }
    }
    expr_set_add(arena, &parts->rest, part);
}

static enum join_kind join_kind_of(enum logical_join kind)
{
    switch (kind) {
    case LOGICAL_JOIN_INNER:
    case LOGICAL_JOIN_CROSS:
        return JOIN_INNER;
    case LOGICAL_JOIN_LEFT:
        return JOIN_LEFT;
    case LOGICAL_JOIN_RIGHT:
        return JOIN_RIGHT;
    case LOGICAL_JOIN_FULL:
        return JOIN_FULL;
    case LOGICAL_JOIN_LEFT_SEMI:
        return JOIN_LEFT_SEMI;
    case LOGICAL_JOIN_LEFT_ANTI:
        return JOIN_LEFT_ANTI;
    case LOGICAL_JOIN_SINGLE:
        return JOIN_SINGLE;
    case LOGICAL_JOIN_EXISTENCE:
        return JOIN_EXISTENCE;
    }
    return JOIN_INNER;
}

static enum status make_children(struct maker *maker, struct logical_node *node,
                                 struct plan_node ***out, struct error *err)
{
    struct plan_node **children = arena_new_object(
        maker->rewriter->arena, (node->child_count + 1) * sizeof(struct plan_node *));
    for (uint32_t i = 0; i < node->child_count; i++)
        TRY(make(maker, node->children[i], &children[i], err));
    *out = children;
    return OK;
}

static enum status make_join(struct maker *maker, struct logical_node *node, struct plan_node **out,
                             struct error *err)
{
    struct arena *arena = maker->rewriter->arena;
    struct plan_node **children;
    TRY(make_children(maker, node, &children, err));
    struct plan_node *join = new_node(maker, PLAN_JOIN, node, children, 2);
    struct expr_set conjuncts = {0};
    struct join_parts parts = {0};
    if (node->join.condition != NULL)
        split_conjuncts(arena, node->join.condition, &conjuncts);
    for (uint32_t i = 0; i < conjuncts.count; i++)
        take_join_part(maker, node, conjuncts.items[i], &parts);
    join->join.kind = join_kind_of(node->join.kind);
    join->join.left_keys = parts.left.items;
    join->join.right_keys = parts.right.items;
    join->join.key_count = parts.left.count;
    join->join.null_safe = arena_new_object(arena, parts.left.count + 1);
    memcpy(join->join.null_safe, parts.null_safe, parts.left.count);
    struct expr *rest = conjunction(maker->rewriter, parts.rest.items, parts.rest.count);
    if (rest != NULL) {
        struct binding binding = {
            .maker = maker, .inputs = {node->children[0], node->children[1]}, .input_count = 2};
        join->join.condition = expr_rewrite(arena, rest, bind_column, &binding);
    }
    *out = join;
    return OK;
}

/* ---- set operations ---- */

static void flatten_union(struct rewriter *rewriter, struct logical_node *node,
                          struct logical_node **list, uint32_t *count, uint32_t max)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (node->children[i]->kind == LOGICAL_UNION)
            flatten_union(rewriter, node->children[i], list, count, max);
        else if (*count < max)
            list[(*count)++] = node->children[i];
    }
}

static uint32_t union_width(const struct logical_node *node)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        width += node->children[i]->kind == LOGICAL_UNION ? union_width(node->children[i]) : 1;
    return width;
}

static enum status make_union(struct maker *maker, struct logical_node *node,
                              struct plan_node **out, struct error *err)
{
    uint32_t width = union_width(node), count = 0;
    struct logical_node flat = *node;
    flat.children =
        arena_new_object(maker->rewriter->arena, (width + 1) * sizeof(struct logical_node *));
    flatten_union(maker->rewriter, node, flat.children, &count, width);
    flat.child_count = count;
    struct plan_node **children;
    TRY(make_children(maker, &flat, &children, err));
    *out = new_node(maker, PLAN_UNION, node, children, count);
    return OK;
}

static enum status make_set_operation(struct maker *maker, struct logical_node *node,
                                      struct plan_node **out, struct error *err)
{
    struct plan_node **children;
    TRY(make_children(maker, node, &children, err));
    *out = new_node(maker, PLAN_SET_OPERATION, node, children, 2);
    bool all = node->set_operation.all;
    if (node->set_operation.is_intersect)
        (*out)->set_operation.operation = all ? SET_INTERSECT_ALL : SET_INTERSECT;
    else
        (*out)->set_operation.operation = all ? SET_EXCEPT_ALL : SET_EXCEPT;
    return OK;
}

/* ---- all kinds ---- */

static enum status make_simple(struct maker *maker, struct logical_node *node,
                               struct plan_node **out, struct error *err)
{
    const struct logical_node *child = node->children[0];
    switch (node->kind) {
    case LOGICAL_PROJECT:
        TRY(make_over(maker, node, PLAN_PROJECT, out, err));
        (*out)->project.exprs = bind_all(maker, node->project.exprs, node->output_count, child);
        return OK;
    case LOGICAL_FILTER:
        TRY(make_over(maker, node, PLAN_FILTER, out, err));
        (*out)->filter.predicate = bind(maker, node->filter.predicate, child);
        return OK;
    case LOGICAL_SORT:
        if (!node->sort.global && !node->streaming) /* SORT BY of a stream: as good as ORDER BY */
            return make(maker, node->children[0], out, err);
        TRY(make_over(maker, node, PLAN_SORT, out, err));
        (*out)->sort.keys = bind_keys(maker, node->sort.keys, node->sort.key_count, child);
        (*out)->sort.key_count = node->sort.key_count;
        return OK;
    case LOGICAL_LIMIT:
        TRY(make_over(maker, node, PLAN_LIMIT, out, err));
        (*out)->limit.limit = node->limit.limit;
        (*out)->limit.offset = node->limit.offset;
        return OK;
    case LOGICAL_WINDOW:
        TRY(make_over(maker, node, PLAN_WINDOW, out, err));
        (*out)->window.functions =
            bind_all(maker, node->window.functions, node->window.function_count, child);
        (*out)->window.function_count = node->window.function_count;
        return OK;
    case LOGICAL_GENERATE:
        TRY(make_over(maker, node, PLAN_GENERATE, out, err));
        (*out)->generate.generator = bind(maker, node->generate.generator, child);
        (*out)->generate.outer = node->generate.outer;
        return OK;
    case LOGICAL_WATERMARK:
        TRY(make_over(maker, node, PLAN_WATERMARK, out, err));
        (*out)->watermark.column = (int)node->watermark.column;
        (*out)->watermark.delay_us = node->watermark.delay_us;
        (*out)->watermark.watermark_id = node->watermark.watermark_id;
        return OK;
    default:
        return make(maker, node->children[0], out, err);
    }
}

static enum status make(struct maker *maker, struct logical_node *node, struct plan_node **out,
                        struct error *err)
{
    switch (node->kind) {
    case LOGICAL_RELATION:
        return make_scan(maker, node, out, err);
    case LOGICAL_VALUES:
        return make_values(maker, node, out, err);
    case LOGICAL_AGGREGATE:
    case LOGICAL_DISTINCT:
        return make_aggregate(maker, node, out, err);
    case LOGICAL_JOIN:
        return make_join(maker, node, out, err);
    case LOGICAL_UNION:
        return make_union(maker, node, out, err);
    case LOGICAL_SET_OPERATION:
        return make_set_operation(maker, node, out, err);
    case LOGICAL_DEDUP:
        return make_dedup(maker, node, out, err);
    case LOGICAL_EXPAND:
        return make_expand(maker, node, out, err);
    case LOGICAL_TIME_WINDOW:
        return make_time_window(maker, node, out, err);
    case LOGICAL_SESSION:
        return make_session(maker, node, out, err);
    case LOGICAL_PROJECT:
    case LOGICAL_FILTER:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
    case LOGICAL_WINDOW:
    case LOGICAL_GENERATE:
    case LOGICAL_WATERMARK:
    case LOGICAL_SAMPLE:
        return make_simple(maker, node, out, err);
    }
    return error_set(err, STATUS_INTERNAL_ERROR, "unknown kind of logical node");
}

/* ---- numbers ---- */

static bool has_aggregate(const struct plan_node *node)
{
    if (node->kind == PLAN_AGGREGATE && node->streaming)
        return true;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (has_aggregate(node->children[i]))
            return true;
    return false;
}

/* A limit of a complete result begins anew in each batch. */
static bool is_stateful(const struct plan_node *node, enum output_mode mode)
{
    if (!node->streaming)
        return false;
    if (node->kind == PLAN_JOIN)
        return node->children[0]->streaming && node->children[1]->streaming;
    if (node->kind == PLAN_LIMIT)
        return mode != MODE_COMPLETE || !has_aggregate(node);
    return node->kind == PLAN_AGGREGATE || node->kind == PLAN_DEDUP ||
           node->kind == PLAN_SET_OPERATION;
}

/* As Spark numbers them: from the sink towards the sources, left before right, and only what has
 * state: sessions are kept by the aggregation above them. */
static void number(struct plan_node *node, enum output_mode mode, int *next)
{
    if (is_stateful(node, mode))
        node->operator_id = (*next)++;
    for (uint32_t i = 0; i < node->child_count; i++)
        number(node->children[i], mode, next);
}

enum status physical_make(struct rewriter *rewriter, struct logical_node *node,
                          struct physical_plan *plan, struct error *err)
{
    struct maker maker = {.rewriter = rewriter, .plan = plan};
    TRY(make(&maker, node, &plan->root, err));
    if (maker.unbound)
        return error_raise(err, STATUS_NOT_SUPPORTED, "feature",
                           "A column of an outer query in this place", NULL);
    int next = 0;
    number(plan->root, rewriter->analysis->mode, &next);
    return OK;
}
