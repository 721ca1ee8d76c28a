/*
 * Reading by a compiled pattern: every step takes text and sets a field; at the end the fields are
 * resolved strictly, as Java does (no 30 February, no hour 24), what is missing is 1970-01-01
 * 00:00.
 */
#include "base/check.h"
#include "columnar/civil.h"
#include "columnar/datetime_program.h"

#define YEAR_MAX 999999999

struct parser {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *failed; /* where the step began that did not match */
    int64_t values[FIELD_COUNT];
    uint32_t set; /* bit per field */
    bool has_offset;
    int32_t offset_seconds;
    const struct zone *zone; /* NULL: none in the text */
    const struct datetime_words *words;
};

static bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') <= 9;
}

static bool has(const struct parser *parser, enum datetime_field field)
{
    return (parser->set >> field & 1) != 0;
}

/* False: set to another value before. */
static bool set_field(struct parser *parser, enum datetime_field field, int64_t value)
{
    if (has(parser, field))
        return parser->values[field] == value;
    parser->set |= 1U << field;
    parser->values[field] = value;
    return true;
}

static int count_digits(const struct parser *parser, int max)
{
    int count = 0;
    while (count < max && parser->at + count < parser->end && is_digit(parser->at[count]))
        count++;
    return count;
}

static bool take_digits(struct parser *parser, int count, int64_t *out)
{
    int64_t value = 0;
    if (count > 18)
        return false;
    for (int i = 0; i < count; i++)
        value = value * 10 + (*parser->at++ - '0');
    *out = value;
    return true;
}

static bool parse_number(struct parser *parser, const struct datetime_step *step)
{
    char sign = 0;
    if (parser->at < parser->end && (*parser->at == '-' || *parser->at == '+')) {
        sign = (char)*parser->at;
        if (step->sign == SIGN_NEVER || (sign == '+' && step->sign == SIGN_NORMAL))
            return false;
        parser->at++;
    }
    int following = step->following > 0 ? step->following : 0;
    int max = step->following < 0 ? step->min : step->max;
    int count = count_digits(parser, max + following);
    if (following > 0) {
        count -= following;
        if (count < step->min)
            count = count_digits(parser, step->min);
    }
    if (count < step->min)
        return false;
    int64_t value;
    if (!take_digits(parser, count, &value))
        return false;
    if (sign == '-') {
        if (value == 0)
            return false;
        value = -value;
    } else if (step->sign == SIGN_EXCEEDS_PAD) {
        if ((sign == '+') != (count > step->min))
            return false;
    }
    return set_field(parser, step->field, value);
}

static bool parse_reduced_year(struct parser *parser, const struct datetime_step *step)
{
    int64_t value;
    return count_digits(parser, 2) == 2 && take_digits(parser, 2, &value) &&
           set_field(parser, step->field, 2000 + value);
}

static bool parse_fraction(struct parser *parser, const struct datetime_step *step)
{
    int count = count_digits(parser, step->max);
    int64_t value;
    if (count < step->min || !take_digits(parser, count, &value))
        return false;
    for (; count < 9; count++)
        value *= 10;
    return set_field(parser, FIELD_NANO, value);
}

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

/* `size` bytes of the text, in any case. */
static bool take_text(struct parser *parser, const void *text, size_t size)
{
    const uint8_t *want = text;
    if ((size_t)(parser->end - parser->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (lower(parser->at[i]) != lower(want[i]))
            return false;
    parser->at += size;
    return true;
}

static bool take_word(struct parser *parser, const char *word)
{
    return take_text(parser, word, strlen(word));
}

/* The longest of the words that the text goes on with: its index, or -1. */
static int take_longest(struct parser *parser, const char *const *words, int count)
{
    const uint8_t *start = parser->at;
    const uint8_t *end = start;
    int found = -1;
    for (int i = 0; i < count; i++) {
        parser->at = start;
        if (take_word(parser, words[i]) && parser->at > end) {
            end = parser->at;
            found = i;
        }
    }
    parser->at = end;
    return found;
}

static bool parse_text(struct parser *parser, const struct datetime_step *step)
{
    const struct datetime_words *words = parser->words;
    int value = -1;
    switch ((int)step->field) {
    case FIELD_MONTH:
        value = take_longest(parser,
                             (step->alone ? words->months_alone : words->months)[step->full], 12);
        return value >= 0 && set_field(parser, FIELD_MONTH, value + 1);
    case FIELD_AMPM:
        value = take_longest(parser, words->halves, 2);
        return value >= 0 && set_field(parser, FIELD_AMPM, value);
    case FIELD_ERA:
        value = take_longest(parser, words->eras[step->full], 2);
        return value >= 0 && set_field(parser, FIELD_ERA, value);
    default:
        return false;
    }
}

/* ---- offsets and zones ---- */

static bool set_offset(struct parser *parser, int32_t offset)
{
    if (offset < -18 * 3600 || offset > 18 * 3600)
        return false;
    if (parser->has_offset)
        return parser->offset_seconds == offset;
    parser->has_offset = true;
    parser->offset_seconds = offset;
    return true;
}

/* Two digits up to 59, with a colon before them or not. */
static bool take_offset_part(struct parser *parser, bool colon, int32_t *out)
{
    const uint8_t *start = parser->at;
    int64_t value = 0;
    if ((!colon || take_word(parser, ":")) && count_digits(parser, 2) == 2 &&
        take_digits(parser, 2, &value) && value < 60) {
        *out = (int32_t)value;
        return true;
    }
    parser->at = start;
    return false;
}

static bool parse_offset(struct parser *parser, const struct datetime_step *step)
{
    if (parser->at < parser->end && (*parser->at == '+' || *parser->at == '-')) {
        int32_t sign = *parser->at++ == '-' ? -1 : 1;
        int64_t hours;
        int32_t minutes = 0;
        int32_t seconds = 0;
        if (count_digits(parser, 2) != 2 || !take_digits(parser, 2, &hours))
            return false;
        bool has_minutes = take_offset_part(parser, step->colon, &minutes);
        if (!has_minutes && step->precision != OFFSET_HOUR_MINUTE_IF_NOT_ZERO)
            return false;
        if (has_minutes && step->precision == OFFSET_SECOND_IF_NOT_ZERO)
            (void)take_offset_part(parser, step->colon, &seconds);
        return set_offset(parser, sign * ((int32_t)hours * 3600 + minutes * 60 + seconds));
    }
    return take_word(parser, step->zero) && set_offset(parser, 0);
}

static bool parse_localized_offset(struct parser *parser, bool full)
{
    if (!take_word(parser, "GMT"))
        return false;
    if (parser->at == parser->end || (*parser->at != '+' && *parser->at != '-'))
        return set_offset(parser, 0);
    int32_t sign = *parser->at++ == '-' ? -1 : 1;
    int digits = count_digits(parser, 2);
    int64_t hours;
    int32_t minutes = 0;
    int32_t seconds = 0;
    if (digits < (full ? 2 : 1) || !take_digits(parser, digits, &hours))
        return false;
    if (!take_offset_part(parser, true, &minutes) && full)
        return false;
    (void)take_offset_part(parser, true, &seconds);
    return set_offset(parser, sign * ((int32_t)hours * 3600 + minutes * 60 + seconds));
}

/* Names of zones that are no ids; both names of a zone mean the zone. */
static const struct zone *named_zone(struct bytes name)
{
    static const char *const names[][2] = {
        {"PDT", "America/Los_Angeles"}, {"PT", "America/Los_Angeles"},
        {"MDT", "America/Denver"},      {"MST", "America/Denver"},
        {"CDT", "America/Chicago"},     {"EDT", "America/New_York"},
        {"EST", "America/New_York"},    {"CET", "Europe/Paris"},
        {"CEST", "Europe/Paris"},       {"EET", "Europe/Bucharest"},
        {"EEST", "Europe/Bucharest"},   {"WET", "Europe/Lisbon"},
        {"WEST", "Europe/Lisbon"},      {"BST", "Europe/London"},
        {"MSK", "Europe/Moscow"},       {"HST", "Pacific/Honolulu"},
        {"AKST", "America/Anchorage"},  {"AKDT", "America/Anchorage"},
        {"KST", "Asia/Seoul"},          {"SGT", "Asia/Singapore"},
        {"HKT", "Asia/Hong_Kong"},      {"AEST", "Australia/Sydney"},
        {"AEDT", "Australia/Sydney"},   {"NZST", "Pacific/Auckland"},
        {"NZDT", "Pacific/Auckland"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct bytes known = bytes_of_text(names[i][0]);
        if (bytes_equal(known, name))
            return timezone_lookup(bytes_of_text(names[i][1]));
    }
    return NULL;
}

static bool is_zone_byte(uint8_t c)
{
    uint8_t l = lower(c);
    return (l >= 'a' && l <= 'z') || is_digit(c) || (c != '\0' && strchr("/_+-:", c) != NULL);
}

/* The longest prefix that is a zone. */
static bool parse_zone(struct parser *parser, bool names)
{
    size_t size = 0;
    while (parser->at + size < parser->end && parser->at[size] != 0 &&
           is_zone_byte(parser->at[size]))
        size++;
    for (; size > 0; size--) {
        struct bytes id = bytes_of(parser->at, size);
        const struct zone *zone = names ? named_zone(id) : NULL;
        if (zone == NULL)
            zone = timezone_lookup(id);
        if (zone != NULL) {
            parser->zone = zone;
            parser->at += size;
            return true;
        }
    }
    return false;
}

/* ---- the program ---- */

static bool parse_step(struct parser *parser, const struct datetime_step *step)
{
    switch (step->kind) {
    case STEP_LITERAL:
        return take_text(parser, step->literal.data, step->literal.size_bytes);
    case STEP_NUMBER:
        return parse_number(parser, step);
    case STEP_REDUCED_YEAR:
        return parse_reduced_year(parser, step);
    case STEP_FRACTION:
        return parse_fraction(parser, step);
    case STEP_TEXT:
        return parse_text(parser, step);
    case STEP_OFFSET:
        return parse_offset(parser, step);
    case STEP_LOCALIZED_OFFSET:
        return parse_localized_offset(parser, step->full);
    case STEP_ZONE_ID:
        return parse_zone(parser, false);
    case STEP_ZONE_NAME:
        return parse_zone(parser, true);
    case STEP_OPTIONAL_BEGIN:
    case STEP_OPTIONAL_END:
        return true;
    }
    return false;
}

/* Runs steps [from, to); an optional section that fails leaves no trace.  Nesting is bounded by
 * the compiler. */
static bool run_steps(struct parser *parser, const struct datetime_step *steps, uint32_t from,
                      uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (steps[i].kind != STEP_OPTIONAL_BEGIN) {
            const uint8_t *start = parser->at;
            if (!parse_step(parser, &steps[i])) {
                parser->failed = start;
                return false;
            }
            continue;
        }
        struct parser before = *parser;
        uint32_t next = i + steps[i].skip;
        if (!run_steps(parser, steps, i + 1, next))
            *parser = before;
        i = next - 1;
    }
    return true;
}

/* ---- resolving ---- */

static bool in_range(const struct parser *parser, enum datetime_field field, int64_t min,
                     int64_t max)
{
    return !has(parser, field) || (parser->values[field] >= min && parser->values[field] <= max);
}

static bool ranges_hold(const struct parser *parser)
{
    return in_range(parser, FIELD_YEAR, -YEAR_MAX, YEAR_MAX) &&
           in_range(parser, FIELD_YEAR_OF_ERA, 1, YEAR_MAX) &&
           in_range(parser, FIELD_MONTH, 1, 12) && in_range(parser, FIELD_DAY, 1, 31) &&
           in_range(parser, FIELD_DAY_OF_YEAR, 1, 366) && in_range(parser, FIELD_HOUR, 0, 23) &&
           in_range(parser, FIELD_CLOCK_HOUR, 1, 24) && in_range(parser, FIELD_HOUR_AMPM, 0, 11) &&
           in_range(parser, FIELD_CLOCK_HOUR_AMPM, 1, 12) &&
           in_range(parser, FIELD_MINUTE, 0, 59) && in_range(parser, FIELD_SECOND, 0, 59);
}

static bool resolve_date(struct parser *parser, int64_t *days)
{
    if (has(parser, FIELD_YEAR_OF_ERA)) {
        int64_t year = parser->values[FIELD_YEAR_OF_ERA];
        bool before = has(parser, FIELD_ERA) && parser->values[FIELD_ERA] == 0;
        if (!set_field(parser, FIELD_YEAR, before ? 1 - year : year))
            return false;
    }
    int64_t year = has(parser, FIELD_YEAR) ? parser->values[FIELD_YEAR] : 1970;
    if (has(parser, FIELD_YEAR) && has(parser, FIELD_DAY_OF_YEAR)) {
        int64_t day = parser->values[FIELD_DAY_OF_YEAR];
        if (day > 365 + civil_is_leap_year(year))
            return false;
        *days = civil_days(year, 1, 1) + day - 1;
        struct civil_date date = civil_from_days(*days);
        return set_field(parser, FIELD_MONTH, date.month) && set_field(parser, FIELD_DAY, date.day);
    }
    int month = has(parser, FIELD_MONTH) ? (int)parser->values[FIELD_MONTH] : 1;
    int day = has(parser, FIELD_DAY) ? (int)parser->values[FIELD_DAY] : 1;
    *days = civil_days(year, month, day);
    return civil_is_valid(year, month, day);
}

static bool resolve_hour(struct parser *parser, int64_t *hour)
{
    if (has(parser, FIELD_CLOCK_HOUR) &&
        !set_field(parser, FIELD_HOUR, parser->values[FIELD_CLOCK_HOUR] % 24))
        return false;
    if (has(parser, FIELD_CLOCK_HOUR_AMPM) &&
        !set_field(parser, FIELD_HOUR_AMPM, parser->values[FIELD_CLOCK_HOUR_AMPM] % 12))
        return false;
    int64_t ampm = has(parser, FIELD_AMPM) ? parser->values[FIELD_AMPM] : 0;
    if (has(parser, FIELD_HOUR)) {
        *hour = parser->values[FIELD_HOUR];
        return (!has(parser, FIELD_AMPM) || ampm == *hour / 12) &&
               (!has(parser, FIELD_HOUR_AMPM) || parser->values[FIELD_HOUR_AMPM] == *hour % 12);
    }
    *hour = ampm * 12 + (has(parser, FIELD_HOUR_AMPM) ? parser->values[FIELD_HOUR_AMPM] : 0);
    return true;
}

struct resolved {
    int64_t days;
    int64_t seconds; /* of the day */
    int64_t nanos;
};

static bool resolve(struct parser *parser, struct resolved *out)
{
    int64_t hour;
    if (!ranges_hold(parser) || !resolve_date(parser, &out->days) || !resolve_hour(parser, &hour))
        return false;
    int64_t minute = has(parser, FIELD_MINUTE) ? parser->values[FIELD_MINUTE] : 0;
    int64_t second = has(parser, FIELD_SECOND) ? parser->values[FIELD_SECOND] : 0;
    out->seconds = hour * 3600 + minute * 60 + second;
    out->nanos = has(parser, FIELD_NANO) ? parser->values[FIELD_NANO] : 0;
    return true;
}

static bool parse_all(const struct datetime_pattern *pattern, struct bytes text,
                      struct parser *parser, struct resolved *out)
{
    *parser = (struct parser){
        .at = text.data, .end = text.data + text.size_bytes, .words = pattern->words};
    return run_steps(parser, pattern->steps, 0, pattern->count) && parser->at == parser->end &&
           resolve(parser, out);
}

static enum text_result to_us(const struct resolved *resolved, int64_t *out)
{
    int64_t us;
    if (__builtin_mul_overflow(resolved->days * 86400 + resolved->seconds, CIVIL_SECOND_US, &us) ||
        __builtin_add_overflow(us, resolved->nanos / 1000, out))
        return TEXT_OUT_OF_RANGE;
    return TEXT_OK;
}

enum text_result datetime_pattern_parse(const struct datetime_pattern *pattern, struct bytes text,
                                        const struct zone *zone, int64_t *out_us)
{
    struct parser parser;
    struct resolved resolved;
    if (!parse_all(pattern, text, &parser, &resolved))
        return TEXT_INVALID;
    if (parser.zone == NULL && parser.has_offset)
        resolved.seconds -= parser.offset_seconds;
    int64_t local_us;
    enum text_result result = to_us(&resolved, &local_us);
    if (result != TEXT_OK)
        return result;
    if (parser.zone == NULL && parser.has_offset)
        *out_us = local_us;
    else
        *out_us = timezone_to_utc(parser.zone != NULL ? parser.zone : zone, local_us);
    return TEXT_OK;
}

enum text_result datetime_pattern_parse_ntz(const struct datetime_pattern *pattern,
                                            struct bytes text, bool allow_zone, int64_t *out_us)
{
    struct parser parser;
    struct resolved resolved;
    if (!parse_all(pattern, text, &parser, &resolved))
        return TEXT_INVALID;
    if (!allow_zone && (parser.has_offset || parser.zone != NULL))
        return TEXT_INVALID;
    return to_us(&resolved, out_us);
}

enum text_result datetime_pattern_parse_date(const struct datetime_pattern *pattern,
                                             struct bytes text, int32_t *out_days)
{
    struct parser parser;
    struct resolved resolved;
    if (!parse_all(pattern, text, &parser, &resolved))
        return TEXT_INVALID;
    if (resolved.days < INT32_MIN || resolved.days > INT32_MAX)
        return TEXT_OUT_OF_RANGE;
    *out_days = (int32_t)resolved.days;
    return TEXT_OK;
}

enum text_result datetime_pattern_parse_time(const struct datetime_pattern *pattern,
                                             struct bytes text, int64_t *out_ns)
{
    struct parser parser;
    struct resolved resolved;
    if (!parse_all(pattern, text, &parser, &resolved))
        return TEXT_INVALID;
    *out_ns = resolved.seconds * INT64_C(1000000000) + resolved.nanos / 1000 * 1000;
    return TEXT_OK;
}

/* ---- explaining ---- */

static void explain_range(struct buffer *out, const char *field, const char *range, int64_t value)
{
    buffer_printf(out, "Invalid value for %s (valid values %s): %lld", field, range,
                  (long long)value);
}

void datetime_explain_date(struct buffer *out, int64_t year, int64_t month, int64_t day)
{
    if (year < -YEAR_MAX || year > YEAR_MAX)
        explain_range(out, "Year", "-999999999 - 999999999", year);
    else if (month < 1 || month > 12)
        explain_range(out, "MonthOfYear", "1 - 12", month);
    else if (day < 1 || day > 31)
        explain_range(out, "DayOfMonth", "1 - 28/31", day);
    else if (month == 2 && day == 29 && !civil_is_leap_year(year))
        buffer_printf(out, "Invalid date 'February 29' as '%lld' is not a leap year",
                      (long long)year);
    else if (!civil_is_valid(year, (int)month, (int)day)) {
        const char *name = datetime_words_english()->months[1][month - 1];
        buffer_add_text(out, "Invalid date '");
        for (; *name != '\0'; name++)
            buffer_add_byte(out, (uint8_t)(*name >= 'a' ? *name - 32 : *name));
        buffer_printf(out, " %lld'", (long long)day);
    }
}

void datetime_explain_time(struct buffer *out, int64_t hour, int64_t minute, int64_t second)
{
    if (hour < 0 || hour > 23)
        explain_range(out, "HourOfDay", "0 - 23", hour);
    else if (minute < 0 || minute > 59)
        explain_range(out, "MinuteOfHour", "0 - 59", minute);
    else if (second < 0 || second > 59)
        explain_range(out, "SecondOfMinute", "0 - 59", second);
}

static int64_t value_or(const struct parser *parser, enum datetime_field field, int64_t missing)
{
    return has(parser, field) ? parser->values[field] : missing;
}

static void explain_fields(struct buffer *out, const struct parser *parser)
{
    if (!in_range(parser, FIELD_CLOCK_HOUR, 1, 24))
        explain_range(out, "ClockHourOfDay", "1 - 24", parser->values[FIELD_CLOCK_HOUR]);
    else if (!in_range(parser, FIELD_CLOCK_HOUR_AMPM, 1, 12))
        explain_range(out, "ClockHourOfAmPm", "1 - 12", parser->values[FIELD_CLOCK_HOUR_AMPM]);
    else if (!in_range(parser, FIELD_HOUR_AMPM, 0, 11))
        explain_range(out, "HourOfAmPm", "0 - 11", parser->values[FIELD_HOUR_AMPM]);
    else if (!in_range(parser, FIELD_DAY_OF_YEAR, 1, 366))
        explain_range(out, "DayOfYear", "1 - 365/366", parser->values[FIELD_DAY_OF_YEAR]);
    size_t size = out->size_bytes;
    datetime_explain_time(out, value_or(parser, FIELD_HOUR, 0), value_or(parser, FIELD_MINUTE, 0),
                          value_or(parser, FIELD_SECOND, 0));
    if (out->size_bytes == size)
        datetime_explain_date(out, value_or(parser, FIELD_YEAR, 1970),
                              value_or(parser, FIELD_MONTH, 1), value_or(parser, FIELD_DAY, 1));
}

void datetime_pattern_explain(const struct datetime_pattern *pattern, struct bytes text,
                              struct buffer *out)
{
    struct parser parser = {
        .at = text.data, .end = text.data + text.size_bytes, .words = pattern->words};
    buffer_add_text(out, "Text '");
    buffer_add_bytes(out, text);
    buffer_add_text(out, "' could not be parsed");
    if (!run_steps(&parser, pattern->steps, 0, pattern->count))
        buffer_printf(out, " at index %d", (int)(parser.failed - text.data));
    else if (parser.at != parser.end)
        buffer_printf(out, ", unparsed text found at index %d", (int)(parser.at - text.data));
    else {
        buffer_add_text(out, ": ");
        explain_fields(out, &parser);
    }
}
