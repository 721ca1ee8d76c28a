#include "base/clock.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct clock {
    bool manual;
    _Atomic int64_t wall_us;
    _Atomic int64_t monotonic_us;
};

static struct clock real_clock;

struct clock *clock_real(void)
{
    return &real_clock;
}

struct clock *clock_manual_new(int64_t now_us)
{
    struct clock *clock = heap_calloc(1, sizeof *clock);
    clock->manual = true;
    atomic_store(&clock->wall_us, now_us);
    atomic_store(&clock->monotonic_us, now_us);
    return clock;
}

void clock_manual_free(struct clock *clock)
{
    CHECK(clock != &real_clock);
    free(clock);
}

void clock_manual_advance(struct clock *clock, int64_t delta_us)
{
    CHECK(clock->manual && delta_us >= 0);
    atomic_fetch_add(&clock->wall_us, delta_us);
    atomic_fetch_add(&clock->monotonic_us, delta_us);
}

void clock_manual_set_wall(struct clock *clock, int64_t now_us)
{
    CHECK(clock->manual);
    atomic_store(&clock->wall_us, now_us);
}

static int64_t read_clock_us(clockid_t id)
{
    struct timespec now;
    CHECK(clock_gettime(id, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_now_us(const struct clock *clock)
{
    CHECK(clock != NULL);
    return clock->manual ? atomic_load(&clock->wall_us) : read_clock_us(CLOCK_REALTIME);
}

int64_t clock_monotonic_us(const struct clock *clock)
{
    CHECK(clock != NULL);
    return clock->manual ? atomic_load(&clock->monotonic_us) : read_clock_us(CLOCK_MONOTONIC);
}

bool clock_is_manual(const struct clock *clock)
{
    return clock->manual;
}

void clock_format_iso(int64_t time_us, char out[CLOCK_ISO_SIZE])
{
    int64_t millis = time_us / 1000;
    if (time_us % 1000 < 0)
        millis--;
    int64_t seconds = millis / 1000;
    int64_t rest = millis % 1000;
    if (rest < 0) {
        rest += 1000;
        seconds--;
    }
    time_t when = (time_t)seconds;
    struct tm tm = {0};
    if (gmtime_r(&when, &tm) == NULL || tm.tm_year > 8099 || tm.tm_year < -1900) {
        (void)snprintf(out, CLOCK_ISO_SIZE, "%lld", (long long)time_us);
        return;
    }
    (void)snprintf(out, CLOCK_ISO_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                   (tm.tm_year + 1900) % 10000, tm.tm_mon % 12 + 1, tm.tm_mday % 32,
                   tm.tm_hour % 24, tm.tm_min % 60, tm.tm_sec % 61, (int)rest);
}
