/*
 * One file of the tz database (TZif, RFC 8536) in memory: the instants at which the offset changes,
 * and the POSIX rule of its footer for the time after the last of them.
 */
#ifndef SERVER_COLUMNAR_TIMEZONE_FILE_H
#define SERVER_COLUMNAR_TIMEZONE_FILE_H

#include "base/bytes.h"

#define TIMEZONE_NAME_MAX 12

struct timezone_period {
    int64_t start; /* seconds UTC; INT64_MIN for the first */
    int32_t offset_seconds;
    char name[TIMEZONE_NAME_MAX]; /* "CET" */
};

/* A day of the year at which daylight saving time begins or ends. */
struct timezone_rule_day {
    enum {
        RULE_MONTH_WEEK,
        RULE_JULIAN,
        RULE_DAY
    } kind;
    int month, week, weekday; /* RULE_MONTH_WEEK: week 5 = last, Sunday 0 */
    int day;                  /* RULE_JULIAN 1..365 without leap days, RULE_DAY 0..365 */
    int32_t time_seconds;     /* wall clock */
};

struct timezone_rule {
    bool has_dst;
    int32_t standard_seconds;
    int32_t dst_seconds;
    char standard_name[TIMEZONE_NAME_MAX];
    char dst_name[TIMEZONE_NAME_MAX];
    struct timezone_rule_day begin; /* of daylight saving time */
    struct timezone_rule_day end;
};

struct timezone_file {
    struct timezone_period *periods; /* ascending */
    size_t period_count;
    bool has_rule;
    struct timezone_rule rule; /* holds from the start of the last period on */
};

/* Parses `content`.  False: no valid TZif.  The periods are the caller's to free. */
bool timezone_file_parse(struct bytes content, struct timezone_file *out);

/* The period of an instant.  *end: seconds UTC at which the next one starts, or INT64_MAX. */
struct timezone_period timezone_file_at(const struct timezone_file *file, int64_t utc_seconds,
                                        int64_t *end);

#endif
