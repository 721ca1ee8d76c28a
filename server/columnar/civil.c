/*
 * Days to dates and back after Howard Hinnant: years start on 1 March, so that the leap day is the
 * last of its year, and 400 years are one era of 146097 days.
 */
#include "columnar/civil.h"

#include <stddef.h>

#define ERA_DAYS 146097

/* The common years, without signs. */
static int64_t near_days(uint32_t year, uint32_t month, int day)
{
    bool early = month <= 2;
    uint32_t from_march = early ? month + 9 : month - 3;
    year -= early;
    uint32_t days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * from_march + 2) / 5;
    return (int64_t)days + day - 719469;
}

int64_t civil_days(int64_t year, int month, int day)
{
    if (year >= 1 && year <= 9999 && month >= 1 && month <= 12)
        return near_days((uint32_t)year, (uint32_t)month, day);
    year += civil_floor_div(month - 1, 12);
    int64_t in_year = civil_floor_mod(month - 1, 12) + 1;
    year -= in_year <= 2;
    int64_t era = civil_floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t from_march = in_year > 2 ? in_year - 3 : in_year + 9;
    int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - 719468;
}

struct civil_date civil_from_days(int64_t days)
{
    days += 719468;
    int64_t era = civil_floor_div(days, ERA_DAYS);
    uint32_t day_of_era = (uint32_t)(days - era * ERA_DAYS);
    uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t from_march = (5 * day_of_year + 2) / 153;
    uint32_t day = day_of_year - (153 * from_march + 2) / 5 + 1;
    uint32_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    int64_t year = (int64_t)year_of_era + era * 400 + (month <= 2);
    return (struct civil_date){(int32_t)year, (int32_t)month, (int32_t)day};
}

bool civil_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int civil_month_days(int64_t year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month == 2 && civil_is_leap_year(year))
        return 29;
    return days[(month - 1) % 12];
}

bool civil_is_valid(int64_t year, int month, int day)
{
    return month >= 1 && month <= 12 && day >= 1 &&
           (day <= 28 || day <= civil_month_days(year, month));
}

int civil_weekday(int64_t days)
{
    return (int)civil_floor_mod(days + 3, 7) + 1;
}

int civil_day_of_year(int64_t days)
{
    struct civil_date date = civil_from_days(days);
    return (int)(days - civil_days(date.year, 1, 1)) + 1;
}

int civil_iso_week(int64_t days, int32_t *week_year)
{
    int64_t thursday = days - civil_weekday(days) + 4;
    struct civil_date date = civil_from_days(thursday);
    if (week_year != NULL)
        *week_year = date.year;
    return (int)((thursday - civil_days(date.year, 1, 1)) / 7) + 1;
}

int64_t civil_add_months(int64_t days, int64_t months)
{
    struct civil_date date = civil_from_days(days);
    int64_t total = (int64_t)date.year * 12 + date.month - 1 + months;
    int64_t year = civil_floor_div(total, 12);
    int month = (int)civil_floor_mod(total, 12) + 1;
    int last = civil_month_days(year, month);
    return civil_days(year, month, date.day < last ? date.day : last);
}

struct civil_time civil_from_us(int64_t local_us)
{
    int64_t days = civil_floor_div(local_us, CIVIL_DAY_US);
    int64_t rest = civil_floor_mod(local_us, CIVIL_DAY_US);
    int32_t seconds = (int32_t)(rest / CIVIL_SECOND_US);
    return (struct civil_time){
        .date = civil_from_days(days),
        .hour = seconds / 3600,
        .minute = seconds / 60 % 60,
        .second = seconds % 60,
        .micro = (int32_t)(rest % CIVIL_SECOND_US),
    };
}

bool civil_to_us(const struct civil_time *time, int64_t *out)
{
    int64_t days = civil_days(time->date.year, time->date.month, time->date.day);
    int64_t seconds = time->hour * 3600 + time->minute * 60 + time->second;
    int64_t us;
    /* One day nearer to zero first: the first microseconds of int64 are within a negative day. */
    int64_t rest = seconds * CIVIL_SECOND_US + time->micro;
    if (days < 0) {
        days++;
        rest -= CIVIL_DAY_US;
    }
    if (__builtin_mul_overflow(days, CIVIL_DAY_US, &us) || __builtin_add_overflow(us, rest, &us))
        return false;
    *out = us;
    return true;
}
