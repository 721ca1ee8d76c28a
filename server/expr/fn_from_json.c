/*
 * from_json.  A record is read into a tree and the tree into cells.  What does not fit its type
 * is NULL: a field alone if it is one of a struct, else what is around it, up to the next struct;
 * either way the record counts as corrupt.
 */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/decimal.h"
#include "columnar/variant.h"
#include "expr/fn_json.h"
#include "expr/fn_record.h"
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
    /* up to 255: Jackson's bytes may be unsigned */
    if (out->type->id == TYPE_BYTE && value > INT8_MAX && value <= UINT8_MAX)
        value -= UINT8_MAX + 1;
    return record_add_integer(value, out);
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

/* A text as the option `locale` says is a decimal too. */
static bool convert_decimal(const struct record_format *format, const struct json_node *node,
                            struct cell_builder *out)
{
    int128 value;
    if (node->kind == JSON_DOM_STRING)
        return record_read_decimal(format, node->text, out);
    if (node->kind != JSON_DOM_INTEGER && node->kind != JSON_DOM_FLOAT)
        return false;
    if (decimal_parse(node->text, out->type->precision, out->type->scale, &value) != TEXT_OK)
        return false;
    cell_builder_add(out, &value, sizeof(value));
    return true;
}

/* ---- times ---- */

static bool convert_time(const struct conversion *c, const struct json_node *node,
                         struct cell_builder *out)
{
    int64_t us;
    if (node->kind == JSON_DOM_STRING)
        return record_read_time(&c->options->format, c->call, node->text, out);
    if (out->type->id != TYPE_TIMESTAMP || node->kind != JSON_DOM_INTEGER ||
        number_parse_int64(node->text, &us) != TEXT_OK ||
        __builtin_mul_overflow(us, CIVIL_SECOND_US, &us))
        return false;
    cell_builder_add(out, &us, sizeof(us));
    return true;
}

/* ---- text ---- */

static bool convert_string(const struct conversion *c, uint32_t index, struct cell_builder *out)
{
    const struct json_node *node = &c->dom->nodes[index];
    struct bytes text = json_dom_text(node, c->call->ctx->arena);
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

static void add_variant(const struct json_dom *dom, uint32_t index, struct arena *arena,
                        struct variant_builder *builder)
{
    const struct json_node *node = &dom->nodes[index];
    struct variant_mark mark = variant_begin(builder);
    struct variant_json_options strict = {0};
    struct bytes repeated;
    switch (node->kind) {
    case JSON_DOM_NULL:
        variant_add_null(builder);
        break;
    case JSON_DOM_FALSE:
    case JSON_DOM_TRUE:
        variant_add_boolean(builder, node->kind == JSON_DOM_TRUE);
        break;
    case JSON_DOM_INTEGER:
    case JSON_DOM_FLOAT:
        if (variant_add_json(builder, node->text, &strict, &repeated) != VARIANT_JSON_OK)
            variant_add_string(builder, node->text);
        break;
    case JSON_DOM_STRING:
        variant_add_string(builder, json_dom_text(node, arena));
        break;
    case JSON_DOM_ARRAY:
    case JSON_DOM_OBJECT:
        for (uint32_t c = node->first; c != JSON_DOM_NONE; c = dom->nodes[c].next) {
            if (node->kind == JSON_DOM_OBJECT)
                variant_next_field(builder, dom->nodes[c].key);
            else
                variant_next_element(builder);
            add_variant(dom, c, arena, builder);
        }
        if (node->kind == JSON_DOM_OBJECT)
            (void)variant_end_object(builder, mark, &repeated);
        else
            variant_end_array(builder, mark);
    }
}

static bool convert_variant(const struct conversion *c, uint32_t index, struct cell_builder *out)
{
    struct variant_builder builder = {0};
    struct bytes cell;
    add_variant(c->dom, index, c->call->ctx->arena, &builder);
    bool fits = variant_finish(&builder, &cell);
    if (fits) {
        cell = arena_copy(c->call->ctx->arena, cell);
        cell_builder_add(out, &cell, sizeof(cell));
    }
    variant_builder_fini(&builder);
    return fits;
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
        return convert_decimal(&c->options->format, node, out);
    case TYPE_STRING:
        return convert_string(c, index, out);
    case TYPE_BINARY:
        return convert_binary(c, node, out);
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        return convert_time(c, node, out);
    case TYPE_ARRAY:
    case TYPE_MAP:
        return convert_list(c, index, out);
    case TYPE_STRUCT:
        return convert_struct(c, index, out);
    case TYPE_VARIANT:
        return convert_variant(c, index, out);
    case TYPE_VOID:
    case TYPE_TIME:
        break;
    }
    return false;
}

static bool convert(struct conversion *c, uint32_t node, struct cell_builder *out)
{
    if (c->dom->nodes[node].kind == JSON_DOM_NULL && out->type->id != TYPE_VARIANT) {
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
    bool array = c->bad_node == NULL && c->dom->count > 0 &&
                 c->dom->nodes[0].kind == JSON_DOM_ARRAY && c->call->expr->type->id == TYPE_STRUCT;
    (void)error_raise(&outer,
                      array
                          ? STATUS_MALFORMED_RECORD_IN_PARSING__CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS
                          : STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION,
                      "badRecord", text, "failFastMode", "FAILFAST", NULL);
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
    TRY(json_dom_fits(c->call, dom, err));
    if (!read || !convert_root(c, out)) {
        c->bad = true;
        add_root_null(out);
    }
    bool null_root = read && dom->nodes[0].kind == JSON_DOM_NULL;
    if (c->bad && options->format.mode == RECORD_FAILFAST && !null_root)
        return fail(c, record, err);
    if (options->corrupt_field < 0)
        return OK;
    record_set_corrupt(&out->children[options->corrupt_field], c->bad, record);
    return OK;
}

KERNEL(kernel_from_json)
{
    const struct from_json *options = call->expr->call.bound;
    struct json_dom dom = {0};
    struct cell_builder out;
    struct conversion conversion = {.options = options, .call = call};
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
    if ((nested && !wrong_key) || type->id == TYPE_VARIANT)
        return OK;
    return error_raise_at(err,
                          wrong_key ? STATUS_DATATYPE_MISMATCH__INVALID_JSON_MAP_KEY_TYPE
                                    : STATUS_DATATYPE_MISMATCH__INVALID_JSON_SCHEMA,
                          call->position, call->position_end, "sqlExpr",
                          function_sql(ctx->arena, call), "schema",
                          function_sql_type(ctx->arena, type), NULL);
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
    TRY(record_corrupt_field(ctx, type, &bound->format, &bound->corrupt_field, err));
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
