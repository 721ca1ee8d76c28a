/*
 * A scenario file as a list of records: a directive line in column 0 and, below it, body lines
 * indented by two spaces.  What the words mean is the player's business (play.h), but for what can
 * be said without a world: unknown directives, words and missing bodies are refused here.
 *
 * All memory is in the arena.
 */
#ifndef TESTS_SUPPORT_SCN_FILE_H
#define TESTS_SUPPORT_SCN_FILE_H

#include "base/arena.h"
#include "base/bytes.h"

/* A mistake in a test file, told by its text; the product's catalogue has no name for it. */
#define SCENARIO_INVALID STATUS_INTERNAL_ERROR

struct scn_pair {
    const char *key, *value;
};

struct scn_record {
    int line;           /* of the directive, from 1 */
    const char *head;   /* the line as written */
    const char *kind;   /* the first word */
    const char **words; /* the other words, without the key=value ones; ends with NULL */
    size_t word_count;
    struct scn_pair *pairs;
    size_t pair_count;
    const char **body; /* without the indentation */
    size_t body_count;
    int body_line; /* of the first body line, or of the line after the directive */
};

struct scn_file {
    const char *path;
    struct scn_record *records;
    size_t count;
};

/* Errors: SCENARIO_INVALID with "path:line: what was expected". */
MUST_USE enum status scn_parse(struct arena *arena, const char *path, struct bytes text,
                               struct scn_file *out, struct error *err);

/* The value of a key, or NULL. */
const char *scn_pair(const struct scn_record *record, const char *key);
/* Whether one of the words is `word`. */
bool scn_has_word(const struct scn_record *record, const char *word);

/* ---- cells of a row ---- */

struct scn_cell {
    bool json;        /* a quoted text or JSON; otherwise a bare word */
    const char *text; /* as written */
};

/* Splits a row: words, "quoted text", JSON in braces or brackets.
 * Errors: SCENARIO_INVALID for JSON that does not end. */
MUST_USE enum status scn_cells(struct arena *arena, const char *row, struct scn_cell **out,
                               size_t *count, struct error *err);

#endif
