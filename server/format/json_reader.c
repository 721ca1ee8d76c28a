/*
 * The JSON reader: lines (or whole files with multiLine) -> batches.
 *
 * A record is an object, one row, or an array of objects, as many rows.  Whether an array is good
 * is known only at its end, so it is decoded twice: once to judge it, once to deliver it, in as
 * many batches as it takes.
 */
#include "base/check.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "columnar/datetime_words.h"
#include "format/json_decode.h"
#include "format/json_format.h"
#include "format/line_reader.h"

#include <stdlib.h>
#include <strings.h>

#define JSON_READER_MAGIC 0x15072ead
#define JSON_TASK_MAGIC   0x15077a5c

const struct option_def json_read_options[] = {
    {"mode", OPTION_WORD, 0, 0, "PERMISSIVE",
     "PERMISSIVE, DROPMALFORMED or FAILFAST: what becomes of broken records"},
    {"columnNameOfCorruptRecord", OPTION_TEXT, 0, 0, "_corrupt_record",
     "column that takes the text of a broken record"},
    {"multiLine", OPTION_BOOL, 0, 0, "false", "a file holds one JSON value over many lines"},
    {"singleVariantColumn", OPTION_TEXT, 0, 0, NULL,
     "name of the VARIANT column that takes whole records"},
    {"lineSep", OPTION_TEXT, 0, 0, NULL, "what separates records; by default \\n, \\r and \\r\\n"},
    {"encoding", OPTION_TEXT, 0, 0, NULL, "charset of the files"},
    {"charset", OPTION_TEXT, 0, 0, NULL, "another name of encoding"},
    {"dateFormat", OPTION_TEXT, 0, 0, NULL, "pattern of dates"},
    {"timestampFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps"},
    {"timestampNTZFormat", OPTION_TEXT, 0, 0, NULL, "pattern of timestamps without zone"},
    {"enableDateTimeParsingFallback", OPTION_BOOL, 0, 0, NULL,
     "what the patterns refuse is read as CAST would"},
    {"timeZone", OPTION_TEXT, 0, 0, NULL, "zone of timestamps that name none"},
    {"locale", OPTION_TEXT, 0, 0, "en-US",
     "language of DECIMALs in quotes, any; and of words in patterns of "
     "dates: " DATETIME_WORDS_LANGUAGES},
    {"primitivesAsString", OPTION_BOOL, 0, 0, "false", "for schema inference: no effect"},
    {"prefersDecimal", OPTION_BOOL, 0, 0, "false", "for schema inference: no effect"},
    {"samplingRatio", OPTION_RATIO, 0, 0, "1.0", "for schema inference: no effect"},
    {"dropFieldIfAllNull", OPTION_BOOL, 0, 0, "false", "for schema inference: no effect"},
    {"inferTimestamp", OPTION_BOOL, 0, 0, "false", "for schema inference: no effect"},
    {"allowComments", OPTION_BOOL, 0, 0, "false", "comments of C and C++ are blanks"},
    {"allowUnquotedFieldNames", OPTION_BOOL, 0, 0, "false", "names may stand without quotes"},
    {"allowSingleQuotes", OPTION_BOOL, 0, 0, "true", "texts may stand in single quotes"},
    {"allowNumericLeadingZeros", OPTION_BOOL, 0, 0, "false", "numbers may begin with zeros"},
    {"allowBackslashEscapingAnyCharacter", OPTION_BOOL, 0, 0, "false",
     "a backslash may precede any character"},
    {"allowUnquotedControlChars", OPTION_BOOL, 0, 0, "false",
     "texts may hold control characters as they are"},
    {"allowNonNumericNumbers", OPTION_BOOL, 0, 0, "true", "NaN and infinities are numbers"},
    {"maxNestingDepth", OPTION_INT, 1, 1000000, "1000", "deeper records are broken"},
    {"maxStringLen", OPTION_INT, 1, INT32_MAX, "100000000", "longer texts are broken"},
    {"maxNumLen", OPTION_INT, 1, INT32_MAX, "1000", "numbers of more digits are broken"},
    {NULL, OPTION_TEXT, 0, 0, NULL, NULL},
};

struct json_reader {
    uint32_t magic;
    struct record_options options;
    struct json_rules rules;
    bool empty_is_null, whole_values, rewrites; /* legacy settings */
    const struct type_field *fields; /* the delivered ones without the corrupt-record column */
    uint32_t field_count;
    uint32_t corrupt_position; /* among the delivered, or COLUMN_NONE */
};

struct json_task {
    uint32_t magic;
    const struct json_reader *reader;
    struct line_reader lines;
    struct json_decoder decoder;
    struct json_column corrupt;
    uint32_t rows;
    bool quick;              /* a line break can only be the end of a record */
    bool whole_done;         /* multiLine: the file has been read */
    const uint8_t *array_at; /* the next element of an array being delivered, or NULL */
    struct bytes array_text; /* the record it is in, as written */
    bool array_bad;
    const char *path;
};

static enum status check_type(const struct type *type, const struct type_field *column,
                              struct error *err)
{
    if (type->id == TYPE_TIME)
        return error_raise(err, STATUS_UNSUPPORTED_TIME_TYPE, NULL);
    if (type->id == TYPE_INTERVAL || (type->id == TYPE_MAP && type->key->id != TYPE_STRING))
        return unsupported_type("JSON", column, err);
    if (type->element != NULL)
        TRY(check_type(type->element, column, err));
    for (uint32_t i = 0; i < type->field_count; i++)
        TRY(check_type(type->fields[i].type, column, err));
    return OK;
}

static enum status parse_rules(const struct options *options, struct json_rules *rules,
                               struct error *err)
{
    int64_t depth = 0;
    int64_t text = 0;
    int64_t number = 0;
    TRY(options_bool(options, "allowComments", false, &rules->comments, err));
    TRY(options_bool(options, "allowUnquotedFieldNames", false, &rules->unquoted_names, err));
    TRY(options_bool(options, "allowSingleQuotes", true, &rules->single_quotes, err));
    TRY(options_bool(options, "allowNumericLeadingZeros", false, &rules->leading_zeros, err));
    TRY(options_bool(options, "allowBackslashEscapingAnyCharacter", false, &rules->any_escape,
                     err));
    TRY(options_bool(options, "allowUnquotedControlChars", false, &rules->control_chars, err));
    TRY(options_bool(options, "allowNonNumericNumbers", true, &rules->non_numeric, err));
    TRY(options_int(options, "maxNestingDepth", 1, 1000000, 1000, &depth, err));
    TRY(options_int(options, "maxStringLen", 1, INT32_MAX, 100000000, &text, err));
    TRY(options_int(options, "maxNumLen", 1, INT32_MAX, 1000, &number, err));
    rules->nesting_max = (uint32_t)depth;
    rules->string_max = (size_t)text;
    rules->number_max = (size_t)number;
    return OK;
}

static enum status check_charset(const struct format_config *config,
                                 const struct record_options *options, struct error *err)
{
    const char *name = options_get(config->options, "encoding");
    if (name == NULL)
        name = options_get(config->options, "charset");
    if (options->multi_line || options->charset == CHARSET_UTF8)
        return OK;
    if (options->charset == CHARSET_UTF16 || options->charset == CHARSET_UTF32)
        return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "encoding", "value", name,
                           "expected", "another charset unless multiLine is true", NULL);
    if (options->separator.size_bytes == 0)
        return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", "encoding", "value", name,
                           "expected", "the option lineSep beside it", NULL);
    return OK;
}

static bool conf_is(const struct format_config *config, const char *name, const char *value)
{
    const char *set = format_conf(config, name);
    return set != NULL && strcasecmp(set, value) == 0;
}

static enum status json_reader_new(struct arena *query, const struct format_config *config,
                                   struct format_reader **out, struct error *err)
{
    struct json_reader *reader = arena_new_object(query, sizeof *reader);
    reader->magic = JSON_READER_MAGIC;
    TRY(record_options_parse(query, config, "JSON", &reader->options, err));
    TRY(parse_rules(config->options, &reader->rules, err));
    TRY(check_charset(config, &reader->options, err));
    reader->empty_is_null =
        conf_is(config, "spark.sql.legacy.json.allowEmptyString.enabled", "true");
    reader->rewrites = conf_is(config, "spark.sql.json.enableExactStringParsing", "false");
    reader->whole_values = conf_is(config, "spark.sql.json.enablePartialResults", "false");
    for (uint32_t i = 0; i < config->schema->field_count; i++)
        TRY(check_type(config->schema->fields[i].type, &config->schema->fields[i], err));
    const struct record_options *options = &reader->options;
    struct type_field *fields =
        arena_new_object(query, (options->column_count + 1) * sizeof *fields);
    reader->corrupt_position = COLUMN_NONE;
    for (uint32_t i = 0; i < options->column_count; i++) {
        if (options->columns[i] == options->corrupt_field)
            reader->corrupt_position = i;
        else
            fields[reader->field_count++] = options->delivered->fields[i];
    }
    reader->fields = fields;
    *out = (struct format_reader *)reader;
    return OK;
}

static bool json_splittable(const struct format_reader *opaque)
{
    const struct json_reader *reader = (const struct json_reader *)opaque;
    CHECK_MAGIC(reader, JSON_READER_MAGIC);
    return !reader->options.multi_line;
}

static enum status json_open(const struct format_reader *opaque, struct byte_stream *take,
                             const struct format_split *split, struct record_reader **out,
                             struct error *err)
{
    (void)err;
    const struct json_reader *reader = (const struct json_reader *)opaque;
    CHECK_MAGIC(reader, JSON_READER_MAGIC);
    struct json_task *task = heap_calloc(1, sizeof *task);
    task->magic = JSON_TASK_MAGIC;
    task->reader = reader;
    task->path = split->path;
    line_reader_init(&task->lines, take, split, reader->options.separator,
                     reader->options.record_bytes_max);
    if (reader->options.multi_line)
        line_reader_take_all(&task->lines);
    json_decoder_init(&task->decoder, &reader->options, &reader->rules, reader->fields,
                      reader->field_count, BATCH_ROWS_MAX);
    task->decoder.now_us = split->now_us;
    bool plain = reader->options.separator.size_bytes == 0 && !reader->options.multi_line;
    task->quick = plain && !reader->options.single_variant && !reader->options.charset_given &&
                  !reader->rules.control_chars && !reader->rules.comments;
    task->decoder.lexer.across_lines = !plain;
    task->decoder.empty_is_null = reader->empty_is_null;
    task->decoder.whole_values = reader->whole_values;
    task->decoder.rewrites = reader->rewrites;
    json_column_init(&task->corrupt, type_simple(TYPE_STRING), BATCH_ROWS_MAX);
    *out = (struct record_reader *)task;
    return OK;
}

static void json_close(struct record_reader *opaque)
{
    struct json_task *task = (struct json_task *)opaque;
    CHECK_MAGIC(task, JSON_TASK_MAGIC);
    line_reader_fini(&task->lines);
    json_decoder_fini(&task->decoder);
    json_column_fini(&task->corrupt);
    free(task);
}

/* The name of a column, wherever it is nested. */
static const char *column_name(const struct json_column *columns, const struct type_field *fields,
                               uint32_t count, const struct json_column *wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        if (&columns[i] == wanted)
            return fields[i].name;
        if (columns[i].kind != TYPE_STRUCT)
            continue;
        const char *name = column_name(columns[i].children, columns[i].type->fields,
                                       columns[i].child_count, wanted);
        if (name != NULL)
            return name;
    }
    return NULL;
}

static enum status fail(struct json_task *task, struct bytes record, bool syntax, struct error *err)
{
    const struct json_decoder *decoder = &task->decoder;
    if (!syntax && decoder->bad) {
        const char *name = column_name(decoder->columns, task->reader->fields,
                                       decoder->column_count, decoder->bad_column);
        struct buffer type = {0};
        buffer_add_byte(&type, '"');
        type_print_sql(&type, decoder->bad_column->type);
        buffer_add_byte(&type, '"');
        char value[128] = "";
        size_t size = decoder->bad_value.size_bytes;
        size = size < sizeof value ? size : sizeof value - 1;
        if (size > 0)
            memcpy(value, decoder->bad_value.data, size);
        (void)error_raise(err, STATUS_CANNOT_PARSE_JSON_FIELD, "fieldName",
                          name == NULL ? "" : name, "fieldValue", value, "jsonType",
                          decoder->bad_token, "dataType", buffer_text(&type), NULL);
        buffer_fini(&type);
    }
    return malformed_record(record, task->path, err);
}

/* Ends the row being filled: what a broken record leads to is decided here. */
static enum status end_row(struct json_task *task, struct bytes record, bool broken, bool syntax,
                           struct error *err)
{
    if (!broken) {
        task->rows++;
        return OK;
    }
    const struct json_decoder *decoder = &task->decoder;
    if (decoder->old_time.data != NULL)
        TRY(record_check_old_time(decoder->options, decoder->old_type, decoder->old_time, err));
    enum record_mode mode = task->reader->options.mode;
    if (mode == RECORD_FAILFAST)
        return fail(task, record, syntax, err);
    if (syntax || mode == RECORD_DROPMALFORMED)
        json_decoder_clear_row(&task->decoder, task->rows);
    if (mode == RECORD_DROPMALFORMED)
        return OK;
    ((struct bytes *)task->corrupt.values)[task->rows] = record;
    validity_set(task->corrupt.validity, task->rows);
    task->rows++;
    return OK;
}

/* The element at *cursor into the current row; *more says whether another one follows. */
static bool read_element(struct json_task *task, const uint8_t **cursor, bool *more)
{
    struct json_lexer *lexer = &task->decoder.lexer;
    *cursor = json_skip_space(lexer, *cursor);
    if (**cursor != '{')
        return false;
    json_decoder_clear_row(&task->decoder, task->rows);
    lexer->depth++;
    enum json_outcome outcome = json_decode_row(&task->decoder, task->rows, cursor);
    lexer->depth--;
    if (outcome == JSON_SYNTAX)
        return false;
    *cursor = json_skip_space(lexer, *cursor);
    *more = **cursor == ',';
    if (!*more && **cursor != ']')
        return false;
    ++*cursor;
    return true;
}

/* Judges an array of rows and starts its delivery. */
static enum status begin_array(struct json_task *task, const uint8_t *at, struct bytes record,
                               struct error *err)
{
    struct json_decoder *decoder = &task->decoder;
    const uint8_t *first = json_skip_space(&decoder->lexer, at + 1);
    if (*first == ']')
        return OK;
    for (uint32_t i = 0; i < decoder->column_count; i++)
        json_column_mark(&decoder->columns[i]);
    const uint8_t *cursor = first;
    bool more = true;
    bool good = true;
    while (good && more) {
        good = read_element(task, &cursor, &more);
        for (uint32_t i = 0; i < decoder->column_count; i++)
            json_column_rewind(&decoder->columns[i]);
    }
    json_decoder_clear_row(decoder, task->rows);
    enum record_mode mode = task->reader->options.mode;
    if (!good || (decoder->bad && mode != RECORD_PERMISSIVE))
        return end_row(task, record, true, !good, err);
    task->array_at = first;
    task->array_text = record;
    task->array_bad = decoder->bad;
    return OK;
}

static enum status go_on_array(struct json_task *task, struct error *err)
{
    while (task->array_at != NULL && task->rows < BATCH_ROWS_MAX) {
        bool more = false;
        bool good = read_element(task, &task->array_at, &more);
        CHECK(good);
        if (!more)
            task->array_at = NULL;
        TRY(end_row(task, task->array_text, task->array_bad, false, err));
    }
    return OK;
}

/* A record that is one VARIANT, whatever follows it. */
static enum status read_variant(struct json_task *task, const uint8_t *at, struct bytes record,
                                struct error *err)
{
    struct json_decoder *decoder = &task->decoder;
    if (record.size_bytes >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    at = json_skip_space(&decoder->lexer, at);
    if (at == decoder->lexer.end)
        return OK;
    enum json_outcome outcome = json_decode_variant(decoder, task->rows, &at);
    bool broken = outcome == JSON_SYNTAX || outcome == JSON_TORN || decoder->bad;
    return end_row(task, record, broken, broken, err);
}

/* One record of JSON, UTF-8, with a NUL behind it; `record` is its text as written. */
static enum status read_record(struct json_task *task, struct bytes text, struct bytes record,
                               struct error *err)
{
    struct json_decoder *decoder = &task->decoder;
    const uint8_t *at = text.data;
    decoder->lexer.end = text.data + text.size_bytes;
    decoder->bad = false;
    decoder->stopped = false;
    decoder->old_time = bytes_of(NULL, 0);
    if (task->reader->options.single_variant)
        return read_variant(task, at, record, err);
    if (*at != '{') {
        if (text.size_bytes >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
            at += 3;
        at = json_skip_space(&decoder->lexer, at);
        if (at == decoder->lexer.end)
            return OK;
        if (*at == '[')
            return begin_array(task, at, record, err);
        if (*at != '{')
            return end_row(task, record, true, true, err);
    }
    enum json_outcome outcome = json_decode_row(decoder, task->rows, &at);
    bool syntax = outcome == JSON_SYNTAX;
    return end_row(task, record, syntax || decoder->bad, syntax, err);
}

/* A record in a charset of its own. */
static enum status convert_record(struct json_task *task, enum charset charset,
                                  struct bytes content, struct bytes record, struct error *err)
{
    struct buffer text = {0};
    bool clean = charset_decode(charset, content, true, &text);
    size_t size = text.size_bytes;
    memset(buffer_reserve(&text, LINE_PADDING), 0, LINE_PADDING);
    text.size_bytes += LINE_PADDING;
    struct bytes copy = arena_copy(task->decoder.lexer.arena, buffer_bytes(&text));
    buffer_fini(&text);
    if (!clean)
        return end_row(task, record, true, true, err);
    return read_record(task, bytes_of(copy.data, size), record, err);
}

static enum status read_line(struct json_task *task, struct bytes line, struct error *err)
{
    const struct record_options *options = &task->reader->options;
    if (!options->charset_given)
        return read_record(task, line, line, err);
    if (options->charset == CHARSET_UTF8 && utf8_is_valid(line))
        return read_record(task, line, line, err);
    return convert_record(task, options->charset, line, line, err);
}

static enum status read_whole(struct json_task *task, struct error *err)
{
    const struct record_options *options = &task->reader->options;
    struct bytes content;
    TRY(line_reader_whole(&task->lines, &content, err));
    task->whole_done = true;
    if (options->charset_given)
        return read_line(task, content, err);
    size_t mark = 0;
    enum charset charset = charset_guess_json(content, &mark);
    struct bytes rest = bytes_of(content.data + mark, content.size_bytes - mark);
    if (charset == CHARSET_UTF8)
        return content.size_bytes == 0 ? OK : read_record(task, rest, content, err);
    return convert_record(task, charset, rest, content, err);
}

static struct batch *make_batch(struct json_task *task, struct arena *arena)
{
    const struct json_reader *reader = task->reader;
    const struct type *schema = reader->options.delivered;
    struct batch *batch = arena_new_object(arena, sizeof *batch);
    *batch = (struct batch){.schema = schema, .rows = task->rows, .selected = task->rows};
    batch->columns = arena_new_object(arena, (schema->field_count + 1) * sizeof *batch->columns);
    uint32_t next = 0;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        struct json_column *column =
            i == reader->corrupt_position ? &task->corrupt : &task->decoder.columns[next++];
        batch->columns[i] = json_column_vector(column, task->rows, arena);
    }
    return batch;
}

/*
 * A line that is one good object, read without looking for the end of the line first.  False: it
 * is something else, or not wholly in the buffer; nothing has been taken then.
 */
static bool quick_line(struct json_task *task)
{
    struct json_decoder *decoder = &task->decoder;
    struct bytes rest;
    if (!line_reader_peek(&task->lines, &rest) || *rest.data != '{')
        return false;
    const uint8_t *at = rest.data;
    decoder->lexer.end = at + rest.size_bytes;
    decoder->bad = false;
    decoder->stopped = false;
    if (json_decode_row(decoder, task->rows, &at) == JSON_SET && !decoder->bad &&
        line_reader_take(&task->lines, at)) {
        task->rows++;
        return true;
    }
    json_decoder_clear_row(decoder, task->rows);
    return false;
}

/* Rows from what is in the buffer, until the batch is full. */
static enum status read_rows(struct json_task *task, struct error *err)
{
    struct bytes line;
    TRY(go_on_array(task, err));
    while (task->rows < BATCH_ROWS_MAX) {
        if (task->quick && quick_line(task))
            continue;
        if (!line_reader_next(&task->lines, &line))
            break;
        TRY(read_line(task, line, err));
        TRY(go_on_array(task, err));
    }
    return OK;
}

static enum status json_next(struct record_reader *opaque, struct arena *arena, struct batch **out,
                             struct error *err)
{
    struct json_task *task = (struct json_task *)opaque;
    CHECK_MAGIC(task, JSON_TASK_MAGIC);
    task->rows = 0;
    json_decoder_begin(&task->decoder, BATCH_ROWS_MAX, arena);
    json_column_reset(&task->corrupt, BATCH_ROWS_MAX);
    if (task->reader->options.multi_line) {
        if (!task->whole_done)
            TRY(read_whole(task, err));
        TRY(go_on_array(task, err));
    } else {
        TRY(read_rows(task, err));
        while (task->rows == 0 && !line_reader_done(&task->lines)) {
            TRY(line_reader_fill(&task->lines, err));
            TRY(read_rows(task, err));
        }
    }
    *out = task->rows == 0 ? NULL : make_batch(task, arena);
    return OK;
}

const struct format_ops json_format = {
    .name = "json",
    .read_options = json_read_options,
    .write_options = json_write_options,
    .reader_new = json_reader_new,
    .splittable = json_splittable,
    .open = json_open,
    .next = json_next,
    .close = json_close,
    .writer_new = json_writer_new,
    .extension = json_extension,
    .write_open = json_write_open,
    .write = json_write,
    .finish = json_finish,
    .write_close = json_write_close,
};
