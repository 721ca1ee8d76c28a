/*
 * Clocks.  Everything in the engine that asks for the time asks a clock that main gave it, so that
 * a test can be a day long and take a millisecond.  Times are microseconds.
 * Threads: any; a manual clock is advanced by one thread at a time.
 */
#ifndef SERVER_BASE_CLOCK_H
#define SERVER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock;

/* The clock of the machine; never freed. */
struct clock *clock_real(void);

/* A clock that stands still.  Both its wall and its monotonic time start at now_us. */
struct clock *clock_manual_new(int64_t now_us);
void clock_manual_free(struct clock *clock); /* NULL is fine */
/* Moves wall and monotonic time forward. */
void clock_manual_advance(struct clock *clock, int64_t delta_us);
/* Sets the wall time only, also backward, as an administrator or NTP does. */
void clock_manual_set_wall(struct clock *clock, int64_t now_us);

int64_t clock_now_us(const struct clock *clock); /* wall: since 1970-01-01T00:00:00Z */
int64_t
clock_monotonic_us(const struct clock *clock); /* never goes back; no meaning but differences */
bool clock_is_manual(const struct clock *clock);

/*
 * Writes "2026-07-30T09:12:44.184Z" (milliseconds, UTC, always 24 characters and NUL for years 0
 * to 9999) into out.
 */
#define CLOCK_ISO_SIZE 32
void clock_format_iso(int64_t time_us, char out[CLOCK_ISO_SIZE]);

#endif
