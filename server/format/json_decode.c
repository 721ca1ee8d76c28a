/*
 * JSON values into columns: see json_decode.h.
 *
 * The fast paths take what well-behaved writers write (a plain text, a plain integer, an ISO
 * time); everything else goes to decode_slow(), which alone decides what is an error.
 */
#include "format/json_decode.h"

#include "base/heap.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "columnar/variant.h"
#include "format/json_copy.h"

#include <stdlib.h>

static enum json_outcome decode_value(struct json_decoder *decoder, struct json_column *column,
                                      uint32_t index, const uint8_t **cursor);

static inline struct bytes between(const uint8_t *from, const uint8_t *to)
{
    return bytes_of(from, (size_t)(to - from));
}

static enum json_outcome bad(struct json_decoder *decoder, const struct json_column *column,
                             struct bytes value, const char *token)
{
    if (!decoder->bad) {
        decoder->bad_column = column;
        decoder->bad_value = value;
        decoder->bad_token = token;
    }
    decoder->bad = true;
    return JSON_BAD;
}

/* Base64 as MIME has it: padding is required, blanks may stand between groups of four. */

static int base64_digit(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

static bool base64_group(const uint8_t *at, uint8_t **to)
{
    int digits[4];
    for (int i = 0; i < 4; i++)
        digits[i] = base64_digit(at[i]);
    if (digits[0] < 0 || digits[1] < 0)
        return false;
    *(*to)++ = (uint8_t)(digits[0] << 2 | digits[1] >> 4);
    if (at[2] == '=')
        return at[3] == '=';
    if (digits[2] < 0)
        return false;
    *(*to)++ = (uint8_t)(digits[1] << 4 | digits[2] >> 2);
    if (at[3] == '=')
        return true;
    if (digits[3] < 0)
        return false;
    *(*to)++ = (uint8_t)(digits[2] << 6 | digits[3]);
    return true;
}

static bool base64_decode(struct arena *arena, struct bytes text, struct bytes *out)
{
    uint8_t *data = arena_new_object(arena, text.size_bytes / 4 * 3 + 3);
    uint8_t *to = data;
    const uint8_t *end = text.data + text.size_bytes;
    for (const uint8_t *at = text.data; at < end; at += 4) {
        while (at < end && *at <= ' ')
            at++;
        if (at == end)
            break;
        if (end - at < 4 || !base64_group(at, &to))
            return false;
    }
    *out = between(data, to);
    return true;
}

/* Texts. */

static bool date_as_days(struct bytes text, int32_t *out)
{
    int64_t days = 0;
    if (number_parse_int64(text, &days) != TEXT_OK || days < INT32_MIN || days > INT32_MAX)
        return false;
    *out = (int32_t)days;
    return true;
}

static bool date_from_text(const struct json_decoder *decoder, struct bytes text, int32_t *out)
{
    const struct record_options *options = decoder->options;
    if (record_parse_date(options, text, out) == TEXT_OK)
        return true;
    return options->date_fallback && date_as_days(text, out);
}

static bool interval_from_text(struct bytes text, const struct type *type, int64_t *out)
{
    struct error ignored = ERROR_INIT;
    return interval_text_parse_fields(text, type, out, &ignored) == OK;
}

static bool double_from_text(const struct json_decoder *decoder, struct bytes text, double *out)
{
    const uint8_t *start = text.data;
    const uint8_t *at = start;
    if (text.size_bytes == 0 || (uint8_t)(start[*start == '-'] - '0') <= 9)
        return false;
    enum json_number number = json_number(&decoder->lexer, &at);
    if ((size_t)(at - start) != text.size_bytes)
        return false;
    *out = number == JSON_NUMBER_NAN        ? __builtin_nan("")
           : number == JSON_NUMBER_INFINITY ? __builtin_inf()
                                            : -__builtin_inf();
    return true;
}

static bool scalar_from_text(struct json_decoder *decoder, struct json_column *column,
                             uint32_t index, struct bytes text)
{
    const struct record_options *options = decoder->options;
    int64_t number = 0;
    double real = 0;
    bool ok = false;
    switch (column->kind) {
    case TYPE_DATE:
        return date_from_text(decoder, text, (int32_t *)column->values + index);
    case TYPE_TIMESTAMP:
        return record_parse_timestamp(options, text, decoder->now_us,
                                      (int64_t *)column->values + index) == TEXT_OK;
    case TYPE_TIMESTAMP_NTZ:
        return record_parse_ntz(options, text, (int64_t *)column->values + index) == TEXT_OK;
    case TYPE_INTERVAL_DT:
        return interval_from_text(text, column->type, (int64_t *)column->values + index);
    case TYPE_INTERVAL_YM:
        ok = interval_from_text(text, column->type, &number);
        ((int32_t *)column->values)[index] = (int32_t)number;
        return ok;
    case TYPE_FLOAT:
        ok = double_from_text(decoder, text, &real);
        ((float *)column->values)[index] = (float)real;
        return ok;
    case TYPE_DOUBLE:
        return double_from_text(decoder, text, (double *)column->values + index);
    case TYPE_DECIMAL:
        return number_locale_parse_decimal(options->numbers, text, column->type,
                                           (int128 *)column->values + index) == TEXT_OK;
    case TYPE_BINARY:
        return base64_decode(decoder->lexer.arena, text, (struct bytes *)column->values + index);
    default:
        return false;
    }
}

static enum json_outcome from_text(struct json_decoder *decoder, struct json_column *column,
                                   uint32_t index, struct bytes text)
{
    if (column->kind == TYPE_STRING) {
        ((struct bytes *)column->values)[index] = text;
        return JSON_SET;
    }
    if (column->kind == TYPE_VOID)
        return JSON_NULL;
    bool empty = text.size_bytes == 0 && column->kind != TYPE_BINARY;
    if (empty && decoder->empty_is_null && column->kind != TYPE_FLOAT &&
        column->kind != TYPE_DOUBLE && column->kind != TYPE_TIMESTAMP && column->kind != TYPE_DATE)
        return JSON_NULL;
    if (!empty && scalar_from_text(decoder, column, index, text))
        return JSON_SET;
    if (decoder->options->times_agree && decoder->old_time.data == NULL &&
        (column->kind == TYPE_DATE || column->kind == TYPE_TIMESTAMP)) {
        decoder->old_time = text;
        decoder->old_type = column->kind;
    }
    return bad(decoder, column, text, "VALUE_STRING");
}

/* A value that is no text in a column of texts. */
static void keep_as_text(struct json_decoder *decoder, struct json_column *column, uint32_t index,
                         struct bytes text)
{
    if (decoder->rewrites) {
        struct buffer copy = {0};
        json_copy_value(&decoder->lexer, text, &copy);
        text = arena_copy(decoder->lexer.arena, buffer_bytes(&copy));
        buffer_fini(&copy);
    }
    ((struct bytes *)column->values)[index] = text;
}

/* Numbers. */

static bool store_integer(struct json_column *column, uint32_t index, int64_t value)
{
    switch (column->kind) {
    case TYPE_BYTE:
        ((int8_t *)column->values)[index] = (int8_t)(uint8_t)value;
        return value >= INT8_MIN && value <= UINT8_MAX;
    case TYPE_SHORT:
        ((int16_t *)column->values)[index] = (int16_t)value;
        return value >= INT16_MIN && value <= INT16_MAX;
    case TYPE_INT:
        ((int32_t *)column->values)[index] = (int32_t)value;
        return value >= INT32_MIN && value <= INT32_MAX;
    case TYPE_LONG:
        ((int64_t *)column->values)[index] = value;
        return true;
    case TYPE_TIMESTAMP: /* seconds; too large ones wrap */
        ((int64_t *)column->values)[index] = (int64_t)((uint64_t)value * 1000000U);
        return true;
    default:
        return false;
    }
}

static bool double_from_number(struct bytes text, enum json_number kind, double *out)
{
    int64_t whole = 0;
    if (kind == JSON_NUMBER_NAN || kind == JSON_NUMBER_INFINITY ||
        kind == JSON_NUMBER_MINUS_INFINITY) {
        *out = kind == JSON_NUMBER_NAN        ? __builtin_nan("")
               : kind == JSON_NUMBER_INFINITY ? __builtin_inf()
                                              : -__builtin_inf();
        return true;
    }
    if (kind == JSON_NUMBER_INTEGER && number_parse_int64(text, &whole) == TEXT_OK) {
        *out = (double)whole;
        return true;
    }
    return number_parse_double(text, out) != TEXT_INVALID;
}

static bool float_from_number(struct bytes text, enum json_number kind, float *out)
{
    double real = 0;
    int64_t whole = 0;
    if (kind == JSON_NUMBER_FRACTION)
        return number_parse_float(text, out) != TEXT_INVALID;
    if (kind == JSON_NUMBER_INTEGER && number_parse_int64(text, &whole) == TEXT_OK) {
        *out = (float)whole;
        return true;
    }
    if (kind == JSON_NUMBER_INTEGER)
        return number_parse_float(text, out) != TEXT_INVALID;
    bool ok = double_from_number(text, kind, &real);
    *out = (float)real;
    return ok;
}

static bool number_from_token(struct json_column *column, uint32_t index, struct bytes text,
                              enum json_number kind)
{
    int64_t whole = 0;
    switch (column->kind) {
    case TYPE_DOUBLE:
        return double_from_number(text, kind, (double *)column->values + index);
    case TYPE_FLOAT:
        return float_from_number(text, kind, (float *)column->values + index);
    case TYPE_DECIMAL:
        return (kind == JSON_NUMBER_INTEGER || kind == JSON_NUMBER_FRACTION) &&
               decimal_parse(text, column->type->precision, column->type->scale,
                             (int128 *)column->values + index) == TEXT_OK;
    default:
        return kind == JSON_NUMBER_INTEGER && number_parse_int64(text, &whole) == TEXT_OK &&
               store_integer(column, index, whole);
    }
}

static enum json_outcome from_number(struct json_decoder *decoder, struct json_column *column,
                                     uint32_t index, const uint8_t **cursor)
{
    const uint8_t *start = *cursor;
    enum json_number kind = json_number(&decoder->lexer, cursor);
    if (kind == JSON_NUMBER_NONE)
        return JSON_SYNTAX;
    if (column->kind == TYPE_VOID)
        return JSON_NULL;
    struct bytes text = between(start, *cursor);
    if (column->kind == TYPE_STRING) {
        keep_as_text(decoder, column, index, text);
        return JSON_SET;
    }
    if (number_from_token(column, index, text, kind))
        return JSON_SET;
    return bad(decoder, column, text,
               kind == JSON_NUMBER_INTEGER ? "VALUE_NUMBER_INT" : "VALUE_NUMBER_FLOAT");
}

static enum json_outcome from_boolean(struct json_decoder *decoder, struct json_column *column,
                                      uint32_t index, const uint8_t **cursor)
{
    const uint8_t *start = *cursor;
    bool value = *start == 't';
    if (!json_word(cursor, value ? "true" : "false", value ? 4 : 5))
        return JSON_SYNTAX;
    struct bytes text = between(start, *cursor);
    if (column->kind == TYPE_BOOLEAN) {
        ((uint8_t *)column->values)[index] = value;
        return JSON_SET;
    }
    if (column->kind == TYPE_STRING) {
        ((struct bytes *)column->values)[index] = text;
        return JSON_SET;
    }
    if (column->kind == TYPE_VOID)
        return JSON_NULL;
    return bad(decoder, column, text, value ? "VALUE_TRUE" : "VALUE_FALSE");
}

/* The fast paths. */

static inline bool decode_time(const struct json_decoder *decoder, struct json_column *column,
                               uint32_t index, const uint8_t **cursor)
{
    bool zoned = column->kind == TYPE_TIMESTAMP;
    const uint8_t *at = *cursor;
    if (*at != '"' || !(zoned ? decoder->plain_time : decoder->plain_ntz))
        return false;
    at++;
    int64_t value = 0;
    bool local = !zoned || decoder->local_is_utc;
    if (!scan_iso_time(&column->day, local, zoned, &at, &value) || *at != '"')
        return false;
    ((int64_t *)column->values)[index] = value;
    *cursor = at + 1;
    return true;
}

static inline bool decode_date(const struct json_decoder *decoder, struct json_column *column,
                               uint32_t index, const uint8_t **cursor)
{
    const uint8_t *at = *cursor;
    if (*at != '"' || !decoder->plain_date || !day_cache_find(&column->day, at + 1) ||
        at[11] != '"')
        return false;
    ((int32_t *)column->values)[index] = (int32_t)(column->day.day_us / CIVIL_DAY_US);
    *cursor = at + 12;
    return true;
}

static inline bool decode_integer(struct json_column *column, uint32_t index,
                                  const uint8_t **cursor)
{
    const uint8_t *at = *cursor;
    int64_t value = 0;
    if (!scan_json_integer(&at, &value) || !store_integer(column, index, value))
        return false;
    *cursor = at;
    return true;
}

static inline bool decode_boolean(struct json_column *column, uint32_t index,
                                  const uint8_t **cursor)
{
    const uint8_t *at = *cursor;
    bool yes = memcmp(at, "true", 4) == 0;
    if (!yes && memcmp(at, "false", 5) != 0)
        return false;
    ((uint8_t *)column->values)[index] = yes;
    *cursor = at + (yes ? 4 : 5);
    return true;
}

static inline bool decode_text(const struct json_decoder *decoder, struct json_column *column,
                               uint32_t index, const uint8_t **cursor)
{
    const uint8_t *start = *cursor;
    if (*start != '"')
        return false;
    const uint8_t *stop = scan_json_plain(start + 1);
    if (*stop != '"' || (size_t)(stop - start) > decoder->lexer.rules->string_max)
        return false;
    ((struct bytes *)column->values)[index] = between(start + 1, stop);
    *cursor = stop + 1;
    return true;
}

static enum json_outcome decode_slow(struct json_decoder *decoder, struct json_column *column,
                                     uint32_t index, const uint8_t **cursor);

/* What well-behaved writers write.  False: look closer; the cursor has not moved. */
static inline __attribute__((always_inline)) bool decode_plain(struct json_decoder *decoder,
                                                               struct json_column *column,
                                                               uint32_t index,
                                                               const uint8_t **cursor)
{
    switch (column->kind) {
    case TYPE_STRING:
        return decode_text(decoder, column, index, cursor);
    case TYPE_BYTE:
    case TYPE_SHORT:
    case TYPE_INT:
    case TYPE_LONG:
        return decode_integer(column, index, cursor);
    case TYPE_DOUBLE:
        return scan_json_double(cursor, (double *)column->values + index);
    case TYPE_BOOLEAN:
        return decode_boolean(column, index, cursor);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return decode_time(decoder, column, index, cursor);
    case TYPE_DATE:
        return decode_date(decoder, column, index, cursor);
    default:
        return false;
    }
}

static enum json_outcome decode_value(struct json_decoder *decoder, struct json_column *column,
                                      uint32_t index, const uint8_t **cursor)
{
    if (decode_plain(decoder, column, index, cursor))
        return JSON_SET;
    return decode_slow(decoder, column, index, cursor);
}

/* Containers. */

/* Behind a value: the comma and the next value, or the closing bracket. */
static enum json_outcome next_element(struct json_decoder *decoder, uint8_t close,
                                      const uint8_t **cursor, bool *more)
{
    const uint8_t *at = json_skip_space(&decoder->lexer, *cursor);
    *more = *at == ',';
    if (!*more && *at != close)
        return JSON_SYNTAX;
    *cursor = *more ? json_skip_space(&decoder->lexer, at + 1) : at + 1;
    return JSON_SET;
}

/* One element of an array or value of a map; once one is bad the rest is only checked. */
static enum json_outcome decode_element(struct json_decoder *decoder, struct json_column *child,
                                        const uint8_t **cursor, bool *failed)
{
    if (*failed)
        return json_skip_value(&decoder->lexer, cursor);
    json_column_grow(child);
    uint32_t index = child->length;
    enum json_outcome outcome = decode_value(decoder, child, index, cursor);
    child->length++;
    if (outcome == JSON_SET)
        validity_set(child->validity, index);
    if (outcome == JSON_BAD)
        *failed = true;
    return outcome == JSON_TORN ? JSON_SYNTAX : outcome;
}

static enum json_outcome decode_array(struct json_decoder *decoder, struct json_column *column,
                                      uint32_t index, const uint8_t **cursor)
{
    struct json_column *child = &column->children[0];
    uint32_t start = child->length;
    const uint8_t *at = json_skip_space(&decoder->lexer, *cursor + 1);
    bool more = *at != ']';
    bool failed = false;
    if (!more)
        at++;
    while (more) {
        if (decode_element(decoder, child, &at, &failed) == JSON_SYNTAX ||
            next_element(decoder, ']', &at, &more) == JSON_SYNTAX)
            return JSON_SYNTAX;
    }
    *cursor = at;
    if (failed) {
        child->length = start;
        return JSON_BAD;
    }
    ((struct list_entry *)column->values)[index] =
        (struct list_entry){.offset = start, .length = child->length - start};
    return JSON_SET;
}

static enum json_outcome decode_map(struct json_decoder *decoder, struct json_column *column,
                                    uint32_t index, const uint8_t **cursor)
{
    struct json_column *keys = &column->children[0];
    struct json_column *values = &column->children[1];
    /* a record that broke off inside a map leaves the two unequal */
    uint32_t start = keys->length < values->length ? keys->length : values->length;
    keys->length = start;
    values->length = start;
    const uint8_t *at = json_skip_space(&decoder->lexer, *cursor + 1);
    bool more = *at != '}';
    bool failed = false;
    if (!more)
        at++;
    while (more) {
        struct bytes name;
        if (json_name(&decoder->lexer, &at, &name) == JSON_SYNTAX)
            return JSON_SYNTAX;
        if (!failed) {
            json_column_grow(keys);
            ((struct bytes *)keys->values)[keys->length] = name;
            validity_set(keys->validity, keys->length++);
        }
        if (decode_element(decoder, values, &at, &failed) == JSON_SYNTAX ||
            next_element(decoder, '}', &at, &more) == JSON_SYNTAX)
            return JSON_SYNTAX;
    }
    *cursor = at;
    if (failed) {
        keys->length = start;
        values->length = start;
        return JSON_BAD;
    }
    ((struct list_entry *)column->values)[index] =
        (struct list_entry){.offset = start, .length = keys->length - start};
    return JSON_SET;
}

static inline bool literal_matches(const struct key_literal *key, const uint8_t *at)
{
    __m128i low = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)at),
                                 _mm_loadu_si128((const __m128i *)(const void *)key->text));
    if (((unsigned)_mm_movemask_epi8(low) & key->mask_low) != key->mask_low)
        return false;
    if (key->mask_high == 0)
        return true;
    __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(at + 16)),
                                  _mm_loadu_si128((const __m128i *)(const void *)(key->text + 16)));
    return ((unsigned)_mm_movemask_epi8(high) & key->mask_high) == key->mask_high;
}

/* Where the loop over an object stands. */
struct object_place {
    const uint8_t *at;
    uint8_t literal; /* of the value before, or KEY_LITERAL_NONE */
    uint32_t field;  /* of the next value */
    bool first;
    bool closed;
};

/* Looks for a literal that was seen, but not behind this one. */
static bool known_literal(struct json_object *object, struct object_place *place)
{
    uint8_t before = place->literal;
    for (uint32_t i = 1; i < object->literal_count; i++) {
        bool opens = object->literals[i].text[0] == '{';
        if (opens != place->first || !literal_matches(&object->literals[i], place->at))
            continue;
        if (before != KEY_LITERAL_NONE && object->literals[before].next[0] != i) {
            object->literals[before].next[1] = object->literals[before].next[0];
            object->literals[before].next[0] = (uint8_t)i;
        }
        place->literal = (uint8_t)i;
        place->at += object->literals[i].size_bytes;
        place->field = object->literals[i].field;
        return true;
    }
    return false;
}

/* The next name by the book. */
static enum json_outcome object_next_slow(struct json_decoder *decoder, struct json_object *object,
                                          struct object_place *place)
{
    if (known_literal(object, place))
        return JSON_SET;
    const uint8_t *from = place->at;
    const uint8_t *at = place->first ? from + 1 : from;
    at = json_skip_space(&decoder->lexer, at);
    if (*at == '}') {
        place->closed = true;
        place->at = at + 1;
        return JSON_SET;
    }
    if (!place->first) {
        if (*at != ',')
            return JSON_SYNTAX;
        at = json_skip_space(&decoder->lexer, at + 1);
    }
    struct bytes name;
    if (json_name(&decoder->lexer, &at, &name) == JSON_SYNTAX)
        return JSON_SYNTAX;
    place->field = json_object_find(object, name);
    place->literal = json_object_learn(object, place->literal, between(from, at), place->field);
    place->at = at;
    return JSON_SET;
}

/* A plain text or number that nobody wants. */
static inline bool skip_plain(const uint8_t **cursor)
{
    const uint8_t *at = *cursor;
    if (*at == '"') {
        at = scan_json_plain(at + 1);
        if (*at != '"')
            return false;
        *cursor = at + 1;
        return true;
    }
    at += *at == '-';
    unsigned whole = digits_count(digits_load(at));
    if (whole == 0 || whole == 8 || (*at == '0' && whole > 1))
        return false;
    at += whole;
    if (*at == '.') {
        unsigned fraction = digits_count(digits_load(at + 1));
        if (fraction == 0 || fraction == 8)
            return false;
        at += 1 + fraction;
    }
    if ((*at | 0x20) == 'e')
        return false;
    *cursor = at;
    return true;
}

/* What becomes of a field whose value is not simply there.  False: the record ends here. */
static bool settle_field(struct json_decoder *decoder, struct json_column *column, uint32_t index,
                         enum json_outcome outcome)
{
    switch (outcome) {
    case JSON_SET:
        validity_set(column->validity, index);
        break;
    case JSON_NULL:
        validity_clear(column->validity, index);
        break;
    case JSON_TORN:
        (void)bad(decoder, column, bytes_of(NULL, 0), "VALUE_STRING");
        break;
    case JSON_BAD:
        return !decoder->stopped;
    case JSON_SYNTAX:
        return false;
    }
    return true;
}

static enum json_outcome decode_fields(struct json_decoder *decoder, struct json_object *object,
                                       struct json_column *columns, uint32_t index,
                                       const uint8_t **cursor)
{
    struct object_place place = {.first = true};
    const uint8_t *at = *cursor; /* stays in a register: only copies of it have an address */
    for (;;) {
        uint8_t guess = object->literals[place.literal].next[0];
        const struct key_literal *key = &object->literals[guess];
        if (literal_matches(key, at)) {
            place.literal = guess;
            place.field = key->field;
            at += key->size_bytes;
        } else {
            place.at = at;
            if (object_next_slow(decoder, object, &place) == JSON_SYNTAX)
                return JSON_SYNTAX;
            at = place.at;
            if (place.closed)
                break;
        }
        place.first = false;
        if (place.field == FIELD_NONE) {
            const uint8_t *behind = at;
            if (!skip_plain(&at)) {
                if (json_skip_value(&decoder->lexer, &behind) == JSON_SYNTAX)
                    return JSON_SYNTAX;
                at = behind;
            }
        } else if (decode_plain(decoder, &columns[place.field], index, &at)) {
            validity_set(columns[place.field].validity, index);
        } else {
            const uint8_t *behind = at;
            struct json_column *column = &columns[place.field];
            enum json_outcome outcome = decode_slow(decoder, column, index, &behind);
            at = behind;
            if (!settle_field(decoder, column, index, outcome)) {
                *cursor = at;
                return outcome == JSON_SYNTAX ? JSON_SYNTAX : JSON_SET;
            }
        }
        if (*at == '}') {
            at++;
            break;
        }
    }
    *cursor = at;
    return JSON_SET;
}

static enum json_outcome decode_struct(struct json_decoder *decoder, struct json_column *column,
                                       uint32_t index, const uint8_t **cursor)
{
    for (uint32_t i = 0; i < column->child_count; i++)
        json_column_clear(&column->children[i], index);
    bool before = decoder->bad;
    enum json_outcome outcome =
        decode_fields(decoder, &column->object, column->children, index, cursor);
    if (!decoder->whole_values || decoder->bad == before || outcome == JSON_SYNTAX)
        return outcome;
    decoder->stopped = true;
    return JSON_BAD;
}

/* An object or array whose column is neither: kept as text, or bad. */
static enum json_outcome from_container(struct json_decoder *decoder, struct json_column *column,
                                        uint32_t index, const uint8_t **cursor)
{
    const uint8_t *start = *cursor;
    decoder->lexer.depth--;
    enum json_outcome outcome = json_skip_value(&decoder->lexer, cursor);
    decoder->lexer.depth++;
    if (outcome == JSON_SYNTAX)
        return JSON_SYNTAX;
    struct bytes text = between(start, *cursor);
    if (column->kind == TYPE_STRING) {
        keep_as_text(decoder, column, index, text);
        return JSON_SET;
    }
    if (column->kind == TYPE_VOID)
        return JSON_NULL;
    return bad(decoder, column, text, *start == '{' ? "START_OBJECT" : "START_ARRAY");
}

static enum json_outcome decode_container(struct json_decoder *decoder, struct json_column *column,
                                          uint32_t index, const uint8_t **cursor)
{
    bool object = **cursor == '{';
    struct json_lexer *lexer = &decoder->lexer;
    if (lexer->depth >= lexer->rules->nesting_max)
        return JSON_SYNTAX;
    enum json_outcome outcome = JSON_SYNTAX;
    lexer->depth++;
    if (object && column->kind == TYPE_STRUCT)
        outcome = decode_struct(decoder, column, index, cursor);
    else if (object && column->kind == TYPE_MAP)
        outcome = decode_map(decoder, column, index, cursor);
    else if (!object && column->kind == TYPE_ARRAY)
        outcome = decode_array(decoder, column, index, cursor);
    else
        outcome = from_container(decoder, column, index, cursor);
    lexer->depth--;
    return outcome;
}

/* Any value in a column of VARIANT.  What the strict reader refuses is written again and read once
 * more. */
static enum json_outcome decode_variant(struct json_decoder *decoder, struct json_column *column,
                                        uint32_t index, const uint8_t **cursor)
{
    const uint8_t *start = *cursor;
    const struct variant_json_options options = {.single_quotes =
                                                     decoder->lexer.rules->single_quotes};
    if (json_skip_value(&decoder->lexer, cursor) == JSON_SYNTAX)
        return JSON_SYNTAX;
    struct bytes text = between(start, *cursor);
    struct bytes repeated;
    struct bytes cell;
    struct buffer copy = {0};
    struct variant_builder builder = {0};
    enum variant_json_result result = variant_add_json(&builder, text, &options, &repeated);
    if (result == VARIANT_JSON_MALFORMED) {
        json_copy_value(&decoder->lexer, text, &copy);
        variant_builder_clear(&builder);
        result = variant_add_json(&builder, buffer_bytes(&copy), &options, &repeated);
    }
    bool good = result == VARIANT_JSON_OK && variant_finish(&builder, &cell);
    if (good)
        ((struct bytes *)column->values)[index] = arena_copy(decoder->lexer.arena, cell);
    variant_builder_fini(&builder);
    buffer_fini(&copy);
    return good ? JSON_SET : bad(decoder, column, text, "START_OBJECT");
}

static enum json_outcome decode_slow(struct json_decoder *decoder, struct json_column *column,
                                     uint32_t index, const uint8_t **cursor)
{
    *cursor = json_skip_space(&decoder->lexer, *cursor);
    if (column->kind == TYPE_VARIANT)
        return decode_variant(decoder, column, index, cursor);
    struct bytes text;
    uint8_t quote;
    switch (**cursor) {
    case 'n':
        return json_word(cursor, "null", 4) ? JSON_NULL : JSON_SYNTAX;
    case 't':
    case 'f':
        return from_boolean(decoder, column, index, cursor);
    case '\'':
        if (!decoder->lexer.rules->single_quotes)
            return JSON_SYNTAX;
        __attribute__((fallthrough));
    case '"':
        quote = **cursor;
        if (json_text(&decoder->lexer, cursor, &text) == JSON_TORN)
            return quote == '"' ? JSON_TORN : JSON_SYNTAX; /* single quotes are read at once */
        return from_text(decoder, column, index, text);
    case '{':
    case '[':
        return decode_container(decoder, column, index, cursor);
    default:
        return from_number(decoder, column, index, cursor);
    }
}

/* Rows. */

void json_decoder_init(struct json_decoder *decoder, const struct record_options *options,
                       const struct json_rules *rules, const struct type_field *fields,
                       uint32_t count, uint32_t rows)
{
    *decoder = (struct json_decoder){
        .options = options,
        .columns = heap_calloc(count + 1, sizeof(struct json_column)),
        .column_count = count,
        .local_is_utc = options->zone == timezone_utc(),
        .plain_time = options->timestamp_pattern == NULL && !options->old_times,
        .plain_ntz = options->ntz_pattern == NULL,
        .plain_date = options->date_pattern == NULL && !options->old_times,
    };
    json_lexer_init(&decoder->lexer, rules);
    json_object_init(&decoder->root, fields, count);
    for (uint32_t i = 0; i < count; i++)
        json_column_init(&decoder->columns[i], fields[i].type, rows);
}

void json_decoder_fini(struct json_decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->column_count; i++)
        json_column_fini(&decoder->columns[i]);
    free(decoder->columns);
    json_object_fini(&decoder->root);
    json_lexer_fini(&decoder->lexer);
}

void json_decoder_begin(struct json_decoder *decoder, uint32_t rows, struct arena *batch)
{
    decoder->lexer.arena = batch;
    for (uint32_t i = 0; i < decoder->column_count; i++)
        json_column_reset(&decoder->columns[i], rows);
}

enum json_outcome json_decode_row(struct json_decoder *decoder, uint32_t row,
                                  const uint8_t **cursor)
{
    decoder->lexer.depth++;
    enum json_outcome outcome =
        decode_fields(decoder, &decoder->root, decoder->columns, row, cursor);
    decoder->lexer.depth--;
    return outcome;
}

enum json_outcome json_decode_variant(struct json_decoder *decoder, uint32_t row,
                                      const uint8_t **cursor)
{
    if (decoder->column_count == 0)
        return json_skip_value(&decoder->lexer, cursor);
    struct json_column *column = &decoder->columns[0];
    enum json_outcome outcome = decode_variant(decoder, column, row, cursor);
    if (outcome == JSON_SET)
        validity_set(column->validity, row);
    return outcome;
}

void json_decoder_clear_row(struct json_decoder *decoder, uint32_t row)
{
    for (uint32_t i = 0; i < decoder->column_count; i++)
        json_column_clear(&decoder->columns[i], row);
}
