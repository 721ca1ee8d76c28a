/*
 * The right form of what stands in a spec or a SQL text in another form: "10 secs" for an interval,
 * a text for the trigger, a list for the schema, TUMBLE() for window().  What these functions make
 * is a guess; only what the analyser accepts is offered (query_fixes.c).
 *
 * All results are in the arena.  Threads: any.
 */
#ifndef SERVER_CONTROL_FIX_VALUE_H
#define SERVER_CONTROL_FIX_VALUE_H

#include "base/arena.h"

#include <jansson.h>

/* "10 secs", "5min", "1 hr" -> "10 seconds", "5 minutes", "1 hour"; NULL: no such thing. */
const char *fix_interval(struct arena *arena, const char *text);

/* The JSON value that the one at `pointer` of a spec means; NULL: nobody knows. */
const char *fix_value(struct arena *arena, const char *pointer, const json_t *value);

/* "TUMBLE(at, INTERVAL '10' SECOND)" -> "window(at, '10 seconds')", also HOP and SESSION, and
 * window() and session_window() with intervals that are no texts; NULL: no such call. */
const char *fix_window_call(struct arena *arena, const char *call);

#endif
