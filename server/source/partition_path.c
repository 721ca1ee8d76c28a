#include "source/partition_path.h"

#include "base/buffer.h"
#include "base/check.h"
#include "base/utf8.h"
#include "columnar/decimal.h"
#include "columnar/number_text.h"
#include "columnar/timestamp_text.h"

#include <string.h>
#include <strings.h>

#define COLUMNS_MAX 64

bool partition_path_is_column(const char *name)
{
    return strchr(name, '=') != NULL;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %XX is the character U+00XX, whatever its neighbours are; U+0000 as well, so the result has a
 * size. */
static struct bytes unescape(struct arena *arena, const char *text, size_t size)
{
    struct buffer out = {0};
    for (size_t i = 0; i < size; i++) {
        int high = i + 2 < size && text[i] == '%' ? hex_value(text[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low < 0) {
            buffer_add_byte(&out, (uint8_t)text[i]);
            continue;
        }
        uint8_t encoded[4];
        buffer_add(&out, encoded, utf8_encode((uint32_t)(high << 4 | low), encoded));
        i += 2;
    }
    struct bytes result = arena_copy(arena, buffer_bytes(&out));
    buffer_fini(&out);
    return result;
}

/* A name is a C string: one with U+0000, which no schema can name, stays as it is written. */
static const char *unescape_name(struct arena *arena, const char *text, size_t size)
{
    struct bytes name = unescape(arena, text, size);
    if (name.size_bytes > 0 && memchr(name.data, 0, name.size_bytes) != NULL)
        return arena_strndup(arena, text, size);
    return arena_strndup(arena, name.data, name.size_bytes);
}

/* One component; *found is false if it is no column. */
static enum status parse_component(struct arena *arena, const char *text, size_t size,
                                   struct partition_column *out, bool *found, struct error *err)
{
    const char *equals = memchr(text, '=', size);
    *found = equals != NULL;
    if (equals == NULL)
        return OK;
    char *spec = arena_strndup(arena, text, size);
    size_t name_size = (size_t)(equals - text);
    if (name_size == 0)
        return error_raise(err, STATUS_EMPTY_PARTITION_COLUMN_NAME, "columnSpec", spec, NULL);
    if (name_size + 1 == size)
        return error_raise(err, STATUS_EMPTY_PARTITION_COLUMN_VALUE, "columnSpec", spec, NULL);
    out->name = unescape_name(arena, text, name_size);
    out->raw = arena_strdup(arena, spec + name_size + 1);
    return OK;
}

static enum status check_distinct(struct arena *arena, const struct partition_column *columns,
                                  uint32_t count, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (strcasecmp(columns[i].name, columns[j].name) == 0)
                return error_raise(err, STATUS_COLUMN_ALREADY_EXISTS, "columnName",
                                   arena_sprintf(arena, "`%s`", columns[i].name), NULL);
    return OK;
}

enum status partition_path_parse(struct arena *arena, const char *root, const char *dir,
                                 struct partition_dir *out, struct error *err)
{
    struct partition_column found[COLUMNS_MAX]; /* innermost first */
    uint32_t count = 0;
    size_t root_size = strlen(root);
    size_t end = strlen(dir);
    while (end > root_size && count < COLUMNS_MAX) {
        size_t start = end;
        while (start > 0 && dir[start - 1] != '/')
            start--;
        bool is_column = false;
        TRY(parse_component(arena, dir + start, end - start, &found[count], &is_column, err));
        if (is_column)
            count++;
        else if (count > 0)
            break;
        end = start > 1 ? start - 1 : start;
    }
    struct partition_column *columns = arena_new_object(arena, (count + 1) * sizeof *columns);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = found[count - 1 - i];
    TRY(check_distinct(arena, columns, count, err));
    *out = (struct partition_dir){
        .columns = columns,
        .count = count,
        .base = count > 0 ? arena_strndup(arena, dir, end) : arena_strdup(arena, dir),
    };
    return OK;
}

static bool is_digits(const char *text, const char *pattern)
{
    for (; *pattern != '\0'; pattern++, text++)
        if (*pattern == '9' ? *text < '0' || *text > '9' : *text != *pattern)
            return false;
    return *text == '\0';
}

static bool is_date(const char *text)
{
    int32_t days = 0;
    return is_digits(text, "9999-99-99") &&
           timestamp_text_parse_date(bytes_of_text(text), &days) == TEXT_OK;
}

static bool is_timestamp(struct arena *arena, struct bytes plain)
{
    struct timestamp_context context = {.zone = timezone_utc()};
    int64_t us = 0;
    const char *text = arena_strndup(arena, plain.data, plain.size_bytes);
    return strlen(text) == plain.size_bytes &&
           (is_digits(text, "9999-99-99 99:99:99") || is_digits(text, "9999-99-99 99:99:99.9")) &&
           timestamp_text_parse(plain, &context, &us) == TEXT_OK;
}

/* As Java's parseDouble: words only in their exact spelling. */
static bool parse_double(const char *raw, double *out)
{
    struct bytes text = number_trim_all(bytes_of_text(raw));
    struct bytes digits = text;
    if (digits.size_bytes > 0 && (digits.data[0] == '-' || digits.data[0] == '+'))
        digits = bytes_of(digits.data + 1, digits.size_bytes - 1);
    uint8_t first = digits.size_bytes > 0 ? digits.data[0] : 0;
    if ((first < '0' || first > '9') && first != '.' &&
        !bytes_equal(digits, bytes_of_text("NaN")) &&
        !bytes_equal(digits, bytes_of_text("Infinity")))
        return false;
    return number_cast_double(text, out) == TEXT_OK;
}

const struct type *partition_value_type(struct arena *arena, const char *raw)
{
    if (strcmp(raw, PARTITION_DEFAULT) == 0)
        return type_simple(TYPE_VOID);
    struct bytes text = bytes_of_text(raw);
    int64_t integer = 0;
    if (number_parse_int64(text, &integer) == TEXT_OK)
        return type_simple(integer >= INT32_MIN && integer <= INT32_MAX ? TYPE_INT : TYPE_LONG);
    struct decimal decimal;
    int precision = 0;
    if (decimal_parse_exact(text, &decimal, &precision) == TEXT_OK && decimal.scale == 0 &&
        strchr(raw, '.') == NULL)
        return type_decimal(arena, precision, 0);
    double real = 0;
    if (parse_double(raw, &real))
        return type_simple(TYPE_DOUBLE);
    if (is_date(raw))
        return type_simple(TYPE_DATE);
    if (is_timestamp(arena, unescape(arena, raw, strlen(raw))))
        return type_simple(TYPE_TIMESTAMP);
    return type_simple(TYPE_STRING);
}

static int digits_of(const struct type *type)
{
    return type->id == TYPE_DECIMAL ? type->precision : type->id == TYPE_INT ? 10 : 20;
}

const struct type *partition_type_widen(struct arena *arena, const struct type *a,
                                        const struct type *b)
{
    if (a->id == TYPE_VOID || type_equal(a, b))
        return b;
    if (b->id == TYPE_VOID)
        return a;
    if (a->id > b->id) {
        const struct type *swap = a;
        a = b;
        b = swap;
    }
    if (a->id == TYPE_INT && (b->id == TYPE_LONG || b->id == TYPE_DOUBLE))
        return b;
    if ((a->id == TYPE_INT || a->id == TYPE_DECIMAL) && b->id == TYPE_DECIMAL) {
        int precision = digits_of(a) > digits_of(b) ? digits_of(a) : digits_of(b);
        return type_decimal(arena, precision, 0);
    }
    if (a->id == TYPE_DOUBLE && b->id == TYPE_DECIMAL)
        return a;
    if (a->id == TYPE_DATE && b->id == TYPE_TIMESTAMP)
        return b;
    return type_simple(TYPE_STRING); /* also BIGINT with DOUBLE or DECIMAL */
}

static bool cast_integer(const char *raw, int64_t min, int64_t max, int64_t *out)
{
    return number_parse_int64(bytes_of_text(raw), out) == TEXT_OK && *out >= min && *out <= max;
}

static bool cast_timestamp(struct bytes text, const struct zone *zone, int64_t *out)
{
    struct timestamp_context context = {.zone = zone};
    return timestamp_text_parse(text, &context, out) == TEXT_OK;
}

/* Fills cell 0.  False: the text is no such value. */
static bool cast_cell(struct arena *arena, const char *raw, const struct zone *zone,
                      struct vector *vector)
{
    const struct type *type = vector->type;
    struct bytes plain = unescape(arena, raw, strlen(raw));
    int64_t integer = 0;
    double real = 0;
    switch (type->id) {
    case TYPE_BOOLEAN:
        VECTOR_VALUES(uint8_t, vector)[0] = strcasecmp(raw, "true") == 0;
        return strcasecmp(raw, "true") == 0 || strcasecmp(raw, "false") == 0;
    case TYPE_BYTE:
        if (!cast_integer(raw, INT8_MIN, INT8_MAX, &integer))
            return false;
        VECTOR_VALUES(int8_t, vector)[0] = (int8_t)integer;
        return true;
    case TYPE_SHORT:
        if (!cast_integer(raw, INT16_MIN, INT16_MAX, &integer))
            return false;
        VECTOR_VALUES(int16_t, vector)[0] = (int16_t)integer;
        return true;
    case TYPE_INT:
        if (!cast_integer(raw, INT32_MIN, INT32_MAX, &integer))
            return false;
        VECTOR_VALUES(int32_t, vector)[0] = (int32_t)integer;
        return true;
    case TYPE_LONG:
        return cast_integer(raw, INT64_MIN, INT64_MAX, VECTOR_VALUES(int64_t, vector));
    case TYPE_FLOAT:
        VECTOR_VALUES(float, vector)[0] = parse_double(raw, &real) ? (float)real : 0;
        return parse_double(raw, &real);
    case TYPE_DOUBLE:
        return parse_double(raw, VECTOR_VALUES(double, vector));
    case TYPE_DECIMAL:
        return decimal_parse(bytes_of_text(raw), type->precision, type->scale,
                             VECTOR_VALUES(int128, vector)) == TEXT_OK;
    case TYPE_STRING:
    case TYPE_BINARY:
        VECTOR_VALUES(struct bytes, vector)[0] = plain;
        return true;
    case TYPE_DATE:
        return timestamp_text_parse_date(plain, VECTOR_VALUES(int32_t, vector)) == TEXT_OK;
    case TYPE_TIMESTAMP:
        return cast_timestamp(plain, zone, VECTOR_VALUES(int64_t, vector));
    case TYPE_TIMESTAMP_NTZ:
        return timestamp_text_parse_ntz(plain, true, VECTOR_VALUES(int64_t, vector)) == TEXT_OK;
    default: /* refused by partition_value_cast */
        return false;
    }
}

static bool can_hold(const struct type *type)
{
    return (type->id >= TYPE_BOOLEAN && type->id <= TYPE_TIMESTAMP_NTZ) || type->id == TYPE_VOID;
}

enum status partition_value_cast(struct arena *arena, const struct partition_column *column,
                                 const struct type_field *field, const struct zone *zone,
                                 struct vector **out, struct error *err)
{
    const struct type *type = field->type;
    if (!can_hold(type))
        return error_raise(err, STATUS_UNSUPPORTED_PARTITION_TYPE, "columnName", field->name,
                           "dataType", type_sql(arena, type), NULL);
    if (type->id == TYPE_VOID || strcmp(column->raw, PARTITION_DEFAULT) == 0)
        return vector_new_null(arena, type, 1, out, err);
    struct vector *vector = NULL;
    TRY(vector_new(arena, type, 1, &vector, err));
    if (!cast_cell(arena, column->raw, zone, vector))
        return error_raise(err, STATUS_INVALID_PARTITION_VALUE, "value",
                           arena_sprintf(arena, "'%s'", column->raw), "dataType",
                           arena_sprintf(arena, "\"%s\"", type_sql(arena, type)), "columnName",
                           arena_sprintf(arena, "`%s`", field->name), NULL);
    vector->constant = true;
    *out = vector;
    return OK;
}
