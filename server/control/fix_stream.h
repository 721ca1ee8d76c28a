/*
 * Bounds of windows in a SQL text, where the window is meant.  Texts in quotes are passed over.
 */
#ifndef SERVER_CONTROL_FIX_STREAM_H
#define SERVER_CONTROL_FIX_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* `w.end`: [from, dot) is the window, [from, to) all of it. */
struct fix_bound {
    size_t from, dot, to;
};

/* The first `.start` or `.end` of a name at or after `at`; false: none. */
bool fix_window_bound(const char *sql, size_t at, struct fix_bound *out);

#endif
