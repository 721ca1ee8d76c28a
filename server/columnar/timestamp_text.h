/*
 * Dates and times as text by the rules of CAST: reading (also what JSON and CSV fields hold when no
 * pattern is given) and printing.  Patterns are in datetime_pattern.h.
 *
 * Nothing here allocates; the ISO form "yyyy-MM-dd[T ]HH:mm:ss[.f...][Z]" has a fast path.
 * Threads: any.
 */
#ifndef SERVER_COLUMNAR_TIMESTAMP_TEXT_H
#define SERVER_COLUMNAR_TIMESTAMP_TEXT_H

#include "columnar/number_text.h"
#include "columnar/timezone.h"

#define TIMESTAMP_TEXT_MAX 48 /* room for any printed form */

struct timestamp_context {
    const struct zone *zone; /* of texts without one */
    int64_t now_us;          /* a bare time of day ("10:11") means this day */
};

/* Reads a TIMESTAMP: microseconds UTC. */
enum text_result timestamp_text_parse(struct bytes text, const struct timestamp_context *context,
                                      int64_t *out_us);

/* Reads a TIMESTAMP_NTZ: a zone in the text is ignored, or makes it invalid unless `allow_zone`. */
enum text_result timestamp_text_parse_ntz(struct bytes text, bool allow_zone, int64_t *out_us);

/* Reads a DATE; whatever follows a blank or T after the day is ignored. */
enum text_result timestamp_text_parse_date(struct bytes text, int32_t *out_days);

/* Reads a TIME: nanoseconds of the day. */
enum text_result timestamp_text_parse_time(struct bytes text, int64_t *out_ns);

/* The special words of literals: epoch, now, today, yesterday, tomorrow in any case.  For a date
 * take the local day of the result. */
bool timestamp_text_special(struct bytes text, const struct timestamp_context *context,
                            int64_t *out_us);

/* Print as CAST to STRING does, without NUL.  Result: bytes written. */
size_t timestamp_text_print(char out[TIMESTAMP_TEXT_MAX], int64_t us, const struct zone *zone);
size_t timestamp_text_print_ntz(char out[TIMESTAMP_TEXT_MAX], int64_t local_us);
size_t timestamp_text_print_date(char out[TIMESTAMP_TEXT_MAX], int32_t days);
size_t timestamp_text_print_time(char out[TIMESTAMP_TEXT_MAX], int64_t nanos);

/* What the JSON and CSV writers print by default: 2024-05-01T10:11:12.000Z, ...+02:00; without
 * zone for TIMESTAMP_NTZ. */
size_t timestamp_text_print_iso(char out[TIMESTAMP_TEXT_MAX], int64_t us, const struct zone *zone);
size_t timestamp_text_print_iso_ntz(char out[TIMESTAMP_TEXT_MAX], int64_t local_us);

#endif
