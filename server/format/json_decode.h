/*
 * JSON objects into columns, directed by the schema.  Private to format/.
 *
 * One record is one JSON text.  What does not fit its column's type is NULL and makes the record
 * bad; broken syntax makes all of its fields NULL.
 */
#ifndef SERVER_FORMAT_JSON_DECODE_H
#define SERVER_FORMAT_JSON_DECODE_H

#include "format/json_column.h"
#include "format/json_token.h"
#include "format/record_options.h"

struct json_decoder {
    const struct record_options *options;
    struct json_lexer lexer;
    struct json_object root; /* names of the columns */
    struct json_column *columns;
    uint32_t column_count;
    int64_t now_us; /* of the split */
    bool local_is_utc;
    bool empty_is_null; /* legacy: an empty text is NULL for most types */
    bool whole_values;  /* legacy: a struct with a bad field is bad, and ends its record */
    bool stopped;       /* ... as it has */
    bool rewrites;      /* values that are no text become one as Jackson writes them */
    bool plain_time, plain_ntz, plain_date; /* no pattern: the fast paths hold */
    /* of the record being read */
    bool bad;                             /* some value did not fit */
    const struct json_column *bad_column; /* the first of them */
    struct bytes bad_value;
    const char *bad_token;
    struct bytes old_time; /* a date or time that old rules may take; data NULL: none */
    enum type_id old_type;
};

/* `fields` are the columns to fill (borrowed), `rows` how many rows fit. */
void json_decoder_init(struct json_decoder *decoder, const struct record_options *options,
                       const struct json_rules *rules, const struct type_field *fields,
                       uint32_t count, uint32_t rows);
void json_decoder_fini(struct json_decoder *decoder);

/* Starts a batch of at most `rows` rows whose rewritten texts go to `batch`. */
void json_decoder_begin(struct json_decoder *decoder, uint32_t rows, struct arena *batch);

/*
 * Reads the object at *cursor (its brace) into row `row`.  SET (decoder->bad says whether all
 * values fitted), or SYNTAX.
 */
enum json_outcome json_decode_row(struct json_decoder *decoder, uint32_t row,
                                  const uint8_t **cursor);

/* Reads any value at *cursor into the one column, a VARIANT. */
enum json_outcome json_decode_variant(struct json_decoder *decoder, uint32_t row,
                                      const uint8_t **cursor);

/* Makes all cells of the row NULL. */
void json_decoder_clear_row(struct json_decoder *decoder, uint32_t row);

#endif
