/*
 * Durations as users write them in options and triggers: "10 seconds", "5 minutes", "500 ms",
 * "1s", "interval 1 day 2 hours".  Threads: any.
 *
 * The grammar is that of Spark's interval strings; months and days are kept apart because they
 * have no fixed length (a duration option refuses months; a day counts 24 hours there).
 */
#ifndef SERVER_BASE_DURATION_H
#define SERVER_BASE_DURATION_H

#include "base/bytes.h"
#include "base/error.h"

struct duration {
    int32_t months;
    int32_t days;
    int64_t micros;
};

/* Errors: INVALID_INTERVAL_FORMAT.*, as Spark's. */
MUST_USE enum status duration_parse(struct bytes text, struct duration *out, struct error *err);

/*
 * As duration_parse, in microseconds, a day being 24 hours.
 * Errors: CANNOT_PARSE_INTERVAL (the text does not parse: the cause is kept), and for months
 * INVALID_DURATION.
 */
MUST_USE enum status duration_parse_us(const char *text, int64_t *out_us, struct error *err);

/*
 * Spark's JavaUtils.timeStringAs, used by options such as maxFileAge: "7d", "10min", "500ms",
 * "1h", "30" (milliseconds unless another unit is the default).  Errors: INVALID_DURATION.
 */
MUST_USE enum status duration_parse_short_us(const char *text, int64_t default_unit_us,
                                             int64_t *out_us, struct error *err);

#endif
