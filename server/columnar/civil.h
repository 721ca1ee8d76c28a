/*
 * The proleptic Gregorian calendar: days since 1970-01-01 and back, for every day an int64 of
 * microseconds or an int32 of days can name.  Threads: any.
 */
#ifndef SERVER_COLUMNAR_CIVIL_H
#define SERVER_COLUMNAR_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define CIVIL_SECOND_US INT64_C(1000000)
#define CIVIL_MINUTE_US (60 * CIVIL_SECOND_US)
#define CIVIL_HOUR_US   (60 * CIVIL_MINUTE_US)
#define CIVIL_DAY_US    INT64_C(86400000000)
#define CIVIL_DAY_NS    (CIVIL_DAY_US * 1000)

struct civil_date {
    int32_t year;  /* 0 is 1 BC */
    int32_t month; /* 1..12 */
    int32_t day;   /* 1..31 */
};

struct civil_time {
    struct civil_date date;
    int32_t hour, minute, second, micro;
};

/* Rounded towards minus infinity; divisor > 0. */
static inline int64_t civil_floor_div(int64_t value, int64_t divisor)
{
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0);
}

static inline int64_t civil_floor_mod(int64_t value, int64_t divisor)
{
    int64_t rest = value % divisor;
    return rest < 0 ? rest + divisor : rest;
}

/* Month and day need not be checked before: out of range values carry over. */
int64_t civil_days(int64_t year, int month, int day);
struct civil_date civil_from_days(int64_t days);

bool civil_is_leap_year(int64_t year);
int civil_month_days(int64_t year, int month);
bool civil_is_valid(int64_t year, int month, int day);

int civil_weekday(int64_t days);     /* ISO: Monday 1 .. Sunday 7 */
int civil_day_of_year(int64_t days); /* 1..366 */
/* ISO week of the year; *week_year may be NULL. */
int civil_iso_week(int64_t days, int32_t *week_year);

/* The day `months` later; the last day of the month if there is no such day. */
int64_t civil_add_months(int64_t days, int64_t months);

/* Local microseconds (TIMESTAMP_NTZ) taken apart and put together; the latter overflows to false.
 */
struct civil_time civil_from_us(int64_t local_us);
bool civil_to_us(const struct civil_time *time, int64_t *out);

#endif
