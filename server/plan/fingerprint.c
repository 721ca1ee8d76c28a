#include "plan/fingerprint.h"

#include "base/check.h"
#include "base/hash.h"
#include "expr/aggregate.h"
#include "expr/function.h"
#include "plan/state_inputs.h"

#include <stdio.h>
#include <stdlib.h>
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

/* ---- what a column is, whatever it is called: renaming it changes no state ---- */

static bool is_window(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->type->id == TYPE_STRUCT &&
           (strcmp(expr->call.function->name, "window") == 0 ||
            strcmp(expr->call.function->name, "pane") == 0);
}

static const char *origin(const struct plan_node *node, uint32_t ordinal);

/* Of an expression over the rows of a node; NULL: it is computed. */
static const char *expr_origin(const struct expr *expr, const struct plan_node *input)
{
    if (is_window(expr))
        return "window";
    return expr->kind == EXPR_COLUMN && expr->column.ordinal >= 0
               ? origin(input, (uint32_t)expr->column.ordinal)
               : NULL;
}

/* The name that a column of a node has where it comes from; NULL: nothing but a name it got later,
 * since it is computed. */
static const char *origin(const struct plan_node *node, uint32_t ordinal)
{
    switch (node->kind) {
    case PLAN_PROJECT:
        return expr_origin(node->project.exprs[ordinal], node->children[0]);
    case PLAN_EXPAND:
        return expr_origin(node->expand.projections[0][ordinal], node->children[0]);
    case PLAN_FILTER:
    case PLAN_WATERMARK:
    case PLAN_DEDUP:
    case PLAN_LIMIT:
        return origin(node->children[0], ordinal);
    default:
        return node->schema->fields[ordinal].name;
    }
}

static struct expr *name_column(struct arena *arena, struct expr *expr, void *arg)
{
    const char *name = expr->kind == EXPR_COLUMN ? expr_origin(expr, arg) : NULL;
    return name == NULL
               ? expr
               : expr_column(arena, expr->column.attribute_id, name, expr->type, expr->nullable);
}

/* The expressions of an operator over the rows of `input`. */
static void add_exprs(struct buffer *out, const char *name, struct expr *const *exprs,
                      uint32_t count, struct plan_node *input)
{
    struct arena *arena = arena_new("fingerprint", 0);
    buffer_printf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        struct buffer text = {0};
        if (i > 0)
            buffer_add_byte(out, ',');
        expr_print_name(&text, expr_rewrite(arena, exprs[i], name_column, input));
        add_typed(out, buffer_text(&text), exprs[i]->type);
        buffer_fini(&text);
    }
    buffer_add_byte(out, ']');
    arena_free(arena);
}

static bool makes_struct(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && (strcmp(expr->call.function->name, "struct") == 0 ||
                                       strcmp(expr->call.function->name, "named_struct") == 0);
}

/* A key without the names of its fields: "(k string, n int)". */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as structs are nested */
static void print_form(struct buffer *out, const struct expr *expr)
{
    if (!makes_struct(expr)) {
        expr_print_name(out, expr);
        buffer_add_byte(out, ' ');
        type_print_simple(out, expr->type);
        return;
    }
    buffer_add_byte(out, '(');
    for (uint32_t i = 0; i + 1 < expr->arg_count; i += 2) {
        buffer_add_text(out, i == 0 ? "" : ", ");
        print_form(out, expr->args[i + 1]);
    }
    buffer_add_byte(out, ')');
}

/* Keys that are structs, once more by what is in them: their fields may be renamed. */
static void add_forms(struct buffer *out, struct expr *const *keys, uint32_t count,
                      struct plan_node *input)
{
    bool some = false;
    for (uint32_t i = 0; i < count; i++)
        some = some || makes_struct(keys[i]);
    if (!some)
        return;
    struct arena *arena = arena_new("fingerprint", 0);
    buffer_add_text(out, ",\"keyForms\":[");
    for (uint32_t i = 0; i < count; i++) {
        struct buffer text = {0};
        print_form(&text, expr_rewrite(arena, keys[i], name_column, input));
        buffer_add_text(out, i == 0 ? "" : ",");
        buffer_add_json_string(out, buffer_bytes(&text));
        buffer_fini(&text);
    }
    buffer_add_byte(out, ']');
    arena_free(arena);
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

/* ---- the times that windows are made of ---- */

struct times {
    const struct physical_plan *plan;
    const struct plan_node *input; /* whose rows the keys are computed from */
    struct arena *arena;
    struct buffer names, forms; /* elements of arrays */
};

static void add_time(struct times *times, struct expr *time, const struct plan_node *input)
{
    struct buffer text = {0};
    void *columns = (void *)(uintptr_t)input; /* only looked at */
    uint64_t form = state_inputs_expr(times->arena, times->plan, time, input);
    if (times->names.size_bytes > 0) {
        buffer_add_byte(&times->names, ',');
        buffer_add_byte(&times->forms, ',');
    }
    expr_print_name(&text, expr_rewrite(times->arena, time, name_column, columns));
    add_typed(&times->names, buffer_text(&text), time->type);
    buffer_printf(&times->forms, "\"%016llx\"", (unsigned long long)form);
    buffer_fini(&text);
}

/* What a column of a row of grouping sets is, where it is not left out. */
static const struct expr *expanded(const struct plan_node *node, uint32_t ordinal)
{
    uint32_t set = 0;
    while (set + 1 < node->expand.projection_count &&
           node->expand.projections[set][ordinal]->kind == EXPR_LITERAL)
        set++;
    return node->expand.projections[set][ordinal];
}

/* The window that a column is, if it is one. */
static void add_time_of(struct times *times, const struct plan_node *node, uint32_t ordinal)
{
    for (;;) {
        const struct expr *expr = NULL;
        switch (node->kind) {
        case PLAN_PROJECT:
            expr = node->project.exprs[ordinal];
            break;
        case PLAN_EXPAND:
            expr = expanded(node, ordinal);
            break;
        case PLAN_FILTER:
        case PLAN_WATERMARK:
        case PLAN_DEDUP:
        case PLAN_LIMIT:
            break;
        case PLAN_SESSION:
            if (ordinal < node->children[0]->schema->field_count)
                break;
            add_time(times, node->session.event_time, node->children[0]);
            return;
        default:
            return;
        }
        node = node->children[0];
        if (expr != NULL && is_window(expr)) {
            add_time(times, expr->args[0], node);
            return;
        }
        if (expr != NULL && (expr->kind != EXPR_COLUMN || expr->column.ordinal < 0))
            return;
        ordinal = expr == NULL ? ordinal : (uint32_t)expr->column.ordinal;
    }
}

static bool find_times(const struct expr *expr, void *arg)
{
    struct times *times = arg;
    if (is_window(expr))
        add_time(times, expr->args[0], times->input);
    else if (expr->kind == EXPR_COLUMN && expr->column.ordinal >= 0)
        add_time_of(times, times->input, (uint32_t)expr->column.ordinal);
    return true;
}

/* "times" by names, as keys are; "timeForms" by what they are computed from. */
static void add_times(struct buffer *out, const struct physical_plan *plan,
                      const struct plan_node *node)
{
    struct times times = {
        .plan = plan, .input = node->children[0], .arena = arena_new("fingerprint", 0)};
    if (node->kind == PLAN_AGGREGATE)
        for (uint32_t i = 0; i < node->aggregate.key_count; i++)
            expr_walk(node->aggregate.keys[i], find_times, &times);
    for (uint32_t i = 0; node->kind == PLAN_JOIN && i < node->join.key_count; i++) {
        times.input = node->children[0];
        expr_walk(node->join.left_keys[i], find_times, &times);
        times.input = node->children[1];
        expr_walk(node->join.right_keys[i], find_times, &times);
    }
    if (node->kind == PLAN_DEDUP)
        for (uint32_t i = 0; i < node->dedup.column_count; i++)
            add_time_of(&times, times.input, node->dedup.columns[i]);
    if (times.names.size_bytes > 0)
        buffer_printf(out, ",\"times\":[%s],\"timeForms\":[%s]", buffer_text(&times.names),
                      buffer_text(&times.forms));
    buffer_fini(&times.names);
    buffer_fini(&times.forms);
    arena_free(times.arena);
}

/* ---- what an aggregate's name does not say ---- */

static void add_detail(struct buffer *out, const struct expr *call)
{
    const struct aggregate *aggregate = call->aggregate.aggregate;
    const uint32_t keeps = AGGREGATE_KEEPS_ALL | AGGREGATE_KEEPS_DISTINCT;
    if (strcmp(aggregate->name, "approx_count_distinct") == 0)
        buffer_printf(out, "in %zu registers", aggregate_state_bytes(call));
    else if ((aggregate->flags & AGGREGATE_IGNORE_NULLS) != 0 && (aggregate->flags & keeps) == 0)
        buffer_add_text(out, call->aggregate.ignore_nulls ? "IGNORE NULLS" : "RESPECT NULLS");
}

static void add_details(struct buffer *out, const struct plan_node *node)
{
    buffer_add_text(out, ",\"details\":[");
    for (uint32_t i = 0; i < node->aggregate.aggregate_count; i++) {
        struct buffer text = {0};
        add_detail(&text, node->aggregate.aggregates[i]);
        buffer_add_text(out, i == 0 ? "" : ",");
        buffer_add_json_string(out, buffer_bytes(&text));
        buffer_fini(&text);
    }
    buffer_add_byte(out, ']');
}

/* ---- grouping sets ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The number of each set, ascending: which keys are not in it (spark_grouping_id). */
static void print_sets(struct buffer *out, const struct plan_node *node, uint32_t ordinal)
{
    uint32_t count = node->expand.projection_count;
    struct arena *arena = arena_new("fingerprint", 0);
    int64_t *sets = arena_new_object(arena, (count + 1) * sizeof *sets);
    for (uint32_t i = 0; i < count; i++)
        sets[i] = *VECTOR_VALUES(int64_t, node->expand.projections[i][ordinal]->literal.value);
    qsort(sets, count, sizeof *sets, by_number);
    buffer_add_text(out, ",\"groupingSets\":[");
    for (uint32_t i = 0; i < count; i++)
        buffer_printf(out, "%s%lld", i == 0 ? "" : ",", (long long)sets[i]);
    buffer_add_byte(out, ']');
    arena_free(arena);
}

static bool numbers_sets(const struct plan_node *node, uint32_t ordinal)
{
    for (uint32_t i = 0; i < node->expand.projection_count; i++) {
        const struct expr *expr = node->expand.projections[i][ordinal];
        if (expr->kind != EXPR_LITERAL || expr->type->id != TYPE_LONG ||
            vector_is_null(expr->literal.value, 0))
            return false;
    }
    return node->expand.projection_count > 0;
}

/* Of an aggregation over rows that an expand has made, one for each set. */
static void add_sets(struct buffer *out, const struct plan_node *node)
{
    for (uint32_t i = 0; i < node->aggregate.key_count; i++) {
        const struct expr *key = node->aggregate.keys[i];
        const struct plan_node *input = node->children[0];
        while (key != NULL && key->kind == EXPR_COLUMN && key->column.ordinal >= 0 &&
               (input->kind == PLAN_PROJECT || input->kind == PLAN_FILTER)) {
            if (input->kind == PLAN_PROJECT)
                key = input->project.exprs[key->column.ordinal];
            input = input->children[0];
        }
        if (key == NULL || key->kind != EXPR_COLUMN || key->column.ordinal < 0 ||
            input->kind != PLAN_EXPAND || !numbers_sets(input, (uint32_t)key->column.ordinal))
            continue;
        print_sets(out, input, (uint32_t)key->column.ordinal);
        return;
    }
}

static void add_dedup(struct buffer *out, const struct plan_node *node)
{
    buffer_printf(out, ",\"withinWatermark\":%s,\"keys\":[",
                  node->dedup.within_watermark ? "true" : "false");
    for (uint32_t i = 0; i < node->dedup.column_count; i++) {
        uint32_t column = node->dedup.columns[i];
        const char *name = origin(node->children[0], column);
        const struct type_field *field = &node->schema->fields[column];
        if (i > 0)
            buffer_add_byte(out, ',');
        add_typed(out, name == NULL ? field->name : name, field->type);
    }
    buffer_add_byte(out, ']');
}

static void add_operator(struct buffer *out, const struct physical_plan *plan,
                         const struct plan_node *node, int id)
{
    buffer_printf(out, "{\"id\":%d,\"kind\":", id);
    add_text(out, plan_kind_name(node->kind));
    switch (node->kind) {
    case PLAN_AGGREGATE:
        add_exprs(out, "keys", node->aggregate.keys, node->aggregate.key_count, node->children[0]);
        add_forms(out, node->aggregate.keys, node->aggregate.key_count, node->children[0]);
        add_exprs(out, "state", node->aggregate.aggregates, node->aggregate.aggregate_count,
                  node->children[0]);
        add_details(out, node);
        add_times(out, plan, node);
        add_sets(out, node);
        if (node->aggregate.pane_key >= 0)
            buffer_printf(out, ",\"slidingWindow\":[%lld,%lld,%lld]",
                          (long long)node->aggregate.window_size_us,
                          (long long)node->aggregate.window_slide_us,
                          (long long)node->aggregate.window_start_us);
        break;
    case PLAN_DEDUP:
        add_dedup(out, node);
        add_times(out, plan, node);
        break;
    case PLAN_JOIN:
        add_exprs(out, "leftKeys", node->join.left_keys, node->join.key_count, node->children[0]);
        add_exprs(out, "rightKeys", node->join.right_keys, node->join.key_count, node->children[1]);
        add_columns(out, "left", node->children[0]->schema);
        add_columns(out, "right", node->children[1]->schema);
        add_times(out, plan, node);
        break;
    case PLAN_SESSION:
        add_exprs(out, "keys", node->session.keys, node->session.key_count, node->children[0]);
        break;
    default:
        break;
    }
    buffer_add_byte(out, '}');
}

/* `next`: the number after the one before; 0 at the first. */
static void add_operators(struct buffer *out, const struct physical_plan *plan,
                          const struct plan_node *node, int *next)
{
    bool session = node->kind == PLAN_SESSION && node->streaming;
    if (node->operator_id >= 0 || session) {
        int id = session ? *next : node->operator_id;
        if (*next > 0)
            buffer_add_byte(out, ',');
        add_operator(out, plan, node, id);
        *next = id + 1;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        add_operators(out, plan, node->children[i], next);
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
    int next = 0;
    add_operators(&text, plan, plan->root, &next);
    buffer_add_text(&text, "]}");
    plan->fingerprint = hash_bytes(text.data, text.size_bytes);
    plan->fingerprint_text = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
}

/* ---- what differs ---- */

/* The value of `"name":[...]` or `"name":...` in an operator, cut at its end; empty if absent. */
static struct bytes member(struct bytes text, const char *name)
{
    char key[32];
    int length = snprintf(key, sizeof key, "\"%s\":", name);
    for (size_t i = 0; i + (size_t)length <= text.size_bytes; i++) {
        if (memcmp(text.data + i, key, (size_t)length) != 0)
            continue;
        size_t start = i + (size_t)length, end = start;
        bool quoted = false;
        int depth = 0;
        for (; end < text.size_bytes; end++) {
            uint8_t c = text.data[end];
            if (quoted && c == '\\') {
                end++;
                continue;
            }
            quoted = c == '"' ? !quoted : quoted;
            if (quoted)
                continue;
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
            if ((depth == 0 && c == ',') || depth < 0)
                break;
        }
        return bytes_of(text.data + start, end - start);
    }
    return bytes_of(NULL, 0);
}

/* Operator `index` of the list, with its braces; empty beyond the end. */
static struct bytes operator_at(struct bytes list, uint32_t index)
{
    size_t start = 0;
    bool quoted = false;
    int depth = 0;
    for (size_t i = 0; i < list.size_bytes; i++) {
        uint8_t c = list.data[i];
        if (quoted && c == '\\') {
            i++;
            continue;
        }
        quoted = c == '"' ? !quoted : quoted;
        if (quoted)
            continue;
        if (c == '{' && depth++ == 0)
            start = i;
        if (c == '}' && --depth == 0 && index-- == 0)
            return bytes_of(list.data + start, i + 1 - start);
    }
    return bytes_of(NULL, 0);
}

static bool same_member(struct bytes a, struct bytes b, const char *name)
{
    return bytes_equal(member(a, name), member(b, name));
}

static void say(struct buffer *out, const char *what, struct bytes was, struct bytes now)
{
    buffer_printf(out, "%s was %.*s and would be %.*s", what, (int)was.size_bytes,
                  (const char *)was.data, (int)now.size_bytes, (const char *)now.data);
}

static enum status compare_operator(struct bytes was, struct bytes now, struct buffer *out)
{
    static const char *const keys[] = {"keys", "slidingWindow", "leftKeys", "rightKeys"};
    static const char *const values[] = {"state", "left", "right"};
    if (was.size_bytes == 0 || now.size_bytes == 0 || !same_member(was, now, "kind") ||
        !same_member(was, now, "withinWatermark")) {
        say(out, "a stateful operator", was.size_bytes > 0 ? was : bytes_of_text("none"),
            now.size_bytes > 0 ? now : bytes_of_text("none"));
        return STATUS_STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (same_member(was, now, keys[i]))
            continue;
        say(out, "the key of the state", member(was, keys[i]), member(now, keys[i]));
        return STATUS_STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE;
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (same_member(was, now, values[i]))
            continue;
        say(out, "the value of the state", member(was, values[i]), member(now, values[i]));
        return STATUS_STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE;
    }
    return OK;
}

static enum status find_difference(struct bytes was, struct bytes now, struct buffer *out)
{
    if (!same_member(was, now, "sources")) {
        say(out, "the list of sources", member(was, "sources"), member(now, "sources"));
        return OK;
    }
    struct bytes was_list = member(was, "operators"), now_list = member(now, "operators");
    for (uint32_t i = 0;; i++) {
        struct bytes a = operator_at(was_list, i), b = operator_at(now_list, i);
        if (a.size_bytes == 0 && b.size_bytes == 0)
            break;
        enum status status = compare_operator(a, b, out);
        if (status != OK)
            return status;
    }
    buffer_add_text(out, "the plan differs");
    return OK;
}

enum status fingerprint_compare(struct bytes stored, const struct physical_plan *plan,
                                struct error *err)
{
    struct buffer difference = {0};
    enum status cause = find_difference(stored, bytes_of_text(plan->fingerprint_text), &difference);
    error_raise(err, STATUS_CHECKPOINT__QUERY_CHANGED, "path", "", "difference",
                buffer_text(&difference), NULL);
    err->causes[0] = cause;
    buffer_fini(&difference);
    return err->status;
}
