/* from_csv, schema_of_csv: one record, split as the univocity parser of Spark does. */
#include "expr/fn_csv.h"
#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/timestamp_text.h"
#include "expr/fn_record.h"
#include "expr/fn_support.h"

#include <stdio.h>

/* ---- options ---- */

/* A character of an option that may be escaped: \t, \\, \u0001. */
static void add_character(struct buffer *out, const char **at)
{
    const char *c = *at;
    if (c[0] != '\\' || c[1] == '\0') {
        buffer_add_byte(out, (uint8_t)*c);
        *at = c + 1;
        return;
    }
    static const char codes[] = "t\tr\rn\nb\bf\f";
    const char *code = strchr(codes, c[1]);
    unsigned value;
    int used = 0;
    // NOLINTNEXTLINE(cert-err34-c): four digits do not overflow
    if (c[1] == 'u' && sscanf(c + 2, "%4x%n", &value, &used) == 1 && used == 4 && value < 0x80) {
        buffer_add_byte(out, (uint8_t)value);
        *at = c + 6;
        return;
    }
    buffer_add_byte(out, (uint8_t)(code != NULL && (code - codes) % 2 == 0 ? code[1] : c[1]));
    *at = c + 2;
}

static const char *read_separator(struct arena *arena, const struct function_options *options)
{
    struct buffer text = {0};
    const char *given = function_option(options, "sep");
    if (given == NULL)
        given = function_option(options, "delimiter");
    if (given == NULL || *given == '\0')
        return ",";
    while (*given != '\0')
        add_character(&text, &given);
    const char *copy = arena_strndup(arena, text.data, text.size_bytes);
    buffer_fini(&text);
    return copy;
}

/* An option of one character; the empty text turns it off. */
static char read_char(const struct function_options *options, const char *name, char missing)
{
    const char *text = function_option(options, name);
    return text == NULL ? missing : *text;
}

static enum status check_char(const struct function_options *options, const char *name,
                              struct error *err)
{
    const char *text = function_option(options, name);
    if (text == NULL || text_length(bytes_of_text(text)) < 2)
        return OK;
    return error_raise(err, STATUS_OPTION_VALUE_EXCEEDS_ONE_CHARACTER, "paramName", name,
                       "actualValue", text, NULL);
}

static const char *option_or(const struct function_options *options, const char *name,
                             const char *missing)
{
    const char *text = function_option(options, name);
    return text == NULL ? missing : text;
}

enum status csv_dialect_read(struct arena *arena, const struct function_options *options,
                             bool write, struct csv_dialect *out, struct error *err)
{
    TRY(check_char(options, "quote", err));
    TRY(check_char(options, "escape", err));
    TRY(check_char(options, "comment", err));
    TRY(check_char(options, "charToEscapeQuoteEscaping", err));
    *out = (struct csv_dialect){
        .separator = bytes_of_text(read_separator(arena, options)),
        .quote = read_char(options, "quote", '"'),
        .escape = read_char(options, "escape", '\\'),
        .null_value = bytes_of_text(option_or(options, "nullValue", "")),
        .empty_value = bytes_of_text(option_or(options, "emptyValue", write ? "\"\"" : "")),
        .nan = option_or(options, "nanValue", "NaN"),
        .positive = option_or(options, "positiveInf", "Inf"),
        .negative = option_or(options, "negativeInf", "-Inf"),
        .trim_start = function_option_is(options, "ignoreLeadingWhiteSpace", write),
        .trim_end = function_option_is(options, "ignoreTrailingWhiteSpace", write),
        .quote_all = function_option_is(options, "quoteAll", false),
        .escape_quotes = function_option_is(options, "escapeQuotes", true),
    };
    return OK;
}

/* ---- splitting ---- */

static bool at_separator(const struct csv_dialect *dialect, struct bytes record, size_t at)
{
    struct bytes separator = dialect->separator;
    return record.size_bytes - at >= separator.size_bytes &&
           memcmp(record.data + at, separator.data, separator.size_bytes) == 0;
}

static bool at_end(const struct csv_dialect *dialect, struct bytes record, size_t at)
{
    return at >= record.size_bytes || at_separator(dialect, record, at);
}

static size_t find_end(const struct csv_dialect *dialect, struct bytes record, size_t at)
{
    while (!at_end(dialect, record, at))
        at++;
    return at;
}

/* The text between quotes, without its escapes, into `out`; `at` is behind the opening quote.
 * False: the quotes are not those of the whole field. */
static bool read_quoted(const struct csv_dialect *dialect, struct bytes record, size_t *at,
                        struct buffer *out)
{
    size_t i = *at;
    for (; i < record.size_bytes; i++) {
        char c = (char)record.data[i];
        bool pair = i + 1 < record.size_bytes && (char)record.data[i + 1] == dialect->quote;
        if (c == dialect->escape && pair &&
            (c != dialect->quote || !at_end(dialect, record, i + 1)))
            c = (char)record.data[++i];
        else if (c == dialect->quote)
            break;
        buffer_add_byte(out, (uint8_t)c);
    }
    if (i < record.size_bytes && !at_end(dialect, record, i + 1))
        return false;
    *at = i < record.size_bytes ? i + 1 : i;
    return true;
}

static struct bytes trim(const struct csv_dialect *dialect, struct bytes text)
{
    while (dialect->trim_start && text.size_bytes > 0 && text.data[0] <= ' ')
        text = text_skip(text, 1);
    while (dialect->trim_end && text.size_bytes > 0 && text.data[text.size_bytes - 1] <= ' ')
        text.size_bytes--;
    return text;
}

bool csv_next_field(struct csv_reader *reader, struct bytes *out)
{
    const struct csv_dialect *dialect = reader->dialect;
    struct bytes record = reader->record;
    struct buffer plain = {0};
    size_t start = reader->at;
    size_t at = start + 1;
    if (reader->done)
        return false;
    bool quoted = dialect->quote != '\0' && start < record.size_bytes &&
                  (char)record.data[start] == dialect->quote &&
                  read_quoted(dialect, record, &at, &plain);
    if (quoted) {
        *out = plain.size_bytes == 0 ? dialect->empty_value
                                     : arena_copy(reader->arena, buffer_bytes(&plain));
    } else {
        at = find_end(dialect, record, start);
        *out = trim(dialect, bytes_of(record.data + start, at - start));
        if (out->size_bytes == 0)
            *out = dialect->null_value;
    }
    buffer_fini(&plain);
    reader->done = at >= record.size_bytes || !at_separator(dialect, record, at);
    reader->at = at + dialect->separator.size_bytes;
    return true;
}

/* ---- cells ---- */

struct from_csv {
    struct csv_dialect dialect;
    struct record_format format;
    int corrupt_field;
};

static bool read_double(const struct csv_dialect *dialect, struct bytes text, double *out)
{
    if (text_equals(text, dialect->nan) || text_equals(text, "NaN"))
        *out = __builtin_nan("");
    else if (text_equals(text, dialect->positive) || text_equals(text, "Infinity"))
        *out = __builtin_inf();
    else if (text_equals(text, dialect->negative) || text_equals(text, "-Infinity"))
        *out = -__builtin_inf();
    else
        return number_parse_double(number_trim_all(text), out) == TEXT_OK;
    return true;
}

static bool convert_floating(const struct csv_dialect *dialect, struct bytes text,
                             struct cell_builder *out)
{
    double value;
    if (!read_double(dialect, text, &value))
        return false;
    if (out->type->id == TYPE_DOUBLE) {
        cell_builder_add(out, &value, sizeof(value));
        return true;
    }
    float narrow = (float)value;
    if (value - value == 0.0)
        (void)number_parse_float(number_trim_all(text), &narrow);
    cell_builder_add(out, &narrow, sizeof(narrow));
    return true;
}

static bool convert_boolean(struct bytes text, struct cell_builder *out)
{
    uint8_t value = text_equals_ignoring_case(text, "true");
    if (!value && !text_equals_ignoring_case(text, "false"))
        return false;
    cell_builder_add(out, &value, sizeof(value));
    return true;
}

static bool convert(const struct from_csv *options, const struct kernel_call *call,
                    struct bytes text, struct cell_builder *out)
{
    int64_t value;
    switch ((int)out->type->id) {
    case TYPE_BOOLEAN:
        return convert_boolean(text, out);
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return number_parse_int64(text, &value) == TEXT_OK && record_add_integer(value, out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return convert_floating(&options->dialect, text, out);
    case TYPE_DECIMAL:
        return record_read_decimal(&options->format, text, out);
    case TYPE_STRING:
    case TYPE_BINARY:
        cell_builder_add(out, &text, sizeof(text));
        return true;
    default:
        return record_read_time(&options->format, call, text, out);
    }
}

/* Adds the fields of a record to the children; whether all of them were there and fit. */
static bool convert_fields(const struct from_csv *options, const struct kernel_call *call,
                           struct bytes record, struct cell_builder *out)
{
    struct csv_reader reader = {
        .dialect = &options->dialect, .arena = call->ctx->arena, .record = record};
    struct bytes text;
    bool good = true;
    bool empty = record.size_bytes == 0;
    for (uint32_t i = 0; i < out->child_count; i++) {
        struct cell_builder *child = &out->children[i];
        if ((int)i == options->corrupt_field) {
            cell_builder_add_null(child);
            continue;
        }
        bool found = !empty && csv_next_field(&reader, &text);
        bool null = found && bytes_equal(text, options->dialect.null_value);
        bool fits = found && !null && convert(options, call, text, child);
        good = good && (empty || null || fits);
        if (!fits)
            cell_builder_add_null(child);
    }
    return good && (empty || !csv_next_field(&reader, &text));
}

static enum status convert_record(const struct from_csv *options, const struct kernel_call *call,
                                  struct bytes record, struct cell_builder *out, struct error *err)
{
    bool bad = !convert_fields(options, call, record, out);
    cell_builder_add(out, NULL, 0);
    if (bad && options->format.mode == RECORD_FAILFAST)
        return error_raise(err, STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION, "badRecord",
                           kernel_error_text(call, record), "failFastMode", "FAILFAST", NULL);
    if (options->corrupt_field >= 0)
        record_set_corrupt(&out->children[options->corrupt_field], bad, record);
    return OK;
}

KERNEL(kernel_from_csv)
{
    const struct from_csv *options = call->expr->call.bound;
    struct cell_builder out;
    enum status status = OK;
    cell_builder_init(&out, call->out->type);
    uint32_t next = 0;
    for (uint32_t row = 0; row < call->rows; row++) {
        bool selected = next < call->selected && kernel_row(call, next) == row;
        next += selected;
        if (!selected || kernel_arg_is_null(call, 0, row))
            cell_builder_add_null(&out);
        else
            TRY_OUT(convert_record(options, call, kernel_text(call, 0, row), &out, err));
    }
    struct vector *result;
    TRY_OUT(cell_builder_finish(&out, call->ctx->arena, &result, err));
    *call->out = *result;
out:
    cell_builder_fini(&out);
    return status;
}

static enum status check_schema(const struct resolve_context *ctx, const struct expr *call,
                                const struct type *type, struct error *err)
{
    if (type->id != TYPE_STRUCT) {
        const char *text = function_sql_type(ctx->arena, type);
        return error_raise_at(err, STATUS_INVALID_SCHEMA__NON_STRUCT_TYPE, call->position,
                              call->position_end, "inputSchema", text, "dataType", text, NULL);
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type *field = type->fields[i].type;
        if (type_is_nested(field) || field->id == TYPE_VOID || field->id == TYPE_TIME)
            return error_raise(err, STATUS_UNSUPPORTED_DATATYPE, "typeName",
                               function_sql_type(ctx->arena, field), NULL);
    }
    return OK;
}

RESOLVER(resolve_from_csv)
{
    *out = call;
    struct from_csv *bound = arena_new_object(ctx->arena, sizeof(*bound));
    struct function_options options;
    const struct type *type;
    TRY(function_schema(ctx, call, 1, &type, err));
    TRY(function_options(ctx, call, 2, &options, err));
    type = type_all_nullable(ctx->arena, type);
    TRY(check_schema(ctx, call, type, err));
    TRY(record_format_read(ctx, call, &options, false, &bound->format, err));
    TRY(record_corrupt_field(ctx, type, &bound->format, &bound->corrupt_field, err));
    TRY(csv_dialect_read(ctx->arena, &options, false, &bound->dialect, err));
    call->arg_count = 1;
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_STRING && id != TYPE_VOID)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    if (id == TYPE_VOID)
        call->args[0] = coercion_cast(ctx, call->args[0], type_simple(TYPE_STRING));
    call->call.bound = bound;
    function_finish(call, type);
    call->nullable = true;
    return OK;
}

/* ---- schema_of_csv ---- */

static const struct type *infer_number(const struct resolve_context *ctx, struct bytes text,
                                       const struct csv_dialect *dialect)
{
    int64_t value;
    double floating;
    int precision;
    struct decimal decimal;
    if (number_parse_int64(text, &value) == TEXT_OK)
        return type_simple((int32_t)value == value ? TYPE_INT : TYPE_LONG);
    if (decimal_parse_exact(text, &decimal, &precision) == TEXT_OK && decimal.scale == 0)
        return type_decimal(ctx->arena, precision, 0);
    if (read_double(dialect, text, &floating))
        return type_simple(TYPE_DOUBLE);
    return NULL;
}

static const struct type *infer(const struct resolve_context *ctx, struct bytes text,
                                const struct csv_dialect *dialect)
{
    struct timestamp_context context = {.zone = timezone_utc(), .now_us = 0};
    int32_t days;
    int64_t us;
    if (bytes_equal(text, dialect->null_value) || text.size_bytes == 0)
        return type_simple(TYPE_STRING);
    const struct type *number = infer_number(ctx, text, dialect);
    if (number != NULL)
        return number;
    if (text.size_bytes <= 10 && timestamp_text_parse_date(text, &days) == TEXT_OK)
        return type_simple(TYPE_DATE);
    if (timestamp_text_parse(text, &context, &us) == TEXT_OK)
        return type_simple(TYPE_TIMESTAMP);
    if (text_equals_ignoring_case(text, "true") || text_equals_ignoring_case(text, "false"))
        return type_simple(TYPE_BOOLEAN);
    return type_simple(TYPE_STRING);
}

static const struct type *infer_record(const struct resolve_context *ctx, struct bytes record,
                                       const struct csv_dialect *dialect)
{
    struct csv_reader reader = {.dialect = dialect, .arena = ctx->arena, .record = record};
    struct type_field *fields =
        arena_new_object(ctx->arena, (record.size_bytes + 2) * sizeof(*fields));
    struct bytes text;
    uint32_t count = 0;
    while (csv_next_field(&reader, &text)) {
        fields[count] = (struct type_field){.name = arena_sprintf(ctx->arena, "_c%u", count),
                                            .type = infer(ctx, text, dialect),
                                            .nullable = true};
        count++;
    }
    return type_struct(ctx->arena, fields, count);
}

RESOLVER(resolve_schema_of_csv)
{
    *out = call;
    struct function_options options;
    struct csv_dialect dialect;
    struct vector *example = NULL;
    TRY(function_options(ctx, call, 1, &options, err));
    TRY(csv_dialect_read(ctx->arena, &options, false, &dialect, err));
    call->arg_count = 1;
    enum type_id id = call->args[0]->type->id;
    if (id != TYPE_STRING && id != TYPE_VOID)
        return function_wrong_type(call, 0, "\"STRING\"", err);
    if (id == TYPE_STRING)
        TRY(function_constant(ctx, call, 0, "csv", &example, err));
    if (example == NULL || vector_is_null(example, 0))
        return error_raise_at(err, STATUS_DATATYPE_MISMATCH__UNEXPECTED_NULL, call->position,
                              call->position_end, "sqlExpr", function_sql(ctx->arena, call),
                              "exprName", "csv", NULL);
    call->call.bound =
        type_sql(ctx->arena, infer_record(ctx, VECTOR_VALUES(struct bytes, example)[0], &dialect));
    call->call.kernel = kernel_typeof;
    function_finish(call, type_simple(TYPE_STRING));
    return OK;
}
