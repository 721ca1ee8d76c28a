/*
 * Intervals as text: the unit form ("1 day 2 hours", the legacy INTERVAL), the field form ('1-2'
 * YEAR TO MONTH, '1 02:03:04.5' DAY TO SECOND), and what CAST to STRING prints.
 *
 * Threads: any.
 */
#ifndef SERVER_COLUMNAR_INTERVAL_TEXT_H
#define SERVER_COLUMNAR_INTERVAL_TEXT_H

#include "columnar/number_text.h"
#include "columnar/type.h"

/*
 * Reads units: "[interval] [+-]n unit [[+-]n unit]...", units year(s) .. microsecond(s).
 * Errors: INVALID_INTERVAL_FORMAT.*.
 */
MUST_USE enum status interval_text_parse(struct bytes text, struct calendar_interval *out,
                                         struct error *err);

/*
 * Reads the field form of an interval type, with or without the words around it: "1-2",
 * "INTERVAL '1-2' YEAR TO MONTH".  `type` says which fields; *out is months (YM) or
 * microseconds (DT).
 * Errors: INVALID_INTERVAL_FORMAT.*.
 */
MUST_USE enum status interval_text_parse_fields(struct bytes text, const struct type *type,
                                                int64_t *out, struct error *err);

/*
 * The value of a literal INTERVAL 'text' FROM [TO TO]: as interval_text_parse_fields for two
 * fields, a number for one.  The combination of fields must be one of Spark's.
 * Errors: INVALID_INTERVAL_FORMAT.*, among them UNSUPPORTED_FROM_TO_EXPRESSION.
 */
MUST_USE enum status interval_text_parse_literal(struct bytes text, enum interval_field from,
                                                 enum interval_field to, int64_t *out,
                                                 struct error *err);

/*
 * A delay or trigger interval in microseconds; months count 31 days.
 * Errors: CANNOT_PARSE_INTERVAL.
 */
MUST_USE enum status interval_parse_duration_us(struct bytes text, int64_t *out_us,
                                                struct error *err);

/* "INTERVAL '1 02:00:00' DAY TO SECOND"; `value` is months (YM) or microseconds (DT). */
void interval_text_print(struct buffer *out, const struct type *type, int64_t value);
/* The part between the quotes only: "1 02:00:00". */
void interval_text_print_fields(struct buffer *out, const struct type *type, int64_t value);
/* "1 years 2 months 3 days 4 hours ..."; "0 seconds". */
void interval_text_print_calendar(struct buffer *out, struct calendar_interval interval);
/* "year", "month", ... */
const char *interval_field_name(enum interval_field field);

#endif
