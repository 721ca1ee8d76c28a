/* Relations and queries back to text. */
#include "base/check.h"
#include "sql/print.h"

static void print_term(struct buffer *out, const struct ast_term *term);

/* ---- relations ---- */

static void print_sample(struct buffer *out, const struct ast_sample *sample)
{
    buffer_add_text(out, " TABLESAMPLE (");
    if (sample->kind == AST_SAMPLE_BUCKET) {
        buffer_printf(out, "BUCKET %lld OUT OF %lld", (long long)sample->numerator,
                      (long long)sample->denominator);
    } else {
        ast_expr_print(out, sample->amount);
        buffer_add_text(out, sample->kind == AST_SAMPLE_PERCENT ? " PERCENT" : " ROWS");
    }
    buffer_add_byte(out, ')');
    if (sample->has_seed)
        buffer_printf(out, " REPEATABLE (%lld)", (long long)sample->seed);
}

static void print_watermark(struct buffer *out, const struct ast_watermark *watermark)
{
    struct ast_item item = watermark->item;
    struct ast_item_list items = {&item, 1};
    buffer_add_text(out, " WATERMARK ");
    print_items(out, &items);
    buffer_add_text(out, " DELAY OF ");
    ast_expr_print(out, watermark->delay);
}

static void print_table(struct buffer *out, const struct ast_relation *relation)
{
    buffer_add_text(out, relation->table.is_stream ? "STREAM " : "");
    print_path(out, &relation->table.name);
    if (relation->table.version != NULL || relation->table.timestamp != NULL) {
        bool version = relation->table.version != NULL;
        buffer_add_text(out, version ? " VERSION AS OF (" : " TIMESTAMP AS OF (");
        ast_expr_print(out, version ? relation->table.version : relation->table.timestamp);
        buffer_add_byte(out, ')');
    }
    for (size_t i = 0; i < relation->table.option_count; i++) {
        buffer_add_text(out, i > 0 ? ", " : " WITH (");
        print_string(out, relation->table.options[i].key);
        buffer_add_text(out, " = ");
        print_string(out, relation->table.options[i].value);
    }
    buffer_add_text(out, relation->table.option_count > 0 ? ")" : "");
    if (relation->table.source.text.data != NULL) {
        buffer_add_text(out, " IDENTIFIED BY ");
        print_name(out, &relation->table.source);
    }
}

static void print_join(struct buffer *out, const struct ast_join *join)
{
    static const char *const words[] = {
        [AST_JOIN_COMMA] = ", ",
        [AST_JOIN_INNER] = " INNER JOIN ",
        [AST_JOIN_CROSS] = " CROSS JOIN ",
        [AST_JOIN_LEFT] = " LEFT JOIN ",
        [AST_JOIN_RIGHT] = " RIGHT JOIN ",
        [AST_JOIN_FULL] = " FULL JOIN ",
        [AST_JOIN_LEFT_SEMI] = " LEFT SEMI JOIN ",
        [AST_JOIN_LEFT_ANTI] = " LEFT ANTI JOIN ",
    };
    if (join->left != NULL)
        print_relation(out, join->left);
    buffer_add_text(out, join->natural ? " NATURAL" : "");
    buffer_add_text(out, words[join->kind]);
    print_relation(out, join->right);
    if (join->on != NULL) {
        buffer_add_text(out, " ON ");
        ast_expr_print(out, join->on);
    }
    if (join->using_columns.count > 0) {
        buffer_add_text(out, " USING (");
        print_names(out, &join->using_columns);
        buffer_add_byte(out, ')');
    }
}

static void print_lateral_view(struct buffer *out, const struct ast_relation *relation)
{
    if (relation->lateral_view.input != NULL)
        print_relation(out, relation->lateral_view.input);
    buffer_printf(out, " LATERAL VIEW %s", relation->lateral_view.outer ? "OUTER " : "");
    print_path(out, &relation->lateral_view.function);
    buffer_add_byte(out, '(');
    print_exprs(out, &relation->lateral_view.args);
    buffer_add_text(out, ") ");
    print_name(out, &relation->lateral_view.table);
    if (relation->lateral_view.columns.count > 0) {
        buffer_add_text(out, " AS ");
        print_names(out, &relation->lateral_view.columns);
    }
}

static void print_pivot(struct buffer *out, const struct ast_pivot *pivot)
{
    buffer_add_text(out, " PIVOT (");
    print_items(out, &pivot->aggregates);
    buffer_add_text(out, " FOR (");
    print_paths(out, &pivot->columns);
    buffer_add_text(out, ") IN (");
    for (size_t i = 0; i < pivot->value_count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        ast_expr_print(out, pivot->values[i].expr);
        if (pivot->values[i].alias.text.data != NULL) {
            buffer_add_text(out, " AS ");
            print_name(out, &pivot->values[i].alias);
        }
    }
    buffer_add_text(out, "))");
}

static void print_unpivot(struct buffer *out, const struct ast_unpivot *unpivot)
{
    static const char *const nulls[] = {"", "INCLUDE NULLS ", "EXCLUDE NULLS "};
    buffer_printf(out, " UNPIVOT %s(", nulls[unpivot->nulls]);
    buffer_add_text(out, unpivot->multiple ? "(" : "");
    print_names(out, &unpivot->values);
    buffer_add_text(out, unpivot->multiple ? ")" : "");
    buffer_add_text(out, " FOR ");
    print_name(out, &unpivot->name);
    buffer_add_text(out, " IN (");
    for (size_t i = 0; i < unpivot->column_count; i++) {
        const struct ast_unpivot_column *column = &unpivot->columns[i];
        buffer_add_text(out, i > 0 ? ", " : "");
        buffer_add_text(out, unpivot->multiple ? "(" : "");
        print_paths(out, &column->columns);
        buffer_add_text(out, unpivot->multiple ? ")" : "");
        if (column->alias.text.data != NULL) {
            buffer_add_text(out, " AS ");
            print_name(out, &column->alias);
        }
    }
    buffer_add_text(out, "))");
}

static void print_relation_body(struct buffer *out, const struct ast_relation *relation)
{
    switch (relation->kind) {
    case AST_RELATION_TABLE:
        print_table(out, relation);
        break;
    case AST_RELATION_SUBQUERY:
        buffer_add_byte(out, '(');
        ast_query_print(out, relation->query);
        buffer_add_byte(out, ')');
        break;
    case AST_RELATION_PAREN:
        buffer_add_byte(out, '(');
        print_relation(out, relation->relation);
        buffer_add_byte(out, ')');
        break;
    case AST_RELATION_VALUES:
        buffer_add_text(out, "VALUES ");
        for (size_t i = 0; i < relation->rows.count; i++) {
            bool row = relation->rows.items[i]->kind == AST_EXPR_ROW ||
                       relation->rows.items[i]->kind == AST_EXPR_SUBQUERY;
            buffer_add_text(out, i > 0 ? ", " : "");
            buffer_add_text(out, row ? "" : "(");
            ast_expr_print(out, relation->rows.items[i]);
            buffer_add_text(out, row ? "" : ")");
        }
        break;
    case AST_RELATION_FUNCTION:
        print_path(out, &relation->function.name);
        buffer_add_byte(out, '(');
        print_args(out, &relation->function.args);
        buffer_add_byte(out, ')');
        if (relation->function.source.text.data != NULL) {
            buffer_add_text(out, " IDENTIFIED BY ");
            print_name(out, &relation->function.source);
        }
        break;
    case AST_RELATION_JOIN:
        print_join(out, &relation->join);
        break;
    case AST_RELATION_LATERAL_VIEW:
        print_lateral_view(out, relation);
        break;
    case AST_RELATION_PIVOT:
        if (relation->pivot.input != NULL)
            print_relation(out, relation->pivot.input);
        print_pivot(out, &relation->pivot.pivot);
        break;
    case AST_RELATION_UNPIVOT:
        if (relation->unpivot.input != NULL)
            print_relation(out, relation->unpivot.input);
        print_unpivot(out, &relation->unpivot.unpivot);
        break;
    case AST_RELATION_SAMPLE:
        break;
    }
}

void print_relation(struct buffer *out, const struct ast_relation *relation)
{
    buffer_add_text(out, relation->lateral ? "LATERAL " : "");
    print_relation_body(out, relation);
    if (relation->sample != NULL)
        print_sample(out, relation->sample);
    if (relation->watermark != NULL)
        print_watermark(out, relation->watermark);
    if (relation->alias.text.data == NULL)
        return;
    buffer_add_text(out, " AS ");
    print_name(out, &relation->alias);
    if (relation->column_aliases.count > 0) {
        buffer_add_byte(out, '(');
        print_names(out, &relation->column_aliases);
        buffer_add_byte(out, ')');
    }
}

/* ---- clauses ---- */

static void print_groupings(struct buffer *out, const struct ast_grouping *groupings, size_t count)
{
    static const char *const words[] = {
        [AST_GROUPING_EXPR] = "",
        [AST_GROUPING_SET] = "",
        [AST_GROUPING_ROLLUP] = "ROLLUP (",
        [AST_GROUPING_CUBE] = "CUBE (",
        [AST_GROUPING_SETS] = "GROUPING SETS (",
    };
    for (size_t i = 0; i < count; i++) {
        const struct ast_grouping *grouping = &groupings[i];
        buffer_add_text(out, i > 0 ? ", " : "");
        if (grouping->kind == AST_GROUPING_SET) {
            buffer_add_byte(out, '(');
            print_exprs(out, &grouping->exprs);
            buffer_add_byte(out, ')');
        } else if (grouping->kind == AST_GROUPING_EXPR) {
            print_exprs(out, &grouping->exprs);
        } else {
            buffer_add_text(out, words[grouping->kind]);
            print_groupings(out, grouping->children, grouping->child_count);
            buffer_add_byte(out, ')');
        }
    }
}

static void print_group_by(struct buffer *out, const struct ast_group_by *group_by,
                           const struct ast_item_list *items)
{
    buffer_add_text(out, " GROUP BY ");
    for (size_t i = 0; i < group_by->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        print_groupings(out, &group_by->elements[i], 1);
        if (items != NULL && items->items[i].aliases.count > 0) {
            buffer_add_text(out, " AS ");
            print_names(out, &items->items[i].aliases);
        }
    }
    switch (group_by->with) {
    case AST_WITH_NOTHING:
        break;
    case AST_WITH_ROLLUP:
        buffer_add_text(out, " WITH ROLLUP");
        break;
    case AST_WITH_CUBE:
        buffer_add_text(out, " WITH CUBE");
        break;
    case AST_WITH_SETS:
        buffer_add_text(out, " GROUPING SETS (");
        print_groupings(out, group_by->sets, group_by->set_count);
        buffer_add_byte(out, ')');
        break;
    }
}

static void print_named_windows(struct buffer *out, const struct ast_named_window_list *windows)
{
    for (size_t i = 0; i < windows->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : " WINDOW ");
        print_name(out, &windows->items[i].name);
        buffer_add_text(out, " AS ");
        print_window(out, windows->items[i].window);
    }
}

static void print_clause(struct buffer *out, const char *word, const struct ast_expr *expr)
{
    if (expr == NULL)
        return;
    buffer_printf(out, " %s ", word);
    ast_expr_print(out, expr);
}

static void print_select_head(struct buffer *out, const struct ast_select *select)
{
    buffer_add_text(out, "SELECT ");
    for (size_t i = 0; i < select->hint_count; i++) {
        const struct ast_hint *hint = &select->hints[i];
        buffer_add_text(out, "/*+ ");
        struct ast_name name = {.text = hint->name, .quoted = true};
        print_name(out, &name);
        buffer_add_byte(out, '(');
        print_exprs(out, &hint->args);
        buffer_add_text(out, ") */ ");
    }
    if (select->quantifier != AST_QUANTIFIER_NONE)
        buffer_add_text(out, select->quantifier == AST_QUANTIFIER_ALL ? "ALL " : "DISTINCT ");
    print_items(out, &select->items);
}

static void print_select(struct buffer *out, const struct ast_select *select)
{
    if (select->items.count > 0)
        print_select_head(out, select);
    if (select->from != NULL) {
        bool views = select->from->kind == AST_RELATION_LATERAL_VIEW;
        const struct ast_relation *first = select->from;
        while (views && first != NULL && first->kind == AST_RELATION_LATERAL_VIEW)
            first = first->lateral_view.input;
        buffer_add_text(out, select->items.count > 0 && first != NULL ? " " : "");
        buffer_add_text(out, first != NULL ? "FROM " : "");
        print_relation(out, select->from);
    }
    print_clause(out, "WHERE", select->where);
    if (select->group_by != NULL)
        print_group_by(out, select->group_by, NULL);
    print_clause(out, "HAVING", select->having);
    print_named_windows(out, &select->windows);
    print_clause(out, "QUALIFY", select->qualify);
}

static void print_tail(struct buffer *out, const struct ast_tail *tail)
{
    if (tail->order_by.count > 0) {
        buffer_add_text(out, " ORDER BY ");
        print_sorts(out, &tail->order_by);
    }
    if (tail->cluster_by.count > 0) {
        buffer_add_text(out, " CLUSTER BY ");
        print_exprs(out, &tail->cluster_by);
    }
    if (tail->distribute_by.count > 0) {
        buffer_add_text(out, " DISTRIBUTE BY ");
        print_exprs(out, &tail->distribute_by);
    }
    if (tail->sort_by.count > 0) {
        buffer_add_text(out, " SORT BY ");
        print_sorts(out, &tail->sort_by);
    }
    print_named_windows(out, &tail->windows);
    buffer_add_text(out, tail->limit_all ? " LIMIT ALL" : "");
    print_clause(out, "LIMIT", tail->limit);
    print_clause(out, "OFFSET", tail->offset);
}

/* ---- terms, pipes, queries ---- */

static void print_set_words(struct buffer *out, enum ast_set_kind kind,
                            enum ast_quantifier quantifier)
{
    static const char *const words[] = {[AST_SET_UNION] = " UNION ",
                                        [AST_SET_EXCEPT] = " EXCEPT ",
                                        [AST_SET_INTERSECT] = " INTERSECT "};
    static const char *const quantifiers[] = {"", "DISTINCT ", "ALL "};
    buffer_add_text(out, words[kind]);
    buffer_add_text(out, quantifiers[quantifier]);
}

static void print_assignments(struct buffer *out, const struct ast_pipe_step *step)
{
    for (size_t i = 0; i < step->assignment_count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        print_name(out, &step->assignments[i].name);
        buffer_add_text(out, " = ");
        ast_expr_print(out, step->assignments[i].expr);
    }
}

static void print_step(struct buffer *out, const struct ast_pipe_step *step)
{
    static const char *const words[] = {
        [AST_PIPE_SELECT] = "",        [AST_PIPE_EXTEND] = "EXTEND ",
        [AST_PIPE_SET] = "SET ",       [AST_PIPE_DROP] = "DROP ",
        [AST_PIPE_AS] = "AS ",         [AST_PIPE_WHERE] = "WHERE ",
        [AST_PIPE_RELATION] = "",      [AST_PIPE_AGGREGATE] = "AGGREGATE ",
        [AST_PIPE_SET_OPERATION] = "", [AST_PIPE_TAIL] = "",
    };
    buffer_add_text(out, words[step->kind]);
    switch (step->kind) {
    case AST_PIPE_SELECT:
        print_select(out, step->select);
        break;
    case AST_PIPE_EXTEND:
        print_items(out, &step->items);
        break;
    case AST_PIPE_SET:
        print_assignments(out, step);
        break;
    case AST_PIPE_DROP:
    case AST_PIPE_AS:
        print_names(out, &step->names);
        break;
    case AST_PIPE_WHERE:
        ast_expr_print(out, step->where);
        break;
    case AST_PIPE_AGGREGATE:
        print_items(out, &step->items);
        if (step->group_by != NULL)
            print_group_by(out, step->group_by, &step->group_items);
        break;
    case AST_PIPE_RELATION:
        print_relation(out, step->relation);
        break;
    case AST_PIPE_SET_OPERATION:
        print_set_words(out, step->set_kind, step->quantifier);
        print_term(out, step->right);
        break;
    case AST_PIPE_TAIL:
        print_tail(out, step->tail);
        break;
    }
}

static void print_term(struct buffer *out, const struct ast_term *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        print_select(out, term->select);
        break;
    case AST_TERM_TABLE:
        buffer_add_text(out, "TABLE ");
        print_path(out, &term->table);
        break;
    case AST_TERM_VALUES:
        print_relation(out, term->values);
        break;
    case AST_TERM_QUERY:
        buffer_add_byte(out, '(');
        ast_query_print(out, term->query);
        buffer_add_byte(out, ')');
        break;
    case AST_TERM_SET:
        print_term(out, term->set.left);
        print_set_words(out, term->set.kind, term->set.quantifier);
        print_term(out, term->set.right);
        break;
    case AST_TERM_PIPE:
        print_term(out, term->pipe.input);
        buffer_add_text(out, " |> ");
        print_step(out, term->pipe.step);
        break;
    }
}

static void print_cte(struct buffer *out, const struct ast_cte *cte)
{
    print_name(out, &cte->name);
    if (cte->columns.count > 0) {
        buffer_add_byte(out, '(');
        print_names(out, &cte->columns);
        buffer_add_byte(out, ')');
    }
    if (cte->has_max_recursion)
        buffer_printf(out, " MAX RECURSION LEVEL %lld", (long long)cte->max_recursion);
    buffer_add_text(out, " AS (");
    ast_query_print(out, cte->query);
    buffer_add_byte(out, ')');
}

void ast_query_print(struct buffer *out, const struct ast_query *query)
{
    for (size_t i = 0; i < query->cte_count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "WITH ");
        buffer_add_text(out, i == 0 && query->recursive ? "RECURSIVE " : "");
        print_cte(out, &query->ctes[i]);
    }
    buffer_add_text(out, query->cte_count > 0 ? " " : "");
    print_term(out, query->term);
    if (query->tail != NULL)
        print_tail(out, query->tail);
}
