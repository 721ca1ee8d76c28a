/*
 * get_json_object, json_array_length, json_object_keys, json_tuple.
 *
 * Paths are evaluated as Hive does and Spark copied: $.a.b, $['a'], [0], [*]; what a wildcard
 * matches is an array only if there is more than one of it.
 */
#include "base/check.h"
#include "columnar/number_text.h"
#include "expr/cell_builder.h"
#include "expr/fn_json.h"
#include "expr/fn_support.h"

#define PATH_STEPS_MAX 64

enum step_kind {
    STEP_NAME,
    STEP_ANY_MEMBER, /* .* */
    STEP_INDEX,
    STEP_ANY_ELEMENT, /* [*] */
};

struct path_step {
    enum step_kind kind;
    struct bytes name;
    uint64_t index;
};

struct json_path {
    struct path_step steps[PATH_STEPS_MAX];
    uint32_t count;
};

/* ---- reading paths ---- */

static bool read_name(struct bytes *text, struct path_step *step)
{
    size_t size = 0;
    while (size < text->size_bytes && text->data[size] != '.' && text->data[size] != '[')
        size++;
    step->kind = STEP_NAME;
    step->name = text_first(*text, size);
    *text = text_skip(*text, size);
    return size > 0;
}

/* Behind '['. */
static bool read_bracket(struct bytes *text, struct path_step *step)
{
    size_t close = text_find(*text, bytes_of_text("]"), 0);
    if (close == SIZE_MAX || close == 0)
        return false;
    struct bytes inner = text_first(*text, close);
    *text = text_skip(*text, close + 1);
    if (text_equals(inner, "*")) {
        step->kind = STEP_ANY_ELEMENT;
        return true;
    }
    if (*inner.data == '\'') {
        step->kind = text_equals(inner, "'*'") ? STEP_ANY_MEMBER : STEP_NAME;
        if (inner.size_bytes < 3 || inner.data[inner.size_bytes - 1] != '\'')
            return false;
        step->name = bytes_of(inner.data + 1, inner.size_bytes - 2);
        return memchr(step->name.data, '\'', step->name.size_bytes) == NULL &&
               memchr(step->name.data, '?', step->name.size_bytes) == NULL;
    }
    int64_t index;
    if (number_parse_int64(inner, &index) != TEXT_OK || index < 0 || *inner.data == '+')
        return false;
    step->kind = STEP_INDEX;
    step->index = (uint64_t)index;
    return true;
}

static bool read_path(struct bytes text, struct json_path *path)
{
    path->count = 0;
    if (text.size_bytes == 0 || *text.data != '$')
        return false;
    text = text_skip(text, 1);
    while (text.size_bytes > 0) {
        if (path->count == PATH_STEPS_MAX)
            return false;
        struct path_step *step = &path->steps[path->count++];
        *step = (struct path_step){0};
        uint8_t c = *text.data;
        text = text_skip(text, 1);
        if (c == '[') {
            if (!read_bracket(&text, step))
                return false;
        } else if (c != '.') {
            return false;
        } else if (text.size_bytes > 0 && *text.data == '*') {
            step->kind = STEP_ANY_MEMBER;
            text = text_skip(text, 1);
        } else if (!read_name(&text, step)) {
            return false;
        }
    }
    return true;
}

/* ---- evaluating ---- */

enum style {
    STYLE_RAW,     /* a string without its quotes */
    STYLE_QUOTED,  /* inside an array */
    STYLE_FLATTEN, /* arrays dissolve into the one around */
};

struct evaluation {
    const struct json_dom *dom;
    const struct json_path *path;
    struct buffer *out;
    bool comma; /* before the next value of the array being written */
};

static bool evaluate(struct evaluation *e, uint32_t node, enum style style, uint32_t step);

static void begin_value(struct evaluation *e)
{
    if (e->comma)
        buffer_add_byte(e->out, ',');
    e->comma = true;
}

static bool emit(struct evaluation *e, uint32_t node, enum style style)
{
    const struct json_node *n = &e->dom->nodes[node];
    if (n->kind == JSON_DOM_ARRAY && style == STYLE_FLATTEN) {
        bool any = false;
        for (uint32_t c = n->first; c != JSON_DOM_NONE; c = e->dom->nodes[c].next)
            any = emit(e, c, style) || any;
        return any;
    }
    if (n->kind == JSON_DOM_STRING && style == STYLE_RAW && n->halves)
        return false; /* no UTF-8 can say it */
    begin_value(e);
    if (n->kind == JSON_DOM_STRING && style == STYLE_RAW)
        buffer_add_bytes(e->out, n->text);
    else if (n->kind == JSON_DOM_STRING) /* by itself it is not written in units of UTF-16 */
        json_print_string(e->out, n->text, false);
    else
        json_dom_print(e->out, e->dom, node);
    return true;
}

/* All elements, as one array. */
static bool all_elements(struct evaluation *e, uint32_t node, enum style style, uint32_t step)
{
    uint32_t matches = 0;
    begin_value(e);
    buffer_add_byte(e->out, '[');
    e->comma = false;
    for (uint32_t c = e->dom->nodes[node].first; c != JSON_DOM_NONE; c = e->dom->nodes[c].next)
        matches += evaluate(e, c, style, step);
    buffer_add_byte(e->out, ']');
    e->comma = true;
    return matches > 0;
}

/* As above, but one match stands alone, and none leaves no trace. */
static bool unwrapped_elements(struct evaluation *e, uint32_t node, enum style style, uint32_t step)
{
    struct buffer inner = {0};
    struct evaluation nested = *e;
    uint32_t matches = 0;
    nested.out = &inner;
    nested.comma = false;
    for (uint32_t c = e->dom->nodes[node].first; c != JSON_DOM_NONE; c = e->dom->nodes[c].next)
        matches += evaluate(&nested, c, style, step);
    if (matches > 0) {
        begin_value(e);
        if (matches > 1)
            buffer_add_byte(e->out, '[');
        buffer_add_bytes(e->out, buffer_bytes(&inner));
        if (matches > 1)
            buffer_add_byte(e->out, ']');
    }
    buffer_fini(&inner);
    return matches > 0;
}

static bool step_is(const struct json_path *path, uint32_t step, enum step_kind kind)
{
    return step < path->count && path->steps[step].kind == kind;
}

static bool evaluate_array(struct evaluation *e, uint32_t node, enum style style, uint32_t step)
{
    const struct path_step *s = &e->path->steps[step];
    if (s->kind == STEP_ANY_ELEMENT) {
        if (step_is(e->path, step + 1, STEP_ANY_ELEMENT))
            return all_elements(e, node, STYLE_FLATTEN, step + 2);
        if (style != STYLE_QUOTED)
            return unwrapped_elements(e, node, style == STYLE_RAW ? STYLE_QUOTED : style, step + 1);
        return all_elements(e, node, STYLE_QUOTED, step + 1);
    }
    if (s->kind != STEP_INDEX)
        return false;
    uint32_t child = e->dom->nodes[node].first;
    for (uint64_t i = 0; i < s->index && child != JSON_DOM_NONE; i++)
        child = e->dom->nodes[child].next;
    if (child == JSON_DOM_NONE)
        return false;
    bool many = step_is(e->path, step + 1, STEP_ANY_ELEMENT);
    return evaluate(e, child, many ? STYLE_QUOTED : style, step + 1);
}

static bool evaluate_object(struct evaluation *e, uint32_t node, enum style style, uint32_t step)
{
    const struct path_step *s = &e->path->steps[step];
    if (s->kind != STEP_NAME)
        return false;
    for (uint32_t c = e->dom->nodes[node].first; c != JSON_DOM_NONE; c = e->dom->nodes[c].next)
        if (bytes_equal(e->dom->nodes[c].key, s->name) && e->dom->nodes[c].kind != JSON_DOM_NULL &&
            evaluate(e, c, style, step + 1))
            return true;
    return false;
}

static bool evaluate(struct evaluation *e, uint32_t node, enum style style, uint32_t step)
{
    if (step >= e->path->count)
        return emit(e, node, style);
    switch (e->dom->nodes[node].kind) {
    case JSON_DOM_ARRAY:
        return evaluate_array(e, node, style, step);
    case JSON_DOM_OBJECT:
        return evaluate_object(e, node, style, step);
    case JSON_DOM_NULL:
    case JSON_DOM_FALSE:
    case JSON_DOM_TRUE:
    case JSON_DOM_INTEGER:
    case JSON_DOM_FLOAT:
    case JSON_DOM_STRING:
        break;
    }
    return false;
}

KERNEL(kernel_get_json_object)
{
    struct json_dialect dialect = json_dom_defaults();
    dialect.non_numeric = false;
    struct json_dom dom = {0};
    struct buffer text = {0};
    struct json_path *path = arena_new_object(call->ctx->arena, sizeof(*path));
    struct bytes last = {0};
    bool valid = false;
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        struct bytes source = kernel_text(call, 1, row);
        if (i == 0 || !bytes_equal(source, last))
            valid = read_path(source, path);
        last = source;
        struct evaluation evaluation = {.dom = &dom, .path = path, .out = &text};
        if (valid && json_dom_read(&dom, call->ctx->arena, kernel_text(call, 0, row), &dialect) &&
            evaluate(&evaluation, 0, STYLE_RAW, 0)) {
            TRY_OUT(kernel_set_buffer(call, row, &text, err));
        } else {
            buffer_clear(&text);
            TRY_OUT(json_dom_fits(call, &dom, err));
            TRY_OUT(kernel_set_null(call, row, err));
        }
    }
out:
    json_dom_fini(&dom);
    buffer_fini(&text);
    return status;
}

KERNEL(kernel_json_array_length)
{
    struct json_dialect dialect = json_dom_defaults();
    struct json_dom dom = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        if (json_dom_read(&dom, call->ctx->arena, kernel_text(call, 0, row), &dialect) &&
            dom.nodes[0].kind == JSON_DOM_ARRAY)
            KERNEL_OUT(int32_t, call)[row] = (int32_t)dom.nodes[0].count;
        else
            TRY_OUT(kernel_set_null(call, row, err));
        TRY_OUT(json_dom_fits(call, &dom, err));
    }
out:
    json_dom_fini(&dom);
    return status;
}

KERNEL(kernel_json_object_keys)
{
    struct json_dialect dialect = json_dom_defaults();
    struct json_dom dom = {0};
    struct cell_builder keys;
    struct list_entry *entries = call->out->values;
    enum status status = OK;
    cell_builder_init(&keys, type_simple(TYPE_STRING));
    memset(entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        uint32_t first = keys.count;
        if (!json_dom_read(&dom, call->ctx->arena, kernel_text(call, 0, row), &dialect) ||
            dom.nodes[0].kind != JSON_DOM_OBJECT) {
            TRY_OUT(json_dom_fits(call, &dom, err));
            TRY_OUT(kernel_set_null(call, row, err));
            continue;
        }
        for (uint32_t c = dom.nodes[0].first; c != JSON_DOM_NONE; c = dom.nodes[c].next)
            cell_builder_add(&keys, &dom.nodes[c].key, sizeof(struct bytes));
        entries[row] = (struct list_entry){first, keys.count - first};
    }
    status = cell_builder_finish(&keys, call->ctx->arena, &call->out->children[0], err);
out:
    json_dom_fini(&dom);
    cell_builder_fini(&keys);
    return status;
}

enum status json_dom_fits(const struct kernel_call *call, const struct json_dom *dom,
                          struct error *err)
{
    if (!dom->too_large)
        return OK;
    return error_raise(err, STATUS_LIMIT_EXCEEDED, "what",
                       arena_sprintf(call->ctx->arena, "the values of a JSON text that %s reads",
                                     kernel_error_function(call)),
                       "limit", kernel_error_number(call, JSON_DOM_NODES_MAX), NULL);
}

/* ---- json_tuple ---- */

/* The member `name` of the root as text; of several the last one that is not null. */
static bool tuple_value(const struct json_dom *dom, struct bytes name, struct arena *arena,
                        struct buffer *text)
{
    bool found = false;
    for (uint32_t c = dom->nodes[0].first; c != JSON_DOM_NONE; c = dom->nodes[c].next) {
        const struct json_node *node = &dom->nodes[c];
        if (!bytes_equal(node->key, name) || node->kind == JSON_DOM_NULL)
            continue;
        buffer_clear(text);
        if (node->kind == JSON_DOM_STRING)
            buffer_add_bytes(text, json_dom_text(node, arena));
        else
            json_dom_print(text, dom, c);
        found = true;
    }
    return found;
}

/* A generator: one row of strings per input row. */
KERNEL(kernel_json_tuple)
{
    struct json_dialect dialect = json_dom_defaults();
    struct json_dom dom = {0};
    struct buffer text = {0};
    struct cell_builder rows;
    struct list_entry *entries = call->out->values;
    enum status status = OK;
    cell_builder_init(&rows, call->out->type->element);
    memset(entries, 0, (call->rows > 0 ? call->rows : 1) * sizeof(*entries));
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        bool object = !kernel_arg_is_null(call, 0, row) &&
                      json_dom_read(&dom, call->ctx->arena, kernel_text(call, 0, row), &dialect) &&
                      dom.nodes[0].kind == JSON_DOM_OBJECT;
        TRY_OUT(json_dom_fits(call, &dom, err));
        for (uint32_t a = 1; a < call->arg_count; a++) {
            struct cell_builder *column = &rows.children[a - 1];
            if (!object || kernel_arg_is_null(call, a, row) ||
                !tuple_value(&dom, kernel_text(call, a, row), call->ctx->arena, &text)) {
                cell_builder_add_null(column);
                continue;
            }
            struct bytes copy = arena_copy(call->ctx->arena, buffer_bytes(&text));
            cell_builder_add(column, &copy, sizeof(copy));
        }
        entries[row] = (struct list_entry){rows.count, 1};
        cell_builder_add(&rows, NULL, 0);
    }
    status = cell_builder_finish(&rows, call->ctx->arena, &call->out->children[0], err);
out:
    json_dom_fini(&dom);
    buffer_fini(&text);
    cell_builder_fini(&rows);
    return status;
}
