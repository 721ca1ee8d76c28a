/*
 * EXPLAIN: the physical plan as text (one node per line, indented) and as JSON.
 */
#include "base/check.h"
#include "plan/physical_plan.h"

const char *plan_kind_name(enum plan_kind kind)
{
    static const char *const names[] = {
#define PLAN_KIND(kind, name) [kind] = name,
#include "plan/plan_kind.def"
#undef PLAN_KIND
    };
    CHECK((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}

static const char *join_name(enum join_kind kind)
{
    static const char *const names[] = {
        [JOIN_INNER] = "Inner",       [JOIN_LEFT] = "LeftOuter",      [JOIN_RIGHT] = "RightOuter",
        [JOIN_FULL] = "FullOuter",    [JOIN_LEFT_SEMI] = "LeftSemi",  [JOIN_LEFT_ANTI] = "LeftAnti",
        [JOIN_SINGLE] = "LeftSingle", [JOIN_EXISTENCE] = "Existence",
    };
    return names[kind];
}

static void print_exprs(struct buffer *out, struct expr *const *exprs, uint32_t count)
{
    buffer_add_byte(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_text(out, ", ");
        expr_print_sql(out, exprs[i]);
    }
    buffer_add_byte(out, ']');
}

static void print_keys(struct buffer *out, const struct sort_key *keys, uint32_t count)
{
    buffer_add_byte(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_text(out, ", ");
        expr_print_sql(out, keys[i].expr);
        buffer_printf(out, " %s NULLS %s", keys[i].descending ? "DESC" : "ASC",
                      keys[i].nulls_first ? "FIRST" : "LAST");
    }
    buffer_add_byte(out, ']');
}

static void print_names(struct buffer *out, const struct type *schema)
{
    buffer_add_byte(out, '[');
    for (uint32_t i = 0; i < schema->field_count; i++)
        buffer_printf(out, "%s%s", i > 0 ? ", " : "", schema->fields[i].name);
    buffer_add_byte(out, ']');
}

static void print_join(struct buffer *out, const struct plan_node *node)
{
    buffer_printf(out, "%s ", join_name(node->join.kind));
    print_exprs(out, node->join.left_keys, node->join.key_count);
    buffer_add_text(out, " = ");
    print_exprs(out, node->join.right_keys, node->join.key_count);
    if (node->join.condition == NULL)
        return;
    buffer_add_text(out, " if ");
    expr_print_sql(out, node->join.condition);
}

static void print_dedup(struct buffer *out, const struct plan_node *node)
{
    buffer_add_byte(out, '[');
    for (uint32_t i = 0; i < node->dedup.column_count; i++)
        buffer_printf(out, "%s%s", i > 0 ? ", " : "",
                      node->schema->fields[node->dedup.columns[i]].name);
    buffer_add_text(out, node->dedup.within_watermark ? "] within watermark" : "]");
}

static const char *set_operation_name(enum set_operation operation)
{
    static const char *const names[] = {
        [SET_EXCEPT] = "Except",
        [SET_EXCEPT_ALL] = "Except All",
        [SET_INTERSECT] = "Intersect",
        [SET_INTERSECT_ALL] = "Intersect All",
    };
    return names[operation];
}

/* What stands behind the name of the node. */
static void print_detail(struct buffer *out, const struct physical_plan *plan,
                         const struct plan_node *node)
{
    switch (node->kind) {
    case PLAN_SCAN:
        buffer_printf(out, "%s %s ", plan->relations[node->scan.relation].spec->name,
                      plan->relations[node->scan.relation].spec->format);
        type_print_simple(out, node->schema);
        return;
    case PLAN_VALUES:
        buffer_printf(out, "%u rows ", node->values.row_count);
        print_names(out, node->schema);
        return;
    case PLAN_FILTER:
        expr_print_sql(out, node->filter.predicate);
        return;
    case PLAN_PROJECT:
        print_exprs(out, node->project.exprs, node->schema->field_count);
        return;
    case PLAN_LIMIT:
        buffer_printf(out, "%lld offset %lld", (long long)node->limit.limit,
                      (long long)node->limit.offset);
        return;
    case PLAN_SORT:
        print_keys(out, node->sort.keys, node->sort.key_count);
        return;
    case PLAN_AGGREGATE:
        if (node->aggregate.pane_key >= 0)
            buffer_add_text(out, "from panes ");
        print_exprs(out, node->aggregate.keys, node->aggregate.key_count);
        buffer_add_byte(out, ' ');
        print_exprs(out, node->aggregate.aggregates, node->aggregate.aggregate_count);
        return;
    case PLAN_DEDUP:
        print_dedup(out, node);
        return;
    case PLAN_JOIN:
        print_join(out, node);
        return;
    case PLAN_EXPAND:
        buffer_printf(out, "%u times ", node->expand.projection_count);
        print_names(out, node->schema);
        return;
    case PLAN_GENERATE:
        expr_print_sql(out, node->generate.generator);
        buffer_add_text(out, node->generate.outer ? " outer" : "");
        return;
    case PLAN_WINDOW:
        print_exprs(out, node->window.functions, node->window.function_count);
        return;
    case PLAN_SET_OPERATION:
        buffer_add_text(out, set_operation_name(node->set_operation.operation));
        return;
    case PLAN_WATERMARK:
        buffer_printf(out, "%s delay %lld ms", node->schema->fields[node->watermark.column].name,
                      (long long)(node->watermark.delay_us / 1000));
        return;
    case PLAN_SESSION:
        expr_print_sql(out, node->session.event_time);
        buffer_add_text(out, " gap ");
        expr_print_sql(out, node->session.gap);
        return;
    case PLAN_UNION:
        print_names(out, node->schema);
        return;
    }
}

static void print_text(struct buffer *out, const struct physical_plan *plan,
                       const struct plan_node *node, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        buffer_add_text(out, "  ");
    buffer_printf(out, "%s ", plan_kind_name(node->kind));
    print_detail(out, plan, node);
    if (node->operator_id >= 0)
        buffer_printf(out, " state=%d", node->operator_id);
    buffer_add_byte(out, '\n');
    for (uint32_t i = 0; i < node->child_count; i++)
        print_text(out, plan, node->children[i], depth + 1);
}

void plan_print_text(struct buffer *out, const struct physical_plan *plan)
{
    print_text(out, plan, plan->root, 0);
}

static void print_json(struct buffer *out, const struct physical_plan *plan,
                       const struct plan_node *node)
{
    struct buffer detail = {0};
    print_detail(&detail, plan, node);
    buffer_add_text(out, "{\"node\":");
    buffer_add_json_string(out, bytes_of_text(plan_kind_name(node->kind)));
    buffer_add_text(out, ",\"detail\":");
    buffer_add_json_string(out, buffer_bytes(&detail));
    buffer_fini(&detail);
    buffer_printf(out, ",\"streaming\":%s", node->streaming ? "true" : "false");
    if (node->operator_id >= 0)
        buffer_printf(out, ",\"operatorId\":%d", node->operator_id);
    buffer_add_text(out, ",\"schema\":");
    type_print_json(out, node->schema);
    buffer_add_text(out, ",\"children\":[");
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (i > 0)
            buffer_add_byte(out, ',');
        print_json(out, plan, node->children[i]);
    }
    buffer_add_text(out, "]}");
}

void plan_print_json(struct buffer *out, const struct physical_plan *plan)
{
    print_json(out, plan, plan->root);
}
