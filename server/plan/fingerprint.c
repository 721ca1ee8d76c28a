#include "plan/fingerprint.h"

#include "base/check.h"
#include "base/hash.h"

#include <string.h>

static void add_text(struct buffer *out, const char *text)
{
    buffer_add_json_string(out, bytes_of_text(text));
}

static void add_typed(struct buffer *out, const char *name, const struct type *type)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s ", name);
    type_print_simple(&text, type);
    buffer_add_json_string(out, buffer_bytes(&text));
    buffer_fini(&text);
}

static void add_expr(struct buffer *out, const struct expr *expr)
{
    struct buffer text = {0};
    expr_print_name(&text, expr);
    add_typed(out, buffer_text(&text), expr->type);
    buffer_fini(&text);
}

static void add_exprs(struct buffer *out, const char *name, struct expr *const *exprs,
                      uint32_t count)
{
    buffer_printf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_add_byte(out, ',');
        add_expr(out, exprs[i]);
    }
    buffer_add_byte(out, ']');
}

static void add_columns(struct buffer *out, const char *name, const struct type *schema)
{
    buffer_printf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (i > 0)
            buffer_add_byte(out, ',');
        add_typed(out, schema->fields[i].name, schema->fields[i].type);
    }
    buffer_add_byte(out, ']');
}

static void add_dedup(struct buffer *out, const struct plan_node *node)
{
    buffer_printf(out, ",\"withinWatermark\":%s,\"keys\":[",
                  node->dedup.within_watermark ? "true" : "false");
    for (uint32_t i = 0; i < node->dedup.column_count; i++) {
        const struct type_field *field = &node->schema->fields[node->dedup.columns[i]];
        if (i > 0)
            buffer_add_byte(out, ',');
        add_typed(out, field->name, field->type);
    }
    buffer_add_byte(out, ']');
}

static void add_operator(struct buffer *out, const struct plan_node *node)
{
    buffer_printf(out, "{\"id\":%d,\"kind\":", node->operator_id);
    add_text(out, plan_kind_name(node->kind));
    switch (node->kind) {
    case PLAN_AGGREGATE:
        add_exprs(out, "keys", node->aggregate.keys, node->aggregate.key_count);
        add_exprs(out, "state", node->aggregate.aggregates, node->aggregate.aggregate_count);
        break;
    case PLAN_DEDUP:
        add_dedup(out, node);
        break;
    case PLAN_JOIN:
        add_exprs(out, "leftKeys", node->join.left_keys, node->join.key_count);
        add_exprs(out, "rightKeys", node->join.right_keys, node->join.key_count);
        add_columns(out, "left", node->children[0]->schema);
        add_columns(out, "right", node->children[1]->schema);
        break;
    case PLAN_SESSION:
        add_exprs(out, "keys", node->session.keys, node->session.key_count);
        break;
    default:
        break;
    }
    buffer_add_byte(out, '}');
}

static void add_operators(struct buffer *out, const struct plan_node *node, bool *first)
{
    if (node->operator_id >= 0) {
        if (!*first)
            buffer_add_byte(out, ',');
        *first = false;
        add_operator(out, node);
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        add_operators(out, node->children[i], first);
}

void fingerprint_fill(struct arena *arena, struct physical_plan *plan)
{
    struct buffer text = {0};
    bool first = true;
    buffer_add_text(&text, "{\"sources\":[");
    for (uint32_t i = 0; i < plan->relation_count; i++) {
        if (!plan->relations[i].streaming)
            continue;
        buffer_add_text(&text, first ? "{\"name\":" : ",{\"name\":");
        first = false;
        add_text(&text, plan->relations[i].spec->name);
        buffer_add_text(&text, ",\"format\":");
        add_text(&text, plan->relations[i].spec->format);
        buffer_add_byte(&text, '}');
    }
    buffer_add_text(&text, "],\"operators\":[");
    first = true;
    add_operators(&text, plan->root, &first);
    buffer_add_text(&text, "]}");
    plan->fingerprint = hash_bytes(text.data, text.size_bytes);
    plan->fingerprint_text = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
}

/* The place where two texts part, cut to the JSON values around it. */
static void cut(struct buffer *out, struct bytes text, size_t at)
{
    size_t start = at, end = at;
    while (start > 0 && text.data[start - 1] != '{' && at - start < 120)
        start--;
    while (end < text.size_bytes && text.data[end] != '}' && end - at < 120)
        end++;
    buffer_add(out, text.data + start, end - start);
}

enum status fingerprint_compare(struct bytes stored, const struct physical_plan *plan,
                                struct error *err)
{
    struct bytes now = bytes_of_text(plan->fingerprint_text);
    size_t at = 0;
    while (at < stored.size_bytes && at < now.size_bytes && stored.data[at] == now.data[at])
        at++;
    struct buffer difference = {0};
    const char *operators = strstr(plan->fingerprint_text, "\"operators\"");
    bool sources = operators != NULL && at <= (size_t)(operators - plan->fingerprint_text);
    buffer_add_text(&difference, sources ? "the sources were " : "the state was of ");
    cut(&difference, stored, at);
    buffer_add_text(&difference, " and would be ");
    cut(&difference, now, at);
    error_raise(err, STATUS_CHECKPOINT__QUERY_CHANGED, "path", "", "difference",
                buffer_text(&difference), NULL);
    buffer_fini(&difference);
    return err->status;
}
