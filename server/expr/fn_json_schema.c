/* schema_of_json: the type that one example has; json_tuple's resolver. */
#include "base/check.h"
#include "columnar/timestamp_text.h"
#include "expr/fn_json.h"
#include "expr/fn_support.h"

struct inference {
    struct arena *arena;
    const struct resolve_context *ctx;
    const struct json_dom *dom;
    bool prefers_decimal;
    bool primitives_as_string;
    bool infer_timestamp;
};

static const struct type *infer(const struct inference *in, uint32_t index);

/* DECIMAL for whole numbers that no BIGINT holds. */
static const struct type *infer_integer(const struct inference *in, struct bytes text)
{
    int64_t value;
    if (number_parse_int64(text, &value) == TEXT_OK)
        return type_simple(TYPE_LONG);
    size_t digits = text.size_bytes - (text.data[0] == '-');
    return digits <= DECIMAL_PRECISION_MAX ? type_decimal(in->arena, (int)digits, 0)
                                           : type_simple(TYPE_DOUBLE);
}

static const struct type *infer_float(const struct inference *in, struct bytes text)
{
    int precision = 0;
    int scale = 0;
    bool point = false;
    bool plain = true;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = text.data[i];
        if (c == '.')
            point = true;
        else if (c >= '0' && c <= '9') {
            precision += precision > 0 || c != '0' || point;
            scale += point;
        } else if (c != '-')
            plain = false;
    }
    precision = precision > scale ? precision : scale;
    if (!in->prefers_decimal || !plain || precision > DECIMAL_PRECISION_MAX)
        return type_simple(TYPE_DOUBLE);
    return type_decimal(in->arena, precision < 1 ? 1 : precision, scale);
}

static const struct type *infer_string(const struct inference *in, struct bytes text)
{
    struct timestamp_context context = {.zone = timezone_utc(), .now_us = 0};
    int64_t us;
    if (in->infer_timestamp && timestamp_text_parse(text, &context, &us) == TEXT_OK)
        return type_simple(TYPE_TIMESTAMP);
    return type_simple(TYPE_STRING);
}

/* The type of two elements of an array. */
static const struct type *merge(const struct inference *in, const struct type *a,
                                const struct type *b)
{
    if (type_equal(a, b) || b->id == TYPE_VOID)
        return a;
    if (a->id == TYPE_VOID)
        return b;
    if (type_is_numeric(a) && type_is_numeric(b)) {
        const struct type *common = coercion_tightest(in->ctx, a, b);
        return common != NULL ? common : type_simple(TYPE_DOUBLE);
    }
    if (a->id == TYPE_ARRAY && b->id == TYPE_ARRAY)
        return type_array(in->arena, merge(in, a->element, b->element), true);
    if (a->id != TYPE_STRUCT || b->id != TYPE_STRUCT)
        return type_simple(TYPE_STRING);
    struct type_field *fields = arena_new_object(
        in->arena, ((size_t)a->field_count + b->field_count + 1) * sizeof(*fields));
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->field_count; i++)
        fields[count++] = a->fields[i];
    for (uint32_t j = 0; j < b->field_count; j++) {
        uint32_t i = 0;
        while (i < count && strcmp(fields[i].name, b->fields[j].name) != 0)
            i++;
        if (i < count)
            fields[i].type = merge(in, fields[i].type, b->fields[j].type);
        else
            fields[count++] = b->fields[j];
    }
    return type_struct(in->arena, fields, count);
}

static const struct type *infer_object(const struct inference *in, const struct json_node *node)
{
    struct type_field *fields =
        arena_new_object(in->arena, ((size_t)node->count + 1) * sizeof(*fields));
    uint32_t count = 0;
    for (uint32_t c = node->first; c != JSON_DOM_NONE; c = in->dom->nodes[c].next) {
        struct bytes key = in->dom->nodes[c].key;
        struct type_field field = {.name = arena_strndup(in->arena, key.data, key.size_bytes),
                                   .type = infer(in, c),
                                   .nullable = true};
        uint32_t at = count; /* sorted by name, of one name in order */
        while (at > 0 && strcmp(fields[at - 1].name, field.name) > 0) {
            fields[at] = fields[at - 1];
            at--;
        }
        fields[at] = field;
        count++;
    }
    return type_struct(in->arena, fields, count);
}

static const struct type *infer(const struct inference *in, uint32_t index)
{
    const struct json_node *node = &in->dom->nodes[index];
    bool as_string = in->primitives_as_string;
    switch (node->kind) {
    case JSON_DOM_NULL:
        return type_simple(TYPE_VOID);
    case JSON_DOM_FALSE:
    case JSON_DOM_TRUE:
        return type_simple(as_string ? TYPE_STRING : TYPE_BOOLEAN);
    case JSON_DOM_INTEGER:
        return as_string ? type_simple(TYPE_STRING) : infer_integer(in, node->text);
    case JSON_DOM_FLOAT:
        return as_string ? type_simple(TYPE_STRING) : infer_float(in, node->text);
    case JSON_DOM_STRING:
        return infer_string(in, node->text);
    case JSON_DOM_OBJECT:
        return infer_object(in, node);
    case JSON_DOM_ARRAY:
        break;
    }
    const struct type *element = type_simple(TYPE_VOID);
    for (uint32_t c = node->first; c != JSON_DOM_NONE; c = in->dom->nodes[c].next)
        element = merge(in, element, infer(in, c));
    return type_array(in->arena, element, true);
}

/* Without empty structs, and with STRING where only NULL was seen; NULL: nothing is left. */
static const struct type *canonical(struct arena *arena, const struct type *type)
{
    if (type->id == TYPE_VOID)
        return type_simple(TYPE_STRING);
    if (type->id == TYPE_ARRAY) {
        const struct type *element = canonical(arena, type->element);
        return element == NULL ? NULL : type_array(arena, element, true);
    }
    if (type->id != TYPE_STRUCT)
        return type;
    struct type_field *fields =
        arena_new_object(arena, ((size_t)type->field_count + 1) * sizeof(*fields));
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type *field = canonical(arena, type->fields[i].type);
        if (field == NULL)
            continue;
        fields[count] = type->fields[i];
        fields[count++].type = field;
    }
    return count == 0 ? NULL : type_struct(arena, fields, count);
}

static enum status unexpected_null(struct resolve_context *ctx, const struct expr *call,
                                   const char *name, struct error *err)
{
    return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_NULL, call->position,
                          call->position_end, "sqlExpr", function_sql(ctx->arena, call), "exprName",
                          name, NULL);
}

RESOLVER(resolve_schema_of_json)
{
    *out = call;
    struct function_options options;
    struct vector *example;
    struct json_dom dom = {0};
    TRY(function_options(ctx, call, 1, &options, err));
    call->arg_count = 1;
    if (call->args[0]->type->id == TYPE_VOID)
        return unexpected_null(ctx, call, "json", err);
    if (call->args[0]->type->id != TYPE_STRING)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    TRY(function_constant(ctx, call, 0, "json", &example, err));
    if (vector_is_null(example, 0))
        return unexpected_null(ctx, call, "json", err);
    struct json_dialect dialect = json_dom_defaults();
    dialect.leading_zeros = function_option_is(&options, "allowNumericLeadingZeros", false);
    dialect.single_quotes = function_option_is(&options, "allowSingleQuotes", true);
    struct inference inference = {
        .arena = ctx->arena,
        .ctx = ctx,
        .dom = &dom,
        .prefers_decimal = function_option_is(&options, "prefersDecimal", false),
        .primitives_as_string = function_option_is(&options, "primitivesAsString", false),
        .infer_timestamp = function_option_is(&options, "inferTimestamp", false),
    };
    const struct type *type = NULL;
    if (json_dom_read(&dom, ctx->arena, VECTOR_VALUES(struct bytes, example)[0], &dialect))
        type = canonical(ctx->arena, infer(&inference, 0));
    else
        type = type_simple(TYPE_STRING);
    json_dom_fini(&dom);
    if (type == NULL)
        type = type_struct(ctx->arena, NULL, 0);
    call->call.bound = type_sql(ctx->arena, type);
    call->call.kernel = kernel_typeof;
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}

RESOLVER(resolve_json_tuple)
{
    *out = call;
    if (call->arg_count < 2)
        return function_wrong_count(call, "> 1", err);
    struct type_field *fields =
        arena_new_object(ctx->arena, ((size_t)call->arg_count + 1) * sizeof(*fields));
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->id != TYPE_STRING)
            return error_raise_at(err, STATUS_DATATYPE_MISMATCH__NON_STRING_TYPE, call->position,
                                  call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                                  "funcName", "`json_tuple`", NULL);
        if (i > 0)
            fields[i - 1] = (struct type_field){.name = arena_sprintf(ctx->arena, "c%u", i - 1),
                                                .type = type_simple(TYPE_STRING),
                                                .nullable = true};
    }
    const struct function *function = call->call.function;
    const char *name = call->call.name;
    call->kind = EXPR_GENERATOR;
    call->generator.function = function;
    call->generator.name = name;
    call->generator.outer = false;
    call->type = type_struct(ctx->arena, fields, call->arg_count - 1);
    call->nullable = false;
    return OK;
}
