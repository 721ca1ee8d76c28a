/*
 * The CSV reader: lines (or records over several lines with multiLine) -> batches.
 *
 * A record whose number of values differs from the number of columns is broken, as is one with a
 * value that does not fit; the values that do fit stay.
 */
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/datetime_words.h"
#include "columnar/decimal.h"
#include "columnar/interval_text.h"
#include "columnar/variant.h"
#include "format/csv_format.h"
#include "format/csv_token.h"
#include "format/line_reader.h"
#include "format/record_options.h"
#include "format/text_print.h"
#include "format/text_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define HEADERS_LOGGED   10 /* of a source in a run; the progress counts all */
#define CSV_READER_MAGIC 0xc5f2ead0
#define CSV_TASK_MAGIC   0xc5f7a5c0

static const struct option_def read_options[] = {
    {"mode", OPTION_WORD, 0, 0, "PERMISSIVE",
     "PERMISSIVE, DROPMALFORMED or FAILFAST: what becomes of broken records"},
    {"columnNameOfCorruptRecord", OPTION_TEXT, 0, 0, "_corrupt_record",
     "column that takes the text of a broken record"},
    {"sep", OPTION_TEXT, 0, 0, ",", "what separates values"},
    {"delimiter", OPTION_TEXT, 0, 0, NULL, "another name of sep"},
    {"quote", OPTION_TEXT, 0, 0, "\"", "character around values; empty: none"},
    {"escape", OPTION_TEXT, 0, 0, "\\", "character before a quote inside a quoted value"},
    {"charToEscapeQuoteEscaping", OPTION_TEXT, 0, 0, NULL,
     "character before an escape; by default the escape, unless that is the quote"},
    {"comment", OPTION_TEXT, 0, 0, NULL, "character that lines without a record begin with"},
    {"header", OPTION_BOOL, 0, 0, "false", "the first line of a file names the columns"},
    {"enforceSchema", OPTION_BOOL, 0, 0, "true", "if false, a header has to name the columns"},
    {"inferSchema", OPTION_BOOL, 0, 0, "false", "has no effect: the schema is declared"},
    {"samplingRatio", OPTION_RATIO, 0, 0, "1.0", "for schema inference: no effect"},
    {"preferDate", OPTION_BOOL, 0, 0, "true", "for schema inference: no effect"},
    {"ignoreLeadingWhiteSpace", OPTION_BOOL, 0, 0, "false", "blanks before values are dropped"},
    {"ignoreTrailingWhiteSpace", OPTION_BOOL, 0, 0, "false", "blanks behind values are dropped"},
    {"nullValue", OPTION_TEXT, 0, 0, "", "text that stands for NULL"},
    {"emptyValue", OPTION_TEXT, 0, 0, "", "what a quoted empty text reads as"},
    {"nanValue", OPTION_TEXT, 0, 0, "NaN", "text that stands for NaN"},
    {"positiveInf", OPTION_TEXT, 0, 0, "Inf", "text that stands for infinity"},
    {"negativeInf", OPTION_TEXT, 0, 0, "-Inf", "text that stands for minus infinity"},
    {"unescapedQuoteHandling", OPTION_WORD, 0, 0, "STOP_AT_DELIMITER",
     "STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, STOP_AT_DELIMITER, SKIP_VALUE or RAISE_ERROR: what "
     "a quote inside a value leads to"},
    {"maxColumns", OPTION_INT, 1, 1000000, "20480", "a record with more values fails the query"},
    {"maxCharsPerColumn", OPTION_INT, -1, INT32_MAX, "-1",
     "a value of more characters fails the query; -1: no limit"},
    {"multiLine", OPTION_BOOL, 0, 0, "false", "quoted values may hold line breaks"},
    {"singleVariantColumn", OPTION_TEXT, 0, 0, NULL,
     "name of the VARIANT column that takes whole records"},
    {"lineSep", OPTION_TEXT, 0, 0, NULL, "what separates records; by default \\n, \\r and \\r\\n"},
    {"encoding", OPTION_TEXT, 0, 0, "UTF-8", "charset of the files"},
    {"charset", OPTION_TEXT, 0, 0, NULL, "another name of encoding"},
    {"dateFormat", OPTION_TEXT, 0, 0, NULL, "pattern of dates"},
    {"timestampFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps"},
    {"timestampNTZFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps without zone"},
    {"enableDateTimeParsingFallback", OPTION_BOOL, 0, 0, NULL,
     "what the patterns refuse is read as CAST would"},
    {"timeZone", OPTION_TEXT, 0, 0, NULL, "zone of timestamps that name none"},
    {"locale", OPTION_TEXT, 0, 0, "en-US",
     "language of DECIMALs, any; and of words in patterns of dates: " DATETIME_WORDS_LANGUAGES},
    {"columnPruning", OPTION_BOOL, 0, 0, "true", "columns that are not needed are not read"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

struct csv_reader {
    uint32_t magic;
    struct record_options options;
    struct csv_dialect dialect;
    bool header;
    bool enforce_schema;
    struct format_notes *notes; /* NULL: nobody is told */
    bool exact_names;
    bool delimiter_missing;
    struct bytes nan, positive, negative;
    uint32_t data_columns; /* of the schema, without the corrupt-record column */
    bool pruned;           /* only some of them are read: the number of values is not checked */
    uint32_t *tokens;      /* delivered column -> index of the value; the corrupt column: NONE */
    uint32_t corrupt_position;
};

struct csv_task {
    uint32_t magic;
    const struct csv_reader *reader;
    const char *path;
    struct line_reader lines;
    struct csv_parser parser;
    struct vector **columns;
    struct day_cache *days;
    struct arena *batch;
    uint32_t rows;
    int64_t now_us; /* of the split */
    bool local_is_utc;
    bool at_start;              /* nothing of the file has been read */
    bool header_pending;        /* the header is still to come */
    bool newline_known;         /* multiLine: the line break has been looked for */
    struct csv_dialect dialect; /* the reader's with the file's line break */
    struct buffer converted;    /* multiLine in another charset: the whole file */
    size_t converted_at;
    bool converted_done;
    struct buffer guesses;          /* of VARIANT values, by column: enum guess, a byte each */
    struct buffer names, name_ends; /* singleVariantColumn: the header */
    uint32_t name_count;
};

/* Options. */

static enum status parse_stray(const struct options *options, enum csv_stray_quote *out,
                               struct error *err)
{
    static const char *const names[] = {"STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE",
                                        "BACK_TO_DELIMITER", "SKIP_VALUE", "RAISE_ERROR"};
    const char *value = options_get(options, "unescapedQuoteHandling");
    *out = CSV_STOP_AT_DELIMITER;
    for (size_t i = 0; value != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(value, names[i]) == 0) {
            *out = (enum csv_stray_quote)i;
            return OK;
        }
    }
    if (value == NULL)
        return OK;
    return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "unescapedQuoteHandling",
                       "value", value, "expected",
                       "STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, STOP_AT_DELIMITER, SKIP_VALUE or "
                       "RAISE_ERROR",
                       NULL);
}

static enum status parse_line_break(const struct record_options *options,
                                    struct csv_dialect *dialect, const struct options *given,
                                    struct error *err)
{
    const char *value = options_get(given, "lineSep");
    dialect->lines = !options->multi_line;
    dialect->normalize_newlines = value == NULL;
    if (value == NULL)
        return OK;
    size_t length = utf8_length(bytes_of_text(value));
    if (length > 2) {
        char text[32];
        (void)snprintf(text, sizeof text, "%zu", length);
        return error_raise(err, STATUS_INVALID_LINE_SEPARATOR__TOO_LONG, "length", text, NULL);
    }
    dialect->newline_size = (uint32_t)strlen(value);
    memcpy(dialect->newline, value, dialect->newline_size);
    return OK;
}

static struct bytes text_option(const struct options *options, const char *name,
                                const char *fallback)
{
    const char *value = options_get(options, name);
    return bytes_of_text(value == NULL ? fallback : value);
}

static enum status parse_dialect(const struct options *options, struct csv_reader *reader,
                                 struct error *err)
{
    struct csv_dialect *dialect = &reader->dialect;
    int64_t columns = 0;
    TRY(csv_parse_delimiter(options, dialect->delimiter, &dialect->delimiter_size, err));
    reader->delimiter_missing = dialect->delimiter_size == 0;
    struct bytes delimiter = bytes_of(dialect->delimiter, dialect->delimiter_size);
    dialect->delimiter_long = utf8_length(delimiter) > 1 || dialect->delimiter[0] >= 0xF0;
    TRY(option_char(options, "quote", '"', &dialect->quote, err));
    TRY(option_char(options, "escape", '\\', &dialect->escape, err));
    uint32_t fallback = dialect->escape == dialect->quote ? 0 : dialect->escape;
    TRY(option_char(options, "charToEscapeQuoteEscaping", fallback, &dialect->escape_escape, err));
    TRY(option_char(options, "comment", 0, &dialect->comment, err));
    TRY(options_bool(options, "ignoreLeadingWhiteSpace", false, &dialect->trim_leading, err));
    TRY(options_bool(options, "ignoreTrailingWhiteSpace", false, &dialect->trim_trailing, err));
    TRY(options_int(options, "maxColumns", 1, 1000000, 20480, &columns, err));
    TRY(options_int(options, "maxCharsPerColumn", -1, INT32_MAX, -1, &dialect->chars_max, err));
    TRY(parse_stray(options, &dialect->stray_quote, err));
    dialect->columns_max = (uint32_t)columns;
    dialect->null_value = text_option(options, "nullValue", "");
    dialect->empty_value = text_option(options, "emptyValue", "");
    return parse_line_break(&reader->options, dialect, options, err);
}

static enum status check_type(const struct type_field *field, struct error *err)
{
    switch (field->type->id) {
    case TYPE_TIME:
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    case TYPE_VOID:
    case TYPE_INTERVAL:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return unsupported_type("CSV", field, err);
    default:
        return OK;
    }
}

/* Which value each delivered column takes. */
static void map_columns(struct arena *query, struct csv_reader *reader, bool pruning)
{
    const struct record_options *options = &reader->options;
    uint32_t corrupt = options->corrupt_field;
    reader->tokens = arena_new_object(query, (options->column_count + 1) * sizeof(uint32_t));
    reader->corrupt_position = COLUMN_NONE;
    for (uint32_t i = 0; i < options->column_count; i++) {
        uint32_t field = options->columns[i];
        if (field == corrupt)
            reader->corrupt_position = i;
        reader->tokens[i] = field == corrupt ? COLUMN_NONE : field - (field > corrupt);
    }
    reader->data_columns = options->schema->field_count - (corrupt != COLUMN_NONE);
    reader->pruned = pruning && reader->corrupt_position == COLUMN_NONE &&
                     options->column_count < reader->data_columns;
}

static bool is_set(const char *conf, const char *value)
{
    return conf != NULL && strcasecmp(conf, value) == 0;
}

static enum status csv_reader_new(struct arena *query, const struct format_config *config,
                                  struct format_reader **out, struct error *err)
{
    struct csv_reader *reader = arena_new_object(query, sizeof *reader);
    const struct options *options = config->options;
    reader->magic = CSV_READER_MAGIC;
    TRY(record_options_parse(query, config, "CSV", &reader->options, err));
    for (uint32_t i = 0; i < config->schema->field_count; i++)
        TRY(check_type(&config->schema->fields[i], err));
    TRY(parse_dialect(options, reader, err));
    TRY(options_bool(options, "header", false, &reader->header, err));
    TRY(options_bool(options, "enforceSchema", true, &reader->enforce_schema, err));
    reader->notes = config->notes;
    bool pruning =
        !is_set(format_conf(config, "spark.sql.csv.parser.columnPruning.enabled"), "false");
    TRY(options_bool(options, "columnPruning", pruning, &pruning, err));
    reader->exact_names = is_set(format_conf(config, "spark.sql.caseSensitive"), "true");
    reader->nan = text_option(options, "nanValue", "NaN");
    reader->positive = text_option(options, "positiveInf", "Inf");
    reader->negative = text_option(options, "negativeInf", "-Inf");
    map_columns(query, reader, pruning);
    *out = (struct format_reader *)reader;
    return OK;
}

static bool csv_splittable(const struct format_reader *opaque)
{
    const struct csv_reader *reader = (const struct csv_reader *)opaque;
    CHECK_MAGIC(reader, CSV_READER_MAGIC);
    return !reader->options.multi_line && !(reader->options.single_variant && reader->header);
}

static enum status csv_open(const struct format_reader *opaque, struct byte_stream *take,
                            const struct format_split *split, struct record_reader **out,
                            struct error *err)
{
    const struct csv_reader *reader = (const struct csv_reader *)opaque;
    CHECK_MAGIC(reader, CSV_READER_MAGIC);
    if (reader->delimiter_missing) {
        take->close(take);
        (void)error_raise(err, STATUS_INVALID_DELIMITER_VALUE__EMPTY_STRING, NULL);
        return failed_read_file(split->path, err);
    }
    struct csv_task *task = heap_calloc(1, sizeof *task);
    task->magic = CSV_TASK_MAGIC;
    task->reader = reader;
    task->path = split->path;
    task->now_us = split->now_us;
    task->dialect = reader->dialect;
    task->local_is_utc = reader->options.zone == timezone_utc();
    task->at_start = split->start == 0;
    task->header_pending = reader->header && split->start == 0;
    task->days = heap_calloc(reader->options.column_count + 1, sizeof *task->days);
    line_reader_init(&task->lines, take, split, reader->options.separator,
                     reader->options.record_bytes_max);
    if (reader->options.multi_line)
        line_reader_take_all(&task->lines);
    csv_parser_init(&task->parser, &task->dialect);
    *out = (struct record_reader *)task;
    return OK;
}

static void csv_close(struct record_reader *opaque)
{
    struct csv_task *task = (struct csv_task *)opaque;
    CHECK_MAGIC(task, CSV_TASK_MAGIC);
    line_reader_fini(&task->lines);
    csv_parser_fini(&task->parser);
    buffer_fini(&task->converted);
    buffer_fini(&task->guesses);
    buffer_fini(&task->names);
    buffer_fini(&task->name_ends);
    free(task->days);
    free(task);
}

/* Values. */

/* NUL-terminated for the C library; so long only with zeros that say nothing. */
static bool hexadecimal_double(struct bytes text, bool narrow, double *out)
{
    char copy[512];
    char *end = NULL;
    if (text.size_bytes >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.size_bytes);
    copy[text.size_bytes] = '\0';
    if (strpbrk(copy, "pP") == NULL)
        return false;
    *out = narrow ? (double)strtof(copy, &end) : strtod(copy, &end);
    return end == copy + text.size_bytes;
}

/* Java's Float.parseFloat and Double.parseDouble: blanks around, a suffix, hexadecimal. */
static bool java_double(struct bytes text, bool narrow, double *out)
{
    while (text.size_bytes > 0 && *text.data <= ' ')
        text = bytes_of(text.data + 1, text.size_bytes - 1);
    while (text.size_bytes > 0 && text.data[text.size_bytes - 1] <= ' ')
        text.size_bytes--;
    bool negative = text.size_bytes > 0 && *text.data == '-';
    size_t sign = negative || (text.size_bytes > 0 && *text.data == '+');
    struct bytes word = bytes_of(text.data + sign, text.size_bytes - sign);
    if (word.size_bytes == 0)
        return false;
    bool hex = word.size_bytes > 1 && word.data[0] == '0' && (word.data[1] | 0x20) == 'x';
    if (!hex && (word.data[0] < '0' || word.data[0] > '9') && word.data[0] != '.') {
        bool nan = bytes_equal(word, bytes_of_text("NaN"));
        if (!nan && !bytes_equal(word, bytes_of_text("Infinity")))
            return false;
        *out = nan ? __builtin_nan("") : negative ? -__builtin_inf() : __builtin_inf();
        return true;
    }
    uint8_t last = text.data[text.size_bytes - 1];
    if (last == 'f' || last == 'F' || last == 'd' || last == 'D')
        text.size_bytes--;
    if (hex)
        return hexadecimal_double(text, narrow, out);
    float small = 0;
    if (!narrow)
        return number_parse_double(text, out) != TEXT_INVALID;
    enum text_result result = number_parse_float(text, &small);
    *out = (double)small;
    return result != TEXT_INVALID;
}

static bool parse_real(const struct csv_reader *reader, struct bytes text, bool narrow, double *out)
{
    if (bytes_equal(text, reader->nan))
        *out = __builtin_nan("");
    else if (bytes_equal(text, reader->negative))
        *out = -__builtin_inf();
    else if (bytes_equal(text, reader->positive))
        *out = __builtin_inf();
    else
        return java_double(text, narrow, out);
    return true;
}

static bool parse_whole(struct bytes text, int64_t min, int64_t max, int64_t *out)
{
    return number_parse_int64(text, out) == TEXT_OK && *out >= min && *out <= max;
}

static bool parse_boolean(struct bytes text, uint8_t *out)
{
    *out = text.size_bytes == 4;
    const char *word = *out ? "true" : "false";
    return text.size_bytes == strlen(word) &&
           strncasecmp((const char *)text.data, word, text.size_bytes) == 0;
}

static bool parse_interval(struct bytes text, const struct type *type, int64_t *out)
{
    struct error ignored = ERROR_INIT;
    return interval_text_parse_fields(text, type, out, &ignored) == OK;
}

/* An ISO time that ends where the text ends. */
static bool quick_time(struct csv_task *task, uint32_t column, struct bytes text, bool zoned,
                       int64_t *out)
{
    const struct record_options *options = &task->reader->options;
    uint8_t copy[48] = {0};
    if ((zoned ? options->timestamp_pattern : options->ntz_pattern) != NULL ||
        (zoned && options->old_times) || text.size_bytes < 19 || text.size_bytes > 27)
        return false;
    memcpy(copy, text.data, text.size_bytes);
    const uint8_t *at = copy;
    return scan_iso_time(&task->days[column], !zoned || task->local_is_utc, zoned, &at, out) &&
           at == copy + text.size_bytes;
}

static bool parse_time(struct csv_task *task, uint32_t column, struct bytes text, int64_t *out)
{
    const struct record_options *options = &task->reader->options;
    bool zoned = task->columns[column]->type->id == TYPE_TIMESTAMP;
    if (quick_time(task, column, text, zoned, out))
        return true;
    if (zoned)
        return record_parse_timestamp(options, text, task->now_us, out) == TEXT_OK;
    return record_parse_ntz(options, text, out) == TEXT_OK;
}

/* What the values of a VARIANT column have been so far, in the order in which it is tried. */
enum guess {
    GUESS_LONG,
    GUESS_DECIMAL,
    GUESS_DATE,
    GUESS_TIMESTAMP,
    GUESS_BOOLEAN,
    GUESS_STRING,
};

static bool add_guess(const struct csv_task *task, struct variant_builder *builder,
                      struct bytes text, enum guess guess)
{
    const struct record_options *options = &task->reader->options;
    uint8_t truth;
    int64_t whole;
    int32_t days;
    struct decimal decimal;
    int precision;
    switch (guess) {
    case GUESS_LONG:
        if (number_parse_int64(text, &whole) != TEXT_OK)
            return false;
        variant_add_long(builder, whole);
        return true;
    case GUESS_DECIMAL:
        if (decimal_parse_exact(text, &decimal, &precision) != TEXT_OK)
            return false;
        variant_add_decimal(builder, decimal);
        return true;
    case GUESS_DATE:
        if ((options->date_pattern == NULL && text.size_bytes != 10) ||
            record_parse_date(options, text, &days) != TEXT_OK)
            return false; /* yyyy-MM-dd, or the pattern */
        variant_add_date(builder, days);
        return true;
    case GUESS_TIMESTAMP:
        if (record_parse_timestamp(options, text, task->now_us, &whole) != TEXT_OK)
            return false;
        variant_add_timestamp(builder, whole, false);
        return true;
    case GUESS_BOOLEAN:
        if (!parse_boolean(text, &truth))
            return false;
        variant_add_boolean(builder, truth != 0);
        return true;
    default:
        variant_add_string(builder, text);
        return true;
    }
}

/* A value of the column `index` of the file: of the first type that takes it, but of none that a
 * value before it has refused. */
static void add_variant(struct csv_task *task, struct variant_builder *builder, uint32_t index,
                        struct bytes text)
{
    while (task->guesses.size_bytes <= index)
        buffer_add_byte(&task->guesses, GUESS_LONG);
    uint8_t *guess = task->guesses.data + index;
    while (!add_guess(task, builder, text, (enum guess) * guess))
        ++*guess;
}

static bool parse_variant(struct csv_task *task, uint32_t column, struct bytes text,
                          struct bytes *out)
{
    struct variant_builder builder = {0};
    struct bytes cell;
    add_variant(task, &builder, column, text);
    bool fits = variant_finish(&builder, &cell);
    if (fits)
        *out = arena_copy(task->batch, cell);
    variant_builder_fini(&builder);
    return fits;
}

static struct bytes header_name(const struct csv_task *task, uint32_t index, char *space)
{
    if (!task->reader->header) {
        int size = snprintf(space, 16, "_c%u", index);
        return bytes_of(space, (size_t)size);
    }
    const uint32_t *ends = (const uint32_t *)(const void *)task->name_ends.data;
    uint32_t start = index == 0 ? 0 : ends[index - 1];
    return bytes_of(task->names.data + start, ends[index] - start);
}

/* The whole record as an object. */
static bool parse_record(struct csv_task *task, struct bytes *out)
{
    struct variant_builder builder = {0};
    struct variant_mark mark = variant_begin(&builder);
    const struct csv_parser *parser = &task->parser;
    uint32_t count = parser->token_count;
    if (task->reader->header && count > task->name_count)
        count = task->name_count;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes text = parser->tokens[i];
        char space[16];
        variant_next_field(&builder, header_name(task, i, space));
        if (text.data == NULL || bytes_equal(text, task->reader->dialect.null_value))
            variant_add_null(&builder);
        else
            add_variant(task, &builder, i, text);
    }
    struct bytes repeated, cell;
    bool fits = variant_end_object(&builder, mark, &repeated) && variant_finish(&builder, &cell);
    if (fits)
        *out = arena_copy(task->batch, cell);
    variant_builder_fini(&builder);
    return fits;
}

static bool parse_cell(struct csv_task *task, uint32_t column, struct bytes text)
{
    const struct csv_reader *reader = task->reader;
    struct vector *vector = task->columns[column];
    uint32_t row = task->rows;
    int64_t whole = 0;
    double real = 0;
    bool ok = false;
    switch (vector->type->id) {
    case TYPE_BOOLEAN:
        return parse_boolean(text, VECTOR_VALUES(uint8_t, vector) + row);
    case TYPE_BYTE:
        ok = parse_whole(text, INT8_MIN, INT8_MAX, &whole);
        VECTOR_VALUES(int8_t, vector)[row] = (int8_t)whole;
        return ok;
    case TYPE_SHORT:
        ok = parse_whole(text, INT16_MIN, INT16_MAX, &whole);
        VECTOR_VALUES(int16_t, vector)[row] = (int16_t)whole;
        return ok;
    case TYPE_INT:
        ok = parse_whole(text, INT32_MIN, INT32_MAX, &whole);
        VECTOR_VALUES(int32_t, vector)[row] = (int32_t)whole;
        return ok;
    case TYPE_LONG:
        return parse_whole(text, INT64_MIN, INT64_MAX, VECTOR_VALUES(int64_t, vector) + row);
    case TYPE_FLOAT:
        ok = parse_real(reader, text, true, &real);
        VECTOR_VALUES(float, vector)[row] = (float)real;
        return ok;
    case TYPE_DOUBLE:
        return parse_real(reader, text, false, VECTOR_VALUES(double, vector) + row);
    case TYPE_DECIMAL:
        return number_locale_parse_decimal(reader->options.numbers, text, vector->type,
                                           VECTOR_VALUES(int128, vector) + row) == TEXT_OK;
    case TYPE_STRING:
    case TYPE_BINARY:
        VECTOR_VALUES(struct bytes, vector)[row] = text;
        return true;
    case TYPE_VARIANT:
        return parse_variant(task, column, text, VECTOR_VALUES(struct bytes, vector) + row);
    case TYPE_DATE:
        return record_parse_date(&reader->options, text, VECTOR_VALUES(int32_t, vector) + row) ==
               TEXT_OK;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return parse_time(task, column, text, VECTOR_VALUES(int64_t, vector) + row);
    case TYPE_INTERVAL_DT:
        return parse_interval(text, vector->type, VECTOR_VALUES(int64_t, vector) + row);
    case TYPE_INTERVAL_YM:
        ok = parse_interval(text, vector->type, &whole);
        VECTOR_VALUES(int32_t, vector)[row] = (int32_t)whole;
        return ok;
    default:
        return false;
    }
}

/* Records. */

static enum status malformed(struct csv_task *task, struct bytes record, bool count,
                             struct error *err)
{
    if (count) {
        char shown[256];
        size_t size = record.size_bytes < sizeof shown ? record.size_bytes : sizeof shown - 1;
        if (size > 0)
            memcpy(shown, record.data, size);
        shown[size] = '\0';
        (void)error_raise(err, STATUS_MALFORMED_CSV_RECORD, "badRecord", shown, NULL);
    }
    return malformed_record(record, task->path, err);
}

static enum status set_null(struct csv_task *task, uint32_t column, struct error *err)
{
    struct vector *vector = task->columns[column];
    if (vector->validity == NULL)
        TRY(vector_make_nullable(task->batch, vector, err));
    vector_set_null(vector, task->rows);
    return OK;
}

/* The values of the parser as one row; *bad if it is broken. */
static enum status fill_row(struct csv_task *task, bool *bad, struct error *err)
{
    const struct csv_reader *reader = task->reader;
    const struct csv_parser *parser = &task->parser;
    for (uint32_t i = 0; i < reader->options.column_count; i++) {
        uint32_t token = reader->tokens[i];
        struct bytes text = token < parser->token_count ? parser->tokens[token] : bytes_of(NULL, 0);
        bool null = text.data == NULL || bytes_equal(text, reader->dialect.null_value);
        if (!null && parse_cell(task, i, text)) {
            if (task->columns[i]->validity != NULL)
                validity_set(task->columns[i]->validity, task->rows);
            continue;
        }
        if (!null)
            TRY(record_check_old_time(&reader->options, task->columns[i]->type->id, text, err));
        *bad = *bad || !null;
        TRY(set_null(task, i, err));
    }
    return OK;
}

/* fill_row of a record that is one VARIANT. */
static enum status fill_single(struct csv_task *task, bool *bad, struct error *err)
{
    const struct csv_reader *reader = task->reader;
    for (uint32_t i = 0; i < reader->options.column_count; i++) {
        struct vector *vector = task->columns[i];
        bool fits = i != reader->corrupt_position &&
                    parse_record(task, VECTOR_VALUES(struct bytes, vector) + task->rows);
        if (!fits)
            TRY(set_null(task, i, err));
        else if (vector->validity != NULL)
            validity_set(vector->validity, task->rows);
        *bad = *bad || (!fits && i != reader->corrupt_position);
    }
    return OK;
}

/* The record in the parser's tokens becomes a row, or what `mode` says. */
static enum status end_record(struct csv_task *task, struct bytes record, struct error *err)
{
    const struct csv_reader *reader = task->reader;
    bool single = reader->options.single_variant;
    uint32_t wanted = single ? task->name_count : reader->data_columns;
    bool count = (single ? reader->header : !reader->pruned) && task->parser.token_count != wanted;
    bool bad = count;
    TRY(single ? fill_single(task, &bad, err) : fill_row(task, &bad, err));
    enum record_mode mode = reader->options.mode;
    if (bad && mode == RECORD_FAILFAST)
        return malformed(task, record, count, err);
    if (bad && mode == RECORD_DROPMALFORMED)
        return OK;
    if (bad && reader->corrupt_position != COLUMN_NONE) {
        struct vector *vector = task->columns[reader->corrupt_position];
        VECTOR_VALUES(struct bytes, vector)[task->rows] = record;
        validity_set(vector->validity, task->rows);
    }
    task->rows++;
    return OK;
}

static bool name_fits(const struct csv_reader *reader, struct bytes token, const char *name)
{
    struct bytes want = bytes_of_text(name);
    while (token.size_bytes > 0 && *token.data <= ' ')
        token = bytes_of(token.data + 1, token.size_bytes - 1);
    while (token.size_bytes > 0 && token.data[token.size_bytes - 1] <= ' ')
        token.size_bytes--;
    if (token.size_bytes != want.size_bytes)
        return false;
    if (reader->exact_names)
        return bytes_equal(token, want);
    return strncasecmp((const char *)token.data, name, token.size_bytes) == 0;
}

/* The header of a file whose records become objects. */
static void keep_names(struct csv_task *task)
{
    const struct csv_parser *parser = &task->parser;
    task->name_count = parser->token_count;
    for (uint32_t i = 0; i < parser->token_count; i++) {
        if (parser->tokens[i].data != NULL)
            buffer_add(&task->names, parser->tokens[i].data, parser->tokens[i].size_bytes);
        uint32_t end = (uint32_t)task->names.size_bytes;
        buffer_add(&task->name_ends, &end, sizeof end);
    }
}

/* Which column differs, and what to do. */
static enum status raise_header(const struct csv_task *task, uint32_t token, const char *expected,
                                struct error *err)
{
    const struct csv_parser *parser = &task->parser;
    (void)error_raise(err, STATUS_FAILED_READ_FILE__NO_HINT, "path", task->path, NULL);
    if (expected == NULL)
        return error_wrap(err,
                          "the header names %u columns, and the schema has %u: name in the schema "
                          "those of the file in their order, or leave enforceSchema out, then the "
                          "columns are taken by their places",
                          parser->token_count, task->reader->data_columns);
    struct bytes found =
        token < parser->token_count ? parser->tokens[token] : bytes_of_text("nothing");
    int size = found.size_bytes < 200 ? (int)found.size_bytes : 200;
    return error_wrap(err,
                      "column %u of the header is '%.*s', and in the schema it is '%.200s': give "
                      "the schema the names of the file in their order, or leave enforceSchema "
                      "out, then the columns are taken by their places",
                      token + 1, size, size == 0 ? "" : (const char *)found.data, expected);
}

/* As raise_header(), for a header that does not count: a warning, as in Spark. */
static void note_header(const struct csv_task *task, uint32_t token, const char *expected)
{
    const struct csv_parser *parser = &task->parser;
    struct format_notes *notes = task->reader->notes;
    char found[200];
    (void)atomic_fetch_add(&notes->other_headers, 1);
    if (notes->log == NULL || atomic_fetch_add(&notes->headers_logged, 1) >= HEADERS_LOGGED)
        return;
    struct bytes name =
        token < parser->token_count ? parser->tokens[token] : bytes_of_text("nothing");
    (void)snprintf(found, sizeof found, "%.*s",
                   (int)(name.size_bytes < 199 ? name.size_bytes : 199),
                   name.size_bytes == 0 ? "" : (const char *)name.data);
    log_event(notes->log, LOG_WARN, "csv_header_differs",
              (struct log_field[]){log_text("source", notes->source),
                                   log_text("path", task->path),
                                   log_u64("headerColumns", parser->token_count),
                                   log_u64("schemaColumns", task->reader->data_columns),
                                   log_u64("column", token + 1),
                                   log_text("inHeader", found),
                                   log_text("inSchema", expected == NULL ? "" : expected),
                                   {0}});
}

static enum status header_differs(const struct csv_task *task, uint32_t token, const char *expected,
                                  struct error *err)
{
    if (!task->reader->enforce_schema)
        return raise_header(task, token, expected, err);
    note_header(task, token, expected);
    return OK;
}

static enum status check_header(struct csv_task *task, struct error *err)
{
    const struct csv_reader *reader = task->reader;
    const struct csv_parser *parser = &task->parser;
    const struct type *delivered = reader->options.delivered;
    task->header_pending = false;
    if (reader->options.single_variant)
        keep_names(task);
    if ((reader->enforce_schema && reader->notes == NULL) || reader->options.single_variant)
        return OK;
    for (uint32_t i = 0; i < delivered->field_count; i++) {
        uint32_t token = reader->tokens[i];
        if (token != COLUMN_NONE &&
            (token >= parser->token_count ||
             !name_fits(reader, parser->tokens[token], delivered->fields[i].name)))
            return header_differs(task, token, delivered->fields[i].name, err);
    }
    if (reader->pruned || parser->token_count == reader->data_columns)
        return OK;
    return header_differs(task, 0, NULL, err);
}

static enum status too_big(struct csv_task *task, struct bytes record, bool stray,
                           struct error *err)
{
    char shown[256];
    size_t size = record.size_bytes < sizeof shown ? record.size_bytes : sizeof shown - 1;
    if (size > 0)
        memcpy(shown, record.data, size);
    shown[size] = '\0';
    (void)error_raise(err, STATUS_MALFORMED_CSV_RECORD, "badRecord", shown, NULL);
    (void)error_wrap(err, stray ? "a quote that is not escaped"
                                : "more than maxColumns values or maxCharsPerColumn characters");
    return failed_read_file(task->path, err);
}

static enum status take_result(struct csv_task *task, enum csv_result result, struct bytes record,
                               struct error *err)
{
    switch (result) {
    case CSV_RECORD:
        return task->header_pending ? check_header(task, err) : end_record(task, record, err);
    case CSV_TOO_BIG:
    case CSV_STRAY:
        return too_big(task, record, result == CSV_STRAY, err);
    case CSV_NOTHING:
    case CSV_MORE:
        break;
    }
    return OK;
}

static bool is_blank_line(struct bytes line)
{
    for (size_t i = 0; i < line.size_bytes; i++) {
        if (line.data[i] > ' ')
            return false;
    }
    return true;
}

/* A text as UTF-8, malformed bytes replaced. */
static struct bytes clean_text(struct csv_task *task, enum charset charset, struct bytes text)
{
    if (charset == CHARSET_UTF8 && (encoded_text_is_ascii(text) || utf8_is_valid(text)))
        return text;
    struct buffer clean = {0};
    (void)charset_decode(charset, text, true, &clean);
    struct bytes copy = arena_copy(task->batch, buffer_bytes(&clean));
    buffer_fini(&clean);
    return copy;
}

static struct bytes skip_mark(struct csv_task *task, struct bytes text)
{
    bool marked =
        task->at_start && text.size_bytes >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0;
    task->at_start = false;
    return marked ? bytes_of(text.data + 3, text.size_bytes - 3) : text;
}

static enum status read_line(struct csv_task *task, struct bytes line, struct error *err)
{
    line = skip_mark(task, line);
    line = clean_text(task, task->reader->options.charset, line);
    if (is_blank_line(line))
        return OK;
    return take_result(task, csv_parse_line(&task->parser, line), line, err);
}

static enum status read_lines(struct csv_task *task, struct error *err)
{
    struct bytes line;
    while (task->rows < BATCH_ROWS_MAX && line_reader_next(&task->lines, &line))
        TRY(read_line(task, line, err));
    return OK;
}

/* Records over several lines. */

/* The first line break in a file is what ends its records. */
static void find_line_break(struct csv_task *task, struct bytes text)
{
    struct csv_dialect *dialect = &task->dialect;
    if (task->newline_known || dialect->newline_size > 0)
        return;
    task->newline_known = true;
    size_t i = 0;
    while (i < text.size_bytes && text.data[i] != '\n' && text.data[i] != '\r')
        i++;
    dialect->newline[0] = i < text.size_bytes ? text.data[i] : '\n';
    dialect->newline_size = 1;
    if (i + 1 < text.size_bytes && text.data[i] == '\r' && text.data[i + 1] == '\n') {
        dialect->newline[1] = '\n';
        dialect->newline_size = 2;
    }
}

static enum status read_record(struct csv_task *task, struct bytes text, bool at_end, size_t *used,
                               struct error *err)
{
    size_t size = 0;
    *used = 0;
    enum csv_result result = csv_parse_record(&task->parser, text, at_end, used, &size);
    if (result == CSV_MORE) {
        *used = 0;
        return OK;
    }
    for (uint32_t i = 0; i < task->parser.token_count; i++) {
        struct bytes *token = &task->parser.tokens[i];
        if (token->data != NULL)
            *token = clean_text(task, CHARSET_UTF8, *token);
    }
    return take_result(task, result, bytes_of(text.data, size), err);
}

static enum status read_buffered(struct csv_task *task, struct error *err)
{
    struct line_reader *lines = &task->lines;
    while (task->rows < BATCH_ROWS_MAX && lines->start < lines->end) {
        struct bytes text = bytes_of(lines->data + lines->start, lines->end - lines->start);
        if (!lines->stream_done && text.size_bytes < 4096)
            return OK; /* enough to see the mark and the first line break */
        struct bytes body = skip_mark(task, text);
        line_reader_skip(lines, text.size_bytes - body.size_bytes);
        find_line_break(task, body);
        size_t used = 0;
        TRY(read_record(task, body, lines->stream_done, &used, err));
        line_reader_skip(lines, used);
        if (used == 0)
            return OK;
    }
    return OK;
}

static enum status convert_file(struct csv_task *task, struct error *err)
{
    struct bytes content;
    TRY(line_reader_whole(&task->lines, &content, err));
    (void)charset_decode(task->reader->options.charset, content, true, &task->converted);
    find_line_break(task, buffer_bytes(&task->converted));
    task->converted_done = true;
    return OK;
}

static enum status read_converted(struct csv_task *task, struct error *err)
{
    if (!task->converted_done)
        TRY(convert_file(task, err));
    struct bytes all = buffer_bytes(&task->converted);
    while (task->rows < BATCH_ROWS_MAX && task->converted_at < all.size_bytes) {
        size_t used = 0;
        struct bytes rest =
            bytes_of(all.data + task->converted_at, all.size_bytes - task->converted_at);
        TRY(read_record(task, rest, true, &used, err));
        CHECK(used > 0);
        task->converted_at += used;
    }
    return OK;
}

static enum status read_rows(struct csv_task *task, struct error *err)
{
    const struct record_options *options = &task->reader->options;
    if (options->multi_line && options->charset != CHARSET_UTF8)
        return read_converted(task, err);
    enum status (*read)(struct csv_task *, struct error *) =
        options->multi_line ? read_buffered : read_lines;
    TRY(read(task, err));
    while (task->rows == 0 && !line_reader_done(&task->lines)) {
        TRY(line_reader_fill(&task->lines, err));
        TRY(read(task, err));
    }
    return OK;
}

static enum status csv_next(struct record_reader *opaque, struct arena *arena, struct batch **out,
                            struct error *err)
{
    struct csv_task *task = (struct csv_task *)opaque;
    CHECK_MAGIC(task, CSV_TASK_MAGIC);
    const struct csv_reader *reader = task->reader;
    struct batch *batch = NULL;
    TRY(batch_new(arena, reader->options.delivered, BATCH_ROWS_MAX, &batch, err));
    task->batch = arena;
    task->parser.arena = arena;
    task->columns = batch->columns;
    task->rows = 0;
    if (reader->corrupt_position != COLUMN_NONE) {
        struct vector *vector = task->columns[reader->corrupt_position];
        TRY(vector_make_nullable(arena, vector, err));
        memset(vector->validity, 0, validity_words(BATCH_ROWS_MAX) * sizeof(uint64_t));
    }
    TRY(read_rows(task, err));
    batch->rows = task->rows;
    batch->selected = task->rows;
    for (uint32_t i = 0; i < reader->options.column_count; i++)
        batch->columns[i]->length = task->rows;
    *out = task->rows == 0 ? NULL : batch;
    return OK;
}

const struct format_ops csv_format = {
    .name = "csv",
    .read_options = read_options,
    .write_options = csv_write_options,
    .reader_new = csv_reader_new,
    .splittable = csv_splittable,
    .open = csv_open,
    .next = csv_next,
    .close = csv_close,
    .writer_new = csv_writer_new,
    .extension = csv_extension,
    .write_open = csv_write_open,
    .write = csv_write,
    .finish = csv_finish,
    .write_close = csv_write_close,
};
