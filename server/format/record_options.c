/* Options of readers and writers: see record_options.h. */
#include "format/record_options.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>
#include <strings.h>

const char *format_conf(const struct format_config *config, const char *name)
{
    for (size_t i = config->conf_count; i-- > 0;) {
        if (strcmp(config->conf[i].name, name) == 0)
            return config->conf[i].value;
    }
    return NULL;
}

static const char *option_or(const struct options *options, const char *name, const char *other)
{
    const char *value = options_get(options, name);
    return value == NULL && other != NULL ? options_get(options, other) : value;
}

enum status unsupported_type(const char *format, const struct type_field *field, struct error *err)
{
    struct buffer sql = {0};
    struct buffer name = {0};
    buffer_add_byte(&sql, '"');
    type_print_sql(&sql, field->type);
    buffer_add_byte(&sql, '"');
    buffer_printf(&name, "`%s`", field->name);
    enum status status =
        error_raise(err, STATUS_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, "format", format,
                    "columnName", buffer_text(&name), "columnType", buffer_text(&sql), NULL);
    buffer_fini(&sql);
    buffer_fini(&name);
    return status;
}

enum status failed_read_file(const char *path, struct error *err)
{
    struct error inner = *err;
    (void)error_raise(err, STATUS_FAILED_READ_FILE__NO_HINT, "path", path, NULL);
    if (inner.status == OK)
        return err->status;
    err->causes[0] = inner.status;
    err->causes[1] = inner.causes[0];
    err->causes[2] = inner.causes[1];
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ": %.900s", inner.text);
    return err->status;
}

#define RECORD_SHOWN_BYTES 400

enum status malformed_record(struct bytes record, const char *path, struct error *err)
{
    struct error inner = *err;
    char shown[RECORD_SHOWN_BYTES + 4];
    size_t size = record.size_bytes < RECORD_SHOWN_BYTES ? record.size_bytes : RECORD_SHOWN_BYTES;
    if (size > 0)
        memcpy(shown, record.data, size);
    memcpy(shown + size, "...", 4);
    if (size == record.size_bytes)
        shown[size] = '\0';
    (void)error_raise(err, STATUS_MALFORMED_RECORD_IN_PARSING__WITHOUT_SUGGESTION, "badRecord",
                      shown, "failFastMode", "FAILFAST", NULL);
    if (inner.status != OK) {
        err->causes[0] = inner.status;
        err->causes[1] = inner.causes[0];
        size_t used = strlen(err->text);
        (void)snprintf(err->text + used, sizeof err->text - used, ": %.300s", inner.text);
    }
    return failed_read_file(path, err);
}

enum status option_char(const struct options *options, const char *name, uint32_t fallback,
                        uint32_t *out, struct error *err)
{
    const char *value = options_get(options, name);
    *out = fallback;
    if (value == NULL)
        return OK;
    struct bytes text = bytes_of_text(value);
    if (text.size_bytes == 0) {
        *out = 0;
        return OK;
    }
    size_t size = 0;
    *out = utf8_decode(text, &size);
    if (size == text.size_bytes)
        return OK;
    return error_raise(err, STATUS_OPTION_VALUE_EXCEEDS_ONE_CHARACTER, "paramName", name,
                       "actualValue", value, NULL);
}

static enum status parse_zone(const struct format_config *config, const struct zone **out,
                              struct error *err)
{
    const char *id = options_get(config->options, "timeZone");
    if (id == NULL)
        id = config->time_zone;
    if (id == NULL) {
        *out = timezone_utc();
        return OK;
    }
    return timezone_find(bytes_of_text(id), out, err);
}

/* True if the pattern prints words: names of months, of days, of halves of days, of eras. */
static bool pattern_has_words(const char *pattern)
{
    bool quoted = false;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\'')
            quoted = !quoted;
        if (quoted)
            continue;
        if (strchr("EaGB", *at) != NULL || strncmp(at, "MMM", 3) == 0 || strncmp(at, "LLL", 3) == 0)
            return true;
    }
    return false;
}

static enum status invalid_option(const char *name, const char *value, const char *expected,
                                  struct error *err)
{
    return error_raise(err, STATUS_INVALID_OPTION_VALUE, "option", name, "value", value, "expected",
                       expected, NULL);
}

/* Of the option `locale`; Spark passes over what it does not know. */
static enum status parse_locale(const struct format_config *config,
                                const struct number_locale **out, struct error *err)
{
    const char *tag = options_get(config->options, "locale");
    *out = tag == NULL ? number_locale_us() : number_locale_find(tag);
    if (*out == NULL)
        return invalid_option("locale", tag, "the tag of a language that is known, as de or de-CH",
                              err);
    return OK;
}

static enum status parse_pattern(struct arena *query, const struct format_config *config,
                                 const char *name, enum datetime_pattern_use use,
                                 const struct datetime_pattern **out, struct error *err)
{
    const char *value = options_get(config->options, name);
    *out = NULL;
    if (value == NULL)
        return OK;
    const char *locale = options_get(config->options, "locale");
    const struct datetime_words *words = datetime_words_find(locale == NULL ? "en" : locale);
    if (words == NULL && pattern_has_words(value))
        return invalid_option(
            "locale", locale,
            "a language of " DATETIME_WORDS_LANGUAGES " beside a pattern that has words", err);
    return datetime_pattern_compile_in(query, bytes_of_text(value), use,
                                       words == NULL ? datetime_words_english() : words, out, err);
}

#define OLD_DATE        "yyyy-MM-dd"
#define OLD_TIMESTAMP   "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"
#define PLAIN_TIMESTAMP "yyyy-MM-dd HH:mm:ss"

/* A pattern that old releases read; an old pattern that is not understood can only be refused. */
static enum status parse_old_pattern(struct arena *query, const struct format_config *config,
                                     const char *name, const char *missing,
                                     struct record_options *out, struct error *err)
{
    const char *value = options_get(config->options, name);
    const char *locale = options_get(config->options, "locale");
    const struct datetime_words *words = datetime_words_find(locale == NULL ? "en" : locale);
    const struct legacy_pattern **pattern =
        strcmp(name, "dateFormat") == 0 ? &out->old_date : &out->old_timestamp;
    if (legacy_pattern_compile(query, value == NULL ? missing : value,
                               words == NULL ? datetime_words_english() : words,
                               clock_now_us(clock_real()), pattern) ||
        !out->old_times)
        return OK;
    return invalid_option(name, value, "a pattern of SimpleDateFormat without weeks", err);
}

/* The patterns of the policies LEGACY and EXCEPTION. */
static enum status parse_old_times(struct arena *query, const struct format_config *config,
                                   struct record_options *out, struct error *err)
{
    const char *policy = format_conf(config, "spark.sql.legacy.timeParserPolicy");
    out->old_times = policy != NULL && strcasecmp(policy, "LEGACY") == 0;
    out->times_agree = policy != NULL && strcasecmp(policy, "EXCEPTION") == 0;
    if (!out->old_times && !out->times_agree)
        return OK;
    TRY(parse_old_pattern(query, config, "dateFormat", OLD_DATE, out, err));
    return parse_old_pattern(query, config, "timestampFormat",
                             out->old_times ? OLD_TIMESTAMP : PLAIN_TIMESTAMP, out, err);
}

static enum status parse_charset(const struct format_config *config, const char *function,
                                 enum charset *out, bool *given, struct error *err)
{
    const char *name = option_or(config->options, "encoding", "charset");
    *given = name != NULL;
    *out = CHARSET_UTF8;
    if (name == NULL || charset_find(name, out))
        return OK;
    return error_raise(err, STATUS_INVALID_PARAMETER_VALUE__CHARSET, "parameter", "`charset`",
                       "functionName", function, "charsets",
                       "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8", "charset",
                       name, NULL);
}

#define SEPARATOR_BYTES_MAX 8

static enum status parse_separator(struct arena *query, const struct format_config *config,
                                   enum charset charset, struct bytes *out, struct error *err)
{
    const char *value = options_get(config->options, "lineSep");
    *out = bytes_of(NULL, 0);
    if (value == NULL)
        return OK;
    if (value[0] == '\0')
        return invalid_option("lineSep", value, "a text that is not empty", err);
    struct buffer bytes = {0};
    if (charset == CHARSET_UTF16) /* as Java encodes a text on its own: with its mark */
        buffer_add_bytes(&bytes, charset_mark(charset));
    charset_encode(charset, bytes_of_text(value), &bytes);
    enum status status = OK;
    if (bytes.size_bytes > SEPARATOR_BYTES_MAX)
        status = invalid_option("lineSep", value, "at most 8 bytes", err);
    else
        *out = arena_copy(query, buffer_bytes(&bytes));
    buffer_fini(&bytes);
    return status;
}

static enum status check_names(const struct format_config *config, struct error *err)
{
    const char *conf = format_conf(config, "spark.sql.caseSensitive");
    bool exact = conf != NULL && strcasecmp(conf, "true") == 0;
    const struct type *schema = config->schema;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const char *a = schema->fields[i].name;
            const char *b = schema->fields[j].name;
            if ((exact ? strcmp(a, b) : strcasecmp(a, b)) != 0)
                continue;
            char quoted[256];
            (void)snprintf(quoted, sizeof quoted, "`%s`", a);
            return error_raise(err, STATUS_COLUMN_ALREADY_EXISTS, "columnName", quoted, NULL);
        }
    }
    return OK;
}

static enum status find_corrupt(const struct format_config *config, struct record_options *out,
                                struct error *err)
{
    const char *name = options_get(config->options, "columnNameOfCorruptRecord");
    if (name == NULL)
        name = format_conf(config, "spark.sql.columnNameOfCorruptRecord");
    out->corrupt_name = name == NULL ? "_corrupt_record" : name;
    out->corrupt_field = COLUMN_NONE;
    const struct type *schema = config->schema;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const struct type_field *field = &schema->fields[i];
        if (strcmp(field->name, out->corrupt_name) != 0)
            continue;
        if (field->type->id == TYPE_STRING) {
            out->corrupt_field = i;
            continue;
        }
        struct buffer sql = {0};
        buffer_add_byte(&sql, '"');
        type_print_sql(&sql, field->type);
        buffer_add_byte(&sql, '"');
        char quoted[256];
        (void)snprintf(quoted, sizeof quoted, "`%s`", field->name);
        enum status status = error_raise(err, STATUS_INVALID_CORRUPT_RECORD_TYPE, "columnName",
                                         quoted, "actualType", buffer_text(&sql), NULL);
        buffer_fini(&sql);
        return status;
    }
    return OK;
}

static enum status check_columns(const struct record_options *options, struct error *err)
{
    bool only = options->corrupt_field != COLUMN_NONE && options->column_count == 1 &&
                options->columns[0] == options->corrupt_field;
    if (only)
        return error_raise(err, STATUS_UNSUPPORTED_FEATURE__QUERY_ONLY_CORRUPT_RECORD_COLUMN, NULL);
    return OK;
}

/* The schema beside singleVariantColumn is that column, with the corrupt-record column or without.
 */
static enum status find_single_variant(const struct format_config *config,
                                       struct record_options *out, struct error *err)
{
    const char *name = options_get(config->options, "singleVariantColumn");
    const struct type *schema = config->schema;
    if (name == NULL)
        return OK;
    uint32_t others = out->corrupt_field == COLUMN_NONE ? 1 : 2;
    uint32_t at = out->corrupt_field == 0 ? 1 : 0;
    out->single_variant = true;
    if (schema->field_count == others && strcmp(schema->fields[at].name, name) == 0 &&
        schema->fields[at].type->id == TYPE_VARIANT)
        return OK;
    struct buffer sql = {0};
    buffer_add_byte(&sql, '"');
    type_print_sql(&sql, schema);
    buffer_add_byte(&sql, '"');
    enum status status =
        error_raise(err, STATUS_INVALID_SINGLE_VARIANT_COLUMN, "schema", buffer_text(&sql), NULL);
    buffer_fini(&sql);
    return status;
}

static enum record_mode find_mode(const char *name)
{
    if (name != NULL && strcasecmp(name, "DROPMALFORMED") == 0)
        return RECORD_DROPMALFORMED;
    if (name != NULL && strcasecmp(name, "FAILFAST") == 0)
        return RECORD_FAILFAST;
    return RECORD_PERMISSIVE;
}

static const struct type *pick(struct arena *query, const struct format_config *config)
{
    struct type_field *fields =
        arena_new_object(query, (config->column_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < config->column_count; i++) {
        CHECK(config->columns[i] < config->schema->field_count);
        fields[i] = config->schema->fields[config->columns[i]];
        fields[i].nullable = true; /* a reader cannot promise more */
    }
    return type_struct(query, fields, config->column_count);
}

static enum status parse_times(struct arena *query, const struct format_config *config,
                               struct record_options *out, struct error *err)
{
    TRY(parse_zone(config, &out->zone, err));
    enum datetime_pattern_use use = DATETIME_PATTERN_PARSE;
    TRY(parse_old_times(query, config, out, err));
    if (!out->old_times) {
        TRY(parse_pattern(query, config, "dateFormat", use, &out->date_pattern, err));
        TRY(parse_pattern(query, config, "timestampFormat", use, &out->timestamp_pattern, err));
    }
    TRY(parse_pattern(query, config, "timestampNTZFormat", use, &out->ntz_pattern, err));
    bool fallback = out->old_times;
    TRY(options_bool(config->options, "enableDateTimeParsingFallback", fallback, &fallback, err));
    out->date_fallback = fallback || (out->date_pattern == NULL && !out->old_times);
    out->timestamp_fallback = fallback || (out->timestamp_pattern == NULL && !out->old_times);
    return OK;
}

enum status record_options_parse(struct arena *query, const struct format_config *config,
                                 const char *format, struct record_options *out, struct error *err)
{
    CHECK(config->schema != NULL && config->schema->id == TYPE_STRUCT);
    char function[64];
    (void)snprintf(function, sizeof function, "`%sOptions%s`", format,
                   strcmp(format, "JSON") == 0 ? "InRead" : "");
    *out = (struct record_options){
        .format = format,
        .mode = find_mode(options_get(config->options, "mode")),
        .record_bytes_max = config->record_bytes_max,
        .schema = config->schema,
        .delivered = pick(query, config),
        .columns = config->columns,
        .column_count = config->column_count,
    };
    TRY(check_names(config, err));
    TRY(find_corrupt(config, out, err));
    TRY(find_single_variant(config, out, err));
    TRY(check_columns(out, err));
    TRY(options_bool(config->options, "multiLine", false, &out->multi_line, err));
    TRY(parse_charset(config, function, &out->charset, &out->charset_given, err));
    TRY(parse_separator(query, config, out->charset, &out->separator, err));
    TRY(parse_locale(config, &out->numbers, err));
    return parse_times(query, config, out, err);
}

static enum status parse_codec(const struct format_config *config, struct write_options *out,
                               struct error *err)
{
    const char *name = option_or(config->options, "compression", "codec");
    out->codec = CODEC_NONE;
    if (name != NULL)
        TRY(codec_find(name, &out->codec, err));
    return codec_load(out->codec, err);
}

enum status write_options_parse(struct arena *query, const struct format_config *config,
                                const char *format, const char *suffix, struct write_options *out,
                                struct error *err)
{
    CHECK(config->schema != NULL && config->schema->id == TYPE_STRUCT);
    char function[64];
    (void)snprintf(function, sizeof function, "`%sOptions`", format);
    bool given = false;
    *out = (struct write_options){.format = format, .schema = config->schema};
    TRY(parse_charset(config, function, &out->charset, &given, err));
    TRY(parse_separator(query, config, CHARSET_UTF8, &out->separator, err));
    if (out->separator.size_bytes == 0)
        out->separator = bytes_of_text("\n");
    TRY(parse_codec(config, out, err));
    TRY(parse_zone(config, &out->zone, err));
    const struct number_locale *numbers = NULL; /* numbers are written without it */
    TRY(parse_locale(config, &numbers, err));
    enum datetime_pattern_use use = DATETIME_PATTERN_FORMAT;
    TRY(parse_pattern(query, config, "dateFormat", use, &out->date_pattern, err));
    TRY(parse_pattern(query, config, "timestampFormat", use, &out->timestamp_pattern, err));
    TRY(parse_pattern(query, config, "timestampNTZFormat", use, &out->ntz_pattern, err));
    out->extension = arena_sprintf(query, "%s%s", suffix, codec_extension(out->codec));
    return OK;
}

/* "2000-01-01T00:00GMT+01:00", as old releases wrote: the letters GMT go. */
static struct bytes drop_gmt(struct bytes text, char *room, size_t room_bytes)
{
    if (text.data == NULL || text.size_bytes < 3 || text.size_bytes > room_bytes)
        return text;
    const uint8_t *gmt = memmem(text.data, text.size_bytes, "GMT", 3);
    if (gmt == NULL)
        return text;
    size_t before = (size_t)(gmt - text.data);
    memcpy(room, text.data, before);
    memcpy(room + before, gmt + 3, text.size_bytes - before - 3);
    return bytes_of(room, text.size_bytes - 3);
}

enum text_result record_parse_timestamp(const struct record_options *options, struct bytes text,
                                        int64_t now_us, int64_t *out_us)
{
    struct timestamp_context context = {.zone = options->zone, .now_us = now_us};
    if (options->old_times) {
        if (legacy_parse_timestamp(options->old_timestamp, text, options->zone, out_us))
            return TEXT_OK;
        if (!options->timestamp_fallback)
            return TEXT_INVALID;
    }
    if (options->timestamp_pattern != NULL) {
        enum text_result result =
            datetime_pattern_parse(options->timestamp_pattern, text, options->zone, out_us);
        if (result == TEXT_OK || !options->timestamp_fallback)
            return result;
    }
    enum text_result result = timestamp_text_parse(text, &context, out_us);
    if (result == TEXT_OK)
        return result;
    char room[64];
    struct bytes clean = drop_gmt(text, room, sizeof room);
    if (clean.data == text.data)
        return result;
    return timestamp_text_parse(clean, &context, out_us);
}

enum text_result record_parse_ntz(const struct record_options *options, struct bytes text,
                                  int64_t *out_us)
{
    if (options->ntz_pattern != NULL)
        return datetime_pattern_parse_ntz(options->ntz_pattern, text, false, out_us);
    return timestamp_text_parse_ntz(text, false, out_us);
}

enum text_result record_parse_date(const struct record_options *options, struct bytes text,
                                   int32_t *out_days)
{
    if (options->old_times) {
        if (legacy_parse_date(options->old_date, text, out_days))
            return TEXT_OK;
        if (!options->date_fallback)
            return TEXT_INVALID;
    }
    if (options->date_pattern != NULL) {
        enum text_result result =
            datetime_pattern_parse_date(options->date_pattern, text, out_days);
        if (result == TEXT_OK || !options->date_fallback)
            return result;
    }
    return timestamp_text_parse_date(text, out_days);
}

enum status record_check_old_time(const struct record_options *options, enum type_id type,
                                  struct bytes text, struct error *err)
{
    int32_t days = 0;
    int64_t us = 0;
    bool taken = false;
    if (!options->times_agree)
        return OK;
    if (type == TYPE_DATE && options->old_date != NULL)
        taken = legacy_parse_date(options->old_date, text, &days);
    else if (type == TYPE_TIMESTAMP && options->old_timestamp != NULL)
        taken = legacy_parse_timestamp(options->old_timestamp, text, options->zone, &us);
    if (!taken)
        return OK;
    char shown[128];
    (void)snprintf(shown, sizeof shown, "'%.*s'",
                   text.size_bytes < 100 ? (int)text.size_bytes : 100, (const char *)text.data);
    return error_raise(err,
                       STATUS_INCONSISTENT_BEHAVIOR_CROSS_VERSION__PARSE_DATETIME_BY_NEW_PARSER,
                       "datetime", shown, "config", "\"spark.sql.legacy.timeParserPolicy\"", NULL);
}
