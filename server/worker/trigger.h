/*
 * When the next batch is due.  Pure functions; the waiting itself is in worker.c.
 */
#ifndef SERVER_WORKER_TRIGGER_H
#define SERVER_WORKER_TRIGGER_H

#include <stdint.h>

/*
 * Triggers of a processing time are aligned: they fall on multiples of the interval since 1970.
 * The next one is computed when a trigger begins; a batch that takes longer than to the next one
 * is followed by the next at once, and what was missed in between is not made up for.
 */
int64_t trigger_next_us(int64_t interval_us, int64_t now_us);

/* How long to wait, 0 if due. */
int64_t trigger_wait_us(int64_t next_us, int64_t now_us);

#endif
