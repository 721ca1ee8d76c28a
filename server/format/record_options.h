/*
 * What the formats have in common: modes and the column of the broken record, charsets and line
 * separators, patterns of dates and times, compression; and the checks of a schema.
 *
 * Parsed once per query into `query` memory, then only read.
 */
#ifndef SERVER_FORMAT_RECORD_OPTIONS_H
#define SERVER_FORMAT_RECORD_OPTIONS_H

#include "columnar/datetime_pattern.h"
#include "columnar/number_locale.h"
#include "columnar/timestamp_text.h"
#include "format/charset.h"
#include "format/codec.h"
#include "format/format.h"
#include "format/legacy_time.h"

enum record_mode {
    RECORD_PERMISSIVE,    /* NULLs, and the record's text in the corrupt-record column */
    RECORD_DROPMALFORMED, /* no row */
    RECORD_FAILFAST,      /* the query fails */
};

#define COLUMN_NONE UINT32_MAX

struct record_options {
    const char *format; /* "JSON": how errors name it */
    enum record_mode mode;
    const char *corrupt_name;
    uint32_t corrupt_field; /* index in the schema, or COLUMN_NONE */
    bool single_variant;    /* singleVariantColumn: a record is one VARIANT */
    bool multi_line;
    bool charset_given;
    enum charset charset;
    struct bytes separator; /* as bytes of the charset; empty: \n, \r, \r\n */
    size_t record_bytes_max;
    const struct type *schema;    /* as declared */
    const struct type *delivered; /* STRUCT of the columns asked for, in order */
    const uint32_t *columns;      /* their indexes in schema */
    uint32_t column_count;
    /* text -> value */
    const struct number_locale *numbers;              /* of DECIMAL */
    const struct zone *zone;                          /* of texts without one */
    const struct datetime_pattern *date_pattern;      /* NULL: the rules of CAST */
    const struct datetime_pattern *timestamp_pattern; /* NULL: the rules of CAST */
    const struct datetime_pattern *ntz_pattern;       /* NULL: the rules of CAST */
    bool date_fallback, timestamp_fallback; /* what a pattern refuses is tried as CAST would */
    /* spark.sql.legacy.timeParserPolicy */
    bool old_times;   /* LEGACY: the old patterns are read, not the new ones */
    bool times_agree; /* EXCEPTION: what only the old patterns take ends the query */
    const struct legacy_pattern *old_date, *old_timestamp; /* NULL with CORRECTED */
};

struct write_options {
    const char *format;
    const struct type *schema;
    enum charset charset;
    struct bytes separator; /* UTF-8 */
    enum codec codec;
    const char *extension; /* ".json.gz" */
    const struct zone *zone;
    const struct datetime_pattern *date_pattern; /* NULL: ISO */
    const struct datetime_pattern *timestamp_pattern;
    const struct datetime_pattern *ntz_pattern;
};

/* Errors: INVALID_OPTION_VALUE, INVALID_CORRUPT_RECORD_TYPE, INVALID_TIMEZONE,
 * COLUMN_ALREADY_EXISTS, INVALID_PARAMETER_VALUE.CHARSET, INVALID_DATETIME_PATTERN.*, ... */
MUST_USE enum status record_options_parse(struct arena *query, const struct format_config *config,
                                          const char *format, struct record_options *out,
                                          struct error *err);

/* `suffix` is the ending of plain files: ".json". */
MUST_USE enum status write_options_parse(struct arena *query, const struct format_config *config,
                                         const char *format, const char *suffix,
                                         struct write_options *out, struct error *err);

/* The value of a conf entry, or NULL. */
const char *format_conf(const struct format_config *config, const char *name);

/* Raises UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE. */
enum status unsupported_type(const char *format, const struct type_field *field, struct error *err);

/* Raises MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION for FAILFAST: the cause, if err holds one,
 * stays as its cause; the whole becomes FAILED_READ_FILE.NO_HINT of `path`. */
enum status malformed_record(struct bytes record, const char *path, struct error *err);

/* Makes what err holds the cause of FAILED_READ_FILE.NO_HINT. */
enum status failed_read_file(const char *path, struct error *err);

/* One character as an option: at most one UTF-8 character; "" gives 0.
 * Errors: OPTION_VALUE_EXCEEDS_ONE_CHARACTER. */
MUST_USE enum status option_char(const struct options *options, const char *name, uint32_t fallback,
                                 uint32_t *out, struct error *err);

/* Parsing and printing of times by these options. */
/* now_us: a bare time of day means this day. */
enum text_result record_parse_timestamp(const struct record_options *options, struct bytes text,
                                        int64_t now_us, int64_t *out_us);
enum text_result record_parse_ntz(const struct record_options *options, struct bytes text,
                                  int64_t *out_us);
enum text_result record_parse_date(const struct record_options *options, struct bytes text,
                                   int32_t *out_days);

/* After one of these has failed: OK, or
 * INCONSISTENT_BEHAVIOR_CROSS_VERSION.PARSE_DATETIME_BY_NEW_PARSER if the old rules take the text
 * and the policy is EXCEPTION. */
MUST_USE enum status record_check_old_time(const struct record_options *options, enum type_id type,
                                           struct bytes text, struct error *err);

#endif
