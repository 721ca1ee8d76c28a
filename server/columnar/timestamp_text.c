/*
 * Spark reads dates and times segment by segment: year, month, day, hour, minute, second, fraction,
 * zone, each ended by its own separator.  read_segments() is that automaton; in front of it stands
 * read_iso() for the one form that nearly all machines write.
 */
#include "columnar/timestamp_text.h"

#include "base/check.h"
#include "columnar/civil.h"

#define DATE_YEAR_DIGITS_MAX      7
#define TIMESTAMP_YEAR_DIGITS_MAX 6
#define SECONDS_LIMIT             INT64_C(9223372036854) /* of int64 microseconds */

struct reading {
    int64_t year;
    int32_t month, day, hour, minute, second, micro;
    bool only_time;
    bool has_zone;
    struct bytes zone;
};

static bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') <= 9;
}

/* ---- yyyy-MM-dd[T ]HH:mm:ss[.f][Z] ---- */

/* Eight characters: where `form` has '0' a digit, elsewhere the same character.  Bytes of the
 * result: 10 times the digit there plus the one behind it.  `*bad` gets a bit if they differ. */
static inline uint64_t digit_pairs(const uint8_t *at, uint64_t form, uint64_t *bad)
{
    uint64_t x;
    memcpy(&x, at, sizeof(x));
    x ^= form;
    /* over 9, or over 0 where the form has no digit, carries into the top bit */
    uint64_t separators = (form & UINT64_C(0x0F0F0F0F0F0F0F0F)) + UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t limit =
        UINT64_C(0x7676767676767676) + (separators >> 7 & UINT64_C(0x0101010101010101)) * 9;
    *bad |= (x | (x + limit)) & UINT64_C(0x8080808080808080);
    return x * 10 + (x >> 8);
}

#define FORM_DATE  UINT64_C(0x2D30302D30303030) /* 0000-00- */
#define FORM_CLOCK UINT64_C(0x30303A30303A3030) /* 00:00:00 */

/* False if the text has another form, which says nothing about its validity. */
static inline bool read_iso(struct bytes text, struct reading *out)
{
    if (text.size_bytes < 19)
        return false;
    const uint8_t *at = text.data;
    uint64_t bad = 0;
    uint64_t date = digit_pairs(at, FORM_DATE, &bad);
    uint64_t clock = digit_pairs(at + 11, FORM_CLOCK, &bad);
    uint32_t tens = at[8] - (uint32_t)'0';
    uint32_t ones = at[9] - (uint32_t)'0';
    if (bad != 0 || tens > 9 || ones > 9 || (at[10] != 'T' && at[10] != ' '))
        return false;
    out->year = (int64_t)((date & 0xFF) * 100 + (date >> 16 & 0xFF));
    out->month = (int32_t)(date >> 40 & 0xFF);
    out->day = (int32_t)(tens * 10 + ones);
    out->hour = (int32_t)(clock & 0xFF);
    out->minute = (int32_t)(clock >> 24 & 0xFF);
    out->second = (int32_t)(clock >> 48 & 0xFF);
    out->micro = 0;
    out->only_time = false;
    out->has_zone = false;
    size_t next = 19;
    if (next == text.size_bytes)
        return true;
    if (at[next] == '.') {
        int32_t unit = 100000;
        for (next++; next < text.size_bytes && is_digit(at[next]); next++) {
            out->micro += (at[next] - '0') * unit;
            unit /= 10;
        }
        if (next == text.size_bytes)
            return true;
    }
    if (at[next] != 'Z' || next + 1 != text.size_bytes)
        return false;
    out->has_zone = true;
    out->zone = bytes_of(at + next, 1);
    return true;
}

/* ---- every form ---- */

enum segment {
    SEGMENT_YEAR,
    SEGMENT_MONTH,
    SEGMENT_DAY,
    SEGMENT_HOUR,
    SEGMENT_MINUTE,
    SEGMENT_SECOND,
    SEGMENT_FRACTION,
    SEGMENT_ZONE,
    SEGMENT_COUNT,
};

struct automaton {
    int segment;
    int32_t values[SEGMENT_COUNT];
    int32_t value; /* of the segment being read */
    int digits;
    bool signed_year;
    struct reading *out;
};

static bool digits_fit(int segment, int digits)
{
    switch (segment) {
    case SEGMENT_YEAR:
        return digits >= 4 && digits <= TIMESTAMP_YEAR_DIGITS_MAX;
    case SEGMENT_FRACTION:
        return true;
    case SEGMENT_ZONE:
        return digits <= 2;
    default:
        return digits > 0 && digits <= 2;
    }
}

static bool end_segment(struct automaton *a, int as, int next)
{
    if (!digits_fit(as, a->digits))
        return false;
    a->values[as] = a->value;
    a->value = 0;
    a->digits = 0;
    a->segment = next;
    return true;
}

/* A byte that is no digit.  *done: the rest of the text was the zone. */
static bool take_separator(struct automaton *a, const uint8_t *at, const uint8_t *end, bool *done)
{
    switch (a->segment) {
    case SEGMENT_YEAR:
        if (*at == ':' && !a->signed_year) {
            a->out->only_time = true;
            return end_segment(a, SEGMENT_HOUR, SEGMENT_MINUTE);
        }
        return *at == '-' && end_segment(a, SEGMENT_YEAR, SEGMENT_MONTH);
    case SEGMENT_MONTH:
        return *at == '-' && end_segment(a, SEGMENT_MONTH, SEGMENT_DAY);
    case SEGMENT_DAY:
        return (*at == ' ' || *at == 'T') && end_segment(a, SEGMENT_DAY, SEGMENT_HOUR);
    case SEGMENT_HOUR:
    case SEGMENT_MINUTE:
        return *at == ':' && end_segment(a, a->segment, a->segment + 1);
    case SEGMENT_SECOND:
        if (*at == '.')
            return end_segment(a, SEGMENT_SECOND, SEGMENT_FRACTION);
        break;
    case SEGMENT_FRACTION:
        break;
    default:
        return false;
    }
    a->out->has_zone = true;
    a->out->zone = number_trim_all(bytes_of(at, (size_t)(end - at)));
    *done = true;
    return end_segment(a, a->segment, SEGMENT_ZONE);
}

static bool read_segments(struct bytes whole, struct reading *out)
{
    struct bytes text = number_trim_all(whole);
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.size_bytes;
    struct automaton a = {.values = {1, 1, 1}, .out = out};
    int fraction_digits = 0;
    bool negative = false;
    *out = (struct reading){0};
    if (at == end)
        return false;
    if (*at == '-' || *at == '+') {
        negative = *at++ == '-';
        a.signed_year = true;
    }
    bool done = false;
    for (; at < end && !done; at++) {
        if (is_digit(*at)) {
            if (a.segment != SEGMENT_FRACTION || a.digits < 6) {
                if (a.digits > 8)
                    return false;
                a.value = a.value * 10 + (*at - '0');
                fraction_digits += a.segment == SEGMENT_FRACTION;
            }
            a.digits++;
        } else if (at == whole.data && *at == 'T') {
            out->only_time = true;
            a.segment = SEGMENT_HOUR;
        } else if (!take_separator(&a, at, end, &done)) {
            return false;
        }
    }
    if (!end_segment(&a, a.segment, a.segment))
        return false;
    for (; fraction_digits < 6; fraction_digits++)
        a.values[SEGMENT_FRACTION] *= 10;
    out->year = negative ? -a.values[SEGMENT_YEAR] : a.values[SEGMENT_YEAR];
    out->month = a.values[SEGMENT_MONTH];
    out->day = a.values[SEGMENT_DAY];
    out->hour = a.values[SEGMENT_HOUR];
    out->minute = a.values[SEGMENT_MINUTE];
    out->second = a.values[SEGMENT_SECOND];
    out->micro = a.values[SEGMENT_FRACTION];
    return true;
}

static bool read_any(struct bytes text, struct reading *out)
{
    if (!read_iso(text, out) && !read_segments(text, out))
        return false;
    bool date_ok = out->only_time || civil_is_valid(out->year, out->month, out->day);
    return date_ok && out->hour < 24 && out->minute < 60 && out->second < 60;
}

static int64_t time_seconds(const struct reading *reading)
{
    return reading->hour * 3600 + reading->minute * 60 + reading->second;
}

/* Seconds and microseconds to microseconds. */
static bool to_us(int64_t seconds, int32_t micro, int64_t *out)
{
    if (seconds >= -SECONDS_LIMIT && seconds < SECONDS_LIMIT) {
        *out = seconds * CIVIL_SECOND_US + micro;
        return true;
    }
    int64_t us;
    if (seconds < 0) { /* the last second of the range may start before it */
        seconds++;
        micro -= (int32_t)CIVIL_SECOND_US;
    }
    if (__builtin_mul_overflow(seconds, CIVIL_SECOND_US, &us) ||
        __builtin_add_overflow(us, (int64_t)micro, out))
        return false;
    return true;
}

enum text_result timestamp_text_parse(struct bytes text, const struct timestamp_context *context,
                                      int64_t *out_us)
{
    struct reading reading;
    if (!read_any(text, &reading))
        return TEXT_INVALID;
    const struct zone *zone = context->zone;
    int32_t offset = 0;
    bool fixed = false;
    if (reading.has_zone && reading.zone.size_bytes == 1 && reading.zone.data[0] == 'Z') {
        fixed = true;
    } else if (reading.has_zone) {
        fixed = timezone_parse_offset(reading.zone, &offset);
        if (!fixed && (zone = timezone_lookup(reading.zone)) == NULL)
            return TEXT_INVALID;
    }
    int64_t days;
    if (reading.only_time) {
        int64_t now = fixed ? context->now_us + offset * CIVIL_SECOND_US
                            : timezone_to_local(zone, context->now_us);
        days = civil_floor_div(now, CIVIL_DAY_US);
    } else {
        days = civil_days(reading.year, reading.month, reading.day);
    }
    int64_t seconds = days * 86400 + time_seconds(&reading) - offset;
    int64_t us;
    if (!to_us(seconds, reading.micro, &us))
        return TEXT_OUT_OF_RANGE;
    *out_us = fixed ? us : timezone_to_utc(zone, us);
    return TEXT_OK;
}

enum text_result timestamp_text_parse_ntz(struct bytes text, bool allow_zone, int64_t *out_us)
{
    struct reading reading;
    if (!read_any(text, &reading) || reading.only_time || (reading.has_zone && !allow_zone))
        return TEXT_INVALID;
    if (reading.has_zone && timezone_lookup(reading.zone) == NULL)
        return TEXT_INVALID;
    int64_t days = civil_days(reading.year, reading.month, reading.day);
    if (!to_us(days * 86400 + time_seconds(&reading), reading.micro, out_us))
        return TEXT_OUT_OF_RANGE;
    return TEXT_OK;
}

enum text_result timestamp_text_parse_time(struct bytes text, int64_t *out_ns)
{
    struct reading reading;
    if (!read_any(text, &reading) || !reading.only_time || reading.has_zone)
        return TEXT_INVALID;
    *out_ns = time_seconds(&reading) * INT64_C(1000000000) + reading.micro * INT64_C(1000);
    return TEXT_OK;
}

enum text_result timestamp_text_parse_date(struct bytes text, int32_t *out_days)
{
    struct bytes trimmed = number_trim_all(text);
    const uint8_t *at = trimmed.data;
    const uint8_t *end = at + trimmed.size_bytes;
    if (at == end)
        return TEXT_INVALID;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int32_t values[3] = {1, 1, 1};
    int32_t value = 0;
    int digits = 0;
    int segment = 0;
    for (; at <= end; at++) {
        bool stop = at == end || *at == ' ' || *at == 'T';
        if (!stop && is_digit(*at)) {
            if (++digits > DATE_YEAR_DIGITS_MAX)
                return TEXT_INVALID;
            value = value * 10 + (*at - '0');
            continue;
        }
        bool fits = segment == 0 ? digits >= 4 : digits > 0 && digits <= 2;
        if (!fits || (!stop && (*at != '-' || segment == 2)))
            return TEXT_INVALID;
        values[segment] = value;
        if (stop)
            break;
        value = 0;
        digits = 0;
        segment++;
    }
    if (segment < 2 && at != text.data + text.size_bytes)
        return TEXT_INVALID; /* nothing may follow yyyy and yyyy-MM */
    int32_t year = negative ? -values[0] : values[0];
    if (!civil_is_valid(year, values[1], values[2]))
        return TEXT_INVALID;
    int64_t days = civil_days(year, values[1], values[2]);
    if (days < INT32_MIN || days > INT32_MAX)
        return TEXT_OUT_OF_RANGE;
    *out_days = (int32_t)days;
    return TEXT_OK;
}

/* ---- special words ---- */

static bool word_is(struct bytes text, const char *word)
{
    if (text.size_bytes != strlen(word))
        return false;
    for (size_t i = 0; i < text.size_bytes; i++)
        if ((text.data[i] | 0x20) != (uint8_t)word[i])
            return false;
    return true;
}

bool timestamp_text_special(struct bytes text, const struct timestamp_context *context,
                            int64_t *out_us)
{
    text = number_trim_all(text);
    if (word_is(text, "epoch")) {
        *out_us = 0;
        return true;
    }
    if (word_is(text, "now")) {
        *out_us = context->now_us;
        return true;
    }
    static const struct {
        const char *word;
        int days;
    } words[] = {{"yesterday", -1}, {"today", 0}, {"tomorrow", 1}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (word_is(text, words[i].word)) {
            int64_t local = timezone_to_local(context->zone, context->now_us);
            int64_t midnight =
                (civil_floor_div(local, CIVIL_DAY_US) + words[i].days) * CIVIL_DAY_US;
            *out_us = timezone_to_utc(context->zone, midnight);
            return true;
        }
    }
    return false;
}

/* ---- printing ---- */

static char *put_two(char *out, int32_t value)
{
    out[0] = (char)('0' + value / 10);
    out[1] = (char)('0' + value % 10);
    return out + 2;
}

static char *put_date(char *out, struct civil_date date)
{
    int32_t year = date.year;
    if (year < 0 || year > 9999) {
        *out++ = year < 0 ? '-' : '+';
        year = year < 0 ? -year : year;
    }
    if (year > 9999) {
        out += number_print_int64(out, year);
    } else {
        out = put_two(out, year / 100);
        out = put_two(out, year % 100);
    }
    *out++ = '-';
    out = put_two(out, date.month);
    *out++ = '-';
    return put_two(out, date.day);
}

static char *put_clock(char *out, int32_t seconds)
{
    out = put_two(out, seconds / 3600);
    *out++ = ':';
    out = put_two(out, seconds / 60 % 60);
    *out++ = ':';
    return put_two(out, seconds % 60);
}

/* ".5" for 500000 of 6 digits: without trailing zeros, nothing for 0. */
static char *put_fraction(char *out, int32_t value, int digits)
{
    if (value == 0)
        return out;
    while (value % 10 == 0) {
        value /= 10;
        digits--;
    }
    *out = '.';
    for (int i = digits; i > 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + 1 + digits;
}

size_t timestamp_text_print_ntz(char out[TIMESTAMP_TEXT_MAX], int64_t local_us)
{
    int64_t days = civil_floor_div(local_us, CIVIL_DAY_US);
    int64_t rest = civil_floor_mod(local_us, CIVIL_DAY_US);
    char *at = put_date(out, civil_from_days(days));
    *at++ = ' ';
    at = put_clock(at, (int32_t)(rest / CIVIL_SECOND_US));
    at = put_fraction(at, (int32_t)(rest % CIVIL_SECOND_US), 6);
    return (size_t)(at - out);
}

size_t timestamp_text_print(char out[TIMESTAMP_TEXT_MAX], int64_t us, const struct zone *zone)
{
    return timestamp_text_print_ntz(out, timezone_to_local(zone, us));
}

size_t timestamp_text_print_date(char out[TIMESTAMP_TEXT_MAX], int32_t days)
{
    return (size_t)(put_date(out, civil_from_days(days)) - out);
}

size_t timestamp_text_print_time(char out[TIMESTAMP_TEXT_MAX], int64_t nanos)
{
    CHECK(nanos >= 0 && nanos < CIVIL_DAY_NS);
    char *at = put_clock(out, (int32_t)(nanos / 1000000000));
    return (size_t)(put_fraction(at, (int32_t)(nanos % 1000000000), 9) - out);
}

size_t timestamp_text_print_iso_ntz(char out[TIMESTAMP_TEXT_MAX], int64_t local_us)
{
    int64_t days = civil_floor_div(local_us, CIVIL_DAY_US);
    int64_t rest = civil_floor_mod(local_us, CIVIL_DAY_US);
    char *at = put_date(out, civil_from_days(days));
    *at++ = 'T';
    at = put_clock(at, (int32_t)(rest / CIVIL_SECOND_US));
    int32_t millis = (int32_t)(rest % CIVIL_SECOND_US / 1000);
    *at++ = '.';
    *at++ = (char)('0' + millis / 100);
    return (size_t)(put_two(at, millis % 100) - out);
}

size_t timestamp_text_print_iso(char out[TIMESTAMP_TEXT_MAX], int64_t us, const struct zone *zone)
{
    int32_t offset = timezone_offset_seconds(zone, us);
    size_t size = timestamp_text_print_iso_ntz(out, timezone_to_local(zone, us));
    if (offset == 0) {
        out[size] = 'Z';
        return size + 1;
    }
    return size + timezone_print_offset(out + size, offset);
}
