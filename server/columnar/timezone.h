/*
 * Time zones: IANA regions (from the system's tz database) and fixed offsets, under the ids Spark
 * accepts: region ids in exact case, Z, UTC, GMT, UT and +h, +hh, +hh:mm, +hh:mm:ss, with UTC, GMT
 * or UT in front or not, at most 18 hours.
 *
 * A zone is found once and lives until the process ends; lookups are cached.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_TIMEZONE_H
#define SERVER_COLUMNAR_TIMEZONE_H

#include "base/bytes.h"
#include "base/error.h"

struct zone;

/* Always there. */
const struct zone *timezone_utc(void);

/* Errors: INVALID_TIMEZONE. */
MUST_USE enum status timezone_find(struct bytes id, const struct zone **out, struct error *err);
/* As timezone_find without an error record: NULL if there is none. */
const struct zone *timezone_lookup(struct bytes id);

/* The zone of a fixed offset in seconds, within 18 hours (CHECKed). */
const struct zone *timezone_fixed(int32_t offset_seconds);

/* The id as the user wrote it (first spelling found); normal form for offsets. */
const char *timezone_id(const struct zone *zone);
bool timezone_is_fixed(const struct zone *zone);

/* Seconds to add to UTC. */
int32_t timezone_offset_seconds(const struct zone *zone, int64_t utc_us);

/* Local wall-clock microseconds of an instant; saturates at the ends of int64. */
int64_t timezone_to_local(const struct zone *zone, int64_t utc_us);

/* The instant of a wall-clock time: in a gap moved forward by its length, in an overlap the
 * earlier of the two instants.  Saturates. */
int64_t timezone_to_utc(const struct zone *zone, int64_t local_us);

/* Short name at that instant: "UTC", "CET", "PDT"; "+05:30" for fixed offsets. */
const char *timezone_abbreviation(const struct zone *zone, int64_t utc_us);

/* "Z" or "+05:30" or "+05:30:15".  Result: bytes written, at most 9. */
size_t timezone_print_offset(char *out, int32_t offset_seconds);

/* "+5", "+05:30", "Z", "UTC+3", ...: the offset forms only.  Range-checked. */
bool timezone_parse_offset(struct bytes id, int32_t *offset_seconds);

#endif
