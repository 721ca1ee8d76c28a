/*
 * The JSON writer: batches -> one object a line.
 *
 * The names are prepared once as `,"name":`; a row is its fields one after another, and the comma
 * of the first one then becomes the opening brace.
 */
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/datetime_words.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "columnar/variant.h"
#include "format/file_output.h"
#include "format/json_format.h"
#include "format/json_pretty.h"
#include "format/text_print.h"

#include <emmintrin.h>
#include <stdlib.h>
#include <strings.h>

#define JSON_WRITER_MAGIC 0x15073217
#define JSON_FILE_MAGIC   0x1507f11e

const struct option_def json_write_options[] = {
    {"compression", OPTION_TEXT, 0, 0, "none", "none, gzip, deflate, bzip2, zstd, lz4 or snappy"},
    {"encoding", OPTION_TEXT, 0, 0, "UTF-8", "charset of the files"},
    {"charset", OPTION_TEXT, 0, 0, NULL, "another name of encoding"},
    {"lineSep", OPTION_TEXT, 0, 0, "\n", "what is written behind each record"},
    {"ignoreNullFields", OPTION_BOOL, 0, 0, "true", "fields that are NULL are left out"},
    {"writeNonAsciiCharacterAsCodePoint", OPTION_BOOL, 0, 0, "false",
     "characters beyond ASCII are written as \\uXXXX"},
    {"pretty", OPTION_BOOL, 0, 0, "false", "each field is written on a line of its own"},
    {"dateFormat", OPTION_TEXT, 0, 0, NULL, "pattern of dates"},
    {"timestampFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps"},
    {"timestampNTZFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps without zone"},
    {"timeZone", OPTION_TEXT, 0, 0, NULL, "zone in which timestamps are written"},
    {"locale", OPTION_TEXT, 0, 0, "en-US",
     "language of words in patterns of dates: " DATETIME_WORDS_LANGUAGES},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

#define KEY_PADDING   32
#define TIME_MEMOS    64 /* a power of two */
#define TIME_MEMO_MAX 32

/* A type with the names of its fields ready to write. */
struct json_shape {
    const struct type *type;
    struct bytes *keys; /* STRUCT: `,"name":` of each field */
    struct json_shape *children;
};

struct json_writer {
    uint32_t magic;
    struct write_options options;
    bool keep_nulls;
    bool ascii_only;
    bool pretty;
    bool utc;
    struct json_shape root;
};

/* A time as it was written, quotes included. */
struct time_memo {
    int64_t us;
    uint8_t size; /* 0: nothing yet */
    bool zoned;
    uint8_t text[TIME_MEMO_MAX];
};

struct json_file {
    uint32_t magic;
    const struct json_writer *writer;
    struct file_output output;
    struct buffer compact; /* with `pretty`: the row at hand */
    struct day_text day;
    struct time_memo times[TIME_MEMOS]; /* whole seconds: windows begin and end again and again */
    struct text_cursor to;
};

/* Texts. */

static void put_unicode(struct text_cursor *to, uint32_t unit)
{
    static const char hex[] = "0123456789ABCDEF";
    to->at[0] = '\\';
    to->at[1] = 'u';
    for (int i = 0; i < 4; i++)
        to->at[2 + i] = (uint8_t)hex[unit >> (12 - 4 * i) & 15];
    to->at += 6;
}

static void put_ascii(struct text_cursor *to, uint8_t byte)
{
    static const char names[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *known = byte == '\0' ? NULL : strchr(names, byte);
    if (known == NULL) {
        put_unicode(to, byte);
        return;
    }
    *to->at++ = '\\';
    *to->at++ = (uint8_t)letters[known - names];
}

/* The sequence at the start of `text`; result: how many bytes of it are done. */
static size_t put_wide(struct text_cursor *to, struct bytes text, bool ascii_only)
{
    size_t size = utf8_sequence_size(text);
    if (size > 0 && !ascii_only) {
        memcpy(to->at, text.data, size);
        to->at += size;
        return size;
    }
    size_t decoded = 0;
    uint32_t code = utf8_decode(text, &decoded);
    if (size == 0)
        size = utf8_malformed_size(text);
    if (!ascii_only) {
        to->at += utf8_encode(code, to->at);
    } else if (code < 0x10000) {
        put_unicode(to, code);
    } else {
        put_unicode(to, 0xD800 + ((code - 0x10000) >> 10));
        put_unicode(to, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    return size;
}

/* The rest of a text from its first special byte on; six bytes for each byte are there. */
static void put_text_slow(struct text_cursor *to, struct bytes text, bool ascii_only)
{
    while (text.size_bytes > 0) {
        uint8_t byte = *text.data;
        size_t size = 1;
        if (byte >= 0x80)
            size = put_wide(to, text, ascii_only);
        else if (byte < ' ' || byte == '"' || byte == '\\')
            put_ascii(to, byte);
        else
            *to->at++ = byte;
        text = bytes_of(text.data + size, text.size_bytes - size);
    }
}

/* Which of 16 bytes need a closer look. */
static inline unsigned special_bytes(__m128i block)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i escape = _mm_set1_epi8('\\');
    const __m128i blank = _mm_set1_epi8(' '); /* signed: bytes >= 0x80 are below it too */
    __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, escape));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(stop, _mm_cmpgt_epi8(blank, block)));
}

/* The bytes in front of the first special one, copied; fewer than 16 behind `text` are not read. */
static inline size_t put_plain(uint8_t *at, struct bytes text)
{
    size_t done = 0;
    for (; done + 16 <= text.size_bytes; done += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(text.data + done));
        _mm_storeu_si128((__m128i *)(void *)(at + done), block);
        unsigned mask = special_bytes(block);
        if (mask != 0)
            return done + (size_t)__builtin_ctz(mask);
    }
    size_t rest = text.size_bytes - done;
    if (rest == 0)
        return done;
    uint8_t tail[16] = {0};
    memcpy(tail, text.data + done, rest);
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)tail);
    _mm_storeu_si128((__m128i *)(void *)(at + done), block);
    unsigned mask = special_bytes(block) & ((1U << rest) - 1);
    return mask != 0 ? done + (size_t)__builtin_ctz(mask) : text.size_bytes;
}

static void put_text(struct text_cursor *to, struct bytes text, bool ascii_only)
{
    text_room(to, text.size_bytes + 2);
    *to->at++ = '"';
    size_t plain = put_plain(to->at, text);
    to->at += plain;
    if (plain < text.size_bytes) {
        struct bytes rest = bytes_of(text.data + plain, text.size_bytes - plain);
        text_room(to, rest.size_bytes * 6 + 2);
        put_text_slow(to, rest, ascii_only);
    }
    *to->at++ = '"';
}

static void put_base64(struct text_cursor *to, struct bytes data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_room(to, data.size_bytes / 3 * 4 + 8);
    *to->at++ = '"';
    for (size_t i = 0; i < data.size_bytes; i += 3) {
        size_t left = data.size_bytes - i;
        uint32_t group = (uint32_t)data.data[i] << 16;
        group |= left > 1 ? (uint32_t)data.data[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)data.data[i + 2] : 0;
        *to->at++ = (uint8_t)digits[group >> 18];
        *to->at++ = (uint8_t)digits[group >> 12 & 63];
        *to->at++ = left > 1 ? (uint8_t)digits[group >> 6 & 63] : '=';
        *to->at++ = left > 2 ? (uint8_t)digits[group & 63] : '=';
    }
    *to->at++ = '"';
}

/* Scalars. */

static void put_double(struct text_cursor *to, double value, bool narrow)
{
    text_room(to, 40);
    bool quoted = !__builtin_isfinite(value);
    if (quoted)
        *to->at++ = '"';
    to->at += narrow ? number_print_float((char *)to->at, (float)value)
                     : number_print_double((char *)to->at, value);
    if (quoted)
        *to->at++ = '"';
}

/* What a pattern or an interval printer leaves in a buffer, as a JSON string. */
static void put_buffer(struct text_cursor *to, struct buffer *text, bool ascii_only)
{
    put_text(to, buffer_bytes(text), ascii_only);
    buffer_fini(text);
}

/* There is room for it. */
static void put_iso(struct json_file *file, int64_t us, bool zoned)
{
    struct text_cursor *to = &file->to;
    *to->at++ = '"';
    if ((zoned && !file->writer->utc) || !text_print_millis(&to->at, &file->day, us)) {
        const struct zone *zone = file->writer->options.zone;
        char text[TIMESTAMP_TEXT_MAX];
        size_t size = zoned ? timestamp_text_print_iso(text, us, zone)
                            : timestamp_text_print_iso_ntz(text, us);
        memcpy(to->at, text, size);
        to->at += size;
    } else if (zoned) {
        *to->at++ = 'Z';
    }
    *to->at++ = '"';
}

static void put_second(struct json_file *file, int64_t us, bool zoned)
{
    struct text_cursor *to = &file->to;
    uint64_t place = (uint64_t)us * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct time_memo *memo = &file->times[place & (TIME_MEMOS - 1)];
    if (memo->us == us && memo->zoned == zoned && memo->size > 0) {
        memcpy(to->at, memo->text, TIME_MEMO_MAX);
        to->at += memo->size;
        return;
    }
    const uint8_t *text = to->at;
    put_iso(file, us, zoned);
    size_t size = (size_t)(to->at - text);
    if (size > TIME_MEMO_MAX)
        return;
    memo->us = us;
    memo->zoned = zoned;
    memo->size = (uint8_t)size;
    memcpy(memo->text, text, size);
}

static void put_time(struct json_file *file, int64_t us, bool zoned)
{
    const struct write_options *options = &file->writer->options;
    const struct datetime_pattern *pattern =
        zoned ? options->timestamp_pattern : options->ntz_pattern;
    struct text_cursor *to = &file->to;
    if (pattern != NULL) {
        struct buffer text = {0};
        if (zoned)
            datetime_pattern_format(pattern, &text, us, options->zone);
        else
            datetime_pattern_format_ntz(pattern, &text, us);
        put_buffer(to, &text, file->writer->ascii_only);
        return;
    }
    text_room(to, TIMESTAMP_TEXT_MAX + 4);
    if (us % 1000000 == 0)
        put_second(file, us, zoned);
    else
        put_iso(file, us, zoned);
}

static void put_date(struct json_file *file, int32_t days)
{
    struct text_cursor *to = &file->to;
    const struct datetime_pattern *pattern = file->writer->options.date_pattern;
    if (pattern != NULL) {
        struct buffer text = {0};
        datetime_pattern_format_date(pattern, &text, days);
        put_buffer(to, &text, file->writer->ascii_only);
        return;
    }
    char text[TIMESTAMP_TEXT_MAX];
    put_text(to, bytes_of(text, timestamp_text_print_date(text, days)), false);
}

static void put_interval(struct json_file *file, const struct type *type, int64_t value)
{
    struct buffer text = {0};
    interval_text_print(&text, type, value);
    put_buffer(&file->to, &text, file->writer->ascii_only);
}

static void put_int64(struct text_cursor *to, int64_t value)
{
    text_room(to, 32);
    to->at = text_print_int64(to->at, value);
}

static void put_decimal(struct text_cursor *to, int128 unscaled, const struct type *type)
{
    text_room(to, DECIMAL_TEXT_MAX);
    struct decimal value = {unscaled, type->scale};
    to->at += decimal_print_java((char *)to->at, value);
}

static void put_value(struct json_file *file, const struct json_shape *shape,
                      const struct vector *vector, uint32_t row);

/* Nested values. */

static void put_array(struct json_file *file, const struct json_shape *shape,
                      const struct vector *vector, uint32_t row)
{
    struct list_entry entry = VECTOR_VALUES(struct list_entry, vector)[row];
    text_add(&file->to, "[", 1);
    for (uint32_t i = 0; i < entry.length; i++) {
        if (i > 0)
            text_add(&file->to, ",", 1);
        put_value(file, &shape->children[0], vector->children[0], entry.offset + i);
    }
    text_add(&file->to, "]", 1);
}

/* Keys are printed as Spark keeps them inside: days, microseconds. */
static void put_key(struct json_file *file, const struct vector *keys, uint32_t row)
{
    row = vector_index(keys, row);
    struct text_cursor *to = &file->to;
    if (keys->type->id == TYPE_STRING || keys->type->id == TYPE_BINARY) {
        put_text(to, VECTOR_VALUES(struct bytes, keys)[row], file->writer->ascii_only);
        return;
    }
    text_add(to, "\"", 1);
    switch (keys->type->id) {
    case TYPE_DATE:
    case TYPE_INTERVAL_YM:
        put_int64(to, VECTOR_VALUES(int32_t, keys)[row]);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_TIME:
    case TYPE_INTERVAL_DT:
        put_int64(to, VECTOR_VALUES(int64_t, keys)[row]);
        break;
    case TYPE_FLOAT:
        text_room(to, 40);
        to->at += number_print_float((char *)to->at, VECTOR_VALUES(float, keys)[row]);
        break;
    case TYPE_DOUBLE:
        text_room(to, 40);
        to->at += number_print_double((char *)to->at, VECTOR_VALUES(double, keys)[row]);
        break;
    default:
        put_value(file, NULL, keys, row);
        break;
    }
    text_add(to, "\"", 1);
}

static void put_map(struct json_file *file, const struct json_shape *shape,
                    const struct vector *vector, uint32_t row)
{
    struct list_entry entry = VECTOR_VALUES(struct list_entry, vector)[row];
    text_add(&file->to, "{", 1);
    for (uint32_t i = 0; i < entry.length; i++) {
        if (i > 0)
            text_add(&file->to, ",", 1);
        put_key(file, vector->children[0], entry.offset + i);
        text_add(&file->to, ":", 1);
        put_value(file, &shape->children[1], vector->children[1], entry.offset + i);
    }
    text_add(&file->to, "}", 1);
}

/* Keys have KEY_PADDING readable bytes behind them. */
static inline void put_key_text(struct text_cursor *to, struct bytes key)
{
    text_room(to, key.size_bytes + KEY_PADDING);
    const __m128i *from = (const __m128i *)(const void *)key.data;
    __m128i *at = (__m128i *)(void *)to->at;
    _mm_storeu_si128(at, _mm_loadu_si128(from));
    if (key.size_bytes > 16) {
        _mm_storeu_si128(at + 1, _mm_loadu_si128(from + 1));
        if (key.size_bytes > 32)
            memcpy(to->at + 32, key.data + 32, key.size_bytes - 32);
    }
    to->at += key.size_bytes;
}

static void put_fields(struct json_file *file, const struct json_shape *shape,
                       struct vector *const *columns, uint32_t row)
{
    struct text_cursor *to = &file->to;
    bool keep_nulls = file->writer->keep_nulls;
    text_room(to, 2);
    size_t start = (size_t)(to->at - to->out->data);
    for (uint32_t i = 0; i < shape->type->field_count; i++) {
        const struct vector *column = columns[i];
        if (!keep_nulls && vector_is_null(column, row))
            continue;
        put_key_text(to, shape->keys[i]);
        put_value(file, &shape->children[i], column, row);
    }
    text_room(to, 4);
    uint8_t *open = to->out->data + start;
    if (to->at == open)
        to->at++;
    *open = '{';
    *to->at++ = '}';
}

static void put_string(struct json_file *file, struct bytes text)
{
    put_text(&file->to, text, file->writer->ascii_only);
}

static void put_boolean(struct text_cursor *to, bool value)
{
    text_add(to, value ? "true" : "false", value ? 4 : 5);
}

static void put_variant(struct json_file *file, struct bytes cell)
{
    struct variant variant = variant_of_cell(cell);
    struct buffer text = {0};
    variant_print_json(&text, &variant, file->writer->options.zone);
    text_add(&file->to, text.data, text.size_bytes);
    buffer_fini(&text);
}

static void put_value(struct json_file *file, const struct json_shape *shape,
                      const struct vector *vector, uint32_t row)
{
    struct text_cursor *to = &file->to;
    if (vector_is_null(vector, row)) {
        text_add(to, "null", 4);
        return;
    }
    row = vector_index(vector, row);
    switch (vector->type->id) {
    case TYPE_VOID:
    case TYPE_INTERVAL:
        text_add(to, "null", 4);
        return;
    case TYPE_BOOLEAN:
        put_boolean(to, VECTOR_VALUES(uint8_t, vector)[row] != 0);
        return;
    case TYPE_BYTE:
        put_int64(to, VECTOR_VALUES(int8_t, vector)[row]);
        return;
    case TYPE_SHORT:
        put_int64(to, VECTOR_VALUES(int16_t, vector)[row]);
        return;
    case TYPE_INT:
        put_int64(to, VECTOR_VALUES(int32_t, vector)[row]);
        return;
    case TYPE_LONG:
    case TYPE_TIME:
        put_int64(to, VECTOR_VALUES(int64_t, vector)[row]);
        return;
    case TYPE_FLOAT:
        put_double(to, (double)VECTOR_VALUES(float, vector)[row], true);
        return;
    case TYPE_DOUBLE:
        put_double(to, VECTOR_VALUES(double, vector)[row], false);
        return;
    case TYPE_DECIMAL:
        put_decimal(to, VECTOR_VALUES(int128, vector)[row], vector->type);
        return;
    case TYPE_VARIANT:
        put_variant(file, VECTOR_VALUES(struct bytes, vector)[row]);
        return;
    case TYPE_STRING:
        put_string(file, VECTOR_VALUES(struct bytes, vector)[row]);
        return;
    case TYPE_BINARY:
        put_base64(to, VECTOR_VALUES(struct bytes, vector)[row]);
        return;
    case TYPE_DATE:
        put_date(file, VECTOR_VALUES(int32_t, vector)[row]);
        return;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        put_time(file, VECTOR_VALUES(int64_t, vector)[row], vector->type->id == TYPE_TIMESTAMP);
        return;
    case TYPE_INTERVAL_DT:
        put_interval(file, vector->type, VECTOR_VALUES(int64_t, vector)[row]);
        return;
    case TYPE_INTERVAL_YM:
        put_interval(file, vector->type, VECTOR_VALUES(int32_t, vector)[row]);
        return;
    case TYPE_ARRAY:
        put_array(file, shape, vector, row);
        return;
    case TYPE_MAP:
        put_map(file, shape, vector, row);
        return;
    case TYPE_STRUCT:
        put_fields(file, shape, vector->children, row);
        return;
    }
}

/* The writer. */

static struct bytes make_key(struct arena *query, const char *name)
{
    struct buffer key = {0};
    buffer_add_byte(&key, ',');
    buffer_add_json_string(&key, bytes_of_text(name));
    buffer_add_byte(&key, ':');
    size_t size = key.size_bytes;
    memset(buffer_reserve(&key, KEY_PADDING), 0, KEY_PADDING);
    key.size_bytes += KEY_PADDING;
    struct bytes copy = arena_copy(query, buffer_bytes(&key));
    buffer_fini(&key);
    return bytes_of(copy.data, size);
}

static void shape_init(struct arena *query, const struct type *type, struct json_shape *shape)
{
    shape->type = type;
    if (type->id == TYPE_STRUCT) {
        uint32_t count = type->field_count;
        shape->keys = arena_new_object(query, (count + 1) * sizeof *shape->keys);
        shape->children = arena_new_object(query, (count + 1) * sizeof *shape->children);
        for (uint32_t i = 0; i < count; i++) {
            shape->keys[i] = make_key(query, type->fields[i].name);
            shape_init(query, type->fields[i].type, &shape->children[i]);
        }
        return;
    }
    if (type->element == NULL)
        return;
    shape->children = arena_new_object(query, 2 * sizeof *shape->children);
    if (type->id == TYPE_MAP)
        shape_init(query, type->key, &shape->children[0]);
    shape_init(query, type->element, &shape->children[type->id == TYPE_MAP]);
}

static enum status check_type(const struct type *type, const struct type_field *column,
                              struct error *err)
{
    if (type->id == TYPE_TIME)
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    if (type->id == TYPE_INTERVAL)
        return unsupported_type("JSON", column, err);
    if (type->key != NULL)
        TRY(check_type(type->key, column, err));
    if (type->element != NULL)
        TRY(check_type(type->element, column, err));
    for (uint32_t i = 0; i < type->field_count; i++)
        TRY(check_type(type->fields[i].type, column, err));
    return OK;
}

enum status json_writer_new(struct arena *query, const struct format_config *config,
                            struct format_writer **out, struct error *err)
{
    struct json_writer *writer = arena_new_object(query, sizeof *writer);
    writer->magic = JSON_WRITER_MAGIC;
    TRY(write_options_parse(query, config, "JSON", ".json", &writer->options, err));
    const char *conf = format_conf(config, "spark.sql.jsonGenerator.ignoreNullFields");
    bool ignore = conf == NULL || strcasecmp(conf, "false") != 0;
    TRY(options_bool(config->options, "ignoreNullFields", ignore, &ignore, err));
    writer->keep_nulls = !ignore;
    TRY(options_bool(config->options, "writeNonAsciiCharacterAsCodePoint", false,
                     &writer->ascii_only, err));
    TRY(options_bool(config->options, "pretty", false, &writer->pretty, err));
    for (uint32_t i = 0; i < config->schema->field_count; i++)
        TRY(check_type(config->schema->fields[i].type, &config->schema->fields[i], err));
    writer->utc = writer->options.zone == timezone_utc();
    shape_init(query, config->schema, &writer->root);
    *out = (struct format_writer *)writer;
    return OK;
}

const char *json_extension(const struct format_writer *opaque)
{
    const struct json_writer *writer = (const struct json_writer *)opaque;
    CHECK_MAGIC(writer, JSON_WRITER_MAGIC);
    return writer->options.extension;
}

enum status json_write_open(const struct format_writer *opaque, struct record_writer **out,
                            struct error *err)
{
    (void)err;
    const struct json_writer *writer = (const struct json_writer *)opaque;
    CHECK_MAGIC(writer, JSON_WRITER_MAGIC);
    struct json_file *file = heap_calloc(1, sizeof *file);
    file->magic = JSON_FILE_MAGIC;
    file->writer = writer;
    file_output_init(&file->output, &writer->options);
    *out = (struct record_writer *)file;
    return OK;
}

void json_write_close(struct record_writer *opaque)
{
    struct json_file *file = (struct json_file *)opaque;
    CHECK_MAGIC(file, JSON_FILE_MAGIC);
    file_output_fini(&file->output);
    buffer_fini(&file->compact);
    free(file);
}

static void write_pretty(struct json_file *file, const struct batch *batch, struct buffer *to)
{
    for (uint32_t i = 0; i < batch->selected; i++) {
        buffer_clear(&file->compact);
        file->to = text_begin(&file->compact);
        put_fields(file, &file->writer->root, batch->columns, batch_row(batch, i));
        text_end(&file->to);
        json_pretty_print(buffer_bytes(&file->compact), to);
        buffer_add_bytes(to, file->writer->options.separator);
    }
}

enum status json_write(struct record_writer *opaque, const struct batch *batch, struct buffer *out,
                       struct error *err)
{
    struct json_file *file = (struct json_file *)opaque;
    CHECK_MAGIC(file, JSON_FILE_MAGIC);
    const struct write_options *options = &file->writer->options;
    CHECK(batch->schema->field_count == options->schema->field_count);
    struct buffer *to = file_output_begin(&file->output, out);
    if (file->writer->pretty) {
        write_pretty(file, batch, to);
        return file_output_end(&file->output, out, err);
    }
    file->to = text_begin(to);
    for (uint32_t i = 0; i < batch->selected; i++) {
        put_fields(file, &file->writer->root, batch->columns, batch_row(batch, i));
        text_add(&file->to, options->separator.data, options->separator.size_bytes);
    }
    if (file->to.at != NULL)
        text_end(&file->to);
    return file_output_end(&file->output, out, err);
}

enum status json_finish(struct record_writer *opaque, struct buffer *out, struct error *err)
{
    struct json_file *file = (struct json_file *)opaque;
    CHECK_MAGIC(file, JSON_FILE_MAGIC);
    return file_output_finish(&file->output, out, err);
}
