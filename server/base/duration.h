/*
 * Durations in the short form of settings and of options such as maxFileAge: "7d", "10min",
 * "500 ms", "1h", "30".  (Delays and trigger intervals are SQL intervals: columnar/interval_text.)
 * Threads: any.
 */
#ifndef SERVER_BASE_DURATION_H
#define SERVER_BASE_DURATION_H

#include "base/error.h"

#include <stdint.h>

/*
 * A number and one of Spark's time units (us, ms, s, m, min, h, d; any case), blanks allowed
 * between; a bare number counts `default_unit_us`.  Not negative.  Errors: INVALID_DURATION.
 */
MUST_USE enum status duration_parse_short_us(const char *text, int64_t default_unit_us,
                                             int64_t *out_us, struct error *err);

#endif
