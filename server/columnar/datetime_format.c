/* Printing by a compiled pattern. */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/datetime_program.h"

struct moment {
    int64_t days;
    struct civil_time local;
    int32_t offset_seconds;
    const struct zone *zone;
    int64_t utc_us;
    const struct datetime_words *words;
};

static int64_t field_value(const struct moment *moment, enum datetime_field field)
{
    const struct civil_time *local = &moment->local;
    switch (field) {
    case FIELD_YEAR:
        return local->date.year;
    case FIELD_YEAR_OF_ERA:
        return local->date.year > 0 ? local->date.year : 1 - local->date.year;
    case FIELD_ERA:
        return local->date.year > 0;
    case FIELD_QUARTER:
        return (local->date.month - 1) / 3 + 1;
    case FIELD_MONTH:
        return local->date.month;
    case FIELD_DAY:
        return local->date.day;
    case FIELD_DAY_OF_YEAR:
        return civil_day_of_year(moment->days);
    case FIELD_WEEKDAY:
        return civil_weekday(moment->days);
    case FIELD_DAY_IN_SEVEN:
        return (local->date.day - 1) % 7 + 1;
    case FIELD_AMPM:
        return local->hour / 12;
    case FIELD_HOUR:
        return local->hour;
    case FIELD_CLOCK_HOUR:
        return local->hour == 0 ? 24 : local->hour;
    case FIELD_HOUR_AMPM:
        return local->hour % 12;
    case FIELD_CLOCK_HOUR_AMPM:
        return local->hour % 12 == 0 ? 12 : local->hour % 12;
    case FIELD_MINUTE:
        return local->minute;
    case FIELD_SECOND:
        return local->second;
    case FIELD_NANO:
        return (int64_t)local->micro * 1000;
    case FIELD_COUNT:
        break;
    }
    CHECK(!"a field outside the enum");
    return 0;
}

static void put_padded(struct buffer *out, uint64_t value, int width)
{
    char digits[NUMBER_INT64_TEXT_MAX];
    int size = (int)number_print_uint64(digits, value);
    for (; width > size; width--)
        buffer_add_byte(out, '0');
    buffer_add(out, digits, (size_t)size);
}

static void format_number(struct buffer *out, const struct datetime_step *step, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) {
        buffer_add_byte(out, '-');
    } else if (step->sign == SIGN_EXCEEDS_PAD) {
        uint64_t limit = 1;
        for (int i = 0; i < step->min && limit <= UINT64_MAX / 10; i++)
            limit *= 10;
        if (size >= limit)
            buffer_add_byte(out, '+');
    }
    put_padded(out, size, step->min);
}

static void format_fraction(struct buffer *out, int digits, int64_t nanos)
{
    int64_t unit = 100000000;
    for (; digits > 0; digits--) {
        buffer_add_byte(out, (uint8_t)('0' + nanos / unit % 10));
        unit /= 10;
    }
}

static void format_text(struct buffer *out, const struct datetime_step *step,
                        const struct datetime_words *words, int64_t value)
{
    switch ((int)step->field) {
    case FIELD_MONTH:
        buffer_add_text(out,
                        (step->alone ? words->months_alone : words->months)[step->full][value - 1]);
        return;
    case FIELD_WEEKDAY:
        buffer_add_text(out, words->weekdays[step->full][value - 1]);
        return;
    case FIELD_AMPM:
        buffer_add_text(out, words->halves[value]);
        return;
    case FIELD_ERA:
        buffer_add_text(out, words->eras[step->full][value]);
        return;
    case FIELD_QUARTER:
        buffer_add_text(out, words->quarters[step->full][value - 1]);
        return;
    default:
        CHECK(!"no text for the field");
    }
}

static void put_two(struct buffer *out, int32_t value)
{
    buffer_add_byte(out, (uint8_t)('0' + value / 10));
    buffer_add_byte(out, (uint8_t)('0' + value % 10));
}

static void format_offset(struct buffer *out, const struct datetime_step *step, int32_t offset)
{
    int32_t size = offset < 0 ? -offset : offset;
    int32_t minutes = size / 60 % 60;
    bool seconds = step->precision == OFFSET_SECOND_IF_NOT_ZERO && size % 60 != 0;
    bool shows_minutes = step->precision != OFFSET_HOUR_MINUTE_IF_NOT_ZERO || minutes != 0;
    if (size / 60 == 0 && !seconds) {
        buffer_add_text(out, step->zero);
        return;
    }
    buffer_add_byte(out, offset < 0 ? '-' : '+');
    put_two(out, size / 3600);
    if (!shows_minutes)
        return;
    if (step->colon)
        buffer_add_byte(out, ':');
    put_two(out, minutes);
    if (!seconds)
        return;
    if (step->colon)
        buffer_add_byte(out, ':');
    put_two(out, size % 60);
}

static void format_localized_offset(struct buffer *out, bool full, int32_t offset)
{
    int32_t size = offset < 0 ? -offset : offset;
    buffer_add_text(out, "GMT");
    if (offset == 0)
        return;
    buffer_add_byte(out, offset < 0 ? '-' : '+');
    if (full)
        put_two(out, size / 3600);
    else
        buffer_printf(out, "%d", size / 3600);
    if (full || size % 3600 != 0) {
        buffer_add_byte(out, ':');
        put_two(out, size / 60 % 60);
    }
    if (size % 60 != 0) {
        buffer_add_byte(out, ':');
        put_two(out, size % 60);
    }
}

static void format_step(struct buffer *out, const struct datetime_step *step,
                        const struct moment *moment)
{
    switch (step->kind) {
    case STEP_LITERAL:
        buffer_add_bytes(out, step->literal);
        break;
    case STEP_NUMBER:
        format_number(out, step, field_value(moment, step->field));
        break;
    case STEP_REDUCED_YEAR: {
        int64_t year = field_value(moment, step->field);
        put_padded(out, (uint64_t)(year < 0 ? -year : year) % 100, 2);
        break;
    }
    case STEP_FRACTION:
        format_fraction(out, step->max, field_value(moment, FIELD_NANO));
        break;
    case STEP_TEXT:
        format_text(out, step, moment->words, field_value(moment, step->field));
        break;
    case STEP_OFFSET:
        format_offset(out, step, moment->offset_seconds);
        break;
    case STEP_LOCALIZED_OFFSET:
        format_localized_offset(out, step->full, moment->offset_seconds);
        break;
    case STEP_ZONE_ID:
        buffer_add_text(out, timezone_id(moment->zone));
        break;
    case STEP_ZONE_NAME:
        buffer_add_text(out, timezone_abbreviation(moment->zone, moment->utc_us));
        break;
    case STEP_OPTIONAL_BEGIN:
    case STEP_OPTIONAL_END:
        break;
    }
}

static void format_local(const struct datetime_pattern *pattern, struct buffer *out,
                         int64_t local_us, struct moment *moment)
{
    moment->words = pattern->words;
    moment->local = civil_from_us(local_us);
    moment->days = civil_floor_div(local_us, CIVIL_DAY_US);
    for (uint32_t i = 0; i < pattern->count; i++)
        format_step(out, &pattern->steps[i], moment);
}

void datetime_pattern_format(const struct datetime_pattern *pattern, struct buffer *out, int64_t us,
                             const struct zone *zone)
{
    struct moment moment = {
        .zone = zone, .utc_us = us, .offset_seconds = timezone_offset_seconds(zone, us)};
    format_local(pattern, out, timezone_to_local(zone, us), &moment);
}

void datetime_pattern_format_ntz(const struct datetime_pattern *pattern, struct buffer *out,
                                 int64_t local_us)
{
    struct moment moment = {.zone = timezone_utc(), .utc_us = local_us};
    format_local(pattern, out, local_us, &moment);
}

void datetime_pattern_format_date(const struct datetime_pattern *pattern, struct buffer *out,
                                  int32_t days)
{
    struct moment moment = {.zone = timezone_utc(), .days = days, .words = pattern->words};
    moment.local.date = civil_from_days(days);
    for (uint32_t i = 0; i < pattern->count; i++)
        format_step(out, &pattern->steps[i], &moment);
}
