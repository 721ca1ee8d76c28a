/*
 * from_json.  A record is read into a tree and the tree into cells.  What does not fit its type
 * is NULL: a field alone if it is one of a struct, else what is around it, up to the next struct;
 * either way the record counts as corrupt.
 */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/datetime_pattern.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "columnar/timestamp_text.h"
#include "expr/cell_builder.h"
#include "expr/fn_json.h"
#include "expr/fn_support.h"

#include <stdio.h>

struct from_json {
    struct json_dialect dialect;
    struct record_format format;
    int corrupt_field; /* of the root struct, or -1 */
};

struct conversion {
    const struct from_json *options;
    const struct kernel_call *call;
    const struct json_dom *dom;
    const struct zone *zone;
    bool bad; /* something did not fit */
    const struct json_node *bad_node;
    const struct type *bad_type;
};

/* False, with nothing added to `out`: the node is not of the type. */
static bool convert(struct conversion *c, uint32_t node, struct cell_builder *out);

static bool note_bad(struct conversion *c, const struct json_node *node, const struct type *type)
{
    if (!c->bad) {
        c->bad_node = node;
        c->bad_type = type;
    }
    c->bad = true;
    return false;
}

/* ---- numbers ---- */

static bool convert_integer(const struct json_node *node, struct cell_builder *out)
{
    int64_t value;
    if (node->kind != JSON_DOM_INTEGER || number_parse_int64(node->text, &value) != TEXT_OK)
        return false;
    switch ((int)out->type->id) {
    case TYPE_BYTE: { /* up to 255: Jackson's bytes may be unsigned */
        if (value < INT8_MIN || value > UINT8_MAX)
            return false;
        int8_t cell = (int8_t)value;
        cell_builder_add(out, &cell, sizeof(cell));
        return true;
    }
    case TYPE_SHORT: {
        int16_t cell = (int16_t)value;
        if (cell != value)
            return false;
        cell_builder_add(out, &cell, sizeof(cell));
        return true;
    }
    case TYPE_INT: {
        int32_t cell = (int32_t)value;
        if (cell != value)
            return false;
        cell_builder_add(out, &cell, sizeof(cell));
        return true;
    }
    default:
        cell_builder_add(out, &value, sizeof(value));
        return true;
    }
}

static bool read_special(struct bytes text, double *out)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {
        {"NaN", __builtin_nan("")},      {"+INF", __builtin_inf()},      {"INF", __builtin_inf()},
        {"Infinity", __builtin_inf()},   {"+Infinity", __builtin_inf()}, {"-INF", -__builtin_inf()},
        {"-Infinity", -__builtin_inf()},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (text_equals(text, words[i].text)) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static bool convert_floating(const struct conversion *c, const struct json_node *node,
                             struct cell_builder *out)
{
    double value;
    float narrow = 0.0F;
    bool number = node->kind == JSON_DOM_INTEGER || node->kind == JSON_DOM_FLOAT;
    bool special = (number || node->kind == JSON_DOM_STRING) && c->options->dialect.non_numeric &&
                   read_special(node->text, &value);
    if (!special && (!number || number_parse_double(node->text, &value) != TEXT_OK))
        return false;
    if (out->type->id == TYPE_DOUBLE) {
        cell_builder_add(out, &value, sizeof(value));
        return true;
    }
    narrow = (float)value;
    if (!special)
        (void)number_parse_float(node->text, &narrow);
    cell_builder_add(out, &narrow, sizeof(narrow));
    return true;
}

/* A text with grouping commas, as the US locale writes decimals, is a decimal too. */
static bool convert_decimal(const struct json_node *node, struct cell_builder *out)
{
    char plain[256];
    int128 value;
    struct bytes text = node->text;
    if (node->kind == JSON_DOM_STRING) {
        size_t size = 0;
        for (size_t i = 0; i < text.size_bytes && size < sizeof(plain); i++)
            if (text.data[i] != ',')
                plain[size++] = (char)text.data[i];
        text = bytes_of(plain, size);
    } else if (node->kind != JSON_DOM_INTEGER && node->kind != JSON_DOM_FLOAT) {
        return false;
    }
    if (decimal_parse(text, out->type->precision, out->type->scale, &value) != TEXT_OK)
        return false;
    cell_builder_add(out, &value, sizeof(value));
    return true;
}

/* ---- times ---- */

static bool convert_date(const struct conversion *c, const struct json_node *node,
                         struct cell_builder *out)
{
    int32_t days;
    const struct datetime_pattern *pattern = c->options->format.date;
    if (node->kind != JSON_DOM_STRING)
        return false;
    if ((pattern != NULL ? datetime_pattern_parse_date(pattern, node->text, &days)
                         : timestamp_text_parse_date(node->text, &days)) != TEXT_OK)
        return false;
    cell_builder_add(out, &days, sizeof(days));
    return true;
}

static bool read_timestamp(const struct conversion *c, struct bytes text, int64_t *out)
{
    const struct datetime_pattern *pattern = c->options->format.timestamp;
    struct timestamp_context context = {.zone = c->zone, .now_us = c->call->ctx->now_us};
    if (pattern != NULL)
        return datetime_pattern_parse(pattern, text, c->zone, out) == TEXT_OK;
    return timestamp_text_parse(text, &context, out) == TEXT_OK;
}

static bool convert_timestamp(const struct conversion *c, const struct json_node *node,
                              struct cell_builder *out)
{
    int64_t us;
    if (node->kind == JSON_DOM_INTEGER) {
        if (number_parse_int64(node->text, &us) != TEXT_OK ||
            __builtin_mul_overflow(us, CIVIL_SECOND_US, &us))
            return false;
    } else if (node->kind != JSON_DOM_STRING || !read_timestamp(c, node->text, &us)) {
        return false;
    }
    cell_builder_add(out, &us, sizeof(us));
    return true;
}

static bool convert_timestamp_ntz(const struct conversion *c, const struct json_node *node,
                                  struct cell_builder *out)
{
    int64_t us;
    const struct datetime_pattern *pattern = c->options->format.timestamp_ntz;
    if (node->kind != JSON_DOM_STRING)
        return false;
    if ((pattern != NULL ? datetime_pattern_parse_ntz(pattern, node->text, false, &us)
                         : timestamp_text_parse_ntz(node->text, false, &us)) != TEXT_OK)
        return false;
    cell_builder_add(out, &us, sizeof(us));
    return true;
}

static bool convert_interval(const struct json_node *node, struct cell_builder *out)
{
    struct error ignored = ERROR_INIT;
    struct calendar_interval calendar;
    int64_t value;
    if (node->kind != JSON_DOM_STRING)
        return false;
    if (out->type->id == TYPE_INTERVAL) {
        if (interval_text_parse(node->text, &calendar, &ignored) != OK)
            return false;
        cell_builder_add(out, &calendar, sizeof(calendar));
        return true;
    }
    if (interval_text_parse_fields(node->text, out->type, &value, &ignored) != OK)
        return false;
    int32_t months = (int32_t)value;
    if (out->type->id == TYPE_INTERVAL_YM)
        cell_builder_add(out, &months, sizeof(months));
    else
        cell_builder_add(out, &value, sizeof(value));
    return true;
}

/* ---- text ---- */

static bool convert_string(const struct conversion *c, uint32_t index, struct cell_builder *out)
{
    const struct json_node *node = &c->dom->nodes[index];
    struct bytes text = node->text;
    struct buffer printed = {0};
    if (node->kind != JSON_DOM_STRING) {
        json_dom_print(&printed, c->dom, index);
        text = arena_copy(c->call->ctx->arena, buffer_bytes(&printed));
        buffer_fini(&printed);
    }
    cell_builder_add(out, &text, sizeof(text));
    return true;
}

static bool convert_binary(const struct conversion *c, const struct json_node *node,
                           struct cell_builder *out)
{
    struct buffer data = {0};
    bool ok = node->kind == JSON_DOM_STRING && text_read_base64(&data, node->text);
    if (ok) {
        struct bytes copy = arena_copy(c->call->ctx->arena, buffer_bytes(&data));
        cell_builder_add(out, &copy, sizeof(copy));
    }
    buffer_fini(&data);
    return ok;
}

static bool convert_boolean(const struct json_node *node, struct cell_builder *out)
{
    uint8_t value = node->kind == JSON_DOM_TRUE;
    if (node->kind != JSON_DOM_TRUE && node->kind != JSON_DOM_FALSE)
        return false;
    cell_builder_add(out, &value, sizeof(value));
    return true;
}

/* ---- nested ---- */

static uint32_t find_member(const struct conversion *c, uint32_t node, struct bytes name)
{
    uint32_t found = JSON_DOM_NONE;
    for (uint32_t m = c->dom->nodes[node].first; m != JSON_DOM_NONE; m = c->dom->nodes[m].next)
        if (bytes_equal(c->dom->nodes[m].key, name))
            found = m; /* the last one counts */
    return found;
}

static bool convert_struct(struct conversion *c, uint32_t node, struct cell_builder *out)
{
    if (c->dom->nodes[node].kind != JSON_DOM_OBJECT)
        return false;
    for (uint32_t i = 0; i < out->child_count; i++) {
        struct cell_builder *child = &out->children[i];
        uint32_t member = find_member(c, node, bytes_of_text(out->type->fields[i].name));
        if (member == JSON_DOM_NONE || !convert(c, member, child))
            cell_builder_add_null(child);
    }
    cell_builder_add(out, NULL, 0);
    return true;
}

static bool convert_list(struct conversion *c, uint32_t node, struct cell_builder *out)
{
    bool map = out->type->id == TYPE_MAP;
    if (c->dom->nodes[node].kind != (map ? JSON_DOM_OBJECT : JSON_DOM_ARRAY))
        return false;
    struct cell_builder *elements = &out->children[map ? 1 : 0];
    uint32_t first = elements->count;
    for (uint32_t e = c->dom->nodes[node].first; e != JSON_DOM_NONE; e = c->dom->nodes[e].next) {
        if (!convert(c, e, elements))
            return false;
        if (map)
            cell_builder_add(&out->children[0], &c->dom->nodes[e].key, sizeof(struct bytes));
    }
    struct list_entry entry = {first, elements->count - first};
    cell_builder_add(out, &entry, sizeof(entry));
    return true;
}

static bool convert_present(struct conversion *c, uint32_t index, struct cell_builder *out)
{
    const struct json_node *node = &c->dom->nodes[index];
    switch (out->type->id) {
    case TYPE_BOOLEAN:
        return convert_boolean(node, out);
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return convert_integer(node, out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return convert_floating(c, node, out);
    case TYPE_DECIMAL:
        return convert_decimal(node, out);
    case TYPE_STRING:
        return convert_string(c, index, out);
    case TYPE_BINARY:
        return convert_binary(c, node, out);
    case TYPE_DATE:
        return convert_date(c, node, out);
    case TYPE_TIMESTAMP:
        return convert_timestamp(c, node, out);
    case TYPE_TIMESTAMP_NTZ:
        return convert_timestamp_ntz(c, node, out);
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        return convert_interval(node, out);
    case TYPE_ARRAY:
    case TYPE_MAP:
        return convert_list(c, index, out);
    case TYPE_STRUCT:
        return convert_struct(c, index, out);
    case TYPE_VOID:
    case TYPE_TIME:
        break;
    }
    return false;
}

static bool convert(struct conversion *c, uint32_t node, struct cell_builder *out)
{
    if (c->dom->nodes[node].kind == JSON_DOM_NULL) {
        cell_builder_add_null(out);
        return true;
    }
    if (convert_present(c, node, out))
        return true;
    return note_bad(c, &c->dom->nodes[node], out->type);
}

/* ---- records ---- */

static void add_root_null(struct cell_builder *out)
{
    if (out->type->id != TYPE_STRUCT) {
        cell_builder_add_null(out);
        return;
    }
    for (uint32_t i = 0; i < out->child_count; i++)
        cell_builder_add_null(&out->children[i]);
    cell_builder_add(out, NULL, 0);
}

static enum status fail(const struct conversion *c, struct bytes record, struct error *err)
{
    const char *text = kernel_error_text(c->call, record);
    if (c->bad_node != NULL)
        (void)error_raise(err, STATUS_CANNOT_PARSE_JSON_FIELD, "fieldName",
                          kernel_error_text(c->call, c->bad_node->key), "fieldValue",
                          kernel_error_text(c->call, c->bad_node->text), "jsonType", "a value",
                          "dataType", function_sql_type(c->call->ctx->arena, c->bad_type), NULL);
    struct error outer = ERROR_INIT;
    (void)error_raise(&outer, STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION, "badRecord",
                      text, "failFastMode", "FAILFAST", NULL);
    if (c->bad_node == NULL) {
        *err = outer;
        return err->status;
    }
    outer.causes[0] = err->status;
    *err = outer;
    return err->status;
}

/* The root of an ARRAY<STRUCT> may also be one object. */
static bool convert_root(struct conversion *c, struct cell_builder *out)
{
    const struct json_node *root = &c->dom->nodes[0];
    if (root->kind == JSON_DOM_NULL)
        return false;
    if (out->type->id == TYPE_ARRAY && out->type->element->id == TYPE_STRUCT &&
        root->kind == JSON_DOM_OBJECT) {
        struct list_entry entry = {out->children[0].count, 1};
        if (!convert(c, 0, &out->children[0]))
            return false;
        cell_builder_add(out, &entry, sizeof(entry));
        return true;
    }
    return convert_present(c, 0, out);
}

static bool is_blank(struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++)
        if (text.data[i] > ' ')
            return false;
    return true;
}

static enum status convert_record(struct conversion *c, struct json_dom *dom, struct bytes record,
                                  struct cell_builder *out, struct error *err)
{
    const struct from_json *options = c->options;
    c->bad = false;
    c->bad_node = NULL;
    if (is_blank(record)) {
        cell_builder_add_null(out);
        return OK;
    }
    bool read = json_dom_read(dom, c->call->ctx->arena, record, &options->dialect);
    c->dom = dom;
    if (!read || !convert_root(c, out)) {
        c->bad = true;
        add_root_null(out);
    }
    bool null_root = read && dom->nodes[0].kind == JSON_DOM_NULL;
    if (c->bad && options->format.mode == RECORD_FAILFAST && !null_root)
        return fail(c, record, err);
    if (options->corrupt_field < 0)
        return OK;
    struct cell_builder *corrupt = &out->children[options->corrupt_field];
    struct bytes *cell = (void *)(corrupt->cells.data + corrupt->cells.size_bytes - sizeof(*cell));
    corrupt->nulls.data[corrupt->count - 1] = !c->bad;
    corrupt->has_null = true;
    *cell = c->bad ? record : bytes_of(NULL, 0);
    return OK;
}

KERNEL(kernel_from_json)
{
    const struct from_json *options = call->expr->call.bound;
    struct json_dom dom = {0};
    struct cell_builder out;
    struct conversion conversion = {.options = options,
                                    .call = call,
                                    .zone = options->format.zone != NULL ? options->format.zone
                                                                         : call->ctx->zone};
    enum status status = OK;
    cell_builder_init(&out, call->out->type);
    uint32_t next = 0;
    for (uint32_t row = 0; row < call->rows; row++) {
        bool selected = next < call->selected && kernel_row(call, next) == row;
        next += selected;
        if (!selected || kernel_arg_is_null(call, 0, row))
            cell_builder_add_null(&out);
        else
            TRY_OUT(convert_record(&conversion, &dom, kernel_text(call, 0, row), &out, err));
    }
    struct vector *result;
    TRY_OUT(cell_builder_finish(&out, call->ctx->arena, &result, err));
    *call->out = *result;
out:
    json_dom_fini(&dom);
    cell_builder_fini(&out);
    return status;
}

/* ---- resolving ---- */

static enum status check_schema(const struct resolve_context *ctx, const struct expr *call,
                                const struct type *type, struct error *err)
{
    bool nested = type->id == TYPE_STRUCT || type->id == TYPE_ARRAY || type->id == TYPE_MAP;
    bool wrong_key = type->id == TYPE_MAP && type->key->id != TYPE_STRING;
    if (nested && !wrong_key)
        return OK;
    return error_raise_at(err,
                          wrong_key ? STATUS_DATATYPE_MISMATCH__INVALID_JSON_MAP_KEY_TYPE
                                    : STATUS_DATATYPE_MISMATCH__INVALID_JSON_SCHEMA,
                          call->position, call->position_end, "sqlExpr",
                          function_sql(ctx->arena, call), "schema",
                          function_sql_type(ctx->arena, type), NULL);
}

static enum status find_corrupt_field(struct resolve_context *ctx, const struct type *type,
                                      struct from_json *options, struct error *err)
{
    options->corrupt_field = -1;
    for (uint32_t i = 0; type->id == TYPE_STRUCT && i < type->field_count; i++) {
        const struct type_field *field = &type->fields[i];
        if (strcmp(field->name, options->format.corrupt_column) != 0)
            continue;
        if (field->type->id != TYPE_STRING)
            return error_raise(err, STATUS_INVALID_CORRUPT_RECORD_TYPE, "columnName",
                               arena_sprintf(ctx->arena, "`%s`", field->name), "actualType",
                               function_sql_type(ctx->arena, field->type), NULL);
        options->corrupt_field = (int)i;
    }
    return OK;
}

RESOLVER(resolve_from_json)
{
    *out = call;
    struct from_json *bound = arena_new_object(ctx->arena, sizeof(*bound));
    struct function_options options;
    const struct type *type;
    struct expr shown = *call; /* only the text is printed */
    shown.arg_count = 1;
    shown.position = call->position;
    TRY(function_schema(ctx, call, 1, &type, err));
    TRY(function_options(ctx, call, 2, &options, err));
    type = type_all_nullable(ctx->arena, type);
    TRY(check_schema(ctx, &shown, type, err));
    TRY(record_format_read(ctx, call, &options, false, &bound->format, err));
    TRY(find_corrupt_field(ctx, type, bound, err));
    bound->dialect = (struct json_dialect){
        .single_quotes = function_option_is(&options, "allowSingleQuotes", true),
        .comments = function_option_is(&options, "allowComments", false),
        .unquoted_names = function_option_is(&options, "allowUnquotedFieldNames", false),
        .non_numeric = function_option_is(&options, "allowNonNumericNumbers", true),
        .leading_zeros = function_option_is(&options, "allowNumericLeadingZeros", false),
        .any_escape = function_option_is(&options, "allowBackslashEscapingAnyCharacter", false),
        .control_characters = function_option_is(&options, "allowUnquotedControlChars", false),
    };
    call->arg_count = 1;
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_STRING && id != TYPE_VOID)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    if (id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_STRING));
    if (type->id == TYPE_MAP)
        function_become(call, "from_json map");
    call->call.bound = bound;
    call->call.kernel = kernel_from_json;
    function_finish(call, type);
    call->nullable = true;
    return OK;
}
