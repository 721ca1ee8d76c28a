/* Cells as text.  Nesting is bounded by the type, whose depth the parsers limit. */
#include "columnar/value_text.h"

#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "columnar/timestamp_text.h"
#include "columnar/variant.h"

static void print_number(struct buffer *out, const struct vector *vector, uint32_t at)
{
    uint8_t *to = buffer_reserve(out, DECIMAL_TEXT_MAX);
    char *text = (char *)to;
    switch ((int)vector->type->id) {
    case TYPE_BYTE:
        out->size_bytes += number_print_int64(text, VECTOR_VALUES(int8_t, vector)[at]);
        break;
    case TYPE_SHORT:
        out->size_bytes += number_print_int64(text, VECTOR_VALUES(int16_t, vector)[at]);
        break;
    case TYPE_INT:
        out->size_bytes += number_print_int64(text, VECTOR_VALUES(int32_t, vector)[at]);
        break;
    case TYPE_LONG:
        out->size_bytes += number_print_int64(text, VECTOR_VALUES(int64_t, vector)[at]);
        break;
    case TYPE_FLOAT:
        out->size_bytes += number_print_float(text, VECTOR_VALUES(float, vector)[at]);
        break;
    case TYPE_DOUBLE:
        out->size_bytes += number_print_double(text, VECTOR_VALUES(double, vector)[at]);
        break;
    case TYPE_DECIMAL:
        out->size_bytes += decimal_print(
            text, (struct decimal){VECTOR_VALUES(int128, vector)[at], vector->type->scale});
        break;
    default:
        CHECK(!"no number");
    }
}

static void print_time(struct buffer *out, const struct vector *vector, uint32_t at,
                       const struct zone *zone)
{
    char *text = (char *)buffer_reserve(out, TIMESTAMP_TEXT_MAX);
    switch ((int)vector->type->id) {
    case TYPE_DATE:
        out->size_bytes += timestamp_text_print_date(text, VECTOR_VALUES(int32_t, vector)[at]);
        break;
    case TYPE_TIMESTAMP:
        out->size_bytes += timestamp_text_print(text, VECTOR_VALUES(int64_t, vector)[at], zone);
        break;
    case TYPE_TIMESTAMP_NTZ:
        out->size_bytes += timestamp_text_print_ntz(text, VECTOR_VALUES(int64_t, vector)[at]);
        break;
    case TYPE_TIME:
        out->size_bytes += timestamp_text_print_time(text, VECTOR_VALUES(int64_t, vector)[at]);
        break;
    default:
        CHECK(!"no time");
    }
}

static void print_list(struct buffer *out, const struct vector *vector, uint32_t at,
                       const struct zone *zone)
{
    struct list_entry list = VECTOR_VALUES(struct list_entry, vector)[at];
    bool map = vector->type->id == TYPE_MAP;
    buffer_add_byte(out, map ? '{' : '[');
    for (uint32_t i = 0; i < list.length && out->size_bytes <= VALUE_TEXT_BYTES_MAX; i++) {
        if (i > 0)
            buffer_add_text(out, ", ");
        value_text_print(out, vector->children[0], list.offset + i, zone);
        if (map) {
            buffer_add_text(out, " -> ");
            value_text_print(out, vector->children[1], list.offset + i, zone);
        }
    }
    buffer_add_byte(out, map ? '}' : ']');
}

static void print_struct(struct buffer *out, const struct vector *vector, uint32_t at,
                         const struct zone *zone)
{
    buffer_add_byte(out, '{');
    for (uint32_t c = 0; c < vector->child_count; c++) {
        if (c > 0)
            buffer_add_text(out, ", ");
        value_text_print(out, vector->children[c], at, zone);
    }
    buffer_add_byte(out, '}');
}

void value_text_print(struct buffer *out, const struct vector *vector, uint32_t row,
                      const struct zone *zone)
{
    if (vector_is_null(vector, row)) {
        buffer_add_text(out, "null");
        return;
    }
    uint32_t at = vector_index(vector, row);
    switch (vector->type->id) {
    case TYPE_VOID:
        break;
    case TYPE_BOOLEAN:
        buffer_add_text(out, VECTOR_VALUES(uint8_t, vector)[at] != 0 ? "true" : "false");
        break;
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
        print_number(out, vector, at);
        break;
    case TYPE_STRING:
    case TYPE_BINARY:
        buffer_add_bytes(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_VARIANT: {
        struct variant variant = variant_of_cell(VECTOR_VALUES(struct bytes, vector)[at]);
        variant_print_json(out, &variant, zone);
        break;
    }
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
        print_time(out, vector, at, zone);
        break;
    case TYPE_INTERVAL_DT:
        interval_text_print(out, vector->type, VECTOR_VALUES(int64_t, vector)[at]);
        break;
    case TYPE_INTERVAL_YM:
        interval_text_print(out, vector->type, VECTOR_VALUES(int32_t, vector)[at]);
        break;
    case TYPE_INTERVAL:
        interval_text_print_calendar(out, VECTOR_VALUES(struct calendar_interval, vector)[at]);
        break;
    case TYPE_ARRAY:
    case TYPE_MAP:
        print_list(out, vector, at, zone);
        break;
    case TYPE_STRUCT:
        print_struct(out, vector, at, zone);
        break;
    }
}

/* ---- literals ---- */

static void print_quoted(struct buffer *out, struct bytes text)
{
    buffer_add_byte(out, '\'');
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '\'' || text.data[i] == '\\')
            buffer_add_byte(out, '\\');
        buffer_add_byte(out, text.data[i]);
    }
    buffer_add_byte(out, '\'');
}

static void print_double_literal(struct buffer *out, const struct vector *vector, uint32_t at)
{
    bool narrow = vector->type->id == TYPE_FLOAT;
    double value =
        narrow ? (double)VECTOR_VALUES(float, vector)[at] : VECTOR_VALUES(double, vector)[at];
    if (value != value || __builtin_isinf(value)) {
        buffer_add_text(out, "CAST('");
        print_number(out, vector, at);
        buffer_printf(out, "' AS %s)", narrow ? "FLOAT" : "DOUBLE");
        return;
    }
    if (narrow) {
        buffer_add_text(out, "CAST(");
        print_number(out, vector, at);
        buffer_add_text(out, " AS FLOAT)");
        return;
    }
    print_number(out, vector, at);
    buffer_add_byte(out, 'D');
}

static void print_nested_literal(struct buffer *out, const struct vector *vector, uint32_t at,
                                 const struct zone *zone)
{
    bool is_struct = vector->type->id == TYPE_STRUCT;
    struct list_entry list = {at, 1};
    if (!is_struct)
        list = VECTOR_VALUES(struct list_entry, vector)[at];
    buffer_add_text(out, is_struct                      ? "NAMED_STRUCT("
                         : vector->type->id == TYPE_MAP ? "MAP("
                                                        : "ARRAY(");
    for (uint32_t i = 0; i < list.length; i++) {
        for (uint32_t c = 0; c < vector->child_count; c++) {
            if (i + c > 0)
                buffer_add_text(out, ", ");
            if (is_struct) {
                print_quoted(out, bytes_of_text(vector->type->fields[c].name));
                buffer_add_text(out, ", ");
            }
            value_text_print_literal(out, vector->children[c], list.offset + i, zone);
        }
    }
    buffer_add_byte(out, ')');
}

void value_text_print_literal(struct buffer *out, const struct vector *vector, uint32_t row,
                              const struct zone *zone)
{
    if (vector_is_null(vector, row)) {
        buffer_add_text(out, "NULL");
        return;
    }
    uint32_t at = vector_index(vector, row);
    switch ((int)vector->type->id) {
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_LONG:
        print_number(out, vector, at);
        buffer_add_byte(out, vector->type->id == TYPE_BYTE    ? 'Y'
                             : vector->type->id == TYPE_SHORT ? 'S'
                                                              : 'L');
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        print_double_literal(out, vector, at);
        break;
    case TYPE_DECIMAL:
        print_number(out, vector, at);
        buffer_add_text(out, "BD");
        break;
    case TYPE_STRING:
        print_quoted(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_BINARY: {
        struct bytes bytes = VECTOR_VALUES(struct bytes, vector)[at];
        buffer_add_text(out, "X'");
        for (size_t i = 0; i < bytes.size_bytes; i++)
            buffer_printf(out, "%02X", bytes.data[i]);
        buffer_add_byte(out, '\'');
        break;
    }
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME: {
        static const char *const words[TYPE_ID_COUNT] = {[TYPE_DATE] = "DATE",
                                                         [TYPE_TIMESTAMP] = "TIMESTAMP",
                                                         [TYPE_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ",
                                                         [TYPE_TIME] = "TIME"};
        buffer_printf(out, "%s '", words[vector->type->id]);
        print_time(out, vector, at, zone);
        buffer_add_byte(out, '\'');
        break;
    }
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        print_nested_literal(out, vector, at, zone);
        break;
    default:
        value_text_print(out, vector, at, zone);
    }
}
