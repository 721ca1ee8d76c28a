/*
 * Options of a source, a sink or a format: names are case-insensitive, values are text, as in
 * Spark.  Each connector publishes a table of the options it knows, from which the catalog, the
 * check for unknown names ("did you mean ...") and the typed getters work.
 */
#ifndef SERVER_BASE_OPTIONS_H
#define SERVER_BASE_OPTIONS_H

#include "base/arena.h"

struct option {
    const char *name; /* as the user wrote it */
    const char *value;
};

struct options {
    const struct option *items; /* borrowed */
    size_t count;
    const char *pointer; /* JSON pointer of the object, "/sources/clicks/options", for errors */
};

enum option_kind {
    OPTION_TEXT,
    OPTION_BOOL,
    OPTION_INT,      /* int64 within [min, max] */
    OPTION_BYTES,    /* integer or Spark's "10m", "1g" */
    OPTION_DURATION, /* "10 seconds" */
    OPTION_CHAR,     /* one character (or an escape such as \t) */
    OPTION_WORD,     /* one of the words that `help` begins with: "off, archive or delete: ..." */
    OPTION_RATIO,    /* a number from 0 to 1 */
};

struct option_def {
    const char *name; /* Spark's spelling; NULL ends a table */
    enum option_kind kind;
    int64_t min, max;          /* OPTION_INT; both 0 = any */
    const char *default_value; /* NULL = not set */
    const char *help;          /* one sentence; OPTION_WORD: after the words and a colon */
};

/* The value as written (the last of equal names wins), or NULL. */
const char *options_get(const struct options *options, const char *name);

/* Every option must stand in one of the tables (each ended by a NULL name; `tables` by NULL), and
 * its value must be one of its kind: also that of an option that has no effect.
 * Errors: UNKNOWN_OPTION and INVALID_OPTION_VALUE with the nearest name and the pointer. */
MUST_USE enum status options_check(const struct options *options,
                                   const struct option_def *const *tables, struct error *err);

/* Those of the options that stand in `table` (NULL: none), in `arena`; texts are borrowed. */
struct options *options_of_table(struct arena *arena, const struct options *options,
                                 const struct option_def *table);

/* Makes err->pointer name the option, in the user's spelling of it. */
void options_point_at(const struct options *options, const char *name, struct error *err);

/* The option or, if not set, `fallback`.  Errors: INVALID_OPTION_VALUE (name, value, expected). */
MUST_USE enum status options_bool(const struct options *options, const char *name, bool fallback,
                                  bool *out, struct error *err);
MUST_USE enum status options_int(const struct options *options, const char *name, int64_t min,
                                 int64_t max, int64_t fallback, int64_t *out, struct error *err);
MUST_USE enum status options_bytes(const struct options *options, const char *name,
                                   int64_t fallback, int64_t *out, struct error *err);

/* The candidate with the smallest edit distance to `name` (at most a third of its length), or
 * NULL: for "did you mean". */
const char *nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
