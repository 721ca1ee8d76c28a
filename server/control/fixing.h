/*
 * What the parts of query_fixes.c share: each proposes fixes for a diagnostic, of which those are
 * kept that the analyser accepts.
 *
 * All memory is in the arena of the request.
 */
#ifndef SERVER_CONTROL_FIXING_H
#define SERVER_CONTROL_FIXING_H

#include "control/query_validate.h"

#include <jansson.h>

#define FIX_PLACES_MAX 16 /* of one word that is replaced everywhere */

/* What the fixes of one request share. */
struct fixing {
    struct arena *arena;
    const struct path_policy *paths;
    json_t *root; /* the spec as it was sent */
    struct validation *validation;
    size_t tried;
};

/* The text that the error is about, and the pointer to it; NULL: it is about none. */
const char *fixing_sql(const struct fixing *fixing, const struct error *err, const char **pointer);

/* The same if the error has a place in it. */
const char *fixing_text(const struct fixing *fixing, const struct error *err, const char **pointer);

/* The pointer to a text of the spec; a text that an edit has made is the one that the error is
 * about. */
const char *fixing_pointer(const struct fixing *fixing, const struct error *err, const char *sql);

/* An edit of the piece at [from, to) of `sql`, which it names by its text: as much of what stands
 * before it is taken along as makes it the first that reads so.  Returns the edited text. */
const char *fixing_edit(struct fixing *fixing, struct diagnostic *diagnostic, const char *sql,
                        size_t from, size_t to, const char *right);

const char *fixing_json(struct arena *arena, const char *text);

/* query_fixes_stream.c: for an output mode, or what the streaming rules refuse. */
void fix_output_mode(struct fixing *fixing, struct diagnostic *diagnostic);
void fix_legality(struct fixing *fixing, struct diagnostic *diagnostic);

#endif
