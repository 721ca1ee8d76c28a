/*
 * Where in a SQL text a query over a stream can be changed so that it becomes legal: its GROUP BY,
 * the bounds of windows that it reads.  Texts in quotes are passed over.
 */
#ifndef SERVER_CONTROL_FIX_STREAM_H
#define SERVER_CONTROL_FIX_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Behind the words GROUP BY of the query that begins at `from`, not of one in parentheses in it;
 * SIZE_MAX: it has none. */
size_t fix_group_by(const char *sql, size_t from);

/* `w.end`: [from, dot) is the window, [from, to) all of it. */
struct fix_bound {
    size_t from, dot, to;
};

/* The first `.start` or `.end` of a name at or after `at`; false: none. */
bool fix_window_bound(const char *sql, size_t at, struct fix_bound *out);

#endif
