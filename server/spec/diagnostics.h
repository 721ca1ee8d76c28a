/*
 * What is wrong or noteworthy about a spec: a list, so that one validation tells everything.
 *
 * The parser of the spec and the analyser report into the same list.  A function that takes a
 * `struct diagnostics *` treats NULL as "the first problem is returned"; diagnostics_report() is
 * that rule in one place:
 *
 *     TRY(diagnostics_report(diagnostics, DIAGNOSTIC_ERROR, err, NULL)); // OK: go on looking
 *
 * Memory is in the arena of the list.  Threads: one at a time.
 */
#ifndef SERVER_SPEC_DIAGNOSTICS_H
#define SERVER_SPEC_DIAGNOSTICS_H

#include "base/arena.h"
#include "base/error.h"

#define DIAGNOSTICS_MAX 100 /* further ones are counted, not kept */

enum diagnostic_severity {
    DIAGNOSTIC_ERROR,   /* the query cannot run */
    DIAGNOSTIC_WARNING, /* it can, but most people would not want it so */
    DIAGNOSTIC_INFO,
};

/* One change of a spec: the value at `pointer` becomes `value_json`, or goes away, or in the text
 * at `pointer` the first piece `replace` becomes `text`. */
struct fix_edit {
    const char *pointer;
    const char *value_json; /* NULL: an edit of a text */
    const char *replace;
    const char *text;
    bool remove;
    struct fix_edit *next;
};

struct fix {
    const char *title;       /* "Use update mode" */
    const char *consequence; /* what changes for the user */
    struct fix_edit *edits;
    bool validated; /* the analyser accepts the edited spec */
    struct fix *next;
};

struct diagnostic {
    enum diagnostic_severity severity;
    struct error error;
    struct fix *fixes;
    struct diagnostic *next;
};

struct diagnostics {
    struct arena *arena;
    struct diagnostic *first; /* in the order of reporting */
    struct diagnostic **last;
    size_t count; /* kept */
    size_t error_count;
    size_t dropped; /* beyond DIAGNOSTICS_MAX */
};

struct diagnostics *diagnostics_new(struct arena *arena);

/* Copies `err` into the list.  NULL beyond DIAGNOSTICS_MAX. */
struct diagnostic *diagnostics_add(struct diagnostics *diagnostics,
                                   enum diagnostic_severity severity, const struct error *err);

/*
 * Reports err (whose status is set).  With a list: adds it, clears err and returns OK, *added (if
 * not NULL) being the entry or NULL.  Without one: returns err->status for an error; for a warning
 * or an info clears err and returns OK.
 */
MUST_USE enum status diagnostics_report(struct diagnostics *diagnostics,
                                        enum diagnostic_severity severity, struct error *err,
                                        struct diagnostic **added);

/* Adds a fix (texts are copied) and, to the newest fix, an edit.  diagnostic == NULL: nothing. */
void diagnostic_add_fix(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                        const char *title, const char *consequence);
void diagnostic_add_value_edit(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                               const char *pointer, const char *value_json);
void diagnostic_add_removal(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                            const char *pointer);
void diagnostic_add_text_edit(struct diagnostics *diagnostics, struct diagnostic *diagnostic,
                              const char *pointer, const char *replace, const char *text);

bool diagnostics_has_errors(const struct diagnostics *diagnostics); /* NULL: false */
/* The first error of the list; NULL if there is none. */
const struct diagnostic *diagnostics_first_error(const struct diagnostics *diagnostics);

#endif
