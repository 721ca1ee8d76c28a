/*
 * Patterns of dates and times: Java's DateTimeFormatter, as far as Spark allows it.  A pattern is
 * compiled once, for reading or for printing, into a flat program.
 *
 * Reading: the whole text must match; fields that the pattern lacks are 1970-01-01 00:00; a zone
 * in the text wins over the caller's.  Threads: any (a compiled pattern is only read).
 */
#ifndef SERVER_COLUMNAR_DATETIME_PATTERN_H
#define SERVER_COLUMNAR_DATETIME_PATTERN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "columnar/datetime_words.h"
#include "columnar/number_text.h"
#include "columnar/timezone.h"

enum datetime_pattern_use {
    DATETIME_PATTERN_PARSE,
    DATETIME_PATTERN_FORMAT,
};

struct datetime_pattern;

/*
 * Compiles into `arena`; `pattern` is copied.
 * Errors: INVALID_DATETIME_PATTERN.*, INCONSISTENT_BEHAVIOR_CROSS_VERSION.*.
 */
MUST_USE enum status datetime_pattern_compile(struct arena *arena, struct bytes pattern,
                                              enum datetime_pattern_use use,
                                              const struct datetime_pattern **out,
                                              struct error *err);

/* The same with the words of another language than English. */
MUST_USE enum status datetime_pattern_compile_in(struct arena *arena, struct bytes pattern,
                                                 enum datetime_pattern_use use,
                                                 const struct datetime_words *words,
                                                 const struct datetime_pattern **out,
                                                 struct error *err);

/* TIMESTAMP: microseconds UTC. */
enum text_result datetime_pattern_parse(const struct datetime_pattern *pattern, struct bytes text,
                                        const struct zone *zone, int64_t *out_us);
/* TIMESTAMP_NTZ: a zone in the text is dropped, or makes it invalid unless `allow_zone`. */
enum text_result datetime_pattern_parse_ntz(const struct datetime_pattern *pattern,
                                            struct bytes text, bool allow_zone, int64_t *out_us);
enum text_result datetime_pattern_parse_date(const struct datetime_pattern *pattern,
                                             struct bytes text, int32_t *out_days);
/* TIME: nanoseconds of the day. */
enum text_result datetime_pattern_parse_time(const struct datetime_pattern *pattern,
                                             struct bytes text, int64_t *out_ns);

/* Appends why a text was refused, in the words of Java's DateTimeParseException. */
void datetime_pattern_explain(const struct datetime_pattern *pattern, struct bytes text,
                              struct buffer *out);

/* Appends the text of an instant in `zone`. */
void datetime_pattern_format(const struct datetime_pattern *pattern, struct buffer *out, int64_t us,
                             const struct zone *zone);
/* Of a TIMESTAMP_NTZ; zone fields print as in UTC. */
void datetime_pattern_format_ntz(const struct datetime_pattern *pattern, struct buffer *out,
                                 int64_t local_us);
void datetime_pattern_format_date(const struct datetime_pattern *pattern, struct buffer *out,
                                  int32_t days);

/*
 * What Java says of numbers that are no date, or no time of day: "Invalid date 'April 31'",
 * "Invalid value for HourOfDay (valid values 0 - 23): 24".  Nothing is appended if they are one.
 */
void datetime_explain_date(struct buffer *out, int64_t year, int64_t month, int64_t day);
void datetime_explain_time(struct buffer *out, int64_t hour, int64_t minute, int64_t second);

/* True if the pattern has fields of the time of day or a zone. */
bool datetime_pattern_has_time(const struct datetime_pattern *pattern);

#endif
