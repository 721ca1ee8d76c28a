#include "columnar/timezone_file.h"

#include "base/check.h"
#include "base/heap.h"
#include "columnar/civil.h"

#include <stdlib.h>

#define HEADER_BYTES 44
#define PERIODS_MAX  10000

struct reader {
    const uint8_t *data;
    size_t left;
};

static const uint8_t *take(struct reader *reader, size_t size)
{
    if (reader->left < size)
        return NULL;
    const uint8_t *at = reader->data;
    reader->data += size;
    reader->left -= size;
    return at;
}

static uint64_t big_endian(const uint8_t *data, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | data[i];
    return value;
}

/* The counts of a TZif header, in the order of the file. */
struct counts {
    size_t utc, standard, leap, times, types, name_bytes;
};

static bool read_header(struct reader *reader, struct counts *counts, char *version)
{
    const uint8_t *header = take(reader, HEADER_BYTES);
    if (header == NULL || memcmp(header, "TZif", 4) != 0)
        return false;
    *version = (char)header[4];
    size_t values[6];
    for (int i = 0; i < 6; i++)
        values[i] = (size_t)big_endian(header + 20 + (ptrdiff_t)4 * i, 4);
    *counts = (struct counts){values[0], values[1], values[2], values[3], values[4], values[5]};
    return counts->times < PERIODS_MAX && counts->types < 256 && counts->name_bytes < 4096 &&
           counts->leap < PERIODS_MAX && counts->utc < 256 && counts->standard < 256;
}

static size_t body_bytes(const struct counts *counts, size_t time_bytes)
{
    return counts->times * (time_bytes + 1) + counts->types * 6 + counts->name_bytes +
           counts->leap * (time_bytes + 4) + counts->standard + counts->utc;
}

static bool set_period(struct timezone_period *period, int64_t start, const uint8_t *type,
                       struct bytes names)
{
    period->start = start;
    period->offset_seconds = (int32_t)(uint32_t)big_endian(type, 4);
    if (type[5] >= names.size_bytes || labs(period->offset_seconds) > (int64_t)26 * 3600)
        return false;
    size_t size = strnlen((const char *)names.data + type[5], names.size_bytes - type[5]);
    if (size >= sizeof(period->name))
        return false;
    memcpy(period->name, names.data + type[5], size);
    period->name[size] = '\0';
    return true;
}

static bool read_body(struct reader *reader, const struct counts *counts, size_t time_bytes,
                      struct timezone_file *out)
{
    const uint8_t *body = take(reader, body_bytes(counts, time_bytes));
    if (body == NULL || counts->types == 0)
        return false;
    const uint8_t *indexes = body + counts->times * time_bytes;
    const uint8_t *types = indexes + counts->times;
    struct bytes names = bytes_of(types + counts->types * 6, counts->name_bytes);
    struct timezone_period *periods = heap_calloc(counts->times + 1, sizeof(*periods));
    out->periods = periods;
    out->period_count = counts->times + 1;
    if (!set_period(&periods[0], INT64_MIN, types, names))
        return false;
    for (size_t i = 0; i < counts->times; i++) {
        uint64_t raw = big_endian(body + i * time_bytes, (int)time_bytes);
        int64_t start = time_bytes == 8 ? (int64_t)raw : (int64_t)(int32_t)(uint32_t)raw;
        if (indexes[i] >= counts->types || (i > 0 && start <= periods[i].start) ||
            !set_period(&periods[i + 1], start, types + (ptrdiff_t)indexes[i] * 6, names))
            return false;
    }
    return true;
}

/* ---- the footer: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

static bool read_name(const char **at, char name[TIMEZONE_NAME_MAX])
{
    bool quoted = **at == '<';
    size_t size = 0;
    *at += quoted;
    for (; **at != '\0'; (*at)++) {
        char c = **at;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (quoted ? c == '>' : !letter)
            break;
        if (size + 1 >= TIMEZONE_NAME_MAX)
            return false;
        name[size++] = c;
    }
    name[size] = '\0';
    if (quoted && *(*at)++ != '>')
        return false;
    return size > 0;
}

static bool read_int(const char **at, int max, int *out)
{
    char *end;
    long value = strtol(*at, &end, 10);
    if (end == *at || value < 0 || value > max)
        return false;
    *at = end;
    *out = (int)value;
    return true;
}

/* [-+]hh[:mm[:ss]] */
static bool read_clock(const char **at, int32_t *out)
{
    int sign = **at == '-' ? -1 : 1;
    if (**at == '-' || **at == '+')
        (*at)++;
    int parts[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        if (!read_int(at, i == 0 ? 167 : 59, &parts[i]))
            return false;
        if (**at != ':')
            break;
        (*at)++;
    }
    *out = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
    return true;
}

static bool read_rule_day(const char **at, struct timezone_rule_day *day)
{
    if (*(*at)++ != ',')
        return false;
    if (**at == 'M') {
        (*at)++;
        day->kind = RULE_MONTH_WEEK;
        if (!read_int(at, 12, &day->month) || *(*at)++ != '.' || !read_int(at, 5, &day->week) ||
            *(*at)++ != '.' || !read_int(at, 6, &day->weekday) || day->month == 0 || day->week == 0)
            return false;
    } else {
        day->kind = **at == 'J' ? RULE_JULIAN : RULE_DAY;
        *at += **at == 'J';
        if (!read_int(at, 365, &day->day))
            return false;
    }
    day->time_seconds = 2 * 3600;
    if (**at != '/')
        return true;
    (*at)++;
    return read_clock(at, &day->time_seconds);
}

static bool read_rule(const char *text, struct timezone_rule *rule)
{
    int32_t offset;
    *rule = (struct timezone_rule){0};
    if (!read_name(&text, rule->standard_name) || !read_clock(&text, &offset))
        return false;
    rule->standard_seconds = -offset;
    if (*text == '\0')
        return true;
    rule->has_dst = true;
    rule->dst_seconds = rule->standard_seconds + 3600;
    if (!read_name(&text, rule->dst_name))
        return false;
    if (*text != ',') {
        if (!read_clock(&text, &offset))
            return false;
        rule->dst_seconds = -offset;
    }
    return read_rule_day(&text, &rule->begin) && read_rule_day(&text, &rule->end) && *text == '\0';
}

bool timezone_file_parse(struct bytes content, struct timezone_file *out)
{
    struct reader reader = {content.data, content.size_bytes};
    struct counts counts;
    char version;
    *out = (struct timezone_file){0};
    if (!read_header(&reader, &counts, &version))
        return false;
    size_t time_bytes = 4;
    if (version >= '2') {
        if (take(&reader, body_bytes(&counts, 4)) == NULL ||
            !read_header(&reader, &counts, &version))
            return false;
        time_bytes = 8;
    }
    if (!read_body(&reader, &counts, time_bytes, out)) {
        free(out->periods);
        *out = (struct timezone_file){0};
        return false;
    }
    char footer[128];
    if (time_bytes == 8 && reader.left > 2 && reader.left < sizeof(footer)) {
        size_t size = reader.left - 2; /* between two line feeds */
        memcpy(footer, reader.data + 1, size);
        footer[size] = '\0';
        out->has_rule = size > 0 && read_rule(footer, &out->rule);
    }
    return true;
}

/* ---- lookup ---- */

/* Seconds of local wall-clock time at which the rule's day begins or ends in `year`. */
static int64_t rule_seconds(const struct timezone_rule_day *day, int64_t year)
{
    int64_t days;
    if (day->kind == RULE_MONTH_WEEK) {
        int64_t first = civil_days(year, day->month, 1);
        int64_t weekday = civil_weekday(first) % 7;
        days = first + (day->weekday - weekday + 7) % 7 + (int64_t)(day->week - 1) * 7;
        while (days - first >= civil_month_days(year, day->month))
            days -= 7;
    } else {
        days = civil_days(year, 1, 1) + day->day;
        if (day->kind == RULE_JULIAN)
            days -= !(civil_is_leap_year(year) && day->day >= 60);
    }
    return days * 86400 + day->time_seconds;
}

static struct timezone_period rule_period(const struct timezone_rule *rule, bool dst, int64_t start)
{
    struct timezone_period period = {
        .start = start, .offset_seconds = dst ? rule->dst_seconds : rule->standard_seconds};
    memcpy(period.name, dst ? rule->dst_name : rule->standard_name, sizeof(period.name));
    return period;
}

static struct timezone_period rule_at(const struct timezone_rule *rule, int64_t utc_seconds,
                                      int64_t start, int64_t *end)
{
    *end = INT64_MAX;
    if (!rule->has_dst)
        return rule_period(rule, false, start);
    int64_t days = civil_floor_div(utc_seconds + rule->standard_seconds, 86400);
    int64_t year = civil_from_days(days).year;
    bool dst = false;
    int64_t from = INT64_MIN;
    for (int64_t y = year - 1; y <= year + 1; y++) { /* changes in order, around the instant */
        int64_t changes[2] = {rule_seconds(&rule->begin, y) - rule->standard_seconds,
                              rule_seconds(&rule->end, y) - rule->dst_seconds};
        int first = changes[0] < changes[1] ? 0 : 1;
        for (int i = 0; i < 2; i++) {
            int which = i == 0 ? first : 1 - first;
            if (changes[which] > utc_seconds) {
                *end = changes[which];
                return rule_period(rule, dst, from > start ? from : start);
            }
            from = changes[which];
            dst = which == 0;
        }
    }
    return rule_period(rule, dst, from);
}

struct timezone_period timezone_file_at(const struct timezone_file *file, int64_t utc_seconds,
                                        int64_t *end)
{
    CHECK(file->period_count > 0);
    size_t low = 0;
    size_t high = file->period_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (file->periods[middle].start <= utc_seconds)
            low = middle;
        else
            high = middle;
    }
    if (low + 1 < file->period_count) {
        *end = file->periods[low + 1].start;
        return file->periods[low];
    }
    if (!file->has_rule) {
        *end = INT64_MAX;
        return file->periods[low];
    }
    return rule_at(&file->rule, utc_seconds, file->periods[low].start, end);
}
