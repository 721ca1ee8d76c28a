/* to_csv: a record as the univocity writer of Spark writes it. */
#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/value_text.h"
#include "expr/fn_csv.h"
#include "expr/fn_record.h"
#include "expr/fn_support.h"

struct to_csv {
    struct csv_dialect dialect;
    struct record_format format;
};

static void add_binary(struct buffer *out, struct bytes data)
{
    buffer_add_byte(out, '[');
    for (size_t i = 0; i < data.size_bytes; i++)
        buffer_printf(out, i == 0 ? "%02X" : " %02X", data.data[i]);
    buffer_add_byte(out, ']');
}

static void print_cell(const struct to_csv *options, const struct zone *zone,
                       const struct vector *vector, uint32_t row, struct buffer *out);

/* A value in a nested one: NULL is nothing, not even the blank in front of it. */
static void print_inner(const struct to_csv *options, const struct zone *zone,
                        const struct vector *vector, uint32_t row, bool first, struct buffer *out)
{
    if (vector_is_null(vector, row))
        return;
    if (!first)
        buffer_add_byte(out, ' ');
    print_cell(options, zone, vector, row, out);
}

static void print_nested(const struct to_csv *options, const struct zone *zone,
                         const struct vector *vector, uint32_t at, struct buffer *out)
{
    bool map = vector->type->id == TYPE_MAP;
    bool array = vector->type->id == TYPE_ARRAY;
    struct list_entry list = {at, vector->child_count};
    if (map || array)
        list = VECTOR_VALUES(struct list_entry, vector)[at];
    buffer_add_byte(out, array ? '[' : '{');
    for (uint32_t i = 0; i < list.length && out->size_bytes <= KERNEL_TEXT_BYTES_MAX; i++) {
        const struct vector *child = vector->children[map || array ? 0 : i];
        uint32_t row = map || array ? list.offset + i : at;
        if (i > 0)
            buffer_add_byte(out, ',');
        print_inner(options, zone, child, row, i == 0, out);
        if (map) {
            buffer_add_text(out, " ->");
            print_inner(options, zone, vector->children[1], row, false, out);
        }
    }
    buffer_add_byte(out, array ? ']' : '}');
}

static void print_cell(const struct to_csv *options, const struct zone *zone,
                       const struct vector *vector, uint32_t row, struct buffer *out)
{
    char text[DECIMAL_TEXT_MAX];
    uint32_t at = vector_index(vector, row);
    switch ((int)vector->type->id) {
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        record_write_time(&options->format, zone, vector, at, out);
        break;
    case TYPE_DECIMAL:
        buffer_add(out, text,
                   decimal_print_java(text, (struct decimal){VECTOR_VALUES(int128, vector)[at],
                                                             vector->type->scale}));
        break;
    case TYPE_BINARY:
        add_binary(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        print_nested(options, zone, vector, at, out);
        break;
    default:
        value_text_print(out, vector, row, zone);
    }
}

static bool needs_quotes(const struct csv_dialect *dialect, struct bytes text)
{
    if (dialect->quote_all)
        return true;
    if (text_find(text, dialect->separator, 0) != SIZE_MAX)
        return true;
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = (char)text.data[i];
        if (c == '\n' || c == '\r' || (c == dialect->quote && dialect->escape_quotes))
            return true;
    }
    return false;
}

static void add_field(const struct csv_dialect *dialect, struct bytes text, struct buffer *out)
{
    while (dialect->trim_start && text.size_bytes > 0 && text.data[0] <= ' ')
        text = text_skip(text, 1);
    while (dialect->trim_end && text.size_bytes > 0 && text.data[text.size_bytes - 1] <= ' ')
        text.size_bytes--;
    if (text.size_bytes == 0) {
        buffer_add(out, dialect->empty_value.data, dialect->empty_value.size_bytes);
        return;
    }
    if (dialect->quote == '\0' || !needs_quotes(dialect, text)) {
        buffer_add(out, text.data, text.size_bytes);
        return;
    }
    buffer_add_byte(out, (uint8_t)dialect->quote);
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = (char)text.data[i];
        if (dialect->escape != '\0' && (c == dialect->quote || c == dialect->escape))
            buffer_add_byte(out, (uint8_t)dialect->escape);
        buffer_add_byte(out, (uint8_t)c);
    }
    buffer_add_byte(out, (uint8_t)dialect->quote);
}

static void write_record(const struct to_csv *options, const struct zone *zone,
                         const struct vector *record, uint32_t at, struct buffer *out)
{
    const struct csv_dialect *dialect = &options->dialect;
    struct buffer text = {0};
    for (uint32_t i = 0; i < record->child_count; i++) {
        if (i > 0)
            buffer_add(out, dialect->separator.data, dialect->separator.size_bytes);
        if (vector_is_null(record->children[i], at)) {
            struct bytes null = dialect->null_value;
            if (dialect->quote_all && dialect->quote != '\0' && null.size_bytes == 0)
                buffer_printf(out, "%c%c", dialect->quote, dialect->quote);
            else
                buffer_add(out, null.data, null.size_bytes);
            continue;
        }
        buffer_clear(&text);
        print_cell(options, zone, record->children[i], at, &text);
        add_field(dialect, buffer_bytes(&text), out);
    }
    buffer_fini(&text);
}

KERNEL(kernel_to_csv)
{
    const struct to_csv *options = call->expr->call.bound;
    const struct zone *zone = options->format.zone != NULL ? options->format.zone : call->ctx->zone;
    struct buffer text = {0};
    enum status status = OK;
    for (uint32_t i = 0; i < call->selected; i++) {
        uint32_t row = kernel_row(call, i);
        write_record(options, zone, call->args[0], vector_index(call->args[0], row), &text);
        TRY_OUT(kernel_check_text(call, text.size_bytes, err));
        if (text.size_bytes == 0)
            TRY_OUT(kernel_set_null(call, row, err));
        else
            TRY_OUT(kernel_set_buffer(call, row, &text, err));
    }
out:
    buffer_fini(&text);
    return status;
}

RESOLVER(resolve_to_csv)
{
    *out = call;
    struct to_csv *bound = arena_new_object(ctx->arena, sizeof(*bound));
    struct function_options options;
    TRY(function_options(ctx, call, 1, &options, err));
    TRY(record_format_read(ctx, call, &options, true, &bound->format, err));
    TRY(csv_dialect_read(ctx->arena, &options, true, &bound->dialect, err));
    call->arg_count = 1;
    const struct type *type = call->args[0]->type;
    if (type->id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_struct(ctx->arena, NULL, 0));
    else if (type->id != TYPE_STRUCT)
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNSUPPORTED_INPUT_TYPE, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "functionName", "`to_csv`", "dataType",
                              function_sql_type(ctx->arena, type), NULL);
    call->call.bound = bound;
    function_finish(call, type_simple(TYPE_STRING));
    call->nullable = true;
    return OK;
}
