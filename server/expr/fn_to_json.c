/* to_json: cells as Jackson writes them. */
#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "columnar/variant.h"
#include "expr/fn_json.h"
#include "expr/fn_record.h"
#include "expr/fn_support.h"

struct to_json {
    struct record_format format;
    bool ignore_nulls; /* fields of structs that are NULL are left out */
    bool ascii;
    bool pretty; /* as Jackson's DefaultPrettyPrinter: objects on lines, arrays on one */
};

struct writer {
    const struct to_json *options;
    const struct zone *zone;
    struct buffer *out;
    int depth; /* of objects */
};

static void write_cell(struct writer *w, const struct vector *vector, uint32_t row);

static void begin_object(struct writer *w)
{
    buffer_add_byte(w->out, '{');
    w->depth++;
}

static void break_line(struct writer *w)
{
    buffer_add_byte(w->out, '\n');
    for (int i = 0; i < w->depth; i++)
        buffer_add_text(w->out, "  ");
}

static void begin_member(struct writer *w, bool first)
{
    if (!first)
        buffer_add_byte(w->out, ',');
    if (w->options->pretty)
        break_line(w);
}

static void end_object(struct writer *w, bool empty)
{
    w->depth--;
    if (w->options->pretty && empty)
        buffer_add_byte(w->out, ' ');
    else if (w->options->pretty)
        break_line(w);
    buffer_add_byte(w->out, '}');
}

static void add_colon(struct writer *w)
{
    buffer_add_text(w->out, w->options->pretty ? " : " : ":");
}

static void write_quoted(const struct writer *w, const char *text, size_t size)
{
    buffer_add_byte(w->out, '"');
    buffer_add(w->out, text, size);
    buffer_add_byte(w->out, '"');
}

static void write_floating(const struct writer *w, const struct vector *vector, uint32_t at)
{
    char text[NUMBER_DOUBLE_TEXT_MAX];
    bool narrow = vector->type->id == TYPE_FLOAT;
    double value =
        narrow ? (double)VECTOR_VALUES(float, vector)[at] : VECTOR_VALUES(double, vector)[at];
    size_t size = narrow ? number_print_float(text, VECTOR_VALUES(float, vector)[at])
                         : number_print_double(text, value);
    if (value - value != 0.0)
        write_quoted(w, text, size);
    else
        buffer_add(w->out, text, size);
}

static void write_time(const struct writer *w, const struct vector *vector, uint32_t at)
{
    buffer_add_byte(w->out, '"');
    record_write_time(&w->options->format, w->zone, vector, at, w->out);
    buffer_add_byte(w->out, '"');
}

/* Map keys are written as the engine holds them: dates as days, timestamps as microseconds, structs
 * as rows. */
static void print_key(const struct writer *w, const struct vector *keys, uint32_t row,
                      struct buffer *text)
{
    uint32_t at = vector_index(keys, row);
    switch ((int)keys->type->id) {
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        buffer_printf(text, "%d", VECTOR_VALUES(int32_t, keys)[at]);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        buffer_printf(text, "%lld", (long long)VECTOR_VALUES(int64_t, keys)[at]);
        break;
    case TYPE_STRUCT:
        buffer_add_byte(text, '[');
        for (uint32_t i = 0; i < keys->child_count; i++) {
            if (i > 0)
                buffer_add_byte(text, ',');
            if (vector_is_null(keys->children[i], at))
                buffer_add_text(text, "null");
            else
                print_key(w, keys->children[i], at, text);
        }
        buffer_add_byte(text, ']');
        break;
    default:
        value_text_print(text, keys, row, w->zone);
    }
}

static void write_key(const struct writer *w, const struct vector *keys, uint32_t row)
{
    struct buffer text = {0};
    print_key(w, keys, row, &text);
    json_print_string(w->out, buffer_bytes(&text), w->options->ascii);
    buffer_fini(&text);
}

static void write_map(struct writer *w, const struct vector *vector, uint32_t at)
{
    struct list_entry list = VECTOR_VALUES(struct list_entry, vector)[at];
    begin_object(w);
    for (uint32_t i = 0; i < list.length && w->out->size_bytes <= KERNEL_TEXT_BYTES_MAX; i++) {
        begin_member(w, i == 0);
        write_key(w, vector->children[0], list.offset + i);
        add_colon(w);
        write_cell(w, vector->children[1], list.offset + i);
    }
    end_object(w, list.length == 0);
}

static void write_array(struct writer *w, const struct vector *vector, uint32_t at)
{
    struct list_entry list = VECTOR_VALUES(struct list_entry, vector)[at];
    const char *blank = w->options->pretty ? " " : "";
    buffer_add_byte(w->out, '[');
    buffer_add_text(w->out, blank);
    for (uint32_t i = 0; i < list.length && w->out->size_bytes <= KERNEL_TEXT_BYTES_MAX; i++) {
        if (i > 0) {
            buffer_add_byte(w->out, ',');
            buffer_add_text(w->out, blank);
        }
        write_cell(w, vector->children[0], list.offset + i);
    }
    if (list.length > 0)
        buffer_add_text(w->out, blank);
    buffer_add_byte(w->out, ']');
}

static void write_struct(struct writer *w, const struct vector *vector, uint32_t at)
{
    bool first = true;
    begin_object(w);
    for (uint32_t i = 0; i < vector->child_count; i++) {
        if (w->options->ignore_nulls && vector_is_null(vector->children[i], at))
            continue;
        begin_member(w, first);
        first = false;
        json_print_string(w->out, bytes_of_text(vector->type->fields[i].name), w->options->ascii);
        add_colon(w);
        write_cell(w, vector->children[i], at);
    }
    end_object(w, first);
}

static void write_present(struct writer *w, const struct vector *vector, uint32_t at)
{
    char text[DECIMAL_TEXT_MAX];
    switch ((int)vector->type->id) {
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        write_floating(w, vector, at);
        break;
    case TYPE_DECIMAL:
        buffer_add(w->out, text,
                   decimal_print_java(text, (struct decimal){VECTOR_VALUES(int128, vector)[at],
                                                             vector->type->scale}));
        break;
    case TYPE_STRING:
        json_print_string(w->out, VECTOR_VALUES(struct bytes, vector)[at], w->options->ascii);
        break;
    case TYPE_BINARY:
        buffer_add_byte(w->out, '"');
        text_add_base64(w->out, VECTOR_VALUES(struct bytes, vector)[at]);
        buffer_add_byte(w->out, '"');
        break;
    case TYPE_VARIANT: {
        struct variant variant = variant_of_cell(VECTOR_VALUES(struct bytes, vector)[at]);
        variant_print_json(w->out, &variant, w->zone);
        break;
    }
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        write_time(w, vector, at);
        break;
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
    case TYPE_INTERVAL_YM:
    case TYPE_INTERVAL:
        buffer_add_byte(w->out, '"');
        value_text_print(w->out, vector, at, w->zone);
        buffer_add_byte(w->out, '"');
        break;
    case TYPE_ARRAY:
        write_array(w, vector, at);
        break;
    case TYPE_MAP:
        write_map(w, vector, at);
        break;
    case TYPE_STRUCT:
        write_struct(w, vector, at);
        break;
    default: /* booleans and integers */
        value_text_print(w->out, vector, at, w->zone);
    }
}

static void write_cell(struct writer *w, const struct vector *vector, uint32_t row)
{
    if (vector_is_null(vector, row))
        buffer_add_text(w->out, "null");
    else
        write_present(w, vector, vector_index(vector, row));
}

KERNEL(kernel_to_json)
{
    const struct to_json *options = call->expr->call.bound;
    struct buffer text = {0};
    struct writer writer = {.options = options,
                            .zone = options->format.zone != NULL ? options->format.zone
                                                                 : call->ctx->zone,
                            .out = &text};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        write_cell(&writer, call->args[0], row);
        TRY_OUT(kernel_check_text(call, text.size_bytes, err));
        TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_to_json)
{
    *out = call;
    struct to_json *bound = arena_new_object(ctx->arena, sizeof(*bound));
    struct function_options options;
    TRY(function_options(ctx, call, 1, &options, err));
    TRY(record_format_read(ctx, call, &options, true, &bound->format, err));
    const char *setting =
        ctx->conf == NULL ? NULL
                          : ctx->conf(ctx->conf_arg, "spark.sql.jsonGenerator.ignoreNullFields");
    bool ignore = setting == NULL || strcmp(setting, "false") != 0;
    bound->ignore_nulls = function_option_is(&options, "ignoreNullFields", ignore);
    bound->ascii = function_option_is(&options, "writeNonAsciiCharacterAsCodePoint", false);
    bound->pretty = function_option_is(&options, "pretty", false);
    call->arg_count = 1;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_struct(ctx->arena, NULL, 0));
    else if (!type_is_nested(type) && type->id != TYPE_VARIANT)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__INVALID_JSON_SCHEMA, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "schema", function_sql_type(ctx->arena, type), NULL);
    call->call.bound = bound;
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}
