/*
 * A drawn scenario: the query, the rows that were fed, and the text of it all.
 */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "base/buffer.h"

enum {
    KEYS = 4,
    ROWS_MAX = 400,
    CUT_SECONDS = 900, /* where queries cut off the rows that close the rest */
};

enum query_shape {
    SHAPE_FILTER,
    SHAPE_TOTALS,      /* per key, complete mode */
    SHAPE_GLOBAL,      /* one group, complete mode */
    SHAPE_DEDUP,       /* without a watermark: forgets nothing */
    SHAPE_DEDUP_EVENT, /* with the event time among the keys: forgets what is late */
    SHAPE_TUMBLING,
    SHAPE_HAVING, /* tumbling windows per key, of which some are left out */
    SHAPE_SLIDING,
    SHAPE_SESSION,
    SHAPE_CHAINED,       /* windows of windows */
    SHAPE_JOIN,          /* two streams, inner */
    SHAPE_OUTER,         /* two streams, left outer */
    SHAPE_DEDUP_SESSION, /* sessions over what is left of duplicates */
    SHAPE_DEDUP_OUTER,   /* ... joined with a second stream, left outer */
    SHAPE_JOIN_WINDOW,   /* windows over a join of two streams */
    SHAPE_PIVOT,         /* windows with a column for each of two keys */
    SHAPE_EXCEPT_ALL,    /* of a table that has none of the rows */
    SHAPE_LIMIT,         /* the first few that are no duplicates */
    SHAPE_COUNT_,
};

struct row {
    int key, value, at; /* at: seconds after the scenario's clock */
    bool right;         /* fed to the second stream */
};

struct draw {
    uint64_t state;
    enum query_shape shape;
    int size, slide; /* of windows, seconds; the gap of sessions, the reach of joins */
    struct row rows[ROWS_MAX];
    size_t row_count;
    int time;      /* of the newest row */
    int limit;     /* of rows */
    bool restated; /* the query is the other one of two that mean the same */
    bool purges;   /* the log is in small segments, of which old ones go */
    struct buffer text;
};

/* Whether rows have to come that close what is open. */
bool shape_has_watermark(enum query_shape shape);
bool shape_has_two_streams(enum query_shape shape);
/* Whether it reads d: s without duplicates, by its time as well. */
bool shape_drops_duplicates(enum query_shape shape);

/* What must have come out in the end, one line per row: a list and a loop, no batches, no state.
 * Rows of windows that end after `until` are still open.  Returns the number of lines. */
int model_expect(struct draw *draw, int until);

#endif
