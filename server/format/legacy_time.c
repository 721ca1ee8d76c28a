/* Dates and times by old rules: see legacy_time.h. */
#include "format/legacy_time.h"

#include "columnar/civil.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STEPS_MAX 64

struct legacy_step {
    char letter; /* 0: a literal */
    int width;   /* letters, or bytes of the literal */
    bool number;
    const char *literal;
};

struct legacy_pattern {
    struct legacy_step steps[STEPS_MAX];
    uint32_t count;
    uint32_t fraction_digits;
    int64_t first_year; /* of the hundred that two digits name */
    const struct datetime_words *words;
};

/* A lenient calendar: any numbers, made a moment at the end. */
struct calendar {
    int64_t year, month, day, year_day; /* month from 0 on */
    int64_t hour, half_hour, half;
    int64_t minute, second, fraction;
    bool by_year_day; /* which of two ways to say it came last */
    bool by_half;
    bool before_christ;
    const struct zone *zone; /* NULL: none in the text */
};

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    struct calendar calendar;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool letter_step(struct legacy_step *step)
{
    if (strchr("DHKShkmsdyYu", step->letter) != NULL)
        step->number = true;
    else if (step->letter == 'M' || step->letter == 'L')
        step->number = step->width < 3;
    else if (step->letter == 'X')
        return step->width <= 3;
    else
        return strchr("EGaZz", step->letter) != NULL;
    return true;
}

static bool literal_step(struct arena *arena, const char **at, struct legacy_step *step)
{
    char *text = arena_new_object(arena, strlen(*at) + 1);
    size_t size = 0;
    bool quoted = false;
    const char *from = *at;
    while (*from != '\0' && (quoted || !is_letter(*from))) {
        if (*from == '\'' && *++from != '\'') {
            quoted = !quoted;
            continue;
        }
        text[size++] = *from++;
    }
    *at = from;
    *step = (struct legacy_step){.width = (int)size, .literal = text};
    return !quoted;
}

bool legacy_pattern_compile(struct arena *arena, const char *pattern,
                            const struct datetime_words *words, int64_t now_us,
                            const struct legacy_pattern **out)
{
    struct legacy_pattern *made = arena_new_object(arena, sizeof *made);
    *made =
        (struct legacy_pattern){.words = words, .first_year = civil_from_us(now_us).date.year - 80};
    const char *at = pattern;
    while (*at != '\0') {
        if (made->count == STEPS_MAX)
            return false;
        struct legacy_step *step = &made->steps[made->count++];
        if (!is_letter(*at)) {
            if (!literal_step(arena, &at, step))
                return false;
            continue;
        }
        *step = (struct legacy_step){.letter = *at};
        for (; *at == step->letter; at++)
            step->width++;
        if (!letter_step(step))
            return false;
        if (step->letter == 'S')
            made->fraction_digits += (uint32_t)step->width;
    }
    *out = made;
    return true;
}

/* Numbers. */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* `width` digits at most; 0: blanks, then all digits. */
static bool take_number(struct reader *reader, int width, int64_t *out)
{
    const uint8_t *at = reader->at;
    const uint8_t *end = reader->end;
    while (width == 0 && at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        at++;
    if (width > 0 && end - at > width)
        end = at + width;
    const uint8_t *start = at;
    int64_t value = 0;
    for (; at < end && is_digit(*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > INT32_MAX)
            return false;
    }
    reader->at = at;
    *out = value;
    return at > start;
}

static int64_t year_of(int64_t value, int width, int64_t first)
{
    if (width > 2 || value >= 100)
        return value;
    int64_t year = first / 100 * 100 + value;
    return year >= first ? year : year + 100;
}

static void set_number(struct calendar *calendar, const struct legacy_step *step, int64_t first,
                       int64_t value)
{
    switch (step->letter) {
    case 'y':
    case 'Y':
        calendar->year = year_of(value, step->width, first);
        break;
    case 'M':
    case 'L':
        calendar->month = value - 1;
        calendar->by_year_day = false;
        break;
    case 'd':
        calendar->day = value;
        calendar->by_year_day = false;
        break;
    case 'D':
        calendar->year_day = value;
        calendar->by_year_day = true;
        break;
    case 'H':
    case 'k':
        calendar->hour = step->letter == 'k' && value == 24 ? 0 : value;
        calendar->by_half = false;
        break;
    case 'K':
    case 'h':
        calendar->half_hour = step->letter == 'h' && value == 12 ? 0 : value;
        calendar->by_half = true;
        break;
    case 'm':
        calendar->minute = value;
        break;
    case 's':
        calendar->second = value;
        break;
    case 'S':
        calendar->fraction = value;
        break;
    default: /* u: a day of the week does not say which day it is */
        break;
    }
}

/* Words. */

static bool take_text(struct reader *reader, const char *text, size_t size)
{
    if ((size_t)(reader->end - reader->at) < size ||
        strncasecmp((const char *)reader->at, text, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* The longest of the words, which come in `kinds` rows: its number in the row, or -1. */
static int take_word(struct reader *reader, const char *const *words, int kinds, int count)
{
    size_t longest = 0;
    int found = -1;
    const uint8_t *start = reader->at;
    for (int i = 0; i < kinds * count; i++) {
        reader->at = start;
        size_t size = strlen(words[i]);
        if (size > longest && take_text(reader, words[i], size)) {
            longest = size;
            found = i % count;
        }
    }
    reader->at = start + longest;
    return found;
}

static bool take_month(struct reader *reader, const struct datetime_words *words)
{
    struct reader alone = *reader;
    int month = take_word(reader, words->months[0], 2, 12);
    int other = take_word(&alone, words->months_alone[0], 2, 12);
    if (other >= 0 && (month < 0 || alone.at > reader->at)) {
        reader->at = alone.at;
        month = other;
    }
    reader->calendar.month = month;
    reader->calendar.by_year_day = false;
    return month >= 0;
}

static bool take_two(struct reader *reader, int32_t *out)
{
    int64_t value = 0;
    if (reader->end - reader->at < 2 || !is_digit(reader->at[0]) || !is_digit(reader->at[1]) ||
        !take_number(reader, 2, &value))
        return false;
    *out = (int32_t)value;
    return true;
}

/* +hh, +hhmm, +hh:mm; `form` is how many letters X the pattern has. */
static bool take_offset(struct reader *reader, int form)
{
    int32_t hours = 0;
    int32_t minutes = 0;
    if (reader->at == reader->end || (*reader->at != '+' && *reader->at != '-'))
        return false;
    int32_t sign = *reader->at++ == '-' ? -1 : 1;
    if (!take_two(reader, &hours) || (form == 3 && !take_text(reader, ":", 1)) ||
        (form > 1 && !take_two(reader, &minutes)))
        return false;
    int32_t seconds = sign * (hours * 3600 + minutes * 60);
    if (seconds < -18 * 3600 || seconds > 18 * 3600)
        return false;
    reader->calendar.zone = timezone_fixed(seconds);
    return true;
}

static bool take_zone(struct reader *reader)
{
    if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
        return take_offset(reader, 2);
    size_t size = 0;
    size_t room = (size_t)(reader->end - reader->at);
    while (size < room && reader->at[size] > ' ' && reader->at[size] < 0x7f)
        size++;
    for (; size > 0; size--) {
        const struct zone *zone = timezone_lookup(bytes_of(reader->at, size));
        if (zone == NULL)
            continue;
        reader->calendar.zone = zone;
        reader->at += size;
        return true;
    }
    return false;
}

static bool take_words(struct reader *reader, const struct legacy_step *step,
                       const struct datetime_words *words)
{
    struct calendar *calendar = &reader->calendar;
    int value = 0;
    switch (step->letter) {
    case 'M':
    case 'L':
        return take_month(reader, words);
    case 'E':
        return take_word(reader, words->weekdays[0], 2, 7) >= 0;
    case 'G':
        value = take_word(reader, words->eras[0], 2, 2);
        calendar->before_christ = value == 0;
        return value >= 0;
    case 'a':
        value = take_word(reader, words->halves, 1, 2);
        calendar->half = value;
        calendar->by_half = true;
        return value >= 0;
    case 'X':
        if (take_text(reader, "Z", 1)) {
            calendar->zone = timezone_utc();
            return true;
        }
        return take_offset(reader, step->width);
    default:
        if (step->letter == 'Z' && step->width == 2)
            return take_text(reader, "Z", 1) || take_offset(reader, 3);
        return take_zone(reader);
    }
}

static bool read_text(const struct legacy_pattern *pattern, struct reader *reader)
{
    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct legacy_step *step = &pattern->steps[i];
        int64_t value = 0;
        if (step->number) {
            bool limited = i + 1 < pattern->count && pattern->steps[i + 1].number;
            if (!take_number(reader, limited ? step->width : 0, &value))
                return false;
            set_number(&reader->calendar, step, pattern->first_year, value);
        } else if (step->letter != 0) {
            if (!take_words(reader, step, pattern->words))
                return false;
        } else {
            size_t size = (size_t)step->width;
            if ((size_t)(reader->end - reader->at) < size ||
                (size > 0 && memcmp(reader->at, step->literal, size) != 0))
                return false;
            reader->at += size;
        }
    }
    return true;
}

/* Days. */

#define GREGORIAN_FIRST_DAY INT64_C(-141427) /* 1582-10-15 */

/* Days since 1970-01-01 (Gregorian) of a date of the Julian calendar; any day. */
static int64_t days_from_julian(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return shifted * 365 + civil_floor_div(shifted, 4) + of_year - 719470;
}

/* The date with the numbers that the Julian calendar gives the day. */
static int64_t julian_label(int64_t days)
{
    int64_t since = days + 719470; /* since March 1 of the year 0 */
    int64_t cycle = civil_floor_div(since, 1461);
    int64_t in_cycle = since - cycle * 1461;
    int64_t year = in_cycle / 365 == 4 ? 3 : in_cycle / 365;
    int64_t of_year = in_cycle - year * 365;
    int64_t from_march = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * from_march + 2) / 5 + 1;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    year += cycle * 4 + (month <= 2);
    return civil_days(year, (int)month, 1) + day - 1;
}

/* The day of the calendar that Java uses, as the date of the same numbers in ours. */
static bool to_days(const struct calendar *calendar, int64_t more, int64_t *out)
{
    int64_t months = calendar->by_year_day ? 0 : calendar->month;
    int64_t day = calendar->by_year_day ? calendar->year_day : calendar->day;
    int64_t year = calendar->before_christ ? 1 - calendar->year : calendar->year;
    year += civil_floor_div(months, 12);
    months -= civil_floor_div(months, 12) * 12;
    if (year > 200000 || year < -200000)
        return false;
    int64_t gregorian = civil_days(year, (int)months + 1, 1) + day - 1 + more;
    int64_t julian = days_from_julian(year, months + 1, 1) + day - 1 + more;
    int64_t days = year > 1582 ? gregorian : julian;
    if (year == 1582 && gregorian >= GREGORIAN_FIRST_DAY && julian >= GREGORIAN_FIRST_DAY)
        days = gregorian;
    *out = days >= GREGORIAN_FIRST_DAY ? days : julian_label(days);
    return true;
}

static bool parse(const struct legacy_pattern *pattern, struct bytes text, struct reader *reader)
{
    *reader = (struct reader){.at = text.data, .end = text.data + text.size_bytes};
    reader->calendar = (struct calendar){.year = 1970, .day = 1};
    return read_text(pattern, reader);
}

bool legacy_parse_timestamp(const struct legacy_pattern *pattern, struct bytes text,
                            const struct zone *zone, int64_t *out_us)
{
    struct reader reader;
    if (!parse(pattern, text, &reader))
        return false;
    const struct calendar *calendar = &reader.calendar;
    int64_t unit = 1;
    for (uint32_t i = 0; i < pattern->fraction_digits && unit < INT64_C(1000000000000); i++)
        unit *= 10;
    int64_t hour = calendar->by_half ? calendar->half_hour + 12 * calendar->half : calendar->hour;
    int64_t seconds = hour * 3600 + calendar->minute * 60 + calendar->second;
    int64_t more = civil_floor_div(seconds, 86400);
    int64_t days = 0;
    int64_t us = (seconds - more * 86400) * 1000000;
    if (!to_days(calendar, more, &days) || __builtin_mul_overflow(days, CIVIL_DAY_US, &days) ||
        __builtin_add_overflow(days, us, &us))
        return false;
    int64_t fraction = calendar->fraction * 1000000 / unit;
    us = timezone_to_utc(calendar->zone == NULL ? zone : calendar->zone, us);
    return !__builtin_add_overflow(us, fraction, out_us);
}

bool legacy_parse_date(const struct legacy_pattern *pattern, struct bytes text, int32_t *out_days)
{
    struct reader reader;
    int64_t days = 0;
    if (!parse(pattern, text, &reader) || !to_days(&reader.calendar, 0, &days) ||
        days < INT32_MIN || days > INT32_MAX)
        return false;
    *out_days = (int32_t)days;
    return true;
}
