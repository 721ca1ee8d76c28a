/*
 * A zone is either one offset or a file of the tz database.  Files are turned, when a zone is first
 * found, into one sorted array of periods up to the year 2400 or so, by which both directions are
 * answered with a binary search; later instants ask the file's rule.  Fixed
 * offsets, the usual case, do not search at all.
 */
#include "columnar/timezone.h"

#include "base/check.h"
#include "base/heap.h"
#include "columnar/civil.h"
#include "columnar/timezone_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONE_DIRECTORY "/usr/share/zoneinfo"
#define ZONE_ID_MAX    64
#define ZONE_FILE_MAX  65536
#define OFFSET_MAX     INT64_C(64800)       /* 18 hours */
#define EXPANDED_UNTIL INT64_C(13569465600) /* 2400-01-01 */
#define CACHED_ZONES   1024

/* From HINTS_FROM to EXPANDED_UNTIL a hint per 2^24 seconds (half a year) says where to look. */
#define HINTS_FROM INT64_C(-3000000000)
#define HINT_SHIFT 24
#define HINTS      ((size_t)((EXPANDED_UNTIL - HINTS_FROM) >> HINT_SHIFT) + 1)

struct zone {
    char id[ZONE_ID_MAX];
    bool fixed;
    int32_t offset_seconds; /* fixed */
    char offset_name[16];
    struct timezone_period *periods; /* expanded: all changes up to EXPANDED_UNTIL */
    size_t period_count;
    uint16_t *hints; /* the period in which each stretch of time begins */
    struct timezone_file file;
};

static const struct zone utc_zone = {.id = "UTC", .fixed = true, .offset_name = "UTC"};

/* Zones found so far, never removed; `lock` guards `zones` and `zone_count`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct zone *zones[CACHED_ZONES];
static size_t zone_count;

const struct zone *timezone_utc(void)
{
    return &utc_zone;
}

/* ---- offsets ---- */

size_t timezone_print_offset(char *out, int32_t offset_seconds)
{
    if (offset_seconds == 0) {
        *out = 'Z';
        return 1;
    }
    int32_t size = offset_seconds < 0 ? -offset_seconds : offset_seconds;
    const int32_t parts[3] = {size / 3600, size / 60 % 60, size % 60};
    size_t count = parts[2] != 0 ? 3 : 2;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        char sign = (char)(offset_seconds < 0 ? '-' : '+');
        out[at++] = (char)(i > 0 ? ':' : sign);
        out[at++] = (char)('0' + parts[i] / 10);
        out[at++] = (char)('0' + parts[i] % 10);
    }
    return at;
}

static bool read_two_digits(struct bytes *text, size_t least, int32_t *out)
{
    int32_t value = 0;
    size_t size = 0;
    while (size < text->size_bytes && size < 2 && text->data[size] >= '0' &&
           text->data[size] <= '9') {
        value = value * 10 + (text->data[size] - '0');
        size++;
    }
    if (size < least)
        return false;
    *text = bytes_of(text->data + size, text->size_bytes - size);
    *out = value;
    return true;
}

/* Behind the sign: h, hh, h:m, hh:mm, hh:mm:ss, hhmm, hhmmss. */
static bool read_offset(struct bytes text, int32_t *out)
{
    int32_t parts[3] = {0, 0, 0};
    if (!read_two_digits(&text, 1, &parts[0]))
        return false;
    bool colons = text.size_bytes > 0 && *text.data == ':';
    for (int i = 1; i < 3 && text.size_bytes > 0; i++) {
        if (colons) {
            if (*text.data != ':')
                return false;
            text = bytes_of(text.data + 1, text.size_bytes - 1);
        }
        if (!read_two_digits(&text, colons && i == 1 ? 1 : 2, &parts[i]) || parts[i] > 59)
            return false;
    }
    *out = parts[0] * 3600 + parts[1] * 60 + parts[2];
    return text.size_bytes == 0 && *out <= OFFSET_MAX;
}

static bool starts_with(struct bytes text, const char *prefix)
{
    size_t size = strlen(prefix);
    return text.size_bytes >= size && memcmp(text.data, prefix, size) == 0;
}

bool timezone_parse_offset(struct bytes id, int32_t *offset_seconds)
{
    if (id.size_bytes == 1 && *id.data == 'Z') {
        *offset_seconds = 0;
        return true;
    }
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        if (starts_with(id, prefixes[i])) {
            size_t size = strlen(prefixes[i]);
            id = bytes_of(id.data + size, id.size_bytes - size);
            if (id.size_bytes == 0) {
                *offset_seconds = 0;
                return true;
            }
            break;
        }
    }
    if (id.size_bytes < 2 || (*id.data != '+' && *id.data != '-'))
        return false;
    int32_t offset;
    if (!read_offset(bytes_of(id.data + 1, id.size_bytes - 1), &offset))
        return false;
    *offset_seconds = *id.data == '-' ? -offset : offset;
    return true;
}

/* ---- the cache ---- */

static const struct zone *cache_find(struct bytes id)
{
    for (size_t i = 0; i < zone_count; i++)
        if (strlen(zones[i]->id) == id.size_bytes &&
            memcmp(zones[i]->id, id.data, id.size_bytes) == 0)
            return zones[i];
    return NULL;
}

static struct zone *zone_new(struct bytes id)
{
    struct zone *zone = heap_calloc(1, sizeof(*zone));
    CHECK(id.size_bytes < sizeof(zone->id));
    memcpy(zone->id, id.data, id.size_bytes);
    return zone;
}

static struct zone *new_fixed(struct bytes id, int32_t offset_seconds)
{
    struct zone *zone = zone_new(id);
    zone->fixed = true;
    zone->offset_seconds = offset_seconds;
    size_t size = timezone_print_offset(zone->offset_name, offset_seconds);
    zone->offset_name[size] = '\0';
    return zone;
}

static bool is_region_id(struct bytes id)
{
    if (id.size_bytes == 0 || id.size_bytes >= ZONE_ID_MAX)
        return false;
    for (size_t i = 0; i < id.size_bytes; i++) {
        uint8_t c = id.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+' || c == '/';
        if (!letter && !(other && i > 0))
            return false;
    }
    return !starts_with(id, "posix") && !starts_with(id, "right");
}

/* Reads a file of at most ZONE_FILE_MAX bytes; -1 if it cannot. */
static ssize_t read_zone_file(struct bytes id, uint8_t *content)
{
    char path[sizeof(ZONE_DIRECTORY) + ZONE_ID_MAX + 1];
    (void)snprintf(path, sizeof(path), "%s/%.*s", ZONE_DIRECTORY, (int)id.size_bytes,
                   (const char *)id.data);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t size = 0;
    ssize_t got;
    while (size < ZONE_FILE_MAX &&
           (got = read(file, content + size, (size_t)(ZONE_FILE_MAX - size))) > 0)
        size += got;
    (void)close(file);
    return size;
}

/* All periods of the file up to EXPANDED_UNTIL in one array. */
static size_t search_period(const struct zone *zone, int64_t utc_seconds)
{
    size_t low = 0;
    size_t high = zone->period_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->periods[middle].start <= utc_seconds)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void make_hints(struct zone *zone)
{
    zone->hints = heap_calloc(HINTS, sizeof(*zone->hints));
    for (size_t i = 0; i < HINTS; i++)
        zone->hints[i] = (uint16_t)search_period(zone, HINTS_FROM + ((int64_t)i << HINT_SHIFT));
}

static void expand(struct zone *zone)
{
    const struct timezone_file *file = &zone->file;
    size_t capacity = file->period_count + 2048;
    zone->periods = heap_calloc(capacity, sizeof(*zone->periods));
    memcpy(zone->periods, file->periods, file->period_count * sizeof(*zone->periods));
    zone->period_count = file->period_count;
    int64_t at = file->periods[file->period_count - 1].start;
    if (!file->has_rule)
        return;
    if (file->period_count == 1 && !file->rule.has_dst)
        return;
    if (at == INT64_MIN)
        at = INT64_C(-62167219200); /* a rule for all times: from year 0 on */
    while (at < EXPANDED_UNTIL && zone->period_count < capacity) {
        int64_t end;
        (void)timezone_file_at(file, at, &end);
        if (end == INT64_MAX)
            break;
        int64_t ignored;
        zone->periods[zone->period_count] = timezone_file_at(file, end, &ignored);
        zone->periods[zone->period_count++].start = end;
        at = end;
    }
}

static struct zone *load_region(struct bytes id)
{
    if (!is_region_id(id))
        return NULL;
    uint8_t *content = heap_malloc(ZONE_FILE_MAX);
    struct zone *zone = NULL;
    struct timezone_file file;
    ssize_t size = read_zone_file(id, content);
    if (size > 0 && timezone_file_parse(bytes_of(content, (size_t)size), &file)) {
        zone = zone_new(id);
        zone->file = file;
        expand(zone);
        make_hints(zone);
        if (zone->period_count == 1) {
            zone->fixed = true;
            zone->offset_seconds = zone->periods[0].offset_seconds;
            (void)snprintf(zone->offset_name, sizeof(zone->offset_name), "%s",
                           zone->periods[0].name);
        }
    }
    free(content);
    return zone;
}

/* Short ids that Java maps although the tz database has no such file. */
static struct bytes java_alias(struct bytes id)
{
    static const char *const aliases[][2] = {
        {"ACT", "Australia/Darwin"},
        {"AET", "Australia/Sydney"},
        {"AGT", "America/Argentina/Buenos_Aires"},
        {"ART", "Africa/Cairo"},
        {"AST", "America/Anchorage"},
        {"BET", "America/Sao_Paulo"},
        {"BST", "Asia/Dhaka"},
        {"CAT", "Africa/Harare"},
        {"CNT", "America/St_Johns"},
        {"CST", "America/Chicago"},
        {"CTT", "Asia/Shanghai"},
        {"EAT", "Africa/Addis_Ababa"},
        {"ECT", "Europe/Paris"},
        {"IET", "America/Indiana/Indianapolis"},
        {"IST", "Asia/Kolkata"},
        {"JST", "Asia/Tokyo"},
        {"MIT", "Pacific/Apia"},
        {"NET", "Asia/Yerevan"},
        {"NST", "Pacific/Auckland"},
        {"PLT", "Asia/Karachi"},
        {"PNT", "America/Phoenix"},
        {"PRT", "America/Puerto_Rico"},
        {"PST", "America/Los_Angeles"},
        {"SST", "Pacific/Guadalcanal"},
        {"VST", "Asia/Ho_Chi_Minh"},
    };
    for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
        if (bytes_equal(id, bytes_of_text(aliases[i][0])))
            return bytes_of_text(aliases[i][1]);
    return id;
}

static struct zone *load(struct bytes id)
{
    int32_t offset;
    if (id.size_bytes >= ZONE_ID_MAX)
        return NULL;
    if (timezone_parse_offset(id, &offset))
        return new_fixed(id, offset);
    struct zone *zone = load_region(java_alias(id));
    if (zone != NULL) {
        memset(zone->id, 0, sizeof(zone->id));
        memcpy(zone->id, id.data, id.size_bytes);
    }
    return zone;
}

const struct zone *timezone_lookup(struct bytes id)
{
    if (bytes_equal(id, bytes_of_text("UTC")))
        return &utc_zone;
    pthread_mutex_lock(&lock);
    const struct zone *zone = cache_find(id);
    if (zone == NULL) {
        zone = load(id);
        if (zone != NULL && zone_count < CACHED_ZONES)
            zones[zone_count++] = zone;
    }
    pthread_mutex_unlock(&lock);
    return zone;
}

enum status timezone_find(struct bytes id, const struct zone **out, struct error *err)
{
    const struct zone *zone = timezone_lookup(id);
    if (zone == NULL) {
        char text[128];
        (void)snprintf(text, sizeof(text), "%.*s", (int)(id.size_bytes < 100 ? id.size_bytes : 100),
                       (const char *)id.data);
        return error_raise(err, STATUS_INVALID_TIMEZONE, "timeZone", text, NULL);
    }
    *out = zone;
    return OK;
}

const struct zone *timezone_fixed(int32_t offset_seconds)
{
    CHECK(offset_seconds >= -OFFSET_MAX && offset_seconds <= OFFSET_MAX);
    char id[12];
    if (offset_seconds == 0)
        return &utc_zone;
    size_t size = timezone_print_offset(id, offset_seconds);
    const struct zone *zone = timezone_lookup(bytes_of(id, size));
    CHECK(zone != NULL);
    return zone;
}

const char *timezone_id(const struct zone *zone)
{
    return zone->id;
}

bool timezone_is_fixed(const struct zone *zone)
{
    return zone->fixed;
}

/* ---- instants ---- */

static size_t period_index(const struct zone *zone, int64_t utc_seconds)
{
    if (utc_seconds < HINTS_FROM || utc_seconds >= EXPANDED_UNTIL)
        return search_period(zone, utc_seconds);
    size_t index = zone->hints[(utc_seconds - HINTS_FROM) >> HINT_SHIFT];
    while (index + 1 < zone->period_count && zone->periods[index + 1].start <= utc_seconds)
        index++;
    return index;
}

/* The period of an instant; *end is where the next one starts. */
static struct timezone_period period_at(const struct zone *zone, int64_t utc_seconds, int64_t *end)
{
    if (utc_seconds >= EXPANDED_UNTIL - (int64_t)86400 * 400)
        return timezone_file_at(&zone->file, utc_seconds, end);
    size_t index = period_index(zone, utc_seconds);
    *end = index + 1 < zone->period_count ? zone->periods[index + 1].start : INT64_MAX;
    return zone->periods[index];
}

static int32_t offset_at(const struct zone *zone, int64_t utc_seconds)
{
    if (utc_seconds < EXPANDED_UNTIL - (int64_t)86400 * 400)
        return zone->periods[period_index(zone, utc_seconds)].offset_seconds;
    int64_t end;
    return timezone_file_at(&zone->file, utc_seconds, &end).offset_seconds;
}

int32_t timezone_offset_seconds(const struct zone *zone, int64_t utc_us)
{
    if (zone->fixed)
        return zone->offset_seconds;
    return offset_at(zone, civil_floor_div(utc_us, CIVIL_SECOND_US));
}

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

int64_t timezone_to_local(const struct zone *zone, int64_t utc_us)
{
    if (zone->fixed)
        return add_saturated(utc_us, zone->offset_seconds * CIVIL_SECOND_US);
    return add_saturated(utc_us, timezone_offset_seconds(zone, utc_us) * CIVIL_SECOND_US);
}

/* In an overlap wall clocks up to end + old offset have happened under the old offset already; in a
 * gap those from there on take the old offset until the gap is over. */
static int64_t wall_clock_end(int32_t offset, int32_t next_offset, int64_t end)
{
    return end + (next_offset > offset ? next_offset : offset);
}

/*
 * The offset of a wall-clock second.  The candidates are the offsets a day before and after; where
 * they differ, the change between them decides: before the change's wall clock (by either of its
 * sides) the old offset holds, which in an overlap is the earlier instant and in a gap moves the
 * time forward.
 */
static int32_t local_offset(const struct zone *zone, int64_t local_seconds)
{
    int64_t probe = local_seconds - OFFSET_MAX - 86400;
    if (local_seconds < EXPANDED_UNTIL - (int64_t)86400 * 400) {
        const struct timezone_period *period = &zone->periods[period_index(zone, probe)];
        const struct timezone_period *last = &zone->periods[zone->period_count - 1];
        while (period < last &&
               local_seconds >= wall_clock_end(period[0].offset_seconds, period[1].offset_seconds,
                                               period[1].start))
            period++;
        return period->offset_seconds;
    }
    for (;;) {
        int64_t end;
        struct timezone_period period = period_at(zone, probe, &end);
        if (end == INT64_MAX ||
            local_seconds < wall_clock_end(period.offset_seconds, offset_at(zone, end), end))
            return period.offset_seconds;
        probe = end;
    }
}

int64_t timezone_to_utc(const struct zone *zone, int64_t local_us)
{
    if (zone->fixed)
        return add_saturated(local_us, -zone->offset_seconds * CIVIL_SECOND_US);
    int32_t offset = local_offset(zone, civil_floor_div(local_us, CIVIL_SECOND_US));
    return add_saturated(local_us, -offset * CIVIL_SECOND_US);
}

const char *timezone_abbreviation(const struct zone *zone, int64_t utc_us)
{
    if (zone->fixed)
        return zone->offset_name;
    int64_t seconds = civil_floor_div(utc_us, CIVIL_SECOND_US);
    if (seconds >= EXPANDED_UNTIL - (int64_t)86400 * 400)
        seconds -= (seconds - EXPANDED_UNTIL) / INT64_C(12622780800) * INT64_C(12622780800) +
                   INT64_C(12622780800); /* the same day of the 400-year cycle */
    size_t index = period_index(zone, seconds);
    /* Java has no name for local mean time: it is the standard time that followed. */
    while (index + 1 < zone->period_count && strcmp(zone->periods[index].name, "LMT") == 0)
        index++;
    return zone->periods[index].name;
}
