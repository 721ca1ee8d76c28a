/*
 * The CSV writer: batches -> lines, quoted where univocity would: a value that holds the
 * separator, a line break or a quote, one that begins with a quote, and one that begins a line
 * with the character of comments.
 */
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/datetime_words.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "format/csv_format.h"
#include "format/csv_token.h"
#include "format/file_output.h"
#include "format/text_print.h"

#include <stdlib.h>

#define CSV_WRITER_MAGIC    0xc5f3217a
#define EXTENSION_BYTES_MAX 32
#define CSV_FILE_MAGIC      0xc5ff11ea

const struct option_def csv_write_options[] = {
    {"sep", OPTION_TEXT, 0, 0, ",", "what separates values"},
    {"delimiter", OPTION_TEXT, 0, 0, NULL, "another name of sep"},
    {"quote", OPTION_TEXT, 0, 0, "\"", "character around values"},
    {"escape", OPTION_TEXT, 0, 0, "\\", "character before a quote inside a quoted value"},
    {"charToEscapeQuoteEscaping", OPTION_TEXT, 0, 0, NULL, "character before an escape"},
    {"comment", OPTION_TEXT, 0, 0, NULL, "lines that would begin with it are quoted"},
    {"header", OPTION_BOOL, 0, 0, "false", "every file begins with the names of the columns"},
    {"nullValue", OPTION_TEXT, 0, 0, "", "what NULL is written as"},
    {"emptyValue", OPTION_TEXT, 0, 0, "\"\"", "what an empty text is written as"},
    {"quoteAll", OPTION_BOOL, 0, 0, "false", "every value is quoted"},
    {"escapeQuotes", OPTION_BOOL, 0, 0, "true", "values that hold a quote are quoted"},
    {"ignoreLeadingWhiteSpace", OPTION_BOOL, 0, 0, "true", "blanks before values are cut"},
    {"ignoreTrailingWhiteSpace", OPTION_BOOL, 0, 0, "true", "blanks behind values are cut"},
    {"compression", OPTION_TEXT, 0, 0, "none", "none, gzip, deflate, bzip2, zstd, lz4 or snappy"},
    {"codec", OPTION_TEXT, 0, 0, NULL, "another name of compression"},
    {"encoding", OPTION_TEXT, 0, 0, "UTF-8", "charset of the files"},
    {"charset", OPTION_TEXT, 0, 0, NULL, "another name of encoding"},
    {"lineSep", OPTION_TEXT, 0, 0, "\n", "what is written behind each record"},
    {"extension", OPTION_TEXT, 0, 0, "csv", "what the names of the files end with"},
    {"dateFormat", OPTION_TEXT, 0, 0, NULL, "pattern of dates"},
    {"timestampFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps"},
    {"timestampNTZFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps without zone"},
    {"timeZone", OPTION_TEXT, 0, 0, NULL, "zone in which timestamps are written"},
    {"locale", OPTION_TEXT, 0, 0, "en-US",
     "language of words in patterns of dates: " DATETIME_WORDS_LANGUAGES},
    {"nanValue", OPTION_TEXT, 0, 0, NULL, "for reading only"},
    {"positiveInf", OPTION_TEXT, 0, 0, NULL, "for reading only"},
    {"negativeInf", OPTION_TEXT, 0, 0, NULL, "for reading only"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

struct csv_writer {
    uint32_t magic;
    struct write_options options;
    uint8_t delimiter[CSV_DELIMITER_MAX];
    uint32_t delimiter_size;
    uint32_t quote, escape, escape_escape, comment;
    bool header;
    bool quote_all;
    bool trim_leading, trim_trailing;
    bool triggers[256]; /* bytes that make a value quoted */
    struct bytes null_value, empty_value;
    bool utc;
};

struct csv_file {
    uint32_t magic;
    const struct csv_writer *writer;
    struct file_output output;
    struct buffer cell;
    struct day_text day;
    bool header_done;
};

/* Elements. */

static void add_code(struct buffer *out, uint32_t code)
{
    uint8_t bytes[4];
    buffer_add(out, bytes, utf8_encode(code, bytes));
}

static bool begins_with(struct bytes text, uint32_t code)
{
    size_t size = 0;
    return text.size_bytes > 0 && utf8_decode(text, &size) == code && size > 0;
}

static bool needs_quotes(const struct csv_writer *writer, struct bytes text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (writer->triggers[text.data[i]])
            return true;
    }
    return writer->delimiter_size > 1 && text.size_bytes >= writer->delimiter_size &&
           memmem(text.data, text.size_bytes, writer->delimiter, writer->delimiter_size) != NULL;
}

/* The text with its malformed bytes replaced, quotes and escapes escaped if `quoted`. */
static void add_text(const struct csv_writer *writer, struct buffer *out, struct bytes text,
                     bool quoted)
{
    if (!quoted && encoded_text_is_ascii(text)) {
        buffer_add_bytes(out, text);
        return;
    }
    while (text.size_bytes > 0) {
        size_t size = 0;
        uint32_t code = utf8_decode(text, &size);
        if (size == 0)
            size = utf8_malformed_size(text);
        if (quoted && code == writer->quote)
            add_code(out, writer->escape);
        else if (quoted && code == writer->escape && writer->escape_escape != 0)
            add_code(out, writer->escape_escape);
        add_code(out, code);
        text = bytes_of(text.data + size, text.size_bytes - size);
    }
}

static void add_quoted(const struct csv_writer *writer, struct buffer *out, struct bytes text)
{
    add_code(out, writer->quote);
    add_text(writer, out, text, true);
    add_code(out, writer->quote);
}

static struct bytes trimmed(const struct csv_writer *writer, struct bytes text)
{
    while (writer->trim_leading && text.size_bytes > 0 && *text.data <= ' ')
        text = bytes_of(text.data + 1, text.size_bytes - 1);
    while (writer->trim_trailing && text.size_bytes > 0 && text.data[text.size_bytes - 1] <= ' ')
        text.size_bytes--;
    return text;
}

/* `special`: the text is the option nullValue or emptyValue, which may bring its own quotes. */
static void add_element(const struct csv_writer *writer, struct buffer *out, struct bytes text,
                        bool first, bool special)
{
    text = trimmed(writer, text);
    if (text.size_bytes == 0 && !special) {
        add_element(writer, out, writer->empty_value, first, true);
        return;
    }
    bool quote_first = begins_with(text, writer->quote);
    if (special && quote_first && text.size_bytes >= 2 &&
        text.data[text.size_bytes - 1] == writer->quote) {
        buffer_add_bytes(out, text);
        return;
    }
    bool quoted = writer->quote_all || quote_first ||
                  (first && begins_with(text, writer->comment)) || needs_quotes(writer, text);
    if (quoted)
        add_quoted(writer, out, text);
    else
        add_text(writer, out, text, false);
}

/* Cells as text. */

static void print_time(struct csv_file *file, int64_t us, bool zoned)
{
    const struct write_options *options = &file->writer->options;
    struct buffer *cell = &file->cell;
    const struct datetime_pattern *pattern =
        zoned ? options->timestamp_pattern : options->ntz_pattern;
    if (pattern != NULL) {
        if (zoned)
            datetime_pattern_format(pattern, cell, us, options->zone);
        else
            datetime_pattern_format_ntz(pattern, cell, us);
        return;
    }
    uint8_t *at = buffer_reserve(cell, TIMESTAMP_TEXT_MAX);
    uint8_t *start = at;
    if ((!zoned || file->writer->utc) && text_print_millis(&at, &file->day, us)) {
        if (zoned)
            *at++ = 'Z';
        cell->size_bytes += (size_t)(at - start);
        return;
    }
    cell->size_bytes += zoned ? timestamp_text_print_iso((char *)start, us, options->zone)
                              : timestamp_text_print_iso_ntz((char *)start, us);
}

static void print_date(struct csv_file *file, int32_t days)
{
    const struct datetime_pattern *pattern = file->writer->options.date_pattern;
    if (pattern != NULL) {
        datetime_pattern_format_date(pattern, &file->cell, days);
        return;
    }
    char *at = (char *)buffer_reserve(&file->cell, TIMESTAMP_TEXT_MAX);
    file->cell.size_bytes += timestamp_text_print_date(at, days);
}

static void print_whole(struct csv_file *file, int64_t value)
{
    uint8_t *at = buffer_reserve(&file->cell, NUMBER_INT64_TEXT_MAX + 8);
    file->cell.size_bytes += (size_t)(text_print_int64(at, value) - at);
}

static void print_binary(struct csv_file *file, struct bytes data)
{
    buffer_add_byte(&file->cell, '[');
    for (size_t i = 0; i < data.size_bytes; i++)
        buffer_printf(&file->cell, i == 0 ? "%02X" : " %02X", data.data[i]);
    buffer_add_byte(&file->cell, ']');
}

static void print_decimal(struct csv_file *file, int128 unscaled, const struct type *type)
{
    char *at = (char *)buffer_reserve(&file->cell, DECIMAL_TEXT_MAX);
    struct decimal value = {unscaled, type->scale};
    file->cell.size_bytes += decimal_print_java(at, value);
}

static void print_double(struct csv_file *file, double value, bool narrow)
{
    char *at = (char *)buffer_reserve(&file->cell, NUMBER_DOUBLE_TEXT_MAX);
    file->cell.size_bytes +=
        narrow ? number_print_float(at, (float)value) : number_print_double(at, value);
}

/* The cell's text: the cell itself or the scratch buffer. */
static struct bytes cell_text(struct csv_file *file, const struct vector *vector, uint32_t row)
{
    row = vector_index(vector, row);
    buffer_clear(&file->cell);
    switch (vector->type->id) {
    case TYPE_STRING:
        return VECTOR_VALUES(struct bytes, vector)[row];
    case TYPE_BOOLEAN:
        return bytes_of_text(VECTOR_VALUES(uint8_t, vector)[row] ? "true" : "false");
    case TYPE_BYTE:
        print_whole(file, VECTOR_VALUES(int8_t, vector)[row]);
        break;
    case TYPE_SHORT:
        print_whole(file, VECTOR_VALUES(int16_t, vector)[row]);
        break;
    case TYPE_INT:
        print_whole(file, VECTOR_VALUES(int32_t, vector)[row]);
        break;
    case TYPE_LONG:
        print_whole(file, VECTOR_VALUES(int64_t, vector)[row]);
        break;
    case TYPE_FLOAT:
        print_double(file, (double)VECTOR_VALUES(float, vector)[row], true);
        break;
    case TYPE_DOUBLE:
        print_double(file, VECTOR_VALUES(double, vector)[row], false);
        break;
    case TYPE_DECIMAL:
        print_decimal(file, VECTOR_VALUES(int128, vector)[row], vector->type);
        break;
    case TYPE_BINARY:
        print_binary(file, VECTOR_VALUES(struct bytes, vector)[row]);
        break;
    case TYPE_DATE:
        print_date(file, VECTOR_VALUES(int32_t, vector)[row]);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        print_time(file, VECTOR_VALUES(int64_t, vector)[row], vector->type->id == TYPE_TIMESTAMP);
        break;
    case TYPE_INTERVAL_DT:
        interval_text_print(&file->cell, vector->type, VECTOR_VALUES(int64_t, vector)[row]);
        break;
    case TYPE_INTERVAL_YM:
        interval_text_print(&file->cell, vector->type, VECTOR_VALUES(int32_t, vector)[row]);
        break;
    case TYPE_VOID:
    case TYPE_TIME:
    case TYPE_INTERVAL:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        break; /* refused when the writer was made */
    }
    return buffer_bytes(&file->cell);
}

/* Rows. */

static void end_row(const struct csv_writer *writer, struct buffer *out, size_t start)
{
    if (out->size_bytes > start) /* a row that would be an empty line is left out */
        buffer_add_bytes(out, writer->options.separator);
}

static void write_header(struct csv_file *file, struct buffer *out)
{
    const struct csv_writer *writer = file->writer;
    const struct type *schema = writer->options.schema;
    if (file->header_done || !writer->header)
        return;
    file->header_done = true;
    size_t start = out->size_bytes;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (i > 0)
            buffer_add(out, writer->delimiter, writer->delimiter_size);
        add_element(writer, out, bytes_of_text(schema->fields[i].name), i == 0, false);
    }
    end_row(writer, out, start);
}

static void write_row(struct csv_file *file, const struct batch *batch, uint32_t row,
                      struct buffer *out)
{
    const struct csv_writer *writer = file->writer;
    size_t start = out->size_bytes;
    for (uint32_t i = 0; i < batch->schema->field_count; i++) {
        const struct vector *vector = batch->columns[i];
        if (i > 0)
            buffer_add(out, writer->delimiter, writer->delimiter_size);
        if (vector_is_null(vector, row))
            add_element(writer, out, writer->null_value, i == 0, true);
        else
            add_element(writer, out, cell_text(file, vector, row), i == 0, false);
    }
    end_row(writer, out, start);
}

enum status csv_write(struct record_writer *opaque, const struct batch *batch, struct buffer *out,
                      struct error *err)
{
    struct csv_file *file = (struct csv_file *)opaque;
    CHECK_MAGIC(file, CSV_FILE_MAGIC);
    CHECK(batch->schema->field_count == file->writer->options.schema->field_count);
    struct buffer *to = file_output_begin(&file->output, out);
    write_header(file, to);
    for (uint32_t i = 0; i < batch->selected; i++)
        write_row(file, batch, batch_row(batch, i), to);
    return file_output_end(&file->output, out, err);
}

enum status csv_finish(struct record_writer *opaque, struct buffer *out, struct error *err)
{
    struct csv_file *file = (struct csv_file *)opaque;
    CHECK_MAGIC(file, CSV_FILE_MAGIC);
    write_header(file, file_output_begin(&file->output, out));
    return file_output_finish(&file->output, out, err);
}

/* The writer. */

static enum status check_type(const struct type_field *field, struct error *err)
{
    switch (field->type->id) {
    case TYPE_TIME:
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    case TYPE_VOID:
    case TYPE_INTERVAL:
    case TYPE_VARIANT:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return unsupported_type("CSV", field, err);
    default:
        return OK;
    }
}

static void set_triggers(struct csv_writer *writer, bool escape_quotes)
{
    struct bytes separator = writer->options.separator;
    writer->triggers['\n'] = true;
    writer->triggers['\r'] = true;
    for (size_t i = 0; i < separator.size_bytes; i++)
        writer->triggers[separator.data[i]] = true;
    if (writer->delimiter_size == 1)
        writer->triggers[writer->delimiter[0]] = true;
    if (escape_quotes && writer->quote < 0x80 && writer->quote != 0)
        writer->triggers[writer->quote] = true;
}

static enum status parse_options(const struct options *options, struct csv_writer *writer,
                                 struct error *err)
{
    bool escape_quotes = true;
    TRY(csv_parse_delimiter(options, writer->delimiter, &writer->delimiter_size, err));
    if (writer->delimiter_size == 0)
        return error_raise(err, STATUS_INVALID_DELIMITER_VALUE__EMPTY_STRING, NULL);
    TRY(option_char(options, "quote", '"', &writer->quote, err));
    TRY(option_char(options, "escape", '\\', &writer->escape, err));
    uint32_t fallback = writer->escape == writer->quote ? 0 : writer->escape;
    TRY(option_char(options, "charToEscapeQuoteEscaping", fallback, &writer->escape_escape, err));
    TRY(option_char(options, "comment", '#', &writer->comment, err));
    TRY(options_bool(options, "header", false, &writer->header, err));
    TRY(options_bool(options, "quoteAll", false, &writer->quote_all, err));
    TRY(options_bool(options, "escapeQuotes", true, &escape_quotes, err));
    TRY(options_bool(options, "ignoreLeadingWhiteSpace", true, &writer->trim_leading, err));
    TRY(options_bool(options, "ignoreTrailingWhiteSpace", true, &writer->trim_trailing, err));
    const char *null = options_get(options, "nullValue");
    const char *empty = options_get(options, "emptyValue");
    writer->null_value = bytes_of_text(null == NULL ? "" : null);
    writer->empty_value = bytes_of_text(empty == NULL ? "\"\"" : empty);
    set_triggers(writer, escape_quotes);
    return OK;
}

/* It ends the names of files. */
static bool is_extension(const char *text)
{
    return strlen(text) <= EXTENSION_BYTES_MAX && strchr(text, '/') == NULL;
}

enum status csv_writer_new(struct arena *query, const struct format_config *config,
                           struct format_writer **out, struct error *err)
{
    struct csv_writer *writer = arena_new_object(query, sizeof *writer);
    writer->magic = CSV_WRITER_MAGIC;
    const char *extension = options_get(config->options, "extension");
    if (extension != NULL && !is_extension(extension))
        return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "extension", "value",
                           extension, "expected", "the end of a file name", NULL);
    const char *suffix = arena_sprintf(query, ".%s", extension == NULL ? "csv" : extension);
    TRY(write_options_parse(query, config, "CSV", suffix, &writer->options, err));
    TRY(parse_options(config->options, writer, err));
    for (uint32_t i = 0; i < config->schema->field_count; i++)
        TRY(check_type(&config->schema->fields[i], err));
    writer->utc = writer->options.zone == timezone_utc();
    *out = (struct format_writer *)writer;
    return OK;
}

const char *csv_extension(const struct format_writer *opaque)
{
    const struct csv_writer *writer = (const struct csv_writer *)opaque;
    CHECK_MAGIC(writer, CSV_WRITER_MAGIC);
    return writer->options.extension;
}

enum status csv_write_open(const struct format_writer *opaque, struct record_writer **out,
                           struct error *err)
{
    (void)err;
    const struct csv_writer *writer = (const struct csv_writer *)opaque;
    CHECK_MAGIC(writer, CSV_WRITER_MAGIC);
    struct csv_file *file = heap_calloc(1, sizeof *file);
    file->magic = CSV_FILE_MAGIC;
    file->writer = writer;
    file_output_init(&file->output, &writer->options);
    *out = (struct record_writer *)file;
    return OK;
}

void csv_write_close(struct record_writer *opaque)
{
    struct csv_file *file = (struct csv_file *)opaque;
    CHECK_MAGIC(file, CSV_FILE_MAGIC);
    file_output_fini(&file->output);
    buffer_fini(&file->cell);
    free(file);
}
