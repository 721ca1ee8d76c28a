/*
 * CSV records into values, by the rules of the univocity parser that Spark uses, its handling of
 * stray quotes included.  Private to format/.
 *
 * Well-behaved records are split without copying.  A record with escapes or stray quotes goes
 * through a character-wise state machine.
 */
#ifndef SERVER_FORMAT_CSV_TOKEN_H
#define SERVER_FORMAT_CSV_TOKEN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/options.h"

enum csv_stray_quote { /* what a quote inside a quoted value that is not escaped leads to */
    CSV_STOP_AT_DELIMITER,
    CSV_STOP_AT_CLOSING_QUOTE,
    CSV_BACK_TO_DELIMITER,
    CSV_SKIP_VALUE,
    CSV_RAISE_ERROR,
};

#define CSV_DELIMITER_MAX 16 /* bytes */

struct csv_dialect {
    uint8_t delimiter[CSV_DELIMITER_MAX];
    uint32_t delimiter_size;
    bool delimiter_long;    /* more than one UTF-16 unit, which univocity treats apart */
    uint32_t quote;         /* characters as code points; 0: none */
    uint32_t escape;        /* of a quote */
    uint32_t escape_escape; /* of an escape */
    uint32_t comment;       /* first character of a line that is no record; 0: none */
    bool trim_leading;
    bool trim_trailing;
    enum csv_stray_quote stray_quote;
    struct bytes null_value;  /* what an empty value reads as */
    struct bytes empty_value; /* what "" reads as */
    uint32_t columns_max;
    int64_t chars_max; /* per value, -1: no limit */
    bool lines;        /* a record is a line: line breaks do not end it */
    uint8_t newline[8];
    uint32_t newline_size;   /* of multi-line records */
    bool normalize_newlines; /* line breaks in quotes become \n */
};

enum csv_result {
    CSV_RECORD,  /* tokens are filled */
    CSV_NOTHING, /* a comment, an empty line, or the end */
    CSV_MORE,    /* the text ended inside the record and `at_end` was not set */
    CSV_TOO_BIG, /* columns_max or chars_max */
    CSV_STRAY,   /* CSV_RAISE_ERROR */
};

struct csv_parser {
    const struct csv_dialect *dialect;
    struct arena *arena;  /* of values that had to be put together */
    struct bytes *tokens; /* data == NULL: NULL */
    uint32_t token_count, token_capacity;
    /* the state machine */
    const uint8_t *at, *end;
    int32_t ch, prev;
    const uint8_t *ch_start; /* where ch begins */
    struct buffer value;
    bool unescaped, skipped, trim;
    bool deaf; /* delimiters are not looked for: what univocity does behind some stray quotes */
    bool overflow, stray;
};

/* The option sep (or delimiter) with its escapes.  Errors: INVALID_DELIMITER_VALUE.*. */
MUST_USE enum status csv_parse_delimiter(const struct options *options,
                                         uint8_t out[CSV_DELIMITER_MAX], uint32_t *size,
                                         struct error *err);

void csv_parser_init(struct csv_parser *parser, const struct csv_dialect *dialect);
void csv_parser_fini(struct csv_parser *parser);

/* One line, without its separator. */
enum csv_result csv_parse_line(struct csv_parser *parser, struct bytes line);

/*
 * The record at the start of `text`; *used is its size with its line break, *size without.  The
 * text ends the file if `at_end`.
 */
enum csv_result csv_parse_record(struct csv_parser *parser, struct bytes text, bool at_end,
                                 size_t *used, size_t *size);

#endif
