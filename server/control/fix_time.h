/*
 * The time columns that the topmost aggregation of a query could go by, if a watermark stood on
 * them: found in the logical plan, so that a column is followed through views, subqueries and
 * unions to the relations that it comes from.
 *
 * All results are in the arena.  Threads: any.
 */
#ifndef SERVER_CONTROL_FIX_TIME_H
#define SERVER_CONTROL_FIX_TIME_H

#include "analyze/analyze.h"

#define FIX_MARKS_MAX 4 /* relations that one column comes from */

/* A watermark that is to be declared: {"column": COLUMN, "delay": ...} at the pointer; with `sql`,
 * a text of the spec, a clause of it where it reads the relation. */
struct fix_mark {
    const char *pointer, *column, *relation;
    const char *sql;
};

struct fix_time {
    const char *name; /* of the column, as the grouping reads it */
    bool grouped;     /* it is grouped by, or by a window of it */
    struct fix_mark marks[FIX_MARKS_MAX];
    size_t mark_count;
};

/* Up to `room` of them, those that are grouped by first; their count. */
size_t fix_times(struct arena *arena, const struct analysis *analysis, struct fix_time *out,
                 size_t room);

/* The time of the window that is grouped by, which is computed in the text of the aggregation: at
 * [from, to) of it, of a relation that stands alone in its FROM.  False: it is not so. */
struct fix_computed {
    size_t from, to;
    const char *relation;
};
bool fix_computed_time(const struct analysis *analysis, struct fix_computed *out);

/* Names of up to `room` other columns that a grouping could have as a key; their count. */
size_t fix_keys(struct arena *arena, const struct analysis *analysis, const char **out,
                size_t room);

#endif
