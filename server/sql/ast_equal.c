/* Equality of trees, without positions. */
#include "sql/ast.h"

static bool relation_equal(const struct ast_relation *a, const struct ast_relation *b);
static bool term_equal(const struct ast_term *a, const struct ast_term *b);
static bool select_equal(const struct ast_select *a, const struct ast_select *b);
static bool window_equal(const struct ast_window *a, const struct ast_window *b);

/* ---- names and lists ---- */

static bool name_equal(const struct ast_name *a, const struct ast_name *b)
{
    if (a->text.data == NULL || b->text.data == NULL)
        return a->text.data == b->text.data;
    return bytes_equal(a->text, b->text);
}

static bool names_equal(const struct ast_name_list *a, const struct ast_name_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = name_equal(&a->items[i], &b->items[i]);
    return equal;
}

static bool path_equal(const struct ast_path *a, const struct ast_path *b)
{
    bool equal = a->count == b->count && ast_expr_equal(a->identifier, b->identifier);
    for (size_t i = 0; equal && i < a->count; i++)
        equal = name_equal(&a->parts[i], &b->parts[i]);
    return equal;
}

static bool paths_equal(const struct ast_path_list *a, const struct ast_path_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = path_equal(&a->items[i], &b->items[i]);
    return equal;
}

static bool exprs_equal(const struct ast_expr_list *a, const struct ast_expr_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = ast_expr_equal(a->items[i], b->items[i]);
    return equal;
}

static bool items_equal(const struct ast_item_list *a, const struct ast_item_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = ast_expr_equal(a->items[i].expr, b->items[i].expr) &&
                names_equal(&a->items[i].aliases, &b->items[i].aliases);
    return equal;
}

static bool sorts_equal(const struct ast_sort_list *a, const struct ast_sort_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = a->items[i].order == b->items[i].order && a->items[i].nulls == b->items[i].nulls &&
                ast_expr_equal(a->items[i].expr, b->items[i].expr);
    return equal;
}

static bool args_equal(const struct ast_argument_list *a, const struct ast_argument_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = name_equal(&a->items[i].name, &b->items[i].name) &&
                ast_expr_equal(a->items[i].expr, b->items[i].expr) &&
                relation_equal(a->items[i].table, b->items[i].table);
    return equal;
}

/* ---- types and literals ---- */

bool ast_type_equal(const struct ast_type *a, const struct ast_type *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool equal = a->kind == b->kind && a->precision == b->precision && a->scale == b->scale &&
                 a->length == b->length && a->from == b->from && a->to == b->to &&
                 bytes_equal(a->collation, b->collation) && ast_type_equal(a->key, b->key) &&
                 ast_type_equal(a->element, b->element) && a->field_count == b->field_count;
    for (size_t i = 0; equal && i < a->field_count; i++) {
        const struct ast_type_field *f = &a->fields[i], *g = &b->fields[i];
        equal = name_equal(&f->name, &g->name) && f->not_null == g->not_null &&
                f->has_comment == g->has_comment && bytes_equal(f->comment, g->comment) &&
                ast_type_equal(f->type, g->type);
    }
    return equal;
}

static bool literal_equal(const struct ast_literal *a, const struct ast_literal *b)
{
    return a->kind == b->kind && a->boolean == b->boolean && a->integer == b->integer &&
           // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are what was written
           memcmp(&a->floating, &b->floating, sizeof(a->floating)) == 0 &&
           bytes_equal(a->text, b->text) && a->precision == b->precision && a->scale == b->scale &&
           a->from == b->from && a->to == b->to;
}

/* ---- windows and calls ---- */

static bool bound_equal(const struct ast_bound *a, const struct ast_bound *b)
{
    return a->kind == b->kind && ast_expr_equal(a->expr, b->expr);
}

static bool window_equal(const struct ast_window *a, const struct ast_window *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->is_reference == b->is_reference && name_equal(&a->reference, &b->reference) &&
           exprs_equal(&a->partition_by, &b->partition_by) &&
           sorts_equal(&a->order_by, &b->order_by) && a->frame == b->frame &&
           bound_equal(&a->start, &b->start) && bound_equal(&a->end, &b->end);
}

static bool windows_equal(const struct ast_named_window_list *a,
                          const struct ast_named_window_list *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = name_equal(&a->items[i].name, &b->items[i].name) &&
                window_equal(a->items[i].window, b->items[i].window);
    return equal;
}

static bool call_equal(const struct ast_call *a, const struct ast_call *b)
{
    return path_equal(&a->name, &b->name) && a->syntax == b->syntax &&
           a->quantifier == b->quantifier && args_equal(&a->args, &b->args) &&
           sorts_equal(&a->within_group, &b->within_group) &&
           ast_expr_equal(a->filter, b->filter) && a->nulls == b->nulls &&
           window_equal(a->over, b->over);
}

/* ---- expressions ---- */

static bool case_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    bool equal = ast_expr_equal(a->cases.operand, b->cases.operand) &&
                 a->cases.when_count == b->cases.when_count &&
                 ast_expr_equal(a->cases.otherwise, b->cases.otherwise);
    for (size_t i = 0; equal && i < a->cases.when_count; i++)
        equal = ast_expr_equal(a->cases.whens[i].condition, b->cases.whens[i].condition) &&
                ast_expr_equal(a->cases.whens[i].result, b->cases.whens[i].result);
    return equal;
}

static bool predicate_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    switch (a->kind) {
    case AST_EXPR_BETWEEN:
        return ast_expr_equal(a->between.value, b->between.value) &&
               ast_expr_equal(a->between.low, b->between.low) &&
               ast_expr_equal(a->between.high, b->between.high);
    case AST_EXPR_IN:
        return ast_expr_equal(a->in.value, b->in.value) && exprs_equal(&a->in.list, &b->in.list) &&
               ast_query_equal(a->in.query, b->in.query);
    case AST_EXPR_LIKE:
        return a->like.kind == b->like.kind && a->like.quantifier == b->like.quantifier &&
               a->like.has_escape == b->like.has_escape &&
               bytes_equal(a->like.escape, b->like.escape) &&
               ast_expr_equal(a->like.value, b->like.value) &&
               ast_expr_equal(a->like.pattern, b->like.pattern) &&
               exprs_equal(&a->like.patterns, &b->like.patterns);
    default:
        return a->is.test == b->is.test && ast_expr_equal(a->is.value, b->is.value) &&
               ast_expr_equal(a->is.other, b->is.other);
    }
}

static bool form_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    switch (a->kind) {
    case AST_EXPR_CAST:
        return a->cast.form == b->cast.form && ast_expr_equal(a->cast.operand, b->cast.operand) &&
               ast_type_equal(a->cast.type, b->cast.type);
    case AST_EXPR_TRIM:
        return a->trim.side == b->trim.side &&
               ast_expr_equal(a->trim.characters, b->trim.characters) &&
               ast_expr_equal(a->trim.source, b->trim.source);
    case AST_EXPR_EXTRACT:
        return name_equal(&a->extract.field, &b->extract.field) &&
               ast_expr_equal(a->extract.source, b->extract.source);
    case AST_EXPR_TIMESTAMP_ADD:
    case AST_EXPR_TIMESTAMP_DIFF:
        return name_equal(&a->timestamp.function, &b->timestamp.function) &&
               name_equal(&a->timestamp.unit_name, &b->timestamp.unit_name) &&
               ast_expr_equal(a->timestamp.first, b->timestamp.first) &&
               ast_expr_equal(a->timestamp.second, b->timestamp.second);
    case AST_EXPR_FIELD:
        return name_equal(&a->field.name, &b->field.name) &&
               ast_expr_equal(a->field.base, b->field.base);
    case AST_EXPR_SUBSCRIPT:
        return ast_expr_equal(a->subscript.base, b->subscript.base) &&
               ast_expr_equal(a->subscript.index, b->subscript.index);
    case AST_EXPR_JSON_PATH:
        return bytes_equal(a->json_path.path, b->json_path.path) &&
               ast_expr_equal(a->json_path.base, b->json_path.base);
    case AST_EXPR_COLLATE:
        return path_equal(&a->collate.name, &b->collate.name) &&
               ast_expr_equal(a->collate.operand, b->collate.operand);
    default:
        return names_equal(&a->lambda.params, &b->lambda.params) &&
               ast_expr_equal(a->lambda.body, b->lambda.body);
    }
}

bool ast_expr_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind != b->kind || a->op != b->op || a->negated != b->negated)
        return false;
    switch (a->kind) {
    case AST_EXPR_LITERAL:
        return literal_equal(&a->literal, &b->literal);
    case AST_EXPR_PARAMETER:
        return name_equal(&a->parameter.name, &b->parameter.name) &&
               a->parameter.ordinal == b->parameter.ordinal;
    case AST_EXPR_COLUMN:
        return path_equal(&a->column, &b->column);
    case AST_EXPR_STAR:
        return path_equal(&a->star.qualifier, &b->star.qualifier) &&
               a->star.has_except == b->star.has_except &&
               paths_equal(&a->star.except, &b->star.except);
    case AST_EXPR_UNARY:
    case AST_EXPR_BINARY:
        return ast_expr_equal(a->operands.left, b->operands.left) &&
               ast_expr_equal(a->operands.right, b->operands.right);
    case AST_EXPR_BETWEEN:
    case AST_EXPR_IN:
    case AST_EXPR_LIKE:
    case AST_EXPR_IS:
        return predicate_equal(a, b);
    case AST_EXPR_CASE:
        return case_equal(a, b);
    case AST_EXPR_CALL:
        return call_equal(&a->call, &b->call);
    case AST_EXPR_STRUCT:
    case AST_EXPR_ROW:
        return items_equal(&a->members, &b->members);
    case AST_EXPR_SUBQUERY:
    case AST_EXPR_EXISTS:
        return ast_query_equal(a->query, b->query);
    case AST_EXPR_CAST:
    case AST_EXPR_TRIM:
    case AST_EXPR_EXTRACT:
    case AST_EXPR_TIMESTAMP_ADD:
    case AST_EXPR_TIMESTAMP_DIFF:
    case AST_EXPR_FIELD:
    case AST_EXPR_SUBSCRIPT:
    case AST_EXPR_JSON_PATH:
    case AST_EXPR_COLLATE:
    case AST_EXPR_LAMBDA:
        return form_equal(a, b);
    }
    return false;
}

/* ---- relations ---- */

static bool sample_equal(const struct ast_sample *a, const struct ast_sample *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->kind == b->kind && ast_expr_equal(a->amount, b->amount) &&
           a->numerator == b->numerator && a->denominator == b->denominator &&
           a->has_seed == b->has_seed && a->seed == b->seed;
}

static bool watermark_equal(const struct ast_watermark *a, const struct ast_watermark *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return ast_expr_equal(a->item.expr, b->item.expr) &&
           names_equal(&a->item.aliases, &b->item.aliases) && ast_expr_equal(a->delay, b->delay);
}

static bool table_equal(const struct ast_relation *a, const struct ast_relation *b)
{
    bool equal = path_equal(&a->table.name, &b->table.name) &&
                 a->table.is_stream == b->table.is_stream &&
                 a->table.option_count == b->table.option_count &&
                 ast_expr_equal(a->table.version, b->table.version) &&
                 ast_expr_equal(a->table.timestamp, b->table.timestamp) &&
                 name_equal(&a->table.source, &b->table.source);
    for (size_t i = 0; equal && i < a->table.option_count; i++)
        equal = bytes_equal(a->table.options[i].key, b->table.options[i].key) &&
                bytes_equal(a->table.options[i].value, b->table.options[i].value);
    return equal;
}

static bool pivot_equal(const struct ast_pivot *a, const struct ast_pivot *b)
{
    bool equal = items_equal(&a->aggregates, &b->aggregates) &&
                 paths_equal(&a->columns, &b->columns) && a->value_count == b->value_count;
    for (size_t i = 0; equal && i < a->value_count; i++)
        equal = ast_expr_equal(a->values[i].expr, b->values[i].expr) &&
                name_equal(&a->values[i].alias, &b->values[i].alias);
    return equal;
}

static bool unpivot_equal(const struct ast_unpivot *a, const struct ast_unpivot *b)
{
    bool equal = a->nulls == b->nulls && a->multiple == b->multiple &&
                 names_equal(&a->values, &b->values) && name_equal(&a->name, &b->name) &&
                 a->column_count == b->column_count;
    for (size_t i = 0; equal && i < a->column_count; i++)
        equal = paths_equal(&a->columns[i].columns, &b->columns[i].columns) &&
                name_equal(&a->columns[i].alias, &b->columns[i].alias);
    return equal;
}

static bool join_equal(const struct ast_join *a, const struct ast_join *b)
{
    return a->kind == b->kind && a->natural == b->natural && relation_equal(a->left, b->left) &&
           relation_equal(a->right, b->right) && ast_expr_equal(a->on, b->on) &&
           names_equal(&a->using_columns, &b->using_columns);
}

static bool lateral_view_equal(const struct ast_relation *a, const struct ast_relation *b)
{
    return relation_equal(a->lateral_view.input, b->lateral_view.input) &&
           a->lateral_view.outer == b->lateral_view.outer &&
           path_equal(&a->lateral_view.function, &b->lateral_view.function) &&
           exprs_equal(&a->lateral_view.args, &b->lateral_view.args) &&
           name_equal(&a->lateral_view.table, &b->lateral_view.table) &&
           names_equal(&a->lateral_view.columns, &b->lateral_view.columns);
}

static bool relation_body_equal(const struct ast_relation *a, const struct ast_relation *b)
{
    switch (a->kind) {
    case AST_RELATION_TABLE:
        return table_equal(a, b);
    case AST_RELATION_SUBQUERY:
        return ast_query_equal(a->query, b->query);
    case AST_RELATION_PAREN:
    case AST_RELATION_SAMPLE:
        return relation_equal(a->relation, b->relation);
    case AST_RELATION_VALUES:
        return exprs_equal(&a->rows, &b->rows);
    case AST_RELATION_FUNCTION:
        return path_equal(&a->function.name, &b->function.name) &&
               args_equal(&a->function.args, &b->function.args) &&
               name_equal(&a->function.source, &b->function.source);
    case AST_RELATION_JOIN:
        return join_equal(&a->join, &b->join);
    case AST_RELATION_LATERAL_VIEW:
        return lateral_view_equal(a, b);
    case AST_RELATION_PIVOT:
        return relation_equal(a->pivot.input, b->pivot.input) &&
               pivot_equal(&a->pivot.pivot, &b->pivot.pivot);
    case AST_RELATION_UNPIVOT:
        return relation_equal(a->unpivot.input, b->unpivot.input) &&
               unpivot_equal(&a->unpivot.unpivot, &b->unpivot.unpivot);
    }
    return false;
}

static bool relation_equal(const struct ast_relation *a, const struct ast_relation *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->kind == b->kind && a->lateral == b->lateral && sample_equal(a->sample, b->sample) &&
           watermark_equal(a->watermark, b->watermark) && name_equal(&a->alias, &b->alias) &&
           names_equal(&a->column_aliases, &b->column_aliases) && relation_body_equal(a, b);
}

/* ---- queries ---- */

static bool groupings_equal(const struct ast_grouping *a, size_t a_count,
                            const struct ast_grouping *b, size_t b_count)
{
    bool equal = a_count == b_count;
    for (size_t i = 0; equal && i < a_count; i++)
        equal = a[i].kind == b[i].kind && exprs_equal(&a[i].exprs, &b[i].exprs) &&
                groupings_equal(a[i].children, a[i].child_count, b[i].children, b[i].child_count);
    return equal;
}

static bool group_by_equal(const struct ast_group_by *a, const struct ast_group_by *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->all == b->all && a->with == b->with &&
           groupings_equal(a->elements, a->count, b->elements, b->count) &&
           groupings_equal(a->sets, a->set_count, b->sets, b->set_count);
}

static bool select_equal(const struct ast_select *a, const struct ast_select *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool equal = a->hint_count == b->hint_count && a->quantifier == b->quantifier &&
                 items_equal(&a->items, &b->items) && relation_equal(a->from, b->from) &&
                 ast_expr_equal(a->where, b->where) && group_by_equal(a->group_by, b->group_by) &&
                 ast_expr_equal(a->having, b->having) && windows_equal(&a->windows, &b->windows) &&
                 ast_expr_equal(a->qualify, b->qualify);
    for (size_t i = 0; equal && i < a->hint_count; i++)
        equal = bytes_equal(a->hints[i].name, b->hints[i].name) &&
                exprs_equal(&a->hints[i].args, &b->hints[i].args);
    return equal;
}

static bool tail_equal(const struct ast_tail *a, const struct ast_tail *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return sorts_equal(&a->order_by, &b->order_by) && exprs_equal(&a->cluster_by, &b->cluster_by) &&
           exprs_equal(&a->distribute_by, &b->distribute_by) &&
           sorts_equal(&a->sort_by, &b->sort_by) && windows_equal(&a->windows, &b->windows) &&
           a->limit_all == b->limit_all && ast_expr_equal(a->limit, b->limit) &&
           ast_expr_equal(a->offset, b->offset);
}

static bool step_equal(const struct ast_pipe_step *a, const struct ast_pipe_step *b)
{
    bool equal = a->kind == b->kind && select_equal(a->select, b->select) &&
                 items_equal(&a->items, &b->items) && group_by_equal(a->group_by, b->group_by) &&
                 items_equal(&a->group_items, &b->group_items) &&
                 a->assignment_count == b->assignment_count && names_equal(&a->names, &b->names) &&
                 ast_expr_equal(a->where, b->where) && relation_equal(a->relation, b->relation) &&
                 a->set_kind == b->set_kind && a->quantifier == b->quantifier &&
                 term_equal(a->right, b->right) && tail_equal(a->tail, b->tail);
    for (size_t i = 0; equal && i < a->assignment_count; i++)
        equal = name_equal(&a->assignments[i].name, &b->assignments[i].name) &&
                ast_expr_equal(a->assignments[i].expr, b->assignments[i].expr);
    return equal;
}

static bool term_equal(const struct ast_term *a, const struct ast_term *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case AST_TERM_SELECT:
        return select_equal(a->select, b->select);
    case AST_TERM_TABLE:
        return path_equal(&a->table, &b->table);
    case AST_TERM_VALUES:
        return relation_equal(a->values, b->values);
    case AST_TERM_QUERY:
        return ast_query_equal(a->query, b->query);
    case AST_TERM_SET:
        return a->set.kind == b->set.kind && a->set.quantifier == b->set.quantifier &&
               term_equal(a->set.left, b->set.left) && term_equal(a->set.right, b->set.right);
    case AST_TERM_PIPE:
        return term_equal(a->pipe.input, b->pipe.input) && step_equal(a->pipe.step, b->pipe.step);
    }
    return false;
}

bool ast_query_equal(const struct ast_query *a, const struct ast_query *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    bool equal = a->recursive == b->recursive && a->cte_count == b->cte_count &&
                 term_equal(a->term, b->term) && tail_equal(a->tail, b->tail);
    for (size_t i = 0; equal && i < a->cte_count; i++) {
        const struct ast_cte *c = &a->ctes[i], *d = &b->ctes[i];
        equal = name_equal(&c->name, &d->name) && names_equal(&c->columns, &d->columns) &&
                c->has_max_recursion == d->has_max_recursion &&
                c->max_recursion == d->max_recursion && ast_query_equal(c->query, d->query);
    }
    return equal;
}
