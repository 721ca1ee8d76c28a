/*
 * Dates and times as Spark 2 read them (spark.sql.legacy.timeParserPolicy): a pattern of Java's
 * SimpleDateFormat, read by the lenient rules of Apache Commons' FastDateParser.  What follows the
 * pattern is not looked at, numbers may be out of range (February 30 is March 1), and days before
 * October 15, 1582 are of the Julian calendar.
 *
 * Years of two digits lie between 80 years before `now_us` and 20 years after.
 * Letters of weeks (w, W, F) are refused.  Threads: any (a compiled pattern is only read).
 */
#ifndef SERVER_FORMAT_LEGACY_TIME_H
#define SERVER_FORMAT_LEGACY_TIME_H

#include "base/arena.h"
#include "columnar/datetime_words.h"
#include "columnar/timezone.h"

struct legacy_pattern;

/* `pattern` stays as long as the result.  False: not a pattern of this kind. */
bool legacy_pattern_compile(struct arena *arena, const char *pattern,
                            const struct datetime_words *words, int64_t now_us,
                            const struct legacy_pattern **out);

/* Microseconds UTC; a zone in the text wins over `zone`. */
bool legacy_parse_timestamp(const struct legacy_pattern *pattern, struct bytes text,
                            const struct zone *zone, int64_t *out_us);
bool legacy_parse_date(const struct legacy_pattern *pattern, struct bytes text, int32_t *out_days);

#endif
