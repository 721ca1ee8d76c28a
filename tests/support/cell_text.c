#include "cell_text.h"

#include "base/check.h"
#include "columnar/decimal.h"
#include "columnar/timestamp_text.h"
#include "columnar/value_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#define MICROS_PER_SECOND INT64_C(1000000)
#define BARE_MARK         '\x01' /* begins a string that stands for a bare word */
#define WEEK_US           (7 * 86400 * MICROS_PER_SECOND)

/* ---- timestamps ---- */

void cell_add_timestamp(struct buffer *out, int64_t time_us)
{
    int64_t since = time_us - SCENARIO_BEGIN_US;
    if (since <= WEEK_US && since >= -WEEK_US) {
        int64_t size = since < 0 ? -since : since;
        buffer_printf(out, "%c%lld", since < 0 ? '-' : '+', (long long)(size / MICROS_PER_SECOND));
        char fraction[16];
        (void)snprintf(fraction, sizeof(fraction), ".%06lld",
                       (long long)(size % MICROS_PER_SECOND));
        size_t end = strlen(fraction);
        while (end > 1 && fraction[end - 1] == '0')
            end--;
        buffer_add(out, fraction, end == 1 ? 0 : end);
        return;
    }
    char text[TIMESTAMP_TEXT_MAX];
    size_t size = timestamp_text_print_ntz(text, time_us);
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] == ' ' ? 'T' : text[i];
    buffer_add(out, text, size);
    buffer_add_byte(out, 'Z');
}

bool cell_read_timestamp(const char *text, int64_t *time_us)
{
    if ((*text == '+' || *text == '-') && isdigit((unsigned char)text[1])) {
        char *end;
        int64_t seconds = strtoll(text + 1, &end, 10), fraction = 0;
        if (*end == '.') {
            int digits = 0;
            for (end++; isdigit((unsigned char)*end) && digits < 6; end++, digits++)
                fraction = fraction * 10 + (*end - '0');
            for (; digits < 6; digits++)
                fraction *= 10;
        }
        int64_t since = seconds * MICROS_PER_SECOND + fraction;
        *time_us = SCENARIO_BEGIN_US + (*text == '-' ? -since : since);
        return *end == '\0';
    }
    struct timestamp_context context = {.zone = timezone_utc()};
    return timestamp_text_parse(bytes_of_text(text), &context, time_us) == TEXT_OK;
}

/* ---- one cell of a vector ---- */

static void add_double(struct buffer *out, double value)
{
    if (isnan(value))
        buffer_add_text(out, "NaN");
    else if (isinf(value))
        buffer_add_text(out, value > 0 ? "Infinity" : "-Infinity");
    else
        buffer_printf(out, "%.17g", value);
}

void cell_add_text(struct buffer *out, struct bytes text)
{
    bool bare = text.size_bytes > 0 && !bytes_equal(text, bytes_of_text("NULL")) &&
                !bytes_equal(text, bytes_of_text("(none)"));
    for (size_t i = 0; i < text.size_bytes && bare; i++)
        bare = text.data[i] > ' ' && strchr("\"\\{[#", text.data[i]) == NULL;
    if (bare)
        buffer_add_bytes(out, text);
    else
        buffer_add_json_string(out, text);
}

/* Python's str(timedelta), as the recorded answers have day-time intervals. */
static void add_duration(struct buffer *out, int64_t micros)
{
    int64_t day = 86400 * MICROS_PER_SECOND;
    int64_t days = micros / day - (micros % day < 0 ? 1 : 0);
    int64_t rest = micros - days * day, seconds = rest / MICROS_PER_SECOND;
    struct buffer text = {0};
    if (days != 0)
        buffer_printf(&text, "%lld day%s, ", (long long)days, days == 1 || days == -1 ? "" : "s");
    buffer_printf(&text, "%lld:%02lld:%02lld", (long long)(seconds / 3600),
                  (long long)(seconds / 60 % 60), (long long)(seconds % 60));
    if (rest % MICROS_PER_SECOND != 0)
        buffer_printf(&text, ".%06lld", (long long)(rest % MICROS_PER_SECOND));
    cell_add_text(out, buffer_bytes(&text));
    buffer_fini(&text);
}

static void add_hex(struct buffer *out, struct bytes bytes)
{
    buffer_add_text(out, "0x");
    for (size_t i = 0; i < bytes.size_bytes; i++)
        buffer_printf(out, "%02x", bytes.data[i]);
}

/* Values that print the same bare and in nested JSON; false for the others. */
static bool add_number(struct buffer *out, const struct vector *vector, uint32_t at)
{
    switch (vector->type->id) {
    case TYPE_BOOLEAN:
        buffer_add_text(out, VECTOR_VALUES(uint8_t, vector)[at] ? "true" : "false");
        return true;
    case TYPE_BYTE:
        buffer_printf(out, "%d", VECTOR_VALUES(int8_t, vector)[at]);
        return true;
    case TYPE_SHORT:
        buffer_printf(out, "%d", VECTOR_VALUES(int16_t, vector)[at]);
        return true;
    case TYPE_INT:
    case TYPE_INTERVAL_YM:
        buffer_printf(out, "%d", VECTOR_VALUES(int32_t, vector)[at]);
        return true;
    case TYPE_LONG:
        buffer_printf(out, "%lld", (long long)VECTOR_VALUES(int64_t, vector)[at]);
        return true;
    case TYPE_FLOAT:
        add_double(out, (double)VECTOR_VALUES(float, vector)[at]);
        return true;
    case TYPE_DOUBLE:
        add_double(out, VECTOR_VALUES(double, vector)[at]);
        return true;
    default:
        return false;
    }
}

/* The text of a cell that is neither a number nor nested. */
static void add_plain(struct buffer *out, const struct vector *vector, uint32_t at)
{
    switch (vector->type->id) {
    case TYPE_STRING:
        buffer_add_bytes(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_BINARY:
        add_hex(out, VECTOR_VALUES(struct bytes, vector)[at]);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        cell_add_timestamp(out, VECTOR_VALUES(int64_t, vector)[at]);
        break;
    default:
        value_text_print(out, vector, at, timezone_utc());
        break;
    }
}

static void add_json(struct buffer *out, const struct vector *vector, uint32_t row);

static void add_json_list(struct buffer *out, const struct vector *vector, uint32_t at)
{
    struct list_entry entry = VECTOR_VALUES(struct list_entry, vector)[at];
    bool map = vector->type->id == TYPE_MAP;
    buffer_add_byte(out, map ? '{' : '[');
    for (uint32_t i = 0; i < entry.length; i++) {
        uint32_t child = entry.offset + i;
        buffer_add_text(out, i > 0 ? "," : "");
        if (map) {
            struct buffer key = {0};
            const struct vector *keys = vector->children[0];
            uint32_t key_at = vector_index(keys, child);
            if (!add_number(&key, keys, key_at))
                add_plain(&key, keys, key_at);
            buffer_add_json_string(out, buffer_bytes(&key));
            buffer_add_byte(out, ':');
            buffer_fini(&key);
        }
        add_json(out, vector->children[map ? 1 : 0], child);
    }
    buffer_add_byte(out, map ? '}' : ']');
}

static void add_json(struct buffer *out, const struct vector *vector, uint32_t row)
{
    uint32_t at = vector_index(vector, row);
    if (vector_is_null(vector, row)) {
        buffer_add_text(out, "null");
    } else if (vector->type->id == TYPE_STRUCT) {
        buffer_add_byte(out, '{');
        for (uint32_t i = 0; i < vector->child_count; i++) {
            buffer_add_text(out, i > 0 ? "," : "");
            buffer_add_json_string(out, bytes_of_text(vector->type->fields[i].name));
            buffer_add_byte(out, ':');
            add_json(out, vector->children[i], at);
        }
        buffer_add_byte(out, '}');
    } else if (vector->type->id == TYPE_ARRAY || vector->type->id == TYPE_MAP) {
        add_json_list(out, vector, at);
    } else if (!add_number(out, vector, at)) {
        struct buffer text = {0};
        add_plain(&text, vector, at);
        buffer_add_json_string(out, buffer_bytes(&text));
        buffer_fini(&text);
    }
}

enum status cell_add(struct buffer *out, const struct vector *vector, uint32_t row,
                     struct error *err)
{
    (void)err;
    uint32_t at = vector_index(vector, row);
    if (vector_is_null(vector, row)) {
        buffer_add_text(out, "NULL");
    } else if (type_is_nested(vector->type)) {
        add_json(out, vector, row);
    } else if (vector->type->id == TYPE_INTERVAL_DT) {
        add_duration(out, VECTOR_VALUES(int64_t, vector)[at]);
    } else if (!add_number(out, vector, at)) {
        struct buffer text = {0};
        add_plain(&text, vector, at);
        cell_add_text(out, buffer_bytes(&text));
        buffer_fini(&text);
    }
    return OK;
}

enum status cell_add_row(struct buffer *out, const struct batch *batch, uint32_t row,
                         struct error *err)
{
    for (uint32_t i = 0; i < batch->schema->field_count; i++) {
        buffer_add_text(out, i > 0 ? "  " : "");
        TRY(cell_add(out, batch->columns[i], row, err));
    }
    return OK;
}

/* ---- written rows ---- */

static void add_json_value(struct buffer *out, const json_t *value);

static void add_json_object(struct buffer *out, json_t *object)
{
    const char *key;
    json_t *member;
    bool first = true;
    buffer_add_byte(out, '{');
    json_object_foreach(object, key, member)
    {
        buffer_add_text(out, first ? "" : ",");
        first = false;
        buffer_add_json_string(out, bytes_of_text(key));
        buffer_add_byte(out, ':');
        add_json_value(out, member);
    }
    buffer_add_byte(out, '}');
}

static void add_json_value(struct buffer *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: {
        json_t *copy = json_copy((json_t *)(uintptr_t)value);
        add_json_object(out, copy);
        json_decref(copy);
        break;
    }
    case JSON_ARRAY:
        buffer_add_byte(out, '[');
        for (size_t i = 0; i < json_array_size(value); i++) {
            buffer_add_text(out, i > 0 ? "," : "");
            add_json_value(out, json_array_get(value, i));
        }
        buffer_add_byte(out, ']');
        break;
    case JSON_STRING:
        if (json_string_value(value)[0] == BARE_MARK) {
            buffer_add_text(out, json_string_value(value) + 1);
            break;
        }
        buffer_add_json_string(out, bytes_of(json_string_value(value), json_string_length(value)));
        break;
    case JSON_INTEGER:
        buffer_printf(out, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        add_double(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buffer_add_text(out, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        buffer_add_text(out, "null");
        break;
    }
}

/* JSON as Python writes it: NaN and Infinity become marked strings, so that jansson reads them. */
static void mark_bare_words(struct buffer *out, const char *text)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    bool quoted = false;
    while (*text != '\0') {
        const char *word = NULL;
        for (size_t i = 0; i < 3 && !quoted; i++) {
            if (strncmp(text, words[i], strlen(words[i])) == 0)
                word = words[i];
        }
        if (word != NULL) {
            buffer_printf(out, "\"\\u%04x%s\"", BARE_MARK, word);
            text += strlen(word);
            continue;
        }
        if (*text == '"')
            quoted = !quoted;
        if (*text == '\\' && text[1] != '\0')
            buffer_add_byte(out, (uint8_t)*text++);
        buffer_add_byte(out, (uint8_t)*text++);
    }
}

/* A quoted text or JSON in the canonical form of a column. */
static enum status add_expected_json(struct buffer *out, const struct type *type, const char *text,
                                     struct error *err)
{
    json_error_t problem;
    struct buffer marked = {0};
    mark_bare_words(&marked, text);
    json_t *value = json_loads(buffer_text(&marked), JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    buffer_fini(&marked);
    if (value == NULL)
        return error_set(err, SCENARIO_INVALID, "not JSON: %s (%s)", text, problem.text);
    if (json_is_string(value) && !type_is_nested(type))
        cell_add_text(out, bytes_of(json_string_value(value), json_string_length(value)));
    else
        add_json_value(out, value);
    json_decref(value);
    return OK;
}

static enum status add_expected_word(struct buffer *out, const struct type *type, const char *word,
                                     struct error *err)
{
    int64_t time_us;
    char *end;
    if (strcmp(word, "NULL") == 0) {
        buffer_add_text(out, word);
        return OK;
    }
    switch (type->id) {
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        if (!cell_read_timestamp(word, &time_us))
            return error_set(err, SCENARIO_INVALID, "no timestamp: %s", word);
        cell_add_timestamp(out, time_us);
        return OK;
    case TYPE_FLOAT:
    case TYPE_DOUBLE: {
        double value = strtod(word, &end);
        if (*end != '\0')
            return error_set(err, SCENARIO_INVALID, "no number: %s", word);
        add_double(out, type->id == TYPE_FLOAT ? (double)(float)value : value);
        return OK;
    }
    default:
        cell_add_text(out, bytes_of_text(word));
        return OK;
    }
}

enum status cell_add_expected(struct buffer *out, struct arena *arena, const struct type *schema,
                              const char *row, struct error *err)
{
    struct scn_cell *cells;
    size_t count;
    TRY(scn_cells(arena, row, &cells, &count, err));
    bool typed = count == schema->field_count;
    for (size_t i = 0; i < count; i++) {
        const struct type *type = typed ? schema->fields[i].type : type_simple(TYPE_STRING);
        buffer_add_text(out, i > 0 ? "  " : "");
        TRY(cells[i].json ? add_expected_json(out, type, cells[i].text, err)
                          : add_expected_word(out, type, cells[i].text, err));
    }
    return OK;
}

/* ---- rows to feed ---- */

static void add_feed_word(struct buffer *out, const struct type *type, const char *word)
{
    int64_t time_us;
    char text[TIMESTAMP_TEXT_MAX];
    switch (type->id) {
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        if ((*word == '+' || *word == '-') && cell_read_timestamp(word, &time_us)) {
            size_t size = timestamp_text_print_ntz(text, time_us);
            for (size_t i = 0; i < size; i++)
                text[i] = text[i] == ' ' ? 'T' : text[i];
            buffer_printf(out, "\"%.*s%s\"", (int)size, text,
                          type->id == TYPE_TIMESTAMP ? "Z" : "");
            return;
        }
        break;
    case TYPE_BOOLEAN:
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_DECIMAL:
        buffer_add_text(out, word);
        return;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        if (isdigit((unsigned char)word[0]) || isdigit((unsigned char)word[1])) {
            buffer_add_text(out, word);
            return;
        }
        break;
    default:
        break;
    }
    buffer_add_json_string(out, bytes_of_text(word));
}

enum status cell_row_json(struct buffer *out, struct arena *arena, const struct type *schema,
                          const char *row, struct error *err)
{
    struct scn_cell *cells;
    size_t count;
    TRY(scn_cells(arena, row, &cells, &count, err));
    if (count != schema->field_count)
        return error_set(err, SCENARIO_INVALID, "%zu cells for %u columns: %s", count,
                         schema->field_count, row);
    buffer_add_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        buffer_add_json_string(out, bytes_of_text(schema->fields[i].name));
        buffer_add_text(out, ": ");
        if (cells[i].json)
            buffer_add_text(out, cells[i].text);
        else if (strcmp(cells[i].text, "NULL") == 0)
            buffer_add_text(out, "null");
        else
            add_feed_word(out, schema->fields[i].type, cells[i].text);
    }
    buffer_add_byte(out, '}');
    return OK;
}
